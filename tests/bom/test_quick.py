"""The bill of a sizing alone: the same as that of the wired plan where cables are as long, and fast."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.bom.bill import Bill
from fabric.bom.gather import BomRequest, gather
from fabric.bom.parts import SERVER, SWITCH
from fabric.bom.power import Power
from fabric.bom.prices import Prices, read, read_yaml
from fabric.bom.quick import Quick, quick
from fabric.plan.lock_file import Lock
from fabric.planner.resolve import resolve
from fabric.planner.site import size_site
from tests import ROOT
from tests.bom import designs as bom_designs
from tests.cost import calls

PRICES = ROOT / "docs" / "prices-example.yaml"


def quick_of(folder: Path, name: str, prices: Prices | None = None) -> Quick:
    intent = bom_designs.site(folder, name)
    spec, sizing = size_site(resolve(intent.site, intent.source), Lock())[name]
    return quick(spec, sizing, prices)


def stated(bill: Bill, held: str) -> Prices:
    """A price file that states the power of every switch of a bill."""
    models = {line.part.item for line in bill.lines if line.part.kind == SWITCH}
    rows = "".join(f"\n  {model}: {{typical_w: 800, max_w: 2500{held}}}" for model in sorted(models))
    return read_yaml(f"currency: EUR\npower:{rows}", "prices.yaml")


def assert_same(found: Power, wanted: Power) -> None:
    for figure in ("typical_low_w", "typical_w", "typical_high_w", "max_w"):
        assert getattr(found, figure) == pytest.approx(getattr(wanted, figure)), figure
    assert found.typical_by == pytest.approx(wanted.typical_by)
    assert found.bounded == wanted.bounded


@pytest.mark.parametrize("name", bom_designs.DESIGNS)
def test_agrees_with_the_wired_plan(name: str, tmp_path: Path) -> None:
    prices = read(PRICES)
    bill, _ = gather(bom_designs.plan(tmp_path, name), BomRequest(prices=prices, servers=False, spares=prices.spares))
    found = quick_of(tmp_path, name, prices)
    assert dict(found.parts) == {line.part: line.in_use for line in bill.lines if line.part.kind != SERVER}
    assert_same(found.power, bill.network)
    assert found.energy_kwh_year == pytest.approx(bill.network.kwh_per_year(1.3))
    assert found.cost is not None
    assert bill.cost is not None
    assert found.cost.capex == pytest.approx(bill.cost.capex)
    assert (found.capex is None) == bool(bill.cost.unpriced)


@pytest.mark.parametrize("held", ["", ", includes_optics: [max]", ", includes_optics: [typical, max]"])
@pytest.mark.parametrize("name", ["two-tier", "three-tier", "dual-tor", "infiniband", "frontend", "mixed"])
def test_agrees_on_power_that_the_price_file_states(name: str, held: str, tmp_path: Path) -> None:
    plan = bom_designs.plan(tmp_path, name)
    prices = stated(gather(plan, BomRequest())[0], held)
    bill, _ = gather(plan, BomRequest(prices=prices, servers=False))
    found = quick_of(tmp_path, name, prices)
    assert_same(found.power, bill.network)
    switches = sum(line.in_use for line in bill.lines if line.part.kind == SWITCH)
    assert bill.network.max_w >= switches * 2500
    assert bill.network.bounded == {}


def test_is_without_capex_where_it_cannot_be_known(tmp_path: Path) -> None:
    assert quick_of(tmp_path, "starter").capex is None
    assert quick_of(tmp_path, "starter", read(PRICES)).capex == pytest.approx(250_000 + 131 * 800 + 66 * (46 + 100) + 4_000)
    assert quick_of(tmp_path, "two-tier", read(PRICES)).capex is None, "the example has no price of a generic switch"


def test_says_what_no_medium_joins(tmp_path: Path) -> None:
    intent = bom_designs.site(tmp_path, "starter")
    text = intent.path.read_text(encoding="utf-8").replace("leaf-spine: 30", "leaf-spine: 90000")
    intent.path.write_text(text, encoding="utf-8")
    from fabric import pipeline

    far = pipeline.load(intent.path)
    found = quick(*size_site(resolve(far.site, far.source), Lock())["starter"], read(PRICES))
    assert found.unjoined == ("leaf-spine",)
    assert found.capex is None


@pytest.mark.parametrize("name", ["two-tier", "planes", "three-tier"])
def test_a_bill_costs_a_few_thousand_calls(name: str, tmp_path: Path) -> None:
    intent = bom_designs.site(tmp_path, name)
    spec, sizing = size_site(resolve(intent.site, intent.source), Lock())[name]
    prices = read(PRICES)
    quick(spec, sizing, prices)
    assert calls(lambda: quick(spec, sizing, prices)) < 10_000  # 3,600 at most, about 1 ms: `fabric explore` makes thousands
