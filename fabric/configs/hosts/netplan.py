"""netplan of one server, as data; addresses that answer over their own port, bonds and tagged networks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from fabric.configs.hosts.view import ETHERNET, Host, HostNic, vlan_name

Settings: TypeAlias = dict[str, Any]

BOND = {"mode": "802.3ad", "lacp-rate": "fast", "transmit-hash-policy": "layer3+4", "mii-monitor-interval": 100}
FIRST_VLAN_TABLE = 5001
JOINED = "; hwplb: its address comes from the cluster"
SHUT: Settings = {"optional": True, "accept-ra": False, "link-local": [], "activation-mode": "off"}


def netplan(host: Host) -> Settings:
    """The document. Ports that are not configured here (InfiniBand, the board's controller) are not in it."""
    ethernets: dict[str, Settings] = {}
    bonds: dict[str, Settings] = {}
    vlans: dict[str, Settings] = {}
    for nic in host.nics:
        if nic.kind != ETHERNET:
            continue
        if nic.closed:
            ethernets[nic.interface] = dict(SHUT)
            continue
        if not nic.bond:
            ethernets[nic.interface] = _routed(nic)
        else:
            ethernets[nic.interface] = {"optional": True, "accept-ra": False, "link-local": [], "mtu": nic.mtu}
            bond = bonds.get(nic.bond)
            if bond is None:
                bonds[nic.bond] = {"interfaces": [nic.interface], "parameters": dict(BOND), **_routed(nic)}
            else:
                bond["interfaces"].append(nic.interface)
                continue  # its networks are those of the bond, which is done
        _add_vlans(nic, vlans)
    # A bridge without ports is up whatever the cables do, and older than netplan's dummy devices (1.1).
    bridges = {name: {"interfaces": [], "addresses": [own], "link-local": []} for name, own in host.own}
    parts = {"ethernets": ethernets, "bonds": bonds, "bridges": bridges, "vlans": vlans}
    return {"network": {"version": 2, "renderer": "networkd", **{key: part for key, part in parts.items() if part}}}


def _routed(nic: HostNic) -> Settings:
    settings: Settings = {"optional": True, "accept-ra": False, "mtu": nic.mtu}
    if nic.address is None:
        settings["link-local"] = []
        return settings
    settings["addresses"] = [nic.address]
    if nic.gateway is not None:
        via, table = nic.gateway, nic.table
        routes = _main(nic, via)
        routes += [{"to": prefix, "via": via, "table": table} for prefix in nic.reach]
        settings["routes"] = routes
        if nic.reach:
            settings["routing-policy"] = [_from(nic.address, table)]
    return settings


def _main(nic: HostNic, via: str) -> list[Settings]:
    """Routes of the main table."""
    own = {"from": nic.source} if nic.source else {}
    return [
        {"to": prefix, "via": via, **own, "metric": metric} if metric else {"to": prefix, "via": via}
        for prefix, metric in nic.local
    ]


def _from(address: str, table: int) -> Settings:
    """What has this source looks into this table; the priority comes before that of the main table, 32766."""
    return {"from": address.partition("/")[0], "table": table, "priority": table}


def _add_vlans(nic: HostNic, vlans: dict[str, Settings]) -> None:
    parent = nic.bond or nic.interface
    pending = nic.gateway is None  # routes of the main table use the first network with a gateway
    for vlan in nic.tagged:
        settings: Settings = {"id": vlan.tag, "link": parent, "accept-ra": False, "mtu": nic.mtu}
        if vlan.address is not None:
            settings["addresses"] = [vlan.address]
            if vlan.gateway is not None:
                table = FIRST_VLAN_TABLE + len(vlans)
                settings["routes"] = _main(nic, vlan.gateway) if pending else []
                settings["routes"].append({"to": "default", "via": vlan.gateway, "table": table})
                pending = False
                settings["routing-policy"] = [_from(vlan.address, table)]
        vlans[vlan_name(parent, vlan.tag, nic.ordinal)] = settings


def netplan_text(host: Host) -> str:
    """The file: a port a block, with the label of its cable and the leaf at the other end."""
    labels = {nic.interface: f"{nic.name} to {nic.leaf}{JOINED * nic.joined}" for nic in host.nics}
    lines = [f"# {host.name}: /etc/netplan/60-fabric.yaml"]
    _emit(netplan(host), "", lines, labels)
    return "\n".join(lines) + "\n"


# --- YAML -----------------------------------------------------------------------------------------------------
# PyYAML takes minutes for the ports of a large site. Strings are written as in JSON, which is valid YAML.

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})  # booleans and null in YAML 1.1
_quoted = json.encoder.encode_basestring


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and key.lower() not in _WORDS else _quoted(key)


def _emit(block: Mapping[str, Any], indent: str, lines: list[str], labels: Mapping[str, str]) -> None:
    for key, value in block.items():
        if type(value) is dict:
            label = labels.get(key)
            lines.append(f"{indent}{_key(key)}:  # {label}" if label else f"{indent}{_key(key)}:")
            _emit(value, indent + "  ", lines, labels)
        elif type(value) is list and value and type(value[0]) is dict:
            lines.append(f"{indent}{_key(key)}:")
            lines += [f"{indent}- {_flow(item)}" for item in value]
        else:
            lines.append(f"{indent}{_key(key)}: {_SCALARS[type(value)](value)}")


def _flow(row: Mapping[str, Any]) -> str:
    return "{" + ", ".join([f"{key}: {_SCALARS[type(value)](value)}" for key, value in row.items()]) + "}"


def _list(values: Sequence[str]) -> str:
    return "[" + ", ".join(map(_quoted, values)) + "]"


_SCALARS: Mapping[type, Callable[[Any], str]] = {
    str: _quoted,
    bool: lambda value: "true" if value else "false",
    int: str,
    list: _list,
    tuple: _list,
}
