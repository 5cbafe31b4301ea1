"""Every line that is generated was shown to Batfish: it reads the line, or the list says why it does not know it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric.nos.batfish import Copies, as_it_is
from fabric.nos.target import target_names
from tests.audit.checks.batfish.known import (
    KNOWN,
    _set_forms,
    intents,
    is_allowed,
    known,
    lines_of,
    names_of,
    normal,
    switches,
)

HINT = """\
{count} generated lines that no Batfish server was shown, such as {path} ({site}, {nos}):
run `python -m tests.audit.checks.batfish.record HOST known` with a server. Where none is at hand, look it up in Batfish's
grammar: if it is there, add it to tests/audit/checks/batfish/known_lines/{nos}.txt with the grammar's path behind two blanks
and `#`; if it is not, list it in batfish.yaml of its network OS with the reason why a warning about it is no
finding."""


def test_every_generated_line_is_known_to_batfish_or_listed(tmp_path: Path) -> None:
    unseen: dict[str, tuple[str, str]] = {}
    for site, path in intents(tmp_path):
        plan, found = switches(path, tmp_path)
        names = names_of(plan)
        for copies in found:
            for _, _, context, text, line in lines_of(copies, names):
                if line not in known(copies.nos) and not is_allowed(copies, context, text):
                    unseen.setdefault(line, (site, copies.nos))
    for line, (site, nos) in list(unseen.items())[:1]:
        pytest.fail(HINT.format(count=len(unseen), path=line, site=site, nos=nos))


def test_there_is_a_list_for_every_target() -> None:
    assert {path.stem for path in KNOWN.glob("*.txt")} == set(target_names())


EOS = """\
hostname leaf001
router bgp 65001
   router-id 10.0.0.1
   neighbor FABRIC next-hop-unchangd
   vrf red
      shutdown
interface Ethernet1/1
   description spine001 Ethernet1/1
   no shutdown
   speed 400g-4
"""


def test_a_line_that_batfish_was_never_shown_is_noticed() -> None:
    """A typing error, and a known line in a block where it was never seen."""
    path = "configs/leaf001/startup-config"
    copies = Copies(device="leaf001", nos="eos", files={path: EOS}, copies=tuple(as_it_is("ARISTA")("leaf001", {path: EOS})))
    names = re.compile(r"\b(leaf001|spine001|red)\b")
    unseen = [
        line
        for _, _, context, text, line in lines_of(copies, names)
        if line not in known("eos") and not is_allowed(copies, context, text)
    ]
    assert unseen == ["router bgp <n> / neighbor FABRIC next-hop-unchangd", "router bgp <n> / vrf <name> / shutdown"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("interface Ethernet1/1 / ip address 10.64.0.0/31", "interface Ethernet<n> / ip address <ip>"),
        ("interface Vlan100 / ipv6 address fd00::1/64", "interface Vlan<n> / ipv6 address <ip6>"),
        ("ip prefix-list PL-red-OUT seq 10 permit 0.0.0.0/0", "ip prefix-list PL-<name>-OUT seq <n> permit <ip>"),
        ("interface Ethernet1/1 / description red Ethernet1/1", "interface Ethernet<n> / description <text>"),
        ("route-target import evpn 65000:50001", "route-target import evpn <n>"),
        ("qos map dscp 0 1 2 3 to traffic-class 0", "qos map dscp <n>… to traffic-class <n>"),
        ("lacp system-id 02:00:00:00:00:05", "lacp system-id <mac>"),
        ("address-family ipv4 unicast", "address-family ipv4 unicast"),
        ("username admin secret sha512 x", "username admin secret sha512 x"),
        ("qos profile ROCE-400G", "qos profile ROCE-<n>G"),
        ("iface swp47s4.14 / mtu 9166", "iface swp<n>s<n>.<n> / mtu <n>"),
        ("bridge-ports bond1 swp1s0 swp1s1 swp2 vni7 vni8", "bridge-ports bond<n> swp<n>s<n>… swp<n> vni<n>…"),
        ("bridge-ports swp1 swp2x swp2sx", "bridge-ports swp<n> swp<n>x swp<n>sx"),
    ],
)
def test_what_differs_between_sites_is_left_out(line: str, expected: str) -> None:
    assert normal(line, re.compile(r"(?<![A-Za-z0-9])red(?![A-Za-z0-9])")) == expected


def test_a_list_of_junos_is_one_set_for_each_word() -> None:
    assert list(_set_forms(("policy-options {",), "as-list FABRIC-PEERS members [ 65001 65002 ];")) == [
        "set policy-options as-list FABRIC-PEERS members 65001",
        "set policy-options as-list FABRIC-PEERS members 65002",
    ]
