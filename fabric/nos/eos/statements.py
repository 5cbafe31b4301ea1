"""Statements of EOS: one startup-config or running-config."""

from collections.abc import Iterator
from pathlib import Path

from fabric.nos.eos.texts import without_comments
from fabric.nos.eos.typed import as_shown
from fabric.nos.statements.forms import Path as Statement, indented
from fabric.nos.statements.syntax import Syntax

CLOSING = frozenset({"exit", "end", "EOF"})


def _statements(text: str) -> Iterator[tuple[Statement, int]]:
    return indented(as_shown(without_comments(text)), closing=CLOSING)


SYNTAX = Syntax(
    parts={"startup-config": _statements},
    sectioned=frozenset({"startup-config"}),
    rules_file=Path(__file__).with_name("statements.yaml"),
)
