"""EOS as people write it: short names of interfaces, tabs, a VNI for two VLANs or for none."""

from __future__ import annotations

import pytest

from fabric.nos.eos.read.device import read
from fabric.nos.eos.statements import port_name
from tests.nos.undefined import undefined_in

NAMES = {
    "Ethernet1": "Ethernet1",
    "ethernet 1/1": "Ethernet1/1",
    "Et49/1": "Ethernet49/1",
    "lo0": "Loopback0",
    "vxlan 1": "Vxlan1",
    "Vlan4094": "Vlan4094",
    "ma1": "Management1",
    "po10": "Port-Channel10",
    "Dps1": "Dps1",
    "10.0.0.1": "10.0.0.1",
    "": "",
}

WRITTEN = """\
interface loopback 0
   ip address 10.255.0.1/32
interface vxlan 1
   vxlan source-interface lo0
   vxlan vlan 12 vni 10021
   vxlan vlan 21 vni 10021
router bgp 65001
   neighbor 10.255.0.100 remote-as 65000
   neighbor 10.255.0.100 update-source lo0
   vlan 12
      rd 10.255.0.1:12
   address-family evpn
  \tneighbor 10.255.0.100 activate
"""


@pytest.mark.parametrize("written", NAMES)
def test_a_name_is_that_of_the_switch(written: str) -> None:
    assert port_name(written) == NAMES[written]


def test_short_names_and_tabs_are_read() -> None:
    facts = read("leaf1", {"leaf1": WRITTEN})
    peer = facts.bgp[""].neighbors["10.255.0.100"]
    assert list(facts.interfaces) == ["Loopback0", "Vxlan1"]
    assert facts.vtep
    assert peer.source
    assert (facts.vtep.value, peer.source.value) == ("Loopback0", "Loopback0")
    assert [family.value for family in peer.families] == ["ipv4", "evpn"]


def test_a_vni_of_two_vlans_leaves_one_without() -> None:
    facts = read("leaf1", {"leaf1": WRITTEN})
    assert [(parsed.line, parsed.value) for parsed in facts.conflicts] == [
        (5, "VNI 10021 is that of VLAN 21 too"),
        (6, "VNI 10021 is that of VLAN 12 too"),
    ]


def test_an_instance_without_any_tunnel_needs_no_vni() -> None:
    text = "vlan 12\nrouter bgp 65001\n   vlan 12\n      rd 10.255.0.1:12\n"
    assert undefined_in("eos", {"pe1.cfg": text}) == []
    tunnel = "interface Vxlan1\n   vxlan vlan 13 vni 10013\n"
    assert [one.value for one in undefined_in("eos", {"pe1.cfg": text + tunnel})] == ["VNI of VLAN 12", "VLAN 13"]


@pytest.mark.parametrize(
    ("words", "extended"), [("", False), (" default send-community", True), (" default send-community standard", False)]
)
def test_communities_of_all_neighbors(words: str, extended: bool) -> None:
    text = "router bgp 65001\n   neighbor 10.0.0.1 remote-as 65000\n" + (f"   neighbor{words}\n" if words else "")
    peer = read("leaf1", {"leaf1": text}).bgp[""].neighbors["10.0.0.1"]
    assert peer.extended
    assert peer.extended.value is extended
