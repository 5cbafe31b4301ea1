"""Verified state as test results: a suite per fabric, a test case per switch and kind of state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabric.audit.checks import NOTE, Finding
from fabric.audit.checks.reports.spell import clean, line
from fabric.audit.verify.reports import StateReport
from fabric.audit.verify.site import Switch
from fabric.audit.verify.verify import SiteState
from fabric.base.formats import Case, Failure, Suite
from fabric.base.formats.junit import junit
from fabric.base.grouping import grouped
from fabric.base.text import plural


def report(report: StateReport) -> str:
    """A switch without state is skipped; one whose findings are notes passes."""
    state = report.state
    by_device = grouped((finding.device, finding) for finding in state.findings)
    fabrics = grouped((switch.view.fabric, switch) for switch in state.site.switches.values())
    suites = [
        Suite(name, [_case(state, one, by_device.get(one.name, ())) for one in group]) for name, group in fabrics.items()
    ]
    return junit("fabric verify", suites + list(_others(state, by_device)))


def _case(state: SiteState, switch: Switch, findings: Sequence[Finding]) -> Case:
    name, classname = switch.name, f"fabric.{switch.view.fabric}"
    lines = "\n".join(line(clean(finding)) for finding in findings)
    if any(finding.severity != NOTE for finding in findings):
        return Case(name=name, classname=classname, failure=Failure("state", plural(len(findings), "finding"), lines))
    if name in state.silent:
        return Case(name=name, classname=classname, skipped="no state")
    missing = [one.kind for one in state.missing if name in one.switches]
    return Case(
        name=name,
        classname=classname,
        output="\n".join(filter(None, (lines, f"not judged: {', '.join(missing)}" if missing else ""))),
    )


def _others(state: SiteState, by_device: dict[str, list[Finding]]) -> Iterator[Suite]:
    """Findings at devices that are no switches: servers that no neighbor reports."""
    others = {name: findings for name, findings in by_device.items() if name not in state.site.switches}
    if others:
        yield Suite(
            "others",
            [
                Case(
                    name=name or "site",
                    classname="fabric",
                    failure=Failure("state", plural(len(findings), "finding"), "\n".join(map(str, findings))),
                )
                for name, findings in others.items()
            ],
        )
