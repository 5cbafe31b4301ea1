"""The blocks that a line of a configuration stands in, by its indentation: `router bgp 65001`, `neighbor FABRIC`, …"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabric.base.reading import UnreadableError
from fabric.nos.reading.indented import ANY, Layout, StatementPath, paths as tokens

Context = StatementPath  # the heads of the blocks, the outermost first
JOIN = " / "  # between the heads of blocks


def contexts(lines: Sequence[str], layout: Layout = ANY) -> list[Context]:
    """The blocks of every line, in the order of the lines: also of `exit`, about which Batfish may warn. No blocks where they
    are too deep, which the reader reports."""
    made: list[Context] = [()] * len(lines)
    try:
        for path, number in tokens("\n".join(lines), replace(layout, closing=frozenset())):
            made[number - 1] = path[:-1]
    except UnreadableError:
        pass
    return made


def paths(lines: Sequence[str], layout: Layout = ANY) -> Iterator[str]:
    """Every line behind the blocks that it stands in: `router bgp 65001 / vrf red / rd 10.0.0.1:1`."""
    for path, _ in tokens("\n".join(lines), layout):
        yield JOIN.join(path)
