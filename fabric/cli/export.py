"""`fabric export`: a plan in a format that other tools read, or as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest
from fabric.base.text import aligned, plural
from fabric.cli.common import check_folder, check_target, only, option, progress, refuse, show_diagnostics
from fabric.cli.output import put_folder, put_lines, usage, write
from fabric.deliver.export.formats import FORMATS, unsupported


def export(
    form: str | None = typer.Argument(
        None, metavar="FORMAT", help="export format; omit it to list all formats", show_default=False
    ),
    file: Path | None = typer.Argument(None, metavar="FILE", help="intent file", show_default=False),
    fabric: str = option("", "--fabric", "NAME", "only this fabric"),
    rail: int | None = option(None, "--rail", "N", "rail number for svg-rail, from 1"),
    plane: int | None = option(None, "--plane", "N", "plane number for svg-plane, from 1"),
    inventory: Path | None = option(
        None, "--inventory", "FILE", "CSV for day-zero with columns switch, mac and serial", shown="ports of the plan"
    ),
    output: Path | None = option(
        None, "-o --output", "PATH", "file to write, or folder for a format of several files", shown="stdout"
    ),
) -> None:
    """Write the plan in another format, or as a picture."""
    if form is None:
        put_lines(lambda: aligned([(name, FORMATS[name].what) for name in sorted(FORMATS)]))
        return
    if form not in FORMATS:
        raise InputError([Diagnostic("FAB163", Place("FORMAT"), f"unknown format '{form}'", nearest(form, FORMATS))])
    if file is None:
        raise typer.BadParameter("expected an intent", param_hint="FILE")
    request = _request(
        form, {"rail": ("svg-rail", rail), "plane": ("svg-plane", plane), "inventory": ("day-zero", inventory)}
    )
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    plan = only(plan, fabric)
    show_diagnostics([*plan.warnings, *unsupported(form, plan)])
    with progress("export"):
        exported = pipeline.export(plan, form, **request)
    _write(form, exported, output)


def _request(form: str, given: Mapping[str, tuple[str, int | Path | None]]) -> dict[str, int | Path]:
    """The options that were given, each for the one format that it belongs to."""
    for name, (owner, value) in given.items():
        if value is not None and form != owner:
            raise typer.BadParameter(f"valid only with {owner}, got {form}", param_hint=f"--{name}")
    return {name: value for name, (_, value) in given.items() if value is not None}


def _write(form: str, texts: str | Mapping[str, str | bytes] | Mapping[str, str], output: Path | None) -> None:
    """One text, or several into a folder: all of them or none."""
    if isinstance(texts, str):
        if output is not None:
            refuse(lambda report: check_target(report, "-o", output, f"{form}.txt"))
        write([(form, output)], lambda _: texts)
        return
    if output is None:
        usage(f"-o: expected a folder, {form} writes {plural(len(texts), 'file')}: {', '.join(sorted(texts))}")
    refuse(lambda report: check_folder(report, "-o", output))
    put_folder(output, texts)
