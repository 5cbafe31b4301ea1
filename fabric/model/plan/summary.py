"""The output of `fabric plan --json`: counts, ports, ratios, limits. Depends on the sizing only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fabric.base.schemas.models import Amount, Count, Document, Text, each_of, enum_of, json_key
from fabric.base.text import percent
from fabric.model.plan.cages import Layout, capacity, leaf_layout, spare, spine_layout
from fabric.model.plan.sizing import GroupSize, Sizing
from fabric.model.plan.spec import SWITCHLESS, FabricSpec
from fabric.model.plan.topology import CORE, KINDS, LEAF, SERVER_SERVER, SPINE, SWITCH_ROLES, WITH_SWITCHES

# --- the document ---------------------------------------------------------------------------------------------

ByKind = each_of(KINDS, required=WITH_SWITCHES)
ByRole = each_of(SWITCH_ROLES)


class UnitDocument(Document):
    servers: Count
    gpus: Count
    leaves: Count


class PodsDocument(Document):
    count: Count
    units: Count
    leaves: Count
    spines: Count
    rails: Count = json_key("of a pod, where the intent states them", default=None)


class LengthDocument(Document):
    metres: Count
    source: str = json_key('source of the length; "" without links')


class PortsDocument(Document):
    down: Count
    up: Count
    spare: Count
    down_speed_gbps: Count
    up_speed_gbps: Count
    further: dict[str, Count] = json_key("Gb/s → ports of NICs of other purposes, and of groups without leaves", default=None)


class BgpDocument(Document):
    sessions: Count
    asns: Count


class LimitsDocument(Document):
    max_servers: Count
    max_gpus: Count


class GroupDocument(Document):
    """Servers of one kind, with units and leaves of their own; without units where they share those of another."""

    model: Text
    servers: Count
    gpus: Count
    units: Count
    unit: UnitDocument
    leaves: Count
    ports: PortsDocument = json_key("of a leaf")
    oversubscription: Amount = json_key("of a leaf, as built")


class PlannedDocument(Document):
    servers: Count
    units: Count
    switches: Annotated[dict[str, Count], ByRole]
    oversubscription: Annotated[dict[str, Amount], each_of((LEAF,))]


class FabricDocument(Document):
    purpose: Annotated[str, enum_of(("compute", "storage", "frontend", "oob"))]
    kind: Annotated[str, enum_of(("rail-optimized", "rack", "rail-only", "collapsed", *SWITCHLESS))]
    servers: Count
    gpus: Count
    tiers: Literal[0, 1, 2, 3] = json_key("0: servers cabled to each other")
    planes: Count
    planes_active: Count = json_key("planes in service, where they are not all", default=None)
    units: Count
    unit: UnitDocument = json_key("the largest unit")
    pods: PodsDocument
    switches: Annotated[dict[str, Count], ByRole]
    models: Annotated[dict[str, Text], each_of(SWITCH_ROLES, required=())] = json_key("of the switches, by tier")
    links: Annotated[dict[str, Count], ByKind] = json_key("logical links of all planes and pods")
    cables: Annotated[dict[str, Count], ByKind] = json_key("occupied cages at the lower end")
    lengths: Annotated[dict[str, LengthDocument], ByKind] = json_key("that headroom is computed for")
    ports: Annotated[dict[str, PortsDocument], ByRole] = json_key("of one switch")
    oversubscription: Annotated[dict[str, Amount | None], each_of((LEAF, SPINE))] = json_key("as built")
    bgp: BgpDocument
    limits: LimitsDocument = json_key("at these tiers")
    groups: dict[str, GroupDocument] = json_key(
        "servers by group, where a fabric has several; `ports.leaf` and `unit` are those of the group with most leaves",
        default=None,
    )
    planned: PlannedDocument = json_key("the finished fabric that room is left for", default=None)


class PlanDocument(Document):
    """Counts of every fabric, over all planes and pods; zeros are present."""

    site: Text
    fabrics: dict[str, FabricDocument]


# --- counts ---------------------------------------------------------------------------------------------------


def links(spec: FabricSpec, sizing: Sizing) -> dict[str, int]:
    """Logical Ethernet links by kind, over all planes and pods."""
    if spec.switchless:
        return {**dict.fromkeys(WITH_SWITCHES, 0), KINDS[SERVER_SERVER]: sizing.direct_links}
    return {
        "server-leaf": sum(group.count * use.ports for group in spec.groups for use in group.uses),
        "leaf-leaf": sizing.planes * sizing.groups[0].uplinks if sizing.kind == "collapsed" else 0,
        "leaf-spine": sizing.leaf_spine_links(),
        "spine-core": sizing.spine_core_links(),
        "attachments": sizing.attachments,
    }


def cables(spec: FabricSpec, sizing: Sizing) -> dict[str, int]:
    """Occupied cages at the lower end of each kind of link."""
    count = links(spec, sizing)
    if spec.switchless:
        return count
    leaf_spine = leaf_leaf = 0
    for group in sizing.groups:
        layout = leaf_layout(spec, sizing, group)
        if sizing.kind == "collapsed":
            leaf_leaf += sizing.planes * layout.up_cages
            continue
        full_links = sizing.links_per_spine(group)
        full_cages = _cages(layout, full_links, full_links, sizing.spines_built)
        last_cages = [_cages(layout, full_links, few, sizing.spines_built) for few in group.last_unit]
        leaf_spine += full_cages * (group.leaves - len(last_cages)) + sum(last_cages)
    return {
        **count,
        "leaf-leaf": leaf_leaf,
        "leaf-spine": leaf_spine,
        "spine-core": sizing.spine_count * _spine_core_cages(spec, sizing),
    }


def _cages(layout: Layout, full_links: int, links_: int, spines: int) -> int:
    """Cages of a leaf that carry an uplink when each of `spines` spines has `links_` of its `full_links` links."""
    return len({layout.up[spine * full_links + link].cage for spine in range(spines) for link in range(links_)})


def _spine_core_cages(spec: FabricSpec, sizing: Sizing) -> int:
    if sizing.tiers < 3:
        return 0
    layout = spine_layout(spec, sizing)
    return len({slot.cage for slot in layout.up[: sizing.links_per_core * sizing.cores_built]})


Ports = dict[str, Any]  # numbers, and a mapping of the further ones


def _leaf_ports(spec: FabricSpec, sizing: Sizing, group: GroupSize) -> Ports:
    if not group.unit_leaves:
        return _ports(0, 0, 0, 0, 0)
    layout = leaf_layout(spec, sizing, group)
    built = sizing.links_per_spine(group) * sizing.spines_built if sizing.spines else group.uplinks
    free = spare(spec.leaf.model, layout, group.down_gbps, group.beside) + len(layout.down) - group.down
    ports = _ports(group.down, built, free, group.down_gbps, sizing.uplink_gbps)
    return ports | ({"further": {str(speed): count for speed, count in group.beside}} if group.beside else {})


def _spine_ports(spec: FabricSpec, sizing: Sizing) -> Ports:
    if not sizing.spines:
        return _ports(0, 0, 0, 0, 0)
    if sizing.tiers == 2:
        used = sum(g.leaves // sizing.networks * sizing.links_per_spine(g) for g in sizing.groups)
        return _ports(used, 0, capacity(spec.spine.model, sizing.uplink_gbps) - used, sizing.uplink_gbps, 0)
    pod = max(
        g.leaves_of_pod(min(g.units, sizing.units_per_pod), sizing.networks) * sizing.links_per_spine(g)
        for g in sizing.groups
    )
    layout = spine_layout(spec, sizing)
    free = spare(spec.spine.model, layout, sizing.uplink_gbps) + len(layout.down) - pod
    return _ports(pod, sizing.links_per_core * sizing.cores_built, free, sizing.uplink_gbps, sizing.core_gbps)


def _core_ports(spec: FabricSpec, sizing: Sizing) -> Ports:
    if sizing.tiers < 3:
        return _ports(0, 0, 0, 0, 0)
    used = sizing.pods * min(sizing.spines_per_core, sizing.spines_built) * sizing.links_per_core
    return _ports(used, 0, capacity(spec.core.model, sizing.core_gbps) - used, sizing.core_gbps, 0)


def _ports(down: int, up: int, free: int, down_gbps: int, up_gbps: int) -> Ports:
    return {"down": down, "up": up, "spare": free, "down_speed_gbps": down_gbps, "up_speed_gbps": up_gbps}


def oversubscription(sizing: Sizing, ports: dict[str, Ports]) -> dict[str, float | None]:
    """What was built: server bandwidth per uplink bandwidth of a leaf, bandwidth down per up of a spine."""
    leaf, spine = ports["leaf"], ports["spine"]
    return {
        "leaf": _ratio(leaf) if sizing.tiers else None,
        "spine": _ratio(spine) if sizing.tiers == 3 else None,
    }


def _ratio(ports: Ports) -> float:
    up = ports["up"] * ports["up_speed_gbps"]
    if not up:
        return 1.0  # without spines: what leaves carry has no uplinks to share
    down = ports["down"] * ports["down_speed_gbps"]
    down += sum(int(speed) * count for speed, count in ports.get("further", {}).items())
    return float(round(down / up, 4))


def asns(spec: FabricSpec, sizing: Sizing) -> int:
    """AS numbers in use: by RFC 7938 one per leaf, one per pod's spines, one for the cores; or one per switch."""
    if not sizing.bgp:
        return 0
    if spec.underlay.asn.scheme == "per-device":
        return sizing.leaves + sizing.spine_count + sizing.core_count
    return leaf_asns(spec, sizing) + (sizing.spine_pods if sizing.spines else 0) + (1 if sizing.tiers == 3 else 0)


def leaf_asns(spec: FabricSpec, sizing: Sizing) -> int:
    """AS numbers of leaves: one each, or one for each pair."""
    if spec.underlay.asn.scheme != "per-pair":
        return sizing.leaves
    widths = (spec.leaves_per_nic(group) // spec.planes for group in spec.groups)
    return sum(size.leaves // max(1, width) for size, width in zip(sizing.groups, widths, strict=True))


def summary(spec: FabricSpec, sizing: Sizing) -> dict[str, Any]:
    """One fabric as `plan --json` prints it. Zeros are present; counts cover all planes and pods."""
    widest = max(range(len(sizing.groups)), key=lambda i: (sizing.groups[i].leaves, -i))
    group, server = sizing.groups[widest], spec.groups[widest].server
    ports = {
        "leaf": _leaf_ports(spec, sizing, group) if sizing.tiers else _ports(0, 0, 0, 0, 0),
        "spine": _spine_ports(spec, sizing),
        "core": _core_ports(spec, sizing),
    }
    count = links(spec, sizing)
    pod_units = sizing.units_per_pod if sizing.tiers == 3 else sizing.units
    pod_leaves = group.leaves_of_pod(pod_units, 1) if sizing.tiers == 3 else sizing.leaves
    result: dict[str, Any] = {
        "purpose": spec.purpose,
        "kind": sizing.kind,
        "servers": sizing.servers,
        "gpus": sizing.gpus,
        "tiers": sizing.tiers,
        "planes": sizing.planes,
        "units": sizing.units,
        "unit": {
            "servers": group.unit_servers,
            "gpus": group.unit_servers * server.gpus,
            "leaves": group.unit_leaves,
        },
        "pods": {
            "count": sizing.pods if sizing.tiers == 3 else 1,
            "units": pod_units,
            "leaves": pod_leaves,
            "spines": sizing.networks * sizing.spines_built,
        },
        "switches": {"leaf": sizing.leaves, "spine": sizing.spine_count, "core": sizing.core_count},
        "models": _models(spec, sizing),
        "links": count,
        "cables": cables(spec, sizing),
        "lengths": {
            kind: {"metres": length.metres, "source": length.source}
            for kind, length in zip(KINDS, spec.lengths, strict=True)
            if kind in count
        },
        "ports": ports,
        "oversubscription": oversubscription(sizing, ports),
        "bgp": {
            "sessions": count["leaf-leaf"] + count["leaf-spine"] + count["spine-core"] if sizing.bgp else 0,
            "asns": asns(spec, sizing),
        },
        "limits": {"max_servers": sizing.limit_servers, "max_gpus": sizing.limit_gpus},
    }
    if spec.planes_active < spec.planes:
        result["planes_active"] = spec.planes_active
    if spec.constraints.pods and spec.constraints.pods.rails:
        result["pods"]["rails"] = spec.constraints.pods.rails
    if spec.links.any:
        result["stated_links"] = {"removed": len(spec.links.remove), "added": len(spec.links.add)}
    if len(sizing.groups) > 1:
        result["groups"] = {size.name: _group(spec, sizing, at) for at, size in enumerate(sizing.groups)}
    if spec.reserve:
        result["planned"] = _planned(spec, sizing)
    return result


def in_service(active: int, planes: int) -> str:
    """What the planes in service leave of a fabric, in words; "" of all."""
    return f"{active} of {planes} planes: {percent(active / planes)} of the bandwidth of a server" if active < planes else ""


MORE_ROOM = {
    1: "a larger `unit`, a switch with more ports or `tiers: 2`",
    2: "more spines, a larger `unit` or `tiers: 3`",
    3: "more spines and cores or a larger `unit`",
}  # by tiers


def limit_words(row: dict[str, Any]) -> str:
    """What the limit of a summary is of: which group grows, or that it is reached and what to change; "" if it is clear."""
    first = next(iter(row.get("groups", {})), "")
    if row["limits"]["max_servers"] > row.get("planned", row)["servers"]:
        return f"with more of {first} alone" if first else ""
    more = MORE_ROOM.get(row["tiers"], "")
    return f"no room for another unit{f' of {first}' if first else ''}: {more}" if more else ""


def kinds_of_switch(row: dict[str, Any]) -> Iterator[tuple[str, str, int, Ports]]:
    """Tier, group of servers, number and ports of the switches of a summary; leaves by group where there are several."""
    for tier in row["models"]:
        groups = _with_leaves(row) if tier == "leaf" else {}
        yield from ((tier, name, own["leaves"], own["ports"]) for name, own in groups.items())
        if not groups:
            yield tier, "", row["switches"][tier], row["ports"][tier]


def _with_leaves(row: dict[str, Any]) -> dict[str, Any]:
    return {name: own for name, own in row.get("groups", {}).items() if own["leaves"]}


def leaf_ratios(row: dict[str, Any]) -> list[float]:
    """The oversubscription of the leaves of a summary, each distinct one once, in the order of the groups."""
    ratios = [own["oversubscription"] for own in _with_leaves(row).values()] or [row["oversubscription"]["leaf"]]
    return [ratio for ratio in dict.fromkeys(ratios) if ratio is not None]


def built_ratio(row: dict[str, Any]) -> float:
    """Oversubscription of a summary as one number, over all tiers: that of the group of servers with the most. Spare
    bandwidth of spines does not make up for leaves without it."""
    leaf = max(leaf_ratios(row), default=1.0)
    return round(leaf * max(1.0, row["oversubscription"]["spine"] or 1.0), 4)


def _group(spec: FabricSpec, sizing: Sizing, index: int) -> dict[str, Any]:
    """One of several groups of servers."""
    group, server = sizing.groups[index], spec.groups[index].server
    ports = _leaf_ports(spec, sizing, group)
    return {
        "model": spec.groups[index].model,
        "servers": group.servers,
        "gpus": group.gpus,
        "units": group.units,
        "unit": {
            "servers": group.unit_servers,
            "gpus": group.unit_servers * server.gpus,
            "leaves": group.unit_leaves,
        },
        "leaves": group.leaves,
        "ports": ports,
        "oversubscription": _ratio(ports),
    }


def _models(spec: FabricSpec, sizing: Sizing) -> dict[str, str]:
    tiers = {"leaf": spec.leaf.switch} if sizing.tiers else {}
    if sizing.tiers >= 2:
        tiers["spine"] = spec.spine.switch
    if sizing.tiers == 3:
        tiers["core"] = spec.core.switch
    return tiers


def _planned(spec: FabricSpec, sizing: Sizing) -> dict[str, Any]:
    """The finished fabric that room is left for."""
    units = sum(group.units_planned for group in sizing.groups)
    group = sizing.groups[0]
    up = group.uplinks * sizing.uplink_gbps
    return {
        "servers": sum(s.planned for s in spec.groups),
        "units": units,
        "switches": {role: sizing.planned_by_role[role] for role in (LEAF, SPINE, CORE)},
        "oversubscription": {"leaf": round(group.leaf_gbps / up, 4) if up else 1.0},
    }
