"""Flows of RoCEv2 as columns: who sends to whom, over which queue pair, with which five-tuple.

A connection is one NIC port sending to another. Each of its queue pairs is a flow with a UDP source port of its own,
which is all that tells its packets from those of the next queue pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from fabric.solver import Bools, Floats, Ints, Network
from fabric.solver.ecmp.hashing import FIVE_TUPLE, Hash, Words, digest

ROCE_PORT = 4791  # UDP target port of RoCEv2 (InfiniBand Architecture Specification, annex A17)
UDP = 17
QP_NUMBERS = 1 << 24
LOW_PORT = 0x3FFF  # bits of a UDP source port that a queue pair decides, below 0xC000
MASK = 0xFFFFFFFF  # of an IPv4 address
STAND_IN = 0x64400000  # 100.64.0.0/10, for ports that the plan gives no address


@dataclass(frozen=True, kw_only=True)
class Flows:
    """One row per flow; columns of equal length."""

    source_port: Ints  # row of `net.ports`
    target_port: Ints
    weight: Floats  # what the flow carries: bytes, or any unit; loads come out in the same
    qp: Ints  # queue pair of its connection, from 0
    job: Ints
    connection: Ints  # flows of one connection share it
    udp_source: Ints  # UDP source port

    def __len__(self) -> int:
        return len(self.source_port)

    def take(self, rows: Ints | Bools) -> Flows:
        """Some of the flows."""
        return Flows(**{item.name: getattr(self, item.name)[rows] for item in fields(self)})


def connections(
    source_port: Ints, target_port: Ints, weight: Floats | None = None, job: Ints | None = None, seed: int = 0
) -> Flows:
    """Connections with one queue pair each.

    `source_port`, `target_port`: [connections], rows of `net.ports`; `weight` (default 1) and `job` (default 0):
    [connections].
    """
    count = len(source_port)
    return Flows(
        source_port=np.asarray(source_port, dtype=np.int64),
        target_port=np.asarray(target_port, dtype=np.int64),
        weight=np.ones(count) if weight is None else np.asarray(weight, dtype=np.float64),
        qp=np.zeros(count, np.int64),
        job=np.zeros(count, np.int64) if job is None else np.asarray(job, dtype=np.int64),
        connection=np.arange(count),
        udp_source=udp_source_ports(count, seed),
    )


def shift(net: Network, servers: int = 1, shuffled: int | None = None, seed: int = 0) -> Flows:
    """Every NIC port sends to the same port of the server so many places on: the traffic of rings, one per rail.

    With a seed in `shuffled`, the servers stand in another, random order on every rail: a permutation.
    """
    ports = net.ports
    ports_, rails = len(ports.link), np.unique(np.stack([ports.nic, ports.port]), axis=1, return_inverse=True)[1].ravel()
    draw = np.random.Generator(np.random.PCG64(shuffled))
    rank = ports.server if shuffled is None else draw.permutation(ports_)
    place = np.lexsort((rank, rails))
    size = np.bincount(rails)
    begin, length = np.repeat(np.cumsum(size) - size, size), np.repeat(size, size)
    target = np.empty(ports_, dtype=np.int64)
    target[place] = place[begin + (np.arange(ports_) - begin + servers) % length]
    return connections(np.arange(ports_), target, seed=seed)


def queue_pairs(flows: Flows, count: int, seed: int = 0) -> Flows:
    """Every connection over `count` queue pairs, each with its own UDP source port and an equal part of the weight.

    NCCL's `NCCL_IB_QPS_PER_CONNECTION`. The mean load of a queue pair is the same whether every message is split
    (`NCCL_IB_SPLIT_DATA_ON_QPS=1`) or whole messages use the queue pairs in turn. Raises ValueError for less than one queue
    pair, or for connections that already have several.
    """
    if count < 1:
        raise ValueError(f"expected at least 1 queue pair a connection, got {count}")
    if len(flows) and flows.qp.max() > 0:
        raise ValueError("these connections have several queue pairs already")
    columns = {name: np.repeat(getattr(flows, name), count) for name in ("source_port", "target_port", "job", "connection")}
    return Flows(
        weight=np.repeat(flows.weight / count, count),
        qp=np.tile(np.arange(count), len(flows)),
        udp_source=udp_source_ports(len(flows) * count, seed),
        **columns,
    )


def redraw(flows: Flows, seed: int) -> Flows:
    """The same flows in another run of the job: other queue pair numbers, so other UDP source ports."""
    return replace(flows, udp_source=udp_source_ports(len(flows), seed))


def together(parts: Sequence[Flows]) -> Flows:
    """Several jobs at once. Jobs and connections of each part are numbered after those of the parts before it."""
    columns = {name: [getattr(part, name) for part in parts] for name in (item.name for item in fields(Flows))}
    for name in ("job", "connection"):
        start = 0
        for at, column in enumerate(columns[name]):
            columns[name][at] = column + start
            start += int(column.max(initial=-1)) + 1
    return Flows(**{name: np.concatenate(column) for name, column in columns.items()})


def udp_source_ports(count: int, seed: int) -> Ints:
    """UDP source ports of queue pairs whose numbers are drawn at random, as they are unknown before the job runs.

    Linux folds the product of the two 24-bit queue pair numbers to a flow label of 20 bits, and that to the 14 bits of a
    port from 0xC000 up: `rdma_calc_flow_label` and `rdma_flow_label_to_udp_sport` in include/rdma/ib_verbs.h.
    """
    drawn = np.random.Generator(np.random.PCG64(seed)).integers(1, QP_NUMBERS, size=(2, count), dtype=np.int64)
    return udp_source_port(drawn[0], drawn[1])


def udp_source_port(local: Ints, remote: Ints) -> Ints:
    """UDP source port of queue pairs by the numbers at both ends; the same seen from either end."""
    label = local * remote
    label = label ^ (label >> 20)
    label = (label ^ (label >> 40)) & 0xFFFFF
    return ((label & LOW_PORT) ^ (label >> 14)) | 0xC000


def addresses(net: Network) -> Words:
    """Address of every NIC port, [rows of `net.ports`]; IPv6 folded to 32 bits by XOR, as RTAG7 does.

    On a server link the leaf has the subnet's first address and the server the next. Ports without one (InfiniBand,
    subnets of tenants) get stand-ins.
    """
    first = net.fabric.subnet[net.ports.link]
    stand_in = STAND_IN + 2 * np.arange(len(first)) + 1
    if first.dtype != object or int(first.max(initial=0)) < MASK:
        return np.where(first >= 0, first.astype(np.int64) + 1, stand_in).astype(np.uint32)
    return np.array(
        [_fold(int(low) + 1) if low >= 0 else other for low, other in zip(first, stand_in.tolist(), strict=True)],
        dtype=np.uint32,
    )


def five_tuples(net: Network, flows: Flows) -> dict[str, Words]:
    """Header fields of every flow under SONiC's names, each [flows]."""
    address = addresses(net)
    return {
        "src_ip": address[flows.source_port],
        "dst_ip": address[flows.target_port],
        "ip_protocol": np.full(len(flows), UDP, dtype=np.uint32),
        "l4_src_port": flows.udp_source.astype(np.uint32),
        "l4_dst_port": np.full(len(flows), ROCE_PORT, dtype=np.uint32),
    }


def digests(hash_: Hash, net: Network, flows: Flows) -> Words:
    """`digest` of the five-tuples of all flows, [flows].

    A CRC and a fold are linear over XOR: the digest is that of the NIC ports of a flow, once per pair of addresses, with that
    of its UDP source port. Flows that differ in their queue pair only are a look-up each.
    """
    address = addresses(net)
    none = np.zeros(len(address), dtype=np.uint32)
    fixed = np.full(1, UDP, dtype=np.uint32), np.full(1, ROCE_PORT, dtype=np.uint32)
    zero = np.zeros(1, dtype=np.uint32)
    of_source = digest(hash_, _columns(address, none, none, none, none))
    of_target = digest(hash_, _columns(none, address, none, none, none))
    of_rest = digest(hash_, _columns(zero, zero, fixed[0], zero, fixed[1]))
    of_port = _port_digests(hash_)
    digest_: Words = of_source[flows.source_port] ^ of_target[flows.target_port]
    digest_ ^= of_port[flows.udp_source & LOW_PORT]
    digest_ ^= of_rest
    return digest_


@lru_cache
def _port_digests(hash_: Hash) -> Words:
    """What each UDP source port of RoCE, by its low bits, adds to a digest."""
    ports = np.arange(LOW_PORT + 1, dtype=np.uint32) | np.uint32(0xC000)
    none = np.zeros(len(ports), dtype=np.uint32)
    return digest(hash_, _columns(none, none, none, ports, none))


def _columns(source: Words, target: Words, protocol: Words, source_port: Words, target_port: Words) -> dict[str, Words]:
    return dict(zip(FIVE_TUPLE, (source, target, protocol, source_port, target_port), strict=True))


def _fold(address: int) -> int:
    folded = 0
    while address:
        folded ^= address & MASK
        address >>= 32
    return folded
