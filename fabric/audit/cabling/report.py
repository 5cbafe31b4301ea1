"""Reports of `fabric cabling verify`: text and a table of moves, in the order of a walk, and all formats of findings."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, TypeVar

from fabric.audit.cabling.finding import KINDS, CableFault, CablingState, PortLocation
from fabric.audit.checks import ERROR, Finding, Read, Verdict
from fabric.audit.checks.reports import FORMATS as FINDING_FORMATS, report as report_of
from fabric.audit.checks.reports.formats import Report, finding_sections
from fabric.base.formats import Case, Failure, Suite, csv_text, no_formula
from fabric.base.formats.blocks import plain
from fabric.base.schemas.models import Count, Document, Text, document, each_of, enum_of, itself, json_key
from fabric.base.text import padded, printable, screen, style, wrapped

COMMAND = "fabric cabling verify"
FORMATS = (*FINDING_FORMATS, "csv")
CHECK = "FAB357"  # of LLDP neighbors, as `fabric verify` reports them

MOVE_COLUMNS = (
    *("step", "rack", "ru", "finding", "action", "device", "port", "port_name"),
    *("to_rack", "to_ru", "to_device", "to_port", "to_port_name", "kept_device", "kept_port", "what_to_do"),
)
T = TypeVar("T")


def report(form: str, found: CablingState) -> str:
    """The report in one of FORMATS. KeyError for another name."""
    state = _clean(found)
    shown = Report(
        command=COMMAND,
        verdict=_verdict(state),
        title=f"Cabling of site {plain(state.site)}",
        summary=state.sentence,
        text=lambda: _text(state),
        document=lambda: document(state, CablingDocument),
        sections=lambda: finding_sections(_verdict(state)),
        suites=lambda: _suites(state),
        csv=lambda: _csv(state),
        shown_by=COMMAND,
    )
    return report_of(form, shown)


def _verdict(state: CablingState) -> Verdict:
    """Each fault as a finding of the check of LLDP neighbors, at the device to go to."""
    findings = (
        Finding(
            id=CHECK,
            severity=ERROR,
            device=fault.at.device,
            file=state.intent,
            line=0,
            message=f"{fault.kind}: {fault.message}",
            hint=fault.hint,
        )
        for fault in state.findings
    )
    read = Read(what=f"cabling of site {state.site}", path=state.intent, devices=state.devices, files=state.files)
    return Verdict.of(findings, [read], [CHECK])


def _text(state: CablingState) -> str:
    """By rack, in the order of a walk: what is wrong, and below it what to do."""
    lines: list[str] = []
    place = max((len(_place(fault.at)) for fault in state.findings), default=0)
    kind = max((len(fault.kind) for fault in state.findings), default=0)
    for fault in state.findings:
        margin = " " * (place + kind + (4 if place else 2))
        line = f"{_place(fault.at):{place}}  {padded(style('fail', fault.kind), '<', kind)}  {fault.message}"
        lines += wrapped(line.lstrip(), screen().width, len(margin))
        numbers = len(fault.moves) > 1
        for step, move in enumerate(fault.moves, 1):
            mark = f"{step}." if numbers else "→"
            places = [_place(port) for port in (move.at, move.to) if port is not None and port.rack]
            route = " → ".join(dict.fromkeys(places)) if set(places) - {_place(fault.at)} else ""
            line = f"{margin}{mark} {move.text}" + (f"  [{route}]" if route else "")
            lines += wrapped(line, screen().width, len(margin) + len(mark) + 1)
    if lines:
        lines.append("")
    lines += [f"note: {note}" for note in state.notes]
    return "\n".join([*lines, style("fail" if state.findings else "pass", state.sentence())]) + "\n"


def _place(port: PortLocation) -> str:
    return f"{port.rack} RU{port.ru}" if port.rack and port.ru else port.rack


class PortDocument(Document):
    """What is known of a port."""

    device: Text
    port: Text = json_key("the label of the plan", default="")
    port_name: Text = json_key("port name on the device", default="")
    name: Text = json_key("old name of port_name", "port_name", default="", deprecated=True, exclude_if=operator.not_)
    rack: Text = json_key(default="")
    ru: Count = json_key(default=0)
    cage: Text = json_key("place in a cage that several ports of the server share", default="", exclude_if=operator.not_)


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


class FaultDocument(Document):
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
        of=lambda state: {kind: state.counts.get(kind, 0) for kind in KINDS}
    )
    moves: Count = json_key(of=lambda state: sum(len(fault.moves) for fault in state.findings))
    devices: Count = json_key("that reported")
    files: Count


class CablingDocument(Document):
    site: Text
    findings: list[FaultDocument]
    notes: list[str]
    summary: Summary = json_key(of=itself)


def _suites(state: CablingState) -> list[Suite]:
    """A test case for each kind of fault; those of a kind are its failure."""
    cases = []
    for kind, title in KINDS.items():
        found = [fault for fault in state.findings if fault.kind == kind]
        words = [f"{fault.message}\n" + "\n".join(f"  {move.text}" for move in fault.moves) for fault in found]
        failure = Failure(kind, found[0].message, "\n".join(words)) if found else None
        cases.append(Case(name=title, classname=f"fabric.cabling.{kind}", failure=failure))
    return [Suite(f"cabling of {state.site}", cases, output=state.sentence())]


def _csv(state: CablingState) -> str:
    """One move a row, in the order of the walk."""
    rows = [row for fault in state.findings for row in _rows(fault)]
    return csv_text(MOVE_COLUMNS, ([step, *map(no_formula, row)] for step, row in enumerate(rows, 1)))


def _rows(fault: CableFault) -> Iterator[list[Any]]:
    nowhere = PortLocation(device="")
    for move in fault.moves:
        at, to, kept = move.at, move.to or nowhere, move.kept or nowhere
        yield [
            *(at.rack, at.ru or "", fault.kind, move.action, at.device, at.port, at.port_name),
            *(to.rack, to.ru or "", to.device, to.port, to.port_name, kept.device, kept.port or kept.port_name, move.text),
        ]


def _clean(value: T) -> T:
    """Every text of a record printable: names come from the wire, where anybody may say anything."""
    if isinstance(value, str):
        return printable(value)  # type: ignore[return-value]  # a str is what T is here
    if isinstance(value, tuple):
        return tuple(map(_clean, value))  # type: ignore[return-value]  # likewise
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{item.name: _clean(getattr(value, item.name)) for item in fields(value)})
    return value
