"""Figures of the page and of its data: those that the other commands print, and loads that physics allows."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.text import percent
from fabric.configs.hosts.nccl import spreading
from fabric.configs.port_names import PortNames
from fabric.deliver.report.answers import worst
from fabric.deliver.report.bandwidth import curve_grid, failures_grid
from fabric.deliver.report.data import ROLES, document
from fabric.deliver.report.hardware import bill, power_grid, sites
from fabric.deliver.report.loads import loads, scenarios, spread, spread_grid
from fabric.deliver.report.numbers import pools_grid
from fabric.deliver.report.study import ReportRequest, Study, mean_loss, slowest_loss, studies
from fabric.deliver.report.summary import figures, tiers_grid
from fabric.deliver.report.tables import Pool, cells, packed, ranges, tables, unpacked
from fabric.model.plan import KINDS, LEAF_SPINE, SERVER_LEAF, SPINE_CORE, FabricPlan, Plan
from fabric.solver.estimate import request as estimate_request
from fabric.solver.estimate.nic_bandwidth import supply
from fabric.solver.estimate.placement import place
from fabric.solver.estimate.request import EstimateRequest
from tests import ROOT
from tests.deliver.report.designs import DESIGNS, plan_of, write
from tests.deliver.report.page_reader import Page
from tests.examples import folder

EVERY = [name for name in DESIGNS if name != "large"]


OOB = """\
version: 1
site: dc1
fabrics:
  oob:
    purpose: oob
    nos: cumulus
    servers: {model: dgx-h100, count: 96, name: gpu}
    topology: {unit: {servers: 48}, leaf: {switch: sn2201, uplinks: {count: 2}}, spine: {switch: sn3700c}}
"""


def _document(plan: Plan, wanted: ReportRequest | None = None) -> dict[str, Any]:
    known = {study.fabric.name: scenarios(study) for study in studies(plan, wanted or ReportRequest())}
    return document(plan, known, {name: tables(fabric) for name, fabric in plan.fabrics.items()}, sites(plan))


@cache
def _document_of(name: str) -> dict[str, Any]:
    return _document(plan_of(name))


@pytest.mark.parametrize("name", EVERY)
def test_data_is_the_plan(name: str) -> None:
    plan = plan_of(name)
    data = _document_of(name)
    assert data["site"] == "dc1"
    for fabric, shown in zip(plan.fabrics.values(), data["fabrics"], strict=True):
        devices = {key: unpacked(column) for key, column in shown["devices"].items()}
        links = {key: unpacked(column) for key, column in shown["links"].items()}
        assert {len(column) for column in devices.values()} == {len(fabric.devices)}
        assert {len(column) for column in links.values()} == {len(fabric.links)}
        assert devices["name"] == [device.name for device in fabric.devices]
        assert [ROLES[role] for role in devices["role"]] == [device.role for device in fabric.devices]
        for key in ("pod", "unit", "plane", "rail", "asn", "number"):
            assert devices[key] == [getattr(device, key) for device in fabric.devices]
        for key, own in (("a", "a"), ("b", "b"), ("kind", "kind"), ("speed", "speed_gbps")):
            assert links[key] == getattr(fabric.links, own).tolist()
        for end in "ab":
            labels = [data["strings"][at] for at in links[f"{end}port"]]
            assert labels == PortNames(fabric).columns(end)[0].tolist()


@pytest.mark.parametrize("name", EVERY)
def test_loads_are_shares_that_physics_allows(name: str) -> None:
    plan = plan_of(name)
    for fabric, shown in zip(plan.fabrics.values(), _document_of(name)["fabrics"], strict=True):
        assert shown["scenarios"]
        for scenario in shown["scenarios"]:
            up, down = (np.array(unpacked(scenario[key])) for key in ("up", "down"))
            assert len(up) == len(down) == len(fabric.links)
            assert up.min(initial=0) >= 0
            servers = fabric.links.kind == SERVER_LEAF
            assert up[servers].max() <= 1000  # a NIC sends no more than its line rate
            assert not up[scenario["dead"]].any()
            assert not down[scenario["dead"]].any()
            touched = np.isin(fabric.links.a, scenario["dead_devices"]) | np.isin(fabric.links.b, scenario["dead_devices"])
            assert np.flatnonzero(touched).tolist() == scenario["dead"]


@pytest.mark.parametrize(
    ("name", "pattern"), [("small", "ring"), ("medium", "peers"), ("medium", "tree"), ("mixed", "halving")]
)
@pytest.mark.parametrize("routing", ["ecmp", "spray"])
def test_fullest_link_is_what_the_estimate_uses(name: str, pattern: str, routing: str) -> None:
    """Of a pattern of one phase, the share of NIC speed that `fabric estimate` finds is 1 by the peak."""
    net = Study(plan_of(name).fabrics["backend"], ReportRequest(), ()).net
    found = supply(net, place(net, None), routing, 4, seed=0)
    phases = [found._phase(phase, 0)[0] for phase in found._phases(pattern)]
    peak = loads(net, pattern, routing, 4).peak
    assert max(1.0, peak) == pytest.approx(1 / min(phases))


def test_figures_are_those_of_plan_and_capacity(tmp_path: Path) -> None:
    intent = pipeline.load(write(tmp_path, "medium"))
    study = Study(pipeline.plan(intent).fabrics["backend"], ReportRequest(), ())
    row = pipeline.summarize(intent)["fabrics"]["backend"]
    shown = {figure.term: (figure.value, figure.note) for figure in figures(study)}
    assert shown["servers"] == (f"{row['servers']}", f"{row['gpus']} GPUs")
    capacity = estimate_request.capacity(study.fabric, (), 0, 0)
    assert capacity.bisection is not None
    assert shown["bisection"][0] == f"{100 * capacity.bisection.share:.1f} %"


def test_groups_of_servers_have_leaves_units_and_ratios_of_their_own(tmp_path: Path) -> None:
    text = write(tmp_path, "mixed").read_text(encoding="utf-8")
    text = text.replace("unit: {servers: 16}", "spine: {count: 4}, leaf: {uplinks: {count: 8}, oversubscription: 2}")
    path = tmp_path / "groups.yaml"
    path.write_text(
        text.replace("count: 32}", "count: 32, unit: {servers: 32}}").replace("count: 40}", "count: 40, unit: {servers: 20}}")
    )
    study = Study(pipeline.plan(pipeline.load(path)).fabrics["backend"], ReportRequest(), ())
    shown = {figure.term: (figure.value, figure.note) for figure in figures(study)}
    assert shown["units"] == ("3", "of 32 or 20 servers")
    assert shown["oversubscription"] == ("2 and 1.25 : 1", "of leaves")
    assert [row[:5] for row in tiers_grid(study).rows] == [
        ("leaf of dgx-h100", "sn5600", "8", "32 × 400G", "8 × 800G"),
        ("leaf of quad", "sn5600", "8", "20 × 400G", "8 × 800G"),
        ("spine", "sn5600", "4", "32 × 800G", ""),
    ]


def test_curve_is_the_estimate() -> None:
    fabric = plan_of("medium").fabrics["backend"]
    routing, queue_pairs = spreading(fabric)
    grid = curve_grid(Study(fabric, ReportRequest(collective="all_gather", size_bytes=3 << 20), ()))
    rows = {row[0]: row for row in grid.rows}
    for size, name in ((3 << 20, "3 MiB"), (1 << 30, "1 GiB")):
        asked = EstimateRequest(collective="all_gather", sizes=(size,), routing=routing, queue_pairs=queue_pairs)
        one = pipeline.estimate(fabric, asked)[0].rows[0]
        band = f"{one.p10_us:,.1f} to {one.p90_us:,.1f}"
        assert rows[name][2:5] == (f"{one.time_us:,.1f}", band, f"{one.busbw_GBps:,.2f}")


def test_failures_come_in_the_order_of_what_they_cost() -> None:
    study = Study(plan_of("medium").fabrics["backend"], ReportRequest(), ())
    costs = [(mean_loss(loss), slowest_loss(study, loss)) for loss in study.ranked]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == len(estimate_request.capacity(study.fabric, (), 0, 0).singles)
    grid = failures_grid(study)
    # one of 16 cores: its pods' spines lose one of two paths of their group, so the pairs behind them lose a third
    assert grid.rows[0][:5] == ("core", "16", "backend-core001", "6.5 %", "34.4 %")


def test_what_is_down_is_shown() -> None:
    plan = plan_of("medium")
    fabric = plan.fabrics["backend"]
    wanted = ReportRequest(fail=("backend-core001", "backend-leaf001:backend-spine001"))
    found = scenarios(studies(plan, wanted)[0])
    core = fabric.by_name["backend-core001"].index
    ends = (fabric.by_name["backend-leaf001"].index, fabric.by_name["backend-spine001"].index)
    down = (fabric.links.b == core) | ((fabric.links.a == ends[0]) & (fabric.links.b == ends[1]))
    assert found[-1].name == "alltoall, ECMP, backend-core001 and backend-leaf001:backend-spine001 down"
    assert found[-1].dead.tolist() == np.flatnonzero(down).tolist()
    assert found[-1].loads.peak >= found[0].loads.peak
    assert found[3].name == "alltoall, ECMP, backend-core001 down"  # the worst single switch, unasked


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (ReportRequest(), ["alltoall, ECMP", "all_reduce 8 GiB, ECMP", "alltoall, spraying"]),
        (ReportRequest(collective_first=True), ["all_reduce 8 GiB, ECMP", "alltoall, ECMP", "alltoall, spraying"]),
        (ReportRequest(collective="alltoall", collective_first=True), ["alltoall 8 GiB, ECMP", "alltoall 8 GiB, spraying"]),
    ],
)
def test_the_first_view_loads_every_tier_unless_a_collective_is_named(wanted: ReportRequest, names: list[str]) -> None:
    found = scenarios(studies(plan_of("medium"), wanted)[0])
    assert [one.name for one in found][: len(names)] == names


def test_servers_of_two_fabrics_fail_in_both_and_their_ports_in_one() -> None:
    plan = plan_of("two-fabrics")
    found = studies(plan, ReportRequest(fail=("dgx-h100-0001", "dgx-h100-0002:storage1", "storage-leaf001")))
    assert [study.fail for study in found] == [
        ("dgx-h100-0001",),
        ("dgx-h100-0001", "dgx-h100-0002:storage1", "storage-leaf001"),
    ]


@pytest.mark.parametrize(
    ("fail", "code"),
    [
        (("backend-core999",), "FAB170"),
        (("backend-leaf001:nowhere",), "FAB170"),
        (("backend-spine001", "backend-spine002"), ""),
    ],
)
def test_failures_that_are_none(fail: tuple[str, ...], code: str) -> None:
    plan = plan_of("small")
    if not code:
        assert studies(plan, ReportRequest(fail=fail))[0].failed.names == fail
        return
    with pytest.raises(InputError) as error:
        studies(plan, ReportRequest(fail=fail))
    assert [one.code for one in error.value.diagnostics] == [code]


def test_spread_is_even_by_spraying_alone() -> None:
    study = Study(plan_of("medium").fabrics["backend"], ReportRequest(), ())
    found = spread(study)
    assert found is not None
    assert [tier.name for tier in found.tiers] == ["leaf → spine", "spine → core", "core → spine", "spine → leaf"]
    for tier in found.tiers:
        assert tier.hashed.sum() == pytest.approx(1)
        assert tier.sprayed.tolist()[4] == pytest.approx(1)  # 1:1, so every link is full and none more
        assert np.count_nonzero(tier.hashed) > 3


@pytest.mark.parametrize("name", ["collapsed", "one-server", "small"])
def test_nothing_to_spread(name: str) -> None:
    """Servers half the fabric apart share their switches."""
    assert spread(studies(plan_of(name), ReportRequest())[0]) is None


@pytest.mark.parametrize("name", EVERY)
def test_tables_read_as_the_script_reads_them(name: str) -> None:
    plan = plan_of(name)
    data = _document(plan, ReportRequest(load=False))
    for table in data["tables"]:
        fabric = list(plan.fabrics.values())[table["fabric"]]
        rows = cells(data, table, 10_000)
        titles = [column["title"] for column in table["columns"]]
        assert len(rows) == _wanted_rows(fabric, table["id"])
        assert all(len(row) == len(titles) for row in rows)
        first = dict(zip(titles, rows[0], strict=True))
        if table["id"] == "links":
            assert (first["kind"], first["A"]) == (KINDS[fabric.links.kind[0]], fabric.devices[fabric.links.a[0]].name)
        if table["id"] == "switches":
            device = fabric.switches[0]
            assert (first["switch"], first.get("ASN", "")) == (device.name, str(device.asn or ""))
            assert first.get("unit", "") == (str(device.unit + 1) if device.unit >= 0 else "")
            assert ("plane" in first) == (fabric.spec.planes > 1)
        if table["id"] == "sessions":
            assert all(row[titles.index("ASN")] and row[titles.index("peer ASN")] for row in rows)


def _wanted_rows(fabric: FabricPlan, table: str) -> int:
    servers = sum(device.role == "server" for device in fabric.devices)
    sessions = pipeline_sessions(fabric)
    return {"switches": len(fabric.switches), "links": len(fabric.links), "servers": servers, "sessions": sessions}[table]


def pipeline_sessions(fabric: FabricPlan) -> int:
    """As `plan --json` counts them."""
    return int(Study(fabric, ReportRequest(), ()).row["bgp"]["sessions"])


def test_page_shows_the_same_figures() -> None:
    from fabric.deliver.report.page import page

    plan = plan_of("medium")
    messages = Page(page(plan, ReportRequest())).messages
    study = studies(plan, ReportRequest())[0]
    for text in (*next(iter(figures(study))).value, *curve_grid(study).rows[-1], *failures_grid(study).rows[0]):
        assert str(text) in messages


@given(st.lists(st.integers(-(2**40), 2**40), max_size=50))
def test_packed_columns_come_back(values: list[int]) -> None:
    assert unpacked(packed(np.array(values, dtype=np.int64))) == values


@given(st.lists(st.integers(0, 30), max_size=30))
def test_ranges_hold_every_row_in_order(rows: list[int]) -> None:
    assert [at for first, end in ranges(np.array(rows, dtype=np.int64)) for at in range(first, end)] == rows


def test_pool_numbers_texts_once() -> None:
    pool = Pool()
    assert (pool("x"), pool(""), pool("x"), pool.column(["y", "x"])) == (1, 0, 1, [2, 1])
    assert pool.texts == ["", "x", "y"]


@pytest.mark.parametrize("name", ["small", "medium", "mixed"])
def test_mean_loss_is_bounded_by_the_slowest_pair(name: str) -> None:
    for fabric in plan_of(name).fabrics.values():
        study = Study(fabric, ReportRequest(), ())
        for loss in study.ranked:
            assert 0 <= mean_loss(loss) <= 1 - loss.left.asked * (1 - slowest_loss(study, loss)) + 1e-9
            links_down = loss.what.endswith("link") and loss.what != "server-leaf link"
            if links_down:  # one link of a kind of n carries a share of about 1/n
                assert mean_loss(loss) < 4 / loss.alike


@pytest.mark.parametrize("intent", ["ai-eos", "ai-nxos", "evpn-lab"])
def test_addresses_in_use_are_in_their_pool_and_in_configs(intent: str) -> None:
    plan = pipeline.plan(pipeline.load(ROOT / f"intent/{intent}.yaml"))
    written = "\n".join(path.read_text() for path in sorted(folder(intent).rglob("*")) if path.is_file())
    for fabric in plan.fabrics.values():
        rows = pools_grid(fabric).rows
        assert {"loopbacks", "links of switches", "management"} <= {row[0] for row in rows}
        for name, pool, _, first, last, _ in rows:
            for address in (first, last):
                assert any(ip_address(address) in ip_network(part) for part in pool.split(", ")), (name, address)
                assert re.search(rf"(?<![\d.]){re.escape(address)}(?![\d.])", written), (name, address)


def test_spread_counts_every_link_of_a_tier() -> None:
    study = Study(plan_of("medium").fabrics["backend"], ReportRequest(), ())
    found = spread(study)
    assert found is not None
    rows = {row[0]: row for row in spread_grid(found).rows}
    for kind, tiers in ((LEAF_SPINE, ("leaf → spine", "spine → leaf")), (SPINE_CORE, ("spine → core", "core → spine"))):
        links = int((study.fabric.links.kind == kind).sum())
        assert [rows[tier][1] for tier in tiers] == [f"{links:,}"] * 2


def test_a_server_without_a_data_sheet_is_bounded_by_class(tmp_path: Path) -> None:
    intent = tmp_path / "own.yaml"
    intent.write_text(
        "version: 1\nsite: own\n"
        "catalog: {servers: {mysrv: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}}}}}\n"
        "fabrics:\n  backend:\n    servers: {model: mysrv, count: 8}\n    topology: {switch: sn5600}\n"
    )
    grid = power_grid(bill(pipeline.plan(pipeline.load(intent))))
    rows = {row[0]: row[1:] for row in grid.rows}
    low, _, high = rows["servers"][0].partition("-")
    assert 0 < float(low) < float(high) < float(rows["servers"][1])
    assert grid.total
    assert grid.rows[-1][0] == "at the meter, PUE 1.3"
    assert "mysrv (8)" in grid.note


def test_the_worst_switch_failure_counts_the_servers_that_it_cuts_off(tmp_path: Path) -> None:
    path = tmp_path / "oob.yaml"
    path.write_text(OOB, encoding="utf-8")
    study = Study(pipeline.plan(pipeline.load(path)).fabrics["oob"], ReportRequest(), ())
    leaf = next(loss for loss in study.ranked if loss.what == "leaf")
    assert leaf.left.servers_cut_off == 48
    assert worst(study) == (f"{percent(mean_loss(leaf))} of traffic", "leaf, 48 servers cut off; spine none")
