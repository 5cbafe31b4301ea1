"""Rates of checkpoints on planned storage fabrics: by hand, and against flows that are followed one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError, Place
from fabric.model.plan import FabricPlan
from fabric.solver import Floats, Network, walk
from fabric.solver.goodput.storage import StorageRates, StorageRequest, storage_rates, targets_of
from fabric.solver.network import network, routes

INTENT = """\
version: 1
site: dc1
catalog:
  servers:
    two-planes: {gpus: 8, nics: {compute: {count: 8, speed_gbps: 400}, storage: {count: 1, ports: 2, speed_gbps: 200}}}
    target-two: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 200}}}
fabrics:
  backend:
    nos: sonic
    servers: {model: SERVER, count: 64, name: gpu}
    topology: {switch: sn5600}
  storage:
    purpose: storage
    nos: sonic
    servers: [{model: SERVER, count: 64, name: gpu}TARGETS]
    topology: {switch: sn5600TOPOLOGY}
"""
ATTACHED = ", unit: {servers: 16}, attachments: [{name: nas, links: 16}]"


def fabrics(folder: Path, targets: str, topology: str, server: str = "dgx-h100") -> Mapping[str, FabricPlan]:
    text = INTENT.replace("SERVER", server).replace("TARGETS", targets).replace("TOPOLOGY", topology)
    (folder / "i.yaml").write_text(text, encoding="utf-8")
    return pipeline.plan(pipeline.load(folder / "i.yaml")).fabrics


def rates(site: Mapping[str, FabricPlan], servers: int, request: StorageRequest, writers: int | None = None) -> StorageRates:
    names = [f"gpu-{number:04}" for number in range(1, servers + 1)]
    return storage_rates(site, "backend", names, names[:writers], request, Place("job.yaml", 5, 1))


@pytest.mark.parametrize(
    ("targets", "topology", "servers", "writers", "options", "expected"),
    [
        # a server has 2 x 400G = 100 GB/s, a target 2 x 200G = 50 GB/s
        (", {model: storage-2x200, count: 8}", "", 64, None, {}, (400, "storage NICs", 400, "storage NICs")),
        (", {model: storage-2x200, count: 40}", "", 2, None, {}, (200, "server NICs", 200, "server NICs")),
        (", {model: storage-2x200, count: 8}", "", 64, 1, {}, (100, "server NICs", 400, "storage NICs")),
        (", {model: storage-2x200, count: 8}", "", 32, None, {"jobs": 2}, (200, "storage NICs", 200, "storage NICs")),
        (
            ", {model: storage-2x200, count: 8}",
            "",
            64,
            None,
            {"system_write_GBps": 90, "system_read_GBps": 500},
            (90, "storage system", 400, "storage NICs"),
        ),
        # the leaf of the 40 targets has 8 uplinks of 800G at 4:1: 800 GB/s; so have the leaves of the servers
        (
            ", {model: storage-2x200, count: 40}",
            ", leaf: {oversubscription: 4}",
            64,
            None,
            {},
            (800, "storage-spine001 9 -> storage-leaf003 57", 800, "storage-leaf003 57 -> storage-spine001 9"),
        ),
        # 16 links of 400G of an attachment, on the leaves of the servers
        ("", ATTACHED, 64, None, {}, (800, "storage NICs", 800, "storage NICs")),
        ("", ATTACHED, 4, None, {"targets": ("nas",)}, (400, "server NICs", 400, "server NICs")),
    ],
)  # fmt: skip
def test_by_hand(
    tmp_path: Path,
    targets: str,
    topology: str,
    servers: int,
    writers: int | None,
    options: dict[str, object],
    expected: object,
) -> None:
    found = rates(fabrics(tmp_path, targets, topology), servers, StorageRequest(**options), writers)  # type: ignore[arg-type]
    assert (found.write_GBps, found.write_limit, found.read_GBps, found.read_limit) == expected


def one_by_one(net: Network, servers: list[int], targets: list[int], reading: bool) -> float:
    """GB/s of a job: the load of every pair of ports is followed link by link over all equal ways; no rate fills a link.

    What goes from one leaf to one other is added up first, and followed once.
    """
    ways, load = routes(net), np.zeros(len(net.tail))
    ports = {at: np.flatnonzero((net.tail[: net.links] == at) & net.alive[: net.links]) for at in (*servers, *targets)}
    reach = {int(leaf): _reach(net, int(leaf)) for leaf in np.flatnonzero(net.level == 1)}
    between = Counter[tuple[int, int]]()
    for server in servers:
        for up in ports[server].tolist():
            part = 1 / len(servers) / len(ports[server])
            meets = [
                (far, at) for at in targets for far in ports[at].tolist() if int(net.head[far]) in reach[int(net.head[up])]
            ]
            weights = np.array([1 / len(ports[at]) for _, at in meets])
            for (far, _), weight in zip(meets, weights / weights.sum(), strict=True):
                first, last = (far, up) if reading else (up, far)
                load[first] += part * weight
                load[net.reverse(np.array([last]))] += part * weight
                between[int(net.head[first]), int(net.head[last])] += part * weight
    for (start, end), amount in between.items():
        _follow(net, ways, start, end, amount, load)
    used = load > 0
    return float((net.capacity[used] / load[used]).min())


def _reach(net: Network, leaf: int) -> set[int]:
    """Leaves that a leaf reaches over switches."""
    found, todo = {leaf}, [leaf]
    while todo:
        at = todo.pop()
        for link in np.flatnonzero((net.tail == at) & net.alive).tolist():
            head = int(net.head[link])
            if net.level[head] and head not in found:
                found.add(head)
                todo.append(head)
    return {at for at in found if net.level[at] == 1}


def _follow(net: Network, ways: object, at: int, leaf: int, amount: float, load: Floats) -> None:
    if at == leaf:
        return
    start, count = ways.next_hops(np.array([at]), np.array([leaf]))  # type: ignore[attr-defined]
    links = ways.pool[start[0] : start[0] + count[0]]  # type: ignore[attr-defined]
    for link in links.tolist():
        load[link] += amount / len(links)
        _follow(net, ways, int(net.head[link]), leaf, amount / len(links), load)


@pytest.mark.parametrize(
    ("server", "targets", "topology"),
    [
        ("dgx-h100", ", {model: storage-2x200, count: 5}", ", leaf: {oversubscription: 4}"),
        ("two-planes", ", {model: target-two, count: 6}", ", planes: 2"),
        ("two-planes", ", {model: target-two, count: 6}", ", dual_tor: true, leaf: {oversubscription: 3}"),
        ("dgx-h100", "", ", unit: {servers: 16}, attachments: [{name: nas, links: 6}, {name: nas2, links: 2}]"),
        ("dgx-h100", ", {model: storage-2x200, count: 5}", ", tiers: 3, unit: {servers: 8}, pods: {units: 2}"),
    ],
)
@pytest.mark.parametrize("servers", [1, 13, 64])
def test_against_flows_one_by_one(tmp_path: Path, server: str, targets: str, topology: str, servers: int) -> None:
    site = fabrics(tmp_path, targets, topology, server)
    net = network(site["storage"])
    clients = [site["storage"].by_name[f"gpu-{number:04}"].index for number in range(1, servers + 1)]
    found = rates(site, servers, StorageRequest())
    ends = targets_of(site["storage"]).tolist()
    assert found.write_GBps == pytest.approx(one_by_one(net, clients, ends, reading=False))
    assert found.read_GBps == pytest.approx(one_by_one(net, clients, ends, reading=True))


def test_a_second_job_gets_what_the_first_leaves(tmp_path: Path) -> None:
    site = fabrics(tmp_path, ", {model: storage-2x200, count: 8}", "")
    alone = [rates(site, 16, StorageRequest(jobs=jobs)).write_GBps for jobs in (1, 2, 4)]
    assert alone == [400, 200, 100]
    with pytest.raises(InputError, match=r"job.yaml:5:1: error\[FAB173\]: checkpoint.jobs: expected at most 4, got 5"):
        rates(site, 16, StorageRequest(jobs=5))


@pytest.mark.parametrize(
    ("targets", "request_", "expected"),
    [
        ("", StorageRequest(), "missing key, as fabric storage has no storage server and no attachment"),
        ("", StorageRequest(fabric="other"), "missing key, as no fabric other"),
        ("", StorageRequest(targets=("nas",)), "fabric storage has no servers, attachment or device of the name nas"),
    ],
)
def test_mistakes(tmp_path: Path, targets: str, request_: StorageRequest, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        rates(fabrics(tmp_path, targets, ""), 8, request_)
    assert expected in str(caught.value)


def test_walk_is_the_same_network(tmp_path: Path) -> None:
    """The ways of storage traffic are those of every other flow: one hop up, one down."""
    site = fabrics(tmp_path, ", {model: storage-2x200, count: 8}", "")
    net = network(site["storage"])
    leaves = np.flatnonzero(net.level == 1)
    hops = walk(routes(net), leaves[:1], leaves[-1:], lambda at, count, flow: flow % count)
    assert (hops >= 0).sum() == 2
