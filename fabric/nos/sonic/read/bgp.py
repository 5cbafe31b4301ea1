"""Reads BGP out of a SONiC config_db.json, for switches that make their frr.conf of it."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from fabric.model.facts import Located, Neighbor
from fabric.nos.frr.read.words import Device, peer_address, vrf_name
from fabric.nos.reading import asn, password
from fabric.nos.sonic.read.tables import Row, Tables

FAMILIES = {"ipv4_unicast": "ipv4", "ipv6_unicast": "ipv6", "l2vpn_evpn": "evpn"}
MULTIHOP = 255
SALTED = "U2FsdGVkX1"  # base64 of what OpenSSL puts before an encrypted text
SESSIONS = ("BGP_NEIGHBOR", "BGP_INTERNAL_NEIGHBOR", "BGP_VOQ_CHASSIS_NEIGHBOR", "BGP_MONITORS")
# Field of a neighbor → keys that state it, in either of SONiC's two schemas; the first one present counts.
NUMBERS = {"keepalive_s": "keepalive", "hold_s": "holdtime", "multihop": "ebgp_multihop_ttl"}
FILTERS = {"import_filter": ("prefix_list_in", "route_map_in"), "export_filter": ("prefix_list_out", "route_map_out")}


def read_bgp(device: Device, tables: Tables) -> None:
    """Processes, neighbors and peer groups."""
    _processes(device, tables)
    for row in tables.rows(*SESSIONS):
        vrf, peer = _split(row.key)
        attributes = _attributes(row)
        group = row.text("peer_group_name")
        families = _families(tables, vrf, peer)
        if group:
            of_group = tables.row("BGP_PEER_GROUP", f"{vrf}|{group.value}") or tables.row("BGP_PEER_GROUP", group.value)
            attributes = (_attributes(of_group) if of_group else {}) | attributes
            families = _families(tables, vrf, group.value, "BGP_PEER_GROUP_AF") | families
        _add(device, row, vrf, peer, attributes, families)
    for row in tables.rows("BGP_PEER_RANGE"):
        attributes = {"remote_as": _asn(row.text("peer_asn")), "source": row.text("src_address")}
        for parsed in row.many("ip_range"):
            _add(device, row, _split(row.key)[0], parsed.value, attributes, {})
    for row in tables.rows("BGP_GLOBALS_LISTEN_PREFIX"):
        vrf, text = _split(row.key)
        group = row.text("peer_group")
        of_group = tables.row("BGP_PEER_GROUP", f"{vrf}|{group.value}") if group else None
        _add(device, row, vrf, text, _attributes(of_group) if of_group else {}, {})


def _split(key: str) -> tuple[str, str]:
    """`10.0.0.1`, `default|10.0.0.1` and `Vrf-red|10.0.0.1` → the VRF as tables name it, and the peer."""
    parts = key.split("|")
    return (parts[0] if len(parts) > 1 else "default"), parts[-1]


def _processes(device: Device, tables: Tables) -> None:
    row = tables.row("DEVICE_METADATA", "localhost")
    number = _asn(row.text("bgp_asn")) if row else None
    if row and number:
        process = device.bgp("", number.line, number.file)
        process.asn, process.router_id = number, row.text("bgp_router_id")
    for row in tables.rows("BGP_GLOBALS"):
        process = device.bgp(vrf_name(row.key), row.line, tables.file)
        process.asn = _asn(row.text("local_asn")) or process.asn
        process.router_id = row.text("router_id") or process.router_id
        if relax := row.text("load_balance_mp_relax"):
            process.relax = Located(relax.value == "true", relax.line, relax.file)
    for row in tables.rows("BGP_GLOBALS_AF"):
        vrf, family = _split(row.key)
        paths = row.number("max_ebgp_paths")
        process = device.bgp(vrf_name(vrf), row.line, tables.file)
        if paths and family != "l2vpn_evpn" and (process.max_paths is None or paths.value < process.max_paths.value):
            process.max_paths = paths
        if family == "l2vpn_evpn" and vrf != "default":
            table = device.vrf(vrf_name(vrf), row.line, tables.file)
            table.rd = row.text("route-distinguisher") or table.rd
            table.imports += row.many("import-rts")
            table.exports += row.many("export-rts")


def _asn(parsed: Located[str] | None) -> Located[Any] | None:
    number = asn(parsed.value) if parsed else None
    return Located(number, parsed.line, parsed.file) if parsed and number else None


def _attributes(row: Row) -> dict[str, Located[Any] | None]:
    """What a neighbor or peer group says, by field of the neighbor."""
    kind, status, hops = row.text("peer_type"), row.text("admin_status"), row.text("ebgp_multihop")
    attributes: dict[str, Located[Any] | None] = {field: row.number(name) for field, name in NUMBERS.items()}
    if kind and kind.value in ("internal", "external"):
        attributes["remote_as"] = kind
    attributes["remote_as"] = _asn(row.text("asn")) or attributes.get("remote_as")
    attributes["local_as"] = _asn(row.text("local_asn"))
    attributes["source"] = row.text("local_addr")
    attributes["description"] = row.text("name")
    if status:
        attributes["enabled"] = Located(status.value in ("up", "true"), status.line, status.file)
    if hops and hops.value == "true" and attributes["multihop"] is None:
        attributes["multihop"] = Located(MULTIHOP, hops.line, hops.file)
    if key := row.text("auth_password"):
        encrypted = key.value.startswith(SALTED)
        attributes["authentication"] = Located(password(key.value, encrypted=encrypted), key.line, key.file)
    if bfd := row.text("bfd"):
        attributes["bfd"] = Located(bfd.value == "true", bfd.line, bfd.file)
    return {field: parsed for field, parsed in attributes.items() if parsed}


def _families(tables: Tables, vrf: str, peer: str, table: str = "BGP_NEIGHBOR_AF") -> dict[str, Row]:
    """Family → its row, of those that are active."""
    found: dict[str, Row] = {}
    for text, family in FAMILIES.items():
        row = tables.row(table, f"{vrf}|{peer}|{text}")
        status = row.text("admin_status") if row else None
        if row and status and status.value in ("true", "up"):
            found[family] = row
    return found


def _add(
    device: Device, row: Row, vrf: str, peer: str, attributes: dict[str, Located[Any] | None], families: dict[str, Row]
) -> None:
    """Without rows of its own a neighbor has the family of its address."""
    name = vrf_name(vrf)
    process = device.bgp(name, row.line, row.tables.file)
    fields: dict[str, Any] = {**attributes}
    address = peer_address(peer)
    neighbor = Neighbor(vrf=name, peer=address or peer, line=row.line, file=row.tables.file, **fields)
    neighbor.dynamic = "/" in peer
    neighbor.interface = address is None and not neighbor.dynamic
    if neighbor.dynamic:
        try:
            neighbor.peer = str(ip_network(peer, strict=False))
        except ValueError:
            device.facts.broken.append(row.here(f"no prefix: {peer}"))
            return
    neighbor.families = [Located(family, family_row.line, row.tables.file) for family, family_row in families.items()]
    if not families and not neighbor.interface:
        neighbor.families = [row.here("ipv6" if ":" in peer else "ipv4")]
    for family_row in families.values():
        neighbor.max_prefix = neighbor.max_prefix or family_row.number("max_prefix_limit")
        neighbor.allowas_in = neighbor.allowas_in or family_row.number("allow_as_count")
        for field, names in FILTERS.items():
            if getattr(neighbor, field) is None:
                setattr(neighbor, field, next((parsed for text in names if (parsed := family_row.text(text))), None))
    process.neighbors[neighbor.peer] = neighbor
