"""Designs that Batfish cannot judge in part: no false alarm, no vacuous pass, and a row that says what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks.batfish.checks import Analysis, tenants_of
from fabric.audit.checks.batfish.coverage import uncovered
from fabric.audit.checks.batfish.expect import Expected
from fabric.audit.checks.batfish.reach import Crossing, WithoutSpine, crossing, groups, host_ranges
from fabric.audit.checks.batfish.routing import _tenant
from tests.audit.checks.batfish.helpers import DESIGNS, OVERLAY, SMALL, SWITCHES, TENANTS, Recorded, Site, site

LARGE = "    overlay: {kind: evpn-vxlan, l3vni_base: 770000}\n"
JOINED = TENANTS.replace("gpu-0001..0003}", "gpu-0001..0003, imports: [blue]}")
UNNUMBERED = DESIGNS["unnumbered"]


def built(folder: Path, nos: str, design: str) -> Analysis:
    path = folder / "small.yaml"
    text = SMALL.replace(OVERLAY + TENANTS, design)
    path.write_text(text.replace("nos: eos", f"nos: {nos}").replace("7060x6-32pe", SWITCHES[nos]), encoding="utf-8")
    made: Site = site(path, folder)
    snapshot = made.snapshot()
    return Analysis(snapshot, Recorded(), Expected(snapshot))


def tables(asked: Analysis) -> set[str]:
    """The routing tables that routes are expected in."""
    return {route.vrf for route in asked.expected.routes("backend")}


def evpn_sessions(asked: Analysis) -> int:
    return sum(one.peer.startswith("10.0.0.") for one in asked.expected.sessions)


def rows(asked: Analysis) -> dict[str, str]:
    return {what.removeprefix("Batfish: "): why for what, why in uncovered(asked)}


def test_route_targets_beyond_16_bits_on_eos(tmp_path: Path) -> None:
    """The tenants' routes are not expected; all else is."""
    asked = built(tmp_path, "eos", LARGE + TENANTS)
    assert tables(asked) == {"default"}
    assert evpn_sessions(asked) == 8
    assert crossing(asked, "backend")
    why = rows(asked)["tenants' routes over EVPN, of blue, red, in fabric 'backend'"]
    assert why.startswith("its EOS grammar takes no route target above 65535; covered by")


@pytest.mark.parametrize("nos", ["nxos"])
def test_route_targets_beyond_16_bits_elsewhere(nos: str, tmp_path: Path) -> None:
    assert tables(built(tmp_path, nos, LARGE + TENANTS)) == {"default", "red"}


def test_several_imports_on_nxos(tmp_path: Path) -> None:
    """Of the tenant that imports: the other one is judged."""
    asked = built(tmp_path, "nxos", OVERLAY + JOINED)
    assert tables(asked) == {"default"}  # blue is on one leaf alone
    (what,) = (what for what in rows(asked) if "over EVPN" in what)
    assert what == "tenants' routes over EVPN, of red, in fabric 'backend'"
    assert "over EVPN" not in " ".join(rows(built(tmp_path, "eos", OVERLAY + JOINED)))


@pytest.mark.parametrize("design", [UNNUMBERED, UNNUMBERED + OVERLAY + TENANTS], ids=["plain", "evpn"])
def test_no_packet_crosses_an_unnumbered_fabric_of_eos(design: str, tmp_path: Path) -> None:
    """Sessions and routes of the underlay are judged. What packets would show is not asked, and a row says so."""
    asked = built(tmp_path, "eos", design)
    assert asked.expected.routed("backend")
    assert not asked.expected.forwards("backend")
    assert (evpn_sessions(asked), tables(asked)) == (0, {"default"})
    assert WithoutSpine().run(asked) == []  # any question would be one without an answer
    assert Crossing().run(asked) == []
    assert "isolation, spine failures and forwarding loops in fabric 'backend'" in rows(asked)
    for tenant in tenants_of(asked, "backend"):
        assert all(len(group) == 1 for group in groups(asked, "backend", tenant))


@pytest.mark.parametrize("nos", ["cumulus", "frr", "sonic"])
def test_other_unnumbered_fabrics_are_crossed(nos: str, tmp_path: Path) -> None:
    asked = built(tmp_path, nos, UNNUMBERED)
    assert crossing(asked, "backend")
    assert not any("failure of a spine" in what for what in rows(asked))
    assert next(finding.message for finding in Crossing().run(asked)).startswith("no answer from Batfish")


@pytest.mark.parametrize("nos", SWITCHES)
def test_servers_of_a_tenant_are_asked_about_together_where_batfish_knows_their_routes(nos: str, tmp_path: Path) -> None:
    """Over EVPN where it models the routes, over VRF-lite everywhere that it knows the tables."""
    for design, joined in ((OVERLAY + TENANTS, nos in ("eos", "nxos")), (DESIGNS["vrf-lite"], nos != "sonic")):
        asked = built(tmp_path, nos, design)
        places = [len(group) for group in groups(asked, "backend", "red")]
        assert places == ([2] if joined else [1, 1][: len(places)]), design


def test_what_answers_as_a_switch_is_no_server() -> None:
    assert host_ranges(["10.1.0.0/31"], {"10.1.0.0"}) == "(10.1.0.0/31 \\ (10.1.0.0))"
    assert host_ranges(["10.20.0.0/24"], {"10.20.0.1", "10.9.0.1"}) == "(10.20.0.0/24 \\ (10.20.0.1, 10.20.0.0, 10.20.0.255))"
    assert host_ranges(["10.1.0.0/31"], set()) == "10.1.0.0/31"


def test_tenants_whose_names_end_alike_are_two(tmp_path: Path) -> None:
    """An address in `a` and in `ba` has one owner in each."""
    tenants = TENANTS.replace("name: red", "name: ba").replace("name: blue", "name: a")
    asked = built(tmp_path, "frr", OVERLAY + tenants)
    names = [_tenant(asked, "backend-leaf002", table) for table in ("vrf-a", "vrf-ba", "default")]
    assert names == ["backend/a", "backend/ba", "default"]
