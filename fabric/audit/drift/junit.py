"""A drift check as test results: one test case per switch."""

from __future__ import annotations

from fabric.audit.checks.reports.spell import clean, line
from fabric.audit.drift.devices import DRIFTED, DeviceDrift
from fabric.audit.drift.reports import DriftReport
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.junit import junit
from fabric.base.grouping import grouped
from fabric.base.text import plural, printable


def report(drift: DriftReport) -> str:
    """A suite per fabric. A switch that could not be compared is skipped with the reason."""
    fabrics = grouped((device.fabric, device) for device in drift.site.devices)
    return junit("fabric drift", [Suite(name, [_case(device) for device in group]) for name, group in fabrics.items()])


def _case(device: DeviceDrift) -> Case:
    lines = "\n".join(line(clean(finding)) for finding in device.findings)
    name = f"fabric.{device.fabric}"
    if device.reason:
        return Case(name=device.device, classname=name, skipped=printable(f"{device.state}: {device.reason}"))
    if device.state != DRIFTED:
        return Case(name=device.device, classname=name, output=lines)
    return Case(name=device.device, classname=name, failure=Failure(DRIFTED, plural(device.errors, "difference"), lines))
