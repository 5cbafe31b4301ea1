"""A diff as a comment on a pull request: tables, the commands folded away, and never longer than a comment may be."""

from __future__ import annotations

import re
from itertools import accumulate

from fabric.audit.diff.compare import Diff
from fabric.audit.diff.report import sections
from fabric.audit.diff.report_blocks import Fold, Notes, Section, Table
from fabric.base.text import and_more

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
        return _titled(block.title, "\n".join(_table(block)))
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


def _table(table: Table) -> list[str]:
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
