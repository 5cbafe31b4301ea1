"""The lossless class of RoCE: who pauses what, how flows spread, and the buffers: marking, headroom, watchdog."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.design.base import (
    NOUNS,
    Ends,
    FabricCheck,
    Ints,
    LosslessCheck,
    Path,
    capable,
    ends,
    in_all,
    meant,
    network_oses,
    sorts,
    switch_path,
    switches,
)
from fabric.base.grouping import grouped
from fabric.hardware.headroom import Headroom, floor_bytes, headroom, reserved_bytes
from fabric.model.plan import (
    KINDS,
    LEAF,
    LONGER_WARNING,
    SERVER,
    SERVER_LEAF,
    SWITCH_ROLES,
    FabricLossless,
    FabricPlan,
    Lossless,
    Qos,
    RoleLossless,
    SpeedAndLength,
    longer_text,
)
from fabric.model.settings.site import PURPOSES
from fabric.nos.target import target


class PfcAtBothEnds(LosslessCheck):
    """Compares PFC support of both ends of every link that carries the lossless class, server ports included.

    PAUSE works between two ports: if one end does not obey it or does not send it, packets of the lossless class are
    dropped, and RoCE retransmits whole windows (IEEE 802.1Qbb).
    """

    id = "FAB218"
    title = "Both ends of every lossless link support PFC"
    severity = ERROR
    example = "leaves with SONiC, spines with FRR on Linux, which has no PFC"
    remediation = "set `nos:` to a network OS with PFC on every tier, or set `qos: {enabled: false}`"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        from fabric.configs.hosts.facts import facts_of

        fabric, able = design.fabric, capable(design.fabric, "lossless")
        servers = facts_of(fabric).qos is not None
        for link in ends(fabric):
            does = [self._does(fabric, lossless, able, link, sort, servers) for sort in link.sorts]
            if does[0] == does[1]:
                continue
            ends_ = fabric.devices[fabric.links.a[link.first]].name, fabric.devices[fabric.links.b[link.first]].name
            got = f"PFC on {ends_[does.index(True)]}, but not on {ends_[does.index(False)]}{in_all(link.count, 'link')}"
            yield self.finding(design, ("qos",), f"{link.speed_gbps}G {KINDS[link.kind]} links: {got}")

    @staticmethod
    def _does(
        fabric: FabricPlan, lossless: FabricLossless, able: dict[str, bool], link: Ends, sort: tuple[str, str], servers: bool
    ) -> bool:
        """Whether one end supports PFC; an attachment counts as supporting what its leaf does."""
        if sort[0] == SERVER:
            return servers
        if sort[0] not in SWITCH_ROLES:
            sort = link.sorts[1]
        entry = lossless.roles.get(sort)
        return able[sort[0]] and entry is not None and (link.speed_gbps, fabric.spec.lengths[link.kind].metres) in entry.ports


class OneLosslessPriority(LosslessCheck):
    """Compares the lossless and the CNP priority of every tier with the intent.

    Another lossless priority would pause traffic that must not stop. Congestion notifications (CNPs) are served first and
    never paused, since they end the congestion (DCQCN, Zhu et al., SIGCOMM 2015).
    """

    id = "FAB219"
    title = "Only the intended priority is lossless, and congestion notifications are never paused"
    severity = ERROR
    example = "`qos: {lossless_priority: 3, cnp_priority: 3}`"
    remediation = "set `qos: {lossless_priority: 3, cnp_priority: 6}`, the common values"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who, qos = switches(design.fabric, key), entry.qos
            if qos.priority != request.lossless_priority:
                text = f"{who}: expected lossless priority {request.lossless_priority}, got {qos.priority}"
                yield self.finding(design, ("qos", "lossless_priority"), text)
            if qos.cnp_priority != request.cnp_priority or qos.cnp_priority == qos.priority:
                paused = ", which is lossless" if qos.cnp_priority == qos.priority else ""
                text = f"{who}: expected CNP priority {request.cnp_priority}, got {qos.cnp_priority}{paused}"
                yield self.finding(design, ("qos", "cnp_priority"), text)


class Marks(LosslessCheck):
    """Compares the DSCPs of RoCE data and of congestion notifications on every tier.

    A switch classifies packets by DSCP (RFC 2474), so data and CNPs each need one value that all switches and servers
    share. A packet with another DSCP is best effort, and may be dropped.
    """

    id = "FAB220"
    title = "RoCE data and CNPs have different DSCPs that are the same on all tiers"
    severity = ERROR
    example = "`qos: {lossless_dscp: 26, cnp_dscp: 26}`"
    remediation = "set `qos: {lossless_dscp: 26, cnp_dscp: 48}`, the common values"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who = switches(design.fabric, key)
            for name, stated, used in (
                ("lossless_dscp", request.lossless_dscp, entry.qos.dscp),
                ("cnp_dscp", request.cnp_dscp, entry.qos.cnp_dscp),
            ):
                if used != stated:
                    yield self.finding(design, ("qos", name), f"{who}: {name}: expected DSCP {stated}, got {used}")
            if entry.qos.dscp == entry.qos.cnp_dscp:
                text = f"{who}: RoCE data and CNPs have the same DSCP, {entry.qos.dscp}"
                yield self.finding(design, ("qos", "cnp_dscp"), text)


class BalancedByLoad(FabricCheck):
    """Compares the load-balancing mode of compute leaves with what their hardware supports.

    A training job has few flows, and each can fill a link: a hash places two of them on one uplink while another is idle,
    and the slowest flow sets the step time. Load-aware switches avoid that (Juniper and Arista call it DLB, NVIDIA
    adaptive routing). Where it has side effects, it is enabled only if the intent states it.
    """

    id = "FAB226"
    title = "Compute fabrics use load-aware path selection where their switches support it"
    severity = NOTE
    example = "`load_balancing: {mode: flow}` on leaves whose hardware supports DLB"
    remediation = "set `underlay: {load_balancing: {mode: dynamic}}`; `fabric catalog --os` lists the side effects"

    def check(self, design: Design) -> Iterator[Finding]:
        from fabric.configs.targets import balances_by_load, can_balance

        fabric = design.fabric
        if fabric.spec.purpose != "compute" or fabric.sizing.spines_built < 2:
            return
        nos = network_oses(fabric)[LEAF]
        if can_balance(fabric, nos, LEAF) and not balances_by_load(fabric, nos, LEAF):
            mode = fabric.spec.underlay.load_balancing.mode
            capability = f"{switches(fabric, (LEAF, ''))} support load-aware path selection"
            text = f"{capability}, but `mode: {mode}` selects a static hash"
            yield self.finding(design, ("underlay", "load_balancing"), text)


class LosslessWhereMeant(FabricCheck):
    """Compares the lossless class of a fabric with its purpose.

    PAUSE spreads: on a TCP network a lossless class has no benefit and lets one slow server stop the others. Frontend and
    out-of-band fabrics carry no RoCE.
    """

    id = "FAB227"
    title = "Only fabrics that carry RoCE have a lossless class"
    severity = WARNING
    example = "`purpose: frontend` with `qos: {enabled: true}`"
    remediation = "remove `qos: {enabled: true}`, or set `purpose: storage` or `purpose: compute` if the fabric carries RoCE"

    def check(self, design: Design) -> Iterator[Finding]:
        purpose = design.fabric.spec.purpose
        if design.fabric.lossless is not None and not PURPOSES[purpose].lossless:
            text = f"lossless class on a fabric with `purpose: {purpose}`, which carries no RoCE"
            yield self.finding(design, ("qos", "enabled"), text)


class PfcOnEveryTier(LosslessCheck):
    """Tests whether the network OS of every tier supports PFC and ECN.

    Without PFC and ECN, RoCE works until the first congestion; then packets are lost and NICs retransmit whole windows.
    One tier without PFC makes the whole fabric lossy. FRR on Linux has none.
    """

    id = "FAB228"
    title = "Every tier of a lossless fabric supports PFC"
    severity = WARNING
    example = "`nos: frr` on the spines of a fabric with `purpose: compute`"
    remediation = "set `nos:` to a network OS with PFC, or set `qos: {enabled: false}` if the fabric carries no RoCE"

    def check(self, design: Design) -> Iterator[Finding]:
        able, oses = capable(design.fabric, "lossless"), network_oses(design.fabric)
        unable = grouped(
            ((getattr(design.fabric.spec, role).switch, oses[role]), role) for role, can in sorted(able.items()) if not can
        )
        for (switch, nos), roles in unable.items():
            who = f"{switch} {' and '.join(NOUNS[role] for role in roles)}"
            title = f"{target(nos).title} does not support" if nos else "no network OS with"
            text = f"{who}: {title} PFC and ECN, which RoCE needs"
            yield self.finding(design, switch_path(design, roles[0]), text)


# --- buffers --------------------------------------------------------------------------------------------------


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
        yield (f"expected Kmin of at most the XOFF threshold less the bytes in flight ({room} bytes), got {kmin:,}", "")


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
        lossless_mtu_bytes=spec.lossless_frame_bytes,
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
    return reserved_bytes(asic(tier.model.asic), tier.switch, ports)[1]


def _most_cabled(fabric: FabricPlan) -> dict[tuple[str, str], dict[SpeedAndLength, tuple[int, int]]]:
    """Sort of switch → kind of port → (most of them on one switch, that switch)."""
    links, used, size = fabric.links, meant(fabric), len(fabric.devices)
    counts: dict[SpeedAndLength, Ints] = {}
    for kind, speed in sorted({(link.kind, link.speed_gbps) for link in ends(fabric)}):
        alike = used[(links.kind[used] == kind) & (links.speed_gbps[used] == speed)]
        place, classes = (speed, fabric.spec.lengths[kind].metres), 1 if kind == SERVER_LEAF else fabric.spec.lossless_classes
        both = np.bincount(links.a[alike], minlength=size) + np.bincount(links.b[alike], minlength=size)
        counts[place] = counts.get(place, np.zeros(size, dtype=np.int64)) + both * classes
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
