"""Routing instances and route policy: a VRF for each tenant, and one MAC-VRF for all layer-2 networks."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabric.model.plan import LEAF, External, Network, SwitchView, Vrf
from fabric.nos.junos.write.words import (
    MAC_VRF,
    REJECT,
    Filters,
    Named,
    Terms,
    all_filters,
    begins_with,
    listed,
    quoted,
    routes,
    term,
)
from fabric.nos.policy import CONNECTED, external_policy, underlay_policy, vrf_policy
from fabric.nos.target import Names, description

# --- Route policy, from the neutral prefix lists --------------------------------------------------------------

# RFC 8326: a neighbor in graceful shutdown is the last choice. No action that ends the policy: the terms below decide.
DRAINED = term("drained", ("community GSHUT",), "local-preference 0")
TRANSIT = term("transit", ("as-path FROM-ABOVE",), "reject")


@dataclass(slots=True)
class Policies:
    """All of `policy-options`; built up by the parts of a config, then printed."""

    lists: list[Filters] = field(default_factory=list)
    statements: list[Terms] = field(default_factory=list)
    communities: list[Named] = field(default_factory=lambda: [Named("GSHUT", ("65535:0",))])
    as_paths: list[Named] = field(default_factory=list)

    def add_lists(self, *found: Filters) -> None:
        self.lists += [item for item in found if item not in self.lists]

    def add_statement(self, item: Terms) -> None:
        if item not in self.statements:
            self.statements.append(item)

    def add_community(self, item: Named) -> None:
        if item not in self.communities:
            self.communities.append(item)


def underlay(view: SwitchView, policies: Policies) -> None:
    policy = underlay_policy(view)
    leaf = view.device.role == LEAF
    used = (policy.imports, policy.exports) if leaf else (policy.imports, CONNECTED)
    policies.add_lists(*all_filters(item for item in policy.lists if item.name in used))
    policies.add_statement(Terms("FABRIC-IN", (DRAINED, *routes("fabric", (), policy.list_of(policy.imports)), REJECT)))
    if leaf:
        exported = routes("own", ("direct", "aggregate", "bgp"), policy.list_of(policy.exports))
    else:
        exported = routes("own", ("direct",), policy.list_of(CONNECTED))
        exported += routes("passed-on", ("bgp",), policy.list_of(policy.exports))
    # Only a default route that this leaf received from outside is announced, none of another border leaf.
    border = leaf and any(not external.vrf for external in view.externals)
    policies.add_statement(Terms("FABRIC-OUT", (*((TRANSIT,) if border else ()), *exported, REJECT)))
    if leaf and (border or view.overlay):
        above = [session.peer_asn for session in view.sessions]
        above += [session.peer_asn for session in view.overlay.sessions] if view.overlay else []
        policies.as_paths.append(Named("FROM-ABOVE", (begins_with(above),)))


def overlay(view: SwitchView, policies: Policies) -> None:
    """A leaf never advertises routes of one spine to another; a route server advertises all."""
    if view.overlay is None:
        return
    accept = term("rest", (), "accept")
    policies.add_statement(Terms("EVPN-IN", (DRAINED, accept)))
    policies.add_statement(Terms("EVPN-OUT", (accept,) if view.overlay.passes_on else (TRANSIT, accept)))


def outside(view: SwitchView, external: External, policies: Policies) -> tuple[str, str]:
    """Import and export policy of one external connection. In a tenant's table routes of other leaves are EVPN's."""
    policy = external_policy(view, external)
    policies.add_lists(*all_filters(policy.lists))
    stem = f"OUTSIDE-{external.peer}" + (f"-{external.vrf}" if external.vrf else "")
    if not external.vrf:
        inside = ("aggregate", "bgp")
    elif view.overlay:
        inside = ("direct", "evpn")
    else:
        inside = ("direct", "bgp")
    incoming, outgoing = policy.list_of(policy.imports), policy.list_of(policy.exports)
    policies.add_statement(Terms(f"{stem}-IN", (DRAINED, *routes("wanted", (), incoming), REJECT)))
    policies.add_statement(Terms(f"{stem}-OUT", (*routes("inside", inside, outgoing), REJECT)))
    return f"{stem}-IN", f"{stem}-OUT"


# --- Instances ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A BGP neighbor with an address."""

    key: str
    asn: int
    description: str
    imports: str = ""
    exports: str = ""
    family: str = "inet"


@dataclass(frozen=True, slots=True)
class Group:
    """BGP neighbors in a tenant's table."""

    name: str
    family: str
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True)
class Relay:
    """DHCP servers of one network."""

    name: str
    interface: str  # "irb.200"
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    name: str
    description: str
    type: str  # "vrf" | "virtual-router"
    interfaces: tuple[str, ...]
    rd: str = ""
    target: str = ""  # the route target of a tenant without imports
    imports: str = ""  # policies of a tenant with imports
    exports: str = ""
    vni: int = 0
    advertises: str = ""  # policy of its type-5 routes
    groups: tuple[Group, ...] = ()
    relays: tuple[Relay, ...] = ()


@dataclass(frozen=True, slots=True)
class Bridging:
    """The MAC-VRF."""

    name: str
    interfaces: tuple[str, ...]
    rd: str
    target: str
    networks: tuple[Network, ...]


def instances(view: SwitchView, names: Names, policies: Policies) -> list[Instance]:
    return [_instance(view, vrf, names, policies) for vrf in view.vrfs]


def bridging(view: SwitchView, names: Names) -> Bridging | None:
    """One VLAN-aware instance, as published: its networks share the route distinguisher of the first.

    Segment routes (types 1 and 4) carry the instance's own target, which every leaf must have alike: number 1 of the
    same administrator, a number that no VNI has.
    """
    if not view.networks or view.overlay is None:
        return None
    first = view.networks[0]
    ports = [f"{names(port.ref)}.0" for port in view.ports if port.up and port.bridged and not port.lag]
    ports += [f"ae{lag.number}.0" for lag in view.lags]
    return Bridging(MAC_VRF, tuple(ports), first.rd, f"{first.route_target.rpartition(':')[0]}:1", view.networks)


def external_groups(view: SwitchView, vrf: str, policies: Policies) -> list[Group]:
    """The routers outside that this table meets, one group for each address family."""
    found: dict[str, list[Peer]] = {}
    for external in view.externals:
        if external.vrf == vrf:
            peer = _external_peer(view, external, policies)
            found.setdefault(peer.family, []).append(peer)
    return [Group("OUTSIDE" if family == "inet" else "OUTSIDE6", family, tuple(peers)) for family, peers in found.items()]


def _external_peer(view: SwitchView, external: External, policies: Policies) -> Peer:
    imports, exports = outside(view, external, policies)
    family = "inet6" if ":" in external.peer_address else "inet"
    text = quoted(description(view, external.port))
    return Peer(
        key=external.peer_address, asn=external.peer_asn, description=text, imports=imports, exports=exports, family=family
    )


def _instance(view: SwitchView, vrf: Vrf, names: Names, policies: Policies) -> Instance:
    name = f"VRF-{vrf.name}"
    groups = external_groups(view, vrf.name, policies)
    text = quoted(f"tenant {vrf.name}")
    if vrf.vni is None or view.overlay is None:
        fabric = _fabric_group(view, vrf, policies) if vrf.sessions else []
        interfaces = _members(view, vrf, names)
        return Instance(name=name, description=text, type="virtual-router", interfaces=interfaces, groups=(*fabric, *groups))
    imports, exports = _targets(vrf, name, policies)
    return Instance(
        name=name,
        description=text,
        type="vrf",
        interfaces=_members(view, vrf, names),
        rd=vrf.rd,
        target="" if imports else vrf.route_target,
        imports=imports,
        exports=exports,
        vni=vrf.vni,
        advertises=_type5(view, vrf, name, policies),
        groups=tuple(groups),
        relays=tuple(
            Relay(network.name, f"irb.{network.vlan}", network.relay)
            for network in view.networks
            if network.vrf == vrf.name and network.relay
        ),
    )


def _members(view: SwitchView, vrf: Vrf, names: Names) -> tuple[str, ...]:
    found = [f"irb.{network.vlan}" for network in view.networks if network.vrf == vrf.name and network.gateway]
    for port in view.ports:
        if port.up and port.vrf == vrf.name:
            found.append(f"{names(port.ref)}.0")
        if port.up:
            found += [f"{names(port.ref)}.{part.tag}" for part in port.subinterfaces if part.vrf == vrf.name]
    return tuple(found)


def _type5(view: SwitchView, vrf: Vrf, name: str, policies: Policies) -> str:
    """What leaves the table as type-5 routes: its subnets, hosts that EVPN learned in them, what came from outside."""
    policy = vrf_policy(view, vrf)
    policies.add_lists(*all_filters(policy.lists))
    terms = routes("connected", ("direct",), policy.list_of(policy.connected))
    if any(network.vrf == vrf.name and network.gateway for network in view.networks):
        hosts = ("protocol evpn", "route-filter 0.0.0.0/0 prefix-length-range /32-/32")
        terms.append(term("hosts", hosts, "accept"))
    for external in view.externals:
        if external.vrf == vrf.name:
            accepted = external_policy(view, external)
            terms += routes(f"from-{external.peer}", ("bgp",), accepted.list_of(accepted.imports))
    unique = tuple(dict.fromkeys(terms))
    policies.add_statement(Terms(f"{name}-TYPE5", (*unique, REJECT)))
    return f"{name}-TYPE5"


def _targets(vrf: Vrf, name: str, policies: Policies) -> tuple[str, str]:
    """A tenant that takes in others' routes says both directions by policy: `vrf-target` knows one target only."""
    if not vrf.imports:
        return "", ""
    for target in (vrf.route_target, *vrf.imports):
        policies.add_community(Named(_community(target), (f"target:{target}",)))
    communities = listed(dict.fromkeys(_community(target) for target in (vrf.route_target, *vrf.imports)))
    policies.add_statement(Terms(f"{name}-IN", (term("wanted", (f"community {communities}",), "accept"), REJECT)))
    export_term = term("own", (), f"community add {_community(vrf.route_target)}", "accept")
    policies.add_statement(Terms(f"{name}-OUT", (export_term,)))
    return f"{name}-IN", f"{name}-OUT"


def _community(target: str) -> str:
    return "RT-" + target.replace(":", "-")


def _fabric_group(view: SwitchView, vrf: Vrf, policies: Policies) -> list[Group]:
    """VRF-lite: the tenant's own sessions on the tagged slices of the fabric links."""
    policy, name = vrf_policy(view, vrf), f"VRF-{vrf.name}"
    used = (policy.imports, policy.exports)
    policies.add_lists(*all_filters(item for item in policy.lists if item.name in used))
    imported = routes("fabric", (), policy.list_of(policy.imports))
    policies.add_statement(Terms(f"{name}-FABRIC-IN", (DRAINED, *imported, REJECT)))
    term_name = "own" if view.device.role == LEAF else "passed-on"
    exported = routes(term_name, ("direct", "bgp"), policy.list_of(policy.exports))
    policies.add_statement(Terms(f"{name}-FABRIC-OUT", (*exported, REJECT)))
    peers = tuple(
        Peer(
            key=session.peer_address,
            asn=session.peer_asn,
            description=quoted(description(view, session.port)),
            imports=f"{name}-FABRIC-IN",
            exports=f"{name}-FABRIC-OUT",
        )
        for session in vrf.sessions
        if session.peer_address
    )
    return [Group("FABRIC", "inet6" if view.underlay.family == "ipv6" else "inet", peers)]
