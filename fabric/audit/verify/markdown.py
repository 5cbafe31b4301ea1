"""Verified state as Markdown: a table of findings by switch, and what was not judged."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.diff.markdown import sections_as_markdown
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.audit.verify.reports import StateReport, summary
from fabric.audit.verify.verify import SiteState
from fabric.base.grouping import grouped
from fabric.base.text import plural

MAX_ROWS = 100


def report(report: StateReport) -> str:
    """The report as GitHub and GitLab show it; parts that do not fit into a comment are counted."""
    state = report.state
    head = f"## Fabric state: site {state.site.plan.site}\n\n{summary(state)}."
    return sections_as_markdown(head, list(_sections(state)), f"fabric verify --all, folder {state.collected.folder}")


def _sections(state: SiteState) -> Iterator[Section]:
    if state.findings:
        rows = tuple((one.device, one.id, one.severity, one.message) for one in state.findings)
        rest = max(0, len(rows) - MAX_ROWS)
        yield Section("Findings", (Table("", ("switch", "check", "severity", "finding"), rows[:MAX_ROWS], rest),))
        yield Section("What to do", tuple(_folds(state)))
    notes = [one.words for one in state.missing] + [one.words for one in state.gaps]
    notes += [f"no state of {name}" for name in state.silent]
    notes += [f"not read: {file}: {reason}" for file, reason in sorted(state.collected.unread.items())]
    if notes:
        yield Section("Not judged", (Notes("", tuple(notes)),))


def _folds(state: SiteState) -> Iterator[Fold]:
    for device, findings in grouped((one.device, one) for one in state.findings).items():
        lines = tuple(f"{one.id}: {one.hint}" for one in findings)
        yield Fold(device or "site", "", lines, plural(len(lines), "finding"))
