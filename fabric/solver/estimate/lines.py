"""An estimate as people read it, in nccl-tests' columns, and as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fabric.solver.estimate.estimate import PATTERN, Estimate, Row
from fabric.solver.estimate.supply import Share
from fabric.text import plural, size

FLOAT_BYTES = 4
REDUCES = ("all_reduce", "reduce_scatter", "reduce")
ROOTS = ("broadcast", "reduce")
SPLITS = ("all_gather", "reduce_scatter", "alltoall")  # nccl-tests counts one rank's part of these


Answer = tuple[Estimate, Estimate | None]  # and what it was before its failures


def text(found: Sequence[Answer], failed: Sequence[str]) -> list[str]:
    """The whole answer of the first placement, what failures cost it, and the others beside it."""
    now, before = found[0]
    out = lines(now)
    if before is not None:
        out += against_healthy(now, before, failed)
    return [*out, *compared([item for item, _ in found])] if len(found) > 1 else out


def document(found: Sequence[Answer], failed: Sequence[str]) -> dict[str, Any]:
    """The same for programs."""
    now, before = found[0]
    made: dict[str, Any] = {**as_dict(now), "failed": list(failed)}
    if before is not None:
        made["healthy_time_us"] = [row.time_us for row in before.rows]
    if len(found) > 1:
        made["placements"] = [as_dict(item) for item, _ in found]
    return made


def lines(found: Estimate) -> list[str]:
    """The whole answer."""
    return [*head(found), "", *table(found), *foot(found)]


def head(estimate: Estimate) -> list[str]:
    """What stands where, in two lines."""
    placed, supply = estimate.placement, estimate.supply
    fabric = supply.net.fabric
    where = f"{plural(len(placed.servers), 'server')} in {plural(placed.units, 'unit')}"
    who = f"{placed.gpus:,} GPUs" if placed.jobs == 1 else f"{placed.jobs} jobs at once, of {placed.gpus:,} GPUs each,"
    out = [f"fabric {fabric.name}: {estimate.rows[0].collective} of {who} on {where}, {placed.name}"]
    upto = "up to " if placed.domains * placed.domain_gpus > placed.gpus else ""
    nvlink = f"NVLink domains of {upto}{placed.domain_gpus} GPUs, {float(estimate.job.nvlink_GBps):,.0f} GB/s a GPU"
    if placed.domains == 1:
        return [*out, f"  {nvlink.replace('domains', 'domain')}; the network is not used"]
    gbps = supply.nic_GBps * 8
    ports = f"{placed.ports.shape[1]} NIC ports of {gbps:,.0f}G a domain, {estimate.nic_GBps:,.0f} GB/s together"
    how = {"ecmp": "ECMP by a hash", "adaptive": "adaptive routing", "spray": "packets sprayed"}[supply.routing]
    out.extend(
        (f"  {placed.domains:,} {nvlink}; {ports}", f"  routing: {how}, {plural(supply.qps, 'queue pair')} a connection")
    )
    return out


def table(found: Estimate) -> list[str]:
    """Rows in nccl-tests' columns, then what runs, the bytes on the wire, the share of the ideal, and what limits."""
    top = f"{'size':>14}{'count':>14}{'type':>7}{'redop':>7}{'root':>6}{'time':>11}{'algbw':>9}{'busbw':>9}"
    out = [f"{top}  {'algorithm':23}{'on the wire':>12}{'of ideal':>10}  bottleneck"]
    out.append(f"{'(B)':>14}{'(elements)':>14}{'':20}{'(us)':>11}{'(GB/s)':>9}{'(GB/s)':>9}")
    return [*out, *(_line(row) for row in found.rows)]


def _line(row: Row) -> str:
    count = row.bytes // FLOAT_BYTES // (row.ranks if row.collective in SPLITS else 1)
    redop, root = "sum" if row.collective in REDUCES else "none", 0 if row.collective in ROOTS else -1
    time = f"{row.time_us:11.2f}" if row.time_us < 1000 else f"{row.time_us:11.1f}"
    speeds = f"{row.algbw_GBps:9.2f}{row.busbw_GBps:9.2f}"
    runs = f"{row.algorithm}/{row.protocol}"
    share = f"{row.ideal_time_us / row.time_us:.1%}"
    wire = size(row.wire_bytes) if row.wire_bytes else "-"
    counted = f"{row.bytes:14}{count:14}{'float':>7}{redop:>7}{root:6}"
    return f"{counted}{time}{speeds}  {runs:23}{wire:>12}{share:>10}  {row.bottleneck}"


def foot(estimate: Estimate) -> list[str]:
    """Why these algorithms, what the fabric takes away, why busbw may exceed the NICs, and how sure all this is."""
    out = [""]
    if estimate.rows[0].expected_us is not None:
        out += ["choice"]
        for first, last in _segments(estimate.rows):
            span = size(first.bytes) if first is last else f"{size(first.bytes)} to {size(last.bytes)}"
            text = f"  {span:20} {first.algorithm}/{first.protocol}: "
            text += f"NCCL's tables say {us(first.expected_us or 0)} at {size(first.bytes)}"
            slow = next((row for row in (first, last) if row.fastest != f"{row.algorithm}/{row.protocol}"), None)
            out.append(text + (f"; {slow.fastest} would be faster at {size(slow.bytes)}" if slow else ""))
    used = {PATTERN.get(row.algorithm, "") for row in estimate.rows}
    for name, share in estimate.shares.items():
        if name in ("ring", "tree") and name not in used and estimate.rows[0].collective == "all_reduce":
            continue  # looked at for the choice only
        out.append(f"fabric    {name}: {_share(estimate, share)}")
    note = wire_note(estimate)
    return [*out, *([f"note      {note}"] if note else []), *(f"note      {text}" for text in estimate.notes)]


def _share(found: Estimate, share: Share) -> str:
    if share.link < 0:
        return "carries all that the NICs send"
    spread = "" if share.best - share.worst < 0.005 else f" ({share.worst:.0%} to {share.best:.0%} by the luck of the hash)"
    return f"{share.share:.0%} of what the NICs send{spread}, limited by {found.supply.link_name(share.link)}"


def wire_note(found: Estimate) -> str:
    """Why busbw exceeds the NICs, where it does."""
    top = max(found.rows, key=lambda row: row.busbw_GBps)
    if not found.nic_GBps or top.busbw_GBps <= found.nic_GBps:
        return ""
    factor = top.busbw_GBps / top.algbw_GBps
    return (
        f"busbw exceeds the {found.nic_GBps:,.0f} GB/s of a domain's NICs: it counts {factor:.2f} bytes for each byte "
        f"of the buffer, as a ring moves them, while {top.algorithm} sends {top.wire_bytes / top.bytes:.2f} over the network"
    )


def _segments(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """(first, last) row of every run of one algorithm and protocol."""
    found: list[tuple[Row, Row]] = []
    for row in rows:
        if found and (found[-1][0].algorithm, found[-1][0].protocol) == (row.algorithm, row.protocol):
            found[-1] = (found[-1][0], row)
        else:
            found.append((row, row))
    return found


def against_healthy(found: Estimate, before: Estimate, failed: Sequence[str]) -> list[str]:
    """What the failures cost, by size."""
    slower = [now.time_us / then.time_us - 1 for now, then in zip(found.rows, before.rows, strict=True)]
    worst = max(range(len(slower)), key=lambda at: slower[at])
    names = ", ".join(dict.fromkeys(failed))
    if max(slower) < 0.0005:
        return [f"failed    {names}: no slower than healthy; what limits this job is elsewhere"]
    text = f"failed    {names}: {slower[-1]:.1%} slower than healthy at {size(found.rows[-1].bytes)}"
    if worst != len(slower) - 1 and slower[worst] > slower[-1] + 0.005:
        text += f", {slower[worst]:.1%} at {size(found.rows[worst].bytes)}"
    return [text]


def compared(found: Sequence[Estimate]) -> list[str]:
    """The times of several placements side by side."""
    names = [item.placement.name if len(item.placement.name) <= 14 else item.placement.name[:13] + "…" for item in found]
    out = [
        "",
        "time in us by placement",
        f"{'size':>12}" + "".join(f"{name:>16}" for name in names) + f"{'slowest/best':>14}",
    ]
    for rows in zip(*(item.rows for item in found), strict=True):
        times = [row.time_us for row in rows]
        out.append(
            f"{size(rows[0].bytes):>12}" + "".join(f"{time:16,.1f}" for time in times) + f"{max(times) / min(times):14.2f}"
        )
    return out


def as_dict(estimate: Estimate) -> dict[str, Any]:
    """The contract's `rows`, and what they stand on."""
    placed, supply = estimate.placement, estimate.supply
    return {
        "fabric": supply.net.fabric.name,
        "gpus": placed.gpus,
        "servers": len(placed.servers),
        "jobs": placed.jobs,
        "placement": placed.name,
        "nvlink_domains": placed.domains,
        "nvlink_domain_gpus": placed.domain_gpus,
        "nvlink_GBps": float(estimate.job.nvlink_GBps),
        "nic_GBps_per_domain": estimate.nic_GBps,
        "routing": supply.routing,
        "queue_pairs": supply.qps,
        "rows": [asdict(row) for row in estimate.rows],
        "shares": {
            name: {
                "share": share.share,
                "worst": share.worst,
                "best": share.best,
                "link": supply.link_name(share.link) if share.link >= 0 else "",
                "hop_us": share.hop_us,
            }
            for name, share in estimate.shares.items()
        },
        "notes": [text for text in (wire_note(estimate), *estimate.notes) if text],
    }


def us(time: float) -> str:
    return f"{time:,.0f} us" if time >= 10 else f"{time:.1f} us"
