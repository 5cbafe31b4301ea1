"""Reads the ports of a SONiC switch: bonds, VLANs, loopbacks and subinterfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from fabric.model.facts import MANAGEMENT, Cage, Facts, Interface, Located
from fabric.nos.frr.read.words import Device, add_address, vrf_name
from fabric.nos.reading import esi, mac, prefix
from fabric.nos.reading.packet_filters import Conditions, keep_rule
from fabric.nos.sonic.read.tables import Row, Tables

ROUTED = (
    "INTERFACE",
    "PORTCHANNEL_INTERFACE",
    "LOOPBACK_INTERFACE",
    "VLAN_INTERFACE",
    "VLAN_SUB_INTERFACE",
    "VOQ_INBAND_INTERFACE",
    "MGMT_INTERFACE",
)
IN_RULES = frozenset({"PRIORITY", "PACKET_ACTION", "SRC_IP", "DST_IP", "IP_PROTOCOL"}) | {
    f"L4_{side}_PORT{kind}" for side in ("SRC", "DST") for kind in ("", "_RANGE")
}
OF_IPV4 = frozenset(
    {"2048", "0X0800", "0X800", "ANY", "IP", "IPV4ANY"}
)  # EtherType or kind of packet that any IPv4 packet has
PORT = re.compile(r"Ethernet\d{1,5}")
MODE = re.compile(r"(\d{1,2})x(\d{1,4})G(?:\[([\d,G ]*)\])?", re.I)
SHORT = {"Eth": "Ethernet", "Po": "PortChannel"}  # names of subinterfaces may be short


def read_ports(device: Device, tables: Tables) -> None:
    """Ports and bonds first, so that subinterfaces find their parents."""
    for row in tables.rows("PORT", "PORTCHANNEL", "MGMT_PORT"):
        _port(device.interface(row.key, row.line, tables.file), row)
    _cages(device.facts, tables)
    for row in tables.rows("PORTCHANNEL_MEMBER"):
        bond, _, member = row.key.partition("|")
        _port_of(device, row, member).bond = row.here(bond)
    for row in tables.rows("PORTCHANNEL"):
        for parsed in row.many("members"):
            _port_of(device, row, parsed.value).bond = Located(row.key, parsed.line, parsed.file)
    _vlans(device, tables)
    for table in ROUTED:
        for row in tables.rows(table):
            _routed(device, tables, row)
    _management(device, tables)
    _gateways(device, tables)
    for row in tables.rows("ACL_TABLE"):
        for parsed in row.many("ports"):
            if port := device.facts.interfaces.get(parsed.value):
                port.filters.append(Located(row.key, parsed.line, parsed.file))
    _packet_filters(device.facts, tables)
    for row in tables.rows("DEVICE_NEIGHBOR"):
        _cabled(device, row)


def _packet_filters(facts: Facts, tables: Tables) -> None:
    """Rules by their priority, the largest first; what none matches is forwarded (sonic-swss, orchagent/aclorch.cpp)."""
    rows = [(row.number("PRIORITY"), row) for row in tables.rows("ACL_RULE")]
    for _, row in sorted(rows, key=lambda entry: -entry[0].value if entry[0] else 0):
        action = row.text("PACKET_ACTION")
        if action is None or action.value.upper() not in ("FORWARD", "ACCEPT", "DROP"):
            continue
        found = {name: value.value for name in row.fields.values if (value := row.text(name)) is not None}
        ports = [
            [found[key] for key in (f"L4_{side}_PORT", f"L4_{side}_PORT_RANGE") if key in found] for side in ("SRC", "DST")
        ]
        known = Conditions(
            permits=action.value.upper() != "DROP",
            protocols=[found[name] for name in ("IP_PROTOCOL",) if name in found],
            sources=[found[name] for name in ("SRC_IP",) if name in found],
            targets=[found[name] for name in ("DST_IP",) if name in found],
            source_ports=ports[0],
            target_ports=ports[1],
            narrowed=any(name not in IN_RULES and found[name].upper() not in OF_IPV4 for name in found),
        )
        for rule in known.rules():
            keep_rule(facts, row.key.partition("|")[0], row.here("").at(rule), permits_rest=True)


def read_segments(device: Device, tables: Tables) -> None:
    """Ethernet segments; `AUTO` makes one of the bond's number and MAC, which frr.conf tells as well."""
    for row in tables.rows("EVPN_ETHERNET_SEGMENT"):
        configured, bond = row.text("esi"), row.key
        port = device.facts.interfaces.get(bond)
        if port:
            port.preference = port.preference or row.number("df_pref")
        own = tables.row("PORTCHANNEL", bond)
        system_mac = own.text("system_mac") if own else None
        if port and configured and ":" in configured.value:
            port.esi = Located(esi(configured.value), configured.line, configured.file)
        elif configured and configured.value.upper() == "AUTO" and system_mac:
            number = bond.removeprefix("PortChannel")
            parsed = Located(mac(system_mac.value), system_mac.line, system_mac.file)
            device.system_macs[bond] = device.first(f"the system MAC of {bond}", device.system_macs.get(bond), parsed)
            if number.isdecimal() and bond not in device.segments:
                device.segments[bond] = Located(int(number), configured.line, configured.file)


def _cages(facts: Facts, tables: Tables) -> None:
    """`BREAKOUT_CFG|Ethernet8 {"brkout_mode": "4x100G[50G]"}`: the ports from Ethernet8 to the next cage."""
    first = {int(row.key[8:]): row for row in tables.rows("BREAKOUT_CFG") if PORT.fullmatch(row.key)}
    names = sorted((int(row.key[8:]), row.key) for row in tables.rows("PORT") if PORT.fullmatch(row.key))
    for number, row in first.items():
        mode = row.text("brkout_mode")
        groups = MODE.findall(mode.value) if mode else []
        if mode is None or not groups:
            continue
        end = min((other for other in first if other > number), default=1 << 30)
        parts = {name: at for at, name in enumerate(name for own, name in names if number <= own < end)}
        texts = [speed for _, main, others in groups for speed in (main, *others.split(","))]
        speeds = frozenset(int(digits) for text in texts if (digits := text.strip(" G")).isdecimal())
        ports = Located(sum(int(count) for count, _, _ in groups), mode.line, mode.file)
        name = f"BREAKOUT_CFG|{row.key}"
        facts.cages[name] = Cage(name=name, line=row.line, file=tables.file, ports=ports, speeds=speeds, parts=parts)


def _port_of(device: Device, row: Row, name: str) -> Interface:
    return device.interface(name, row.line, row.tables.file)


def _port(port: Interface, row: Row) -> None:
    description = row.text("description")
    port.description = description if description and description.value else port.description
    port.mtu = row.number("mtu") or port.mtu
    fec = row.text("fec")
    port.fec = fec if fec and fec.value in ("rs", "fc", "none") else port.fec
    if speed := row.number("speed"):
        port.speed_gbps = Located(speed.value // 1000, speed.line, speed.file)
    _admin(port, row)


def _admin(port: Interface, row: Row) -> None:
    if status := row.text("admin_status"):
        port.enabled = Located(status.value.lower() == "up", status.line, status.file)


def _vlans(device: Device, tables: Tables) -> None:
    for row in tables.rows("VLAN_MEMBER"):
        vlan, _, name = row.key.partition("|")
        number = _vlan(tables, vlan)
        if number is not None and name:
            port, mode = _port_of(device, row, name), row.text("tagging_mode")
            if mode and mode.value == "untagged":
                port.access = Located(number, row.line, tables.file)
            else:
                port.trunk.append(Located(number, row.line, tables.file))


def _vlan(tables: Tables, name: str) -> int | None:
    row = tables.row("VLAN", name)
    configured = row.number("vlanid") if row else None
    digits = name.removeprefix("Vlan")
    return configured.value if configured else int(digits) if digits.isdecimal() else None


def _routed(device: Device, tables: Tables, row: Row) -> None:
    """`Ethernet0` tells of the port, `Ethernet0|10.0.0.0/31` adds an address."""
    name, bar, text = row.key.partition("|")
    port = _port_of(device, row, name)
    if bar:
        address = prefix(text)
        if address is None:
            device.facts.broken.append(row.here(f"no address: {text}"))
        elif not address.startswith("fe80:"):
            add_address(port.addresses, row.here(address))
        return
    vrf, local, vlan = row.text("vrf_name") or row.text("vnet_name"), row.text("ipv6_use_link_local_only"), row.number("vlan")
    if vrf and vrf.value:
        port.vrf = Located(vrf_name(vrf.value), vrf.line, vrf.file)
    port.link_local = bool(local and local.value.lower() in ("enable", "enabled", "true"))
    _admin(port, row)
    if vlan_row := tables.row("VLAN", name):
        _port(port, vlan_row)
    stem, dot, tag = name.partition(".")
    if dot:
        letters = stem.rstrip("0123456789")
        parent = device.facts.interfaces.get(SHORT.get(letters, letters) + stem[len(letters) :])
        port.tag = vlan or (Located(int(tag), row.line, tables.file) if tag.isdecimal() else None)
        port.mtu = row.number("mtu") or (parent.mtu if parent else None)


def _management(device: Device, tables: Tables) -> None:
    """The management port has a VRF of its own where that is switched on."""
    row = tables.row("MGMT_VRF_CONFIG", "vrf_global")
    enabled = row.text("mgmtVrfEnabled") if row else None
    if enabled and enabled.value == "true":
        device.vrf(MANAGEMENT, enabled.line, enabled.file)
        for own in tables.rows("MGMT_INTERFACE"):
            port = device.facts.interfaces[own.key.partition("|")[0]]
            port.vrf = Located(MANAGEMENT, enabled.line, enabled.file)


def _gateways(device: Device, tables: Tables) -> None:
    for row in tables.rows("VLAN_INTERFACE"):
        shared = row.text("static_anycast_gateway")
        if shared and shared.value == "true":
            port = device.facts.interfaces[row.key]
            port.gateways, port.addresses = port.addresses, []
    for table, field in (("DHCPV4_RELAY", "dhcpv4_servers"), ("VLAN", "dhcp_servers")):
        for row in tables.rows(table):
            if row.key in device.facts.interfaces:
                device.facts.interfaces[row.key].relays += row.many(field)
    for row in tables.rows("SAG"):
        if parsed := row.text("gateway_mac"):
            device.facts.anycast_mac = Located(mac(parsed.value), parsed.line, parsed.file)


def _cabled(device: Device, row: Row) -> None:
    """A port without a description is described by its neighbor."""
    name, port = row.text("name"), row.text("port")
    own = device.facts.interfaces.get(row.key)
    if own and name and port and not own.description:
        own.description = Located(f"{name.value} {port.value}", name.line, name.file)


# --- The hardware -------------------------------------------------------------------------------------------------


def board(texts: Mapping[str, str]) -> tuple[str, dict[str, Any]] | None:
    """SKU of a switch and a catalog entry with a cage for each of its ports; None where their names do not count lanes."""
    for text in texts.values():
        try:
            data = json.loads(text)
        except ValueError:
            continue
        ports, own = _table(data, "PORT"), _table(data, "DEVICE_METADATA").get("localhost", {})
        rows = sorted((int(name.removeprefix("Ethernet")), row) for name, row in ports.items() if PORT.fullmatch(name))
        lanes = [[lane for lane in str(row.get("lanes", "")).split(",") if lane.isdecimal()] for _, row in rows]
        names = [sum(map(len, lanes[:at])) for at in range(len(lanes))]
        speeds = [int(speed) // 1000 if (speed := str(row.get("speed", ""))).isdecimal() else 0 for _, row in rows]
        sku, kind = str(own.get("hwsku", "")), str(own.get("platform", ""))
        if rows and sku and kind and all(lanes) and all(speeds) and names == [number for number, _ in rows]:
            entry = {"platform": kind, "hwsku": {"default": sku}, "lanes": [",".join(its) for its in lanes]}
            groups = [{"count": len(list(same)), "speed_gbps": speed} for speed, same in groupby(speeds)]
            alias = _alias([str(row.get("alias", "")) for _, row in rows])
            return sku, {"ports": groups, "nos": ["sonic"], "sonic": entry | ({"alias": alias} if alias else {})}
    return None


def _table(data: Any, name: str) -> dict[str, Any]:
    table = data.get(name) if isinstance(data, dict) else None
    return {key: row for key, row in table.items() if isinstance(row, dict)} if isinstance(table, dict) else {}


def _alias(texts: Sequence[str]) -> str:
    """The pattern of the aliases of all cages in order; "" where they follow none."""
    pattern = re.sub(r"1(?=\D*$)", "{cage}", texts[0], count=1)
    return pattern if all(pattern.replace("{cage}", str(at)) == text for at, text in enumerate(texts, 1)) else ""
