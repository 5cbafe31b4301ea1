"""The tree of a Junos config: every word is a node below the word before it, whichever form the config has.

`unit 0 { family inet { mtu 9144; } }` and `set … unit 0 family inet mtu 9144` are the same path. A later statement stands
after an earlier one, so the last value of a statement is the one in force.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.model.facts import Located
from fabric.nos.reading import integer


class Node(dict[str, "Node"]):
    """Word → its node, and the line that has the word first."""

    __slots__ = ("file", "line")

    def __init__(self, line: int = 0, file: str = "") -> None:
        self.line, self.file = line, file

    def at(self, *words: str) -> Node:
        """The node below these words, an empty one if there is none."""
        node = self
        for word in words:
            found = node.get(word)
            if found is None:
                return NOTHING
            node = found
        return node

    def every(self, *words: str) -> list[Located[str]]:
        """What stands below these words: `members [ a b ]`."""
        return [Located(word, node.line, node.file) for word, node in self.at(*words).items()]

    def value(self, *words: str) -> Located[str] | None:
        """The last of them, which is the one in force: `mtu 9216`."""
        node = self.at(*words)
        word = next(reversed(node), None)
        return None if word is None else Located(word, node[word].line, node[word].file)

    def flag(self, word: str) -> Located[bool] | None:
        """A statement that is just there: `disable`."""
        node = self.get(word)
        return None if node is None else Located(True, node.line, node.file)

    def words(self) -> list[str]:
        """Every word below, in order: of statements that say several things in a line."""
        found: list[str] = []
        for word, node in self.items():
            found.append(word)
            found += node.words()
        return found

    def below(self, word: str, line: int, file: str) -> Node:
        """The node of a word, made if need be."""
        node = self.get(word)
        if node is None:
            node = self[word] = Node(line, file)
        return node


NOTHING = Node()


def remove(root: Node, path: tuple[str, ...]) -> None:
    """Takes a statement and all below it out of a tree."""
    if path:
        root.at(*path[:-1]).pop(path[-1], None)


def find(node: Node, path: str) -> Iterator[tuple[tuple[str, ...], Node]]:
    """(the words that `*` stands for, the node) of every path like `protocols bgp group *`."""
    found: list[tuple[tuple[str, ...], Node]] = [((), node)]
    for word in path.split():
        if word == "*":
            found = [((*names, name), child) for names, part in found for name, child in part.items()]
        else:
            found = [(names, part[word]) for names, part in found if word in part]
    yield from found


def number(parsed: Located[str] | None) -> Located[int] | None:
    """The same as a number, None for a word that is none."""
    value = integer(parsed.value) if parsed else None
    return None if parsed is None or value is None else Located(value, parsed.line, parsed.file)


def logical(name: str) -> str:
    """`et-0/0/0.0` is filed under its port, other units keep their number; a name without a unit means unit 0."""
    return name.removesuffix(".0")
