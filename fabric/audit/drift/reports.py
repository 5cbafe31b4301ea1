"""Reports of a drift check: text, Markdown, JSON, SARIF and JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fabric.audit.checks import Read, Verdict
from fabric.audit.drift.devices import DRIFTED, IN_SYNC, STATES, DeviceDrift, SiteDrift
from fabric.base.formats import Format


@dataclass(frozen=True)
class DriftReport:
    """A drift check as it is reported.

    Attributes:
        site: the compared site.
        whole: print lists completely, one finding per device.
        commands: print the commands back to the plan.
    """

    site: SiteDrift
    whole: bool = False
    commands: bool = False

    @property
    def verdict(self) -> Verdict:
        """The findings of all switches, for formats that have no devices."""
        site = self.site
        files = sum(len(device.files) for device in site.devices)
        ids = sorted({finding.id for device in site.devices for finding in device.findings} | {"FAB295"})
        skipped = [(device.device, device.reason) for device in site.devices if device.reason]
        return Verdict.of(
            (finding for device in site.devices for finding in device.findings),
            [Read(what=f"running configs of site {site.site}", path=site.folder, devices=len(site.devices), files=files)],
            ids,
            skipped,
        )

    def document(self) -> dict[str, Any]:
        """The document of `fabric schema drift`."""
        return document(self.site)


FORMATS: Mapping[str, Format[str]] = {
    "text": Format("for people at a terminal", "fabric.audit.drift.text:report"),
    "markdown": Format("for a pull request or a chat", "fabric.audit.drift.markdown:report"),
    "json": Format("all switches with their findings and commands", "fabric.audit.checks.reports.compared:json"),
    "sarif": Format("SARIF, for code scanning", "fabric.audit.checks.reports.compared:sarif"),
    "junit": Format("JUnit XML, a test per switch", "fabric.audit.drift.junit:report"),
}


def document(site: SiteDrift) -> dict[str, Any]:
    """All switches; nothing is folded or cut."""
    return {
        "site": site.site,
        "folder": site.folder,
        "summary": {
            "devices": len(site.devices),
            **{state.replace(" ", "_"): site.count(state) for state in STATES},
            "errors": sum(device.errors for device in site.devices),
        },
        "devices": [_device(device) for device in site.devices],
        "unplanned": list(site.unplanned),
        "unread": [{"file": file, "reason": reason} for file, reason in site.unread],
    }


def _device(drift: DeviceDrift) -> dict[str, Any]:
    return {
        "device": drift.device,
        "fabric": drift.fabric,
        "role": drift.role,
        "nos": drift.nos,
        "state": drift.state,
        "reason": drift.reason,
        "files": list(drift.files),
        "findings": [finding.as_dict() for finding in drift.findings],
        "commands": [asdict(change) | {"form": change.form.name} for change in drift.commands],
    }


def summary(site: SiteDrift) -> str:
    """`16 switches: 1 drifted, 1 no config, 14 in sync`."""
    from fabric.base.text import plural

    counts = ", ".join(f"{site.count(state):,} {state}" for state in STATES if site.count(state))
    return f"{plural(len(site.devices), 'switch', 'switches')}: {counts}"


def not_in_sync(site: SiteDrift) -> list[DeviceDrift]:
    """The switches to look at, those that drifted first."""
    wanted = [device for device in site.devices if device.state != IN_SYNC or device.findings]
    return sorted(wanted, key=lambda device: (STATES.index(device.state), -device.errors if device.state == DRIFTED else 0))
