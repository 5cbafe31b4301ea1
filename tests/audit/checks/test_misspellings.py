"""A misspelled word is one finding, with the worst of what follows from it; findings of other causes stay."""

from __future__ import annotations

import pytest

from fabric.audit.checks.run import check_network
from tests.audit.checks.files.helpers import Files, but, network
from tests.audit.checks.files.test_outliers import FRR

LEAVES = {f"leaf{n}.frr/frr.conf": FRR.format(n=n) for n in range(1, 8)}
SLIP = {"ip prefix-list PL-OWN": "ip prefix-lst PL-OWN"}
DEFINED = (
    "error FAB2510 3 `prefix-lst`: 6 similar statements have `prefix-list`; so prefix-list PL-OWN is used, but not defined"
)
TIMERS = "blue\n neighbor FABRIC peer-group\n {} FABRIC timers"

# (old → new in frr.conf of leaf2) → its errors and warnings beyond those of the intact files.
SLIPS = {
    "a definition that another line uses": (SLIP, [DEFINED]),
    "nothing but the statement": (
        {TIMERS.format("neighbor"): TIMERS.format("neighbr")},
        ["warning FAB2510 25 `neighbr`: 13 similar statements have `neighbor`"],
    ),
    "a fault beside it": (
        {**SLIP, "neighbor 10.0.2.1 remote-as 65100": "neighbor 10.0.2.1 password x"},
        [
            DEFINED,
            "error FAB2533 7 `neighbor 10.0.2.1 password`: no line above it makes the neighbor, so FRR drops it",
            "error FAB255 8 neighbor 10.0.2.1: no remote AS number",
        ],
    ),
}


@pytest.mark.parametrize("case", SLIPS)
def test_one_finding_for_one_word(case: str) -> None:
    changes, expected = SLIPS[case]
    intact = lines(LEAVES)
    found = lines(but(LEAVES, {"leaf2.frr/frr.conf": changes}))
    assert [one for one in found if one not in intact] == expected


def lines(files: Files) -> list[str]:
    found, _ = check_network(network(files))
    rows = sorted((one for one in found if one.device == "leaf2" and one.severity != "note"), key=lambda one: one.line)
    return [f"{one.severity} {one.id} {one.line} {one.message}" for one in rows]


def test_two_devices_of_one_host_name() -> None:
    """Each is corrected in its own files."""
    twin = {"twin.frr/frr.conf": FRR.format(n=9).replace("hostname leaf9", "hostname leaf2")}
    assert DEFINED.replace("6 similar", "7 similar") in lines({**but(LEAVES, {"leaf2.frr/frr.conf": SLIP}), **twin})
