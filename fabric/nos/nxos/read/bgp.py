"""Reads BGP of NX-OS: neighbors, and what they inherit from templates of peers, sessions and policies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from fabric.model.facts import Authentication, Bgp, Located, Neighbor
from fabric.nos.nxos.read.rules import Below, Reading, Rule, Rules, constant, heads, known, port_name, vrf_name
from fabric.nos.reading import Section, asn, is_address, password
from fabric.nos.reading.values import DIRECTIONS, FAMILIES, UNICAST, VERBS

FILTERS = ("route-map", "prefix-list", "filter-list")  # of several on one session the first is named
DEPTH = 16  # of templates that inherit from templates
OF_FAMILIES = ("import_filter", "export_filter", "max_prefix", "allowas_in", "reflected")


@dataclass(slots=True)
class Block:
    """What a neighbor, a template, or an address family of one of them says itself."""

    reading: Reading
    values: dict[str, Located[Any]] = field(default_factory=dict)  # by fields of a neighbor, and "route-map in"
    families: dict[str, Block] = field(default_factory=dict)
    names: dict[str, Located[str]] = field(default_factory=dict)  # of the families
    inherits: list[tuple[int, str, str]] = field(default_factory=list)  # (order, kind of template, name)

    @property
    def target(self) -> object:
        return self

    def fill(self, other: Block) -> None:
        """Takes what it does not say itself."""
        self.values = other.values | self.values
        for name, family in other.families.items():
            mine = self.families.get(name, Block(self.reading))
            self.families[name] = Block(self.reading, family.values | mine.values)
        self.names = {**self.names, **{name: parsed for name, parsed in other.names.items() if name not in self.names}}


@dataclass(slots=True)
class Templates:
    """The templates of a process, by kind and name; each is put together once."""

    own: dict[tuple[str, str], Block] = field(default_factory=dict)
    _whole: dict[tuple[str, str], Block] = field(default_factory=dict)

    def whole(self, block: Block, depth: int = 0) -> Block:
        """A block with all that it inherits: its own values win, then those of the first template."""
        found = Block(block.reading, dict(block.values), {}, dict(block.names))
        for name, family in block.families.items():
            found.families[name] = self.whole(family, depth)
        for _, kind, name in sorted(block.inherits) if depth < DEPTH else ():
            found.fill(self._template((kind, name), block.reading, depth + 1))
        return found

    def _template(self, key: tuple[str, str], reading: Reading, depth: int) -> Block:
        if key not in self._whole:
            self._whole[key] = Block(reading)  # so that a circle ends
            if key in self.own:
                self._whole[key] = self.whole(self.own[key], depth)
        return self._whole[key]


@dataclass(slots=True, kw_only=True)
class Process:
    """A BGP process, or that of a VRF; the templates are the process's."""

    reading: Reading
    target: Bgp
    templates: Templates
    neighbors: dict[str, tuple[Section, Block]] = field(default_factory=dict)
    timers: dict[str, Located[Any]] = field(default_factory=dict)  # of neighbors that say none
    vrfs: dict[str, Process] = field(default_factory=dict)

    def close(self) -> None:
        """Makes the neighbors, now that every template is known."""
        for peer, (section, block) in self.neighbors.items():
            whole = self.templates.whole(block)
            values = self.timers | whole.values
            for family in whole.families.values():
                for name, parsed in _of_family(family.values).items():
                    values.setdefault(name, parsed)
            file = self.reading.file
            families = list(whole.names.values())
            neighbor = Neighbor(vrf=self.target.vrf, peer=peer, line=section.number, file=file, families=families)
            if (evpn := whole.families.get("evpn")) is not None:  # sends and keeps nothing by default
                home = whole.names["evpn"]
                neighbor.extended = evpn.values.get("extended") or Located(False, home.line, home.file)
                policy = evpn.values.get("route-map out")
                kept = policy is not None and policy.value in self.reading.keeping
                neighbor.unchanged = Located(kept, home.line, home.file)
            neighbor.interface = not is_address(peer.partition("/")[0])
            neighbor.dynamic = "/" in peer and not neighbor.interface
            for name, parsed in values.items():
                setattr(neighbor, name, parsed)
            self.target.neighbors[peer] = neighbor
        if self.target.retained is None:  # by default, only those that a VRF or VNI imports
            self.target.retained = Located(False, self.target.line, self.target.file)
        for process in self.vrfs.values():
            process.close()


@dataclass(slots=True)
class Shared:
    """An address family of the process."""

    reading: Reading
    target: Bgp
    family: str

    @property
    def unicast(self) -> bool:
        return self.family in UNICAST


def start(reading: Reading, section: Section, text: str) -> Process:
    facts = reading.facts
    own = facts.bgp.setdefault("", Bgp(vrf="", line=section.number, file=reading.file))
    own.asn = reading.located(asn(text) or 0, section)
    return Process(reading=reading, target=own, templates=Templates())


def _of_family(values: dict[str, Located[Any]]) -> dict[str, Located[Any]]:
    found = {name: values[name] for name in OF_FAMILIES if name in values}
    for direction, name in DIRECTIONS.items():
        parsed = next((values[f"{kind} {direction}"] for kind in FILTERS if f"{kind} {direction}" in values), None)
        if parsed is not None:
            found[name] = parsed
    return found


# --- the process ----------------------------------------------------------------------------------------------------


def _vrf(process: Process, section: Section, match: re.Match[str]) -> Below:
    name = vrf_name(match[1])
    if name not in process.vrfs:
        bgp = Bgp(vrf=name, line=section.number, file=process.reading.file, asn=process.target.asn)
        process.vrfs[name] = Process(reading=process.reading, target=bgp, templates=process.templates, timers=process.timers)
        process.reading.facts.bgp[name] = bgp
    return PROCESS, [process.vrfs[name]]


def _neighbor(process: Process, section: Section, match: re.Match[str]) -> Below:
    peer, rest = _peer(match[1]), match[2]
    _, block = process.neighbors.setdefault(peer, (section, Block(process.reading)))
    if rest:
        BLOCK.line(Section(rest, section.number), [block])
    return BLOCK, [block]


def _peer(text: str) -> str:
    if not is_address(text.partition("/")[0]):
        return port_name(text)
    return str(ip_network(text, strict=False)) if "/" in text else str(ip_address(text))


def _template(process: Process, section: Section, match: re.Match[str]) -> Below:
    block = process.templates.own.setdefault((match[1], match[2]), Block(process.reading))
    return (FAMILY if match[1] == "peer-policy" else BLOCK), [block]


def _process_timers(process: Process, section: Section, match: re.Match[str]) -> None:
    fields = VERBS["timers"](match[1].split())
    process.timers = {name: process.reading.located(value, section) for name, value in fields.items()}


def _asn(process: Process, section: Section, match: re.Match[str]) -> None:
    process.target.asn = process.reading.located(asn(match[1]) or 0, section)


def _router_id(process: Process, section: Section, match: re.Match[str]) -> None:
    process.target.router_id = process.reading.located(match[1], section)


def _shared(process: Process, section: Section, match: re.Match[str]) -> Below:
    return SHARED, [Shared(process.reading, process.target, FAMILIES.get(match[1], match[1]))]


def _max_paths(shared: Shared, section: Section, match: re.Match[str]) -> None:
    parsed = shared.target.max_paths
    if shared.unicast and (parsed is None or int(match[1]) < parsed.value):
        shared.target.max_paths = shared.reading.located(int(match[1]), section)


def _connected(shared: Shared, section: Section, match: re.Match[str]) -> None:
    if shared.unicast:
        shared.target.connected = shared.reading.located(match[1] or "", section)


def _retained(shared: Shared, section: Section, match: re.Match[str]) -> None:
    if shared.family == "evpn":
        shared.target.retained = shared.reading.located(True, section)


def _aggregate(shared: Shared, section: Section, match: re.Match[str]) -> None:
    if shared.unicast:
        shared.target.aggregates.append(shared.reading.located(match[1], section))


PROCESS: Rules[Process] = Rules(
    {
        r"router-id (\d+\.\d+\.\d+\.\d+)": _router_id,
        r"bestpath (?:.* )?multipath-relax\b.*": constant("relax", True),
        r"timers bgp (\d{1,5} \d{1,5})": _process_timers,
        r"local-as (\d{1,10}|\d{1,5}\.\d{1,5})\b.*": _asn,
        r"address-family (.+)": _shared,
        r"neighbor (\S+)(?: (.+))?": _neighbor,
        r"template (peer|peer-session|peer-policy) (\S+)": _template,
        r"vrf (\S+)": _vrf,
    },
    heads("""
        additional-paths, affinity-group, allocate-index, bestpath, bfd, capability, cluster-id, confederation,
        disable-policy-batching, dynamic-med-interval, enforce-first-as, event-history, fast-external-fallover,
        flush-routes, graceful-restart, graceful-restart-helper, graceful-shutdown, isolate, log-neighbor-changes,
        maxas-limit, neighbor-down, nexthop, optimize, prefix-peer-timeout, prefix-peer-wait, prefix-withdraw, rd,
        reconnect-interval, route-map, router-id auto, router-id loopback, rpki, send-adjacency, shutdown, suppress,
        suppress-fib-pending, timers
    """),
)  # fmt: skip
SHARED: Rules[Shared] = Rules(
    {
        r"maximum-paths (?:mixed )?(\d{1,4})": _max_paths,
        r"redistribute (?:direct|connected)(?: route-map (\S+))?": _connected,
        r"aggregate-address (\S+)(?: .+)?": _aggregate,
        r"retain route-target (?:all|route-map \S+)": _retained,
    },
    heads("""
        additional-paths, advertise, advertise-pip, advertise-system-mac, allocate-label, allow,
        bestpath, client-to-client, dampen-igp-metric, dampening, default-information, default-metric,
        default-originate, distance, exclude, export, export-gateway-ip, import, inject-map, label-allocation-mode,
        maximum-paths, network, nexthop, originate-map, pic-edge, redistribute, retain, route-map, segment-routing,
        suppress-inactive, synchronization, table-map, timers, vni-ethernet-tag, wait-for, wait-igp-convergence
    """),
)

# --- neighbors and templates ---------------------------------------------------------------------------------------


def _kept(name: str, make: Callable[[re.Match[str]], object]) -> Rule[Block]:
    """A rule that keeps a value of a block, made from the first group of the pattern."""

    def keep(block: Block, section: Section, match: re.Match[str]) -> None:
        block.values[name] = block.reading.located(make(match), section)

    return keep


def _shared_line(block: Block, section: Section, match: re.Match[str]) -> None:
    """A line in the words that network OSes share."""
    verb, *words = match.string.split()
    block.values |= {name: block.reading.located(value, section) for name, value in VERBS[verb](words).items()}


def _family(block: Block, section: Section, match: re.Match[str]) -> Below:
    name = FAMILIES.get(match[1], match[1])
    block.names.setdefault(name, block.reading.located(name, section))
    return FAMILY, [block.families.setdefault(name, Block(block.reading))]


def _inherit(block: Block, section: Section, match: re.Match[str]) -> None:
    block.inherits = [own for own in block.inherits if own[1] != match[1]] + [(0, match[1], match[2])]


def _inherit_policy(block: Block, section: Section, match: re.Match[str]) -> None:
    block.inherits.append((int(match[2] or 0), "peer-policy", match[1]))


def _policy(kind: str) -> Rule[Block]:
    def keep(block: Block, section: Section, match: re.Match[str]) -> None:
        block.values[f"{kind} {match[2]}"] = block.reading.located(match[1], section)

    return keep


BLOCK: Rules[Block] = Rules(
    {
        r"remote-as (?:\d{1,10}|\d{1,5}\.\d{1,5}|external|internal)": _shared_line,
        r"local-as (?:\d{1,10}|\d{1,5}\.\d{1,5})\b.*": _shared_line,
        r"description .+": _shared_line,
        r"shutdown": _shared_line,
        r"ebgp-multihop \d{1,3}": _shared_line,
        r"bfd(?: .+)?": _shared_line,
        r"timers \d{1,5} \d{1,5}": _shared_line,
        r"remote-as route-map \S+": known,
        r"update-source (\S+)": _kept("source", lambda match: port_name(match[1])),
        r"no shutdown": _kept("enabled", lambda match: True),
        r"no bfd(?: .+)?": _kept("bfd", lambda match: False),
        r"password (?:0 )?(\S+)": _kept("authentication", lambda match: password(match[1])),
        r"password \d \S+": _kept("authentication", lambda match: Authentication("MD5")),
        r"ao \S+.*": _kept("authentication", lambda match: Authentication("TCP-AO")),
        r"inherit (peer|peer-session) (\S+)": _inherit,
        r"address-family (.+)": _family,
    },
    heads("""
        affinity-group, bfd, capability, disable-connected-check, dont-capability-negotiate, dscp, dynamic-capability,
        ebgp-multihop, egress-policy, fabric-external, graceful-shutdown, log-neighbor-changes, logging, low-memory,
        maximum-path, maximum-peers, neighbor-down, password, path-attribute, peer-fabric-external, peer-type,
        remove-private-as, send-community, timers, transport, ttl-security
    """),
)  # fmt: skip
FAMILY: Rules[Block] = Rules(
    {
        **{f"{kind} (\\S+) (in|out)": _policy(kind) for kind in FILTERS},
        r"maximum-prefix \d{1,9}\b.*": _shared_line,
        r"allowas-in(?: \d{1,2})?": _shared_line,
        r"route-reflector-client": _shared_line,
        r"send-community (?:extended|both)": _kept("extended", lambda match: True),
        r"inherit peer-policy (\S+)(?: (\d{1,5}))?": _inherit_policy,
    },
    heads("""
        additional-paths, advertise, advertise-map, advertisement-interval, allow-vpn-default-originate, as-override,
        capability, default-originate, default-route, disable-peer-as-check, encapsulation, filter-list, import,
        link-bandwidth, maximum-prefix, next-hop-self, next-hop-third-party, no-advertise, prefix-list,
        rewrite-evpn-rt-asn, rewrite-rt-asn, route-map, route-reflector-client, send-community, send-label,
        set-as-path, soft-reconfig, soft-reconfiguration, soo, suppress-inactive, unsuppress, unsuppress-map, weight
    """),
)
