"""NCCL's environment for a group of servers, printed by `templates/hosts/nccl.env.j2`; and how traffic spreads with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fabric.base.grouping import grouped
from fabric.configs.hosts.facts import facts_of
from fabric.configs.hosts.view import ETHERNET, OWN_INTERFACE, Host, HostFabric, HostNic
from fabric.model.plan import FabricPlan, GroupSpec, Qos
from fabric.model.plan.spec import RING
from fabric.solver.routing import ADAPTIVE, ECMP

# --- Groups of servers: the same model with the same ports ----------------------------------------------------


@dataclass(frozen=True)
class Group:
    """The servers of one group: the ports that any of them has."""

    name: str
    model: str
    parts: tuple[tuple[HostFabric, GroupSpec], ...]  # (fabric, group of these servers in it)
    nics: tuple[HostNic, ...]  # names are common to the group, addresses are those of one server

    def lossless(self, fabric: str) -> dict[Qos, list[str]]:
        """Ethernet ports in one fabric that RoCE runs on, by their classes."""
        ports = grouped((nic.qos, nic.interface) for nic in self.nics if nic.fabric == fabric and nic.kind == ETHERNET)
        return {qos: list(dict.fromkeys(names)) for qos, names in ports.items() if qos}

    @property
    def addressed(self) -> tuple[str, ...]:
        """Interfaces that addresses stand on."""
        return tuple(dict.fromkeys(name for nic in self.nics if nic.kind == ETHERNET for name in nic.addressed))

    @property
    def rdma_names(self) -> dict[str, list[str]]:
        """RDMA device → its interfaces, of fabrics with several planes: their names are stated, or follow from the rail."""
        planes = {side.fabric.name for side, _ in self.parts if side.fabric.spec.planes > 1}
        named = ((nic.rdma, nic.interface) for nic in self.nics if nic.fabric in planes and nic.kind == ETHERNET and nic.rdma)
        return {device: list(dict.fromkeys(names)) for device, names in grouped(named).items()}


@dataclass
class Groups:
    """Gathers groups while hosts go by. Not every server of a group is in every fabric, so ports are united."""

    sides: Sequence[HostFabric]
    _seen: set[tuple[object, ...]] = field(default_factory=set)
    _models: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, dict[tuple[str, str], None]] = field(default_factory=dict)
    _nics: dict[str, dict[tuple[str, str, str, tuple[int, ...]], HostNic]] = field(default_factory=dict)

    def add(self, host: Host) -> None:
        tags = [tuple([vlan.tag for vlan in nic.tagged]) for nic in host.nics]
        shape = (host.group, host.parts, *tags, *[nic.bond for nic in host.nics])
        if shape in self._seen:
            return
        self._seen.add(shape)
        self._models.setdefault(host.group, host.model)
        self._parts.setdefault(host.group, {}).update(dict.fromkeys(host.parts))
        nics = self._nics.setdefault(host.group, {})
        for nic, of_nic in zip(host.nics, tags, strict=True):
            nics.setdefault((nic.fabric, nic.name, nic.bond, of_nic), nic)

    def of(self, names: Iterable[str]) -> list[Group]:
        """The named groups, in the order that they came in."""
        chosen = set(names)
        return [self._group(name) for name in self._models if name in chosen]

    def _group(self, name: str) -> Group:
        there = self._parts[name]
        parts = tuple(
            (side, side.groups[group]) for side in self.sides for fabric, group in there if fabric == side.fabric.name
        )
        order = {side.fabric.name: at for at, side in enumerate(self.sides)}
        nics = sorted(self._nics[name].values(), key=lambda nic: order[nic.fabric])
        return Group(name, self._models[name], parts, tuple(nics))


# --- Environment ----------------------------------------------------------------------------------------------

HASHED_QUEUE_PAIRS = 4


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable and why it has this value; without a name it is a remark."""

    why: str
    name: str = ""
    value: str = ""


def nccl_context(site: str, group: Group) -> dict[str, object] | None:
    """None where the group has no GPUs or is on no compute fabric."""
    compute = next(((s, spec) for s, spec in group.parts if s.fabric.spec.purpose == "compute"), None)
    if compute is None or compute[1].server.gpus == 0:
        return None
    side, spec = compute
    settings = [*_devices(group, side, spec), *_paths(side, spec)]
    if side.fabric.spec.transport == "ethernet":
        settings = _sockets(group, side, spec)
    elif side.fabric.spec.ethernet:
        settings += _roce(side)
    return {"site": site, "group": group.name, "model": group.model, "fabric": side.fabric.name, "settings": settings}


def _sockets(group: Group, side: HostFabric, spec: GroupSpec) -> list[Setting]:
    """Plain TCP over all NICs of the fabric."""
    why = "Plain TCP: NCCL does not look for RDMA devices."
    settings = [Setting(why, "NCCL_IB_DISABLE", "1")]
    of_fabric = [nic for nic in group.nics if nic.kind == ETHERNET and nic.fabric == side.fabric.name]
    mine = [nic for nic in of_fabric if nic.purpose == "compute"]
    names = dict.fromkeys(name for nic in mine for name in nic.addressed)
    why = "NICs that carry the collectives, and the bootstrap; = matches whole names."
    settings.append(Setting(why, "NCCL_SOCKET_IFNAME", "=" + ",".join(names)))
    settings.append(
        Setting(
            "NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD: one socket for each channel by default, their product at most "
            "64. Measure both: on some hosts more sockets are faster, on others slower."
        )
    )
    if spec.nic.count * spec.nic.ports > 1:
        fabric = side.fabric.spec
        settings.append(_cross_nic(fabric.kind, fabric.leaf_ratio > 1))
    return settings


def _devices(group: Group, side: HostFabric, spec: GroupSpec) -> list[Setting]:
    settings = []
    if spec.nic.rdma_devices:
        why = "Adapters of this fabric only; = matches the whole name: mlx5_1 does not match mlx5_10."
        # A leaf port has one address: without switches the second function of a port has one too.
        step = 1 if side.fabric.spec.switchless else spec.nic.functions
        ports = range(0, spec.nic.count * spec.nic.ports * spec.nic.functions, step)
        names = dict.fromkeys(spec.nic.rdma_device(at) for at in ports)
        settings.append(Setting(why, "NCCL_IB_HCA", "=" + ",".join(names)))
    else:
        its = (nic.interface for nic in group.nics if nic.fabric == side.fabric.name and nic.purpose == "compute")
        labels = ", ".join(dict.fromkeys(its))
        settings.append(
            Setting(f"NCCL_IB_HCA: set it to the RDMA devices of {labels} (`rdma link` lists them), else NCCL uses all.")
        )
    frontend = [nic for nic in group.nics if nic.kind == ETHERNET and nic.purpose == "frontend"]
    front = list(dict.fromkeys(name for nic in frontend for name in nic.addressed))
    if front:
        why = "Bootstrap and out-of-band connections use the front end; = matches whole names."
        settings.append(Setting(why, "NCCL_SOCKET_IFNAME", "=" + ",".join(front)))
    elif side.fabric.spec.switchless:
        why = "Bootstrap uses the address that all servers reach, over whichever cable is up; = matches the whole name."
        settings.append(Setting(why, "NCCL_SOCKET_IFNAME", f"={OWN_INTERFACE}0"))
    else:
        settings.append(Setting("NCCL_SOCKET_IFNAME: set it to an interface on which all servers reach each other by TCP."))
    return settings


def _paths(side: HostFabric, spec: GroupSpec) -> list[Setting]:
    fabric = side.fabric.spec
    settings = _direct(side, spec) if fabric.switchless else []
    if not fabric.switchless and spec.nic.count * spec.nic.ports > 1:
        settings.append(_cross_nic(fabric.kind, fabric.leaf_ratio > 1))
    if fabric.ethernet:
        if side.facts.dynamic:
            why = "Adaptive routing: packets may arrive out of order, so NCCL signals completion separately."
            settings.append(Setting(why, "NCCL_IB_ADAPTIVE_ROUTING", "1"))
            why = "One queue pair: the switches spread each flow over all paths."
            settings.append(Setting(why, "NCCL_IB_QPS_PER_CONNECTION", str(planned_queue_pairs(side.fabric, True))))
        elif side.fabric.sizing.spines:
            why = (
                "Paths are chosen by a hash of the five-tuple: each queue pair has a source port, and so a path, of its own."
            )
            settings.append(Setting(why, "NCCL_IB_QPS_PER_CONNECTION", str(planned_queue_pairs(side.fabric, False))))
            why = "Whole messages alternate between the queue pairs; splitting every message in four adds latency."
            settings.append(Setting(why, "NCCL_IB_SPLIT_DATA_ON_QPS", "0"))
        else:
            settings.append(Setting("One path only, one queue pair.", "NCCL_IB_QPS_PER_CONNECTION", "1"))
    why = "4.096 us * 2^22 = 17 s retransmission timeout, longer than any re-routing; NCCL's default is 20 since 2.23."
    settings.extend(
        (
            Setting(why, "NCCL_IB_TIMEOUT", "22"),
            Setting("The most that the field of three bits holds.", "NCCL_IB_RETRY_CNT", "7"),
        )
    )
    return settings


def _direct(side: HostFabric, spec: GroupSpec) -> list[Setting]:
    """Every port has one neighbor, so a connection has to use the port whose cable leads to the other server."""
    why = "A connection uses the port with the subnet of the other end: NCCL 2.30.7 or newer, which is off by default."
    settings = [
        Setting(why, "NCCL_IB_SUBNET_AWARE_ROUTING", "1"),
        Setting(
            "Every cable is a subnet; NCCL compares 24 bits by default.",
            "NCCL_IB_SUBNET_PREFIX_LEN",
            str(side.fabric.subnet_length),
        ),
        Setting("Ports to different servers are not one adapter.", "NCCL_IB_MERGE_NICS", "0"),
    ]
    if spec.count == 2:
        why = "Each port is cabled to the same port of the other server: a ring stays on it."
        settings.append(Setting(why, "NCCL_CROSS_NIC", "0"))
    else:
        settings.append(Setting("A ring enters a server by one port and leaves it by another.", "NCCL_CROSS_NIC", "1"))
    if side.fabric.spec.kind == RING and spec.count > 3:
        why = "RDMA does not pass a server: a ring in the order of the servers (ranks by server name) uses cables alone."
        settings.append(Setting(why, "NCCL_ALGO", "Ring"))
    return settings


def planned_queue_pairs(fabric: FabricPlan, dynamic: bool) -> int:
    """Queue pairs of a connection: several where a hash chooses among paths, else one; one socket of plain TCP."""
    hashed = fabric.spec.ethernet and fabric.spec.transport != "ethernet" and fabric.sizing.spines and not dynamic
    return HASHED_QUEUE_PAIRS if hashed else 1


def _cross_nic(kind: str, oversubscribed: bool) -> Setting:
    name = "NCCL_CROSS_NIC"
    if kind == "rail-only":
        return Setting("This fabric does not connect rails: a ring stays on its rail.", name, "0")
    if kind == "rail-optimized" and oversubscribed:
        return Setting("Rails are connected only over oversubscribed spines: a ring stays on its rail.", name, "0")
    if kind == "rail-optimized":
        return Setting("Each NIC is a rail: the same NIC where possible, another where that is faster.", name, "2")
    if kind == "rack":
        return Setting("All NICs of a server are on the same leaves: keeping to one NIC avoids nothing.", name, "1")
    return Setting("The NICs of a server are spread over two leaves: the same NIC where possible.", name, "2")


def _roce(side: HostFabric) -> list[Setting]:
    settings = []
    qos, ipv6 = side.facts.qos, side.fabric.subnet_length == 127
    if qos is not None:
        why = f"DSCP {qos.dscp} in the upper six bits, the lossless class of the switches; the adapter adds the ECN bits."
        settings.append(Setting(why, "NCCL_IB_TC", str(qos.dscp << 2)))
    if ipv6:
        why = "RoCE v2 over IPv6: NCCL 2.21 and later selects the GID of this family, older versions need its index."
        settings.extend(
            (
                Setting(why, "NCCL_IB_ADDR_FAMILY", "AF_INET6"),
                Setting("The version of RoCE that is routed.", "NCCL_IB_ROCE_VERSION_NUM", "2"),
            )
        )
    else:
        why = (
            "RoCE v2 over IPv4: a port's table begins with its link-local address (0 and 1), then its IPv4 address for RoCE "
            "v1 (2) and v2 (3). NCCL from 2.21 on finds it by itself: with such releases this line may go."
        )
        settings.append(Setting(why, "NCCL_IB_GID_INDEX", "3"))
    return settings


# --- Spreading over equal paths, as a plan configures its switches and its servers ----------------------------


def spreading(fabric: FabricPlan, routing: str = "", queue_pairs: int = 0) -> tuple[str, int]:
    """Routing and queue pairs: as asked, else those of the plan."""
    if not routing:
        # Without switches nothing hashes: each NIC port has a neighbor of its own.
        even = fabric.spec.switchless or not fabric.spec.ethernet or facts_of(fabric).dynamic
        routing = ADAPTIVE if even else ECMP
    return routing, queue_pairs or planned_queue_pairs(fabric, routing != ECMP)
