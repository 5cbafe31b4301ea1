"""The lossless class of a port link by link: DSCP, traffic class, priority group, PFC, buffers, queue, ECN, scheduler.

Readers fill a record per class; a check here tests one link of it. Each device is judged alone, so a fault that all
switches have is found as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from fabric.audit.checks import ERROR, WARNING, FilesCheck, Finding, Merge, Network
from fabric.audit.checks.files.roce import classes
from fabric.base.grouping import consecutive
from fabric.base.text import listed
from fabric.model.facts import Located, LosslessClass, PortQos

LEAST_SHARE = 5  # percent of the weights of a port, below which a lossless queue is starved
CODES_PER_PRIORITY = 8  # DSCPs whose first three bits are the priority: what a NIC sends by default
LOSSY = "lossy"  # in names of profiles and pools

Fault: TypeAlias = tuple[Located[object], str, str]  # its place, the sentence, the severity


def path_of(chain: LosslessClass) -> str:
    """`DSCP 26 → traffic class 3 → priority group 3 → queue 3`."""
    runs = [f"{low}-{high}" if low < high else f"{low}" for low, high in consecutive(chain.dscps or ())]
    first = [f"DSCP {listed(runs, 8)}"] if runs else []
    return " → ".join([*first, *(link.value for link in chain.links), *(f"queue {queue}" for queue in sorted(chain.queues))])


class ChainCheck(FilesCheck):
    """Tests one link of the lossless classes of every port."""

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        """What is wrong with a port."""
        yield from ()

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            by_text: dict[tuple[str, str], list[tuple[str, Located[object]]]] = {}
            for port, qos in classes(facts):
                for place, text, severity in self.faults(qos):
                    by_text.setdefault((text, severity), []).append((port, place))
            for (text, severity), rows in by_text.items():
                ports = listed([port for port, _ in rows], 1)
                merge = Merge(text=text)
                yield self.finding_at(facts, rows[0][1], f"{ports}: {text}", severity=severity, merge=merge)


class PausedClass(ChainCheck):
    """Looks for PFC that no packet benefits from, and compares the priority of every DSCP at both ends of a link.

    A port with PFC but without a DSCP map, a class that pauses, or the command that enables PFC, drops RoCE packets like
    any other. Where the ends of a link put a DSCP into different priorities, PAUSE stops other packets than those that
    arrive.
    """

    id = "FAB2540"
    title = "Every priority with PFC has a class that packets are put into"
    severity = ERROR
    else_severity = (
        "warning for a priority that is neither that of the class nor that of its DSCPs, and without PFC on any port"
    )
    example = "`priority-flow-control mode on` on every port, and no `pause pfc-cos` in the network-qos policy"
    remediation = "configure the DSCP map, the class and PFC for one priority"

    def check(self, network: Network) -> Iterator[Finding]:
        yield from super().check(network)
        for facts in network.devices:
            ports = (port.qos for port in facts.interfaces.values() if port.qos)
            used = any(qos.pfc or qos.lossless or qos.gaps for qos in ports)
            if facts.lossless and not used:
                got = f"{facts.lossless.value} is for a lossless class, but PFC is enabled on no port"
                yield self.finding_at(facts, facts.lossless, got, severity=WARNING, merge=Merge(text=got))
        for a, b in network.links:
            mine, theirs = (_priorities(end.interface.qos) for end in (a, b))
            for dscp in sorted(mine.keys() & theirs.keys()):
                if mine[dscp].value != theirs[dscp].value:
                    got = f"DSCP {dscp} is in priority {mine[dscp].value}, but in priority {theirs[dscp].value}"
                    merge = Merge(text=f"{{names}}: {got} at the other ends", names=(a.interface.name,), most=3)
                    yield self.finding_at(a.facts, mine[dscp], f"{a.interface.name}: {got} on {b}", merge=merge)
                    break

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        for gap in qos.gaps:
            yield gap, gap.value, ERROR
        mapped = {parsed.value for parsed in qos.priorities.values()}
        for chain in qos.lossless:
            priority = chain.priority.value
            if chain.dscps == [] and (priority in mapped or not mapped):  # else FAB273
                what = path_of(chain)
                yield chain.priority, f"PFC is enabled for priority {priority}, but no DSCP leads to it: {what}", ERROR
            usual = {dscp // CODES_PER_PRIORITY for dscp in chain.dscps or ()}
            if usual and chain.number not in (None, priority) and priority not in usual:
                yield chain.priority, f"{path_of(chain)} is paused by priority {priority}", WARNING


def _priorities(qos: PortQos | None) -> dict[int, Located[int]]:
    """DSCP → the lossless priority that it is in."""
    return {dscp: chain.priority for chain in (qos.lossless if qos else ()) for dscp in chain.dscps or ()}


class StoppedQueue(ChainCheck):
    """Compares the queue that a lossless class leaves by with the queue that PAUSE for its priority stops.

    If PAUSE stops another queue, the switch keeps sending what it was asked to hold back, and the next one drops it. Lossy
    classes in the same queue are held back with it.
    """

    id = "FAB2541"
    title = "PAUSE stops the queue of the lossless class, and nothing else"
    severity = ERROR
    else_severity = "warning for other classes in the queue"
    example = '`TC_TO_QUEUE_MAP` "3": "1" with `MAP_PFC_PRIORITY_TO_QUEUE` "3": "3"'
    remediation = "map the lossless class and its PFC priority to one queue that no other class uses"

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        for chain in qos.lossless:
            left = [place for queue, place in chain.queues.items() if queue not in chain.stopped_queues]
            if left and chain.stopped is not None:
                priority, stops = chain.priority.value, sorted(chain.stopped)
                what = f"stops queue {listed([*map(str, stops)], 8)}" if stops else "stops no queue"
                moved = chain.number is not None and priority in chain.stopped
                place = left[0] if moved else next(iter(chain.stopped.values()), chain.priority)
                yield place, f"{path_of(chain)}, but PAUSE for priority {priority} {what}", ERROR
            if chain.beside:
                others = listed([other.value for other in chain.beside], 2)
                yield chain.beside[0], f"{path_of(chain)}: not alone in its queue, with {others}", WARNING


class PausedHeadroom(ChainCheck):
    """Looks for lossless priorities whose buffer has no headroom.

    What is on the cable when PAUSE is sent has to be stored. Without headroom it is dropped, although PFC is enabled.
    """

    id = "FAB2542"
    title = "Every lossless priority has headroom"
    severity = ERROR
    example = "`BUFFER_PG|Ethernet0|3` with a profile without `xoff`"
    remediation = "give the priority group a profile with headroom; `fabric headroom` computes it for a port"

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        for chain in qos.lossless:
            if chain.headroom and chain.headroom.value <= 0:
                got = f"PFC is enabled for priority {chain.priority.value}, but its buffer has no headroom"
                yield chain.headroom, f"{got}: {path_of(chain)}", ERROR


class BufferProfiles(ChainCheck):
    """Compares buffer profiles with their users: side of the pool, lossless or lossy, order of their fill levels.

    A queue in an ingress pool, or a priority group in an egress pool, is refused by the switch and keeps no buffer. A
    priority group that resumes at a level above its size never resumes.
    """

    id = "FAB2543"
    title = "Buffer profiles fit the queue or priority group that uses them"
    severity = ERROR
    else_severity = "warning for a lossless queue with a lossy profile or none"
    example = "`BUFFER_QUEUE|Ethernet0|3` with the profile of a priority group; `xon` above `size`"
    remediation = "use a profile of the right pool, with levels in order"

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        for buffer in qos.buffers:
            name, (pool, side) = buffer.profile.value, buffer.pool
            if side and side != buffer.side:
                got = f"{buffer.user} takes {buffer.side} buffer, but its profile {name} is of the {side} pool {pool}"
                yield buffer.profile, got, ERROR
            elif buffer.wants_lossless and not name:
                yield (
                    buffer.profile,
                    f"{buffer.user} of a lossless class has no buffer profile, but other queues have",
                    WARNING,
                )
            elif buffer.wants_lossless and LOSSY in name + pool:
                yield buffer.profile, f"{buffer.user} of a lossless class has the lossy profile {name}", WARNING
        for chain in qos.lossless:
            for (low, below), (high, above) in pairwise(chain.levels):
                if below.value > above.value:
                    got = f"{low} {below.value} is above {high} {above.value}"
                    yield below, f"priority {chain.priority.value}: {got}", ERROR


class LosslessMarking(ChainCheck):
    """Looks for lossless queues that do not mark with ECN.

    Without ECN nothing slows senders down before PAUSE does, so congestion spreads from port to port. A queue that drops
    early instead (WRED without ECN) loses RoCE packets.
    """

    id = "FAB2544"
    title = "The lossless queue marks packets with ECN"
    severity = ERROR
    else_severity = "warning for a queue that neither marks nor drops early"
    example = "`random-detect` without `ecn` on the lossless queue; a WRED profile on queue 0 instead of queue 3"
    remediation = "configure an ECN profile on the lossless queue"

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        marking = sorted(number for number, queue in qos.queues.items() if queue.marks and queue.marks.value)
        for chain in qos.lossless:
            for number in sorted(chain.stopped_queues):
                queue = qos.queues.get(number)
                if queue and queue.marks and queue.marks.value:
                    continue
                if queue and queue.marks:
                    yield queue.marks, f"{path_of(chain)}: the queue drops packets early, without ECN", ERROR
                    continue
                other = f"; ECN is on queue {listed([*map(str, marking)], 8)}" if marking else ""
                place = queue.place if queue else chain.queues[number]
                yield place, f"{path_of(chain)}: the queue has no ECN{other}", WARNING


class WatchdogPoll(FilesCheck):
    """Compares the poll interval of the PFC watchdog with its detection and restoration times.

    A storm is detected by successive polls, so with a longer interval it is detected later than configured. The YANG models
    of SONiC and its command `pfcwd` refuse such an interval.
    """

    id = "FAB2545"
    title = "The PFC watchdog polls at least once in its detection time"
    severity = ERROR
    example = "`POLL_INTERVAL` 400 with `detection_time` 200"
    remediation = "set a poll interval of at most the shortest detection and restoration time"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            poll, least = facts.watchdog_poll_ms, facts.watchdog_least_ms
            if poll and least and poll.value > least.value:
                got = f"the PFC watchdog polls every {poll.value} ms, but a detection or restoration time is {least.value} ms"
                yield self.finding_at(facts, poll, f"{got} (line {least.line})")


class LosslessShare(ChainCheck):
    """Looks for lossless queues with almost no bandwidth.

    Under load a queue with a small weight fills up and sends PAUSE all the time, although the link has room.
    """

    id = "FAB2546"
    title = "The lossless queue has a share of the bandwidth"
    severity = WARNING
    example = "`bandwidth remaining percent 0` for the lossless queue"
    remediation = "give the lossless queue a scheduler with a weight"

    def faults(self, qos: PortQos) -> Iterator[Fault]:
        shares = {number: queue.share for number, queue in qos.queues.items() if queue.share}
        total = sum(share.value for share in shares.values())
        for chain in qos.lossless:
            for number in sorted(chain.stopped_queues & shares.keys()):
                share = shares[number]
                if len(shares) > 1 and 100 * share.value < LEAST_SHARE * total:
                    yield share, f"{path_of(chain)}: the queue has weight {share.value} of {total}", WARNING
