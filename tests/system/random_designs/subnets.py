"""Adds a fabric of InfiniBand switches: engines, partitions, names of ports, an inventory of GUIDs."""

from __future__ import annotations

import random
from typing import Any

NAME = "fast"


def add(rng: random.Random, intent: dict[str, Any], files: dict[str, str]) -> None:
    """A fabric of its own servers beside the others of the site."""
    panel = {"ports": 2, "name": rng.choice(("{cage}/{port}", "sw{cage}p{port}")), "planes": rng.choice((1, 4))}
    switch = {"technology": "infiniband", "breakouts_complete": True, "panel": panel}
    intent.setdefault("catalog", {}).setdefault("switches", {})["own-ib"] = {
        **switch,
        "ports": [{"count": 16, "speed_gbps": 400}],
    }
    nics = {"count": rng.choice((1, 2, 4)), "speed_gbps": 400}
    intent["catalog"].setdefault("servers", {})["fast-node"] = {"gpus": 4, "nics": {"compute": nics}}
    count = rng.randint(2, 12)
    fabric: dict[str, Any] = {
        "servers": {"model": "fast-node", "name": "f", "count": count},
        "topology": {"switch": "own-ib", "unit": {"servers": rng.choice((2, 4))}},
        "infiniband": {
            "routing": rng.choice(("ftree", ["ftree", "updn"], "minhop", ["updn", "minhop"])),
            "virtual_lanes": rng.choice((4, 8)),
            "adaptive_routing": rng.random() < 0.5,
            "sharp": rng.random() < 0.5,
        },
    }
    if rng.random() < 0.5:
        files["guids.csv"] = "device,port,node_guid\nf-0001,compute1,0x946dae0300000100\n"
        fabric["infiniband"]["guids"] = "guids.csv"
    if rng.random() < 0.7:
        fabric["tenants"] = _tenants(rng, count)
    intent["fabrics"][NAME] = fabric


def _tenants(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """One with a part of the servers, and one that serves it with the others."""
    partition = {
        "pkey": rng.randint(0x100, 0x7FFE),
        "service_level": rng.randint(0, 7),
        "members": rng.choice(("full", "limited")),
        "served_by": "store",
    }
    return [{"name": "red", "servers": f"f-0001..{max(1, count // 2):04}", "partition": partition}, {"name": "store"}]
