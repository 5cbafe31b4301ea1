"""A verdict for people at a terminal, as JSON, JUnit XML, SARIF, and annotations of a GitHub workflow."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import quote

from fabric.audit.checks import ERROR, FAIL_ON, NOTE, SEVERITIES, WARNING, Finding, FindingDocument, Read, Verdict
from fabric.audit.checks.reports import common
from fabric.audit.checks.reports.common import line, place
from fabric.base.formats import Case, Failure, Suite, json_text
from fabric.base.formats.blocks import Fold, Section, cut_table, markdown, plain
from fabric.base.formats.junit import NO_TIME, junit
from fabric.base.grouping import grouped
from fabric.base.schemas.models import CheckId, Count, Document, document, enum_of, itself, json_key
from fabric.base.text import and_more, counted, plural, printable
from fabric.base.version import __version__

MOST_ALIKE = 20  # findings of one id in one file that are shown
MOST_UNREAD = 5  # statements of one folder that are shown
MOST_LETTERS = 100  # shown of a statement
MAX_FILES = 5  # in a list that may be cut


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a command reports; every format is written of it.

    Attributes:
        command: as it is typed.
        verdict: its findings, for SARIF and annotations.
        title: of a comment, in Markdown.
        summary: the outcome in a line.
        text: for people at a terminal.
        document: that of `fabric schema`. Keys are a promise: they grow, and none goes.
        sections: of Markdown, below title and summary.
        suites: tests of JUnit.
        csv: a table.
        shown_by: the command that shows what does not fit into a comment.
        rules: what ids of findings mean that are not of checks.
        time: seconds of the run, where they are a result of it.
        ascii: JSON has escapes for letters beyond ASCII.
    """

    command: str
    verdict: Verdict
    title: str
    summary: Callable[[], str]
    text: Callable[[], str]
    document: Callable[[], dict[str, Any]]
    sections: Callable[[], Iterable[Section]]
    suites: Callable[[], Sequence[Suite]]
    csv: Callable[[], str] = str
    shown_by: str = ""
    rules: Mapping[str, common.Rule] = field(default_factory=dict)
    time: str = NO_TIME
    ascii: bool = False


def check_report(verdict: Verdict) -> Report:
    """That of `fabric check`: a verdict alone."""
    return Report(
        command="fabric check",
        verdict=verdict,
        title=f"Fabric check: {plain(', '.join(read.what for read in verdict.read))}",
        summary=lambda: verdict.sentence(common.printed(verdict)),
        text=lambda: verdict_text(verdict),
        document=lambda: document(verdict, CheckDocument),
        sections=lambda: finding_sections(verdict),
        suites=lambda: _suites(verdict),
        ascii=True,
    )


# --- terminal -------------------------------------------------------------------------------------------------


def verdict_text(verdict: Verdict) -> str:
    """Blocks with an empty line between them; the last line is the verdict."""
    blocks = [
        *_by_file(verdict.findings, _finding, verdict.whole),
        *_by_file(verdict.silenced, _silenced, verdict.whole),
        [line for read in verdict.read for line in _read(read, verdict.whole)],
        [f"not checked: {printable(what)}: {printable(why)}" for what, why in verdict.skipped],
        [verdict.sentence(common.printed(verdict))],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def findings_text(verdict: Verdict, whole: bool) -> str:
    """The findings as `fabric check` prints them, without what was read and the line that sums up."""
    findings = replace(verdict, whole=whole, read=(), skipped=(), ran=())
    return verdict_text(findings).rstrip("\n").rpartition("\n\n")[0]


def file_lines(title: str, files: Sequence[tuple[str, str]], whole: bool) -> Iterator[str]:
    """`not read: FILE: REASON` of each file, or of the first ones."""
    shown = files if whole else files[:MAX_FILES]
    yield from (f"{title}: {printable(path)}: {printable(reason)}" for path, reason in shown)
    if len(files) > len(shown):
        yield f"{title}: {and_more(len(files) - len(shown), 'file', see=common.SEE)}"


def _by_file(
    findings: Iterable[Finding], show: Callable[[Finding, set[str]], Iterator[str]], whole: bool
) -> Iterator[list[str]]:
    """A block for each file; its last lines count the findings not shown."""
    files: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(common.folded(map(common.clean, findings), whole), key=_rank):  # stable: places stay in order
        files[finding.file].append(finding)
    hints: set[str] = set()
    for file, group in sorted(files.items(), key=lambda item: (_rank(item[1][0]), item[0])):
        lines: list[str] = []
        number: Counter[tuple[str, str]] = Counter()
        for finding in group:
            alike = finding.severity, finding.id
            number[alike] += 1
            if whole or number[alike] <= MOST_ALIKE:
                lines.extend(show(finding, hints))
        for (severity, id), count in number.items():
            if count > MOST_ALIKE and not whole:
                lines.append(f"{file or 'no file'}: {severity}[{id}]: {and_more(count - MOST_ALIKE, see=common.SEE)}")
        yield lines


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _finding(finding: Finding, hints: set[str]) -> Iterator[str]:
    """Its line, and its hint where it was not given before."""
    yield line(finding)
    if finding.hint and finding.hint not in hints:
        hints.add(finding.hint)
        yield f"    hint: {finding.hint}"


def _silenced(finding: Finding, hints: set[str]) -> Iterator[str]:
    yield f"{place(finding)}: silenced[{finding.id}]: {common.device_and_message(finding)}; reason: {finding.silenced}"


def _read(read: Read, whole: bool) -> Iterator[str]:
    """Numbers of devices, files and statements read, and the first statements not understood."""
    nouns = ((read.devices, "device"), (read.files, "file"), (read.statements, "statement"))
    counts = ", ".join(counted(number, noun) for number, noun in nouns if number)
    yield f"read: {printable(read.what)}" + (f": {counts}" if counts else "")
    if not read.unread:
        return
    yield f"    not understood: {plural(len(read.unread), 'statement')}"
    shown = read.unread if whole else read.unread[:MOST_UNREAD]
    for one in shown:
        yield f"        {printable(one.file)}:{one.line}: {printable(one.value.strip())[:MOST_LETTERS]}"
    if len(read.unread) > len(shown):
        yield f"        {and_more(len(read.unread) - len(shown), see=common.SEE)}"


# --- Markdown: a table of findings, hints folded --------------------------------------------------------------

MAX_ROWS = 100


def finding_sections(verdict: Verdict) -> Iterator[Section]:
    """All findings, and what to do by device."""
    if not verdict.findings:
        return
    findings = [common.clean(finding) for finding in verdict.findings]
    rows = [(finding.device, finding.id, finding.severity, finding.message) for finding in findings]
    yield Section("Findings", [cut_table("", ("device", "check", "severity", "finding"), rows, MAX_ROWS)])
    folds = []
    for device, group in grouped((finding.device, finding) for finding in findings).items():
        lines = [f"{finding.id}: {finding.hint}" for finding in group]
        folds.append(Fold(device or "site", "", lines, plural(len(lines), "finding")))
    yield Section("What to do", folds)


# --- JSON: nothing is folded or cut ---------------------------------------------------------------------------


class FileReason(Document):
    """Of (file, reason)."""

    file: str = json_key(of=0)
    reason: str = json_key(of=1)


class Statement(Document):
    """One that the reader does not know."""

    file: str
    line: Count
    statement: str = json_key(of="value")


class ReadDocument(Document):
    """What was read, and how much of it was understood."""

    what: str
    path: str
    devices: Count
    files: Count
    statements: Count
    not_understood: list[Statement] = json_key(of="unread")


class Skipped(Document):
    """Of (what, reason)."""

    what: str = json_key(of=0)
    reason: str = json_key(of=1)


class CheckSummary(Document):
    """Numbers of a verdict."""

    errors: Count = json_key(of=lambda verdict: verdict.counts()[ERROR])
    warnings: Count = json_key(of=lambda verdict: verdict.counts()[WARNING])
    notes: Count = json_key(of=lambda verdict: verdict.counts()[NOTE])
    silenced: Count = json_key(of=lambda verdict: len(verdict.silenced))
    devices: Count
    files: Count = json_key(of=lambda verdict: sum(read.files for read in verdict.read))
    statements: Count = json_key(of=lambda verdict: sum(read.statements for read in verdict.read))
    not_understood: Count = json_key(of=lambda verdict: sum(len(read.unread) for read in verdict.read))
    checks: Count = json_key(of=lambda verdict: len(verdict.ran))
    fail_on: Annotated[str, enum_of(FAIL_ON)]
    fails: bool = json_key(of=lambda verdict: verdict.fails())


class CheckDocument(Document):
    """A verdict as `fabric check --json` prints it."""

    findings: list[FindingDocument]
    silenced: list[FindingDocument]
    read: list[ReadDocument]
    skipped: list[Skipped]
    checks: list[CheckId] = json_key("ids of the checks that were applied", "ran")
    summary: CheckSummary = json_key(of=itself)


# --- JUnit XML: one test case for each check ------------------------------------------------------------------


def _suites(verdict: Verdict) -> list[Suite]:
    """A suite for each room of checks; whatever was skipped is a suite of its own."""
    rooms: dict[str, list[Case]] = defaultdict(list)
    found, silenced = _by_id(verdict.findings), _by_id(verdict.silenced)
    for id in sorted({*verdict.ran, *found, *silenced}):
        rule = common.rule_of(id)
        rooms[rule.room].append(_case(rule, verdict, found.get(id, []), silenced.get(id, [])))
    suites = [Suite(f"fabric check: {room}", cases) for room, cases in sorted(rooms.items())]
    skipped = [
        Case(name=printable(what), classname="fabric.skipped", skipped=printable(why)) for what, why in verdict.skipped
    ]
    return [*suites, Suite("fabric check: not checked", skipped)] if skipped else suites


def _by_id(findings: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    return grouped((finding.id, common.clean(finding)) for finding in findings)


def _case(rule: common.Rule, verdict: Verdict, found: list[Finding], silenced: list[Finding]) -> Case:
    """Findings that fail the run fail the test; milder and silenced ones are its output."""
    failing = [finding for finding in found if verdict.failing(finding)]
    failure = None
    if failing:
        number = f"{plural(len(failing), 'finding')}, first: " if len(failing) > 1 else ""
        shown = common.folded(failing, verdict.whole)
        failure = Failure(failing[0].severity, number + common.device_and_message(shown[0]), "\n".join(map(_lines, shown)))
    output = [_lines(finding) for finding in common.folded((one for one in found if not verdict.failing(one)), verdict.whole)]
    output += [f"silenced, {finding.silenced}: {line(finding)}" for finding in common.folded(silenced, verdict.whole)]
    name = printable(f"{rule.id} {rule.title}")
    return Case(name=name, classname=f"fabric.{rule.subject}", failure=failure, output="\n".join(output))


def _lines(finding: Finding) -> str:
    return f"{line(finding)}\n    hint: {finding.hint}" if finding.hint else line(finding)


# --- SARIF 2.1.0, as GitHub code scanning reads it ------------------------------------------------------------

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://pypi.org/project/fabricwright/"
MOST_RESULTS = 25_000
MAX_MESSAGE_LETTERS = 1024  # of a description
CUT = "FAB000"  # id of the note that says what was left out
PROBLEM = {ERROR: "error", WARNING: "warning", NOTE: "recommendation"}


def sarif(report: Report) -> str:
    """One run, one document."""
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}, indent=1) + "\n"


def _run(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    grouped = _kept(common.groups(map(common.clean, [*verdict.findings, *verdict.silenced]), verdict.whole))
    rules = [common.rule_of(id, report.rules) for id in sorted({*verdict.ran, *(group.findings[0].id for group in grouped)})]
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


def _kept(found: list[common.Group]) -> list[common.Group]:
    """As many as GitHub takes, the worst first; a note says how many are missing."""
    if len(found) <= MOST_RESULTS:
        return sorted(found, key=lambda group: group.findings[0].order)
    worst = sorted(found, key=_worst_first)
    kept = worst[: MOST_RESULTS - 1]
    message = f"{len(found) - len(kept):,} of {len(found):,} findings, the least severe, are left out of this file"
    file = kept[0].findings[0].file
    note = Finding(
        id=CUT, severity=NOTE, device="", file=file, line=0, message=message, hint="use `--format json` for all findings"
    )
    return [common.Group((note,)), *sorted(kept, key=lambda group: group.findings[0].order)]


def _worst_first(group: common.Group) -> tuple[Any, ...]:
    first = group.findings[0]
    return bool(first.silenced), SEVERITIES.index(first.severity), first.order


def _rule(rule: common.Rule) -> dict[str, Any]:
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


def _result(group: common.Group, rule: int, home: str, twins: Counter[str]) -> dict[str, Any]:
    """The place of the first device; those of the others are related ones."""
    finding, others = group.shown, group.findings[1:]
    text = f"{common.device_and_message(finding)}. {finding.hint}" if finding.hint else common.device_and_message(finding)
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
    place: dict[str, Any] = {"artifactLocation": _artifact(common.relative(finding.file or home))}
    if finding.line:  # GitHub wants all four
        start = finding.column or 1
        place["region"] = {"startLine": finding.line, "startColumn": start, "endLine": finding.line, "endColumn": start + 1}
    return place


def _artifact(path: str) -> dict[str, str]:
    """Relative to the root of the repository, where the command is run."""
    uri = quote(path.replace(os.sep, "/"), errors="backslashreplace")
    return {"uri": f"file://{uri}"} if os.path.isabs(path) else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _fingerprints(group: common.Group, twins: Counter[str]) -> dict[str, str]:
    """The same for the same finding when lines above it come and go; equal ones in one file are numbered.

    The fingerprint of a finding on several devices does not depend on their number. GitHub compares
    `primaryLocationLineHash`: its upload action computes that from the line and warns if the report has a different one.
    For a finding without a line the action computes none, so the report states it.
    """
    finding = group.findings[0]
    place = (finding.device, common.relative(finding.file))
    if len(group.findings) > 1:
        place = ("several devices", common.relative(finding.merge.file) if finding.merge else "")
    identity = "\0".join([finding.id, *place, group.identity])
    digest = hashlib.sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    twins[digest] += 1
    mark = f"{digest}:{twins[digest]}"
    return {"fabricwright/v1": mark} | ({} if finding.line else {"primaryLocationLineHash": mark})


def _cut(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_LETTERS else text[: MAX_MESSAGE_LETTERS - 1] + "…"


# --- github ---------------------------------------------------------------------------------------------------
# Workflow commands: GitHub turns each line of a step's output into an annotation of a file.
#
# Escapes as actions/toolkit writes them (packages/core/src/command.ts).

COMMANDS = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
SHOWN = 10  # annotations of one kind that GitHub shows for a step; it drops the others without a word


def github(report: Report) -> str:
    """The worst first and what devices share once, for GitHub shows the first ones only; then one line for the log."""
    verdict = report.verdict
    by_severity = sorted(
        common.folded(map(common.clean, verdict.findings), verdict.whole),
        key=lambda finding: SEVERITIES.index(finding.severity),
    )
    return "\n".join([*(_command(finding, report.rules) for finding in by_severity), *_last(report)]) + "\n"


def _command(finding: Finding, rules: Mapping[str, common.Rule]) -> str:
    where: dict[str, object] = {
        "file": common.relative(finding.file),
        "line": finding.line,
        "col": finding.line and finding.column,
        "title": f"{finding.id} expected: {common.rule_of(finding.id, rules).title}",
    }
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
    text = "\n".join([common.device_and_message(finding), *([f"hint: {finding.hint}"] if finding.hint else [])])
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(text)}"


def _last(report: Report) -> Iterator[str]:
    more = any(number > SHOWN for number in common.printed(report.verdict).values())
    yield report.summary() + (f"; GitHub shows {SHOWN} annotations of a kind, all are in this log" if more else "")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


WRITERS: Mapping[str, Callable[[Report], str]] = {
    "text": lambda report: report.text(),
    "markdown": lambda report: markdown(
        f"## {report.title}\n\n{report.summary()}.", report.sections(), report.shown_by or f"{report.command} --all"
    ),
    "json": lambda report: json_text(report.document(), ensure_ascii=report.ascii) + "\n",
    "sarif": sarif,
    "junit": lambda report: junit(report.command, report.suites(), report.time),
    "github": github,
    "csv": lambda report: report.csv(),
}
