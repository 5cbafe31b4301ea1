"""`fabric bom`: parts to order, their power and their cost."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report, nearest, show
from fabric.base.formats import json_text
from fabric.cli.common import FINDINGS, check_range, mistake, option, progress, say, show_diagnostics
from fabric.cli.output import AS_JSON, asked, formats_option, usage, write
from fabric.deliver.bom import prices as price_file
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.gather import BomRequest
from fabric.deliver.bom.parts import PLURALS, Spares
from fabric.deliver.bom.text import csv_text, lines, order, over_limit, sheets
from fabric.model.settings.site import OwnCatalog

FORMATS = ("text", "csv", "xlsx", "json")


def bom(
    file: Path = typer.Argument(..., metavar="FILE", help="intent file", show_default=False),
    prices: Path | None = option(None, "--prices", "PRICES", "price file (keys: docs/bom.md)"),
    servers: bool = typer.Option(True, "--servers/--no-servers", help="include the servers"),
    spares: str = option(
        "", "--spares", "PERCENT", "spare parts, rounded up: 2, or switches=2,optics=3,cables=5", shown="2, servers 0"
    ),
    pue: float | None = option(None, "--pue", "X", "power usage effectiveness of the building", shown="1.3"),
    years: int | None = option(None, "--years", "N", "years of support and energy in the total cost", shown="5"),
    rack_limit: float | None = option(None, "--rack-limit", "KW", "maximum power of a rack", shown="as in `floor:`"),
    form: list[str] = formats_option(("text", "csv", "json", "xlsx=FILE")),
    as_json: bool = AS_JSON,
) -> None:
    """List parts to order, with spares, power and cost.

    Exit code 1: a rack exceeds its power limit whatever the bounds are, or no cable of the catalog fits some links.
    """
    reports = asked(form, FORMATS, "xlsx=bom.xlsx", as_json)
    if ("xlsx", None) in reports:
        usage("--format: xlsx: expected a file name, as a workbook is binary", "--format xlsx=bom.xlsx")
    intent = pipeline.load(file)
    request = _request(prices, servers, spares, pue, years, rack_limit, catalog=intent.catalog)
    with progress("plan"):
        site_plan = pipeline.plan(intent)
    show_diagnostics(site_plan.warnings)
    with progress("bill of materials"):
        bill, diagnostics = pipeline.bill(site_plan, request)
    show_diagnostics(diagnostics)
    _write(bill, reports)
    if bill.hot:
        show_diagnostics([over_limit(bill, str(file))])
    if bill.surely_hot or bill.unjoined:
        raise typer.Exit(FINDINGS)


def _write(bill: Bill, reports: list[tuple[str, Path | None]]) -> None:
    write(reports, lambda form: _made(bill, form))
    for name, file in reports:
        if name == "xlsx":
            say(f"wrote {file}")


def _made(bill: Bill, form: str) -> str | bytes:
    if form == "xlsx":
        from fabric.base.formats import workbook  # heavy

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
    *,
    catalog: OwnCatalog,
) -> BomRequest:
    """The validated request; the command line takes precedence over the price file. Raises InputError."""
    report = Report()
    bounds = {"--pue": (pue, 1, 5), "--years": (years, 1, 30), "--rack-limit": (rack_limit, 0.1, 10_000)}
    for flag, (value, lowest, highest) in bounds.items():
        if value is not None:
            check_range(report, flag, value, lowest, highest, f"{lowest:g} to {highest:g}", hint="")
    rates = _rates(spares, report)
    report.raise_errors()
    prices = price_file.read(path, catalog, str(path)) if path else None
    base = prices.spares if prices else Spares()
    return BomRequest(
        prices=prices,
        servers=servers,
        spares=replace(base, **rates),
        pue=pue or (prices.pue if prices else None) or price_file.PUE,
        years=years or (prices.years if prices else None) or price_file.YEARS,
        rack_limit_w=rack_limit * 1000 if rack_limit is not None else None,
    )


def _rates(text: str, report: Report) -> dict[str, float]:
    """`3` applies to all kinds but servers; `optics=3,cables=5` to those named."""
    rates: dict[str, float] = {}
    for item in text.split(",") if text else ():
        name, equals, percent = item.rpartition("=")
        if equals and name not in PLURALS.values():
            mistake(report, "--spares", f"unknown kind {show(name)}", nearest(name, PLURALS.values()))
        elif not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,4})?", percent) or float(percent) > 100:
            mistake(
                report, "--spares", f"expected percent from 0 to 100, got {show(percent)}", "use `2`, or `optics=3,cables=5`"
            )
        else:
            rates |= {
                kind: float(percent) for kind in ([name] if equals else [k for k in PLURALS.values() if k != "servers"])
            }
    return rates
