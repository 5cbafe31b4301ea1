"""Tenants in NVUE: their VRFs with BGP, EVPN over VXLAN, and the filters that keep those apart who share a table."""

from __future__ import annotations

from fabric.model.plan import Acl, SwitchView, Vrf
from fabric.nos.cumulus.write.interfaces import BRIDGE, acl_name, multihomed
from fabric.nos.cumulus.write.routing import (
    FABRIC,
    external_session,
    instance,
    instance_family,
    peer_group,
    spelled_policy,
    unicast,
    vrf_session,
)
from fabric.nos.cumulus.write.tree import ENABLE, Tree, keys, merged
from fabric.nos.policy import external_policy, vrf_policy

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
    outside = [external_session(view, external) for external in view.externals if external.vrf == vrf.name]
    own = merged({"router": {"bgp": merged(bgp, *outside)}}, layer3(view, vrf))
    return {"vrf": {vrf.name: own}, "router": {"policy": spelled_policy(view, policy, connected)}}


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
        return {}
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
    tree: Tree = {
        "bridge": {"domain": {BRIDGE: {"type": "vlan-aware", "vlan": vlans}}},
        "evpn": evpn | {"vni": targets},
    }
    if any(network.gateway for network in view.networks):
        tree["router"] = {"vrr": {ENABLE: True}}
        tree["system"] = {"global": {"fabric-mac": view.overlay.anycast_mac}}
    return tree


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
