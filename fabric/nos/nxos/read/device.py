"""Reads an NX-OS config: every line by tables of what it means; ports, BGP, QoS and the overlay have files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from fabric.model.facts import LOCALIZED, Facts, Interface, Located, Secret
from fabric.nos.nxos.read import bgp, overlay
from fabric.nos.nxos.read.ports import PORT, Port, shut_by_default
from fabric.nos.nxos.read.qos import QOS, Qos, bound
from fabric.nos.nxos.read.rules import Below, Reading, Rule, Rules, heads, port_names, vrf_name
from fabric.nos.nxos.statements import LAYOUT
from fabric.nos.reading import (
    OF_TRAPS,
    Section,
    community,
    form_of,
    mac,
    placeholder,
    read_indented,
    read_route_maps,
    rule,
    settle,
    static_route,
)

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
    (re.compile(r"key-(?:octet-)?string (?:(?P<kind>\d) )?(\S+)"), "key of key chain"),
    (re.compile(r"ntp authentication-key (\d+) md5 (\S+)"), "NTP key {0}"),
    (re.compile(r"ip ospf (?:authentication-key|message-digest-key \d+ md5) (?:(?P<kind>\d) )?(\S+)"), "OSPF key of {above}"),
    (re.compile(r"authentication (?:text|md5 key-string) (?:(?P<kind>\d) )?(\S+)"), "authentication key of group {above}"),
    (re.compile(r"enable secret (?:(?P<kind>\d) )?(\S+)"), "enable password"),
)
LOGINS = ("password of user ", "enable password")
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


@dataclass(slots=True)
class DeviceState:
    """The whole config of one file."""

    reading: Reading
    qos: Qos
    overlay: overlay.Overlay
    ports: dict[str, Port] = field(default_factory=dict)
    processes: list[bgp.Process] = field(default_factory=list)

    @property
    def target(self) -> Facts:
        return self.reading.facts

    def close(self) -> None:
        """Puts together what several sections say."""
        if self.overlay.of_site in self.ports:
            self.ports[self.overlay.of_site].anycast = True
        for port in self.ports.values():
            bond = self.ports.get(port.target.bond.value) if port.target.bond else None
            port.close()
            port.target.qos = self.qos.of(bound([port.qos, bond.qos if bond else {}]))
        shut_by_default(self.ports.values())
        for process in self.processes:
            process.close()
        self.overlay.close()
        self.target.watchdog, self.target.watchdog_ms = self.qos.watchdog, self.qos.watchdog_ms


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file."""
    facts = Facts(name=name, nos="nxos", files=tuple(files))
    for file, text in files.items():
        config = read_indented(text, LAYOUT)
        reading = Reading(facts, file, _keeping(config))
        state = DeviceState(reading, Qos(reading=reading), overlay.Overlay(reading=reading))
        DEVICE_RULES.over(config, [state])
        state.close()
        settle(facts)
        read_route_maps(facts, file, config)
        facts.services.secrets += secrets(config, file)
        facts.statements += sum(1 for _ in config.walk())
    return facts


def _keeping(config: Section) -> frozenset[str]:
    """Route maps that keep the next hop."""
    parts = (part for part in config.parts if part.line.startswith("route-map "))
    return frozenset(part.line.split()[1] for part in parts if part.has("set ip next-hop unchanged"))


# --- lines at the margin --------------------------------------------------------------------------------------------


def _hostname(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    state.target.name = match[1]
    state.target.hostname = state.reading.located(match[1], section)


def _interface(state: DeviceState, section: Section, match: re.Match[str]) -> Below:
    return PORT, [_port(state, name, section) for name in port_names(match[1])]


def _port(state: DeviceState, name: str, section: Section) -> Port:
    if name not in state.ports:
        own = state.target.interfaces.setdefault(name, Interface(name=name, line=section.number, file=state.reading.file))
        state.ports[name] = Port(reading=state.reading, target=own)
    return state.ports[name]


def _bgp(state: DeviceState, section: Section, match: re.Match[str]) -> Below:
    process = bgp.start(state.reading, section, match[1])
    state.processes.append(process)
    return bgp.PROCESS, [process]


def _prefix_list(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    rows = state.target.rules.setdefault(match[1], [])
    if entry := rule(match[2]):
        rows.append(state.reading.located(entry, section))


def _route(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    place = section.number, state.reading.file
    state.target.routes += static_route(match[1].split(), place, "", vrf_name, other="vrf")


def _servers(name: str) -> Rule[DeviceState]:
    """A line with one or more servers of a service."""

    def keep(state: DeviceState, section: Section, match: re.Match[str]) -> None:
        found: list[Located[str]] = getattr(state.target.services, name)
        found += [state.reading.located(server, section) for server in match[1].split()]

    return keep


def _service(name: str, on: bool) -> Rule[DeviceState]:
    def keep(state: DeviceState, section: Section, match: re.Match[str]) -> None:
        setattr(state.target.services, name, state.reading.located(on, section))

    return keep


def _anycast_mac(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    state.target.anycast_mac = state.reading.located(mac(match[1]), section)


def _seed(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    state.target.hash_seed = state.reading.located(int(match[1]), section)


def _plain_text(what: str) -> Rule[DeviceState]:
    def keep(state: DeviceState, section: Section, match: re.Match[str]) -> None:
        state.target.services.plain_text.append(state.reading.located(what, section))

    return keep


def _community(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    """`group network-admin` is the older form of `rw`."""
    writes = bool({"rw", "network-admin"} & set(match[1].split()))
    state.target.services.plain_text.append(state.reading.located(community(writes), section))


def _unauthenticated(state: DeviceState, section: Section, match: re.Match[str]) -> None:
    services = state.target.services
    into = services.weak_logins if match[1] == "console" else services.open_logins
    into.append(state.reading.located(f"logins are not authenticated ({match[1]})", section))


def _control_plane(state: DeviceState, section: Section, match: re.Match[str]) -> Below:
    return CONTROL_PLANE, [state]


def _through(name: str, rules: Mapping[str, Rule[Any]]) -> dict[str, Rule[DeviceState]]:
    """Rules about a part of the switch."""

    def of(rule: Rule[Any]) -> Rule[DeviceState]:
        return lambda state, section, match: rule(getattr(state, name), section, match)

    return {pattern: of(rule) for pattern, rule in rules.items()}


CONTROL_PLANE: Rules[DeviceState] = Rules(
    {r"service-policy (?:input |output )?(\S+)": _service("control_plane", True)},
    heads("ip, ipv6, scale-factor, dynamic, priority"),
)
DEVICE_RULES: Rules[DeviceState] = Rules(
    {
        r"hostname (\S+)": _hostname,
        r"switchname (\S+)": _hostname,
        r"sysname (\S+)": _hostname,
        **_through("overlay", overlay.OVERLAY),
        r"interface (?!breakout)(\S.*)": _interface,
        r"ip route (\S.+)": _route,
        r"ipv6 route (\S.+)": _route,
        **_through("qos", QOS),
        r"router bgp (\d{1,10}|\d{1,5}\.\d{1,5})": _bgp,
        r"ip prefix-list (\S+) ((?:seq \d+ )?(?:permit|deny|description) .+)": _prefix_list,
        r"ipv6 prefix-list (\S+) ((?:seq \d+ )?(?:permit|deny|description) .+)": _prefix_list,
        r"fabric forwarding anycast-gateway-mac (\S+)": _anycast_mac,
        r"ip load-sharing .*universal-id (\d{1,10}).*": _seed,
        r"feature lldp": _service("lldp", True),
        r"no feature lldp": _service("lldp", False),
        r"feature telnet": _plain_text("telnet"),
        r"telnet server enable": _plain_text("telnet"),
        r"nxapi http port \d+": _plain_text("http"),
        r"snmp-server community \S+(.*)": _community,
        r"snmp-server host \S+ (?:traps |informs )?version (?:1|2c) .+": _plain_text(OF_TRAPS),
        r"aaa authentication login (default|console) none": _unauthenticated,
        r"copp profile \S+": _service("control_plane", True),
        r"no copp profile.*": _service("control_plane", False),
        r"control-plane": _control_plane,
        r"ntp (?:server|peer) (\S+).*": _servers("ntp"),
        r"logging server (\S+).*": _servers("syslog"),
        r"ip name-server (.+?)(?: use-vrf \S+)?": _servers("dns"),
    },
    heads("""
        aaa, app-hosting, banner, bfd, bloggerd, boot, callhome, catalyst, cdp, cfs, cli, clock, configure,
        consistency-checker, copp, crypto, cts, diagnostic, dot1x, eem, enable, encryption, epbr, errdisable,
        event, evpn esi, evpn multisite, fabric, fabricpath, fcoe, feature, feature-set, fex, filesystem, fips,
        flow, grpc, guestshell, hardware, hostname, hsrp, hw-module, icam, interface breakout, ip, ipv6, itd, key,
        l2vpn, lacp, ldap-server, license, line, lldp, load-interval, logging, login, mac, mac-address, macsec, mka,
        monitor, mpls, nat, nbm, ngoam, ntp, nv overlay, nxapi, nxsdk, object-group, onep, openflow, password,
        platform, pnp, poap, port-channel, port-profile, power, priority-flow-control, ptp, qos, radius,
        radius-server, rate-limit, rmon, role, route-map, router, sampler, scheduler, security, segment-routing,
        service, sflow, slot, snmp-server, spanning-tree, ssh, switch-profile, system, tacacs-server, telemetry,
        telnet, terminal, time-range, track, transceiver, tunnel-profile, udld, username, userpassphrase, vdc,
        version, virtual-service, vlan, vmtracker, vpc, vrrp, vsan, vtp, vxlan, wrr-queue, xml, zone, zoneset
    """),
)
