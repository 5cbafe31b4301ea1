"""The band of an estimate: where eight of ten measured times lie, from the errors on sources that were left out of the fit.

The spread of the error is a product of factors: message size, family, network, ranks, NVLink domain, and how much of the kind
was measured. Its logarithm is linear in `features`; the 10th and the 90th percentile are multiples of it, by message size.
A fit to few sources has large random errors, so the coefficients are shrunk to 0 (ridge regression).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fabric.base.formats import yaml
from fabric.base.rounding import ceil_div
from fabric.base.text import listed
from fabric.solver import Bools, Floats
from fabric.solver.collective import ALL_REDUCE, FAMILIES, of_family
from fabric.solver.collectives.algorithms import NEVER, monotone
from fabric.solver.collectives.job import DEFAULT_CTAS, Job, environment_of, kind_of, nvlink_ranks
from fabric.solver.collectives.physics import Coverage, Kind, Physics

SIZES: Mapping[str, tuple[float, float]] = {  # above, up to and including, bytes
    "<=64K": (0, 1 << 16),
    "64K-8M": (1 << 16, 1 << 23),
    "8M-256M": (1 << 23, 1 << 28),
    ">256M": (1 << 28, np.inf),
}
CLOUD = ("efa", "efa1", "tcpx", "tcpxo", "slingshot", "ethernet")  # transports other than RDMA on InfiniBand or Ethernet NICs
MIN_RANKS = 8  # of a run and of an NVLink domain; smaller ones count as this size
FLOOR = 0.02  # smallest absolute log error, the accuracy of timers
RIDGE = 3.0
# Lower bounds: extrapolation is never more certain. Few tables are of these kinds, so the fit alone would not show it.
AT_LEAST = {
    "generation in no source": 0.1,
    "transport in no source": 0.1,
    "doublings beyond the largest run": 0.1,
    "doublings beyond the most NVLink domains": 0.1,
    "doublings to a measured NVLink domain": 0.1,
}
LOW, HIGH = 0.1, 0.9  # percentiles of the band
GATES: Mapping[str, tuple[float, float]] = {"<64M": (0, (1 << 26) - 1), ">=64M": ((1 << 26) - 1, np.inf)}  # as SIZES
SLOW: Mapping[str, float] = {"<64M": 0.975, ">=64M": 0.95}
"""Percentiles of the most that a healthy run takes: 95 % of the rows of sources left out take less (tools/gates.py)."""
DATA = Path(__file__).parent / "data" / "band.yaml"


@dataclass(frozen=True)
class Band:
    """Coefficients of the spread of log(measured / estimated), and its percentiles as multiples of the spread by size."""

    coefficients: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    slow: Mapping[str, float]  # by GATES

    def factors(
        self, kind: Kind, sizes: Floats, ranks: int, domain: int, coverage: Coverage, widening: float = 1.0
    ) -> tuple[Floats, Floats, Floats]:
        """(10th, 90th percentile of the time over the estimate, the most of a healthy run) of each size.

        Args:
            sizes: bytes.
            domain: ranks of an NVLink domain.
            known: what the parameters were fitted to.
            own: factor on the spread where the platform itself was measured.
        """
        spread = widening * self._spread(features(kind, sizes, ranks, domain, coverage))
        low, high, slow = (_by_size(values, sizes) for values in (self.low, self.high, self.slow))
        return np.exp(low * spread), np.exp(high * spread), np.exp(np.maximum(slow, high) * spread)

    def _spread(self, columns: Mapping[str, Floats]) -> Floats:
        total: Floats = np.exp(sum(self.coefficients[name] * column for name, column in columns.items()))
        return total

    def document(self) -> dict[str, Any]:
        """The content of `data/band.yaml`."""
        return {name: {key: round(value, 4) for key, value in getattr(self, name).items()} for name in _PARTS}


_PARTS = ("coefficients", "low", "high", "slow")


def within(sizes: Floats, name: str) -> Bools:
    """Whether each message size (bytes, [sizes]) is in a range of SIZES or GATES, [sizes]."""
    low, high = {**SIZES, **GATES}[name]
    return (sizes > low) & (sizes <= high)


def _by_size(values: Mapping[str, float], sizes: Floats) -> Floats:
    """The value of each size's range."""
    return np.select([within(sizes, name) for name in values], list(values.values()))


def features(kind: Kind, sizes: Floats, ranks: int, domain: int, coverage: Coverage) -> dict[str, Floats]:
    """Regressors of the spread by name, each [sizes]; `sizes` in bytes."""
    every = np.ones(len(sizes))
    crosses = kind.transport != "none"
    sources, largest_ranks = coverage.sources(kind), coverage.ranks(kind.family)
    columns = {"constant": every}
    columns |= {name: within(sizes, name).astype(np.float64) for name in list(SIZES)[1:]}
    columns |= {name: every * (kind.family == name) for name in FAMILIES[1:]}
    columns["network"] = every * crosses
    columns["network, <=64K"] = every * crosses * within(sizes, "<=64K")
    columns["doublings of ranks"] = every * np.log2(max(ranks, MIN_RANKS) / MIN_RANKS)
    columns["network, doublings of the NVLink domain"] = every * crosses * np.log2(max(domain, MIN_RANKS) / MIN_RANKS)
    columns["kind in no source"] = every * (sources == 0)
    columns["kind in one source"] = every * (sources == 1)
    columns["generation in no source"] = every * (not coverage.has(generation=kind.generation))
    columns["transport in no source"] = every * (not coverage.has(transport=kind.transport))
    columns["doublings beyond the largest run"] = every * np.log2(max(ranks / max(largest_ranks, 1), 1))
    beyond_domains = coverage.doublings_of_domains(kind, ranks / max(domain, 1))
    columns["doublings beyond the most NVLink domains"] = every * beyond_domains
    columns["doublings to a measured NVLink domain"] = every * coverage.doublings_to_domain(kind, max(domain, 1))
    columns["cloud transport"] = every * (kind.transport in CLOUD)
    return columns


def fit(
    columns: Mapping[str, Floats], sizes: Floats, error: Floats, weight: Floats, slow: Mapping[str, float] = SLOW
) -> Band:
    """Fits the band to errors log(measured / estimated); all arrays [rows], `sizes` in bytes, `slow` percentiles by GATES."""
    names = list(columns)
    matrix = np.stack([columns[name] for name in names], axis=1)
    penalty = np.eye(len(names)) * RIDGE
    penalty[0, 0] = 1e-6
    weighted = matrix.T * weight
    coefficients = np.linalg.solve(weighted @ matrix + penalty, weighted @ np.log(np.abs(error) + FLOOR))
    coefficients = np.maximum(coefficients, [AT_LEAST.get(name, -np.inf) for name in names])
    scaled = error / np.exp(matrix @ coefficients)

    def ends(name: str, share: float) -> float:
        mask = within(sizes, name)
        return percentile(scaled[mask], weight[mask], share)

    return Band(
        coefficients=dict(zip(names, coefficients.tolist(), strict=True)),
        low={name: min(ends(name, LOW), -FLOOR) for name in SIZES},
        high={name: max(ends(name, HIGH), FLOOR) for name in SIZES},
        slow={name: max(ends(name, slow[name]), FLOOR) for name in GATES},
    )


def percentile(values: Floats, weight: Floats, share: float) -> float:
    """Weighted percentile of [rows], `share` from 0 to 1; 0 without rows."""
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(total, share * total[-1])])


@cache
def shipped() -> Band:
    """The band that comes with the program, by `fabric model score --cross-validate` on the reference tables."""
    document: dict[str, Any] = yaml.read(DATA)
    return Band(**{name: document[name] for name in _PARTS})


RACK_FROM = 8
RACKS_DIFFER = (
    "measured racks differ by more than the band: all_reduce of 8 GiB at 701 GB/s (16 GPUs of GB300), 847 (72 of GB200) "
    "and 900 (64 of GB300)"
)


def beyond(kind: Kind, ranks: int, domain: int, coverage: Coverage) -> Sequence[str]:
    """What of a run lies outside of what was measured, as notes, the first of all that widens the band; `domain`: ranks of
    an NVLink domain."""
    if not coverage.kinds:
        return ()
    notes = []
    named, network = " and ".join(of_family(kind.family)), _network(kind)
    if parts := _unmeasured(kind, ranks, domain, coverage):
        distrust = "" if coverage.has_domain(kind, domain) else " and not to be trusted"
        notes.append(f"no measured table of {named} has {'; or '.join(parts)}: the band is wider{distrust}")
    if coverage.sources(kind) == 1:
        notes.append(f"one source alone has measured {named} of {kind.generation} GPUs, {network}: the band is less certain")
    if kind == Kind("blackwell", "none", ALL_REDUCE) and domain > RACK_FROM:
        notes.append(RACKS_DIFFER)
    return tuple(notes)


def _unmeasured(kind: Kind, ranks: int, domain: int, coverage: Coverage) -> list[str]:
    """What no measured table of a collective has, of a run."""
    parts, network = [], _network(kind)
    most = coverage.ranks(kind.family)
    if ranks > most:
        parts.append(f"{ranks:,} GPUs, {f'the largest has {most:,}' if most else 'there is none'}")
    if not coverage.sources(kind):
        if coverage.has(generation=kind.generation) and coverage.has(transport=kind.transport):
            parts.append(f"{kind.generation} GPUs and {network} together")
        return parts
    seen, domains = coverage.kinds[kind], ceil_div(ranks, max(domain, 1))
    beyond_kind = []
    if coverage.doublings_of_domains(kind, domains):
        beyond_kind.append(f"{domains:,} NVLink domains (measured: up to {seen.most_domains:,})")
    if not coverage.has_domain(kind, domain):
        size = f"NVLink domains of about {domain} GPUs" if domain > 1 else "no NVLink between GPUs"
        beyond_kind.append(f"{size} (measured: {listed([str(size) for size in seen.domains])})")
    if beyond_kind:
        parts.append(f"{kind.generation} GPUs, {network} and {' or '.join(beyond_kind)}")
    return parts


def _network(kind: Kind) -> str:
    return "one server or rack" if kind.transport == "none" else kind.transport


# --- reach ----------------------------------------------------------------------------------------------------
# The band of a job: the percentiles of measured errors, and the ends of what nothing measured decides.
#
# Four things of a job can be open. Between the bridges of a server one PCIe slot or all of them carry a ring at the same
# time. Whether the switch of an NVLink domain of an unmeasured size reduces as fast as those that were measured, or NCCL runs
# a ring. On Hopper and later releases of NCCL differ in the CTAs of a ring over the network: two or four for each channel
# (NVIDIA/nccl@5067397c2676 src/graph/connect.cc). And what TCP sockets carry depends on hosts and their threads. The band
# then reaches from the fast to the slow end.

BETWEEN_BRIDGES = (
    "between NVLink bridges a ring uses one PCIe slot or several, by switches and sockets that are not stated: the band has "
    "both ends"
)
OWN_SPREAD = 0.6  # 90th percentile of the error after a calibration by three rows over that before, docs/accuracy.md
FOUR_CTAS = ("hopper", "blackwell")
OWN_REACH = 10  # the band is narrower up to so many times the ranks of a calibration's largest run


def band_of(job: Job, physics_: Physics, algorithm: str = "auto", protocol: str = "auto") -> tuple[Floats, Floats]:
    """(10th, 90th percentile of measured / estimated time), each [sizes of the job]."""
    return spans_of(job, physics_, algorithm, protocol)[:2]


def spans_of(job: Job, physics_: Physics, algorithm: str = "auto", protocol: str = "auto") -> tuple[Floats, Floats, Floats]:
    """(10th, 90th percentile of measured / estimated time, the most of a healthy run), each [sizes of the job]."""
    kind, ranks = kind_of(job), int(job.ranks)
    measured = ranks <= OWN_REACH * physics_.own.get((kind.generation, kind.transport), 0)
    widening = OWN_SPREAD if measured else 1.0
    spans = shipped().factors(kind, np.asarray(job.bytes), ranks, nvlink_ranks(job), physics_.coverage, widening)
    ends = [] if measured else _ends(job, kind, physics_, algorithm)
    if not ends:
        return spans
    low, high, slow = spans
    middle = monotone(job, physics_, algorithm, protocol)[1]
    times = [monotone(end, physics_, word, protocol)[1] / middle for end, word in ends]
    times = [np.where(time < NEVER / middle, time, 1.0) for time in times]
    least, most = np.minimum(1.0, np.minimum.reduce(times)), np.maximum(1.0, np.maximum.reduce(times))
    return low * least, high * most, slow * most


def _ends(job: Job, kind: Kind, physics_: Physics, algorithm: str) -> list[tuple[Job, str]]:
    """(job, algorithm) at the ends of what is open."""
    open_ends = []
    if float(job.slots) > 1:
        open_ends += [(replace(job, slots=1.0), algorithm), (replace(job, slots=float(job.slots) ** 2), algorithm)]
    by_tcp = environment_of(kind.transport)
    if by_tcp.socket_GBps:
        usual = physics_.values[f"socket_GBps.{kind.transport}"]
        least, most = (np.asarray(job.hosts) * end / usual for end in by_tcp.socket_GBps)
        slow = replace(job, hosts=least, hop_us=np.asarray(job.hop_us) + by_tcp.socket_hop_us)
        open_ends += [(slow, algorithm), (replace(job, hosts=most), algorithm)]
    if _few_ctas(job, kind, physics_):
        open_ends.append((replace(job, ctas=job.ctas * 2), algorithm))
    switched = bool(job.nvls) and algorithm == "auto" and "nvls" in job.spec.algorithms
    if switched and not physics_.coverage.has_domain(kind, nvlink_ranks(job)):
        open_ends += [(job, "ring"), (job, "nvls")]
    return open_ends


def _few_ctas(job: Job, kind: Kind, physics_: Physics) -> bool:
    """Whether the default CTAs of a ring over the network move less than its NICs and NVLink, and may be twice as many."""
    if not job.crosses or kind.generation not in FOUR_CTAS or float(job.ctas) > DEFAULT_CTAS:
        return False
    return float(job.ctas) * physics_.values["cta_GBps"] < min(float(job.net_GBps), float(job.nvlink_GBps))
