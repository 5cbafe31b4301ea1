"""SARIF 2.1.0, as GitHub code scanning reads it.

GitHub refuses a whole file for a result without a location, or for more than 25,000 results, and shows the worst 5,000
(docs.github.com, "SARIF support for code scanning"). It does not know `suppressions`: there a silenced finding is a note
whose message begins with the reason, while other viewers hide it.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from fabric.audit.checks import ERROR, NOTE, SEVERITIES, WARNING, Finding, Verdict
from fabric.audit.checks.reports.fold_findings import Group, groups
from fabric.audit.checks.reports.rules import Rule, rule_of
from fabric.audit.checks.reports.spell import clean, device_and_message, relative
from fabric.base.formats import json_text
from fabric.base.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://pypi.org/project/fabricwright/"
MOST_RESULTS = 25_000
MOST_LETTERS = 1024  # of a description
CUT = "FAB000"  # id of the note that says what was left out
PROBLEM = {ERROR: "error", WARNING: "warning", NOTE: "recommendation"}


def report(verdict: Verdict) -> str:
    """One run, one document."""
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(verdict)]}, indent=1) + "\n"


def _run(verdict: Verdict) -> dict[str, Any]:
    grouped = _kept(groups(map(clean, [*verdict.findings, *verdict.silenced]), verdict.whole))
    rules = [rule_of(id) for id in sorted({*verdict.ran, *(group.findings[0].id for group in grouped)})]
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
        "results": [_result(group, index[group.findings[0].id], home, twins) for group in grouped],
    }


def _kept(found: list[Group]) -> list[Group]:
    """As many as GitHub takes, the worst first; a note says how many are missing."""
    if len(found) <= MOST_RESULTS:
        return sorted(found, key=lambda group: group.findings[0].order)
    worst = sorted(found, key=_rank)
    kept = worst[: MOST_RESULTS - 1]
    message = f"{len(found) - len(kept):,} of {len(found):,} findings, the least severe, are left out of this file"
    file = kept[0].findings[0].file
    note = Finding(
        id=CUT, severity=NOTE, device="", file=file, line=0, message=message, hint="use `--format json` for all findings"
    )
    return [Group((note,)), *sorted(kept, key=lambda group: group.findings[0].order)]


def _rank(group: Group) -> tuple[Any, ...]:
    first = group.findings[0]
    return bool(first.silenced), SEVERITIES.index(first.severity), first.order


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


def _result(group: Group, rule: int, home: str, twins: Counter[str]) -> dict[str, Any]:
    """The place of the first device; those of the others are related ones."""
    finding, others = group.shown, group.findings[1:]
    text = f"{device_and_message(finding)}. {finding.hint}" if finding.hint else device_and_message(finding)
    if finding.silenced:
        text = f"silenced, {finding.silenced}: {text}"
    shown: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": rule,
        "level": NOTE if finding.silenced else finding.severity,
        "message": {"text": text.replace("](", "] (")},  # else it would be a link
        "locations": [{"physicalLocation": _location(group.findings[0], home)}],
        "partialFingerprints": _fingerprints(group, twins),
    }
    if finding.device:
        shown["locations"][0]["logicalLocations"] = _devices(group.findings[:1])
    if others:
        shown["relatedLocations"] = [_related(other, home) for other in others]
    if finding.silenced:
        shown["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": finding.silenced}]
    return shown


def _related(finding: Finding, home: str) -> dict[str, Any]:
    place = {"physicalLocation": _location(finding, home)}
    return place | ({"logicalLocations": _devices([finding])} if finding.device else {})


def _devices(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [{"name": finding.device, "kind": "resource"} for finding in findings if finding.device]


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


def _fingerprints(group: Group, twins: Counter[str]) -> dict[str, str]:
    """The same for the same finding when lines above it come and go; equal ones in one file are numbered.

    The fingerprint of a finding on several devices does not depend on their number. GitHub compares
    `primaryLocationLineHash`: its upload action computes that from the line and warns if the report has a different one.
    For a finding without a line the action computes none, so the report states it.
    """
    finding = group.findings[0]
    place = (finding.device, relative(finding.file))
    if len(group.findings) > 1:
        place = ("several devices", relative(finding.merge.file) if finding.merge else "")
    identity = "\0".join([finding.id, *place, group.identity])
    digest = hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    twins[digest] += 1
    mark = f"{digest}:{twins[digest]}"
    return {"fabricwright/v1": mark} | ({} if finding.line else {"primaryLocationLineHash": mark})


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
