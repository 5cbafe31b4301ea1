"""What Batfish reads and sees of a network OS, and the copies of files that it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TypeAlias

from fabric.base.reading import UnreadableError
from fabric.model.plan import SwitchView, Vrf
from fabric.nos.reading import sections
from fabric.nos.reading.sections import ANY, Layout, StatementPath

# --- Blocks that a line stands in, by its indentation ---------------------------------------------------------

Context = StatementPath  # the heads of the blocks, the outermost first
JOIN = " / "  # between the heads of blocks


def contexts(lines: Sequence[str], layout: Layout = ANY) -> list[Context]:
    """The blocks of every line, in the order of the lines: also of `exit`, about which Batfish may warn."""
    made: list[Context] = [()] * len(lines)
    for path, number in _statements(lines, replace(layout, closing=frozenset())):
        made[number - 1] = path[:-1]
    return made


def paths(lines: Sequence[str], layout: Layout = ANY) -> Iterator[str]:
    """Every line behind the blocks that it stands in: `router bgp 65001 / vrf red / rd 10.0.0.1:1`."""
    return (JOIN.join(path) for path, _ in _statements(lines, layout))


def _statements(lines: Sequence[str], layout: Layout) -> Iterator[tuple[StatementPath, int]]:
    """Up to where blocks are too deep, which the reader reports."""
    try:
        yield from sections.paths("\n".join(lines), layout)
    except UnreadableError:
        return


# --- Copies: a file in the form that Batfish reads, and where each line is from -------------------------------

Origin = tuple[str, int]  # (path of the rendered file, line in it; 0: none)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A file of the snapshot."""

    path: str  # in the snapshot: "configs/leaf001.cfg"
    lines: tuple[str, ...]
    format: str  # that Batfish must detect: "ARISTA"
    source: str  # path of the rendered file
    origins: tuple[Origin, ...] = ()  # of each line; (): the lines are those of `source`
    layout: Layout = field(default=ANY, repr=False)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def origin(self, line: int) -> Origin:
        """Where a line of the copy stands in the rendered files."""
        if not self.origins:
            return self.source, line
        return self.origins[line - 1] if 0 < line <= len(self.origins) else (self.source, 0)


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Everything that was copied of one switch, and its rendered files by path."""

    device: str
    nos: str
    files: Mapping[str, str]
    copies: tuple[Copy, ...]
    _found: dict[str, Origin] = field(default_factory=dict, repr=False, compare=False)
    _contexts: dict[str, list[Context]] = field(default_factory=dict, repr=False, compare=False)

    def find(self, *words: str) -> Origin:
        """The first line of the rendered files that has one of the words whole; the first words are looked for first."""
        for word in words:
            if word not in self._found:
                self._found[word] = self._search(word)
            if self._found[word][1]:
                return self._found[word]
        return (self.copies[0].source if self.copies else ""), 0

    def find_path(self, *patterns: str) -> Origin:
        """The first line of the rendered files that matches one of the patterns, behind the blocks that it stands in."""
        for pattern in map(re.compile, patterns):
            for path in self._sources:
                lines = self.files.get(path, "").splitlines()
                for number, (context, line) in enumerate(zip(contexts(lines, self._layout(path)), lines, strict=True), 1):
                    if pattern.fullmatch(JOIN.join((*context, line.strip()))):
                        return path, number
        return (self.copies[0].source if self.copies else ""), 0

    def context(self, path: str, line: int) -> Context:
        """The blocks that a line of a copy stands in, named by its path in the snapshot."""
        if path not in self._contexts:
            self._contexts[path] = next((contexts(copy.lines, copy.layout) for copy in self.copies if copy.path == path), [])
        found = self._contexts[path]
        return found[line - 1] if 0 < line <= len(found) else ()

    def paths(self) -> Iterator[str]:
        """Every line of the copies behind the blocks that it stands in."""
        for copy in self.copies:
            yield from paths(copy.lines, copy.layout)

    @property
    def _sources(self) -> list[str]:
        """The rendered files that something was copied from, in the order of the copies."""
        return list(
            dict.fromkeys(path for copy in self.copies for path in (*(path for path, _ in copy.origins), copy.source))
        )

    def _layout(self, path: str) -> Layout:
        """The layout of a rendered file: that of its copy."""
        return next((copy.layout for copy in self.copies if copy.source == path), ANY)

    def _search(self, word: str) -> Origin:
        pattern = re.compile(rf"(?<![\w.:/-]){re.escape(word)}(?![\w.-]|:\w)")
        for path in self._sources:
            for number, line in enumerate(self.files.get(path, "").splitlines(), 1):
                if word in line and pattern.search(line):
                    return path, number
        return "", 0


@dataclass(slots=True)
class Writer:
    """Collects the lines of a copy that is put together, each with its origin."""

    source: str
    lines: list[str] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)

    def add(self, text: str, line: int = 0, source: str = "") -> None:
        self.lines.append(text)
        self.origins.append((source or self.source, line))

    def extend(self, texts: Iterable[str], source: str) -> None:
        """Lines of a rendered file, from its first."""
        for number, text in enumerate(texts, 1):
            self.add(text, number, source)

    def copy(self, path: str, format: str, layout: Layout = ANY) -> Copy:
        return Copy(
            path=path, lines=tuple(self.lines), format=format, source=self.source, origins=tuple(self.origins), layout=layout
        )


def only(files: Mapping[str, str], name: str) -> tuple[str, str]:
    """(path, text) of the file of that name, or of the one file whose name ends like it; no text where there is none."""
    ending = PurePath(name).suffix or name
    named = [path for path in files if PurePath(path).name == name]
    alike = named or [path for path in files if PurePath(path).name.endswith(ending)]
    return (alike[0], files[alike[0]]) if len(alike) == 1 or named else (name, "")


def of_daemons(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """`frr.conf`, or the files of the daemons of FRR that stand for it: (path, text)."""
    found = only(files, "frr.conf")
    if found[1]:
        return [found]
    return [(path, text) for path, text in files.items() if path.endswith(".conf")] or [found]


def whole(path: str, source: str, text: str, format: str, layout: Layout = ANY) -> Copy:
    """A copy that is like its file. A file that cannot be read goes to Batfish as it is, which then says so."""
    return Copy(path=path, lines=tuple(text.splitlines()), format=format, source=source, layout=layout)


# --- Views ----------------------------------------------------------------------------------------------------

# Routing tables of tenants, tenants' routes over EVPN, EVPN sessions, filters on server ports, sessions on an interface,
# layer-2 networks of tenants, packets over the fabric, a routed port without a tag beside tagged ones, `maximum-paths`.
VRF, TYPE5, EVPN, ACL, UNNUMBERED, BRIDGE, FORWARD = "vrf", "type5", "evpn", "acl", "unnumbered", "bridge", "forward"
NATIVE, MULTIPATH = "native", "multipath"

Reads: TypeAlias = Callable[[str, Mapping[str, str]], list[Copy]]  # name of a switch in small letters, its files


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that Batfish sees of a network OS, but not of every design."""

    unseen: frozenset[str]
    of_switch: Callable[[SwitchView], bool]  # whether it applies to a switch
    of_vrf: Callable[[Vrf], bool]  # and to a tenant of the switch
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatfishView:
    """A network OS as Batfish takes it."""

    reads: Reads  # makes the copies for the snapshot
    sees: frozenset[str] = frozenset()  # VRF, …
    limits: tuple[Limit, ...] = ()
    vrf: str = "{}"  # pattern of a tenant's table, as Batfish names it
    loopback_is_vtep: bool = False
    allow: tuple[Path, ...] = ()  # expected warnings, see `fabric.audit.checks.batfish.parsing`
    unread: tuple[str, str] = ("", "")  # (part of its files that is not copied as it is, why)
    comment: str = ""  # before a line that says the format of a config that others wrote; "" where its copies say it


def marked(copy: Copy, comment: str) -> Copy:
    """A copy whose first line says its format: Batfish guesses it by words that a config of others may lack."""
    line = f"{comment}BATFISH_FORMAT: {copy.format.lower()}"
    origins = copy.origins or tuple((copy.source, number) for number in range(1, len(copy.lines) + 1))
    return replace(copy, lines=(line, *copy.lines), origins=((copy.source, 0), *origins))


def first(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The one file of a network OS that has one; none of a switch whose file is missing."""
    return list(files.items())[:1]


def as_it_is(format: str, layout: Layout = ANY) -> Reads:
    """Of a network OS whose one file Batfish reads as it is."""

    def copies(name: str, files: Mapping[str, str]) -> list[Copy]:
        return [whole(f"configs/{name}.cfg", path, text, format, layout) for path, text in first(files)]

    return copies


# --- A Linux switch as one file, as `cl-support` of older Cumulus releases has it -----------------------------

FORMAT = "CUMULUS_CONCATENATED"


def start(name: str, source: str) -> Writer:
    """A writer that stands where the interfaces begin."""
    writer = Writer(source)
    writer.add(name)
    writer.add("# This file describes the network interfaces")
    return writer


def routing(writer: Writer) -> None:
    """What stands between the interfaces and the routing."""
    writer.add("# ports.conf --")
    writer.add("frr version 10.0")
