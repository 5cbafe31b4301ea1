"""YAML with positions: a text becomes a tree of nodes, each with the line and column it was written at.

The scalars follow YAML 1.2's core schema (`no`, `on` and `1:30` are strings), every mapping has unique string keys,
and what a hostile file may cost is bounded before anything is built.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fabric.base.diagnostics import Place, Report, show
from fabric.base.reading import read_text

MAX_BYTES = 8_000_000  # a site of ten thousand pinned devices is under 1 MB
MAX_NODES = 500_000  # aliases counted as often as they are used
LARGE_SHARE = 0.5  # of these from aliases: the file is large because of them
MAX_DEPTH = 40
HINTS = (
    "name the intent's file; `fabric init NAME` writes one",
    "an intent is a short text; is this the right file?",
    "save the file as UTF-8; is this the right file?",
)

Path_ = tuple[str | int, ...]

_INT = re.compile(r"[-+]?[0-9]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True, kw_only=True)
class Node:
    """A YAML value and where it stands; `keys` holds where each key of a mapping stands."""

    line: int
    column: int
    value: Any = None  # scalar value; None for a mapping or list
    items: dict[str, Node] | list[Node] | None = None
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    size: int = 1  # nodes below, itself included

    def plain(self) -> Any:
        """The value as Python data."""
        if isinstance(self.items, dict):
            return {key: node.plain() for key, node in self.items.items()}
        if isinstance(self.items, list):
            return [node.plain() for node in self.items]
        return self.value


class Source:
    """An input file: its data, and the place of every value in it."""

    def __init__(self, file: str, root: Node) -> None:
        self.file = file
        self.root = root

    @property
    def data(self) -> Any:
        return self.root.plain()

    def place(self, path: Path_ = (), *, key: bool = False) -> Place:
        """Where the value at `path` stands, or its nearest ancestor that is written down; `key`: the key itself."""
        node, line, column = self.root, self.root.line, self.root.column
        for step in path:
            if isinstance(node.items, dict) and isinstance(step, str) and step in node.items:
                if key:
                    line, column = node.keys[step]
                node = node.items[step]
            elif isinstance(node.items, list) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
            else:
                continue  # a step that a model added (a union's branch, a value turned into a list)
            if not key or not isinstance(step, str):
                line, column = node.line, node.column
        return Place(self.file, line, column)

    def at(self, path: Path_) -> Node | None:
        """What is written at exactly this path."""
        node: Node | None = self.root
        for step in path:
            items = node.items if node is not None else None
            if isinstance(items, dict) and isinstance(step, str):
                node = items.get(step)
            else:
                node = items[step] if isinstance(items, list) and isinstance(step, int) and step < len(items) else None
        return node

    def path_of(self, place: Place) -> Path_ | None:
        """The path of the innermost value that stands at a place; None where none does."""
        found: Path_ | None = None
        queue: list[tuple[Path_, Node]] = [((), self.root)]
        while queue:
            path, node = queue.pop()
            if (node.line, node.column) == (place.line, place.column) and (found is None or len(path) > len(found)):
                found = path
            inner = node.items.items() if isinstance(node.items, dict) else enumerate(node.items or ())
            queue += [((*path, key), one) for key, one in inner]
        return found

    def has(self, path: Path_) -> bool:
        """Whether the value at exactly this path is written in the file."""
        return self.at(path) is not None


def read(path: Path, shown: str | None = None) -> Source:
    """Reads a YAML file. Raises InputError with every mistake found; nothing larger than MAX_BYTES is read."""
    name = shown or str(path)
    return parse(read_text(path, name, MAX_BYTES, HINTS), name)


def parse(text: str, name: str) -> Source:
    """Builds the tree of a YAML text. Raises InputError."""
    return Source(name, _Builder(name).build(text))


class _Builder:
    """Composes nodes from the parser's events; own code because PyYAML's composer knows no bounds and no duplicates."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.report = Report()
        self.anchors: dict[str, Node] = {}
        self.nodes = self.repeated = 0  # of these, values of aliases

    def build(self, text: str) -> Node:
        loader = None
        try:
            loader = _LOADER(text)
            loader.get_event()  # stream start
            if not loader.check_event(yaml.DocumentStartEvent):
                self.report.fail("FAB007", Place(self.name, 1, 1), "expected an intent, got an empty file", _EMPTY)
            loader.get_event()
            root = self._node(loader, 0)
            loader.get_event()  # document end
            if not loader.check_event(yaml.StreamEndEvent):
                mark = loader.peek_event().start_mark
                self.report.fail(
                    "FAB007", self._place(mark), "expected one YAML document, got a second", "use one file per site"
                )
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = self._place(mark) if mark else Place(self.name)
            if "nesting depth" in str(error.problem):  # libyaml reads ahead and has a limit of its own
                self.report.fail("FAB008", place, f"expected at most {MAX_DEPTH} levels, got more", _DEEP)
            self.report.fail("FAB003", place, f"not YAML: {error.problem or error.context}", _yaml_hint(text, place))
        except yaml.reader.ReaderError as error:
            position = error.position if isinstance(error.position, int) else 0
            line = text.count("\n", 0, position) + 1
            column = position - (text.rfind("\n", 0, position) + 1) + 1
            self.report.fail("FAB003", Place(self.name, line, column), f"not YAML: {error.reason}", _CONTROL)
        finally:
            if loader is not None:
                loader.dispose()
        if not isinstance(root.items, dict):
            self.report.error(
                "FAB007",
                Place(self.name, root.line, root.column),
                f"expected a mapping, got {show(root.plain())}",
                _EMPTY,
            )
        self.report.raise_errors()
        return root

    def _place(self, mark: Any) -> Place:
        return Place(self.name, mark.line + 1, mark.column + 1)

    def _count(self, size: int, mark: Any, alias: bool = False) -> None:
        self.nodes += size
        self.repeated += size if alias else 0
        if self.nodes > MAX_NODES:
            of_aliases = self.repeated > self.nodes * LARGE_SHARE
            does, hint = ("expands to", _ALIASES) if of_aliases else ("has", _LARGE)
            self.report.fail("FAB004", self._place(mark), f"the file {does} more than {MAX_NODES:,} values", hint)

    def _node(self, loader: Any, depth: int) -> Node:
        event = loader.get_event()
        mark = event.start_mark
        if depth > MAX_DEPTH:
            self.report.fail("FAB008", self._place(mark), f"expected at most {MAX_DEPTH} levels, got more", _DEEP)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self.report.fail(
                    "FAB003",
                    self._place(mark),
                    f"not YAML: alias *{show(event.anchor)[1:-1]} has no anchor before it",
                    f"define `&{show(event.anchor)[1:-1]}` before the alias, not around it",
                )
            self._count(self.anchors[event.anchor].size, mark, alias=True)
            return self.anchors[event.anchor]
        self._count(1, mark)
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            self.report.error(
                "FAB006",
                self._place(mark),
                f"expected a plain value, got the tag {show(event.tag)}",
                "remove the tag",
            )
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0] and event.tag is None
            node = Node(line=mark.line + 1, column=mark.column + 1, value=_scalar(event.value) if plain else event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(loader, mark, depth)
        else:
            node = self._mapping(loader, mark, depth)
        if event.anchor is not None:  # only now: an alias inside its own anchor finds nothing
            self.anchors[event.anchor] = node
        return node

    def _list(self, loader: Any, mark: Any, depth: int) -> Node:
        items: list[Node] = []
        while not loader.check_event(yaml.SequenceEndEvent):
            items.append(self._node(loader, depth + 1))
        loader.get_event()
        return Node(line=mark.line + 1, column=mark.column + 1, items=items, size=1 + sum(item.size for item in items))

    def _mapping(self, loader: Any, mark: Any, depth: int) -> Node:
        node = Node(line=mark.line + 1, column=mark.column + 1, items={})
        assert isinstance(node.items, dict)
        while not loader.check_event(yaml.MappingEndEvent):
            key = self._node(loader, depth + 1)
            value = self._node(loader, depth + 1)
            node.size += value.size
            place = Place(self.name, key.line, key.column)
            if isinstance(key.value, int) and not isinstance(key.value, bool):
                key.value = str(key.value)  # `17: leaf` where a name is a number
            if not isinstance(key.value, str):
                self.report.error("FAB006", place, f"expected text as a key, got {show(key.plain())}", _WORD)
            elif key.value == "<<":
                self.report.error("FAB006", place, "merge keys (<<) are not supported", "write the keys in full")
            elif key.value in node.items:
                first = node.keys[key.value][0]
                self.report.error(
                    "FAB005", place, f"the key {show(key.value)} is repeated, first in line {first}", "remove one of them"
                )
            else:
                node.items[key.value] = value
                node.keys[key.value] = (key.line, key.column)
        loader.get_event()
        return node


def _scalar(text: str) -> Any:
    """A plain scalar by YAML 1.2's core schema; what is no number, truth value or null stays a string."""
    word = text if text in _WORDS else text.lower()
    if word in _WORDS:
        return _WORDS[word]
    if _INT.fullmatch(text) and len(text) <= 40:
        return int(text)
    if _HEX.fullmatch(text) and len(text) <= 40:
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def _yaml_hint(text: str, place: Place) -> str:
    lines = text.splitlines()
    if 0 < place.line <= len(lines) and "\t" in lines[place.line - 1]:
        return "YAML indents with spaces; this line holds a tab"
    return "look at the indentation, the colons and the quotes of this line and the one before"


_EMPTY = "`fabric init NAME` writes an intent to start from"
_DEEP = "no key of the language lies that deep"
_CONTROL = "delete the character; an intent is plain text"
_ALIASES = "write the values without nested aliases"
_LARGE = "design it as several sites, one file each; a tenant's servers are one range, `gpu-0001..0064`, and not a list"
_WORD = "write `name: value`; a word of YAML such as null or true needs quotes"
