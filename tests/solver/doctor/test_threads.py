"""The doctor on closed threads: each record is whole, and the rates of the page are those of the data."""

from __future__ import annotations

import re

from fabric.formats import yaml
from fabric.solver.doctor.causes import causes
from tests import ROOT
from tools.doctor_threads import DATA, Answer, answers, is_odd, lines

PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
ENTRIES = yaml.read(DATA)


def test_every_record_names_a_thread_and_a_cause_and_no_rule_cites_an_odd_one() -> None:
    names = {cause.name for cause in causes()}
    sources = " ".join(f"{cause.source} {cause.confirm}" for cause in causes())
    for entry in ENTRIES:
        assert re.fullmatch(r"[\w-]+/[\w-]+#\d+|[\w-]+(\.[\w-]+)+(/[\w.-]+)+", entry["thread"])
        assert entry["cause"] in names | {"unknown"}
        assert entry.get("state", "closed") in ("closed", "open")
        for run in entry["runs"]:
            (value,) = {"busbw_GBps", "time_us", "slower"} & set(run)
            assert run["bytes"] > 0
            assert run[value] > 0
        assert not any(entry["thread"] in cause.seen for cause in causes())
        if is_odd(entry["thread"]):
            assert entry["thread"] not in sources
    assert len({entry["thread"] for entry in ENTRIES}) == len(ENTRIES)
    counted = [thread for cause in causes() for thread in cause.seen]
    assert len(set(counted)) == len(counted)


def test_the_chance_of_so_many_is_that_of_independent_trials() -> None:
    half = [Answer(f"a/b#{number}", "socket", (), possible=6) for number in range(3)]
    assert lines(half)[-1].endswith("right among the first three 0 of 2; chance 50.0 %, so many by chance 100.0 %")
    right = [Answer(f"a/b#{number}", "socket", ("pxn", "socket"), possible=6) for number in (1, 3, 5)]
    assert lines(right)[-1].endswith("right among the first three 3 of 3; chance 50.0 %, so many by chance 12.5 %")


def test_the_page_shows_what_the_threads_give() -> None:
    assert "\n".join(lines(answers(ENTRIES))) in PAGE
