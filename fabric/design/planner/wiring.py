"""Cables: every link of a fabric with both ports, as columns.

A link's place follows from coordinates that growth does not change: a server's slot on its leaf, a leaf's number, the
pattern of a switch's uplinks. Arrays throughout; a loop runs over groups, pods or planes, never over links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabric.design.planner.port_assignment import lower_slots, upper_slots
from fabric.model.plan import (
    ATTACHMENT,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE_CORE,
    Epoch,
    GroupSize,
    Ints,
    Layout,
    Links,
    ServerPorts,
    Sizing,
    Slot,
    UnitPlan,
    concatenate,
)
from fabric.model.plan.sizing import positions

SPINES = "spines"  # the one group of lower switches that cores know


@dataclass(frozen=True)
class SlotTable:
    """The slots of a layout as columns."""

    cage: Ints
    sub: Ints
    split: Ints

    def __len__(self) -> int:
        return len(self.cage)


def slot_table(slots: Sequence[Slot]) -> SlotTable:
    """Columns of a sequence of slots."""
    columns = np.array([(s.cage, s.sub, s.split) for s in slots], dtype=np.int64).reshape(-1, 3)
    return SlotTable(columns[:, 0], columns[:, 1], columns[:, 2])


@dataclass(frozen=True, kw_only=True)
class GroupSites:
    """Devices of one group: index of each leaf [unit, leaf of the unit] and number of each (for address rows)."""

    size: GroupSize
    unit: UnitPlan
    ports: ServerPorts
    leaf: Ints  # device index [units, unit leaves]
    number: Ints  # leaf number from 0, same form
    first_server: int  # device index of the group's first server
    layout: Layout


def _columns(
    kind: int,
    speed: int | Ints,
    a: Ints,
    a_port: tuple[Ints, Ints, Ints],
    b: Ints,
    b_port: tuple[Ints, Ints, Ints],
    *,
    row: Ints,
    column: Ints,
) -> Links:
    def full(value: NDArray[np.int64] | int) -> NDArray[np.int32]:
        return np.broadcast_to(np.asarray(value), a.shape).astype(np.int32)

    return Links(
        kind=full(kind),
        speed_gbps=full(speed),
        a=full(a),
        a_cage=full(a_port[0]),
        a_sub=full(a_port[1]),
        a_split=full(a_port[2]),
        b=full(b),
        b_cage=full(b_port[0]),
        b_sub=full(b_port[1]),
        b_split=full(b_port[2]),
        row=full(row),
        column=full(column),
    )


def server_links(site: GroupSites, racks: bool) -> Links:
    """Links of every server of a group, server by server, NIC by NIC, port by port."""
    size, ports = site.size, site.ports
    server = np.repeat(np.arange(size.servers), len(ports.nic))
    nic, port, leaf, local = (np.tile(column, size.servers) for column in (ports.nic, ports.port, ports.leaf, ports.local))
    unit, place = np.divmod(positions(size.servers, size.held)[server], size.unit_servers)
    if racks:  # a rack of the unit has leaves of its own
        rack, place = np.divmod(place, size.servers_per_leaf)
        leaf = leaf + rack * (int(ports.leaf.max()) + 1)
    slot = place * size.leaf_ports_per_server + local
    down = slot_table(site.layout.down)
    return _columns(
        SERVER_LEAF,
        size.down_gbps,
        site.first_server + server,
        (nic + 1, port, np.ones_like(nic)),
        site.leaf[unit, leaf],
        (down.cage[slot], down.sub[slot], down.split[slot]),
        row=site.number[unit, leaf],
        column=slot,
    )


def pair_links(site: GroupSites, sizing: Sizing) -> Links:
    """Links between the two leaves of a collapsed-spine pair: equal ports face each other."""
    up = slot_table(site.layout.up)
    ones = np.ones(len(up), dtype=np.int64)
    port = (up.cage, up.sub, up.split)
    a, b = ones * site.leaf[0, 0], ones * site.leaf[0, 1]
    return _columns(
        LEAF_LEAF, sizing.uplink_gbps, a, port, b, port, row=0 * ones, column=np.arange(len(up))
    )  # the one pair, row 0


def leaf_spine_links(
    sites: Sequence[GroupSites],
    sizing: Sizing,
    history: Sequence[Epoch],
    arrivals: Sequence[str],
    places: Sequence[Ints],
    spine_index: Ints,
    *,
    pods: Sequence[Ints],
    spine_down: SlotTable,
) -> Links:
    """Links between leaves and spines.

    Args:
        history: numbers of links then and now.
        arrivals: group of every leaf that a spine meets, in order of arrival.
        places: per group, each leaf's place in that order, [unit, leaf of the unit].
        spine_index: device index of every spine, [pod, network, spine].
        pods: per group, the pod of each unit.
        spine_down: downlink slots of a spine.
    """
    upper = upper_slots(history, arrivals)
    width = max(len(slots) for slots in upper)
    table = np.full((len(upper), width), -1, dtype=np.int64)
    for index, slots in enumerate(upper):
        table[index, : len(slots)] = slots
    parts = []
    for group, site in enumerate(sites):
        lower = lower_slots(history, site.size.name)[: sizing.spines_built]
        spine, link = (axis.ravel() for axis in np.indices(lower.shape))
        units, leaves = site.leaf.shape
        unit = np.repeat(np.arange(units), leaves * len(spine))
        leaf = np.tile(np.repeat(np.arange(leaves), len(spine)), units)
        spine, link, slot = (np.tile(column, units * leaves) for column in (spine, link, lower.ravel()))
        if site.size.last_unit:
            few = np.array(site.size.last_unit)
            cabled = (unit < units - 1) | (link < few[leaf])
            unit, leaf, spine, link, slot = (column[cabled] for column in (unit, leaf, spine, link, slot))
        up = slot_table(site.layout.up)
        down = table[places[group][unit, leaf], link]
        parts.append(
            _columns(
                LEAF_SPINE,
                sizing.uplink_gbps,
                site.leaf[unit, leaf],
                (up.cage[slot], up.sub[slot], up.split[slot]),
                spine_index[pods[group][unit], site.unit.network[leaf], spine],
                (spine_down.cage[down], spine_down.sub[down], spine_down.split[down]),
                row=site.number[unit, leaf],
                column=slot,
            )
        )
    return concatenate(parts)


def spine_core_links(
    sizing: Sizing,
    history: Sequence[Epoch],
    spine_index: Ints,
    spine_number: Ints,
    core_index: Ints,
    spine_up: SlotTable,
    *,
    core_down: SlotTable,
    pod_places: Ints,
) -> Links:
    """Links between spines and cores: spine i of every pod is cabled to core group i of its network.

    Args:
        spine_index, spine_number: [pod, network, spine], pods in order of their numbers.
        core_index: device index, [network, group, core].
        pod_places: place of each pod at a core, from 0.
    """
    lower = lower_slots(history, SPINES)[: sizing.cores_built]
    upper = np.array(upper_slots(history, [SPINES] * history[-1].lowers))
    pods, networks, spines = spine_index.shape
    shape = (pods, networks, spines, *lower.shape)
    pod, network, spine, core, link = (axis.ravel() for axis in np.indices(shape))
    slot, down = lower[core, link], upper[pod_places[pod], link]
    return _columns(
        SPINE_CORE,
        sizing.core_gbps,
        spine_index[pod, network, spine],
        (spine_up.cage[slot], spine_up.sub[slot], spine_up.split[slot]),
        core_index[network, spine, core],
        (core_down.cage[down], core_down.sub[down], core_down.split[down]),
        row=spine_number[pod, network, spine],
        column=slot,
    )


def attachment_links(
    leaf: Sequence[int], number: Sequence[int], slots: Sequence[Slot], columns: Sequence[int], attachment: Sequence[int]
) -> Links:
    """Links of attachments: one per leaf port that no server needs."""
    port = slot_table(slots)
    order = np.arange(len(leaf))
    return _columns(
        ATTACHMENT,
        np.array([slot.speed_gbps for slot in slots], dtype=np.int64),
        np.array(attachment, dtype=np.int64),
        (order + 1, np.zeros_like(order), np.ones_like(order)),
        np.array(leaf, dtype=np.int64),
        (port.cage, port.sub, port.split),
        row=np.array(number, dtype=np.int64),
        column=np.array(columns, dtype=np.int64),
    )
