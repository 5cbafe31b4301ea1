"""What a fabric's switches print of their neighbors: a plan's cables, changed at will, in the shape of each network OS.

Every writer prints one device. Shapes and key names are those of the outputs that the readers name as their sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabric.audit.cabling.planned import Planned

MAC = "4c:76:25:{:02x}:{:02x}:{:02x}"


@dataclass(frozen=True)
class Ear:
    """One port of the printed device and what is at its other end."""

    port: str
    speed_gbps: int
    system: str = ""  # "": the port is down and receives nothing
    far_port: str = ""
    server: bool = False
    mac: str = ""


@dataclass
class Floor:
    """Cables as they are laid: the plan's, until a test lays them otherwise."""

    plan: Planned
    mate: dict[int, int] = field(default_factory=dict)
    speed: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.mate = {end: end ^ 1 for end in range(len(self.plan.device))}
        self.ends: dict[str, list[int]] = {name: [] for name in self.plan.hosts.names}
        for end, device in enumerate(self.plan.device):
            self.ends[self.plan.hosts.names[device]].append(end)

    def swap(self, first: int, second: int) -> None:
        """Exchanges the cables in two ports."""
        a, b = self.mate[first], self.mate[second]
        self.lay(first, b)
        self.lay(second, a)

    def lay(self, a: int, b: int) -> None:
        self.mate[a], self.mate[b] = b, a

    def pull(self, end: int) -> None:
        other = self.mate.pop(end)
        self.mate.pop(other)

    def ears(self, device: str) -> Iterator[Ear]:
        """Every cabled port of a device."""
        plan = self.plan
        for end in self.ends[device]:
            port, speed = plan.port_name[end] or plan.label[end], self.speed.get(end, plan.speeds[end >> 1])
            there = self.mate.get(end)
            if there is None:
                yield Ear(port, speed)
                continue
            far = plan.device[there]
            mac = MAC.format(far >> 16 & 255, far >> 8 & 255, far & 255)
            name = plan.hosts.names[far]
            yield Ear(port, speed, name, plan.port_name[there] or plan.label[there], not plan.is_switch(far), mac)


Files = dict[str, str]
Writer = Callable[[str, list[Ear]], Files]


def dump(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def reports(ears: list[Ear]) -> list[Ear]:
    return [ear for ear in ears if ear.system]


def eos(device: str, ears: list[Ear]) -> Files:
    rows = [
        {"port": ear.port, "neighborDevice": ear.system, "neighborPort": ear.far_port, "ttl": 120} for ear in reports(ears)
    ]
    head = {"tablesLastChangeTime": 1652231658.9, "tablesAgeOuts": 2, "tablesInserts": 5, "lldpNeighbors": rows}
    return {f"{device}.json": dump(head | {"tablesDeletes": 3, "tablesDrops": 0}), f"{device}_status.json": eos_status(ears)}


def eos_status(ears: list[Ear]) -> str:
    statuses = {
        ear.port: {
            "vlanInformation": {"interfaceMode": "routed", "interfaceForwardingModel": "routed"},
            "bandwidth": ear.speed_gbps * 1_000_000_000 if ear.system else 0,
            "interfaceType": "400GBASE-CR8",
            "description": "",
            "autoNegotiateActive": False,
            "duplex": "duplexFull",
            "linkStatus": "connected" if ear.system else "notconnect",
            "lineProtocolStatus": "up" if ear.system else "down",
        }
        for ear in ears
    }
    statuses["Management1"] = {"bandwidth": 1_000_000_000, "linkStatus": "connected"}
    return dump({"interfaceStatuses": statuses})


def eos_detail(device: str, ears: list[Ear]) -> Files:
    """As eAPI wraps it, names with their domain, the port id in quotes of its own."""
    neighbors = {
        ear.port: {
            "lldpNeighborInfo": [
                {
                    "chassisIdType": "macAddress",
                    "chassisId": _dotted(ear.mac),
                    "systemName": f"{ear.system}.dc1.example",
                    "neighborInterfaceInfo": {
                        "interfaceIdType": "interfaceName",
                        "interfaceId": f'"{ear.far_port}"',
                        "interfaceId_v2": ear.far_port,
                        "interfaceDescription": f"to {device} {ear.port}",
                    },
                    "ttl": 120,
                }
            ]
        }
        for ear in reports(ears)
    }
    neighbors |= {ear.port: {"lldpNeighborInfo": []} for ear in ears if not ear.system}
    result = [{"hostname": device, "fqdn": f"{device}.dc1.example"}, {"lldpNeighbors": neighbors}]
    status = json.loads(eos_status(ears))
    return {f"device{hash_of(device)}.json": dump({"jsonrpc": "2.0", "id": "1", "result": [*result, status]})}


def nxos(device: str, ears: list[Ear]) -> Files:
    """The short form: `Eth1/1`, a name as chassis id, one row without a list around it."""
    rows: list[dict[str, Any]] = [
        {
            "chassis_type": "7",
            "chassis_id": ear.system,
            "l_port_id": ear.port.replace("Ethernet", "Eth"),
            "hold_time": "120",
            "system_capability": "BR",
            "enabled_capability": "BR",
            "port_type": "5",
            "port_id": ear.far_port,
            "mgmt_addr_type": "802",
            "mgmt_addr": _dotted(ear.mac),
        }
        for ear in reports(ears)
    ]
    table = {"neigh_hdr": "neigh_hdr", "TABLE_nbor": {"ROW_nbor": rows[0] if len(rows) == 1 else rows}}
    return {f"{device}.json": dump(table | {"neigh_count": str(len(rows))}), f"{device}-status.json": nxos_status(ears)}


def nxos_status(ears: list[Ear]) -> str:
    rows = [
        {
            "interface": ear.port,
            "name": "--",
            "state": "connected" if ear.system else "xcvrAbsent",
            "vlan": "routed",
            "duplex": "full" if ear.system else "auto",
            "speed": f"{ear.speed_gbps}G" if ear.system else "auto",
            "type": "QSFP-DD-400G-DR4",
        }
        for ear in ears
    ]
    return dump({"TABLE_interface": {"ROW_interface": rows}})


def nxos_detail(device: str, ears: list[Ear]) -> Files:
    """Through NX-API, with the name of the switch in `show version` beside it."""
    rows = [
        {
            "chassis_type": "4",
            "chassis_id": _dotted(ear.mac),
            "port_type": "5",
            "port_id": ear.far_port,
            "l_port_id": ear.port.replace("Ethernet", "Eth"),
            "port_desc": "null",
            "sys_name": ear.system.upper(),
            "sys_desc": "Cisco Nexus Operating System (NX-OS) Software",
            "ttl": "99",
            "system_capability": "B, R",
            "mgmt_addr_type": "IPV4",
            "vlan_id": "not advertised",
        }
        for ear in reports(ears)
    ]
    bodies = [
        {"host_name": device, "nxos_ver_str": "10.4(3)", "chassis_id": "Nexus9000 C9364D-GX2A"},
        {"TABLE_nbor_detail": {"ROW_nbor_detail": rows[0] if len(rows) == 1 else rows}, "neigh_count": str(len(rows))},
        json.loads(nxos_status(ears)),
    ]
    output = [{"code": "200", "msg": "Success", "body": body} for body in bodies]
    return {f"n{hash_of(device)}.json": dump({"ins_api": {"outputs": {"output": output}, "type": "cli_show"}})}


def junos(device: str, ears: list[Ear]) -> Files:
    """A session at the console, and the interfaces in a file of their own."""
    rows = [
        {
            "lldp-local-port-id": _data(ear.port),
            "lldp-local-parent-interface-name": _data("-"),
            "lldp-remote-chassis-id-subtype": _data("Mac address"),
            "lldp-remote-chassis-id": _data(ear.mac),
            "lldp-remote-port-description": _data(ear.far_port),
            "lldp-remote-system-name": _data(ear.system),
        }
        for ear in reports(ears)
    ]
    table = {"lldp-neighbors-information": [{"attributes": {"junos:style": "brief"}, "lldp-neighbor-information": rows}]}
    session = (
        f"{{master:0}}\nadmin@{device}> show lldp neighbors | display json\n{dump(table)}\n{{master:0}}\nadmin@{device}> \n"
    )
    return {f"session-{hash_of(device)}.txt": session, f"{device}-interfaces.json": junos_interfaces(ears)}


def junos_detail(device: str, ears: list[Ear]) -> Files:
    """The local port beside its SNMP index; the far end sends its index and its port's name as description."""
    rows = [
        {
            "lldp-local-interface": _data(ear.port),
            "lldp-local-port-id": _data(str(500 + at)),
            "lldp-remote-chassis-id": _data(ear.mac),
            "lldp-remote-port-id-subtype": _data("Locally assigned"),
            "lldp-remote-port-id": _data(str(700 + at)),
            "lldp-remote-port-description": _data(ear.far_port),
            "lldp-remote-system-name": _data(ear.system),
            "lldp-system-description": [{"lldp-remote-system-description": _data("Juniper Networks, Inc. qfx5240")}],
        }
        for at, ear in enumerate(reports(ears))
    ]
    table = {"lldp-neighbors-information": [{"attributes": {"junos:style": "detail"}, "lldp-neighbor-information": rows}]}
    return {f"{device}/lldp.json": dump(table), f"{device}/interfaces.json": junos_interfaces(ears)}


def junos_interfaces(ears: list[Ear]) -> str:
    rows = [
        {
            "name": _data(ear.port),
            "admin-status": [{"data": "up", "attributes": {"junos:format": "Enabled"}}],
            "oper-status": _data("up" if ear.system else "down"),
            "snmp-index": _data("504"),
            "speed": _data(f"{ear.speed_gbps}Gbps"),
        }
        for ear in ears
    ]
    return dump({"interface-information": [{"attributes": {"junos:style": "normal"}, "physical-interface": rows}]})


def nvue(device: str, ears: list[Ear]) -> Files:
    ports = {
        ear.port: {
            "link": {"oper-status": "up" if ear.system else "down", "admin-status": "up", "speed": f"{ear.speed_gbps}G"},
            "lldp": {"dcbx-pfc-tlv": "off"}
            | (
                {
                    "neighbor": {
                        ear.system: {
                            "age": "812",
                            "chassis": {
                                "capability": {"is-bridge": "on", "is-router": "on"},
                                "chassis-id": ear.mac,
                                "system-description": "Cumulus Linux version 5.9.1 running on Mellanox",
                                "system-name": ear.system,
                            },
                            "port": {
                                "description": f"{device} {ear.port}",
                                "name": ear.far_port,
                                "ttl": 120,
                                "type": "ifname",
                            },
                        }
                    }
                }
                if ear.system
                else {}
            ),
            "type": "swp",
        }
        for ear in ears
    }
    oob = {"chassis": {"chassis-id": "02:00:00:00:00:01", "system-name": "oob-switch"}, "port": {"name": "swp10"}}
    ports["eth0"] = {"link": {"oper-status": "up", "speed": "1G"}, "lldp": {"neighbor": {"oob-switch": oob}}, "type": "eth"}
    return {f"{device}.json": dump(ports)}


def lldpd(device: str, ears: list[Ear]) -> Files:
    """`lldpctl -f json`: one interface alone is a mapping, several are a list."""
    rows = [{ear.port: _lldpd(ear)} for ear in reports(ears)]
    found = rows[0] if len(rows) == 1 else rows
    return {f"{device}.lldp.json": dump({"lldp": {"interface": found} if rows else {}})}


def _lldpd(ear: Ear) -> dict[str, Any]:
    kind, identity = ("mac", ear.mac) if ear.server else ("ifname", ear.far_port)
    chassis = {"id": {"type": "mac", "value": ear.mac}, "descr": "Debian", "mgmt-ip": "192.0.2.1"}
    return {
        "via": "LLDP",
        "rid": "1",
        "age": "0 day, 00:12:01",
        "chassis": {ear.system: chassis},
        "port": {
            "id": {"type": kind, "value": identity},
            "descr": ear.far_port if kind == "mac" else "uplink",
            "ttl": "120",
            "auto-negotiation": {"supported": True, "enabled": False, "current": f"{ear.speed_gbps}GbaseCR4 - 4 lanes"},
        },
    }


def lldpd_json0(device: str, ears: list[Ear]) -> Files:
    rows = [
        {
            "name": ear.port,
            "via": "LLDP",
            "chassis": [{"id": [{"type": "mac", "value": ear.mac}], "name": [{"value": ear.system}]}],
            "port": [
                {
                    "id": [{"type": "ifname", "value": ear.far_port}],
                    "descr": [{"value": ear.far_port}],
                    "auto-negotiation": [{"supported": True, "current": [{"value": f"{ear.speed_gbps}GbaseSR4 - 4 lanes"}]}],
                }
            ],
        }
        for ear in reports(ears)
    ]
    port_name = {
        "local-chassis": [{"chassis": [{"id": [{"type": "mac", "value": "02:00:00:00:00:09"}], "name": [{"value": device}]}]}]
    }
    return {f"host{hash_of(device)}.txt": dump({"lldp": [{"interface": rows}]}) + dump(port_name)}


def sonic_table(device: str, ears: list[Ear]) -> Files:
    """`show lldp table` and `show interfaces status` in one session, port ids as the far end's SKU has them."""
    lines = [f"admin@{device}:~$ show lldp table", "Capability codes: (R) Router, (B) Bridge, (O) Other"]
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    lines += _tabulated(head, [(ear.port, ear.system, ear.far_port, "BR", f"{device} {ear.port}") for ear in reports(ears)])
    lines += ["-" * 50, f"Total entries displayed:  {len(reports(ears))}", f"admin@{device}:~$ show interfaces status"]
    status = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
    rows = [
        (ear.port, "0,1,2,3", f"{ear.speed_gbps}G", "9216", "rs", f"etp{at}x", "routed", _oper(ear), "up", "OSFP 8X", "N/A")
        for at, ear in enumerate(ears)
    ]
    return {f"capture-{hash_of(device)}.log": "\n".join([*lines, *_tabulated(status, rows, ">")]) + "\n"}


def sonic_neighbors(device: str, ears: list[Ear]) -> Files:
    rule = "-" * 79
    lines = [rule, "LLDP neighbors:", rule]
    for ear in reports(ears):
        lines += [
            f"Interface:    {ear.port}, via: LLDP, RID: 2, Time: 0 day, 12:21:21",
            "  Chassis:     ",
            f"    ChassisID:    mac {ear.mac}",
            f"    SysName:      {ear.system}",
            "    SysDescr:     SONiC Software Version: SONiC.202505",
            "    Capability:   Router, on",
            "  Port:        ",
            f"    PortID:       local {ear.far_port}",
            f"    PortDescr:    {device} {ear.port}",
            "    TTL:          120",
            "    PMD autoneg:  supported: yes, enabled: no",
            f"      MAU oper type: {ear.speed_gbps}GbaseCR4 - 100GBASE-CR4 PHY",
            rule,
        ]
    return {f"{device}_lldp.txt": "\n".join(lines) + "\n"}


def sonic_db(device: str, ears: list[Ear]) -> Files:
    """`sonic-db-dump -n APPL_DB`."""
    tables: dict[str, dict[str, str]] = {"LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": device, "lldp_loc_chassis_id": "x"}}
    for ear in ears:
        port = {
            "admin_status": "up",
            "alias": f"etp{ear.port[8:]}",
            "oper_status": _oper(ear),
            "speed": f"{ear.speed_gbps}000",
        }
        tables[f"PORT_TABLE:{ear.port}"] = port | {"index": "1", "lanes": "1,2,3,4"}
    for ear in reports(ears):
        tables[f"LLDP_ENTRY_TABLE:{ear.port}"] = {
            "lldp_rem_chassis_id_subtype": "4",
            "lldp_rem_chassis_id": ear.mac,
            "lldp_rem_port_id_subtype": "7",
            "lldp_rem_port_id": ear.far_port if ear.server else f"etp{ear.far_port[8:]}",
            "lldp_rem_sys_name": ear.system,
            "lldp_rem_port_desc": f"{device} {ear.port}",
        }
    rows = {key: {"expireat": 1722.1, "ttl": -0.001, "type": "hash", "value": value} for key, value in tables.items()}
    return {f"dump{hash_of(device)}.json": dump(rows | {"ROUTE_TABLE:0.0.0.0/0": {"type": "hash", "value": {}}})}


def hash_of(device: str) -> int:
    """A number in a file's name, so that the name does not tell the device."""
    return sum(ord(sign) * 31**at for at, sign in enumerate(device)) % 1_000_003


def _data(text: str) -> list[dict[str, str]]:
    return [{"data": text}]


def _dotted(mac: str) -> str:
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def _oper(ear: Ear) -> str:
    return "up" if ear.system else "down"


def _tabulated(head: tuple[str, ...], rows: list[tuple[str, ...]], align: str = "<") -> list[str]:
    wide = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    table = [head, tuple("-" * width for width in wide), *rows]
    return ["  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, wide, strict=True)).rstrip() for row in table]


# Writer → the intent whose switches print so, and whether speeds are reported.
WRITERS: dict[str, tuple[str, Writer]] = {
    "eos": ("ai-eos", eos),
    "eos-detail": ("ai-eos", eos_detail),
    "nxos": ("ai-nxos", nxos),
    "nxos-detail": ("ai-nxos", nxos_detail),
    "junos": ("ai-junos", junos),
    "junos-detail": ("ai-junos", junos_detail),
    "nvue": ("ai-cumulus", nvue),
    "cumulus-lldpctl": ("ai-cumulus", lldpd),
    "lldpd": ("ai-frr", lldpd),
    "lldpd-json0": ("ai-frr", lldpd_json0),
    "sonic-table": ("ai-sonic", sonic_table),
    "sonic-neighbors": ("ai-sonic", sonic_neighbors),
    "sonic-lldpctl": ("ai-sonic", lldpd),
    "sonic-db": ("ai-sonic", sonic_db),
}


def write(folder: Path, floor: Floor, writer: Writer, roles: tuple[str, ...] = ("leaf", "spine", "core")) -> list[Path]:
    """Files of every device of these roles."""
    paths = []
    for device, role in zip(floor.plan.hosts.names, floor.plan.roles, strict=True):
        if role in roles:
            for name, text in writer(device, list(floor.ears(device))).items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                paths.append(path)
    return paths
