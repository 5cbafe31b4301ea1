"""Progress of long work: only at a terminal, only after a while, and its line is removed."""

from __future__ import annotations

import io
import sys

import pytest

from fabric.cli import terminal as module
from fabric.cli.common import say
from tests import waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: pytest exchanges stderr between a fixture and its test."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(module, "SHOWN_AFTER_S", 0.05)
    monkeypatch.setattr(module, "INTERVAL_S", 0.01)
    return screen


def wait_for(screen: Terminal, text: str) -> None:
    waiting.wait_for(lambda: text in screen.getvalue(), text)


def test_a_spinner_and_a_bar_inside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with module.progress("plan"):
        wait_for(terminal, "plan  0 s")
        with module.progress("configs", 4) as advance:
            advance(2)
            wait_for(terminal, f"configs  [{'#' * 15}{'-' * 15}]  2/4  0 s")
        say("a warning")
    assert f"{module.CLEAR}a warning\n" in terminal.getvalue()
    assert terminal.getvalue().endswith(module.CLEAR)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    monkeypatch.setattr(module, "SHOWN_AFTER_S", 60)
    with module.progress("plan"):
        pass
    assert terminal.getvalue() == ""


def test_a_pipe_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with module.progress("plan", 3) as advance:
        advance(1)
    assert pipe.getvalue() == ""
