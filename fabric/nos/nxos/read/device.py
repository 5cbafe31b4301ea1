"""Reads an NX-OS config: every line by tables of what it means; ports, BGP, QoS and the overlay have files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter

from fabric.model.facts import LOCALIZED, Cage, DerivedTargets, Facts, Interface, Located, Secret
from fabric.nos.nxos.read import bgp, overlay
from fabric.nos.nxos.read.ports import PORT, Port, shut_by_default
from fabric.nos.nxos.read.qos import QOS, Qos, bound
from fabric.nos.nxos.read.words import HEADS, Rules, port_names, vrf_name
from fabric.nos.nxos.statements import LAYOUT
from fabric.nos.reading import (
    OF_TRAPS,
    Section,
    community,
    form_of,
    login_order,
    mac,
    numbers,
    placeholder,
    read_indented,
    read_route_maps,
    settle,
    static_route,
)
from fabric.nos.reading.rules import Below, Line, Reading, Rule, access_list, add, below, keep, prefix_list, switch, through

# --- Secrets: patterns of single lines in any place -----------------------------------------------------------

TEXT = ("description ", "name ", "remark ", "banner ", "alias ")

# The last group is the secret; {0} is the first one, {above} the name in the head of the section. `kind` is its type.
SECRETS = (
    (re.compile(r"username (\S+) .*?\bpassword (?:(?P<kind>\d) )?(\S+)"), "password of user {0}"),
    (re.compile(r"neighbor (\S+) .*?\bpassword (?:(?P<kind>\d) )?(\S+)"), "BGP password of {0}"),
    (re.compile(r"password (?:(?P<kind>\d) )?(\S+)"), "BGP password of {above}"),
    (re.compile(r"snmp-server user (\S+) .*?\bauth (?:md5|sha(?:-\d+)?) (\S+)"), "SNMP auth key of user {0}"),
    (re.compile(r"snmp-server user (\S+) .*?\bpriv (?:aes-128 |des )?(\S+)"), "SNMP priv key of user {0}"),
    (re.compile(r"snmp-server community (\S+)"), "SNMP community"),
    (re.compile(r"(tacacs|radius)-server .*?\bkey (?:(?P<kind>\d) )?(\S+)"), "key of {0}-server"),
    (re.compile(r"(ldap)-server .*?\bpassword (?:(?P<kind>\d) )?(\S+)"), "password of {0}-server"),
    (re.compile(r"key-(?:octet-)?string (?:(?P<kind>\d) )?(\S+)"), "key of key chain"),
    (re.compile(r"ntp authentication-key (\d+) md5 (\S+)"), "NTP key {0}"),
    (re.compile(r"ip ospf (?:authentication-key|message-digest-key \d+ md5) (?:(?P<kind>\d) )?(\S+)"), "OSPF key of {above}"),
    (re.compile(r"authentication (?:text|md5 key-string) (?:(?P<kind>\d) )?(\S+)"), "authentication key of group {above}"),
    (re.compile(r"enable secret (?:(?P<kind>\d) )?(\S+)"), "enable password"),
)
LOGINS = ("password of user ", "enable password")
PART = re.compile(r"(Ethernet\d{1,2}/\d{1,3})/(\d{1,2})")
DIGEST = re.compile(r"(?:0x)?[0-9A-Fa-f]{32,}")  # MD5 has 32 digits; a terminal may have wrapped the line behind them
LOCAL = ("localizedkey", "localizedV2key")  # how a line with keys of SNMPv3 ends
SECRET = re.compile(r"password |community |key|auth|secret ")


def secrets(config: Section, file: str) -> Iterator[Located[Secret]]:
    """What each secret is, never itself."""
    for part, above in _lines(config):
        for one in _secrets(part.line):
            name = " ".join(above.line.split()[1:2])
            yield Located(replace(one, what=one.what.replace("{above}", name)), part.number, file)


@lru_cache(maxsize=16384)
def _secrets(line: str) -> tuple[Secret, ...]:
    if not SECRET.search(line) or line.startswith(TEXT):
        return ()
    found = ((pattern.match(line), what) for pattern, what in SECRETS)
    return tuple(_secret(match, what) for match, what in found if match and not _hidden(match[match.lastindex or 0]))


def _secret(match: re.Match[str], what: str) -> Secret:
    kind = match.groupdict().get("kind") or ""
    text = match[match.lastindex or 0]
    localized = what.startswith("SNMP ") and (match.string.endswith(LOCAL) or DIGEST.fullmatch(text))
    form = LOCALIZED if localized else form_of(text, kind)
    return Secret(what.replace("{0}", match[1] or ""), form, what.startswith(LOGINS))


def _hidden(text: str) -> bool:
    """No secret: a placeholder, or a keyword of that name."""
    return placeholder(text) or text in ("strength-check", "prompt", "secure-mode")


def _lines(config: Section) -> Iterator[tuple[Section, Section]]:
    """Every line, and the line above it."""
    waiting = [(part, config) for part in reversed(config.parts)]
    while waiting:
        part, above = waiting.pop()
        yield part, above
        if part.parts:
            waiting += [(own, part) for own in reversed(part.parts)]


# --- The switch -----------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class DeviceState:
    """The whole config of one file."""

    facts: Facts
    file: str
    config: Section
    qos: Qos = field(default_factory=Qos)
    overlay: overlay.Overlay = field(default_factory=overlay.Overlay)
    ports: dict[str, Port] = field(default_factory=dict)
    processes: list[bgp.Process] = field(default_factory=list)

    def close(self, keeping: Set[str]) -> None:
        """Puts together what several sections say; `keeping` are route maps that keep the next hop."""
        if self.overlay.of_site in self.ports:
            self.ports[self.overlay.of_site].anycast = True
        for port in self.ports.values():
            bond = self.ports.get(port.target.bond.value) if port.target.bond else None
            port.close()
            port.target.qos = self.qos.of(bound([port.qos, bond.qos if bond else {}]))
        shut_by_default(self.ports.values())
        _parts(self.facts)
        for process in self.processes:
            process.close(self.file, keeping)
        self.overlay.close(self.facts, self.file, self.ports)
        self.facts.watchdog, self.facts.watchdog_ms = self.qos.watchdog, self.qos.watchdog_ms


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file."""
    facts = Facts(name=name, nos="nxos", files=tuple(files), derived=DerivedTargets())
    for file, text in files.items():
        config = read_indented(text, LAYOUT)
        state = DeviceState(facts=facts, file=file, config=config)
        DEVICE_RULES.over(config, [state], Reading(facts, file))
        maps = (part for part in config.parts if part.line.startswith("route-map "))
        state.close({part.line.split()[1] for part in maps if part.has("set ip next-hop unchanged")})
        settle(facts)
        read_route_maps(facts, file, config)
        facts.services.secrets += secrets(config, file)
        facts.statements += config.size
    return facts


# --- Lines at the margin --------------------------------------------------------------------------------------------


def _hostname(state: DeviceState, line: Line) -> None:
    state.facts.name = line[1]
    state.facts.hostname = line.located(line[1])


def _interface(state: DeviceState, line: Line) -> Below:
    return PORT, [_port(state, name, line) for name in port_names(line[1])]


def _port(state: DeviceState, name: str, line: Line) -> Port:
    if name not in state.ports:
        own = state.facts.interfaces.setdefault(name, Interface(name=name, line=line.number, file=line.file))
        state.ports[name] = Port(target=own)
    return state.ports[name]


def _breakout(state: DeviceState, line: Line) -> None:
    for port in numbers(line[2]):
        name = f"Ethernet{line[1]}/{port}"
        ports, speeds = line.located(int(line[4])), frozenset([int(line[3])])
        state.facts.cages[name] = Cage(name=name, line=line.number, file=line.file, ports=ports, speeds=speeds)


def _parts(facts: Facts) -> None:
    """`Ethernet1/1/3` is the third port of a cage; a switch module has a number below 100, a fabric extender above."""
    for name, port in facts.interfaces.items():
        if match := PART.fullmatch(name):
            cage = facts.cages.setdefault(match[1], Cage(name=match[1], line=port.line, file=port.file))
            cage.parts[name] = int(match[2]) - 1


def _bgp(state: DeviceState, line: Line) -> Below:
    state.processes.append(bgp.start(line))
    return bgp.PROCESS, state.processes[-1:]


def _route(state: DeviceState, line: Line) -> None:
    line.facts.routes += static_route(line[1].split(), (line.number, line.file), "", vrf_name, other="vrf")


def _servers(name: str) -> Rule[DeviceState]:
    """A line with one or more servers of a service."""
    servers = attrgetter(name)
    return lambda state, line: servers(state).extend(line.located(server) for server in line[1].split())


def _community(text: str) -> str:
    """`group network-admin` is the older form of `rw`."""
    return community(writes=bool({"rw", "network-admin"} & set(text.split())))


def _order(state: DeviceState, line: Line) -> None:
    """Groups of servers by their kind; local users follow unless a statement of its own prevents it."""
    groups = [section.line.split()[3:5] for section in state.config.parts if section.line.startswith("aaa group server ")]
    kinds = {words[1]: words[0] for words in groups if len(words) > 1}
    words = line[1].split()
    order = [kinds.get(word, word) for word in words if word not in ("group", "local")]
    local = not order or "local" in words or not state.config.has(NO_FALLBACK)
    if text := login_order([*order, "local"] if local else order):
        state.facts.services.login = line.located(text)


def _unauthenticated(state: DeviceState, line: Line) -> None:
    services = state.facts.services
    into = services.weak_logins if line[1] == "console" else services.open_logins
    into.append(line.located(f"logins are not authenticated ({line[1]})"))


def _plain_text(what: str) -> Rule[DeviceState]:
    return add("facts.services.plain_text", lambda _: what)


NO_FALLBACK = "no aaa authentication login default fallback error local"
CONTROL_PLANE: Rules[DeviceState] = Rules(
    {r"service-policy (?:input |output )?(\S+)": switch("facts.services.control_plane", True)},
    "ip, ipv6, scale-factor, dynamic, priority",
)
DEVICE_RULES: Rules[DeviceState] = Rules(
    {
        r"(?:hostname|switchname|sysname) (\S+)": _hostname,
        **through("overlay", overlay.OVERLAY),
        r"interface (?!breakout)(\S.*)": _interface,
        r"interface breakout module (\d{1,3}) port ([\d,-]+) map (\d{1,4})g-(\d{1,2})x": _breakout,
        r"(?:ip|ipv6) route (\S.+)": _route,
        **through("qos", QOS),
        r"router bgp (\d{1,10}|\d{1,5}\.\d{1,5})": _bgp,
        r"(?:ip|ipv6) prefix-list (\S+) ((?:seq \d+ )?(?:permit|deny|description) .+)": prefix_list,
        r"ip access-list (\S+)": access_list,
        r"fabric forwarding anycast-gateway-mac (\S+)": keep("facts.anycast_mac", mac),
        r"ip load-sharing .*universal-id (\d{1,10}).*": keep("facts.hash_seed", int),
        r"feature lldp": switch("facts.services.lldp", True),
        r"no feature lldp": switch("facts.services.lldp", False),
        r"feature telnet": _plain_text("telnet"),
        r"telnet server enable": _plain_text("telnet"),
        r"nxapi http port \d+": _plain_text("http"),
        r"snmp-server community \S+(.*)": add("facts.services.plain_text", _community),
        r"snmp-server host \S+ (?:traps |informs )?version (?:1|2c) .+": _plain_text(OF_TRAPS),
        r"aaa authentication login (default|console) none": _unauthenticated,
        r"aaa authentication login default ((?:group|local)(?: .+)?)": _order,
        r"tacacs-server host (\S+).*": add("facts.services.tacacs"),
        r"radius-server host (\S+).*": add("facts.services.radius"),
        r"ldap-server host (\S+).*": add("facts.services.ldap"),
        r"copp profile \S+": switch("facts.services.control_plane", True),
        r"no copp profile.*": switch("facts.services.control_plane", False),
        r"control-plane": below(CONTROL_PLANE),
        r"ntp (?:server|peer) (\S+).*": _servers("facts.services.ntp"),
        r"logging server (\S+).*": _servers("facts.services.syslog"),
        r"ip name-server (.+?)(?: use-vrf \S+)?": _servers("facts.services.dns"),
    },
    HEADS["top"],
)
