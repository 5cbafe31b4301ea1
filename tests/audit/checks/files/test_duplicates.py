"""Addresses that several interfaces have: where it is certain that they meet, and where it is not."""

from __future__ import annotations

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, network

LINK = "interface Ethernet1\n   no switchport\n   ip address 10.0.{net}.{host}/31\n"
EBGP = "router bgp {own}\n   neighbor 10.0.{net}.{far} remote-as {asn}\n"


def site(number: int, *, net: int = 0, extra: str = "") -> Files:
    """A leaf and a spine with a session over their link. `extra`: further lines of the leaf."""
    leaf = LINK.format(net=net, host=0) + extra + EBGP.format(own=65000 + number, net=net, far=1, asn=65100 + number)
    spine = LINK.format(net=net, host=1) + EBGP.format(own=65100 + number, net=net, far=0, asn=65000 + number)
    return {
        f"dc{number}-leaf1.eos": f"hostname dc{number}-leaf1\n{leaf}",
        f"dc{number}-spine1.eos": f"hostname dc{number}-spine1\n{spine}",
    }


LOOPBACK = "interface Loopback0\n   ip address 10.255.0.1/32\n"
OUTSIDE = "   neighbor 192.0.2.1 remote-as 65300\n"
RACK = "vlan 4085\ninterface Vlan4085\n   ip address 172.16.0.2/24\n   ip virtual-router address 172.16.0.1\n"
STRETCHED = RACK + "interface Vxlan1\n   vxlan source-interface Loopback0\n   vxlan vlan 4085 vni 14085\n"


def open_site(number: int, net: int, extra: str) -> Files:
    """A site whose leaf has a session with a device that is not in the files."""
    return {name: text + OUTSIDE if "leaf" in name else text for name, text in site(number, net=net, extra=extra).items()}


def racks(extra: str) -> Files:
    """Two leaves of one spine."""
    files = site(1, net=1, extra=extra) | site(2, net=2, extra=extra)
    second = files.pop("dc2-spine1.eos").split("router bgp")[0].replace("Ethernet1", "Ethernet2").partition("\n")[2]
    first = files["dc1-spine1.eos"]
    files["dc1-spine1.eos"] = first.replace("router bgp", second + "router bgp") + "   neighbor 10.0.2.0 remote-as 65002\n"
    files["dc2-leaf1.eos"] = files["dc2-leaf1.eos"].replace("65102", "65101")
    return files


DUPLICATES = {  # configs, the severity at both leaves, what both have
    "a loopback of two networks that nothing joins": (
        site(1, net=1, extra=LOOPBACK) | site(2, net=2, extra=LOOPBACK),
        ("warning", "Loopback0", "10.255.0.1"),
    ),
    "a loopback of two networks that an unread device may join": (
        open_site(1, 1, LOOPBACK) | open_site(2, 2, LOOPBACK),
        ("error", "Loopback0", "10.255.0.1"),
    ),
    "racks with one VLAN each": (racks(RACK), ("warning", "Vlan4085", "172.16.0.2")),
    "racks that VXLAN joins": (racks(STRETCHED), ("error", "Vlan4085", "172.16.0.2")),
}


def found(files: Files) -> list[tuple[str, str, str]]:
    """(device, severity, message without the place) of every duplicate."""
    findings, _ = check_network(network(files))
    return [(one.device, one.severity, one.message.partition(" (")[0]) for one in findings if one.id == "FAB252"]


@pytest.mark.parametrize("case", DUPLICATES)
def test_addresses_that_may_not_meet_are_warnings(case: str) -> None:
    files, (severity, port, address) = DUPLICATES[case]
    assert found(files) == [
        (f"dc{one}-leaf1", severity, f"{port}: {address} is also configured on dc{two}-leaf1 {port}")
        for one, two in ((1, 2), (2, 1))
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "10.0.0.0/31 is the subnet of two links, on Ethernet1 and dc2-leaf1 Ethernet1"),
        (
            {"dc1-leaf1.eos": "10.0.9.0/31", "dc1-spine1.eos": "10.0.9.1/31", "dc2-leaf1.eos": "10.0.9.0/31"}
            | {"dc2-spine1.eos": "10.0.9.1/31"},
            "2 subnets of links are used on two links each; the first is 10.0.0.0/31, on Ethernet1 and dc2-leaf1 Ethernet1",
        ),
    ],
)
def test_links_of_two_networks_are_one_warning(more: Files, message: str) -> None:
    files = site(1) | site(2)
    for name, address in more.items():
        files[name] += f"interface Ethernet2\n   no switchport\n   ip address {address}\n"
    assert found(files) == [("dc1-leaf1", "warning", message)]


def test_what_one_of_two_files_of_a_host_name_has_is_no_error() -> None:
    """Only one of them can be that of the device."""
    files = site(1, net=1, extra=LOOPBACK)
    files |= {"dc1-spine1-b.eos": files["dc1-spine1.eos"] + LOOPBACK}
    assert {severity for _, severity, _ in found(files)} == {"warning"}


def renamed(pairs: int) -> Files:
    """Leaves of one spine, of which the first have a second name, from a state of the network before."""
    links = [LINK.format(net=n, host=1).replace("Ethernet1", f"Ethernet{n}") for n in range(9)]
    peers = "".join(f"   neighbor 10.0.{n}.0 remote-as {65000 + n}\n" for n in range(9))
    files = {"spine1.eos": f"hostname spine1\n{''.join(links)}router bgp 65100\n{peers}"}
    for n in range(9):
        for name in (f"leaf{n}", f"old{n}")[: 2 if n < pairs else 1]:
            session = EBGP.format(own=65000 + n, net=n, far=1, asn=65100 + (n == 8))
            files[f"{name}.eos"] = f"hostname {name}\n{LINK.format(net=n, host=0)}{session}"
    return files


@pytest.mark.parametrize(("pairs", "severity"), [(0, "error"), (2, "error"), (3, "warning")])
def test_many_pairs_with_common_addresses_are_two_states(pairs: int, severity: str) -> None:
    """A wrong AS number of leaf8 is an error where the folder has one state."""
    findings, _ = check_network(network(renamed(pairs)))
    assert [one.severity for one in findings if one.id == "FAB255"] == [severity]
    assert {one.severity for one in findings if one.id == "FAB252"} == ({severity} if pairs else set())


@pytest.mark.parametrize(("pairs", "severity"), [(2, "error"), (3, "warning")])
def test_many_pairs_with_one_router_id_are_two_states(pairs: int, severity: str) -> None:
    """leaf01 was leaf1 before, in a network of unnumbered links."""
    text = "hostname leaf{}\nrouter bgp 65001\n   router-id 10.255.0.{}\n"
    files = {f"leaf{zero}{n}.eos": text.format(f"{zero}{n}", n) for n in range(1, pairs + 1) for zero in ("", "0")}
    findings, _ = check_network(network(files))
    assert [one.severity for one in findings if one.id == "FAB258"] == [severity] * 2 * pairs


@pytest.mark.parametrize(("link", "number"), [("10.0.1.0/31", 1), ("10.0.9.0/31", 2)])
def test_a_draft_of_a_device_without_bgp_is_one_error(link: str, number: int) -> None:
    files = site(1, net=1, extra=LOOPBACK)
    files["draft.eos"] = f"hostname draft\ninterface Ethernet7\n   no switchport\n   ip address {link}\n{LOOPBACK}"
    findings, _ = check_network(network(files))
    assert len([one for one in findings if one.id in ("FAB252", "FAB253") and one.severity == "error"]) == number


@pytest.mark.parametrize(("pairs", "severity"), [(2, "error"), (3, "warning")])
def test_management_addresses_of_many_pairs_are_those_of_two_sites(pairs: int, severity: str) -> None:
    port = "interface Management1\n   ip address 192.0.2.{}/24\n"
    files = {f"{s}{n}.eos": f"hostname {s}{n}\n{port.format(n)}" for s in ("leaf", "pod") for n in range(pairs)}
    files["other.eos"] = "hostname other\n" + port.format(9)
    assert [one for _, one, _ in found(files)] == [severity] * 2 * pairs
