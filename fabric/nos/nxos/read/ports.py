"""Reads the interfaces of NX-OS: ports, channels, VLAN interfaces, loopbacks, and ranges of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface

from fabric.model.facts import MANAGEMENT, Interface, Located
from fabric.nos.nxos.read.words import HEADS, Rules, vrf_name
from fabric.nos.reading import esi, mac, numbers, prefix
from fabric.nos.reading.rules import Below, Line, add, below, keep, known, put, switch

TRUNKS = ("trunk", "fex-fabric", "dot1q-tunnel")
SUBINTERFACE = re.compile(r"(?:Ethernet|port-channel)[\d/]+\.\d+")
FEC = {"r": "rs", "f": "fc", "o": "none"}  # by first letter; `auto` leaves it to the port
EVERY_VLAN = 4094  # a trunk that allows all of them says nothing about any


@dataclass(slots=True, kw_only=True)
class Port:
    """An interface as its lines say it, in any order; `close` makes the facts of it."""

    target: Interface
    mode: str = "access"
    routed: bool = False  # `no switchport`
    access: Located[int] | None = None
    native: Located[int] | None = None
    trunk: list[Located[int]] = field(default_factory=list)
    primary: Located[str] | None = None  # its IPv4 address: a later one takes the place of an earlier one
    more: list[Located[str]] = field(default_factory=list)  # IPv6 and secondary addresses
    anycast: bool = False
    forwards: Located[bool] | None = None  # IP without an address
    shared: list[Located[str]] = field(default_factory=list)  # virtual addresses, without a length
    system_mac: str = ""  # of an Ethernet segment …
    discriminator: Located[int] | None = None  # … and its number
    qos: dict[str, Located[str]] = field(default_factory=dict)  # "pfc", "watchdog", "classify", "queuing"

    def close(self) -> None:
        own = self.target
        own.access, own.trunk = (self.native, self.trunk) if self.mode in TRUNKS else (self.access, [])
        own.addresses = ([self.primary] if self.primary else []) + self.more
        shared = [Located(_with_length(parsed.value, own.addresses), parsed.line, parsed.file) for parsed in self.shared]
        if self.anycast:
            own.addresses, shared = [], own.addresses + shared
        own.gateways = shared
        if own.name.startswith("mgmt") and own.vrf is None:
            own.vrf = Located(MANAGEMENT, own.line, own.file)  # it can be in no other
        if self.discriminator and self.system_mac and own.esi is None:
            number = f"{self.discriminator.value & 0xFFFFFF:06x}"
            own.esi = Located(esi(f"03{mac(self.system_mac)}{number}"), self.discriminator.line, self.discriminator.file)


def _with_length(address: str, own: list[Located[str]]) -> str:
    """A virtual address has the length of the subnet that it lies in."""
    ip = ip_address(address)
    for parsed in own:
        network = ip_interface(parsed.value).network
        if ip.version == network.version and ip in network:
            return f"{ip}/{network.prefixlen}"
    return f"{ip}/{ip.max_prefixlen}"


# --- Lines ----------------------------------------------------------------------------------------------------


def _address(port: Port, line: Line) -> None:
    text = prefix(line[1])
    if text is None:
        raise ValueError("expected an address with its length")
    parsed = line.located(text)
    if ":" in text and ip_interface(text).ip.is_link_local:
        port.target.link_local = True
    elif ":" in text or "secondary" in line[2].split():
        port.more = [other for other in port.more if other.value != text] + [parsed]
    else:
        port.primary = parsed


def _link_local(port: Port, line: Line) -> None:
    port.target.link_local = True


def _anycast(port: Port, line: Line) -> None:
    port.anycast = True


def _virtual(port: Port, line: Line) -> None:
    """`ip` of HSRP, `address` of VRRP; HSRP for IPv6 may give a length, or say that it finds one itself."""
    if line[1] and not ip_address(line[1]).is_link_local:
        port.shared.append(line.located(str(ip_address(line[1]))))


def shut_by_default(ports: Iterable[Port]) -> None:
    """Routed ports are shut down unless `no shutdown` is stated; a config in which no port has it does not tell."""
    routed = [port for port in ports if port.routed or SUBINTERFACE.fullmatch(port.target.name)]
    if any(port.target.enabled and port.target.enabled.value for port in routed):
        for own in (port.target for port in routed):
            own.enabled = own.enabled or Located(False, own.line, own.file)


def _routed(port: Port, line: Line) -> None:
    port.routed = True


def _mode(port: Port, line: Line) -> None:
    port.mode = line[1].split(" ")[0]


def _allowed(port: Port, line: Line) -> None:
    change, vlans = line[1], numbers(line[2])
    if len(vlans) >= EVERY_VLAN or change == "except":
        port.trunk = []
    elif change == "remove":
        port.trunk = [parsed for parsed in port.trunk if parsed.value not in vlans]
    else:
        port.trunk = (port.trunk if change == "add" else []) + [line.located(vlan) for vlan in vlans]


def _speed(port: Port, line: Line) -> None:
    if int(line[1]) >= 1000:  # in Mb/s; a management port may run at 100
        port.target.speed_gbps = line.located(int(line[1]) // 1000)


def _segment(port: Port, line: Line) -> Below:
    if line[1]:
        port.discriminator = line.located(int(line[1]))
    return SEGMENT, [port]


def _esi(port: Port, line: Line) -> None:
    digits = re.sub(r"[.:-]", "", line[1])
    if len(digits) != 20:
        raise ValueError("expected ten bytes")
    port.target.esi = line.located(esi(digits))


def _system_mac(port: Port, line: Line) -> None:
    port.system_mac = line[1]
    if line[2]:
        port.discriminator = line.located(int(line[2]))


VIRTUAL: Rules[Port] = Rules(
    {
        r"ip(?: (\d\S+))?(?: secondary)?": _virtual,
        r"ip (?:autoconfig|\S+:\S*)": known,
        r"address (\S+)(?: primary| secondary)?": _virtual,
    },
    HEADS["virtual address"],
)
SEGMENT: Rules[Port] = Rules(
    {
        r"esi system-mac (\S+)(?: (\d{1,8}))?": _system_mac,
        r"esi (\S+)(?: .*)?": _esi,
        r"system-mac (\S+)(?: (\d{1,8}))?": _system_mac,
    },
    "identifier, route-target, df-election, tracking",
)
PORT: Rules[Port] = Rules(
    {
        r"description (.+)": keep("target.description"),
        r"shutdown(?: force)?": switch("target.enabled", False),
        r"no shutdown": switch("target.enabled", True),
        r"ip address dhcp.*": known,
        r"ip address (\S+/\d+|\S+ \d+\.\d+\.\d+\.\d+)(.*)": _address,
        r"ip dhcp relay address (\S+).*": add("target.relays"),
        r"ip forward": switch("forwards", True),
        r"ip access-group (\S+) (?:in|out)": add("target.filters"),
        r"ip port access-group (\S+) (?:in|out)": add("target.filters"),
        r"mac port access-group (\S+)(?: in| out)?": add("target.filters"),
        r"ipv6 address use-link-local-only": _link_local,
        r"ipv6 link-local .+": _link_local,
        r"ipv6 address (?:dhcp|autoconfig|default).*": known,
        r"ipv6 address (\S+/\d+)(.*)": _address,
        r"ipv6 traffic-filter (\S+) (?:in|out)": add("target.filters"),
        r"ipv6 port traffic-filter (\S+) (?:in|out)": add("target.filters"),
        r"mtu (\d{1,6})": keep("target.mtu", int),
        r"fec (rs-\S+|fc-fec|off)": keep("target.fec", lambda text: FEC[text[0]]),
        r"vrf member (\S+)": keep("target.vrf", vrf_name),
        r"speed (\d{1,7})": _speed,
        r"speed auto.*": known,
        r"encapsulation dot1q (\d{1,4})": keep("target.tag", int),
        r"no switchport": _routed,
        r"switchport mode (.+)": _mode,
        r"switchport access vlan (\d{1,4})": keep("access", int),
        r"switchport trunk native vlan (\d{1,4})": keep("native", int),
        r"switchport trunk allowed vlan (?:(add|except|remove) )?(\S.*)": _allowed,
        r"channel-group (\d{1,4})\b.*": keep("target.bond", lambda text: f"port-channel{int(text)}"),
        r"fabric forwarding mode anycast-gateway": _anycast,
        r"hsrp \d+(?: ipv[46])?": below(VIRTUAL),
        r"vrrp \d+": below(VIRTUAL),
        r"vrrpv3 \d+ address-family ipv[46]": below(VIRTUAL),
        r"ethernet-segment(?: vpc)?(?: (\d{1,8}))?": _segment,
        r"priority-flow-control mode (on|off|auto).*": put("qos", "pfc"),
        r"priority-flow-control watch-dog-interval (on|off).*": put("qos", "watchdog"),
        r"service-policy type queuing output (\S+)": put("qos", "queuing"),
        r"service-policy (?:type qos )?input (\S+)(?: no-stats)?": put("qos", "classify"),
    },
    HEADS["interface"],
)  # fmt: skip
