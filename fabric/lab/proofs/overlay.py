"""EVPN carries what the plan says: tunnels of networks (type 3), hosts (type 2), and prefixes of tenants (type 5).

VNIs, tunnels and prefixes are judged by `fabric verify`; hosts and router MACs here, as no switch reports them in its state.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from fabric.audit.checks import Finding
from fabric.audit.verify.overlay_faults import Overlay, Spread
from fabric.audit.verify.sessions import OUTSIDE
from fabric.audit.verify.site import Site, Switch
from fabric.lab.blueprint import End
from fabric.lab.expected import OVERLAY, Endpoint, endpoints, gateway_of, sessions
from fabric.lab.live import Live
from fabric.lab.machine.daemons import forgets
from fabric.lab.machine.packets import Ping, ping
from fabric.lab.outcome import finding
from fabric.lab.proofs import base
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.lab.proofs.sessions import wait as wait_for_sessions
from fabric.model.plan import SwitchView, Vrf
from fabric.nos.state.records import EVPN

PATIENCE_S = 20.0
EARLY_S = 8.0  # of daemons that may forget


def show(live: Live) -> ProofResult:
    """Waits until all of it is there."""
    if not _tunnels(live, frozenset(live.lab.views)):
        return skip("no switch of the lab has an overlay")
    counts, faults = settled(live)
    words = f"{counts[3]} tunnels of networks (type 3), {counts[2]} hosts (type 2), {counts[5]} prefixes of tenants (type 5)"
    measured = {"type_2": counts[2], "type_3": counts[3], "type_5": counts[5]}
    return ProofResult(words, tuple(faults), measured)


def settled(live: Live) -> tuple[dict[int, int], list[Finding]]:
    """Waits until all of it is there; daemons that may forget learn again, once: (routes by type, what is missing)."""
    every = frozenset(live.lab.views)
    if not forgets(live.lab):
        return wait(live, every)
    counts, faults = wait(live, every, patience_s=EARLY_S)
    if not faults:
        return counts, faults
    learn_again(live, _tunnels(live, every))
    return wait(live, every)


def wait(
    live: Live, switches: frozenset[str], patience_s: float = PATIENCE_S, ends: Sequence[Endpoint] | None = None
) -> tuple[dict[int, int], list[Finding]]:
    """Waits until some switches have all of it, with all hosts or those of some ends: (routes by type, what is missing)."""
    tunnels = _tunnels(live, switches)
    hosts = [
        end
        for end in (endpoints(live.lab) if ends is None else ends)
        if end.network and ":" not in end.address and end.leaf in tunnels
    ]
    # Hosts are learned from what they send; a gateway is asked by each.
    ping(
        live,
        [Ping(node=e.server, source=e.address, target=gateway_of(e)) for e in hosts if e.network and e.network.gateway],
        tries=2,
    )
    began = time.monotonic()
    while True:
        counts, faults = _look(live, tunnels, hosts)
        if not faults or time.monotonic() - began > patience_s:
            return counts, faults
        time.sleep(0.5)


def learn_again(live: Live, leaves: Collection[str]) -> None:
    """Daemons that forget learn when their EVPN sessions start afresh.

    Waits for those that were established: of a leaf that has none nothing is judged, so it would seem to have all of it.
    """
    ours = [one for one in sessions(live.lab) if one.kind == OVERLAY and one.node in leaves]
    down = wait_for_sessions(live, ours, 0.0)[0]
    for leaf in leaves:
        live.order(leaf, "bgpd", "clear bgp l2vpn evpn *")
    wait_for_sessions(live, [one for one in ours if one not in down])


def _tunnels(live: Live, switches: frozenset[str]) -> dict[str, SwitchView]:
    views = live.lab.views.items()
    return {name: view for name, view in views if name in switches and view.overlay and view.overlay.vtep}


def _look(live: Live, tunnels: dict[str, SwitchView], hosts: list[Endpoint]) -> tuple[dict[int, int], list[Finding]]:
    """VNIs, tunnels and prefixes by the judgment of `fabric verify`; hosts and router MACs are no state of it."""
    site_state = base.site(live)
    overlay = Overlay(site_state)
    faults = [finding(fault.device, fault.message) for fault in overlay.faults() if fault.device in tunnels]
    macs = live.ask_all([name for name, view in tunnels.items() if view.networks], "zebra", "show evpn mac vni all json")
    routers = live.ask_all(tunnels, "zebra", "show evpn next-hops vni all json")
    hosted = Spread()
    for name, view in tunnels.items():
        joined = {
            (vni.number, far)
            for vni in site_state.switches[name].seen.vnis.values()
            for far in _leaves(tunnels, vni.remotes or ())
        }
        faults += _hosts(live, view, hosts, tunnels, macs.get(name) or {}, joined, spread=hosted)
        faults += _router_macs(view, tunnels, site_state.switches[name], routers[name] or {})
        faults += _from_outside(site_state, site_state.switches[name])
    faults += [finding(fault.device, fault.message) for fault in hosted.faults("host", EVPN, "unknown", "")]
    return {2: hosted.right, 3: overlay.tunnels.right, 5: overlay.prefixes.right}, faults


def _leaves(tunnels: dict[str, SwitchView], vteps: Collection[str]) -> Iterator[str]:
    """The leaves of some VTEPs."""
    for name, view in tunnels.items():
        if view.overlay and view.overlay.vtep and view.overlay.vtep in vteps:
            yield name


def _hosts(
    live: Live,
    view: SwitchView,
    hosts: list[Endpoint],
    tunnels: dict[str, SwitchView],
    vni_macs: dict[str, Any],
    joined: set[tuple[int, str]],
    *,
    spread: Spread,
) -> Iterator[Finding]:
    """Type 2: each leaf that has a network knows the hosts of it at the leaves that it has tunnels to."""
    for end in hosts:
        if end.network is None or end.fabric != view.fabric or (end.network.vni, end.leaf) not in joined:
            continue
        far = tunnels[end.leaf]
        mac = live.interface(End(end.server, end.interface)).mac
        row = (vni_macs.get(str(end.network.vni)) or {}).get("macs", {}).get(mac, {})
        assert far.overlay is not None
        location = row.get("remoteVtep") or row.get("intf")
        if location and (row.get("type") != "remote" or location != far.overlay.vtep):
            words = f"VNI {end.network.vni}: {end.shown} is known at {location}, planned {end.leaf} ({far.overlay.vtep})"
            yield finding(view.device.name, words)
        else:
            spread.note(f"VNI {end.network.vni}: {end.shown}", end.leaf, view.device.name, bool(location))


def _router_macs(
    view: SwitchView, tunnels: dict[str, SwitchView], switch: Switch, routers: dict[str, Any]
) -> Iterator[Finding]:
    """A route of a tenant needs the router MAC of its VTEP."""
    vteps = {far.overlay.vtep for far in tunnels.values() if far.overlay}
    for vrf in view.vrfs:
        table = switch.seen.routes.get(switch.vrf(vrf.name), {})
        gateways = {hop.gateway for hops in table.values() for hop in hops} & vteps
        known = set().union(*((routers.get(vni) or {}).keys() for vni in (str(vrf.vni), *_leaked_vnis(view, vrf))))
        if unknown := sorted(gateways - known - {None}):
            yield finding(
                view.device.name, f"{switch.vrf(vrf.name)}: router MAC of {', '.join(map(str, unknown))} is unknown"
            )


def _from_outside(site_state: Site, switch: Switch) -> Iterator[Finding]:
    """A default route arrives after its session: until then the leaf takes that of another border leaf."""
    accepted = {external.peer_address: external.accepts for external in switch.view.externals}
    for end in switch.sessions:
        if end.kind != OUTSIDE or ":" in end.peer or not site_state.established(end):
            continue
        for prefix in accepted[end.peer]:
            hops = switch.seen.routes.get(end.vrf, {}).get(prefix, ())
            if prefix.endswith("/0") and end.peer not in {hop.gateway for hop in hops}:
                yield finding(switch.name, f"{end.shown}: {prefix} is not used")


def _leaked_vnis(view: SwitchView, vrf: Vrf) -> list[str]:
    """VNIs of the tables that routes of this one lead into: the router MAC is known there."""
    sources = {leak.source for leak in vrf.leaks}
    return [str(other.vni) for other in view.vrfs if other.name in sources]


PROOF = Proof("overlay", "EVPN routes", show)
