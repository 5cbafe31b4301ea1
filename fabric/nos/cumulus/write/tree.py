"""The tree that NVUE's startup.yaml is, before it is spelled in the words of one release.

It speaks as the newest known release does, with two exceptions: switches are Python's True and False, and the switch of a
feature itself stands under ENABLE. `cumulus_dialect` turns both into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Tree: TypeAlias = dict[str, Any]

ENABLE = "<enable>"  # `state: enabled`, before 5.15 `enable: on`


def merged(*trees: Mapping[str, Any]) -> Tree:
    """One tree of several; where two say something about the same leaf, the later one is right."""
    result: Tree = {}
    for tree in trees:
        for key, value in tree.items():
            if isinstance(value, Mapping):
                there = result.get(key)
                value = merged(there, value) if isinstance(there, Mapping) else merged(value)
            result[key] = value
    return result


def keys(names: Iterable[object]) -> Tree:
    """A collection: NVUE writes its members as keys without a value."""
    return {str(name): {} for name in names}


def bare(address: str) -> str:
    """An address without its length."""
    return address.partition("/")[0]


def family(address: str) -> str:
    return "ipv6" if ":" in address else "ipv4"


def addressed(address: str) -> Tree:
    """An interface's address, under its family."""
    return {family(address): {"address": {address: {}}}}
