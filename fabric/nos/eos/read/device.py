"""Reads an EOS config: interfaces, VRFs, VXLAN, services; BGP and QoS have files of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from fabric.model.facts import LOCALIZED, MANAGEMENT, Facts, Interface, Located, Secret, Vni, Vrf
from fabric.nos.eos.read.bgp import read_bgp, vrf_name
from fabric.nos.eos.read.qos import Qos
from fabric.nos.eos.statements import LAYOUT, port_name
from fabric.nos.reading import (
    Section,
    community,
    each_name,
    esi,
    form_of,
    gbps,
    integer,
    is_address,
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

LITERAL = re.compile(
    r"ip(?:v6)? (?:address|virtual-router address|address virtual)(?: secondary)? (?=\S*[.:])[0-9A-Fa-f].*", re.A
)

VLAN_MTU = 1500  # without `mtu` and `interface defaults`: `show interfaces vlan` prints "IP MTU 1500 bytes (default)"

# Sections that are read, by their heads; and those that tell nothing a check asks for.
PASSED = (
    "aaa", "agent", "alias", "arp", "boot", "clock", "configure", "cvx", "daemon", "dhcp", "dns", "dot1x", "email",
    "enable", "errdisable", "event-handler", "event-monitor", "hardware", "hash",
    "ip address virtual source-nat", "ip arp", "ip dhcp", "ip domain", "ip domain-list", "ip domain-lookup",
    "ip domain-name", "ip ftp", "ip hardware", "ip http", "ip icmp", "ip igmp", "ip nat", "ip radius", "ip route",
    "ip routing", "ip ssh", "ip tacacs", "ip telnet", "ip tftp", "ipv6 hardware", "ipv6 icmp", "ipv6 nd", "ipv6 route",
    "ipv6 unicast-routing", "ipv6 neighbor", "lacp", "license", "link", "load-balance", "load-interval", "logging",
    "mac", "maintenance", "management accounts", "management api gnmi", "management api models",
    "management api netconf", "management api restconf", "management http-server", "management xmpp",
    "management console", "management cvx", "management defaults", "management security", "management ssh",
    "management tech-support", "match-list", "mcs", "mlag", "monitor", "mpls", "msrp", "no aaa", "no ip icmp",
    "no ip igmp", "no ip routing", "no logging", "no schedule", "no snmp-server", "no spanning-tree", "no service",
    "no vlan", "no event-handler", "ntp", "patch", "peer-filter", "platform", "policy-map type copp", "port-channel",
    "priority-flow-control", "privilege", "prompt", "ptp", "qos", "queue-monitor", "radius", "radius-server", "rib",
    "role", "router bfd", "router general", "router isis", "router l2-vpn", "router multicast", "router ospf",
    "router pim", "schedule", "service", "sflow", "snmp-server", "spanning-tree", "storm-control", "switchport",
    "system", "tacacs-server", "tap", "terminal", "tracker", "traffic-policies", "transceiver", "trident", "username",
    "virtual-cable", "vlan internal", "vrrp", "zerotouch", "banner", "control-plane", "poe", "sampled-flow", "flow",
    "environment", "process", "redundancy", "ip virtual-router", "ip name-server", "lldp", "hostname", "bfd",
    "ip load-sharing", "ip prefix-list", "ipv6 prefix-list", "ip community-list", "ip extcommunity-list",
    "ip large-community-list", "ip as-path", "ip access-list", "ipv6 access-list", "mac access-list", "route-map",
    "vrf instance", "vrf definition", "vlan", "management telnet", "management api http-commands", "no lldp",
    "no ip http", "class-map", "policy-map", "router traffic-engineering", "ipv6 routing", "no ipv6", "no enable",
    "no username", "no management",
)  # fmt: skip
INTERFACE = (
    "arp", "bfd", "channel-group", "cdp", "description", "dhcp", "dot1x", "encapsulation", "error-correction", "evpn",
    "flowcontrol", "ip", "ipv6", "isis", "l2", "lacp", "link", "link-debounce", "lldp", "load-interval", "logging", "mac",
    "mka", "mlag", "mpls", "mtu", "multicast", "no", "ntp", "ospf", "pause", "phone", "pim", "poe", "port-channel",
    "priority-flow-control", "profile", "ptp", "qos", "queue-monitor", "random-detect", "service-policy",
    "service-profile", "sflow", "shape", "shutdown", "snmp", "spanning-tree", "speed", "storm-control", "switchport",
    "traffic-loopback", "traffic-policy", "transceiver", "tx-queue", "uc-tx-queue", "unidirectional", "vlan", "vrf",
    "vrrp", "vxlan", "address", "default", "comment", "tcp", "hardware", "fabric", "mc-tx-queue", "bandwidth", "delay",
    "isolate", "autostate",
)  # fmt: skip

# Lines that end in a secret: their head, a word that must be in them, and what the secret is.
SECRETS = (
    ("enable password", "", "enable password"),
    ("enable secret", "", "enable password"),
    ("aaa root", "secret", "password of user root"),
    ("tacacs-server", "key", "key of tacacs-server"),
    ("radius-server", "key", "key of radius-server"),
    ("ntp authentication-key", "", "NTP key"),
)


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file."""
    facts = Facts(name=name, nos="eos", files=tuple(files))
    for file, text in files.items():
        _Reader(facts, file, read_indented(text, LAYOUT)).read()
    return facts


class _Reader:
    def __init__(self, facts: Facts, file: str, config: Section) -> None:
        self.facts, self.file, self.config = facts, file, config
        self.qos = Qos(config, file)

    def read(self) -> None:
        facts, config = self.facts, self.config
        self._system()
        for text, section in config.each("vrf instance"):
            self._vrf(text, section)
        for text, section in config.each("vrf definition"):
            self._vrf(text, section)
        for text, section in config.each("interface"):
            for name in each_name(port_name(text)) if not text.startswith(("defaults", "profile ")) else ():
                self._interface(name, section)
        if not any(text.startswith("defaults") for text, _ in config.each("interface")):
            facts.vlan_mtu = VLAN_MTU
        read_bgp(facts, self.file, config)
        self._policies()
        self._routes()
        read_route_maps(facts, self.file, config)
        facts.watchdog_ms = self.qos.watchdog_ms
        facts.hash_seed = self.qos.hash_seed
        facts.unread += self._unread()
        facts.statements += sum(1 for _ in config.walk())

    def _vrf(self, text: str, section: Section) -> None:
        name = vrf_name(text.split()[0]) if text else ""
        if name and name != MANAGEMENT:
            self.facts.vrfs.setdefault(name, Vrf(name=name, line=section.number, file=self.file))

    # --- interfaces ---------------------------------------------------------------------------------------------

    def _interface(self, name: str, section: Section) -> None:
        facts, file = self.facts, self.file
        found = facts.interfaces.setdefault(name, Interface(name=name, line=section.number, file=file))
        if name.startswith("Vxlan"):
            self._vxlan(section)
            return
        for part in section.parts:
            head, _, rest = part.line.partition(" ")
            if take := _FIELDS.get(head):
                take(found, rest.strip(), part.number, file)
                if LITERAL.fullmatch(part.line) and not _is_literal(part.line):
                    facts.broken.append(Located(f"{part.line}: expected an address", part.number, file))
            elif head == "evpn":
                _evpn(found, part, file)
        found.qos = self.qos.of(section)

    def _vxlan(self, section: Section) -> None:
        facts = self.facts
        for text, part in section.each("vxlan source-interface"):
            facts.vtep = Located(port_name(text), part.number, self.file)
        for text, part in section.each("vxlan vlan"):
            vlans, _, vnis = text.partition(" vni ")
            for vlan, vni in zip(numbers(vlans.removeprefix("add ")), numbers(vnis), strict=False):
                mapped = facts.vnis.setdefault(vni, Vni(number=vni, line=part.number, file=self.file))
                if mapped.vlan and mapped.vlan.value != vlan:
                    for line, other in ((mapped.vlan.line, vlan), (part.number, mapped.vlan.value)):
                        facts.conflicts.append(Located(f"VNI {vni} is that of VLAN {other} too", line, self.file))
                mapped.vlan = Located(vlan, part.number, self.file)
        for text, part in section.each("vxlan vrf"):
            name, _, vni_text = text.partition(" vni ")
            name, vni_ = vrf_name(name), integer(vni_text)
            if vni_ is not None:
                facts.vrfs.setdefault(name, Vrf(name=name, line=part.number, file=self.file)).vni = Located(
                    vni_, part.number, self.file
                )

    # --- everything else ----------------------------------------------------------------------------------------

    def _system(self) -> None:
        facts, config, services = self.facts, self.config, self.facts.services
        if value := config.last("hostname"):
            facts.name = value[0]
            facts.hostname = Located(value[0], value[1].number, self.file)
        if value := config.last("ip virtual-router mac-address"):
            facts.anycast_mac = Located(mac(value[0]), value[1].number, self.file)
        for head, into in (("ntp server", services.ntp), ("logging", services.syslog), ("ip name-server", services.dns)):
            for text, part in config.each(head):
                words = _after_vrf(text)
                if head == "logging":
                    words = words[1:] if words[:1] == ["host"] else []
                into += [Located(word, part.number, self.file) for word in words[:1]]
        off, on = config.last("no lldp run"), config.last("lldp run")
        where = off or on
        services.lldp = (
            Located(off is None, where[1].number, self.file) if where else Located(True, 1, self.file)
        )  # on by default
        for head in ("system control-plane", "control-plane"):
            for _, part in config.each(head):
                if any(
                    statement.line.startswith(("ip access-group", "ipv6 access-group", "service-policy"))
                    for statement in part.parts
                ):
                    services.control_plane = Located(True, part.number, self.file)
        self._open_doors()
        self._logins()
        services.secrets += self._secrets()

    def _open_doors(self) -> None:
        services = self.facts.services
        for _, part in self.config.each("management telnet"):
            services.plain_text += [
                Located("telnet", own.number, self.file) for own in part.walk() if own.line == "no shutdown"
            ]
        for _, part in self.config.each("management api http-commands"):
            on = part.has("no shutdown") or any(own.has("no shutdown") for own in part.parts)
            for own in part.parts:
                words = own.line.split()
                if on and words[:2] == ["protocol", "http"] and "localhost" not in words:
                    services.plain_text.append(Located("http", own.number, self.file))
        for text, part in self.config.each("snmp-server community"):
            services.plain_text.append(Located(community("rw" in text.split()[1:]), part.number, self.file))

    def _logins(self) -> None:
        """A user without a password may log in at the console only, unless a statement permits it from the network too."""
        services, config = self.facts.services, self.config
        remote = config.has("aaa authentication policy local allow-nopassword-remote-login") or any(
            own.line == "authentication empty-passwords permit"
            for _, part in config.each("management ssh")
            for own in part.walk()
        )
        found, where = (services.open_logins, "") if remote else (services.weak_logins, " at the console")
        users = [(f"user {text.split()[0]}", text, part) for text, part in config.each("username") if text]
        for user, text, part in [*users, *(("root", text, part) for text, part in config.each("aaa root"))]:
            if text.split()[-1:] == ["nopassword"]:
                found.append(Located(f"{user} needs no password{where}", part.number, self.file))
        for text, part in config.each("aaa authentication login"):
            name, *methods = text.split()
            if methods == ["none"]:
                into = services.weak_logins if name == "console" else services.open_logins
                into.append(Located(f"logins are not authenticated ({name})", part.number, self.file))

    def _secrets(self) -> Iterator[Located[Secret]]:
        for text, part in self.config.each("username"):
            words = text.split()
            for key in ("secret", "password"):
                if key in words:
                    yield from self._secret(part, f"password of user {words[0]}", words[words.index(key) + 1 :], login=True)
        for text, part in self.config.each("snmp-server user"):
            words = text.split()
            for key in ("auth", "priv"):
                if key in words[:-1]:
                    own = words[words.index(key) + 2 : words.index(key) + 3]  # behind its algorithm
                    yield from self._secret(part, f"SNMP {key} key of user {words[0]}", own, localized="localized" in words)
        for head, word, secret in SECRETS:
            for text, part in self.config.each(head):
                words = text.split()
                if not word or word in words[:-1]:
                    yield from self._secret(part, secret, words, login=head.startswith(("enable", "aaa root")))
        for _, bgp in self.config.each("router bgp"):
            for part in bgp.walk():
                words = part.line.split()
                if words[:1] == ["neighbor"] and "password" in words[2:3]:
                    yield from self._secret(part, f"BGP password of {words[1]}", words[3:])

    def _secret(
        self, part: Section, what: str, words: list[str], login: bool = False, localized: bool = False
    ) -> Iterator[Located[Secret]]:
        """The secret that ends a line, unless a placeholder does."""
        kind, text = typed(words)
        if text and not placeholder(text):
            form = LOCALIZED if localized else form_of(text, kind)
            yield Located(Secret(what, form, login), part.number, self.file)

    def _routes(self) -> None:
        for head in ("ip route", "ipv6 route"):
            for text, part in self.config.each(head):
                place = part.number, self.file
                self.facts.routes += static_route(text.split(), place, "", vrf_name, own="vrf", other="egress-vrf")

    def _policies(self) -> None:
        for head in ("ip prefix-list", "ipv6 prefix-list"):
            for text, part in self.config.each(head):
                name, _, rest = text.partition(" ")
                rows = self.facts.rules.setdefault(name, [])
                for line, number in [(rest, part.number), *((own.line, own.number) for own in part.parts)]:
                    if entry := rule(line):
                        rows.append(Located(entry, number, self.file))
        settle(self.facts)

    def _unread(self) -> Iterator[Located[str]]:
        passed = {head for head in PASSED if " " not in head}
        longer = tuple(f"{head} " for head in PASSED if " " in head)
        for part in self.config.parts:
            head = part.line.split(" ", 1)[0]
            if head == "interface":
                yield from self._unknown(part, INTERFACE)
            elif head == "router" and part.line.startswith("router bgp"):
                continue  # read by its own reader
            elif head not in passed and not f"{part.line} ".startswith(longer):
                yield Located(part.line, part.number, self.file)

    def _unknown(self, section: Section, known: tuple[str, ...]) -> Iterator[Located[str]]:
        for part in section.parts:
            if part.line.split(" ", 1)[0] not in known:
                yield Located(part.line, part.number, self.file)


def _is_literal(line: str) -> bool:
    """Whether the address of an interface's line is one."""
    words = line.split()
    at = next(at for at, word in enumerate(words) if "." in word or ":" in word)
    return prefix(" ".join(words[at : at + 2])) is not None or is_address(words[at])


def _after_vrf(text: str) -> list[str]:
    words = text.split()
    return words[2:] if words[:1] == ["vrf"] else words


# --- fields of an interface: what stands behind the first word of a line ----------------------------------------


def _ip(found: Interface, rest: str, line: int, file: str) -> None:
    words = rest.split()
    if words[:2] == ["address", "virtual"] or words[:2] == ["virtual-router", "address"]:
        own = prefix(" ".join(words[2:])) or (words[2] if len(words) > 2 and is_address(words[2]) else None)
        if own:
            found.gateways.append(Located(own, line, file))
    elif words[:1] == ["address"]:
        if own := prefix(" ".join(words[1:])):
            if "secondary" not in words:
                found.addresses = [parsed for parsed in found.addresses if ":" in parsed.value]
            found.addresses.append(Located(own, line, file))
    elif words[:1] == ["access-group"] and len(words) > 1:
        found.filters.append(Located(words[1], line, file))


def _ipv6(found: Interface, rest: str, line: int, file: str) -> None:
    words = rest.split()
    if words[:1] == ["enable"]:
        found.link_local = True
    elif words[:2] == ["address", "virtual"] and (own := prefix(" ".join(words[2:]))):
        found.gateways.append(Located(own, line, file))
    elif words[:1] == ["address"] and (own := prefix(" ".join(words[1:]))):
        found.addresses.append(Located(own, line, file))
    elif words[:1] == ["access-group"] and len(words) > 1:
        found.filters.append(Located(words[1], line, file))


def _switchport(found: Interface, rest: str, line: int, file: str) -> None:
    kind, _, text = rest.partition(" vlan ")
    if kind in ("access", "trunk native") and (vlan := integer(text)) is not None:
        found.access = Located(vlan, line, file)
    elif kind == "trunk allowed":
        found.trunk += [Located(vlan, line, file) for vlan in numbers(text.removeprefix("add "))]


def _evpn(found: Interface, section: Section, file: str) -> None:
    for own in section.parts:
        value = esi(own.line.partition(" ")[2])
        if own.line.startswith("identifier ") and re.fullmatch(r"(?:[0-9a-f]{2}:){9}[0-9a-f]{2}", value):
            found.esi = Located(value, own.number, file)


def _number(name: str, strip: str = "") -> Callable[[Interface, str, int, str], None]:
    def take(found: Interface, rest: str, line: int, file: str) -> None:
        value = integer(rest.removeprefix(strip).strip())
        if value is not None:
            setattr(found, name, Located(value, line, file))

    return take


def _no(found: Interface, rest: str, line: int, file: str) -> None:
    if rest == "shutdown":
        found.enabled = Located(True, line, file)


def _shutdown(found: Interface, rest: str, line: int, file: str) -> None:
    found.enabled = Located(False, line, file)


def _description(found: Interface, rest: str, line: int, file: str) -> None:
    found.description = Located(rest, line, file)


def _vrf(found: Interface, rest: str, line: int, file: str) -> None:
    found.vrf = Located(vrf_name(rest.removeprefix("forwarding ").strip()), line, file)


def _bond(found: Interface, rest: str, line: int, file: str) -> None:
    found.bond = Located(f"Port-Channel{rest.split()[0]}" if rest else "", line, file)


def _speed(found: Interface, rest: str, line: int, file: str) -> None:
    if (speed := gbps(rest)) is not None:
        found.speed_gbps = Located(speed, line, file)


_FIELDS: Mapping[str, Callable[[Interface, str, int, str], None]] = {
    "channel-group": _bond,
    "description": _description,
    "encapsulation": _number("tag", "dot1q vlan"),
    "ip": _ip,
    "ipv6": _ipv6,
    "mtu": _number("mtu"),
    "no": _no,
    "shutdown": _shutdown,
    "speed": _speed,
    "switchport": _switchport,
    "vrf": _vrf,
}
