"""Reads the switch's end of its server cables out of a SONiC config_db.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from typing import Any, TypeAlias

from fabric.hosts.agree import SwitchEnd

Rows: TypeAlias = Mapping[str, Mapping[str, Any]]


def read_sonic(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with a neighbour."""
    tables: dict[str, Rows] = json.loads(text)
    addresses = dict(_addresses(tables.get("INTERFACE", {})))
    return {
        (row["name"], row["port"]): _end(tables, port, addresses.get(port))
        for port, row in tables.get("DEVICE_NEIGHBOR", {}).items()
    }


def _addresses(rows: Rows) -> Iterator[tuple[str, str]]:
    for key in rows:
        port, _, address = key.partition("|")
        if address:
            yield port, address


def _end(tables: Mapping[str, Rows], port: str, address: str | None) -> SwitchEnd:
    qos = tables.get("PORT_QOS_MAP", {}).get(port, {})
    lossless = tuple(int(number) for number in qos.get("pfc_enable", "").split(",") if number)
    by_dscp = {int(d): int(tc) for d, tc in _map(tables, "DSCP_TO_TC_MAP", qos.get("dscp_to_tc_map")).items()}
    queues = {int(tc): int(q) for tc, q in _map(tables, "TC_TO_QUEUE_MAP", qos.get("tc_to_queue_map")).items()}
    schedulers = dict(_schedulers(tables, port))
    priority = lossless[0] if len(lossless) == 1 else None
    strict = {tc for tc in by_dscp.values() if schedulers.get(queues.get(tc, tc), {}).get("type") == "STRICT"} - set(lossless)
    cnp = min(strict) if len(strict) == 1 else None
    own, peer = _both(address)
    mtu = tables["PORT"][port].get("mtu")
    return SwitchEnd(
        dscp=_only(by_dscp, priority),
        priority=priority,
        cnp_dscp=_only(by_dscp, cnp),
        cnp_priority=cnp,
        mtu=int(mtu) if mtu else None,
        address=own,
        peer_address=peer,
        pfc_priorities=lossless,
        lossless_percent=_percent(schedulers, queues, priority),
    )


def _map(tables: Mapping[str, Rows], table: str, name: str | None) -> Mapping[str, Any]:
    """A named map; old releases write the name as `[TABLE|name]`."""
    return tables.get(table, {}).get((name or "").strip("[]").rpartition("|")[2], {})


def _only(by_dscp: Mapping[int, int], traffic_class: int | None) -> int | None:
    """The one DSCP of a traffic class; None where several share it."""
    found = [dscp for dscp, own in by_dscp.items() if own == traffic_class]
    return found[0] if len(found) == 1 else None


def _schedulers(tables: Mapping[str, Rows], port: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Queue → its scheduler; keys are `Ethernet0|3`, also with lists of ports and ranges of queues."""
    for key, row in tables.get("QUEUE", {}).items():
        ports, _, numbers = key.rpartition("|")
        if port in ports.split(",") and "scheduler" in row:
            low, _, high = numbers.partition("-")
            for queue in range(int(low), int(high or low) + 1):
                yield queue, _map(tables, "SCHEDULER", row["scheduler"])


def _percent(schedulers: Mapping[int, Mapping[str, Any]], queues: Mapping[int, int], priority: int | None) -> int | None:
    """Weight of the lossless queue beside that of best effort."""
    if priority is None:
        return None
    own, rest = (int(schedulers.get(queues.get(tc, tc), {}).get("weight", 0)) for tc in (priority, 0))
    return round(100 * own / (own + rest)) if own and rest else None


def _both(address: str | None) -> tuple[str | None, str | None]:
    """Both ends of a point-to-point subnet."""
    if address is None:
        return None, None
    own = ip_interface(address)
    if own.network.num_addresses != 2:
        return str(own.ip), None
    peer = next(ip for ip in own.network if ip != own.ip)
    return str(own.ip), f"{peer}/{own.network.prefixlen}"
