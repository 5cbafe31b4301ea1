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
class ProofResult:
    """What a proof or scenario showed."""

    summary: str
    faults: tuple[Fault, ...] = ()
    measured: Mapping[str, Measure] = field(default_factory=dict)
    skipped: bool = False  # the summary says why


def skip(why: str) -> ProofResult:
    return ProofResult(why, skipped=True)


@dataclass(frozen=True, slots=True)
class Proof:
    """One proof."""

    id: str
    title: str
    show: Callable[[Live], ProofResult]


def judged(kind: str, id: str, title: str, shown: ProofResult, seconds: float) -> Result:
    """What was shown, as a result."""
    status = SKIP if shown.skipped else FAIL if shown.faults else PASS
    return Result(
        id=id,
        kind=kind,
        title=title,
        status=status,
        summary=shown.summary,
        faults=shown.faults,
        measured=shown.measured,
        seconds=seconds,
    )


def broke(error: Exception) -> ProofResult:
    """A lab that breaks under a question is a failure with its reason, not the end of the run."""
    return ProofResult("could not run", (Fault("", str(error)),))


def prove(proof: Proof, live: Live) -> Result:
    """Runs one proof."""
    began = time.monotonic()
    try:
        shown = proof.show(live)
    except (LabError, OSError) as error:
        shown = broke(error)
    return judged(PROOF, proof.id, proof.title, shown, time.monotonic() - began)
