"""Commands back to the plan, with what FRR takes along: running config, planned one, what is typed, seen with FRR 8.4.4."""

from __future__ import annotations

from typing import Any

import pytest

from fabric.audit.checks import statement_differences
from fabric.audit.drift.devices import commands_back

BGP = """frr defaults datacenter
hostname leaf1
vrf vrf-red
 vni 50001
exit-vrf
bfd
 profile FABRIC
  detect-multiplier 3
  receive-interval 300
 exit
exit
router bgp 65001
 bgp router-id 10.0.0.1
 no bgp default ipv4-unicast
 neighbor FABRIC peer-group
 neighbor FABRIC timers 3 9
 neighbor OVERLAY peer-group
 neighbor 10.9.0.0 remote-as 65100
 neighbor 10.9.0.0 peer-group FABRIC
 neighbor 10.9.0.0 description spine1 swp1
 neighbor swp2 interface peer-group FABRIC
 neighbor swp2 remote-as 65100
 neighbor swp2 description spine2 swp1
 address-family ipv4 unicast
  neighbor FABRIC activate
  neighbor swp2 allowas-in 1
 exit-address-family
exit
router bgp 65001 vrf vrf-red
 bgp router-id 10.0.0.1
 address-family l2vpn evpn
  advertise ipv4 unicast
  rd 10.0.0.1:2
  route-target import 65000:50001
  route-target export 65000:50001
 exit-address-family
exit
"""
IN_BGP, IN_RED, IN_EVPN = "router bgp 65001", "router bgp 65001 vrf vrf-red", " address-family l2vpn evpn"
TARGET = "  route-target import 65000:50001\n"
GROUP = " neighbor FABRIC peer-group\n"
ALONE = " neighbor 10.9.0.8 remote-as 65010\n neighbor 10.9.0.8 description wan\n"
MEMBERS_AGAIN = [
    " neighbor 10.9.0.0 remote-as 65100",
    " neighbor 10.9.0.0 peer-group FABRIC",
    " neighbor 10.9.0.0 description spine1 swp1",
    " neighbor swp2 interface peer-group FABRIC",
    " neighbor swp2 remote-as 65100",
    " neighbor swp2 description spine2 swp1",
    " address-family ipv4 unicast",
    "  neighbor swp2 allowas-in 1",
]

CASES: dict[str, tuple[Any, ...]] = {  # changes of the planned config, commands back, what else the plan has
    # The daemon prints the group with the AS number and the members without.
    "an AS number of a group, whose removal deletes its members": (
        {GROUP: f"{GROUP} neighbor FABRIC remote-as 65100\n", " neighbor 10.9.0.0 remote-as 65100\n": "",
         " neighbor swp2 remote-as 65100\n": ""},
        [IN_BGP, " no neighbor FABRIC remote-as 65100", *MEMBERS_AGAIN],
    ),
    "the same in a config that was saved before": (
        {GROUP: f"{GROUP} neighbor FABRIC remote-as external\n"},
        [IN_BGP, " no neighbor FABRIC remote-as external", *MEMBERS_AGAIN],
    ),
    "a neighbor of another group, which cannot change its group": (
        {" neighbor 10.9.0.0 peer-group FABRIC": " neighbor 10.9.0.0 peer-group OVERLAY"},
        [IN_BGP, " no neighbor 10.9.0.0", *MEMBERS_AGAIN[:3]],
    ),
    "an interface of another group": (
        {" neighbor swp2 interface peer-group FABRIC": " neighbor swp2 interface peer-group OVERLAY"},
        [IN_BGP, " no neighbor swp2", *MEMBERS_AGAIN[3:]],
    ),
    "a neighbor in a group that it has no part in": (
        {" neighbor OVERLAY peer-group\n": f" neighbor OVERLAY peer-group\n{ALONE} neighbor 10.9.0.8 peer-group OVERLAY\n"},
        [IN_BGP, " no neighbor 10.9.0.8 peer-group OVERLAY", *ALONE.splitlines()],
        {" neighbor OVERLAY peer-group\n": f" neighbor OVERLAY peer-group\n{ALONE}"},
    ),
    "and in a group that the plan does not have": (
        {ALONE: f" neighbor NEW peer-group\n{ALONE} neighbor 10.9.0.8 peer-group NEW\n"},
        [IN_BGP, " no neighbor NEW peer-group", *ALONE.splitlines()],
        {" neighbor OVERLAY peer-group\n": f" neighbor OVERLAY peer-group\n{ALONE}"},
    ),
    "a timer of BFD, which has no `no`": (
        {"  receive-interval 300": "  receive-interval 900"},
        ["bfd", " profile FABRIC", "  receive-interval 300"],
    ),
    "a multiplier where the plan has the default": (
        {"  detect-multiplier 3": "  detect-multiplier 7\n  echo receive-interval 90"},
        ["bfd", " profile FABRIC", "  echo receive-interval 50", "  detect-multiplier 3"],
    ),
    "a line of a neighbor in a family, where no neighbor can be deleted": (
        {"  neighbor FABRIC activate\n": "  neighbor FABRIC activate\n  neighbor 10.9.0.0 route-map RM-OTHER in\n"},
        [IN_BGP, " address-family ipv4 unicast", "  no neighbor 10.9.0.0 route-map RM-OTHER in"],
    ),
    "lines that `bgp default ipv4-unicast` makes": (
        {" no bgp default ipv4-unicast\n": "",
         "  neighbor FABRIC activate\n": "  neighbor FABRIC activate\n  no neighbor OVERLAY activate\n"},
        [IN_BGP, " no bgp default ipv4-unicast"],
    ),
    "a member that is switched off is no such line": (
        {"  neighbor FABRIC activate\n": "  neighbor FABRIC activate\n  no neighbor swp2 activate\n"},
        [IN_BGP, " address-family ipv4 unicast", "  neighbor swp2 activate"],
    ),
    "routes of another VRF, whose instance bgpd has made": (
        {"  neighbor FABRIC activate\n": "  neighbor FABRIC activate\n  import vrf vrf-other\n",
         "router bgp 65001 vrf vrf-red\n": "router bgp 65001 vrf vrf-other\nexit\nrouter bgp 65001 vrf vrf-red\n"},
        [IN_BGP, " address-family ipv4 unicast", "  no import vrf vrf-other", "  exit", " exit",
         "no router bgp 65001 vrf vrf-other"],
    ),
    "a route map of an advertisement": (
        {"  advertise ipv4 unicast\n": "  advertise ipv4 unicast route-map RM-OTHER\n"},
        [IN_RED, IN_EVPN, "  no advertise ipv4 unicast", "  advertise ipv4 unicast"],
    ),
    "an address of an interface that the kernel has": (
        {"bfd\n": "interface lo\n ip address 192.0.2.9/32\n description by hand\nexit\nbfd\n"},
        ["interface lo", " no description", " no ip address 192.0.2.9/32"],
    ),
    "a switch that is off in an unplanned section": (
        {"bfd\n": "interface swp9\n no link-detect\nexit\nbfd\n"},
        ["interface swp9", " link-detect"],
    ),
    "a VNI outside of its section, the L3 VNI of the default VRF": ({"bfd\n": "vni 10001\nbfd\n"}, ["no vni 10001"]),
    "a password": ({"bfd\n": "password secret\nbfd\n"}, ["no password"]),
    # Import and export of `route-target both` are one object, which is freed twice.
    "route targets that may be one object": (
        {TARGET: f"{TARGET}  route-target import 65000:9\n  route-target export 65000:9\n"},
        [IN_RED, IN_EVPN,
         "  ! bgpd of FRR 8.4 ends here if this was entered as `route-target both`: restart it with the planned frr.conf",
         "  no route-target export 65000:9", "  no route-target import 65000:9"],
    ),
    "one route target": (
        {TARGET: f"{TARGET}  route-target import 65000:9\n"},
        [IN_RED, IN_EVPN, "  no route-target import 65000:9"],
    ),
}  # fmt: skip


def commands(planned: str, running: str) -> list[str]:
    sides = {"frr.conf": planned}, {"frr.conf": running}
    return [line for change in commands_back("frr", *sides, statement_differences("frr", *sides)) for line in change.lines]


def changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize("case", CASES)
def test_commands_back(case: str) -> None:
    changes, wanted, *more = CASES[case]
    planned = changed(BGP, more[0] if more else {})
    assert commands(planned, changed(planned, changes)) == wanted


def test_another_as_number() -> None:
    """bgpd keeps the instance of a VRF while it has an L3 VNI, and takes `vrf` in `router bgp` for `vrf-policy`."""
    found = commands(BGP, BGP.replace("router bgp 65001", "router bgp 64999"))
    assert found[:9] == [
        "vrf vrf-red",
        " no vni 50001",
        " exit",
        "! wait a second here: bgpd refuses the next line until it knows that the VNI is gone",
        "no router bgp 64999 vrf vrf-red",
        "! every BGP session of this instance ends",
        "no router bgp 64999",
        "router bgp 65001",
        " bgp router-id 10.0.0.1",
    ]
    assert found[-5:] == ["  route-target export 65000:50001", "  exit", " exit", "vrf vrf-red", " vni 50001"]


# What a daemon derives and does not print, and what it prints: changes of the planned config → paths that differ.
RD = "  rd 10.0.0.1:2\n"
AUTOMATIC = {TARGET: "  route-target import 65001:50001\n"}
DERIVED: dict[str, tuple[dict[str, str], dict[str, str], list[str]]] = {
    "an RD that may be the derived one": ({}, {RD: ""}, []),
    "an RD with a number that no instance has": (
        {RD: "  rd 10.0.0.1:70\n"}, {"  rd 10.0.0.1:70\n": ""}, ["missing: rd 10.0.0.1:70"]
    ),
    "an RD beside another router ID": (
        {}, {RD: "", f"{IN_RED}\n bgp router-id 10.0.0.1": f"{IN_RED}\n bgp router-id 10.0.0.7"},
        ["changed: bgp router-id 10.0.0.1", "missing: rd 10.0.0.1:2"],
    ),
    "another RD": ({}, {RD: "  rd 10.0.0.1:9\n"}, ["changed: rd 10.0.0.1:2"]),
    "an automatic route target": (AUTOMATIC, {"  route-target import 65001:50001\n": ""}, []),
    "an automatic route target that another one replaces": (
        AUTOMATIC,
        {"  route-target import 65001:50001\n": "  route-target import 65000:9\n"},
        ["extra: route-target import 65000:9", "missing: route-target import 65001:50001"],
    ),
    "a route target that is not the automatic one": ({}, {TARGET: ""}, ["missing: route-target import 65000:50001"]),
    "a hidden default with another value": (
        {}, {"  receive-interval 300": "  receive-interval 900"}, ["changed: receive-interval 300"]
    ),
    "timers of the profile": ({" bgp router-id 10.0.0.1\n": " bgp router-id 10.0.0.1\n timers bgp 3 9\n"},
                              {" timers bgp 3 9\n": ""}, []),
    "timers of the other profile": ({" bgp router-id 10.0.0.1\n": " bgp router-id 10.0.0.1\n timers bgp 60 180\n"},
                                    {" timers bgp 60 180\n": ""}, ["missing: timers bgp 60 180"]),
}  # fmt: skip


@pytest.mark.parametrize("case", DERIVED)
@pytest.mark.parametrize("nos", ["frr", "sonic"])
def test_derived_values(nos: str, case: str) -> None:
    of_plan, of_device, wanted = DERIVED[case]
    planned = changed(BGP, of_plan)
    found = statement_differences(nos, {"frr.conf": planned}, {"frr.conf": changed(planned, of_device)})
    assert sorted(f"{one.kind}: {one.path[-1]}" for one in found) == wanted
