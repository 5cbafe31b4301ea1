"""Cumulus Linux 5.15 renamed half of NVUE's tree. One neutral tree, and this table, give either spelling.

A file in the wrong dialect is refused by the switch as a whole, so the release is an input and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fabric.nos.cumulus.write.tree import ENABLE, Tree, merged
from fabric.nos.target import CannotRender

Release: TypeAlias = tuple[int, ...]

USUAL = "5.15"
OLDEST: Release = (5, 13)  # before it syslog, gNMI and more lie elsewhere
WORDS: Release = (5, 15)  # from here on `enabled`, before `on`


@dataclass(frozen=True, slots=True)
class Move:
    """Where a branch lies in releases before `until`; nowhere when `older` is empty. `*` is any one key."""

    until: Release
    path: str
    older: str


# From "Changes to Command Syntax" of the 5.15 release, but for the last line.
MOVES = (
    Move((5, 15), "interface/*/ipv4/dhcp-client", ""),
    Move((5, 15), "interface/*/ipv4/vrr/vrr-state", "interface/*/ipv4/vrr/state"),
    Move((5, 15), "interface/*/ipv6/vrr/vrr-state", "interface/*/ipv6/vrr/state"),
    Move((5, 15), "interface/*/ipv4", "interface/*/ip"),
    Move((5, 15), "interface/*/ipv6", "interface/*/ip"),
    Move((5, 15), "interface/*/vrf", "interface/*/ip/vrf"),
    Move((5, 15), "system/dns/server/*/vrf", ""),
    Move((5, 15), "system/dns/server", "service/dns/{vrf}/server"),
    Move((5, 15), "system/ntp/server", "service/ntp/{vrf}/server"),
    Move((5, 15), "system/ntp", ""),
    Move((5, 15), "router/bfd", ""),
    Move((5, 15), "vrf/*/router/bgp/peer-group/*/bfd/profile", ""),
    Move((5, 15), "vrf/*/router/bgp/neighbor/*/bfd/profile", ""),
    Move((5, 16), "system/date-time/timezone", "system/timezone"),
)

# What only the older releases say: dropped from this release on.
DROPS = (
    ((5, 15), "interface/*/ipv4/address/dhcp"),
    *(
        ((5, 15), f"vrf/*/router/bgp/{what}/*/bfd/{word}")
        for what in ("peer-group", "neighbor")
        for word in (ENABLE, "detect-multiplier", "min-rx-interval", "min-tx-interval")
    ),
)


def release(text: str) -> Release:
    """`5.14`, `5.15.1`; "" is the usual one."""
    refusal = release_refusal(text)
    if refusal is not None:
        raise CannotRender(f"release of Cumulus Linux: {refusal}")
    return _number(text)


def release_refusal(text: str) -> str | None:
    """Why no dialect here is that release's: "expected …, got …"; None where one is."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", text or USUAL) is None:
        return f"expected a release of Cumulus Linux such as {USUAL}, got {text!r}"
    number = _number(text)
    if number >= OLDEST and number[0] == OLDEST[0]:
        return None
    first = ".".join(map(str, OLDEST))
    return f"expected {first} to {OLDEST[0]}.x, whose NVUE speaks one of the two dialects known here, got {text}"


def _number(text: str) -> Release:
    return tuple(int(part) for part in (text or USUAL).split("."))


def spelled(tree: Mapping[str, Any], number: Release, vrf: str) -> Tree:
    """The tree in the words of one release; `vrf` is where the management services live."""
    result = merged(tree)
    for since, path in DROPS:
        if number >= since:
            _moved(result, path, "")
    for move in MOVES:
        if number < move.until:
            _moved(result, move.path, move.older.format(vrf=vrf))
    return _words(result, number >= WORDS)


def _words(tree: Mapping[str, Any], new: bool) -> Tree:
    """Switches as words; branches that the moves left empty stay, for an empty branch is NVUE's way to name a thing."""
    yes, no = ("enabled", "disabled") if new else ("on", "off")
    feature = "state" if new else "enable"
    result: Tree = {}
    for key, value in tree.items():
        name = feature if key == ENABLE else key
        if isinstance(value, Mapping):
            result[name] = _words(value, new)
        elif isinstance(value, bool):
            result[name] = yes if value else no
        else:
            result[name] = value
    return result


def _moved(tree: Tree, path: str, older: str) -> None:
    steps = path.split("/")
    for found in list(_found(tree, steps)):
        value = _taken(tree, found, steps)
        if older:
            stars = iter([name for name, step in zip(found, steps, strict=True) if step == "*"])
            target = [next(stars) if step == "*" else step for step in older.split("/")]
            _placed(tree, target, value)


def _found(tree: Any, steps: list[str], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths in the tree that a pattern names."""
    if not steps:
        yield above
    elif isinstance(tree, Mapping):
        for key in list(tree) if steps[0] == "*" else [steps[0]]:
            if key in tree:
                yield from _found(tree[key], steps[1:], (*above, key))


def _taken(tree: Tree, path: tuple[str, ...], steps: list[str]) -> Any:
    """Removes a branch, and what held nothing else; a member of a collection stays, empty as it is."""
    if len(path) == 1:
        return tree.pop(path[0])
    inner: Tree = tree[path[0]]
    value = _taken(inner, path[1:], steps[1:])
    if not inner and steps[0] != "*":
        del tree[path[0]]
    return value


def _placed(tree: Tree, path: list[str], value: Any) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    there = tree.get(path[-1])
    tree[path[-1]] = merged(there, value) if isinstance(there, Mapping) and isinstance(value, Mapping) else value
