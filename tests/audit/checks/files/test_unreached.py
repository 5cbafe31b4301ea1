"""Entries behind one that takes all they match: FAB2577, in lists, policies and packet filters of each network OS."""

from __future__ import annotations

from collections.abc import Mapping

from tests.audit.checks.files.helpers import Case, Files, says

EOS = """\
hostname leaf1
ip prefix-list OWN
   seq 10 permit 10.0.0.0/15 ge 32
   seq 20 deny 0.0.0.0/0 le 32
ip prefix-list OTHERS
   seq 10 deny 10.1.0.0/16 le 32
   seq 20 permit 10.0.0.0/8 le 32
ip access-list MANAGEMENT
   10 permit tcp any any eq ssh
   20 deny ip any any
route-map IN permit 10
   match ip address prefix-list OWN
route-map IN deny 20
"""
NXOS = EOS.replace("ip prefix-list OWN\n   seq", "ip prefix-list OWN seq").replace(
    "\n   seq 20 deny 0", "\nip prefix-list OWN seq 20 deny 0"
)
NXOS = NXOS.replace("ip prefix-list OTHERS\n   seq", "ip prefix-list OTHERS seq").replace(
    "\n   seq 20 permit", "\nip prefix-list OTHERS seq 20 permit"
)
FRR = """\
hostname leaf1
ip prefix-list OWN seq 10 permit 10.0.0.0/15 ge 32
ip prefix-list OWN seq 20 deny any
access-list LOGIN seq 10 permit 10.0.0.0/8
access-list LOGIN seq 20 deny any
route-map IN permit 10
 match ip address prefix-list OWN
 on-match next
exit
route-map IN deny 20
exit
"""
NFT = """\
table inet guard {
\tchain input {
\t\ttype filter hook input priority filter; policy drop;
\t\tip saddr 10.0.0.0/8 accept
\t\tcounter drop
\t}
}
"""
JUNOS = """\
set system host-name leaf1
set policy-options route-filter-list OWN 0.0.0.0/0 orlonger reject
set policy-options route-filter-list OWN 10.0.0.0/15 orlonger
set policy-options policy-statement IN term own from route-filter-list OWN
set policy-options policy-statement IN term own then accept
set policy-options policy-statement IN term rest then reject
set firewall family inet filter GUARD term ssh from protocol tcp
set firewall family inet filter GUARD term ssh then accept
set firewall family inet filter GUARD term rest then discard
"""
NVUE = """\
- set:
    system: {hostname: leaf1}
    router:
      policy:
        prefix-list:
          OWN:
            rule:
              '10': {action: permit, match: {10.0.0.0/15: {min-prefix-len: 32}}}
              '20': {action: deny, match: {0.0.0.0/0: {max-prefix-len: 32}}}
        route-map:
          IN:
            rule:
              '10': {action: {permit: {}}, match: {ip-prefix-list: OWN}}
              '20': {action: {deny: {}}}
    acl:
      GUARD:
        type: ipv4
        rule:
          '10': {action: {permit: {}}, match: {ip: {protocol: tcp}}}
          '20': {action: {deny: {}}}
"""
SONIC = """\
{
"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
"ACL_TABLE": {"GUARD": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}},
"PORT": {"Ethernet0": {"lanes": "1,2", "speed": "100000"}},
"ACL_RULE": {
"GUARD|OWN": {"PRIORITY": "100", "PACKET_ACTION": "FORWARD", "SRC_IP": "10.0.0.0/8"},
"GUARD|REST": {"PRIORITY": "10", "PACKET_ACTION": "DROP", "SRC_IP": "0.0.0.0/0"}}
}
"""
ALL: Files = {
    "leaf1.eos": EOS,
    "leaf2.nxos": NXOS,
    "leaf3.frr/frr.conf": FRR,
    "leaf3.frr/nftables.conf": NFT,
    "leaf4.junos": JUNOS,
    "leaf5.cumulus": NVUE,
    "leaf6.sonic": SONIC,
}
FIRST_LIST = "   seq 10 permit 10.0.0.0/15 ge 32\n   seq 20 deny 0.0.0.0/0 le 32\n"


def one(name: str, *edits: tuple[str, str]) -> Files:
    """One file of ALL, edited; each text must be there once."""
    text = ALL[name]
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {name: text}


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2577", "each first entry is the narrow one"): (ALL, []),
    ("FAB2577", "EOS: a denial of everything first"): (
        one("leaf1.eos", (FIRST_LIST, "   seq 5 deny 0.0.0.0/0 le 32\n   seq 10 permit 10.0.0.0/15 ge 32\n")),
        [
            "leaf1.eos:4: error[FAB2577]: leaf1: prefix list OWN: no route reaches this permit: the entry on line 3 denies "
            "all "
            "that it matches"
        ],
    ),
    ("FAB2577", "EOS: the numbers decide, not the lines"): (
        one("leaf1.eos", (FIRST_LIST, "   seq 20 deny 0.0.0.0/0 le 32\n   seq 10 permit 10.0.0.0/15 ge 32\n")),
        [],
    ),
    ("FAB2577", "EOS: what is denied passes above"): (
        one(
            "leaf1.eos",
            ("   seq 10 deny 10.1.0.0/16 le 32\n", ""),
            ("le 32\nip access", "le 32\n   seq 30 deny 10.1.0.0/16 le 32\nip access"),
        ),
        [
            "leaf1.eos:7: warning[FAB2577]: leaf1: prefix list OTHERS: no route reaches this deny: the entry on line 6 "
            "permits "
            "all that it matches"
        ],
    ),
    ("FAB2577", "EOS: routes of another length"): (
        one(
            "leaf1.eos",
            ("10 deny 10.1.0.0/16 le 32", "10 deny 10.0.0.0/8"),
            ("20 permit 10.0.0.0/8 le 32", "20 permit 10.0.0.0/8 ge 16 le 32"),
        ),
        [],
    ),
    ("FAB2577", "EOS: a filter and a policy"): (
        one("leaf1.eos", ("   20 deny ip any any", "   5 deny ip any any"), ("route-map IN deny 20", "route-map IN deny 5")),
        [
            "leaf1.eos:11: error[FAB2577]: leaf1: policy IN: no route reaches this permit: the entry on line 13 denies all "
            "that "
            "it matches",
            "leaf1.eos:9: error[FAB2577]: leaf1: no packet reaches entry 10 of `ip access-list MANAGEMENT`: entry 5 takes "
            "every "
            "packet before it\n    hint: give the entry a number below 5",
        ],
    ),
    ("FAB2577", "EOS: nothing is permitted"): (
        one("leaf1.eos", ("10 permit tcp", "10 deny tcp")),
        [
            "leaf1.eos:9: warning[FAB2577]: leaf1: `ip access-list MANAGEMENT` permits nothing: what no entry matches is "
            "denied\n    hint: add an entry that permits the other packets"
        ],
    ),
    ("FAB2577", "NX-OS"): (
        one("leaf2.nxos", ("seq 20 deny 0", "seq 5 deny 0"), ("   20 deny ip", "   5 deny ip")),
        [
            "leaf2.nxos:2: error[FAB2577]: leaf1: prefix list OWN: no route reaches this permit: the entry on line 3 denies "
            "all "
            "that it matches",
            "leaf2.nxos:7: error[FAB2577]: leaf1: no packet reaches entry 10 of `ip access-list MANAGEMENT`: entry 5 takes "
            "every packet before it\n    hint: give the entry a number below 5",
        ],
    ),
    ("FAB2577", "FRR: `any` first, and a chain that ends above"): (
        {
            **one(
                "leaf3.frr/frr.conf", ("OWN seq 20", "OWN seq 5"), ("LOGIN seq 20", "LOGIN seq 5"), (" on-match next\n", "")
            ),
            **one("leaf3.frr/nftables.conf", ("\t\tip saddr", "\t\tdrop\n\t\tip saddr")),
        },
        [
            "leaf3.frr/frr.conf:2: error[FAB2577]: leaf1: prefix list OWN: no route reaches this permit: the entry on line 3 "
            "denies all that it matches",
            "leaf3.frr/frr.conf:4: warning[FAB2577]: leaf1: no packet reaches entry 10 of `access-list LOGIN`: entry 5 takes "
            "every packet before it\n    hint: give the entry a number below 5",
            *(
                f"leaf3.frr/nftables.conf:{line}: error[FAB2577]: leaf1: no packet reaches this rule of `table inet guard / "
                "chain input`: a rule above it takes every packet\n    hint: move the rule above the one that takes every "
                "packet"
                for line in (5, 6)
            ),
        ],
    ),
    ("FAB2577", "FRR: routes jump over a denial"): (
        one(
            "leaf3.frr/frr.conf",
            (" on-match next\n", " on-match goto 30\n"),
            ("deny 20\nexit", "deny 20\nexit\nroute-map IN permit 30\nexit"),
        ),
        [],
    ),
    ("FAB2577", "FRR: a list again"): (
        one(
            "leaf3.frr/frr.conf",
            (" on-match next\n", ""),
            ("map IN deny 20\n", "map IN deny 20\n match ip address prefix-list OWN\n"),
        ),
        [
            "leaf3.frr/frr.conf:9: warning[FAB2577]: leaf1: policy IN: no route reaches this deny: the entry on line 6 "
            "permits "
            "all that it matches"
        ],
    ),
    ("FAB2577", "Junos: a term without a condition first"): (
        one(
            "leaf4.junos",
            ("statement IN term rest then reject", "statement IN term zero then reject"),
            (
                "set policy-options policy-statement IN term own from",
                "set policy-options policy-statement IN term first then reject\nset policy-options policy-statement IN term "
                "own from",
            ),
            (
                "set firewall family inet filter GUARD term ssh from",
                "set firewall family inet filter GUARD term all then discard\nset firewall family inet filter GUARD term "
                "ssh from",
            ),
        ),
        [
            "leaf4.junos:5: error[FAB2577]: leaf1: policy IN: no route reaches this permit: the entry on line 4 denies all "
            "that "
            "it matches",
            "leaf4.junos:8: error[FAB2577]: leaf1: term all has no condition and takes every packet: none reaches term ssh "
            "below "
            "it\n    hint: give all a condition, or move it to the end (`insert term all after term LAST`)",
        ],
    ),
    ("FAB2577", "Junos: a condition that facts do not know"): (
        one("leaf4.junos", ("term own from route-filter-list OWN", "term own from protocol bgp")),
        [],
    ),
    ("FAB2577", "NVUE"): (
        {
            "leaf5.cumulus": NVUE.replace("'20': {action: deny, match", "'5': {action: deny, match").replace(
                "'20': {action: {deny: {}}}", "'5': {action: {deny: {}}}"
            )
        },
        [
            "leaf5.cumulus:8: error[FAB2577]: leaf1: prefix list OWN: no route reaches this permit: the entry on line 9 "
            "denies "
            "all that it matches",
            "leaf5.cumulus:13: error[FAB2577]: leaf1: policy IN: no route reaches this permit: the entry on line 14 denies "
            "all "
            "that it matches",
            "leaf5.cumulus:20: warning[FAB2577]: leaf1: rule 5 of ACL GUARD has no match and takes every packet: none "
            "reaches "
            "rule 10\n    hint: give rule 5 a match, or the highest number",
        ],
    ),
    ("FAB2577", "SONiC"): (
        one("leaf6.sonic", ('"PRIORITY": "10"', '"PRIORITY": "1000"')),
        [
            "leaf6.sonic:6: error[FAB2577]: leaf1: no packet reaches rule OWN of ACL table GUARD: rule REST has a higher "
            "priority and takes every packet\n    hint: give the rule a PRIORITY above 1000"
        ],
    ),
}


def test_a_rule_without_a_match() -> None:
    assert says("FAB2534", one("leaf6.sonic", (', "SRC_IP": "10.0.0.0/8"', ""))) == [
        "leaf6.sonic:6: error[FAB2534]: leaf1: rule OWN of ACL table GUARD matches nothing: SONiC refuses it\n"
        "    hint: add a field to match, as ETHER_TYPE or SRC_IP"
    ]
