"""Reports of a drift check: text, Markdown, JSON, SARIF and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fabric.audit.checks import FindingDocument, Read, Verdict
from fabric.audit.checks.reports.common import clean, line
from fabric.audit.checks.reports.compared import FileReason, file_lines, findings_text
from fabric.audit.diff.configs import FileChangeDocument
from fabric.audit.diff.formats import sections_as_markdown
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.audit.drift.devices import DRIFTED, IN_SYNC, NO_CONFIG, STATES, UNKNOWN, DeviceDrift, SiteDrift
from fabric.base.formats import Case, Failure, Format, Suite
from fabric.base.formats.junit import junit
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Count, Document, document, enum_of, itself, json_key
from fabric.base.text import and_more, listed, plural, printable
from fabric.base.text.screen import table


@dataclass(frozen=True)
class DriftReport:
    """A drift check as it is reported.

    Attributes:
        site: the compared site.
        whole: print lists completely, one finding per device.
        commands: print the commands back to the plan.
    """

    site: SiteDrift
    whole: bool = False
    commands: bool = False

    @property
    def verdict(self) -> Verdict:
        """The findings of all switches, for formats that have no devices."""
        site = self.site
        files = sum(len(device.files) for device in site.devices)
        ids = sorted({finding.id for device in site.devices for finding in device.findings} | {"FAB295"})
        skipped = [(device.device, device.reason) for device in site.devices if device.reason]
        return Verdict.of(
            (finding for device in site.devices for finding in device.findings),
            [Read(what=f"running configs of site {site.site}", path=site.folder, devices=len(site.devices), files=files)],
            ids,
            skipped,
        )

    def document(self) -> dict[str, Any]:
        """The document of `fabric schema drift`."""
        return document(self.site, DriftDocument)


FORMATS: Mapping[str, Format[str]] = {
    "text": Format("for people at a terminal", "fabric.audit.drift.reports:text_report"),
    "markdown": Format("for a pull request or a chat", "fabric.audit.drift.reports:markdown_report"),
    "json": Format("all switches with their findings and commands", "fabric.audit.checks.reports.compared:json"),
    "sarif": Format("SARIF, for code scanning", "fabric.audit.checks.reports.compared:sarif"),
    "junit": Format("JUnit XML, a test per switch", "fabric.audit.drift.reports:junit_report"),
}


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
    from fabric.base.text import plural

    counts = ", ".join(f"{site.count(state):,} {state}" for state in STATES if site.count(state))
    return f"{plural(len(site.devices), 'switch', 'switches')}: {counts}"


def not_in_sync(site: SiteDrift) -> list[DeviceDrift]:
    """The switches to look at, those that drifted first."""
    wanted = [device for device in site.devices if device.state != IN_SYNC or device.findings]
    return sorted(wanted, key=lambda device: (STATES.index(device.state), -device.errors if device.state == DRIFTED else 0))


# --- terminal: a row per switch that is not in sync -----------------------------------------------------------

MAX_SHOWN_SWITCHES = 20


def text_report(drift: DriftReport) -> str:
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


def _beside(drift: DriftReport) -> Iterator[str]:
    site = drift.site
    if site.unplanned:
        yield f"not in the plan: {listed([printable(name) for name in site.unplanned], 5)}"
    yield from file_lines("not read", site.unread, drift.whole)


# --- markdown: a table of switches, findings and commands folded ----------------------------------------------

MAX_TABLE_ROWS = 100


def markdown_report(drift: DriftReport) -> str:
    """The report as GitHub and GitLab show it; parts that do not fit into a comment are counted."""
    site = drift.site
    head = f"## Fabric drift: site {site.site}\n\n{summary(site)}."
    return sections_as_markdown(head, list(_sections(drift)), f"fabric drift --all, folder {site.folder}")


def _sections(drift: DriftReport) -> Iterator[Section]:
    devices = not_in_sync(drift.site)
    if devices:
        rows = tuple((one.device, one.nos, one.state, str(one.errors or ""), one.reason) for one in devices)
        rest = max(0, len(rows) - MAX_TABLE_ROWS)
        yield Section("Switches", (Table("", ("switch", "NOS", "state", "errors", ""), rows[:MAX_TABLE_ROWS], rest),))
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


# --- JUnit XML: one test case per switch ----------------------------------------------------------------------


def junit_report(drift: DriftReport) -> str:
    """A suite per fabric. A switch that could not be compared is skipped with the reason."""
    fabrics = grouped((device.fabric, device) for device in drift.site.devices)
    return junit("fabric drift", [Suite(name, [_case(device) for device in group]) for name, group in fabrics.items()])


def _case(device: DeviceDrift) -> Case:
    lines = "\n".join(line(clean(finding)) for finding in device.findings)
    name = f"fabric.{device.fabric}"
    if device.reason:
        return Case(name=device.device, classname=name, skipped=printable(f"{device.state}: {device.reason}"))
    if device.state != DRIFTED:
        return Case(name=device.device, classname=name, output=lines)
    return Case(name=device.device, classname=name, failure=Failure(DRIFTED, plural(device.errors, "difference"), lines))
