"""From one design to another in waves: what is new is built, switches are configured, cables move, what is left goes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile

import numpy as np

from fabric.audit.diff.design import Names, renamed_plan, renames
from fabric.audit.diff.recabling import recabling
from fabric.base.processes import Progress, silent
from fabric.base.text import listed, percent, plural
from fabric.configs import Renderer
from fabric.deliver.change.edits import Edit, Pair, edits, served
from fabric.deliver.change.meter import Meter, Times
from fabric.deliver.change.notes import SERVES, limits, notes
from fabric.deliver.change.packing import TINY, Packer
from fabric.deliver.change.records import (
    CONFIGURE,
    INSTALL,
    RECABLE,
    REMOVE,
    REPLACE,
    UPGRADE,
    Change,
    ChangeRequest,
    Jumper,
    Left,
    Move,
    Refused,
    Wave,
)
from fabric.deliver.change.transition import Transition, renumbered
from fabric.deliver.change.wave import Builder, refusal, task, together
from fabric.design.cable_moves import Cable, ends_of
from fabric.design.moves import Step
from fabric.model.plan import BETWEEN_SWITCHES, SERVER, SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.solver.capacity.outages import NO_DEVICE, Out, Outages

RELOADS = "every service starts again"
RENUMBERS = "addresses or AS numbers change at both ends of links"
MAX_TRIED = 16  # numbers of steps of a wave, for the state that it leaves
Render = Callable[[Plan, bool], Renderer]
"""(plan, whether it is the old one) → its renderer, with the templates of that side."""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Both plans, and how states between them are rendered and timed."""

    old: Plan
    new: Plan
    render: Render
    times: Times
    files: bool = False
    jobs: int = 0
    progress: Progress = silent


@dataclass(kw_only=True)
class Draft:
    """One fabric: its cables in waves, then the edits of its files.

    Attributes:
        meter: of the old network.
        cuts: steps of each wave of moves, [from, to).
        free: cables that move nothing in service.
    """

    way: Transition
    meter: Meter
    free: Sequence[Cable]
    cuts: list[tuple[int, int]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    edits: dict[int, list[Edit]] = field(default_factory=dict)  # by wave of moves from 1; 0: switches that none touches
    after: dict[int, Renderer] = field(default_factory=dict)  # likewise: of the files that its switches have then
    while_out: dict[int, Renderer] = field(default_factory=dict)  # likewise: while the links of jumpers are out of service

    @property
    def done(self) -> int:
        """Steps that are planned."""
        return self.cuts[-1][1] if self.cuts else 0

    def cables(self, cut: tuple[int, int]) -> list[Cable]:
        return [cable for step in self.way.steps[slice(*cut)] for cable in step.cables]

    def jumpers(self, wave: int) -> bool:
        """Whether a wave of moves, by its number from 1, moves jumpers alone."""
        return self.way.steps[self.cuts[wave - 1][0]].jumpers

    def touched(self) -> dict[str, list[int]]:
        """Switch → the waves of moves that have a cable at it."""
        found: dict[str, dict[int, None]] = {}
        for number, cut in enumerate(self.cuts, 1):
            for cable in self.cables(cut):
                for end in (cable.lower, cable.old, cable.new):
                    if end is not None:
                        found.setdefault(end[0], {})[number] = None
        return {name: list(numbers) for name, numbers in found.items()}


@dataclass(frozen=True, kw_only=True)
class Redesign:
    """A change from one design to another.

    Attributes:
        edits: of the files of switches, by the number of their wave.
        drafts: of each fabric.
        names: old name → new name of switches that get another one.
        old: of the files before the change; `new`: of those after it.
    """

    change: Change
    edits: Sequence[Edit]
    drafts: Sequence[Draft]
    names: Names
    old: Renderer
    new: Renderer


def redesign(sides: Sides, request: ChangeRequest, heading: str) -> Redesign:
    """The waves, the edits of files that belong to them, and how each fabric gets from one design to the other."""
    names = renames(sides.old, sides.new)
    old = renamed_plan(sides.old, names)
    steps = recabling(old, sides.new).steps
    both = [name for name in sorted(sides.new.fabrics) if name in old.fabrics and request.fabric in ("", name)]
    both = [name for name in both if old.fabrics[name].switches and sides.new.fabrics[name].switches]
    drafts = [draft_of(old.fabrics[name], sides, steps, request.floor) for name in both]
    renderer = sides.render(sides.old, True)
    _add_edits(sides, names, drafts, renderer)
    waves: list[Wave] = []
    edits_by_wave: list[Edit] = []
    for draft in drafts:
        for wave, own in _waves(draft, request.floor):
            waves.append(replace(wave, number=len(waves) + 1))
            edits_by_wave += (replace(edit, wave=len(waves)) for edit in own)
    after = {draft.way.new.name: _stage(draft, draft.done).left() for draft in drafts}
    remarks = (note for draft in drafts for note in _of_draft(draft, waves, after))
    found = (*_notes(sides, request), *remarks)
    change = Change(
        site=sides.new.site,
        title=heading,
        floor=request.floor,
        waves=tuple(waves),
        refused=together(entry for draft in drafts for entry in draft.refused),
        before={draft.way.new.name: draft.meter.left() for draft in drafts},
        after=after,
        notes=found,
        is_empty=not waves and not found and not any(draft.refused for draft in drafts),
    )
    return Redesign(
        change=change, edits=edits_by_wave, drafts=drafts, names=names, old=renderer, new=sides.render(sides.new, False)
    )


def _notes(sides: Sides, request: ChangeRequest) -> Iterator[str]:
    for word, side, other in (("added", sides.new, sides.old), ("removed", sides.old, sides.new)):
        for name in sorted(side.fabrics):
            if name not in other.fabrics and request.fabric in ("", name):
                count = plural(len(side.fabrics[name].switches), "switch", "switches")
                yield f"fabric {name} is {word} as a whole, {count}: no wave of it is planned"
    yield from _switchless(sides, request)
    for name, new in sorted(sides.new.fabrics.items()):
        old = sides.old.fabrics.get(name)
        if old and request.fabric in ("", name) and old.spec.planes_active != new.spec.planes_active:
            counts = " → ".join(f"{its.planes_active} of {its.planes}" for its in (old.spec, new.spec))
            yield f"fabric {name}: {counts} planes in service: configs are those of all planes, so nothing is typed for that"


def _switchless(sides: Sides, request: ChangeRequest) -> Iterator[str]:
    """Fabrics of servers that are cabled to each other, before the change or after it."""
    for name, new in sorted(sides.new.fabrics.items()):
        old = sides.old.fabrics.get(name)
        if old is None or request.fabric not in ("", name) or (old.switches and new.switches):
            continue
        if old.switches or new.switches:
            side = "old" if old.switches else "new"
            yield f"fabric {name} has switches in the {side} design alone: no wave of it is planned"
        elif any(sorted(ends_of(old, side)) != sorted(ends_of(new, side)) for side in "ab"):
            yield f"fabric {name} has no switches, and its cables change: no wave of it is planned"


def _of_draft(draft: Draft, waves: Sequence[Wave], after: Mapping[str, Left]) -> Iterator[str]:
    """How many links move, and what the shares say; fabrics that share no server port with their old design have none."""
    name, links = draft.way.new.name, draft.way.old.links
    moved = [cable for cable in draft.cables((0, draft.done)) if cable.old is not None]
    if moved:
        between = int(np.isin(links.kind, BETWEEN_SWITCHES).sum())
        ends = {end for end, kind in zip(draft.way.old_ends, links.kind.tolist(), strict=True) if kind in BETWEEN_SWITCHES}
        mine = sum(cable.lower in ends for cable in moved)
        jumpers = sum(cable.jumper is not None for cable in moved)
        yield (
            f"fabric {name}: {mine:,} of {between:,} links between switches move or go ({percent(mine / max(1, between))})"
            + (f", {jumpers:,} of them by jumpers of patch panels" if jumpers else "")
        )
    if not len(draft.meter.whole.net.ports.link) and len(draft.meter.fabric.links):
        yield f"fabric {name}: no server port is in both designs, so no capacity is measured"
        return
    own = [wave for wave in waves if wave.fabric == name]
    yield from (*notes(draft.meter, own, after[name]), *limits(name, own))


# --- cables ---------------------------------------------------------------------------------------------------


def draft_of(old: FabricPlan, sides: Sides, steps: Sequence[Step], floor: float) -> Draft:
    """The waves of moves: as many steps in each as the floor allows, in the order in which cages become free."""
    new = sides.new.fabrics[old.name]
    uppers = {device.name for fabric in (old, new) for device in fabric.devices if device.role != SERVER}
    mine = [(step, [cable for cable in step.cables if _upper(cable) in uppers]) for step in steps]
    drains = [replace(step, cables=tuple(cables)) for step, cables in mine if (step.drain or step.jumpers) and cables]
    free = [cable for step, cables in mine if not (step.drain or step.jumpers) for cable in cables]
    way = Transition(old, new, drains)
    whole = Outages(way.in_service(old))
    draft = Draft(way=way, meter=Meter(whole, sides.times, whole), free=free)
    while draft.done < len(drains):
        if drains[draft.done].jumpers:
            if reason := _jumped(draft, floor):
                draft.refused.append(reason)
                break
            continue
        meter = _stage(draft, draft.done)
        now = meter.capacity(NO_DEVICE)
        items = [_out(meter.fabric, step) for step in takewhile(lambda step: step.drain, drains[draft.done :])]
        count = Packer(meter.outages, floor / now if now else 1.0).in_sequence(items, ())
        kept, after = _kept(draft, count, floor)
        if not kept:
            low = "" if not count else f"the cables that are moved by then leave {percent(after)} in the state after it"
            draft.refused += [refusal(meter, items[0], floor, low), *_waiting(meter, items[1:], items[0])]
            break
        draft.cuts.append((draft.done, draft.done + kept))
    return draft


def _jumped(draft: Draft, floor: float) -> Refused | None:
    """Adds a wave of jumpers: as many steps as leave the floor while their links are out, and after them."""
    steps = draft.way.steps[draft.done :]
    most = sum(1 for _ in takewhile(lambda step: step.jumpers, steps))

    def left(count: int) -> float:
        return _stage(draft, draft.done, draft.done + count).capacity(NO_DEVICE)

    kept = bisect_left(range(1, most + 1), True, key=lambda count: left(count) < floor - TINY)  # more out leave less
    while kept and _stage(draft, draft.done + kept).capacity(NO_DEVICE) < floor - TINY:
        kept -= 1
    if kept:
        draft.cuts.append((draft.done, draft.done + kept))
        return None
    names = tuple(sorted({_upper(cable) for step in steps for cable in step.cables}))
    text = f"the jumpers of {steps[0].cables[0].lower[1]} alone leave {percent(left(1))}, below the floor of {percent(floor)}"
    return Refused(fabric=draft.way.new.name, devices=names, capacity=left(1), reason=text)


def _kept(draft: Draft, count: int, floor: float) -> tuple[int, float]:
    """(of so many steps as many after which the fabric keeps the floor, capacity after all or after the first)."""
    after = 0.0
    for kept in range(count, max(0, count - MAX_TRIED), -1):
        after = _stage(draft, draft.done + kept).capacity(NO_DEVICE)
        if after >= floor - TINY:
            return kept, after
    return 0, after


def _upper(cable: Cable) -> str:
    end = cable.new or cable.old
    assert end is not None
    return end[0]


def _stage(draft: Draft, done: int, until: int | None = None) -> Meter:
    """The network when so many steps are done; while the links of those before `until` are out of service."""
    outages = Outages(draft.way.in_service(draft.way.at(done, until)), regular=False)
    return Meter(outages, draft.meter.times, draft.meter.whole)


def _out(fabric: FabricPlan, step: Step) -> Out:
    devices = (fabric.by_name[name] for name in step.drain.split(", ") if name in fabric.by_name)
    return frozenset(device.index for device in devices if device.role in SWITCH_ROLES)


def _waiting(meter: Meter, items: Sequence[Out], first: Out) -> Iterator[Refused]:
    rest: Out = frozenset().union(*items) - first
    if rest:
        reason = f"the moves wait for those of {listed(meter.names(first), 3)}"
        yield Refused(fabric=meter.fabric.name, devices=meter.names(rest), capacity=meter.capacity(rest), reason=reason)


# --- files ----------------------------------------------------------------------------------------------------


def _add_edits(sides: Sides, names: Names, drafts: Sequence[Draft], old: Renderer) -> None:
    """Adds to each draft how the files of its switches change from state to state.

    Between two waves of moves the files of a switch are those of the state after its last one, and before its first one
    still those of the old design.
    """
    was = {after: before for before, after in names.items()}
    for draft in drafts:
        kept = [device.name for device in draft.way.new.switches if device.nos and _stays(draft.way.old, device)]
        touched, seen = draft.touched(), set[str]()
        states = [(0, draft.done), *((number, end) for number, (_, end) in enumerate(draft.cuts, 1))]
        before = old
        for number, done in states:
            mine = [name for name in kept if number in touched.get(name, (0,))]
            if number and not sides.files:
                draft.edits[number] = [Edit(device=name, nos="") for name in mine]
                continue
            after = draft.after[number] = sides.render(with_fabric(sides.new, draft.way.at(done)), False)
            start = {name: (name, before) if name in seen else (was.get(name, name), old) for name in mine}
            if number and draft.jumpers(number):
                draft.edits[number] = _edits_around(sides, draft, number, start, after)
            else:
                quiet = None if number else served(sides.old, sides.new.fabrics[draft.way.new.name])
                draft.edits[number] = _edits(sides, start, after, sides.render(quiet, True) if quiet else None)
            before = after
            seen.update(mine)


def _edits(
    sides: Sides, start: Mapping[str, tuple[str, Renderer]], after: Renderer, quiet: Renderer | None = None
) -> list[Edit]:
    """From (name, renderer) that each switch has."""
    pairs = [Pair(name, was, before, after, quiet) for name, (was, before) in start.items()]
    return edits(pairs, sides.files, sides.jobs, sides.progress)


def _edits_around(
    sides: Sides, draft: Draft, number: int, start: Mapping[str, tuple[str, Renderer]], after: Renderer
) -> list[Edit]:
    """Of a wave of jumpers: first the links leave the configs of both ends, then the new ones come; some have one of both."""
    out = draft.while_out[number] = sides.render(with_fabric(sides.new, draft.way.at(*draft.cuts[number - 1])), False)
    drains = {edit.device: edit for edit in _edits(sides, start, out)}
    later = {edit.device: edit for edit in _edits(sides, {name: (name, out) for name in start}, after)}
    return [
        replace(later.get(name) or Edit(device=name, nos=drains[name].nos), drain=drains.get(name))
        for name in start
        if name in drains or name in later
    ]


def _stays(old: FabricPlan, device: Device) -> bool:
    return device.name in old.by_name and not is_replaced(old.by_name[device.name], device)


def with_fabric(plan: Plan, fabric: FabricPlan) -> Plan:
    """A site with another state of one fabric."""
    return replace(plan, fabrics={**plan.fabrics, fabric.name: fabric})


def is_replaced(old: Device, new: Device) -> bool:
    """Whether a switch makes room for another one of the same name."""
    return (old.model, old.nos) != (new.model, new.nos)


# --- waves of one fabric --------------------------------------------------------------------------------------


def _waves(draft: Draft, floor: float) -> Iterator[tuple[Wave, Sequence[Edit]]]:
    """Waves in their order, each with its edits."""
    way, builder = draft.way, Builder(draft.meter)
    added = [device for device in way.new.switches if device.name not in way.old.by_name]
    if added or draft.free:
        tasks = tuple(task(device, INSTALL) for device in added)
        yield builder.wave(INSTALL, tasks, NO_DEVICE, moves=_moves(draft.free), done="new cables are laid"), ()
    drained = {name for step in way.steps for name in step.drain.split(", ")}
    pairs = [(way.old.by_name[new.name], new) for new in way.new.switches if new.name in way.old.by_name]
    upgraded = [old for old, new in pairs if not is_replaced(old, new) and _release(way.old, old) != _release(way.new, new)]
    replaced = [old for old, new in pairs if is_replaced(old, new) and new.name not in drained]
    for action, devices in ((UPGRADE, upgraded), (REPLACE, replaced)):
        yield from ((wave, ()) for wave in _packed(draft, builder, action, devices, floor))
    yield from _configured(draft, builder, floor)
    yield from _moved(draft, builder)
    removed = [device for device in way.old.switches if device.name not in way.new.by_name]
    if removed and draft.done == len(way.steps):
        end = Builder(_stage(draft, draft.done), builder.number)
        tasks = tuple(task(device, REMOVE) for device in removed)
        yield end.wave(REMOVE, tasks, NO_DEVICE, touched=_share_moved(draft, draft.cables((0, draft.done)))), ()


def _release(fabric: FabricPlan, device: Device) -> str:
    return fabric.spec.release(device.nos)


def _packed(draft: Draft, builder: Builder, action: str, devices: Sequence[Device], floor: float) -> Iterator[Wave]:
    """Waves of switches that leave service."""
    groups, none = Packer(draft.meter.outages, floor).pack([frozenset((device.index,)) for device in devices])
    draft.refused += (refusal(draft.meter, entry.devices, floor) for entry in none)
    by_index = {device.index: device for device in devices}
    for group in groups:
        out: Out = frozenset().union(*group)
        yield builder.wave(action, tuple(task(by_index[at], action) for at in sorted(out)), out)


def _configured(draft: Draft, builder: Builder, floor: float) -> Iterator[tuple[Wave, Sequence[Edit]]]:
    """Switches at no cable that moves, by what the change does to them.

    Those whose services start again leave service. Those of links whose addresses or AS numbers change go together, as each
    is cut off from the others meanwhile. The others go on, so that only a failure takes them along; those with other
    management services alone go whatever the floor, after a first one of each network OS.
    """
    old, mine = draft.way.old, {edit.device: edit for edit in draft.edits.get(0, ())}
    groups = [group & mine.keys() for group in renumbered(old, draft.way.new)]
    renamed = {name for group in groups for name in group}
    alone: dict[str, list[set[str]]] = {}
    for name, edit in sorted(mine.items()):
        if name not in renamed:
            why = RELOADS if edit.reloads else SERVES if edit.serves else ""
            alone.setdefault(why, []).append({name})
    first = {mine[name].nos: {name} for (name,) in reversed(alone.get(SERVES, []))}
    rest = [group for group in alone.get(SERVES, []) if group not in first.values()]
    for names, reason in (
        (list(first.values()), SERVES),
        (rest, SERVES),
        (alone.get("", []), ""),
        (alone.get(RELOADS, []), RELOADS),
        ([group for group in groups if group], RENUMBERS),
    ):
        items = [frozenset(old.by_name[name].index for name in group) for group in names]
        waves, none = Packer(draft.meter.outages, 0.0 if reason == SERVES else floor).pack(items)
        drained = reason in (RELOADS, RENUMBERS)
        if drained:
            draft.refused += (refusal(draft.meter, entry.devices, floor, reason) for entry in none)
        else:
            waves += [[entry.devices] for entry in none]
        for wave in waves:
            order = sorted(frozenset().union(*wave))
            tasks = tuple(replace(task(old.devices[at], CONFIGURE, reason), drained=drained) for at in order)
            out: Out = frozenset(order if drained else ())
            own = [mine[old.devices[at].name] for at in order]
            yield builder.wave(CONFIGURE, tasks, out, at_risk=frozenset(order)), own


def _moved(draft: Draft, builder: Builder) -> Iterator[tuple[Wave, Sequence[Edit]]]:
    """The waves of moves: upper switches are drained, all switches at the cables are configured."""
    way = draft.way
    for number, cut in enumerate(draft.cuts, 1):
        jumpers = draft.jumpers(number)
        meter = _stage(draft, *cut) if jumpers else _stage(draft, cut[0])
        out: Out = frozenset().union(*(_out(meter.fabric, step) for step in way.steps[slice(*cut)]))
        cables = draft.cables(cut)
        moved = _share_moved(draft, draft.cables((0, cut[1])))
        mine = draft.edits.get(number, [])
        at = sorted(out or (_idle(meter.fabric, cables, mine) if jumpers else ()))
        drained = [meter.fabric.devices[index] for index in at]
        names = {device.name for device in drained}
        others = [meter.fabric.by_name[edit.device] for edit in mine if edit.device not in names]
        tasks = (*(task(device, RECABLE) for device in drained), *(task(device, CONFIGURE) for device in others))
        stage = Builder(meter, builder.number)
        done = f"{percent(moved)} of the links in service are moved or pulled"
        links = sum(cable.old is not None for cable in cables) if jumpers else 0
        yield stage.wave(RECABLE, tasks, out, moves=_moves(cables), links=links, done=done, touched=moved), mine
        builder.number = stage.number


def _idle(fabric: FabricPlan, cables: Iterable[Cable], mine: Iterable[Edit]) -> Iterator[int]:
    """Upper switches without a link while jumpers are out: to drain them costs nothing, and links come and go unused."""
    linked = {*fabric.links.a.tolist(), *fabric.links.b.tolist()}
    uppers = {end[0] for cable in cables for end in (cable.old, cable.new) if end is not None}
    for name in uppers - {edit.device for edit in mine}:
        device = fabric.by_name[name]
        if device.role in SWITCH_ROLES and device.index not in linked:
            yield device.index


def _share_moved(draft: Draft, cables: Iterable[Cable]) -> float:
    """Of the links of the old design."""
    return sum(cable.old is not None for cable in cables) / max(1, len(draft.way.old.links))


def _moves(cables: Iterable[Cable]) -> tuple[Move, ...]:
    return tuple(
        Move(
            action="lay" if cable.old is None else "pull" if cable.new is None else "move",
            lower=cable.lower,
            old=cable.old or (),
            new=cable.new or (),
            jumper=None if cable.jumper is None else Jumper(**asdict(cable.jumper)),
        )
        for cable in cables
    )
