"""NVLink domains smaller than a server, and other sizes that a server states: used by every command, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric.base.diagnostics import InputError
from fabric.base.schemas.models import document
from fabric.model.plan import FabricPlan
from fabric.pipeline import estimate, load, plan, step
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import measured_job
from fabric.solver.collectives.physics import gpu, shipped, transport
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.estimate.lines import EstimateDocument, head
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.tables import read_yaml

SIZE = 32 << 30
INTENT = """\
version: 1
site: nvl
catalog:
  servers:
    nvl: {{{server}, nics: {{compute: {{count: 4, speed_gbps: 400}}}}}}
fabrics:
  backend:
    nos: sonic
    servers: {{model: nvl, count: 16}}
    topology: {{switch: sn5600}}
"""
JOB = """\
model: {parameters: 8.0e9, layers: 32, hidden: 4096, sequence: 4096}
batch: {micro_batch: 1, micro_batches: 8}
parallel: {tensor: TENSOR, sequence_parallel: true}
compute: {tflops_per_gpu: 989, utilisation: 0.5}
"""


def backend(tmp_path: Path, server: str) -> FabricPlan:
    path = tmp_path / "nvl.yaml"
    path.write_text(INTENT.format(server=server), encoding="utf-8")
    return plan(load(path)).fabrics["backend"]


def found(tmp_path: Path, server: str, gpus: int = 8, size: int = SIZE, collective: str = "all_reduce") -> Estimate:
    return estimate(backend(tmp_path, server), EstimateRequest(collective=collective, sizes=(size,), gpus=gpus), "packed")[0]


def server(domain: int | None, model: str = "h200", speed: str = ", nvlink_gbytes_s: 900") -> str:
    stated = f", nvlink_domain_gpus: {domain}" if domain else ""
    return f"gpus: 8, gpu: {model}{stated}{speed}"


def test_bridges_of_four_lie_between_pcie_and_nvlink(tmp_path: Path) -> None:
    """Measured 68.66 GB/s on 8 H200 NVL in two bridges (kubernetes.recipes, h200-nvl4-topology-bandwidth-tiers)."""
    row = {domain: found(tmp_path, server(domain)).rows[0] for domain in (1, 2, 4, 8)}
    busbw = [row[domain].busbw_GBps for domain in (1, 2, 4, 8)]
    assert busbw == sorted(busbw)
    assert busbw[0] < 45 < busbw[2] < 4 * 63 < busbw[3]
    time_us = SIZE * 14 / 8 / 68.66 / 1e3
    assert row[4].p10_us < time_us < row[4].p90_us
    assert row[4].bottleneck == "PCIe"
    for gpus, expected in ((4, busbw[3]), (6, busbw[2])):
        assert found(tmp_path, server(4), gpus).rows[0].busbw_GBps == pytest.approx(expected, rel=0.35)


def test_pairs_are_as_fast_as_the_odd_one_lets_them() -> None:
    """NVIDIA/nccl-tests#178: A100 in NVLink pairs, 208 GB/s in a pair, 20 over two of them, three GPUs."""
    for gpus, busbw in ((2, 208.0), (3, 20.0)):
        ran = MeasuredPlatform(gpu="a100-pcie", gpus_per_node=gpus, nodes=1, nvlink_domain_gpus=2)
        job = measured_job("all_reduce", ran, np.array([float(8 << 30)]))
        time_us = monotone(job, shipped())[1]
        low, high = band_of(job, shipped())
        measured = (8 << 30) * 2 * (gpus - 1) / gpus / busbw / 1e3
        assert time_us * low * 0.9 < measured < time_us * high * 1.1


@pytest.mark.parametrize("domain", [3, 5, 12])
def test_a_domain_that_is_no_part_of_a_server_is_refused(tmp_path: Path, domain: int) -> None:
    with pytest.raises(InputError, match=f"nvlink_domain_gpus: expected .* got {domain}"):
        backend(tmp_path, server(domain))


def test_a_domain_of_gpus_without_nvlink_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nvlink_domain_gpus is 4, but GPU l40s has no NVLink"):
        found(tmp_path, server(4, "l40s", ""))
    with pytest.raises(InputError, match="expected no nvlink_domain_gpus of a server without GPUs"):
        backend(tmp_path, "gpus: 0, nvlink_domain_gpus: 8")
    assert found(tmp_path, server(None, "l40s", "")).rows


def test_the_names_of_bridged_parts_are_no_baseboards(tmp_path: Path) -> None:
    for name, bridge, speed in (("h100-nvl", 2, 300), ("h200-nvl", 4, 450), ("NVIDIA H200 NVL", 4, 450)):
        answer = found(tmp_path, server(None, name, ""))
        assert (answer.job.bridge, answer.job.bridge_GBps, bool(answer.job.nvls)) == (bridge, speed, False)
        assert any(f"bridges of {bridge}, as" in note for note in answer.notes)
    pairs = found(tmp_path, server(2, "a40", ""))
    assert (pairs.job.bridge, pairs.job.bridge_GBps) == (2, 56.25)


def test_the_answer_says_what_joins_the_gpus(tmp_path: Path) -> None:
    lines = [head(found(tmp_path, server(domain), gpus))[1].strip() for domain, gpus in ((4, 8), (4, 16), (1, 8), (8, 8))]
    assert lines[0] == (
        "1 server of 8 GPUs in NVLink bridges of 4, 450 GB/s per GPU, PCIe between them, 63 GB/s per GPU; "
        "the network is not used"
    )
    assert lines[1].startswith("2 servers of 8 GPUs in NVLink bridges of 4")
    assert lines[2].startswith("1 server of 8 GPUs over PCIe, 63 GB/s per GPU")
    assert lines[3].startswith("NVLink domain of 8 GPUs, 450 GB/s per GPU")
    keys = ("nvlink_domains", "nvlink_domain_gpus", "nvlink_GBps", "pcie_GBps")
    documents = [document(found(tmp_path, server(domain), 16), EstimateDocument) for domain in (1, 2, 4, 8)]
    assert [tuple(one[key] for key in keys) for one in documents] == [
        (16, 1, 0, 63),
        (8, 2, 450, 63),
        (4, 4, 450, 63),
        (2, 8, 450, 0),
    ]


def test_tensor_parallel_groups_stay_in_a_bridge(tmp_path: Path) -> None:
    """A group of four ranks has NVLink in bridges of four, a group of eight crosses PCIe."""
    calls = {}
    for domain in (4, 8):
        for tensor in (4, 8):
            job = tmp_path / "job.yaml"
            job.write_text(JOB.replace("TENSOR", str(tensor)), encoding="utf-8")
            time = step(backend(tmp_path, server(domain)), EstimateRequest(gpus=16), job, "packed")
            calls[domain, tensor] = next(item.call_us for item in time.dimensions if item.dimension == "tensor")
    assert calls[4, 4] == pytest.approx(calls[8, 4], rel=0.5)
    assert calls[4, 8] > 3 * calls[8, 8]


@pytest.mark.parametrize(
    ("domain", "gpus", "message"),
    [(12, 8, "expected whole nodes of 8 GPUs, got 12"), (3, 8, "expected an equal part of them of 8 GPUs, got 3")],
)
def test_a_table_states_domains_that_can_be(domain: int, gpus: int, message: str) -> None:
    text = f"""\
collective: all_reduce
platform:
  {{gpu: h100, gpus_per_node: {gpus}, nodes: 2, nvlink_domain_gpus: {domain}, nics_per_node: 8, nic_gbps: 400, transport: ib}}
rows: [{{bytes: 1024, time_us: 30}}]
"""
    with pytest.raises(InputError, match=message):
        read_yaml(text, "table.yaml")


@pytest.mark.parametrize(
    ("name", "entry", "known"),
    [
        ("H100", "h100", True),
        ("h100-sxm5-80gb", "h100", True),
        ("NVIDIA H100 80GB HBM3", "h100", True),
        ("h200nvl", "h200-nvl", True),
        ("NVIDIA A100 80GB PCIe", "a100-pcie", True),
        ("A100-SXM4-80GB", "a100", True),
        ("gb200-nvl72", "gb200", True),
        ("v100-pcie", "v100", False),
        ("h300", "h800", False),
    ],
)
def test_a_gpu_by_its_name(name: str, entry: str, known: bool) -> None:
    assert (gpu(name).name, gpu(name).known) == (entry, known)
    assert gpu("v100-pcie").nvlink_GBps == gpu("a100-pcie").nvlink_GBps == 0


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("FasTrak", "tcpxo"),
        ("tcp", "ethernet"),
        ("sockets", "ethernet"),
        ("ib", "infiniband"),
        ("roce_v2", "roce"),
        ("x", "rdma"),
    ],
)
def test_a_transport_by_its_name(word: str, name: str) -> None:
    assert transport(word) == name
