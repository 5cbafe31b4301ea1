"""Bills of wired plans: counted, weighed and priced by hand, and true to the plan's own counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.gather import BomRequest
from fabric.deliver.bom.parts import CABLE, OPTIC, SERVER, SWITCH, Part, Spares
from fabric.deliver.bom.prices import read_yaml
from fabric.deliver.bom.text import lines
from fabric.hardware.catalog import switch
from fabric.hardware.catalog.models import SwitchModel
from fabric.hardware.catalog.power import switch_range
from fabric.model.plan import Plan
from fabric.model.plan.summary import summary
from tests import ROOT
from tests.deliver.bom import designs as bom_designs
from tests.goldens import golden

INTENTS = sorted((ROOT / "intent").glob("*.yaml"))

PRICES = """\
currency: EUR
switches: {sn5600: 50000}
servers: {dgx-h100: 200000}
optics: {800g-2xsr4: 1000}
cables: {mpo12-apc-om4: {each: 40, per_metre: 2}}
discount_percent: {switches: 10}
support_percent: {switches: 5}
labour: {per_switch: 100, per_cable: 10}
energy: {per_kwh: 0.2, pue: 1.25}
years: 4
"""


def bill_of(plan: Plan, **words: object) -> Bill:
    return pipeline.bill(plan, replace(BomRequest(), **words))[0]  # type: ignore[arg-type]


def sn5600() -> SwitchModel:
    model = switch("sn5600")
    assert model is not None
    return model


def counts(bill: Bill) -> dict[Part, tuple[int, int]]:
    return {line.part: (line.in_use, line.spares) for line in bill.lines}


@pytest.fixture
def starter(tmp_path: Path) -> Plan:
    """Eight servers of four twin-port cages on two leaves of 2x400G, 16 uplinks of 800G each to two spines."""
    return bom_designs.plan(tmp_path, "starter")


def test_parts_of_a_small_design(starter: Plan) -> None:
    bill = bill_of(starter)
    assert counts(bill) == {
        Part(SWITCH, "sn5600"): (4, 1),
        Part(SERVER, "dgx-h100"): (8, 0),
        Part(OPTIC, "800g-2xsr4"): (32 + 32 + 32 + 32, 3),  # in servers, below and above leaves, in spines
        Part(CABLE, "mpo12-apc-om4", 3): (64, 2),  # one a NIC
        Part(CABLE, "mpo12-apc-om4", 30): (64, 2),  # two an uplink of 800G
    }
    assert [(use.place, use.count) for use in bill.lines[0].uses] == [("leaf", 2), ("spine", 2)]
    assert [(use.place, use.count) for use in bill.lines[2].uses] == [("server-leaf", 64), ("leaf-spine", 64)]


def test_power_of_a_small_design(starter: Plan) -> None:
    bill = bill_of(starter)
    optics = 128 * 17
    assert bill.network.typical_w == pytest.approx(4 * 940 + optics * 0.85)
    assert (bill.network.typical_low_w, bill.network.typical_high_w) == pytest.approx((3760 + optics * 0.7, 3760 + optics))
    assert bill.network.typical_by == pytest.approx({"data sheet": 3760, "optics": optics * 0.85})
    worst_w = switch_range(sn5600()).max_w
    assert worst_w > 940, "no data sheet has the worst case: it is bounded"
    assert bill.network.max_w == pytest.approx(4 * worst_w + optics)
    assert bill.network.max_by == pytest.approx({"class bound": 4 * worst_w, "optics": optics})
    assert bill.network.bounded == {"sn5600": 4}
    assert bill.server_power.max_w == 8 * 10_200
    assert bill.server_power.max_by == {"data sheet": 8 * 10_200}
    assert bill.server_power.typical_by == {"class bound": pytest.approx(8 * 10_200 * 0.78)}
    assert bill.server_power.bounded == {"dgx-h100": 8}
    assert bill.power.max_w == pytest.approx(bill.network.max_w + bill.server_power.max_w)
    assert sum(rack.power.max_w for rack in bill.racks) == pytest.approx(bill.power.max_w)
    leaf = next(device for rack in bill.racks for device in rack.devices if device.role == "leaf")
    assert leaf.draw.typical_w == pytest.approx(940 + (16 + 16) * 17 * 0.85)
    server = next(device for rack in bill.racks for device in rack.devices if device.role == "server")
    assert (server.draw.max_w, server.draw.bounded) == (10_200 + 4 * 17, True)


def test_power_of_the_price_file_takes_the_place_of_the_catalogs(starter: Plan) -> None:
    power = "power: {sn5600: {typical_w: 1000, max_w: 3000, includes_optics: [max]}, dgx-h100: {typical_w: 7000}}"
    bill = bill_of(starter, prices=read_yaml(f"currency: EUR\n{power}", "prices.yaml"))
    in_leaves, in_spines, in_servers = 64 * 17, 32 * 17, 32 * 17
    assert bill.network.typical_w == pytest.approx(4 * 1000 + (in_leaves + in_spines + in_servers) * 0.85)
    assert bill.network.max_w == 4 * 3000 + in_servers
    assert (bill.server_power.typical_w, bill.server_power.max_w) == (8 * 7000, 8 * 10_200)
    assert bill.power.bounded == {}
    assert set(bill.power.typical_by) == {"stated", "optics"}
    for whole, each in ((bill.power.typical_w, "typical_w"), (bill.power.max_w, "max_w")):
        assert sum(getattr(rack.power, each) for rack in bill.racks) == pytest.approx(whole)
    assert bill.as_dict()["power"]["from_price_file"] == ["dgx-h100", "sn5600"]
    assert "  power from the price file: dgx-h100, sn5600" in lines(bill)
    assert "at least" not in "\n".join(lines(bill)).partition("\nCost")[0]


def test_cost_of_a_small_design(starter: Plan) -> None:
    bill = bill_of(starter, prices=read_yaml(PRICES, "prices.yaml"), pue=1.25, years=4, servers=False)
    assert bill.cost is not None
    assert bill.cost.capex_by_kind == {
        "switches": 5 * 45_000,
        "servers": 0,
        "optics": 131 * 1000,
        "cables": 66 * (40 + 2 * 3) + 66 * (40 + 2 * 30),
        "labour": 4 * 100 + 128 * 10,
    }
    assert bill.cost.support_year == 4 * 45_000 * 0.05
    energy, low, high = ((4 * 940 + 128 * 17 * share) / 1000 * 1.25 * 8760 * 0.2 for share in (0.85, 0.7, 1))
    assert bill.cost.energy_year == pytest.approx(energy)
    assert bill.cost.energy_year_range == pytest.approx((low, high))
    capex = 225_000 + 131_000 + 9_636 + 1_680
    assert bill.cost.capex == capex
    assert bill.cost.tco == pytest.approx(capex + 4 * (9_000 + energy))
    share = bill.shares[0]
    assert share.cost is not None
    assert share.cost.capex == pytest.approx(capex)
    assert share.bandwidth is not None
    assert share.money() == {
        "capex_per_gpu": pytest.approx(capex / 64),
        "capex_per_gpu_at_1_to_1": pytest.approx(capex / 64),
        "capex_per_busbw_GBps": pytest.approx(capex / share.bandwidth.busbw_GBps),
    }


def test_oversubscription_shows_in_the_money_of_a_gpu(tmp_path: Path) -> None:
    prices = read_yaml(PRICES, "prices.yaml")
    share = bill_of(bom_designs.plan(tmp_path, "racks"), prices=prices).shares[0]
    each, even = share.money()["capex_per_gpu"], share.money()["capex_per_gpu_at_1_to_1"]
    assert share.oversubscription == 2  # eight ports of 400G over two uplinks of 800G
    assert each is not None
    assert even == pytest.approx(each * 2)
    assert share.bandwidth is None, "no storage fabric runs an all-reduce"


def test_servers_of_several_fabrics_are_one(tmp_path: Path) -> None:
    bill = bill_of(bom_designs.plan(tmp_path, "half-units", "racks", "oob"))
    line = next(line for line in bill.lines if line.part.kind == SERVER)
    assert [use.count for use in line.uses] == [70, 90, 16]
    assert line.in_use == 90, "groups of one name are the same machines"
    assert bill.server_power.max_w == 90 * 10_200
    names = [device.name for rack in bill.racks for device in rack.devices]
    assert len(names) == len(set(names))


def test_spares_are_pooled_over_fabrics_and_paid_by_those_who_use_them(tmp_path: Path) -> None:
    bill = bill_of(bom_designs.plan(tmp_path, "half-units", "racks"), prices=read_yaml(PRICES, "prices.yaml"), servers=False)
    line = next(line for line in bill.lines if line.part == Part(SWITCH, "sn5600"))
    assert line.spares == -(-line.in_use // 50)
    assert bill.cost is not None
    assert sum(share.cost.capex for share in bill.shares if share.cost) == pytest.approx(bill.cost.capex)


@pytest.mark.parametrize(
    ("percent", "in_use", "spares"),
    [(2, 1, 1), (2, 50, 1), (2, 51, 2), (2, 0, 0), (0, 500, 0), (0.1, 1000, 1), (0.1, 1001, 2), (100, 7, 7)],
)
def test_spares_round_up(percent: float, in_use: int, spares: int) -> None:
    assert Spares(optics=percent).of(Part(OPTIC, "400g-dr4"), in_use) == spares


@pytest.mark.parametrize("name", bom_designs.DESIGNS)
def test_counts_are_those_of_the_plan(name: str, tmp_path: Path) -> None:
    plan = bom_designs.plan(tmp_path, name)
    fabric = plan.fabrics[name]
    row, bill = summary(fabric.spec, fabric.sizing), bill_of(plan)
    uses = [(line.part, use.place, use.count) for line in bill.lines for use in line.uses]
    switches = {place: count for part, place, count in uses if part.kind == SWITCH}
    assert switches == {tier: count for tier, count in row["switches"].items() if count}
    for kind, links in row["links"].items():
        cables = sum(count for part, place, count in uses if part.kind == CABLE and place == kind)
        assert (cables > 0) == (links > 0), kind
        assert cables <= links * 2, f"{kind}: at most two trunks a link"
        if kind in ("leaf-spine", "leaf-leaf") and all(
            part.item[:3] in ("aoc", "dac", "acc") for part, place, _ in uses if place == kind
        ):
            assert cables == row["cables"][kind], f"{kind}: a cable of fixed ends takes a cage"
    assert sum(count for part, _, count in uses if part.kind == SERVER) == row["servers"]


@pytest.mark.parametrize("path", INTENTS, ids=[path.stem for path in INTENTS])
def test_every_shipped_intent_has_a_bill(path: Path) -> None:
    bill = bill_of(pipeline.plan(pipeline.load(path)))
    assert bill.unjoined == 0
    assert not bill.surely_hot
    text = "\n".join(lines(bill))
    assert "no price" not in text
    assert text == "\n".join(lines(bill_of(pipeline.plan(pipeline.load(path)))))
    json.dumps(bill.as_dict(), allow_nan=False)


def test_racks_that_are_alike_share_a_row(tmp_path: Path) -> None:
    bill = bill_of(bom_designs.plan(tmp_path, "half-units"))
    text = lines(bill)
    begin = text.index(f"Racks: {len(bill.racks)}, none above 45 kW in the worst case")
    rows = [line.split() for line in text[begin + 2 :]]
    assert sum(int(row[0]) for row in rows) == len(bill.racks)
    assert rows[0][:6] == ["17", "B01,", "B02", "and", "15", "more"]


def test_only_what_lacks_a_price_is_at_least(tmp_path: Path) -> None:
    """Servers have no price here: a fabric's own columns are whole, the site's are not."""
    prices = read_yaml(PRICES.replace("servers: {dgx-h100: 200000}", "servers: {}"), "prices.yaml")
    text = lines(bill_of(bom_designs.plan(tmp_path, "starter"), prices=prices))
    assert next(line.split() for line in text if line.startswith("  capex")) == ["capex", "367,316", "at", "least", "367,316"]


def test_a_rack_above_the_limit_is_reported(starter: Plan) -> None:
    bill = bill_of(starter, rack_limit_w=40_000.0)
    assert [rack.name for rack in bill.hot] == ["B01", "B03"]
    assert "Racks: 4, 2 of them above 40 kW in the worst case" in lines(bill)
    assert not bill_of(starter, rack_limit_w=60_000.0).hot


@pytest.mark.parametrize(("name", "servers"), [("starter", True), ("two-tier", False)])
def test_golden(name: str, servers: bool, tmp_path: Path) -> None:
    bill = bill_of(bom_designs.plan(tmp_path, name), prices=read_yaml(PRICES, "prices.yaml"), servers=servers)
    golden(f"bom/{name}.txt", "\n".join(lines(bill)) + "\n")
