"""Walks the lines of an frr.conf as FRR does: by words, whatever the indentation.

A line that the innermost open section does not know is offered to the one around it, and closes the inner one if that
takes it. `exit` closes one section, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fabric.model.facts import Facts, Located
from fabric.nos.reading import need_number
from fabric.nos.reading.indented import END, Layout

SHORT = {  # as people type them
    "addr": "address-family", "address": "address-family", "desc": "description", "int": "interface", "neigh": "neighbor",
    "shut": "shutdown",
}  # fmt: skip
SECRET = re.compile(r"password|secret|key-string|authentication-key|^md5$")
TOP = re.compile(  # commands that no section has
    r"^[ \t]+(?=route-map \S+ (?:permit|deny) \d+[ \t\r]*$|(?:ip|ipv6) prefix-list \S|bgp (?:as-path|(?:\w+)?community-list) "
    r"|router (?:bgp|ospf|ospf6|isis) \S|line vty[ \t\r]*$)",
    re.MULTILINE,
)


def _shown(text: str) -> str:
    """FRR ignores indentation, so a command of the top is one wherever it was typed."""
    return TOP.sub("", text)


LAYOUT = Layout(banner=None, shown=_shown)
CLOSES = LAYOUT.closing - {"end", END}


@dataclass(slots=True)
class Line:
    """One statement, without its `no`."""

    words: list[str]
    number: int
    negated: bool
    file: str
    indented: bool = False

    def located(self, value: str) -> Located[str]:
        return Located(value, self.number, self.file)

    def number_at(self, at: int) -> Located[int]:
        """A word that must be a number."""
        return Located(need_number(self.words[at]), self.number, self.file)

    def rest(self, start: int) -> str:
        """The words from there on."""
        return " ".join(self.words[start:])

    def is_one_of(self, heads: frozenset[str]) -> bool:
        """Whether its first word, or its first two, stand in a table."""
        return self.words[0] in heads or " ".join(self.words[:2]) in heads


Open: TypeAlias = Callable[["Section"], None]
Section: TypeAlias = Callable[[Line, Open], bool]  # whether it knows a line; it may open a section for the lines after it


def walk(text: str, file: str, facts: Facts, whole: Section) -> None:
    """Offers every statement to the open sections, `whole` the last; counts them, and lists those that none knows."""
    sections, margins = [whole], [0]  # and how far the line was indented that opened each
    opened: list[Section] = []
    for number, raw in enumerate(text.split("\n"), 1):
        words = raw.split()
        if not words or words[0][0] in "!#":
            continue
        facts.statements += 1
        margin = len(raw) - len(raw.lstrip())
        if words[0] in CLOSES:
            if margin <= margins[-1]:  # else of a section that is not known here
                del sections[max(len(sections) - 1, 1) :], margins[max(len(margins) - 1, 1) :]
            continue
        if words == ["end"]:
            del sections[1:], margins[1:]
            continue
        negated = words[0] == "no" and len(words) > 1
        line = Line(words[1:] if negated else words, number, negated, file, raw[0].isspace())
        line.words[0] = SHORT.get(line.words[0], line.words[0])
        try:
            for depth in range(len(sections) - 1, -1, -1):
                if sections[depth](line, opened.append):
                    del sections[depth + 1 :], margins[depth + 1 :]
                    break
            else:
                facts.unread.append(line.located(hidden(words)))
        except (ValueError, LookupError):
            facts.broken.append(line.located(f"cannot be read: {hidden(words)}"))
        sections += opened
        margins += [margin] * len(opened)
        opened.clear()


def hidden(words: list[str]) -> str:
    """A line as it may be shown: what follows the word for a secret is not."""
    at = next((at for at, word in enumerate(words) if SECRET.search(word)), len(words))
    return " ".join([*words[: at + 1], *("…" for _ in words[at + 1 :])])
