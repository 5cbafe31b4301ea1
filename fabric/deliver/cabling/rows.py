"""The run list as rows: both ends of every leg as a person on the floor looks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from fabric.base.formats import csv_text as to_csv, json_line, no_formula
from fabric.base.text import printable
from fabric.deliver.cabling.runs import Runs
from fabric.hardware.catalog import media
from fabric.model.plan import KINDS

Cell = str | int | float
Ints = NDArray[np.int64]

END = ("row", "rack", "ru", "device", "port", "port_name", "plug", "lanes", "optic")
COLUMNS: tuple[str, ...] = (
    *("site", "cable", "fabric", "kind"),
    *(f"a_{name}" for name in END),
    *(f"b_{name}" for name in END),
    *("medium", "class", "speed_gbps", "links", "pieces", "length_m", "order_length_m", "colour", "a_label", "b_label"),
)


def safe(value: Cell) -> Cell:
    """A cell that no spreadsheet evaluates, without control characters."""
    return no_formula(printable(value, "?")) if isinstance(value, str) else value


def selected(runs: Runs, fabric: str = "", limit: str = "") -> Ints:
    """Rows of one fabric, and with a device or rack whose name a pattern matches at either end."""
    chosen = np.ones(len(runs), dtype=bool)
    for number, name in enumerate(runs.names):
        mine = runs.fabric == number
        if fabric not in ("", name):
            chosen[mine] = False
        elif limit:
            names = [device.name for device in runs.plan.fabrics[name].devices]
            fits = np.array(
                [fnmatchcase(device, limit) or fnmatchcase(runs.floor.rack_of(device).name, limit) for device in names]
            )
            chosen[mine] = fits[runs.a[mine]] | fits[runs.b[mine]]
    return np.flatnonzero(chosen)


def rows(runs: Runs, chosen: Ints) -> Iterator[tuple[Cell, ...]]:
    """The chosen legs in their order: whole columns are made, then read across."""
    indices = chosen.tolist()
    names = [runs.names[number] for number in runs.fabric[chosen].tolist()]
    cable = [runs.medium[row] for row in indices]
    class_of = {name: _class(runs, name) for name in dict.fromkeys(cable)}
    optic = [runs.a_optic[row] for row in indices]
    classes = {name: media.optics()[name].class_ for name in dict.fromkeys(optic) if name}
    yield from zip(
        [runs.plan.site] * len(indices),
        [runs.cable[row] for row in indices],
        names,
        [KINDS[kind] for kind in runs.kind[chosen].tolist()],
        *_end(runs, chosen, "a"),
        *_end(runs, chosen, "b"),
        cable,
        [classes.get(lit, class_of[name]) for lit, name in zip(optic, cable, strict=True)],
        runs.speed_gbps[chosen].tolist(),
        runs.links[chosen].tolist(),
        runs.pieces[chosen].tolist(),
        runs.length_m[chosen].tolist(),
        [metres if metres != float("inf") else "" for metres in runs.order_length_m[chosen].tolist()],
        [runs.colour[row] for row in indices],
        [runs.a_label[row] for row in indices],
        [runs.b_label[row] for row in indices],
        strict=True,
    )


def _class(runs: Runs, name: str) -> str:
    its = media.cables().get(name)
    return its.class_ if its else ""


def _end(runs: Runs, chosen: Ints, end: str) -> list[list[Cell]]:
    """The columns of one end."""
    stands: dict[tuple[int, int, str], tuple[str, str, int, str]] = {}
    rows = []
    numbers, indices = runs.fabric[chosen].tolist(), getattr(runs, end)[chosen].tolist()
    for number, index, managed in zip(numbers, indices, [runs.managed[row] for row in chosen.tolist()], strict=True):
        key = (number, index, managed if end == "a" else "")
        if key not in stands:
            name = key[2] or runs.plan.fabrics[runs.names[number]].devices[index].name
            rack = runs.floor.rack_of(name)
            stands[key] = (rack.name.rstrip("0123456789"), rack.name, runs.floor.spots[name].ru, name)
        rows.append(stands[key])
    columns: list[list[Cell]] = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]
    texts = ("port", "port_name", "plug", "lanes", "optic")
    return columns + [[getattr(runs, f"{end}_{text}")[row] for row in chosen.tolist()] for text in texts]


def csv_text(columns: Sequence[str], cells: Iterable[Sequence[Cell]]) -> str:
    """Rows as CSV that a spreadsheet may open."""
    return to_csv(columns, (tuple(map(safe, row)) for row in cells))


def json_text(runs: Runs, chosen: Ints) -> str:
    """The run list as one document, one line per leg."""
    lines = [json_line(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) for row in rows(runs, chosen)]
    head = {"site": runs.plan.site, "racks": len(runs.floor.racks), "rack_units": runs.floor.units}
    return json_line(head, ensure_ascii=False)[:-1] + ', "cables": [\n' + ",\n".join(lines) + "\n]}\n"
