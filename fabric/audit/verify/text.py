"""Verified state for people at a terminal: findings, what was not judged, and a line that sums up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabric.audit.checks.reports import report as checks_report
from fabric.audit.verify.reports import StateReport, summary
from fabric.audit.verify.verify import SiteState
from fabric.base.text import and_more, listed, plural, printable

MAX_FILES = 5  # files in a list


def report(report: StateReport) -> str:
    """Findings as `fabric check` prints them; the last line is the summary."""
    state = report.state
    blocks = []
    if state.findings:
        verdict = replace(state.verdict(whole=report.whole), read=(), skipped=(), ran=())
        blocks.append(checks_report("text", verdict).rstrip("\n").rpartition("\n\n")[0])
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
        every = sorted(files.items())
        for path, reason in every if whole else every[:MAX_FILES]:
            yield f"{title}: {printable(path)}: {printable(reason)}"
        if len(every) > MAX_FILES and not whole:
            yield f"{title}: {and_more(len(every) - MAX_FILES, 'file', see='`--all`')}"
