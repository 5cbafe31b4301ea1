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

SPINES = """\
version: 1
site: s
catalog: {servers: {srv: {gpus: 1, nvlink_domain_gpus: 1, nics: {compute: {count: 1, speed_gbps: 400}}}}}
fabrics:
  backend:
    nos: frr
    servers: {model: srv, count: 16, unit: {servers: 8}}
    topology: {kind: rack, switch: 64x400g, leaf: {uplinks: {count: 8}}, spine: {count: COUNT}}
"""


@pytest.fixture
def intent(tmp_path: Path) -> None:
    (tmp_path / "dc1.yaml").write_text(INTENT, encoding="utf-8")
    (tmp_path / "planes.yaml").write_text(PLANES, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(
        PLANES.replace("ports: 4", "ports: 2").replace("planes: 4", "planes: 2"), encoding="utf-8"
    )
    (tmp_path / "same").write_text(INTENT, encoding="utf-8")


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
        ("planes.yaml drain --planes-active 4", "expected 1 to 3 of the 4 planes, got 4"),
        ("two.yaml drain --planes-active 2", "expected 1 of the 2 planes, got 2"),
        (
            "dc1.yaml reboot leaf --format json=dc1.yaml",
            "for a report, got the name of a YAML file, dc1.yaml",
        ),
        ("./same reboot leaf --format json=same", "--format: error[FAB102]: same is an input of the command"),
        ("dc1.yaml reboot leaf --files=", "--files: error[FAB102]: expected a folder, got no name"),
        (
            "apply nothing --inventory hosts.yaml",
            "nothing: error[FAB550]: expected the folder of a change, got no such",
        ),
        ("apply nothing --inventory hosts.yaml --wait 900", "--wait: error[FAB102]: expected at most 600 seconds, got 900"),
        ("dc1.yaml reboot leaf --fabric x", "error[FAB106]"),
        ("dc1.yaml no.yaml", "no.yaml"),
    ],
)
def test_mistakes(words: str, message: str, run: Run, intent: None) -> None:
    done = run(f"change {words}")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_files_of_another_change_are_not_mixed_with_these(run: Run, intent: None, tmp_path: Path) -> None:
    """A switch that is in no wave has no file to type; the same change is written again."""
    assert run("change dc1.yaml reboot spine --files work").code == run("change dc1.yaml reboot spine --files work").code == 0
    before = sorted(path for path in (tmp_path / "work").rglob("*"))
    done = run("change dc1.yaml reboot leaf --floor 10% --files work")
    assert (done.code, done.out) == (2, "")
    assert "--files: error[FAB102]: work has files of another change: wave-001/backend-spine001/1-drain.txt" in done.err
    assert sorted(path for path in (tmp_path / "work").rglob("*")) == before


@pytest.mark.parametrize(("old", "new"), [("b2b", "one"), ("one", "b2b"), ("b2b", "more"), ("b2b", "b2b")])
def test_servers_without_switches_have_no_waves(old: str, new: str, run: Run, tmp_path: Path) -> None:
    head = "version: 1\nsite: s\nfabrics: {backend: {servers: {model: dgx-h100, count: 2}, topology: "
    texts = {"b2b": head + "{kind: back-to-back}}}\n", "one": head + "{switch: sn5600, tiers: 1}}}\n"}
    texts["more"] = texts["b2b"].replace("count: 2", "count: 2, name: other")
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    done = run(f"change {old}.yaml {new}.yaml")
    assert done.code == 0
    assert ("no wave of it is planned" in done.out) == (old != new)
    assert ("nothing changes" in done.out) == (old == new)
    assert "no fabric here has switches" in run("change b2b.yaml reboot leaf").err


def test_cables_that_moved_stay_touched_when_old_switches_go(run: Run, tmp_path: Path) -> None:
    for name, count in (("old", 4), ("new", 2)):
        text = SPINES.replace("COUNT", str(count))
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    waves = json.loads(run("change old.yaml new.yaml --floor 10% --json").out)["waves"]
    assert waves[-1]["title"] == "remove 2 spines"
    assert waves[-1]["touched"] == waves[-2]["touched"] > 0


def test_a_job_has_a_time_in_every_wave(run: Run, intent: None, tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "step-70b.yaml", tmp_path / "job.yaml")
    done = run("change dc1.yaml reboot leaf --job job.yaml --json")
    waves = json.loads(done.out)["waves"]
    assert all(wave["left"]["step_ms"] for wave in waves)


def test_new_switches_get_their_complete_files(run: Run, intent: None, tmp_path: Path) -> None:
    """Those that `fabric generate` writes, beside what is typed at the others; the same change is written again."""
    pair("growth-sonic", tmp_path)
    assert [run("change old.yaml new.yaml --floor 40% --files work").code for _ in range(2)] == [0, 0]
    assert run("generate new.yaml -o whole").code == 0
    first = tmp_path / "work" / "wave-001"
    names = sorted(path.name for path in first.iterdir())
    document = json.loads((tmp_path / "work" / "change.json").read_text(encoding="utf-8"))
    assert names == sorted(task["device"] for task in document["waves"][0]["tasks"])
    (configs,) = (tmp_path / "whole").glob("**/configs")
    for name in names:
        wanted = {
            path.relative_to(configs / name): path.read_bytes() for path in (configs / name).rglob("*") if path.is_file()
        }
        own = first / name / "configs"
        assert wanted == {path.relative_to(own): path.read_bytes() for path in own.rglob("*") if path.is_file()}
    others = [path.parts[-2] for path in (tmp_path / "work").glob("wave-*/*/configs") if path.parts[-3] != "wave-001"]
    assert not others


def test_a_dead_switch_is_replaced_without_a_floor(run: Run, intent: None, tmp_path: Path) -> None:
    refused = run("change dc1.yaml replace backend-spine001 --floor 95%")
    assert refused.code == 1
    assert "`--floor 0%` plans it" in refused.out
    assert run("change dc1.yaml replace backend-spine001 --floor 0% --files work").code == 0
    assert (tmp_path / "work/wave-001/backend-spine001/configs/startup-config").is_file()


@pytest.mark.parametrize(
    "key", ["ntp: 192.0.2.9", "dns: 192.0.2.9", "syslog: 192.0.2.9", "timezone: Europe/Zurich", "banner: No"]
)
def test_no_floor_limits_what_no_traffic_depends_on(key: str, run: Run, intent: None, tmp_path: Path) -> None:
    """One switch, then all others; what changes more than that, or another key of the management, has the floor."""
    (tmp_path / "new.yaml").write_text(INTENT.replace("fabrics:", f"management: {{{key}}}\nfabrics:"), encoding="utf-8")
    document = json.loads(run("change dc1.yaml new.yaml --json").out)
    counts = [len(wave["tasks"]) for wave in document["waves"]]
    assert counts == [1, sum(counts) - 1]
    assert all(not task["drained"] and task["reason"] for wave in document["waves"] for task in wave["tasks"])
    other = INTENT.replace("nos: eos", "nos: eos\n    underlay: {mtu: 9000}")
    for text, more in ((INTENT, f"{key}, allow: [192.0.2.0/24]"), (other, key)):
        new = text.replace("fabrics:", f"management: {{{more}}}\nfabrics:")
        (tmp_path / "new.yaml").write_text(new, encoding="utf-8")
        done = run("change dc1.yaml new.yaml --json")
        assert len(json.loads(done.out)["waves"]) > 2, done.err
