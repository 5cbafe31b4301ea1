"""Makes fabrics of a design converged: NICs of a further purpose, and a group of servers on the leaves of the first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.system.random_designs.able import put_in_planes

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part

FURTHER = ("storage", "frontend", "aux", "more")


def converge(rng: random.Random, intent: dict[str, Any], parts: list[Part]) -> None:
    """Adds NICs, a group, or both to each fabric; what does not fit is refused with a reason."""
    for part in parts:
        fabric = intent["fabrics"][part.name]
        servers = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
        if part.kind == "collapsed" and rng.random() < 0.4:
            put_in_planes(intent, fabric, 2)
        if rng.random() < 0.2:
            fabric["topology"]["nic_order"] = "turns"
        added = []
        if rng.random() < 0.7:
            added.append(_nics(rng, intent, fabric, servers[0], part))
        if rng.random() < 0.6:
            servers.append(_group(rng, intent, part, len(servers)))
            if planned := fabric.pop("planned", {}).get("servers"):
                servers[0]["planned"] = planned
            added += servers[-1]["nics"]
        fabric["servers"] = servers
        topology = fabric["topology"]
        apart = {"ports": topology["planes"]} if topology.get("planes", 1) > 1 else {}
        apart |= {"count": part.rails} if part.kind == "rail-only" else {}  # a port in each isolated network
        for group in servers:
            for name in added:
                intent["catalog"]["servers"][group["model"]]["nics"].get(name, {}).update(apart)
        topology["leaf"] = {**topology.get("leaf", {}), "oversubscription": rng.choice((2, 4, 8))}
        topology["leaf"].pop("uplinks", None)
        _tenant(rng, fabric, added, part)
        if "storage" in added and part.can("storage_class") and fabric.get("purpose", "compute") == "compute":
            _storage_class(random.Random(repr(servers)), fabric)


def _storage_class(rng: random.Random, fabric: dict[str, Any]) -> None:
    """A class of their own for storage NICs, in some designs."""
    qos = fabric.setdefault("qos", {})
    if rng.random() < 0.5 and qos.get("enabled", True) and qos.get("lossless_percent", 60) <= 70:
        free = {"priority": {1, 2, 4, 5} - {qos.get("lossless_priority")}, "dscp": {10, 18, 34} - {qos.get("lossless_dscp")}}
        drawn = {key: rng.choice(sorted(values)) for key, values in free.items()}
        qos["storage"] = drawn | {"percent": rng.choice((5, 20)), "lossless": rng.random() < 0.6}


def _drawn(rng: random.Random, part: Part) -> dict[str, Any]:
    nics: dict[str, Any] = {"count": rng.choice((1, 1, 2)), "speed_gbps": rng.choice(part.models["leaf"].speeds)}
    return nics | ({"ports": 2} if rng.random() < 0.5 else {})


def _nics(rng: random.Random, intent: dict[str, Any], fabric: dict[str, Any], group: dict[str, Any], part: Part) -> str:
    """NICs of a further purpose of the first group."""
    there = intent["catalog"]["servers"][group["model"]]["nics"]
    name = next((name for name in FURTHER if name not in there), FURTHER[-1])
    there[name] = _drawn(rng, part)
    first = group.get("nics", fabric["purpose"])
    group["nics"] = [first, name]
    if rng.random() < 0.4:
        group["homing"] = {rng.choice((first, name)): rng.choice(("single", "bond"))}
    return name


def _group(rng: random.Random, intent: dict[str, Any], part: Part, at: int) -> dict[str, Any]:
    """Servers of one more kind, on the leaves of the first group."""
    model = f"{part.name}-guest"
    purposes = rng.sample(FURTHER, rng.choice((1, 1, 2)))
    intent["catalog"]["servers"][model] = {"gpus": 0, "nics": {name: _drawn(rng, part) for name in purposes}}
    group: dict[str, Any] = {"model": model, "name": f"{part.name[0]}{at}", "count": rng.randint(1, 6), "nics": purposes}
    group |= {} if part.kind == "collapsed" and rng.random() < 0.5 else {"leaves": "shared"}
    return group | ({"per_rack": rng.randint(1, 6)} if rng.random() < 0.5 else {})


def _tenant(rng: random.Random, fabric: dict[str, Any], added: list[str], part: Part) -> None:
    """A tenant of the further NICs, where the others name no servers that have them."""
    tenants = fabric.get("tenants", [])
    tenants = tenants if isinstance(tenants, list) else [tenants]
    named = any(key in tenant for tenant in tenants for key in ("servers", "racks", "rails"))
    if not added or part.isolation == "none" or named:
        return
    tenant: dict[str, Any] = {"name": "further", "nics": rng.choice(added)}
    if part.layer2 and rng.random() < 0.7:
        network: dict[str, Any] = {"name": "further", "vlan": 3000, "gateway": "172.31.0.0/24"}
        tenant["networks"] = [network | ({"rails": [1, 2, 3, 4]} if rng.random() < 0.4 else {})]
        if fabric["topology"].get("planes", 1) > 1 and rng.random() < 0.5:
            tenant["networks"] = [
                network | {"name": f"plane{plane}", "vlan": 2990 + plane, "gateway": f"172.31.{plane}.0/24", "planes": plane}
                for plane in (1, 2)
            ]
        if part.bonds and rng.random() < 0.7:
            below: dict[str, Any] = {
                "name": f"{part.name}-below",
                "links": rng.choice((2, 4)),
                "tenant": "further",
                "bond": True,
            }
            below |= {"leaves": [1, 2]} if rng.random() < 0.4 else {}
            fabric["topology"].setdefault("attachments", []).append(below)
    fabric["tenants"] = [*tenants, tenant]
