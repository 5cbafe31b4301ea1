"""Documents that are compared: the leaves of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flat(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values of the leaves; entries of a list go by their names where they have one."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from flat(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree):
        for at, item in enumerate(tree):
            yield from flat(item, f"{path}[{item.get('name') or at}]" if isinstance(item, Mapping) else f"{path}[{at}]")
    else:
        yield path, tree
