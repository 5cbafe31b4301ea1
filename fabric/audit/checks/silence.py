"""Suppressions of the intent: each with its reason; their findings are still reported, as silenced."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from fabric.audit.checks.base import Check, every, run
from fabric.audit.checks.finding import NOTE, WARNING, Finding
from fabric.audit.checks.reports.common import OTHER, rule_of
from fabric.model.plan import Plan


@dataclass(frozen=True)
class Silenced:
    """What a site silences, and what came of it."""

    plan: Plan
    used: Collection[tuple[str, str]]  # (fabric or "", code) of the silences that silenced something
    ran: Collection[str]  # codes of the checks that were applied


class NeedlessSilence(Check[Silenced]):
    """Compares the suppressions of the intent with the findings of the run.

    A suppression that matches nothing is out of date: it only hides the next mistake of that kind.
    """

    id = "FAB200"
    title = "Every suppression matches at least one finding"
    severity = NOTE
    example = '`checks: {silence: {FAB234: "two spines"}}` on a fabric with four spines'
    remediation = "remove the line from `checks: {silence: …}`"
    subject, needs = "silence", "intent"

    def check(self, silenced: Silenced) -> Iterator[Finding]:
        plan = silenced.plan
        places = [("", plan.settings.silence), *((name, fabric.spec.silence) for name, fabric in plan.fabrics.items())]
        for fabric, silence in places:
            for code in silence:
                path = ("fabrics", fabric, "checks", "silence", code) if fabric else ("checks", "silence", code)
                place = plan.at(*path, key=True)
                if (fabric, code) not in silenced.used and code in silenced.ran:
                    yield self.at(place, f"{code} is suppressed, but has no findings")
                elif not _is_known(code):
                    yield self.at(place, f"{code} is suppressed, but no check has this id", severity=WARNING)


@dataclass(frozen=True)
class Silences:
    """What a site silences: everywhere, and in each fabric."""

    plan: Plan

    def apply(self, findings: Iterable[Finding], ran: Iterable[str]) -> Iterator[Finding]:
        """The findings, silenced ones with their reason; a note for a silence of a check that ran and found nothing."""
        used: set[tuple[str, str]] = set()
        for finding in findings:
            fabric = self._fabric(finding)
            site, of_fabric = self.plan.settings.silence, self._own(fabric)
            if finding.id in of_fabric:
                used.add((fabric, finding.id))
                yield replace(finding, silenced=of_fabric[finding.id])
            elif finding.id in site:
                used.add(("", finding.id))
                yield replace(finding, silenced=site[finding.id])
            else:
                yield finding
        yield from run(NeedlessSilence, Silenced(self.plan, used, set(ran)))

    def _own(self, fabric: str) -> Mapping[str, str]:
        return self.plan.fabrics[fabric].spec.silence if fabric else {}

    def _fabric(self, finding: Finding) -> str:
        """Of the device, else of the place in the intent."""
        for name, fabric in self.plan.fabrics.items():
            if finding.device and finding.device in fabric.by_name:
                return name
        if finding.file != self.plan.settings.positions.file:
            return ""
        at, sections = self.plan.at, self.plan.settings.sections
        starts = {at(key, key=True).line: "" for key in sections}  # `management:` is no fabric's
        starts |= {at("fabrics", name, key=True).line: name for name in self.plan.fabrics}
        before = [line for line in starts if line <= finding.line]
        return starts[max(before)] if before else ""


def _is_known(code: str) -> bool:
    """Whether a check has this id, one that asks a server among them, or a stage before the checks gives it."""
    every()
    return rule_of(code).subject != OTHER.subject
