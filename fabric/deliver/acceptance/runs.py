"""Which runs prove a fabric, smallest first, and the bandwidth that each has to reach.

A step adds one part of the design to those before it: a server, its NVLink domain, the leaves, one rail, a whole unit, the
spines, a pod, everything. Runs of one step are equal by design, so one estimate gives the gates of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.grouping import grouped
from fabric.deliver.acceptance.gates import (
    CABLING,
    PERFTEST,
    PERFTEST_STEP,
    VERSION,
    Gate,
    Gates,
    Group,
    Program,
    Run,
    Step,
    step_texts,
)
from fabric.deliver.export.locality import domain_servers
from fabric.model.plan import SERVER, SERVER_LEAF, Device, FabricPlan, GroupSpec
from fabric.solver.collectives.physics import Physics, gpu, gpu_in
from fabric.solver.estimate.placement import ALL, ServerPart
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest, answer, supply_on
from fabric.solver.network import GBPS_PER_GBYTE_S, Network, PortNamer, network, unnamed

SIZES = tuple(1 << power for power in range(10, 35))  # 1 KiB to 16 GiB, as `-b 1K -e 16G -f 2`
PORT_SHARE = 0.9  # of a port's rate in one RDMA write: Azure/azurehpc-health-checks has 180 of 200 and 380 of 400 Gb/s
PERFTEST_BYTES = 1 << 20
BUFFERS = 4  # of the largest size in the memory of a GPU: nccl-tests has three, with that of the expected result
RAILS = ("rail-optimized", "rail-only")
Block = tuple[Device, ...]  # servers of one NVLink domain, mostly one
_Chosen = tuple[tuple[str, ...], Block, int]  # parts of a run's name, its servers, its rail or -1


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The servers of one model of a fabric: GPUs of different models do not run one test."""

    fabric: FabricPlan  # with these groups of servers alone
    groups: tuple[GroupSpec, ...]
    servers: tuple[Device, ...]
    leaves: dict[int, tuple[int, ...]]  # server → its leaves

    @property
    def spec(self) -> GroupSpec:
        return self.groups[0]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """NVLink domains, servers of a group in the order of their numbers."""
        domain = max(1, domain_servers(self.spec))
        return tuple(self.servers[at : at + domain] for at in range(0, len(self.servers), domain))

    @cached_property
    def units(self) -> tuple[tuple[Block, ...], ...]:
        """Blocks on the same leaves."""
        return tuple(map(tuple, grouped((self.on(block), block) for block in self.blocks).values()))

    def on(self, block: Sequence[Device]) -> tuple[int, ...]:
        """Leaves of servers."""
        return tuple(sorted({leaf for server in block for leaf in self.leaves.get(server.index, ())}))


def kinds(fabric: FabricPlan) -> tuple[Kind, ...]:
    """The kinds of a fabric, that with the most GPUs first. Raises InputError where it has no GPUs."""
    groups = grouped(((group.model, group.server.gpus), group) for group in fabric.spec.groups if group.server.gpus)
    links = fabric.links
    rows = links.kind == SERVER_LEAF
    leaves = grouped(sorted(set(zip(links.a[rows].tolist(), links.b[rows].tolist(), strict=True))))
    result = []
    for mine in groups.values():
        names = {group.name for group in mine}
        servers = tuple(device for device in fabric.devices if device.role == SERVER and device.group in names)
        if servers:
            part = replace(fabric, spec=replace(fabric.spec, groups=tuple(mine)))
            on = {server.index: tuple(leaves.get(server.index, ())) for server in servers}
            result.append(Kind(fabric=part, groups=tuple(mine), servers=servers, leaves=on))
    if not result:
        hint = "choose a compute fabric with --fabric"
        raise InputError([Diagnostic("FAB174", fabric.spec.at("servers"), f"fabric {fabric.name} has no GPUs", hint)])
    return tuple(sorted(result, key=lambda kind: -len(kind.servers) * kind.spec.server.gpus))


def acceptance(site: str, fabric: FabricPlan, request: EstimateRequest, port_name: PortNamer = unnamed) -> Gates:
    """The acceptance tests of a fabric.

    Args:
        site: its name.
        fabric: a fabric with GPUs.
        request: routing, queue pairs and platform file; the rest is each test's own.
        port_name: names of ports in messages.

    Raises:
        InputError: a fabric without GPUs.
    """
    parameters = platform(request.platform)
    every_kind = kinds(fabric)
    makers = [_Maker(kind, network(kind.fabric, port_name), request, parameters, len(every_kind) > 1) for kind in every_kind]
    steps = [Step(step=CABLING)]
    for name in step_texts():
        if groups := tuple(group for maker in makers for group in maker.groups(name)):
            steps.append(Step(step=name, groups=groups))
    notes = (f"{note} ({', '.join(dict.fromkeys(tests))})" for maker in makers for note, tests in maker.notes.items())
    return Gates(version=VERSION, site=site, fabric=fabric.name, steps=tuple(steps), notes=tuple(notes))


class _Maker:
    """The groups of each step, for the servers of one kind."""

    def __init__(self, kind: Kind, net: Network, request: EstimateRequest, parameters: Physics, named: bool) -> None:
        self.named = (kind.spec.model,) if named else ()  # in front of the numbers of units and pods
        self.kind, self.net, self.request, self.parameters = kind, net, request, parameters
        self.gpu = gpu(kind.spec.server.gpu or gpu_in(kind.spec.model))
        most = (self.gpu.memory_GB or math.inf) * 1e9 / BUFFERS
        self.sizes = tuple(size for size in SIZES if size <= most)
        self.notes = dict[str, list[str]]()  # what a test's estimate stands on → tests

    def groups(self, step: str) -> Iterator[Group]:
        """Groups of runs of equal shape."""
        shapes = grouped(((len(run.servers), len(run.gpu_ids), group), run) for group, run in self._runs(step))
        for (_, _, name), runs in shapes.items():
            spec = next(group for group in self.kind.groups if group.name == name)
            yield Group(
                model=spec.model,
                generation=self.gpu.generation,
                max_bytes=self.sizes[-1],
                group=name,
                gpus_per_server=len(runs[0].gpu_ids) or spec.server.gpus,
                runs=tuple(runs),
                programs=tuple(self._programs(step, runs[0], spec)),
                devices=tuple(spec.nic.rdma_devices[:: spec.nic.functions]) if step == PERFTEST_STEP else (),
            )

    def _runs(self, step: str) -> Iterator[tuple[str, Run]]:
        """(group of the first server, run) of a step."""
        for name, block, rail in getattr(self, f"_{step}", tuple)():
            leaves = [self.kind.fabric.devices[leaf] for leaf in self.kind.on(block)]
            gpus, nics = self.kind.spec.server.gpus, self.kind.spec.nic.count
            yield (
                block[0].group,
                Run(
                    name="-".join((step, *name)),
                    servers=tuple(server.name for server in block),
                    leaves=tuple(leaf.name for leaf in leaves if rail < 0 or leaf.rail == rail),
                    gpu_ids=() if rail < 0 else (rail * gpus // min(gpus, nics),),
                ),
            )

    # --- what runs at each step: (parts of the name, servers, rail or -1)

    def _perftest(self) -> Iterator[_Chosen]:
        spec, many = self.kind.fabric.spec, len(self.kind.servers) > 2
        if spec.transport == "ethernet" or (spec.switchless and many):
            return  # plain TCP has no RDMA; in a ring each port reaches one neighbor
        units = grouped((self.kind.on((server,)), server) for server in self.kind.servers)
        for servers in units.values():
            yield from _neighbors([(server,) for server in servers])

    def _server(self) -> Iterator[_Chosen]:
        if self.kind.spec.server.gpus > 1:
            yield from (((server.name,), (server,), -1) for server in self.kind.servers)

    def _domain(self) -> Iterator[_Chosen]:
        yield from (((block[0].name,), block, -1) for block in self.kind.blocks if len(block) > 1)

    def _pair(self) -> Iterator[_Chosen]:
        for unit in self.kind.units:
            yield from _neighbors(unit, ring=self.kind.fabric.spec.switchless)

    def _rail(self) -> Iterator[_Chosen]:
        server, nics = self.kind.spec.server, self.kind.spec.nic.count
        if self.kind.fabric.spec.kind not in RAILS or domain_servers(self.kind.spec):
            return
        for at, unit in enumerate(self.kind.units, 1):
            if len(unit) > 1:
                together = _whole_domains(unit)
                for rail in range(min(server.gpus, nics)):
                    yield (*self.named, f"unit{at:03}", f"{rail + 1}"), together, rail

    def _unit(self) -> Iterator[_Chosen]:
        units = self.kind.units
        for at, unit in enumerate(units, 1):
            if len(unit) > 2 and len(units) > 1:
                yield (*self.named, f"unit{at:03}"), _whole_domains(unit), -1

    def _spines(self) -> Iterator[_Chosen]:
        first = [unit[0] for unit in self.kind.units]
        yield from _neighbors(first, ring=len(first) > 2)

    def _pod(self) -> Iterator[_Chosen]:
        devices = self.kind.fabric.devices
        pods = grouped((devices[self.kind.on(unit[0])[0]].pod, unit) for unit in self.kind.units if self.kind.on(unit[0]))
        for at, (_, units) in enumerate(sorted(pods.items()), 1):
            if len(units) > 1 and len(pods) > 1:
                yield (*self.named, f"pod{at:02}"), _whole_domains([block for unit in units for block in unit]), -1

    def _whole(self) -> Iterator[_Chosen]:
        if len(self.kind.blocks) > 2:
            yield (self.kind.spec.model,), self.kind.servers, -1

    # --- gates

    def _programs(self, step: str, run: Run, spec: GroupSpec) -> Iterator[Program]:
        for collective in step_texts()[step].collectives:
            if collective == PERFTEST:
                rate = spec.nic.speed_gbps / GBPS_PER_GBYTE_S
                edge = round(rate * PORT_SHARE, 2)
                gates: tuple[Gate, ...] = (Gate(bytes=PERFTEST_BYTES, expected_GBps=rate, pass_GBps=edge),)
            else:
                gates = tuple(self._gates(step, collective, run, spec))
            yield Program(collective=collective, gates=gates)

    def _gates(self, step: str, collective: str, run: Run, spec: GroupSpec) -> Iterator[Gate]:
        each = len(run.gpu_ids) or spec.server.gpus
        part = ServerPart(len(run.gpu_ids), run.gpu_ids) if run.gpu_ids else ALL
        asked = replace(self.request, collective=collective, sizes=self.sizes, gpus=len(run.servers) * each, part=part)
        every = len(run.servers) == len(self.kind.servers)  # where the last NVLink domain may have fewer servers
        found = answer(asked, supply_on(self.net, asked, "packed" if every else ",".join(run.servers)), self.parameters)
        for note in found.notes:
            self.notes.setdefault(note, []).append(f"{step} {collective}")
        for row in found.rows:
            expected, edge = _rounded(row.busbw_GBps), _rounded(row.floor_busbw_GBps)
            yield Gate(bytes=row.bytes, expected_GBps=expected, pass_GBps=edge)


def _whole_domains(blocks: Sequence[Block]) -> Block:
    """The servers of NVLink domains, without a last one that has fewer servers than the others."""
    most = max(map(len, blocks))
    return tuple(server for block in blocks if len(block) == most for server in block)


def _neighbors(blocks: Sequence[Block], ring: bool = False) -> Iterator[_Chosen]:
    """Each with the next one, every one once; of an odd number the last with the one before. `ring`: each with both sides."""
    if len(blocks) < 2:
        return
    by_two = {*range(0, len(blocks) - 1, 2), len(blocks) - 2}
    around = range(len(blocks) if len(blocks) > 2 else 1)
    for at in around if ring else sorted(by_two):
        pair = blocks[at], blocks[(at + 1) % len(blocks)]
        equal = min(map(len, pair))
        yield tuple(block[0].name for block in pair), (*pair[0][:equal], *pair[1][:equal]), -1


def _rounded(value: float) -> float:
    """Four digits that count."""
    return float(f"{value:.4g}")
