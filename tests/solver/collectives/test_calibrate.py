"""Parameters from one's own measurements: what was planted is found, files are read back, mistakes are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.cli import main
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.calibrate import calibrated, document
from fabric.solver.collectives.physics import Physics, first, from_document, origin, parameters, shipped
from fabric.solver.collectives.score import job_of, predicted, score
from fabric.solver.estimate import platform
from fabric.solver.measured.tables import MeasuredPlatform, Row, Table

PLATFORM = MeasuredPlatform(
    gpu="h100",
    gpus_per_node=8,
    nodes=4,
    nvlink_GBps_per_direction=450,
    nvlink_domain_gpus=8,
    nics_per_node=8,
    nic_gbps=400,
    transport="roce",
)


def synthetic(physics: Physics, collective: str = "all_reduce") -> Table:
    """A table that a platform with these very parameters would give."""
    sizes = [8 * 2**step for step in range(31)]
    factor = COLLECTIVES[collective].busbw(PLATFORM.ranks)
    blank = Table(
        id=collective,
        collective=collective,
        platform=PLATFORM,
        source="made",
        rows=tuple(Row(size, 1, 1, 1) for size in sizes),
        scored=True,
    )
    times = predicted(blank, physics)
    rows = tuple(
        Row(size, float(time), size / time / 1e3, size / time / 1e3 * factor) for size, time in zip(sizes, times, strict=True)
    )
    return replace(blank, rows=rows)


def with_values(**changes: float) -> Physics:
    base = shipped()
    return Physics({**base.values, **{key.replace("__", "."): value for key, value in changes.items()}}, base.measured)


@pytest.mark.parametrize(("key", "factor", "part"), [("net_hop.roce", 1.8, 0.3), ("launch_us.hopper", 2.0, 0.02)])
def test_what_was_planted_is_found(key, factor, part):
    """The table is met; the parameter moves its way, as far as others cannot explain the same rows."""
    planted = with_values(**{key.replace(".", "__"): shipped().values[key] * factor})
    tables = [synthetic(planted), synthetic(planted, "all_gather")]
    before = score(tables, shipped()).as_dict()["mdape"]
    found = calibrated(tables, shipped())
    after = score(tables, found).as_dict()["mdape"]
    assert after < max(1.5, before / 3)
    toward = np.log(found.values[key] / shipped().values[key]) / np.log(factor)
    assert toward > part


def test_kinds_without_a_table_do_not_move():
    found = calibrated([synthetic(with_values(net_hop__roce=4.0))], shipped())
    for item in parameters():
        if item.kind in ("ampere", "blackwell", "infiniband", "efa"):
            assert found.values[item.key] == shipped().values[item.key]


def test_a_platform_file_reads_back_as_it_was_written():
    found = calibrated([synthetic(with_values(net_hop__roce=4.0))], shipped())
    read = from_document(yaml.safe_load(document(found, [synthetic(shipped())], "about it")), first())
    assert read.values == pytest.approx(found.values)
    assert read.about == "about it"
    assert (read.own, read.coverage) == (found.own, found.coverage)


def test_what_the_base_was_fitted_to_counts_on():
    found = calibrated([synthetic(shipped())], shipped())
    assert found.measured["roce"] == shipped().measured["roce"] + 1
    assert found.measured["volta"] == shipped().measured["volta"]


def test_same_bytes_every_time():
    tables = [synthetic(with_values(net_hop__roce=3.0))]
    once, twice = (document(calibrated(tables, shipped()), tables, "x") for _ in range(2))
    assert once == twice


def test_shipped_parameters_are_near_where_they_came_from():
    """None may be a number of a table: each lies within four spreads of its first value, or hardly beyond."""
    found = shipped()
    for item in parameters():
        assert abs(np.log(found.values[item.key] / item.first)) <= 4.05 * item.spread, item.key


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("coverage: 5", "p.yaml:2:11: error[FAB172]: coverage: expected a list, got 5"),
        ("coverage: [[a]]", "coverage[0]: expected a mapping, got a list"),
        ("own: [{generation: hopper}]", "own[0].transport: missing key"),
        ("own: [{generation: hopper, transport: roce, ranks: few}]", "own[0].ranks: expected a whole number, got 'few'"),
        ("shared: {tuner_wait: 1}", "unknown key 'tuner_wait' under shared"),
    ],
)
def test_entries_of_a_platform_file_are_checked(tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(f"about: x\n{line}\n")
    with pytest.raises(InputError) as caught:
        platform.read(Path("p.yaml"))
    assert message in str(caught.value)


def test_parameters_of_earlier_models_have_no_effect(tmp_path):
    (tmp_path / "p.yaml").write_text("shared: {tuner_weight: 0.5, one_process_us: 10.5}\n")
    assert (
        platform.read(tmp_path / "p.yaml").columns(np.array(0), np.array(0)).keys()
        == shipped().columns(np.array(0), np.array(0)).keys()
    )


def test_the_band_of_a_measured_platform_is_narrower_up_to_ten_times_its_ranks():
    own = calibrated([synthetic(shipped())], shipped())  # 32 ranks
    assert own.own == {("hopper", "roce"): 32}

    def width(physics: Physics, ranks: int) -> float:
        job = replace(job_of(synthetic(shipped())), ranks=float(ranks))
        low, high = band_of(job, physics)
        return float(np.median(high / low))

    assert width(own, 320) < width(shipped(), 320)
    assert width(own, 321) == width(shipped(), 321)


def test_raw_output_of_nccl_tests(tmp_path, capsys):
    table = synthetic(with_values(net_hop__roce=2 * shipped().values["net_hop.roce"]))
    lines = ["---", "platform:", "  gpu: h100", "  gpus_per_node: 8", "  nodes: 4", "  nvlink_domain_gpus: 8"]
    lines += ["  nics_per_node: 8", "  nic_gbps: 400", "  transport: roce", "---", "# all_reduce_perf"]
    lines += [
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
    ]
    for row in table.rows:
        side = f"{row.time_us:10.2f} {row.algbw_GBps:8.2f} {row.busbw_GBps:8.2f} 0"
        lines.append(f"{row.bytes:12d} {row.bytes // 4:12d} float sum -1 {side} {side}")
    (tmp_path / "out.txt").write_text("\n".join(lines) + "\n")
    output = tmp_path / "mine.yaml"
    with pytest.raises(SystemExit) as stop:
        main(["calibrate", str(tmp_path / "out.txt"), "-o", str(output)])
    assert stop.value.code == 0
    assert "net_hop.roce" in capsys.readouterr().out
    assert yaml.safe_load(output.read_text())["transport"]["net_hop"]["roce"] > 1.3 * shipped().values["net_hop.roce"]
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["mine.yaml", "out.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tests/reference/collectives/simai_ratio_tables.yaml", "-o", "x.yaml"], "expected a table that can be scored"),
        (
            ["tests/reference/collectives/aws_p5_1n_allreduce.yaml", "-o", "no/such/folder/x.yaml"],
            "expected an existing folder",
        ),
        (["tests/reference/collectives/aws_p5_1n_allreduce.yaml", "-o", "x.yaml", "--base", "no.yaml"], "platform file"),
        (["no-such-table.yaml", "-o", "x.yaml"], "no-such-table.yaml"),
    ],
)
def test_mistakes_are_reported(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["calibrate", *arguments])
    errors = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in errors
    assert "Traceback" not in errors
    assert not Path("x.yaml").exists()


def test_jobs_of_tables_have_their_platform():
    job = job_of(synthetic(shipped()))
    assert (float(job.ranks), float(job.domain), float(job.domains), float(job.net_GBps)) == (32, 8, 4, 400)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("NVIDIA/nccl-tests#309", "NVIDIA/nccl-tests"),
        ("dstackai/dstack:docs/lambda.md", "dstackai/dstack"),
        ("Vultr/AMP HGX B200 POC report (generated 2026-05-18), summary.md", "Vultr/AMP"),
    ],
)
def test_tables_of_one_origin_are_left_out_together(source, found):
    assert origin(source) == found
