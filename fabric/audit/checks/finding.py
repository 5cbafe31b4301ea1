"""What a check has to say: one record a finding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

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

    def as_dict(self) -> dict[str, Any]:
        """The shape of a finding in `--json` output."""
        shown = {
            "id": self.id,
            "severity": self.severity,
            "device": self.device,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
        }
        return shown | ({"silenced": self.silenced} if self.silenced else {})

    @property
    def order(self) -> tuple[Any, ...]:
        return self.file, self.line, self.column, self.id, self.device, self.message
