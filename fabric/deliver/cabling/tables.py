"""The lists: the run list as rows, the order of laying, racks, what to buy; on one screen and as a workbook."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place, Warnings, nearest, show
from fabric.base.formats import Sheet, csv_text as to_csv, json_line, no_formula, workbook
from fabric.base.schemas.models import Amount, Count, Document, Text, described, enum_of, extended, json_key
from fabric.base.text import aligned, plural, printable
from fabric.deliver.cabling.ends import Ints
from fabric.deliver.cabling.laying_order import Walk, walk
from fabric.deliver.cabling.patched import stands
from fabric.deliver.cabling.runs import TONES, Runs, runs
from fabric.design.floor.floor import floor
from fabric.hardware.catalog import media
from fabric.model.plan import KINDS, Plan

# --- run list -------------------------------------------------------------------------------------------------

Cell = str | int | float

END = {"row": str, "rack": str, "ru": Count, "device": Text}
END |= dict.fromkeys(("port", "port_name", "plug", "lanes", "optic"), str)
CELLS: dict[str, Any] = {  # column → type
    **dict.fromkeys(("site", "cable", "fabric"), Text),
    "kind": Annotated[str, enum_of(KINDS)],
    **{f"{side}_{name}": kind for side in "ab" for name, kind in END.items()},
    "medium": str,
    "class": str,
    "speed_gbps": Annotated[Count, described("of one link")],
    "links": Count,
    "pieces": Count,
    "length_m": Annotated[Amount, described("along the route of the cable")],
    "order_length_m": Amount,
    **dict.fromkeys(("colour", "a_label", "b_label"), str),
}
COLUMNS: tuple[str, ...] = tuple(CELLS)
CableDocument = extended(Document, **{name: (kind, ...) for name, kind in CELLS.items()})


class CablesDocument(Document):
    site: Text
    racks: Count
    rack_units: Count = json_key("of one rack")
    cables: list[CableDocument] = json_key("in the order of laying; `a` is the lower end")  # type: ignore[valid-type]


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
            names = stands(runs.plan.fabrics[name])
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
    """Of a cable with ends of its own; of a jumper by its fibre."""
    fibre, its = media.fibres().get(name), media.cables().get(name)
    if fibre is not None:
        return "multimode" if fibre.fibre.startswith("OM") else "single-mode"
    return its.class_ if its else ""


def _end(runs: Runs, chosen: Ints, end: str) -> list[list[Cell]]:
    """The columns of one end."""
    found: dict[tuple[int, int, str], tuple[str, str, int, str]] = {}
    names, rows = [stands(runs.plan.fabrics[name]) for name in runs.names], []
    numbers, indices = runs.fabric[chosen].tolist(), getattr(runs, end)[chosen].tolist()
    for number, index, managed in zip(numbers, indices, [runs.managed[row] for row in chosen.tolist()], strict=True):
        key = (number, index, managed if end == "a" else "")
        if key not in found:
            name = key[2] or names[number][index]
            rack = runs.floor.rack_of(name)
            found[key] = (rack.name.rstrip("0123456789"), rack.name, runs.floor.place(name).ru, name)
        rows.append(found[key])
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


# --- run list in the order of laying --------------------------------------------------------------------------


@dataclass(frozen=True)
class RunList:
    """All cables, the rows of those that were asked for, and the walk that lays these."""

    runs: Runs
    chosen: Ints
    walk: Walk
    warnings: Warnings


def run_list(plan: Plan, fabric: str = "", limit: str = "") -> RunList:
    """The cables of a plan, of one fabric, or of the devices and racks of a pattern.

    Raises InputError where the floor cannot be laid out, for links that nothing joins, and for a pattern without a match.
    """
    ground = floor(plan)
    cables = runs(plan, ground)
    if cables.errors:
        raise InputError(cables.errors)
    chosen = selected(cables, fabric, limit)
    if limit and not len(chosen):
        names = [device.name for name, its in plan.fabrics.items() if fabric in ("", name) for device in its.devices]
        message = f"{show(limit)} matches no device or rack of a cable"
        raise InputError([Diagnostic("FAB162", Place("--limit"), message, nearest(limit, names))])
    return RunList(cables, chosen, walk(cables, chosen), (*ground.warnings, *cables.warnings))


PANEL = "panel"  # role of a patch panel, as lists have it

# --- other lists ----------------------------------------------------------------------------------------------

PATCH_COLUMNS = ("step", "from_rack", "to_rack", "cable", "medium", "order_length_m", "colour", "from", "to")
RACK_COLUMNS = ("rack", "ru", "height_units", "device", "role", "model", "cable_ends")
TOTAL_COLUMNS = ("item", "what", "length_m", "count")
RACK_LIST_COLUMNS = (
    "ru",
    "device",
    "port",
    "port_name",
    "plug",
    "optic",
    "cable",
    "medium",
    "order_length_m",
    "colour",
    "to",
)


def patch_rows(runs: Runs, walk: Walk) -> Iterator[tuple[Cell, ...]]:
    """Cables in the order of laying; those of one step are carried together."""
    for row, step, turned in zip(walk.row.tolist(), walk.step.tolist(), walk.turned.tolist(), strict=True):
        here, there = runs.a_place[row], runs.b_place[row]
        here, there = (there, here) if turned else (here, there)
        racks = (here.partition("-U")[0], there.partition("-U")[0])
        yield step, *racks, runs.cable[row], runs.medium[row], _metres(runs, row), runs.colour[row], here, there


def _metres(runs: Runs, row: int) -> Cell:
    metres = float(runs.order_length_m[row])
    return metres if np.isfinite(metres) else ""


def rack_rows(runs: Runs, chosen: Ints) -> Iterator[tuple[Cell, ...]]:
    """Every rack from its top down, with the cable ends of each device."""
    ends: Counter[str] = Counter()
    words: dict[str, tuple[str, str]] = {}  # device → role and model
    for number, name in enumerate(runs.names):
        fabric, mine = runs.plan.fabrics[name], chosen[runs.fabric[chosen] == number]
        names = stands(fabric)
        count = np.bincount(np.concatenate([runs.a[mine], runs.b[mine]]), minlength=len(names)).tolist()
        for name, here in zip(names, count, strict=True):
            ends[name] += here
        words = {device.name: (device.role, device.model) for device in fabric.devices} | words
        panels = fabric.patching.panels if fabric.patching else ()
        words |= {panel.name: (PANEL, f"{panel.ports} ports") for panel in panels}
    spots = {**runs.floor.spots, **runs.floor.panels}
    for name in sorted(spots, key=lambda name: (spots[name].rack, -spots[name].ru, name)):
        spot = spots[name]
        yield runs.floor.racks[spot.rack].name, spot.ru, spot.height, name, *words[name], ends[name]


def rack_lists(runs: Runs, chosen: Ints) -> Iterator[tuple[str, list[tuple[Cell, ...]]]]:
    """Name of every rack with cables, and the ends in it from the top down."""
    ends_by_rack: dict[int, list[tuple[int, str, int, str]]] = defaultdict(list)
    for number, fabric in enumerate(runs.plan.fabrics.values()):
        names = stands(fabric)
        mine = chosen[runs.fabric[chosen] == number]
        for end in "ab":
            for row, index in zip(mine.tolist(), getattr(runs, end)[mine].tolist(), strict=True):
                spot = runs.floor.place(names[index])
                ends_by_rack[spot.rack].append((-spot.ru, names[index], row, end))
    for rack in sorted(ends_by_rack):
        yield runs.floor.racks[rack].name, [_rack_end(runs, *entry) for entry in sorted(ends_by_rack[rack])]


def _rack_end(runs: Runs, ru: int, device: str, row: int, end: str) -> tuple[Cell, ...]:
    its = [getattr(runs, f"{end}_{text}")[row] for text in ("port", "port_name", "plug", "optic")]
    far = (runs.b_place if end == "a" else runs.a_place)[row]
    return -ru, device, *its, runs.cable[row], runs.medium[row], _metres(runs, row), runs.colour[row], far


def totals(runs: Runs, chosen: Ints) -> list[tuple[Cell, ...]]:
    """What to buy, without spares: cables by kind and length, optics by kind."""
    cables: Counter[tuple[str, float]] = Counter()
    optics: Counter[str] = Counter()
    for row in chosen.tolist():
        if runs.medium[row]:
            cables[runs.medium[row], float(runs.order_length_m[row])] += int(runs.pieces[row])
        for end in "ab":
            if optic := getattr(runs, f"{end}_optic")[row]:
                optics[optic] += int(getattr(runs, f"{end}_optics")[row])
    rows: list[tuple[Cell, ...]] = [
        (name, media.bought(name).description or _fibre(name), metres, count)
        for (name, metres), count in sorted(cables.items())
    ]
    for name, count in sorted(optics.items()):
        its = media.optics()[name]
        rows.append((name, f"{its.class_} optic, {its.ports} x {its.connector}, {'/'.join(its.forms)}", "", count))
    rows += [
        (f"patch-panel-{ports}", f"patch panel of {ports} ports", "", count)
        for ports, count in sorted(_panels(runs, chosen).items())
    ]
    return rows


def _panels(runs: Runs, chosen: Ints) -> Counter[int]:
    """Patch panels that the chosen cables lead to: ports of one → how many."""
    counts: Counter[int] = Counter()
    for number, name in enumerate(runs.names):
        fabric, mine = runs.plan.fabrics[name], chosen[runs.fabric[chosen] == number]
        met = {*runs.b[mine].tolist()} - set(range(len(fabric.devices)))
        counts.update(fabric.patching.panels[at - len(fabric.devices)].ports for at in met if fabric.patching)
    return counts


def _fibre(name: str) -> str:
    its = media.fibres()[name]
    far = f"{its.ends} x {its.far_connector}" if its.ends > 1 else its.far_connector
    return f"{its.fibre} fibre, {its.connector} to {far}" + (", over a patch panel" if its.panel else "")


# --- one screen -----------------------------------------------------------------------------------------------


def text(runs: Runs, chosen: Ints, walk: Walk) -> str:
    """Cables to buy, and the walking distance to lay them."""
    rows = totals(runs, chosen)
    cables = len({runs.cable[row] for row in chosen.tolist()})
    length_m = float((runs.length_m[chosen] * (runs.pieces[chosen] > 0)).sum())
    devices = len(runs.floor.spots)
    lines = [
        f"{runs.plan.site}: {cables:,} cables, {_far(length_m)}, in {len(runs.floor.racks):,} racks for {devices:,} devices"
        + (f", over {plural(len(runs.floor.panels), 'patch panel')}" if runs.floor.panels else ""),
        "",
    ]
    cells = [
        (f"{count:,}", str(name), f"{metres:g} m" if isinstance(metres, float) else "", str(label))
        for name, label, metres, count in rows
    ]
    lines += aligned(cells, ">8<>7<", indent="  ") if cells else []
    walks = (walk.walked_m, walk.bundles_as_listed_m, walk.cables_as_listed_m)
    patch, bundles, single = map(_far, walks)
    lines += ["", f"  walking distance: {patch} in patch order, {bundles} in list order, {single} one cable at a time"]
    return "\n".join(lines) + "\n"


def _far(metres: float) -> str:
    return f"{metres / 1000:,.1f} km" if metres >= 1000 else f"{metres:.0f} m"


# --- workbook -------------------------------------------------------------------------------------------------

WORDS = {"ru": "RU", "gbps": "Gb/s", "a": "A", "b": "B"}


def xlsx(runs: Runs, chosen: Ints, walk: Walk) -> bytes:
    """The workbook. The same bytes every time."""
    sheets = (
        _sheet("Cables", COLUMNS, rows(runs, chosen), frozen=2),
        _sheet("Patch order", PATCH_COLUMNS, patch_rows(runs, walk)),
        _sheet("Racks", RACK_COLUMNS, rack_rows(runs, chosen)),
        _sheet("To buy", TOTAL_COLUMNS, totals(runs, chosen)),
    )
    return workbook(f"Cables of {runs.plan.site}", sheets, TONES)


def _sheet(title: str, columns: Sequence[str], cells: Iterable[Sequence[Cell]], frozen: int = 0) -> Sheet:
    tinted = columns.index("colour") if "colour" in columns else -1
    return Sheet(
        title=title, columns=tuple(map(_heading, columns)), rows=list(cells), frozen=frozen, tinted=tinted, thousands=False
    )


def _heading(column: str) -> str:
    """`a_port_name` → `A port name`, `order_length_m` → `Order length m`."""
    text = " ".join(WORDS.get(word, word) for word in column.split("_"))
    return text[:1].upper() + text[1:]
