"""Draws stand-ins for attachments: routers outside the site, storage heads, appliances.

A router with sessions in several tenants is several nodes, so that what tenants can reach over it is not our doing. It sends
back to each border leaf what it has from another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network

import numpy as np
from netaddr import IPSet

from fabric.configs.render import environment
from fabric.lab.blueprint import LOOPBACK, PORT, STAND_IN, Interface, Node, Route
from fabric.lab.switch import BASE_SYSCTLS, mac
from fabric.model.plan import ATTACHED, ATTACHMENT, External, Plan, Port, PortLabels, PortRef, SwitchView
from fabric.nos.target import management_port

ANYWHERE = {4: "198.51.100.1", 6: "2001:db8:51::1"}  # documentation prefixes: what a default route leads to


@dataclass(frozen=True, slots=True)
class Leg:
    """One link of a stand-in: the switch's end, and the session on it where there is one."""

    view: SwitchView
    port: Port
    interface: str  # of the stand-in
    external: External | None
    seat: Seat | None = None  # in a layer-2 network


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
                    seat_of[port] = f"{switch.name}-management", seat
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
    interfaces = [_port(name, leg) for leg in legs]
    if not sessions:
        gateways = [(leg.seat.gateway if leg.seat else _plain(leg.port.address), leg.interface) for leg in legs]
        routes = [Route("default", gateway, interface) for gateway, interface in gateways if gateway][:1]
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


def _port(name: str, leg: Leg) -> Interface:
    external = leg.external
    length = ip_interface(external.address if external else leg.port.address or "0.0.0.0/31").network.prefixlen
    peer = external.peer_address if external else leg.port.peer_address
    addresses = (f"{peer}/{length}",) if peer and (external or leg.port.address) else ()
    addresses = (leg.seat.address,) if leg.seat else addresses
    tenant = leg.view.overlay.mtu if leg.view.overlay and (external is None or external.vrf) else leg.view.underlay.mtu
    return Interface(name=leg.interface, kind=PORT, addresses=addresses, mtu=tenant, mac=mac(name, leg.interface))


def _plain(address: str | None) -> str:
    return (address or "").partition("/")[0]
