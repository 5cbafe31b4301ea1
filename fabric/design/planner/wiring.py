"""Cables: every link of a fabric with both ports, as columns, chosen so that growth moves as few cables as possible.

Between two tiers every lower switch has `links` links to each of `uppers` upper switches. When these numbers change,
the links that exist keep their ports and new ones take the freed ports in order; replaying the history of the numbers
gives every port, so none is stored.

A link's place follows from coordinates that growth does not change: a server's slot on its leaf, a leaf's number, the
pattern of a switch's uplinks. Arrays throughout; a loop runs over groups, pods or planes, never over links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import (
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE_CORE,
    Epoch,
    GroupSize,
    Ints,
    Layout,
    Links,
    Record,
    ServerPorts,
    Shape,
    Sizing,
    Slot,
    UnitPlan,
    concatenate,
    rank,
)
from fabric.model.plan.sizing import positions

# --- wiring history -------------------------------------------------------------------------------------------
# The history of a wiring as the lock keeps it. Histories of two branches become one.
#
# Every epoch is a record with its position in the history and the number of lower switches at its start, so a past epoch
# never changes.


def joined(records: Iterable[Record], shape: Shape) -> tuple[Record, ...]:
    """The history of a shape: equal records of one position are merged, others follow each other."""
    chain: list[Record] = []
    for record in sorted((record for record in records if record.shape == shape), key=rank):
        for at, other in enumerate(chain):
            if other.place == record.place and _agree(other.epoch, record.epoch):
                links = tuple(sorted({*other.epoch.links, *record.epoch.links}))
                lowers = max(other.epoch.lowers, record.epoch.lowers)
                chain[at] = replace(
                    other, after=min(other.after, record.after), epoch=Epoch(record.epoch.uppers, links, lowers)
                )
                break
        else:
            chain.append(record)
    return tuple(sorted(chain, key=rank))


def _agree(one: Epoch, other: Epoch) -> bool:
    """Whether two epochs are of equal numbers; each may have groups that the other does not have."""
    links = dict(one.links)
    return one.uppers == other.uppers and all(links.get(group, count) == count for group, count in other.links)


def epochs(chain: Sequence[Record]) -> tuple[Epoch, ...]:
    """A history as the planner replays it: every epoch ends with the lowers that the next began with."""
    ends = [record.after for record in chain[1:]] + [record.epoch.lowers for record in chain[-1:]]
    return tuple(replace(record.epoch, lowers=end) for record, end in zip(chain, ends, strict=True))


def records(history: Sequence[Epoch], chain: Sequence[Record], former: Iterable[Record], shape: Shape) -> tuple[Record, ...]:
    """The records for the lock of a history that continues `chain`, or starts again; `former` are those of the lock."""
    last = max((record.place for record in former), default=0)
    goes_on = len(history) >= len(chain) > 0 and all(
        same(record.epoch, epoch) for record, epoch in zip(chain, history, strict=False)
    )
    old = chain if goes_on else ()
    result = [replace(record, epoch=replace(record.epoch, links=e.links)) for record, e in zip(old, history, strict=False)]
    for epoch in history[len(old) :]:
        last += 1
        result.append(Record(last, shape, result[-1].epoch.lowers if result else 0, epoch))
    result[-1] = replace(result[-1], epoch=history[-1])
    return tuple(result)


# --- ports of a switch's uplinks ------------------------------------------------------------------------------


def now(history: Sequence[Epoch], current: Epoch) -> tuple[Epoch, ...]:
    """The history followed by the present numbers; equal numbers only move the count of lowers on."""
    if history and same(history[-1], current):
        return (*history[:-1], current)
    return (*history, current)


def continued(
    earlier: Sequence[Epoch], current: Epoch, groups: Sequence[str], uplinks: Mapping[str, int], downlinks: int
) -> tuple[Epoch, ...]:
    """The history followed by the present numbers, or these alone when a link would keep a port that no longer exists.

    Args:
        groups: group of every lower switch.
        uplinks: ports up of a lower switch of each group.
        downlinks: ports down of an upper switch.
    """
    history = now(earlier, current)
    if len(history) == 1:
        return history
    if _work(history, groups) > MAX_REPLAYED_PORTS:
        return (current,)
    fits = all(lower_slots(history, group).max(initial=-1) < count for group, count in uplinks.items())
    fits = fits and all(slots.max(initial=-1) < downlinks for slots in upper_slots(history, groups))
    return history if fits else (current,)


MAX_REPLAYED_PORTS = 20_000_000


def _work(history: Sequence[Epoch], groups: Sequence[str]) -> int:
    """Ports that a replay assigns: a real history is far below the limit, a damaged one must not slow down the planner."""
    widest = (max((links for _, links in epoch.links), default=0) for epoch in history)
    return sum(links * (epoch.uppers + min(epoch.lowers, len(groups))) for links, epoch in zip(widest, history, strict=True))


def same(old: Epoch, new: Epoch) -> bool:
    """Whether the numbers of an epoch still hold in another, which may have more groups."""
    return old.uppers == new.uppers and set(old.links) <= set(new.links)


def lower_slots(history: Sequence[Epoch], group: str) -> Ints:
    """slot[upper, link]: the uplink of a lower switch of the group, from 0."""
    *_, slot = lower_states(history, group)
    last = history[-1]
    table = np.empty((last.uppers, last.of(group)), dtype=np.int64)
    for (upper, link), port in slot.items():
        table[upper, link] = port
    return table


def lower_states(history: Sequence[Epoch], group: str) -> Iterator[dict[tuple[int, int], int]]:
    """(upper, link) → the uplink of a lower switch of the group, at the end of every epoch."""
    slot: dict[tuple[int, int], int] = {}
    for epoch in history:
        links = epoch.of(group)
        links_in_order = [(upper, link) for upper in range(epoch.uppers) for link in range(links)]
        slot = _refill({key: port for key, port in slot.items() if key[0] < epoch.uppers and key[1] < links}, links_in_order)
        yield slot


def upper_slots(history: Sequence[Epoch], groups: Sequence[str]) -> list[Ints]:
    """Downlink slots on the upper switches, from 0, of the links of each lower switch: [links] per switch.

    In order of arrival. `groups` has the group of every lower switch of the finished fabric.
    """
    last = history[-1]
    if len(history) == 1:  # the usual case needs no replay
        slots, first = [], 0
        for group in groups:
            slots.append(np.arange(first, first + last.of(group), dtype=np.int64))
            first += last.of(group)
        return slots
    *_, taken = upper_states(history, groups)
    return [
        np.array([taken[lower, link] for link in range(last.of(group))], dtype=np.int64) for lower, group in enumerate(groups)
    ]


def upper_states(history: Sequence[Epoch], groups: Sequence[str]) -> Iterator[dict[tuple[int, int], int]]:
    """(lower, link) → downlink slot on every upper switch, at the end of every epoch."""
    taken: dict[tuple[int, int], int] = {}
    for index, epoch in enumerate(history):
        lowers = min(epoch.lowers, len(groups)) if index < len(history) - 1 else len(groups)
        links = [epoch.of(group) for group in groups]
        links_in_order = [(lower, link) for lower in range(lowers) for link in range(links[lower])]
        remaining = {key: port for key, port in taken.items() if key[0] < lowers and key[1] < links[key[0]]}
        taken = _refill(remaining, links_in_order)
        yield taken


def _refill(known: dict[tuple[int, int], int], links: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Keeps known ports, assigns the free ports to the others in order."""
    used = set(known.values())
    free = (port for port in range(len(used) + len(links)) if port not in used)
    return {key: known[key] if key in known else next(free) for key in links}


# --- links ----------------------------------------------------------------------------------------------------

SPINES = "spines"  # the only group of lower switches of cores


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
    if racks:  # every rack of the unit has leaves
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
    """Links between the two leaves of a collapsed-spine pair, of every plane: equal ports face each other."""
    up = slot_table(site.layout.up)
    plane, column = np.divmod(np.arange(sizing.planes * len(up)), len(up))
    port = (up.cage[column], up.sub[column], up.split[column])
    a, b = (site.leaf[0, side::2][plane] for side in (0, 1))
    return _columns(LEAF_LEAF, sizing.uplink_gbps, a, port, b, port, row=plane, column=column)


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
        pods: per group, the pod of each leaf, [unit, leaf of the unit].
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
                spine_index[pods[group][unit, leaf], site.unit.network[leaf], spine],
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
    """Links between spines and cores: spines of every pod that share a core have places beside each other on it.

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
    group, place = np.divmod(spine, sizing.spines_per_core)
    slot, down = lower[core, link], upper[pod_places[pod] * sizing.spines_per_core + place, link]
    return _columns(
        SPINE_CORE,
        sizing.core_gbps,
        spine_index[pod, network, spine],
        (spine_up.cage[slot], spine_up.sub[slot], spine_up.split[slot]),
        core_index[network, group, core],
        (core_down.cage[down], core_down.sub[down], core_down.split[down]),
        row=spine_number[pod, network, spine],
        column=slot,
    )


def free_port_links(
    kind: int,
    device: Ints,
    device_port: tuple[Ints, Ints],
    leaf_index: Mapping[int, int],
    placed: Sequence[tuple[tuple[int, int], Slot]],
) -> Links:
    """Links on leaf ports that no server of the leaf's own group needs.

    Args:
        device: index of the device of each link, and `device_port` its port there.
        leaf_index: device index of each leaf by its number, from 1.
        placed: (leaf number, column) and slot of each link.
    """
    spots = np.array([spot for spot, _ in placed], dtype=np.int64).reshape(-1, 2)
    port = slot_table([slot for _, slot in placed])
    return _columns(
        kind,
        np.array([slot.speed_gbps for _, slot in placed], dtype=np.int64),
        np.asarray(device, dtype=np.int64),
        (*device_port, np.ones(len(placed), dtype=np.int64)),
        np.array([leaf_index[leaf] for (leaf, _), _ in placed], dtype=np.int64),
        (port.cage, port.sub, port.split),
        row=spots[:, 0] - 1,
        column=spots[:, 1],
    )
