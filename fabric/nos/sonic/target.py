"""Community SONiC: config_db.json is data, frr.conf is FRR's own text (`split-unified`).

This file puts the tables together; ports, QoS, buffers, tenants and access are made beside it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fabric.catalog.models import SonicPlatform
from fabric.nos.frr.write.routing import routing
from fabric.nos.frr.write.tenants import Spelling
from fabric.nos.idiom import Idiom
from fabric.nos.late import Late
from fabric.nos.sonic.write.buffers import NVIDIA, TOFINO, buffer_model, buffer_tables, cable_m, maker
from fabric.nos.sonic.write.hardening import hardening_tables
from fabric.nos.sonic.write.ports import (
    RELEASES,
    TYPES,
    Tables,
    board_of,
    hwsku,
    named,
    neighbor_tables,
    port_alias,
    port_name,
    port_tables,
    refuses,
)
from fabric.nos.sonic.write.qos import qos_tables
from fabric.nos.sonic.write.tenants import VRF_NAME_LIMIT, tenant_tables
from fabric.nos.target import Capabilities, Document, File, Requests, Target, Text
from fabric.plan import SwitchView

# bgpcfgd writes the same two route-maps into the running daemons: under other names the last one to write would win.
SOURCE_MAPS = ("RM_SET_SRC", "RM_SET_SRC6")
SPELLING = Spelling(
    vrf="Vrf-{}", bond="PortChannel{}", source_maps=SOURCE_MAPS, restart_s=240, kernel_forwards=False, defer_s=45
)
# bgpcfgd starts bfdd after frr.conf was read, so the profile in it arrives nowhere, and sessions have bfdd's own times.
BFD_TIMES = {"underlay.bfd.interval_ms": 300, "underlay.bfd.multiplier": 3}
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


def objects(requests: Requests) -> dict[str, str]:
    """Parts of the file that the switch would not apply."""
    return {
        key: f"expected {only}, the only one that outlives a restart of SONiC's BFD daemon, got {requests[key]}"
        for key, only in BFD_TIMES.items()
        if requests.get(key, only) != only
    }


TARGET = Target(
    name="sonic",
    title="SONiC (community)",
    port_name=port_name,
    files=files,
    refuses=refuses,
    objects=objects,
    documents=("config_db.json",),
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        multihoming="esi",
        external=True,
        lossless=True,
        watchdog=True,
        snmp=True,
        gnmi=True,
    ),
    releases=RELEASES,
    vrf_name_limit=VRF_NAME_LIMIT,
    reader=Late(__package__, "reader:READER"),
    port_alias=port_alias,
    lldp=Late(__package__, "lldp:READERS"),
    state=Late(__package__, "state:READERS"),
    collect=Path(__file__).with_name("collect.yaml"),
    dialect=Late(__package__, "diff:DIALECT"),
    syntax=Late(__package__, "statements:SYNTAX"),
    batfish=Late(__package__, "batfish.view:VIEW"),
    containerlab=Late(__package__, "containerlab:KIND"),
    ansible={},  # reached as Linux
    exporters=("sonic-agent", "sonic-exporter", "frr"),
    telemetry=Path(__file__).with_name("telemetry.yaml"),
    runs_in_lab=True,
    idiom=Idiom(
        loopback="Loopback0",
        vtep="Loopback1",
        bond="PortChannel{}",
        svi="Vlan{}",
        management="eth0",
        vrf=SPELLING.vrf,
        acls=("TENANT-{}-V4", "TENANT-{}-V6"),
        l3_svi=True,
        trunk_mtu=True,
        derives=frozenset({"rd", "imports", "exports"}),
        spare_mtu=True,
        cable_m=cable_m,
    ),
)
