"""Reads the overlay of NX-OS: VLANs with their VNIs, VRFs, the tunnel interface, and `evpn`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from fabric.model.facts import MANAGEMENT, Chain, Facts, Located, Part, Vni, Vrf
from fabric.nos.nxos.read.words import HEADS, Rules, port_name, vrf_name
from fabric.nos.reading import numbers, static_route
from fabric.nos.reading.rules import Below, Line, Rule, Table, below, keep, switch

if TYPE_CHECKING:
    from fabric.nos.nxos.read.ports import Port


@dataclass(slots=True, kw_only=True)
class Overlay:
    """What the sections say; which VNIs are those of VRFs is known at the end."""

    segments: dict[int, tuple[Located[int], Located[int]]] = field(default_factory=dict)  # VNI → itself, its VLAN
    members: dict[int, Located[int]] = field(default_factory=dict)  # of the tunnel interface
    tables: dict[int, Vni] = field(default_factory=dict)  # of `evpn`
    of_vrfs: dict[int, Located[int]] = field(default_factory=dict)  # `member vni N associate-vrf`
    of_site: str = ""  # loopback whose address all border gateways of a site have
    without_vlan: set[int] = field(default_factory=set)  # VNIs of VRFs that need none: `vni 50001 l3`
    tunnel: Located[str] | None = None  # the tunnel interface, and what it says
    up: Located[bool] | None = None
    reachable: Located[bool] | None = None  # remote leaves are learned by BGP
    flooded: dict[int, Located[bool]] = field(default_factory=dict)  # VNIs whose broadcast has a way
    floods: Located[bool] | None = None  # … or that of every VNI

    def close(self, facts: Facts, file: str, ports: Mapping[str, Port]) -> None:
        routed = {vrf.vni.value for vrf in facts.vrfs.values() if vrf.vni} | set(self.of_vrfs)
        lines = {number: parsed.line for number, parsed in self.members.items()}
        lines |= {number: vni.line for number, vni in self.tables.items()}
        lines |= {number: parsed.line for number, (parsed, _) in self.segments.items()}
        for number in sorted(lines.keys() - routed):
            vni = self.tables.get(number) or Vni(number=number, line=0, file=file)
            vni.line = lines[number]
            vni.tagged = Located(False, vni.line, file)
            vni.vlan = self.segments[number][1] if number in self.segments else None
            facts.vnis[number] = vni
        for vrf in facts.vrfs.values():
            if vrf.vni and vrf.vni.value in self.segments:
                vrf.vlan = self.segments[vrf.vni.value][1]
        speaks = any(family.value == "evpn" for peer in facts.neighbors() for family in peer.families)
        if self.tunnel and speaks:
            facts.chains += (self._tunnel(self.tunnel, ports), *self._tenants(facts, ports), *self._networks(routed))

    def _tunnel(self, tunnel: Located[str], ports: Mapping[str, Port]) -> Chain:
        """It is shut down unless `no shutdown` is stated; a config in which no port has it does not tell."""
        stated = any(port.target.enabled and port.target.enabled.value for port in ports.values())
        name, by_bgp = f"interface {tunnel.value}", Part("`host-reachability protocol bgp`", self.reachable, inside=True)
        parts = (Part(name, tunnel), by_bgp)
        return Chain(tunnel.value, (*parts, Part("`no shutdown`", self.up, inside=True)) if stated else parts)

    def _tenants(self, facts: Facts, ports: Mapping[str, Port]) -> Iterator[Chain]:
        """A VRF needs a VLAN with its VNI and the VLAN's interface, which forwards IP (NX-OS VXLAN guide, "VRF Overlay")."""
        for vrf in facts.vrfs.values():
            if vrf.vni is None:
                continue
            number, parts = vrf.vni.value, [Part(f"VNI {vrf.vni.value}", vrf.vni)]
            if number not in self.without_vlan:
                segment = self.segments.get(number)
                vlan = f"VLAN {segment[1].value}" if segment else f"VLAN with `vn-segment {number}`"
                parts.append(Part(vlan, segment[0] if segment else None))
                parts += self._forwarding(vrf, ports.get(f"Vlan{segment[1].value}"), segment[1].value) if segment else ()
            parts.append(Part(f"`member vni {number} associate-vrf` of the tunnel interface", self.of_vrfs.get(number)))
            yield Chain(f"VRF {vrf.name}", tuple(parts))

    def _forwarding(self, vrf: Vrf, port: Port | None, vlan: int) -> Iterator[Part]:
        name = f"Vlan{vlan}"
        here = Located(name, port.target.line, port.target.file) if port else None
        yield Part(f"interface {name}", here)
        if port is None:
            return
        own = port.target
        member = own.vrf if own.vrf and own.vrf.value == vrf.name else None
        yield Part(f"`vrf member {vrf.name}`", member, inside=True)
        yield Part("`no shutdown`", here if own.enabled is None or own.enabled.value else None, inside=True)
        routed = port.forwards or next(iter(own.addresses), None) or (here if own.link_local else None)
        yield Part("`ip forward`", routed, inside=True)

    def _networks(self, routed: set[int]) -> Iterator[Chain]:
        for number, (segment, vlan) in self.segments.items():
            if number not in routed:
                member, parts = self.members.get(number), [Part(f"VNI {number}", segment)]
                parts.append(Part(f"`member vni {number}` of the tunnel interface", member))
                if member is not None:
                    way = self.flooded.get(number) or self.floods
                    parts.append(Part("`mcast-group` or `ingress-replication`", way, inside=True))
                yield Chain(f"VLAN {vlan.value}", tuple(parts))
        for number, member in self.members.items():
            if number not in self.segments and number not in routed:
                none = Part(f"VLAN with `vn-segment {number}`", None)
                yield Chain(f"VNI {number}", (Part(f"`member vni {number}`", member), none))


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
    own = (part.line.split() for part in line.section.parts if part.line.startswith("vni "))
    overlay.without_vlan |= {int(words[1]) for words in own if words[2:] == ["l3"] and words[1].isdecimal()}
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
        vnis = numbers(line[1])
        into(overlay).update((number, line.located(number)) for number in vnis)
        return MEMBER, [(overlay, vnis)]

    return members


def _flooded(member: tuple[Overlay, tuple[int, ...]], line: Line) -> None:
    member[0].flooded |= dict.fromkeys(member[1], line.located(True))


def _tunnel(overlay: Overlay, line: Line) -> Below:
    overlay.tunnel = line.located(line.section.line.removeprefix("interface ").replace(" ", ""))
    return TUNNEL, [overlay]


MEMBER: Rules[tuple[Overlay, tuple[int, ...]]] = Rules(
    {r"(?:mcast-group|ingress-replication|spine-anycast-gateway|peer-ip|peer-vtep|multisite)\b.*": _flooded}, HEADS["member"]
)
EVPN: Rules[Overlay] = Rules(
    {r"vni (\d{1,8})(?: l2)?": _vni},
    "esi, ethernet-segment, multihoming, route-sync, storm-control, vlan-bundle, evi",
)
TUNNEL: Rules[Overlay] = Rules(
    {
        r"source-interface (?!hold-down-time)(\S+)(?: .+)?": _source,
        r"multisite border-gateway interface (\S+)": _site,
        r"no shutdown": switch("up", True),
        r"host-reachability protocol (?:bgp|controller|openflow).*": switch("reachable", True),
        r"global (?:mcast-group \S+ L2|ingress-replication protocol bgp).*": switch("floods", True),
        r"member vni ([\d,-]+)": _members("members"),
        r"member vni ([\d,-]+) associate-vrf": _members("of_vrfs"),
    },
    HEADS["tunnel"],
)
OVERLAY: Table[Overlay] = {
    r"vlan (\d[\d,-]*)": _vlan,
    r"vrf context (\S+)": _vrf,
    r"evpn": below(EVPN),
    r"interface nve ?\d[\d,-]*": _tunnel,
}
