"""Reports of an outcome, one format a file; each is text that ends with a line break.

Names come from the intent and messages from daemons, so every report writes both as data of its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fabric.base.formats import Format

if TYPE_CHECKING:
    from fabric.lab.outcome import Outcome

FORMATS: Mapping[str, Format[str]] = {
    "text": Format("text for a terminal", "fabric.lab.reports.text:report"),
    "json": Format("all results of the run", "fabric.lab.reports.json:report"),
    "junit": Format("JUnit XML, for test results of CI", "fabric.lab.reports.junit:report"),
    "markdown": Format("a record to keep with a design", "fabric.lab.reports.markdown:report"),
}


def report(form: str, outcome: Outcome) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    return FORMATS[form](outcome)
