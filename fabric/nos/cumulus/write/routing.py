"""BGP of the default VRF: the underlay, the EVPN sessions over it, and the policy that keeps both free of valleys.

Cumulus Linux runs FRR under NVUE: what is FRR's default for a datacenter (multipath over equal paths, extended communities,
the next hop of an EVPN route left alone, graceful shutdown honored on eBGP) has no line here.
"""

from __future__ import annotations

from dataclasses import replace

from fabric.model.plan import LEAF, External, OverlaySession, Session, SwitchView
from fabric.nos.cumulus.write.interfaces import adaptive_ports, name_of
from fabric.nos.cumulus.write.tree import ENABLE, Tree, bare, keys, merged
from fabric.nos.policy import Entry, Policy, PrefixList, external_policy, underlay_policy
from fabric.nos.target import description, neighbor

FABRIC, OVERLAY, BFD = "FABRIC", "OVERLAY", "FABRIC"
CONNECTED = "RM-CONNECTED"
HOPS = 2  # loopback to loopback over one link: a session that needs more takes a wrong path
WARN_PERCENT = 80
WAIT = 30  # seconds in NVUE's reference, minutes in the FRR below it: bearable as either


def unicast(view: SwitchView) -> str:
    return "ipv6-unicast" if view.underlay.family == "ipv6" else "ipv4-unicast"


def routing(view: SwitchView) -> Tree:
    """The `router` tree, and the default VRF."""
    policy = underlay_policy(view)
    bgp: Tree = {
        ENABLE: True,
        "autonomous-system": view.device.asn,
        "router-id": view.router_id,
        # Only a leaf restarts gracefully: its servers have no other path, while a spine is one of many.
        "graceful-restart": {"mode": "full" if view.device.role == LEAF else "helper-only"},
    }
    router = merged(
        {"bgp": bgp},
        {"policy": spelled_policy(view, policy, CONNECTED)},
        bfd_profile(view),
        {"adaptive-routing": {ENABLE: True}} if adaptive_ports(view) else {},
    )
    return {"router": router, "vrf": {"default": {"router": {"bgp": default_bgp(view, policy)}}}}


def default_bgp(view: SwitchView, policy: Policy) -> Tree:
    family = merged(
        instance_family(view, CONNECTED),
        {"aggregate-route": {prefix: {"summary-only": True} for prefix in view.aggregates}} if view.aggregates else {},
    )
    names = [neighbor(view, session, lambda ref: name_of(view, ref)) for session in view.sessions]
    neighbors: Tree = {
        peer.key: {
            "type": "unnumbered" if peer.interface else "numbered",
            "peer-group": FABRIC,
            "remote-as": peer.asn,
            "description": peer.description,
        }
        for peer in names
    }
    tree = merged(
        instance(),
        {"address-family": {unicast(view): family}},
        {"peer-group": {FABRIC: peer_group(view, policy)}},
        {"neighbor": neighbors} if neighbors else {},
        overlay(view),
    )
    outside = [external for external in view.externals if not external.vrf]
    return merged(tree, *(external_session(view, external) for external in outside))


def instance() -> Tree:
    """What every BGP instance has: paths through switches of another AS count as equal."""
    return {ENABLE: True, "path-selection": {"multipath": {"aspath-ignore": True}}}


def instance_family(view: SwitchView, connected: str) -> Tree:
    return {
        ENABLE: True,
        "multipaths": {"ebgp": view.underlay.max_paths},
        "redistribute": {"connected": {ENABLE: True, "route-map": connected}},
    }


def peer_group(view: SwitchView, policy: Policy) -> Tree:
    return merged(
        timers(view),
        bfd(view),
        {"address-family": session_families(view, policy)},
    )


def session_families(view: SwitchView, policy: Policy) -> Tree:
    """What a session carries. IPv4 is on by itself in every session, so an IPv6 fabric says that it is not."""
    inbound = {"maximum": view.underlay.max_prefix, "warning-threshold": WARN_PERCENT, "reestablish-wait": WAIT}
    carried: Tree = {
        ENABLE: True,
        "policy": {"inbound": {"prefix-list": policy.imports}, "outbound": {"prefix-list": policy.exports}},
        "prefix-limits": {"inbound": inbound},
    }
    other = {"ipv4-unicast": {ENABLE: False}} if unicast(view) != "ipv4-unicast" else {}
    return {**other, unicast(view): carried}


def timers(view: SwitchView) -> Tree:
    return {"timers": {"keepalive": view.underlay.keepalive_s, "hold": view.underlay.hold_s}}


def bfd_timers(view: SwitchView) -> Tree:
    interval = view.underlay.bfd_interval_ms
    return {"detect-multiplier": view.underlay.bfd_multiplier, "min-rx-interval": interval, "min-tx-interval": interval}


def bfd(view: SwitchView) -> Tree:
    """Both spellings: a profile, and, before 5.15, the timers themselves. The dialect keeps one."""
    return {"bfd": {"profile": BFD, ENABLE: True} | bfd_timers(view)} if view.underlay.bfd else {}


def bfd_profile(view: SwitchView) -> Tree:
    return {"bfd": {ENABLE: True, "profile": {BFD: bfd_timers(view)}}} if view.underlay.bfd else {}


def overlay(view: SwitchView) -> Tree:
    """EVPN from loopback to loopback. The source is an address: NVUE's one loopback carries the VTEP as well."""
    if view.overlay is None:
        return {}
    group = merged(
        timers(view),
        {
            "address-family": {"ipv4-unicast": {ENABLE: False}, "l2vpn-evpn": {ENABLE: True}},
            "multihop-ttl": HOPS,
            "update-source": bare(view.loopback),
        },
    )
    return {
        "address-family": {"l2vpn-evpn": {ENABLE: True}},
        "peer-group": {OVERLAY: group},
        "neighbor": {session.peer_address: overlay_neighbor(session) for session in view.overlay.sessions},
    }


def overlay_neighbor(session: OverlaySession) -> Tree:
    return {
        "type": "numbered",
        "peer-group": OVERLAY,
        "remote-as": session.peer_asn,
        "description": f"{session.peer.name} EVPN",
    }


def external_session(view: SwitchView, external: External) -> Tree:
    """A router outside: no group, for each has a policy of its own."""
    session: Tree = {
        "type": "numbered",
        "remote-as": external.peer_asn,
        "description": description(view, external.port),
        "address-family": session_families(view, external_policy(view, external)),
    }
    return {"neighbor": {external.peer_address: merged(session, timers(view))}}


def vrf_session(view: SwitchView, session: Session) -> Tree:
    """One tenant's session over a subinterface of a fabric link."""
    if session.peer_address is None:
        raise ValueError(f"{view.device.name}: a tenant's session over a subinterface needs addresses")
    text = description(view, session.port)
    group = {"type": "numbered", "peer-group": FABRIC, "remote-as": session.peer_asn, "description": text}
    return {session.peer_address: group}


# --- prefix lists -------------------------------------------------------------------------------------------


def spelled_policy(view: SwitchView, policy: Policy, connected: str = "") -> Tree:
    """Prefix lists, and the route map in front of connected routes: NVUE takes no list there."""
    family = "ipv6" if view.underlay.family == "ipv6" else "ipv4"
    tree: Tree = {"prefix-list": {one.name: prefix_list(one, family) for one in policy.lists}}
    if connected:
        match = {"type": family, "ip-prefix-list": policy.connected}
        tree["route-map"] = {connected: {"rule": {"10": {"action": keys(["permit"]), "match": match}}}}
    return tree


def prefix_list(own: PrefixList, family: str) -> Tree:
    """Without entries it says that it lets nothing through: FRR takes an empty list for all, a missing one for none."""
    rules = replace(own, bits=128 if family == "ipv6" else 32).rules
    return {"type": family, "rule": {str(entry.seq): rule(entry) for entry in rules}}


def rule(entry: Entry) -> Tree:
    bounds = {"min-prefix-len": entry.ge, "max-prefix-len": entry.le}
    return {"action": entry.action, "match": {entry.prefix: {name: bits for name, bits in bounds.items() if bits}}}
