"""Everything that is computed of one fabric for its report, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.configs.hosts.nccl import spreading
from fabric.configs.port_names import PortNames
from fabric.deliver.acceptance.gates import Gates
from fabric.deliver.acceptance.runs import acceptance
from fabric.deliver.bom.prices import Prices
from fabric.deliver.change.records import Change
from fabric.deliver.compare.designs import DesignFigures, figures
from fabric.deliver.compare.money import YearCost
from fabric.model.plan import FabricPlan, Plan
from fabric.model.plan.spec import Origin
from fabric.model.plan.summary import summary
from fabric.solver import Network, PortNamer
from fabric.solver.capacity import failures, measure
from fabric.solver.capacity.failures import Failures, Loss
from fabric.solver.capacity.measure import Capacity
from fabric.solver.collective import ALL_REDUCE, ALLTOALL
from fabric.solver.estimate import request as estimate_request
from fabric.solver.estimate.calls import calls
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.goodput import Goodput
from fabric.solver.measured.tables import Table
from fabric.solver.network import network

# --- request --------------------------------------------------------------------------------------------------

GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Options of `fabric report`."""

    collective: str = ALL_REDUCE
    size_bytes: int = 8 * GIB  # whose link loads are shown, and that the curve has a row for
    fail: tuple[str, ...] = ()  # as `fabric estimate --fail` takes them
    platform: Path | None = None
    measured: tuple[Table, ...] = ()
    load: bool = True  # link loads, and the spread of ECMP
    change: Change | None = None  # from an earlier design, in waves
    goodput: Goodput | None = None  # of a training job
    cost: YearCost | None = None  # of its year, with prices
    prices: Prices | None = None  # of the parts
    origin: Origin | None = None  # of the intent
    collective_first: bool = False  # its link loads are what a reader sees first; else those of an alltoall, which loads all


# --- study ----------------------------------------------------------------------------------------------------

SIZES = tuple(1 << power for power in range(12, 35))  # 4 KiB to 16 GiB


@dataclass(frozen=True)
class Study:
    """One fabric; figures are computed when first asked for. All raise InputError for failures that cut it in two."""

    fabric: FabricPlan
    request: ReportRequest
    fail: tuple[str, ...]  # of what was asked for, what this fabric has

    @cached_property
    def row(self) -> dict[str, Any]:
        """As `plan --json` prints it."""
        return summary(self.fabric.spec, self.fabric.sizing)

    @cached_property
    def port_name(self) -> PortNamer:
        return PortNames(self.fabric).port_name

    @cached_property
    def net(self) -> Network:
        return network(self.fabric, self.port_name)

    @cached_property
    def failed(self) -> Failures:
        found = failures.parse(self.net, self.fail)
        failures.check(self.net, found)
        return found

    @cached_property
    def capacity(self) -> Capacity:
        """Of the whole fabric, nothing failed."""
        return measure.measure(self.net, failures.NOTHING)

    @cached_property
    def ranked(self) -> tuple[Loss, ...]:
        """Single failures, the one after which the least traffic fits first; then by the slowest pair."""
        return tuple(sorted(self.capacity.singles, key=lambda loss: (-mean_loss(loss), -slowest_loss(self, loss))))

    @cached_property
    def spreading(self) -> tuple[str, int]:
        """(routing, queue pairs per connection) as the plan configures them."""
        return spreading(self.fabric)

    @property
    def trains(self) -> bool:
        """Whether collectives run here: GPUs, on NICs that are for compute."""
        return self.fabric.spec.purpose == "compute" and self.fabric.sizing.gpus > 1

    @cached_property
    def curve(self) -> tuple[Estimate, Estimate | None]:
        """The collective by size, and the same before the failures where there are any."""
        routing, queue_pairs = self.spreading
        sizes = tuple(sorted({*SIZES, self.request.size_bytes}))
        request = self.request
        asked = EstimateRequest(
            collective=request.collective,
            sizes=sizes,
            routing=routing,
            queue_pairs=queue_pairs,
            fail=self.fail,
            platform=request.platform,
        )
        return estimate_request.estimate(self.fabric, asked, "packed", self.port_name)

    def gates(self, site: str) -> Gates:
        """The runs that prove the fabric, as `fabric acceptance` writes them, without failures."""
        routing, queue_pairs = self.spreading
        asked = EstimateRequest(routing=routing, queue_pairs=queue_pairs, platform=self.request.platform)
        return acceptance(site, self.fabric, asked, self.port_name)

    @cached_property
    def figures(self) -> DesignFigures:
        """Counts, and collectives of the stated size, packed and spread, nothing failed."""
        if not self.trains:
            return figures(self.fabric)
        routing, queue_pairs = self.spreading
        asked = EstimateRequest(
            sizes=(self.request.size_bytes,), routing=routing, queue_pairs=queue_pairs, platform=self.request.platform
        )
        names = tuple(dict.fromkeys((self.request.collective, ALLTOALL)))
        return figures(self.fabric, calls=calls(self.fabric, asked, names, port_name=self.port_name))


def mean_loss(loss: Loss) -> float:
    """Share of the uniform traffic that no longer fits, ports that die included. Rounded: equal failures compare equal."""
    return round(1 - loss.left.carried, 9) + 0.0


def slowest_loss(study: Study, loss: Loss) -> float:
    """What every pair loses where none may run ahead: all keep the rate of the slowest, over equal-cost paths."""
    before = study.capacity.throughput[0].ecmp
    return round(1 - loss.left.ecmp / before, 9) + 0.0 if before else 0.0


def studies(plan: Plan, request: ReportRequest) -> list[Study]:
    """One a fabric, each with those of the failures that it has. Raises InputError for names that no fabric has, and for
    failures that cut a fabric in two."""
    having = {name: _having(list(plan.fabrics.values()), name) for name in request.fail}
    fabric_studies = [
        Study(fabric, request, tuple(name for name, those in having.items() if fabric.name in those))
        for fabric in plan.fabrics.values()
    ]
    if request.measured and not any(study.trains for study in fabric_studies):
        message = f"expected a compute fabric with GPUs, got {', '.join(plan.fabrics)}"
        raise InputError([Diagnostic("FAB172", Place("--measured"), message, "remove it, or choose another --fabric")])
    for study in fabric_studies:
        _ = study.failed
    return fabric_studies


def _having(fabrics: Sequence[FabricPlan], name: str) -> list[str]:
    """Fabrics that have a link or device of this name: servers are in several, their ports in one each."""
    device = name.strip().partition(":")[0]
    those = [fabric for fabric in fabrics if device in fabric.by_name] or fabrics[:1]
    names, wrong = [], list[InputError]()
    for fabric in those:
        try:
            failures.parse(network(fabric, PortNames(fabric).port_name), [name])
            names.append(fabric.name)
        except InputError as error:
            wrong.append(error)
    if not names:
        raise wrong[0]
    return names
