"""The report of an import: text, Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

from fabric.audit.checks import FindingDocument, Read, Verdict
from fabric.audit.checks.reports.formats import FileReason, Report, findings_text
from fabric.base.formats.blocks import Fold, Notes, Section, cut_table, plain
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Count, Document, Share, Text, document, enum_of, json_key
from fabric.base.text import and_more, counted, devices, plural, printable
from fabric.base.text.numbers import percent
from fabric.base.text.screen import table
from fabric.deliver.brownfield.importing import Imported
from fabric.deliver.brownfield.proof import LEFT, Residual, TopicCoverage
from fabric.model.plan import ATTACHED, LEAF, SERVER, Device, FabricPlan

MAX_SHOWN = 12  # rows of a list in the text
HEAD = ("topic", "statements", "language", "overrides", "different", "unplanned", "unread", "missing")


def import_report(made: Imported, whole: bool = False) -> Report:
    """An import as it is reported.

    Args:
        made: the import.
        whole: print lists completely.
    """
    read = [Read(what=f"site {made.survey.site}", path=made.folder, devices=len(made.survey.switches))]
    verdict = Verdict.of(made.survey.findings, read, {finding.id for finding in made.survey.findings}, [])
    return Report(
        command="fabric import",
        verdict=verdict,
        title=f"Fabric import: site {plain(made.survey.site)}",
        summary=lambda: summary(made),
        text=lambda: _text(made, verdict, whole),
        document=lambda: document(made, ImportDocument),
        sections=lambda: _sections(made),
        suites=list,
        shown_by="fabric import --all",
    )


def summary(made: Imported) -> str:
    """`site dc1: 2 fabrics, 16 switches, 64 links, 8 servers`, and how much of the configs of these the plan explains."""
    plan = made.plan
    planned = {device.name for fabric in plan.fabrics.values() for device in fabric.switches}
    lost = made.survey.switches.keys() - planned
    parts = [
        counted(len(plan.fabrics), "fabric"),
        (f"{len(planned):,} of " if lost else "") + counted(len(planned) + len(lost), "switch", "switches"),
        counted(sum(len(fabric.links) for fabric in plan.fabrics.values()), "link"),
        counted(len({device.name for fabric in plan.fabrics.values() for device in _hosts(fabric)}), "server"),
    ]
    explained = ""
    if made.coverage and (row := made.coverage[-1]).total:
        explained = f"; {percent(row.share)} of {counted(row.total, 'statement')}{' of these' if lost else ''} explained"
        explained += f", {percent(row.overrides / row.total)} by overrides" if row.overrides else ""
        explained += f", which take {counted(row.removed, 'planned statement')} away" if row.removed else ""
    return f"site {plan.site}: {', '.join(parts)}{explained}"


def shape(fabric: FabricPlan) -> str:
    """`2 spines, 4 leaves in 2 pods, eos on 7060x6-64pe, 32 links, 8 servers`."""
    roles = Counter(device.role for device in fabric.switches)
    tiers = [counted(number, role, "leaves" if role == LEAF else "") for role, number in reversed(roles.items())]
    networks = {"pod": len({device.pod for device in fabric.switches if device.role == LEAF}), "plane": fabric.spec.planes}
    parts = [", ".join(tiers) + "".join(f" in {counted(number, name)}" for name, number in networks.items() if number > 1)]
    kinds = dict.fromkeys((device.nos, device.model) for device in fabric.switches)
    parts += [f"{nos or 'no network OS'} on {model}" for nos, model in kinds]
    attached = sum(device.role == ATTACHED for device in fabric.devices)
    parts += [counted(len(fabric.links), "link"), counted(len(list(_hosts(fabric))), "server")]
    parts += [counted(attached, "other device")] if attached else []
    return ", ".join(parts)


def _hosts(fabric: FabricPlan) -> Iterator[Device]:
    return (device for device in fabric.devices if device.role == SERVER)


# --- terminal -------------------------------------------------------------------------------------------------


def _text(made: Imported, verdict: Verdict, whole: bool) -> str:
    blocks = [findings_text(verdict, whole)] if verdict.findings else []
    blocks.append("\n".join(f"fabric {name}: {shape(fabric)}" for name, fabric in made.plan.fabrics.items()))
    blocks += ["\n".join(lines) for lines in map(list, (_inferred(made, whole), _covered(made), _left(made, whole))) if lines]
    blocks += ["\n".join(lines)] if (lines := list(_left_out(made, whole))) else []
    return "\n\n".join([*blocks, summary(made)]) + "\n"


def _inferred(made: Imported, whole: bool) -> Iterator[str]:
    """A row for each value, with all that have it."""
    if not made.inferences:
        return
    yield f"inferred: {counted(len(made.inferences), 'value')}"
    if whole:
        rows = [(one.subject, one.what, one.value, one.source, one.place) for one in made.inferences]
    else:
        groups = grouped(((one.what, one.value, one.source), one) for one in made.inferences)
        rows = [(devices([one.subject for one in its], True), *key, its[0].place) for key, its in groups.items()]
        rows.sort(key=lambda row: (bool(row[4]), row[1:3]))  # what no line states comes first
    shown = rows if whole else rows[:MAX_SHOWN]
    yield from table(("", "what", "value", "from", "place"), [tuple(map(printable, row)) for row in shown], "<<<<<")
    if len(rows) > len(shown):
        yield f"  {and_more(len(rows) - len(shown), see='`--all`')}"


def _covered(made: Imported) -> Iterator[str]:
    if made.coverage:
        yield from table(HEAD, [_row(row) for row in made.coverage], "<" + ">" * (len(HEAD) - 1))


def _row(row: TopicCoverage) -> tuple[str, ...]:
    numbers = (row.total, row.language, row.overrides, row.different, row.unplanned, row.unread, row.missing)
    return (row.topic or "total", *(f"{number:,}" if number else "" for number in numbers))


def _residuals(made: Imported) -> list[Residual]:
    """What the plan has otherwise, those of most statements first."""
    left = [one for device in made.after.devices for one in device.residuals] if made.after else []
    return sorted(left, key=lambda one: (LEFT.index(one.state), -one.statements, one.device))


def _left(made: Imported, whole: bool) -> Iterator[str]:
    residuals = _residuals(made)
    if residuals:
        yield "statements that the language lacks, or that no template block takes:"
    for one in residuals if whole else residuals[:MAX_SHOWN]:
        yield f"  {printable(one.place)}: {one.state}: {printable(one.message)}"
    if not whole and len(residuals) > MAX_SHOWN:
        yield f"  {and_more(len(residuals) - MAX_SHOWN, see='`--all`')}"
    for device in made.after.devices if made.after else ():
        if device.reason:
            yield f"  {device.device}: {printable(device.reason)}"


def _left_out(made: Imported, whole: bool) -> Iterator[str]:
    left_out = {**made.survey.left_out, **dict.fromkeys(made.after.unplanned if made.after else (), "not in the plan")}
    rows = sorted(left_out.items())
    if rows:
        yield f"left out: {plural(len(rows), 'device or file', 'devices and files')}"
    for name, reason in rows if whole else rows[:MAX_SHOWN]:
        yield f"  {printable(name)}: {printable(reason)}"
    if not whole and len(rows) > MAX_SHOWN:
        yield f"  {and_more(len(rows) - MAX_SHOWN, see='`--all`')}"


# --- Markdown -------------------------------------------------------------------------------------------------

MAX_ROWS = 100


def _sections(made: Imported) -> Iterator[Section]:
    yield Section("Fabrics", [Notes("", [f"{name}: {shape(fabric)}" for name, fabric in made.plan.fabrics.items()])])
    if made.inferences:
        rows = [(one.subject, one.what, one.value, one.source, one.place) for one in made.inferences]
        yield Section("Inferred", [cut_table("", ("", "what", "value", "from", "place"), rows, MAX_ROWS)])
    if made.coverage:
        yield Section("Coverage", [cut_table("", HEAD, [_row(row) for row in made.coverage], MAX_ROWS)])
    if residuals := _residuals(made):
        lines = tuple(f"{one.place}: {one.state}: {one.message}" for one in residuals)
        yield Section("Not as planned", [Fold("Statements", "", lines, plural(len(lines), "place"))])
    if made.survey.left_out:
        yield Section("Left out", [Notes("", [f"{name}: {why}" for name, why in sorted(made.survey.left_out.items())])])


# --- JSON -----------------------------------------------------------------------------------------------------


class InferenceDocument(Document):
    """A value that no line states."""

    subject: Text
    what: Text
    value: str
    source: Text = json_key("from what it was inferred")
    place: str = json_key("file:line; empty where it follows from many lines")


class TopicDocument(Document):
    """Statements of one topic, or of all."""

    topic: str = json_key("empty: of all topics")
    statements: Count = json_key("on the switches", "total")
    language: Count = json_key("equal to the plan without overrides")
    overrides: Count = json_key("equal to the plan only with the overrides")
    different: Count
    unplanned: Count
    not_understood: Count = json_key(of="unread")
    missing: Count = json_key("planned, and not on the switches")
    removed: Count = json_key("planned statements that overrides take away")
    share: Share = json_key("of the statements on the switches that the plan explains")


class ResidualDocument(Document):
    """A statement, or a section, that the plan has otherwise."""

    state: Annotated[str, enum_of(LEFT)]
    topic: Text
    file: str = json_key(of=lambda one: one.difference.place.file)
    line: Count = json_key(of=lambda one: one.difference.place.line)
    message: Text
    statements: Count


class ProofDocument(Document):
    """One planned switch."""

    device: str
    fabric: str
    role: str
    nos: str
    in_sync: bool
    reason: str = json_key("why it was not compared, or which of its files; empty if all of it was")
    files: list[str]
    counts: dict[str, dict[str, Count]] = json_key("topic, state, number of statements")
    residuals: list[ResidualDocument]


class ShapeDocument(Document):
    """Of (name, plan of the fabric)."""

    name: str = json_key(of=0)
    shape: Text = json_key(of=lambda its: shape(its[1]))
    switches: Count = json_key(of=lambda its: len(its[1].switches))
    links: Count = json_key(of=lambda its: len(its[1].links))
    servers: Count = json_key(of=lambda its: len(list(_hosts(its[1]))))


class ImportDocument(Document):
    """What became of a site; nothing is folded or cut."""

    site: str = json_key(of="survey.site")
    in_sync: bool = json_key("no difference of a running config from the plan has an effect")
    files: list[str] = json_key("written files", lambda made: sorted(map(str, made.files())))
    fabrics: list[ShapeDocument] = json_key(of=lambda made: list(made.plan.fabrics.items()))
    inferences: list[InferenceDocument]
    findings: list[FindingDocument] = json_key("contradictions between sources", "survey.findings")
    coverage: list[TopicDocument]
    devices: list[ProofDocument] = json_key(of=lambda made: made.after.devices if made.after else [])
    unplanned: list[str] = json_key(
        "devices that the plan does not have", lambda made: made.after.unplanned if made.after else []
    )
    left_out: list[FileReason] = json_key(of=lambda made: sorted(made.survey.left_out.items()))
