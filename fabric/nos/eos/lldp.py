"""Arista EOS: `show lldp neighbors [detail] | json`, `show interfaces status | json`, `show hostname | json`.

`detail` has a mapping by port with a list each; without it there is one list. The port id is quoted within its quotes
(`"\\"Ethernet1\\""`); newer releases send it plain as `interfaceId_v2` beside it.
Source: eAPI outputs in the unit tests of aristanetworks/anta and sonic-net/sonic-mgmt (tests/common/devices/aristahost).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.nos.lldp.neighbors import Neighbor, Part, PortState
from fabric.nos.lldp.output import Reader, first, known_text, rows, shut, speed_gbps, text, up


def knows(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return "lldpNeighbors" in value or "interfaceStatuses" in value or {"hostname", "fqdn"} <= value.keys()


def read(value: dict[str, Any]) -> Part:
    return Part(
        host=text(value.get("hostname")),
        neighbors=tuple(_neighbors(value.get("lldpNeighbors"))),
        ports=tuple(_ports(first(value.get("interfaceStatuses")))),
        listens="lldpNeighbors" in value,
    )


def _neighbors(found: Any) -> Iterator[Neighbor]:
    if isinstance(found, dict):
        for port, entry in found.items():
            for row in rows(first(entry).get("lldpNeighborInfo", entry)):
                yield _detail(port, row)
        return
    for row in rows(found):
        system = known_text(row.get("neighborDevice"))
        yield Neighbor(port=text(row.get("port")), system=system, chassis="", far_port=known_text(row.get("neighborPort")))


def _detail(port: str, row: dict[str, Any]) -> Neighbor:
    if "neighborDevice" in row:
        return Neighbor(
            port=port, system=known_text(row["neighborDevice"]), chassis="", far_port=known_text(row.get("neighborPort"))
        )
    far = first(row.get("neighborInterfaceInfo"))
    identity = known_text(far.get("interfaceId_v2")) or known_text(far.get("interfaceId"))
    system, chassis = known_text(row.get("systemName")), known_text(row.get("chassisId"))
    return Neighbor(
        port=port, system=system, chassis=chassis, far_port=identity, description=known_text(far.get("interfaceDescription"))
    )


def _ports(statuses: dict[str, Any]) -> Iterator[PortState]:
    """`bandwidth` is in b/s, and on a port that is down says what it would do."""
    for port, row in statuses.items():
        state = up(first(row).get("linkStatus"))
        speed = speed_gbps(first(row).get("bandwidth")) if state else 0
        yield PortState(port, speed, state, shut=shut(first(row).get("linkStatus")))


READERS = (
    Reader(
        name="eos",
        commands="show lldp neighbors [detail] | json, show interfaces status | json",
        knows=knows,
        read=read,
        rank=10,
    ),
)
