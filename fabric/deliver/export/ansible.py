"""An Ansible inventory: every switch and server with its address and facts, in groups by what a play is aimed at.

Groups are SITE's parts: a fabric, a tier, a network OS, a pod, a plane, a rail, a unit, a server group. Ansible takes only
letters, digits and underscores in a group's name. Sources: https://docs.ansible.com (inventory guide, platform options).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from fabric.base.formats import yaml
from fabric.model.plan import CORE, LEAF, SERVER, SPINE, SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.nos.target import target

GROUPS = {SERVER: "servers", LEAF: "leaves", SPINE: "spines", CORE: "cores"}
COORDINATES = ("unit", "rack", "pod", "plane", "rail")

Vars = dict[str, Any]


def ansible(plan: Plan) -> str:
    """An inventory in YAML, for `ansible-inventory -i FILE --list`. Servers come by name: their addresses are the site's."""
    hosts: dict[str, Vars] = {}
    groups: dict[str, dict[str, None]] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            if device.role not in (*SWITCH_ROLES, SERVER):
                continue
            facts = _switch(fabric, device) if device.role != SERVER else _server(device)
            _merge(hosts.setdefault(device.name, {}), facts)
            for group in (f"site_{group_name(plan.site)}", *_groups(fabric, device)):
                groups.setdefault(group, {})[device.name] = None
    systems = {device.nos for fabric in plan.fabrics.values() for device in fabric.switches}
    children: dict[str, Any] = {
        name: {"hosts": dict.fromkeys(members)} | _platform(name, systems) for name, members in sorted(groups.items())
    }
    everything = {"all": {"vars": {"site": plan.site}, "hosts": hosts, "children": children}}
    return yaml.dump(everything, f"Site {plan.site}: ansible-inventory -i FILE --graph")


def _platform(group: str, systems: set[str]) -> dict[str, Any]:
    """Variables of a group of one network OS."""
    connections = {f"nos_{group_name(nos)}": target(nos).ansible for nos in systems if nos}
    return {"vars": dict(found)} if (found := connections.get(group)) else {}


def _switch(fabric: FabricPlan, device: Device) -> Vars:
    """A switch's variables; coordinates count from 1, and what it has not is left out."""
    facts: Vars = {}
    if device.nos:
        facts["ansible_host"] = str(ip_address(int(fabric.management[device.index])))
    facts |= {"fabric": fabric.name, "tier": device.role, "model": device.model}
    if device.asn:
        facts["asn"] = device.asn
    if fabric.spec.ethernet:
        facts["loopback"] = str(ip_address(int(fabric.loopback[device.index])))
        if fabric.subnet_length == 127:
            facts["loopback6"] = str(ip_address(int(fabric.loopback6[device.index])))
    return facts | _coordinates(device)


def _server(device: Device) -> Vars:
    return {"model": device.model, "server_group": device.group} | _coordinates(device)


def _coordinates(device: Device) -> Vars:
    return {key: getattr(device, key) + 1 for key in COORDINATES if getattr(device, key) >= 0}


def _merge(known: Vars, facts: Vars) -> None:
    """A server has one place in each fabric: the first fabric's stands."""
    for key, value in facts.items():
        known.setdefault(key, value)


def _groups(fabric: FabricPlan, device: Device) -> Iterator[str]:
    """The groups of one device; those of a place are the fabric's own, since each fabric counts from 1."""
    name = group_name(fabric.name)
    yield f"fabric_{name}"
    yield GROUPS[device.role]
    if device.role == SERVER:
        yield f"group_{group_name(device.group)}"
    else:
        yield "switches"
        yield f"{name}_{GROUPS[device.role]}"
        if device.nos:
            yield f"nos_{group_name(device.nos)}"
    distinct = {"pod": fabric.sizing.tiers == 3, "plane": fabric.spec.planes > 1, "rail": True, "unit": True}
    for key, several in distinct.items():
        if several and getattr(device, key) >= 0:
            yield f"{name}_{key}{getattr(device, key) + 1}"


def group_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", text)
