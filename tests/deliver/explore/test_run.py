"""Sweeps: the figures of `fabric plan` and `fabric estimate`, wherever the work is done and however often it stops."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError, MissingError
from fabric.configs.hosts.nccl import spreading
from fabric.deliver.bom.gather import BomRequest
from fabric.deliver.bom.prices import read as read_prices
from fabric.deliver.explore.measure import DesignRequest, Outcome, Stages, measure
from fabric.deliver.explore.picture import picture
from fabric.deliver.explore.report import FORMATS, SweepResult
from fabric.deliver.explore.request import ExploreRequest, objectives, sweep
from fabric.deliver.explore.run import Journal, fingerprint, reasons, run
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.training.file import JobText
from tests import ROOT
from tests.deliver.explore.designs import figures_of
from tests.waiting import FAR_S, wait_for

INTENT = """version: 1
site: ex
fabrics:
  backend:
    servers: {model: dgx-h100, count: 32, per_rack: 4}
    topology: {switch: sn5600, leaf: {oversubscription: 1}}
  storage:
    purpose: storage
    servers: {model: dgx-h100, count: 32}
    topology: {switch: 7060dx5-64s}
"""
PRICES = ROOT / "docs" / "prices-example.yaml"
STAGES = Stages(pipeline.plan, pipeline.calls)
FIGURES = figures_of(1.0)
VARY = ("switch=7060dx5-64s,32x400g", "kind=rail-optimized,rack", "oversubscription=1,2")


@pytest.fixture
def intent(tmp_path: Path) -> pipeline.Intent:
    return written(tmp_path, INTENT)


def written(folder: Path, text: str) -> pipeline.Intent:
    path = folder / "ex.yaml"
    path.write_text(text, encoding="utf-8")
    return pipeline.load(path)


def as_rows(found: list[Any]) -> list[dict[str, Any]]:
    return [item.as_dict() for item in found]


def test_the_figures_are_those_of_the_design(intent: pipeline.Intent, tmp_path: Path) -> None:
    asked = sweep(
        intent, ExploreRequest(DesignRequest(size=1 << 26), vary=("switch=7060dx5-64s", "oversubscription=2", "kind=rack"))
    )
    assert asked.choices == [(("switch", "7060dx5-64s"), ("kind", "rack"), ("oversubscription", 2.0))]
    figures = measure(asked.base, asked.design, STAGES, asked.choices[0]).figures
    assert figures is not None

    by_hand = INTENT.replace("sn5600, leaf: {oversubscription: 1}", "7060dx5-64s, kind: rack, leaf: {oversubscription: 2}")
    same = written(tmp_path, by_hand)
    row = pipeline.summarize(same)["fabrics"]["backend"]
    fabric = pipeline.plan(same).fabrics["backend"]
    routing, queue_pairs = spreading(fabric)
    asked_by_hand = EstimateRequest(collective="all_reduce", sizes=(1 << 26,), routing=routing, queue_pairs=queue_pairs)
    estimate = pipeline.estimate(fabric, asked_by_hand)[0].rows[0]
    assert (figures.gpus, figures.tiers) == (row["gpus"], row["tiers"])
    assert (figures.leaves, figures.spines, figures.cores) == tuple(row["switches"].values())
    assert figures.switch_links == row["links"]["leaf-spine"]
    assert figures.links == sum(row["links"].values())
    assert figures.oversubscription == row["oversubscription"]["leaf"]
    # a sweep plans the fabric alone: without the other one's racks some cables are shorter
    assert figures.time_us == pytest.approx(estimate.time_us, rel=1e-3)


FAR = INTENT.replace(
    "topology: {switch: sn5600,", "qos: {enabled: false}\n    topology: {switch: sn5600, cable_length_m: {leaf-spine: 90000},"
)


def test_parts_are_those_of_the_bill_of_materials(tmp_path: Path) -> None:
    """By the lengths of the floor plan, with the spares of the price file."""
    base = pipeline.load(ROOT / "intent" / "gb300-twin-plane.yaml")
    prices = read_prices(PRICES)
    asked = sweep(base, ExploreRequest(DesignRequest(prices=prices), vary=("oversubscription=1",)))
    figures = measure(asked.base, asked.design, STAGES, asked.choices[0]).figures
    bill, _ = pipeline.bill(pipeline.plan(base), BomRequest(prices=prices, servers=False, spares=prices.spares))
    assert figures is not None
    assert figures.power == bill.shares[0].power
    assert bill.cost is not None
    assert figures.capex == (None if bill.cost.unpriced else bill.shares[0].cost and bill.shares[0].cost.capex)


@pytest.mark.parametrize(("text", "known"), [(INTENT, True), (FAR, False)])
def test_there_is_no_capex_where_a_link_has_no_medium(tmp_path: Path, text: str, known: bool) -> None:
    asked = sweep(written(tmp_path, text), ExploreRequest(DesignRequest(prices=read_prices(PRICES))))
    figures = measure(asked.base, asked.design, STAGES, ()).figures
    assert figures is not None
    assert (figures.capex is not None) == known


RATIOS = ("switch=7060dx5-64s", "unit=16", "oversubscription=1,2,4")  # two units


def test_by_default_an_oversubscribed_design_does_not_win(intent: pipeline.Intent) -> None:
    """The all-reduce takes the same time on all three; the alltoall as long as the links allow."""
    requested = ExploreRequest(DesignRequest(), vary=RATIOS)
    asked = sweep(intent, requested)
    found = SweepResult.of(asked, run(asked, STAGES, jobs=1), objectives(requested), "")
    times = [item.time_us for item in found.built]
    assert times == pytest.approx([times[0]] * 3, rel=0.01)
    assert [item.name for item in found.objectives] == ["switches", "power", "time", "alltoall"]
    assert {0, 1} <= set(found.front)
    alone = ExploreRequest(DesignRequest(collective="all_reduce"), vary=RATIOS)
    assert 0 not in SweepResult.of(asked, found.outcomes, objectives(alone), "").front
    alltoall = [item.alltoall_time_us or 0.0 for item in found.built]
    assert alltoall == sorted(alltoall)
    assert alltoall[2] > 1.5 * alltoall[1]
    text = FORMATS["text"](found)
    assert "all_reduce" in text
    assert "alltoall limited by" in text
    assert "routing as planned: ECMP by hash, 4 queue pairs per connection\npacked: at most" in text


def test_the_alltoall_is_that_of_estimate(intent: pipeline.Intent) -> None:
    figures = measure(sweep(intent, ExploreRequest(DesignRequest())).base, DesignRequest(size=1 << 26), STAGES, ()).figures
    fabric = pipeline.plan(intent).fabrics["backend"]
    row = pipeline.estimate(fabric, EstimateRequest(collective="alltoall", sizes=(1 << 26,), routing="", queue_pairs=0))[
        0
    ].rows[0]
    assert figures is not None
    assert figures.alltoall is not None
    assert (figures.alltoall_time_us, figures.alltoall.bottleneck) == (row.time_us, row.bottleneck)


@pytest.mark.parametrize(
    ("design", "vary", "note"),
    [
        (DesignRequest(), RATIOS, "packed: at most 6% of the all_reduce crosses a spine: it does not show oversubscription"),
        (
            DesignRequest(),
            ("switch=7060dx5-64s",),
            "note: at most 0% of the traffic of these collectives crosses a spine",
        ),  # one unit
        (
            DesignRequest(collective="alltoall", size=1 << 20),
            ("switch=7060dx5-64s",),
            "0% of the traffic of this alltoall crosses a spine",
        ),
        (DesignRequest(collective="all_reduce"), RATIOS, "of the traffic of this all_reduce crosses a spine"),
        (DesignRequest(collective="broadcast"), RATIOS, "of the traffic of this broadcast crosses a spine"),
        (DesignRequest(collective="all_reduce", placement="spread"), RATIOS, ""),
        (DesignRequest(collective="alltoall", size=1 << 20), RATIOS[:2], ""),
    ],
)
def test_a_collective_that_hardly_crosses_a_spine_is_noted(
    intent: pipeline.Intent, design: DesignRequest, vary: tuple[str, ...], note: str
) -> None:
    requested = ExploreRequest(design, vary=vary)
    asked = sweep(intent, requested)
    found = SweepResult.of(asked, run(asked, STAGES, jobs=1), objectives(requested), "")
    assert found.built
    assert note in "".join(found.notes)
    assert "crosses a spine" in note or not any("a spine" in text for text in found.notes)
    assert json.loads(FORMATS["json"](found))["notes"] == list(found.notes)


def test_so_many_gpus_are_built(intent: pipeline.Intent) -> None:
    asked = sweep(intent, ExploreRequest(DesignRequest(gpus=1001), vary=("server=dgx-h100,mi300x-8",)))
    found = run(asked, STAGES, jobs=1)
    assert [item.figures and item.figures.servers for item in found] == [126, 126], [
        item.why for item in found
    ]  # 8 GPUs each


def test_what_cannot_be_built_says_why(intent: pipeline.Intent) -> None:
    asked = sweep(intent, ExploreRequest(DesignRequest(gpus=100_000), vary=("switch=32x400g", "tiers=2,3")))
    found = run(asked, STAGES, jobs=1)
    assert [item.figures is None for item in found] == [True, True]
    assert [why.partition(" uplinks")[0] for why in reasons(found)] == ["three tiers with 400G", "two tiers with 400G"]


def test_the_network_os_of_another_switch_is_not_kept(tmp_path: Path) -> None:
    intent = written(tmp_path, INTENT.replace("  backend:\n", "  backend:\n    nos: cumulus\n"))
    found = run(sweep(intent, ExploreRequest(DesignRequest(), vary=("switch=7060dx5-64s",))), STAGES, jobs=1)
    assert found[0].figures is not None, found[0].why


def test_the_usual_sweep(intent: pipeline.Intent) -> None:
    """Switches that suit a 400G NIC, of the technology that the intent has."""
    dimensions: dict[str, set[Any]] = {}
    for choice in sweep(intent, ExploreRequest(DesignRequest())).choices:
        for name, value in choice:
            dimensions.setdefault(name, set()).add(value)
    assert {"sn5600", "7060dx5-64s", "z9864f-on"} <= dimensions["switch"]
    assert not {"qm9700", "sn2201", "sn4600c"} & dimensions["switch"]
    assert (dimensions["tiers"], dimensions["planes"]) == ({2, 3}, {1})


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_way_to_run_gives_the_same(intent: pipeline.Intent, jobs: int) -> None:
    asked = sweep(intent, ExploreRequest(DesignRequest(), vary=VARY))
    assert as_rows(run(asked, STAGES, jobs)) == as_rows(
        [measure(asked.base, asked.design, STAGES, choice) for choice in asked.choices]
    )


# --- going on ------------------------------------------------------------------------------------------------


def test_a_sweep_goes_on_where_it_stopped(intent: pipeline.Intent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, path = sweep(intent, ExploreRequest(DesignRequest(), vary=VARY)), tmp_path / "sweep.jsonl"
    whole = run(asked, STAGES, 1, journal=Journal(path, asked.base, asked.design))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]) + lines[4][:25])  # killed while it wrote the fourth outcome

    measured: list[Any] = []
    monkeypatch.setattr("fabric.deliver.explore.run.measure", lambda *words: measured.append(words[-1]) or measure(*words))
    steps: list[int] = []
    again = run(asked, STAGES, 1, journal=Journal(path, asked.base, asked.design), advance=steps.append)
    assert as_rows(again) == as_rows(whole)
    assert measured == list(asked.choices[3:])
    assert sum(steps) == len(asked.choices)
    assert as_rows(run(asked, STAGES, 1, journal=Journal(path, asked.base, asked.design))) == as_rows(whole)
    assert len(measured) == len(asked.choices) - 3


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        ("", ""),
        ("not json\n", "the journal belongs to another sweep"),
        ("[" * 100_000, "the journal belongs to another sweep"),
        ('SAME\n{"choice": {"switch": ["a"]}, "why": ""}\n', "j:2:1: error[FAB102]: this line is not a result of this sweep"),
        ("SAME\nFIGURES\n", "j:2:1: error[FAB102]: this line is not a result of this sweep"),
        ('{"sweep": "of another"}\n', "the journal belongs to another sweep"),
        ("SAME\n{}\n", "j:2:1: error[FAB102]: this line is not a result of this sweep"),
        ('SAME\n{"choice": {"switch": "a"}, "gpus": 3}\n', "j:2:1: error[FAB102]: this line is not a result of this sweep"),
    ],
)
def test_a_file_of_something_else_is_refused(
    intent: pipeline.Intent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, reported: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked, path = sweep(intent, ExploreRequest(DesignRequest(), vary=VARY)), Path("j")
    Journal(path, asked.base, asked.design)
    row = Outcome((), FIGURES).as_row()
    figures = json.dumps({**row, "figures": {**row["figures"], "oversubscription": "soon"}})
    path.write_text(content.replace("SAME", path.read_text().strip()).replace("FIGURES", figures), encoding="utf-8")
    if not reported:
        assert Journal(path, asked.base, asked.design).known == {}
        return
    with pytest.raises(InputError) as caught:
        Journal(path, asked.base, asked.design)
    assert reported in str(caught.value)


def test_a_sweep_goes_on_from_another_folder(
    intent: pipeline.Intent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: USD\nswitches: {sn5600: 1}\n", encoding="utf-8")

    def mark(folder: Path, at: Path) -> str:
        monkeypatch.chdir(folder)
        there = pipeline.load(at / "ex.yaml")
        design = DesignRequest(prices=read_prices(at / "prices.yaml", there.site.catalog, str(at / "prices.yaml")))
        return fingerprint(sweep(there, ExploreRequest(design, vary=VARY)).base, design)

    assert mark(tmp_path, Path()) == mark(Path("/"), tmp_path)


# --- words ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requested", "reported"),
    [
        ({"vary": ("colour=red",)}, "--vary: error[FAB102]: unknown dimension 'colour'"),
        ({"vary": ("planes",)}, "expected planes=VALUE,VALUE, got 'planes'"),
        ({"vary": ("planes=two",)}, "planes: expected a whole number from 1, got 'two'"),
        (
            {"vary": ("oversubscription=0",)},
            "oversubscription: expected a ratio from 0.01 to 1000 such as 2, or 1.5:1, got '0'",
        ),
        ({"vary": ("oversubscription=1e-300",)}, "expected a ratio from 0.01 to 1000"),
        ({"vary": ("oversubscription=nan",)}, "expected a ratio from 0.01 to 1000"),
        ({"vary": ("tiers=4",)}, "tiers: expected 1, 2 or 3, got '4'"),
        ({"vary": ("switch=sn56000",)}, "switch: unknown 'sn56000'\n    hint: did you mean 'sn5600'?"),
        ({"vary": ("switch=zz*",)}, "switch: no name matches 'zz*'"),
        ({"vary": ("kind=mesh",)}, "kind: unknown 'mesh'"),
        ({"vary": ("planes=",)}, "planes: expected values, got none"),
        ({"by": ("cost",)}, "--by: error[FAB102]: cost: expected prices, got none\n    hint: add --prices FILE"),
        ({"design": DesignRequest(placement="scattered")}, "expected packed, spread or random:SEED, got 'scattered'"),
        (
            {"design": DesignRequest(collective="all_reduce"), "by": ("alltoall",)},
            "--by: error[FAB102]: alltoall: --collective all_reduce excludes it",
        ),
        ({"by": ("beauty",)}, "--by: error[FAB102]: unknown objective 'beauty'"),
        ({"fabric": "backent"}, "--fabric: error[FAB106]: unknown fabric 'backent'\n    hint: did you mean 'backend'?"),
        ({"design": DesignRequest(collective="allreduce")}, "unknown collective 'allreduce'"),
        (
            {"vary": ("unit=" + ",".join(map(str, range(1, 400))), "rails=" + ",".join(map(str, range(1, 400))))},
            "got 159,201",
        ),
    ],
)
def test_words_that_are_none(intent: pipeline.Intent, requested: dict[str, Any], reported: str) -> None:
    with pytest.raises(InputError) as caught:
        sweep(intent, ExploreRequest(**{"design": DesignRequest(), **requested}))
    assert reported in str(caught.value)


def test_gpus_of_several_groups_are_refused(tmp_path: Path) -> None:
    groups = "[{model: dgx-h100, count: 8, name: a}, {model: dgx-h100, count: 8, name: b}]"
    intent = written(tmp_path, INTENT.replace("{model: dgx-h100, count: 32, per_rack: 4}", groups))
    with pytest.raises(InputError, match=r"--gpus: error\[FAB102\]: expected one group of servers, got 2"):
        sweep(intent, ExploreRequest(DesignRequest(gpus=64)))
    with pytest.raises(InputError, match=r"--vary: error\[FAB102\]: expected one group of servers, got 2"):
        sweep(intent, ExploreRequest(DesignRequest(), vary=("server=dgx-h100",)))
    assert sweep(intent, ExploreRequest(DesignRequest())).choices


def test_gpus_are_of_the_servers_that_are_tried(tmp_path: Path) -> None:
    """The intent's own server has none: that is no matter where others are asked for."""
    intent = written(tmp_path, INTENT.replace("{model: dgx-h100, count: 32, per_rack: 4}", "{model: cpu-2x100, count: 32}"))
    with pytest.raises(InputError, match="server cpu-2x100 has no GPUs"):
        sweep(intent, ExploreRequest(DesignRequest(gpus=64)))
    found = run(sweep(intent, ExploreRequest(DesignRequest(gpus=64), vary=("server=cpu-2x100,dgx-h100",))), STAGES, jobs=1)
    assert [(item.why, item.figures and item.figures.gpus) for item in found] == [
        ("server cpu-2x100 has no GPUs", None),
        ("", 64),
    ]


def test_the_usual_sweep_has_the_switch_of_the_intent(tmp_path: Path) -> None:
    """A management switch is far faster upwards than a port of 1G: it is no usual choice, but the intent's own."""
    oob = "    purpose: oob\n    servers: {model: dgx-h100, count: 32, per_rack: 4}\n    topology: {switch: sn2201}\n"
    intent = written(tmp_path, INTENT.partition("  storage:")[0] + "  mgmt:\n" + oob)
    choices = sweep(intent, ExploreRequest(DesignRequest(), fabric="mgmt")).choices
    assert {dict(choice)["switch"] for choice in choices} == {"sn2201"}


def test_reports_and_picture(intent: pipeline.Intent) -> None:
    requested = ExploreRequest(DesignRequest(), vary=VARY)
    asked = sweep(intent, requested)
    outcomes = run(asked, STAGES, jobs=1)
    found = SweepResult.of(asked, outcomes, objectives(requested), "")
    document = json.loads(FORMATS["json"](found))
    assert len(document["designs"]) == 8
    assert document["front"] == list(found.front) != []
    lines = FORMATS["csv"](found).splitlines()
    assert len(lines) == 9
    assert lines[0].startswith("switch,kind,oversubscription,front,servers,gpus,tiers,leaves,")
    assert "oversubscription_built" in lines[0].split(",")
    assert len(set(lines[0].split(","))) == len(lines[0].split(","))
    shown = FORMATS["text"](found).splitlines()
    assert shown[0] == "8 designs of fabric backend for 256 GPUs, timed by all_reduce and alltoall of 1 GiB, packed"
    built = len(found.built)
    assert shown[1].startswith(f"{built} can be built; {len(found.front)} Pareto-optimal in switches, ")
    drawn = picture(found)
    assert drawn.count("<circle") == sum(item.figures is not None for item in outcomes)
    assert drawn == picture(found)


@pytest.mark.parametrize(
    ("requested", "reported"),
    [
        (
            ExploreRequest(DesignRequest(), vary=("switch=sn2201",)),
            ["1 design of fabric backend", "none can be built"],
        ),
        (
            ExploreRequest(DesignRequest(gpus=64), vary=("rails=3",)),
            ["1 design of fabric backend for 64 GPUs", "none can be built"],
        ),
        (
            ExploreRequest(DesignRequest(), "storage", ("oversubscription=1,2",), ("time",)),
            [
                "2 designs of fabric storage for 256 GPUs",
                "2 can be built; not compared by time and alltoall: no design has a value",
            ],
        ),
        (
            ExploreRequest(
                DesignRequest(collective="alltoall", placement="spread"), vary=("switch=7060dx5-64s",), by=("time", "power")
            ),
            [
                "1 design of fabric backend for 256 GPUs, timed by alltoall of 1 GiB, spread",
                "1 can be built; 1 Pareto-optimal in time, power",
            ],
        ),
    ],
)
def test_the_first_lines_say_what_was_asked(intent: pipeline.Intent, requested: ExploreRequest, reported: list[str]) -> None:
    asked = sweep(intent, requested)
    found = SweepResult.of(asked, run(asked, STAGES, jobs=1), objectives(requested), "")
    assert FORMATS["text"](found).splitlines()[:2] == reported


# --- a cluster -----------------------------------------------------------------------------------------------


def test_no_cluster(intent: pipeline.Intent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabric.deliver.explore.run.PATIENCE", "1s")
    asked = sweep(intent, ExploreRequest(DesignRequest(), vary=VARY))
    with pytest.raises(MissingError, match=r"no answer from a Dask scheduler at tcp://127\.0\.0\.1:9"):
        run(asked, STAGES, dask="tcp://127.0.0.1:9")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a real scheduler on loopback, and its process before those of two workers."""
    pytest.importorskip("distributed")
    where = tmp_path / "scheduler.json"
    env = {**os.environ, "DASK_DISTRIBUTED__DASHBOARD__LINK": ""}

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", *words, "--no-dashboard", "--scheduler-file", str(where)]
        return subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    started = [start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        wait_for(where.exists)
        folder = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path))
        started += [start("distributed.cli.dask_worker", *folder, "--name", name) for name in ("one", "two")]
        address = json.loads(where.read_text())["address"]
        _wait_for_workers(address, 2)
        yield address, started
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_gives_the_same_until_it_is_lost(
    intent: pipeline.Intent, cluster: tuple[str, list[subprocess.Popen[bytes]]], capfd: pytest.CaptureFixture[str]
) -> None:
    address, (scheduler, *_) = cluster
    asked = sweep(intent, ExploreRequest(DesignRequest(), vary=VARY))
    assert as_rows(run(asked, STAGES, dask=address)) == as_rows(run(asked, STAGES, jobs=1))
    many = sweep(intent, ExploreRequest(DesignRequest(), vary=(*VARY, "unit=4,8,16,32")))
    with pytest.raises(MissingError, match=r"the Dask cluster at tcp://127\.0\.0\.1:\d+ was lost \(\w+\); use --resume FILE"):
        run(many, STAGES, dask=address, advance=lambda steps: scheduler.kill() if steps else None)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up(
    intent: pipeline.Intent,
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed in the middle, then never there: an end each time, and what was measured is kept."""
    monkeypatch.setattr("fabric.deliver.explore.run.WORKERS_PATIENCE_S", 1.5)
    address, (_, *workers) = cluster
    asked, path = sweep(intent, ExploreRequest(DesignRequest(), vary=(*VARY, "unit=4,8,16,32"))), tmp_path / "sweep.jsonl"

    def kill(steps: int) -> None:
        for worker in workers if steps else ():
            worker.kill()

    kept = f"results are in {path}; repeat the command to continue"
    gone = re.escape(f"the Dask cluster at {address} has had no workers for 1.5 s; {kept}")
    with pytest.raises(MissingError, match=gone):
        run(asked, STAGES, dask=address, journal=Journal(path, asked.base, asked.design), advance=kill)
    journal = Journal(path, asked.base, asked.design)
    measured = dict(journal.known)
    assert 0 < len(measured) < len(asked.choices)
    with pytest.raises(MissingError, match=gone):
        run(asked, STAGES, dask=address, journal=journal)
    assert Journal(path, asked.base, asked.design).known == measured


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, timeout=FAR_S, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=FAR_S)


JOB = JobText(
    "job.yaml",
    "model: {parameters: 7.0e+9, layers: 32, hidden: 4096, sequence: 4096}\n"
    "batch: {micro_batches: 8}\n"
    "parallel: {tensor: 8, sharding: full}\n"
    "compute: {tflops_per_gpu: 989}\n"
    "checkpoint: {write_GBps: 100}\n",
)
WITH_GOODPUT = Stages(pipeline.plan, pipeline.calls, pipeline.goodput)


def test_goodput_and_cost_per_token_are_those_of_the_design(tmp_path: Path) -> None:
    alone = INTENT.partition("  storage:")[0].replace("servers:", "nos: sonic\n    servers:")
    base = written(tmp_path, alone)
    prices = read_prices(PRICES)
    request = ExploreRequest(DesignRequest(prices=prices, job=JOB), vary=("oversubscription=1",))
    asked = sweep(base, request)
    assert objectives(request) == ("token-cost", "goodput", "power")
    figures = measure(asked.base, asked.design, WITH_GOODPUT, asked.choices[0]).figures
    assert figures is not None
    made = pipeline.plan(base)
    call = EstimateRequest(routing="", queue_pairs=0)
    (tmp_path / "job.yaml").write_text(JOB.text, encoding="utf-8")
    same = pipeline.design("x", base, made, made.fabrics["backend"], call, tmp_path / "job.yaml", prices=PRICES)
    assert figures.useful == pytest.approx(same.goodput.useful.value, rel=1e-6)
    assert figures.tokens_per_day == pytest.approx(same.goodput.tokens_per_day.value, rel=1e-3)
    assert figures.gpu_hours == pytest.approx(256 * 24 / same.goodput.tokens_per_day.value * 1e9, rel=1e-3)
    assert same.cost_per_billion_tokens is not None
    assert figures.token_cost == pytest.approx(same.cost_per_billion_tokens, rel=1e-6)


def test_a_sweep_by_goodput(tmp_path: Path) -> None:
    base = written(tmp_path, INTENT)
    design = DesignRequest(prices=read_prices(PRICES), job=JOB)
    request = ExploreRequest(design, vary=("oversubscription=1,4",), by=("goodput", "token-cost"))
    asked = sweep(base, request)
    found = SweepResult.of(asked, run(asked, WITH_GOODPUT, jobs=1), objectives(request), "USD")
    assert [item.name for item in found.objectives] == ["goodput", "token-cost"]
    assert "goodput, GPU-hours per billion useful tokens" in picture(found)
    assert "token-cost, USD per billion useful tokens" in picture(found)
    assert "GPU-h/10⁹" in FORMATS["text"](found)
    moved = DesignRequest(prices=design.prices, job=JobText("elsewhere.yaml", JOB.text))
    assert fingerprint(asked.base, design) == fingerprint(asked.base, moved)
    other = DesignRequest(prices=design.prices, job=JobText("job.yaml", JOB.text.replace("100", "99")))
    assert fingerprint(asked.base, design) != fingerprint(asked.base, other)


@pytest.mark.parametrize(
    ("design", "by", "expected"),
    [
        (DesignRequest(), ("goodput",), "--by: error[FAB102]: goodput: expected a training job, got none"),
        (DesignRequest(job=JOB), ("token-cost",), "--by: error[FAB102]: token-cost: expected prices, got none"),
        (
            DesignRequest(job=JobText("job.yaml", JOB.text.replace("{write_GBps: 100}", "{}"))),
            ("goodput",),
            "job.yaml:5:13: error[FAB173]: checkpoint.write_GBps: missing key",
        ),
        (
            DesignRequest(job=JobText("job.yaml", JOB.text.replace("write_GBps", "rate"))),
            (),
            "job.yaml:5:14: error[FAB173]: unknown key 'rate' under checkpoint",
        ),
    ],
)
def test_mistakes_of_a_job_are_reported_once(
    intent: pipeline.Intent, design: DesignRequest, by: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        sweep(intent, ExploreRequest(design, vary=("oversubscription=1,2",), by=by))
    assert expected in str(caught.value)
