"""The other lists beside the run list: the order of laying, what stands in each rack, one list a rack, and what to buy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from fabric.deliver.cabling.laying_order import Walk
from fabric.deliver.cabling.rows import Cell, Ints
from fabric.deliver.cabling.runs import Runs
from fabric.hardware.catalog import media
from fabric.model.plan import Device

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
    devices: dict[str, Device] = {}
    for number, name in enumerate(runs.names):
        fabric, mine = runs.plan.fabrics[name], chosen[runs.fabric[chosen] == number]
        count = np.bincount(np.concatenate([runs.a[mine], runs.b[mine]]), minlength=len(fabric.devices)).tolist()
        for device in fabric.devices:
            devices.setdefault(device.name, device)
            ends[device.name] += count[device.index]
    spots = runs.floor.spots
    for name in sorted(spots, key=lambda name: (spots[name].rack, -spots[name].ru, name)):
        spot, device = spots[name], devices[name]
        yield runs.floor.racks[spot.rack].name, spot.ru, spot.height, name, device.role, device.model, ends[name]


def rack_lists(runs: Runs, chosen: Ints) -> Iterator[tuple[str, list[tuple[Cell, ...]]]]:
    """Name of every rack with cables, and the ends in it from the top down."""
    ends_by_rack: dict[int, list[tuple[int, str, int, str]]] = defaultdict(list)
    spots = runs.floor.spots
    for number, fabric in enumerate(runs.plan.fabrics.values()):
        names = [device.name for device in fabric.devices]
        mine = chosen[runs.fabric[chosen] == number]
        for end in "ab":
            for row, index in zip(mine.tolist(), getattr(runs, end)[mine].tolist(), strict=True):
                spot = spots[names[index]]
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
    return rows


def _fibre(name: str) -> str:
    its = media.fibres()[name]
    far = f"{its.ends} x {its.far_connector}" if its.ends > 1 else its.far_connector
    return f"{its.fibre} fibre, {its.connector} to {far}" + (", over a patch panel" if its.panel else "")
