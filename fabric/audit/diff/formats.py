"""A diff for people at a terminal, as a comment on a pull request, and as one JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import accumulate
from typing import Any

from fabric.audit.diff.compare import Diff
from fabric.audit.diff.configs import DeviceChange
from fabric.audit.diff.design import FabricChange
from fabric.audit.diff.recabling import Job
from fabric.audit.diff.report import sections
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.base.text import aligned, and_more

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


def document(diff: Diff) -> dict[str, Any]:
    """Everything that differs; lists are never cut."""
    design = diff.design
    return {
        "old": diff.old,
        "new": diff.new,
        "site": diff.site,
        "state": diff.state,
        "differs": not diff.same,
        "intent": [asdict(change) for change in design.settings],
        "fabrics": {fabric.name: _fabric(fabric) for fabric in design.fabrics},
        "links": {
            "counts": [
                {**_action(act), "kind": kind, "links": number} for (act, kind), number in design.recabling.by_kind.items()
            ],
            "by_fabric": [
                {"fabric": fabric, "kind": kind, **_action(act), "links": number}
                for (fabric, kind, act), number in design.recabling.by_fabric.items()
            ],
            "drains": [asdict(drain) for drain in design.recabling.drains],
            "changes": [_link(job) for job in design.recabling.jobs],
        },
        "capacity": {
            "figures": [{**asdict(figure), "percent": figure.percent} for figure in diff.capacity.figures],
            "left_out": list(diff.capacity.left_out),
            "routing": {name: {"old": old, "new": new} for name, (old, new) in diff.capacity.routing.items()},
        },
        "devices": [_device(change) for change in diff.devices] if diff.with_configs else None,
        "hosts": [asdict(change) for change in diff.hosts] if diff.with_configs else None,
    }


def _link(job: Job) -> dict[str, Any]:
    cable = job.cable
    ends = {"lower": list(cable.lower), "old": list(cable.old or ()), "new": list(cable.new or ())}
    return {**ends, **_action(job.act), "fabric": job.fabric, "kind": job.kind}


def _action(act: str) -> dict[str, str]:
    return {"action": act, "act": act}  # `act` is its old name


def _fabric(change: FabricChange) -> dict[str, Any]:
    row = {key: value for key, value in asdict(change).items() if key != "name"}
    switches = [{"device": one["switch"], **one} for one in row["switches"]]  # `switch` is its old name
    return {**row, "switches": switches}


def _device(change: DeviceChange) -> dict[str, Any]:
    return {
        "device": change.device,
        "was": change.was,
        "fabric": change.fabric,
        "role": change.role,
        "nos": change.nos,
        "state": change.state,
        "files": [asdict(file) | {"form": file.form.name} for file in change.files],
    }
