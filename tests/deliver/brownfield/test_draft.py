"""A draft plans what is there: devices, cables with their ports, AS numbers and addresses; and it is short."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from ipaddress import ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.deliver.brownfield.draft.draft import draft
from fabric.deliver.brownfield.draft.judge import differences, links_planned, merged, planned
from fabric.deliver.brownfield.draft.name_patterns import pattern
from fabric.deliver.brownfield.draft.numbers import apart, rectangles
from fabric.deliver.brownfield.draft.pools import Net, named
from fabric.model.plan import Area, Block
from tests.deliver.brownfield.oracle import survey_of
from tests.deliver.brownfield.round_trip import DRAWS, Outcome, round_trip, sections_of

LONGEST = 1.5  # times the lines of the intent that the network was planned from
SHIPPED = ("starter", "evpn-lab", "three-tier", "gb300-twin-plane", "lab", "h100-4su", "era-2-4-3-200")
SAMPLE = tuple((kind, number) for kind in DRAWS for number in range(40, 52))


def _intent(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((Path("intent") / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def _check(outcome: Outcome) -> None:
    assert outcome.crash == ""
    assert outcome.left == ()
    assert outcome.lines <= LONGEST * outcome.lines_before


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_design_comes_back_as_it_was(name: str) -> None:
    _check(round_trip(_intent(name)))


@pytest.mark.parametrize("name", ["starter", "evpn-lab", "gb300-twin-plane"])
def test_a_design_comes_back_without_models_and_coordinates(name: str) -> None:
    outcome = round_trip(_intent(name), bare=True)
    assert outcome.crash == ""
    assert outcome.left == ()


@pytest.mark.parametrize(("kind", "number"), SAMPLE)
def test_a_random_design_comes_back_as_it_was(kind: str, number: int) -> None:
    outcome = round_trip(DRAWS[kind](7, number).intent)
    if outcome.planned:
        _check(outcome)


def test_the_shortest_intent_states_no_default() -> None:
    found = draft(survey_of(planned(_intent("h100-4su"))))
    fabric = found.document["fabrics"]["backend"]
    assert fabric["topology"].keys() == {"switch", "attachments"}
    assert fabric["servers"] == [{"model": "dgx-h100", "count": 127}]
    assert fabric.keys() == {"purpose", "servers", "topology"}


def test_growth_moves_no_cable_and_no_number() -> None:
    intent = _intent("starter")
    before = planned(intent)
    found, sections = draft(survey_of(before), sections_of(intent, before)), sections_of(intent, before)
    grown = deepcopy(found.document)
    grown["fabrics"]["backend"]["servers"][0]["count"] += 1
    after = planned(merged(grown, sections), found.lock)
    assert links_planned(before.fabrics["backend"]).keys() <= links_planned(after.fabrics["backend"]).keys()
    moved = [its for its in differences(survey_of(before), after) if its.there]
    assert moved == []


def test_links_that_no_rule_gives_are_stated() -> None:
    intent = _intent("starter")
    intent["fabrics"]["backend"]["links"] = {"remove": ["backend-leaf001 64"]}
    found = draft(survey_of(planned(intent)))
    assert found.left_over == []
    assert found.document["fabrics"]["backend"]["links"] == {"remove": ["backend-leaf001 64"]}


def test_a_switch_of_another_name_and_number_is_pinned() -> None:
    intent = _intent("starter")
    pin = {"name": "old-leaf", "asn": 4_259_000_001, "loopback": "100.64.0.7"}
    intent["fabrics"]["backend"]["pins"] = {"backend-leaf001": pin}
    found = draft(survey_of(planned(intent)))
    assert found.left_over == []
    assert found.document["fabrics"]["backend"]["pins"]["backend-leaf001"]["name"] == "old-leaf"
    assert found.document["fabrics"]["backend"]["pins"]["backend-leaf001"]["loopback"] == "100.64.0.7"


def test_what_no_rule_gives_is_left_over_and_never_fails() -> None:
    survey = survey_of(planned(_intent("starter")))
    cables = [cable for at, cable in enumerate(survey.cables) if at % 3]
    found = draft(type(survey)(site=survey.site, fabrics=survey.fabrics, hosts=survey.hosts, cables=cables))
    assert found.left_over
    assert found.document["fabrics"]["backend"]["servers"][0]["count"] == 8


# --- names ----------------------------------------------------------------------------------------------------

WORDS = {"fabric": "backend", "site": "dc1"}
TWO_UNITS = [{"unit": unit, "rail": rail, "plane": 1} for unit in (1, 2) for rail in (1, 2, 3)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"backend-leaf{n:03}" for n in range(1, 7)], "{fabric}-leaf{n:03}"),
        ([f"backend-r{rail}-leaf{n:02}" for n in (1, 2) for rail in (1, 2, 3)], "{fabric}-r{rail}-leaf{n:02}"),
        ([f"dc1-u{unit:02}-r{rail}" for unit in (7, 9) for rail in (1, 2, 3)], "{site}-u{unit:02}-r{rail}"),
        ([f"tor{n}" for n in (101, 102, 103, 104, 105, 106)], "tor{n}"),
        (["edge", *(f"backend-leaf{n:03}" for n in range(2, 7))], "{fabric}-leaf{n:03}"),
        (["anna", "berta", "carla", "doris", "emma", "frida"], ""),
    ],
)
def test_the_pattern_of_names(names: list[str], expected: str) -> None:
    found = pattern(names, TWO_UNITS, "{fabric}-leaf{n:03}", WORDS)
    assert (found.text if found else "") == expected


# --- numbers --------------------------------------------------------------------------------------------------


def test_few_rectangles_give_every_cell_its_number() -> None:
    cells = {(row, column): 1000 + 64 * row + 2 * column for row in range(8) for column in range(4)}
    cells |= {(9, 0): 5000, (10, 0): 5100, (12, 0): 7}
    blocks = rectangles(cells, step=2, width=2)
    assert {cell: Area(blocks).number(*cell) for cell in cells} == cells
    assert len(blocks) == 3


def test_areas_do_not_take_numbers_of_each_other() -> None:
    odd = rectangles({(row, 0): 1 + 2 * row for row in range(4)})
    even = rectangles({(row, 0): 2 + 2 * row for row in range(4)})
    areas = apart({"leaf": odd, "spine": even}, lambda key: 1)
    spans = sorted((block.base, block.end) for blocks in areas.values() for block in blocks)
    assert all(end <= other for (_, end), (other, _) in pairwise(spans))
    assert isinstance(areas["leaf"][0], Block)


LISTED = [(ip_network("10.0.0.0/20"), "ge 32"), (ip_network("10.1.0.0/20"), "le 31"), (ip_network("10.1.16.0/20"), "le 31")]
EXACT = [(ip_network("10.1.0.0/26"), "")]


@pytest.mark.parametrize(
    ("numbers", "foreign", "listed", "pools"),
    [
        (("10.1.0.1", "10.1.0.9"), ("10.0.0.1",), [LISTED], ["10.1.0.0/20", "10.1.16.0/20"]),  # the second for later
        (("10.0.0.1",), ("10.1.0.1",), [LISTED], ["10.0.0.0/20"]),
        (("10.0.0.1", "10.9.0.1"), (), [LISTED], []),  # a part is outside
        (("10.1.0.1",), ("10.1.0.9",), [LISTED], []),  # numbers of another kind are inside
        (("10.1.0.1",), (), [EXACT], []),  # what a leaf announces
    ],
)
def test_prefix_lists_name_the_pools_of_their_addresses(
    numbers: Sequence[str], foreign: Sequence[str], listed: list[list[tuple[Net, str]]], pools: list[str]
) -> None:
    inside, outside = ([int(ip_address(text)) for text in texts] for texts in (numbers, foreign))
    assert [str(net) for net in named(inside, outside, listed)] == pools
