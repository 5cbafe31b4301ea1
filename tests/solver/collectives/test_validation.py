"""Cross-validation and bands: what is left out is not seen, weights are limited, bands cover what they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabric.solver.collectives import band
from fabric.solver.collectives.band import features
from fabric.solver.collectives.calibrate import better_platform
from fabric.solver.collectives.physics import Coverage, Kind, MeasuredRange, origin, shipped
from fabric.solver.collectives.validation import (
    MAX_SOURCE_WEIGHT,
    Predicted,
    figures,
    left,
    row_weights,
    three_points,
    twins,
)
from fabric.solver.collectives.validation_report import banded, interval_scores
from fabric.solver.measured.tables import Table
from tests.solver.collectives.test_score import MORE, REFERENCES, tables

EVERY = [table for folder in (REFERENCES, MORE) for table in tables(folder) if table.scored_rows]
KNOWN = Coverage(
    {Kind("hopper", "roce", "all_reduce"): MeasuredRange(3, 1024), Kind("hopper", "none", "gather"): MeasuredRange(1, 8)}
)


@pytest.mark.parametrize("split", ["source", "kind", "scale", "points", "pairs"])
def test_a_fit_never_sees_what_it_predicts(split: str) -> None:
    tasks = list(left(EVERY, (), split))
    assert tasks
    for task in tasks:
        seen = {table.id for table in task.train}
        assert seen.isdisjoint(table.id for table in task.test)
        assert task.unseen.isdisjoint(origin(table.source) for table in task.train)
    if split in ("source", "points"):
        assert sorted(table.id for task in tasks for table in task.test) == sorted(table.id for table in EVERY)
    if split == "scale":
        assert max(table.platform.ranks for table in tasks[0].train) <= 128 < min(t.platform.ranks for t in tasks[0].test)


def predicted(source: str, rows: int, error: float, seed: int, table: Table = EVERY[0]) -> Predicted:
    chance = np.random.Generator(np.random.PCG64(seed))
    sizes = np.exp2(chance.integers(3, 33, rows))
    measured = np.exp(chance.normal(0, error, rows))
    kind = Kind("hopper", "roce", "all_reduce")
    return Predicted(
        split="source",
        name=source,
        table=replace(table, source=source),
        kind=kind,
        bytes=sizes,
        time_us=np.ones(rows),
        measured_us=measured,
        known=KNOWN,
    )


def test_no_source_has_more_than_a_tenth() -> None:
    found = [predicted(f"s{at}", 400 if at < 2 else 20, 0.1, at) for at in range(30)]
    weights = row_weights(found)
    totals = {item.source: weights[item.source] * len(item.bytes) for item in found}
    assert max(totals.values()) / sum(totals.values()) == pytest.approx(MAX_SOURCE_WEIGHT)
    assert weights["s5"] == 1.0
    assert figures(found)["sources"] == 30


def test_the_band_covers_errors_of_sources_that_it_has_not_seen() -> None:
    """Sources with one spread of errors: eight of ten rows lie inside, and a constant band is as good."""
    names = [f"s{at}" for at in range(20)]
    items = [predicted(name, 60, 0.2, at) for at, name in enumerate(names)]
    errors = [replace(item, unseen=frozenset(names)) for item in items]
    found = banded(items, errors)
    assert len(found) == len(items)
    inside = np.concatenate([part.inside for part in found])
    assert 0.76 <= inside.mean() <= 0.84
    own, constant = interval_scores(found)
    assert own == pytest.approx(constant, rel=0.1)


def test_a_band_never_sees_the_source_that_it_is_scored_on() -> None:
    """Errors count only where the fit saw neither source: that is so for s0 and s1, not for s2."""
    narrow = [predicted(f"s{at}", 60, 0.01, at) for at in range(3)]
    pair = frozenset({"s0", "s1"})
    errors = [replace(narrow[0], unseen=pair), replace(narrow[1], unseen=pair)]
    wild = replace(narrow[2], unseen=frozenset({"s2"}), measured_us=narrow[2].measured_us * 100)
    with_it, without = banded(narrow, [*errors, wild]), banded(narrow, errors)
    assert [part.item.source for part in without] == ["s0", "s1"]
    for one, other in zip(with_it, without, strict=True):
        assert one.low == pytest.approx(other.low)
        assert one.high == pytest.approx(other.high)


def test_twins_share_the_stated_platform() -> None:
    """A row's twin is the median of the other sources of the same setting at its size."""
    made = [predicted(f"s{at}", 1, 0.0, at) for at in range(4)]
    sizes = np.array([8.0, 1024.0])
    made = [
        replace(item, bytes=sizes, time_us=np.array([7.0, 7.0]), measured_us=np.array([1.0, 4.0]) * (at + 1))
        for at, item in enumerate(made)
    ]
    lone = replace(made[3], kind=Kind("volta", "none", "gather"))
    by_twin, same = twins([*made[:3], lone])
    assert [item.source for item in by_twin] == ["s0", "s1", "s2"]
    assert by_twin[0].time_us == pytest.approx(np.sqrt([6.0, 96.0]))
    assert [item.time_us.tolist() for item in same] == [[7.0, 7.0]] * 3


def test_what_was_not_measured_has_a_wider_band() -> None:
    def width(kind: Kind, ranks: int) -> float:
        low, high, _ = band.shipped().factors(kind, np.array([1 << 20, 1 << 30], dtype=np.float64), ranks, 8, KNOWN)
        assert (low < 1).all()
        assert (high > 1).all()
        return float((high / low).max())

    known = width(Kind("hopper", "roce", "all_reduce"), 1024)
    assert width(Kind("hopper", "efa", "all_reduce"), 1024) > known
    assert width(Kind("cdna4", "roce", "all_reduce"), 1024) > known
    assert width(Kind("hopper", "roce", "all_reduce"), 8192) > known
    (note,) = band.beyond(Kind("hopper", "roce", "all_reduce"), 8192, 8, KNOWN)
    assert note == "no measured table of all_reduce has 8,192 GPUs, the largest has 1,024: the band is wider"
    assert not band.beyond(Kind("hopper", "roce", "all_reduce"), 1024, 8, KNOWN)


def test_one_note_says_what_was_not_measured() -> None:
    """Ranks, number and size of NVLink domains; each of them widens the band by the doubling."""
    kind = Kind("hopper", "roce", "all_reduce")
    known = Coverage({kind: MeasuredRange(3, 1024, (8,), 128)})
    (note,) = band.beyond(kind, 2048, 4, known)
    assert note == (
        "no measured table of all_reduce has 2,048 GPUs, the largest has 1,024; or hopper GPUs, roce and 512 NVLink domains "
        "(measured: up to 128) or NVLink domains of about 4 GPUs (measured: 8): the band is wider and not to be trusted"
    )
    assert not band.beyond(kind, 1024, 8, known)
    sizes = np.array([2.0**30])
    for ranks, domain in ((1024, 4), (1024, 2), (1024, 64), (1024, 128)):
        found = features(kind, sizes, ranks, domain, known)
        assert found["doublings beyond the most NVLink domains"][0] == max(0, np.log2(ranks / domain / 128))
        assert found["doublings to a measured NVLink domain"][0] == abs(np.log2(domain / 8))


def test_a_healthy_run_of_a_source_left_out_reaches_its_floor() -> None:
    """Sources with one spread of errors: about the percentile that was asked for."""
    items = [predicted(f"s{at}", 60, 0.2, at) for at in range(20)]
    errors = [replace(item, unseen=frozenset(item.source for item in items)) for item in items]
    for share in (0.9, 0.95, 0.99):
        found = banded(items, errors, dict.fromkeys(band.GATES, share))
        above = np.concatenate([part.item.measured_us <= part.item.time_us * part.slow for part in found])
        assert share - 0.03 <= above.mean() <= share + 0.03


def test_three_points_are_the_nearest_rows() -> None:
    table = next(table for table in EVERY if table.id == "aws_p5_1n_allreduce")
    assert [row.bytes for row in three_points(table.scored_rows)] == [8, 8 << 20, 1 << 30]


def test_a_wrong_transport_is_noticed() -> None:
    table = next(table for table in EVERY if table.id == "aws_p5_2n_allreduce_slurm")
    assert better_platform(table, shipped()) == ""
    wrong = replace(table, platform=replace(table.platform, transport="infiniband"))
    assert "transport" in better_platform(wrong, shipped())
