"""OSPF and IS-IS at two ends of a link, by interface and by network statement, on EOS, FRR, NX-OS and Cumulus Linux."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, network

EOS = """\
hostname {name}
interface Ethernet1
   description {far} Ethernet1
   no switchport
   ip address 10.0.0.{number}/31
{lines}router ospf 1
   router-id 10.255.0.{number}
{process}end
"""
FRR = """\
frr version 8.4
hostname {name}
interface swp1
 description {far} swp1
 ip address 10.0.0.{number}/31
{lines}exit
router ospf
 ospf router-id 10.255.0.{number}
{process}exit
"""


def pair(form: str, end: str, one: str, other: str, process: tuple[str, str] = ("", "")) -> Files:
    return {
        f"{name}.{end}": form.format(name=name, far=far, number=number, lines=lines, process=own)
        for name, far, number, lines, own in (
            ("leaf1", "leaf2", 0, one, process[0]),
            ("leaf2", "leaf1", 1, other, process[1]),
        )
    }


def isis(head: str, one: str, other: str, line: str = "") -> Files:
    """Two ends with IS-IS on FRR: lines of their processes, and one of the interface of the first."""
    return {
        f"{name}.frr": (
            f"{head}hostname {name}\ninterface swp1\n description {far} swp1\n ip address 10.0.0.{number}/31\n"
            f" ip router isis UNDERLAY\n{more}exit\nrouter isis UNDERLAY\n{own}"
            f" net 49.0001.0000.0000.000{number + 1}.00\nexit\n"
        )
        for name, far, number, own, more in (("leaf1", "leaf2", 0, one, line), ("leaf2", "leaf1", 1, other, ""))
    }


NXOS = """\
version 9.3(10)
hostname {name}
feature ospf
feature isis
router ospf 1
{process}router isis UNDERLAY
  net 49.0001.0000.0000.000{number}.00
interface Ethernet1/1
  description {far} Ethernet1/1
  no switchport
  ip address 10.0.0.{number}/31
{lines}"""
JUNOS = """\
set system host-name {name}
set interfaces et-0/0/0 description "{far} et-0/0/0"
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.{number}/31
{lines}{process}"""
NVUE = """\
- set:
    system:
      hostname: {name}
    interface:
      swp1:
        type: swp
        description: {far} swp1
        ip:
          address:
            10.0.0.{number}/31: {{}}
        router:
          ospf:
            area: 0.0.0.0
{lines}"""
AREA = "   ip ospf area 0.0.0.0\n"
P2P = AREA + "   ip ospf network point-to-point\n"
NETWORK = ("   network 10.0.0.0/24 area 0.0.0.0\n", "   network 10.0.0.0/24 area 0.0.0.1\n")
PAIRS: Mapping[str, tuple[Files, list[str]]] = {
    "the same": (pair(EOS, "eos", P2P, P2P), []),
    "one end broadcast by default": (
        pair(EOS, "eos", P2P, AREA),
        ["error[FAB2508]: leaf1: Ethernet1: network type point-to-point, but broadcast at leaf2 Ethernet1"],
    ),
    "areas by network": (
        pair(EOS, "eos", "", "", NETWORK),
        ["error[FAB2508]: leaf1: Ethernet1: area 0.0.0.0, but 0.0.0.1 at leaf2 Ethernet1 (leaf2.eos:8)"],
    ),
    "the same area by network and by interface": (pair(EOS, "eos", AREA, "", ("", NETWORK[0])), []),
    "the same area by a wildcard": (
        pair(EOS, "eos", "", "", (NETWORK[0], "   network 10.0.0.0 0.0.0.255 area 0.0.0.0\n")),
        [],
    ),
    "no network at one end": (
        pair(EOS, "eos", "", "", (NETWORK[0], "   network 10.9.0.0/24 area 0.0.0.0\n")),
        [],
    ),
    "authentication at one end": (
        pair(EOS, "eos", AREA + "   ip ospf authentication message-digest\n", AREA),
        ["error[FAB2508]: leaf1: Ethernet1: authentication message-digest, but none at leaf2 Ethernet1"],
    ),
    "another cost": (
        pair(EOS, "eos", AREA + "   ip ospf cost 100\n", AREA + "   ip ospf cost 10\n"),
        ["note[FAB2508]: leaf1: Ethernet1: metric 100, but 10 at leaf2 Ethernet1 (leaf2.eos:7)"],
    ),
    "hello of one end": (
        pair(EOS, "eos", AREA + "   ip ospf hello-interval 5\n", AREA),
        ["error[FAB2508]: leaf1: Ethernet1: hello interval 5, but 10 at leaf2 Ethernet1"],
    ),
    "areas by network, FRR": (
        pair(FRR, "frr", "", "", (" network 10.0.0.0/31 area 0\n", " network 10.0.0.0/24 area 1\n")),
        ["error[FAB2508]: leaf1: swp1: area 0.0.0.0, but 0.0.0.1 at leaf2 swp1 (leaf2.frr:9)"],
    ),
    "levels, FRR": (
        pair(
            FRR,
            "frr",
            " ip router isis UNDERLAY\n isis circuit-type level-1\n",
            " ip router isis UNDERLAY\n isis circuit-type level-2-only\n",
        ),
        ["error[FAB2508]: leaf1: swp1: level-1, but level-2-only at leaf2 swp1 (leaf2.frr:7)"],
    ),
    "an MTU at one end": (
        pair(EOS, "eos", AREA + "   mtu 9214\n", AREA),
        ["error[FAB2508]: leaf1: Ethernet1: MTU 9214, but the default at leaf2 Ethernet1: OSPF stays in ExStart"],
    ),
    "an MTU at one end, ignored": (
        pair(EOS, "eos", AREA + "   mtu 9214\n", AREA + "   ip ospf mtu-ignore\n"),
        [],
    ),
    "authentication by area and by interface": (
        pair(
            EOS,
            "eos",
            AREA + "   ip ospf authentication message-digest\n",
            AREA,
            ("", "   area 0.0.0.0 authentication message-digest\n"),
        ),
        [],
    ),
    "authentication of an area at one end": (
        pair(EOS, "eos", AREA, AREA, ("", "   area 0.0.0.0 authentication message-digest\n")),
        ["error[FAB2508]: leaf2: Ethernet1: authentication message-digest, but none at leaf1 Ethernet1"],
    ),
    "MTU of OSPF, NX-OS": (
        pair(NXOS, "nxos", "  ip router ospf 1 area 0\n  mtu 9000\n", "  ip router ospf 1 area 0\n"),
        ["error[FAB2508]: leaf1: Ethernet1/1: MTU 9000, but the default at leaf2 Ethernet1/1: OSPF stays in ExStart"],
    ),
    "authentication of IS-IS, NX-OS": (
        pair(
            NXOS,
            "nxos",
            "  ip router isis UNDERLAY\n  isis authentication-type md5 level-2\n",
            "  ip router isis UNDERLAY\n",
        ),
        ["error[FAB2508]: leaf1: Ethernet1/1: authentication message-digest, but none at leaf2 Ethernet1/1"],
    ),
    "levels of processes, Junos": (
        pair(
            JUNOS,
            "junos",
            "set protocols isis interface et-0/0/0.0\n",
            "set protocols isis interface et-0/0/0.0\n",
            ("set protocols isis level 1 disable\n", "set protocols isis level 2 disable\n"),
        ),
        ["error[FAB2508]: leaf1: et-0/0/0: level-2-only, but level-1-only at leaf2 et-0/0/0 (leaf2.junos:5)"],
    ),
    "IS-IS point to point, Junos": (
        pair(
            JUNOS,
            "junos",
            "set protocols isis interface et-0/0/0.0 point-to-point\n",
            "set protocols isis interface et-0/0/0.0\n",
        ),
        ["error[FAB2508]: leaf1: et-0/0/0: network type point-to-point, but broadcast at leaf2 et-0/0/0"],
    ),
    "authentication, NVUE": (
        pair(NVUE, "cumulus", "            authentication:\n              message-digest-key: 1\n", ""),
        ["error[FAB2508]: leaf1: swp1: authentication message-digest, but none at leaf2 swp1"],
    ),
    "levels of processes, FRR": (
        isis("frr version 8.4\n", " is-type level-1\n", " is-type level-2-only\n"),
        ["error[FAB2508]: leaf1: swp1: level-1, but level-2-only at leaf2 swp1 (leaf2.frr:9)"],
    ),
    "a level of a process and both": (isis("frr version 8.4\n", " is-type level-2-only\n", ""), []),
    "metric styles, FRR": (
        isis("frr version 8.4\n", " metric-style narrow\n", ""),
        ["error[FAB2508]: leaf1: swp1: narrow metrics, but wide at leaf2 swp1"],
    ),
    "a metric style for both": (isis("frr version 8.4\n", " metric-style narrow\n", " metric-style transition\n"), []),
    "password of IS-IS at one end": (
        isis("frr version 8.4\n", "", "", " isis password md5 secret\n"),
        ["error[FAB2508]: leaf1: swp1: authentication message-digest, but none at leaf2 swp1"],
    ),
    "network type of IS-IS at one end": (
        isis("frr version 8.4\n", "", "", " isis network point-to-point\n"),
        ["error[FAB2508]: leaf1: swp1: network type point-to-point, but broadcast at leaf2 swp1"],
    ),
}


@pytest.mark.parametrize("case", PAIRS)
def test_both_ends(case: str) -> None:
    files, expected = PAIRS[case]
    found, _ = check_network(network(files))
    lines = [str(one).split("\n", 1)[0].partition(" ")[2] for one in found if one.id == "FAB2508"]
    assert lines == expected
