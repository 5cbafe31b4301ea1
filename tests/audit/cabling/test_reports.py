"""Reports: what a person on the floor reads, what a program reads, and hostile names in both; the command itself."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer

from fabric.audit.cabling.compare import compare
from fabric.audit.cabling.finding import KINDS, CablingState
from fabric.audit.cabling.report import FORMATS, MOVE_COLUMNS, report
from fabric.base.diagnostics import InputError
from fabric.cli.cabling import verify
from fabric.nos.lldp import Neighbor
from tests import ROOT
from tests.audit.cabling.helpers import end, fresh, reported, verdict
from tests.audit.cabling.lldp_writers import WRITERS, Floor, write
from tests.goldens import golden

HOSTILE = '\x1b[31m=HYPERLINK("x")\x1b[0m\n</testsuite>\u202e'


def broken() -> Floor:
    """One of several mistakes, in a fabric of two leaves and two spines."""
    floor = fresh("starter")
    plan = floor.plan
    floor.swap(end(plan, "backend-spine001 1"), end(plan, "backend-spine001 2"))
    floor.swap(end(plan, "backend-leaf001 1/1"), end(plan, "backend-leaf002 1/1"))
    floor.pull(end(plan, "backend-leaf001 64"))
    slow = end(plan, "backend-spine002 1")
    floor.speed[slow] = floor.speed[slow ^ 1] = 400
    return floor


def racked(device: str) -> tuple[str, int]:
    """A floor: spines in one rack, every other device in that of its number."""
    if device == "backend-spine001":
        return "A01", 40
    return ("A01", 38) if "spine" in device else (f"B{int(device[-2:]):02}", 42 if "leaf" in device else 1)


def found() -> CablingState:
    floor = broken()
    messages = reported(floor, states=True)
    leaf = messages.devices[floor.plan.hosts.names.index("backend-leaf002")]
    leaf.neighbors.append(Neighbor(port="Ethernet248", system="old-spine", chassis="", far_port="Ethernet1/1"))
    return compare(floor.plan, messages, racked, "dc1")


@pytest.mark.parametrize(("form", "file"), [("text", "report.txt"), ("csv", "moves.csv"), ("json", "report.json")])
def test_golden(form: str, file: str) -> None:
    golden(f"verify/{file}", report(form, found()))


def test_findings_are_those_of_the_check_of_neighbors() -> None:
    (run,) = json.loads(report("sarif", found()))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["FAB357"]
    texts = sorted(result["message"]["text"] for result in run["results"])
    assert len(texts) == len(found().findings)
    assert texts[0].startswith("backend-leaf001: wrong-speed: ")
    rows = [line for line in report("markdown", found()).splitlines() if "| FAB357 | error |" in line]
    assert len(rows) == len(found().findings)


def test_findings_stand_in_the_order_of_a_walk() -> None:
    at = [(finding.at.rack, -finding.at.ru) for finding in found().findings]
    assert at == sorted(at)


def test_every_move_is_a_row() -> None:
    rows = list(csv.DictReader(io.StringIO(report("csv", found()))))
    assert len(rows) == sum(len(finding.moves) for finding in found().findings)
    assert [row["step"] for row in rows] == [str(step) for step in range(1, len(rows) + 1)]
    assert set(rows[0]) == set(MOVE_COLUMNS)


def test_junit_has_a_case_for_each_kind() -> None:
    root = ET.fromstring(report("junit", found()))
    cases = {case.get("classname", "").removeprefix("fabric.cabling."): case for case in root.iter("testcase")}
    assert list(cases) == list(KINDS)
    failed = {kind for kind, case in cases.items() if case.find("failure") is not None}
    assert failed == {finding.kind for finding in found().findings}


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_stay_text(form: str) -> None:
    floor = fresh("starter")
    messages = reported(floor)
    switch = messages.devices[floor.plan.hosts.names.index("backend-leaf001")]
    switch.neighbors.append(
        Neighbor(port="Ethernet248", system=HOSTILE, chassis=HOSTILE, far_port=HOSTILE, description=HOSTILE)
    )
    switch.neighbors.append(Neighbor(port="Ethernet240", system="=cmd|' /C calc'!A0", chassis="", far_port="@SUM(1)"))
    text = report(form, verdict(floor, messages))
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(row) for row in rows} == {len(MOVE_COLUMNS)}
        assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    if form == "junit":
        assert len(list(ET.fromstring(text).iter("testsuite"))) == 1
    if form == "json":
        json.loads(text)


def test_the_last_line() -> None:
    assert report("text", verdict(fresh("starter"), reported(fresh("starter")))) == "96 of 96 links as planned\n"
    assert found().sentence().startswith("90 of 96 links as planned; 2 swapped; 1 unknown-device; 1 missing; 1 wrong-speed")


def run(*options: str) -> int:
    """Exit code of the command by itself, without the others around it."""
    app = typer.Typer()
    app.command()(verify)
    with pytest.raises(SystemExit) as caught:
        app([str(ROOT / "intent" / "starter.yaml"), *options])
    return int(caught.value.code or 0)


def test_the_command(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(tmp_path / "good", fresh("starter"), WRITERS["sonic-db"][1])
    write(tmp_path / "bad", broken(), WRITERS["sonic-table"][1])
    assert run(str(tmp_path / "good"), "--json") == 0
    assert json.loads(capfdbinary.readouterr().out)["summary"]["as_planned"] == 96
    assert run(str(tmp_path / "bad"), "--format", "text", "--format", f"csv={tmp_path / 'moves.csv'}") == 1
    out, err = capfdbinary.readouterr()
    assert err == b""
    assert out.splitlines()[-1].startswith(b"90 of 96 links as planned; 2 swapped; 1 missing; 1 wrong-speed")
    assert (tmp_path / "moves.csv").read_text().startswith("step,rack,ru,finding,action,device")


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        ([], "expected files with LLDP neighbor output"),
        (
            ["x.json", "--source", "ios"],
            "--source: error[FAB102]: expected eos, nxos, junos, lldpd, sonic, nvue, infiniband, got 'ios'",
        ),
        (
            ["x.json", "--format", "xml"],
            "--format: error[FAB102]: expected one of text, markdown, json, sarif, junit, github, csv",
        ),
        (["--device", "leaf001"], "--device: error[FAB102]: expected NAME=FILE, got 'leaf001'"),
        (
            ["--device", "a=x.json", "--device", "b=x.json"],
            "--device: error[FAB102]: x.json is assigned to two devices, a and b",
        ),
    ],
)
def test_wrong_usage(options: list[str], messages: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*options) == 2
    assert messages in capsys.readouterr().err


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError):
        run("nowhere.json")
