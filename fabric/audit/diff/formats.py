"""A diff for people at a terminal, as a comment on a pull request, and as one JSON document."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import Field

from fabric.audit.checks import Verdict
from fabric.audit.checks.reports.formats import Report
from fabric.audit.diff.compare import Diff
from fabric.audit.diff.configs import FileChangeDocument
from fabric.audit.diff.recabling import LAY, MOVE, PULL
from fabric.audit.diff.report import sections
from fabric.base.formats.blocks import Section, code, plain, section_lines
from fabric.base.schemas.models import Count, Document, Number, Text, document, enum_of, json_key, old_name
from fabric.design.moves import CableDocument

FORMATS = ("text", "markdown", "json")  # what changes is neither right nor wrong: there are no findings


def diff_report(diff: Diff) -> Report:
    """A diff as it is reported."""
    parts = sections(diff)
    return Report(
        command="fabric diff",
        verdict=Verdict(),
        title=f"Fabric diff: {code(diff.old)} → {code(diff.new)}",
        summary=lambda: f"Site {plain(diff.site)}" + ("" if parts else ". Nothing differs"),
        text=lambda: _text(diff, parts),
        document=lambda: document(diff, DiffDocument),
        sections=lambda: parts,
        suites=list,
        shown_by=f"fabric diff {diff.old} {diff.new}",
    )


def _text(diff: Diff, parts: list[Section]) -> str:
    """The whole report; long changes are cut unless `--limit` names their switches."""
    more = "--limit GLOB shows changes of matching switches, --format json all"
    lines = section_lines(parts, bool(diff.limit), more) if parts else ["nothing differs"]
    return "\n".join([f"site {diff.site}: {diff.old} → {diff.new}", *lines]) + "\n"


# --- JSON -----------------------------------------------------------------------------------------------------


Action = Annotated[str, enum_of((LAY, MOVE, PULL))]


class ChangeDocument(Document):
    what: Text
    old: Any
    new: Any


class SwitchChangeDocument(Document):
    device: Text = json_key(of="switch")
    switch: Text = old_name("device", "switch")
    what: Text
    old: Any
    new: Any


class TenantMoveDocument(Document):
    old: str
    new: str
    devices: list[Text]


class FabricDocument(Document):
    state: Annotated[str, enum_of(("same", "changed", "added", "removed"))]
    counts: list[ChangeDocument]
    added: list[Text]
    removed: list[Text]
    renamed: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
    switches: list[SwitchChangeDocument]
    subnets: list[ChangeDocument]
    tenants: list[ChangeDocument]
    moved: list[TenantMoveDocument]
    lossless: list[ChangeDocument]
    retuned: list[Text]
    peers: list[Text]


class CountDocument(Document):
    """Of ((act, kind), links)."""

    action: Action = json_key(of=lambda row: row[0][0])
    act: Action = old_name("action", lambda row: row[0][0])
    kind: Text = json_key(of=lambda row: row[0][1])
    links: Count = json_key(of=1)


class FabricCountDocument(Document):
    """Of ((fabric, kind, act), links)."""

    fabric: Text = json_key(of=lambda row: row[0][0])
    kind: Text = json_key(of=lambda row: row[0][1])
    action: Action = json_key(of=lambda row: row[0][2])
    act: Action = old_name("action", lambda row: row[0][2])
    links: Count = json_key(of=1)


class DrainDocument(Document):
    switches: list[Text]
    links: Count


class JobDocument(CableDocument):
    action: Action = json_key(of="act")
    act: Action = old_name("action", "act")
    fabric: Text
    kind: Text


class RecablingDocument(Document):
    counts: list[CountDocument] = json_key(of=lambda recabling: list(recabling.by_kind.items()))
    by_fabric: list[FabricCountDocument] = json_key(of=lambda recabling: list(recabling.by_fabric.items()))
    drains: list[DrainDocument]
    changes: list[JobDocument] = json_key(
        of=lambda recabling: [
            SimpleNamespace(**vars(job.cable), act=job.act, fabric=job.fabric, kind=job.kind) for job in recabling.jobs
        ]
    )


class FigureDocument(Document):
    fabric: Text
    what: Text
    unit: Text
    old: Number | None
    new: Number | None
    placement: Annotated[str, enum_of(("", "packed", "spread"))] = json_key("of the job whose time it is")
    percent: Number | None


class RoutingDocument(Document):
    """Of (old, new)."""

    old: str = json_key(of=0)
    new: str = json_key(of=1)


class CapacityDocument(Document):
    figures: list[FigureDocument]
    left_out: list[str]
    routing: dict[str, RoutingDocument] = json_key(
        'of the times, by fabric, as each side configures it; "" where nothing was timed'
    )


class DeviceDocument(Document):
    device: Text
    was: str = json_key("its old name")
    fabric: Text
    role: Text
    nos: str
    state: Annotated[str, enum_of(("changed", "added", "removed", "replaced"))]
    files: list[FileChangeDocument]


class HostDocument(Document):
    hosts: list[Text]
    path: Text
    lines: list[str]
    same: bool
    of_servers: bool


class DiffDocument(Document):
    """Lists are never cut. `devices` and `hosts` are null with --no-configs."""

    old: str
    new: str
    site: Text
    state: Annotated[str, enum_of(("changed", "added", "removed"))]
    differs: bool = json_key(of=lambda diff: not diff.same)
    intent: list[ChangeDocument] = json_key(of="design.settings")
    fabrics: dict[str, FabricDocument] = json_key(of=lambda diff: {fabric.name: fabric for fabric in diff.design.fabrics})
    links: RecablingDocument = json_key(of="design.recabling")
    capacity: CapacityDocument
    devices: list[DeviceDocument] | None = json_key(of=lambda diff: diff.devices if diff.with_configs else None)
    hosts: list[HostDocument] | None = json_key(of=lambda diff: diff.hosts if diff.with_configs else None)
