"""What `estimate`, `capacity` and `step` have in common: options that several of them take, and the fabric that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabric import pipeline
from fabric.cli.common import check_fabric, check_range, mistake
from fabric.diagnostics import Report, nearest

if TYPE_CHECKING:
    from fabric.plan import FabricPlan

FABRIC = typer.Option("", "--fabric", metavar="NAME", help="fabric of the site; its compute fabric unless given")
GPUS = typer.Option(None, "--gpus", metavar="N", help="GPUs of the job; all unless given", show_default=False)
ROUTING = typer.Option("", "--routing", metavar="R", help="ecmp, adaptive, spray; as the plan configures it unless given")
QUEUE_PAIRS = typer.Option(
    0, "--qps", metavar="N", help="queue pairs of a connection; as the plan sets it unless given", show_default=False
)
FAIL = typer.Option([], "--fail", metavar="NAME", help="SWITCH, A:B or SWITCH:PORT that is down", show_default=False)
PLATFORM = typer.Option(None, "--platform", metavar="FILE", help="parameters of `fabric calibrate`", show_default=False)
SEED = typer.Option(0, "--seed", metavar="N", help="of queue pair numbers and samples")
JSON = typer.Option(False, "--json", help="print one JSON document")


def chosen(file: Path, name: str) -> FabricPlan:
    """The fabric of an intent that is meant: the one named, else the compute fabric with the most GPUs. Raises InputError."""
    made = pipeline.plan(pipeline.load(file))
    check_fabric(made, name)
    if name:
        return made.fabrics[name]
    return max(made.fabrics.values(), key=lambda item: (item.spec.purpose == "compute", item.sizing.gpus))


def check_spread(report: Report, routing: str, queue_pairs: int) -> None:
    """Looks at --routing and --qps."""
    modes = ["ecmp", "adaptive", "spray"]
    if routing and routing not in modes:
        mistake(report, "--routing", f"expected a way of routing, got {routing!r}", nearest(routing, modes))
    check_range(report, "--qps", queue_pairs, 0, 128, "1 to 128 queue pairs", "NCCL_IB_QPS_PER_CONNECTION takes as many")


def check_seed(report: Report, seed: int) -> None:
    check_range(report, "--seed", seed, 0, (1 << 31) - 1, "a seed from 0 to 2147483647", "0 is as good as any")
