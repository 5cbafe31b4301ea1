"""Statements of NX-OS: one startup-config or running-config."""

from functools import partial
from pathlib import Path

from fabric.nos.nxos.interactive_commands import LAYOUT
from fabric.nos.statements.forms import indented
from fabric.nos.statements.syntax import Syntax

SYNTAX = Syntax(
    parts={"startup-config": partial(indented, layout=LAYOUT)},
    sectioned={"startup-config": LAYOUT},
    rules_file=Path(__file__).with_name("statements.yaml"),
)
