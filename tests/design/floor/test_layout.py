"""Where devices stand: racks of units, growth that moves nothing, places of the intent, and what cannot be."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.design.floor.floor import Floor, floor
from fabric.design.floor.layout import rack_name, rack_place
from fabric.model.plan import Plan
from tests import samples
from tests.deliver.cabling.checks import check_floor
from tests.design.planner.helpers import make
from tests.design.planner.intents import STABLE, sites

UNITS = "{servers: {model: dgx-h100, count: %d, per_rack: 4}, topology: {switch: sn5600, unit: {servers: 8}, rails: 2}%s}"


def intent(*fabrics: str, floor: str = "{}", servers: str = "{}") -> str:
    body = "\n".join(f"  f{at}: {fabric}" for at, fabric in enumerate(fabrics))
    return f"version: 1\nsite: dc1\ncatalog: {{servers: {servers}}}\nfloor: {floor}\nfabrics:\n{body}\n"


def stand(text: str) -> tuple[Plan, Floor]:
    plan = make(text)
    return plan, floor(plan)


def where(found: Floor) -> dict[str, str]:
    return {name: f"{found.racks[spot.rack].name}-U{spot.ru}" for name, spot in found.spots.items()}


def racks(found: Floor) -> dict[str, list[str]]:
    """Devices of every rack, from its top down."""
    held: dict[str, list[str]] = {rack.name: [] for rack in found.racks}
    for name, spot in sorted(found.spots.items(), key=lambda item: -item[1].ru):
        held[found.racks[spot.rack].name].append(name)
    return held


def test_units_stand_with_their_leaves_in_the_middle_and_spines_in_row_a() -> None:
    _, found = stand(intent(UNITS % (16, "")))
    assert racks(found) == {
        "A01": ["f0-spine001", "f0-spine002"],
        "B01": ["dgx-h100-0004", "dgx-h100-0003", "dgx-h100-0002", "dgx-h100-0001"],
        "B02": ["f0-leaf001", "f0-leaf002"],
        "B03": ["dgx-h100-0008", "dgx-h100-0007", "dgx-h100-0006", "dgx-h100-0005"],
        "B04": ["dgx-h100-0012", "dgx-h100-0011", "dgx-h100-0010", "dgx-h100-0009"],
        "B05": ["f0-leaf003", "f0-leaf004"],
        "B06": ["dgx-h100-0016", "dgx-h100-0015", "dgx-h100-0014", "dgx-h100-0013"],
    }
    assert where(found)["dgx-h100-0002"] == "B01-U9"
    assert where(found)["f0-leaf002"] == "B02-U45"


@pytest.mark.parametrize(("limit_w", "most"), [(45_000, 16), (12_000, 4), (1_000, 1)])
def test_a_network_rack_holds_what_its_power_takes(limit_w: int, most: int) -> None:
    """An SN5600 bounded at 1,573 W, with 64 optics of 18 W: 2,725 W. A rack has at least one, however little it may draw."""
    _, found = stand(intent("{servers: {model: dgx-h100, count: 512}, topology: {switch: sn5600}}", floor=FLOOR_W % limit_w))
    spines = [sum("-spine" in name for name in names) for names in racks(found).values()]
    assert max(spines) == most
    assert sum(spines) == 32


FLOOR_W = "{rack_power_max_w: %d}"


def test_network_racks_at_the_end_and_units_that_are_not_parted_over_rows() -> None:
    _, found = stand(intent(UNITS % (24, ""), floor="{network_racks: end, racks_per_row: 7}"))
    assert [name for name, held in racks(found).items() if held[0].startswith("f0-leaf")] == ["B03", "B06", "C03"]


def test_a_leaf_of_one_rack_stands_on_top_of_its_servers() -> None:
    fabric = "{purpose: storage, servers: {model: dgx-h100, count: 8, per_rack: 4}, topology: {switch: sn4700}}"
    _, found = stand(intent(fabric))
    assert racks(found)["B01"] == ["f0-leaf001", "dgx-h100-0004", "dgx-h100-0003", "dgx-h100-0002", "dgx-h100-0001"]
    _, apart = stand(intent(fabric, floor="{leaves: network-rack}"))
    assert racks(apart)["B01"] == ["dgx-h100-0004", "dgx-h100-0003", "dgx-h100-0002", "dgx-h100-0001"]


@pytest.mark.parametrize(
    ("server", "per_rack"),
    [
        ("{gpus: 8, rack_units: 8, power_max_w: 10200, nics: {compute: {count: 8, speed_gbps: 400}}}", 4),  # power
        ("{gpus: 8, rack_units: 10, power_max_w: 14300, nics: {compute: {count: 8, speed_gbps: 400}}}", 3),  # power
        ("{gpus: 8, rack_units: 15, power_max_w: 5000, nics: {compute: {count: 8, speed_gbps: 400}}}", 2),  # height
        (
            "{gpus: 4, nvlink_domain_gpus: 72, rack_units: 1, nics: {compute: {count: 4, speed_gbps: 400}}}",
            18,
        ),  # a rack whole
        ("{gpus: 0, nics: {compute: {count: 8, speed_gbps: 400}}}", 44),  # one unit each
    ],
)
def test_servers_of_a_rack_where_no_one_says_how_many(server: str, per_rack: int) -> None:
    fabric = "{servers: {model: mine, count: 90}, topology: {switch: 256x400g, unit: {servers: 90}}}"
    _, found = stand(intent(fabric, servers=f"{{mine: {server}}}"))
    assert max(sum(name.startswith("mine") for name in held) for held in racks(found).values()) == per_rack


def test_a_server_of_two_fabrics_is_one_machine() -> None:
    other = (
        "{purpose: storage, names: {server: 'st-{n:03}'}, servers: {model: dgx-h100, count: 16}, topology: {switch: sn5600}}"
    )
    plan, found = stand(intent(UNITS % (16, ""), other))
    assert found.spots["dgx-h100-0007"] == found.spots["st-007"]
    check_floor(plan, found)


def test_too_many_servers_for_a_rack_are_reported_and_parted() -> None:
    plan, found = stand(intent((UNITS % (16, "")).replace("per_rack: 4", "per_rack: 8")))
    (warning,) = (warning for warning in plan.warnings if warning.code == "FAB191")  # of the plan, so once
    assert "expected at most 6 servers of 8 rack units in a rack of 48, got 8" in warning.message
    assert found.warnings == ()
    assert sum(name.startswith("dgx") for name in racks(found)["B01"]) == 4


def test_places_of_the_intent() -> None:
    _, found = stand(intent(UNITS % (16, ""), floor="{places: {f0-leaf001: {rack: D05, ru: 12}}}"))
    assert where(found)["f0-leaf001"] == "D05-U12"
    assert where(found)["f0-leaf002"] == "B02-U45"


@pytest.mark.parametrize(
    ("setting", "message", "hint"),
    [
        ("{places: {f0-leaf01: {rack: D05, ru: 1}}}", "unknown device 'f0-leaf01'", "did you mean 'f0-leaf001'?"),
        ("{places: {f0-leaf001: {rack: D21, ru: 1}}}", "expected a rack of row D01 to D20, got D21", ""),
        ("{places: {f0-leaf001: {rack: D05, ru: 48}}}", "expected at most 47 (height 2), got 48", ""),
        ("{places: {f0-leaf001: {rack: A01, ru: 46}}}", "got unit 46 of A01, used by 'f0-spine002'", "`ru: 43`"),
        ("{rack_units: 6}", "floor.rack_units: expected at least 8, the height of a dgx-h100, got 6", ""),
    ],
)
def test_what_cannot_stand_so(setting: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        stand(intent(UNITS % (16, ""), floor=setting))
    assert [found.code for found in caught.value.diagnostics] == ["FAB152"]
    first = caught.value.diagnostics[0]
    assert message in first.message
    assert hint in first.hint
    assert first.place.line == 4


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("{places: {x: {rack: 7A, ru: 1}}}", "floor.places.x.rack: expected a rack such as A07"),
        ("{rack_unit: 42}", "unknown key 'rack_unit' under floor"),
        ("{slack_m: -1}", "floor.slack_m: expected at least 0, got -1"),
    ],
)
def test_mistakes_of_the_language_have_their_place(setting: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        stand(intent(UNITS % (16, ""), floor=setting))
    assert message in caught.value.diagnostics[0].message


@settings(STABLE, max_examples=samples.examples(24))
@given(sites(), st.sampled_from(({}, {"racks_per_row": 3}, {"rack_units": 42, "leaves": "network-rack"})))
def test_no_two_machines_share_a_unit(data: dict[str, Any], geometry: dict[str, Any]) -> None:
    try:
        plan = make({**data, "floor": geometry})
    except InputError:
        return
    found = floor(plan)
    check_floor(plan, found)
    assert where(found) == where(floor(plan))


@settings(STABLE, max_examples=samples.examples(30))
@given(sites(), st.integers(1, 4))
def test_growth_up_to_planned_moves_nothing(data: dict[str, Any], times: int) -> None:
    small = copy.deepcopy(data)
    for fabric in small["fabrics"].values():
        if len(fabric["servers"]) == 1:
            fabric["planned"] = {"servers": fabric["servers"][0]["count"] * times}
    grown = copy.deepcopy(small)
    for fabric in grown["fabrics"].values():
        fabric["servers"][0]["count"] = fabric.get("planned", {}).get("servers", fabric["servers"][0]["count"])
    try:
        before = make(small)
        after = make(grown, before.lock)
    except InputError:
        return
    old, new = where(floor(before)), where(floor(after))
    assert {name: new[name] for name in old} == old


def test_growth_beyond_planned_keeps_the_units_of_one_group() -> None:
    old, new = (where(stand(intent(UNITS % (count, "")))[1]) for count in (16, 40))
    assert {name: new[name] for name in old} == old


@given(st.integers(0, 2000), st.integers(0, 998))
def test_names_of_racks(row: int, place: int) -> None:
    assert rack_place(rack_name(row, place)) == (row, place)


def test_names_of_racks_by_hand() -> None:
    assert [rack_name(row, 6) for row in (0, 25, 26, 701, 702)] == ["A07", "Z07", "AA07", "ZZ07", "AAA07"]
