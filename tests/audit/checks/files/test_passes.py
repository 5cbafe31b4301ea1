"""Policies that no route passes, in the words of every network OS."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.nos.reading import read_device
from tests.audit.checks.files.helpers import Case, but

LEAF = """\
ip routing
ip prefix-list PL seq 10 permit 10.0.0.0/8 le 32
route-map RM-IN permit 10
   match ip address prefix-list PL
route-map RM-OUT deny 10
   match community DRAINED
route-map RM-OUT permit 20
interface Ethernet1
   no switchport
   ip address 10.0.0.{own}/31
router bgp 6500{n}
   redistribute connected route-map RM-IN
   neighbor 10.0.0.{far} remote-as 65100
   neighbor 10.0.0.{far} route-map RM-IN in
   neighbor 10.0.0.{far} route-map RM-OUT out
"""
SPINE = """\
ip routing
route-map RM-LEAF permit 10
interface Ethernet1
   no switchport
   ip address 10.0.0.0/31
interface Ethernet2
   no switchport
   ip address 10.0.0.2/31
router bgp 65100
   neighbor 10.0.0.1 remote-as 65001
   neighbor 10.0.0.1 route-map RM-LEAF in
   neighbor 10.0.0.3 remote-as 65002
"""
SOUND = {
    "leaf1.eos": LEAF.format(n=1, own=1, far=0),
    "leaf2.eos": LEAF.format(n=2, own=3, far=2),
    "spine1.eos": SPINE,
}
IN, OUT = "route-map RM-IN permit 10", "route-map RM-OUT permit 20"
DENIED = "error[FAB2512]: leaf1: no route passes"

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2512", "passes"): (SOUND, []),
    ("FAB2512", "out"): (
        but(SOUND, {"leaf1.eos": {OUT: "route-map RM-OUT deny 20"}}),  # at this entry, not at that of drained routes
        [f"leaf1.eos:7: {DENIED} RM-OUT: nothing is advertised to spine1"],
    ),
    ("FAB2512", "in, and redistributed"): (
        but(SOUND, {"leaf1.eos": {IN: "route-map RM-IN deny 10"}}),
        [f"leaf1.eos:3: {DENIED} RM-IN: nothing is redistributed into BGP, and nothing is accepted from spine1"],
    ),
    ("FAB2512", "empty list"): (
        but(SOUND, {"leaf1.eos": {"seq 10 permit": "seq 10 deny"}}),
        [f"leaf1.eos:3: {DENIED} RM-IN: nothing is redistributed into BGP, and nothing is accepted from spine1"],
    ),
    ("FAB2512", "one entry of two"): (
        but(SOUND, {"leaf1.eos": {OUT: "route-map RM-OUT deny 20\nroute-map RM-OUT permit 30"}}),
        [],
    ),
    ("FAB2512", "undefined, of another check"): (but(SOUND, {"leaf1.eos": {OUT: "", "route-map RM-OUT deny 10": ""}}), []),
    ("FAB2512", "outside the folder"): (
        but({"leaf1.eos": SOUND["leaf1.eos"]}, {"leaf1.eos": {OUT: "route-map RM-OUT deny 20"}}),
        [],
    ),
    ("FAB2512", "by design, on every leaf"): (
        but(SOUND, {name: {OUT: "route-map RM-OUT deny 20"} for name in ("leaf1.eos", "leaf2.eos")}),
        [
            f"{name}.eos:5: warning[FAB2512]: {name}: no route passes RM-OUT: nothing is advertised to spine1"
            for name in ("leaf1", "leaf2")
        ],
    ),
}

JUNOS = """\
policy-options {{
    policy-statement OUT {{
        term own {{
            from protocol direct;
            then {first};
        }}
        term rest {{
            then {last};
        }}
    }}
}}
"""
NVUE = """\
- set:
    router:
      policy:
        route-map:
          OUT:
            rule:
              '10':
                action:
                  {first}: {{}}
"""
POLICY = {  # network OS → file, text, and the line of the first entry that denies
    "eos": ("startup-config", "route-map OUT {first} 10\n", 1),
    "nxos": ("startup-config", "route-map OUT {first} 10\n", 1),
    "frr": ("frr.conf", "frr version 10\nroute-map OUT {first} 10\nexit\n", 2),
    "sonic": ("frr.conf", "frr version 10\nroute-map OUT {first} 10\nexit\n", 2),
    "cumulus": ("startup.yaml", NVUE, 9),
    "junos": ("juniper.conf", JUNOS, 5),
}


@pytest.mark.parametrize("nos", POLICY)
def test_clauses_of_a_policy(nos: str) -> None:
    file, text, line = POLICY[nos]
    permit, deny = ("accept", "reject") if nos == "junos" else ("permit", "deny")
    passing = read_device("leaf1", nos, {file: text.format(first=permit, last="reject")}).clauses["OUT"]
    barring = read_device("leaf1", nos, {file: text.format(first=deny, last="reject")}).clauses["OUT"]
    assert (passing[0].value, barring[0].value, barring[0].line) == ((), None, line)
    assert all(one.value is None for one in barring)


@pytest.mark.parametrize("last", ["next policy", "default-action accept"])
def test_junos_leaves_routes_to_what_follows(last: str) -> None:
    text = JUNOS.format(first="reject", last=last)
    clauses = read_device("leaf1", "junos", {"juniper.conf": text}).clauses["OUT"]
    assert any(one.value is not None for one in clauses)
