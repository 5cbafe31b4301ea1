"""Groups of a parallel job: what a collective takes when every group of a dimension calls it at the same time.

Ranks are laid out as Megatron-LM does: tensor innermost, then data (with expert inside), pipeline outermost. A group is so
many ranks at a stride; those that stand in one NVLink domain talk over NVLink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fabric.rounding import ceil_div
from fabric.solver import Ints
from fabric.solver.collectives import physics
from fabric.solver.collectives.choice import monotone
from fabric.solver.collectives.job import Job
from fabric.solver.collectives.physics import Physics
from fabric.solver.estimate.estimate import ctas_of, gpu_of, transport_of
from fabric.solver.estimate.supply import Supply
from fabric.solver.training.step import Step


def group_times(step: Step, supply: Supply, parameters: Physics) -> Callable[[str, int, int, str], float]:
    """µs of a collective by (collective, ranks, bytes, dimension), on the plan's network and placement."""
    strides = {
        "tensor": 1,
        "data": step.tensor,
        "expert": step.tensor,
        "expert_data": step.tensor * step.expert,
        "pipeline": step.tensor * step.data,
    }
    supplies: dict[tuple[int, int], Supply] = {}

    def time_us(collective: str, ranks: int, size: int, dimension: str) -> float:
        stride = strides[dimension]
        inside, domains = _split(ranks, stride, supply.placement.domain_gpus)
        if domains > 1 and (stride, ranks) not in supplies:
            rows = _rows(domains, inside * stride, supply.placement.domain_gpus, supply.placement.domains)
            supplies[stride, ranks] = replace(supply, groups=rows)
        job = _job(collective, size, ranks, inside, domains, supplies.get((stride, ranks), supply))
        _, times = monotone(job, parameters)
        return float(times[0])

    return time_us


def _split(ranks: int, stride: int, domain: int) -> tuple[int, int]:
    """(ranks of a group in one NVLink domain, NVLink domains that it reaches over)"""
    inside = max(1, min(ranks, domain // stride))
    return inside, ceil_div(ranks, inside)


def _rows(domains: int, span: int, domain: int, all_domains: int) -> Ints:
    """Domains of every group, [groups, domains of one]: `span` ranks lie between the first ranks of two of them."""
    step = max(1, span // domain)
    block = step * domains
    starts = [base + at for base in range(0, all_domains - block + 1, block) for at in range(step)]
    return np.array([[start + step * at for at in range(domains)] for start in starts or [0]], dtype=np.int64) % all_domains


def _job(collective: str, size: int, ranks: int, inside: int, domains: int, supply: Supply) -> Job:
    gpu, placed = gpu_of(supply.placement), supply.placement
    crosses = domains > 1
    share = inside / placed.domain_gpus
    job = Job(
        collective=collective,
        bytes=np.array([size], dtype=np.float64),
        ranks=float(ranks),
        domain=float(inside),
        domains=float(domains),
        nvlink_GBps=gpu.nvlink_GBps or gpu.pcie_GBps,
        pcie=not gpu.nvlink_GBps,
        net_GBps=supply.domain_GBps * share if crosses else 1e9,
        nic_GBps=min(supply.nic_GBps * placed.nic_ports, supply.domain_GBps * share) if crosses else 1e9,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(transport_of(supply) if crosses else "none"),
        nvls=gpu.nvls and inside > 1,
        ctas=float(ctas_of(supply)),
    )
    if not crosses:
        return job
    ring = supply.of("ring")
    tree_share = supply.of("tree").share if collective == "all_reduce" else 1.0
    peers_share = supply.of("peers" if collective == "alltoall" else "stages").share
    return replace(job, ring_share=ring.share, tree_share=tree_share, peers_share=peers_share, hop_us=ring.hop_us)
