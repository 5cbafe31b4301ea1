"""QoS of a lossless fabric in EOS words: classes, one profile for each kind of port, and the PFC watchdog.

An EOS queue is strict unless stated, and `no priority` on one makes every queue below it round robin as well. So the
queue of congestion notifications lies above that of RoCE data, whatever their classes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabric.base.rounding import ceil_div
from fabric.model.plan import Lossless, Marking, Qos, SwitchView, Watchdog

CONTROL = 7  # class and queue of the switch's own traffic: EOS ties one to the other


@dataclass(frozen=True, slots=True)
class Timers:
    """Of the watchdog, in seconds as EOS wants them."""

    timeout: str
    recovery: str
    polling: str


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    marking: Marking


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The part of the QoS configuration that all ports share."""

    maps: tuple[str, ...]  # "qos map dscp 26 to traffic-class 3"
    profiles: tuple[Profile, ...]
    priority: int  # class, queue and PFC priority of RoCE data
    lossless_percent: int
    best_queue: int
    lossy_percent: int
    notice_queue: int
    strict: bool
    watchdog: Timers | None


def profiles(view: SwitchView) -> dict[Lossless, str]:
    """Name of the QoS profile of each kind of lossless port: ports that mark alike share one."""
    speeds: dict[Marking, list[int]] = {}
    for port in view.ports:
        if port.lossless:
            speeds.setdefault(port.lossless.marking, []).append(port.ref.speed_gbps)
    names = _names({marking: max(found) for marking, found in speeds.items()})
    return {port.lossless: names[port.lossless.marking] for port in view.ports if port.lossless}


def _names(markings: Mapping[Marking, int]) -> dict[Marking, str]:
    """`ROCE` when all ports mark alike, else by the speed of the port: `ROCE-400G`."""
    if len(markings) == 1:
        return dict.fromkeys(markings, "ROCE")
    taken: dict[str, int] = {}
    names = {}
    for marking, gbps in markings.items():
        name = f"ROCE-{gbps}G"
        taken[name] = taken.get(name, 0) + 1
        names[marking] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return names


def classes(view: SwitchView, names: Mapping[Lossless, str]) -> Classes | None:
    qos = view.qos
    if qos is None:
        return None
    best = next(number for number in range(8) if number not in (qos.priority, qos.cnp_priority))
    shared = max(best, qos.priority)  # the highest round-robin queue
    notice = max(qos.cnp_priority, min(shared + 1, CONTROL))
    strict = notice > shared
    queues = {best: best, qos.priority: qos.priority, qos.cnp_priority: notice if strict else qos.cnp_priority}
    by_marking = {lossless.marking: name for lossless, name in names.items()}
    return Classes(
        maps=tuple(_maps(qos, best, queues, tunnels=view.overlay is not None)),
        profiles=tuple(Profile(name, marking) for marking, name in by_marking.items()),
        priority=qos.priority,
        lossless_percent=qos.lossless_percent,
        best_queue=best,
        lossy_percent=qos.lossy_percent,
        notice_queue=queues[qos.cnp_priority],
        strict=strict,
        watchdog=_timers(qos.watchdog) if qos.watchdog else None,
    )


def _maps(qos: Qos, best: int, queues: Mapping[int, int], *, tunnels: bool) -> Iterable[str]:
    """EOS sends DSCP 24 to 31 to class 3 and 48 to 55 to class 6 by default: every code point is configured here."""
    others = [str(dscp) for dscp in range(64) if dscp not in (qos.dscp, qos.cnp_dscp)]
    yield f"qos map cos {' '.join(map(str, range(8)))} to traffic-class {best}"
    yield f"qos map dscp {' '.join(others)} to traffic-class {best}"
    yield f"qos map dscp {qos.dscp} to traffic-class {qos.priority}"
    yield f"qos map dscp {qos.cnp_dscp} to traffic-class {qos.cnp_priority}"
    if tunnels:  # where the outer header is not copied from the inner one, its DSCP comes from the class
        for number, dscp in sorted({best: 0, qos.priority: qos.dscp, qos.cnp_priority: qos.cnp_dscp}.items()):
            yield f"qos map traffic-class {number} to dscp {dscp}"
    for number, queue in sorted(queues.items()):
        if number != CONTROL:
            yield f"qos map traffic-class {number} to tx-queue {queue}"


def _timers(watchdog: Watchdog) -> Timers:
    """EOS polls at most at half of the shorter time, else it takes an interval of its own choice."""
    detect, restore = detection_ms(watchdog), _hundredths(watchdog.restore_ms)
    poll = max(5, min(watchdog.poll_ms, detect // 2, restore // 2))
    return Timers(_seconds(detect), _seconds(restore), _seconds(poll))


def detection_ms(watchdog: Watchdog) -> int:
    """How long a queue is paused before the watchdog acts, as EOS takes it."""
    return _hundredths(watchdog.detect_ms)


def _hundredths(ms: int) -> int:
    """Rounded up to the next 10 ms, within what EOS takes: 0.01 to 60 s."""
    return min(60_000, max(10, ceil_div(ms, 10) * 10))


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g}"
