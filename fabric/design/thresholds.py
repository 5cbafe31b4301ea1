"""Buffer and ECN values of switches in service that differ between two plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabric.model.plan import KINDS, FabricPlan, Plan, RoleLossless


@dataclass(frozen=True)
class ThresholdChange:
    """Changes in one fabric."""

    fabric: str
    switches: tuple[str, ...]  # in service before and after, whose PFC headroom, buffer or ECN values change
    lengths: tuple[tuple[str, int, int], ...]  # kind of link, metres of cable before and after


def threshold_changes(old: Plan, new: Plan) -> tuple[ThresholdChange, ...]:
    """Changes of every fabric in both plans: values of switches in service, and cable lengths."""
    changes = []
    for name in sorted({*old.fabrics} & {*new.fabrics}):
        before, after = old.fabrics[name], new.fabrics[name]
        change = ThresholdChange(name, tuple(_switches(before, after)), tuple(_lengths(before, after)))
        if change.switches or change.lengths:
            changes.append(change)
    return tuple(changes)


def _switches(before: FabricPlan, after: FabricPlan) -> Iterator[str]:
    """Switches whose values change. A changed model or role makes it a new switch, which is not compared."""
    same: dict[tuple[str, str, str, str], bool] = {}
    for device in after.switches:
        old = before.by_name.get(device.name)
        if old is None or (old.role, old.model) != (device.role, device.model):
            continue
        key = (device.role, old.group, device.role, device.group)
        if key not in same:
            same[key] = _values(before, *key[:2]) == _values(after, *key[2:])
        if not same[key]:
            yield device.name


def _values(fabric: FabricPlan, role: str, group: str) -> object:
    """Configured QoS settings and port values of the switches of a role and group."""
    if fabric.lossless is None:
        return None
    lossless: RoleLossless = fabric.lossless.of(role, group)
    return lossless.qos, lossless.ports


def _lengths(before: FabricPlan, after: FabricPlan) -> Iterator[tuple[str, int, int]]:
    for kind, old, new in zip(KINDS, before.spec.lengths, after.spec.lengths, strict=True):
        if old.metres != new.metres and old.metres and new.metres:
            yield kind, old.metres, new.metres
