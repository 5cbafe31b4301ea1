"""Cables and optics of a wired fabric, counted off the run list, and the watts of optics in every device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.deliver.bom.parts import CABLE, OPTIC, Part
from fabric.deliver.cabling.runs import Runs
from fabric.hardware.catalog import media
from fabric.model.plan import KINDS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CableCounts:
    """One fabric."""

    counts: Mapping[tuple[str, Part], int]  # (kind of link, part) → how many
    watts: Floats  # per device, of the optics and active ends in it
    unjoined: int  # links that no medium joins


def wired(run: Runs, number: int) -> CableCounts:
    """Counts the rows of one fabric of a run list; `number` is its index."""
    rows = np.flatnonzero(run.fabric == number)
    names = np.array(["", *media.optics(), *media.cables(), *media.fibres()], dtype=object)
    code = {name: position for position, name in enumerate(names)}
    medium, a_optic, b_optic = (_codes(column, rows, code) for column in (run.medium, run.a_optic, run.b_optic))
    kind, pieces = run.kind[rows], run.pieces[rows]
    metres, length = np.unique(run.order_length_m[rows], return_inverse=True)
    counts: dict[tuple[str, Part], int] = defaultdict(int)
    for (position, name, long), count in _sums((kind, medium, length), pieces, medium > 0):
        counts[KINDS[position], Part(CABLE, names[name], float(metres[long]))] += count
    for optic, once in ((a_optic, run.a_optics[rows]), (b_optic, run.b_optics[rows])):
        for (position, name), count in _sums((kind, optic), once, optic > 0):
            counts[KINDS[position], Part(OPTIC, names[name])] += count
    watts = _watts(run, number, rows, medium, (a_optic, b_optic), names)
    return CableCounts(dict(counts), watts, int(run.links[rows][medium == 0].sum()))


def _codes(column: list[str], rows: Ints, code: Mapping[str, int]) -> Ints:
    return np.array([code[column[row]] for row in rows.tolist()], dtype=np.int64)


def _sums(columns: tuple[Ints, ...], weight: Ints, wanted: NDArray[np.bool_]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The sum of weights for every different row of some columns of numbers from 0; sums of 0 are left out."""
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    code = np.ravel_multi_index(tuple(column[wanted] for column in columns), shape)
    keys, every = np.unique(code, return_inverse=True)
    sums = np.bincount(every, weights=weight[wanted], minlength=len(keys)).astype(np.int64)
    for key, count in zip(zip(*np.unravel_index(keys, shape), strict=True), sums.tolist(), strict=True):
        if count:
            yield tuple(map(int, key)), count


def _watts(run: Runs, number: int, rows: Ints, medium: Ints, optics: tuple[Ints, Ints], names: NDArray[Any]) -> Floats:
    """Watts per device: of its optics, and of the ends of cables that have power of their own."""
    devices = len(run.plan.fabrics[run.names[number]].devices)
    total = np.zeros(devices)
    of_optic = np.array([media.optics()[name].power_w if name in media.optics() else 0.0 for name in names])
    one, far = _cable_watts(names)
    breakout = np.array([name in media.cables() and media.cables()[name].ends > 1 for name in names])
    parted_at_b = _parted_at_b(run, number, rows, breakout[medium])
    for index, optic, once, parted in (
        (run.a[rows], optics[0], run.a_optics[rows], ~parted_at_b),
        (run.b[rows], optics[1], run.b_optics[rows], parted_at_b),
    ):
        watts = of_optic[optic] * once + np.where(parted, one[medium] * run.pieces[rows], far[medium])
        total += np.bincount(index, weights=watts, minlength=devices)
    return total


def _cable_watts(names: NDArray[Any]) -> tuple[Floats, Floats]:
    """Power of the one end and of the others, by name."""
    known = media.cables()
    cables = [known.get(name) for name in names]
    one = np.array([cable.power_w if cable else 0.0 for cable in cables])
    far = [0.0 if cable is None else cable.power_w if cable.far_power_w is None else cable.far_power_w for cable in cables]
    return one, np.array(far)


def _parted_at_b(run: Runs, number: int, rows: Ints, breakout: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per row whether a breakout parts the upper end: its name is that of the port it parts."""
    devices = run.plan.fabrics[run.names[number]].devices
    found = np.zeros(len(rows), dtype=bool)
    for at in np.flatnonzero(breakout).tolist():
        row = int(rows[at])
        found[at] = run.cable[row].startswith(f"{devices[int(run.b[row])].name}:")
    return found
