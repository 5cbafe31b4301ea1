"""Compares the running config of every planned switch with the plan.

Statements are compared first: a switch in sync costs no more. Only a switch that differs is read for facts, whose checks
explain the differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from fabric.audit.checks import ERROR, Finding, device as switch_checks, missing_files, statement_differences
from fabric.audit.diff.files import FileChange
from fabric.audit.drift.commands import commands_back
from fabric.base.processes import Progress, in_chunks, silent
from fabric.base.reading import UnreadableError, guarded
from fabric.configs import Job, Renderer
from fabric.nos.reading import Device, Folder, is_read, read_device

IN_SYNC = "in sync"
DRIFTED = "drifted"
NO_CONFIG = "no config"
UNKNOWN = "unknown"
STATES = (DRIFTED, NO_CONFIG, UNKNOWN, IN_SYNC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceDrift:
    """One planned switch.

    Attributes:
        device: its planned name.
        fabric: name of its fabric.
        role: `leaf`, `spine`, …
        nos: its planned network OS.
        state: one of STATES.
        files: running files that were compared.
        findings: what differs, worst first; warnings are text without effect on traffic.
        reason: why it was not compared, of `no config` and `unknown`.
        commands: changes of its files that restore the plan.
    """

    device: str
    fabric: str
    role: str
    nos: str
    state: str
    files: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    commands: tuple[FileChange, ...] = ()

    @property
    def errors(self) -> int:
        """Number of differences with effect."""
        return sum(finding.severity == ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class SiteDrift:
    """The switches of a site in planned order, and what else is in the folder."""

    site: str
    folder: str
    devices: tuple[DeviceDrift, ...]
    unplanned: tuple[str, ...] = ()  # names of devices that the plan does not have
    unread: tuple[tuple[str, str], ...] = ()  # files without a known format: (path, reason)

    def count(self, state: str) -> int:
        """Number of switches in a state."""
        return sum(device.state == state for device in self.devices)


def site_drift(renderer: Renderer, folder: Folder, jobs: int = 0, progress: Progress = silent) -> SiteDrift:
    """Every planned switch against its running config in a folder.

    Args:
        renderer: a planned site.
        folder: running configs, as `scan` found them.
        jobs: processes; 0 for one per core.
        progress: progress bar.
    """
    todo = renderer.jobs(lambda name: True)
    work = _Work(renderer, {device.name: device for device in reversed(folder.devices)}, _failed(folder))
    drifts: list[DeviceDrift] = []
    with progress(f"{renderer.plan.site}: switches", len(todo)) as advance:
        for chunk in in_chunks(work.drift, todo, jobs):
            drifts += chunk
            advance(len(chunk))
    planned = {job.device.name for job in todo}
    used = {path for drift in drifts for path in drift.files}
    unplanned = tuple(sorted({device.name for device in folder.devices} - planned))
    unread = tuple(sorted((path, kind.reason) for path, kind in folder.unrecognized.items() if path not in used))
    return SiteDrift(renderer.plan.site, folder.root, tuple(drifts), unplanned, unread)


def _failed(folder: Folder) -> Mapping[str, tuple[str, str]]:
    """Stem or folder of a file that cannot be read → (path, reason): an empty file of a switch that did not answer."""
    failed: dict[str, tuple[str, str]] = {}
    for path, kind in folder.unrecognized.items():
        name = PurePath(path)
        for key in (name.parent.name, name.stem, name.name):
            failed[key] = (path, kind.reason)
    return failed


@dataclass(frozen=True)
class _Work:
    renderer: Renderer
    running: Mapping[str, Device]
    failed: Mapping[str, tuple[str, str]]

    def drift(self, job: Job) -> DeviceDrift:
        """One switch. What cannot be read of it is its state, so that the others are compared."""
        try:
            return self._drift(job)
        except UnreadableError as error:
            place = f"{error.file}:{error.line}" if error.line else error.file
            return self._made(job, UNKNOWN, files=tuple(self.running[job.device.name].files), reason=f"{place}: {error}")

    def _drift(self, job: Job) -> DeviceDrift:
        name, nos = job.device.name, job.device.nos
        planned = {path: data.decode() for path, data in self.renderer.files(job)}
        running = self.running.get(name)
        if running is None and (failure := self.failed.get(name)):
            return self._made(job, UNKNOWN, files=failure[:1], reason=failure[1])
        if running is None:
            return self._made(job, NO_CONFIG, reason="no config with this host name in the folder")
        files = tuple(running.files)
        if running.nos != nos:
            return self._made(job, UNKNOWN, files=files, reason=f"network OS: expected {nos}, got {running.nos}")
        differences = statement_differences(nos, planned, running.files)
        absent = missing_files(nos, planned, running.files)
        reason = f"not compared: no {', '.join(absent)} in the folder" if absent else ""
        if not differences:
            return self._made(job, UNKNOWN if absent else IN_SYNC, files=files, reason=reason)
        findings = self._findings(job, planned, running)
        errors = any(finding.severity == ERROR for finding in findings)
        state = DRIFTED if errors else UNKNOWN if absent else IN_SYNC
        with guarded(files[0]):
            commands = commands_back(nos, planned, running.files, differences)
        return self._made(job, state, files=files, findings=findings, reason=reason, commands=commands)

    def _findings(self, job: Job, planned: Mapping[str, str], running: Device) -> tuple[Finding, ...]:
        """Findings of the checks of files, those of facts first."""
        view = self.renderer.views[job.fabric].of(job.device)
        if not is_read(job.device.nos):
            from fabric.audit.checks.files.reading import Rest, Statements
            from fabric.model.facts import Facts

            return tuple(
                Statements().run(Rest(view, Facts(name=job.device.name, nos=job.device.nos), running.files, planned, ()))
            )
        facts = read_device(job.device.name, job.device.nos, running.files)
        facts.name = job.device.name
        return tuple(sorted(switch_checks.judge(view, facts, running.files, planned), key=lambda finding: finding.order))

    def _made(self, job: Job, state: str, **more: object) -> DeviceDrift:
        device = job.device
        return DeviceDrift(device=device.name, fabric=job.fabric, role=device.role, nos=device.nos, state=state, **more)  # type: ignore[arg-type]
