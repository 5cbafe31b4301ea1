"""States of switches, their findings and the commands back, in every format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks.reports import FORMATS, report as report_of
from fabric.audit.drift.devices import DRIFTED, IN_SYNC, NO_CONFIG, UNKNOWN, DeviceDrift, SiteDrift
from fabric.audit.drift.reports import drift_report
from fabric.design.intent.intent import Intent
from tests.audit.checks.batfish.helpers import SMALL

CONFIG = "{name}.cfg"
# Text of backend-leaf001 that is edited: (old, new) → state, messages, commands back.
EDITS: Mapping[str, tuple[tuple[str, str], str, list[str], list[str]]] = {
    "as planned": (("", ""), IN_SYNC, [], []),
    "a time": (("! device", "! Time: today\n! device"), IN_SYNC, [], []),
    "a missing line": (
        ("ip routing vrf red\n", ""),
        DRIFTED,
        ["missing statement: `ip routing vrf red`"],
        ["ip routing vrf red"],
    ),
    "an extra section": (
        ("lldp run\n", "lldp run\n!\nrouter ospf 1\n   network 10.0.0.0/8 area 0.0.0.0\n"),
        DRIFTED,
        ["unplanned statement and 1 statement below it"],
        ["no router ospf 1"],
    ),
    "a changed value": (
        ("   mtu 9164", "   mtu 1500"),
        DRIFTED,
        ["Ethernet1/1: MTU: expected 9164, got 1500"],
        ["interface Ethernet1/1", "   mtu 9164"],
    ),
    "a description": (
        ("   description gpu", "   description server gpu"),
        IN_SYNC,
        ["changed statement: expected `description gpu-0001 compute1`"],
        ["interface Ethernet1/1", "   description gpu-0001 compute1"],
    ),
}


@pytest.fixture(scope="module")
def intent(tmp_path_factory: pytest.TempPathFactory) -> Intent:
    path = tmp_path_factory.mktemp("site") / "small.yaml"
    path.write_text(SMALL)
    return pipeline.load(path)


@pytest.fixture
def running(intent: Intent, tmp_path: Path) -> Path:
    """A folder with the configs of all switches, as a collector writes them."""
    renderer = pipeline.render(pipeline.plan(intent), intent)
    for job in renderer.jobs(lambda name: True):
        ((_, data),) = renderer.files(job)
        (tmp_path / CONFIG.format(name=job.device.name)).write_bytes(data)
    return tmp_path


def drift_of(site: SiteDrift, name: str) -> DeviceDrift:
    return next(device for device in site.devices if device.device == name)


@pytest.mark.parametrize("case", EDITS)
def test_states_findings_and_commands(intent: Intent, running: Path, case: str) -> None:
    (old, new), state, messages, commands = EDITS[case]
    file = running / CONFIG.format(name="backend-leaf001")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1) if old else file.read_text())
    site = pipeline.drift(intent, running, jobs=1)
    found = drift_of(site, "backend-leaf001")
    assert (found.state, [finding.message for finding in found.findings]) == (state, messages)
    assert [line for change in found.commands for line in change.lines] == commands
    assert {device.state for device in site.devices if device is not found} == {IN_SYNC}


def test_switches_that_cannot_be_compared(intent: Intent, running: Path) -> None:
    (running / CONFIG.format(name="backend-leaf001")).unlink()
    (running / CONFIG.format(name="backend-leaf002")).write_text("")
    spine = running / CONFIG.format(name="backend-spine001")
    spine.write_text("feature bgp\nhostname backend-spine001\nvrf context management\ninterface mgmt0\n")
    (running / "other.cfg").write_text("! device: other (x, EOS-4.32.0F)\nhostname other\nvrf instance MGMT\n")
    site = pipeline.drift(intent, running, jobs=1)
    states = {device.device: (device.state, device.reason) for device in site.devices}
    assert states["backend-leaf001"] == (NO_CONFIG, "no config with this host name in the folder")
    assert states["backend-leaf002"] == (UNKNOWN, "empty")
    assert states["backend-spine001"] == (UNKNOWN, "network OS: expected eos, got nxos")
    assert site.unplanned == ("other",)


@pytest.mark.parametrize("form", FORMATS)
def test_formats_name_the_switch_and_the_statement(intent: Intent, running: Path, form: str) -> None:
    file = running / CONFIG.format(name="backend-leaf001")
    file.write_text(file.read_text().replace("ip routing vrf red\n", ""))
    report = drift_report(pipeline.drift(intent, running, jobs=1), commands=True)
    text = report_of(form, report)
    assert "backend-leaf001" in text
    assert "ip routing vrf red" in text


def test_json_has_all_states(intent: Intent, running: Path) -> None:
    report = drift_report(pipeline.drift(intent, running, jobs=1)).document()
    assert report["summary"] == {
        "devices": len(report["devices"]),
        "drifted": 0,
        "no_config": 0,
        "unknown": 0,
        "in_sync": len(report["devices"]),
        "errors": 0,
    }
    assert json.loads(json.dumps(report)) == report


def test_switches_in_sync_are_compared_fast(intent: Intent, running: Path) -> None:
    """Statements of an unchanged switch are compared without its facts."""
    site = pipeline.drift(intent, running, jobs=1)
    assert all(not device.findings and not device.commands for device in site.devices)
