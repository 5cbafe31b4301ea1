"""Hangs a fabric of bridges below a fabric with layer-2 networks, and relays DHCP requests of one of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from fabric.nos.target import target

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part


def hang(rng: random.Random, intent: dict[str, Any], parts: list[Part]) -> None:
    """Adds what one of the fabrics can carry; what does not fit is refused with a reason."""
    for part in parts:
        above = intent["fabrics"][part.name]
        stated = above.get("tenants", [])
        tenants = [its for its in (stated if isinstance(stated, list) else [stated]) if its.get("networks")]
        routed = [(its, network) for its in tenants for network in its["networks"] if "gateway" in network]
        if not part.layer2 or not tenants:
            continue
        can = target(part.systems["leaf"]).capabilities
        if routed and can.dhcp_relay and rng.random() < 0.8:
            tenant, network = rng.choice(routed)
            relay: dict[str, Any] = {"servers": rng.choice(("10.9.0.5", ["10.9.0.5", "10.9.0.6"]))}
            if rng.random() < 0.6:
                relay["tenant"] = rng.choice(("default", tenant["name"])) if can.dhcp_relay_across else tenant["name"]
            network["dhcp_relay"] = relay
        parted = ("rails", "planes", "nics")
        if not any(key in network for tenant in tenants for network in tenant["networks"] for key in parted):
            intent["fabrics"]["below"] = _bridges(rng, intent, part, above, rng.choice(tenants))
            return


def _bridges(
    rng: random.Random, intent: dict[str, Any], part: Part, above: dict[str, Any], tenant: dict[str, Any]
) -> dict[str, Any]:
    """Switches of the model above, each with the controllers of a few servers."""
    topology, speeds = above["topology"], part.models["leaf"].speeds
    switch = topology.get("leaf", {}).get("switch") or topology["switch"]
    intent["catalog"]["servers"]["controlled"] = {"gpus": 0, "nics": {"oob": {"count": 1, "speed_gbps": min(speeds)}}}
    group: dict[str, Any] = {"model": "controlled", "name": "c", "count": rng.randint(1, 8)}
    group |= {"per_rack": rng.randint(1, 4)} if rng.random() < 0.7 else {}
    below: dict[str, Any] = {"fabric": part.name, "tenant": tenant["name"], "links": rng.choice((2, 2, 4))}
    below |= {"speed_gbps": rng.choice(speeds)} if rng.random() < 0.5 else {}
    below |= {"network": rng.choice(tenant["networks"])["name"]} if len(tenant["networks"]) > 1 or rng.random() < 0.3 else {}
    return {
        "purpose": "oob",
        "nos": part.systems["leaf"],
        "servers": group,
        "topology": {"leaf": {"switch": switch}},
        "below": below,
    }
