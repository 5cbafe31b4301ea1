"""Reports of a verdict, one format a file; each is text that ends with a line break.

The text of a finding may come from third-party files, so every report writes it as data of its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fabric.base.formats import Format

if TYPE_CHECKING:
    from fabric.audit.checks import Verdict

FORMATS: Mapping[str, Format[str]] = {
    "text": Format("for people at a terminal", "fabric.audit.checks.reports.formats:text_report"),
    "json": Format("all that the run knows", "fabric.audit.checks.reports.formats:json_report"),
    "sarif": Format("SARIF, for code scanning", "fabric.audit.checks.reports.formats:sarif_report"),
    "junit": Format("JUnit XML, for test results of CI", "fabric.audit.checks.reports.formats:junit_report"),
    "github": Format("annotations of a GitHub workflow", "fabric.audit.checks.reports.formats:github_report"),
}


def report(form: str, verdict: Verdict) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    return FORMATS[form](verdict)
