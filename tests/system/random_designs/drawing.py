"""Draws a design: the shape and the tenants with care, so that most can be built; options from the JSON Schema."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fabric.hardware import catalog
from fabric.hardware.catalog.models import SwitchModel
from fabric.nos.target import target
from tests.system.random_designs import subnets
from tests.system.random_designs.able import keep_able, keep_manageable, management_net
from tests.system.random_designs.below import hang
from tests.system.random_designs.converging import converge
from tests.system.random_designs.dividing import divide
from tests.system.random_designs.enlarging import enlarge
from tests.system.random_designs.keys import drawn
from tests.system.random_designs.plane_names import name_ports, take_out
from tests.system.random_designs.tenants import draw_tenants
from tests.system.random_designs.words import (
    COMMENTS,
    KIND_NAMES,
    PATCHES,
    RATIOS,
    SERVER_NAMES,
    SILENCED,
    SWITCH_NAMES,
    TEMPLATES,
    TEXTS,
)

SYSTEMS = ("cumulus", "eos", "frr", "junos", "nxos", "sonic")
KINDS = ("rack", "rack", "rack", "rail-optimized", "rail-optimized", "rail-only", "collapsed")
BELOW = 0.15  # share of the designs that may get bridges below a fabric
SUBNETS = 0.04  # share of the designs with a fabric of InfiniBand
ENLARGED = 0.5  # share of the designs that get more servers, attachments and tenants
CONVERGED = 0.2  # share of them whose leaves carry NICs of several purposes
SKIPPED = frozenset(  # keys that the shape of the design decides
    {
        "management.gateway",
        "fabrics.NAME.management.gateway",
        "fabrics.NAME.underlay.addressing",
        "fabrics.NAME.underlay.server_subnets",
        "fabrics.NAME.overlay.kind",
        "fabrics.NAME.overlay.isolation",
        "fabrics.NAME.qos.storage",
        "floor.places",
    }
)


@dataclass(frozen=True)
class Design:
    """An intent, the files beside it, and what kind of design it is, "" for any."""

    name: str
    intent: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    kind: str = ""

    @property
    def text(self) -> str:
        """The intent as a file; JSON is YAML."""
        return json.dumps(self.intent, indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Part:
    """What is decided of a fabric before its tenants."""

    name: str
    kind: str
    isolation: str  # "none", "evpn", "vrf-lite" or "acl"
    addressing: str
    systems: dict[str, str]  # role → network OS
    layer2: bool  # its leaves carry layer-2 networks
    bonds: bool  # … also to servers on two leaves
    groups: tuple[dict[str, Any], ...]
    rails: int
    server_names: str
    site: str
    port_gbps: int  # of servers
    models: dict[str, SwitchModel]  # role → switch

    def can(self, what: str) -> bool:
        """Whether every switch has a capability."""
        return all(target(self.systems[role]).can(model, what) for role, model in self.models.items())


def draw(seed: int, index: int, converged: float = CONVERGED) -> Design:
    """The design of that number; the same in every run. `converged`: share of the designs that are."""
    rng = random.Random(f"{seed}/{index}")
    name = f"d{index:05}"
    intent: dict[str, Any] = {"version": 1, "site": name, "catalog": {"servers": {}, "switches": {}}, "fabrics": {}}
    files: dict[str, str] = {}
    parts: list[Part] = []
    for at in range(rng.choices((1, 2, 3), (76, 19, 5))[0]):
        parts.append(_fabric(rng, intent, at, parts[0] if parts and rng.random() < 0.5 else None))
    _site(rng, intent, parts, files)
    chance = random.Random(f"{seed}/{index}/enlarged")  # its own numbers: the other designs of a seed stay what they were
    if chance.random() < ENLARGED:
        enlarge(chance, intent, parts, files)
    apart = random.Random(f"{seed}/{index}/converged")
    if apart.random() < converged:
        converge(apart, intent, parts)
    divide(random.Random(f"{seed}/{index}/divided"), intent, parts)
    lower = random.Random(f"{seed}/{index}/below")
    if lower.random() < BELOW:
        hang(lower, intent, parts)
    name_ports(random.Random(f"{seed}/{index}/planes"), intent, parts)
    take_out(random.Random(f"{seed}/{index}/active"), intent)
    fast = random.Random(f"{seed}/{index}/subnets")
    if fast.random() < SUBNETS:
        subnets.add(fast, intent, files)
    return Design(name, intent, files)


# --- one fabric ---------------------------------------------------------------------------------------------


def _fabric(rng: random.Random, intent: dict[str, Any], at: int, beside: Part | None) -> Part:
    """One fabric; `beside` another one, whose servers it connects by NICs of their own."""
    name = ("backend", "storage", "frontend")[at]
    purpose = rng.choice(("compute", "compute", "storage", "frontend", "oob"))
    kind = rng.choice(KINDS)
    isolation = rng.choices(("none", "evpn", "vrf-lite", "acl"), (30, 40, 18, 12))[0]
    addressing = rng.choice({"evpn": ("ipv4", "unnumbered"), "vrf-lite": ("ipv4", "ipv6")}.get(isolation, _ADDRESSING))
    systems = _systems(rng)
    layer2 = isolation == "evpn" and rng.random() < 0.7
    dual_tor = kind != "collapsed" and rng.random() < 0.25
    bonds = layer2 and (dual_tor or kind == "collapsed")
    if bonds and systems["leaf"] == "frr":  # bonds no server to two leaves
        systems = dict.fromkeys(systems, rng.choice(("sonic", "eos", "nxos", "junos", "cumulus")))
    three = kind != "collapsed" and rng.random() < 0.1
    leaf, spine = _switches(rng, intent, systems, isolation, layer2, bonds)
    planes = 2 if kind not in ("collapsed",) and not bonds and rng.random() < 0.12 else 1
    speed = _speed(rng, leaf[1], spine[1])
    ports = 2 if dual_tor or planes > 1 or bonds else 1
    groups, rails = _groups(rng, intent, at, kind, purpose, speed, ports=ports)
    if beside is not None:
        groups = _same_servers(intent, groups, beside, kind)
    topology = _topology(rng, kind, groups, leaf, spine, systems, three=three)
    if rails and rng.random() < 0.3 and kind in ("rail-optimized", "rail-only"):
        topology["rails"] = rails = rng.choice([n for n in (1, 2, rails) if rails % n == 0])
    topology |= {"planes": planes} if planes > 1 else {}
    topology |= {"dual_tor": True} if dual_tor else {}
    fabric: dict[str, Any] = {"purpose": purpose, "servers": list(groups), "topology": topology}
    if len(groups) == 1 and rng.random() < 0.5:
        fabric["servers"] = groups[0]
    same = len(set(systems.values())) == 1
    fabric["nos"] = systems["leaf"] if same else dict(systems)
    if not same and rng.random() < 0.3:
        for role, nos in systems.items():
            topology.setdefault(role, {})["nos"] = nos
        del fabric["nos"]
    servers = rng.choice(SERVER_NAMES) if rng.random() < 0.2 else SERVER_NAMES[0]
    servers = beside.server_names if beside else servers
    models = {"leaf": leaf[1]} if kind == "collapsed" else {"leaf": leaf[1], "spine": spine[1], "core": spine[1]}
    part = Part(
        name=name,
        kind=kind,
        isolation=isolation,
        addressing=addressing,
        systems=systems,
        layer2=layer2,
        bonds=bonds,
        groups=groups,
        rails=rails,
        server_names=servers,
        site=intent["site"],
        port_gbps=speed,
        models=models,
    )
    fabric |= _options(rng, part, at)
    draw_tenants(rng, part, fabric)
    _planned(rng, fabric, groups)
    intent["fabrics"][name] = fabric
    return part


_ADDRESSING = ("ipv4", "ipv4", "unnumbered", "ipv6")


def _systems(rng: random.Random) -> dict[str, str]:
    """Network OS by role: one for all, or mixed."""
    first = rng.choice(SYSTEMS)
    if rng.random() < 0.75:
        return {"leaf": first, "spine": first, "core": first}
    return {"leaf": first, "spine": rng.choice(SYSTEMS), "core": rng.choice(SYSTEMS)}


def _needed(isolation: str, *, layer2: bool, bonds: bool) -> tuple[str, ...]:
    """What the leaves must be able to do."""
    wanted = {"evpn": ("l3vni",), "vrf-lite": ("vrf_lite",), "acl": ("port_acl",)}.get(isolation, ())
    return wanted + (("l2vni",) if layer2 else ()) + (("multihoming",) if bonds else ())


@cache
def _model(name: str) -> SwitchModel:
    found = catalog.switch(name)
    assert found is not None, name
    return found


@cache
def _able(nos: str, wanted: tuple[str, ...]) -> list[str]:
    """Shipped switches that run a network OS and can do what is wanted, those of few ports first."""
    system, found = target(nos), []
    for name in catalog.switch_names():
        model = _model(name)
        if nos in model.nos and system.refusal(model, name) is None and all(system.can(model, what) for what in wanted):
            found.append(name)
    return sorted(found, key=lambda name: _model(name).cages)


def _switches(
    rng: random.Random, intent: dict[str, Any], systems: dict[str, str], isolation: str, layer2: bool, bonds: bool
) -> tuple[tuple[str, SwitchModel], tuple[str, SwitchModel]]:
    """Leaf and spine: of the catalog, generic, or declared in the intent; with a common uplink speed."""
    wanted = _needed(isolation, layer2=layer2, bonds=bonds)
    leaf = _choose(rng, systems["leaf"], wanted)
    model = _model(leaf)
    native = model.native_gbps
    options = [leaf] if systems["leaf"] == systems["spine"] else []
    options += [_choose(rng, systems["spine"], ()) for _ in range(12)]
    fitting = [name for name in options if native in _model(name).uplink_speeds]
    if not fitting and systems["spine"] != "sonic":
        fitting = [f"32x{native}g"]
    spine = fitting[0] if fitting and rng.random() < 0.7 else rng.choice(fitting or options)
    if rng.random() < 0.1:
        leaf = _own_switch(intent, leaf, model)
    return (leaf, model), (spine, _model(spine))


def _choose(rng: random.Random, nos: str, wanted: tuple[str, ...]) -> str:
    names = _able(nos, wanted)
    if nos != "sonic" and (not names or rng.random() < 0.35):
        return rng.choice(("8x400g", "16x400g", "16x400g", "32x100g", "16x800g"))
    return rng.choice(names[: max(3, len(names) // 2)] if rng.random() < 0.6 else names)


def _own_switch(intent: dict[str, Any], name: str, model: SwitchModel) -> str:
    """The same switch, declared in the intent with every key that the catalog has of it."""
    data = model.model_dump(mode="json", exclude_unset=True)
    board = catalog.sonic_platform(name)
    if board is not None:
        data["sonic"] = board.model_dump(mode="json", exclude_unset=True)
    rest = {"technology": "ethernet", "power_typical_w": 500, "power_includes_optics": ["typical"], "latency_ns": 800}
    data = {**rest, **data}
    for group in data["ports"]:
        group.setdefault("undivided", True)
    intent["catalog"]["switches"]["own-leaf"] = data
    return "own-leaf"


def _speed(rng: random.Random, leaf: SwitchModel, spine: SwitchModel) -> int:
    """Of server ports: what the leaf has, and no faster than its uplinks."""
    common = [speed for speed in leaf.uplink_speeds if speed in spine.uplink_speeds] or [leaf.native_gbps]
    return rng.choice([speed for speed in leaf.speeds if speed <= common[0]] or [leaf.speeds[-1]])


def _groups(
    rng: random.Random, intent: dict[str, Any], at: int, kind: str, purpose: str, speed: int, ports: int
) -> tuple[tuple[dict[str, Any], ...], int]:
    """Groups of servers with their models, and the rails of a unit."""
    count = rng.choice((1, 1, 2, 2, 4)) if kind != "rail-only" else rng.choice((1, 2))
    if kind in ("rack", "collapsed"):
        count = 2 if kind == "collapsed" and ports == 1 else rng.choice((1, 1, 2))
    sets = purpose if rng.random() < 0.8 else f"net{at}"
    found = []
    for n in range(2 if kind in ("rack", "rail-optimized") and rng.random() < 0.15 else 1):
        model = f"node{at}{'ab'[n]}"
        nics: dict[str, Any] = {"count": count, "speed_gbps": speed}
        if ports > 1 or rng.random() < 0.1:
            nics["ports"] = max(ports, 1)
        if rng.random() < 0.2:
            every = range(count * nics.get("ports", 1))
            nics |= {
                "interfaces": [f"ens{at}f{i}np0" for i in every],
                "rdma_devices": [f"mlx5_{10 * at + i}" for i in every],
                "model": "CX-7",
            }
        nics |= _cages(nics)
        nics |= {"functions": 1} if random.Random(repr((nics, "functions"))).random() < 0.1 else {}
        body = catalog.server("dgx-h100")
        assert body is not None
        rest = body.model_dump(mode="json", exclude_unset=True, exclude={"nics"}) if rng.random() < 0.15 else {"gpus": 8}
        rest |= {"power_typical_w": 9_000, "power_second_hand": True} if len(rest) > 1 else {}
        intent["catalog"]["servers"][model] = {**rest, "nics": {sets: nics}}
        per_unit = rng.choice((1, 2, 2, 3, 4))
        group: dict[str, Any] = {
            "model": model,
            "count": max(1, per_unit * rng.choice((1, 1, 2, 2, 3)) - rng.choice((0, 0, 1))),
        }
        group |= {"name": rng.choice(("gpu", "n")) + f"{at}{n}"}
        group |= {"nics": sets} if sets != purpose else {}
        group |= {"nic_breakout": f"{nics.get('ports', 1)}x{speed}"} if "form" in nics else {}
        group |= {"per_rack": rng.choice((1, per_unit))} if rng.random() < 0.3 else {}
        group["unit"] = {"servers": per_unit if kind != "collapsed" else group["count"]}
        if rng.random() < 0.15:
            group["unit"]["full"] = rng.random() < 0.3
        found.append(group)
    if kind == "collapsed" and "per_rack" in found[0]:
        del found[0]["per_rack"]
    return tuple(found), count


def _cages(nics: dict[str, Any]) -> dict[str, Any]:
    """Shared cages of some NICs that can have them; drawn apart, so that nothing else of a design depends on it."""
    rng, ports = random.Random(repr(nics)), nics["count"] * nics.get("ports", 1)
    if ports % 2 or rng.random() < 0.5:
        return {}
    if rng.random() < 0.3 and nics.get("ports") == 2:
        return {"model": "ConnectX-8"}
    labels = [f"OSFP{at // 2 + 1}P{at % 2 + 1}" for at in range(ports)]
    rng.shuffle(labels)
    return {"cages": rng.choice((ports // 2, labels)), **({"form": "OSFP"} if rng.random() < 0.5 else {})}


def _same_servers(
    intent: dict[str, Any], groups: tuple[dict[str, Any], ...], beside: Part, kind: str
) -> tuple[dict[str, Any], ...]:
    """The first group of another fabric in place of the drawn ones, whose NICs it gets; unchanged where it has such NICs."""
    models, other = intent["catalog"]["servers"], beside.groups[0]
    sets, nics = next(iter(models[groups[0]["model"]]["nics"].items()))
    if sets in models[other["model"]]["nics"]:
        return groups
    models[other["model"]]["nics"][sets] = nics
    for group in groups:
        del models[group["model"]]
    group = {**groups[0], **{key: other[key] for key in ("model", "count", "name")}}
    group.pop("per_rack", None)
    if "per_rack" in other and kind != "collapsed":
        group["per_rack"] = other["per_rack"]
    if kind == "collapsed":
        group["unit"] = {"servers": group["count"]}
    return (group,)


def _topology(
    rng: random.Random,
    kind: str,
    groups: tuple[dict[str, Any], ...],
    leaf: tuple[str, SwitchModel],
    spine: tuple[str, SwitchModel],
    systems: dict[str, str],
    *,
    three: bool,
) -> dict[str, Any]:
    topology: dict[str, Any] = {"kind": kind, "leaf": {}, "spine": {}}
    if leaf[0] == spine[0] and systems["leaf"] == systems["core"]:
        topology["switch"] = leaf[0]
    else:
        topology["leaf"]["switch"], topology["spine"]["switch"] = leaf[0], spine[0]
        topology["core"] = {"switch": spine[0] if systems["core"] == systems["spine"] else f"32x{spine[1].native_gbps}g"}
    if kind == "collapsed":
        topology.pop("spine")
        topology.pop("core", None)
        topology["switch"] = topology["leaf"].pop("switch", topology.get("switch"))
    if len(groups) == 1 and rng.random() < 0.5:
        topology["unit"] = groups[0].pop("unit")
    below, above = topology["leaf"], topology.get("spine", {})
    if rng.random() < 0.25:
        below["oversubscription"] = rng.choice(RATIOS)
    if rng.random() < 0.1:
        below["spare_server_ports"] = rng.randint(1, 3)
    if rng.random() < 0.25:
        below["uplinks"] = {"count": rng.choice((1, 2, 2, 4))}
        if rng.random() < 0.3:
            below["uplinks"]["speed_gbps"] = rng.choice(leaf[1].uplink_speeds)
    if kind != "collapsed":
        if rng.random() < 0.15:
            above["min_count"] = rng.choice((1, 1, 2))
        if rng.random() < 0.08:
            above["count"] = rng.choice((1, 2, 4))
        topology["tiers"] = 3 if three else rng.choice((2, 2, "auto"))
        if three:
            _upper_tiers(rng, topology, spine[1].native_gbps)
    if rng.random() < 0.25:
        topology["cable_length_m"] = drawn(rng, "fabrics.NAME.topology.cable_length_m", 0.5, TEXTS)
    if kind not in ("collapsed", "rail-only"):
        own = random.Random(repr(topology))  # its own numbers: the designs of a seed stay what they were
        _other_leaves(own, topology)
        if own.random() < 0.1:
            topology["patch_panels"] = drawn(own, "fabrics.NAME.topology.patch_panels", 0.7, TEXTS)
    return {key: part for key, part in topology.items() if part != {}}


def _upper_tiers(rng: random.Random, topology: dict[str, Any], uplink_gbps: int) -> None:
    pods = rng.choice((None, {"units": 1}, {"count": 2}, {"units": 2}, {"racks": 2}, "auto"))
    if pods:
        topology["pods"] = pods
    above = topology["spine"]
    if rng.random() < 0.3:
        above["oversubscription"] = rng.choice((1, 2, 3))
    elif rng.random() < 0.3:
        above["uplinks"] = rng.choice(({"count": 2}, {"count": 4}, {"speed_gbps": uplink_gbps}))
    if rng.random() < 0.15:
        topology.setdefault("core", {})["count"] = rng.choice((2, 4))
    elif rng.random() < 0.2:
        topology.setdefault("core", {})["groups"] = rng.choice((1, 1, 2))
    if isinstance(pods, dict) and topology.get("kind") in (None, "rail-optimized") and rng.random() < 0.4:
        topology["pods"] = {**pods, "rails": 1}


def _planned(rng: random.Random, fabric: dict[str, Any], groups: tuple[dict[str, Any], ...]) -> None:
    if rng.random() > 0.2:
        return
    if len(groups) == 1:
        fabric["planned"] = {"servers": groups[0]["count"] * rng.choice((1, 2, 3))}
    else:
        for group in groups:
            group["planned"] = group["count"] * rng.choice((1, 2))
        fabric["planned"] = {}
    fabric["planned"]["uplinks"] = rng.choice(("reserve", "recable"))


# --- options ------------------------------------------------------------------------------------------------


def _options(rng: random.Random, part: Part, at: int) -> dict[str, Any]:
    """Underlay, overlay, QoS, management, names, pools, releases and silences of a fabric."""
    found: dict[str, Any] = {"underlay": drawn(rng, "fabrics.NAME.underlay", rng.choice((0, 0.1, 0.3)), TEXTS, SKIPPED)}
    found["underlay"]["addressing"] = part.addressing
    found["overlay"] = {}
    if part.isolation == "evpn":
        found["overlay"] = {"kind": "evpn-vxlan"} | drawn(rng, "fabrics.NAME.overlay", rng.choice((0, 0.4)), TEXTS, SKIPPED)
    elif part.isolation != "none":
        found["overlay"] = {"isolation": part.isolation}
    found["qos"] = drawn(rng, "fabrics.NAME.qos", rng.choice((0, 0, 0.1, 0.3)), TEXTS, SKIPPED)
    if rng.random() < 0.1:
        found["management"] = drawn(rng, "fabrics.NAME.management", 0.4, TEXTS, SKIPPED)
    keep_able(part, found)
    if rng.random() < 0.15:
        found["names"] = _names(rng, part)
    if part.server_names != SERVER_NAMES[0]:
        found.setdefault("names", {})["server"] = part.server_names
    if rng.random() < 0.2:
        found["pools"] = _pools(rng, 32 + 16 * at, part.addressing)
        _gateway(rng, found)
    if rng.random() < 0.1 and (releases := target(part.systems["leaf"]).releases):
        found["releases"] = {part.systems["leaf"]: rng.choice(releases)}
    if rng.random() < 0.05:
        found["checks"] = {"silence": {rng.choice(SILENCED): "known and accepted"}}
    if rng.random() < 0.12 and "names" not in found:
        found["pins"] = _pins(rng, part, at, found)
    chance = random.Random(repr(found))  # its own numbers: the designs of a seed stay what they were
    if chance.random() < 0.1:
        found["transport"] = chance.choice(("roce", "efa", "tcpx", "tcpxo", "slingshot"))
    if chance.random() < 0.15 and part.addressing in ("ipv4", "ipv6"):
        subnets = {"first": "upper"} | ({"length": 30} if part.addressing == "ipv4" and chance.random() < 0.5 else {})
        found["underlay"] = found.get("underlay", {}) | {"link_subnets": subnets}
    if chance.random() < 0.03:
        found["links"] = _links(chance, part)
    return {key: value for key, value in found.items() if value != {}}


def _other_leaves(rng: random.Random, topology: dict[str, Any]) -> None:
    """Leaves without servers, and uplinks on the first ports."""
    if rng.random() < 0.08:
        entry = {"name": "border", "count": rng.choice((2, 2, 4))}
        topology["leaves_without_servers"] = [entry | ({"paired": False} if rng.random() < 0.3 else {})]
    for role in ("leaf", "spine"):
        if role in topology and rng.random() < 0.05:
            topology[role] = {**topology[role], "uplinks": {**topology[role].get("uplinks", {}), "ports": "first"}}


def _links(rng: random.Random, part: Part) -> dict[str, Any]:
    """Cables by guess: most are refused. `swapping.py` states those that can be."""
    leaf, spine = (f"{part.name}-{role}00{rng.randint(1, 2)}" for role in ("leaf", "spine"))
    entry: dict[str, Any] = {"ends": [f"{leaf} {rng.randint(1, 32)}", f"{spine} {rng.randint(1, 64)}"]}
    entry |= {"speed_gbps": rng.choice((100, 400, 800))} if rng.random() < 0.5 else {}
    entry |= {"subnet": f"100.68.{rng.randint(0, 99)}.0/31"} if rng.random() < 0.5 else {}
    return {"add": [entry], **({"remove": f"{leaf} {rng.randint(1, 64)}"} if rng.random() < 0.5 else {})}


def _names(rng: random.Random, part: Part) -> dict[str, Any]:
    roles = [
        role for role in ("leaf", "spine", "core") if rng.random() < 0.6 and (role == "leaf" or part.kind != "collapsed")
    ]
    names = {role: rng.choice(SWITCH_NAMES[role]) for role in roles}
    if "leaf" in names and rng.random() < 0.5:
        names["leaf"] = rng.choice(KIND_NAMES[part.kind])
    return names


def _pools(rng: random.Random, block: int, addressing: str) -> dict[str, Any]:
    """Pools of the 172.16.0.0/12 and fd00:… that no other level has; each now and then in two pieces."""
    found: dict[str, Any] = {}
    six = addressing == "ipv6"
    for n, key in enumerate(("loopback", "loopback6", "vtep", "p2p", "servers", "management")):
        if rng.random() < 0.4 or (key == "loopback6" and not six) or (key == "p2p" and addressing == "unnumbered"):
            continue
        if addressing == "mixed" and key in ("p2p", "servers"):
            continue
        if key == "loopback6" or (six and key in ("p2p", "servers")):
            found[key] = f"fd12:{block:x}:{n}::/48"
        else:
            found[key] = f"10.{100 + block}.{32 * n}.0/19"
            if rng.random() < 0.2:
                found[key] = [f"10.{100 + block}.{32 * n}.0/20", f"10.{100 + block}.{32 * n + 16}.0/20"]
    return found


def _gateway(rng: random.Random, found: dict[str, Any]) -> None:
    """A default gateway in the management pool that stands beside it."""
    pool = found["pools"].get("management")
    if isinstance(pool, str) and rng.random() < 0.7:
        found.setdefault("management", {})["gateway"] = pool.rpartition(".")[0] + ".1"


def _pins(rng: random.Random, part: Part, at: int, fabric: dict[str, Any]) -> dict[str, Any]:
    role = rng.choice(("leaf", "leaf", "spine")) if part.kind != "collapsed" else "leaf"
    pin: dict[str, Any] = {}
    if rng.random() < 0.5:
        pin["name"] = f"{part.name}-{role}-old{at}"
    if rng.random() < 0.4:
        pin["asn"] = rng.choice((4_259_000_001, 64_999)) + at
    if rng.random() < 0.4:
        pin["loopback"] = f"100.64.{at}.7"
    if rng.random() < 0.4:
        pin["management"] = f"{management_net(fabric, f'100.65.{at}')}.209"
    if rng.random() < 0.3:
        other = f"{part.groups[0]['name']}-0001" if role == "leaf" else f"{part.name}-leaf001"
        pin["ports"] = {other: rng.choice((2, 3, [3], [5, 6]))}
    return {f"{part.name}-{role}001": pin} if pin else {}


# --- the site -----------------------------------------------------------------------------------------------


def _site(rng: random.Random, intent: dict[str, Any], parts: list[Part], files: dict[str, str]) -> None:
    """What all fabrics share."""
    found: dict[str, Any] = {"management": drawn(rng, "management", rng.choice((0, 0.3, 0.6)), TEXTS, SKIPPED)}
    if rng.random() < 0.15:
        kinds = {part.addressing for part in parts}
        found["pools"] = _pools(rng, 16, parts[0].addressing if len(kinds) == 1 else "mixed")
        _gateway(rng, found)
    keep_manageable(parts, found["management"])
    if rng.random() < 0.15:
        nos = rng.choice(parts).systems["leaf"]
        found["releases"] = {nos: rng.choice(target(nos).releases)} if target(nos).releases else {}
    if rng.random() < 0.1:
        found["checks"] = {"silence": dict.fromkeys(rng.sample(SILENCED, 2), "accepted for this site")}
    if rng.random() < 0.25:
        found["output"] = drawn(rng, "output", 0.5, TEXTS)
    if rng.random() < 0.15:
        found["floor"] = drawn(rng, "floor", 0.3, TEXTS, SKIPPED)
        if rng.random() < 0.4:
            found["floor"]["places"] = {f"{parts[0].name}-leaf001": {"rack": "C05", "ru": rng.randint(1, 20)}}
    if rng.random() < 0.15 and (rule := _override(rng, parts, files)):
        found["overrides"] = [rule]
    intent |= {key: value for key, value in found.items() if value != {}}
    if not intent["catalog"]["switches"]:
        del intent["catalog"]["switches"]
    if len(intent["fabrics"]) > 1:
        intent["catalog"]["breakouts"] = {"qfx5130-32cd": ["2x200"]}


def _override(rng: random.Random, parts: list[Part], files: dict[str, str]) -> dict[str, Any]:
    """A comment in a block of a template, or a patch of a document, for one role."""
    part = rng.choice(parts)
    nos = part.systems["leaf"]
    scope = rng.choice(
        ({"role": "leaf"}, {"fabric": part.name}, {"devices": f"{part.name}-*"}, {"role": "leaf", "fabric": part.name})
    )
    if "fabric" not in scope and len({own.systems["leaf"] for own in parts}) > 1:
        scope = {"role": "leaf", "fabric": part.name}
    if nos in PATCHES and (nos not in TEMPLATES or rng.random() < 0.5):
        file, patch = PATCHES[nos]
        return {**scope, "file": file, "patch": patch}
    base = rng.choice(TEMPLATES[nos])
    block = {"frr/sysctl.conf.j2": "hashing", "sonic/frr.conf.j2": "logging"}.get(base, "extra")
    comment = "# site line" if base == "frr/sysctl.conf.j2" else COMMENTS[nos]
    files["site/own.j2"] = f'{{% extends "{base}" %}}\n{{% block {block} %}}\n{{{{ super() }}}}{comment}\n{{% endblock %}}\n'
    return {**scope, "template": "site/own.j2"}
