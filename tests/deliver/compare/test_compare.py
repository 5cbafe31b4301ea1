"""Designs side by side: what a second plane buys, cost by token, and the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.cli import main
from fabric.deliver.compare.designs import Design, against
from fabric.deliver.compare.lines import lines
from fabric.deliver.report.compared import page
from fabric.deliver.report.goodput import GoodputSection
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.sections import DAYS_PER_YEAR
from tests import ROOT
from tests.solver.goodput.test_goodput import DUAL, JOB, SINGLE

PRICES = ROOT / "docs" / "prices-example.yaml"


def designs(folder: Path, prices: Path | None = None) -> list[Design]:
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    found = []
    for name, text in (("single", SINGLE), ("dual", DUAL)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        intent = pipeline.load(folder / f"{name}.yaml")
        made = pipeline.plan(intent)
        request = EstimateRequest(routing="", queue_pairs=0)
        job = folder / "job.yaml"
        found.append(pipeline.design(name, intent, made, made.fabrics["backend"], request, job, prices=prices))
    return found


def test_a_second_plane_adds_links_and_time_between_interruptions(tmp_path: Path) -> None:
    single, dual = designs(tmp_path)
    assert (single.planes, dual.planes) == (1, 2)
    assert dual.links > single.links
    assert dual.goodput.mtti_hours.value > single.goodput.mtti_hours.value
    assert dual.goodput.useful.value > single.goodput.useful.value
    assert (single.tco, single.cost_per_billion_tokens) == (None, None)


def test_cost_by_token_is_that_of_the_years(tmp_path: Path) -> None:
    for item in designs(tmp_path, PRICES):
        assert item.tco is not None
        assert item.network_capex is not None
        assert 0 < item.network_capex < item.tco
        tokens = item.goodput.tokens_per_day.value * DAYS_PER_YEAR * item.years
        assert item.cost_per_billion_tokens == pytest.approx(item.tco / tokens * 1e9)
        assert item.goodput.gpus == item.fabric_gpus == 128


def test_a_part_of_the_gpus_pays_a_part_of_the_cost(tmp_path: Path) -> None:
    whole = designs(tmp_path, PRICES)[0]
    intent = pipeline.load(tmp_path / "single.yaml")
    made = pipeline.plan(intent)
    request = EstimateRequest(gpus=64, routing="", queue_pairs=0)
    half = pipeline.design("half", intent, made, made.fabrics["backend"], request, tmp_path / "job.yaml", prices=PRICES)
    assert whole.tco is not None
    assert half.tco == pytest.approx(whole.tco / 2)


def test_the_table_has_a_column_for_each_design(tmp_path: Path) -> None:
    table = lines(designs(tmp_path, PRICES))
    assert table[0].split() == ["single", "dual"]
    assert [line for line in table if len(line) > 100] == []
    assert any(line.startswith("cost per billion tokens") for line in table)


def test_a_mistake_names_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("checkpoint: {write_GBps: 100}\n", ""), encoding="utf-8")
    (tmp_path / "single.yaml").write_text(SINGLE, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(tmp_path / "single.yaml"), "--job", str(tmp_path / "job.yaml")])
    assert ended.value.code == 2
    assert f"{tmp_path}/job.yaml:1:1: error[FAB173]: checkpoint: missing key" in capsys.readouterr().err


def test_the_page_loads_nothing_and_has_every_design(tmp_path: Path) -> None:
    text = page(designs(tmp_path, PRICES), "job.yaml")
    assert "<script" not in text
    assert not re.search(r'(src|href)="?https?:', text)
    for word in ("single", "dual", "Cost per billion tokens", "Lost GPU-hours per year", "at 1 h", "first cause"):
        assert word in text
    assert text == page(designs(tmp_path, PRICES), "job.yaml")


def test_a_year_by_cause_adds_up(tmp_path: Path) -> None:
    for item in designs(tmp_path, PRICES):
        cost = item.cost
        assert cost is not None
        assert item.tco is not None
        assert sum(amount.gpu_hours for amount in cost.amounts) == pytest.approx(128 * 8766)
        assert cost.total == pytest.approx(item.tco / item.years)
        assert all(0 <= (amount.energy or 0) <= amount.cost for amount in cost.amounts)
        assert 0 < cost.saved_at_most < cost.total
    first, second = designs(tmp_path, PRICES)
    assert against(first, first) == {"network": 0, "tokens_worth": 0}
    more = against(second, first)
    assert more is not None
    tokens = [item.goodput.tokens_per_day.value for item in (first, second)]
    assert first.tco is not None  # as many tokens more cost as much at the price of the first
    assert more["tokens_worth"] == pytest.approx((tokens[1] / tokens[0] - 1) * first.tco / first.years)


def test_the_report_has_the_worth_of_a_design(tmp_path: Path) -> None:
    item = designs(tmp_path, PRICES)[0]
    worth = GoodputSection(item.goodput, item.cost)
    assert worth.stops.count("<rect") == sum(row.part.stops for row in item.goodput.interruptions)
    assert "best: " in worth.interval
    assert worth.year_grid.rows[0][0] == "useful computing"
    assert "Costs need a price file." in GoodputSection(item.goodput, None).year_grid.note
