"""Changes whose shortest commands a switch refuses, or takes more along than they say: running, intended, what is typed.

Each is typed at the model of the switch too, and back.
"""

from __future__ import annotations

import pytest

from fabric.audit.diff import remedy
from tests.audit.diff.candidate.trial import back, failures, load, wrong

VXLAN = "feature bgp\nfeature interface-vlan\nfeature vn-segment-vlan-based\nfeature nv overlay\nnv overlay evpn\n"
RED = (
    f"{VXLAN}vrf context red\n  vni 50001\n  rd 10.0.0.1:1\ninterface nve1\n  no shutdown\n  member vni 50001 associate-vrf\n"
)
BOND = (
    "feature lacp\nfeature vpc\nvpc domain 1\n  peer-switch\n"
    "interface port-channel1\n  switchport mode trunk\n  switchport trunk allowed vlan 100,200\n  vpc 1\n"
    "interface port-channel2\n  switchport mode trunk\n  switchport trunk allowed vlan 100,200\n  vpc 2\n"
    "interface Ethernet1/1\n  switchport mode trunk\n  switchport trunk allowed vlan 100,200\n  channel-group 1 mode active\n"
    "  no shutdown\n"
)
QOS = (
    "class-map type qos match-any ROCE\n  match dscp 26\n"
    "policy-map type qos IN\n  class ROCE\n    set qos-group 3\n"
    "policy-map type network-qos NETWORK\n  class type network-qos c-8q-nq3\n    mtu 9216\n    pause pfc-cos 3\n"
    "policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 60\n"
    "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 40\n"
    "system qos\n  service-policy type network-qos NETWORK\n  service-policy type queuing output OUT\n"
    "interface Ethernet1/1\n  service-policy type qos input IN\n"
)
ROUTED = "interface Ethernet1/1\n  no switchport\n  mtu 9216\n  no ip redirects\n  ip address 10.0.0.0/31\n  no shutdown\n"
BRIDGED = "interface Ethernet1/1\n  switchport access vlan 100\n  spanning-tree port type edge\n  mtu 9216\n  no shutdown\n"
LISTS = (
    "ip prefix-list A seq 10 permit 10.0.0.0/8\nip prefix-list A seq 20 permit 11.0.0.0/8\n"
    "route-map OUT permit 10\n  match ip address prefix-list A\n"
)
BGP = (
    "feature bgp\nrouter bgp 65001\n  router-id 10.0.0.1\n  template peer FABRIC\n    remote-as 65100\n"
    "  template peer OTHER\n    remote-as 65100\n  neighbor 10.0.0.1\n    inherit peer FABRIC\n    description spine\n"
)
NVE = f"{VXLAN}interface loopback1\n  ip address 10.0.1.1/32\ninterface loopback2\ninterface nve1\n  no shutdown\n"
NVE += "  host-reachability protocol bgp\n  source-interface loopback1\n"
SPLIT = (
    "interface breakout module 1 port 1 map 400g-2x\n"
    "interface Ethernet1/1/1\n  no switchport\n  ip address 10.0.0.0/31\ninterface Ethernet1/1/2\n  no switchport\n"
)
GATEWAY = (
    f"{VXLAN}feature fabric forwarding\nfabric forwarding anycast-gateway-mac 0000.2222.3333\n"
    "vrf context red\nvrf context blue\n"
    "interface Vlan100\n  vrf member red\n  ip address 172.20.0.1/24\n  fabric forwarding mode anycast-gateway\n"
)
EOS_VXLAN = (
    "vrf instance red\ninterface Vxlan1\n   vxlan vlan 100 vni 10001\n   vxlan vlan 200 vni 10002\n"
    "   vxlan vrf red vni 50001\n"
)
EOS_MEMBERS = (
    "interface Port-Channel1\ninterface Port-Channel2\ninterface Ethernet1\n   channel-group 1 mode active\n"
    "interface Ethernet2\n   channel-group 1 mode active\n"
)
EOS_BGP = (
    "vrf instance red\nrouter bgp 65001\n   router-id 10.0.0.1\n   neighbor FABRIC peer group\n   neighbor FABRIC bfd\n"
    "   neighbor 10.0.0.1 peer group FABRIC\n   neighbor 10.0.0.1 remote-as 65100\n   vlan 100\n      rd 10.0.0.1:100\n"
    "   address-family ipv4\n      neighbor 10.0.0.1 activate\n   vrf red\n      rd 10.0.0.1:1\n"
)


def swap(text: str, one: str, two: str) -> str:
    return text.replace(one, "\0").replace(two, one).replace("\0", two)


CASES = {
    "the VNI of a VLAN": (
        "nxos",
        f"{VXLAN}vlan 100\n  vn-segment 10001\n",
        f"{VXLAN}vlan 100\n  vn-segment 20100\n",
        "vlan 100|  no vn-segment|  vn-segment 20100",
    ),
    "two VLANs that exchange their VNIs": (
        "nxos",
        f"{VXLAN}vlan 100\n  vn-segment 10001\nvlan 200\n  vn-segment 10002\n",
        f"{VXLAN}vlan 100\n  vn-segment 10002\nvlan 200\n  vn-segment 10001\n",
        "vlan 100|  no vn-segment|vlan 200|  no vn-segment|  exit|vlan 100|  vn-segment 10002|vlan 200|  vn-segment 10001",
    ),
    "the VNI of a VRF": (
        "nxos",
        RED,
        RED.replace("50001", "50002"),
        "interface nve1|  no member vni 50001 associate-vrf|  exit|vrf context red|  no vni 50001|  vni 50002|"
        "interface nve1|  member vni 50002 associate-vrf",
    ),
    "a VLAN of two bonds' trunks": (
        "nxos",
        BOND,
        BOND.replace("100,200", "100,300"),
        "interface port-channel1|  switchport trunk allowed vlan 100,300|"
        "interface port-channel2|  switchport trunk allowed vlan 100,300",
    ),
    "a member of a bond with VLANs of its own": (
        "nxos",
        BOND.replace("vlan 100,200\n  channel-group", "vlan 100\n  channel-group"),
        BOND,
        "default interface Ethernet1/1|interface Ethernet1/1|  switchport mode trunk|"
        "  switchport trunk allowed vlan 100,200|  channel-group 1 mode active|  no shutdown",
    ),
    "a loopback that is enabled anyway": (
        "nxos",
        "interface loopback1\n  description VTEP\n  no shutdown\n",
        "interface loopback1\n  description L3 VNI\n",
        "interface loopback1|  description L3 VNI",
    ),
    "another bond": (
        "nxos",
        BOND,
        BOND.replace("channel-group 1", "channel-group 2"),
        "default interface Ethernet1/1|interface Ethernet1/1|  switchport mode trunk|"
        "  switchport trunk allowed vlan 100,200|  channel-group 2 mode active|  no shutdown",
    ),
    "two bonds that exchange their vPCs": (
        "nxos",
        BOND,
        swap(BOND, "  vpc 1\n", "  vpc 2\n"),
        "interface port-channel1|  no vpc 1|interface port-channel2|  no vpc 2|  exit|interface port-channel1|"
        "  vpc 2|interface port-channel2|  vpc 1",
    ),
    "another vPC domain": (
        "nxos",
        BOND,
        BOND.replace("vpc domain 1", "vpc domain 2"),
        "interface port-channel1|  no vpc 1|interface port-channel2|  no vpc 2|  exit|no vpc domain 1|"
        "vpc domain 2|  peer-switch|interface port-channel1|  vpc 1|interface port-channel2|  vpc 2",
    ),
    "a routed port that becomes a switched one": (
        "nxos",
        ROUTED,
        BRIDGED,
        "default interface Ethernet1/1|interface Ethernet1/1|  switchport access vlan 100|"
        "  spanning-tree port type edge|  mtu 9216|  no shutdown",
    ),
    "a switched port that becomes a routed one": (
        "nxos",
        BRIDGED,
        ROUTED,
        "default interface Ethernet1/1|interface Ethernet1/1|  no switchport|  mtu 9216|  no ip redirects|"
        "  ip address 10.0.0.0/31|  no shutdown",
    ),
    "a gateway that moves to another VRF": (
        "nxos",
        GATEWAY,
        GATEWAY.replace("member red", "member blue"),
        "interface Vlan100|  vrf member blue|  ip address 172.20.0.1/24|  fabric forwarding mode anycast-gateway",
    ),
    "another AS number": (
        "nxos",
        BGP,
        BGP.replace("bgp 65001", "bgp 65002"),
        "no router bgp 65001|router bgp 65002|  router-id 10.0.0.1|  template peer FABRIC|    remote-as 65100|"
        "  template peer OTHER|    remote-as 65100|  neighbor 10.0.0.1|    inherit peer FABRIC|"
        "    description spine",
    ),
    "the AS number of a template": (
        "nxos",
        BGP,
        BGP.replace("template peer FABRIC\n    remote-as 65100", "template peer FABRIC\n    remote-as 65200"),
        "router bgp 65001|  template peer FABRIC|    remote-as 65200",
    ),
    "a neighbor's other template": (
        "nxos",
        BGP,
        BGP.replace("inherit peer FABRIC", "inherit peer OTHER"),
        "router bgp 65001|  neighbor 10.0.0.1|    no inherit peer FABRIC|    inherit peer OTHER",
    ),
    "two entries of a list that change places": (
        "nxos",
        LISTS,
        swap(LISTS, "10.0.0.0/8", "11.0.0.0/8"),
        "no ip prefix-list A seq 10 permit 10.0.0.0/8|no ip prefix-list A seq 20 permit 11.0.0.0/8|"
        "ip prefix-list A seq 10 permit 11.0.0.0/8|ip prefix-list A seq 20 permit 10.0.0.0/8",
    ),
    "the lossless class of attached policies": (
        "nxos",
        QOS,
        QOS.replace("c-8q-nq3", "c-8q-nq4").replace("pfc-cos 3", "pfc-cos 4").replace("dscp 26", "dscp 30"),
        "system qos|  no service-policy type network-qos NETWORK|  exit|class-map type qos match-any ROCE|"
        "  no match dscp 26|  match dscp 30|policy-map type network-qos NETWORK|"
        "  no class type network-qos c-8q-nq3|  class type network-qos c-8q-nq4|    mtu 9216|    pause pfc-cos 4|"
        "system qos|  service-policy type network-qos NETWORK",
    ),
    "two queues that exchange their shares": (
        "nxos",
        QOS,
        swap(QOS, "percent 60", "percent 40"),
        "policy-map type queuing OUT|  class type queuing c-out-8q-q3|    no bandwidth remaining percent 60|"
        "  class type queuing c-out-8q-q-default|    no bandwidth remaining percent 40|    exit|  exit|"
        "policy-map type queuing OUT|  class type queuing c-out-8q-q3|    bandwidth remaining percent 40|"
        "  class type queuing c-out-8q-q-default|    bandwidth remaining percent 60",
    ),
    "an attached policy under another name": (
        "nxos",
        QOS,
        QOS.replace(" IN\n", " INPUT\n"),
        "policy-map type qos INPUT|  class ROCE|    set qos-group 3|interface Ethernet1/1|"
        "  no service-policy type qos input IN|  service-policy type qos input INPUT|  exit|"
        "no policy-map type qos IN",
    ),
    "features that go": (
        "nxos",
        RED,
        "feature bgp\n",
        "no interface nve1|no vrf context red|no nv overlay evpn|no feature nv overlay|"
        "no feature vn-segment-vlan-based|no feature interface-vlan",
    ),
    "the source of the tunnel": (
        "nxos",
        NVE,
        NVE.replace("source-interface loopback1", "source-interface loopback2"),
        "interface nve1|  shutdown|  exit|interface nve1|  source-interface loopback2|  no shutdown",
    ),
    "another breakout": (
        "nxos",
        SPLIT,
        SPLIT.replace("400g-2x", "200g-2x"),
        "no interface breakout module 1 port 1 map 400g-2x|interface breakout module 1 port 1 map 200g-2x|"
        "interface Ethernet1/1/1|  no switchport|  ip address 10.0.0.0/31|interface Ethernet1/1/2|  no switchport",
    ),
    "no breakout": (
        "nxos",
        SPLIT,
        "interface Ethernet1/1\n  no switchport\n  ip address 10.0.0.0/31\n",
        "default interface Ethernet1/1/2|default interface Ethernet1/1/1|"
        "no interface breakout module 1 port 1 map 400g-2x|interface Ethernet1/1|  no switchport|"
        "  ip address 10.0.0.0/31",
    ),
    "overlapping subnets": (
        "nxos",
        ROUTED + ROUTED.replace("1/1", "1/2").replace("10.0.0.0/31", "10.0.1.0/24"),
        ROUTED.replace("10.0.0.0/31", "10.0.1.0/31") + ROUTED.replace("1/1", "1/2").replace("10.0.0.0/31", "10.0.2.0/24"),
        "interface Ethernet1/2|  no ip address 10.0.1.0/24|  exit|interface Ethernet1/1|  ip address 10.0.1.0/31|"
        "interface Ethernet1/2|  ip address 10.0.2.0/24",
    ),
    "EOS: a VLAN's VNI": (
        "eos",
        EOS_VXLAN,
        EOS_VXLAN.replace("10001", "20001"),
        "interface Vxlan1|   vxlan vlan remove 100 vni 10001|   vxlan vlan add 100 vni 20001",
    ),
    "EOS: two VLANs that exchange their VNIs": (
        "eos",
        EOS_VXLAN,
        swap(EOS_VXLAN, "10001", "10002"),
        "interface Vxlan1|   vxlan vlan remove 100 vni 10001|   vxlan vlan remove 200 vni 10002|   exit|"
        "interface Vxlan1|   vxlan vlan add 100 vni 10002|   vxlan vlan add 200 vni 10001",
    ),
    "EOS: a VRF's VNI": (
        "eos",
        EOS_VXLAN,
        EOS_VXLAN.replace("50001", "50002"),
        "interface Vxlan1|   no vxlan vrf red vni 50001|   vxlan vrf red vni 50002",
    ),
    "EOS: another mode of a bond": (
        "eos",
        EOS_MEMBERS,
        EOS_MEMBERS.replace("mode active", "mode on"),
        "interface Ethernet1|   no channel-group|interface Ethernet2|   no channel-group|   exit|"
        "interface Ethernet1|   channel-group 1 mode on|interface Ethernet2|   channel-group 1 mode on",
    ),
    "EOS: another bond": (
        "eos",
        EOS_MEMBERS,
        EOS_MEMBERS.replace("channel-group 1", "channel-group 2"),
        "interface Ethernet1|   no channel-group|   channel-group 2 mode active|interface Ethernet2|"
        "   no channel-group|   channel-group 2 mode active",
    ),
    "EOS: a routed port that becomes a switched one": (
        "eos",
        "interface Ethernet1/1\n   no switchport\n   ip address 10.0.0.0/31\n",
        "interface Ethernet1/1\n   switchport access vlan 100\n   switchport\n",
        "default interface Ethernet1/1|interface Ethernet1/1|   switchport access vlan 100|   switchport",
    ),
    "EOS: two entries of a list that change places": (
        "eos",
        "ip prefix-list A\n   seq 10 permit 10.0.0.0/8\n   seq 20 permit 11.0.0.0/8\n",
        "ip prefix-list A\n   seq 10 permit 11.0.0.0/8\n   seq 20 permit 10.0.0.0/8\n",
        "ip prefix-list A|   no seq 20 permit 11.0.0.0/8|   no seq 10 permit 10.0.0.0/8|"
        "   seq 10 permit 11.0.0.0/8|   seq 20 permit 10.0.0.0/8",
    ),
    "EOS: another AS number": (
        "eos",
        EOS_BGP,
        EOS_BGP.replace("bgp 65001", "bgp 65002"),
        "no router bgp 65001|router bgp 65002|   router-id 10.0.0.1|   neighbor FABRIC peer group|"
        "   neighbor FABRIC bfd|   neighbor 10.0.0.1 peer group FABRIC|   neighbor 10.0.0.1 remote-as 65100|"
        "   vlan 100|      rd 10.0.0.1:100|   address-family ipv4|      neighbor 10.0.0.1 activate|   vrf red|"
        "      rd 10.0.0.1:1",
    ),
    "EOS: a peer group that goes": (
        "eos",
        EOS_BGP,
        EOS_BGP.replace(
            "   neighbor FABRIC peer group\n   neighbor FABRIC bfd\n   neighbor 10.0.0.1 peer group FABRIC\n", ""
        ),
        "router bgp 65001|   no neighbor 10.0.0.1 peer group FABRIC|   no neighbor FABRIC peer group",
    ),
    "EOS: a neighbor that is deactivated": (
        "eos",
        EOS_BGP,
        EOS_BGP.replace("      neighbor 10.0.0.1 activate\n", ""),
        "router bgp 65001|   address-family ipv4|      no neighbor 10.0.0.1 activate",
    ),
    "EOS: other route distinguishers": (
        "eos",
        EOS_BGP,
        EOS_BGP.replace("rd 10.0.0.1", "rd 10.0.0.9"),
        "router bgp 65001|   vlan 100|      no rd 10.0.0.1:100|      rd 10.0.0.9:100|   vrf red|"
        "      no rd 10.0.0.1:1|      rd 10.0.0.9:1",
    ),
}


TRUNK = "interface Ethernet1/1\n  switchport mode trunk\n  switchport trunk allowed vlan 100,101\n"
SET_AGAIN = "interface Ethernet1/1|  switchport trunk allowed vlan 100,101"
DRIFT = {  # planned, running, what is typed
    "a VLAN that a trunk lacks": ("nxos", TRUNK, TRUNK.replace("100,101", "100"), SET_AGAIN),
    "a VLAN that a trunk has more": ("nxos", TRUNK, f"{TRUNK}  switchport trunk allowed vlan add 300\n", SET_AGAIN),
    "a trunk of many VLANs": ("nxos", TRUNK, TRUNK.replace("100,101", "100-300"), SET_AGAIN),
    "VLANs in one line": ("nxos", "vlan 100\n  name a\n", "vlan 1,100,200\nvlan 100\n  name a\n", "no vlan 200"),
    "EOS: a VLAN that a trunk lacks": (
        "eos",
        TRUNK.replace("  ", "   ").replace("100,101", "100-101"),
        TRUNK.replace("  ", "   ").replace("100,101", "100,300"),
        "interface Ethernet1/1|   switchport trunk allowed vlan 100-101",
    ),
    "EOS: VLANs in one line": ("eos", "vlan 100\nvlan 101\n", "vlan 100-102\n", "no vlan 102"),
}


@pytest.mark.parametrize("name", DRIFT)
def test_commands_against_drift(name: str) -> None:
    nos, planned, running, wanted = DRIFT[name]
    case = back(nos, planned, running)
    assert list(case.commands) == wanted.split("|")
    assert failures(nos, case) == []


@pytest.mark.parametrize("name", CASES)
def test_commands_that_a_switch_takes(name: str) -> None:
    nos, running, intended, wanted = CASES[name]
    commands = remedy.commands(nos, running, intended)
    assert commands == wanted.split("|")
    assert wrong(load(nos), running, intended, commands) == []
    assert wrong(load(nos), intended, running, remedy.commands(nos, intended, running)) == []
