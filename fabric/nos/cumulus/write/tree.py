"""The tree that startup.yaml is: neutral, spelled in the words of one release, and printed as NVUE reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from fabric.nos.target import CannotRender

# --- The neutral tree -----------------------------------------------------------------------------------------

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


# --- Spelling: Cumulus Linux 5.15 renamed half of the tree ----------------------------------------------------

Release: TypeAlias = tuple[int, ...]

USUAL = "5.15"
OLDEST: Release = (5, 13)  # earlier releases have syslog, gNMI and others at other paths
WORDS: Release = (5, 15)  # from this release on `enabled`, earlier `on`


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
    Move((5, 15), "system/aaa/authentication", ""),
    Move((5, 15), "router/bfd", ""),
    Move((5, 15), "vrf/*/router/bgp/peer-group/*/bfd/profile", ""),
    Move((5, 15), "vrf/*/router/bgp/neighbor/*/bfd/profile", ""),
    Move((5, 16), "system/date-time/timezone", "system/timezone"),
)

# Keys of earlier releases only.
DROPS = (
    ((5, 15), "interface/*/ipv4/address/dhcp"),
    ((5, 15), "system/aaa/authentication-order"),
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
    return _release(text)


def release_refusal(text: str) -> str | None:
    """Why no dialect here is that release's: "expected …, got …"; None where one is."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+){1,3}", text or USUAL) is None:
        return f"expected a release of Cumulus Linux such as {USUAL}, got {text!r}"
    number = _release(text)
    if number >= OLDEST and number[0] == OLDEST[0]:
        return None
    first = ".".join(map(str, OLDEST))
    return f"expected {first} to {OLDEST[0]}.x, whose NVUE speaks one of the two dialects known here, got {text}"


def _release(text: str) -> Release:
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


# --- YAML: block style, the key order of NVUE, every doubtful word in quotes ----------------------------------

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
        return _plain_number(value)
    raise TypeError(f"{value!r} has no place in YAML")


def _plain_number(value: float) -> str:
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
