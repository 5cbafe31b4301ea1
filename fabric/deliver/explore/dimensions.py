"""What a sweep can vary: one line per dimension, each one key of a fabric in the intent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.hardware import catalog

Value = str | int | float | bool
Fabric = dict[str, Any]  # as an intent writes it

OPTION = Place("--vary")
_TIERS = ("leaf", "spine", "core")
MODELS = ("switch", *_TIERS)  # dimensions where a generic switch such as 64x400g is a value too


@dataclass(frozen=True)
class Dimension:
    """One thing to choose: what it is, how its values are read, and how one is put into a fabric.

    `names` are all values where there is a list of them; there a pattern such as `sn5*` stands for all that match.
    """

    what: str
    read: Callable[[str], Value]
    put: Callable[[Fabric, Any], None]
    names: Callable[[], list[str]] = list


def _whole(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) < 1:
        raise ValueError("a whole number from 1")
    return int(text)


def _ratio(text: str) -> float:
    try:
        value = float(text.removesuffix(":1"))
    except ValueError:
        value = 0.0
    if not 0.01 <= value <= 1000:
        raise ValueError("a ratio from 0.01 to 1000 such as 2, or 1.5:1")
    return value


def _tiers(text: str) -> int:
    if text not in ("2", "3"):
        raise ValueError("2 or 3")
    return int(text)


def _yes(text: str) -> bool:
    if text not in ("yes", "no", "true", "false"):
        raise ValueError("yes or no")
    return text in ("yes", "true")


def _topology(*path: str) -> Callable[[Fabric, Any], None]:
    """Sets a key below `topology`."""

    def put(fabric: Fabric, value: Any) -> None:
        place = fabric.setdefault("topology", {})
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = value

    return put


def _switch(fabric: Fabric, value: Any) -> None:
    """One model in every tier; what the intent says of network OSes belongs to the model it had."""
    topology = fabric.setdefault("topology", {})
    for tier in _TIERS:
        topology.get(tier, {}).pop("switch", None)
    topology["switch"] = value
    _any_nos(fabric)


def _tier_switch(tier: str) -> Callable[[Fabric, Any], None]:
    put = _topology(tier, "switch")

    def both(fabric: Fabric, value: Any) -> None:
        put(fabric, value)
        _any_nos(fabric)

    return both


def _any_nos(fabric: Fabric) -> None:
    fabric.pop("nos", None)
    fabric.pop("releases", None)
    for tier in _TIERS:
        fabric["topology"].get(tier, {}).pop("nos", None)


def _server(fabric: Fabric, value: Any) -> None:
    group = the_group(fabric)
    group["model"] = value
    group.pop("nics", None)


def the_group(fabric: Fabric) -> dict[str, Any]:
    """The servers of a fabric that has one group of them. Raises ValueError for several."""
    servers = fabric["servers"]
    if isinstance(servers, list):
        if len(servers) != 1:
            raise ValueError(f"expected one group of servers, got {len(servers)}")
        servers = servers[0]
    group: dict[str, Any] = servers
    return group


def _word(text: str) -> str:
    return text


_KINDS = ("rail-optimized", "rack", "rail-only", "collapsed")

DIMENSIONS: Mapping[str, Dimension] = {
    "server": Dimension("server model", _word, _server, catalog.server_names),
    "switch": Dimension("switch model of every tier", _word, _switch, catalog.switch_names),
    "leaf": Dimension("switch model of the leaves", _word, _tier_switch("leaf"), catalog.switch_names),
    "spine": Dimension("switch model of the spines", _word, _tier_switch("spine"), catalog.switch_names),
    "core": Dimension("switch model of the cores", _word, _tier_switch("core"), catalog.switch_names),
    "kind": Dimension("shape of the topology", _word, _topology("kind"), lambda: list(_KINDS)),
    "tiers": Dimension("switch tiers", _tiers, _topology("tiers")),
    "planes": Dimension("isolated planes", _whole, _topology("planes")),
    "rails": Dimension("rails per unit", _whole, _topology("rails")),
    "unit": Dimension("servers per unit", _whole, _topology("unit", "servers")),
    "oversubscription": Dimension("maximum oversubscription of a leaf", _ratio, _topology("leaf", "oversubscription")),
    "spine-oversubscription": Dimension(
        "maximum oversubscription of a spine", _ratio, _topology("spine", "oversubscription")
    ),
    "dual-tor": Dimension("ports of each NIC on different leaves", _yes, _topology("dual_tor")),
}


def read(text: str, known_models: Mapping[str, list[str]], report: Report) -> tuple[str, tuple[Value, ...]] | None:
    """`oversubscription=1,2,4` → its name and values; None where it is none, which is reported.

    Args:
        own: names beside the catalog's, by dimension: the site's own hardware.
    """
    name, equals, listed = text.partition("=")
    dimension = DIMENSIONS.get(name)
    if dimension is None:
        report.error("FAB102", OPTION, f"unknown dimension {show(name)}", nearest(name, DIMENSIONS))
        return None
    if not equals:
        report.error("FAB102", OPTION, f"expected {name}=VALUE,VALUE, got {show(text)}", dimension.what)
        return None
    values: list[Value] = []
    for word in filter(None, (part.strip() for part in listed.split(","))):
        values += _values(name, dimension, word, known_models.get(name, []), report)
    if not values and not report.errors:
        report.error("FAB102", OPTION, f"{name}: expected values, got none", dimension.what)
    return name, tuple(dict.fromkeys(values))


def _values(name: str, dimension: Dimension, word: str, own_names: list[str], report: Report) -> list[Value]:
    names = [*dimension.names(), *own_names]
    if names and any(sign in word for sign in "*?["):
        matching: list[Value] = [item for item in sorted(names) if fnmatchcase(item, word)]
        if not matching:
            report.error("FAB102", OPTION, f"{name}: no name matches {show(word)}", nearest(word, names))
        return matching
    if names and word not in names and not (name in MODELS and catalog.switch(word)):
        report.error("FAB106", OPTION, f"{name}: unknown {show(word)}", nearest(word, names))
        return []
    try:
        return [dimension.read(word)]
    except ValueError as error:
        report.error("FAB102", OPTION, f"{name}: expected {error}, got {show(word)}", dimension.what)
        return []
