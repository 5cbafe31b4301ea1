"""lldpd of servers, SONiC and Cumulus Linux: `lldpctl -f json`, `-f json0`, and its plain text.

In `json` the list of interfaces becomes a mapping when there is one alone, and a chassis is filed under its name, or not at
all when it sent none. `json0` has lists and `{"value": …}` everywhere. SONiC's `show lldp neighbors` is the plain text.
Source: lldpd 1.0 (Debian package lldpd) as it prints, and lldpcli(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fabric.nos.lldp import TEXT, LldpPart, Neighbor, Reader, first, known_text, medium_gbps, rows, text

_INTERFACE = re.compile(r"Interface:\s+(\S+?),? +via:|Interface:\s+(\S+?),?\s*$")
_FIELD = re.compile(r"\s+(ChassisID|SysName|PortID|PortDescr|MAU oper type):\s+(.*?)\s*$")


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    found = value.get("lldp")
    if found in ({}, [{}], []):
        return len(value) == 1  # no neighbor
    return "interface" in first(found) or "local-chassis" in value


def read(value: dict[str, Any]) -> LldpPart:
    system, chassis = _chassis(first(value.get("local-chassis")).get("chassis"))
    neighbors = tuple(_neighbor(name, row) for name, row in _interfaces(value.get("lldp")))
    return LldpPart(system, chassis, neighbors, listens="lldp" in value)


def _interfaces(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Port and neighbor, however they are wrapped."""
    for block in rows(found):
        for row in rows(block.get("interface")):
            if "name" in row and "chassis" in row:
                yield text(row["name"]), row
            else:
                yield from ((name, entry) for name, found in row.items() for entry in rows(found))


def _neighbor(name: str, row: dict[str, Any]) -> Neighbor:
    system, chassis = _chassis(row.get("chassis"))
    port = first(row.get("port"))
    speed = medium_gbps(first(port.get("auto-negotiation")).get("current"))
    return Neighbor(
        port=name,
        system=system,
        chassis=chassis,
        far_port=known_text(port.get("id")),
        description=known_text(port.get("descr")),
        far_speed_gbps=speed,
    )


def _chassis(found: Any) -> tuple[str, str]:
    """System name and chassis id."""
    chassis = first(found)
    if "id" in chassis and ("value" in first(chassis["id"])):
        return known_text(chassis.get("name")), known_text(chassis["id"])
    for name, entry in chassis.items():
        return name, known_text(first(entry).get("id"))
    return "", ""


def knows_text(lines: Sequence[str]) -> bool:
    return any(line.startswith("LLDP neighbors:") for line in lines) or any(_INTERFACE.match(line) for line in lines)


def read_text(lines: Sequence[str]) -> LldpPart:
    """Blocks of fields under each `Interface:`; ids come with the word for their kind before them."""
    blocks: list[tuple[str, dict[str, str]]] = []
    for line in lines:
        if found := _INTERFACE.match(line):
            blocks.append((found[1] or found[2], {}))
        elif blocks and (field := _FIELD.match(line)):
            blocks[-1][1].setdefault(field[1], field[2])
    return LldpPart(neighbors=tuple(_block(port, fields) for port, fields in blocks), listens=True)


def _block(port: str, fields: dict[str, str]) -> Neighbor:
    chassis, identity = (fields.get(key, "").partition(" ")[2] or fields.get(key, "") for key in ("ChassisID", "PortID"))
    system, described = fields.get("SysName", ""), fields.get("PortDescr", "")
    far_speed_gbps = medium_gbps(fields.get("MAU oper type"))
    return Neighbor(
        port=port, system=system, chassis=chassis, far_port=identity, description=described, far_speed_gbps=far_speed_gbps
    )


READERS = (
    Reader(name="lldpd", commands="lldpctl -f json, -f json0, lldpcli show chassis -f json", knows=knows, read=read, rank=40),
    Reader(
        name="lldpd", commands="lldpctl, show lldp neighbors (SONiC)", knows=knows_text, read=read_text, takes=TEXT, rank=40
    ),
)
