"""Forms of headroom: the tables that SONiC ships, the formula of NVIDIA, and the long sum of IEEE 802.1Qbb."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabric.hardware.catalog.asics import Asic, HeadroomTable

# --- Link: all in bytes at line rate --------------------------------------------------------------------------

MTU_BYTES = 9216  # assumed by the static tables of NVIDIA's switches; SONiC's own default for a port is 9100
LOSSLESS_MTU_BYTES = 1024  # SONiC's LOSSLESS_TRAFFIC_PATTERN
ROCE_HEADERS_BYTES = 104  # Ethernet, VLAN, IPv6, UDP, BTH, RETH, ICRC, FCS, up to a multiple of eight
PFC_FRAME_BYTES = 84  # 64 bytes, preamble and gap: 672 bit times
FRAME_OVERHEAD_BYTES = 20  # preamble and gap of any frame
LIGHT_M_S = 198_000_000  # in fibre, as SONiC counts: 5.05 ns per metre

# IEEE 802.3 31B.3.7: 512-bit times that a MAC may take to obey PAUSE, as sonic-swss lists them. At 800G that list repeats
# 905 where the tables of NVIDIA's SN6600 assume 1810, as the data of its chip has it (`slow_response_gbps`).
QUANTA = {1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}


@dataclass(frozen=True, slots=True)
class Link:
    """A cable between two ports of one speed; `mtu_bytes`: largest frame of a port, `lossless_mtu_bytes`: of the class."""

    speed_gbps: int
    length_m: int
    mtu_bytes: int = MTU_BYTES
    lossless_mtu_bytes: int = LOSSLESS_MTU_BYTES

    @property
    def cable_bytes(self) -> float:
        """In flight on the cable, out and back."""
        return 2 * self.length_m * self.speed_gbps * 1e9 / LIGHT_M_S / 8

    @property
    def floor_bytes(self) -> int:
        """No headroom may be less: my frame that delays PAUSE, PAUSE, the cable twice, the frame the peer has begun."""
        return math.ceil(self.mtu_bytes + self.lossless_mtu_bytes + PFC_FRAME_BYTES + self.cable_bytes)


def by_speed(figures: Mapping[int, int], speed_gbps: int) -> int:
    """The figure of a speed, of the next faster one listed; beyond the list as long in time as the fastest, so more bits."""
    listed = min((speed for speed in figures if speed >= speed_gbps), default=0)
    if listed:
        return figures[listed]
    fastest = max(figures)
    return math.ceil(figures[fastest] * speed_gbps / fastest)


def round_up(value: float, unit: int) -> int:
    """The next multiple of a unit."""
    return math.ceil(value / unit) * unit


def cells_per_small_packet(cell_bytes: int) -> float:
    """Buffer that 64-byte packets take in the worst case, as a multiple of their bytes (sonic-swss)."""
    return cell_bytes / 64 if cell_bytes > 128 else 2 * cell_bytes / (1 + cell_bytes)


# --- The formula of NVIDIA: sonic-swss cfgmgr/buffer_headroom_mellanox.lua, and the static tables of device/mellanox

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


# --- Published tables: rounded up to a row, never between rows, never below -----------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """The row that a port takes, and its headroom in bytes."""

    table: HeadroomTable
    speed_gbps: int
    length_m: int
    xoff_bytes: int
    terms: Terms


def row_for(asic: Asic, speed_gbps: int, length_m: int, switch: str = "") -> Row | None:
    """The row of the switch's own table, else of its chip's; None where no table goes up to the speed."""
    table = _table(asic, speed_gbps, switch)
    if table is None:
        return None
    speed = min(listed for listed in table.rows if listed >= speed_gbps)
    row = table.rows[speed]
    longest = max(row)
    length = min((listed for listed in row if listed >= length_m), default=longest)
    terms: Terms = {"table": table.sku, "row_speed_gbps": speed, "row_length_m": length, "row_bytes": row[length]}
    xoff = row[length]
    if length_m > longest:
        slope = _slope(row, speed)
        terms |= {"extra_length_m": length_m - longest, "slope_bytes_per_m": round(slope, 2)}
        extra = round_up(xoff + slope * (length_m - longest), asic.cell_bytes or 1) - xoff
        terms["extrapolated_bytes"] = extra
        xoff += extra
    return Row(table.at(speed), speed, length, xoff, terms)


def _table(asic: Asic, speed_gbps: int, switch: str) -> HeadroomTable | None:
    """One table for a speed, whatever the length, so that a longer cable never takes less.

    Of a switch's SKUs the one with a row of this very speed, else of the next faster; with the most lengths among equals.
    """
    usable = [table for table in asic.tables if table.fastest_gbps >= speed_gbps]
    of_switch = [table for table in usable if switch and switch in table.switches]
    choice = of_switch or [table for table in usable if table.default]

    def fit(table: HeadroomTable) -> tuple[int, int]:
        speed = min(listed for listed in table.rows if listed >= speed_gbps)
        return speed, -len(table.rows[speed])

    return min(choice, key=fit, default=None)


def _slope(row: dict[int, int], speed_gbps: int) -> float:
    """Bytes a metre between the two longest rows; what the cable itself holds where there is but one."""
    if len(row) < 2:
        return 2 * speed_gbps * 1e9 / LIGHT_M_S / 8
    before, last = sorted(row)[-2:]
    return math.fsum((row[last], -row[before])) / (last - before)


# --- Conservative sum, with upper bounds everywhere -----------------------------------------------------------

# Bit times of one interface; 50G and 200G upwards extrapolated.
INTERFACE_BITS = {10: 8192, 25: 6144, 40: 24576, 50: 61440, 100: 122880}
# Quanta of 512 bit times; 50G and 200G from sonic-swss, 800G and beyond extrapolated from 400G.
RESPONSE_QUANTA = {10: 60, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
SOURCE = (
    "IEEE 802.1Qbb Annex O; delays of IEEE 802.3 by "
    "https://www.besthub.dev/articles/how-to-compute-headroom-for-lossless-ethernet-links-part-2-6f1dc894e989"
)


def conservative(link: Link, cell_bytes: int | None) -> tuple[int, Terms]:
    """xoff in bytes and the terms it is the sum of."""
    parts: Terms = {
        "own_frame_bytes": link.mtu_bytes + FRAME_OVERHEAD_BYTES,
        "pfc_frame_bytes": PFC_FRAME_BYTES,
        "interface_bytes": 2 * by_speed(INTERFACE_BITS, link.speed_gbps) // 8,
        "cable_bytes": 2 * link.length_m * 5 * link.speed_gbps / 8,
        "peer_response_bytes": by_speed(RESPONSE_QUANTA, link.speed_gbps) * 512 // 8,
        "peer_frame_bytes": link.mtu_bytes + FRAME_OVERHEAD_BYTES,
    }
    in_flight = sum(float(value) for value in parts.values())
    terms: Terms = {**parts, "in_flight_bytes": in_flight}
    exact = in_flight
    if cell_bytes:
        occupancy = cells_per_small_packet(cell_bytes)
        exact *= occupancy
        terms |= {"cell_bytes": cell_bytes, "occupancy": round(occupancy, 4), "occupied_bytes": round(exact, 2)}
    xoff = round_up(exact, cell_bytes or 1024)
    terms["rounding_bytes"] = round(xoff - exact, 2)
    if link.speed_gbps > 100 or link.speed_gbps == 50:
        terms["extrapolated"] = "interface delay" + (" and peer response" if link.speed_gbps > 400 else "")
    return xoff, terms
