"""Reads BGP of NX-OS: neighbors, and what they inherit from templates of peers, sessions and policies."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from fabric.model.facts import Authentication, Bgp, Located, Neighbor
from fabric.nos.nxos.read.words import HEADS, Rules, port_name, vrf_name
from fabric.nos.reading import Section, asn, is_address, password
from fabric.nos.reading.peers import DIRECTIONS, FAMILIES, UNICAST, VERBS
from fabric.nos.reading.rules import Below, Line, Rule, add, keep, known, put, switch

FILTERS = ("route-map", "prefix-list", "filter-list")  # of several on one session the first is named
DEPTH = 16  # of templates that inherit from templates
OF_FAMILIES = ("import_filter", "export_filter", "max_prefix", "allowas_in", "reflected")


@dataclass(slots=True)
class Block:
    """What a neighbor, a template, or an address family of one of them says itself."""

    values: dict[str, Located[Any]] = field(default_factory=dict)  # by fields of a neighbor, and "route-map in"
    families: dict[str, Block] = field(default_factory=dict)
    names: dict[str, Located[str]] = field(default_factory=dict)  # of the families
    inherits: list[tuple[int, str, str]] = field(default_factory=list)  # (order, kind of template, name)

    def fill(self, other: Block) -> None:
        """Takes what it does not say itself."""
        self.values = other.values | self.values
        for name, family in other.families.items():
            mine = self.families.get(name, Block())
            self.families[name] = Block(family.values | mine.values)
        self.names = {**self.names, **{name: parsed for name, parsed in other.names.items() if name not in self.names}}


@dataclass(slots=True)
class Templates:
    """The templates of a process, by kind and name; each is put together once."""

    own: dict[tuple[str, str], Block] = field(default_factory=dict)
    _whole: dict[tuple[str, str], Block] = field(default_factory=dict)

    def whole(self, block: Block, depth: int = 0) -> Block:
        """A block with all that it inherits: its own values win, then those of the first template."""
        found = Block(dict(block.values), {}, dict(block.names))
        for name, family in block.families.items():
            found.families[name] = self.whole(family, depth)
        for _, kind, name in sorted(block.inherits) if depth < DEPTH else ():
            found.fill(self._template((kind, name), depth + 1))
        return found

    def _template(self, key: tuple[str, str], depth: int) -> Block:
        if key not in self._whole:
            self._whole[key] = Block()  # so that a circle ends
            if key in self.own:
                self._whole[key] = self.whole(self.own[key], depth)
        return self._whole[key]


@dataclass(slots=True)
class Process:
    """A BGP process, or that of a VRF; the templates are the process's."""

    target: Bgp
    templates: Templates
    neighbors: dict[str, tuple[int, Block]] = field(default_factory=dict)  # and the lines that name them first
    timers: dict[str, Located[Any]] = field(default_factory=dict)  # of neighbors that say none
    vrfs: dict[str, Process] = field(default_factory=dict)

    def close(self, file: str, keeping: Set[str]) -> None:
        """Makes the neighbors, now that every template is known; `keeping` are route maps that keep the next hop."""
        own = self.target
        for peer, (line, block) in self.neighbors.items():
            whole = self.templates.whole(block)
            values = self.timers | whole.values
            for family in whole.families.values():
                for name, parsed in _of_family(family.values).items():
                    values.setdefault(name, parsed)
            neighbor = Neighbor(vrf=own.vrf, peer=peer, line=line, file=file, families=list(whole.names.values()))
            if (evpn := whole.families.get("evpn")) is not None:  # sends and keeps nothing by default
                home = whole.names["evpn"]
                neighbor.extended = evpn.values.get("extended") or Located(False, home.line, home.file)
                policy = evpn.values.get("route-map out")
                neighbor.rewrites = evpn.values.get("rewrites")
                neighbor.unchanged = Located(policy is not None and policy.value in keeping, home.line, home.file)
            neighbor.interface = not is_address(peer.partition("/")[0])
            neighbor.dynamic = "/" in peer and not neighbor.interface
            for name, parsed in values.items():
                setattr(neighbor, name, parsed)
            own.neighbors[peer] = neighbor
        if own.retained is None:  # by default, only those that a VRF or VNI imports
            own.retained = Located(False, own.line, file)
        # One path, of neighbors of one AS, unless more is stated (NX-OS Unicast Routing Configuration Guide, "Advanced BGP").
        own.max_paths = own.max_paths or Located(1, (own.internal_paths or own).line, file)
        own.relax = own.relax or Located(False, own.line, file)
        for process in self.vrfs.values():
            process.close(file, keeping)


def start(line: Line) -> Process:
    own = line.facts.bgp.setdefault("", Bgp(vrf="", line=line.number, file=line.file))
    own.asn = line.located(asn(line[1]) or 0)
    return Process(own, Templates())


def _of_family(values: dict[str, Located[Any]]) -> dict[str, Located[Any]]:
    found = {name: values[name] for name in OF_FAMILIES if name in values}
    for direction, name in DIRECTIONS.items():
        parsed = next((values[f"{kind} {direction}"] for kind in FILTERS if f"{kind} {direction}" in values), None)
        if parsed is not None:
            found[name] = parsed
    return found


# --- Neighbors and templates ----------------------------------------------------------------------------------


def _shared(block: Block, line: Line) -> None:
    """A line in the words that network OSes share."""
    verb, *words = line.match.string.split()
    block.values |= {name: line.located(value) for name, value in VERBS[verb](words).items()}


def _family(block: Block, line: Line) -> Below:
    name = FAMILIES.get(line[1], line[1])
    block.names.setdefault(name, line.located(name))
    return FAMILY, [block.families.setdefault(name, Block())]


def _inherit(block: Block, line: Line) -> None:
    block.inherits = [own for own in block.inherits if own[1] != line[1]] + [(0, line[1], line[2])]


def _inherit_policy(block: Block, line: Line) -> None:
    block.inherits.append((int(line[2] or 0), "peer-policy", line[1]))


def _kept(name: str, convert: Callable[[str], object] = str) -> Rule[Block]:
    return put("values", name, convert)


BLOCK: Rules[Block] = Rules(
    {
        r"remote-as (?:\d{1,10}|\d{1,5}\.\d{1,5}|external|internal)": _shared,
        r"local-as (?:\d{1,10}|\d{1,5}\.\d{1,5})\b.*": _shared,
        r"description .+": _shared,
        r"shutdown": _shared,
        r"ebgp-multihop \d{1,3}": _shared,
        r"bfd(?: .+)?": _shared,
        r"timers \d{1,5} \d{1,5}": _shared,
        r"remote-as route-map \S+": known,
        r"update-source (\S+)": _kept("source", port_name),
        r"no shutdown": _kept("enabled", lambda _: True),
        r"no bfd(?: .+)?": _kept("bfd", lambda _: False),
        r"password (?:0 )?(\S+)": _kept("authentication", password),
        r"password \d \S+": _kept("authentication", lambda _: Authentication("MD5")),
        r"ao \S+.*": _kept("authentication", lambda _: Authentication("TCP-AO")),
        r"inherit (peer|peer-session) (\S+)": _inherit,
        r"address-family (.+)": _family,
    },
    HEADS["neighbor"],
)  # fmt: skip
FAMILY: Rules[Block] = Rules(
    {
        **{rf"{kind} (\S+) {way}": _kept(f"{kind} {way}") for kind in FILTERS for way in DIRECTIONS},
        r"maximum-prefix \d{1,9}\b.*": _shared,
        r"allowas-in(?: \d{1,2})?": _shared,
        r"route-reflector-client": _shared,
        r"send-community (?:extended|both)": _kept("extended", lambda _: True),
        r"rewrite-evpn-rt-asn": _kept("rewrites", lambda _: True),
        r"inherit peer-policy (\S+)(?: (\d{1,5}))?": _inherit_policy,
    },
    HEADS["neighbor family"],
)

# --- The process ----------------------------------------------------------------------------------------------------


def _max_paths(own: Bgp, line: Line) -> None:
    if own.max_paths is None or int(line[1]) < own.max_paths.value:
        own.max_paths = line.located(int(line[1]))


OF_FAMILY = HEADS["family"]
ROUTES: Rules[Bgp] = Rules(
    {
        r"maximum-paths ibgp (\d{1,4})": keep("internal_paths", int),
        r"maximum-paths (?:mixed |eibgp )?(\d{1,4})": _max_paths,
        r"redistribute (?:direct|connected)(?: route-map (\S+))?": keep("connected"),
        r"aggregate-address (\S+)(?: .+)?": add("aggregates"),
        r"network (\S+/\d+)(?: .*)?": add("networks"),
        r"((?:network|redistribute|default-information|inject-map) .+)": keep("originates"),
    },
    OF_FAMILY,
)
OTHER: Rules[Bgp] = Rules({r"aggregate-address \S+(?: .+)?": known}, OF_FAMILY)
EVPN: Rules[Bgp] = Rules(
    {
        r"retain route-target (?:all|route-map \S+)": switch("retained", True),
        r"aggregate-address \S+(?: .+)?": known,
    },
    OF_FAMILY,
)


def _vrf(process: Process, line: Line) -> Below:
    name = vrf_name(line[1])
    if name not in process.vrfs:
        bgp = Bgp(vrf=name, line=line.number, file=line.file, asn=process.target.asn)
        process.vrfs[name] = Process(bgp, process.templates, timers=process.timers)
        line.facts.bgp[name] = bgp
    return PROCESS, [process.vrfs[name]]


def _neighbor(process: Process, line: Line) -> Below:
    _, block = process.neighbors.setdefault(_peer(line[1]), (line.number, Block()))
    if line[2]:
        BLOCK.line(Section(line[2], line.number), [block], line.reading)
    return BLOCK, [block]


def _peer(text: str) -> str:
    if not is_address(text.partition("/")[0]):
        return port_name(text)
    return str(ip_network(text, strict=False)) if "/" in text else str(ip_address(text))


def _template(process: Process, line: Line) -> Below:
    block = process.templates.own.setdefault((line[1], line[2]), Block())
    return (FAMILY if line[1] == "peer-policy" else BLOCK), [block]


def _timers(process: Process, line: Line) -> None:
    process.timers = {name: line.located(value) for name, value in VERBS["timers"](line[1].split()).items()}


def _family_of_all(process: Process, line: Line) -> Below:
    family = FAMILIES.get(line[1], line[1])
    return (ROUTES if family in UNICAST else EVPN if family == "evpn" else OTHER), [process.target]


PROCESS: Rules[Process] = Rules(
    {
        r"router-id (\d+\.\d+\.\d+\.\d+)": keep("target.router_id"),
        r"bestpath (?:.* )?multipath-relax\b.*": switch("target.relax", True),
        r"timers bgp (\d{1,5} \d{1,5})": _timers,
        r"local-as (\d{1,10}|\d{1,5}\.\d{1,5})\b.*": keep("target.asn", lambda text: asn(text) or 0),
        r"address-family (.+)": _family_of_all,
        r"neighbor (\S+)(?: (.+))?": _neighbor,
        r"template (peer|peer-session|peer-policy) (\S+)": _template,
        r"vrf (\S+)": _vrf,
    },
    HEADS["process"],
)  # fmt: skip
