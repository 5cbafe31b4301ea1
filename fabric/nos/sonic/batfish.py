"""SONiC as Batfish takes it: its default routing table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabric.nos.batfish import FORWARD, NATIVE, UNNUMBERED, BatfishView, Copy, Writer, of_daemons, only, whole
from fabric.nos.frr.batfish import DAEMONS, maps, readable, without_tenants
from fabric.nos.frr.read.words import LAYOUT
from fabric.nos.sonic.read.dump import config_db

FORMAT = "SONIC"
PROPERTIES = {  # table → properties that Batfish knows; (): it reads no properties of the rows
    "DEVICE_METADATA": ("hostname",),
    "INTERFACE": ("secondary",),
    "LOOPBACK_INTERFACE": ("secondary",),
    "MGMT_INTERFACE": ("gwaddr",),
    "MGMT_PORT": ("admin_status", "alias", "description"),
    "NTP_SERVER": (),
    "PORT": ("admin_status", "alias", "description", "lanes", "mtu", "speed"),
    "SYSLOG_SERVER": (),
    "VLAN_INTERFACE": ("secondary",),
}


def sonic_copies(name: str, files: Mapping[str, str]) -> list[Copy]:
    """The database and the routing."""
    folder = f"sonic_configs/{name}"
    daemons = of_daemons(files)
    writer = Writer(daemons[0][0])
    for path, text in daemons:
        kept = without_tenants(text.splitlines())
        writer.extend(readable(kept), path)
        for line, number in maps(kept):
            writer.add(line, number, path)
    database, text = only(files, "config_db.json")
    return [_tables(f"{folder}/config_db.json", database, text), writer.copy(f"{folder}/frr.conf", FORMAT, LAYOUT)]


def _tables(path: str, source: str, text: str) -> Copy:
    try:
        lines = json.dumps(_database(config_db(text)), indent=1).splitlines()
    except (ValueError, AttributeError, TypeError):  # no JSON, or no tables of rows
        return whole(path, source, text, FORMAT)
    return Copy(path=path, lines=tuple(lines), format=FORMAT, source=source, origins=((source, 0),) * len(lines))


def _database(tables: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for table, known in PROPERTIES.items():
        rows = tables.get(table, {})
        tenant = {key for key, row in rows.items() if "vrf_name" in row}
        kept[table] = {
            key: {name: value for name, value in row.items() if name in known}
            for key, row in rows.items()
            if key.partition("|")[0] not in tenant
        }
    return {table: rows for table, rows in kept.items() if rows}


# --- The view -------------------------------------------------------------------------------------------------

VIEW = BatfishView(
    reads=sonic_copies,
    sees=frozenset({UNNUMBERED, FORWARD, NATIVE}),
    allow=(DAEMONS, Path(__file__).with_name("batfish.yaml")),
    unread=("VRFs, VXLAN, EVPN and bonds of SONiC", "it knows SONiC's default routing table alone"),
)
