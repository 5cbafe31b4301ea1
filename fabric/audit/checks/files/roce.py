"""The lossless class as the files have it: PFC, DSCP, ECN, headroom, watchdog, hash seeds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from fabric.audit.checks import ERROR, NOTE, WARNING, FilesCheck, Finding, Merge, Network, outliers, place, role
from fabric.audit.checks.base import REGENERATE
from fabric.base.text import listed
from fabric.model.facts import Facts, Located, PortQos

SELECTOR_7 = 56  # DSCP
ECN_FIELDS = {  # name and unit
    "kmin_bytes": ("ECN minimum", "bytes"),
    "kmax_bytes": ("ECN maximum", "bytes"),
    "kmin_percent": ("ECN minimum", "%"),
    "kmax_percent": ("ECN maximum", "%"),
    "pmax_percent": ("ECN marking probability", "%"),
}
PERCENTS = ("kmin_percent", "kmax_percent", "pmax_percent")
LAST_PERCENT = 99  # of a fill: Junos takes no 100 for the last


def classes(facts: Facts) -> Iterator[tuple[str, PortQos]]:
    """(first port, classes) of each kind of classes on a device; most ports share theirs. Ports that are off do not count."""
    seen: set[int] = set()
    for name, interface in facts.interfaces.items():
        off = interface.enabled is not None and not interface.enabled.value
        if interface.qos is not None and not off and id(interface.qos) not in seen:
            seen.add(id(interface.qos))
            yield name, interface.qos


def lossless(qos: PortQos) -> frozenset[int]:
    """Lossless priorities of a port."""
    return frozenset(fact.value for fact in qos.pfc)


class Pfc(FilesCheck):
    """Compares the PFC priorities of both ends of every link.

    PAUSE needs PFC for the same priority at both ends (IEEE 802.1Qbb). With one end only, the other keeps sending, and
    packets are dropped. Every further lossless priority takes buffer from the first.
    """

    id = "FAB272"
    title = "PFC is enabled for the lossless priority at both ends"
    severity = ERROR
    example = "PFC for priority 3 on leaf001 Ethernet0, for no priority on spine001 Ethernet0"
    remediation = "enable PFC for the same priority at both ends"
    kinds: ClassVar = ("pfc",)

    def check(self, network: Network) -> Iterator[Finding]:
        for a, b in network.links:
            if a.interface.tag or b.interface.tag:
                continue
            mine = lossless(a.interface.qos) if a.interface.qos else frozenset()
            theirs = lossless(b.interface.qos) if b.interface.qos else frozenset()
            if mine == theirs:
                continue
            near, far, less, more = (a, b, mine, theirs) if len(mine) <= len(theirs) else (b, a, theirs, mine)
            fact: Located[object] = Located(None, near.interface.line, near.interface.file)
            if near.interface.qos and near.interface.qos.pfc:
                fact = near.interface.qos.pfc[0]
            got = f"PFC is enabled for {_numbers(less)}, but for {_numbers(more)}"
            merge = Merge(text=f"{{names}}: {got} at the other ends", names=(near.interface.name,), most=3)
            yield self.finding_at(near.facts, fact, f"{near.interface.name}: {got} on {far}", merge=merge)


def _numbers(values: frozenset[int]) -> str:
    noun = "priorities" if len(values) > 1 else "priority"
    return f"{noun} {', '.join(map(str, sorted(values)))}" if values else "no priority"


class Dscp(FilesCheck):
    """Compares the DSCP maps of all switches.

    Every hop classifies a packet by its DSCP. A switch that maps the RoCE DSCP to best effort drops those packets under
    load; one that maps another DSCP to the lossless class lets other traffic trigger PAUSE.
    """

    id = "FAB273"
    title = "All switches map the same DSCPs to the lossless class"
    severity = ERROR
    example = "DSCP 26 in priority 3 on all switches, in priority 0 on leaf004"
    remediation = "configure the same DSCP map on all switches"
    kinds: ClassVar = ("lossless", "cnp", "storage")
    of_component: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        rows = []
        for facts in network.devices:
            for port, qos in classes(facts):
                if qos.pfc and qos.priorities:
                    rows.append((facts, port, qos))
        yield from self._odd(rows, lossless, "in the lossless class")
        yield from self._odd(rows, _strict, "with strict priority")
        yield from self._unused(network)

    def _odd(
        self, users: list[tuple[Facts, str, PortQos]], classes_of: Callable[[PortQos], frozenset[int]], words: str
    ) -> Iterator[Finding]:
        """Ports whose DSCPs of a class are not those that most switches have.

        A switch that maps whole blocks of eight carries the class of one that maps a single DSCP of the block.
        """

        def map_of(facts: Facts, qos: PortQos) -> tuple[str, frozenset[tuple[int, int]]]:
            return facts.name, frozenset((dscp, fact.value) for dscp, fact in qos.priorities.items())

        of_map: dict[tuple[str, frozenset[tuple[int, int]]], frozenset[int]] = {}  # ports of a map may have one class each
        for facts, _, qos in users:
            key = map_of(facts, qos)
            of_map[key] = of_map.get(key, frozenset()) | classes_of(qos)
        by_device: dict[tuple[str, frozenset[int]], tuple[Facts, str, PortQos]] = {}
        for facts, port, qos in users:
            by_device.setdefault((facts.name, frozenset(_mapped(qos, of_map[map_of(facts, qos)]))), (facts, port, qos))
        rows = [(thresholds, (thresholds, user)) for (_, thresholds), user in by_device.items()]
        usual, odd = outliers([row for row in rows if not _whole_blocks(row[0])])
        deviating = [(usual, row) for _, row in odd]
        usual_blocks, odd = outliers([(_blocks(thresholds), row) for thresholds, row in rows])
        usual = next((thresholds for thresholds, _ in rows if _blocks(thresholds) == usual_blocks), None)
        deviating += [(usual, row) for _, row in odd if _whole_blocks(row[0])]
        for usual, (thresholds, (facts, port, qos)) in deviating:
            expected = usual or frozenset()
            if len(rows) == 2:
                expected = next(other for other, _ in rows if other != thresholds)
            changed = [*sorted(thresholds - expected), *sorted(expected - thresholds)]
            fact = next((qos.priorities[dscp] for dscp in changed if dscp in qos.priorities), qos.pfc[0])
            mine = f"DSCP {_dscps(thresholds)}" if thresholds else "no DSCP"
            yield self.finding_at(facts, fact, f"{port}: {mine} {words}, but {_dscps(expected)} on other switches")

    def _unused(self, network: Network) -> Iterator[Finding]:
        """A paused priority that no DSCP leads to protects nothing."""
        for facts in network.devices:
            by_priority: dict[int, list[tuple[str, Located[int]]]] = {}
            for port, qos in classes(facts):
                mapped = {fact.value for fact in qos.priorities.values()}
                for fact in qos.pfc if mapped else ():
                    if fact.value not in mapped:
                        by_priority.setdefault(fact.value, []).append((port, fact))
            for priority, rows in by_priority.items():
                got = f"PFC is enabled for priority {priority}, but no DSCP is mapped to this priority"
                hint = f"map a DSCP to priority {priority}, or disable PFC for priority {priority}"
                yield self.finding_at(facts, rows[0][1], f"{_ports(rows)}: {got}", hint=hint)


def _ports(rows: Sequence[tuple[str, object]]) -> str:
    """The first port of some, and how many more."""
    return listed([name for name, _ in rows], 1)


def _strict(qos: PortQos) -> frozenset[int]:
    return frozenset(fact.value for fact in qos.strict)


def _mapped(qos: PortQos, classes: frozenset[int]) -> Iterator[int]:
    """The DSCPs of classes, class selector 7 left out: what switches say to each other comes first on some by default."""
    return (dscp for dscp, fact in qos.priorities.items() if fact.value in classes and dscp != SELECTOR_7)


def _blocks(values: frozenset[int]) -> frozenset[int]:
    """The DSCPs of every block of eight that some of the values are in."""
    return frozenset(dscp for value in values for dscp in range(value & ~7, (value & ~7) + 8) if dscp != SELECTOR_7)


def _whole_blocks(values: frozenset[int]) -> bool:
    """Whether DSCPs are mapped in blocks of eight."""
    return bool(values) and values == _blocks(values)


def _dscps(values: frozenset[int]) -> str:
    found = sorted(values)
    return listed([*map(str, found)], 8) or "none"


class Shares(FilesCheck):
    """Compares scheduler weights and strict-priority queues with the plan.

    Congestion notifications must arrive although the link is congested, so they have a strict-priority queue. The weight
    of the lossless class is its guaranteed bandwidth.
    """

    id = "FAB278"
    title = "Queues have the planned weights, and CNPs have strict priority"
    severity = ERROR
    example = "weight 40 for the lossless queue; the plan has 60"
    remediation = REGENERATE
    kinds: ClassVar = ("strict", "weight", "storage_weight")


class EcnThresholds(FilesCheck):
    """Compares Kmin with Kmax, and the ECN thresholds of switches of one role.

    ECN must slow senders down before PFC stops them: marking starts at Kmin, is certain at Kmax, and both are below the
    XOFF level. Equal thresholds are a step, as in DCTCP (RFC 8257). Different thresholds on switches of one role mark one
    path earlier than another.
    """

    id = "FAB274"
    title = "The ECN minimum does not exceed the maximum, and switches of one role have equal thresholds"
    severity = ERROR
    example = "Kmin 2000000, Kmax 1000000"
    remediation = "set the planned thresholds: `fabric explain FILE backend.ecn` prints them"
    of_device: ClassVar = True
    kinds: ClassVar = ("kmin", "kmax", "pmax")

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            by_text: dict[tuple[Located[int], str], list[tuple[str, None]]] = {}
            for port, qos in classes(facts):
                for priority, ecn in qos.ecn.items():
                    for low, high, unit in (
                        (ecn.kmin_bytes, ecn.kmax_bytes, "bytes"),
                        (ecn.kmin_percent, ecn.kmax_percent, "%"),
                    ):
                        if low and high and low.value > high.value:
                            got = f"ECN minimum {low.value} {unit} is above the maximum {high.value} {unit}"
                            by_text.setdefault((low, f"priority {priority}: {got}"), []).append((port, None))
            for (fact, got), rows in by_text.items():
                yield self.finding_at(facts, fact, f"{_ports(rows)}: {got}")
        if network.planned:
            return
        for field, (words, unit) in ECN_FIELDS.items():
            yield from _odd_roles(self, network, partial(_ecn, field), words, unit)


def _ecn(field: str, qos: PortQos) -> tuple[Hashable, Located[object]] | None:
    found = [(priority, fact) for priority, ecn in sorted(qos.ecn.items()) if (fact := getattr(ecn, field))]
    return (tuple((priority, fact.value) for priority, fact in found), found[0][1]) if found else None


def _odd_roles(
    check: FilesCheck,
    network: Network,
    take: Callable[[PortQos], tuple[Hashable, Located[object]] | None],
    words: str,
    unit: str,
) -> Iterator[Finding]:
    """Switches of one role, taken from the name, should have one value on ports of one speed."""
    groups: dict[tuple[object, ...], list[tuple[Hashable, tuple[Facts, str, Located[object]]]]] = {}
    for facts in network.devices:
        seen: set[tuple[object, ...]] = set()
        known: set[tuple[int, int]] = set()  # ports share their classes
        for name, interface in facts.interfaces.items():
            speed = interface.speed_gbps.value if interface.speed_gbps else 0
            if (id(interface.qos), speed) in known:
                continue
            known.add((id(interface.qos), speed))
            taken = take(interface.qos) if interface.qos else None
            if taken is None or (speed, taken[0], taken[1].line) in seen:
                continue
            seen.add((speed, taken[0], taken[1].line))
            groups.setdefault((role(facts.name), facts.nos, speed), []).append((taken[0], (facts, name, taken[1])))
    for rows in groups.values():
        devices = {facts.name for _, (facts, _, _) in rows}
        if len(devices) < len(rows):
            continue  # several kinds of ports of one speed on a device: nothing says which should be alike
        _, odd = outliers(rows)
        users = Counter(value for value, _ in rows)
        for value, (facts, port, fact) in odd:
            other = next(row for row in rows if row[0] != value)
            got, expected = fact.value, other[1][2].value
            where = f"{other[1][0].name} ({place(other[1][2])})"
            message = f"{port}: {words} {got} {unit}, but {expected} {unit} on {where}"
            # What a port may take of the buffer follows from how many others have the class, reserved ports among them.
            alike = _loads(facts) == _loads(other[1][0]) and not _in_proportion(
                facts.interfaces[port].qos, other[1][0].interfaces[other[1][1]].qos
            )
            edited = alike and users[value] == 1  # several switches with one value were given it
            yield check.finding_at(facts, fact, message, severity=WARNING if edited else NOTE)


def _loads(facts: Facts) -> Counter[int]:
    """Speed → ports of a switch that have the lossless class."""
    used = (own for own in facts.interfaces.values() if own.enabled is None or own.enabled.value)
    ports = (own for own in used if own.qos and own.qos.pfc)
    return Counter(own.speed_gbps.value if own.speed_gbps else 0 for own in ports)


def _in_proportion(mine: PortQos | None, theirs: PortQos | None) -> bool:
    """Whether rounded percents of a fill are the same bytes of two buffers: one factor leads from all of one to the other.

    One number that differs alone is an edit. A curve that is cut at its last percent has another probability there.
    """
    if mine is None or theirs is None:
        return False
    lowest, highest = 0.0, math.inf  # of the factor
    for priority in mine.ecn.keys() & theirs.ecn.keys():
        near, far = mine.ecn[priority], theirs.ecn[priority]
        if sum(_value(getattr(near, field)) != _value(getattr(far, field)) for field in PERCENTS) == 1:
            return False
        for field in PERCENTS[:2]:
            own, other = _value(getattr(near, field)), _value(getattr(far, field))
            if 0 < own < LAST_PERCENT and 0 < other < LAST_PERCENT:
                lowest = max(lowest, (own - 0.5) / (other + 0.5))
                highest = min(highest, (own + 0.5) / (other - 0.5))
    return lowest <= highest < math.inf


def _value(fact: Located[int] | None) -> int:
    return fact.value if fact else 0


class Headroom(FilesCheck):
    """Compares XOFF headroom and cable lengths with the plan, or between switches of one role.

    Headroom holds the data in flight after PAUSE is sent, and depends on speed, cable length and ASIC (IEEE 802.1Q Annex
    O). Too little drops RoCE packets, and only under load; too much takes buffer from all other queues.
    """

    id = "FAB275"
    title = "Headroom and cable lengths match the plan"
    severity = ERROR
    example = "XOFF headroom 50,000 bytes on a 400G port with a 40 m cable; the plan has 128,700"
    remediation = "set the headroom that `fabric headroom` computes for the port"
    kinds: ClassVar = ("xoff", "cable")

    def check(self, network: Network) -> Iterator[Finding]:
        yield from _odd_roles(self, network, _xoff, "headroom", "bytes")


def _xoff(qos: PortQos) -> tuple[Hashable, Located[object]] | None:
    found = sorted(qos.xoff_bytes.items())
    return (tuple((priority, fact.value) for priority, fact in found), found[0][1]) if found else None


class Watchdog(FilesCheck):
    """Looks for ports with PFC and without a PFC watchdog.

    A broken NIC that sends PAUSE continuously stops the whole fabric, port by port: a PFC storm. Only the watchdog drops
    a queue that stays paused too long.
    """

    id = "FAB276"
    title = "Every port with PFC has a watchdog"
    severity = WARNING
    example = "`priority-flow-control on` without a watchdog"
    remediation = "enable the PFC watchdog, with the same detection time on all switches"
    kinds: ClassVar = ("watchdog", "watchdog_ms")

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            by_text: list[tuple[str, Located[object]]] = []
            for port, qos in classes(facts):
                on = qos.watchdog or facts.watchdog
                if qos.pfc and (on is None or not on.value):
                    by_text.append((port, on or qos.pfc[0]))
            if by_text:
                yield self.finding_at(facts, by_text[0][1], f"{_ports(by_text)}: PFC is enabled without a watchdog")


class HashSeeds(FilesCheck):
    """Compares the ECMP hash seeds of adjacent tiers.

    Two tiers with the same hash make the same choices, so some paths of the second tier carry no traffic (polarization).
    """

    id = "FAB277"
    title = "Adjacent tiers have different hash seeds"
    severity = WARNING
    example = "hash seed 10 on leaf001 and on spine001"
    remediation = "configure a different hash seed on each tier"
    kinds: ClassVar = ("hash_seed",)

    def check(self, network: Network) -> Iterator[Finding]:
        reported: set[str] = set()
        for a, b in network.links:
            mine, theirs = a.facts.hash_seed, b.facts.hash_seed
            if mine and theirs and mine.value == theirs.value and role(a.facts.name) != role(b.facts.name):
                for near, far, fact in ((a, b, mine), (b, a, theirs)):
                    if near.facts.name not in reported:
                        reported.add(near.facts.name)
                        yield self.finding_at(
                            near.facts,
                            fact,
                            f"hash seed {fact.value} is also configured on {far.facts.name}, in another tier",
                            severity=NOTE,
                        )
