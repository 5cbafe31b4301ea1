"""The doctor on closed threads: each record is whole, and the rates of the page are those of the data."""

from __future__ import annotations

import re

from fabric.formats import yaml
from fabric.solver.doctor.causes import causes
from tests import ROOT
from tools.doctor_threads import DATA, answers, lines

PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
ENTRIES = yaml.read(DATA)


def test_every_record_names_a_thread_and_a_cause_and_no_rule_cites_an_odd_one() -> None:
    names = {cause.name for cause in causes()}
    sources = " ".join(f"{cause.source} {cause.confirm}" for cause in causes())
    for entry in ENTRIES:
        owner, number = re.fullmatch(r"(\w+/[\w-]+)#(\d+)", entry["thread"]).groups()
        assert owner
        assert entry["cause"] in names
        assert all(run["bytes"] > 0 and run["busbw_GBps"] > 0 for run in entry["runs"])
        if int(number) % 2:
            assert entry["thread"] not in sources


def test_the_page_shows_what_the_threads_give() -> None:
    assert "\n".join(lines(answers(ENTRIES))) in PAGE
