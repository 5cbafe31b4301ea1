"""Reads a SONiC switch: config_db.json, and frr.conf for the routing where there is one."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.model.facts import Facts, Located, Route, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.conf import read_conf
from fabric.nos.frr.read.files import reader_of
from fabric.nos.frr.read.words import Device, unnumbered, vrf_name
from fabric.nos.reading import ROOT_LOGIN, asn, community, form_of, is_address, placeholder, prefix
from fabric.nos.sonic.read.bgp import read_bgp
from fabric.nos.sonic.read.ports import read_ports, read_segments
from fabric.nos.sonic.read.qos import read_qos
from fabric.nos.sonic.read.tables import Row, Tables

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
    device = Device(Facts(name=name, nos="sonic", files=tuple(files)))
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
            read_conf(device, processes, file, text)
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
