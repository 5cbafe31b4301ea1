"""OSPF and IS-IS of the underlay: both ends of a link must agree before they become adjacent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_interface

from fabric.checks import ERROR, NOTE, End, Finding, place
from fabric.checks.equals.outline import IGP
from fabric.checks.files.equals import Compared, EqualsCheck
from fabric.facts import Facts, Located
from fabric.text import listed

NAMES = {
    "network": "network type",
    "hello": "hello interval",
    "dead": "dead interval",
    "auth": "authentication",
    "level": "level",
}
UNSTATED = {"network": "broadcast", "hello": "10", "dead": "40"}  # of OSPF on Ethernet, in all network OSes read here
SPELLINGS = {"p2p": "point-to-point"}


@dataclass
class Spoken:
    """What an interface states of its IGP: area, type, timers, with the lines."""

    protocol: str = ""
    home: Located[object] = field(default_factory=lambda: Located(None, 0))
    values: dict[str, Located[str]] = field(default_factory=dict)


def spoken(subject: Compared, facts: Facts) -> Mapping[str, Spoken]:
    """Interface → what it states, or a network statement of the process states for its address."""
    found: dict[str, Spoken] = {}
    networks: list[tuple[IPv4Network, Located[str]]] = []
    for clue, at in subject.outlines.clues.get(id(facts), ()):
        if clue.rule != IGP:
            continue
        words = dict(clue.words)
        if "prefix" in words and (net := _network(words["prefix"])) is not None:
            networks.append((net, Located(area(words["area"]), at.line, at.file)))
        if "port" not in words:
            continue
        own = found.setdefault(words["port"].lower(), Spoken(home=Located(None, at.line, at.file)))
        if "area" in words:
            own.protocol = "OSPF"
            own.values.setdefault("area", Located(area(words["area"]), at.line, at.file))
        if clue.words and "isis" in words:
            own.protocol = own.protocol or "IS-IS"
        if "network" in words:
            own.values["network"] = Located(SPELLINGS.get(words["network"], words["network"]), at.line, at.file)
        if "timer" in words:
            own.values[words["timer"]] = Located(words["seconds"], at.line, at.file)
        for key in ("passive", "metric", "auth", "level"):
            if key in words:
                own.values[key] = Located(words[key].strip() or key, at.line, at.file)
        if "off" in words:
            own.values["level"] = Located("level-2-only" if words["off"] == "1" else "level-1-only", at.line, at.file)
    _by_network(found, facts, networks)
    return found


def _network(text: str) -> IPv4Network | None:
    """`10.0.0.0/24`, `10.0.0.0 0.0.0.255`."""
    try:
        return IPv4Network(text.replace(" ", "/"), strict=False)
    except ValueError:
        return None


def _by_network(found: dict[str, Spoken], facts: Facts, networks: Sequence[tuple[IPv4Network, Located[str]]]) -> None:
    """The longest network statement with an address of an interface gives its area, where the interface states none."""
    for name, interface in facts.interfaces.items() if networks else ():
        for address in interface.addresses:
            if ":" in address.value:
                continue
            matching = [(net, fact) for net, fact in networks if ip_interface(address.value).ip in net]
            if matching:
                _, fact = max(matching, key=lambda item: item[0].prefixlen)
                own = found.setdefault(name.lower(), Spoken(home=Located(None, fact.line, fact.file)))
                own.protocol = "OSPF"
                own.values.setdefault("area", fact)


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
    different network types leave routes out. What one end does not state is the default of OSPF on Ethernet. A passive
    interface sends no hello packets, and IS-IS routers of different levels only do not meet. Metrics that differ are a note:
    traffic then returns by another way.
    """

    id = "FAB2508"
    title = "Both ends of a link agree on OSPF or IS-IS"
    severity = ERROR
    example = "`ip ospf area 0.0.0.0` on leaf001 Ethernet1, `ip ospf area 0.0.0.1` on spine001 Ethernet1"
    remediation = "configure the same area, network type and timers at both ends of the link"

    def judge(self, subject: Compared) -> Iterator[Finding]:
        _ = subject.comparison  # reads every file
        stated = {id(facts): spoken(subject, facts) for facts in subject.network.devices}
        for a, b in subject.network.links:
            mine, theirs = (stated[id(end.facts)].get(end.interface.name.lower()) for end in (a, b))
            if mine is None and theirs is None:
                continue
            if mine is None or theirs is None:
                with_it, without = (a, b) if mine else (b, a)
                there = (mine or theirs or Spoken()).home
                protocol = (mine or theirs or Spoken()).protocol
                if protocol and any(own.protocol == protocol for own in stated[id(without.facts)].values()):
                    at = Located(None, without.interface.line, without.interface.file)
                    message = f"{without.interface.name}: no {protocol}, but {with_it} has it ({place(there)})"
                    yield self.on(without.facts, at, message)
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
                yield self.on(own.facts, at, message)
        levels = [own.values.get("level") for own in (mine, theirs)]
        if levels[0] and levels[1] and {_level(levels[0].value), _level(levels[1].value)} == {"1", "2"}:
            message = f"{a.interface.name}: {levels[0].value}, but {levels[1].value} at {b} ({place(levels[1])})"
            yield self.on(a.facts, levels[0], message)
        metrics = [own.values.get("metric") for own in (mine, theirs)]
        if metrics[0] and metrics[1] and metrics[0].value != metrics[1].value:
            message = f"{a.interface.name}: metric {metrics[0].value}, but {metrics[1].value} at {b} ({place(metrics[1])})"
            yield self.on(a.facts, metrics[0], message, severity=NOTE)
        passive = [(end, own.values["passive"]) for end, own in ((a, mine), (b, theirs)) if "passive" in own.values]
        if len(passive) == 1:
            end, fact = passive[0]
            other_end = b if end is a else a
            yield self.on(end.facts, fact, f"{end.interface.name}: passive, but {other_end} at the far end is not")

    @staticmethod
    def _both(key: str, mine: Spoken, theirs: Spoken) -> tuple[Located[str], Located[str]]:
        """A value at both ends; one that is not stated has no line, and the default where both speak OSPF."""
        one, other = mine.values.get(key), theirs.values.get(key)
        if one is None and other is None:
            same = Located("", 0)
            return same, same
        stated = one or other
        assert stated is not None
        unstated = stated.value
        if mine.protocol == theirs.protocol == "OSPF":
            unstated = "none" if key == "auth" else UNSTATED.get(key, stated.value)
            hello = next((own.values["hello"] for own in (mine, theirs) if "hello" in own.values), None)
            if key == "dead" and hello is not None:
                unstated = stated.value  # follows the hello interval in some network OSes
        return one or Located(unstated, 0), other or Located(unstated, 0)


def _level(text: str) -> str:
    """`1` or `2` for a circuit of one level, "" for both."""
    found = re.fullmatch(r"level-([12])(?:-only)?", text)
    return found[1] if found else ""
