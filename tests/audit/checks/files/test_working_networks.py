"""Forms of working configs, as vendors and labs publish them: nothing above a note; and beside each a fault that is found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fabric.audit.checks import ERROR, NOTE
from fabric.audit.checks.reports.common import folded
from fabric.audit.checks.run import check_folder
from fabric.nos.reading import scan
from tests.audit.checks.files.helpers import Files, but

# Files of daemons beside each other, as the topotests of FRR have them.
DAEMONS = {
    "r1/zebra.conf": "hostname r1\ninterface r1-eth0\n ip address 10.0.0.1/30\n",
    "r1/ospfd.conf": "!\ninterface r1-eth0\n ip ospf hello-interval 2\n!\nrouter ospf\n network 10.0.0.0/8 area 0\n!\n",
    "r1/bfdd.conf": "!\nbfd\n profile fast\n  receive-interval 600\n !\n!\n",
    "r1/bgpd.conf": "router bgp 65001\n bgp router-id 10.0.0.1\n no bgp ebgp-requires-policy\n"
    " neighbor 10.0.0.2 remote-as 65002\n neighbor 10.0.0.2 bfd profile fast\n",
    "r2/zebra.conf": "hostname r2\ninterface r2-eth0\n ip address 10.0.0.2/30\n",
    "r2/bgpd.conf": "router bgp 65002\n bgp router-id 10.0.0.2\n no bgp ebgp-requires-policy\n"
    " neighbor 10.0.0.1 remote-as 65001\n neighbor 10.0.0.1 bfd\n",
}
# The kernel has the port of the customer in the VRF, which no file of FRR says.
CUSTOMER = {
    "r1/zebra.conf": "hostname r1\ninterface r1-eth4\n ip address 192.168.1.1/24\n",
    "r1/bgpd.conf": "router bgp 65000\n bgp router-id 1.1.1.1\nrouter bgp 65009 vrf cust1\n bgp router-id 192.168.1.1\n"
    " neighbor 192.168.1.2 remote-as 65001\n neighbor 192.168.1.2 update-source 192.168.1.1\n",
    "ce1/zebra.conf": "hostname ce1\ninterface ce1-eth0\n ip address 192.168.1.2/24\n",
    "ce1/bgpd.conf": "router bgp 65001\n bgp router-id 192.168.1.2\n neighbor 192.168.1.1 remote-as 65009\n",
}
# IPv4 unicast right under the process, as Quagga had it: vtysh knows these commands there, and does not show them.
QUAGGA = """\
frr defaults datacenter
hostname leaf{n}
interface lo
 ip address 10.0.0.{n}/32
router bgp 6500{n}
 bgp router-id 10.0.0.{n}
 redistribute connected route-map LO
 maximum-paths 64
 neighbor swp1 interface remote-as external
route-map LO permit 10
 match interface lo
"""
# An IPv6 address that begins with a letter is no interface.
SOURCE = """\
frr defaults datacenter
hostname leaf{n}
interface lo
 ipv6 address fcbb:bbbb:{n}::1/128
router bgp 6500{n}
 bgp router-id 10.0.0.{n}
 neighbor fcbb:bbbb:{far}::1 remote-as 6500{far}
 neighbor fcbb:bbbb:{far}::1 update-source {source}
 neighbor fcbb:bbbb:{far}::1 ebgp-multihop
"""
SONIC = """{{"DEVICE_METADATA": {{"localhost": {{"hostname": "leaf{n}", "docker_routing_config_mode": "split"}}}},
"PORT": {{"Ethernet0": {{"lanes": "1", "speed": "100000", "admin_status": "up"}}}},
"LOOPBACK_INTERFACE": {{"Loopback0": {{}}, "Loopback0|fcbb:bbbb:{n}::1/128": {{}}}}}}"""
SOURCES = {f"leaf{n}/frr.conf": SOURCE.format(n=n, far=3 - n, source=f"fcbb:bbbb:{n}::1") for n in (1, 2)}
SOURCES |= {f"leaf{n}/config_db.json": SONIC.format(n=n) for n in (1, 2)}
# Cumulus Linux 4.4 switches the address family on at the neighbors alone; `none` is what has no value.
NVUE = """\
- set:
    bridge: {{domain: {{br_default: {{vlan: {{'10': {{vni: {{'10': {{}}}}}}}}}}}}}}
    evpn: {{enable: on, vni: {{'10': {{rd: none}}}}}}
    interface:
      lo: {{ip: {{address: {{10.10.10.{n}/32: {{}}}}}}, type: loopback}}
      swp51: {{type: swp, description: leaf{far} swp51}}
    nve: {{vxlan: {{enable: on, source: {{address: 10.10.10.{n}}}}}}}
    router: {{bgp: {{autonomous-system: 6510{n}, enable: on, router-id: 10.10.10.{n}}}}}
    system: {{hostname: leaf{n}, global: {{anycast-mac: none}}}}
    vrf:
      default:
        router:
          bgp:
            enable: on
            rd: none
            address-family: {{ipv4-unicast: {{enable: on, redistribute: {{connected: {{enable: on}}}}}}}}
            neighbor: {{swp51: {{peer-group: underlay, type: unnumbered}}}}
            peer-group: {{underlay: {{remote-as: external, address-family: {{l2vpn-evpn: {{enable: on}}}}}}}}
"""
# Two sites with the same subnets on their links, and the links of two customers.
EOS = """\
hostname {name}
ip routing
interface Ethernet1
   no switchport
   ip address {address}
router bgp {own}
   router-id 10.255.0.{n}
   neighbor {peer} remote-as {far}
"""
SITES = {
    f"{site}-{role}.cfg": EOS.format(
        name=f"{site}-{role}", address=f"20.1.1.{n}/24", own=100 * site_number + n, n=10 * site_number + n,
        peer=f"20.1.1.{3 - n}", far=100 * site_number + 3 - n,
    )
    for site_number, site in enumerate("ab", 1)
    for n, role in enumerate(("leaf", "spine"), 1)
}  # fmt: skip
# The routes that a policy accepts go before derived targets.
JUNOS = """\
system {{ host-name leaf{n}; root-authentication {{ encrypted-password "$6$x"; }} }}
interfaces {{
    xe-0/0/0 {{ unit 0 {{ family inet {{ address 10.0.0.{n}/30; }} }} }}
    lo0 {{ unit 0 {{ family inet {{ address 10.99.0.{n}/32; }} }} }}
}}
routing-options {{ router-id 10.99.0.{n}; autonomous-system 65000; }}
protocols {{
    bgp {{ group overlay {{
        type internal; local-address 10.99.0.{n}; family evpn {{ signaling; }} neighbor 10.99.0.{far};
    }} }}
    evpn {{
        encapsulation vxlan; extended-vni-list all;
        vni-options {{ vni 99822 {{ vrf-target export target:99:822; }} }}
    }}
}}
policy-options {{
    policy-statement IMPORT {{ term 822 {{ from community C822; then accept; }} term rest {{ then reject; }} }}
    community C822 members target:99:822;
}}
switch-options {{
    vtep-source-interface lo0.0; route-distinguisher 10.99.0.{n}:1;
    vrf-import IMPORT;
    vrf-target {{ target:65000:800; auto; }}
}}
vlans {{ v822 {{ vlan-id 822; vxlan {{ vni 99822; }} }} }}
"""
POLICY = {f"leaf{n}.conf": JUNOS.format(n=n, far=3 - n) for n in (1, 2)}


def sonic(*ports: str, more: str = "") -> str:
    return f'{{"DEVICE_METADATA": {{"localhost": {{"hostname": "leaf1"}}}}, {more}"PORT": {{{", ".join(ports)}}}}}'


PORT = '"Ethernet0": {"lanes": "0", "speed": "100000"}'
VRF = """\
hostname PE-1
vrf instance MGMT
ip routing
router bgp 65001
   router-id 10.0.0.13
   vrf A
      rd 10.0.0.13:1
"""
REFLECTOR = """\
frr defaults datacenter
hostname {name}
interface lo
 ip address 10.0.0.{n}/32
router bgp 65000
 bgp router-id 10.0.0.{n}
 no bgp default ipv4-unicast
 neighbor 10.0.0.{far} remote-as internal
 neighbor 10.0.0.{far} update-source 10.0.0.{n}
 address-family ipv4 unicast
  neighbor 10.0.0.{far} activate
 exit-address-family
{more}"""
VPN = " address-family ipv4 vpn\n  neighbor 10.0.0.2 activate\n exit-address-family\n"
BORDER = {
    "rr.conf": REFLECTOR.format(name="rr", n=1, far=2, more=VPN),
    "bdr.conf": REFLECTOR.format(name="bdr", n=2, far=1, more=""),
}
PEER = "router bgp 65000 vrf red\n bgp router-id 10.0.0.2\n"
TERMINAL = ["Leaf-1# terminal length 0", "!", "version 10.5(3)", "hostname Leaf-1", "feature bgp", "route-map A permit 10"]
TERMINAL += ["  match ip address prefix-list MISSING", "Leaf-1# exit", "Connection to 192.0.2.14 closed."]

# name → files, the errors and warnings.
FORMS: Mapping[str, tuple[Files, list[str]]] = {
    "a file for each daemon of FRR": (DAEMONS, []),
    "a profile in no file": (
        but(DAEMONS, {"r1/bfdd.conf": {"fast": "slow"}}),
        ["error r1: BFD profile fast is used, but not defined"],
    ),
    "a port in the VRF of its neighbor": (CUSTOMER, []),
    "another AS number there": (
        but(CUSTOMER, {"ce1/bgpd.conf": {"65009": "65008"}}),
        ["error ce1: neighbor 192.168.1.1: remote AS 65008, but r1 has AS 65009"],
    ),
    "IPv4 right under the process": ({f"leaf{n}/frr.conf": QUAGGA.format(n=n) for n in (1, 2)}, []),
    "EVPN right under the process": (
        {"leaf1/frr.conf": QUAGGA.format(n=1).replace("maximum-paths 64", "advertise-all-vni")},
        ["error leaf1: `advertise-all-vni` stands in no address family: FRR drops it"],
    ),
    "an IPv6 address as source": (SOURCES, []),
    "an interface as source": (
        but(SOURCES, {"leaf1/frr.conf": {"update-source fcbb:bbbb:1::1": "update-source dummy0"}}),
        [
            "error leaf1: neighbor fcbb:bbbb:2::1: local address dummy0, but leaf2 has neighbor fcbb:bbbb:1::1",
            "error leaf1: neighbor fcbb:bbbb:2::1: local address dummy0 is not configured on this device",
        ],
    ),
    "EVPN of neighbors alone": ({f"leaf{n}.yaml": NVUE.format(n=n, far=3 - n) for n in (1, 2)}, []),
    "EVPN switched off": (
        {
            f"leaf{n}.yaml": NVUE.format(n=n, far=3 - n).replace(
                "address-family: {ipv4-unicast", "address-family: {l2vpn-evpn: {enable: off}, ipv4-unicast"
            )
            for n in (1, 2)
        },
        [f"error leaf{n}: VLAN 10: no `l2vpn-evpn` of BGP, switched on" for n in (1, 2)],
    ),
    "links of two sites": (
        SITES, ["warning a-leaf: 20.1.1.0/24 is the subnet of two links, on Ethernet1 and b-leaf Ethernet1"],
    ),
    "a VRF that is not defined": ({"PE-1.cfg": VRF}, ["error PE-1: VRF A is used, but not defined"]),
    "a VRF without routing": (
        {"PE-1.cfg": "vrf instance A\n" + VRF},
        ["error PE-1: VRF A is in BGP, but `ip routing vrf A` is missing"],
    ),
    "VPN routes for a border without VRFs": (
        BORDER, ["warning bdr: neighbor 10.0.0.1: address family ipv4 vpn is configured only on rr"],
    ),
    "VPN routes for a device with VRFs": (
        but(BORDER, {"bdr.conf": {"router bgp 65000\n": PEER + "router bgp 65000\n"}}),
        ["error bdr: neighbor 10.0.0.1: address family ipv4 vpn is configured only on rr"],
    ),
    "targets of a policy": (POLICY, []),
    "a policy that accepts others": (
        but(POLICY, {name: {"members target:99:822": "members target:99:811"} for name in POLICY}),
        [f"error leaf{n}: VNI 99822: no other device imports route target 99:822" for n in (1, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_working_configs_have_no_finding(form: str, tmp_path: Path) -> None:
    files, expected = FORMS[form]
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = [one for one in check_folder(scan(tmp_path)).findings if one.severity != NOTE]
    shown = [f"{one.severity} {one.device}: {one.message}".partition(" (")[0] for one in found]
    assert shown == expected


def test_what_a_terminal_shows_is_no_config(tmp_path: Path) -> None:
    """Lines keep their numbers, two carriage returns or not."""
    for end in ("\n", "\r\n", "\r\r\n"):
        (tmp_path / "leaf1.cfg").write_bytes(end.join(TERMINAL).encode())
        found = [(one.line, one.message) for one in check_folder(scan(tmp_path)).findings if one.id in ("FAB281", "FAB292")]
        assert found == [(7, "prefix-list MISSING is used, but not defined")]


# name → files, the lines of the report about them: one cause is one line.
GROUPS: Mapping[str, tuple[Files, list[str]]] = {
    "rows without fields": (
        {"leaf1.json": sonic(*(f'"Ethernet{n}": {{"admin_status": "up"}}' for n in (0, 4, 8)))},
        [
            "leaf1: rows of PORT without lanes, which the YANG models refuse: Ethernet0, Ethernet4, Ethernet8",
            "leaf1: rows of PORT without speed, which the YANG models refuse: Ethernet0, Ethernet4, Ethernet8",
        ],
    ),
    "values of one kind": (
        {"leaf1.json": sonic(*(f'"Ethernet{n}": {{"lanes": "{n}", "speed": "100000", "mtu": "{n}"}}' for n in (0, 4, 8)))},
        ["leaf1: mtu `0`, `4`, `8`: expected a number from 68 to 9216"],
    ),
    "queues of a line card": (
        {"leaf1.json": sonic(PORT, more='"BUFFER_QUEUE": {"lc1|Asic0|Ethernet0|3-4": {}, "lc1|Asic0|Ethernet0|5-99": {}}, ')},
        ["leaf1: `5-99`: expected a queue or two with - between, from 0 to 15"],
    ),
}


@pytest.mark.parametrize("group", GROUPS)
def test_one_cause_is_one_line(group: str, tmp_path: Path) -> None:
    files, expected = GROUPS[group]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = [one for one in folded(check_folder(scan(tmp_path)).findings) if one.severity == ERROR]
    assert [f"{one.device}: {one.message}" for one in found] == expected


def test_a_mistyped_network_of_bgp_is_no_prefix(tmp_path: Path) -> None:
    """Subnets that servers are in are followed through the statements of BGP, of which one has five numbers."""
    for n in (1, 2):
        text = f"hostname leaf{n}\nfeature bgp\nfeature interface-vlan\nvlan {n}0\n"
        text += f"interface Vlan{n}0\n  no shutdown\n  ip address 10.2{n}.0.1/24\n"
        link = f"interface Ethernet1/1\n  no switchport\n  ip address 10.9.0.{n - 1}/31\n  no shutdown\n"
        bgp = f"router bgp 6500{n}\n  router-id 10.8.0.{n}\n  address-family ipv4 unicast\n    network 10.10.0.1.75/32\n"
        far = f"    network 10.2{n}.0.0/24\n  neighbor 10.9.0.{2 - n}\n    remote-as 6500{3 - n}\n"
        far += "    address-family ipv4 unicast\n"
        (tmp_path / f"leaf{n}.cfg").write_text(text + link + bgp + far)
    assert [one.message for one in check_folder(scan(tmp_path)).findings if one.severity == ERROR] == []
