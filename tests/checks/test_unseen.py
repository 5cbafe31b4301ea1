"""What stays unseen is told: lines of generated files that were edited and that no check reads. And what is right is left in
peace on every network OS: sites of all kinds, rendered and judged, find nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.checks import ERROR, Finding
from fabric.checks.device import judge
from fabric.checks.files.reading import Edited, Rest
from fabric.facts import Facts
from fabric.nos.reading import read_device
from tests.checks.batfish.helpers import DESIGNS, OVERLAY, SMALL, SWITCHES, TENANTS
from tests.checks.sites import site_of

PLANNED = """\
hostname leaf1
interface Ethernet1
   description spine1
   no ip redirects
   mtu 9214
lldp run
snmp-server user reader
end
"""
# What is done to the file: (old, new) → line, what is said.
EDITS = {
    "a line": (("lldp run", "lldp off"), [(6, "edited: the plan has `lldp run` here")]),
    "two lines beside each other": (
        ("   no ip redirects\n   mtu 9214", "   ip redirects\n   mtu 1500"),
        [(4, "edited: the plan has `no ip redirects` here"), (5, "edited: the plan has `mtu 9214` here")],
    ),
    "one line in place of two": (
        ("   no ip redirects\n   mtu 9214", "   shutdown"),
        [(4, "edited: the plan has `no ip redirects` and 1 more line here")],
    ),
    "a line is gone": (("lldp run\n", ""), [(6, "gone: the plan has `lldp run` here")]),
    "the last line is gone": (("end\n", ""), [(7, "gone: the plan has `end` here")]),
    "a line more": (("lldp run", "lldp run\nenable password x"), [(7, "1 line that the plan does not have")]),
    "a password is not repeated": (
        ("snmp-server user reader", "snmp-server community hunter2"),
        [(7, "edited: the plan has `snmp-server user reader` here")],
    ),
    "other line ends": (("\n", "\r\n"), []),
    "nothing left": ((PLANNED, ""), [(0, "gone: the plan has `hostname leaf1` and 7 more lines here")]),
}


def edits(planned: str, there: str, found: tuple[Finding, ...] = ()) -> list[Finding]:
    """What is said of a file that lies there otherwise than planned."""
    view: Any = None
    facts = Facts(name="leaf1", nos="eos")
    return Edited().run(Rest(view, facts, {"leaf1.cfg": there}, {"leaf1.cfg": planned}, found))


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_that_no_check_names(case: str) -> None:
    (old, new), expected = EDITS[case]
    found = edits(PLANNED, PLANNED.replace(old, new))
    assert [(one.line, one.message) for one in found] == [
        (line, f"{words}; no other check covers it") for line, words in expected
    ]
    assert {(one.id, one.severity, one.device, one.file) for one in found} <= {("FAB295", "warning", "leaf1", "leaf1.cfg")}


# Line of a finding → whether the edit is told of still; the MTU is gone, its port begins in line 2.
NAMED = {0: False, 2: False, 4: False, 5: False, 1: True, 7: True}


@pytest.mark.parametrize("line", NAMED)
def test_what_is_gone_is_named_by_its_section(line: int) -> None:
    named = Finding("FAB254", ERROR, "leaf1", "leaf1.cfg", line, "MTU: expected 9214, got none")
    there = PLANNED.replace("   mtu 9214\n", "")
    assert bool(edits(PLANNED, there, (named,))) == NAMED[line]
    elsewhere = Finding("FAB254", ERROR, "leaf1", "other.cfg", line, "MTU: expected 9214, got none")
    assert len(edits(PLANNED, there, (elsewhere,))) == 1


def test_many_edits_are_folded() -> None:
    planned = "".join(f"line {number}\n" for number in range(1, 21))
    found = edits(planned, planned.replace("line 1", "lane 1"))
    assert [one.line for one in found] == [1, 10, 11, 12, 13, 14]
    assert found[-1].message == "6 more places differ from the plan; no other check covers them"


def test_a_site_with_edited_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a check names is its alone; the rest is told of. Files as they were made are not looked at twice."""
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
            lines.index("ip routing vrf red") + 1,
            "gone: the plan has `ip routing vrf red` here; no other check covers it",
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
    "a way out": ("", WAN),
    "a way out of tenants": (DESIGNS["vrf-lite"], WAN),
    "an unnumbered way out": (DESIGNS["unnumbered"], WAN),
    "a way out in IPv6": (DESIGNS["ipv6"], WIDE),
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
        found += [f"{job.device.name}: not understood: {said.value}" for said in facts.unread]
    assert found == []
