"""What the shares of a change do not say by themselves: of what they are, and why they are what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fabric.base.text import percent
from fabric.deliver.change.meter import Meter
from fabric.deliver.change.records import CONFIGURE, Left, Wave
from fabric.model.plan import CORE, SPINE
from fabric.solver.capacity.outages import NO_DEVICE
from fabric.solver.capacity.throughput import live_ports

TINY = 1e-6
SERVES = "management services alone"


def notes(meter: Meter, waves: Sequence[Wave], after: Left) -> Iterator[str]:
    """Remarks on the waves of one fabric.

    Args:
        meter: of the network before the change.
    """
    name = meter.fabric.name
    if not meter.whole.rate(NO_DEVICE):
        if len(meter.fabric.links):
            yield f"fabric {name}: no traffic between servers is known, so no capacity is measured and switches go one by one"
        return
    if max([after.capacity, *(wave.left.capacity for wave in waves)]) > 1 + TINY:
        yield (
            f"fabric {name}: shares above 100 % are of the capacity before the change, of the server ports that both designs "
            "have: the new design carries more for them"
        )
    if any(_spends_nothing(wave) for wave in waves):
        yield (
            f"fabric {name}: {percent(local_share(meter))} of the traffic between all server ports stays below one leaf, "
            "so its links to the spines are not the limit; the bisection loses more (`fabric capacity INTENT --fail NAME`)"
        )


def limits(name: str, waves: Sequence[Wave]) -> Iterator[str]:
    """Why a fabric has several waves of switches that stay in service."""
    tasks = [list(wave.tasks) for wave in waves if all(task.action == CONFIGURE for task in wave.tasks)]
    if any(task.reason == SERVES for its in tasks for task in its):
        yield (
            f"fabric {name}: no traffic depends on NTP, DNS, syslog, time zone and banner: one switch of each network OS is "
            "first, then the others, whatever the floor; what has ports on several leaves keeps one"
        )
    if sum(not (task.drained or task.reason) for its in tasks for task in its[:1]) > 1:
        yield (
            f"fabric {name}: the floor limits how many switches are configured at once although they stay in service, as all "
            "of them may fail (`if all fail`); a lower --floor makes fewer waves, `--floor 0%` the fewest"
        )


def _spends_nothing(wave: Wave) -> bool:
    """Whether spines or cores are out of service and nothing is lost."""
    return wave.left.capacity > 1 - TINY and any(task.drained and task.role in (SPINE, CORE) for task in wave.tasks)


def local_share(meter: Meter) -> float:
    """Of the traffic of every server port to all others of its isolated network, what passes one leaf alone."""
    net, base = meter.net, meter.outages.base
    leaf = net.ports.leaf[live_ports(net)]
    on_leaf, on_part = np.bincount(leaf), np.bincount(base.part[leaf])
    pairs = float((on_part * (on_part - 1)).sum())
    return float((on_leaf * (on_leaf - 1)).sum()) / pairs if pairs else 0.0
