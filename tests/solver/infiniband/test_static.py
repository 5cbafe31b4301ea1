"""Static tables in `capacity` and `estimate`: the same loads as walking the tables, and beside other modes."""

from __future__ import annotations

import numpy as np
import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.infiniband.next_hops import static_links
from fabric.solver.infiniband.static import static
from fabric.solver.network import network
from tests.configs.infiniband.designs import plan


def test_rows_of_capacity() -> None:
    """Engines of a whole tree of three tiers: ftree keeps every shift, the others a part of it."""
    found = {row.engine: row for row in pipeline.capacity(plan("three-tiers").fabrics["backend"]).static}
    assert [engine for engine, row in found.items() if row.used] == ["ftree"]
    assert found["ftree"].shift == found["ftree"].alltoall == 1.0
    assert found["updn"].shift == found["minhop"].shift < 1.0
    assert all(row.unreachable == 0 and row.links_used <= row.links for row in found.values())


def test_ethernet_has_no_rows() -> None:
    (frontend,) = plan("one-switch", (("technology: infiniband, ", ""), ("panel: {ports: 2}, ", ""))).fabrics.values()
    assert static(frontend) == ()
    with pytest.raises(InputError, match="expected a routing mode of Ethernet, got static"):
        pipeline.estimate(frontend, EstimateRequest(sizes=(1 << 30,), routing="static", queue_pairs=1))


def test_a_failed_spine_loads_the_others() -> None:
    fabric = plan("two-tiers").fabrics["backend"]
    whole, failed = (pipeline.capacity(fabric, fail).static[-1] for fail in ((), ("backend-spine001",)))
    assert failed.links == whole.links * 3 // 4
    assert failed.unreachable == 0
    assert failed.alltoall < whole.alltoall


def test_links_of_every_pair_lead_there() -> None:
    """From every leaf along the chosen links to every NIC port."""
    net = network(plan("three-tiers").fabrics["backend"])
    chosen = static_links(net)
    for port, link in enumerate(net.ports.link):
        leaf, at = int(net.head[link]), np.unique(net.ports.leaf)
        for _ in range(6):
            at = np.array([device if device == leaf else net.head[chosen[device, port]] for device in at])
        assert (at == leaf).all()


def test_estimates_of_engines() -> None:
    """All-to-all over three tiers: fat-tree tables as good as the NICs, up/down tables far from it."""
    larger = (
        ("node, count: 32", "dgx-h100, count: 64"),
        ("switch: ib8, unit: {servers: 4}", "switch: ib16, unit: {servers: 8}"),
    )
    times = {}
    for engine in ("ftree", "updn"):
        stated = ("topology:", f"infiniband: {{routing: {engine}}}, topology:")
        fabric = plan("three-tiers", (*larger, stated)).fabrics["backend"]
        request = EstimateRequest(collective="alltoall", sizes=(1 << 30,), routing="static", queue_pairs=1)
        times[engine] = pipeline.estimate(fabric, request)[0].rows[0].time_us
    assert times["ftree"] * 1.5 < times["updn"]
