"""What a run of the checks came to: the one input of every report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fabric.audit.checks.finding import ERROR, SEVERITIES, Finding
from fabric.base.text import counted, plural
from fabric.model.facts import Located

NEVER = "never"
FAIL_ON = (*SEVERITIES, NEVER)  # what `--fail-on` takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Something that was looked at: a plan, or a folder of files, and how much of it was understood."""

    what: str  # "plan of site dc1, 2 fabrics"
    path: str = ""  # the intent or the folder
    devices: int = 0  # 0 where another one of the same devices counts them
    files: int = 0
    statements: int = 0
    unread: tuple[Located[str], ...] = ()  # statements that the reader does not know, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Findings in the order of their places; silenced ones apart, they never fail a run."""

    findings: tuple[Finding, ...] = ()
    silenced: tuple[Finding, ...] = ()  # their `silenced` holds the reason
    read: tuple[Read, ...] = ()
    ran: tuple[str, ...] = ()  # ids of the checks that were applied
    skipped: tuple[tuple[str, str], ...] = ()  # what could not run, or is not seen → why, or which check covers it
    fail_on: str = ERROR  # the mildest severity that fails the run, or "never"
    whole: bool = False  # reports have every finding, also where many devices share one

    @classmethod
    def of(
        cls,
        findings: Iterable[Finding],
        read: Iterable[Read] = (),
        ran: Iterable[str] = (),
        skipped: Iterable[tuple[str, str]] = (),
        fail_on: str = ERROR,
    ) -> Verdict:
        """Sorts, drops repetitions, and sets silenced findings apart."""
        all_of_them = sorted(set(findings), key=lambda finding: finding.order)
        return cls(
            findings=tuple(finding for finding in all_of_them if not finding.silenced),
            silenced=tuple(finding for finding in all_of_them if finding.silenced),
            read=tuple(read),
            ran=tuple(sorted(set(ran))),
            skipped=tuple(dict.fromkeys(skipped)),
            fail_on=fail_on,
        )

    @property
    def worst(self) -> str:
        """The worst severity found; "" when nothing was."""
        return min((finding.severity for finding in self.findings), key=SEVERITIES.index, default="")

    def counts(self) -> Mapping[str, int]:
        """Severity → findings that are not silenced; zeros are present."""
        return {kind: sum(finding.severity == kind for finding in self.findings) for kind in SEVERITIES}

    def failing(self, finding: Finding, fail_on: str = "") -> bool:
        """Whether this one fails the run."""
        limit = fail_on or self.fail_on
        return limit != NEVER and SEVERITIES.index(finding.severity) <= SEVERITIES.index(limit)

    def fails(self, fail_on: str = "") -> bool:
        """Whether anything found is as bad as `fail_on`, or as this run's own where that is blank."""
        return any(self.failing(finding, fail_on) for finding in self.findings)

    @property
    def devices(self) -> int:
        return sum(read.devices for read in self.read)

    def sentence(self, printed: Mapping[str, int] = MappingProxyType({})) -> str:
        """`20 errors (96 places), 1 warning in 2 of 16 devices; 41 checks applied`.

        Args:
            printed: severity → findings that a report prints, where it prints those of one cause as one.
        """
        rows = [(kind, number, printed.get(kind, number)) for kind, number in self.counts().items() if number]
        found = ", ".join(
            plural(lines, kind) + (f" ({counted(number, 'place')})" if number > lines else "") for kind, number, lines in rows
        )
        found = found or "nothing found"
        silenced = f", {len(self.silenced)} silenced" if self.silenced else ""
        if not self.ran:
            return f"{found}{silenced}; no check was applied"
        affected = {finding.device for finding in self.findings}
        share = f"{len(affected):,} of " if "" not in affected and 0 < len(affected) < self.devices else ""
        return f"{found}{silenced} in {share}{plural(self.devices, 'device')}; {plural(len(self.ran), 'check')} applied"
