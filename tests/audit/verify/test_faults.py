"""State of a site on EOS, sound and with one fault: the findings, each cause once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.audit.checks.base import of_subject
from fabric.audit.verify.site import Site
from fabric.audit.verify.verify import SiteState
from fabric.model.plan import Plan
from tests import ROOT
from tests.audit.verify.eos_state import Outputs, outputs, site_of, text

LEAF1, LEAF2, LEAF3, LEAF4 = (f"backend-leaf00{number}" for number in (1, 2, 3, 4))
SPINE1, SPINE2 = "backend-spine001", "backend-spine002"

State = dict[str, Outputs]  # switch → its outputs
Spoil = Callable[[State], None]


@cache
def plan() -> Plan:
    return pipeline.plan(pipeline.load(ROOT / "intent" / "ai-eos.yaml"))


@cache
def site() -> Site:
    return site_of(plan())


def sound() -> State:
    return {name: outputs(site(), switch, routes=True) for name, switch in site().switches.items()}


def judged(state: State, folder: Path) -> SiteState:
    for name, found in state.items():
        (folder / name).mkdir(parents=True)
        for part, value in found.items():
            (folder / name / f"{part}.json").write_text(text(value), encoding="utf-8")
    return pipeline.verify_state(plan(), folder)


def uplink(leaf: str, spine: str) -> str:
    """The interface of a leaf towards a spine."""
    return next(end.interface for end in site().switches[leaf].sessions if end.peer_node == spine and end.interface)


def peer(state: State, name: str, other: str, **changes: Any) -> None:
    """Changes the underlay session of a switch with another one."""
    end = next(end for end in site().switches[name].sessions if end.peer_node == other and end.interface)
    state[name]["bgp-summary"]["vrfs"]["default"]["peers"][end.peer] |= changes


def both_down(state: State, name: str, other: str) -> None:
    peer(state, name, other, peerState="Active")
    peer(state, other, name, peerState="Idle")


def evpn_off(state: State) -> None:
    table = state[LEAF1]["bgp-summary"]["vrfs"]["default"]["peers"]
    for row in table.values():
        if "l2VpnEvpn" in row:
            row["ipv4Unicast"] = row.pop("l2VpnEvpn")


def status(state: State, name: str, port: str, **changes: Any) -> None:
    state[name]["interfaces-status"]["interfaceStatuses"][port] |= changes


def down(state: State) -> None:
    port = uplink(LEAF2, SPINE1)
    status(state, LEAF2, port, linkStatus="disabled")
    far = site().switches[LEAF2].ports[port.lower()]
    status(state, SPINE1, far.far_port, linkStatus="notconnect")
    both_down(state, LEAF2, SPINE1)


def server_down(state: State) -> None:
    port = next(one.name for one in site().switches[LEAF1].ports.values() if one.port.kind == "server")
    status(state, LEAF1, port, linkStatus="notconnect")


def gone(state: State) -> None:
    del state[LEAF4]
    for spine in (SPINE1, SPINE2):
        for end in site().switches[spine].sessions:
            if end.peer_node == LEAF4:
                state[spine]["bgp-summary"]["vrfs"]["default"]["peers"][end.peer] |= {"peerState": "Active"}


def stopped(state: State) -> None:
    state[LEAF3]["bgp-summary"] = {"errors": ["BGP inactive"]}
    for spine in (SPINE1, SPINE2):
        for end in site().switches[spine].sessions:
            if end.peer_node == LEAF3:
                state[spine]["bgp-summary"]["vrfs"]["default"]["peers"][end.peer] |= {"peerState": "Active"}


def extra(state: State) -> None:
    state[SPINE1]["bgp-summary"]["vrfs"]["default"]["peers"]["192.0.2.9"] = {"peerState": "Active", "peerAsn": "65000"}


def mtu(state: State) -> None:
    port = uplink(LEAF1, SPINE1)
    row = {"name": port, "hardware": "ethernet", "forwardingModel": "routed", "lineProtocolStatus": "up", "mtu": 1500}
    state[LEAF1]["interfaces"] = {"interfaces": {port: row | {"interfaceStatus": "connected"}}}


def address(state: State) -> None:
    port = uplink(LEAF1, SPINE1)
    row = {"name": port, "hardware": "ethernet", "forwardingModel": "routed", "lineProtocolStatus": "up"}
    row |= {"interfaceStatus": "connected", "interfaceAddress": [{"primaryIp": {"address": "10.64.0.18", "maskLen": 31}}]}
    state[LEAF1]["interfaces"] = {"interfaces": {port: row}}
    both_down(state, LEAF1, SPINE1)


def fec(state: State) -> None:
    port = uplink(LEAF1, SPINE1)
    state[LEAF1]["fec"] = {f"PORT_TABLE:{port}": {"oper_status": "up", "fec": "none", "admin_status": "up"}}
    state[LEAF1]["fec"] |= {
        f"PORT_TABLE:{one.name}": {"oper_status": "up", "admin_status": "up"}
        for one in site().switches[LEAF1].ports.values()
        if one.name != port
    }


def swapped(state: State) -> None:
    rows = {row["port"]: row for row in state[LEAF1]["lldp"]["lldpNeighbors"]}
    one, two = rows[uplink(LEAF1, SPINE1)], rows[uplink(LEAF1, SPINE2)]
    for key in ("neighborDevice", "neighborPort"):
        one[key], two[key] = two[key], one[key]
    for spine, row in ((SPINE1, two), (SPINE2, one)):
        port = next(key for key in state[spine]["lldp"]["lldpNeighbors"] if key["neighborDevice"] == LEAF1)
        port["neighborPort"] = row["port"]


def bfd(state: State) -> None:
    end = next(end for end in site().switches[LEAF1].sessions if end.interface)
    stats = {"peerStats": {"": {"status": "down", "l3intf": ""}}}
    state[LEAF1]["bfd"] = {"vrfs": {"default": {"ipv4Neighbors": {end.peer: stats}, "ipv6Neighbors": {}}}}


def table(state: State, name: str, vrf: str = "default") -> dict[str, Any]:
    found: dict[str, Any] = state[name]["routes"]["vrfs"][vrf]["routes"]
    return found


def own(state: State) -> None:
    del table(state, LEAF2)[site().switches[LEAF2].originates[0]]


def no_route(state: State) -> None:
    del table(state, LEAF1)[site().switches[LEAF2].originates[0]]


def one_path(state: State) -> None:
    for row in table(state, LEAF1).values():
        del row["vias"][1:]


def accepted(state: State) -> None:
    del state[LEAF1]["routes"]
    peer(state, LEAF1, SPINE1, ipv4Unicast={"afiSafiState": "negotiated", "nlrisReceived": 0, "nlrisAccepted": 0})


def vxlan(state: State, name: str) -> dict[str, Any]:
    found: dict[str, Any] = state[name]["vxlan"]["interfaces"]["Vxlan1"]
    return found


def leaf_with_networks() -> str:
    return next(name for name, switch in site().switches.items() if switch.view.networks and switch.leaf)


def wrong_vni(state: State) -> None:
    next(iter(vxlan(state, leaf_with_networks())["vlanToVniMap"].values()))["vni"] = 19_999


def no_tunnel(state: State) -> None:
    next(iter(vxlan(state, leaf_with_networks())["vlanToVtepList"].values()))["remoteVtepAddr"].pop()


def targets(state: State) -> None:
    leaf = site().switches[leaf_with_networks()]
    network = leaf.view.networks[0]
    row = {"vni": network.vni, "type": "L2", "importRTs": ["65000:1"], "exportRTs": [network.route_target]}
    state[leaf.name]["targets"] = {"advertiseAllVnis": "Enabled", str(network.vni): row}


def type_5(state: State) -> None:
    for name, switch in site().switches.items():
        for vrf in switch.view.vrfs if switch.view.overlay and switch.view.overlay.vtep else ():
            rows = table(state, name, switch.vrf(vrf.name))
            lost = next((prefix for prefix, row in rows.items() if row["routeType"] == "eBGP"), "")
            if lost:
                del rows[lost]
                return


def counter(part: str, *path: str) -> Spoil:
    def spoil(state: State) -> None:
        row: Any = state[LEAF1][part]
        names = [uplink(LEAF1, SPINE1) if key == "PORT" else key for key in path]
        for key in names[:-1]:
            row = row[key]
        row[names[-1]] = 812

    return spoil


def storm(state: State) -> None:
    state[LEAF1]["dump"] = {
        "COUNTERS_QUEUE_NAME_MAP": {f"{uplink(LEAF1, SPINE1)}:3": "oid:0x1"},
        "COUNTERS:oid:0x1": {"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "3"},
    }


def pause(state: State) -> None:
    state[LEAF1]["pfc"]["interfaceCounters"][uplink(LEAF1, SPINE1)] = {"priorities": {"4": {"rxFrames": 9, "txFrames": 0}}}


def light(state: State) -> None:
    state[LEAF1]["optics"]["interfaces"][uplink(LEAF1, SPINE1)]["parameters"]["rxPower"]["channels"]["3"] = -30.1


def heat(state: State) -> None:
    state[LEAF1]["optics"]["interfaces"][uplink(LEAF1, SPINE1)]["parameters"]["temperature"]["channels"]["-"] = 78.1


def two_versions(state: State) -> None:
    state[LEAF1]["bgp-summary-old"] = deepcopy(state[LEAF1]["bgp-summary"])
    peer(state, LEAF1, SPINE1, peerState="Active")
    state[LEAF1]["bgp-new"], state[LEAF1]["bgp-old"] = state[LEAF1].pop("bgp-summary"), state[LEAF1].pop("bgp-summary-old")
    state[LEAF1]["a"] = state[LEAF1].pop("bgp-old")


def copied(state: State) -> None:
    state[LEAF1] = deepcopy(state[LEAF2])


def router_id(state: State) -> None:
    state[LEAF2]["bgp-summary"]["vrfs"]["default"]["routerId"] = site().switches[LEAF1].view.router_id


MULTIHOMED = {"FAB383", "FAB384", "FAB385", "FAB386", "FAB387"}  # cases of each network OS in test_multihoming.py
QUEUE = ("egressQueueCounters", "interfaces", "PORT", "ucastQueues", "trafficClasses")
CASES: Mapping[str, tuple[Spoil, list[tuple[str, str, str]]]] = {
    "BGP stopped": (stopped, [("FAB350", LEAF3, "BGP inactive")]),
    "gone": (gone, [("FAB351", LEAF4, "no session of its neighbors with it is established")]),
    "port shut": (down, [("FAB352", LEAF2, "expected up, got shut (disabled); backend-spine001")]),
    "server": (server_down, [("FAB353", LEAF1, "expected up, got down (notconnect)")]),
    "speed": (
        lambda state: status(state, LEAF1, uplink(LEAF1, SPINE1), bandwidth=100 * 10**9),
        [("FAB354", LEAF1, "G, got 100G")],
    ),
    "MTU": (mtu, [("FAB355", LEAF1, "MTU: expected 9214, got 1500")]),
    "FEC": (fec, [("FAB356", LEAF1, "FEC: expected RS, got none")]),
    "swapped": (swapped, [("FAB357", "", "swapped: the cables")]),
    "session": (lambda state: both_down(state, LEAF1, SPINE2), [("FAB358", LEAF1, "is not established: ")]),
    "AS number": (
        lambda state: peer(state, LEAF1, SPINE1, peerState="Idle", peerAsn="65009"),
        [("FAB359", LEAF1, "remote AS: expected 4200000000, got 65009")],
    ),
    "family": (evpn_off, [("FAB360", LEAF1, "2 EVPN sessions, with backend-spine001 (10.0.0.1), backend-spine002")]),
    "extra": (extra, [("FAB361", SPINE1, "1 session not planned: 192.0.2.9")]),
    "BFD": (bfd, [("FAB362", LEAF1, "BFD: expected up, got down")]),
    "own loopback": (own, [("FAB363", LEAF2, "its own, is not in its table")]),
    "route": (no_route, [("FAB364", LEAF1, "got 0; not over")]),
    "one path": (one_path, [("FAB365", LEAF1, "each over other interfaces")]),
    "accepted": (accepted, [("FAB366", LEAF1, "accepted prefixes: expected at least")]),
    "VNI": (wrong_vni, [("FAB367", "", "unplanned: 19999")]),
    "route target": (targets, [("FAB368", "", "imported route targets: expected")]),
    "tunnel": (no_tunnel, [("FAB369", "", "no tunnel here")]),
    "type 5": (type_5, [("FAB370", "", "no route over its VTEP here")]),
    "lossless drops": (
        counter("queue-drops", *QUEUE, "TC3", "dropPrecedences", "DP0", "droppedPackets"),
        [("FAB371", LEAF1, "queue 3: 812 packets dropped")],
    ),
    "storm": (storm, [("FAB372", LEAF1, "priority 3: 3 PFC storms")]),
    "FCS": (
        counter("errors", "interfaceErrorCounters", "PORT", "fcsErrors"),
        [("FAB373", LEAF1, "812 frames with a wrong checksum")],
    ),
    "errors": (
        counter("errors", "interfaceErrorCounters", "PORT", "inErrors"),
        [("FAB374", LEAF1, "812 received errors")],
    ),
    "discards": (
        counter("discards", "interfaces", "PORT", "outDiscards"),
        [("FAB375", LEAF1, "812 packets dropped at the egress")],
    ),
    "PFC priority": (pause, [("FAB376", LEAF1, "priority 4: 9 PFC frames received")]),
    "light": (light, [("FAB377", LEAF1, "receive power of lane 3: expected at least -13.3 dBm, got -30.1 dBm")]),
    "two versions": (
        two_versions,
        [("FAB379", LEAF1, "a.json and bgp-new.json contradict each other: session 10.64")],
    ),
    "copied": (copied, [("FAB380", LEAF1, "its state is that of backend-leaf002")]),
    "router ID": (router_id, [("FAB381", LEAF2, "router ID: expected 10.0.0.4, got 10.0.0.3, that of backend-leaf001")]),
    "address": (address, [("FAB382", LEAF1, "address: expected 10.64.0.0/31, got 10.64.0.18/31")]),
    "heat": (heat, [("FAB378", LEAF1, "temperature: expected at most 75 °C, got 78.1 °C")]),
}


def test_a_sound_site_has_no_finding(tmp_path: Path) -> None:
    state = judged(sound(), tmp_path)
    assert [str(finding) for finding in state.findings] == []
    assert (state.missing, state.silent, state.collected.unread, state.collected.unplanned) == ((), (), {}, {})


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_found_once_and_at_its_switch(name: str, tmp_path: Path) -> None:
    spoil, expected = CASES[name]
    state = sound()
    spoil(state)
    findings = judged(state, tmp_path).findings
    assert [(one.id, one.device if device else "") for one, (_, device, _) in zip(findings, expected, strict=False)] == [
        (code, device) for code, device, _ in expected
    ], [str(finding) for finding in findings]
    assert len(findings) == len(expected), [str(finding) for finding in findings]
    assert all(words in one.message for one, (_, _, words) in zip(findings, expected, strict=True)), findings


def test_every_check_has_a_case() -> None:
    assert [check.id for check in of_subject("state")] == sorted(
        {code for _, found in CASES.values() for code, _, _ in found} | MULTIHOMED
    )
