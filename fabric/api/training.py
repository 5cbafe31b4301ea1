"""Training jobs on a plan: the time of a step, useful time over a year, designs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.api.design import plan
from fabric.api.solve import calls, spread_as_planned

if TYPE_CHECKING:
    from fabric.base.processes import Progress
    from fabric.base.source import Node
    from fabric.deliver.bom.prices import Prices
    from fabric.deliver.compare.designs import Design
    from fabric.deliver.compare.money import YearCost
    from fabric.deliver.explore.report import SweepResult
    from fabric.deliver.explore.request import ExploreRequest
    from fabric.design.intent.intent import Intent
    from fabric.model.plan import FabricPlan, Plan
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.estimate.training import PlacedJob
    from fabric.solver.goodput.goodput import Goodput
    from fabric.solver.training.file import JobText
    from fabric.solver.training.ladder import StepScore
    from fabric.solver.training.step import StepTime
    from fabric.solver.utilisation.utilisation import Utilisation


def step(fabric: FabricPlan, request: EstimateRequest, job: Path, placement: str = "packed") -> StepTime:
    """Estimate the time of a training step (`docs/training.md`).

    Args:
        fabric: a fabric of a plan.
        request: job, routing and failures.
        job: file with the dimensions of the model and its parallelism.
        placement: as of `estimate`.

    Returns:
        Times in µs, with exposed communication by kind of parallelism.

    Raises:
        InputError: mistakes in the file, or a job that does not fit.
    """
    return training_job(fabric, request, job, placement).step()


def training_job(
    fabric: FabricPlan,
    request: EstimateRequest,
    job: Path,
    placement: str = "packed",
    values: Mapping[str, Node] | None = None,
) -> PlacedJob:
    """Place a training job on a fabric: `.step()`, `.sweep()` of variants, `.utilisation()` of a measured step.

    Args:
        fabric: a fabric of a plan.
        request: job, routing and failures.
        job: the JOB file.
        placement: as of `estimate`.
        values: other values of dotted keys of the JOB file.

    Raises:
        InputError: unknown name, or a job that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.solver.estimate.training import placed

    return placed(fabric, spread_as_planned(fabric, request), job, placement, PortNames(fabric).port_name, values)


def score_steps(
    file: Path, fabric_of: Callable[[Path], FabricPlan], contrast: bool = False, intent: Path | None = None
) -> StepScore:
    """Compare predicted training steps with measured ones.

    Args:
        file: ladders of measured steps (`docs/training.md`).
        fabric_of: the fabric of an intent that the file names.
        contrast: compare ratios to the first row, with nothing fitted; else the utilisation is fitted at the first row.
        intent: design in place of those that the file names.

    Raises:
        InputError: mistakes in the file, or a job that does not fit.
    """
    from functools import cache

    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.training import ladder

    planned = cache(fabric_of)

    def place(row: ladder.Row, values: Mapping[str, float | str] | None = None) -> PlacedJob:
        request = EstimateRequest(
            gpus=row.gpus,
            gpus_per_domain=row.gpus_per_domain,
            fail=row.fail,
            routing=row.routing,
            queue_pairs=row.queue_pairs,
        )
        return training_job(planned(row.intent), request, row.job, row.placement, row.with_values(values or {}))

    return ladder.score(
        ladder.read(file, intent),
        contrast,
        lambda row: place(row).utilisation(row.seconds).utilisation,
        lambda row: place(row).gpu,
        lambda row, values: place(row, values).time(),
    )


def goodput(
    fabric: FabricPlan, site_plan: Plan, request: EstimateRequest, job: Path | JobText, placement: str = "packed"
) -> Goodput:
    """Estimate what a design is worth to a job over a year: interruptions, checkpoints, useful time (`docs/goodput.md`).

    Args:
        fabric: the fabric of the job.
        site_plan: its plan, for the media of the cables and the storage.
        request: job, routing and failures that are there from the beginning.
        job: the JOB file, with its sections `checkpoint` and `failures`.
        placement: as of `estimate`.

    Raises:
        InputError: a mistake of the file, or a job that does not fit the fabric.
    """
    from fabric.configs.port_names import PortNames
    from fabric.deliver.cabling.runs import optical
    from fabric.solver.goodput.goodput import goodput as evaluate

    light = optical(site_plan, fabric.name)
    names = PortNames(fabric).port_name
    return evaluate(fabric, spread_as_planned(fabric, request), job, placement, light, names, fabrics=site_plan.fabrics)


def year_cost(site_plan: Plan, result: Goodput, prices: Prices) -> YearCost:
    """Price a year of a job: the GPU-hours that it uses and loses, by cause, and its network.

    Args:
        site_plan: the plan of the job's site.
        result: its goodput.
        prices: price file.
    """
    from fabric.deliver.compare import designs, money

    cost = money.year_cost(designs.bill_of(site_plan, prices), result, designs.site_gpus(site_plan))
    assert cost is not None
    return cost


def utilisation(fabric: FabricPlan, jobs: Path, placements: Sequence[str] = (), seed: int = 0, **more: Any) -> Utilisation:
    """Simulate a mix of jobs on a fabric: GPUs and bandwidth in use, and what is idle (`docs/utilisation.md`).

    Args:
        fabric: the fabric of the jobs.
        jobs: YAML list of sizes, or output of `sacct --json`.
        placements: `packed`, `topology`, `strict`; none: all of them.
        seed: of the draws.
        more: `partition` of Slurm; `full`: a queue that never ends.

    Raises:
        InputError: a mistake of the file, or a fabric without GPUs.
    """
    from fabric.solver.utilisation import jobs as job_list
    from fabric.solver.utilisation.simulate import POLICIES
    from fabric.solver.utilisation.utilisation import utilisation as simulate

    mix = job_list.read(jobs, more.pop("partition", ""))
    return simulate(fabric, mix, placements or tuple(POLICIES), seed=seed, **more)


def design(
    name: str,
    intent: Intent,
    site_plan: Plan,
    fabric: FabricPlan,
    request: EstimateRequest,
    job: Path | None = None,
    *,
    placement: str = "packed",
    prices: Path | None = None,
) -> Design:
    """Measure one design for a comparison: parts, power, collectives; with a job its step, goodput and cost.

    The collectives are packed and spread, healthy and after the worst failure of a switch.

    Args:
        name: of the design.
        intent: its intent, for models of its own that the price file names.
        site_plan: its plan.
        fabric: the fabric that is compared.
        request: GPUs, size of the collectives (default 1 GiB) and platform file.
        job: the JOB file with its `checkpoint` section; None without.
        placement: of the job, as of `estimate`.
        prices: price file; None without cost.

    Raises:
        InputError: a mistake of a file, or a job that does not fit the fabric.
    """
    from fabric.deliver.bom.prices import read
    from fabric.deliver.compare import designs

    stated = read(prices, intent.catalog, str(prices)) if prices else None
    useful = goodput(fabric, site_plan, request, job, placement) if job else None
    asked = replace(request, sizes=request.sizes or (designs.CALL_BYTES,), gpus=useful.gpus if useful else request.gpus)
    design_calls = calls(fabric, asked, placements=tuple(dict.fromkeys((placement, "packed", "spread"))), worst=True)
    return designs.design(
        name, fabric, designs.bill_of(site_plan, stated), design_calls, useful, designs.site_gpus(site_plan)
    )


def explore(
    intent: Intent, request: ExploreRequest, jobs: int, dask: str, journal: Path | None, progress: Progress
) -> SweepResult:
    """Plan and measure every design of a sweep.

    Args:
        intent: the base design.
        request: what varies, and the objectives.
        jobs: processes; 0 for one per core.
        dask: address of a Dask scheduler, in place of processes; "" for none.
        journal: file of results, to continue an interrupted sweep.
        progress: progress bar.

    Raises:
        InputError: an unknown dimension, value or objective.
        MissingError: the Dask cluster is missing or lost.
    """
    from fabric.deliver.explore.measure import Stages
    from fabric.deliver.explore.report import explore as sweep

    return sweep(intent, request, Stages(plan, calls, goodput), jobs, dask, journal, progress=progress)
