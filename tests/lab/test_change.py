"""Changes carried out on live daemons by the engine of `fabric change apply`, under a probe of 32 flows: nothing is lost in a
planned wave, and a wave that fails goes back.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabric.deliver.change.apply.records import CARRIED_OUT, TAKEN_BACK
from fabric.lab import up_down
from fabric.lab.blueprint import Names
from fabric.lab.machine import daemons
from fabric.lab.machine.namespaces import LabError
from fabric.lab.up_down import take_down
from tests.lab.changes import Change, Faulty, called, lines, plan, running
from tests.lab.sites import THREE_TENANTS, TWO_TIERS, alive, left, processes

# BFD waits for longer than a busy machine may pause.
PLAIN = TWO_TIERS.replace("site: two", "site: SITE").replace(
    "    nos: frr", "    nos: frr\n    underlay: {bfd: {interval_ms: 1000}}"
)
GROWN = PLAIN.replace("count: 4", "count: 6")
WIDER = PLAIN.replace("count: 4", "count: 8")
GREEN = "      - {name: green, servers: [gpu-0003, gpu-0006, gpu-0009, gpu-0012]}\n"
TENANTS = THREE_TENANTS.replace("    nos: frr", "    nos: frr\n    underlay: {bfd: {interval_ms: 1000}}")
WORK = ", networks: [{name: work, vlan: 200, gateway: 10.30.0.0/24}]}"
TWO_TENANTS = TENANTS.replace(GREEN, "").replace("gpu-0008, gpu-0011]}", f"gpu-0008, gpu-0011]{WORK}")
GREEN_ADDED = TWO_TENANTS + GREEN.replace("0012]}", "0012], networks: [{name: lab, vlan: 300, gateway: 10.40.0.0/24}]}")
MOVED = TWO_TENANTS.replace(", gpu-0010]", "]").replace("gpu-0008, gpu-0011]", "gpu-0008, gpu-0010, gpu-0011]")
PANELS = PLAIN.replace(
    "uplinks: {count: 2}}, spine: {min_count: 2}", "uplinks: {count: 4}}, spine: {count: 2}, PANEL"
).replace("PANEL", "patch_panels: {leaf-spine: {ports: 48}}")
FOUR_SPINES = PANELS.replace("spine: {count: 2}", "spine: {count: 4}")
Plan = Callable[..., Change]


@pytest.fixture
def planned(machine: None, tmp_path: Path) -> Iterator[Plan]:
    """Plans a change; whatever is left of its lab goes at the end."""
    made: list[str] = []

    def make(site: str, old: str, new: str, *words: str) -> Change:
        made.append(site)
        return plan(tmp_path, site, old, new, *words)

    yield make
    for site in made:
        with up_down.only_one(Names(site)):
            take_down(Names(site))


def _lossless(change: Change, site: str) -> None:
    """Every wave is carried out, no flow that counts loses a packet, and the lab is one of the new design."""
    steps: list[str] = []
    carried = change.carry_out(change.network(), steps=steps)
    assert [wave.state for wave in carried.outcome.waves] == [CARRIED_OUT] * len(carried.lost), steps
    assert {number: (lost.packets, lost.by_flow) for number, lost in carried.lost.items()} == dict.fromkeys(
        carried.lost, (0, {})
    ), steps
    assert all(lost.sent > 0 for lost in carried.lost.values())
    assert sum("of servers that the wave cuts off" not in line for line in steps if "probe" in line) == sum(
        lost.not_counted == 0 for lost in carried.lost.values()
    )
    recorded = up_down.read(Names(site))
    assert recorded is not None
    assert (recorded.ready, recorded.digest) == (True, up_down.digest(change.new))


def test_a_unit_more(planned: Plan) -> None:
    """A leaf and its servers come, both spines are configured for it; `down` finds them all."""
    change = planned("lab-grown", PLAIN, GROWN)
    _lossless(change, "lab-grown")
    inside = processes("lab-grown")
    with up_down.only_one(Names("lab-grown")):
        assert take_down(Names("lab-grown")) == 2 + 3 + 6
    assert (left("lab-grown"), alive(inside)) == ([], [])


@pytest.mark.slow
def test_a_unit_more_and_back_by_the_command(planned: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the plans of the folder as a person keeps them: each design is generated once the lab is one of it."""
    planned("lab-return", PLAIN, GROWN)  # the lab goes at the end
    monkeypatch.chdir(tmp_path)
    old, new = "small.yaml", "large.yaml"
    for name, text in ((old, PLAIN), (new, GROWN)):
        (tmp_path / name).write_text(text.replace("SITE", "lab-return"), encoding="utf-8")
    called("generate", old)
    called("lab", "up", old)
    for folder, before, after in (("grown", old, new), ("shrunk", new, old)):
        called("change", "plan", before, after, "--floor", "50%", "--files", folder)
        output = called("change", "apply", folder, "--inventory", "lab")
        lost = [line for line in output.splitlines() if "probe" in line]
        assert lost, output
        assert all(" 0 of " in line for line in lost), output
        called("generate", after)
    called("lab", "test", old)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("site", "old", "new", "words"),
    [
        pytest.param("lab-wider", PLAIN, WIDER, (), id="two units more"),
        pytest.param("lab-jumpers", PANELS, FOUR_SPINES, (), id="two spines more, by jumpers"),
        pytest.param("lab-pulled", FOUR_SPINES, PANELS, (), id="two spines less, by jumpers"),
        pytest.param("lab-spine", PLAIN, "replace", ("backend-spine001",), id="a spine replaced"),
        pytest.param("lab-reboot", WIDER, "reboot", ("leaf", "spine"), id="every switch rebooted"),
        pytest.param("lab-green", TWO_TENANTS, GREEN_ADDED, (), id="a tenant added"),
        pytest.param("lab-white", GREEN_ADDED, TWO_TENANTS, (), id="a tenant removed"),
        pytest.param("lab-moved", TWO_TENANTS, MOVED, (), id="a server moved to another tenant"),
        pytest.param("lab-bfd", PLAIN, PLAIN.replace("1000", "800"), (), id="BFD"),
        pytest.param("lab-mtu", PLAIN, PLAIN.replace("underlay: {", "underlay: {mtu: 9000, "), (), id="MTU"),
        pytest.param("lab-limit", PLAIN, PLAIN.replace("underlay: {", "underlay: {max_prefix: 500, "), (), id="prefix limit"),
    ],
)
def test_nothing_is_lost(planned: Plan, site: str, old: str, new: str, words: tuple[str, ...]) -> None:
    _lossless(planned(site, old, new, *words), site)


def _goes_back(change: Change, network: Faulty) -> list[str]:
    """The second wave, the first that types, is taken back: every config is as before. What was lost then."""
    steps: list[str] = []
    before: list[dict[str, str]] = []
    fault = network.fault
    assert fault is not None

    def noted(net: Faulty, device: str) -> None:
        others = {path: text for path, text in running(net).items() if not path.startswith(f"{device}/")}
        before.append(others)
        fault(net, device)

    network.fault = noted
    carried = change.carry_out(network, steps=steps)
    assert [wave.state for wave in carried.outcome.waves][:2] == [CARRIED_OUT, TAKEN_BACK], steps
    assert network.hit == ["backend-spine001"]
    with Faulty(change.old, change.new, network.in_place.kernel) as again:
        after = running(again)
        planned = {path.removeprefix("configs/"): text for files in change.old.files.values() for path, text in files.items()}
        assert lines({path: text for path, text in after.items() if path in before[0]}) == lines(before[0])
        spine = {path: text for path, text in after.items() if path.startswith("backend-spine001/")}
        assert {path for path, text in spine.items() if not path.endswith("frr.conf") and text != planned[path]} == set()
        neighbors = [line for line in spine["backend-spine001/frr.conf"].splitlines() if "remote-as" in line]
        assert len(neighbors) == 2
    return [line for line in steps if "probe" in line]


@pytest.mark.slow
def test_a_jumper_is_plugged_wrongly(planned: Plan) -> None:
    """Two leaves with each other's jumper: LLDP says so, jumpers and links go back, nothing is lost."""
    change = planned("lab-confused", PANELS, FOUR_SPINES)
    network = change.network()
    network.swaps_jumpers = True
    steps: list[str] = []
    carried = change.carry_out(network, steps=steps)
    assert [wave.state for wave in carried.outcome.waves] == [CARRIED_OUT, TAKEN_BACK], steps
    messages = [remark.message for remark in carried.outcome.waves[1].remarks]
    assert any("swapped" in message for message in messages), messages
    assert sum(lost.packets for lost in carried.lost.values()) == 0, steps
    assert set(change.old.wires) < set(network.in_place.laid.wires) | set(change.new.wires)
    assert all(wire in network.in_place.laid.wires for wire in change.old.wires)


@pytest.mark.slow
def test_a_wrong_as_number(planned: Plan) -> None:
    """The new session never comes up: the switch has neither config, and goes back; no flow loses a packet."""

    def plant(network: Faulty, device: str) -> None:
        words = ["-c", "configure terminal", "-c", "router bgp 4200000000", "-c", "neighbor 10.64.0.8 remote-as 65001"]
        connection = network.connect(device)
        code, reply = connection.shell.run("vtysh " + " ".join(f"'{word}'" for word in words))
        connection.close()
        if code:
            raise LabError(reply)

    change = planned("lab-asn", PLAIN, GROWN)
    network = change.network()
    network.fault = plant
    assert all(" 0 of " in line for line in _goes_back(change, network))


@pytest.mark.slow
def test_a_daemon_is_killed(planned: Plan) -> None:
    """It starts again with the config that is saved; the flows over the other spine go on."""

    def kill(network: Faulty, device: str) -> None:
        os.kill(daemons.alive(network.in_place.names.home(device))["bgpd"], signal.SIGKILL)

    change = planned("lab-killed", PLAIN, GROWN)
    network = change.network()
    network.fault = kill
    _goes_back(change, network)


@pytest.mark.slow
def test_the_management_link_is_cut(planned: Plan) -> None:
    """In the middle of the lines: the timer of the switch takes the change back, with no one there."""

    def cut(network: Faulty, device: str) -> None:
        network.cut(device)
        threading.Timer(30.0, network.restore, (device,)).start()

    change = planned("lab-cut", PLAIN, GROWN)
    network = change.network(minute_s=1.0)  # its ten minutes are ten seconds
    network.fault, network.half = cut, "backend-spine001"
    assert all(" 0 of " in line for line in _goes_back(change, network))
