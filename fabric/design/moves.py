"""What changes between two intents of a site: devices, cables, thresholds in service, and the order of the moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from fabric.base.schemas.models import Amount, Count, Document, Text, document, itself, json_key
from fabric.base.text import and_more, listed, plural
from fabric.design.cable_moves import DRAINED, Busy, Cable, End, Jumpers, end_at, in_order, owner_of
from fabric.model.plan import KINDS, SWITCH_ROLES, FabricPlan, Plan, RoleLossless

# --- thresholds -----------------------------------------------------------------------------------------------
# Buffer and ECN values of switches in service that differ between two plans.


@dataclass(frozen=True)
class ThresholdChange:
    """Changes in one fabric."""

    fabric: str
    switches: tuple[str, ...]  # in service before and after, with other PFC headroom, buffer or ECN values
    lengths: tuple[tuple[str, int, int], ...]  # (kind of link, cable metres before, after)


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


# --- devices, cables, and their order -------------------------------------------------------------------------

UpperEnd = Annotated[list[str], Field(max_length=2)]


@dataclass(frozen=True)
class SpeedChange:
    """A link that keeps both ends and changes its speed, which takes another cable, or other optics."""

    lower: End
    upper: End
    old_gbps: int
    new_gbps: int

    def __str__(self) -> str:
        return f"{self.old_gbps}G to {self.new_gbps}G  {self.lower[0]} {self.lower[1]} to {self.upper[0]} {self.upper[1]}"


@dataclass(frozen=True)
class Step:
    """One step: drain a switch, move its cables, verify, undrain; at patch panels only the links are drained."""

    title: str
    drain: str  # switch to drain; "": no cable in service moves, or jumpers alone
    cables: tuple[Cable, ...]

    @property
    def jumpers(self) -> bool:
        """Whether links in service move, all of them at patch panels."""
        return not self.drain and any(cable.old is not None for cable in self.cables)


@dataclass(kw_only=True)
class Changes:
    """The difference of two plans."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renumbered: list[str] = field(default_factory=list)  # lines of text
    kept_links: int = 0  # with both ends
    speeds: list[SpeedChange] = field(default_factory=list)  # of kept links
    new_links: int = 0
    steps: list[Step] = field(default_factory=list)
    thresholds: tuple[ThresholdChange, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return document(self, ChangesDocument)

    @property
    def moved(self) -> int:
        """Links in service that move or are removed."""
        return sum(cable.old is not None for step in self.steps for cable in step.cables)


class CableDocument(Document):
    lower: Annotated[list[str], Field(min_length=2, max_length=2)] = json_key("device and port")
    old: UpperEnd = json_key("device and port; empty where there is none", lambda cable: cable.old or ())
    new: UpperEnd = json_key("device and port; empty where there is none", lambda cable: cable.new or ())


class SpeedDocument(Document):
    lower: Annotated[list[str], Field(min_length=2, max_length=2)] = json_key("device and port")
    upper: Annotated[list[str], Field(min_length=2, max_length=2)] = json_key("device and port")
    old_gbps: Count
    new_gbps: Count


class LinksDocument(Document):
    kept: Count = json_key("with both ends; some may change their speed", of="kept_links")
    new: Count = json_key(of="new_links")
    moved: Count


class StepDocument(Document):
    title: str
    drain: str = json_key('the switch to drain; "" where no cable in service moves')
    cables: list[CableDocument]


class LengthDocument(Document):
    old_m: Amount | None = json_key(of=1)
    new_m: Amount | None = json_key(of=2)


class ThresholdDocument(Document):
    fabric: Text
    switches: list[Text]
    lengths: dict[str, LengthDocument] = json_key(of=lambda change: {row[0]: row for row in change.lengths})


class ChangesDocument(Document):
    """What changes from one intent to another, and the cables to move."""

    added: list[Text] = json_key("devices")
    removed: list[Text]
    renumbered: list[str] = json_key("switches with other numbers, in words")
    links: LinksDocument = json_key(of=itself)
    speeds: list[SpeedDocument] = json_key("kept links that change their speed: new optics or cables")
    steps: list[StepDocument] = json_key("in the order of the work")
    thresholds: list[ThresholdDocument]


def difference(old: Plan, new: Plan) -> Changes:
    """What it takes to make the new plan of the old."""
    changes = Changes()
    _devices(old, new, changes)
    _links(old, new, changes)
    changes.thresholds = threshold_changes(old, new)
    return changes


def _devices(old: Plan, new: Plan, changes: Changes) -> None:
    """Devices added and removed, and switches that get other numbers; a server of two fabrics counts once."""
    before, after = _homes(old), _homes(new)
    changes.added += [name for name in after if name not in before]
    changes.removed += [name for name in before if name not in after]
    for name, fabric in after.items():
        was = before[name].by_name[name] if name in before else None
        device = fabric.by_name[name]
        if was is None or device.role not in SWITCH_ROLES:
            continue
        for kind, old_value, new_value in (
            ("model", was.model, device.model),
            ("AS number", was.asn, device.asn),
            ("loopback", before[name].loopback[was.index], fabric.loopback[device.index]),
            ("management address", before[name].management[was.index], fabric.management[device.index]),
        ):
            if old_value != new_value:
                changes.renumbered.append(f"{name}: {kind} changes")
    for name in sorted({*old.fabrics} & {*new.fabrics}):
        first, second = subnets(old.fabrics[name]), subnets(new.fabrics[name])
        other = sum(lower in second and second[lower] != subnet for lower, subnet in first.items())
        if other:
            changes.renumbered.append(f"{name}: subnet changes on {plural(other, 'link')}")


def _homes(plan: Plan) -> dict[str, FabricPlan]:
    """Device → the first fabric that has it."""
    homes: dict[str, FabricPlan] = {}
    for _, fabric in sorted(plan.fabrics.items()):
        for name in fabric.by_name:
            homes.setdefault(name, fabric)
    return homes


def _links(old: Plan, new: Plan, changes: Changes) -> None:
    """Steps: first the cables that need no drain, then one upper switch after the other."""
    before, after = _by_lower(old), _by_lower(new)
    kept = [(lower, upper) for lower, upper in before.items() if after.get(lower) == upper]
    changes.kept_links = len(kept)
    old_gbps, new_gbps = _speeds(old), _speeds(new)
    changes.speeds = [
        SpeedChange(lower, upper, old_gbps[lower], new_gbps[lower])
        for lower, upper in kept
        if old_gbps[lower] != new_gbps[lower]
    ]
    jumper_of = Jumpers.of(old, new)
    moved = [
        Cable(lower, upper, after.get(lower), jumper_of.move(lower, upper, after.get(lower)))
        for lower, upper in before.items()
        if after.get(lower) != upper
    ]
    fresh = [Cable(lower, None, upper, jumper_of.lay(lower, upper)) for lower, upper in after.items() if lower not in before]
    changes.new_links = len(fresh)
    busy = Busy.of(moved)
    free = [cable for cable in fresh if not busy.waits(cable)]
    if free:
        changes.steps.append(Step("lay new cables; no cable in service moves", "", tuple(free)))
    order = in_order(moved, busy)
    position = {owner: number for number, owners in enumerate(order) for owner in owners}
    steps: list[list[Cable]] = [[] for _ in order]
    for cable in moved:
        steps[position[owner_of(cable)]].append(cable)
    for cable in fresh:
        if frees := [position[owner] for owner in busy.waits(cable)]:  # connected when the last of its ports is free
            steps[max(frees)].append(cable)
    for owners, cables in zip(order, steps, strict=True):
        drain = ", ".join(owner[1] for owner in owners if owner[0] == DRAINED)
        cables.sort(key=lambda cable: (cable.old is None, cable.lower))
        title = f"drain {drain}, re-cable, verify with LLDP, undrain" if drain else TITLE_OF_JUMPERS
        changes.steps.append(Step(title, drain, tuple(cables)))


TITLE_OF_JUMPERS = "drain the links, move their jumpers, verify with LLDP, bring the new links up"


def _by_lower(plan: Plan) -> dict[End, End]:
    """Lower end → upper end of every link."""
    found: dict[End, End] = {}
    for _, fabric in sorted(plan.fabrics.items()):
        found |= {end_at(fabric, "a", at): end_at(fabric, "b", at) for at in range(len(fabric.links))}
    return found


def _speeds(plan: Plan) -> dict[End, int]:
    """Lower end → Gb/s of every link."""
    found: dict[End, int] = {}
    for _, fabric in sorted(plan.fabrics.items()):
        found |= {end_at(fabric, "a", at): gbps for at, gbps in enumerate(fabric.links.speed_gbps.tolist())}
    return found


def subnets(plan: FabricPlan) -> dict[End, int]:
    """Lower end → first address of every link."""
    return {end_at(plan, "a", at): int(first) for at, first in enumerate(plan.subnet.tolist())}


def text(changes: Changes, most: int = 8) -> str:
    """The changes as text; long lists are cut, `--json` has all of them."""
    out = [*_named("added", changes.added), *_named("removed", changes.removed), *_named("changed", changes.renumbered)]
    same = changes.kept_links - len(changes.speeds)
    out.append(f"links: {same:,} unchanged, {changes.new_links:,} new, {changes.moved:,} moved or removed")
    if changes.speeds:
        words = "link changes its" if len(changes.speeds) == 1 else "links change their"
        out.append(f"{len(changes.speeds):,} {words} speed: new optics or cables")
        out += [f"     {link}" for link in changes.speeds[:most]]
        if len(changes.speeds) > most:
            out.append(f"     {and_more(len(changes.speeds) - most, see='`--json`')}")
    elif not changes.moved:
        out.append("no cable in service moves")
    for change in changes.thresholds:
        out += _threshold_lines(change)
    for number, step in enumerate(changes.steps, 1):
        out.append(f"{number}. {step.title} ({plural(len(step.cables), 'cable')})")
        out += [f"     {cable}" for cable in step.cables[:most]]
        if len(step.cables) > most:
            out.append(f"     {and_more(len(step.cables) - most, see='`--json`')}")
    return "\n".join(out)


def _threshold_lines(change: ThresholdChange) -> list[str]:
    """Switches in service whose buffer or ECN values change."""
    out = []
    if change.lengths:
        text = ", ".join(f"{kind} {old} m to {new} m" for kind, old, new in change.lengths)
        out.append(f"{change.fabric}: cable lengths that headroom is computed for: {text}")
    if change.switches:
        count = plural(len(change.switches), "switch", "switches")
        out.append(
            f"{change.fabric}: {count} in service with other PFC headroom, buffer or ECN values: {listed(change.switches)}"
        )
    return out


def _named(word: str, names: Iterable[str]) -> list[str]:
    found = list(names)
    return [f"{word}: {len(found):,}: {listed(found)}"] if found else []
