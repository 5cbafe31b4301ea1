"""A sweep as a person reads it: the front as a table, why the rest is not on it; and all of it as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.aligned import table
from fabric.diagnostics import plural
from fabric.explore.front import Objective, equals, front, known
from fabric.explore.measure import Figures, Outcome
from fabric.explore.run import Sweep, reasons

REASONS = 5  # that are told
Row = tuple[str, str, Callable[[Figures], str]]  # title, alignment, cell


@dataclass(frozen=True)
class Found:
    """A finished sweep."""

    sweep: Sweep
    currency: str  # of the prices, "" without
    outcomes: Sequence[Outcome]
    objectives: tuple[Objective, ...]  # those that have figures
    front: tuple[int, ...]  # rows of `outcomes`

    @staticmethod
    def of(sweep: Sweep, outcomes: Sequence[Outcome], wanted: Sequence[str], currency: str) -> Found:
        objectives = known(outcomes, wanted)
        return Found(sweep, currency, outcomes, objectives, tuple(front(outcomes, objectives)))


def text(found: Found) -> str:
    """The front, best of the first objective first, numbered as in the picture."""
    built = sum(item.figures is not None for item in found.outcomes)
    names = ", ".join(item.name for item in found.objectives)
    best = f"{len(found.front):,} beaten by none in {names}"
    out = [f"{plural(len(found.outcomes), 'design')}, {built:,} of them can be built, {best}"]
    if found.front:
        out += ["", *_front(found)]
    told = list(reasons(found.outcomes).items())
    if told:
        out += ["", "cannot be built:"]
        out += [f"  {count:>5,}  {why}" for why, count in told[:REASONS]]
        rest = sum(count for _, count in told[REASONS:])
        out += [f"  {rest:>5,}  for other reasons: --format csv tells them all"] if rest else []
    return "\n".join(out) + "\n"


def _front(found: Found) -> list[str]:
    varied = _varied(found)
    columns = [*_sizes(found), *_figures(found)]
    head = ["", *varied, *(title for title, _, _ in columns), "equal"]
    rows = []
    for number, at in enumerate(found.front, 1):
        item = found.outcomes[at]
        assert item.figures is not None
        choice, same = dict(item.choice), equals(found.outcomes, at, found.objectives)
        cells = [cell(item.figures) for _, _, cell in columns]
        rows.append([str(number), *(_word(choice[name]) for name in varied), *cells, f"+{same}" if same else ""])
    if not any(row[-1] for row in rows):
        head[-1] = ""
    return table(head, rows, ">" + "<" * len(varied) + "".join(align for _, align, _ in columns) + ">")


def _varied(found: Found) -> list[str]:
    """Dimensions of which designs on the table have more than one value."""
    first = dict(found.outcomes[0].choice)
    return [name for name in first if len({dict(item.choice)[name] for item in found.outcomes}) > 1]


def _sizes(found: Found) -> list[Row]:
    return [
        ("leaf", ">", lambda f: f"{f.leaves:,}"),
        ("spine", ">", lambda f: f"{f.spines:,}"),
        ("core", ">", lambda f: f"{f.cores:,}" if f.cores else "-"),
        ("links", ">", lambda f: f"{f.links:,}"),
        ("built", ">", lambda f: f"{f.oversubscription:.3g}:1"),
    ]


def _figures(found: Found) -> list[Row]:
    money = found.currency
    rows: list[Row] = [("kW", ">", lambda f: _number(f.power_typical_w, 1e3, 1))]
    if money:
        rows += [
            (f"1000 {money}", ">", lambda f: _number(f.capex, 1e3, 0)),
            (f"{money}/GPU", ">", lambda f: _number(f.capex_per_gpu, 1, 0)),
        ]
    rows += [
        ("time ms", ">", lambda f: _number(f.time_us, 1e3, 3)),
        ("busbw GB/s", ">", lambda f: _number(f.busbw_GBps, 1, 1)),
        ("limited by", "<", lambda f: f.bottleneck.partition(", such as ")[0]),
    ]
    return rows


def _number(value: float | None, unit: float, digits: int) -> str:
    return "unknown" if value is None else f"{value / unit:,.{digits}f}"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_dict(found: Found) -> dict[str, Any]:
    """The whole sweep as one document."""
    ask = found.sweep.ask
    return {
        "fabric": found.sweep.base.fabric,
        "gpus": ask.gpus,
        "collective": ask.collective,
        "bytes": ask.size,
        "currency": found.currency,
        "objectives": [item.name for item in found.objectives],
        "front": list(found.front),
        "designs": [item.as_dict() for item in found.outcomes],
    }


def as_json(found: Found) -> str:
    return json.dumps(as_dict(found), indent=2) + "\n"


def as_csv(found: Found) -> str:
    """A line a design, in the order of the choices; plain numbers, empty where nothing is known."""
    figures = [key for key in Outcome((), _NOTHING).as_dict() if key != "choice"]
    dimensions = list(dict(found.outcomes[0].choice)) if found.outcomes else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*dimensions, "front", *figures, "why"])
    for at, item in enumerate(found.outcomes):
        row = item.as_dict()
        place = found.front.index(at) + 1 if at in found.front else ""
        values = [row.get(key) for key in figures]
        writer.writerow([*map(_word, dict(item.choice).values()), place, *("" if v is None else v for v in values), item.why])
    return out.getvalue()


_NOTHING = Figures(0, 0, 0, 0, 0, 0, 0, 0.0, None, None, "", None, None, None)

FORMATS: Mapping[str, Callable[[Found], str]] = {"text": text, "csv": as_csv, "json": as_json}
