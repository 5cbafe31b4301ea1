"""A cabling error planted in each vendor's output is found and named, and no one else is blamed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fabric.audit.cabling.compare import verify
from fabric.audit.cabling.finding import CablingState
from tests.audit.cabling.helpers import fresh, kinds, site
from tests.audit.cabling.lldp_writers import WRITERS, Ear, Floor, write


def judged(folder: Path, name: str, floor: Floor) -> CablingState:
    intent, writer = WRITERS[name]
    write(folder, floor, writer)
    found, unknown = verify(site(intent), [folder])
    assert unknown == ()
    return found


def uplinks(floor: Floor) -> list[int]:
    """Upper ends of the links between switches, those of one spine first."""
    plan = floor.plan
    ends = [end for end in range(1, len(plan.device), 2) if plan.is_switch(plan.device[end ^ 1])]
    return sorted(ends, key=lambda end: (plan.device[end], end))


@pytest.mark.parametrize("name", WRITERS)
def test_a_right_floor_has_no_findings(name: str, tmp_path: Path) -> None:
    floor = fresh(WRITERS[name][0])
    found = judged(tmp_path, name, floor)
    assert (found.findings, found.as_planned, found.not_reported) == ((), len(floor.plan), 0)
    assert found.devices == sum(role in ("leaf", "spine", "core") for role in floor.plan.roles)


@pytest.mark.parametrize("name", WRITERS)
def test_swapped_missing_and_wrong_speed(name: str, tmp_path: Path) -> None:
    floor = fresh(WRITERS[name][0])
    plan, ends = floor.plan, uplinks(floor)
    spine = plan.device[ends[0]]
    mine = [end for end in ends if plan.device[end] == spine]
    swapped, missing, slow = mine[1:3], mine[3], mine[4]
    floor.swap(*swapped)
    floor.pull(missing)
    floor.speed[slow] = floor.speed[slow ^ 1] = 100
    found = judged(tmp_path, name, floor)
    by_kind = {finding.kind: finding for finding in found.findings}
    assert kinds(found) == ["missing", "swapped", "wrong-speed"]
    assert found.as_planned == len(plan) - 4
    for kind, wrong in (("swapped", swapped), ("missing", [missing]), ("wrong-speed", [slow])):
        links = {(a.device, a.port, b.device, b.port) for a, b in by_kind[kind].links}
        named = {tuple(f"{plan.name(end ^ 1)} {plan.name(end)}".split()) for end in wrong}
        assert links == named, kind
    moves = by_kind["swapped"].moves
    assert [(move.action, move.at.device) for move in moves] == [("move", plan.hosts.names[spine])] * 2
    assert {(move.at.port, move.to.port) for move in moves if move.to} == {
        (plan.label[a], plan.label[b]) for a, b in (swapped, swapped[::-1])
    }
    assert "100G" in by_kind["wrong-speed"].message


@pytest.mark.parametrize("name", WRITERS)
def test_servers_swapped_on_a_leaf(name: str, tmp_path: Path) -> None:
    floor = fresh(WRITERS[name][0])
    plan = floor.plan
    ends = [end for end in range(1, len(plan.device), 2) if plan.roles[plan.device[end ^ 1]] == "server"]
    leaf = [end for end in ends if plan.device[end] == plan.device[ends[0]] and plan.sub[end] == 0]
    floor.swap(leaf[0], leaf[1])
    found = judged(tmp_path, name, floor)
    assert kinds(found) == ["swapped"]
    assert {b.port for _, b in found.findings[0].links} == {plan.label[leaf[0]], plan.label[leaf[1]]}
    assert len(found.findings[0].moves) == 2


@pytest.mark.parametrize("name", WRITERS)
def test_one_end_that_receives_nothing(name: str, tmp_path: Path) -> None:
    """The spine does not receive a leaf that receives it."""
    floor = fresh(WRITERS[name][0])
    deaf = uplinks(floor)[2]
    del floor.mate[deaf]
    found = judged(tmp_path, name, floor)
    assert kinds(found) == ["one-way"]
    assert found.findings[0].at.port == floor.plan.label[deaf]
    assert found.as_planned == len(floor.plan) - 1


def on_subinterfaces(ears: list[Ear], whole: bool) -> list[Ear]:
    """Every neighbor reported on a subinterface, of its subinterface: beside that of the port, or alone."""
    parts = [replace(ear, port=f"{ear.port}.102", far_port=f"{ear.far_port}.102") for ear in ears if ear.system]
    return [*ears, *parts] if whole else [*(ear for ear in ears if not ear.system), *parts]


@pytest.mark.parametrize("whole", [True, False], ids=["beside", "alone"])
@pytest.mark.parametrize("name", WRITERS)
def test_neighbors_on_subinterfaces(name: str, whole: bool, tmp_path: Path) -> None:
    """A cable is in a port: what a subinterface reports is about its port, and swapped cables are found once."""
    intent, writer = WRITERS[name]
    floor = fresh(intent)
    write(tmp_path, floor, lambda device, ears: writer(device, on_subinterfaces(ears, whole)))
    found = verify(site(intent), [tmp_path])[0]
    assert (found.findings, found.as_planned) == ((), len(floor.plan))
    first, second = uplinks(floor)[1:3]
    floor.swap(first, second)
    write(tmp_path, floor, lambda device, ears: writer(device, on_subinterfaces(ears, whole)))
    assert kinds(verify(site(intent), [tmp_path])[0]) == ["swapped"]
