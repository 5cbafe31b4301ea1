"""Causes of slow collectives, as data: what each changes of a run, and what a log says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fabric.formats import yaml
from fabric.solver.collectives.job import Job

WEIGHT = 30.0
DATA = Path(__file__).parent / "data"
NEEDS = ("network", "planes", "rails", "ecmp", "inside", "nvls", "roce")


@dataclass(frozen=True)
class Effect:
    """What a cause changes of a run; 1 and 0 change nothing."""

    net: float = 1.0  # factor on the bandwidth of the NICs
    nic_most_GBps: float = 0.0  # that one NIC carries; 0: its line rate
    peers: float = 1.0  # factor on the share of alltoall and sendrecv traffic that the network carries
    net_us: float = 0.0  # added to a hop of the network
    nvlink: float = 1.0  # factor on the bandwidth inside a domain
    nvlink_pcie: float = 1.0  # the same where the GPUs of a domain reach each other over PCIe
    ctas: float = 1.0  # factor on the thread blocks of a ring
    nvls: bool = True
    time: float = 1.0  # factor on the whole time
    above_MiB: float = 0.0  # least size to which `time` applies

    def on(self, job: Job) -> Job:
        """The run with the cause, but for `time`."""
        inside = self.nvlink * (self.nvlink_pcie if job.pcie else 1.0)
        changed = replace(
            job,
            nvlink_GBps=job.nvlink_GBps * inside,
            ctas=job.ctas * self.ctas,
            nvls=bool(job.nvls) and self.nvls,
        )
        if not job.crosses:
            return changed
        net = self.net * (min(1.0, self.nic_most_GBps / float(job.nic_GBps)) if self.nic_most_GBps else 1.0)
        return replace(
            changed,
            net_GBps=job.net_GBps * net,
            nic_GBps=job.nic_GBps * net,
            peers_share=job.peers_share * self.peers,
            hop_us=job.hop_us + self.net_us,
        )


@dataclass(frozen=True)
class Cause:
    """One cause, and how to confirm it."""

    name: str
    title: str
    prior: float  # relative to other causes
    weight: float  # of a line or variable that points to it
    needs: tuple[str, ...]  # of NEEDS: what the design must have
    collectives: tuple[str, ...]  # (): all
    effects: tuple[Effect, ...]  # every one is tried
    log: tuple[re.Pattern[str], ...]
    env: tuple[re.Pattern[str], ...]  # on KEY=VALUE without NCCL_
    excludes: tuple[re.Pattern[str], ...]
    example: str  # a line that points to it, "" for none
    confirm: str
    source: str


@dataclass(frozen=True)
class Release:
    """Releases of NCCL with a known loss of speed."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    collectives: tuple[str, ...]
    text: str
    source: str


@cache
def causes() -> tuple[Cause, ...]:
    """Every cause, in the order of the data."""
    entries: Mapping[str, Any] = yaml.read(DATA / "causes.yaml")
    return tuple(_cause(name, entry) for name, entry in entries.items())


def _cause(name: str, entry: Mapping[str, Any]) -> Cause:
    def patterns(key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text, re.MULTILINE) for text in entry.get(key, ()))

    return Cause(
        name=name,
        title=entry["title"],
        prior=float(entry["prior"]),
        weight=float(entry.get("weight", WEIGHT)),
        needs=tuple(entry["needs"]),
        collectives=tuple(entry.get("collectives", ())),
        effects=_effects(entry["effect"]),
        log=patterns("log"),
        env=patterns("env"),
        excludes=patterns("excludes"),
        example=entry.get("example", ""),
        confirm=entry["confirm"],
        source=entry["source"],
    )


def _effects(entry: Mapping[str, list[Any]]) -> tuple[Effect, ...]:
    """An effect for the first, second, … value of each key; shorter lists repeat their last value."""
    count = max(map(len, entry.values()))
    return tuple(Effect(**{key: values[min(at, len(values) - 1)] for key, values in entry.items()}) for at in range(count))


@cache
def releases() -> tuple[Release, ...]:
    """Ranges of NCCL releases with known performance defects, with their sources."""
    return tuple(
        Release(version(entry["first"]), version(entry["last"]), tuple(entry["collectives"]), entry["text"], entry["source"])
        for entry in yaml.read(DATA / "releases.yaml")
    )


def version(text: str) -> tuple[int, ...]:
    """2.19.3 as numbers that compare."""
    return tuple(map(int, text.split(".")))
