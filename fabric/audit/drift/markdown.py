"""A drift check as Markdown: a table of switches, and a folded part with findings and commands for each."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.diff.markdown import sections_as_markdown
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.audit.drift.devices import DeviceDrift
from fabric.audit.drift.reports import DriftReport, not_in_sync, summary
from fabric.base.text import plural

MAX_ROWS = 100


def report(drift: DriftReport) -> str:
    """The report as GitHub and GitLab show it; parts that do not fit into a comment are counted."""
    site = drift.site
    head = f"## Fabric drift: site {site.site}\n\n{summary(site)}."
    return sections_as_markdown(head, list(_sections(drift)), f"fabric drift --all, folder {site.folder}")


def _sections(drift: DriftReport) -> Iterator[Section]:
    devices = not_in_sync(drift.site)
    if devices:
        rows = tuple((one.device, one.nos, one.state, str(one.errors or ""), one.reason) for one in devices)
        rest = max(0, len(rows) - MAX_ROWS)
        yield Section("Switches", (Table("", ("switch", "NOS", "state", "errors", ""), rows[:MAX_ROWS], rest),))
        folds = tuple(fold for one in devices for fold in _folds(one))
        if folds:
            yield Section("Differences", folds)
    if drift.site.unplanned:
        yield Section("Not in the plan", (Notes("", drift.site.unplanned),))


def _folds(device: DeviceDrift) -> Iterator[Fold]:
    lines = tuple(f"{one.file}:{one.line}: {one.severity}[{one.id}]: {one.message}" for one in device.findings)
    if lines:
        yield Fold(device.device, "", lines, plural(len(lines), "finding"))
    for change in device.commands:
        title = f"{device.device}: {change.path}, {change.form.title}"
        yield Fold(title, change.form.language, change.lines, plural(len(change.lines), "line"))
