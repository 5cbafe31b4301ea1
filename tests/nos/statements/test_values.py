"""Values that network OSes accept, and rows about order and combinations: literals per system, and every row complete."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from fabric.audit.checks.role_peers.outline import judged
from fabric.audit.checks.statements import syntax_of
from fabric.configs.targets import JUDGED
from fabric.nos.reading import read_device, scan
from fabric.nos.statements.conditions import Comparison, condition, load_conditions
from fabric.nos.statements.values import load_values, make_kinds, number_kind, shared_kinds
from fabric.nos.target import targets
from tests import ROOT
from tests.audit.checks.batfish.helpers import DESIGNS, small_intent
from tests.examples import folder
from tests.nos.statements.complete import SMALL, Coverage, coverage

SYSTEMS = sorted(targets())
BUNDLED = ("cumulus", "eos", "frr", "junos", "nxos", "sonic")


@pytest.mark.parametrize(
    ("kind", "taken", "refused"),
    [
        ("rd", "65000:4294967295 10.0.0.1:65535 4200000001:65535 65000.1:7", "10.0.0.1:65536 65536:65536 4294967296:1 1"),
        ("rt", "65000:100100 10.0.0.1:100 100100:100", "100100:100100 10.0.0.1:100100 65000 a:b"),
        ("vlan", "1 4094", "0 4095 x 1.5"),
        ("vni", "1 16777215", "0 16777216"),
        ("asn", "1 4294967295", "0 4294967296 65000.1"),
        ("asn-any", "65000.1", "65536.1 1.65536"),
    ],
)
def test_kinds(kind: str, taken: str, refused: str) -> None:
    accepts = shared_kinds()[kind].accepts
    assert [text for text in taken.split() if not accepts(text)] == []
    assert [text for text in refused.split() if accepts(text)] == []


def test_ranges() -> None:
    kind = number_kind("0|3-65535")
    assert kind.expected == "a number 0 or from 3 to 65535"
    assert [text for text in ("0", "2", "3", "65536", "\u0663", "9" * 5000) if kind.accepts(text)] == ["0", "3"]


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="unknown kind nothing"):
        make_kinds({"mine": {"expected": "x", "forms": ["<nothing>"]}}, shared_kinds())


REFUSED = {  # network OS → lines of a config → what is not accepted
    "eos": {
        "vlan 4095": "4095",
        "vlan internal order ascending range 1 1199": "1",
        "router bgp 65001\n   vlan 10\n      route-target both 100010:100010": "100010:100010",
        "router bgp 65001\n   vlan 10\n      rd 10.8.0.1:100010": "10.8.0.1:100010",
        "router bgp 65001\n   maximum-paths 4000": "4000",
        "interface Vxlan1\n   vxlan vlan 10 vni 16777216": "16777216",
        "router bgp 65001\n   neighbor 10.9.0.1 timers 3 2": "2",
        "interface Ethernet1\n   switchport trunk allowed vlan 10,4095": "4095",
    },
    "nxos": {
        "vlan 10\n  vn-segment 16777215": "16777215",
        "vrf context red\n  rd 10.8.0.1:100010": "10.8.0.1:100010",
        "vrf context red\n  address-family ipv4 unicast\n    route-target both 4200000001:500001 evpn": "4200000001:500001",
        "router bgp 65001\n  neighbor 10.9.0.1\n    ebgp-multihop 1": "1",
        "interface Ethernet1/1\n  mtu 9217": "9217",
        "interface port-channel4097.10\n  mtu 9216": "4097.10",
        "bfd interval 5 min_rx 50 multiplier 3": "5",
        "router bgp 65001\n  neighbor 10.9.0.1\n    ttl-security hops 255": "255",
    },
    "junos": {
        "routing-instances { RED { route-distinguisher 10.8.0.1:70000; } }": "10.8.0.1:70000",
        "routing-instances { RED { vrf-target target:100010:100010; } }": "target:100010:100010",
        "routing-instances { RED { vrf-target target:100010L:100010; } }": "target:100010L:100010",
        "vlans { v10 { vxlan { vni 16777215; } } }": "16777215",
        "vlans { v10 { vlan-id 4095; } }": "4095",
        "protocols { bgp { hold-time 2; } }": "2",
        "chassis { maximum-ecmp 48; }": "48",
        "forwarding-options { enhanced-hash-key { ecmp-dlb { flowlet { flowset-table-size 2000; } } } }": "2000",
    },
    "cumulus": {
        "evpn:\n      vni:\n        '10100':\n          rd: 10.8.0.1:100100": "10.8.0.1:100100",
        "bridge:\n      domain:\n        br_default:\n          vlan:\n            '4095': {}": "4095",
        "interface:\n      swp1:\n        link:\n          mtu: 9300": "9300",
        "qos:\n      pfc-watchdog:\n        robustness: 0": "0",
        "router:\n      bfd:\n        profile:\n          FABRIC:\n            min-rx-interval: 5": "5",
    },
    "frr": {
        "router bgp 65001\n neighbor 10.9.0.1 remote-as 65002\n neighbor 10.9.0.1 timers 1 2": "2",
        "router bgp 65001\n address-family ipv4 unicast\n  maximum-paths 257": "257",
        "bfd\n profile FAST\n  transmit-interval 5": "5",
        "ip prefix-list P seq 5 permit 10.0.0.0/33": "10.0.0.0/33",
        "route-map R permit 65536": "65536",
    },
    "sonic": {
        '{"VLAN": {"Vlan4095": {"vlanid": "4095"}}}': "4095",
        '{"VXLAN_TUNNEL_MAP": {"vtep|map": {"vlan": "Vlan10", "vni": "16777216"}}}': "16777216",
        '{"PORT": {"Ethernet0": {"mtu": "9300", "lanes": "1"}}}': "9300",
    },
}
TAKEN = {  # network OS → what only some releases take, and words beside numbers
    "eos": [
        "router bgp 65001\n   vrf RED\n      route-target export vpn-ipv4 rcf EXPORT()",
        "router bgp 65001\n   address-family evpn\n      evpn ethernet-segment domain all\n"
        "         identifier 0011:1111:1111:1111:1111\n         route-target import 00:01:00:01:00:01",
    ],
    "nxos": [
        "interface port-channel10\n  vpc 16384",
        "router bgp 65001\n  address-family ipv4 unicast\n    maximum-paths 512",
        "bfd interval 20 min_rx 20 multiplier 3",
        "interface Vlan10\n  mtu 64",
        "ip community-list standard cl_seq permit 1:1",
        "interface port-channel45.10\n  encapsulation dot1q 10",
    ],
    "junos": [
        "chassis { aggregated-devices { ethernet { device-count 4092; } } }",
        "interfaces { et-0/0/0 { native-vlan-id 0; } }",
        "vlans { v10 { vxlan { vni 0; } } }",
        "routing-instances { RED { vrf-target target:65655L:1; route-distinguisher 65655L:1; } }",
        "protocols { bgp { group G { local-as loops 2; } } }",
    ],
    "cumulus": [
        "vrf: {default: {router: {bgp: {neighbor: {swp1: {multihop-ttl: auto}}}}}}",
        "interface: {bond1: {evpn: {multihoming: {segment: {df-preference: auto}}}}}",
        "router: {policy: {prefix-list: {P: {rule: {'10': {match: {any: {}}}}}}}}",
    ],
    "frr": [
        "route-map R permit 10\n set tag untagged",
        "route-map R permit 10\n set as-path prepend 65000.1 65000",
        "route-map R permit 10\n set metric igp",
        "bfd\n profile FAST\n  detect-multiplier 1\n  receive-interval 4294967",
    ],
}
FILES = {"junos": "leaf1.conf", "cumulus": "startup.yaml", "frr": "frr.conf", "sonic": "config_db.json"}
AROUND = {"cumulus": "- set:\n    system:\n      hostname: leaf1\n    {}\n", "junos": "system {{ host-name leaf1; }}\n{}\n"}


@pytest.mark.parametrize("nos", BUNDLED)
def test_values_that_are_not_accepted(nos: str) -> None:
    for lines, value in REFUSED[nos].items():
        text = AROUND[nos].format(lines) if nos in AROUND else f"{lines}\n"
        found = judged(read_device("leaf1", nos, {FILES.get(nos, "leaf1.cfg"): text})).refused
        assert [one.message.split("`")[1] for one in found if one.code == "FAB2532"][-1:] == [value], lines


SOUND = {  # network OS → lines of a config whose values are accepted, or no values of the row
    "eos": ["ip route delete 10.0.0.0/8"],
    "frr": ["ip route del default", "ip route replace default via 10.9.0.1", "ipv6 route del default"],
    "junos": [
        'policy-options { community RTS members "target:65000:5..."; }',
        'policy-options { community RTS members "target:65000:.*"; }',
        "policy-options { community RT members target:10.8.0.1:5; }",
        "routing-instances { RED { vrf-target target:4200000001L:5; } }",
        "routing-instances { RED { route-distinguisher 672277L:36867; } }",
    ],
    "nxos": ["interface port-channel45\n  mtu 9216", "interface port-channel45.10\n  encapsulation dot1q 10"],
    "sonic": ['{"DEVICE_METADATA": {"localhost": {"switch_type": "switch"}}}'],
}


@pytest.mark.parametrize("nos", sorted({*TAKEN, *SOUND}))
def test_values_that_are_accepted(nos: str) -> None:
    for lines in (*TAKEN.get(nos, ()), *SOUND.get(nos, ())):
        text = AROUND[nos].format(lines) if nos in AROUND else f"{lines}\n"
        found = judged(read_device("leaf1", nos, {FILES.get(nos, "leaf1.cfg"): text})).refused
        assert [one.message for one in found if one.code == "FAB2532"] == [], lines


@pytest.mark.parametrize("nos", SYSTEMS)
def test_every_row_has_a_source_and_words_that_it_fills(nos: str) -> None:
    for file in (syntax_of(nos).rules_file, *syntax_of(nos).more_rules):
        for row in load_values(file.with_name("values.yaml")).rows:
            assert row.source
            assert row.kinds, row.line.pattern
        for one in load_conditions(file.with_name("refused.yaml")):
            groups = {name for pattern in (one.line, *one.patterns) for name in pattern.groupindex}
            fields = {name for text in (one.say, one.fix) for _, name, _, _ in Formatter().parse(text) if name}
            assert one.source
            assert fields <= groups, one.say


@pytest.mark.parametrize("site", ["ai-cumulus", "ai-eos", "ai-frr", "ai-junos", "ai-nxos", "ai-sonic"])
def test_every_generated_statement_with_a_value_has_a_row_or_is_open(site: str) -> None:
    """And none of them is refused."""
    roles: dict[str, Path] = {}
    for path in sorted((folder(site) / "configs").iterdir()):
        roles.setdefault(re.sub(r"\d+", "", path.name), path)
    found = Coverage()
    for path in roles.values():
        for facts in (facts for devices in scan(path).sites() for facts in devices):
            found.add(facts)
    assert found.statements
    assert (found.unknown, found.refused) == (set(), set())


SAMPLE = [pair for at, pair in enumerate(SMALL) if at % len(DESIGNS) == at // len(DESIGNS) % len(DESIGNS)]


@pytest.mark.parametrize("example", ["evpn-lab", "starter", "three-tier", *SAMPLE], ids=str)
def test_statements_of_other_sites(example: str | tuple[str, str], tmp_path: Path) -> None:
    """A few of those that `python -m tests.nos.statements.complete` looks at: one design of every network OS among them."""
    path = ROOT / "intent" / f"{example}.yaml" if isinstance(example, str) else small_intent(tmp_path / "a.yaml", *example)
    found = coverage(path, tmp_path)
    assert found.statements
    assert (found.unknown, found.refused) == (set(), set())


# --- Conditions -----------------------------------------------------------------------------------------------


def test_comparisons() -> None:
    words = {"low": "5", "high": "16", "one": "65000.1", "other": "4259840001", "word": "x"}
    assert Comparison("high", ">=", 3, "low").holds(words)
    assert not Comparison("high", "<", 3, "low").holds(words)
    assert Comparison("one", "==", 1, "other").holds(words)
    assert not Comparison("word", "<", 1, "low").holds(words)


@pytest.mark.parametrize(
    ("row", "message"), [({"beside": "x"}, "unknown keys"), ({"where": "a is b"}, "expected a comparison as")]
)
def test_wrong_rows(row: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        condition({"line": "x", "say": "", "fix": "", "source": "", **row}, "FAB2534")


@pytest.mark.parametrize("nos", BUNDLED)
def test_a_row_judges_every_value_of_an_intent(nos: str) -> None:
    accepted = syntax_of(nos).accepted
    values = {"overlay.anycast_mac": "02:00:00:00:00:01", "underlay.bfd.interval_ms": 300}
    stated = {key: line.format(values.get(key, 10)) for key, line in accepted.states.items()}
    assert stated.keys() <= {*JUDGED, "pins.*.asn"}
    assert [line for line in stated.values() if not accepted.of(line)] == []
    assert [key for key in stated if accepted.refused(key, values.get(key, 10))] == []
    assert accepted.refused("pins.*.asn", 0)
    assert not accepted.refused("no.key", 0)
