"""Buffers of the lossless class: marking, headroom, what is left to share, and the watchdog."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.audit.checks import ERROR, WARNING, Design, Finding
from fabric.audit.checks.design.family import Ints, Path
from fabric.audit.checks.design.roce import LosslessCheck, capable, ends, meant, sorts, switches
from fabric.design.planner.lossless import buffer_of, frame_bytes
from fabric.hardware.headroom import Headroom, floor_bytes, headroom
from fabric.model.plan import KINDS, LONGER_WARNING, FabricPlan, Lossless, Qos, RoleLossless, SpeedAndLength, longer_text


def length_path(kind: int) -> Path:
    """Path of the cable length of a kind of link in the intent."""
    return "topology", "cable_length_m", KINDS[kind]


class MarkingBeforePause(LosslessCheck):
    """Compares the ECN thresholds of every port with the buffer fill that triggers PAUSE.

    ECN slows down single senders, PAUSE stops whole links, so marking must start early enough that PAUSE stays the
    exception (Zhu et al., SIGCOMM 2015, section 4). The gap must at least hold the data in flight on the link. Fixed
    thresholds are compared with the XOFF level while all ports are congested.
    """

    id = "FAB221"
    title = "ECN marking starts well before PFC PAUSE"
    severity = WARNING
    example = "Kmin 900,000 bytes, PAUSE at 850,000 bytes"
    remediation = "remove `qos: {ecn: …}` so that the plan computes thresholds below XOFF from the port speed"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        for key, entry in sorted(lossless.roles.items()):
            for place, port in sorted(entry.ports.items()):
                who = f"{switches(design.fabric, key)}, {place[0]}G at {place[1]} m"
                for text, severity in _marking(design.fabric, entry.qos, place, port):
                    yield self.finding(design, ("qos", "ecn"), f"{who}: {text}", severity=severity)


def _marking(fabric: FabricPlan, qos: Qos, place: SpeedAndLength, port: Lossless) -> Iterator[tuple[str, str]]:
    """What is wrong with the thresholds of a port, and how badly."""
    kmin, kmax, trigger = port.marking.kmin_bytes, port.marking.kmax_bytes, qos.buffer.trigger_bytes
    if kmin >= kmax:
        yield f"expected Kmin below Kmax ({kmax:,} bytes), got {kmin:,}", ERROR if kmin > kmax else ""
    if trigger is None:
        return
    flight = floor_bytes(*place, fabric.spec.underlay.mtu, qos.lossless_mtu)
    if kmin >= trigger:
        yield f"expected Kmin below the XOFF threshold ({trigger:,} bytes), got {kmin:,}", ERROR
    elif kmin + flight > trigger:
        room = f"{trigger:,} - {flight:,} = {trigger - flight:,}"
        yield (
            f"expected Kmin of at most the XOFF threshold less the bytes in flight ({room} bytes), got {kmin:,}",
            "",
        )


def recomputed(fabric: FabricPlan, role: str, place: SpeedAndLength) -> Headroom:
    """The headroom of a port from its speed and cable, computed needed."""
    from fabric.hardware.catalog.asics import asic  # late: the tables are large

    tier, spec = getattr(fabric.spec, role), fabric.spec
    return headroom(
        asic(tier.model.asic),
        *place,
        spec.underlay.mtu,
        spec.qos.traffic,
        switch=tier.switch,
        lossless_mtu_bytes=frame_bytes(spec),
    )


class EnoughHeadroom(LosslessCheck):
    """Recomputes the headroom of every lossless port from its speed and cable length.

    After PAUSE is sent, data in flight on the cable and frames already in transmission still arrive (IEEE 802.1Qbb Annex
    O). With less headroom, the lossless class drops packets. A cable length of 0 m is invalid: SONiC's dynamic buffers
    remove the lossless class from such a port.
    """

    id = "FAB222"
    title = "Every lossless port has enough headroom for its speed and cable length"
    severity = ERROR
    example = "`cable_length_m: {leaf-spine: 0}`"
    remediation = "set `topology.cable_length_m` to the longest cable of each kind, then run `fabric generate`"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        fabric = design.fabric
        for kind in sorted({link.kind for link in ends(fabric)}):
            if not fabric.spec.lengths[kind].metres:
                yield self.finding(design, length_path(kind), f"expected a {KINDS[kind]} cable length above 0 m, got 0 m")
        for key, entry in sorted(lossless.roles.items()):
            for place, port in sorted(entry.ports.items()):
                need = recomputed(fabric, key[0], place)
                if port.xoff_bytes < need.xoff_bytes:
                    text = f"expected a headroom of at least {need.xoff_bytes:,} bytes, got {port.xoff_bytes:,}"
                    who = f"{switches(fabric, key)}, {place[0]}G at {place[1]} m"
                    yield self.finding(design, ("topology", "cable_length_m"), f"{who}: {text}")


class CablesWithinHeadroom(LosslessCheck):
    """Compares stated cable lengths with the distances of the stated `floor:`.

    Headroom holds the data that arrives until PAUSE takes effect. A longer cable has more in flight, and the lossless
    class drops packets (IEEE 802.1Qbb Annex O). Lengths that are not stated follow the floor plan and always suffice.
    FAB192 is the planner's warning for the same; a suppression of FAB192 covers this check.
    """

    id = "FAB243"
    title = "No cable is longer than the PFC headroom assumes"
    severity = ERROR
    example = "`cable_length_m: {leaf-spine: 20}`, and the floor plan needs 34 m"
    remediation = (
        "set `topology.cable_length_m` to the longest cable of each kind, or remove the key to follow the floor plan"
    )

    def check(self, design: Design) -> Iterator[Finding]:
        fabric = design.fabric
        silenced = {**design.plan.settings.silence, **fabric.spec.silence}
        for its in fabric.longer if LONGER_WARNING not in silenced else ():
            text, hint = longer_text(its)
            yield self.finding(design, length_path(its.kind), text, hint=hint)


class BufferHolds(LosslessCheck):
    """Adds up the headroom of all lossless ports of a switch and compares the sum with its buffer.

    Headroom is reserved memory. The reservations of all lossless ports must fit the buffer and leave space that queues
    share, or all queues stall. They must cover as many ports as are cabled.
    """

    id = "FAB223"
    title = "The headroom of all ports fits the buffer and leaves shared space"
    severity = ERROR
    example = "64 ports of 800G at 300 m on a switch with 64 MB of buffer"
    remediation = (
        "use shorter cables, slower or fewer ports, or a switch with more buffer; run `fabric headroom` for one port"
    )

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        fabric, cabled = design.fabric, _most_cabled(design.fabric)
        for key, entry in sorted(lossless.roles.items()):
            who, buffer = switches(fabric, key), entry.qos.buffer
            for place, (count, device) in sorted(cabled.get(key, {}).items()):
                if count > entry.counts.get(place, 0):
                    text = (
                        f"expected at most {entry.counts.get(place, 0)} lossless {place[0]}G ports with {place[1]} m cables"
                    )
                    got = f"got {count} on {fabric.devices[device].name}"
                    yield self.finding(design, ("topology",), f"{who}: {text}, {got}")
            if buffer.total_bytes is None:
                continue
            needed = _buffer(fabric, key, entry)
            if buffer.reserved_bytes < needed:
                text = f"{who}: expected at least {needed:,} bytes of reserved headroom, got {buffer.reserved_bytes:,}"
                yield self.finding(design, ("topology", "cable_length_m"), text)
            if needed + 2 * fabric.spec.underlay.mtu > buffer.total_bytes:
                text = f"{who}: {needed:,} bytes of headroom leave no shared space in the {buffer.total_bytes:,}-byte buffer"
                yield self.finding(design, ("topology", "cable_length_m"), text)


def _buffer(fabric: FabricPlan, key: tuple[str, str], entry: RoleLossless) -> int:
    """Bytes that the ports of a switch reserve."""
    from fabric.hardware.catalog.asics import asic

    tier = getattr(fabric.spec, key[0])
    ports = [(recomputed(fabric, key[0], place), count) for place, count in sorted(entry.counts.items())]
    return buffer_of(asic(tier.model.asic), tier.model, tier.switch, ports).reserved_bytes


def _most_cabled(fabric: FabricPlan) -> dict[tuple[str, str], dict[SpeedAndLength, tuple[int, int]]]:
    """Sort of switch → kind of port → (most of them on one switch, that switch)."""
    links, used, size = fabric.links, meant(fabric), len(fabric.devices)
    counts: dict[SpeedAndLength, Ints] = {}
    for kind, speed in sorted({(link.kind, link.speed_gbps) for link in ends(fabric)}):
        alike = used[(links.kind[used] == kind) & (links.speed_gbps[used] == speed)]
        place = (speed, fabric.spec.lengths[kind].metres)
        both = np.bincount(links.a[alike], minlength=size) + np.bincount(links.b[alike], minlength=size)
        counts[place] = counts.get(place, np.zeros(size, dtype=np.int64)) + both
    sort = sorts(fabric)
    most_cabled: dict[tuple[str, str], dict[SpeedAndLength, tuple[int, int]]] = {}
    for place, count in counts.items():
        for device in np.flatnonzero(count).tolist():
            largest = most_cabled.setdefault(sort[device], {})
            if count[device] > largest.get(place, (0, 0))[0]:
                largest[place] = (int(count[device]), device)
    return most_cabled


class Watchdogs(LosslessCheck):
    """Looks for lossless switches without a PFC watchdog whose network OS supports it.

    A broken NIC that sends PAUSE continuously stops its leaf, then the spines, then the whole fabric; Microsoft observed
    it (Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4.3). The watchdog drops such a queue
    first.
    """

    id = "FAB224"
    title = "The PFC watchdog is enabled where the network OS supports it"
    severity = WARNING
    example = "`qos: {pfc_watchdog: false}` on SONiC"
    remediation = "set `qos: {pfc_watchdog: true}`, or remove the key"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        able, can_pause = capable(design.fabric, "watchdog"), capable(design.fabric, "lossless")
        for key, entry in sorted(lossless.roles.items()):
            if entry.qos.watchdog is None and able.get(key[0]) and can_pause.get(key[0]):
                text = f"{switches(design.fabric, key)}: the PFC watchdog is disabled"
                yield self.finding(design, ("qos", "pfc_watchdog"), text)
