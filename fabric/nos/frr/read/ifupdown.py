"""Reads /etc/network/interfaces of ifupdown2 (Cumulus Linux, Debian): ports, VRFs, bonds, bridges and VXLAN devices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from fabric.model.facts import Interface, Located, Secret, Vni
from fabric.nos.frr.read.words import Device, add_address, vrf_name
from fabric.nos.reading import each_name, mac, need_number, numbers, placeholder, prefix

# Attributes that are read here, and those that tell nothing a check asks for.
READ = frozenset((
    "address", "address-virtual", "alias", "bond-slaves", "bridge-access", "bridge-arp-nd-suppress", "bridge-ports",
    "bridge-pvid", "bridge-vids", "bridge-vlan-vni-map", "clagd-vxlan-anycast-ip", "dns-nameserver", "dns-nameservers",
    "es-sys-mac", "hwaddress", "link-down", "link-speed", "mtu", "netmask", "vlan-id", "vlan-raw-device", "vrf",
    "vrf-table", "vrrp", "vxlan-id", "vxlan-local-tunnelip",
))  # fmt: skip
PASSED = frozenset((
    "accept-ra", "arp-accept", "autoconf", "broadcast", "clag-id", "dad-attempts", "dns-search", "es-df-pref",
    "gateway", "hostname", "ip-forward", "ip6-forward", "ipv6-addrgen", "metric", "network", "pointopoint",
    "preferred-lifetime", "ptm-enable", "scope", "tunnel-ttl", "vlan-protocol",
))  # fmt: skip
INCLUDES = frozenset(("source", "source-directory"))  # other files, which are read where they are in the folder
PASSED_STEMS = ("arp-", "bond-", "bridge-", "clagd-", "ethtool-", "link-", "mpls-", "mstpctl-", "offload-", "vxlan-")
# Commands around the coming up of a device that change nothing that a check looks at.
HOOKS = frozenset(("up", "down", "pre-up", "post-up", "pre-down", "post-down"))
HARMLESS = re.compile(
    r"(?:sudo )?(?:/(?:usr/)?s?bin/)?"
    r"(?:bridge (?:fdb|link|vlan)|echo|ethtool|ip (?:-[46] )?(?:link set|neigh|route|rule)|lldpcli|sleep|sysctl|tc|true)\b"
)
CHOSEN = re.compile(r"00:00:5e:|.[26ae]:", re.IGNORECASE)  # MACs of virtual routers, and locally administered ones
FDB_COMMAND = re.compile(r"(?:sudo )?bridge fdb (?:add|append|replace) ")
ADDRESS_COMMAND = re.compile(r"^(?:sudo )?ip (?:-[46] )?addr?(?:ess)? add(?:ress)? (\S+)")


@dataclass(slots=True)
class Stanza:
    """A device of the kernel: what all its `iface` sections say."""

    name: str
    line: int
    file: str
    attributes: dict[str, list[Located[str]]] = field(default_factory=dict)

    def all(self, *names: str) -> list[Located[str]]:
        return [parsed for name in names for parsed in self.attributes.get(name, ())]

    def one(self, name: str) -> Located[str] | None:
        """A later line overwrites an earlier one."""
        return self.attributes[name][-1] if name in self.attributes else None

    def number(self, name: str) -> Located[int] | None:
        parsed = self.one(name)
        return Located(need_number(parsed.value), parsed.line, parsed.file) if parsed else None


def read_interfaces(device: Device, file: str, text: str) -> dict[str, Stanza]:
    """Adds what a file says to the device; gives its sections."""
    stanzas = _sections(device, file, text)
    _Ifupdown(device, stanzas).read()
    return stanzas


def _sections(device: Device, file: str, text: str) -> dict[str, Stanza]:
    """The text by device; a line after `iface` belongs to it until the next one, whatever the indentation."""
    facts = device.facts
    stanzas: dict[str, Stanza] = {}
    now: Stanza | None = None
    for number, line in _statements(text):
        facts.statements += 1
        head, *rest = line.split(None, 1)
        head, value = head.replace("_", "-"), rest[0] if rest else ""  # Debian's own names have underscores
        if head == "iface" and value and "$" not in value:
            name, *words = value.split()
            now = stanzas.setdefault(name, Stanza(name, number, file))
            if "inherits" in words:
                facts.unread.append(Located(line, number, file))
        elif head in ("auto", "iface") or head.startswith("allow-"):
            now = None
            if head == "iface" or "$" in value:
                facts.unread.append(Located(line, number, file))
        elif head in INCLUDES:
            now = None
        elif now and (head in READ or (head in HOOKS and (ADDRESS_COMMAND.match(value) or FDB_COMMAND.match(value)))):
            name = head if head in READ else "address" if ADDRESS_COMMAND.match(value) else "fdb"
            now.attributes.setdefault(name, []).append(Located(value, number, file))
        elif now is None and (head in READ or head in PASSED):
            facts.broken.append(Located(f"`{head}` belongs below an `iface` line", number, file))
        elif not (now and (head in PASSED or head.startswith(PASSED_STEMS) or (head in HOOKS and HARMLESS.match(value)))):
            facts.unread.append(Located(line, number, file))
    return stanzas


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments; one that ends with a backslash goes on in the next."""
    begun, start = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not begun and line[:1] in ("", "#"):
            continue
        start = start or number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        yield start, begun + line
        begun, start = "", 0
    if begun.strip():
        yield start, begun.strip()


class _Ifupdown:
    def __init__(self, device: Device, stanzas: dict[str, Stanza]) -> None:
        self.device, self.facts, self.stanzas = device, device.facts, stanzas

    def read(self) -> None:
        for stanza in self.stanzas.values():
            for step in (self._device, self._vxlan, self._services):
                try:
                    step(stanza)
                except ValueError as mistake:
                    self.facts.broken.append(Located(f"iface {stanza.name}: {mistake}", stanza.line, stanza.file))
        for stanza in self.stanzas.values():
            self._bridge(stanza)
            self._bond(stanza)
        self._anycast()

    def _device(self, stanza: Stanza) -> None:
        if "vrf-table" in stanza.attributes:
            name = vrf_name(stanza.name)
            self.device.vrf(name, stanza.line, stanza.file)
            if all(parsed.value.startswith(("127.", "::1")) for parsed in stanza.all("address")):
                return
        if "vxlan-id" in stanza.attributes or "bridge-vlan-vni-map" in stanza.attributes:
            return
        port = self.device.interface(stanza.name, stanza.line, stanza.file)
        port.description = port.description or stanza.one("alias")
        port.mtu = stanza.number("mtu")
        speed = stanza.number("link-speed")
        port.speed_gbps = Located(speed.value // 1000, speed.line, speed.file) if speed else None
        port.tag = self._tag(stanza)
        port.access = stanza.number("bridge-access")
        down = stanza.one("link-down")
        port.enabled = Located(down.value not in ("yes", "on"), down.line, down.file) if down else port.enabled
        if vrf := stanza.one("vrf"):
            port.vrf = Located(vrf_name(vrf.value), vrf.line, vrf.file)
        elif "vrf-table" in stanza.attributes:
            port.vrf = Located(vrf_name(stanza.name), stanza.line, stanza.file)
        if system_mac := stanza.one("es-sys-mac"):
            self.device.system_macs.setdefault(stanza.name, Located(mac(system_mac.value), system_mac.line, system_mac.file))
        self._addresses(stanza, port)

    def _tag(self, stanza: Stanza) -> Located[int] | None:
        """VLAN of `swp1.100` or of a device with `vlan-id`."""
        configured = stanza.number("vlan-id")
        last = stanza.name.rpartition(".")[2]
        return configured or (
            Located(int(last), stanza.line, stanza.file) if "." in stanza.name and last.isdecimal() else None
        )

    def _addresses(self, stanza: Stanza, port: Interface) -> None:
        mask = stanza.one("netmask")
        for parsed in stanza.all("address"):
            command = ADDRESS_COMMAND.match(parsed.value)
            text = command[1] if command else parsed.value.split()[0] if parsed.value else ""
            address = _prefix(text, mask.value if mask else "")
            if address is None:
                self.facts.broken.append(Located(f"no address: {parsed.value}", parsed.line, parsed.file))
            elif not address.startswith("fe80:"):
                add_address(port.addresses, Located(address, parsed.line, parsed.file))
        for parsed in stanza.all("address-virtual", "vrrp"):
            first, *texts = parsed.value.split()
            if first.count(":") == 5:
                self._anycast_mac(parsed, first)
            port.gateways += (Located(address, parsed.line, parsed.file) for text in texts if (address := _prefix(text)))
        for parsed in stanza.all("clagd-vxlan-anycast-ip"):
            if address := _prefix(parsed.value):
                port.gateways.append(Located(address, parsed.line, parsed.file))

    def _vxlan(self, stanza: Stanza) -> None:
        """A device for each VNI, or one for many with `bridge-vlan-vni-map 10=1010 20-21=1020-1021`."""
        source = stanza.one("vxlan-local-tunnelip")
        if source and not self.facts.vtep:
            self.facts.vtep = source
        self.device.kernel = self.device.kernel or bool(stanza.one("vxlan-id") or stanza.one("bridge-vlan-vni-map"))
        self.facts.vxlan_port = stanza.number("vxlan-port") or self.facts.vxlan_port
        if number := stanza.number("vxlan-id"):
            own = self._vni(number.value, number)
            own.vlan = stanza.number("bridge-access") or own.vlan
            if parsed := stanza.one("bridge-arp-nd-suppress"):
                own.arp_suppress = Located(parsed.value in ("on", "yes"), parsed.line, parsed.file)
        for parsed in stanza.all("bridge-vlan-vni-map"):
            for pair in parsed.value.split():
                for vlan, vni in _mapped(pair):
                    self._vni(vni, parsed).vlan = Located(vlan, parsed.line, parsed.file)

    def _vni(self, number: int, parsed: Located[Any]) -> Vni:
        return self.device.vni(number, parsed.line, parsed.file)

    def _services(self, stanza: Stanza) -> None:
        for parsed in stanza.all("dns-nameservers", "dns-nameserver"):
            self.facts.services.dns += (Located(word, parsed.line, parsed.file) for word in parsed.value.split())
        for parsed in stanza.all("clagd-priv-key", "wpa-psk"):
            if not placeholder(parsed.value):
                self.facts.services.secrets.append(Located(Secret(f"key of {stanza.name}"), parsed.line, parsed.file))

    def _bridge(self, stanza: Stanza) -> None:
        """A port carries the VLANs of its bridge, unless it says otherwise; a VXLAN device beside `swp1.100` has VLAN 100."""
        members = list(_names(stanza.all("bridge-ports")))
        tags = {port.tag.value for name in members if (port := self.facts.interfaces.get(name)) and port.tag}
        for name in members:
            port_stanza = self.stanzas.get(name)
            port = self.facts.interfaces.get(name)
            vxlan = port_stanza.number("vxlan-id") if port_stanza and _is_number(port_stanza.one("vxlan-id")) else None
            if port_stanza and vxlan and len(tags) == 1 and self.facts.vnis[vxlan.value].vlan is None:
                self.facts.vnis[vxlan.value].vlan = Located(next(iter(tags)), stanza.line, stanza.file)
            if not port or not port_stanza or port.access:
                continue
            for parsed in port_stanza.all("bridge-vids") or stanza.all("bridge-vids"):
                port.trunk += (Located(vlan, parsed.line, parsed.file) for vlan in numbers(parsed.value))
            native = port_stanza.one("bridge-pvid") or stanza.one("bridge-pvid")
            if native and native.value.isdecimal():
                port.access = Located(int(native.value), native.line, native.file)

    def _bond(self, stanza: Stanza) -> None:
        for parsed in stanza.all("bond-slaves"):
            for name in _names([parsed]):
                self.device.interface(name, parsed.line, parsed.file).bond = Located(stanza.name, parsed.line, parsed.file)

    def _anycast(self) -> None:
        """A stretched VLAN with a MAC that no maker gave it, or that is kept local, is a gateway alike on every leaf."""
        stretched = {vni.vlan.value for vni in self.facts.vnis.values() if vni.vlan}
        for stanza in self.stanzas.values():
            own, port = stanza.one("hwaddress"), self.facts.interfaces.get(stanza.name)
            if not (own and port and port.tag and port.tag.value in stretched and port.addresses):
                continue
            address = own.value.split()[-1] if own.value else ""  # `hwaddress ether 02:…` is the older form
            if CHOSEN.match(address) or any(address in parsed.value.split() for parsed in stanza.all("fdb")):
                port.gateways += port.addresses
                port.addresses = []
                self._anycast_mac(own, address)

    def _anycast_mac(self, parsed: Located[str], text: str) -> None:
        self.facts.anycast_mac = self.facts.anycast_mac or Located(mac(text), parsed.line, parsed.file)


def _prefix(text: str, mask: str = "") -> str | None:
    """An address without a length is a host's."""
    return prefix(text if "/" in text else f"{text}/{mask or (128 if ':' in text else 32)}")


def _mapped(pair: str) -> Iterator[tuple[int, int]]:
    """(VLAN, VNI) of `10=1010`, `20-21=1020-1021`, `10=auto` and `10=auto+5000`."""
    left, _, right = pair.partition("=")
    vlans, shift = numbers(left), right.removeprefix("auto")
    if right.startswith("auto"):
        step = int(shift) if shift[1:].isdecimal() and shift[0] in "+-" and len(shift) < 10 else 0
        yield from ((vlan, vlan + step) for vlan in vlans)
    else:
        yield from zip(vlans, numbers(right), strict=False)


def _names(lists: list[Located[str]]) -> Iterator[str]:
    """`glob swp1-4 vni10` and `swp1 swp2`; a regular expression names nothing that is read here."""
    for parsed in lists:
        words = parsed.value.split()
        if "regex" in words:
            words = words[: words.index("regex")]
        yield from chain.from_iterable(each_name(word) for word in words if word not in ("glob", "none"))


def _is_number(parsed: Located[str] | None) -> bool:
    return bool(parsed and parsed.value.isdecimal() and len(parsed.value) < 10)
