"""Output of nccl-tests on a design, as the model estimates it, with a cause and its line in the log."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from fabric.model.plan import FabricPlan
from fabric.pipeline import load, plan
from fabric.solver.collective import COLLECTIVES
from fabric.solver.collectives.algorithms import monotone
from fabric.solver.doctor.causes import Effect
from fabric.solver.estimate.estimate import ctas_of, job_of
from fabric.solver.estimate.platform import platform
from fabric.solver.estimate.request import EstimateRequest, supply_of
from tests import ROOT

INTENT = ROOT / "intent" / "h100-4su.yaml"
GPUS = 64
SIZES = [1 << power for power in range(10, 34)]
NOTHING = Effect()


@cache
def fabric() -> FabricPlan:
    fabrics = plan(load(INTENT)).fabrics.values()
    return max(fabrics, key=lambda item: (item.spec.purpose == "compute", item.sizing.gpus))


def output(collective: str = "all_reduce", effect: Effect = NOTHING, line: str = "") -> str:
    """What `all_reduce_perf` prints on 64 GPUs of the design with a cause."""
    supply = supply_of(fabric(), EstimateRequest(gpus=GPUS, routing="adaptive", queue_pairs=4), "packed")
    job = replace(job_of(collective, SIZES, supply), ctas=float(ctas_of(supply)))
    times = monotone(effect.on(job), platform(None), "auto", "auto", job.healthy())[1]
    times = np.where(np.array(SIZES) >= effect.above_MiB * (1 << 20), times * effect.time, times)
    head = [
        f"# Collective test starting: {collective}_perf",
        "# nThread 1 nGpus 1 minBytes 1024 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 graph: 0",
        "# Using devices",
        *(
            f"# Rank {rank} Group 0 Pid {4000 + rank} on host{rank // 8:02} device {rank % 8} [0x1b] NVIDIA H100 80GB HBM3"
            for rank in range(GPUS)
        ),
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong",
        "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)",
    ]
    log = [f"host00:4000:4100 [0] NCCL INFO {line}"] if line else []
    return "\n".join([*log, *head, *(_row(collective, size, us) for size, us in zip(SIZES, times, strict=True))]) + "\n"


def _row(collective: str, size: int, us: float) -> str:
    time = float(f"{us:.1f}")
    algbw = size / time / 1e3
    side = f"{time:9.1f} {algbw:7.2f} {algbw * COLLECTIVES[collective].busbw(GPUS):7.2f} 0"
    return f"{size:12} {size // 4:12} float sum -1 {side} {side}"


def write(folder: Path, text: str, name: str = "all_reduce.log") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
