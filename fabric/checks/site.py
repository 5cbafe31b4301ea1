"""Checking a site: its design, and what the files of its switches and servers say."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from fabric import pipeline
from fabric.checks import design, device, files, hosts
from fabric.checks.base import Design
from fabric.checks.files.reading import OutOfDate
from fabric.checks.files.services import HostNames
from fabric.checks.finding import ERROR, WARNING, Finding
from fabric.checks.silence import NeedlessSilence, Silences
from fabric.checks.verdict import Read
from fabric.configs import Job, Renderer
from fabric.diagnostics import Diagnostic, plural
from fabric.generate import CHUNK, PARALLEL_FROM, Progress, silent
from fabric.output import OutputError, manifest
from fabric.output.files import sha256
from fabric.pipeline import Intent
from fabric.plan.plan import Plan
from fabric.readback.facts import Said
from fabric.readback.folder import Folder
from fabric.readback.readers import read_device


@dataclass
class Checked:
    """What was found at a site, silenced findings among them, and what it was found in."""

    findings: list[Finding] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    read: list[Read] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Judged:
    """A switch whose files were read; small, as it comes back from another process."""

    findings: tuple[Finding, ...]
    ends: hosts.Ends
    files: int
    statements: int
    unread: tuple[Said[str], ...]
    stale: tuple[str, ...]  # files that an older intent made


def check_site(intent: Intent, folder: Folder | None = None, jobs: int = 0, progress: Progress = silent) -> Checked:
    """Every check of one intent. Raises InputError for what cannot be planned or configured.

    Args:
        folder: configs to be judged in place of the generated ones.
        jobs: processes; 0 takes every core.
    """
    made = pipeline.plan(intent)
    renderer = pipeline.render(made, intent)
    result = Checked()
    result.findings += _diagnostics(made)
    for fabric in made.fabrics.values():
        one = Design(made, fabric)
        for check in design.checks():
            result.findings += check.over(one)
    result.ran |= {check.id for check in (*design.checks(), *files.checks())} | {NeedlessSilence.id, *hosts.IDS}
    count = plural(len(made.fabrics), "fabric")
    result.read.append(Read(f"plan of site {made.site}, {count}", str(intent.path)))
    _files(intent, made, renderer, folder, result, jobs, progress)
    result.findings = list(Silences(made).apply(result.findings, result.ran))
    return result


def _diagnostics(made: Plan) -> Iterator[Finding]:
    """What the planner warns of, as findings; `Silences` sorts out which of them are silenced."""
    for warning in (*made.warnings, *made.silenced):
        yield finding_of(warning)


def finding_of(said: Diagnostic) -> Finding:
    """A diagnostic of the input as a finding."""
    place = said.place
    return Finding(said.code, said.severity, "", place.file, place.line, said.message, said.hint, place.column)


# --- files ------------------------------------------------------------------------------------------------------


def _files(
    intent: Intent, made: Plan, renderer: Renderer, folder: Folder | None, result: Checked, jobs: int, progress: Progress
) -> None:
    todo = renderer.jobs(lambda name: True)
    disk, sample = _Disk(intent), hosts.Sample.of_site(made)
    work = _Work(intent, renderer, disk, _by_name(folder), sample)
    judged: list[Judged] = []
    with progress(f"{made.site}: switches", len(todo)) as advance:
        for chunk in _judge_all(work, todo, jobs):
            judged += chunk
            advance(len(chunk))
    for one in judged:
        result.findings += one.findings
    stale = [path for one in judged for path in one.stale]
    if stale:
        place = intent.source.place(("site",))
        message = f"{intent.shown}: {plural(len(stale), 'file')} not what this plan makes: {stale[0]}" + (
            ", …" if stale[1:] else ""
        )
        result.findings.append(OutOfDate().at(place, message, severity=WARNING))
    ends = {key: end for one in judged for key, end in one.ends.items()}
    if ends:
        fresh = pipeline.host_files(made, sample.servers.__contains__)
        result.findings += hosts.disagreements(
            made, ends, fresh, lambda path, data: disk.look(path, data)[0], str(intent.shown)
        )
        result.skipped += sample.skipped
    what = f"configs of site {made.site}" + ("" if folder is None else ", as they lie there")
    unread = tuple(said for one in judged for said in one.unread)
    shown = str(intent.shown) if folder is None else folder.root
    result.read.append(
        Read(what, shown, len(judged), sum(one.files for one in judged), sum(one.statements for one in judged), unread)
    )
    if folder is not None:
        result.findings += _strangers(made, folder, {job.device.name for job in todo})


def _by_name(folder: Folder | None) -> Mapping[str, Mapping[str, str]] | None:
    return None if folder is None else {device.name: device.files for device in folder.devices}


def _strangers(made: Plan, folder: Folder, planned: set[str]) -> Iterator[Finding]:
    """Devices of a folder that the plan does not have."""
    for device_ in folder.devices:
        if device_.name not in planned:
            message = f"host name: no switch of site {made.site} has this name"
            yield Finding(HostNames.id, WARNING, device_.name, next(iter(device_.files)), 0, message, HostNames.mend)


class _Disk:
    """The generated folder: which files stand there as they were generated, and which were changed since."""

    def __init__(self, intent: Intent) -> None:
        self.folder, self.shown = intent.folder, intent.shown
        try:
            self.owned = manifest.read(intent.folder) if intent.site.output.keep else {}
        except OutputError:
            self.owned = {}

    def look(self, path: str, fresh: bytes) -> tuple[bytes, bool]:
        """(what is to be judged, whether an older intent made what is there). A file edited by hand is judged as it is."""
        if not self.owned:
            return fresh, False
        try:
            there = (self.folder / path).read_bytes()
        except OSError:
            return fresh, True
        if there == fresh:
            return fresh, False
        return (fresh, True) if sha256(there) == self.owned.get(path) else (there, False)


@dataclass(frozen=True)
class _Work:
    intent: Intent
    renderer: Renderer
    disk: _Disk
    given: Mapping[str, Mapping[str, str]] | None  # device → path → text, of a folder that was named
    sample: hosts.Sample

    def judge(self, job: Job) -> Judged:
        """One switch."""
        view = self.renderer.views[job.fabric].of(job.device)
        stale: list[str] = []
        if self.given is not None:
            texts = self.given.get(job.device.name)
            if texts is None:
                message = "host name: no file of this switch was found"
                finding = Finding(HostNames.id, ERROR, job.device.name, str(self.intent.path), 0, message, HostNames.mend)
                return Judged((finding,), {}, 0, 0, (), ())
        else:
            texts = dict(self._texts(job, stale))
        facts = read_device(job.device.name, job.device.nos, texts)
        facts.name = job.device.name if self.given is None else facts.name
        findings = device.judge(view, facts, texts)
        right = not any(finding.id in hosts.ECHOED for finding in findings)
        ends = hosts.ends(view, facts, self.sample) if right else {}
        return Judged(tuple(findings), ends, len(texts), facts.statements, tuple(facts.unread), tuple(stale))

    def _texts(self, job: Job, stale: list[str]) -> Iterator[tuple[str, str]]:
        for path, fresh in self.renderer.files(job):
            data, old = self.disk.look(path, fresh)
            if old:
                stale.append(path)
            yield f"{self.disk.shown}/{path}", data.decode("utf-8", "replace")


_work: _Work | None = None  # what forked workers inherit; the plan is never pickled


def _judge_all(work: _Work, todo: Sequence[Job], jobs: int) -> Iterator[list[Judged]]:
    """In this process, or in several for many switches."""
    global _work
    chunks = [todo[at : at + CHUNK] for at in range(0, len(todo), CHUNK)]
    workers = min(jobs or os.cpu_count() or 1, len(chunks))
    if workers < 2 or len(todo) < PARALLEL_FROM:
        for chunk in chunks:
            yield [work.judge(job) for job in chunk]
        return
    _work = work
    try:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
            yield from pool.map(_judge_chunk, chunks)
    finally:
        _work = None


def _judge_chunk(chunk: Iterable[Job]) -> list[Judged]:
    assert _work is not None
    return [_work.judge(job) for job in chunk]
