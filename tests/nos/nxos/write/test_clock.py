"""Time zones as NX-OS states them."""

from __future__ import annotations

import pytest

from fabric.nos.nxos.write.clock import clock, zones


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", ("clock timezone UTC 0 0",)),
        ("Europe/Berlin", ("clock timezone CET 1 0", "clock summer-time CEST 5 Sun Mar 02:00 5 Sun Oct 03:00 60")),
        ("Europe/London", ("clock timezone GMT 0 0", "clock summer-time BST 5 Sun Mar 01:00 5 Sun Oct 02:00 60")),
        ("Europe/Dublin", ("clock timezone GMT 0 0", "clock summer-time IST 5 Sun Mar 01:00 5 Sun Oct 02:00 60")),
        ("America/New_York", ("clock timezone EST -5 0", "clock summer-time EDT 2 Sun Mar 02:00 1 Sun Nov 02:00 60")),
        ("America/St_Johns", ("clock timezone NST -3 30", "clock summer-time NDT 2 Sun Mar 02:00 1 Sun Nov 02:00 60")),
        ("Australia/Sydney", ("clock timezone AEST 10 0", "clock summer-time AEDT 1 Sun Oct 02:00 1 Sun Apr 03:00 60")),
        ("America/Argentina/Buenos_Aires", ("clock timezone UTC-03 -3 0",)),
        ("Asia/Kolkata", ("clock timezone IST 5 30",)),
        ("Etc/GMT-5", ("clock timezone UTC+05 5 0",)),
        ("Nowhere/Atoll", ("clock timezone UTC 0 0",)),
    ],
)
def test_a_zone_is_an_offset_and_a_rule(zone: str, expected: tuple[str, ...]) -> None:
    assert clock(zone) == expected


def test_summer_time_without_a_rule_is_left_out() -> None:
    assert clock("Africa/Casablanca")[1:] == ()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Etc/GMT-5"])
def test_statements_lead_back_to_zones_that_have_them(zone: str) -> None:
    found = zones({"startup-config": "hostname a\n" + "\n".join(clock(zone)) + "\n"})
    assert zone in found
    assert {clock(one) for one in found} == {clock(zone)}


@pytest.mark.parametrize("text", ["hostname a\n", "clock timezone UTC 0 0\n", "clock timezone XYZ 3 0\n"])
def test_other_statements_lead_to_none(text: str) -> None:
    assert zones({"startup-config": text}) == ()
