"""A running SONiC as far as a change of its database needs it: what the updater refuses, and what the daemons make of a row.

Written from the sources of SONiC and not from the rules of the product: `config` is what the database holds, `state` what the
daemons have done. A row that a daemon drops, skips or does not take back is in the one and not in the other.
"""

from __future__ import annotations

import copy
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.audit.diff.apply import patched

Tables = dict[str, dict[str, dict[str, Any]]]
Path = tuple[str, ...]

# Boards of the catalog that the validators of utilities@691b1bbc have no name for.
UNKNOWN = re.compile(
    "DS3000|Silverstone.*|Dell.*|newport|Arista-7060X6-32PE|Arista-7060DX[45]-.*|Arista-7050SX3-.*|ACS-SN2201", re.IGNORECASE
)
TRIMS = re.compile("ACS-SN5|Mellanox-SN5|Arista-7060X6-64")
NO_MODEL = {"SUPPRESS_VLAN_NEIGH", "ECMP_LOADSHARE_TABLE_IPV6", "POLICY_TABLE"}
INTERFACES = {"INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE", "LOOPBACK_INTERFACE"}
WHILE_DOWN = {
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "QUEUE",
    "PORT_QOS_MAP",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
}
AT_START = {"hwsku", "platform", "mac", "type", "buffer_model", "synchronous_mode"}
OF_BGP = {"docker_routing_config_mode", "frr_mgmt_framework_config"}
SERVICES = {
    "SNMP": "snmp",
    "SNMP_USER": "snmp",
    "SNMP_COMMUNITY": "snmp",
    "SNMP_AGENT_ADDRESS_CONFIG": "snmp",
    "GNMI": "gnmi",
    "GNMI_CLIENT_CERT": "gnmi",
    "LLDP": "lldp",
}
PORT_DEFAULTS = {
    "mtu": "9100",
    "admin_status": "down",
    "autoneg": "off",
    "pfc_asym": "off",
    "link_training": "off",
    "tpid": "0x8100",
}
MADE_WITH = {  # fields that a daemon reads when it makes the row, and skips when the row is there
    "VLAN_MEMBER": {"tagging_mode"},
    "PORTCHANNEL": {"min_links", "fallback", "fast_rate", "lacp_key"},
    "ACL_TABLE": {"type", "stage"},
    "BUFFER_POOL": {"type", "mode"},
    "BUFFER_PROFILE": {"pool"},
    "PFC_WD": {"action"},
    "PORT": {"lanes", "alias"},
    "VLAN_SUB_INTERFACE": {"vlan"},
    "VXLAN_TUNNEL": {"src_ip"},
    "VXLAN_EVPN_NVO": {"source_vtep"},
    "VXLAN_TUNNEL_MAP": {"vlan", "vni"},
}
KEEPS = {  # tables whose daemon does not take a field back that is removed; None: any field
    "BUFFER_PROFILE": None,
    "BUFFER_POOL": None,
    "WRED_PROFILE": None,
    "SCHEDULER": None,
    "SWITCH_HASH": None,
    "PORTCHANNEL": {"system_mac", "learn_mode", "tpid"},
} | dict.fromkeys(INTERFACES)
REFERENCES = {  # what the models let a row refer to only while it is there
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_QUEUE", "profile"): "BUFFER_PROFILE",
    ("BUFFER_PROFILE", "pool"): "BUFFER_POOL",
    ("QUEUE", "scheduler"): "SCHEDULER",
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
    ("PORT_QOS_MAP", "dscp_to_tc_map"): "DSCP_TO_TC_MAP",
    ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "tc_to_pg_map"): "TC_TO_PRIORITY_GROUP_MAP",
    ("VXLAN_EVPN_NVO", "source_vtep"): "VXLAN_TUNNEL",
    **{(table, "vrf_name"): "VRF" for table in INTERFACES},
}
IN_KEYS = {
    "VLAN_MEMBER": "VLAN",
    "PORTCHANNEL_MEMBER": "PORTCHANNEL",
    "ACL_RULE": "ACL_TABLE",
    "VXLAN_TUNNEL_MAP": "VXLAN_TUNNEL",
}


class Refused(AssertionError):
    """What the switch does not take."""


class Switch:
    """One switch; raises Refused."""

    def __init__(self, config: Tables) -> None:
        self.config = copy.deepcopy(config)
        self.state = copy.deepcopy(config)
        self.pending: list[tuple[str, str, dict[str, Any] | None]] = []

    def run(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """All steps of a change, as JSON has them."""
        for step in steps:
            if step["kind"] == "patch":
                self.patch(step["json_patch"])
            elif step["kind"] == "reload":
                self.config = patched(self.config, step["json_patch"])
                self.state, self.pending = copy.deepcopy(self.config), []
            else:
                for line in step["commands"]:
                    self.typed(shlex.split(line))
        assert not self.pending, f"a daemon waits for ever: {self.pending[0]}"

    # --- the updater ---

    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """`config apply-patch`: the validators see the difference that the updater computes itself."""
        target = patched(self.config, operations)
        if empty := [table for table, rows in target.items() if not rows]:
            raise Refused(f"empty table {empty[0]}")
        for operation, path, value in difference(self.config, target):
            self._validate(operation, path, value)
        self._refers(target)
        self.become(target)

    @staticmethod
    def _refers(target: Tables) -> None:
        for (table, field), of in REFERENCES.items():
            for row, fields in target.get(table, {}).items():
                if field in fields and fields[field] not in {**target.get(of, {}), "NULL": {}}:
                    raise Refused(f"{table} {row} refers to {fields[field]}, which is not there")
        for table, of in IN_KEYS.items():
            for row in target.get(table, {}):
                if row.partition("|")[0] not in target.get(of, {}):
                    raise Refused(f"{table} {row} is of nothing")
        for row in target.get("ACL_TABLE", {}).values():
            if lost := set(row.get("ports", ())) - target["PORT"].keys() - target.get("PORTCHANNEL", {}).keys():
                raise Refused(f"a filter is on {lost}")

    def _validate(self, operation: str, path: Path, value: Any) -> None:
        table = path[0]
        hwsku = self.config["DEVICE_METADATA"]["localhost"]["hwsku"]
        if table in NO_MODEL:
            raise Refused(f"no model of {table}")
        if operation == "remove" and path in (
            ("PFC_WD", "GLOBAL"),
            ("PFC_WD", "GLOBAL", "POLL_INTERVAL"),
            ("LOOPBACK_INTERFACE", "Loopback0"),
        ):
            raise Refused(f"remove {path}")
        if table == "BUFFER_POOL" or (table == "PFC_WD" and not self._watchdog(hwsku, operation, path, value)):
            raise Refused(f"{operation} {path} on {hwsku}")
        if table == "BUFFER_PROFILE" and not self._profile(hwsku, operation, path):
            raise Refused(f"{operation} {path} on {hwsku}")
        if table == "PORT" and (
            len(path) == 2 or path[-1] == "lanes" or (operation == "move" and path[-1] in ("fec", "speed"))
        ):
            raise Refused(f"{operation} {path}: no order found")
        if table in WHILE_DOWN:
            rows = path[1:2] or tuple({**self.config.get(table, {}), **(value or {})})
            for port in {row.partition("|")[0] for row in rows}:
                if self.config["PORT"].get(port, {}).get("admin_status") == "up":
                    raise Refused(f"{operation} {path} would take {port} down unannounced")

    @staticmethod
    def _watchdog(hwsku: str, operation: str, path: Path, value: Any) -> bool:
        if UNKNOWN.fullmatch(hwsku) or operation == "move":
            return False
        where = "/".join(part for part in path[1:] if not re.search(r"\d", part)).lower()
        names = [f"{where}/{key}" if where else key for key in value] if isinstance(value, dict) else [where]
        known = {"restoration_time", "detection_time", "action", "global/poll_interval", "pfc_stat_history", ""}
        return all(name in known for name in names)

    @staticmethod
    def _profile(hwsku: str, operation: str, path: Path) -> bool:
        if len(path) == 2:
            return operation != "move"
        if len(path) < 2 or UNKNOWN.fullmatch(hwsku):
            return False
        if path[2] == "packet_discard_action":
            return operation in ("add", "replace") and TRIMS.match(hwsku) is not None
        return operation == "replace" and path[2] in ("dynamic_th", "xoff")

    # --- commands ---

    def typed(self, words: Sequence[str]) -> None:
        """One line at the shell."""
        assert words[0] == "sudo", words
        if words[1:3] == ["systemctl", "restart"]:
            self.restart(words[3])
        elif words[1:3] == ["sonic-db-cli", "CONFIG_DB"]:
            self._database(words[3], words[4], list(words[5:]))
        else:
            assert words[1:3] == ["systemctl", "reset-failed"], words

    def _database(self, word: str, key: str, rest: list[str]) -> None:
        table, _, row = key.partition("|")
        target = copy.deepcopy(self.config)
        rows = target.setdefault(table, {})
        if word == "DEL":
            del rows[row]
        elif word == "HSET":
            for name, value in zip(rest[::2], rest[1::2], strict=True):
                fields = rows.setdefault(row, {})
                if name.endswith("@"):
                    fields[name[:-1]] = value.split(",")
                elif name != "NULL":
                    fields[name] = value
        else:
            assert word == "HDEL"
            del rows[row][rest[0].removesuffix("@")]
        self.become({table: rows for table, rows in target.items() if rows})

    def restart(self, service: str) -> None:
        """A service that starts reads its tables."""
        for table, of in SERVICES.items():
            if of == service:
                self.state.pop(table, None)
                self.state |= {table: copy.deepcopy(self.config[table])} if table in self.config else {}
        if service == "bgp":
            host, own = self.config["DEVICE_METADATA"]["localhost"], self.state["DEVICE_METADATA"]["localhost"]
            for name in OF_BGP:
                own.pop(name, None)
                own |= {name: host[name]} if name in host else {}
            self.state.pop("SYSTEM_DEFAULTS", None)
            self.state |= (
                {"SYSTEM_DEFAULTS": copy.deepcopy(self.config["SYSTEM_DEFAULTS"])} if "SYSTEM_DEFAULTS" in self.config else {}
            )

    # --- the daemons ---

    def become(self, target: Tables) -> None:
        """Rows go, then rows come and change; a daemon that waits tries again after every row."""
        old, self.config = self.config, target
        for table, row in _rows(old):
            if row not in target.get(table, {}):
                self._take(table, row, None)
        for table, row in _rows(target):
            if target[table][row] != old.get(table, {}).get(row):
                self._take(table, row, target[table][row])

    def _take(self, table: str, row: str, fields: dict[str, Any] | None) -> None:
        self.pending = [one for one in self.pending if one[:2] != (table, row)]
        self.pending.append((table, row, fields))
        progress = True
        while progress:
            progress = False
            for one in list(self.pending):
                if self._done(*one):
                    self.pending.remove(one)
                    progress = True

    def _done(self, table: str, row: str, fields: dict[str, Any] | None) -> bool:
        if table in SERVICES or table == "LOSSLESS_TRAFFIC_PATTERN" or row == "software_bfd":
            return True  # read later
        rows = self.state.setdefault(table, {})
        if fields is None:
            return self._removed(table, row, rows)
        done = self._set(table, row, fields, rows)
        if not rows:
            del self.state[table]
        return done

    def _removed(self, table: str, row: str, rows: dict[str, Any]) -> bool:
        waits = {
            "VRF": any(fields.get("vrf_name") == row for name in INTERFACES for fields in self.state.get(name, {}).values()),
            "VXLAN_TUNNEL": bool(self.state.get("VXLAN_TUNNEL_MAP") or self.state.get("VXLAN_EVPN_NVO")),
            "VXLAN_EVPN_NVO": bool(self.state.get("VXLAN_TUNNEL_MAP")),
            "VLAN": any(key.startswith(f"{row}|") for key in self.state.get("VLAN_MEMBER", {})),
        } | {name: any(key.startswith(f"{row}|") for key in rows) for name in INTERFACES}
        if waits.get(table):
            return False
        if table != "SWITCH_HASH":
            rows.pop(row, None)
        if not rows:
            del self.state[table]
        return True

    def _set(self, table: str, row: str, new: dict[str, Any], rows: dict[str, Any]) -> bool:
        old = rows.get(row)
        if table in INTERFACES:
            if "|" in row and row.partition("|")[0] not in rows:
                return False
            vrf = new.get("vrf_name", "")
            if vrf and vrf not in self.state.get("VRF", {}):
                return False
            if old is not None and old.get("vrf_name", "") != vrf:
                return True  # dropped: "can not change to … directly, skipping"
        if table == "VRF" and self._vni_taken(row, new.get("vni"), old, rows):
            return True
        if table == "VXLAN_TUNNEL_MAP" and old is None:
            if not self.state.get("VXLAN_TUNNEL") or new.get("vlan") not in self.state.get("VLAN", {}):
                return False
            if any(other[name] == new[name] for other in rows.values() for name in ("vlan", "vni")):
                return True  # dropped: already mapped
        if (
            table == "VXLAN_EVPN_NVO"
            and old is None
            and (rows or new["source_vtep"] not in self.state.get("VXLAN_TUNNEL", {}))
        ):
            return bool(rows)
        rows[row] = copy.deepcopy(new) if old is None else self._changed(table, row, old, new)
        return True

    @staticmethod
    def _vni_taken(row: str, vni: str | None, old: dict[str, Any] | None, rows: Mapping[str, Any]) -> bool:
        if not vni:
            return False
        if any(other.get("vni") == vni for name, other in rows.items() if name != row):
            return True
        return bool(old and old.get("vni") and old["vni"] != vni)

    @staticmethod
    def _changed(table: str, row: str, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """The fields in effect after a row that was there is set again."""
        out = copy.deepcopy(new)
        for name in MADE_WITH.get(table, ()):
            if old.get(name) != new.get(name):
                out.pop(name, None)
                out |= {name: old[name]} if name in old else {}
        for name in old.keys() - new.keys():
            kept = table in KEEPS and (KEEPS[table] is None or name in (KEEPS[table] or ()))
            if table == "PORT" and name != "description":
                kept = old[name] != PORT_DEFAULTS.get(name)
            if kept:
                out[name] = old[name]
        if table == "BUFFER_PROFILE" and {"dynamic_th", "static_th"} & (new.keys() ^ old.keys()):
            out = copy.deepcopy(old)
        if (table, row) == ("DEVICE_METADATA", "localhost"):
            for name in AT_START | OF_BGP:
                out.pop(name, None)
                out |= {name: old[name]} if name in old else {}
        return out


def difference(old: Any, new: Any) -> list[tuple[str, Path, Any]]:
    """Operations as `jsonpatch` finds them: what is removed and added with one value is moved."""
    found = list(_operations(old, new, ()))
    lost = [json.dumps(value, sort_keys=True) for operation, _, value in found if operation == "remove"]
    out = []
    for operation, path, value in found:
        moved = operation == "add" and json.dumps(value, sort_keys=True) in lost
        out.append(("move" if moved else operation, path, None if operation == "remove" or moved else value))
    return out


def _operations(old: Any, new: Any, path: Path) -> Iterator[tuple[str, Path, Any]]:
    for key in sorted(old.keys() | new.keys()):
        at = (*path, key)
        if key not in new:
            yield "remove", at, old[key]
        elif key not in old:
            yield "add", at, new[key]
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            yield from _operations(old[key], new[key], at)
        elif old[key] != new[key]:
            yield "replace", at, new[key]


def _rows(tables: Tables) -> list[tuple[str, str]]:
    return [(table, row) for table, rows in tables.items() for row in rows]
