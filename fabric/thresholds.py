"""Buffer and ECN values of switches in service that another plan changes: facts for whoever compares two plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabric.plan import KINDS, FabricPlan, Plan, RoleLossless


@dataclass(frozen=True)
class ThresholdChange:
    """What changes in one fabric."""

    fabric: str
    switches: tuple[str, ...]  # in service before and after, with other PFC headroom, buffer or ECN values
    lengths: tuple[tuple[str, int, int], ...]  # kind of link, metres of cable before and after


def threshold_changes(old: Plan, new: Plan) -> tuple[ThresholdChange, ...]:
    """The fabrics of both plans whose switches in service get other values, or whose cable lengths change."""
    found = []
    for name in sorted({*old.fabrics} & {*new.fabrics}):
        before, after = old.fabrics[name], new.fabrics[name]
        change = ThresholdChange(name, tuple(_switches(before, after)), tuple(_lengths(before, after)))
        if change.switches or change.lengths:
            found.append(change)
    return tuple(found)


def _switches(before: FabricPlan, after: FabricPlan) -> Iterator[str]:
    """A switch of another model or role is another switch, whose values nobody compares."""
    same: dict[tuple[str, str, str, str], bool] = {}
    for device in after.switches:
        was = before.by_name.get(device.name)
        if was is None or (was.role, was.model) != (device.role, device.model):
            continue
        key = (device.role, was.group, device.role, device.group)
        if key not in same:
            same[key] = _values(before, *key[:2]) == _values(after, *key[2:])
        if not same[key]:
            yield device.name


def _values(fabric: FabricPlan, role: str, group: str) -> object:
    """What a switch is configured with: the settings of its class, its buffer, and the values of each kind of port."""
    if fabric.lossless is None:
        return None
    found: RoleLossless = fabric.lossless.of(role, group)
    return found.qos, found.ports


def _lengths(before: FabricPlan, after: FabricPlan) -> Iterator[tuple[str, int, int]]:
    for kind, one, two in zip(KINDS, before.spec.lengths, after.spec.lengths, strict=True):
        if one.metres != two.metres and one.metres and two.metres:
            yield kind, one.metres, two.metres
