"""The variables of NCCL that come with a transport, and what nothing measured decides: ceilings and open bands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabric.solver import Floats
from fabric.solver.collective import collective_names
from fabric.solver.collectives.algorithms import NEVER, Runs, monotone
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.costs import forms, ideal_us
from fabric.solver.collectives.job import Job, environment_of, environments, measured_job
from fabric.solver.collectives.physics import Physics, shipped, transports
from fabric.solver.measured.platform import MeasuredPlatform

TCPX = MeasuredPlatform(
    gpu="h100",
    gpus_per_node=8,
    nodes=2,
    nvlink_GBps_per_direction=450,
    nvlink_domain_gpus=8,
    nics_per_node=4,
    nic_gbps=200,
    transport="tcpx",
)
H100 = MeasuredPlatform(
    gpu="h100",
    gpus_per_node=8,
    nodes=2,
    nvlink_GBps_per_direction=450,
    nvlink_domain_gpus=8,
    nics_per_node=8,
    nic_gbps=400,
    transport="roce",
)
GB300 = MeasuredPlatform(
    gpu="gb300",
    gpus_per_node=4,
    nodes=2,
    nvlink_GBps_per_direction=900,
    nvlink_domain_gpus=4,
    nics_per_node=8,
    nic_gbps=400,
    transport="roce",
)
SIZES = np.exp2(np.arange(3.0, 35.0))
GB = 1e9


def job(ran: MeasuredPlatform, collective: str = "all_reduce", sizes: Floats = SIZES) -> Job:
    return measured_job(collective, ran, sizes)


def keys(found: Runs) -> set[tuple[str, str]]:
    return {found.key(at) for at in range(len(found.chosen))}


def test_a_transport_runs_what_its_profile_permits() -> None:
    assert keys(monotone(job(TCPX), shipped())[0]) == {("ring", "simple")}
    taken = keys(monotone(job(replace(TCPX, transport="fastrak", nics_per_node=8)), shipped())[0])
    assert {name for name, _ in taken} <= {"ring", "tree"}
    assert ("nvls_tree", "simple") in keys(monotone(job(H100), shipped())[0])


@pytest.mark.parametrize(
    ("algorithm", "protocol", "expected"),
    [("tree", "auto", {("tree", "simple")}), ("auto", "ll128", {("ring", "ll128")}), ("tree", "ll", {("tree", "ll")})],
)
def test_what_is_stated_goes_before_the_profile(algorithm: str, protocol: str, expected: set[tuple[str, str]]) -> None:
    assert keys(monotone(job(TCPX), shipped(), algorithm, protocol)[0]) == expected


def test_tcpx_as_measured() -> None:
    """skypilot-org/skypilot, docs on GCP's high-performance networking: two A3 High servers, 4x200G."""
    sizes = np.array([1 << 20, 1 << 24, 1 << 28, 1 << 31], dtype=np.float64)
    measured = np.array([1478.26, 1833.17, 7421.36, 61267.98])
    times = monotone(job(TCPX, sizes=sizes), shipped())[1]
    low, high = band_of(job(TCPX, sizes=sizes), shipped())
    assert np.all((measured >= low * times) & (measured <= high * times))


def test_sockets_limit_the_server_not_its_nics() -> None:
    """Plain TCP: more NICs do not help where the hosts copy, and the band has both ends of what was published."""
    sizes = np.array([1 << 33], dtype=np.float64)
    by_tcp = replace(TCPX, transport="ethernet")
    more = replace(by_tcp, nics_per_node=8, nic_gbps=400)
    times = [monotone(job(ran, sizes=sizes), shipped())[1][0] for ran in (by_tcp, more)]
    assert times[0] == pytest.approx(times[1], rel=0.02)
    slower_nic = replace(by_tcp, nics_per_node=1, nic_gbps=25)
    assert monotone(job(slower_nic, sizes=sizes), shipped())[1][0] > 2 * times[0]
    low, high = band_of(job(by_tcp, sizes=sizes), shipped())
    assert high[0] / low[0] > 8
    cluster = Physics({**shipped().values, "socket_GBps.ethernet": 25.0}, {}, own={("hopper", "ethernet"): 16})
    assert monotone(job(by_tcp, sizes=sizes), cluster)[1][0] == pytest.approx(times[0] / 2.5, rel=0.05)
    assert np.divide(*reversed(band_of(job(by_tcp, sizes=sizes), cluster)))[0] < high[0] / low[0] / 2
    alone = job(replace(by_tcp, nodes=1), sizes=sizes)
    roce = job(replace(by_tcp, nodes=1, transport="roce"), sizes=sizes)
    assert monotone(alone, shipped())[1][0] == monotone(roce, shipped())[1][0]


def test_the_data_of_the_profiles() -> None:
    assert set(environments()) <= set(transports())
    for profile in environments().values():
        assert profile.source
        assert any(profile.permits(("ring", protocol), "auto", "auto") for protocol in ("ll", "ll128", "simple"))
        assert profile.permits(("p2p", "simple"), "auto", "auto")
    assert [environment_of("tcpx").ctas(default) for default in (4, 16)] == [8, 8]
    assert [environment_of("tcpxo").ctas(default) for default in (2, 16)] == [4, 16]
    assert environment_of("roce").text == ""
    assert environment_of("tcpx").text.startswith("NCCL_ALGO=Ring NCCL_PROTO=Simple")


@pytest.mark.parametrize("collective", collective_names())
def test_nothing_is_faster_than_its_bytes_allow(collective: str) -> None:
    """Whatever a platform file says: shares of several parameters may add up to more than a line carries."""
    parameters = shipped()
    generous = replace(
        parameters, values={**parameters.values, "nic_share": 3.0, "ring_ll128_share": 5.0, "nvls_tree_share": 9.0}
    )
    for ran in (
        H100,
        GB300,
        replace(TCPX, nodes=16),
        replace(H100, nodes=1),
        MeasuredPlatform(
            gpu="h200",
            gpus_per_node=8,
            nodes=2,
            nvlink_GBps_per_direction=450,
            nvlink_domain_gpus=4,
            nics_per_node=4,
            nic_gbps=400,
            transport="ib",
        ),
    ):
        here = job(ran, collective)
        terms = generous.columns(np.asarray(here.generation), np.asarray(here.transport))
        for form in forms(here).values():
            times = form(terms)
            assert np.all(times[times < NEVER] >= ideal_us(here)[times < NEVER])


def test_nvls_trees_lose_by_the_level_not_by_a_power() -> None:
    """NVIDIA/nccl#1221: 320 GB/s on four servers of eight H100. A power law gave 47 GB/s on 128."""
    size = np.array([float(16 << 30)])
    busbw = {}
    for nodes in (2, 4, 8, 16, 32, 64, 128):
        here = job(replace(H100, nodes=nodes), sizes=size)
        times = monotone(here, shipped(), "nvls_tree")[1]
        busbw[nodes] = float(size[0] / times[0] / 1e3 * 2)
        if nodes == 4:
            low, high = band_of(here, shipped(), "nvls_tree")
            measured = size[0] * 2 * 31 / 32 / 320 / 1e3
            assert times[0] * low[0] < measured < times[0] * high[0]
    found = list(busbw.values())
    assert found == sorted(found, reverse=True)
    assert all(busbw[2 * nodes] > 0.8 * busbw[nodes] for nodes in (4, 8, 16, 32, 64))
    assert busbw[128] > 150


def test_an_unmeasured_domain_has_a_band_to_the_ring() -> None:
    """NVIDIA/nodewright-packages#111: two trays of four GB300 over 8x400G, 430.7 GB/s at its peak; size assumed."""
    size = np.array([float(8 << 30)])
    times = monotone(job(GB300, sizes=size), shipped())[1]
    low, high = band_of(job(GB300, sizes=size), shipped())
    assert times[0] * low[0] < 34903.84 < times[0] * high[0]
    ring = monotone(job(GB300, sizes=size), shipped(), "ring")[1]
    assert high[0] * times[0] > ring[0]
    narrow = band_of(job(replace(GB300, gpus_per_node=8, nvlink_domain_gpus=8, nics_per_node=16), sizes=size), shipped())
    assert (high / low)[0] > 1.3 * (narrow[1] / narrow[0])[0]


def test_ctas_that_a_release_may_double_are_in_the_band() -> None:
    """NVIDIA/nccl#1222: four servers of eight H100, 391 GB/s; the default of 16 CTAs gives less."""
    size = np.array([float(16 << 30)])
    here = job(replace(H100, nodes=4), sizes=size)
    times = monotone(here, shipped())[1]
    low, _ = band_of(here, shipped())
    assert times[0] * low[0] < 85109 < times[0]
    stated = job(replace(H100, nodes=4, min_ctas=24), sizes=size)
    assert band_of(stated, shipped())[0][0] > low[0]
