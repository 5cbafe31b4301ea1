"""Bonds over two leaves: what each network OS reports of its segments or vPC, sound and with one fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from fabric import pipeline
from fabric.audit.verify.files import of_switch
from fabric.audit.verify.multihoming_faults import multihoming_faults
from fabric.audit.verify.site import Site, Switch
from fabric.nos.state.records import MULTIHOMING
from tests import ROOT
from tests.audit.verify.eos_state import outputs

LEAF1, LEAF2 = "frontend-leaf001", "frontend-leaf002"
State = dict[str, Any]  # leaf → its output


@cache
def site(nos: str) -> Site:
    return Site(pipeline.plan(pipeline.load(ROOT / "intent" / f"ai-{nos}.yaml")), {})


def vtep(switch: Switch) -> str:
    assert switch.view.overlay is not None
    return switch.view.overlay.vtep or ""


def eos(own: Switch, far: Switch) -> Any:
    return outputs(site("eos"), own, routes=False)["segments"]


def frr(own: Switch, far: Switch) -> Any:
    """zebra's detail."""
    return [
        {
            "esi": lag.esi,
            "accessPort": f"bond{lag.number}",
            "flags": ["local", "remote", "df" if lag.preferred else "nonDF", "readyForBgp", "bridgePort", "operUp"],
            "vniCount": 1,
            "macCount": 0,
            "dfPreference": 50000 if lag.preferred else 32767,
            "nexthopGroup": 536870913 + lag.number,
            "vteps": [{"vtep": vtep(far), "dfAlgorithm": "preference", "dfPreference": 32767, "nexthopId": 268435458}],
        }
        for lag in own.view.lags
    ]


def junos(own: Switch, far: Switch) -> Any:
    def d(value: Any) -> list[Any]:
        return [{"data": value}]

    first, other = sorted(one.view.loopback.partition("/")[0] for one in (own, far))
    segments = [
        {
            "evpn-esi-value": d(lag.esi),
            "evpn-esi-status": d(f"Resolved by IFL ae{lag.number}.0"),
            "evpn-esi-local-intf-information": [
                {
                    "evpn-esi-local-intf-name": d(f"ae{lag.number}.0"),
                    "evpn-esi-local-intf-status": d("Up/Forwarding"),
                }
            ],
            "evpn-esi-remote-pe-information": [
                {
                    "evpn-esi-num-remote-pe": d("1"),
                    "evpn-esi-remote-pe": [{"evpn-esi-remote-pe-ipaddr": d(far.view.loopback.partition("/")[0])}],
                }
            ],
            "evpn-esi-df-information": [
                {
                    "esi-df-election-algorithm": d("MOD based"),
                    "esi-designated-forwarder": d(first),
                    "esi-backup-forwarder": d(other),
                }
            ],
        }
        for lag in own.view.lags
    ]
    derived = {"evpn-esi-value": d("05:00:00:fe:4c:00:00:27:74:00"), "evpn-esi-status": d("")}
    return {
        "evpn-instance-information": [
            {"evpn-instance": [{"evpn-instance-name": d("evpn"), "evpn-esi": [*segments, derived]}]}
        ]
    }


def nxos(own: Switch, far: Switch) -> Any:
    assert own.view.pair is not None
    row = {"phy-port-if-removed": "disabled", "vpc-thru-peerlink": "0", "vpc-consistency-status": "SUCCESS"}
    return {
        "vpc-domain-id": str(own.view.pair.number),
        "vpc-peer-status": "peer-ok",
        "vpc-peer-status-reason": "SUCCESS",
        "vpc-peer-keepalive-status": "peer-alive",
        "vpc-peer-consistency": "consistent",
        "vpc-per-vlan-peer-consistency": "consistent",
        "vpc-type-2-consistency": "consistent",
        "vpc-role": "primary",
        "num-of-vpcs": str(len(own.view.lags)),
        "virtual-peerlink": "Enabled",
        "TABLE_peerlink": {"ROW_peerlink": {"peer-link-id": "1", "peerlink-ifindex": "Po4096", "peer-link-port-state": "1"}},
        "TABLE_vpc": {
            "ROW_vpc": [
                row
                | {
                    "vpc-id": str(lag.number),
                    "vpc-ifindex": f"Po{lag.number}",
                    "vpc-port-state": "1",
                    "vpc-consistency": "consistent",
                }
                for lag in own.view.lags
            ]
        },
    }


MAKERS: dict[str, Callable[[Switch, Switch], Any]] = {
    "eos": eos,
    "cumulus": frr,
    "sonic": frr,
    "junos": junos,
    "nxos": nxos,
}


def sound(nos: str) -> State:
    one, other = (site(nos).switches[name] for name in (LEAF1, LEAF2))
    return {LEAF1: MAKERS[nos](one, other), LEAF2: MAKERS[nos](other, one)}


def faults(nos: str, state: State) -> list[tuple[str, str, str]]:
    seen = {name: of_switch({f"{name}.json": json.dumps(value)}) for name, value in state.items()}
    assert all(MULTIHOMING in one.kinds for one in seen.values())
    return [(one.kind, one.device, one.message) for one in multihoming_faults(Site(site(nos).plan, seen))]


def eos_rows(state: State, leaf: str) -> list[Any]:
    tables = [one["ethernetSegments"] for one in state[leaf]["bgpEvpnInstances"].values()]
    esi = site("eos").switches[leaf].view.lags[0].esi
    return [table[esi] for table in tables if esi in table]


def esi_gone(state: State) -> None:
    for table in [one["ethernetSegments"] for one in state[LEAF2]["bgpEvpnInstances"].values()]:
        table.pop(site("eos").switches[LEAF2].view.lags[0].esi, None)


def changed(leaf: str, **fields: Any) -> Callable[[State], None]:
    def change(state: State) -> None:
        for row in eos_rows(state, leaf):
            row.update(fields)

    return change


def all_changed(*changes: Callable[[State], None]) -> Callable[[State], None]:
    def change(state: State) -> None:
        for one in changes:
            one(state)

    return change


def frr_flag(leaf: str, old: str, new: str) -> Callable[[State], None]:
    def change(state: State) -> None:
        flags = state[leaf][0]["flags"]
        flags.remove(old)
        flags += [new] if new else []

    return change


def junos_segment(state: State, leaf: str) -> Any:
    return state[leaf]["evpn-instance-information"][0]["evpn-instance"][0]["evpn-esi"][0]


def junos_elected(state: State) -> None:
    row = junos_segment(state, LEAF2)["evpn-esi-df-information"][0]
    row["esi-designated-forwarder"] = row["esi-backup-forwarder"]


def junos_down(state: State) -> None:
    junos_segment(state, LEAF1)["evpn-esi-local-intf-information"][0]["evpn-esi-local-intf-status"] = [
        {"data": "Down/Blocked"}
    ]


def alone(state: State) -> None:
    junos_segment(state, LEAF1)["evpn-esi-remote-pe-information"] = [{"evpn-esi-num-remote-pe": [{"data": "0"}]}]


def vpc(**fields: str) -> Callable[[State], None]:
    return lambda state: state[LEAF2].update(fields)


def vpc_row(**fields: str) -> Callable[[State], None]:
    return lambda state: state[LEAF2]["TABLE_vpc"]["ROW_vpc"][0].update(fields)


def link_down(state: State) -> None:
    for leaf in (LEAF1, LEAF2):
        state[leaf]["TABLE_peerlink"]["ROW_peerlink"]["peer-link-port-state"] = "0"
        state[leaf]["vpc-peer-status"] = "peer-link-down"


def no_vpc(state: State) -> None:
    state[LEAF1]["TABLE_vpc"]["ROW_vpc"].pop(0)
    state[LEAF1]["num-of-vpcs"] = str(len(state[LEAF1]["TABLE_vpc"]["ROW_vpc"]))


PENDING = {"dFPeer": {"ip": ""}, "nonDFPeers": [], "dFElectionState": "pending"}
CASES = {
    "no segment": ("eos", esi_gone, ("segment", LEAF2, "expected an Ethernet segment, got none")),
    "segment down": ("eos", changed(LEAF1, state="down", **PENDING), ("segment", LEAF1, "expected up, got down")),
    "one leaf alone": (
        "eos",
        changed(LEAF1, dFPeer={"ip": "10.2.0.5"}, nonDFPeers=[]),
        ("segment", LEAF1, "frontend-leaf002 is not in its Ethernet segment"),
    ),
    "a third leaf": (
        "eos",
        changed(LEAF1, nonDFPeers=[{"ip": "10.2.0.6"}, {"ip": "10.2.0.77"}]),
        ("segment", LEAF1, "10.2.0.77 not planned in its Ethernet segment"),
    ),
    "none is elected": (
        "eos",
        changed(LEAF1, dFPeer={"ip": ""}, nonDFPeers=[{"ip": "10.2.0.6"}, {"ip": "10.2.0.5"}]),
        ("forwarder", LEAF1, "no designated forwarder is elected"),
    ),
    "other preference": (
        "eos",
        all_changed(
            *(changed(leaf, dFPeer={"ip": "10.2.0.6"}, nonDFPeers=[{"ip": "10.2.0.5"}]) for leaf in (LEAF1, LEAF2)),
        ),
        ("preferred", LEAF1, "designated forwarder: expected frontend-leaf001, got frontend-leaf002"),
    ),
    "two forward": ("cumulus", frr_flag(LEAF2, "nonDF", "df"), ("forwarder", LEAF1, "different designated forwarders")),
    "FRR down": ("sonic", frr_flag(LEAF1, "operUp", ""), ("segment", LEAF1, "expected up, got down")),
    "FRR alone": ("sonic", lambda state: state[LEAF2][0].pop("vteps"), ("segment", LEAF2, "frontend-leaf001 is not in")),
    "FRR gone": ("cumulus", lambda state: state[LEAF2].pop(0), ("segment", LEAF2, "expected an Ethernet segment")),
    "Junos elected": ("junos", junos_elected, ("forwarder", LEAF1, "different designated forwarders")),
    "Junos down": ("junos", junos_down, ("segment", LEAF1, "expected up, got down")),
    "Junos alone": ("junos", alone, ("segment", LEAF1, "frontend-leaf002 is not in its Ethernet segment")),
    "keepalive": (
        "nxos",
        vpc(**{"vpc-peer-keepalive-status": "peer-not-alive"}),
        ("pair", LEAF2, "keepalive: expected peer-alive, got peer-not-alive"),
    ),
    "peer link": ("nxos", link_down, ("pair", LEAF1, "peer link is down; peer: expected peer-ok, got peer-link-down")),
    "consistency": ("nxos", vpc(**{"vpc-per-vlan-peer-consistency": "inconsistent"}), ("pair", LEAF2, "not consistent")),
    "domain": ("nxos", vpc(**{"vpc-domain-id": "9"}), ("pair", LEAF2, "domain: expected 1, got 9")),
    "vPC down": ("nxos", vpc_row(**{"vpc-port-state": "0"}), ("paired-bond", LEAF2, "vPC is down")),
    "vPC differs": ("nxos", vpc_row(**{"vpc-consistency": "inconsistent"}), ("paired-bond", LEAF2, "not consistent at its")),
    "no vPC": ("nxos", no_vpc, ("paired-bond", LEAF1, "no vPC")),
}


@pytest.mark.parametrize("nos", MAKERS)
def test_a_sound_pair_has_no_fault(nos: str) -> None:
    assert faults(nos, sound(nos)) == []


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_reported_once_at_its_leaf(name: str) -> None:
    nos, spoil, (kind, device, words) = CASES[name]
    state = sound(nos)
    spoil(state)
    found = faults(nos, state)
    assert [(one, where) for one, where, _ in found] == [(kind, device)], found
    assert words in found[0][2]


def test_one_leaf_that_is_not_collected_is_no_fault() -> None:
    for nos in MAKERS:
        state = sound(nos)
        del state[LEAF2]
        assert faults(nos, state) == []
