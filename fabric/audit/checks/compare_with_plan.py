"""Where the files of a device say something else than the plan: one difference a row, at the line that says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabric.audit.checks.finding import About, Subject
from fabric.audit.checks.rows import KINDS, Key, Row, Rows, Value
from fabric.base.text import listed
from fabric.model.facts import Ecn, Facts, Interface, Located, PortQos
from fabric.model.plan import Lossless, Marking, Port, Qos, SwitchView
from fabric.nos.target import Idiom, target

# --- rows -----------------------------------------------------------------------------------------------------

NONE = "none"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs. `expected` and `got` are as a message says them.

    `alike`: all subjects that differ in the same way at the same place, where there are several.
    """

    key: Key
    expected: str
    got: str
    place: Located[object]
    alike: tuple[Subject, ...] = ()

    @property
    def message(self) -> str:
        subject = listed([str(one) for one in self.about.subjects], 1)
        return f"{f'{subject}: ' if subject else ''}{KINDS[self.key.kind].words}: expected {self.expected}, got {self.got}"

    @property
    def about(self) -> About:
        """The same for other checks."""
        subjects = self.alike or (self.key.subject,)
        return About(subjects=subjects, fact=self.key.kind, expected=self.expected, got=self.got, absent=self.got == NONE)


def differences(
    planned: Mapping[Key, Value], configured: Rows, top: Located[object], blocks: Mapping[str, Located[object]] | None = None
) -> Iterator[Difference]:
    """Every row of the plan that the files lack, and every row beyond the plan where that is a fault.

    `blocks` has, for kinds of facts that belong to no named thing, the line of the block that a missing one belongs in.
    """
    gone = set(_absent(planned, configured))
    for key, expected in planned.items():
        if not key.kind or key.subject in gone:  # reported once, by the set that lacks it
            continue
        yield from _row(key, expected, configured.get(key), _home(key, configured, (blocks or {}).get(key.kind, top)))
    for key, row in configured.items():
        if key.kind and key not in planned and KINDS[key.kind].closed and not _reported_by_set(key, planned):
            for item, place in row.places.items():
                yield Difference(key, NONE, show(item), place)


def _absent(planned: Mapping[Key, Value], configured: Rows) -> Iterator[Subject]:
    """Sessions, VNIs and VRFs that the files do not have at all: their set says so."""
    for key in planned:
        if not key.kind and key not in configured:
            yield key.subject


def _reported_by_set(key: Key, planned: Mapping[Key, Value]) -> bool:
    """Whether the row belongs to an unplanned subject, which the set that has it reports already."""
    return key.subject.kind in ("neighbor", "VRF", "VNI") and Key("", key.subject) not in planned


def _home(key: Key, configured: Rows, top: Located[object]) -> Located[object]:
    port = key.subject._replace(name=key.subject.name.partition(".")[0])  # of a subinterface that is not there
    row = configured.get(Key("", key.subject)) or (configured.get(Key("", port)) if port != key.subject else None)
    return row.home if row else top


def _row(key: Key, expected: Value, row: Row | None, home: Located[object]) -> Iterator[Difference]:
    kind = KINDS[key.kind]
    if row is None:
        if not kind.spoken and expected != kind.default and expected not in (frozenset(), ""):
            yield Difference(key, show(expected), NONE, home)
        return
    if row.value == expected:
        return
    if not isinstance(expected, frozenset) or not isinstance(row.value, frozenset):
        yield Difference(key, show(expected), show(row.value), row.places.get(row.value, row.home))
        return
    extra = sorted(row.value - expected, key=str)
    missing = sorted(expected - row.value, key=str)
    for index in range(max(len(extra), len(missing))):
        planned = show(missing[index]) if index < len(missing) else NONE
        got, place = (show(extra[index]), row.places[extra[index]]) if index < len(extra) else (NONE, row.home)
        yield Difference(key, planned, got, place)


def show(value: object) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, frozenset):
        return ", ".join(str(item) for item in sorted(value)) or NONE
    return str(value)


# --- lossless class of every port -----------------------------------------------------------------------------

BEST_EFFORT = 0
CONTROL = (48, 56)  # class selectors 6 and 7, what switches say to each other


def class_differences(view: SwitchView, facts: Facts) -> Iterator[Difference]:
    """Every difference in the classes of ports that are in use."""
    nos = target(view.device.nos)
    assert nos.idiom is not None
    groups: dict[tuple[int, int], list[tuple[str, Port, Interface]]] = {}
    for port in view.ports:
        if not port.up:
            continue
        name = nos.port_name(view.model, port.ref, view.device.model)
        interface = facts.interfaces.get(name)
        if interface is not None:
            qos = _classes(facts, interface)
            groups.setdefault((id(qos), id(port.lossless)), []).append((name, port, interface))
    alike: dict[tuple[str, str, str, Located[object] | None], list[tuple[str, Located[object]]]] = {}
    for members in groups.values():
        _, port, interface = members[0]
        home = Located(None, interface.line, interface.file)
        ports = _Ports(view, nos.idiom, home)
        for difference in ports.compare(_classes(facts, interface), port):
            # A value without a statement is missing on all ports at once.
            stated = difference.place if difference.place is not home else None
            rows = alike.setdefault((difference.key.kind, difference.expected, difference.got, stated), [])
            rows += [(name, difference.place) for name, _, _ in members]
    for (kind, expected, got, _), rows in alike.items():
        subjects = tuple(Subject(name) for name, _ in rows)
        yield Difference(Key(kind, subjects[0]), expected, got, rows[0][1], subjects)


def _classes(facts: Facts, interface: Interface) -> PortQos | None:
    """Of the port, or of its bond."""
    if interface.qos is None and interface.bond and interface.bond.value in facts.interfaces:
        return facts.interfaces[interface.bond.value].qos
    return interface.qos


@dataclass(frozen=True)
class _Ports:
    view: SwitchView
    idiom: Idiom
    home: Located[object]

    def differ(self, kind: str, expected: object, got: object, place: Located[object] | None) -> Iterator[Difference]:
        if expected != got:
            yield Difference(Key(kind), show(expected), show(got) if got is not None else NONE, place or self.home)

    def compare(self, qos_facts: PortQos | None, port: Port) -> Iterator[Difference]:
        qos, lossless = self.view.qos, port.lossless
        paused = {item.value: item for item in qos_facts.pfc} if qos_facts else {}
        wanted = frozenset(qos.of(lossless)) if qos and lossless else frozenset()
        extra = next((place for value, place in paused.items() if value not in wanted), None)
        yield from self.differ("pfc", wanted, frozenset(paused), extra)
        if qos_facts is None or qos is None or lossless is None:
            return
        yield from self._maps(qos_facts, qos)
        yield from self._queues(qos_facts, qos)
        yield from self._sizes(qos_facts, qos, lossless, port)

    def _maps(self, qos_facts: PortQos, qos: Qos) -> Iterator[Difference]:
        """Exactly one DSCP is lossless; that of notifications goes first, perhaps beside what switches say to each other."""
        strict = {item.value for item in qos_facts.strict}
        lossless = {dscp: place for dscp, place in qos_facts.priorities.items() if place.value == qos.priority}
        first = {dscp: place for dscp, place in qos_facts.priorities.items() if place.value in strict}
        if qos.cnp_dscp in first:
            first = {dscp: place for dscp, place in first.items() if dscp == qos.cnp_dscp or dscp not in CONTROL}
        kinds = [("lossless", lossless, qos.dscp), ("cnp", first, qos.cnp_dscp)]
        if storage := qos.storage:
            own = {dscp: place for dscp, place in qos_facts.priorities.items() if place.value == storage.priority}
            kinds.append(("storage", own, storage.dscp))
        for kind, mapped, planned in kinds:
            if self.idiom.blocks and planned in mapped and all(dscp >> 3 == planned >> 3 for dscp in mapped):
                mapped = {planned: mapped[planned]}
            odd = next(
                (place for dscp, place in sorted(mapped.items()) if dscp != planned), qos_facts.priorities.get(planned)
            )
            yield from self.differ(kind, frozenset({planned}), frozenset(mapped), odd)

    def _queues(self, qos_facts: PortQos, qos: Qos) -> Iterator[Difference]:
        strict = {item.value: item for item in qos_facts.strict}
        wrong = strict.get(qos.priority) or strict.get(BEST_EFFORT)
        if not strict or wrong:
            yield from self.differ("strict", frozenset({qos.cnp_priority}), frozenset(strict), wrong)
        classes = [("weight", qos.priority, qos.lossless_percent)]
        if qos.storage:
            classes.append(("storage_weight", qos.storage.priority, qos.storage.percent))
        for kind, priority, percent in classes:
            weight, rest = qos_facts.weights.get(priority), qos_facts.weights.get(BEST_EFFORT)
            if weight and rest and weight.value + rest.value:
                share = round(100 * weight.value / (weight.value + rest.value))
                planned = round(100 * percent / (percent + qos.lossy_percent))
                if abs(share - planned) > 1:
                    odd = rest if weight.value == percent else weight  # the one that was changed
                    yield from self.differ(kind, planned, share, odd)

    def _sizes(self, qos_facts: PortQos, qos: Qos, lossless: Lossless, port: Port) -> Iterator[Difference]:
        for priority in qos.of(lossless):
            yield from self._thresholds(qos_facts.ecn.get(priority) or Ecn(), qos, lossless.marking)
        if headroom := qos_facts.xoff_bytes.get(qos.of(lossless)[0]):
            yield from self.differ("xoff", lossless.xoff_bytes, headroom.value, headroom)
        if qos_facts.cable_length_m:
            yield from self.differ(
                "cable", self.idiom.cable_m(self.view, port), qos_facts.cable_length_m.value, qos_facts.cable_length_m
            )
        if qos_facts.watchdog is not None:
            yield from self.differ("watchdog", qos.watchdog is not None, qos_facts.watchdog.value, qos_facts.watchdog)
        elif qos.watchdog and target(self.view.device.nos).capabilities.watchdog:
            yield from self.differ("watchdog", True, None, None)

    def _thresholds(self, qos_facts: Ecn, qos: Qos, marking: Marking) -> Iterator[Difference]:
        """In bytes, or in percent of the queue's fill where the network OS takes no bytes."""
        low, high, pmax = marking.kmin_bytes, marking.kmax_bytes, marking.pmax_percent
        percent, places = self.idiom.ecn_percent, (qos_facts.kmin_bytes, qos_facts.kmax_bytes)
        if percent is not None:
            low, high, pmax = percent(marking, qos.buffer)
            places = qos_facts.kmin_percent, qos_facts.kmax_percent
        for kind, place, expected in (("kmin", places[0], low), ("kmax", places[1], high)):
            if place is None or abs(place.value - expected) >= self.idiom.ecn_unit:
                yield from self.differ(kind, expected, place.value if place else None, place)
        if qos_facts.pmax_percent:
            yield from self.differ("pmax", pmax, qos_facts.pmax_percent.value, qos_facts.pmax_percent)
