"""Names in statements: used and not defined, defined and not used, shared where one object may have them; misspelled."""

from __future__ import annotations

import pytest

from fabric.audit.checks import syntax_of
from fabric.audit.checks.role_peers.spelling import is_slip
from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, all_say, but, network

IDS = ("FAB281", "FAB2509", "FAB2510", "FAB2511")
EOS = """\
hostname leaf1
ntp authentication-key 7 md5 ${NTP_KEY}
ntp trusted-key 7
ntp server vrf MGMT 192.0.2.10 key 7
vrf instance MGMT
vlan 20
interface Ethernet1
   switchport access vlan 20
interface Loopback0
   ip address 10.0.0.1/32
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 20 vni 10020
aaa group server tacacs+ ADMINS
   server 192.0.2.30
tacacs-server host 192.0.2.30 vrf MGMT
aaa authentication login default group ADMINS local
snmp-server view ALL 1.3 included
snmp-server group READ v3 priv read ALL
snmp-server user monitor READ v3
ip as-path access-list OWN permit ^$
route-map OUT permit 10
   match as-path OWN
router bgp 65001
   neighbor UP peer group
   neighbor 10.1.0.0 peer group UP
   neighbor 10.1.0.0 route-map OUT out
"""
NXOS = """\
hostname leaf1
feature bgp
vlan 20
  vn-segment 10020
policy-map type qos MARK
  class class-default
    set qos-group 1
interface Ethernet1/1
  service-policy type qos input MARK
  channel-group 5 mode active
interface port-channel5
flow exporter TO
  destination 192.0.2.30
flow monitor ALL
  exporter TO
key chain ISIS
  key 1
vlan configuration 20
  ip flow monitor ALL input
interface Ethernet1/2
  ip ospf authentication key-chain ISIS
"""
JUNOS = """\
set system host-name leaf1
set groups COMMON system services ssh
set apply-groups COMMON
set class-of-service schedulers BEST transmit-rate percent 40
set class-of-service scheduler-maps PORT forwarding-class best-effort scheduler BEST
set class-of-service interfaces et-0/0/0 scheduler-map PORT
set vlans red vlan-id 20
set vlans red vxlan vni 10020
set interfaces et-0/0/0 unit 0 family ethernet-switching vlan members red
set policy-options policy-statement OUT then accept
set protocols bgp group UP export OUT
"""
SONIC = """\
{
  "PORT": {
    "Ethernet0": {"lanes": "0,1,2,3", "alias": "etp1", "speed": "100000"},
    "Ethernet4": {"lanes": "4,5,6,7", "alias": "etp2", "speed": "100000"}
  },
  "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "hwsku": "X", "type": "LeafRouter"}},
  "BUFFER_POOL": {"lossless": {"type": "ingress", "mode": "dynamic", "size": "1000"}},
  "BUFFER_PROFILE": {"lossy": {"pool": "lossless", "size": "0", "dynamic_th": "3"}},
  "BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "lossy"}},
  "VLAN": {"Vlan20": {"vlanid": "20"}},
  "VLAN_MEMBER": {"Vlan20|Ethernet4": {"tagging_mode": "untagged"}}
}
"""
CUMULUS = """\
- set:
    system:
      hostname: leaf1
    router:
      bfd:
        profile:
          FAST:
            detect-multiplier: 3
    vrf:
      default:
        router:
          bgp:
            peer-group:
              up:
                bfd:
                  profile: FAST
            neighbor:
              swp1:
                peer-group: up
"""
FRR = """\
frr version 10.0
hostname leaf1
bfd
 profile FAST
  detect-multiplier 3
router bgp 65001
 neighbor UP peer-group
 neighbor swp1 interface peer-group UP
 neighbor UP bfd profile FAST
"""
ALL: Files = {
    "leaf1.eos": EOS,
    "leaf2.nxos": NXOS.replace("leaf1", "leaf2"),
    "leaf3.junos": JUNOS.replace("leaf1", "leaf3"),
    "leaf5.cumulus": CUMULUS.replace("leaf1", "leaf5"),
    "leaf6.frr": FRR.replace("leaf1", "leaf6"),
}
# (file, old, new) → the finding.
DANGLING = {
    ("leaf1.eos", "ntp trusted-key 7", "ntp trusted-key 8"): "3: error[FAB281]: leaf1: NTP key 8 is used, but not defined",
    (
        "leaf1.eos",
        "key 7\nvrf instance MGMT",
        "key 7\nvrf instance OOB",
    ): "4: error[FAB281]: leaf1: VRF MGMT is used here and on 1 more line, but not defined",
    ("leaf1.eos", "access vlan 20", "access vlan 30"): "8: error[FAB281]: leaf1: VLAN 30 is used, but not defined",
    (
        "leaf1.eos",
        "source-interface Loopback0",
        "source-interface Loopback1",
    ): "12: error[FAB281]: leaf1: interface Loopback1 is used, but not defined",
    (
        "leaf1.eos",
        "default group ADMINS",
        "default group ADMIN",
    ): "17: error[FAB281]: leaf1: AAA server group ADMIN is used, but not defined",
    ("leaf1.eos", "read ALL", "read SOME"): "19: error[FAB281]: leaf1: SNMP view SOME is used, but not defined",
    ("leaf1.eos", "monitor READ", "monitor WRITE"): "20: error[FAB281]: leaf1: SNMP group WRITE is used, but not defined",
    (
        "leaf1.eos",
        "match as-path OWN",
        "match as-path MINE",
    ): "error[FAB281]: leaf1: AS-path list MINE is used, but not defined",
    (
        "leaf1.eos",
        "   neighbor 10.1.0.0 route-map OUT out\n",
        "",
    ): "22: note[FAB2509]: leaf1: route-map OUT is defined, but not used",
    (
        "leaf1.eos",
        "vni 10020\n",
        "vni 10020\n   vxlan vlan 21 vni 10020\nvlan 21\n",
    ): "14: error[FAB2511]: leaf1: vlan 21: VNI 10020 is that of vlan 20 (line 13) too",
    (
        "leaf2.nxos",
        "qos input MARK",
        "qos input MARKED",
    ): "error[FAB281]: leaf2: policy-map MARKED is used, but not defined",
    (
        "leaf2.nxos",
        "interface port-channel5\n",
        "interface port-channel6\n",
    ): "10: error[FAB281]: leaf2: interface port-channel5 is used, but not defined",
    (
        "leaf2.nxos",
        "exporter TO\nkey",
        "exporter FROM\nkey",
    ): "15: error[FAB281]: leaf2: flow object FROM is used, but not defined",
    ("leaf2.nxos", "key chain ISIS", "key chain OSPF"): "error[FAB281]: leaf2: key chain ISIS is used, but not defined",
    (
        "leaf3.junos",
        "set apply-groups COMMON",
        "set apply-groups COMMONS",
    ): "error[FAB281]: leaf3: group COMMONS is used, but not defined",
    (
        "leaf3.junos",
        "scheduler BEST\n",
        "scheduler WORST\n",
    ): "error[FAB281]: leaf3: scheduler WORST is used, but not defined",
    (
        "leaf3.junos",
        "vlan members red",
        "vlan members rot",
    ): "error[FAB281]: leaf3: VLAN rot is used, but not defined",
    (
        "leaf3.junos",
        "set protocols bgp group UP export OUT\n",
        "set protocols bgp group UP type external\n",
    ): "note[FAB2509]: leaf3: policy-statement OUT is defined, but not used",
    (
        "leaf5.cumulus",
        "profile: FAST",
        "profile: SLOW",
    ): "error[FAB281]: leaf5: BFD profile SLOW is used, but not defined",
    (
        "leaf6.frr",
        "bfd profile FAST",
        "bfd profile SLOW",
    ): "error[FAB281]: leaf6: BFD profile SLOW is used, but not defined",
    (
        "leaf6.frr",
        "neighbor UP peer-group\n",
        "neighbor DOWN peer-group\n",
    ): "error[FAB281]: leaf6: peer group UP is used, but not defined",
}
OF_TABLES = {
    ('lossy"}', 'lossless"}'): "error[FAB281]: leaf1: buffer profile lossless is used, but not defined",
    ("Vlan20|Ethernet4", "Vlan20|Ethernet8"): "error[FAB281]: leaf1: port Ethernet8 is used, but not defined",
    ("4,5,6,7", "3,4,5,6"): "error[FAB2511]: leaf1: Ethernet4: lane 3 is that of Ethernet0 (line 3) too",
    ("etp2", "etp1"): "error[FAB2511]: leaf1: Ethernet4: port alias etp1 is that of Ethernet0 (line 3) too",
}


def heads(files: Files) -> list[str]:
    found, _ = check_network(network(files))
    return [str(one).split("\n", 1)[0] for one in found if one.id in IDS]


def test_names_that_are_defined_and_used_are_left_in_peace() -> None:
    assert heads(ALL) == []
    assert heads({"leaf1.sonic": SONIC}) == []


def test_frr_ignores_indentation() -> None:
    typed = "router bgp 1\n redistribute connected route-map LOCAL\n !\n route-map LOCAL permit 10\n match interface lo\n"
    assert heads({"leaf1.frr": f"hostname leaf1\n{typed}"}) == []


def test_a_computed_route_distinguisher_is_no_repeated_value() -> None:
    bgp = "hostname leaf1\nvlan 10,20\nrouter bgp 65001\n" + "".join(f"   vlan {vlan}\n      rd {{}}\n" for vlan in (10, 20))
    assert heads({"leaf1.eos": bgp.format("auto", "auto")}) == []
    assert [head.partition(": ")[0] for head in heads({"leaf1.eos": bgp.format("1.1.1.1:1", "1.1.1.1:1")})] == ["leaf1.eos:7"]


def test_references_of_older_releases_of_sonic_name_their_table() -> None:
    older = but({"leaf1.sonic": SONIC}, {"leaf1.sonic": {'"pool": "lossless"': '"pool": "[BUFFER_POOL|lossless]"'}})
    older = but(older, {"leaf1.sonic": {'"profile_list": "lossy"': '"profile_list": "[BUFFER_PROFILE|lossy]"'}})
    assert heads(older) == []
    wrong = but(older, {"leaf1.sonic": {"BUFFER_POOL|lossless": "BUFFER_POOL|lossles"}})
    assert any(line.endswith("error[FAB281]: leaf1: buffer pool lossles is used, but not defined") for line in heads(wrong))


def test_a_peer_group_of_frr_without_a_neighbor_is_noted_beside_the_tables_of_sonic() -> None:
    group = "router bgp 65001\n neighbor fd00::2UP peer-group\n neighbor UP peer-group\n neighbor fd00::2 peer-group UP\n"
    files = {"leaf1.sonic/config_db.json": SONIC, "leaf1.sonic/frr.conf": group}
    assert [line.partition(": ")[2] for line in heads(files)] == [
        "note[FAB2509]: leaf1: peer group fd00::2UP is defined, but not used"
    ]


@pytest.mark.parametrize("case", DANGLING)
def test_a_name_without_its_other_end(case: tuple[str, str, str]) -> None:
    name, old, new = case
    found = heads(but(ALL, {name: {old: new}}))
    assert any(line.endswith(DANGLING[case]) for line in found), found


@pytest.mark.parametrize("case", OF_TABLES)
def test_a_table_of_sonic_names_what_is_not_there(case: tuple[str, str]) -> None:
    found = heads(but({"leaf1.sonic": SONIC}, {"leaf1.sonic": {case[0]: case[1]}}))
    assert any(line.endswith(OF_TABLES[case]) for line in found), found


VRFS = {
    "eos": (
        "vrf instance red\nrouter general\n   vrf red\n      leak routes source-vrf blue subscribe-policy RM\n"
        "   vrf pink\n      leak routes source-vrf red subscribe-policy RM\nroute-map RM permit 10\n"
        "ip route vrf red 10.0.0.0/8 egress-vrf white 10.1.0.1\n",
        {"VRF blue", "VRF pink", "VRF white"},
    ),
    "nxos": ("vrf context red\n  ip route 10.0.0.0/8 10.1.0.1 vrf blue\n  ip route 10.1.0.0/16 Null0\n", {"VRF blue"}),
    "junos": (
        "set routing-instances red instance-type vrf\nset routing-options rib-groups G import-rib [ inet.0 blue.inet.0 ]\n"
        "set routing-options interface-routes rib-group inet G\n"
        "set routing-options static route 10.0.0.0/8 next-table red.inet.0\n",
        {"routing-instance blue"},
    ),
    "frr": (
        "frr version 10.0\niface red\n vrf-table auto\nvrf red\n ip route 10.0.0.0/8 10.1.0.1 nexthop-vrf blue\n",
        {"VRF blue"},
    ),
    "cumulus": ("nv set vrf red router static 10.0.0.0/8 via 10.1.0.1 vrf blue\n", {"VRF blue"}),
    "sonic": (
        '{"PORT": {"Ethernet0": {"lanes": "0"}}, "VRF": {"Vrf-red": {}},'
        ' "STATIC_ROUTE": {"Vrf-red|10.0.0.0/8": {"nexthop": "10.1.0.1", "nexthop-vrf": "Vrf-blue"}}}',
        {"VRF Vrf-blue"},
    ),
}


@pytest.mark.parametrize("nos", VRFS)
def test_each_vrf_that_routes_are_taken_from_is_named(nos: str) -> None:
    text, undefined = VRFS[nos]
    found = [one for one in all_say({f"leaf1.{nos}": text}) if one.id == "FAB281"]
    assert {one.message.removesuffix(" is used, but not defined") for one in found} == undefined


@pytest.mark.parametrize("nos", ["cumulus", "eos", "frr", "junos", "nxos", "sonic"])
def test_every_kind_of_name_has_its_source_and_both_sides(nos: str) -> None:
    names = syntax_of(nos).names
    assert len(names.kinds) >= 13
    for at, kind in enumerate(names.kinds):
        own = [pattern for pattern in names.patterns if pattern.kind == at and not pattern.given]
        assert kind.source, kind.title
        assert {pattern.used for pattern in own} == ({False} if kind.unique else {False, True}), kind.title
        assert all("name" in pattern.line.groupindex for pattern in own), kind.title


# --- misspelled words ---------------------------------------------------------------------------------------------

SPELT = "".join(f"   neighbor 10.1.{n}.0 remote-as 65100\n   neighbor 10.1.{n}.0 maximum-routes 9000\n" for n in range(8))
BGP = "hostname leaf{n}\nip routing\nrouter bgp 6500{n}\n" + SPELT
MANY: Files = {f"leaf{n}.eos": BGP.format(n=n) for n in (1, 2, 3)}


def test_a_misspelled_word_is_named_with_its_line() -> None:
    assert heads(MANY) == []
    wrong = but(MANY, {"leaf2.eos": {"neighbor 10.1.3.0 maximum-routes": "neighbor 10.1.3.0 maximun-routes"}})
    found, _ = check_network(network(wrong))
    own = [str(one).split("\n", 1)[0] for one in found if one.severity == "warning"]
    assert own == ["leaf2.eos:11: warning[FAB2510]: leaf2: `maximun-routes`: 23 similar statements have `maximum-routes`"]


@pytest.mark.parametrize(
    ("word", "usual", "slip"),
    [
        ("neigbor", "neighbor", True),
        ("neighbour", "neighbor", True),
        ("nieghbor", "neighbor", True),
        ("activste", "activate", True),
        ("vni", "vnix", True),
        ("ipv4", "ipv6", False),
        ("team-a", "team-b", False),
        ("in", "on", False),
        ("import", "export", False),
        ("tcp", "udp", False),
    ],
)
def test_a_slip_of_one_letter(word: str, usual: str, slip: bool) -> None:
    assert is_slip(word, usual) is slip
