"""Throughput of the three patterns: ECMP against the plain split, the optimum against the whole program and the quotient."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from fabric.solver import Network
from fabric.solver.capacity.lp import bound, connected, optimal, program, quotient, reduced, solve
from fabric.solver.capacity.throughput import PATTERNS, Traffic, all_paths, ecmp, ground, live_ports, loads, paths, traffic
from fabric.solver.network import routes, spread
from tests import samples
from tests.solver.capacity.fabrics import FABRICS, NONE, STABLE, broken, fabric, networks


def asked_of(net: Network, left: Network, name: str) -> Traffic:
    return traffic(ground(net), live_ports(left), name)


@settings(STABLE, max_examples=samples.examples(22))
@given(st.data())
def test_loads_are_those_of_single_pairs(data: st.DataObject) -> None:
    net = data.draw(networks())
    left, base = data.draw(broken(net)), ground(net)
    asked = asked_of(net, left, data.draw(st.sampled_from(PATTERNS)))
    load, lost = loads(base, routes(left), asked.demand)
    one, other = np.nonzero(asked.demand)
    amount = asked.demand[one, other]
    slow, missing = spread(routes(left), base.leaves[one], base.leaves[other], amount)
    assert load == pytest.approx(slow, abs=1e-6)
    assert lost == pytest.approx(missing.sum(), abs=1e-6)


@settings(STABLE, max_examples=samples.examples(22))
@given(st.data())
def test_quotient_and_whole_program_agree(data: st.DataObject) -> None:
    net = data.draw(networks())
    left, base = data.draw(broken(net)), ground(net)
    asked = asked_of(net, left, data.draw(st.sampled_from(PATTERNS)))
    assume(asked.demand.any() and connected(base, left, asked))
    whole = program(base, left, asked)
    small, by_symmetry = reduced(whole), quotient(base, left, asked)
    assert by_symmetry is not None
    assert small.columns <= whole.columns
    best = solve(whole)
    assert solve(small) == pytest.approx(best, abs=1e-6)
    assert solve(by_symmetry) == pytest.approx(best, abs=1e-6)
    assert best <= bound(base, left, asked) + 1e-6


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("servers", [4, 72])
def test_pairs_within_and_between_pods_are_distinguished(servers: int, pattern: str) -> None:
    """With one core of two gone; 72 leaves are more than the whole program is meant for, and still small enough for it."""
    net = fabric("pods", servers=[("four", servers)], pods={"units": max(2, servers // 8)})
    left = net.without(NONE, np.flatnonzero(net.level == 3)[:1])
    base, asked = ground(net), asked_of(net, left, pattern)
    by_symmetry = quotient(base, left, asked)
    assert by_symmetry is not None
    best = solve(reduced(program(base, left, asked)))
    assert solve(by_symmetry) == pytest.approx(best, abs=1e-6)
    assert optimal(base, left, asked, 0.0).share == pytest.approx(best, abs=1e-6)


@settings(STABLE, max_examples=samples.examples(22))
@given(st.data())
def test_ecmp_never_beats_the_optimum_and_failures_never_help_it(data: st.DataObject) -> None:
    net = data.draw(networks())
    left, base = data.draw(broken(net, servers=False)), ground(net)
    less = data.draw(broken(left, servers=False))
    best = []
    for state in (net, left, less):
        asked = asked_of(net, state, "uniform")
        split = ecmp(base, routes(state), asked)
        best.append(optimal(base, state, asked, split.share).share)
        assert split.share <= best[-1] + 1e-6
    assert best[0] >= best[1] - 1e-6 >= best[2] - 2e-6


@settings(STABLE, max_examples=samples.examples(14))
@given(st.data())
def test_no_port_sends_or_receives_more_than_its_speed(data: st.DataObject) -> None:
    net = data.draw(networks())
    base = ground(net)
    for name in PATTERNS:
        asked = asked_of(net, net, name)
        speed = np.bincount(base.port_leaf, base.port_gbps, len(base.leaves))
        assert (asked.demand.sum(axis=0) <= speed * (1 + 1e-9)).all()
        assert (asked.demand.sum(axis=1) <= speed * (1 + 1e-9)).all()
        assert asked.asked <= speed.sum() * (1 + 1e-9)
        assert not asked.demand[base.part[base.leaves][:, None] != base.part[base.leaves][None, :]].any()


@settings(STABLE, max_examples=samples.examples(18))
@given(st.data())
def test_paths_are_the_simple_ones_counted(data: st.DataObject) -> None:
    net = data.draw(networks())
    left, base = data.draw(broken(net)), ground(net)
    ways = routes(left)
    table = all_paths(base, ways)
    for one, other in ((0, len(base.leaves) - 1), (len(base.leaves) - 1, 0)):
        if one == other:
            continue
        source, target = int(base.leaves[one]), int(base.leaves[other])
        hops: nx.MultiDiGraph = nx.MultiDiGraph()
        hops.add_nodes_from((source, target))
        for at in np.flatnonzero(left.level > 0).tolist():
            start, count = (int(value[0]) for value in ways.next_hops(np.array([at]), np.array([target])))
            if at != target:
                hops.add_edges_from((at, int(left.head[link])) for link in ways.pool[start : start + count].tolist())
        found = sum(1 for _ in nx.all_simple_edge_paths(hops, source, target))
        assert paths(ways, source, target) == found == table[one, other]


@pytest.mark.parametrize("name", FABRICS)
def test_healthy_paths_follow_from_the_links(name: str) -> None:
    """Uplinks of the leaf, each met by the parallel links that its spine, or a spine that it reaches, has to the other."""
    net = fabric(name)
    base = ground(net)
    one = base.leaves[0]
    other = base.leaves[np.flatnonzero(base.part[base.leaves] == base.part[one])[-1]]
    graph: nx.MultiDiGraph = nx.MultiDiGraph()
    graph.add_edges_from(zip(net.tail.tolist(), net.head.tolist(), strict=True))
    shortest = nx.shortest_path_length(nx.DiGraph(graph), int(one), int(other))
    levels = nx.MultiDiGraph(graph.subgraph(np.flatnonzero(net.level > 0).tolist()))
    expected = sum(1 for _ in nx.all_simple_edge_paths(levels, int(one), int(other), cutoff=shortest))
    assert expected >= 1
    assert all_paths(base, routes(net))[base.row[one], base.row[other]] == expected


def test_alltoall_across_units_slows_as_the_cut_says() -> None:
    shares = []
    for ratio in (1, 2, 4):
        net = fabric("rack", servers=[("four", 32)], leaf={"oversubscription": ratio})
        base, asked = ground(net), asked_of(net, net, "uniform")
        split = ecmp(base, routes(net), asked)
        crossing = 30 / 31  # servers below another leaf, of the 31 others
        assert split.share == pytest.approx(min(1.0, 1 / ratio / crossing))
        assert optimal(base, net, asked, split.share).share == pytest.approx(split.share)
        shares.append(split.share)
    assert shares == sorted(shares, reverse=True)


def test_ecmp_loses_where_links_are_unequal_and_the_optimum_does_not() -> None:
    """One of four parallel links down: ECMP still sends its spine a full share, so that three links carry it for four."""
    net = fabric("rack", servers=[("four", 16)], leaf={"oversubscription": 1, "uplinks": {"count": 8}}, spine={"count": 2})
    uplinks = np.flatnonzero(net.tail[: net.links] == ground(net).leaves[0])
    left = net.without(uplinks[:1], NONE)
    base, asked = ground(net), asked_of(net, left, "permutation")
    split = ecmp(base, routes(left), asked)
    assert split.share == pytest.approx(3 / 4)
    ends = [end.split()[0] for end in left.name(split.link).split(" -> ")]
    assert ends == ["backend-spine001", "backend-leaf001"]
    assert optimal(base, left, asked, split.share).share == pytest.approx(7 / 8)


@pytest.mark.parametrize("name", FABRICS)
def test_traffic_of_one_server_needs_no_fabric(name: str) -> None:
    changes = {"unit": {"servers": 1}} if name == "collapsed" else {}
    net = fabric(name, servers=[(FABRICS[name]["servers"][0][0], 1)], **changes)
    for pattern in PATTERNS:
        asked = asked_of(net, net, pattern)
        assert not asked.demand.any()
        assert ecmp(ground(net), routes(net), asked).share == 1.0
