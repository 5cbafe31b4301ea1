"""The registry of collectives: what is in it is in the options, estimates, scores and docs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fabric.solver.collective import COLLECTIVES, FAMILIES, collective_names
from fabric.solver.estimate.nic_bandwidth import PATTERNS
from fabric.solver.routing import MODES
from tests import ROOT

PAGE = (ROOT / "docs" / "collectives.md").read_text(encoding="utf-8")
STARTER = str(ROOT / "intent" / "starter.yaml")
REGISTER = """
import sys
from dataclasses import replace
from fabric.solver.collective import COLLECTIVES
COLLECTIVES["all_sum"] = replace(COLLECTIVES["all_reduce"], name="all_sum")
from fabric.cli import main
main()
"""
TABLE = """
id: sums
collective: all_sum
source: here
platform: {gpu: H100, nodes: 2, gpus_per_node: 8, nics_per_node: 8, nic_gbps: 400, transport: roce}
rows: [{bytes: 1048576, oop: {time_us: 100}}, {bytes: 1073741824, oop: {time_us: 5000}}]
"""


def fabric(*words: str) -> str:
    """Output of `fabric` with one collective more in the registry."""
    done = subprocess.run([sys.executable, "-c", REGISTER, *words], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_collective_of_the_registry_is_in_the_help() -> None:
    assert "sendrecv or all_sum" in " ".join(fabric("estimate", "--help").split())


def test_a_collective_of_the_registry_is_estimated_as_its_family() -> None:
    added, like = (fabric("estimate", STARTER, "--collective", name) for name in ("all_sum", "all_reduce"))
    assert added.replace("all_sum", "all_reduce") == like


def test_a_collective_of_the_registry_is_scored(tmp_path: Path) -> None:
    table = tmp_path / "sums.yaml"
    table.write_text(TABLE, encoding="utf-8")
    assert "all_sum" in fabric("score", str(table))


@pytest.mark.parametrize("name", collective_names())
def test_the_registry_is_whole(name: str) -> None:
    item = COLLECTIVES[name]
    assert item.name == name
    assert item.family in FAMILIES
    assert {item.pattern, item.groups_pattern} - {""} <= set(PATTERNS)
    assert item.busbw(8) in (14 / 8, 7 / 8, 1.0)


@pytest.mark.parametrize("name", collective_names())
def test_a_collective_has_its_row_on_the_page_of_the_model(name: str) -> None:
    item = COLLECTIVES[name]
    factor = {14 / 8: "2 (n - 1) / n", 7 / 8: "(n - 1) / n", 1.0: "1"}[item.busbw(8)]
    assert f"| {name} | {item.size} | {factor} | {', '.join(item.algorithms)} |" in PAGE


def test_a_mode_of_load_balancing_has_its_name() -> None:
    assert [mode.name for mode in MODES.values()] == list(MODES)
