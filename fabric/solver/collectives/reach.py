"""The band of a job: the percentiles of measured errors, and the ends of what nothing measured decides.

Three things of a job can be open. Between the bridges of a server one PCIe slot or all of them carry a ring at the same
time. Whether the switch of an NVLink domain of an unmeasured size reduces as fast as those that were measured, or NCCL
runs a ring. And on Hopper and later releases of NCCL differ in the CTAs of a ring over the network: two or four for
each channel (NVIDIA/nccl@5067397c2676 src/graph/connect.cc). The band then reaches from the fast to the slow end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fabric.solver import Floats
from fabric.solver.collectives import band, physics
from fabric.solver.collectives.choice import NEVER, monotone
from fabric.solver.collectives.coverage import Kind
from fabric.solver.collectives.job import DEFAULT_CTAS, Job
from fabric.solver.collectives.physics import Physics

BETWEEN_BRIDGES = (
    "between NVLink bridges a ring uses one PCIe slot or several, by switches and sockets that are not stated: the band has "
    "both ends"
)
OWN_SPREAD = 0.6  # 90th percentile of the error after a calibration with three rows over that before, docs/accuracy.md
FOUR_CTAS = ("hopper", "blackwell")
OWN_REACH = 10  # times the ranks of the largest run of a calibration, where the band is narrower


def kind_of(job: Job) -> Kind:
    """GPU generation, transport and family of a job."""
    return Kind(physics.generations()[int(job.generation)], physics.transports()[int(job.transport)], job.spec.family)


def nvlink_ranks(job: Job) -> int:
    """Ranks that NVLink joins: of a domain, or of a bridge inside one of PCIe."""
    return int(job.bridge) if job.pcie else int(job.domain)


def band_of(job: Job, physics_: Physics, algorithm: str = "auto", protocol: str = "auto") -> tuple[Floats, Floats]:
    """(10th, 90th percentile of measured / estimated time), each [sizes of the job]."""
    kind, ranks = kind_of(job), int(job.ranks)
    measured = ranks <= OWN_REACH * physics_.own.get((kind.generation, kind.transport), 0)
    own = OWN_SPREAD if measured else 1.0
    low, high = band.shipped().factors(kind, np.asarray(job.bytes), ranks, nvlink_ranks(job), physics_.coverage, own)
    ends = [] if measured else _ends(job, kind, physics_, algorithm)
    if ends:
        middle = monotone(job, physics_, algorithm, protocol)[1]
        times = [monotone(end, physics_, word, protocol)[1] / middle for end, word in ends]
        times = [np.where(time < NEVER / middle, time, 1.0) for time in times]
        low = low * np.minimum(1.0, np.minimum.reduce(times))
        high = high * np.maximum(1.0, np.maximum.reduce(times))
    return low, high


def _ends(job: Job, kind: Kind, physics_: Physics, algorithm: str) -> list[tuple[Job, str]]:
    """(job, algorithm) at the ends of what is open."""
    open_ends = []
    if float(job.slots) > 1:
        open_ends += [(replace(job, slots=1.0), algorithm), (replace(job, slots=float(job.slots) ** 2), algorithm)]
    if _few_ctas(job, kind, physics_):
        open_ends.append((replace(job, ctas=job.ctas * 2), algorithm))
    switched = bool(job.nvls) and algorithm == "auto" and "nvls" in job.spec.algorithms
    if switched and not physics_.coverage.has_domain(kind, nvlink_ranks(job)):
        open_ends.append((job, "ring"))
    return open_ends


def _few_ctas(job: Job, kind: Kind, physics_: Physics) -> bool:
    """Whether the default CTAs of a ring over the network move less than its NICs and NVLink, and may be twice as many."""
    if not job.crosses or kind.generation not in FOUR_CTAS or float(job.ctas) > DEFAULT_CTAS:
        return False
    return float(job.ctas) * physics_.values["cta_GBps"] < min(float(job.net_GBps), float(job.nvlink_GBps))
