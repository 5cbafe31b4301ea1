"""Where an intent comes from, as git has it: the same words on every machine and at every hour."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fabric.design.intent.intent import origin
from fabric.model.plan.spec import Origin

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git on this machine")
DATE = "2024-02-29T23:30:00+0900"


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "planner@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **names, "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def intent(tmp_path: Path) -> Path:
    """An intent of a repository with two commits, the second of another file."""
    path = tmp_path / "intent" / "dc1.yaml"
    path.parent.mkdir()
    path.write_text("version: 1\n", encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    (tmp_path / "other").write_text("", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "second")
    return path


def test_the_commit_that_changed_it_last(intent: Path) -> None:
    first = git(intent.parent, "rev-parse", "HEAD^")[:12]
    found = origin(intent)
    assert found == Origin("intent/dc1.yaml", first, "2024-02-29")
    assert found.words == f"commit {first} of 2024-02-29"
    intent.write_text("version: 2\n", encoding="utf-8")
    assert origin(intent).words == f"commit {first} of 2024-02-29, changed since"


def test_from_any_folder(intent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(intent.parent)
    assert origin(Path("dc1.yaml")).path == "intent/dc1.yaml"


def test_never_committed(intent: Path) -> None:
    new = intent.with_name("new.yaml")
    new.write_text("version: 1\n", encoding="utf-8")
    assert origin(new) == Origin("intent/new.yaml", changed=True)
    assert origin(new).words == "never committed"


def test_outside_of_git(tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    path.write_text("version: 1\n", encoding="utf-8")
    assert origin(path) == Origin(path.as_posix())
    assert origin(path).words == ""


def test_a_shallow_clone_names_no_commit(intent: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", (intent.parent.parent).as_uri(), str(clone))
    assert origin(clone / "intent" / "dc1.yaml") == Origin("intent/dc1.yaml")
