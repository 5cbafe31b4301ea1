"""JSON whose keys know their lines, read as far as possible where it is damaged; and a dump of CONFIG_DB as tables."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fabric.base.reading import MAX_DEPTH

STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?', re.DOTALL)  # and whether it is a key
TOKEN = re.compile(  # and what follows a quote that nothing closes
    r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"(\s*:)?|([{}\[\]])|([^\s,\[\]{}":]+)|"[^"\\\n]*\\[^\n]*'
)


@dataclass(slots=True)
class Object:
    """A JSON object: its values, and the line of each key."""

    line: int
    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


Value: TypeAlias = Object | list[Any] | str | int | float | bool | None


Repeated: TypeAlias = list[tuple[str, int]]  # (key, line) of keys that an object has twice: only the last one counts


def read_json(text: str, repeated: Repeated) -> tuple[Object, str, int]:
    """(the object of the text, what is wrong with it or "", the line of the mistake)."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    try:
        whole = json.loads(text, object_pairs_hook=_Pairs)
        if isinstance(whole, _Pairs):
            keys = [bisect_right(breaks, match.start()) + 1 for match in STRING.finditer(text) if match[1]]
            return _placed(whole, iter(keys), 1, repeated), "", 0
        return Object(1), "not a JSON object", 1
    except json.JSONDecodeError as mistake:
        return _Salvage(text, breaks).read(), f"not JSON: {mistake.msg}", mistake.lineno
    except (ValueError, RecursionError):
        return _Salvage(text, breaks).read(), "not JSON: a number too long or brackets too deep", 1


class _Pairs(list[tuple[str, Any]]):
    """Keys and values as written, so that the keys can be counted off against the text."""


def _placed(pairs: _Pairs, keys: Iterator[int], line: int, repeated: Repeated, depth: int = 0) -> Object:
    if depth > MAX_DEPTH:
        raise RecursionError
    made = Object(line)
    values, lines = made.values, made.lines
    for key, value in pairs:
        here = next(keys)
        if key in lines:
            repeated += [(key, lines[key]), (key, here)]
        lines[key] = here
        values[key] = value if isinstance(value, str) else _value(value, keys, here, repeated, depth + 1)
    return made


def _value(value: Any, keys: Iterator[int], line: int, repeated: Repeated, depth: int) -> Any:
    if isinstance(value, _Pairs):
        return _placed(value, keys, line, repeated, depth)
    return [_value(part, keys, line, repeated, depth) for part in value] if isinstance(value, list) else value


class _Salvage:
    """A damaged text by its brackets, keys and values alone.

    Commas are passed over, a bracket that closes nothing too, and what is still open at the end ends there.
    """

    def __init__(self, text: str, breaks: list[int]) -> None:
        self.text, self.breaks = text, breaks
        self.root = Object(1)
        self.open: list[Object | list[Any]] = [self.root]
        self.key, self.line = "", 1

    def read(self) -> Object:
        for match in TOKEN.finditer(self.text):
            string, is_key, bracket, word = match.groups()
            if bracket:
                self._bracket(bracket, bisect_right(self.breaks, match.start()) + 1)
            elif word:
                self._value(_parsed(word, word))
            elif string is None:
                continue
            elif not is_key:
                self._value(_parsed(f'"{string}"', string))
            else:
                self.key = str(_parsed(f'"{string}"', string))
                self.line = bisect_right(self.breaks, match.start()) + 1
                self._leave_lists()
        return self.root

    def _leave_lists(self) -> None:
        """A key in a list means that the end of the list is missing."""
        while isinstance(self.open[-1], list):
            self.open.pop()

    def _bracket(self, bracket: str, line: int) -> None:
        if bracket in "{[":
            new: Object | list[Any] = Object(line) if bracket == "{" else []
            if len(self.open) > MAX_DEPTH:
                return  # the mistake is reported
            if bracket == "[" or self.key or len(self.open) > 1:  # else it is the outermost one
                self._value(new)
                self.open.append(new)
        elif any(isinstance(one, list) == (bracket == "]") for one in self.open[1:]):
            while isinstance(self.open.pop(), list) != (bracket == "]"):
                pass

    def _value(self, value: Any) -> None:
        top = self.open[-1]
        if isinstance(top, list):
            top.append(value)
        elif self.key:
            top.values[self.key], top.lines[self.key] = value, self.line
        self.key = ""


def _parsed(text: str, otherwise: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return otherwise


# --- Dumps: `TABLE|key` on top instead of a table with its keys -----------------------------------------------

SEPARATOR = "|"
HASH = frozenset({"type", "value"})  # keys of a row in a dump that names the type of each key


def read_tables(text: str, repeated: Repeated) -> tuple[Object, str, int]:
    """(tables, what is wrong with the text or "", the line of the mistake)."""
    root, mistake, line = read_json(text, repeated)
    return _tables(root) if any(map(_is_row, root.values.items())) else root, mistake, line


def config_db(text: str) -> Any:
    """The tables as data. Raises ValueError."""
    document = json.loads(text)
    flat = isinstance(document, dict) and any(SEPARATOR in key for key in document)
    return _plain(read_tables(text, [])[0]) if flat else document


def _is_row(item: tuple[str, Value]) -> bool:
    return SEPARATOR in item[0] and isinstance(item[1], Object)


def _tables(root: Object) -> Object:
    tables = Object(root.line)
    for name, value in root.values.items():
        line = root.lines[name]
        if not _is_row((name, value)):
            if not (isinstance(value, Object) and value.values.keys() >= HASH):
                tables.values[name], tables.lines[name] = value, line
            continue
        table, _, key = name.partition(SEPARATOR)
        rows = tables.values.get(table)
        if not isinstance(rows, Object):
            tables.lines[table] = line
            rows = tables.values[table] = Object(line)
        rows.values[key], rows.lines[key] = _fields(value), line
    return tables


def _fields(row: Value) -> Object:
    assert isinstance(row, Object)
    fields, within = Object(row.line), row.values.get("value") if row.values.keys() >= HASH else row
    if not isinstance(within, Object):
        return fields
    for name, value in within.values.items():
        line = within.lines[name]
        if name == "NULL":
            continue
        if name.endswith("@") and isinstance(value, str):
            name, value = name[:-1], value.split(",") if value else []
        fields.values[name], fields.lines[name] = value, line
    return fields


def _plain(value: Value) -> Any:
    if isinstance(value, Object):
        return {key: _plain(part) for key, part in value.values.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
