"""What holds for every plan, and what growth must keep: random intents, the same ones in every run."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.model.plan import CORE, SPINE, Plan
from fabric.model.plan.lock_file import Lock
from tests import samples
from tests.design.planner import checks as check
from tests.design.planner.helpers import make, reread
from tests.design.planner.intents import SERVERS, STABLE, Data, sites

Change = Callable[[st.DataObject, Data, str], None]


def built(data: Data, lock: Lock | None = None) -> Plan:
    """The plan of an intent; an intent that cannot be built is no example."""
    try:
        return make(data, lock)
    except InputError:
        assume(False)
        raise


def fair_share(
    body: Callable[[st.DataObject, Counter[str]], None],
    counts: tuple[int, int],
    share: float,
    whole: bool,
    least: Mapping[str, int] | None = None,
) -> None:
    """Runs a property over drawn data, which must come to its end at least once.

    Args:
        counts: examples of the sample, and of the whole.
        share: of the examples of the whole that must come to their end.
        least: what the body must have counted in the whole.
    """
    seen: Counter[str] = Counter()

    @settings(STABLE, max_examples=samples.examples(counts[whole]))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        seen["drawn"] += 1
        body(data, seen)
        seen["done"] += 1

    run()
    assert seen["done"] >= (share * seen["drawn"] if whole else 1), seen
    assert not whole or all(seen[name] >= count for name, count in (least or {}).items()), seen


def test_every_plan(whole: bool) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        plan = built(data.draw(sites()))
        check.everything(plan)
        for fabric in plan.fabrics.values():
            seen[f"{fabric.sizing.tiers} tiers"] += 1
            seen[fabric.spec.kind] += 1

    kinds = ("1 tiers", "2 tiers", "3 tiers", "rail-optimized", "rack", "rail-only", "collapsed")
    fair_share(body, (42, 60), 0.45, whole, dict.fromkeys(kinds, 3))


def test_a_plan_is_the_same_when_made_twice_and_with_its_own_lock() -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites())
        plan = built(site)
        assert check.texts(make(site)) == check.texts(plan)
        with tempfile.TemporaryDirectory() as folder:
            lock = reread(plan.lock, Path(folder))
        assert lock == plan.lock
        assert check.texts(make(site, lock)) == check.texts(plan)

    fair_share(body, (12, 12), 0.3, whole=True)


def test_the_order_of_fabrics_in_the_file_changes_nothing() -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites(3))
        assume(len(site["fabrics"]) > 1)
        plan = built(site)
        turned = {**site, "fabrics": dict(reversed(site["fabrics"].items()))}
        lock, _, links = check.texts(make(turned))
        assert lock == check.texts(plan)[0]
        assert sorted(links.splitlines()) == sorted(check.texts(plan)[2].splitlines())

    fair_share(body, (12, 12), 0.2, whole=True)


HASH = """
import hashlib, sys
from pathlib import Path
from fabric import pipeline
from fabric.configs.site_files import site_files
made = pipeline.plan(pipeline.load(Path(sys.argv[1])))
for name, content in site_files(made):
    print(name, hashlib.sha256(content).hexdigest())
"""

MIXED = """
version: 1
site: dc1
fabrics:
  backend:
    servers:
    - {model: dgx-h100, count: 20, unit: {servers: 8}}
    - {model: dgx-b200, count: 9, unit: {servers: 4}}
    topology: {switch: sn5600, attachments: [{name: ufm, links: 4}, {name: border, links: 2}]}
  storage:
    purpose: storage
    servers: {model: dgx-h100, count: 20}
    topology: {switch: sn5600, tiers: 3, unit: {servers: 4}}
    underlay: {addressing: ipv6}
"""


def test_the_files_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    path = tmp_path / "dc1.yaml"
    path.write_text(MIXED)
    found = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", HASH, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert "links.csv" in found.pop()


# Growth


def one_more_server(data: st.DataObject, site: Data, name: str) -> None:
    groups = site["fabrics"][name]["servers"]
    groups[data.draw(st.integers(0, len(groups) - 1))]["count"] += 1


def one_more_unit(data: st.DataObject, site: Data, name: str) -> None:
    fabric = site["fabrics"][name]
    fabric["servers"][-1]["count"] += fabric["topology"].get("unit", {}).get("servers", 4)


def many_more_servers(data: st.DataObject, site: Data, name: str) -> None:
    site["fabrics"][name]["servers"][0]["count"] += data.draw(st.integers(5, 60))


def one_more_pod(data: st.DataObject, site: Data, name: str) -> None:
    fabric = site["fabrics"][name]
    unit, rule = fabric["topology"].get("unit", {}).get("servers"), fabric["topology"].get("pods", {})
    assume(unit and "units" in rule)
    fabric["servers"][0]["count"] += unit * rule["units"]


def one_more_group(data: st.DataObject, site: Data, name: str) -> None:
    topology = site["fabrics"][name]["topology"]
    assume(topology["kind"] in ("rail-optimized", "rack"))
    model = "twin" if topology["planes"] > 1 or topology["dual_tor"] else "eight"
    count = data.draw(st.integers(1, 8))
    site["fabrics"][name]["servers"].append({"model": model, "count": count, "name": "new", "unit": {"servers": 2}})


def one_more_fabric(data: st.DataObject, site: Data, name: str) -> None:
    fabric = {
        "servers": [{"model": "four", "name": "extra", "count": 5}],
        "topology": {"switch": "16x400g", "unit": {"servers": 2}},
    }
    found = {data.draw(st.sampled_from(("aaa", "zzz"))): fabric, **site["fabrics"]}
    site["fabrics"] = found


def one_more_switch(data: st.DataObject, site: Data, name: str) -> None:
    site["fabrics"][name]["topology"].setdefault("attachments", []).append({"name": "border", "links": 3})


def more_links_of_a_switch(data: st.DataObject, site: Data, name: str) -> None:
    attachments = site["fabrics"][name]["topology"].get("attachments")
    assume(attachments)
    attachments[0]["links"] += 2


def a_tenant(data: st.DataObject, site: Data, name: str) -> None:
    site["fabrics"][name]["tenants"] = [{"name": "blue"}]


GROWTH: list[Change] = [
    one_more_server,
    one_more_unit,
    many_more_servers,
    one_more_pod,
    one_more_group,
    one_more_fabric,
    one_more_switch,
    more_links_of_a_switch,
    a_tenant,
]
RARE = (one_more_pod, one_more_group, more_links_of_a_switch)  # needs what few of the intents have


@pytest.mark.parametrize("grow", GROWTH, ids=lambda change: change.__name__)
def test_growth_keeps_what_is_there(grow: Change, whole: bool) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites())
        if grow is one_more_group:
            for fabric in site["fabrics"].values():
                fabric.pop("planned", None)
        name = data.draw(st.sampled_from(sorted(site["fabrics"])))
        larger = copy.deepcopy(site)
        grow(data, larger, name)
        raise_planned(larger)
        old = built(site)
        new = built(larger, old.lock)
        check.everything(new)
        grown_keeps(old, new)
        assert check.texts(make(larger, new.lock)) == check.texts(new)

    fair_share(body, (14, 20) if grow in RARE else (8, 12), 0.05 if grow in RARE else 0.15, whole)


def raise_planned(site: Data) -> None:
    for fabric in site["fabrics"].values():
        if "planned" in fabric:
            count = fabric["servers"][0]["count"]
            fabric["planned"]["servers"] = max(count, fabric["planned"]["servers"])


def grown_keeps(old: Plan, new: Plan) -> None:
    """Devices keep what they are; links keep their ports where the numbers of links are the same, else all that can."""
    tiers = {name: fabric.sizing.tiers for name, fabric in old.fabrics.items()}
    if any(new.fabrics[name].sizing.tiers != count for name, count in tiers.items()):
        return  # another tier is another fabric; servers and leaves are held by the test of changes
    for name, before in old.fabrics.items():
        one, other = before.sizing, new.fabrics[name].sizing
        same = shape(old, name) == shape(new, name) and one.spines <= other.spines and one.core_count <= other.core_count
        may_go = () if same else (SPINE, CORE)  # the sizing has other ones
        only = replace(old, fabrics={name: before})
        assert list(check.kept_devices(only, new, may_go)) == []
    if all(shape(old, name) == shape(new, name) for name in old.fabrics):
        lost = check.moved_links(old, new)
        forget_taken_seats(old, new, lost)
        assert lost == {}
    if all(wiring(old, name) == wiring(new, name, old) for name in old.fabrics):
        lost = check.vanished_links(old, new)
        forget_taken_seats(old, new, lost)
        assert lost == {}


def shape(plan: Plan, name: str) -> tuple[int, ...]:
    sizing = plan.fabrics[name].sizing
    shared = sizing.spines_per_core
    return sizing.tiers, sizing.networks, sizing.uplink_gbps, sizing.core_gbps, sizing.units_per_pod, shared


def wiring(plan: Plan, name: str, of: Plan | None = None) -> tuple[object, ...]:
    """Every number that says how many links there are between two switches, of the groups that were there."""
    sizing = plan.fabrics[name].sizing
    groups = {group.name for group in (of or plan).fabrics[name].sizing.groups}
    uplinks = tuple((g.name, g.uplinks, g.last_unit) for g in sizing.groups if g.name in groups)
    return (shape(plan, name), sizing.spines, sizing.spines_built, sizing.cores, sizing.spine_uplinks, uplinks)


def forget_taken_seats(old: Plan, new: Plan, lost: dict[str, int]) -> None:
    """An attachment leaves its port to the server that it was planned for."""
    for name, before in old.fabrics.items():
        attachments = {row[5:8] for row in check.rows(before) if row[0] == "attachments"}
        servers = {row[5:8] for row in check.rows(new.fabrics[name]) if row[0] == "server-leaf"}
        if attachments & servers:
            lost.pop("attachments", None)


def test_what_goes_and_comes_back_is_as_it_was(whole: bool) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites(1))
        larger = copy.deepcopy(site)
        many_more_servers(data, larger, "backend")
        raise_planned(larger)
        small = built(site)
        large = built(larger, small.lock)
        assume(small.fabrics["backend"].sizing.tiers == large.fabrics["backend"].sizing.tiers)
        again = make(site, large.lock)
        assert list(check.kept_devices(again, large)) == []
        back = make(larger, again.lock)
        assert list(check.kept_devices(large, back)) == []
        if wiring(small, "backend") == wiring(large, "backend"):
            lost = check.vanished_links(large, back)
            forget_taken_seats(again, large, lost)
            assert lost == {}

    fair_share(body, (16, 24), 0.15, whole)


def test_reserved_uplinks_never_move(whole: bool) -> None:
    """Within `planned`, more servers and more spines leave every cable where it is."""

    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites(1))
        fabric = site["fabrics"]["backend"]
        assume(len(fabric["servers"]) == 1)
        count = fabric["servers"][0]["count"]
        most = count * data.draw(st.integers(1, 4))
        fabric["planned"] = {"servers": most, "uplinks": "reserve"}
        final = built(site).fabrics["backend"].sizing
        spines = sorted(data.draw(st.tuples(*[st.integers(1, max(1, final.spines))] * 2)))
        stated = final.spines > 1 and data.draw(st.booleans())
        plans: list[Plan] = []
        for servers, built_spines in zip((count, data.draw(st.integers(count, most))), spines, strict=True):
            stage = copy.deepcopy(site)
            stage["fabrics"]["backend"]["servers"][0]["count"] = servers
            if stated:
                units = ceil(servers / final.groups[0].unit_servers)
                pods = ceil(units / final.units_per_pod) if final.tiers == 3 else 1
                stage["fabrics"]["backend"]["topology"]["spine"]["count"] = built_spines * pods * final.networks
            plans.append(built(stage, plans[0].lock if plans else None))
        old, new = plans
        seen["fewer spines"] += stated and spines[0] < spines[1]
        check.everything(new)
        assert list(check.kept_devices(old, new)) == []
        lost = check.vanished_links(old, new)
        forget_taken_seats(old, new, lost)
        assert lost == {}

    fair_share(body, (26, 36), 0.25, whole, {"fewer spines": 1})


@pytest.mark.parametrize(
    "part", ["leaf", "spine", "unit", "switch", "rails", "planes", "tiers", "underlay", "planned", "all"]
)
def test_any_change_of_an_intent_gives_a_whole_plan(part: str, whole: bool) -> None:
    """Whatever the lock holds, an intent that can be built without it can be built with it, and every check holds."""

    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site, other = data.draw(sites(1)), data.draw(sites(1))
        changed = copy.deepcopy(site)
        mine, theirs = changed["fabrics"]["backend"], other["fabrics"]["backend"]
        if part == "all":
            changed = other
        else:
            into, source = (mine, theirs) if part in ("underlay", "planned") else (mine["topology"], theirs["topology"])
            if part in source:
                into[part] = source[part]
            else:
                into.pop(part, None)
        raise_planned(changed)
        old = built(site)
        built(changed)
        new = make(changed, old.lock)
        check.everything(new)
        assert check.texts(make(changed, new.lock)) == check.texts(new)

    fair_share(body, (10, 14), 0.2, whole)


def test_planes_in_service_are_no_part_of_a_plan(whole: bool) -> None:
    """Names, numbers and cables are those of all planes, so growth to all of them moves nothing."""

    def body(data: st.DataObject, seen: Counter[str]) -> None:
        site = data.draw(sites(1))
        topology = site["fabrics"]["backend"]["topology"]
        assume(topology["planes"] > 1)
        topology["planes_active"] = 1
        part = built(site)
        lock, document, links = check.texts(part)
        stated = json.loads(document)
        assert stated["fabrics"]["backend"].pop("planes_active") == 1
        topology["planes_active"] = topology["planes"]
        for full in (make(site), make(site, part.lock)):
            now = check.texts(full)
            assert (now[0], json.loads(now[1]), now[2]) == (lock, stated, links)

    fair_share(body, (20, 20), 0.1, whole)


# Cases that were wrong once, as small as they get.


def backend(servers: list[Data], **topology: object) -> Data:
    fabric = {"servers": servers, "topology": {"switch": "16x400g", **topology}}
    return {"version": 1, "site": "dc1", "catalog": {"servers": SERVERS}, "fabrics": {"backend": fabric}}


def group(model: str, count: int, name: str = "") -> Data:
    return {"model": model, "count": count, "name": name or model}


CHANGES = {
    "fewer-uplinks": (
        backend([group("eight", 15)], kind="rack", unit={"servers": 1}, spine={"switch": "8x400g"}),
        backend(
            [group("eight", 15)],
            kind="rack",
            unit={"servers": 1},
            spine={"switch": "8x400g"},
            leaf={"uplinks": {"count": 6}},
        ),
    ),
    "one-more-pod-on-more-cores": (
        backend([group("twin", 12)], switch="8x400g", unit={"servers": 3}, leaf={"spare_server_ports": 1}, tiers=3),
        backend([group("twin", 13)], switch="8x400g", unit={"servers": 3}, leaf={"spare_server_ports": 1}, tiers=3),
    ),
    "more-spines-of-a-pod": (
        backend([group("four", 8)], unit={"servers": 4}, tiers=3, pods={"units": 1}, spine={"count": 4}),
        backend([group("four", 8)], unit={"servers": 4}, tiers=3, pods={"units": 1}, spine={"count": 8}),
    ),
    "another-group-on-a-pair": (
        backend([group("four", 2)], kind="collapsed", unit={"servers": 2}),
        backend([group("twin", 2)], kind="collapsed", unit={"servers": 2}),
    ),
    "a-group-of-larger-leaves": (
        backend([group("twin", 1)], kind="rack"),
        backend([group("twin", 1), group("eight", 2)], kind="rack"),
    ),
    "more-links-of-an-appliance": (
        backend([group("four", 2)], unit={"servers": 4}, attachments=[{"name": "ufm", "links": 5}]),
        backend([group("four", 2)], unit={"servers": 4}, attachments=[{"name": "ufm", "links": 7}]),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_that_were_wrong_once(name: str, tmp_path: Path) -> None:
    before, after = CHANGES[name]
    old = make(before)
    new = make(after, reread(old.lock, tmp_path))
    check.everything(new)
    if name not in ("fewer-uplinks", "another-group-on-a-pair"):
        assert list(check.kept_devices(old, new)) == []
        assert check.moved_links(old, new) == {}


def test_files_are_stable_text() -> None:
    """One intent gives the same bytes in every version of Python and numpy; a change here re-cables real fabrics."""
    lock, _, links = check.texts(make(yaml.safe_load(MIXED)))
    found = [hashlib.sha256(text.encode()).hexdigest()[:12] for text in (lock, links)]
    assert found == ["bcab0176d4df", "699265f42476"]
