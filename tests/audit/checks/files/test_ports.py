"""Ports: both ends of a cable alike."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import SMALL, Case, but

SLICES = {
    "leaf1.eos": """\
interface Ethernet1.11
   encapsulation dot1q vlan 11
   vrf red
   ip address 10.0.0.1/31
""",
    "core1.nxos": """\
interface Ethernet1/1.11
  encapsulation dot1q 11
  vrf member red
  ip address 10.0.0.0/31
""",
}
# Links without addresses: only the descriptions of both ends tell where the cable goes; glued as some tools write them.
NAMED = {
    "leaf1.eos": "interface Ethernet1\n   description P2P_spine1_Ethernet4\n   mtu 9214\n   speed 400g\n   ipv6 enable\n",
    "spine1.eos": "interface Ethernet4\n   description P2P_leaf1_Ethernet1\n   mtu 9214\n   speed 400g\n   ipv6 enable\n",
}
SERVERS = {
    "leaf1.eos": "".join(f"interface Ethernet{n}\n   mtu 9164\n   ip address 10.8.0.{2 * n}/31\n" for n in range(1, 7)),
}
BOTH_MTU = {"leaf1.eos": {"mtu 9214": "mtu 9000"}}

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB254", "alike, however the vendors count"): (SMALL, []),
    ("FAB254", "one end of many"): (
        but(SMALL, {"leaf1.eos": {"mtu 9214": "mtu 1500"}}),
        [
            "leaf1.eos:12: error[FAB254]: leaf1: Ethernet1: MTU 1500, but 9214 at spine1 et-0/0/1 (spine1.junos:9)",
        ],
    ),
    ("FAB254", "neither end is usual"): (
        but(NAMED, {"leaf1.eos": {"mtu 9214": "mtu 9000"}}),
        [
            "leaf1.eos:3: error[FAB254]: leaf1: Ethernet1: MTU 9000, but 9214 at spine1 Ethernet4 (spine1.eos:3)",
            "spine1.eos:3: error[FAB254]: spine1: Ethernet4: MTU 9214, but 9000 at leaf1 Ethernet1 (leaf1.eos:3)",
        ],
    ),
    ("FAB254", "a port of many of its kind"): (
        but(SERVERS, {"leaf1.eos": {"mtu 9164\n   ip address 10.8.0.4/31": "mtu 1500\n   ip address 10.8.0.4/31"}}),
        [
            "leaf1.eos:5: warning[FAB254]: leaf1: Ethernet2: MTU 1500, but 9164 on 5 other ports of the same kind",
        ],
    ),
    ("FAB254", "a port of its kind that is shut"): (
        but(
            SERVERS,
            {"leaf1.eos": {"mtu 9164\n   ip address 10.8.0.4/31": "mtu 1500\n   shutdown\n   ip address 10.8.0.4/31"}},
        ),
        [],
    ),
    ("FAB270", "one tag"): (SLICES, []),
    ("FAB270", "two tags"): (
        but(SLICES, {"core1.nxos": {"dot1q 11": "dot1q 12"}}),
        [
            "leaf1.eos:2: error[FAB270]: leaf1: Ethernet1.11: VLAN tag 11, but 12 at core1 Ethernet1/1.11 (core1.nxos:2)",
        ],
    ),
    ("FAB271", "on at both ends"): (SMALL, []),
    ("FAB271", "shut at one end"): (
        but(SMALL, {"leaf1.eos": {"   no shutdown": "   shutdown"}}),
        [
            "leaf1.eos:11: error[FAB271]: leaf1: Ethernet1: shut down, but spine1 et-0/0/1 at the far end is enabled",
        ],
    ),
    ("FAB271", "shut at both ends"): (
        but(
            NAMED,
            {
                "leaf1.eos": {"   speed 400g\n": "   speed 400g\n   shutdown\n"},
                "spine1.eos": {"   speed 400g\n": "   speed 400g\n   shutdown\n"},
            },
        ),
        [],
    ),
    ("FAB271", "two speeds"): (
        but(NAMED, {"leaf1.eos": {"400g": "200g"}}),
        [
            "leaf1.eos:4: error[FAB271]: leaf1: Ethernet1: 200G, but 400G at spine1 Ethernet4 (spine1.eos:4)",
        ],
    ),
    ("FAB279", "each names the other"): (SMALL, []),
    ("FAB279", "a server is no device that was read"): (but(SMALL, {"leaf1.eos": {"spine1 et-0/0/1": "gpu-0001"}}), []),
    ("FAB279", "another device's name"): (
        but(SMALL, {"leaf1.eos": {"spine1 et-0/0/1": "to leaf2 Ethernet1/1"}}),
        [
            "leaf1.eos:10: warning[FAB279]: leaf1: Ethernet1: the description names leaf2, but the subnet "
            "leads to spine1 et-0/0/1 (spine1.junos:10)",
        ],
    ),
}
