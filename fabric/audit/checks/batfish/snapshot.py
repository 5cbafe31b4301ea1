"""The folder that is given to Batfish: a copy of every taken switch's files, the routers outside, and the cables.

Nothing is written beside the rendered files. A copy differs from them where Batfish would read them wrong; the module of a
target says in what, and every line of a copy is known by where it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from fabric.audit.checks.batfish.client import is_modeled, view_of
from fabric.base.formats import json_text
from fabric.base.text import plural
from fabric.configs.port_names import PortNames
from fabric.model.plan import CORE, LEAF, SPINE, Device, External, FabricPlan, Plan, SwitchView
from fabric.nos.batfish import FORMAT, VRF, Copies, Copy, routing, start

# --- subset ---------------------------------------------------------------------------------------------------
# Which switches of a plan go to Batfish: all of a site of up to 128, of a larger one a part that has everything once.
#
# Batfish takes about 40 MB a switch, and time that grows faster than the count. Of a fabric that is too large the part has
# two units of each of two pods, every border leaf, and of the tiers above as many of each group as fit, the same number of
# each: all roles, all planes and rails, sessions and equal paths of every kind, fewer of each.

MOST = 128
UNITS, PODS = 2, 2
NOUNS = ((LEAF, "leaf", "leaves"), (SPINE, "spine", "spines"), (CORE, "core", "cores"))


@dataclass(frozen=True, slots=True)
class Subset:
    """The switches that are taken, by fabric."""

    taken: Mapping[str, tuple[Device, ...]]
    count: int  # of switches with a configuration, in all
    named: str  # "" when all are taken

    @property
    def names(self) -> frozenset[str]:
        return frozenset(device.name for devices in self.taken.values() for device in devices)


def subset(plan: Plan, max_switches: int = MOST) -> Subset:
    """All switches, or as many as `most`, shared among the fabrics; the small ones keep all of theirs."""
    sizes = {name: sum(1 for device in fabric.switches if device.nos) for name, fabric in plan.fabrics.items()}
    sizes = {name: size for name, size in sizes.items() if size}
    count, left = sum(sizes.values()), max_switches
    taken: dict[str, tuple[Device, ...]] = {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        share = left // (len(sizes) - place)
        fabric = plan.fabrics[name]
        taken[name] = fabric.switches if sizes[name] <= share else _part(fabric, share)
        left -= len(taken[name])
    ordered = {name: taken[name] for name in plan.fabrics if name in taken}
    chosen = sum(map(len, ordered.values()))
    if chosen == count:
        return Subset(ordered, count, "")
    parts = "; ".join(_named(name, devices) for name, devices in ordered.items())
    return Subset(ordered, count, f"{chosen:,} of {count:,} switches: {parts}")


def _named(name: str, devices: Iterable[Device]) -> str:
    found = list(devices)
    words = []
    for role, noun, nouns in NOUNS:
        names = [device.name for device in found if device.role == role]
        if names:
            words.append(f"{plural(len(names), noun, nouns)} ({names[0]} … {names[-1]})" if len(names) > 1 else names[0])
    return f"{name} with {', '.join(words)}"


def _part(fabric: FabricPlan, most: int) -> tuple[Device, ...]:
    """A part of one fabric: fewer of each group of spines and cores until it fits, then fewer leaves of each rail."""
    leaves = _leaves(fabric)
    for lesser in (leaves, _first(leaves, 2, _rail), _first(leaves, 1, _rail)):
        for each in range(most, 1, -1):
            found = _with_tiers(fabric, lesser, each)
            if len(found) <= most:
                return found
    return found[-most:]  # cores first, leaves last


def _leaves(fabric: FabricPlan) -> list[Device]:
    leaves = [device for device in fabric.switches if device.role == LEAF]
    pods = sorted({leaf.pod for leaf in leaves})[:PODS]
    units = {pod: sorted({leaf.unit for leaf in leaves if leaf.pod == pod})[:UNITS] for pod in pods}
    border = {int(fabric.links.b[connection.link]) for connection in fabric.tenancy.external_connections}
    wanted = {leaf.index for leaf in leaves if leaf.pod in units and leaf.unit in units[leaf.pod]} | border
    wanted |= {fabric.tenancy.pair[index] for index in wanted if index in fabric.tenancy.pair}
    return [leaf for leaf in leaves if leaf.index in wanted]


def _with_tiers(fabric: FabricPlan, leaves: list[Device], each: int) -> tuple[Device, ...]:
    """The leaves, and of what is above them `each` of every group."""
    near = _neighbors(fabric)
    spines = _first(_above(fabric, leaves, SPINE, near), each, lambda device: (device.pod, device.plane))
    below = {spine.index for spine in spines}
    cores = _above(fabric, spines, CORE, near)
    cores = _first(cores, each, lambda core: frozenset(near[core.index] & below))
    chosen = {device.index for device in (*leaves, *spines, *cores)}
    return tuple(device for device in fabric.switches if device.index in chosen)


def _neighbors(fabric: FabricPlan) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for a, b in set(zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True)):
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return found


def _above(fabric: FabricPlan, devices: Iterable[Device], role: str, near: Mapping[int, set[int]]) -> list[Device]:
    wanted = {index for device in devices for index in near.get(device.index, ())}
    return [device for device in fabric.switches if device.role == role and device.index in wanted]


def _rail(leaf: Device) -> Hashable:
    return leaf.pod, leaf.plane, leaf.rail


def _first(devices: Iterable[Device], each: int, group: Callable[[Device], Hashable]) -> list[Device]:
    """The first `each` of every group."""
    seen: dict[Hashable, int] = {}
    kept = []
    for device in devices:
        key = group(device)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= each:
            kept.append(device)
    return kept


# --- outside --------------------------------------------------------------------------------------------------
# External routers: the plan has no configuration for them, so one is made with which their sessions come up.
#
# Each has a VRF per tenant, which keeps tenants apart, and announces in it what the border leaves accept. It announces
# nothing to tenants of an overlay: Batfish removes a BGP route from a VRF when that is exported to EVPN, which would show a
# loop between two border leaves.

PORT = "swp"


@dataclass(frozen=True, slots=True)
class Session:
    """A session as the border leaf sees it, and what the router outside has of it."""

    interface: str
    border: External
    asn: int  # of the leaf
    tells: tuple[str, ...]  # prefixes


def outside_copies(views: Iterable[SwitchView]) -> Iterator[Copy]:
    """A Linux host for every external router; IPv4 only."""
    routers: dict[str, list[Session]] = {}
    ports: dict[str, dict[tuple[str, object], str]] = {}
    for view in views:
        for external in view.externals:
            if ":" in external.peer_address or (external.vrf and not is_modeled(view.device.nos, VRF)):
                continue
            known = ports.setdefault(external.peer, {})
            port = known.setdefault((view.device.name, external.port.ref), f"{PORT}{len(known) + 1}")
            interface = f"{port}.{external.tag}" if external.tag else port
            tells = () if external.vrf and view.overlay else external.accepts
            routers.setdefault(external.peer, []).append(Session(interface, external, view.device.asn, tells))
    for name in sorted(routers):
        yield _router(name.lower(), routers[name])


def _router(name: str, sessions: list[Session]) -> Copy:
    writer = start(name, "")
    tables = sorted({session.border.vrf for session in sessions})
    for table in filter(None, tables):
        for line in (f"auto {table}", f"iface {table}", "    vrf-table auto"):
            writer.add(line)
    interfaces = {session.interface for session in sessions}
    for port in sorted({interface.partition(".")[0] for interface in interfaces} - interfaces):
        writer.add(f"iface {port}")
    for session in sessions:
        length = ip_interface(session.border.address).network.prefixlen
        writer.add(f"iface {session.interface}")
        writer.add(f"    address {session.border.peer_address}/{length}")
        if session.border.vrf:
            writer.add(f"    vrf {session.border.vrf}")
    routing(writer)
    for table in tables:
        for line in _table(table, [session for session in sessions if session.border.vrf == table]):
            writer.add(line)
    return writer.copy(f"configs/{name}.cfg", FORMAT)


def _table(table: str, sessions: list[Session]) -> Iterator[str]:
    """What it tells is what it has a route for, to nowhere."""
    if table:
        yield f"vrf {table}"
    for prefix in sorted({prefix for session in sessions for prefix in session.tells}):
        yield f"{' ' if table else ''}ip route {prefix} Null0"
    yield f"router bgp {sessions[0].border.peer_asn}" + (f" vrf {table}" if table else "")
    for session in sessions:
        yield f" neighbor {ip_interface(session.border.address).ip} remote-as {session.asn}"
    yield " address-family ipv4 unicast"
    yield "  redistribute static"
    yield " exit-address-family"


Files = Callable[[Device], Mapping[str, str]]  # the rendered files of a switch: path → text


@dataclass(frozen=True)
class Texts:
    """The files that Batfish is asked about. Batfish writes every name in small letters, and so does this."""

    copies: Mapping[str, Copies]  # by name of the switch
    outside: tuple[Copy, ...] = ()

    def origin(self, path: str, line: int) -> tuple[str, str, int] | None:
        """(switch, rendered file, line) of a line of the snapshot; None when it is no copy of anything."""
        device, copy = self._by_path.get(path, ("", None))
        return (device, *copy.origin(line)) if copy else None

    def copy_at(self, path: str) -> Copies | None:
        """What was copied of the switch that a file of the snapshot is of; None when it is no copy of anything."""
        device, copy = self._by_path.get(path, ("", None))
        return self.copies[device.lower()] if copy else None

    def edges(self) -> Iterable[dict[str, Any]]:
        """The cables, as `layer1_topology.json` has them; none are known of files alone."""
        return ()

    @cached_property
    def _by_path(self) -> Mapping[str, tuple[str, Copy]]:
        return {copy.path: (found.device, copy) for found in self.copies.values() for copy in found.copies}


@dataclass(frozen=True)
class Snapshot(Texts):
    """The files of the switches of a plan."""

    plan: Plan = field(kw_only=True)
    subset: Subset = field(kw_only=True)
    views: Mapping[str, Mapping[str, SwitchView]] = field(kw_only=True)  # fabric → switch → its view

    def edges(self) -> Iterable[dict[str, Any]]:
        return cables(self)


def build(plan: Plan, part: Subset, files: Files, views: Callable[[FabricPlan, Device], SwitchView]) -> Snapshot:
    """Copies the files of the switches of a subset; a switch of a target that Batfish has no reader for has no copy."""
    views_of: dict[str, dict[str, SwitchView]] = {}
    copies: dict[str, Copies] = {}
    for name, devices in part.taken.items():
        views_of[name] = {device.name.lower(): views(plan.fabrics[name], device) for device in devices if view_of(device.nos)}
        for device in devices:
            if known := view_of(device.nos):
                rendered = dict(files(device))
                made = tuple(known.reads(device.name.lower(), rendered))
                copies[device.name.lower()] = Copies(device=device.name, nos=device.nos, files=rendered, copies=made)
    outside = tuple(outside_copies(view for taken in views_of.values() for view in taken.values()))
    return Snapshot(copies, outside, plan=plan, subset=part, views=views_of)


def write(snapshot: Texts, folder: Path) -> None:
    """Writes the folder; it must be empty or new."""
    for copy in (*(copy for found in snapshot.copies.values() for copy in found.copies), *snapshot.outside):
        path = folder / copy.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(copy.text, encoding="utf-8")
    path = folder / "batfish" / "layer1_topology.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text({"edges": list(snapshot.edges())}, indent=1) + "\n", encoding="utf-8")


def cables(snapshot: Snapshot) -> Iterable[dict[str, Any]]:
    """The links between the selected switches and to the external routers; each once, with port names of the network OS."""
    for name, views in snapshot.views.items():
        names = PortNames(snapshot.plan.fabrics[name])
        numbers: dict[str, int] = {}
        for view in views.values():
            for port in view.ports:
                peer = port.peer
                if peer is None or port.kind not in ("fabric", "attachment"):
                    continue
                end = _end(view.device.name, names.port_name(view.device, port.ref))
                if peer.port is not None and peer.device.name.lower() in views:
                    if (view.device.index, view.device.name) < (peer.device.index, peer.device.name):
                        yield {"node1": end, "node2": _end(peer.device.name, names.port_name(peer.device, peer.port))}
                elif any(external.port.ref == port.ref for external in view.externals):
                    numbers[peer.device.name] = numbers.get(peer.device.name, 0) + 1
                    yield {"node1": end, "node2": _end(peer.device.name, f"{PORT}{numbers[peer.device.name]}")}


def _end(device: str, port: str) -> dict[str, str]:
    return {"hostname": device.lower(), "interfaceName": port}
