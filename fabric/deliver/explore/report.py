"""A sweep as a person reads it: the front as a table, why the rest is not on it; and all of it as CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated

from fabric.base.formats import csv_text, json_text
from fabric.base.processes import Progress
from fabric.base.schemas.models import Count, Document, Text, document, enum_of, json_key
from fabric.base.text import aligned, and_more, counted, percent, size, time
from fabric.base.text.screen import table
from fabric.deliver.explore.measure import BuiltDocument, Figures, NotBuiltDocument, Outcome, Stages
from fabric.deliver.explore.request import MEASURES, ExploreRequest, Objective, front, known, objectives, reaching, sweep
from fabric.deliver.explore.run import Journal, Sweep, reasons, run
from fabric.design.intent.intent import Intent
from fabric.solver.collective import ALLTOALL, collective_names
from fabric.solver.estimate.calls import ONE_UNIT, PACKED, Call
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.reach import Goal

REASONS = 5  # that are listed
HARDLY = 0.25  # of the traffic: what leaves can be oversubscribed 4:1 before they slow it
Row = tuple[str, str, Callable[[Figures], str]]  # title, alignment, cell


@dataclass(frozen=True, kw_only=True)
class SweepResult:
    """A finished sweep."""

    sweep: Sweep
    currency: str  # of the prices, "" without
    outcomes: Sequence[Outcome]
    objectives: tuple[Objective, ...]  # those that have figures
    unjudged: tuple[str, ...]  # objectives that no design has a figure for
    front: Mapping[int, int]  # rows of `outcomes`, the best first → how many other designs come to the same
    goals: tuple[Goal, ...] = ()
    reaching: int = 0  # designs that reach every goal
    whole: bool = False  # the table has every design that can be built

    @staticmethod
    def of(
        sweep: Sweep, outcomes: Sequence[Outcome], wanted: Sequence[str], currency: str, goals: Sequence[Goal] = ()
    ) -> SweepResult:
        objectives = known(outcomes, wanted)
        judged = reaching(outcomes, goals)
        names = {item.name for item in objectives}
        unjudged = tuple(name for name in wanted if name not in names)
        return SweepResult(
            sweep=sweep,
            currency=currency,
            outcomes=outcomes,
            objectives=objectives,
            unjudged=unjudged,
            front=front(judged, objectives),
            goals=tuple(goals),
            reaching=sum(item.figures is not None for item in judged),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How traffic is spread over paths, what the times cannot tell, what the sweep leaves out."""
        calls = dict.fromkeys((row.routing, row.queue_pairs) for item in self.built for row in item.calls.rows)
        out = [f"routing as planned: {'; '.join(routing_words(*how) for how in calls)}"] if calls else []
        out += self._hidden
        others = self.sweep.base.others
        if others:
            what = counted(others, "other fabric")
            out.append(f"planned alone: with the site's {what} some cables can be longer, and power and times others")
        return tuple(out)

    @property
    def _hidden(self) -> list[str]:
        """Oversubscription that the times do not show."""
        design = self.sweep.design
        one_unit = self._one_unit
        shares = [item.beyond_leaf for item in self.built if item.beyond_leaf is not None and item.spines]
        if shares and max(shares) <= HARDLY:
            what = "the traffic of these collectives" if design.both else f"the traffic of this {design.timed}"
            note = f"note: at most {max(shares):.0%} of {what} crosses a spine: oversubscription has little effect on it"
            if design.both or design.collective == ALLTOALL:
                return [note, *one_unit]
            if self._all_in_one:
                return [note, *one_unit, "  to time traffic across spines, add --collective alltoall, or remove --collective"]
            more = "  to time traffic across spines, add --collective alltoall or --placement spread, or remove --collective"
            return [note, more, *one_unit]
        firsts = [item.timed.beyond_leaf for item in self.built if item.timed and item.spines]
        if design.both and design.placement == PACKED and firsts and max(firsts) <= HARDLY:
            note = f"packed: at most {max(firsts):.0%} of the {design.timed} crosses a spine"
            does = "" if self._all_in_one else ", --placement spread does"
            return [f"{note}: it does not show oversubscription{does}", *one_unit]
        return one_unit if design.placement != PACKED else []

    @property
    def _one_unit(self) -> list[str]:
        """Designs whose servers are in one unit, which a placement cannot spread."""
        servers = [item.servers for item in self.built if item.timed and item.timed.units == 1]
        if not servers:
            return []
        sizes = ",".join(str(size) for size in (max(servers) // 2, max(servers) // 4) if size)
        which = "" if self._all_in_one else f"{len(servers):,} of {counted(len(self.built), 'design')}: "
        return [f"{which}{ONE_UNIT}" + (f"; --vary unit={sizes} --placement spread shows a spread job" if sizes else "")]

    @property
    def _all_in_one(self) -> bool:
        return all(item.timed.units == 1 for item in self.built if item.timed)

    @property
    def built(self) -> list[Figures]:
        """Figures of the designs that can be built."""
        return [item.figures for item in self.outcomes if item.figures is not None]


def title(result: SweepResult) -> str:
    """`96 designs of fabric backend for 1,024 GPUs, timed by all_reduce of 1 GiB`."""
    design, count = result.sweep.design, len(result.outcomes)
    gpus = {design.gpus} if design.gpus else {figures.gpus for figures in result.built}
    words = [f"{counted(count, 'design')} of fabric {result.sweep.base.fabric}"]
    if any(gpus):
        words.append(f" for {' to '.join(f'{ends:,}' for ends in sorted({min(gpus), max(gpus)}))} GPUs")
    if any(figures.time_us is not None for figures in result.built):
        timed = f"timed by {design.timed}{' and alltoall' if design.both else ''} of {size(design.size)}"
        words.extend(
            (f", judged by {PurePath(design.job.name).name}" if design.job else f", {timed}", f", {design.placement}")
        )
    return "".join(words)


def _judged(found: SweepResult) -> str:
    """How many can be built, and how many of those are best in what."""
    if not found.built:
        return "none can be built"
    words = [f"{len(found.built):,} can be built"]
    if found.goals:
        wanted = " and ".join(goal.wanted for goal in found.goals)
        words.append(f"{found.reaching or 'none'} with {wanted}")
        if not found.reaching:
            words += [f"nearest: {near}" for goal in found.goals if (near := _nearest(found, goal))]
    if found.front:
        words.append(f"{len(found.front):,} Pareto-optimal in {', '.join(item.name for item in found.objectives)}")
    if found.unjudged:
        words.append(f"not compared by {' and '.join(found.unjudged)}: no design has a value")
    return "; ".join(words)


def _nearest(found: SweepResult, goal: Goal) -> str:
    """The best answer of any design to a goal that none reaches."""
    got = [value for item in found.built if (value := MEASURES[goal.name][1](item)) is not None]
    return f"{goal.name} {goal.shown((max if goal.measure.is_more_better else min)(got))}" if got else ""


def text(result: SweepResult) -> str:
    """The front, best of the first objective first, numbered as in the picture."""
    out = [title(result), _judged(result)]
    shown = _shown(result)
    if shown:
        out += ["", *_table(result, shown)]
        left = len(result.built) - len(shown)
        out += [f"  {and_more(left, 'design', see='--all')}"] if left else []
        out += ["", *result.notes] if result.notes else []
    counts = list(reasons(result.outcomes).items())
    if counts:
        out += ["", "cannot be built:"]
        rest = sum(count for _, count in counts[REASONS:])
        rows = [(counted(count, "design"), why) for why, count in counts[:REASONS]]
        rows += [(counted(rest, "design"), "other reasons; --format csv lists all")] if rest else []
        out += aligned([(f"{count}:", why) for count, why in rows], "><", indent="  ", gap=" ")
    return "\n".join(out) + "\n"


def _shown(result: SweepResult) -> list[int]:
    """Rows of `outcomes` in the table: the front, with `whole` then the others by the objectives."""
    rest = [at for at, item in enumerate(result.outcomes) if result.whole and item.figures and at not in result.front]
    return [*result.front, *sorted(rest, key=lambda at: [_value(result.outcomes[at], one) for one in result.objectives])]


def _value(outcome: Outcome, objective: Objective) -> float:
    value = objective.of(outcome.figures) if outcome.figures else None
    return math.inf if value is None else value


def _table(result: SweepResult, shown: Sequence[int]) -> list[str]:
    varied = _varied(result)
    columns = [*_SIZES, *_figures(result)]
    head = ["", *varied, *(title for title, _, _ in columns), "equal"]
    rows = []
    for number, at in enumerate(shown, 1):
        item, same = result.outcomes[at], result.front.get(at, 0)
        assert item.figures is not None
        choice, cells = dict(item.choice), [cell(item.figures) for _, _, cell in columns]
        rows.append(
            [
                str(number) if at in result.front else "",
                *(_word(choice[name]) for name in varied),
                *cells,
                f"+{same}" if same else "",
            ]
        )
    if not any(row[-1] for row in rows):
        head[-1] = ""
    return table(head, rows, ">" + "<" * len(varied) + "".join(align for _, align, _ in columns) + ">")


def design_name(found: SweepResult, at: int) -> str:
    """What tells a design from the others of the sweep: `sn5600, 2 tiers`."""
    choice = dict(found.outcomes[at].choice)
    return ", ".join(_choice_word(name, choice[name]) for name in _varied(found))


def _choice_word(name: str, value: object) -> str:
    """A number needs its dimension beside it; a name speaks for itself."""
    if name.endswith("oversubscription"):
        return f"{_word(value)}:1"
    return _word(value) if isinstance(value, str) and not value.replace(".", "").isdigit() else f"{name} {_word(value)}"


def _varied(found: SweepResult) -> list[str]:
    """Dimensions of which designs on the table have more than one value."""
    first = dict(found.outcomes[0].choice)
    return [name for name in first if len({dict(item.choice)[name] for item in found.outcomes}) > 1]


_SIZES: Sequence[Row] = (
    ("leaf", ">", lambda f: f"{f.leaves:,}"),
    ("spine", ">", lambda f: f"{f.spines:,}" if f.spines else "-"),
    ("core", ">", lambda f: f"{f.cores:,}" if f.cores else "-"),
    ("links", ">", lambda f: f"{f.links:,}"),
    ("built", ">", lambda f: f"{f.oversubscription:.3g}:1"),
)


def _figures(result: SweepResult) -> list[Row]:
    money = result.currency
    rows: list[Row] = [("kW", ">", lambda f: _number(f.power_typical_w, 1e3, 1))]
    if money:
        rows += [
            (f"1000 {money}", ">", lambda f: _number(f.capex, 1e3, 0)),
            (f"{money}/GPU", ">", lambda f: _number(f.capex_per_gpu, 1, 0)),
        ]
    design = result.sweep.design
    if design.job is not None:
        rows += [
            ("useful", ">", lambda f: "unknown" if f.useful is None else percent(f.useful)),
            ("10⁹ tokens/day", ">", lambda f: _number(f.tokens_per_day, 1e9, 1)),
            ("GPU-h/10⁹", ">", lambda f: _number(f.gpu_hours, 1, 1)),
        ]
        rows += [(f"{money}/10⁹", ">", lambda f: _number(f.token_cost, 1, 2))] if money else []
        return rows
    if not design.both:
        return [
            *rows,
            ("time", ">", lambda f: _time(f.timed)),
            ("busbw GB/s", ">", lambda f: _busbw(f.timed)),
            ("limited by", "<", lambda f: _link(f.timed)),
        ]
    return [
        *rows,
        (design.timed, ">", lambda f: _time(f.timed)),
        ("GB/s", ">", lambda f: _busbw(f.timed)),
        ("alltoall", ">", lambda f: _time(f.alltoall)),
        ("GB/s", ">", lambda f: _busbw(f.alltoall)),
        ("alltoall limited by", "<", lambda f: _link(f.alltoall)),
    ]


def _link(call: Call | None) -> str:
    return call.bottleneck.partition(", such as ")[0] if call else ""


def _busbw(call: Call | None) -> str:
    return _number(call.busbw_GBps if call else None, 1, 1)


def _number(value: float | None, unit: float, digits: int) -> str:
    return "unknown" if value is None else f"{value / unit:,.{digits}f}"


def _time(call: Call | None) -> str:
    return time(call.time_us) if call else "unknown"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


class SweepDocument(Document):
    fabric: Text = json_key(of="sweep.base.fabric")
    gpus: Count | None = json_key("null: those of the intent", "sweep.design.gpus")
    collective: Annotated[str, enum_of(collective_names())] = json_key(of="sweep.design.timed")
    alltoall: bool = json_key("whether designs are timed by an alltoall as well", "sweep.design.both")
    bytes: Count = json_key(of="sweep.design.size")
    placement: Text = json_key(of="sweep.design.placement")
    currency: str = json_key('"" without prices')
    objectives: list[Text] = json_key(of=lambda result: [item.name for item in result.objectives])
    notes: list[str]
    front: list[Count] = json_key(
        "rows of `designs` that none beats, the best of the first objective first", lambda result: list(result.front)
    )
    designs: list[BuiltDocument | NotBuiltDocument] = json_key(of=lambda result: [item.as_dict() for item in result.outcomes])


def as_json(found: SweepResult) -> str:
    return json_text(document(found, SweepDocument)) + "\n"


def as_csv(result: SweepResult) -> str:
    """One line per design, in the order of the choices; plain numbers, empty where nothing is known."""
    figures = [name for name in BuiltDocument.model_fields if name != "choice"] if result.built else []
    place = {at: number for number, at in enumerate(result.front, 1)}
    rows = []
    for at, item in enumerate(result.outcomes):
        row = item.as_dict()
        rows.append([*map(_word, dict(item.choice).values()), place.get(at), *map(row.get, figures), item.why])
    chosen = list(dict(result.outcomes[0].choice))
    titles = [f"{name}_built" if name in chosen else name for name in figures]  # no two columns of one name
    return csv_text([*chosen, "front", *titles, "why"], rows)


FORMATS: Mapping[str, Callable[[SweepResult], str]] = {"text": text, "csv": as_csv, "json": as_json}


# --- from the request to the result ---------------------------------------------------------------------------


def explore(
    intent: Intent, request: ExploreRequest, stages: Stages, jobs: int, dask: str, journal: Path | None, *, progress: Progress
) -> SweepResult:
    """Measures every design of the request. Raises InputError, and MissingError without the Dask cluster."""
    sweep_ = sweep(intent, request)
    known = Journal(journal, sweep_.base, sweep_.design) if journal else None
    with progress("designs", len(sweep_.choices)) as advance:
        outcomes = run(sweep_, stages, jobs, dask, known, advance)
    currency = request.design.prices.currency if request.design.prices else ""
    return SweepResult.of(sweep_, outcomes, objectives(request), currency, request.goals)
