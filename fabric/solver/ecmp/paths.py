"""Which links flows take, as switches choose them: by a hash, by load, or packet by packet.

Modes: `ecmp`, a hash of the five-tuple picks among equal next hops, for the flow's life; `adaptive`, every switch sends
each flowlet to the least loaded of them, knowing nothing of the links beyond; `spray`, packets go equally over them all;
`static`, of InfiniBand: one path for each target, as a subnet manager computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fabric.base.diagnostics import nearest, show
from fabric.solver import Bools, Floats, Ints, Network, Routes
from fabric.solver.ecmp.flows import Flows, digests, redraw
from fabric.solver.ecmp.hashing import Hash, Hashing, Words, configured, mix, own_seeds, seeded
from fabric.solver.routing import ADAPTIVE, ECMP, MODES, SPRAY, STATIC

FLOWLETS = 4  # of an adaptive flow
MAX_ENTRIES = 20_000_000  # entries of paths in memory, 24 bytes each
PAIRS = 2_000  # pairs of leaves in one block of sprayed paths
BLOCK_ENTRIES = 1_000_000  # next hops in one block of adaptive flowlets

Pick = Callable[[Ints, Ints, Ints, Ints], Ints]  # (switch, start in the pool, number of next hops, walk) → which one


class TooManyPathsError(ValueError):
    """Sprayed flows whose paths do not fit in memory; `load_of` and `study` do without."""


@dataclass(frozen=True)
class Paths:
    """The directed links of every flow from NIC to NIC, an entry each, in the order of the flows."""

    flows: int
    flow: Ints
    link: Ints
    share: Floats  # part of the flow on this link
    lost: Bools  # [flows] without a path, and without entries


def route(
    net: Network,
    route_table: Routes,
    flows: Flows,
    mode: str = ECMP,
    hashing: Hashing | None = None,
    seed: int | None = None,
    *,
    flowlets: int = FLOWLETS,
) -> Paths:
    """The links that every flow takes: of an `ecmp` flow in the order of its path, of others in any.

    `hashing` is the plan's own where not given; a `seed` draws other queue pair numbers. A flow of a port to itself takes
    no links.
    """
    check(mode, flowlets)
    flows = flows if seed is None else redraw(flows, seed)
    if mode == SPRAY:
        return _sprayed(net, route_table, flows)
    if mode == STATIC:
        return _walked(net, route_table, flows, _by_table(net, route_table, flows), 1)
    if mode == ECMP:
        return _walked(
            net, route_table, flows, by_hash(net, flows, configured(net.fabric) if hashing is None else hashing), 1
        )
    return _walked(net, route_table, flows, _by_load(net, route_table, flows, flowlets), flowlets)


def load(net: Network, paths: Paths, weight: Floats) -> Floats:
    """What every directed link carries, [2 links], in the unit of `weight`."""
    return added(paths.link, paths.share * weight[paths.flow], len(net.tail))


def load_of(
    net: Network,
    route_table: Routes,
    flows: Flows,
    mode: str = ECMP,
    hashing: Hashing | None = None,
    flowlets: int = FLOWLETS,
) -> tuple[Floats, Bools]:
    """(load of every directed link, [2 links]; flows without a path, [flows]).

    The load has the unit of the flows' `weight`. Paths of hashed and sprayed flows are not stored. Raises ValueError for an
    unknown mode.
    """
    check(mode, flowlets)
    if mode in (ADAPTIVE, STATIC):
        paths = route(net, route_table, flows, mode, hashing, flowlets=flowlets)
        return load(net, paths, flows.weight), paths.lost
    if mode == ECMP:
        return _hashed_load(net, route_table, flows, configured(net.fabric) if hashing is None else hashing)
    up, down, dead, away = ends(net, flows)
    source, target, pair = leaf_pairs(net, flows)
    carried = np.bincount(pair, flows.weight * (away & ~dead), minlength=len(source))
    result = np.zeros(len(net.tail))
    failed = np.zeros(len(source), dtype=bool)
    for of_pair, link, part, lost in spray_entries(route_table, source, target):
        result += np.bincount(link, part * carried[of_pair], minlength=len(result))
        failed[lost] = True
    open_ = away & ~dead & ~failed[pair]
    for end in (up, down):
        result += np.bincount(end[open_], flows.weight[open_], minlength=len(result))
    return result, away & ~open_


def _hashed_load(net: Network, route_table: Routes, flows: Flows, hashing: Hashing) -> tuple[Floats, Bools]:
    """As `load_of`, for flows of one path each."""
    up, down, dead, away = ends(net, flows)
    leaf = net.ports.leaf
    hops, failed = _walk(route_table, leaf[flows.source_port], leaf[flows.target_port], by_hash(net, flows, hashing))
    lost = dead | (away & failed)
    weight = flows.weight * (away & ~lost)
    result = added(up, weight, len(net.tail)) + added(down, weight, len(net.tail))
    for link in hops:
        taken = link >= 0
        result += added(link[taken], weight[taken], len(net.tail))
    return result, lost


def slowest_rate(net: Network, loads: Floats) -> tuple[float, int]:
    """(minimum of capacity / load over all directed links, that link); infinity and -1 without load.

    `loads`: [2 links]. Flows of weight w that wait for each other, as in a collective, get w times this rate in GB/s.
    """
    used = np.flatnonzero(loads > 0)
    if not len(used):
        return float("inf"), -1
    pace = net.capacity[used] / loads[used]
    at = int(np.argmin(pace))
    return float(pace[at]), int(used[at])


def added(index: Ints, amount: Floats, size: int) -> Floats:
    """Sums of amounts by index, [size]."""
    return np.bincount(index, amount, minlength=size).astype(np.float64, copy=False)


def check(mode: str, flowlets: int = 1) -> None:
    """Raises ValueError for a mode that is not one."""
    if mode not in MODES:
        raise ValueError(f"expected a mode of routing, got {show(mode)}: {nearest(mode, MODES)}")
    if flowlets < 1:
        raise ValueError(f"expected at least 1 flowlet a flow, got {flowlets}")


def ends(net: Network, flows: Flows) -> tuple[Ints, Ints, Bools, Bools]:
    """(uplink of the sender, downlink of the receiver, flows with one of them down, flows between two ports), each [flows].

    The first two are directed links of NIC ports.
    """
    up, down = net.ports.link[flows.source_port], net.reverse(net.ports.link[flows.target_port])
    away = flows.source_port != flows.target_port
    return up, down, away & ~(net.alive[up] & net.alive[down]), away


def leaf_pairs(net: Network, flows: Flows) -> tuple[Ints, Ints, Ints]:
    """(sending leaf, receiving leaf) of all pairs of leaves, each [pairs], and the pair of every flow, [flows]."""
    leaf, devices = net.ports.leaf, len(net.level)
    keys, pair = np.unique(leaf[flows.source_port] * devices + leaf[flows.target_port], return_inverse=True)
    source, target = np.divmod(keys, devices)
    return source, target, pair.ravel()


def spray_entries(route_table: Routes, source: Ints, target: Ints) -> Iterator[tuple[Ints, Ints, Floats, Ints]]:
    """Entries (pair, directed link, share of the pair's traffic), each [entries], in chunks of pairs of leaves.

    `source`, `target`: [pairs], leaves. The fourth array has the pairs without a path for at least a part of their traffic;
    they have no entries.
    """
    for begin in range(0, len(source), PAIRS):
        chunk = slice(begin, begin + PAIRS)
        pair, link, part, lost = _entries(route_table, source[chunk], target[chunk])
        yield pair + begin, link, part, lost + begin


def by_hash(net: Network, flows: Flows, hashing: Hashing) -> Pick:
    """Chooses as the switches' hashes do: every tier by its own."""
    digests_of = dict[tuple[object, ...], Words]()

    def value(hash_: Hash) -> Words:
        key = (hash_.family, hash_.fields, hash_.rotate, hash_.seeding == "key")
        if key not in digests_of:
            digests_of[key] = digests(hash_, net, flows)
        return digests_of[key]

    def pick(device: Ints, start: Ints, count: Ints, walk: Ints) -> Ints:
        chosen = np.zeros(len(device), dtype=np.int64)
        tier = np.where(count > 1, net.level[device], 0)  # a single next hop needs no hash
        for level in np.unique(tier[tier > 0]).tolist():
            if level not in hashing:
                raise ValueError(f"expected a hash for switches of tier {level}, got those of {sorted(hashing)}")
            mine = np.flatnonzero(tier == level)
            hash_ = hashing[level]
            seeds = own_seeds(hash_.seed, device[mine]) if hash_.per_switch else None
            chosen[mine] = seeded(hash_, value(hash_)[walk[mine]], seeds) % count[mine]
        return chosen

    return pick


def _by_table(net: Network, route_table: Routes, flows: Flows) -> Pick:
    """Chooses the one link that a static table has for the target; where a table has none the first next hop."""
    from fabric.solver.infiniband.next_hops import static_links  # InfiniBand alone

    wanted = static_links(net)

    def pick(device: Ints, start: Ints, count: Ints, walk: Ints) -> Ints:
        link, chosen = wanted[device, flows.target_port[walk]], np.zeros(len(device), dtype=np.int64)
        for place in range(int(count.max(initial=0))):
            there = np.flatnonzero(place < count)
            chosen[there[route_table.pool[start[there] + place] == link[there]]] = place
        return chosen

    return pick


def _by_load(net: Network, route_table: Routes, flows: Flows, flowlets: int) -> Pick:
    """Chooses the next hop with the least load in flight for its capacity, one flowlet a switch at a time."""
    carried = np.zeros(len(net.tail))  # seconds that each link is busy with what was sent so far
    amount = np.repeat(flows.weight / flowlets, flowlets)
    walks = np.arange(len(amount), dtype=np.uint32)
    tie = mix(walks, np.repeat(flows.udp_source, flowlets).astype(np.uint32))

    def pick(device: Ints, start: Ints, count: Ints, walk: Ints) -> Ints:
        if (count == 1).all():  # on the way down there is no choice: the same sums in the same order
            only = route_table.pool[start]
            np.add.at(carried, only, amount[walk] / net.capacity[only])
            return np.zeros(len(device), dtype=np.int64)
        order = np.argsort(device, kind="stable")
        first = np.flatnonzero(np.r_[True, np.diff(device[order]) != 0])
        size = np.diff(np.r_[first, len(device)])
        turn = np.arange(len(device)) - np.repeat(first, size)
        rounds = order[np.argsort(turn, kind="stable")]
        # The first next hop of the search decides ties.
        chosen = mix(tie[walk], device.astype(np.uint32)).astype(np.int64) % count
        most = np.arange(count.max())
        ends = np.cumsum(np.bincount(turn)).tolist()
        for block in _blocks(ends, max(1, BLOCK_ENTRIES // len(most))):  # few steps of large arrays
            now = rounds[block[0] : block[-1]]
            place = (chosen[now][:, None] + most) % count[now][:, None]
            links = route_table.pool[start[now][:, None] + place]
            sent, row = amount[walk[now]], np.arange(len(now))
            for begin, end in pairwise(block):
                mine = slice(begin - block[0], end - block[0])
                best = row[: end - begin], carried[links[mine]].argmin(axis=1)
                link = links[mine][best]
                carried[link] += sent[mine] / net.capacity[link]
                chosen[now[mine]] = place[mine][best]
        return chosen

    return pick


def _blocks(ends: list[int], size: int) -> Iterator[list[int]]:
    """Ends of rounds in blocks of about `size` flowlets, each with the end of the round before its first."""
    block = [0]
    for end in ends:
        block.append(end)
        if end - block[0] >= size:
            yield block
            block = [end]
    if len(block) > 1:
        yield block


def _walked(net: Network, route_table: Routes, flows: Flows, pick: Pick, parts: int) -> Paths:
    """Paths of flows that go in so many parts, each on one path."""
    owner = np.repeat(np.arange(len(flows)), parts)
    up, down, lost, away = ends(net, flows)
    leaf = net.ports.leaf
    hops, failed = _walk(route_table, leaf[flows.source_port][owner], leaf[flows.target_port][owner], pick)
    lost = lost | (away & failed.reshape(len(flows), parts).any(axis=1))
    whole = np.arange(len(owner)) % parts == 0  # the parts of a flow share the links of its NICs: one entry for all parts
    columns = np.column_stack([np.where(whole, up[owner], -1), *hops, np.where(whole, down[owner], -1)])
    row, step = np.nonzero((columns >= 0) & (away & ~lost)[owner][:, None])
    share = np.where((step == 0) | (step == columns.shape[1] - 1), 1.0, 1 / parts)
    return Paths(len(flows), owner[row], columns[row, step], share, lost)


def _walk(route_table: Routes, source: Ints, target: Ints, pick: Pick) -> tuple[list[Ints], Bools]:
    """(directed link of every walk between leaves, -1 where it has arrived, a step each; walks that find no path)."""
    node, steps, lost = source.copy(), [], np.zeros(len(source), dtype=bool)
    going = np.flatnonzero(node != target)
    while len(going):
        start, count = route_table.next_hops(node[going], target[going])
        if not count.all():
            lost[going[count == 0]] = True
            going, start, count = going[count > 0], start[count > 0], count[count > 0]
        link = route_table.pool[start + pick(node[going], start, count, going)]
        step = np.full(len(node), -1, dtype=np.int64)
        step[going] = link
        steps.append(step)
        node[going] = route_table.net.head[link]
        going = going[node[going] != target[going]]
    return steps, lost


def _sprayed(net: Network, route_table: Routes, flows: Flows) -> Paths:
    """Paths of flows whose packets go over all equal next hops."""
    up, down, lost, away = ends(net, flows)
    source, target, pair = leaf_pairs(net, flows)
    order = np.argsort(pair, kind="stable")
    size = np.bincount(pair, minlength=len(source))
    first = np.cumsum(size) - size
    number = np.arange(len(flows))
    flow, link, share = [number, number], [up, down], [np.ones(len(flows)), np.ones(len(flows))]
    held = 0
    for of_pair, links, part, failed in spray_entries(route_table, source, target):
        lost |= away & np.isin(pair, failed)
        times = size[of_pair]
        held += int(times.sum())
        if held > MAX_ENTRIES:
            raise TooManyPathsError(f"the sprayed paths of {len(flows)} flows do not fit in memory")
        row = np.repeat(np.arange(len(of_pair)), times)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
        flow.append(order[first[of_pair[row]] + nth])
        link.append(links[row])
        share.append(part[row])
    flows_, links_, shares = np.concatenate(flow), np.concatenate(link), np.concatenate(share)
    arriving = np.flatnonzero((away & ~lost)[flows_])
    arriving = arriving[np.argsort(flows_[arriving], kind="stable")]
    return Paths(len(flows), flows_[arriving], links_[arriving], shares[arriving], lost)


def _entries(route_table: Routes, source: Ints, target: Ints) -> tuple[Ints, Ints, Floats, Ints]:
    """What `spray_entries` yields, of all pairs at once."""
    devices = len(route_table.class_of)
    entries: list[tuple[Ints, Ints, Floats]] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    lost: list[Ints] = [np.empty(0, np.int64)]
    owner = np.flatnonzero(source != target)
    node, share = source[owner], np.ones(len(owner))
    while len(node):
        start, count = route_table.next_hops(node, target[owner])
        lost.append(owner[count == 0])
        row = np.repeat(np.arange(len(node)), count)
        link = route_table.pool[start[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)]
        part = share[row] / count[row]
        entries.append((owner[row], link, part))
        head = route_table.net.head[link]
        going = head != target[owner[row]]
        keys, back = np.unique(owner[row][going] * devices + head[going], return_inverse=True)
        share = added(back.ravel(), part[going], len(keys))
        owner, node = np.divmod(keys, devices)
    pair, links, parts = (np.concatenate(column) for column in zip(*entries, strict=True))
    gone = np.unique(np.concatenate(lost))
    order = np.argsort(pair, kind="stable")
    if len(gone):
        order = order[~np.isin(pair[order], gone)]
    return pair[order], links[order], parts[order], gone
