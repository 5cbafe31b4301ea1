"""The tenants of one switch, computed from the plan's tenancy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from netaddr import IPAddress, IPSet, cidr_merge, iprange_to_cidrs

from fabric.base.grouping import grouped
from fabric.base.text import address
from fabric.model.plan import (
    ATTACHMENT,
    CLOSED,
    LEAF,
    SERVER_LEAF,
    VXLAN_BYTES,
    Acl,
    Device,
    External,
    ExternalConnection,
    FabricPlan,
    Lag,
    Network,
    NetworkPlan,
    Overlay,
    OverlaySession,
    OwnPrefix,
    Pair,
    Port,
    Session,
    Subinterface,
    TenantPlan,
    Vrf,
    VrfLeak,
    own_networks,
    own_pools,
    port_vlans,
    tenants_behind,
)


class TenantViews:
    """Tenants of one fabric. `text` spells an address number of the underlay's family."""

    def __init__(self, fabric: FabricPlan, text: Callable[[int], str], mtu: int) -> None:
        self.fabric, self.text, self.mtu = fabric, text, mtu
        self.tenancy = fabric.tenancy
        self.owner = fabric.tenancy.owner.tolist()
        self.lag = fabric.tenancy.lag.tolist()
        self.slices = {n: first.tolist() for n, first in fabric.tenancy.slices.items()}
        self.connections: dict[int, list[ExternalConnection]] = {}
        for connection in fabric.tenancy.external_connections:
            self.connections.setdefault(connection.link, []).append(connection)
        self.admin = fabric.spec.overlay.rt_asn

    # --- ports ----------------------------------------------------------------------------------------------

    def port(self, port: Port, link: int, kind: int, end: int) -> Port:
        """A port with the VRF, VLANs, ACL or subinterfaces of its tenants."""
        tenancy, owner = self.tenancy, self.owner[link]
        if kind in (SERVER_LEAF, ATTACHMENT):
            connections = self.connections.get(link, ())
            if connections and connections[0].address is not None:
                slices = tuple(
                    self._slice(connection.tenant, connection.address, link, 1)
                    for connection in connections
                    if connection.address is not None
                )
                return replace(port, address=None, peer_address=None, lossless=None, subinterfaces=slices)
            if owner == CLOSED:
                return replace(port, closed=True, lossless=None)
            if owner < 0 or not tenancy.isolated:
                return replace(port, lossless=None) if connections else port
            tenant = tenancy.tenants[owner]
            if tenant.networks:
                untagged, tagged = port_vlans(tenancy.networks(link) if link in tenancy.chosen else tenant.networks)
                return replace(port, address=None, peer_address=None, untagged=untagged, tagged=tagged, lag=self.lag[link])
            return replace(port, acl=tenant.name) if tenancy.kind == "acl" else replace(port, vrf=tenant.name)
        slices = tuple(self._slice(n, first[link], link, end) for n, first in self.slices.items() if first[link] >= 0)
        return replace(port, subinterfaces=slices) if slices else port

    def _slice(self, tenant: int, first: int, link: int, end: int) -> Subinterface:
        """A tenant's subnet on a link."""
        own, far = (first, first + 1) if end == self.fabric.first_end[link] else (first + 1, first)
        plan = self.tenancy.tenants[tenant]
        return Subinterface(plan.name, plan.tag, f"{self.text(own)}/{self.fabric.link_length(link)}", self.text(far))

    # --- the switch -----------------------------------------------------------------------------------------

    def vrfs(self, device: Device, router_id: str, ports: Sequence[Port]) -> tuple[Vrf, ...]:
        """The tenants that have a port or a network on this switch, by number."""
        tenancy = self.tenancy
        if tenancy.kind not in ("evpn", "vrf-lite"):
            return ()
        here = {port.vrf for port in ports} | {part.vrf for port in ports for part in port.subinterfaces}
        vlans = _vlans(ports)
        here |= {tenant.name for tenant in tenancy.tenants for network in tenant.networks if network.vlan in vlans}
        here |= {name for group in self._leaking if not group.isdisjoint(here) for name in group}
        found = [tenant for tenant in tenancy.tenants if tenant.name in here]
        return tuple(self._vrf(device, tenant, router_id, ports) for tenant in sorted(found, key=lambda t: t.number))

    def _vrf(self, device: Device, tenant: TenantPlan, router_id: str, ports: Sequence[Port]) -> Vrf:
        evpn = self.tenancy.kind == "evpn"
        return Vrf(
            name=tenant.name,
            number=tenant.number,
            vni=tenant.vni if evpn else None,
            vlan=tenant.vlan,
            rd=f"{router_id}:{tenant.number}",
            route_target=self._target(tenant.vni),
            imports=tuple(self._target(self._by_name[name].vni) for name in tenant.imports),
            prefixes=self._prefixes[tenant.name],
            outside=tenant.outside,
            sessions=() if evpn else tuple(_sessions(tenant, ports)),
            own=() if evpn else self._block(device),
            leaks=tuple(
                VrfLeak(leak.source, self._target(self._by_name[leak.source].vni), leak.prefixes) for leak in tenant.leaks
            ),
            whole=self._whole(tenant) if tenant.leaks else (),
        )

    @cached_property
    def _leaking(self) -> list[frozenset[str]]:
        """Tenants whose tables are on the same switches, because routes go from one to the other by prefix there."""
        groups: list[frozenset[str]] = []
        for tenant in self.tenancy.tenants if self.tenancy.kind == "evpn" else ():
            for leak in tenant.leaks:
                own = frozenset({tenant.name, leak.source})
                met = [group for group in groups if not group.isdisjoint(own)]
                groups = [*(group for group in groups if group not in met), own.union(*met)]
        return groups

    def _whole(self, tenant: TenantPlan) -> tuple[str, ...]:
        """What the tenants have of which all routes are imported."""
        sources = [self._by_name[name] for name in tenant.imports]
        return tuple(dict.fromkeys(text for source in sources for text in (*self._prefixes[source.name], *source.outside)))

    @cached_property
    def _prefixes(self) -> dict[str, tuple[str, ...]]:
        """The connected subnets of every tenant, the same on all its switches."""
        found, with_ports = {}, self.tenancy.routed
        for tenant in self.tenancy.tenants:
            routed = self.fabric.prefixes["servers"] if tenant.name in with_ports else ()
            subnets = [_subnet(network) for network in tenant.networks if network.gateway is not None]
            found[tenant.name] = (*routed, *subnets)
        return found

    def _block(self, device: Device) -> tuple[str, ...]:
        found = self.fabric.aggregate.get(device.index)
        return (f"{self.text(found[0])}/{found[1]}",) if found else ()

    @cached_property
    def _by_name(self) -> dict[str, TenantPlan]:
        return {tenant.name: tenant for tenant in self.tenancy.tenants}

    def _target(self, vni: int) -> str:
        return f"{self.admin}:{vni}"

    def networks(self, device: Device, router_id: str, ports: Sequence[Port]) -> tuple[Network, ...]:
        """The VLANs that this leaf has ports in."""
        if device.role != LEAF:
            return ()
        vlans, overlaid = _vlans(ports), self.tenancy.kind == "evpn"  # else the gateways are on the leaves above
        return tuple(
            Network(
                name=name,
                vrf=vrf if overlaid else "",
                vlan=network.vlan,
                vni=network.vni if overlaid else 0,
                rd=f"{router_id}:{10_000 + network.number}" if overlaid else "",
                route_target=route_target if overlaid else "",
                gateway=gateway if overlaid else None,
                own_address=f"{address(network.own_address(device.number))}/{network.length}"
                if gateway and overlaid
                else None,
                relay=network.relay if gateway and overlaid else (),
                relay_vrf=network.relay_tenant if network.relay_tenant != vrf else "",
            )
            for network, name, vrf, route_target, gateway in self._networks
            if network.vlan in vlans
        )

    @cached_property
    def _networks(self) -> list[tuple[NetworkPlan, str, str, str, str | None]]:
        """Every network by VLAN, with the values that are equal on all leaves: name, VRF, route target, gateway."""
        rows = [
            (
                network,
                f"{tenant.name}-{network.name}",
                tenant.name,
                self._target(network.vni),
                f"{address(network.gateway)}/{network.length}" if network.gateway is not None else None,
            )
            for tenant in self.tenancy.tenants
            for network in tenant.networks
        ]
        return sorted(rows, key=lambda row: row[0].vlan)

    def lags(self, device: Device, ports: Sequence[Port]) -> tuple[Lag, ...]:
        """The bonds of this leaf. The designated forwarder alternates between the two leaves from bond to bond."""
        by_number = grouped((port.lag, port) for port in ports if port.lag)
        mac, paired = self._system_mac(device), device.index in self.tenancy.pair
        first = device.index < self.tenancy.pair.get(device.index, device.index)
        result = []
        for number, members in sorted(by_number.items()):
            peer = members[0].peer
            assert peer is not None
            names = dict.fromkeys(port.peer.device.name for port in members if port.peer is not None)
            far = f"{peer.device.name} {peer.port_name}" if len(names) == 1 else " ".join(names)
            result.append(
                Lag(
                    number=number,
                    description=far,
                    ports=tuple(port.ref for port in members),
                    untagged=members[0].untagged,
                    tagged=members[0].tagged,
                    system_mac=mac if paired else "",
                    esi=f"03:{mac}:{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}" if paired else "",
                    preferred=first == bool(number % 2),
                    fallback=(device.index, number) in self.tenancy.fallback,
                    edge=peer.model is None,
                )
            )
        return tuple(result)

    def _system_mac(self, device: Device) -> str:
        """A locally administered address that names the pair: the number of its first leaf."""
        other = self.tenancy.pair.get(device.index, device.index)
        n = min(device.number, self.fabric.devices[other].number)
        return f"02:00:00:{n >> 16 & 255:02x}:{n >> 8 & 255:02x}:{n & 255:02x}"

    def pair(
        self,
        device: Device,
        ports: Sequence[Port],
        loopback: Callable[[int], str],
        manage: Callable[[int], str],
        *,
        one_vtep: bool,
    ) -> Pair | None:
        """The other leaf of the pair; None where it has no bond. `one_vtep`: the two share one VTEP address (vPC)."""
        other = self.tenancy.pair.get(device.index)
        if other is None or not any(port.lag for port in ports):
            return None
        peer = self.fabric.devices[other]
        return Pair(
            number=(min(device.number, peer.number) + 1) // 2,
            first=device.index < other,
            peer=peer,
            peer_loopback=loopback(other),
            peer_management=manage(other),
            shared_vtep=address(self.tenancy.pair_vtep[device.index]) if one_vtep else "",
            system_mac=self._system_mac(device),
            ports=tuple(p.ref for p in ports if p.kind == "fabric" and p.peer is not None and p.peer.device.index == other),
        )

    def externals(self, ports: Sequence[tuple[Port, int]]) -> tuple[External, ...]:
        """Sessions with routers outside; each port comes with its link."""
        sessions = []
        for port, link in ports:
            for connection in self.connections.get(link, ()):
                vrf, tag, address, peer_address = "", 0, port.address, port.peer_address
                if connection.address is not None:
                    tag = self.tenancy.tenants[connection.tenant].tag
                    part = next(part for part in port.subinterfaces if part.tag == tag)
                    vrf, address, peer_address = part.vrf, part.address, part.peer_address
                if address is not None and peer_address is not None:
                    sessions.append(
                        External(
                            port=port,
                            vrf=vrf,
                            tag=tag,
                            address=address,
                            peer_address=peer_address,
                            peer_asn=connection.asn,
                            peer=connection.name,
                            accepts=connection.accepts,
                            own=self._own[connection.name],
                        )
                    )
        return tuple(sessions)

    @cached_property
    def _own(self) -> dict[str, tuple[OwnPrefix, ...]]:
        """Router → prefixes of the site that it must not bring back, of the family of its sessions."""
        spec, tenants = self.fabric.spec, self.tenancy.tenants
        pools, version = own_pools(spec, self.fabric.prefixes), 6 if self.fabric.subnet_length == 127 else 4
        return {
            attachment.name: tuple(
                prefix
                for prefix in (*pools, *own_networks(tenants, tenants_behind(spec, attachment.external)))
                if prefix.net.version == version
            )
            for attachment in spec.attachments
            if attachment.external is not None
        }

    def overlay(self, device: Device, loopback: Callable[[int], str]) -> Overlay | None:
        """None as well for an upper switch that is no route server: to it, VXLAN is UDP."""
        vtep = self.tenancy.vtep.get(device.index)
        peers = [self.fabric.devices[index] for index in self.tenancy.peers.get(device.index, ())]
        if self.tenancy.kind != "evpn" or (vtep is None and not peers):
            return None
        return Overlay(
            vtep=address(vtep) if vtep is not None else None,
            anycast_mac=self.fabric.spec.overlay.anycast_mac,
            sessions=tuple(OverlaySession(peer, peer.asn, loopback(peer.index)) for peer in peers),
            passes_on=device.role != LEAF,
            mtu=self.mtu - VXLAN_BYTES,
        )

    def acls(self, ports: Sequence[Port]) -> tuple[Acl, ...]:
        """The filters of this leaf's tenants, by name."""
        names = sorted({port.acl for port in ports if port.acl})
        return tuple(self._filters[name] for name in names)

    @cached_property
    def _filters(self) -> dict[str, Acl]:
        """Per tenant its subnets and those of `imports`, merged into the fewest prefixes that cover exactly these."""
        own = {n: _covering(self._subnets(n), self.fabric.subnet_length) for n in range(len(self.tenancy.tenants))}
        place = {tenant.name: n for n, tenant in enumerate(self.tenancy.tenants)}
        found = {}
        for n, tenant in enumerate(self.tenancy.tenants):
            prefixes = own[n] + [net for name in tenant.imports for net in own[place[name]]]
            prefixes += [net for leak in tenant.leaks for net in _inside(own[place[leak.source]], leak.prefixes)]
            found[tenant.name] = Acl(tenant.name, tuple(str(net) for net in cidr_merge(prefixes)))
        return found

    def _subnets(self, tenant: int) -> list[int]:
        """First addresses of a tenant's server links."""
        served = (self.tenancy.owner == tenant) & (self.fabric.subnet >= 0)
        return sorted(int(first) for first in self.fabric.subnet[served])


def _inside(nets: Sequence[Any], prefixes: Sequence[str]) -> list[Any]:
    """The parts of networks that are in one of these prefixes."""
    return (IPSet(nets) & IPSet(prefixes)).iter_cidrs()  # type: ignore[no-any-return]


def _sessions(tenant: TenantPlan, ports: Sequence[Port]) -> list[Session]:
    """VRF-lite: the tenant's session on every link between switches that carries it."""
    return [
        Session(port, port.peer.device, port.peer.device.asn, part.peer_address, part.tag)
        for port in ports
        if port.kind == "fabric" and port.peer is not None
        for part in port.subinterfaces
        if part.tag == tenant.tag
    ]


def _vlans(ports: Sequence[Port]) -> set[int]:
    """The VLANs that some port carries."""
    return {vlan for port in ports for vlan in (port.untagged, *port.tagged)}


def _subnet(network: NetworkPlan) -> str:
    return f"{address(network.subnet)}/{network.length}"


def _covering(firsts: Sequence[int], length: int) -> list[Any]:
    """Prefixes that cover exactly these subnets of two addresses; consecutive ones are merged."""
    prefixes: list[Any] = []
    at = 0
    while at < len(firsts):
        end = at
        while end + 1 < len(firsts) and firsts[end + 1] == firsts[end] + 2:
            end += 1
        version = 6 if length == 127 else 4
        prefixes += iprange_to_cidrs(IPAddress(firsts[at], version), IPAddress(firsts[end] + 1, version))
        at = end + 1
    return prefixes
