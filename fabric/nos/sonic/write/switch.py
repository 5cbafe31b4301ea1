"""The files of a switch: config_db.json is data, frr.conf is the text of FRR (`split-unified`)."""

from __future__ import annotations

from functools import partial

from fabric.hardware.catalog.models import SonicPlatform
from fabric.model.plan import Management, Session, SwitchView
from fabric.nos.frr.write.routing import Spelling, routing
from fabric.nos.sonic.write.buffers import NVIDIA, TOFINO, buffer_model, buffer_tables, maker
from fabric.nos.sonic.write.ports import (
    TYPES,
    VRF,
    Table,
    Tables,
    board_of,
    hwsku,
    is_older,
    named,
    neighbor_tables,
    port_tables,
    qos_tables,
)
from fabric.nos.sonic.write.tenants import tenant_tables
from fabric.nos.target import CannotRender, Document, File, Names, Text

# --- Management access: port, time, logs, SSH, SNMP, gNMI, and what the CPU answers at all --------------------

PORT = "eth0"
GNMI_PORT = 50052  # 8080 is the default of gNMI and of the telemetry container: two services, one port
CERTIFICATES = "/etc/sonic/credentials"
MIN_SNMP_USER_LETTERS = 4
EVERYONE = ("0.0.0.0/0", "::/0")

# The preferences of OpenSSH, without CBC, SHA-1 and MD5.
CIPHERS = ["chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com", "aes256-ctr", "aes128-ctr"]
EXCHANGES = [
    "curve25519-sha256",
    "ecdh-sha2-nistp521",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp256",
    "diffie-hellman-group16-sha512",
]
MACS = ["hmac-sha2-512-etm@openssh.com", "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512", "hmac-sha2-256"]


def hardening_tables(view: SwitchView, names: Names) -> Tables:
    manage = view.management
    return management_tables(manage) | login_tables(manage) | service_tables(view) | access_tables(view, names)


def management_tables(manage: Management) -> Tables:
    vrf = {"vrf": "mgmt"} if manage.vrf else {}
    tables: Tables = {"MGMT_PORT": {PORT: {"alias": PORT, "admin_status": "up"}}}
    if manage.address is not None:
        gateway = {"gwaddr": manage.gateway} if manage.gateway else {}
        tables["MGMT_INTERFACE"] = {f"{PORT}|{manage.address}": gateway}
    if manage.vrf:
        tables["MGMT_VRF_CONFIG"] = {"vrf_global": {"mgmtVrfEnabled": "true"}}
    if manage.ntp:
        tables["NTP"] = {"global": {"src_intf": PORT, "server_role": "disabled", "dhcp": "disabled", **vrf}}
        tables["NTP_SERVER"] = {server: {"association_type": "server", "iburst": "on"} for server in manage.ntp}
    if manage.syslog:
        tables["SYSLOG_SERVER"] = {server: {"port": "514", **vrf} for server in manage.syslog}
    if manage.dns:
        tables["DNS_NAMESERVER"] = {server: {} for server in manage.dns}
    return tables


def service_tables(view: SwitchView) -> Tables:
    manage = view.management
    tables: Tables = {
        "SSH_SERVER": {
            "POLICIES": {
                "authentication_retries": "3",
                "login_timeout": "60",
                "inactivity_timeout": "15",
                "permit_root_login": "no",
                "ciphers": list(CIPHERS),
                "kex_algorithms": list(EXCHANGES),
                "macs": list(MACS),
            }
        }
    }
    if manage.banner:
        # The switch prints it with `echo -e`, so a backslash is doubled.
        tables["BANNER_MESSAGE"] = {"global": {"state": "enabled", "login": manage.banner.replace("\\", "\\\\")}}
    if manage.gnmi:
        tables |= gnmi_tables(view)
    if manage.snmp_user:
        tables |= snmp_tables(view)
    return tables


def gnmi_tables(view: SwitchView) -> Tables:
    """Mutual TLS with the certificate `gnmi` of the switch; a client whose own is called `gnmi` may read."""
    in_vrf = view.management.vrf and not is_older(view)
    return {
        "GNMI": {
            "certs": {
                "ca_crt": f"{CERTIFICATES}/ca.cer",
                "server_crt": f"{CERTIFICATES}/gnmi.cer",
                "server_key": f"{CERTIFICATES}/gnmi.key",
            },
            "gnmi": {
                "client_auth": "true",
                "user_auth": "cert",
                "log_level": "2",
                "port": str(GNMI_PORT),
                **({"vrf": "mgmt"} if in_vrf else {}),
            },
        },
        "GNMI_CLIENT_CERT": {"gnmi": {"role": ["gnmi_readonly"]}},
    }


def snmp_tables(view: SwitchView) -> Tables:
    manage = view.management
    if len(manage.snmp_user) < MIN_SNMP_USER_LETTERS:
        raise CannotRender(
            f"{view.device.name}: SONiC takes SNMP users of {MIN_SNMP_USER_LETTERS} to 32 characters, "
            f"expected a longer `management.snmp_user`, got {manage.snmp_user!r}"
        )
    tables: Tables = {
        "SNMP_USER": {
            manage.snmp_user: {
                "SNMP_USER_TYPE": "Priv",
                "SNMP_USER_PERMISSION": "RO",
                "SNMP_USER_AUTH_TYPE": "SHA",
                "SNMP_USER_AUTH_PASSWORD": manage.snmp_auth_secret,
                "SNMP_USER_ENCRYPTION_TYPE": "AES",
                "SNMP_USER_ENCRYPTION_PASSWORD": manage.snmp_priv_secret,
            }
        }
    }
    if manage.address is not None:
        address = manage.address.partition("/")[0]
        tables["SNMP_AGENT_ADDRESS_CONFIG"] = {f"{address}|161|{'mgmt' if manage.vrf else ''}": {}}
    return tables


# --- logins --------------------------------------------------------------------------------------------------

LOGIN_WORDS = {"tacacs": "tacacs+"}


def login_tables(manage: Management) -> Tables:
    """Methods and their servers: the highest priority is asked first."""
    aaa, vrf = manage.aaa, {"vrf": "mgmt"} if manage.vrf else {}
    if aaa is None:
        return {}
    order = ",".join(LOGIN_WORDS.get(name, name) for name in aaa.order)
    tables: Tables = {"AAA": {"authentication": {"login": order}}}
    if aaa.accounting:
        tables["AAA"]["accounting"] = {"login": LOGIN_WORDS[aaa.accounting]}
    for method in aaa.methods:
        timeout = {"timeout": str(method.timeout_s)} if method.timeout_s else {}
        ranks = {server: {"priority": str(rank)} for rank, server in enumerate(reversed(method.servers), 1)}
        servers: Table = {server: ranks[server] for server in method.servers}
        if method.name == "tacacs":
            tables["TACPLUS"] = {"global": {"passkey": method.secret, "src_intf": PORT, **timeout}}
            common = {"tcp_port": str(method.port or 49), **vrf}
            tables["TACPLUS_SERVER"] = {server: {**row, **common} for server, row in servers.items()}
        elif method.name == "radius":
            tables["RADIUS"] = {"global": {"passkey": method.secret, **timeout}}
            common = {"auth_port": str(method.port or 1812), "src_intf": PORT, **vrf}
            tables["RADIUS_SERVER"] = {server: {**row, **common} for server, row in servers.items()}
        else:
            bind = {"bind_dn": method.bind_dn, "bind_password": method.secret, "base_dn": method.base_dn}
            times = {"bind_timeout": str(method.timeout_s), **timeout} if timeout else {}
            tables["LDAP"] = {"global": {**bind, "port": str(method.port or 389), **times}}
            tables["LDAP_SERVER"] = servers
    return tables


# --- who may speak to the CPU --------------------------------------------------------------------------------


def access_tables(view: SwitchView, names: Names) -> Tables:
    """Filters of the control plane. With the first of them the switch drops whatever none of them lets in.

    It lets in ICMP, DHCP, BGP and VXLAN by itself, but not the BFD of FRR's daemon; a filter cannot name BFD's port, so the
    neighbors of fabric links are let in by address and port.
    """
    manage = view.management
    if not manage.allow and not view.underlay.bfd:
        return {}
    allow = manage.allow or EVERYONE
    services: dict[str, dict[str, str]] = {"SSH": {}}
    if manage.snmp_user:
        services["SNMP"] = {}
    if manage.gnmi:
        services["EXTERNAL_CLIENT"] = {"L4_DST_PORT": str(GNMI_PORT)}
    tables: Table = {}
    rules: Table = {}
    for service, match in services.items():
        for six in (False, True):
            sources = [{_source(six): prefix, **match} for prefix in allow if (":" in prefix) == six]
            _add(tables, rules, service, service, sources, six=six)
    if view.underlay.bfd:
        peers = [_peer(session, names, "") for session in view.sessions]
        peers += [_peer(session, names, vrf.name) for vrf in view.vrfs for session in vrf.sessions]
        for six in (False, True):
            _add(tables, rules, "FABRIC-PEERS", "ANY", [peer for peer in peers if ("SRC_IPV6" in peer) == six], six=six)
    return {"ACL_TABLE": tables, "ACL_RULE": rules}


def _add(tables: Table, rules: Table, name: str, service: str, matches: list[dict[str, str]], *, six: bool) -> None:
    if not matches:
        return
    table = f"CPU-{name}-{'V6' if six else 'V4'}"
    tables[table] = {
        "type": "CTRLPLANE",
        "stage": "ingress",
        "services": [service],
        "policy_desc": f"Who may speak to {name}",
    }
    for n, match in enumerate(matches, 1):
        # The switch sorts priorities as text, so all have the same number of digits.
        rules[f"{table}|PERMIT-{n}"] = {"PRIORITY": str(100_000 - n), "PACKET_ACTION": "ACCEPT", **match}


def _source(six: bool) -> str:
    return "SRC_IPV6" if six else "SRC_IP"


def _peer(session: Session, names: Names, vrf: str) -> dict[str, str]:
    """A neighbor on its link. What comes in through a VRF shows the VRF, not the port: there its address must do."""
    address = session.peer_address
    where = {} if vrf else {"IN_PORTS": names(session.port.ref)}
    if address is None:
        return {"SRC_IPV6": "fe80::/10", **where}
    six = ":" in address
    return {_source(six): f"{address}/{128 if six else 32}", **where}


# --- The files ------------------------------------------------------------------------------------------------

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
    if any(network.relay for network in view.networks):
        host["has_sonic_dhcpv4_relay"] = "True"  # the relay of SONiC itself; the older one knows no VRF
    tables: Tables = {
        "DEVICE_METADATA": {"localhost": host},
        "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": list(FIVE_TUPLE), "lag_hash": list(FIVE_TUPLE)}},
    }
    if view.underlay.bfd:  # without it bgpcfgd does not start bfdd, and BFD of the sessions stays down
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
