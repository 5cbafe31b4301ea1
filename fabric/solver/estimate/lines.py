"""An estimate as text and as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fabric.base.rounding import ceil_div
from fabric.base.schemas import models
from fabric.base.schemas.models import Amount, Count, Document, Number, Positive, Share, Text, enum_of, json_key
from fabric.base.text import aligned, listed, percent, plural, size, time, time_span
from fabric.solver.collectives.job import Job, nvlink_ranks
from fabric.solver.estimate import nic_bandwidth
from fabric.solver.estimate.estimate import PATTERN, Estimate, Row, pattern_of
from fabric.solver.estimate.nic_bandwidth import routing_words
from fabric.solver.routing import MODES

MAX_LOADS = 100_000_000  # links times jobs whose fair shares are computed
NEARLY_EQUAL = 0.005  # shares of the NICs that differ by less are alike
NEAR_IDEAL = 0.9  # share of line rate that needs no explanation
Answer = tuple[Estimate, Estimate | None]  # and what it was before its failures


def text(found: Sequence[Answer], failed: Sequence[str], spread_us: float | None = None) -> list[str]:
    """The whole answer of the first placement, what failures cost it, what it would take spread, and the others beside it."""
    now, before = found[0]
    out = lines(now)
    if before is not None:
        out += against_healthy(now, before, failed)
    out += against_spread(now, spread_us) if spread_us else []
    return [*out, *compared([item for item, _ in found])] if len(found) > 1 else out


def document(answers: Sequence[Answer], failed: Sequence[str], spread_us: float | None = None) -> dict[str, Any]:
    """The same for programs."""
    now, before = answers[0]
    keys = {
        "failed": failed,
        "healthy_time_us": [row.time_us for row in before.rows] if before else None,
        "spread": {"bytes": now.rows[-1].bytes, "time_us": spread_us} if spread_us is not None else None,
        "placements": [item for item, _ in answers] if len(answers) > 1 else None,
    }
    return models.document({**models.document(now, EstimateDocument), **keys}, AnswerDocument)


def lines(found: Estimate) -> list[str]:
    """The whole answer."""
    return [*head(found), "", *table(found), *foot(found)]


def head(estimate: Estimate) -> list[str]:
    """Job, placement and network, in three lines."""
    placed, supply = estimate.placement, estimate.supply
    fabric = supply.net.fabric
    where = f"{plural(len(placed.servers), 'server')} in {plural(placed.units, 'unit')}"
    who = f"{placed.gpus:,} GPUs"
    if placed.concurrent > 1:
        what = "concurrent jobs" if placed.jobs > 1 else "communicators"
        who = f"{placed.concurrent} {what}{' at once' if placed.communicators > 1 else ''} of {who} each"
    if placed.communicators > 1 or (placed.partial and len(placed.servers) > 1):
        who += f", {placed.gpus_per_server} of {placed.server.gpus} per server,"
    out = [f"fabric {fabric.name}: {estimate.rows[0].collective} of {who} on {where}, {placed.name}"]
    if placed.domains == 1:
        return [*out, f"  {_inside(estimate)}; the network is not used"]
    gbps, where = supply.nic_GBps * 8, "server" if estimate.job.pcie or placed.domain_gpus == 1 else "domain"
    ports = f"{plural(placed.ports.shape[1], 'NIC port')} of {gbps:,.0f}G per {where}, {estimate.nic_GBps:,.0f} GB/s in total"
    return [*out, f"  {_inside(estimate)}; {ports}", f"  routing: {routing_words(supply.routing, supply.qps)}"]


def _inside(estimate: Estimate) -> str:
    """How the GPUs of a domain reach each other."""
    placed, job = estimate.placement, estimate.job
    upto = "up to " if placed.domains * placed.domain_gpus > placed.gpus else ""
    speed = f"{float(job.nvlink_GBps):,.0f} GB/s per GPU"
    if placed.domain_gpus == 1:
        return f"{plural(placed.domains, 'server')} with one GPU each"
    if not job.pcie:
        domains = "NVLink domain" if placed.domains == 1 else f"{placed.domains:,} NVLink domains"
        return f"{domains} of {upto}{placed.domain_gpus} GPUs, {speed}"
    servers = f"{plural(placed.domains, 'server')} of {upto}{placed.domain_gpus} GPUs"
    if job.bridge == 1:
        return f"{servers} over PCIe, {speed}"
    bridges = f"NVLink bridges of {int(job.bridge)}, {float(job.bridge_GBps):,.0f} GB/s per GPU"
    return f"{servers} in {bridges}, PCIe between them, {speed}"


def table(found: Estimate) -> list[str]:
    """A row per size: time, band, bandwidths as nccl-tests defines them, algorithm, bytes on the wire, ideal, bottleneck."""
    head = ("size", "time", "p10 to p90", "algbw GB/s", "busbw GB/s", "algorithm", "on the wire", "of ideal", "bottleneck")
    return aligned([_cells(row) for row in found.rows], ">>>>><>><", head=head)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        size(row.bytes),
        time(row.time_us),
        time_span(row.p10_us, row.p90_us),
        f"{row.algbw_GBps:.2f}",
        f"{row.busbw_GBps:.2f}",
        f"{row.algorithm}/{row.protocol}",
        size(row.wire_bytes) if row.wire_bytes else "-",
        percent(row.ideal_time_us / row.time_us),
        row.bottleneck,
    )


def foot(estimate: Estimate) -> list[str]:
    """The choice of algorithms, the share of the fabric, and notes."""
    out = [""]
    if estimate.rows[0].expected_us is not None:
        out += ["choice"]
        for first, last in _segments(estimate.rows):
            span = size(first.bytes) if first is last else f"{size(first.bytes)} to {size(last.bytes)}"
            text = f"  {span:20} {first.algorithm}/{first.protocol}: "
            text += f"{time(first.expected_us or 0)} at {size(first.bytes)} in the tables by which NCCL chooses, no forecast"
            slow = next((row for row in (first, last) if row.fastest != f"{row.algorithm}/{row.protocol}"), None)
            out.append(text + (f"; {slow.fastest} would be faster at {size(slow.bytes)}" if slow else ""))
    out += _communicators(estimate)
    used = {PATTERN.get(row.algorithm, "") for row in estimate.rows}
    for name, share in estimate.shares.items():
        if name in ("ring", "tree") and name not in used and "tree" in estimate.job.spec.algorithms:
            continue  # computed for the choice only
        out.append(f"fabric    {name}: {_share(estimate, share)}")
    out += _ideal(estimate.rows[-1])
    note = wire_note(estimate)
    out.append("band      8 of 10 measured times lie between p10 and p90 (docs/accuracy.md)")
    return [*out, *([f"note      {note}"] if note else []), *(f"note      {text}" for text in estimate.notes)]


def _communicators(estimate: Estimate) -> list[str]:
    """GPUs and NICs of a communicator on some GPUs of each server, and how unlike several of them are."""
    placed, out = estimate.placement, []
    if placed.partial and placed.domains > 1:
        first, each = placed.gpu_ids[0].tolist(), " by each communicator, the first" if placed.communicators > 1 else ""
        beside = f"beside {'GPU' if len(first) == 1 else 'GPUs'} {listed([str(gpu) for gpu in first])}"
        out.append(
            f"GPUs      {plural(placed.nics_per_server, 'NIC')} of a server in use{each} {beside}; PXN reaches no others"
        )
    rates = _fair(estimate)
    if rates and max(rates) - min(rates) > NEARLY_EQUAL:
        spread = f"{min(rates):.0%} to {max(rates):.0%}, mean {sum(rates) / len(rates):.0%}"
        out.append(
            f"fair      the {placed.concurrent} get {spread} of their NICs (max-min, one draw); the times are of the slowest"
        )
    return out


def _fair(estimate: Estimate) -> list[float]:
    """Share of its NICs of every job or communicator; none of one alone, or of very many."""
    placed = estimate.placement
    if placed.concurrent == 1 or placed.domains == 1 or placed.concurrent * estimate.supply.net.links > MAX_LOADS:
        return []
    pattern = pattern_of(estimate.rows[-1].collective, estimate.rows[-1].algorithm)
    return [float(share) for share in estimate.supply.fair_shares(pattern)]


def _ideal(row: Row) -> list[str]:
    """Why the largest size is far from line rate although one resource is named as its bottleneck."""
    reached = row.ideal_time_us / row.time_us
    if reached > NEAR_IDEAL or not row.bottleneck_share:
        return []
    resource = row.bottleneck.partition(", such as ")[0]
    saves = f"twice the bandwidth of {resource}" if "CTAs" not in resource else "twice the CTAs"
    return [
        f"ideal     {percent(reached)} at {size(row.bytes)}: {saves} would save {row.bottleneck_share:.0%} of the time, "
        "the rest is protocol and latency"
    ]


def _share(found: Estimate, share: nic_bandwidth.Share) -> str:
    if share.link < 0:
        return "carries the full rate of the NICs"
    spread = (
        "" if share.best - share.worst < 0.005 else f" ({share.worst:.0%} to {share.best:.0%} depending on hash placement)"
    )
    return f"{share.share:.0%} of the NIC rate{spread}, limited by {found.supply.link_name(share.link)}"


def wire_note(found: Estimate) -> str:
    """The reason why busbw exceeds the rate of the NICs, if it does."""
    top = max(found.rows, key=lambda row: row.busbw_GBps)
    if not found.nic_GBps or top.busbw_GBps <= found.nic_GBps:
        return ""
    factor = top.busbw_GBps / top.algbw_GBps
    return (
        f"busbw exceeds the {found.nic_GBps:,.0f} GB/s of a domain's NICs: it counts {factor:.2f} bytes per byte "
        f"of the buffer, as in a ring; {top.algorithm} sends {top.wire_bytes / top.bytes:.2f} over the network"
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


def against_healthy(estimate: Estimate, healthy: Estimate, failed: Sequence[str]) -> list[str]:
    """Slowdown by the failures, by size."""
    slower = [now.time_us / then.time_us - 1 for now, then in zip(estimate.rows, healthy.rows, strict=True)]
    worst = max(range(len(slower)), key=lambda at: slower[at])
    names = ", ".join(dict.fromkeys(failed))
    if max(slower) < 0.0005:
        return [f"failed    {names}: no slower than healthy, as the bottleneck is elsewhere"]
    text = f"failed    {names}: {slower[-1]:.1%} slower than healthy at {size(estimate.rows[-1].bytes)}"
    if worst != len(slower) - 1 and slower[worst] > slower[-1] + 0.005:
        text += f", {slower[worst]:.1%} at {size(estimate.rows[worst].bytes)}"
    return [text]


def against_spread(packed: Estimate, spread_us: float) -> list[str]:
    """What the packed placement hides."""
    row = packed.rows[-1]
    more = spread_us / row.time_us - 1
    slower = f"{more:.0%} longer" if more >= 0.005 else "as long"
    return [f"packed    spread over the units it takes {slower}: {time(spread_us)} at {size(row.bytes)} (--placement spread)"]


def compared(found: Sequence[Estimate]) -> list[str]:
    """The times of several placements side by side."""
    head = ("size", *(item.placement.name for item in found), "slowest/best")
    rows = []
    for same_size in zip(*(item.rows for item in found), strict=True):
        times = [row.time_us for row in same_size]
        rows.append((size(same_size[0].bytes), *map(time, times), f"{max(times) / min(times):.2f}"))
    return ["", "time by placement", *aligned(rows, ">" * len(head), head=head)]


# --- JSON -----------------------------------------------------------------------------------------------------


class ShareDocument(Document):
    """Of one pattern."""

    share: Share
    worst: Share
    best: Share
    link: str = json_key('that limits; "" where the NICs do')
    hop_us: Number


class EstimateDocument(Document):
    """Rows, and what they stand on."""

    fabric: Text = json_key(of="supply.net.fabric.name")
    gpus: Count = json_key("of one job", "placement.gpus")
    servers: Count = json_key("of all jobs", lambda estimate: len(estimate.placement.servers))
    jobs: Count = json_key(of="placement.jobs")
    communicators: Count = json_key("at the same time on other GPUs of the same servers", "placement.communicators")
    gpus_per_server: Count = json_key("of one job or communicator", "placement.gpus_per_server")
    gpu_ids: list[list[Count]] = json_key(
        "of a server, from 0, by communicator", of=lambda estimate: estimate.placement.gpu_ids.tolist()
    )
    nics_per_server: Count = json_key(
        "beside the GPUs of one job or communicator", of=lambda estimate: estimate.placement.nics_per_server
    )
    placement: Text = json_key(of="placement.name")
    nvlink_domains: Count = json_key(of=lambda estimate: _domains(estimate))
    nvlink_domain_gpus: Count = json_key(of=lambda estimate: nvlink_ranks(estimate.job))
    nvlink_GBps: Amount = json_key(of=lambda estimate: float(_bridged(estimate.job)))
    pcie_GBps: Amount = json_key(of=lambda estimate: float(estimate.job.nvlink_GBps) if estimate.job.pcie else 0.0)
    nic_GBps_per_domain: Amount = json_key(of="nic_GBps")
    routing: Annotated[str, enum_of(MODES)] = json_key(of="supply.routing")
    queue_pairs: Count = json_key(of="supply.qps")
    rows: list[Row]
    fair_shares: list[Share] = json_key(
        "of the NIC rate, of each of several jobs or communicators at the same time, in the largest size",
        of=lambda estimate: _fair(estimate),
    )
    shares: dict[str, ShareDocument] = json_key(
        "by pattern: share of the NIC rate that the fabric carries", of=lambda estimate: _shares(estimate)
    )
    notes: list[str] = json_key(of=lambda estimate: [text for text in (wire_note(estimate), *estimate.notes) if text])


def _domains(estimate: Estimate) -> int:
    placed = estimate.placement
    return ceil_div(placed.gpus, nvlink_ranks(estimate.job)) if estimate.job.pcie else placed.domains


def _bridged(job: Job) -> Any:
    return job.bridge_GBps if job.pcie else job.nvlink_GBps


def _shares(estimate: Estimate) -> dict[str, dict[str, Any]]:
    names = {share.link: estimate.supply.link_name(share.link) for share in estimate.shares.values() if share.link >= 0}
    return {name: asdict(share) | {"link": names.get(share.link, "")} for name, share in estimate.shares.items()}


class Spread(Document):
    """The packed job spread over the units, where that can differ; of the largest size."""

    bytes: Positive
    time_us: Amount


class AnswerDocument(EstimateDocument):
    """Times of a collective, size by size; with several placements the first, and all under `placements`."""

    failed: list[str] = json_key("as --fail named them")
    healthy_time_us: list[Amount] = json_key("of each row, without the failures", default=None)
    spread: Spread = json_key(default=None)
    placements: list[EstimateDocument] = json_key(default=None)
