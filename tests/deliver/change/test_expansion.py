"""Expansions of random fabrics: no link moves that need not, by jumpers alone, and every stage keeps the floor."""

from __future__ import annotations

import pytest

from fabric import pipeline
from fabric.deliver.change.records import ChangeRequest
from fabric.solver.estimate.request import EstimateRequest
from tests.deliver.change.expansion import FLOORS, Growth, drawn, lines, measured

CALL = EstimateRequest(sizes=(1 << 20,), routing="", queue_pairs=0)
SITE = """\
version: 1
site: s
catalog: {{servers: {{s: {{gpus: 2, nics: {{compute: {{count: 2, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: s, count: {servers}, nics: compute}}
    topology: {{switch: {switch}, unit: {{servers: 8}}, patch_panels: {{leaf-spine: {{ports: 48}}}}}}
"""


def judged(found: list[Growth]) -> None:
    assert all(its.moved == its.fewest for its in found if its.tiers == (2, 2))
    assert all(its.relaid == 0 for its in found if its.tiers == (2, 2))
    for its in found:
        for floor in FLOORS:
            assert its.least[floor] >= floor - 1e-6
            assert its.stages[floor] is None or (its.stages[floor] == 0) == (its.moved == 0)


def test_a_few() -> None:
    found = [measured(*pair) for pair in drawn(seed=7, count=50)]
    judged(found)
    assert any(its.moved for its in found)
    assert len(list(lines(found))) == 7


@pytest.mark.slow
def test_many() -> None:
    judged([measured(*pair) for pair in drawn(seed=11, count=250)])


@pytest.mark.parametrize("nos", ["frr", "eos", "sonic"])
def test_stages_of_jumpers(nos: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Four spines become eight: half of the links of each leaf move, in as many stages as the floor asks for."""
    switch = "sn4700" if nos == "sonic" else "32x400g"
    for side, servers in (("old", 32), ("new", 64)):
        (tmp_path / f"{side}.yaml").write_text(SITE.format(nos=nos, servers=servers, switch=switch), encoding="utf-8")
    files = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    waves = {}
    for floor in (0.4, 0.7):
        change, texts = pipeline.redesign(*files, ChangeRequest(floor=floor), CALL, files=True, jobs=1)
        assert not change.refused
        stages = [wave for wave in change.waves if wave.title.startswith("re-cable")]
        waves[floor] = len(stages)
        assert all(move.jumper for wave in stages for move in wave.moves)
        assert all(floor - 1e-6 <= wave.left.capacity < 1 for wave in stages)
        assert not any(task.drained for wave in stages for task in wave.tasks)
        ports = [(move.jumper.panel, move.jumper.new) for wave in stages for move in wave.moves if move.jumper]
        assert len(set(ports)) == len(ports)
        assert any("links between switches move" in note and "jumpers of patch panels" in note for note in change.notes)
        leaf = f"wave-{stages[0].number:03}/backend-leaf001"
        drain = next(text for name, text in texts.items() if name.startswith(f"{leaf}/1-drain."))
        apply = next(text for name, text in texts.items() if name.startswith(f"{leaf}/2-apply"))
        assert drain
        assert apply
        assert drain != apply
        old = {move.old[0] for move in stages[0].moves if move.old}
        drained = {
            name.split("/")[1] for name in texts if name.startswith(f"wave-{stages[0].number:03}/") and "1-drain." in name
        }
        assert old | {move.lower[0] for move in stages[0].moves if move.old} <= drained  # both ends
    assert waves[0.4] < waves[0.7]
