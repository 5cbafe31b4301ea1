"""Files of a run: all of them complete, or all unchanged."""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabric.base.formats import atomic_files, write_file, write_folder, write_new

NEW = {"a.yaml": b"new a\n", "sub/b.yaml": b"new b\n", "z.yaml": b"new z\n"}
OLD = {"a.yaml": b"old a\n", "z.yaml": b"old z\n", "mine.txt": b"another file\n"}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with files of an earlier run, and one of another program."""
    folder = tmp_path / "there"
    folder.mkdir()
    for name, data in OLD.items():
        (folder / name).write_bytes(data)
    return folder


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The kernel refuses to write more to one file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def ended(work: Callable[[], object]) -> int:
    """How a process of its own ends that does this: its exit code, or minus the signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except SystemExit as stop:
            os._exit(int(stop.code or 0))
        finally:
            os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_all_are_written(there: Path, tmp_path: Path) -> None:
    write_folder(there, NEW)
    assert tree(there) == OLD | NEW
    write_folder(tmp_path / "deep/new", NEW)
    assert tree(tmp_path / "deep/new") == NEW
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["new"]


def test_a_link_and_a_mode_are_kept(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o600)
    link.symlink_to(file)
    write_file(link, b"new")
    assert (link.is_symlink(), file.read_bytes(), file.stat().st_mode & 0o777) == (True, b"new", 0o600)


@pytest.mark.parametrize("name", ["a.yaml", "sub/b.yaml", "z.yaml"])
def test_a_folder_in_the_way(there: Path, name: str) -> None:
    (there / name).unlink(missing_ok=True)
    (there / name).mkdir(parents=True)
    before = tree(there)
    with pytest.raises(OSError, match="Is a directory") as caught:
        write_folder(there, NEW)
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(there / name))
    assert tree(there) == before


@pytest.mark.parametrize("folder", ["there", "new", "deep/new"])
def test_a_full_disk(there: Path, tmp_path: Path, folder: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError) as caught, largest_file(1000):  # noqa: PT011
        write_folder(tmp_path / folder, NEW | {"y.yaml": bytes(1001)})
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path / folder / "y.yaml"))
    assert sorted(tmp_path.rglob("*")) == before
    assert tree(there) == OLD


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("links", [True, False])
def test_a_rename_that_is_refused(there: Path, monkeypatch: pytest.MonkeyPatch, at: int, links: bool) -> None:
    """Those before it get their old content back, also where a file system has no hard links."""
    replace, count = os.replace, iter(range(1, 100))

    def refuse(source: Path, target: Path) -> None:
        if next(count) == at:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        replace(source, target)

    def no_link(*words: object, **options: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(atomic_files.os, "replace", refuse)
    if not links:
        monkeypatch.setattr(atomic_files.os, "link", no_link)
    before = sorted(there.rglob("*"))
    with pytest.raises(PermissionError) as caught:
        write_folder(there, NEW)
    assert caught.value.filename == str(there / [*NEW][at - 1])
    assert (sorted(there.rglob("*")), tree(there)) == (before, OLD)


def at_file(number: int, act: Callable[[], object]) -> Callable[..., None]:
    """`_stage` that does something before it stages the file of this number."""
    stage, count = atomic_files._stage, iter(range(100))

    def patched(*words: object) -> None:
        if next(count) == number:
            act()
        stage(*words)  # type: ignore[arg-type]

    return patched


@pytest.mark.parametrize("folder", ["there", "new"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal(there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, number: int) -> None:
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(atomic_files, "_stage", at_file(1, lambda: signal.raise_signal(number)))
    assert ended(lambda: write_folder(tmp_path / folder, NEW)) == 128 + number
    assert (sorted(tmp_path.rglob("*")), tree(there)) == (before, OLD)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_kill(there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Hidden files may stay; none of those that were asked for is touched, and the next run is not hindered."""
    monkeypatch.setattr(atomic_files, "_stage", at_file(at, lambda: os.kill(os.getpid(), signal.SIGKILL)))
    assert ended(lambda: write_folder(there, NEW)) == -signal.SIGKILL
    assert ended(lambda: write_folder(tmp_path / "new", NEW)) == -signal.SIGKILL
    assert not (tmp_path / "new").exists()
    assert {name: data for name, data in tree(there).items() if not Path(name).name.startswith(".")} == OLD
    monkeypatch.undo()
    write_folder(there, NEW)
    assert {name: data for name, data in tree(there).items() if not Path(name).name.startswith(".")} == OLD | NEW


def test_a_signal_while_files_get_their_names(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = atomic_files._place

    def interrupted(drafts: dict[Path, Path], names: dict[Path, Path]) -> None:
        signal.raise_signal(signal.SIGTERM)
        place(drafts, names)

    monkeypatch.setattr(atomic_files, "_place", interrupted)
    assert ended(lambda: write_folder(there, NEW)) == 128 + signal.SIGTERM
    assert tree(there) == OLD | NEW


def test_a_new_file_replaces_none(there: Path, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError) as caught:
        write_new(there / "a.yaml", b"new")
    assert (caught.value.filename, tree(there)) == (str(there / "a.yaml"), OLD)
    with pytest.raises(OSError), largest_file(10):  # noqa: PT011
        write_new(tmp_path / "deep/new", bytes(11))
    assert not (tmp_path / "deep").exists()
    write_new(tmp_path / "deep/new", b"new")
    assert (tmp_path / "deep/new").read_bytes() == b"new"
