"""Nothing is written or read through a symlink that a checkout can carry, and nothing lands outside the output folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.output import OutputError, Store
from fabric.cli import app
from fabric.cli.output import put, put_folder
from fabric.nos.reading import scan
from tests import ROOT


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "repository"
    (home / "intent").mkdir(parents=True)
    shutil.copy(ROOT / "intent/starter.yaml", home / "intent")
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize("link", ["generated", "generated/starter"])
@pytest.mark.parametrize("verb", ["generate", "check", "plan", "report"])
def test_the_output_folder_is_no_symlink(repository: Path, link: str, verb: str) -> None:
    outside = repository.parent / "outside"
    outside.mkdir()
    (repository / link).parent.mkdir(exist_ok=True)
    (repository / link).symlink_to(outside)
    arguments = [verb, "intent/starter.yaml", *(["-o", str(repository.parent / "x.html")] if verb == "report" else [])]
    done = CliRunner().invoke(app, arguments)
    text = done.output if verb == "check" else str(done.exception)  # `check` lists it among its findings
    assert "intent/starter.yaml:4:7: error[FAB166]: output folder: expected a folder, got the symlink" in text
    assert done.exit_code == 2 or isinstance(done.exception, InputError)
    assert list(outside.iterdir()) == []


def test_a_folder_that_a_person_names_may_be_one(repository: Path) -> None:
    real = repository.parent / "real"
    real.mkdir()
    (repository / "out").symlink_to(real)
    intent = pipeline.load(Path("intent/starter.yaml"), Path("out"))
    pipeline.generate(intent, jobs=1).write()
    assert (real / "starter/manifest.txt").is_file()
    shutil.rmtree(real / "starter")
    (real / "starter").symlink_to(repository.parent)
    with pytest.raises(InputError, match="FAB166"):
        pipeline.load(Path("intent/starter.yaml"), Path("out"))


def test_a_run_takes_no_symlink_for_its_folder(tmp_path: Path) -> None:
    (tmp_path / "site").symlink_to(tmp_path)
    with pytest.raises(OutputError, match="site is a symlink"), Store(tmp_path / "site").transaction() as run:
        run.write("x", b"")
    assert not (tmp_path / "x").exists()


def test_a_report_follows_the_link_that_was_named_and_no_other(tmp_path: Path) -> None:
    secret, real = tmp_path / "secret", tmp_path / "real.html"
    secret.write_text("kept")
    (tmp_path / "link.html").symlink_to(real)
    (tmp_path / ".real.html.new").symlink_to(secret)  # where a run stages what it writes
    put(tmp_path / "link.html", "page")
    assert (tmp_path / "link.html").is_symlink()
    assert (real.read_text(), secret.read_text()) == ("page", "kept")


@pytest.mark.parametrize("link", ["a.yaml", "sub", "sub/b.yaml"])
def test_several_files_go_through_no_link_below_their_folder(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "out"
    (folder / link).parent.mkdir(parents=True)
    (folder / link).symlink_to(outside)
    with pytest.raises(typer.Exit):
        put_folder(folder, {"a.yaml": "1", "sub/b.yaml": "2", "c.yaml": "3"})
    assert list(outside.iterdir()) == []
    assert not (folder / "c.yaml").exists()


def test_configs_are_not_read_through_a_link_out_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hostname token-4711\nrouter bgp 1\n")
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "leaf1.cfg").write_text("hostname leaf1\nrouter bgp 1\n")
    (folder / "same.cfg").symlink_to("leaf1.cfg")
    (folder / "out.cfg").symlink_to(tmp_path / "secret")
    (folder / "env").symlink_to("/proc/self/environ")
    found = scan(folder)
    reason = "a symlink that leads out of the folder"
    assert {Path(path).name: why for path, kind in found.unrecognized.items() if (why := kind.reason) == reason} == {
        "out.cfg": reason,
        "env": reason,
    }
    assert "4711" not in repr(found)
