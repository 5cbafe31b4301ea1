"""Which runs are planned: every server and leaf is in one, steps grow, and gates are those of the estimate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.acceptance.gates import NAME, PERFTEST, Gates, read, step_texts
from fabric.solver.estimate.request import EstimateRequest
from tests.deliver.acceptance import random_runs
from tests.deliver.acceptance.clusters import gates
from tests.deliver.export.plans import DESIGNS, plan

COMPUTE = sorted(set(DESIGNS) - {"storage-alone", "racks-dual-tor"})
EXAMPLES = ("starter", "h100-4su", "b200-3tier", "gb300-twin-plane", "era-2-8-5-200", "three-tier")


def steps(planned: Gates) -> dict[str, list[tuple[str, ...]]]:
    """Step → the servers of each of its runs."""
    return {step.step: [run.servers for group in step.groups for run in group.runs] for step in planned.steps}


@pytest.mark.parametrize("design", [*COMPUTE, *EXAMPLES])
def test_every_server_is_in_a_run_of_each_size(design: str) -> None:
    planned = gates(design)
    assert [step.step for step in planned.steps] == [name for name in step_texts() if name in steps(planned)]
    servers = {server for row in steps(planned)["server"] for server in row}
    assert servers
    for name in {"perftest", "domain", "pair", "whole"} & set(steps(planned)):
        found = {server for row in steps(planned)[name] for server in row}
        assert found <= servers
        if name != "pair" or "domain" not in steps(planned):
            assert found == servers or len(planned.steps[1].groups) > 1
    names = [run.name for _, _, run in planned.every_run()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("design", [*COMPUTE, *EXAMPLES])
def test_gates_are_below_what_is_expected_and_above_nothing(design: str) -> None:
    for step in gates(design).steps:
        for group in step.groups:
            for program in group.programs:
                sizes = [gate.bytes for gate in program.gates]
                assert sizes == sorted(set(sizes))
                assert all(0 < gate.pass_GBps < gate.expected_GBps for gate in program.gates)


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ("one-unit", {"cabling": 0, "perftest": 8, "server": 16, "pair": 8, "rail": 8, "whole": 1}),
        (
            "rails",
            {"cabling": 0, "perftest": 64, "server": 127, "pair": 64, "rail": 32, "unit": 4, "spines": 4, "whole": 1},
        ),
        ("collapsed", {"cabling": 0, "perftest": 6, "server": 12, "pair": 6, "whole": 1}),
        ("nvl72", {"cabling": 0, "perftest": 36, "server": 72, "domain": 4, "pair": 2, "spines": 1, "whole": 1}),
    ],
)
def test_how_many_runs(design: str, expected: dict[str, int]) -> None:
    assert {name: len(rows) for name, rows in steps(gates(design)).items()} == expected


def test_three_tiers_have_pods() -> None:
    assert {"unit", "spines", "pod", "whole"} <= set(steps(gates("b200-3tier")))


def test_pairs_share_their_leaves_and_spines_do_not() -> None:
    planned = gates("rails")
    leaves = {run.servers[0]: set(run.leaves) for step, _, run in planned.every_run() if step.step == "server"}
    for step, _, run in planned.every_run():
        on = [leaves[server] for server in run.servers]
        if step.step == "pair":
            assert on[0] == on[1]
        if step.step == "spines":
            assert not on[0] & on[1]


def test_a_rail_is_one_gpu_and_one_leaf() -> None:
    planned = gates("rails")
    rails = [(group, run) for step, group, run in planned.every_run() if step.step == "rail"]
    assert {len(run.leaves) for _, run in rails} == {1}
    assert {group.gpus_per_server for group, _ in rails} == {1}
    assert len({run.leaves for _, run in rails}) == len(rails) == 32
    assert sorted({run.gpu_ids for _, run in rails}) == [(gpu,) for gpu in range(8)]


def test_gates_are_the_lower_edge_of_the_estimate() -> None:
    fabric = plan("one-unit").fabrics["f"]
    request = EstimateRequest(collective="alltoall", sizes=(1 << 30,), gpus=16, routing="", queue_pairs=0)
    row = pipeline.estimate(fabric, request)[0].rows[0]
    step = next(step for step in gates("one-unit").steps if step.step == "pair")
    gate = next(program for program in step.groups[0].programs if program.collective == "alltoall").gate(1 << 30)
    assert gate is not None
    assert gate.expected_GBps == pytest.approx(row.busbw_GBps, rel=1e-3)
    assert gate.pass_GBps < gate.expected_GBps


def test_two_models_have_gates_of_their_own() -> None:
    server = next(step for step in gates("mixed").steps if step.step == "server")
    found = {(group.model, group.gpus_per_server, len(group.runs)) for group in server.groups}
    assert found == {("dgx-h100", 8, 96), ("quad", 4, 70)}


PART = """\
version: 1
site: dc1
fabrics:
  f:
    servers: {model: gb300-tray, count: 50, per_rack: 18}
    topology: {switch: 128x800g, unit: {servers: 36}}
"""


def test_a_last_nvlink_domain_with_fewer_servers(tmp_path: Path) -> None:
    """Racks of 18, 18 and 14 trays: a pair takes as many of both, the whole all of them."""
    (tmp_path / "dc1.yaml").write_text(PART)
    site = pipeline.plan(pipeline.load(tmp_path / "dc1.yaml"))
    found = steps(pipeline.acceptance(site, site.fabrics["f"], EstimateRequest(routing="", queue_pairs=0)))
    assert [len(row) for row in found["domain"]] == [18, 18, 14]
    assert [len(row) for row in found["pair"]] == [36]
    assert [len(row) for row in found["spines"]] == [28]
    assert [len(row) for row in found["whole"]] == [50]


@pytest.mark.parametrize("number", range(6))
def test_random_designs(number: int) -> None:
    assert [*random_runs.tried(17, number, Counter())] == []


def test_plain_tcp_has_no_perftest(tmp_path: Path) -> None:
    text = (
        "version: 1\nsite: dc1\nfabrics:\n  f:\n    servers: {model: dgx-h100, count: 4}\n    transport: ethernet\n"
        "    topology: {switch: 64x400g}\n"
    )
    (tmp_path / "dc1.yaml").write_text(text)
    site = pipeline.plan(pipeline.load(tmp_path / "dc1.yaml"))
    planned = pipeline.acceptance(site, site.fabrics["f"], EstimateRequest(routing="", queue_pairs=0))
    assert PERFTEST not in {
        program.collective for step in planned.steps for group in step.groups for program in group.programs
    }


def test_a_fabric_without_gpus() -> None:
    with pytest.raises(InputError, match="fabric s has no GPUs"):
        gates("storage-alone")


# --- the file -------------------------------------------------------------------------------------------------


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    planned = gates("rails")
    (tmp_path / NAME).write_text(planned.text(), encoding="utf-8")
    assert read(tmp_path) == planned


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version": 1', '"version": 9', "version 9, this release reads 1"),
        ('"step": "pair"', '"step": "pairs"', "unknown step pairs"),
        ('"pass_GBps"', '"pass_gbps"', "pass_gbps"),
        ('"bytes": 1024', '"bytes": "1K"', "bytes"),
        ("{", "[", "gates.json"),
    ],
)
def test_a_file_of_something_else(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(gates("one-unit").text().replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert message in str(caught.value)


def test_a_folder_without_gates(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gates\.json"):
        read(tmp_path)


def test_the_same_bytes() -> None:
    planned = gates("two-clusters")
    site = plan("two-clusters")
    again = pipeline.acceptance(site, site.fabrics[planned.fabric], EstimateRequest(routing="", queue_pairs=0))
    assert again.text() == planned.text()
    assert replace(again, site="x").text() != planned.text()
