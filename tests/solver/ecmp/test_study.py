"""Paths of flows over real plans: they lead where they should, chance is chance, and polarization is found where it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric import pipeline
from fabric.base import source
from fabric.configs import targets
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site
from fabric.model.plan.lock_file import Lock
from fabric.solver import Network, Routes
from fabric.solver.ecmp import paths as ecmp, polarization
from fabric.solver.ecmp.flows import Flows, addresses, connections, queue_pairs, redraw, shift, together, udp_source_port
from fabric.solver.ecmp.hashing import Hash, by_tier
from fabric.solver.ecmp.study import rates, study
from fabric.solver.network import network, routes, spread
from tests import ROOT

INTENTS = ROOT / "intent"
STABLE = settings(derandomize=True, deadline=None, database=None, max_examples=36)
MODES = st.sampled_from(list(ecmp.MODES))

FABRICS = {
    "rail-optimized": "servers: {model: dgx-h100, count: 12}\n    topology: {switch: 32x400g, unit: {servers: 4}}",
    "rack": "servers: {model: dgx-h100, count: 9, per_rack: 2}\n    topology: {kind: rack, switch: 64x400g}",
    "rail-only": "servers: {model: dgx-h100, count: 10}\n    topology: {kind: rail-only, switch: 16x400g}",
    "pair": "servers: {model: dgx-h100, count: 4}\n    topology: {kind: collapsed, switch: sn5600}",
    "planes": "servers: {model: twin, count: 12}\n    topology: {planes: 2, switch: 32x400g, unit: {servers: 6}}",
    "dual-tor": "servers: {model: twin, count: 12}\n    topology: {dual_tor: true, switch: 32x400g, unit: {servers: 6}}",
    "three-tiers": "servers: {model: dgx-h100, count: 12}\n"
    "    topology: {switch: 32x400g, tiers: 3, unit: {servers: 4}, pods: {units: 1}}",
    "mixed": "servers: [{model: dgx-h100, count: 5}, {model: twin, count: 6, name: t}]\n    topology: {switch: sn5600}",
}
INTENT = """
version: 1
site: test
catalog: {servers: {twin: {gpus: 4, nics: {compute: {count: 4, ports: 2, speed_gbps: 200}}}}}
fabrics:
  backend:
    underlay: {addressing: %s}
    %s
"""


def _net(text: str) -> tuple[Network, Routes]:
    parsed = source.parse(text, "intent.yaml")
    site = validate(parsed)
    plan = plan_site(spec := resolve(site, parsed), Lock(), targets.choose(spec.fabrics))
    net = network(plan.fabrics["backend"])
    return net, routes(net)


@cache
def built(name: str, addressing: str = "ipv4") -> tuple[Network, Routes]:
    return _net(INTENT % (addressing, FABRICS[name]))


@cache
def three_tiers() -> tuple[Network, Routes]:
    """512 servers in four pods: every leaf 32 links to 32 spines, every spine 32 to a core group."""
    net = network(pipeline.plan(pipeline.load(INTENTS / "b200-3tier.yaml")).fabrics["backend"])
    return net, routes(net)


def pairs(net: Network, draw: st.DrawFn, most: int = 12) -> Flows:
    """Any flows between any ports, also of one server, one leaf, or a port to itself."""
    port = st.integers(0, len(net.ports.link) - 1)
    some = draw(st.lists(st.tuples(port, port), min_size=1, max_size=most))
    table = np.array(some)
    weight = np.array(draw(st.lists(st.sampled_from((1.0, 1.0, 3.0)), min_size=len(some), max_size=len(some))))
    return queue_pairs(connections(table[:, 0], table[:, 1], weight), draw(st.integers(1, 3)))


@st.composite
def situations(draw: st.DrawFn) -> tuple[Network, Routes, Flows]:
    """A fabric with some links and switches down, and flows over it."""
    net, route_table = built(draw(st.sampled_from(sorted(FABRICS))), draw(st.sampled_from(("ipv4", "ipv6", "unnumbered"))))
    flows = pairs(net, draw)
    links = draw(st.lists(st.integers(0, net.links - 1), max_size=6))
    switches = [device.index for device in net.fabric.switches]
    devices = draw(st.lists(st.sampled_from(switches), max_size=1))
    if links or devices:
        net = net.without(np.array(links, dtype=np.int64), np.array(devices, dtype=np.int64))
        route_table = routes(net)
    return net, route_table, flows


@STABLE
@given(situations(), MODES)
def test_paths_lead_from_nic_to_nic_over_links_that_are_up(situation: tuple[Network, Routes, Flows], mode: str) -> None:
    net, route_table, flows = situation
    paths = ecmp.route(net, route_table, flows, mode)
    assert net.alive[paths.link].all()
    assert (np.diff(paths.flow) >= 0).all()
    for at in range(len(flows)):
        mine = paths.flow == at
        link, share = paths.link[mine], paths.share[mine]
        if paths.lost[at] or flows.source_port[at] == flows.target_port[at]:
            assert not len(link)
            continue
        ports = net.ports
        begin, end = ports.server[flows.source_port[at]], ports.server[flows.target_port[at]]
        extra = np.zeros(len(net.level))  # what comes out of every device, less what goes in
        np.add.at(extra, net.tail[link], share)
        np.add.at(extra, net.head[link], -share)
        expected = np.zeros(len(net.level))
        expected[begin] += 1
        expected[end] -= 1
        assert extra == pytest.approx(expected)
        assert share[link == ports.link[flows.source_port[at]]].sum() == pytest.approx(1)
        assert share[link == net.reverse(ports.link[flows.target_port[at]])].sum() == pytest.approx(1)
        if mode == "ecmp":
            assert (net.head[link[:-1]] == net.tail[link[1:]]).all()


@STABLE
@given(situations())
def test_all_modes_agree_on_who_is_lost_and_spray_on_the_equal_split(situation: tuple[Network, Routes, Flows]) -> None:
    net, route_table, flows = situation
    sprayed = ecmp.route(net, route_table, flows, "spray")
    leaf = net.ports.leaf
    begin, end = leaf[flows.source_port], leaf[flows.target_port]
    for mode in ("ecmp", "adaptive"):
        assert (ecmp.route(net, route_table, flows, mode).lost == sprayed.lost).all()
    open_ = ~sprayed.lost & (flows.source_port != flows.target_port)
    expected, lost = spread(route_table, begin[open_], end[open_], flows.weight[open_])
    assert not lost.any()
    inside = (net.level[net.tail] > 0) & (net.level[net.head] > 0)
    assert ecmp.load(net, sprayed, flows.weight)[inside] == pytest.approx(expected[inside])


@STABLE
@given(situations(), MODES)
def test_loads_need_no_paths(situation: tuple[Network, Routes, Flows], mode: str) -> None:
    net, route_table, flows = situation
    paths = ecmp.route(net, route_table, flows, mode)
    loads, lost = ecmp.load_of(net, route_table, flows, mode)
    assert loads == pytest.approx(ecmp.load(net, paths, flows.weight))
    assert (lost == paths.lost).all()


@STABLE
@given(situations(), MODES)
def test_rates_fit_the_links_and_the_lost_get_none(situation: tuple[Network, Routes, Flows], mode: str) -> None:
    net, route_table, flows = situation
    paths = ecmp.route(net, route_table, flows, mode)
    rate = rates(net, paths)
    assert (rate[paths.lost] == 0).all()
    assert (ecmp.load(net, paths, np.where(np.isfinite(rate), rate, 0)) <= net.capacity * (1 + 1e-9)).all()
    pace, link = ecmp.slowest_rate(net, ecmp.load(net, paths, np.ones(len(flows))))
    routed = ~paths.lost & np.isfinite(rate)
    assert (rate[routed] >= pace * (1 - 1e-9)).all()  # max-min never falls below the first bottleneck
    assert (link == -1) == (not len(paths.link))


def test_planes_and_rails_do_not_meet() -> None:
    net, route_table = built("planes")
    ports = net.ports
    plane = np.array([net.fabric.devices[leaf].plane for leaf in ports.leaf.tolist()])
    one, other = np.flatnonzero(plane == 0)[0], np.flatnonzero(plane == 1)[-1]
    flows = connections(np.array([one, one]), np.array([other, np.flatnonzero(plane == 0)[-1]]))
    for mode in ecmp.MODES:
        assert ecmp.route(net, route_table, flows, mode).lost.tolist() == [True, False]
    found = study(net, route_table, flows, seeds=2)
    assert (found.lost, found.worst_GBps, found.connections) == (1, 0.0, 2)


def test_a_choice_depends_on_the_udp_port_alone_and_repeats() -> None:
    net, route_table = three_tiers()
    flows = shift(net, 200)
    first, again, other = (ecmp.route(net, route_table, flows, seed=seed) for seed in (3, 3, 4))
    assert (first.link == again.link).all()
    assert (first.link == ecmp.route(net, route_table, redraw(flows, 3)).link).all()
    assert (first.link != other.link).mean() > 0.5
    same = replace(redraw(flows, 3), weight=flows.weight * 2)
    assert (ecmp.route(net, route_table, same).link == first.link).all()


def test_a_study_leaves_out_ports_that_send_to_themselves() -> None:
    net, route_table = built("rail-optimized")
    flows = queue_pairs(connections(np.array([0, 1, 9]), np.array([0, 33, 41])), 2)
    found = study(net, route_table, flows, seeds=2)
    assert found.connections == 2
    assert 0 < found.worst_GBps <= found.mean_GBps <= 50
    for nothing in (flows.take(flows.connection == 0), flows.take(flows.connection < 0)):
        with pytest.raises(ValueError, match="expected at least 1 flow between two ports, got none"):
            study(net, route_table, nothing)


def test_queue_pairs_carry_what_their_connection_did() -> None:
    flows = connections(np.array([0, 1]), np.array([5, 6]), weight=np.array([8.0, 2.0]), job=np.array([0, 3]))
    four = queue_pairs(flows, 4, seed=1)
    assert np.bincount(four.connection, four.weight).tolist() == [8.0, 2.0]
    assert four.qp.tolist() == [0, 1, 2, 3] * 2
    assert four.job.tolist() == [0] * 4 + [3] * 4
    assert (four.udp_source >= 0xC000).all()
    assert len(set(four.udp_source.tolist())) == 8
    with pytest.raises(ValueError, match="expected at least 1 queue pair a connection, got 0"):
        queue_pairs(flows, 0)
    with pytest.raises(ValueError, match="several queue pairs already"):
        queue_pairs(four, 2)


def test_udp_source_ports_are_those_of_linux() -> None:
    local, remote = np.array([1, 0x123456, 0xFFFFFF, 0x800001]), np.array([1, 0xABCDEF, 0xFFFFFF, 0x000100])
    expected = []
    for one, two in zip(local.tolist(), remote.tolist(), strict=True):
        label = one * two
        label ^= label >> 20
        label ^= label >> 40
        label &= 0xFFFFF
        expected.append((label & 0x3FFF) ^ (label & 0xFC000) >> 14 | 0xC000)
    assert expected[0] == 0xC001
    assert udp_source_port(local, remote).tolist() == udp_source_port(remote, local).tolist() == expected


@pytest.mark.parametrize("addressing", ["ipv4", "ipv6", "unnumbered"])
@pytest.mark.parametrize("name", sorted(FABRICS))
def test_every_port_has_an_address_of_its_own(name: str, addressing: str) -> None:
    net, _ = built(name, addressing)
    found = addresses(net)
    assert len(np.unique(found)) == len(net.ports.link)
    first = int(net.fabric.subnet[net.ports.link[0]])
    assert addressing != "ipv4" or int(found[0]) == first + 1


def test_rings_and_permutations_stay_on_their_rail() -> None:
    net, _ = built("mixed")
    ports = net.ports
    for flows in (shift(net), shift(net, 3), shift(net, 1, shuffled=5)):
        assert sorted(flows.target_port.tolist()) == list(range(len(ports.link)))
        assert (ports.nic[flows.source_port] == ports.nic[flows.target_port]).all()
        assert (ports.port[flows.source_port] == ports.port[flows.target_port]).all()
        assert (ports.server[flows.source_port] != ports.server[flows.target_port]).all()


# Mean of the fullest of k links by their fair share, when k x m flows choose at random (Monte Carlo, 200,000 draws).
@pytest.mark.parametrize(("queue_pairs_", "peak"), [(1, 3.55), (2, 2.71), (4, 2.17), (8, 1.80)])
def test_uplinks_fill_as_balls_fill_bins(queue_pairs_: int, peak: float) -> None:
    net, route_table = three_tiers()
    flows = queue_pairs(shift(net, 128), queue_pairs_)  # the next pod: all 32 flows of a leaf go up its 32 uplinks
    up = (net.level[net.tail] == 1) & (net.level[net.head] == 2)
    found = []
    for seed in range(4):
        loads = ecmp.load(net, ecmp.route(net, route_table, flows, seed=seed), flows.weight)
        fullest = np.zeros(len(net.level))
        np.maximum.at(fullest, net.tail[up], loads[up])
        found.append(fullest[net.level == 1].mean())
    assert np.mean(found) == pytest.approx(peak, rel=0.03)


def by_hand(net: Network, route_table: Routes, flows: Flows) -> np.ndarray:
    """Load of every link when each flow in turn takes the least loaded uplink; no ties are left to break."""
    loads = np.zeros(len(net.tail))
    leaf = net.ports.leaf
    for begin, end, weight in zip(leaf[flows.source_port], leaf[flows.target_port], flows.weight, strict=True):
        start, count = (int(column[0]) for column in route_table.next_hops(np.array([begin]), np.array([end])))
        links = route_table.pool[start : start + count]
        loads[links[np.argmin(loads[links])]] += weight
    return loads


def test_adaptive_takes_the_least_loaded_next_hop() -> None:
    net, route_table = built("rail-optimized")
    draw = np.random.Generator(np.random.PCG64(0))
    flows = shift(net, 4)
    flows = together([replace(flows, weight=draw.random(len(flows))) for _ in range(3)])
    paths = ecmp.route(net, route_table, flows, "adaptive", flowlets=1)
    up = (net.level[net.tail] == 1) & (net.level[net.head] == 2)
    for leaf in np.unique(net.ports.leaf).tolist():  # ties decide which link, not how full they are
        mine = up & (net.tail == leaf)
        got, expected = ecmp.load(net, paths, flows.weight)[mine], by_hand(net, route_table, flows)[mine]
        assert sorted(got) == pytest.approx(sorted(expected))


def test_modes_and_queue_pairs_in_their_order() -> None:
    net, route_table = three_tiers()
    flows = shift(net, 1, shuffled=1)
    one, four = (study(net, route_table, queue_pairs(flows, count), seeds=2) for count in (1, 4))
    adaptive = study(net, route_table, flows, "adaptive", seeds=2)
    spray = study(net, route_table, flows, "spray")
    for figure in ("mean_GBps", "p50_GBps", "worst_GBps"):
        order = [getattr(found, figure) for found in (one, four, adaptive, spray)]
        assert order == sorted(order), figure
    assert spray.worst_GBps == pytest.approx(50)
    for found in (one, four, adaptive, spray):
        assert found.worst_GBps <= found.p99_GBps <= found.p50_GBps
        assert " -> " in found.busiest
    names = [tier.name for tier in one.tiers]
    assert names == ["server -> leaf", "leaf -> spine", "spine -> core", "core -> spine", "spine -> leaf", "leaf -> server"]
    up = {found.mode: found.tiers[1] for found in (one, adaptive, spray)}
    assert up["ecmp"].unused > 1000  # (1 - 1/32)^32 of 4,096 links get none of 32 flows
    assert up["ecmp"].collisions > 800
    assert up["adaptive"].unused == up["adaptive"].collisions == up["spray"].collisions == 0
    assert one.tiers[0].peak == one.tiers[5].peak == 1


def test_sprayed_paths_that_do_not_fit_in_memory_get_their_first_bottleneck(monkeypatch: pytest.MonkeyPatch) -> None:
    net, route_table = three_tiers()
    net = net.without(np.flatnonzero(net.tail == net.ports.leaf[0])[:8], np.empty(0, np.int64))
    route_table, flows = routes(net), queue_pairs(shift(net, 130), 2)
    exact = study(net, route_table, flows, "spray")
    monkeypatch.setattr(ecmp, "MAX_ENTRIES", 1000)
    rough = study(net, route_table, flows, "spray")
    assert (exact.rates, rough.rates) == ("max-min", "first bottleneck")
    assert rough.worst_GBps == pytest.approx(exact.worst_GBps)
    assert rough.worst_GBps <= 50 * 24 / 32 * 1.001  # 8 of the leaf's 32 uplinks are down
    assert rough.mean_GBps <= exact.mean_GBps * (1 + 1e-9)
    assert rough.busiest == exact.busiest
    assert [tier.links for tier in rough.tiers] == [tier.links for tier in exact.tiers]
    with pytest.raises(ecmp.TooManyPathsError, match="the sprayed paths of 8192 flows do not fit in memory"):
        ecmp.route(net, route_table, flows, "spray")


@pytest.mark.parametrize(
    ("hash_", "change", "reason"),
    [
        (Hash(), {"seed": 0}, "the same hash with the same seed"),
        (Hash(family="crc16", seeding="key"), {"seed": 0}, "the same hash with the same seed"),
        (Hash(family="crc16", seeding="key"), {"seed": 1}, "seeds differ, but crc16 is linear"),
        (Hash(family="crc32", seeding="initial"), {"seed": 1}, "seeds differ, but crc32 is linear"),
        (Hash(family="xor16", seeding="key"), {"seed": 1}, "seeds differ, but xor16 is linear"),
        (Hash(seeding="key", per_switch=True), {"seed": 1}, "seeds differ, but crc32c is linear"),
        (Hash(), {"seed": 1}, ""),
        (Hash(family="crc16-ccitt"), {"seed": 1}, ""),
        (Hash(per_switch=True), {"seed": 0}, ""),
        (Hash(family="crc16", seeding="key"), {"seed": 1, "offset": 5}, ""),
        (Hash(family="crc32", seeding="initial"), {"rotate": 13}, ""),
        (Hash(fields=("src_ip", "dst_ip")), {"seed": 1}, ""),
    ],
)
def test_polarization_is_found_where_it_is(hash_: Hash, change: dict[str, Any], reason: str) -> None:
    """Leaves send over 32 spines and spines over 32 cores: a repeated choice leaves each spine one core link."""
    net, route_table = three_tiers()
    flows = queue_pairs(shift(net, 1, shuffled=1), 8)
    hashing = {level: replace(hash_, **{name: step * (level - 1) for name, step in change.items()}) for level in (1, 2, 3)}
    found = polarization.find(net, route_table, flows, hashing)
    if not reason:
        assert found == ()
        return
    spines, *others = found
    assert (spines.tier, spines.after) == ("spine -> core", "leaf -> spine")
    assert spines.reason.startswith(reason)
    assert spines.used == pytest.approx(1, abs=0.1)
    assert spines.available == pytest.approx(32)
    assert len(spines.switches) == 128
    assert [other.tier for other in others] == ["core -> spine"]
    linear = hash_.seeding != "mixed"
    assert (
        spines.remediation
        == f"give the spines {'another family, hash offset or key rotation' if linear else 'a seed of their own'}"
    )
    assert "over 1.0 of 32 next hops" in str(spines)
    taken = study(net, route_table, flows, seeds=1, hashing=hashing).tiers[2]
    assert hash_.per_switch or taken.unused == pytest.approx(taken.links * 31 / 32)


def test_a_plan_as_configured_does_not_polarize() -> None:
    for name in sorted(FABRICS):
        net, route_table = built(name)
        assert polarization.find(net, route_table, queue_pairs(shift(net, 1, shuffled=2), 32)) == ()


def test_a_tier_between_others_does_not_hide_a_repeated_choice() -> None:
    net, route_table = three_tiers()
    flows = queue_pairs(shift(net, 1, shuffled=1), 8)
    found = polarization.find(net, route_table, flows, {1: Hash(seed=1), 2: Hash(seed=2), 3: Hash(seed=1)})
    assert [(item.tier, item.after, item.remediation) for item in found] == [
        ("core -> spine", "leaf -> spine", "give the cores a seed of their own")
    ]


def test_seeds_of_every_switch_even_out_over_the_switches_below() -> None:
    net, route_table = three_tiers()
    flows = queue_pairs(shift(net, 1, shuffled=1), 8)
    hashing = by_tier(1, Hash(seeding="key", per_switch=True))
    spines = polarization.find(net, route_table, flows, hashing)[0]
    assert spines.used < 1.1
    assert spines.together > 10
    assert f"those of all together over {spines.together:.1f}" in str(spines)


def test_several_jobs_slow_each_other() -> None:
    net, route_table = built("three-tiers")
    one = shift(net, 1, shuffled=1)
    both = together([one, one])
    alone = rates(net, ecmp.route(net, route_table, one, "spray"))
    shared = rates(net, ecmp.route(net, route_table, both, "spray"))
    assert alone == pytest.approx(50)
    assert shared == pytest.approx(25)
    assert np.bincount(both.job).tolist() == [96, 96]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "ecpm"}, "expected a mode of routing, got 'ecpm': did you mean 'ecmp'"),
        ({"mode": "adaptive", "flowlets": 0}, "expected at least 1 flowlet a flow, got 0"),
        ({"seeds": 0}, "expected at least 1 seed, got 0"),
        ({"hashing": {2: Hash()}}, r"expected a hash for switches of tier 1, got those of \[2\]"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    net, route_table = three_tiers()
    with pytest.raises(ValueError, match=message):
        study(net, route_table, shift(net), **arguments)  # type: ignore[arg-type]
