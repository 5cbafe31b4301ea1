"""Bandwidth that jobs at the same time get from the fabric.

Every job sends from each NIC port to the same port of all its other NVLink domains, as in an all-to-all. Switches split
equally over their next hops, and the share of the NIC speed that a job keeps is max-min fair among the jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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


def shares(cluster: Cluster, ways: Routes, states: Sequence[State]) -> Shares:
    """Mean over states, each with the same weight."""
    rows = [_of(cluster, ways, state) for state in states if state.jobs]
    if not rows:
        return Shares(0.0, 0.0, 0.0, 0.0)
    used, lost, inside, crossing, spanning = (sum(row[at] for row in rows) for at in range(5))
    whole = cluster.gpus * len(states)
    return Shares(used / whole, lost / whole, inside / whole, crossing / spanning if spanning else 0.0)


def _of(cluster: Cluster, ways: Routes, state: State) -> tuple[float, float, float, int, int]:
    """(GPUs by the share that they use, by the share that is lost, GPUs in one domain; jobs in several units, in several
    domains)."""
    domain, unit = cluster.domain, cluster.unit
    spanning = [(gpus, servers) for gpus, servers in state.jobs if len(np.unique(domain[servers])) > 1]
    inside = sum(gpus for gpus, _ in state.jobs) - sum(gpus for gpus, _ in spanning)
    crossing = sum(len(np.unique(unit[servers])) > 1 for _, servers in spanning)
    kept = _rates(ways, [_load(cluster, ways, servers) for _, servers in spanning])
    gpus = np.array([gpus for gpus, _ in spanning], float)
    return float(gpus @ kept), float(gpus @ (1 - kept)), float(inside), crossing, len(spanning)


def _rates(ways: Routes, loads: Sequence[Floats]) -> Floats:
    """Share of the NIC speed that each job keeps."""
    flow = np.repeat(np.arange(len(loads)), [np.count_nonzero(load) for load in loads])
    link = np.concatenate([np.flatnonzero(load) for load in loads]) if loads else np.empty(0, np.int64)
    part = np.concatenate([load[load > 0] for load in loads]) if loads else np.empty(0)
    return max_min(ways.net.capacity, flow, link, len(loads), demand=np.ones(len(loads)), share=part)


def _load(cluster: Cluster, ways: Routes, servers: Ints) -> Floats:
    """GB/s on every directed link when every port of the job sends at full speed. A last domain with fewer servers sends as
    the others do: its part is small."""
    net, placement = ways.net, cluster.placement
    domains = np.unique(cluster.domain[servers])
    ports = placement.ports[domains]
    leaf, speed = net.ports.leaf[ports], net.capacity[net.ports.link[ports]]
    source, target, amount = [], [], []
    for at in range(ports.shape[1]):
        names, column = np.unique(leaf[:, at], return_inverse=True)
        count = np.bincount(column.ravel()).astype(float)
        pairs = np.outer(count, count) * float(speed[:, at].min()) / (len(domains) - 1)
        np.fill_diagonal(pairs, 0.0)  # over one switch
        one, other = np.nonzero(pairs)
        source.append(names[one])
        target.append(names[other])
        amount.append(pairs[one, other])
    load, _ = spread(ways, np.concatenate(source), np.concatenate(target), np.concatenate(amount))
    return load
