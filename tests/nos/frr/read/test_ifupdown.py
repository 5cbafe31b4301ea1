"""What a Linux switch tells beside its frr.conf: ports, VRFs, tunnels, services."""

from __future__ import annotations

import pytest

from fabric.model.facts import MANAGEMENT
from fabric.nos.frr.read.device import read
from tests.nos.frr.read.helpers import FRR_CONF, INTERFACES, configured, facts, plain, shown
from tests.nos.undefined import undefined_in


def test_tenants() -> None:
    pair = facts(FRR_CONF, INTERFACES)
    assert list(pair.vrfs) == [MANAGEMENT, "red"]
    red, process = pair.vrfs["red"], pair.bgp["red"]
    assert configured(red, "vni", "rd", "exports") == ["50001@9", "10.0.0.1:1@57", ["65000:50001@59"]]
    assert plain(red.imports) == ["65000:50001@58", "65000:50002@58"]
    assert (red.file, red.line, plain(process.asn)) == ("interfaces", 12, "65001@55")
    assert list(pair.vnis) == [10001], "the VNI of a VRF is no layer-2 one"
    assert configured(pair.vnis[10001], "vlan", "rd", "imports", "exports") == [
        "100@29",
        "10.0.0.1:10001@50",
        ["65000:10001@51"],
        ["65000:10001@51"],
    ]
    assert configured(pair, "vtep", "anycast_mac") == ["10.2.0.1@28", "00:00:5e:00:01:01@44"]


PORTS = {
    "lo": {"addresses": ["10.0.0.1/32@3"]},
    "eth0": {"addresses": ["172.16.0.4/16@8"], "vrf": f"{MANAGEMENT}@11"},
    "swp1": {"description": "spine1 swp7@15", "mtu": "9216@16", "speed_gbps": "400@17", "link_local": True},
    "swp2": {"enabled": "False@19"},
    "bond1": {"access": "100@22", "esi": "03:02:00:00:00:00:01:00:00:05@12", "election": "preference@12"},
    "swp3": {"bond": "bond1@21"},
    "swp5.11": {"addresses": ["10.64.0.8/31@24"], "vrf": "red@25", "tag": "11@23"},
    "swp6": {"access": "1@36", "trunk": ["100@35", "101@35"]},
    "vlan100": {"gateways": ["10.20.0.1/24@40"], "vrf": "red@43", "tag": "100@41"},
}


@pytest.mark.parametrize("name", PORTS)
def test_port(name: str) -> None:
    found = facts(FRR_CONF, INTERFACES)
    assert shown(found.interfaces[name]) == PORTS[name]
    assert set(found.interfaces) == {*PORTS, "swp4", "br0", "vlan3001"}


def test_a_vrf_that_the_kernel_does_not_have() -> None:
    kernel = "iface swp1\n    vrf red\niface swp2\n    vrf red\n"
    found = undefined_in("frr", {"frr.conf": "router bgp 1 vrf blue\n", "interfaces": kernel})
    assert plain(found) == ["VRF blue@1", "VRF red@2", "VRF red@4"]
    kernel = "iface vni8\n    vxlan-id 8\n    vxlan-local-tunnelip 10.0.0.1\n"
    found = undefined_in("frr", {"frr.conf": "vrf red\n vni 7\n", "interfaces": kernel})
    assert plain(found) == ["VRF red@2", "VXLAN device of VNI 7@2"]
    kept = "vrf red\n ip nht resolve-via-default\nexit-vrf\n"  # as FRR writes for a VRF that is gone
    assert not undefined_in("frr", {"frr.conf": kept, "interfaces": kernel})


def test_included_files_are_no_statement_that_is_not_known() -> None:
    included = "source /etc/network/interfaces.d/*.intf\nsource-directory /etc/network/interfaces.d\nauto swp1\niface swp1\n"
    assert facts("", included).unread == []


CUMULUS = """\
leaf01
# This file describes the network interfaces
auto lo
iface lo inet loopback
    address 10.10.10.1/32
    clagd-vxlan-anycast-ip 10.0.1.12
    vxlan-local-tunnelip 10.10.10.1
auto vlan10
iface vlan10
    address 10.1.10.2/24
    address-virtual 00:00:5E:00:01:0A 10.1.10.1/24
    hwaddress 44:38:39:22:01:b1
    vlan-raw-device bridge
    vlan-id 10
auto vxlan48
iface vxlan48
    bridge-vlan-vni-map 10=1010 20-21=auto+2000
auto bridge
iface bridge
    bridge_ports glob swp1-2 vxlan48
    bridge-vids 10 20
auto swp1
iface swp1
    post-up ip address add 192.0.2.1/24 dev swp1
    post-up rm -rf /
# ports.conf --
1=4x10G
frr version 8.4
router bgp 65101
 neighbor swp51 interface remote-as external
"""


def test_a_concatenated_file_keeps_its_lines() -> None:
    found = read("x", {"leaf01.cfg": CUMULUS})
    assert (found.name, plain(found.vtep), plain(found.anycast_mac)) == ("leaf01", "10.10.10.1@7", "00:00:5e:00:01:0a@11")
    assert {number: plain(vni.vlan) for number, vni in found.vnis.items()} == {1010: "10@17", 2020: "20@17", 2021: "21@17"}
    assert configured(found.interfaces["vlan10"], "addresses", "gateways") == [["10.1.10.2/24@10"], ["10.1.10.1/24@11"]]
    assert plain(found.interfaces["lo"].gateways) == ["10.0.1.12/32@6"]
    assert configured(found.interfaces["swp1"], "addresses", "trunk") == [["192.0.2.1/24@24"], ["10@21", "20@21"]]
    assert configured(found.bgp[""].neighbors["swp51"], "remote_as") == ["external@30"]
    assert plain(found.unread) == ["post-up rm -rf /@25"]


SERVICES = {
    "chrony.conf": "# time\nserver 192.0.2.10 iburst\npool ntp.example.net\n",
    "rsyslog.conf": '*.info action(type="omfwd" target="192.0.2.20" port="514")\n*.* @@[2001:db8::5]:514\n',
    "resolv.conf": "nameserver 192.0.2.53\n",
    "lldpd.conf": "configure lldp portidsubtype ifname\n",
    "nftables.conf": 'chain x {\n type filter hook input priority 0;\n iifname { "swp1", "swp2" } jump tenant-red\n',
    "interfaces": "iface swp1\niface swp2\n",
    "sysctl.conf": "-net.ipv4.fib_multipath_hash_seed = 7\n",
    "accounts": "admin:${ADMIN}\nops:$6$abc\nguest:!\n",
    "snmpd.conf": 'rocommunity public\ncreateUser mon SHA "${A}" AES "${B}"\ncreateUser bad SHA hunter2 AES hunter3\n',
    "daemons": 'zebra=yes\nzebra_options=" -A 127.0.0.1"\nbgpd_options=" -A 0.0.0.0"\n',
    "frr.conf": "password ${P}\nenable password hunter2\nkey chain K\n key 1\n  key-string hunter2\n"
    "router bgp 1\n neighbor 10.0.0.1 password hunter2\n",
}


def test_services() -> None:
    found = read("device", SERVICES)
    assert configured(found.services, "ntp", "syslog", "dns", "lldp", "control_plane", "plain_text") == [
        ["192.0.2.10@2", "ntp.example.net@3"],
        ["192.0.2.20@1", "2001:db8::5@2"],
        ["192.0.2.53@1"],
        "True@1",
        "True@2",
        ["SNMP community (read-only)@1", "telnet to bgpd on 0.0.0.0@3"],
    ]
    assert sorted(plain(found.services.secrets)) == [
        "BGP password of 10.0.0.1, in clear text@7",
        "SNMP community, in clear text@1",
        "SNMP keys of user bad, in clear text@3",
        "key of a key chain, in clear text@5",
        "password of the FRR prompt, in clear text@2",
        "password of user ops, as a salted hash@2",
    ]
    assert (plain(found.hash_seed), found.unread) == ("7@1", [])
    assert [plain(port.filters) for port in found.interfaces.values()] == [["tenant-red@3"]] * 2
    assert "hunter" not in repr(found)
