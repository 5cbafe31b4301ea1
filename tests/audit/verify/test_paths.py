"""Equal-cost next hops of all switches at once, against the lab's search switch by switch."""

from __future__ import annotations

import pytest

from fabric import pipeline
from fabric.audit.verify.sessions import UNDERLAY, paths, sessions_of
from fabric.lab.drawing import draw
from fabric.lab.expected import forwarding, originated
from fabric.model.plan import LEAF
from tests import ROOT

INTENTS = ("evpn-lab", "starter", "lab")


@pytest.mark.parametrize("name", INTENTS)
def test_widths_are_those_of_the_lab(name: str) -> None:
    intent = pipeline.load(ROOT / "intent" / f"{name}.yaml")
    lab = draw(pipeline.render(pipeline.plan(intent), intent))
    expected = forwarding(lab)
    for fabric in lab.plan.fabrics:
        views = [view for view in lab.views.values() if view.fabric == fabric]
        ends = [end for view in views for end in sessions_of(view) if end.kind == UNDERLAY]
        found = paths(
            {view.device.name: view.device.asn for view in views},
            [view.device.name for view in views if view.device.role != LEAF],
            [(end.node, end.peer_node) for end in ends],
        )
        for view in views:
            for other in views:
                if view is not other:
                    row, column = found.index[view.device.name], found.index[other.device.name]
                    width = min(int(found.count[row, column]), view.underlay.max_paths)
                    assert width == len(expected[view.device.name][originated(other)[0]])


def test_a_session_that_is_down_is_not_a_path() -> None:
    asns = {"leaf1": 1, "leaf2": 2, "spine1": 9, "spine2": 9}
    pairs = [(leaf, spine) for leaf in ("leaf1", "leaf2") for spine in ("spine1", "spine2")]
    both = [*pairs, *((spine, leaf) for leaf, spine in pairs)]
    whole = paths(asns, ["spine1", "spine2"], both)
    assert whole.count.tolist() == [[0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]
    cut = paths(asns, ["spine1", "spine2"], [pair for pair in both if set(pair) != {"leaf1", "spine2"}])
    assert cut.count.tolist() == [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]]
