"""What is wrong with the cables, each thing once, the moves that fix it, and the reports of both."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any, TypeVar

from fabric.base.formats import Case, Failure, Suite, csv_text, json_text, no_formula
from fabric.base.formats.junit import junit
from fabric.base.schemas.models import Count, Document, Text, document, each_of, enum_of, itself, json_key
from fabric.base.text import counted, padded, printable, screen, style, wrapped

# Kinds, the ones that others may be a consequence of first; words that a person on the floor uses.
KINDS = {
    "swapped": "cables whose far ends are swapped",
    "wrong-port": "the planned device, but another port",
    "wrong-device": "another device than planned",
    "unknown-device": "a device that the plan does not have",
    "unexpected": "a neighbor where the plan has no cable",
    "duplicate-name": "two devices that send the same name",
    "contradiction": "a port that reports the neighbor of another port",
    "missing": "a planned cable that neither end reports",
    "silent-device": "a device that no neighbor reports on any of its cables",
    "port-down": "a planned cable whose port is shut",
    "one-way": "reported at one end only",
    "wrong-split": "a cage with another breakout than planned",
    "wrong-speed": "a port that runs at another speed than planned",
}


@dataclass(frozen=True, slots=True)
class PortLocation:
    """Location of a port: device, label of the plan, name in the network OS, rack and rack unit."""

    device: str
    port: str = ""  # "" where only the device is known
    port_name: str = ""
    rack: str = ""
    ru: int = 0  # 0: unknown

    def __str__(self) -> str:
        if not self.port and not self.port_name:
            return self.device
        port_name = f" ({self.port_name})" if self.port_name and self.port and self.port_name != self.port else ""
        return f"{self.device} port {self.port or self.port_name}{port_name}"


@dataclass(frozen=True, slots=True)
class Move:
    """One thing to do with one's hands (`move`, `lay`, `remove`), or at one port (`check`, `set`, `split`)."""

    action: str
    text: str
    at: PortLocation  # where to go
    kept: PortLocation | None = None  # the end that stays plugged in
    to: PortLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault, its location, and the moves that fix it."""

    kind: str
    fabric: str
    message: str
    at: PortLocation
    moves: tuple[Move, ...]
    links: tuple[tuple[PortLocation, PortLocation], ...] = ()  # planned links that are not as planned because of it


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """All of it."""

    site: str
    links: int
    as_planned: int
    not_reported: int
    by_device_only: int  # of those as planned: the neighbor did not say which of its ports it is
    files: int
    devices: int  # that reported
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    def sentence(self) -> str:
        """The last line of a report."""
        parts = [f"{self.as_planned:,} of {self.links:,} links as planned"]
        parts += [f"{number:,} {kind}" for kind in KINDS if (number := self.counts.get(kind))]
        moves = sum(len(finding.moves) for finding in self.findings)
        parts += [f"{counted(moves, 'move')} fix{'es' * (moves == 1)} everything"] if moves else []
        parts += [f"{self.not_reported:,} not reported"] if self.not_reported else []
        return "; ".join(parts)


# --- reports: text, JSON, CSV, JUnit --------------------------------------------------------------------------

MOVE_COLUMNS = (
    *("step", "rack", "ru", "finding", "action", "device", "port", "port_name"),
    *("to_rack", "to_ru", "to_device", "to_port", "to_port_name", "kept_device", "kept_port", "what_to_do"),
)
T = TypeVar("T")


def report(form: str, verdict: Verdict) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    return FORMATS[form](_clean(verdict))


def _text(verdict: Verdict) -> str:
    """By rack, in the order of a walk: what is wrong, and below it what to do."""
    lines: list[str] = []
    place = max((len(_place(finding.at)) for finding in verdict.findings), default=0)
    kind = max((len(finding.kind) for finding in verdict.findings), default=0)
    for finding in verdict.findings:
        margin = " " * (place + kind + (4 if place else 2))
        line = f"{_place(finding.at):{place}}  {padded(style('fail', finding.kind), '<', kind)}  {finding.message}"
        lines += wrapped(line.lstrip(), screen().width, len(margin))
        numbers = len(finding.moves) > 1
        for step, move in enumerate(finding.moves, 1):
            mark = f"{step}." if numbers else "→"
            places = [_place(port) for port in (move.at, move.to) if port is not None and port.rack]
            route = " → ".join(dict.fromkeys(places)) if set(places) - {_place(finding.at)} else ""
            line = f"{margin}{mark} {move.text}" + (f"  [{route}]" if route else "")
            lines += wrapped(line, screen().width, len(margin) + len(mark) + 1)
    if lines:
        lines.append("")
    lines += [f"note: {note}" for note in verdict.notes]
    return "\n".join([*lines, style("fail" if verdict.findings else "pass", verdict.sentence())]) + "\n"


def _place(port: PortLocation) -> str:
    return f"{port.rack} RU{port.ru}" if port.rack and port.ru else port.rack


def _json(verdict: Verdict) -> str:
    """Keys are a promise: they grow, and none goes."""
    return json_text(document(verdict, VerdictDocument), ensure_ascii=False) + "\n"


class PortDocument(Document):
    """What is known of a port."""

    device: Text
    port: Text = json_key("the label of the plan", default="")
    port_name: Text = json_key("port name on the device", default="")
    name: Text = json_key("old name of port_name", "port_name", default="", deprecated=True, exclude_if=operator.not_)
    rack: Text = json_key(default="")
    ru: Count = json_key(default=0)


class LinkDocument(Document):
    """Of two ports."""

    a: PortDocument = json_key(of=0)
    b: PortDocument = json_key(of=1)


class MoveDocument(Document):
    action: Text
    text: Text
    at: PortDocument
    to: PortDocument = json_key(default=None)
    kept: PortDocument = json_key("the end that stays plugged in", default=None)


class FindingDocument(Document):
    kind: Annotated[str, enum_of(KINDS)]
    fabric: str
    message: Text
    at: PortDocument
    links: list[LinkDocument] = json_key("planned links that are not as planned because of it")
    moves: list[MoveDocument]


class Summary(Document):
    links: Count
    as_planned: Count
    by_device_only: Count = json_key("links as planned by device only: the neighbor sent no port name")
    not_reported: Count
    findings: Annotated[dict[str, Count], each_of(KINDS)] = json_key(
        of=lambda verdict: {kind: verdict.counts.get(kind, 0) for kind in KINDS}
    )
    moves: Count = json_key(of=lambda verdict: sum(len(finding.moves) for finding in verdict.findings))
    devices: Count = json_key("that reported")
    files: Count


class VerdictDocument(Document):
    site: Text
    findings: list[FindingDocument]
    notes: list[str]
    summary: Summary = json_key(of=itself)


def _csv(verdict: Verdict) -> str:
    """One move a row, in the order of the walk."""
    rows = [row for finding in verdict.findings for row in _rows(finding)]
    return csv_text(MOVE_COLUMNS, ([step, *map(no_formula, row)] for step, row in enumerate(rows, 1)))


def _rows(finding: Finding) -> Iterator[list[Any]]:
    nowhere = PortLocation("")
    for move in finding.moves:
        at, to, kept = move.at, move.to or nowhere, move.kept or nowhere
        yield [
            *(at.rack, at.ru or "", finding.kind, move.action, at.device, at.port, at.port_name),
            *(to.rack, to.ru or "", to.device, to.port, to.port_name, kept.device, kept.port or kept.port_name, move.text),
        ]


def _junit(verdict: Verdict) -> str:
    """A test case for each kind of finding; those of a kind are its failure."""
    cases = []
    for kind, title in KINDS.items():
        found = [finding for finding in verdict.findings if finding.kind == kind]
        words = [f"{finding.message}\n" + "\n".join(f"  {move.text}" for move in finding.moves) for finding in found]
        failure = Failure(kind, found[0].message, "\n".join(words)) if found else None
        cases.append(Case(name=title, classname=f"fabric.cabling.{kind}", failure=failure))
    return junit("fabric cabling verify", [Suite(f"cabling of {verdict.site}", cases, output=verdict.sentence())])


def _clean(value: T) -> T:
    """Every text of a record printable: names come from the wire, where anybody may say anything."""
    if isinstance(value, str):
        return printable(value)  # type: ignore[return-value]  # a str is what T is here
    if isinstance(value, tuple):
        return tuple(map(_clean, value))  # type: ignore[return-value]  # likewise
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{item.name: _clean(getattr(value, item.name)) for item in fields(value)})
    return value


FORMATS: Mapping[str, Callable[[Verdict], str]] = {"text": _text, "json": _json, "csv": _csv, "junit": _junit}
