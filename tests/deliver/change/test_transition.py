"""States between two designs: every cable is where one of the two has it, and no port has two."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.diff.design import renamed_plan, renames
from fabric.audit.diff.recabling import recabling
from fabric.deliver.change.records import ChangeRequest
from fabric.deliver.change.transition import Transition, renumbered
from fabric.design.cable_moves import ends_of
from fabric.design.intent.intent import planned, read_sides
from fabric.model.plan import FabricPlan
from fabric.solver.estimate.request import EstimateRequest
from tests.cli.designs import DESIGNS, write
from tests.cli.diff_sites import SITES, fabric, site

CALL = EstimateRequest(sizes=(1 << 20,), routing="", queue_pairs=0)
BIGGER = (
    "  backend: {{nos: eos, servers: {{model: quad, count: {}, nics: compute}}, "
    "topology: {{switch: 16x400g, unit: {{servers: 1}}}}}}\n"
)
PAIRS = {
    **{name: sides for name, sides in SITES.items() if not name.startswith("fabric-")},
    "uplinks": (site(BIGGER.format(4)), site(BIGGER.format(6))),
    "shrink": (site(BIGGER.format(6)), site(BIGGER.format(4))),
}


def sides(name: str, folder: Path) -> tuple[FabricPlan, FabricPlan, Transition]:
    for side, text in zip(("old", "new"), PAIRS[name], strict=True):
        (folder / f"{side}.yaml").write_text(text, encoding="utf-8")
    old, new = planned(read_sides(str(folder / "old.yaml"), str(folder / "new.yaml")), pipeline.plan)
    old = renamed_plan(old, renames(old, new))
    steps = [step for step in recabling(old, new).steps if step.drain]
    return old.fabrics["backend"], new.fabrics["backend"], Transition(old.fabrics["backend"], new.fabrics["backend"], steps)


@pytest.mark.parametrize("name", PAIRS)
def test_every_cable_is_where_a_design_has_it(name: str, tmp_path: Path) -> None:
    old, new, way = sides(name, tmp_path)
    before, after = (dict(zip(ends_of(plan), ends_of(plan, "b"), strict=True)) for plan in (old, new))
    for done in range(len(way.steps) + 1):
        state = way.at(done)
        lower, upper = ends_of(state), ends_of(state, "b")
        waits = {cable.lower for step in way.steps[done:] for cable in step.cables}
        for low, high in zip(lower, upper, strict=True):
            assert high == (before if low in waits else after)[low]
        assert {end for end in before if end in waits} <= set(lower)
        assert max(Counter([*lower, *upper]).values()) == 1
        assert [device.index for device in state.devices] == list(range(len(state.devices)))
        rows = len(state.links)
        assert {len(state.subnet), len(state.tenancy.owner), len(state.tenancy.lag)} == {rows}
    assert way.at(len(way.steps)) is new


def test_links_in_service_are_those_of_both_designs(tmp_path: Path) -> None:
    old, _, way = sides("uplinks", tmp_path)
    net = way.in_service(way.at(0))
    servers = {net.fabric.devices[at].name for at in net.ports.server.tolist()}
    assert servers == {device.name for device in old.devices if device.role == "server"}


def test_switches_of_other_addresses_go_together(tmp_path: Path) -> None:
    old, new, _ = sides("addresses", tmp_path)
    assert list(map(sorted, renumbered(old, new))) == [sorted(device.name for device in new.switches)]
    same, again, _ = sides("mtu-nxos", tmp_path)
    assert renumbered(same, again) == []


def test_a_fabric_of_one_more_server_renumbers_none(tmp_path: Path) -> None:
    old, new, way = sides("growth-sonic", tmp_path)
    assert (renumbered(old, new), way.steps) == ([], [])
    assert fabric("sonic", 1) in PAIRS["growth-sonic"][0]


@pytest.mark.parametrize("pair", list(itertools.pairwise(DESIGNS)), ids="-".join)
def test_any_design_becomes_any_other(pair: tuple[str, str], tmp_path: Path) -> None:
    """However little two designs have in common: every cable that changes is in one wave, every switch is named."""
    for side, name in zip(("old", "new"), pair, strict=True):
        write(tmp_path, name, f"{side}.yaml")
    files = str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")
    change, texts = pipeline.redesign(*files, ChangeRequest(floor=0.0), CALL, files=True, jobs=1)
    assert change.refused == ()
    old, new = planned(read_sides(*files), pipeline.plan)
    both = sorted({*old.fabrics} & {*new.fabrics})
    for name in both:
        first, second = old.fabrics[name], new.fabrics[name]
        waves = [wave for wave in change.waves if wave.fabric == name]
        before, after = (dict(zip(ends_of(its), ends_of(its, "b"), strict=True)) for its in (first, second))
        moved = Counter(move.lower for wave in waves for move in wave.moves)
        assert moved == Counter(end for end in {*before, *after} if before.get(end) != after.get(end))
        tasks = {task.device: task.action for wave in waves for task in wave.tasks}
        added = [device.name for device in second.switches if device.name not in first.by_name]
        assert {tasks[device] for device in added} <= {"install"}
    assert "README.md" in texts
