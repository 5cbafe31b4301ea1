"""The journal of a site folder: new content and the list of what to do with it, so that a run which is
killed at any moment can be finished or taken back.

    .journal/new/<name>   staged files; a rename moves each to its place
    .journal/commit       the record: the operations, in order, closed by a checksum line
    .journal/.gitignore   `*`: what is unfinished here must not be committed, and be finished in another checkout

No record: nothing outside the journal was touched, so the run is rolled back by dropping the journal.
A record: every staged file is complete, so the run is finished by doing again what it says; a staged
file which is gone has been renamed already.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from fabric.base.output.errors import OutputError, explained
from fabric.base.output.files import sha256
from fabric.base.output.paths import JOURNAL, MANIFEST, check_path, kind

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
