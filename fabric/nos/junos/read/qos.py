"""Class of service of Junos: which priority a packet gets at a port, which of them pause, and how the link is shared.

A class is numbered by its PFC priority where it is lossless, else by its queue; where that is the priority of another class,
by its queue and 8, which no priority can be. Thresholds of ECN are percent of a queue's fill and no bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fabric.model.facts import Ecn, Facts, Located, LosslessClass, PortQos, Queue
from fabric.nos.junos.read.groups import pattern
from fabric.nos.junos.read.tree import NOTHING, Node, number

OWN_QUEUES = {"best-effort": 0, "fcoe": 3, "no-loss": 4, "network-control": 7}  # classes that every switch has
PRIORITIES = 8
OWN_PAUSED = {3: {3: NOTHING}, 4: {4: NOTHING}}  # priority → queues that obey PAUSE, where a profile has no `output`
CODE_POINTS = {
    "be": 0, "ef": 46, "nc1": 48, "nc2": 56, "va": 44, "voice-admit": 44,
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{row}{column}": 8 * row + 2 * column for row in range(1, 5) for column in range(1, 4)},
}  # fmt: skip


def read_qos(facts: Facts, root: Node) -> None:
    """Ports with the same profiles share one object."""
    cos = root.at("class-of-service")
    if not cos:
        return
    classes = _Classes(cos)
    stated = cos.at("interfaces")
    wild = [(pattern("*" if name == "all" else name), node) for name, node in stated.items() if name == "all" or "*" in name]
    for name, interface in facts.interfaces.items():
        if "." in name:  # a unit: its classes are filed under the port
            continue
        nodes = [node for match, node in wild if match.fullmatch(name)]
        if name in stated:
            nodes.append(stated[name])
        if nodes:
            interface.qos = classes.of(nodes, member=interface.bond is not None)
    for name, profile in cos.at("congestion-notification-profile").items():
        if "input" in profile:
            text = f"congestion notification profile {name}"
            facts.lossless = facts.lossless or Located(text, profile.line, profile.file)
    times = [_detection(profile) for profile in cos.at("congestion-notification-profile").values()]
    facts.watchdog_ms = max(
        (parsed for parsed in times if parsed), key=lambda parsed: parsed.value, default=None
    )  # the slowest


def _detection(profile: Node) -> Located[int] | None:
    """A queue is found stuck after so many polls."""
    dog = profile.at("pfc-watchdog")
    poll, polls = number(dog.value("poll-interval")), number(dog.value("detection"))
    return Located(poll.value * polls.value, polls.line, polls.file) if poll and polls else None


class _Classes:
    """The forwarding classes of a switch, and every set of profiles that its ports have."""

    def __init__(self, cos: Node) -> None:
        self.cos = cos
        self.queues, self.priorities = OWN_QUEUES.copy(), dict[str, int]()
        self.places, self.lossy = dict[str, Located[int]](), dict[str, str]()
        self.headroom = number(cos.value("shared-buffer", "ingress", "buffer-partition", "lossless-headroom", "percent"))
        for name, node in cos.at("forwarding-classes", "class").items():
            configured = dict(pairwise(["class", *node.words()]))
            no_loss = "no-loss" in node.words()
            self._number(name, configured.get("queue-num"), configured.get("pfc-priority") if no_loss else None)
            if not (no_loss and "pfc-priority" in configured):
                lacks = "pfc-priority" if no_loss else "no-loss"
                self.lossy[name] = f"class {name} has no `{lacks}`"
            self.places[name] = Located(self.queues.get(name, 0), node.line, node.file)
        for queue, node in cos.at("forwarding-classes", "queue").items():
            for name in node:
                self._number(name, queue, None)
        taken = set(self.priorities.values())
        self.numbers = {name: queue + PRIORITIES * (queue in taken) for name, queue in self.queues.items()} | self.priorities
        self.aliases = dict(CODE_POINTS)
        for name, node in cos.at("code-point-aliases", "dscp").items():
            for value in filter(None, map(_bits, node)):
                self.aliases[name] = value
        self.made: dict[tuple[str, ...], PortQos] = {}

    def _number(self, name: str, queue: str | None, priority: str | None) -> None:
        if queue and queue.isdecimal():
            self.queues[name] = int(queue)
        if priority and priority.isdecimal():
            self.priorities[name] = int(priority)

    def of(self, nodes: list[Node], *, member: bool = False) -> PortQos:
        """Configuration of a port, by name and by wildcards; its own name comes last and wins.

        A member of a bond may have its classifier there.
        """
        classifier = _last(parsed for node in nodes for parsed in _classifiers(node))
        scheduling = _last(parsed for node in nodes for parsed in self._maps(node))
        profile = _last(parsed for node in nodes if (parsed := node.value("congestion-notification-profile")))
        key = (classifier, scheduling, profile, "bond" if member and not classifier else "")
        if key not in self.made:
            found = self.made[key] = PortQos()
            self._classify(found, self.cos.at("classifiers", *classifier.split(" ")) if classifier else NOTHING)
            self._schedule(found, self.cos.at("scheduler-maps", scheduling, "forwarding-class"))
            if paused := self.cos.at("congestion-notification-profile", profile):
                self._pause(found, paused)
                if not key[-1]:
                    self._lossless(found, paused)
        return self.made[key]

    def _maps(self, port: Node) -> Iterator[Located[str]]:
        """A scheduler map is named at the port or its units, or in a traffic control profile."""
        for node in (port, *port.at("unit").values(), *port.at("forwarding-class-set").values()):
            if configured := node.value("output-traffic-control-profile"):
                yield from self.cos.every("traffic-control-profiles", configured.value, "scheduler-map")
            yield from node.every("scheduler-map")

    def _classify(self, found: PortQos, classifier: Node) -> None:
        for name, rows in classifier.at("forwarding-class").items():
            priority = self.numbers.get(name)
            for row in rows.at("loss-priority").values():
                for parsed in row.every("code-points"):
                    dscp = self._code_point(parsed.value)
                    if dscp is not None and priority is not None:
                        found.priorities[dscp] = Located(priority, parsed.line, parsed.file)
                        found.names[dscp] = name

    def _code_point(self, word: str) -> int | None:
        value = _bits(word)
        return self.aliases.get(word) if value is None else value

    def _schedule(self, found: PortQos, rows: Node) -> None:
        for name, row in rows.items():
            configured, own = row.value("scheduler"), self.numbers.get(name)
            if configured is None or own is None:
                continue
            scheduler = self.cos.at("schedulers", configured.value)
            order = scheduler.value("priority")
            if order and order.value == "strict-high":
                found.strict.append(Located(own, order.line, order.file))
            rate = number(scheduler.value("transmit-rate", "percent"))
            if rate:
                found.weights[own] = rate
            marks = "explicit-congestion-notification" in scheduler
            if marks:
                found.ecn[own] = self._marking(scheduler)
            early, queue = scheduler.at("drop-profile-map"), self.queues[name]
            place = configured.at(queue)
            shown = Located(marks, (early or scheduler).line, configured.file) if marks or early else None
            found.queues.setdefault(queue, Queue(place=place, marks=shown, share=rate))

    def _marking(self, scheduler: Node) -> Ecn:
        """The curve of the scheduler's drop profile, from its first point to its last."""
        for row in scheduler.at("drop-profile-map", "loss-priority").values():
            profile = self.cos.at("drop-profiles", row.words()[-1]) if row else NOTHING
            steps = profile.at("fill-level")  # `fill-level 50 drop-probability 20`, without a curve between
            levels = profile.every("interpolate", "fill-level") + profile.every("fill-level")
            points = profile.every("interpolate", "drop-probability")
            points += [parsed for step in steps.values() for parsed in step.every("drop-probability")]
            if levels and points:
                low, high = number(levels[0]), number(levels[-1])
                return Ecn(pmax_percent=number(points[-1]), kmin_percent=low, kmax_percent=high)
        return Ecn()

    def _pause(self, found: PortQos, profile: Node) -> None:
        """A class pauses for code points that come in, and obeys where PAUSE stops the queue that it is in."""
        obeyed = _obeyed(profile)
        queues = {priority: self.queues.get(name, priority) for name, priority in self.priorities.items()}
        paused: dict[int, Located[int]] = {}
        for priority, node in self._selected(found, profile):
            if priority is not None and "pfc" in node and queues.get(priority, priority) in obeyed.get(priority, ()):
                paused.setdefault(priority, Located(priority, node.line, node.file))
        found.pfc = [paused[priority] for priority in sorted(paused)]
        found.cable_length_m = number(profile.value("input", "cable-length"))
        found.watchdog = profile.flag("pfc-watchdog")

    def _lossless(self, found: PortQos, profile: Node) -> None:
        """Every code point that the profile sends PAUSE for, with its class; a gap where it has none that may pause."""
        names = {priority: name for name, priority in self.priorities.items()}
        chains: dict[int, LosslessClass] = {}
        for word, node in profile.at("input", "dscp", "code-point").items():
            dscp, place = self._code_point(word), Located("", node.line, node.file)
            if dscp is None or "pfc" not in node:
                continue
            name = found.names.get(dscp, "")
            if name in self.priorities:
                chain = chains.setdefault(self.priorities[name], self._chain(name, profile, node))
                chain.dscps = [*(chain.dscps or []), dscp]
            elif why := self.lossy.get(name, "") if name else "no classifier of the port has it":
                found.gaps.append(place.at(f"PFC is enabled for DSCP {dscp}, but {why}"))
        for word, node in profile.at("input", "ieee-802.1", "code-point").items():
            priority = _bits(word)
            if priority in names and priority is not None and "pfc" in node:
                chains.setdefault(priority, self._chain(names[priority], profile, node))
        found.lossless = [chains[priority] for priority in sorted(chains)]

    def _chain(self, name: str, profile: Node, node: Node) -> LosslessClass:
        priority, place = self.priorities[name], Located(0, node.line, node.file)
        of_class = self.places.get(name, place)
        stops = _obeyed(profile).get(priority, {})
        return LosslessClass(
            priority=place.at(priority),
            links=[of_class.at(f"class {name}")],
            queues={self.queues[name]: of_class},
            stopped={queue: Located(queue, at.line, at.file) if at.line else place for queue, at in stops.items()},
            beside=[
                self.places[other].at(f"class {other}")
                for other, queue in self.queues.items()
                if queue == self.queues[name] and other != name and other in self.places
            ],
            headroom=self.headroom,
        )

    def _selected(self, found: PortQos, profile: Node) -> Iterator[tuple[int | None, Node]]:
        """(priority, its row) of the code points that a profile sends PAUSE for."""
        lossless = set(self.priorities.values())
        for word, node in profile.at("input", "dscp", "code-point").items():
            dscp = self._code_point(word)
            sent = found.priorities.get(dscp) if dscp is not None else None
            yield sent.value if sent and sent.value in lossless else None, node
        for word, node in profile.at("input", "ieee-802.1", "code-point").items():
            yield _bits(word), node


def _obeyed(profile: Node) -> dict[int, dict[int, Node]]:
    """Priority → queues that a PAUSE frame of it stops, with their statement."""
    if "output" not in profile:
        return OWN_PAUSED
    found: dict[int, dict[int, Node]] = {}
    for word, node in profile.at("output", "ieee-802.1", "code-point").items():
        priority = _bits(word)
        if priority is not None:
            rows = node.at("flow-control-queue").items()
            found[priority] = {int(queue): at for queue, at in rows if queue.isdecimal()}
    return found


def _classifiers(port: Node) -> Iterator[str]:
    """`dscp ROCE`, of the port and its units; that of IPv4 wins."""
    for kind in ("dscp-ipv6", "dscp"):
        for node in (*port.at("unit").values(), port):
            yield from (f"{kind} {parsed.value}" for parsed in node.every("classifiers", kind))


def _last(found: Iterator[Located[str]] | Iterator[str]) -> str:
    last = ""
    for parsed in found:
        last = parsed if isinstance(parsed, str) else parsed.value
    return last


def _bits(word: str) -> int | None:
    """`011010` is 26."""
    return int(word, 2) if word and len(word) <= 8 and set(word) <= {"0", "1"} else None
