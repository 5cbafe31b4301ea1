"""A few cases of every kind in each run of the suite; `make fuzz` runs as many as one likes.

FUZZ_SEED chooses other cases, FUZZ_CASES more of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

pytest.importorskip("resource")

from tests.fuzz.case import Case, Outcome
from tests.fuzz.guard import CPU_S, PEAK_MB, Guard
from tests.fuzz.kinds import KINDS, choose

FAR_S = 60 * CPU_S  # ends what hangs; `make fuzz` has the limit that is meant
SEED = int(os.environ.get("FUZZ_SEED", "1"))
SHARE = {"plan": 40, "options": 24, "prices": 8, "steps": 8, "locks": 8, "configs": 6, "tables": 5, "commands": 5, "lldp": 3}


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    with Guard(FAR_S) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_no_case_fails(kind: str, guard: Guard) -> None:
    """Exit code 0 to 3, no internal error, little time and memory."""
    failures = []
    for number in range(int(os.environ.get("FUZZ_CASES", SHARE.get(kind, 1)))):
        case = choose(kind, SEED, number)
        if why := guard.run(case).failure(FAR_S, PEAK_MB):
            failures.append(
                f"{why}: {case.command}   python -m tests.fuzz --kind {kind} --seed {SEED} --first {number} --cases 1"
            )
    lines = "\n".join(failures).encode("utf-8", "backslashreplace").decode()  # names of files may be no text
    assert not failures, lines


def test_a_case_is_the_same_every_time() -> None:
    for kind in KINDS:
        assert choose(kind, 7, 3) == choose(kind, 7, 3)
        assert choose(kind, 7, 3) != choose(kind, 8, 3) or choose(kind, 7, 4) != choose(kind, 8, 4)


def test_what_counts_as_a_failure() -> None:
    good = Outcome(2, 1, 100, "", "x.yaml: error[FAB001]: no")
    assert good.failure(10, 1000) == ""
    assert Outcome(2, 1, 100, "", "").failure(10, 1000) == "exit code 2 without a word"
    assert Outcome(70, 1, 100, "", "x").failure(10, 1000) == "exit code 70"
    assert Outcome(2, 1, 100, "", "fabric: internal error: x").failure(10, 1000) == "internal error"
    assert Outcome(0, 11, 100, "", "").failure(10, 1000) == "11.0 s CPU"
    assert Outcome(0, 1, 1100, "", "").failure(10, 1000) == "1100 MB"
    assert Outcome(None, 1, 0, "", "").failure(10, 1000).startswith("killed")


@pytest.mark.slow
def test_the_guard_ends_what_takes_too_long() -> None:
    """The next case runs in a process that is started again."""
    quick = Case("plan", 0, ("plan", "x.yaml"), {"x.yaml": b"version: 1\nsite: fz\nfabrics: {}\n"})
    with Guard(3.0) as guard:  # CPU seconds: the first wrong intent of a process makes the schema for its hint
        slow = Case("plan", 0, ("explore", "x.yaml", "--jobs", "1", "--gpus", "8192"), {"x.yaml": LARGE})
        assert guard.run(slow).code is None
        assert guard.run(quick).code == 2


LARGE = b"""
version: 1
site: fz
fabrics:
  backend:
    servers: {model: dgx-h100, count: 1024}
    topology: {switch: sn5600}
"""
