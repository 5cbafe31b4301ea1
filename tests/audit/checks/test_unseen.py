"""The statements that no check of facts reads are compared with the plan. Files as they are rendered have no finding, on
every network OS and for sites of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.audit.checks import ERROR, About, Finding, Subject
from fabric.audit.checks.files.reading import Rest, Statements
from fabric.audit.checks.site import judge
from fabric.model.facts import Facts
from fabric.nos.reading import read_device
from tests.audit.checks.batfish.helpers import DESIGNS, OVERLAY, SMALL, SWITCHES, TENANTS
from tests.audit.checks.sites import site_of

PLANNED = """\
hostname leaf1
interface Ethernet1
   description spine1
   no ip redirects
   mtu 9214
ip routing
snmp-server user reader
end
"""
# What is done to the file: (old, new) → line, message.
EDITS = {
    "a misspelled line": (("ip routing", "ip rooting"), [(6, "changed statement: expected `ip routing`")]),
    "a line in place of another": (
        ("ip routing", "ip multicast"),
        [(6, "unplanned statement"), (0, "missing statement: `ip routing`")],
    ),
    "a value": (("mtu 9214", "mtu 1500"), [(5, "changed statement: expected `mtu 9214`")]),
    "a section": (
        ("interface Ethernet1\n   description spine1\n   no ip redirects\n   mtu 9214\n", ""),
        [(0, "missing statement: `interface Ethernet1` and 3 statements below it")],
    ),
    "a line is gone": (("   no ip redirects\n", ""), [(2, "missing statement: `no ip redirects`")]),
    "the end of the file is gone": (("end\n", ""), []),
    "a password is not repeated": (
        ("snmp-server user reader", "snmp-server user reader\nsnmp-server community hunter2"),
        [(8, "unplanned statement")],
    ),
    "another section": (
        ("ip routing", "ip routing\nrouter ospf 1\n   network 0.0.0.0/0"),
        [(7, "unplanned statement and 1 statement below it")],
    ),
    "text for people": (
        ("description spine1", "description spine9"),
        [(3, "changed statement: expected `description spine1`")],
    ),
    "other line ends": (("\n", "\r\n"), []),
    "other margins and order": (
        ("   no ip redirects\n   mtu 9214", "  mtu 9214\n  no ip redirects"),
        [],
    ),
}


def edits(planned: str, there: str, found: tuple[Finding, ...] = ()) -> list[Finding]:
    """What is reported of a file that lies there otherwise than planned."""
    view: Any = None
    facts = Facts(name="leaf1", nos="eos")
    return Statements().run(Rest(view, facts, {"leaf1.cfg": there}, {"leaf1.cfg": planned}, found))


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_that_no_check_of_facts_names(case: str) -> None:
    (old, new), expected = EDITS[case]
    found = edits(PLANNED, PLANNED.replace(old, new))
    assert sorted((one.line, one.message) for one in found) == sorted(expected)
    severity = "warning" if case == "text for people" else "error"
    assert {(one.id, one.severity, one.device, one.file) for one in found} <= {("FAB295", severity, "leaf1", "leaf1.cfg")}


# Place of a finding, fact and planned value → whether the missing MTU is reported as well; its port begins in line 2.
NAMED = {
    ("leaf1.cfg", 2, "mtu", "9214"): False,
    ("leaf1.cfg", 0, "mtu", "9214"): False,
    ("leaf1.cfg", 2, "speed", "800"): True,
    ("leaf1.cfg", 7, "mtu", "9214"): True,
    ("other.cfg", 2, "mtu", "9214"): True,
}


@pytest.mark.parametrize("place", NAMED)
def test_a_finding_names_a_missing_statement_by_its_section_and_value(place: tuple[str, int, str, str]) -> None:
    file, line, fact, expected = place
    about = About(subjects=(Subject("Ethernet1"),), fact=fact, expected=expected, got="none", absent=True)
    named = Finding(
        id="FAB254", severity=ERROR, device="leaf1", file=file, line=line, message="in the words for people", about=about
    )
    assert bool(edits(PLANNED, PLANNED.replace("   mtu 9214\n", ""), (named,))) == NAMED[place]


def test_a_site_with_edited_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check names is its alone; the rest is reported of. Files as they were made are not looked at twice."""
    monkeypatch.chdir(tmp_path)
    path = Path("small.yaml")
    path.write_text(SMALL)
    pipeline.generate(pipeline.load(path)).write()
    config = Path("generated/small/configs/backend-leaf001/startup-config")
    text = config.read_text()
    config.write_text(text.replace("   mtu 9164", "   mtu 1500", 1).replace("ip routing vrf red\n", "", 1))
    lines = text.splitlines()
    found = [one for one in site_of(pipeline.load(path)).check().findings if one.file == str(config)]
    assert sorted((one.id, one.line, one.message) for one in found) == [
        ("FAB254", lines.index("   mtu 9164") + 1, "Ethernet1/1: MTU: expected 9164, got 1500"),
        (
            "FAB295",
            0,
            "missing statement: `ip routing vrf red`",
        ),
    ]


def test_the_filter_of_another_tenant(tmp_path: Path) -> None:
    """Or none: a server then reaches what is not its tenant's."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.replace(OVERLAY + TENANTS, DESIGNS["acl"]))
    intent = pipeline.load(path, tmp_path)
    renderer = pipeline.render(pipeline.plan(intent), intent)
    job = next(job for job in renderer.jobs(lambda name: True) if job.device.name == "backend-leaf002")
    ((_, data),) = renderer.files(job)
    text = data.decode()
    assert text.count("ip access-group TENANT-red in") == text.count("ip access-group TENANT-blue in") == 2
    text = text.replace("   ip access-group TENANT-red in\n", "", 1).replace("group TENANT-blue in", "group TENANT-red in", 1)
    found = judge(renderer.views[job.fabric].of(job.device), read_device("backend-leaf002", "eos", {"config": text}), {})
    lines = ["", *text.splitlines()]
    assert [(one.id, lines[one.line].strip(), one.message) for one in found] == [
        ("FAB270", "interface Ethernet1/1", "Ethernet1/1: packet filters: expected TENANT-red, got none"),
        (
            "FAB270",
            "ip access-group TENANT-red in",
            "Ethernet2/1: packet filters: expected TENANT-blue, got TENANT-red",
        ),
    ]


# --- what is right ----------------------------------------------------------------------------------------------

TOPOLOGY = "rails: 1, unit: {servers: 2}, leaf: {uplinks: {count: 2}}"
WAN = "attachments: [{name: wan, links: 2, external: {asn: 65010}}]"
WIDE = "attachments: [{name: wan, links: 2, external: {asn: 65010, accept: ['::/0']}}]"
# Kind of site → what stands behind the topology, and what the topology has beside the usual.
KINDS = {
    **{name: (text, "") for name, text in DESIGNS.items()},
    "an external connection": ("", WAN),
    "an external connection of tenants": (DESIGNS["vrf-lite"], WAN),
    "an unnumbered external connection": (DESIGNS["unnumbered"], WAN),
    "an external connection in IPv6": (DESIGNS["ipv6"], WIDE),
    "filters in IPv6": (DESIGNS["acl"] + DESIGNS["ipv6"], ""),
    "management without a VRF": ("    management: {vrf: false}\n", ""),
    "other terms": ("    underlay: {mtu: 9000, keepalive_s: 2, hold_s: 6, max_prefix: 5000, bfd: {enabled: false}}\n", ""),
    "other classes": ("    qos: {lossless_priority: 4, lossless_dscp: 34, lossless_percent: 70, pfc_watchdog: false}\n", ""),
}


@pytest.mark.parametrize("nos", sorted(SWITCHES))
@pytest.mark.parametrize("kind", KINDS)
def test_sites_as_they_are_rendered_are_left_in_peace(tmp_path: Path, kind: str, nos: str) -> None:
    behind, more = KINDS[kind]
    if nos == "frr" and kind == "other classes":
        behind = ""  # no lossless class is written for it
    text = SMALL.replace(OVERLAY + TENANTS, behind).replace("nos: eos", f"nos: {nos}").replace("7060x6-32pe", SWITCHES[nos])
    assert TOPOLOGY in text
    path = tmp_path / "small.yaml"
    path.write_text(text.replace(TOPOLOGY, f"{TOPOLOGY}, {more}" if more else TOPOLOGY), encoding="utf-8")
    intent = pipeline.load(path, tmp_path)
    renderer = pipeline.render(pipeline.plan(intent), intent)
    found = []
    for job in renderer.jobs(lambda name: True):
        files = {path: data.decode() for path, data in renderer.files(job)}
        facts = read_device(job.device.name, nos, files)
        found += [str(one) for one in judge(renderer.views[job.fabric].of(job.device), facts, files)]
        found += [f"{job.device.name}: not understood: {messages.value}" for messages in facts.unread]
    assert found == []
