"""What a proof is: a question to a lab that is up, and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fabric.audit.checks import Finding
from fabric.audit.verify.all_faults import all_faults
from fabric.audit.verify.files import of_switch
from fabric.audit.verify.site import Site
from fabric.base.grouping import grouped
from fabric.lab.collect import collect
from fabric.lab.live import Live
from fabric.lab.machine.lldp import Lldp
from fabric.lab.machine.namespaces import LabError
from fabric.lab.outcome import FAIL, PASS, SKIP, Measure, Result, finding

PROOF, SCENARIO = "proof", "scenario"


@dataclass(frozen=True, slots=True)
class ProofResult:
    """What a proof or scenario showed."""

    summary: str
    faults: tuple[Finding, ...] = ()
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
    return ProofResult("could not run", (finding("", str(error)),))


def prove(proof: Proof, live: Live, kind: str = PROOF) -> Result:
    """Runs one proof."""
    began = time.monotonic()
    try:
        shown = proof.show(live)
    except (LabError, OSError) as error:
        shown = broke(error)
    return judged(kind, proof.id, proof.title, shown, time.monotonic() - began)


# --- state ----------------------------------------------------------------------------------------------------
# What a lab reports, judged as `fabric verify` judges switches: one judgment, with the lab as one more source of state.
#
# What state does not show, packets, packet sizes, hosts of EVPN and times after a failure, has proofs of its own.


def site(live: Live, lldp: Lldp | None = None) -> Site:
    """The switches of a lab with their state of this moment."""
    texts = grouped((path.split("/", 1)[0], (path, text)) for path, text in collect(live, lldp=lldp).items())
    seen = {name: of_switch(dict(files)) for name, files in texts.items()}
    return Site(live.lab.plan, seen, live.lab.views.values())


def faults(found: Site, kinds: Iterable[str]) -> tuple[Finding, ...]:
    """Faults of some kinds, in the order of these."""
    every = all_faults(found).faults
    return tuple(dict.fromkeys(finding(one.device, one.message) for kind in kinds for one in every.get(kind, ())))
