"""One file of a snapshot: a copy of a rendered file, in the form that Batfish reads, and where each of its lines is from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabric.nos.batfish.context import JOIN, Context, contexts, paths

Origin = tuple[str, int]  # path of the rendered file, line in it (0: nowhere in particular)


@dataclass(frozen=True, slots=True)
class Copy:
    """A file of the snapshot."""

    path: str  # in the snapshot: "configs/leaf001.cfg"
    lines: tuple[str, ...]
    format: str  # what Batfish must take it for: "ARISTA"
    source: str  # path of the rendered file
    origins: tuple[Origin, ...] = ()  # one a line, where the lines are not those of `source`

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
                for number, (context, line) in enumerate(zip(contexts(lines), lines, strict=True), 1):
                    if pattern.fullmatch(JOIN.join((*context, line.strip()))):
                        return path, number
        return (self.copies[0].source if self.copies else ""), 0

    def context(self, path: str, line: int) -> Context:
        """The blocks that a line of a copy stands in, named by its path in the snapshot."""
        if path not in self._contexts:
            self._contexts[path] = next((contexts(copy.lines) for copy in self.copies if copy.path == path), [])
        found = self._contexts[path]
        return found[line - 1] if 0 < line <= len(found) else ()

    def paths(self) -> Iterator[str]:
        """Every line of the copies behind the blocks that it stands in."""
        for copy in self.copies:
            yield from paths(copy.lines)

    @property
    def _sources(self) -> list[str]:
        """The rendered files that something was copied from, in the order of the copies."""
        return list(
            dict.fromkeys(path for copy in self.copies for path in (*(path for path, _ in copy.origins), copy.source))
        )

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

    def copy(self, path: str, format: str) -> Copy:
        return Copy(path, tuple(self.lines), format, self.source, tuple(self.origins))


def only(files: Mapping[str, str], name: str) -> tuple[str, str]:
    """(path, text) of the rendered file of that name; no text where there is none."""
    return next(((path, text) for path, text in files.items() if path.rpartition("/")[2] == name), (name, ""))


def whole(path: str, source: str, text: str, format: str) -> Copy:
    """A copy that is like its file. A file that cannot be read goes to Batfish as it is, which then says so."""
    return Copy(path, tuple(text.splitlines()), format, source)
