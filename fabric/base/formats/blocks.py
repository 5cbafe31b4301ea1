"""The blocks of a report, tables, lists and folded files, as text for a terminal and as Markdown for a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from fabric.base.text import aligned, and_more, printable


@dataclass(frozen=True)
class Table:
    """Rows under a head."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    rest: int = 0  # rows that are left out


@dataclass(frozen=True)
class Notes:
    """Lines of words."""

    title: str
    lines: Sequence[str]
    rest: int = 0


@dataclass(frozen=True)
class Fold:
    """A list or a file, long or short, that a reader opens."""

    title: str
    language: str
    lines: Sequence[str]
    size: str  # in few words


Block = Table | Notes | Fold


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str
    blocks: Sequence[Block]


def cut_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> Table:
    """A table with the first rows, and the number of the others."""
    return Table(title, head, rows[:most], max(0, len(rows) - most))


# --- terminal -------------------------------------------------------------------------------------------------

MAX_FILE_LINES = 40  # of one fold, unless all is asked for
MAX_FOLDS = 12


def section_lines(sections: Iterable[Section], whole: bool, more: str) -> Iterator[str]:
    """The lines of a report for a terminal.

    Args:
        sections: parts of the report.
        whole: long folds are not cut, and none is left out.
        more: what shows the folds that are left out.
    """
    folds = 0
    for section in sections:
        yield from ("", section.title, "─" * len(section.title))
        for block in section.blocks:
            if not isinstance(block, Fold):
                yield from _block_lines(block)
                continue
            folds += 1
            if folds <= MAX_FOLDS or whole:
                yield ""
                yield from _fold_lines(block, whole)
    if folds > MAX_FOLDS and not whole:
        yield from ("", f"{and_more(folds - MAX_FOLDS, 'kind')} of change; {more}")


def _block_lines(block: Table | Notes) -> Iterator[str]:
    if block.title:
        yield f"{block.title}:"
    if isinstance(block, Table):
        yield from aligned(block.rows, indent="  ", head=block.head if any(block.head) else ())
    else:
        yield from (f"  {line}" for line in block.lines)
    if block.rest:
        yield f"  {and_more(block.rest)}"


def _fold_lines(fold: Fold, whole: bool) -> Iterator[str]:
    yield f"{fold.title}:"
    if len(fold.lines) > MAX_FILE_LINES:
        yield f"    ({fold.size})"
    shown = fold.lines if whole else fold.lines[:MAX_FILE_LINES]
    yield from (f"    {line}" for line in shown)
    if len(shown) < len(fold.lines):
        yield f"    {and_more(len(fold.lines) - len(shown), 'line')}"


# --- Markdown, never longer than a comment may be -------------------------------------------------------------

MAX_COMMENT_CHARACTERS = 65_536  # of a comment on GitHub
ROOM = 600  # kept for the summary of the rest
MAX_FILE_CHARACTERS = 12_000  # signs of one fold
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&$])")  # `&` begins an entity, `$` a formula
MENTION = "@&#8288;"  # a word joiner, so that an `@name` notifies no user


def markdown(head: str, sections: Iterable[Section], command: str, limit: int = MAX_COMMENT_CHARACTERS) -> str:
    """Sections below a head as GitHub and GitLab show them, no longer than a comment may be.

    Args:
        head: Markdown.
        sections: parts of the report.
        command: shows the parts that do not fit.
        limit: characters of a comment.
    """
    parts, left_out = [head], 0
    room = limit - ROOM - len(head)
    for section in sections:
        for part in _section(section):
            if len(part) + 2 > room:
                left_out += 1
            else:
                parts.append(part)
                room -= len(part) + 2
    if left_out:
        parts.append(f"{left_out:,} more parts do not fit into a comment: `{command.replace('`', '')[:400]}` shows them.")
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Words on one line that Markdown takes as they are."""
    return SPECIAL.sub(r"\\\1", " ".join(printable(text).split())).replace("@", MENTION)


def code(text: str) -> str:
    """Words in the font of code."""
    return f"`{text.replace('`', '')}`"


def _section(section: Section) -> list[str]:
    """Heading and blocks; the heading goes with the first of them."""
    blocks = [_markdown(block) for block in section.blocks]
    return [f"### {plain(section.title)}\n\n{blocks[0]}", *blocks[1:]]


def _markdown(block: Block) -> str:
    if isinstance(block, Table):
        return _titled(block.title, "\n".join(_table(block)))
    if isinstance(block, Notes):
        lines = [f"- {plain(line)}" for line in block.lines] + ([f"- {and_more(block.rest)}"] if block.rest else [])
        return _titled(block.title, "\n".join(lines))
    text = "\n".join(_cut(block.lines))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    summary = f"{_html(block.title)} ({_html(block.size)})"
    return f"<details><summary>{summary}</summary>\n\n{fence}{block.language}\n{text}\n{fence}\n\n</details>"


def _cut(lines: Sequence[str]) -> list[str]:
    """The first lines, and how many more there are."""
    ends = accumulate(len(line) + 1 for line in lines)
    shown = sum(end <= MAX_FILE_CHARACTERS for end in ends)
    return [*lines[:shown], *([and_more(len(lines) - shown, "line")] if shown < len(lines) else [])]


def _titled(title: str, text: str) -> str:
    return f"**{plain(title)}**\n\n{text}" if title else text


def _table(table: Table) -> list[str]:
    rows = [table.head, ["---"] * len(table.head), *table.rows]
    lines = ["| " + " | ".join(cell if at == 1 else plain(cell) for cell in row) + " |" for at, row in enumerate(rows)]
    return [*lines, *([f"\n{and_more(table.rest)}"] if table.rest else [])]


def _html(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped)
