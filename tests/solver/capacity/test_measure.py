"""The whole report of a fabric: what it says, for real intents too, and what failures do to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.solver import Network
from fabric.solver.capacity.failures import MAX_CLASSES, NOTHING, apply, elements, parse, separated
from fabric.solver.capacity.measure import Capacity, measure
from fabric.solver.network import network
from tests import ROOT, samples
from tests.solver.capacity.fabrics import FABRICS, STABLE, fabric, networks

INTENTS = ROOT / "intent"


def shares(found: Capacity) -> list[float]:
    rates = [rate for row in found.throughput for rate in (row.optimal, row.ecmp)]
    return [*rates, *(cut.share for cut in found.cuts)]


@pytest.mark.parametrize(
    ("name", "bisection", "where", "uniform"),
    [
        ("rails", 1.0, "units 1-2 against units 3-4", 1.0),
        ("rack", 0.5, "units 1-2 against units 3-5", 0.5 * 9 / 8),
        ("rail-only", 1.0, "unit 1 against units 2-3", 1.0),
        ("collapsed", 1.0, "every second server against the others", 0.5),  # half of the traffic changes leaves
        ("uneven", 0.5, "unit 1 against unit 2", 0.75),  # servers in units of 4 and 3
        ("mixed", 0.5, "unit 1 against units 2-5", 0.625),
        ("planes", 1.0, "unit 1 against units 2-3", 1.0),
        ("pods", 0.5, "units 1-4 against units 5-8", 0.5 * 7 / 6),
    ],
)
def test_bisection_and_uniform_traffic_of_every_kind(name: str, bisection: float, where: str, uniform: float) -> None:
    found = measure(fabric(name), NOTHING, n_minus_1=False)
    assert found.bisection is not None
    assert found.worst is not None
    assert (found.bisection.share, found.bisection.where) == (bisection, where)
    assert found.worst.share <= bisection
    assert found.throughput[0].optimal == pytest.approx(uniform)
    assert found.throughput[0].ecmp == pytest.approx(uniform)
    assert all(row.ecmp <= row.optimal + 1e-9 for row in found.throughput)


@settings(STABLE, max_examples=samples.examples(15))
@given(st.data())
def test_failures_never_help(data: st.DataObject) -> None:
    net = data.draw(networks())
    names = [item.name for item in elements(net)]
    down = data.draw(st.lists(st.sampled_from(names), max_size=3))
    whole = measure(net, NOTHING, n_minus_1=False)
    failed = parse(net, down)
    if separated(net, apply(net, failed)):
        with pytest.raises(InputError, match="FAB171"):
            measure(net, failed)
        return
    left = measure(net, failed, n_minus_1=data.draw(st.booleans()), pairs=1, seed=data.draw(st.integers(0, 9)))
    known = {(cut.kind, cut.where): cut.share for cut in whole.cuts}
    for cut in left.cuts:
        assert 0 <= cut.share <= known.get((cut.kind, cut.where), 1.0) + 1e-9
    for before, after in zip(whole.throughput, left.throughput, strict=True):
        assert 0 <= after.optimal <= before.optimal + 1e-9
        assert 0 <= after.ecmp <= min(before.ecmp, after.optimal + 1e-6) + 1e-9
        assert 0 <= after.asked <= 1 + 1e-9
    for row in (*left.singles, *left.pairs):
        assert row.left.optimal <= left.throughput[0].optimal + 1e-9
        assert row.left.ecmp <= left.throughput[0].ecmp + 1e-9
        assert row.left.paths_after <= row.left.paths_before
        assert (row.left.bisection is None) == (left.bisection is None)
        if row.left.bisection is not None and left.bisection is not None:
            assert row.left.bisection <= left.bisection.share + 1e-9
    assert json.loads(json.dumps(left.as_dict()))["fabric"] == "backend"
    assert left.lines()


def test_single_failures_stand_for_all_elements() -> None:
    net = fabric("uneven", servers=[("four", 12)])
    found = measure(net, NOTHING)
    count = {
        what: sum(row.alike for row in found.singles if row.what == what) for what in {row.what for row in found.singles}
    }
    roles = [device.role for device in net.fabric.devices]
    assert (count["leaf"], count["spine"]) == (roles.count("leaf"), roles.count("spine"))
    assert sum(number for what, number in count.items() if what.endswith("link")) == net.links
    for row in found.singles:
        again = measure(net, parse(net, row.names), n_minus_1=False) if not row.left.partitioned else None
        if again is not None:
            assert again.throughput[0].ecmp == pytest.approx(row.left.ecmp)
            assert again.throughput[0].optimal == pytest.approx(row.left.optimal)
            assert again.servers_cut_off == row.left.servers_cut_off


def test_elements_of_one_class_fail_alike() -> None:
    for name in ("mixed", "pods"):
        net = fabric(name)
        before = measure(net, NOTHING)
        for item, row in zip(elements(net), before.singles, strict=True):
            assert (item.what, item.name, item.alike) == (row.what, row.names[0], row.alike)
            other = item.members[-1:]  # instead of the first, which stands for all
            none = other[:0]
            left = net.without(other, none) if item.link else net.without(none, other)
            again = measure(left, NOTHING, n_minus_1=False).throughput[0] if not row.left.partitioned else None
            if again is not None:
                whole = before.throughput[0]
                assert min(again.ecmp, whole.ecmp) == pytest.approx(row.left.ecmp)
                assert min(again.optimal, whole.optimal) == pytest.approx(row.left.optimal)


def test_a_single_spine_is_a_partition_in_the_table() -> None:
    net = fabric("rack", servers=[("four", 2)], unit={"servers": 1}, spine={"count": 1, "min_count": 1})
    rows = {row.what: row.left for row in measure(net, NOTHING).singles}
    assert (rows["spine"].partitioned, rows["spine"].paths_after) == (True, 0)
    assert (rows["spine"].optimal, rows["spine"].ecmp, rows["spine"].bisection) == (0, 0, 0)
    assert (rows["leaf"].partitioned, rows["leaf"].servers_cut_off) == (False, 1)


def test_many_classes_are_cut_short_and_reported() -> None:
    net = fabric("pods")
    down = parse(net, ["four-0001:compute1", "backend-leaf003:backend-spine003", "backend-spine005"])
    found = measure(net, down)
    assert len(found.singles) <= MAX_CLASSES
    assert len(found.singles) + found.singles_left_out == len(elements(net.without(down.links, down.devices)))
    text = "\n".join(found.lines())
    assert ("more kinds of single failures" in text) == (found.singles_left_out > 1)


def test_pairs_are_the_same_for_one_seed_and_differ_between_seeds() -> None:
    net = fabric("rails")
    drawn = [[row.names for row in measure(net, NOTHING, False, 6, seed).pairs] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("name", FABRICS)
def test_a_fabric_of_one_server_has_no_cut(name: str) -> None:
    model = FABRICS[name]["servers"][0][0]
    found = measure(fabric(name, servers=[(model, 1)], unit={"servers": 1}, pods=None, tiers="auto"), NOTHING)
    assert not any(cut.kind in ("units", "servers", "pods") for cut in found.cuts)
    assert all(row.optimal == row.ecmp == 1.0 for row in found.throughput)
    assert found.lines()


def test_real_intents() -> None:
    expected = {
        "h100-4su": ("backend", 1.0, 1.0, 64),
        "gb300-twin-plane": ("backend", 1.0, 1.0, 108),
        "b200-3tier": ("backend", 1.0, 1.0, 32),
        "lab": ("backend", 0.5, 0.5, 2),
    }
    for intent, (name, bisection, uniform, least) in expected.items():
        net = network(pipeline.plan(pipeline.load(INTENTS / f"{intent}.yaml")).fabrics[name])
        found = measure(net, NOTHING, n_minus_1=False)
        assert found.bisection is not None
        assert (found.bisection.share, found.throughput[0].ecmp, found.paths_least) == (bisection, uniform, least)
        assert found.throughput[0].optimal == pytest.approx(uniform)


def test_lines_read_as_a_report() -> None:
    net: Network = fabric("rack", servers=[("four", 8)])
    text = measure(net, parse(net, ["backend-leaf001:backend-spine001"]), n_minus_1=True, pairs=1).lines()
    assert text[:5] == [
        "fabric backend: 8 servers, 32 GPUs, NICs 1,600 GB/s per direction",
        "  failed       backend-leaf001:backend-spine001",
        "  bisection    37.5 % of NIC speed, 18.8 GB/s per GPU: units 1-2 against units 3-4, limited by leaf-spine links",
        "  worst cut    25.0 % of NIC speed, 12.5 GB/s per GPU: unit 1 against the other 3 units, "
        "limited by leaf-spine links",
        "  paths        4 to 8 between two leaves",
    ]
    titles = [line.split()[0] for line in text if (line.startswith("  ") and "of NIC speed" in line) or "ECMP" in line]
    assert titles[-4:] == ["cuts", "traffic", "one", "two"]
    assert all(line == line.rstrip() for line in text)
