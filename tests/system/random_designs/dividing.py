"""Divides the networks of tenants by plane, NIC or tag, and puts attachments on stated leaves."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part


def divide(rng: random.Random, intent: dict[str, Any], parts: list[Part]) -> None:
    """Changes the fabrics of a design in place."""
    for part in parts:
        fabric = intent["fabrics"][part.name]
        planes, stated = fabric["topology"].get("planes", 1), fabric.get("tenants", [])
        tenants = stated if isinstance(stated, list) else [stated]
        purposes = _purposes(fabric) if not any("nics" in tenant for tenant in tenants) else []
        for at, tenant in enumerate(tenants):
            networks = tenant.get("networks", [])
            if not networks or any(key in network for network in networks for key in ("rails", "planes")):
                continue
            if planes > 1:
                if len(networks) <= planes and rng.random() < 0.8:
                    tenant["networks"] = _by_plane(networks, planes, at)
            elif purposes and rng.random() < 0.7:
                _by_nics(networks, purposes, at)
            elif len(networks) > 1 and rng.random() < 0.4:
                rng.choice(networks)["untagged"] = True
        for attachment in fabric["topology"].get("attachments", []):
            if not attachment.get("bond") and rng.random() < 0.15:
                pair = part.kind == "collapsed" and attachment["links"] > 1
                attachment.setdefault("leaves", rng.choice((1, [1, 2])) if pair else 1)


def _purposes(fabric: dict[str, Any]) -> list[str]:
    """Purposes of the NICs of the first group, where it has several."""
    servers = fabric["servers"]
    nics = (servers[0] if isinstance(servers, list) else servers).get("nics")
    return nics if isinstance(nics, list) and len(nics) > 1 else []


def _by_plane(networks: list[dict[str, Any]], planes: int, tenant: int) -> list[dict[str, Any]]:
    """One network in each plane; further ones where a tenant has fewer."""
    lacking = range(len(networks) + 1, planes + 1)
    more = [{"name": f"plane{plane}", "gateway": f"172.30.{8 * tenant + plane}.0/24"} for plane in lacking]
    return [network | {"planes": plane} for plane, network in enumerate([*networks, *more], 1)]


def _by_nics(networks: list[dict[str, Any]], purposes: list[str], tenant: int) -> None:
    """A network for each purpose, untagged at its ports; others are tagged at all."""
    if len(networks) < len(purposes):
        networks.append({"name": purposes[-1], "gateway": f"172.30.{100 + tenant}.0/24"})
    for network, purpose in zip(networks, purposes, strict=False):
        network |= {"nics": purpose, "untagged": True}
