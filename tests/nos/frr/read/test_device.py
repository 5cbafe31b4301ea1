"""Facts out of an frr.conf: neighbors in every way to write them, and whole folders of ours."""

from __future__ import annotations

from pathlib import PurePath
from textwrap import dedent

import pytest

from fabric.model.facts import Neighbor
from fabric.nos.frr.read.device import read, unbalanced
from tests.examples import located, paths
from tests.nos.frr.read.helpers import FRR_CONF, GOLDEN, INTERFACES, configured, facts, plain, whole
from tests.nos.undefined import undefined_in

FOLDERS = [*(path.parent for path in paths("ai-frr/configs/*/frr.conf")), *sorted(GOLDEN.glob("frr-*"))]


def test_process_and_lists() -> None:
    pair = facts(FRR_CONF, INTERFACES)
    process = pair.bgp[""]
    assert configured(process, "asn", "router_id", "max_paths", "relax") == [
        "4259840001@20",
        "10.0.0.1@21",
        "64@44",
        "True@23",
    ]
    assert configured(pair, "hostname", "unread", "broken", "conflicts") == ["leaf1@2", [], [], []]
    assert pair.name == "leaf1"
    assert plain(pair.prefixes["PL-OWN"]) == ["10.0.0.1/32@3"]


def test_the_limit_of_paths_is_that_of_ebgp() -> None:
    text = "hostname r1\nrouter bgp 65001\n address-family ipv4\n  maximum-paths 64\n  maximum-paths ibgp 1\n"
    assert configured(facts(text, "").bgp[""], "max_paths") == ["64@4"]


def test_segment_routing_and_ldp_are_known() -> None:
    labels = """\
        segment-routing
         srv6
          locators
           locator MAIN
            prefix fcbb:bbbb:1::/48
            format usid-f3216
           exit
          exit
          encapsulation
           source-address fcbb:bbbb:1::1
          exit
         exit
        exit
        mpls ldp
         router-id 1.1.1.1
         address-family ipv4
          discovery transport-address 1.1.1.1
          interface eth0
          exit
         exit-address-family
        exit
        router bgp 65001
         segment-routing srv6
          locator MAIN
         exit
         neighbor 10.0.0.1 remote-as 65002
        """
    found = facts(dedent(labels), "")
    assert (found.unread, list(found.bgp[""].neighbors)) == ([], ["10.0.0.1"])


NEIGHBORS = {
    "swp1": {
        "remote_as": "external@25",
        "families": ["ipv4@40"],
        "description": "spine1 swp7@30",
        "max_prefix": "12000@41",
        "import_filter": "RM-IN@42",
        "bfd": "True@26",
        "keepalive_s": "3@27",
        "hold_s": "9@27",
        "interface": True,
    },
    "10.64.0.1": {
        "remote_as": "external@25",
        "families": [],
        "enabled": "False@33",
        "max_prefix": "12000@41",
        "import_filter": "RM-IN@42",
        "bfd": "True@26",
        "keepalive_s": "3@27",
        "hold_s": "9@27",
    },
    "fd00::1": {
        "remote_as": "internal@34",
        "families": ["evpn@47"],
        "multihop": "255@35",
        "source": "lo@36",
        "allowas_in": "3@48",
        "authentication": "Authentication(method='MD5')@37",
    },
    "10.9.0.0/16": {
        "remote_as": "external@25",
        "families": ["ipv4@40"],
        "max_prefix": "12000@41",
        "import_filter": "RM-IN@42",
        "bfd": "True@26",
        "keepalive_s": "3@27",
        "hold_s": "9@27",
        "dynamic": True,
    },
}


@pytest.mark.parametrize("peer", NEIGHBORS)
def test_neighbor(peer: str) -> None:
    own, bare = facts(FRR_CONF).bgp[""].neighbors[peer], Neighbor(vrf="", peer="", line=0)
    names = [name for name in Neighbor.__slots__ if name not in ("vrf", "peer", "line", "file")]
    assert {name: plain(getattr(own, name)) for name in names if getattr(own, name) != getattr(bare, name)} == {
        name: value for name, value in NEIGHBORS[peer].items() if value != []
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("interface swp1\nip address 10.0.0.1/31\nshutdown\n", {"swp1": ["10.0.0.1/31@2"]}),
        ("interface swp1\n ip address 10.0.0.1/31\nvrf red\n vni 7\n", {"swp1": ["10.0.0.1/31@2"]}),
        ("interface lo vrf red\n ip address 10.0.0.1 peer 10.0.0.2/32\n", {"lo": ["10.0.0.1/32@2"]}),
        (
            "int swp1\n ip addr 10.0.0.1/31\n!\nint swp2\n ipv6 address FD00:0::1/127\n",
            {"swp1": ["10.0.0.1/31@2"], "swp2": ["fd00::1/127@5"]},
        ),
    ],
)
def test_addresses_of_frr_alone(text: str, expected: dict[str, list[str]]) -> None:
    found = facts(text)
    assert {name: plain(port.addresses) for name, port in found.interfaces.items()} == expected
    assert (found.unread, found.broken) == ([], [])


def test_a_process_that_is_removed_again() -> None:
    text = "router bgp 65001\n neighbor 10.0.0.1 remote-as 65002\nrouter bgp 65001 vrf red\nno router bgp 65001\n"
    assert list(facts(text).bgp) == ["red"]
    assert list(facts(text + "router bgp 65009\n").bgp[""].neighbors) == []
    assert facts("no router bgp 65001 vrf red\n").bgp == {}


def test_a_vrf_ends_the_interface_before_it() -> None:
    assert plain(facts("interface swp1\n vrf red\n").interfaces["swp1"].vrf) == "red@2"
    found = facts("interface swp1\n ip address 10.0.0.1/31\nvrf red\n vni 7\n")
    assert found.interfaces["swp1"].vrf is None
    assert plain(found.vrfs["red"].vni) == "7@4"


def test_an_address_is_no_name_of_an_interface() -> None:
    found = facts(
        "router bgp 1\n neighbor G peer-group\n neighbor G remote-as 2\n neighbor 10.0.0.1 interface peer-group G\n"
    )
    got = "neighbor 10.0.0.1 interface: expected the name of an interface, got an address"
    assert [(fact.value, fact.line) for fact in found.broken] == [(got, 4)]
    peer = found.bgp[""].neighbors["10.0.0.1"]
    assert (plain(peer.remote_as), peer.interface) == ("2@3", False)


@pytest.mark.parametrize(
    ("lines", "peer", "families", "remote_as"),
    [
        ("neighbor swp1 interface remote-as external", "swp1", ["ipv4@2"], "external@2"),
        ("neighbor swp1 interface v6only remote-as 65001", "swp1", ["ipv4@2"], "65001@2"),
        ("neighbor swp1 interface\nneighbor swp1 remote-as internal", "swp1", ["ipv4@2"], "internal@3"),
        (
            "neighbor G peer-group\nneighbor G remote-as 65001\nneighbor swp1 interface peer-group G",
            "swp1",
            ["ipv4@4"],
            "65001@3",
        ),
        ("neighbor fe80::1 remote-as 65001\nneighbor fe80::1 interface swp1", "fe80::1", ["ipv4@2"], "65001@2"),
        (
            "neighbor 10.0.0.1 remote-as 1.10\naddress-family ipv6\nneighbor 10.0.0.1 activate",
            "10.0.0.1",
            ["ipv4@2", "ipv6@4"],
            "65546@2",
        ),
        ("neighbor 10.0.0.1 peer-group\nneighbor 10.0.0.1 remote-as 7", "10.0.0.1", ["ipv4@2"], "7@3"),
        (
            "neighbor 10.0.0.1 remote-as 7\naddress-family evpn vpn\nexit\nneighbor 10.0.0.1 timers 1 3",
            "10.0.0.1",
            ["ipv4@2"],
            "7@2",
        ),
    ],
)
def test_ways_to_write_a_neighbor(lines: str, peer: str, families: list[str], remote_as: str) -> None:
    found = facts(f"router bgp 65000\n{lines}\n")
    own = found.bgp[""].neighbors[peer]
    assert configured(own, "families", "remote_as") == [families, remote_as]
    assert (found.unread, found.broken) == ([], [])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("neighbor 10.9.0.1 timers 3 9|neighbor 10.9.0.1 password x|neighbor 10.9.0.1 remote-as 65100", [65100, None, False]),
        ("neighbor 10.9.0.1 remote-as 65100|neighbor 10.9.0.1 timers 3 9|neighbor 10.9.0.1 password x", [65100, 9, True]),
        (
            "neighbor G peer-group|neighbor G remote-as 65999|neighbor 10.9.0.1 remote-as 65100|"
            "neighbor 10.9.0.1 peer-group G",
            [65999, None, False],
        ),
        (
            "neighbor G peer-group|neighbor G remote-as 65999|neighbor 10.9.0.1 peer-group G|"
            "neighbor 10.9.0.1 remote-as 65100",
            [65999, None, False],
        ),
        (
            "neighbor G timers 3 9|neighbor G peer-group|neighbor 10.9.0.1 remote-as 65100|neighbor 10.9.0.1 peer-group G",
            [65100, None, False],
        ),
    ],
)
def test_lines_that_frr_drops_or_replaces(lines: str, expected: list[object]) -> None:
    text = "hostname r1\nrouter bgp 65001\n " + lines.replace("|", "\n ") + "\n"
    peer = facts(text, "").bgp[""].neighbors["10.9.0.1"]
    stated = [peer.remote_as and peer.remote_as.value, peer.hold_s and peer.hold_s.value, peer.authentication is not None]
    assert stated == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("router bgp 1\n neighbor 10.0.0.1 peer-group G\n", ["peer group G@2"]),
        ("router bgp 1\n neighbor G remote-as 2\n", ["peer group or interface G@2"]),
        (
            "router bgp 1\n neighbor 10.0.0.1 route-map RM in\n neighbor 10.0.0.1 prefix-list PL out\n",
            ["route-map RM@2", "prefix-list PL@3"],
        ),
        ("router bgp 1\n address-family ipv4 unicast\n  redistribute connected route-map RM\n", ["route-map RM@3"]),
        ("router bgp 1\n neighbor 10.0.0.1 bfd profile P\n", ["BFD profile P@2"]),
        (
            "ip protocol bgp route-map RM\nroute-map RM permit 10\n match community CL\n call SUB\n",
            ["community-list CL@3", "route-map SUB@4"],
        ),
        ("route-map RM permit 10\n match ip address ACL\n match as-path AS\n", ["access-list ACL@2", "AS-path list AS@3"]),
        ("bgp as-path access-list AS seq 5 permit _1_\nroute-map RM permit 1\n match as-path AS\n", []),
        ("bgp community-list standard CL permit 1:1\nroute-map RM permit 1\n match community CL exact-match\n", []),
    ],
)
def test_names_that_nothing_defines(text: str, expected: list[str]) -> None:
    assert plain(undefined_in("frr", {"frr.conf": text})) == expected


@pytest.mark.parametrize(
    ("text", "unread", "broken"),
    [
        (
            "router rip\n version 2\n network 10.0.0.0/8\n",
            ["router rip@1", "version 2@2", "network 10.0.0.0/8@3"],
            [],
        ),
        (
            "router ospf vrf red\n ospf router-id 10.0.0.1\n network 10.0.0.0/8 area 0\n frobnicate\nexit\n"
            "router ospf6\n area 0 range fd00::/8\n"
            "router isis 1\n net 49.0001.0000.0000.0001.00\n area-password clear hunter2\n bgp max-med on-startup 300\n",
            ["frobnicate@4", "bgp max-med on-startup 300@11"],
            [],
        ),
        (
            "router bgp 1\n frobnicate 7\n neighbor 10.0.0.1 sing loudly\n",
            ["frobnicate 7@2", "neighbor 10.0.0.1 sing loudly@3"],
            [],
        ),
        ("router eigrp 1\n area-password clear hunter2\n", ["router eigrp 1@1", "area-password … …@2"], []),
        ("router bgp 1\n bgp max-med on-startup 300\n", [], []),
        (
            "router bgp 1\n neighbor 10.0.0.1\n neighbor 10.0.0.2 remote-as x\n",
            [],
            ["cannot be read: neighbor 10.0.0.1@2", "cannot be read: neighbor 10.0.0.2 remote-as x@3"],
        ),
        ("router bgp x\n", [], ["cannot be read: router bgp x@1"]),
        ("interface swp1\n ip address 10.0.0.300/31\n", [], ["cannot be read: ip address 10.0.0.300/31@2"]),
        ("\x00\x01\x02 \xff\n", ["\x00\x01\x02 \xff@1"], []),
        ("", [], []),
    ],
)
def test_what_is_not_understood_is_listed(text: str, unread: list[str], broken: list[str]) -> None:
    found = facts(text)
    assert (plain(found.unread), plain(found.broken)) == (unread, broken)


def test_two_files_that_disagree() -> None:
    found = read("device", {"zebra.conf": "vrf red\n vni 7\n", "bgpd.conf": "vrf red\n vni 8\n"})
    assert plain(found.conflicts) == [
        "the VNI of VRF red is 7 here and 8 in bgpd.conf:2@2",
        "the VNI of VRF red is 8 here and 7 in zebra.conf:2@2",
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_generated(folder: PurePath) -> None:
    files = whole(located(folder))
    found = read("device", files)
    peers = [neighbor for neighbor in found.neighbors() if neighbor.remote_as]
    assert len(peers) == sum(1 for line in files["frr.conf"].splitlines() if " remote-as " in line) > 0
    assert folder.name.endswith(found.name)
    assert (found.unread, found.broken, found.conflicts) == ([], [], [])
    assert found.services.secrets == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("table inet x {\n}\n", None),
        ("# old {\ntable inet x {\n}# {\n", None),
        ('table inet x {\n  comment "a {"\n}\n', None),
        ("table inet x {\n  chain y {\n}\n", ("a brace is never closed", 1)),
        ("table inet x {\n}\n}\n", ("a brace is closed that was never opened", 3)),
    ],
)
def test_braces_of_nftables(text: str, expected: tuple[str, int] | None) -> None:
    assert unbalanced(text) == expected


def test_the_end_of_a_section_that_is_unknown_ends_no_other_one() -> None:
    conf = (
        "router bgp 65001\n neighbor swp1 interface remote-as external\n segment-routing srv6\n  locator MAIN\n exit\n"
        " frobnicate\n  a\n exit\n !\n address-family ipv6 unicast\n  neighbor swp1 activate\n exit-address-family\nexit\n"
    )
    found = facts(conf)
    assert [fact.value for fact in found.unread] == ["frobnicate", "a"]
    assert [family.value for family in found.bgp[""].neighbors["swp1"].families] == ["ipv4", "ipv6"]


def test_an_invalid_neighbor_address_is_no_crash() -> None:
    text = "interface swp1\n ip address 10.9.0.0/31\nrouter bgp 65001\n neighbor 10.9.0.999 remote-as 65002\n"
    assert list(facts(text, "").bgp[""].neighbors) == ["10.9.0.999"]
