"""Reports of a drift check: text, Markdown, JSON, SARIF and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fabric.audit.checks import FindingDocument, Read, Verdict
from fabric.audit.checks.reports.common import clean, line
from fabric.audit.checks.reports.formats import FileReason, Report, file_lines, findings_text
from fabric.audit.diff.configs import FileChangeDocument
from fabric.audit.drift.devices import DRIFTED, IN_SYNC, NO_CONFIG, STATES, UNKNOWN, DeviceDrift, SiteDrift
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.blocks import Fold, Notes, Section, cut_table, plain
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Count, Document, document, enum_of, itself, json_key
from fabric.base.text import and_more, listed, plural, printable
from fabric.base.text.screen import table


def drift_report(site: SiteDrift, whole: bool = False, commands: bool = False) -> Report:
    """A drift check as it is reported.

    Args:
        site: the compared site.
        whole: print lists completely, one finding per device.
        commands: print the commands back to the plan.
    """
    return Report(
        command="fabric drift",
        verdict=verdict_of(site),
        title=f"Fabric drift: site {plain(site.site)}",
        summary=lambda: summary(site),
        text=lambda: _text(site, whole, commands),
        document=lambda: document(site, DriftDocument),
        sections=lambda: _sections(site),
        suites=lambda: _suites(site),
        shown_by=f"fabric drift --all, folder {site.folder}",
    )


def verdict_of(site: SiteDrift) -> Verdict:
    """The findings of all switches, for formats that have no devices."""
    files = sum(len(device.files) for device in site.devices)
    ids = {finding.id for device in site.devices for finding in device.findings} | {"FAB295"}
    skipped = [(device.device, device.reason) for device in site.devices if device.reason]
    return Verdict.of(
        (finding for device in site.devices for finding in device.findings),
        [Read(what=f"running configs of site {site.site}", path=site.folder, devices=len(site.devices), files=files)],
        ids,
        skipped,
    )


class DriftSummary(Document):
    devices: Count = json_key(of=lambda site: len(site.devices))
    drifted: Count = json_key(of=lambda site: site.count(DRIFTED))
    no_config: Count = json_key(of=lambda site: site.count(NO_CONFIG))
    unknown: Count = json_key(of=lambda site: site.count(UNKNOWN))
    in_sync: Count = json_key(of=lambda site: site.count(IN_SYNC))
    errors: Count = json_key(of=lambda site: sum(device.errors for device in site.devices))


class DeviceDocument(Document):
    device: str
    fabric: str
    role: str
    nos: str
    state: Annotated[str, enum_of(STATES)]
    reason: str = json_key("why it was not compared; empty if it was")
    files: list[str]
    findings: list[FindingDocument]
    commands: list[FileChangeDocument]


class DriftDocument(Document):
    """All switches; nothing is folded or cut."""

    site: str
    folder: str = json_key("folder of running configs")
    summary: DriftSummary = json_key(of=itself)
    devices: list[DeviceDocument]
    unplanned: list[str] = json_key("devices that the plan does not have")
    unread: list[FileReason]


def summary(site: SiteDrift) -> str:
    """`16 switches: 1 drifted, 1 no config, 14 in sync`."""
    counts = ", ".join(f"{site.count(state):,} {state}" for state in STATES if site.count(state))
    return f"{plural(len(site.devices), 'switch', 'switches')}: {counts}"


def not_in_sync(site: SiteDrift) -> list[DeviceDrift]:
    """The switches to look at, those that drifted first."""
    wanted = [device for device in site.devices if device.state != IN_SYNC or device.findings]
    return sorted(wanted, key=lambda device: (STATES.index(device.state), -device.errors if device.state == DRIFTED else 0))


# --- terminal: a row per switch that is not in sync -----------------------------------------------------------

MAX_SHOWN_SWITCHES = 20


def _text(site: SiteDrift, whole: bool, commands: bool) -> str:
    """Findings, the commands if they are asked for, then the rows: the last line is the summary."""
    verdict = verdict_of(site)
    blocks = [findings_text(verdict, whole)] if verdict.findings else []
    if commands:
        blocks += ["\n".join(lines) for device in site.devices if (lines := list(_commands(device)))]
    if rows := not_in_sync(site):
        blocks.append("\n".join(_rows(rows, whole)))
    blocks += ["\n".join(lines)] if (lines := list(_beside(site, whole))) else []
    return "\n\n".join([*blocks, f"site {site.site}: {summary(site)}"]) + "\n"


def _rows(devices: list[DeviceDrift], whole: bool) -> Iterator[str]:
    shown = devices if whole else devices[:MAX_SHOWN_SWITCHES]
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


def _beside(site: SiteDrift, whole: bool) -> Iterator[str]:
    if site.unplanned:
        yield f"not in the plan: {listed([printable(name) for name in site.unplanned], 5)}"
    yield from file_lines("not read", site.unread, whole)


# --- markdown: a table of switches, findings and commands folded ----------------------------------------------

MAX_TABLE_ROWS = 100


def _sections(site: SiteDrift) -> Iterator[Section]:
    devices = not_in_sync(site)
    if devices:
        rows = tuple((one.device, one.nos, one.state, str(one.errors or ""), one.reason) for one in devices)
        yield Section("Switches", [cut_table("", ("switch", "NOS", "state", "errors", ""), rows, MAX_TABLE_ROWS)])
        folds = tuple(fold for one in devices for fold in _folds(one))
        if folds:
            yield Section("Differences", folds)
    if site.unplanned:
        yield Section("Not in the plan", (Notes("", site.unplanned),))


def _folds(device: DeviceDrift) -> Iterator[Fold]:
    lines = tuple(f"{one.file}:{one.line}: {one.severity}[{one.id}]: {one.message}" for one in device.findings)
    if lines:
        yield Fold(device.device, "", lines, plural(len(lines), "finding"))
    for change in device.commands:
        title = f"{device.device}: {change.path}, {change.form.title}"
        yield Fold(title, change.form.language, change.lines, plural(len(change.lines), "line"))


# --- JUnit XML: one test case per switch ----------------------------------------------------------------------


def _suites(site: SiteDrift) -> list[Suite]:
    """A suite per fabric. A switch that could not be compared is skipped with the reason."""
    fabrics = grouped((device.fabric, device) for device in site.devices)
    return [Suite(name, [_case(device) for device in group]) for name, group in fabrics.items()]


def _case(device: DeviceDrift) -> Case:
    lines = "\n".join(line(clean(finding)) for finding in device.findings)
    name = f"fabric.{device.fabric}"
    if device.reason:
        return Case(name=device.device, classname=name, skipped=printable(f"{device.state}: {device.reason}"))
    if device.state != DRIFTED:
        return Case(name=device.device, classname=name, output=lines)
    return Case(name=device.device, classname=name, failure=Failure(DRIFTED, plural(device.errors, "difference"), lines))
