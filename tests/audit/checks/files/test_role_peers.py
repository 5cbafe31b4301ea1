"""Devices of one role as witnesses, features that are used and not enabled, OSPF at both ends."""

from __future__ import annotations

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, but, network

LEAF = """\
hostname leaf{n}
ip routing
ntp server 192.0.2.10
interface Ethernet1
   description spine1 Ethernet{n}
   mtu 9214
   no switchport
   ip address 10.0.{n}.1/31
   ip ospf network point-to-point
   ip ospf area 0.0.0.0
interface Ethernet2
   mtu 9214
   no switchport
   ip address 10.1.{n}.0/31
   service-profile ROCE
interface Ethernet3
   mtu 9214
   no switchport
   ip address 10.1.{n}.2/31
   service-profile ROCE
router ospf 1
   passive-interface default
router bgp 6500{n}
   router-id 10.255.0.{n}
   maximum-paths 4
   neighbor SPINES peer group
   neighbor SPINES timers 3 9
   neighbor 10.0.{n}.0 peer group SPINES
   neighbor 10.0.{n}.0 remote-as 65100
spanning-tree mode mstp
"""
SPINE = "hostname spine1\nip routing\n" + "".join(
    f"interface Ethernet{n}\n   mtu 9214\n   no switchport\n   ip address 10.0.{n}.0/31\n"
    "   ip ospf network point-to-point\n   ip ospf area 0\n"
    for n in (1, 2, 3, 4)
)
LEAVES: Files = {f"leaf{n}.eos": LEAF.format(n=n) for n in (1, 2, 3, 4)} | {"spine1.eos": SPINE}

# (device, old, new) → place, severity and message.
ODD = {
    "a value": (
        ("leaf3.eos", "maximum-paths 4", "maximum-paths 2"),
        "leaf3.eos:25: warning[FAB289]: leaf3: 65003: `maximum-paths 2`, but `maximum-paths 4` on 3 devices of its role "
        "(leaf1, leaf2 and 1 more)",
    ),
    "a line of a group": (
        ("leaf2.eos", "   neighbor SPINES timers 3 9\n", ""),
        "leaf2.eos:26: warning[FAB289]: leaf2: SPINES: missing `neighbor * timers 3 9`, which 3 similar objects have",
    ),
    "a port of many": (
        ("leaf1.eos", "10.1.1.2/31\n   service-profile ROCE\n", "10.1.1.2/31\n"),
        "leaf1.eos:16: warning[FAB289]: leaf1: Ethernet3: missing `service-profile ROCE`, which 7 similar objects have",
    ),
    "a global line": (
        ("leaf4.eos", "ntp server 192.0.2.10\n", ""),
        "leaf4.eos: warning[FAB289]: leaf4: missing `ntp server 192.0.2.10`, which 3 devices of its role (leaf1, leaf2 "
        "and 1 more) have",
    ),
    "routing is off": (
        ("leaf1.eos", "ip routing\n", ""),
        "leaf1.eos:20: error[FAB2506]: leaf1: ospf is configured, but `ip routing` is missing",
    ),
    "a shut process": (
        ("leaf1.eos", "   maximum-paths 4\n", "   maximum-paths 4\n   shutdown\n"),
        "leaf1.eos:26: error[FAB2506]: leaf1: the BGP process is shut down",
    ),
    "another area": (
        ("leaf2.eos", "area 0.0.0.0", "area 0.0.0.1"),
        "leaf2.eos:10: error[FAB2508]: leaf2: Ethernet1: area 0.0.0.1, but 0.0.0.0 at spine1 Ethernet2 (spine1.eos:14)",
    ),
}
BY_DESIGN = {
    "another address": ("leaf2.eos", "10.255.0.2", "10.255.0.99"),
    "another AS number": ("leaf2.eos", "router bgp 65002", "router bgp 65099"),
    "a description": ("leaf2.eos", "description spine1 Ethernet2", "description to spine1 Ethernet2"),
    "a static host name": ("leaf2.eos", "ip routing", "ip host leaf1 10.255.0.1\nip routing"),
    "a tenant": ("leaf2.eos", "router ospf 1", "vrf instance red\ninterface Vlan20\n   vrf red\nrouter ospf 1"),
}


def heads(files: Files) -> list[str]:
    """Errors and warnings of the checks of equals."""
    found, _ = check_network(network(files))
    own = [one for one in found if one.id in ("FAB289", "FAB2506", "FAB2508") and one.severity != "note"]
    return [str(one).split("\n", 1)[0] for one in own]


def test_equal_devices_are_left_in_peace() -> None:
    assert heads(LEAVES) == []


@pytest.mark.parametrize("case", ODD)
def test_the_odd_one_is_named_with_its_line(case: str) -> None:
    (name, old, new), expected = ODD[case]
    assert expected in heads(but(LEAVES, {name: {old: new}}))


@pytest.mark.parametrize("case", BY_DESIGN)
def test_what_differs_by_design_is_no_finding(case: str) -> None:
    name, old, new = BY_DESIGN[case]
    assert heads(but(LEAVES, {name: {old: new}})) == []


def test_every_device_names_the_others() -> None:
    hosts = {n: "".join(f"ip host leaf{m} 10.255.0.{m}\n" for m in (1, 2, 3, 4) if m != n) for n in (1, 2, 3, 4)}
    named = {f"leaf{n}.eos": LEAF.format(n=n) + hosts[n] for n in (1, 2, 3, 4)}
    assert heads(LEAVES | named) == []


def test_two_border_leaves_are_no_rule_for_a_third_leaf() -> None:
    own = "ip prefix-list OWN seq 10 permit 10.255.0.{n}/32\n"
    border = "ip prefix-list OWN seq 20 permit 0.0.0.0/0\nip prefix-list WAN-IN seq 10 permit 0.0.0.0/0\n"
    leaves = {f"leaf{n}.eos": LEAF.format(n=n) + own.format(n=n) + border * (n < 3) for n in (1, 2, 3)}
    assert heads(leaves) == []


def test_two_devices_are_not_enough() -> None:
    two = {name: LEAVES[name] for name in ("leaf1.eos", "leaf2.eos")}
    found, skipped = check_network(network(but(two, {"leaf1.eos": {"maximum-paths 4": "maximum-paths 2"}})))
    assert not [one for one in found if one.id == "FAB289"]
    assert skipped == [
        ("comparison of devices of one role", "fewer than 3 devices of a role: leaf1, leaf2"),
        ("OSPF and IS-IS", "keys of authentication, redistribution and reachability are not checked: leaf1, leaf2"),
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("r1.eos", "hostname r1\nip routing\nrouter ospf 1\n   network 10.0.0.0/8 area 0.0.0.0\n"),
        ("r1.frr", "frr version 10.0\nhostname r1\nrouter ospf\n network 10.0.0.0/8 area 0\n"),
        ("r1.nxos", "hostname r1\nfeature ospf\nrouter ospf UNDERLAY\n  router-id 10.0.0.1\n"),
    ],
)
def test_what_is_not_judged_of_an_igp_is_listed(file: str, text: str) -> None:
    _, skipped = check_network(network({file: text}))
    assert [what for what, _ in skipped] == ["comparison of devices of one role", "OSPF and IS-IS"]


def test_a_secret_is_not_quoted() -> None:
    files = {name: f"{text}tacacs-server key 7 0815hidden\n" for name, text in LEAVES.items()}
    found = heads(but(files, {"leaf1.eos": {"tacacs-server key 7 0815hidden\n": ""}}))
    assert found
    assert not any("0815hidden" in line for line in found)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("   neighbor SPINES password 7 0815hidden\n", "neighbor * password …"),
        ("   neighbor SPINES send-community extended\n", "neighbor * send-community extended"),
    ],
)
def test_the_word_before_a_secret_is_quoted(line: str, shown: str) -> None:
    group = "   neighbor SPINES peer group\n"
    files = {name: text.replace(group, group + line) for name, text in LEAVES.items()}
    found = heads(but(files, {"leaf1.eos": {line: ""}}))
    assert [one for one in found if "FAB289" in one] == [
        f"leaf1.eos:26: warning[FAB289]: leaf1: SPINES: missing `{shown}`, which 3 similar objects have"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "snmp-server community 0815hidden\n",
        "username admin nopassword\n",
        "aaa root nopassword\n",
        "no password strength-check\n",
        "management telnet\n   no shutdown\n",
    ],
)
def test_a_statement_that_weakens_security_is_not_proposed(line: str) -> None:
    files = {name: f"{text}{line}" for name, text in LEAVES.items()}
    found = heads(files | {"leaf1.eos": LEAVES["leaf1.eos"]})
    assert not [one for one in found if "FAB289" in one]


def test_a_free_port_is_no_port_without_its_address() -> None:
    port = "interface Ethernet9\n   mtu 9214\n   no switchport\n   service-profile ROCE\n"
    assert not [one for one in heads(LEAVES | {"leaf1.eos": LEAVES["leaf1.eos"] + port}) if "FAB289" in one]


ENTRIES = """\
route-map RM-IN permit 10
   match ip address prefix-list PL
route-map RM-IN permit 20
   match community GSHUT
   set local-preference 0
route-map RM-SITE{n} permit 10
"""
SITES = {name: text + ENTRIES.format(n=name[4]) for name, text in LEAVES.items()}
TERMS = """\
set system host-name leaf{n}
set policy-options policy-statement A term a from protocol direct
set policy-options policy-statement A term a then accept
set policy-options policy-statement B term a from protocol bgp
set policy-options policy-statement B term a then accept
set policy-options policy-statement C term a from protocol aggregate
set policy-options policy-statement C term a then accept
set policy-options policy-statement D term a from protocol static
set policy-options policy-statement D term a then accept
set policy-options policy-statement E term a from protocol ospf
set policy-options policy-statement E term a then accept
"""


def test_an_entry_that_denies_on_one_device_is_named_at_its_line() -> None:
    line = SITES["leaf3.eos"].splitlines().index("route-map RM-IN permit 20") + 1
    found = heads(but(SITES, {"leaf3.eos": {"RM-IN permit 20": "RM-IN deny 20"}}))
    assert [one for one in found if "FAB289" in one and "RM-IN" in one] == [
        f"leaf3.eos:{line}: warning[FAB289]: leaf3: `route-map RM-IN deny 20`, but `route-map RM-IN permit 20` on "
        "3 devices of its role (leaf1, leaf2 and 1 more)"
    ]


def test_many_verdicts_do_not_hide_a_device() -> None:
    files = {f"leaf{n}.junos": TERMS.format(n=n) for n in range(1, 6)}
    files["leaf2.junos"] = files["leaf2.junos"].replace("accept", "reject")
    lines = [one.split(": ")[0] for one in heads(files) if "FAB289" in one]
    assert lines == [f"leaf2.junos:{line}" for line in (3, 5, 7, 9, 11)]


TAGGED = "".join(
    f"interface Ethernet{port}\n   mtu 9214\n   no switchport\n"
    + (f"   ip address 10.{port}.{{n}}.0/31\n" if port > 4 else "")
    + f"interface Ethernet{port}.11\n   encapsulation dot1q vlan 11\n   ip address 10.{port}.{{n}}.2/31\n"
    for port in (4, 5)
)
# Reasons for which the first or only device differs: text on the others, and what it has in place of it.
REASONS = {
    "a task of its own": (
        "ntp server 192.0.2.99\nip prefix-list WAN-IN seq 10 permit 0.0.0.0/0\n"
        "ip prefix-list WAN-OUT seq 10 permit 0.0.0.0/0\n",
        "",
    ),
    "many statements, which no single edit removes": (
        "ip host a{n}.example 192.0.2.1{n}\nip host b{n}.example 192.0.2.2{n}\n",
        "",
    ),
    "a definition that it has no use for": ("qos profile SLOW\n   qos trust dscp\n", ""),
    "a server that it is itself": ("ntp server 10.1.1.0\n", ""),
    "a next hop in a subnet of the others": (
        "interface Vlan9\n   ip address 192.0.2.13{n}/28\nip route 203.0.113.0/24 192.0.2.129\n",
        "interface Vlan9\n   ip address 198.51.100.1/28\n",
    ),
    "the MAC address of gateways, without gateways": (
        "ip virtual-router mac-address 00:1c:73:00:00:99\ninterface Vlan9\n   ip address virtual 192.0.2.1/28\n",
        "interface Vlan9\n   ip address 192.0.2.2/28\n",
    ),
    "a port whose subinterfaces have the addresses": (
        TAGGED + "interface Ethernet4\n   ip address 10.2.{n}.0/31\n",
        TAGGED.replace("{n}", "1"),
    ),
    "a cage that is split otherwise": (
        "interface Ethernet15/1\n   shutdown\n   speed 400g-4\ninterface Ethernet15/5\n   shutdown\n   speed 400g-4\n",
        "interface Ethernet15/1\n   shutdown\n   speed 800g-8\n",
    ),
    "AS numbers": ("ip as-path access-list UP permit _65123_ any\n", "ip as-path access-list UP permit _65124_ any\n"),
}


@pytest.mark.parametrize("case", REASONS)
def test_a_reason_is_no_finding(case: str) -> None:
    usual, own = REASONS[case]
    leaves = {f"leaf{n}.eos": LEAF.format(n=n) + (own if n == 1 else usual.format(n=n)) for n in (1, 2, 3, 4)}
    assert heads(leaves) == []


def test_a_port_has_another_profile_where_profiles_differ_by_port() -> None:
    slow = ("10.1.1.2/31\n   service-profile ROCE\n", "10.1.1.2/31\n   service-profile ROCE-100G\n")
    assert heads(but(LEAVES, {"leaf1.eos": dict([slow])})) == []


def test_the_default_route_of_one_is_still_missed() -> None:
    """The reasons explain nothing where the device is connected to the subnet of the next hop."""
    subnet, route = "interface Vlan9\n   ip address 192.0.2.13{n}/28\n", "ip route 203.0.113.0/24 192.0.2.129\n"
    leaves = {f"leaf{n}.eos": LEAF.format(n=n) + subnet.format(n=n) + route * (n > 1) for n in (1, 2, 3, 4)}
    assert [head.partition("missing ")[2].partition(",")[0] for head in heads(leaves)] == [f"`{route.strip()}`"]


BORDER = (
    "ip prefix-list BLUE-IN\n   seq 10 permit 0.0.0.0/0\nip prefix-list BLUE-OUT\n   seq 10 permit 10.9.{n}.0/24\n"
    "ip prefix-list BLUE-OWN\n   seq 10 permit 10.9.{n}.0/24\n   seq 15 permit 10.8.{n}.0/25\n   seq 20 permit 0.0.0.0/0\n"
)
INNER = "ip prefix-list BLUE-OWN\n   seq 10 permit 10.9.{n}.0/24\n   seq 15 permit 10.8.{n}.0/25\n"


@pytest.mark.parametrize("without", [0, 2])  # leaves without the tenant
def test_a_leaf_of_a_tenant_is_compared_with_the_leaves_of_that_tenant(without: int) -> None:
    lists = [BORDER, BORDER, BORDER, INNER, *[""] * without]
    leaves = {f"leaf{n}.eos": LEAF.format(n=n) + part.format(n=n) for n, part in enumerate(lists, 1)}
    assert heads(leaves) == []
    lists[3] = BORDER
    leaves = {f"leaf{n}.eos": LEAF.format(n=n) + part.format(n=n) for n, part in enumerate(lists, 1)}
    lost = but(leaves, {"leaf2.eos": {"   seq 20 permit 0.0.0.0/0\n": ""}})
    assert [head.partition("missing ")[2].partition(",")[0] for head in heads(lost)] == ["`seq * permit 0.0.0.0/0`"]


def test_a_link_to_a_switch_is_not_compared_with_ports_to_servers() -> None:
    port = "interface Ethernet{n}\n   mtu 9214\n   no switchport\n   ip address 10.{n}.0.0/31\n"
    ports = "".join(port.format(n=n) + "   ip access-group TENANT in\n" for n in range(1, 7))
    acl = "ip access-list TENANT\n   10 permit ip any any\n"
    spine = "hostname spine1\n" + port.format(n=7).replace("10.7.0.0", "10.7.0.1")
    assert heads({"leaf1.eos": "hostname leaf1\n" + acl + ports + port.format(n=7), "spine1.eos": spine}) == []
    found = heads({"leaf1.eos": "hostname leaf1\n" + acl + ports + port.format(n=7)})
    assert [one.split(": ")[3] for one in found] == ["Ethernet7"]


ROUTED = "hostname host1\nspanning-tree mode none\nvrf instance red\nip routing vrf red\nrouter bgp 65001\n"
SESSIONS = {  # lines of the process → whether it needs `ip routing`
    "   neighbor 10.0.0.1 remote-as 65002\n": True,
    "   neighbor UP peer group\n   vrf red\n      neighbor 10.0.0.1 remote-as 65002\n": False,
}


@pytest.mark.parametrize("lines", SESSIONS)
def test_bgp_in_vrfs_alone_needs_no_routing_of_the_default_one(lines: str) -> None:
    found = heads({"host1.eos": ROUTED + lines})
    assert any("`ip routing` is missing" in head for head in found) is SESSIONS[lines]
