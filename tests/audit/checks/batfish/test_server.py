"""Against a real server: what is generated comes back clean, and damage to it is found. Runs when BATFISH_HOST is set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabric.audit.checks import Finding
from fabric.audit.checks.batfish import run
from fabric.audit.checks.batfish.configs import run_folder
from fabric.nos.reading import scan
from tests.audit.checks.batfish.helpers import DESIGNS, OVERLAY, TENANTS, Site, example, small
from tests.audit.checks.batfish.record import ORIGIN
from tests.audit.checks.batfish.test_limits import JOINED, LARGE, UNNUMBERED, built
from tests.audit.checks.batfish.test_planless import FAULTS, FILTERED, filtered_fabric, wide_site

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
    findings, skipped, _ = run(generated.plan, generated.files, HOST)
    assert findings == []
    assert skipped


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", TARGETS)
def test_every_design_is_clean(nos: str, design: str, tmp_path: Path) -> None:
    site = small(tmp_path, nos, design)
    findings, _, _ = run(site.plan, site.files, HOST)
    assert findings == []


def test_damage_is_found(generated: Site) -> None:
    """All at once, for a snapshot takes its time; each on another switch."""
    nos = generated.plan.fabrics["backend"].switches[0].nos
    # NVUE is translated, and whatever is no fact of it is left to the reader of the text.
    damages = [REMOTE_AS, DUPLICATE, UNDEFINED, ADDRESS] + ([] if nos == "cumulus" else [TYPO])
    damaged, lines = generated, {}
    for check, device, pattern, new in damages:
        damaged, lines[check, device] = damaged.damaged(device, pattern, new)
    findings, _, _ = run(damaged.plan, damaged.files, HOST)
    for check, device, *_ in (REMOTE_AS, DUPLICATE, UNDEFINED):
        assert near(findings, check, device, lines[check, device]), (check, device, lines[check, device])
    assert any(finding.id == "FAB305" and finding.device == "storage-leaf002" for finding in findings)
    if nos != "cumulus":
        assert near(findings, "FAB302", "backend-spine001", lines["FAB302", "backend-spine001"])


def near(findings: list[Finding], check: str, device: str, line: int) -> bool:
    return any(finding.id == check and finding.device == device and 0 <= line - finding.line <= NEAR for finding in findings)


def test_a_lost_spine_is_found(tmp_path: Path) -> None:
    """A leaf whose links to one spine are shut depends on the other."""
    site = example("ai-eos", tmp_path)
    for _ in range(4):  # the links to the second spine
        site, _ = site.damaged("backend-leaf001", r"(description backend-spine002 .*\n)   no shutdown", r"\1   shutdown")
    findings, _, _ = run(site.plan, site.files, HOST)
    assert "FAB308" in {finding.id for finding in findings if finding.device == "backend-spine001"}
    assert "FAB308" not in {finding.id for finding in findings if finding.device == "backend-spine002"}


def test_a_leak_between_tenants_is_found(tmp_path: Path) -> None:
    """A port in the table of the other tenant."""
    swapped = r"   vrf blue\n   ip address", "   vrf red\n   ip address"
    site, _ = example("ai-eos", tmp_path).damaged("backend-leaf003", *swapped)
    findings, _, _ = run(site.plan, site.files, HOST)
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
    findings, _, _ = run(site.plan, site.files, HOST)
    leaks = [finding for finding in findings if finding.id == "FAB307"]
    assert {finding.device for finding in leaks} == {"backend-leaf002"}
    assert all(finding.message.startswith("a server of 'blue'") for finding in leaks)


OWN = {
    "eos": (r"permit ip any 10\.128\.0\.0/29", "deny ip any 10.128.0.0/29"),
    "nxos": (r"permit ip any 10\.128\.0\.0/29", "deny ip any 10.128.0.0/29"),
}


@pytest.mark.parametrize("nos", OWN)
def test_a_filter_that_denies_its_own_tenant_is_found(nos: str, tmp_path: Path) -> None:
    """It isolates well, and loses nothing without a spine."""
    site, line = small(tmp_path, nos, "acl").damaged("backend-leaf001", *OWN[nos])
    findings, _, _ = run(site.plan, site.files, HOST)
    assert {(finding.id, finding.device) for finding in findings} == {("FAB310", "backend-leaf001")}
    assert near(findings, "FAB310", "backend-leaf001", line)


def test_the_leaf_that_announces_nothing_is_named(tmp_path: Path) -> None:
    """Not the leaves that lack its routes."""
    site, line = small(tmp_path).damaged("backend-leaf002", *ORIGIN[0][1:])
    findings, _, _ = run(site.plan, site.files, HOST)
    assert {(finding.id, finding.device) for finding in findings} == {("FAB306", "backend-leaf002")}
    assert 0 < line - findings[0].line < 10


LIMITED = {  # network OS, what stands behind the topology
    "route targets of more than 16 bits": ("eos", LARGE + TENANTS),
    "several imports": ("nxos", OVERLAY + JOINED),
    "unnumbered with EVPN": ("eos", UNNUMBERED + OVERLAY + TENANTS),
    "unnumbered": ("eos", UNNUMBERED),
}


@pytest.mark.parametrize(("nos", "design"), LIMITED.values(), ids=LIMITED.keys())
def test_what_batfish_cannot_judge_is_no_finding(nos: str, design: str, tmp_path: Path) -> None:
    made = built(tmp_path, nos, design).snapshot
    texts = {copies.device: copies.files for copies in made.copies.values()}
    findings, skipped, _ = run(made.plan, lambda device: texts[device.name], HOST)
    assert findings == []
    assert any("over EVPN" in what or "failure of a spine" in what for what, _ in skipped)


def test_configs_alone(tmp_path: Path) -> None:
    """Clean as they are generated; a line that Batfish does not know and a session without its other end are found."""
    (tmp_path / "site").mkdir()
    site = small(tmp_path / "site")
    folder = tmp_path / "configs"
    for name, files in site.texts.items():
        for path, text in files.items():
            file = folder / name / Path(path).name
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
    assert run_folder(scan(folder), HOST)[0] == []
    file = folder / "backend-leaf001" / "startup-config"
    file.write_text(
        file.read_text().replace("remote-as 4200000000", "remote-as 65001", 1).replace("router-id", "rooter-id", 1)
    )
    found = {(finding.id, finding.severity) for finding in run_folder(scan(folder), HOST)[0]}
    assert found >= {("FAB302", "warning"), ("FAB305", "warning")}


def written(site: Site, folder: Path) -> Path:
    """The files of every switch, below a folder of its name."""
    for name, files in site.texts.items():
        for path, text in files.items():
            file = folder / name / Path(path).name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("nos", TARGETS)
def test_every_design_is_clean_without_its_plan(nos: str, design: str, tmp_path: Path) -> None:
    folder = written(small(tmp_path, nos, design), tmp_path / "configs")
    assert run_folder(scan(folder), HOST)[0] == []


@pytest.mark.parametrize("name", [name for name in FAULTS if FAULTS[name][-1]])
def test_a_fault_without_the_plan(name: str, tmp_path: Path) -> None:
    """What the stand-in computes, by the server itself."""
    design, switch, pattern, new, wanted = FAULTS[name]
    site = wide_site(tmp_path, design).damaged(switch, pattern, new)[0]
    findings, _, _ = run_folder(scan(written(site, tmp_path / "configs")), HOST)
    assert {(one.id, one.device, one.message) for one in findings} == set(wanted)


def test_a_filter_without_the_plan(tmp_path: Path) -> None:
    for name, text in filtered_fabric().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    findings, _, _ = run_folder(scan(tmp_path), HOST)
    assert [(one.device, one.message) for one in findings if one.id == "FAB313"] == [FILTERED]
