"""The counts of docs/statements.md without a plan: a random part is judged again, and runs can be continued."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.audit.checks import by_equals_page
from tests.audit.checks.all_damage import Task, choice, counted, judged_again, keep, key_of, read, written
from tests.audit.checks.by_equals import COUNTS, KINDS, Rates, judged, with_equals
from tests.audit.checks.by_equals_page import Row, devices, fits
from tests.audit.checks.damage import damages
from tests.audit.checks.principle import GAP, OWN_VALUE
from tests.audit.checks.shapes import SYSTEMS, Switch

COUNTED = pytest.mark.skipif(
    not COUNTS.exists(), reason="no counts: `python -m tests.audit.checks.all_damage DIR`, then --write"
)
SAMPLE = 20  # damaged files of one switch per network OS
SHAPE = "routed"


def sample(nos: str) -> Switch:
    return next(with_equals(nos, (SHAPE,)))


@pytest.mark.slow
@COUNTED
@pytest.mark.parametrize("nos", SYSTEMS)
def test_a_random_part_agrees_with_the_counts_of_the_page(nos: str) -> None:
    """If it does not, checks or templates have changed: `python -m tests.audit.checks.all_damage DIR`, then `--write`."""
    switch = sample(nos)
    row = {(shape, device): row for shape, device, row in devices(nos)}[switch.shape, switch.view.device.name]
    if by_equals_page.document()["each"][nos]:  # files of any switch stand for those of others
        row = by_equals_page.total(by_equals_page.rows()[nos])
    found, every = judged(switch, SAMPLE).of(*KINDS)
    assert every == SAMPLE
    assert fits(found, every, row), f"{nos}: {found} of {every}, but {row.found} of {row.all} in by_equals.json"


@COUNTED
def test_the_counts_are_of_the_present_designs() -> None:
    counts = {(row["nos"], row["shape"], row["device"]): row["damaged"] for row in by_equals_page.document()["rows"]}
    assert set(counts) == {(one.nos, one.shape, one.view.device.name) for nos in SYSTEMS for one in with_equals(nos)}
    for nos in SYSTEMS:
        switch = sample(nos)
        assert sum(1 for _ in damages(switch)) == pytest.approx(counts[nos, SHAPE, switch.view.device.name], rel=0.1)


@COUNTED
def test_at_least_60_percent_is_found_on_every_network_os() -> None:
    for nos, kinds in by_equals_page.rows().items():
        row = by_equals_page.total(kinds)
        assert row.found >= 0.6 * row.all, nos


@pytest.mark.parametrize(("found", "expected"), [(18, True), (15, True), (6, False)])
def test_a_sample_fits_or_not(found: int, expected: bool) -> None:
    assert fits(found, 20, Row(error=400, warning=500, missed=Counter({GAP: 100}))) is expected


def test_one_file_of_a_form_stands_for_all() -> None:
    todo = list(with_equals("frr", ("routed", "ipv6")))
    chosen = choice(todo, 1)
    assert sum(sum(one.values()) for one in chosen.values()) == sum(sum(1 for _ in damages(one)) for one in todo)
    assert sum(map(len, chosen.values())) < 0.3 * sum(sum(1 for _ in damages(one)) for one in todo)


def test_a_run_goes_on_and_is_written_down(tmp_path: Path) -> None:
    switch = sample("frr")
    chosen = {key_of(switch): dict.fromkeys(range(0, 600, 60), 2)}
    task = Task(tmp_path, 1, chosen, again=False, commit="abc")
    (line,) = keep([switch], task)
    assert line.startswith("frr.routed.backend-spine001: ")
    assert list(keep([switch], task)) == []  # it is there
    document = read(tmp_path / f"{key_of(switch)}.json")
    result = Rates.from_dict(document)
    assert result.as_dict() == {key: document[key] for key in result.as_dict()}
    again = judged_again(switch, result)
    assert again.counts == result.counts
    assert again.missed == result.missed
    (row,) = counted(tmp_path)["rows"]
    assert row["judged"] == result.judged
    assert written({"rows": [row]}).count("\n") == 5


def test_a_row_adds_up() -> None:
    row = Row(3, 4, 1, Counter({GAP: 2, OWN_VALUE: 1}))
    assert row.cells() == ["10", "3", "4", "3", "1", "1", "2", "70.0 %", "77.8 %"]
