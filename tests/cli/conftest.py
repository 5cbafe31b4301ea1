"""The command in this process, in an empty folder, and the goldens that a person can read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabric.cli import main
from tests import ROOT

GOLDEN = ROOT / "tests" / "golden" / "cli"


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `fabric ARGUMENTS` in `tmp_path`; a single text is split at blanks."""
    monkeypatch.chdir(tmp_path)

    def go(*arguments: object) -> Done:
        words = str(arguments[0]).split() if len(arguments) == 1 else [str(word) for word in arguments]
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(words)
        out, err = capsys.readouterr()
        return Done(int(stop.value.code or 0), out, err)

    return go


def golden(name: str, text: str) -> None:
    """Compares with `tests/golden/cli/NAME`; UPDATE_GOLDEN=1 rewrites it."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
