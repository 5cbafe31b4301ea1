"""EVPN carries what the plan says: tunnels of networks (type 3), hosts (type 2), and prefixes of tenants (type 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from ipaddress import ip_interface
from typing import Any

from fabric.lab.blueprint import End
from fabric.lab.expected.endpoints import Endpoint, endpoints, gateway_of
from fabric.lab.live import Live
from fabric.lab.machine.ping import Ping, ping
from fabric.lab.outcome import Fault
from fabric.lab.proofs.base import Proof, Shown, skip
from fabric.nos.target import target
from fabric.plan import SwitchView

PATIENCE_S = 20.0


def show(live: Live) -> Shown:
    """Waits until all of it is there."""
    if not _tunnels(live, frozenset(live.lab.views)):
        return skip("no switch of the lab has an overlay")
    counts, faults = wait(live, frozenset(live.lab.views))
    words = f"{counts[3]} tunnels of networks (type 3), {counts[2]} hosts (type 2), {counts[5]} prefixes of tenants (type 5)"
    measured = {"type_2": counts[2], "type_3": counts[3], "type_5": counts[5]}
    return Shown(words, tuple(faults), measured)


def wait(live: Live, switches: frozenset[str], patience_s: float = PATIENCE_S) -> tuple[dict[int, int], list[Fault]]:
    """Waits until some switches have all of it: (routes by type, what is missing)."""
    tunnels = _tunnels(live, switches)
    hosts = [end for end in endpoints(live.lab) if end.network and ":" not in end.address and end.leaf in tunnels]
    # Hosts are learned from what they send; a gateway is asked by each.
    ping(live, [Ping(e.server, e.address, gateway_of(e)) for e in hosts if e.network and e.network.gateway], tries=2)
    began = time.monotonic()
    while True:
        counts, faults = _look(live, tunnels, hosts)
        if not faults or time.monotonic() - began > patience_s:
            return counts, faults
        time.sleep(0.5)


def _tunnels(live: Live, switches: frozenset[str]) -> dict[str, SwitchView]:
    views = live.lab.views.items()
    return {name: view for name, view in views if name in switches and view.overlay and view.overlay.vtep}


def _look(live: Live, tunnels: dict[str, SwitchView], hosts: list[Endpoint]) -> tuple[dict[int, int], list[Fault]]:
    counts, faults = {2: 0, 3: 0, 5: 0}, list[Fault]()
    known = live.ask_all(tunnels, "zebra", "show evpn vni detail json")
    routers = live.ask_all(tunnels, "zebra", "show evpn next-hops vni all json")
    macs = live.ask_all([name for name, view in tunnels.items() if view.networks], "zebra", "show evpn mac vni all json")
    flooded, hosted, prefixes = _Spread("no tunnel to it"), _Spread("unknown"), _Spread("missing")
    for name, view in tunnels.items():
        vnis = {int(row["vni"]): row for row in known[name] or () if isinstance(row, dict) and "vni" in row}
        faults += _vnis(view, vnis)
        joined = _flooded(view, tunnels, vnis, flooded)
        faults += _hosts(live, view, hosts, tunnels, macs.get(name) or {}, joined, hosted)
        faults += _prefixes(live, view, tunnels, routers[name] or {}, prefixes)
    for number, spread in ((3, flooded), (2, hosted), (5, prefixes)):
        counts[number] = spread.right
        faults += spread.faults()
    return counts, faults


class _Spread:
    """Routes that leaves advertise: if every leaf lacks one its origin is at fault, if some lack it those are."""

    def __init__(self, lacking: str) -> None:
        self.lacking = lacking
        self.right = 0
        self.have: dict[tuple[str, str], list[str]] = {}
        self.lack: dict[tuple[str, str], list[str]] = {}

    def note(self, what: str, home: str, at: str, there: bool) -> None:
        """`what` of `home` is there at another leaf, or not."""
        self.right += there
        (self.have if there else self.lack).setdefault((what, home), []).append(at)

    def faults(self) -> Iterator[Fault]:
        for (what, home), places in self.lack.items():
            if not self.have.get((what, home)):
                others = "any other leaf" if len(places) > 1 else places[0]
                yield Fault(home, f"{what} of {home}: {self.lacking} at {others}; check the route targets and VNI of {home}")
                continue
            for at in places:
                words = (
                    f"{self.lacking} at {at}, unlike at {self.have[what, home][0]}; check the route targets and VNI of {at}"
                )
                yield Fault(at, f"{what} of {home}: {words}")


def _vnis(view: SwitchView, known: dict[int, dict[str, Any]]) -> Iterator[Fault]:
    """Every planned VNI is there, from the planned address, in the planned table; and no other."""
    assert view.overlay is not None
    name, planned = view.device.name, {network.vni: network for network in view.networks}
    tables = {vrf.vni: vrf for vrf in view.vrfs if vrf.vni is not None}
    idiom = target(view.device.nos).idiom
    assert idiom is not None
    for vni in sorted({*planned, *tables} - known.keys()):
        expected = (
            f"network {planned[vni].name}"
            if vni in planned
            else f"tenant {tables[vni].name} ({idiom.vrf.format(tables[vni].name)})"
        )
        others = ", ".join(map(str, sorted(known.keys() - planned.keys() - tables.keys()))) or "no other"
        yield Fault(name, f"VNI {vni} of {expected} is missing; unplanned: {others}")
    for vni in sorted(known.keys() - planned.keys() - tables.keys()):
        yield Fault(name, f"VNI {vni} is not planned")
    for vni in sorted(planned.keys() & known.keys()):
        if (source := known[vni].get("vtepIp")) != view.overlay.vtep:
            yield Fault(name, f"VNI {vni}: tunnels start at {source}, planned {view.overlay.vtep}")
    for vni in sorted(tables.keys() & known.keys()):
        row, vrf = known[vni], idiom.vrf.format(tables[vni].name)
        l3_vnis = [number for number, other in known.items() if other.get("type") == "L3" and other.get("vrf") == vrf]
        if row.get("type") != "L3":
            yield Fault(name, f"VNI {vni} is not the L3 VNI of {vrf}, got {l3_vnis[0] if l3_vnis else 'none'}")
        elif row.get("vrf") != vrf:
            yield Fault(name, f"VNI {vni} belongs to {row.get('vrf')}, planned {vrf}")
        elif row.get("state") != "Up":
            yield Fault(name, f"VNI {vni} of {vrf} is {row.get('state', 'not there')}: its bridge or tunnel is missing")


def _flooded(
    view: SwitchView, tunnels: dict[str, SwitchView], known: dict[int, dict[str, Any]], spread: _Spread
) -> set[tuple[int, str]]:
    """Type 3: each leaf that has a network knows every other one that has it; (VNI, leaf) of those that it knows."""
    joined = set[tuple[int, str]]()
    for network in view.networks:
        row = known.get(network.vni, {})
        remote = row.get("numRemoteVteps") or []
        vteps = (
            {str(entry.get("ip", entry)) if isinstance(entry, dict) else str(entry) for entry in remote}
            if remote != "n/a"
            else set()
        )
        for other, far in tunnels.items():
            if other == view.device.name or far.fabric != view.fabric or network.vni not in {n.vni for n in far.networks}:
                continue
            assert far.overlay is not None
            if far.overlay.vtep in vteps:
                joined.add((network.vni, other))
            if row:
                spread.note(f"VNI {network.vni}", other, view.device.name, far.overlay.vtep in vteps)
    return joined


def _hosts(
    live: Live,
    view: SwitchView,
    hosts: list[Endpoint],
    tunnels: dict[str, SwitchView],
    known: dict[str, Any],
    joined: set[tuple[int, str]],
    spread: _Spread,
) -> Iterator[Fault]:
    """Type 2: each leaf that has a network knows the hosts of it at the leaves that it has tunnels to."""
    for end in hosts:
        if end.network is None or end.fabric != view.fabric or (end.network.vni, end.leaf) not in joined:
            continue
        far = tunnels[end.leaf]
        mac = live.interface(End(end.server, end.interface)).mac
        row = (known.get(str(end.network.vni)) or {}).get("macs", {}).get(mac, {})
        assert far.overlay is not None
        location = row.get("remoteVtep") or row.get("intf")
        if location and (row.get("type") != "remote" or location != far.overlay.vtep):
            words = f"VNI {end.network.vni}: {end.shown} is known at {location}, planned {end.leaf} ({far.overlay.vtep})"
            yield Fault(view.device.name, words)
        else:
            spread.note(f"VNI {end.network.vni}: {end.shown}", end.leaf, view.device.name, bool(location))


def _prefixes(
    live: Live, view: SwitchView, tunnels: dict[str, SwitchView], routers: dict[str, Any], spread: _Spread
) -> Iterator[Fault]:
    """Type 5: each tenant's table has the subnets of its servers at other leaves, over tunnels whose far end is known."""
    idiom = target(view.device.nos).idiom
    assert idiom is not None
    for vrf in view.vrfs:
        if vrf.vni is None:
            continue
        name = idiom.vrf.format(vrf.name)
        table = live.table(view.device.name, name)
        connected_prefixes = connected(live, view, vrf.name)
        for prefix, leaves in _elsewhere(live, view, vrf.name, tunnels).items():
            if prefix in connected_prefixes:
                continue
            gateways = {hop.gateway for hop in table.get(prefix, ())}
            vteps = {far.overlay.vtep for far in leaves if far.overlay and far.overlay.vtep}
            if gateways and not gateways <= vteps:
                planned = ", ".join(sorted(vteps))
                yield Fault(view.device.name, f"{prefix} in {name}: over {', '.join(sorted(gateways))}, planned {planned}")
            elif gateways - (routers.get(str(vrf.vni)) or {}).keys():
                yield Fault(view.device.name, f"{prefix} in {name}: router MAC of {', '.join(sorted(gateways))} is unknown")
            else:
                spread.note(f"{prefix} in {name}", leaves[0].device.name, view.device.name, bool(gateways))


def _elsewhere(live: Live, view: SwitchView, tenant: str, tunnels: dict[str, SwitchView]) -> dict[str, list[SwitchView]]:
    found: dict[str, list[SwitchView]] = {}
    for far in tunnels.values():
        if far.fabric != view.fabric or far.device.name == view.device.name:
            continue
        outside = [p for way in far.externals if way.vrf == tenant for p in way.accepts if "/" in p and p.endswith("/0")]
        for prefix in (*connected(live, far, tenant), *outside):
            found.setdefault(prefix, []).append(far)
    if any(way.vrf == tenant for way in view.externals):  # the external connection of a border leaf itself is preferred
        found = {prefix: leaves for prefix, leaves in found.items() if not prefix.endswith("/0")}
    return found


def connected(live: Live, view: SwitchView, tenant: str) -> list[str]:
    """Subnets of a tenant at a leaf, of ports whose cable is in the lab."""
    name = target(view.device.nos).port_name
    found = [str(ip_interface(n.gateway).network) for n in view.networks if n.vrf == tenant and n.gateway]
    for port in view.ports:
        routed = port.kind == "server" and port.vrf == tenant and port.up
        if routed and port.address and live.far(view.device.name, name(view.model, port.ref, view.device.model)):
            found.append(str(ip_interface(port.address).network))
    return list(dict.fromkeys(found))


PROOF = Proof("overlay", "EVPN routes", show)
