"""Reads a SONiC switch: config_db.json with its BGP, and frr.conf for the routing where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

from fabric.model.facts import Facts, Located, Neighbor, Route, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.conf import read_conf
from fabric.nos.frr.read.device import reader_of
from fabric.nos.frr.read.words import DERIVED, Device, peer_address, unnumbered, vrf_name
from fabric.nos.reading import (
    ROOT_LOGIN,
    asn,
    community,
    form_of,
    is_address,
    login_order,
    password,
    placeholder,
    prefix,
)
from fabric.nos.reading.peers import MULTIHOP
from fabric.nos.sonic.read.ports import read_ports, read_segments
from fabric.nos.sonic.read.qos import read_qos
from fabric.nos.sonic.read.tables import Row, Tables

# --- BGP in config_db.json, of switches that make their frr.conf of it ----------------------------------------

FAMILIES = {"ipv4_unicast": "ipv4", "ipv6_unicast": "ipv6", "l2vpn_evpn": "evpn"}
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
        process.originates = row.here("")  # the templates of its BGP container advertise loopbacks and subnets
    for row in tables.rows("BGP_GLOBALS"):
        process = device.bgp(vrf_name(row.key), row.line, tables.file)
        process.asn = _asn(row.text("local_asn")) or process.asn
        process.router_id = row.text("router_id") or process.router_id
        process.originates = process.originates or row.here("")  # in rows of other tables, which are not read
        if relax := row.text("load_balance_mp_relax"):
            process.relax = Located(relax.value == "true", relax.line, relax.file)
    for row in tables.rows("BGP_GLOBALS_AF"):
        vrf, family = _split(row.key)
        paths = row.number("max_ebgp_paths")
        process = device.bgp(vrf_name(vrf), row.line, tables.file)
        if paths and family != "l2vpn_evpn" and (process.max_paths is None or paths.value < process.max_paths.value):
            process.max_paths = paths
        every = row.text("advertise-all-vni")
        device.advertised = Located(True, every.line, every.file) if every and every.value == "true" else device.advertised
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


# --- The switch -----------------------------------------------------------------------------------------------

# Fields that hold a password or key.
SECRETS = {
    "BGP_NEIGHBOR": ("auth_password",),
    "BGP_PEER_GROUP": ("auth_password",),
    "LDAP": ("bind_password",),
    "MACSEC_PROFILE": ("primary_cak", "fallback_cak"),
    "NTP_KEY": ("value",),
    "RADIUS": ("passkey",),
    "RADIUS_SERVER": ("passkey",),
    "SNMP_USER": ("SNMP_USER_AUTH_PASSWORD", "SNMP_USER_ENCRYPTION_PASSWORD"),
    "TACPLUS": ("passkey",),
    "TACPLUS_SERVER": ("passkey",),
    "USER": ("password",),
}


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch. Ports come from its tables, BGP from frr.conf; from the tables where that has none."""
    device = Device(facts=Facts(name=name, nos="sonic", files=tuple(files), derived=DERIVED))
    processes = Processes(device)
    json = [file for file, text in files.items() if file.endswith(".json") or text.lstrip()[:1] in ("{", "[")]
    databases = [Tables(device.facts, file, files[file]) for file in json]
    for tables in databases:
        tables.account()
        _system(device, tables)
        read_ports(device, tables)
        _overlay(device, tables)
        _routes(device.facts, tables)
        read_qos(device.facts, tables)
    for file, text in files.items():
        if other := reader_of(file):
            other(device.facts, file, text)
        elif file not in json:
            read_conf(processes, file, text)
    processes.finish()
    for tables in databases:
        if not processes.known:
            read_bgp(device, tables)
        read_segments(device, tables)
    _agree(device, databases)
    return device.finish()


def _system(device: Device, tables: Tables) -> None:
    facts, services = device.facts, device.facts.services
    row = tables.row("DEVICE_METADATA", "localhost")
    facts.hostname = (row.text("hostname") if row else None) or facts.hostname
    facts.name = facts.hostname.value if facts.hostname else facts.name
    services.ntp += (row.here(row.key) for row in tables.rows("NTP_SERVER"))
    services.syslog += (row.here(row.key) for row in tables.rows("SYSLOG_SERVER"))
    services.dns += (row.here(row.key) for row in tables.rows("DNS_NAMESERVER"))
    services.tacacs += (row.here(row.key) for row in tables.rows("TACPLUS_SERVER"))
    services.radius += (row.here(row.key) for row in tables.rows("RADIUS_SERVER"))
    services.ldap += (row.here(row.key) for row in tables.rows("LDAP_SERVER"))
    logins = tables.row("AAA", "authentication")
    if (methods := logins.many("login") if logins else []) and (order := login_order(one.value for one in methods)):
        services.login = Located(order, methods[0].line, tables.file)
    lldp = tables.row("FEATURE", "lldp")
    if state := lldp.text("state") if lldp else None:
        services.lldp = Located(state.value in ("enabled", "always_enabled"), state.line, state.file)
    for row in tables.rows("ACL_TABLE", "COPP_TRAP", "COPP_GROUP"):
        kind = row.text("type")
        if services.control_plane is None and (kind is None or kind.value == "CTRLPLANE"):
            services.control_plane = Located(True, row.line, tables.file)
    _secrets(device, tables)


def _secrets(device: Device, tables: Tables) -> None:
    services = device.facts.services
    for row in tables.rows("SNMP_COMMUNITY"):
        rights = row.text("TYPE")
        services.plain_text.append(row.here(community(writes=rights is not None and rights.value.upper() == "RW")))
        if not placeholder(row.key):
            services.secrets.append(Located(Secret("SNMP community"), row.line, tables.file))
    for table, fields in SECRETS.items():
        for row in tables.rows(table):
            for field in fields:
                parsed = row.text(field)
                if parsed and not placeholder(parsed.value):
                    services.secrets.append(
                        Located(Secret(f"{field} of {table}|{row.key}", form_of(parsed.value)), parsed.line, parsed.file)
                    )
    for row in tables.rows("SSH_SERVER"):
        root = row.text("permit_root_login")
        if root and root.value == "yes":
            services.weak_logins.append(Located(ROOT_LOGIN, root.line, root.file))
    for row in tables.rows("RESTAPI"):
        insecure = row.text("allow_insecure")
        if insecure and insecure.value == "true":
            services.plain_text.append(Located("REST API without TLS", insecure.line, insecure.file))


def _overlay(device: Device, tables: Tables) -> None:
    facts = device.facts
    for row in tables.rows("VRF"):
        vrf = device.vrf(row.key, row.line, tables.file)
        number = row.number("vni")
        if number and number.value:  # 0 is none
            vrf.vni = number
    for row in tables.rows("VNET"):
        device.vrf(row.key, row.line, tables.file).vni = row.number("vni")
    for row in tables.rows("VXLAN_TUNNEL"):
        facts.vtep = facts.vtep or row.text("src_ip")
        device.kernel = True
    for row in tables.rows("VXLAN_TUNNEL_MAP"):
        number, name = row.number("vni"), row.text("vlan")
        if number:
            vni = device.vni(number.value, number.line, number.file)
            digits = name.value.removeprefix("Vlan") if name else ""
            vni.vlan = Located(int(digits), name.line, name.file) if name and digits.isdecimal() else vni.vlan


def _routes(facts: Facts, tables: Tables) -> None:
    """`STATIC_ROUTE|Vrf-red|10.0.0.0/8`; its next hops, ports and VRFs are lists, an empty entry where there is none."""
    for row in tables.rows("STATIC_ROUTE"):
        vrf, _, text = row.key.rpartition("|")
        destination, name = prefix(text), vrf_name(vrf)
        hops, ports, others = (_column(row, field) for field in ("nexthop", "ifname", "nexthop-vrf"))
        for at, hop in enumerate(hops if destination is not None else ()):
            over_port = ports[at : at + 1] not in ([], [""])
            table = vrf_name((others[at : at + 1] or [""])[0] or vrf)
            via = hop if is_address(hop) and not over_port else ""
            facts.routes.append(
                Route(vrf=name, prefix=destination or "", via=via, table=table, line=row.line, file=tables.file)
            )


def _column(row: Row, field: str) -> list[str]:
    found = row.text(field)
    return [part.strip() for part in found.value.split(",")] if found else []


def _agree(device: Device, databases: list[Tables]) -> None:
    """What is only known when every file is read: VNIs of tenants, unnumbered sessions, what stands in both files."""
    facts = device.facts
    device.tenants_apart()
    for process in facts.bgp.values():
        for neighbor in process.neighbors.values():
            unnumbered(facts, neighbor)
    for tables in databases:
        row = tables.row("DEVICE_METADATA", "localhost")
        parsed = row.text("bgp_asn") if row else None
        default = facts.bgp.get("")
        if parsed and default and default.asn and (configured := asn(parsed.value)):
            if configured != default.asn.value and _keeps_its_bgp(tables):
                there = f"{default.asn.file}:{default.asn.line}"
                text = f"the AS of VRF default is {configured} here and {default.asn.value} in {there}, which is used"
                facts.idle.append(Located(text, parsed.line, parsed.file))
                continue
            device.first("the AS of VRF default", default.asn, Located(configured, parsed.line, parsed.file))


def _keeps_its_bgp(tables: Tables) -> bool:
    """Whether frr.conf is left as it is, and these tables add no session to it (SONiC, docker-fpm-frr, docker_init.sh)."""
    row = tables.row("DEVICE_METADATA", "localhost")
    mode = row.text("docker_routing_config_mode") if row else None
    return mode is not None and mode.value in ("split", "split-unified") and not any(tables.rows("BGP_NEIGHBOR"))
