"""Configs in sections, by indentation or in braces: one tokenizer of each. Every line keeps its number.

What differs between network OSes is data, a `Layout` in the package of each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError

# --- By indentation -------------------------------------------------------------------------------------------

StatementPath: TypeAlias = tuple[str, ...]

REMOVED = "<removed>"  # RANCID writes a line with a secret as a comment that ends so
END = "EOF"  # the line that ends a text for people
MODES = ("address-family", "link-params", "vnc", "vni", "vrf", "vrf-policy")
CLOSING = frozenset((END, "end", "exit", "quit", *(f"exit-{mode}" for mode in MODES)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What a config has beside statements in sections.

    Attributes:
        comments: first characters of lines without effect; of `! password <removed>` only the character is none.
        closing: lines that only end a section.
        banner: pattern of a line of the top that begins a text for people. The text ends where the character in the group
            `mark` comes again, or with a line END where the group is empty. A text without an end is none.
        shown: text → the text as the device prints it, with as many lines: of a network OS that ignores indentation.
    """

    comments: str = "!#"
    closing: frozenset[str] = CLOSING
    banner: re.Pattern[str] | None = re.compile(r"banner \w+(?: +(?P<mark>\S).*)?")
    shown: Callable[[str], str] = str


ANY = Layout()  # of an unknown network OS


def paths(text: str, layout: Layout = ANY, *, one_blank: bool = False) -> Iterator[tuple[StatementPath, int]]:
    """(sections of a statement, the outermost first, and its line; number of the line) of every statement of a config.

    A tab reaches to the next multiple of eight columns, as a person sees it. A banner is one statement, its lines joined.

    Args:
        text: the config.
        layout: of its network OS.
        one_blank: whether blanks between words become one.

    Raises:
        UnreadableError: for more than MAX_DEPTH sections in each other.
    """
    comments, closing = layout.comments, layout.closing
    path: StatementPath = ()
    margins: list[int] = []
    lines = layout.shown(text).splitlines()
    banners = Banners(lines, layout)
    rows = iter(enumerate(lines, 1))
    for number, raw in rows:
        line = raw.lstrip()
        if not line:
            continue
        margin = len(raw) - len(line)
        line = line.rstrip()
        if line in closing:
            while margins and margins[-1] >= margin:
                margins.pop()
            continue
        if line[0] in comments:
            if not line.endswith(REMOVED):
                continue
            raw = raw.replace(line[0], "", 1)
            line = raw.strip()
            margin = len(raw) - len(raw.lstrip())
        if "\t" in raw:
            raw = raw.expandtabs()
            margin = len(raw) - len(raw.lstrip())
        while margins and margins[-1] >= margin:
            margins.pop()
        if len(margins) >= MAX_DEPTH:
            raise UnreadableError(TOO_DEEP, number)
        line = " ".join(line.split()) if one_blank and "  " in line else line
        if not margins and line.startswith("banner "):
            body = lines[number : banners.end(number - 1)]
            line = "\n".join((line, *body))
            for _ in body:
                next(rows)
        path = (*path[: len(margins)], line)
        margins.append(margin)
        yield path, number


@dataclass(slots=True)
class Banners:
    """Where texts for people end, in time that grows with their lines. `lines` may also be the top-level sections."""

    lines: Sequence[str]
    layout: Layout
    _last: dict[str, int] = field(default_factory=dict)  # character or END → last line with it, once an end was missing

    def end(self, at: int) -> int:
        """The position behind the last line of the banner that a line begins; behind the line itself where it is whole."""
        match = self.layout.banner.fullmatch(self.lines[at].strip()) if self.layout.banner else None
        mark = match.groupdict().get("mark") if match else None
        if match is None or (mark and mark in match.string[match.end("mark") :]):
            return at + 1
        if not self._last or self._last.get(mark or END, 0) > at:
            for below in range(at + 1, len(self.lines)):
                if mark in self.lines[below] if mark else self.lines[below].strip() == END:
                    return below + 1
            self._last = {END: -1} | {key: n for n, line in enumerate(self.lines) for key in (*line, line.strip())}
        return at + 1


@dataclass(slots=True)
class Section:
    """A line and the lines below it; of a banner the first line."""

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

    @property
    def size(self) -> int:
        """How many sections are below this one."""
        return len(self.parts) + sum([part.size for part in self.parts if part.parts])

    def walk(self) -> Iterator[Section]:
        """Every section below this one, in the order of the text."""
        waiting = self.parts[::-1]
        while waiting:
            yield (part := waiting.pop())
            waiting += reversed(part.parts)


def read_indented(text: str, layout: Layout = ANY) -> Section:
    """The whole text as one section. Raises UnreadableError."""
    open_sections = [Section()]
    for path, number in paths(text, layout):
        del open_sections[len(path) :]
        line = path[-1]
        section = Section(line.partition("\n")[0] if "\n" in line else line, number, [])
        open_sections[-1].parts.append(section)
        open_sections.append(section)
    return open_sections[0]


# --- In braces: words and signs, and what in them has no meaning ----------------------------------------------

COMMENT = r"/\*.*?(?:\*/|\Z)|\#[^\n]*"
# Over several lines: a certificate. A quote behind a backslash begins none, so that no text is searched for an end twice.
QUOTED = r'(?<!\\)(?:"(?:[^"\\\n]|\\.)*"|"(?:[^"\\]|\\.)*"(?=\s*(?:[;\]{#]|$)))'
TOKEN = re.compile(
    rf"""
    \n
  | ^(?:\{{\w+(?::\w+)*\}}|\[edit[^\n]*\]|[^\s@"{{}};]+@[^\s"{{}};]+[>#%](?=[ \n]))  # what a prompt shows beside a config
  | ^![^\n]*  # a header that a tool put there
  | [{{}};\]]
  | \[(?=\s)
  | {COMMENT}
  | {QUOTED}
  | (?:[^\s{{}};"$]+|\$\{{\w+\}}|\$)+
  | "[^"\\\n]*\\[^\n]*  # never closed: the rest of its line, whose quotes are all escaped
  | "
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
ASIDE = re.compile(f"{QUOTED}|{COMMENT}", re.MULTILINE | re.DOTALL)


def bare(text: str) -> str:
    """A text without comments and with `''` for what stands in quotes: braces in them have no meaning. Its lines stay."""
    return ASIDE.sub(lambda match: "\n" * match[0].count("\n") or "''", text)


def is_open(token: str) -> bool:
    """Whether a token is a quote that is never closed."""
    if token[0] != '"' or (token[-1] == '"' and token[-2:-1] not in ("", "\\")):
        return False
    return len(token) == 1 or token[-1] != '"' or (len(token) - len(token[:-1].rstrip("\\"))) % 2 == 0


def unquoted(token: str) -> str:
    return token[1:-1].replace('\\"', '"') if token[:1] == '"' else token
