"""Statements of a config in braces as a tree of its nodes: a container, an element of a list, a value, a list of values.

What a statement is, is data of the network OS (`Hierarchy.load`). The words of a statement alone do not say it: `members A`
adds to a list, `mtu 9000` takes the place of another value, and `unit 0` names a container.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, TypeAlias

import yaml

StatementPath: TypeAlias = tuple[str, ...]

VALUE = "value"  # one value: the next one takes its place
VALUES = "values"  # a list of values, in their order
FLAG = "flag"  # without a value
NODE = "node"  # a container or an element of a list
UNKNOWN = "unknown"  # a statement that the data does not have, with all its words
KINDS = frozenset({VALUE, VALUES, FLAG})
ANY = "*"


@dataclass(slots=True)
class AllowedChildren:
    """What may stand below a node: first word → (its words, a kind or the place below it), the longest first."""

    below: dict[str, list[tuple[StatementPath, str | AllowedChildren]]] = field(default_factory=dict)

    def match(self, words: StatementPath) -> tuple[StatementPath, str | AllowedChildren] | None:
        """The words of the next node, and what it is."""
        for pattern, what in (*self.below.get(words[0], ()), *self.below.get(ANY, ())):
            if len(pattern) <= len(words) and all(one in (ANY, two) for one, two in zip(pattern, words, strict=False)):
                return words[: len(pattern)], what
        return None


NOWHERE = AllowedChildren()


@dataclass(slots=True)
class Node:
    """A node of a config: its values, or the nodes below it by their words."""

    kind: str = NODE
    values: list[str] = field(default_factory=list)
    below: dict[StatementPath, Node] = field(default_factory=dict)
    known: bool = True  # whether the data says what may stand below it

    def child(self, name: StatementPath, kind: str, *, known: bool = True) -> Node:
        """The node with that name; one that is there in another form becomes a container."""
        found = self.below.setdefault(name, Node(kind, known=known))
        if found.kind != kind:
            found.below |= {(value,): Node(UNKNOWN) for value in found.values}
            found.kind, found.values, found.known = NODE, [], False
        return found

    def statements(self, path: StatementPath = ()) -> Iterator[StatementPath]:
        """The words of every statement, several values of a list in brackets."""
        if self.kind == VALUES and len(self.values) > 1:
            yield (*path, "[", *self.values, "]")
        elif self.values:
            yield (*path, self.values[-1])
        elif not self.below:
            yield path
        for name, node in self.below.items():
            yield from node.statements((*path, *name))


@dataclass(frozen=True, slots=True)
class Config:
    """Statements of a text, those without effect among them, and the paths that are marked as such."""

    statements: tuple[StatementPath, ...]
    inactive: tuple[StatementPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """What the statements of a network OS are.

    Attributes:
        root: the place of the hierarchies.
        ordered: first words of elements whose order has an effect.
    """

    root: AllowedChildren
    ordered: frozenset[str]

    @classmethod
    def load(cls, path: FilePath) -> Hierarchy:
        """From a `candidate.yaml`. Raises ValueError for an unknown kind."""
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        root = AllowedChildren()
        _fill(root, document["statements"], document["everywhere"], root, {})
        return cls(root, frozenset(document["ordered"]))

    def tree(self, statements: Iterable[StatementPath]) -> Node:
        """The nodes of a config."""
        root = Node()
        for words in statements:
            self._add(root, words)
        return root

    def name(self, words: StatementPath) -> StatementPath:
        """The words of the node of a statement: without its value."""
        node, name = self.tree([words]), StatementPath()
        while node.below and node.known:
            part, node = next(iter(node.below.items()))
            name += part
        return name

    def _add(self, root: Node, words: StatementPath) -> None:
        node, place = root, self.root
        while words:
            match = place.match(words)
            if match is None and node is not root:
                node.child(words, UNKNOWN)
                return
            name, what = match or (words[:1], NOWHERE)
            words = words[len(name) :]
            if isinstance(what, AllowedChildren):
                node, place = node.child(name, NODE, known=what is not NOWHERE), what
                continue
            size = 0 if what == FLAG else 1
            more = words[size:]
            alone = len(words) >= size and (not more or place.match(more) is not None)
            child = node.child(name, what if alone else NODE, known=alone)
            if child.kind == NODE:  # it has more words than the data knows
                if words:
                    child.child(words, UNKNOWN)
                return
            child.values += (value for value in words[:size] if value not in child.values)
            words = more


def _fill(
    place: AllowedChildren,
    rows: Mapping[str, Any],
    everywhere: Mapping[str, str],
    root: AllowedChildren,
    made: dict[int, AllowedChildren],
) -> None:
    """Fills the place of a mapping; a mapping that is there several times is one place."""
    made[id(rows)] = place
    for key, what in {**everywhere, **rows}.items():
        pattern = tuple(key.split())
        if what == "root":
            found: str | AllowedChildren = root
        elif isinstance(what, Mapping):
            found = made.get(id(what)) or AllowedChildren()
            if id(what) not in made:
                _fill(found, what, everywhere, root, made)
        elif what in KINDS:
            found = what
        else:
            raise ValueError(f"{key}: expected a kind of statement, got {what}")
        place.below.setdefault(pattern[0], []).append((pattern, found))
        place.below[pattern[0]].sort(key=lambda one: -len(one[0]))
