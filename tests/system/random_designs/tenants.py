"""Draws the tenants of a fabric, their networks, and its attachments."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from fabric.nos.target import target
from tests.system.random_designs.words import SERVER_NAMES

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part

NAMES = ("red", "blue", "Green1")


def draw_tenants(rng: random.Random, part: Part, fabric: dict[str, Any]) -> None:
    """Adds `tenants` and `topology.attachments` to a fabric."""
    most = 1 if part.isolation == "none" else 3
    most = min(most, sum(group["count"] for group in part.groups))
    names = list(NAMES[: rng.randint(0 if part.isolation in ("none", "evpn") else 1, most)])
    owned = _owners(rng, part, len(names))
    tenants: list[dict[str, Any]] = []
    for at, name in enumerate(names):
        tenant: dict[str, Any] = {"name": name, **owned[at]}
        if part.isolation == "evpn":
            if rng.random() < 0.2:
                tenant["vni"] = 70_000 + at
            if part.layer2 and (own := networks(rng, at)):
                tenant["networks"] = own
        tenants.append(tenant)
    _imports(rng, part, tenants)
    _leaks(rng, part, tenants)
    if tenants:
        fabric["tenants"] = tenants if len(tenants) > 1 or rng.random() < 0.7 else tenants[0]
    by_name = {tenant["name"]: tenant.get("networks", ()) for tenant in tenants}
    if rng.random() < (0.7 if any(by_name.values()) else 0.35):
        fabric["topology"]["attachments"] = _attachments(rng, part, names)
        with_networks = [name for name, found in by_name.items() if found]
        for attachment in fabric["topology"]["attachments"]:
            if with_networks and "external" not in attachment:
                attachment.setdefault("tenant", with_networks[0])
            if attachment["links"] == 1 and (inside := by_name.get(attachment.get("tenant", ""))):
                attachment["network"] = inside[-1]["name"]


def servers(part: Part, group: dict[str, Any]) -> list[str]:
    """Names of a group's servers, as their pattern gives them."""
    return [part.server_names.format(site=part.site, group=group["name"], n=n) for n in range(1, group["count"] + 1)]


def _owners(rng: random.Random, part: Part, count: int) -> list[dict[str, Any]]:
    """What each tenant owns: servers, racks or rails, apart from each other; the only one may own everything."""
    if count == 1 and rng.random() < 0.4:
        return [{}]
    if part.kind in ("rail-optimized", "rail-only") and part.rails >= count and rng.random() < 0.15:
        return [{"rails": [rail for rail in range(1, part.rails + 1) if rail % count == at]} for at in range(count)]
    racks = sum(group["count"] // group["per_rack"] for group in part.groups if "per_rack" in group)
    if racks >= count and rng.random() < 0.5:
        return [{"racks": at + 1} if rng.random() < 0.5 else {"racks": [at + 1]} for at in range(count)]
    every = [name for group in part.groups for name in servers(part, group)]
    if rng.random() < 0.5:
        rng.shuffle(every)
    found: list[dict[str, Any]] = [{"servers": sorted(every[at::count])} for at in range(count)]
    if count and rng.random() < 0.3 and len(found[-1]["servers"]) > 1:  # a server without a tenant
        found[-1]["servers"].pop()
    run = part.groups[0]
    if count == 1 and rng.random() < 0.5 and part.server_names == SERVER_NAMES[0]:
        found[0]["servers"] = f"{run['name']}-0001..{run['count']:04}"
    return found


def networks(rng: random.Random, at: int) -> list[dict[str, Any]]:
    """Networks of the tenant at a position. No network: routed ports. Else with gateways, without, or some of both."""
    found = []
    for n in range(rng.choices((0, 1, 2, 3), (25, 45, 20, 10))[0]):
        network: dict[str, Any] = {"name": ("train", "login", "store")[n]}
        if rng.random() < 0.8:
            network["vlan"] = 100 + 100 * at + n
        if rng.random() < 0.2:
            network["vni"] = 90_000 + 10 * at + n
        if rng.random() < 0.6:
            network["gateway"] = f"172.{20 + at}.{n}.0/{rng.choice((24, 25, 26))}"
        found.append(network)
    return found


def _imports(rng: random.Random, part: Part, tenants: list[dict[str, Any]]) -> None:
    able = part.isolation == "acl" or (part.isolation == "evpn" and target(part.systems["leaf"]).capabilities.imports)
    if able and len(tenants) > 1 and rng.random() < 0.4:
        first, second = tenants[0], tenants[1]
        first["imports"] = [second["name"]]
        if rng.random() < 0.8:
            second["imports"] = first["name"]


def _leaks(rng: random.Random, part: Part, tenants: list[dict[str, Any]]) -> None:
    """Two tenants whose networks have gateways import each other's subnets, mostly in both directions."""
    able = part.isolation == "evpn" and target(part.systems["leaf"]).capabilities.leaks
    with_subnets = [(tenant, subnets) for tenant in tenants if (subnets := _subnets(tenant))]
    if not able or len(with_subnets) < 2 or any("imports" in tenant for tenant in tenants) or rng.random() > 0.6:
        return
    (first, one), (second, other) = with_subnets[:2]
    first["imports"] = {"from": second["name"], "prefixes": other}
    if rng.random() < 0.8:
        second["imports"] = [{"from": first["name"], "prefixes": one[:1]}]


def _subnets(tenant: dict[str, Any]) -> list[str]:
    return [network["gateway"] for network in tenant.get("networks", ()) if "gateway" in network]


def _attachments(rng: random.Random, part: Part, names: list[str]) -> list[dict[str, Any]]:
    return [
        draw_attachment(rng, part, names, f"{part.name}-{('wan', 'ufm')[number]}", number)
        for number in range(rng.choice((1, 1, 2)))
    ]


def draw_attachment(rng: random.Random, part: Part, names: list[str], name: str, number: int) -> dict[str, Any]:
    """An attachment; most are border routers with an external connection. `names`: of the tenants."""
    attachment: dict[str, Any] = {"name": name, "links": rng.choice((1, 2, 2, 4))}
    if rng.random() < 0.15:
        attachment["speed_gbps"] = part.port_gbps
    if part.isolation != "acl" and rng.random() < 0.75:
        attachment["external"] = {"asn": rng.choice((64_700, 4_200_900_000)) + number}
        if names and part.isolation != "none" and rng.random() < 0.5:
            attachment["external"]["tenants"] = rng.sample(names, rng.randint(1, len(names)))
        if rng.random() < 0.4:
            inside = ["2001:db8:100::/40", "::/0"] if part.addressing == "ipv6" else ["198.18.0.0/15", "0.0.0.0/0"]
            attachment["external"]["accept"] = inside[: rng.randint(1, 2)]
    else:
        if names and part.isolation != "none" and rng.random() < 0.6:
            attachment["tenant"] = rng.choice(names)
        if rng.random() < 0.3:
            attachment["lossless"] = rng.random() < 0.5
    return attachment
