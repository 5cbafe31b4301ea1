"""Reports of an outcome, one format a file; each is text that ends with a line break.

Names come from the intent and messages from daemons, so every report writes both as data of its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fabric.lab.outcome import Outcome

# Format as `--format` names it → its module, loaded when the first report of the kind is written.
FORMATS: Mapping[str, str] = {
    "text": "fabric.lab.reports.text",
    "json": "fabric.lab.reports.json",
    "junit": "fabric.lab.reports.junit",
    "markdown": "fabric.lab.reports.markdown",
}


class Reporter(Protocol):
    """An outcome as one text."""

    def __call__(self, outcome: Outcome) -> str: ...


def report(form: str, outcome: Outcome) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    reporter: Reporter = import_module(FORMATS[form]).report
    return reporter(outcome)
