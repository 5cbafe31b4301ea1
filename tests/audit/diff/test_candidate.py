"""NX-OS and EOS take the commands: models of their command lines, random pairs, and cases in their own words."""

from __future__ import annotations

import random

import pytest

from fabric.audit.diff import remedy
from tests import ROOT
from tests.audit.diff.candidate import trial
from tests.audit.diff.candidate.device import RefusedError, loaded
from tests.audit.diff.candidate.drifting import drifted
from tests.audit.diff.candidate.facts import table
from tests.audit.diff.candidate.trial import cases, failures, load

SYSTEMS = ("eos", "nxos")


@pytest.mark.parametrize("nos", SYSTEMS)
def test_a_switch_takes_the_commands_of_random_pairs(nos: str) -> None:
    """A sample of `python -m tests.audit.diff.candidate --nos NOS --pairs 1000`."""
    found = list(cases(nos, 20, 8))
    assert len(found) == 12, "pairs of designs both ways, and drift"
    assert [(case.kind, failures(nos, case)) for case in found if failures(nos, case)] == []
    assert sum(len(case.commands) for case in found) > 200


# --- the models ---------------------------------------------------------------------------------------------

REFUSED = {
    "a VLAN's other VNI": (
        "nxos",
        "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 10001\n",
        "vlan 100|vn-segment 20100",
    ),
    "a VNI of another VLAN": (
        "nxos",
        "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 10001\nvlan 200\n",
        "vlan 200|vn-segment 10001",
    ),
    "the VNI with its number": (
        "nxos",
        "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 10001\n",
        "vlan 100|no vn-segment 10001",
    ),
    "a section of a feature that is off": ("nxos", "hostname a\n", "router bgp 65001"),
    "a feature that is needed": ("nxos", "feature bgp\nrouter bgp 65001\n  router-id 10.0.0.1\n", "no feature bgp"),
    "a second AS number": ("nxos", "feature bgp\nrouter bgp 65001\n", "router bgp 65002"),
    "a second AS number of EOS": ("eos", "router bgp 65001\n", "router bgp 65002"),
    "another port-channel": (
        "nxos",
        "feature lacp\ninterface port-channel1\ninterface port-channel2\n"
        "interface Ethernet1/1\n  channel-group 1 mode active\n",
        "interface Ethernet1/1|channel-group 2 mode active",
    ),
    "another mode beside a member": (
        "eos",
        "interface Ethernet1\n   channel-group 1 mode on\ninterface Ethernet2\n",
        "interface Ethernet2|channel-group 1 mode active",
    ),
    "the source of nve1 while it is up": (
        "nxos",
        "feature nv overlay\ninterface nve1\n  no shutdown\n  source-interface loopback1\n",
        "interface nve1|source-interface loopback2",
    ),
    "an address of another port": (
        "eos",
        "interface Ethernet1\n   no switchport\n   ip address 10.0.0.0/31\n",
        "interface Loopback0|ip address 10.0.0.0/31",
    ),
    "a layer-3 line on a layer-2 port": ("nxos", "interface Ethernet1/1\n", "interface Ethernet1/1|ip address 10.0.0.0/31"),
    "an entry's number": (
        "eos",
        "ip prefix-list A\n   seq 10 permit 10.0.0.0/8\n",
        "ip prefix-list A|seq 10 permit 11.0.0.0/8",
    ),
    "a policy in use": (
        "nxos",
        "policy-map type qos IN\ninterface Ethernet1/1\n  service-policy type qos input IN\n",
        "no policy-map type qos IN",
    ),
    "a network-qos policy that is edited in use": (
        "nxos",
        "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    mtu 9216\nsystem qos\n"
        "  service-policy type network-qos N\n",
        "policy-map type network-qos N|class type network-qos c-8q-nq3|mtu 1500",
    ),
    "more than all of a port": (
        "nxos",
        "policy-map type queuing Q\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 60\n"
        "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 40\n",
        "policy-map type queuing Q|class type queuing c-out-8q-q-default|bandwidth remaining percent 60",
    ),
    "a section that is always there": ("nxos", "system qos\n", "no system qos"),
    "a port": ("eos", "interface Ethernet1\n", "no interface Ethernet1"),
    "what no mode knows": ("eos", "interface Ethernet1\n", "interface Ethernet1|bananas 5"),
    "a line of a mode that another line has left": (
        "eos",
        "interface Ethernet1\n",
        "interface Ethernet1|hostname a|description x",
    ),
    "what is not there": ("eos", "router bgp 65001\n", "router bgp 65001|no neighbor 10.0.0.1"),
    "a peer group by the command for a neighbor": (
        "eos",
        "router bgp 65001\n   neighbor G peer group\n",
        "router bgp 65001|no neighbor G",
    ),
    "a VRF in use": ("eos", "vrf instance red\ninterface Ethernet1\n   vrf red\n", "no vrf instance red"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_model_refuses(name: str) -> None:
    nos, running, lines = REFUSED[name]
    with pytest.raises(RefusedError):
        loaded(load(nos), running).type(lines.split("|"))


TAKEN = {
    "the VNI goes first": (
        "nxos",
        "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 10001\n",
        "vlan 100|no vn-segment|vn-segment 20100",
        "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 20100\n",
    ),
    "another VRF takes the address": (
        "eos",
        "vrf instance red\ninterface Ethernet1\n   ip address 10.0.0.0/31\n",
        "interface Ethernet1|vrf red",
        "vrf instance red\ninterface Ethernet1\n   vrf red\n",
    ),
    "a port back to its defaults": (
        "nxos",
        "interface Ethernet1/1\n  description x\n  no switchport\ninterface Ethernet1/1.11\n  encapsulation dot1q 11\n",
        "default interface Ethernet1/1",
        "interface Ethernet1/1\n",
    ),
    "a map takes its ports": (
        "nxos",
        "interface breakout module 1 port 1 map 400g-2x\ninterface Ethernet1/1/1\n  description x\n",
        "no interface breakout module 1 port 1 map 400g-2x",
        "",
    ),
    "a neighbor goes with all its lines": (
        "eos",
        "router bgp 65001\n   neighbor 10.0.0.1 remote-as 65002\n   address-family ipv4\n      neighbor 10.0.0.1 activate\n",
        "router bgp 65001|no neighbor 10.0.0.1",
        "router bgp 65001\n   address-family ipv4\n",
    ),
    "one entry beside ranges": (
        "eos",
        "interface Vxlan1\n",
        "interface Vxlan1|vxlan vlan add 10 vni 10010",
        "interface Vxlan1\n   vxlan vlan 10 vni 10010\n",
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_model_takes(name: str) -> None:
    nos, running, lines, wanted = TAKEN[name]
    device = loaded(load(nos), running)
    device.type(lines.split("|"))
    assert device.shown() == loaded(load(nos), wanted).shown()


@pytest.mark.parametrize("nos", SYSTEMS)
def test_every_fact_says_where_it_is_from_or_is_safe_in_either_case(nos: str) -> None:
    """A fact without a source is one that the stricter case is in the model: it says `not known`, or is our own rule."""
    for name, fact in load(nos).facts.items():
        assert fact.source or "not known" in fact.says or "commands" in fact.says, name


@pytest.mark.parametrize("nos", SYSTEMS)
def test_generated_configs_are_ones_that_a_switch_can_have(nos: str) -> None:
    """The model knows every line that is generated, and finds nothing wrong in it."""
    for text in {case.intended for case in cases(nos, 21, 4) if case.kind != "two switches, back"}:
        assert list(loaded(load(nos), text).problems()) == []


@pytest.mark.parametrize("nos", SYSTEMS)
def test_the_page_lists_the_facts(nos: str) -> None:
    """Print the table with `python -m tests.audit.diff.candidate --nos NOS --facts`."""
    assert table(load(nos)) in (ROOT / "docs" / "targets" / f"{nos}.md").read_text(encoding="utf-8")


def test_operators_edits_are_seeded() -> None:
    planned = next(case.intended for case in cases("eos", 21, 2))
    one, two = (drifted(random.Random(5), load("eos"), planned) for _ in range(2))
    assert one == two


def test_a_wrong_command_is_seen() -> None:
    """The trial can fail: a writer that leaves out a line, or types one too early."""
    running = "feature vn-segment-vlan-based\nvlan 100\n  vn-segment 10001\n"
    intended = running.replace("10001", "20100")
    assert remedy.commands("nxos", running, intended) == ["vlan 100", "  no vn-segment", "  vn-segment 20100"]
    assert trial.wrong(load("nxos"), running, intended, ["vlan 100", "  vn-segment 20100"]) == [
        "refused: vn-segment 20100: there is vn-segment 10001"
    ]
    assert trial.wrong(load("nxos"), running, intended, []) == [
        "left: vlan 100 / vn-segment 10001",
        "missing: vlan 100 / vn-segment 20100",
    ]
