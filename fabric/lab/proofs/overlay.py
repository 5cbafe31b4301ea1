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
from fabric.plan.views import SwitchView
from fabric.vendors.base import target

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
    for name, view in tunnels.items():
        vnis = {int(row["vni"]): row for row in known[name] or () if isinstance(row, dict) and "vni" in row}
        faults += _vnis(view, vnis)
        for number, found in _flooded(view, tunnels, vnis):
            counts[number] += found is None
            faults += [found] if found else []
        for found in _hosts(live, view, hosts, tunnels, macs.get(name) or {}):
            counts[2] += found is None
            faults += [found] if found else []
        for found in _prefixes(live, view, tunnels, routers[name] or {}):
            counts[5] += found is None
            faults += [found] if found else []
    return counts, faults


def _vnis(view: SwitchView, known: dict[int, dict[str, Any]]) -> Iterator[Fault]:
    """Every planned VNI is there, from the planned address, in the planned table; and no other."""
    assert view.overlay is not None
    name, planned = view.device.name, {network.vni: network for network in view.networks}
    tables = {vrf.vni: vrf for vrf in view.vrfs if vrf.vni is not None}
    idiom = target(view.device.nos).idiom
    assert idiom is not None
    for vni in sorted({*planned, *tables} - known.keys()):
        what = (
            f"network {planned[vni].name}"
            if vni in planned
            else f"tenant {tables[vni].name} ({idiom.vrf.format(tables[vni].name)})"
        )
        others = ", ".join(map(str, sorted(known.keys() - planned.keys() - tables.keys()))) or "no other"
        yield Fault(name, f"VNI {vni} of {what} is not there; unplanned: {others}")
    for vni in sorted(known.keys() - planned.keys() - tables.keys()):
        yield Fault(name, f"VNI {vni} is not planned")
    for vni in sorted(planned.keys() & known.keys()):
        if (source := known[vni].get("vtepIp")) != view.overlay.vtep:
            yield Fault(name, f"VNI {vni}: tunnels start at {source}, planned {view.overlay.vtep}")
    for vni in sorted(tables.keys() & known.keys()):
        row, vrf = known[vni], idiom.vrf.format(tables[vni].name)
        if row.get("vrf") != vrf:
            yield Fault(name, f"VNI {vni} is that of {row.get('vrf')}, planned {vrf}")
        elif row.get("state") != "Up":
            others = ", ".join(map(str, sorted(known.keys() - planned.keys() - tables.keys()))) or "no other"
            state = row.get("state", "not there")
            yield Fault(name, f"VNI {vni} of {vrf} is {state}: its bridge or tunnel is missing, or the VRF's VNI ({others})")


def _flooded(
    view: SwitchView, tunnels: dict[str, SwitchView], known: dict[int, dict[str, Any]]
) -> Iterator[tuple[int, Fault | None]]:
    """Type 3: each leaf that has a network knows every other one that has it."""
    for network in view.networks:
        row = known.get(network.vni, {})
        remote = row.get("numRemoteVteps") or []
        there = (
            {str(one.get("ip", one)) if isinstance(one, dict) else str(one) for one in remote} if remote != "n/a" else set()
        )
        for other, far in tunnels.items():
            if other == view.device.name or far.fabric != view.fabric or network.vni not in {n.vni for n in far.networks}:
                continue
            assert far.overlay is not None
            if far.overlay.vtep in there:
                yield 3, None
            elif row:
                yield (
                    3,
                    Fault(
                        view.device.name,
                        f"VNI {network.vni} of {other} ({far.overlay.vtep}): no tunnel; route targets?",
                    ),
                )


def _hosts(
    live: Live, view: SwitchView, hosts: list[Endpoint], tunnels: dict[str, SwitchView], known: dict[str, Any]
) -> Iterator[Fault | None]:
    """Type 2: each leaf that has a network knows the hosts of it at other leaves."""
    networks = {network.vni for network in view.networks}
    for end in hosts:
        if (
            end.network is None
            or end.fabric != view.fabric
            or end.leaf == view.device.name
            or end.network.vni not in networks
        ):
            continue
        far = tunnels[end.leaf]
        mac = live.interface(End(end.server, end.interface)).mac
        row = (known.get(str(end.network.vni)) or {}).get("macs", {}).get(mac, {})
        assert far.overlay is not None
        if row.get("type") == "remote" and row.get("remoteVtep") == far.overlay.vtep:
            yield None
        else:
            at = row.get("remoteVtep") or row.get("intf") or "nowhere"
            words = f"VNI {end.network.vni}: {end.shown} is known at {at}, planned {end.leaf} ({far.overlay.vtep})"
            yield Fault(view.device.name, words)


def _prefixes(
    live: Live, view: SwitchView, tunnels: dict[str, SwitchView], routers: dict[str, Any]
) -> Iterator[Fault | None]:
    """Type 5: each tenant's table has the subnets of its servers at other leaves, over tunnels whose far end is known."""
    idiom = target(view.device.nos).idiom
    assert idiom is not None
    for vrf in view.vrfs:
        if vrf.vni is None:
            continue
        name = idiom.vrf.format(vrf.name)
        table = live.table(view.device.name, name)
        own = connected(live, view, vrf.name)
        for prefix, leaves in _elsewhere(live, view, vrf.name, tunnels).items():
            if prefix in own:
                continue
            there = {hop.gateway for hop in table.get(prefix, ())}
            vteps = {far.overlay.vtep for far in leaves if far.overlay}
            if there and there <= vteps and there <= (routers.get(str(vrf.vni)) or {}).keys():
                yield None
            elif there and there <= vteps:
                yield Fault(view.device.name, f"{prefix} in {name}: no router MAC of {', '.join(sorted(there))} is known")
            else:
                homes = ", ".join(far.device.name for far in leaves)
                words = (
                    f"{prefix} of {homes} is not in {name} (route targets?)"
                    if not there
                    else f"{prefix} in {name}: over {', '.join(there)}"
                )
                yield Fault(leaves[0].device.name if not there else view.device.name, f"{words} at {view.device.name}")


def _elsewhere(live: Live, view: SwitchView, tenant: str, tunnels: dict[str, SwitchView]) -> dict[str, list[SwitchView]]:
    found: dict[str, list[SwitchView]] = {}
    for far in tunnels.values():
        if far.fabric != view.fabric or far.device.name == view.device.name:
            continue
        outside = [p for way in far.externals if way.vrf == tenant for p in way.accepts if "/" in p and p.endswith("/0")]
        for prefix in (*connected(live, far, tenant), *outside):
            found.setdefault(prefix, []).append(far)
    if any(way.vrf == tenant for way in view.externals):  # a border's own way out is nearer than another one's
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
