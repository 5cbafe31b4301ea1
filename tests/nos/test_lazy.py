"""Records that are loaded late: they are what their field says, and a plan loads none of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from fabric.nos.batfish import BatfishView
from fabric.nos.day_zero import FirstBoot
from fabric.nos.dialect import Dialect
from fabric.nos.lldp import Reader as LldpReader
from fabric.nos.statements.syntax import Syntax
from fabric.nos.target import Lazy, target, target_names
from tests import ROOT

TYPES = {
    "dialect": Dialect,
    "batfish": BatfishView,
    "lldp": tuple,
    "day_zero": FirstBoot,
    "syntax": Syntax,
    "state": tuple,
    "failed": tuple,
    "anta": Callable,
}
FUNCTIONS = {"files", "objects"}  # which may be late
# Of a plan's modules: what is particular to the network OS of the intent, and what all share.
PLANNED = {"target", "eos"}
READ = """
import sys
from fabric.cli import main
try:
    main(["plan", sys.argv[1]])
except SystemExit:
    print(*sorted(name for name in sys.modules if name.startswith("fabric.nos.")), file=sys.stderr)
"""


@pytest.mark.parametrize("nos", target_names())
def test_every_record_is_there_and_is_what_its_field_says(nos: str) -> None:
    known = target(nos)
    late = _late(known)
    unset = {name for name in ("lldp", "anta", "failed") if getattr(known, name) is None}
    assert late.keys() - FUNCTIONS == TYPES.keys() - unset
    for name, record in (late | _late(known.idiom)).items():
        assert isinstance(record.get(), TYPES.get(name, Callable)), name
    assert known.reader is not None
    assert callable(known.reader.read.get())
    assert known.lldp is None or all(isinstance(reader, LldpReader) for reader in known.lldp.get())


def _late(record: Any) -> dict[str, Lazy[Any]]:
    return {item.name: own for item in fields(record) if isinstance(own := getattr(record, item.name), Lazy)}


def test_a_plan_loads_no_reader_and_nothing_for_other_tools() -> None:
    words = [sys.executable, "-c", READ, str(ROOT / "intent" / "ai-eos.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = done.stderr.splitlines()[-1].split()
    assert "fabric.nos.eos.target" in loaded
    assert {name.split(".")[2] for name in loaded} <= PLANNED
    assert [name for name in loaded if name.split(".")[3:] not in ([], ["target"], ["write"], ["write", "ports"])] == []
