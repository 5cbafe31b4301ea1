"""The product in one page: an intent becomes a plan, the plan becomes files.

    load ──▶ Intent ──plan──▶ Plan ─┬─render──▶ files of each switch and server ──generate──▶ generated/<site>/
                                    │                    └──read back──▶ facts ──check──▶ findings with their lines
                                    ├─check──▶ findings in the intent
                                    ├─capacity──▶ cuts, throughput, what failures leave
                                    ├─estimate, step──▶ time of collectives, of a training step
                                    ├─diff──▶ changes by another intent: design, capacity, configs
                                    ├─lab──▶ real routing daemons on the generated files, tested with failures
                                    ├─report, export──▶ a page to read, files for other tools
                                    └─bill, verify──▶ what to order, and whether the cabling is as planned
    Intent ──explore──▶ every design of a sweep, and those on the Pareto front

Every step takes and returns typed values, so a program can use one without the others. A `Lock` holds the names, AS numbers,
addresses and ports that earlier runs assigned and that must not change. `docs/api.md` has examples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabric.intent.intent import Intent as Intent
from fabric.plan.lock import Lock
from fabric.planner.resolve import resolve

if TYPE_CHECKING:
    from fabric.bom.bill import Bandwidth, Bill
    from fabric.bom.gather import BomRequest
    from fabric.bom.prices import Prices
    from fabric.cabling.labels import Sheet
    from fabric.cabling.run_list import RunList
    from fabric.cabling.verify.finding import Verdict
    from fabric.catalog.asics import Asic
    from fabric.catalog.models import ServerModel, SwitchModel
    from fabric.catalog.power import PowerRange
    from fabric.catalog.power_class import Held
    from fabric.checks import Outcome, Scope
    from fabric.compare.designs import Design
    from fabric.compare.money import YearCost
    from fabric.configs import Renderer
    from fabric.diagnostics import Diagnostic, Warnings
    from fabric.diff.compare import Diff, DiffRequest
    from fabric.drift.devices import SiteDrift
    from fabric.explore.report import SweepResult
    from fabric.explore.request import ExploreRequest
    from fabric.export.formats import Exported
    from fabric.generate import Generation
    from fabric.intent.draft import Draft
    from fabric.inventory.engine import Pushed
    from fabric.inventory.push import PushRequest
    from fabric.lab.lab import Lab
    from fabric.moves import Changes
    from fabric.nos.target import Target
    from fabric.plan import FabricPlan, Plan
    from fabric.qos.headroom import Headroom
    from fabric.report.beside.designs import Side
    from fabric.report.request import ReportRequest
    from fabric.solver.capacity.measure import Capacity
    from fabric.solver.collectives.calibrate import Calibration
    from fabric.solver.collectives.score import Score
    from fabric.solver.collectives.validation_report import Validation
    from fabric.solver.doctor.diagnosis import Diagnosis
    from fabric.solver.estimate.estimate import Estimate
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.estimate.training import PlacedJob
    from fabric.solver.goodput.goodput import Goodput
    from fabric.solver.measured.tables import Table
    from fabric.solver.training.file import JobText
    from fabric.solver.training.ladder import StepScore
    from fabric.solver.training.step import StepTime
    from fabric.solver.utilisation.utilisation import Utilisation
    from fabric.source import Node
    from fabric.verify.verify import SiteState
    from fabric.workers import Progress


def init(draft: Draft, shown: str, schema: bool = False) -> str:
    """Return a short commented intent.

    Args:
        draft: model and number of servers, and the choices to write.
        shown: name of the file, for messages.
        schema: add a line that names the JSON Schema, for editors.

    Raises:
        InputError: the draft is not a valid intent.
    """
    from fabric.intent.draft import check as look, write

    text = write(draft, schema=schema)
    look(text, shown)
    return text


def schema(document: str = "") -> str:
    """Return a JSON Schema: of the intent, or of the named `--json` document (names: `docs/glossary.md`)."""
    from fabric import schemas
    from fabric.intent import schema as language

    return schemas.text(document) if document else language.text()


def catalog() -> tuple[Mapping[str, SwitchModel], Mapping[str, ServerModel]]:
    """Return the switches and servers of the catalog, by model."""
    from fabric import catalog as hardware

    switches = {model: switch for model in hardware.switch_names() if (switch := hardware.switch(model))}
    return switches, {model: server for model in hardware.server_names() if (server := hardware.server(model))}


def catalog_power() -> Mapping[str, Mapping[str, PowerRange]]:
    """Return the power of the catalog's hardware in W: kind (switches, servers, NICs, optics and cables) → model → range."""
    from fabric.catalog import power

    switches, servers = catalog()
    return {
        "switches": {name: power.switch_range(model) for name, model in switches.items()},
        "servers": {name: power.server_range(model) for name, model in servers.items()},
        "nics": power.nics(),
        "modules": power.modules(),
    }


def catalog_power_check() -> Sequence[Held]:
    """Return the power figures of the switches beside the bounds of their class, each made without its own data sheet."""
    from fabric.catalog.power_class import leave_out

    return leave_out()


def vendors() -> Mapping[str, Target]:
    """Return the installed network OSes, by name."""
    from fabric.nos.target import targets

    return targets()


def headroom(asic: Asic | None, speed_gbps: int, length_m: int, mtu_bytes: int, **more: Any) -> Headroom:
    """Compute the PFC headroom of one lossless priority of a port (IEEE 802.1Qbb; terms in `docs/headroom.md`).

    Args:
        asic: chip, None if unknown.
        speed_gbps: port speed in Gb/s.
        length_m: cable length in m.
        mtu_bytes: largest frame in bytes.
        more: further arguments of `fabric.qos.headroom.headroom`.
    """
    from fabric.qos.headroom import headroom as compute

    return compute(asic, speed_gbps, length_m, mtu_bytes, **more)


def load(path: Path, output: Path | None = None) -> Intent:
    """Read and check an intent.

    Args:
        path: the YAML file.
        output: folder in place of the `output` of the intent.

    Raises:
        InputError: all mistakes of the file, or an output folder that is a symlink.
    """
    from fabric.intent import revision

    return revision.load(path, output)


def summarize(intent: Intent) -> dict[str, Any]:
    """Return counts, ports, ratios and limits of every fabric, by name: sizing only, so fast at any size."""
    from fabric.planner.summarize import summarize as counts

    return counts(intent)


def plan(intent: Intent, known: Lock | None = None) -> Plan:
    """Size, wire and number every fabric.

    Args:
        intent: the design to plan.
        known: values to keep; None reads the lock file of the site.

    Raises:
        InputError: the intent has no plan, with the limit that is exceeded.
    """
    from fabric.configs import targets
    from fabric.planner.site import plan_site

    known = numbers(intent) if known is None else known
    site = resolve(intent.site, intent.source, intent.home)
    site_plan = plan_site(site, known, targets.choose(site.fabrics))
    targets.refuse_stated(site_plan)
    stopped = stopped_run(intent)
    return replace(site_plan, warnings=(*site_plan.warnings, stopped)) if stopped else site_plan


def stopped_run(intent: Intent) -> Diagnostic | None:
    """Return a warning if an earlier `generate` was interrupted: the output folder may hold files of two designs."""
    from fabric.standing import unfinished_run

    return unfinished_run(intent.home, intent.source.place(("site",))) if intent.site.output.keep else None


def numbers(intent: Intent) -> Lock:
    """Read the lock file of the site; without one the lock is empty.

    Raises:
        InputError: the file is not a lock file.
    """
    from fabric.plan import lock_file as lock

    return lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)


def explain(intent: Intent, subject: str) -> list[str]:
    """Return the arithmetic behind one value, as lines of text.

    Args:
        intent: the design.
        subject: `backend.spines`, a device, a port, an address or an AS number.

    Raises:
        InputError: unknown subject.
    """
    from fabric.explain.subject import explain as find
    from fabric.planner.site import size_site

    known = numbers(intent)
    sized = size_site(resolve(intent.site, intent.source, intent.home), known)
    return find(subject, sized, known, lambda: plan(intent, known), str(intent.path))


def moves(intent: Intent, against: str) -> Changes:
    """Return devices and cables that change from an older intent, and the order of work.

    Args:
        intent: the new design.
        against: the older intent, a file or `git:REV`.

    Raises:
        InputError: one of the two has no plan.
    """
    from fabric.intent import revision
    from fabric.moves import difference

    before, known = revision.read(against, intent.path, intent.folder)
    old = plan(before, known)
    return difference(old, plan(intent, old.lock))  # on the old numbers, whether they were ever written or not


def render(site_plan: Plan, intent: Intent) -> Renderer:
    """Return the renderer of the files of every switch, with the overrides of the intent applied.

    Raises:
        InputError: an override that matches no device or cannot be applied.
    """
    from fabric.configs import Renderer

    return Renderer(site_plan, intent.path.absolute().parent)


def generate(
    intent: Intent, limit: str = "", jobs: int = 0, progress: Progress | None = None, renumber: bool = False
) -> Generation:
    """Plan a site: `.check()` and `.diff()` compare with the output folder, `.write()` writes all or nothing.

    Args:
        intent: the design.
        limit: glob of devices; "" for all.
        jobs: processes; 0 for one per core.
        progress: progress bar.
        renumber: ignore the lock file and assign every value again.

    Raises:
        InputError: the intent has no plan.
    """
    from fabric.generate import Generation, numbers_of
    from fabric.plan.lock_file import Lock

    before = numbers_of(intent.home)  # as it is before planning: `write` finds out whether another run has changed it since
    site_plan = plan(intent, Lock() if renumber else None)
    return Generation(render(site_plan, intent), before, limit, jobs, progress)


def check(scope: Scope, fail_on: str = "error", progress: Progress | None = None) -> Outcome:
    """Run every check on the design and files of intents, or on any folder of configs.

    Args:
        scope: intents, or a folder of configs.
        fail_on: lowest severity that fails the run: `error`, `warning` or `note`.
        progress: progress bar.

    Returns:
        Findings with file, line and column.

    Raises:
        InputError: the scope holds no intent that can be read.
        OSError: a folder is missing or empty.
    """
    from fabric.checks import named_folder
    from fabric.checks.run import run
    from fabric.diagnostics import tried
    from fabric.intent import revision

    folder, intents = named_folder(scope), list[Intent]()

    def read(path: Path) -> None:
        intent = load(path, scope.output)
        revision.refuse_same_site([*intents, intent])
        intents.append(intent)

    _, mistakes = tried({os.path.realpath(path): path for path in scope.files}.values(), read)
    ready, more = tried(intents, lambda intent: render(plan(intent), intent))
    return run(scope, folder, ready, [*mistakes, *more], fail_on, progress)


def drift(intent: Intent, configs: Path, jobs: int = 0, progress: Progress | None = None) -> SiteDrift:
    """Compare the running configs of a site with its plan.

    Args:
        intent: a loaded intent.
        configs: folder of running configs, one device per file or folder.
        jobs: processes; 0 for one per core.
        progress: progress bar.

    Returns:
        State, findings and the commands back to the plan of every switch.

    Raises:
        InputError: the intent cannot be planned.
        OSError: the folder is missing or has no config.
    """
    from fabric.checks import Scope, named_folder
    from fabric.drift.devices import site_drift
    from fabric.workers import silent

    folder = named_folder(Scope((), configs))
    assert folder is not None
    return site_drift(render(plan(intent), intent), folder, jobs, progress or silent)


def verify_state(site_plan: Plan, folder: Path, before: Path | None = None) -> SiteState:
    """Compare the state of the switches of a site with its plan.

    Args:
        site_plan: the plan.
        folder: output of show commands, as `docs/verify.md` collects it; one switch per file or folder.
        before: an earlier folder; counters count from there.

    Returns:
        Findings, and what could not be judged.

    Raises:
        InputError: a folder is missing or has no file.
    """
    from fabric.verify.verify import verify

    return verify(site_plan, folder, before)


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
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.estimate(fabric, _spread(fabric, request), placement, PortNames(fabric).port_name)


def capacity(fabric: FabricPlan, fail: Sequence[str] = (), pairs: int = 0, seed: int = 0) -> Capacity:
    """Compute cuts, bisection and throughput of one fabric, as shares of NIC speed (`docs/capacity.md`).

    Args:
        fabric: a fabric of a plan.
        fail: devices and links that have failed.
        pairs: number of random pairs of failures to measure.
        seed: seed of the random pairs.

    Raises:
        InputError: unknown name.
    """
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.capacity(fabric, tuple(fail), pairs, seed, PortNames(fabric).port_name)


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
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate.training import placed

    return placed(fabric, _spread(fabric, request), job, placement, PortNames(fabric).port_name, values)


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
    from fabric.cabling.optical import optical
    from fabric.export.port_names import PortNames
    from fabric.solver.goodput.goodput import goodput as evaluate

    light = optical(site_plan, fabric.name)
    names = PortNames(fabric).port_name
    return evaluate(fabric, _spread(fabric, request), job, placement, light, names, site_plan.fabrics)


def design(
    name: str,
    intent: Intent,
    site_plan: Plan,
    fabric: FabricPlan,
    request: EstimateRequest,
    job: Path,
    placement: str = "packed",
    prices: Path | None = None,
) -> Design:
    """Measure one design for a comparison: parts, power, all-reduce, step, goodput, cost.

    Args:
        name: of the design.
        intent: its intent, for models of its own that the price file names.
        site_plan: its plan.
        fabric: the fabric of the job.
        request: GPUs of the job and platform file.
        job: the JOB file with its `checkpoint` section.
        placement: as of `estimate`.
        prices: price file; None without cost.

    Raises:
        InputError: a mistake of a file, or a job that does not fit the fabric.
    """
    from fabric.bom.prices import read
    from fabric.compare import bills, designs

    stated = read(prices, intent.site.catalog, str(prices)) if prices else None
    useful = goodput(fabric, site_plan, request, job, placement)
    call = replace(request, collective="all_reduce", sizes=(designs.ALL_REDUCE_BYTES,), gpus=useful.gpus)
    all_reduce, _ = estimate(fabric, call, placement)
    return designs.design(name, fabric, bills.bill_of(site_plan, stated), all_reduce, useful, bills.site_gpus(site_plan))


def year_cost(site_plan: Plan, result: Goodput, prices: Prices) -> YearCost:
    """Price a year of a job: the GPU-hours that it uses and loses, by cause, and its network.

    Args:
        site_plan: the plan of the job's site.
        result: its goodput.
        prices: price file.
    """
    from fabric.compare import bills, money

    found = money.year_cost(bills.bill_of(site_plan, prices), result, bills.site_gpus(site_plan))
    assert found is not None
    return found


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
    from fabric.solver.utilisation.cluster import POLICIES
    from fabric.solver.utilisation.utilisation import utilisation as simulate

    mix = job_list.read(jobs, more.pop("partition", ""))
    return simulate(fabric, mix, placements or tuple(POLICIES), seed=seed, **more)


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

    def place(row: ladder.Row, utilisation: float | None = None) -> PlacedJob:
        request = EstimateRequest(
            gpus=row.gpus,
            gpus_per_domain=row.gpus_per_domain,
            fail=row.fail,
            routing=row.routing,
            queue_pairs=row.queue_pairs,
        )
        return training_job(planned(row.intent), request, row.job, row.placement, row.with_utilisation(utilisation))

    return ladder.score(
        ladder.read(file, intent),
        contrast,
        lambda row: place(row).utilisation(row.seconds).utilisation,
        lambda row, utilisation: place(row, utilisation).time(),
    )


def _spread(fabric: FabricPlan, request: EstimateRequest) -> EstimateRequest:
    """Fill in routing and queue pairs from the plan where the request leaves them open."""
    from fabric.hosts.spreading import spreading

    routing, queue_pairs = spreading(fabric, request.routing, request.queue_pairs)
    return replace(request, routing=routing, queue_pairs=queue_pairs)


def tables(paths: Sequence[Path], fabric: FabricPlan | None = None) -> list[Table]:
    """Read measured tables from files and folders: nccl-tests output or YAML.

    Args:
        paths: files and folders.
        fabric: the fabric that output of nccl-tests was measured on, for GPUs, NICs and transport; None where the text
            states them.

    Raises:
        InputError: a file that is neither.
    """
    from fabric.solver.measured.files import read_all

    if fabric is None:
        return read_all(paths)
    from fabric.solver.estimate.probe import platform_of

    return read_all(paths, platform_of(fabric))


def probe(fabric: FabricPlan, file: str, platform: str) -> list[str]:
    """List the nccl-tests runs that are worth measuring on a fabric, and the command that calibrates with them.

    Args:
        fabric: a fabric of a plan.
        file: intent file, for the command.
        platform: platform file to write, for the command.
    """
    from fabric.solver.estimate.probe import lines

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
    from fabric.solver.estimate.platform_file import platform as parameters

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
    from fabric.solver.collectives.validation import Predicted, left, predict
    from fabric.solver.collectives.validation_report import Validation
    from fabric.workers import in_chunks

    tasks, found = list(left(measured, beside, split)), dict[str, list[Predicted]]()
    if split == "source":
        tasks += left(measured, beside, "pairs")
    for task, (predicted,) in zip(tasks, in_chunks(predict, tasks, 0, chunk=1, least=2), strict=True):
        tell(task.name)
        found.setdefault(task.split, []).extend(predicted)
    not_scored = {table.id: table.why_not for table in measured if not table.scored_rows}
    return Validation(split, tuple(found.get(split, ())), not_scored, tuple(found.get("pairs", ())))


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


def doctor(fabric: FabricPlan, files: Sequence[Path], request: EstimateRequest) -> Diagnosis:
    """Explain why measured collectives are slower than estimated (`docs/doctor.md`).

    Args:
        fabric: the fabric of the run.
        files: output of nccl-tests, and logs of NCCL_DEBUG=INFO.
        request: routing, queue pairs, failures and platform file.

    Returns:
        Sizes outside the band of the estimate, and the causes by their share; none for a healthy run.

    Raises:
        InputError: a file that is neither, or a run that does not fit the fabric.
    """
    from fabric.export.port_names import PortNames
    from fabric.solver.doctor.run import examine

    return examine(fabric, files, _spread(fabric, request), PortNames(fabric).port_name)


def diff(old: str, new: str, request: DiffRequest) -> Diff:
    """Compare two intents: design, capacity and configs.

    Args:
        old: a file or `git:REV`.
        new: likewise.
        request: fabric, devices and sizes to compare.

    Raises:
        InputError: one of the two has no plan.
    """
    from fabric.diff.compare import compare
    from fabric.hosts.spreading import spreading
    from fabric.intent.sides import planned, read
    from fabric.solver.figures import figures

    sides = read(old, new)
    plans = planned(sides, plan)
    return compare(sides, plans, request, lambda fabric, cuts: figures(fabric, spreading(fabric), request.sizes, cuts))


def lab(intent: Intent) -> Lab:
    """Return the plan as network namespaces with FRR: `.up()`, `.status()`, `.test()`, `.down()`; all need root."""
    from fabric.lab.lab import Lab

    return Lab(intent, plan)


def report(site_plan: Plan, request: ReportRequest) -> str:
    """Return the plan as one HTML page that works offline.

    Raises:
        InputError: a failure of the request partitions a fabric.
    """
    from fabric.report.page import page

    return page(site_plan, request)


def report_designs(designs: Sequence[Side], request: ReportRequest) -> str:
    """Return several designs side by side as one HTML page that works offline.

    Args:
        designs: plan and keys of each design (`fabric.report.beside.designs.Side`).
        request: options of the report.

    Raises:
        InputError: a failure of the request partitions a fabric.
    """
    from fabric.report.beside.page import page

    return page(designs, request)


def export(site_plan: Plan, form: str, **request: int) -> Exported:
    """Return the plan in another format.

    Args:
        site_plan: the plan.
        form: a key of `fabric.export.formats.FORMATS`.
        request: options of the format.

    Raises:
        InputError: the format cannot hold the plan.
        KeyError: unknown format.
    """
    from fabric.export.formats import FORMATS

    return FORMATS[form](site_plan, **request)


def cables(site_plan: Plan, fabric: str = "", limit: str = "") -> RunList:
    """Return the run list: every cable with its part, its length in m and its order of laying.

    Args:
        site_plan: the plan.
        fabric: only this fabric.
        limit: glob of devices or racks.

    Raises:
        InputError: a link for which the catalog has no cable or optic, or an unknown name.
    """
    from fabric.cabling.run_list import run_list

    return run_list(site_plan, fabric, limit)


def labels(cables: RunList, sheet: Sheet, skip: int = 0) -> bytes:
    """Return labels for both ends of cables as a PDF, in the order of laying.

    Args:
        cables: the run list.
        sheet: measures of the label sheet.
        skip: labels of the first sheet that are already used.
    """
    from fabric.cabling.labels import pdf

    return pdf(cables.runs, cables.walk, sheet, skip)


def verify(site_plan: Plan, files: Sequence[Path], stated: Mapping[Path, str], source: str = "") -> tuple[Verdict, Warnings]:
    """Compare LLDP neighbors with the cables of the plan.

    Args:
        site_plan: the plan.
        files: files and folders of LLDP output.
        stated: device by file, where the content does not name it.
        source: name of the only format to read; "" for all.

    Returns:
        Findings with the re-cabling moves, and warnings about ignored files.

    Raises:
        InputError: a file that cannot be read or assigned to a device.
    """
    from fabric.cabling.verify.verify import verify as compare

    return compare(site_plan, files, stated, source)


def bill(site_plan: Plan, request: BomRequest) -> tuple[Bill, Warnings]:
    """Return the bill of materials: parts, power in W, and cost if the request has prices.

    Raises:
        InputError: the floor plan has no place for every device.
    """
    from fabric.bom.gather import gather

    return gather(site_plan, request, {} if request.prices is None else dict(_bandwidths(site_plan)))


def _bandwidths(site_plan: Plan) -> Iterator[tuple[str, Bandwidth]]:
    """Yield the all-reduce over every GPU of each compute fabric; skip fabrics that cannot run it."""
    from fabric.bom.bill import Bandwidth
    from fabric.bom.gather import ALL_REDUCE_BYTES
    from fabric.diagnostics import InputError
    from fabric.solver.estimate.request import EstimateRequest

    for name, fabric in site_plan.fabrics.items():
        if fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
            continue
        request = EstimateRequest("all_reduce", (ALL_REDUCE_BYTES,), routing="", queue_pairs=0)
        with suppress(InputError):
            busbw = estimate(fabric, request)[0].rows[0].busbw_GBps
            yield name, Bandwidth(fabric.sizing.gpus, ALL_REDUCE_BYTES, busbw)


def push(site_plan: Plan, system: str, url: str, token: str, request: PushRequest, progress: Progress) -> Pushed:
    """Write the plan to NetBox or Nautobot, or list what would change.

    Args:
        site_plan: the plan.
        system: `netbox` or `nautobot`.
        url: base URL of the server.
        token: API token with write permission.
        request: prune, dry run, batch size.
        progress: progress bar.

    Raises:
        InputError: the server refuses an object.
        MissingError: no server at the URL, or its client is not installed.
    """
    from fabric.inventory.push import SYSTEMS, Push

    work = Push(site_plan, SYSTEMS[system])
    with progress(f"push to {work.system.title}", work.size) as advance:
        return work.run(url, token, request, lambda table, count: advance(count))


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
    from fabric.explore.explore import explore as sweep
    from fabric.explore.measure import Stages

    return sweep(intent, request, Stages(plan, estimate, goodput), jobs, dask, journal, progress)
