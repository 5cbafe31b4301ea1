"""The shipped EOS package, copied, renamed and installed as a distribution of its own, does all that the shipped one does.

Both run on the same site; what they write is the same, byte for byte, but for the name of the network OS.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.deliver.export.formats import FORMATS
from fabric.nos.target import GROUP
from tests import ROOT
from tests.nos import outside
from tests.nos.outside.test_dummy import FOLDERS

pytestmark = pytest.mark.slow

SHIPPED, COPY = "eos", "eoz"  # as long, so that tables are as wide
LLDP = {
    "hostname": "storage-leaf001",
    "fqdn": "storage-leaf001",
    "lldpNeighbors": [{"port": "Ethernet1/1", "neighborDevice": "storage-spine001", "neighborPort": "Ethernet1/1"}],
}
CALLS = [
    "plan site.yaml --json",
    "generate site.yaml",
    "generate site.yaml --check",
    "check site.yaml",
    "check site.yaml --format json",
    "check --configs generated/ai-eos/configs --format json",
    "diff site.yaml changed.yaml --no-configs",
    "diff site.yaml changed.yaml --format json",
    "diff site.yaml changed.yaml --format markdown",
    "cabling verify site.yaml lldp.json",
    f"cabling verify site.yaml lldp.json --source {SHIPPED}",
    "report site.yaml -o report.html",
    *(
        f"export {name} site.yaml"
        + (f" -o out-{name}" if name in FOLDERS else "")
        + (" --inventory switches.csv" if name == "day-zero" else "")
        for name in FORMATS
        if name != "network-operator"  # of Spectrum-X NICs, which these servers do not have
    ),
]


def prepare(folder: Path, name: str) -> None:
    folder.mkdir()
    intent = yaml.safe_load((ROOT / "intent" / "ai-eos.yaml").read_text(encoding="utf-8"))
    intent["management"]["day_zero"] = {"server": "http://192.0.2.5"}
    site = json.dumps(intent, indent=1)
    switches = sorted(path.name for path in (ROOT / "generated" / "ai-eos" / "configs").iterdir())
    machines = "".join(f"{switch},52:54:00:00:00:{at:02x}\n" for at, switch in enumerate(switches))
    (folder / "switches.csv").write_text(f"switch,mac\n{machines}", encoding="utf-8")
    changed = site.replace('"10.20.0.0/24"', '"10.21.0.0/24"').replace('"192.0.2.20"', '"192.0.2.21"')
    for file, text in (("site.yaml", site), ("changed.yaml", changed), ("lldp.json", json.dumps(LLDP))):
        (folder / file).write_text(text.replace(f'"{SHIPPED}"', f'"{name}"'), encoding="utf-8")


def copy_package(packages: Path) -> None:
    """`cp -r` of the package and its templates, and a replacement of its name; the shipped one is no longer installed."""
    home = packages / "arista_copy"
    shutil.copytree(ROOT / "fabric" / "nos" / SHIPPED, home, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "templates" / SHIPPED, home / "templates" / COPY)
    for path in (*home.rglob("*.py"), *home.rglob("*.j2")):
        text = path.read_text(encoding="utf-8").replace(f"fabric.nos.{SHIPPED}", "arista_copy")
        path.write_text(text.replace(f'"{SHIPPED}"', f'"{COPY}"').replace(f'"{SHIPPED}/', f'"{COPY}/'), encoding="utf-8")
    outside.install(packages, "arista-copy", {COPY: "arista_copy.target:TARGET"})
    others = {point.name: point.value for point in entry_points(group=GROUP) if point.name != SHIPPED}
    outside.install(packages, "fabricwright", others, version("fabricwright"))


def written(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes().replace(COPY.encode(), SHIPPED.encode())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[tuple[int, str, str]], dict[str, bytes]]]:
    """Name → what every call came to, and every file that was written."""
    made = {}
    for name in (SHIPPED, COPY):
        root = tmp_path_factory.mktemp(name)
        (root / "packages").mkdir()
        if name == COPY:
            copy_package(root / "packages")
        prepare(root / "work", name)
        calls = [[name if word == SHIPPED else word for word in call.split()] for call in CALLS]
        made[name] = outside.run(root / "packages", root / "work", calls), written(root / "work")
    return made


@pytest.mark.parametrize("at", range(len(CALLS)), ids=CALLS)
def test_every_call_says_the_same(at: int, both: dict[str, Any]) -> None:
    shipped, copied = both[SHIPPED][0][at], both[COPY][0][at]
    assert shipped[0] in (0, 1)
    assert (copied[0], *(text.replace(COPY, SHIPPED) for text in copied[1:])) == tuple(shipped)


def test_the_same_files_are_written(both: dict[str, Any]) -> None:
    shipped, copied = both[SHIPPED][1], both[COPY][1]
    assert sorted(shipped) == sorted(copied)
    assert sum(path.endswith("startup-config") for path in shipped) > 10
    differ = {path for path, text in shipped.items() if copied[path] != text}
    assert differ == {"generated/ai-eos/manifest.txt"}  # checksums of files with the name in them


def test_changes_are_commands_and_files_are_read(both: dict[str, Any]) -> None:
    parsed = dict(zip(CALLS, both[COPY][0], strict=True))
    assert '"form": "commands"' in parsed["diff site.yaml changed.yaml --format json"][1]
    assert "FAB168" not in "".join(out + err for _, out, err in parsed.values())


BATFISH = """
import sys
from fabric.audit.checks.batfish.parsing import allowed
from fabric.audit.checks.batfish.client import view_of
view = view_of(sys.argv[1])
files = view.reads("leaf1", {"configs/leaf1/startup-config": "hostname leaf1\\n"})
print(len(allowed(sys.argv[1])), sorted(view.sees), len(view.limits), files)
"""


def test_batfish_takes_it_alike(tmp_path: Path) -> None:
    """No server is asked here: what it would be given, and what is expected of its answer."""
    (tmp_path / "packages").mkdir()
    copy_package(tmp_path / "packages")
    parsed = [
        subprocess.run(
            [sys.executable, "-c", BATFISH, name],
            env={**os.environ, "PYTHONPATH": str(packages)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name, packages in ((SHIPPED, tmp_path), (COPY, tmp_path / "packages"))
    ]
    assert parsed[0] == parsed[1]
    assert "ARISTA" in parsed[0]
