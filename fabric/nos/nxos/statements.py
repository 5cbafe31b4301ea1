"""Statements of NX-OS: one startup-config or running-config."""

from functools import partial
from pathlib import Path

from fabric.nos.statements.forms import indented
from fabric.nos.statements.syntax import Syntax

CLOSING = frozenset({"exit", "end"})

SYNTAX = Syntax(
    parts={"startup-config": partial(indented, closing=CLOSING)},
    sectioned=frozenset({"startup-config"}),
    rules_file=Path(__file__).with_name("statements.yaml"),
)
