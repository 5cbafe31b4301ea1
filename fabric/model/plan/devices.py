"""A device of a plan, as a small frozen record."""

from __future__ import annotations

from dataclasses import dataclass

SERVER, LEAF, SPINE, CORE, ATTACHED = "server", "leaf", "spine", "core", "attached"
SWITCH_ROLES = (CORE, SPINE, LEAF)
PRIVATE_2_BYTE = (64_512, 65_534)  # AS numbers, RFC 6996
PRIVATE_4_BYTE = (4_200_000_000, 4_294_967_294)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device. Coordinates count from 0 and are -1 where the device has none (a core has no unit)."""

    index: int  # row in the fabric's device table; links refer to it
    name: str
    role: str  # "server" | "leaf" | "spine" | "core" | "attached"
    number: int  # from 1 within its role (servers: within their group); the row of its tables
    model: str  # catalog name
    nos: str  # network OS, "" for what is no switch or has none (InfiniBand)
    group: str = ""  # the entry of `servers` it belongs to
    unit: int = -1
    rack: int = -1
    pod: int = -1
    plane: int = -1
    rail: int = -1
    asn: int = 0  # 0: speaks no BGP
