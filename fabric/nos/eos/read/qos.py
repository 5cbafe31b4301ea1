"""Reads the classes of EOS ports: DSCP maps, PFC, queues with their weights and ECN thresholds, through QoS profiles."""

from __future__ import annotations

import re

from fabric.model.facts import Ecn, Located, LosslessClass, PortQos, Queue
from fabric.nos.reading import Section, integer, numbers

QUEUES = ("tx-queue", "uc-tx-queue")
ECN = re.compile(
    r"random-detect ecn minimum-threshold (\d+) (\w+) maximum-threshold (\d+) (\w+)(?: max-mark-probability (\d+))?"
)
ECN_COUNT = "random-detect ecn count"  # counts marks, and makes none
OF_PORT = re.compile(rf"(?:priority-flow-control|qos|{'|'.join(QUEUES)})(?: |$)")
SEED = re.compile(r"(?:hash seed|ip load-sharing \S+) (\d+)")
UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}  # a chip's segments are not in the config
# DSCPs of a traffic class where no `qos map dscp` says otherwise (EOS User Manual, Quality of Service, default DSCP map).
DEFAULT_DSCPS = {
    traffic_class: range(8 * block, 8 * block + 8) for block, traffic_class in enumerate((1, 0, 2, 3, 4, 5, 6, 7))
}


class Qos:
    """The maps of the switch, and the classes of each profile, read once. `text` is that of the config."""

    def __init__(self, config: Section, file: str, text: str) -> None:
        self.file = file
        self.profiles = dict(config.each("qos profile"))
        self.by_dscp = self._map(config, "dscp", "traffic-class")
        self.queue_of = self._map(config, "traffic-class", "tx-queue")
        self.watchdog_ms, self.poll_ms = (self._watchdog_ms(config, name) for name in ("timeout", "polling-interval"))
        self.hash_seed = self._seed(config) if SEED.search(text) else None
        self._known: dict[str, PortQos | None] = {}

    @property
    def lossless(self) -> Located[str] | None:
        """The first profile with PFC."""
        for name, profile in self.profiles.items():
            if any(text.endswith(" no-drop") for text, _ in profile.each("priority-flow-control priority")):
                return Located(f"QoS profile {name}", profile.number, self.file)
        return None

    def of(self, port: Section) -> PortQos | None:
        """The classes of a port; ports that have a profile and no lines of their own share one object."""
        found = port.last("service-profile")
        name = found[0] if found else ""
        own = [part for part in port.parts if OF_PORT.match(part.line)]
        if own:
            profile = self.profiles.get(name, Section())
            return self._classes(Section(parts=[*profile.parts, *own]))
        if name not in self._known:
            self._known[name] = self._classes(self.profiles[name]) if name in self.profiles else None
        return self._known[name]

    def _classes(self, lines: Section) -> PortQos | None:
        file = self.file
        queues = {number: part for head in QUEUES for text, part in lines.each(head) if (number := integer(text)) is not None}
        paused = [
            Located(value, part.number, file)
            for text, part in lines.each("priority-flow-control priority")
            for value in numbers(text.rpartition(" ")[0])
            if text.endswith(" no-drop")
        ]
        on = next((part for text, part in lines.each("priority-flow-control") if text in ("on", "mode on")), None)
        if on is None and not queues and not paused:
            return None
        qos = PortQos(
            priorities=dict(self.by_dscp), queues={number: self._queue(number, queues[number]) for number in queues}
        )
        if on:
            qos.pfc = paused
            qos.lossless = [self._lossless(one) for one in paused]
            if not paused:
                qos.gaps.append(Located("PFC is on, but for no priority (`priority-flow-control priority`)", on.number, file))
        else:
            qos.gaps += (one.at(f"priority {one.value} is no-drop, but PFC is not on") for one in paused)
        for text, part in lines.each("priority-flow-control pause watchdog"):
            if not text:  # `… port action drop` says what it does, not that it does
                qos.watchdog = Located(True, part.number, file)
        # A queue is strict unless stated; round robin holds for all queues below one that has it.
        weighted = max((number for number, queue in queues.items() if queue.has("no priority")), default=-1)
        for traffic_class, mapped in sorted({parsed.value: parsed for parsed in self.by_dscp.values()}.items()):
            place = self.queue_of.get(traffic_class, mapped)
            queue = place.value
            section = queues.get(queue)
            if section is None:
                if -1 < weighted < queue:
                    qos.strict.append(Located(traffic_class, place.line, file))
                continue
            if queue > weighted:
                line = next((part.number for part in section.parts if part.line == "priority strict"), section.number)
                qos.strict.append(Located(traffic_class, line, file))
            if (words := section.last("bandwidth percent")) and (share := integer(words[0])) is not None:
                qos.weights[traffic_class] = Located(share, words[1].number, file)
            if (ecn := self._ecn(section)) is not None:
                qos.ecn[traffic_class] = ecn
        return qos

    def _lossless(self, paused: Located[int]) -> LosslessClass:
        """A priority is the traffic class of its number, and PAUSE stops the queue of this number."""
        priority = paused.value
        place = self.queue_of.get(priority, paused)
        beside = {parsed.value: parsed for parsed in self.by_dscp.values() if parsed.value != priority}
        usual = DEFAULT_DSCPS[priority] if priority in DEFAULT_DSCPS else range(0)
        codes = [dscp for dscp, parsed in self.by_dscp.items() if parsed.value == priority]
        return LosslessClass(
            priority=paused,
            dscps=codes + [dscp for dscp in usual if dscp not in self.by_dscp],
            links=[paused.at(f"traffic class {priority}")],
            number=priority,
            queues={place.value: place},
            stopped={priority: paused},
            beside=[
                parsed.at(f"traffic class {number}")
                for number, parsed in sorted(beside.items())
                if self.queue_of.get(number, parsed).value == place.value
            ],
        )

    def _queue(self, number: int, section: Section) -> Queue:
        """`random-detect drop` without `random-detect ecn` drops."""
        early = [part for part in section.parts if part.line.startswith("random-detect ") and part.line != ECN_COUNT]
        marking = next((part for part in early if part.line.startswith("random-detect ecn ")), None)
        words, part = section.last("bandwidth percent") or ("", section)
        share, place = integer(words), marking or (early[0] if early else None)
        return Queue(
            place=Located(number, section.number, self.file),
            marks=Located(marking is not None, place.number, self.file) if place else None,
            share=Located(share, part.number, self.file) if share is not None else None,
        )

    def _ecn(self, queue: Section) -> Ecn | None:
        for part in queue.parts:
            match = ECN.match(part.line)
            if match and match[2] in UNITS and match[4] in UNITS:
                return Ecn(
                    Located(int(match[1]) * UNITS[match[2]], part.number, self.file),
                    Located(int(match[3]) * UNITS[match[4]], part.number, self.file),
                    Located(int(match[5]), part.number, self.file) if match[5] else None,
                )
        return None

    def _map(self, config: Section, source: str, target: str) -> dict[int, Located[int]]:
        """`qos map dscp 0 1 2 to traffic-class 0`."""
        found: dict[int, Located[int]] = {}
        for text, part in config.each(f"qos map {source}"):
            values, _, own = text.partition(f" to {target} ")
            number = integer(own)
            if number is not None:
                found |= {value: Located(number, part.number, self.file) for value in numbers(values)}
        return found

    def _watchdog_ms(self, config: Section, name: str) -> Located[int] | None:
        found = config.last(f"priority-flow-control pause watchdog default {name}")
        seconds = re.match(r"\d+(\.\d+)?(?= |$)", found[0]) if found else None
        return Located(round(float(seconds[0]) * 1000), found[1].number, self.file) if found and seconds else None

    def _seed(self, config: Section) -> Located[int] | None:
        for section in config.walk():
            if match := SEED.search(section.line):
                return Located(int(match[1]), section.number, self.file)
        return None
