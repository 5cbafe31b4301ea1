"""State of SONiC: dumps of its Redis databases, `show … --json` of counters, and LLDP neighbors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from fabric.nos.lldp import TEXT, LldpPart, LldpPort, Neighbor, Reader, first, known_text, speed_gbps, text, up
from fabric.nos.state.readers import StateReader, counters, dbm, decimal, each, measured, number, whole
from fabric.nos.state.records import ERRORS, INTERFACES, OPTICS, QUEUES, Count, Counter, Optic, Part, PortState

# --- LLDP neighbors -------------------------------------------------------------------------------------------

_TABLES = ("LLDP_ENTRY_TABLE", "LLDP_LOC_CHASSIS", "PORT_TABLE", "PORT", "DEVICE_METADATA")
_NEIGHBORS, _PORTS = ("LocalPort", "RemoteDevice", "RemotePortID"), ("Interface", "Speed", "Oper")
_DASHES = re.compile(r"\s*-+(?: +-+)+\s*")
_DEVICE_TABLES = re.compile(rf"(?:{'|'.join(_TABLES)})(?:[:|].*)?")


def knows_lldp(value: Any) -> bool:
    return isinstance(value, dict) and any(_DEVICE_TABLES.fullmatch(key) for key in value)


def read_lldp(value: dict[str, Any]) -> LldpPart:
    """Rows of a Redis dump, each under `table:key` with its fields in `value`; a nested table does as well."""
    tables = _lldp_tables(value)
    local = tables["LLDP_LOC_CHASSIS"].get("", {})
    host = known_text(local.get("lldp_loc_sys_name")) or known_text(
        tables["DEVICE_METADATA"].get("localhost", {}).get("hostname")
    )
    return LldpPart(
        host=host,
        chassis=known_text(local.get("lldp_loc_chassis_id")),
        neighbors=tuple(_entry(port, row) for port, row in tables["LLDP_ENTRY_TABLE"].items()),
        ports=tuple(_row(port, row) for port, row in {**tables["PORT"], **tables["PORT_TABLE"]}.items() if "speed" in row),
        listens=bool(tables["LLDP_ENTRY_TABLE"] or tables["LLDP_LOC_CHASSIS"]) or "LLDP_ENTRY_TABLE" in value,
    )


def _lldp_tables(value: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Table → key → fields; a table without keys has the key ""."""
    tables: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in _TABLES}
    for name, entry in value.items():
        table, key = re.match(r"([^:|]*)[:|]?(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]  # matches anything
        row = first(entry)
        fields = first(row["value"]) if isinstance(row.get("value"), dict) else row
        if table not in tables:
            continue
        if key or table == "LLDP_LOC_CHASSIS":
            tables[table][key] = fields
        else:
            tables[table].update((str(port), first(inner)) for port, inner in fields.items())
    return tables


def _entry(port: str, row: dict[str, Any]) -> Neighbor:
    system, chassis = known_text(row.get("lldp_rem_sys_name")), known_text(row.get("lldp_rem_chassis_id"))
    far_port = known_text(row.get("lldp_rem_port_id"))
    description = known_text(row.get("lldp_rem_port_desc"))
    return Neighbor(port=port, system=system, chassis=chassis, far_port=far_port, description=description)


def _row(port: str, row: dict[str, Any]) -> LldpPort:
    """`speed` is in Mb/s and stands there whether the port is up or not."""
    state = up(row.get("oper_status"))
    speed = 0 if state is False else speed_gbps(row.get("speed"))
    return LldpPort(port, speed, state, known_text(row.get("alias")), known_text(row.get("admin_status")) == "down")


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


def read_text(lines: Sequence[str]) -> LldpPart:
    neighbors = tuple(_neighbor(row) for row in _table(lines, _is_neighbors))
    ports = tuple(_status(row) for row in _table(lines, _is_status))
    listens = any(map(_is_neighbors, lines))
    return LldpPart(neighbors=neighbors, ports=ports, listens=listens)


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


def _status(row: dict[str, str]) -> LldpPort:
    state = up(row["Oper"])
    speed = speed_gbps(row["Speed"]) if state else 0
    return LldpPort(row["Interface"], speed, state, known_text(row.get("Alias")), row.get("Admin") == "down")


LLDP_READERS = (
    Reader(name="sonic", commands="sonic-db-dump -n APPL_DB", knows=knows_lldp, read=read_lldp, rank=50),
    Reader(
        name="sonic",
        commands="show lldp table, show interfaces status",
        knows=knows_text,
        read=read_text,
        takes=TEXT,
        rank=50,
    ),
)


# --- State ----------------------------------------------------------------------------------------------------

Tables = dict[str, dict[str, dict[str, Any]]]

_TABLE = re.compile(
    r"(PORT_TABLE|COUNTERS|COUNTERS_PORT_NAME_MAP|COUNTERS_QUEUE_NAME_MAP|COUNTERS_PG_NAME_MAP|"
    r"TRANSCEIVER_DOM_SENSOR|TRANSCEIVER_DOM_TEMPERATURE|TRANSCEIVER_DOM_THRESHOLD|TRANSCEIVER_DOM_FLAG)(?:[:|](.*))?"
)
_PORT = {
    "SAI_PORT_STAT_IF_IN_ERRORS": Count.IN_ERRORS,
    "SAI_PORT_STAT_IF_OUT_ERRORS": Count.OUT_ERRORS,
    "SAI_PORT_STAT_IF_IN_DISCARDS": Count.IN_DISCARDS,
    "SAI_PORT_STAT_IF_OUT_DISCARDS": Count.OUT_DISCARDS,
    "SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS": Count.FCS,
    "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": Count.UNCORRECTED,
}
_QUEUE = {
    "SAI_QUEUE_STAT_DROPPED_PACKETS": Count.QUEUE_DROPS,
    "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS": Count.ECN_DROPS,
    "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": Count.QUEUE_DROPS,
    "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": Count.STORMS,
}
_PORTSTAT = {"RX_ERR": Count.IN_ERRORS, "TX_ERR": Count.OUT_ERRORS, "RX_DRP": Count.IN_DISCARDS, "TX_DRP": Count.OUT_DISCARDS}
_FEC = {"rs": "rs", "fc": "fc", "none": "none"}


def knows(value: Any) -> bool:
    return isinstance(value, dict) and any(_TABLE.fullmatch(str(key)) for key in value)


def read(value: dict[str, Any]) -> Part:
    """A dump of one database, or of several as one mapping."""
    tables = _tables(value)
    ports = [_port(name, row) for name, row in tables["PORT_TABLE"].items() if "oper_status" in row]
    counted = bool(tables["COUNTERS"] and tables["COUNTERS_PORT_NAME_MAP"])
    optics = tuple(_optics(tables))
    kinds = [
        (INTERFACES, bool(ports)),
        (ERRORS, counted),
        (QUEUES, bool(tables["COUNTERS_QUEUE_NAME_MAP"])),
        (OPTICS, bool(optics)),
    ]
    return Part(
        kinds=frozenset(kind for kind, present in kinds if present),
        lists={INTERFACES} if ports else frozenset(),
        ports=ports,
        counters=tuple(_counters(tables)),
        optics=optics,
    )


def _tables(value: dict[str, Any]) -> Tables:
    """Table → key → fields; a table without keys is one row under ""."""
    found: Tables = defaultdict(dict)
    for name, entry in value.items():
        match = _TABLE.fullmatch(str(name))
        if match is None:
            continue
        row = first(entry)
        found[match[1]][match[2] or ""] = first(row["value"]) if isinstance(row.get("value"), dict) else row
    return found


def _port(name: str, row: dict[str, Any]) -> PortState:
    """`speed` is in Mb/s and stands there whether the port is up or not."""
    state = up(row.get("oper_status"))
    off = known_text(row.get("admin_status")) == "down"
    speed = speed_gbps(row.get("speed")) if state else 0
    fec = _FEC.get(text(row.get("fec")), "") if state else ""
    mtu = whole(row.get("mtu"))
    alias = known_text(row.get("alias"))
    return PortState(name=name, up=state, shut=off, reason="", speed_gbps=speed, mtu=mtu, frame=0, fec=fec, alias=alias)


def _counters(tables: Tables) -> Iterator[Counter]:
    """By the maps of names: `Ethernet0` of ports, `Ethernet0:3` of queues and priority groups."""
    by_oid = tables["COUNTERS"]
    for port, oid in tables["COUNTERS_PORT_NAME_MAP"].get("", {}).items():
        yield from _of_port(port, by_oid.get(text(oid), {}))
    for table in ("COUNTERS_QUEUE_NAME_MAP", "COUNTERS_PG_NAME_MAP"):
        for name, oid in tables[table].get("", {}).items():
            port, _, queue = name.rpartition(":")
            yield from _of_queue(port, by_oid.get(text(oid), {}), number(queue))


def _of_port(port: str, row: dict[str, Any]) -> Iterator[Counter]:
    yield from counters(port, row, _PORT)
    for priority in range(8):
        field = f"SAI_PORT_STAT_PFC_{priority}_{{}}_PKTS"
        yield from counters(port, row, {field.format("RX"): Count.PFC_RX, field.format("TX"): Count.PFC_TX}, priority)


def _of_queue(port: str, row: dict[str, Any], queue: int | None) -> Iterator[Counter]:
    yield from counters(port, row, _QUEUE, queue)


def _optics(tables: Tables) -> Iterator[Optic]:
    for port, row in tables["TRANSCEIVER_DOM_SENSOR"].items():
        limits = tables["TRANSCEIVER_DOM_THRESHOLD"].get(port, {})
        flags = tables["TRANSCEIVER_DOM_FLAG"].get(port, {})
        lanes = sorted(
            (key for key in row if re.fullmatch("rx[0-9]+power", key)), key=lambda key: int(re.sub("[^0-9]", "", key))
        )
        powers = [power for key in lanes if (power := dbm(row[key])) is not None]
        heat = decimal(row.get("temperature", tables["TRANSCEIVER_DOM_TEMPERATURE"].get(port, {}).get("temperature")))
        alarms = sorted(key for key, flag in flags.items() if key.endswith("Alarm") and text(flag) == "True")
        low, high = decimal(limits.get("rxpowerlowalarm")), decimal(limits.get("rxpowerhighalarm"))
        rx_dbm = tuple(powers)
        high_c = decimal(limits.get("temphighalarm"))
        yield Optic(port=port, rx_dbm=rx_dbm, low_dbm=low, high_dbm=high, temperature_c=heat, high_c=high_c, alarms=alarms)


def knows_paths(value: Any) -> bool:
    """gNMI paths of COUNTERS_DB: `COUNTERS/Ethernet*`, `COUNTERS/Ethernet*/Queues`, `COUNTERS/Ethernet*/Pfcwd`."""
    return any(key.startswith(("SAI_PORT_STAT", "SAI_QUEUE_STAT", "PFC_WD_QUEUE")) for _, row in each(value) for key in row)


def read_paths(value: dict[str, Any]) -> Part:
    found: list[Counter] = []
    kinds = set()
    for name, row in each(value):
        port, _, queue = name.partition(":")
        found += _of_queue(port, row, number(queue)) if queue else _of_port(port, row)
        kinds |= {QUEUES if queue else ERRORS} if row else set()
    return Part(kinds=kinds, counters=found)


def knows_portstat(value: Any) -> bool:
    """`show interfaces counters -j`."""
    return isinstance(value, dict) and any(
        isinstance(row, dict) and "RX_DRP" in row and "TX_DRP" in row for row in value.values()
    )


def read_portstat(value: dict[str, Any]) -> Part:
    found = [one for port, row in value.items() for one in counters(port, first(row), _PORTSTAT)]
    return Part(kinds={ERRORS}, counters=found, measured={"errors": measured(value, _PORTSTAT)})


def knows_queuestat(value: Any) -> bool:
    """`show queue counters --json`."""
    return isinstance(value, dict) and any(
        isinstance(row, dict) and any(isinstance(queue, dict) and "droppacket" in queue for queue in row.values())
        for row in value.values()
    )


def read_queuestat(value: dict[str, Any]) -> Part:
    """Queues are `UC3`, `MC10` or `ALL3`."""
    counts = [
        counter
        for port, row in value.items()
        for queue, entry in first(row).items()
        for counter in counters(
            port, first(entry), {"droppacket": Count.QUEUE_DROPS}, number(queue.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        )
    ]
    return Part(kinds={QUEUES}, counters=counts)


READERS = (
    StateReader("sonic", "sonic-db-dump -n APPL_DB, STATE_DB or COUNTERS_DB", knows, read),
    StateReader("sonic", "gNMI paths COUNTERS/Ethernet*, …/Queues, …/Pfcwd", knows_paths, read_paths),
    StateReader("sonic", "show interfaces counters -j", knows_portstat, read_portstat),
    StateReader("sonic", "show queue counters --json", knows_queuestat, read_queuestat),
)
