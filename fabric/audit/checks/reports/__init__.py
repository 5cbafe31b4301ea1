"""The report of every command that compares: `check`, `drift`, `verify`, `cabling verify`, `diff` and `lab test`.

A command says what it found as a `Report`; one function a format writes it as text that ends with a line break. The text of a
finding may come from third-party files, so every report writes it as data of its format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.audit.checks import Verdict
    from fabric.audit.checks.reports.formats import Report

FORMATS = ("text", "markdown", "json", "sarif", "junit", "github")


def report(form: str, found: Report | Verdict) -> str:
    """The report in one of its formats; a verdict alone is that of `fabric check`. KeyError for another name."""
    from fabric.audit.checks.reports.formats import WRITERS, Report, check_report

    return WRITERS[form](found if isinstance(found, Report) else check_report(found))
