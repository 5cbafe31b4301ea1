"""CONTRIBUTING and the page on the architecture: paths that they name exist, and the recipes are done as a reader would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.goldens import same_as
from tests.system.test_readme import masked

PAGE = ROOT / "CONTRIBUTING.md"
PAGES = (PAGE, ROOT / "docs" / "architecture.md")
BLOCK = re.compile(r"```(?P<kind>[a-z]+)(?: (?P<path>\S+))?\n(?P<text>.*?)```", re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
SECTIONS = ("A switch", "A network OS", "A check")
COPIED = ("fabric", "templates", "docs", "intent", "tests", "pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile")
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()}


def named(page: Path) -> Iterator[str]:
    """Paths in the prose of a page: what begins with a folder of the tree, `<os>` for any name."""
    for text in CODE.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if re.fullmatch(r"[\w./<>*-]+", text) and text.partition("/")[0] in FOLDERS and "/" in text:
            yield text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    paths = set(named(page))
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not any(ROOT.glob(re.sub("<[a-z]+>", "*", path.rstrip("/"))))] == []


def test_every_package_is_on_the_map() -> None:
    on_it = {path.rstrip("/") for path in named(ROOT / "docs" / "architecture.md")}
    packages = {f"fabric/{path.name}" for path in (ROOT / "fabric").iterdir() if any(path.glob("*.py"))}
    assert sorted(packages - on_it) == []


def install(tree: Path) -> None:
    """What `pip install -e .` leaves behind: the command, and the entry points as `pyproject.toml` has them now."""
    project = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tree / "fabricwright-0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fabricwright\nVersion: 0\n")
    text = ""
    for group, rows in project["entry-points"].items():
        text += f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in rows.items())
    (info / "entry_points.txt").write_text(text)
    command = tree / "bin" / "fabric"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f"#!{sys.executable}\nfrom fabric.cli import main\n\nmain()\n")
    command.chmod(0o755)


def write(tree: Path, path: str, text: str) -> None:
    """A block of the page: a new file, or lines under the heading that they begin with."""
    file = tree / path
    if file.exists():
        heading, _, lines = text.partition("\n")
        before = file.read_text(encoding="utf-8")
        assert before.count(f"{heading}\n") == 1
        text = before.replace(f"{heading}\n", f"{heading}\n{lines}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def shell(command: str, tree: Path) -> str:
    path = f"{tree / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(tree), "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("COLUMNS", "BATFISH_HOST", "PYTEST_ADDOPTS", "UPDATE_GOLDEN"):
        environment.pop(name, None)
    done = subprocess.run(
        ["bash", "-c", command], cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return masked(done.stdout.decode())


@pytest.mark.slow
def test_the_recipes_do_what_the_page_shows(tmp_path: Path) -> None:
    """All three on one copy of the tree, in the order of the page. UPDATE_GOLDEN=1 writes what came out into the page."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    text = PAGE.read_text(encoding="utf-8")

    def step(found: re.Match[str]) -> str:
        if found["path"]:
            write(tmp_path, found["path"], found["text"])
        elif found["kind"] == "console":
            install(tmp_path)
            commands = [line[2:] for line in found["text"].splitlines() if line.startswith("$ ")]
            return "```console\n" + "".join(f"$ {command}\n{shell(command, tmp_path)}" for command in commands) + "```"
        return found[0]

    again = BLOCK.sub(step, text)
    same_as(PAGE, again)
    assert [name for name in SECTIONS if f"## {name}\n" not in text] == []
    shown = re.findall(r"^\$ fabric ([a-z]+(?: netbox| containerlab)?)", text, re.MULTILINE)
    assert {"plan", "generate", "check", "export netbox", "export containerlab"} <= set(shown)
