"""The lock keeps how cages are split: a catalog that gets breakouts changes nothing of a site that is there."""

from __future__ import annotations

import copy
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import strategies as st

from fabric.base.diagnostics import InputError
from fabric.design.explain.explain import explain
from fabric.design.planner.lock_repair import settled
from fabric.hardware import catalog
from fabric.model.plan.lock import CageSplits, FabricLock, Lock
from tests.design.planner import checks as check
from tests.design.planner.helpers import make, reread
from tests.design.planner.intents import SERVERS, Data, sites
from tests.design.planner.test_properties import built, fair_share, raise_planned

# --- random designs -------------------------------------------------------------------------------------------

SWITCHES: dict[
    str, list[tuple[int, int, tuple[str, ...]]]
] = {  # cages, their speed, and the breakouts that the catalog has in the end
    "narrow": [(16, 400, ("1x100", "2x200", "4x100", "1x200"))],
    "wide": [(16, 800, ("1x400", "2x400", "4x200", "1x200", "8x100", "2x100"))],
    "mixed": [(24, 100, ("1x25", "4x25")), (12, 400, ("2x200", "4x100", "2x100"))],
    "edges": [(4, 400, ("4x100",)), (24, 400, ("1x100", "2x100", "2x200")), (4, 400, ("2x200", "4x100"))],
}


def with_switches(site: Data, breakouts: dict[str, list[list[str]]]) -> Data:
    """The site, whose switches have these breakouts."""
    switches = {
        name: {"nos": ["frr"], "ports": [
            {"count": count, "speed_gbps": speed, "breakouts": its}
            for (count, speed, _), its in zip(SWITCHES[name], by_group, strict=True)
        ]}
        for name, by_group in breakouts.items()
    }  # fmt: skip
    return {**site, "catalog": {**site["catalog"], "switches": switches}}


@st.composite
def two_catalogs(draw: st.DrawFn) -> tuple[Data, Data, Data]:
    """An intent with few breakouts, the same with all, and a larger one with all."""
    site = draw(sites())
    for fabric in site["fabrics"].values():
        topology = fabric["topology"]
        topology["switch"] = draw(st.sampled_from(sorted(SWITCHES)))
        if "switch" in topology["spine"]:
            topology["spine"]["switch"] = draw(st.sampled_from(sorted(SWITCHES)))
        for group in fabric["servers"]:
            if topology["planes"] == 1 and not topology["dual_tor"]:
                group["model"] = draw(st.sampled_from(("one", "one", group["model"])))
        fabric["servers"] = list({group["model"]: group for group in fabric["servers"]}.values())
        rails = topology.get("rails")
        if rails and any(SERVERS[group["model"]]["nics"]["compute"]["count"] % rails for group in fabric["servers"]):
            del topology["rails"]
    few = {
        name: [[text for text in breakouts if draw(st.booleans())] for _, _, breakouts in groups]
        for name, groups in SWITCHES.items()
    }
    every = {name: [list(breakouts) for _, _, breakouts in groups] for name, groups in SWITCHES.items()}
    larger = copy.deepcopy(site)
    first = sorted(larger["fabrics"])[0]
    larger["fabrics"][first]["servers"][0]["count"] += draw(st.integers(1, 20))
    raise_planned(larger)
    return with_switches(site, few), with_switches(site, every), with_switches(larger, every)


def test_more_breakouts_change_nothing_of_a_site_that_is_there(whole: bool) -> None:
    def body(data: st.DataObject, seen: Counter[str]) -> None:
        few, every, larger = data.draw(two_catalogs())
        old = built(few)
        with tempfile.TemporaryDirectory() as folder:
            lock = reread(old.lock, Path(folder))
        assert lock == old.lock
        new = make(every, lock)
        check.everything(new)
        assert check.texts(new) == check.texts(old)
        assert [warning for warning in new.warnings if warning.code == "FAB183"] == []
        seen["another split without the lock"] += check.texts(make(every)) != check.texts(old)
        narrow = {**larger, "catalog": few["catalog"]}
        try:
            grown = make(narrow, lock)
        except InputError:
            return
        seen["grown"] += 1
        assert check.texts(make(larger, lock)) == check.texts(grown)

    fair_share(body, (10, 30), 0.3, whole, {"another split without the lock": 15, "grown": 15})


# --- cases ----------------------------------------------------------------------------------------------------


def site(switch: str = "own", breakouts: list[str] | None = None, servers: int = 40) -> Data:
    own = {"own": {"nos": ["frr"], "ports": [{"count": 32, "speed_gbps": 400, "breakouts": breakouts or ["1x100"]}]}}
    return {
        "version": 1,
        "site": "s",
        "catalog": {
            "servers": {**SERVERS, "two": {"gpus": 0, "nics": {"compute": {"count": 1, "speed_gbps": 200}}}},
            "switches": own if switch == "own" else {},
        },
        "fabrics": {
            "backend": {
                "servers": [{"model": "one", "count": servers, "name": "gpu"}],
                "topology": {"kind": "rack", "switch": switch},
                "qos": {"pfc_watchdog": False},
            }
        },
    }


def splits_in_use(data: Data, lock: Lock) -> set[tuple[int, int]]:
    """(speed, ports of a cage) of the leaves' server ports."""
    links = make(data, lock).fabrics["backend"].links
    servers = links.kind == 0
    return set(zip(links.speed_gbps[servers].tolist(), links.b_split[servers].tolist(), strict=True))


def warned(data: Data, lock: Lock) -> list[str]:
    return [warning.message for warning in make(data, lock).warnings if warning.code == "FAB183"]


def without_splits(lock: Lock) -> Lock:
    """As an older version wrote it."""
    return Lock({name: replace(entry, switches={}) for name, entry in lock.fabrics.items()})


@pytest.mark.parametrize("name", ["qfx5130-32cd", "qfx5220-32cd", "qfx5230-64cd"])
def test_shipped_switches_that_got_100g_breakouts(name: str) -> None:
    """Sites that were planned with one 100G port of a cage keep it, also where the lock is of an older version."""
    model = catalog.switch(name)
    assert model is not None
    before = site(name)
    before["catalog"]["switches"][name] = {
        **yaml.safe_load(model.model_dump_json(exclude_defaults=True)),
        "ports": [{"count": model.cages, "speed_gbps": 400, "breakouts": ["1x100"]}],
    }
    old = make(before)
    assert old.lock.fabrics["backend"].switches == {name: (CageSplits(1, model.cages + 1, ("1x400", "1x100")),)}
    assert check.texts(make(site(name), old.lock)) == check.texts(old)
    inferred = make(site(name), without_splits(old.lock))
    assert check.texts(inferred)[2] == check.texts(old)[2]
    assert "1x100" in inferred.lock.fabrics["backend"].switches[name][0].splits
    assert splits_in_use(site(name), Lock()) == {(100, 4)}


def test_an_older_lock_of_the_wider_split_keeps_it() -> None:
    every = site(breakouts=["1x100", "4x100"])
    new = make(every)
    assert check.texts(make(every, without_splits(new.lock))) == check.texts(new)


def test_a_speed_that_the_site_did_not_have_is_taken_from_the_catalog() -> None:
    lock = make(site()).lock
    data = site(breakouts=["1x100", "4x100", "2x200"])
    data["fabrics"]["backend"]["servers"].append({"model": "two", "count": 4, "name": "new"})
    assert splits_in_use(data, lock) == {(100, 1), (200, 2)}
    assert warned(data, lock) == []


def test_a_split_that_the_catalog_lost_is_a_stated_change() -> None:
    lock = make(site(breakouts=["1x100", "4x100"])).lock
    assert splits_in_use(site(), lock) == {(100, 1)}
    assert warned(site(), lock) == [
        "fabric 'backend': ports in use change: own had cages split as 4x100, which the catalog no longer has"
    ]
    stated = site(breakouts=["1x100"])
    stated["catalog"]["breakouts"] = {"own": ["4x100"]}  # as the hint says
    assert check.texts(make(stated, lock)) == check.texts(make(site(breakouts=["1x100", "4x100"])))
    unused = make(site(breakouts=["1x100", "2x200"])).lock
    assert warned(site(), unused) == []


def test_a_fabric_that_outgrows_its_splits_takes_those_of_the_catalog_and_says_so() -> None:
    every, few = site(breakouts=["1x100", "4x100"], servers=60), site(servers=20)
    for data in (every, few):
        data["fabrics"]["backend"]["topology"] |= {"tiers": 2, "unit": {"servers": 20}}
    lock = make(few).lock
    every["fabrics"]["backend"]["topology"]["unit"] = {"servers": 40}  # more than the cages of a leaf
    assert splits_in_use(every, lock) == {(100, 4)}
    assert warned(every, lock) == [
        "fabric 'backend': ports in use change: own had cages split as 1x100, on which the fabric no longer fits"
    ]


def test_another_switch_has_the_splits_of_the_catalog() -> None:
    lock = make(site()).lock
    assert splits_in_use(site("qfx5130-32cd"), lock) == {(100, 4)}
    assert list(make(site("qfx5130-32cd"), lock).lock.fabrics["backend"].switches) == ["qfx5130-32cd"]


def test_two_branches_with_two_catalogs_have_one_split() -> None:
    lines = (CageSplits(1, 33, ("4x100",)), CageSplits(1, 33, ("1x400", "1x100")))
    for turn in (1, -1):
        lock, changes = settled(Lock({"f": FabricLock(switches={"sw": lines[::turn], "other": lines[:1]})}), {})
        assert lock.fabrics["f"].switches == {"sw": (lines[1],), "other": (lines[0],)}
        assert [change.text for change in changes] == ["splits of sw"]


def test_explain_says_which_splits_of_the_catalog_are_not_used() -> None:
    data = site("qfx5130-32cd")
    data["catalog"]["breakouts"] = {"qfx5130-32cd": ["2x200"]}
    old = make(data).lock.fabrics["backend"].switches["qfx5130-32cd"]
    lock = Lock({"backend": FabricLock(switches={"qfx5130-32cd": (old[0]._replace(splits=("1x400", "1x100")),)})})
    sized = {name: (fabric.spec, fabric.sizing) for name, fabric in make(data, lock).fabrics.items()}
    line = "cages of qfx5130-32cd stay split as in the lock; the catalog also has 2x200, 4x100"
    assert explain("uplinks", sized, lock, lambda: make(data, lock), "i.yaml")[-1] == line
    assert line not in explain("bgp", sized, lock, lambda: make(data, lock), "i.yaml")
