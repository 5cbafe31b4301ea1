"""Writing a site folder: all of a run's files, or none.

    with Store(folder).transaction() as run:
        for path, data in rendered:
            run.write(path, data)
        changes = run.commit()

Worker processes call `stage` themselves and hand the records to `run.add`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fabric.base.output import files, journal, manifest
from fabric.base.output.apply import apply, recover_locked
from fabric.base.output.errors import OutputError
from fabric.base.output.journal import Op, Step, no_step, staged_file
from fabric.base.output.lock import locked
from fabric.base.output.manifest import Owned
from fabric.base.output.paths import MANIFEST, check_nesting, check_path, kind, obstacle
from fabric.base.output.stage import Staged, State, stage, stage_any

Keep = Callable[[str], bool]
"""Tells of an owned path which this run does not generate whether to leave it alone (`--limit`)."""


def keep_nothing(_: str) -> bool:
    """The Keep of a whole run: an owned file which is not generated goes."""
    return False


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What a run did, paths sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """No longer generated, but edited by hand: left there, and no longer ours."""
    unchanged: int
    recovered: str | None
    """What was done about a run killed before: "finished", "rolled back" or None."""


@dataclass(frozen=True)
class Orphans:
    """The owned files which a run no longer generates."""

    remove: Mapping[str, str]
    kept: tuple[str, ...]


def find_orphans(site: Path, owned: Owned, generated: Collection[str], keep: Keep) -> Orphans:
    """Sort the orphans: unchanged files may be removed, edited files may not."""
    remove: dict[str, str] = {}
    edited: list[str] = []
    for path in sorted(owned):
        if path in generated or keep(path):
            continue
        data = files.read(site, path)
        now = "" if data is None else files.sha256(data)
        if owned.wrote(path, now):
            remove[path] = now
        elif kind(site / path) != "absent":
            edited.append(path)
    return Orphans(remove, tuple(edited))


class Transaction:
    """One run. Nothing outside the journal changes before `commit`."""

    def __init__(self, site: Path, owned: Owned, keep: Keep, step: Step, recovered: str | None) -> None:
        self.owned = owned
        """The manifest as it is: path to sha256, for the `owned_sha` of `stage`."""
        self._site, self._keep, self._step, self._recovered = site, keep, step, recovered
        self._staged: dict[str, Staged] = {}

    def write(self, path: str, data: bytes) -> Staged:
        """Stage one file. OutputError as `stage` and `add`."""
        check_path(path)
        self._refuse_second(path)
        return self.add(stage(self._site, path, data, self.owned.get(path), self._step))

    def add(self, staged: Staged) -> Staged:
        """Take a file staged by a worker. OutputError if the path was generated already."""
        check_path(staged.path)
        self._refuse_second(staged.path)
        self._staged[staged.path] = staged
        return staged

    def commit(self) -> Changes:
        """Make the folder what was staged.

        OutputError with nothing changed: files that fabric did not write have the same names (all are listed), or a
        path is a file and a folder. OutputError with the journal left: see `apply`; the next run goes on.
        """
        check_nesting(self._staged)
        orphans = find_orphans(self._site, self.owned, self._staged, self._keep)
        self._refuse_obstacles(orphans.remove)
        ops = [*self._operations(orphans.remove), *self._manifest_operation()]
        if ops:
            self._check_staged(ops)
            ops.insert(0, self._base())
            journal.write_record(self._site, ops, self._step)
            apply(self._site, ops, self._step)
        journal.discard(self._site, self._step)
        return self._changes(orphans)

    def _refuse_second(self, path: str) -> None:
        if path in self._staged:
            raise OutputError(f"{path} is generated twice")

    def _refuse_obstacles(self, leaving: Collection[str]) -> None:
        """Looks again even at what was found fine when staged: rendering a big site takes a while."""
        problems = {
            path: obstacle(self._site, path, path in self.owned or staged.state == "unchanged", leaving)
            for path, staged in sorted(self._staged.items())
        }
        obstacles = [f"  {path}: {problem}" for path, problem in problems.items() if problem]
        if obstacles:
            raise OutputError(
                f"files not written by fabric, at paths of output files in {self._site}:\n" + "\n".join(obstacles),
                "nothing was changed; move or remove them, then run `fabric generate` again",
            )

    def _operations(self, leaving: Mapping[str, str]) -> Iterator[Op]:
        """Removals first: a file may become a folder, and a folder a file."""
        for path, sha in leaving.items():
            yield Op("remove", sha, path)
        for path, staged in sorted(self._staged.items()):
            if staged.state != "unchanged":
                yield Op(staged.state, staged.sha256, path)

    def _manifest_operation(self) -> Iterator[Op]:
        """The manifest goes last: until then the folder says of itself what it was."""
        listed = {path: self.owned.entry(self._site, path) for path in self.owned if self._keep(path)}
        listed |= {path: staged.sha256 for path, staged in self._staged.items()}
        staged = stage_any(self._site, MANIFEST, manifest.render(listed), owned=True, step=self._step)
        if staged.state != "unchanged":
            yield Op(staged.state, staged.sha256, MANIFEST)

    def _base(self) -> Op:
        data = files.read(self._site, MANIFEST)
        return Op("base", "" if data is None else files.sha256(data), MANIFEST)

    def _check_staged(self, ops: Collection[Op]) -> None:
        """A missing staged file would later pass for one renamed already."""
        for op in ops:
            if op.kind != "remove" and kind(staged_file(self._site, op.path, op.sha256)) != "file":
                raise OutputError(f"{op.path} was not staged for {self._site}")

    def _changes(self, orphans: Orphans) -> Changes:
        def paths(state: State) -> tuple[str, ...]:
            return tuple(sorted(path for path, staged in self._staged.items() if staged.state == state))

        return Changes(
            new=paths("new"),
            changed=paths("changed"),
            removed=tuple(orphans.remove),
            kept=orphans.kept,
            unchanged=len(paths("unchanged")),
            recovered=self._recovered,
        )


class Store:
    """The output folder of one site."""

    def __init__(self, site_dir: Path, step: Step = no_step) -> None:
        self._site, self._step = site_dir, step

    @contextmanager
    def transaction(self, keep: Keep = keep_nothing) -> Iterator[Transaction]:
        """Open a run: lock the folder, bring a killed run to its end, then stage and `commit`.

        Left without commit, or by an exception, it changes nothing. OutputError: another run is at
        work, a damaged manifest, or a killed run that cannot be finished.
        """
        created = not self._site.exists()
        with locked(self._site):
            try:
                recovered = recover_locked(self._site, self._step)
                owned = manifest.read(self._site)
                journal.begin(self._site)
                yield Transaction(self._site, owned, keep, self._step, recovered)
            finally:
                # Once there is a record the run is to be finished, by the next one if not by this.
                if not journal.has_record(self._site):
                    journal.discard(self._site, self._step)
                if created:
                    with suppress(OSError):  # not empty: the run was committed
                        self._site.rmdir()
