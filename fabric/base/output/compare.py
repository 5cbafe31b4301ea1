"""Comparing a site folder with what would be generated, without writing anything."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabric.base.output import files, manifest
from fabric.base.output.errors import OutputError
from fabric.base.output.journal import unfinished
from fabric.base.output.paths import MANIFEST, check_nesting, check_path, obstacle
from fabric.base.output.store import Keep, find_orphans, keep_nothing


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
    owned = manifest.read(site_dir)
    listed: dict[str, str] = {}
    different: list[str] = []
    absent: list[str] = []
    line_ends: list[str] = []
    for path, data in _each_once(generated):
        listed[path] = files.sha256(data)
        state = files.look(site_dir, path, data)
        if state == "different" and path in owned:
            different.append(path)
            if (files.read(site_dir, path) or b"").replace(b"\r\n", b"\n") == data:
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
        stale_manifest=files.read(site_dir, MANIFEST) != manifest.render(outside | listed),
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
    owned = manifest.read(site_dir)
    seen: set[str] = set()
    for path, data in _each_once(generated):
        seen.add(path)
        state = files.look(site_dir, path, data)
        if state == "different" and path in owned:
            yield _file_diff(prefix + path, files.read(site_dir, path), data)
        elif state == "absent" and not obstacle(site_dir, path, path in owned, owned):
            yield _file_diff(prefix + path, None, data)
    for path in find_orphans(site_dir, owned, seen, keep).remove:
        yield _file_diff(prefix + path, files.read(site_dir, path), None)


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
