"""Reads the overlay of NX-OS: VLANs with their VNIs, VRFs, the tunnel interface, and `evpn`."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from fabric.model.facts import MANAGEMENT, Facts, Located, Vni, Vrf
from fabric.nos.nxos.read.words import HEADS, Rules, port_name, vrf_name
from fabric.nos.reading import numbers, static_route
from fabric.nos.reading.rules import Below, Line, Rule, Table, below, keep


@dataclass(slots=True)
class Overlay:
    """What the sections say; which VNIs are those of VRFs is known at the end."""

    segments: dict[int, tuple[Located[int], Located[int]]] = field(default_factory=dict)  # VNI → itself, its VLAN
    members: dict[int, Located[int]] = field(default_factory=dict)  # of the tunnel interface
    tables: dict[int, Vni] = field(default_factory=dict)  # of `evpn`
    of_vrfs: dict[int, Located[int]] = field(default_factory=dict)  # `member vni N associate-vrf`
    of_site: str = ""  # loopback whose address all border gateways of a site have

    def close(self, facts: Facts, file: str) -> None:
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


# --- VLANs: a VNI belongs to one ------------------------------------------------------------------------------


def _vlan(overlay: Overlay, line: Line) -> Below:
    return VLAN, [(overlay, line.located(numbers(line[1])))]


def _segment(vlans: tuple[Overlay, Located[tuple[int, ...]]], line: Line) -> None:
    overlay, section = vlans
    if len(section.value) == 1:
        parsed, vlan = line.located(int(line[1])), section.value[0]
        if (other := overlay.segments.get(parsed.value)) and other[1].value != vlan:
            for one, second in ((other[0], vlan), (parsed, other[1].value)):
                text = f"vn-segment {parsed.value} is that of VLAN {second} too"
                line.facts.conflicts.append(Located(text, one.line, one.file))
        overlay.segments[parsed.value] = (parsed, Located(vlan, section.line, section.file))


VLAN: Rules[tuple[Overlay, Located[tuple[int, ...]]]] = Rules(
    {r"vn-segment (\d{1,8})": _segment},
    "name, state, shutdown, no shutdown, mode, fabricpath, remote-span, media, rpvst, service-policy, ip, xconnect",
)

# --- VRFs and VNIs: both have a distinguisher and targets -----------------------------------------------------


def _target(table: Vrf | Vni, line: Line) -> None:
    """A VRF says a target twice, once for EVPN: it is one."""
    parsed = line.located(line[2])
    for direction, into in (("import", table.imports), ("export", table.exports)):
        if line[1] in (direction, "both") and parsed.value not in [other.value for other in into]:
            into.append(parsed)


def _route(vrf: Vrf, line: Line) -> None:
    line.facts.routes += static_route(line[1].split(), (line.number, line.file), vrf.name, vrf_name, other="vrf")


PASSED = "export map, import map, import vrf, export vrf, maximum routes, description, route-target, mdt"
TARGETS: Table[Any] = {r"rd (\S+)": keep("rd"), r"route-target (import|export|both) (\S+)(?: evpn| mvpn)?": _target}
OF_VNI: Rules[Vni] = Rules(TARGETS, PASSED)
FAMILY: Rules[Vrf] = Rules({**TARGETS, r"import map (\S+)(?: evpn)?": keep("leak_filter")}, PASSED)
VRF: Rules[Vrf] = Rules(
    {
        r"vni (\d{1,8})(?: l3)?": keep("vni", int),
        r"rd (\S+)": keep("rd"),
        r"address-family .+": below(FAMILY),
        r"(?:ip|ipv6) route (\S.+)": _route,
    },
    HEADS["vrf"],
)

# --- The tunnel interface, and `evpn` -------------------------------------------------------------------------


def _vrf(overlay: Overlay, line: Line) -> Below:
    """The default table is none that a config makes, and that of management is no tenant's."""
    name = vrf_name(line[1])
    vrf = Vrf(name=name, line=line.number, file=line.file)
    return VRF, [vrf if name in ("", MANAGEMENT) else line.facts.vrfs.setdefault(name, vrf)]


def _vni(overlay: Overlay, line: Line) -> Below:
    number = int(line[1])
    return OF_VNI, [overlay.tables.setdefault(number, Vni(number=number, line=line.number, file=line.file))]


def _source(overlay: Overlay, line: Line) -> None:
    line.facts.vtep = line.located(port_name(line[1]))


def _site(overlay: Overlay, line: Line) -> None:
    """The virtual IP of a site: "the same on all border gateways of the site" (NX-OS VXLAN guide, Multi-Site)."""
    overlay.of_site = port_name(line[1])


def _members(name: str) -> Rule[Overlay]:
    into = attrgetter(name)

    def members(overlay: Overlay, line: Line) -> Below:
        into(overlay).update((number, line.located(number)) for number in numbers(line[1]))
        return MEMBER, [overlay]

    return members


MEMBER: Rules[Overlay] = Rules({}, HEADS["member"])
EVPN: Rules[Overlay] = Rules(
    {r"vni (\d{1,8})(?: l2)?": _vni},
    "esi, ethernet-segment, multihoming, route-sync, storm-control, vlan-bundle, evi",
)
TUNNEL: Rules[Overlay] = Rules(
    {
        r"source-interface (?!hold-down-time)(\S+)(?: .+)?": _source,
        r"multisite border-gateway interface (\S+)": _site,
        r"member vni ([\d,-]+)": _members("members"),
        r"member vni ([\d,-]+) associate-vrf": _members("of_vrfs"),
    },
    HEADS["tunnel"],
)
OVERLAY: Table[Overlay] = {
    r"vlan (\d[\d,-]*)": _vlan,
    r"vrf context (\S+)": _vrf,
    r"evpn": below(EVPN),
    r"interface nve ?\d[\d,-]*": below(TUNNEL),
}
