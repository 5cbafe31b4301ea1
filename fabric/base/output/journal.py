"""The journal of a site folder: new files and the list of what to do with them, done at once or after a kill."""

import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from fabric.base.output import site_folder
from fabric.base.output.site_folder import (
    JOURNAL,
    MANIFEST,
    OutputError,
    check_path,
    explained,
    kind,
    obstacle,
    odd_parent,
    parents,
    sha256,
)

# --- The journal ----------------------------------------------------------------------------------------------

OpKind = Literal["base", "remove", "new", "changed"]

_OP = re.compile(r"(base|remove|new|changed) ((?:[0-9a-f]{64})?) (.+)")

Step = Callable[[str], None]
"""Called between any two changes to the disk with a word about the next; tests kill the process in it."""


def no_step(_: str) -> None:
    """The Step of every day."""


@dataclass(frozen=True)
class Op:
    """One line of the record.

    base: the manifest as it was, to detect that the folder was replaced ("" if there was none).
    remove: an owned file with these bytes. new, changed: a staged file with these bytes goes to `path`.
    """

    kind: OpKind
    sha256: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind} {self.sha256} {self.path}\n"


def staged_file(site: Path, path: str, sha: str) -> str:
    """Where the content `sha` for `path` is staged.

    The name tells the content, so a worker which outlives its killed run cannot spoil a later one.
    """
    return f"{site}/{JOURNAL}/new/{sha}-{sha256(path.encode())[:16]}"


def begin(site: Path) -> None:
    """Make an empty journal; the lock is held and the last run recovered. OutputError if that fails."""
    check_folders(site)
    with explained(f"create {site / JOURNAL}"):
        (site / JOURNAL / "new").mkdir(parents=True, exist_ok=True)
        ignore = _ignore(site)
        if kind(ignore) == "absent":
            with open(os.open(ignore, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as stream:
                stream.write(b"*\n")


def check_folders(site: Path) -> None:
    """Raise OutputError if the journal leads out of the site folder."""
    for folder in (site / JOURNAL, site / JOURNAL / "new"):
        if kind(folder) not in ("absent", "folder"):
            raise OutputError(f"{folder} is not a folder", "remove it, then run `fabric generate`")


def has_record(site: Path) -> bool:
    return kind(_record(site)) == "file"


def unfinished(site_dir: Path) -> bool:
    """Whether a run did not finish, or is still active. Read-only. OutputError if it cannot."""
    staged = site_dir / JOURNAL / "new"
    with explained(f"read {staged}"):
        return has_record(site_dir) or (kind(staged) == "folder" and any(staged.iterdir()))


def write_record(site: Path, ops: Iterable[Op], step: Step) -> None:
    """Commit: from the rename on, the run will be finished. OutputError if it cannot be written."""
    body = "".join(map(str, ops))
    draft = _record(site).with_suffix(".draft")
    with explained("write the commit record"):
        _sync_folder(site / JOURNAL / "new")
        with open(draft, "w", encoding="utf-8", newline="\n") as record:
            record.write(body)
            record.flush()
            step("close the record")
            record.write(f"end {sha256(body.encode())}\n")
            record.flush()
            os.fsync(record.fileno())
        step("commit")
        os.replace(draft, _record(site))
        _sync_folder(site / JOURNAL)


def read_record(site: Path) -> list[Op] | None:
    """The operations; None without a whole record, and then no operation was begun.

    The record is on disk before the first operation, so a torn one means the same as none.
    """
    if not has_record(site):
        return None
    with explained("read the commit record"):
        data = _record(site).read_bytes()
    body, mark, end = data.rpartition(b"end ")
    if not mark or end != f"{sha256(body)}\n".encode():
        return None
    return [_op(line) for line in body.decode().split("\n") if line]


def _op(line: str) -> Op:
    """Strict: a forged record must not reach a file outside the folder either."""
    found = _OP.fullmatch(line)
    if not found:
        raise OutputError("the commit record has an unknown operation", "run `fabric generate` of the version that wrote it")
    if found[3] != MANIFEST:
        check_path(found[3])
    return Op(cast(OpKind, found[1]), found[2], found[3])


def discard(site: Path, step: Step) -> None:
    """Drop the journal, the record last: as long as it is there, the run counts as unfinished."""
    check_folders(site)
    with explained(f"remove {site / JOURNAL}"):
        staged = site / JOURNAL / "new"
        for file in sorted(staged.iterdir()) if staged.exists() else ():
            step("drop a staged file")
            file.unlink(missing_ok=True)
        for file in (_record(site).with_suffix(".draft"), _record(site)):
            if file.exists():
                step("drop the record")
                file.unlink()
        if kind(_ignore(site)) != "absent":
            step("drop the journal's .gitignore")
            _ignore(site).unlink()
        for folder in (staged, site / JOURNAL):
            if folder.exists():
                step("drop the journal")
                folder.rmdir()


def _ignore(site: Path) -> Path:
    return site / JOURNAL / ".gitignore"


def _record(site: Path) -> Path:
    return site / JOURNAL / "commit"


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- Staging one file: only what is new or changed ------------------------------------------------------------

State = Literal["unchanged", "changed", "new"]


@dataclass(frozen=True)
class Staged:
    """One generated file as a worker hands it to the transaction: small, and without the content."""

    path: str
    sha256: str
    size: int
    state: State


def stage(site_dir: Path, relative_path: str, data: bytes, owned_sha: str | None, step: Step = no_step) -> Staged:
    """Stage `data` for `relative_path`. For use in worker processes while a transaction is open.

    `owned_sha` is the path's entry in the manifest. A path which is taken by something not ours is
    "new" as well: the transaction looks at all of those and refuses them together.

    OutputError: a bad path, no open transaction, a file that cannot be read or written.
    """
    check_path(relative_path)
    return stage_any(site_dir, relative_path, data, owned_sha is not None, step)


def stage_any(site: Path, path: str, data: bytes, owned: bool, step: Step = no_step) -> Staged:
    """`stage` for any path, the manifest's own included."""
    sha = site_folder.sha256(data)
    comparison = site_folder.look(site, path, data)
    if comparison == "same":
        return Staged(path, sha, len(data), "unchanged")
    if not os.path.isdir(f"{site}/{JOURNAL}/new"):
        raise OutputError(f"cannot stage {path}: no run is open for {site}")
    with explained(f"stage {path}"):
        _write(staged_file(site, path, sha), data, step)
    return Staged(path, sha, len(data), "changed" if comparison == "different" and owned else "new")


def _write(file: str, data: bytes, step: Step) -> None:
    """No process reads it before all files of the run are staged, and its name holds its hash, so it needs no second name."""
    step("stage a file")
    # 0644 less the umask: generated files are never executable, whatever they replace.
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as opened:
        opened.write(data)


# --- One run at a time ----------------------------------------------------------------------------------------

_held: set[int] = set()


def _forget() -> None:
    # A forked worker shares the lock. Were its parent killed, a worker still waiting for work would
    # hold the lock for ever; closing its copy leaves the lock with the parent alone.
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def locked(site: Path) -> Iterator[None]:
    """Hold the lock of `site`, a folder made if missing. OutputError if another run holds it."""
    if kind(site) == "symlink":
        raise OutputError(f"{site} is a symlink: files are not written through symlinks", "remove it, then run again")
    with explained(f"lock {site}"):
        handle = _lock(site)
    _held.add(handle)
    try:
        yield
    finally:
        if handle in _held:
            _held.discard(handle)
            os.close(handle)


def _lock(site: Path) -> int:
    while True:
        site.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # removed since mkdir
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The folder may have been removed or replaced before the lock was ours: then lock the new one.
            if site.exists() and os.path.samestat(os.fstat(handle), os.stat(site)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise OutputError(f"another run is writing {site}", "wait until it has ended, then run again") from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


# --- Doing what a commit record says --------------------------------------------------------------------------


def apply(site: Path, ops: Iterable[Op], step: Step) -> None:
    """Do the operations in their order; those done already are left as they are.

    OutputError if the disk refuses, or a file of another origin appeared meanwhile: the journal stays,
    and the next run goes on from there.
    """
    with explained("finish writing", "run `fabric generate` again: it continues where this run stopped"):
        for op in ops:
            if op.kind == "remove":
                _remove(site, op, step)
            elif op.kind != "base":
                _place(site, op, step)


def recover(site_dir: Path, step: Step = no_step) -> str | None:
    """Bring a run which was killed to its end: "finished", "rolled back", or None if there was none.

    OutputError: another run is at work, or the run cannot be finished because the folder was changed since.
    """
    if kind(site_dir / JOURNAL) == "absent":
        return None
    with locked(site_dir):
        return recover_locked(site_dir, step)


def recover_locked(site: Path, step: Step) -> str | None:
    """`recover` for who holds the lock."""
    check_folders(site)
    begun = unfinished(site)
    ops = read_record(site)
    if ops is not None:
        _check_base(site, ops)
        _check_staged(site, ops)
        apply(site, ops, step)
    discard(site, step)
    if ops is not None:
        return "finished"
    return "rolled back" if begun else None


def _remove(site: Path, op: Op, step: Step) -> None:
    step("remove a file")
    odd = odd_parent(site, op.path)
    if odd and odd[1] != "absent":
        return  # a symlink now, or a file placed already: the path no longer leads to ours
    data = site_folder.read_file(site, op.path)
    if data is not None and site_folder.sha256(data) == op.sha256:  # else edited since: a user's work
        os.unlink(site / op.path)
    for parent in reversed(list(parents(op.path))):
        step("remove a folder")
        try:
            os.rmdir(site / parent)
        except FileNotFoundError:
            continue  # removed before a kill; the folders around it may still be there
        except OSError:
            return  # not empty


def _place(site: Path, op: Op, step: Step) -> None:
    staged = staged_file(site, op.path, op.sha256)
    if kind(staged) == "absent":
        return  # renamed already
    problem = obstacle(site, op.path, owned=op.kind == "changed", leaving=())
    if problem:
        raise OutputError(
            f"cannot write {op.path}: {problem}",
            f"move it away, or remove {site / JOURNAL} to discard the run; then run `fabric generate` again",
        )
    target = f"{site}/{op.path}"
    folder = os.path.dirname(target)
    if kind(folder) == "absent":
        step("make a folder")
        os.makedirs(folder, exist_ok=True)
    elif kind(target) == "folder":
        _rmdir_tree(target)
    step("place a file")
    os.replace(staged, target)


def _rmdir_tree(folder: str) -> None:
    """Remove a folder which holds only folders: a file takes its name."""
    for below, _, _ in os.walk(folder, topdown=False):
        os.rmdir(below)


def _check_base(site: Path, ops: Sequence[Op]) -> None:
    """Is this still the folder the record was written for? A checkout leaves the ignored journal behind."""
    data = site_folder.read_file(site, MANIFEST)
    now = "" if data is None else site_folder.sha256(data)
    if now not in {op.sha256 for op in ops if op.path == MANIFEST}:
        raise _stuck(site, f"{MANIFEST} changed since")


def _check_staged(site: Path, ops: Sequence[Op]) -> None:
    """A kill leaves staged files whole; a power cut may not."""
    for op in ops:
        staged = staged_file(site, op.path, op.sha256)
        if kind(staged) == "absent":
            continue
        with explained(f"read the new content of {op.path}"):
            whole = site_folder.sha256(Path(staged).read_bytes()) == op.sha256
        if not whole:
            raise _stuck(site, f"the new content of {op.path} is damaged")


def _stuck(site: Path, why: str) -> OutputError:
    return OutputError(
        f"the interrupted run of {site} cannot be finished: {why}",
        f"remove {site / JOURNAL}, restore {site} from git, then run `fabric generate` again",
    )
