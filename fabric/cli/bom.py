"""`fabric bom`: what to order, what it draws and what it costs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.bom import prices as price_file
from fabric.bom.bill import Bill
from fabric.bom.gather import Request
from fabric.bom.parts import PLURALS, Spares
from fabric.bom.sheets import csv_text, order, sheets
from fabric.bom.text import lines
from fabric.cli.common import FINDINGS, check_range, mistake, say, show_diagnostics
from fabric.cli.reports import asked, usage, write
from fabric.diagnostics import Diagnostic, Place, Report, nearest, show
from fabric.formats import json_text
from fabric.settings.hardware import OwnCatalog
from fabric.text import plural

FORMATS = ("text", "csv", "xlsx", "json")


def bom(
    file: Path = typer.Argument(..., metavar="FILE", help="intent", show_default=False),
    prices: Path | None = typer.Option(
        None,
        "--prices",
        metavar="PRICES",
        help="file of prices, and of power that the catalog lacks; docs/bom.md names its keys",
        show_default=False,
    ),
    servers: bool = typer.Option(True, "--servers/--no-servers", help="count the servers too, or the network alone"),
    spares: str = typer.Option(
        "",
        "--spares",
        metavar="PERCENT",
        help="of what is in use, rounded up: 2, or switches=2,optics=3,cables=5; 2 of all but servers unless given",
        show_default=False,
    ),
    pue: float | None = typer.Option(
        None, "--pue", metavar="X", help="power at the meter over power of the boxes; 1.3 unless given", show_default=False
    ),
    years: int | None = typer.Option(
        None, "--years", metavar="N", help="of the total cost; 5 unless given", show_default=False
    ),
    rack_limit: float | None = typer.Option(
        None,
        "--rack-limit",
        metavar="KW",
        help="most that a rack may draw; that of `floor:` unless given",
        show_default=False,
    ),
    form: list[str] = typer.Option(
        ["text"], "--format", metavar="NAME[=FILE]", help="text, csv (the order), xlsx=FILE, json; several may be given"
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """List what to order for a site, with spares, power per rack and in all, and cost from a price file.

    Exit code 1: a rack draws more than it may, or no medium joins some ends.
    """
    forms = [*([] if as_json and form == ["text"] else form), *(["json"] if as_json else [])]
    reports = asked(forms, FORMATS, "xlsx=bom.xlsx")
    if ("xlsx", None) in reports:
        usage("--format: xlsx: expected a file, a workbook is no text", "--format xlsx=bom.xlsx")
    intent = pipeline.load(file)
    request = _request(prices, servers, spares, pue, years, rack_limit, intent.site.catalog)
    made = pipeline.plan(intent)
    show_diagnostics(made.warnings)
    bill, said = pipeline.bill(made, request)
    show_diagnostics(said)
    _write(bill, reports)
    if bill.hot:
        show_diagnostics([_over(bill, file)])
    if bill.hot or bill.unjoined:
        raise typer.Exit(FINDINGS)


def _over(bill: Bill, file: Path) -> Diagnostic:
    """The racks that draw more than they may, as one finding."""
    worst, limit_w = bill.hot[0], bill.rack_limit_w or 0.0
    return Diagnostic(
        "FAB514",
        Place(str(file)),
        f"expected at most {limit_w / 1000:g} kW a rack in the worst case, got {plural(len(bill.hot), 'rack')} above it: "
        f"{worst.name} draws {worst.power.max_w / 1000:.1f} kW",
        "`floor: {rack_power_max_w: …}` states what a rack may draw, `floor: {places: …}` where a device stands",
    )


def _write(bill: Bill, reports: list[tuple[str, Path | None]]) -> None:
    write(reports, lambda form: _made(bill, form))
    for name, file in reports:
        if name == "xlsx":
            say(f"wrote {file}")


def _made(bill: Bill, form: str) -> str | bytes:
    if form == "xlsx":
        from fabric.formats import workbook  # heavy

        return workbook(f"Bill of materials of {bill.site}", sheets(bill))
    if form == "json":
        return json_text(bill.as_dict()) + "\n"
    return csv_text(order(bill)) if form == "csv" else "\n".join(lines(bill)) + "\n"


def _request(
    path: Path | None,
    servers: bool,
    spares: str,
    pue: float | None,
    years: int | None,
    rack_limit: float | None,
    own: OwnCatalog,
) -> Request:
    """What is asked, every number looked at; the command line goes before the price file. Raises InputError."""
    report = Report()
    bounds = {"--pue": (pue, 1, 5), "--years": (years, 1, 30), "--rack-limit": (rack_limit, 0.1, 10_000)}
    for option, (value, least, most) in bounds.items():
        if value is not None:
            check_range(report, option, value, least, most, f"{least:g} to {most:g}", "")
    rates = _rates(spares, report)
    report.raise_errors()
    found = price_file.read(path, own, str(path)) if path else None
    base = found.spares if found else Spares()
    return Request(
        prices=found,
        servers=servers,
        spares=replace(base, **rates),
        pue=pue or (found.pue if found else None) or price_file.PUE,
        years=years or (found.years if found else None) or price_file.YEARS,
        rack_limit_w=rack_limit * 1000 if rack_limit is not None else None,
    )


def _rates(text: str, report: Report) -> dict[str, float]:
    """`3` is for all but servers; `optics=3,cables=5` for some."""
    found: dict[str, float] = {}
    for item in text.split(",") if text else ():
        name, equals, told = item.rpartition("=")
        if equals and name not in PLURALS.values():
            mistake(report, "--spares", f"unknown kind {show(name)}", nearest(name, PLURALS.values()))
        elif not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,4})?", told) or float(told) > 100:
            mistake(report, "--spares", f"expected percent from 0 to 100, got {show(told)}", "`2`, or `optics=3,cables=5`")
        else:
            found |= {kind: float(told) for kind in ([name] if equals else [k for k in PLURALS.values() if k != "servers"])}
    return found
