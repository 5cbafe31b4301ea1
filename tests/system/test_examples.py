"""The examples generate the bytes that they did: five sites are committed, of the others the digests are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.nos.target import target_names
from tests import ROOT
from tests.examples import COMMITTED, DIGESTED, GENERATED, SUBNETS, digests
from tests.goldens import golden


@pytest.mark.parametrize("site", [*DIGESTED, *SUBNETS])
def test_the_same_bytes(site: str) -> None:
    """What changed is shown by `python -m tests.examples SITE`."""
    golden(f"examples/{site}.sha256", digests(site))


def test_every_example_is_guarded() -> None:
    assert {path.stem for path in (ROOT / "intent").glob("*.yaml")} == {*COMMITTED, *DIGESTED, *SUBNETS, "b200-3tier"}
    assert sorted(path.stem for path in (ROOT / "tests/golden/examples").iterdir()) == sorted((*DIGESTED, *SUBNETS))


def test_what_is_committed_is_small_and_shows_every_network_os() -> None:
    files = [path for site in COMMITTED for path in (GENERATED / site).rglob("*") if path.is_file()]
    assert len(files) < 300
    assert sum(path.stat().st_size for path in files) < 2_000_000
    plans = [json.loads((GENERATED / site / "plan.json").read_text(encoding="utf-8")) for site in COMMITTED]
    fabrics = [fabric for plan in plans for fabric in plan["fabrics"].values()]
    assert {device["nos"] for fabric in fabrics for device in fabric["devices"].values()} == set(target_names())
    assert {fabric["tiers"] for fabric in fabrics} == {2, 3}


def test_git_and_the_intents_know_which_sites_are_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert [line for line in ignored if line.startswith(("/generated/", "!/generated/"))] == [
        "/generated/*",
        *(f"!/generated/{site}" for site in COMMITTED),
    ]
    kept = {path.stem for path in (ROOT / "intent").glob("*.yaml") if pipeline.load(path).site.output.keep}
    assert kept == set(COMMITTED)  # `generate --check` of the others plans and renders, and compares nothing


@pytest.mark.slow
def test_what_changed_is_shown_line_by_line(tmp_path: Path) -> None:
    """In a repository of its own, where a template was edited since the last commit."""
    for name in ("fabric", "templates", "intent"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "examples.py", "goldens.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    for words in ("init -q", "add .", "-c user.name=x -c user.email=x@example.net commit -qm before"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "tests.examples", "lab"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout == b""
    template = tmp_path / "templates/frr/lldpd.conf.j2"
    template.write_text(template.read_text(encoding="utf-8") + "configure lldp tx-interval 7\n", encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "\n--- old/lab/configs/backend-leaf001/lldpd.conf\n+++ new/lab/configs/backend-leaf001/lldpd.conf\n" in done.stdout
    assert "\n+configure lldp tx-interval 7\n" in done.stdout
