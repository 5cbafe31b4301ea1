"""The manifest: which files of a site folder are ours, one `sha256  path` line each, sorted by path.

`sha256sum -c manifest.txt` checks it, and two branches conflict only on the lines of files both changed.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from fabric.output import files
from fabric.output.errors import OutputError
from fabric.output.paths import MANIFEST, check_path, kind

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_CONFLICT = re.compile(r"(<{7}|\|{7}|={7}|>{7})( |$)")
_LINE_ENDS_HINT = "write `generated/** -text` into .gitattributes, delete the folder, and run `git checkout -- generated`"
_MERGED_HINT = (
    f"delete the marker lines of {MANIFEST}, keep the lines of both sides, then run `fabric generate`: "
    "it writes the manifest anew"
)


def read(site: Path) -> dict[str, str]:
    """The owned files of `site`: path to sha256; empty without a manifest. OutputError if it is damaged."""
    if kind(site / MANIFEST) not in ("file", "absent"):
        raise OutputError(f"{site / MANIFEST} is not a regular file", "remove it, then run `fabric generate`")
    return parse(files.read(site, MANIFEST) or b"", str(site / MANIFEST))


def parse(data: bytes, name: str = MANIFEST) -> dict[str, str]:
    """Path to sha256. A path listed twice (both sides of a merge) counts once, its last line holds.

    OutputError on line ends of Windows, on conflict markers, on a line which is not `sha256  path`, and on a path outside
    the folder.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise OutputError(f"{name} is not UTF-8 text", "restore it from git, then run `fabric generate`") from None
    if b"\r\n" in data:  # Git's core.autocrlf: every file of the folder then differs from what was written
        raise OutputError(f"{name} has line ends of Windows (CRLF): expected LF", _LINE_ENDS_HINT)
    owned: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if _CONFLICT.match(line):
            raise OutputError(f"{name}, line {number}: a merge left conflict markers", _MERGED_HINT)
        if found := _LINE.fullmatch(line):
            check_path(found[2])
            owned[found[2]] = found[1]
        elif line:
            raise OutputError(
                f"{name}, line {number}: not a `sha256  path` line",
                "restore it from git, then run `fabric generate`",
            )
    return owned


def render(owned: Mapping[str, str]) -> bytes:
    """The manifest's bytes. Sorting by code point is sorting by UTF-8 byte, as LC_ALL=C sort does."""
    return "".join(f"{owned[path]}  {path}\n" for path in sorted(owned)).encode()
