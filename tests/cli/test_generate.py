"""`fabric generate`: what can stand in its way, and several sites at once. More in `tests/system/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.designs import write

INTENT = """\
version: 1
site: {site}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: dgx-h100, count: 2}}
    topology: {{switch: {switch}, rails: 2, unit: {{servers: 2}}}}
"""


def intent(folder: Path, file: str, site: str = "dc1", nos: str = "frr", switch: str = "32x400g") -> Path:
    path = folder / file
    path.write_text(INTENT.format(site=site, nos=nos, switch=switch), encoding="utf-8")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_several_sites_at_once(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml", "east")
    intent(tmp_path, "b.yaml", "west")
    done = run("generate a.yaml b.yaml -o out")
    assert done.code == 0, done.err
    assert names(tmp_path / "out") == ["east", "west"]
    assert names(tmp_path / "out/east/configs") == names(tmp_path / "out/west/configs")
    assert run("generate a.yaml b.yaml -o out --check").code == 0
    intent(tmp_path, "b.yaml", "west", switch="64x400g")
    assert run("generate a.yaml b.yaml -o out --check").code == 1


def test_two_intents_of_one_site_are_refused(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml")
    intent(tmp_path, "b.yaml")
    done = run("generate a.yaml b.yaml")
    assert (done.code, done.out) == (2, "")
    assert "b.yaml:2:7: error[FAB138]: site 'dc1' is also the name of a.yaml" in done.err
    assert not (tmp_path / "generated").exists()


def test_one_intent_that_cannot_be_read_stops_them_all(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml", "east")
    intent(tmp_path, "b.yaml", "we/st")
    done = run("generate a.yaml b.yaml")
    assert (done.code, done.out) == (2, "")
    assert not (tmp_path / "generated").exists()


def test_the_output_folder_is_a_file(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml")
    (tmp_path / "out").write_text("mine\n", encoding="utf-8")
    done = run("generate a.yaml -o out")
    assert (done.code, done.out) == (2, "")
    assert done.err == "-o: error[FAB102]: expected a folder, got the file out\n    hint: choose another name\n"
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml")
    (tmp_path / "out").mkdir(mode=0o555)
    done = run("generate a.yaml -o out")
    assert (done.code, done.out) == (2, "")
    assert "permission denied" in done.err
    assert "internal error" not in done.err


def test_infiniband_beside_ethernet(run: Run, tmp_path: Path) -> None:
    text = intent(tmp_path, "a.yaml").read_text(encoding="utf-8")
    text += "  ib: {servers: {model: dgx-h100, count: 2, name: other}, topology: {switch: qm9700, unit: {servers: 2}}}\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    done = run("generate a.yaml")
    assert done.code == 0, done.err
    assert done.out.count("InfiniBand") == 1
    assert all(name.startswith("backend-") for name in names(tmp_path / "generated/dc1/configs"))
    assert "ib-leaf001" in (tmp_path / "generated/dc1/links.csv").read_text(encoding="utf-8")


def test_a_network_os_that_a_model_has_not(run: Run, tmp_path: Path) -> None:
    intent(tmp_path, "a.yaml", nos="eos", switch="sn5600")
    done = run("generate a.yaml")
    assert (done.code, done.out) == (2, "")
    assert "a.yaml:7:24: error[FAB161]" in done.err
    assert "sn5600" in done.err
    assert not (tmp_path / "generated").exists()


def test_a_generic_switch_runs_what_needs_no_model(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "collapsed")
    text = (tmp_path / "intent.yaml").read_text(encoding="utf-8").replace("sn5600", "64x800g")
    (tmp_path / "intent.yaml").write_text(text, encoding="utf-8")
    done = run("generate intent.yaml")
    assert done.code == 0, done.err
    assert "frr.conf" in names(tmp_path / "generated/dc1/configs/backend-leaf001")


OVERRIDES = """\
overrides:
  - {role: spine, template: spine.j2}
  - {devices: backend-leaf001, file: config_db.json, patch: {SYSLOG_SERVER: {192.0.2.9: {}}}}
"""


def test_overrides_are_seen_in_the_diff(run: Run, tmp_path: Path) -> None:
    path = intent(tmp_path, "a.yaml", nos="sonic", switch="sn5600")
    assert run("generate a.yaml").code == 0
    (tmp_path / "spine.j2").write_text(
        '{% extends "sonic/frr.conf.j2" %}\n{% block logging %}\n{{ super() }}log timestamp precision 3\n{% endblock %}\n',
        encoding="utf-8",
    )
    path.write_text(path.read_text(encoding="utf-8") + OVERRIDES, encoding="utf-8")
    done = run("generate a.yaml --diff")
    assert done.code == 1, done.err
    changed = sorted(
        line.split("/configs/")[1] for line in done.out.splitlines() if line.startswith("+++") and "/configs/" in line
    )
    assert changed == ["backend-leaf001/config_db.json", "backend-spine001/frr.conf", "backend-spine002/frr.conf"]
    added = [line for line in done.out.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert added.count("+log timestamp precision 3") == 2
    assert '+        "192.0.2.9": {}' in added
