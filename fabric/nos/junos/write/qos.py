"""Class of service of Junos Evolved: one lossless class, congestion notifications, best effort.

Best effort and network control keep the names that the switch has for queues 0 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fabric.base.rounding import ceil_div
from fabric.model.plan import Buffer, Marking, Port, SwitchView, Watchdog
from fabric.nos.junos.write.interfaces import Partition, Platform, platform, port_name
from fabric.nos.junos.write.words import bits
from fabric.nos.target import CannotRender

# --- Shared buffer: the published shares, or more headroom where cables and ports need it ---------------------

HEADROOM, LOSSLESS, LOSSY = "lossless-headroom", "lossless", "lossy"
MAX_HEADROOM_PERCENT = 80  # the rest is 15 for the lossless class before it pauses, and 5 for best effort
MIN_LOSSY_PERCENT = 5


def partitions(buffer: Buffer, hardware: Platform) -> tuple[tuple[Partition, ...], tuple[Partition, ...]]:
    """Ingress and egress. Ingress adds up to 100 percent, and the lossless share is the same on both sides."""
    published = {part.name: part.percent for part in hardware.ingress}
    if HEADROOM not in published or not buffer.total_bytes:
        return hardware.ingress, hardware.egress
    needed = buffer.headroom_pool_bytes or buffer.reserved_bytes
    shared = buffer.total_bytes * hardware.shared_percent // 100
    headroom = max(published[HEADROOM], ceil_div(100 * needed, shared))
    if headroom > MAX_HEADROOM_PERCENT:
        raise CannotRender(
            f"expected PFC headroom within {MAX_HEADROOM_PERCENT} % of the shared buffer, "
            f"{shared * MAX_HEADROOM_PERCENT // 100:,} bytes of {shared:,}, got {needed:,}: "
            "shorter cables, or fewer or slower ports"
        )
    rest = 100 - headroom
    lossy = max(MIN_LOSSY_PERCENT, rest * published[LOSSY] // (100 - published[HEADROOM]))
    shares = {HEADROOM: headroom, LOSSLESS: rest - lossy, LOSSY: lossy}
    return _shared_out(hardware.ingress, shares), _shared_out(hardware.egress, shares)


def _shared_out(parts: tuple[Partition, ...], shares: dict[str, int]) -> tuple[Partition, ...]:
    return tuple(replace(part, percent=shares[part.name]) for part in parts)


# --- Classes --------------------------------------------------------------------------------------------------

CONTROL_QUEUE = 7  # of the switch's own class network-control
CNP_PERCENT = 5  # of a link, as published; the two weighted classes share the rest
TRUSTED, UNTRUSTED = "ROCE", "NO-ROCE"
REFERENCE_FILL = (55, 90)  # percent, of the published config; where the fill that sends PAUSE is not known
MAX_FILL_PERCENT = 99  # the last fill level must not be 100
POLL_MS, DETECT_POLLS, RECOVER_MS = (100, 1000), (2, 10), (200, 1000)


@dataclass(frozen=True, slots=True)
class DropProfile:
    name: str
    low: int  # percent of the queue's fill
    high: int
    probability: int


@dataclass(frozen=True, slots=True)
class Dog:
    poll_ms: int
    detection: int  # polls
    recovery_ms: int


@dataclass(frozen=True, slots=True)
class PortClass:
    """What one interface is given."""

    name: str
    units: tuple[int, ...]
    classifier: str
    scheduler_map: str
    profile: str = ""  # congestion notification: PFC


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    priority: int
    cnp_queue: int
    dscp: str
    cnp_dscp: str
    code_point: str
    lossless_percent: int
    lossy_percent: int
    cnp_percent: int
    drop_profiles: tuple[DropProfile, ...]
    control: bool  # the switch's class has queue 7; else a class of the config has it
    unmarked: bool  # at least one port has no lossless traffic
    tagged: bool  # lossless traffic arrives with VLAN tags, which the config notes as unverified
    lengths_m: tuple[int, ...]
    watchdog: Dog | None
    ingress: tuple[Partition, ...]
    egress: tuple[Partition, ...]
    dedicated: tuple[int, int] | None
    ports: tuple[PortClass, ...]


def class_of_service(view: SwitchView) -> Class | None:
    if view.qos is None:
        return None
    qos, hardware = view.qos, platform(view.device.model)
    profiles = drop_profiles(view)
    ingress, egress = partitions(qos.buffer, hardware)
    ports = tuple(_port_class(view, port, profiles) for port in view.ports if port.up and not port.lag)
    ports += tuple(_bundle_class(view, lag.number, profiles) for lag in view.lags)
    weighted = 100 - CNP_PERCENT
    lossless_percent = round(weighted * qos.lossless_percent / 100)
    return Class(
        priority=qos.priority,
        cnp_queue=qos.cnp_priority,
        dscp=bits(qos.dscp, 6),
        cnp_dscp=bits(qos.cnp_dscp, 6),
        code_point=bits(qos.priority, 3),
        lossless_percent=lossless_percent,
        lossy_percent=weighted - lossless_percent,
        cnp_percent=CNP_PERCENT,
        drop_profiles=tuple(profiles.values()),
        control=CONTROL_QUEUE not in (qos.priority, qos.cnp_priority),
        unmarked=any(not port.profile for port in ports),
        tagged=any(_tagged(view, port) for port in view.ports),
        lengths_m=tuple(sorted({port.length_m for port in view.ports if port.up and port.lossless})),
        watchdog=watchdog(qos.watchdog) if qos.watchdog and hardware.watchdog else None,
        ingress=ingress,
        egress=egress,
        dedicated=hardware.dedicated,
        ports=ports,
    )


def _tagged(view: SwitchView, port: Port) -> bool:
    """Whether lossless traffic comes in with VLAN tags: slices of VRF-lite, tagged networks."""
    if not port.up or port.lossless is None:
        return False
    return bool(port.subinterfaces or port.tagged or any(lag.tagged for lag in view.lags if lag.number == port.lag))


def drop_profiles(view: SwitchView) -> dict[Marking, DropProfile]:
    """One for each marking that the ports have: `ROCE` where there is one, else named by its fastest speed."""
    speeds: dict[Marking, int] = {}
    for port in view.ports:
        if port.up and port.lossless:
            marking = port.lossless.marking
            speeds[marking] = max(port.ref.speed_gbps, speeds.get(marking, 0))
    profiles: dict[Marking, DropProfile] = {}
    assert view.qos is not None
    for marking, speed in sorted(speeds.items(), key=lambda item: (item[1], item[0].kmin_bytes, item[0].kmax_bytes)):
        same = sum(profile.name.startswith(f"ROCE-{speed}G") for profile in profiles.values())
        name = f"ROCE-{speed}G" + (f"-{same + 1}" if same else "") if len(speeds) > 1 else "ROCE"
        profiles[marking] = DropProfile(name, *fill(marking, view.qos.buffer))
    return profiles


def fill(marking: Marking, buffer: Buffer) -> tuple[int, int, int]:
    """Both thresholds as percent of the fill at which PAUSE would be sent, for Junos takes no bytes, and the probability
    at the second. A curve that would end above 99 percent is cut there, on the same slope.
    """
    full = buffer.trigger_bytes
    if not full:
        return *REFERENCE_FILL, marking.pmax_percent
    first, last = round(100 * marking.kmin_bytes / full), round(100 * marking.kmax_bytes / full)
    low = _within(first, (1, MAX_FILL_PERCENT - 1))
    high = _within(last, (low + 1, MAX_FILL_PERCENT))
    if last <= high:
        return low, high, marking.pmax_percent
    return low, high, max(1, round(marking.pmax_percent * (high - first) / (last - first))) if first < high else 1


def watchdog(planned: Watchdog) -> Dog:
    """Detection counts polls, at least two: a poll is then half the time that was asked for."""
    poll_ms = _within(min(planned.poll_ms, planned.detect_ms // DETECT_POLLS[0]), POLL_MS)
    return Dog(poll_ms, _within(ceil_div(planned.detect_ms, poll_ms), DETECT_POLLS), _within(planned.restore_ms, RECOVER_MS))


def detection_ms(planned: Watchdog) -> int:
    """How long a queue is paused before the watchdog acts."""
    dog = watchdog(planned)
    return dog.poll_ms * dog.detection


def _within(value: int, bounds: tuple[int, int]) -> int:
    return min(max(value, bounds[0]), bounds[1])


def _port_class(view: SwitchView, port: Port, profiles: dict[Marking, DropProfile]) -> PortClass:
    own = (0,) if port.address or port.link_local or port.bridged or not port.subinterfaces else ()
    units = own + tuple(part.tag for part in port.subinterfaces)
    return _given(port_name(view.model, port.ref, view.device.model), units, port, profiles)


def _bundle_class(view: SwitchView, number: int, profiles: dict[Marking, DropProfile]) -> PortClass:
    member = next(port for port in view.ports if port.lag == number)
    return _given(f"ae{number}", (0,), member, profiles)


def _given(name: str, units: tuple[int, ...], port: Port, profiles: dict[Marking, DropProfile]) -> PortClass:
    """A port without the lossless class is not trusted into it: its RoCE code point counts as best effort."""
    if port.lossless is None:
        return PortClass(name, units, UNTRUSTED, UNTRUSTED)
    return PortClass(name, units, TRUSTED, profiles[port.lossless.marking].name, f"PFC-{port.length_m}M")
