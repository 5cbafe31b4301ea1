"""What changes between two intents of a site: devices, cables, thresholds in service, and the order of the moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from fabric.base.schemas.models import Amount, Count, Document, Text, document, itself, json_key
from fabric.base.text import and_more, listed, plural
from fabric.model.plan import KINDS, SERVER, SWITCH_ROLES, FabricPlan, Plan, RoleLossless, nic_name

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

End = tuple[str, str]  # device, port
UpperEnd = Annotated[list[str], Field(max_length=2)]


@dataclass(frozen=True)
class Cable:
    """A link that is pulled, laid, or has one end moved."""

    lower: End
    old: End | None  # upper end before, None for a new link
    new: End | None  # upper end after, None for a removed link

    def __str__(self) -> str:
        lower = f"{self.lower[0]} {self.lower[1]}"
        if self.old is None and self.new is not None:
            return f"lay   {lower} to {self.new[0]} {self.new[1]}"
        if self.new is None and self.old is not None:
            return f"pull  {lower} from {self.old[0]} {self.old[1]}"
        assert self.old is not None
        assert self.new is not None
        return f"move  {lower} from {self.old[0]} {self.old[1]} to {self.new[0]} {self.new[1]}"


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
    """One step: drain a switch, move its cables, verify, undrain."""

    title: str
    drain: str  # switch to drain; "": no cable in service moves
    cables: tuple[Cable, ...]


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
    moved = [Cable(lower, upper, after.get(lower)) for lower, upper in before.items() if after.get(lower) != upper]
    fresh = [Cable(lower, None, upper) for lower, upper in after.items() if lower not in before]
    changes.new_links = len(fresh)
    busy = _cages(moved)
    free = [cable for cable in fresh if not _ends(cable) & busy.keys()]
    if free:
        changes.steps.append(Step("lay new cables; no cable in service moves", "", tuple(free)))
    order = _order(moved, busy)
    position = {switch: number for number, switches in enumerate(order) for switch in switches}
    steps: list[list[Cable]] = [[] for _ in order]
    for cable in moved:
        assert cable.old is not None
        steps[position[cable.old[0]]].append(cable)
    for cable in fresh:
        frees = [position[switch] for end in _ends(cable) for switch in busy.get(end, ())]
        if frees:  # connected when the last of its cages is free
            steps[max(frees)].append(cable)
    for switches, cables in zip(order, steps, strict=True):
        drain = ", ".join(switches)
        cables.sort(key=lambda cable: (cable.old is None, cable.lower))
        changes.steps.append(Step(f"drain {drain}, re-cable, verify with LLDP, undrain", drain, tuple(cables)))


def _order(moved: Sequence[Cable], busy: dict[End, set[str]]) -> list[list[str]]:
    """Switches in the order of their drains: a cage is free before a cable moves into it.

    Switches that wait for each other are drained together.
    """
    if not moved:
        return []
    import networkx

    waits = networkx.DiGraph()
    for cable in moved:
        assert cable.old is not None
        waits.add_node(cable.old[0])
        if cable.new is not None:
            waits.add_edges_from((switch, cable.old[0]) for switch in busy.get(_whole(cable.new), ()))
    groups = networkx.condensation(waits)
    members = {group: sorted(groups.nodes[group]["members"]) for group in groups}
    return [members[group] for group in networkx.lexicographical_topological_sort(groups, key=members.__getitem__)]


def _cages(moved: Iterable[Cable]) -> dict[End, set[str]]:
    """Every cage in service that a moved cable leaves or a pulled one frees, at both ends → the switches drained for it."""
    cages: dict[End, set[str]] = defaultdict(set)
    for cable in moved:
        assert cable.old is not None
        for end in (cable.lower, cable.old):
            cages[_whole(end)].add(cable.old[0])
    return cages


def _ends(cable: Cable) -> set[End]:
    """The cages that a new cable takes."""
    return {_whole(end) for end in (cable.lower, cable.new) if end is not None}


def _whole(port: End) -> End:
    """The cage of a port that may be a part of it."""
    return port[0], port[1].split("/")[0]


def _by_lower(plan: Plan) -> dict[End, End]:
    """Lower end → upper end of every link."""
    found: dict[End, End] = {}
    for _, fabric in sorted(plan.fabrics.items()):
        found |= {_end(fabric, "a", at): _end(fabric, "b", at) for at in range(len(fabric.links))}
    return found


def _speeds(plan: Plan) -> dict[End, int]:
    """Lower end → Gb/s of every link."""
    found: dict[End, int] = {}
    for _, fabric in sorted(plan.fabrics.items()):
        found |= {_end(fabric, "a", at): gbps for at, gbps in enumerate(fabric.links.speed_gbps.tolist())}
    return found


def subnets(plan: FabricPlan) -> dict[End, int]:
    """Lower end → first address of every link."""
    return {_end(plan, "a", at): int(first) for at, first in enumerate(plan.subnet.tolist())}


def ends_of(plan: FabricPlan, side: str = "a") -> list[End]:
    """Lower or upper end (`b`) of every link."""
    return [_end(plan, side, at) for at in range(len(plan.links))]


def _end(plan: FabricPlan, side: str, at: int) -> End:
    columns = plan.links.lists()
    device = plan.devices[columns[side][at]]
    cage, sub, split = (columns[f"{side}_{part}"][at] for part in ("cage", "sub", "split"))
    if device.role == SERVER:
        group = next(group for group in plan.spec.groups if group.name == device.group)
        return device.name, nic_name(group, cage, sub)
    return device.name, f"port {cage}/{sub + 1}" if split > 1 else f"port {cage}"


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
