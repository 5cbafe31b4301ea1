"""A headroom told term by term, so that a person can add it up."""

from __future__ import annotations

from fabric.qos.headroom import Headroom
from fabric.text import aligned

# How a term enters the sum, and what it is. Terms without a sign are facts beside the sum.
WORDS = {
    "port_mtu_bytes": ("+", "my own largest frame, begun before PAUSE could be sent"),
    "own_frame_bytes": ("+", "my own largest frame, begun before PAUSE could be sent"),
    "pfc_frame_bytes": ("+", "the PFC frame itself"),
    "interface_bytes": ("+", "delay of both interfaces"),
    "cable_bytes": ("+", "on the cable, out and back"),
    "mac_phy_bytes": ("+", "in my MAC and PHY"),
    "gearbox_bytes": ("+", "in the gearboxes"),
    "peer_response_bytes": ("+", "sent while the peer obeys PAUSE"),
    "tile_bytes": ("+", "waiting on the die"),
    "peer_frame_bytes": ("+", "the peer's largest frame, begun before PAUSE came"),
    "in_flight_bytes": ("=", "in flight"),
    "occupancy": ("x", "buffer that a byte takes: small packets fill whole cells"),
    "occupied_bytes": ("=", "buffer taken"),
    "lossless_mtu_bytes": ("+", "the peer's frame of the lossless class, begun before PAUSE came"),
    "row_bytes": ("+", "xoff of the row"),
    "extrapolated_bytes": ("+", "beyond the longest row, at its slope, up to the next cell"),
    "rounding_bytes": ("+", "up to the next cell or KiB"),
    "chip_compensation_bytes": ("+", "the chip's own accounting"),
    "mix_compensation_bytes": ("+", "because only part of the packets is taken as small"),
    "raised_to_floor_bytes": ("+", "up to the floor, below which no headroom is safe"),
}
FORMULA = {
    "computed": "in flight x occupancy + lossless MTU, up to the next KiB",
    "table": "the next longer row of the next faster speed; nobody published the formula behind it",
    "conservative": "802.1Qbb: two frames, PAUSE, interfaces, cable out and back, response; upper bounds throughout",
}


def explain(headroom: Headroom) -> list[str]:
    """Aligned lines: the three figures, the sum, the facts it rests on, the source."""
    rows = [(*WORDS[name], value) for name, value in headroom.terms.items() if name in WORDS]
    rows.append(("=", "xoff: the headroom", headroom.xoff_bytes))
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
