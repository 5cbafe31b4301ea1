"""Published results beside the model: docs/goodput.md has the table. Rates that come from a source are no check of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabric import pipeline
from fabric.solver import Network
from fabric.solver.capacity.throughput import Traffic as Demand, ecmp, ground
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.sections import DAYS_PER_YEAR, Failures, rates
from fabric.solver.network import network, routes
from tests.solver.goodput.test_goodput import JOB, servers, valued

PLANES = """\
version: 1
site: dc1
catalog:
  switches: {big: {ports: [{count: 64, speed_gbps: 800, breakouts: [2x400, 4x200, 8x100]}], nos: [frr]}}
  servers:
    one-plane: {gpus: 8, nics: {compute: {count: 1, ports: 1, speed_gbps: 800}}}
    eight-planes: {gpus: 8, nics: {compute: {count: 1, ports: 8, speed_gbps: 100}}}
fabrics:
  backend:
    nos: frr
    servers: {model: MODEL, count: COUNT}
    topology: {switch: big, unit: {servers: UNIT}, planes: NUMBER}
"""


def lost(net: Network, link: int) -> float:
    """Share of its capacity that a server of the link's leaf loses when every server of a unit sends to the other unit; in
    each plane the max-min rate of equal flows over equal ways."""
    ports, unit = net.ports, np.array([device.unit for device in net.fabric.devices])
    broken = net.without(np.array([link]), np.empty(0, np.int64))
    base, ways = ground(net), routes(broken)
    kept = []
    for plane in np.unique(base.part[ports.leaf]):
        mine = np.flatnonzero((base.part[ports.leaf] == plane) & (unit[ports.server] == 0))
        source = base.row[ports.leaf[mine[0]]]
        target = next(base.row[leaf] for leaf in np.unique(ports.leaf) if base.part[leaf] == plane and unit[leaf] == 1)
        demand = np.zeros((len(base.leaves),) * 2)
        demand[source, target] = base.port_gbps[mine].sum()
        asked = Demand("unit", demand, np.zeros(len(base.leaves)), (np.empty(0, int),) * 2 + (np.empty(0),), demand.sum())
        kept.append(ecmp(base, ways, asked).share)
    return 1 - float(np.mean(kept))


@pytest.mark.parametrize(
    ("model", "count", "unit", "planes", "published"),
    [("one-plane", 64, 32, 1, 0.03), ("eight-planes", 512, 256, 8, 0.004)],  # arXiv:2605.04333
)
def test_a_leaf_spine_link(tmp_path: Path, model: str, count: int, unit: int, planes: int, published: float) -> None:
    text = (
        PLANES.replace("MODEL", model).replace("COUNT", str(count)).replace("UNIT", str(unit)).replace("NUMBER", str(planes))
    )
    (tmp_path / "i.yaml").write_text(text, encoding="utf-8")
    net = network(pipeline.plan(pipeline.load(tmp_path / "i.yaml")).fabrics["backend"])
    leaf = int(net.ports.leaf[0])
    link = int(np.flatnonzero(net.tail[: net.links] == leaf)[0])
    assert lost(net, link) == pytest.approx(published, rel=0.05)
    assert lost(net, link) == pytest.approx(1 / 32 / planes)


def test_megascale() -> None:
    """More than 10,000 GPUs for weeks: above 100 restarts, above 90 % effective; MegaScale, NSDI'24.

    12,288 GPUs for three weeks, with its upper bounds of 10 min until a failure is found and 15 min until the job is back.
    """
    found = valued(servers(12_288), Failures(), 12_288)
    assert 3 * 7 * 24 / found.mtti_hours.value == pytest.approx(92, abs=1)
    assert found.useful.value == pytest.approx(0.897, abs=0.001)
    assert found.useful.p10 < 0.9 < found.useful.p90


def test_tpu_v4() -> None:
    """A machine of four chips 0.08 % a day, an optical circuit switch 0.04 %: NSDI'24. The page names both as beyond 10 %."""
    server, gpu, switch = rates()["server"], rates()["gpu"], rates()["switch"]
    assert (server.typical + 4 * gpu.typical) / DAYS_PER_YEAR / 0.0008 - 1 == pytest.approx(1.0, abs=0.01)
    assert (server.low + 4 * gpu.low) / DAYS_PER_YEAR > 0.0008  # below the range: of GPUs, not TPUs
    assert switch.typical / DAYS_PER_YEAR / 0.0004 - 1 == pytest.approx(-0.45, abs=0.01)
    assert rates()["optical"].typical / DAYS_PER_YEAR / 0.00005 - 1 == pytest.approx(-0.014, abs=0.001)  # its source


HPN = """\
version: 1
site: dc1
catalog:
  servers: {hpn: {gpus: 8, gpu: H100, nvlink_domain_gpus: 8, nics: {compute: {count: 8, ports: 2, speed_gbps: 200}}}}
fabrics:
  backend:
    nos: sonic
    servers: {model: hpn, count: 32}
    topology: {switch: sn5600, unit: {servers: 16}DUAL}
"""


PART = ", planes: 2, planes_active: 1"  # with one of two planes in service each NIC has a single leaf


@pytest.mark.parametrize(("dual", "stops"), [("", True), (", dual_tor: true", False), (", planes: 2", False), (PART, True)])
def test_hpn(tmp_path: Path, dual: str, stops: bool) -> None:
    """A leaf of 32 servers is lost: with both ports of a NIC on it the job halts, with dual ToR it continues. SIGCOMM'24."""
    (tmp_path / "i.yaml").write_text(HPN.replace("DUAL", dual), encoding="utf-8")
    (tmp_path / "job.yaml").write_text(JOB, encoding="utf-8")
    made = pipeline.plan(pipeline.load(tmp_path / "i.yaml"))
    found = pipeline.goodput(made.fabrics["backend"], made, EstimateRequest(), tmp_path / "job.yaml")
    leaf = next(row.part for row in found.interruptions if row.part.place == "leaf")
    assert leaf.stops is stops
    assert stops or 1 <= leaf.slowdown < 2  # from the shares that the remaining links leave
