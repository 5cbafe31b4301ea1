"""OSPF and IS-IS of the underlay: both ends of a link must agree before they become adjacent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabric.checks import ERROR, End, Finding, place
from fabric.checks.equals.outline import IGP
from fabric.checks.files.equals import Compared, EqualsCheck
from fabric.facts import Facts, Located
from fabric.text import listed

NAMES = {"network": "network type", "hello": "hello interval", "dead": "dead interval"}
SPELLINGS = {"p2p": "point-to-point"}


@dataclass
class Spoken:
    """What an interface states of its IGP: area, type, timers, with the lines."""

    protocol: str = ""
    home: Located[object] = field(default_factory=lambda: Located(None, 0))
    values: dict[str, Located[str]] = field(default_factory=dict)


def spoken(subject: Compared, facts: Facts) -> Mapping[str, Spoken]:
    """Interface → what it states."""
    found: dict[str, Spoken] = {}
    for clue, at in subject.outlines.clues.get(id(facts), ()):
        if clue.rule != IGP:
            continue
        words = dict(clue.words)
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
        if "passive" in words:
            own.values["passive"] = Located("passive", at.line, at.file)
    return found


def not_judged(subject: Compared) -> Iterator[tuple[str, str]]:
    """What of the IGP of a network is not compared, with the devices that have one."""
    _ = subject.comparison  # reads every file
    speakers = [
        facts.name
        for facts in subject.network.devices
        if any(clue.rule == IGP for clue, _ in subject.outlines.clues.get(id(facts), ()))
    ]
    if speakers:
        left_out = "metrics, authentication, redistribution and reachability"
        yield "OSPF and IS-IS", f"{left_out} are not checked: {listed(speakers)}"


def area(text: str) -> str:
    """`0.0.0.0` for area 0."""
    if not text.isdigit():
        return text
    number = int(text)
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


class Adjacency(EqualsCheck):
    """Compares OSPF and IS-IS at both ends of every link: areas, network types, timers, passive interfaces.

    OSPF routers of different areas, or with different intervals, never become neighbors (RFC 2328 section 10.5), and
    different network types leave routes out. A passive interface sends no hello packets.
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
        for key in ("area", "network", "hello", "dead"):
            one, other = mine.values.get(key), theirs.values.get(key)
            if one and other and one.value != other.value:
                message = f"{a.interface.name}: {NAMES.get(key, key)} {one.value}, but {other.value} at {b} ({place(other)})"
                yield self.on(a.facts, one, message)
        passive = [(end, own.values["passive"]) for end, own in ((a, mine), (b, theirs)) if "passive" in own.values]
        if len(passive) == 1:
            end, fact = passive[0]
            other_end = b if end is a else a
            yield self.on(end.facts, fact, f"{end.interface.name}: passive, but {other_end} at the far end is not")
