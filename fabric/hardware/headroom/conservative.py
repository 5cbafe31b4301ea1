"""The headroom of a chip without published figures: the long sum of IEEE 802.1Qbb, with upper bounds everywhere.

Terms as in https://www.besthub.dev/articles/how-to-compute-headroom-for-lossless-ethernet-links-part-2-6f1dc894e989, which
gives the delays of 10G, 25G, 40G and 100G. What it does not give is extrapolated here, upwards: an interface of 50G and from
200G on is granted the time of 100G's, the longest of the four (1228.8 ns), and a peer of 800G the time of 400G's.
"""

from __future__ import annotations

from fabric.hardware.headroom.link import (
    FRAME_OVERHEAD_BYTES,
    PFC_FRAME_BYTES,
    Link,
    by_speed,
    cells_per_small_packet,
    round_up,
)
from fabric.hardware.headroom.spectrum import Terms

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
