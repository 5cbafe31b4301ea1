"""A converged pair, an edge router and an out-of-band switch: each switch of the pair is lost while flows run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.lab.blueprint import SWITCH, Blueprint, End
from fabric.lab.expected import Endpoint, endpoints, gateway_of
from fabric.lab.lab import Lab
from fabric.lab.machine.observer import Observation, Seen
from fabric.lab.machine.wiring import Wiring
from fabric.lab.outcome import finding
from fabric.lab.reports import report
from fabric.lab.scenarios import switch_lost
from fabric.lab.scenarios.base import Stage
from fabric.lab.scenarios.switch_lost import MAX_GAP_S, Part, Played
from fabric.lab.up_down import Choices
from tests.lab.sites import PAIR, PAIRS_BELOW_SPINES, left

LEAVES = ["core-leaf001", "core-leaf002"]
PARTS = ("gpu", "inband", "storage", "oob-switches", "inband-edge")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    yield from on_frr(PAIR, "lab-pair", tmp_path)


@pytest.fixture
def below_spines(tmp_path: Path) -> Iterator[Lab]:
    yield from on_frr(PAIRS_BELOW_SPINES, "lab-below-spines", tmp_path)


def on_frr(text: str, name: str, folder: Path) -> Iterator[Lab]:
    """The lab of a site; nothing is left of it at the end."""
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("SITE", name), encoding="utf-8")
    made = pipeline.lab(pipeline.load(path))
    made.choices = Choices(as_nos="frr")
    yield made
    if left(name):
        made.down()


@pytest.mark.usefixtures("machine")
def test_traffic_of_every_network_goes_on_without_either_switch(lab: Lab, tmp_path: Path) -> None:
    lab.up()
    outcome = lab.test(only=("sessions", "overlay", "gateways", "management", "reach", "switch-lost"))
    results = {result.id: result for result in outcome.results}
    assert [(result.id, *map(str, result.faults)) for result in outcome.results if result.status != "pass"] == []
    assert results["management"].summary == "3 of 3 management ports answer the gateway"
    found = {result.id for result in outcome.results if result.kind == "scenario"}
    assert found == {
        *(f"switch-{what}-{leaf}" for what in ("lost", "back") for leaf in LEAVES),
        *(f"switch-lost-{part}" for part in PARTS),
    }
    for leaf in LEAVES:
        assert "planned pairs reach each other, 0 of " in results[f"switch-lost-{leaf}"].summary  # tenants stay apart
    for part in PARTS:
        measured = results[f"switch-lost-{part}"].measured
        assert 0 < float(measured["longest_gap_ms"]) <= MAX_GAP_S * 1000
        assert 0 < float(measured["back_longest_gap_ms"]) <= MAX_GAP_S * 1000
    assert results["switch-lost-gpu"].summary == (
        "4 of 8 addresses stay reachable without core-leaf001, 4 of 8 without core-leaf002, the others have no other switch"
    )
    assert any("Ethernet segments are not emulated" in limit.what for limit in outcome.not_emulated)

    written = json.loads(report("json", outcome))
    assert {row["id"] for row in written["results"]} == results.keys()
    names = {case.get("name") for case in ET.fromstring(report("junit", outcome)).iter("testcase")}
    assert any("oob-switches" in str(name) for name in names)
    lab.down()
    assert left("lab-pair") == []


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_a_pair_below_spines(below_spines: Lab) -> None:
    """Without `forwarding` before `overlay`, and with daemons that forget router MACs when a leaf of a pair goes."""
    below_spines.up()
    outcome = below_spines.test(only=("sessions", "overlay", "reach", "switch-lost"))
    assert [(result.id, *map(str, result.faults)) for result in outcome.results if result.status != "pass"] == []
    results = {result.id: result for result in outcome.results}
    tunnels = "36 tunnels of networks (type 3), 36 hosts (type 2), 8 prefixes of tenants (type 5)"
    assert {results[name].summary for name in ("overlay", "overlay-afterwards")} == {tunnels}
    reached = "60 of 60 planned pairs reach each other, 0 of 64 across tenants"
    lost = [f"switch-lost-front-leaf00{number}" for number in (1, 2)]
    assert {results[name].summary for name in ("reach", *lost, "reach-afterwards")} == {reached}


# --- without root -------------------------------------------------------------------------------------------


def test_a_management_port_is_behind_the_out_of_band_switch_at_a_leaf_of_the_pair(lab: Lab) -> None:
    def ports(*dead: str) -> dict[str, tuple[str, str, str, str]]:
        ends = [end for end in endpoints(lab.blueprint, dead) if end.server.endswith("-management")]
        return {end.server: (end.fabric, end.leaf, end.tenant, gateway_of(end)) for end in ends}

    assert len(ports()) == 3
    assert set(ports().values()) == {("core", "core-leaf002", "oob", "172.16.0.1")}
    assert set(ports("core-leaf002").values()) == {("core", "core-leaf001", "oob", "172.16.0.1")}
    assert ports(*LEAVES) == {}


def test_an_out_of_band_switch_bridges_to_one_leaf_at_a_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both at once would be a loop."""
    below = lab.blueprint.nodes["oob-leaf001"]
    assert below.kind == SWITCH
    uplinks = [own for own in below.interfaces if own.bond and own.bridge]
    assert {(own.bridge, own.standby) for own in uplinks} == {(f"vlan{vlan}", at) for vlan in (200, 201) for at in (0, 1)}
    done: list[str] = []
    monkeypatch.setattr("fabric.lab.machine.nodes.run", lambda *words, text="", **_: done.append(text))
    wiring = Wiring(lab.blueprint, cast(Any, SimpleNamespace(can=frozenset({"filter", "vrf"}), vrf_devices=True)))
    pulled = {wiring.far[End("oob-leaf001", own.name)] for own in uplinks if not own.standby}
    for ends, used in ((frozenset[End](), 0), (frozenset(pulled), 1), (frozenset(wiring.far.values()), 0)):
        done.clear()
        wiring.elect(ends)
        words = [line.split() for line in done]
        taken = {word[2]: word[3] for word in words}
        assert taken == {own.name: "master" if own.standby == used else "nomaster" for own in uplinks}
        for bridge in ("vlan200", "vlan201"):  # the port that leaves goes first
            names = [own.name for own in uplinks if own.bridge == bridge]
            assert [word[3] for word in words if word[2] in names] == ["nomaster", "master"]


def test_both_leaves_of_the_pair_are_played_and_flows_are_of_what_stays(lab: Lab) -> None:
    stage = staged(lab.blueprint)
    assert switch_lost._pair(stage) == LEAVES
    before, after = switch_lost._ends(stage, ()), switch_lost._ends(stage, {"core-leaf001"})
    assert {end.leaf for end in after} == {"core-leaf002"}
    lost = {(end.server, end.address) for end in before} - {(end.server, end.address) for end in after}
    assert {server for server, _ in lost} == {"gpu-0001", "gpu-0002"}
    assert len(lost) == 4
    assert switch_lost._missing(stage, before, after) == []
    alone = [end for end in after if end.server not in ("store-0001", "core-leaf002-management")]
    assert sorted(end.server for end, _ in switch_lost._missing(stage, before, alone)) == [
        "core-leaf002-management",
        "store-0001",
    ]


def staged(blueprint: Blueprint) -> Stage:
    return cast(Stage, SimpleNamespace(live=SimpleNamespace(lab=blueprint), fabric="core", leaves=LEAVES, switches=LEAVES))


def end(server: str, leaf: str) -> Endpoint:
    return Endpoint(
        server=server,
        interface="p",
        address="10.0.0.1",
        fabric="core",
        leaf=leaf,
        port="p",
        tenant="red",
        network=None,
        mtu=9000,
    )


@pytest.mark.parametrize(
    ("gap_s", "silent", "faults"),
    [
        (0.1, False, []),
        (MAX_GAP_S + 1, False, ["red: when the switch is lost no packet arrives for 3.0 s, the limit is 2 s"]),
        (0.1, True, ["no answer"]),
    ],
)
def test_a_network_that_stops_is_named(gap_s: float, silent: bool, faults: list[str]) -> None:
    ends = [end("a", LEAVES[0]), end("b", LEAVES[1])]
    part = Part("red", "")
    played = Played(
        leaf=LEAVES[0],
        before=ends,
        after=ends[1:],
        parts=[part, Part("blue", "")],
        lost=Observation((Seen(gap_s, 7, 100), Seen(60.0, 100, 100))),
        back=Observation((Seen(0.1, 0, 100), Seen(60.0, 100, 100))),
        silent=[(ends[1], finding(LEAVES[1], "no answer"))] if silent else [],
    )
    shown = switch_lost._judge(part, [played])
    assert [fault.message for fault in shown.faults] == faults
    assert shown.summary == "1 of 2 addresses stay reachable without core-leaf001, the others have no other switch"
    assert shown.measured["lost_packets"] == 7


def test_an_intent_for_frr_with_bonds_over_two_leaves_is_still_refused(tmp_path: Path) -> None:
    """The lab has something in place of Ethernet segments; FRR on a switch has not."""
    path = tmp_path / "own.yaml"
    path.write_text(PAIR.replace("SITE", "own").replace("nos: cumulus", "nos: frr"), encoding="utf-8")
    with pytest.raises(InputError, match="FAB164"):
        _ = pipeline.lab(pipeline.load(path)).blueprint
