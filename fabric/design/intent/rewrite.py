"""Another intent made of one: values of its document changed, or a document of other data. Nothing else makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fabric.base import source as sources
from fabric.base.formats import json_line
from fabric.base.source import Node, Path_, Source
from fabric.design.intent.intent import Intent
from fabric.design.intent.load import validate
from fabric.model.plan import Plan
from fabric.model.plan.lock_file import Lock


class Changed(NamedTuple):
    """An intent made of another one, and what is not as it was there, in words."""

    intent: Intent
    notes: tuple[str, ...]


Planning = Callable[[Intent, Lock | None], Plan]  # the plan of an intent, on the numbers given or on those of its lock file


class Rewrite:
    """A copy of an intent's document that values are changed in; each keeps the place that it has in the file.

    The planner asks the document what is stated, so a change of the models alone would not be enough.
    """

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.root = _copy(source.root)

    def put(self, path: Path_, value: Any) -> None:
        """States a value, and creates the missing mappings above it."""
        node, last = self.root, path[-1]
        for step in path[:-1]:
            found = _child(node, step)
            if found is None:
                found = Node(line=node.line, column=node.column, items={})
                _set(node, step, found)
            node = found
        _set(node, last, _tree(value, _child(node, last) or node))

    def drop(self, path: Path_) -> None:
        """Takes a key or an entry away, if it is there."""
        node, last = self.root, path[-1]
        for step in path[:-1]:
            child = _child(node, step)
            if child is None:
                return
            node = child
        if isinstance(node.items, dict):
            if isinstance(last, int):  # a single entry that stands for a list of one
                self.drop(path[:-1])
            else:
                node.items.pop(last, None)
        elif isinstance(node.items, list):
            assert isinstance(last, int)
            del node.items[last]

    def made(self, intent: Intent, folder: Path) -> Intent:
        """The changed intent. Raises InputError where it is none."""
        return _made(Source(self.file, self.root), intent.path, folder)


def of_data(data: Mapping[str, Any], shown: str) -> Intent:
    """The intent of a file with these data, in the folder of that file. Raises InputError where it is none."""
    path = Path(shown)
    return _made(sources.parse(json_line(data), shown), path, path.parent)


def _made(source: Source, path: Path, folder: Path) -> Intent:
    return Intent(path, validate(source), source, folder)


def _copy(node: Node) -> Node:
    """A tree of its own: an alias is written out, so that a change in one place is none in another."""
    items: dict[str, Node] | list[Node] | None = None
    if isinstance(node.items, dict):
        items = {key: _copy(child) for key, child in node.items.items()}
    elif isinstance(node.items, list):
        items = [_copy(child) for child in node.items]
    return Node(line=node.line, column=node.column, value=node.value, items=items, keys=dict(node.keys), size=node.size)


def _child(node: Node, step: str | int) -> Node | None:
    """The value behind a step. A single entry stands for a list of one: its step 0 is itself."""
    if isinstance(node.items, dict):
        return node.items.get(step) if isinstance(step, str) else node if step == 0 else None
    if isinstance(node.items, list) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


def _set(node: Node, step: str | int, value: Node) -> None:
    if isinstance(node.items, list):
        assert isinstance(step, int)
        node.items[step] = value
        return
    assert isinstance(step, str)
    if node.items is None:  # a scalar, `pods: auto`, is replaced by a mapping
        node.items, node.value = {}, None
    node.items[step] = value
    node.keys.setdefault(step, (value.line, value.column))


def _tree(value: Any, place: Node) -> Node:
    """A value as nodes that all stand in one place."""
    node = Node(line=place.line, column=place.column)
    if isinstance(value, Mapping):
        node.items = {key: _tree(child, place) for key, child in value.items()}
        node.keys = dict.fromkeys(value, (place.line, place.column))
    elif isinstance(value, list | tuple):
        node.items = [_tree(child, place) for child in value]
    else:
        node.value = value
    return node
