"""GraphML: networkx reads back the plan's graph, port by port."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO

import networkx
import pytest

from fabric.configs.site_files import links_csv
from fabric.deliver.export.graphs import graphml
from fabric.model.plan import KINDS
from tests.deliver.export.plans import plan
from tests.goldens import golden


def read(text: str) -> networkx.MultiGraph:
    return networkx.read_graphml(BytesIO(text.encode()), force_multigraph=True)


@pytest.mark.parametrize("design", ["planes", "collapsed", "racks-dual-tor", "infiniband", "shared", "names"])
def test_networkx_reads_back_the_plans_graph(design: str) -> None:
    made = plan(design)
    back = read(graphml(made))
    assert back.graph["name"] == made.site
    graphs = {name: fabric.graph for name, fabric in made.fabrics.items()}
    assert set(back.nodes) == {node for graph in graphs.values() for node in graph}
    ends: Counter[tuple[object, ...]] = Counter()
    for name, graph in graphs.items():
        for a, b, data in graph.edges(data=True):
            ends[name, frozenset((a, b)), data["kind"], data["speed_gbps"]] += 1
    theirs = Counter((d["fabric"], frozenset((a, b)), d["kind"], d["speed_gbps"]) for a, b, d in back.edges(data=True))
    assert theirs == ends
    for name, graph in graphs.items():
        for node, data in graph.nodes(data=True):
            assert back.nodes[node]["role"] == data["role"], name


@pytest.mark.parametrize("design", ["shared", "ai-junos"])
def test_edges_are_the_rows_of_the_link_table(design: str) -> None:
    made = plan(design)
    header, *rows = [line.split(",") for line in links_csv(made).splitlines()]
    known = [dict(zip(header, row, strict=True)) for row in rows]
    edges = {key: data for *_, key, data in read(graphml(made)).edges(keys=True, data=True)}
    assert len(edges) == len(known)
    number: Counter[str] = Counter()
    for row in known:
        number[row["fabric"]] += 1
        edge = edges[f"{row['fabric']}-{number[row['fabric']]}"]
        for column in ("kind", "speed_gbps", "length_m", "a", "a_port", "b", "b_port", "a_port_name", "b_port_name"):
            assert str(edge.get(column, "")) == row[column], column
    assert {row["kind"] for row in known} <= set(KINDS)


def test_golden() -> None:
    golden("export/graphml/lab.graphml", graphml(plan("lab")))


def test_hostile_names_stay_text() -> None:
    made = plan("one-unit")
    bad = '"><edge a="<&'
    fabric = made.fabrics["f"]
    devices = tuple(replace(device, name=bad + str(device.index), model=bad) for device in fabric.devices)
    back = read(graphml(replace(made, site=bad, fabrics={bad: replace(fabric, name=bad, devices=devices)})))
    assert set(back.nodes) == {device.name for device in devices}
    assert back.number_of_edges() == len(fabric.links)
