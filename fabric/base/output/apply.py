"""Doing what a commit record says, for the first time or again after a kill."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from fabric.base.output import files, journal
from fabric.base.output.errors import OutputError, explained
from fabric.base.output.journal import Op, Step, no_step, staged_file
from fabric.base.output.lock import locked
from fabric.base.output.paths import JOURNAL, MANIFEST, kind, obstacle, odd_parent, parents


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
    journal.check_folders(site)
    begun = journal.unfinished(site)
    ops = journal.read_record(site)
    if ops is not None:
        _check_base(site, ops)
        _check_staged(site, ops)
        apply(site, ops, step)
    journal.discard(site, step)
    if ops is not None:
        return "finished"
    return "rolled back" if begun else None


def _remove(site: Path, op: Op, step: Step) -> None:
    step("remove a file")
    odd = odd_parent(site, op.path)
    if odd and odd[1] != "absent":
        return  # a symlink now, or a file placed already: the path no longer leads to ours
    data = files.read(site, op.path)
    if data is not None and files.sha256(data) == op.sha256:  # else edited since: a user's work
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
    data = files.read(site, MANIFEST)
    now = "" if data is None else files.sha256(data)
    if now not in {op.sha256 for op in ops if op.path == MANIFEST}:
        raise _stuck(site, f"{MANIFEST} changed since")


def _check_staged(site: Path, ops: Sequence[Op]) -> None:
    """A kill leaves staged files whole; a power cut may not."""
    for op in ops:
        staged = staged_file(site, op.path, op.sha256)
        if kind(staged) == "absent":
            continue
        with explained(f"read the new content of {op.path}"):
            whole = files.sha256(Path(staged).read_bytes()) == op.sha256
        if not whole:
            raise _stuck(site, f"the new content of {op.path} is damaged")


def _stuck(site: Path, why: str) -> OutputError:
    return OutputError(
        f"the interrupted run of {site} cannot be finished: {why}",
        f"remove {site / JOURNAL}, restore {site} from git, then run `fabric generate` again",
    )
