"""Estimates against closed forms: a ring on a fabric without bottlenecks, and cuts of an oversubscribed one."""

from __future__ import annotations

import numpy as np
import pytest

from fabric.solver.collectives import physics
from fabric.solver.estimate.nic_bandwidth import PEERS_AT_ONCE
from tests.solver.estimate.fabrics import ask, planned, supplied, wired

HUGE = 1 << 40
SERVERS, UNIT = 32, 8


def parameters(transport: str = "roce") -> dict[str, float]:
    """The shipped parameters of H100s on a network."""
    rows = physics.generations().index("hopper"), physics.transports().index(transport)
    found = physics.shipped().columns(*(np.asarray(row) for row in rows))
    return {name: float(value) for name, value in found.items()}


def ring_GBps(nics: int, ctas: int) -> float:
    """The narrowest of what a ring goes through: payload of a domain's NICs, NVLink, and the CTAs that move the bytes."""
    p = parameters()
    payload = p["nic_share"] * p["payload_share"] * (SERVERS / 2) ** -p["scale_loss"]
    return min(nics * 50 * payload, 450 * p["ring_nvlink_share"], ctas * p["cta_GBps"])


@pytest.mark.parametrize("placement", ["packed", "spread", "random:5"])
@pytest.mark.parametrize("ctas", [4, 16, 64])
@pytest.mark.parametrize(("collective", "volume"), [("all_reduce", 2), ("all_gather", 1), ("reduce_scatter", 1)])
def test_a_ring_meets_the_closed_form(placement: str, ctas: int, collective: str, volume: int) -> None:
    """On a rail-optimized 1:1 fabric: volume (n - 1) / n S over the narrowest resource, within 1 % of a TiB whole, and
    within 1 % of what the second of 8 and 16 GiB adds, where launch, latency and filling cancel out."""
    fabric = planned("rails", servers=[("four", SERVERS)], unit={"servers": UNIT})
    sizes = (8 << 30, 16 << 30, HUGE)
    found = ask(
        fabric,
        placement=placement,
        sizes=sizes,
        collective=collective,
        algorithm="ring",
        protocol="simple",
        routing="spray",
        ctas=ctas,
    )
    assert found.shares["ring"].share == 1.0
    ranks = SERVERS * 4
    closed = [volume * (ranks - 1) / ranks * size / ring_GBps(4, ctas) / 1e3 for size in sizes]
    first, second, huge = (row.time_us for row in found.rows)
    assert 1 <= huge / closed[2] < 1.01
    assert (second - first) / (closed[1] - closed[0]) == pytest.approx(1, abs=0.01)


def test_a_ring_on_half_the_links_takes_twice_as_long() -> None:
    """Where the NICs limit it: spread at 2:1 every byte goes through the cut; packed none does that has no room."""
    fabric = planned("rails", servers=[("four", SERVERS)], unit={"servers": UNIT}, leaf={"oversubscription": 2})
    packed, spread = (
        ask(fabric, placement=request, sizes=(HUGE,), algorithm="ring", protocol="simple", routing="spray")
        for request in ("packed", "spread")
    )
    assert (packed.shares["ring"].share, spread.shares["ring"].share) == (1.0, 0.5)
    assert spread.rows[0].time_us / packed.rows[0].time_us == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("ratio", [1, 2, 4])
@pytest.mark.parametrize("units", [2, 4])
def test_an_alltoall_slows_as_the_cut_says(ratio: int, units: int) -> None:
    """Of a server's peers those in other units are met through the cut, which carries 1/ratio of what the NICs send; spread,
    every round has as many of them as the others."""
    servers = units * UNIT
    assert servers <= 4 * PEERS_AT_ONCE, "all rounds are looked at"
    net = wired("rails", servers=[("four", servers)], unit={"servers": UNIT}, leaf={"oversubscription": ratio})
    crosses = (servers - UNIT) / (servers - 1)
    expected = min(1.0, 1 / ratio / crosses)
    assert supplied(net, "spread").of("peers").share == pytest.approx(expected)


@pytest.mark.parametrize("ratio", [2, 4])
def test_an_alltoall_takes_as_long_as_its_cut(ratio: int) -> None:
    """Four units at 2:1 and 4:1 against 1:1, a size at which only bandwidth counts: 24 of 31 peers are in other units."""
    times = []
    for over in (1, ratio):
        fabric = planned("rails", servers=[("four", SERVERS)], unit={"servers": UNIT}, leaf={"oversubscription": over})
        found = ask(fabric, placement="spread", sizes=(HUGE,), collective="alltoall", routing="spray")
        times.append(found.rows[0].time_us)
    assert times[1] / times[0] == pytest.approx(ratio * 24 / 31, rel=0.01)


@pytest.mark.parametrize("ratio", [2, 4])
@pytest.mark.parametrize("placement", ["packed", "spread", "random:3"])
@pytest.mark.parametrize("units", [2, 4, 8])
def test_an_alltoall_is_no_better_than_the_whole_cut(ratio: int, placement: str, units: int) -> None:
    """However its rounds lie: of all peers of a server, the part in other units must go through the cut."""
    servers = units * UNIT
    net = wired("rails", servers=[("four", servers)], unit={"servers": UNIT}, leaf={"oversubscription": ratio})
    crosses = (servers - UNIT) / (servers - 1)
    assert supplied(net, placement).of("peers").share <= min(1, 1 / ratio / crosses) * 1.06  # rounds are a sample


def test_rails_alone_carry_everything_within_them() -> None:
    """Every rail is a fabric of its own at 1:1: ring, tree and peers at the NICs' own speed."""
    net = wired("rail-only", servers=[("four", 16)], unit={"servers": 4})
    found = supplied(net, "spread")
    assert [found.of(pattern).share for pattern in ("ring", "tree", "peers", "halving")] == [1.0] * 4
    assert all(found.of(pattern).link == -1 for pattern in ("ring", "tree", "peers"))


def test_longer_ways_take_longer() -> None:
    """Inside a leaf nothing is added to a hop; over spines a switch or two and the cables; between pods more."""
    one = supplied(wired("rails", servers=[("four", 2)])).of("ring").hop_us
    spines = supplied(wired("rails"), "spread").of("ring").hop_us
    pods = supplied(wired("pods"), "spread").of("ring").hop_us
    assert one == 0 < spines < pods
    long = wired("rails", cable_length_m={"server-leaf": 5, "leaf-spine": 1000})
    assert supplied(long, "spread").of("ring").hop_us > spines + 2 * 900 * 0.005


def test_mean_share_of_a_failed_spine() -> None:
    """One spine of four gone, a spread ring at 1:1 with sprayed packets: three quarters are left."""
    net = wired("rails", switch="16x400g", servers=[("four", 16)], unit={"servers": 8})
    spines = np.flatnonzero(net.level == 2)
    assert len(spines) == 4
    left = net.without(np.empty(0, dtype=np.int64), spines[:1])
    assert supplied(net, "spread").of("ring").share == 1.0
    assert supplied(left, "spread").of("ring").share == pytest.approx(3 / 4)
