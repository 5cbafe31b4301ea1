"""Runs on some GPUs of each server, and groups at the same time: read from their output, compared with the NICs in use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric.pipeline import doctor, load, plan
from fabric.solver.doctor.diagnosis import Diagnosis
from fabric.solver.doctor.examine import gather
from fabric.solver.estimate.placement import ServerPart
from fabric.solver.estimate.platform import platform_of
from fabric.solver.estimate.request import EstimateRequest, estimate
from fabric.solver.measured.platform import MeasuredPlatform, part_of
from fabric.solver.measured.tables import Measured, read
from tests import ROOT
from tests.solver.doctor.runs import INTENT, fabric, write

REQUEST = EstimateRequest(routing="adaptive", queue_pairs=4)
SIZES = tuple(1 << power for power in range(20, 34))
MEASURED = ROOT / "tests" / "reference" / "partial"
COLUMNS = """\
# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)
"""


def output(hosts: int, devices: tuple[int, ...], times: np.ndarray, *, groups: bool = False) -> str:
    """What `all_reduce_perf` prints on these GPUs of each host; with `groups` one for each GPU of a host."""
    lines = ["# nThread 1 nGpus 1 minBytes 1024 maxBytes 8589934592 step: 2(factor) iters: 20 graph: 0", "# Using devices"]
    for host in range(hosts):
        for at, device in enumerate(devices):
            rank, group = (host, at) if groups else (host * len(devices) + at, 0)
            where = f"Pid {4000 + len(lines)} on host{host:02} device {device} [0x1b] NVIDIA H100 80GB HBM3"
            lines.append(f"# Rank {rank} Group {group} {where}")
    ranks = hosts if groups else hosts * len(devices)
    rows = []
    for size, us in zip(SIZES, times, strict=True):
        algbw = size / us / 1e3
        side = f"{us:9.1f} {algbw:7.2f} {algbw * 2 * (ranks - 1) / ranks:7.2f} 0"
        rows.append(f"{size} {size // 4} float sum -1 {side} {side}")
    return "\n".join([*lines, COLUMNS + rows[0], *rows[1:]]) + "\n"


def estimated(gpus: int, part: ServerPart) -> np.ndarray:
    request = EstimateRequest(routing="adaptive", queue_pairs=4, sizes=SIZES, gpus=gpus, part=part)
    return np.array([row.time_us for row in estimate(fabric(), request, "packed")[0].rows])


def examined(folder: Path, text: str) -> Diagnosis:
    return doctor(fabric(), [write(folder, text, "run.log")], REQUEST)


@pytest.mark.parametrize(
    ("devices", "part"),
    [((0,), ServerPart(1)), ((0, 1, 2, 3), ServerPart(4)), ((0, 4), ServerPart(ids=(0, 4))), ((5,), ServerPart(ids=(5,)))],
)
def test_a_run_on_some_gpus(tmp_path: Path, devices: tuple[int, ...], part: ServerPart) -> None:
    times = estimated(16 * len(devices), part)
    healthy = examined(tmp_path, output(16, devices, times))
    assert (healthy.spans, healthy.suspects) == ((), ())
    slow = examined(tmp_path, output(16, devices, times * 1.8))
    assert slow.spans
    assert slow.suspects


def test_groups_at_the_same_time_are_communicators(tmp_path: Path) -> None:
    text = output(16, tuple(range(8)), estimated(16, ServerPart(1, communicators=8)), groups=True)
    gathered = gather([write(tmp_path, text, "split.log")], platform_of(fabric()))
    ran = gathered.tables[0].platform
    assert (ran.gpus_per_node, ran.nodes, ran.communicators, ran.nics_per_node) == (1, 16, 8, 1)
    assert not examined(tmp_path, text).spans


def test_the_platform_of_a_part_has_the_nics_beside_it() -> None:
    whole = MeasuredPlatform(gpu="h100", gpus_per_node=8, nodes=4, nics_per_node=4, nic_gbps=200)
    assert part_of(whole, 2, 4).nics_per_node == 1
    assert part_of(whole, 2, 4, (0, 7)).nics_per_node == 2
    assert part_of(whole, 8, 2).nics_per_node == 4


@pytest.mark.parametrize(("gpus", "each", "busbw", "slow"), [(32, 1, 46, False), (32, 1, 15, True), (128, 4, 180, False)])
def test_one_number(gpus: int, each: int, busbw: float, slow: bool) -> None:
    given = [Measured("all_reduce", gpus, 1 << 30, busbw, each)]
    assert bool(doctor(fabric(), [], REQUEST, given).spans) is slow


def test_a_pod_whose_nic_is_far_from_its_gpu(tmp_path: Path) -> None:
    """kubernetes-sigs/dranet: one GPU and one NIC a pod, chosen apart, 32 of 50 GB/s."""
    table = read(MEASURED / "h200_2n_g1_allreduce_dranet.yaml")[0]
    given = [
        Measured("all_reduce", 2, row.bytes, row.bytes / row.time_us / 1e3, 1) for row in table.rows if row.bytes >= 1 << 28
    ]
    found = doctor(fabric(), [], REQUEST, given)
    assert "pcie_path" in [suspect.cause.name for suspect in found.suspects]


def test_plain_tcp_is_no_cause_of_a_design_by_tcp(tmp_path: Path) -> None:
    text = INTENT.read_text(encoding="utf-8").replace("    servers:", "    transport: ethernet\n    servers:", 1)
    path = tmp_path / "tcp.yaml"
    path.write_text(text, encoding="utf-8")
    by_tcp = plan(load(path)).fabrics["backend"]
    log = write(tmp_path, "host00:1:2 [0] NCCL INFO Using network Socket\n", "tcp.log")
    slow = [Measured("all_reduce", 16, 1 << 30, 1.0)]
    assert "socket" not in [suspect.cause.name for suspect in doctor(by_tcp, [log], REQUEST, slow).suspects]
    assert "socket" in [suspect.cause.name for suspect in doctor(fabric(), [log], REQUEST, slow).suspects]
