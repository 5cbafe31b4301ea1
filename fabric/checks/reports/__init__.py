"""Reports of a verdict, one format a file; each is text that ends with a line break.

What a finding says may come from files that nobody here wrote, so every report writes it as data of its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fabric.checks.verdict import Verdict

# Format as `--format` names it → its module, loaded when the first report of the kind is written.
FORMATS: Mapping[str, str] = {
    "text": "fabric.checks.reports.text",
    "json": "fabric.checks.reports.json",
    "sarif": "fabric.checks.reports.sarif",
    "junit": "fabric.checks.reports.junit",
    "github": "fabric.checks.reports.github",
}


class Reporter(Protocol):
    """A verdict as one text."""

    def __call__(self, verdict: Verdict) -> str: ...


def report(form: str, verdict: Verdict) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    reporter: Reporter = import_module(FORMATS[form]).report
    return reporter(verdict)
