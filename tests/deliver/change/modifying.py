"""Modifications of an intent, one kind for each key of the language: its value changes, or the key comes or goes.

A value is drawn by its type, by the words of the random designs, or taken from one of many designs of the same network OS
(`Values`), so that a key that only a careful draw can fill is modified too: tenants, attachments, releases, links. What more
than one key has to do with is a kind of its own (`TOGETHER`): servers change their tenant, tenants exchange theirs.
"""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fabric.design.intent.load import schema
from tests.audit.diff.candidate import designs
from tests.system.random_designs import drawing, everyday, keys
from tests.system.random_designs.swapping import swapped
from tests.system.random_designs.words import TEXTS

SOURCES = 300  # designs that values are taken from
TAKEN_OUT = 0.3  # share of the modifications of a key that is there
OF_A_DESIGN = 0.6  # share of the values that come from another design
WITHOUT_FILE = (  # keys that no file of a switch depends on: never the only modification of a pair
    "version",
    "site",
    "checks",
    "fabrics.NAME.checks",
    "floor",
    "management.day_zero",
    "fabrics.NAME.management.day_zero",
    "output",
    "fabrics.NAME.topology.planes_active",
    "catalog.servers.NAME.gpu",
    "catalog.servers.NAME.maker",
    "catalog.servers.NAME.description",
    "catalog.servers.NAME.source",
    "catalog.servers.NAME.power_",
    "catalog.servers.NAME.rack_units",
    "catalog.servers.NAME.nvlink_",
    "catalog.switches.NAME.power_",
    "catalog.switches.NAME.rack_units",
    "catalog.switches.NAME.latency_ns",
    "catalog.switches.NAME.source",
    "catalog.switches.NAME.description",
)

Intent = dict[str, Any]
Values = Mapping[str, Sequence[Any]]  # key → values that designs have


def kinds() -> list[str]:
    """Every kind: the keys of the language, and what takes several."""
    return [*keys.paths(), *TOGETHER, SWAPPED]


def is_without_file(kind: str) -> bool:
    return kind.startswith(WITHOUT_FILE)


def design(nos: str, seed: int, number: int) -> drawing.Design:
    """A random design of a network OS; every third one is an everyday design."""
    if number % 3:
        return designs.drawn(nos, seed, number)
    with patch.object(drawing, "SYSTEMS", (nos,)), patch.object(everyday, "SYSTEMS", (nos,)):
        for at in range(20):
            try:
                return everyday.draw_everyday(seed, 20 * number + at)
            except AssertionError:  # no switch of that network OS does what the kind asks for
                continue
    return designs.drawn(nos, seed, number)


@cache
def values(nos: str) -> Values:
    """What designs of a network OS state, by key; none twice."""
    found: dict[str, dict[str, Any]] = {}
    for number in range(SOURCES):
        for path, value in _stated(design(nos, 0, number).intent):
            found.setdefault(path, {}).setdefault(repr(value), value)
    return {path: list(its.values()) for path, its in found.items()}


def _stated(value: Any, node: keys.Node | None = None, at: str = "") -> Iterator[tuple[str, Any]]:
    """(key, its value) of everything that an intent states, as `keys.used`."""
    known = keys.children(schema() if node is None else node)
    if isinstance(value, list):
        for item in value:
            yield from _stated(item, node, at)
    elif isinstance(value, dict) and at not in keys.FREE:
        for key, item in value.items():
            name = key if key in known else "NAME"
            path = f"{at}.{name}".lstrip(".")
            if name != "NAME":
                yield path, item
            if name in known:
                yield from _stated(item, known[name], path)


# --- one modification -----------------------------------------------------------------------------------------


def modified(rng: random.Random, intent: Intent, kind: str, known: Values, *, new: bool = True) -> bool:
    """Makes a modification of a kind in the intent itself; False where there is nothing to modify.

    `new`: also where the mapping that the key is in is not stated.
    """
    before = copy.deepcopy(intent)
    if kind in TOGETHER:
        with suppress(AttributeError, IndexError, KeyError, TypeError):  # what another modification left
            TOGETHER[kind](rng, rng.choice(list(intent["fabrics"].values())))
        return intent != before
    if kind == SWAPPED:
        return _swapped(rng, intent)
    places = [place for place in _places(intent, kind.split(".")) if new or len(place[1]) == 1]
    if not places:
        return False
    node, path = rng.choice(places)
    if len(path) == 1 and path[0] in node and rng.random() < TAKEN_OUT:
        del node[path[0]]
        return True
    try:
        value = _value(rng, kind, known)
    except KeyError:
        return False
    for key in path[:-1]:
        if not isinstance(node.get(key), dict):  # a short form
            node[key] = {}
        node = node[key]
    node[path[-1]] = copy.deepcopy(value)
    return intent != before


def _places(node: Any, path: list[str]) -> Iterator[tuple[Intent, list[str]]]:
    """(mapping, path in it) of every place where the key is or could be."""
    if isinstance(node, list):
        for item in node:
            yield from _places(item, path)
    elif isinstance(node, dict):
        head, *rest = path
        if head == "NAME":
            for item in node.values():
                yield from _places(item, rest)
        elif rest and isinstance(node.get(head), dict | list):
            yield from _places(node[head], rest)
        elif "NAME" not in rest:
            yield node, path


def _value(rng: random.Random, kind: str, known: Values) -> Any:
    """A value of a key. KeyError where none is known."""
    if kind in known and rng.random() < OF_A_DESIGN:
        return rng.choice(known[kind])
    if kind in TEXTS:
        return TEXTS[kind](rng)
    node = keys.node_at(kind)
    if keys.children(node):
        return rng.choice(known[kind])
    try:
        return keys.value(rng, keys.resolved(node), kind)
    except KeyError:
        return rng.choice(known[kind])


# --- kinds of several keys --------------------------------------------------------------------------------------


def _tenants(fabric: Intent) -> list[Intent]:
    tenants = fabric.get("tenants") or []
    return [tenants] if isinstance(tenants, dict) else tenants


def _moved_server(rng: random.Random, fabric: Intent) -> None:
    """One server moves to another tenant."""
    named = [tenant for tenant in _tenants(fabric) if isinstance(tenant.get("servers"), list)]
    if len(named) > 1:
        giver, taker = rng.sample(named, 2)
        if len(giver["servers"]) > 1:
            taker["servers"].append(giver["servers"].pop(rng.randrange(len(giver["servers"]))))


def _exchanged_values(key: str) -> Callable[[random.Random, Intent], None]:
    """Two networks exchange a value."""

    def change(rng: random.Random, fabric: Intent) -> None:
        networks = [network for tenant in _tenants(fabric) for network in tenant.get("networks") or () if key in network]
        if len(networks) > 1:
            one, other = rng.sample(networks, 2)
            one[key], other[key] = other[key], one[key]

    return change


def _swapped(rng: random.Random, intent: Intent) -> bool:
    """Cables between switches, other than the rule has them."""
    with tempfile.TemporaryDirectory() as folder:
        found = swapped(drawing.Design("", intent), Path(folder), rng) if "fabrics" in intent else None
    intent |= found.intent if found else {}
    return found is not None


def _other_order(rng: random.Random, fabric: Intent) -> None:
    """Groups of servers, tenants, attachments or networks in another order."""
    lists = [fabric.get("servers"), fabric.get("tenants"), fabric["topology"].get("attachments")]
    lists += [tenant.get("networks") for tenant in _tenants(fabric)]
    for its in lists:
        if isinstance(its, list):
            rng.shuffle(its)


_NAMED: Mapping[str, Callable[[random.Random, Intent], None]] = {
    **{change.__name__.strip("_").replace("_", " "): change for change in designs.CHANGES},
    "moved server": _moved_server,
    "exchanged VLANs": _exchanged_values("vlan"),
    "exchanged VNIs": _exchanged_values("vni"),
    "exchanged gateways": _exchanged_values("gateway"),
    "exchanged network names": _exchanged_values("name"),
    "other order": _other_order,
}
SWAPPED = "together: swapped cables"
TOGETHER = {f"together: {name}": change for name, change in _NAMED.items()}
