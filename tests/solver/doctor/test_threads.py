"""The doctor on closed threads: each record is whole, and the rates of the page are those of the data."""

from __future__ import annotations

import re

import numpy as np

from fabric.base.formats import yaml
from fabric.solver.doctor.causes import causes
from tests import ROOT, samples
from tools.doctor_threads import DATA, LAST, Answer, answers, lines

PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
ENTRIES = yaml.read(DATA)


def test_every_record_names_a_thread_and_a_cause_and_counts_unless_it_was_made() -> None:
    names = {cause.name for cause in causes()}
    counted = [(cause.name, thread) for cause in causes() for thread in cause.seen]
    for entry in ENTRIES:
        assert re.fullmatch(r"[\w-]+/[\w-]+#\d+|[\w-]+(\.[\w-]+)+(/[\w.-]+)+", entry["thread"])
        assert entry["cause"] in names | {"unknown"}
        assert entry.get("state", "closed") in ("closed", "open")
        for run in entry["runs"]:
            (value,) = {"busbw_GBps", "time_us", "slower"} & set(run)
            assert set(run) <= {"collective", "bytes", "where", value}
            assert np.all(np.array(run["bytes"]) > 0)
            assert np.all(np.array(run[value]) > 0)
        assert entry.get("made", False) != ((entry["cause"], entry["thread"]) in counted)
    cases = [(entry["thread"], entry.get("case")) for entry in ENTRIES]
    assert len(set(cases)) == len(cases)
    assert len(set(counted)) == len(counted)


def test_the_chance_of_so_many_is_that_of_independent_trials() -> None:
    half = [Answer(f"a/b#{number}", "socket", (), possible=6) for number in range(3)]
    assert lines(half)[-1].endswith(
        "first three 0 of 3, or shown by the first test 0; priors alone 0; chance 50.0 %, so many by chance 100.0 %"
    )
    right = [Answer(f"a/b#{number}", "socket", ("pxn", "socket"), possible=6, usual=("socket",)) for number in (1, 3, 5)]
    assert lines(right)[-1].endswith(
        "first three 3 of 3, or shown by the first test 3; priors alone 3; chance 50.0 %, so many by chance 12.5 %"
    )


def test_odd_numbers_of_the_last_batch_judge() -> None:
    of = [(1, LAST, True), (2, LAST, False), (1, LAST - 1, False)]
    assert [Answer(f"a/b#{number}", "socket", (), 6, batch=batch).judged for number, batch, _ in of] == [
        one for *_, one in of
    ]


def test_the_page_shows_what_the_threads_give(whole: bool) -> None:
    found = answers(samples.some(ENTRIES, 12, whole))
    if len(found) == len(ENTRIES):
        assert "\n".join(lines(found)) in PAGE
    else:
        rows = {" ".join(row.split()) for row in PAGE.splitlines()}
        assert {" ".join(row.split()) for row in lines(found)[: len(found)]} <= rows
