"""Braces: whether blocks are nested as their lines are indented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from fabric.audit.checks import WARNING, FilesCheck, Finding, Network
from fabric.base.text import plural
from fabric.model.facts import Located
from fabric.nos.reading.sections import bare

LEAST = 20  # lines in blocks: of fewer, the indentation shows no habit
MOST = 0.02  # share of the lines in blocks that may be indented otherwise in a file that has a habit


class Misplaced(FilesCheck):
    """Compares the indentation of lines with the blocks that are open, in files with braces.

    A device prints its config with one step of indentation per block. Where a file does the same, a line that is indented
    otherwise shows a brace that was lost, added or moved: what follows belongs to another block than it seems to.
    """

    id = "FAB2517"
    title = "Blocks are nested as they are indented"
    severity = WARNING
    example = "`}` below `et-0/0/1 {` instead of above it: the second port is inside the block of the first"
    remediation = "move the brace, or correct the indentation"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        if network.planned:
            return  # its statements are compared with the plan
        for facts in network.devices:
            for file, text in facts.texts.items():
                odd = misplaced(text)
                if odd:
                    first = odd[0]
                    got = f"indented as inside {plural(first.level, 'block')}, but it is inside {plural(first.open, 'block')}"
                    more = f"; {plural(len(odd) - 1, 'more line')}" if odd[1:] else ""
                    yield self.finding_at(facts, Located(None, first.number, file), f"the line is {got}{more}")


class Indented(NamedTuple):
    """A line with the blocks that are open there.

    Attributes:
        number: of the line, from 1.
        spaces: before its text.
        open: blocks that it is in.
        level: blocks that its indentation stands for.
    """

    number: int
    spaces: int
    open: int
    level: int = 0


def misplaced(text: str) -> list[Indented]:
    """Lines that are indented otherwise than their blocks are nested; none in a file without a habit."""
    if "{\n" not in text or text.lstrip()[:1] in ("{", "["):  # the latter is JSON, which is parsed as a whole
        return []
    lines = list(_lines(text))
    inside = [line for line in lines if line.open]
    steps = Counter(line.spaces / line.open for line in inside if line.spaces)
    step = max(steps, key=steps.__getitem__, default=0.0)
    if len(inside) < LEAST or step < 1 or step != int(step):
        return []
    odd = [line._replace(level=int(line.spaces / step)) for line in lines if line.spaces != step * line.open]
    return odd if len(odd) <= max(2, MOST * len(inside)) else []


def _lines(text: str) -> Iterator[Indented]:
    """Lines that begin a statement or close a block."""
    depth, goes_on = 0, False
    for number, line in enumerate(bare(text).splitlines(), 1):
        words = line.strip()
        if not words:
            continue
        closed = len(words) - len(words.lstrip("}")) if words[0] == "}" else 0
        if not goes_on and words != "''":
            yield Indented(number, len(line) - len(line.lstrip()), max(0, depth - closed))
        depth = max(0, depth + words.count("{") - words.count("}"))
        goes_on = words[-1] in ",[\\"
