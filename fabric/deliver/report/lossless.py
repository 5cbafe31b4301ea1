"""The QoS arithmetic: headroom and ECN thresholds of every kind of port, and what they leave of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabric.base.grouping import grouped
from fabric.deliver.report.grid import Grid, grid
from fabric.design.planner.lossless import RULES
from fabric.hardware.headroom import explain
from fabric.model.plan import FabricLossless, FabricPlan


@dataclass(frozen=True)
class Sum:
    """One headroom added up, for those who open it."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Arithmetic:
    """The lossless class of one fabric."""

    sentence: str
    ports: Grid
    buffers: Grid
    sums: tuple[Sum, ...]


def arithmetic(fabric: FabricPlan) -> Arithmetic | None:
    """None where the fabric has no lossless class."""
    lossless = fabric.lossless
    if lossless is None or not lossless.roles:
        return None
    qos, settings = next(iter(lossless.roles.values())).qos, fabric.spec.qos
    watchdog = f"a queue paused for {qos.watchdog.detect_ms} ms is emptied" if qos.watchdog else "no PFC watchdog"
    sentence = (
        f"RoCE: DSCP {qos.dscp}, priority {qos.priority}, lossless (PFC), guaranteed {qos.lossless_percent} %. "
        f"Congestion notifications: DSCP {qos.cnp_dscp}, priority {qos.cnp_priority}. "
        f"Frames of up to {qos.lossless_mtu:,} bytes; {watchdog}. "
        f"ECN by rule {settings.ecn.rule} ({RULES[settings.ecn.rule].source})."
    )
    return Arithmetic(sentence, _ports(fabric, lossless), _buffers(fabric, lossless), tuple(_sums(fabric, lossless)))


def _name(fabric: FabricPlan, role: str, group: str) -> str:
    several = len(fabric.spec.groups) > 1 and group
    return f"{role} of {group}" if several else role


def _ports(fabric: FabricPlan, lossless: FabricLossless) -> Grid:
    rows = []
    for (role, group), entry in lossless.roles.items():
        for (speed, length), count in sorted(entry.counts.items()):
            port, room = entry.ports[speed, length], entry.headroom[speed, length]
            sizes = (port.xoff_bytes, port.xon_bytes, port.size_bytes, port.marking.kmin_bytes, port.marking.kmax_bytes)
            who = (_name(fabric, role, group), getattr(fabric.spec, role).switch)
            ends = (f"{speed}", f"{length}", f"{count}")
            rows.append((*who, *ends, *(f"{size:,}" for size in sizes), f"{port.marking.pmax_percent}", room.method))
    titles = (
        *("tier", "switch", "#Gb/s", "#cable, m", "#ports", "#xoff, bytes", "#xon, bytes", "#size, bytes"),
        *("#Kmin, bytes", "#Kmax, bytes", "#Pmax, %", "method"),
    )
    note = "xoff: headroom for frames in flight after PAUSE; size: buffer reserved for the port."
    return grid("Lossless ports of one switch: PFC headroom and ECN thresholds", titles, rows, note)


def _buffers(fabric: FabricPlan, settings: FabricLossless) -> Grid:
    rows = []
    for (role, group), entry in settings.roles.items():
        buffer = entry.qos.buffer
        cells = [
            "not known" if size is None else f"{size:,}"
            for size in (buffer.total_bytes, buffer.reserved_bytes, buffer.shared_bytes, buffer.trigger_bytes)
        ]
        pool = f"{buffer.headroom_pool_bytes:,}" if buffer.headroom_pool_bytes else ""
        model = getattr(fabric.spec, role).model
        asic = model.asic or "chip not known"
        rows.append(
            (_name(fabric, role, group), asic, *cells[:2], pool, cells[2], f"{2.0**buffer.alpha_exponent:g}", cells[3])
        )
    titles = (
        *("tier", "chip", "#buffer, bytes", "#reserved, bytes", "#of which shared headroom, bytes", "#shared, bytes"),
        *("#alpha", "#PAUSE from, bytes"),
    )
    note = "PAUSE from: buffer level of a priority group at which PAUSE is sent while every lossless port is congested."
    return grid("Buffer of one switch", titles, rows, note)


def _sums(fabric: FabricPlan, found: FabricLossless) -> Iterator[Sum]:
    """Each headroom once, however many tiers have such a port."""
    seen = grouped(
        (tuple(explain(room)), f"{_name(fabric, role, group)}, {speed}G at {length} m")
        for (role, group), entry in found.roles.items()
        for (speed, length), room in sorted(entry.headroom.items())
    )
    for lines, titles in seen.items():
        yield Sum("; ".join(titles), lines)
