"""Networks that others built: what is usual there and no mistake, and mistakes that look usual."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.audit.checks.files.helpers import SMALL, Files, but, says

PEER_LINK = "hostname {n}\ninterface Vlan4094\n   ip address 192.168.0.{h}/31\n"
VIRTUAL = "hostname {n}\ninterface Management1\n   vrf MGMT\n   ip address 10.0.0.15/24\nvrf instance MGMT\n"
PLANE = "hostname {n}\n" + "".join(f"interface Ethernet{i}\n   ip address 10.0.{i}.0/31\n" for i in range(1, 5))
PAIR = """\
hostname {n}
interface Loopback0
   ip address 10.255.0.{i}/32
interface Loopback1
   ip address 10.254.0.1/32
interface Vxlan1
   vxlan source-interface Loopback1
router bgp 65000
   router-id 10.255.0.{i}
"""
TUNNEL = "interface Loopback1\n   ip address 10.254.0.1/32\ninterface Vxlan1\n   vxlan source-interface Loopback1\n"
UNNUMBERED = """\
hostname {n}
router bgp {asn}
 no bgp default ipv4-unicast
 neighbor swp1 interface remote-as external
 neighbor 10.255.0.{other} remote-as external
 neighbor 10.255.0.{other} update-source lo
 address-family ipv4 unicast
  neighbor swp1 activate
 address-family l2vpn evpn
  neighbor 10.255.0.{other} activate
interface swp1
 description {far} swp1
interface lo
 ip address 10.255.0.{own}/32
"""
MLAG = """\
hostname {n}
interface Vlan4094
   ip address 192.168.0.{h}/31
router bgp {asn}
   neighbor 192.168.0.{o} remote-as {asn}
"""
CONTAINER = """\
set interfaces irb unit 600 family inet address 10.1.0.1/24
set protocols bgp group PE local-address 10.9.0.1
set protocols bgp group PE neighbor 10.9.0.2
set switch-options vtep-source-interface lo.0
set system host-name pe1
"""
LISTENER = """\
hostname cdn1
router bgp 1
 neighbor G peer-group
 neighbor G remote-as external
 bgp listen range 10.9.0.0/24 peer-group G
 bgp listen range fd00:9::/64 peer-group G
 address-family ipv6
  neighbor G activate
interface eth1
 ip address 10.9.0.1/24
 ipv6 address fd00:9::1/64
"""
CROSSED = """\
hostname leaf{n}
vrf red
 vni 7
router bgp 6500{n} vrf red
 address-family l2vpn evpn
  route-target import 6500{other}:7
router bgp 6500{n}
"""
FRAGMENT = "hostname {n}\nrouter bgp {asn}\n   neighbor {peer} remote-as {far}\n   neighbor {peer} update-source Loopback0\n"
FRR = "hostname r1\nrouter bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n neighbor 10.0.0.1 update-source 10.0.0.2\n"
HAND = "hostname r2\nrouter bgp 65002\n neighbor 10.0.0.2 remote-as 65001\ninterface swp1\n ip address 10.0.0.1/31\n"
MAPPED = (
    "   neighbor 10.0.0.0 route-map RM in\n   neighbor 10.0.0.0 route-map RM out\n   redistribute connected route-map RM\n"
)
LEAF = """\
hostname {n}
interface Ethernet1
   mtu {mtu}
   ip address 10.0.0.{h}/31
interface Vlan10
   vrf red
   mtu 9214
interface Vlan20
   vrf red
   mtu 9214
interface Loopback1
   ip address 10.254.0.{h}/32
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vrf red vni 50001
vrf instance red
router bgp 65000
   vrf red
      route-target import evpn 65000:{rt}
"""

ANYCAST = """\
hostname {n}
feature nv overlay
interface loopback0
  ip address 10.255.0.{i}/32
  ip address 10.254.0.1/32 secondary
interface nve1
  source-interface loopback0
router bgp 65000
  router-id 10.255.0.{i}
  neighbor 10.255.0.9
    remote-as 65000
    update-source loopback0
"""
BORROWED = """\
hostname r1
interface lo
 ip address 10.255.0.1/32
interface swp1
 ip address 10.255.0.1/32
interface swp2
 ip address 10.255.0.1/{length}
"""
LISTENER = """\
hostname r2
router bgp 65002
 neighbor 10.0.0.2 remote-as 65001
 neighbor 10.0.0.2 update-source 10.0.0.1
interface lo
 ip address 10.255.0.2/32
"""
TENANT = """\
hostname {n}
vrf instance {vrf}
interface Loopback1
   ip address 10.254.0.{h}/32
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vrf {vrf} vni 50001
"""
TARGETS = "router bgp 65000\n   vrf {vrf}\n      route-target import evpn 65000:{rt}\n"
OVER = """\
hostname {n}
interface Ethernet1
   ip address 10.0.0.{port}/31
interface Loopback1
   ip address 10.254.0.{h}/32
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vlan 10 vni 10010
router bgp 65000
   neighbor 10.0.0.{spine} remote-as 65200
   neighbor 10.0.0.{spine} local-as 6510{h} no-prepend replace-as
"""
ABOVE = "hostname spine1\n" + "".join(
    f"interface Ethernet{h}\n   ip address 10.0.0.{2 * h}/31\n"
    f"router bgp 65200\n   neighbor 10.0.0.{2 * h + 1} remote-as {{{h}}}\n"
    for h in (1, 2)
)

SVI = "interface Vlan20\n   ip address 192.168.0.{}/31\n"


def pair(text: str, **fields: tuple[object, object]) -> Files:
    """Two leaves, each with its own of the two values of every field."""
    return {
        f"leaf{at + 1}.eos": text.format(n=f"leaf{at + 1}", **{name: values[at] for name, values in fields.items()})
        for at in (0, 1)
    }


def four(text: str, asns: tuple[int, ...] = (1, 1, 2, 2)) -> Files:
    """Two pairs with the same subnet."""
    return {
        f"leaf{at + 1}.eos": text.format(n=f"leaf{at + 1}", h=at % 2, o=1 - at % 2, asn=65000 + asns[at]) for at in range(4)
    }


FRR_PAIR = {
    f"{name}.frr": UNNUMBERED.format(n=name, far=far, asn=asn, own=own, other=other)
    for name, far, asn, own, other in (("r1", "r2", 65001, 1, 2), ("r2", "r1", 65002, 2, 1))
}

DUAL = """\
hostname r{n}
interface swp1
 ip address 10.0.0.{n}/30
 ipv6 address fd00::{n}/64
router bgp 6500{n}
 neighbor 10.0.0.{far} remote-as 6500{far}
 neighbor fd00::{far} remote-as 6500{far}
"""

IPV6 = " address-family ipv6\n"

# Check and what it looks at → files, findings without their hints.
FOREIGN: Mapping[tuple[str, str], tuple[Files, list[str]]] = {
    ("FAB253", "one subnet for the peer links of all pairs"): (four(PEER_LINK), []),
    ("FAB253", "one half of a pair with the other's address"): (
        four(PEER_LINK) | {"leaf2.eos": PEER_LINK.format(n="leaf2", h=0)},
        [
            f"leaf{n}.eos:3: error[FAB253]: leaf{n}: Vlan4094: 192.168.0.{h}/31 is one of 4 addresses in "
            f"192.168.0.0/31; also on "
            + ", ".join(f"leaf{m} Vlan4094" for m in (1, 2, 3, 4) if m != n)
            for n, h in ((1, 0), (2, 0), (3, 0), (4, 1))
        ],
    ),
    ("FAB256", "addresses of a far end that are in no file"): (
        {
            "leaf1.frr": FRAGMENT.format(n="leaf1", asn=1, peer="10.9.0.2", far=1),
            "s1.eos": FRAGMENT.format(n="s1", asn=1, peer="10.9.0.1", far=1)
            + "interface Loopback0\n   ip address 10.9.0.2/32\n",
        },
        ["s1.eos:3: note[FAB256]: s1: neighbor 10.9.0.1: address not assigned to any device in the files"],
    ),
    ("FAB257", "addresses of a container in its kernel"): ({"pe1.junos": CONTAINER}, []),
    ("FAB267", "addresses of a container in its kernel"): ({"pe1.junos": CONTAINER}, []),
    ("FAB257", "a switch with the lines of a container"): (
        {"pe1.junos": CONTAINER.replace("-interface lo.0", "-interface lo0.0")},
        ["pe1.junos:2: error[FAB257]: pe1: neighbor 10.9.0.2: local address 10.9.0.1 is not configured on this device"],
    ),
    ("FAB257", "a session from the address of a gateway"): (
        {
            "leaf1.eos": FRAGMENT.format(n="leaf1", asn=1, peer="10.9.0.2", far=2).replace("Loopback0", "10.9.0.1")
            + "interface Vlan10\n   ip address virtual 10.9.0.1/24\ninterface Ethernet1\n   ip address 10.8.0.1/31\n"
        },
        [],
    ),
    ("FAB259", "one listener for sessions of two families"): (
        {
            "cdn1.frr": LISTENER,
            "edge1.frr": "hostname edge1\nrouter bgp 2\n neighbor 10.9.0.1 remote-as 1\n neighbor fd00:9::1 remote-as 1\n"
            " address-family ipv6\n  no neighbor 10.9.0.1 activate\n  neighbor fd00:9::1 activate\n"
            "interface eth1\n ip address 10.9.0.2/24\n ipv6 address fd00:9::2/64\n",
        },
        [],
    ),
    ("FAB265", "each leaf imports what the other exports by itself"): (
        {f"leaf{n}.frr": CROSSED.format(n=n, other=3 - n) for n in (1, 2)},
        [],
    ),
    ("FAB265", "each leaf imports what no leaf exports"): (
        {f"leaf{n}.frr": CROSSED.format(n=n, other=n + 2) for n in (1, 2)},
        [
            f"leaf{n}.frr:6: error[FAB265]: leaf{n}: VRF red: import route targets 6500{n + 2}:7, but 6500{5 - n}:7 on the "
            "other leaves"
            for n in (1, 2)
        ],
    ),
    ("FAB255", "a session over a peer link is with the half that it is meant for"): (four(MLAG), []),
    ("FAB252", "virtual switches behind a NAT each"): (
        {f"leaf{n}.eos": VIRTUAL.format(n=f"leaf{n}") for n in (1, 2, 3)},
        [
            "leaf1.eos:4: note[FAB252]: leaf1: 10.0.0.15 is the management address of all 3 devices"
        ],
    ),
    ("FAB252", "two planes that never meet"): (
        {f"{n}.eos": PLANE.format(n=n) for n in ("p0-leaf1", "p1-leaf1")},
        [
            f"{one}.eos:3: error[FAB252]: {one}: Ethernet1: 4 addresses are also configured on {other}; "
            f"the first is 10.0.1.0 on {other} Ethernet1 ({other}.eos:3)"
            for one, other in (("p0-leaf1", "p1-leaf1"), ("p1-leaf1", "p0-leaf1"))
        ],
    ),
    ("FAB252", "a pair answers for one tunnel address"): (pair(PAIR, i=(1, 2)), []),
    ("FAB252", "the tunnel address of two pairs: the other pair is named, not the partner"): (
        four(MLAG + TUNNEL),
        [
            f"leaf{n}.eos:7: warning[FAB252]: leaf{n}: Loopback1: 10.254.0.1 is also configured on leaf{m} "
            f"Loopback1 (leaf{m}.eos:7)"
            for n, m in ((1, 3), (2, 3), (3, 1), (4, 1))
        ],
    ),
    ("FAB252", "a tunnel address that a leaf speaks BGP by"): (
        but(pair(PAIR, i=(1, 2)), {"leaf1.eos": {"router-id 10.255.0.1": "router-id 10.254.0.1"}}),
        [
            "leaf1.eos:5: error[FAB252]: leaf1: Loopback1: 10.254.0.1 is also configured on leaf2 "
            "Loopback1 (leaf2.eos:5)",
            "leaf2.eos:5: error[FAB252]: leaf2: Loopback1: 10.254.0.1 is also configured on leaf1 "
            "Loopback1 (leaf1.eos:5)",
        ],
    ),
    ("FAB252", "a pair answers for a secondary address"): (
        {f"leaf{i}.nxos": ANYCAST.format(n=f"leaf{i}", i=i) for i in (1, 2)}, []
    ),
    ("FAB252", "ports borrow the address of the loopback"): ({"r1.frr": BORROWED.format(length=32)}, []),
    ("FAB252", "one of the ports has a subnet"): ({"r1.frr": BORROWED.format(length=24)}, []),
    ("FAB252", "a port of a link with the address of the loopback"): (
        {"r1.frr": BORROWED.format(length=31).replace("swp1\n ip address 10.255.0.1/32", "swp1\n ip address 10.255.0.3/32")},
        [
            f"r1.frr:{line}: error[FAB252]: r1: {name}: 10.255.0.1 is also configured on r1 {other} (r1.frr:{there})"
            for line, name, other, there in ((3, "lo", "swp2", 7), (7, "swp2", "lo", 3))
        ],
    ),
    ("FAB252", "a gateway of hosts on three leaves, which advertise routes of hosts alone"): (
        {f"leaf{n}.frr": f"hostname leaf{n}\ninterface swp{n}\n ip address 172.16.1.1/24\n" for n in (1, 2, 3)},
        [
            f"leaf{n}.frr:3: warning[FAB252]: leaf{n}: swp{n}: 172.16.1.1 is also configured on leaf{o} swp{o} "
            f"(leaf{o}.frr:3)"
            for n, o in ((1, 2), (2, 1), (3, 1))
        ],
    ),
    ("FAB252", "two ports of a device with one subnet"): (
        {"r1.frr": BORROWED.format(length=24).replace("swp1\n ip address 10.255.0.1/32", "swp1\n ip address 10.255.0.1/24")},
        [
            f"r1.frr:{line}: error[FAB252]: r1: {name}: 10.255.0.1 is also configured on r1 {other} (r1.frr:{there})"
            for line, name, other, there in ((3, "lo", "swp1", 5), (5, "swp1", "lo", 3), (7, "swp2", "lo", 3))
        ],
    ),
    ("FAB256", "FRR whose kernel may have the address"): (
        {
            "r1.frr": FRR.replace(" neighbor 10.0.0.1 update-source 10.0.0.2\n", "interface lo\n ip address 10.255.0.1/32\n"),
            "r2.frr": "hostname r2\nrouter bgp 65002\ninterface lo\n ip address 10.255.0.2/32\n",
        },
        ["r1.frr:3: note[FAB256]: r1: neighbor 10.0.0.1: address not assigned to any device in the files"],
    ),
    ("FAB256", "the far end speaks from an address that is in no file"): (
        {"r1.frr": FRR.replace("10.0.0.2\n", "10.0.0.2\ninterface lo\n ip address 10.255.0.1/32\n"), "r2.frr": LISTENER}, []
    ),
    ("FAB265", "each leaf has a name of its own for a VRF"): (
        pair(TENANT, vrf=("red", "tenant-red"), h=(1, 2)),
        [
            f"leaf{n}.eos:7: warning[FAB265]: leaf{n}: VRF {name}: VNI 50001 is also assigned to VRF {other} on leaf{m} "
            f"(leaf{m}.eos:7)"
            for n, name, m, other in ((1, "red", 2, "tenant-red"), (2, "tenant-red", 1, "red"))
        ],
    ),
    ("FAB265", "two VRFs with the VNI of one"): (
        pair(TENANT + TARGETS, vrf=("red", "blue"), h=(1, 2), rt=(1, 2)),
        [
            f"leaf{n}.eos:7: error[FAB265]: leaf{n}: VRF {name}: VNI 50001 is also assigned to VRF {other} on leaf{m} "
            f"(leaf{m}.eos:7)"
            for n, name, m, other in ((1, "red", 2, "blue"), (2, "blue", 1, "red"))
        ],
    ),
    ("FAB2504", "the underlay shows other AS numbers"): (
        pair(OVER, port=(3, 5), spine=(2, 4), h=(1, 2)) | {"spine1.eos": ABOVE.format("", 65101, 65102)}, []
    ),
    ("FAB2504", "the underlay shows the AS number of both"): (
        {
            name: "\n".join(line for line in text.splitlines() if "local-as" not in line) + "\n"
            for name, text in pair(OVER, port=(3, 5), spine=(2, 4), h=(1, 2)).items()
        }
        | {"spine1.eos": ABOVE.format("", 65000, 65000)},
        [
            "leaf1.eos:9: error[FAB2504]: leaf1: AS number 65000 is also that of leaf2 behind spine1, "
            "and no session accepts it"
        ],
    ),
    ("FAB267", "half of a pair begins its tunnels elsewhere"): (
        but(pair(PAIR, i=(1, 2)), {"leaf2.eos": {"source-interface Loopback1": "source-interface Loopback0"}}),
        [
            "leaf2.eos:7: error[FAB267]: leaf2: tunnel source Loopback0, but the tunnel source address of "
            "leaf1 is on Loopback1 of this device"
        ],
    ),
    ("FAB267", "the address that a device speaks BGP by, which is left to FAB252"): (
        {
            "leaf1.eos": PAIR.format(n="leaf1", i=1),
            "leaf2.eos": PAIR.format(n="leaf2", i=2).replace("10.255.0.2", "10.254.0.1").replace("Loopback1", "Loopback2"),
        },
        [],
    ),
    ("FAB267", "an IPv6 address of the tunnel's interface on another device"): (
        {
            name: text.replace("10.254.0.1/32\n", f"10.254.0.{n}/32\n   ipv6 address fd00::{n}/128\n")
            + ("interface Loopback2\n   ipv6 address fd00::1/128\n" if n == 2 else "")
            for n, (name, text) in enumerate(pair(PAIR, i=(1, 2)).items(), 1)
        },
        [],
    ),
    ("FAB259", "a session of a cable beside one between loopbacks"): (FRR_PAIR, []),
    ("FAB259", "IPv6 at one end, beside a session over IPv6"): (
        {
            "r1.frr": DUAL.format(n=1, far=2) + IPV6 + "  neighbor fd00::2 activate\n  neighbor 10.0.0.2 activate\n",
            "r2.frr": DUAL.format(n=2, far=1) + IPV6 + "  neighbor fd00::1 activate\n",
        },
        [
            "r2.frr:6: warning[FAB259]: r2: neighbor 10.0.0.1: address family ipv6 is configured only on r1 (r1.frr:10)",
        ],
    ),
    ("FAB256", "IPv6 at one end is no half of the session over IPv4"): (
        {
            "r1.frr": DUAL.format(n=1, far=2),
            "r2.frr": DUAL.format(n=2, far=1).replace(" neighbor fd00::1 remote-as 65001\n", ""),
        },
        [
            "r2.frr:5: error[FAB256]: r2: BGP: no neighbor statement for r1, which has neighbor fd00::2 (r1.frr:7)",
        ],
    ),
    ("FAB256", "only the addresses of a fragment are missing"): (
        pair(FRAGMENT, asn=(65001, 65002), peer=("10.0.0.1", "10.0.0.0"), far=(65002, 65001)),
        [
            "leaf1.eos:3: note[FAB256]: leaf1: neighbor 10.0.0.1: address not assigned to any device in the files",
            "leaf2.eos:3: note[FAB256]: leaf2: neighbor 10.0.0.0: address not assigned to any device in the files",
        ],
    ),
    ("FAB257", "only the addresses of a fragment are missing"): (
        pair(FRAGMENT, asn=(65001, 65002), peer=("10.0.0.1", "10.0.0.0"), far=(65002, 65001)),
        [],
    ),
    ("FAB257", "FRR whose kernel may have the address"): (
        {"r1.frr": FRR + "interface lo\n ip address 10.255.0.1/32\n", "r2.frr": HAND},
        ["r1.frr:4: warning[FAB257]: r1: neighbor 10.0.0.1: local address 10.0.0.2 is not configured on this device"],
    ),
    ("FAB256", "the end of a session has an address of another link"): (
        but(SMALL, {"leaf1.eos": {"ip address 10.0.0.1/31": "ip address 10.0.0.5/31"}}),
        [
            "leaf1.eos:20: error[FAB256]: leaf1: neighbor 10.0.0.0: this address of spine1 et-0/0/1 is in "
            "no subnet of this device",
            "spine1.junos:21: error[FAB256]: spine1: neighbor 10.0.0.1: address not assigned to any known "
            "device; AS 65001 belongs to leaf1",
        ],
    ),
    ("FAB265", "a route target more"): (
        but(
            pair(LEAF, mtu=(9264, 9264), h=(0, 1), rt=(50001, 50001)),
            {"leaf2.eos": {"evpn 65000:50001\n": "evpn 65000:50001\n      route-target import evpn 65000:7\n"}},
        ),
        [
            "leaf1.eos:19: warning[FAB265]: leaf1: VRF red: import route targets 65000:50001, but 65000:50001, 65000:7 "
            "on the other leaves",
            "leaf2.eos:20: warning[FAB265]: leaf2: VRF red: import route targets 65000:50001, 65000:7, but 65000:50001 "
            "on the other leaves",
        ],
    ),
    ("FAB269", "larger than any host sends"): (
        pair(LEAF, mtu=(9214, 9214), h=(0, 1), rt=(1, 1)),
        [
            f"leaf{n}.eos:7: note[FAB269]: leaf{n}: Vlan10 and 1 more: MTU 9214 + 50 bytes (VXLAN) exceeds the "
            "MTU 9214 of the fabric links"
            for n in (1, 2)
        ],
    ),
    ("FAB269", "larger than the links"): (
        pair(LEAF, mtu=(1500, 1500), h=(0, 1), rt=(1, 1)),
        [
            f"leaf{n}.eos:7: error[FAB269]: leaf{n}: Vlan10 and 1 more: MTU 9214 + 50 bytes (VXLAN) exceeds the "
            "MTU 1500 of the fabric links"
            for n in (1, 2)
        ],
    ),
    ("FAB269", "a link whose ends differ, which FAB254 reports"): (
        pair(LEAF, mtu=(9264, 1500), h=(0, 1), rt=(1, 1)),
        [],
    ),
    ("FAB269", "VLAN interfaces that are shut down"): (
        {
            name: text.replace("   mtu 9214\n", "   mtu 9214\n   shutdown\n")
            for name, text in pair(LEAF, mtu=(1500, 1500), h=(0, 1), rt=(1, 1)).items()
        },
        [],
    ),
    ("FAB269", "VLAN interfaces with the default MTU of EOS"): (
        {name: text.replace("   mtu 9214\n", "") for name, text in pair(LEAF, mtu=(1500, 1500), h=(0, 1), rt=(1, 1)).items()},
        [
            f"leaf{n}.eos:5: error[FAB269]: leaf{n}: Vlan10 and 1 more: MTU 1500 + 50 bytes (VXLAN) exceeds the "
            "MTU 1500 of the fabric links"
            for n in (1, 2)
        ],
    ),
    ("FAB269", "the default MTU is that of `interface defaults`"): (
        {
            name: text.replace("   mtu 9214\n", "") + "interface defaults\n   mtu 1400\n"
            for name, text in pair(LEAF, mtu=(1500, 1500), h=(0, 1), rt=(1, 1)).items()
        },
        [],
    ),
    ("FAB269", "a peer link in a tenant with gateways"): (
        {
            name: text.replace(
                "Vlan10\n   vrf red\n   mtu 9214", "Vlan10\n   vrf red\n   mtu 1450\n   ip address virtual 10.9.0.1/24"
            )
            for name, text in (
                pair(LEAF, mtu=(1500, 1500), h=(0, 1), rt=(1, 1))  # unnumbered, or one subnet for the peer links of all
                | {
                    f"leaf{n}.eos": LEAF.format(n=f"leaf{n}", mtu=1500, h=n - 1, rt=1) + SVI.format(n % 2)
                    for n in (3, 4, 5, 6)
                }
            ).items()
        },
        [],
    ),
    ("FAB281", "one name on many lines"): (
        but(SMALL, {"leaf1.eos": {"maximum-routes 1000\n": "maximum-routes 1000\n" + MAPPED}}),
        ["leaf1.eos:24: error[FAB281]: leaf1: route-map RM is used here and on 2 more lines, but not defined"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FOREIGN, ids=" ".join)
def test_networks_of_others(case: tuple[str, str]) -> None:
    files, heads = FOREIGN[case]
    assert [messages.partition("\n")[0] for messages in says(case[0], files)] == heads
