"""What a sweep can vary, one line per dimension, and every combination of the chosen values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.formats import json_line
from fabric.base.rounding import ceil_div
from fabric.design.intent.rewrite import OneFabric
from fabric.hardware import catalog
from fabric.model.plan import FabricSpec
from fabric.model.plan.spec import SWITCHLESS
from fabric.model.settings.site import OwnCatalog

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
    if text not in ("1", "2", "3"):
        raise ValueError("1, 2 or 3")
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


_KINDS = ("rail-optimized", "rack", "rail-only", "collapsed", *SWITCHLESS)

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


# --- combinations ---------------------------------------------------------------------------------------------

Choice = tuple[tuple[str, Value], ...]  # (dimension, value) in the order of DIMENSIONS
MAX_DESIGNS = 100_000  # designs of one sweep


@dataclass(frozen=True)
class Base:
    """The intent that designs start from: its data with one fabric alone, as JSON, and the file's name in messages."""

    text: str
    shown: str
    fabric: str
    others: int = 0  # fabrics of the site that are left out

    @staticmethod
    def of(fabric: OneFabric) -> Base:
        return Base(json_line(fabric.data, sort_keys=True), fabric.file, fabric.name, fabric.others)

    def design(self, choice: Choice, gpus: int | None) -> dict[str, Any]:
        """The intent of one design, with enough servers for so many GPUs. Raises ValueError where it cannot be written."""
        data: dict[str, Any] = json.loads(self.text)
        fabric = data["fabrics"][self.fabric]
        for name, value in choice:
            DIMENSIONS[name].put(fabric, value)
        if gpus is not None:
            group = the_group(fabric)
            group["count"] = ceil_div(gpus, _gpus_of(group["model"], data))
        return data


def _gpus_of(model: str, data: Mapping[str, Any]) -> int:
    """GPUs of a server. Raises ValueError for one that has none."""
    own = data.get("catalog", {}).get("servers", {}).get(model)
    server = catalog.server(model)
    gpus = int(own.get("gpus", 0)) if own else server.gpus if server else 0
    if gpus < 1:
        raise ValueError(f"server {model} has no GPUs")
    return gpus


def choices(dimensions: Mapping[str, Sequence[Value]]) -> list[Choice]:
    """Every combination, in the order of the values. Raises InputError where there are more than MAX_DESIGNS."""
    count = 1
    for values in dimensions.values():
        count *= len(values)
    if count > MAX_DESIGNS:
        message = f"expected at most {MAX_DESIGNS:,} designs, got {count:,}"
        Report().fail("FAB104", OPTION, message, "reduce the values or the dimensions")
    names = [name for name in DIMENSIONS if name in dimensions]
    return [tuple(zip(names, values, strict=True)) for values in product(*(dimensions[name] for name in names))]


def usual(spec: FabricSpec, own_catalog: OwnCatalog) -> dict[str, tuple[Value, ...]]:
    """Default dimensions: switches that suit the NICs, shapes, planes, tiers and oversubscription."""
    ports = spec.groups[0].nic.ports
    planes = [count for count in range(1, ports + 1) if ports % count == 0]
    return {
        "switch": tuple(_suited(spec, own_catalog)),
        "kind": ("rail-optimized", "rack", "rail-only"),
        "oversubscription": (1.0, 2.0, 4.0),
        "tiers": (2, 3),
        "planes": tuple(planes),
    }


def _suited(spec: FabricSpec, own: OwnCatalog) -> list[str]:
    """The intent's own leaf, and switches of its technology as fast as a NIC port and no more than four times as fast."""
    speed, found = spec.groups[0].nic.speed_gbps, {spec.leaf.switch} - {""}
    for name in (*catalog.switch_names(), *own.switches):
        model = own.switch(name)
        assert model is not None
        fits = speed in model.speeds and model.native_gbps <= 4 * speed and model.cages >= 16
        if fits and model.technology == spec.leaf.model.technology:
            found.add(name)
    return sorted(found)
