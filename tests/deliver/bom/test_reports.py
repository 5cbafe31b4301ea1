"""Bills as files: the real readers read them, hostile names stay text, the bytes are always the same."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
import typer
from typer.testing import CliRunner

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.formats import workbook
from fabric.cli.bom import bom
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.gather import BomRequest
from fabric.deliver.bom.parts import SWITCH, Part
from fabric.deliver.bom.prices import read
from fabric.deliver.bom.text import csv_text, order, sheets
from tests import ROOT
from tests.deliver.bom import designs as bom_designs

EXAMPLE = ROOT / "docs" / "prices-example.yaml"
HOSTILE = '=HYPERLINK("http://x","y")\x07'


@pytest.fixture
def bill(tmp_path: Path) -> Bill:
    return pipeline.bill(bom_designs.plan(tmp_path, "starter", "frontend"), BomRequest(prices=read(EXAMPLE)))[0]


def hostile(bill: Bill) -> Bill:
    """The bill with names that a spreadsheet would run."""
    lines = tuple(replace(line, part=Part(SWITCH, HOSTILE), what=HOSTILE) for line in bill.lines)
    shares = tuple(replace(share, name=HOSTILE) for share in bill.shares)
    uses = tuple(replace(line, uses=tuple(replace(use, fabric=HOSTILE) for use in line.uses)) for line in lines)
    racks = tuple(
        replace(rack, devices=tuple(replace(device, name=HOSTILE) for device in rack.devices)) for rack in bill.racks
    )
    return replace(bill, site=HOSTILE, lines=uses, shares=shares, racks=racks)


def test_csv_is_what_one_orders(bill: Bill) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(order(bill)))))
    assert list(rows[0]) == [
        "kind", "item", "description", "length_m", "in_use", "spares", "order", "unit_price_USD", "price_USD"
    ]  # fmt: skip
    assert [(row["kind"], row["item"], row["in_use"], row["spares"], row["order"]) for row in rows[:4]] == [
        ("switch", "7050sx3-48yc8", "7", "1", "8"),
        ("switch", "sn5600", "4", "1", "5"),
        ("server", "cpu-2x25", "40", "0", "40"),
        ("server", "dgx-h100", "8", "0", "8"),
    ]
    assert sum(float(row["price_USD"]) for row in rows) == pytest.approx(
        bill.cost.capex - bill.cost.capex_by_kind["labour"] if bill.cost else 0
    )


def test_a_formula_stays_text(bill: Bill) -> None:
    bad = hostile(bill)
    for row in csv.reader(io.StringIO(csv_text(order(bad)))):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)
    book = openpyxl.load_workbook(io.BytesIO(workbook("dc1", sheets(bad))))
    cells = [cell for page in book for row in page.iter_rows() for cell in row if cell.value is not None]
    assert not any(cell.data_type == "f" for cell in cells)
    assert any(str(cell.value).startswith("=HYPERLINK") for cell in cells)
    json.loads(json.dumps(bad.as_dict(), allow_nan=False))


def test_the_workbook_opens_and_adds_up(bill: Bill) -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook("dc1", sheets(bill))))
    assert book.sheetnames == ["order", "fabrics", "power", "racks", "elevations", "cost"]
    pages = {page.title: list(page.iter_rows(values_only=True)) for page in book}
    assert sum(row[5] for row in pages["racks"][1:]) == pytest.approx(bill.power.max_w, abs=1)
    assert len(pages["elevations"]) == 1 + sum(len(rack.devices) for rack in bill.racks)
    assert [row[0] for row in pages["power"][1:]] == [
        "network of starter", "network of frontend", "network", "servers", "total"
    ]  # fmt: skip
    assert book["order"].freeze_panes == "A2"


def test_the_workbook_has_no_time_of_day(bill: Bill) -> None:
    data = workbook("dc1", sheets(bill))
    assert data == workbook("dc1", sheets(bill))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert b"dcterms" not in archive.read("docProps/core.xml")


def run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(bom)
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=True)
    if isinstance(result.exception, InputError):
        raise result.exception
    return result.exit_code, result.stdout


def test_the_verb_prints_and_writes(tmp_path: Path) -> None:
    path = str(bom_designs.site(tmp_path, "starter").path)
    code, text = run(path, "--prices", str(EXAMPLE), "--no-servers")
    assert code == 0
    assert text.startswith("dc1: bill of materials\n")
    assert "dgx-h100" not in text.partition("\nRacks")[0]
    files = {form: tmp_path / f"bom.{form}" for form in ("csv", "xlsx", "json")}
    code, text = run(path, *(word for form, file in files.items() for word in ("--format", f"{form}={file}")))
    assert (code, text) == (0, "")
    assert files["csv"].read_text(encoding="utf-8").startswith("kind,item,")
    assert openpyxl.load_workbook(files["xlsx"]).sheetnames[0] == "order"
    assert run(path, "--json")[1] == files["json"].read_text(encoding="utf-8")
    assert not list(tmp_path.glob(".*new"))


def test_the_command_line_goes_before_the_price_file(tmp_path: Path) -> None:
    path = str(bom_designs.site(tmp_path, "starter").path)
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: EUR\nenergy: {pue: 1.5}\nyears: 3\nspares: {optics: 10, cables: 0}\n", encoding="utf-8")
    found = json.loads(run(path, "--prices", str(prices), "--json", "--pue", "1.1", "--spares", "cables=50")[1])
    assert (found["power"]["pue"], found["cost"]["years"]) == (1.1, 3)
    assert found["spares_percent"] == {"switches": 2.0, "servers": 0.0, "optics": 10, "cables": 50.0}
    assert found["cost"]["unpriced"] == ["sn5600", "dgx-h100", "800g-2xsr4", "mpo12-apc-om4", "mpo12-apc-om4"]


def test_a_rack_too_warm_is_a_finding(tmp_path: Path) -> None:
    assert run(str(bom_designs.site(tmp_path, "starter").path), "--rack-limit", "30")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pue", "0.5"), "--pue: error[FAB102]: expected 1 to 5, got 0.5"),
        (("--pue", "nan"), "--pue: error[FAB102]: expected 1 to 5, got nan"),
        (("--years", "0"), "--years: error[FAB102]: expected 1 to 30, got 0"),
        (("--rack-limit", "0"), "--rack-limit: error[FAB102]: expected 0.1 to 10000, got 0"),
        (("--spares", "optic=2"), "--spares: error[FAB102]: unknown kind 'optic'\n    hint: did you mean 'optics'?"),
        (("--spares", "much"), "--spares: error[FAB102]: expected percent from 0 to 100, got 'much'"),
        (("--spares", "200"), "--spares: error[FAB102]: expected percent from 0 to 100, got '200'"),
        (("--prices", "none.yaml"), "none.yaml: error[FAB001]: cannot be read: no such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        run(str(bom_designs.site(tmp_path, "starter").path), *arguments)
    assert str(caught.value).startswith(message)


def test_a_workbook_goes_to_a_file(tmp_path: Path) -> None:
    assert run(str(bom_designs.site(tmp_path, "starter").path), "--format", "xlsx")[0] == 2
