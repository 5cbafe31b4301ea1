"""NVIDIA Cumulus Linux: `nv show interface --view=lldp -o json`, `nv show interface -o json`; its lldpctl is lldpd's own.

A mapping by port; each has `lldp.neighbor`, a mapping by the neighbor's name, and `link` with speed and state, as far as
the view shows them.
Source: NVUE reference of Cumulus Linux 5 (`nv show interface <id> lldp neighbor`, `link`), outputs of its REST interface.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp.neighbors import Neighbor, Part, PortState
from fabric.nos.lldp.output import Reader, first, known_text, rows, speed_gbps, text, up


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    entries = [entry for entry in value.values() if isinstance(entry, dict)]
    return any(_neighbor_rows(entry) or "oper-status" in first(entry.get("link")) for entry in entries)


def read(value: dict[str, Any]) -> Part:
    found = {port: entry for port, entry in value.items() if isinstance(entry, dict)}
    return Part(
        neighbors=tuple(_neighbors(found)),
        ports=tuple(_ports(found)),
        listens=any("lldp" in entry or "neighbor" in entry for entry in found.values()),
    )


def _neighbor_rows(entry: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Name and facts of the neighbors of a port, whether `lldp` stands around them or was asked for."""
    lldp = first(entry.get("lldp", entry))
    neighbors = first(lldp.get("neighbor", lldp))
    return [(name, row) for name, each in neighbors.items() for row in rows(each) if "chassis" in row and "port" in row]


def _neighbors(found: dict[str, Any]) -> Iterator[Neighbor]:
    for local, entry in found.items():
        for name, row in _neighbor_rows(entry):
            chassis, port = first(row["chassis"]), first(row["port"])
            system = known_text(chassis.get("system-name")) or ("" if name.isdigit() else name)
            yield Neighbor(
                port=local,
                system=system,
                chassis=known_text(chassis.get("chassis-id")),
                far_port=known_text(port.get("name")),
                description=known_text(port.get("description")),
            )


def _ports(found: dict[str, Any]) -> Iterator[PortState]:
    for port, entry in found.items():
        link = first(entry.get("link"))
        if link:
            state = _state(link)
            speed = 0 if state is False else speed_gbps(link.get("speed"))
            yield PortState(port, speed, state, shut=text(link.get("admin-status")) == "down")


def _state(link: dict[str, Any]) -> bool | None:
    """`oper-status: up`; `state: {"up": {}}` of some views."""
    state = link.get("state")
    configured = link.get("oper-status") or (next(iter(state), "") if isinstance(state, dict) else state)
    return up(configured) if text(configured) in ("up", "down") else None


READERS = (
    Reader(
        name="nvue",
        commands="nv show interface --view=lldp -o json, nv show interface -o json",
        knows=knows,
        read=read,
        rank=60,
    ),
)
