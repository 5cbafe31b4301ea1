"""Community SONiC: config_db.json is data, frr.conf is FRR's own text (`split-unified`).

Lanes, aliases, SKU and breakout words are facts of the board (`SonicPlatform`); nothing here guesses them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from fabric.catalog.models import SonicPlatform, SwitchModel
from fabric.plan.devices import CORE, LEAF, SPINE
from fabric.plan.ports import Port, PortRef
from fabric.plan.views import SwitchView
from fabric.vendors.base import Document, File, Target, Text, description, far_end, lane_list, pam4
from fabric.vendors.frr import routing

Table: TypeAlias = dict[str, dict[str, Any]]
Tables: TypeAlias = dict[str, Table]

# SONiC counts tiers from the servers up: T0, T1, T2. It also seeds the ECMP hash by this word, a seed per tier.
TYPES = {LEAF: "ToRRouter", SPINE: "LeafRouter", CORE: "SpineRouter"}
LOOPBACK, MANAGEMENT = "Loopback0", "eth0"


def platform(model: SwitchModel, catalog_name: str) -> SonicPlatform | None:
    """The board's facts: the model's own, else those filed under its catalog name."""
    if model.sonic is not None:
        return model.sonic
    from fabric.catalog import sonic_platform  # late: most runs never need the port maps

    found: SonicPlatform | None = sonic_platform(catalog_name)
    return found


def board_of(model: SwitchModel, catalog_name: str) -> SonicPlatform:
    board = platform(model, catalog_name)
    if board is None or len(board.lanes) < model.cages:
        raise ValueError(refuses(model, catalog_name))
    return board


def refuses(model: SwitchModel, catalog_name: str) -> str | None:
    board = platform(model, catalog_name)
    if board is None:
        return "no SONiC port map is known of this box: give it `sonic: {platform, hwsku, lanes}` in the catalog"
    if len(board.lanes) < model.cages:
        return f"its SONiC port map has {len(board.lanes)} cages, the box has {model.cages}"
    return None


@lru_cache(maxsize=64)
def _cages(lanes: tuple[str, ...]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Per cage the number in its name and its lanes. The numbers count lanes from the left of the front panel
    on; the lanes themselves are the board's wiring and follow no rule."""
    cages, number = [], 0
    for text in lanes:
        own = lane_list(text)
        cages.append((number, own))
        number += len(own)
    return tuple(cages)


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    return _name(board_of(model, catalog_name), ref)


def _name(board: SonicPlatform, ref: PortRef) -> str:
    number, lanes = _cages(board.lanes)[ref.cage - 1]
    return f"Ethernet{number + ref.sub * len(lanes) // ref.split}"


def port_row(view: SwitchView, board: SonicPlatform, port: Port) -> dict[str, str]:
    ref = port.ref
    lanes = _cages(board.lanes)[ref.cage - 1][1]
    width = len(lanes) // ref.split
    if width == 0:
        raise ValueError(f"{view.device.name}: cage {ref.cage} has {len(lanes)} lanes and cannot be {ref.split} ports")
    own = lanes[ref.sub * width : (ref.sub + 1) * width]
    row = {
        "alias": alias(board, ref, width),
        "index": str(ref.cage),
        "lanes": ",".join(map(str, own)),
        "speed": str(ref.speed_gbps * 1000),
        "mtu": str(view.underlay.mtu),
        "admin_status": "up" if port.up else "down",
        "description": description(view, port),
    }
    if pam4(ref.speed_gbps, width):
        row["fec"] = "rs"
    return row


def alias(board: SonicPlatform, ref: PortRef, width: int) -> str:
    """The front-panel name as the board's SKU spells it."""
    whole = board.alias.format(cage=ref.cage)
    if ref.split == 1:
        return whole
    letter = chr(ord("a") + ref.sub)
    return board.split_alias.format(alias=whole, cage=ref.cage, letter=letter, sub=ref.sub + 1, lane=ref.sub * width + 1)


def hwsku(view: SwitchView, board: SonicPlatform) -> str:
    """The SKU whose default ports come closest: by how the fast cages are split."""
    fast = max(group.speed_gbps for group in view.model.ports)
    mix = {
        f"{port.ref.split}x{port.ref.speed_gbps}"
        for port in view.ports
        if view.model.group_of(port.ref.cage).speed_gbps == fast
    }
    key = mix.pop() if len(mix) == 1 else "default"
    return board.hwsku.get(key) or board.hwsku.get("default") or next(iter(board.hwsku.values()))


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
    tables: Tables = {"DEVICE_METADATA": {"localhost": host}}
    if view.underlay.bfd:  # without it the bgp container starts no bfdd, and the sessions ask for BFD in vain
        tables["SYSTEM_DEFAULTS"] = {"software_bfd": {"status": "enabled"}}
    return tables


def port_tables(view: SwitchView, board: SonicPlatform, names: list[str]) -> Tables:
    ports = {name: port_row(view, board, port) for name, port in zip(names, view.ports, strict=True)}
    breakout = {}
    for name, port in zip(names, view.ports, strict=True):
        mode = board.modes.get(f"{port.ref.split}x{port.ref.speed_gbps}")
        if port.ref.sub == 0 and mode is not None:  # an unknown mode would fight platform.json
            breakout[name] = {"brkout_mode": mode}
    return {"PORT": ports, "BREAKOUT_CFG": breakout}


def routed_tables(view: SwitchView, names: list[str]) -> Tables:
    interfaces: Table = {}
    for name, port in zip(names, view.ports, strict=True):
        if port.link_local:
            interfaces[name] = {"ipv6_use_link_local_only": "enable"}
        elif port.address is not None:
            interfaces[name] = {}
            interfaces[f"{name}|{port.address}"] = {}
    loopbacks: Table = {LOOPBACK: {}}
    loopbacks |= {f"{LOOPBACK}|{address}": {} for address in (view.loopback, view.loopback6) if address}
    return {"INTERFACE": interfaces, "LOOPBACK_INTERFACE": loopbacks}


def cabling_tables(view: SwitchView, names: list[str]) -> Tables:
    neighbors: Table = {}
    lengths: dict[str, str] = {}
    metadata: Table = {}
    for name, port in zip(names, view.ports, strict=True):
        if port.peer is None:
            continue
        neighbors[name] = {"name": port.peer.device.name, "port": far_end(port.peer)}
        lengths[name] = f"{port.length_m}m"
        if port.peer.device.role in TYPES:
            metadata[port.peer.device.name] = {"type": TYPES[port.peer.device.role]}
    return {
        "DEVICE_NEIGHBOR": neighbors,
        "DEVICE_NEIGHBOR_METADATA": metadata,
        "CABLE_LENGTH": {"AZURE": lengths} if lengths else {},
    }


def management_tables(view: SwitchView) -> Tables:
    manage = view.management
    vrf = {"vrf": "mgmt"} if manage.vrf else {}
    tables: Tables = {"MGMT_PORT": {MANAGEMENT: {"alias": MANAGEMENT, "admin_status": "up"}}}
    if manage.address is not None:
        gateway = {"gwaddr": manage.gateway} if manage.gateway else {}
        tables["MGMT_INTERFACE"] = {f"{MANAGEMENT}|{manage.address}": gateway}
    if manage.vrf:
        tables["MGMT_VRF_CONFIG"] = {"vrf_global": {"mgmtVrfEnabled": "true"}}
    if manage.ntp:
        tables["NTP"] = {"global": {"src_intf": MANAGEMENT, **vrf}}
        tables["NTP_SERVER"] = {server: {"association_type": "server", "iburst": "on"} for server in manage.ntp}
    if manage.syslog:
        tables["SYSLOG_SERVER"] = {server: {"port": "514", **vrf} for server in manage.syslog}
    if manage.dns:
        tables["DNS_NAMESERVER"] = {server: {} for server in manage.dns}
    return tables


def config_db(view: SwitchView, board: SonicPlatform) -> Tables:
    names = [_name(board, port.ref) for port in view.ports]
    tables = (
        system_tables(view, board)
        | port_tables(view, board, names)
        | routed_tables(view, names)
        | cabling_tables(view, names)
        | management_tables(view)
    )
    return {name: rows for name, rows in tables.items() if rows}


def files(view: SwitchView) -> list[File]:
    board = board_of(view.model, view.device.model)
    return [
        Document("config_db.json", config_db(view, board)),
        Text("frr.conf", "sonic/frr.conf.j2", routing(view, lambda ref: _name(board, ref), LOOPBACK, 240)),
    ]


TARGET = Target(
    name="sonic",
    title="SONiC (community)",
    port_name=port_name,
    files=files,
    refuses=refuses,
    documents=("config_db.json",),
)
