"""A sweep as it is asked for: which fabric of which intent, what is varied, and what designs are judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabric.diagnostics import InputError, Place, Report, nearest, show
from fabric.explore.dimensions import Value, read
from fabric.explore.front import OBJECTIVES
from fabric.explore.measure import Ask
from fabric.explore.run import Sweep
from fabric.explore.space import Base, choices, usual
from fabric.pipeline import Intent
from fabric.planner.spec import resolve
from fabric.solver.measured.tables import COLLECTIVES


@dataclass(frozen=True)
class Wish:
    """The words of the command line."""

    ask: Ask
    fabric: str = ""
    vary: Sequence[str] = ()
    by: Sequence[str] = ()


def sweep(intent: Intent, wish: Wish) -> Sweep:
    """The designs to measure. Raises InputError with every word that is none."""
    report = Report()
    name = _fabric(intent, wish.fabric, report)
    if wish.ask.collective not in COLLECTIVES:
        message = f"unknown collective {show(wish.ask.collective)}"
        report.error("FAB174", Place("--collective"), message, nearest(wish.ask.collective, COLLECTIVES))
    for word in wish.by:
        if word not in OBJECTIVES:
            report.error("FAB102", Place("--by"), f"unknown objective {show(word)}", nearest(word, OBJECTIVES))
    own = intent.site.catalog
    models = list(own.switches)
    names = {"server": list(own.servers), **dict.fromkeys(("switch", "leaf", "spine", "core"), models)}
    varied: dict[str, tuple[Value, ...]] = {}
    for text in wish.vary:
        found = read(text, names, report)
        if found is not None:
            varied[found[0]] = tuple(dict.fromkeys((*varied.get(found[0], ()), *found[1])))
    report.raise_errors()
    base = Base.of(intent.source.data, intent.source.file, name)
    dimensions: Mapping[str, Sequence[Value]] = varied or usual(resolve(intent.site, intent.source)[name], own.switches)
    if wish.ask.gpus is not None:
        _one_group(base, wish.ask.gpus)
    return Sweep(base, wish.ask, choices(dimensions))


def _fabric(intent: Intent, name: str, report: Report) -> str:
    """The fabric that is meant: the one named, the only one, or the first for compute."""
    fabrics = intent.site.fabrics
    if name and name not in fabrics:
        report.error("FAB106", Place("--fabric"), f"unknown fabric {show(name)}", nearest(name, fabrics))
    if name in fabrics:
        return name
    return next((key for key, fabric in fabrics.items() if fabric.purpose == "compute"), next(iter(fabrics)))


def _one_group(base: Base, gpus: int) -> None:
    """`--gpus` says how many servers there are only where they are of one kind. Raises InputError."""
    try:
        base.design((), gpus)
    except ValueError as error:
        report = Report()
        report.error("FAB102", Place("--gpus"), str(error), "leave --gpus out to take the servers of the intent")
        raise InputError(report.errors) from None


def objectives(wish: Wish) -> tuple[str, ...]:
    """What designs are judged by: as asked, else cost where prices are known, power and time; without prices switches."""
    if wish.by:
        return tuple(dict.fromkeys(wish.by))
    return ("cost" if wish.ask.prices is not None else "switches", "power", "time")
