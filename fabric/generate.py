"""Generating a site: plan, render, and write what changed, all or nothing."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from fabric import pipeline
from fabric.configs import Job, Renderer
from fabric.diagnostics import Diagnostic, InputError, Place, Report, plural
from fabric.export.tables import links_csv, upper_ends
from fabric.output import Changes, Comparison, Store, Transaction, recover, stage
from fabric.output import check as compare
from fabric.output import diff as differences
from fabric.output.stage import Staged
from fabric.pipeline import Intent
from fabric.plan.plan import FabricPlan, Plan

PARALLEL_FROM = 64  # switches; below that, starting processes costs more than it saves
CHUNK = 16


@dataclass
class Result:
    """What a run has to say: lines for a person, warnings, and whether the files were out of date."""

    lines: list[str] = field(default_factory=list)
    warnings: tuple[Diagnostic, ...] = ()
    stale: bool = False
    diff: Iterable[str] = ()


def run(intent: Intent, *, limit: str = "", check: bool = False, diff: bool = False, jobs: int = 0) -> Result:
    """Generates one site, or only looks what generating would do. Raises InputError, OutputError."""
    looking = check or diff
    before = None if looking else recover(intent.folder)
    made = pipeline.plan(intent)
    renderer = Renderer(made, intent.path.absolute().parent)
    wanted = _Limit(limit)
    todo = renderer.jobs(wanted.device)
    if limit and not todo:
        place = Place(str(intent.path))
        raise InputError([Diagnostic("FAB162", place, f"--limit '{limit}' matches no switch of site '{made.site}'")])
    result = Result(warnings=made.warnings)
    if check and not made.intent.output.keep:
        count = sum(1 for _ in _all_files(made, renderer, todo))
        result.lines.append(f"{intent.path}: {plural(count, 'file')} planned and rendered; the site keeps none to compare")
        return result
    if diff:
        prefix = f"{intent.shown}/"
        result.diff = differences(intent.folder, _all_files(made, renderer, todo), wanted.keep, prefix)
    if looking:
        found = compare(intent.folder, _all_files(made, renderer, todo), wanted.keep)
        result.stale = not found.clean
        result.lines += _compared(intent, found)
        return result
    moved = moved_links(intent.folder, made)
    changes = _write(intent, made, renderer, todo, wanted, jobs)
    result.lines += _written(intent, made, renderer, changes, before or changes.recovered)
    if moved:
        place = intent.source.place(("fabrics",), key=True)
        result.warnings = (
            *result.warnings,
            Diagnostic(
                "FAB185",
                place,
                f"{plural(moved, 'link')} that {'is' if moved == 1 else 'are'} in service by the last run must be re-cabled",
                f"`fabric plan {intent.path} --against git:HEAD` lists the moves in the order of work",
                "warning",
            ),
        )
    return result


def refuse_same_site(intents: Sequence[Intent]) -> None:
    """Two intents of one site name would overwrite each other's files. Raises InputError."""
    report, seen = Report(), dict[str, Intent]()
    for intent in intents:
        other = seen.setdefault(str(intent.folder), intent)
        if other is not intent and other.path.resolve() != intent.path.resolve():
            place = intent.source.place(("site",))
            report.error("FAB138", place, f"site '{intent.site.site}' is also the name of {other.path}")
    report.raise_errors()


def moved_links(folder: Path, made: Plan) -> int:
    """Links of the last run whose lower end now has another upper end."""
    try:
        text = (folder / "links.csv").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return 0
    before = upper_ends(text)
    if not before:
        return 0
    after = upper_ends(links_csv(made))
    return sum(after.get(lower, upper) != upper for lower, upper in before.items())


@dataclass(frozen=True)
class _Limit:
    """`--limit`: which switches are rendered; files of the others are left alone."""

    glob: str

    def device(self, name: str) -> bool:
        return not self.glob or fnmatchcase(name, self.glob)

    def keep(self, path: str) -> bool:
        return path.startswith("configs/") and not self.device(path.split("/")[1])


def _all_files(made: Plan, renderer: Renderer, todo: Sequence[Job]) -> Iterator[tuple[str, bytes]]:
    yield from pipeline.site_files(made)
    for job in todo:
        yield from renderer.files(job)


def _write(intent: Intent, made: Plan, renderer: Renderer, todo: Sequence[Job], wanted: _Limit, jobs: int) -> Changes:
    """Stages every file, then commits them together."""
    intent.folder.parent.mkdir(parents=True, exist_ok=True)
    with Store(intent.folder).transaction(wanted.keep) as transaction:
        for path, data in pipeline.site_files(made):
            transaction.write(path, data)
        workers = min(jobs or os.cpu_count() or 1, -(-len(todo) // CHUNK))
        if workers > 1 and len(todo) >= PARALLEL_FROM:
            _stage_in_workers(_Work(intent, renderer, transaction), todo, workers)
        else:
            for job in todo:
                for path, data in renderer.files(job):
                    transaction.write(path, data)
        return transaction.commit()


@dataclass(frozen=True)
class _Work:
    intent: Intent
    renderer: Renderer
    transaction: Transaction


_work: _Work | None = None  # what forked workers inherit; the plan is never pickled


def _stage_in_workers(work: _Work, todo: Sequence[Job], workers: int) -> None:
    """Renders and stages in forked processes; only small records come back."""
    global _work
    _work = work
    chunks = [todo[at : at + CHUNK] for at in range(0, len(todo), CHUNK)]
    try:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
            for records in pool.map(_stage_chunk, chunks):
                for record in records:
                    work.transaction.add(record)
    finally:
        _work = None


def _stage_chunk(chunk: Sequence[Job]) -> list[Staged]:
    assert _work is not None
    folder, owned = _work.intent.folder, _work.transaction.owned
    return [stage(folder, path, data, owned.get(path)) for job in chunk for path, data in _work.renderer.files(job)]


def _written(intent: Intent, made: Plan, renderer: Renderer, changes: Changes, before: str | None) -> list[str]:
    lines = [f"{intent.path}: a run that was stopped half-way was {before}"] if before else []
    for name in renderer.without_config():
        lines.append(f"{intent.path}: fabric '{name}' is InfiniBand: its subnet manager configures it, no files are written")
    for path in changes.kept:
        lines.append(f"{intent.shown}/{path}: no longer generated, but edited by hand: left there")
    switches = sum(1 for fabric in made.fabrics.values() for device in fabric.switches if device.nos)
    counts = {"new": len(changes.new), "changed": len(changes.changed), "removed": len(changes.removed)}
    parts = [f"{number} {word}" for word, number in counts.items() if number] + [f"{changes.unchanged} unchanged"]
    lossless = [name for name, fabric in made.fabrics.items() if fabric.spec.ethernet and _wants_qos(fabric)]
    if lossless and switches:
        lines.append(
            f"{intent.path}: no PFC or ECN lines yet for {', '.join(lossless)}: this release makes the underlay only"
        )
    lines.append(f"{intent.shown}: {plural(switches, 'switch', 'switches')}, files: {', '.join(parts)}")
    return lines


def _wants_qos(fabric: FabricPlan) -> bool:
    """Whether a fabric is to carry RoCE."""
    wish = fabric.spec.intent.qos.enabled
    return fabric.spec.intent.purpose in ("compute", "storage") if wish is None else wish


def _compared(intent: Intent, found: Comparison) -> list[str]:
    """What `--check` says: nothing but the verdict when all is well, else every path with what is wrong."""
    if found.clean:
        return [f"{intent.shown}: up to date"]
    lines = []
    for word, paths in (
        ("missing", found.missing),
        ("differs", found.different),
        ("no longer generated", found.orphaned),
        ("in the way, not ours", found.unowned),
    ):
        lines += [f"{intent.shown}/{path}: {word}" for path in paths[:20]]
        if len(paths) > 20:
            lines.append(f"{intent.shown}: {len(paths) - 20} more: {word}")
    if found.stale_manifest and not lines:
        lines.append(f"{intent.shown}/manifest.txt: differs")
    if found.unfinished:
        lines.append(f"{intent.shown}: a run was stopped half-way")
    return [*lines, f"{intent.path}: not up to date, run `fabric generate {intent.path}`"]
