"""`fabric cabling list, labels, verify`: documents for the installers, and the check of their work."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cabling import rows, summary, tables
from fabric.cabling.labels import sheets
from fabric.cabling.run_list import RunList
from fabric.cabling.workbook import xlsx
from fabric.cli.cabling_verify import verify
from fabric.cli.common import FILE, check_fabric, progress, say, show_diagnostics
from fabric.cli.reports import put, put_folder, put_lines, usage, write
from fabric.diagnostics import nearest
from fabric.text import aligned

cabling = typer.Typer(help="Cable run lists, cable labels, and LLDP verification.", no_args_is_help=True)
FABRIC = typer.Option("", "--fabric", metavar="NAME", help="only this fabric", show_default=False)
LIMIT = typer.Option("", "--limit", metavar="GLOB", help="only cables of matching devices or racks", show_default=False)
FORMATS = ("text", "csv", "xlsx", "json")


@cabling.command("list")
def run_list(
    file: Path = FILE,
    output: Path | None = typer.Option(
        None, "-o", "--output", metavar="FOLDER", help="folder of the files to write", show_default=False
    ),
    fabric: str = FABRIC,
    limit: str = LIMIT,
    form: str = typer.Option(
        "", "--format", metavar="NAME,…", help="text, csv, xlsx, json", show_default="text; with -o csv,xlsx"
    ),
    as_json: bool = typer.Option(False, "--json", help="the same as --format json"),
) -> None:
    """Print cable counts, or write the run lists.

    With -o: all cables, one list per rack, and the patch order.
    """

    forms = _forms("json" if as_json else form, output)
    cables = _cables(file, fabric, limit)
    if output is None:
        write([(forms[0], None)], lambda form: _text(form, cables))
        return
    with progress("run lists"):
        files = dict(_files(forms, cables))
    put_folder(output, files)
    say(f"{len(cables.chosen):,} rows written to {output}")


@cabling.command()
def labels(
    file: Path = FILE,
    output: Path = typer.Option(..., "-o", "--output", metavar="FILE.pdf", help="PDF file to write", show_default=False),
    fabric: str = FABRIC,
    limit: str = LIMIT,
    sheet: str = typer.Option("l7651", "--sheet", metavar="NAME", help="label sheet; `help` lists all"),
    skip: int = typer.Option(0, "--skip", metavar="N", min=0, help="number of used labels on the first sheet"),
) -> None:
    """Write cable labels for both ends as a printable PDF.

    Labels are in patch order.
    """
    if sheet == "help":
        put_lines(lambda: aligned([(name, its.description) for name, its in sheets().items()]))
        return
    if sheet not in sheets():
        usage(f"--sheet: unknown sheet '{sheet}'", nearest(sheet, sheets()))
    if skip >= sheets()[sheet].count:
        usage(f"--skip: expected less than the {sheets()[sheet].count} labels of a sheet, got {skip}")
    cables = _cables(file, fabric, limit)
    with progress("labels"):
        pdf = pipeline.labels(cables, sheets()[sheet], skip)
    put(output, pdf)


def _forms(text: str, output: Path | None) -> list[str]:
    """The requested formats, validated before any work is done."""
    forms = [name.strip() for name in text.split(",") if name.strip()] or (["text"] if output is None else ["csv", "xlsx"])
    for name in forms:
        if name not in FORMATS:
            usage(f"--format: unknown format '{name}'", nearest(name, FORMATS))
    if output is None and (len(forms) > 1 or forms == ["xlsx"]):
        usage(f"--format {','.join(forms)}: expected -o FOLDER, got none")
    if output is not None and output.exists() and not output.is_dir():
        usage(f"-o {output}: expected a folder, got a file")
    return list(dict.fromkeys(forms))


def _cables(file: Path, fabric: str, limit: str) -> RunList:
    """The chosen cables of an intent. Raises InputError."""
    with progress("plan"):
        made = pipeline.plan(pipeline.load(file))
    check_fabric(made, fabric)
    with progress("cables"):
        found = pipeline.cables(made, fabric, limit)
    show_diagnostics([*made.warnings, *found.warnings])
    if limit and not len(found.chosen):
        say(f"--limit '{limit}'matches no device or rack of a cable")
    return found


def _text(form: str, found: RunList) -> str:
    runs, chosen = found.runs, found.chosen
    if form == "csv":
        return rows.csv_text(rows.COLUMNS, rows.rows(runs, chosen))
    return rows.json_text(runs, chosen) if form == "json" else summary.text(runs, chosen, found.walk)


def _files(forms: list[str], found: RunList) -> list[tuple[str, bytes]]:
    """Every file by its path in the folder: all are made before one is written."""
    runs, chosen, walk = found.runs, found.chosen, found.walk
    made: list[tuple[str, bytes]] = []
    for form in forms:
        made.append(
            ("cables.xlsx", xlsx(runs, chosen, walk))
            if form == "xlsx"
            else (f"cables.{'txt' if form == 'text' else form}", _text(form, found).encode())
        )
    if "csv" in forms:
        made.append(("patch-order.csv", rows.csv_text(tables.PATCH_COLUMNS, tables.patch_rows(runs, walk)).encode()))
        for rack, ends in tables.rack_lists(runs, chosen):
            made.append((f"racks/{rack}.csv", rows.csv_text(tables.RACK_LIST_COLUMNS, ends).encode()))
    return made


cabling.command("verify")(verify)
