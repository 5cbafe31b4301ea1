"""What one fabric keeps in a wave: capacity, time of an all-reduce and of a training step, servers without a port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabric.base.diagnostics import InputError
from fabric.base.grouping import grouped
from fabric.deliver.change.records import Left
from fabric.model.plan import SERVER, FabricPlan
from fabric.solver import Network
from fabric.solver.capacity import failures
from fabric.solver.capacity.outages import NO_DEVICE, Out, Outages
from fabric.solver.capacity.throughput import live_ports
from fabric.solver.estimate.calls import PACKED
from fabric.solver.estimate.nic_bandwidth import AvailableBandwidth
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest, answer, supply_on
from fabric.solver.network import network

Times = Callable[[FabricPlan, Sequence[str], Sequence[str]], tuple[float | None, float | None]]
"""(fabric, switches that are out, servers that take no part) → (ms of an all-reduce, ms of a training step)."""


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
        absent = self.names({device.index for device in self.fabric.devices if device.role == SERVER} - has)
        rails = len({self.fabric.devices[at].rail for at in out} - {-1})
        key = (self.outages.alike(out), rails, len(cut_off))
        if key not in self._known:
            self._known[key] = self.times(self.fabric, self.names(out), absent)
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


# --- times ----------------------------------------------------------------------------------------------------


def remaining(fabric: FabricPlan, absent: Sequence[str]) -> str:
    """Placement of a job on the servers of the largest group that take part; "" where none does."""
    if not absent:
        return PACKED
    gone = set(absent)
    groups = grouped((device.group, device.name) for device in fabric.devices if device.role == SERVER)
    present = [[name for name in names if name not in gone] for names in groups.values()]
    largest: list[str] = max(present, key=len, default=[])
    return ",".join(largest)


@dataclass
class Timer:
    """Times all-reduces; that of the healthy network once."""

    _healthy: dict[tuple[int, str], AvailableBandwidth] = field(default_factory=dict)
    _networks: dict[int, tuple[FabricPlan, Network]] = field(default_factory=dict)

    def all_reduce_ms(self, fabric: FabricPlan, request: EstimateRequest, placement: str) -> float | None:
        """Milliseconds on the servers of a placement; None where the job cannot run."""
        _, whole = self._networks.setdefault(id(fabric), (fabric, network(fabric)))  # kept, so that no other has its id
        key = id(fabric), placement
        try:
            if key not in self._healthy:
                self._healthy[key] = supply_on(whole, request, placement)
            healthy = self._healthy[key]
            broken = failures.check(whole, failures.parse(whole, request.fail)) if request.fail else whole
            supply = healthy if broken is whole else supply_on(broken, request, placement, healthy)
            return answer(request, supply, platform(request.platform)).rows[-1].time_us / 1e3
        except InputError:
            return None
