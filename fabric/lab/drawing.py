"""Draws the whole lab of a plan: reads the files of its switches and servers, and lays the planned cables between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_interface, ip_network
from itertools import groupby

import numpy as np
from netaddr import IPSet

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.text import plural
from fabric.configs import Job, Renderer
from fabric.configs.disk_state import GeneratedFolder
from fabric.configs.hosts.facts import server_links
from fabric.configs.hosts.netplan import netplan_text
from fabric.configs.hosts.view import ETHERNET, Host, HostNic, hosts, sides
from fabric.configs.infiniband.files import Managed, files as subnet_files
from fabric.configs.render import environment
from fabric.lab.blueprint import LOOPBACK, PORT, STAND_IN, Blueprint, End, Interface, Node, Route, Wire
from fabric.lab.devices import BASE_SYSCTLS, BONDS, chassis, mac, server, switch, tagged
from fabric.model.plan import ATTACHED, ATTACHMENT, External, FabricPlan, Plan, Port, PortLabels, PortRef, SwitchView
from fabric.nos.reading import read_device
from fabric.nos.target import management_port, target, targets

# --- outside --------------------------------------------------------------------------------------------------
# Draws stand-ins for attachments: routers outside the site, storage heads, appliances.
#
# A router with sessions in several tenants is several nodes, so that what tenants can reach over it is not our doing. It
# sends back to each border leaf what it has from another one.

MANAGEMENT = "-management"  # the node of a switch's management port has the name of the switch before it
ANYWHERE = {4: "198.51.100.1", 6: "2001:db8:51::1"}  # documentation prefixes: what a default route leads to


@dataclass(frozen=True, slots=True)
class Leg:
    """One link of a stand-in: the switch's end, and the session on it where there is one."""

    view: SwitchView
    port: Port
    interface: str  # of the stand-in
    external: External | None
    seat: Seat | None = None  # in a layer-2 network

    @property
    def bonded(self) -> bool:
        """One of the links of a bond that has an address."""
        return self.seat is not None and self.port.lag > 0


@dataclass(frozen=True, slots=True)
class Seat:
    """What a device in a layer-2 network has there."""

    address: str  # with its length
    gateway: str  # "" without one
    switch: str = ""  # whose management port it is, and as which it speaks LLDP
    interface: str = ""  # name of that port


def seats(plan: Plan, views: Mapping[str, SwitchView]) -> dict[tuple[str, PortRef], tuple[str, Seat]]:
    """(leaf, port) → node and seat of every port of an attachment that is untagged in a network with a gateway.

    A management port is a node of its own, with the address and the gateway that its switch is configured with.
    """
    seat_of = {}
    for fabric in plan.fabrics.values():
        labels, tenancy = PortLabels(fabric), fabric.tenancy
        for link in np.flatnonzero(fabric.links.kind == ATTACHMENT).tolist() if tenancy.tenants else ():
            networks, port = tenancy.networks(link), (fabric.devices[fabric.links.b[link]].name, labels.ref(link, "b"))
            if len(networks) != 1 or not networks[0].prefix:
                continue
            if switch := fabric.management_ports.get(link):
                if (view := views.get(switch.name)) and view.management.address:
                    manage = view.management
                    seat = Seat(manage.address or "", manage.gateway or "", switch.name, management_port(switch))
                    seat_of[port] = f"{switch.name}{MANAGEMENT}", seat
                continue
            place = tenancy.tenants[int(tenancy.owner[link])].networks.index(networks[0])
            if (address := tenancy.hosts.get((int(tenancy.owner[link]), place), {}).get(link)) is not None:
                seat = Seat(f"{ip_address(address)}/{networks[0].length}", str(ip_address(networks[0].gateway or 0)))
                seat_of[port] = fabric.devices[fabric.links.a[link]].name, seat
    return seat_of


def node_name(device: str, vrf: str) -> str:
    return f"{device}-{vrf}" if vrf else device


def stand_in(name: str, legs: Sequence[Leg]) -> Node:
    """One node for the legs of an attachment in one VRF."""
    sessions = [(leg, leg.external) for leg in legs if leg.external is not None]
    bonded = any(leg.bonded for leg in legs)
    interfaces = [_port(name, leg, at) for at, leg in enumerate(legs)]
    if not sessions:
        gateways = [(leg.seat.gateway if leg.seat else _plain(leg.port.address), leg.interface) for leg in legs]
        routes = [
            Route(to="default", via=gateway, interface=interface, metric=metric)
            for metric, (gateway, interface) in enumerate(gateways)
            if gateway
        ]
        routes = routes if bonded else routes[:1]
        switch = next((leg.seat.switch for leg in legs if leg.seat), "")
        lldp = f"configure system hostname {switch}\nconfigure lldp portidsubtype ifname\n" if switch else ""
        return Node(
            name=name,
            kind=STAND_IN,
            role=ATTACHED,
            interfaces=tuple(interfaces),
            sysctls=BASE_SYSCTLS,
            routes=tuple(routes),
            lldp=lldp,
            lacks=(BONDS,) if bonded else (),
        )
    accepts = list(dict.fromkeys(prefix for _, external in sessions for prefix in external.accepts))
    own_prefixes = tuple(dict.fromkeys(own.prefix for _, external in sessions for own in external.own))
    addresses = [beyond(prefix, own_prefixes) for prefix in accepts]
    loopback = Interface(name="lo", kind=LOOPBACK, addresses=tuple(f"{a}/{128 if ':' in a else 32}" for a in addresses))
    conf = (
        environment()
        .get_template("frr/stand-in.conf.j2")
        .render(
            hostname=name,
            asn=sessions[0][1].peer_asn,
            router_id=f"198.51.100.{1 + sum(name.encode()) % 250}",
            family="ipv6 unicast" if ":" in sessions[0][1].peer_address else "ipv4 unicast",
            networks=accepts,
            sessions=[{"peer": _plain(external.address), "asn": leg.view.device.asn} for leg, external in sessions],
        )
    )
    return Node(
        name=name, kind=STAND_IN, role=ATTACHED, interfaces=(loopback, *interfaces), frr_conf=conf, sysctls=BASE_SYSCTLS
    )


def beyond(prefix: str, own: Sequence[str] = ()) -> str:
    """An address behind a route that comes from outside, which the stand-in answers for; none of the site's own."""
    network = ip_network(prefix)
    if network.prefixlen == 0:
        return ANYWHERE[network.version]
    left = (IPSet([prefix]) - IPSet(own)).iter_cidrs()[0]
    return str(left[min(1, left.size - 1)])


def _port(name: str, leg: Leg, at: int) -> Interface:
    external = leg.external
    length = ip_interface(external.address if external else leg.port.address or "0.0.0.0/31").network.prefixlen
    peer = external.peer_address if external else leg.port.peer_address
    addresses = (f"{peer}/{length}",) if peer and (external or leg.port.address) else ()
    addresses = (leg.seat.address,) if leg.seat else addresses
    tenant = leg.view.overlay.mtu if leg.view.overlay and (external is None or external.vrf) else leg.view.underlay.mtu
    bond = f"bond{leg.port.lag}" if leg.bonded else ""
    return Interface(
        name=leg.interface,
        kind=PORT,
        addresses=addresses,
        mtu=tenant,
        mac=mac(name, bond or leg.interface),
        bond=bond,
        standby=at if bond else 0,
    )


def _plain(address: str | None) -> str:
    return (address or "").partition("/")[0]


# --- the whole lab --------------------------------------------------------------------------------------------

BFD_ENDS_PER_CORE = 400  # one end at 300 ms takes bfdd about 0.15 % of a core, and BGP needs some as well
SERVERS = 2  # of each unit and tenant, unless asked otherwise
Look = Callable[[str, bytes], bytes]  # path, planned bytes → what is there


def draw(renderer: Renderer, limit: str = "", servers: int = SERVERS, fresh: bool = False) -> Blueprint:
    """Reads and draws. Raises InputError.

    Args:
        limit: a pattern of device names, as of `generate`; cables to others are left out.
        servers: so many of each unit and tenant.
        fresh: the files as they would be generated, whatever lies in the folder.
    """
    standing = GeneratedFolder(renderer.plan.settings)

    def look(path: str, data: bytes) -> bytes:
        return data if fresh else standing.look(path, data).data

    return _Drawing(renderer, look, limit, servers).blueprint()


@dataclass(frozen=True)
class _Cabled:
    """A server that is in the lab."""

    host: Host
    text: str
    nics: Mapping[tuple[str, str], HostNic]  # (leaf, label)


class _Drawing:
    def __init__(self, renderer: Renderer, look: Look, limit: str, servers: int) -> None:
        self.plan, self.renderer, self.look = renderer.plan, renderer, look
        self.home = self.plan.settings.home
        self.limit, self.most = limit, servers
        self.notes: list[str] = []
        self.files: dict[str, dict[str, str]] = {}

    def blueprint(self) -> Blueprint:
        jobs = [job for job in self.renderer.jobs(self._wanted) if self._runs(job.device.name, job.device.nos)]
        direct = [fabric for fabric in self.plan.fabrics.values() if fabric.spec.switchless and not self.limit]
        subnets = () if self.limit else tuple(self.renderer.subnets)
        if not jobs and not direct and not subnets:
            self._nothing()
        views = {job.device.name: self.renderer.views[job.fabric].of(job.device) for job in jobs}
        nodes = {job.device.name: self._switch(job, views[job.device.name]) for job in jobs}
        cabled = self._servers(views)
        nodes |= {name: self._server(name, server.text) for name, server in cabled.items()}
        legs = list(_legs(views, seats(self.plan, views)))
        attached = groupby(sorted(legs, key=lambda leg: leg[0]), key=lambda leg: leg[0])
        nodes |= {name: stand_in(name, [leg for _, leg in cables]) for name, cables in attached}
        between = (wire for fabric in direct for wire in _direct_wires(fabric, cabled))
        wires = (*self._wires(views, nodes, cabled), *_outside_wires(legs, nodes), *between)
        used = {end for wire in wires for end in (wire.a, wire.b)}
        nodes = {name: _used(node, used) for name, node in nodes.items()}
        bfd = self._bfd(views)
        laid = tuple(sorted(wires, key=_order))
        notes = tuple(self.notes)
        return Blueprint(
            site=self.plan.site,
            plan=self.plan,
            nodes=nodes,
            wires=laid,
            views=views,
            notes=notes,
            files=self.files,
            subnets=subnets,
            subnet_files={subnet.subnet.name: self._of_subnet(subnet) for subnet in subnets},
            bfd=bfd,
        )

    def _of_subnet(self, subnet: Managed) -> dict[str, str]:
        """The files of a subnet manager as they lie there."""
        return {path.rpartition("/")[2]: self.look(path, data).decode() for path, data in subnet_files(subnet)}

    def _bfd(self, views: Mapping[str, SwitchView]) -> bool:
        """Whether the machine can carry BFD on every link; else its packets would starve all that the lab is to show."""
        ends = sum(len(view.sessions) for view in views.values() if view.underlay.bfd)
        most = BFD_ENDS_PER_CORE * (os.cpu_count() or 1)
        if ends > most:
            self.notes.append(
                f"bfdd is not started: {ends:,} ends of BFD sessions, the limit of this machine is about {most:,}"
            )
        return ends <= most

    def _wanted(self, name: str) -> bool:
        return not self.limit or fnmatchcase(name, self.limit)

    def _runs(self, name: str, nos: str) -> bool:
        if target(nos).runs_in_lab:
            return True
        note = (
            f"switches with {nos} are omitted: no daemon of the lab reads its files (use --as frr to run the design on FRR)"
        )
        if note not in self.notes:
            self.notes.append(note)
        return False

    def _nothing(self) -> None:
        path = str(self.home.path)
        if self.renderer.jobs(self._wanted):
            able = " or ".join(name for name, nos in targets().items() if nos.runs_in_lab)
            message = f"no switch of site '{self.plan.site}' has a network OS that runs here: expected {able}"
            raise InputError([Diagnostic("FAB510", Place(path), message, "use --as frr to run the same design on FRR")])
        if not self.limit:
            message = f"site '{self.plan.site}' has no switch with a network OS, so there is nothing to start"
            raise InputError([Diagnostic("FAB161", Place(path), message)])
        raise InputError(
            [Diagnostic("FAB162", Place(path), f"--limit '{self.limit}' matches no switch of site '{self.plan.site}'")]
        )

    # --- switches -----------------------------------------------------------------------------------------------

    def _switch(self, job: Job, view: SwitchView) -> Node:
        found = {path: self.look(path, data).decode("utf-8", "replace") for path, data in self.renderer.files(job)}
        self.files[view.device.name] = found
        if not any(path.endswith("/frr.conf") and text.strip() for path, text in found.items()):
            self.notes.append(f"frr.conf of {view.device.name} is empty: no daemon runs there")
        facts = read_device(view.device.name, view.device.nos, found)
        return switch(chassis(view), facts, {path.rpartition("/")[2]: text for path, text in found.items()})

    # --- servers ------------------------------------------------------------------------------------------------

    def _servers(self, views: Mapping[str, SwitchView]) -> dict[str, _Cabled]:
        """The first few servers of each unit and tenant."""
        servers: dict[str, _Cabled] = {}
        taken: dict[tuple[object, ...], int] = {}
        total = 0
        for host in hosts(sides(self.plan)):
            nics = {(nic.leaf, nic.name): nic for nic in host.nics if nic.kind == ETHERNET and nic.leaf in views}
            if not nics and not (host.own and not self.limit):
                continue
            total += 1
            keys = {
                (nic.leaf, nic.vrf, nic.untagged, nic.tagged and nic.tagged[0].tag) for nic in nics.values() if not nic.closed
            }
            if not host.own and all(taken.get(key, 0) >= self.most for key in keys):
                continue
            for key in keys:
                taken[key] = taken.get(key, 0) + 1
            path = f"hosts/{host.name}/60-fabric.yaml"
            servers[host.name] = _Cabled(host, self.look(path, netplan_text(host).encode()).decode("utf-8", "replace"), nics)
        if len(servers) < total:
            self.notes.append(f"{len(servers)} of {plural(total, 'server')}: {self.most} per leaf and tenant")
        return servers

    def _server(self, name: str, text: str) -> Node:
        try:
            return server(name, text)
        except ValueError as error:
            place = Place(f"{self.home.shown}/hosts/{name}/60-fabric.yaml")
            message = " ".join(str(error).split())
            raise InputError([Diagnostic("FAB513", place, message, "`fabric generate` writes it again")]) from None

    # --- wires --------------------------------------------------------------------------------------------------

    def _wires(
        self, views: Mapping[str, SwitchView], nodes: Mapping[str, Node], cabled: Mapping[str, _Cabled]
    ) -> Iterator[Wire]:
        for name, view in views.items():
            for port in view.cabled:
                assert port.peer is not None
                here = End(name, _port_name(view, port))
                peer = port.peer.device.name
                if peer in views and port.peer.port is not None and port.peer.model is not None:
                    far = End(peer, _port_name_of(views[peer], port))
                    if here < far:
                        yield from _with_slices(Wire(here, far), nodes)
                elif (server := cabled.get(peer)) and (nic := server.nics.get((name, port.peer.port_name))):
                    yield Wire(here, End(peer, nic.interface))
                    for part in _slices(nodes[name], here.interface):
                        tag = int(part.name.rpartition(".")[2])
                        if vlan := tagged(server.text, nic.interface, tag):
                            yield Wire(End(name, part.name), End(peer, vlan), here.interface)


def _direct_wires(fabric: FabricPlan, cabled: Mapping[str, _Cabled]) -> Iterator[Wire]:
    """Cables between two servers; the second function of a port is a slice of its cable."""
    ends: dict[int, dict[str, list[End]]] = {}
    for link in server_links(fabric):
        host = cabled[fabric.devices[link.server].name].host
        found = (nic.interface for nic in host.nics if nic.fabric == fabric.name and nic.address == link.address)
        ends.setdefault(link.link, {}).setdefault(host.name, []).append(End(host.name, next(found)))
    for a, b in (of_cable.values() for of_cable in ends.values()):
        for near, far in zip(a, b, strict=True):
            yield Wire(near, far, "" if near is a[0] else a[0].interface)


def _port_name(view: SwitchView, port: Port) -> str:
    return target(view.device.nos).port_name(view.model, port.ref, view.device.model)


def _port_name_of(view: SwitchView, port: Port) -> str:
    assert port.peer is not None
    assert port.peer.port is not None
    return target(view.device.nos).port_name(view.model, port.peer.port, view.device.model)


def _slices(node: Node, port: str) -> list[Interface]:
    return [part for part in node.interfaces if part.parent == port]


def _with_slices(cable: Wire, nodes: Mapping[str, Node]) -> Iterator[Wire]:
    """A cable between switches, and a wire for each tag that both of its ends have."""
    yield cable
    far = {part.name.rpartition(".")[2]: part for part in _slices(nodes[cable.b.node], cable.b.interface)}
    for part in _slices(nodes[cable.a.node], cable.a.interface):
        if other := far.get(part.name.rpartition(".")[2]):
            yield Wire(End(cable.a.node, part.name), End(cable.b.node, other.name), cable.a.interface)


def _legs(
    views: Mapping[str, SwitchView], seated: Mapping[tuple[str, PortRef], tuple[str, Seat]]
) -> Iterator[tuple[str, Leg]]:
    """(node, leg) of everything that is cabled to the fabric from outside."""
    counts: dict[str, int] = {}
    for view in views.values():
        for port in view.cabled:
            if port.kind != "attachment" or port.peer is None or port.peer.device.name in views:
                continue
            attachment = port.peer.device.name
            counts[attachment] = number = counts.get(attachment, 0) + 1
            sessions = [external for external in view.externals if external.port == port]
            if not any(external.tag == 0 for external in sessions):
                node, seat = seated.get((view.device.name, port.ref), (attachment, None))
                yield node, Leg(view, port, (seat.interface if seat else "") or f"port{number}", None, seat)
            for external in sessions:
                name = f"port{number}.{external.tag}" if external.tag else f"port{number}"
                yield node_name(attachment, external.vrf if external.tag else ""), Leg(view, port, name, external)


def _outside_wires(legs: list[tuple[str, Leg]], nodes: Mapping[str, Node]) -> Iterator[Wire]:
    for node, leg in legs:
        port = _port_name(leg.view, leg.port)
        tag = leg.external.tag if leg.external else 0
        here = f"{port}.{tag}" if tag else port
        if any(own.name == here for own in nodes[leg.view.device.name].interfaces):
            yield Wire(End(leg.view.device.name, here), End(node, leg.interface), port if tag else "")


def _used(node: Node, used: set[End]) -> Node:
    """A node without ports that no wire ends in."""
    kept = tuple(own for own in node.interfaces if own.kind != "port" or End(node.name, own.name) in used)
    return replace(node, interfaces=kept)


def _order(wire: Wire) -> tuple[End, End]:
    return wire.a, wire.b
