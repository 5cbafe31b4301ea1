"""Route policy, filters and names: lists as planned, nothing that is referred to and does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fabric.audit.checks import (
    ERROR,
    NOTE,
    WARNING,
    About,
    FilesCheck,
    Finding,
    Merge,
    Network,
    is_enabled,
    is_loopback,
    role,
    syntax_of,
    without_prefix_length,
)
from fabric.audit.checks.base import REGENERATE
from fabric.audit.checks.finding import Subject
from fabric.audit.checks.role_peers.roles import stem
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.model.facts import Clause, Facts, Interface, Located, Neighbor
from fabric.nos.statements.names import GIVEN, Name, Names
from fabric.nos.statements.syntax import Place


class PrefixLists(FilesCheck):
    """Compares the entries of prefix lists with the plan.

    Prefix lists decide which routes a switch accepts and advertises: one entry too many makes a leaf a transit or leaks a
    tenant's routes, one too few disconnects a rack.
    """

    id = "FAB280"
    title = "Prefix lists have the planned entries"
    severity = ERROR
    example = "`permit 0.0.0.0/0 le 32` in the list of loopbacks"
    remediation = REGENERATE
    kinds: ClassVar = ("prefixes",)


class RoutesPassed(FilesCheck):
    """Compares the import and export policies of sessions with the plan.

    A session without its filter accepts and advertises everything: a leaf becomes a transit between spines, or a tenant's
    routes leak. Redistribution into BGP is filtered for the same reason.
    """

    id = "FAB296"
    title = "Sessions accept and advertise the planned routes"
    severity = ERROR
    example = "`neighbor 10.64.0.1` without its `route-map … in`"
    remediation = REGENERATE
    kinds: ClassVar = ("takes", "sends", "connected", "aggregates")


class NothingPasses(FilesCheck):
    """Looks for BGP sessions between two devices with a policy that no route passes.

    Every entry of the policy denies, or permits only what an empty prefix list contains. The session is Established, but
    no route is accepted or advertised, and traffic takes other paths or none. A policy of this kind is deliberate where a
    peer is only listened to or only sent to, so all sessions between devices of the same roles have it then.
    """

    id = "FAB2512"
    title = "Routes pass the policies of sessions"
    severity = ERROR
    else_severity = "warning if routes pass on no other session between devices of the same roles"
    example = "`route-map FABRIC-OUT deny 10` as the only entry of the map"
    remediation = "permit the routes that the session is for"

    def check(self, network: Network) -> Iterator[Finding]:
        filters = list(_filters(network))
        barring = {key for key, one in {one.key: one for one in filters}.items() if one.bars}
        passed = {one.kin: one for one in filters if one.key not in barring}
        for same in grouped((one.key, one) for one in filters if one.key in barring).values():
            first = same[0]
            others = [passed[one.kin] for one in same if one.kin in passed]
            passing = grouped((one.verb, one.far) for one in same)
            what = ", and nothing is ".join(f"{verb} {listed(list(dict.fromkeys(far)), 2)}" for verb, far in passing.items())
            message = f"no route passes {first.name}: nothing is {what}"
            yield self.finding_at(first.facts, first.entry(others), message, severity=ERROR if others else WARNING)


@dataclass(frozen=True, slots=True)
class _Filter:
    """The policy on one direction of a session with another device that was read, or on connected routes.

    Attributes:
        facts: the device.
        far: name of the other one, or of the process that the routes enter.
        verb: "accepted from", "advertised to" or "redistributed into".
        name: of the policy, "" for none.
        kin: equal for sessions between devices of the same roles.
    """

    facts: Facts
    far: str
    verb: str
    name: str
    kin: tuple[object, ...]

    @property
    def key(self) -> tuple[int, str]:
        """Equal for one policy of a device."""
        return id(self.facts), self.name

    @property
    def clauses(self) -> list[Located[Clause]]:
        """Entries of the policy; none for one that is unknown, or an expression."""
        return self.facts.terms.get(self.name, [])

    @property
    def bars(self) -> bool:
        """Whether no route passes."""
        return bool(self.clauses) and not any(self.passes(one.value) for one in self.clauses)

    def passes(self, clause: Clause) -> bool:
        """Whether routes pass an entry: it does not deny, and some list that it asks for has an entry that permits."""
        lists = clause.lists
        return clause.permits and not (lists and all(self.facts.prefixes.get(name) == [] for name in lists))

    def entry(self, others: Sequence[_Filter]) -> Located[object]:
        """The entry that routes pass in the policy of the same name elsewhere, else the first one."""
        for other in others:
            if other.name == self.name:
                for own, theirs in zip(self.clauses, other.clauses, strict=False):
                    if other.passes(theirs.value):
                        return own
        return self.clauses[0]


def _filters(network: Network) -> Iterator[_Filter]:
    for facts in network.devices:
        process = facts.bgp.get("")  # a tenant may have no networks on a device
        name = process.connected.value if process and process.connected else ""
        yield _Filter(facts, "BGP", "redistributed into", name, ("connected", stem(facts.name)))
    for facts, _, peer in network.sessions():
        far = network.remote_end(peer)
        if far is None or (far.reverse is not None and not is_enabled(far.reverse)):
            continue
        yield from _both_ways(facts, peer, far.facts, far.interface)
        if far.reverse is not None and far.reverse.dynamic:  # it has no far end of its own
            yield from _both_ways(far.facts, far.reverse, facts, far.interface)


def _both_ways(facts: Facts, peer: Neighbor, far: Facts, interface: Interface) -> Iterator[_Filter]:
    families = tuple(sorted({one.value for one in peer.families}))
    for verb, policy in (("accepted from", peer.import_filter), ("advertised to", peer.export_filter)):
        kin = (verb, stem(facts.name), stem(far.name), bool(peer.vrf), families, is_loopback(interface.name))
        yield _Filter(facts, far.name, verb, policy.value if policy else "", kin)


class Undefined(FilesCheck):
    """Looks for names that are used and not defined: filters, classes, profiles, VRFs, VLANs, keys, servers, ports.

    An undefined filter permits everything on some network OSes and nothing on others (NX-OS permits, FRR denies). An
    undefined class, profile or VRF is ignored. `names.yaml` of each network OS lists the kinds of names with their sources.
    """

    id = "FAB281"
    title = "Every name that is used is defined"
    severity = ERROR
    else_severity = "warning for a range of ten or more, which may be reserved"
    example = "`route-map FABRIC-IN in`, and no `route-map FABRIC-IN`"
    remediation = "define the missing object, or correct the name in the reference"
    of_device: ClassVar = True
    range: ClassVar = 10  # names in one statement

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            uses = undefined(syntax_of(facts.nos).names, network.names.get(id(facts), ()))
            subjects = grouped((use.value, use) for use in uses)
            once = ((use[0], subject) for subject, use in subjects.items() if len(use) == 1)
            lists = grouped(((use.file, use.line, subject.kind), subject) for use, subject in once)
            for named in (named for named in lists.values() if len(named) >= self.range):
                text = f"{named[0]} and {plural(len(named) - 1, 'more name')} are used here, but not defined"
                yield self.finding_at(
                    facts, subjects[named[0]][0], text, about=About(subjects=tuple(named), absent=True), severity=WARNING
                )
                for subject in named:
                    del subjects[subject]
            for subject, lines in subjects.items():
                more = f" here and on {plural(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
                about = About(subjects=(subject,), absent=True)
                merge = Merge(text=f"{subject} is used on {{uses}} of {{devices}}, but not defined", uses=len(lines))
                yield self.finding_at(facts, lines[0], f"{subject} is used{more}, but not defined", about=about, merge=merge)


class Unused(FilesCheck):
    """Looks for definitions that nothing refers to: a policy, list, class or profile.

    It has no effect. Either it is left over, or the reference to it is missing, as a filter that no neighbor has. A device
    with BGP and without neighbors, as a single switch is, may have the groups of its sessions to come.
    """

    id = "FAB2509"
    title = "Every definition is used"
    severity = NOTE
    example = "`route-map FABRIC-IN permit 10`, and no neighbor with it"
    remediation = "refer to the object, or remove it"
    of_sessions: ClassVar = "peer"  # begin of their names

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for name, others in grouped((one.value, one) for one in self._of(facts, network)).items():
                message = f"{name} is defined, but not used"
                yield self.finding_at(facts, others[0], message, merge=Merge(text=message))

    def _of(self, facts: Facts, network: Network) -> Iterator[Located[str]]:
        to_come = facts.bgp and next(facts.neighbors(), None) is None
        found = unused(syntax_of(facts.nos).names, network.names.get(id(facts), ()))
        return (one for one in found if not to_come or not one.value.startswith(self.of_sessions))


class Shared(FilesCheck):
    """Looks for a value that two objects of a device have and only one may have: a VNI, a route distinguisher, a lane.

    The network OS refuses the second one or takes it from the first, which then fails.
    """

    id = "FAB2511"
    title = "VNIs, route distinguishers and lanes are unique on a device"
    severity = ERROR
    example = "`vxlan vlan 10 vni 10010` and `vxlan vlan 20 vni 10010`"
    remediation = "give each object a value of its own"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            seen: set[str] = set()
            for fact in shared(syntax_of(facts.nos).names, network.names.get(id(facts), ())):
                of, _, what = fact.value.partition(": ")
                if of not in seen:  # a port may share several lanes
                    seen.add(of)
                    yield self.finding_at(facts, fact, f"{of}: {what}")


class ConflictingSettings(FilesCheck):
    """Compares settings that a device has in two places.

    Some settings occur twice on a device: the VNI of a VRF for the kernel and for BGP, the AS number in two files. If the
    two differ, parts of the device work with different values.
    """

    id = "FAB294"
    title = "Repeated settings on a device do not conflict"
    severity = ERROR
    else_severity = "warning without an intent, if one of them has no effect"
    example = "VRF red: `vni 50001` in frr.conf, VNI 50002 in config_db.json"
    remediation = "set the same value in both places"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for fact in facts.conflicts:
                yield self.finding_at(facts, fact, fact.value)
            for fact in facts.idle:
                yield self.finding_at(facts, fact, fact.value, severity="" if network.planned else WARNING)


# --- names defined and used -----------------------------------------------------------------------------------

Named = Sequence[tuple[Name, Place]]


def undefined(names: Names, found: Named) -> Iterator[Located[Subject]]:
    """Every use of a name that nothing defines, as `route-map FABRIC-IN`; once in a statement that several patterns match."""
    defined = {(name.kind, name.scope, name.text) for name, _ in found if not name.used}
    seen: set[tuple[int, str, Place]] = set()
    for name, place in found:
        key, use = (name.kind, name.scope, name.text), (name.kind, name.text, place)
        if name.used and key not in defined and use not in seen and _is_judged(names, name.kind, defined):
            seen.add(use)
            yield Located(Subject(name.text, names.kinds[name.kind].title), place.line, place.file)


def unused(names: Names, found: Named) -> Iterator[Located[str]]:
    """Every definition that nothing refers to, where that is worth a note."""
    used = {(name.kind, name.text) for name, _ in found if name.used}
    for name, place in found if used else ():  # a part of a config may have definitions alone
        kind = names.kinds[name.kind]
        if name.used or name.of or name.text == GIVEN or not kind.unused or (name.kind, name.text) in used:
            continue
        if kind.built_in is None or not kind.built_in.fullmatch(name.text):
            yield Located(f"{kind.title} {name.text}", place.line, place.file)


def shared(names: Names, uses: Named) -> Iterator[Located[str]]:
    """Every value that two objects have and only one may have, at the later one, or that one statement has twice."""
    first: dict[tuple[int, str, str], tuple[str, Place]] = {}
    for name, place in uses:
        if not name.of:
            continue
        key = name.kind, name.scope, name.text
        if key not in first:
            first[key] = name.of, place
            continue
        (of, known), title = first[key], names.kinds[name.kind].title
        if of != name.of:
            text = f"{name.of}: {title} {name.text} is that of {of} (line {known.line}) too"
            yield Located(text, place.line, place.file)
        elif known is place:
            yield Located(f"{of}: {title} {name.text} is stated twice", place.line, place.file)


def _is_judged(names: Names, kind: int, defined: set[tuple[int, str, str]]) -> bool:
    return names.kinds[kind].given is None or (kind, "", GIVEN) in defined


# --- filters that list BGP neighbors --------------------------------------------------------------------------

LEAST = 3  # neighbors in a list before one more is expected in it
ADDRESS = re.compile(r"(?<![\w.:])(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]*:[0-9A-Fa-f:]*)(?![\w.:])")
REPEATED = re.compile(r"(?:\*(?:/\d+)?[\s,;\"']*){2,}")
NUMBER = re.compile(r"\d+")
OTHER = re.compile(r"(?i)neighbor|descr|route[ -]|next-?hop")  # sessions, text and routes: no lists of who is let in
QUOTED = 60  # characters of a line
Kind = tuple[str, str, bool, bool]  # VRF, role or AS number of the far end, in a subnet of the device, IPv6
Listed = dict[str, int]  # address → line


class ListedNeighbors(FilesCheck):
    """Looks for a list with all BGP neighbors of one kind but one.

    Filters of the control plane let the neighbors in by their addresses and drop the rest. A neighbor that is missing in
    the list cannot open its session, as after a change of its address or a new cable.
    """

    id = "FAB2518"
    title = "Filters that list BGP neighbors list all of them"
    severity = WARNING
    example = "15 of 16 neighbors in the prefix list of the filter that protects BGP"
    remediation = "add the neighbor to the list, or correct its address there"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices if not network.planned else ():
            kinds = [same for same in _neighbors(network, facts).values() if len(same) > LEAST]
            wanted = set().union(*kinds)
            for file, text in facts.texts.items() if kinds else ():
                for entries in _lists(text, wanted):
                    yield from self._missing(facts, file, entries, kinds)

    def _missing(self, facts: Facts, file: str, listed: Listed, kinds: list[set[str]]) -> Iterator[Finding]:
        for same in kinds:
            missing = same - listed.keys()
            if len(missing) == 1 and len(same & listed.keys()) >= LEAST:
                line = max(listed[address] for address in same & listed.keys())
                (address,) = missing
                shown = facts.texts[file].splitlines()[line - 1].strip()[:QUOTED]
                got = f"BGP neighbor {address} is not listed, but {len(same) - 1} others of its kind are (as in `{shown}`)"
                yield self.finding_at(facts, Located(None, line, file), got)


def _neighbors(network: Network, facts: Facts) -> dict[Kind, set[str]]:
    """Addresses of the neighbors that are to be let in for one reason."""
    found: dict[Kind, set[str]] = {}
    for peer in facts.neighbors():
        if is_enabled(peer) and not (peer.dynamic or peer.interface):
            far = network.remote_end(peer)
            who = role(far.facts.name) if far else str(peer.remote_as.value if peer.remote_as else "")
            direct = bool(network.near[id(facts)].own_addresses_in_subnet(peer.vrf, peer.peer))
            found.setdefault((peer.vrf, who, direct, ":" in peer.peer), set()).add(without_prefix_length(peer.peer))
    return found


def _lists(text: str, wanted: set[str]) -> Iterator[Listed]:
    """Lines that differ in addresses and numbers alone, with the addresses that are wanted."""
    by_form: dict[str, Listed] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if "neighbor" in line or not ("." in line or ":" in line):  # most lines, without a pattern
            continue
        addresses = {without_prefix_length(match) for match in ADDRESS.findall(line)} & wanted
        if addresses and not OTHER.search(line):
            form = NUMBER.sub("#", REPEATED.sub("*", ADDRESS.sub("*", line.strip(" \t,;"))))
            by_form.setdefault(form, {}).update(dict.fromkeys(addresses, number))
    yield from by_form.values()
