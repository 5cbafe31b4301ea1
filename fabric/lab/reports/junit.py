"""An outcome as test results: a suite of proofs and one of scenarios. What is not emulated is no test."""

from __future__ import annotations

from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.junit import junit
from fabric.base.text import printable
from fabric.lab.outcome import FAIL, SKIP, Outcome, Result
from fabric.lab.reports.words import by_kind, fault_text, folded, measures


def report(outcome: Outcome) -> str:
    """A suite for each kind of result."""
    site = printable(outcome.site)
    suites = [
        Suite(
            f"fabric lab test: {site}: {kind}s",
            [_case(result, f"fabric.lab.{site}.{kind}s") for result in results],
            _time(sum(result.seconds for result in results)),
        )
        for kind, results in by_kind(outcome).items()
    ]
    return junit("fabric lab test", suites, _time(outcome.seconds))


def _case(result: Result, classname: str) -> Case:
    """Faults are the text of the failure; a summary that is no reason, and what was measured, are output."""
    summary, output = printable(result.summary), measures(result)
    faults = [fault_text(fault) for fault in folded(result.faults)]
    failed, skipped = result.status == FAIL, result.status == SKIP
    if not failed:
        output = [*output, *faults] if skipped else [summary, *output, *faults]
    return Case(
        name=printable(result.title),
        classname=classname,
        time=_time(result.seconds),
        failure=Failure(FAIL, summary, "\n".join(faults) or summary) if failed else None,
        skipped=summary if skipped else None,
        output="\n".join(output),
    )


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
