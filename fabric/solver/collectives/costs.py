"""The time of every algorithm and protocol, from the parameters of physics.yaml.

A time is the launch, then latency and transfer, which overlap in part, then what filling the pipeline costs. N counts
NVLink domains and g the ranks of one, n = N g; S is nccl-tests' size. Latencies of hops are NCCL's own tables
(NVIDIA/nccl@5067397c2676 src/graph/tuning.cc) times a factor of the GPU generation or the transport. docs/collectives.md
explains every term.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from fabric.solver import Floats
from fabric.solver.collective import ALL_REDUCE, ALLTOALL, GATHER, ROOTED, SENDRECV
from fabric.solver.collectives.job import DEFAULT_CTAS, Job

PROTOCOLS = ("ll", "ll128", "simple")
TREE_HOP_US, TREE_NET_US = (0.6, 1.25, 4.0), (5.0, 8.5, 14.0)
RING_HOP_US, RING_NET_US = (0.6, 1.9, 3.4), (2.7, 4.0, 14.0)
IN_NETWORK_US = 31.0  # latency of NCCL's CollNetDirect to the reducing switch and back
US = 1e3  # GB/s are bytes per ns
MIB = float(1 << 20)
NOTHING = 1e12  # GB/s; no limit
HOPPER_GBPS = 450.0  # NVLink of the GPUs of the stated LL bandwidth, which scales with NVLink
SLOT_SHARE = 0.91  # payload of a PCIe slot: 24 bytes of header and acknowledgments with a packet of 256
SERIAL = 4.0  # exponent of the overlap of kernel starts and kernels: 1 is a sum, infinity a maximum
EAGER = 4096.0  # bytes above which a message is announced before it is sent
USUAL_RANKS = 16  # of a ring whose fill the parameters state
LINES = 640 * 8.0  # bytes of a rank for each channel of a ring: LL128's threads, eight bytes each
GROWS_TO = 16_384.0  # bytes up to which the latency of a hop grows with the size

Key = tuple[str, str]  # (algorithm, protocol)
Terms = Mapping[str, Any]  # parameter → value of every row


def costs(job: Job, p: Terms) -> dict[Key, Floats]:
    """µs of each (algorithm, protocol) that can run this collective, [rows]; infinite in rows where it cannot."""
    return {key: form(p) for key, form in forms(job).items()}


def forms(job: Job) -> dict[Key, Callable[[Terms], Floats]]:
    """The cost of each (algorithm, protocol) as a function of the parameters alone.

    Parameters may have further dimensions in front of that of the rows: one evaluation then serves many sets of them.
    """
    every: dict[Key, Callable[[Terms], Floats]] = {
        ("p2p", "simple"): partial(_p2p, job),
        **{("ring", protocol): partial(_ring, job, at=at) for at, protocol in enumerate(PROTOCOLS)},
        **{("tree", protocol): partial(_tree, job, at=at) for at, protocol in enumerate(PROTOCOLS)},
        ("nvls_tree", "simple"): lambda p: _where(job.nvls & job.crosses, _nvls_tree(job, p)),
        ("nvls", "simple"): lambda p: _where(job.nvls & ~job.crosses, _nvls(job, p)),
    }
    table = {key: form for key, form in every.items() if key[0] in job.spec.algorithms}
    if np.any(job.one_process):
        table = {key: partial(_serial_form, job, form) for key, form in table.items()}
    ideal = ideal_us(job)
    return {key: partial(_no_faster, ideal, form) for key, form in table.items()}


def _no_faster(ideal: Floats, form: Callable[[Terms], Floats], p: Terms) -> Floats:
    """A form's time, no less than the bytes need: shares of several parameters may add up to more than a line carries."""
    return np.maximum(form(p), ideal)


def ideal_us(job: Job, algorithm: str = "") -> Floats:
    """Least µs that the bytes allow, [rows]: NVLink and NICs at line rate, no latency, the fabric without bottlenecks.

    An all_reduce between domains must move 2 (N - 1) / N S out of each (Patarasuk and Yuan 2009, with a domain as one
    node), S where switches reduce; inside one, a switch that reduces takes S and each GPU's part of the result. GPUs
    that bridges join reach the others over their slots.
    """
    n, g, domains = (np.asarray(value, dtype=np.float64) for value in (job.ranks, job.domain, job.domains))
    net = np.where(job.crosses, job.net_GBps, np.inf)
    per_gpu = np.where(job.crosses, net / g, 0.0)
    domain_GBps = job.nvlink_GBps + np.asarray(job.bridge_GBps)
    reach, far = domain_GBps + per_gpu, (n - g) / n / np.where(job.crosses, per_gpu, np.inf)
    family = job.spec.family
    if family == ALL_REDUCE:
        inside = np.where(job.nvls, np.minimum(2 * (g - 1) / g, 1 + 1 / g), 2 * (g - 1) / g)
        outside = 1.0 if algorithm == "in_network" else 2 * (domains - 1) / domains
        bound = np.maximum(inside / reach, outside / net)
    elif family == GATHER:
        bound = np.maximum((n - 1) / n / reach, (domains - 1) / domains / net)
    elif family == ROOTED:
        bound = np.maximum(1 / reach, 1 / net)
    elif family == ALLTOALL:
        bound = np.maximum((g - 1) / n / domain_GBps, far)
    else:
        bound = np.where(job.crosses, 1 / np.where(job.crosses, per_gpu, np.inf), 1 / domain_GBps)
    return np.asarray(job.bytes * bound / US)


def _serial_form(job: Job, form: Callable[[Terms], Floats], p: Terms) -> Floats:
    return serial(job, p, form(p))


def others(job: Job) -> dict[Key, Callable[[Terms], Floats]]:
    """Algorithms that NCCL does not take by itself, for who asks for them by name."""
    every: dict[Key, Callable[[Terms], Floats]] = {
        ("hierarchical", "simple"): partial(_hierarchical, job),
        ("halving_doubling", "simple"): partial(_halving, job),
        ("in_network", "simple"): lambda p: _where(job.crosses, _in_network(job, p)),
    }
    return {key: form for key, form in every.items() if key[0] in job.spec.algorithms}


def _where(mask: Any, time: Floats) -> Floats:
    return np.where(mask, time, np.inf)


def _together(latency: Any, transfer: Any, overlap: float) -> Any:
    """Between a sum (1) and a maximum (infinity)."""
    return (latency**overlap + transfer**overlap) ** (1 / overlap)


def _filled(amount: Any, size: Floats, half_MiB: float) -> Any:
    """What filling a pipeline costs: all of it for large messages, half at `half_MiB`."""
    return amount * size / (size + half_MiB * MIB)


def _hop(job: Job, p: Terms) -> Any:
    """Factor on NCCL's latencies of a hop inside a domain."""
    between = 1 / np.asarray(job.bridge)  # of all hops in a ring or chain over bridges
    return p["nvlink_hop"] * np.where(job.pcie, between * p["pcie_hop"] + (1 - between), 1.0)


def _inside_GBps(job: Job, p: Terms) -> Any:
    """GB/s of a GPU's links inside its domain, for payload of rings and trees."""
    slots = job.nvlink_GBps * np.where(job.pcie, p["pcie_share"] * job.slots, 1.0)
    return np.where(np.asarray(job.bridge) > 1, np.minimum(slots, job.bridge_GBps), slots)


def launch(job: Job, p: Terms) -> Any:
    """µs until the first byte moves: launch of the kernel and the delay of the slowest domain."""
    return p["launch_us"] + _straggler(job, p)


def serial(job: Job, p: Terms, time: Floats) -> Floats:
    """µs of a run whose processes drive several GPUs each: a thread starts their kernels in turn while the first ones run."""
    calls = p["enqueue_alltoall"] if job.spec.family == ALLTOALL else 1.0
    floor = np.where(job.one_process, p["enqueue_us"] * calls * job.domain, 0.0)
    return np.asarray((time**SERIAL + floor**SERIAL) ** (1 / SERIAL))


def levels(job: Job) -> Any:
    """Levels of a tree over the domains, between two powers of two their mean: one more domain never takes less time."""
    return np.log2(job.domains)


def _growth(job: Job, p: Terms) -> Any:
    return 1 + p["hop_growth"] * np.log2(np.clip(job.bytes, 8, GROWS_TO) / 8)


def crossings(job: Job, share: Any) -> Any:
    """How often a byte leaves the busiest domain of a double binary tree, over the share of the NICs that it gets.

    A domain sends half of the bytes over each of its edges, of both trees together: of two domains it has two edges, of
    three at most three, of more four, as an inner node has a parent and two children in one tree and is a leaf of the other.
    A node with two children gets the share alone.
    """
    edges = np.minimum(np.asarray(job.domains, dtype=np.float64), 4)
    return edges / 2 / np.where(edges < 4, 1.0, share)


def _net(job: Job, p: Terms, share: Any) -> Any:
    """GB/s of a domain's NICs for payload."""
    loss = np.maximum(np.asarray(job.domains) / 2, 1) ** -p["scale_loss"]
    wire = np.minimum(p["nic_share"] * p["payload_share"], p["root_share"] * job.root_GBps / job.nic_GBps)
    hosts = np.minimum(p["socket_GBps"] * job.hosts, SLOT_SHARE * job.slot_GBps)
    return np.where(job.crosses, np.minimum(job.net_GBps * wire * loss * share, hosts), NOTHING)


def _rendezvous(job: Job, p: Terms) -> Any:
    """µs that a message above the eager limit adds to a network hop, from half of the limit on."""
    return p["rendezvous_us"] * np.clip(np.log2(job.bytes / EAGER) + 1, 0, 1)


def _straggler(job: Job, p: Terms) -> Any:
    """µs by which the slowest of the domains is later than the mean: exponential delays, their largest grows by ln N."""
    return np.where(job.crosses, p["straggler_us"] * p["net_hop"] * np.log(job.domains), 0.0)


def tree_latency(job: Job, p: Terms, at: int) -> Any:
    """µs of hops of the double binary tree, up and down; `at`: index of the protocol (LL, LL128, Simple)."""
    slower = (1.0, p["tree_net_ll128"], p["tree_net_simple"])[at]
    hop = TREE_NET_US[at] * p["net_hop"] * slower + job.hop_us + _rendezvous(job, p)
    return 2 * ((job.domain - 1) * TREE_HOP_US[at] * _hop(job, p) + levels(job) * hop) * _growth(job, p)


def _tree(job: Job, p: Terms, at: int) -> Floats:
    """Double binary tree of chains: reduce to the roots and broadcast back."""
    name = PROTOCOLS[at]
    inside = p[f"tree_nvlink_{name}"] * _inside_GBps(job, p) * np.maximum(job.domain / 8, 1) ** -p["tree_domain_loss"]
    net = _net(job, p, job.tree_share)
    between = (np.minimum(p["tree_ll_GBps"], 0.5 * net), 0.92 * net, net)[at]
    between = np.where(job.crosses, between, NOTHING)
    speed = np.minimum(inside, between / crossings(job, p["tree_crossing_share"]))
    flight = job.bytes / (1 + job.bytes / (p[f"tree_flight_{name}_MiB"] * MIB))
    hops = 2 * (job.domain - 1) / inside + 2 * levels(job) / between
    fill = hops * flight / US * p[f"tree_fill_{name}"] * np.where(job.crosses, p["fill"], 1.0)
    overlap = p["overlap_ll" if at == 0 else "overlap"]
    both = _together(tree_latency(job, p, at), job.bytes / speed / US, overlap)
    return np.asarray(launch(job, p) + both + fill)


def ring_volume(job: Job) -> Any:
    """Bytes that each rank sends, which is how the factor of busbw is defined."""
    return job.spec.busbw(job.ranks) * job.bytes


def _proxy(job: Job) -> Any:
    """Load of a rank's proxy thread over that of 16 channels; NCCL uses one for every `LINES` bytes of a rank."""
    return np.clip(job.bytes / job.ranks / LINES, DEFAULT_CTAS, np.maximum(job.ctas, DEFAULT_CTAS)) / DEFAULT_CTAS


def _ring(job: Job, p: Terms, at: int) -> Floats:
    """Ring over all ranks: 2 (n - 1) steps of an all_reduce, n - 1 of half of one, a chain of n from or to a root."""
    passes = job.spec.passes
    steps = job.ranks if job.spec.family == ROOTED else passes * (job.ranks - 1)
    outside = np.where(job.crosses, passes * (job.domains - 1), 0)
    hop = np.where(job.domain > 1, RING_NET_US[at], TREE_NET_US[at]) * p["net_hop"]
    latency = (steps - outside) * RING_HOP_US[at] * _hop(job, p) + outside * hop
    least = p["ring_step_us"] * p["host_step"]
    least = least + (0.0, p["ring_step_ll128_us"], p["ring_step_simple_us"])[at]
    least = steps * least * (p["ring_step_gather"] if passes == 1 else 1.0) * _growth(job, p) * _proxy(job)
    latency = (latency + outside * (job.hop_us + _rendezvous(job, p))) * _growth(job, p)
    inside = np.minimum(p["ring_nvlink_share"] * _inside_GBps(job, p), np.asarray(job.ctas) * p["cta_GBps"])
    speed = np.minimum(_net(job, p, job.ring_share), inside) * (p["ring_ll_share"], p["ring_ll128_share"], 1.0)[at]
    if at == 0:
        speed = np.where(job.crosses, np.minimum(speed, p["ring_ll_GBps"] * job.nvlink_GBps / HOPPER_GBPS), speed)
    depth = p["ring_fill_us"] * p["ring_fill"] * np.where(job.crosses, p["fill"], 1.0)
    depth = depth * np.maximum(job.ranks / USUAL_RANKS, 1) ** p["ring_fill_growth"]
    fill = _filled(depth * (0.0, p["ring_fill_ll128"], 1.0)[at], job.bytes, p["ring_fill_MiB"])
    both = _together(latency, ring_volume(job) / speed / US, p["overlap_ll" if at == 0 else "overlap"])
    both = np.where(job.crosses, _together(both, least, p["overlap_host"]), both)
    return np.asarray(launch(job, p) + both + fill)


def _chunk(job: Job, p: Terms) -> Any:
    """NVLS's speed by its chunk over that of 128 KiB; the chunk follows the size (NCCL src/enqueue.cc)."""
    channels = np.where(np.asarray(job.generation) == BLACKWELL, 32, 16) * np.minimum(job.domain, 8)
    size, half = job.bytes / 1024, p["nvls_chunk_KiB"]
    chunk = np.select([size < 64 * channels, size < 512 * channels, size < 8192 * channels], [16.0, 32.0, 64.0], 128.0)
    return chunk / (chunk + half) * (128 + half) / 128


BLACKWELL = 3  # place among the generations; its switches run 32 channels where Hopper's run 16


def nvls_speed(job: Job, p: Terms) -> Any:
    """GB/s of an all_reduce in the domain's switch: every GPU sends S to it once and its own part of the result."""
    loss = np.maximum(job.domain / 8, 1) ** -p["nvls_domain_loss"]
    return p["nvls_share"] * job.nvlink_GBps * loss * np.minimum(1.125 / (1 + 1 / job.domain), 1) * _chunk(job, p)


def _nvls_parts(job: Job, p: Terms) -> tuple[Any, Any]:
    """(latency, what filling costs)"""
    grows = (job.domain / 8) ** p["nvls_domain_growth"]
    return p["nvls_us"] * p["nvlink_hop"] * grows, _filled(p["nvls_fill_us"], job.bytes, p["nvls_fill_MiB"]) * grows


def _nvls(job: Job, p: Terms) -> Floats:
    """NVLink SHARP inside one domain."""
    latency, fill = _nvls_parts(job, p)
    reduces = job.spec.family == ALL_REDUCE
    if reduces:
        transfer = job.bytes / nvls_speed(job, p)
    else:
        speed = p["nvls_gather_share"] * job.nvlink_GBps * _chunk(job, p)
        transfer = job.bytes * (job.ranks - 1) / job.ranks / speed
        fill = fill * p["nvls_gather_fill"]
    overlap = p["overlap_nvls" if reduces else "overlap"]
    return np.asarray(launch(job, p) + _together(latency, transfer / US, overlap) + fill)


def _nvls_tree(job: Job, p: Terms) -> Floats:
    """NVLink SHARP inside the domains, a double binary tree between them."""
    grows = (job.domain / 8) ** p["nvls_tree_growth"]
    latency = p["nvls_us"] * p["nvlink_hop"] * grows
    hop = TREE_NET_US[2] * p["net_hop"] * p["tree_net_simple"] + job.hop_us + _rendezvous(job, p)
    latency = latency + 2 * levels(job) * hop
    loss = 1 / (1 + p["nvls_tree_loss"] * grows * np.maximum(levels(job) - 1, 0))
    speed = np.minimum(
        p["nvls_tree_share"] * loss * nvls_speed(job, p),
        _net(job, p, job.tree_share) / crossings(job, p["nvls_tree_crossing_share"]),
    )
    deeper = 1 + p["nvls_tree_fill_depth"] * grows * np.maximum(levels(job) - 1, 0)
    fill = _filled(p["nvls_tree_fill_us"] * grows * deeper * p["fill"], job.bytes, p["nvls_tree_fill_MiB"])
    return np.asarray(launch(job, p) + _together(latency, job.bytes / speed / US, p["overlap_nvls"]) + fill)


def _p2p(job: Job, p: Terms) -> Floats:
    """Send and receive: to every rank at once, rail-aligned between domains (PXN), or to the next rank."""
    net = _net(job, p, job.peers_share) * p["p2p_nic_share"] / job.domain
    if job.spec.family == SENDRECV:
        net = net * np.asarray(job.collisions, dtype=np.float64) ** -p["collision"]
    inside = job.nvlink_GBps * np.where(job.pcie, p["pcie_share"], p["p2p_nvlink_share"])
    hops = 2 * p["p2p_net"] * (RING_NET_US[0] + TREE_NET_US[0]) * p["net_hop"] + 2 * (job.hop_us + _rendezvous(job, p))
    latency = p["p2p_hops"] * p["p2p_hop"] * _hop(job, p) + np.where(job.crosses, hops, 0.0)
    latency = latency + p["p2p_peer_us"] * (job.ranks - 1 if job.spec.family == ALLTOALL else 1)
    if job.spec.family == ALLTOALL:
        bridged = (
            job.bytes * (np.asarray(job.bridge) - 1) / job.ranks / np.maximum(job.bridge_GBps * p["p2p_nvlink_share"], 1e-9)
        )
        near = np.maximum(job.bytes * (job.domain - job.bridge) / job.ranks / inside, bridged)
        far = np.where(job.crosses, job.bytes * (job.ranks - job.domain) / job.ranks / net, 0.0)
        slot = np.where(job.pcie, job.bytes * (job.ranks - job.bridge) / job.ranks / inside, 0.0)  # near and far share it
        transfer = np.maximum(np.maximum(near, far), slot)
    else:
        transfer = np.where(job.crosses, job.bytes / net, job.bytes / inside)
    fill = _filled(p["p2p_fill_us"], job.bytes, p["p2p_fill_MiB"])
    return np.asarray(launch(job, p) + _together(latency, transfer / US, p["overlap"]) + fill)


def _inside(job: Job, p: Terms) -> tuple[Any, Any]:
    """(latency, transfer in µs) of a reduce_scatter and an all_gather inside the domains."""
    speed = p["ring_nvlink_share"] * _inside_GBps(job, p)
    latency = 2 * (job.domain - 1) * RING_HOP_US[2] * _hop(job, p)
    return latency, 2 * (job.domain - 1) / job.domain * job.bytes / speed / US


def _hierarchical(job: Job, p: Terms) -> Floats:
    """Reduce_scatter in the domain, a ring on every rail, all_gather in the domain; the three in a pipeline."""
    near_us, near = _inside(job, p)
    step = np.maximum(RING_NET_US[2] * p["net_hop"], p["ring_step_us"] * p["host_step"]) + job.hop_us
    far_us = 2 * (job.domains - 1) * step
    far = 2 * (job.domains - 1) / job.domains * job.bytes / _net(job, p, job.ring_share) / US
    fill = _filled(p["ring_fill_us"], job.bytes, p["ring_fill_MiB"])
    return np.asarray(launch(job, p) + _together(near_us + far_us, np.maximum(near, far), p["overlap"]) + fill)


def _halving(job: Job, p: Terms) -> Floats:
    """Recursive halving and doubling between the domains (Rabenseifner 2004), rail by rail, within them as above.

    Numbers that are no power of two fold the rest in before and after: two more hops, and its bytes twice.
    """
    near_us, near = _inside(job, p)
    whole = np.exp2(np.floor(np.log2(job.domains)))
    odd = whole < job.domains
    hop = RING_NET_US[2] * p["net_hop"] + job.hop_us
    far_us = (2 * np.log2(whole) + 2 * odd) * hop
    volume = (2 * (whole - 1) / whole + 2 * odd) * job.bytes
    far = volume / _net(job, p, job.halving_share) / US
    fill = _filled(p["ring_fill_us"], job.bytes, p["ring_fill_MiB"])
    return np.asarray(launch(job, p) + near_us + far_us + np.maximum(near, far) + fill)


def _in_network(job: Job, p: Terms) -> Floats:
    """Reduction in the switches (SHARP): every byte leaves a domain once and comes back once, whatever their number."""
    near_us, near = _inside(job, p)
    far = job.bytes / _net(job, p, job.tree_share) / US
    latency = near_us + IN_NETWORK_US * p["net_hop"] + job.hop_us * levels(job)
    fill = _filled(p["ring_fill_us"], job.bytes, p["ring_fill_MiB"])
    return np.asarray(launch(job, p) + _together(latency, np.maximum(near, far), p["overlap"]) + fill)
