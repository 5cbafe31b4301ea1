"""Laws of the cost of collectives that hold whatever the parameters are fitted to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabric.solver.collective import collective_names
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import NEVER, monotone, run
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
