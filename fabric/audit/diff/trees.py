"""Config text as a tree: a line is a key, what is set under it are its branches. One shape for every text format."""

from __future__ import annotations

import re
from collections.abc import Iterator

Tree = dict[str, "Tree"]

LEAVES = re.compile(r"(exit|exit-[a-z-]+|end|!.*|#.*|version \d\S*)")  # lines that end a section or say nothing
BANNER = re.compile(r"banner (login|motd)")


def indented(text: str) -> Tree:
    """The tree of a config that shows its sections by indentation: EOS, NX-OS, FRR. A section written twice is one."""
    root: Tree = {}
    open_sections: list[tuple[int, Tree]] = [(-1, root)]
    lines = iter(text.splitlines())
    for line in lines:
        words = line.strip()
        if not words or LEAVES.fullmatch(words):
            continue
        margin = len(line) - len(line.lstrip())
        while open_sections[-1][0] >= margin:
            open_sections.pop()
        if BANNER.fullmatch(words):
            words = "\n".join([words, *_until_eof(lines)])
        open_sections.append((margin, open_sections[-1][1].setdefault(words, {})))
    return root


def _until_eof(lines: Iterator[str]) -> Iterator[str]:
    """The lines of an EOS banner, with the one that ends it."""
    for line in lines:
        yield line
        if line == "EOF":
            return


def pruned(old: Tree, new: Tree) -> tuple[Tree, Tree]:
    """Both trees without what they have in common: lines that are alike with all that is under them."""
    left: Tree = {}
    right: Tree = {}
    for line, below in old.items():
        if line not in new:
            left[line] = below
        elif below != new[line]:
            left[line], right[line] = pruned(below, new[line])
    return left, {line: right.get(line, below) for line, below in new.items() if line in right or line not in old}


def lines(tree: Tree, step: str = "  ", margin: str = "") -> Iterator[str]:
    """The tree as indented text."""
    for line, below in tree.items():
        yield from (margin + part if at == 0 else part for at, part in enumerate(line.split("\n")))
        yield from lines(below, step, margin + step)
