"""Statements that differ in the form of a value alone are equal; those that differ in a value are not."""

from __future__ import annotations

import pytest

from fabric.audit.checks.statements import syntax_of
from fabric.nos.statements.compare import compare
from fabric.nos.statements.forms import in_one_form

PARTS = {"frr": "frr.conf", "sonic": "config_db.json"}
EQUAL = [  # network OS, planned, running
    (
        "eos",
        "router bgp 4259840001\n   neighbor 10.0.0.1 remote-as 4259840002\n",
        "router bgp 65000.1\n   neighbor 10.0.0.1 remote-as 65000.2\n",
    ),
    ("eos", "router bgp 1\n   vrf red\n      rd 4259840001:1\n", "router bgp 1\n   vrf red\n      rd 65000.1:1\n"),
    ("eos", "ip virtual-router mac-address 02:00:00:00:00:0a\n", "ip virtual-router mac-address 0200.0000.000A\n"),
    (
        "eos",
        "ip prefix-list A\n   seq 10 permit 10.0.0.0/15 ge 32\n",
        "ip prefix-list A\n   seq 10 permit 10.0.0.0/15 eq 32\n",
    ),
    (
        "eos",
        "interface Ethernet1\n   ip address 10.0.0.1/31\n",
        "interface Ethernet1\n   ip address 10.0.0.1 255.255.255.254\n",
    ),
    (
        "nxos",
        "fabric forwarding anycast-gateway-mac 0200.0000.000a\n",
        "fabric forwarding anycast-gateway-mac 02:00:00:00:00:0A\n",
    ),
    (
        "nxos",
        "interface loopback0\n  ipv6 address 2001:db8::a/128\n",
        "interface loopback0\n  ipv6 address 2001:0DB8:0:0::A/128\n",
    ),
    ("frr", "ip prefix-list A seq 10 permit any\n", "ip prefix-list A seq 10 permit 0.0.0.0/0 le 32\n"),
    (
        "frr",
        "ip prefix-list A seq 10 permit 10.0.0.0/8 ge 16 le 24\n",
        "ip prefix-list A seq 10 permit 10.0.0.0/8 le 24 ge 16\n",
    ),
    (
        "junos",
        "set routing-instances red vrf-target target:4259840001L:1\n",
        "set routing-instances red vrf-target target:65000.1:1\n",
    ),
    (
        "junos",
        "set policy-options route-filter-list A 10.0.0.0/8 orlonger\n",
        "set policy-options route-filter-list A 10.0.0.0/8 prefix-length-range /8-/32\n",
    ),
    (
        "junos",
        "set firewall policer P if-exceeding bandwidth-limit 1m\n",
        "set firewall policer P if-exceeding bandwidth-limit 1000000\n",
    ),
    (
        "junos",
        "set interfaces ae1 esi 00:11:0a:11:11:11:11:11:11:01\n",
        "set interfaces ae1 esi 00:11:0A:11:11:11:11:11:11:01\n",
    ),
    (
        "cumulus",
        "- set:\n    router: {bgp: {autonomous-system: 4259840001}}\n",
        "- set:\n    router: {bgp: {autonomous-system: 65000.1}}\n",
    ),
    (
        "sonic",
        '{"SAG": {"GLOBAL": {"gateway_mac": "02:00:00:00:00:0a"}}}\n',
        '{"SAG": {"GLOBAL": {"gateway_mac": "02:00:00:00:00:0A"}}}\n',
    ),
    (
        "sonic",
        '{"LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|2001:db8::a/128": {}}}\n',
        '{"LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|2001:0DB8::a/128": {}}}\n',
    ),
]
DIFFERENT = [
    ("eos", "router bgp 4259840001\n", "router bgp 65000.2\n"),
    (
        "eos",
        "priority-flow-control pause watchdog default timeout 0.2\n",
        "priority-flow-control pause watchdog default timeout 2\n",
    ),
    ("eos", "interface Ethernet1\n   ip address 10.0.0.1/31\n", "interface Ethernet1\n   ip address 10.0.0.1 255.0.255.0\n"),
    ("frr", "ip prefix-list A seq 10 permit 10.0.0.0/8 ge 16\n", "ip prefix-list A seq 10 permit 10.0.0.0/8 le 16\n"),
    (
        "junos",
        "set policy-options route-filter-list A 10.0.0.0/8 orlonger\n",
        "set policy-options route-filter-list A 10.0.0.0/8 longer\n",
    ),
]


def differences(nos: str, planned: str, running: str) -> list[str]:
    syntax, part = syntax_of(nos), PARTS.get(nos, "config")
    files = {part: running}
    return [one.kind for one in compare(syntax, syntax.read({part: planned}), syntax.read(files), files)]


@pytest.mark.parametrize(("nos", "planned", "running"), EQUAL)
def test_equal_forms(nos: str, planned: str, running: str) -> None:
    assert planned != running
    assert differences(nos, planned, running) == differences(nos, running, planned) == []


@pytest.mark.parametrize(("nos", "planned", "running"), DIFFERENT)
def test_different_values(nos: str, planned: str, running: str) -> None:
    assert differences(nos, planned, running)


@pytest.mark.parametrize(
    "text", ["description a:b::c:d:e:f:g", "x 999.999.1 y", "10.0.0.0/8 ge 9 ge 10", "65536.1", ":::::::"]
)
def test_what_is_no_value_stays(text: str) -> None:
    assert in_one_form(text).split()[0] == text.split()[0]
