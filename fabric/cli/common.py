"""What the verbs share: exit codes, where words go, and how a finding is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.diagnostics import Diagnostic

FINE, FINDINGS, USAGE, MISSING = 0, 1, 2, 3


@dataclass
class Out:
    """State of one run of the command."""

    debug: bool = False


OUT = Out()


def say(text: str) -> None:
    """Progress, warnings and errors: stderr, so that results can be piped."""
    print(text, file=sys.stderr)


def show_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Every finding on stderr."""
    for diagnostic in diagnostics:
        say(str(diagnostic))
