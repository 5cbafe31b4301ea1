"""No network OS is named outside its package, its templates, tests and data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabric.nos.target import target_names
from tests import ROOT

FABRIC = ROOT / "fabric"
NAMES = "|".join(target_names())
QUOTED = re.compile(rf"""["']({NAMES})["']""")
IMPORTED = re.compile(rf"fabric\.nos\.({NAMES})\b")
KEY = re.compile(rf"(?:^\s*|[{{,]\s*)({NAMES}):\s", re.M)  # of a mapping in YAML
ALLOWED = {
    "hardware/catalog/models.py:frr": "the one default: network OS of a generic switch",
    "design/planner/hardware.py:sonic": "the key of a board's data in the catalog, whose words it checks",
    "lab/machine/daemons.py:frr": "the user that FRR's daemons run as",
}


def named(text: str) -> Iterator[str]:
    for pattern in (QUOTED, IMPORTED):
        yield from (found[1] for found in pattern.finditer(text))


def test_python() -> None:
    found = {
        f"{path.relative_to(FABRIC)}:{name}"
        for path in FABRIC.rglob("*.py")
        if path.relative_to(FABRIC).parts[:2] not in [("nos", name) for name in target_names()]
        for name in named(path.read_text(encoding="utf-8"))
    }
    assert found == ALLOWED.keys()


def test_data_has_no_mapping_by_network_os() -> None:
    """Hardware alone names them: which switch runs which, and the port maps of boards."""
    found = [
        str(path.relative_to(FABRIC))
        for path in FABRIC.rglob("*.yaml")
        if path.relative_to(FABRIC).parts[0] not in ("nos", "catalog") and KEY.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["deliver/monitoring/data/exporters.yaml"]  # FRR's exporter, which several network OSes have
