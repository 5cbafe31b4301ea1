"""The utilisation of the GPUs from one measured step: the only value that no data sheet states."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.solver.training.job import CODE, TrainingJob
from fabric.solver.training.step import TimeOf, step_time

MIN_UTILISATION = 1e-3  # as a JOB file may state it


@dataclass(frozen=True)
class Fitted:
    """The utilisation with which a step takes the measured time."""

    utilisation: float
    low: float  # with the network at the 10th percentile of measured times: less computing remains to explain
    high: float  # at the 90th
    gpu: str  # model of the GPUs

    def lines(self) -> list[str]:
        """What to write into the JOB file."""
        return [
            f"utilisation {self.utilisation:.3f}; {self.low:.3f} to {self.high:.3f} by the band of the collectives",
            "write it in the JOB file:",
            "compute:",
            f"  utilisation: {self.utilisation:.3f}",
            *([f"  measured_on: {self.gpu}"] if self.gpu else []),
        ]


def fitted(job: TrainingJob, time_of: TimeOf, domain_gpus: int, measured_ms: float) -> Fitted:
    """The utilisation that gives a measured step of the job.

    Raises:
        InputError: the job states the computing itself, or no utilisation from 0.001 to 1 gives the time.
    """
    if job.compute.ms:
        hint = "write `tflops_per_gpu` in place of `ms`"
        raise InputError([Diagnostic(CODE, Place("job"), "compute.ms: expected tflops_per_gpu, got ms", hint)])
    sides = ("step_ms", "network_p10_ms", "network_p90_ms")
    middle, low, high = (_solve(job, time_of, domain_gpus, measured_ms, side) for side in sides)
    return Fitted(middle, low, high, job.gpu)


def _solve(job: TrainingJob, time_of: TimeOf, domain_gpus: int, measured_ms: float, side: str) -> float:
    from scipy.optimize import brentq  # heavy: not for a step without a measured one

    def excess(utilisation: float) -> float:
        changed = replace(job, compute=replace(job.compute, utilisation=utilisation))
        return float(getattr(step_time(changed, time_of, domain_gpus), side)) - measured_ms

    fastest, slowest = excess(1.0), excess(MIN_UTILISATION)
    if fastest > 0 and side == "network_p90_ms":
        return 1.0  # the network at its slowest leaves no time for the computing
    if fastest > 0 or slowest < 0:
        limit = f"at least {(fastest + measured_ms) / 1e3:,.3g} s" if fastest > 0 else "a shorter step"
        message = f"expected {limit}, got {measured_ms / 1e3:,.3g} s"
        hint = "check `tflops_per_gpu`, `recompute` and `overlap` of the JOB file"
        raise InputError([Diagnostic(CODE, Place("measured step"), message, hint)])
    return float(brentq(excess, MIN_UTILISATION, 1.0, xtol=1e-9, rtol=1e-9))
