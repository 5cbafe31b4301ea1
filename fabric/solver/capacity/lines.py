"""A fabric's capacity as a person reads it: aligned tables with units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fabric.base.text import and_more, counted, percent, plural
from fabric.base.text.screen import table

if TYPE_CHECKING:
    from fabric.solver.capacity.measure import Capacity, Cut
    from fabric.solver.capacity.single_failures import Loss


def lines(capacity: Capacity) -> list[str]:
    """The whole report of one fabric."""
    gpus = f", {capacity.gpus:,} GPUs" if capacity.gpus else ""
    nic = f"NICs {capacity.nic_GBps:,.0f} GB/s per direction"
    out = [f"fabric {capacity.fabric}: {counted(capacity.servers, 'server')}{gpus}, {nic}"]
    if capacity.failed:
        lost = f"; {plural(capacity.ports_down, 'server port')} down" if capacity.ports_down else ""
        off = f", {plural(capacity.servers_cut_off, 'server')} cut off" if capacity.servers_cut_off else ""
        out.append(f"  failed       {', '.join(capacity.failed)}{lost}{off}")
    out.append(f"  bisection    {_cut_words(capacity.bisection, capacity)}")
    if capacity.worst is not None and capacity.worst != capacity.bisection:
        out.append(f"  worst cut    {_cut_words(capacity.worst, capacity)}")
    if capacity.paths_most:
        least, highest = capacity.paths_least, capacity.paths_most
        out.append(f"  paths        {least:,}{f' to {highest:,}' if highest != least else ''} between two leaves")
    return [*out, *_cut_table(capacity), *_throughput_table(capacity), *_loss_tables(capacity)]


def _cut_words(cut: Cut | None, found: Capacity) -> str:
    if cut is None:
        return "none: no two parts of this fabric talk over the network"
    per = f", {cut.rate_GBps / cut.gpus:,.1f} GB/s per GPU" if cut.gpus else ""
    return f"{percent(cut.share)} of NIC speed{per}: {cut.where}, limited by {_limits(cut.limits)}"


def _limits(kinds: Sequence[str]) -> str:
    return " and ".join("server NICs" if kind == "server-leaf" else f"{kind} links" for kind in kinds) or "nothing"


def _cut_table(capacity: Capacity) -> list[str]:
    rows = [
        (
            cut.kind,
            cut.where,
            f"{cut.rate_GBps:,.0f}",
            f"{cut.gpus:,.0f}" if capacity.gpus else f"{cut.servers:,}",
            "-" if cut.apart else percent(cut.share),
            cut.apart or ("worst" if cut.worst else ""),
        )
        for cut in capacity.cuts
    ]
    head = ("cuts", "between", "GB/s", "GPUs" if capacity.gpus else "servers", "of NIC speed", "")
    return ["", *table(head, rows, "<<>>><")] if rows else []


def _throughput_table(capacity: Capacity) -> list[str]:
    rows = [
        (
            row.pattern,
            ("" if row.optimal_exact else "<= ") + percent(row.optimal),
            percent(row.ecmp),
            percent(row.asked) if row.asked < 1 - 1e-9 else "",
            row.bottleneck,
        )
        for row in capacity.throughput
    ]
    any_lost = any(row[3] for row in rows)
    rows = rows if any_lost else [(*row[:3], "", row[4]) for row in rows]
    head = ("traffic", "optimal", "ECMP", "demand left" if any_lost else "", "ECMP is limited by")
    return ["", *table(head, rows, "<>>><")]


def _loss_tables(found: Capacity) -> list[str]:
    out = []
    for title, rows in (("one more failure", found.singles), ("two more failures", found.pairs)):
        if rows:
            head = (title, "such as", "bisection", "optimal", "ECMP", "demand left", "paths", "")
            out += ["", *table(head, [_loss(row) for row in rows], "<<>>>>><")]
    if found.singles_left_out:
        out.append(f"  {and_more(found.singles_left_out, 'kind')} of single failures")
    return out


def _loss(row: Loss) -> tuple[str, ...]:
    left = row.left
    what = row.what + (f" (of {row.alike:,})" if row.alike > 1 else "")
    notes = [f"{plural(left.servers_cut_off, 'server')} cut off"] if left.servers_cut_off else []
    notes += ["partitioned"] if left.partitioned else []
    return (
        what,
        " ".join(row.names),
        "-" if left.bisection is None else percent(left.bisection),
        ("" if left.optimal_exact else "<= ") + percent(left.optimal),
        percent(left.ecmp),
        percent(left.asked),
        f"{left.paths_before:,} -> {left.paths_after:,}" if left.pair else "-",
        ", ".join(notes),
    )
