"""The blocks that a line of a configuration stands in, by its indentation: `router bgp 65001`, `neighbor FABRIC`, …"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabric.base.reading import UnreadableError
from fabric.nos.reading import indented
from fabric.nos.reading.indented import ANY, Layout, StatementPath

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
        yield from indented.paths("\n".join(lines), layout)
    except UnreadableError:
        return
