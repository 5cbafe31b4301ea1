"""PFC headroom: buffer that a lossless priority needs for what still arrives after it has asked the peer to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fabric.base.schemas.models import Count, Number, Text, described, enum_of
from fabric.base.text import aligned
from fabric.hardware.catalog.asics import Asic
from fabric.hardware.headroom_formulas import (
    LOSSLESS_MTU_BYTES,
    MTU_BYTES,
    SOURCE,
    STATIC,
    Link,
    Terms,
    conservative,
    dynamic,
    lanes_of,
    round_up,
    row_for,
    spectrum,
)

Traffic = Literal["static", "dynamic"]
SWSS = "sonic-net/sonic-swss@e6b0c5b5d2ab cfgmgr/buffer_headroom_mellanox.lua"
ASIC_TABLE = "sonic-net/sonic-buildimage@086b03bd70f9 platform/mellanox/asic_table.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """A lossless group's figures in SONiC's words."""

    xon_bytes: Count
    xoff_bytes: Annotated[Count, described("the headroom, not the fill level that sends PAUSE")]
    size_bytes: Count
    method: Annotated[str, enum_of(("computed", "table", "conservative"))]
    terms: Annotated[Mapping[str, Number | str], described("of the arithmetic, units in their names")]
    source: Text


def headroom(
    asic: Asic | None,
    speed_gbps: int,
    length_m: int,
    mtu_bytes: int = MTU_BYTES,
    traffic: Traffic = "static",
    *,
    switch: str = "",
    lanes: int | None = None,
    lossless_mtu_bytes: int = LOSSLESS_MTU_BYTES,
) -> Headroom:
    """Headroom of one priority of one port.

    `asic` None is an unknown chip. `switch` is a catalog name, for switches with their own tables. `traffic` matters
    to NVIDIA's chips only: `static` assumes only 64-byte packets, as the shipped tables do, `dynamic` makes every
    second packet small, as the switch does. `lanes` (8 or fewer) default: by chip and speed.
    Raises ValueError for a speed, length or MTU that no link has.
    """
    if speed_gbps < 1 or length_m < 0 or mtu_bytes < 64 or lossless_mtu_bytes < 64:
        raise ValueError(
            "expected a speed of 1 Gb/s or more, a length of 0 m or more and MTUs of 64 bytes or more, "
            f"got {speed_gbps} Gb/s, {length_m} m, {mtu_bytes} and {lossless_mtu_bytes} bytes"
        )
    link = Link(speed_gbps, length_m, mtu_bytes, lossless_mtu_bytes)
    if asic and asic.spectrum:
        return _computed(asic, link, traffic, lanes or lanes_of(asic, speed_gbps))
    return (_from_table(asic, link, switch) if asic else None) or _conservative(asic, link)


def reserved_bytes(asic: Asic | None, switch: str, ports: Sequence[tuple[Headroom, int]]) -> tuple[int, int]:
    """Bytes of the shared headroom pool, 0 where every port has its own, and all bytes that so many ports of each reserve.

    Every port counts with its whole headroom at once, in chips that share headroom as well: a design that only fits while
    few ports are congested is not lossless.
    """
    table = asic.table_of(switch) if asic is not None else None
    pool = sum(room.xoff_bytes * count for room, count in ports) if table is not None and table.shared else 0
    return pool, pool + sum(room.size_bytes * count for room, count in ports)


def floor_bytes(
    speed_gbps: int, length_m: int, mtu_bytes: int = MTU_BYTES, lossless_mtu_bytes: int = LOSSLESS_MTU_BYTES
) -> int:
    """Bytes below which no headroom is safe: port MTU, lossless MTU, the PFC frame, and the cable out and back."""
    return Link(speed_gbps, length_m, mtu_bytes, lossless_mtu_bytes).floor_bytes


def _computed(asic: Asic, link: Link, traffic: Traffic, lanes: int) -> Headroom:
    formula = dynamic(link.lossless_mtu_bytes) if traffic == "dynamic" else STATIC
    xon, xoff, size, terms = spectrum(asic, link, formula, lanes)
    safe = _raised(xoff, link, 1024, terms)
    source = f"{SWSS}; {ASIC_TABLE}"
    return Headroom(
        xon_bytes=xon,
        xoff_bytes=safe,
        size_bytes=size + safe - xoff,
        method="computed",
        terms={"traffic": traffic, **terms},
        source=source,
    )


def _from_table(asic: Asic, link: Link, switch: str) -> Headroom | None:
    row = row_for(asic, link.speed_gbps, link.length_m, switch)
    if row is None:
        return None
    table, terms = row.table, dict(row.terms)
    xoff = _raised(row.xoff_bytes, link, asic.cell_bytes or 1, terms)
    if table.threshold is not None:
        terms["threshold"] = table.threshold
    if table.threshold_bytes is not None:
        terms["threshold_bytes"] = table.threshold_bytes
    if table.xon_offset_bytes is not None:
        terms["xon_offset_bytes"] = table.xon_offset_bytes
    size = table.size(row.speed_gbps, row.length_m, xoff)
    return Headroom(
        xon_bytes=table.xon_bytes, xoff_bytes=xoff, size_bytes=size, method="table", terms=terms, source=table.source
    )


def _conservative(asic: Asic | None, link: Link) -> Headroom:
    cell = asic.cell_bytes if asic else None
    xoff, terms = conservative(link, cell)
    xoff = _raised(xoff, link, cell or 1024, terms)
    # Two frames, as many tables have (18432 bytes): none is published for this chip.
    xon = 2 * link.mtu_bytes
    return Headroom(xon_bytes=xon, xoff_bytes=xoff, size_bytes=xoff + xon, method="conservative", terms=terms, source=SOURCE)


def _raised(xoff: int, link: Link, unit: int, terms: Terms) -> int:
    """xoff, or the floor where that is higher; the terms say which."""
    terms["floor_bytes"] = link.floor_bytes
    if xoff >= link.floor_bytes:
        return xoff
    safe = round_up(link.floor_bytes, unit)
    terms["raised_to_floor_bytes"] = safe - xoff
    return safe


# --- The terms as aligned lines -------------------------------------------------------------------------------

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
