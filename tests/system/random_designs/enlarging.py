"""Enlarges a drawn design: more servers, attachments and tenants, so that roles have many devices with unequal tasks.

Devices of one role are compared with each other. Where every leaf has the same tenants and no leaf a border router, a
comparison that takes tasks for faults shows nothing wrong.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.system.random_designs.able import management_net, put_in_planes
from tests.system.random_designs.tenants import draw_attachment, networks, servers
from tests.system.random_designs.words import COMMENTS, TEMPLATES

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part

MORE = ("violet", "ochre", "Grey2")  # tenants
ROLES = ("spine", "core")
PLANES = 4


def enlarge(rng: random.Random, intent: dict[str, Any], parts: list[Part], files: dict[str, str]) -> None:
    """Changes the intent of a design in place; servers that several fabrics connect stay the same in all of them."""
    factors: dict[str, tuple[int, int]] = {}
    for part in parts:
        fabric = intent["fabrics"][part.name]
        fixed = any(other.kind == "collapsed" for other in parts)
        grown = {} if fixed else _servers(rng, part, fabric, factors)
        _tenants(rng, part, fabric, grown)
        _attachments(rng, part, fabric)
        leaf = fabric["topology"].setdefault("leaf", {})
        if rng.random() < 0.2:
            leaf.setdefault("spare_server_ports", rng.randint(1, 4))
        if not leaf:
            del fabric["topology"]["leaf"]
        if fabric["topology"].get("planes") and rng.random() < 0.3:
            put_in_planes(intent, fabric, PLANES)
        if "pins" not in fabric and "names" not in fabric and rng.random() < 0.15:
            fabric["pins"] = _pins(rng, part, fabric)
    if rng.random() < 0.15:
        _override(rng, intent, rng.choice(parts), files)


def _groups(fabric: dict[str, Any]) -> list[dict[str, Any]]:
    found = fabric["servers"]
    return found if isinstance(found, list) else [found]


def _servers(
    rng: random.Random, part: Part, fabric: dict[str, Any], factors: dict[str, tuple[int, int]]
) -> dict[str, list[str]]:
    """More servers in every group. Returns group → names of the new ones."""
    new = {}
    for group in _groups(fabric):
        factor, rest = factors.setdefault(group["name"], (rng.choice((1, 1, 2, 3, 4)), rng.choice((0, 0, 1))))
        before = servers(part, group)
        group["count"] = group["count"] * factor + rest
        if "planned" in group:
            group["planned"] = max(group["planned"], group["count"])
        new[group["name"]] = servers(part, group)[len(before) :]
    if "servers" in fabric.get("planned", {}):
        fabric["planned"]["servers"] = max(fabric["planned"]["servers"], sum(group["count"] for group in _groups(fabric)))
    return new


def _tenants(rng: random.Random, part: Part, fabric: dict[str, Any], new: dict[str, list[str]]) -> None:
    """Tenants of the new servers, beside tenants that own servers by name; some servers stay without one."""
    tenants = fabric.get("tenants", [])
    tenants = tenants if isinstance(tenants, list) else [tenants]
    free = [name for names in new.values() for name in names]
    if part.isolation == "none" or not tenants or not free or not all("servers" in tenant for tenant in tenants):
        return
    if rng.random() < 0.5:
        rng.shuffle(free)
    names = MORE[: rng.randint(0, min(len(MORE), len(free)))]
    each = max(1, len(free) // (len(names) or 1))
    for at, name in enumerate(names):
        tenant: dict[str, Any] = {"name": name, "servers": sorted(free[at * each : (at + 1) * each])}
        if part.layer2 and (own := networks(rng, at + len(tenants))):
            tenant["networks"] = own
        fabric["tenants"] = tenants = [*tenants, tenant]


def _attachments(rng: random.Random, part: Part, fabric: dict[str, Any]) -> None:
    tenants = fabric.get("tenants", [])
    names = [tenant["name"] for tenant in (tenants if isinstance(tenants, list) else [tenants])]
    more = [draw_attachment(rng, part, names, f"{part.name}-x{number}", number + 10) for number in range(rng.randint(0, 3))]
    if more:
        fabric["topology"].setdefault("attachments", []).extend(more)


def _pins(rng: random.Random, part: Part, fabric: dict[str, Any]) -> dict[str, Any]:
    """Several devices with values of an older network."""
    pins = {}
    roles = ("leaf001", "spine001" if part.kind in ("rack", "rail-optimized") else "leaf002")
    for number, role in enumerate(roles, 1):
        pin: dict[str, Any] = {}
        if rng.random() < 0.5:
            pin["management"] = f"{management_net(fabric, '100.66.0')}.{220 + number}"
        pin |= {"asn": 4_258_000_000 + number} if rng.random() < 0.4 else {}
        pin |= {"loopback": f"100.67.0.{number}"} if rng.random() < 0.5 else {}
        pins[f"{part.name}-{role}"] = pin or {"name": f"{part.name}-old{number}"}
    return pins


def _override(rng: random.Random, intent: dict[str, Any], part: Part, files: dict[str, str]) -> None:
    """A comment in the configs of spines or cores."""
    role = rng.choice(ROLES)
    nos = part.systems[role]
    if nos not in TEMPLATES or part.kind == "collapsed" or "overrides" in intent:
        return
    base = TEMPLATES[nos][0]
    block = "logging" if nos == "sonic" else "extra"
    files["site/upper.j2"] = (
        f'{{% extends "{base}" %}}\n{{% block {block} %}}\n{{{{ super() }}}}{COMMENTS[nos]}\n{{% endblock %}}\n'
    )
    intent["overrides"] = [{"role": role, "fabric": part.name, "template": "site/upper.j2"}]
