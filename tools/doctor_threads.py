"""Whether the doctor names the confirmed cause of closed threads: `python -m tools.doctor_threads`.

Prints one row per thread: its cause, the rank that the doctor gives it, and what it puts first; then both halves and chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabric.formats import yaml
from fabric.solver.collectives.job import measured_job
from fabric.solver.doctor.causes import causes
from fabric.solver.doctor.diagnosis import Curve, Setting, can_concern, diagnose
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.estimate.estimate import band_of
from fabric.solver.estimate.platform_file import platform
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.tables import busbw_factor
from fabric.text import aligned, percent

DATA = Path(__file__).parents[1] / "tests" / "reference" / "threads" / "threads.yaml"
FIRST = 3


@dataclass(frozen=True)
class Answer:
    """What the doctor says of a thread."""

    thread: str
    cause: str
    names: tuple[str, ...]  # of causes in order, () for healthy
    possible: int  # causes that the run can have

    @property
    def judged(self) -> bool:
        """Of the half that no rule was written for."""
        return int(self.thread.rpartition("#")[2]) % 2 == 1

    @property
    def rank(self) -> int:
        """From 1; 0: not named."""
        return self.names.index(self.cause) + 1 if self.cause in self.names else 0

    @property
    def chance(self) -> float:
        """That three random causes contain the right one."""
        return min(1.0, FIRST / self.possible)


def answers(entries: Sequence[Mapping[str, Any]]) -> list[Answer]:
    return [_answer(entry) for entry in entries]


def _answer(entry: Mapping[str, Any]) -> Answer:
    ran, parameters = _platform(entry["platform"]), platform(None)
    curves = []
    for run in entry["runs"]:
        sizes = np.array([float(run["bytes"])])
        job = measured_job(run["collective"], ran, sizes)
        us = sizes * busbw_factor(run["collective"], ran.ranks) / run["busbw_GBps"] / 1e3
        curves.append(Curve(run["collective"], job, us, *band_of(job, parameters)))
    setting = Setting(nics=ran.nics_per_node, rails=ran.nics_per_node == ran.gpus_per_node > 1)
    evidence = Evidence("\n".join(entry.get("log", ())))
    found = diagnose(curves, parameters, evidence, setting)
    possible = sum(any(can_concern(cause, curve, setting, stated=False) for curve in curves) for cause in causes())
    return Answer(entry["thread"], entry["cause"], tuple(item.cause.name for item in found.suspects), possible)


def _platform(block: Mapping[str, Any]) -> MeasuredPlatform:
    from fabric.solver.measured.tables import read_yaml

    values = "\n".join(f"  {key}: {value}" for key, value in block.items())
    text = f"collective: all_reduce\nplatform:\n{values}\nrows:\n- {{bytes: 8, time_us: 1}}\n"
    return read_yaml(text, "thread").platform


def lines(found: Sequence[Answer]) -> list[str]:
    """One row per thread, then the halves."""
    rows = [
        (item.thread, item.cause, str(item.rank or "-"), ", ".join(item.names[:FIRST]) or "healthy")
        for item in sorted(found, key=lambda item: not item.judged)
    ]
    out = [*aligned(rows, "<<><", head=("thread", "cause", "rank", "named")), ""]
    for judged, title in ((True, "odd numbers, judged"), (False, "even numbers")):
        half = [item for item in found if item.judged == judged]
        right = sum(0 < item.rank <= FIRST for item in half)
        chance = float(np.mean([item.chance for item in half]))
        out.append(f"{title}: right among the first three {right} of {len(half)}; chance {percent(chance)}")
    return out


if __name__ == "__main__":
    print("\n".join(lines(answers(yaml.read(DATA)))))
