"""The command in this process, in an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabric.cli import main


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
