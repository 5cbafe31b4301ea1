"""The examples of NVIDIA's enterprise reference architectures: their links are those of the published topologies."""

from __future__ import annotations

from collections import Counter

import pytest

from tests import ROOT
from tests.audit.architectures import MAX_LINES, links
from tests.audit.architectures.compare import Compared, Difference, by_reason, reasons
from tests.audit.architectures.statements import forms
from tests.examples import folder


@pytest.mark.parametrize("name", links.PUBLISHED)
def test_the_links_are_those_of_the_published_topology(name: str) -> None:
    planned = links.planned(folder(f"era-{name}") / "links.csv")
    assert links.differences(links.PUBLISHED[name], planned) == []
    of_pair = {group: count for group, count in links.PUBLISHED[name].items() if group.speed_gbps > links.OOB_GBPS}
    assert {group: planned[group] for group in of_pair} == of_pair


@pytest.mark.parametrize("name", links.PUBLISHED)
def test_an_example_is_short(name: str) -> None:
    assert len((ROOT / "intent" / f"era-{name}.yaml").read_text("utf-8").splitlines()) <= MAX_LINES


GROUP = links.Group("storage", "core-01", 100)
CHANGES = {
    "one less": ({GROUP: -1}, True),
    "one more": ({GROUP: 1}, True),
    "on the other switch": ({GROUP: -1, GROUP._replace(switch="core-02"): 1}, True),
    "slower": ({GROUP: -1, GROUP._replace(speed_gbps=50): 1}, True),
    "a guest": ({links.Group("guest", "core-01", 100): 1}, True),
    "a controller in turn": ({links.Group("storage", f"oob-switch-0{n}", 1): by for n, by in ((1, -1), (2, 1))}, False),
    "controllers elsewhere": ({links.Group("storage", f"oob-switch-0{n}", 1): by for n, by in ((1, -2), (2, 2))}, True),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_link_elsewhere_is_a_difference(what: str) -> None:
    change, differs = CHANGES[what]
    published = links.PUBLISHED["2-8-9-400"]
    planned = published.copy()
    planned.update(change)
    assert bool(links.differences(published, planned)) == differs


CONFIG = """\
- set:
    interface:
      swp1:
        link: {breakout: {2x: {lanes-per-port: '4'}}}
      swp1s0:
        bridge: {domain: {br_default: {access: 900}}}
        description: PORT
      swp1s1:
        link: {state: {down: {}}}
      bondNUMBER:
        bond: {member: {swp1s0: {}}}
    vrf:
      OOB:
        router: {bgp: {autonomous-system: NUMBER, rd: '10.0.0.1:NUMBER'}}
"""


def test_names_numbers_and_texts_have_no_form_of_their_own() -> None:
    one = forms(CONFIG.replace("PORT", "one").replace("NUMBER", "1"), {"swp1s0": "storage 100G"})
    other = forms(CONFIG.replace("PORT", "other").replace("NUMBER", "2").replace("swp1", "swp7"), {"swp7s0": "storage 100G"})
    assert one == other
    assert one["interface <port to storage 100G> bridge domain br_default access 900"] == 1
    assert one["interface <unused port> link state down"] == 1
    assert one["interface <cage of storage 100G> link breakout 2x lanes-per-port 4"] == 1
    assert one["interface <bond to storage 100G> bond member <port to storage 100G>"] == 1


def test_the_page_has_every_reason() -> None:
    rows = [line for line in (ROOT / "docs" / "architectures.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    held = {row[1]: row[-2] for line in rows if len(row := [cell.strip() for cell in line.split("|")]) == 6}
    assert {reason.name: held.get(reason.name) for reason in reasons()} == {reason.name: reason.text for reason in reasons()}


def test_what_no_entry_explains_is_named() -> None:
    compared = Compared("core-01", Counter({"vrf OOB router bgp made-up on": 2}), Counter())
    assert by_reason(compared) == {("", "published"): 2}
    assert len({reason.name for reason in reasons()}) == len(reasons())
    assert Difference("system reboot mode cold", 1, 0).reason is not None
    assert Difference("system reboot mode cold", 0, 1).reason is None
