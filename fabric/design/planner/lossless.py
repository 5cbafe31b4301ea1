"""The lossless class of a fabric: headroom of every port, the rest of the buffer, and ECN thresholds below PFC.

Everything is computed for the finished fabric, with every port that the layout keeps, so that growth changes no threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fabric.base.diagnostics import Report
from fabric.design.planner import overlay
from fabric.design.planner.sizing import beside
from fabric.design.planner.sizing_inputs import beside_ports
from fabric.hardware.catalog.asics import Asic
from fabric.hardware.catalog.models import SwitchModel
from fabric.hardware.headroom import Headroom, headroom, reserved_bytes
from fabric.model.plan import (
    ATTACHMENT,
    CORE,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    VXLAN_BYTES,
    Buffer,
    Device,
    FabricLossless,
    FabricSpec,
    FreePortCounts,
    Links,
    Lossless,
    Marking,
    Qos,
    RoleLossless,
    ServiceClass,
    Sizing,
    Slot,
    SpeedAndLength,
    TierSpec,
    Watchdog,
    core_downlinks,
    leaf_layout,
    leaf_spine_ports_used,
    of_nics,
    spine_downlinks,
    spine_layout,
    words,
)
from fabric.model.settings.services import ECN_RULES, Ecn

# --- marking --------------------------------------------------------------------------------------------------
# ECN thresholds: those of a named rule, and what the intent states.

KIB = 1024


def choose_ecn(ecn: Ecn, speed_gbps: int, trigger_bytes: int | None) -> Marking:
    """Thresholds of a port.

    Args:
        trigger_bytes: fill at which a priority group sends PAUSE while all ports are congested, None when unknown.

    The linear rule stays below the trigger: Kmin at half of it at most, Kmax at the trigger at most, so that senders slow
    down before PFC stops them. Fixed rules and stated values are taken as they are; the planner compares them.
    """
    rule = ECN_RULES[ecn.rule]
    scale = speed_gbps if rule.per_gbps else 1
    kmin, kmax = rule.kmin_bytes * scale, rule.kmax_bytes * scale
    if rule.per_gbps and trigger_bytes is not None:
        kmin, kmax = min(kmin, trigger_bytes // 2), min(kmax, trigger_bytes)
    if rule.per_gbps:
        kmin, kmax = kmin // KIB * KIB or KIB, kmax // KIB * KIB or 2 * KIB
    stated = ecn.kmin_bytes is not None or ecn.kmax_bytes is not None or ecn.pmax_percent is not None
    if ecn.kmax_bytes is not None:
        kmax = ecn.kmax_bytes
        if kmin >= kmax:  # Kmin is below Kmax, in the ratio of the rule
            kmin = max(1, kmax * rule.kmin_bytes // rule.kmax_bytes)
    if ecn.kmin_bytes is not None:
        kmin = ecn.kmin_bytes
        if ecn.kmax_bytes is None and kmin >= kmax:  # Kmax is above Kmin, in the ratio of the rule
            kmax = kmin * rule.kmax_bytes // rule.kmin_bytes
    return Marking(kmin, kmax, ecn.pmax_percent or rule.pmax_percent, "stated" if stated else ecn.rule)


# --- pools ----------------------------------------------------------------------------------------------------
# What PFC headroom leaves of a switch's buffer, and when a priority group sends PAUSE.


def buffer_of(chip: Asic | None, model: SwitchModel, switch: str, ports: Sequence[tuple[Headroom, int]]) -> Buffer:
    """Distribution of a switch's buffer, given the headroom of its lossless ports and how many there are of each.

    With n ports congested and alpha = 2^exponent a group may hold alpha x shared / (1 + n x alpha) bytes before it sends
    PAUSE: the rule of dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998), taken where
    all n groups have reached it.
    """
    table = chip.table_of(switch) if chip is not None else None
    known = table.threshold if table is not None else chip.threshold if chip is not None else None
    exponent = known or 0  # a chip whose threshold is a number of bytes is computed with alpha = 1
    count = sum(number for _, number in ports)
    pool, reserved = reserved_bytes(chip, switch, ports)
    total = total_bytes(chip, model)
    if total is None or not count:
        return Buffer(
            total_bytes=total,
            reserved_bytes=reserved,
            headroom_pool_bytes=pool,
            shared_bytes=None if total is None else total - reserved,
            alpha_exponent=exponent,
            trigger_bytes=None,
        )
    left = max(0, total - reserved)
    alpha = 2.0**exponent
    return Buffer(
        total_bytes=total,
        reserved_bytes=reserved,
        headroom_pool_bytes=pool,
        shared_bytes=left,
        alpha_exponent=exponent,
        trigger_bytes=int(alpha * left / (1 + count * alpha)),
    )


def total_bytes(chip: Asic | None, model: SwitchModel) -> int | None:
    """Bytes that pools can have: SONiC's figure of the chip or that of the data sheet; that of the switch where smaller."""
    known = [size for size in (chip.pool_bytes or chip.buffer_bytes if chip else None, model.buffer_bytes) if size]
    return min(known) if known else None


# --- lossless values of a fabric ------------------------------------------------------------------------------

ROCE_IPV4_BYTES = 60  # IPv4, UDP, BTH, RETH, ICRC
ROCE_IPV6_BYTES = 80

_ALL = {LEAF: "leaves", SPINE: "spines", CORE: "cores"}


def _check_mtu(spec: FabricSpec, report: Report) -> None:
    """An RDMA packet that does not fit is dropped, not cut."""
    tunnel = VXLAN_BYTES if spec.isolation == "evpn" else 0
    needed = spec.qos.rdma_mtu + (ROCE_IPV6_BYTES if overlay.family(spec) == 6 else ROCE_IPV4_BYTES) + tunnel
    if spec.underlay.mtu < needed:
        report.error(
            "FAB151",
            spec.at("underlay", "mtu"),
            f"underlay.mtu: expected at least {needed}, an RDMA packet of {spec.qos.rdma_mtu} bytes with its headers, "
            f"got {spec.underlay.mtu}",
            "increase it, or decrease `qos.rdma_mtu`",
        )


def lossless(
    spec: FabricSpec, sizing: Sizing, report: Report, on_free_ports: FreePortCounts | None = None
) -> FabricLossless | None:
    """The lossless class of a fabric, or None. A headroom that does not fit its buffer is reported with the sum.

    Args:
        on_free_ports: lossless ports of attachments and NICs there; default: spread evenly.
    """
    if not spec.roce:
        return None
    _check_mtu(spec, report)
    roles = {}
    free = spread(spec, sizing) if on_free_ports is None else on_free_ports
    for role, group, tier, counts in _switches(spec, sizing, free):
        roles[role, group] = _role(spec, tier, role, counts, report)
    return FabricLossless(roles)


def spread(spec: FabricSpec, sizing: Sizing) -> FreePortCounts:
    """Lossless ports of attachments and NICs on the free ports of every leaf, before cabling."""
    counts_by_group: dict[str, Counter[SpeedAndLength]] = {}
    groups = {group.name: group for group in spec.groups}
    for size in sizing.leaf_groups:
        ports = counts_by_group[size.name] = Counter()
        for attachment in spec.attachments:
            if attachment.external is None and attachment.lossless is not False:
                speed = attachment.speed_gbps or sizing.groups[0].down_gbps
                links = -(-attachment.links // (size.units_planned * size.unit_leaves))
                ports[speed, spec.lengths[ATTACHMENT].metres] += links * spec.lossless_classes
        for speed, count in beside_ports(size.servers_per_leaf, *beside(spec, groups[size.name], lossless=True)):
            ports[speed, spec.lengths[SERVER_LEAF].metres] += count
    return counts_by_group


def cabled(spec: FabricSpec, devices: Sequence[Device], links: Links) -> FreePortCounts:
    """The same on the fullest leaf of each group: a leaf without free ports leaves more to the others."""
    names = {
        attachment.name for attachment in spec.attachments if attachment.external is None and attachment.lossless is not False
    }
    attached = (links.kind == ATTACHMENT) & np.array([device.name in names for device in devices], dtype=bool)[links.a]
    nics = of_nics(spec, devices, links, lambda group, use: use in group.on_free_ports and not spec.lossy(group, use))
    per_leaf: Counter[tuple[int, int, int]] = Counter()
    for kind, mine in ((ATTACHMENT, attached), (SERVER_LEAF, nics)):
        for leaf, speed in zip(links.b[mine].tolist(), links.speed_gbps[mine].tolist(), strict=True):
            per_leaf[leaf, speed, spec.lengths[kind].metres] += spec.lossless_classes if kind == ATTACHMENT else 1
    ports: dict[str, dict[SpeedAndLength, int]] = {}
    for (leaf, speed, metres), count in per_leaf.items():
        counts, place = ports.setdefault(devices[leaf].group, {}), (speed, metres)
        counts[place] = max(counts.get(place, 0), count)
    return ports


def _switches(
    spec: FabricSpec, sizing: Sizing, on_free_ports: FreePortCounts
) -> Iterable[tuple[str, str, TierSpec, dict[SpeedAndLength, int]]]:
    """Role, group, hardware and lossless ports of every kind of switch."""
    server, up = spec.lengths[SERVER_LEAF].metres, spec.lengths[LEAF_SPINE if sizing.spines else LEAF_LEAF].metres
    classes, groups = spec.lossless_classes, {group.name: group for group in spec.groups}
    for size in sizing.leaf_groups:
        layout = leaf_layout(spec, sizing, size)
        group = groups[size.name]
        down = () if spec.lossy(group, group.uses[0]) else layout.down
        counts = _counted([(down, server, 1), (layout.up, up, classes)])
        for place, count in on_free_ports.get(size.name, {}).items():
            counts[place] = counts.get(place, 0) + count
        yield LEAF, size.name, spec.leaf, counts
    if not sizing.spines:
        return
    top = spec.lengths[SPINE_CORE].metres
    if sizing.tiers == 2:
        used = min(leaf_spine_ports_used(sizing), len(spine_downlinks(spec, sizing)))
        yield SPINE, "", spec.spine, _counted([(spine_downlinks(spec, sizing)[:used], up, classes)])
        return
    spine = spine_layout(spec, sizing)
    yield SPINE, "", spec.spine, _counted([(spine.down, up, classes), (spine.up, top, classes)])
    yield CORE, "", spec.core, _counted([(core_downlinks(spec, sizing), top, classes)])


def _counted(runs: Iterable[tuple[Iterable[Slot], int, int]]) -> dict[SpeedAndLength, int]:
    """Priority groups by kind of port. `runs`: ports, length of their cables, lossless classes on each."""
    counts: dict[SpeedAndLength, int] = {}
    for slots, length, classes in runs:
        for slot in slots:
            counts[slot.speed_gbps, length] = counts.get((slot.speed_gbps, length), 0) + classes
    return counts


def _role(spec: FabricSpec, tier: TierSpec, role: str, counts: dict[SpeedAndLength, int], report: Report) -> RoleLossless:
    from fabric.hardware.catalog.asics import asic  # imported here: the tables are large, and counts do not need them

    qos_settings, chip = spec.qos, asic(tier.model.asic)
    headrooms = {
        place: headroom(
            chip,
            *place,
            spec.underlay.mtu,
            qos_settings.traffic,
            switch=tier.switch,
            lossless_mtu_bytes=spec.lossless_frame_bytes,
        )
        for place in sorted(counts)
    }
    buffer = buffer_of(chip, tier.model, tier.switch, [(headrooms[place], count) for place, count in sorted(counts.items())])
    _check_fits(spec, tier, role, counts, headrooms, buffer, report=report)
    ports = {}
    for place, room in headrooms.items():
        chosen = choose_ecn(qos_settings.ecn, place[0], buffer.trigger_bytes)
        _check_marking(spec, role, tier, (chosen.kmin_bytes, chosen.kmax_bytes), buffer, report)
        ports[place] = Lossless(
            xoff_bytes=room.xoff_bytes,
            xon_bytes=room.xon_bytes,
            size_bytes=room.size_bytes,
            method=room.method,
            marking=chosen,
        )
    storage = qos_settings.storage
    qos = Qos(
        priority=qos_settings.lossless_priority,
        dscp=qos_settings.lossless_dscp,
        cnp_priority=qos_settings.cnp_priority,
        cnp_dscp=qos_settings.cnp_dscp,
        lossless_percent=qos_settings.lossless_percent,
        lossy_percent=100 - qos_settings.lossless_percent - (storage.percent if storage else 0),
        storage=ServiceClass(storage.priority, storage.dscp, storage.percent, storage.lossless) if storage else None,
        watchdog=Watchdog(qos_settings.watchdog_ms, qos_settings.watchdog_ms, min(200, qos_settings.watchdog_ms))
        if qos_settings.pfc_watchdog
        else None,
        traffic=qos_settings.traffic,
        buffer_model=qos_settings.buffer_model,
        lossless_mtu=spec.lossless_frame_bytes,
        memory_percent=qos_settings.lossless_memory_percent or 0,
        buffer=buffer,
    )
    return RoleLossless(qos, counts, headrooms, ports)


def _check_fits(
    spec: FabricSpec,
    tier: TierSpec,
    role: str,
    counts: Mapping[SpeedAndLength, int],
    headrooms: Mapping[SpeedAndLength, Headroom],
    buffer: Buffer,
    *,
    report: Report,
) -> None:
    """Reserved memory must leave shared buffer, or no queue can send."""
    if buffer.total_bytes is None or (buffer.trigger_bytes or 0) >= 2 * spec.underlay.mtu:
        return
    # With a shared headroom pool, a port uses its part of the pool in addition to its reserved bytes.
    pool = bool(buffer.headroom_pool_bytes)
    taken = {place: room.size_bytes + pool * room.xoff_bytes for place, room in headrooms.items()}
    noun = "ports" if spec.lossless_classes == 1 else "priority groups of ports"
    parts = [f"{count} {noun} of {place[0]}G at {place[1]} m x {taken[place]:,}" for place, count in sorted(counts.items())]
    longest = ("spine-core" if role == CORE else "leaf-spine") if role != LEAF or len(counts) > 1 else "server-leaf"
    report.error(
        "FAB145",
        spec.at("topology", "cable_length_m"),
        f"fabric '{spec.name}', {_ALL[role]} of {tier.switch}: expected PFC headroom within {buffer.total_bytes:,} bytes "
        f"of buffer, got {buffer.reserved_bytes:,}: {' + '.join(parts)}; cable lengths: {words(spec.lengths)}",
        f"use shorter cables (`{longest}`), slower or fewer ports, "
        f"{'' if spec.lossless_classes == 1 else '`storage: {lossless: false}`, '}or a switch with more buffer; "
        f"`fabric headroom --switch {tier.switch}` shows one link",
    )


def _check_marking(
    spec: FabricSpec, role: str, tier: TierSpec, thresholds: tuple[int, int], buffer: Buffer, report: Report
) -> None:
    """ECN must mark before PFC pauses: compares Kmin with the XOFF level of a priority group with all ports congested."""
    kmin, kmax = thresholds
    trigger = buffer.trigger_bytes
    if trigger is None or trigger < 2 * spec.underlay.mtu:
        return
    where, who = spec.at("qos", "ecn"), f"{_ALL[role]} of {tier.switch}"
    worst = f"{trigger:,} bytes of a priority group with all lossless ports congested"
    if kmin >= trigger:
        report.error(
            "FAB146",
            where,
            f"fabric '{spec.name}', {who}: expected a Kmin below the XOFF threshold, {worst}, got {kmin:,}",
            "remove `qos.ecn`: the default is computed from the port speed, below the XOFF threshold",
        )
    elif kmax > trigger:
        report.warn(
            "FAB189",
            where,
            f"fabric '{spec.name}', {who}: every packet is marked from {kmax:,} bytes, PAUSE may be sent from {worst}",
            "this is the worst case: with fewer congested ports PAUSE is sent later",
        )
