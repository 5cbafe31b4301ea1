"""What the files of one server are made from. Made in one pass over the links: a site may have 100,000 ports of servers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from ipaddress import ip_network
from itertools import groupby
from operator import attrgetter

from fabric.base.grouping import grouped
from fabric.configs.hosts import direct
from fabric.configs.hosts.facts import Facts, FactsOf, Local, Reach, ServerLink, Vlan, facts_of, server_links
from fabric.hardware.catalog.models import NicSet
from fabric.model.plan import FabricPlan, GroupSpec, Plan, Qos, nic_name
from fabric.model.plan.spec import STORAGE

# --- Names of ports in the kernel: the label of the cable where it can be -------------------------------------

MAX_INTERFACE_NAME = 15  # IFNAMSIZ less the final zero
_FITS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,14}")


@lru_cache(maxsize=4096)
def interface_name(label: str, nic: NicSet, number: int, port: int, function: int = 0) -> str:
    """The maker's name where the catalog has it, else the label, else a shorter form of the label.

    `number` counts from 1, `port` and `function` from 0.
    """
    at = ((number - 1) * nic.ports + port) * nic.functions + function
    label += "b" * function
    if at < len(nic.interfaces):
        return nic.interfaces[at]
    if _FITS.fullmatch(label):
        return label
    suffix = re.search(r"(?<![0-9])[0-9]+(p[0-9]+)?$", label)
    tail = suffix[0] if suffix else ""
    head = label[: len(label) - len(tail)]
    return f"n{zlib.crc32(head.encode()) & 0xFFFFFF:06x}-{tail}"[:MAX_INTERFACE_NAME]


def vlan_name(interface: str, tag: int, ordinal: int) -> str:
    """`bond0.101`; where that is longer than a name may be, `vlan101n7` with the port's ordinal."""
    name = f"{interface}.{tag}"
    return name if len(name) <= MAX_INTERFACE_NAME else f"vlan{tag}n{ordinal}"


# --- The default route: what a program that binds to no address takes to the outside world --------------------

# After existing default routes: networkd gives metric 100 to those of DHCP and up to 2048 to those of router
# advertisements.
METRIC = 4000
ORDER = ("frontend", "oob", "storage", "compute")
_DEFAULTS = ("0.0.0.0/0", "::/0")


def gateway_of(link: ServerLink) -> str | None:
    """Next hop of a port in the main table; of several tagged networks that of the lowest tag."""
    return link.gateway or next((vlan.gateway for vlan in link.tagged if vlan.address and vlan.gateway), None)


def beyond(link: ServerLink, metric: int) -> tuple[tuple[str, int], ...]:
    """Routes of the outside world over a port, save the default one; none of the other family than the gateway's."""
    via = gateway_of(link)
    if via is None:
        return ()
    same = [prefix for prefix in link.outside if (":" in prefix) == (":" in via)]
    return tuple((prefix, metric) for prefix in same if prefix not in _DEFAULTS)


def gives_default(link: ServerLink) -> bool:
    """Whether the fabric takes packets for anywhere from this port."""
    via = gateway_of(link)
    return via is not None and not link.closed and _DEFAULTS[":" in via] in link.outside


def home(parts: Iterable[tuple[str, str, Sequence[ServerLink]]]) -> str:
    """Of (name, purpose, links of the machine) the one that gives the main table its default route, or "".

    It is the first with an external connection among those of the first purpose that the server has open ports for.
    """
    open_parts = [part for part in parts if not all(link.closed for link in part[2])]
    first = min((ORDER.index(purpose) for _, purpose, _ in open_parts), default=-1)
    first_parts = [part for part in open_parts if ORDER.index(part[1]) == first]
    return next((name for name, _, links in first_parts if any(map(gives_default, links))), "")


# --- The view of a server -------------------------------------------------------------------------------------

OWN_INTERFACE = "fabric"  # and a number: has the address of a server that no cable has
FIRST_TABLE = 1001  # routing tables 253 to 255 are the kernel's own
BMC = "oob"  # NIC set of a catalog entry that belongs to the BMC, not to the host
ETHERNET, INFINIBAND, CONTROLLER = "ethernet", "infiniband", "bmc"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNic:
    """One port of a server."""

    name: str  # as in the plan and on the label: "compute1", "compute1p2"
    interface: str  # name in the kernel
    kind: str  # "ethernet" | "infiniband" | "bmc"; only Ethernet is configured
    fabric: str
    purpose: str  # of the fabric, or of the NIC where it is not the first of its server
    leaf: str
    rail: int  # from 0; -1: the leaf serves several rails
    speed_gbps: int
    address: str | None  # "10.128.0.1/31"
    gateway: str | None
    reach: tuple[str, ...]  # prefixes over the gateway, from the address of the port
    local: Local  # (prefix, metric) in the main table; over the gateway, or that of the first tagged network
    table: int  # routing table of its own
    mtu: int
    qos: Qos | None
    untagged: int
    tagged: tuple[Vlan, ...]
    bond: str  # "bond0", "" for none
    closed: bool
    vrf: str
    source: str = ""  # address that packets on the routes of `local` have, "" for that of the port
    rdma: str = ""  # RDMA device, where it is known
    joined: bool = False  # the NIC joins its planes: it has one address for its ports, which no file of the server states

    @property
    def ordinal(self) -> int:
        """Place among the ports of its server, from 1."""
        return self.table - FIRST_TABLE + 1

    @property
    def addressed(self) -> tuple[str, ...]:
        """Interfaces that addresses stand on: the bond in place of its members, VLANs where networks come tagged."""
        parent = self.bond or self.interface
        vlans = [vlan for vlan in self.tagged if vlan.address] or self.tagged
        names = tuple(vlan_name(parent, vlan.tag, self.ordinal) for vlan in vlans)
        return (parent, *names) if self.untagged or not names else names


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A server: a name in several fabrics is one machine."""

    name: str
    group: str
    model: str
    parts: tuple[tuple[str, str], ...]  # (fabric, its group there)
    nics: tuple[HostNic, ...]  # by fabric, NIC and port
    own: tuple[tuple[str, str], ...] = ()  # (interface, address) that no cable has, of each fabric without switches


@dataclass(frozen=True, kw_only=True)
class HostFabric:
    """One fabric as the hosts see it."""

    fabric: FabricPlan
    facts: Facts
    base: int  # first metric; ranges of fabrics do not overlap
    reach: Reach
    groups: dict[str, GroupSpec]
    labels: dict[tuple[str, int, int], str]
    locals: dict[tuple[int, ...], tuple[Local, ...]]
    everything: dict[tuple[int, tuple[str, ...]], tuple[str, ...]]
    alone: bool  # no other fabric of the site has server addresses of the same pools

    def label(self, group: str, nic: int, port: int) -> str:
        key = (group, nic, port)
        found = self.labels.get(key)
        if found is None:
            found = self.labels[key] = nic_name(self.groups[group], nic, port)
        return found

    def local(self, leaves: tuple[int, ...]) -> tuple[Local, ...]:
        found = self.locals.get(leaves)
        if found is None:
            found = self.locals[leaves] = self.reach.local(leaves, self.base, self.alone)
        return found

    def over(self, link: ServerLink) -> tuple[str, ...]:
        """Destinations that the table of the port routes to the gateway; a layer-2 network has one gateway."""
        if link.address is None or link.gateway is None or link.ways is not None:
            return ()
        if link.untagged:
            return ("default",)
        key = (link.leaf, link.outside)
        destinations = self.everything.get(key)
        if destinations is None:
            destinations = self.everything[key] = (*self.reach.everything(link.leaf), *link.outside)
        return destinations

    def kind(self, group: str, nic: int = 1) -> str:
        """What the ports of a NIC of a group are in this fabric; by number, from 1."""
        if self.groups[group].use_of(nic)[0].nics == BMC:
            return CONTROLLER
        return ETHERNET if self.fabric.spec.ethernet else INFINIBAND

    def group_of(self, link: ServerLink) -> str:
        return self.fabric.devices[link.server].group

    def purpose(self, group: str, nic: int) -> str:
        """What a NIC is for: as its fabric, unless it is a further one of its server or shares leaves."""
        spec = self.groups[group]
        use = spec.use_of(nic)[0]
        return use.nics if use in spec.on_free_ports and use.nics in ORDER else self.fabric.spec.purpose

    def by_purpose(self, links: Sequence[ServerLink]) -> Iterator[tuple[str, list[ServerLink]]]:
        """The links of one server by the purpose of their NICs."""
        group = self.group_of(links[0])
        yield from grouped((self.purpose(group, link.nic), link) for link in links).items()

    def qos(self, group: str, nic: int) -> Qos | None:
        """The classes of a NIC: none where RoCE does not run on it."""
        spec = self.groups[group]
        use = spec.use_of(nic)[0]
        qos, storage = self.facts.qos, self.fabric.spec.qos.storage
        if self.fabric.spec.lossy(spec, use):
            return None
        return _of_nic(qos, of_storage=use.nics == STORAGE) if qos and storage else qos


@cache
def _of_nic(qos: Qos, *, of_storage: bool) -> Qos | None:
    """The classes of a NIC, of which one is lossless: that of storage or that of RoCE; None without PFC.

    It shares a port with best effort in the ratio of the switch.
    """
    storage = qos.storage
    if storage is None or (of_storage and not storage.lossless):
        return None
    priority, dscp, percent = qos.priority, qos.dscp, qos.lossless_percent
    if of_storage:
        priority, dscp, percent = storage.priority, storage.dscp, storage.percent
    share = round(100 * percent / (percent + qos.lossy_percent))
    return replace(qos, priority=priority, dscp=dscp, lossless_percent=share, lossy_percent=100 - share, storage=None)


def sides(plan: Plan, facts_of: FactsOf = facts_of) -> list[HostFabric]:
    """Every fabric of a site as the hosts see it."""
    return [
        HostFabric(
            fabric=fabric,
            facts=facts_of(fabric),
            base=100 * number,
            reach=Reach(fabric),
            groups={group.name: group for group in fabric.spec.groups},
            labels={},
            locals={},
            everything={},
            alone=not any(_share_pools(fabric, other) for other in plan.fabrics.values() if other is not fabric),
        )
        for number, fabric in enumerate(plan.fabrics.values(), 1)
    ]


def _share_pools(one: FabricPlan, other: FabricPlan) -> bool:
    """Whether addresses of servers in both come from the same prefixes."""
    if not (one.spec.ethernet and other.spec.ethernet):
        return False
    pools = [[ip_network(prefix) for prefix in fabric.prefixes["servers"]] for fabric in (one, other)]
    return any(a.overlaps(b) for a in pools[0] for b in pools[1])


def hosts(seen: list[HostFabric]) -> Iterator[Host]:
    """Every server of a site, in the order of the plan."""
    parts: dict[str, list[tuple[HostFabric, list[ServerLink]]]] = {}
    for side in seen:
        devices = side.fabric.devices
        for server, links in groupby(server_links(side.fabric), key=attrgetter("server")):
            parts.setdefault(devices[server].name, []).append((side, list(links)))
    for name, found in parts.items():
        yield _host(name, found)


def _host(name: str, parts: list[tuple[HostFabric, list[ServerLink]]]) -> Host:
    first, links = parts[0]
    device = first.fabric.devices[links[0].server]
    bonds: dict[tuple[str, int], str] = {}
    nics: list[HostNic] = []
    default = home(
        (f"{side.fabric.name}/{purpose}", purpose, alike)
        for side, links_here in parts
        for purpose, alike in side.by_purpose(links_here)
        if side.kind(side.group_of(alike[0]), alike[0].nic) == ETHERNET
    )
    for side, links_here in parts:
        nics += _nics(side, links_here, bonds, len(nics), default)
    groups = tuple((side.fabric.name, side.fabric.devices[links_here[0].server].group) for side, links_here in parts)
    own = [direct.own_address(side.fabric, links_here[0].server) for side, links_here in parts if side.fabric.spec.switchless]
    return Host(
        name=name,
        group=device.group,
        model=device.model,
        parts=groups,
        nics=tuple(nics),
        own=tuple((f"{OWN_INTERFACE}{at}", address) for at, address in enumerate(own)),
    )


def _nics(
    side: HostFabric, links: list[ServerLink], bonds: dict[tuple[str, int], str], before: int, default: str
) -> Iterator[HostNic]:
    """The ports of one server in one fabric; bonds are numbered as they come, so that servers of a group are alike."""
    fabric, facts = side.fabric, side.facts
    devices, group = fabric.devices, fabric.devices[links[0].server].group
    spec = side.groups[group]
    joined = spec.joins_planes
    links = [link._replace(address=None, gateway=None) if joined and link.nic <= spec.nic.count else link for link in links]
    routed = tuple(link.leaf for link in links if _is_routed(link))
    local = iter(side.local(routed))
    for position, link in enumerate(links):
        label = side.label(group, link.nic, link.port)
        leaf = devices[link.leaf]
        (use, number), kind, purpose = spec.use_of(link.nic), side.kind(group, link.nic), side.purpose(group, link.nic)
        metric = METRIC + position if default == f"{fabric.name}/{purpose}" else 0
        bond = bonds.setdefault((fabric.name, link.lag), f"bond{len(bonds)}") if link.lag else ""
        yield HostNic(
            name=label,
            interface=interface_name(label, use.nic, number, link.port, link.function) if kind == ETHERNET else label,
            kind=kind,
            fabric=fabric.name,
            purpose=purpose,
            leaf=leaf.name,
            rail=leaf.rail,
            speed_gbps=link.speed_gbps,
            address=link.address,
            gateway=link.gateway,
            reach=side.over(link),
            local=_local(
                link,
                next(local) if _is_routed(link) else tuple((prefix, side.base + rank) for prefix, rank in link.ways or ()),
                side.base + position,
                metric,
            ),
            source=direct.own_address(fabric, link.server).partition("/")[0] if link.ways else "",
            table=FIRST_TABLE + before + position,
            mtu=facts.mtu,
            qos=side.qos(group, link.nic),
            untagged=link.untagged,
            tagged=link.tagged,
            bond=bond,
            closed=link.closed,
            vrf=link.vrf,
            rdma=use.nic.rdma_device(((number - 1) * use.nic.ports + link.port) * use.nic.functions + link.function),
            joined=joined and use == spec.uses[0],
        )


def _is_routed(link: ServerLink) -> bool:
    return link.address is not None and not link.untagged and not link.closed and link.ways is None


def _local(link: ServerLink, own: Local, metric: int, default_metric: int) -> Local:
    """The fabric's own addresses, then the outside world; `default_metric` 0: not the machine's default."""
    if link.closed:
        return ()
    default = (("default", default_metric),) if default_metric and gives_default(link) else ()
    return (*own, *beyond(link, metric), *default)
