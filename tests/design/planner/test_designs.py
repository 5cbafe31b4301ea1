"""Published designs, recomputed: the counts of each row of `tests/reference/designs/`, and fat trees wired."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx
import numpy as np
import pytest

from fabric.model.plan import KINDS, LEAF_SPINE, SPINE_CORE, FabricPlan
from tests.design.planner.helpers import Row, designs, make, subset, summarize

ROWS = designs()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_published_counts(row: Row) -> None:
    (counts,) = summarize(row.intent).values()
    assert subset(row.expect, counts) == []


@pytest.mark.parametrize("row", [row for row in ROWS if row.plan], ids=lambda row: row.name)
def test_published_wiring_and_numbers(row: Row) -> None:
    (plan,) = make(row.intent).fabrics.values()
    assert subset(row.plan, wired(plan)) == []


def wired(plan: FabricPlan) -> dict[str, Any]:
    """What a published design says of its wiring, read from the plan."""
    links, between = plan.links, plan.links.kind == LEAF_SPINE
    pairs = Counter(zip(links.a[between].tolist(), links.b[between].tolist(), strict=True))
    per_leaf = Counter(links.a[between].tolist())
    asns: dict[str, Any] = {}
    for device in plan.switches:
        asns.setdefault(device.role, {}).setdefault(device.asn, set()).add(device.pod)
    whole = {role: [len(pods) for pods in found.values()] for role, found in asns.items()}
    if plan.sizing.tiers == 2:
        whole = {role: len(found) for role, found in asns.items()}
    return {
        "p2p": len(set(plan.subnet[between].tolist())),
        "sessions_per_leaf": one(per_leaf.values()),
        "links_per_pair": one(pairs.values()),
        "asns": whole,
    }


def one(values: Any) -> int:
    (value,) = set(values)
    return int(value)


@pytest.mark.parametrize("k", [4, 8, 16, 32])
def test_fat_tree_is_wired_as_it_is_counted(k: int) -> None:
    row = next(row for row in ROWS if row.name == f"fat_tree/k{k}")
    (plan,) = make(row.intent).fabrics.values()
    kinds = Counter(KINDS[kind] for kind in plan.links.kind.tolist())
    assert subset({kind: count for kind, count in row.expect["links"].items() if count}, kinds) == []
    for kind in (LEAF_SPINE, SPINE_CORE):
        of_kind = plan.links.kind == kind
        pairs = np.stack([plan.links.a[of_kind], plan.links.b[of_kind]])
        assert np.unique(pairs, axis=1).shape[1] == k**3 // 4  # no pair has two links
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(plan.devices)))
    graph.add_edges_from(zip(plan.links.a.tolist(), plan.links.b.tolist(), strict=True))
    assert networkx.is_connected(graph)
    hosts = {d.index for d in plan.devices if d.role == "server"}
    assert {graph.degree(host) for host in hosts} == {1}
    assert {graph.degree(node) for node in set(graph) - hosts} == {k}
    near = networkx.single_source_shortest_path_length(graph, min(hosts))
    # k/2 hosts share a leaf, (k/2)^2 a pod; everyone else is three switches up and down
    assert Counter(near[host] for host in hosts) == {
        0: 1,
        2: k // 2 - 1,
        4: (k // 2) ** 2 - k // 2,
        6: k**3 // 4 - k**2 // 4,
    }
