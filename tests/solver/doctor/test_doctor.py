"""The doctor: causes that were injected are named, a healthy run has none, and each cause's data is consistent."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabric.pipeline import doctor
from fabric.solver.collective import collective_names
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import measured_job
from fabric.solver.doctor.causes import NEEDS, STEPS, Cause, Effect, causes, releases
from fabric.solver.doctor.diagnosis import BETWEEN, Curve, Diagnosis, Setting, _between, can_concern, diagnose, features
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.doctor.examine import lines
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.measured.tables import read
from tests import ROOT
from tests.solver.doctor.runs import fabric, output, write

REQUEST = EstimateRequest(routing="adaptive", queue_pairs=4)
PLATFORM = read(ROOT / "tests" / "reference" / "collectives" / "h100_ib_2n_allreduce_309.yaml")[0].platform
SIZES = np.array([1e6])
CAUSES = {cause.name: cause for cause in causes()}


def examined(folder: Path, *texts: str) -> Diagnosis:
    files = [write(folder, text, f"run{number}.log") for number, text in enumerate(texts)]
    return doctor(fabric(), files, REQUEST)


def names(diagnosis: Diagnosis) -> list[str]:
    return [suspect.cause.name for suspect in diagnosis.suspects]


@pytest.mark.parametrize("collective", ["all_reduce", "all_gather", "alltoall"])
def test_a_run_as_estimated_is_healthy(tmp_path: Path, collective: str) -> None:
    found = examined(tmp_path, output(collective))
    assert (found.spans, found.suspects) == ((), ())
    assert found.healthy > 0.9
    assert lines(found)[0] == "all sizes within the band"


@pytest.mark.parametrize(
    ("name", "collective"),
    [
        ("peer_dma", "all_reduce"),
        ("socket", "all_reduce"),
        ("pcie_path", "all_gather"),
        ("slow_server", "all_reduce"),
        ("packet_loss", "all_reduce"),
        ("pxn", "alltoall"),
        ("p2p_off", "all_reduce"),
        ("few_channels", "all_reduce"),
    ],
)
def test_a_cause_with_its_line_in_the_log_is_the_first(tmp_path: Path, name: str, collective: str) -> None:
    cause = CAUSES[name]
    found = examined(tmp_path, output(collective, cause.effects[-1], cause.example))
    assert names(found)[0] == name
    assert found.suspects[0].evidence
    assert found.spans


def test_without_a_log_the_bandwidth_alone_leaves_several_causes(tmp_path: Path) -> None:
    found = examined(tmp_path, output(effect=Effect(net=0.5)))
    assert {"pcie_path", "slow_server"} <= set(names(found))
    assert [span.first_bytes >= 1 << 20 for span in found.spans] == [True]
    assert 1.5 < found.spans[0].slower < 2.1


def test_a_log_that_shows_gdr_speaks_against_it(tmp_path: Path) -> None:
    """By three only: NCCL prints it with ACS on or an IOMMU that translates too."""
    line = "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
    effect = CAUSES["peer_dma"].effects[1]
    plain = examined(tmp_path, output(effect=effect))
    excluded = examined(tmp_path, output(effect=effect, line=line))
    odds = [
        {item.cause.name: item.share / (1 - item.share) for item in found.suspects}["peer_dma"] for found in (plain, excluded)
    ]
    assert odds[0] / odds[1] == pytest.approx(3, rel=0.1)


def test_fewer_nics_than_the_design_has(tmp_path: Path) -> None:
    found = examined(tmp_path, output(effect=Effect(net=0.25), line="NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]"))
    assert names(found)[0] == "few_nics"
    assert found.suspects[0].evidence == "2 of 8 NICs"


def test_a_debug_log_of_its_own_counts(tmp_path: Path) -> None:
    log = "host00:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    assert names(examined(tmp_path, output(effect=Effect(net=0.4)), log))[0] == "peer_dma"
    assert names(examined(tmp_path, log))[0] == "peer_dma"


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.name)
def test_the_data_of_a_cause(cause: Cause) -> None:
    assert {*cause.needs, *(need for need, _ in cause.often)} <= set(NEEDS)
    assert set(cause.collectives) <= set(collective_names())
    assert cause.prior > 0
    assert cause.weight > 1
    assert cause.confirm
    assert cause.source
    assert any(effect != Effect() for effect in cause.effects)
    assert all(sign.weight > 1 and sign.where in ("", *NEEDS) for sign in (*cause.log, *cause.env, *cause.excludes))
    assert all(len(severities) == STEPS for _, severities in cause.tails)
    if cause.log or cause.env:
        evidence = Evidence(f"host00:4000:4100 [0] NCCL INFO {cause.example}\n")
        assert evidence.points_to(cause)
        assert evidence.excludes(cause) == 1


def test_gpus_that_are_not_those_of_the_design_are_reported(tmp_path: Path) -> None:
    found = examined(tmp_path, output().replace("NVIDIA H100 80GB HBM3", "NVIDIA L40S"))
    assert [item.message for item in found.warnings] == ["the output states nvidial40s GPUs, the platform h100"]


def test_several_runs_of_one_cluster_have_one_cause(tmp_path: Path) -> None:
    """Runs with the same name, and likelihoods far beyond the range of a float."""
    effect = CAUSES["p2p_off"].effects[-1]
    text = "".join(output(collective, effect) for collective in ("all_reduce", "all_reduce", "all_gather", "reduce_scatter"))
    found = examined(tmp_path, *[text] * 4)
    same = {"p2p_off", "nvlink_down", "wrong_topology"}  # which slow the same part
    assert "p2p_off" in names(found)[:2]  # the runs do not tell it from a wrong topology
    assert set(names(found)[:2]) <= same
    assert sum(item.share for item in found.suspects if item.cause.name in same) > 0.9
    assert len(found.spans) == 16


def test_a_known_defect_names_its_thread() -> None:
    for item in releases():
        version = ".".join(map(str, item.first))
        assert Evidence(f"NCCL version {version}+cuda12.2\n").defect(item.collectives[0]) == item
    assert Evidence("NCCL version 2.27.3+cuda12.9\n").defect("all_reduce") is None
    assert Evidence("# nccl-tests version 2.17.6 nccl-headers=22703 nccl-library=22703").release == "2.27.3"


def test_servers_with_one_gpu_without_nvlink_have_a_finite_estimate() -> None:
    servers = replace(PLATFORM, gpu="a100-pcie", gpus_per_node=1, nvlink_domain_gpus=1, nvlink_GBps_per_direction=None)
    curve = Curve(name="x", job=measured_job("all_reduce", servers, SIZES), measured_us=SIZES, low=SIZES, high=SIZES)
    assert np.all(np.isfinite(curve.estimate(platform(None))))


def test_the_page_lists_every_cause() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(CAUSES)


def test_a_run_inside_one_leaf_meets_no_collision_of_flows(tmp_path: Path) -> None:
    """Rings over rails of one unit stay on their leaf, so ECMP has no choice; without rails they leave it."""
    slow = output(effect=Effect(net=0.5))
    files = [write(tmp_path, slow, "run.log")]
    found = doctor(fabric(), files, EstimateRequest(routing="ecmp", queue_pairs=1))
    assert names(found)
    assert "hash_collision" not in names(found)
    curve = Curve(name="x", job=measured_job("all_reduce", PLATFORM, SIZES), measured_us=SIZES, low=SIZES, high=SIZES)
    cause = CAUSES["hash_collision"]
    assert [can_concern(cause, replace(curve, beyond_leaf=away), Setting(), False) for away in (True, False)] == [True, False]


def test_severities_between_two_of_one_kind_are_tried() -> None:
    times = [[np.array([8.0])], [np.array([128.0])], [np.array([3.0])]]
    effects = [Effect(net=0.5), Effect(net=0.25), Effect(nvlink=0.3)]
    found = [float(item[0][0]) for item in _between(effects, times, gradual=True)]
    assert found == pytest.approx([8, 128, 3, 16, 32, 64])
    assert len(_between(effects, times, gradual=False)) == 3
    slower_hop = [Effect(net=0.5), Effect(net=0.25, net_us=5)]  # which change one thing alike
    assert len(_between(slower_hop, times[:2], gradual=True)) == 2 + BETWEEN
    assert [cause.name for cause in causes() if not cause.gradual] == ["one_queue_pair", "forced_algorithm"]


def test_severities_beyond_the_usual_ones_run_from_the_mildest_to_the_extreme() -> None:
    ((key, severities),) = CAUSES["socket"].tails
    values = [getattr(effect, key) for effect in severities]
    assert (values[0], values[-1]) == pytest.approx((10, 0.1))
    assert values == sorted(values, reverse=True)


def test_a_change_that_leaves_the_run_as_it_is_does_not_count(tmp_path: Path) -> None:
    """A wrong topology slows NVLink or the network; a run inside one server can only have the first."""
    servers = replace(PLATFORM, nodes=1)
    job = measured_job("all_reduce", servers, SIZES)
    low, high = band_of(job, platform(None))
    curve = Curve(name="x", job=job, measured_us=SIZES, low=low, high=high)
    times = curve.estimate(platform(None), Effect(nvlink=0.1))
    found = diagnose([replace(curve, measured_us=times)], platform(None), Evidence(), Setting())
    assert not {"socket", "packet_loss", "pcie_path"} & set(names(found))
    assert "wrong_topology" in names(found)


def test_nvls_that_is_off_is_not_what_runs() -> None:
    curve = Curve(
        name="x",
        job=measured_job("all_reduce", replace(PLATFORM, nodes=1), np.array([2.0**30])),
        measured_us=SIZES,
        low=SIZES,
        high=SIZES,
    )
    slower = curve.estimate(platform(None), Effect(nvls=False)) / curve.estimate(platform(None))
    assert 1.2 < float(slower[0]) < 1.6  # 480 and 360 GB/s on eight H100


def test_a_cause_is_likelier_on_designs_of_its_own() -> None:
    cause = CAUSES["pcie_path"]
    assert cause.prior_on({"network"}) == cause.prior
    assert cause.prior_on({"network", "alone"}) == 3 * cause.prior
    servers = replace(PLATFORM, gpus_per_node=1, nvlink_domain_gpus=1)
    curves = [
        Curve(name="x", job=measured_job("all_reduce", ran, SIZES), measured_us=SIZES, low=SIZES, high=SIZES)
        for ran in (servers, PLATFORM)
    ]
    assert [features(curve, Setting())["alone"] for curve in curves] == [True, False]
    assert [features(curve, Setting())["pairs"] for curve in curves] == [False, False]
