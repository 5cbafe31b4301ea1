"""Causes of slow collectives as data: what each changes of a run, what a text says of it, and which test to make next."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fabric.base.formats import yaml
from fabric.solver.collectives.job import Job

WEIGHT = 30.0
FLAT = 0.5  # prior weight of a cause without any thread
TAIL = 0.4  # share of runs whose severity is not a usual value but anywhere up to the extreme
STEPS = 8  # severities between the usual and the extreme value
DATA = Path(__file__).parent / "data"
NEEDS = (
    "network",
    "planes",
    "rails",
    "ecmp",
    "inside",
    "nvlink",
    "nvls",
    "roce",
    "nics",
    "plugin",
    "alone",
    "pairs",
    "rack",
    "rdma",
)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a cause changes of a run; 1 and 0 change nothing."""

    net: float = 1.0  # factor on the bandwidth of the NICs
    nic_most_GBps: float = 0.0  # limit of one NIC; 0: its line rate
    peers: float = 1.0  # factor on the share of alltoall and sendrecv traffic that the network carries
    net_us: float = 0.0  # additional time of a hop of the network
    nvlink: float = 1.0  # factor on the bandwidth inside a domain
    nvlink_pcie: float = 1.0  # the same where the GPUs of a domain reach each other over PCIe
    ctas: float = 1.0  # factor on the thread blocks of a ring
    nvls: bool = True
    time: float = 1.0  # factor on the whole time
    above_MiB: float = 0.0  # least size to which `time` applies
    algorithm: str = ""  # runs instead of NCCL's choice; "": none

    @property
    def kind(self) -> tuple[str, ...]:
        """Names of what it changes."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def on(self, job: Job) -> Job:
        """The run with the cause, but for `time`."""
        inside = self.nvlink * (self.nvlink_pcie if job.pcie else 1.0)
        changed = replace(
            job, nvlink_GBps=job.nvlink_GBps * inside, ctas=job.ctas * self.ctas, nvls=bool(job.nvls) and self.nvls
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
class Sign:
    """Text that points to a cause or speaks against it."""

    pattern: re.Pattern[str]
    weight: float  # ratio of its frequency in runs with the cause to that in others
    where: str = ""  # one of NEEDS: counts only on designs that have it


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One cause, and how to confirm it."""

    name: str
    title: str
    seen: tuple[str, ...]  # threads that confirm the cause, counted for its prior
    weight: float  # of a line or variable that points to the cause
    needs: tuple[str, ...]  # of NEEDS: the design must have all of them
    often: tuple[tuple[str, float], ...]  # (one of NEEDS, factor on the prior of designs that have it)
    collectives: tuple[str, ...]  # that it can slow; (): all
    effects: tuple[Effect, ...]  # of the usual severities
    gradual: bool  # severities between two usual ones occur as well
    tails: tuple[tuple[str, tuple[Effect, ...]], ...]  # (key of `extreme`, effects up to it)
    log: tuple[Sign, ...]
    env: tuple[Sign, ...]  # patterns of KEY=VALUE, KEY without NCCL_
    excludes: tuple[Sign, ...]
    silent: float  # ratio of the frequency of a whole log without any sign of the cause, in runs with it to others
    example: str  # a line that points to the cause, "" for none
    confirm: str
    source: str

    @property
    def prior(self) -> float:
        """Relative to other causes: the mean of a Dirichlet distribution, flat before the threads were counted."""
        return FLAT + len(self.seen)

    def prior_on(self, has: Container[str]) -> float:
        """The prior on a design that has these of NEEDS."""
        return self.prior * math.prod(factor for need, factor in self.often if need in has)


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
    weight = float(entry.get("weight", WEIGHT))

    def signs(key: str) -> tuple[Sign, ...]:
        return tuple(_sign(item, weight) for item in entry.get(key, ()))

    effects = _effects(entry["effect"])
    return Cause(
        name=name,
        title=entry["title"],
        seen=tuple(entry.get("seen", ())),
        weight=weight,
        needs=tuple(entry["needs"]),
        often=tuple((need, float(factor)) for need, factor in entry.get("often", {}).items()),
        collectives=tuple(entry.get("collectives", ())),
        effects=effects,
        gradual=bool(entry.get("gradual", True)),
        tails=tuple((key, _tail(effects, key, float(value))) for key, value in entry.get("extreme", {}).items()),
        log=signs("log"),
        env=signs("env"),
        excludes=signs("excludes"),
        silent=float(entry.get("silent", 1)),
        example=entry.get("example", ""),
        confirm=entry["confirm"],
        source=entry["source"],
    )


def _sign(item: str | Mapping[str, Any], weight: float) -> Sign:
    if isinstance(item, str):
        return Sign(re.compile(item, re.MULTILINE), weight)
    return Sign(re.compile(item["line"], re.MULTILINE), float(item.get("weight", weight)), item.get("where", ""))


def _tail(effects: Sequence[Effect], key: str, extreme: float) -> tuple[Effect, ...]:
    """Severities of one key from its mildest usual value to the extreme, in equal ratios."""
    usual = [value for effect in effects if (value := getattr(effect, key)) != getattr(Effect(), key)]
    mildest = max(usual, key=lambda value: abs(math.log(value / extreme)))
    ratio = (extreme / mildest) ** (1 / (STEPS - 1))
    above = max(effect.above_MiB for effect in effects)
    return tuple(Effect(**{key: mildest * ratio**step, "above_MiB": above}) for step in range(STEPS))


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


# --- checks ---------------------------------------------------------------------------------------------------
# The next test: the one with most information about the cause per minute, from the shares of all explanations.

WRONG = 0.1  # probability that a test does not show the outcome of its cause
MAX_TESTS = 3  # in a report
MIN_BITS = 0.05


@dataclass(frozen=True)
class Check:
    """A test, and what is seen with which causes."""

    command: str
    minutes: int
    needs: tuple[str, ...]
    given: re.Pattern[str] | None  # text that shows that the test was made
    outcomes: tuple[tuple[str, tuple[str, ...]], ...]  # (what the test shows, causes that it shows it with)

    def bits(self, shares: Mapping[str, float]) -> float:
        """Information about the cause that the outcome gives, in bits: mutual information with a test that errs."""
        count = len(self.outcomes) + 1  # one more: none of them is seen
        seen = {cause: at for at, (_, causes) in enumerate(self.outcomes) for cause in causes}
        likely = np.full((len(shares), count), WRONG / (count - 1))
        likely[np.arange(len(shares)), [seen.get(cause, count - 1) for cause in shares]] = 1 - WRONG
        share = np.array(list(shares.values())) / sum(shares.values())
        outcome = share @ likely
        return float(np.sum(share[:, None] * likely * np.log2(likely / outcome)))


@dataclass(frozen=True)
class Next:
    """A test that is advised."""

    command: str
    minutes: int
    bits: float
    outcomes: tuple[tuple[str, tuple[str, ...]], ...]  # with causes that have a share, the most likely first


@cache
def checks() -> tuple[Check, ...]:
    """Every test, in the order of the data."""
    return tuple(
        Check(
            entry["command"],
            int(entry["minutes"]),
            tuple(entry["needs"]),
            re.compile(entry["given"], re.MULTILINE) if entry["given"] else None,
            tuple((outcome, tuple(causes)) for outcome, causes in entry["outcomes"].items()),
        )
        for entry in yaml.read(DATA / "checks.yaml")
    )


def advised(shares: Mapping[str, float], has: Container[str], text: str, least: float) -> tuple[Next, ...]:
    """Tests that were not made, most information per minute first.

    Args:
        shares: of every cause, and of a healthy run under another name.
        has: what the design has, of NEEDS.
        text: of the run.
        least: share of a cause that is named as an outcome.
    """
    open_ = [
        (check.bits(shares), check)
        for check in checks()
        if all(need in has for need in check.needs) and not (check.given and check.given.search(text))
    ]
    best = sorted(
        (item for item in open_ if item[0] >= MIN_BITS), key=lambda item: (-item[0] / item[1].minutes, item[1].command)
    )
    return tuple(Next(check.command, check.minutes, bits, _named(check, shares, least)) for bits, check in best[:MAX_TESTS])


def _named(check: Check, shares: Mapping[str, float], least: float) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Outcomes with the causes that are likely enough."""
    out = []
    for seen, causes in check.outcomes:
        likely = sorted((cause for cause in causes if shares.get(cause, 0.0) >= least), key=lambda cause: -shares[cause])
        if likely:
            out.append((seen, tuple(likely)))
    return tuple(out)
