"""The terms of a headroom computation as a sum of aligned lines."""

from __future__ import annotations

from fabric.base.text import aligned
from fabric.hardware.headroom.headroom import Headroom

# Term → sign in the sum, meaning. Terms that are not listed are inputs, printed below the sum.
WORDS = {
    "port_mtu_bytes": ("+", "local MTU frame already in transmission when XOFF is due"),
    "own_frame_bytes": ("+", "local MTU frame already in transmission when XOFF is due"),
    "pfc_frame_bytes": ("+", "PFC frame"),
    "interface_bytes": ("+", "interface delay of both ends"),
    "cable_bytes": ("+", "cable propagation delay, round trip"),
    "mac_phy_bytes": ("+", "local MAC/PHY delay"),
    "gearbox_bytes": ("+", "gearbox delay"),
    "peer_response_bytes": ("+", "peer response time to PAUSE"),
    "tile_bytes": ("+", "on-chip pipeline delay"),
    "peer_frame_bytes": ("+", "peer MTU frame already in transmission when PAUSE arrives"),
    "in_flight_bytes": ("=", "in flight"),
    "occupancy": ("x", "buffer bytes per byte in flight: small packets occupy whole cells"),
    "occupied_bytes": ("=", "buffer occupied"),
    "lossless_mtu_bytes": ("+", "peer lossless frame already in transmission when PAUSE arrives"),
    "row_bytes": ("+", "xoff of the table row"),
    "extrapolated_bytes": ("+", "extrapolated beyond the longest row at its slope, rounded up to a cell"),
    "rounding_bytes": ("+", "rounding up to the next cell or KiB"),
    "chip_compensation_bytes": ("+", "accounting overhead of the ASIC"),
    "mix_compensation_bytes": ("+", "correction: only part of the packets is assumed small"),
    "raised_to_floor_bytes": ("+", "raised to the minimum safe headroom"),
}
FORMULA = {
    "computed": "in flight x occupancy + lossless MTU, up to the next KiB",
    "table": "next longer row of the next faster speed; the vendor's formula is not published",
    "conservative": "802.1Qbb: two frames, PAUSE, interfaces, cable round trip, response; upper bounds for all terms",
}


def explain(headroom: Headroom) -> list[str]:
    """Aligned lines for `fabric headroom`: method, terms of the sum, XON, XOFF and size in bytes, inputs, source."""
    rows = [(*WORDS[name], value) for name, value in headroom.terms.items() if name in WORDS]
    rows.append(("=", "xoff (headroom)", headroom.xoff_bytes))
    facts = {name: value for name, value in headroom.terms.items() if name not in WORDS}
    return [
        f"{headroom.method}: {FORMULA[headroom.method]}",
        *aligned([(f"{sign} ", _number(value), f"  {text}") for sign, text, value in rows], "<><", indent="  ", gap=""),
        f"xon   {headroom.xon_bytes}",
        f"xoff  {headroom.xoff_bytes}",
        f"size  {headroom.size_bytes}",
        *(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()),
        f"source: {headroom.source}",
    ]


def _number(value: object) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
