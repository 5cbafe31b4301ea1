"""Figures of designs that nothing was planned for."""

from __future__ import annotations

from fabric.deliver.bom.parts import Power
from fabric.deliver.explore.measure import Figures
from fabric.solver.estimate.calls import ALL_REDUCE, PACKED, Call, Calls


def figures_of(time_us: float | None, power: Power | None = None, capex: float | None = None) -> Figures:
    """Six switches for eight GPUs, with a time, a power and a price."""
    return Figures(
        fabric="backend",
        kind="rack",
        servers=1,
        gpus=8,
        tiers=2,
        planes=1,
        planes_active=1,
        leaves=4,
        spines=2,
        cores=0,
        links=16,
        switch_links=8,
        cables=16,
        oversubscription=1.0,
        power=power,
        calls=Calls((call(time_us),) if time_us is not None else ()),
        capex=capex,
    )


def call(time_us: float) -> Call:
    return Call(
        collective=ALL_REDUCE,
        bytes=1 << 30,
        gpus=8,
        placement=PACKED,
        units=1,
        routing="ecmp",
        queue_pairs=4,
        failed="",
        failed_role="",
        time_us=time_us,
        busbw_GBps=100.0,
        bottleneck="NVLink",
        beyond_leaf=0.0,
    )
