"""Where servers are attached, whose they are, and who is meant to reach whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network

from fabric.lab.blueprint import SERVER, STAND_IN, Blueprint, End
from fabric.model.plan import Network, Port, SwitchView
from fabric.nos.target import target


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
    network: Network | None  # the layer-2 network it is in
    mtu: int  # that the fabric promises it
    filtered: bool = False  # a filter on the port keeps its tenant apart, not a table

    @property
    def shown(self) -> str:
        return f"{self.server} {self.interface} ({self.address})"


Lets = Callable[[Endpoint, Endpoint], bool]


def endpoints(lab: Blueprint) -> list[Endpoint]:
    """Every address of a server, and of a device in a network, that is up, leaf by leaf in port order."""
    far = {end: wire.other(end.node) for wire in lab.wires for end in (wire.a, wire.b)}
    hosts = (*lab.of(SERVER), *(node for node in lab.of(STAND_IN) if not node.routed))
    built = {End(node.name, interface.name): interface for node in hosts for interface in node.interfaces}
    result = []
    for view in lab.views.values():
        for port, name, tenant, network in _attached(view):
            far_end = far.get(End(view.device.name, name))
            interface = built.get(far_end) if far_end else None
            if far_end is None or interface is None or not interface.addresses or not interface.up:
                continue
            address = interface.addresses[0] if network or not port.peer_address else port.peer_address
            result.append(
                Endpoint(
                    server=far_end.node,
                    interface=far_end.interface,
                    address=str(ip_interface(address).ip),
                    fabric=view.fabric,
                    leaf=view.device.name,
                    port=name,
                    tenant=tenant,
                    network=network,
                    mtu=_promised(lab, view.fabric),
                    filtered=bool(port.acl),
                )
            )
    return result


def _attached(view: SwitchView) -> Iterator[tuple[Port, str, str, Network | None]]:
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
    if one.server == other.server or one.fabric != other.fabric or part[one.leaf] != part[other.leaf]:
        return None
    if one.tenant != other.tenant:
        return lets(one, other) and lets(other, one)
    if one.network != other.network and any(end.network and not end.network.gateway for end in (one, other)):
        return None  # a network without a gateway is reached from within alone
    return True


def permits(lab: Blueprint) -> Lets:
    """Whether the first lets the second one's tenant in: by its table's route targets, or by the filter on its port."""
    imports = {
        (vrf.name, sender.name)
        for view in lab.views.values()
        for vrf in view.vrfs
        for sender in view.vrfs
        if sender.route_target in vrf.imports
    }
    filters = {(name, acl.name): acl.permits for name, view in lab.views.items() for acl in view.acls}

    def lets(receiver: Endpoint, sender: Endpoint) -> bool:
        if not receiver.filtered:
            return (receiver.tenant, sender.tenant) in imports
        return any(
            ip_address(sender.address) in ip_network(prefix) for prefix in filters.get((receiver.leaf, receiver.tenant), ())
        )

    return lets
