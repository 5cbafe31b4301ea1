"""Switches and bundles for tools that draw themselves: every device in a switch, every link in a bundle."""

from __future__ import annotations

from collections import Counter

import pytest

from fabric.deliver.export.bundles import Graph, overview, switches
from fabric.deliver.export.legend import names_span, ports_span, runs
from fabric.deliver.export.pictures.view import View, plane as cut_plane, planes, rail, rails
from fabric.model.plan import LEAF
from tests.deliver.export.diagrams import DESIGNS, plan


def keys(graph: Graph) -> list[str]:
    return [key for node in graph.nodes for key in (node.key, *(member.key for member in node.members))]


@pytest.mark.parametrize("design", DESIGNS)
def test_an_overview_leaves_nothing_out(design: str) -> None:
    fabric = plan(design).fabrics["f0"]
    graph = overview(View.of(fabric))
    held = Counter(device.index for node in graph.nodes for device in node.devices)
    assert held == Counter(range(len(fabric.devices)))
    assert sum(bundle.links for bundle in graph.bundles) == len(fabric.links)
    assert len(graph.bundles) < 80


@pytest.mark.parametrize("design", DESIGNS)
def test_bundles_join_switches_that_are_there(design: str) -> None:
    fabric = plan(design).fabrics["f0"]
    views = [
        View.of(fabric),
        *(rail(fabric, at) for at in rails(fabric)[:1]),
        *(cut_plane(fabric, 0) for _ in planes(fabric)[:1]),
    ]
    for graph in (overview(views[0]), *map(switches, views)):
        found = keys(graph)
        assert len(found) == len(set(found))
        assert {end for bundle in graph.bundles for end in (bundle.low, bundle.high)} <= set(found)


@pytest.mark.parametrize("design", DESIGNS)
def test_slices_add_up_to_the_fabric(design: str) -> None:
    """Rails share the spines above them, so only the links of leaves count; planes share nothing."""
    fabric = plan(design).fabrics["f0"]
    own = [view.row["links"] for view in (rail(fabric, at) for at in rails(fabric))]
    whole = View.of(fabric).row["links"]
    for kind in ("server-leaf", "leaf-spine", "attachments") if own else ():
        assert sum(links[kind] for links in own) == whole[kind], kind
    parts = [cut_plane(fabric, at) for at in planes(fabric)]
    if parts:
        assert sum(len(part.fabric.links) for part in parts) == len(fabric.links)
        assert sum(len(part.switches) for part in parts) == len(fabric.switches)


def test_of_a_small_fabric_every_pair_is_a_bundle() -> None:
    graph = overview(View.of(plan("one-unit").fabrics["f0"]))
    assert [bundle.label for bundle in graph.bundles if bundle.kind == "leaf-spine"] == ["8 × 400G"] * 16
    assert next(node.lines for node in graph.nodes if node.role == LEAF) == ("f0-leaf001", "rail 1")


def test_hidden_pods_are_one_switch_a_tier() -> None:
    graph = overview(View.of(plan("1280-switches").fabrics["f0"]))
    assert [pod.label for pod in graph.pods] == ["pod 1", "pod 2", "13 more pods", "pod 16"]
    assert graph.pods[2].spines[0].lines == ("416 spines", "f0-spine065 – 480")
    assert graph.pods[2].columns[0].servers.lines == ("1,664 servers", "dgx-h100", "13,312 GPUs")


def test_spans() -> None:
    assert ports_span([(1, 0, 1), (2, 0, 1), (3, 0, 1), (7, 0, 1)]) == "1–3, 7"
    assert ports_span([(1, 0, 2), (1, 1, 2), (2, 0, 2), (2, 1, 2), (3, 0, 2)]) == "1–2 split 2×, 3/1"
    assert ports_span([]) == ""
    assert runs([1, 3, 5, 7]) == "1, 3 … 7"
    assert runs([3, 4, 9], digits=2) == "03–04, 09"
    assert names_span(["leaf001", "leaf002", "leaf003"]) == ("leaf001", "– 003")
    assert names_span(["leaf001", "leaf003", "leaf005"]) == ("leaf001", "… 005")
    assert names_span(["a1-x", "b2-y"]) == ("a1-x", "– b2-y")
    assert names_span(["alone"]) == ("alone", "")
