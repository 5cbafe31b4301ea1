"""Laws of estimates: more servers never take less time, a failure costs its share, a partial domain is its own GPUs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.collectives.job import Job, default_ctas
from fabric.solver.estimate.nic_bandwidth import supply
from fabric.solver.estimate.placement import place
from tests import samples
from tests.solver.estimate.fabrics import ask, planned, wired

SIZES = np.array([8, 64 << 10, 1 << 20, 32 << 20, 1 << 30, 8 << 30], dtype=np.float64)


def job(collective: str, domains: int, generation: str, transport: str, domain: int, nics: float = 400.0) -> Job:
    return Job(
        collective=collective,
        bytes=SIZES,
        ranks=float(domain * domains),
        domain=float(domain),
        domains=float(domains),
        nvlink_GBps=450.0,
        net_GBps=nics,
        nic_GBps=nics / domain,
        generation=physics.generations().index(generation),
        transport=physics.transports().index(transport),
        nvls=generation in ("hopper", "blackwell"),
    )


@settings(max_examples=samples.examples(54), deadline=None)
@given(
    collective=st.sampled_from(["all_reduce", "all_gather", "alltoall", "broadcast"]),
    domains=st.integers(2, 4000),
    more=st.integers(1, 4000),
    generation=st.sampled_from(["ampere", "hopper", "blackwell", "cdna3"]),
    transport=st.sampled_from(["roce", "infiniband", "efa", "slingshot"]),
    domain=st.sampled_from([1, 4, 8, 72]),
)
def test_more_servers_never_take_less_time(collective, domains, more, generation, transport, domain) -> None:
    """Whole servers of full domains, a network without bottlenecks."""
    small, large = (
        monotone(job(collective, count, generation, transport, domain), physics.shipped())[1]
        for count in (domains, domains + more)
    )
    assert (large >= small * (1 - 1e-9)).all()


@settings(max_examples=samples.examples(36), deadline=None)
@given(domains=st.integers(2, 2000), lost=st.integers(1, 7), generation=st.sampled_from(["ampere", "hopper", "blackwell"]))
def test_a_failed_nic_costs_at_most_its_share(domains: int, lost: int, generation: str) -> None:
    """The choice stays that of the healthy job, so no flip of the algorithm adds to the lost bandwidth."""
    whole = job("all_reduce", domains, generation, "roce", 8)
    less = job("all_reduce", domains, generation, "roce", 8, 400.0 * (8 - lost) / 8)
    healthy = monotone(whole, physics.shipped())[1]
    failed = np.maximum(monotone(less, physics.shipped(), chosen_for=whole.healthy())[1], healthy)
    assert (failed <= healthy * 8 / (8 - lost) * (1 + 1e-9)).all()


def test_a_doubling_ladder_on_a_plan() -> None:
    fabric = planned("rails", servers=[("four", 64)], unit={"servers": 8})
    times = [ask(fabric, gpus=4 * servers, sizes=(1 << 20, 1 << 30)).rows for servers in (2, 4, 8, 16, 32, 64)]
    for size in range(2):
        column = [rows[size].time_us for rows in times]
        assert column == sorted(column)


def test_a_ring_uses_faster_nics() -> None:
    """8 NICs of 800G have twice the channels of 8 of 400G; fewer than 16 CTAs are never run."""
    assert [default_ctas(*nics) for nics in ((8, 400), (8, 800), (4, 400), (1, 200), (16, 800))] == [16, 32, 16, 16, 64]


def test_sends_to_a_partial_domain_are_those_of_its_own_gpus() -> None:
    """Two domains of three trays and one tray: sends go from GPU to GPU, none waits for the few NICs of the last domain."""
    net = wired("trays", servers=[("tray", 7)])
    placed = place(net, 14)
    assert placed.full.tolist() == [1.0, 1.0, pytest.approx(1 / 3)]
    found = supply(net, placed, "spray", 1, 0)
    assert found.of("stages").share == pytest.approx(1.0)
    assert found.of("peers").share == pytest.approx(1.0)
    assert found.of("ring").share == pytest.approx(1 / 3), "a ring passes all of its bytes through it"


def test_a_part_of_each_domain() -> None:
    """Two of the three trays of each domain."""
    net = wired("trays", servers=[("tray", 12)])
    placed = place(net, 16, gpus_per_domain=4)
    assert (placed.domains, placed.domain_gpus, placed.full.tolist()) == (4, 4, [1.0] * 4)
    with pytest.raises(InputError, match="expected a multiple of 2 up to 6, got 5"):
        place(net, 16, gpus_per_domain=5)
