"""The tables of a SONiC config_db.json as rows that know their lines, and which of them are read at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fabric.model.facts import Facts, Located
from fabric.nos.sonic.read.dump import Object, Repeated, read_tables

MAX_DIGITS = 20  # of a number of 64 bits
# Tables that are read, with their fields; `None`: the fields are ports, code points and the like.
READ: dict[str, frozenset[str] | None] = {
    name: None if fields == "*" else frozenset(fields.split())
    for name, fields in {
        "ACL_TABLE": "type stage ports ports@ services policy_desc priority",
        "BGP_GLOBALS": "*",
        "BGP_GLOBALS_AF": "*",
        "BGP_GLOBALS_LISTEN_PREFIX": "peer_group",
        "BGP_INTERNAL_NEIGHBOR": "*",
        "BGP_MONITORS": "*",
        "BGP_NEIGHBOR": "*",
        "BGP_NEIGHBOR_AF": "*",
        "BGP_PEER_GROUP": "*",
        "BGP_PEER_GROUP_AF": "*",
        "BGP_PEER_RANGE": "ip_range ip_range@ name peer_asn src_address",
        "BGP_VOQ_CHASSIS_NEIGHBOR": "*",
        "BUFFER_PG": "profile",
        "BUFFER_PROFILE": "dynamic_th headroom_type packet_discard_action pool size static_th xoff xon xon_offset",
        "BUFFER_QUEUE": "profile",
        "CABLE_LENGTH": "*",
        "COPP_GROUP": "*",
        "COPP_TRAP": "*",
        "DEVICE_METADATA": "*",
        "DEVICE_NEIGHBOR": "name port local_port mgmt_addr type peer_name",
        "DNS_NAMESERVER": "",
        "DOT1P_TO_TC_MAP": "*",
        "DSCP_TO_TC_MAP": "*",
        "EVPN_ETHERNET_SEGMENT": "esi type df_pref ifname",
        "FEATURE": "*",
        "INTERFACE": "family ipv6_use_link_local_only loopback_action mac_addr mpls nat_zone scope vnet_name vrf_name",
        "LOOPBACK_INTERFACE": "admin_status family ipv6_use_link_local_only nat_zone scope vrf_name",
        "MAP_PFC_PRIORITY_TO_QUEUE": "*",
        "MGMT_INTERFACE": "forced_mgmt_routes forced_mgmt_routes@ gwaddr",
        "MGMT_PORT": "admin_status alias autoneg description mtu speed",
        "MGMT_VRF_CONFIG": "mgmtVrfEnabled",
        "NTP_SERVER": "*",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "*",
        "PFC_WD": "BIG_RED_SWITCH POLL_INTERVAL action detection_time pfc_stat_history restoration_time",
        "PORT": "admin_status adv_interface_types adv_speeds alias asic_port_name autoneg core_id core_port_id "
        "description dhcp_rate_limit dom_polling fast_linkup fec index interface_type lanes laser_freq "
        "link_training macsec mode mtu mux_cable num_voq override_unreliable_los parent_port pfc_asym role "
        "speed subport tpid tx_power valid_speeds",
        "PORTCHANNEL": "admin_status description fallback fast_rate lacp_key members members@ min_links mode mtu "
        "system_mac tpid",
        "PORTCHANNEL_INTERFACE": "ipv6_use_link_local_only loopback_action mac_addr mpls nat_zone vnet_name vrf_name",
        "PORTCHANNEL_MEMBER": "",
        "PORT_QOS_MAP": "dot1p_to_tc_map dscp_to_fc_map dscp_to_tc_map exp_to_fc_map pfc_enable pfc_to_pg_map "
        "pfc_to_queue_map pfcwd_sw_enable scheduler tc_to_dscp_map tc_to_pg_map tc_to_queue_map",
        "QUEUE": "scheduler wred_profile",
        "SAG": "gateway_mac",
        "SCHEDULER": "cbs cir meter_type pbs pir priority type weight",
        "SNMP_COMMUNITY": "TYPE",
        "SYSLOG_SERVER": "*",
        "TC_TO_PRIORITY_GROUP_MAP": "*",
        "TC_TO_QUEUE_MAP": "*",
        "VLAN": "admin_status alias description dhcp_servers dhcp_servers@ dhcpv6_servers host_ifname mac members "
        "members@ mtu vlanid",
        "VLAN_INTERFACE": "family grat_arp ipv6_use_link_local_only loopback_action mac_addr mpls nat_zone proxy_arp "
        "scope secondary static_anycast_gateway vnet_name vrf_name",
        "VLAN_MEMBER": "tagging_mode",
        "VLAN_SUB_INTERFACE": "admin_status ipv6_use_link_local_only loopback_action mtu vlan vnet_name vrf_name",
        "VNET": "*",
        "VOQ_INBAND_INTERFACE": "inband_type",
        "VRF": "enabled fallback src_mac vni",
        "VXLAN_EVPN_NVO": "source_vtep",
        "VXLAN_TUNNEL": "dst_ip src_ip ttl_mode",
        "VXLAN_TUNNEL_MAP": "vlan vni",
        "WRED_PROFILE": "*",
    }.items()
}
# Tables that tell nothing a check asks for.
PASSED = frozenset((
    "AAA", "ACL_RULE", "ACL_TABLE_TYPE", "ASIC_SENSORS", "AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE",
    "BANNER_MESSAGE", "BGP_AGGREGATE_ADDRESS", "BGP_ALLOWED_PREFIXES", "BGP_BBR", "BGP_DEVICE_GLOBAL",
    "BGP_GLOBALS_AF_AGGREGATE_ADDR", "BGP_GLOBALS_AF_NETWORK", "BGP_SENTINELS", "BMP", "BREAKOUT_CFG", "BUFFER_POOL",
    "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "CHASSIS_MODULE", "CLASSIFIER_TABLE",
    "CONSOLE_PORT", "CONSOLE_SWITCH", "COREDUMP", "CRM", "DEBUG_COUNTER", "DEBUG_COUNTER_DROP_REASON",
    "DEBUG_DROP_MONITOR", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "DEVICE_NEIGHBOR_METADATA", "DHCPV4_RELAY", "DHCP_RELAY",
    "DHCP_SERVER", "DHCP_SERVER_IPV4", "DHCP_SERVER_IPV4_PORT", "DHCP_SERVER_IPV4_RANGE", "DNS_OPTIONS",
    "DSCP_TO_FC_MAP", "ECMP_LOADSHARE_TABLE_IPV4", "ECMP_LOADSHARE_TABLE_IPV6", "EVPN_MH_GLOBAL", "EXP_TO_FC_MAP",
    "FABRIC_MONITOR", "FABRIC_PORT", "FG_NHG", "FG_NHG_MEMBER", "FG_NHG_PREFIX", "FIPS", "FLEX_COUNTER_TABLE",
    "FLOW_COUNTER_ROUTE_PATTERN", "GNMI", "GNMI_CLIENT_CERT", "GRPCCLIENT", "HARDWARE", "HEARTBEAT", "KDUMP",
    "KUBERNETES_MASTER", "LDAP", "LDAP_SERVER", "LEAK_CONTROL_POLICY", "LLDP", "LLDP_PORT", "LOGGER", "LOOPBACK",
    "LOSSLESS_TRAFFIC_PATTERN", "MACSEC_PROFILE", "MAC_MOVE_GUARD", "MEMORY_STATISTICS", "MGMT_DHCP", "MIRROR_SESSION",
    "MPLS_TC_TO_TC_MAP", "MUX_CABLE", "MUX_LINKMGR", "NAT_BINDINGS", "NAT_GLOBAL", "NAT_POOL", "NEIGH", "NTP",
    "NTP_KEY", "PASSW_HARDENING", "PBH_HASH", "PBH_HASH_FIELD", "PBH_RULE", "PBH_TABLE", "PEER_SWITCH", "POLICER",
    "POLICY_BINDING_TABLE", "POLICY_SECTIONS_TABLE", "POLICY_TABLE", "PORT_STORM_CONTROL", "RADIUS", "RADIUS_SERVER",
    "RESTAPI", "ROUTE_REDISTRIBUTE", "SERIAL_CONSOLE", "SFLOW", "SFLOW_COLLECTOR", "SFLOW_SESSION", "SNMP",
    "SNMP_AGENT_ADDRESS_CONFIG", "SNMP_USER", "SSH_SERVER", "STATIC_NAPT", "STATIC_NAT", "STATIC_ROUTE",
    "STORMOND_CONFIG", "STP", "STP_PORT", "STP_VLAN", "STP_VLAN_PORT", "SUBNET_DECAP", "SUPPRESS_ASIC_SDK_HEALTH_EVENT",
    "SWITCH", "SWITCH_HASH", "SWITCH_TRIMMING", "SYSLOG_CONFIG", "SYSLOG_CONFIG_FEATURE", "SYSTEM_DEFAULTS",
    "SYSTEM_PORT", "TACPLUS", "TACPLUS_SERVER", "TC_TO_DSCP_MAP", "TELEMETRY", "TELEMETRY_CLIENT", "TUNNEL", "USER",
    "VERSIONS", "WARM_RESTART", "XCVRD_LOG", "ZTP", "bgpraw",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table."""

    key: str
    line: int
    tables: Tables
    fields: Object

    def text(self, name: str) -> Located[str] | None:
        """A field; numbers and truth values as text, nothing for a list."""
        value = self.fields.values.get(name)
        if value is None or isinstance(value, (Object, list)):
            return None
        text = value if isinstance(value, str) else str(value).lower()
        return Located(text.strip(), self.fields.lines[name], self.tables.file)

    def number(self, name: str) -> Located[int] | None:
        parsed = self.text(name)
        if parsed is None or not parsed.value:
            return None
        if not parsed.value.isdecimal() or len(parsed.value) > MAX_DIGITS:
            self.tables.facts.broken.append(
                Located(f"{name} of {self.key} is no number: {parsed.value}", parsed.line, parsed.file)
            )
            return None
        return Located(int(parsed.value), parsed.line, parsed.file)

    def name(self, name: str) -> Located[str] | None:
        """A field that names a row; old releases write `[TABLE|name]`."""
        parsed = self.text(name)
        return Located(parsed.value.strip("[]").rpartition("|")[2], parsed.line, parsed.file) if parsed else None

    def many(self, name: str) -> list[Located[str]]:
        """A list, or a text with commas."""
        value = self.fields.values.get(name, self.fields.values.get(f"{name}@"))
        parts: list[Any] = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else []
        line = self.fields.lines.get(name, self.line)
        return [Located(part.strip(), line, self.tables.file) for part in parts if isinstance(part, str) and part.strip()]

    def here(self, value: str) -> Located[str]:
        return Located(value, self.line, self.tables.file)


class Tables:
    """A config_db.json; a damaged one as far as it can be read."""

    def __init__(self, facts: Facts, file: str, text: str) -> None:
        self.facts, self.file = facts, file
        repeated: Repeated = []
        self.root, mistake, line = read_tables(text, repeated)
        if mistake:
            facts.broken.append(Located(mistake, line, file))
        facts.conflicts += [Located(f'the key "{key}" stands here twice', at, file) for key, at in repeated]

    def rows(self, *tables: str) -> Iterator[Row]:
        for table in tables:
            whole = self.root.values.get(table)
            if isinstance(whole, Object):
                for key, fields in whole.values.items():
                    yield Row(key, whole.lines[key], self, fields if isinstance(fields, Object) else Object(whole.lines[key]))

    def row(self, table: str, key: str) -> Row | None:
        whole = self.root.values.get(table)
        if not isinstance(whole, Object) or key not in whole.values:
            return None
        fields = whole.values[key]
        return Row(key, whole.lines[key], self, fields if isinstance(fields, Object) else Object(whole.lines[key]))

    def account(self) -> None:
        """Counts every row, and lists what is not known: tables, and fields of the tables that are read."""
        facts = self.facts
        for table, whole in self.root.values.items():
            if not isinstance(whole, Object):
                facts.unread.append(Located(table, self.root.lines[table], self.file))
                continue
            known = READ.get(table)
            facts.statements += len(whole.values)
            if table not in READ and table not in PASSED:
                facts.unread += (Located(f"{table}|{key}", line, self.file) for key, line in whole.lines.items())
            elif known is not None:
                for row in self.rows(table):
                    strange = row.fields.values.keys() - known - {"NULL"}
                    facts.unread += (
                        Located(f"{table}|{row.key} {name}", row.fields.lines[name], self.file) for name in sorted(strange)
                    )
