"""What the files of a run are, and the variables of NCCL that hold for it wherever they stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric.base.diagnostics import InputError
from fabric.pipeline import doctor
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.collectives.job import measured_job
from fabric.solver.doctor.diagnosis import Diagnosis
from fabric.solver.doctor.examine import lines
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.tables import Measured
from tests.solver.doctor.runs import fabric, output, write

REQUEST = EstimateRequest(routing="adaptive", queue_pairs=4)
ACS = "FAIL\tACS for 0008:00:00.0 has incorrect values 0b0011101 != 0b0011100, (bin)\n"  # rdma_topo check
LOG = "host00:1:2 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\n"


def examined(folder: Path, *texts: str, given: tuple[Measured, ...] = ()) -> Diagnosis:
    files = [write(folder, text, f"run{number}.log") for number, text in enumerate(texts)]
    return doctor(fabric(), files, REQUEST, given)


def number(algorithm: str, nvls: bool | None = None, min_ctas: int | None = None) -> Measured:
    """An all_reduce of 4 GiB of 16 GPUs as it is estimated with these settings."""
    size = 4 << 30
    ran = MeasuredPlatform(
        gpu="h100",
        gpus_per_node=8,
        nodes=2,
        nvlink_GBps_per_direction=450,
        nvlink_domain_gpus=8,
        nics_per_node=8,
        nic_gbps=400,
        transport="roce",
        nvls=nvls,
        min_ctas=min_ctas,
    )
    job = measured_job("all_reduce", ran, np.array([float(size)]))
    time_us = monotone(job, platform(None), algorithm)[1][0]
    return Measured("all_reduce", 16, size, size / time_us / 1e3 * 30 / 16)


@pytest.mark.parametrize(
    ("algorithm", "text"),
    [
        ("ring", "export NCCL_ALGO=Ring\n"),
        ("ring", "host00:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n"),
        ("tree", "env:\n- name: NCCL_ALGO\n  value: Tree\n"),
        ("ring,tree", "export NCCL_NVLS_ENABLE=0\n"),
    ],
)
def test_the_variables_of_another_file_are_those_of_the_run(tmp_path: Path, algorithm: str, text: str) -> None:
    nvls = False if "NVLS" in text else None
    run = number(algorithm if nvls is None else "auto", nvls)
    alone, beside = examined(tmp_path, given=(run,)), examined(tmp_path, text, given=(run,))
    assert beside.healthy > 0.9
    assert not beside.spans
    assert alone.healthy < beside.healthy
    assert beside.settings[0].slower > 1.1
    assert "the estimate is with NCCL_" in "\n".join(lines(beside))


def test_a_table_of_its_own_settings_keeps_them(tmp_path: Path) -> None:
    """A file without rows speaks for runs that state nothing; another table's file for its own rows."""
    own = output(line="NCCL_ALGO set by environment to NVLSTree.")
    found = examined(tmp_path, own, "export NCCL_ALGO=Ring\n")
    assert not any("ring" in item.variables for item in found.settings)
    other = output("all_gather", line="NCCL_ALGO set by environment to Ring.")
    assert not any(item.curve.startswith("run0") for item in examined(tmp_path, output(), other).settings)


@pytest.mark.parametrize(
    "text", [ACS, LOG + "host00:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"]
)
def test_a_text_alone_names_its_cause(tmp_path: Path, text: str) -> None:
    found = examined(tmp_path, text)
    assert not found.timed
    assert (found.suspects[0].cause.name, found.suspects[0].share > 0.8) == ("peer_dma", True)
    assert "\n".join(lines(found)).startswith("no times: the causes of a slow run by what the files say")
    assert "no times are given" in found.advice


def test_a_file_that_says_nothing_is_named_and_the_others_are_used(tmp_path: Path) -> None:
    found = examined(tmp_path, "hello\n", output(), ACS)
    assert [(item.severity, item.message) for item in found.warnings] == [
        ("warning", "no table of times and no line that is known: the file was not used")
    ]
    assert found.timed
    with pytest.raises(InputError, match="no run to compare"):
        examined(tmp_path, "hello\n")


def test_a_table_with_a_mistake_is_an_error(tmp_path: Path) -> None:
    broken = "collective: all_reduce\nrows: 5\nplatform: {gpu: h100, gpus_per_node: 8, nodes: 2}\n"
    with pytest.raises(InputError, match="rows"):
        examined(tmp_path, broken)
    assert any(item.severity == "error" for item in examined(tmp_path, output(), broken).warnings)


def test_gpus_of_a_number_are_whole_servers() -> None:
    with pytest.raises(InputError, match="expected whole servers of 8 GPUs, got 12 GPUs"):
        doctor(fabric(), [], REQUEST, (Measured("all_reduce", 12, 1 << 30, 100.0),))


def test_a_forced_algorithm_is_the_one_that_is_named(tmp_path: Path) -> None:
    """A limit of channels, too, is that of the variable: a run with two channels is explained by two, not by eight."""
    for most in (2, 8):
        text = f"export NCCL_MAX_NCHANNELS={most}\n"
        job = measured_job(
            "all_reduce", MeasuredPlatform(gpu="h100", gpus_per_node=8, nodes=1, max_ctas=most), np.array([4.0 * (1 << 30)])
        )
        time_us = monotone(job, platform(None), "ring")[1][0]
        run = Measured("all_reduce", 8, 4 << 30, 4 * (1 << 30) / time_us / 1e3 * 14 / 8)
        found = examined(tmp_path, f"{text}export NCCL_ALGO=Ring\n", given=(run,))
        assert [item.cause.name for item in found.suspects][:1] == ["few_channels"]
