"""Config text as a tree: a line is a key, what is set under it are its branches. One shape for every text format."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.nos.reading.sections import ANY, Layout, paths

Tree = dict[str, "Tree"]


def indented(text: str, layout: Layout = ANY) -> Tree:
    """The tree of a config that shows its sections by indentation: EOS, NX-OS, FRR. A section written twice is one."""
    open_sections: list[Tree] = [{}]
    for path, _ in paths(text, layout):
        del open_sections[len(path) :]
        open_sections.append(open_sections[-1].setdefault(path[-1], {}))
    return open_sections[0]


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
