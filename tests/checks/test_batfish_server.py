"""Against a real server: what is generated comes back clean, and damage to it is found. Runs when BATFISH_HOST is set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from batfish_helpers import DESIGNS, Site, example, small

from fabric.checks.batfish import run
from fabric.checks.finding import Finding

HOST = os.environ.get("BATFISH_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="BATFISH_HOST is not set: these tests need a Batfish server")

TARGETS = ("eos", "nxos", "junos", "sonic", "cumulus", "frr")

# What is damaged: the check that finds it, the switch, and the first match in its files with what it becomes.
REMOTE_AS = ("FAB305", "backend-leaf001", r"(remote-as|peer-as|remote-as:) 4200000000", r"\1 65001")
DUPLICATE = ("FAB304", "backend-leaf002", r"(address |Loopback0\||^ +)10\.0\.0\.4/32", r"\g<1>10.0.0.3/32")
UNDEFINED = (
    "FAB303",
    "storage-leaf001",
    r"(neighbor FABRIC route-map |^      route-map |import |neighbor FABRIC prefix-list |prefix-list: )(RM-|PL-)?FABRIC\b",
    r"\1\2NOWHERE",
)
ADDRESS = ("FAB305", "storage-leaf002", r"(address |\||^ +)10\.64\.\d+\.\d+/31", r"\g<1>10.99.0.0/31")
TYPO = ("FAB302", "backend-spine001", r"router-id", "rooter-id")
NEAR = 6  # lines between the head of a neighbor and what it says


@pytest.fixture(scope="module", params=TARGETS)
def generated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return example(f"ai-{request.param}", tmp_path_factory.mktemp("batfish"))


def test_what_is_generated_is_clean(generated: Site) -> None:
    findings, skipped = run(generated.plan, generated.files, HOST)
    assert findings == []
    assert skipped


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", TARGETS)
def test_every_design_is_clean(nos: str, design: str, tmp_path: Path) -> None:
    site = small(tmp_path, nos, design)
    findings, _ = run(site.plan, site.files, HOST)
    assert findings == []


def test_damage_is_found(generated: Site) -> None:
    """All at once, for a snapshot takes its time; each on another switch."""
    nos = generated.plan.fabrics["backend"].switches[0].nos
    # NVUE is translated, and whatever is no fact of it is left to the reader of the text.
    damages = [REMOTE_AS, DUPLICATE, UNDEFINED, ADDRESS] + ([] if nos == "cumulus" else [TYPO])
    damaged, lines = generated, {}
    for check, device, pattern, new in damages:
        damaged, lines[check, device] = damaged.damaged(device, pattern, new)
    findings, _ = run(damaged.plan, damaged.files, HOST)
    for check, device, *_ in (REMOTE_AS, DUPLICATE, UNDEFINED):
        assert near(findings, check, device, lines[check, device]), (check, device, lines[check, device])
    assert any(finding.id == "FAB305" and finding.device == "storage-leaf002" for finding in findings)
    if nos != "cumulus":
        assert near(findings, "FAB302", "backend-spine001", lines["FAB302", "backend-spine001"])


def near(findings: list[Finding], check: str, device: str, line: int) -> bool:
    return any(finding.id == check and finding.device == device and 0 <= line - finding.line <= NEAR for finding in findings)


def test_a_lost_spine_is_found(tmp_path: Path) -> None:
    """A leaf whose links to one spine are shut hangs on the other."""
    site = example("ai-eos", tmp_path)
    for _ in range(4):  # the links to the second spine
        site, _ = site.damaged("backend-leaf001", r"(description backend-spine002 .*\n)   no shutdown", r"\1   shutdown")
    findings, _ = run(site.plan, site.files, HOST)
    assert "FAB308" in {finding.id for finding in findings if finding.device == "backend-spine001"}
    assert "FAB308" not in {finding.id for finding in findings if finding.device == "backend-spine002"}


def test_a_leak_between_tenants_is_found(tmp_path: Path) -> None:
    """A port in the table of the other tenant."""
    swapped = r"   vrf blue\n   ip address", "   vrf red\n   ip address"
    site, _ = example("ai-eos", tmp_path).damaged("backend-leaf003", *swapped)
    findings, _ = run(site.plan, site.files, HOST)
    leaks = {finding.message for finding in findings if (finding.id, finding.device) == ("FAB307", "backend-leaf003")}
    assert leaks == {
        "a server of 'red' on Ethernet1/1 reaches 10.128.0.136 of 'blue'",
        "a server of 'blue' on Ethernet3/1 reaches 10.128.0.0 of 'red'",
    }


FILTERS = {
    "eos": r"^   ip access-group TENANT-blue in\n",
    "nxos": r"^  ip access-group ACL-blue in\n",
    "junos": r"^ +filter \{\n +input ACL-blue;\n +\}\n",
}


@pytest.mark.parametrize("nos", FILTERS)
def test_a_missing_filter_is_found(nos: str, tmp_path: Path) -> None:
    """Tenants that share the routing table are kept apart by the filters on their ports."""
    site, _ = small(tmp_path, nos, "acl").damaged("backend-leaf002", FILTERS[nos], "")
    findings, _ = run(site.plan, site.files, HOST)
    leaks = [finding for finding in findings if finding.id == "FAB307"]
    assert {finding.device for finding in leaks} == {"backend-leaf002"}
    assert all(finding.message.startswith("a server of 'blue'") for finding in leaks)
