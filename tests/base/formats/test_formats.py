"""What each format writes, whatever it is given."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree as ET

import pytest
import yaml as library

from fabric.base.formats import (
    Case,
    Failure,
    Format,
    Suite,
    chart,
    csv_text,
    document,
    element,
    json_line,
    json_text,
    label,
    no_formula,
    yaml,
)
from fabric.base.formats.junit import junit


def test_json_rounds_what_differs_between_machines() -> None:
    assert json_text({"a": 0.1 + 0.2, "b": (1, 2.0)}) == '{\n  "a": 0.3,\n  "b": [\n    1,\n    2.0\n  ]\n}'
    assert json_line({"ü": 0.1 + 0.2}, ensure_ascii=False) == '{"ü": 0.30000000000000004}'


def test_csv_is_read_as_it_was_written() -> None:
    rows = [["a,b", 'say "x"'], ["", "two\nlines"]]
    assert list(csv.reader(io.StringIO(csv_text(("one", "two"), rows)))) == [["one", "two"], *rows]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_no_spreadsheet_evaluates_a_text(text: str) -> None:
    assert no_formula(text) == f"'{text}"
    assert [no_formula("a=1"), no_formula(-1)] == ["a=1", -1]


def test_yaml_has_no_anchors_and_reads_back() -> None:
    shared = {"on": ["yes", "1:30", None], "text": "two\nlines\n"}
    text = yaml.dump({"a": shared, "b": shared}, "head\nof two lines")
    assert text.startswith("# head\n# of two lines\na:\n")
    assert "&" not in text
    assert "text: |" in text
    assert library.safe_load(text) == yaml.load(text) == {"a": shared, "b": shared}
    assert list(library.safe_load_all(yaml.dump_all([1, [2]]))) == [1, [2]]


def test_junit_counts_its_cases() -> None:
    cases = [
        Case(name="fails", classname="a", failure=Failure("error", "why <&>", "all\nof it")),
        Case(name="skipped", classname="a", skipped="no server"),
        Case(name="passes", classname="a", time="0.5", output="some"),
    ]
    root = ET.fromstring(junit("all", [Suite("one", cases), Suite("two", [], output="nothing ran")]))
    assert root.attrib == {"name": "all", "time": "0", "tests": "3", "failures": "1", "errors": "0"}
    assert [suite.attrib["skipped"] for suite in root] == ["1", "0"]
    assert root.find("testsuite/testcase/failure").attrib == {"type": "error", "message": "why <&>"}  # type: ignore[union-attr]
    assert root.find("testsuite[@name='two']/system-out").text == "nothing ran"  # type: ignore[union-attr]


def test_svg_attributes_have_as_few_digits_as_they_need() -> None:
    assert element("rect", class_="frame", x=1.0, y=0.333, stroke="", stroke_width=2) == (
        '<rect class="frame" x="1" y="0.33" stroke-width="2"/>'
    )
    assert element("rect", "", "a < b", x=1) == '<rect x="1"><title>a &lt; b</title></rect>'
    assert label(1, 2, "<a>", kind="soft", anchor="end") == (
        '<text class="soft" x="1" y="2" font-size="12" text-anchor="end">&lt;a&gt;</text>'
    )


def test_a_picture_is_well_formed() -> None:
    for text in (document(label(1, 2, "a"), 10, 5.5), chart(label(1, 2, "a"), 10, 5.5, 'quoted "so"')):
        root = ET.fromstring(text)
        assert (root.attrib["viewBox"], root.attrib["width"], root.attrib["height"]) == ("0 0 10 5.5", "10", "5.5")


def test_a_format_is_imported_when_it_is_asked_for() -> None:
    assert Format[str]("text", "fabric.base.formats.documents:json_text")({"a": 1}, indent=0) == '{\n"a": 1\n}'
    with pytest.raises(ModuleNotFoundError):
        Format[str]("text", "fabric.base.formats.none:made")(1)
