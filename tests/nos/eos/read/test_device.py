"""EOS configs to facts: our own, those of other tools, and broken ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

import pytest

from fabric.model.facts import CLEAR, ENCRYPTED, HASH, LOCALIZED, MANAGEMENT, Ecn, Facts, Located
from fabric.nos.eos.read.device import read
from tests.examples import located, paths
from tests.nos.undefined import undefined_in

GENERATED = [path for site in ("ai-eos", "h100-4su") for path in paths(f"{site}/configs/*/startup-config")]


def facts(text: str) -> Facts:
    """Of a text whose first line is empty here, so that lines count from the first one below."""
    return read("x", {"f": text.removeprefix("\n")})


def secrets(found: Facts) -> list[str]:
    return [f"{one.line}: {one.value}" for one in found.services.secrets]


def configured(parsed: Iterable[Located[Any]] | Located[Any] | None) -> Any:
    """Values and lines, without the file."""
    if parsed is None or isinstance(parsed, Located):
        return parsed and (parsed.value, parsed.line)
    return [(one.value, one.line) for one in parsed]


# --- interfaces -------------------------------------------------------------------------------------------------

PORTS = """
hostname leaf1
interface Ethernet1/1
   description spine1 Ethernet1/1
   no shutdown
   mtu 9214
   speed 400g-4
   no switchport
   ip address 10.0.0.1/31
   ip access-group CLOSED in
interface Ethernet1/2.11
   encapsulation dot1q vlan 11
   vrf red
   ip address 10.1.0.1 255.255.255.252
   ip address 10.2.0.1/24 secondary
interface Ethernet2
   shutdown
   channel-group 7 mode active
interface Port-Channel7
   switchport trunk native vlan 9
   switchport trunk allowed vlan 10-12,20
   switchport trunk allowed vlan add 30
   evpn ethernet-segment
      identifier 0302:0000:0005:0000:0001
interface Ethernet3
   switchport access vlan 10
interface Vlan10
   vrf red
   ip address virtual 10.10.0.1/24
   ipv6 address virtual FD00:10::1/64
interface Vlan20
   vrf forwarding red
   ip address 10.20.0.2/24
   ip virtual-router address 10.20.0.1
interface Ethernet4
   ipv6 enable
   ipv6 address fd00::2/127
interface Management1
   vrf MGMT
   ip address 192.0.2.4/24
interface defaults
   ethernet
      shutdown
ip access-list CLOSED
   10 deny ip any any
vrf instance red
vrf instance MGMT
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "Ethernet1/1": {
            "description": ("spine1 Ethernet1/1", 3),
            "enabled": (True, 4),
            "mtu": (9214, 5),
            "speed_gbps": (400, 6),
            "addresses": [("10.0.0.1/31", 8)],
            "filters": [("CLOSED", 9)],
        },
        "Ethernet1/2.11": {"tag": (11, 11), "vrf": ("red", 12), "addresses": [("10.1.0.1/30", 13), ("10.2.0.1/24", 14)]},
        "Ethernet2": {"enabled": (False, 16), "bond": ("Port-Channel7", 17)},
        "Port-Channel7": {
            "access": (9, 19),
            "trunk": [(10, 20), (11, 20), (12, 20), (20, 20), (30, 21)],
            "esi": ("03:02:00:00:00:05:00:00:00:01", 23),
        },
        "Ethernet3": {"access": (10, 25)},
        "Vlan10": {"vrf": ("red", 27), "gateways": [("10.10.0.1/24", 28), ("fd00:10::1/64", 29)], "addresses": []},
        "Vlan20": {"vrf": ("red", 31), "addresses": [("10.20.0.2/24", 32)], "gateways": [("10.20.0.1", 33)]},
        "Ethernet4": {"link_local": True, "addresses": [("fd00::2/127", 36)]},
        "Management1": {"vrf": (MANAGEMENT, 38), "addresses": [("192.0.2.4/24", 39)]},
    }.items(),
)
def test_interfaces(name: str, expected: Mapping[str, Any]) -> None:
    found = facts(PORTS)
    interface = found.interfaces[name]
    shown = {key: value if isinstance(value := getattr(interface, key), bool) else configured(value) for key in expected}
    assert shown == expected
    assert "defaults" not in found.interfaces
    assert (found.name, configured(found.hostname)) == ("leaf1", ("leaf1", 1))
    assert configured(found.unread) == [("ethernet", 41)]  # it may shut every port


def test_a_later_address_replaces_an_earlier_one() -> None:
    found = facts("interface Loopback0\n   ip address 10.0.0.1/32\n   ip address 10.0.0.2/32\n   ipv6 address fd00::1/128\n")
    assert configured(found.interfaces["Loopback0"].addresses) == [("10.0.0.2/32", 3), ("fd00::1/128", 4)]


# --- BGP --------------------------------------------------------------------------------------------------------

# As large design tools write it: groups, families of groups, no IPv4 by default, bundles of VLANs.
DESIGNED = """
vlan 110
vrf instance Tenant_A
interface Loopback1
   ip address 192.168.254.5/32
interface Vxlan1
   vxlan source-interface Loopback1
   vxlan vlan 110 vni 10110
   vxlan vlan 111-112 vni 10111-10112
   vxlan vrf Tenant_A vni 50
ip virtual-router mac-address 00:dc:00:00:00:0a
router bgp 65101
   router-id 192.168.255.5
   no bgp default ipv4-unicast
   maximum-paths 4 ecmp 4
   timers bgp 5 15
   neighbor OVERLAY peer group
   neighbor OVERLAY update-source Loopback0
   neighbor OVERLAY bfd
   neighbor OVERLAY ebgp-multihop 3
   neighbor OVERLAY password 7 q+VNViP5i4rVjW1cxFv2wA==
   neighbor OVERLAY maximum-routes 0
   neighbor UNDERLAY peer group
   neighbor UNDERLAY remote-as 65001
   neighbor UNDERLAY maximum-routes 9000
   neighbor UNDERLAY timers 1 3
   neighbor 172.31.255.0 peer group UNDERLAY
   neighbor 172.31.255.0 description spine1_Ethernet1
   neighbor 172.31.255.2 remote-as 65002
   neighbor 172.31.255.2 peer group UNDERLAY
   neighbor 192.168.255.1 peer group OVERLAY
   neighbor 192.168.255.1 remote-as 65001
   neighbor 192.168.255.1 shutdown
   neighbor 192.168.255.9 peer group MISSING
   !
   vlan 112
      rd auto
      route-target import 12:12
      route-target export 12:13
   !
   vlan-aware-bundle Zone
      rd 192.168.255.5:10
      route-target both 10:10
      route-target import export evpn domain remote 11:11
      redistribute learned
      vlan 110-111
   !
   address-family evpn
      neighbor OVERLAY activate
   !
   address-family ipv4
      no neighbor OVERLAY activate
      neighbor UNDERLAY activate
      neighbor 172.31.255.2 route-map RM-IN in
      no neighbor 172.31.255.2 activate
   !
   vrf Tenant_A
      rd 192.168.255.5:11
      route-target import evpn 11:11
      route-target export evpn 11:11
      local-as 65300
      neighbor 10.255.251.1 peer group UNDERLAY
   !
   vrf MGMT
      neighbor 192.0.2.1 remote-as 64999
"""


@pytest.mark.parametrize(
    ("vrf", "peer", "expected"),
    [
        (
            "",
            "172.31.255.0",
            {
                "remote_as": (65001, 23),
                "families": [("ipv4", 52)],
                "description": ("spine1_Ethernet1", 27),
                "max_prefix": (9000, 24),
                "keepalive_s": (1, 25),
                "hold_s": (3, 25),
                "bfd": None,
            },
        ),
        ("", "172.31.255.2", {"remote_as": (65002, 28), "families": [], "import_filter": ("RM-IN", 53)}),
        (
            "",
            "192.168.255.1",
            {
                "remote_as": (65001, 31),
                "source": ("Loopback0", 17),
                "families": [("evpn", 48)],
                "bfd": (True, 18),
                "multihop": (3, 19),
                "max_prefix": (0, 21),
                "hold_s": (15, 15),
                "enabled": (False, 32),
            },
        ),
        ("", "192.168.255.9", {"remote_as": None, "max_prefix": (12000, 33)}),
        ("Tenant_A", "10.255.251.1", {"remote_as": (65001, 23), "families": [("ipv4", 61)], "hold_s": (3, 25)}),
        (MANAGEMENT, "192.0.2.1", {"remote_as": (64999, 64)}),
    ],
)
def test_neighbors_with_what_their_groups_say(vrf: str, peer: str, expected: Mapping[str, Any]) -> None:
    neighbor = facts(DESIGNED).bgp[vrf].neighbors[peer]
    assert {key: configured(getattr(neighbor, key)) for key in expected} == expected


def test_a_process_and_its_tenants() -> None:
    found = facts(DESIGNED)
    process = found.bgp[""]
    shown = [configured(parsed) for parsed in (process.asn, process.router_id, process.max_paths, process.relax)]
    assert shown == [(65101, 11), ("192.168.255.5", 12), (4, 14), (True, 11)]
    assert configured(found.bgp["Tenant_A"].asn) == (65300, 60)
    tenant = found.vrfs["Tenant_A"]
    assert list(found.vrfs) == ["Tenant_A"]
    shown = [configured(parsed) for parsed in (tenant.vni, tenant.rd, tenant.imports, tenant.exports)]
    assert shown == [(50, 9), ("192.168.255.5:11", 57), [("11:11", 58)], [("11:11", 59)]]
    assert (configured(found.vtep), configured(found.anycast_mac)) == (("Loopback1", 6), ("00:dc:00:00:00:0a", 10))


def test_vnis_have_what_their_vlan_or_bundle_says() -> None:
    rows = [
        (vni.number, vni.line, configured(vni.vlan), configured(vni.rd), configured(vni.imports), configured(vni.exports))
        for vni in facts(DESIGNED).vnis.values()
    ]
    bundle = (("192.168.255.5:10", 41), [("10:10", 42), ("11:11", 43)], [("10:10", 42), ("11:11", 43)])
    assert rows == [
        (10110, 7, (110, 7), *bundle),
        (10111, 8, (111, 8), *bundle),
        (10112, 8, (112, 8), ("auto", 36), [("12:12", 37)], [("12:13", 38)]),
    ]


def test_what_a_designed_config_refers_to_and_hides() -> None:
    found = facts(DESIGNED)
    undefined = undefined_in("eos", {"f": DESIGNED.removeprefix("\n")})
    assert {(one.value, one.line) for one in undefined} >= {
        ("peer group MISSING", 33),
        ("route-map RM-IN", 53),
        ("VRF MGMT", 63),
    }
    assert secrets(found) == ["20: BGP password of OVERLAY, in reversible form"]
    assert found.unread == []


def test_sessions_without_an_address_of_their_own() -> None:
    found = facts("""
router bgp 65001.1
   neighbor LINKS peer group
   neighbor LINKS remote-as external
   neighbor interface Et1-2 peer-group LINKS
   neighbor interface Ethernet5/1 peer-group LINKS remote-as 65003
   bgp listen range 10.0.0.0/16 peer-group LINKS remote-as 65009
   neighbor fd00::1 remote-as 65002
   neighbor fe80::1%Et7 remote-as 65002
   address-family ipv6
      neighbor fd00::1 activate
""")
    rows = [
        (peer.peer, configured(peer.remote_as), peer.interface, peer.dynamic, configured(peer.families))
        for peer in found.bgp[""].neighbors.values()
    ]
    assert rows == [
        ("Ethernet1", ("external", 3), True, False, [("ipv4", 4)]),
        ("Ethernet2", ("external", 3), True, False, [("ipv4", 4)]),
        ("Ethernet5/1", (65003, 5), True, False, [("ipv4", 5)]),
        ("fd00::1", (65002, 7), False, False, [("ipv6", 10)]),
        ("fe80::1%Et7", (65002, 8), False, False, []),
        ("10.0.0.0/16", (65009, 6), False, True, [("ipv4", 6)]),
    ]
    assert configured(found.bgp[""].asn) == (65001 * 65536 + 1, 1)


def test_a_peer_filter_states_the_as_numbers() -> None:
    found = facts("""
router bgp 65001
   neighbor LINKS peer group
   neighbor interface Et1 peer-group LINKS peer-filter LEAVES
   neighbor interface Et2 peer-group LINKS
""")
    assert [configured(peer.remote_as) for peer in found.bgp[""].neighbors.values()] == [("any", 3), None]


def test_the_default_vrf_may_be_spelled_out() -> None:
    found = facts("router bgp 65001\n   vrf default\n      router-id 10.0.0.1\n      maximum-paths 8\n")
    assert list(found.bgp) == [""]
    assert (configured(found.bgp[""].router_id), configured(found.bgp[""].max_paths), found.vrfs) == (
        ("10.0.0.1", 3),
        (8, 4),
        {},
    )


# --- QoS --------------------------------------------------------------------------------------------------------

CLASSES = """
qos map dscp 0-25 27 to traffic-class 0
qos map dscp 26 to traffic-class 3
qos map dscp 48 to traffic-class 6
qos map traffic-class 3 to tx-queue 5
priority-flow-control pause watchdog default timeout 0.2
qos profile ROCE
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   priority-flow-control pause watchdog
   uc-tx-queue 0
      no priority
      bandwidth percent 40
   uc-tx-queue 5
      no priority
      bandwidth percent 60
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500000 bytes max-mark-probability 20 weight 0
   uc-tx-queue 6
      priority strict
interface Ethernet1
   service-profile ROCE
interface Ethernet2
   service-profile ROCE
interface Ethernet3
   priority-flow-control mode on
   priority-flow-control priority 4 no-drop
interface Ethernet4
ip load-sharing trident 7
"""


def test_classes_of_a_profile_are_shared_by_its_ports() -> None:
    found = facts(CLASSES)
    qos = found.interfaces["Ethernet1"].qos
    assert qos is not None
    assert qos is found.interfaces["Ethernet2"].qos
    assert (len(qos.priorities), configured(qos.priorities[26]), configured(qos.priorities[25])) == (29, (3, 2), (0, 1))
    assert (configured(qos.pfc), configured(qos.strict), configured(qos.watchdog)) == ([(3, 8)], [(6, 18)], (True, 9))
    assert {own: configured(parsed) for own, parsed in qos.weights.items()} == {0: (40, 12), 3: (60, 15)}
    assert qos.ecn == {3: Ecn(Located(150_000, 16, "f"), Located(1_500_000, 16, "f"), Located(20, 16, "f"))}
    assert (configured(found.watchdog_ms), configured(found.hash_seed)) == ((200, 5), (7, 27))


def test_classes_on_the_port_itself() -> None:
    found = facts(CLASSES)
    qos = found.interfaces["Ethernet3"].qos
    assert qos is not None
    assert (configured(qos.pfc), qos.strict, qos.watchdog) == ([(4, 25)], [], None)
    assert found.interfaces["Ethernet4"].qos is None


# --- services, names, what is not known --------------------------------------------------------------------------


def test_services() -> None:
    services = facts("""
no lldp run
ip name-server vrf MGMT 192.0.2.53
logging vrf MGMT host 192.0.2.20
logging host 192.0.2.21 514
logging buffered 1000
ntp server vrf MGMT 192.0.2.10 iburst
ntp server 192.0.2.11
system control-plane
   ip access-group CP in
""").services
    assert configured(services.lldp) == (False, 1)
    assert configured(services.dns) == [("192.0.2.53", 2)]
    assert configured(services.syslog) == [("192.0.2.20", 3), ("192.0.2.21", 4)]
    assert configured(services.ntp) == [("192.0.2.10", 6), ("192.0.2.11", 7)]
    assert configured(services.control_plane) == (True, 8)


def test_open_doors() -> None:
    services = facts("""
management telnet
   vrf MGMT
      no shutdown
management api http-commands
   protocol http
   protocol https
   no shutdown
snmp-server community public ro
""").services
    assert configured(services.plain_text) == [("telnet", 3), ("http", 5), ("SNMP community (read-only)", 8)]


def test_closed_doors() -> None:
    services = facts("""
management telnet
   shutdown
management api http-commands
   protocol http localhost
   no shutdown
snmp-server user monitoring READ v3 auth sha256 ${KEY} priv aes ${KEY}
username admin secret sha512 ${HASH}
username audit nopassword
""").services
    assert (services.plain_text, services.secrets) == ([], [])


def test_secrets_are_named_and_never_shown() -> None:
    found = facts("""
aaa root secret sha512 $6$hush
enable password sha512 $6$hush
username admin privilege 15 secret sha512 $6$hush
snmp-server user monitoring READ v3 auth sha256 hush priv aes hush
tacacs-server key 7 hush
radius-server host 192.0.2.1 key 7 hush
ntp authentication-key 1 md5 7 hush
router bgp 65001
   neighbor 10.0.0.1 password 7 hush
""")
    assert secrets(found) == [
        "3: password of user admin, as a salted hash",
        "4: SNMP auth key of user monitoring, in clear text",
        "4: SNMP priv key of user monitoring, in clear text",
        "2: enable password, as a salted hash",
        "1: password of user root, as a salted hash",
        "5: key of tacacs-server, in reversible form",
        "6: key of radius-server, in reversible form",
        "7: NTP key, in reversible form",
        "9: BGP password of 10.0.0.1, in reversible form",
    ]
    assert "hush" not in repr(found)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("username a secret hush", CLEAR),
        ("username a secret 0 hush", CLEAR),
        ("username a secret 5 $1$hush", HASH),
        ("username a secret sha512 $6$hush", HASH),
        ("radius-server key 8a hush", ENCRYPTED),
        ("snmp-server user a b v3 localized f5717f auth sha hush", LOCALIZED),
    ],
)
def test_the_form_of_a_secret(text: str, form: str) -> None:
    assert [own.value.form for own in facts(text).services.secrets] == [form]


@pytest.mark.parametrize(
    ("rights", "what"),
    [("", "read-only"), (" ro ACL", "read-only"), (" rw", "read-write"), (" view all rw", "read-write")],
)
def test_the_rights_of_a_community(rights: str, what: str) -> None:
    found = facts(f"snmp-server community hush{rights}").services
    assert [own.value for own in found.plain_text] == [f"SNMP community ({what})"]


def test_names_that_are_defined_nowhere() -> None:
    found = undefined_in(
        "eos",
        {
            "f": """
ip prefix-list KNOWN seq 10 permit 10.0.0.0/8
ip community-list regexp CL permit 65000:.*
route-map KNOWN permit 10
   match ip address prefix-list KNOWN
   match community CL exact-match
   match community CM
   match extcommunity EC
   match as-path AP
   match ip next-hop prefix-list PL
interface Ethernet1
   vrf red
   ip access-group ACL in
   ipv6 access-group ACL6 in
   service-profile QP
   service-policy type qos input PM
   service-policy type pbr input PBR
policy-map type pbr PBR
vrf instance blue
router bgp 65001
   neighbor 10.0.0.1 route-map KNOWN in
   neighbor 10.0.0.1 route-map RM out
   neighbor 10.0.0.1 prefix-list PL2 in
   bgp listen range 10.0.0.0/8 peer-group PG peer-filter PF
   redistribute connected route-map RM2
   vrf blue
   vrf green
   vrf default
"""[1:]
        },
    )
    assert sorted(configured(found), key=lambda row: int(row[1])) == [
        ("community-list CM", 6),
        ("extcommunity-list EC", 7),
        ("AS-path list AP", 8),
        ("prefix-list PL", 9),
        ("VRF red", 11),
        ("access-list ACL", 12),
        ("access-list ACL6", 13),
        ("QoS profile QP", 14),
        ("policy-map PM", 15),
        ("route-map RM", 21),
        ("prefix-list PL2", 22),
        ("peer filter PF", 23),
        ("peer group PG", 23),
        ("route-map RM2", 24),
        ("VRF green", 26),
    ]


def test_prefix_lists_in_both_forms() -> None:
    found = facts("""
ip prefix-list ONE seq 10 permit 10.0.0.0/8 ge 32
ip prefix-list ONE seq 20 permit 10.1.0.0/16
ip prefix-list TWO
   seq 10 permit 10.2.0.0/16 le 24
   seq 20 deny 0.0.0.0/0
ipv6 prefix-list SIX
   seq 10 permit fd00::/16 ge 128
""")
    assert {name: configured(rows) for name, rows in found.prefixes.items()} == {
        "ONE": [("10.0.0.0/8 ge 32", 1), ("10.1.0.0/16", 2)],
        "TWO": [("10.2.0.0/16 le 24", 4)],
        "SIX": [("fd00::/16 ge 128", 7)],
    }


def test_what_is_not_known_is_kept_whole() -> None:
    found = facts("""
frobnicate the fabric
interface Ethernet1
   colour blue
router bgp 65001
   gossip interval 3
banner login
frobnicate is no statement here
EOF
ip address virtual source-nat vrf red address 10.0.0.1
interface Ethernet1
   comment
   frobnicate is no statement here
   EOF
! frobnicate is a comment
""")
    assert configured(found.unread) == [("frobnicate the fabric", 1), ("colour blue", 3), ("gossip interval 3", 5)]
    assert found.statements == 8


@pytest.mark.parametrize(
    "text",
    [
        "",
        "interface",
        "interface \n   ip address\n   mtu\n   channel-group\n   evpn\n      identifier auto lacp\n",
        "router bgp",
        "router bgp x\n   neighbor\n   neighbor interface\n   neighbor 10.0.0.1\n   neighbor 10.0.0.1 timers 1\n   vrf\n",
        "router bgp 1\n   bgp listen range\n   vlan x\n      rd\n      route-target\n   maximum-paths many\n",
        "interface Vxlan1\n   vxlan vlan 1-9999999 vni 1-9999999\n   vxlan vrf\n",
        "interface Ethernet1-99999999\n   ip address 10.300.0.1/31\n   ip address 10.0.0.1/99\n",
        "banner login\nno end in sight",
        "qos profile\n   tx-queue x\nqos map dscp to traffic-class\nhostname\nusername\nip prefix-list\n",
        "\x00\x01\xff\n   \x00",
        "match\nneighbor\nservice-policy input",
        "router bgp 1\n   vrf red\n      rd\n      route-target\n      route-target import\n   vlan 10\n      rd \n",
    ],
)
def test_nothing_is_too_broken_to_be_read(text: str) -> None:
    assert read("x", {"f": text}).nos == "eos"


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("ip address 10.0.0.1/31", ""),
        ("ip address 10.0.0.1 255.255.255.254", ""),
        ("ip address 10.0.0.1/31 secondary", ""),
        ("ip address virtual 10.0.0.1/24", ""),
        ("ip virtual-router address 10.0.0.1", ""),
        ("ip address virtual source-nat vrf red address 10.0.0.1", ""),
        ("ip address dhcp", ""),
        ("ip address unnumbered Loopback0", ""),
        ("ipv6 address fd00::1/127", ""),
        ("ipv6 address fe80::1/64 link-local", ""),
        ("ip address 10.0.0.777/31", "expected an address"),
        ("ip address virtual 10.0.0.1/33", "expected an address"),
        ("ip address virtual 10.0.0.²/24", "expected an address"),
        ("ip virtual-router address 10.0.0.300", "expected an address"),
        ("ipv6 address fd00::1::2/64", "expected an address"),
    ],
)
def test_an_address_that_is_none_is_named(line: str, mistake: str) -> None:
    found = read("x", {"f": f"hostname x\ninterface Ethernet1\n   no switchport\n   {line}\n"})
    assert [(fact.value, fact.line) for fact in found.broken] == [(f"{line}: {mistake}", 4)] * bool(mistake)


# --- our own -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: f"{path.parts[-4]}-{path.parent.name}")
def test_generated_configs_are_read_whole(path: PurePath) -> None:
    text = located(path).read_text()
    found = read("x", {"f": text})
    assert (found.name, found.unread, found.broken) == (path.parent.name, [], [])
    with_as = sum(1 for peer in found.neighbors() if peer.remote_as)
    own = {
        line.split()[1]
        for line in text.splitlines()
        if line.lstrip().startswith("neighbor ") and line.split()[1][0].isdigit()
    }
    assert with_as == sum(1 for _ in found.neighbors()) >= len(own) > 0


def test_there_are_generated_configs() -> None:
    assert len(GENERATED) > 50


def test_a_group_that_its_first_setting_makes() -> None:
    """As typed: EOS makes the peer group and prints `neighbor X peer group` before the setting."""
    typed = "router bgp 1\n   neighbor X remote-as 1\n   neighbor 10.0.0.1 peer group X\n   neighbor 10.0.0.2 peer group Y\n"
    assert [(fact.value, fact.line) for fact in undefined_in("eos", {"f": typed})] == [("peer group Y", 4)]


def test_a_process_that_is_entered_twice() -> None:
    found = facts(
        "router bgp 1\n   neighbor X peer group\n   neighbor X ebgp-multihop 2\n"
        "!\nrouter bgp 1\n   neighbor 10.0.0.1 peer group X\n"
    )
    assert found.bgp[""].neighbors["10.0.0.1"].multihop


def test_vnis_in_a_list_are_a_statement_for_each_vlan() -> None:
    tunnel = "vlan 10,20\ninterface Vxlan1\n   vxlan vlan 10,20 vni 10010,10020\n"
    bgp = "router bgp 1\n   vlan {}\n      rd 1.1.1.1:1\n"
    assert undefined_in("eos", {"f": tunnel + bgp.format(20)}) == []
    assert [fact.value for fact in undefined_in("eos", {"f": tunnel + bgp.format(30)})] == ["VLAN 30", "VNI of VLAN 30"]


def test_a_second_process_is_refused() -> None:
    found = facts("router bgp 1\n   neighbor 10.0.0.1 remote-as 3\nrouter bgp 2\n   vlan 10\n      rd 1.1.1.1:10\n")
    assert configured(found.bgp[""].asn) == (1, 3)
    assert [(fact.value, fact.line) for fact in found.conflicts] == [("the AS number of BGP is 2 here and 1 in line 1", 3)]
