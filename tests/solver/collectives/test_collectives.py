"""Laws of the cost of collectives that hold whatever the parameters are fitted to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabric.solver.collective import collective_names
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import NEVER, monotone, run
from fabric.solver.collectives.band import spans_of
from fabric.solver.collectives.costs import crossings
from fabric.solver.collectives.job import Job

SIZES = np.exp2(np.arange(3, 37))
SHARES = ("ring_share", "tree_share", "peers_share", "halving_share")


def job(collective: str = "all_reduce", domains: int = 16, **changes: object) -> Job:
    """H100s in servers of eight with a 400G NIC each, over RoCE."""
    made = Job(
        collective=collective,
        bytes=SIZES,
        ranks=8.0 * domains,
        domain=8.0,
        domains=float(domains),
        nvlink_GBps=450.0,
        net_GBps=400.0 if domains > 1 else 1e9,
        nic_GBps=50.0 if domains > 1 else 1e9,
        generation=physics.generations().index("hopper"),
        transport=physics.transports().index("roce" if domains > 1 else "none"),
        nvls=True,
    )
    return replace(made, **changes)


@pytest.mark.parametrize("parameters", [physics.first(), physics.shipped()], ids=["first", "shipped"])
@pytest.mark.parametrize("collective", collective_names())
@pytest.mark.parametrize("domains", [1, 2, 3, 16, 1000])
def test_less_of_the_network_never_helps(collective: str, domains: int, parameters: physics.Physics) -> None:
    whole = job(collective, domains)
    _, before = monotone(whole, parameters)
    assert (before > 0).all()
    assert (before < NEVER).all()
    assert (np.diff(before) >= 0).all()
    for share in (0.5, 0.1):
        _, after = monotone(replace(whole, **dict.fromkeys(SHARES, share)), parameters)
        assert (after >= before).all()
        assert (after[-1] > before[-1]) == (domains > 1)
        before = after
    _, later = monotone(replace(whole, hop_us=5.0), parameters)
    assert (later >= monotone(whole, parameters)[1]).all()


@pytest.mark.parametrize("algorithm", ["ring", "tree", "nvls_tree", "hierarchical", "halving_doubling", "in_network"])
def test_what_is_asked_for_runs(algorithm: str) -> None:
    found = run(job(), physics.shipped(), algorithm)
    assert {found.key(at)[0] for at in range(len(SIZES))} == {algorithm}


def test_names_of_nccl() -> None:
    """NCCL_ALGO's other words, and NVLS, which needs a tree between domains."""
    for word, meant in (("collnet_direct", "in_network"), ("pat", "ring"), ("nvls", "nvls_tree")):
        assert run(job(), physics.shipped(), word).key(0)[0] == meant
    assert run(job(domains=1), physics.shipped(), "nvls").key(0)[0] == "nvls"


def test_the_choice_does_not_see_the_fabric() -> None:
    parameters = physics.shipped()
    slow = replace(job(), **dict.fromkeys(SHARES, 0.05))
    assert [run(slow, parameters).key(at) for at in range(len(SIZES))] == [
        run(job(), parameters).key(at) for at in range(len(SIZES))
    ]


def test_what_cannot_run_takes_forever() -> None:
    for algorithm, where in (("in_network", job(domains=1)), ("nvls", job(nvls=False))):
        assert (run(where, physics.shipped(), algorithm).time_us >= NEVER).all()
    assert not run(job("alltoall"), physics.shipped(), "ring").keys


@pytest.mark.parametrize(("domains", "times"), [(2, 1.0), (3, 1.5), (4, 2.5), (5, 2.5), (1000, 2.5)])
def test_what_leaves_the_busiest_domain_of_a_double_tree(domains: int, times: float) -> None:
    """Half of the bytes over each edge; with two children there is the share of the NICs alone."""
    assert float(crossings(job(domains=domains), 0.8)) == pytest.approx(times)


@pytest.mark.parametrize("algorithm", ["ring", "tree", "nvls_tree"])
def test_no_tree_falls_without_end(algorithm: str) -> None:
    """At 128 and 1,024 servers of eight the largest messages have nearly the bandwidth of four servers."""

    def busbw(domains: int) -> float:
        asked = job(domains=domains).of(np.array([2.0**36]))
        time_us = run(asked, physics.shipped(), algorithm).time_us[0]
        return float(asked.spec.busbw(asked.ranks) * 2.0**36 / time_us / 1e3)

    few, *many = (busbw(domains) for domains in (4, 128, 1024))
    assert min(many) > 0.75 * few
    assert max(many) < 1.05 * few


def test_a_slot_of_a_gpu_limits_its_nics() -> None:
    """Two NICs of 400G for a GPU with a slot of 63 GB/s are hardly better than one."""
    one = job(domains=4)
    slot = 8 * physics.gpu("h100").nic_GBps
    two, capped = replace(one, net_GBps=800.0), replace(one, net_GBps=800.0, slot_GBps=slot)
    before, after, free = (float(run(item, physics.shipped(), "tree", "simple").time_us[-1]) for item in (one, capped, two))
    assert before > after > free
    assert before / after == pytest.approx(0.91 * slot / 400, rel=0.1)


def test_an_unmeasured_domain_is_between_nvls_tree_and_a_ring() -> None:
    """A tray of four GPUs over a network where all measured domains of the kind have eight or more."""
    four = job(domains=2, domain=4.0, ranks=8.0, nvlink_GBps=900.0, generation=physics.generations().index("blackwell"))
    shipped = physics.shipped()
    own, ring = (run(four, shipped, name).time_us[-1] for name in ("nvls_tree", "ring"))
    found = run(four, shipped)
    open_us = found.times[found.keys.index(("nvls_tree", "simple")), -1]
    assert open_us == pytest.approx((own * ring) ** 0.5)
    low, high, slow = spans_of(four, shipped)
    assert low[-1] * found.time_us[-1] <= own
    assert high[-1] * found.time_us[-1] >= ring
    assert slow[-1] >= high[-1]


def test_the_least_of_a_healthy_run_is_below_what_is_expected() -> None:
    slow = spans_of(job(), physics.shipped())[2]  # the most time of a healthy run over the estimate
    assert (slow > 1).all()
    assert (slow < 5).all()
    assert (slow[SIZES >= 2**30] < 1 / 0.6).all()
