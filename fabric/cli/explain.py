"""`fabric explain`: a code of a message, or the arithmetic behind one number of a plan."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric.audit import codes
from fabric.base.diagnostics import Report
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.cli.common import mistake
from fabric.cli.output import GENERATED, put_lines


def explain(
    about: str = typer.Argument("", metavar="CODE|FILE", help="code of a message, or intent file", show_default=False),
    subject: str = typer.Argument(
        "", metavar="SUBJECT", help="with FILE: backend.spines, a device, an address", show_default=False
    ),
    generated: Path | None = GENERATED,
    as_json: bool = typer.Option(False, "--json", help="print one JSON document: the entry of CODE, or of every code"),
) -> None:
    """Explain a code such as FAB102, or a number of a plan.

    With CODE: the problem, why it matters, an example and the fix. With FILE SUBJECT: the arithmetic behind one number,
    recomputed by the stages that made it; with FILE alone, the subjects. Without arguments: all codes.
    """
    if about and (subject or not codes.is_code(about)):
        _number(Path(about), subject, generated, as_json)
    elif as_json:
        print(json_text(document({"codes": _entries(about)}, codes.ExplainDocument)))
    elif about:
        put_lines(lambda: [codes.text(codes.entry(about))])
    else:
        put_lines(lambda: codes.table(codes.entries()))


def _entries(code: str) -> list[codes.Entry]:
    return [codes.entry(code)] if code else codes.entries()


def _number(file: Path, subject: str, generated: Path | None, as_json: bool) -> None:
    if as_json:
        report = Report()
        mistake(report, "--json", f"expected a code or no argument, got {file}", "`fabric explain FAB102 --json`")
        report.raise_errors()
    from fabric import pipeline  # heavy

    put_lines(lambda: pipeline.explain(pipeline.load(file, generated), subject))
