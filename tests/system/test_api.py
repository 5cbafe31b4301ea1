"""The public API: its names, what an import costs, and the tour of docs/api.md. UPDATE_GOLDEN=1 writes what came out."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fabric
from fabric.cli.lazy import COMMANDS
from tests import ROOT
from tests.goldens import same_as

PAGE = ROOT / "docs" / "api.md"
FENCE = re.compile(r"```pycon\n(.*?)```", re.DOTALL)


def replay(block: str, names: dict[str, object]) -> str:
    """A block with every statement run again."""
    out = io.StringIO()
    for example in doctest.DocTestParser().get_examples(block):
        first, *more = example.source.rstrip("\n").split("\n")
        out.write(f">>> {first}\n" + "".join(f"... {line}".rstrip() + "\n" for line in more))
        with contextlib.redirect_stdout(out):
            exec(compile(example.source, "api.md", "single"), names)  # the page is the project's own
    return out.getvalue()


def test_the_tour_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "intent", tmp_path / "intent")
    monkeypatch.chdir(tmp_path)
    text, names = PAGE.read_text(encoding="utf-8"), dict[str, object]()
    assert FENCE.search(text)
    same_as(PAGE, FENCE.sub(lambda match: f"```pycon\n{replay(match[1], names)}```", text))


@pytest.mark.parametrize("name", fabric.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(fabric, name) is not None


VERBS = {
    "bom": "bill",
    "compare": "design",
    "import": "import_site",
    "model": "score",
}  # of commands that are called otherwise


@pytest.mark.parametrize("command", [*COMMANDS, "summarize", "moves", "cables", "labels", "verify", "cross_validate"])
def test_every_command_is_a_verb(command: str) -> None:
    names = ("cables", "labels", "verify") if command == "cabling" else (VERBS.get(command, command),)
    assert all(callable(getattr(fabric.pipeline, name)) for name in names)


def test_unknown_names_are_reported() -> None:
    with pytest.raises(AttributeError, match="module 'fabric' has no attribute 'nothing'"):
        _ = fabric.nothing


def test_an_import_costs_nothing() -> None:
    code = "import sys, fabric; print([name for name in sys.modules if name.startswith(('fabric.', 'numpy', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "['fabric.base', 'fabric.base.version']\n"


def test_types_ship() -> None:
    assert (ROOT / "tools" / "py.typed").exists()  # lies in the package of the wheel


@pytest.mark.parametrize(
    "verb", [name for name in fabric.pipeline.__all__ if inspect.isfunction(getattr(fabric.pipeline, name))]
)
def test_every_verb_is_typed_and_says_what_it_does(verb: str) -> None:
    function = getattr(fabric.pipeline, verb)
    words = [name for name, word in inspect.signature(function).parameters.items() if word.annotation is word.empty]
    assert (words, bool(function.__doc__), "return" in function.__annotations__) == ([], True, True)
