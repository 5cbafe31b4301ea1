"""Cables and optics of a sized fabric, counted without wiring it: every kind of link is looked at once and multiplied.

It is the choice of the run list, made for the planned length of each kind of link: which media join the modules at both
ends, and which of them reach. What is wired is counted port by port elsewhere; both agree where lengths do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabric.bom.parts import CABLE, OPTIC, Part
from fabric.cabling import choice
from fabric.cabling.choice import Candidate, Task, candidates
from fabric.cabling.ends import Known, Module
from fabric.cabling.joints import MESH, STAR, STRAIGHT
from fabric.catalog import media
from fabric.grouping import grouped_sets
from fabric.plan import (
    ATTACHED,
    CORE,
    LEAF,
    SERVER,
    SPINE,
    Device,
    FabricSpec,
    GroupSize,
    GroupSpec,
    Layout,
    Sizing,
    Slot,
    core_downlinks,
    leaf_layout,
    server_ports,
    spine_downlinks,
    spine_layout,
)


@dataclass(frozen=True)
class Side:
    """One end of links: counts of identical devices, and the first lane of each link on them, as (module, Gb/s into it)."""

    role: str
    module: Module
    devices: tuple[tuple[int, Sequence[tuple[int, int]]], ...]

    @property
    def modules(self) -> int:
        return sum(devices * len({number for number, _ in places}) for devices, places in self.devices)

    def connectors(self, port_gbps: int) -> int:
        """Connectors in use, when one carries so much."""
        return sum(
            devices * len({(number, into // port_gbps) for number, into in places}) for devices, places in self.devices
        )


@dataclass(frozen=True)
class Bundle:
    """Links of one kind that are cabled alike."""

    kind: str
    links: int
    gbps: int  # of one
    a: Side
    b: Side
    run: int  # adjacent links that lead to adjacent ports of one device
    length_m: float

    @property
    def task(self) -> Task:
        a, b = self.a.module.speed_gbps, self.b.module.speed_gbps
        hub = 0 if a > b else 1 if b > a else -1
        return Task(self.shape(a, b), ((self.a.module, self.b.module, hub, self.gbps),), "")

    def shape(self, a_gbps: int, b_gbps: int) -> int:
        """How modules, or connectors, of these speeds are joined; broken out at both ends, only whole runs stay apart."""
        if min(a_gbps, b_gbps) > self.gbps and self.run % (a_gbps // self.gbps):
            return MESH
        return STRAIGHT if a_gbps == b_gbps else STAR


@dataclass(frozen=True)
class Bought:
    """What a bundle takes, and the watts at its two ends."""

    parts: tuple[tuple[Part, int], ...]
    a_watts: float
    b_watts: float


def bought(bundle: Bundle) -> Bought | None:
    """Cables and optics of a bundle; None where no medium joins its ends over that length."""
    task = bundle.task
    candidate = next((candidate for candidate in candidates(task) if bundle.length_m <= candidate.longest_m + 1e-9), None)
    if candidate is None:
        return None
    return _fixed(bundle, task, candidate) if candidate.cable else _optical(bundle, candidate)


def _fixed(bundle: Bundle, task: Task, candidate: Candidate) -> Bought:
    """A cable with ends of its own: one for every module, of a breakout for every module that is parted."""
    cable, hub = media.cables()[candidate.cable], task.ends[0][2]
    pieces = (bundle.b if hub == 1 else bundle.a).modules
    far = cable.power_w if cable.far_power_w is None else cable.far_power_w
    a, b = (far, cable.power_w) if hub == 1 else (cable.power_w, far)
    part = Part(CABLE, candidate.cable, cable.order_m(bundle.length_m))
    return Bought(((part, pieces),), bundle.a.modules * a, bundle.b.modules * b)


def _optical(bundle: Bundle, candidate: Candidate) -> Bought:
    """An optic in every module, and fibre between their connectors."""
    known = media.optics()
    a_name, b_name = (candidate.optic(side.module.speed_gbps) for side in (bundle.a, bundle.b))
    a, b = known[a_name], known[b_name]
    fibre = choice.fibre_name(a, b, bundle.gbps, bundle.shape(a.port_gbps, b.port_gbps))
    its = media.fibres()[fibre]
    if its.ends > 1:
        pieces = bundle.a.connectors(a.port_gbps) if a.port_gbps > b.port_gbps else bundle.b.connectors(b.port_gbps)
    elif bundle.gbps >= a.port_gbps:
        pieces = bundle.links * (bundle.gbps // a.port_gbps)
    else:
        pieces = bundle.a.connectors(a.port_gbps)
    parts = [(Part(OPTIC, a_name), bundle.a.modules), (Part(OPTIC, b_name), bundle.b.modules)]
    parts.append((Part(CABLE, fibre, its.order_m(bundle.length_m)), pieces))
    return Bought(tuple(parts), bundle.a.modules * a.power_w, bundle.b.modules * b.power_w)


def bundles(spec: FabricSpec, sizing: Sizing) -> Iterator[Bundle]:
    """Every kind of link of a sized fabric."""
    its = _Sized(spec, sizing)
    for group, size in zip(spec.groups, sizing.groups, strict=True):
        yield its.server_leaf(group, size)
    if sizing.kind == "collapsed":
        yield its.leaf_leaf()
    elif sizing.spines:
        yield from its.leaf_spine()
    if sizing.tiers == 3:
        yield its.spine_core()
    yield from its.attachments()


class _Sized:
    """The ends of the links of a sized fabric."""

    def __init__(self, spec: FabricSpec, sizing: Sizing) -> None:
        self.spec, self.sizing = spec, sizing
        self.known = Known(spec)
        self.length = spec.length_m
        switches = {LEAF: spec.leaf.switch, SPINE: spec.spine.switch, CORE: spec.core.switch}
        self.device = {role: Device(0, "", role, 1, model, "") for role, model in switches.items()}
        self.layouts = [leaf_layout(spec, sizing, size) for size in sizing.groups]
        self._modules: dict[tuple[str, int, int, int], tuple[Module, bool]] = {}

    @cached_property
    def spine(self) -> Layout:
        """Of three tiers."""
        return spine_layout(self.spec, self.sizing)

    def server_leaf(self, group: GroupSpec, size: GroupSize) -> Bundle:
        down = self.layouts[self.sizing.groups.index(size)].down
        device = Device(0, "", SERVER, 1, group.model, "", group.name)
        ends = [
            self.known.end(device, nic + 1, port, 1, size.down_gbps)
            for nic in range(group.nic.count)
            for port in range(group.nic.ports)
        ]
        servers = Side(SERVER, ends[0][1], ((size.servers, [(number, into) for number, _, into in ends]),))
        sets = size.unit_leaves // max(1, size.unit_servers // size.servers_per_leaf)  # leaves that a server meets
        whole, rest = divmod(size.servers, size.servers_per_leaf)
        per = size.leaf_ports_per_server
        leaves = self._side(LEAF, ((whole * sets, down[: size.down]), (sets if rest else 0, down[: rest * per])))
        return Bundle(
            "server-leaf",
            size.servers * len(ends),
            size.down_gbps,
            servers,
            leaves,
            self._together(group, [number for number, _, _ in ends], leaves),
            self.length["server-leaf"],
        )

    def _together(self, group: GroupSpec, numbers: list[int], leaves: Side) -> int:
        """Links of the NICs that share a module, where all of them lead to one module of a leaf; else 1."""
        ports = server_ports(self.spec, group)
        places = leaves.devices[0][1] or leaves.devices[1][1]
        far = grouped_sets(
            (number, (leaf, places[local][0]))
            for number, leaf, local in zip(numbers, ports.leaf.tolist(), ports.local.tolist(), strict=True)
        )
        return len(numbers) // len(far) if all(len(there) == 1 for there in far.values()) else 1

    def leaf_leaf(self) -> Bundle:
        up = self.layouts[0].up
        a, b = (self._side(LEAF, ((1, up),)) for _ in range(2))
        return Bundle("leaf-leaf", len(up), self.sizing.uplink_gbps, a, b, len(up), self.length["leaf-leaf"])

    def leaf_spine(self) -> Iterator[Bundle]:
        """Group by group; a spine's ports are given out leaf by leaf, in the order of the groups."""
        sizing = self.sizing
        down = self.spine.down if sizing.tiers == 3 else spine_downlinks(self.spec, sizing)
        begin, spines = 0, sizing.networks * sizing.spines_built
        for size, layout in zip(sizing.groups, self.layouts, strict=True):
            whole = sizing.links_per_spine(size)
            a = self._side(LEAF, _uplinks(size, layout.up, whole, sizing.spines_built))
            links = sum(devices * len(places) for devices, places in a.devices)
            devices = []
            for pods, per_leaf in _pods(size, sizing):
                slots = [down[begin + leaf * whole + link] for leaf, count in enumerate(per_leaf) for link in range(count)]
                devices.append((pods * spines, slots))
            begin += len(per_leaf) * whole if sizing.tiers == 2 else 0
            b = self._side(SPINE, devices)
            yield Bundle("leaf-spine", links, sizing.uplink_gbps, a, b, whole, self.length["leaf-spine"])

    def spine_core(self) -> Bundle:
        sizing = self.sizing
        each = sizing.links_per_core
        a = self._side(SPINE, ((sizing.spine_count, self.spine.up[: each * sizing.cores_built]),))
        b = self._side(CORE, ((sizing.core_count, core_downlinks(self.spec, sizing)[: sizing.pods * each]),))
        return Bundle("spine-core", sizing.spine_core_links(), sizing.core_gbps, a, b, each, self.length["spine-core"])

    def attachments(self) -> Iterator[Bundle]:
        """Attachments, whose ports are unknown: each link takes a leaf cage of its own."""
        for attachment in self.spec.attachments:
            speed = attachment.speed_gbps or self.sizing.groups[0].down_gbps
            slot = next((s for s in self.layouts[0].down if s.speed_gbps == speed), None)
            if slot is None:
                model = self.spec.leaf.model
                cage = next(cage for cage in range(model.cages, 0, -1) if speed in model.group_of(cage).splits)
                slot = Slot(cage, 0, model.group_of(cage).splits[speed], speed)
            a = Side(ATTACHED, Module(speed, frozenset(), ""), ((attachment.links, [(1, 0)]),))
            b = self._side(LEAF, ((attachment.links, [slot]),))
            yield Bundle("attachments", attachment.links, speed, a, b, 1, self.length["attachments"])

    def _side(self, role: str, devices: Sequence[tuple[int, Sequence[Slot]]]) -> Side:
        """Switches whose slots are in use, so many of each; empty ones are left out."""
        filled = [(count, [self._place(role, slot) for slot in slots]) for count, slots in devices]
        first = next(slots[0] for _, slots in devices if slots)
        return Side(role, self._module(role, first)[0], tuple(filled))

    def _place(self, role: str, slot: Slot) -> tuple[int, int]:
        """Module number, and where in it the slot begins; two cages of a twin are one module."""
        twin = self._module(role, slot)[1]
        if twin:
            number, place = divmod(slot.cage - 1, 2)
            return number + 1, place * slot.split * slot.speed_gbps + slot.sub * slot.speed_gbps
        return slot.cage, slot.sub * slot.speed_gbps

    def _module(self, role: str, slot: Slot) -> tuple[Module, bool]:
        model = self.known.models[role]
        key = (role, model.group_of(slot.cage).speed_gbps, slot.split, slot.speed_gbps)
        if key not in self._modules:
            _, module, _ = self.known.end(self.device[role], slot.cage, slot.sub, slot.split, slot.speed_gbps)
            self._modules[key] = module, module.speed_gbps == 2 * slot.split * slot.speed_gbps
        return self._modules[key]


def _uplinks(size: GroupSize, up: Sequence[Slot], whole: int, spines: int) -> list[tuple[int, list[Slot]]]:
    """The uplinks of every leaf of a group; those of a last unit that is not full may be fewer."""
    full = [up[spine * whole + link] for spine in range(spines) for link in range(whole)]
    devices = [(size.leaves - len(size.last_unit), full)]
    for few in sorted(set(size.last_unit)):
        slots = [up[spine * whole + link] for spine in range(spines) for link in range(few)]
        devices.append((size.last_unit.count(few), slots))
    return devices


def _pods(size: GroupSize, sizing: Sizing) -> list[tuple[int, list[int]]]:
    """Pods alike (two tiers are one): how many, and the links from each of their leaves to a spine of its network."""
    whole, per_unit = sizing.links_per_spine(size), size.unit_leaves // sizing.networks
    last = list(size.last_unit[:: sizing.networks])
    leaves = size.units * per_unit
    step = sizing.units_per_pod * per_unit if sizing.tiers == 3 else leaves
    end = leaves % step or step  # leaves of the last pod
    pods = [((leaves - end) // step, [whole] * step), (1, [whole] * (end - len(last)) + last)]
    return pods if pods[0][0] else pods[1:]
