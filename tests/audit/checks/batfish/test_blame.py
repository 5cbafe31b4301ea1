"""Who is at fault where routes are missing: not the leaves that lack what another switch should announce."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks.batfish.checks import Analysis
from fabric.audit.checks.batfish.expect import Expected, Route
from fabric.audit.checks.batfish.reach import causes
from fabric.audit.checks.batfish.routing import Blame, Routes, Shortfall, blamed
from tests.audit.checks.batfish.helpers import OVERLAY, SMALL, TENANTS, Recorded, site

LEAVES = ("leaf1", "leaf2", "leaf3")
TABLES = ("default", "red")


def plan(leaves: tuple[str, ...] = LEAVES) -> list[Route]:
    """A loopback of every leaf and of one spine, and a subnet of one tenant on every leaf."""
    routes = [Route(device=leaf, vrf="default", prefix="spine1/32", hops=1, to="spine1") for leaf in leaves]
    for leaf in leaves:
        for other in leaves:
            if leaf != other:
                routes += [
                    Route(device=leaf, vrf="default", prefix=f"{other}/32", hops=2, to=other),
                    Route(device=leaf, vrf="red", prefix=f"{other}-red/24", hops=0, to=other),
                ]
    return routes


def brief(found: list[Blame]) -> list[tuple[str, str, bool, int]]:
    return sorted((one.switch, one.vrf, one.origin, len(one.short)) for one in found)


CASES = {  # what is short: (leaf, table, of, next hops)
    "a tenant's routes are not announced": (
        [("leaf1", "red", "leaf3", 0), ("leaf2", "red", "leaf3", 0)],
        [("leaf3", "red", True, 2)],
    ),
    "nothing is announced": (
        [(leaf, table, "leaf3", 0) for leaf in ("leaf1", "leaf2") for table in TABLES]
        + [("leaf3", "red", leaf, 0) for leaf in ("leaf1", "leaf2")],
        [("leaf3", "default", True, 6)],
    ),
    "one leaf takes nothing in": (
        [("leaf1", table, other, 0) for other in ("leaf2", "leaf3") for table in TABLES],
        [("leaf1", "default", False, 4)],
    ),
    "one leaf lacks a tenant's import": (
        [("leaf1", "red", other, 0) for other in ("leaf2", "leaf3")],
        [("leaf1", "red", False, 2)],
    ),
    "a spine's loopback is gone": ([(leaf, "default", "spine1", 0) for leaf in LEAVES], [("spine1", "default", True, 3)]),
    "a leaf is connected to one spine": (
        [("leaf1", "default", other, 1) for other in ("leaf2", "leaf3")]
        + [(other, "default", "leaf1", 1) for other in ("leaf2", "leaf3")],
        [("leaf1", "default", False, 2), ("leaf1", "default", True, 2)],
    ),
    "all is well": ([], []),
}


@pytest.mark.parametrize(("short", "expected"), CASES.values(), ids=CASES.keys())
def test_of_three_leaves(short: list[tuple[str, str, str, int]], expected: list[tuple[str, str, bool, int]]) -> None:
    assert brief(_blamed(plan(), short)) == sorted(expected)


def test_of_two_leaves() -> None:
    """One witness: it is at fault if it lacks routes of others as well."""
    routes = plan(("leaf1", "leaf2"))
    assert brief(_blamed(routes, [("leaf1", "red", "leaf2", 0)])) == [("leaf2", "red", True, 1)]
    both = [("leaf1", "default", "leaf2", 1), ("leaf1", "default", "spine1", 0), ("leaf2", "default", "leaf1", 1)]
    assert {one.switch for one in _blamed(routes, both)} == {"leaf1"}


def _blamed(routes: list[Route], short: list[tuple[str, str, str, int]]) -> list[Blame]:
    by_key = {(route.device, route.vrf, route.to): route for route in routes}
    return blamed(routes, [Shortfall(by_key[leaf, table, of], got) for leaf, table, of, got in short])


LOOPBACKS = {"10.0.0.1/32", "10.0.0.2/32", "10.0.0.3/32"}
LOSSES = {  # packets that a failed spine costs: (from, port, to, leaf of the target); leaves with routes short; who is named
    "a gateway of one leaf": (
        [("leaf1", "Vlan10", "10.20.0.9", "leaf1"), ("leaf2", "Eth1", "10.20.0.9", "leaf1")],
        set(),
        ["leaf1"],
    ),
    "one leaf on one spine": (
        [("leaf1", None, "10.0.0.2", "leaf2"), ("leaf1", None, "10.0.0.3", "leaf3"), ("leaf3", None, "10.0.0.1", "leaf1")],
        set(),
        ["leaf1"],
    ),
    "of two leaves the one with routes short": (
        [("leaf1", None, "10.0.0.2", "leaf2"), ("leaf2", None, "10.0.0.1", "leaf1")],
        {"leaf1"},
        ["leaf1"],
    ),
    "all leaves": (
        [("leaf1", None, "10.0.0.2", "leaf2"), ("leaf2", None, "10.0.0.3", "leaf3"), ("leaf3", None, "10.0.0.1", "leaf1")],
        set(),
        ["spine1"],
    ),
    "servers of two leaves": (
        [("leaf1", "Eth1", "10.1.0.9", "leaf3"), ("leaf2", "Eth1", "10.1.0.9", "leaf4")],
        set(),
        ["leaf1", "leaf2"],
    ),
    "nothing": ([], set(), []),
}


@pytest.mark.parametrize(("lost", "short", "named"), LOSSES.values(), ids=LOSSES.keys())
def test_the_failure_of_a_spine(lost: list[tuple[str, str | None, str, str]], short: set[str], named: list[str]) -> None:
    """The spine that is taken down is at fault only where the others carry nothing."""
    rows = [
        ({"Flow": {"ingressNode": node, "ingressInterface": port, "srcIp": "10.0.0.9", "dstIp": to}}, owner)
        for node, port, to, owner in lost
    ]
    assert [switch for switch, _ in causes("spine1", rows, LOOPBACKS, short)] == named


def test_a_next_hop_outside_is_named(tmp_path: Path) -> None:
    """A border leaf that accepts a prefix of the site from a router outside: one path more, and over which router."""
    path = tmp_path / "border.yaml"
    router = "attachments: [{name: wan, links: 2, external: {asn: 64602, accept: [10.0.0.0/8]}}]"
    path.write_text(SMALL.replace(OVERLAY + TENANTS, "").replace("leaf: {uplinks", f"{router}, leaf: {{uplinks"))
    snapshot = site(path, tmp_path).snapshot()
    expected = Expected(snapshot)
    views = snapshot.views["backend"]
    leaves = [node for node, view in views.items() if view.device.role == "leaf"]
    rows = [
        {"Node": {"name": route.device}, "VRF": "default", "Network": route.prefix, "Next_Hop": {"ip": f"10.64.0.{n}"}}
        for route in dict.fromkeys(expected.routes("backend"))
        for n in range(route.hops)
    ]
    border = views[leaves[0]]
    route = next(route for route in expected.routes("backend") if route.device == leaves[0] and route.to == leaves[1])
    outside = border.externals[0].peer_address
    extra = {"Node": {"name": route.device}, "VRF": "default", "Network": route.prefix, "Next_Hop": {"ip": outside}}
    asked = Analysis(snapshot, Recorded({f"routes {' '.join(leaves)}": [*rows, extra]}), expected)
    (found,) = Routes().run(asked)
    assert f"got {route.hops + 1}, of which outside: wan ({outside})" in found.message
