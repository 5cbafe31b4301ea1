"""Reads texts whose sections are told by indentation: EOS, NX-OS, ifupdown2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Section:
    """A line and the lines below it."""

    line: str = ""
    parts: list[Section] = field(default_factory=list)

    def has(self, line: str) -> bool:
        return any(part.line == line for part in self.parts)

    def each(self, head: str) -> Iterator[str]:
        """What follows `head` in every line that begins with it."""
        return (part.line[len(head) + 1 :] for part in self.parts if part.line.startswith(f"{head} "))

    def last(self, head: str) -> str | None:
        """A later line overwrites an earlier one."""
        return next(reversed(list(self.each(head))), None)

    def sections(self, head: str) -> dict[str, Section]:
        """What follows `head` → its lines; a section may come in several pieces."""
        found: dict[str, Section] = {}
        for part in self.parts:
            if part.line.startswith(f"{head} "):
                found.setdefault(part.line[len(head) + 1 :], Section(part.line)).parts.extend(part.parts)
        return found


def read_indented(text: str, comments: str) -> Section:
    """The whole text as one section; lines that begin with one of `comments` are none."""
    root = Section()
    open_: list[tuple[int, Section]] = [(-1, root)]
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line[0] in comments:
            continue
        depth = len(raw) - len(raw.lstrip())
        while open_[-1][0] >= depth:
            open_.pop()
        section = Section(line)
        open_[-1][1].parts.append(section)
        open_.append((depth, section))
    return root
