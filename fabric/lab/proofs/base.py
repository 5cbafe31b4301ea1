"""What a proof is: a question to a lab that is up, and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fabric.lab.live import Live
from fabric.lab.machine.run import LabError
from fabric.lab.outcome import FAIL, PASS, SKIP, Fault, Measure, Result

PROOF, SCENARIO = "proof", "scenario"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a proof or scenario showed."""

    summary: str
    faults: tuple[Fault, ...] = ()
    measured: Mapping[str, Measure] = field(default_factory=dict)
    skipped: bool = False  # the summary says why


def skip(why: str) -> Shown:
    return Shown(why, skipped=True)


@dataclass(frozen=True, slots=True)
class Proof:
    """One proof."""

    id: str
    title: str
    show: Callable[[Live], Shown]


def prove(kind: str, id: str, title: str, show: Callable[[], Shown]) -> Result:
    """Runs one; a lab that breaks under it is a failure with its reason, not the end of the run."""
    began = time.monotonic()
    try:
        shown = show()
    except LabError as error:
        shown = Shown("could not be tried", (Fault("", str(error)),))
    status = SKIP if shown.skipped else FAIL if shown.faults else PASS
    return Result(id, kind, title, status, shown.summary, shown.faults, shown.measured, time.monotonic() - began)
