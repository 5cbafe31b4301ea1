"""Bandwidth that jobs at the same time get from the fabric.

Servers of a job in different NVLink domains exchange equal amounts from each NIC port to the same port, as in an all-to-all.
Switches split equally over their next hops, and the share of the NIC speed that a job keeps is max-min fair among the jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from fabric.solver import Floats, Ints, Routes
from fabric.solver.ecmp.sharing import max_min
from fabric.solver.routes import spread
from fabric.solver.utilisation.cluster import Cluster
from fabric.solver.utilisation.simulate import State


@dataclass(frozen=True)
class Shares:
    """Of the NIC bandwidth of all servers."""

    used: float  # by jobs, over the network
    contention: float  # that jobs on several NVLink domains do not get, because links are shared
    inside: float  # of jobs in one domain, which do not use the network
    crossing: float  # share of the jobs on several domains that are in several units


def shares(cluster: Cluster, route_table: Routes, states: Sequence[State]) -> Shares:
    """Mean over states, each with the same weight."""
    known: dict[bytes, tuple[Ints, Floats]] = {}
    rows = [_of(cluster, route_table, state, known) for state in states if state.jobs]
    if not rows:
        return Shares(0.0, 0.0, 0.0, 0.0)
    used, lost, inside, crossing, spanning = (sum(row[at] for row in rows) for at in range(5))
    whole = cluster.gpus * len(states)
    return Shares(used / whole, lost / whole, inside / whole, crossing / spanning if spanning else 0.0)


def _of(
    cluster: Cluster, route_table: Routes, state: State, loads: dict[bytes, tuple[Ints, Floats]]
) -> tuple[float, float, float, int, int]:
    """(GPUs by the share that they use, by the share that is lost, GPUs in one domain; jobs in several units, in several
    domains). `known`: loads of jobs by their servers."""
    domain, unit = cluster.domain, cluster.unit
    spanning = [(gpus, servers) for gpus, servers in state.jobs if len(np.unique(domain[servers])) > 1]
    inside = sum(gpus for gpus, _ in state.jobs) - sum(gpus for gpus, _ in spanning)
    crossing = sum(len(np.unique(unit[servers])) > 1 for _, servers in spanning)
    for _, servers in spanning:
        if servers.tobytes() not in loads:
            loads[servers.tobytes()] = _load(cluster, route_table, servers)
    rates = _rates(route_table, [loads[servers.tobytes()] for _, servers in spanning])
    gpus = np.array([gpus for gpus, _ in spanning], float)
    return float(gpus @ rates), float(gpus @ (1 - rates)), float(inside), crossing, len(spanning)


def _rates(route_table: Routes, loads: Sequence[tuple[Ints, Floats]]) -> Floats:
    """Share of the NIC speed that each job keeps. Links that hold the full demand of all jobs limit none."""
    if not loads:
        return np.empty(0)
    flow = np.repeat(np.arange(len(loads)), [len(links) for links, _ in loads])
    link, part = np.concatenate([links for links, _ in loads]), np.concatenate([amount for _, amount in loads])
    capacity = route_table.net.capacity
    tight = (np.bincount(link, part, len(capacity)) > capacity * (1 + 1e-12))[link]
    return max_min(capacity, flow[tight], link[tight], len(loads), demand=np.ones(len(loads)), share=part[tight])


def _load(cluster: Cluster, route_table: Routes, servers: Ints) -> tuple[Ints, Floats]:
    """(directed links, GB/s on each) when the busiest port of a job sends at full speed."""
    net, placement = route_table.net, cluster.placement
    width = placement.ports.shape[1] // placement.domain_servers
    domain, place = cluster.domain[servers], servers % placement.domain_servers
    ports = placement.ports[domain[:, None], place[:, None] * width + np.arange(width)]
    leaf, speed = net.ports.leaf[ports], net.capacity[net.ports.link[ports]]
    _, row = np.unique(domain, return_inverse=True)
    partners = len(servers) - np.bincount(row.ravel()).min()
    source, target, amount = [], [], []
    for at in range(width):
        names, column = np.unique(leaf[:, at], return_inverse=True)
        if len(names) == 1:  # over one switch
            continue
        counts = coo_array((np.ones(len(servers)), (row.ravel(), column.ravel()))).tocsr()
        every = np.asarray(counts.sum(axis=0)).ravel()
        pairs = (np.outer(every, every) - (counts.T @ counts).toarray()) * float(speed[:, at].min()) / partners
        np.fill_diagonal(pairs, 0.0)
        one, other = np.nonzero(pairs)
        source.append(names[one])
        target.append(names[other])
        amount.append(pairs[one, other])
    if not source:
        return np.empty(0, np.int64), np.empty(0)
    load, _ = spread(route_table, np.concatenate(source), np.concatenate(target), np.concatenate(amount))
    links = np.flatnonzero(load)
    return links, load[links]
