"""YAML as NVUE reads it: block style, keys in NVUE's own order, every doubtful word in quotes.

A general dumper is slow and leaves it to the reader's YAML version whether `on` is a word or a truth, `10` a key or a
number, and `44:38:39:00:00:01` a MAC address or a count in base sixty. Here nothing is left to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+(?:/[0-9]+)?")
NO_WORD = frozenset({"on", "off", "yes", "no", "y", "n", "true", "false", "null"})  # another type in YAML 1.1
STEP = "  "


def dump(tree: Mapping[Any, Any], indent: int = 0) -> str:
    """Lines of one mapping, with the line end of the last; the empty mapping has no block form."""
    return "".join(f"{line}\n" for line in _mapping(tree, STEP * indent)) if tree else "{}\n"


def _mapping(tree: Mapping[Any, Any], margin: str) -> Iterator[str]:
    for key in sorted(tree, key=_order):
        value, name = tree[key], scalar(key)
        if isinstance(value, Mapping) and value:
            yield f"{margin}{name}:"
            yield from _mapping(value, margin + STEP)
        elif isinstance(value, (list, tuple)) and value:
            yield f"{margin}{name}:"
            yield from _items(value, margin + STEP)
        else:
            yield f"{margin}{name}: {_leaf(value)}"


def _items(values: list[Any] | tuple[Any, ...], margin: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, (Mapping, list, tuple)) and value:
            lines = _mapping(value, "") if isinstance(value, Mapping) else _items(value, "")
            for n, line in enumerate(lines):
                yield f"{margin}{STEP if n else '- '}{line}"
        else:
            yield f"{margin}- {_leaf(value)}"


def _leaf(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    return "[]" if isinstance(value, (list, tuple)) else scalar(value)


def scalar(value: object) -> str:
    """One word, number or truth on one line."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, float)):
        return _number(value)
    raise TypeError(f"{value!r} has no place in YAML")


def _number(value: float) -> str:
    text = repr(value)
    if text.lstrip("-") in ("inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    # YAML 1.1 wants a point and a signed exponent in a number that is not whole.
    return f"{float(value):.17e}" if "e" in text else text


@lru_cache(maxsize=4096)
def _text(value: str) -> str:
    if WORD.fullmatch(value) and value.lower() not in NO_WORD:
        return value
    if all(_plain(sign) for sign in value):
        return "'" + value.replace("'", "''") + "'"
    return '"' + "".join(_escaped(sign) for sign in value) + '"'


def _plain(sign: str) -> bool:
    """What stays itself between single quotes: not line ends, of which Unicode has some of its own."""
    return " " <= sign <= "~" or ("\u00a0" <= sign <= "\ud7ff" and sign not in "\u2028\u2029")


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    return sign if " " <= sign <= "~" else f"\\U{ord(sign):08X}"


@lru_cache(maxsize=4096)
def _parts(key: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", key))


def _order(key: object) -> tuple[tuple[int, str], ...]:
    """swp8 before swp16, rule 20 before rule 100."""
    return _parts(str(key))
