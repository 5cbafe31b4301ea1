"""Reads a config file into raw statements: the path of sections and the words of each line, with its line number.

`interface Ethernet1` is `("interface Ethernet1",)`, a line in it `("interface Ethernet1", "mtu 9214")`. Formats that are
data give a path of keys that ends with the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

Path: TypeAlias = tuple[str, ...]
Form: TypeAlias = Callable[[str], Iterator[tuple[Path, int]]]  # never raises for what the text contains

SECTION = re.compile(r"\n(?=\S)")
REMOVED = "<removed>"  # RANCID writes a line with a secret as a comment that ends so
BANNER = re.compile(r"banner (?:login|motd)(?: (\S))?.*")


def indented(text: str, comments: str = "!", closing: frozenset[str] = frozenset()) -> Iterator[tuple[Path, int]]:
    """Sections by indentation: EOS, NX-OS, FRR.

    Args:
        text: the file.
        comments: first characters of lines without effect.
        closing: lines that only end a section, such as `exit`.
    """
    path: Path = ()
    margins: list[int] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, raw in lines:
        line = raw.strip()
        if line.endswith(REMOVED) and line[0] in comments:
            raw = raw.replace(line[0], "", 1)
            line = raw.strip()
        if not line or line[0] in comments or line in closing:
            continue
        if raw[0] == "\t" or "\t" in raw:
            raw = raw.expandtabs()
        margin = len(raw) - len(raw.lstrip())
        while margins and margins[-1] >= margin:
            margins.pop()
        if not margin and line.startswith("banner ") and BANNER.fullmatch(line):
            line = _banner(line, lines)
        path = (*path[: len(margins)], " ".join(line.split()) if "  " in line else line)
        margins.append(margin)
        yield path, number


def _banner(line: str, lines: Iterator[tuple[int, str]]) -> str:
    """A banner as one statement: EOS ends it with EOF, NX-OS with the character that begins it."""
    match = BANNER.fullmatch(line)
    mark = match[1] if match else None
    if mark and line.count(mark) > 1:
        return line
    body = [line]
    for _, raw in lines:
        body.append(raw)
        if raw.strip() == "EOF" if mark is None else mark in raw:
            break
    return "\n".join(body)


def without_equal(planned: str, running: str) -> tuple[str, str]:
    """Two texts in sections by indentation without the top-level sections that both have. Line numbers stay.

    For formats whose top-level sections have an effect in any order. Most sections of a running config are equal to the
    planned ones, and need no reading.
    """
    sections = [_sections(text) for text in (planned, running)]
    equal = set(sections[0]).intersection(sections[1])
    first, second = (
        "\n".join("\n" * section.count("\n") if section in equal else section for section in text) for text in sections
    )
    return first, second


def _sections(text: str) -> list[str]:
    """Top-level sections, a banner as one of them although its lines have no margin."""
    sections = SECTION.split(text.rstrip("\n"))
    if "\nbanner " not in text:
        return sections
    lines = iter(enumerate(sections))
    return [_banner(section, lines) if BANNER.fullmatch(section) else section for _, section in lines]


def plain(text: str, comments: str = "#") -> Iterator[tuple[Path, int]]:
    """A statement a line, without sections: `sysctl.conf`, `daemons`."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(raw.split())
        if line and line[0] not in comments:
            yield (line,), number


def line_by_line(text: str) -> Iterator[tuple[Path, int]]:
    """Sections by indentation, in a file of an unknown format."""
    return indented(text, "!#")
