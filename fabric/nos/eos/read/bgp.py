"""Reads `router bgp` of EOS: neighbors with what their peer groups say, VRFs, and the EVPN instances of VLANs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabric.base.grouping import grouped
from fabric.model.facts import MANAGEMENT, Authentication, Bgp, Facts, Located, Neighbor, Vni, Vrf
from fabric.nos.eos.statements import port_name
from fabric.nos.reading import Section, asn, each_name, integer, is_address, numbers, password, values
from fabric.nos.reading.values import DIRECTIONS, UNICAST, Says

MOST_ROUTES = 12000  # the limit of a neighbor that states none; 0 is no limit
FAMILIES = {**values.FAMILIES, "ipv4": "ipv4", "ipv6": "ipv6", "evpn": "evpn"}
KNOWN = (
    "address-family", "aggregate-address", "bgp", "distance", "dynamic", "graceful-restart", "graceful-restart-helper",
    "maximum-paths", "neighbor", "network", "no", "rd", "redistribute", "rib", "route-target", "router-id", "shutdown",
    "timers", "ucmp", "update", "vlan", "vlan-aware-bundle", "vrf", "monitoring", "roa", "vpws", "evpn", "route",
    "layer-2", "import", "host-flap", "domain", "next-hop", "default", "default-route", "encapsulation", "mac", "export",
    "graceful-shutdown", "bgp-ls", "label", "peer-group",
)  # fmt: skip


def vrf_name(text: str) -> str:
    """`default` is the table without a name; `MGMT`, as every EOS page calls it, that of management."""
    if text == "default":
        return ""
    return MANAGEMENT if text.upper() in ("MGMT", "MANAGEMENT") else text


def read_bgp(facts: Facts, file: str, config: Section) -> None:
    """Into `facts.bgp`, and the route targets of VRFs and VNIs."""
    number, known = None, config
    for text, sections in grouped(config.each("router bgp")).items():
        first = sections[0]
        whole = Section(first.line, first.number, [part for section in sections for part in section.parts])
        if number is None:
            number, known = asn(text), first
        elif asn(text) != number:  # EOS refuses a second process
            fault = f"the AS number of BGP is {text} here and {number} in line {known.number}"
            facts.conflicts.append(Located(fault, first.number, file))
        _Process(facts, file, whole, number).read()  # one process, where it is entered several times


class _Process:
    def __init__(self, facts: Facts, file: str, section: Section, number: int | None) -> None:
        self.facts, self.file, self.section = facts, file, section
        self.asn = Located(number, section.number, file) if number is not None else None
        self.groups: dict[str, list[tuple[list[str], int]]] = {}
        self.defined: set[str] = set()
        self.group_of: dict[tuple[str, str], tuple[str, int]] = {}  # (VRF, peer) → its group and the line that says so

    def read(self) -> None:
        self._groups(self.section)
        self._table("", self.section)
        for text, part in self.section.each("vlan"):
            self._vlans(numbers(text), part)
        for _, part in self.section.each("vlan-aware-bundle"):
            self._vlans([vlan for text, _ in part.each("vlan") for vlan in numbers(text)], part)
        for text, part in self.section.each("vrf"):
            name = vrf_name(text)
            self._groups(part)
            self._table(name, part)
            if name not in ("", MANAGEMENT):
                self._vrf(name, part)
        self._defaults()
        self.facts.unread += self._unread()

    def _unread(self) -> Iterator[Located[str]]:
        for part in self.section.parts:
            if part.line.split(" ", 1)[0] not in KNOWN:
                yield Located(part.line, part.number, self.file)

    def _defaults(self) -> None:
        """What holds for neighbors that say nothing themselves."""
        timers = self.section.last("timers bgp")
        everywhere = [(text.split(), part.number) for text, part in self.section.each("neighbor default")]
        for peer in self.facts.neighbors():
            if timers:
                _take(peer, ["timers", *timers[0].split()], timers[1].number, self.file, inherited=True)
            for words, number in everywhere:
                if words[:1] == ["send-community"]:
                    _take(peer, words, number, self.file, inherited=True)
            peer.extended = peer.extended or Located(False, peer.line, self.file)
            peer.unchanged = peer.unchanged or Located(False, peer.line, self.file)
            if peer.max_prefix is None:
                peer.max_prefix = Located(MOST_ROUTES, peer.line, self.file)

    # --- a routing table ----------------------------------------------------------------------------------------

    def _groups(self, section: Section) -> None:
        for text, part in section.each("neighbor"):
            words = text.split()
            if words[1:] in (["peer", "group"], ["peer-group"]):
                self.defined.add(words[0])
            if words and not is_address(words[0]) and words[0] != "interface":
                self.groups.setdefault(words[0], []).append((words[1:], part.number))

    def _table(self, vrf: str, section: Section) -> None:
        facts, file = self.facts, self.file
        process = facts.bgp.setdefault(vrf, Bgp(vrf=vrf, line=section.number, file=file))
        process.asn = self.asn
        strict = section.last("no bgp bestpath as-path multipath-relax")  # on by default
        process.relax = Located(strict is None, strict[1].number if strict else section.number, file)
        if words := section.last("local-as") if vrf else None:
            process.asn = Located(asn(words[0]) or 0, words[1].number, file)
        if words := section.last("router-id"):
            process.router_id = Located(words[0], words[1].number, file)
        if (words := section.last("maximum-paths")) and (paths := integer(words[0])) is not None:
            process.max_paths = Located(paths, words[1].number, file)
        for text, part in section.each("neighbor"):
            self._neighbor(process, vrf, text.split(), part.number)
        for text, part in section.each("bgp listen range"):
            self._listen(process, vrf, text.split(), part.number)
        for part in (section, *(part for text, part in section.each("address-family") if FAMILIES.get(text) in UNICAST)):
            self._routes(process, part)
        self._activate(process, section)

    def _neighbor(self, own: Bgp, vrf: str, words: list[str], line: int) -> None:
        if words[:1] == ["interface"] and len(words) > 1:
            for name in each_name(port_name(words[1])):
                peer = own.neighbors.setdefault(name, Neighbor(vrf=vrf, peer=name, line=line, file=self.file, interface=True))
                self._say(peer, words[2:], line)
                if peer.remote_as is None and "peer-filter" in words:
                    peer.remote_as = Located("any", line, self.file)
        elif words and is_address(words[0]):
            peer = own.neighbors.setdefault(words[0], Neighbor(vrf=vrf, peer=words[0], line=line, file=self.file))
            self._say(peer, words[1:], line)

    def _routes(self, own: Bgp, section: Section) -> None:
        """What enters BGP here."""
        for text, part in section.each("redistribute connected"):
            words = text.split()
            own.connected = Located(words[1] if words[:1] == ["route-map"] and len(words) > 1 else "", part.number, self.file)
        for text, part in section.each("aggregate-address"):
            own.aggregates += [Located(word, part.number, self.file) for word in text.split()[:1]]

    def _listen(self, own: Bgp, vrf: str, words: list[str], line: int) -> None:
        if words:
            peer = own.neighbors.setdefault(
                words[0], Neighbor(vrf=vrf, peer=words[0], line=line, file=self.file, dynamic=True)
            )
            self._say(peer, words[1:], line)

    def _say(self, peer: Neighbor, words: list[str], line: int) -> None:
        """One line of a neighbor; that of a group is taken where the neighbor itself says nothing."""
        if words[:1] in (["peer-group"], ["peer"]):
            name = words[2] if words[:2] == ["peer", "group"] and len(words) > 2 else words[1] if len(words) > 1 else ""
            for row, at in self.groups.get(name, ()):
                _take(peer, row, at, self.file, inherited=True)
            self.group_of[peer.vrf, peer.peer] = name, line
            words = words[3:] if words[0] == "peer" else words[2:]
        if words:
            _take(peer, words, line, self.file)

    def _activate(self, process: Bgp, section: Section) -> None:
        """Families: what is activated for a neighbor or its group; IPv4 unless stated."""
        by_default = not section.has("no bgp default ipv4-unicast")
        active: dict[str, dict[str, int]] = {}
        denied: set[tuple[str, str]] = set()
        for text, part in section.each("address-family"):
            family = FAMILIES.get(text)
            for line in part.parts:
                words = line.line.split()
                if family and words[:1] == ["neighbor"] and words[2:3] == ["activate"]:
                    active.setdefault(family, {})[words[1]] = line.number
                elif family and words[:2] == ["no", "neighbor"] and words[3:4] == ["activate"]:
                    denied.add((family, words[2]))
                elif family and words[:1] == ["neighbor"] and len(words) > 2:
                    self._in_family(process, words[1], words[2:], line.number)
        for peer in process.neighbors.values() if process.vrf or not section.line.startswith("vrf ") else ():
            names = (peer.peer, self.group_of.get((process.vrf, peer.peer), ("", 0))[0])
            for family in ("ipv4", "ipv6", "evpn"):
                parsed = active.get(family, {})
                line_number = peer.line if family == "ipv4" and by_default and ":" not in peer.peer else 0
                for name in reversed(names):  # what the neighbor itself says holds over its group
                    line_number = parsed.get(name, 0 if (family, name) in denied else line_number)
                if line_number:
                    peer.families.append(Located(family, line_number, self.file))

    def _in_family(self, own: Bgp, name: str, words: list[str], line: int) -> None:
        for peer in own.neighbors.values():
            member = self.group_of.get((own.vrf, peer.peer), ("", 0))[0] == name
            if peer.peer == name or member:
                _take(peer, words, line, self.file, inherited=member)

    # --- EVPN ---------------------------------------------------------------------------------------------------

    def _vlans(self, vlans: Sequence[int], section: Section) -> None:
        for vni in [own for own in self.facts.vnis.values() if own.vlan and own.vlan.value in vlans]:
            self._targets(vni, section)

    def _vrf(self, name: str, section: Section) -> None:
        self._targets(self.facts.vrfs.setdefault(name, Vrf(name=name, line=section.number, file=self.file)), section)

    def _targets(self, own: Vni | Vrf, section: Section) -> None:
        if (found := section.last("rd")) and found[0].split():
            own.rd = Located(found[0].split()[-1], found[1].number, self.file)
        for text, part in section.each("route-target"):
            words = text.split()
            for kind, into in (("import", own.imports), ("export", own.exports)):
                if words and (kind in words[:2] or words[0] == "both"):
                    into += [Located(word, part.number, self.file) for word in words[1:] if ":" in word or word is words[-1]]


def _filter(words: list[str]) -> dict[str, Any]:
    return {DIRECTIONS[words[1]]: words[0]}


def _authentication(words: list[str]) -> Authentication:
    """`password 7 …`, `password shared-secret profile NAME algorithm …`; a password without a type is in clear text."""
    if words[0] == "shared-secret":
        return Authentication("TCP-AO")
    return password(words[-1], encrypted=len(words) > 1 and words[0] != "0")


VERBS: Mapping[str, Says] = {
    **values.VERBS,
    "maximum-routes": values.max_prefix,
    "next-hop-unchanged": lambda words: {"unchanged": True},
    "password": lambda words: {"authentication": _authentication(words)},
    "prefix-list": _filter,
    "route-map": _filter,
    "send-community": lambda words: {"extended": not words or "extended" in words},
    "update-source": lambda words: {"source": port_name("".join(words[:2]))} if words else {},
}


def _take(peer: Neighbor, words: list[str], line: int, file: str, *, inherited: bool = False) -> None:
    """What a line says of a neighbor, which may have it from its group; a line that lacks a word says nothing."""
    try:
        fields = VERBS[words[0]](words[1:])
    except (LookupError, ValueError):
        return
    for name, value in fields.items():
        if not (inherited and getattr(peer, name) is not None):
            setattr(peer, name, Located(value, line, file))
