"""Maximum flows: against networkx on every link, and as arithmetic says for fabrics one can count by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric.solver.capacity.cuts import graph, max_flow, numbered, refine
from fabric.solver.capacity.structured_cuts import BY_DESIGN, SPARE_PAIR, structured
from fabric.solver.capacity.throughput import ground
from tests import samples
from tests.solver.capacity.fabrics import FABRICS, NONE, STABLE, broken, fabric, networks, slow_max_flow


@settings(STABLE, max_examples=samples.examples(29))
@given(st.data())
def test_maximum_flow_is_that_of_networkx(data: st.DataObject) -> None:
    net = data.draw(networks())
    left = data.draw(broken(net))
    side = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(net.ports.link), max_size=len(net.ports.link))))
    assert max_flow(left, graph(left), side).gbps == pytest.approx(slow_max_flow(left, side))


@pytest.mark.parametrize("name", FABRICS)
def test_structured_cuts_are_those_of_networkx(name: str) -> None:
    net = fabric(name)
    left = net.without(np.array([net.links - 1]), NONE)
    cuts = structured(ground(net), left)
    assert cuts
    for cut in cuts:
        assert max_flow(left, graph(left), cut.side).gbps == pytest.approx(slow_max_flow(left, cut.side)), cut.where


@settings(STABLE, max_examples=samples.examples(14))
@given(st.data())
def test_a_flow_never_grows_with_failures(data: st.DataObject) -> None:
    net = data.draw(networks())
    left = data.draw(broken(net))
    less = data.draw(broken(left))
    for cut in structured(ground(net), left):
        flows = [max_flow(state, graph(state), cut.side).gbps for state in (net, left, less)]
        assert flows == sorted(flows, reverse=True)


@settings(STABLE, max_examples=samples.examples(22))
@given(st.integers(1, 14), st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13), st.integers(0, 2)), max_size=40))
def test_refinement_is_equitable_and_as_coarse_as_can_be(nodes: int, edges: list[tuple[int, int, int]]) -> None:
    found = [edge for edge in edges if max(edge[:2]) < nodes]
    tail, head, label = (np.array([edge[at] for edge in found], dtype=np.int64) for at in range(3))
    classes = refine(np.zeros(nodes, np.int64), tail, head, label)

    def sight(colour: list[object]) -> list[tuple[object, ...]]:
        return [(colour[node], *sorted((str(colour[b]), c) for a, b, c in found if a == node)) for node in range(nodes)]

    plain: list[object] = [0] * nodes
    for _ in range(nodes):  # the textbook's algorithm, on names of colours instead of hashes
        names = sight(plain)
        order = {name: at for at, name in enumerate(dict.fromkeys(names))}
        plain = [order[name] for name in names]
    assert classes.tolist() == numbered(np.array(plain)).tolist()


def test_isolated_parts_are_no_weakness() -> None:
    for name, kind in (("rail-only", "rails"), ("planes", "planes")):
        cuts = structured(ground(fabric(name)), fabric(name))
        assert {cut.apart for cut in cuts if cut.kind == kind} == {BY_DESIGN}
        assert {cut.apart for cut in cuts if cut.kind in ("units", "servers")} == {""}
    met = structured(ground(fabric("rails")), fabric("rails"))
    assert {cut.apart for cut in met if cut.kind == "rails"} == {""}  # they meet in the spines
    pair = structured(ground(fabric("collapsed")), fabric("collapsed"))
    assert {cut.apart for cut in pair if cut.kind == "leaves"} == {SPARE_PAIR}


@pytest.mark.parametrize(("ratio", "share"), [(1, 1.0), (2, 0.5), (4, 0.25)])
def test_the_cut_between_racks_is_the_oversubscription(ratio: float, share: float) -> None:
    net = fabric("rack", servers=[("four", 8)], leaf={"oversubscription": ratio})
    halves = [cut for cut in structured(ground(net), net) if cut.kind == "units" and cut.balanced]
    flow = max_flow(net, graph(net), halves[0].side)
    assert flow.gbps == share * 4 * 4 * 400
    assert flow.limits[-1] == ("server-leaf" if ratio == 1 else "leaf-spine")


def test_a_graph_has_one_edge_a_pair_and_direction() -> None:
    net = fabric("rack")
    switches = graph(net)
    pairs = list(zip(switches.tail.tolist(), switches.head.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert nx.is_connected(nx.Graph(pairs))
    between = (net.level[net.tail] > 0) & (net.level[net.head] > 0)
    assert switches.gbps.sum() == 8 * net.capacity[between].sum()
