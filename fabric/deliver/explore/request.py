"""A sweep as it is asked for, and the Pareto front: objectives, and the designs that no other is as good as."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabric.base.diagnostics import InputError, Place, Report, nearest, show
from fabric.deliver.explore.dimensions import MODELS, Base, Choice, Value, choices, read, usual
from fabric.deliver.explore.measure import DesignRequest, Figures, Outcome
from fabric.deliver.explore.run import Sweep
from fabric.design.intent.intent import Intent
from fabric.design.intent.rewrite import OneFabric
from fabric.model.settings.site import OwnCatalog
from fabric.solver.collective import collective_names
from fabric.solver.estimate.placement import KINDS, PLACEMENT, RANDOM
from fabric.solver.goodput import sections
from fabric.solver.reach import Goal, Measure, goal_of
from fabric.solver.training import file as job_file
from fabric.solver.training.file import JobText
from fabric.solver.training.job import CODE

# --- pareto front ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Objective:
    """A figure of which less is better."""

    name: str
    unit: str
    of: Callable[[Figures], float | None]
    hashed: bool = False  # by the draw of queue pair numbers, which changes it from run to run


HASHED = 0.02  # of a time: by so much it differs between draws of queue pair numbers
OF_JOB = ("goodput", "token-cost")  # that need a training job
PRICED = ("cost", "token-cost")
OBJECTIVES: Mapping[str, Objective] = {
    item.name: item
    for item in (
        Objective("cost", "", lambda f: f.capex),
        Objective("power", "kW", lambda f: f.power_typical_w / 1e3 if f.power_typical_w is not None else None),
        Objective("time", "ms", lambda f: f.time_us / 1e3 if f.time_us is not None else None, hashed=True),
        Objective(
            "alltoall", "ms", lambda f: f.alltoall_time_us / 1e3 if f.alltoall_time_us is not None else None, hashed=True
        ),
        Objective("switches", "", lambda f: f.switches),
        Objective("oversubscription", "to 1", lambda f: max(1.0, f.oversubscription)),
        Objective("goodput", "GPU-hours per billion useful tokens", lambda f: f.gpu_hours),
        Objective("token-cost", "per billion useful tokens", lambda f: f.token_cost),
    )
}

MEASURES: Mapping[str, tuple[Measure, Callable[[Figures], float | None]]] = {
    "busbw": (Measure(" GB/s", is_more_better=True), lambda f: f.timed.busbw_GBps if f.timed else None),
    "alltoall-busbw": (Measure(" GB/s", is_more_better=True), lambda f: f.alltoall.busbw_GBps if f.alltoall else None),
    "useful": (Measure("", is_more_better=True, shown="{:.2%}"), lambda f: f.useful),
    **{item.name: (Measure(f" {item.unit}".rstrip(), is_more_better=False), item.of) for item in OBJECTIVES.values()},
}
"""What a goal may be stated of, beside the objectives: bandwidth as nccl-tests counts it, and the useful share of a job."""


def known(outcomes: Sequence[Outcome], wanted: Sequence[str]) -> tuple[Objective, ...]:
    """Those of the wanted objectives that at least one design has a figure for."""
    built = [item.figures for item in outcomes if item.figures is not None]
    return tuple(OBJECTIVES[name] for name in wanted if any(OBJECTIVES[name].of(item) is not None for item in built))


def front(outcomes: Sequence[Outcome], objectives: Sequence[Objective]) -> dict[int, int]:
    """Rows of `outcomes` on the front, best of the first objective first → how many other designs come to the same.

    Of equal designs the first stands for all. An unknown figure counts as the worst: a design must not win by an unknown
    figure.
    """
    built = [(row, item.figures) for row, item in enumerate(outcomes) if item.figures is not None]
    if not built or not objectives:
        return {}
    scores = np.array([_scores(figures, objectives) for _, figures in built])
    distinct, first, count = np.unique(scores, axis=0, return_index=True, return_counts=True)
    best: list[int] = []
    for row, score in enumerate(distinct):  # sorted by the objectives in their order: what beats a design comes before it
        if not (distinct[best] <= score).all(axis=1).any():
            best.append(row)
    return {built[int(first[row])][0]: int(count[row]) - 1 for row in best}


def reaching(outcomes: Sequence[Outcome], goals: Sequence[Goal]) -> list[Outcome]:
    """The designs with the figures of those that reach every goal; the others have none."""
    return [
        item
        if item.figures is None or all(goal.is_reached(MEASURES[goal.name][1](item.figures)) for goal in goals)
        else replace(item, figures=None)
        for item in outcomes
    ]


def _scores(figures: Figures, objectives: Sequence[Objective]) -> tuple[float, ...]:
    return tuple(_score(objective, objective.of(figures)) for objective in objectives)


def _score(objective: Objective, value: float | None) -> float:
    """To three digits, times in steps of HASHED: smaller differences are within the error of estimates and quotations."""
    if value is None:
        return math.inf
    if objective.hashed and value > 0:
        return float(round(math.log(value) / HASHED))
    return float(f"{value:.3g}")


# --- request --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExploreRequest:
    """The words of the command line."""

    design: DesignRequest
    fabric: str = ""
    vary: Sequence[str] = ()
    by: Sequence[str] = ()
    reach: Sequence[str] = ()

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What designs have to reach. Raises InputError."""
        return tuple(goal_of(text, {name: measure for name, (measure, _) in MEASURES.items()}) for text in self.reach)


def sweep(intent: Intent, request: ExploreRequest) -> Sweep:
    """The designs to measure. Raises InputError with every word that is none."""
    report = Report()
    start = OneFabric.of(intent, request.fabric, report)
    _check(request, report)
    _ = request.goals
    varied = _varied(intent.catalog, request.vary, report)
    report.raise_errors()
    base = Base.of(start)
    if request.design.gpus is not None or "server" in varied:
        _one_group(base, request.design.gpus, varied.get("server", ()))
    if not varied:
        varied = usual(start.spec, intent.catalog)
    return Sweep(base, request.design, choices(varied))


def _check(request: ExploreRequest, report: Report) -> None:
    """Words that say how designs are timed and judged."""
    design = request.design
    if design.timed not in collective_names():
        message = f"unknown collective {show(design.collective)}"
        report.error("FAB174", Place("--collective"), message, nearest(design.collective, collective_names()))
    if design.placement not in KINDS and not RANDOM.fullmatch(design.placement):
        message = f"expected packed, spread or random:SEED, got {show(design.placement)}"
        report.error("FAB174", PLACEMENT, message, "server names are for `fabric estimate`: servers differ between designs")
    for word in request.by:
        if word not in OBJECTIVES:
            report.error("FAB102", Place("--by"), f"unknown objective {show(word)}", nearest(word, OBJECTIVES))
    for word in (word for word in request.by if word in PRICED and design.prices is None):
        report.error("FAB102", Place("--by"), f"{word}: expected prices, got none", "add --prices FILE")
    for word in (word for word in request.by if word in OF_JOB and design.job is None):
        report.error("FAB102", Place("--by"), f"{word}: expected a training job, got none", "add --job FILE")
    if design.job is not None:
        _check_job(design.job, report)
    if "alltoall" in request.by and not design.both:
        message = f"alltoall: --collective {design.collective} excludes it"
        report.error("FAB102", Place("--by"), message, "remove --collective, or use the objective `time`")


def _check_job(job: JobText, report: Report) -> None:
    """Mistakes of the file, once for all designs."""
    try:
        stated = sections.read(job_file.tree(job.text, job.name), job.name)
    except InputError as error:
        report.errors.extend(error.diagnostics)
        return
    if not stated.checkpoint.write_GBps:
        hint = "a sweep varies one fabric: state the rate that the whole job sees, as `fabric goodput` prints it for the site"
        report.error(CODE, stated.place, "checkpoint.write_GBps: missing key", hint)


def _varied(own: OwnCatalog, texts: Sequence[str], report: Report) -> dict[str, tuple[Value, ...]]:
    """The values of every dimension that is named; one named twice has the values of both."""
    names = {"server": list(own.servers)} | {dimension: list(own.switches) for dimension in MODELS}
    varied: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        found = read(text, names, report)
        if found is not None:
            varied[found[0]] = tuple(dict.fromkeys((*varied.get(found[0], ()), *found[1])))
    return varied


def _one_group(base: Base, gpus: int | None, servers: Sequence[Value]) -> None:
    """Servers are counted by GPUs, or varied, only where they are of one kind. Raises InputError."""
    why = ""
    tries: list[Choice] = [(("server", model),) for model in servers]
    for choice in tries or [()]:
        try:
            base.design(choice, gpus)
            return
        except ValueError as error:
            why = str(error)
    option = "--gpus" if gpus is not None else "--vary"
    Report().fail("FAB102", Place(option), why, f"remove {option} to use the servers of the intent")


def objectives(request: ExploreRequest) -> tuple[str, ...]:
    """What designs are judged by: as asked, else cost where prices are known, power and time; without prices switches.

    Time is that of both collectives, unless one was named. With a training job: cost of tokens, goodput and power.
    """
    if request.design.job is not None and not request.by:
        return ("goodput", "switches", "power") if request.design.prices is None else ("token-cost", "goodput", "power")
    by = tuple(request.by) or ("cost" if request.design.prices is not None else "switches", "power", "time")
    times = ("time", "alltoall") if request.design.both else ("time",)
    return tuple(dict.fromkeys(name for word in by for name in (times if word == "time" else (word,))))
