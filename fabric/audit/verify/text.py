"""Verified state for people at a terminal: findings, what was not judged, and a line that sums up."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks.reports.compared import file_lines, findings_text
from fabric.audit.verify.reports import StateReport, summary
from fabric.audit.verify.verify import SiteState
from fabric.base.text import listed, plural


def report(report: StateReport) -> str:
    """Findings as `fabric check` prints them; the last line is the summary."""
    state = report.state
    blocks = []
    if state.findings:
        blocks.append(findings_text(report.verdict, report.whole))
    if lines := list(_beside(state, report.whole)):
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, f"site {state.site.plan.site}: {summary(state)}"]) + "\n"


def _beside(state: SiteState, whole: bool) -> Iterator[str]:
    if state.silent:
        shown = listed(list(state.silent), len(state.silent) if whole else 3)
        yield f"no state: {plural(len(state.silent), 'switch', 'switches')}: {shown}"
    yield from (f"not judged: {one.words}" for one in state.missing)
    yield from (f"not judged: {one.words}" for one in state.gaps)
    for title, files in (("not in the plan", state.collected.unplanned), ("not read", state.collected.unread)):
        yield from file_lines(title, sorted(files.items()), whole)
