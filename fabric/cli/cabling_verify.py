"""`fabric cabling verify`: are the cables plugged in as planned? Switches and servers tell, by LLDP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.cabling.readers import sources
from fabric.audit.cabling.reports import FORMATS, report
from fabric.cli.common import FINDINGS, USAGE, progress, show_diagnostics
from fabric.cli.reports import asked, one_of, usage, write


def verify(
    file: Path = typer.Argument(..., metavar="FILE", help="intent file"),
    files: list[Path] = typer.Argument(
        None, metavar="LLDP…", help="files or folders of LLDP output of switches and servers", show_default=False
    ),
    device: list[str] = typer.Option(
        [], "--device", metavar="NAME=FILE", help="device of an LLDP output file; repeatable", show_default=False
    ),
    source: str = typer.Option(
        "", "--source", metavar="OS", help="output format: eos, nxos, junos, lldpd, sonic or nvue", show_default="detected"
    ),
    form: list[str] = typer.Option(
        [], "--format", metavar="NAME[=FILE]", help="text, json, csv or junit; repeatable", show_default="text"
    ),
    as_json: bool = typer.Option(False, "--json", help="the same as --format json"),
) -> None:
    """Compare LLDP neighbors with the planned cables.

    Each cabling mistake is listed with the re-cabling move that fixes it. Exit code 2: nothing is wrong, but a file could not
    be read.
    """
    reports = asked([*form, *(["json"] if as_json else [])] or ["text"], list(FORMATS), "csv=moves.csv")
    one_of("--source", [source] if source else [], list(sources()))
    stated = _stated(device)
    if not files and not stated:
        usage("cabling verify: expected files with LLDP neighbor output", f"fabric cabling verify {file} lldp/")
    with progress("plan"):
        plan = pipeline.plan(pipeline.load(file))
    with progress("LLDP comparison"):
        verdict, warnings = pipeline.verify(plan, files or [], stated, source)
    show_diagnostics((*plan.warnings, *warnings))
    write(reports, lambda name: report(name, verdict))
    if verdict.findings:
        raise typer.Exit(FINDINGS)
    if any(one.severity == "error" for one in warnings):
        raise typer.Exit(USAGE)


def _stated(options: Sequence[str]) -> dict[Path, str]:
    """`--device leaf001=lldp.txt` as file → device."""
    found: dict[Path, str] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if not (name and equals and path):
            usage(f"--device: expected NAME=FILE, got '{option}'")
        if found.setdefault(Path(path), name) != name:
            usage(f"--device: {path} is assigned to two devices, {found[Path(path)]} and {name}")
    return found
