"""Tables of minhop, updn and ftree: entry by entry those of a real subnet manager, and what they do to traffic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric.configs.infiniband.files import Managed
from fabric.solver.infiniband.engines import Routed, routed
from fabric.solver.infiniband.link_loads import Forwarding
from fabric.solver.infiniband.subnet_graph import SubnetGraph, graph_of
from tests.configs.infiniband.designs import ENGINES, STATIC, subnets

RECORDED = Path("tests/reference/infiniband")


def graph(managed: Managed, broken: frozenset[int] = frozenset()) -> SubnetGraph:
    return graph_of(managed.subnet, [guid.node for guid in managed.guids.of], broken)


def made(name: str, engine: str, broken: frozenset[int] = frozenset()) -> Routed:
    managed = subnets(name)[0]
    its = routed(graph(managed, broken), [engine], managed.subnet.compute)
    assert its is not None
    return its


def written(its: Forwarding) -> str:
    """A line for each switch: its name, and the port to every end port by name."""
    nodes = its.graph.subnet.nodes
    order = sorted(range(len(its.graph.ends)), key=lambda column: nodes[its.graph.ends.node[column]].name)
    rows = ((nodes[at].name, " ".join(str(port) for port in its.table[at, order])) for at in range(its.graph.switches))
    return "".join(f"{name}: {ports}\n" for name, ports in sorted(rows))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", STATIC)
def test_entries_of_a_real_manager(name: str, engine: str) -> None:
    """Recorded from opensm 3.3.23 on ibsim with the files of `fabric generate`: see the README there."""
    assert written(made(name, engine).forwarding) == (RECORDED / f"{name}-{engine}.txt").read_text()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [*STATIC, "one-switch"])
def test_every_pair_without_a_loop(name: str, engine: str) -> None:
    if name == "one-switch" and engine == "ftree":
        its = made(name, engine)
        assert its.engine == "minhop"
        assert its.passed_over == ("ftree: fewer than two leaves with compute ports",)
    forwarding = made(name, engine).forwarding
    columns = np.arange(len(forwarding.graph.ends))
    assert not any(len(missing) for _, missing in forwarding.shifts(columns))
    assert forwarding.credit_loop() == []


def test_shifts_of_a_whole_tree_never_collide_under_ftree() -> None:
    """The purpose of the engine, and the trap of the others: with three tiers they put several routes on one link."""
    worst = {}
    for engine in ENGINES:
        forwarding = made("three-tiers", engine).forwarding
        columns = np.argsort(forwarding.graph.ends.node)
        worst[engine] = max(int(load.max()) for load, _ in forwarding.shifts(columns))
    assert worst["ftree"] < worst["updn"] == worst["minhop"]


def test_a_broken_link_is_routed_around() -> None:
    managed = subnets("two-tiers")[0]
    trunk = next(cable for cable in managed.subnet.cables if managed.subnet.nodes[cable.a].switch)
    forwarding = made("two-tiers", "ftree", frozenset({trunk.link})).forwarding
    assert (forwarding.table[trunk.a] != trunk.a_port).all()
    columns = np.arange(len(forwarding.graph.ends))
    assert not any(len(missing) for _, missing in forwarding.shifts(columns))


def test_a_table_with_holes_says_which_pairs() -> None:
    """What does not arrive is counted, and a cycle of credits is found: tables that no engine makes."""
    its = made("two-tiers", "updn").forwarding
    broken = its.table.copy()
    broken[its.graph.ends.switch[5], :] = 0
    _, missing = Forwarding(its.graph, broken).shift(1, np.arange(len(its.graph.ends)))
    assert len(missing)


def test_a_cycle_of_credits_is_found() -> None:
    """Tables that no engine makes: each of two leaves sends over a spine and the other leaf."""
    its = made("two-tiers", "updn").forwarding
    graph_, table = its.graph, its.table.copy()
    spines = [at for at, rank in enumerate(graph_.ranks) if rank == 0][:2]
    leaves = [at for at, rank in enumerate(graph_.ranks) if rank == 1][:4]

    def port(switch: int, far: int) -> int:
        return graph_.trunks[switch][far][0][0]

    for turn, leaf in enumerate(
        leaves[:2]
    ):  # to leaf 2: leaf 0, spine 0, leaf 1, spine 1, leaf 0, …; to leaf 3 the other way
        to = graph_.ends.switch == leaves[2]
        table[leaf, to] = port(leaf, spines[turn])
        table[spines[turn], to] = port(spines[turn], leaves[1 - turn])
    loop = Forwarding(graph_, table).credit_loop()
    assert loop
    assert {link // its.width for link in loop} == {*spines, *leaves[:2]}
