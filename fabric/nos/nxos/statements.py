"""Statements of NX-OS: one startup-config or running-config."""

from collections.abc import Iterator
from pathlib import Path

from fabric.nos.nxos.interactive_commands import as_shown
from fabric.nos.statements.forms import Path as Statement, indented
from fabric.nos.statements.syntax import Syntax

CLOSING = frozenset({"exit", "end"})


def _statements(text: str) -> Iterator[tuple[Statement, int]]:
    return indented(as_shown(text), closing=CLOSING)


SYNTAX = Syntax(
    parts={"startup-config": _statements},
    sectioned=frozenset({"startup-config"}),
    rules_file=Path(__file__).with_name("statements.yaml"),
)
