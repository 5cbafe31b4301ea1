"""What Batfish says of configs alone: no plan, only whether it reads them and whether they contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks import Finding
from fabric.audit.checks.batfish.checks import FileAnalysis
from fabric.audit.checks.batfish.parsing import judge_files, texts_of
from fabric.audit.checks.batfish.snapshot import Texts
from fabric.nos.reading import Device
from tests.audit.checks.batfish.helpers import recorded, small
from tests.audit.checks.batfish.record import SNAPSHOTS, damaged


def texts(folder: Path, name: str) -> Texts:
    site = damaged(small(folder), SNAPSHOTS[name])
    return texts_of([Device(switch, "eos", dict(files)) for switch, files in site.texts.items()])


def brief(findings: list[Finding]) -> list[tuple[str, str, str, int]]:
    return [(one.severity, one.id, one.device, one.line) for one in findings]


def test_clean_configs_have_no_findings(tmp_path: Path) -> None:
    assert judge_files(FileAnalysis(texts(tmp_path, "clean"), recorded("clean"))) == ([], [])


def test_wrong_lines(tmp_path: Path) -> None:
    """A line that Batfish does not know is a warning: it may be right. Loopbacks may be shared, in pairs they are."""
    findings, rows = judge_files(FileAnalysis(texts(tmp_path, "lines"), recorded("lines")))
    assert brief(findings) == [
        ("warning", "FAB302", "backend-spine001", 334),
        ("error", "FAB303", "backend-leaf002", 437),
        ("warning", "FAB305", "backend-leaf001", 439),
        ("warning", "FAB305", "backend-spine002", 354),
    ]
    assert findings[2].message == ("session with 10.64.0.3: no matching session at the far end")
    assert rows == []


def test_a_routed_port_with_the_address_of_another(tmp_path: Path) -> None:
    answers = recorded("clean")
    owner = {"VRF": "default", "IP": "10.64.0.1", "Mask": 31, "Active": True}
    answers.rows["owners"] = [
        owner | {"Node": {"name": "backend-spine001"}, "Interface": "Ethernet1/1"},
        owner | {"Node": {"name": "backend-leaf002"}, "Interface": "Loopback0"},
    ]
    findings, _ = judge_files(FileAnalysis(texts(tmp_path, "clean"), answers))
    assert [(one.id, one.device) for one in findings] == [("FAB304", "backend-leaf002"), ("FAB304", "backend-spine001")]
    for row in answers.rows["owners"]:
        row["Interface"] = "Vlan100"
    assert judge_files(FileAnalysis(texts(tmp_path, "clean"), answers)) == ([], [])


def test_a_file_that_is_taken_for_another_format_is_not_judged(tmp_path: Path) -> None:
    answers = recorded("lines")
    for row in answers.rows["file_status"]:
        row["File_Format"] = "CISCO_IOS"
    findings, rows = judge_files(FileAnalysis(texts(tmp_path, "lines"), answers))
    assert findings == []
    assert len(rows) == 4
    assert all("expected format ARISTA, got CISCO_IOS" in why for _, why in rows)


def test_no_answer_is_a_finding(tmp_path: Path) -> None:
    answers = recorded("clean")
    del answers.rows["compatibility"]
    (one,), _ = judge_files(FileAnalysis(texts(tmp_path, "clean"), answers))
    assert (one.id, one.severity, one.message) == ("FAB305", "error", "no answer from Batfish: not recorded: compatibility")


@pytest.mark.parametrize("nos", ["arubacx", ""])
def test_a_device_without_a_reader_has_no_copy(nos: str) -> None:
    assert texts_of([Device("a", nos, {"a": "x\n"})]).copies == {}
