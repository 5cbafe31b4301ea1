"""InfiniBand subnets of a fabric: nodes and ports as management datagrams name them, a subnet for each isolated network.

A switch is a node with all its ports. Every port of a NIC is a channel adapter of its own with one port, as the drivers of
ConnectX NICs show it. Ports are numbered over the cages of the panel: 17/1 of a twin-port switch is port 33.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fabric.base.grouping import grouped
from fabric.model.plan.plan import FabricPlan, Plan, PortLabels
from fabric.model.plan.tenants import CLOSED
from fabric.model.plan.topology import (
    ATTACHED,
    BETWEEN_SWITCHES,
    CORE,
    LEAF,
    SERVER,
    SPINE,
    SWITCH_ROLES,
    Device,
    PortRef,
)

TIERS = {CORE: 2, SPINE: 1}  # of a role; leaves 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A switch, or one port of a NIC."""

    device: Device
    name: str  # description of the node: `backend-leaf001`, `dgx-h100-0001 mlx5_0`
    ports: int
    port: str = ""  # of a NIC its label in the plan, `compute1`; "" of a switch
    purpose: str = ""  # of the NIC
    nic: int = 0  # number of the NIC in its group, or of the attachment's port, from 1
    sub: int = 0  # port of the NIC, from 0
    tenant: int = -1  # place among the tenants of the fabric; CLOSED: of none
    plane: int = 0  # of a switch with several chips: which of them, from 1

    @property
    def switch(self) -> bool:
        return not self.port


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """A link: places of its nodes in the subnet, and their port numbers. The first end is the lower one."""

    a: int
    a_port: int
    b: int
    b_port: int
    speed_gbps: int
    link: int  # row in the links of the fabric


@dataclass(frozen=True)
class Subnet:
    """What one subnet manager configures. Switches come first, the top tier before others, then the ports of NICs."""

    name: str  # `backend`; of several `backend-plane1`, `backend-rail2`
    number: int  # over all subnets of the site, from 0
    fabric: FabricPlan
    nodes: tuple[Node, ...]
    cables: tuple[Cable, ...]

    @cached_property
    def switches(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.switch)

    @cached_property
    def adapters(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if not node.switch)

    @cached_property
    def top(self) -> tuple[Node, ...]:
        """The switches of the top tier: the roots of up/down and fat-tree routing."""
        highest = max((TIERS.get(node.device.role, 0) for node in self.switches), default=0)
        return tuple(node for node in self.switches if TIERS.get(node.device.role, 0) == highest)

    @cached_property
    def tiers(self) -> int:
        return len({node.device.role for node in self.switches})

    @cached_property
    def peers(self) -> dict[tuple[int, int], tuple[int, int]]:
        """(node, port) → (node, port) at the other end."""
        found = {}
        for cable in self.cables:
            found[cable.a, cable.a_port] = cable.b, cable.b_port
            found[cable.b, cable.b_port] = cable.a, cable.a_port
        return found

    @cached_property
    def labels(self) -> PortLabels:
        return PortLabels(self.fabric)

    def port_label(self, at: int, port: int) -> str:
        """The label of a switch's port on its panel, or of a NIC."""
        node = self.nodes[at]
        if not node.switch:
            return node.port
        model, factor = self.labels.models[node.device.role], self.factors[node.device.role]
        cage, sub = divmod(port - 1, factor)
        speed = model.native_gbps // factor
        return self.labels.label(node.device, PortRef(cage + 1, sub, factor, speed))

    @cached_property
    def factors(self) -> dict[str, int]:
        """Role → ports that every cage is numbered with."""
        return _factors(self.fabric)

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """Places of the NICs of the first purpose of their servers: those whose shifts fat-tree routing spreads."""
        first = {group.name: group.nics for group in self.fabric.spec.groups}
        return tuple(at for at, node in enumerate(self.nodes) if node.purpose and node.purpose == first[node.device.group])

    @property
    def chips(self) -> int:
        """Chips of a switch that each port is spread over, each a node of its own on the wire; 1 before XDR."""
        panel = self.fabric.spec.leaf.model.panel
        return panel.planes if panel is not None else 1


_ROLES = {CORE: 1, SPINE: 2, LEAF: 3, SERVER: 4, ATTACHED: 5}


def placeholder_guid(subnet: Subnet, node: Node, plane: int = 0) -> int:
    """A GUID that says where a node is. Its bit of local administration keeps it apart from those of any maker."""
    group = next((n for n, its in enumerate(subnet.fabric.spec.groups) if its.name == node.device.group), 0)
    number = (subnet.number % 256) << 48 | _ROLES[node.device.role] << 44 | (node.device.number & 0xFFFFF) << 24
    if node.device.role == ATTACHED:
        number |= (node.nic & 0xFFFF) << 8
    else:
        number |= (group & 0xFF) << 16 | (node.nic & 0xFF) << 8
    return 0x02 << 56 | number | (node.sub & 0xF or plane & 0xF) << 4


def usual_engines(subnet: Subnet) -> tuple[str, ...]:
    """For a tree the engine that spreads shifts without conflict, and the one that copes with any; else the simplest."""
    return ("ftree", "updn") if subnet.tiers > 1 else ("minhop",)


def subnets(plan: Plan) -> list[Subnet]:
    """Every subnet of a site, in the order of its fabrics."""
    found: list[Subnet] = []
    for fabric in plan.fabrics.values():
        if not fabric.spec.ethernet and not fabric.spec.switchless:
            found += [replace(subnet, number=len(found) + n) for n, subnet in enumerate(of_fabric(fabric))]
    return found


def of_fabric(fabric: FabricPlan) -> list[Subnet]:
    """The isolated networks of a fabric, by the first of their switches."""
    parts = _parts(fabric)
    names = _names(fabric, parts)
    adapters = grouped((parts[int(fabric.links.b[link])], link) for link in _ends(fabric))
    between = np.flatnonzero(np.isin(fabric.links.kind, BETWEEN_SWITCHES)).tolist()
    trunks = grouped((parts[int(fabric.links.a[link])], link) for link in between)
    return [
        _subnet(fabric, name, part, [at for at in parts if parts[at] == part], trunks.get(part, []), adapters.get(part, []))
        for part, name in names.items()
    ]


def _ends(fabric: FabricPlan) -> list[int]:
    """Links to NICs and attachments."""
    roles = [device.role for device in fabric.devices]
    return [link for link, a in enumerate(fabric.links.a.tolist()) if roles[a] in (SERVER, ATTACHED)]


def _parts(fabric: FabricPlan) -> dict[int, int]:
    """Switch → the first switch that it is connected to over other switches. Top switches come first."""
    parent = {device.index: device.index for device in fabric.switches}

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    links = fabric.links
    pairs = np.isin(links.kind, BETWEEN_SWITCHES)
    for a, b in zip(links.a[pairs].tolist(), links.b[pairs].tolist(), strict=True):
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    return {device.index: root(device.index) for device in fabric.switches}


def _names(fabric: FabricPlan, parts: dict[int, int]) -> dict[int, str]:
    """Part → the name of its subnet."""
    found = sorted(set(parts.values()))
    if len(found) == 1:
        return {found[0]: fabric.name}
    names: dict[int, str] = {}
    for part in found:
        members = [fabric.devices[at] for at in parts if parts[at] == part]
        words = [fabric.name]
        for key in ("plane", "rail"):
            values = {getattr(device, key) for device in members if getattr(device, key) >= 0}
            if len(values) == 1 and (key == "rail" or fabric.spec.planes > 1):
                words.append(f"{key}{values.pop() + 1}")
        names[part] = "-".join(words)
    if len(set(names.values())) < len(names):
        names = {part: f"{fabric.name}-{n}" for n, part in enumerate(found, 1)}
    return names


def _subnet(fabric: FabricPlan, name: str, part: int, members: list[int], trunks: list[int], ends: list[int]) -> Subnet:
    labels = PortLabels(fabric)
    factors = _factors(fabric)
    nodes: list[Node] = []
    at: dict[int, int] = {}
    for index in members:
        device = fabric.devices[index]
        model = labels.models[device.role]
        at[index] = len(nodes)
        nodes.append(Node(device=device, name=device.name, ports=model.cages * factors[device.role]))
    cables: list[Cable] = []

    def number(link: int, end: str) -> int:
        ref = fabric.ref(link, end)
        factor = factors[fabric.devices[int(getattr(fabric.links, end)[link])].role]
        return factor * (ref.cage - 1) + ref.sub + 1

    for link in trunks:
        a, b = int(fabric.links.a[link]), int(fabric.links.b[link])
        speed = int(fabric.links.speed_gbps[link])
        ports = {"a_port": number(link, "a"), "b_port": number(link, "b")}
        cables.append(Cable(a=at[a], b=at[b], speed_gbps=speed, link=link, **ports))
    for link in ends:
        speed = int(fabric.links.speed_gbps[link])
        leaf = at[int(fabric.links.b[link])]
        cables.append(Cable(a=len(nodes), a_port=1, b=leaf, b_port=number(link, "b"), speed_gbps=speed, link=link))
        nodes.append(_adapter(fabric, labels, link))
    return Subnet(name, 0, fabric, tuple(nodes), tuple(cables))


def _factors(fabric: FabricPlan) -> dict[str, int]:
    """Role → ports that every cage is numbered with: more than one where the switches of the role split any of them."""
    split = dict.fromkeys(SWITCH_ROLES, 1)
    for end, cages in (("a", fabric.links.a_split), ("b", fabric.links.b_split)):
        for at in np.flatnonzero(cages > 1).tolist():
            role = fabric.devices[int(getattr(fabric.links, end)[at])].role
            if role in split:
                split[role] = max(split[role], int(cages[at]))
    return split


def _adapter(fabric: FabricPlan, labels: PortLabels, link: int) -> Node:
    """The port of a NIC or of an attachment, as a node."""
    device, ref = fabric.devices[int(fabric.links.a[link])], fabric.ref(link, "a")
    tenant = int(fabric.tenancy.owner[link])
    if device.role != SERVER:
        label = str(ref.cage)
        return Node(
            device=device, name=f"{device.name} {label}", ports=1, port=label, nic=ref.cage, sub=ref.sub, tenant=tenant
        )
    group = next(group for group in fabric.spec.groups if group.name == device.group)
    use, number = group.use_of(ref.cage)
    label, names = labels.label(device, ref), use.nic.rdma_devices
    at = (number - 1) * use.nic.ports + ref.sub
    shown = names[at] if at < len(names) else label
    return Node(
        device=device,
        name=f"{device.name} {shown}",
        ports=1,
        port=label,
        purpose=use.nics,
        nic=ref.cage,
        sub=ref.sub,
        tenant=tenant,
    )


# --- Partitions -----------------------------------------------------------------------------------------------

DEFAULT_PKEY = 0x7FFF
FULL = 0x8000  # the bit of a full member
MAX_PKEY = 0x7FFE


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Ports that reach each other. A limited member reaches full members alone."""

    name: str
    pkey: int  # 15 bits
    service_level: int
    full: tuple[int, ...]  # places of nodes in the subnet
    limited: tuple[int, ...] = ()


def partitions(subnet: Subnet) -> list[Partition]:
    """Those of the tenants; () without tenants, where all ports are in the default partition."""
    spec, tenants = subnet.fabric.spec, subnet.fabric.tenancy.tenants
    ports = grouped((node.tenant, at) for at, node in enumerate(subnet.nodes) if not node.switch)
    at = {tenant.name: n for n, tenant in enumerate(spec.tenants)}
    found = []
    for n, (stated, tenant) in enumerate(zip(spec.tenants, tenants, strict=True)):
        servers = [place for place in ports.get(n, ()) if subnet.nodes[place].device.role == SERVER]
        attached = [place for place in ports.get(n, ()) if subnet.nodes[place].device.role != SERVER]
        lent = [place for name in stated.partition.served_by for place in ports.get(at[name], ())]
        limited = stated.partition.members == "limited"
        found.append(
            Partition(
                name=tenant.name,
                pkey=stated.partition.pkey or tenant.number,
                service_level=stated.partition.service_level,
                full=tuple(sorted([*([] if limited else servers), *attached, *lent])),
                limited=tuple(servers) if limited else (),
            )
        )
    return found


def shares(fabric: FabricPlan, one: int, other: int) -> bool:
    """Whether the intent joins two tenants: one serves the other."""
    tenants = fabric.spec.tenants
    return tenants[other].name in tenants[one].partition.served_by or tenants[one].name in tenants[other].partition.served_by


def without_tenant(subnet: Subnet) -> Iterator[Node]:
    """Ports in the default partition alone, although the fabric has tenants."""
    return (node for node in subnet.adapters if node.tenant == CLOSED and subnet.fabric.spec.tenants)
