"""The blocks that a line of a configuration stands in, by its indentation: `router bgp 65001`, `neighbor FABRIC`, …"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Context = tuple[str, ...]  # the heads of the blocks, the outermost first
JOIN = " / "  # between the heads of blocks
SEPARATORS = ("!", "#", "}")  # a line that begins so is in no block, and opens none


def contexts(lines: Sequence[str]) -> list[Context]:
    """The blocks of every line, in the order of the lines."""
    made: list[Context] = []
    open_blocks: list[tuple[int, str]] = []  # (indentation, head)
    for line in lines:
        text = line.strip()
        if not text or text.startswith(SEPARATORS):  # `!` in the first column ends no block
            made.append(())
            continue
        margin = len(line) - len(line.lstrip())
        while open_blocks and open_blocks[-1][0] >= margin:
            open_blocks.pop()
        made.append(tuple(head for _, head in open_blocks))
        open_blocks.append((margin, text))
    return made


def paths(lines: Sequence[str]) -> Iterator[str]:
    """Every line behind the blocks that it stands in: `router bgp 65001 / vrf red / rd 10.0.0.1:1`."""
    for context, line in zip(contexts(lines), lines, strict=True):
        text = line.strip()
        if text and not text.startswith(SEPARATORS):
            yield JOIN.join((*context, text))
