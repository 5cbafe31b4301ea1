"""Reads the switch's end of its server cables out of a SONiC config_db.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from fabric.hosts.agree import SwitchEnd
from fabric.hosts.ends import Port, smallest, switch_end

Rows: TypeAlias = Mapping[str, Mapping[str, Any]]


def read_sonic(text: str) -> dict[tuple[str, str], SwitchEnd]:
    """(server, its port) → the switch's end, for every port with a neighbour."""
    tables: dict[str, Rows] = json.loads(text)
    addresses = dict(_addresses(tables.get("INTERFACE", {})))
    return {
        (row["name"], row["port"]): switch_end(
            _classes(tables, port), smallest([tables["PORT"][port].get("mtu")]), addresses.get(port)
        )
        for port, row in tables.get("DEVICE_NEIGHBOR", {}).items()
    }


def _addresses(rows: Rows) -> Iterator[tuple[str, str]]:
    for key in rows:
        port, _, address = key.partition("|")
        if address:
            yield port, address


def _classes(tables: Mapping[str, Rows], port: str) -> Port:
    """A class is numbered by its traffic class, which is its priority."""
    qos = tables.get("PORT_QOS_MAP", {}).get(port, {})
    by_dscp = {int(d): int(tc) for d, tc in _map(tables, "DSCP_TO_TC_MAP", qos.get("dscp_to_tc_map")).items()}
    queues = {int(tc): int(q) for tc, q in _map(tables, "TC_TO_QUEUE_MAP", qos.get("tc_to_queue_map")).items()}
    by_queue = dict(_schedulers(tables, port))
    schedulers = {tc: by_queue.get(queues.get(tc, tc), {}) for tc in range(8)}
    return Port(
        by_dscp=by_dscp,
        lossless=tuple(int(number) for number in qos.get("pfc_enable", "").split(",") if number),
        strict=frozenset(tc for tc, row in schedulers.items() if row.get("type") == "STRICT"),
        weights={tc: int(row["weight"]) for tc, row in schedulers.items() if "weight" in row},
    )


def _map(tables: Mapping[str, Rows], table: str, name: str | None) -> Mapping[str, Any]:
    """A named map; old releases write the name as `[TABLE|name]`."""
    return tables.get(table, {}).get((name or "").strip("[]").rpartition("|")[2], {})


def _schedulers(tables: Mapping[str, Rows], port: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Queue → its scheduler; keys are `Ethernet0|3`, also with lists of ports and ranges of queues."""
    for key, row in tables.get("QUEUE", {}).items():
        ports, _, numbers = key.rpartition("|")
        if port in ports.split(",") and "scheduler" in row:
            low, _, high = numbers.partition("-")
            for queue in range(int(low), int(high or low) + 1):
                yield queue, _map(tables, "SCHEDULER", row["scheduler"])
