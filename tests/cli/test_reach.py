"""`--reach` of `step`, `goodput` and `explore`: what the found value gives is what the command says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_estimate import SITE, STEP

CHECKPOINT = "checkpoint: {write_GBps: 2}\nfailures: {detection_s: 300, restart_s: 600}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "job.yaml").write_text(STEP + CHECKPOINT)
    return tmp_path


def test_the_least_storage_bandwidth_of_a_useful_share(run: Run, folder: Path) -> None:
    command = ("goodput", "site.yaml", "--job", "job.yaml", "--json")
    found = json.loads(run(*command, "--vary", "checkpoint.write_GBps=1..64", "--reach", "useful=0.99").out)
    value = found["found"]["value"]
    assert found["next"]["value"] == value - 1
    assert found["next"]["got"] < 0.99 <= found["found"]["got"]
    assert found["tried"] <= 8
    rows = json.loads(run(*command, "--vary", f"checkpoint.write_GBps={value - 1},{value}").out)["variants"]
    assert [row["values"] for row in rows] == [[value], [value - 1]]
    assert [row["useful"] for row in rows] == [found["found"]["got"], found["next"]["got"]]
    (folder / "job.yaml").write_text(STEP + CHECKPOINT.replace("write_GBps: 2", f"write_GBps: {value}"))
    assert json.loads(run(*command).out)["useful"]["value"] == found["found"]["got"]


def test_the_largest_restart_time(run: Run, folder: Path) -> None:
    command = (
        "goodput",
        "site.yaml",
        "--job",
        "job.yaml",
        "--vary",
        "failures.restart_s=0..100000/100",
        "--reach",
        "useful=0.98",
    )
    assert "is the largest of " in run(*command).out


def test_variants_that_are_not_possible(run: Run, folder: Path) -> None:
    command = ("goodput", "site.yaml", "--job", "job.yaml", "--vary", "parallel.tensor=8,3", "--json")
    rows = json.loads(run(*command).out)["variants"]
    assert [row["values"] for row in rows] == [[8], [3]]
    assert "expected a multiple of tensor" in rows[1]["reason"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("step", "--job", "job.yaml", "--reach", "step=3"), "--reach: error[FAB102]: expected one --vary beside it, got 0"),
        (("goodput", "--job", "job.yaml", "--reach", "step=3"), "expected one of useful, tokens-per-day, got 'step'"),
        (("explore", "--reach", "bandwidth=3"), "expected one of busbw, alltoall-busbw, useful,"),
        (("goodput", "--job", "job.yaml", "--vary", "checkpoint.speed=3,4"), "got 'checkpoint.speed'"),
        (
            ("step", "--job", "job.yaml", "--vary", "batch.micro_batches=1..999999"),
            "expected at most 20,000 variants, got 999,999",
        ),
    ],
)
def test_mistakes(run: Run, folder: Path, command: tuple[str, ...], message: str) -> None:
    result = run(command[0], "site.yaml", *command[1:])
    assert result.code == 2
    assert message in result.err


def test_designs_that_reach_a_goal(run: Run, folder: Path) -> None:
    """The front is that of the designs which reach it; all others are in the files."""
    command = (
        "explore",
        "site.yaml",
        "--vary",
        "oversubscription=1,2,4",
        "--collective",
        "alltoall",
        "--placement",
        "spread",
    )
    rows = json.loads(run(*command, "--json").out)["designs"]
    best = max(row["busbw_GBps"] for row in rows)
    found = json.loads(run(*command, "--reach", f"busbw={best - 1e-6}", "--json").out)  # the document has ten digits
    assert found["designs"] == rows
    assert [rows[at]["busbw_GBps"] for at in found["front"]] == [best]
    text = run(*command, "--reach", f"busbw={2 * best}").out
    assert f"none with busbw of at least {2 * best:,.4g} GB/s; nearest: busbw {best:,.4g} GB/s" in text
