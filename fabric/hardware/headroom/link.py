"""What every headroom form knows of a link: frames, cable, and how long the peer takes to stop. All in bytes at line rate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

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
