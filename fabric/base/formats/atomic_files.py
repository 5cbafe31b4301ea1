"""Output files of a command: each is complete or unchanged, and of several all are written or none.

Unlike the folder of a site there is no manifest: a file of that name is replaced. A SIGKILL or a power cut between the
renames of several files into a folder that was there before can leave some old and some new; each of them is whole.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from fabric.base.processes import exit_on_signal, held_back


def write_file(file: Path, data: bytes) -> None:
    """Writes one file. Raises OSError with its name; then it is as it was before."""
    write_files({file: data})


def write_new(file: Path, data: bytes) -> None:
    """Writes a file, with the folders that it needs, only where there is none. Raises OSError with its name."""
    created = missing_folders(file.parent)
    try:
        with exit_on_signal(), _named(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as stream:
                created.append(file)
                stream.write(data)
    except BaseException:
        for path in reversed(created):
            with suppress(OSError):
                path.unlink() if path == file else path.rmdir()
        raise


def write_files(files: Mapping[Path, bytes], folders: bool = False) -> None:
    """Writes all of the files, or none.

    Args:
        folders: makes folders that files need and that are not there.

    Raises OSError with the name of the file that could not be written; then everything is as it was before.
    """
    drafts: dict[Path, Path] = {}  # where a file is to be → where it is staged
    names: dict[Path, Path] = {}  # where a file is to be → as it was asked for
    created: list[Path] = []  # folders, outermost first
    try:
        with exit_on_signal():
            for file, data in files.items():
                with _named(file):
                    target = file.resolve()  # a symlink keeps leading to the file
                    if folders:
                        created += missing_folders(target.parent)
                        target.parent.mkdir(parents=True, exist_ok=True)
                    if target.is_dir():
                        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                    drafts[target], names[target] = _beside(target, "new"), file
                    _stage(drafts[target], data, target)
            with held_back():
                _place(drafts, names)
    except BaseException:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
        for folder in reversed(created):
            with suppress(OSError):
                folder.rmdir()
        raise


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, all or none; a folder that is not there yet appears with all of them at once.

    Raises OSError with the name of the file that could not be written.
    """
    home = folder.resolve()
    if home.exists():
        write_files({folder / name: data for name, data in files.items()}, folders=True)
        return
    draft = _beside(home, "new")
    created: list[Path] = []
    try:
        with exit_on_signal():
            created += missing_folders(home.parent)
            with _named(folder):
                draft.mkdir(parents=True)
            for name, data in files.items():
                with _named(folder / name):
                    (draft / name).parent.mkdir(parents=True, exist_ok=True)
                    _stage(draft / name, data, home / name)
            with _named(folder):
                os.rename(draft, home)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        for path in reversed(created):
            with suppress(OSError):
                path.rmdir()
        raise


def _beside(path: Path, what: str) -> Path:
    """A hidden name of this process in the same folder."""
    return path.with_name(f".{path.name}.{os.getpid()}.{what}")


def _stage(draft: Path, data: bytes, target: Path) -> None:
    """The content under another name, with the mode of the file that it replaces."""
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), "wb") as stream:
        if target.exists():
            os.fchmod(stream.fileno(), target.stat().st_mode & 0o777)
        stream.write(data)


def _place(drafts: Mapping[Path, Path], names: Mapping[Path, Path]) -> None:
    """Gives every staged file its name; where one is refused, those before it get their old content back."""
    done: list[tuple[Path, Path | None]] = []  # file, and where its old content is
    try:
        for target, draft in drafts.items():
            with _named(names[target]):
                old = _kept(target) if len(drafts) > 1 and target.exists() else None
                done.append((target, old))
                os.replace(draft, target)
    except BaseException:
        for target, old in reversed(done):
            with suppress(OSError):
                if old is not None:
                    os.replace(old, target)  # of two links to one file this removes neither
                    old.unlink(missing_ok=True)
                elif not drafts[target].exists():  # it was placed
                    target.unlink()
        raise
    for _, old in done:
        if old is not None:
            with suppress(OSError):
                old.unlink()


def _kept(target: Path) -> Path:
    """The old content under a second name: a hard link, or a copy where the file system has no links."""
    old = _beside(target, "old")
    try:
        os.link(target, old, follow_symlinks=False)
    except OSError:
        shutil.copy2(target, old)
    return old


def missing_folders(folder: Path) -> list[Path]:
    """The folder and those that it lies in, as far as they are not there, outermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()][::-1]


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """An error of the disk says which file it is about, not how that is staged."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
