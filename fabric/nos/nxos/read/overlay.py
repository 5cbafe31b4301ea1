"""Reads the overlay of NX-OS: VLANs with their VNIs, VRFs, the tunnel interface, and `evpn`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabric.model.facts import MANAGEMENT, Facts, Located, Vni, Vrf
from fabric.nos.nxos.read.rules import Below, Reading, Rule, Rules, heads, port_name, value, vrf_name
from fabric.nos.reading import Section, numbers, static_route


@dataclass(slots=True)
class Vlan:
    """VLANs of one section; a VNI belongs to one of them."""

    reading: Reading
    numbers: Located[tuple[int, ...]]
    overlay: Overlay

    @property
    def target(self) -> object:
        return self


@dataclass(slots=True)
class Table:
    """A VRF or a layer-2 VNI: both have a distinguisher and targets."""

    reading: Reading
    target: Vrf | Vni


@dataclass(slots=True, kw_only=True)
class Overlay:
    """What the sections say; which VNIs are those of VRFs is known at the end."""

    reading: Reading
    segments: dict[int, tuple[Located[int], Located[int]]] = field(default_factory=dict)  # VNI → itself, its VLAN
    members: dict[int, Located[int]] = field(default_factory=dict)  # of the tunnel interface
    tables: dict[int, Vni] = field(default_factory=dict)  # of `evpn`
    of_vrfs: dict[int, Located[int]] = field(default_factory=dict)  # `member vni N associate-vrf`
    of_site: str = ""  # loopback whose address all border gateways of a site have

    @property
    def target(self) -> object:
        return self

    def close(self) -> None:
        facts, file = self.reading.facts, self.reading.file
        routed = {vrf.vni.value for vrf in facts.vrfs.values() if vrf.vni} | set(self.of_vrfs)
        lines = {number: parsed.line for number, parsed in self.members.items()}
        lines |= {number: vni.line for number, vni in self.tables.items()}
        lines |= {number: parsed.line for number, (parsed, _) in self.segments.items()}
        for number in sorted(lines.keys() - routed):
            vni = self.tables.get(number) or Vni(number=number, line=0, file=file)
            vni.line = lines[number]
            vni.vlan = self.segments[number][1] if number in self.segments else None
            facts.vnis[number] = vni
        for vrf in facts.vrfs.values():
            if vrf.vni and vrf.vni.value in self.segments:
                vrf.vlan = self.segments[vrf.vni.value][1]


def _vlan(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    return VLAN, [Vlan(overlay.reading, overlay.reading.located(numbers(match[1]), section), overlay)]


def _segment(own: Vlan, section: Section, match: re.Match[str]) -> None:
    if len(own.numbers.value) == 1:
        parsed = own.reading.located(int(match[1]), section)
        if (other := own.overlay.segments.get(parsed.value)) and other[1].value != own.numbers.value[0]:
            for one, vlan in ((other[0], own.numbers.value[0]), (parsed, other[1].value)):
                text = f"vn-segment {parsed.value} is that of VLAN {vlan} too"
                own.reading.facts.conflicts.append(Located(text, one.line, one.file))
        own.overlay.segments[parsed.value] = (parsed, Located(own.numbers.value[0], own.numbers.line, own.numbers.file))


def _vrf(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    return VRF, [Table(overlay.reading, vrf_of(overlay.reading.facts, vrf_name(match[1]), section, overlay.reading.file))]


def vrf_of(facts: Facts, name: str, section: Section, file: str) -> Vrf:
    """The table of that name; the default one is none that a config makes, and that of management is no tenant's."""
    if name in ("", MANAGEMENT):
        return Vrf(name=name, line=section.number, file=file)
    return facts.vrfs.setdefault(name, Vrf(name=name, line=section.number, file=file))


def _evpn(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    return EVPN, [overlay]


def _tunnel(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    return TUNNEL, [overlay]


def _vni_table(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    number = int(match[1])
    own = overlay.tables.setdefault(number, Vni(number=number, line=section.number, file=overlay.reading.file))
    return TABLE, [Table(overlay.reading, own)]


def _source(overlay: Overlay, section: Section, match: re.Match[str]) -> None:
    overlay.reading.facts.vtep = overlay.reading.located(port_name(match[1]), section)


def _site(overlay: Overlay, section: Section, match: re.Match[str]) -> None:
    """The virtual IP of a site: "the same on all border gateways of the site" (NX-OS VXLAN guide, Multi-Site)."""
    overlay.of_site = port_name(match[1])


def _member(overlay: Overlay, section: Section, match: re.Match[str]) -> Below:
    into = overlay.of_vrfs if match[2] else overlay.members
    into |= {number: overlay.reading.located(number, section) for number in numbers(match[1])}
    return MEMBER, [overlay]


def _family(own: Table, section: Section, match: re.Match[str]) -> Below:
    return TABLE, [own]


def _target(own: Table, section: Section, match: re.Match[str]) -> None:
    """A VRF says a target twice, once for EVPN: it is one."""
    parsed = own.reading.located(match[2], section)
    both = {"import": [own.target.imports], "export": [own.target.exports], "both": [own.target.imports, own.target.exports]}
    for into in both[match[1]]:
        if parsed.value not in [other.value for other in into]:
            into.append(parsed)


def _route(own: Table, section: Section, match: re.Match[str]) -> None:
    if isinstance(own.target, Vrf):
        place = section.number, own.reading.file
        own.reading.facts.routes += static_route(match[1].split(), place, own.target.name, vrf_name, other="vrf")


VLAN: Rules[Vlan] = Rules(
    {r"vn-segment (\d{1,8})": _segment},
    heads("name, state, shutdown, no shutdown, mode, fabricpath, remote-span, media, rpvst, service-policy, ip, xconnect"),
)
TABLE: Rules[Table] = Rules(
    {
        r"rd (\S+)": value("rd"),
        r"route-target (import|export|both) (\S+)(?: evpn| mvpn)?": _target,
    },
    heads("export map, import map, import vrf, export vrf, maximum routes, description, route-target, mdt"),
)
VRF: Rules[Table] = Rules(
    {
        r"vni (\d{1,8})(?: l3)?": value("vni", int),
        r"rd (\S+)": value("rd"),
        r"address-family .+": _family,
        r"ip route (\S.+)": _route,
        r"ipv6 route (\S.+)": _route,
    },
    heads("""
        auto-recovery, description, evpn, hardware, ip, ipv6, isolate, mdt, multicast, mvpn, no shutdown, ospf,
        route-target, segment-routing, shutdown, vpn
    """),
)
EVPN: Rules[Overlay] = Rules(
    {r"vni (\d{1,8})(?: l2)?": _vni_table},
    heads("esi, ethernet-segment, multihoming, route-sync, storm-control, vlan-bundle, evi"),
)
TUNNEL: Rules[Overlay] = Rules(
    {
        r"source-interface (?!hold-down-time)(\S+)(?: .+)?": _source,
        r"multisite border-gateway interface (\S+)": _site,
        r"member vni ([\d,-]+)( associate-vrf)?": _member,
    },
    heads("""
        advertise, arp, config-profile, description, encapsulation, fabric, global, host-reachability, logging,
        multisite, overlay-encapsulation, service-policy, shutdown, source-address, source-interface, suppress,
        virtual-rmac, vpc, vxlan
    """),
)
MEMBER: Rules[Overlay] = Rules(
    {},
    heads("""
        ingress-replication, mcast-group, multisite, peer-ip, peer-vtep, spine-anycast-gateway, static, suppress,
        suppress-arp, suppress-nd, suppress-unknown-unicast
    """),
)
OVERLAY: Mapping[str, Rule[Overlay]] = {
    r"vlan (\d[\d,-]*)": _vlan,
    r"vrf context (\S+)": _vrf,
    r"evpn": _evpn,
    r"interface nve ?\d[\d,-]*": _tunnel,
}
