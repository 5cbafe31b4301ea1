"""A fabric as a small graph for tools that compute the layout themselves: nodes in rows, and bundles of links between them.

A device is in one node at most, and a bundle counts the links of the plan, so in an overview, which has every device, the
links of bundles and the links inside nodes add up to the links of the fabric.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import groupby
from typing import TypeVar

import numpy as np

from fabric.base.text import counted
from fabric.deliver.export.legend import names_span
from fabric.deliver.export.parts import PodPart, UnitPart
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import ATTACHED, CORE, KINDS, LEAF, SERVER, SPINE, Device

SINGLY = 16  # switches of a fabric that are drawn one by one
MESH = 130  # pairs of leaves and spines that are joined one by one; more are bundled by unit
_MAX_UNITS = 6  # units side by side
_NOUNS = {CORE: ("core", "cores"), SPINE: ("spine", "spines"), LEAF: ("leaf", "leaves"), SERVER: ("server", "servers")}

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """One device or several; `members` are those drawn inside it."""

    key: str
    role: str
    lines: tuple[str, ...]
    devices: tuple[Device, ...]
    members: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Column:
    """A unit, or several: leaves above their servers."""

    key: str
    label: str
    leaves: tuple[Node, ...]
    servers: Node


@dataclass(frozen=True)
class Pod:
    """Spines above units; without a third tier, all of them."""

    key: str
    label: str
    spines: tuple[Node, ...]  # a node for every isolated network
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Bundle:
    """Links between two nodes, the lower first."""

    low: str
    high: str
    kind: str
    speeds_gbps: tuple[int, ...]
    links: int

    @property
    def label(self) -> str:
        return f"{self.links:,} × {'/'.join(map(str, self.speeds_gbps))}G"


@dataclass(frozen=True)
class Graph:
    """The nodes of a fabric in rows, and the bundles between them."""

    cores: tuple[Node, ...]
    pods: tuple[Pod, ...]
    attached: tuple[Node, ...]
    bundles: tuple[Bundle, ...]

    @property
    def nodes(self) -> Iterator[Node]:
        """Every node, without members of nodes."""
        yield from self.cores
        for pod in self.pods:
            yield from pod.spines
            for column in pod.columns:
                yield from (*column.leaves, column.servers)
        yield from self.attached


class Grain(Enum):
    """The devices that share a node."""

    TIER = auto()  # all spines of a network, all leaves of a unit
    INSIDE = auto()  # each switch inside the node of its tier, bundles between the nodes
    SWITCH = auto()  # each switch, bundles between switches


def overview(view: View) -> Graph:
    """The whole fabric: its first pod by units, the others each as one; every switch of a small fabric."""
    if view.fabric.spec.switchless:
        return _direct(view)
    grain = Grain.SWITCH if len(view.switches) <= SINGLY else Grain.TIER
    pods = [pod for group in view.pods for pod in _spread(group, 3)]
    return _graph(view, [_pod(view, f"pod{at + 1}", pod, at == 0, grain) for at, pod in enumerate(pods)], grain)


def switches(view: View) -> Graph:
    """Every switch of the first pod; of two tiers that is the whole fabric."""
    if view.fabric.spec.switchless:
        return _direct(view)
    pod = view.pods[0][0]
    leaves = sum(len(unit.leaves) for unit in pod.all_units)
    grain = Grain.SWITCH if leaves * len(pod.spines) <= MESH else Grain.INSIDE
    return _graph(view, [_pod(view, "pod1", [pod], True, grain)], grain)


def _direct(view: View) -> Graph:
    """Every server of a fabric without switches."""
    servers = [device for device in view.fabric.devices if device.role == SERVER]
    nodes = [_one(f"server{at + 1}", server, 1) for at, server in enumerate(servers)]
    columns = tuple(Column(f"{node.key}-frame", node.devices[0].model, (), node) for node in nodes)
    graph = Graph((), (Pod("pod1", "", (), columns),), (), ())
    return replace(graph, bundles=tuple(_bundles(view, graph, Grain.SWITCH)))


def _spread(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """One by one; of more than `most` the first two and the last, and the others together."""
    if len(items) <= most:
        return [items[at : at + 1] for at in range(len(items))]
    return [items[:1], items[1:2], items[2:-1], items[-1:]]


def _graph(view: View, pods: Sequence[Pod], grain: Grain) -> Graph:
    alone = grain if len(view.switches) <= SINGLY else Grain.TIER
    cores = tuple(_networked(view, "core", CORE, view.switches, alone))
    ends = set(view.fabric.links.a.tolist())
    attachments = [device for device in view.fabric.devices if device.role == ATTACHED and device.index in ends]
    attached = tuple(
        Node(f"attachment{at + 1}", ATTACHED, (device.name,), (device,)) for at, device in enumerate(attachments)
    )
    graph = Graph(cores, tuple(pods), attached, ())
    return Graph(cores, tuple(pods), attached, tuple(_bundles(view, graph, grain)))


def _pod(view: View, key: str, parts: Sequence[PodPart], opened: bool, grain: Grain) -> Pod:
    label = parts[0].label if len(parts) == 1 else counted(len(parts), "more pod")
    spines = [spine for part in parts for spine in part.spines]
    groups = [group for part in parts for group in part.units]
    if opened:
        units = [some for group in groups for some in _spread(group, _MAX_UNITS)]
    else:
        units = [[unit for group in groups for unit in group]]
    columns = (_column(view, f"{key}-unit{at + 1}", some, opened, grain) for at, some in enumerate(units))
    return Pod(key, label, tuple(_networked(view, f"{key}-spine", SPINE, spines, grain)), tuple(columns))


def _networked(view: View, key: str, role: str, devices: Iterable[Device], grain: Grain) -> Iterator[Node]:
    """A node for every isolated network that has switches of this role."""
    own_rails = view.row["kind"] == "rail-only"
    for at, network in enumerate(view.networks):
        mine = [d for d in devices if d.role == role and d.plane in (network.plane, -1)]
        mine = [d for d in mine if not own_rails or d.rail == network.rail]
        if mine:
            name = (network.name,) if network.name else ()
            yield _node(f"{key}{at + 1}", role, mine, name, grain)


def _column(view: View, key: str, units: Sequence[UnitPart], opened: bool, grain: Grain) -> Column:
    label = units[0].label if len(units) == 1 else counted(len(units), "more unit" if opened else "unit")
    found = [leaf for unit in units for leaf in unit.leaves]
    wanted = {(leaf.group, leaf.unit) for leaf in found}
    servers = tuple(d for d in view.fabric.devices if d.role == SERVER and (d.group, d.unit) in wanted)
    gpus = sum(unit.gpus for unit in units)
    models = sorted({unit.model for unit in units})
    lines = (counted(len(servers), "server"), *models, *([counted(gpus, "GPU")] if gpus else []))
    leaves = tuple(_leaves(view, key, found, grain if len(units) == 1 else Grain.TIER))
    return Column(key, label, leaves, Node(f"{key}-servers", SERVER, lines, servers))


def _leaves(view: View, key: str, leaves: Sequence[Device], grain: Grain) -> Iterator[Node]:
    """Leaves one by one, or a node for every plane."""
    if grain is Grain.SWITCH:
        yield from (_one(f"{key}-leaf{at + 1}", leaf, view.planes) for at, leaf in enumerate(leaves))
        return
    for at, plane in enumerate(sorted({leaf.plane for leaf in leaves})):
        name = (f"plane {plane + 1}",) if view.planes > 1 else ()
        yield _node(f"{key}-leaf{at + 1}", LEAF, [leaf for leaf in leaves if leaf.plane == plane], name, grain)


def _node(key: str, role: str, devices: Sequence[Device], name: tuple[str, ...], grain: Grain) -> Node:
    if grain is Grain.TIER:
        span = " ".join(names_span([device.name for device in devices])).strip()
        return Node(key, role, (*name, counted(len(devices), *_NOUNS[role]), span), tuple(devices))
    if len(devices) == 1:
        return _one(key, devices[0], 1)
    members = tuple(_one(f"{key}-{at + 1}", device, 1) for at, device in enumerate(devices))
    return Node(key, role, (*name, counted(len(devices), *_NOUNS[role])), tuple(devices), members)


def _one(key: str, device: Device, planes: int) -> Node:
    parts = [f"rail {device.rail + 1}"] if device.rail >= 0 else []
    parts += [f"plane {device.plane + 1}"] if planes > 1 else []
    return Node(key, device.role, (device.name, *([", ".join(parts)] if parts else [])), (device,))


def _bundles(view: View, graph: Graph, grain: Grain) -> Iterator[Bundle]:
    """The bundles between the nodes."""
    singly = grain is Grain.SWITCH
    ends = [end for node in graph.nodes for end in (node.members if node.members and singly else (node,))]
    node_of = np.full(len(view.fabric.devices), -1)
    for number, end in enumerate(ends):
        node_of[[device.index for device in end.devices]] = number
    links = view.fabric.links
    low, high = node_of[links.a], node_of[links.b]
    between = (low >= 0) & (high >= 0) & (low != high)
    table = np.stack([links.kind[between], low[between], high[between], links.speed_gbps[between]])
    rows, count = np.unique(table, axis=1, return_counts=True)
    bundles = zip(*rows.tolist(), count.tolist(), strict=True)
    for (kind, a, b), same in groupby(bundles, key=lambda row: row[:3]):
        speeds, counts = zip(*((row[3], row[4]) for row in same), strict=True)
        yield Bundle(ends[a].key, ends[b].key, KINDS[kind], speeds, sum(counts))
