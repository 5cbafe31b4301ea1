"""The ends of links on the floor: a cage or plug, its speed, and the offset of a link in it.

The plan counts ports; a module may serve two of them (the twin-port OSFP of a QM9700 or of a DGX H100), or a part of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabric.hardware import catalog
from fabric.hardware.catalog import media
from fabric.hardware.catalog.media import Cage
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import CORE, LEAF, SERVER, SPINE, Device, FabricPlan, FabricSpec, PortRef

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LANE_SPEEDS = (10, 25, 50, 100, 200)
MAX_DEVICE_CAGES = 1 << 12  # of one device; modules are numbered device by device


class Module(NamedTuple):
    """What a cage takes: speed in all, the lane speeds it can have (none: any), its form ("" unknown), and whether ports of
    NICs share it."""

    speed_gbps: int
    lane_gbps: frozenset[int]
    form: str
    shared: bool = False

    @property
    def usual_lane_gbps(self) -> int:
        """The fastest lane it is known to have, else what is usual at its speed."""
        if self.lane_gbps:
            return max(self.lane_gbps)
        usual = media.cages().by_speed.get(self.speed_gbps)
        return usual.nic_lane_gbps[0] if usual else max(1, self.speed_gbps // 8)


@dataclass(frozen=True)
class Ends:
    """One end of every link of a fabric, as columns."""

    node: Ints  # the cage: device x MAX_DEVICE_CAGES + number
    module: Ints  # index into `modules`
    speed_gbps: Ints  # of the module
    offset_gbps: Ints  # where in the module the link begins
    modules: tuple[Module, ...]


def ends(fabric: FabricPlan, end: str) -> Ends:
    """The ends `a` or `b` of all links. Ends of the same model, cage and split are computed once."""
    links, devices = fabric.links, fabric.devices
    index, cage, sub, split = (getattr(links, end + part).astype(np.int64) for part in ("", "_cage", "_sub", "_split"))
    kinds: dict[tuple[str, str, str], int] = {}
    kind = np.array([kinds.setdefault((d.role, d.model, d.group), len(kinds)) for d in devices], dtype=np.int64)
    code = kind[index] if len(index) else index
    for column in (cage, sub, split, links.speed_gbps):
        code = code * (int(column.max(initial=0)) + 1) + column
    _, first, every = np.unique(code, return_index=True, return_inverse=True)
    cage_data = CageData(fabric.spec)
    rows = [
        cage_data.end(
            devices[int(index[link])], int(cage[link]), int(sub[link]), int(split[link]), int(links.speed_gbps[link])
        )
        for link in first.tolist()
    ]
    every = every.ravel()
    for link, far in fabric.below.items() if end == "a" else ():  # an attachment of known ports
        every[link] = len(rows)
        rows.append(cage_data.of_switch(far.model, far.device.model, far.ref))
    modules = tuple(dict.fromkeys(module for _, module, _ in rows))
    table = np.array([(number, modules.index(m), m.speed_gbps, offset) for number, m, offset in rows], dtype=np.int64)
    columns = table.reshape(-1, 4)[every]
    return Ends(index * MAX_DEVICE_CAGES + columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3], modules)


class CageData:
    """Data of the catalog on the cages of one fabric's devices."""

    def __init__(self, spec: FabricSpec) -> None:
        self.models = {LEAF: spec.leaf.model, SPINE: spec.spine.model, CORE: spec.core.model}
        self.groups = {group.name: group for group in spec.groups}
        stated = spec.positions.stated
        self.shipped_switches = {name for name in catalog.switch_names() if not stated("catalog", "switches", name)}

    def end(self, device: Device, cage: int, sub: int, split: int, speed: int) -> tuple[int, Module, int]:
        """Number of the module on its device, what it takes, and where in it the link begins."""
        if device.role in self.models:
            return self.of_switch(self.models[device.role], device.model, PortRef(cage, sub, split, speed))
        if device.role == SERVER:
            return self._nic(device, cage, sub, speed)
        return cage, Module(speed, frozenset(), ""), 0  # an attachment: its ports are unknown

    def of_switch(self, model: SwitchModel, name: str, port: PortRef) -> tuple[int, Module, int]:
        """As `end`, of a port of a switch model of the catalog."""
        full = model.group_of(port.cage).speed_gbps
        cages = media.cages()
        usual = cages.by_speed.get(full)
        its = cages.switches.get(name, {}).get(full) if name in self.shipped_switches else None
        if its is None:
            its = Cage(form=usual.form, lanes=usual.lanes) if usual else Cage()
        running = port.split * port.speed_gbps
        lanes = _lane_speeds(full, its.lanes, running) if name in self.shipped_switches else frozenset()
        if its.twin:
            number, place = divmod(port.cage - 1, 2)
            return number + 1, Module(2 * running, lanes, its.form), place * running + port.sub * port.speed_gbps
        return port.cage, Module(running, lanes, its.form), port.sub * port.speed_gbps

    def _nic(self, device: Device, nic: int, port: int, speed: int) -> tuple[int, Module, int]:
        group, cages = self.groups[device.group], media.cages()
        at = media.all_ports(tuple(use.nic for use in group.uses))[nic, port]
        usual, known = cages.by_speed.get(speed), cages.nic(group.use_of(nic)[0].nic.model)
        lanes = frozenset(usual.nic_lane_gbps) if usual else frozenset()
        lanes &= frozenset(known.lane_gbps) if known else lanes
        return at.cage, Module(at.ports * speed, lanes, at.form, at.ports > 1), at.place * speed


def _lane_speeds(full: int, lanes: int, running: int) -> frozenset[int]:
    """Lane speeds that a switch's cage of so many lanes can run at, no faster than at its full speed."""
    fastest = full // lanes if lanes else 0
    return frozenset(lane for lane in LANE_SPEEDS if lane <= fastest and running % lane == 0 and running <= lane * lanes)


def lanes(offset: Any, speed: Any, lane_gbps: Any) -> tuple[Any, Any]:
    """First and last lane of a link, from 1."""
    return offset // lane_gbps + 1, np.maximum(offset // lane_gbps + 1, (offset + speed - 1) // lane_gbps + 1)


# --- cage groups ----------------------------------------------------------------------------------------------
# Connected components of cages: a cable joins two cages, a breakout cable one with several, and some designs mesh cages.
#
# Computed twice: for cages, which a cable with attached ends may join, and for the connectors of optics.


STRAIGHT, STAR, MESH = range(3)  # one to one; one to several (or to one of several); several to several


@dataclass(frozen=True)
class CageGroups:
    """Links by the connected component that they are part of."""

    component: Ints  # of each link
    shape: Ints  # of each component
    hub: Ints  # per link: 0 or 1, the end (a or b) that is split; -1 where both run at one speed

    @property
    def count(self) -> int:
        return len(self.shape)


def join(a: Ints, b: Ints, a_gbps: Ints, b_gbps: Ints, offsets_gbps: tuple[Ints, Ints]) -> CageGroups:
    """Components of links between nodes a and b. `a_gbps`, `b_gbps`: speeds of the nodes; the faster one is split.

    `offsets_gbps`: where in their nodes the links begin. Nodes whose links cross are a mesh: no cable crosses its lanes.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not len(a):
        return CageGroups(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    nodes, index = np.unique(np.concatenate([a, b]), return_inverse=True)
    a, b = index.ravel()[: len(a)], index.ravel()[len(a) :]
    graph = coo_matrix((np.ones(len(a), dtype=np.int8), (a, b)), shape=(len(nodes), len(nodes)))
    count, label = connected_components(graph, directed=False)
    component = label[a].astype(np.int64)
    hub = np.where(a_gbps > b_gbps, 0, np.where(b_gbps > a_gbps, 1, -1)).astype(np.int64)
    pairs, pair = np.unique(a.astype(np.int64) * len(nodes) + b, return_inverse=True)
    neighbors = np.bincount(np.concatenate(np.divmod(pairs, len(nodes))), minlength=len(nodes))
    size = np.bincount(label, minlength=count)
    shift = np.where(hub == 1, offsets_gbps[1] - offsets_gbps[0], offsets_gbps[0] - offsets_gbps[1])
    orderly = _orderly(pair.ravel(), shift) & (shift % np.maximum(np.minimum(a_gbps, b_gbps), 1) == 0)
    straight = _all(component, (hub == -1) & orderly, count) & (size == 2)
    alone = np.where(hub == 0, neighbors[b] == 1, neighbors[a] == 1)
    star = _all(component, (hub >= 0) & alone & orderly, count)
    return CageGroups(component, np.where(straight, STRAIGHT, np.where(star, STAR, MESH)), hub)


def _orderly(pair: Ints, shift: Ints) -> Flags:
    """Whether all links between the same two nodes are shifted alike: their lanes do not cross."""
    first = np.zeros(int(pair.max(initial=0)) + 1, dtype=np.int64)
    first[pair[::-1]] = shift[::-1]
    crossed = np.bincount(pair[shift != first[pair]], minlength=len(first))
    orderly: Flags = crossed[pair] == 0
    return orderly


def _all(component: Ints, flag: Flags, count: int) -> Flags:
    """Per component, whether the flag is set on each of its links."""
    found: Flags = np.bincount(component[~flag], minlength=count) == 0
    return found


def most(component: Ints, value: Floats, count: int) -> Floats:
    """The largest value in each component."""
    found = np.zeros(count)
    np.maximum.at(found, component, value)
    return found
