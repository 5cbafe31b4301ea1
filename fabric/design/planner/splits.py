"""How cages are split: as when the fabric was first planned, whatever breakouts the catalog has got since.

The lock keeps a line per group of cages of a switch model. Another split of a port in use re-cables it, so the fabric is
sized with these lines as long as it fits, with further speeds of the catalog beside them where it needs one, and with the
catalog alone only where nothing else is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.text import listed
from fabric.design.planner.numbers import power_of_two
from fabric.hardware.catalog.models import PortGroup, SwitchModel
from fabric.model.plan import FabricPlan, FabricSpec, Sizing, TierSpec
from fabric.model.plan.lock import CageSplits, FabricLock, split_gbps

Switches = Mapping[str, tuple[CageSplits, ...]]


def candidates(spec: FabricSpec, lock: FabricLock) -> Iterator[FabricSpec]:
    """The fabric with the splits of the lock, then with speeds that these do not have, then with those of the catalog."""
    switches = lock.switches or _inferred(spec, lock)
    for more in (False, True):
        leaf, spine, core = (_tier(tier, switches, more=more) for tier in (spec.leaf, spec.spine, spec.core))
        if (leaf, spine, core) != (spec.leaf, spec.spine, spec.core):
            yield replace(spec, leaf=leaf, spine=spine, core=core)
    yield spec


def kept(spec: FabricSpec, sizing: Sizing) -> dict[str, tuple[CageSplits, ...]]:
    """What the lock keeps: the splits of every switch model that is built."""
    built = [*([spec.leaf] * bool(sizing.tiers)), *([spec.spine] * bool(sizing.spines)), *([spec.core] * bool(sizing.cores))]
    return {tier.switch: _cage_splits(tier.model) for tier in built}


def report_changes(plan: FabricPlan, lock: FabricLock, now: Switches, report: Report) -> None:
    """Warns of ports in use whose split is another than the lock has, as the catalog lacks it or the fabric outgrows it."""
    if not lock.switches or now == lock.switches:
        return
    speeds = {*np.unique(plan.links.speed_gbps).tolist(), *_wired_gbps(lock)}
    models = {tier.switch: tier.model for tier in (plan.spec.core, plan.spec.spine, plan.spec.leaf)}
    for switch, cages in now.items():
        new = {its[:2]: its.splits for its in cages}
        known = [(split, new.get(its[:2], ())) for its in lock.switches.get(switch, ()) for split in its.splits]
        lost = dict.fromkeys(split for split, of_cages in known if split not in of_cages and split_gbps(split) in speeds)
        if not lost:
            continue
        gone = not lost.keys() & {split for group in models[switch].ports for split in group.breakouts}
        report.warn(
            "FAB183",
            plan.spec.at("topology"),
            f"fabric '{plan.name}': ports in use change: {switch} had cages split as {listed(list(lost))}, "
            + ("which the catalog no longer has" if gone else "on which the fabric no longer fits"),
            f"if the switch has it, state it: `catalog: {{breakouts: {{{switch}: [{', '.join(lost)}]}}}}`"
            if gone
            else "`fabric plan FILE --against git:HEAD` lists the links that move",
        )


def _wired_gbps(lock: FabricLock) -> set[int]:
    """Speeds of the uplinks that were wired last."""
    return {records[-1].shape.uplink_gbps for records in lock.wiring.values() if records}


def _tier(tier: TierSpec, switches: Switches, *, more: bool) -> TierSpec:
    """The tier with the splits of the lock; itself if they are those of the catalog."""
    by_cages = {its[:2]: its.splits for its in switches.get(tier.switch, ())}
    if not by_cages:
        return tier
    groups = tuple(_group(group, by_cages.get(cages, ()), more=more) for cages, group in _groups(tier.model))
    if all(new is old for new, old in zip(groups, tier.model.ports, strict=True)):
        return tier
    own = {split for group in tier.model.ports for split in _texts(group)}
    left_out = own - {split for group in groups for split in _texts(group)}
    return replace(tier, model=tier.model.replaced(ports=groups), left_out=tuple(sorted(left_out)))


def _group(group: PortGroup, known: Iterable[str], *, more: bool) -> PortGroup:
    """Cages with known splits, as far as the catalog has them; for a speed whose split it lacks, and with `more` for every
    other speed, with its own."""
    whole = f"1x{group.speed_gbps}"
    has = {*group.breakouts, *([whole] if group.undivided else [])}
    keep = {split for split in known if split in has}
    asked, done = {split_gbps(split) for split in known}, {split_gbps(split) for split in keep}
    own = _texts(group)
    keep |= {split for split in own if split_gbps(split) not in done and (more or split_gbps(split) in asked)}
    if not asked or not keep or keep == set(own):
        return group
    breakouts = tuple(split for split in group.breakouts if split in keep)
    return group.replaced(breakouts=breakouts, undivided=whole in keep)


def _groups(model: SwitchModel) -> Iterator[tuple[tuple[int, int], PortGroup]]:
    """Cages [first, end) of each port group."""
    first = 1
    for group in model.ports:
        yield (first, first + group.count), group
        first += group.count


def _cage_splits(model: SwitchModel) -> tuple[CageSplits, ...]:
    return tuple(CageSplits(*cages, _texts(group)) for cages, group in _groups(model))


def _texts(group: PortGroup) -> tuple[str, ...]:
    return tuple(f"{ports}x{speed}" for speed, ports in sorted(group.splits.items(), reverse=True))


# --- locks without such lines ---------------------------------------------------------------------------------


def server_block(model: SwitchModel, speed_gbps: int) -> int:
    """Addresses of a leaf's servers: two for each of its ports, as the count that uplinks leave must not shift them."""
    return power_of_two(2 * sum(group.count * group.splits.get(speed_gbps, 0) for group in model.ports))


def _inferred(spec: FabricSpec, lock: FabricLock) -> Switches:
    """The catalog's splits with fewer server ports of a cage, where the lock has blocks of server addresses for no more."""
    widths = {blocks[0].stride for key, blocks in lock.blocks.items() if key.startswith("address/servers/") and blocks}
    model = spec.leaf.model
    for speed in sorted({group.nic.speed_gbps for group in spec.groups if f"id/leaf/{group.name}" in lock.blocks}):
        counts = {_ports(split) for group in model.ports for split in group.breakouts if split_gbps(split) == speed}
        fitting = (_at_most(model, most, speed) for most in sorted(counts, reverse=True))
        model = next((its for its in fitting if server_block(its, speed) in widths), model)
    return {spec.leaf.switch: _cage_splits(model)} if model is not spec.leaf.model else {}


def _at_most(model: SwitchModel, ports: int, speed_gbps: int) -> SwitchModel:
    """The model whose cages give no more ports of a speed, as far as they can give fewer."""

    def fewer(group: PortGroup) -> PortGroup:
        larger = {split for split in group.breakouts if split_gbps(split) == speed_gbps and _ports(split) > ports}
        left = tuple(split for split in group.breakouts if split not in larger)
        return group.replaced(breakouts=left) if speed_gbps in map(split_gbps, left) else group

    groups = tuple(fewer(group) for group in model.ports)
    return model if groups == model.ports else model.replaced(ports=groups)


def _ports(split: str) -> int:
    return int(split.partition("x")[0])
