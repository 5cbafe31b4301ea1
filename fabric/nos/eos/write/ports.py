"""Ports of an Arista switch as EOS spells them: Ethernet interfaces, their tagged slices, and bonds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from fabric.base.rounding import ceil_div
from fabric.model.plan import Lossless, Marking, Qos, ServiceClass, SwitchView, Watchdog
from fabric.nos.target import description, lanes, pam4, port_lanes

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import Acl, External, Lag, Port, PortRef, Subinterface


# --- QoS: classes, one profile for each kind of port, and the PFC watchdog ------------------------------------

ROCE, STORAGE = "ROCE", "STORAGE"  # names of profiles
CONTROL = 7  # class and queue of control traffic, which EOS ties together


@dataclass(frozen=True, slots=True)
class Timers:
    """Of the watchdog, in seconds as EOS wants them."""

    timeout: str
    recovery: str
    polling: str


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    marking: Marking | None  # None: without PFC
    priorities: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The part of the QoS configuration that all ports share."""

    maps: tuple[str, ...]  # "qos map dscp 26 to traffic-class 3"
    profiles: tuple[Profile, ...]
    priority: int  # class, queue and PFC priority of RoCE data
    lossless_percent: int
    storage: ServiceClass | None
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
    own = view.qos.paused if view.qos else ()
    return {
        port.lossless: _of_classes(names[port.lossless.marking], port.lossless.priorities, own)
        for port in view.ports
        if port.lossless
    }


def _of_classes(name: str, priorities: tuple[int, ...], paused: tuple[int, ...]) -> str:
    """`ROCE-400G`, and where storage has a class of its own `STORAGE-400G` and `ROCE-STORAGE-400G`."""
    names = [word for word, priority in zip((ROCE, STORAGE), paused, strict=False) if priority in priorities]
    return name.replace(ROCE, "-".join(names), 1) if names else name


def _names(markings: Mapping[Marking, int]) -> dict[Marking, str]:
    """`ROCE` when all ports mark alike, else by the speed of the port: `ROCE-400G`."""
    if len(markings) == 1:
        return dict.fromkeys(markings, ROCE)
    taken: dict[str, int] = {}
    names = {}
    for marking, gbps in markings.items():
        name = f"{ROCE}-{gbps}G"
        taken[name] = taken.get(name, 0) + 1
        names[marking] = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return names


def classes(view: SwitchView, names: Mapping[Lossless, str]) -> Classes | None:
    qos = view.qos
    if qos is None:
        return None
    weighted = (qos.priority, *((qos.storage.priority,) if qos.storage else ()))
    best = next(number for number in range(8) if number not in (*weighted, qos.cnp_priority))
    shared = max(best, *weighted)  # the highest round-robin queue
    notice = max(qos.cnp_priority, min(shared + 1, CONTROL))
    strict = notice > shared
    queues = (
        {best: best} | {number: number for number in weighted} | {qos.cnp_priority: notice if strict else qos.cnp_priority}
    )
    made = {name: Profile(name, lossless.marking, qos.of(lossless)) for lossless, name in names.items()}
    if any(port.trusted for port in view.ports):
        made[STORAGE] = Profile(STORAGE, None, ())
    return Classes(
        maps=tuple(_maps(qos, best, queues, tunnels=view.overlay is not None)),
        profiles=tuple(made.values()),
        priority=qos.priority,
        lossless_percent=qos.lossless_percent,
        storage=qos.storage,
        best_queue=best,
        lossy_percent=qos.lossy_percent,
        notice_queue=queues[qos.cnp_priority],
        strict=strict,
        watchdog=_timers(qos.watchdog) if qos.watchdog else None,
    )


def _maps(qos: Qos, best: int, queues: Mapping[int, int], *, tunnels: bool) -> Iterable[str]:
    """EOS sends DSCP 24 to 31 to class 3 and 48 to 55 to class 6 by default: every code point is configured here."""
    storage = qos.storage
    others = [str(dscp) for dscp in range(64) if dscp not in (qos.dscp, qos.cnp_dscp, storage.dscp if storage else 64)]
    yield f"qos map cos {' '.join(map(str, range(8)))} to traffic-class {best}"
    yield f"qos map dscp {' '.join(others)} to traffic-class {best}"
    yield f"qos map dscp {qos.dscp} to traffic-class {qos.priority}"
    if storage:
        yield f"qos map dscp {storage.dscp} to traffic-class {storage.priority}"
    yield f"qos map dscp {qos.cnp_dscp} to traffic-class {qos.cnp_priority}"
    if tunnels:  # an outer header that is not copied from the inner one has the DSCP of the class
        marks = {best: 0, qos.priority: qos.dscp, qos.cnp_priority: qos.cnp_dscp}
        for number, dscp in sorted((marks | ({storage.priority: storage.dscp} if storage else {})).items()):
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


# --- Ports ----------------------------------------------------------------------------------------------------

RELEASE = "4.32.0F"  # release of the syntax
TRACKING = "UPLINKS"  # link tracking group: a leaf without uplinks takes its bonds down
DF_PREFERRED, DF_OTHER = 200, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A subinterface."""

    name: str
    description: str
    mtu: int
    tag: int
    vrf: str
    address: str
    address6: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    name: str
    description: str
    up: bool
    speed: str
    mtu: int = 0
    vrf: str = ""
    address: str = ""
    address6: str = ""
    link_local: bool = False
    channel: int = 0  # number of its bond, 0: none
    switchport: tuple[str, ...] = ()  # lines of a layer-2 port, () of a routed one
    filter: str = ""  # "ip access-group TENANT-red in"
    profile: str = ""  # QoS profile of a lossless port
    untrusted: bool = False  # without lossless traffic on a switch with lossless ports
    tracked: str = ""  # "upstream" on an uplink of a leaf with bonds
    slices: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A bond; over this leaf and its pair one Ethernet segment."""

    name: str
    description: str
    switchport: tuple[str, ...]
    identifier: str  # "0302:0000:0000:0500:0001"; "" on this leaf alone
    edge: bool
    preference: int
    route_target: str  # "02:00:00:00:00:05"
    system_id: str  # "0200.0000.0005"
    profile: str
    untrusted: bool


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`Ethernet1/5`: cage and first lane. SFP cages have one lane and no lane number."""
    return _named(ref, lanes(model, ref.cage), port_lanes(model, ref))


def _named(ref: PortRef, cage_lanes: int, count: int) -> str:
    return f"Ethernet{ref.cage}" if cage_lanes == 1 else f"Ethernet{ref.cage}/{1 + ref.sub * count}"


def speed(model: SwitchModel, ref: PortRef) -> str:
    """`400g-4`: speed and lanes of a PAM4 port; the older spelling on NRZ lanes, in Mb/s up to 10G."""
    return _speed(ref, port_lanes(model, ref))


def _speed(ref: PortRef, count: int) -> str:
    if pam4(ref.speed_gbps, count):
        return f"{ref.speed_gbps}g-{count}"
    return f"forced {ref.speed_gbps}gfull" if ref.speed_gbps > 10 else f"forced {ref.speed_gbps * 1000}full"


def interfaces(view: SwitchView, profiles: Mapping[Lossless, str]) -> list[Interface]:
    """Every port of the switch. The address of an external connection may stand in its session alone."""
    outside = {external.port.ref: external for external in view.externals if not external.tag}
    return [_interface(view, port, outside.get(port.ref), profiles) for port in view.ports]


def _interface(view: SwitchView, port: Port, out: External | None, profiles: Mapping[Lossless, str]) -> Interface:
    if port.peer is None:
        return _idle(port.ref, lanes(view.model, port.ref.cage), port_lanes(view.model, port.ref), description(view, port))
    address = port.address or (out.address if out else "")
    name = port_name(view.model, port.ref)
    vrf = port.vrf or (out.vrf if out else "")
    bonded = port.lag > 0
    return Interface(
        name=name,
        description=description(view, port),
        up=port.up,
        speed=speed(view.model, port.ref),
        mtu=view.overlay.mtu if vrf and view.overlay else view.underlay.mtu,
        vrf=vrf,
        address="" if ":" in address else address,
        address6=address if ":" in address else "",
        link_local=port.link_local,
        channel=port.lag,
        switchport=() if bonded or not port.bridged else switchport(port.untagged, port.tagged),
        filter=f"{_ip(view)} access-group {filter_name(port.acl)} in" if port.acl else "",
        profile="" if bonded else _profile(port, profiles),
        untrusted=not bonded and view.qos is not None and not _profile(port, profiles),
        tracked="upstream" if view.pair and port.kind == "fabric" else "",
        slices=tuple(_slice(view, name, port, part) for part in port.subinterfaces),
    )


@lru_cache(maxsize=4096)  # most ports are unused in a fabric with room to grow, and equal on all leaves
def _idle(ref: PortRef, cage_lanes: int, count: int, text: str) -> Interface:
    """A port without a cable. Lane 1 of a split cage makes its siblings exist, so one of those says its speed."""
    return Interface(
        name=_named(ref, cage_lanes, count), description=text, up=False, speed=_speed(ref, count) if ref.split > 1 else ""
    )


def _slice(view: SwitchView, name: str, port: Port, part: Subinterface) -> Slice:
    return Slice(
        name=f"{name}.{part.tag}",
        description=f"{part.vrf or 'default'} on {description(view, port)}",
        mtu=view.overlay.mtu if part.vrf and view.overlay else view.underlay.mtu,
        tag=part.tag,
        vrf=part.vrf,
        address="" if ":" in part.address else part.address,
        address6=part.address if ":" in part.address else "",
    )


def _profile(port: Port, profiles: Mapping[Lossless, str]) -> str:
    return profiles[port.lossless] if port.lossless else STORAGE if port.trusted else ""


def channels(view: SwitchView, profiles: Mapping[Lossless, str]) -> list[Channel]:
    ports = {port.ref: port for port in view.ports}
    return [_channel(view, lag, _profile(ports[lag.ports[0]], profiles)) for lag in view.lags]


def _channel(view: SwitchView, lag: Lag, profile: str) -> Channel:
    return Channel(
        name=f"Port-Channel{lag.number}",
        description=lag.description,
        switchport=switchport(lag.untagged, lag.tagged),
        identifier=grouped(lag.esi, 4, ":"),
        edge=lag.edge,
        preference=DF_PREFERRED if lag.preferred else DF_OTHER,
        route_target=lag.system_mac,
        system_id=grouped(lag.system_mac, 4, "."),
        profile=profile,
        untrusted=view.qos is not None and not profile,
    )


def switchport(untagged: int, tagged: Iterable[int]) -> tuple[str, ...]:
    """Lines of an access port, or of a trunk whose native VLAN is among the allowed ones."""
    allowed = sorted({*tagged, *([untagged] if untagged else [])})
    if allowed == [untagged]:
        return f"switchport access vlan {untagged}", "switchport mode access"
    native = (f"switchport trunk native vlan {untagged}",) if untagged else ()
    return *native, f"switchport trunk allowed vlan {vlan_list(allowed)}", "switchport mode trunk"


def vlan_list(numbers: Iterable[int]) -> str:
    """`100-102,110`, as EOS writes it back."""
    ordered = sorted(set(numbers))
    starts = [ordered[0], *(after for before, after in pairwise(ordered) if after != before + 1)]
    ends = [*(before for before, after in pairwise(ordered) if after != before + 1), ordered[-1]]
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


def grouped(octets: str, width: int, separator: str) -> str:
    """`02:00:00:00:00:05` as `0200.0000.0005`: EOS has three ways to write such numbers."""
    digits = octets.replace(":", "")
    return separator.join(digits[at : at + width] for at in range(0, len(digits), width))


def filter_name(tenant: str) -> str:
    return f"TENANT-{tenant}"


def filter_rules(view: SwitchView, acl: Acl) -> tuple[str, ...]:
    """What a server of the tenant may reach, the denial last however many prefixes there are."""
    ip = _ip(view)
    # IPv6 asks for the gateway's MAC in IPv6 itself.
    discovery = ("permit icmpv6 any fe80::/10", "permit icmpv6 any ff02::/16") if ip == "ipv6" else ()
    return *(f"permit {ip} any {prefix}" for prefix in acl.permits), *discovery, f"deny {ip} any any"


def _ip(view: SwitchView) -> str:
    return "ipv6" if view.underlay.family == "ipv6" else "ip"
