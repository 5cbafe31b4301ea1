"""Whether the doctor names the confirmed cause of threads: `python -m tools.doctor_threads [odd|even]`.

Prints one row per thread: its cause, its rank in the answer of the doctor, what comes first; then how often that is right,
beside what the priors alone and three random causes give. Odd numbers of the last batch judged the rules, once, before these
were changed with it (docs/doctor.md); since then no record is unseen.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabric.base.formats import yaml
from fabric.base.text import aligned, percent
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import measured_job
from fabric.solver.collectives.physics import Physics
from fabric.solver.doctor.causes import causes, checks
from fabric.solver.doctor.diagnosis import Curve, Setting, can_concern, diagnose, features
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.estimate.platform import platform
from fabric.solver.measured.platform import MeasuredPlatform

DATA = Path(__file__).parents[1] / "tests" / "reference" / "threads" / "threads.yaml"
FIRST = 3
LAST = 5  # batch, whose odd numbers judged
MAX_NAME_CHARACTERS = 40  # characters of a repository's name, or of a page's address


@dataclass(frozen=True)
class Answer:
    """What the doctor says of a thread."""

    thread: str
    cause: str
    names: tuple[str, ...]  # of causes in order, () for healthy
    possible: int  # causes that the run can have
    closed: bool = True
    shown: tuple[str, ...] = ()  # causes that the test advised first would show
    usual: tuple[str, ...] = ()  # the causes with the largest priors
    batch: int = 1

    @property
    def judged(self) -> bool:
        """Of the half that no rule was written for when it was run."""
        return is_odd(self.thread) and self.batch == LAST

    @property
    def right(self) -> bool:
        """The cause is among the first."""
        return 0 < self.rank <= FIRST

    @property
    def rank(self) -> int:
        """From 1; 0: not named."""
        return self.names.index(self.cause) + 1 if self.cause in self.names else 0

    @property
    def helped(self) -> bool:
        """The cause is among the first, or the test that is advised first shows it."""
        return self.right or self.cause in self.shown

    @property
    def chance(self) -> float:
        """That three random causes contain the right one."""
        return min(1.0, FIRST / self.possible)


def is_odd(thread: str) -> bool:
    """Whether the number of a thread is odd, or crc32 of the address of a page."""
    _, _, number = thread.partition(" ")[0].rpartition("#")
    return (int(number) if number.isdigit() else zlib.crc32(thread.partition(" ")[0].encode())) % 2 == 1


def answers(entries: Sequence[Mapping[str, Any]]) -> list[Answer]:
    return [_answer(entry) for entry in entries]


def _answer(entry: Mapping[str, Any]) -> Answer:
    ran, parameters = _platform(entry["platform"]), platform(None)
    curves = [_curve(run, _platform({**entry["platform"], **run.get("where", {})}), parameters) for run in entry["runs"]]
    rails = ran.gpus_per_node > 1 and ran.nics_per_node > 0 and ran.nics_per_node % ran.gpus_per_node == 0
    setting = Setting(
        planes=entry.get("ports", 1), rails=rails, nics=ran.nics_per_node, nic_gbps=ran.nic_gbps, gpus=ran.gpus_per_node
    )
    evidence = Evidence("\n".join([*entry.get("log", ()), *map(_perftest, entry.get("perftest", ()))]))
    found = diagnose(curves, parameters, evidence, setting, slow=True)  # as each thread says
    possible = [cause for cause in causes() if any(can_concern(cause, curve, setting, stated=False) for curve in curves)]
    has = {need for curve in curves for need, here in features(curve, setting).items() if here}
    usual = sorted(possible, key=lambda cause: -cause.prior_on(has))[:FIRST]
    names = tuple(item.cause.name for item in found.suspects)
    closed = entry.get("state", "closed") == "closed"
    first = found.tests[0].command if found.tests else ""
    shown = tuple(cause for check in checks() if check.command == first for _, seen in check.outcomes for cause in seen)
    by_prior = tuple(cause.name for cause in usual)
    name, batch = " ".join([entry["thread"], *_case(entry)]), entry.get("batch", 1)
    return Answer(
        thread=name,
        cause=entry["cause"],
        names=names,
        possible=len(possible),
        closed=closed,
        shown=shown,
        usual=by_prior,
        batch=batch,
    )


def _case(entry: Mapping[str, Any]) -> list[str]:
    """The name of one of several cases of a text."""
    return [entry["case"]] if "case" in entry else []


def _perftest(run: Mapping[str, Any]) -> str:
    """A rate of perftest as the program prints it."""
    cuda = "initializing CUDA\n" if run["memory"] == "gpu" else ""
    return f"{cuda}RDMA_Write BW Test\nBW average[Gb/sec]\n65536 5000 {run['Gbps']:.2f} {run['Gbps']:.2f} 0.1\n"


def _curve(run: Mapping[str, Any], ran: MeasuredPlatform, parameters: Physics) -> Curve:
    """Measured sizes; `slower` is over the estimate, as after a calibration."""
    sizes = np.atleast_1d(np.array(run["bytes"], dtype=np.float64))
    job = measured_job(run["collective"], ran, sizes)
    low, high = band_of(job, parameters)
    curve = Curve(name=run["collective"], job=job, measured_us=sizes, low=low, high=high)
    curve = replace(curve, algorithm=ran.algorithm, protocol=ran.protocol)
    if "slower" in run:
        return replace(curve, measured_us=curve.estimate(parameters) * run["slower"])
    us = run.get("time_us") or sizes * COLLECTIVES[run["collective"]].busbw(ran.ranks) / np.array(run["busbw_GBps"]) / 1e3
    return replace(curve, measured_us=np.broadcast_to(np.asarray(us, dtype=np.float64), sizes.shape))


def _platform(block: Mapping[str, Any]) -> MeasuredPlatform:
    from fabric.solver.measured.tables import read_yaml

    values = "\n".join(f"  {key}: {value}" for key, value in block.items())
    text = f"collective: all_reduce\nplatform:\n{values}\nrows:\n- {{bytes: 8, time_us: 1}}\n"
    return read_yaml(text, "thread").platform


def lines(found: Sequence[Answer]) -> list[str]:
    """One row per thread, then the halves of the last batch and all before it."""
    rows = [
        (_short(item.thread), item.cause, str(item.rank or "-"), ", ".join(item.names[:FIRST]) or "healthy")
        for item in sorted(found, key=lambda item: (not item.judged, item.batch != LAST, not is_odd(item.thread)))
    ]
    out = [*aligned(rows, "<<><", head=("thread", "cause", "rank", "named")), ""]
    last = [item for item in found if item.batch == LAST]
    for title, half in (
        (f"odd numbers of batch {LAST}", [item for item in last if item.judged]),
        (f"even numbers of batch {LAST}", [item for item in last if not item.judged]),
        ("earlier batches", [item for item in found if item.batch != LAST]),
    ):
        closed = [item for item in half if item.closed]
        if closed:
            out += [f"{title}, closed: {_rate(closed)}", f"{title}, with those still open: {_rate(half)}"]
    return out


def _short(thread: str) -> str:
    """A thread without the end of a long name, a page without the middle of a long address."""
    name, _, number = thread.rpartition("#")
    if name:
        return f"{name[:MAX_NAME_CHARACTERS]}…#{number}" if len(name) > MAX_NAME_CHARACTERS else thread
    address = thread.removeprefix("github.com/")
    return (
        f"{address[: MAX_NAME_CHARACTERS // 2]}…{address[-MAX_NAME_CHARACTERS // 2 :]}"
        if len(address) > MAX_NAME_CHARACTERS
        else address
    )


def _rate(half: Sequence[Answer]) -> str:
    """How often the right cause is among the first, beside what the priors alone and three random causes give."""
    right, chance = sum(item.right for item in half), [item.chance for item in half]
    helped, usual = sum(item.helped for item in half), sum(item.cause in item.usual for item in half)
    return (
        f"right among the first three {right} of {len(half)}, or shown by the first test {helped}; priors alone {usual}; "
        f"chance {percent(float(np.mean(chance)))}, so many by chance {percent(_at_least(right, chance))}"
    )


def _at_least(right: int, chances: Sequence[float]) -> float:
    """Probability of that many successes or more, of independent trials with these chances."""
    exact = np.ones(1)  # probability of 0, 1, … successes so far
    for chance in chances:
        exact = np.convolve(exact, [1 - chance, chance])
    return math.fsum(exact[right:])


def main(half: str = "") -> None:
    entries = yaml.read(DATA)
    chosen = [entry for entry in entries if not half or is_odd(entry["thread"]) == (half == "odd")]
    print("\n".join(lines(answers(chosen))))


if __name__ == "__main__":
    main(*sys.argv[1:])
