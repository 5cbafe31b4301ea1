"""Findings that an intent does not want to receive of: reported with their reason, and a note for a needless silence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabric import pipeline
from fabric.audit.checks import Finding
from fabric.nos.reading import Device, Folder
from tests.audit.checks.sites import site_of

FABRIC = """\
  {name}:
    nos: eos
    servers: {{model: node, count: 4, name: {name}-gpu}}
    topology: {{switch: 7050cx3-32s, spine: {{min_count: 2}}, core: {{count: 2}}}}
"""
SITE = """\
version: 1
site: dc1
catalog: {{servers: {{node: {{gpus: 4, nics: {{compute: {{count: 4, speed_gbps: 100}}}}}}}}}}
{checks}fabrics:
{fabrics}management: {{ntp: 192.0.2.10}}
"""
MTU = "   mtu 9214"


def check(folder: Path, everywhere: str = "", of: Mapping[str, str] | None = None) -> list[Finding]:
    """Two fabrics, one leaf of each with another MTU than planned. `of`: fabric → what it silences."""
    fabrics = ""
    for number, name in enumerate(("blue", "red"), 1):
        fabrics += FABRIC.format(name=name, number=number)
        fabrics += f"    checks: {{silence: {{{of[name]}}}}}\n" if of and name in of else ""
    path = folder / "dc1.yaml"
    path.write_text(SITE.format(fabrics=fabrics, checks=f"checks: {{silence: {{{everywhere}}}}}\n" if everywhere else ""))
    intent = pipeline.load(path)
    site = site_of(intent)
    devices = []
    for job in site.todo:
        files = {f"{job.device.name}.cfg": text for text in site.texts(job.device).values()}
        if job.device.name.endswith("leaf001"):
            files = {name: text.replace(MTU, "   mtu 9000", 1) for name, text in files.items()}
        devices.append(Device(job.device.name, "eos", files))
    given = site_of(intent, Folder(root="given", devices=devices))
    return given.silenced(given.check()).findings


def reported(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """(id, place, reason it is silenced) of each."""
    return [(one.id, f"{Path(one.file).name}:{one.line}", one.silenced) for one in findings]


def test_nothing_is_silenced_by_itself(tmp_path: Path) -> None:
    assert reported(check(tmp_path)) == [
        ("FAB184", "dc1.yaml:8", ""),
        ("FAB184", "dc1.yaml:12", ""),
        ("FAB234", "dc1.yaml:8", ""),
        ("FAB239", "dc1.yaml:13", ""),
        ("FAB234", "dc1.yaml:12", ""),
        ("FAB254", "blue-leaf001.cfg:126", ""),
        ("FAB254", "red-leaf001.cfg:126", ""),
    ]


def test_a_site_silences_in_all_its_fabrics(tmp_path: Path) -> None:
    """Warnings of the planner, checks of the design and of files alike; none of them is lost."""
    assert reported(check(tmp_path, "FAB184: grows soon, FAB234: small, FAB254: known")) == [
        ("FAB184", "dc1.yaml:9", "grows soon"),
        ("FAB184", "dc1.yaml:13", "grows soon"),
        ("FAB234", "dc1.yaml:9", "small"),
        ("FAB239", "dc1.yaml:14", ""),
        ("FAB234", "dc1.yaml:13", "small"),
        ("FAB254", "blue-leaf001.cfg:126", "known"),
        ("FAB254", "red-leaf001.cfg:126", "known"),
    ]


def test_a_fabric_silences_its_own(tmp_path: Path) -> None:
    """Reported by the device, or by where the fabric stands in the intent."""
    assert reported(check(tmp_path, of={"red": "FAB184: grows soon, FAB234: small, FAB254: known"})) == [
        ("FAB184", "dc1.yaml:8", ""),
        ("FAB184", "dc1.yaml:12", "grows soon"),
        ("FAB234", "dc1.yaml:8", ""),
        ("FAB239", "dc1.yaml:14", ""),
        ("FAB234", "dc1.yaml:12", "small"),
        ("FAB254", "blue-leaf001.cfg:126", ""),
        ("FAB254", "red-leaf001.cfg:126", "known"),
    ]


def test_the_reason_of_the_fabric_holds_over_that_of_the_site(tmp_path: Path) -> None:
    found = reported(check(tmp_path, "FAB254: everywhere", of={"red": "FAB254: here"}))
    assert [reason for id_, _, reason in found if id_ == "FAB254"] == ["everywhere", "here"]


def test_what_is_the_sites_is_silenced_by_the_site_alone(tmp_path: Path) -> None:
    """`management:` stands behind the last fabric, and is none of its keys."""
    found = reported(check(tmp_path, of={"red": "FAB239: lab"}))
    assert [row for row in found if row[0] in ("FAB200", "FAB239")] == [
        ("FAB239", "dc1.yaml:14", ""),
        ("FAB200", "dc1.yaml:13", ""),
    ]
    assert ("FAB239", "dc1.yaml:14", "lab") in reported(check(tmp_path, "FAB239: lab"))


def test_a_needless_silence_is_noted_where_it_stands(tmp_path: Path) -> None:
    found = check(tmp_path, "FAB264: overlay to come, FAB254: known", of={"blue": "FAB272: lab"})
    assert [str(finding).replace(f"{tmp_path}/", "") for finding in found if finding.id == "FAB200"] == [
        "dc1.yaml:4:20: note[FAB200]: FAB264 is suppressed, but has no findings\n"
        "    hint: remove the line from `checks: {silence: …}`",
        "dc1.yaml:10:24: note[FAB200]: FAB272 is suppressed, but has no findings\n"
        "    hint: remove the line from `checks: {silence: …}`",
    ]


def test_a_check_that_did_not_run_may_be_silenced(tmp_path: Path) -> None:
    """It may find something the next time: what asks another program, for one."""
    assert "FAB200" not in {finding.id for finding in check(tmp_path, "FAB301: not today")}
