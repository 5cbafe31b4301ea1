"""`fabric cabling list, labels, verify`: documents for the installers, and the check of their work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from fabric import pipeline
from fabric.audit.cabling.outputs import sources
from fabric.audit.cabling.report import FORMATS as VERIFY_FORMATS, report
from fabric.base.diagnostics import nearest
from fabric.base.text import aligned
from fabric.cli.common import (
    FILE,
    FINDINGS,
    USAGE,
    check_fabric,
    check_folder,
    check_target,
    option,
    progress,
    refuse,
    say,
    show_diagnostics,
)
from fabric.cli.output import AS_JSON, asked, formats_option, one_of, put, put_folder, put_lines, usage, write
from fabric.deliver.cabling import tables
from fabric.deliver.cabling.labels import sheets
from fabric.deliver.cabling.tables import RunList, xlsx

# --- cabling verify -------------------------------------------------------------------------------------------
# `fabric cabling verify`: are the cables plugged in as planned? Switches and servers tell, by LLDP.


def verify(
    file: Path = typer.Argument(..., metavar="FILE", help="intent file"),
    files: list[Path] = typer.Argument(
        None,
        metavar="LLDP…",
        help="files or folders of LLDP output of switches and servers, or of ibnetdiscover",
        show_default=False,
    ),
    device: list[str] = option([], "--device", "NAME=FILE", "device of an LLDP output file; repeatable"),
    source: str = option(
        "", "--source", "OS", "output format: eos, nxos, junos, lldpd, sonic, nvue or infiniband", shown="detected"
    ),
    form: list[str] = formats_option(VERIFY_FORMATS),
    as_json: bool = AS_JSON,
) -> None:
    """Compare LLDP neighbors with the planned cables.

    Each cabling mistake is listed with the re-cabling move that fixes it. Exit code 2: nothing is wrong, but a file could not
    be read.
    """
    reports = asked(form, VERIFY_FORMATS, "csv=moves.csv", as_json)
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
    for flag in options:
        name, equals, path = flag.partition("=")
        if not (name and equals and path):
            usage(f"--device: expected NAME=FILE, got '{flag}'")
        if found.setdefault(Path(path), name) != name:
            usage(f"--device: {path} is assigned to two devices, {found[Path(path)]} and {name}")
    return found


cabling = typer.Typer(help="Write run lists and labels; compare LLDP output with the plan.", no_args_is_help=True)
FABRIC = option("", "--fabric", "NAME", "only this fabric")
LIMIT = option("", "--limit", "GLOB", "only cables of matching devices or racks")
ENDINGS = {"text": ".txt", "csv": ".csv", "xlsx": ".xlsx", "json": ".json"}
FORMATS = tuple(ENDINGS)


@cabling.command("list")
def run_list(
    file: Path = FILE,
    output: Path | None = option(None, "-o --output", "PATH", "file of one list, or folder of all lists", shown="stdout"),
    fabric: str = FABRIC,
    limit: str = LIMIT,
    form: list[str] = formats_option(
        ("text", "csv", "json", "xlsx=FILE"), "by the ending of -o; text; of a folder csv and xlsx"
    ),
    as_json: bool = AS_JSON,
) -> None:
    """Print cable counts, or write the run lists.

    With -o: all cables, one list per rack, and the patch order.
    """

    forms = [name for text in [*form, *(["json"] if as_json else [])] for name in text.split(",")]
    folder = output if output is not None and (output.is_dir() or output.suffix.lower() not in ENDINGS.values()) else None
    reports = _reports(forms, output) if folder is None else []
    lists = _of_folder(forms, folder) if folder is not None else []
    cables = _cables(file, fabric, limit)
    if folder is None:
        write(reports, lambda form: _made(form, cables))
        for _, path in reports:
            if path is not None:
                say(f"{len(cables.chosen):,} rows written to {path}")
        return
    with progress("run lists"):
        files = _files(lists, cables)
    put_folder(folder, files)
    say(f"{len(cables.chosen):,} rows written to {folder}")


@cabling.command()
def labels(
    file: Path = FILE,
    output: Path = option(..., "-o --output", "FILE.pdf", "PDF file to write"),
    fabric: str = FABRIC,
    limit: str = LIMIT,
    sheet: str = option("l7651", "--sheet", "NAME", "label sheet; `help` lists all"),
    skip: int = option(0, "--skip", "N", "number of used labels on the first sheet", min=0),
) -> None:
    """Write cable labels for both ends as a printable PDF.

    Labels are in patch order.
    """
    if sheet == "help":
        put_lines(lambda: aligned([(name, its.description) for name, its in sheets().items()]))
        return
    if sheet not in sheets():
        usage(f"--sheet: unknown sheet '{sheet}'", nearest(sheet, sheets()))
    refuse(lambda report: check_target(report, "-o", output, "labels.pdf"))
    if skip >= sheets()[sheet].count:
        usage(f"--skip: expected less than the {sheets()[sheet].count} labels of a sheet, got {skip}")
    cables = _cables(file, fabric, limit)
    with progress("labels"):
        pdf = pipeline.labels(cables, sheets()[sheet], skip)
    put(output, pdf)


def _reports(forms: list[str], output: Path | None) -> list[tuple[str, Path | None]]:
    """The lists that are printed or go to files of their own; -o is the file of the one without =FILE."""
    if output is not None:
        refuse(lambda report: check_target(report, "-o", output, "cables.txt"))
    default_form = next(
        (name for name, ending in ENDINGS.items() if output is not None and output.suffix.lower() == ending), "text"
    )
    reports = asked(forms or [default_form], FORMATS, "csv=cables.csv")
    if output is not None and not any(file is None for _, file in reports):
        usage(f"-o {output}: expected a list to write, got none: every list goes to a file of its own", "remove -o")
    if output is None and ("xlsx", None) in reports:
        usage("--format: xlsx: expected a file name, as a workbook is binary", "--format xlsx=cables.xlsx")
    reports = [(name, file or output) for name, file in reports]
    for name, file in reports:
        if file is not None and file.suffix.lower() in ENDINGS.values() and file.suffix.lower() != ENDINGS[name]:
            usage(
                f"--format: {name}: expected a file that ends in {ENDINGS[name]}, got {file}",
                f"`--format {name}={name}{ENDINGS[name]}`, or a folder for several lists: `-o cabling/`",
            )
    return reports


def _of_folder(forms: list[str], folder: Path) -> list[str]:
    """The forms of the lists in a folder."""
    for name in forms:
        if name not in FORMATS:
            hint = "use `-o FOLDER` or `--format NAME=FILE`, not both" if "=" in name else nearest(name, FORMATS)
            usage(f"--format: unknown format '{name}'", hint)
    refuse(lambda report: check_folder(report, "-o", folder))
    return list(dict.fromkeys(forms)) or ["csv", "xlsx"]


def _cables(file: Path, fabric: str, limit: str) -> RunList:
    """The chosen cables of an intent. Raises InputError."""
    with progress("plan"):
        made = pipeline.plan(pipeline.load(file))
    check_fabric(made, fabric)
    with progress("cables"):
        found = pipeline.cables(made, fabric, limit)
    show_diagnostics([*made.warnings, *found.warnings])
    return found


def _made(form: str, found: RunList) -> str | bytes:
    runs, chosen = found.runs, found.chosen
    if form == "xlsx":
        return xlsx(runs, chosen, found.walk)
    if form == "csv":
        return tables.csv_text(tables.COLUMNS, tables.rows(runs, chosen))
    return tables.json_text(runs, chosen) if form == "json" else tables.text(runs, chosen, found.walk)


def _files(forms: list[str], found: RunList) -> dict[str, str | bytes]:
    """Every file by its path in the folder: all are made before one is written."""
    runs, chosen, walk = found.runs, found.chosen, found.walk
    made = {f"cables{ENDINGS[form]}": _made(form, found) for form in forms}
    if "csv" in forms:
        made["patch-order.csv"] = tables.csv_text(tables.PATCH_COLUMNS, tables.patch_rows(runs, walk))
        for rack, ends in tables.rack_lists(runs, chosen):
            made[f"racks/{rack}.csv"] = tables.csv_text(tables.RACK_LIST_COLUMNS, ends)
    return made


cabling.command("verify")(verify)
