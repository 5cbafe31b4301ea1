"""A drift check for people at a terminal: a row per switch that is not in sync, its findings, and the commands back."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks.reports.compared import file_lines, findings_text
from fabric.audit.drift.devices import DeviceDrift
from fabric.audit.drift.reports import DriftReport, not_in_sync, summary
from fabric.base.text import and_more, listed, plural, printable
from fabric.base.text.screen import table

MAX_ROWS = 20


def report(drift: DriftReport) -> str:
    """Findings, the commands if they are asked for, then the rows: the last line is the summary."""
    site = drift.site
    blocks = [findings_text(drift.verdict, drift.whole)] if any(device.findings for device in site.devices) else []
    if drift.commands:
        blocks += ["\n".join(lines) for device in site.devices if (lines := list(_commands(device)))]
    if rows := not_in_sync(site):
        blocks.append("\n".join(_rows(rows, drift.whole)))
    blocks += ["\n".join(lines)] if (lines := list(_beside(drift))) else []
    return "\n\n".join([*blocks, f"site {site.site}: {summary(site)}"]) + "\n"


def _rows(devices: list[DeviceDrift], whole: bool) -> Iterator[str]:
    shown = devices if whole else devices[:MAX_ROWS]
    rows = [
        (device.device, device.nos, device.state, str(device.errors or ""), printable(device.reason) or _first(device))
        for device in shown
    ]
    yield from table(("switch", "NOS", "state", "errors", ""), rows, "<<<><")
    if len(devices) > len(shown):
        yield f"  {and_more(len(devices) - len(shown), 'switch', see='`--all`')}"


def _first(device: DeviceDrift) -> str:
    warnings = len(device.findings) - device.errors
    return f"{plural(warnings, 'warning')}" if warnings and not device.errors else ""


def _commands(device: DeviceDrift) -> Iterator[str]:
    """Never cut: the last lines may repair what the first ones take along."""
    for change in device.commands:
        yield f"{device.device}: {change.path}, {change.form.title}:"
        yield from (f"    {printable(line)}" for line in change.lines)


def _beside(drift: DriftReport) -> Iterator[str]:
    site = drift.site
    if site.unplanned:
        yield f"not in the plan: {listed([printable(name) for name in site.unplanned], 5)}"
    yield from file_lines("not read", site.unread, drift.whole)
