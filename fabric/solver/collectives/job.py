"""What a collective runs on: ranks, NVLink domains, the NICs between them, and what the fabric leaves of those."""

from __future__ import annotations

from dataclasses import dataclass, fields as fields_of, replace
from functools import cache
from typing import Any

import numpy as np

from fabric.rounding import ceil_div
from fabric.solver import Floats, Ints
from fabric.solver.collectives import physics
from fabric.solver.measured.platform import MeasuredPlatform

DEFAULT_CTAS, MOST_CTAS = 16, 64  # of a ring
UNLIMITED = 1e9  # GB/s
WITHOUT_PCIE_SWITCH, PCIE4_GBPS = 4, 31.5  # boards of so many GPUs are wired to the CPU; a slot that was measured there
CTA_NIC_GBPS = 400.0  # NCCL's search gives a ring one channel of up to 48 GB/s per NIC, and two per NIC of 800G


@dataclass(frozen=True)
class Job:
    """Columns that broadcast against each other: arrays of one length, or single values that hold for every row.

    A domain is a set of GPUs that reach each other over NVLink or xGMI: a server of eight, or a rack of 72. The shares say
    what the fabric leaves of the NICs' bandwidth for a pattern of traffic: 1 where no link is slower than the NICs.
    """

    collective: str
    bytes: Floats  # as nccl-tests counts them
    ranks: Any
    domain: Any  # ranks of one domain, of the largest
    domains: Any
    nvlink_GBps: Any  # of a GPU, one direction; of its PCIe slot where `pcie`
    net_GBps: Any  # line rate of all NICs of a domain together, one direction
    nic_GBps: Any  # of one NIC
    generation: Any  # index of physics.generations()
    transport: Any  # index of physics.transports()
    pcie: Any = False  # the GPUs of a domain reach each other over PCIe
    nvls: Any = False  # the domain's switch reduces, and may
    one_process: Any = False  # drives all GPUs of a server
    root_GBps: Any = UNLIMITED  # line rate of a GPU's slot where it reaches its NICs through the CPU; else without limit
    ctas: Any = DEFAULT_CTAS
    ring_share: Any = 1.0
    tree_share: Any = 1.0
    peers_share: Any = 1.0  # of an alltoall's, or of send and receive
    halving_share: Any = 1.0
    collisions: Any = 1.0  # flows on the most loaded link of a network that is not known; 1 on a plan, where shares have them
    hop_us: Any = 0.0  # that a network hop takes longer than over one switch

    @property
    def crosses(self) -> Any:
        """Whether the network is used at all."""
        return np.asarray(self.domains) > 1

    @property
    def limited(self) -> bool:
        """Whether the fabric leaves less than the NICs' bandwidth to any row, or adds to the latency of a hop."""
        shares = (self.ring_share, self.tree_share, self.peers_share, self.halving_share)
        return any(bool(np.any(np.asarray(share) != 1.0)) for share in shares) or bool(np.any(np.asarray(self.hop_us) != 0.0))

    def healthy(self) -> Job:
        """The same job on a network that never limits it: what NCCL sees when it chooses."""
        return replace(self, ring_share=1.0, tree_share=1.0, peers_share=1.0, halving_share=1.0, hop_us=0.0)

    def of(self, sizes: Floats) -> Job:
        return replace(self, bytes=np.asarray(sizes, dtype=np.float64))

    def rows(self, places: Ints) -> Job:
        """Some rows of a job whose columns all have one length."""
        names = [item.name for item in fields_of(self) if item.name != "collective"]
        columns: dict[str, Any] = {name: np.asarray(getattr(self, name))[places] for name in names}
        return replace(self, **columns)


def default_ctas(nics: int, nic_gbps: float) -> int:
    """CTAs of a ring by default for the NICs of a server: two per search channel (NCCL src/graph/search.cc, connect.cc)."""
    channels = nics * int(np.ceil(nic_gbps / CTA_NIC_GBPS))
    return int(np.clip(2 * channels, DEFAULT_CTAS, MOST_CTAS))


def board(gpu: physics.Gpu, domain_gpus: int) -> dict[str, Any]:
    """Fields of a job that follow from how the GPUs of a whole domain are joined, those that do not take part included."""
    switched = domain_gpus >= gpu.switch_from
    through_cpu = not switched and 1 < domain_gpus <= WITHOUT_PCIE_SWITCH and gpu.pcie_GBps <= PCIE4_GBPS
    return {
        "nvls": gpu.nvls and switched,
        "root_GBps": gpu.pcie_GBps if through_cpu else UNLIMITED,
    }


UPLINKS = 32  # of a leaf of a network that is not known: half of 64 ports


@cache
def collisions(flows: int) -> float:
    """Mean number of flows on the most loaded of UPLINKS links by hash, of `flows` in all: balls in bins, simulated."""
    if flows <= 1:
        return 1.0
    draws = np.random.Generator(np.random.PCG64(0)).integers(0, UPLINKS, (2000, min(flows, UPLINKS)))
    return float(np.mean([np.bincount(draw).max() for draw in draws]))


def inside(platform: MeasuredPlatform, gpu: physics.Gpu) -> tuple[int, bool]:
    """(ranks of a domain, whether they reach each other over PCIe): GPUs without NVLink, or with NVLink in pairs only, make
    their server one domain of PCIe."""
    ranks = max(1, platform.domain_ranks)
    pcie = platform.gpus_per_node > 1 and (ranks < platform.gpus_per_node or not gpu.nvlink_GBps)
    return (platform.gpus_per_node, True) if pcie else (ranks, False)


def measured_job(collective: str, platform: MeasuredPlatform, sizes: Floats) -> Job:
    """The job of an nccl-tests run on a network without bottlenecks; `sizes`: [rows], bytes."""
    gpu = physics.gpu(platform.gpu, platform.nvlink_GBps_per_direction)
    domain, pcie = inside(platform, gpu)
    domains = ceil_div(platform.ranks, domain)
    net = platform.nics_per_node * platform.nic_gbps / 8 * domain / platform.gpus_per_node
    kind = physics.transport(platform.transport, gpu.generation) if domains > 1 else "none"
    net = net if domains > 1 and net > 0 else UNLIMITED
    nic = platform.nic_gbps / 8 if domains > 1 and platform.nic_gbps > 0 else UNLIMITED
    joined = board(gpu, platform.nvlink_domain_gpus)
    joined["nvls"] &= not pcie and platform.nvls is not False
    return Job(
        collective=collective,
        bytes=np.asarray(sizes, dtype=np.float64),
        ranks=float(platform.ranks),
        domain=float(domain),
        domains=float(domains),
        nvlink_GBps=gpu.pcie_GBps if pcie else gpu.nvlink_GBps or gpu.pcie_GBps,  # one GPU without NVLink: its slot
        pcie=pcie,
        net_GBps=net,
        nic_GBps=nic,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(kind),
        one_process=platform.processes.startswith("one for all"),
        ctas=float(platform.min_ctas or default_ctas(platform.nics_per_node, platform.nic_gbps)),
        collisions=collisions(int(domains)) if domains > 2 else 1.0,
        **joined,
    )


def stack(jobs: list[Job]) -> Job:
    """Jobs of one collective as one, a row for every size of each."""
    counts = [len(job.bytes) for job in jobs]
    columns = {
        item.name: np.concatenate(
            [np.broadcast_to(np.asarray(getattr(job, item.name)), count) for job, count in zip(jobs, counts, strict=True)]
        )
        for item in fields_of(Job)
        if item.name != "collective"
    }
    return Job(collective=jobs[0].collective, **columns)
