"""The shortest statement of a fabric: every key goes whose absence changes nothing that cables show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from fabric.deliver.brownfield.draft.statement import Document
from fabric.deliver.brownfield.draft.uplinks import RATIOS

Path = tuple[str, ...]
Alike = Callable[[Document], bool]

# Keys that may go, in the order in which they are tried; the last first where two say the same.
_COUNTS: tuple[Path, ...] = (
    ("core", "groups"),
    ("core", "count"),
    ("spine", "uplinks"),
    ("pods",),
    ("leaf", "uplinks"),
    ("leaf", "uplinks", "speed_gbps"),
    ("spine", "count"),
    ("spine", "uplinks", "speed_gbps"),
)
_RATIO: tuple[Path, ...] = (("leaf", "oversubscription"), ("leaf", "spare_server_ports"), ("spine", "min_count"))
_FORM: tuple[Path, ...] = (("tiers",), ("kind",), ("rails",), ("dual_tor",))
_UNIT: tuple[Path, ...] = (("unit",),)
ORDERS: tuple[tuple[Path, ...], ...] = (
    (*_RATIO, *_FORM, *_UNIT, *_COUNTS, *_FORM),
    (*_RATIO, *_FORM, *_COUNTS, *_UNIT, *_FORM),
)
OF_SERVERS = ("per_rack", "unit", "nic_breakout", "leaves")


def shortest(fabric: Document, alike: Alike) -> Document:
    """The fabric without the keys of its topology and servers that change nothing.

    Args:
        fabric: a full statement.
        alike: whether another one is cabled alike.
    """
    found = [_reduced(fabric, order, alike) for order in ORDERS]
    # A ratio beside a larger unit keeps ports for servers that are not there, which the configs show as free.
    return min(found, key=_length)


def _length(fabric: Document) -> tuple[int, bool, bool]:
    topology = fabric["topology"]
    return _size(fabric), "oversubscription" in topology.get("leaf", {}), "unit" in topology


def _size(value: Any) -> int:
    """Lines of a value, roughly: its keys and entries."""
    if isinstance(value, dict):
        return sum(1 + _size(its) for its in value.values())
    return sum(map(_size, value)) if isinstance(value, list) else 0


def _reduced(fabric: Document, order: Sequence[Path], alike: Alike) -> Document:
    best = fabric
    for path in order:
        for other in _without(best, path):
            if alike(other):
                best = other
                break
    for key in ("links", "speed_gbps") if "below" in best else ():
        other = deepcopy(best)
        del other["below"][key]
        best = other if alike(other) else best
    for at in range(len(best.get("servers", ()))):
        for key in OF_SERVERS:
            if key in best["servers"][at]:
                other = deepcopy(best)
                del other["servers"][at][key]
                best = other if alike(other) else best
    return best


def _without(fabric: Document, path: Path) -> Iterator[Document]:
    """The fabric without a key of its topology; of uplinks then with the ratio that they make, where it is a plain one."""
    if _at(fabric["topology"], path) is None:
        return
    other = deepcopy(fabric)
    _remove(other["topology"], path)
    yield other
    if path == ("leaf", "uplinks") and "servers" in fabric:
        for ratio in RATIOS:
            again = deepcopy(other)
            again["topology"].setdefault("leaf", {})["oversubscription"] = ratio
            yield again


def _at(part: Any, path: Path) -> Any:
    for key in path:
        part = part.get(key) if isinstance(part, dict) else None
    return part


def _remove(part: Document, path: Path) -> None:
    """Removes a key, and the mappings that are empty without it."""
    if len(path) > 1:
        _remove(part[path[0]], path[1:])
        if part[path[0]]:
            return
    del part[path[0]]
