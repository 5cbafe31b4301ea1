"""Interfaces of a Junos config: a port says what its units share, a unit has the addresses.

`mtu` of a port counts the headers of a frame, `mtu` of a family does not; an interface's MTU is the smallest that results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fabric.model.facts import MANAGEMENT, Cage, Facts, Interface, Located
from fabric.nos.junos.read.instances import Place, Vlans
from fabric.nos.junos.read.tree import NOTHING, Node, find, logical, number
from fabric.nos.reading import esi, gbps, mac, numbers, prefix
from fabric.nos.reading.packet_filters import Conditions, keep_rule

IN_TERMS = frozenset({"protocol", "source-address", "destination-address", "source-port", "destination-port"})
ETHERNET_BYTES = 14  # the checksum is not counted
TAG_BYTES = {"vlan-tagging": 4, "flexible-vlan-tagging": 8, "stacked-vlan-tagging": 8}  # kept free, used or not
FAMILIES = ("inet", "inet6")
SWITCHED = ("ethernet-switching", "bridge")
OPTIONS = ("ether-options", "gigether-options", "fastether-options")
NO_INTERFACE = ("traceoptions", "interface-set", "stacked-interface-set")
ONLY_UNITS = ("irb", "lo0", "vlan")  # of the switch itself, with nothing to plug a cable in
MANAGEMENT_PORT = re.compile(r"fxp\d+|em\d+|vme|me\d+|re\d+:mgmt-\d+")
PHYSICAL = re.compile(r"[a-z]+-(\d+/\d+/\d+)(:\d+)?")
MAX_CHANNELS = 8
FEC = {"fec91": "rs", "fec74": "fc", "none": "none"}
ESI = re.compile(r"(?:[0-9a-fA-F]{1,2}:){9}[0-9a-fA-F]{1,2}")


def read_interfaces(facts: Facts, root: Node, places: list[Place], vlans: Vlans) -> None:
    _Reader(facts, root, places, vlans).read()


class _Reader:
    def __init__(self, facts: Facts, root: Node, places: list[Place], vlans: Vlans) -> None:
        self.facts, self.ports, self.vlans = facts, root.at("interfaces"), vlans
        self.instances = {
            logical(parsed.value): Located(place.name, parsed.line, parsed.file)
            for place in places
            if place.name and not place.layer_2
            for parsed in place.node.every("interface")
        }
        self.management = root.at("system").flag("management-instance")
        self.gateways = vlans.gateways()
        self.cages = dict(_cage_speeds(root.at("chassis")))
        self.channels = dict(_channels(root.at("chassis")))
        self.members = {logical(parsed.value): (vlan, parsed) for vlan in vlans.every for parsed in vlan.members if vlan.id}

    def read(self) -> None:
        for name, port in self.ports.items():
            if name in NO_INTERFACE:
                continue
            units = port.at("unit")
            if "0" in units or name not in ONLY_UNITS:
                self.facts.interfaces[name] = self._interface(name, name, port, units.at("0"))
            for number_, unit in units.items():
                if number_ != "0":
                    self.facts.interfaces[f"{name}.{number_}"] = self._interface(f"{name}.{number_}", name, port, unit)
        self._split()

    def _split(self) -> None:
        """`et-0/0/5:1` is a port of a cage, which the port itself, the chassis, or on some models the module splits."""
        for name, port in self.ports.items():
            if (match := PHYSICAL.fullmatch(name)) and match[2]:
                whole = name.partition(":")[0]
                cage = self.facts.cages.setdefault(whole, Cage(name=whole, line=port.line, file=port.file, stated=False))
                cage.parts[name] = int(match[2][1:])
        for name, port in self.ports.items():
            stated = number(port.value("number-of-sub-ports"))
            match = PHYSICAL.fullmatch(name)
            ports = stated or (self.channels.get(match[1]) if match else None)
            if (ports and ":" not in name) or (name in self.facts.cages and ports):
                parts = self.facts.cages[name].parts if name in self.facts.cages else {}
                self.facts.cages[name] = Cage(name=name, line=ports.line, file=ports.file, ports=ports, parts=parts)
        for name, cage in list(self.facts.cages.items()):
            match = PHYSICAL.fullmatch(name)
            if cage.ports is None and match and (ports := self.channels.get(match[1])):
                self.facts.cages[name] = replace(cage, ports=ports)

    def _interface(self, name: str, port_name: str, port: Node, unit: Node) -> Interface:
        level = port if name == port_name else unit
        interface = Interface(name=name, line=level.line, file=level.file)
        interface.description = level.value("description") or unit.value("description")
        disabled = port.flag("disable") or port.flag("unused") or unit.flag("disable")
        interface.enabled = Located(False, disabled.line, disabled.file) if disabled else None
        interface.frame = number(port.value("mtu"))
        interface.mtu = min(_mtus(port, unit, interface.frame), key=lambda parsed: parsed.value, default=None)
        interface.vrf = self._vrf(name, port_name)
        interface.tag = self.gateways.get(name) or _tag(port, unit)
        interface.speed_gbps = self._speed(port_name, port)
        interface.bond = next((parsed for option in OPTIONS if option in port for parsed in _bonds(port[option])), None)
        levels = (port, unit) if level is port else (unit,)  # a segment of the port is that of its units as well
        interface.esi = next((segment for part in levels for segment in _segments(part)), None)
        self._segment(interface, port, [part.at("esi") for part in levels])
        interface.fec = _fec(port)
        interface.filters = [parsed for part in _filtered(unit) for parsed in _filters(part.at("filter"))]
        self._addresses(interface, unit)
        self._switching(interface, port, unit)
        return interface

    def _segment(self, interface: Interface, port: Node, segments: list[Node]) -> None:
        """What both leaves of a segment say alike; without `system-id` each shows the MAC address of its own switch."""
        if interface.esi is None:
            return
        for word in ("all-active", "single-active"):
            node = next((part[word] for part in segments if word in part), None)
            interface.esi_mode = Located(word, node.line, node.file) if node is not None else interface.esi_mode
        types = next((part["df-election-type"] for part in segments if "df-election-type" in part), NOTHING)
        kind = next(iter(types.every()), None)
        interface.election = Located("preference", kind.line, kind.file) if kind and kind.value == "preference" else None
        interface.preference = number(types.value("preference", "value"))
        lacp = port.at("aggregated-ether-options").get("lacp")
        stated = lacp.value("system-id") if lacp is not None else None
        if stated is not None:
            interface.lacp_system = Located(mac(stated.value), stated.line, stated.file)
        elif lacp is not None:
            interface.lacp_system = Located("", interface.esi.line, interface.esi.file)

    def _vrf(self, name: str, port_name: str) -> Located[str] | None:
        if name in self.instances:
            return self.instances[name]
        if self.management and MANAGEMENT_PORT.fullmatch(port_name):
            return Located(MANAGEMENT, self.management.line, self.management.file)
        return None

    def _speed(self, name: str, port: Node) -> Located[int] | None:
        """Of the port itself, of the cage that it is a part of, or of the cage as the chassis has it."""
        cage = self.ports.at(name.partition(":")[0])
        configured = next(_speeds(port), None) or (next(_speeds(cage), None) if cage is not port else None)
        physical = PHYSICAL.fullmatch(name)
        if configured is None and physical:
            configured = self.cages.get(physical[1])
        value = gbps(configured.value) if configured else None
        return Located(value, configured.line, configured.file) if configured and value else None

    # --- layer 3 ------------------------------------------------------------------------------------------------

    def _addresses(self, found: Interface, unit: Node) -> None:
        """An address of an interface with a MAC of its own is shared with other switches that say the same."""
        shared = "mac" in unit and found.name.startswith("irb")
        if found.name.startswith("irb"):
            self._anycast_mac(unit)
        for family in FAMILIES:
            for text, node in unit.at("family", family, "address").items():
                address = _with_length(text)
                if address and not address.startswith("fe80:"):
                    own = found.gateways if shared and "virtual-gateway-address" not in node else found.addresses
                    own.append(Located(address, node.line, node.file))
                    found.gateways += _virtual(node, address.partition("/")[2])
        found.link_local = "inet6" in unit.at("family") and not found.addresses and not found.gateways

    def _anycast_mac(self, unit: Node) -> None:
        for word in ("mac", "virtual-gateway-v4-mac", "virtual-gateway-v6-mac"):
            if (configured := unit.value(word)) and self.facts.anycast_mac is None:
                self.facts.anycast_mac = Located(mac(configured.value), configured.line, configured.file)

    # --- layer 2 ------------------------------------------------------------------------------------------------

    def _switching(self, interface: Interface, port: Node, unit: Node) -> None:
        family = next((unit.at("family", kind) for kind in SWITCHED if kind in unit.at("family")), NOTHING)
        if family is NOTHING and interface.name not in self.members:
            return
        mode = family.value("interface-mode") or family.value("port-mode")
        words = family.every("vlan", "members") + family.every("vlan-id") + family.every("vlan-id-list")
        carried = [
            Located(vlan, parsed.line, parsed.file)
            for parsed in words
            for vlan in self.vlans.ids(parsed.value, interface.name)
        ]
        if interface.name in self.members and interface.tag is None:
            vlan, parsed = self.members[interface.name]
            if vlan.id:
                carried.append(Located(vlan.id.value, parsed.line, parsed.file))
        if mode is None or mode.value == "access":
            if len(carried) > 1 and interface.name not in self.members:
                text = f"{interface.name}: an access port is in one VLAN, not in {len(carried)}: Junos refuses the file"
                self.facts.broken.append(Located(text, carried[0].line, carried[0].file))
            interface.access, interface.trunk = (carried[0] if carried else None), carried[1:]  # one is all that Junos takes
            return
        native = number(
            next((configured for part in (port, unit, family) if (configured := part.value("native-vlan-id"))), None)
        )
        untagged = {native.value} if native else set()
        interface.trunk = [parsed for parsed in carried if parsed.value not in untagged]
        interface.access = native if len(interface.trunk) < len(carried) else None


def _fec(port: Node) -> Located[str] | None:
    stated = next((found for option in OPTIONS if option in port and (found := port[option].value("fec"))), None)
    return Located(FEC[stated.value], stated.line, stated.file) if stated and stated.value in FEC else None


def _mtus(port: Node, unit: Node, frame: Located[int] | None) -> Iterator[Located[int]]:
    """Where two are the same the family's counts, for it is the MTU of IP."""
    for family in FAMILIES:
        if configured := number(unit.at("family", family).value("mtu")):
            yield configured
    if frame:
        tags = max((size for word, size in TAG_BYTES.items() if word in port), default=0)
        mode = unit.at("family", "ethernet-switching").value("interface-mode")
        if mode and mode.value == "trunk":
            tags = max(tags, TAG_BYTES["vlan-tagging"])
        yield Located(frame.value - ETHERNET_BYTES - tags, frame.line, frame.file)


def _tag(port: Node, unit: Node) -> Located[int] | None:
    """The native VLAN of a port is not tagged."""
    tag, native = number(unit.value("vlan-id")), number(port.value("native-vlan-id"))
    return None if tag and native and tag.value == native.value else tag


def _speeds(port: Node) -> Iterator[Located[str]]:
    if configured := port.value("speed"):
        yield configured
    for option in OPTIONS:
        if option in port and (configured := port[option].value("speed")):
            yield configured


def _cage_speeds(chassis: Node) -> Iterator[tuple[str, Located[str]]]:
    """`fpc 0 pic 0 port 5 speed 100g`: cage 0/0/5."""
    for fpc, slot in chassis.at("fpc").items():
        for pic, card in slot.at("pic").items():
            for port, node in card.at("port").items():
                if parsed := node.value("speed") or node.value("channel-speed"):
                    yield f"{fpc}/{pic}/{port}", parsed
            for low, node in card.at("port-range").items():
                for high, last in node.items():
                    if parsed := last.value("speed"):
                        yield from ((f"{fpc}/{pic}/{port}", parsed) for port in numbers(f"{low}-{high}"))


def _channels(chassis: Node) -> Iterator[tuple[str, Located[int]]]:
    """`port 5 number-of-sub-ports 4`; of a channel speed alone the number depends on the model: at most eight."""
    for (fpc, pic, port), node in find(chassis, "fpc * pic * port *"):
        stated, speed = number(node.value("number-of-sub-ports")), node.value("channel-speed")
        if stated or (speed and speed.value != "disable-auto-speed-detection"):
            yield (
                f"{fpc}/{pic}/{port}",
                stated or Located(MAX_CHANNELS, speed.line if speed else 0, speed.file if speed else ""),
            )


def _bonds(options: Node) -> Iterator[Located[str]]:
    for word in ("802.3ad", "ieee-802.3ad"):
        yield from (parsed for parsed in options.every(word) if parsed.value.startswith("ae"))


def _segments(part: Node) -> Iterator[Located[str]]:
    for parsed in part.every("esi"):
        if ESI.fullmatch(parsed.value):
            yield Located(esi(":".join(byte.zfill(2) for byte in parsed.value.split(":"))), parsed.line, parsed.file)


def _filtered(unit: Node) -> Iterator[Node]:
    yield unit
    yield from unit.at("family").values()


def read_packet_filters(facts: Facts, root: Node) -> None:
    """Filters of IPv4. A term without a verdict accepts, unless it leads to the next one; the rest is discarded."""
    firewall = root.at("firewall")
    for name, node in (firewall.at("filter") | firewall.at("family", "inet", "filter")).items():
        for term in node.at("term").values():
            conditions, ends = term.at("from"), term.at("then")
            if "next" in ends:
                continue
            stated = {word: [one.value for one in conditions.every(word)] for word in conditions}
            excepted = any("except" in part for part in conditions.values() for part in part.values())
            known = Conditions(
                permits="discard" not in ends and "reject" not in ends,
                protocols=stated.get("protocol", ()),
                sources=stated.get("source-address", ()),
                targets=stated.get("destination-address", ()),
                source_ports=stated.get("source-port", ()),
                target_ports=stated.get("destination-port", ()),
                narrowed=excepted or not IN_TERMS.issuperset(stated),
            )
            for rule in known.rules():
                keep_rule(facts, name, Located(rule, term.line, term.file))


def _filters(part: Node) -> Iterator[Located[str]]:
    for keyword in ("input", "input-list", "output", "output-list"):
        yield from part.every(keyword)


def _virtual(address: Node, length: str) -> Iterator[Located[str]]:
    """Of a virtual gateway, or of VRRP."""
    groups = [group for kind in ("vrrp-group", "vrrp-inet6-group") for group in address.at(kind).values()]
    words = ("virtual-address", "virtual-inet6-address")
    shared = address.every("virtual-gateway-address") + [
        parsed for group in groups for word in words for parsed in group.every(word)
    ]
    for parsed in shared:
        text = prefix(f"{parsed.value.partition('/')[0]}/{length}")
        if text and not text.startswith("fe80:"):
            yield Located(text, parsed.line, parsed.file)


def _with_length(text: str) -> str | None:
    return prefix(text if "/" in text else f"{text}/{128 if ':' in text else 32}")
