"""Where a site folder lies, which paths may be written below it, and what occupies one.

A path is text relative to the site folder, with `/` between its parts. Nothing here follows a symlink.
"""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal

from fabric.base.output.errors import OutputError

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
