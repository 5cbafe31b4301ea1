"""Reading a YAML mapping key by key: every wrong value goes to a report with its place, what was expected and what came.

For the small files that are no part of the intent language: measured tables, a training step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabric.base import reading, source
from fabric.base.diagnostics import InputError, Place, Report, nearest, show
from fabric.base.source import Node

MAX_BYTES = 32_000_000  # a log of a night of runs


def read_text(path: Path, what: str, shown: str | None = None) -> str:
    """The text of a file. `what` names in messages what it should be. Raises InputError."""
    wrong = f"is this {what}?"
    return reading.read_text(path, shown or str(path), MAX_BYTES, (f"name {what}", wrong, wrong))


def parse(text: str, name: str, what: str, shape: str) -> Node:
    """The tree of a YAML text. `shape` is the hint where the text is no mapping. Raises InputError."""
    try:
        return source.parse(text, name).root
    except InputError as error:
        raise InputError(_ours(item, what, shape) for item in error.diagnostics) from None


def _ours(item: Any, what: str, shape: str) -> Any:
    """A diagnostic of the YAML reader in the words of the file at hand; the reader speaks of intents."""
    hint = shape if item.code == "FAB007" else item.hint.replace("an intent", what).replace("the language", what)
    return replace(item, message=item.message.replace("an intent", what), hint=hint)


class Fields:
    """A mapping of an input file. Getters give the default after a mistake; `report` holds the mistake."""

    def __init__(self, node: Node, file: str, report: Report, code: str, name: str = "") -> None:
        self._node, self.file, self.report, self._code, self.name = node, file, report, code, name
        self._items = node.items if isinstance(node.items, dict) else {}

    def __contains__(self, key: str) -> bool:
        """Whether the key is written with a value other than null."""
        node = self._items.get(key)
        return node is not None and (node.items is not None or node.value is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def place(self, key: str = "") -> Place:
        """Where the key's value stands, or the mapping itself."""
        node = self._items.get(key, self._node)
        return Place(self.file, node.line, node.column)

    def dotted(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def error(self, key: str, message: str, hint: str = "") -> None:
        self.report.error(self._code, self.place(key), f"{self.dotted(key)}: {message}", hint)

    def warn(self, key: str, message: str, hint: str = "") -> None:
        self.report.warn(self._code, self.place(key), f"{self.dotted(key)}: {message}", hint)

    def missing(self, key: str, hint: str) -> None:
        self.error(key, "missing key", hint)

    def refuse_unknown(self, known: Collection[str]) -> None:
        """An error for every key that is none of `known`."""
        for key in self._items:
            if key not in known:
                place = Place(self.file, *self._node.keys[key])
                under = f" under {self.name}" if self.name else ""
                self.report.error(self._code, place, f"unknown key {show(key)}{under}", nearest(key, known))

    def value(self, key: str) -> Any:
        """The value as Python data, None where it is not written."""
        node = self._items.get(key)
        return None if node is None else node.plain()

    def node(self, key: str) -> Node:
        """The YAML tree under a key that is written."""
        return self._items[key]

    def section(self, key: str) -> Fields | None:
        """The mapping under a key; None where it is not written or no mapping."""
        if key not in self:
            return None
        node = self._items[key]
        if not isinstance(node.items, dict):
            self.error(key, f"expected a mapping, got {show(node.plain())}", "write `key: value` lines, indented")
            return None
        return Fields(node, self.file, self.report, self._code, self.dotted(key))

    def sections(self, key: str) -> list[Fields]:
        """The list of mappings under a key, empty where it is not written."""
        if key not in self:
            return []
        node, result = self._items[key], []
        if not isinstance(node.items, list):
            self.error(key, f"expected a list, got {show(node.plain())}", "start each entry with `- `")
            return []
        for number, item in enumerate(node.items):
            inner = Fields(item, self.file, self.report, self._code, f"{self.dotted(key)}[{number}]")
            if isinstance(item.items, dict):
                result.append(inner)
            else:
                message = f"{inner.name}: expected a mapping, got {show(item.plain())}"
                self.report.error(self._code, inner.place(), message, "write `- key: value`")
        return result

    def text(self, key: str, default: str = "") -> str:
        """A text; a number counts as one."""
        if key not in self:
            return default
        found = self.value(key)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            return str(found).strip()
        self.error(key, f"expected text, got {show(found)}", "quote the value")
        return default

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """One of a few words."""
        word = self.text(key, default).lower()
        if word in choices:
            return word
        self.error(key, f"expected {', '.join(choices)}, got {show(self.value(key))}", nearest(word, choices))
        return default

    def flag(self, key: str, default: bool) -> bool:
        found = self.value(key)
        if found is None or isinstance(found, bool):
            return default if found is None else found
        self.error(key, f"expected true or false, got {show(found)}", "without quotes")
        return default

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        """A whole number in a range."""
        return int(self._number(key, default, least, most, "a whole number", lambda x: isinstance(x, int)))

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number in a range, as it is written: 400 stays whole."""
        return self._number(key, default, least, most, "a number", lambda x: math.isfinite(x))

    def _number(self, key: str, default: float, least: float, most: float, what: str, fits: Callable[[float], bool]) -> float:
        if key not in self:
            return default
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not fits(value):
            self.error(key, f"expected {what}, got {show(value)}", _number_hint(value, what))
        elif not least <= value <= most:
            bounds = f"{_plain(least)} to {_plain(most)}"
            self.error(key, f"expected {bounds}, got {show(value)}", "check the unit in the name of the key")
        else:
            return value
        return default


def _number_hint(found: Any, what: str) -> str:
    if isinstance(found, float) and found.is_integer() and abs(found) < 1e15:
        return f"write {int(found)}"
    if isinstance(found, str) and found.replace(".", "", 1).isdigit():
        return "numbers stand without quotes"
    return f"write {what} without a unit; the unit stands in the key's name"


def _plain(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else f"{bound:g}"
