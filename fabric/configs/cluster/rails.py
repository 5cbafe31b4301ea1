"""The rails of a fabric as a cluster sees them: ports, names, addresses and planes of every server, from the plan alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network, collapse_addresses, ip_address

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Report
from fabric.base.grouping import grouped
from fabric.configs.cluster import kinds
from fabric.configs.hosts.facts import Reach, facts_of
from fabric.hardware.catalog import media
from fabric.model.plan import SERVER_LEAF, Device, FabricPlan, GroupSpec, Plan
from fabric.model.plan.nic_places import NicPlace, nic_places
from fabric.model.settings.cluster import NetworkOperator

CODE = "FAB159"
LATER = {"26.10": "its CRDs, of RA2.4 and RA3.1, are not at hand"}  # release → why nothing is written for it


def node_name(name: str) -> str:
    """A node's name is a host name in lower case, without underscores (RFC 1123)."""
    return re.sub(r"-*\.-*", ".", name.lower().replace("_", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPort:
    """A port of a server in a fabric of a cluster."""

    server: Device
    group: str
    place: NicPlace
    leaf: Device
    link: int
    interface: str
    label: str  # of the plan, `compute1p2`
    pool: str  # name of its CIDRPool
    prefix: str  # "172.16.0.0/31"
    address: str
    gateway: str  # of the leaf


@dataclass(frozen=True)
class Rail:
    """A pool of addresses: a rail, or one plane of it."""

    number: int
    plane: int  # -1: all planes

    @property
    def pool(self) -> str:
        return f"rail-{self.number}" + (f"-plane-{self.plane}" if self.plane >= 0 else "")

    @property
    def name(self) -> str:
        return f"rail{self.number}" + (f"p{self.plane}" if self.plane >= 0 else "")


@dataclass(frozen=True)
class Cluster:
    """One fabric whose servers are nodes of a cluster."""

    fabric: FabricPlan
    operator: NetworkOperator

    @cached_property
    def groups(self) -> dict[str, GroupSpec]:
        return {group.name: group for group in self.fabric.spec.groups if not group.bare}

    @cached_property
    def mtu(self) -> int:
        return facts_of(self.fabric).mtu

    @cached_property
    def host_index(self) -> int:
        """Which of the two addresses of a link is the server's, 0 or 1."""
        return 1 - int(self.fabric.spec.underlay.server_first)

    def rail(self, group: GroupSpec, place: NicPlace) -> Rail:
        """The pool that a port has its address from."""
        split = self.fabric.spec.planes > 1 and not group.joins_planes
        return Rail(place.rail, place.plane if split else -1)

    @cached_property
    def ports(self) -> tuple[ServerPort, ...]:
        """Every port, by server, NIC and port: servers of a unit in the order of their numbers, which the lock keeps."""
        fabric, links = self.fabric, self.fabric.links
        rows = np.flatnonzero(links.kind == SERVER_LEAF)
        rows = rows[np.lexsort((links.a_sub[rows], links.a_cage[rows], links.a[rows]))]
        places = {
            name: {(its.nic + 1, its.port): its for its in nic_places(fabric.spec, group)}
            for name, group in self.groups.items()
        }
        return tuple(port for row in rows.tolist() if (port := self._port(row, places)) is not None)

    def _port(self, row: int, places: Mapping[str, Mapping[tuple[int, int], NicPlace]]) -> ServerPort | None:
        fabric, links = self.fabric, self.fabric.links
        server, leaf = fabric.devices[links.a[row]], fabric.devices[links.b[row]]
        place = places[server.group].get((int(links.a_cage[row]), int(links.a_sub[row])))
        low = int(fabric.subnet[row])
        if place is None or low < 0:
            return None  # a NIC of another purpose, or a layer-2 port
        group, length = self.groups[server.group], fabric.subnet_length
        at = place.nic * group.nic.ports + place.port
        return ServerPort(
            server=server,
            group=server.group,
            place=place,
            leaf=leaf,
            link=row,
            interface=group.nic.interfaces[at] if at < len(group.nic.interfaces) else "",
            label=f"{group.nics}{place.nic + 1}" + (f"p{place.port + 1}" if group.nic.ports > 1 else ""),
            pool=self.rail(group, place).pool,
            prefix=f"{ip_address(low)}/{length}",
            address=str(ip_address(low + self.host_index)),
            gateway=str(ip_address(low + 1 - self.host_index)),
        )

    @cached_property
    def rails(self) -> dict[Rail, tuple[ServerPort, ...]]:
        """Ports by pool; a NIC that joins its planes has one entry, that of its first port."""
        found = grouped(
            (self.rail(self.groups[port.group], port.place), port)
            for port in self.ports
            if not (self.groups[port.group].joins_planes and port.place.port)
        )
        return {rail: tuple(found[rail]) for rail in sorted(found, key=lambda rail: (rail.number, rail.plane))}

    def reach(self, leaf: int) -> list[str]:
        """What a port at a leaf reaches over it, in as few prefixes as there can be."""
        return [str(net) for net in collapse_addresses(map(IPv4Network, self._reach.everything(leaf)))]

    def block(self, leaf: int) -> list[str]:
        """The prefixes of the area that the servers of a leaf have addresses of."""
        return list(self._reach.areas[self._reach.area_of[leaf]])

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self.fabric)


def clusters(plan: Plan) -> list[Cluster]:
    """The fabrics with a Network Operator. Raises InputError for what its objects cannot say."""
    found = [
        Cluster(fabric, fabric.spec.network_operator) for fabric in plan.fabrics.values() if fabric.spec.network_operator
    ]
    report = Report()
    for cluster in found:
        for message, path, hint in problems(cluster):
            report.error(CODE, cluster.fabric.spec.at(*path), f"fabric '{cluster.fabric.name}': {message}", hint)
    spaces = Counter(cluster.operator.namespace for cluster in found)
    for cluster in found[1:]:
        if spaces[space := cluster.operator.namespace] > 1:
            message = f"network_operator: expected one fabric in namespace {space}, as pools have the names of rails"
            report.error(CODE, cluster.fabric.spec.at("network_operator"), message, "state another `namespace`")
    report.raise_errors()
    if not found:
        place, hint = plan.at("site"), "state `network_operator: {profile: …}` in a fabric: docs/howto/network-operator.md"
        raise InputError([Diagnostic(CODE, place, "no fabric has a `network_operator`", hint)])
    return found


Problem = tuple[str, tuple[str | int, ...], str]  # message, path of the key, hint


def problems(cluster: Cluster) -> Iterator[Problem]:
    """Everything about a fabric that the objects of its release cannot say."""
    spec, release = cluster.fabric.spec, cluster.operator.release
    if release in LATER:
        message = f"network_operator {release}: {LATER[release]}, expected release {kinds.RELEASE}"
        yield message, ("network_operator", "release"), f'state `release: "{kinds.RELEASE}"` until then'
    if not spec.ethernet or spec.switchless:
        yield "network_operator: expected an Ethernet fabric with switches", ("network_operator",), "remove it"
        return
    if spec.kind not in ("rail-optimized", "rail-only"):
        yield f"network_operator: expected a fabric with rails, got {spec.kind}", ("topology", "kind"), "a rail has a pool"
        return
    if spec.underlay.addressing == "ipv6":
        message = "network_operator: expected IPv4 addresses of servers, got ipv6, which the launch kit does not write yet"
        yield message, ("underlay", "addressing"), "use `addressing: ipv4` or `unnumbered`"
    for at, group in enumerate(cluster.groups.values()):
        yield from _of_group(cluster, at, group)
    if any(tenant.networks for tenant in spec.tenants):
        yield (
            "network_operator: expected routed ports of servers, got layer-2 networks",
            ("tenants",),
            "a pool has a /31 a node",
        )
    names = grouped((node_name(port.server.name), port.server.name) for port in cluster.ports)
    for node, servers in names.items():
        if len(set(servers)) > 1:
            yield f"two servers are the node '{node}'", ("names",), "node names have no capitals and no underscores"
            break


def _of_group(cluster: Cluster, at: int, group: GroupSpec) -> Iterator[Problem]:
    spec, where = cluster.fabric.spec, ("servers", at)
    known = media.cages().nic(group.nic.model)
    device = known.device if known else ""
    several = group.nic.count != spec.rails(group)
    if not group.plane_mode:
        yield (
            f"expected a plane_mode of servers '{group.name}'",
            where,
            "state `plane_mode: swplb` or `hwplb`: it is not guessed",
        )
    if device not in (*kinds.MULTIPLANE, kinds.BF3):
        message = f"servers '{group.name}': expected ConnectX-8, ConnectX-9 or BlueField-3, got NIC model '{group.nic.model}'"
        yield message, where, "Spectrum-X optimizations exist for these alone"
    if spec.planes not in (1, 2, 4):
        yield (
            f"expected 1, 2 or 4 planes, got {spec.planes}",
            ("topology", "planes"),
            f"release {kinds.RELEASE} has no others",
        )
    if len(group.nic_pci) != group.nic.count:
        message = f"servers '{group.name}': expected nic_pci, the PCI addresses of {group.nic.count} NICs"
        yield message, where, "`lspci -D` of a server lists them; they say which NIC is on which rail"
    if len(_patterns(group)) < 2:
        message = f"servers '{group.name}': expected nic_names with interface and rdma"
        yield message, where, 'such as `nic_names: {interface: "eth_r{rail}_p{plane}", rdma: "roce_r{rail}_p{plane}"}`'
    elif any(re.search(r"\{\w+:", pattern) for pattern in _patterns(group)):
        yield (
            f"servers '{group.name}': expected nic_names without widths",
            (*where, "nic_names"),
            "use `{rail}`, not `{rail:02}`",
        )
    elif several and spec.planes > 1:
        message = f"servers '{group.name}': expected one NIC on each rail of a fabric with planes, got {group.nic.count} NICs"
        yield message, where, "the operator counts planes through the NICs of a rail"
    if len(cluster.groups) > 1 and not group.node_selector:
        yield (
            f"servers '{group.name}': expected node_selector, as there are several groups",
            where,
            "a label that tells them apart",
        )


def _patterns(group: GroupSpec) -> tuple[str, ...]:
    return tuple(pattern for pattern in (group.nic_names.interface, group.nic_names.rdma) if pattern)
