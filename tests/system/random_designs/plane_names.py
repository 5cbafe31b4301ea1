"""NICs on planes, names of their ports, and addresses by rail and plane, for random designs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part

SHARE = 0.3  # of the groups
COMPUTED = 0.1  # of the fabrics have addresses by rail and plane


def name_ports(rng: random.Random, intent: dict[str, Any], parts: list[Part]) -> None:
    """States plane modes and names; where NIC and fabric do not fit the design is refused with a reason."""
    for part in parts:
        fabric = intent["fabrics"][part.name]
        servers = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
        planes = fabric["topology"].get("planes", 1)
        for group in servers:
            if rng.random() < SHARE:
                _group(rng, intent, group, planes)
        if rng.random() < COMPUTED and part.kind in ("rail-optimized", "rail-only"):
            fabric.setdefault("underlay", {})["server_subnets"] = "spectrum-x"
            fabric.setdefault("pools", {})["servers"] = "172.16.0.0/12"


def _group(rng: random.Random, intent: dict[str, Any], group: dict[str, Any], planes: int) -> None:
    mode = rng.choice(("swplb", "hwplb")) if planes > 1 else "none"
    sets = intent["catalog"]["servers"].get(group["model"], {}).get("nics", {})
    names = group.get("nics", ())
    its = [sets[name] for name in ([names] if isinstance(names, str) else names) if name in sets]
    if rng.random() < 0.7:
        group["plane_mode"] = mode
        for nics in its if planes > 1 else ():
            nics["model"] = "ConnectX-8"
    if rng.random() < 0.7:
        part = "p{plane}" if planes > 1 and rng.random() < 0.5 else "p{port}"
        group["nic_names"] = {"interface": "eth{nic}" + part, "rdma": "roce{nic}" + part * (planes == 1 or mode != "hwplb")}
