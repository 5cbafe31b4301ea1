"""Names and messages come from files that no one here wrote: in every format they stay text."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from fabric.audit.checks import Finding, Read, Verdict
from fabric.audit.checks.reports import FORMATS, report
from fabric.model.facts import Located

# What a file may hold → how it is shown on one line.
HOSTILE = {
    "line break": ("a\nb.conf:1: error[FAB999]: forged", r"a\nb.conf:1: error[FAB999]: forged"),
    "carriage return": ("a\r::error::b", r"a\r::error::b"),
    "workflow command": ("::stop-commands::x", "::stop-commands::x"),
    "end of CDATA": ("]]><failure/>", "]]><failure/>"),
    "markup": ('<a href="x">&amp;', '<a href="x">&amp;'),
    "quotes": ("\"';$(id)`id`\\", "\"';$(id)`id`\\"),
    "terminal": ("\x1b[2J\x07", r"\x1b[2J\x07"),
    "nul": ("a\0b", r"a\x00b"),
    "right to left": ("a\u202eb", r"a\u202eb"),
    "line separator": ("a\u2028b\x85c", r"a\u2028b\x85c"),
    "lone surrogate": ("a\udc80b", r"a\udc80b"),
    "non-character": ("a\ufffeb", r"a\ufffeb"),
    "other scripts": ("Knoten-Ä 机架 🙂", "Knoten-Ä 机架 🙂"),
    "percent": ("100%0Ax", "100%0Ax"),
}
CASES = pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)


def verdict_of(text: str) -> Verdict:
    return Verdict.of(
        [
            Finding(id="FAB991", severity="error", device=text, file=text, line=3, message=text, hint=text),
            Finding(id="FAB992", severity="error", device=text, file=text, line=4, message=text, hint=text, silenced=text),
        ],
        [Read(what=text, path=text, devices=1, files=1, statements=2, unread=(Located(text, 5, text),))],
        ["FAB991"],
        [(text, text)],
    )


@CASES
@pytest.mark.parametrize("form", FORMATS)
def test_every_report_can_be_stored(form: str, text: str, shown: str) -> None:
    written = report(form, verdict_of(text))
    written.encode("utf-8")
    assert written.endswith("\n")
    assert not written.endswith("\n\n")
    assert all(sign == "\n" or sign.isprintable() for sign in written)
    assert not [line for line in written.splitlines() if line != line.rstrip()]


@CASES
def test_text_keeps_its_lines(text: str, shown: str) -> None:
    assert report("text", verdict_of(text)).splitlines() == [
        f"{shown}:3: error[FAB991]: {shown}: {shown}",
        f"    hint: {shown}",
        "",
        f"{shown}:4: silenced[FAB992]: {shown}: {shown}; reason: {shown}",
        "",
        f"read: {shown}: 1 device, 1 file, 2 statements",
        "    not understood: 1 statement",
        f"        {shown}:5: {shown}",
        "",
        f"not checked: {shown}: {shown}",
        "",
        "1 error, 1 silenced in 1 device; 1 check applied",
    ]


@CASES
def test_json_gives_the_very_text_back(text: str, shown: str) -> None:
    document = json.loads(report("json", verdict_of(text)))
    assert document["findings"][0]["message"] == text
    assert document["silenced"][0]["silenced"] == text
    assert document["read"][0]["not_understood"][0]["statement"] == text


@CASES
def test_sarif_has_two_results_that_are_text(text: str, shown: str) -> None:
    (run,) = json.loads(report("sarif", verdict_of(text)))["runs"]
    assert [result["message"]["text"] for result in run["results"]] == [
        f"{shown}: {shown}. {shown}",
        f"silenced, {shown}: {shown}: {shown}. {shown}",
    ]
    for result in run["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert not set(uri) & set(' "<>\\^`{|}:')


def test_sarif_text_is_no_link() -> None:
    verdict = Verdict.of(
        [Finding(id="FAB991", severity="error", device="", file="a.conf", line=1, message="see [here](https://example.net)")]
    )
    (run,) = json.loads(report("sarif", verdict))["runs"]
    assert run["results"][0]["message"]["text"] == "see [here] (https://example.net)"


@CASES
def test_junit_is_parsed_back(text: str, shown: str) -> None:
    root = ET.fromstring(report("junit", verdict_of(text)))
    assert [case.get("name") for case in root.iter("testcase")] == [
        "FAB991 There are no findings",
        "FAB992 There are no findings",
        shown,
    ]
    (failure,) = root.iter("failure")
    assert failure.get("message") == f"{shown}: {shown}"
    assert failure.text == f"{shown}:3: error[FAB991]: {shown}: {shown}\n    hint: {shown}"
    (skipped,) = root.iter("skipped")
    assert skipped.get("message") == shown


@CASES
def test_github_is_one_command_and_one_line(text: str, shown: str) -> None:
    command, sentence = report("github", verdict_of(text)).splitlines()
    assert sentence == "1 error, 1 silenced in 1 device; 1 check applied"
    # The runner's own reading: name, properties divided by commas, then the message after the next `::`.
    head, _, message = command.removeprefix("::").partition("::")
    name, _, listed = head.partition(" ")
    properties = dict(item.split("=", 1) for item in listed.split(","))
    assert name == "error"
    assert list(properties) == ["file", "line", "title"]
    assert unescaped(message) == f"{shown}: {shown}\nhint: {shown}"
    assert properties["line"] == "3"


def unescaped(text: str) -> str:
    for code, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, sign)
    return text
