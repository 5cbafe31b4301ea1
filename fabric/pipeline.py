"""The product in one page: an intent becomes a plan, the plan becomes files.

    load ──▶ Intent ──plan──▶ Plan ─┬─render──▶ files of each switch and server ──generate──▶ generated/<site>/
                                    │                    └──read back──▶ facts ──check──▶ findings with their lines
                                    ├─check──▶ findings in the intent
                                    ├─capacity──▶ cuts, throughput, what failures leave
                                    ├─estimate, step──▶ time of collectives, of a training step
                                    ├─diff──▶ what another intent changes: design, capacity, configs
                                    ├─lab──▶ real routing daemons on the generated files, tried and broken
                                    ├─report, export──▶ a page to read, files for other tools
                                    └─bill, verify──▶ what to order, and whether the cables lie as planned
    Intent ──explore──▶ every design of a sweep, and those that no other beats

Every step takes and gives typed values, so a program can use one without the others. `lock` is what a former run
handed out: names, AS numbers, addresses and ports that must not change.
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
    from fabric.cabling.labels import Sheet
    from fabric.cabling.run_list import RunList
    from fabric.cabling.verify.finding import Verdict
    from fabric.catalog.asics import Asic
    from fabric.catalog.models import ServerModel, SwitchModel
    from fabric.checks import Outcome, Scope
    from fabric.configs import Renderer
    from fabric.diagnostics import Diagnostic, Warnings
    from fabric.diff.compare import Diff, DiffRequest
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
    from fabric.report.request import ReportRequest
    from fabric.solver.capacity.measure import Capacity
    from fabric.solver.collectives.calibrate import Calibration
    from fabric.solver.collectives.score import Score
    from fabric.solver.estimate.estimate import Estimate
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.measured.tables import Table
    from fabric.solver.training.step import StepTime
    from fabric.workers import Progress


def init(draft: Draft, shown: str, schema: bool = False) -> str:
    """A short commented intent. With `schema` it names the file of its schema. Raises InputError for one that is wrong."""
    from fabric.intent.draft import check as look, write

    text = write(draft, schema=schema)
    look(text, shown)
    return text


def schema(document: str = "") -> str:
    """The JSON Schema of the intent language, or of what a command prints with `--json`."""
    from fabric import schemas
    from fabric.intent import schema as language

    return schemas.text(document) if document else language.text()


def catalog() -> tuple[Mapping[str, SwitchModel], Mapping[str, ServerModel]]:
    """The switches and servers that ship, by model."""
    from fabric import catalog as hardware

    switches = {model: switch for model in hardware.switch_names() if (switch := hardware.switch(model))}
    return switches, {model: server for model in hardware.server_names() if (server := hardware.server(model))}


def vendors() -> Mapping[str, Target]:
    """The network OSes that are installed, by name."""
    from fabric.nos.target import targets

    return targets()


def headroom(asic: Asic | None, speed_gbps: int, length_m: int, mtu_bytes: int, **more: Any) -> Headroom:
    """PFC headroom of one priority of a port; `more` as `fabric.qos.headroom.headroom` takes it."""
    from fabric.qos.headroom import headroom as compute

    return compute(asic, speed_gbps, length_m, mtu_bytes, **more)


def load(path: Path, output: Path | None = None) -> Intent:
    """Reads and checks an intent. Raises InputError with every mistake, and where its output folder is a symlink."""
    from fabric.intent import revision

    return revision.load(path, output)


def summarize(intent: Intent) -> dict[str, Any]:
    """Counts, ports, ratios and limits of every fabric; needs no wiring, so a million GPUs take no longer than ten."""
    from fabric.planner.summarize import summarize as counts

    return counts(intent)


def plan(intent: Intent, known: Lock | None = None) -> Plan:
    """Sizes, wires and numbers every fabric, on the numbers that `known` or the site's lock file holds. Raises InputError."""
    from fabric.configs import targets
    from fabric.planner.site import plan_site

    known = numbers(intent) if known is None else known
    site = resolve(intent.site, intent.source, intent.home)
    made = plan_site(site, known, targets.choose(site.fabrics))
    targets.refuse_stated(made)
    stopped = stopped_run(intent)
    return replace(made, warnings=(*made.warnings, stopped)) if stopped else made


def stopped_run(intent: Intent) -> Diagnostic | None:
    """That a run of `generate` was stopped half-way: files of two designs may lie in the site's folder."""
    from fabric.standing import unfinished_run

    return unfinished_run(intent.home, intent.source.place(("site",))) if intent.site.output.keep else None


def numbers(intent: Intent) -> Lock:
    """What a former run handed out, by the site's lock file. Raises InputError."""
    from fabric.plan import lock_file as lock

    return lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)


def explain(intent: Intent, subject: str) -> list[str]:
    """The arithmetic behind one number: `backend.spines`, a device, a port, an address, an AS number. Raises InputError."""
    from fabric.explain.subject import explain as find
    from fabric.planner.site import size_site

    known = numbers(intent)
    sized = size_site(resolve(intent.site, intent.source, intent.home), known)
    return find(subject, sized, known, lambda: plan(intent, known), str(intent.path))


def moves(intent: Intent, against: str) -> Changes:
    """Boxes and cables that change from an older intent, a file or `git:REV`, and the order of work. Raises InputError."""
    from fabric.intent import revision
    from fabric.moves import difference

    before, known = revision.read(against, intent.path, intent.folder)
    old = plan(before, known)
    return difference(old, plan(intent, old.lock))  # on the old numbers, whether they were ever written or not


def render(made: Plan, intent: Intent) -> Renderer:
    """What makes the files of every switch of a plan, the site's own lines put in. Raises InputError."""
    from fabric.configs import Renderer

    return Renderer(made, intent.path.absolute().parent)


def generate(
    intent: Intent, limit: str = "", jobs: int = 0, progress: Progress | None = None, renumber: bool = False
) -> Generation:
    """A site planned and ready: `.check()` and `.diff()` look, `.write()` writes what changed, all or nothing.

    With `renumber` the site's lock file is not read, and every number is given out again. Raises InputError.
    """
    from fabric.generate import Generation, numbers_of
    from fabric.plan.lock_file import Lock

    before = numbers_of(intent.home)  # as it is before planning: `write` finds out whether another run has changed it since
    made = plan(intent, Lock() if renumber else None)
    return Generation(render(made, intent), before, limit, jobs, progress)


def check(scope: Scope, fail_on: str = "error", progress: Progress | None = None) -> Outcome:
    """Design and files of intents, or any folder of configs, put to every check. Raises InputError, OSError."""
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


def estimate(fabric: FabricPlan, request: EstimateRequest, placement: str = "packed") -> tuple[Estimate, Estimate | None]:
    """Times of a collective on one fabric of a plan, and what they were before the failures asked for. Raises InputError."""
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.estimate(fabric, _spread(fabric, request), placement, PortNames(fabric).port_name)


def capacity(fabric: FabricPlan, fail: Sequence[str] = (), pairs: int = 0, seed: int = 0) -> Capacity:
    """Cuts, bisection and throughput of one fabric of a plan, and what further failures leave. Raises InputError."""
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.capacity(fabric, tuple(fail), pairs, seed, PortNames(fabric).port_name)


def step(fabric: FabricPlan, request: EstimateRequest, job: Path, placement: str = "packed") -> StepTime:
    """The time of a training step whose model a file describes, on one fabric of a plan. Raises InputError."""
    from fabric.export.port_names import PortNames
    from fabric.solver.estimate import request as estimate_request

    return estimate_request.training_step(fabric, _spread(fabric, request), job, placement, PortNames(fabric).port_name)


def _spread(fabric: FabricPlan, request: EstimateRequest) -> EstimateRequest:
    """With the plan's routing and queue pairs where none are asked for."""
    from fabric.hosts.spreading import spreading

    routing, queue_pairs = spreading(fabric, request.routing, request.queue_pairs)
    return replace(request, routing=routing, queue_pairs=queue_pairs)


def tables(paths: Sequence[Path]) -> list[Table]:
    """Measured tables of files and folders: output of nccl-tests, or YAML. Raises InputError."""
    from fabric.solver.measured.files import read_all

    return read_all(paths)


def score(measured: Sequence[Table], platform: Path | None = None) -> Score:
    """How far the estimate is from measured tables, by the shipped parameters or a platform file. Raises InputError."""
    from fabric.solver.collectives.score import score as hold
    from fabric.solver.estimate.platform_file import platform as parameters

    return hold(measured, parameters(platform))


def cross_validate(measured: Sequence[Table], beside: Sequence[Table], tell: Callable[[str], None]) -> Score:
    """The same with parameters fitted again without each source; `tell` hears which one is done."""
    from fabric.solver.collectives.calibrate import cross_validate as leave_out

    return leave_out(measured, beside, tell)


def calibrate(measured: Sequence[Table], beside: Sequence[Table] = (), base: str = "shipped") -> Calibration:
    """Parameters fitted to measured tables, with the platform file that holds them. Raises InputError."""
    from fabric.solver.collectives.calibrate import calibrate as fit

    return fit(measured, beside, base)


def diff(old: str, new: str, request: DiffRequest) -> Diff:
    """What changes from one intent to another, each a file or `git:REV`: design, capacity, configs. Raises InputError."""
    from fabric.diff.compare import compare
    from fabric.hosts.spreading import spreading
    from fabric.intent.sides import planned, read
    from fabric.solver.figures import figures

    sides = read(old, new)
    plans = planned(sides, plan)
    return compare(sides, plans, request, lambda fabric, cuts: figures(fabric, spreading(fabric), request.sizes, cuts))


def lab(intent: Intent) -> Lab:
    """The plan as network namespaces with FRR in each: `.up()`, `.status()`, `.test()`, `.down()`. All need root."""
    from fabric.lab.lab import Lab

    return Lab(intent, plan)


def report(made: Plan, request: ReportRequest) -> str:
    """The plan as one HTML page that opens offline. Raises InputError."""
    from fabric.report.page import page

    return page(made, request)


def export(made: Plan, form: str, **request: int) -> Exported:
    """The plan in one of `fabric.export.formats.FORMATS`. Raises InputError, KeyError for another name."""
    from fabric.export.formats import FORMATS

    return FORMATS[form](made, **request)


def cables(made: Plan, fabric: str = "", limit: str = "") -> RunList:
    """Every cable, or those of one fabric, device or rack: what to buy, where it runs, in which order to lay it.

    Raises InputError, also for links that nothing joins.
    """
    from fabric.cabling.run_list import run_list

    return run_list(made, fabric, limit)


def labels(cables: RunList, sheet: Sheet, skip: int = 0) -> bytes:
    """Labels for both ends of cables as a PDF, in the order of laying; `skip` of the first sheet are used already."""
    from fabric.cabling.labels import pdf

    return pdf(cables.runs, cables.walk, sheet, skip)


def verify(made: Plan, told: Sequence[Path], stated: Mapping[Path, str], source: str = "") -> tuple[Verdict, Warnings]:
    """What boxes hear of their neighbours by LLDP, held against the plan's cables. Raises InputError."""
    from fabric.cabling.verify.verify import verify as compare

    return compare(made, told, stated, source)


def bill(made: Plan, request: BomRequest) -> tuple[Bill, Warnings]:
    """What to order, what it draws and what it costs. Raises InputError."""
    from fabric.bom.gather import gather

    return gather(made, request, {} if request.prices is None else dict(_bandwidths(made)))


def _bandwidths(made: Plan) -> Iterator[tuple[str, Bandwidth]]:
    """The all-reduce over every GPU of each compute fabric, as the plan routes it; none where they cannot run it together."""
    from fabric.bom.bill import Bandwidth
    from fabric.bom.gather import ALL_REDUCE_BYTES
    from fabric.diagnostics import InputError
    from fabric.solver.estimate.request import EstimateRequest

    for name, fabric in made.fabrics.items():
        if fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
            continue
        request = EstimateRequest("all_reduce", (ALL_REDUCE_BYTES,), routing="", queue_pairs=0)
        with suppress(InputError):
            busbw = estimate(fabric, request)[0].rows[0].busbw_GBps
            yield name, Bandwidth(fabric.sizing.gpus, ALL_REDUCE_BYTES, busbw)


def push(made: Plan, system: str, url: str, token: str, options: PushRequest, progress: Progress) -> Pushed:
    """The plan into NetBox or Nautobot, or what would change there. Raises InputError, MissingError."""
    from fabric.inventory.push import SYSTEMS, Push

    work = Push(made, SYSTEMS[system])
    with progress(f"push to {work.system.title}", work.size) as advance:
        return work.run(url, token, options, lambda table, count: advance(count))


def explore(
    intent: Intent, request: ExploreRequest, jobs: int, dask: str, journal: Path | None, progress: Progress
) -> SweepResult:
    """Every design that the wish spans, planned and measured. Raises InputError, MissingError without the Dask cluster."""
    from fabric.explore.explore import explore as sweep
    from fabric.explore.measure import Stages

    return sweep(intent, request, Stages(plan, estimate), jobs, dask, journal, progress)
