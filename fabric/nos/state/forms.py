"""By what a reader recognizes an output: predicates of one JSON value, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fabric.nos.lldp.output import first
from fabric.nos.state.reader import Knows


def having(*keys: str) -> Knows:
    """Outputs that are a mapping with some keys."""
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


def having_any(*keys: str) -> Knows:
    """Outputs that are a mapping with one of some keys."""
    return lambda value: isinstance(value, dict) and any(key in value for key in keys)


def table(key: str, *fields: str) -> Knows:
    """Outputs with a table by name under a key, whose rows have one of some fields; of any rows where none is named."""

    def knows(value: Any) -> bool:
        found = value.get(key) if isinstance(value, dict) else None
        if not isinstance(found, dict) or not fields:
            return isinstance(found, dict)
        return any(field in row for row in found.values() if isinstance(row, dict) for field in fields)

    return knows


def by_name(*paths: str) -> Knows:
    """Outputs that are a table by name, of which some row has a value at one of some paths: `link.oper-status`."""
    every = [path.split(".") for path in paths]

    def knows(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        return any(_at(row, path) is not None for row in value.values() if isinstance(row, dict) for path in every)

    return knows


def both(one: Knows, other: Knows) -> Knows:
    """Outputs that two predicates know."""
    return lambda value: one(value) and other(value)


def _at(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def each(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, row) of a table by name; of nothing where it is no table."""
    for name, row in first(value).items():
        yield name, first(row)
