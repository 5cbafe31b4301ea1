"""What is written: run list, lists of racks, order of laying, workbook, labels, and the verbs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from openpyxl import load_workbook
from pypdf import PdfReader
from typer.testing import CliRunner

from fabric.base.diagnostics import InputError
from fabric.base.formats import Sheet, workbook
from fabric.base.formats.xlsx import letters
from fabric.cli.cabling import cabling
from fabric.deliver.cabling.labels import fit, labels, pdf, sheets
from fabric.deliver.cabling.laying_order import walk
from fabric.deliver.cabling.runs import Runs, runs
from fabric.deliver.cabling.tables import (
    COLUMNS,
    PATCH_COLUMNS,
    RACK_LIST_COLUMNS,
    csv_text,
    json_text,
    patch_rows,
    rack_lists,
    rows,
    safe,
    selected,
    text as summary,
    totals,
    xlsx,
)
from fabric.design.floor.floor import floor
from tests.design.planner.helpers import make
from tests.goldens import golden

HOSTILE = "=1+1 > |'<b>&\x1b,\"x"

INTENT = """\
version: 1
site: dc1
catalog:
  servers:
    node: {gpus: 2, rack_units: 4, nics: {compute: {count: 2, speed_gbps: 400}}}
fabrics:
  backend:
    servers: {model: node, count: 4, per_rack: 2, name: gpu}
    topology:
      kind: rack
      switch: 8x800g
      unit: {servers: 2}
      leaf: {uplinks: {count: 2}}
      attachments: [{name: wan, links: 1}]
"""


def found(text: str = INTENT) -> Runs:
    plan = make(text)
    return runs(plan, floor(plan))


def everything(its: Runs) -> np.ndarray:
    return np.arange(len(its))


def hostile() -> Runs:
    """A plan whose every name came from elsewhere, as no intent may state them."""
    plan = make(INTENT)
    fabric = plan.fabrics["backend"]
    devices = tuple(replace(d, name=f"{HOSTILE}{d.index}", model=HOSTILE) for d in fabric.devices)
    bad = replace(plan, site=HOSTILE, fabrics={HOSTILE: replace(fabric, name=HOSTILE, devices=devices)})
    return runs(bad, floor(bad))


OUTPUTS: dict[str, Callable[[Runs], str]] = {
    "cables.csv": lambda its: csv_text(COLUMNS, rows(its, everything(its))),
    "cables.txt": lambda its: summary(its, everything(its), walk(its, everything(its))),
    "patch-order.csv": lambda its: csv_text(PATCH_COLUMNS, patch_rows(its, walk(its, everything(its)))),
    "rack-b01.csv": lambda its: csv_text(RACK_LIST_COLUMNS, dict(rack_lists(its, everything(its)))["B01"]),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_golden(name: str) -> None:
    golden(f"cabling/{name}", OUTPUTS[name](found()))


def test_csv_and_json_say_the_same() -> None:
    its = found()
    table = list(csv.DictReader(io.StringIO(csv_text(COLUMNS, rows(its, everything(its))))))
    document = json.loads(json_text(its, everything(its)))
    assert [{key: str(value) for key, value in row.items()} for row in document["cables"]] == table
    assert document["site"] == "dc1"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert safe(text) == f"'{text}"
    assert safe(-1.5) == -1.5
    assert safe("a\tb\x1b") == "a?b?"


def test_hostile_names_stay_text() -> None:
    its = hostile()
    everyone = everything(its)
    for row in csv.reader(io.StringIO(csv_text(COLUMNS, rows(its, everyone)))):
        assert not any(cell.startswith(("=", "+", "-", "@")) or "\x1b" in cell for cell in row)
    book = load_workbook(io.BytesIO(xlsx(its, everyone, walk(its, everyone))))
    cells = [cell for sheet in book for line in sheet.iter_rows() for cell in line]
    assert {cell.data_type for cell in cells} <= {"s", "n", "inlineStr"}
    assert book["Cables"]["A2"].value == HOSTILE.replace("\x1b", "?")
    assert PdfReader(io.BytesIO(pdf(its, walk(its, everyone), sheets()["l7651"]))).pages[0].extract_text()


def test_workbook_has_frozen_headers_filters_and_widths() -> None:
    its = found()
    everyone = everything(its)
    data = xlsx(its, everyone, walk(its, everyone))
    assert data == xlsx(found(), everyone, walk(its, everyone))
    book = load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["Cables", "Patch order", "Racks", "To buy"]
    sheet = book["Cables"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref, sheet.print_title_rows) == ("C2", f"A1:AF{len(its) + 1}", "$1:$1")
    assert [cell.value for cell in sheet[1]][:3] == ["Site", "Cable", "Fabric"]
    assert sheet.column_dimensions["B"].width > 15
    assert [[cell.value for cell in line] for line in sheet.iter_rows(min_row=2)] == [
        [value if value != "" else None for value in row] for row in rows(its, everyone)
    ]
    assert {entry.date_time for entry in zipfile.ZipFile(io.BytesIO(data)).infolist()} == {(1980, 1, 1, 0, 0, 0)}
    for name in zipfile.ZipFile(io.BytesIO(data)).namelist():
        ET.fromstring(zipfile.ZipFile(io.BytesIO(data)).read(name))


def test_columns_of_a_sheet_have_the_usual_letters() -> None:
    assert [letters(number) for number in (1, 26, 27, 702, 703)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert load_workbook(io.BytesIO(workbook("t", [Sheet(title="S", columns=("x",), rows=[])])))["S"]["A1"].value == "x"


def test_what_is_bought_adds_up() -> None:
    its = found()
    bought = {(row[0], row[2]): row[3] for row in totals(its, everything(its))}
    assert bought[("800g-2xsr4", "")] == int(its.a_optics.sum() + its.b_optics.sum()) - bought.get(("400g-sr4", ""), 0)
    cables = sum(count for (name, metres), count in bought.items() if metres != "")
    assert cables == int(its.pieces.sum())


def test_every_end_is_in_the_list_of_its_rack() -> None:
    its = found()
    ends = [
        (rack, line[RACK_LIST_COLUMNS.index("cable")]) for rack, lines in rack_lists(its, everything(its)) for line in lines
    ]
    labels = [(its.a_label[row].split("-U")[0], its.cable[row]) for row in range(len(its))]
    labels += [(its.b_label[row].split("-U")[0], its.cable[row]) for row in range(len(its))]
    assert sorted(ends) == sorted(labels)


@pytest.mark.parametrize("count", [4, 16, 48])
def test_walking_takes_every_cable_once_and_no_longer_than_the_list(count: int) -> None:
    its = found(INTENT.replace("count: 4", f"count: {count}").replace("8x800g", "64x800g"))
    way = walk(its, everything(its))
    assert sorted(way.row.tolist()) == list(range(len(its)))
    assert way.walked_m <= way.bundles_as_listed_m <= way.cables_as_listed_m
    racks = [tuple(sorted(_racks(its, row))) for row in way.row.tolist()]
    steps: dict[int, set[tuple[str, ...]]] = {}
    for step, pair in zip(way.step.tolist(), racks, strict=True):
        steps.setdefault(step, set()).add(pair)
    assert list(steps) == list(range(1, len(steps) + 1))
    assert len(steps) == len(set(racks))


def _racks(its: Runs, row: int) -> tuple[str, str]:
    return its.a_label[row].split("-U")[0], its.b_label[row].split("-U")[0]


def test_walking_metres_by_hand() -> None:
    its = found()
    # A01 holds spines and the router, B01 and B02 servers and their leaf. Bundles: in B01, in B02 (0 m), and from each to
    # A01 round the beginning of the rows: 2.4 m for B01 and 0.6 + 2.4 m for B02.
    assert walk(its, everything(its)).walked_m == pytest.approx(2.4 + 3.0)


def test_labels_say_both_ends_and_fit() -> None:
    its = found()
    way = walk(its, everything(its))
    pairs = list(labels(its, way))
    assert len(pairs) == 2 * int(np.maximum(its.pieces, 1).sum())
    assert all(
        one.cable == other.cable and one.here == other.there for one, other in zip(pairs[::2], pairs[1::2], strict=True)
    )
    assert len({(label.cable, label.here) for label in pairs}) == len(pairs)
    for sheet in sheets().values():
        reader = PdfReader(io.BytesIO(pdf(its, way, sheet)))
        assert len(reader.pages) == -(-len(pairs) // sheet.count)
        assert [float(value) / 72 * 25.4 for value in reader.pages[0].mediabox[2:]] == pytest.approx(sheet.page, abs=0.1)
        assert sheet.first[0] + (sheet.columns - 1) * sheet.pitch[0] + sheet.label[0] <= sheet.page[0]
        assert sheet.first[1] + (sheet.rows - 1) * sheet.pitch[1] + sheet.label[1] <= sheet.page[1]
    messages = PdfReader(io.BytesIO(pdf(its, way, sheets()["l7651"]))).pages[0].extract_text().split("\n")
    first = pairs[0]
    assert [line.strip() for line in messages[:6]] == [first.cable, first.here, f"> {first.there}"] * 2


def test_labels_are_the_same_bytes_and_may_begin_on_a_used_sheet() -> None:
    its = found()
    way, sheet = walk(its, everything(its)), sheets()["l7651"]
    assert pdf(its, way, sheet) == pdf(found(), way, sheet)
    count = sum(1 for _ in labels(its, way))
    assert len(PdfReader(io.BytesIO(pdf(its, way, sheet, skip=sheet.count - 1))).pages) == 1 + -(-(count - 1) // sheet.count)


@pytest.mark.parametrize("text", ["leaf001:1", "a" * 63 + ":33/2", "M" * 200, "日本語", ""])
def test_text_fits_its_label(text: str) -> None:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    shown, size = fit(text, "Helvetica", 90, 7)
    assert stringWidth(shown, "Helvetica", size) <= 90.01
    assert 4.5 <= size <= 7
    assert shown[-2:] == text[-2:] or not text.isascii()


def test_a_label_of_several_trunks_names_each() -> None:
    its = found(INTENT.replace("8x800g", "sn5600"))
    names = {label.cable for label in labels(its, walk(its, everything(its)))}
    several = its.cable[int(np.flatnonzero(its.pieces > 1)[0])]
    assert {f"{several}.1", f"{several}.2"} <= names
    assert several not in names


@pytest.mark.parametrize(
    ("fabric", "limit", "count"),
    [
        ("", "", 13),
        ("backend", "", 13),
        ("", "backend-leaf001", 7),
        ("", "B01", 7),
        ("", "wan", 1),
        ("", "A*", 5),
        ("", "none", 0),
    ],
)
def test_selection(fabric: str, limit: str, count: int) -> None:
    assert len(selected(found(), fabric, limit)) == count


class TestVerbs:
    def run(self, tmp_path: Path, *arguments: str, text: str = INTENT) -> tuple[int, str]:
        path = tmp_path / "intent.yaml"
        path.write_text(text)
        done = CliRunner().invoke(cabling, [*arguments[:1], str(path), *arguments[1:]], catch_exceptions=True)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output

    def test_list_on_the_screen(self, tmp_path: Path) -> None:
        code, messages = self.run(tmp_path, "list")
        assert code == 0
        assert "dc1: " in messages
        assert self.run(tmp_path, "list", "--json")[1].count('"cable": ') == 13

    def test_list_into_a_folder(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        assert self.run(tmp_path, "list", "-o", str(out))[0] == 0
        assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
            *("cables.csv", "cables.xlsx", "patch-order.csv"),
            *("racks/A01.csv", "racks/B01.csv", "racks/B02.csv"),
        ]

    def test_labels(self, tmp_path: Path) -> None:
        out = tmp_path / "labels.pdf"
        assert self.run(tmp_path, "labels", "-o", str(out), "--sheet", "5167", "--limit", "B01")[0] == 0
        assert out.read_bytes().startswith(b"%PDF")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("list", "--format", "xlsx"),
            ("list", "--format", "csv,json"),
            ("list", "--format", "pdf"),
            ("labels", "-o", "x.pdf", "--sheet", "l7650"),
            ("labels", "-o", "x.pdf", "--skip", "65"),
        ],
    )
    def test_usage(self, tmp_path: Path, arguments: tuple[str, ...]) -> None:
        assert self.run(tmp_path, *arguments)[0] == 2
        assert not Path("x.pdf").exists()

    def test_what_cannot_be_is_an_error_and_writes_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no medium of 'dac' joins"):
            self.run(
                tmp_path,
                "list",
                "-o",
                str(tmp_path / "out"),
                text=f"{INTENT}floor: {{row_pitch_m: 9, media: {{leaf-spine: dac}}}}\n",
            )
        with pytest.raises(InputError, match="unknown fabric 'x'"):
            self.run(tmp_path, "list", "--fabric", "x")
        assert not (tmp_path / "out").exists()
