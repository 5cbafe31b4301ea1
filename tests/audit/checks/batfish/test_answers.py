"""What the checks make of a real server's answers, recorded about the small site and about damaged copies of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks import Finding, of_subject
from fabric.audit.checks.batfish import judge
from tests.audit.checks.batfish.helpers import Recorded, Site, recorded, small
from tests.audit.checks.batfish.record import FILTER, SNAPSHOTS, damaged


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return small(tmp_path_factory.mktemp("small"))


def reported(findings: list[Finding]) -> list[tuple[str, str, int, str]]:
    return [(finding.id, finding.device, finding.line, finding.message) for finding in findings]


def findings_of(site: Site, name: str) -> list[Finding]:
    findings, _, _ = judge(damaged(site, SNAPSHOTS[name]).snapshot(), recorded(name))
    return findings


def test_a_clean_site_has_no_findings(site: Site) -> None:
    assert findings_of(site, "clean") == []


NARROW = "of this switch, got 1 (1 more route differs), on 1 leaf: "


def test_wrong_lines(site: Site) -> None:
    """A remote AS, a policy that is not there, a typing error, and a loopback that another switch has."""
    assert reported(findings_of(site, "lines")) == [
        *(
            ("FAB302", "backend-spine001", 334, "Parse warning: This syntax is unrecognized: update weight-install"),
            ("FAB303", "backend-leaf002", 437, "route-map RM-NOWHERE is used (bgp inbound route-map), but not defined"),
            ("FAB304", "backend-spine001", 293, "Loopback0: 10.0.0.1 is also the address of backend-spine002 Loopback0"),
            ("FAB304", "backend-spine002", 293, "Loopback0: 10.0.0.1 is also the address of backend-spine001 Loopback0"),
        ),
        (
            *("FAB305", "backend-leaf001", 439),
            "session with backend-spine002 (10.64.0.3): not compatible; remote AS: expected 4200000000, got 65001",
        ),
        *(
            ("FAB305", "backend-leaf001", 445, "session with backend-spine002 (10.0.0.2): not compatible"),
            ("FAB305", "backend-leaf002", 457, "session with backend-spine002 (10.0.0.2): not compatible"),
            ("FAB305", "backend-spine002", 354, "session with backend-leaf001 (10.64.0.2): not compatible"),
            ("FAB305", "backend-spine002", 360, "session with backend-leaf001 (10.0.0.3): not established"),
            ("FAB305", "backend-spine002", 363, "session with backend-leaf002 (10.0.0.4): not established"),
            ("FAB306", "backend-leaf001", 414, f"expected 2 next hops to 10.0.0.3/32 {NARROW}backend-leaf002"),
            ("FAB306", "backend-leaf002", 426, f"expected 2 next hops to 10.0.0.4/32 {NARROW}backend-leaf001"),
            (
                "FAB306",
                "backend-spine002",
                331,
                "no route to 10.0.0.2/32 of this switch, on 2 leaves: backend-leaf001, backend-leaf002",
            ),
        ),
        (
            *("FAB308", "backend-spine001", 331),
            "without this spine, 10.0.0.3 on backend-leaf001 does not reach 10.0.0.4; packets from 7 "
            "other interfaces are lost too",
        ),
    ]


def test_wrong_ways(site: Site) -> None:
    """A link that is shut, static routes that point at each other, and a server's port in the table of another tenant."""
    assert reported(findings_of(site, "ways")) == [
        ("FAB305", "backend-leaf001", 440, "session with backend-spine002 (10.64.0.3): not compatible"),
        ("FAB305", "backend-leaf001", 446, "session with backend-spine002 (10.0.0.2): not established"),
        ("FAB305", "backend-spine002", 354, "session with backend-leaf001 (10.64.0.2): not compatible"),
        ("FAB305", "backend-spine002", 360, "session with backend-leaf001 (10.0.0.3): not established"),
        ("FAB306", "backend-leaf001", 415, f"expected 2 next hops to 10.0.0.3/32 {NARROW}backend-leaf002"),
        ("FAB306", "backend-leaf001", 415, "no route to 10.0.0.2/32 of backend-spine002 (2 more routes differ)"),
        ("FAB307", "backend-leaf001", 150, "a server of 'red' on Ethernet1/1 reaches 10.128.0.132 of 'blue'"),
        ("FAB307", "backend-leaf002", 154, "a server of 'red' on Ethernet1/1 reaches 10.128.0.132 of 'blue'"),
        ("FAB307", "backend-leaf002", 174, "a server of 'blue' on Ethernet2/1 reaches 10.128.0.0 of 'red'"),
        (  # the spine that is taken down is innocent: this leaf does not use the other one
            *("FAB308", "backend-leaf001", 415),
            "without backend-spine001, 10.0.0.3 on backend-leaf001 does not reach 10.0.0.4; packets from 8 "
            "other interfaces are lost too",
        ),
        (
            *("FAB309", "backend-leaf001", 415),
            "forwarding loop for packets from 10.0.0.3 to 198.51.100.0: backend-leaf001 → backend-spine001 → backend-leaf001",
        ),
        ("FAB312", "backend-leaf001", 457, "VRF red: routes to 10.128.0.132/31 of 'blue'"),
    ]


def test_a_leaf_that_announces_nothing_of_a_tenant(site: Site) -> None:
    """The leaves that lack its routes are innocent; the finding is on the tenant's block in its BGP."""
    message = "VRF red: no route to 10.128.0.128/31 of this switch (1 more route differs), on 1 leaf: backend-leaf001"
    assert reported(findings_of(site, "origin")) == [("FAB306", "backend-leaf002", 468, message)]


def test_a_filter_that_denies_its_own_tenant(tmp_path: Path) -> None:
    site, line = small(tmp_path, design="acl").damaged(*FILTER)
    findings, _, _ = judge(site.snapshot(), recorded("filter"))
    (one,) = findings
    assert (one.id, one.device, one.line) == ("FAB310", "backend-leaf001", line - 1)
    assert one.message == (
        "10.128.0.1 of 'red' on backend-leaf001 Ethernet1/1 does not reach 10.128.0.1: backend-leaf001 "
        "drops the packet (denied in); also from 3 other interfaces"
    )


def question(answers: Recorded, start: str) -> str:
    """The recorded question that begins so."""
    return next(name for name in answers.rows if name.startswith(start))


def test_where_no_packet_crosses_the_fabric_nothing_is_passed(site: Site) -> None:
    """No loss, no leak and no loop among no packets."""
    answers = recorded("clean")
    answers.rows[question(answers, "reachability /^(backend-leaf001|backend-leaf002)$/[@connectedTo(10.0.0.")] = []
    findings, _, _ = judge(site.snapshot(), answers)
    message = "no packet from any leaf arrives at another leaf, for example from 10.0.0.3 to 10.0.0.4 on backend-leaf002"
    assert reported(findings) == [("FAB311", "backend-leaf001", 414, message)]


FOREIGN = {  # table and prefix of a route that leaf001 has besides its own, and the finding
    "a subnet": ("red", "10.128.0.132/31", "VRF red: routes to 10.128.0.132/31 of 'blue'"),
    "a host": ("red", "10.128.0.134/32", "VRF red: routes to 10.128.0.134/32 of 'blue'"),
    "in the default table": ("default", "10.128.0.132/31", "default table: routes to 10.128.0.132/31 of 'blue'"),
    "a larger prefix": ("red", "10.0.0.0/8", ""),
    "its own": ("red", "10.128.0.128/31", ""),
    "a table without a tenant": ("green", "10.128.0.132/31", ""),
}


@pytest.mark.parametrize(("table", "prefix", "message"), FOREIGN.values(), ids=FOREIGN.keys())
def test_routes_to_another_tenant(site: Site, table: str, prefix: str, message: str) -> None:
    answers = recorded("clean")
    row = {"Node": {"name": "backend-leaf001"}, "VRF": table, "Network": prefix}
    answers.rows["routes backend-leaf001 backend-leaf002"].append(row)
    found = [(one.device, one.message) for one in judge(site.snapshot(), answers)[0] if one.id == "FAB312"]
    assert found == ([("backend-leaf001", message)] if message else [])


def test_a_packet_that_stays_on_its_leaf_crosses_nothing(site: Site) -> None:
    answers = recorded("clean")
    for row in answers.rows[question(answers, "reachability /^(backend-leaf001|backend-leaf002)$/[@connectedTo(10.0.0.")]:
        row["Traces"][0]["hops"] = row["Traces"][0]["hops"][:1]
    assert [finding.id for finding in judge(site.snapshot(), answers)[0]] == ["FAB311"]


def test_findings_name_the_file_and_say_how_to_fix(site: Site) -> None:
    first = findings_of(site, "lines")[0]
    assert first.file == "configs/backend-spine001/startup-config"
    assert first.severity == "error"
    assert first.hint == (
        "correct the line, or suppress FAB302 with a reason if the line is valid and Batfish does not support it"
    )


FORMATS = {
    "a wrong guess": ({"File_Format": "CISCO_IOS"}, "file format: expected ARISTA, got CISCO_IOS"),
    "no guess": ({"File_Format": "UNKNOWN"}, "file format: expected ARISTA, got UNKNOWN"),
    "not read": ({"Status": "FAILED"}, "Batfish cannot parse this file: failed"),
    "not there": ({"File_Name": "configs/other.cfg"}, "Batfish reports no format for this file; expected ARISTA"),
}


@pytest.mark.parametrize(("change", "message"), FORMATS.values(), ids=FORMATS.keys())
def test_formats(site: Site, change: dict[str, str], message: str) -> None:
    """A file that is taken for another format says PASSED all the same."""
    answers = recorded("clean")
    answers.rows["file_status"][0] |= {"Status": "PASSED"} | change
    findings, _, _ = judge(site.snapshot(), answers)
    assert reported(findings) == [("FAB301", "backend-leaf001", 0, message)]


def test_a_file_that_batfish_could_not_convert(site: Site) -> None:
    answers = recorded("clean")
    issue = {"Nodes": ["backend-leaf002"], "Source_Lines": None, "Type": "Convert error", "Line_Text": None}
    answers.rows["init_issues"].append(issue | {"Details": "java.lang.NullPointerException: no VRF\n\tat org.batfish"})
    findings, _, _ = judge(site.snapshot(), answers)
    assert reported(findings) == [("FAB302", "backend-leaf002", 0, "Convert error: java.lang.NullPointerException: no VRF")]


def test_a_session_that_no_one_planned(site: Site) -> None:
    answers = recorded("clean")
    row = next(row for row in answers.rows["sessions"] if row["Node"]["name"] == "backend-leaf001")
    answers.rows["sessions"].append(row | {"Remote_IP": {"value": "192.0.2.1"}, "VRF": "red"})
    findings, _, _ = judge(site.snapshot(), answers)
    assert reported(findings) == [("FAB305", "backend-leaf001", 0, "VRF red: unplanned session with 192.0.2.1")]


def test_a_session_that_is_not_there(site: Site) -> None:
    answers = recorded("clean")
    answers.rows["sessions"] = [
        row
        for row in answers.rows["sessions"]
        if (row["Node"]["name"], row["Remote_IP"]["value"]) != ("backend-leaf001", "10.64.0.1")
    ]
    findings, _, _ = judge(site.snapshot(), answers)
    assert reported(findings) == [
        ("FAB305", "backend-leaf001", 436, "session with backend-spine001 (10.64.0.1): not configured")
    ]


def test_too_many_next_hops_are_reported(site: Site) -> None:
    answers = recorded("clean")
    question = next(name for name in answers.rows if name.startswith("routes"))
    row = next(row for row in answers.rows[question] if row["Network"] == "10.0.0.1/32" and row["VRF"] == "default")
    answers.rows[question].append(row)
    findings, _, _ = judge(site.snapshot(), answers)
    message = "expected 1 next hop to 10.0.0.1/32 of backend-spine001, got 2"
    assert [(finding.id, finding.message) for finding in findings] == [("FAB306", message)]


def test_gateways_and_loopbacks_of_linux_may_be_shared(site: Site) -> None:
    answers = recorded("clean")
    owner = {"VRF": "mgmt", "Interface": "mgmt", "IP": "127.0.0.1", "Mask": 8, "Active": True}
    answers.rows["owners"] = [owner | {"Node": {"name": name}} for name in ("backend-leaf001", "backend-leaf002")]
    assert judge(site.snapshot(), answers)[0] == []


def test_an_answer_of_another_shape_is_a_finding(site: Site) -> None:
    answers = recorded("clean")
    for row in answers.rows["file_status"]:
        row.pop("File_Format")
    findings, _, _ = judge(site.snapshot(), answers)
    assert reported(findings) == [("FAB301", "", 0, "unsupported Batfish version: no column 'File_Format' in its answer")]


def test_no_answer_is_a_finding(site: Site) -> None:
    """A question that fails must not look like one that found nothing."""
    findings, _, _ = judge(site.snapshot(), Recorded())
    asked = [check.id for check in of_subject("batfish") if check.of_plans]  # type: ignore[attr-defined]
    assert [finding.id for finding in findings] == asked
    assert findings[0].message == "no answer from Batfish: not recorded: file_status"
    assert findings[0].severity == "error"
