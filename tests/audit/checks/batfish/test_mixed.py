"""Fabrics of several network OSes: what Batfish models at one end only, or on a part of a path, is no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks.batfish import judge
from fabric.audit.checks.batfish.checks import Analysis
from fabric.audit.checks.batfish.coverage import applied, uncovered
from fabric.audit.checks.batfish.expect import Expected
from tests.audit.checks.batfish.helpers import Site, site
from tests.audit.checks.batfish.mixed import designs, faults, judged
from tests.audit.checks.batfish.stand_in import StandIn

SEED, COUNT = 5, 4  # `mixed` runs more
TENANTS = "    tenants: [{name: one, servers: m-0001..0002}, {name: two, servers: m-0003..0004}]\n"


def built(folder: Path, nos: str, design: str) -> Site:
    """Four servers at leaves of SN4700 or what the network OS runs on, on two spines."""
    path = folder / "mixed.yaml"
    text = f"""\
version: 1
site: mixed
catalog: {{servers: {{m: {{gpus: 2, nics: {{compute: {{count: 2, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: m, count: 4, name: m}}
    topology: {{switch: sn4700, spine: {{switch: SPINE}}, unit: {{servers: 2}}, leaf: {{uplinks: {{count: 2}}}}}}
"""
    spine = {"eos": "7060x6-32pe", "junos": "qfx5240-64od", "cumulus": "sn4700"}[nos.partition("spine: ")[2].rstrip("}")]
    path.write_text(text.replace("SPINE", spine) + design, encoding="utf-8")
    return site(path, folder)


def asked(made: Site) -> Analysis:
    snapshot = made.snapshot()
    return Analysis(snapshot, StandIn(snapshot), Expected(snapshot))


def kinds(made: Site) -> dict[str, tuple[int, int]]:
    """Kind of session → (ends that are judged, ends)."""
    planned = Expected(made.snapshot()).planned_sessions
    return {
        kind: (sum(one.judged for one in planned if one.kind == kind), sum(one.kind == kind for one in planned))
        for kind in dict.fromkeys(one.kind for one in planned)
    }


VRF_LITE = "    overlay: {isolation: vrf-lite}\n" + TENANTS
UNNUMBERED = "    underlay: {addressing: unnumbered}\n"
EVPN = "    overlay: {kind: evpn-vxlan}\n" + TENANTS


@pytest.mark.parametrize(
    ("nos", "design", "expected"),
    [
        # SONiC's VRFs are unknown to Batfish: sessions of tenants have no far end at the spine.
        ("{leaf: sonic, spine: eos}", VRF_LITE, {"underlay": (16, 16), "tenant": (0, 16)}),
        # The untagged end of a port with tags is tagged on Junos, as Batfish reads it.
        ("{leaf: cumulus, spine: junos}", VRF_LITE, {"underlay": (0, 16), "tenant": (16, 16)}),
        ("{leaf: cumulus, spine: junos}", EVPN, {"underlay": (16, 16), "overlay": (0, 16)}),
        ("{leaf: sonic, spine: cumulus}", EVPN, {"underlay": (16, 16), "overlay": (0, 16)}),
        ("{leaf: cumulus, spine: eos}", EVPN, {"underlay": (16, 16), "overlay": (16, 16)}),
        ("{leaf: cumulus, spine: junos}", UNNUMBERED, {"underlay": (0, 16)}),
        # No packet leaves an EOS interface without an address, so no session between loopbacks comes up behind it.
        ("{leaf: cumulus, spine: eos}", UNNUMBERED + EVPN, {"underlay": (16, 16), "overlay": (0, 16)}),
    ],
)  # fmt: skip
def test_sessions_are_judged_by_both_ends(
    nos: str, design: str, expected: dict[str, tuple[int, int]], tmp_path: Path
) -> None:
    made = built(tmp_path, nos, design)
    assert kinds(made) == expected
    assert judged(made) == []


def test_what_is_not_judged_is_counted_and_listed(tmp_path: Path) -> None:
    """16 sessions of tenants at EOS spines; three checks have nothing to judge, and are not among those applied."""
    files = asked(built(tmp_path, "{leaf: sonic, spine: eos}", VRF_LITE))
    rows = {what.removeprefix("Batfish: "): why for what, why in uncovered(files)}
    why = "not modeled by Batfish on SONiC (community), or behind it; covered by "
    assert rows["tenants' sessions of fabric 'backend'"].startswith(why)
    assert rows["tenants' routes in fabric 'backend'"].startswith(why)
    assert rows["`maximum-paths` of SONiC (community) in fabric 'backend'"].startswith("Batfish uses all equal paths there")
    ran, idle = applied(files)
    assert [what.partition(":")[0] for what, _ in idle] == ["FAB307", "FAB310", "FAB312"]
    assert all("Batfish models none of" in reason for _, reason in idle)
    assert ran == {f"FAB{number}" for number in range(301, 312)} - {"FAB307", "FAB310"}
    _, skipped, applied_ids = judge(files.snapshot, files.answers)
    assert (applied_ids, skipped[-3:]) == (ran, idle)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Site]]:
    return designs(SEED, COUNT, tmp_path_factory.mktemp("mixed"))


@pytest.mark.parametrize("number", range(COUNT))
def test_random_designs(number: int, drawn: list[tuple[str, Site]]) -> None:
    """No finding about files that are right, and each injected fault on a modeled path is found."""
    text, made = drawn[number]
    assert judged(made) == [], text
    for what, broken, code in faults(made):
        assert code in {finding.id for finding in judged(broken)}, (text, what)
