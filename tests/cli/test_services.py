"""What `plan`, `explain` and `generate --limit` say of a site with tenants, bonds and external connections."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests import ROOT
from tests.cli.conftest import Run
from tests.goldens import golden

LITE = """\
version: 1
site: dc1
fabrics:
  backend:
    nos: frr
    servers: {model: dgx-h100, count: 8, name: gpu}
    topology:
      switch: sn5600
      rails: 2
      unit: {servers: 4}
      leaf: {uplinks: {count: 2}}
      attachments: [{name: wan, links: 2, external: {asn: 65010, tenants: [red]}}]
    overlay: {isolation: vrf-lite}
    tenants: [{name: red, servers: gpu-0001..0004}, {name: blue}]
"""

SUBJECTS = {
    "frontend-leaf001": "a leaf whose ports are bridged",
    "frontend-leaf001:Ethernet0": "a port by the name that the switch gives it",
    "frontend-leaf001:Ethernet116": "external connection",
    "wan:1": "external connection from the other side",
    "gpu-0001:frontend1p2": "a member of a bond",
    "backend-leaf001:Ethernet252": "a port of the switch without a link",
    "10.20.0.2": "a server's address in a network",
    "10.20.0.254": "a leaf's own address in a network",
    "10.128.1.1": "an address that a bridged port would have",
    "10.64.0.145": "the router's end",
    "50001": "an L3 VNI",
    "10002": "an L2 VNI",
    "65010": "the router's AS number",
    "frontend.bgp": "sessions of every kind",
}


@pytest.fixture
def sonic(tmp_path: Path) -> None:
    shutil.copy(ROOT / "intent/ai-sonic.yaml", tmp_path / "intent.yaml")


@pytest.mark.usefixtures("sonic")
def test_subjects_of_tenants(run: Run) -> None:
    whole = []
    for subject, what in SUBJECTS.items():
        done = run("explain", "intent.yaml", subject)
        assert (done.code, done.err) == (0, ""), subject
        whole.append(f"# {what}: {subject}\n{done.out}")
    golden("cli/explain-tenants.txt", "\n".join(whole))


@pytest.mark.usefixtures("sonic")
@pytest.mark.parametrize("subject", ["frontend-leaf001:Ethernet999", "frontend-leaf001:swp1", "65011", "50009", "10.20.1.2"])
def test_what_no_switch_has_is_not_explained(subject: str, run: Run) -> None:
    done = run("explain", "intent.yaml", subject)
    assert (done.code, done.out) == (2, "")
    assert "error[FAB171]" in done.err


@pytest.mark.usefixtures("sonic")
def test_plan_counts_sessions_by_kind(run: Run) -> None:
    shown = [line.strip() for line in run("plan intent.yaml").out.splitlines() if "sessions" in line]
    assert shown == [
        "bgp       64 underlay sessions, 8 of EVPN, 5 AS numbers",
        "bgp       8 sessions, 3 AS numbers",
        "bgp       8 underlay sessions, 8 of EVPN, 4 to outside, 5 AS numbers",
    ]
    counted = json.loads(run("plan intent.yaml --json").out)["fabrics"]
    assert {name: row["bgp"]["sessions"] for name, row in counted.items()} == {"backend": 64, "storage": 8, "frontend": 8}


def test_slices_are_sessions_of_their_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intent.yaml").write_text(LITE, encoding="utf-8")
    assert "  bgp       8 underlay sessions, 8 of tenants, 2 to outside, 5 AS numbers\n" in run("plan intent.yaml").out
    done = run("explain intent.yaml backend.bgp").out
    assert "tenants: one per tenant on each fabric link that carries it: 4 with red + 4 with blue = 8\n" in done
    assert "outside: 2 links to wan x 1 table = 2\n" in done
    lower, upper = (run("explain", "intent.yaml", port).out for port in ("backend-leaf001:swp63", "backend-spine001:swp1"))
    assert "tenant red on subinterface 11: 10.64.0.16/31, far end 10.64.0.17\n" in lower
    assert "tenant red on subinterface 11: 10.64.0.17/31, far end 10.64.0.16\n" in upper


def test_a_limit_counts_what_it_renders(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intent.yaml").write_text(LITE, encoding="utf-8")
    assert "generated/dc1: 6 switches, files: " in run("generate intent.yaml").out
    assert "generated/dc1: 1 of 6 switches, files: " in run("generate intent.yaml --limit backend-leaf001").out
    assert "generated/dc1: 0 of 6 switches, files: " in run("generate intent.yaml --limit gpu-0001").out


def test_many_tenants_are_counted(run: Run, tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(1, 33)]
    rows = "\n".join(f"      - {{name: {name}, servers: gpu-{at:04}}}" for at, name in enumerate(names[:30], start=1))
    text = LITE.replace("count: 8, name", "count: 32, name").replace(", external: {asn: 65010, tenants: [red]}", "")
    (tmp_path / "intent.yaml").write_text(text[: text.index("    tenants:")] + f"    tenants:\n{rows}\n")
    done = run("plan", "intent.yaml")
    (line,) = [line for line in done.out.splitlines() if line.startswith("  tenants")]
    assert line == (
        "  tenants   VRF-lite, 30 tenants: t01 8 ports, t02 8 ports, t03 8 ports, t04 8 ports, t05 8 ports, t06 8 ports, "
        "t07 8 ports, t08 8 ports and 22 more, 18 shut"
    )
