"""Braces that are not where the indentation shows them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabric.audit.checks.files.braces import misplaced
from tests.audit.checks.files.helpers import SMALL, Case

PORT = "    et-0/0/{n} {{\n        mtu 9216;\n        unit 0 {{\n            family inet;\n        }}\n    }}\n"
HEAD = "system {\n    host-name r1;\n}\ninterfaces {\n"
TEXT = HEAD + "".join(PORT.format(n=n) for n in range(8)) + "}\n"
LINES = TEXT.splitlines(keepends=True)


def swapped(at: int) -> str:
    """The text with a line (from 1) and the next one swapped."""
    return "".join([*LINES[: at - 1], LINES[at], LINES[at - 1], *LINES[at + 1 :]])


CASES: Mapping[tuple[str, str], Case] = {
    ("FAB2517", "small"): (SMALL, []),
    ("FAB2517", "as it is printed"): ({"r1.junos": TEXT}, []),
    ("FAB2517", "a port inside another"): (
        {"r1.junos": swapped(10)},
        ["r1.junos:10: warning[FAB2517]: r1: the line is indented as inside 1 block, but it is inside 2 blocks; 1 more line"],
    ),
    ("FAB2517", "a statement inside a unit"): (
        {"r1.junos": swapped(6)},
        ["r1.junos:7: warning[FAB2517]: r1: the line is indented as inside 2 blocks, but it is inside 3 blocks"],
    ),
}

NO_HABIT = {
    "every line at the margin": "\n".join(line.strip() for line in LINES),
    "few lines": "".join(LINES[:10]) + "}\n",
    "JSON": '{\n "a": {\n    "b": 1\n }\n}\n' * 8,
    "set lines": "".join(f"set interfaces et-0/0/{n} mtu 9216\n" for n in range(40)),
    "braces in text and comments": HEAD + '    /* { */\n    description "}";\n    # {\n' + TEXT.partition(HEAD)[2],
}


@pytest.mark.parametrize("case", NO_HABIT)
def test_files_without_a_habit_are_not_judged(case: str) -> None:
    assert misplaced(NO_HABIT[case]) == []


@pytest.mark.parametrize("at", [line for line in range(4, len(LINES)) if LINES[line - 1].strip() != LINES[line].strip()])
def test_every_pair_of_lines_is_seen_that_changes_the_nesting(at: int) -> None:
    depth = [line.count("{") - line.count("}") for line in (LINES[at - 1], LINES[at])]
    assert bool(misplaced(swapped(at))) == (depth != [0, 0])
