"""Reads a config file into raw statements: the path of sections and the words of each line, with its line number.

`interface Ethernet1` is `("interface Ethernet1",)`, a line in it `("interface Ethernet1", "mtu 9214")`. Formats that are
data give a path of keys that ends with the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError

Path: TypeAlias = tuple[str, ...]
Form: TypeAlias = Callable[[str], Iterator[tuple[Path, int]]]  # raises UnreadableError alone for what the text contains

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
        if len(margins) >= MAX_DEPTH:
            raise UnreadableError(TOO_DEEP, number)
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


def without_equal_blocks(
    planned: str, running: str, margin: int, spelled: Callable[[str], str] = str, is_whole: Callable[[str], bool] = bool
) -> tuple[str, str]:
    """Two texts without the blocks at an indentation that both have in the same section. Line numbers stay.

    For formats with braces or keys, where a section is one block per object and the order of the blocks has no effect.

    Args:
        planned: one text.
        running: the other text.
        margin: indentation of the blocks.
        spelled: what is compared of a block.
        is_whole: whether a block is complete; with one that is not, the texts stay as they are.
    """
    sides = [list(_blocks(text, margin)) for text in (planned, running)]
    if not all(is_whole(block) for section, block in sides[1] if section):
        return planned, running
    keys = [{(section, spelled(block)) for section, block in side if section} for side in sides]
    equal = keys[0] & keys[1]
    first, second = (
        "\n".join("\n" * block.count("\n") if (section, spelled(block)) in equal else block for section, block in side)
        for side in sides
    )
    return first, second


def _blocks(text: str, margin: int) -> Iterator[tuple[str, str]]:
    """(heads of the sections, block) of each block at an indentation, ("", line) of the lines between them."""
    heads: dict[int, str] = {}
    for block in block_pattern(margin).split(text):
        depth = len(block) - len(block.lstrip(" "))
        if depth == margin:
            yield "\n".join(heads.values()), block
        else:
            heads = {other: head for other, head in heads.items() if other < depth} | {depth: block}
            yield "", block


@cache
def block_pattern(margin: int) -> re.Pattern[str]:
    """The line end before a line at an indentation or less, unless it closes a block."""
    return re.compile(rf"\n(?=\S| {{1,{margin}}}[^\s}}])")


def plain(text: str, comments: str = "#") -> Iterator[tuple[Path, int]]:
    """A statement a line, without sections: `sysctl.conf`, `daemons`."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(raw.split())
        if line and line[0] not in comments:
            yield (line,), number


def line_by_line(text: str) -> Iterator[tuple[Path, int]]:
    """Sections by indentation, in a file of an unknown format."""
    return indented(text, "!#")
