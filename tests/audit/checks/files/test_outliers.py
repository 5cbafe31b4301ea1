"""The odd object among equals: in a VRF, a reference, a spare port, what every other device has once."""

from __future__ import annotations

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, but, network

FRR = """\
hostname leaf{n}
!
ip prefix-list PL-OWN seq 10 permit 10.1.{n}.0/24
!
router bgp 6500{n}
 neighbor FABRIC peer-group
 neighbor 10.0.{n}.1 remote-as 65100
 neighbor 10.0.{n}.1 peer-group FABRIC
 address-family ipv4 unicast
  aggregate-address 10.1.{n}.0/24 summary-only
  neighbor FABRIC activate
  neighbor FABRIC prefix-list PL-OWN out
 exit-address-family
exit
!
router bgp 6500{n} vrf red
 neighbor FABRIC peer-group
 neighbor FABRIC timers 3 9
 neighbor 10.2.{n}.1 remote-as 65100
 neighbor 10.2.{n}.1 peer-group FABRIC
exit
!
router bgp 6500{n} vrf blue
 neighbor FABRIC peer-group
 neighbor FABRIC timers 3 9
 neighbor 10.3.{n}.1 remote-as 65100
 neighbor 10.3.{n}.1 peer-group FABRIC
exit
!
"""
LINUX = "auto swp1\niface swp1\n    mtu 9216\n    address 10.0.{n}.0/31\n" + "".join(
    f"auto swp{port}\niface swp{port}\n    alias spare\n    link-down yes\n" for port in range(2, 8)
)
NFT = 'table inet control_plane {\n    chain input {\n        iifname "lo" accept\n    }\n}\n'
LEAVES: Files = (
    {f"leaf{n}.frr/frr.conf": FRR.format(n=n) for n in (1, 2, 3, 4)}
    | {f"leaf{n}.frr/interfaces": LINUX.format(n=n) for n in (1, 2, 3, 4)}
    | {f"leaf{n}.frr/nftables.conf": NFT for n in (1, 2, 3, 4)}
)
SPARE = "    alias spare\n    link-down yes\nauto swp4\n"

# (file of leaf2, old, new) → finding: place, severity, code and message.
ODD_ONES = {
    "a group of one VRF": (
        ("frr.conf", "red\n neighbor FABRIC peer-group\n neighbor FABRIC timers 3 9\n", "red\n neighbor FABRIC peer-group\n"),
        "frr.conf:17: warning[FAB289]: leaf2: red FABRIC: missing `neighbor * timers 3 9`, which 7 similar objects have",
    ),
    "a reference of a neighbor": (
        ("frr.conf", "  neighbor FABRIC prefix-list PL-OWN out\n", ""),
        "frr.conf:11: warning[FAB289]: leaf2: FABRIC: missing `neighbor * prefix-list * out`, which 3 devices of its role "
        "(leaf1, leaf3 and 1 more) have",
    ),
    "what the others have once": (
        ("frr.conf", "  aggregate-address 10.1.2.0/24 summary-only\n", ""),
        "frr.conf: warning[FAB289]: leaf2: missing `aggregate-address */24 summary-only`, which 3 devices of its role "
        "(leaf1, leaf3 and 1 more) have",
    ),
    "a spare port that is on": (
        ("interfaces", SPARE, SPARE.replace("    link-down yes\n", "")),
        "interfaces:10: warning[FAB289]: leaf2: swp3: missing `link-down yes`, which 23 similar objects have",
    ),
    "a port that is not brought up": (
        ("interfaces", "auto swp5\n", ""),
        "interfaces:17: warning[FAB289]: leaf2: swp5: missing `auto *`, which 23 similar objects have",
    ),
    "an option of no port": (
        ("interfaces", "iface swp5\n", ""),
        "interfaces:18: error[FAB290]: leaf2: `alias` belongs below an `iface` line; 1 more place of this file",
    ),
    "a lost brace": (
        ("nftables.conf", "    }\n}\n", "    }\n"),
        "nftables.conf:1: error[FAB290]: leaf2: a brace is never closed",
    ),
    "a misspelled end of a section": (
        ("frr.conf", " exit-address-family\n", " exit-address-famly\n"),
        "frr.conf:13: warning[FAB2510]: leaf2: `exit-address-famly`: the end of a section is `exit-address-family`",
    ),
    "a misspelled word before a name": (
        (
            "frr.conf",
            "blue\n neighbor FABRIC peer-group\n neighbor FABRIC timers",
            "blue\n neighbor FABRIC peer-group\n neighbr FABRIC timers",
        ),
        "frr.conf:25: warning[FAB2510]: leaf2: `neighbr`: 7 similar statements have `neighbor`",
    ),
}


def heads(files: Files) -> list[str]:
    """Findings of the second leaf, without its folder and hints."""
    found, _ = check_network(network(files))
    return [str(one).split("\n", 1)[0] for one in found if one.device == "leaf2" and one.severity != "note"]


def test_equal_devices_are_left_in_peace() -> None:
    assert not [head for head in heads(LEAVES) if "FAB289" in head or "FAB2510" in head or "FAB290" in head]


@pytest.mark.parametrize("case", ODD_ONES)
def test_the_odd_object_is_named(case: str) -> None:
    (file, old, new), expected = ODD_ONES[case]
    found = heads(but(LEAVES, {f"leaf2.frr/{file}": {old: new}}))
    assert any(head.endswith(expected) for head in found), found


EOS = "hostname spine{n}\n" + "".join(
    f"interface Ethernet{port}\n   description spare\n   shutdown\n" for port in range(1, 7)
)
SPINES: Files = {f"spine{n}.eos": EOS.format(n=n) for n in (1, 2, 3)}


def test_an_idle_port_that_one_device_lacks() -> None:
    found, _ = check_network(network(but(SPINES, {"spine2.eos": {"interface Ethernet4\n": ""}})))
    (one,) = [one for one in found if one.id == "FAB289"]
    assert one.message.startswith("Ethernet4: missing `interface *` and 1 statement of its section, which 2 devices")


def test_a_port_that_is_broken_out_is_not_missing() -> None:
    split = "".join(f"interface Ethernet4/{part}\n   speed 100g-1\n   shutdown\n" for part in (1, 2, 3, 4))
    old = "interface Ethernet4\n   description spare\n   shutdown\n"
    found, _ = check_network(network(but(SPINES, {"spine2.eos": {old: split}})))
    assert not [one for one in found if one.id == "FAB289"]


JUNOS = "system { host-name leaf{n}; }\nclass-of-service {\n    interfaces {\n"
PORT = """\
        et-0/0/{port} {{
            congestion-notification-profile PFC-{metres}M;
            unit 0 {{
                classifiers {{
                    dscp ROCE;
                }}
            }}
        }}
"""


def leaves(lost: str = "", port: int = 3) -> Files:
    """Three leaves; the ports have two profiles by the length of their cables. `lost`: line of one port of the second."""
    files: Files = {}
    for n in (1, 2, 3):
        ports = [PORT.format(port=at, metres=5 if at < 6 else 10) for at in range(12)]
        if n == 2:
            ports[port] = "".join(line for line in ports[port].splitlines(keepends=True) if not (lost and lost in line))
        files[f"leaf{n}.junos"] = JUNOS.replace("{n}", str(n)) + "".join(ports) + "    }\n}\n"
    return files


LOST = [
    ("congestion-notification-profile", 3, "`set class-of-service interfaces * congestion-notification-profile *`"),
    ("congestion-notification-profile", 8, "`set class-of-service interfaces * congestion-notification-profile *`"),
    ("dscp ROCE", 8, "`set class-of-service interfaces * unit 0 classifiers dscp ROCE`"),  # `classifiers` is empty then
]


@pytest.mark.parametrize(("lost", "port", "statement"), LOST)
def test_a_port_without_its_profile_is_named(lost: str, port: int, statement: str) -> None:
    found, _ = check_network(network(leaves(lost, port)))
    (one,) = [one for one in found if one.id == "FAB289"]
    assert (one.device, one.message.partition(",")[0]) == ("leaf2", f"et-0/0/{port}: missing {statement}")
    assert one.line > 4 + 8 * port


def test_profiles_that_differ_by_the_cable_are_by_design() -> None:
    found, _ = check_network(network(leaves()))
    assert not [one for one in found if one.id == "FAB289"]


MANAGED = """\
system { host-name leaf{n}; }
policy-options {
    prefix-list MANAGEMENT {
        172.16.0.0/16;
    }
    prefix-list TENANT {
        10.9.0.0/16;
    }
}
firewall {
    family inet {
        filter CONTROL { term a { from { prefix-list MANAGEMENT; } then accept; } }
    }
}
"""


@pytest.mark.parametrize(
    ("entry", "found"), [("        172.16.0.0/16;\n", 1), ("    prefix-list TENANT {\n        10.9.0.0/16;\n    }\n", 0)]
)
def test_the_only_entry_of_a_list_is_missed_where_the_list_is_used(entry: str, found: int) -> None:
    files = {f"leaf{n}.junos": MANAGED.replace("{n}", str(n)) for n in (1, 2, 3)}
    files["leaf2.junos"] = files["leaf2.junos"].replace(entry, "")
    findings, _ = check_network(network(files))
    assert [one.message.partition(",")[0] for one in findings if one.id == "FAB289"] == [
        "MANAGEMENT: missing `set policy-options prefix-list * 172.16.0.0/16`"
    ] * found


def test_a_filter_of_ports_may_list_any_number_of_them() -> None:
    ports = {n: ", ".join(f'"swp{n}{at}"' for at in range(1, 2)) for n in (1, 2, 3, 4)}
    ports[2] += ', "swp29"'
    table = "table inet tenants {{\n    chain ingress {{\n        iifname {{ {0} }} jump tenant-red\n    }}\n}}\n"
    files = LEAVES | {f"leaf{n}.frr/nftables.conf": NFT + table.format(names) for n, names in ports.items()}
    found, _ = check_network(network(files))
    assert not [one for one in found if one.id == "FAB289"]


ROUTED = "interface Ethernet{port}\n   description gpu-{n}{port} nic1\n   mtu 9214\n   ip address 10.{n}.{port}.0/31\n"


@pytest.mark.parametrize(("lost", "found"), [(("ip address",), 1), (("ip address", "description"), 0)])
def test_a_described_port_without_an_address_is_named(lost: tuple[str, ...], found: int) -> None:
    """One without a description is free."""
    files = {
        f"leaf{n}.eos": f"hostname leaf{n}\n" + "".join(ROUTED.format(n=n, port=at) for at in range(1, 8)) for n in (1, 2, 3)
    }
    head, mark, rest = files["leaf2.eos"].partition("interface Ethernet4\n")
    own = rest.splitlines(keepends=True)
    files["leaf2.eos"] = head + mark + "".join(line for line in own[:3] if not line.strip().startswith(lost))
    files["leaf2.eos"] += "".join(own[3:])
    findings, _ = check_network(network(files))
    assert [one.device for one in findings if one.id == "FAB289" and "ip address" in one.message] == ["leaf2"] * found


SVI = """\
interface Vlan{vlan}
  no shutdown
  vrf member red
  ip address 10.{vlan}.0.1/23
  fabric forwarding mode anycast-gateway
"""


def test_the_anycast_gateway_of_a_network_that_one_leaf_has_is_its_own() -> None:
    """All leaves have two networks, one has a third: its gateway is an address of the site, not of a service outside."""
    vlans = {n: (30, 31, 32) if n == 2 else (30, 31) for n in (1, 2, 3, 4)}
    files = {
        f"leaf{n}.nxos/startup-config": f"hostname leaf{n}\n" + "".join(SVI.format(vlan=vlan) for vlan in its)
        for n, its in vlans.items()
    }
    assert not [line for line in heads(files) if "FAB289" in line]
