"""Reads the ports of a SONiC switch: bonds, VLANs, loopbacks, subinterfaces, and their lossless classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabric.model.facts import MANAGEMENT, Ecn, Facts, Interface, Located, PortQos
from fabric.nos.frr.read.words import Device, add_address, vrf_name
from fabric.nos.reading import esi, mac, numbers, prefix
from fabric.nos.sonic.read.tables import Row, Tables

# --- Interfaces, their addresses and VRFs ---------------------------------------------------------------------

ROUTED = (
    "INTERFACE",
    "PORTCHANNEL_INTERFACE",
    "LOOPBACK_INTERFACE",
    "VLAN_INTERFACE",
    "VLAN_SUB_INTERFACE",
    "VOQ_INBAND_INTERFACE",
    "MGMT_INTERFACE",
)
SHORT = {"Eth": "Ethernet", "Po": "PortChannel"}  # names of subinterfaces may be short


def read_ports(device: Device, tables: Tables) -> None:
    """Ports and bonds first, so that subinterfaces find their parents."""
    for row in tables.rows("PORT", "PORTCHANNEL", "MGMT_PORT"):
        _port(device.interface(row.key, row.line, tables.file), row)
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
    for row in tables.rows("DEVICE_NEIGHBOR"):
        _cabled(device, row)


def read_segments(device: Device, tables: Tables) -> None:
    """Ethernet segments; `AUTO` makes one of the bond's number and MAC, which frr.conf tells as well."""
    for row in tables.rows("EVPN_ETHERNET_SEGMENT"):
        configured, bond = row.text("esi"), row.key
        port = device.facts.interfaces.get(bond)
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


# --- Classes: maps, schedulers, WRED, headroom, cable lengths and the PFC watchdog ----------------------------

CLASSES = range(8)
SAME = {number: number for number in CLASSES}  # where no map is bound


@dataclass(frozen=True, slots=True)
class Classes:
    """How the traffic classes of some ports are named; ports with the same maps share one."""

    priorities: dict[int, Located[int]]  # DSCP → priority
    names: Mapping[int, int]  # traffic class → priority
    queues: Mapping[int, int]  # traffic class → queue
    groups: Mapping[int, int]  # priority → priority group


def read_qos(facts: Facts, tables: Tables) -> None:
    """Fills the classes of every port that has any."""
    _Qos(facts, tables).read()


class _Qos:
    def __init__(self, facts: Facts, tables: Tables) -> None:
        self.facts, self.tables = facts, tables
        self.maps: dict[tuple[str, str], dict[int, Located[int]]] = {}
        self.classes: dict[tuple[str, ...], Classes] = {}
        self.ecns: dict[str, Ecn | None] = {}

    def read(self) -> None:
        ports = {row.key: row for row in self.tables.rows("PORT")}
        maps = {port: row for row in self.tables.rows("PORT_QOS_MAP") for port in row.key.split(",")}
        queues, groups = self._by_port("QUEUE"), self._by_port("BUFFER_PG")
        lengths = {port: row.text(port) for row in self.tables.rows("CABLE_LENGTH") for port in row.fields.values}
        watched = self._watched()
        everywhere = maps.get("global")
        for port in ports:
            qos = PortQos(watchdog=watched.get(port), cable_length_m=_metres(lengths.get(port)))
            if port in maps or everywhere:
                self._classes(qos, maps.get(port), everywhere, queues.get(port, {}), groups.get(port, {}))
            if qos != PortQos():
                self.facts.interfaces[port].qos = qos

    def _by_port(self, table: str) -> dict[str, dict[int, Row]]:
        """Keys are `Ethernet0|3`, also with lists of ports and ranges; chassis put the host and the chip before."""
        found: dict[str, dict[int, Row]] = {}
        for row in self.tables.rows(table):
            ports, _, span = row.key.rpartition("|")
            for port in ports.rpartition("|")[2].split(","):
                for number in numbers(span):
                    found.setdefault(port, {})[number] = row
        return found

    def _classes(
        self, qos: PortQos, row: Row | None, everywhere: Row | None, queues: Mapping[int, Row], groups: Mapping[int, Row]
    ) -> None:
        enabled = row.text("pfc_enable") if row else None
        paused = numbers(enabled.value) if enabled else []
        classes = self._named(row, everywhere, tuple(paused))
        qos.priorities = classes.priorities
        if enabled:
            qos.pfc = [Located(number, enabled.line, enabled.file) for number in paused]
        for number, queue in classes.queues.items():
            if queue_row := queues.get(queue):
                self._queue(qos, classes.names[number], queue_row)
        for number, group in groups.items():
            profile = self._row("BUFFER_PROFILE", group.name("profile"))
            if profile and (xoff := profile.number("xoff")):
                for priority in [one for one in paused if classes.groups.get(one, one) == number] or [number]:
                    qos.xoff_bytes[priority] = xoff

    def _queue(self, qos: PortQos, priority: int, row: Row) -> None:
        scheduler = self._row("SCHEDULER", row.name("scheduler"))
        kind = scheduler.text("type") if scheduler else None
        weight = scheduler.number("weight") if scheduler else None
        if kind and kind.value == "STRICT":
            qos.strict.append(Located(priority, kind.line, kind.file))
        elif weight:
            qos.weights.setdefault(priority, weight)
        profile = row.name("wred_profile")
        if profile and (ecn := self._ecn(profile)):
            qos.ecn.setdefault(priority, ecn)

    def _named(self, row: Row | None, everywhere: Row | None, paused: tuple[int, ...]) -> Classes:
        """Names of the maps in force → the classes."""
        fields = ("dscp_to_tc_map", "tc_to_pg_map", "pfc_to_pg_map", "tc_to_queue_map")
        maps = [row.name(name) if row else None for name in fields]
        dscp = maps[0] or (everywhere.name(fields[0]) if everywhere else None)
        key = (*(parsed.value if parsed else "" for parsed in (dscp, *maps[1:])), str(paused))
        if key not in self.classes:
            to_group = _plain(self._map("TC_TO_PRIORITY_GROUP_MAP", maps[1])) or SAME
            groups = _plain(self._map("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", maps[2]))
            names = {number: number for number in CLASSES}
            for number, group in to_group.items():
                pausing = [one for one in paused if groups.get(one, one) == group]
                names[number] = pausing[0] if len(pausing) == 1 else number
            priorities = {
                point: Located(names.get(parsed.value, parsed.value), parsed.line, parsed.file)
                for point, parsed in self._map("DSCP_TO_TC_MAP", dscp).items()
            }
            queues = {
                number: queue for number, queue in _plain(self._map("TC_TO_QUEUE_MAP", maps[3])).items() if number in names
            }
            self.classes[key] = Classes(priorities, names, queues or SAME, groups)
        return self.classes[key]

    def _map(self, table: str, name: Located[str] | None) -> dict[int, Located[int]]:
        if name is None:
            return {}
        key = (table, name.value)
        if key not in self.maps:
            row = self.tables.row(table, name.value)
            pairs = ((point, row.number(point)) for point in row.fields.values) if row else ()
            self.maps[key] = {
                int(point): parsed for point, parsed in pairs if parsed and point.isdecimal() and len(point) < 4
            }
        return self.maps[key]

    def _row(self, table: str, name: Located[str] | None) -> Row | None:
        return self.tables.row(table, name.value) if name else None

    def _ecn(self, name: Located[str]) -> Ecn | None:
        """Thresholds of the colour that all packets have by default."""
        if name.value not in self.ecns:
            row = self._row("WRED_PROFILE", name)
            marks = row.text("ecn") if row else None
            colour = marks.value.removeprefix("ecn_").split("_")[0] if marks else "none"
            colour = "green" if colour == "all" else colour
            self.ecns[name.value] = None if row is None or colour == "none" else Ecn(
                row.number(f"{colour}_min_threshold"), row.number(f"{colour}_max_threshold"),
                row.number(f"{colour}_drop_probability"),
            )  # fmt: skip
        return self.ecns[name.value]

    def _watched(self) -> dict[str, Located[bool]]:
        """Ports that the watchdog looks at; its slowest detection is the switch's."""
        found: dict[str, Located[bool]] = {}
        for row in self.tables.rows("PFC_WD", "PFC_WD_TABLE"):
            time = row.number("detection_time")
            if time is None:
                continue
            for port in row.key.split(","):
                found[port] = Located(True, row.line, self.tables.file)
            if self.facts.watchdog_ms is None or self.facts.watchdog_ms.value < time.value:
                self.facts.watchdog_ms = time
        return found


def _plain(pairs: Mapping[int, Located[int]]) -> dict[int, int]:
    return {key: parsed.value for key, parsed in pairs.items()}


def _metres(parsed: Located[str] | None) -> Located[int] | None:
    """`40m` → 40."""
    digits = parsed.value.removesuffix("m") if parsed else ""
    return Located(int(digits), parsed.line, parsed.file) if parsed and digits.isdecimal() and len(digits) < 7 else None
