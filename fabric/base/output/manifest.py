"""The manifest: which files of a site folder are ours, one `sha256  path` line each, sorted by path.

`sha256sum -c manifest.txt` checks it. A merge keeps the lines of both sides; the next run lists every file once.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from fabric.base.output import files
from fabric.base.output.errors import LineEndsError, OutputError
from fabric.base.output.paths import MANIFEST, check_path, kind

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
        data = files.read(site, path) if path in self._also else None
        now = files.sha256(data) if data is not None else ""
        return now if self.wrote(path, now) else self[path]


def read(site: Path) -> Owned:
    """The owned files of `site`; empty without a manifest. OutputError if it is damaged."""
    if kind(site / MANIFEST) not in ("file", "absent"):
        raise OutputError(f"{site / MANIFEST} is not a regular file", "remove it, then run `fabric generate`")
    return parse(files.read(site, MANIFEST) or b"", str(site / MANIFEST))


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
