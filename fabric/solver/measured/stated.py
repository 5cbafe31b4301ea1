"""A single measured number as a table: often all that an operator has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabric.base.diagnostics import Place, Report
from fabric.solver.collective import COLLECTIVES
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.tables import Row, Table


@dataclass(frozen=True)
class Measured:
    """One bus bandwidth of nccl-tests."""

    collective: str  # of COLLECTIVES
    gpus: int
    bytes: int
    busbw_GBps: float


def tables(given: Sequence[Measured], platform: MeasuredPlatform) -> list[Table]:
    """A table of each collective and number of GPUs; a job smaller than a server runs on one.

    Raises InputError for GPUs that are no whole servers.
    """
    report, each = Report(), platform.gpus_per_node
    for gpus in sorted({item.gpus for item in given if item.gpus > each and item.gpus % each}):
        below = gpus - gpus % each
        hint = f"{below} or {below + each} GPUs are whole servers of {each}"
        report.error("FAB172", Place("--busbw"), f"expected whole servers of {each} GPUs, got {gpus} GPUs", hint)
    report.raise_errors()
    groups: dict[tuple[str, int], list[Measured]] = {}
    for item in given:
        groups.setdefault((item.collective, item.gpus), []).append(item)
    return [_table(collective, gpus, rows, platform) for (collective, gpus), rows in groups.items()]


def _table(collective: str, gpus: int, found: Sequence[Measured], platform: MeasuredPlatform) -> Table:
    each = min(gpus, platform.gpus_per_node)
    ran = replace(platform, gpus_per_node=each, nodes=-(-gpus // each))
    factor = COLLECTIVES[collective].busbw(gpus)
    rows = [
        Row(item.bytes, item.bytes / algbw / 1e3, algbw, item.busbw_GBps)
        for item in sorted(found, key=lambda item: item.bytes)
        for algbw in (item.busbw_GBps / factor,)
    ]
    return Table(id=collective, collective=collective, platform=ran, source="", rows=tuple(rows), scored=True)
