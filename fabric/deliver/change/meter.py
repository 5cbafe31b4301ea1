"""What one fabric keeps in a wave: capacity, time of an all-reduce and of a training step, servers without a port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabric.deliver.change.records import Left
from fabric.model.plan import FabricPlan
from fabric.solver import Network
from fabric.solver.capacity.outages import NO_DEVICE, Out, Outages
from fabric.solver.capacity.throughput import live_ports

Times = Callable[[FabricPlan, Sequence[str], Sequence[str]], tuple[float | None, float | None]]
"""(fabric, switches that are out, servers that are cut off) → (ms of an all-reduce, ms of a training step)."""


@dataclass(frozen=True)
class Meter:
    """Measures sets of switches of one fabric; those that are alike once."""

    outages: Outages
    times: Times
    whole: Outages  # what the shares are of
    _known: dict[object, tuple[float | None, float | None]] = field(default_factory=dict)

    @property
    def net(self) -> Network:
        return self.outages.net

    @property
    def fabric(self) -> FabricPlan:
        return self.net.fabric

    def capacity(self, out: Out) -> float:
        """Share of the capacity before the change that is left."""
        before = self.whole.rate(NO_DEVICE)
        return self.outages.rate(out) / before if before else 1.0

    def left(self, out: Out = NO_DEVICE) -> Left:
        """All that is known of a set of switches that is out of service."""
        broken = self.net.without(np.empty(0, dtype=np.int64), np.array(sorted(out), dtype=np.int64))
        up, ports = live_ports(broken), self.net.ports
        had, has = (set(ports.server[rows].tolist()) for rows in (live_ports(self.net), up))
        cut_off = self.names(had - has)
        rails = tuple(sorted({self.fabric.devices[at].rail for at in out}))
        key = (self.outages.alike(out), rails, len(cut_off))
        if key not in self._known:
            self._known[key] = self.times(self.fabric, self.names(out), cut_off)
        all_reduce, step = self._known[key]
        return Left(
            capacity=self.capacity(out),
            all_reduce_ms=all_reduce,
            step_ms=step,
            ports_down=int(live_ports(self.net).sum() - up.sum()),
            cut_off=cut_off,
        )

    def names(self, devices: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.fabric.devices[at].name for at in sorted(devices))
