"""SONiC: `show lldp table`, `show interfaces status`, and the tables behind them as `sonic-db-dump -n APPL_DB` has them.

`show lldp neighbors` and `lldpctl -f json` in the container lldp are lldpd's (lldpd.py). A SONiC switch sends the alias of
its port (`etp1`, `fortyGigE0/0`) as a port id of the kind `local`.
Source: sonic-utilities scripts/lldpshow and intfutil; sonic-dbsyncd lldp_syncd (LLDP_ENTRY_TABLE, LLDP_LOC_CHASSIS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from fabric.nos.lldp.neighbors import Neighbor, Part, PortState
from fabric.nos.lldp.output import TEXT, Reader, first, known_text, speed_gbps, up

_TABLES = ("LLDP_ENTRY_TABLE", "LLDP_LOC_CHASSIS", "PORT_TABLE", "PORT", "DEVICE_METADATA")
_NEIGHBORS, _PORTS = ("LocalPort", "RemoteDevice", "RemotePortID"), ("Interface", "Speed", "Oper")
_DASHES = re.compile(r"\s*-+(?: +-+)+\s*")
_DEVICE_TABLES = re.compile(rf"(?:{'|'.join(_TABLES)})(?:[:|].*)?")


def knows(value: Any) -> bool:
    return isinstance(value, dict) and any(_DEVICE_TABLES.fullmatch(key) for key in value)


def read(value: dict[str, Any]) -> Part:
    """Rows of a Redis dump, each under `table:key` with its fields in `value`; a nested table does as well."""
    tables = _tables(value)
    local = tables["LLDP_LOC_CHASSIS"].get("", {})
    host = known_text(local.get("lldp_loc_sys_name")) or known_text(
        tables["DEVICE_METADATA"].get("localhost", {}).get("hostname")
    )
    return Part(
        host=host,
        chassis=known_text(local.get("lldp_loc_chassis_id")),
        neighbors=tuple(_entry(port, row) for port, row in tables["LLDP_ENTRY_TABLE"].items()),
        ports=tuple(_row(port, row) for port, row in {**tables["PORT"], **tables["PORT_TABLE"]}.items() if "speed" in row),
        listens=bool(tables["LLDP_ENTRY_TABLE"] or tables["LLDP_LOC_CHASSIS"]) or "LLDP_ENTRY_TABLE" in value,
    )


def _tables(value: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Table → key → fields; a table without keys has the key ""."""
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in _TABLES}
    for name, entry in value.items():
        table, key = re.match(r"([^:|]*)[:|]?(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]  # matches anything
        row = first(entry)
        fields = first(row["value"]) if isinstance(row.get("value"), dict) else row
        if table not in found:
            continue
        if key or table == "LLDP_LOC_CHASSIS":
            found[table][key] = fields
        else:
            found[table].update((str(port), first(inner)) for port, inner in fields.items())
    return found


def _entry(port: str, row: dict[str, Any]) -> Neighbor:
    system, chassis = known_text(row.get("lldp_rem_sys_name")), known_text(row.get("lldp_rem_chassis_id"))
    far_port = known_text(row.get("lldp_rem_port_id"))
    description = known_text(row.get("lldp_rem_port_desc"))
    return Neighbor(port=port, system=system, chassis=chassis, far_port=far_port, description=description)


def _row(port: str, row: dict[str, Any]) -> PortState:
    """`speed` is in Mb/s and stands there whether the port is up or not."""
    state = up(row.get("oper_status"))
    speed = 0 if state is False else speed_gbps(row.get("speed"))
    return PortState(port, speed, state, known_text(row.get("alias")), known_text(row.get("admin_status")) == "down")


def knows_text(lines: Sequence[str]) -> bool:
    heads = any(_is_neighbors(line) or _is_status(line) for line in lines)
    return heads and all(
        {name for name, *_ in _columns(above, line)} >= set(_NEIGHBORS if _is_neighbors(above) else _PORTS)
        for above, line in pairwise(lines)
        if _DASHES.fullmatch(line) and (_is_neighbors(above) or _is_status(above))
    )


def _is_neighbors(line: str) -> bool:
    return all(word in line for word in _NEIGHBORS)


def _is_status(line: str) -> bool:
    return all(word in line.split() for word in _PORTS)


def read_text(lines: Sequence[str]) -> Part:
    neighbors = tuple(_neighbor(row) for row in _table(lines, _is_neighbors))
    ports = tuple(_status(row) for row in _table(lines, _is_status))
    listens = any(map(_is_neighbors, lines))
    return Part(neighbors=neighbors, ports=ports, listens=listens)


def _table(lines: Sequence[str], heads: Any) -> Iterator[dict[str, str]]:
    """Rows under a line of column names and a line of dashes that shows how wide each column is."""
    spans: list[tuple[str, int, int]] = []
    for above, line in zip(["", *lines], lines, strict=False):
        if _DASHES.fullmatch(line) and heads(above):
            spans = _columns(above, line)
        elif not line.strip() or line.startswith(("---", "Total entries")):
            spans = []
        elif spans:
            row = {name: line[start:end].strip() for name, start, end in spans}
            row[spans[-1][0]] = line[spans[-1][1] :].strip()
            yield row


def _columns(above: str, dashes: str) -> list[tuple[str, int, int]]:
    """(name, start, end) of the columns: the dashes are as wide as each."""
    return [(above[d.start() : d.end()].strip(), d.start(), d.end()) for d in re.finditer("-+", dashes)]


def _neighbor(row: dict[str, str]) -> Neighbor:
    port, far, described = row["LocalPort"], row["RemotePortID"], row.get("RemotePortDescr", "")
    system = known_text(row["RemoteDevice"])
    return Neighbor(port=port, system=system, chassis="", far_port=known_text(far), description=known_text(described))


def _status(row: dict[str, str]) -> PortState:
    state = up(row["Oper"])
    speed = speed_gbps(row["Speed"]) if state else 0
    return PortState(row["Interface"], speed, state, known_text(row.get("Alias")), row.get("Admin") == "down")


READERS = (
    Reader(name="sonic", commands="sonic-db-dump -n APPL_DB", knows=knows, read=read, rank=50),
    Reader(
        name="sonic",
        commands="show lldp table, show interfaces status",
        knows=knows_text,
        read=read_text,
        takes=TEXT,
        rank=50,
    ),
)
