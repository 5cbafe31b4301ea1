"""JSON whose keys know their lines, read as far as possible where it is damaged."""

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
