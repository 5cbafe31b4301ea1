"""Reads texts whose sections follow from indentation: EOS, NX-OS, FRR's Linux side; every line keeps its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError


@dataclass(slots=True)
class Section:
    """A line and the lines below it."""

    line: str = ""
    number: int = 0
    parts: list[Section] = field(default_factory=list)

    def each(self, head: str) -> Iterator[tuple[str, Section]]:
        """(what follows `head`, its section) of every line that begins with it; a line that is just `head` gives ""."""
        start = f"{head} "
        for part in self.parts:
            if part.line.startswith(start):
                yield part.line[len(start) :].strip(), part
            elif part.line == head:
                yield "", part

    def last(self, head: str) -> tuple[str, Section] | None:
        """A later line overwrites an earlier one."""
        found = list(self.each(head))
        return found[-1] if found else None

    def has(self, line: str) -> bool:
        return any(part.line == line for part in self.parts)

    def walk(self) -> Iterator[Section]:
        """Every section below this one, in the order of the text."""
        for part in self.parts:
            yield part
            yield from part.walk()


def read_indented(text: str, comments: str = "!") -> Section:
    """The whole text as one section; lines that begin with one of `comments` are none. Raises UnreadableError."""
    root = Section()
    open_: list[tuple[int, Section]] = [(-1, root)]
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in comments:
            continue
        raw = raw.expandtabs()  # as a person sees it
        depth = len(raw) - len(raw.lstrip())
        while open_[-1][0] >= depth:
            open_.pop()
        if len(open_) > MAX_DEPTH:
            raise UnreadableError(TOO_DEEP, number)
        section = Section(line, number)
        open_[-1][1].parts.append(section)
        open_.append((depth, section))
    return root
