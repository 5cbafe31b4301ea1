"""All checks of files together: each is broken by a case and passed by another, and sound networks are left in peace."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.audit.checks import FilesCheck, of_subject
from fabric.audit.checks.base import checks
from fabric.audit.checks.run import check_folder
from fabric.nos.reading import scan
from tests.audit.checks import test_device as test_check_device
from tests.audit.checks.cases import cases
from tests.audit.checks.files.helpers import SMALL, Case, all_say, in_full, says
from tests.examples import SITES, folder

CASES: Mapping[tuple[str, str], Case] = cases(__package__)

# Tested where whole folders and sites are: files that no reader is for, of an older intent, edited, half-written, of
# subnet managers.
ELSEWHERE = {
    "FAB289",
    "FAB2506",
    "FAB2508",
    "FAB2509",
    "FAB2510",
    "FAB2511",
    "FAB2565",
    "FAB2566",
    "FAB2567",
    "FAB2568",
    "FAB291",
    "FAB293",
    "FAB295",
    "FAB297",
    "FAB298",
}
# What a check has to say of files that are generated: their other ends are outside, a design may go without some things.
OPEN = {"FAB256": "note", "FAB276": "warning", "FAB283": "note"}


def of_plan() -> set[str]:
    """Checks that a difference from a plan breaks; unchanged files pass all of them."""
    return {id_ for _, _, found in test_check_device.CASES.values() for id_, _, _ in found}


def test_every_check_is_broken_by_a_case() -> None:
    broken = {id_ for (id_, _), (_, heads) in CASES.items() if heads}
    assert [check.id for check in of_subject("files")] == sorted(broken | of_plan() | ELSEWHERE)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_case(case: tuple[str, str]) -> None:
    files, heads = CASES[case]
    assert says(case[0], files) == in_full(case[0], heads)


def test_every_check_without_a_plan_is_passed_by_a_case() -> None:
    broken = {id_ for (id_, _), (_, heads) in CASES.items() if heads}
    passed = {id_ for (id_, _), (_, heads) in CASES.items() if not heads}
    assert sorted(broken - passed) == []


def test_every_check_with_kinds_is_broken_by_a_changed_file() -> None:
    assert sorted(check.id for check in checks(FilesCheck) if check.kinds and check.id not in of_plan()) == []


def test_ids_are_in_order_and_explained() -> None:
    ids = [check.id for check in of_subject("files")]
    assert ids == sorted(set(ids))
    assert all(len(check.why()) > 50 and not check.title.endswith(".") for check in of_subject("files"))


def test_a_small_sound_network_is_left_in_peace() -> None:
    assert [str(finding) for finding in all_say(SMALL)] == []


@pytest.mark.parametrize("site", SITES)
def test_generated_configs_are_left_in_peace(site: str) -> None:
    """Without their plan, by what they say to each other."""
    found = check_folder(scan(folder(site))).findings
    odd = [finding for finding in found if OPEN.get(finding.id) != finding.severity]
    assert [str(finding) for finding in odd] == []
