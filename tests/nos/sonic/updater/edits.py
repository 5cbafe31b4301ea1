"""What an operator changes by hand in the database of a switch, at random; every result is one that SONiC loads."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

from tests.nos.sonic.updater.switch import Tables

Edit = Callable[[Tables, random.Random], None]


def _some(tables: Tables, table: str, chance: random.Random, ending: str = "") -> str:
    """A random row without a bar in its key, KeyError where there is none."""
    rows = [row for row in tables.get(table, {}) if "|" not in row and row.startswith(ending)]
    if not rows:
        raise KeyError(table)
    return chance.choice(rows)


def _vrf(tables: Tables, chance: random.Random) -> None:
    table = chance.choice([name for name in ("INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE") if name in tables])
    row = tables[table][_some(tables, table, chance)]
    vrfs = [name for name in [*tables.get("VRF", {}), "Vrf-hand"] if name != row.get("vrf_name")]
    name = chance.choice(vrfs)
    tables.setdefault("VRF", {}).setdefault(name, {})
    if "vrf_name" in row and chance.random() < 0.3:
        del row["vrf_name"]
    else:
        row["vrf_name"] = name


def _port(tables: Tables, chance: random.Random) -> None:
    row = tables["PORT"][_some(tables, "PORT", chance)]
    field = chance.choice(["mtu", "admin_status", "description", "fec", "autoneg", "pfc_asym"])
    values = {
        "mtu": ["1500", "9100", "4096"],
        "admin_status": ["up", "down"],
        "description": ["by hand"],
        "fec": ["none", "rs"],
        "autoneg": ["off", "on"],
        "pfc_asym": ["on", "off"],
    }
    row[field] = chance.choice(values[field])


def _lost(tables: Tables, chance: random.Random) -> None:
    table = chance.choice(["NTP_SERVER", "SYSLOG_SERVER", "DNS_NAMESERVER", "ACL_RULE", "DEVICE_NEIGHBOR", "PFC_WD"])
    row = _any(tables, table, chance)
    if row == "GLOBAL":
        return
    del tables[table][row]
    if not tables[table]:
        del tables[table]


def _any(tables: Tables, table: str, chance: random.Random) -> str:
    if not tables.get(table):
        raise KeyError(table)
    return chance.choice(list(tables[table]))


def _watchdog(tables: Tables, chance: random.Random) -> None:
    row = tables["PFC_WD"][_some(tables, "PFC_WD", chance, "Ethernet")]
    field = chance.choice(["detection_time", "restoration_time", "action"])
    row[field] = chance.choice(["forward", "alert"]) if field == "action" else chance.choice(["1200", "1600"])


def _poll(tables: Tables, chance: random.Random) -> None:
    tables["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = "100"


def _queue(tables: Tables, chance: random.Random) -> None:
    rows = [row for row in tables["QUEUE"].values() if "scheduler" in row]
    chance.choice(rows)["scheduler"] = _any(tables, "SCHEDULER", chance)


def _qos_map(tables: Tables, chance: random.Random) -> None:
    row = tables["PORT_QOS_MAP"][_some(tables, "PORT_QOS_MAP", chance, "Ethernet")]
    field = chance.choice(sorted(row))
    if field == "pfc_enable":
        row[field] = "2"
    else:
        del row[field]


def _profile(tables: Tables, chance: random.Random) -> None:
    row = tables["BUFFER_PROFILE"][_any(tables, "BUFFER_PROFILE", chance)]
    field = chance.choice([name for name in ("dynamic_th", "xoff", "size", "xon") if name in row])
    row[field] = "1" if field == "dynamic_th" else str(int(row[field]) + 1024)


def _wred(tables: Tables, chance: random.Random) -> None:
    row = tables["WRED_PROFILE"][_any(tables, "WRED_PROFILE", chance)]
    row["green_drop_probability"] = "7"


def _member(tables: Tables, chance: random.Random) -> None:
    row = tables["VLAN_MEMBER"][_any(tables, "VLAN_MEMBER", chance)]
    row["tagging_mode"] = "tagged" if row["tagging_mode"] == "untagged" else "untagged"


def _bond(tables: Tables, chance: random.Random) -> None:
    row = tables["PORTCHANNEL"][_any(tables, "PORTCHANNEL", chance)]
    field = chance.choice(["min_links", "mtu", "fast_rate", "lacp_key"])
    row[field] = {"min_links": "2", "mtu": "1500", "fast_rate": "true", "lacp_key": "auto"}[field]


def _unbonded(tables: Tables, chance: random.Random) -> None:
    del tables["PORTCHANNEL_MEMBER"][_any(tables, "PORTCHANNEL_MEMBER", chance)]
    if not tables["PORTCHANNEL_MEMBER"]:
        del tables["PORTCHANNEL_MEMBER"]


def _vni(tables: Tables, chance: random.Random) -> None:
    if chance.random() < 0.5:
        row = tables["VRF"][_some(tables, "VRF", chance)]
        if "vni" not in row:
            return
        for mapped in tables["VXLAN_TUNNEL_MAP"].values():
            if mapped["vni"] == row["vni"]:
                mapped["vni"] = "70123"
        row["vni"] = "70123"
    else:
        row = tables["VXLAN_TUNNEL_MAP"][_any(tables, "VXLAN_TUNNEL_MAP", chance)]
        vrfs = {vrf.get("vni") for vrf in tables["VRF"].values()}
        if row["vni"] not in vrfs:
            row["vni"] = "70124"


def _tunnel(tables: Tables, chance: random.Random) -> None:
    tables["VXLAN_TUNNEL"][_any(tables, "VXLAN_TUNNEL", chance)]["src_ip"] = "10.99.0.1"


def _address(tables: Tables, chance: random.Random) -> None:
    table = chance.choice([name for name in ("INTERFACE", "LOOPBACK_INTERFACE") if name in tables])
    rows = [row for row in tables[table] if "|" in row and "." in row]
    row = chance.choice(rows)
    del tables[table][row]
    tables[table][
        f"{row.partition('|')[0]}|10.98.{chance.randrange(250)}.1/31".replace("/31", "/32" if table[0] == "L" else "/31")
    ] = {}


def _rule(tables: Tables, chance: random.Random) -> None:
    row = _any(tables, "ACL_RULE", chance)
    if chance.random() < 0.5:
        tables["ACL_RULE"][row]["PRIORITY"] = str(chance.randrange(1, 99))
    else:
        tables["ACL_RULE"][f"{row.partition('|')[0]}|BY-HAND"] = {
            "PRIORITY": "77",
            "PACKET_ACTION": "ACCEPT",
            "SRC_IP": "192.0.2.99/32",
        }


def _host(tables: Tables, chance: random.Random) -> None:
    field = chance.choice(["hostname", "timezone", "docker_routing_config_mode", "type", "bgp_asn"])
    values = {
        "hostname": "by-hand",
        "timezone": "Europe/Berlin",
        "docker_routing_config_mode": "separated",
        "type": "SpineRouter",
        "bgp_asn": "65009",
    }
    tables["DEVICE_METADATA"]["localhost"][field] = values[field]


def _snmp(tables: Tables, chance: random.Random) -> None:
    tables["SNMP"] = {"LOCATION": {"Location": "rack 5"}}


def _no_model(tables: Tables, chance: random.Random) -> None:
    tables["SUPPRESS_VLAN_NEIGH"] = {"Vlan9": {"suppress": "on"}}


def _hash(tables: Tables, chance: random.Random) -> None:
    tables["SWITCH_HASH"]["GLOBAL"]["ecmp_hash"] = ["SRC_IP", "DST_IP"]
    if chance.random() < 0.3:
        tables["SWITCH_HASH"]["GLOBAL"]["ecmp_hash_algorithm"] = "CRC"


def _gateway(tables: Tables, chance: random.Random) -> None:
    rows = [row for row in tables["VLAN_INTERFACE"].values() if "static_anycast_gateway" in row]
    if rows:
        del chance.choice(rows)["static_anycast_gateway"]
    else:
        tables["VLAN_INTERFACE"][_some(tables, "VLAN_INTERFACE", chance)]["proxy_arp"] = "enabled"


def _cable(tables: Tables, chance: random.Random) -> None:
    row = tables["CABLE_LENGTH"]["AZURE"]
    row[chance.choice(list(row))] = "40m"


EDITS: dict[str, Edit] = {
    name[1:]: edit
    for name, edit in list(globals().items())
    if name.startswith("_")
    and callable(edit)
    and getattr(edit, "__code__", None)
    and edit.__code__.co_varnames[:2] == ("tables", "chance")
}


def edited(tables: Tables, chance: random.Random, count: int) -> tuple[str, Tables]:
    """The names of random edits, and the tables after them."""
    out, done = copy.deepcopy(tables), []
    while len(done) < count:
        name = chance.choice(sorted(EDITS))
        try:
            trial = copy.deepcopy(out)
            EDITS[name](trial, chance)
        except (KeyError, IndexError):
            continue  # this switch has no such thing
        if trial != out:
            out, done = trial, [*done, name]
    return "+".join(done), out
