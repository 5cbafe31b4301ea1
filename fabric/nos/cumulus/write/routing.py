"""Routing in NVUE: BGP of the underlay and EVPN over it, free of valleys; tenants with their VRFs, VXLAN and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_interface

from fabric.model.plan import LEAF, Acl, External, OverlaySession, Session, SwitchView, Vrf
from fabric.nos.cumulus.write.interfaces import BRIDGE, acl_name, adaptive_ports, multihomed, name_of
from fabric.nos.cumulus.write.tree import ENABLE, Tree, bare, keys, merged, release
from fabric.nos.policy import Entry, Policy, PrefixList, external_policy, leak_policy, underlay_policy, vrf_policy
from fabric.nos.target import description, neighbor

# --- Default VRF ----------------------------------------------------------------------------------------------

FABRIC, OVERLAY, BFD = "FABRIC", "OVERLAY", "FABRIC"
CONNECTED, LEAK_MAP, EVPN_MAP = "RM-CONNECTED", "RM-{}-LEAK", "RM-{}-EVPN"
HOPS = 2  # loopback to loopback over one link: a session over more hops is on a wrong path
WARN_PERCENT = 80
WAIT = 30  # seconds in NVUE's reference, minutes in FRR; acceptable in either unit


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
    return merged(timers(view), bfd(view), {"address-family": session_families(view, policy)})


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


# --- Tenants --------------------------------------------------------------------------------------------------

# Neighbor discovery: to the solicited-node groups of the link, and from one link-local address to another.
LINK_SCOPE = ("ff02::/16", "fe80::/10")


def tenants(view: SwitchView) -> Tree:
    policies = [spelled_policy(view, external_policy(view, external)) for external in view.externals]
    tree = merged(vxlan(view), filters(view), *({"router": {"policy": policy}} for policy in policies))
    return merged(tree, *(vrf_tree(view, vrf) for vrf in view.vrfs))


# --- VRFs ---------------------------------------------------------------------------------------------------


def vrf_tree(view: SwitchView, vrf: Vrf) -> Tree:
    """One tenant's routing table. Connected routes enter it by the tenant's list alone."""
    connected, policy = f"RM-{vrf.name}-CONNECTED", vrf_policy(view, vrf)
    bgp = merged(
        instance(),
        {"autonomous-system": view.device.asn, "router-id": view.router_id},
        {"address-family": {unicast(view): instance_family(view, connected)}},
    )
    if vrf.sessions:
        sessions = merged(*(vrf_session(view, session) for session in vrf.sessions))
        bgp = merged(bgp, {"peer-group": {FABRIC: peer_group(view, policy)}, "neighbor": sessions})
    bgp = merged(bgp, leaks(view, vrf))
    outside = [external_session(view, external) for external in view.externals if external.vrf == vrf.name]
    tree = merged({"router": {"bgp": merged(bgp, *outside)}}, layer3(view, vrf))
    policies = merged(spelled_policy(view, policy, connected), spelled_leaks(view, vrf))
    return {"vrf": {vrf.name: tree}, "router": {"policy": policies}}


def leaks(view: SwitchView, vrf: Vrf) -> Tree:
    """Routes from other tables of the switch, and what of the table EVPN advertises: each by a route map."""
    if not vrf.leaks:
        return {}
    found = {ENABLE: True, "list": keys(leak.source for leak in vrf.leaks), "route-map": LEAK_MAP.format(vrf.name)}
    family = {"route-import": {"from-vrf": found}, "route-export": {"to-evpn": {"route-map": EVPN_MAP.format(vrf.name)}}}
    return {"address-family": {unicast(view): family}}


def spelled_leaks(view: SwitchView, vrf: Vrf) -> Tree:
    """The route maps of `leaks`, a rule for each list."""
    leaked, family = leak_policy(view, vrf), "ipv6" if view.underlay.family == "ipv6" else "ipv4"
    if leaked is None:
        return {}
    maps = {LEAK_MAP: leaked.others, EVPN_MAP: (leaked.own,)}
    return {
        "prefix-list": {one.name: prefix_list(one, family) for one in leaked.lists},
        "route-map": {name.format(vrf.name): {"rule": route_map(lists, family)} for name, lists in maps.items()},
    }


def route_map(lists: Sequence[PrefixList], family: str) -> Tree:
    """Rules of which a route must pass one."""
    return {
        str(10 * n): {"action": keys(["permit"]), "match": {"type": family, "ip-prefix-list": one.name}}
        for n, one in enumerate(lists, 1)
    }


def layer3(view: SwitchView, vrf: Vrf) -> Tree:
    """Symmetric routing over the L3 VNI; the VLAN that the switch sets aside for it is the plan's."""
    if vrf.vni is None:
        return {}
    bgp = {
        "rd": vrf.rd,
        "route-export": {"to-evpn": {"route-target": keys([vrf.route_target])}},
        "route-import": {"from-evpn": {"route-target": keys((vrf.route_target, *vrf.imports))}},
        "address-family": {unicast(view): {"route-export": {"to-evpn": {ENABLE: True}}}},
    }
    return {"evpn": {ENABLE: True, "vlan": vrf.vlan, "vni": keys([vrf.vni])}, "router": {"bgp": bgp}}


# --- EVPN and VXLAN -----------------------------------------------------------------------------------------


def vxlan(view: SwitchView) -> Tree:
    """What a VTEP has; a spine that only passes routes on has none of it."""
    if view.overlay is None or view.overlay.vtep is None:
        vlans: Tree = {str(network.vlan): {} for network in view.networks}
        return {"bridge": {"domain": {BRIDGE: {"type": "vlan-aware", "vlan": vlans}}}} if vlans else {}
    tunnel: Tree = {
        ENABLE: True,
        "source": {"address": view.overlay.vtep},
        "arp-nd-suppress": True,
        # The fabric sees the class of the packet inside; marks of congestion come back by RFC 6040 without a line.
        "encapsulation": {"dscp": {"action": "copy"}},
        "decapsulation": {"dscp": {"action": "preserve"}},
        "flooding": {ENABLE: True, "head-end-replication": keys(["evpn"])},
    }
    return merged({"nve": {"vxlan": tunnel}, "evpn": {ENABLE: True}}, layer2(view))


def layer2(view: SwitchView) -> Tree:
    if not view.networks or view.overlay is None:
        return {}
    vlans = {str(network.vlan): {"vni": keys([network.vni])} for network in view.networks}
    targets = {
        str(network.vni): {
            "rd": network.rd,
            "route-target": {"import": keys([network.route_target]), "export": keys([network.route_target])},
        }
        for network in view.networks
    }
    # With multihoming the switch makes the addresses of its SVIs known by itself.
    evpn: Tree = {"multihoming": {ENABLE: True}} if multihomed(view) else {"route-advertise": {"svi-ip": True}}
    tree: Tree = {"bridge": {"domain": {BRIDGE: {"type": "vlan-aware", "vlan": vlans}}}, "evpn": evpn | {"vni": targets}}
    if any(network.gateway for network in view.networks):
        tree["router"] = {"vrr": {ENABLE: True}}
        tree["system"] = {"global": {"fabric-mac": view.overlay.anycast_mac}}
    return tree


# --- DHCP relay ----------------------------------------------------------------------------------------------

SERVER_GROUPS = (5, 14)  # since when servers have groups


def relays(view: SwitchView) -> Tree:
    """One service for each VRF. Requests carry the leaf's own address of the SVI, which no other leaf has, so that the
    answers come back here; they leave by every other interface of the VRF.
    """
    tree: Tree = {}
    for vrf in view.vrfs:
        served = [network for network in view.networks if network.vrf == vrf.name and network.relay]
        upstream = [f"vlan{vrf.vlan}_l3"] if vrf.vni is not None else []
        upstream += [f"vlan{n.vlan}" for n in view.networks if n.vrf == vrf.name and n.gateway and not n.relay]
        upstream += [f"{name_of(view, it.port.ref)}.{it.tag}" for it in view.externals if it.vrf == vrf.name]
        groups = {n.name: {"server": keys(n.relay), "upstream-interface": keys(upstream)} for n in served}
        if served and release(view.release) < SERVER_GROUPS:  # every request goes to all servers
            below = [f"vlan{network.vlan}" for network in served]
            servers = dict.fromkeys(server for network in served for server in network.relay)
            # A request in any of these interfaces is passed on: a network that has no server of its own is left out.
            idle = {
                f"vlan{network.vlan}"
                for network in view.networks
                if network.gateway and not any(ip_address(it) in ip_interface(network.gateway).network for it in servers)
            }
            ways = [*below, *(name for name in upstream if name not in idle)]
            tree[vrf.name] = {"interface": keys(ways), "server": keys(servers)}
        elif served:
            downstream: Tree = {f"vlan{network.vlan}": {"server-group-name": network.name} for network in served}
            tree[vrf.name] = {"server-group": groups, "downstream-interface": downstream}
    return {"service": {"dhcp-relay": tree}} if tree else {}


# --- filters ------------------------------------------------------------------------------------------------


def filters(view: SwitchView) -> Tree:
    if not view.acls:
        return {}
    return {"acl": {acl_name(acl.name): tenant_filter(view, acl) for acl in view.acls}}


def tenant_filter(view: SwitchView, acl: Acl) -> Tree:
    """To the tenant's own prefixes, and nothing else; ARP is no IP and passes."""
    six = any(":" in prefix for prefix in acl.permits) if acl.permits else view.underlay.family == "ipv6"
    allowed = (*LINK_SCOPE, *acl.permits) if six else acl.permits
    permits: list[Tree] = [{"match": {"ip": {"dest-ip": prefix}}, "action": keys(["permit"])} for prefix in allowed]
    rules = [*permits, {"action": keys(["deny"])}]
    return {"type": "ipv6" if six else "ipv4", "rule": {str(10 * n): rule for n, rule in enumerate(rules, 1)}}
