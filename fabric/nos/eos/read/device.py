"""Reads an EOS config: every line by tables of what it means; BGP and QoS have files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabric.model.facts import LOCALIZED, MANAGEMENT, Cage, Facts, Interface, Located, Secret
from fabric.nos.eos.read.bgp import HEADS, read_bgp, vrf_name
from fabric.nos.eos.read.overlay import TUNNEL, Overlay, vrf_of
from fabric.nos.eos.read.qos import Qos
from fabric.nos.eos.statements import LAYOUT, port_name
from fabric.nos.reading import (
    Section,
    community,
    each_name,
    esi,
    form_of,
    gbps,
    is_address,
    login_order,
    mac,
    numbers,
    placeholder,
    prefix,
    read_indented,
    read_route_maps,
    rule,
    settle,
    static_route,
    typed,
)
from fabric.nos.reading.rules import Below, Line, Reading, Rules, access_list, add, below, keep, known, prefix_list, switch

LITERAL = re.compile(r"(?=\S*[.:])[0-9A-Fa-f].*", re.A)
VLAN_MTU = 1500  # without `mtu` and `interface defaults`: `show interfaces vlan` prints "IP MTU 1500 bytes (default)"

# --- Secrets --------------------------------------------------------------------------------------------------

# Lines that end in a secret: their head, a word that must be in them, and what the secret is.
SECRETS = (
    ("enable password", "", "enable password"),
    ("enable secret", "", "enable password"),
    ("aaa root", "secret", "password of user root"),
    ("tacacs-server", "key", "key of tacacs-server"),
    ("radius-server", "key", "key of radius-server"),
    ("ntp authentication-key", "", "NTP key"),
)


def _secrets(config: Section, file: str) -> Iterator[Located[Secret]]:
    for text, part in config.each("username"):
        words = text.split()
        for key in ("secret", "password"):
            if key in words:
                yield from _secret(part, file, f"password of user {words[0]}", words[words.index(key) + 1 :], login=True)
    for text, part in config.each("snmp-server user"):
        words = text.split()
        for key in ("auth", "priv"):
            if key in words[:-1]:
                own = words[words.index(key) + 2 : words.index(key) + 3]  # behind its algorithm
                yield from _secret(part, file, f"SNMP {key} key of user {words[0]}", own, localized="localized" in words)
    for head, word, secret in SECRETS:
        for text, part in config.each(head):
            words = text.split()
            if not word or word in words[:-1]:
                yield from _secret(part, file, secret, words, login=head.startswith(("enable", "aaa root")))
    for _, bgp in config.each("router bgp"):
        for part in bgp.walk():
            words = part.line.split() if " password" in part.line else []
            if words[:1] == ["neighbor"] and "password" in words[2:3]:
                yield from _secret(part, file, f"BGP password of {words[1]}", words[3:])


def _secret(
    part: Section, file: str, what: str, words: list[str], login: bool = False, localized: bool = False
) -> Iterator[Located[Secret]]:
    """The secret that ends a line, unless a placeholder does."""
    kind, text = typed(words)
    if text and not placeholder(text):
        form = LOCALIZED if localized else form_of(text, kind)
        yield Located(Secret(what, form, login), part.number, file)


# --- Interfaces -----------------------------------------------------------------------------------------------


def _address(text: str) -> str | None:
    """An address with its length; None for a word as `dhcp`. ValueError for what was to be an address."""
    found = prefix(text)
    if found is None and LITERAL.fullmatch(text) and not is_address(text.split()[0]):
        raise ValueError("expected an address")
    return found


def _ipv4(port: Interface, line: Line) -> None:
    if own := _address(line[1]):
        if "secondary" not in line[1].split():
            port.addresses = [parsed for parsed in port.addresses if ":" in parsed.value]
        port.addresses.append(line.located(own))


def _ipv6(port: Interface, line: Line) -> None:
    if own := _address(line[1]):
        port.addresses.append(line.located(own))


def _gateway(port: Interface, line: Line) -> None:
    text = line[1].split()[0]
    if own := _address(line[1]) or (text if is_address(text) else None):
        port.gateways.append(line.located(own))


def _link_local(port: Interface, line: Line) -> None:
    port.link_local = True


def _trunk(port: Interface, line: Line) -> None:
    port.trunk += [line.located(vlan) for vlan in numbers(line[1])]


def _speed(port: Interface, line: Line) -> None:
    if (speed := gbps(line[1])) is not None:
        port.speed_gbps = line.located(speed)


def _esi(port: Interface, line: Line) -> None:
    value = esi(line[1])
    if re.fullmatch(r"(?:[0-9a-f]{2}:){9}[0-9a-f]{2}", value):
        port.esi = line.located(value)


def _election(port: Interface, line: Line) -> None:
    port.election = line.located(line[1])
    port.preference = line.located(int(line[2])) if line[2] else None


SEGMENT: Rules[Interface] = Rules(
    {
        r"identifier (.+)": _esi,
        r"redundancy (all-active|single-active)": keep("esi_mode"),
        r"designated-forwarder election algorithm (preference|modulus|hrw)(?: (\d{1,5})\b)?.*": _election,
    },
    None,
)
LANES = re.compile(r"\dg-(\d)\b")
LANE = re.compile(r"(Ethernet\d{1,3})/(\d{1,2})")
FEC = {"reed-solomon": "rs", "fire-code": "fc"}
INTERFACE: Rules[Interface] = Rules(
    {
        r"description(?: (.*))?": keep("description"),
        r"shutdown(?: .*)?": switch("enabled", False),
        r"no shutdown": switch("enabled", True),
        r"mtu (\d{1,11})(?: .*)?": keep("mtu", int),
        r"encapsulation (?:dot1q vlan )?(\d{1,11})(?: .*)?": keep("tag", int),
        r"vrf(?: (?:forwarding )?(.*))?": keep("vrf", vrf_name),
        r"channel-group(?: (\S+).*)?": keep("bond", lambda text: text and f"Port-Channel{text}"),
        r"speed (.+)": _speed,
        r"ip address virtual (.+)": _gateway,
        r"ip virtual-router address (.+)": _gateway,
        r"ip address (.+)": _ipv4,
        r"ip helper-address (\S+).*": add("relays"),
        r"ipv6 address virtual (.+)": _gateway,
        r"ipv6 address (.+)": _ipv6,
        r"ipv6 enable(?: .*)?": _link_local,
        r"(?:ip|ipv6) access-group (\S+).*": add("filters"),
        r"switchport (?:access|trunk native) vlan (\d{1,11})(?: .*)?": keep("access", int),
        r"switchport trunk allowed vlan (?:add )?(.+)": _trunk,
        r"evpn(?: .*)?": below(SEGMENT),
        r"lacp system-id (\S+)": keep("lacp_system", mac),
        r"error-correction encoding (reed-solomon|fire-code)": keep("fec", FEC.__getitem__),
        r"no error-correction encoding": switch("fec", "none"),
    },
    HEADS["interface"],
)

NEITHER: Rules[Device] = Rules({}, HEADS["interface"])  # defaults and profiles of interfaces

# --- The switch -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Device:
    """The whole config of one file."""

    facts: Facts
    config: Section
    qos: Qos
    overlay: Overlay = field(default_factory=Overlay)


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file."""
    facts = Facts(name=name, nos="eos", files=tuple(files))
    for file, text in files.items():
        config = read_indented(text, LAYOUT)
        reading = Reading(facts, file, strict=False)
        qos = Qos(config, file, LAYOUT.shown(text))
        facts.services.lldp = Located(True, 1, file)  # on by default
        if not any(text.startswith("defaults") for text, _ in config.each("interface")):
            facts.vlan_mtu = VLAN_MTU
        device = Device(facts, config, qos)
        DEVICE.over(Section(parts=sorted(config.parts, key=_place)), [device], reading)
        device.overlay.routed, device.overlay.tables = read_bgp(reading, config)
        device.overlay.close(facts)
        _without_lanes(facts, config, file)
        _own_system(facts, config)
        settle(facts)
        read_route_maps(facts, file, config)
        facts.services.secrets += _secrets(config, file)
        facts.watchdog_ms = facts.watchdog_least_ms = qos.watchdog_ms
        facts.watchdog_poll_ms, facts.hash_seed, facts.lossless = qos.poll_ms, qos.hash_seed, qos.lossless
        facts.unread.sort(key=lambda parsed: parsed.line)
        facts.statements += config.size
    return facts


def _place(section: Section) -> int:
    """VRFs are made before they are used."""
    return not section.line.startswith(("vrf instance ", "vrf definition "))


def _hostname(device: Device, line: Line) -> None:
    line.facts.name = line[1]
    line.facts.hostname = line.located(line[1])


def _vrf(device: Device, line: Line) -> None:
    if (name := vrf_name(line[1])) not in ("", MANAGEMENT):
        vrf_of(line, name)
        device.overlay.vrfs[name] = line.located(name)


def _vlans(device: Device, line: Line) -> None:
    device.overlay.vlans |= {vlan: line.located(vlan) for vlan in numbers(line[1])}


def _own_system(facts: Facts, config: Section) -> None:
    """A bond of LACP shows the MAC address of its own switch, unless `lacp system-id` is stated."""
    if not any(port.esi for port in facts.interfaces.values()):
        return
    active = {
        f"Port-Channel{part.line.split()[1]}"
        for _, port in config.each("interface")
        for part in port.parts
        if part.line.startswith("channel-group ") and part.line.endswith((" active", " passive"))
    }
    for name, port in facts.interfaces.items():
        if port.esi and port.lacp_system is None and name in active:
            port.lacp_system = Located("", port.esi.line, port.esi.file)


def _without_lanes(facts: Facts, config: Section, file: str) -> None:
    """Ports whose lanes another one has by its speed: `speed 400g-8` of Ethernet1/1 leaves none to Ethernet1/2."""
    if all(match is None or match[2] == "1" for match in map(LANE.fullmatch, facts.interfaces)):
        return
    for text, section in config.each("interface"):
        speeds = [(lanes, part) for part in section.parts if part.line[:6] == "speed " and (lanes := LANES.search(part.line))]
        for match in filter(None, map(LANE.fullmatch, each_name(port_name(text)) if speeds else ())):
            for lanes, part in speeds:
                for lane in range(int(match[2]) + 1, int(match[2]) + int(lanes[1])):
                    if (name := f"{match[1]}/{lane}") in facts.interfaces:
                        taken = Located(0, part.number, file)
                        facts.cages[name] = Cage(name=name, line=part.number, file=file, ports=taken)


def _interface(device: Device, line: Line) -> Below:
    names = each_name(port_name(line[1]))
    ports = [line.facts.interfaces.setdefault(name, Interface(name=name, line=line.number, file=line.file)) for name in names]
    if names[0].startswith("Vxlan"):
        return TUNNEL, [device.overlay]
    for port in ports:
        port.qos = device.qos.of(line.section)
    return INTERFACE, ports


def _prefix_list(device: Device, line: Line) -> None:
    """Entries stand behind the name, or below it."""
    prefix_list(device, line)
    rows = line.facts.rules[line[1]]
    rows += (Located(entry, part.number, line.file) for part in line.section.parts if (entry := rule(part.line)))


def _route(device: Device, line: Line) -> None:
    place = line.number, line.file
    line.facts.routes += static_route(line[1].split(), place, "", vrf_name, own="vrf", other="egress-vrf")


def _control_plane(device: Device, line: Line) -> None:
    filters = ("ip access-group", "ipv6 access-group", "service-policy")
    if any(part.line.startswith(filters) for part in line.section.parts):
        line.facts.services.control_plane = line.located(True)


def _telnet(device: Device, line: Line) -> None:
    on = (part for part in line.section.walk() if part.line == "no shutdown")
    line.facts.services.plain_text += (Located("telnet", part.number, line.file) for part in on)


def _api(device: Device, line: Line) -> None:
    parts = line.section.parts
    on = line.section.has("no shutdown") or any(part.has("no shutdown") for part in parts)
    for part in parts if on else ():
        words = part.line.split()
        if words[:2] == ["protocol", "http"] and "localhost" not in words:
            line.facts.services.plain_text.append(Located("http", part.number, line.file))


def _login(device: Device, line: Line) -> None:
    """A user without a password may log in at the console only, unless a statement permits it from the network too."""
    services, config = line.facts.services, device.config
    remote = config.has("aaa authentication policy local allow-nopassword-remote-login") or any(
        own.line == "authentication empty-passwords permit"
        for _, part in config.each("management ssh")
        for own in part.walk()
    )
    found, where = (services.open_logins, "") if remote else (services.weak_logins, " at the console")
    user = "root" if line[1] == "root" else f"user {line[1]}"
    found.append(line.located(f"{user} needs no password{where}"))


def _order(device: Device, line: Line) -> None:
    """Groups of servers by their kind, which stands where they are defined."""
    groups = [text.split() for text, _ in device.config.each("aaa group server")]
    kinds = {words[1]: words[0] for words in groups if len(words) > 1}
    if order := login_order(kinds.get(word, word) for word in line[1].split() if word != "group"):
        line.facts.services.login = line.located(order)


def _unauthenticated(device: Device, line: Line) -> None:
    services = line.facts.services
    into = services.weak_logins if line[1] == "console" else services.open_logins
    into.append(line.located(f"logins are not authenticated ({line[1]})"))


DEVICE: Rules[Device] = Rules(
    {
        r"hostname (.+)": _hostname,
        r"vrf (?:instance|definition) (\S+).*": _vrf,
        r"vlan (\d[\d,-]*)": _vlans,
        r"interface (?:defaults|profile )(.*)": below(NEITHER),
        r"interface(?: (.*))?": _interface,
        r"router bgp(?: .*)?": known,
        r"(?:ip|ipv6) route (.+)": _route,
        r"(?:ip|ipv6) prefix-list (\S+)(?: (.*))?": _prefix_list,
        r"ip access-list (?:standard )?(\S+)": access_list,
        r"ip virtual-router mac-address (.+)": keep("facts.anycast_mac", mac),
        r"ntp server (?:vrf \S+ )?(\S+).*": add("facts.services.ntp"),
        r"logging (?:vrf \S+ )?host (\S+).*": add("facts.services.syslog"),
        r"ip name-server (?:vrf \S+ )?(\S+).*": add("facts.services.dns"),
        r"lldp run": switch("facts.services.lldp", True),
        r"no lldp run": switch("facts.services.lldp", False),
        r"system control-plane": _control_plane,
        r"control-plane": _control_plane,
        r"management telnet": _telnet,
        r"management api http-commands": _api,
        r"snmp-server community \S+(.*)": add("facts.services.plain_text", lambda text: community("rw" in text.split())),
        r"username (\S+)(?: .*)? nopassword": _login,
        r"aaa (root)(?: .*)? nopassword": _login,
        r"aaa authentication login (\S+) none": _unauthenticated,
        r"aaa authentication login default (.+)": _order,
        r"tacacs-server host (\S+).*": add("facts.services.tacacs"),
        r"radius-server host (\S+).*": add("facts.services.radius"),
    },
    HEADS["top"],
    undoing=False,
)
