"""The default route of the machine, and the routes of the outside world beside it."""

from __future__ import annotations

from typing import Any

import pytest

from fabric.configs.hosts.facts import ServerLink, Vlan
from fabric.configs.hosts.netplan import netplan
from fabric.configs.hosts.view import Host, gives_default, home, hosts, sides
from tests.configs.hosts.helpers import plan, site

WAN = [{"name": "wan", "links": 2, "external": {"asn": 65010}}]


def two(back: bool, front: bool, **front_end: Any) -> dict[str, Any]:
    """A back end and a routed front end, each with or without a router outside."""
    intent = site()
    intent["catalog"]["servers"]["node"]["nics"]["frontend"] = {"count": 2, "speed_gbps": 400}
    own = {"model": "node", "count": 2, "name": "gpu"}
    topology = {"kind": "collapsed", "switch": "16x400g", "attachments": WAN if front else []}
    intent["fabrics"]["front"] = {
        "purpose": "frontend",
        "nos": "frr",
        "servers": own,
        "topology": topology,
        **front_end,
    }
    if back:
        intent["fabrics"]["backend"]["topology"] = {**intent["fabrics"]["backend"]["topology"], "attachments": WAN}
    return intent


def first(intent: dict[str, Any]) -> Host:
    return next(hosts(sides(plan(intent))))


def defaults(host: Host) -> dict[str, int]:
    """Port → metric of its default route in the main table."""
    return {nic.name: metric for nic in host.nics for prefix, metric in nic.local if prefix == "default"}


@pytest.mark.parametrize(
    ("back", "front", "expected"),
    [
        (False, True, {"frontend1": 4000, "frontend2": 4001}),
        (True, True, {"frontend1": 4000, "frontend2": 4001}),
        (True, False, {}),
        (False, False, {}),
    ],
)
def test_the_front_end_gives_the_default(back: bool, front: bool, expected: dict[str, int]) -> None:
    found = first(two(back, front))
    assert defaults(found) == expected
    own = {nic.name for nic in found.nics if "0.0.0.0/0" in nic.reach}
    assert own == {f"{name}{n}" for name, there in (("compute", back), ("frontend", front)) if there for n in (1, 2)}
    assert not [prefix for nic in found.nics for prefix, _ in nic.local if prefix.endswith("/0")]


def test_a_back_end_gives_it_to_a_machine_that_is_in_no_other_fabric() -> None:
    topology = {"switch": "16x400g", "unit": {"servers": 2}, "attachments": WAN}
    assert defaults(first(site(topology=topology))) == {"compute1": 4000, "compute2": 4001}


def test_prefixes_outside_are_no_default() -> None:
    intent = two(False, True)
    attachment = {"name": "wan", "links": 2, "external": {"asn": 65010, "accept": ["192.0.2.0/24"]}}
    intent["fabrics"]["front"]["topology"]["attachments"] = [attachment]
    found = first(intent)
    assert defaults(found) == {}
    assert [("192.0.2.0/24", 200 + n) in nic.local for n, nic in enumerate(found.nics[2:])] == [True, True]


NETWORKS = [
    {"name": "login", "vlan": 100, "gateway": "10.20.0.0/24"},
    {"name": "data", "vlan": 90, "gateway": "10.21.0.0/24"},
]


@pytest.mark.parametrize(
    ("networks", "section", "expected"),
    [
        (NETWORKS[:1], ("bonds", "bond0"), [("10.20.0.1", None, 4000), ("10.20.0.1", 1003, None)]),
        (NETWORKS, ("vlans", "bond0.90"), [("10.21.0.1", None, 4000), ("10.21.0.1", 5001, None)]),
        (NETWORKS, ("vlans", "bond0.100"), [("10.20.0.1", 5002, None)]),
    ],
)
def test_a_bond_in_networks(
    networks: list[dict[str, Any]], section: tuple[str, str], expected: list[tuple[str, int | None, int | None]]
) -> None:
    tenants = [{"name": "red", "servers": "gpu-0001..0002", "networks": networks}]
    intent = two(False, True, nos="cumulus", overlay={"kind": "evpn-vxlan"}, tenants=tenants)
    intent["catalog"]["servers"]["node"]["nics"]["frontend"] = {"count": 1, "ports": 2, "speed_gbps": 100}
    intent["fabrics"]["front"]["servers"]["per_rack"] = 2
    intent["fabrics"]["front"]["topology"] = {"switch": "sn3700c", "dual_tor": True, "attachments": WAN}
    intent["fabrics"]["front"]["topology"]["leaf"] = {"uplinks": {"count": 2}}
    row = netplan(first(intent))["network"][section[0]][section[1]]
    assert [(r["via"], r.get("table"), r.get("metric")) for r in row["routes"] if r["to"] == "default"] == expected


def test_only_the_tenant_that_the_router_serves_has_a_external_connection() -> None:
    tenants = [{"name": name, "servers": f"gpu-000{n}"} for n, name in enumerate(("red", "blue"), 1)]
    intent = two(False, True, overlay={"kind": "evpn-vxlan"}, tenants=tenants, nos="cumulus")
    attachment = {"name": "wan", "links": 2, "external": {"asn": 65010, "tenants": ["red"]}}
    intent["fabrics"]["front"]["topology"] |= {"switch": "sn4700", "attachments": [attachment]}
    red, blue = hosts(sides(plan(intent)))
    assert [list(defaults(host).values()) for host in (red, blue)] == [[4000, 4001], []]
    assert [["0.0.0.0/0" in nic.reach for nic in host.nics[2:]] for host in (red, blue)] == [[True] * 2, [False] * 2]


LINK = ServerLink(
    server=0, nic=1, port=0, leaf=1, speed_gbps=400, address="10.128.0.1/31", gateway="10.128.0.0", outside=("0.0.0.0/0",)
)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (LINK, True),
        (LINK._replace(closed=True), False),
        (LINK._replace(outside=("192.0.2.0/24",)), False),
        (LINK._replace(address="fd00::1/127", gateway="fd00::"), False),  # a default route of the other family
        (LINK._replace(address="fd00::1/127", gateway="fd00::", outside=("::/0",)), True),
        (LINK._replace(address=None, gateway=None), False),
        (LINK._replace(address=None, gateway=None, tagged=(Vlan(5), Vlan(7, "10.1.0.2/24", "10.1.0.1"))), True),
    ],
)
def test_what_gives_a_default(link: ServerLink, expected: bool) -> None:
    assert gives_default(link) is expected


SHUT, BARE = LINK._replace(closed=True), LINK._replace(outside=())


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([], ""),
        ([("b", "compute", [LINK]), ("s", "storage", [LINK])], "s"),
        ([("b", "compute", [LINK]), ("o", "oob", [LINK]), ("f", "frontend", [LINK])], "f"),
        ([("b", "compute", [LINK]), ("f", "frontend", [BARE])], ""),
        ([("b", "compute", [LINK]), ("f", "frontend", [SHUT])], "b"),
        ([("f", "frontend", [BARE]), ("g", "frontend", [LINK]), ("h", "frontend", [LINK])], "g"),
    ],
)
def test_which_fabric_gives_it(parts: list[tuple[str, str, list[ServerLink]]], expected: str) -> None:
    assert home(parts) == expected
