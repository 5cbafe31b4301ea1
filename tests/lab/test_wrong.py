"""One deliberate error after another in the generated files and cables of labs: who finds it, whom it blames, what it says.

Errors that do not disturb each other share a lab, each at a device of its own. Labs come up one by one, and are proved at
the same time: a proof that finds an error waits for most of its time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock

import pytest

from fabric import pipeline
from fabric.audit.checks import Finding
from fabric.lab import run_tests, up_down
from fabric.lab.blueprint import PORT, Blueprint, End, Wire
from fabric.lab.machine.host import require
from fabric.lab.outcome import FAIL, Result
from fabric.lab.proofs import attributes, forwarding, lldp, overlay, sessions
from fabric.lab.up_down import bring_up
from tests.lab.sites import THREE_TENANTS, edit, generated

pytestmark = pytest.mark.usefixtures("machine")

LEAF1, LEAF2, LEAF3, LEAF4 = (f"backend-leaf00{number}" for number in (1, 2, 3, 4))
SPINE1, SPINE2 = "backend-spine001", "backend-spine002"
PATIENCE_S = 16.0  # of proofs that wait in vain; sessions that can come up do so within seven seconds of an idle machine


def patience_s() -> float:
    """As much longer as this machine has more to do than cores."""
    return PATIENCE_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


Results = Mapping[str, Result]
Changes = Mapping[str, Mapping[str, str]]  # file → text → what it becomes


def without(*lines: str) -> Mapping[str, str]:
    return {f"{line}\n": "" for line in lines}


@dataclass(frozen=True)
class Broken:
    """A lab with errors."""

    proofs: tuple[str, ...]
    files: Changes = field(default_factory=dict)
    cables: Callable[[Blueprint], Blueprint] = lambda lab: lab
    blamed: Mapping[str, frozenset[str]] = field(default_factory=dict)  # proof → the only devices that it may blame


def crossed(lab: Blueprint) -> Blueprint:
    """Two cables of a leaf exchanged, and one cable in a port of its spine that ought to be empty."""
    spare = replace(lab.nodes[SPINE2].interfaces[-1], name="swp9", addresses=())
    assert spare.kind == PORT
    wrong = {
        Wire(End(LEAF1, "swp31"), End(SPINE1, "swp1")): Wire(End(LEAF1, "swp31"), End(SPINE2, "swp1")),
        Wire(End(LEAF1, "swp32"), End(SPINE2, "swp1")): Wire(End(LEAF1, "swp32"), End(SPINE1, "swp1")),
        Wire(End(LEAF2, "swp32"), End(SPINE2, "swp2")): Wire(End(LEAF2, "swp32"), End(SPINE2, "swp9")),
    }
    assert wrong.keys() <= set(lab.wires)
    spine = lab.nodes[SPINE2]
    ports = (*(own for own in spine.interfaces if own.name != "swp2"), spare)
    return replace(
        lab,
        wires=tuple(wrong.get(wire, wire) for wire in lab.wires),
        nodes={**lab.nodes, SPINE2: replace(spine, interfaces=ports)},
    )


LABS: Mapping[str, Broken] = {
    "speakers": Broken(
        ("sessions",),
        {
            f"{LEAF1}/frr.conf": {"10.64.0.1 remote-as 4200000000": "10.64.0.1 remote-as 4200000009"},
            f"{LEAF2}/frr.conf": {"router bgp 4200000002": "router bgp 4200000077"},
            f"{LEAF3}/interfaces": {"address 10.64.0.8/31": "address 10.64.0.18/31"},
            f"{LEAF4}/frr.conf": {"neighbor 10.64.0.13 ": "neighbor 10.64.0.113 "},
            f"{SPINE2}/frr.conf": without(
                " neighbor 10.64.0.10 remote-as 4200000003",
                " neighbor 10.64.0.10 peer-group FABRIC",
                f" neighbor 10.64.0.10 description {LEAF3} swp32",
            ),
        },
        blamed={"sessions": frozenset({LEAF1, LEAF2, LEAF3, LEAF4, SPINE2})},
    ),
    "cables": Broken(
        ("sessions", "lldp", "reach"),
        # A server that has no return path: what comes to it from another tenant is never answered.
        {f"{LEAF4}/interfaces": {"address 10.128.0.196/31\n    vrf vrf-green": "address 10.128.0.196/31\n    vrf vrf-red"}},
        crossed,
    ),
    "origins": Broken(
        ("sessions", "forwarding", "gateways", "reach"),
        {
            f"{LEAF1}/frr.conf": without("ip prefix-list PL-CONNECTED seq 10 permit 10.0.0.3/32"),
            f"{LEAF2}/frr.conf": {"redistribute connected route-map RM-CONNECTED": "redistribute connected route-map RM-LO"},
            f"{LEAF3}/interfaces": {"address 10.20.0.1/24": "address 10.20.0.254/24"},
            f"{LEAF4}/interfaces": {
                "hwaddress 00:00:5e:00:01:01": "hwaddress 00:00:5e:00:01:99",
                "address 10.128.0.196/31\n    vrf vrf-green": "address 10.128.0.196/31\n    vrf vrf-blue",
            },
        },
        blamed={"sessions": frozenset({LEAF1, LEAF2}), "forwarding": frozenset({LEAF1, LEAF2})},
    ),
    "settings": Broken(
        ("sessions", "attributes", "forwarding", "overlay", "suppression", "spreading", "mtu"),
        {
            f"{LEAF2}/sysctl.conf": {"net.ipv4.fib_multipath_hash_policy = 1": "net.ipv4.fib_multipath_hash_policy = 0"},
            f"{LEAF3}/frr.conf": without("  neighbor FABRIC prefix-list PL-OWN out"),
            f"{LEAF3}/interfaces": without("    bridge-arp-nd-suppress on"),
            f"{LEAF4}/frr.conf": {
                "PL-OWN out\n  maximum-paths 64": "PL-OWN out\n  maximum-paths 1",
                " neighbor FABRIC bfd\n neighbor FABRIC bfd profile FABRIC\n": "",
            },
            f"{SPINE1}/frr.conf": without("  neighbor FABRIC prefix-list PL-FABRIC in"),
            f"{SPINE1}/interfaces": {f"alias {LEAF1} swp31\n    mtu 9216": f"alias {LEAF1} swp31\n    mtu 9000"},
            f"{SPINE2}/frr.conf": {"neighbor FABRIC timers 3 9": "neighbor FABRIC timers 10 30"},
        },
        blamed={"forwarding": frozenset({LEAF4}), "suppression": frozenset({LEAF3}), "spreading": frozenset({LEAF2, LEAF4})},
    ),
    "tunnels": Broken(
        ("sessions", "overlay"),
        {
            f"{LEAF1}/interfaces": {"vni10001": "vni10009", "vxlan-id 10001": "vxlan-id 10009"},
            f"{LEAF2}/frr.conf": {" vni 50002\n": " vni 50009\n"},
            f"{LEAF3}/frr.conf": {
                "route-target import 65000:10001": "route-target import 65000:10099",
                "route-target export 65000:50002": "route-target export 65000:50099",
            },
            f"{LEAF4}/interfaces": {"vxlan-local-tunnelip 10.2.0.4": "vxlan-local-tunnelip 10.2.0.44"},
        },
        blamed={"overlay": frozenset({LEAF1, LEAF2, LEAF3, LEAF4})},
    ),
}

# What was done → lab, proof, device, words of one of its faults.
CASES: Mapping[str, tuple[str, str, str, tuple[str, ...]]] = {
    "remote-as": ("speakers", "sessions", LEAF1, ("10.64.0.1", "remote AS: expected 4200000000, got 4200000009")),
    "local AS": ("speakers", "sessions", LEAF2, ("local AS: expected 4200000002, got 4200000077",)),
    "interface address": ("speakers", "sessions", LEAF3, ("swp31", "address: expected 10.64.0.8/31, got 10.64.0.18/31")),
    "neighbor address": ("speakers", "sessions", LEAF4, ("10.64.0.13", "no such neighbor; not planned: 10.64.0.113")),
    "neighbor line gone": ("speakers", "sessions", SPINE2, ("10.64.0.10", "no such neighbor")),
    "cables swapped, LLDP": ("cables", "lldp", LEAF1, ("swapped", "31", "32", SPINE2)),
    "cables swapped, leaf": ("cables", "sessions", LEAF1, (f"session with {SPINE1}", "is not established")),
    "wrong spine port, LLDP": ("cables", "lldp", SPINE2, (f"{LEAF2} port 32", "swp9")),
    "wrong spine port": ("cables", "sessions", SPINE2, (f"swp2 to {LEAF2} swp32: expected up",)),
    "loopback not let through": ("origins", "forwarding", LEAF1, ("10.0.0.3/32", "its own", "no neighbor has it")),
    "route map missing": ("origins", "forwarding", LEAF2, ("10.2.0.2/32", "its own", "no neighbor has it")),
    "no loopback, no EVPN": ("origins", "sessions", LEAF1, ("10.0.0.3/32", "its own", "no neighbor has it")),
    "gateway address": ("origins", "gateways", LEAF3, ("gateway 10.20.0.1", "by ARP", "expected 00:00:5e:00:01:01 once")),
    "anycast MAC": ("origins", "gateways", LEAF4, ("00:00:5e:00:01:99 answers, expected 00:00:5e:00:01:01",)),
    "wrong tenant leaks": ("origins", "reach", LEAF4, ("gpu-0012", "of tenant green reaches gpu-0011", "of tenant blue")),
    "wrong tenant leaks in": ("cables", "reach", LEAF4, ("gpu-0010", "of tenant red reaches gpu-0012", "of tenant green")),
    "export filter gone": ("settings", "attributes", LEAF3, ("10.64.0.9", "filter out none, planned PL-OWN")),
    "import filter gone": ("settings", "attributes", SPINE1, ("10.64.0.0", "filter in none, planned PL-FABRIC")),
    "hold time": ("settings", "attributes", SPINE2, ("10.64.0.2", "hold time 30, planned 9")),
    "BFD at one end": ("settings", "attributes", LEAF4, ("10.64.0.13", "BFD off, planned Up")),
    "one path of two": ("settings", "forwarding", LEAF4, (f"of {LEAF1}", "expected 2 paths, got 1")),
    "no ARP suppression": ("settings", "suppression", LEAF3, ("ARP suppression of VNI 10001", "is not in its config")),
    "hashing by addresses": ("settings", "spreading", LEAF2, ("flows do not spread over 2 links",)),
    "MTU of a fabric port": ("settings", "mtu", SPINE1, ("swp1", "9216")),
    "VNI of a network": (
        "tunnels",
        "overlay",
        LEAF1,
        ("VNI 10001 of network red-data: expected, got none", "unplanned: 10009"),
    ),
    "VNI of a tenant": ("tunnels", "overlay", LEAF2, ("VNI 50002 of tenant blue: expected an L3 VNI, got L2", "50009")),
    "route target in": (
        "tunnels",
        "overlay",
        LEAF3,
        ("VNI 10001: imported route targets: expected 65000:10001", "65000:10099"),
    ),
    "route target out": (
        "tunnels",
        "overlay",
        LEAF3,
        ("VNI 50002: exported route targets: expected 65000:50002", "65000:50099"),
    ),
    "tunnel address": ("tunnels", "overlay", LEAF4, ("tunnel source: expected 10.2.0.4, got 10.2.0.44",)),
}


class Labs:
    """Every lab that the chosen tests need, at work in the background."""

    def __init__(self, folder: Path, names: set[str]) -> None:
        self.folder = folder
        self.pool = ThreadPoolExecutor(len(LABS))
        self.changing = Lock()  # what all labs of a machine share changes when one comes and goes
        self.runs: dict[str, Future[Results]] = {name: self.pool.submit(self._run, name) for name in sorted(names)}

    def _run(self, name: str) -> Results:
        broken = LABS[name]
        intent = generated(THREE_TENANTS, f"lab-wrong-{name}", self.folder)
        for file, changes in broken.files.items():
            edit(intent, file, changes)
        lab = pipeline.lab(intent)
        built, kernel = broken.cables(lab.blueprint), require(overlay=True)
        try:
            with self.changing:
                bring_up(built, kernel, up_down.State(str(intent.path), up_down.Choices(), ""), lambda text: None)
            # What LLDP receives is compared with the drawing of the plan, not with how the cables were laid.
            asked = [(built, {*broken.proofs} - {"lldp"}), (lab.blueprint, {*broken.proofs} & {"lldp"})]
            found = [run_tests.run(drawn, kernel, wanted, "", lambda text: None) for drawn, wanted in asked if wanted]
        finally:
            with self.changing:
                lab.down()
        return {result.id: result for outcome in found for result in outcome.results}

    def close(self) -> None:
        self.pool.shutdown()


@pytest.fixture(scope="module")
def labs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labs]:
    items = (item for item in request.session.items if getattr(item, "module", None) is request.module)
    names = {item.callspec.params["lab"] for item in items if hasattr(item, "callspec")}
    with pytest.MonkeyPatch.context() as patch:
        patience = patience_s()
        patch.setattr(sessions, "STILL_S", patience)
        patch.setattr(attributes, "BFD_S", patience / 2)
        patch.setattr(lldp, "PATIENCE_S", patience)
        for proof in (forwarding, overlay):
            patch.setattr(proof, "wait", partial(proof.wait, patience_s=patience))
        labs = Labs(tmp_path_factory.mktemp("wrong"), names)
        yield labs
        labs.close()


def faults(labs: Labs, lab: str, proof: str) -> tuple[Finding, ...]:
    result = labs.runs[lab].result()[proof]
    assert result.status == FAIL, result
    return result.faults


@pytest.mark.parametrize(("lab", "proof", "device", "words"), CASES.values(), ids=CASES)
def test_an_error_is_found_where_it_is(labs: Labs, lab: str, proof: str, device: str, words: tuple[str, ...]) -> None:
    found = faults(labs, lab, proof)
    reported = [fault for fault in found if fault.device == device and all(word in fault.message for word in words)]
    assert reported, "\n".join(f"{fault.device}: {fault.message}" for fault in found)


BLAMED = [(lab, proof, devices) for lab, broken in LABS.items() for proof, devices in broken.blamed.items()]


@pytest.mark.parametrize(("lab", "proof", "devices"), BLAMED, ids=[f"{lab} {proof}" for lab, proof, _ in BLAMED])
def test_no_one_else_is_blamed(labs: Labs, lab: str, proof: str, devices: frozenset[str]) -> None:
    others = [fault for fault in faults(labs, lab, proof) if fault.device not in devices]
    assert not others, "\n".join(f"{fault.device}: {fault.message}" for fault in others)


# Lab, proof → device, words: what is right with a device, whatever is wrong with it or others.
RIGHT = [
    ("tunnels", "overlay", LEAF1, "vrf-blue"),  # the second leaf has none of that table's prefixes, for its own reason
    ("tunnels", "overlay", LEAF1, "vrf-green"),
    ("tunnels", "overlay", LEAF2, "VNI 10001"),
    ("tunnels", "overlay", LEAF2, "vrf-green"),
    ("origins", "gateways", LEAF1, "gateway"),
    ("settings", "attributes", SPINE1, "hold time"),
]


@pytest.mark.parametrize(("lab", "proof", "device", "words"), RIGHT, ids=[f"{device} {word}" for _, _, device, word in RIGHT])
def test_what_is_right_is_not_blamed(labs: Labs, lab: str, proof: str, device: str, words: str) -> None:
    assert [fault for fault in faults(labs, lab, proof) if fault.device == device and words in fault.message] == []
