"""`fabric change`: what a person, a checklist and a program read, and how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests import ROOT
from tests.cli.conftest import Run
from tests.cli.diff_sites import SITES
from tests.goldens import golden

INTENT = """\
version: 1
site: dc1
fabrics:
  backend:
    nos: eos
    servers: {model: dgx-h100, count: 64}
    topology: {switch: 64x400g, unit: {servers: 16}, leaf: {oversubscription: 1}}
"""
PLANES = """\
version: 1
site: dc1
catalog:
  servers: {srv: {gpus: 4, nvlink_domain_gpus: 4, nics: {compute: {count: 4, ports: 4, speed_gbps: 100}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: srv, count: 16, nics: compute}
    topology: {planes: 4, tiers: 2, switch: 32x100g, unit: {servers: 16}, leaf: {oversubscription: 1}}
"""


@pytest.fixture
def intent(tmp_path: Path) -> None:
    (tmp_path / "dc1.yaml").write_text(INTENT, encoding="utf-8")
    (tmp_path / "planes.yaml").write_text(PLANES, encoding="utf-8")


def pair(name: str, folder: Path) -> None:
    for side, text in zip(("old", "new"), SITES[name], strict=True):
        (folder / f"{side}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("reboot", "dc1.yaml reboot leaf spine --floor 80%", 0),
        ("refused", "dc1.yaml upgrade spine backend-leaf001 --floor 95%", 1),
        ("drain", "dc1.yaml drain backend-spine00* --floor 10%", 1),
        ("undrain", "dc1.yaml undrain backend-spine001", 0),
        ("planes", "planes.yaml drain --planes-active 2 --floor 50%", 0),
    ],
)
def test_operations(name: str, words: str, code: int, run: Run, intent: None) -> None:
    done = run(f"change {words}")
    assert (done.code, done.err) == (code, "")
    golden(f"change/{name}.txt", done.out)


@pytest.mark.parametrize("name", SITES)
def test_designs(name: str, run: Run, tmp_path: Path) -> None:
    pair(name, tmp_path)
    done = run("change old.yaml new.yaml --floor 40%")
    assert (done.code, done.err) == (name == "addresses", "")
    golden(f"change/{name}.txt", done.out)


def test_a_checklist(run: Run, intent: None, tmp_path: Path) -> None:
    golden("change/reboot.md", run("change dc1.yaml reboot spine --floor 80% --format markdown").out)
    pair("spines-eos", tmp_path)
    golden("change/spines-eos.md", run("change old.yaml new.yaml --floor 40% --format markdown").out)


def test_json(run: Run, intent: None) -> None:
    document = json.loads(run("change dc1.yaml reboot spine --json").out)
    assert (document["floor"], document["title"]) == (0.9, "reboot spine")
    names = [task["device"] for wave in document["waves"] for task in wave["tasks"]]
    assert sorted(names) == sorted(set(names))
    assert all(wave["left"]["capacity"] >= 0.9 for wave in document["waves"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("dc1.yaml reboot", "change: error[FAB102]: expected names or a role after reboot"),
        ("dc1.yaml reboot spines", "NAME: error[FAB170]: unknown switch or role 'spines'"),
        ("dc1.yaml dc1.yaml leaf", "change: error[FAB102]: expected one of drain, undrain, replace, upgrade, reboot before"),
        ("dc1.yaml reboot leaf --floor 120%", "--floor: error[FAB102]: expected a share from 0% to 100%, got '120%'"),
        ("dc1.yaml reboot leaf --planes-active 2", "--planes-active: error[FAB102]: expected drain, got reboot"),
        ("dc1.yaml drain --planes-active 2", "--planes-active: error[FAB102]: expected a fabric with several planes, got 2"),
        ("dc1.yaml reboot leaf --fabric x", "error[FAB106]"),
        ("dc1.yaml no.yaml", "no.yaml"),
    ],
)
def test_mistakes(words: str, message: str, run: Run, intent: None) -> None:
    done = run(f"change {words}")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_job_has_a_time_in_every_wave(run: Run, intent: None, tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "step-70b.yaml", tmp_path / "job.yaml")
    done = run("change dc1.yaml reboot leaf --job job.yaml --json")
    waves = json.loads(done.out)["waves"]
    assert all(wave["left"]["step_ms"] for wave in waves)
