"""Reads the classes of NX-OS ports: what a packet is (type qos), what pauses (network-qos), how queues share (queuing).

A qos-group is a class of the switch alone, and its number is that of a queue. A class that pauses is named by its priority on
the wire (`pause pfc-cos`), every other one by its group; where that is the priority of another class, by its group and 8,
which no priority can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from fabric.model.facts import Ecn, Located, LosslessClass, PortQos, Queue
from fabric.nos.nxos.read.words import HEADS, Rules
from fabric.nos.reading import numbers
from fabric.nos.reading.rules import Below, Line, Table, below, keep, switch

SYSTEM_CLASS = re.compile(r"c-(?:(?:out|in)-)?(?:[48]q-)?(?:n?q)(\d|-default)")  # `c-8q-nq3`, `c-out-8q-q-default`
UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}  # packets, and times, are not bytes
CODES = {"ef": 46, "default": 0, "va": 44, "voice-admit": 44}
CODES |= {f"cs{n}": 8 * n for n in range(8)} | {f"af{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)}
PRIORITIES = 8
POLL_MS = 100  # the watchdog's own step, where the config says none


@dataclass(slots=True, kw_only=True)
class Class:
    """A class of a policy, and what is done with it."""

    group: Located[int] | None = None  # set, or matched
    cos: list[Located[int]] = field(default_factory=list)  # priorities on the wire that it pauses
    no_drop: Located[bool] | None = None  # it pauses, with the priority of its group's number
    buffer: Located[int] | None = None  # bytes that it may take after it has sent PAUSE
    levels: list[tuple[str, Located[int]]] = field(default_factory=list)  # at which it resumes, pauses, and is full
    strict: Located[int] | None = None
    share: Located[int] | None = None  # percent
    marks: Located[bool] | None = None  # False for early drops
    ecn: Ecn | None = None
    line: Located[int] | None = None


@dataclass(slots=True)
class Match:
    """A class map: the packets of a class."""

    codes: list[Located[int]] = field(default_factory=list)  # DSCPs
    groups: list[int] = field(default_factory=list)
    others: bool = False  # by something else: CoS, an access list


Policy: TypeAlias = dict[str, Class]  # the classes of a policy map by name, in the order that they are tried


@dataclass(slots=True, kw_only=True)
class Qos:
    """The maps of a switch, and what `system qos` applies."""

    matches: dict[tuple[str, str], Match] = field(default_factory=dict)  # by type and name
    policies: dict[tuple[str, str], Policy] = field(default_factory=dict)
    system: dict[str, str] = field(default_factory=dict)  # "network-qos", "queuing", "classify" → policy
    watchdog: Located[bool] | None = None
    interval: Located[int] | None = None
    multiplier: Located[int] | None = None
    _known: dict[tuple[str, ...], PortQos] = field(default_factory=dict)

    @property
    def watchdog_ms(self) -> Located[int] | None:
        """Steps until a queue counts as stuck, times the length of a step."""
        parsed = self.multiplier or self.interval
        if parsed is None:
            return None
        step = self.interval.value if self.interval else POLL_MS
        return Located(step * (self.multiplier.value if self.multiplier else 1), parsed.line, parsed.file)

    def of(self, parsed: Mapping[str, Located[str]]) -> PortQos | None:
        """The classes of a port, by what its lines and those of its channel say; None for a port that says nothing."""
        if not parsed:
            return None
        pauses = "pfc" in parsed and parsed["pfc"].value == "on"  # `auto` asks the neighbor
        classify = parsed["classify"].value if "classify" in parsed else self.system.get("classify", "")
        queuing = parsed["queuing"].value if "queuing" in parsed else self.system.get("queuing", "")
        key = (str(pauses), classify, queuing)
        if key not in self._known:
            self._known[key] = self._classes(parsed["pfc"] if pauses else None, classify, queuing)
        found = self._known[key]
        if (watchdog := parsed.get("watchdog")) is None:
            return found
        return replace(found, watchdog=Located(watchdog.value == "on", watchdog.line, watchdog.file))

    def _classes(self, pauses: Located[str] | None, classify: str, queuing: str) -> PortQos:
        network = dict(self._numbered("network-qos", self.system.get("network-qos", "")))
        priority = {group: settings.cos[0].value for group, settings in network.items() if settings.cos}
        taken = set(priority.values())
        name = {group: group + PRIORITIES * (group in taken) for group in range(PRIORITIES)} | priority
        port_qos = PortQos()
        for code, group, own_name in self._by_code(classify):
            if code not in port_qos.priorities:
                port_qos.priorities[code] = replace(group, value=name.get(group.value, group.value))
                port_qos.names[code] = own_name
        if pauses:
            port_qos.pfc = sorted(
                (parsed for settings in network.values() for parsed in settings.cos), key=lambda parsed: parsed.value
            )
            port_qos.xoff_bytes = {
                name[group]: settings.buffer for group, settings in network.items() if settings.buffer and settings.cos
            }
        for queue, settings in sorted(self._numbered("queuing", queuing), key=lambda row: row[0]):
            number = name.get(queue, queue)
            if settings.strict:
                port_qos.strict.append(replace(settings.strict, value=number))
            if settings.share:
                port_qos.weights[number] = settings.share
            if settings.ecn:
                port_qos.ecn[number] = settings.ecn
            if settings.line:
                place = replace(settings.line, value=queue)
                port_qos.queues[queue] = Queue(place=place, marks=settings.marks, share=settings.share)
        if pauses:
            self._lossless(port_qos, pauses, network, classify)
        return port_qos

    def _lossless(self, port_qos: PortQos, pauses: Located[str], network: Mapping[int, Class], classify: str) -> None:
        """A group that pauses is a queue of the same number, which PAUSE for its priority stops."""
        policy = self.system.get("network-qos", "")
        if not port_qos.pfc and (not policy or ("network-qos", policy) in self.policies):  # else one of the switch's own
            missing = (
                f"no class of {policy} has `pause`" if policy else "`system qos` has no `service-policy type network-qos`"
            )
            port_qos.gaps.append(pauses.at(f"PFC is on, but {missing}"))
        by_group: dict[int, list[int]] = {}
        for code, parsed, _ in self._by_code(classify):
            by_group.setdefault(parsed.value, []).append(code)
        known = self._groups_by_dscp(classify)
        for group, settings in network.items():
            for cos in settings.cos:
                port_qos.lossless.append(
                    LosslessClass(
                        priority=cos,
                        dscps=by_group.get(group) or ([] if known is None or group in known else None),
                        links=[cos.at(f"qos-group {group}")],
                        number=group,
                        queues={group: cos.at(group)},
                        headroom=settings.buffer,
                        levels=settings.levels,
                    )
                )

    def _groups_by_dscp(self, policy: str) -> set[int] | None:
        """Groups that packets get by their DSCP alone, and those that none gets; None for all, where no policy is applied."""
        if not policy:
            return None
        classes = self.policies.get(("qos", policy))
        if classes is None:  # one of the switch's own
            return set()
        matches = {name: self.matches.get(("qos", name), Match(others=True)) for name in classes}
        return set(range(PRIORITIES)) - {
            own.group.value for name, own in classes.items() if own.group and matches[name].others
        }

    def _by_code(self, policy: str) -> Iterator[tuple[int, Located[int], str]]:
        """(DSCP, its group, its class), the class that counts first. Lines are those of the DSCPs."""
        for name, own in self.policies.get(("qos", policy), {}).items():
            match = self.matches.get(("qos", name))
            if match and own.group:
                yield from ((code.value, replace(code, value=own.group.value), name) for code in match.codes)

    def _numbered(self, kind: str, policy: str) -> Iterator[tuple[int, Class]]:
        for name, own in self.policies.get((kind, policy), {}).items():
            for group in self._groups(kind, name):
                if own.no_drop and not own.cos:
                    own = replace(own, cos=[own.no_drop.at(group)])
                yield group, own

    def _groups(self, kind: str, name: str) -> list[int]:
        if match := SYSTEM_CLASS.fullmatch(name):
            return [int(match[1]) if match[1].isdecimal() else 0]
        return [0] if name == "class-default" else self.matches[kind, name].groups if (kind, name) in self.matches else []


# --- Lines ----------------------------------------------------------------------------------------------------


def _match(qos: Qos, line: Line) -> Below:
    return MATCH, [qos.matches.setdefault((line[1] or "qos", line[2]), Match())]


def _policy(qos: Qos, line: Line) -> Below:
    return POLICY, [qos.policies.setdefault((line[1] or "qos", line[2]), {})]


def _applied(qos: Qos, line: Line) -> None:
    kind = line[1] or "qos"
    if line[2] != "input" or kind == "qos":
        qos.system["classify" if kind == "qos" else kind] = line[3]


def _codes(own: Match, line: Line) -> None:
    own.codes += [line.located(code) for code in _dscps(line[1])]


def _dscps(text: str) -> Iterator[int]:
    for part in text.replace(",", " ").split():
        yield from [CODES[part]] if part in CODES else numbers(part)


def _precedences(own: Match, line: Line) -> None:
    """A precedence is the first three bits of eight DSCPs."""
    own.codes += [line.located(8 * high + low) for high in numbers(line[1]) for low in range(8)]


def _others(own: Match, line: Line) -> None:
    own.others = True


def _groups(own: Match, line: Line) -> None:
    own.groups += numbers(line[1])


def _class(policy: Policy, line: Line) -> Below:
    return CLASS, [policy.setdefault(line[1], Class(line=line.located(0)))]


def _pause(own: Class, line: Line) -> None:
    own.cos = [line.located(int(cos)) for cos in numbers(line[2])]
    if sizes := re.match(r"buffer-size (\d+) pause-threshold (\d+)(?: resume-threshold (\d+))?", line[1] or ""):
        full, pauses, resumes = (line.located(int(size or 0)) for size in sizes.groups())
        own.buffer = line.located(full.value - pauses.value)
        own.levels = [("resume-threshold", resumes), ("pause-threshold", pauses), ("buffer-size", full)]


def _ecn(own: Class, line: Line) -> None:
    """Without the word `ecn` packets are dropped, not marked."""
    text, parsed = line[1], line.located
    own.marks = parsed("ecn" in text.split())
    low, high = (re.search(rf"{name}-threshold (\d{{1,12}}) (\w+)", text) for name in ("minimum", "maximum"))
    chance = re.search(r"drop-probability (\d{1,3})", text)
    if low and high and "ecn" in text.split() and low[2] in UNITS and high[2] in UNITS:
        own.ecn = Ecn(
            parsed(int(low[1]) * UNITS[low[2]]),
            parsed(int(high[1]) * UNITS[high[2]]),
            parsed(int(chance[1])) if chance else None,
        )


def _watchdog(qos: Qos, line: Line) -> None:
    qos.watchdog = line.located(line[1] != "off")
    if line[1].isdecimal():
        qos.interval = line.located(int(line[1]))


SYSTEM: Rules[Qos] = Rules(
    {r"service-policy (?:type (qos|queuing|network-qos) )?(?:(input|output) )?(\S+)": _applied},
    "fex, hardware, ingress, service-policy",
)
MATCH: Rules[Match] = Rules(
    {
        r"match (?:ip )?dscp (.+)": _codes,
        r"match (?:ip )?precedence (.+)": _precedences,
        r"match qos-group (.+)": _groups,
        r"match (?:cos|access-group|protocol|vlan|any|ip rtp|mpls|packet).*": _others,
    },
    "match, description",
)
CLASS: Rules[Class] = Rules(
    {
        r"set qos-group (\d{1,2})": keep("group", int),
        r"pause (?:(.*) )?pfc-cos ([\d,-]+)(?: receive)?": _pause,
        r"pause(?: no-drop)?": switch("no_drop", True),
        r"priority(?: level \d)?": switch("strict", 1),
        r"bandwidth (?:remaining )?(?:percent )?(\d{1,3})": keep("share", int),
        r"random-detect (.+)": _ecn,
    },
    HEADS["class"],
)
POLICY: Rules[Policy] = Rules({r"class (?:type \S+ )?(\S+)(?: insert-before \S+)?": _class}, "description")
QOS: Table[Qos] = {
    r"class-map type (qos|queuing|network-qos|control-plane)(?: match-any| match-all)? (\S+)": _match,
    r"class-map ()(?:match-any |match-all )?(\S+)": _match,
    r"policy-map type (qos|queuing|network-qos|control-plane) (\S+)": _policy,
    r"policy-map ()(\S+)": _policy,
    r"system qos": below(SYSTEM),
    r"priority-flow-control watch-dog-interval (on|off|\d{1,5})(?: .+)?": _watchdog,
    r"priority-flow-control watch-dog shutdown-multiplier (\d{1,3})": keep("multiplier", int),
}


def bound(parsed: Iterable[Mapping[str, Located[str]]]) -> dict[str, Located[str]]:
    """What the lines of a port and of its channel say together; the port's own win."""
    found: dict[str, Located[str]] = {}
    for own in parsed:
        found = {**own, **found}
    return found
