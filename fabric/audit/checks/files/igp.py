"""OSPF and IS-IS of the underlay: both ends of a link must agree before they become adjacent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_interface

from fabric.audit.checks import ERROR, NOTE, End, Finding, place
from fabric.audit.checks.files.role_peers import Compared, EqualsCheck
from fabric.audit.checks.role_peers.shapes import IGP
from fabric.base.text import listed
from fabric.model.facts import Facts, Located
from fabric.nos.statements.syntax import Place

NAMES = {
    "network": "network type",
    "hello": "hello interval",
    "dead": "dead interval",
    "auth": "authentication",
    "level": "level",
}
UNSTATED = {"network": "broadcast", "hello": "10", "dead": "40"}  # of OSPF on Ethernet, in all network OSes read here
SPELLINGS = {"p2p": "point-to-point"}
# Of OSPF and IS-IS; a keyword without a mode is a password in plain text.
MODES = dict.fromkeys(("", "clear", "cleartext", "text", "simple", "simple-password", "plaintext-password"), "simple")
MODES |= {"md5": "message-digest"}
MTUS = (1500, 9100, 9216)  # defaults of network OSes: a port that states one may be like a port that states none


@dataclass
class Spoken:
    """What an interface states of its IGP: area, type, timers, with the lines."""

    protocol: str = ""
    home: Located[object] = field(default_factory=lambda: Located(None, 0))
    values: dict[str, Located[str]] = field(default_factory=dict)

    def default(self, key: str, fact: Located[str] | None) -> None:
        """What holds where the interface itself states nothing."""
        if fact is not None:
            self.values.setdefault(key, fact)


@dataclass
class Process:
    """What the processes of a device state for all of their interfaces."""

    level: Located[str] | None = None  # of IS-IS
    style: Located[str] | None = None  # of the metrics of IS-IS
    auth: dict[str, Located[str]] = field(default_factory=dict)  # area of OSPF → mode


def spoken(subject: Compared, facts: Facts) -> Mapping[str, Spoken]:
    """Interface → what it states, or a network statement of the process states for its address."""
    by_interface: dict[str, Spoken] = {}
    networks: list[tuple[IPv4Network, Located[str]]] = []
    process = Process()
    for clue, at in subject.outlines.clues.get(id(facts), ()):
        if clue.rule != IGP:
            continue
        words = dict(clue.words)
        if "prefix" in words and (net := _network(words["prefix"])) is not None:
            networks.append((net, Located(area(words["area"]), at.line, at.file)))
        if "port" not in words:
            _of_process(process, words, at)
            continue
        settings = by_interface.setdefault(words["port"].lower(), Spoken(home=Located(None, at.line, at.file)))
        if "area" in words:
            settings.protocol = "OSPF"
            settings.values.setdefault("area", Located(area(words["area"]), at.line, at.file))
        if clue.words and "isis" in words:
            settings.protocol = settings.protocol or "IS-IS"
        if "network" in words:
            settings.values["network"] = Located(SPELLINGS.get(words["network"], words["network"]), at.line, at.file)
        if "timer" in words:
            settings.values[words["timer"]] = Located(words["seconds"], at.line, at.file)
        for key in ("passive", "metric", "level", "ignore"):
            if key in words:
                settings.values[key] = Located(words[key].strip() or key, at.line, at.file)
        if "auth" in words:
            settings.values["auth"] = Located(mode(words["auth"]), at.line, at.file)
        if "off" in words:
            settings.values["level"] = Located(_without(words["off"]), at.line, at.file)
    _by_network(by_interface, facts, networks)
    for settings in by_interface.values():
        if settings.protocol == "IS-IS":
            settings.default("level", process.level)
            settings.default("style", process.style)
        elif settings.protocol == "OSPF" and "area" in settings.values:
            settings.default("auth", process.auth.get(settings.values["area"].value))
    return by_interface


def _of_process(process: Process, words: Mapping[str, str], at: Place) -> None:
    if "type" in words:
        process.level = Located(words["type"], at.line, at.file)
    if "off" in words:
        process.level = Located(_without(words["off"]), at.line, at.file)
    if "style" in words:
        process.style = Located(words["style"], at.line, at.file)
    if "scope" in words and "auth" in words:
        process.auth[area(words["scope"])] = Located(mode(words["auth"]), at.line, at.file)


def _without(level: str) -> str:
    """The levels that are left with one disabled."""
    return "level-2-only" if level == "1" else "level-1-only"


def mode(text: str) -> str:
    """`simple` or `message-digest`, as network OSes spell them."""
    word = text.strip()
    return MODES.get(word, word)


def _network(text: str) -> IPv4Network | None:
    """`10.0.0.0/24`, `10.0.0.0 0.0.0.255`."""
    try:
        return IPv4Network(text.replace(" ", "/"), strict=False)
    except ValueError:
        return None


def _by_network(by_interface: dict[str, Spoken], facts: Facts, networks: Sequence[tuple[IPv4Network, Located[str]]]) -> None:
    """The longest network statement with an address of an interface gives its area, where the interface states none."""
    for name, interface in facts.interfaces.items() if networks else ():
        for address in interface.addresses:
            if ":" in address.value:
                continue
            matching = [(net, fact) for net, fact in networks if ip_interface(address.value).ip in net]
            if matching:
                _, fact = max(matching, key=lambda item: item[0].prefixlen)
                settings = by_interface.setdefault(name.lower(), Spoken(home=Located(None, fact.line, fact.file)))
                settings.protocol = "OSPF"
                settings.values.setdefault("area", fact)


def not_judged(subject: Compared) -> Iterator[tuple[str, str]]:
    """What of the IGP of a network is not compared, with the devices that have one."""
    _ = subject.comparison  # reads every file
    speakers = [
        facts.name
        for facts in subject.network.devices
        if any(clue.rule == IGP for clue, _ in subject.outlines.clues.get(id(facts), ()))
    ]
    if speakers:
        left_out = "keys of authentication, redistribution and reachability"
        yield "OSPF and IS-IS", f"{left_out} are not checked: {listed(speakers)}"


def area(text: str) -> str:
    """`0.0.0.0` for area 0."""
    if not text.isdigit():
        return text
    number = int(text)
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


class Adjacency(EqualsCheck):
    """Compares OSPF and IS-IS at both ends of every link: areas, network types, timers, authentication, passive interfaces.

    OSPF routers of different areas, or with different intervals, never become neighbors (RFC 2328 section 10.5), and
    different network types leave routes out. What one end does not state is the default of OSPF on Ethernet. A router with
    the smaller MTU rejects the database of its neighbor, unless it has `mtu-ignore`. A passive interface sends no hello
    packets. IS-IS routers of different levels only do not meet, and narrow metrics are not understood by routers with wide
    ones. Metrics that differ are a note: traffic then returns over another path.
    """

    id = "FAB2508"
    title = "Both ends of a link agree on OSPF or IS-IS"
    severity = ERROR
    example = "`ip ospf area 0.0.0.0` on leaf001 Ethernet1, `ip ospf area 0.0.0.1` on spine001 Ethernet1"
    remediation = "configure the same area, network type and timers at both ends of the link"

    def check(self, subject: Compared) -> Iterator[Finding]:
        _ = subject.comparison  # reads every file
        stated = {id(facts): spoken(subject, facts) for facts in subject.network.devices}
        for a, b in subject.network.links:
            mine, theirs = (stated[id(end.facts)].get(end.interface.name.lower()) for end in (a, b))
            if mine is None and theirs is None:
                continue
            if mine is None or theirs is None:
                with_it, without = (a, b) if mine else (b, a)
                source = (mine or theirs or Spoken()).home
                protocol = (mine or theirs or Spoken()).protocol
                if protocol and any(settings.protocol == protocol for settings in stated[id(without.facts)].values()):
                    at = Located(None, without.interface.line, without.interface.file)
                    message = f"{without.interface.name}: no {protocol}, but {with_it} has it ({place(source)})"
                    yield self.finding_at(without.facts, at, message)
                continue
            yield from self._differ(a, mine, b, theirs)

    def _differ(self, a: End, mine: Spoken, b: End, theirs: Spoken) -> Iterator[Finding]:
        for key in ("area", "network", "hello", "dead", "auth"):
            one, other = self._both(key, mine, theirs)
            if one.value != other.value:
                own, far, at = (a, b, one) if one.line else (b, a, other)
                got, there = (one.value, other) if one.line else (other.value, one)
                far_value = f"{there.value} at {far}" + (f" ({place(there)})" if there.line else "")
                message = f"{own.interface.name}: {NAMES.get(key, key)} {got}, but {far_value}"
                yield self.finding_at(own.facts, at, message)
        yield from self._styles(a, mine, b, theirs)
        yield from self._mtu(a, mine, b, theirs)
        levels = [own.values.get("level") for own in (mine, theirs)]
        if levels[0] and levels[1] and {_level(levels[0].value), _level(levels[1].value)} == {"1", "2"}:
            message = f"{a.interface.name}: {levels[0].value}, but {levels[1].value} at {b} ({place(levels[1])})"
            yield self.finding_at(a.facts, levels[0], message)
        metrics = [own.values.get("metric") for own in (mine, theirs)]
        if metrics[0] and metrics[1] and metrics[0].value != metrics[1].value:
            message = f"{a.interface.name}: metric {metrics[0].value}, but {metrics[1].value} at {b} ({place(metrics[1])})"
            yield self.finding_at(a.facts, metrics[0], message, severity=NOTE)
        passive = [(end, own.values["passive"]) for end, own in ((a, mine), (b, theirs)) if "passive" in own.values]
        if len(passive) == 1:
            end, fact = passive[0]
            other_end = b if end is a else a
            yield self.finding_at(end.facts, fact, f"{end.interface.name}: passive, but {other_end} at the far end is not")

    def _styles(self, a: End, mine: Spoken, b: End, theirs: Spoken) -> Iterator[Finding]:
        """Narrow metrics against wide ones; where both ends have one network OS its default is wide."""
        for end, own, far, other in ((a, mine, b, theirs), (b, theirs, a, mine)):
            style, there = own.values.get("style"), other.values.get("style")
            unstated = "wide" if end.facts.nos == far.facts.nos else ""
            got = there.value if there else unstated
            if style and style.value == "narrow" and got == "wide" and own.protocol == other.protocol == "IS-IS":
                shown = f"wide at {far}" + (f" ({place(there)})" if there else "")
                yield self.finding_at(end.facts, style, f"{end.interface.name}: narrow metrics, but {shown}")

    def _mtu(self, a: End, mine: Spoken, b: End, theirs: Spoken) -> Iterator[Finding]:
        """One end states an MTU and the other none; FAB254 compares two that are stated."""
        if not mine.protocol == theirs.protocol == "OSPF" or a.facts.nos != b.facts.nos:
            return
        if {"ignore", "passive"} & (mine.values.keys() | theirs.values.keys()):
            return
        for end, far in ((a, b), (b, a)):
            mtu, other = end.interface.mtu, far.interface.mtu
            if mtu and not other and not far.interface.frame and mtu.value not in MTUS:
                words = f"{end.interface.name}: MTU {mtu.value}, but the default at {far}: OSPF stays in ExStart"
                yield self.finding_at(end.facts, mtu, words)

    @staticmethod
    def _both(key: str, mine: Spoken, theirs: Spoken) -> tuple[Located[str], Located[str]]:
        """A value at both ends; one that is not stated has no line, and the default where both speak OSPF."""
        near, far = mine.values.get(key), theirs.values.get(key)
        if near is None and far is None:
            same = Located("", 0)
            return same, same
        stated = near or far
        assert stated is not None
        unstated = stated.value
        if mine.protocol == theirs.protocol == "IS-IS" and key in ("auth", "network"):
            unstated = "none" if key == "auth" else UNSTATED["network"]
        elif mine.protocol == theirs.protocol == "OSPF":
            unstated = "none" if key == "auth" else UNSTATED.get(key, stated.value)
            hello = next((settings.values["hello"] for settings in (mine, theirs) if "hello" in settings.values), None)
            if key == "dead" and hello is not None:
                unstated = stated.value  # follows the hello interval in some network OSes
        return near or Located(unstated, 0), far or Located(unstated, 0)


def _level(text: str) -> str:
    """`1` or `2` for a circuit of one level, "" for both."""
    found = re.fullmatch(r"level-([12])(?:-only)?", text)
    return found[1] if found else ""
