"""Reads an NX-OS config: every line by tables of what it means; ports, BGP, QoS and the overlay have files of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabric.model.facts import Facts, Interface, Located
from fabric.nos.nxos.interactive_commands import as_shown
from fabric.nos.nxos.read import bgp, names, overlay
from fabric.nos.nxos.read.ports import PORT, Port, shut_by_default
from fabric.nos.nxos.read.qos import QOS, Qos, bound
from fabric.nos.nxos.read.rules import Below, Reading, Rule, Rules, below, heads, port_names, vrf_name
from fabric.nos.reading import (
    OF_TRAPS,
    Section,
    community,
    mac,
    read_indented,
    read_route_maps,
    rule,
    settle,
    static_route,
)

BANNER = re.compile(r"\s*banner \w+ +(\S)(.*)")


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
        config = read_indented(without_banners(as_shown(text)), comments="!#")
        reading = Reading(facts, file, _keeping(config))
        state = DeviceState(reading, Qos(reading=reading), overlay.Overlay(reading=reading))
        DEVICE_RULES.over(config, [state])
        state.close()
        settle(facts)
        read_route_maps(facts, file, config)
        facts.services.secrets += names.secrets(config, file)
        facts.statements += len(below(config))
    return facts


def _keeping(config: Section) -> frozenset[str]:
    """Route maps that keep the next hop."""
    parts = (part for part in config.parts if part.line.startswith("route-map "))
    return frozenset(part.line.split()[1] for part in parts if part.has("set ip next-hop unchanged"))


def without_banners(text: str) -> str:
    """A banner's text is no config; its lines are emptied, so that the numbers of the others stay."""
    lines, end = text.split("\n"), ""
    for at, line in enumerate(lines):
        if end:
            end, lines[at] = ("" if end in line else end), ""
        elif line.lstrip().startswith("banner ") and (match := BANNER.match(line)):
            end = "" if match[1] in match[2] else match[1]
    return "\n".join(lines) if not end else text  # a banner without an end would swallow the rest


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
        consistency-checker, copp, crypto, cts, diagnostic, dot1x, eem, enable, encryption, end, epbr, errdisable,
        event, evpn esi, evpn multisite, exit, fabric, fabricpath, fcoe, feature, feature-set, fex, filesystem, fips,
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
