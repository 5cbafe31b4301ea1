"""Cisco NX-OS: `show lldp neighbors [detail] | json`, `show interface status | json`, `show hostname | json`.

A table of one row has a mapping where a longer one has a list. `chassis_id` of the short form is the system name, or the
chassis' MAC address where no name was sent; the long form has `sys_name`. Ports are `Eth1/1` in one and `Ethernet1/1` in
the other.
Source: outputs in CiscoTestAutomation/genieparser and the examples of NX-API; `l_port_id`, `port_id`, `hold_time`, `ttl`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp.neighbors import Neighbor, Part, PortState
from fabric.nos.lldp.output import Reader, first, known_text, rows, shut, speed_gbps, text, up

_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.IGNORECASE)
_TABLES = {"TABLE_nbor": "ROW_nbor", "TABLE_nbor_detail": "ROW_nbor_detail"}


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return any(key in value for key in (*_TABLES, "neigh_hdr")) or _statuses(value) is not None or _host(value) != ""


def read(value: dict[str, Any]) -> Part:
    return Part(
        host=_host(value),
        neighbors=tuple(_neighbors(value)),
        ports=tuple(_ports(_statuses(value))),
        listens="neigh_hdr" in value or any(table in value for table in _TABLES),
    )


def _host(value: dict[str, Any]) -> str:
    names = value.keys() & {"host_name", "nxos_ver_str", "hostname"}
    return text(value.get("host_name")) if "nxos_ver_str" in names else text(value.get("hostname")) if len(value) == 1 else ""


def _neighbors(value: dict[str, Any]) -> Iterator[Neighbor]:
    for table, row_name in _TABLES.items():
        for entry in rows(value.get(table)):
            for row in rows(entry.get(row_name)):
                yield _neighbor(row)


def _neighbor(row: dict[str, Any]) -> Neighbor:
    chassis, system = known_text(row.get("chassis_id")), known_text(row.get("sys_name"))
    if "sys_name" not in row and not _MAC.fullmatch(chassis):
        system, chassis = chassis, ""
    return Neighbor(
        port=text(row.get("l_port_id")),
        system=system,
        chassis=chassis,
        far_port=known_text(row.get("port_id")),
        description=known_text(row.get("port_desc")),
    )


def _statuses(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Rows of `show interface status`, which has `state` where other tables of interfaces have none."""
    found = list(rows(first(value.get("TABLE_interface")).get("ROW_interface")))
    return found if found and "interface" in found[0] and "state" in found[0] else None


def _ports(found: list[dict[str, Any]] | None) -> Iterator[PortState]:
    for row in found or ():
        state = up(row.get("state"))
        speed = speed_gbps(row.get("speed")) if state else 0
        yield PortState(text(row.get("interface")), speed, state, shut=shut(row.get("state")))


READERS = (
    Reader(
        name="nxos",
        commands="show lldp neighbors [detail] | json, show interface status | json",
        knows=knows,
        read=read,
        rank=20,
    ),
)
