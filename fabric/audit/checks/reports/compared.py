"""What the reports of devices compared with a plan have in common: `fabric drift` and `fabric verify`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from fabric.audit.checks import Verdict
from fabric.audit.checks.reports import report as report_of
from fabric.base.formats import json_text
from fabric.base.schemas.models import Document, json_key
from fabric.base.text import and_more, printable

MAX_FILES = 5  # in a list that may be cut


class Compared(Protocol):
    """Findings, and a document of its own."""

    @property
    def verdict(self) -> Verdict: ...

    def document(self) -> dict[str, Any]: ...


class FileReason(Document):
    """Of (file, reason)."""

    file: str = json_key(of=0)
    reason: str = json_key(of=1)


def sarif(report: Compared) -> str:
    """As `fabric check` writes it."""
    return report_of("sarif", report.verdict)


def json(report: Compared) -> str:
    """The document of `fabric schema`."""
    return json_text(report.document(), ensure_ascii=False) + "\n"


def findings_text(verdict: Verdict, whole: bool) -> str:
    """The findings as `fabric check` prints them, without what was read and the line that sums up."""
    findings = replace(verdict, whole=whole, read=(), skipped=(), ran=())
    return report_of("text", findings).rstrip("\n").rpartition("\n\n")[0]


def file_lines(title: str, files: Sequence[tuple[str, str]], whole: bool) -> Iterator[str]:
    """`not read: FILE: REASON` of each file, or of the first ones."""
    shown = files if whole else files[:MAX_FILES]
    yield from (f"{title}: {printable(path)}: {printable(reason)}" for path, reason in shown)
    if len(files) > len(shown):
        yield f"{title}: {and_more(len(files) - len(shown), 'file', see='`--all`')}"
