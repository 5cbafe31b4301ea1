"""The next test: the one with most information about the cause per minute, from the shares of all explanations."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from fabric.base.formats import yaml
from fabric.solver.doctor.causes import DATA

WRONG = 0.1  # probability that a test shows something else than its cause gives
MAX_TESTS = 3  # tests that are named
MIN_BITS = 0.05


@dataclass(frozen=True)
class Check:
    """A test, and what is seen with which causes."""

    command: str
    minutes: int
    needs: tuple[str, ...]
    given: re.Pattern[str] | None  # text that shows that it was made
    outcomes: tuple[tuple[str, tuple[str, ...]], ...]  # what is seen, and the causes it is seen with

    def bits(self, shares: Mapping[str, float]) -> float:
        """Information about the cause that the outcome gives, in bits: mutual information with a test that errs."""
        count = len(self.outcomes) + 1  # and nothing of them
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
            tuple((seen, tuple(causes)) for seen, causes in entry["outcomes"].items()),
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
