"""Workflow commands, read back the way GitHub's runner reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks import Finding, Read, Verdict
from fabric.audit.checks.reports import report


def test_commands_come_worst_first_with_places_that_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = Verdict.of(
        [
            Finding(id="FAB130", severity="note", device="", file="a.yaml", line=0, message="whole file", column=3),
            Finding(
                id="FAB187", severity="warning", device="", file="a.yaml", line=2, message="50% of ports, shut", column=5
            ),
            Finding(
                id="FAB102",
                severity="error",
                device="leaf1",
                file=str(tmp_path / "b" / "c.conf"),
                line=9,
                message="wrong",
                hint="right: x",
            ),
            Finding(id="FAB103", severity="error", device="", file="", line=0, message="nowhere"),
        ],
        [Read(what="site", devices=2)],
        ["FAB102"],
    )
    assert report("github", verdict) == (
        "::error title=FAB103 expected%3A The intent matches the schema::nowhere\n"
        "::error file=b/c.conf,line=9,title=FAB102 expected%3A The intent matches the schema::"
        "leaf1: wrong%0Ahint: right: x\n"
        "::warning file=a.yaml,line=2,col=5,title=FAB187 expected%3A The plan has no warnings::50%25 of ports, shut\n"
        "::notice file=a.yaml,title=FAB130 expected%3A The intent can be planned::whole file\n"
        "2 errors, 1 warning, 1 note in 2 devices; 1 check applied\n"
    )


@pytest.mark.parametrize(("number", "more"), [(10, ""), (11, "; GitHub shows 10 annotations of a kind, all are in this log")])
def test_the_last_line_says_what_github_drops(number: int, more: str) -> None:
    verdict = Verdict.of(
        [Finding(id="FAB102", severity="error", device="", file="a.yaml", line=line, message="m") for line in range(number)]
    )
    lines = report("github", verdict).splitlines()
    assert len(lines) == number + 1
    assert lines[-1] == f"{number} errors; no check was applied{more}"
