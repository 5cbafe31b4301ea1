"""What the plan expects of Batfish's answers: sessions, next hops, and what it cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import Design
from fabric.audit.checks.batfish import judge
from fabric.audit.checks.batfish.expect import EqualPaths, Expected, Route, Session, TenantLeaf, merged
from fabric.model.plan import LEAF, SPINE
from tests import ROOT
from tests.audit.checks.batfish.helpers import Recorded, Site, example, recorded, small


@pytest.fixture(scope="module")
def eos(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return small(tmp_path_factory.mktemp("small"))


def test_sessions(eos: Site) -> None:
    found = Expected(eos.snapshot()).sessions
    assert [one for one in found if one.device == "backend-leaf001"] == [
        Session(
            device="backend-leaf001", vrf="default", peer="10.64.0.1", name="backend-spine001", asn=4200000000, inside=True
        ),
        Session(
            device="backend-leaf001", vrf="default", peer="10.64.0.3", name="backend-spine002", asn=4200000000, inside=True
        ),
        Session(
            device="backend-leaf001", vrf="default", peer="10.0.0.1", name="backend-spine001", asn=4200000000, inside=True
        ),
        Session(
            device="backend-leaf001", vrf="default", peer="10.0.0.2", name="backend-spine002", asn=4200000000, inside=True
        ),
    ]
    assert len(found) == 16


def test_routes(eos: Site) -> None:
    """Loopbacks and VTEPs over every link that leads there; a tenant's subnets over the overlay, where the tenant is."""
    found = [route for route in Expected(eos.snapshot()).routes("backend") if route.device == "backend-leaf001"]
    assert found == [
        Route(device="backend-leaf001", vrf="default", prefix="10.0.0.1/32", hops=1, to="backend-spine001"),
        Route(device="backend-leaf001", vrf="default", prefix="10.0.0.2/32", hops=1, to="backend-spine002"),
        Route(device="backend-leaf001", vrf="default", prefix="10.0.0.4/32", hops=2, to="backend-leaf002"),
        Route(device="backend-leaf001", vrf="default", prefix="10.2.0.2/32", hops=2, to="backend-leaf002"),
        Route(device="backend-leaf001", vrf="red", prefix="10.128.0.128/31", hops=0, to="backend-leaf002"),
        Route(device="backend-leaf001", vrf="red", prefix="10.128.0.130/31", hops=0, to="backend-leaf002"),
    ]


def test_places(eos: Site) -> None:
    assert Expected(eos.snapshot()).places == (
        TenantLeaf("backend", "red", "backend-leaf001", ("10.128.0.0/31", "10.128.0.2/31", "10.128.0.4/31", "10.128.0.6/31")),
        TenantLeaf("backend", "blue", "backend-leaf002", ("10.128.0.132/31", "10.128.0.134/31")),
        TenantLeaf("backend", "red", "backend-leaf002", ("10.128.0.128/31", "10.128.0.130/31")),
    )


def test_next_hops_in_three_tiers() -> None:
    """Within a pod by its spines, to another pod by every spine and core; no spine of a pod has a way to its sister."""
    plan = pipeline.plan(pipeline.load(ROOT / "intent" / "b200-3tier.yaml"))
    fabric = plan.fabrics["backend"]
    views = Design(plan, fabric).views
    leaves = [device for device in fabric.switches if device.role == LEAF]
    spines = [device for device in fabric.switches if device.role == SPINE]
    here, beside = leaves[0], leaves[1]
    far = next(leaf for leaf in leaves if leaf.pod != here.pod)
    paths = EqualPaths({device.name: views.of(device) for device in fabric.switches})
    uplinks = sum(paths.links[here.index].values())
    assert paths.to(beside.index)[here.index] == uplinks
    assert paths.to(far.index)[here.index] == uplinks
    spine = next(device for device in spines if device.pod == here.pod)
    assert paths.to(far.index)[spine.index] == sum(
        links for index, links in paths.links[spine.index].items() if fabric.devices[index].role != LEAF
    )
    sister = next(device for device in spines if device.pod == here.pod and device is not spine)
    assert sister.index not in paths.to(spine.index)


def test_merged() -> None:
    assert merged(["10.0.0.2/31", "10.0.0.0/31", "10.0.0.0/31", "10.1.0.0/24"]) == "10.0.0.0/30, 10.1.0.0/24"


FILES = "covered by the checks of files (FAB250 to FAB299)"
SERVICES = ("Batfish: hash seeds, control-plane filters, services and secrets", f"not modeled by Batfish; {FILES}")


def test_what_it_cannot_see_is_reported(eos: Site) -> None:
    _, skipped, _ = judge(eos.snapshot(), recorded("clean"))
    roce = "covered by the checks of the plan (FAB218 to FAB228) and of files (FAB250 to FAB299)"
    assert skipped == [("Batfish: PFC, ECN, buffers and the PFC watchdog", f"not modeled by Batfish; {roce}"), SERVICES]


SEEN = {
    "cumulus": [
        "NVUE files as they are",
        "tenants' routes over EVPN in fabric 'frontend'",
        "external routes in fabric 'frontend'",
    ],
    "sonic": [
        "VRFs, VXLAN, EVPN and bonds of SONiC",
        "EVPN sessions of fabric 'frontend'",
        "tenants' routes over EVPN in fabric 'frontend'",
        "isolation of tenants in fabric 'frontend'",
    ],
    "junos": [
        "EVPN sessions of Junos",
        "EVPN sessions of fabric 'frontend'",
        "isolation of tenants in fabric 'frontend'",
    ],
    "eos": ["external routes in fabric 'frontend'"],
}


@pytest.mark.parametrize(("nos", "expected"), SEEN.items())
def test_each_target_tells_what_is_not_seen(nos: str, expected: list[str], tmp_path: Path) -> None:
    _, skipped, _ = judge(example(f"ai-{nos}", tmp_path).snapshot(), Recorded())
    reported = [what.removeprefix("Batfish: ") for what, _ in skipped]
    assert set(expected) <= set(reported)
    assert all("covered by" in why for what, why in skipped if what.startswith("Batfish: "))
    tenants = "isolation of tenants in fabric 'frontend'"
    assert (tenants in reported) == (tenants in expected)


def test_unnumbered_sessions_are_named_by_their_port(tmp_path: Path) -> None:
    found = Expected(example("gb300-twin-plane", tmp_path).snapshot()).sessions
    assert found[0].peer.startswith("Ethernet")
    assert all(one.inside for one in found)
    assert len(found) == 576
