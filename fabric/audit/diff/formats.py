"""A diff for people at a terminal, as a comment on a pull request, and as one JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from types import SimpleNamespace
from typing import Annotated, Any

from pydantic import Field

from fabric.audit.diff.compare import Diff
from fabric.audit.diff.configs import FileChangeDocument
from fabric.audit.diff.recabling import LAY, MOVE, PULL
from fabric.audit.diff.report import sections
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.base.schemas.models import Count, Document, Number, Text, enum_of, json_key, old_name
from fabric.base.text import aligned, and_more
from fabric.design.moves import CableDocument

# --- terminal -------------------------------------------------------------------------------------------------

MAX_FILE_LINES = 40  # of one file's change, unless --limit names the switch
MAX_FOLDS = 12


def text(diff: Diff) -> str:
    """The whole report; long changes are cut unless `--limit` names their switches."""
    head = f"site {diff.site}: {diff.old} → {diff.new}"
    parts = sections(diff)
    if not parts:
        return f"{head}\nnothing differs"
    out, folds = [head], 0
    for section in parts:
        out += ["", section.title, "─" * len(section.title)]
        for block in section.blocks:
            if isinstance(block, Fold):
                folds += 1
                if folds <= MAX_FOLDS or diff.limit:
                    out += ["", *_fold(block, bool(diff.limit))]
            elif isinstance(block, Table):
                out += _table(block)
            else:
                out += _notes(block)
    if folds > MAX_FOLDS and not diff.limit:
        more = and_more(folds - MAX_FOLDS, "kind")
        out += ["", f"{more} of change; --limit GLOB shows changes of matching switches, --format json all"]
    return "\n".join(out)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"{table.title}:"
    yield from aligned(table.rows, indent="  ", head=table.head if any(table.head) else ())
    if table.rest:
        yield f"  {and_more(table.rest)}"


def _notes(notes: Notes) -> Iterator[str]:
    if notes.title:
        yield f"{notes.title}:"
    yield from (f"  {line}" for line in notes.lines)
    if notes.rest:
        yield f"  {and_more(notes.rest)}"


def _fold(fold: Fold, whole: bool) -> Iterator[str]:
    yield f"{fold.title}:"
    if len(fold.lines) > MAX_FILE_LINES:
        yield f"    ({fold.size})"
    shown = fold.lines if whole else fold.lines[:MAX_FILE_LINES]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(fold.lines):
        yield f"    {and_more(len(fold.lines) - len(shown), 'line')}"


# --- markdown, never longer than a comment may be -------------------------------------------------------------

MAX_COMMENT_CHARACTERS = 65_536  # of a comment on GitHub
ROOM = 600  # kept for the summary of the rest
MAX_FILE_CHARACTERS = 12_000  # signs of one file's change
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")
MENTION = "@&#8288;"  # a word joiner, so that an `@name` notifies no user


def markdown(diff: Diff, limit: int = MAX_COMMENT_CHARACTERS) -> str:
    """The report as GitHub and GitLab show it."""
    head = f"## Fabric diff: {_code(diff.old)} → {_code(diff.new)}\n\nSite {_plain(diff.site)}."
    all_sections = sections(diff)
    if not all_sections:
        return f"{head} Nothing differs.\n"
    return sections_as_markdown(head, all_sections, f"fabric diff {diff.old} {diff.new}", limit)


def sections_as_markdown(head: str, all_sections: list[Section], command: str, limit: int = MAX_COMMENT_CHARACTERS) -> str:
    """Sections below a head, no longer than a comment may be; `command` shows the parts that do not fit."""
    parts, left_out = [head], 0
    room = limit - ROOM - len(head)
    for section in all_sections:
        for part in _section(section):
            if len(part) + 2 > room:
                left_out += 1
            else:
                parts.append(part)
                room -= len(part) + 2
    if left_out:
        parts.append(f"{left_out:,} more parts do not fit into a comment: `{command.replace('`', '')[:400]}` shows them.")
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    """Heading and blocks; the heading goes with the first of them."""
    blocks = [_block(block) for block in section.blocks]
    return [f"### {_plain(section.title)}\n\n{blocks[0]}", *blocks[1:]]


def _block(block: Table | Notes | Fold) -> str:
    if isinstance(block, Table):
        return _titled(block.title, "\n".join(_markdown_table(block)))
    if isinstance(block, Notes):
        lines = [f"- {_plain(line)}" for line in block.lines] + ([f"- {and_more(block.rest)}"] if block.rest else [])
        return _titled(block.title, "\n".join(lines))
    text = "\n".join(_cut(block.lines))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    summary = f"{_html(block.title)} ({_html(block.size)})"
    return f"<details><summary>{summary}</summary>\n\n{fence}{block.language}\n{text}\n{fence}\n\n</details>"


def _cut(lines: tuple[str, ...]) -> list[str]:
    """The first lines, and how many more there are."""
    ends = accumulate(len(line) + 1 for line in lines)
    shown = sum(end <= MAX_FILE_CHARACTERS for end in ends)
    return [*lines[:shown], *([and_more(len(lines) - shown, "line")] if shown < len(lines) else [])]


def _titled(title: str, text: str) -> str:
    return f"**{_plain(title)}**\n\n{text}" if title else text


def _markdown_table(table: Table) -> list[str]:
    rows = [table.head, tuple("---" for _ in table.head), *table.rows]
    lines = ["| " + " | ".join(cell if at == 1 else _plain(cell) for cell in row) + " |" for at, row in enumerate(rows)]
    return [*lines, *([f"\n{and_more(table.rest)}"] if table.rest else [])]


def _plain(text: str) -> str:
    """Words on one line that Markdown takes as they are."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("@", MENTION)


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _html(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped)


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
