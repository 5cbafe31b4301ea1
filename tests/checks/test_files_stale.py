"""The generated folder of a site: files of an older intent, and files that were changed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.checks.site import Site

INTENT = """\
version: 1
site: dc1
catalog: {{servers: {{node: {{gpus: 4, nics: {{compute: {{count: 4, speed_gbps: 100}}}}}}}}}}
fabrics:
  backend:
    nos: eos
    servers: {{model: node, count: 4, name: gpu}}
    topology: {{switch: 7050cx3-32s}}
    underlay: {{mtu: {mtu}}}
"""


def generated(folder: Path) -> Path:
    """A site as `fabric generate` leaves it."""
    path = folder / "dc1.yaml"
    path.write_text(INTENT.format(mtu=9214))
    pipeline.generate(pipeline.load(path)).write()
    return path


def told(path: Path) -> list[str]:
    """What is wrong with the files: notes left out."""
    site = Site(pipeline.load(path))
    return [str(finding) for finding in site.check().findings if finding.id >= "FAB250" and finding.severity != "note"]


def test_fresh_files_are_left_in_peace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert told(generated(Path())) == []


def test_files_of_an_older_intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are out of date, and wrong in nothing else."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    path.write_text(INTENT.format(mtu=9000))
    assert told(path) == [
        "dc1.yaml:2:7: warning[FAB293]: generated/dc1: 6 files not what this plan makes: "
        "configs/backend-spine001/startup-config, …\n"
        "    hint: run `fabric generate`",
    ]


def test_a_file_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    Path("generated/dc1/configs/backend-leaf001/startup-config").unlink()
    assert told(path) == [
        "dc1.yaml:2:7: warning[FAB293]: generated/dc1: 1 file not what this plan makes: "
        "configs/backend-leaf001/startup-config\n"
        "    hint: run `fabric generate`",
    ]


def test_a_file_that_was_changed_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is judged as it is."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    config = Path("generated/dc1/configs/backend-leaf001/startup-config")
    config.write_text(config.read_text().replace("   mtu 9214", "   mtu 1500", 1))
    assert told(path) == [
        f"{config}:123: error[FAB254]: backend-leaf001: Ethernet1/1: MTU: expected 9214, got 1500\n"
        "    hint: set the MTU of the fabric on both ends",
    ]
