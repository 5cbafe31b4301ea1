"""What a check has to say, one record a finding; and what a run of the checks came to, the one input of every report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from fabric.base.schemas.models import CheckId, Count, Document, Text, enum_of, json_key
from fabric.base.text import counted, plural
from fabric.model.facts import Located

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)  # the worst first


class Subject(NamedTuple):
    """An object of a config: `Subject("10.64.0.1", "neighbor", "blue")`, `Subject("Ethernet1")`; `Subject()`: the device."""

    name: str = ""
    kind: str = ""  # the words before its name: "VLAN", "prefix list"; "" for a port
    vrf: str = ""

    def __str__(self) -> str:
        text = f"{self.kind} {self.name}" if self.kind and self.name else self.kind or self.name
        return f"{text} in VRF {self.vrf}" if self.vrf else text


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a finding is about, for other checks; people read its message.

    Attributes:
        subjects: the objects that it is about.
        fact: the kind of fact that differs, a key of `KINDS`; "" for the objects themselves.
        expected: the planned value.
        got: the value in the file.
        absent: the file has no such fact, object or statement.
        statement: the planned statement that the file does not have, as the network OS takes it.
        path: the same with its sections.
        devices: names of the other devices that it is about.
        explains: ids of findings that follow from it and were left out.
    """

    subjects: tuple[Subject, ...] = ()
    fact: str = ""
    expected: str = ""
    got: str = ""
    absent: bool = False
    statement: str = ""
    path: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The values of its objects, or their names where it is about the objects themselves."""
        return self.expected, self.got, *(() if self.fact else (subject.name for subject in self.subjects))


UNKNOWN = About()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """How a report writes findings of one cause as one: those with the same id, severity, text and file.

    Attributes:
        text: message of all of them; `{uses}`, `{names}` and `{devices}` are filled in.
        names: what this finding adds to `{names}`.
        uses: what this finding adds to `{uses}`.
        noun: of what `{uses}` counts.
        file: the place of all of them; "" for that of the first one.
        most: names that are listed.
    """

    text: str
    names: tuple[str, ...] = ()
    uses: int = 1
    noun: str = "line"
    file: str = ""
    most: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken property at one place; line and column count from 1, 0 when the whole file is meant."""

    id: str
    severity: str
    device: str  # "" where no single device is meant
    file: str
    line: int
    message: str
    hint: str = ""
    column: int = 0
    silenced: str = ""  # the intent's reason why it does not apply here
    about: About = field(default=UNKNOWN, compare=False, repr=False)
    merge: Merge | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        place = self.file + (f":{self.line}" if self.line else "") + (f":{self.column}" if self.column else "")
        device = f"{self.device}: " if self.device else ""
        head = f"{place}: {self.severity}[{self.id}]: {device}{self.message}"
        return f"{head}\n    hint: {self.hint}" if self.hint else head

    @property
    def order(self) -> tuple[Any, ...]:
        return self.file, self.line, self.column, self.id, self.device, self.message


class FindingDocument(Document):
    """A finding in `--json` output."""

    id: CheckId
    severity: Annotated[str, enum_of(SEVERITIES)]
    device: str = json_key('"" where no single device is meant')
    file: str
    line: Count = json_key("from 1; 0: the whole file")
    column: Count
    message: Text
    hint: str
    silenced: Text = json_key("the intent's reason why it does not apply here", default="")


# --- verdict --------------------------------------------------------------------------------------------------

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
        counts = ", ".join(
            plural(lines, kind) + (f" ({counted(number, 'place')})" if number > lines else "") for kind, number, lines in rows
        )
        counts = counts or "nothing found"
        silenced = f", {len(self.silenced)} silenced" if self.silenced else ""
        if not self.ran:
            return f"{counts}{silenced}; no check was applied"
        affected = {finding.device for finding in self.findings}
        share = f"{len(affected):,} of " if "" not in affected and 0 < len(affected) < self.devices else ""
        return f"{counts}{silenced} in {share}{plural(self.devices, 'device')}; {plural(len(self.ran), 'check')} applied"
