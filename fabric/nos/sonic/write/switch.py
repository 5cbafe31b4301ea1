"""The files of a switch: config_db.json is data, frr.conf is FRR's own text (`split-unified`).

This file puts the tables together; ports, QoS, buffers, tenants and access are made beside it.
"""

from __future__ import annotations

from functools import partial

from fabric.hardware.catalog.models import SonicPlatform
from fabric.model.plan import SwitchView
from fabric.nos.frr.write.routing import routing
from fabric.nos.frr.write.tenants import Spelling
from fabric.nos.sonic.write.buffers import NVIDIA, TOFINO, buffer_model, buffer_tables, maker
from fabric.nos.sonic.write.hardening import hardening_tables
from fabric.nos.sonic.write.ports import TYPES, VRF, Tables, board_of, hwsku, named, neighbor_tables, port_tables
from fabric.nos.sonic.write.qos import qos_tables
from fabric.nos.sonic.write.tenants import tenant_tables
from fabric.nos.target import Document, File, Text

# bgpcfgd writes the same two route-maps into the running daemons: under other names the last one to write would win.
SOURCE_MAPS = ("RM_SET_SRC", "RM_SET_SRC6")
SPELLING = Spelling(vrf=VRF, bond="PortChannel{}", source_maps=SOURCE_MAPS, restart_s=240, kernel_forwards=False, defer_s=45)
FIVE_TUPLE = ["SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"]


def system_tables(view: SwitchView, board: SonicPlatform) -> Tables:
    host = {
        "hostname": view.device.name,
        "hwsku": hwsku(view, board),
        "platform": board.platform,
        "type": TYPES[view.device.role],
        "bgp_asn": str(view.device.asn),
        "docker_routing_config_mode": "split-unified",  # any other mode deletes or rewrites frr.conf
        "frr_mgmt_framework_config": "false",
        "timezone": view.management.timezone,
    }
    if view.qos:
        host["buffer_model"] = buffer_model(view, board.platform)
    tables: Tables = {
        "DEVICE_METADATA": {"localhost": host},
        "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": list(FIVE_TUPLE), "lag_hash": list(FIVE_TUPLE)}},
    }
    if view.underlay.bfd:  # without it bgpcfgd starts no bfdd, and the sessions ask for BFD in vain
        tables["SYSTEM_DEFAULTS"] = {"software_bfd": {"status": "enabled"}}
    return tables


def config_db(view: SwitchView, board: SonicPlatform) -> Tables:
    names = [named(board, port.ref) for port in view.ports]
    pfc_to_group = maker(view, board.platform) in (NVIDIA, TOFINO)
    parts = (
        system_tables(view, board),
        port_tables(view, board, names),
        neighbor_tables(view, names),
        qos_tables(view, names, pfc_to_group=pfc_to_group),
        buffer_tables(view, names, board.platform, hwsku(view, board)),
        tenant_tables(view, names),
        hardening_tables(view, partial(named, board)),
    )
    tables: Tables = {}
    for part in parts:
        for name, rows in part.items():
            if rows:  # filters of tenants and of the control plane share two tables
                tables[name] = {**tables.get(name, {}), **rows}
    return tables


def files(view: SwitchView) -> list[File]:
    board = board_of(view.model, view.device.model)
    return [
        Document("config_db.json", config_db(view, board)),
        Text("frr.conf", "sonic/frr.conf.j2", routing(view, partial(named, board), SPELLING)),
    ]
