"""Reports of an outcome: files that a person can read, and names that stay text in every format."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from fabric.audit.checks import ids
from fabric.audit.checks.reports import FORMATS
from fabric.base.formats.blocks import MENTION
from fabric.base.text import duration, padded, width_of
from fabric.lab.outcome import FAIL, NOT_EMULATED, PASS, SKIP, NotEmulated, Outcome, Result, finding
from fabric.lab.reports import MAX_FAULTS, label, report, shown, verdict
from tests.audit.checks.reports.test_hostile import HOSTILE as CHECKED
from tests.audit.checks.reports.test_junit import ATTRIBUTES, INSIDE
from tests.goldens import golden

ENDINGS = {"text": "txt", "json": "json", "junit": "xml", "markdown": "md", "github": "log"}

SESSIONS = Result(
    id="sessions", kind="proof", title="BGP sessions", status=PASS, summary="48 of 48 established", seconds=3.25
)
TABLES = Result(
    id="tables", kind="proof", title="forwarding tables", status=PASS, summary="1,024 of 1,024 routes as planned", seconds=0.5
)
HASHING = Result(
    id="hashing",
    kind="proof",
    title="hashing",
    status=PASS,
    summary="flows on all paths",
    measured={"busiest_share": 0.2617},
    seconds=1.5,
)
LINK_DOWN = Result(
    id="link-down",
    kind="scenario",
    title="link down",
    status=PASS,
    summary="leaf1 swp1: traffic moves to 1 path",
    measured={"fib_repair_ms": 12.5, "longest_gap_ms": 40.0, "paths_before": 2, "paths_after": 1, "paths_expected": 1},
    seconds=4.0,
)
BLACKHOLE = Result(
    id="blackhole",
    kind="scenario",
    title="link blackholed without BFD",
    status=PASS,
    summary="found after the hold time",
    measured={"fib_repair_ms": 8912.25, "longest_gap_ms": 9000, "paths_before": 2, "paths_after": 1, "paths_expected": 1},
    seconds=15.0,
)
SUPPRESSION = Result(
    id="suppression", kind="proof", title="ARP suppression", status=SKIP, summary="no tenant has a layer-2 network"
)

HOSTILE = "a|b `c` <img>&amp;\n| d |\x1b[2J"


def foreign(text: str) -> Outcome:
    """An outcome whose every text came from elsewhere."""
    result = Result(
        id=text,
        kind="scenario",
        title=text,
        status=FAIL,
        summary=text,
        faults=(finding(text, text),),
        measured={"name": text, "gap_ms": math.inf},
    )
    reasons = (NotEmulated(text, text, (text,)),)
    return Outcome(
        site=text,
        shape=text,
        frr=text,
        kernel=text,
        vrfs=text,
        results=(result, Result(id=text, kind="scenario", title=text, status=SKIP, summary=text)),
        not_emulated=reasons,
        seconds=0.04,
    )


OUTCOMES = {
    "all-pass": Outcome(
        site="dc1",
        shape="2 spines, 4 leaves, 8 servers, 24 cables",
        frr="8.4.4",
        kernel="6.1.0-18-amd64",
        vrfs="devices",
        results=(SESSIONS, TABLES, HASHING, LINK_DOWN, BLACKHOLE),
        not_emulated=NOT_EMULATED,
        seconds=24.75,
    ),
    "failures": Outcome(
        site="dc1",
        shape="2 spines, 4 leaves, 8 servers, 24 cables",
        frr="10.3",
        kernel="6.12.9",
        vrfs="namespaces",
        results=(
            Result(
                id="sessions",
                kind="proof",
                title="BGP sessions",
                status=FAIL,
                summary="46 of 48 established",
                faults=(
                    finding("leaf1", "neighbor 10.64.0.2: expected Established, got Active: no route to it"),
                    finding("spine2", "neighbor 10.64.0.3: expected Established, got Connect"),
                ),
                seconds=30.0,
            ),
            SUPPRESSION,
            LINK_DOWN,
            Result(
                id="spine-dead",
                kind="scenario",
                title="spine dead",
                status=FAIL,
                summary="traffic did not come back",
                faults=(finding("", "expected every server to reach every other one, got 3 of 56 pairs that do not"),),
                measured={"fib_repair_ms": 250, "longest_gap_ms": "never ended", "paths_before": 2, "paths_after": 0},
                seconds=20.125,
            ),
        ),
        not_emulated=(
            NotEmulated("PFC", "A veth pair obeys no PAUSE frame.", ("FAB272",)),
            NotEmulated("noise", "Fans stand still.", ()),
        ),
        seconds=61.0625,
    ),
    "hostile": foreign(HOSTILE),
    "empty": Outcome(
        site="dc1",
        shape="nothing",
        frr="8.4.4",
        kernel="6.1.0-18-amd64",
        vrfs="devices",
        results=(),
        not_emulated=(),
        seconds=0.0,
    ),
}
ALL = pytest.mark.parametrize("name", OUTCOMES)

# What a name may be → how it is shown on one line.
NAMES = {
    **CHECKED,
    "bars": ("|a|\\|", "|a|\\|"),
    "link": (
        "[a](https://example.net) ![b](c) <https://example.net>",
        "[a](https://example.net) ![b](c) <https://example.net>",
    ),
    "emphasis": ("*a* __b__ ~~c~~ `d` ``e``", "*a* __b__ ~~c~~ `d` ``e``"),
    "blocks": ("# a\n---\n- b\n```", r"# a\n---\n- b\n```"),
    "formula": ("$a$", "$a$"),
    "mention": ("@all", "@all"),
}
CASES = pytest.mark.parametrize(("text", "seen"), NAMES.values(), ids=NAMES)


@ALL
@pytest.mark.parametrize("form", ENDINGS)
def test_golden(name: str, form: str) -> None:
    golden(f"lab/{name}.{ENDINGS[form]}", report(form, OUTCOMES[name]))


@CASES
@pytest.mark.parametrize("form", FORMATS)
def test_every_report_can_be_stored(form: str, text: str, seen: str) -> None:
    written = report(form, foreign(text))
    written.encode("utf-8")
    assert written.endswith("\n")
    assert not written.endswith("\n\n")
    assert all(sign == "\n" or sign.isprintable() for sign in written)
    assert not [line for line in written.splitlines() if line != line.rstrip()]


@CASES
def test_text_keeps_its_lines(text: str, seen: str) -> None:
    first, second = max(8, width_of(seen)), max(4, width_of(seen))
    assert report("text", foreign(text)).splitlines() == [
        f"site {seen}: {seen}",
        f"FRR {seen}, kernel {seen}, VRFs as {seen}",
        "",
        f"      {padded('scenario', '<', first)}  {padded('name', '<', second)}  gap    found",
        f"FAIL  {seen:8}  {seen:4}  inf s  {seen}",
        f"skip  {seen:8}  {padded('–', '<', second)}  –      {seen}",
        "",
        f"{seen}:",
        f"    {seen}: {seen}",
        "",
        "not emulated, and the checks that cover it instead:",
        f"    {seen}  {seen}",
        "",
        "1 failed, 1 skipped in 40.0 ms",
    ]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (12.5, "12.5 ms"),
        (99.94, "99.9 ms"),
        (99.96, "100 ms"),
        (250, "250 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (1000, "1.0 s"),
        (43_149, "43.1 s"),
        (7_200_000, "2 h"),
    ],
)
def test_times_say_no_more_digits_than_they_mean(ms: float, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("fib_repair_ms", 12.5, "fib repair: 12.5 ms"),
        ("hold_s", 9, "hold: 9.0 s"),
        ("longest_gap_ms", "never ended", "longest gap: never ended"),
        ("paths_before", 1024, "paths before: 1,024"),
        ("busiest_share", 0.26171, "busiest share: 0.2617"),
    ],
)
def test_a_measure_has_the_unit_of_its_name(name: str, value: float | str, text: str) -> None:
    assert f"{label(name)}: {shown(name, value)}" == text


def outcome_of(*results: Result, seconds: float = 43.1) -> Outcome:
    return Outcome(site="dc1", shape="", frr="", kernel="", vrfs="", results=results, not_emulated=(), seconds=seconds)


def test_the_last_line_is_the_verdict() -> None:
    failed = Result(id="x", kind="proof", title="x", status=FAIL, summary="")
    outcome = outcome_of(*[SESSIONS] * 17, failed, SUPPRESSION)
    assert verdict(outcome) == "17 passed, 1 failed, 1 skipped in 43.1 s"
    assert report("text", outcome).endswith(f"\n\n{verdict(outcome)}\n")
    assert verdict(outcome_of()) == "nothing ran in 43.1 s"


def test_a_long_list_of_faults_is_cut_in_text() -> None:
    faults = tuple(finding(f"leaf{number}", f"AS {number}") for number in range(MAX_FAULTS + 5))
    outcome = outcome_of(Result(id="x", kind="proof", title="x", status=FAIL, summary="", faults=faults))
    assert "    leaf19: AS 19\n    and 5 more; `--json` shows them\n" in report("text", outcome)
    assert "leaf20" not in report("text", outcome)
    assert all("leaf24" in report(form, outcome) for form in FORMATS if form != "text")


def test_a_fault_of_many_devices_is_one() -> None:
    faults = tuple(finding(f"leaf{number}", "wrong") for number in range(18))
    outcome = outcome_of(Result(id="x", kind="proof", title="x", status=FAIL, summary="", faults=faults))
    for form in FORMATS:
        assert report(form, outcome).count("wrong") == (18 if form == "json" else 1), form
    assert "    leaf0, leaf1 and 16 more: wrong\n" in report("text", outcome)


@CASES
def test_json_gives_the_very_text_back(text: str, seen: str) -> None:
    document = json.loads(report("json", foreign(text)), parse_constant=pytest.fail)
    assert [document[key] for key in ("site", "shape", "frr", "kernel", "vrfs")] == [text] * 5
    assert document["results"][0]["faults"] == [{"device": text, "message": text}]
    assert document["results"][0]["measured"] == {"name": text, "gap_ms": None}
    assert document["not_emulated"] == [{"what": text, "reason": text, "why": text, "covered_by": [text]}]
    assert document["summary"] == {"passed": 0, "failed": 1, "skipped": 1}


@ALL
def test_junit_is_of_the_schema_and_counts_right(name: str) -> None:
    outcome = OUTCOMES[name]
    root = ET.fromstring(report("junit", outcome))
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, allowed = ATTRIBUTES[element.tag]
        assert needed <= set(element.attrib) <= needed | allowed, element.tag
        assert {child.tag for child in element} <= INSIDE.get(element.tag, set())
        assert re.fullmatch(r"\d+\.\d{3}", element.get("time", "0.000"))
    assert root.get("tests") == str(len(outcome.results))
    assert root.get("failures") == str(len(outcome.failed)) == str(len(list(root.iter("failure"))))
    for suite in root:
        assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == tuple(
            str(len(list(suite.iter(tag)))) for tag in ("testcase", "failure", "skipped")
        )


@CASES
def test_junit_gives_the_text_back(text: str, seen: str) -> None:
    root = ET.fromstring(report("junit", foreign(text)))
    (failure,) = root.iter("failure")
    assert (failure.get("message"), failure.text) == (seen, f"{seen}: {seen}")
    (skipped,) = root.iter("skipped")
    assert skipped.get("message") == seen
    assert [case.get("name") for case in root.iter("testcase")] == [seen, seen]


def cells(text: str) -> list[str]:
    """What a reader sees in the headings and tables of Markdown; anything but text would be a tag, and fails."""
    html = MarkdownIt("commonmark").enable("table").render(text)
    found = re.findall(r"<(h2|h3|strong|th|td)>(.*?)</\1>", html)
    assert not [inside for _, inside in found if "<" in inside]
    return [unescape(inside).replace(unescape(MENTION), "@") for _, inside in found]


@CASES
def test_markdown_gives_the_text_back(text: str, seen: str) -> None:
    ran = ["What ran", "", "", "Shape", seen, "FRR", seen, "Kernel", seen, "VRFs", f"as {seen}"]
    head, rows = ["", "scenario", "name", "gap", "found"], ["FAIL", seen, seen, "inf s", seen, "skip", seen, "–", "–", seen]
    faults = ["Faults", seen, "device", "fault", seen, seen]
    limits = ["Not emulated", "what", "why", "checks that look at it instead", seen, seen, seen]
    assert cells(report("markdown", foreign(text))) == [
        f"Lab test of site {seen}",
        *(*ran, "Scenarios", *head, *rows, *faults, *limits),
    ]


def test_each_failed_result_is_a_rule_and_its_faults_are_results() -> None:
    (run,) = json.loads(report("sarif", OUTCOMES["failures"]))["runs"]
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert {id: rules[id] for id in ("sessions", "spine-dead")} == {
        "sessions": "Expected: BGP sessions as planned",
        "spine-dead": "Expected: spine dead as planned",
    }
    assert [result["ruleId"] for result in run["results"]] == ["sessions", "sessions", "spine-dead"]


def test_what_is_not_emulated_is_looked_at_by_checks_that_exist() -> None:
    known = ids("design", "files", "batfish", "servers")
    for limit in NOT_EMULATED:
        assert limit.covered_by, limit.what
        assert set(limit.covered_by) <= known, limit.what
        assert list(limit.covered_by) == sorted(set(limit.covered_by)), limit.what


def test_what_is_not_emulated_says_why() -> None:
    assert len({limit.what for limit in NOT_EMULATED}) == len(NOT_EMULATED)
    assert all(limit.why.endswith(".") for limit in NOT_EMULATED)
