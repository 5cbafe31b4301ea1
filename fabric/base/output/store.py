"""Writing a site folder, all files of a run or none; and comparing it with what would be generated."""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fabric.base.output import journal, site_folder
from fabric.base.output.journal import (
    Op,
    Staged,
    State,
    Step,
    apply,
    locked,
    no_step,
    recover_locked,
    stage,
    stage_any,
    staged_file,
    unfinished,
)
from fabric.base.output.site_folder import MANIFEST, OutputError, Owned, check_nesting, check_path, kind, obstacle

# --- Writing --------------------------------------------------------------------------------------------------

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
        data = site_folder.read_file(site, path)
        now = "" if data is None else site_folder.sha256(data)
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
        staged = stage_any(self._site, MANIFEST, site_folder.render(listed), owned=True, step=self._step)
        if staged.state != "unchanged":
            yield Op(staged.state, staged.sha256, MANIFEST)

    def _base(self) -> Op:
        data = site_folder.read_file(self._site, MANIFEST)
        return Op("base", "" if data is None else site_folder.sha256(data), MANIFEST)

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
                owned = site_folder.read_manifest(self._site)
                journal.begin(self._site)
                yield Transaction(self._site, owned, keep, self._step, recovered)
            finally:
                # Once there is a record the run is to be finished, by the next one if not by this.
                if not journal.has_record(self._site):
                    journal.discard(self._site, self._step)
                if created:
                    with suppress(OSError):  # not empty: the run was committed
                        self._site.rmdir()


# --- Comparing, without writing anything ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What `fabric generate` would have to do, paths sorted."""

    missing: tuple[str, ...]
    different: tuple[str, ...]
    orphaned: tuple[str, ...]
    """Owned, but no longer generated."""
    unowned: tuple[str, ...]
    """Taken by something that is not ours: generate would refuse."""
    stale_manifest: bool
    """The manifest is not the one that generate would write."""
    unfinished: bool
    """A run did not finish: generate would finish it or roll it back first."""
    line_ends: tuple[str, ...] = ()
    """Of the different ones those that differ in line ends alone: CRLF in place of LF."""

    @property
    def clean(self) -> bool:
        return not (self.missing or self.different or self.orphaned or self.unowned or self.stale_manifest or self.unfinished)


def check(site_dir: Path, generated: Iterable[tuple[str, bytes]], keep: Keep = keep_nothing) -> Comparison:
    """Compare, one file in memory at a time.

    OutputError: a bad path, a path generated twice, a damaged manifest, an unreadable file.
    """
    owned = site_folder.read_manifest(site_dir)
    listed: dict[str, str] = {}
    different: list[str] = []
    absent: list[str] = []
    line_ends: list[str] = []
    for path, data in _each_once(generated):
        listed[path] = site_folder.sha256(data)
        state = site_folder.look(site_dir, path, data)
        if state == "different" and path in owned:
            different.append(path)
            if (site_folder.read_file(site_dir, path) or b"").replace(b"\r\n", b"\n") == data:
                line_ends.append(path)
        elif state != "same":
            absent.append(path)
    check_nesting(listed)
    leaving = find_orphans(site_dir, owned, listed, keep).remove
    unowned = {path for path in absent if obstacle(site_dir, path, path in owned, leaving)}
    orphaned = {path for path in owned if path not in listed and not keep(path)}
    outside = {path: owned.entry(site_dir, path) for path in owned if keep(path)}
    return Comparison(
        missing=tuple(sorted(set(absent) - unowned)),
        different=tuple(sorted(different)),
        orphaned=tuple(sorted(orphaned)),
        unowned=tuple(sorted(unowned)),
        stale_manifest=site_folder.read_file(site_dir, MANIFEST) != site_folder.render(outside | listed),
        unfinished=unfinished(site_dir),
        line_ends=tuple(sorted(line_ends)),
    )


def diff(
    site_dir: Path, generated: Iterable[tuple[str, bytes]], keep: Keep = keep_nothing, prefix: str = ""
) -> Iterator[str]:
    """The change of every new, changed and removed file as text which `git apply` takes, one item per file.

    `prefix` goes before each path: the site folder as seen from the repository, with a closing slash.
    Bytes which are not UTF-8 come as surrogates (encode with errors="surrogateescape"). What generate
    would refuse or leave alone is not in it, nor is the manifest. OutputError as `check`.
    """
    owned = site_folder.read_manifest(site_dir)
    seen: set[str] = set()
    for path, data in _each_once(generated):
        seen.add(path)
        state = site_folder.look(site_dir, path, data)
        if state == "different" and path in owned:
            yield _file_diff(prefix + path, site_folder.read_file(site_dir, path), data)
        elif state == "absent" and not obstacle(site_dir, path, path in owned, owned):
            yield _file_diff(prefix + path, None, data)
    for path in find_orphans(site_dir, owned, seen, keep).remove:
        yield _file_diff(prefix + path, site_folder.read_file(site_dir, path), None)


def _each_once(generated: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    for path, data in generated:
        check_path(path)
        if path in seen:
            raise OutputError(f"{path} is generated twice")
        seen.add(path)
        yield path, data


def _file_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    head = [f"diff --git {_name('a', path)} {_name('b', path)}\n"]
    if old is None:
        head.append("new file mode 100644\n")
    if new is None:
        head.append("deleted file mode 100644\n")
    tab = "\t" if " " in path else ""  # as git marks where a name with spaces ends
    body = difflib.unified_diff(
        _lines(old or b""),
        _lines(new or b""),
        "/dev/null" if old is None else _name("a", path) + tab,
        "/dev/null" if new is None else _name("b", path) + tab,
    )
    return "".join(head) + "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body
    )


def _name(side: str, path: str) -> str:
    """git quotes a name with a quote in it; the other letters it would escape are not in our paths."""
    name = f"{side}/{path}"
    return '"' + name.replace('"', '\\"') + '"' if '"' in name else name


def _lines(data: bytes) -> list[str]:
    """Lines end at LF only: a lone CR or a form feed is part of one, as for git."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
