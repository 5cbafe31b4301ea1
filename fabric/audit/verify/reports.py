"""Reports of verified state: text, Markdown, JSON, SARIF and JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabric.audit.checks import ERROR, Verdict
from fabric.audit.verify.verify import SiteState
from fabric.base.formats import Format
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.nos.state.records import KINDS


@dataclass(frozen=True)
class StateReport:
    """Verified state as it is reported; `whole` prints complete lists."""

    state: SiteState
    whole: bool = False

    @property
    def verdict(self) -> Verdict:
        return self.state.verdict()

    def document(self) -> dict[str, Any]:
        """The document of `fabric schema verify`."""
        return document(self.state)


FORMATS: Mapping[str, Format[str]] = {
    "text": Format("for people at a terminal", "fabric.audit.verify.text:report"),
    "markdown": Format("for a pull request or a chat", "fabric.audit.verify.markdown:report"),
    "json": Format("all findings, and what was not judged", "fabric.audit.checks.reports.compared:json"),
    "sarif": Format("SARIF, for code scanning", "fabric.audit.checks.reports.compared:sarif"),
    "junit": Format("JUnit XML, a test per switch", "fabric.audit.verify.junit:report"),
}


def document(state: SiteState) -> dict[str, Any]:
    """All of it; nothing is folded or cut."""
    by_device = grouped((finding.device, finding) for finding in state.findings)
    return {
        "site": state.site.plan.site,
        "folder": state.collected.folder,
        "summary": {
            "switches": len(state.site.switches),
            "without_state": len(state.silent),
            "files": state.collected.files,
            **{f"{severity}s": count for severity, count in state.verdict().counts().items()},
        },
        "findings": [finding.as_dict() for finding in state.findings],
        "switches": [
            {
                "switch": name,
                "fabric": switch.view.fabric,
                "role": switch.view.device.role,
                "nos": switch.view.device.nos,
                "judged": [kind for kind in KINDS if switch.has(kind)],
                "errors": sum(finding.severity == ERROR for finding in by_device.get(name, ())),
            }
            for name, switch in state.site.switches.items()
        ],
        "not_judged": [{"kind": one.kind, "switches": list(one.switches)} for one in state.missing],
        "not_reported": [{"kind": one.kind, "what": one.what, "places": list(one.places)} for one in state.gaps],
        "without_state": list(state.silent),
        "unplanned": [{"file": file, "reason": reason} for file, reason in sorted(state.collected.unplanned.items())],
        "unread": [{"file": file, "reason": reason} for file, reason in sorted(state.collected.unread.items())],
    }


def summary(state: SiteState) -> str:
    """`6 switches: 1 error in 1 switch, 1 without state`."""
    counts = state.verdict().counts()
    sound = "nothing judged" if len(state.silent) == len(state.site.switches) else "as planned"
    found = ", ".join(plural(number, kind) for kind, number in counts.items() if number) or sound
    affected = {finding.device for finding in state.findings}
    inside = f" in {plural(len(affected), 'switch', 'switches')}" if affected else ""
    silent = f", {len(state.silent):,} without state" if state.silent else ""
    return f"{plural(len(state.site.switches), 'switch', 'switches')}: {found}{inside}{silent}"
