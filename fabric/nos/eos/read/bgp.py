"""Reads `router bgp` of EOS: neighbors with what their peer groups say, VRFs, and the EVPN instances of VLANs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabric.base.grouping import grouped
from fabric.model.facts import MANAGEMENT, Authentication, Bgp, Facts, Located, Vni, Vrf
from fabric.nos.eos.statements import port_name
from fabric.nos.reading import Section, asn, each_name, is_address, numbers, password, peers
from fabric.nos.reading.peers import DIRECTIONS, UNICAST, Peer, Says
from fabric.nos.reading.rules import Below, Line, Reading, Rules, Table, add, heads_of, keep, switch, through

HEADS = heads_of(__file__)
MOST_ROUTES = 12000  # the limit of a neighbor that states none; 0 is no limit
FAMILIES = {**peers.FAMILIES, "ipv4": "ipv4", "ipv6": "ipv6", "evpn": "evpn"}


def vrf_name(text: str) -> str:
    """`default` is the table without a name; `MGMT`, as every EOS page calls it, that of management."""
    if text == "default":
        return ""
    return MANAGEMENT if text.upper() in ("MGMT", "MANAGEMENT") else text


# --- Processes, and that of each VRF --------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Process:
    """A BGP process, or that of a VRF; groups and defaults are the process's."""

    target: Bgp
    vrf: Vrf
    asn: Located[int] | None
    groups: dict[str, Peer]
    default: Peer  # what holds for neighbors that say nothing
    peers: dict[str, Peer] = field(default_factory=dict)
    ranges: dict[str, Peer] = field(default_factory=dict)
    in_families: dict[str, Peer] = field(default_factory=dict)  # what address families say of neighbors and groups
    filtered: dict[str, Located[Any]] = field(default_factory=dict)  # peers whose AS a list of numbers decides
    active: tuple[str, ...] = ("ipv4",)
    vrfs: dict[str, Process] = field(default_factory=dict)
    section: Located[str] | None = None  # where a VRF stands, and its route targets of EVPN
    routed: Located[str] | None = None

    def close(self) -> None:
        """Makes the neighbors, now that every group is known."""
        for peer in (*self.peers.values(), *self.ranges.values()):
            group = peer.group.value if peer.group else ""
            own = self.in_families.get(peer.name)
            peer.families = own.families if own else {}
            peer.values |= own.values if own else {}
            active = self.active if ":" not in peer.name else ()
            made = peer.neighbor(self.target.vrf, (self.default, self.in_families.get(group), self.groups.get(group)), active)
            made.families.sort(key=lambda family: list(peers.FAMILIES.values()).index(family.value))
            made.remote_as = made.remote_as or self.filtered.get(peer.name)
            made.extended = made.extended or Located(False, peer.line, peer.file)
            made.unchanged = made.unchanged or Located(False, peer.line, peer.file)
            made.max_prefix = made.max_prefix or Located(MOST_ROUTES, peer.line, peer.file)
            self.target.neighbors[peer.name] = made
        for process in self.vrfs.values():
            process.close()


def read_bgp(reading: Reading, config: Section) -> tuple[dict[str, Located[str]], dict[str, Located[str]]]:
    """Into `facts.bgp`, and the route targets of VRFs and VNIs; gives the VRFs with targets of EVPN, and all that BGP has."""
    routed: dict[str, Located[str]] = {}
    tables: dict[str, Located[str]] = {}
    facts, file = reading.facts, reading.file
    number, known = None, config
    for text, sections in grouped(config.each("router bgp")).items():
        first = sections[0]
        whole = Section(first.line, first.number, [part for section in sections for part in section.parts])
        if number is None:
            number, known = asn(text), first
        elif asn(text) != number:  # EOS refuses a second process
            fault = f"the AS number of BGP is {text} here and {number} in line {known.number}"
            facts.conflicts.append(Located(fault, first.number, file))
        own = Located(number, first.number, file) if number is not None else None
        vrf, default = Vrf(name="", line=first.number, file=file), _peer("", first.number, file)
        process = Process(target=_bgp(facts, "", whole, file, own), asn=own, groups={}, default=default, vrf=vrf)
        PROCESS.over(whole, [process], reading)  # one process, where it is entered several times
        process.close()
        # One path unless `maximum-paths` is stated (Arista, TOI "BGP multipath": default 1).
        process.target.max_paths = process.target.max_paths or Located(1, first.number, file)
        tables |= {name: own.section for name, own in process.vrfs.items() if own.section}
        routed |= {name: own.routed for name, own in process.vrfs.items() if own.routed}
    return routed, tables


def _bgp(facts: Facts, vrf: str, section: Section, file: str, number: Located[int] | None) -> Bgp:
    own = facts.bgp.setdefault(vrf, Bgp(vrf=vrf, line=section.number, file=file))
    own.asn, own.relax = number, Located(True, section.number, file)  # on by default
    return own


def _peer(name: str, line: int, file: str) -> Peer:
    return Peer(name=name, line=line, file=file)


def _vrf(process: Process, line: Line) -> Below:
    name = vrf_name(line[1])
    if not name:
        return VRF, [process]
    if name not in process.vrfs:
        bgp = _bgp(line.facts, name, line.section, line.file, process.asn)
        vrf = Vrf(name=name, line=line.number, file=line.file)
        vrf = vrf if name == MANAGEMENT else line.facts.vrfs.setdefault(name, vrf)
        shared: dict[str, Any] = {"asn": process.asn, "groups": process.groups, "default": process.default}
        process.vrfs[name] = Process(target=bgp, vrf=vrf, section=line.located(name), **shared)
    return VRF, [process.vrfs[name]]


# --- Neighbors and groups -------------------------------------------------------------------------------------


def _authentication(words: list[str]) -> Authentication:
    """`password 7 …`, `password shared-secret profile NAME algorithm …`; a password without a type is in clear text."""
    if words[0] == "shared-secret":
        return Authentication("TCP-AO")
    return password(words[-1], encrypted=len(words) > 1 and words[0] != "0")


def _filter(words: list[str]) -> dict[str, Any]:
    return {DIRECTIONS[words[1]]: words[0]}


VERBS: Mapping[str, Says] = {
    **peers.VERBS,
    "maximum-routes": peers.max_prefix,
    "next-hop-unchanged": lambda words: {"unchanged": True},
    "password": lambda words: {"authentication": _authentication(words)},
    "prefix-list": _filter,
    "route-map": _filter,
    "send-community": lambda words: {"extended": not words or "extended" in words},
    "update-source": lambda words: {"source": port_name("".join(words[:2]))} if words else {},
}


def _say(peer: Peer, line: Line, text: str, *, first: bool = False) -> None:
    """What a line says of a neighbor; one that lacks a word says nothing. Of a group the first line counts."""
    verb, *words = text.split() or [""]
    if verb in ("peer", "peer-group") and not first:
        at = 2 if verb == "peer" and len(words) > 1 else 1
        peer.group = line.located((words or [""])[at - 1])
        verb, *words = words[at:] or [""]
    try:
        fields = {name: line.located(value) for name, value in VERBS[verb](words).items()}
    except (LookupError, ValueError):
        return
    peer.values = {**fields, **peer.values} if first else {**peer.values, **fields}


def _neighbor(process: Process, line: Line) -> None:
    name = line[1]
    known = process.peers if is_address(name) else process.groups
    _say(known.setdefault(name, _peer(name, line.number, line.file)), line, line[2], first=known is process.groups)


def _unnumbered(process: Process, line: Line) -> None:
    for name in each_name(port_name(line[1])):
        peer = process.peers.setdefault(name, _peer(name, line.number, line.file))
        peer.interface = True
        _say(peer, line, line[2])
        if "peer-filter" in line[2].split():
            process.filtered.setdefault(name, line.located("any"))


def _range(process: Process, line: Line) -> None:
    peer = process.ranges.setdefault(line[1], _peer(line[1], line.number, line.file))
    peer.dynamic = True
    _say(peer, line, line[2])


def _default(process: Process, line: Line) -> None:
    _say(process.default, line, line[1], first=True)


def _timers(process: Process, line: Line) -> None:
    _say(process.default, line, f"timers {line[1]}")


def _none_active(process: Process, line: Line) -> None:
    process.active = ()


# --- Address families: what is activated for a neighbor or its group; IPv4 unless stated ----------------------


@dataclass(slots=True)
class Family:
    process: Process
    name: str

    def of(self, name: str, line: Line) -> Peer:
        return self.process.in_families.setdefault(name, _peer(name, line.number, line.file))


def _family(process: Process, line: Line) -> Below | None:
    name = FAMILIES.get(line[1], "")
    return ((UNICAST_FAMILY if name in UNICAST else FAMILY), [Family(process, name)]) if name else None


def _active(family: Family, line: Line) -> None:
    family.of(line[1], line).families[family.name] = line.located(True)


def _inactive(family: Family, line: Line) -> None:
    family.of(line[1], line).families.setdefault(family.name, line.located(False))


def _in_family(family: Family, line: Line) -> None:
    _say(family.of(line[1], line), line, line[2], first=not is_address(line[1]))


ROUTES: Table[Bgp] = {  # what enters BGP
    r"redistribute connected(?: route-map (\S+))?(?: .*)?": keep("connected"),
    r"aggregate-address (\S+)(?: .*)?": add("aggregates"),
    r"network (\S+/\d+)(?: .*)?": add("networks"),
    r"((?:network|redistribute) .+)": keep("originates"),
}
NEIGHBORS: Table[Family] = {
    r"neighbor (\S+) activate(?: .*)?": _active,
    r"no neighbor (\S+) activate(?: .*)?": _inactive,
    r"neighbor (\S+) (.+)": _in_family,
}
FAMILY: Rules[Family] = Rules(NEIGHBORS, None)
UNICAST_FAMILY: Rules[Family] = Rules({**NEIGHBORS, **through("process.target", ROUTES)}, None)

# --- EVPN -----------------------------------------------------------------------------------------------------


def _targets(own: Vni | Vrf, line: Line) -> None:
    words = line[1].split()
    if words[-2:-1] == ["route-map"]:
        if words[0] == "import" and isinstance(own, Vrf):
            own.leak_filter = line.located(words[-1])
        return
    for kind, into in (("import", own.imports), ("export", own.exports)):
        if kind in words[:2] or words[0] == "both":
            into += [line.located(word) for word in words[1:] if ":" in word or word is words[-1]]


def _vlans(process: Process, line: Line) -> Below:
    return EVPN, list(_stretched(line, numbers(line[1]), tagged=False))


def _bundle(process: Process, line: Line) -> Below:
    vlans = [vlan for text, _ in line.section.each("vlan") for vlan in numbers(text)]
    return EVPN, list(_stretched(line, vlans, tagged=True))


def _stretched(line: Line, vlans: Sequence[int], *, tagged: bool) -> Iterator[Vni]:
    """Each VLAN is an instance without tags; those of a bundle differ by theirs (RFC 7432 section 6)."""
    for vni in line.facts.vnis.values():
        if vni.vlan and vni.vlan.value in vlans:
            vni.tagged, vni.learned = line.located(tagged), vni.learned or line.located(False)
            yield vni


def _of_vrf(process: Process, line: Line) -> None:
    _targets(process.vrf, line)
    if "evpn" in line[1].split():
        process.routed = process.routed or line.located(process.vrf.name)


DISTINGUISHER: Table[Any] = {r"rd (?:.+ )?(\S+)": keep("rd")}
EVPN: Rules[Vni] = Rules(
    {**DISTINGUISHER, r"route-target (.+)": _targets, r"redistribute learned.*": switch("learned", True)}, None
)

# --- Lines ----------------------------------------------------------------------------------------------------

OF_PROCESS: Table[Process] = {
    r"router-id (.+)": keep("target.router_id"),
    r"maximum-paths (\d{1,11})(?: .*)?": keep("target.max_paths", int),
    r"no bgp bestpath as-path multipath-relax(?: .*)?": switch("target.relax", False),
    r"no bgp default ipv4-unicast": _none_active,
    r"neighbor interface (\S+)(?: (.*))?": _unnumbered,
    r"neighbor (\S+)(?: (.*))?": _neighbor,
    r"bgp listen range (\S+)(?: (.*))?": _range,
    r"address-family (.+)": _family,
    **through("target", ROUTES),
}
VRF: Rules[Process] = Rules(
    {
        **OF_PROCESS,
        **through("vrf", DISTINGUISHER),
        r"route-target (.+)": _of_vrf,
        r"local-as (.+)": keep("target.asn", lambda text: asn(text) or 0),
    },
    None,
)
PROCESS: Rules[Process] = Rules(
    {
        r"timers bgp (.+)": _timers,
        r"neighbor default (send-community.*)": _default,
        **OF_PROCESS,
        r"vlan (.+)": _vlans,
        r"vlan-aware-bundle .+": _bundle,
        r"vrf (.+)": _vrf,
    },
    HEADS["process"],
)
