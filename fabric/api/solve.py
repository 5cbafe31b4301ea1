"""Capacity and the time of collectives on a plan, and measured tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabric.deliver.acceptance.gates import Gates
    from fabric.deliver.acceptance.judge import Judgment
    from fabric.model.plan import FabricPlan, Plan
    from fabric.solver.capacity.measure import Capacity
    from fabric.solver.collectives.calibrate import Calibration
    from fabric.solver.collectives.score import Score
    from fabric.solver.collectives.validation_report import Validation
    from fabric.solver.doctor.diagnosis import Diagnosis
    from fabric.solver.estimate.calls import Calls
    from fabric.solver.estimate.estimate import Estimate
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.measured.tables import Measured, Table


def estimate(fabric: FabricPlan, request: EstimateRequest, placement: str = "packed") -> tuple[Estimate, Estimate | None]:
    """Estimate the time of a collective on one fabric, by the model of `docs/collectives.md`.

    Args:
        fabric: a fabric of a plan.
        request: collective, sizes in bytes, job and failures.
        placement: `packed`, `spread`, `random:SEED`, or names of servers.

    Returns:
        The estimate (times in µs, bandwidth in GB/s), and the one before the failures; None without failures.

    Raises:
        InputError: unknown name, or a job that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.estimate(fabric, spread_as_planned(fabric, request), placement, PortNames(fabric).port_name)


def spread_beside(found: Estimate, request: EstimateRequest) -> float | None:
    """Estimate the time in µs of the largest size with a packed job spread over the units; None where they hardly differ.

    Args:
        found: the estimate of the packed job.
        request: what was asked.
    """
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.spread_beside(found, spread_as_planned(found.supply.net.fabric, request))


def calls(
    fabric: FabricPlan,
    request: EstimateRequest,
    collectives: Sequence[str] = ("all_reduce", "alltoall"),
    placements: Sequence[str] = ("packed", "spread"),
    worst: bool = False,
) -> Calls:
    """Estimate collectives of one job side by side; none for a fabric that trains nothing.

    Args:
        fabric: a fabric of a plan.
        request: GPUs, the size in bytes, routing and parameters; without failures.
        collectives: names as in nccl-tests.
        placements: as of `estimate`; the job of all has the GPUs of the first.
        worst: each also after the failure of the switch that costs it the most.

    Raises:
        InputError: unknown name, or a job that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.solver.estimate import calls as side_by_side

    if fabric.spec.purpose != "compute" or fabric.sizing.gpus < 2:
        return side_by_side.Calls()
    asked = spread_as_planned(fabric, request)
    return side_by_side.calls(fabric, asked, collectives, placements, worst, PortNames(fabric).port_name)


def capacity(
    fabric: FabricPlan,
    fail: Sequence[str] = (),
    pairs: int = 0,
    seed: int = 0,
    *,
    job: EstimateRequest | None = None,
    placement: str = "packed",
) -> Capacity:
    """Compute cuts, bisection and throughput of one fabric, as shares of NIC speed (`docs/capacity.md`).

    Args:
        fabric: a fabric of a plan.
        fail: devices and links that have failed.
        pairs: number of random pairs of failures to measure.
        seed: seed of the random pairs.
        job: GPUs whose NICs alone are measured; None for all servers.
        placement: where the job is, as of `estimate`.

    Raises:
        InputError: unknown name, or a job that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request
    from fabric.solver.infiniband.static import static

    names = PortNames(fabric).port_name
    found = estimate_request.capacity(fabric, tuple(fail), pairs, seed, names, job=job, placement=placement)
    if fabric.spec.ethernet or job is not None:
        return found
    broken = frozenset(estimate_request.links_down(fabric, tuple(fail), names))
    return replace(found, static=static(fabric, broken))


def tables(paths: Sequence[Path], fabric: FabricPlan | None = None) -> list[Table]:
    """Read measured tables from files and folders: nccl-tests output or YAML.

    Args:
        paths: files and folders.
        fabric: the fabric that output of nccl-tests was measured on, for GPUs, NICs and transport; None where the text
            states them.

    Raises:
        InputError: a file that is neither.
    """
    from fabric.solver.measured.tables import read_all

    if fabric is None:
        return read_all(paths)
    from fabric.solver.estimate.platform import platform_of

    return read_all(paths, platform_of(fabric))


def probe(fabric: FabricPlan, file: str, platform: str) -> list[str]:
    """List the nccl-tests runs that are worth measuring on a fabric, and the command that calibrates with them.

    Args:
        fabric: a fabric of a plan.
        file: intent file, for the command.
        platform: platform file to write, for the command.
    """
    from fabric.solver.estimate.platform import lines

    return lines(fabric, file, platform)


def score(measured: Sequence[Table], platform: Path | None = None) -> Score:
    """Compare the estimate with measured tables: signed errors and their median (`docs/accuracy.md`).

    Args:
        measured: the tables.
        platform: platform file; None for the shipped parameters.

    Raises:
        InputError: mistakes in the platform file.
    """
    from fabric.solver.collectives.score import score as hold
    from fabric.solver.estimate.platform import platform as parameters

    return hold(measured, parameters(platform))


def cross_validate(measured: Sequence[Table], beside: Sequence[Table], split: str, tell: Callable[[str], None]) -> Validation:
    """Compare as `score` does, with parameters fitted again without each source, kind or scale.

    Args:
        measured: tables to fit and score.
        beside: tables to fit only.
        split: what is left out: `source`, `kind`, `scale` (above 128 GPUs), or `points` (as `source`, then calibrated with
            three rows of each table).
        tell: called with the name of each fit that is done.

    Bands of the split `source` come from fits without two groups of sources each.
    """
    from fabric.base.processes import in_chunks
    from fabric.solver.collectives.validation import Predicted, left, predict
    from fabric.solver.collectives.validation_report import Validation

    tasks, predicted_by_split = list(left(measured, beside, split)), dict[str, list[Predicted]]()
    if split == "source":
        tasks += left(measured, beside, "pairs")
    for task, (predicted,) in zip(tasks, in_chunks(predict, tasks, 0, chunk=1, least=2), strict=True):
        tell(task.name)
        predicted_by_split.setdefault(task.split, []).extend(predicted)
    not_scored = {table.id: table.why_not for table in measured if not table.scored_rows}
    return Validation(split, tuple(predicted_by_split.get(split, ())), not_scored, tuple(predicted_by_split.get("pairs", ())))


def calibrate(measured: Sequence[Table], beside: Sequence[Table] = (), base: str = "shipped") -> Calibration:
    """Fit the parameters of the model to measured tables.

    Args:
        measured: tables to fit.
        beside: further tables, with less weight.
        base: start of the fit: `shipped`, `physics` (first values, all free), or a platform file.

    Returns:
        The parameters, and the text of their platform file.

    Raises:
        InputError: tables or platform file that cannot be used.
    """
    from fabric.solver.collectives.calibrate import calibrate as fit

    return fit(measured, beside, base)


def doctor(
    fabric: FabricPlan, files: Sequence[Path], request: EstimateRequest, given: Sequence[Measured] = (), slow: bool = False
) -> Diagnosis:
    """Explain why measured collectives are slower than estimated (`docs/doctor.md`).

    Args:
        fabric: the fabric of the run.
        files: output of nccl-tests, logs of NCCL_DEBUG=INFO, and output of other commands.
        request: routing, queue pairs, failures and platform file.
        given: single measured bandwidths.
        slow: the run is known to be slow, so that causes are named though its times lie in the band.

    Returns:
        Sizes outside the band of the estimate, and the causes by their share; none for a healthy run.

    Raises:
        InputError: a file that is neither, or a run that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.solver.doctor.examine import examine

    return examine(fabric, files, spread_as_planned(fabric, request), PortNames(fabric).port_name, given, slow)


def acceptance(site_plan: Plan, fabric: FabricPlan, request: EstimateRequest) -> Gates:
    """Return the runs that prove a fabric, smallest first, with the bandwidth that each has to reach.

    Args:
        site_plan: the plan.
        fabric: a fabric of it with GPUs.
        request: routing, queue pairs and platform file; "" and 0 for those of the plan.

    Raises:
        InputError: a fabric without GPUs, mistakes in the platform file.
    """
    from fabric.configs.port_names import PortNames
    from fabric.deliver.acceptance.runs import acceptance as runs_of

    return runs_of(site_plan.site, fabric, spread_as_planned(fabric, request), PortNames(fabric).port_name)


def acceptance_files(site_plan: Plan, gates: Gates, intent: str, image: str = "") -> dict[str, str]:
    """Return the folder of an acceptance test: scripts, jobs for Slurm and Kubernetes, gates, by their paths.

    Args:
        site_plan: the plan.
        gates: of one of its fabrics.
        intent: its file, for commands in the texts.
        image: container image with nccl-tests.
    """
    from fabric.configs.hosts.files import nccl_environments
    from fabric.deliver.acceptance.files import files

    return files(gates, intent, nccl_environments(site_plan), image)


def acceptance_gates(folder: Path) -> Gates:
    """Read the gates of a folder that `acceptance_files` made. Raises InputError."""
    from fabric.deliver.acceptance.gates import read

    return read(folder)


def judge(gates: Gates, logs: Sequence[Path], steps: Sequence[str] = (), fabric: FabricPlan | None = None) -> Judgment:
    """Compare logs of nccl-tests and perftest with gates (`docs/acceptance.md`).

    Args:
        gates: what was planned.
        logs: files, and folders of files.
        steps: names of the steps to judge; all if empty.
        fabric: the fabric, to name the likely causes of the first failure; None: they are not asked for.

    Raises:
        InputError: a file that is not there.
    """
    from fabric.configs.port_names import PortNames
    from fabric.deliver.acceptance.judge import judge as verdict, with_causes
    from fabric.deliver.acceptance.logs import read
    from fabric.solver.estimate.request import EstimateRequest

    found = read(gates, logs)
    judgment = verdict(gates, found, steps)
    if fabric is None:
        return judgment
    request = spread_as_planned(fabric, EstimateRequest(routing="", queue_pairs=0))
    return with_causes(judgment, found, fabric, request, PortNames(fabric).port_name)


def spread_as_planned(fabric: FabricPlan, request: EstimateRequest) -> EstimateRequest:
    """Fill in routing and queue pairs from the plan where the request leaves them open."""
    from fabric.configs.hosts.nccl import spreading

    routing, queue_pairs = spreading(fabric, request.routing, request.queue_pairs)
    return replace(request, routing=routing, queue_pairs=queue_pairs)
