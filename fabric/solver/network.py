"""A fabric as arrays over directed links, and where packets may go: what every question of bandwidth is asked of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.model.plan import (
    CORE,
    LEAF,
    LEAF_LEAF,
    NO_TENANT,
    PEER_LINK,
    SERVER_LEAF,
    SERVER_SERVER,
    SPINE,
    Device,
    FabricPlan,
    Links,
    PortLabels,
    PortRef,
    concatenate,
    of_nics,
)
from fabric.model.plan.topology import RELAY

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVELS = {LEAF: 1, RELAY: 1, SPINE: 2, CORE: 3}  # of servers and attachments: 0
GBPS_PER_GBYTE_S = 8
PortNamer = Callable[[Device, PortRef], str]  # name of a port on its device, "" where it is not known


def unnamed(device: Device, ref: PortRef) -> str:
    """A PortNamer that knows no name."""
    return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Network:
    """Both directions of every link of a plan.

    Directed link `i` below `len(plan.links)` runs upward, from the link's end a to its end b; `i + len(plan.links)` is
    the same link downward. Links that are down keep their place and have no capacity.
    """

    fabric: FabricPlan
    tail: Ints  # device that sends
    head: Ints  # device that receives
    level: Ints  # of every device: 0 server or attachment, 1 leaf, 2 spine, 3 core
    capacity: Floats  # GB/s of every directed link, 0 where it is down
    port_name: PortNamer  # of a port, for those named as failed
    used: Bools | None = None  # of every link, whether it counts as a server port; None: all

    @property
    def links(self) -> int:
        """How many links there are; twice as many directed ones."""
        return len(self.tail) // 2

    @cached_property
    def alive(self) -> Bools:
        return self.capacity > 0

    @cached_property
    def ports(self) -> ServerPorts:
        return _server_ports(self)

    def reverse(self, link: Ints) -> Ints:
        """The other direction of directed links."""
        return (link + self.links) % (2 * self.links)

    def without(self, links: Ints, devices: Ints) -> Network:
        """The same network with links (undirected, both directions of each) and whole devices down."""
        down = np.zeros(self.links, dtype=bool)
        down[links] = True
        dead = np.zeros(len(self.level), dtype=bool)
        dead[devices] = True
        down |= dead[self.tail[: self.links]] | dead[self.head[: self.links]]
        return replace(self, capacity=np.where(np.tile(down, 2), 0.0, self.capacity))

    def only(self, ports: Ints) -> Network:
        """The same network with some server ports alone (rows of `ports`), as if servers had no others."""
        used = np.zeros(self.links, dtype=bool)
        used[self.ports.link[ports]] = True
        idle = np.setdiff1d(self.ports.link, self.ports.link[ports])
        return replace(self.without(idle, np.empty(0, dtype=np.int64)), used=used)

    def name(self, link: int) -> str:
        """A directed link as a person names it: `backend-leaf001 1/1 -> backend-spine003 1`."""
        names, at = PortLabels(self.fabric), link % self.links
        ends = []
        for end in ("a", "b"):
            device = self.fabric.devices[int(getattr(self.fabric.links, end)[at])]
            ends.append(f"{device.name} {names.at(at, end)}")
        return " -> ".join(ends if link < self.links else reversed(ends))


@dataclass(frozen=True)
class ServerPorts:
    """The ports of all servers' NICs, a row each, in the order of server, NIC and port; a row is also a link upward."""

    link: Ints  # directed link from the server to its leaf
    server: Ints  # device
    leaf: Ints  # device
    nic: Ints  # from 0
    port: Ints  # of the NIC, from 0


NONE: Ints = np.empty(0, dtype=np.int64)


def network(fabric: FabricPlan, port_name: PortNamer = unnamed, every_plane: bool = False) -> Network:
    """The plan's links, up but those of planes that are not in service; without switches those between relays of servers.

    Args:
        every_plane: all links are up, whichever planes are in service.
    """
    if fabric.spec.switchless:
        fabric = _with_relays(fabric)
    columns = fabric.links
    tail = np.concatenate([columns.a, columns.b]).astype(np.int64)
    head = np.concatenate([columns.b, columns.a]).astype(np.int64)
    level = np.array([LEVELS.get(device.role, 0) for device in fabric.devices], dtype=np.int64)
    routed = np.where(columns.kind == PEER_LINK, 0, columns.speed_gbps)
    capacity = np.tile(routed / GBPS_PER_GBYTE_S, 2)
    net = Network(fabric=fabric, tail=tail, head=head, level=level, capacity=capacity, port_name=port_name)
    active = fabric.spec.planes if every_plane else fabric.spec.planes_active
    idle = [switch.index for switch in fabric.switches if switch.plane >= active]
    return net.without(NONE, np.array(idle, dtype=np.int64)) if idle else net


def _server_ports(net: Network) -> ServerPorts:
    columns: Any = net.fabric.links
    is_port = (columns.kind == SERVER_LEAF) & ~_further(net.fabric)
    rows = np.flatnonzero(is_port if net.used is None else is_port & net.used)
    order = rows[np.lexsort((columns.a_sub[rows], columns.a_cage[rows], columns.a[rows]))]
    server, leaf = columns.a[order].astype(np.int64), columns.b[order].astype(np.int64)
    return ServerPorts(order.astype(np.int64), server, leaf, columns.a_cage[order] - 1, columns.a_sub[order])


def _further(fabric: FabricPlan) -> NDArray[np.bool_]:
    """Links of NICs of a further purpose, which no collective uses."""
    if not any(group.further for group in fabric.spec.groups):
        return np.zeros(len(fabric.links), dtype=bool)
    return of_nics(fabric.spec, fabric.devices, fabric.links, lambda group, use: use.nics != group.nics)


# --- a fabric without switches --------------------------------------------------------------------------------
# The forwarding of each server is a node of its own, a relay: a server sends over its NIC ports to its relay, and the relays
# are joined by the cables. So what is asked of leaves (paths, cuts, shares) is asked of servers that pass packets on.


def _with_relays(fabric: FabricPlan) -> FabricPlan:
    """The plan with a relay for each server; it has the server's name, so that cables are named by servers.

    Links of a server's ports to its relay come first, then the cables in the order of the plan.
    """
    cables, count = fabric.links, len(fabric.devices)
    relays = tuple(replace(device, index=count + device.index, role=RELAY) for device in fabric.devices)
    ends = (_ports(cables, "a", count), _ports(cables, "b", count))
    between = replace(cables, a=cables.a + count, b=cables.b + count)
    subnet = np.concatenate([fabric.subnet, fabric.subnet + 1, fabric.subnet])
    links = concatenate([*ends, between])
    none = np.full(count, -1, dtype=object)
    return replace(
        fabric,
        devices=(*fabric.devices, *relays),
        links=links,
        subnet=subnet,
        loopback=np.concatenate([fabric.loopback, none]),
        loopback6=np.concatenate([fabric.loopback6, none]),
        management=np.concatenate([fabric.management, none]),
        tenancy=replace(
            fabric.tenancy, owner=np.full(len(links), NO_TENANT, dtype=np.int64), lag=np.zeros(len(links), dtype=np.int64)
        ),
    )


def _ports(cables: Links, end: str, relay: int) -> Links:
    """A link from every port at an end of the cables to the relay of its server."""
    device, cage, sub = (getattr(cables, name) for name in (end, f"{end}_cage", f"{end}_sub"))
    return replace(
        cables,
        kind=np.full_like(cables.kind, SERVER_LEAF),
        a=device,
        a_cage=cage,
        a_sub=sub,
        b=device + relay,
        b_cage=cage,
        b_sub=sub,
        row=device,
    )


# --- routes ---------------------------------------------------------------------------------------------------
# Where packets may go: the equal-cost next hops towards a leaf, as the plan's BGP finds them.
#
# Paths go up and then down and are the shortest: leaf to spine to leaf, in three tiers by a core between pods. They never
# turn back up, because the spines of a pod share an AS number. Every link to a switch that leads to the target is a next hop
# of its own, so two parallel links take two shares.

BY_PAIR = -1  # in the table of a class: the spine meets the leaf itself, so look under the pair
CHUNK = 4_000_000  # next hops that `spread` holds at once
Pick = Callable[[Ints, Ints, Ints], Ints]  # (switch, number of next hops, flow) → which one


@dataclass(frozen=True, kw_only=True)
class Routes:
    """Next hops of every switch towards every leaf.

    Leaves below the same spines are one class: what leads to one leads to all of them. `pool` holds the lists of next
    hops one after another; a list is a start and a length in it.
    """

    net: Network
    pool: Ints  # directed links
    class_of: Ints  # device → class of a leaf, -1 for others
    start: Ints  # [class, device]
    count: Ints  # [class, device]; BY_PAIR where the pair decides
    pair: Ints  # sorted keys of (sending device, leaf) …
    pair_start: Ints
    pair_count: Ints

    def next_hops(self, at: Ints, leaf: Ints) -> tuple[Ints, Ints]:
        """(start, length) in `pool` of the next hops from each switch `at` to each `leaf`; length 0: no path."""
        kind = self.class_of[leaf]
        start, count = self.start[kind, at], self.count[kind, at]
        pairs = np.flatnonzero(count == BY_PAIR)
        if len(pairs):
            start, count = start.copy(), count.copy()
            key = at[pairs] * len(self.class_of) + leaf[pairs]
            row = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
            exact = self.pair[row] == key
            start[pairs], count[pairs] = self.pair_start[row], np.where(exact, self.pair_count[row], 0)
        return start, count


def routes(net: Network) -> Routes:
    """The next hops over the links of `net` that are up."""
    devices, size = len(net.level), net.links
    up = np.flatnonzero(net.alive[:size] & (net.level[net.tail[:size]] > 0))
    sideways = np.isin(net.fabric.links.kind[up], (LEAF_LEAF, SERVER_SERVER))
    beside, up = np.concatenate([up[sideways], net.reverse(up[sideways])]), up[~sideways]
    first, second = (up[net.level[net.tail[up]] == level] for level in (1, 2))
    down = net.reverse(first)
    beside, target = _beside(net, beside)
    by_pair = np.concatenate([down, beside])
    key = net.tail[by_pair] * devices + np.concatenate([net.head[down], target])
    order = np.argsort(key, kind="stable")
    pair, pair_start, pair_count = np.unique(key[order], return_index=True, return_counts=True)
    class_of, members = _classes(net, first)
    pools, offset = [by_pair[order]], len(by_pair)
    start, count = np.zeros((len(members), devices), np.int64), np.zeros((len(members), devices), np.int64)
    for row, spines in enumerate(members):
        below, links = _towards(net, spines, first, second)
        tails = net.tail[links]
        order = np.argsort(tails, kind="stable")
        number = np.bincount(tails, minlength=devices)
        start[row] = offset + np.cumsum(number) - number
        count[row] = np.where(below, BY_PAIR, number)
        pools.append(links[order])
        offset += len(links)
    if len(beside):  # leaves without spines: one class, whose leaves reach each other over the links between them
        count[:, np.unique(net.tail[beside])] = BY_PAIR
    return Routes(
        net=net,
        pool=np.concatenate(pools),
        class_of=class_of,
        start=start,
        count=count,
        pair=pair,
        pair_start=pair_start,
        pair_count=pair_count,
    )


def _beside(net: Network, beside: Ints) -> tuple[Ints, Ints]:
    """(directed link, leaf that it leads to) of the shortest paths over links between leaves; a link may lead to several."""
    tail, head = net.tail[beside], net.head[beside]
    links, targets = [beside[:0]], [beside[:0]]
    for target in np.unique(head).tolist():
        distance = np.full(len(net.level), len(net.level), dtype=np.int64)
        distance[target] = 0
        near = np.array([target])
        for step in range(1, len(net.level)):
            near = tail[np.isin(head, near) & (distance[tail] > step)]
            if not len(near):
                break
            distance[near] = step
        towards = beside[(distance[head] < distance[tail]) & (distance[tail] < len(net.level))]
        links.append(towards)
        targets.append(np.full(len(towards), target))
    return np.concatenate(links), np.concatenate(targets)


def _classes(net: Network, first: Ints) -> tuple[Ints, list[Ints]]:
    """Class of every leaf, and the spines that each class hangs below."""
    devices = len(net.level)
    class_of = np.full(devices, -1, dtype=np.int64)
    pairs = np.unique(net.tail[first] * devices + net.head[first])
    leaf, spine = np.divmod(pairs, devices)
    number_of: dict[bytes, int] = {}
    members: list[Ints] = []
    leaves = np.flatnonzero(net.level == 1)
    begin, end = np.searchsorted(leaf, leaves, "left"), np.searchsorted(leaf, leaves, "right")
    for device, low, high in zip(leaves.tolist(), begin.tolist(), end.tolist(), strict=True):
        spines = spine[low:high]
        number = number_of.setdefault(spines.tobytes(), len(number_of))
        if number == len(members):
            members.append(spines)
        class_of[device] = number
    return class_of, members


def _towards(net: Network, spines: Ints, first: Ints, second: Ints) -> tuple[Bools, Ints]:
    """(switches right above the class, directed links that lead to it from everywhere else)."""
    devices = len(net.level)
    below = np.zeros(devices, dtype=bool)
    below[spines] = True
    pods = np.array([device.pod for device in net.fabric.devices]) if len(second) else np.zeros(devices)
    home = np.isin(pods, pods[spines]) if len(spines) else np.zeros(devices, bool)
    core = np.zeros(devices, dtype=bool)
    core[net.head[second[below[net.tail[second]]]]] = True
    over = np.zeros(devices, dtype=bool)  # spines of other pods that reach a core which reaches the class
    climb = second[core[net.head[second]] & ~home[net.tail[second]]]
    over[net.tail[climb]] = True
    near = np.zeros(devices, dtype=bool)  # leaves that share a spine with the class need no core
    near[net.tail[first[below[net.head[first]]]]] = True
    leaf_up = first[below[net.head[first]] | (over[net.head[first]] & ~near[net.tail[first]])]
    dive = net.reverse(second[below[net.tail[second]]])
    return below, np.concatenate([leaf_up, climb, dive])


def walk(route_table: Routes, source: Ints, target: Ints, pick: Pick) -> Ints:
    """Directed links of one path a flow between leaves, [flows, steps], -1 after the end.

    `pick` chooses among the next hops at each switch. A flow without a path has a row of -1.
    """
    node, flows = source.copy(), np.arange(len(source))
    steps: list[Ints] = []
    open_ = node != target
    lost = np.zeros(len(node), dtype=bool)
    while open_.any():
        going = flows[open_]
        start, count = route_table.next_hops(node[going], target[going])
        lost[going[count == 0]] = True
        going, start, count = going[count > 0], start[count > 0], count[count > 0]
        step = np.full(len(node), -1, dtype=np.int64)
        step[going] = route_table.pool[start + pick(node[going], count, going)]
        node[going] = route_table.net.head[step[going]]
        steps.append(step)
        open_ = (node != target) & ~lost
    hops = np.stack(steps, axis=1) if steps else np.full((len(node), 1), -1, dtype=np.int64)
    hops[lost] = -1
    return hops


def spread(route_table: Routes, source: Ints, target: Ints, amount: Floats) -> tuple[Floats, Floats]:
    """(load of every directed link, [2 links]; amount without a path, [pairs]) with ECMP.

    Each switch splits equally over its next hops. `source`, `target`: leaves, and `amount`, each [pairs]; amounts of equal
    pairs add up.
    """
    load = np.zeros(len(route_table.net.tail))
    lost = np.zeros(len(source))
    step = max(1, CHUNK // max(1, int(route_table.count.max(initial=1))))
    for begin in range(0, len(source), step):
        part = slice(begin, begin + step)
        _spread(route_table, source[part], target[part], amount[part], load, lost[part])
    return load, lost


def _spread(route_table: Routes, source: Ints, target: Ints, amount: Floats, load: Floats, lost: Floats) -> None:
    devices = len(route_table.class_of)
    away = source != target
    node, leaf, share, owner = source[away], target[away], amount[away], np.flatnonzero(away)
    while len(node):
        start, count = route_table.next_hops(node, leaf)
        np.add.at(lost, owner[count == 0], share[count == 0])
        rows = np.repeat(np.arange(len(node)), count)
        first = np.repeat(np.cumsum(count) - count, count)
        links = route_table.pool[start[rows] + np.arange(len(rows)) - first]
        part = share[rows] / count[rows]
        load += np.bincount(links, part, minlength=len(load))
        head, leaf, owner = route_table.net.head[links], leaf[rows], owner[rows]
        going = head != leaf
        key, back = np.unique((owner[going] * devices + head[going]), return_inverse=True)
        share = np.bincount(back.ravel(), part[going], minlength=len(key))
        owner, node = np.divmod(key, devices)
        leaf = target[owner]
