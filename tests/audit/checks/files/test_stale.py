"""The generated folder of a site: files of an older intent, and files that were changed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.output.site_folder import JOURNAL
from tests.audit.checks.sites import site_of

INTENT = """\
version: 1
site: dc1
catalog: {{servers: {{node: {{gpus: 4, nics: {{compute: {{count: 4, speed_gbps: 100}}}}}}}}}}
fabrics:
  backend:
    nos: eos
    servers: {{model: node, count: 4, name: gpu}}
    topology: {{switch: 7050cx3-32s, tiers: 2}}
    underlay: {{mtu: {mtu}}}
"""


def generated(folder: Path) -> Path:
    """A site as `fabric generate` leaves it."""
    path = folder / "dc1.yaml"
    path.write_text(INTENT.format(mtu=9214))
    pipeline.generate(pipeline.load(path)).write()
    return path


def reported(path: Path) -> list[str]:
    """What is wrong with the files: notes left out."""
    site = site_of(pipeline.load(path))
    return [str(finding) for finding in site.check().findings if finding.id >= "FAB250" and finding.severity != "note"]


def test_fresh_files_are_left_in_peace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert reported(generated(Path())) == []


def test_files_of_an_older_intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are out of date, and wrong in nothing else."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    path.write_text(INTENT.format(mtu=9000))
    assert reported(path) == [
        "dc1.yaml:2:7: error[FAB293]: generated/dc1: 6 files differ from the plan: "
        "configs/backend-leaf001/startup-config and 5 more\n"
        "    hint: run `fabric generate`",
    ]


def test_a_file_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    Path("generated/dc1/configs/backend-leaf001/startup-config").unlink()
    assert reported(path) == [
        "dc1.yaml:2:7: error[FAB293]: generated/dc1: 1 file differs from the plan: "
        "configs/backend-leaf001/startup-config\n"
        "    hint: run `fabric generate`",
    ]


def test_a_file_that_was_changed_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is judged as it is."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    config = Path("generated/dc1/configs/backend-leaf001/startup-config")
    config.write_text(config.read_text().replace("   mtu 9214", "   mtu 1500", 1))
    assert reported(path) == [
        f"{config}:123: error[FAB254]: backend-leaf001: Ethernet1/1: MTU: expected 9214, got 1500\n"
        "    hint: set the same MTU at both ends",
    ]


@pytest.mark.parametrize("name", ["plan.json", "links.csv", "hosts/gpu-0003/60-fabric.yaml"])
def test_any_file_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    (Path("generated/dc1") / name).unlink()
    assert [line.splitlines()[0] for line in reported(path)] == [
        f"dc1.yaml:2:7: error[FAB293]: generated/dc1: 1 file differs from the plan: {name}"
    ]


def test_files_of_servers_that_are_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an older intent made besides is stale too, though no switch of the plan has it."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    path.write_text(INTENT.format(mtu=9214).replace("count: 4, name", "count: 3, name"))
    assert "error[FAB293]" in reported(path)[0]


def test_an_edited_file_of_an_older_intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is judged as it is, and out of date as well."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    config = Path("generated/dc1/configs/backend-leaf001/startup-config")
    config.write_text(config.read_text().replace("   mtu 9214", "   mtu 1500", 1))
    path.write_text(INTENT.format(mtu=9000))
    found = reported(path)
    assert any("error[FAB293]: generated/dc1: 6 files" in line for line in found)
    assert any("expected 9000, got 1500" in line for line in found)


class Killed(BaseException):
    pass


def kill(path: Path, at: str) -> None:
    """`fabric generate`, killed before its second step of this name."""
    from fabric.base.output import Store
    from fabric.configs import generate

    steps = []

    def step(name: str) -> None:
        steps.append(name)
        if steps.count(at) == 2:
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "Store", lambda folder: Store(folder, step))
        with pytest.raises(Killed):
            pipeline.generate(pipeline.load(path), jobs=1).write()


def test_a_run_that_was_stopped_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of two designs, each of them whole: an error for either design, until a run has brought it to its end."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    path.write_text(INTENT.format(mtu=9000))
    kill(path, "place a file")
    for mtu in (9000, 9214):
        path.write_text(INTENT.format(mtu=mtu))
        assert (
            "dc1.yaml:2:7: error[FAB297]: generated/dc1: after an interrupted run, the folder may contain "
            "files of two designs\n"
            "    hint: run `fabric generate`"
        ) in reported(path)
        assert [one.code for one in pipeline.plan(pipeline.load(path)).warnings] == ["FAB167"]  # lab, report and export
    assert (Path("generated/dc1") / JOURNAL / ".gitignore").read_text() == "*\n"
    pipeline.generate(pipeline.load(path)).write()
    assert reported(path) == []
    assert not (Path("generated/dc1") / JOURNAL).exists()


def test_a_folder_that_was_never_generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("dc1.yaml")
    path.write_text(INTENT.format(mtu=9214))
    assert reported(path) == []
    assert site_of(pipeline.load(path)).check().read[-1].what == "configs of site dc1, as `fabric generate` would write them"


@pytest.mark.parametrize("names", [["configs/backend-leaf001/startup-config", "links.csv"], ["manifest.txt"]])
def test_a_checkout_with_crlf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    for name in names:
        file = Path("generated/dc1") / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    found = reported(path)
    assert [line.split(": ")[1] for line in found] == ["error[FAB298]"]
    assert "git config core.autocrlf false" in found[0]
    assert ("2 files with CRLF line endings" in found[0]) is (len(names) == 2)
    if len(names) == 2:
        lines = pipeline.generate(pipeline.load(path)).check().lines
        assert any("2 files with CRLF line endings: git changed the line endings to CRLF" in line for line in lines)


def test_nothing_is_read_through_a_symlink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request can carry one: what it leads to must not come out in a report."""
    monkeypatch.chdir(tmp_path)
    path = generated(Path())
    (tmp_path / "secret").write_text("token-4711 is the secret\n")
    config = Path("generated/dc1/configs/backend-leaf001/startup-config")
    config.unlink()
    config.symlink_to(tmp_path / "secret")
    found = reported(path)
    assert "error[FAB293]" in found[0]
    assert "4711" not in "".join(found)
