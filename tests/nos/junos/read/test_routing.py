"""BGP, tenants, policies and services of a Junos config."""

from __future__ import annotations

import re

import pytest

from fabric.model.facts import Located, Vni
from tests.nos.junos.read.helpers import FILE, configured, facts, plain
from tests.nos.undefined import undefined_in

BGP = """\
chassis { maximum-ecmp 64; }
routing-options {
    router-id 10.0.0.1;
    autonomous-system 65000.5 loops 2;
    forwarding-table { export [ OTHER PFE ]; }
}
policy-options { policy-statement PFE { term 1 { then { load-balance per-flow; } } } policy-statement OTHER; }
protocols {
    bgp {
        hold-time 90;
        multipath;
        group FABRIC {
            type external;
            hold-time 9;
            import [ IN OTHER ];
            export ( OUT && OTHER );
            peer-as 65001;
            family inet { unicast { prefix-limit { maximum 100; } loops 3; } }
            family inet6 { unicast; }
            multipath multiple-as;
            bfd-liveness-detection { minimum-interval 300; }
            neighbor 10.1.0.1 {
                description "spine1";
                local-as 65010 private;
                family inet { any { accepted-prefix-limit { maximum 7; } } }
            }
            neighbor 2001:DB8::0:1 { peer-as 65002; import NEAR; disable; }
            allow 10.9.0.0/24;
        }
        group EVPN {
            type internal;
            local-address 10.0.0.1;
            multihop;
            family evpn { signaling; }
            neighbor 10.0.0.9;
        }
        group UNNUMBERED {
            peer-as-list SPINES;
            multipath disable;
            dynamic-neighbor ND { peer-auto-discovery { interface et-0/0/1.0; interface et-0/0/2.5; } }
        }
    }
}
routing-instances {
    RED {
        instance-type vrf;
        routing-options { router-id 10.0.0.2; }
        protocols { bgp { group OUT { neighbor 10.1.0.1 { peer-as 65020; multihop { ttl 2; } } } } }
    }
}
"""
SHARED = {"vrf": "", "hold_s": (9, 14), "import_filter": ("IN OTHER", 15), "export_filter": ("( OUT && OTHER )", 16)}
SESSIONS = [
    {
        **SHARED, "peer": "10.1.0.1", "line": 22, "description": ("spine1", 23), "local_as": (65010, 24),
        "remote_as": (65001, 17), "families": [("ipv4", 25)], "max_prefix": (7, 25), "bfd": (True, 21),
        "allowas_in": (1, 4),
    },
    {
        **SHARED, "peer": "2001:db8::1", "line": 27, "remote_as": (65002, 27), "import_filter": ("NEAR", 27),
        "families": [("ipv4", 18), ("ipv6", 19)], "max_prefix": (100, 18), "bfd": (True, 21), "enabled": (False, 27),
        "allowas_in": (2, 18),
    },
    {
        **SHARED, "peer": "10.9.0.0/24", "line": 28, "remote_as": (65001, 17), "families": [("ipv4", 18), ("ipv6", 19)],
        "max_prefix": (100, 18), "bfd": (True, 21), "dynamic": True, "allowas_in": (2, 18),
    },
    {
        "vrf": "", "peer": "10.0.0.9", "line": 35, "remote_as": ("internal", 31), "source": ("10.0.0.1", 32),
        "multihop": (64, 33), "families": [("evpn", 34)], "hold_s": (90, 10), "allowas_in": (1, 4),
    },
    {
        "vrf": "", "peer": "et-0/0/1", "line": 40, "remote_as": ("external", 38), "families": [("ipv4", 40)],
        "hold_s": (90, 10), "interface": True, "allowas_in": (1, 4),
    },
    {
        "vrf": "", "peer": "et-0/0/2.5", "line": 40, "remote_as": ("external", 38), "families": [("ipv4", 40)],
        "hold_s": (90, 10), "interface": True, "allowas_in": (1, 4),
    },
]  # fmt: skip


def test_bgp() -> None:
    found = facts(BGP)
    process = found.bgp[""]
    assert [configured(session) for session in process.neighbors.values()] == [
        {name: value for name, value in session.items() if value != ""} | {"unchanged": (False, session["line"])}
        for session in SESSIONS
    ]
    assert (process.line, process.asn, process.router_id) == (
        9,
        Located(65000 * 65536 + 5, 4, FILE),
        Located("10.0.0.1", 3, FILE),
    )
    assert process.max_paths == Located(1, 37, FILE)  # the group of two unnumbered sessions has none
    assert process.relax == Located(True, 20, FILE)
    red = found.bgp["RED"]
    assert (red.asn, red.router_id, red.max_paths) == (process.asn, Located("10.0.0.2", 47, FILE), None)
    assert configured(red.neighbors["10.1.0.1"]) == {
        "vrf": "RED", "peer": "10.1.0.1", "line": 48, "remote_as": (65020, 48), "families": [("ipv4", 48)],
        "multihop": (2, 48), "unchanged": (False, 48),
    }  # fmt: skip
    assert found.unread == []


@pytest.mark.parametrize(
    ("pattern", "new", "paths", "relax"),
    [
        ("$^", "", (1, 37), (True, 20)),
        ("multipath disable;", "", (64, 1), (False, 11)),
        ("maximum-ecmp 64;|multipath disable;", "", (16, 20), (False, 11)),
        ("export [^;]*PFE .;|multipath disable;", "", (1, 20), (False, 11)),
        (" PFE(?= ])|multipath disable;", "", (1, 5), (False, 11)),
        ("multipath multiple-as;|multipath disable;", "", (64, 1), (False, 11)),
    ],
)
def test_equal_paths(pattern: str, new: str, paths: tuple[int, int], relax: tuple[bool, int]) -> None:
    process = facts(re.sub(pattern, new, BGP)).bgp[""]
    assert (configured(process.max_paths), configured(process.relax)) == (paths, relax)


def test_one_neighbor_shares_no_paths() -> None:
    """What its group says of them is read all the same; what it does not say is no fault."""
    alone = "protocols {{ bgp {{ group UP {{ type external; {} neighbor 10.0.0.1 {{ peer-as 65001; }} }} }} }}\n"
    parsed = {words: facts(alone.format(words)).bgp[""].relax for words in ("multipath { multiple-as; }", "multipath;", "")}
    assert parsed == {"multipath { multiple-as; }": Located(True, 1, FILE), "multipath;": None, "": None}


TENANTS = """\
policy-options {
    policy-statement RED-IN {
        term own { from { community [ T-RED T-BLUE ]; } then { accept; } }
        term never { from { community T-NEVER; } then { reject; } }
    }
    policy-statement RED-OUT { then { community add T-RED; accept; } }
    community T-RED members target:65000:1;
    community T-BLUE members [ target:65000:2 65000:7 ];
    community T-NEVER members target:65000:3;
}
routing-instances {
    mgmt_junos { routing-options { static { route 0.0.0.0/0 next-hop 10.0.0.1; } } }
    RED {
        instance-type vrf;
        protocols { evpn { ip-prefix-routes { vni 50001; encapsulation vxlan; } } }
        route-distinguisher 10.0.0.1:1;
        vrf-import RED-IN;
        vrf-export RED-OUT;
        vrf-target target:65000:9;
    }
    BLUE {
        instance-type vrf;
        vrf-target { import target:4200000001L:5; export target:65000:6; }
    }
    LITE { instance-type virtual-router; }
    BRIDGE {
        instance-type mac-vrf;
        vtep-source-interface lo0.0;
        route-distinguisher 10.0.0.1:100;
        vrf-target { target:65000:100; auto; }
        protocols { evpn { vni-options { vni 10001 { vrf-target target:65000:10001; } } } }
        vlans { web { vlan-id 10; vxlan { vni 10001; } } db { vlan-id 11; vxlan { vni 10002; } } plain { vlan-id 12; } }
    }
    OLD {
        instance-type evpn;
        vlan-id 20;
        vxlan { vni 10003; }
        vrf-target target:65000:20;
    }
}
"""


def test_tenants() -> None:
    found = facts(TENANTS)
    assert {name: configured(vrf) for name, vrf in found.vrfs.items()} == {
        "RED": {
            "name": "RED",
            "line": 13,
            "vni": (50001, 15),
            "rd": ("10.0.0.1:1", 16),
            "imports": [("65000:1", 7), ("65000:2", 8)],
            "exports": [("65000:1", 7)],
        },
        "BLUE": {"name": "BLUE", "line": 21, "imports": [("4200000001:5", 23)], "exports": [("65000:6", 23)]},
        "LITE": {"name": "LITE", "line": 25},
    }
    rd, auto = ("10.0.0.1:100", 29), [("auto", 30)]
    own, old = [("65000:10001", 31)], [("65000:20", 38)]
    assert {number: configured(vni) for number, vni in found.vnis.items()} == {
        10001: {"number": 10001, "line": 32, "vlan": (10, 32), "rd": rd, "imports": own, "exports": own},
        10002: {"number": 10002, "line": 32, "vlan": (11, 32), "rd": rd, "imports": auto, "exports": auto},
        10003: {"number": 10003, "line": 37, "vlan": (20, 36), "imports": old, "exports": old, "tagged": (False, 35)},
    }
    assert found.vtep == Located("lo0", 28, FILE)
    assert found.unread == []


def test_vlans_of_the_switch_itself() -> None:
    found = facts(
        "set switch-options vtep-source-interface lo0.0\nset switch-options route-distinguisher 10.0.0.1:1\n"
        "set switch-options vrf-target target:65000:1\nset vlans web vlan-id 10\nset vlans web vxlan vni 10001\n"
    )
    expected = Vni(number=10001, line=5, file=FILE, vlan=Located(10, 4, FILE), rd=Located("10.0.0.1:1", 2, FILE))
    expected.imports = [Located("65000:1", 3, FILE)]
    expected.exports = [Located("65000:1", 3, FILE)]
    expected.tagged = Located(True, 5, FILE)
    assert found.vnis == {10001: expected}
    assert found.vtep == Located("lo0", 1, FILE)


def test_a_leaf_that_only_routes_has_tunnels_from_the_address_of_its_sessions() -> None:
    sessions = "protocols { bgp { group E { local-address 10.0.0.1; family evpn { signaling; } neighbor 10.0.0.9; } } }\n"
    tenant = "routing-instances { RED { instance-type vrf; protocols { evpn { ip-prefix-routes { vni 5; } } } } }"
    assert facts(sessions + tenant).vtep == Located("10.0.0.1", 1, FILE)
    assert facts(sessions).vtep is None


def test_prefix_lists() -> None:
    found = facts(
        """\
set interfaces et-0/0/1 unit 0 family inet address 10.1.0.1/24
set interfaces lo0 unit 0 family inet address 10.9.0.1
policy-options {
    prefix-list PLAIN { 10.0.0.0/8; 2001:db8::/32; 10.9.9.9; }
    prefix-list PICKED { apply-path "interfaces <*> unit <*> family inet address <*>"; }
    prefix-list PORTS { apply-path "interfaces <et-*> unit <*> family inet address <*>"; }
    route-filter-list SET {
        10.0.0.0/16 exact;
        10.0.0.0/16 upto /24;
        10.1.0.0/16 orlonger;
        10.2.0.0/16 longer;
        10.3.0.0/16 prefix-length-range /32-/32;
        10.4.0.0/16 prefix-length-range /24-/28;
        2001:db8::/32 orlonger;
        10.5.0.0/16;
        0.0.0.0/0 orlonger reject;
    }
    route-filter-list NOTHING { 0.0.0.0/0 orlonger reject; }
}
"""
    )
    assert {name: plain(entries) for name, entries in found.prefixes.items()} == {
        "PLAIN": ["10.0.0.0/8", "2001:db8::/32", "10.9.9.9/32"],
        "PICKED": ["10.1.0.1/24", "10.9.0.1/32"],
        "PORTS": ["10.1.0.1/24"],
        "SET": [
            "10.0.0.0/16",
            "10.0.0.0/16 le 24",
            "10.1.0.0/16 le 32",
            "10.2.0.0/16 ge 17",
            "10.3.0.0/16 ge 32",
            "10.4.0.0/16 ge 24 le 28",
            "2001:db8::/32 le 128",
            "10.5.0.0/16",
        ],
        "NOTHING": [],
    }
    assert [parsed.line for parsed in found.prefixes["SET"]] == [8, 9, 10, 11, 12, 13, 14, 15]


def test_names_that_are_defined_nowhere() -> None:
    text = """\
set protocols bgp group A neighbor 10.0.0.1 import [ IN KNOWN ]
set protocols bgp group A export ( OUT && ! KNOWN )
set policy-options policy-statement KNOWN term 1 from policy DEEP
set policy-options policy-statement KNOWN term 1 from prefix-list PL
set policy-options policy-statement KNOWN from route-filter-list RFL
set policy-options policy-statement KNOWN from community [ C 65000:1 ]
set policy-options policy-statement KNOWN term 2 then community add C2
set policy-options policy-statement KNOWN from as-path AP
set interfaces lo0 unit 0 family inet filter input PROTECT
set firewall family inet filter OTHER term 1 from source-prefix-list SPL
set firewall family inet filter OTHER term 1 then policer P
set class-of-service interfaces et-0/0/1 scheduler-map SM
set class-of-service interfaces et-0/0/1 unit 0 classifiers dscp CL
set class-of-service interfaces et-0/0/1 congestion-notification-profile CNP
set class-of-service scheduler-maps OWN forwarding-class best-effort scheduler S
set class-of-service scheduler-maps OWN forwarding-class FC scheduler KNOWN
set class-of-service schedulers KNOWN drop-profile-map loss-priority any protocol any drop-profile DP
set routing-instances RED vrf-import RT
set system ntp server 10.0.0.1 routing-instance mgmt_junos
set system ntp server 10.0.0.2 routing-instance AWAY
set vlans red l3-interface irb.100
"""
    found = undefined_in("junos", {FILE: text})
    assert [(one.value, one.line) for one in found] == [
        ("policy-statement IN", 1),
        ("policy-statement OUT", 2),
        ("policy-statement DEEP", 3),
        ("prefix-list PL", 4),
        ("route-filter-list RFL", 5),
        ("community C", 6),
        ("community C2", 7),
        ("as-path AP", 8),
        ("filter PROTECT", 9),
        ("prefix-list SPL", 10),
        ("policer P", 11),
        ("scheduler-map SM", 12),
        ("classifier CL", 13),
        ("congestion-notification-profile CNP", 14),
        ("scheduler S", 15),
        ("forwarding-class FC", 16),
        ("drop-profile DP", 17),
        ("policy-statement RT", 18),
        ("routing-instance AWAY", 20),
        ("VLAN interface 100", 21),
    ]


SERVICES = """\
system {
    root-authentication { encrypted-password "$6$abc"; ## SECRET-DATA }
    }
    login {
        user admin { authentication { encrypted-password "${HASH}"; ssh-rsa "ssh-rsa AAAA"; } }
        user eve { authentication { encrypted-password "*"; } }
        user bob { authentication { plain-text-password-value hello; } }
    }
    name-server { 10.0.0.53 routing-instance mgmt_junos; }
    services { ssh; telnet; web-management { http; https; } }
    syslog { host 10.0.0.20 { any notice; } file messages { any notice; } }
    ntp { server 10.0.0.10 prefer; peer 10.0.0.11; authentication-key 1 type md5 value "abc"; }
    radius-server 10.0.0.30 secret "$9$abc";
}
snmp {
    community public { authorization read-only; }
    v3 { usm { local-engine { user mon { authentication-sha { authentication-password "pass phrase"; } } } } }
}
interfaces { lo0 { unit 0 { family inet { filter { input GUARD; } } } } }
firewall { family inet { filter GUARD { term 1 { then accept; } } } }
forwarding-options { enhanced-hash-key { hash-seed 7; } }
protocols {
    bgp { group A { authentication-key "$9$a"; neighbor 10.0.0.1 { authentication-key "$9$b"; } } }
    lldp { interface all; }
}
security { certificates { local { gnmi { "-----BEGIN;
{MII}" ## SECRET-DATA
; } } } }
"""


def test_services_and_secrets() -> None:
    found = facts(SERVICES)
    assert configured(found.services) == {
        "ntp": [("10.0.0.10", 12), ("10.0.0.11", 12)],
        "syslog": [("10.0.0.20", 11)],
        "dns": [("10.0.0.53", 9)],
        "radius": [("10.0.0.30", 13)],
        "lldp": (True, 24),
        "control_plane": (True, 19),
        "plain_text": [("telnet", 10), ("http", 10), ("SNMP community (read-only)", 16)],
        "secrets": [
            ("password of root, as a salted hash", 2),
            ("password of user bob, in clear text", 7),
            ("NTP key 1, in clear text", 12),
            ("RADIUS secret of 10.0.0.30, in reversible form", 13),
            ("SNMP key of user mon, in clear text", 17),
            ("BGP password of 10.0.0.1, in reversible form", 23),
            ("BGP password of group A, in reversible form", 23),
        ],
    }
    assert found.hash_seed == Located(7, 21, FILE)
    assert (found.unread, found.broken) == ([], [])


@pytest.mark.parametrize(("key", "stored"), [("ssh-rsa", []), ("plain-text-password-value", ["password of root"])])
def test_a_public_key_is_no_secret(key: str, stored: list[str]) -> None:
    """Junos marks its line as it marks those of secrets."""
    found = facts(f'system {{ root-authentication {{\n{key} "ssh-rsa AAAA"; ## SECRET-DATA\n}} }}')
    assert [one.value.what for one in found.services.secrets] == stored


def test_lldp_that_is_off() -> None:
    assert facts("protocols { lldp { disable; interface all; } }").services.lldp == Located(False, 1, FILE)
    assert facts("protocols { lldp; }").services.lldp is None
