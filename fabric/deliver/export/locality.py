"""Which servers are close to each other: what schedulers place a job by.

A server reaches all servers of its own leaves over one switch. On a rail-optimized fabric these leaves are a unit's, one
a rail, so a scheduler's "switch" is the unit. Above it stands the pod, where there are three tiers, and then the fabric;
beside it the NVLink domain, where one has several servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from fabric.base.grouping import consecutive, grouped
from fabric.model.plan import SERVER, SERVER_LEAF, Device, FabricPlan, GroupSpec, Plan


@dataclass(frozen=True)
class Block:
    """Servers that are together, and what they are together on."""

    name: str
    servers: tuple[Device, ...]


@dataclass(frozen=True)
class Unit(Block):
    """Servers on the same leaves."""

    pod: int  # -1 where a fabric has no third tier


@dataclass(frozen=True)
class Locality:
    """The servers of one fabric, by closeness."""

    fabric: str
    units: tuple[Unit, ...]
    pods: Mapping[str, tuple[Unit, ...]]  # by name; empty where there is no third tier
    domains: tuple[Block, ...]  # NVLink domains of several servers; empty where one server is a domain
    top: str  # what joins the units or pods, "" where there is one alone

    @property
    def servers(self) -> tuple[Device, ...]:
        return tuple(server for unit in self.units for server in unit.servers)


def localities(plan: Plan) -> tuple[Locality, ...]:
    """The compute fabrics, or where a site has none the first of its others; a server is placed by one fabric only."""
    data = [fabric for fabric in plan.fabrics.values() if fabric.spec.purpose != "oob"]
    chosen = [fabric for fabric in data if fabric.spec.purpose == "compute"] or data[:1] or list(plan.fabrics.values())[:1]
    seen: set[str] = set()
    taken = {device.name.lower() for fabric in plan.fabrics.values() for device in fabric.devices}
    result = []
    for fabric in chosen:
        servers = [device for device in fabric.devices if device.role == SERVER and device.name not in seen]
        seen.update(device.name for device in servers)
        if servers:
            result.append(_locality(fabric, servers, taken))
    return tuple(result)


def _locality(fabric: FabricPlan, servers: list[Device], taken: set[str]) -> Locality:
    units = _units(fabric, servers, taken)
    pods = grouped((unit.pod, unit) for unit in units)
    tiers = fabric.sizing.tiers
    named = {_free(f"{fabric.name}-pod{pod + 1:02}", taken): tuple(pods[pod]) for pod in sorted(pods)} if tiers == 3 else {}
    several = len(named if named else units) > 1
    top = _free(f"{fabric.name}-{'cores' if tiers == 3 else 'spines'}", taken) if several else ""
    return Locality(fabric.name, units, named, _domains(fabric, servers, taken), top)


def _units(fabric: FabricPlan, servers: list[Device], taken: set[str]) -> tuple[Unit, ...]:
    """Servers by the set of leaves that they are cabled to, in the order of their names' numbers."""
    links = fabric.links
    rows = links.kind == SERVER_LEAF
    pairs = np.unique(np.stack([links.a[rows], links.b[rows]]), axis=1)
    leaves = grouped((server, leaf) for server, leaf in zip(*pairs.tolist(), strict=True))
    together = grouped((tuple(leaves.get(device.index, ())), device) for device in servers)
    return tuple(_unit(fabric, on, found, taken) for on, found in together.items())


def _unit(fabric: FabricPlan, on: tuple[int, ...], servers: list[Device], taken: set[str]) -> Unit:
    leaves = [fabric.devices[index] for index in on]
    pod = leaves[0].pod if leaves else -1
    if len(leaves) == 1:
        return Unit(leaves[0].name, tuple(servers), pod)
    racks = {leaf.rack for leaf in leaves} - {-1}
    what = f"rack{racks.pop() + 1:03}" if len(racks) == 1 else f"unit{servers[0].unit + 1:03}"
    return Unit(_free(f"{fabric.name}-{what}", taken), tuple(servers), pod)


def _domains(fabric: FabricPlan, servers: list[Device], taken: set[str]) -> tuple[Block, ...]:
    """NVLink domains: a rack where it holds just one of them, else as many servers on end as a domain has."""
    groups = {group.name: group for group in fabric.spec.groups}
    by_domain: dict[tuple[str, int], list[Device]] = {}
    for device in servers:
        if size := domain_servers(groups[device.group]):
            by_rack = groups[device.group].per_rack == size and device.rack >= 0
            by_domain.setdefault((device.group, device.rack if by_rack else (device.number - 1) // size), []).append(device)
    return tuple(
        Block(_free(f"{fabric.name}-nvl{at:03}", taken), tuple(there)) for at, there in enumerate(by_domain.values(), start=1)
    )


def domain_servers(group: GroupSpec) -> int:
    """Servers of one NVLink domain, 0 where a domain is no more than a server."""
    gpus, domain = group.server.gpus, group.server.nvlink_domain_gpus or 0
    return domain // gpus if gpus and domain > gpus else 0


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number behind it where a device has it already."""
    free, at = name, 2
    while free.lower() in taken:
        free, at = f"{name}-{at}", at + 1
    taken.add(free.lower())
    return free


def hostlist(names: Iterable[str]) -> str:
    """Host names as Slurm writes a list of them: `gpu-[0001-0032],login`. A name without a final number stays whole."""
    alone: list[str] = []
    runs: dict[tuple[str, int], list[int]] = {}
    for name in names:
        head = name.rstrip("0123456789")
        digits = name[len(head) :]
        if not digits or len(digits) > 9:
            alone.append(name)
        else:
            runs.setdefault((head, len(digits)), []).append(int(digits))
    parts = [f"{head}{_ranges(sorted(set(numbers)), width)}" for (head, width), numbers in runs.items()]
    return ",".join([*parts, *dict.fromkeys(alone)])


def _ranges(numbers: list[int], width: int) -> str:
    """`[001-003,007]` of sorted numbers; one number has no brackets."""
    if len(numbers) == 1:
        return f"{numbers[0]:0{width}}"
    runs = consecutive(numbers)
    return f"[{','.join(f'{low:0{width}}' + (f'-{high:0{width}}' if low < high else '') for low, high in runs)}]"
