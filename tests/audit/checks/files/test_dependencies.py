"""Statements that need others of the device, by their counts, and beside others: rows of FAB2506, FAB2533 and FAB2534."""

from __future__ import annotations

import pytest

from fabric.audit.checks.role_peers.outline import Cache, judged, outline
from fabric.audit.checks.statements import syntax_of
from fabric.nos.reading import read_device
from fabric.nos.statements.conditions import violations

NXOS = "hostname leaf1\nfeature bgp\nfeature interface-vlan\n"
VPC = "interface port-channel1\n  switchport\n  vpc peer-link\n"
NVE = "interface nve1\n  host-reachability protocol bgp\n  member vni 10010\n    ingress-replication protocol bgp\n"
JUNOS = (
    "set system host-name leaf1\nset interfaces et-0/0/1 ether-options 802.3ad ae7\n"
    "set interfaces ae7 aggregated-ether-options lacp active\nset interfaces ae7 unit 0 family ethernet-switching\n"
    "set chassis aggregated-devices ethernet device-count {}\n"
)
IRB = (
    "set system host-name leaf1\nset interfaces irb unit 10 family inet address 10.1.0.1/24\n"
    "set interfaces irb unit 20 family inet address 10.2.0.1/24\nset vlans a vlan-id 10\nset vlans a l3-interface irb.10\n"
)
EOS = (
    "hostname leaf1\nrouter bgp 65001\n   neighbor 10.0.0.1 remote-as 65002\n"
    "   address-family evpn\n      neighbor 10.0.0.1 activate\n"
)
NVUE = "- set:\n    system: {hostname: leaf1}\n"
SEGMENT = "    interface: {bond1: {evpn: {multihoming: {segment: {local-id: 1}}}}}\n"
SONIC = (
    '{{"DEVICE_METADATA": {{"localhost": {{"hostname": "leaf1"{}}}}}, '
    '"BGP_GLOBALS": {{"default": {{"local_asn": "65001"}}}}}}\n'
)
BREAKOUT = "interface Ethernet1/1/1\n  no switchport\n"
SPLIT = "interface breakout module 1 port 1 map 100g-4x\n"
ADDRESS = "interface Ethernet1/2\n{}"
ROWS = {  # network OS, text, statements that are refused, each by its line
    "NX-OS: vPC": ("nxos", NXOS + "feature vpc\nvpc domain 1\n" + VPC, []),
    "NX-OS: vPC without a domain": (
        "nxos",
        NXOS + VPC,
        ["6 `vpc peer-link` of port-channel1, and no `vpc domain`: NX-OS refuses it"],
    ),
    "NX-OS: replication": ("nxos", NXOS + NVE, []),
    "NX-OS: two ways of replication": (
        "nxos",
        NXOS + NVE + "    mcast-group 239.1.1.1\n",
        ["8 VNI 10010 of nve1 has a multicast group and ingress replication: NX-OS takes one of them"],
    ),
    "NX-OS: replication of an L3 VNI": (
        "nxos",
        NXOS + NVE + "  member vni 50001 associate-vrf\n    suppress-arp\n",
        ["9 VNI 50001 of nve1 is that of a VRF: `suppress-arp` is for layer-2 VNIs"],
    ),
    "NX-OS: replication without BGP": (
        "nxos",
        NXOS + NVE.replace("  host-reachability protocol bgp\n", ""),
        ["6 nve1 has ingress replication by BGP, and no `host-reachability protocol bgp`: NX-OS refuses it"],
    ),
    "NX-OS: watchdog of ports": (
        "nxos",
        NXOS + ADDRESS.format("  priority-flow-control watch-dog-interval on\n"),
        ["5 the PFC watchdog of Ethernet1/2 is on, but that of the switch is off"],
    ),
    "NX-OS: an address on a routed port": (
        "nxos",
        NXOS + ADDRESS.format("  no switchport\n  vrf member red\n  ip address 10.0.0.1/31\n"),
        [],
    ),
    "NX-OS: an address first": (
        "nxos",
        NXOS + ADDRESS.format("  ip address 10.0.0.1/31\n  no switchport\n"),
        ["5 `ip address` of Ethernet1/2 stands above `no switchport`: a layer-2 port does not take it"],
    ),
    "NX-OS: a VRF last": (
        "nxos",
        NXOS + ADDRESS.format("  no switchport\n  ip address 10.0.0.1/31\n  vrf member red\n"),
        ["6 `vrf member` of Ethernet1/2 stands below `ip address`: NX-OS deletes the address when the port enters the VRF"],
    ),
    "NX-OS: a cage is split first": ("nxos", NXOS + SPLIT + BREAKOUT, []),
    "NX-OS: a cage is split last": (
        "nxos",
        NXOS + BREAKOUT + SPLIT,
        ["4 Ethernet1/1/1 stands above the line that splits its cage: NX-OS does not know it there"],
    ),
    "EOS: EVPN": ("eos", "service routing protocols model multi-agent\n" + EOS, []),
    "EOS: EVPN and ribd": (
        "eos",
        "service routing protocols model ribd\n" + EOS,
        ["5 EVPN needs the multi-agent model of routing protocols, but the config has `ribd`"],
    ),
    "EOS: unnumbered": (
        "eos",
        "hostname leaf1\nip routing\nrouter bgp 65001\n   neighbor interface Et1 peer-group A remote-as 65002\n",
        ["4 neighbors of interfaces have IPv6 next hops, but `ip routing ipv6 interfaces` is missing"],
    ),
    "EOS: MLAG": (
        "eos",
        "hostname leaf1\ninterface Port-Channel5\n   mlag 5\n",
        ["3 `mlag 5` of Port-Channel5, and no `mlag configuration`: the bond is not in MLAG"],
    ),
    "Junos: as many bonds": ("junos", JUNOS.format(8), []),
    "Junos: fewer bonds": (
        "junos",
        JUNOS.format(7),
        ["3 ae7, but `device-count 7` makes ae0 up to the number below 7: the interface is not created"],
    ),
    "Junos: an interface of no VLAN": ("junos", IRB, ["3 irb.20 is the interface of no VLAN: it stays down"]),
    "NVUE: multihoming": ("cumulus", NVUE + SEGMENT + "    evpn: {multihoming: {enable: on}}\n", []),
    "NVUE: segments alone": (
        "cumulus",
        NVUE + SEGMENT,
        ["3 Ethernet segments are configured, but EVPN multihoming is not enabled"],
    ),
    "NVUE: MLAG": (
        "cumulus",
        NVUE + "    interface: {bond1: {bond: {mlag: {id: 1}}}}\n",
        ["3 bond bond1 is in MLAG, but MLAG is not configured"],
    ),
    "NVUE: BGP": ("cumulus", NVUE + "    router: {bgp: {enable: on, autonomous-system: 65001}}\n", []),
    "NVUE: BGP without a switch": (
        "cumulus",
        NVUE + "    router: {bgp: {autonomous-system: 65001}}\n",
        ["3 BGP is configured, but not enabled"],
    ),
    "SONiC: the management framework": ("sonic", SONIC.format(', "frr_mgmt_framework_config": "true"'), []),
    "SONiC: rows that nothing reads": (
        "sonic",
        SONIC.format(""),
        ["1 BGP_GLOBALS is read by the management framework of FRR, which is off: the rows have no effect"],
    ),
}
FEATURES = {  # lines → what is missing
    "interface Vlan10\n  ip dhcp relay address 10.1.1.1\n": "DHCP relay is used, but `feature dhcp` is missing",
    "interface Vlan10\n  hsrp 1\n    ip 10.0.0.1\n": "HSRP is used, but `feature hsrp` is missing",
    "interface Ethernet1/1\n  ip policy route-map PBR\n": "policy-based routing is used, but `feature pbr` is missing",
    "tacacs-server host 10.1.1.1\n": "TACACS+ is used, but `feature tacacs+` is missing",
    "nxapi http port 80\n": "NX-API is used, but `feature nxapi` is missing",
    "feature tacacs+\ntacacs-server host 10.1.1.1\n": "",
}


@pytest.mark.parametrize("name", ROWS)
def test_what_a_network_os_refuses(name: str) -> None:
    nos, text, expected = ROWS[name]
    found = judged(read_device("leaf1", nos, {"config": text})).refused
    assert [f"{one.place.line} {one.message}" for one in found if one.code in ("FAB2533", "FAB2534")] == expected


@pytest.mark.parametrize("lines", FEATURES)
def test_features_of_nxos(lines: str) -> None:
    clues = outline("leaf1", "nxos", {"config": NXOS + lines}, Cache(nos="nxos")).clues
    found = {one.condition.say.format(**one.words) for one in violations(syntax_of("nxos").rules.conditions, clues)}
    assert [text for text in found if "feature" in text] == ([FEATURES[lines]] if FEATURES[lines] else [])
