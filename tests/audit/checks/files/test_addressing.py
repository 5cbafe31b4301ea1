"""Addresses of several devices: one owner each, two ends to a link, management apart."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.audit.checks.files.duplicates import OneOwner
from fabric.audit.checks.reports.common import folded
from tests.audit.checks.files.helpers import SMALL, Case, but, network

# Two leaves that share what leaves share on purpose: a gateway as an ordinary address, the tunnel address of a pair, a
# rendezvous point; and two tenants with the same addresses.
PAIR = {
    "leaf1.eos": """\
hostname leaf1
interface Loopback0
   ip address 10.255.0.1/32
interface Loopback1
   ip address 10.254.0.1/32
interface Loopback9
   ip address 10.253.0.1/32
interface Vlan10
   vrf red
   ip address 10.10.0.1/24
interface Vlan20
   vrf blue
   ip address 10.20.0.2/24
   ip virtual-router address 10.20.0.1
interface Ethernet7
   vrf red
   ip address 10.7.0.0/31
interface Ethernet8
   vrf blue
   ip address 10.7.0.0/31
interface Vxlan1
   vxlan source-interface Loopback1
router bgp 65001
   router-id 10.255.0.1
""",
    "leaf2.nxos": """\
hostname leaf2
feature bgp
interface loopback0
  ip address 10.255.0.2/32
interface loopback1
  ip address 10.254.0.2/32
  ip address 10.254.0.1/32 secondary
interface loopback9
  ip address 10.253.0.1/32
interface Vlan10
  vrf member red
  ip address 10.10.0.1/24
interface nve1
  source-interface loopback1
router bgp 65002
  router-id 10.255.0.2
""",
    "leaf3.junos": """\
set system host-name leaf3
set interfaces irb unit 10 family inet address 10.10.0.1/24
set routing-instances red instance-type vrf
set routing-instances red interface irb.10
set interfaces lo0 unit 0 family inet address 10.255.0.3/32
set interfaces lo0 unit 0 family inet address 10.253.0.1/32
""",
}
TWIN = "interface Vlan20\n  vrf member blue\n  ip address 10.20.0.2/24\n"
# A link into a tenant of a leaf, and out of the default table of a router.
HANDOFF = {
    "leaf1.eos": "interface Ethernet9\n   description core1 Ethernet1\n   vrf red\n   ip address 10.9.0.0/31\n",
    "core1.eos": "interface Ethernet1\n   description leaf1 Ethernet9\n   ip address 10.9.0.1/31\n",
}

CASES: Mapping[tuple[str, str], Case] = {
    ("FAB252", "each address has one owner"): (SMALL, []),
    ("FAB252", "shared on purpose"): (PAIR, []),
    ("FAB252", "a loopback that was copied"): (
        but(SMALL, {"leaf2.nxos": {"address 10.255.0.2/32": "address 10.255.0.1/32"}}),
        [
            "leaf1.eos:16: error[FAB252]: leaf1: Loopback0: 10.255.0.1 is also configured on leaf2 loopback0 (leaf2.nxos:16)",
            "leaf2.nxos:16: error[FAB252]: leaf2: loopback0: 10.255.0.1 is also configured on leaf1 Loopback0 (leaf1.eos:16)",
        ],
    ),
    ("FAB252", "an IPv6 address, however it is spelled"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"   ip address 10.0.0.1/31": "   ipv6 address fd00::5/127"},
                "spine1.junos": {"family inet address 10.0.0.2/31": "family inet6 address FD00:0:0::5/127"},
            },
        ),
        [
            "leaf1.eos:14: error[FAB252]: leaf1: Ethernet1: fd00::5 is also configured on spine1 et-0/0/2 (spine1.junos:14)",
            "spine1.junos:14: error[FAB252]: spine1: et-0/0/2: fd00::5 is also configured on leaf1 Ethernet1 (leaf1.eos:14)",
        ],
    ),
    ("FAB252", "twice on one device"): (
        but(SMALL, {"spine1.junos": {"10.0.0.2/31": "10.0.0.0/31"}}),
        [
            "spine1.junos:14: error[FAB252]: spine1: et-0/0/2: 10.0.0.0 is also configured on spine1 "
            "et-0/0/1 (spine1.junos:10)",
        ],
    ),
    ("FAB252", "the tunnel address of three"): (
        but(
            PAIR,
            {"leaf3.junos": {"10.253.0.1/32\n": "10.254.0.1/32\nset switch-options vtep-source-interface lo0.0\n"}},
        ),
        [
            "leaf1.eos:5: error[FAB252]: leaf1: Loopback1: 10.254.0.1 is also configured on leaf2 loopback1 (leaf2.nxos:7)",
            "leaf2.nxos:7: error[FAB252]: leaf2: loopback1: 10.254.0.1 is also configured on leaf1 Loopback1 (leaf1.eos:5)",
            "leaf3.junos:6: error[FAB252]: leaf3: lo0: 10.254.0.1 is also configured on leaf1 Loopback1 (leaf1.eos:5)",
        ],
    ),
    ("FAB252", "own addresses beside a virtual router"): (
        but(
            PAIR,
            {
                "leaf2.nxos": {
                    "interface nve1": "interface Vlan20\n  vrf member blue\n  ip address 10.20.0.2/24\ninterface nve1"
                }
            },
        ),
        [
            "leaf1.eos:13: error[FAB252]: leaf1: Vlan20: 10.20.0.2 is also configured on leaf2 Vlan20 (leaf2.nxos:15)",
            "leaf2.nxos:15: error[FAB252]: leaf2: Vlan20: 10.20.0.2 is also configured on leaf1 Vlan20 (leaf1.eos:13)",
        ],
    ),
    ("FAB253", "two ends each"): (SMALL, []),
    ("FAB253", "the other end is in another table"): (HANDOFF, []),
    ("FAB253", "a server's end is in no file"): (
        but(HANDOFF, {"leaf1.eos": {"core1 Ethernet1": "gpu-0001"}, "core1.eos": {"10.9.0.1/31": "10.8.0.1/24"}}),
        [],
    ),
    ("FAB253", "one end has another address"): (
        but(SMALL, {"leaf1.eos": {"10.0.0.1/31": "10.0.1.1/31"}}),
        [
            "leaf1.eos:14: error[FAB253]: leaf1: Ethernet1: 10.0.1.1/31 is the only address in "
            "10.0.1.0/31; spine1, named in the description, has no address in this subnet",
            "spine1.junos:10: error[FAB253]: spine1: et-0/0/1: 10.0.0.0/31 is the only address in "
            "10.0.0.0/31; leaf1, named in the description, has no address in this subnet",
        ],
    ),
    ("FAB253", "one end takes the subnet for a larger one"): (
        but(SMALL, {"leaf1.eos": {"10.0.0.1/31": "10.0.0.1/30"}}),
        [
            "leaf1.eos:14: error[FAB253]: leaf1: Ethernet1: 10.0.0.1/30 and 10.0.0.0/31 on spine1 "
            "et-0/0/1 (spine1.junos:10) have different prefix lengths",
            "spine1.junos:10: error[FAB253]: spine1: et-0/0/1: 10.0.0.0/31 and 10.0.0.1/30 on leaf1 "
            "Ethernet1 (leaf1.eos:14) have different prefix lengths",
        ],
    ),
    ("FAB253", "a third in the subnet"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"10.0.0.1/31": "10.0.0.1/30"},
                "leaf2.nxos": {"10.0.0.3/31": "10.0.0.2/30"},
                "spine1.junos": {"10.0.0.0/31": "10.0.0.3/30", "10.0.0.2/31": "10.0.0.5/30"},
            },
        ),
        [
            "leaf1.eos:14: error[FAB253]: leaf1: Ethernet1: 10.0.0.1/30 is one of 3 addresses in "
            "10.0.0.0/30; also on leaf2 Ethernet1/1, spine1 et-0/0/1",
            "leaf2.nxos:13: error[FAB253]: leaf2: Ethernet1/1: 10.0.0.2/30 is one of 3 addresses in "
            "10.0.0.0/30; also on leaf1 Ethernet1, spine1 et-0/0/1",
            "spine1.junos:10: error[FAB253]: spine1: et-0/0/1: 10.0.0.3/30 is one of 3 addresses in "
            "10.0.0.0/30; also on leaf1 Ethernet1, leaf2 Ethernet1/1",
            "spine1.junos:14: error[FAB253]: spine1: et-0/0/2: 10.0.0.5/30 is the only address in "
            "10.0.0.4/30; leaf2, named in the description, has no address in this subnet",
        ],
    ),
    ("FAB253", "a third with the address of another is left to FAB252"): (
        but(SMALL, {"leaf2.nxos": {"ip address 10.0.0.3/31": "ip address 10.0.0.1/31"}}),
        [
            "spine1.junos:14: error[FAB253]: spine1: et-0/0/2: 10.0.0.2/31 is the only address in "
            "10.0.0.2/31; leaf2, named in the description, has no address in this subnet",
        ],
    ),
    ("FAB288", "a VRF of its own, as each vendor calls it"): (SMALL, []),
    ("FAB288", "in the table of the fabric"): (
        but(
            SMALL,
            {
                "leaf1.eos": {"   vrf MGMT\n": ""},
                "leaf2.nxos": {"interface mgmt0\n  vrf member management\n": "interface mgmt0\n"},
                "spine1.junos": {"set system management-instance\n": ""},
            },
        ),
        [
            "leaf1.eos:7: note[FAB288]: leaf1: Management1: management port in the default VRF",
            "spine1.junos:5: note[FAB288]: spine1: re0:mgmt-0: management port in the default VRF",
        ],
    ),
}


def test_an_address_with_two_owners_is_one_line() -> None:
    """Its message names both places."""
    files = {f"leaf{n}.eos": f"hostname leaf{n}\ninterface Loopback0\n   ip address 10.9.9.9/32\n" for n in (1, 2)}
    found = [one for one in OneOwner().run(network(files)) if one.id == "FAB252"]
    assert [one.device for one in found] == ["leaf1", "leaf2"]
    (line,) = folded(found)
    assert (line.device, line.message) == (
        "leaf1, leaf2",
        "10.9.9.9 is configured on leaf1 Loopback0 (leaf1.eos:3), leaf2 Loopback0 (leaf2.eos:3)",
    )
