"""Generating a site: plan, render every switch, and write what changed, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report
from fabric.base.output import (
    LINE_ENDS,
    Changes,
    Comparison,
    OutputError,
    Store,
    Transaction,
    check as compare,
    diff as differences,
)
from fabric.base.output.journal import Staged, stage
from fabric.base.processes import PARALLEL_FROM, Progress, in_chunks, silent
from fabric.base.text import and_more, plural
from fabric.configs import overrides, targets
from fabric.configs.hosts import host_files
from fabric.configs.infiniband import files as infiniband
from fabric.configs.render import render
from fabric.configs.site_files import links_csv, site_files, upper_ends
from fabric.configs.view_of import Views
from fabric.model.plan import SERVER, Device, Plan, SwitchView, lock_file as lock, unsilenced
from fabric.model.settings.site import Home
from fabric.nos.target import CannotRender, target

# --- Rendering: one job per switch, in this process or in several ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """One switch to render."""

    fabric: str
    device: Device


class Renderer:
    """Everything that rendering a plan needs, computed once. Raises InputError for features that no target can configure."""

    def __init__(self, plan: Plan, base: Path) -> None:
        report = Report()
        targets.check(plan.fabrics, report)
        report.raise_errors()
        self.plan = plan
        self.overrides = overrides.read(plan, base)
        self.views = {name: Views(plan, fabric, targets.mtu_limit(fabric)) for name, fabric in plan.fabrics.items()}
        self.subnets = infiniband.managed(plan, base)

    def jobs(self, selected: Callable[[str], bool]) -> list[Job]:
        """A job for every selected switch with a target, in the order of the plan."""
        return [
            Job(name, device)
            for name, fabric in self.plan.fabrics.items()
            for device in fabric.switches
            if device.nos and selected(device.name)
        ]

    def files(self, job: Job, view: SwitchView | None = None) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) of one switch; `view` where its view is there."""
        view = view or self.views[job.fabric].of(job.device)
        applied = self.overrides.of(job.fabric, job.device)
        try:
            rendered = render(view, target(job.device.nos), applied)
        except CannotRender as error:
            spec = self.plan.fabrics[job.fabric].spec
            hint = "choose another network OS or switch: `fabric catalog --os` lists their features"
            raise InputError([Diagnostic("FAB165", spec.at(), f"{job.device.name}: {error}", hint)]) from error
        except Exception as error:
            blamed = overrides.explain(error, self.plan, job.device, applied)
            raise (blamed or error) from error
        for file in rendered:
            yield f"configs/{job.device.name}/{file.path}", file.text.encode()

    def site_files(self) -> Iterator[tuple[str, bytes]]:
        """Files of the whole site, and those of its subnet managers."""
        yield from site_files(self.plan)
        for subnet in self.subnets:
            yield from infiniband.files(subnet)


# --- Generating -----------------------------------------------------------------------------------------------


@dataclass
class Result:
    """What a run has to say: lines for a person, warnings, and whether the files were out of date."""

    lines: list[str] = field(default_factory=list)
    warnings: tuple[Diagnostic, ...] = ()
    stale: bool = False
    diff: Iterable[str] = ()


class Generation:
    """One site, planned and ready to be rendered. Looking changes nothing; only `write` does.

    `numbers` is the lock file as it was before the site was planned: `write` refuses to go over another run's.
    Raises InputError for a limit that matches no switch.
    """

    def __init__(
        self, renderer: Renderer, numbers: bytes | None, limit: str = "", jobs: int = 0, progress: Progress | None = None
    ) -> None:
        self.jobs, self.progress = jobs, progress or silent
        self.limit = _Limit(limit)
        self._numbers = numbers
        self.renderer, self.plan, self.home = renderer, renderer.plan, renderer.plan.settings.home
        self.todo = self.renderer.jobs(self.limit.device)
        if limit and not self.todo and not self._servers():
            message = f"--limit '{limit}' matches no switch or server of site '{self.plan.site}'"
            raise InputError([Diagnostic("FAB162", Place(str(self.home.path)), message)])

    def _servers(self) -> bool:
        """Whether the limit names a server."""
        devices = (device for fabric in self.plan.fabrics.values() for device in fabric.devices)
        return any(device.role == SERVER and self.limit.device(device.name) for device in devices)

    def check(self) -> Result:
        """Compares the folder with what would be written; a site that keeps no output is rendered all the same."""
        result = Result(warnings=self.plan.warnings)
        if not self.plan.settings.output.keep:
            count = plural(sum(1 for _ in self._files()), "file")
            result.lines.append(f"{self.home.path}: {count} planned and rendered, not compared: `output: {{keep: false}}`")
            return result
        comparison = compare(self.home.folder, self._files(), self.limit.keep)
        result.stale = not comparison.clean
        result.lines += _compared(self.home, comparison)
        return result

    def diff(self) -> Result:
        """What would change, as a patch."""
        result = self.check()
        result.diff = differences(self.home.folder, self._files(), self.limit.keep, f"{self.home.shown}/")
        return result

    def write(self, recovered: str | None = None) -> Result:
        """Stages every file, then commits them together. `recovered` is what was done about a run killed before."""
        folder = self.home.folder
        moved = moved_links(folder, self.plan)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with Store(folder).transaction(self.limit.keep) as transaction, self._bar() as advance:
            if numbers_of(self.home) != self._numbers:
                raise OutputError(f"another run changed {self.home.shown / lock.FILE} during this run", "run it again")
            for path, data in self.renderer.site_files():
                transaction.write(path, data)
            self._stage(transaction, advance)
            for path, data in self._hosts():
                transaction.write(path, data)
            changes = transaction.commit()
        reported = (*self.plan.warnings, *([_moved(self.plan, moved)] if moved else []))
        warnings = unsilenced(self.plan.spec, reported)
        return Result(self._written(changes, recovered or changes.recovered), warnings)

    def _files(self) -> Iterator[tuple[str, bytes]]:
        yield from self.renderer.site_files()
        with self._bar() as advance:
            for job in self.todo:
                yield from self.renderer.files(job)
                advance(1)
        yield from self._hosts()

    def _hosts(self) -> Iterator[tuple[str, bytes]]:
        """Files of servers; those that a group shares only when no limit is set."""
        if self.plan.settings.output.hosts:
            for path, data in host_files(self.plan, self.limit.device):
                if not self.limit.keep(path):
                    yield path, data

    def _bar(self) -> AbstractContextManager[Callable[[int], None]]:
        return self.progress(f"{self.plan.site}: switches", len(self.todo))

    def _stage(self, transaction: Transaction, advance: Callable[[int], None]) -> None:
        if len(self.todo) < PARALLEL_FROM or self.jobs == 1:
            for job in self.todo:
                for path, data in self.renderer.files(job):
                    transaction.write(path, data)
                advance(1)
            return
        staged = partial(_staged, self.home.folder, self.renderer, transaction)
        first = [staged(self.todo[0])]  # in this process, so that workers inherit its templates and modules
        for chunk in chain([first], in_chunks(staged, self.todo[1:], self.jobs)):
            for records in chunk:
                for record in records:
                    transaction.add(record)
            advance(len(chunk))

    def _written(self, changes: Changes, recovered: str | None) -> list[str]:
        home, plan = self.home, self.plan
        lines = [f"{home.path}: an interrupted run was {recovered}"] if recovered else []
        lines += [f"{home.path}: {note}" for note in infiniband.notes(self.renderer.subnets)]
        for path in changes.kept:
            lines.append(f"{home.shown}/{path}: no longer generated; kept, because it was edited by hand")
        switches = sum(1 for fabric in plan.fabrics.values() for device in fabric.switches if device.nos)
        for name, fabric in plan.fabrics.items():
            chosen = {device.role: device.nos for device in fabric.switches}
            for nos in targets.without_lossless(fabric.spec, chosen):
                lines.append(
                    f"{home.path}: fabric '{name}': no PFC or ECN lines for {target(nos).title}, which has no lossless class"
                )
        counts = {"new": len(changes.new), "changed": len(changes.changed), "removed": len(changes.removed)}
        parts = [f"{number} {word}" for word, number in counts.items() if number] + [f"{changes.unchanged} unchanged"]
        count = f"{len(self.todo)} of " if self.limit.glob else ""
        lines.append(f"{home.shown}: {count}{plural(switches, 'switch', 'switches')}, files: {', '.join(parts)}")
        return lines


def numbers_of(home: Home) -> bytes | None:
    """The bytes of the site's lock file, None when there is none."""
    try:
        return (home.folder / lock.FILE).read_bytes()
    except OSError:
        return None


def moved_links(folder: Path, plan: Plan) -> int:
    """Links of the last run with another upper end or speed now, or with none although the device below is still there."""
    try:
        text = (folder / "links.csv").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return 0
    before = upper_ends(text)
    if not before:
        return 0
    after, there = upper_ends(links_csv(plan)), {name for fabric in plan.fabrics.values() for name in fabric.by_name}
    return sum(after[lower] != upper if lower in after else lower[1] in there for lower, upper in before.items())


def _moved(plan: Plan, links: int) -> Diagnostic:
    """That a run re-cables what is in service."""
    return Diagnostic(
        "FAB185",
        plan.at("fabrics", key=True),
        f"{plural(links, 'link')} changed since the last run: to be re-cabled",
        f"`fabric plan {plan.settings.home.path} --against git:HEAD` lists the re-cabling moves in order",
        "warning",
    )


@dataclass(frozen=True)
class _Limit:
    """`--limit`: which switches and servers are rendered; files of the others are left alone."""

    glob: str

    def device(self, name: str) -> bool:
        return not self.glob or fnmatchcase(name, self.glob)

    def keep(self, path: str) -> bool:
        return path.startswith(("configs/", "hosts/")) and not self.device(path.split("/")[1])


def _staged(folder: Path, renderer: Renderer, transaction: Transaction, job: Job) -> list[Staged]:
    """Renders and stages the files of a switch; only these small records come back from a worker."""
    return [stage(folder, path, data, transaction.owned.get(path)) for path, data in renderer.files(job)]


def _compared(home: Home, comparison: Comparison) -> list[str]:
    """What `--check` says: nothing but the verdict when all is well, else every path with what is wrong."""
    if comparison.clean:
        return [f"{home.shown}: up to date"]
    lines = []
    for word, paths in (
        ("missing", comparison.missing),
        ("differs", comparison.different),
        ("no longer generated", comparison.orphaned),
        ("not written by fabric, at the path of an output file", comparison.unowned),
    ):
        lines += [f"{home.shown}/{path}: {word}" for path in paths[:20]]
        if len(paths) > 20:
            lines.append(f"{home.shown}: {word}: {and_more(len(paths) - 20, see='`--diff`')}")
    if comparison.line_ends:
        lines.append(f"{home.shown}: {plural(len(comparison.line_ends), 'file')} with CRLF line endings: {LINE_ENDS}")
    if comparison.stale_manifest and not lines:
        lines.append(f"{home.shown}/manifest.txt: differs")
    if comparison.unfinished:
        lines.append(f"{home.shown}: a run was interrupted")
    return [*lines, f"{home.path}: not up to date, run `fabric generate {home.path}`"]
