"""Workflow commands: GitHub turns each line of a step's output into an annotation of a file.

Escapes as actions/toolkit writes them (packages/core/src/command.ts).
"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, NOTE, SEVERITIES, WARNING, Finding, Verdict
from fabric.audit.checks.reports.fold_findings import folded, printed
from fabric.audit.checks.reports.rules import rule_of
from fabric.audit.checks.reports.spell import clean, device_and_message, relative

COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
SHOWN = 10  # annotations of one kind that GitHub shows for a step; it drops the others without a word


def report(verdict: Verdict) -> str:
    """The worst first and what devices share once, for GitHub shows the first ones only; then one line for the log."""
    by_severity = sorted(
        folded(map(clean, verdict.findings), verdict.whole), key=lambda finding: SEVERITIES.index(finding.severity)
    )
    return "\n".join([*map(_command, by_severity), *_last(verdict)]) + "\n"


def _command(finding: Finding) -> str:
    where: dict[str, object] = {
        "file": relative(finding.file),
        "line": finding.line,
        "col": finding.line and finding.column,
        "title": f"{finding.id} expected: {rule_of(finding.id).title}",
    }
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
    text = "\n".join([device_and_message(finding), *([f"hint: {finding.hint}"] if finding.hint else [])])
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(text)}"


def _last(verdict: Verdict) -> Iterator[str]:
    lines = printed(verdict)
    more = any(number > SHOWN for number in lines.values())
    yield verdict.sentence(lines) + (f"; GitHub shows {SHOWN} annotations of a kind, all are in this log" if more else "")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
