"""A site folder: where it lies, which paths may be written below it, which files of it are ours, and its errors."""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

# --- The error of this package --------------------------------------------------------------------------------


class OutputError(Exception):
    """The output folder cannot be read or written as asked.

    `message` says what is wrong, `hint` what to do about it (may be empty).
    """

    def __init__(self, message: str, hint: str = "") -> None:
        # Both go to `args`: an error raised in a worker process is pickled from them.
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


LINE_ENDS = (
    "git changed the line endings to CRLF: `git config core.autocrlf false`, remove the folder, `git checkout -- FOLDER`; "
    "the line `generated/** -text` in .gitattributes prevents this in every checkout"
)


class LineEndsError(OutputError):
    """A generated file has CRLF line ends, as a checkout with `core.autocrlf` makes them."""

    def __init__(self, message: str, hint: str = LINE_ENDS) -> None:
        super().__init__(message, hint)


@contextmanager
def explained(doing: str, hint: str = "") -> Iterator[None]:
    """Turn an operating system's error into an OutputError which says what was being done."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise OutputError(f"cannot {doing}: {error.strerror or error}{where}", hint) from error


# --- Paths ----------------------------------------------------------------------------------------------------

MANIFEST = "manifest.txt"
JOURNAL = ".journal"

Kind = Literal["absent", "file", "folder", "symlink", "other"]


def site_folder(intent: Path, site: str, output: Path | None = None) -> Path:
    """`generated/` lies beside the folder `intent/`, or beside a file that lies elsewhere, wherever one works from."""
    home = intent.resolve().parent
    return (output or (home.parent if home.name == "intent" else home) / "generated") / site


def symlink_to_site(intent: Path, site: str, output: Path | None = None) -> Path | None:
    """The symlink on the path to the site's folder that a checkout may contain: `generated`, or the folder.

    A folder that the user names may be one; the site's folder in it may not. None if there is none.
    """
    folder = site_folder(intent, site, output)
    parts = (folder,) if output else (folder.parent, folder)
    return next((part for part in parts if kind(part) == "symlink"), None)


def check_path(path: str) -> None:
    """Raise OutputError unless `path` names a file inside the site folder in the one plain spelling."""
    parts = path.split("/")
    if not path or not path.isprintable() or "\\" in path:
        problem = "is empty or has a control character or a backslash"
    elif path.startswith("/"):
        problem = "is absolute"
    elif any(part in ("", ".", "..") for part in parts):
        problem = "has an empty, '.' or '..' part"
    elif parts[0] in (MANIFEST, JOURNAL):
        problem = "is a reserved name"
    else:
        return
    raise OutputError(f"{path!r} cannot be an output file: it {problem}")


def check_nesting(paths: Collection[str]) -> None:
    """Raise OutputError if one of `paths` would have to be a file and a folder at once."""
    for path in paths:
        for parent in parents(path):
            if parent in paths:
                raise OutputError(f"{parent!r} is an output file and also the folder of {path!r}")


def parents(path: str) -> Iterator[str]:
    """The folders of `path`, outermost first: a/b/c gives a, a/b."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def kind(file: Path | str) -> Kind:
    """What is at `file` itself, not at what it may point to. OutputError if that cannot be seen."""
    try:
        mode = os.lstat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    except OSError as error:
        raise OutputError(f"cannot access {file}: {error.strerror}") from error
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def odd_parent(site: Path, path: str) -> tuple[str, Kind] | None:
    """The first folder of `path` which is not a real folder, and what it is instead; None if all are."""
    for parent in parents(path):
        if (found := kind(f"{site}/{parent}")) != "folder":
            return parent, found
    return None


def obstacle(site: Path, path: str, owned: bool, leaving: Collection[str]) -> str | None:
    """Why `path` must not be written; None if it may be.

    `leaving` are the files this run removes first: a file of that name may become a folder, a folder
    which holds nothing else may become a file.
    """
    if odd := odd_parent(site, path):
        parent, entry = odd
        free = entry == "absent" or (entry == "file" and parent in leaving)
        return None if free else f"its folder {parent} is a {entry}"
    entry = kind(f"{site}/{path}")
    if entry == "absent" or (entry == "file" and owned):
        return None
    if entry == "file":
        return "not in the manifest"
    if entry == "folder":
        return None if set(_files_below(site, path)) <= set(leaving) else "a folder with other files"
    return "a symlink" if entry == "symlink" else "not a regular file"


def _files_below(site: Path, path: str) -> Iterable[str]:
    for folder, folders, files in os.walk(site / path):
        here = Path(folder)
        # A symlink to a folder is listed among the folders, but was not written by `fabric generate`.
        links = [name for name in folders if (here / name).is_symlink()]
        for name in [*files, *links]:
            yield (here / name).relative_to(site).as_posix()


# --- Files on disk, never through a symlink -------------------------------------------------------------------

Look = Literal["same", "different", "absent"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_file(site: Path, path: str) -> bytes | None:
    """The bytes of the regular file at `path`; None if there is no such thing. OutputError if unreadable."""
    file = f"{site}/{path}"
    if odd_parent(site, path) or kind(file) != "file":
        return None
    with explained(f"read {path}"):
        return _bytes(file)


def look(site: Path, path: str, data: bytes) -> Look:
    """How the file on disk compares with `data`: by size first, then by bytes. OutputError if unreadable.

    Something else than a regular file, or a symlink on the path, is "absent": `paths.obstacle` names it.
    """
    file = f"{site}/{path}"
    if odd_parent(site, path) or kind(file) != "file":
        return "absent"
    with explained(f"read {path}"):
        same = os.lstat(file).st_size == len(data) and _bytes(file) == data
    return "same" if same else "different"


def _bytes(file: str) -> bytes:
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb", buffering=0) as opened:
        return opened.readall()


# --- The manifest: one `sha256  path` line for each of our files ----------------------------------------------

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_CONFLICT = re.compile(r"(<{7}|\|{7}|={7}|>{7})( |$)")
_MERGED_HINT = (
    f"delete the marker lines of {MANIFEST}, keep the lines of both sides, then run `fabric generate`: "
    "it writes the manifest again"
)


class Owned(dict[str, str]):
    """Path to sha256 of the files that are ours. After a merge a path may be listed with the bytes of both sides."""

    def __init__(self, lines: Iterable[tuple[str, str]] = ()) -> None:
        self._also: dict[str, set[str]] = {}
        for path, sha in lines:
            if self.setdefault(path, sha) != sha:
                self._also.setdefault(path, {self[path]}).add(sha)
                self[path] = max(self._also[path])

    def wrote(self, path: str, sha: str) -> bool:
        """Whether these are bytes that a run wrote, on either side of a merge."""
        return sha == self.get(path) or sha in self._also.get(path, ())

    def entry(self, site: Path, path: str) -> str:
        """The one sha256 that the next manifest lists: of several that of the file, if it is one of them."""
        data = read_file(site, path) if path in self._also else None
        now = sha256(data) if data is not None else ""
        return now if self.wrote(path, now) else self[path]


def read_manifest(site: Path) -> Owned:
    """The owned files of `site`; empty without a manifest. OutputError if it is damaged."""
    if kind(site / MANIFEST) not in ("file", "absent"):
        raise OutputError(f"{site / MANIFEST} is not a regular file", "remove it, then run `fabric generate`")
    return parse(read_file(site, MANIFEST) or b"", str(site / MANIFEST))


def parse(data: bytes, name: str = MANIFEST) -> Owned:
    """The owned files that a manifest lists, in any order.

    OutputError on conflict markers, on a line which is not `sha256  path`, and on a path outside the folder.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise OutputError(f"{name} is not UTF-8 text", "restore it from git, then run `fabric generate`") from None
    owned: list[tuple[str, str]] = []
    for number, line in enumerate(lines, 1):
        if line.endswith("\r"):
            raise LineEndsError(f"{name}, line {number}: expected a line that ends with LF, got CRLF")
        if _CONFLICT.match(line):
            raise OutputError(f"{name}, line {number}: a merge left conflict markers", _MERGED_HINT)
        if match := _LINE.fullmatch(line):
            check_path(match[2])
            owned.append((match[2], match[1]))
        elif line:
            raise OutputError(
                f"{name}, line {number}: not a `sha256  path` line",
                "restore it from git, then run `fabric generate`",
            )
    return Owned(owned)


def render(owned: Mapping[str, str]) -> bytes:
    """The manifest's bytes. Sorting by code point is sorting by UTF-8 byte, as LC_ALL=C sort does."""
    return "".join(f"{owned[path]}  {path}\n" for path in sorted(owned)).encode()
