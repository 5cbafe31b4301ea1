"""Faults as operators meet them: the switch, the cause, and no second finding for what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from tests.audit.verify.eos_state import text
from tests.audit.verify.test_faults import (
    LEAF1,
    LEAF2,
    LEAF3,
    SPINE1,
    SPINE2,
    State,
    both_down,
    leaf_with_networks,
    plan,
    site,
    sound,
    status,
    table,
    uplink,
)

BORDER = "frontend-leaf001"
Spoil = Callable[[State], None]
Expected = list[tuple[str, str, str]]  # code, device, words


def row(state: State, near: str, far: str, kind: str = "underlay") -> dict[str, Any]:
    """A session of a switch as it reports it."""
    end = next(end for end in site().switches[near].sessions if end.peer_node == far and end.kind == kind)
    found: dict[str, Any] = state[near]["bgp-summary"]["vrfs"][end.vrf or "default"]["peers"][end.peer]
    return found


def far_port(near: str, far: str) -> str:
    return site().switches[near].ports[uplink(near, far).lower()].far_port


def shut_down(state: State) -> None:
    row(state, LEAF1, SPINE1).update(peerState="Idle", peerStateIdleReason="AdminShutdown")
    row(state, SPINE1, LEAF1).update(peerState="Active")


def one_end_known(state: State) -> None:
    row(state, LEAF1, SPINE1).update(peerState="Idle")
    del state[SPINE1]


def wrong_as(state: State) -> None:
    row(state, SPINE1, LEAF2).update(peerState="Idle", peerAsn="65000")
    row(state, LEAF2, SPINE1).update(peerState="Active")


def prefix_limit(state: State) -> None:
    row(state, SPINE1, LEAF2).update(peerState="Idle", peerStateIdleReason="MaxRoutesExceeded")
    row(state, LEAF2, SPINE1).update(peerState="Active")


def not_negotiated(state: State) -> None:
    for spine in (SPINE1, SPINE2):
        for near, far in ((LEAF1, spine), (spine, LEAF1)):
            row(state, near, far, "overlay")["l2VpnEvpn"]["afiSafiState"] = "configured"


def evpn_empty(state: State) -> None:
    for spine in (SPINE1, SPINE2):
        row(state, LEAF1, spine, "overlay")["l2VpnEvpn"].update(nlrisReceived=0, nlrisAccepted=0)
    del state[LEAF1]["routes"], state[LEAF1]["vxlan"]


def flood_lists(state: State, name: str) -> list[list[str]]:
    return [row["remoteVtepAddr"] for row in state[name]["vxlan"]["interfaces"]["Vxlan1"]["vlanToVtepList"].values()]


def nowhere_a_vtep(state: State) -> None:
    leaf = site().switches[leaf_with_networks()]
    assert leaf.view.overlay is not None
    for name, found in state.items():
        for remotes in flood_lists(state, name) if "vxlan" in found and name != leaf.name else ():
            if leaf.view.overlay.vtep in remotes:
                remotes.remove(leaf.view.overlay.vtep)


def strange_vtep(state: State) -> None:
    flood_lists(state, leaf_with_networks())[0].append("192.0.2.77")


def vxlan_row(state: State) -> dict[str, Any]:
    found: dict[str, Any] = state[LEAF1]["vxlan"]["interfaces"]["Vxlan1"]
    return found


def wrong_source(state: State) -> None:
    vxlan_row(state)["srcIpAddr"] = "10.9.9.9"


def wrong_l3_vni(state: State) -> None:
    vnis = vxlan_row(state)["vrfToVniMap"]
    vnis[next(iter(vnis))] = 59999


def down_and_far_end_silent(state: State) -> None:
    status(state, LEAF2, uplink(LEAF2, SPINE1), linkStatus="notconnect")
    del state[SPINE1]


def port_gone(state: State) -> None:
    del state[LEAF2]["interfaces-status"]["interfaceStatuses"][uplink(LEAF2, SPINE1)]


def error_disabled(state: State) -> None:
    status(state, LEAF2, uplink(LEAF2, SPINE1), linkStatus="errdisabled")
    both_down(state, LEAF2, SPINE1)


def slow(state: State) -> None:
    status(state, LEAF1, uplink(LEAF1, SPINE1), bandwidth=100 * 10**9)
    status(state, SPINE1, far_port(LEAF1, SPINE1), bandwidth=100 * 10**9)


def no_fec(state: State) -> None:
    for name, bad in ((LEAF1, uplink(LEAF1, SPINE1)), (SPINE1, far_port(LEAF1, SPINE1))):
        up = {"oper_status": "up", "admin_status": "up"}
        ports = [one.name for one in site().switches[name].ports.values()]
        state[name]["fec"] = {f"PORT_TABLE:{one}": {**up, **({"fec": "none"} if one == bad else {})} for one in ports}


def deaf_port(state: State) -> None:
    rows = state[LEAF1]["lldp"]["lldpNeighbors"]
    state[LEAF1]["lldp"]["lldpNeighbors"] = [one for one in rows if one["port"] != uplink(LEAF1, SPINE1)]


def lldp_off(state: State) -> None:
    for name, found in state.items():
        rows = found["lldp"]["lldpNeighbors"]
        found["lldp"]["lldpNeighbors"] = [one for one in rows if name != LEAF1 and one["neighborDevice"] != LEAF1]


def old_switch(state: State) -> None:
    rows = state[LEAF1]["lldp"]["lldpNeighbors"]
    next(one for one in rows if one["port"] == uplink(LEAF1, SPINE1))["neighborDevice"] = "old-switch"


def uncorrected(state: State) -> None:
    phy = {"fec": {"encoding": "reedSolomon", "uncorrectedCodewords": {"value": 812}}}
    state[LEAF1]["phy"] = {"interfacePhyStatuses": {uplink(LEAF1, SPINE1): {"phyStatuses": [phy]}}}


def counted_twice(state: State) -> None:
    """Two commands have the same counter."""
    port = uplink(LEAF1, SPINE1)
    state[LEAF1]["errors"]["interfaceErrorCounters"][port]["fcsErrors"] = 812
    details = {"totalInErrors": 0, "inputErrorsDetail": {"fcsErrors": 812}}
    entry = {"hardware": "ethernet", "lineProtocolStatus": "up", "interfaceStatus": "connected", "interfaceCounters": details}
    state[LEAF1]["interfaces"] = {"interfaces": {port: entry}}


def storms(state: State) -> None:
    ports = [one.name for one in site().switches[LEAF1].ports.values()]
    state[LEAF1]["watchdog"] = {"interfaces": {port: {"txQueues": {"3": {"stuckCount": 5}}} for port in ports}}


def other_queue(state: State) -> None:
    queues = state[LEAF1]["queue-drops"]["egressQueueCounters"]["interfaces"][uplink(LEAF1, SPINE1)]["ucastQueues"]
    queues["trafficClasses"]["TC0"]["dropPrecedences"]["DP0"]["droppedPackets"] = 20114


def bfd_at_both_ends(state: State) -> None:
    for near, far in ((LEAF1, SPINE1), (SPINE1, LEAF1)):
        end = next(end for end in site().switches[near].sessions if end.peer_node == far and end.interface)
        stats = {"peerStats": {"": {"status": "down", "l3intf": ""}}}
        state[near]["bfd"] = {"vrfs": {"default": {"ipv4Neighbors": {end.peer: stats}, "ipv6Neighbors": {}}}}


def vias(state: State) -> list[dict[str, str]]:
    """Next hops of LEAF1 towards the loopback of LEAF2."""
    found: list[dict[str, str]] = table(state, LEAF1)[site().switches[LEAF2].originates[0]]["vias"]
    return found


def one_wrong_hop(state: State) -> None:
    vias(state)[0].update(nexthopAddr="192.0.2.1", interface="Management1")


def all_wrong_hops(state: State) -> None:
    for via in vias(state):
        via.update(nexthopAddr="192.0.2.1", interface="Management1")


def one_hop_more(state: State) -> None:
    vias(state).append({"nexthopAddr": "192.0.2.1", "interface": "Management1"})


def no_default(state: State) -> None:
    for found in state[BORDER]["routes"]["vrfs"].values():
        found["routes"].pop("0.0.0.0/0", None)


def outside_down(state: State) -> None:
    end = next(end for end in site().switches[BORDER].sessions if end.kind == "outside")
    state[BORDER]["bgp-summary"]["vrfs"][end.vrf]["peers"][end.peer]["peerState"] = "Active"


def spine_off(state: State) -> None:
    del state[SPINE2]
    for name, found in state.items():
        for end in site().switches[name].sessions:
            if end.peer_node == SPINE2:
                found["bgp-summary"]["vrfs"][end.vrf or "default"]["peers"][end.peer]["peerState"] = "Active"


def no_neighbors(state: State) -> None:
    peers = state[LEAF1]["bgp-summary"]["vrfs"]["default"]["peers"]
    for end in site().switches[LEAF1].sessions:
        if end.peer_node == SPINE1 and end.kind == "underlay":
            del peers[end.peer]
            other = site().other(end)
            assert other is not None
            state[SPINE1]["bgp-summary"]["vrfs"]["default"]["peers"][other.peer]["peerState"] = "Active"


def stuck_lane(state: State) -> None:
    parameters = state[LEAF1]["optics"]["interfaces"][uplink(LEAF1, SPINE1)]["parameters"]
    parameters["rxPower"]["channels"]["2"] = float("-inf")


CASES: Mapping[str, tuple[Spoil, Expected]] = {
    "shut at one end": (shut_down, [("FAB358", LEAF1, "is shut")]),
    "only one end known": (one_end_known, [("FAB358", LEAF1, "is not established: idle")]),
    "wrong AS at the far end": (wrong_as, [("FAB359", SPINE1, "expected 4200000002, got 65000")]),
    "prefix limit": (prefix_limit, [("FAB358", SPINE1, "more prefixes than the limit")]),
    "EVPN not negotiated": (not_negotiated, [("FAB360", LEAF1, "2 EVPN sessions")]),
    "EVPN without routes": (evpn_empty, [("FAB366", LEAF1, "expected routes of other leaves, got 0")]),
    "neighbors not configured": (no_neighbors, [("FAB358", LEAF1, "4 sessions, with backend-spine001")]),
    "VTEP known nowhere": (nowhere_a_vtep, [("FAB369", BORDER, "no tunnel at every other leaf")]),
    "VTEP of no plan": (strange_vtep, [("FAB369", BORDER, "not planned: 192.0.2.77")]),
    "tunnel source": (wrong_source, [("FAB369", LEAF1, "expected 10.2.0.1, got 10.9.9.9")]),
    "VNI of a tenant": (wrong_l3_vni, [("FAB367", LEAF1, "unplanned: 59999")]),
    "port down, far end silent": (down_and_far_end_silent, [("FAB352", LEAF2, "got down (notconnect)")]),
    "port gone": (port_gone, [("FAB352", LEAF2, "got no such port")]),
    "port error-disabled": (error_disabled, [("FAB352", LEAF2, "got shut (errdisabled)")]),
    "speed of a link": (slow, [("FAB354", LEAF1, "expected 800G, got 100G")]),
    "FEC of a link": (no_fec, [("FAB356", LEAF1, "expected RS, got none")]),
    "no neighbor on a port": (deaf_port, [("FAB357", LEAF1, "which reports no neighbor")]),
    "LLDP off": (lldp_off, [("FAB357", LEAF1, "no LLDP neighbor on any of 8 ports")]),
    "another switch": (old_switch, [("FAB357", LEAF1, "which reports old-switch port Ethernet1/1")]),
    "uncorrected": (uncorrected, [("FAB373", LEAF1, "812 codewords")]),
    "a counter in two outputs": (counted_twice, [("FAB373", LEAF1, "1 port: Ethernet25/1: 812 frames")]),
    "storms": (storms, [("FAB372", LEAF1, "24 ports: ")]),
    "drops in another queue": (other_queue, [("FAB375", LEAF1, "queue 0: 20,114 packets dropped")]),
    "BFD at both ends": (bfd_at_both_ends, [("FAB362", LEAF1, "BFD: expected up, got down")]),
    "no light": (stuck_lane, [("FAB377", LEAF1, "of lane 2: expected at least -13.3 dBm, got -40.0 dBm")]),
    "one wrong next hop": (one_wrong_hop, [("FAB365", LEAF1, "got 7, Management1 (192.0.2.1) instead; not over")]),
    "all next hops wrong": (all_wrong_hops, [("FAB364", LEAF1, "got 0, Management1 (192.0.2.1) instead")]),
    "one next hop more": (one_hop_more, [("FAB365", LEAF1, "also over Management1 (192.0.2.1)")]),
    "no default route": (no_default, [("FAB364", BORDER, "0.0.0.0/0 from wan is not in the table of red, blue")]),
    "router outside": (outside_down, [("FAB358", BORDER, "session with wan")]),
    "spine off": (spine_off, [("FAB351", SPINE2, "no session of its neighbors with it is established")]),
}  # fmt: skip


def verified(state: State, folder: Path, files: Mapping[str, str] | None = None) -> Any:
    """The state of a folder, with some files of other text."""
    for name, found in state.items():
        (folder / name).mkdir(parents=True)
        for part, value in found.items():
            (folder / name / f"{part}.json").write_text(text(value), encoding="utf-8")
    for path, content in (files or {}).items():
        (folder / path).write_text(content, encoding="utf-8")
    return pipeline.verify_state(plan(), folder)


@pytest.mark.parametrize("name", CASES)
def test_one_cause_is_one_finding(name: str, tmp_path: Path) -> None:
    spoil, expected = CASES[name]
    state = sound()
    spoil(state)
    findings = verified(state, tmp_path).findings
    assert [(one.id, one.device) for one in findings] == [(code, device) for code, device, _ in expected], [
        *map(str, findings)
    ]
    assert all(words in one.message for one, (_, _, words) in zip(findings, expected, strict=True)), [*map(str, findings)]


def test_a_switch_without_files_is_listed(tmp_path: Path) -> None:
    state = sound()
    del state[LEAF3]
    result = verified(state, tmp_path)
    assert (result.findings, result.silent) == ((), (LEAF3,))


@pytest.mark.parametrize(
    ("content", "reason"), [("", "empty"), ('{"vrfs": {"default": {"peers": {"10.0', "not JSON"), ("{}", "no known output")]
)
def test_a_damaged_file_is_listed_with_what_it_lacks(content: str, reason: str, tmp_path: Path) -> None:
    result = verified(sound(), tmp_path, {f"{LEAF3}/bgp-summary.json": content})
    assert result.findings == ()
    assert [(Path(file).name, why.startswith(reason)) for file, why in result.collected.unread.items()] == [
        ("bgp-summary.json", True)
    ]
    assert [one.words for one in result.missing] == [f"BGP sessions: none of 1 switch: {LEAF3}"]


def test_a_file_that_names_another_switch(tmp_path: Path) -> None:
    session = f"{LEAF2}#show bgp summary vrf all | json\n{text(sound()[LEAF2]['bgp-summary'])}"
    result = verified(sound(), tmp_path, {f"{LEAF1}/bgp-summary.json": session})
    assert [(one.id, one.device, one.message) for one in result.findings] == [
        ("FAB380", LEAF1, f"bgp-summary.json is of {LEAF2}, as its content says: expected the state of {LEAF1}")
    ]


def test_two_switches_with_exchanged_folders(tmp_path: Path) -> None:
    state = sound()
    state[LEAF1], state[LEAF2] = deepcopy(state[LEAF2]), deepcopy(state[LEAF1])
    findings = verified(state, tmp_path).findings
    assert [(one.id, one.device) for one in findings] == [("FAB380", LEAF1), ("FAB380", LEAF2)]
