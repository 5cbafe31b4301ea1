"""Reports of verified state: text, Markdown, JSON, SARIF and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from fabric.audit.checks import ERROR, NOTE, Finding, FindingDocument
from fabric.audit.checks.reports.common import clean, line
from fabric.audit.checks.reports.formats import FileReason, Report, file_lines, finding_sections, findings_text
from fabric.audit.verify.site import Switch
from fabric.audit.verify.verify import SiteState
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.blocks import Notes, Section, plain
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Count, Document, document, enum_of, json_key
from fabric.base.text import listed, plural
from fabric.nos.state.records import KINDS


def state_report(state: SiteState, whole: bool = False) -> Report:
    """Verified state as it is reported; `whole` prints complete lists."""
    return Report(
        command="fabric verify",
        verdict=state.verdict(),
        title=f"Fabric state: site {plain(state.site.plan.site)}",
        summary=lambda: summary(state),
        text=lambda: _text(state, whole),
        document=lambda: document(state, StateDocument),
        sections=lambda: _sections(state),
        suites=lambda: _suites(state),
        shown_by=f"fabric verify --all, folder {state.collected.folder}",
    )


def _with_findings(state: SiteState) -> list[tuple[Switch, Sequence[Finding]]]:
    by_device = grouped((finding.device, finding) for finding in state.findings)
    return [(switch, by_device.get(name, ())) for name, switch in state.site.switches.items()]


StateKind = Annotated[str, enum_of(KINDS)]


class MissingDocument(Document):
    kind: StateKind
    switches: list[str] = json_key("switches that lack the kind of state")


class GapDocument(Document):
    kind: StateKind
    what: str = json_key("field or counters: speed, prefixes, queue drops")
    places: list[str] = json_key("switches with their ports or sessions")


class SwitchDocument(Document):
    """Of (switch, its findings)."""

    switch: str = json_key(of=lambda row: row[0].name)
    fabric: str = json_key(of=lambda row: row[0].view.fabric)
    role: str = json_key(of=lambda row: row[0].view.device.role)
    nos: str = json_key(of=lambda row: row[0].view.device.nos)
    judged: list[StateKind] = json_key("kinds of state that were collected", lambda row: [*filter(row[0].has, KINDS)])
    errors: Count = json_key(of=lambda row: sum(finding.severity == ERROR for finding in row[1]))


class StateSummary(Document):
    switches: Count
    without_state: Count
    files: Count
    errors: Count
    warnings: Count
    notes: Count

    @staticmethod
    def of(state: SiteState) -> dict[str, int]:
        numbers = {"switches": len(state.site.switches), "without_state": len(state.silent), "files": state.collected.files}
        return numbers | {f"{severity}s": count for severity, count in state.verdict().counts().items()}


class StateDocument(Document):
    """All of it; nothing is folded or cut."""

    site: str = json_key(of="site.plan.site")
    folder: str = json_key("folder of collected state", "collected.folder")
    summary: StateSummary = json_key(of=StateSummary.of)
    findings: list[FindingDocument]
    switches: list[SwitchDocument] = json_key(of=_with_findings)
    not_judged: list[MissingDocument] = json_key(of="missing")
    not_reported: list[GapDocument] = json_key(of="gaps")
    without_state: list[str] = json_key("planned switches without any state", "silent")
    unplanned: list[FileReason] = json_key(
        "files of devices that the plan does not have", lambda state: sorted(state.collected.unplanned.items())
    )
    unread: list[FileReason] = json_key("files that could not be read", lambda state: sorted(state.collected.unread.items()))


def summary(state: SiteState) -> str:
    """`6 switches: 1 error in 1 switch, 1 without state`."""
    counts = state.verdict().counts()
    sound = "nothing judged" if len(state.silent) == len(state.site.switches) else "as planned"
    found = ", ".join(plural(number, kind) for kind, number in counts.items() if number) or sound
    affected = {finding.device for finding in state.findings}
    inside = f" in {plural(len(affected), 'switch', 'switches')}" if affected else ""
    silent = f", {len(state.silent):,} without state" if state.silent else ""
    return f"{plural(len(state.site.switches), 'switch', 'switches')}: {found}{inside}{silent}"


# --- terminal -------------------------------------------------------------------------------------------------


def _text(state: SiteState, whole: bool) -> str:
    """Findings as `fabric check` prints them; the last line is the summary."""
    blocks = [findings_text(state.verdict(), whole)] if state.findings else []
    blocks += ["\n".join(lines)] if (lines := list(_beside(state, whole))) else []
    return "\n\n".join([*blocks, f"site {state.site.plan.site}: {summary(state)}"]) + "\n"


def _beside(state: SiteState, whole: bool) -> Iterator[str]:
    if state.silent:
        shown = listed(list(state.silent), len(state.silent) if whole else 3)
        yield f"no state: {plural(len(state.silent), 'switch', 'switches')}: {shown}"
    yield from (f"not judged: {one.words}" for one in state.missing)
    yield from (f"not judged: {one.words}" for one in state.gaps)
    for title, files in (("not in the plan", state.collected.unplanned), ("not read", state.collected.unread)):
        yield from file_lines(title, sorted(files.items()), whole)


def _sections(state: SiteState) -> Iterator[Section]:
    """Findings, and what was not judged."""
    yield from finding_sections(state.verdict())
    notes = [one.words for one in state.missing] + [one.words for one in state.gaps]
    notes += [f"no state of {name}" for name in state.silent]
    notes += [f"not read: {file}: {reason}" for file, reason in sorted(state.collected.unread.items())]
    if notes:
        yield Section("Not judged", [Notes("", notes)])


# --- JUnit XML: a suite per fabric, a test case per switch and kind of state ----------------------------------


def _suites(state: SiteState) -> list[Suite]:
    """A suite per fabric. A switch without state is skipped; one whose findings are notes passes."""
    by_device = grouped((finding.device, finding) for finding in state.findings)
    fabrics = grouped((switch.view.fabric, switch) for switch in state.site.switches.values())
    suites = [
        Suite(name, [_case(state, one, by_device.get(one.name, ())) for one in group]) for name, group in fabrics.items()
    ]
    return [*suites, *_others(state, by_device)]


def _case(state: SiteState, switch: Switch, findings: Sequence[Finding]) -> Case:
    name, classname = switch.name, f"fabric.{switch.view.fabric}"
    lines = "\n".join(line(clean(finding)) for finding in findings)
    if any(finding.severity != NOTE for finding in findings):
        return Case(name=name, classname=classname, failure=Failure("state", plural(len(findings), "finding"), lines))
    if name in state.silent:
        return Case(name=name, classname=classname, skipped="no state")
    missing = [one.kind for one in state.missing if name in one.switches]
    return Case(
        name=name,
        classname=classname,
        output="\n".join(filter(None, (lines, f"not judged: {', '.join(missing)}" if missing else ""))),
    )


def _others(state: SiteState, by_device: dict[str, list[Finding]]) -> Iterator[Suite]:
    """Findings at devices that are no switches: servers that no neighbor reports."""
    others = {name: findings for name, findings in by_device.items() if name not in state.site.switches}
    if others:
        yield Suite(
            "others",
            [
                Case(
                    name=name or "site",
                    classname="fabric",
                    failure=Failure("state", plural(len(findings), "finding"), "\n".join(map(str, findings))),
                )
                for name, findings in others.items()
            ],
        )
