"""What must come of a plan: sessions, next hops, neighbors, who reaches whom. Nothing here has seen a file or a daemon."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address, ip_interface, ip_network

import numpy as np

from fabric.audit.verify.sessions import (
    OUTSIDE as OUTSIDE,
    OVERLAY as OVERLAY,
    TENANT as TENANT,
    UNDERLAY as UNDERLAY,
    Planned as Planned,
    originated as originated,
    router,
    sessions_of,
)
from fabric.configs.hosts.direct import own_address
from fabric.configs.port_names import PortNames
from fabric.lab.blueprint import SERVER, STAND_IN, Blueprint, End, Wire
from fabric.lab.drawing import node_name
from fabric.lab.live import Live
from fabric.lab.machine.lldp import speakers
from fabric.model.plan import DEFAULT_ROUTES, LEAF, External, FabricPlan, Network as TenantNetwork, Port, SwitchView
from fabric.nos.target import target
from fabric.solver import Network, Routes
from fabric.solver.capacity.throughput import all_paths, ecmp, ground, live_ports, traffic
from fabric.solver.network import network, routes


def sessions(lab: Blueprint) -> list[Planned]:
    """Every end whose other end is in the lab, in the order of the plan."""
    return [
        planned for view in lab.views.values() for planned in sessions_of(view, _stand_in) if planned.peer_node in lab.nodes
    ]


def _stand_in(external: External) -> str:
    return node_name(router(external), external.vrf if external.tag else "")


# --- forwarding -----------------------------------------------------------------------------------------------
# Next hops of every switch towards every other one: BGP's choice, computed from the plan alone.
#
# The shortest AS path wins, equal ones are all used (multipath-relax), a path that holds one's own AS number is refused, and
# a leaf passes on nothing but its own. So spines of one AS number have no route to each other, as it should be.


@dataclass(frozen=True, slots=True)
class Down:
    """What is broken: whole nodes, and cables between nodes that live."""

    nodes: frozenset[str] = frozenset()
    cables: frozenset[Wire] = frozenset()


NOTHING = Down()
Expected = dict[str, dict[str, frozenset[str]]]  # node → prefix → interfaces


def announced(lab: Blueprint, view: SwitchView) -> tuple[str, ...]:
    """What a switch makes known in a lab: a prefix of servers only where one of them is cabled."""
    ends = {(end.node, end.interface) for wire in lab.wires for end in (wire.a, wire.b)}
    name = target(view.device.nos).port_name
    ports = [port for port in view.ports if port.kind in ("server", "attachment") and port.up and port.address]
    there = [
        ip_interface(port.address).ip
        for port in ports
        if port.address and (view.device.name, name(view.model, port.ref, view.device.model)) in ends
    ]
    silent = {prefix for prefix in view.aggregates if not any(address in ip_network(prefix) for address in there)}
    return tuple(prefix for prefix in originated(view) if prefix not in silent)


def version(view: SwitchView) -> int:
    """Of what BGP carries in the default table."""
    return 6 if view.underlay.family == "ipv6" else 4


def forwarding(lab: Blueprint, down: Down = NOTHING) -> Expected:
    """The interfaces that a living switch must send over, by prefix of every other switch; none to what it cannot reach."""
    links = _links(lab, down)
    living = [name for name in lab.views if name not in down.nodes]
    interfaces: Expected = {name: {} for name in living}
    for origin, view in lab.views.items():
        hops = dict(_towards(lab, links, origin)) if origin not in down.nodes else {}
        for prefix in announced(lab, view):
            for node in living:
                if node != origin:
                    interfaces[node][prefix] = hops.get(node, frozenset())
    return interfaces


def _links(lab: Blueprint, down: Down) -> dict[str, dict[str, list[str]]]:
    """Node → neighbor → its interfaces towards it, over sessions that live."""
    wires = {end: wire for wire in lab.wires for end in (wire.a, wire.b)}
    links: dict[str, dict[str, list[str]]] = {name: {} for name in lab.views}
    for session in sessions(lab):
        if session.kind != UNDERLAY or {session.node, session.peer_node} & down.nodes:
            continue
        if wires.get(End(session.node, session.interface)) in down.cables:
            continue
        links[session.node].setdefault(session.peer_node, []).append(session.interface)
    return links


def _towards(
    lab: Blueprint, links: Mapping[str, Mapping[str, Collection[str]]], origin: str
) -> Iterator[tuple[str, frozenset[str]]]:
    paths: dict[str, frozenset[int]] = {origin: frozenset()}  # AS numbers of the path, by node that is reached
    ring = [origin]
    while ring:
        taken: dict[str, list[str]] = {}
        for node in ring:
            if node != origin and lab.views[node].device.role == LEAF:
                continue
            for neighbor in links[node]:
                own_asn = lab.views[neighbor].device.asn
                if neighbor not in paths and own_asn not in paths[node] and own_asn != lab.views[node].device.asn:
                    taken.setdefault(neighbor, []).append(node)
        for node, nexts in taken.items():
            best = min(nexts)
            paths[node] = paths[best] | {lab.views[best].device.asn}
            max_paths = lab.views[node].underlay.max_paths
            interfaces = sorted(name for other in nexts for name in links[node].get(other, ()))
            yield node, frozenset(interfaces[:max_paths])
        ring = list(taken)


# --- estimate -------------------------------------------------------------------------------------------------
# What `fabric estimate --fail` says is left: the same arrays, asked for the next hops that kernels must have.


@dataclass(frozen=True, slots=True)
class RemainingPaths:
    """A fabric with something down, as the estimate has it."""

    hops: dict[tuple[str, str], frozenset[str]]  # (switch, leaf) → interfaces towards it
    paths: tuple[int, int]  # equal paths between two leaves that live, least and most
    share: float  # of NIC speed, when every server sends to all others at once over equal-split ECMP


class Estimate:
    """One fabric of a lab."""

    def __init__(self, lab: Blueprint, fabric: str) -> None:
        self.lab, self.plan = lab, lab.plan.fabrics[fabric]
        self.index = {name: self.plan.by_name[name].index for name, view in lab.views.items() if view.fabric == fabric}

    @cached_property
    def whole(self) -> Network:
        """The fabric as far as it is in the lab."""
        out = [device.index for device in self.plan.switches if device.name not in self.index]
        return network(self.plan, every_plane=True).without(np.empty(0, np.int64), np.array(out, np.int64))

    @cached_property
    def ends(self) -> list[tuple[str, str]]:
        """Interface that each directed link leaves its device by."""
        names = PortNames(self.plan)
        interfaces = [names.columns(end)[1].tolist() for end in ("a", "b")]
        devices = [[self.plan.devices[at].name for at in getattr(self.plan.links, end).tolist()] for end in ("a", "b")]
        return [*zip(devices[0], interfaces[0], strict=True), *zip(devices[1], interfaces[1], strict=True)]

    def left(self, down: Down) -> RemainingPaths:
        """What remains of it."""
        broken = self.whole.without(
            self._links(down), np.array([self.index[n] for n in down.nodes if n in self.index], np.int64)
        )
        route_table, base = routes(broken), ground(self.whole)
        path_counts = all_paths(base, route_table)
        living = [at for at, leaf in enumerate(base.leaves) if self._lives(int(leaf), down)]
        between = [
            path_counts[a, b]
            for a in living
            for b in living
            if a != b and base.part[base.leaves[a]] == base.part[base.leaves[b]]
        ]
        asked = traffic(base, live_ports(broken), "uniform")
        share = ecmp(base, route_table, asked).share if asked.asked else 0.0
        paths = (int(min(between)), int(max(between))) if between else (0, 0)
        return RemainingPaths(self._hops(route_table, down), paths, share)

    def _lives(self, device: int, down: Down) -> bool:
        name = self.plan.devices[device].name
        return name in self.index and name not in down.nodes

    def _links(self, down: Down) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        cut = {(end.node, end.interface) for wire in down.cables for end in (wire.a, wire.b)}
        size = len(self.plan.links)
        return np.array([at for at in range(size) if self.ends[at] in cut or self.ends[at + size] in cut], np.int64)

    def _hops(self, route_table: Routes, down: Down) -> dict[tuple[str, str], frozenset[str]]:
        living = [name for name in self.index if name not in down.nodes]
        leaves = [name for name in living if self.lab.views[name].device.role == LEAF]
        pairs = [(node, leaf) for node in living for leaf in leaves if node != leaf]
        if not pairs:
            return {}
        at, to = (np.array([self.index[pair[end]] for pair in pairs], np.int64) for end in (0, 1))
        start, count = route_table.next_hops(at, to)
        return {
            pair: frozenset(self.ends[link][1] for link in route_table.pool[first : first + number].tolist())
            for pair, first, number in zip(pairs, start.tolist(), count.tolist(), strict=True)
        }


# --- The neighbors that LLDP must report in a lab -------------------------------------------------------------


def planned(live: Live) -> dict[End, End]:
    """Port of a switch → the port that its cable must lead to; stand-ins have no names of their own there.

    Between switches this is the plan, whatever the lab has wired; names of server ports are from their files.
    """
    far_ends = dict(_between(live))
    speaking = {node.name for node in speakers(live) if node.kind == SERVER}
    for wire in live.lab.cables:
        here, there = (wire.b, wire.a) if wire.a.node in speaking else (wire.a, wire.b)
        if there.node in speaking and here.node in live.lab.views:
            far_ends[here] = there
    return {here: there for here, there in far_ends.items() if _up(live, here) and _up(live, there)}


def _between(live: Live) -> Iterator[tuple[End, End]]:
    for name, view in live.lab.views.items():
        for port in view.cabled:
            far = port.peer
            if far is None or far.port is None or far.model is None or far.device.name not in live.lab.views:
                continue
            own, other = target(view.device.nos), target(far.device.nos)
            here = End(name, own.port_name(view.model, port.ref, view.device.model))
            yield here, End(far.device.name, other.port_name(far.model, far.port, far.device.model))


def _up(live: Live, end: End) -> bool:
    """Whether its file does not disable it; a missing port counts as up, so that its silence is a fault."""
    own = live.wiring.interfaces.get(end)
    return own is None or own.up


# --- endpoints ------------------------------------------------------------------------------------------------
# Where servers are attached, whose they are, and who is meant to reach whom.


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address of a server or of an attachment, on one leaf."""

    server: str
    interface: str
    address: str  # without its length
    fabric: str
    leaf: str
    port: str  # of the leaf
    tenant: str  # "" in a fabric without tenants
    network: TenantNetwork | None  # the layer-2 network it is in
    mtu: int  # that the fabric promises it
    filtered: bool = False  # a filter on the port keeps its tenant apart, not a table

    @property
    def shown(self) -> str:
        return f"{self.server} {self.interface} ({self.address})"


Lets = Callable[[Endpoint, Endpoint], bool]


def endpoints(lab: Blueprint, dead: Collection[str] = ()) -> list[Endpoint]:
    """Every address of a server, and of a device in a network, that is up, leaf by leaf in port order.

    Args:
        dead: switches without power. An address of a bond is at the first of its ports whose switch lives.
    """
    far = {end: wire.other(end.node) for wire in lab.wires for end in (wire.a, wire.b)}
    hosts = (*lab.of(SERVER), *(node for node in lab.of(STAND_IN) if not node.routed))
    built = {End(node.name, interface.name): interface for node in hosts for interface in node.interfaces}
    found: list[tuple[Endpoint, int]] = []  # with the place on standby of its port
    first: dict[tuple[str, str], int] = {}  # host and address → the least place
    for below in (view for name, view in lab.views.items() if name not in dead):
        for port, name, tenant, tenant_network in _attached(below):
            far_end = far.get(End(below.device.name, name))
            view = below
            interface = built.get(far_end) if far_end else None
            if far_end is None or interface is None or not interface.addresses or not interface.up:
                continue
            address = interface.addresses[0] if tenant_network or not port.peer_address else port.peer_address
            if tenant_network and not tenant_network.vni:  # bridged to a leaf above, which has its network
                up = _above(lab, far, End(below.device.name, name), dead)
                view = lab.views[up.node] if up else below
                tenant_network = next((its for its in view.networks if up and its.vlan == tenant_network.vlan), None)
                if up is None or tenant_network is None:
                    continue
                name, tenant = up.interface, tenant_network.vrf
            end = Endpoint(
                server=far_end.node,
                interface=far_end.interface,
                address=str(ip_interface(address).ip),
                fabric=view.fabric,
                leaf=view.device.name,
                port=name,
                tenant=tenant,
                network=tenant_network,
                mtu=_promised(lab, view.fabric),
                filtered=bool(port.acl),
            )
            found.append((end, interface.standby))
            key = (end.server, end.address)
            first[key] = min(first.get(key, interface.standby), interface.standby)
    result = [end for end, standby in found if standby == first[end.server, end.address]]
    return [*result, *(end for fabric in _direct(lab) for end in _own(lab, fabric))]


def _above(lab: Blueprint, far: Mapping[End, End], port: End, dead: Collection[str]) -> End | None:
    """Port of the leaf above to which the network of a port is bridged: that of the first port of a bond that lives."""
    own = lab.nodes[port.node].interfaces
    bridge = next((item.bridge for item in own if item.name == port.interface), "")
    ups = sorted((item for item in own if item.bond and item.bridge == bridge), key=lambda item: item.standby)
    ends = (far.get(End(port.node, item.name)) for item in ups)
    return next((end for end in ends if end and end.node not in dead), None)


def _direct(lab: Blueprint) -> list[FabricPlan]:
    """The fabrics without switches."""
    return [fabric for fabric in lab.plan.fabrics.values() if fabric.spec.switchless]


def _own(lab: Blueprint, fabric: FabricPlan) -> Iterator[Endpoint]:
    """The address of every server of a fabric without switches, which all others reach."""
    for device in fabric.devices:
        address = own_address(fabric, device.index)
        for interface in lab.nodes[device.name].interfaces if device.name in lab.nodes else ():
            if address in interface.addresses:
                yield _direct_end(lab, fabric, End(device.name, interface.name), address)


def cable_ends(lab: Blueprint) -> list[tuple[Endpoint, Endpoint]]:
    """Both ends of every cable between two servers, with the addresses that their files have."""
    fabric_of = {device.name: fabric for fabric in _direct(lab) for device in fabric.devices}
    addresses = {
        End(node.name, own.name): own.addresses[0] for node in lab.of(SERVER) for own in node.interfaces if own.addresses
    }
    return [
        (
            _direct_end(lab, fabric_of[wire.a.node], wire.a, addresses[wire.a]),
            _direct_end(lab, fabric_of[wire.b.node], wire.b, addresses[wire.b]),
        )
        for wire in lab.wires
        if wire.a.node in fabric_of and wire.b.node in fabric_of
    ]


def _direct_end(lab: Blueprint, fabric: FabricPlan, end: End, address: str) -> Endpoint:
    return Endpoint(
        server=end.node,
        interface=end.interface,
        address=address.partition("/")[0],
        fabric=fabric.name,
        leaf=end.node,
        port=end.interface,
        tenant="",
        network=None,
        mtu=_promised(lab, fabric.name),
    )


def _attached(view: SwitchView) -> Iterator[tuple[Port, str, str, TenantNetwork | None]]:
    """(port, interface, tenant, layer-2 network) of every port of a host; a port with tagged networks once for each.

    Ports of attachments count where they are in layer-2 networks: what a routed one announces is not known.
    """
    networks = {network.vlan: network for network in view.networks}
    for port in view.ports:
        if not port.up or not (port.kind == "server" or (port.kind == "attachment" and port.bridged)):
            continue
        name = target(view.device.nos).port_name(view.model, port.ref, view.device.model)
        if not port.bridged:
            yield port, name, port.vrf or port.acl, None
        if network := networks.get(port.untagged):
            yield port, name, network.vrf, network
        for vlan in port.tagged:
            if network := networks.get(vlan):
                yield port, f"{name}.{vlan}", network.vrf, network


def _promised(lab: Blueprint, fabric: str) -> int:
    from fabric.configs.hosts.facts import facts_of

    return facts_of(lab.plan.fabrics[fabric]).mtu


def gateway_of(end: Endpoint) -> str:
    """The anycast gateway of an endpoint's network, without prefix length."""
    return (end.network.gateway or "").partition("/")[0] if end.network else ""


def together(lab: Blueprint) -> dict[str, int]:
    """Switch → number of the part of the network that it is in; planes and rails without spines are apart."""
    part = {name: at for at, name in enumerate(lab.views)}
    for wire in lab.cables:
        new, old = part.get(wire.a.node), part.get(wire.b.node)
        if new is not None and old is not None and new != old:
            part = {name: new if number == old else number for name, number in part.items()}
    return part


def meant(one: Endpoint, other: Endpoint, lets: Lets, part: dict[str, int]) -> bool | None:
    """Whether two are meant to reach each other; None where the plan does not say."""
    if one.server == other.server or one.fabric != other.fabric or part.get(one.leaf) != part.get(other.leaf):
        return None
    if one.tenant != other.tenant:
        return lets(one, other) and lets(other, one)
    if one.network != other.network and any(end.network and not end.network.gateway for end in (one, other)):
        return None  # a network without a gateway is reached from within alone
    return True


def leaking(lab: Blueprint) -> frozenset[frozenset[str]]:
    """Pairs of tenants of which one imports routes of the other by prefix, from its table on the same switch."""
    vrfs = (vrf for view in lab.views.values() for vrf in view.vrfs)
    return frozenset(frozenset({vrf.name, leak.source}) for vrf in vrfs for leak in vrf.leaks)


def permits(lab: Blueprint) -> Lets:
    """Whether the first lets the second one in: by route targets and prefixes of its table, or by the filter on its port."""
    imports = {
        (vrf.name, sender.name)
        for view in lab.views.values()
        for vrf in view.vrfs
        for sender in view.vrfs
        if sender.route_target in vrf.imports
    }
    leaks = {(vrf.name, leak.source): leak.prefixes for view in lab.views.values() for vrf in view.vrfs for leak in vrf.leaks}
    filters = {(name, acl.name): acl.permits for name, view in lab.views.items() for acl in view.acls}

    def lets(receiver: Endpoint, sender: Endpoint) -> bool:
        if not receiver.filtered:
            pair = receiver.tenant, sender.tenant
            prefixes = [text for text in leaks.get(pair, ()) if text not in DEFAULT_ROUTES]
            return pair in imports or _is_in(sender, prefixes)
        return _is_in(sender, filters.get((receiver.leaf, receiver.tenant), ()))

    return lets


def _is_in(endpoint: Endpoint, prefixes: Iterable[str]) -> bool:
    return any(ip_address(endpoint.address) in ip_network(prefix) for prefix in prefixes)
