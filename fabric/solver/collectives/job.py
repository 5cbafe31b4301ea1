"""What a collective runs on: ranks, NVLink domains, NICs, what the fabric leaves of them, and the variables of NCCL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields as fields_of, replace
from functools import cache
from typing import Any

import numpy as np

from fabric.base.formats import yaml
from fabric.base.rounding import ceil_div
from fabric.solver import Bools, Floats, Ints
from fabric.solver.collective import COLLECTIVES, Collective
from fabric.solver.collectives import physics
from fabric.solver.collectives.physics import DATA, transports
from fabric.solver.measured.platform import MAX_CTAS, MeasuredPlatform

# --- environment ----------------------------------------------------------------------------------------------
# The variables of NCCL that come with a transport: its plugin's documentation sets them, and jobs run with them.
#
# A network that NCCL reaches by a plugin has a profile: algorithms, protocols and channels that the plugin is made for.
# Without them an estimate is of runs that are not made in practice. The data is `data/environments.yaml`; what a user or a
# run states goes before it.

ALGORITHMS = {"Ring": "ring", "Tree": "tree", "NVLS": "nvls", "NVLSTree": "nvls_tree"}
MAX_CHANNELS = 64  # NCCL's MAXCHANNELS
PROTOCOLS = {"LL": "ll", "LL128": "ll128", "Simple": "simple"}


@dataclass(frozen=True)
class Environment:
    """What a transport's profile sets."""

    variables: Mapping[str, str]
    source: str = ""
    socket_GBps: tuple[float, ...] = ()  # that one server sends by TCP: least and most of published; (): no sockets
    socket_hop_us: float = 0.0  # the most that a hop by TCP takes longer

    @property
    def text(self) -> str:
        """The variables as a shell sets them."""
        return " ".join(f"{key}={value}" for key, value in self.variables.items())

    def permits(self, key: tuple[str, str], algorithm: str, protocol: str) -> bool:
        """Whether NCCL may take (algorithm, protocol) `key`. A stated `algorithm` or `protocol` (`auto`: none) goes
        before the profile's."""
        name, kind = key
        if name == "p2p":
            return True
        algorithms, protocols = self._words("NCCL_ALGO", ALGORITHMS), self._words("NCCL_PROTO", PROTOCOLS)
        if algorithm == "auto":
            if algorithms and name not in algorithms:
                return False
            if self.variables.get("NCCL_NVLS_ENABLE") == "0" and name in ("nvls", "nvls_tree"):
                return False
        return protocol != "auto" or not protocols or kind in protocols

    def ctas(self, default: int) -> int:
        """CTAs of a ring: NCCL's default inside the profile's limits."""
        least, most = (int(self.variables.get(f"NCCL_{end}_NCHANNELS", 0)) for end in ("MIN", "MAX"))
        return min(max(default, least), most or MAX_CHANNELS)

    def _words(self, key: str, names: Mapping[str, str]) -> frozenset[str]:
        return frozenset(names[word] for word in self.variables.get(key, "").split(",") if word)


NONE = Environment({})


@cache
def environments() -> Mapping[str, Environment]:
    """Transport → its profile, of those that have one."""
    entries: dict[str, Any] = yaml.read(DATA / "environments.yaml")
    return {
        name: Environment(
            variables={key: str(value) for key, value in entry["variables"].items()},
            source=entry["source"],
            socket_GBps=tuple(entry.get("sockets", {}).get("server_GBps", ())),
            socket_hop_us=entry.get("sockets", {}).get("hop_us", 0.0),
        )
        for name, entry in entries.items()
    }


def environment_of(transport: str) -> Environment:
    """The profile of a transport of the data."""
    return environments().get(transport, NONE)


def permitted(transport: Any, key: tuple[str, str], algorithm: str, protocol: str) -> Bools:
    """`Environment.permits` by index of `physics.transports()`, of the shape of `transport`."""
    return np.asarray(_by_index(key, algorithm, protocol)[np.asarray(transport, dtype=np.int64)])


@cache
def _by_index(key: tuple[str, str], algorithm: str, protocol: str) -> Bools:
    return np.array([environment_of(name).permits(key, algorithm, protocol) for name in transports()])


# --- the job --------------------------------------------------------------------------------------------------

DEFAULT_CTAS = 16  # thread blocks of a ring
UNLIMITED = 1e9  # GB/s
WITHOUT_PCIE_SWITCH, PCIE4_GBPS = 4, 31.5  # boards of up to 4 GPUs have no PCIe switch; measured on slots of this rate
CTA_NIC_GBPS = 400.0  # NCCL's search gives a ring one channel of up to 48 GB/s per NIC, and two per NIC of 800G


@dataclass(frozen=True, kw_only=True)
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
    bridge: Any = 1  # ranks that NVLink joins inside a domain of PCIe, such as pairs
    bridge_GBps: Any = 0.0  # of a GPU over its bridge, one direction
    slots: Any = 1.0  # PCIe slots of a bridge that carry a ring to the next one at the same time: between 1 and its GPUs
    environment: Any = 0  # index of physics.transports(): the transport whose variables of NCCL are set
    nvls: Any = False  # the domain's switch reduces, and may
    one_process: Any = False  # one process drives all GPUs of a server
    slot_GBps: Any = (
        UNLIMITED  # line rate between a domain's GPUs and its NICs, one direction: their slots, or the CPU's link
    )
    root_GBps: Any = UNLIMITED  # line rate of a GPU's slot where its NICs are behind the CPU
    hosts: Any = 1.0  # servers of a domain, less than 1 where several communicators share one: they copy the bytes of sockets
    ctas: Any = DEFAULT_CTAS
    ring_share: Any = 1.0
    tree_share: Any = 1.0
    peers_share: Any = 1.0  # share of an alltoall's or sendrecv's traffic that the network carries
    halving_share: Any = 1.0
    collisions: Any = 1.0  # flows on the most loaded link without a plan; 1 on a plan, whose shares include them
    hop_us: Any = 0.0  # extra latency of a network hop over that of one switch

    @property
    def spec(self) -> Collective:
        """What the collective is."""
        return COLLECTIVES[self.collective]

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


def kind_of(job: Job) -> physics.Kind:
    """GPU generation, transport and family of a job."""
    return physics.Kind(physics.generations()[int(job.generation)], physics.transports()[int(job.transport)], job.spec.family)


def nvlink_ranks(job: Job) -> int:
    """Ranks that NVLink joins: of a domain, or of a bridge inside one of PCIe."""
    return int(job.bridge) if job.pcie else int(job.domain)


def default_ctas(nics: int, nic_gbps: float) -> int:
    """CTAs of a ring by default for the NICs of a server: two per search channel (NCCL src/graph/search.cc, connect.cc)."""
    channels = nics * int(np.ceil(nic_gbps / CTA_NIC_GBPS))
    return int(np.clip(2 * channels, DEFAULT_CTAS, MAX_CTAS))


def board(gpu: physics.Gpu, ranks: int, domain_gpus: int) -> dict[str, Any]:
    """Fields of a job that follow from how the GPUs of a whole domain are joined, those that do not take part included.

    Without a switch each pair of GPUs has its own links: some of the GPUs have only those between them. The switch reduces
    for two GPUs of a communicator or more (NCCL 2.28.7, src/transport/nvls.cc, ncclNvlsInit).
    """
    switched = domain_gpus >= gpu.switch_from
    through_cpu = not switched and 1 < domain_gpus <= WITHOUT_PCIE_SWITCH and gpu.pcie_GBps <= PCIE4_GBPS
    between = 1.0 if switched or ranks in (1, domain_gpus) else (ranks - 1) / (domain_gpus - 1)
    root_GBps = gpu.pcie_GBps if through_cpu else UNLIMITED
    return {"nvlink_GBps": gpu.nvlink_GBps * between, "nvls": gpu.nvls and switched and ranks > 1, "root_GBps": root_GBps}


UPLINKS = 32  # assumed for a leaf without a plan: half of 64 ports


@cache
def collisions(flows: int) -> float:
    """Mean number of flows on the most loaded of UPLINKS links by hash, of `flows` in all: balls in bins, simulated."""
    if flows <= 1:
        return 1.0
    draws = np.random.Generator(np.random.PCG64(0)).integers(0, UPLINKS, (2000, min(flows, UPLINKS)))
    return float(np.mean([np.bincount(draw).max() for draw in draws]))


def joined(gpu: physics.Gpu, ranks: int, bridge: int, board_gpus: int) -> dict[str, Any]:
    """Fields of a job that follow from how the ranks of a domain reach each other.

    Bridges are joined by PCIe. NCCL builds rings that enter a bridge at one GPU and leave it at another; how many slots
    they use at the same time depends on switches and sockets that are not described: the geometric mean of one and all,
    and `band_of` takes both ends.

    Args:
        ranks: of a domain.
        bridge: ranks that NVLink joins; fewer than `ranks` where it is PCIe that makes the domain.
        board_gpus: GPUs of the board, those that do not take part included.
    """
    if gpu.nvlink_GBps and ranks <= bridge:
        return board(gpu, ranks, board_gpus)
    fields = {**board(gpu, ranks, board_gpus), "nvlink_GBps": gpu.pcie_GBps, "pcie": ranks > 1, "nvls": False}
    if gpu.nvlink_GBps and bridge > 1:
        fields |= {"bridge": float(bridge), "bridge_GBps": gpu.nvlink_GBps, "slots": float(ranks % bridge or bridge) ** 0.5}
    return fields


def inside(platform: MeasuredPlatform) -> tuple[int, int]:
    """(ranks of a domain, those of them that NVLink joins): a server is one domain where bridges join only some of its
    GPUs."""
    nvlink = max(1, platform.domain_ranks)
    return (nvlink, nvlink) if nvlink >= platform.gpus_per_node else (platform.gpus_per_node, nvlink)


def measured_job(collective: str, platform: MeasuredPlatform, sizes: Floats) -> Job:
    """The job of an nccl-tests run on a network without bottlenecks; `sizes`: [rows], bytes."""
    gpu = physics.gpu(platform.gpu, platform.nvlink_GBps_per_direction, platform.nvlink_domain_gpus)
    domain, bridge = inside(platform)
    domains = ceil_div(platform.ranks, domain)
    net = platform.nics_per_node * platform.nic_gbps / 8 * domain / platform.gpus_per_node
    stated = physics.transport(platform.transport, gpu.generation)
    net = net if domains > 1 and net > 0 else UNLIMITED
    nic = platform.nic_gbps / 8 if domains > 1 and platform.nic_gbps > 0 else UNLIMITED
    fields = joined(gpu, domain, bridge, max(platform.nvlink_domain_gpus, platform.gpus_per_node))
    fields["nvls"] &= platform.nvls is not False
    ctas = environment_of(stated).ctas(default_ctas(platform.nics_per_node, platform.nic_gbps))
    return Job(
        collective=collective,
        bytes=np.asarray(sizes, dtype=np.float64),
        ranks=float(platform.ranks),
        domain=float(domain),
        domains=float(domains),
        net_GBps=net,
        nic_GBps=nic,
        generation=physics.generations().index(gpu.generation),
        transport=physics.transports().index(stated if domains > 1 else "none"),
        environment=physics.transports().index(stated),
        one_process=platform.processes.startswith("one for all"),
        ctas=float(platform.ctas(ctas)),
        hosts=domain / platform.gpus_per_node / platform.communicators,
        slot_GBps=domain * gpu.nic_GBps if domains > 1 else UNLIMITED,
        collisions=collisions(int(domains)) if domains > 2 else 1.0,
        **fields,
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
