"""NICs on planes, names of their ports, and addresses by rail and plane, for random designs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part

SHARE = 0.3  # of the groups
COMPUTED = 0.1  # of the fabrics have addresses by rail and plane
ACTIVE = 0.3  # of the fabrics with planes state how many are in service
CLUSTERS = 0.1  # of the fabrics are those of a cluster
OPERATOR: dict[str, tuple[Any, ...]] = {
    "release": ("26.7", "26.10"),
    "namespace": ("operator", "nvidia-network-operator"),
    "network_namespace": ("default", "training"),
    "overlay": ("none", "l3"),
    "vfs": (1, 4),
    "dra": (True, False),
    "max_unavailable": (1, 3, "25%"),
}


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

        if rng.random() < CLUSTERS:
            _cluster(rng, intent, fabric, servers)


def take_out(rng: random.Random, intent: dict[str, Any]) -> None:
    """States how many planes of some fabrics are in service."""
    for fabric in intent["fabrics"].values():
        planes = fabric["topology"].get("planes", 1)
        if planes > 1 and rng.random() < ACTIVE:
            fabric["topology"]["planes_active"] = rng.randint(1, planes)


def _cluster(rng: random.Random, intent: dict[str, Any], fabric: dict[str, Any], servers: list[dict[str, Any]]) -> None:
    """A fabric of a cluster; whether its objects can be written is the matter of the export."""
    fabric["network_operator"] = {"profile": "site-profile"} | {
        key: rng.choice(values) for key, values in OPERATOR.items() if rng.random() < 0.5
    }
    for at, group in enumerate(servers):
        sets = intent["catalog"]["servers"].get(group["model"], {}).get("nics", {})
        names = group.get("nics", fabric["purpose"])
        its = sets.get(names if isinstance(names, str) else names[0])
        if its and rng.random() < 0.7:
            group["nic_pci"] = [f"0000:{16 * at + nic:02x}:00.0" for nic in range(its["count"])]
        group["node_selector"] = {"example.com/group": f"g{at}"}


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
