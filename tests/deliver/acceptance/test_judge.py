"""Logs against gates: what passes, what fails, who is slow, and what comes next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.deliver.acceptance.gates import Gates
from fabric.deliver.acceptance.judge import FAIL, NOT_RUN, PARTIAL, PASS, Judgment
from fabric.deliver.acceptance.report import FORMATS, outlier_texts
from tests import ROOT
from tests.deliver.acceptance.clusters import HEADS, Factor, gates, log, logs, mark, report
from tests.goldens import same_as

CABLED = {"site": "dc1", "findings": [], "notes": [], "summary": {}}


def judged(folder: Path, planned: Gates, texts: Mapping[str, str], cabling: Any = CABLED, **more: Any) -> Judgment:
    """The verdict on logs in a folder."""
    for name, text in texts.items():
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
    if cabling is not None:
        (folder / "cabling.json").write_text(json.dumps(cabling), encoding="utf-8")
    return pipeline.judge(planned, [folder], **more)


def share(value: float) -> Factor:
    return lambda _: value


def failed(judgment: Judgment) -> list[tuple[str, str]]:
    return [(item.run, item.collective) for item in judgment.outcomes if item.state == FAIL]


@pytest.mark.parametrize("release", [*HEADS])
def test_a_healthy_cluster_passes(release: str, tmp_path: Path) -> None:
    planned = gates("one-unit")
    judgment = judged(tmp_path, planned, logs(planned, release=release))
    assert (judgment.state, judgment.outliers, judgment.next, judgment.warnings) == (PASS, (), (), ())
    assert [step.step for step in judgment.steps] == ["cabling", "perftest", "server", "pair", "rail", "whole"]
    assert all(step.passed == step.runs > 0 for step in judgment.steps)


def test_all_logs_in_one_file_behind_a_log_prefix(tmp_path: Path) -> None:
    planned = gates("one-unit")
    text = "".join(logs(planned).values())
    prefixed = "".join(f"[1,0]<stdout>:{line}\n" for line in text.splitlines())
    assert judged(tmp_path, planned, {"all": prefixed}).state == PASS


def test_a_run_below_its_gate_fails_and_names_the_step(tmp_path: Path) -> None:
    planned = gates("one-unit")
    judgment = judged(tmp_path, planned, logs(planned, {"server-dgx-h100-0003": share(0.5)}))
    assert failed(judgment) == [("server-dgx-h100-0003", "all_reduce"), ("server-dgx-h100-0003", "alltoall")]
    assert judgment.state == FAIL
    assert judgment.next[0].startswith("step server fails: the server itself")
    assert judgment.next[1] == "after the repair: bash run.sh server-dgx-h100-0003"
    worst = next(item for item in judgment.outcomes if item.state == FAIL)
    assert worst.measured_GBps == pytest.approx(worst.expected_GBps / 2, rel=0.01)
    assert worst.file.endswith("server-dgx-h100-0003.log")


@pytest.mark.parametrize(
    ("low", "state"),
    [
        ((1 << 20,), PASS),  # one size alone may be noise
        ((1 << 20, 1 << 21), FAIL),
        ((1 << 34,), FAIL),  # the largest one decides
    ],
)
def test_two_sizes_in_a_row_or_the_largest(low: tuple[int, ...], state: str, tmp_path: Path) -> None:
    planned = gates("one-unit")
    factor: Factor = lambda size: 0.4 if size in low else 1.0  # noqa: E731
    assert judged(tmp_path, planned, logs(planned, {"whole-dgx-h100": factor})).state == state


def test_a_slow_server_is_an_outlier_though_it_passes(tmp_path: Path) -> None:
    planned = gates("one-unit")
    judgment = judged(tmp_path, planned, logs(planned, {"server-dgx-h100-0005": share(0.93)}))
    assert judgment.state == PASS
    assert {(item.kind, item.names) for item in judgment.outliers} == {("server", ("dgx-h100-0005",))}
    assert [*outlier_texts(judgment.outliers)] == [
        "server dgx-h100-0005, below the median: server all_reduce 7.0 % of 16 runs, server alltoall 7.0 % of 16 runs"
    ]
    assert judgment.next == ("every run passes; look at the outliers before the cluster is handed over",)


def test_of_a_slow_pair_both_are_named(tmp_path: Path) -> None:
    planned = gates("one-unit")
    judgment = judged(tmp_path, planned, logs(planned, {"pair-dgx-h100-0001-dgx-h100-0002": share(0.93)}))
    assert {item.names for item in judgment.outliers} == {("dgx-h100-0001", "dgx-h100-0002")}


def test_a_server_that_is_slow_alone_explains_its_pair(tmp_path: Path) -> None:
    planned = gates("one-unit")
    slow = {"server-dgx-h100-0002": share(0.9), "pair-dgx-h100-0001-dgx-h100-0002": share(0.9), "whole-dgx-h100": share(0.99)}
    assert {item.names for item in judged(tmp_path, planned, logs(planned, slow)).outliers} == {("dgx-h100-0002",)}


def test_a_slow_rail_is_its_leaf(tmp_path: Path) -> None:
    planned = gates("rails")
    judgment = judged(tmp_path, planned, logs(planned, {"rail-unit002-3": share(0.93)}, steps=["rail"]), steps=["rail"])
    assert {(item.kind, item.names) for item in judgment.outliers} == {("leaf", ("f-leaf011",))}


def test_slow_pairs_of_one_unit_are_its_leaves(tmp_path: Path) -> None:
    planned = gates("rails")
    unit = [run.name for step, _, run in planned.every_run() if step.step == "pair" and run.leaves[0] == "f-leaf009"]
    judgment = judged(tmp_path, planned, logs(planned, dict.fromkeys(unit, share(0.9)), steps=["pair"]), steps=["pair"])
    assert {(item.kind, len(item.names), item.runs) for item in judgment.outliers} == {("leaf", 8, 16)}


def test_what_was_not_run_and_what_ended_early(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    del texts["rail-unit001-1"]
    group, run = next((group, run) for step, group, run in planned.every_run() if step.step == "whole")
    program = group.programs[0]
    rows = log(group, run, program).splitlines(keepends=True)
    texts[run.name] = mark(run, program.collective) + "".join(rows[:-8])
    judgment = judged(tmp_path, planned, texts, cabling=None)
    states = {step.step: step.state for step in judgment.steps}
    assert (states["cabling"], states["rail"], states["whole"], judgment.state) == (NOT_RUN, PARTIAL, PARTIAL, PARTIAL)
    partial = [item for item in judgment.outcomes if item.state == PARTIAL]
    assert [item.message for item in partial] == ["ends at 256 MiB, planned to 16 GiB"]
    assert judgment.next == ("run `fabric cabling verify` with `--format json=results/cabling.json`",)


def test_a_program_that_printed_nothing_fails(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    texts["whole-dgx-h100"] = "#### fabric acceptance: whole-dgx-h100 all_reduce\nNCCL failure: unhandled system error\n"
    judgment = judged(tmp_path, planned, texts)
    assert failed(judgment) == [("whole-dgx-h100", "all_reduce")]
    assert "the program printed no bandwidth" in FORMATS["text"](judgment)


def test_wrong_values_fail(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    texts["whole-dgx-h100"] = texts["whole-dgx-h100"].replace("  0  ", "  7  ", 1)
    (item,) = [item for item in judged(tmp_path, planned, texts).outcomes if item.state == FAIL]
    assert item.message == "7 elements with a wrong value"


def test_other_servers_than_planned(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    del texts["whole-dgx-h100"]
    group, run = next((group, run) for step, group, run in planned.every_run() if step.step == "pair")
    whole = mark(next(run for step, _, run in planned.every_run() if step.step == "whole"), "all_reduce")
    texts["other"] = whole + log(group, run, group.programs[0])
    judgment = judged(tmp_path, planned, texts)
    assert [item.message for item in judgment.outcomes if item.state == FAIL] == ["16 GPUs ran, expected 128"]


def test_logs_without_a_mark_are_assigned_by_their_hosts(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = {}
    for step, group, run in planned.every_run():
        for program in group.programs if step.step in ("server", "pair", "whole") else ():
            texts[f"{run.name}-{program.collective}"] = f"$ mpirun {program.collective}_perf -b 1K\n" + log(
                group, run, program
            ).replace(run.servers[0], f"{run.servers[0]}.dc1.example.net")
    judgment = judged(tmp_path, planned, texts, steps=["server", "pair", "whole"])
    assert (judgment.state, judgment.warnings) == (PASS, ())


def test_reports_in_json(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = {
        f"{run.name}-{program.collective}": report(group, run, program)
        for step, group, run in planned.every_run()
        if step.step == "server"
        for program in group.programs
    }
    assert judged(tmp_path, planned, texts, steps=["server"]).state == PASS


def test_a_log_that_fits_no_run_is_warned_of(tmp_path: Path) -> None:
    planned = gates("one-unit")
    group, run = next((group, run) for step, group, run in planned.every_run() if step.step == "rail")
    text = "$ all_reduce_perf\n" + log(group, run, group.programs[0])
    warnings = judged(tmp_path, planned, {"stray": text, "empty": "hello\n"}).warnings
    assert [(Path(item.place.file).name, item.message) for item in warnings] == [
        ("empty.log", "no output of nccl-tests or perftest: the file was not used"),
        ("stray.log", "all_reduce fits no run, or several: it was not used"),
    ]


def test_the_last_of_two_logs_counts(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    slow = logs(planned, {"whole-dgx-h100": share(0.5)})["whole-dgx-h100"]
    judgment = judged(tmp_path, planned, {"a": slow, **texts})
    assert judgment.state == PASS


def test_a_slow_port_fails_perftest(tmp_path: Path) -> None:
    planned = gates("one-unit")
    texts = logs(planned)
    name = "perftest-dgx-h100-0001-dgx-h100-0002"
    texts[name] = texts[name].replace("400.00", "199.10", 1)
    (item,) = [item for item in judged(tmp_path, planned, texts).outcomes if item.state == FAIL]
    assert (item.run, item.device, item.measured_GBps) == (name, "mlx5_0", pytest.approx(24.89, abs=0.01))


def test_faults_of_the_cabling(tmp_path: Path) -> None:
    planned = gates("one-unit")
    findings = [{"message": "cable of port 1 is in port 2"}]
    judgment = judged(tmp_path, planned, logs(planned), CABLED | {"findings": findings})
    assert judgment.next == (
        "step cabling fails: a cable is missing or in another port; move it before any bandwidth is measured",
    )


def test_causes_of_the_first_failure(tmp_path: Path) -> None:
    from tests.deliver.export.plans import plan

    planned = gates("rails")
    fabric = plan("rails").fabrics["f"]
    slow = share(0.06)
    text = logs(planned, {"spines-dgx-h100-0001-dgx-h100-0033": slow}, steps=["spines"])["spines-dgx-h100-0001-dgx-h100-0033"]
    line = "gpu1:1:1 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    judgment = judged(tmp_path, planned, {"spines": text + line}, steps=["spines"], fabric=fabric)
    assert judgment.causes
    assert "likely causes of the first failure:" in FORMATS["text"](judgment)


def test_the_page_shows_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of docs/acceptance.md: one slow server, one rail that was not run."""
    planned = gates("starter")
    texts = logs(planned, {"server-dgx-h100-0003": share(0.62), "pair-dgx-h100-0003-dgx-h100-0004": share(0.7)})
    del texts["rail-unit001-8"]
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    text = FORMATS["text"](judged(Path("results"), planned, texts))
    page = ROOT / "docs" / "acceptance.md"
    before, command, rest = page.read_text(encoding="utf-8").partition("$ fabric acceptance judge acceptance/ results/\n")
    assert command
    same_as(page, before + command + text + rest[rest.index("```\n") :])
