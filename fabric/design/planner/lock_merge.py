"""Resolves duplicates in a merged lock (ids and ports of attachments), which planning needs before sizing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabric.base.text import listed
from fabric.design.planner.lock_repair import LostRows, settle
from fabric.design.planner.number_space import NumberSpace
from fabric.model.plan import Block
from fabric.model.plan.lock import FabricLock, Lock, PortSpot

IDS = ("unit", "rack", "pod", "leaf", "spine", "core")
MAX_IDS = 2**31


@dataclass(frozen=True, slots=True)
class Change:
    """Numbers of a fabric that change, in words."""

    fabric: str
    text: str


def id_spaces(fabric: str) -> list[tuple[str, NumberSpace]]:
    """The number spaces of one fabric's ids, by the prefix of their keys."""
    return [(f"{fabric}:id/{kind}", NumberSpace([(0, MAX_IDS)])) for kind in IDS]


def belongs(key: str, prefix: str) -> bool:
    """Whether an area is one of those that share a space."""
    return key == prefix or key.startswith(prefix + "/")


def settled(lock: Lock, attachments: Mapping[str, Collection[str]]) -> tuple[Lock, list[Change]]:
    """The lock without duplicate ids and leaf ports, and the numbers that change.

    Args:
        attachments: names of the attachments that the intent has, by fabric.
    """
    fabrics: dict[str, FabricLock] = {}
    changes: list[Change] = []
    for name, entry in lock.fabrics.items():
        blocks, lost = _ids(entry.blocks)
        changes += [Change(name, in_words(item)) for item in lost]
        spots, moved = _spots(entry.attachments, attachments.get(name, ()), _contested(lost))
        changes += [Change(name, f"attachment {attachment}: port {port}") for attachment, port in moved]
        fabrics[name] = replace(entry, blocks=blocks, attachments=spots)
    return Lock(fabrics), changes


HINT = (
    "two branches assigned the same numbers; numbers assigned before the branches split are kept. "
    "`fabric plan FILE --against git:BRANCH` lists what changes for a branch"
)


def message(fabric: str, texts: Sequence[str]) -> str:
    """The warning of numbers that change by a merge."""
    return f"fabric '{fabric}': numbers that one branch gave out change ({listed(texts)})"


def in_words(lost: LostRows) -> str:
    """Which rows change, as the lock file names them."""
    return f"{lost.key} rows={lost.row}-{lost.row_end - 1}"


def _ids(blocks: Mapping[str, tuple[Block, ...]]) -> tuple[dict[str, tuple[Block, ...]], list[LostRows]]:
    result, lost = dict(blocks), list[LostRows]()
    for prefix, space in id_spaces(""):
        of_space = {key: known for key, known in blocks.items() if belongs(f":{key}", prefix)}
        kept, dropped = settle(of_space, dict.fromkeys(of_space, space))
        result |= kept
        lost += dropped
    return result, lost


def _contested(lost: list[LostRows]) -> list[tuple[int, int]]:
    """Numbers of leaves that two branches gave to leaves of their own, from 1."""
    return [(item.numbers[0] + 1, item.numbers[1] + 1) for item in lost if item.key.startswith("id/leaf/")]


def _spots(
    spots: Mapping[str, tuple[PortSpot, ...]], present: Collection[str], contested: list[tuple[int, int]]
) -> tuple[dict[str, tuple[PortSpot, ...]], list[tuple[str, int]]]:
    """One leaf port for each port of an attachment, and no leaf port twice; those of the intent come first.

    A port on a leaf whose number two branches gave away is new on its branch, and may be on another leaf by now.
    """
    used: set[tuple[int, int]] = set()
    result: dict[str, tuple[PortSpot, ...]] = {}
    moved: list[tuple[str, int]] = []
    for attachment in sorted(spots, key=lambda name: (name not in present, name)):
        spot_of: dict[int, PortSpot] = {}
        for spot in sorted(spots[attachment]):
            free = (spot.leaf, spot.slot) not in used and not any(low <= spot.leaf < end for low, end in contested)
            if spot.port not in spot_of and free:
                spot_of[spot.port] = spot
                used.add((spot.leaf, spot.slot))
        ports = {spot.port for spot in spots[attachment]}
        changed = {port for port in ports if port not in spot_of or sum(s.port == port for s in spots[attachment]) > 1}
        moved += [(attachment, port) for port in sorted(changed)]
        result[attachment] = tuple(spot_of[port] for port in sorted(spot_of))
    return dict(sorted(result.items())), moved


def leaf_ports(spots: Mapping[str, tuple[PortSpot, ...]], links: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """(leaf, slot) of all ports; of an attachment with fewer links than before, only of those."""
    for attachment, ports in spots.items():
        yield from ((spot.leaf, spot.slot) for spot in ports if spot.port <= links.get(attachment, spot.port))
