"""Reads a config file into raw statements: the path of sections and the words of each line, with its line number.

`interface Ethernet1` is `("interface Ethernet1",)`, a line in it `("interface Ethernet1", "mtu 9214")`. Formats that are
data give a path of keys that ends with the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TypeAlias

from fabric.nos.reading.sections import ANY, Banners, Layout, StatementPath, paths

# Raises UnreadableError alone for what the text contains.
Form: TypeAlias = Callable[[str], Iterator[tuple[StatementPath, int]]]

indented = partial(paths, one_blank=True)  # of any network OS, or with the layout of one
SECTION = re.compile(r"\n(?=\S)")


def without_equal(planned: str, running: str, layout: Layout = ANY) -> tuple[str, str]:
    """Two texts in sections by indentation without the top-level sections that both have. Line numbers stay.

    For formats whose top-level sections have an effect in any order. Most sections of a running config are equal to the
    planned ones, and need no reading.
    """
    sections = [_sections(text, layout) for text in (planned, running)]
    equal = set(sections[0]).intersection(sections[1])
    first, second = (
        "\n".join("\n" * section.count("\n") if section in equal else section for section in text) for text in sections
    )
    return first, second


def _sections(text: str, layout: Layout) -> list[str]:
    """Top-level sections, a banner as one of them although its lines have no margin."""
    sections = SECTION.split(text.rstrip("\n"))
    if "\nbanner " not in text:
        return sections
    banners, at, joined = Banners(sections, layout), 0, []
    while at < len(sections):
        end = banners.end(at)
        joined.append("\n".join(sections[at:end]))
        at = end
    return joined


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


def plain(text: str, comments: str = "#") -> Iterator[tuple[StatementPath, int]]:
    """A statement a line, without sections: `sysctl.conf`, `daemons`."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(raw.split())
        if line and line[0] not in comments:
            yield (line,), number
