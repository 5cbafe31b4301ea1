"""Juniper Junos: `show lldp neighbors [detail] | display json`, `show interfaces [media] | display json`.

Every leaf is `[{"data": …}]`. The local port is `lldp-local-port-id`; where `lldp-local-interface` stands beside it
(`detail`, older releases) that is the name and the other is the SNMP index. A Junos switch sends its SNMP index as port
id unless configured, and the port's name or description as port description.
Source: outputs parsed by opennetworkinglab/onos, tungstenfabric/tf-controller and NAPALM; Juniper's CLI reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp.neighbors import Neighbor, Part, PortState
from fabric.nos.lldp.output import Reader, first, known_text, rows, speed_gbps, text, up

_NEIGHBORS, _INTERFACES, _SYSTEM = "lldp-neighbors-information", "interface-information", "host-name"


def knows(value: Any) -> bool:
    return isinstance(value, dict) and any(
        key in value for key in (_NEIGHBORS, _INTERFACES, "system-information", "software-information")
    )


def read(value: dict[str, Any]) -> Part:
    return Part(
        host=_host(value),
        neighbors=tuple(_neighbors(first(value.get(_NEIGHBORS)))),
        ports=tuple(_ports(first(value.get(_INTERFACES)))),
        listens=_NEIGHBORS in value,
    )


def _host(value: dict[str, Any]) -> str:
    known = first(value.get("system-information")) or first(value.get("software-information"))
    return text(known.get(_SYSTEM))


def _neighbors(table: dict[str, Any]) -> Iterator[Neighbor]:
    for row in rows(table.get("lldp-neighbor-information")):
        yield Neighbor(
            port=text(row.get("lldp-local-interface")) or text(row.get("lldp-local-port-id")),
            system=known_text(row.get("lldp-remote-system-name")),
            chassis=known_text(row.get("lldp-remote-chassis-id")),
            far_port=known_text(row.get("lldp-remote-port-id")),
            description=known_text(row.get("lldp-remote-port-description")),
        )


def _ports(table: dict[str, Any]) -> Iterator[PortState]:
    for row in rows(table.get("physical-interface")):
        state = up(row.get("oper-status"))
        speed = speed_gbps(row.get("speed")) if state else 0
        yield PortState(text(row.get("name")), speed, state, shut=up(row.get("admin-status")) is False)


READERS = (
    Reader(
        name="junos",
        commands="show lldp neighbors [detail] | display json, show interfaces | display json",
        knows=knows,
        read=read,
        rank=30,
    ),
)
