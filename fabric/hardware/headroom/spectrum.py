"""NVIDIA's formula: sonic-swss cfgmgr/buffer_headroom_mellanox.lua, and the static tables of device/mellanox.

Static and dynamic differ in more than the share of small packets, because the tables are older than the plugin:

* the static tables of Spectrum-1 to 3 grant the peer 3.8 KiB at every speed, those of Spectrum-4 and later and the plugin
  the PAUSE response time of the speed;
* the tables take 144/64 = 2.25 cells a small packet as it is, the plugin rounds it up to 3;
* the plugin adds 2 KiB where a reduced share of small packets leaves it more than that below the worst case.

So a dynamic headroom can be above the static one of the same port (Spectrum-3 at 400G), and is what the switch sets.
Published rows that this does not give stand in tests/reference/headroom/nvidia.yaml, each with the reason: 2000 m rows that
are half of the formula, long rows without the port's own frame, two rows of the SN3800, sizes of four rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabric.hardware.catalog.asics import Asic
from fabric.hardware.headroom.link import QUANTA, Link, by_speed, cells_per_small_packet, round_up

KIB = 1024
SMALL_PACKET_BYTES = 64
Terms = dict[str, int | float | str]


@dataclass(frozen=True, slots=True)
class Formula:
    """Which of the two generations computes, and the bytes in a hundred that come in 64-byte packets."""

    small_bytes_percent: float = 100.0
    plugin: bool = False
    gearbox_ns: int = 0  # 400 on the SN3800


STATIC = Formula()


def small_bytes_percent(small_packet_percent: float, lossless_mtu_bytes: int) -> float:
    """Share of bytes the plugin derives from `small_packet_percentage`; at 50 % and 1024 bytes it is 11.76."""
    mean = (small_packet_percent * SMALL_PACKET_BYTES + (100 - small_packet_percent) * lossless_mtu_bytes) / 100
    return min(100.0, 100 * SMALL_PACKET_BYTES / mean)


def dynamic(lossless_mtu_bytes: int) -> Formula:
    """The computation of a switch with `buffer_model: dynamic` and SONiC's defaults: every second packet is small."""
    return Formula(small_bytes_percent(50, lossless_mtu_bytes), plugin=True)


def spectrum(asic: Asic, link: Link, formula: Formula, lanes: int) -> tuple[int, int, int, Terms]:
    """xon, xoff, size in bytes and the terms that xoff is the sum of."""
    chip = asic.spectrum
    if chip is None or asic.cell_bytes is None:
        raise ValueError("expected a chip whose headroom is computed")
    parts: Terms = {
        "port_mtu_bytes": link.mtu_bytes,
        "cable_bytes": link.cable_bytes,
        "mac_phy_bytes": chip.mac_phy_bytes,
        "peer_response_bytes": _response(asic, link.speed_gbps, formula),
    }
    if formula.gearbox_ns:
        parts["gearbox_bytes"] = 2 * link.speed_gbps * 1000 * formula.gearbox_ns / 8192
    if chip.tile_ns:
        parts["tile_bytes"] = link.speed_gbps * chip.tile_ns / 8
    in_flight = math.fsum(float(value) for value in parts.values())
    worst = cells_per_small_packet(asic.cell_bytes)
    worst = math.ceil(worst) if formula.plugin else worst
    occupancy = (100 - formula.small_bytes_percent + formula.small_bytes_percent * worst) / 100
    exact = link.lossless_mtu_bytes + in_flight * occupancy
    xoff = round_up(exact, KIB)
    terms: Terms = {
        **{name: _short(value) for name, value in parts.items()},
        "in_flight_bytes": _short(in_flight),
        "small_bytes_percent": _short(formula.small_bytes_percent),
        "cell_bytes": asic.cell_bytes,
        "occupancy": round(occupancy, 4),
        "occupied_bytes": _short(in_flight * occupancy),
        "lossless_mtu_bytes": link.lossless_mtu_bytes,
        "rounding_bytes": _short(xoff - exact),
    }
    if chip.compensation_bytes:
        terms["chip_compensation_bytes"] = chip.compensation_bytes
        xoff += chip.compensation_bytes
    worst_case = round_up(link.lossless_mtu_bytes + in_flight * worst, KIB)
    if formula.plugin and formula.small_bytes_percent < 100 and xoff + 2 * KIB < worst_case:
        terms["mix_compensation_bytes"] = 2 * KIB
        xoff += 2 * KIB
    eight = lanes == 8
    latency = chip.pipeline_latency_bytes if formula.plugin else chip.static_latency_bytes or chip.pipeline_latency_bytes
    xon = round_up(latency * (2 if eight else 1), KIB)
    terms["lanes"] = lanes
    return xon, xoff, round_up(xoff + xon + (link.mtu_bytes if eight else 0), KIB), terms


def lanes_of(asic: Asic, speed_gbps: int) -> int:
    """Lanes that a port of this speed takes, where it matters: 8, or 4 for any fewer."""
    return 8 if asic.spectrum and speed_gbps in asic.spectrum.eight_lanes_gbps else 4


def _response(asic: Asic, speed_gbps: int, formula: Formula) -> float:
    """Bytes that arrive while the peer obeys PAUSE."""
    chip = asic.spectrum
    if chip and chip.fixed_response_bytes is not None and not formula.plugin:
        return chip.fixed_response_bytes
    slow = chip is not None and chip.slow_response_gbps is not None and speed_gbps >= chip.slow_response_gbps
    return by_speed(QUANTA, speed_gbps) * 512 / 8 * (2 if slow and not formula.plugin else 1)


def _short(value: object) -> int | float:
    number = round(float(str(value)), 2)
    return int(number) if number.is_integer() else number
