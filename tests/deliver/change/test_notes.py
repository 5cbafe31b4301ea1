"""What a change says beside its shares."""

from __future__ import annotations

import pytest

from fabric import pipeline
from fabric.deliver.change.records import ChangeRequest
from fabric.solver.estimate.request import EstimateRequest
from tests.design.planner.helpers import make

CALL = EstimateRequest(sizes=(1 << 20,), routing="", queue_pairs=0)
STARTER = """\
version: 1
site: s
fabrics:
  backend:
    servers: {model: dgx-h100, count: 8}
    topology: {switch: sn5600, rails: 2, unit: {servers: 8}}
"""
NO_SERVERS = """\
version: 1
site: s
fabrics:
  edge:
    purpose: frontend
    topology: {switch: 32x100g, leaves_without_servers: [{name: border, count: 4}], spine: {count: 2}}
"""
GROWTH = """\
version: 1
site: s
fabrics:
  backend:
    servers: {{model: dgx-h100, count: 16}}
    topology: {{switch: sn5600, unit: {{servers: 16}}, leaf: {{oversubscription: {ratio}}}}}
"""


def test_two_leaves_keep_all_without_one_of_two_spines() -> None:
    """Half of the traffic stays below a leaf: the other half fits on one spine, and the bisection does not."""
    change = pipeline.change(make(STARTER), "reboot", ["spine"], ChangeRequest(floor=0.5), CALL)
    assert [wave.left.capacity for wave in change.waves] == [1.0, 1.0]
    assert "49.2 % of the traffic between all server ports stays below one leaf" in change.notes[0]
    assert not pipeline.change(make(STARTER), "reboot", ["leaf"], ChangeRequest(floor=0.2), CALL).notes


@pytest.mark.parametrize("action", ["drain", "reboot"])
def test_switches_without_known_traffic_go_one_by_one(action: str) -> None:
    plan = make(NO_SERVERS)
    change = pipeline.change(plan, action, ["leaf", "spine"], ChangeRequest(floor=0.9), CALL)
    assert [len(wave.tasks) for wave in change.waves] == [1] * len(plan.fabrics["edge"].switches)
    assert change.refused == ()
    assert "no traffic between servers is known" in change.notes[0]


def test_a_share_above_all_says_of_what_it_is(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for side, ratio in (("old", 2), ("new", 1)):
        (tmp_path / f"{side}.yaml").write_text(GROWTH.format(ratio=ratio), encoding="utf-8")
    files = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    change, _ = pipeline.redesign(*files, ChangeRequest(floor=0.1), CALL, jobs=1)
    assert change.after["backend"].capacity > 1
    assert any("shares above 100 % are of the capacity before the change" in note for note in change.notes)
