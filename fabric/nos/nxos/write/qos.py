"""The three QoS policies of a Nexus: what a packet is (qos), which class pauses (network-qos), how queues share a port.

The 8-queue classes are the system's own: group n is queue n, and queue 7 is the strict one. So congestion notifications go to
group 7 whatever their priority is elsewhere; the number is local to the switch, on the wire there is only the DSCP.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabric.base.rounding import ceil_div
from fabric.nos.target import CannotRender

if TYPE_CHECKING:
    from fabric.model.plan import Marking, Port, Qos, SwitchView

STRICT, BEST_EFFORT = 7, 0
CLASSIFY, NETWORK = "ROCE-CLASSIFY", "ROCE-NETWORK"
MTU = 9216  # of every class, else switched jumbo frames are cut
PEER_LINK_DSCP = 56  # what a virtual peer link marks its messages with
POLL_MS = 100  # watchdog's own step
LONG_M = 100  # beyond this many metres Cisco wants the pause buffer stated
SILICON_ONE, SILICON_ONE_LIMIT = "silicon-one", 6  # unique QoS policies on a switch


@dataclass(frozen=True, slots=True)
class ClassMap:
    name: str
    dscp: int
    group: int


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of the output policy: strict, or a share of what is left; with or without ECN."""

    name: str
    strict: bool
    percent: int
    ecn: str


@dataclass(frozen=True, slots=True)
class QueuingPolicy:
    name: str
    queues: tuple[Queue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    priority: int
    classify: str
    classes: tuple[ClassMap, ...]
    network: str
    mtu: int
    outputs: tuple[QueuingPolicy, ...]
    system: str  # output policy of the whole switch; a port says only where it differs
    long_m: tuple[int, ...]  # lossless cables that need an undocumented pause buffer
    watchdog: bool
    shutdown_multiplier: int
    by_marking: tuple[tuple[Marking, str], ...]

    def on_port(self, port: Port) -> tuple[str, ...]:
        """Service policies of a lossless port."""
        lossless = port.lossless
        if lossless is None:
            return ()
        lines = [f"service-policy type qos input {self.classify}"]
        output = dict(self.by_marking)[lossless.marking]
        if output != self.system:
            lines.append(f"service-policy type queuing output {output}")
        return tuple(lines)


def policies(view: SwitchView) -> Policies | None:
    qos = view.qos
    ports = [port for port in view.ports if port.up and port.lossless is not None]
    if qos is None or not ports:
        return None
    _fits(qos)
    names = _names(ports)
    outputs = tuple(QueuingPolicy(name, _queues(qos, marking)) for marking, name in names.items())
    system, _ = Counter(names[port.lossless.marking] for port in ports if port.lossless).most_common(1)[0]
    classes = [ClassMap("ROCE", qos.dscp, qos.priority), ClassMap("CNP", qos.cnp_dscp, STRICT)]
    if view.overlay and PEER_LINK_DSCP not in (qos.dscp, qos.cnp_dscp):
        classes.append(ClassMap("PEER-LINK", PEER_LINK_DSCP, STRICT))
    policies = Policies(
        priority=qos.priority,
        classify=CLASSIFY,
        classes=tuple(classes),
        network=NETWORK,
        mtu=MTU,
        outputs=outputs,
        system=system,
        long_m=tuple(sorted({port.length_m for port in ports if port.length_m > LONG_M})),
        watchdog=qos.watchdog is not None,
        shutdown_multiplier=min(10, max(1, ceil_div(qos.watchdog.detect_ms, POLL_MS))) if qos.watchdog else 0,
        by_marking=tuple(names.items()),
    )
    _few_enough(view, 2 + len(outputs))
    return policies


def _fits(qos: Qos) -> None:
    if qos.priority in (BEST_EFFORT, STRICT):
        role = "the strict queue, which congestion notifications need" if qos.priority == STRICT else "best effort"
        raise CannotRender(f"qos.lossless_priority {qos.priority}: on NX-OS queue {qos.priority} is {role}; expected 1 to 6")
    if qos.dscp == qos.cnp_dscp:
        raise CannotRender(
            f"qos.lossless_dscp and qos.cnp_dscp are both {qos.dscp}: NX-OS tells the classes apart by DSCP alone"
        )


def _few_enough(view: SwitchView, count: int) -> None:
    if view.model.asic.startswith(SILICON_ONE) and count > SILICON_ONE_LIMIT:
        raise CannotRender(
            f"{count} QoS policies, and {view.device.model} has room for {SILICON_ONE_LIMIT}; "
            "expected fewer distinct port speeds or ECN thresholds on one switch"
        )


def _names(ports: list[Port]) -> dict[Marking, str]:
    """One output policy per ECN threshold, named by the speed that it is for."""
    names: dict[Marking, str] = {}
    for port in ports:
        if port.lossless and port.lossless.marking not in names:
            name = f"ROCE-{port.ref.speed_gbps}G"
            again = sum(1 for other in names.values() if other == name or other.startswith(f"{name}-"))
            names[port.lossless.marking] = f"{name}-{again + 1}" if again else name
    return names


def _queues(qos: Qos, marking: Marking) -> tuple[Queue, ...]:
    queues = [Queue(f"c-out-8q-q{STRICT}", True, 0, "")]
    for number in range(STRICT - 1, BEST_EFFORT, -1):
        lossless = number == qos.priority
        queues.append(
            Queue(f"c-out-8q-q{number}", False, qos.lossless_percent if lossless else 0, _ecn(marking) if lossless else "")
        )
    return (*queues, Queue("c-out-8q-q-default", False, qos.lossy_percent, ""))


def _ecn(marking: Marking) -> str:
    return (
        f"random-detect minimum-threshold {max(1, marking.kmin_bytes // 1000)} kbytes "
        f"maximum-threshold {max(2, marking.kmax_bytes // 1000)} kbytes "
        f"drop-probability {marking.pmax_percent} weight 0 ecn"
    )
