"""Every kind of finding: what is reported, whom it blames, and the move that fixes it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from fabric.audit.cabling.compare import compare
from fabric.audit.cabling.files import Collected, DeviceData
from fabric.audit.cabling.finding import CableFault, CablingState
from fabric.base.diagnostics import InputError
from fabric.nos.lldp import LldpPort, Neighbor
from tests.audit.cabling.helpers import ALL, SWITCHES, blamed, end, fresh, kinds, reported, verdict
from tests.audit.cabling.lldp_writers import Floor

LEAF1, LEAF2, LEAF3 = ("backend-leaf001", "backend-leaf002", "backend-leaf003")


def only(found: CablingState) -> CableFault:
    assert len(found.findings) == 1, [finding.message for finding in found.findings]
    return found.findings[0]


def say(messages: Collected, floor: Floor, device: str) -> DeviceData:
    return messages.devices[floor.plan.hosts.names.index(device)]


def replace_at(switch: DeviceData, at_port: str, **changes: object) -> None:
    at = next(at for at, item in enumerate(switch.neighbors) if item.port == at_port)
    switch.neighbors[at] = replace(switch.neighbors[at], **changes)  # type: ignore[arg-type]  # fields of Neighbor


@pytest.mark.parametrize("name", ["ai-cumulus", "ai-junos", "gb300-twin-plane", "h100-4su", "starter", "lab"])
@pytest.mark.parametrize("roles", [SWITCHES, ALL, ("leaf",), ("spine",)])
def test_a_right_floor(name: str, roles: tuple[str, ...]) -> None:
    floor = fresh(name)
    found = verdict(floor, reported(floor, roles, states=True))
    assert found.findings == ()
    assert found.as_planned + found.not_reported == len(floor.plan)
    if roles in (SWITCHES, ALL):
        assert found.not_reported == 0


def test_the_other_end_judges_for_a_switch_without_a_report() -> None:
    floor = fresh("ai-cumulus")
    floor.swap(end(floor.plan, "backend-spine001 1"), end(floor.plan, "backend-spine001 3"))
    finding = only(verdict(floor, reported(floor, ("spine",))))
    assert finding.kind == "swapped"
    assert finding.at.device == "backend-spine001"


def test_three_cables_in_a_ring() -> None:
    floor = fresh("ai-cumulus")
    a, b, c = (end(floor.plan, f"backend-spine001 {port}") for port in (1, 2, 3))
    floor.swap(a, b)
    floor.swap(b, c)
    finding = only(verdict(floor, reported(floor)))
    assert finding.kind == "swapped"
    assert finding.message.startswith("3 cables have changed places at backend-spine001: ")
    assert len(finding.moves) == 3


def test_a_free_port_of_the_right_switch() -> None:
    floor = fresh("starter")
    plan = floor.plan
    held, right = end(plan, "backend-leaf001 64"), end(plan, "backend-spine002 8")
    messages = reported(floor)
    assert held ^ 1 == right
    replace_at(say(messages, floor, LEAF1), plan.port_name[held], far_port="Ethernet504")
    spine = say(messages, floor, "backend-spine002")
    replace_at(spine, plan.port_name[right], port="Ethernet504")
    finding = only(verdict(floor, messages))
    assert finding.kind == "wrong-port"
    assert finding.message == (
        "backend-leaf001 port 64 (Ethernet504) is connected to backend-spine002 port 64 (Ethernet504), "
        "expected backend-spine002 port 8 (Ethernet56)"
    )
    assert [move.text for move in finding.moves] == [
        "at backend-spine002, move the cable of backend-leaf001 port 64 (Ethernet504) "
        "from port 64 (Ethernet504) to port 8 (Ethernet56)"
    ]


def test_another_switch() -> None:
    """The free port of another spine; the planned one receives nothing."""
    floor = fresh("starter")
    plan = floor.plan
    held = end(plan, "backend-leaf001 64")
    right = held ^ 1
    messages = reported(floor)
    replace_at(say(messages, floor, LEAF1), plan.port_name[held], system="backend-spine001", far_port="Ethernet504")
    moved = next(item for item in say(messages, floor, "backend-spine002").neighbors if item.port == plan.port_name[right])
    say(messages, floor, "backend-spine002").neighbors.remove(moved)
    say(messages, floor, "backend-spine001").neighbors.append(replace(moved, port="Ethernet504"))
    finding = only(verdict(floor, messages))
    assert finding.kind == "wrong-device"
    assert [move.text for move in finding.moves] == [
        "move the cable of backend-leaf001 port 64 (Ethernet504) from backend-spine001 port 64 (Ethernet504) "
        "to backend-spine002 port 8 (Ethernet56)"
    ]


def test_cables_one_port_further() -> None:
    """A row of cables shifted by one port: the last one is in a free port. As many moves as cables, the last one first."""
    floor = fresh("starter")
    plan = floor.plan
    spine = plan.hosts.names.index("backend-spine002")
    ends = [at for at in range(len(plan.device)) if plan.device[at] == spine]
    messages = reported(floor)
    switch = say(messages, floor, "backend-spine002")
    port_name = [plan.port_name[at] for at in ends] + [f"Ethernet{8 * len(ends)}"]
    following = dict(pairwise(port_name))
    switch.neighbors[:] = [replace(item, port=following[item.port]) for item in switch.neighbors]
    for device in (LEAF1, LEAF2):
        for item in list(say(messages, floor, device).neighbors):
            if item.system == "backend-spine002":
                replace_at(say(messages, floor, device), item.port, far_port=following[item.far_port])
    finding = only(verdict(floor, messages))
    assert finding.kind == "wrong-port"
    assert len(finding.moves) == len(ends)
    assert blamed(finding) == {plan.name(at ^ 1) for at in ends}
    targets = [move.to.port_name for move in finding.moves if move.to]
    assert targets == port_name[:-1]


def test_a_neighbor_where_nothing_is_planned() -> None:
    floor = fresh("starter")
    messages = reported(floor)
    say(messages, floor, "backend-spine001").neighbors.append(
        Neighbor(port="Ethernet504", system="backend-spine002", chassis="", far_port="Ethernet504")
    )
    say(messages, floor, "backend-spine002").neighbors.append(
        Neighbor(port="Ethernet504", system="backend-spine001", chassis="", far_port="Ethernet504")
    )
    finding = only(verdict(floor, messages))
    assert (finding.kind, [move.action for move in finding.moves]) == ("unexpected", ["remove"])
    assert finding.message == (
        "backend-spine001 port 64 (Ethernet504) is connected to backend-spine002 port 64 (Ethernet504), expected no cable"
    )


def test_a_unknown_neighbor_and_the_name_it_comes_closest_to() -> None:
    floor = fresh("starter")
    plan = floor.plan
    held = end(plan, "backend-leaf001 64")
    messages = reported(floor)
    replace_at(say(messages, floor, LEAF1), plan.port_name[held], system="backend-spin002", far_port="Ethernet56")
    switch = say(messages, floor, "backend-spine002")
    switch.neighbors[:] = [item for item in switch.neighbors if item.port != plan.port_name[held ^ 1]]
    finding = only(verdict(floor, messages))
    assert finding.kind == "unknown-device"
    assert finding.message.endswith("; did you mean 'backend-spine002'?")
    assert [move.action for move in finding.moves] == ["move"]


def test_a_unknown_neighbor_on_a_free_port() -> None:
    floor = fresh("starter")
    messages = reported(floor)
    say(messages, floor, "backend-spine001").neighbors.append(
        Neighbor(port="Ethernet504", system="", chassis="00:11:22:33:44:55", far_port="")
    )
    finding = only(verdict(floor, messages))
    assert (finding.kind, finding.at.device) == ("unknown-device", "backend-spine001")
    assert [move.text for move in finding.moves] == [
        "remove the cable between backend-spine001 port 64 (Ethernet504) and 00:11:22:33:44:55"
    ]


def test_a_chassis_without_a_name_is_known_by_its_address() -> None:
    floor = fresh("starter")
    plan, messages = floor.plan, reported(floor)
    address = "4c:76:25:00:00:01"
    messages.chassis = {address.replace(":", ""): "backend-spine002.dc1.example"}
    switch = say(messages, floor, LEAF1)
    held = end(plan, "backend-leaf001 64")
    replace_at(switch, plan.port_name[held], system="", chassis="4c76.2500.0001")
    assert verdict(floor, messages).findings == ()


@pytest.mark.parametrize("spelled", ["BACKEND-SPINE002", "backend-spine002.dc1.example", " backend-spine002 "])
def test_names_as_switches_send_them(spelled: str) -> None:
    floor = fresh("starter")
    messages = reported(floor)
    switch = say(messages, floor, LEAF1)
    switch.neighbors[:] = [
        replace(item, system=spelled) if item.system == "backend-spine002" else item for item in switch.neighbors
    ]
    assert verdict(floor, messages).findings == ()


def test_a_cut_name_counts_when_it_leaves_one_device() -> None:
    names = fresh("starter").plan.hosts
    assert names.find("backend-spine002"[:15]) is None  # spine001, spine002
    assert names.find("backend-spine002") == names.names.index("backend-spine002")


def test_a_swap_of_whole_plugs_is_two_moves() -> None:
    """Two cages, each with the links of two servers: the plugs change places, not four ports."""
    floor = fresh("starter")
    plan = floor.plan
    for sub in (1, 2):
        floor.swap(end(plan, f"backend-leaf001 1/{sub}"), end(plan, f"backend-leaf001 3/{sub}"))
    finding = only(verdict(floor, reported(floor)))
    assert (finding.kind, len(finding.moves), len(finding.links)) == ("swapped", 2, 4)
    assert finding.message.endswith(", with the other 1 link of the same plugs")
    assert {move.at.device for move in finding.moves} == {LEAF1}


def test_parts_of_one_plug_are_fixed_at_the_other_end() -> None:
    floor = fresh("starter")
    plan = floor.plan
    floor.swap(end(plan, "backend-leaf001 1/1"), end(plan, "backend-leaf001 1/2"))
    finding = only(verdict(floor, reported(floor, ALL)))
    assert finding.kind == "swapped"
    assert all(move.at.device.startswith("dgx") for move in finding.moves)


def test_a_cage_that_is_not_broken_out() -> None:
    floor = fresh("ai-junos")
    plan, messages = floor.plan, reported(floor)
    switch = say(messages, floor, LEAF1)
    first, second = (end(plan, f"backend-leaf001 1/{sub}") for sub in (1, 2))
    switch.neighbors[:] = [
        item for item in switch.neighbors if item.port not in (plan.port_name[first], plan.port_name[second])
    ]
    switch.neighbors.append(
        Neighbor(port="et-0/0/0", system=plan.hosts.names[plan.device[first ^ 1]], chassis="", far_port="x")
    )
    finding = only(verdict(floor, messages))
    assert finding.kind == "wrong-split"
    assert finding.message == "backend-leaf001 port 1 runs as one port, expected 2x400G"
    assert blamed(finding) == {plan.name(first ^ 1), plan.name(second ^ 1)}


def test_a_cage_that_is_broken_out_though_it_should_not() -> None:
    floor = fresh("ai-cumulus")
    plan, messages = floor.plan, reported(floor, states=True)
    held = end(plan, "backend-leaf001 17")
    switch = say(messages, floor, LEAF1)
    replace_at(switch, "swp17", port="swp17s0")
    del switch.ports["swp17"]
    switch.ports |= {f"swp17s{sub}": LldpPort(f"swp17s{sub}", 200, True) for sub in (0, 1)}
    far = say(messages, floor, plan.hosts.names[plan.device[held ^ 1]])
    replace_at(far, plan.port_name[held ^ 1], far_port="swp17s0")
    finding = only(verdict(floor, messages))
    assert finding.message == "backend-leaf001 port 17 is broken out into 2, expected one port of 400G"
    assert [move.text for move in finding.moves] == ["at backend-leaf001, configure port 17 as one port of 400G"]


def test_a_split_that_only_the_list_of_ports_shows() -> None:
    """EOS calls the whole cage as its first part: the second part is not in the list."""
    floor = fresh("ai-eos")
    plan, messages = floor.plan, reported(floor, states=True)
    second = end(plan, "backend-leaf001 1/2")
    switch = say(messages, floor, LEAF1)
    del switch.ports[plan.port_name[second]]
    switch.neighbors[:] = [item for item in switch.neighbors if item.port != plan.port_name[second]]
    finding = only(verdict(floor, messages))
    assert finding.message == "backend-leaf001 port 1 lacks some of its ports, expected 2x400G"
    assert blamed(finding) == {plan.name(second ^ 1)}


def test_missing_and_what_its_ports_say() -> None:
    floor = fresh("ai-cumulus")
    floor.pull(end(floor.plan, "backend-spine001 5"))
    finding = only(verdict(floor, reported(floor, states=True)))
    assert finding.kind == "missing"
    assert finding.message.endswith("neither end reports the other, and both ports are down")
    assert [(move.action, move.to.device if move.to else "") for move in finding.moves] == [("lay", "backend-spine001")]


def test_a_port_that_is_shut() -> None:
    floor = fresh("ai-cumulus")
    held = end(floor.plan, "backend-spine001 5")
    floor.pull(held)
    messages = reported(floor, states=True)
    say(messages, floor, "backend-spine001").ports["swp5"] = LldpPort("swp5", 0, False, shut=True)
    finding = only(verdict(floor, messages))
    assert (finding.kind, finding.moves[0].text) == (
        "port-down",
        "enable backend-spine001 port 5 (swp5), then collect again",
    )


def test_a_planned_port_taken_by_a_cable_of_another() -> None:
    """One cable pulled, and another one plugged in where it ended."""
    floor = fresh("ai-cumulus")
    plan = floor.plan
    pulled, other = end(plan, "backend-spine001 5"), end(plan, "backend-spine001 6")
    there = other ^ 1
    floor.pull(pulled)
    floor.pull(other)
    floor.lay(there, pulled)
    found = verdict(floor, reported(floor))
    assert kinds(found) == ["missing", "wrong-port"]
    moved, missing = sorted(found.findings, key=lambda finding: finding.kind, reverse=True)
    assert (blamed(moved), blamed(missing)) == ({plan.name(there)}, {plan.name(pulled ^ 1)})


def test_a_silent_switch_is_one_finding() -> None:
    floor = fresh("ai-cumulus")
    spine = floor.plan.hosts.names.index("backend-spine002")
    for at in range(len(floor.plan.device)):
        if floor.plan.device[at] == spine:
            floor.pull(at)
    messages = reported(floor)
    del messages.devices[spine]
    finding = only(verdict(floor, messages))
    assert (finding.kind, finding.at.device, len(finding.links)) == ("silent-device", "backend-spine002", 32)


def test_servers_that_send_no_lldp_are_not_blamed() -> None:
    floor = fresh("starter")
    plan = floor.plan
    servers = [at for at in range(len(plan.device)) if plan.roles[plan.device[at]] == "server"]
    for at in servers:
        floor.pull(at)
    found = verdict(floor, reported(floor))
    assert (found.findings, found.not_reported) == ((), len(servers))
    assert any("LLDP is probably off" in note for note in found.notes)


def test_one_server_without_a_cable_is_blamed_where_others_speak() -> None:
    floor = fresh("starter")
    floor.pull(end(floor.plan, "dgx-h100-0003 compute2"))
    assert kinds(verdict(floor, reported(floor))) == ["missing"]


def test_a_server_known_by_name_alone_is_judged_by_its_device() -> None:
    """Its port id is the address of the NIC, so two of its own ports may be exchanged unseen; that is reported."""
    floor = fresh("starter")
    plan, messages = floor.plan, reported(floor)
    for device in (LEAF1, LEAF2):
        switch = say(messages, floor, device)
        switch.neighbors[:] = [
            replace(item, far_port=item.chassis) if item.system.startswith("dgx") else item for item in switch.neighbors
        ]
    found = verdict(floor, messages)
    assert (found.findings, found.by_device_only) == ((), sum(role == "server" for role in plan.roles) * 8)
    assert any("compared by device only" in note for note in found.notes)


def test_two_neighbors_on_a_port() -> None:
    """A NIC whose firmware speaks LLDP beside the host: one of them is the planned one, and that will do."""
    floor = fresh("starter")
    messages = reported(floor)
    say(messages, floor, LEAF1).neighbors.insert(
        0, Neighbor(port="Ethernet0", system="", chassis="b8:ce:f6:00:00:01", far_port="b8:ce:f6:00:00:01")
    )
    assert verdict(floor, messages).findings == ()


def test_short_names_of_subinterfaces() -> None:
    """SONiC writes `Eth0.102` of `Ethernet0`; `eth0.102` is of the management port."""
    floor = fresh("starter")
    messages = reported(floor)
    switch = say(messages, floor, LEAF1)
    switch.neighbors[:] = [replace(item, port=item.port.replace("Ethernet", "Eth") + ".102") for item in switch.neighbors]
    switch.neighbors.append(Neighbor(port="eth0.102", system="oob-switch", chassis="", far_port="swp10"))
    assert verdict(floor, messages).findings == ()


def test_management_ports_are_passed_over() -> None:
    floor = fresh("starter")
    messages = reported(floor)
    say(messages, floor, LEAF1).neighbors.append(Neighbor(port="eth0", system="oob-switch", chassis="", far_port="swp10"))
    found = verdict(floor, messages)
    assert found.findings == ()
    assert any(note.startswith("1 neighbor ignored") for note in found.notes)


def test_a_switch_with_the_names_of_another_network_os() -> None:
    floor = fresh("ai-cumulus")
    messages = reported(floor)
    switch = say(messages, floor, LEAF1)
    switch.neighbors[:] = [replace(item, port=item.port.replace("swp", "Ethernet1/")) for item in switch.neighbors]
    with pytest.raises(InputError) as caught:
        verdict(floor, messages)
    (item,) = caught.value.diagnostics
    assert (item.code, str(item.place)) == ("FAB176", LEAF1)
    assert item.message == "expected ports such as 'swp1', got 'Ethernet1/1'"


def test_speed_of_one_end() -> None:
    floor = fresh("ai-cumulus")
    held = end(floor.plan, "backend-spine001 5")
    floor.speed[held] = 200
    finding = only(verdict(floor, reported(floor, states=True)))
    assert finding.message == "backend-spine001 port 5 (swp5) runs at 200G, expected 400G"
    assert finding.at.device == "backend-spine001"


def test_without_reports_nothing_is_judged() -> None:
    floor = fresh("starter")
    found = verdict(floor, Collected())
    assert (found.findings, found.as_planned, found.not_reported) == ((), 0, len(floor.plan))


def test_servers_alone_report() -> None:
    floor = fresh("lab")
    floor.swap(end(floor.plan, "backend-leaf001 1"), end(floor.plan, "backend-leaf001 2"))
    found = verdict(floor, reported(floor, ("server",)))
    assert kinds(found) == ["swapped"]
    assert found.not_reported == sum(floor.plan.is_switch(floor.plan.device[2 * link]) for link in range(len(floor.plan)))


def test_ports_that_the_plan_shuts_are_not_missed() -> None:
    """A server unassigned: its port is closed by plan and receives nothing."""
    floor = fresh("starter")
    held = end(floor.plan, "dgx-h100-0003 compute2")
    floor.pull(held)
    messages = reported(floor, states=True)
    found = compare(replace(floor.plan, closed={held >> 1}), messages, lambda device: ("", 0), "dc1")
    assert (found.findings, found.not_reported) == ((), 1)
    assert found.notes == ("1 link of servers without a tenant not compared: the plan shuts their ports",)


def test_exchanged_halves_of_a_shared_cage() -> None:
    """The two planes at one cage of a server: the move names the cage, and the places in it."""
    floor = fresh("gb300-twin-plane")
    floor.swap(end(floor.plan, "tray-0001 compute1p1"), end(floor.plan, "tray-0001 compute1p2"))
    finding = only(verdict(floor, reported(floor, ALL)))
    assert finding.kind == "swapped"
    assert {move.at.cage for move in finding.moves} == {"OSFP1P1", "OSFP1P2"}
    assert "to port compute1p1 (OSFP1P1)" in finding.hint


def test_exchanged_optics_of_shared_cages_are_one_finding() -> None:
    floor = fresh("gb300-twin-plane")
    for half in (1, 2):
        floor.swap(end(floor.plan, f"tray-0001 compute1p{half}"), end(floor.plan, f"tray-0001 compute2p{half}"))
    finding = only(verdict(floor, reported(floor, ALL)))
    assert finding.kind == "swapped"
    assert len(finding.links) == 4
    assert finding.message.endswith("with the other 1 link of the same plugs")


def test_cables_on_the_other_plane() -> None:
    """Two ports of a NIC whose cables are swapped, and a cable between two planes: the planes are named."""
    floor = fresh("gb300-twin-plane")
    first, second = (end(floor.plan, f"tray-0001 compute1p{port}") for port in (1, 2))
    floor.swap(first, second)
    finding = only(verdict(floor, reported(floor, ALL)))
    assert finding.kind == "swapped"
    assert "backend-p2-leaf01 1/1 of plane 2 is cabled to plane 1" in finding.message
    assert "backend-p1-leaf01 1/1 of plane 1 is cabled to plane 2" in finding.message
    floor = fresh("gb300-twin-plane")
    floor.swap(first, end(floor.plan, "tray-0002 compute1p1"))
    assert "plane" not in only(verdict(floor, reported(floor, ALL))).message
