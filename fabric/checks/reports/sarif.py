"""SARIF 2.1.0, as GitHub code scanning reads it.

GitHub refuses a whole file for a result without a location, or for more than 25,000 results, and shows the worst 5,000
(docs.github.com, "SARIF support for code scanning"). It does not know `suppressions`: there a silenced finding is a note
whose message begins with the reason, while other viewers hide it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from typing import Any
from urllib.parse import quote

from fabric.checks import ERROR, NOTE, SEVERITIES, WARNING, Finding, Verdict
from fabric.checks.reports.rules import Rule, rule_of
from fabric.checks.reports.spell import clean, relative, said
from fabric.formats import json_text
from fabric.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://pypi.org/project/fabricwright/"
MOST_RESULTS = 25_000
MOST_LETTERS = 1024  # of a description
CUT = "FAB000"  # id of the note that says what was left out
PROBLEM = {ERROR: "error", WARNING: "warning", NOTE: "recommendation"}
# Line numbers inside a message: they move while the finding stays the same.
LINES = re.compile(r"(?P<file>\.[a-z]+)(:\d+)+|\b(?P<word>lines?) \d+((, | and | to |-)\d+)*")


def report(verdict: Verdict) -> str:
    """One run, one document."""
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(verdict)]}, indent=1) + "\n"


def _run(verdict: Verdict) -> dict[str, Any]:
    findings = _kept([*verdict.findings, *verdict.silenced])
    rules = [rule_of(id) for id in sorted({*verdict.ran, *(finding.id for finding in findings)})]
    index = {rule.id: number for number, rule in enumerate(rules)}
    home = next((read.path for read in verdict.read if read.path), "") or "."
    twins: Counter[str] = Counter()
    return {
        "tool": {
            "driver": {
                "name": "fabricwright",
                "informationUri": HOME,
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(clean(finding), index[finding.id], home, twins) for finding in findings],
    }


def _kept(findings: list[Finding]) -> list[Finding]:
    """As many as GitHub takes, the worst first; a note says how many are missing."""
    if len(findings) <= MOST_RESULTS:
        return sorted(findings, key=lambda finding: finding.order)
    worst = sorted(findings, key=lambda finding: (bool(finding.silenced), SEVERITIES.index(finding.severity), finding.order))
    kept = worst[: MOST_RESULTS - 1]
    message = f"{len(findings) - len(kept):,} milder findings of {len(findings):,} are left out of this file"
    note = Finding(CUT, NOTE, "", kept[0].file, 0, message, "`--format json` lists all")
    return [note, *sorted(kept, key=lambda finding: finding.order)]


def _rule(rule: Rule) -> dict[str, Any]:
    title = f"Expected: {rule.title}"  # GitHub makes it the headline of an alert
    text = f"{rule.tests}\n\n{rule.why}" if rule.tests else rule.why
    example = f"\n\nExample that fails: {rule.example}" if rule.example else ""
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": _cut(title)},
        "fullDescription": {"text": _cut(text.replace("\n\n", " "))},
        "help": {
            "text": f"{title}.\n\n{text}{example}\n\nFix: {rule.remediation}",
            "markdown": f"**{title}.**\n\n{text}{example}\n\n*Fix:* {rule.remediation}",
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["network", rule.room], "precision": "high", "problem.severity": PROBLEM[rule.severity]},
    }


def _result(finding: Finding, rule: int, home: str, twins: Counter[str]) -> dict[str, Any]:
    text = f"{said(finding)}. {finding.hint}" if finding.hint else said(finding)
    if finding.silenced:
        text = f"silenced, {finding.silenced}: {text}"
    shown: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": rule,
        "level": NOTE if finding.silenced else finding.severity,
        "message": {"text": text.replace("](", "] (")},  # else it would be a link
        "locations": [{"physicalLocation": _location(finding, home)}],
        "partialFingerprints": _fingerprints(finding, twins),
    }
    if finding.device:
        shown["locations"][0]["logicalLocations"] = [{"name": finding.device, "kind": "resource"}]
    if finding.silenced:
        shown["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": finding.silenced}]
    return shown


def _location(finding: Finding, home: str) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(relative(finding.file or home))}
    if finding.line:  # GitHub wants all four
        start = finding.column or 1
        place["region"] = {
            "startLine": finding.line,
            "startColumn": start,
            "endLine": finding.line,
            "endColumn": start + 1,
        }
    return place


def _artifact(path: str) -> dict[str, str]:
    """Relative to the root of the repository, where the command is run."""
    uri = quote(path.replace(os.sep, "/"), errors="backslashreplace")
    return {"uri": f"file://{uri}"} if os.path.isabs(path) else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _fingerprints(finding: Finding, twins: Counter[str]) -> dict[str, str]:
    """The same for the same finding when lines above it come and go; equal ones in one file are numbered.

    GitHub compares `primaryLocationLineHash`. Its upload action makes that from the line itself and warns where it finds
    another; for a finding without a line nobody makes it, so it is given here.
    """
    message = LINES.sub(lambda match: match["file"] or match["word"], finding.message)
    identity = "\0".join([finding.id, finding.device, relative(finding.file), message])
    digest = hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    twins[digest] += 1
    mark = f"{digest}:{twins[digest]}"
    return {"fabricwright/v1": mark} | ({} if finding.line else {"primaryLocationLineHash": mark})


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
