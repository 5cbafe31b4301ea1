"""A big fabric made small: fewer units and spines, the same tiers, planes, rails, roles and kinds of sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest
from fabric.base.rounding import ceil_div
from fabric.base.source import Path_
from fabric.base.text import listed, plural
from fabric.configs import overrides, targets
from fabric.design.assign_servers import KEPT, Sized, deal
from fabric.design.intent.intent import Intent
from fabric.design.intent.rewrite import Changed, Planning, Rewrite
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import size_site
from fabric.design.planner.sizing_inputs import divisors_of
from fabric.model.plan import FabricSpec, GroupSize, Plan, Sizing, capacity, most_down
from fabric.model.plan.lock import Lock

FLAG = "--scale-down"
TOO_SMALL = "FAB501"
NO_ROOM = {"FAB140", "FAB145"}  # codes of attachments without ports, or without buffer
FULL, PLACES, FEWER = range(3)  # where attachments fit: free ports, places of servers, fewer links


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The size that one fabric shall have."""

    leaves: int
    units: tuple[int, ...]  # by server group
    uplinks: tuple[int, ...]  # of a leaf of each group
    spines: int  # of one plane and pod
    spine_uplinks: int = 0  # this and the following: three tiers
    units_per_pod: int = 0
    pods: int = 1
    core_groups: int = 0
    cores: int = 0  # of all of them


def scaled(
    intent: Intent,
    plan: Planning,
    spines: int,
    leaves: int,
    fabric: str | None = None,
    *,
    emulated: Collection[str] = (),
) -> Changed:
    """The intent with at most `leaves` leaves in every fabric and `spines` spines in every plane and pod of it.

    `fabric`, or else the one with the most leaves, gets exactly so many leaves; others may have fewer, as their units
    come. A fabric that is small enough stays as it is. The numbers of the lock are those of the big site, so the result
    has a folder of its own, in which there is none: a plan of it begins again.

    Raises InputError for an intent that cannot be planned, and for a size that cannot be had.
    """
    report = Report()
    site = resolve(intent.site, intent.source)
    targets.choose(site.fabrics, emulated)
    sized = size_site(site, Lock())
    _check_asked(intent, spines, leaves, fabric, report)
    first = fabric or max(sized, key=lambda name: sized[name][1].leaves)
    sizes = {name: _aim(*each, spines, leaves, name == first, report) for name, each in sized.items()}
    report.raise_errors()
    aims = {name: aim for name, aim in sizes.items() if aim is not None}
    if not aims:
        return Changed(intent, ())
    shown = f"{spines}x{leaves}"
    try:
        for room in (FULL, PLACES):
            try:
                return _made(intent, plan, sized, aims, shown, room)
            except InputError as error:
                if not NO_ROOM & {diagnostic.code for diagnostic in error.diagnostics}:
                    raise
        return _made(intent, plan, sized, aims, shown, FEWER)
    except InputError as error:
        raise _in_small(error, shown) from error


def _in_small(error: InputError, shown: str) -> InputError:
    """The refusal of a small plan as one of the scale: the intent itself can be planned."""
    first = error.diagnostics[0]
    if first.code in (TOO_SMALL, "FAB502"):
        return error
    message = f"the site cannot be planned as {shown}: {first.message}"
    return InputError([Diagnostic(TOO_SMALL, first.place, message, "choose a scale with more spines or leaves")])


def _check_asked(intent: Intent, spines: int, leaves: int, fabric: str | None, report: Report) -> None:
    if spines < 1 or leaves < 1:
        message = f"expected at least one spine and one leaf, got {spines}x{leaves}"
        report.fail("FAB500", Place(FLAG), message, "2x8 is two spines per plane and pod, and eight leaves in total")
    if fabric is not None and fabric not in intent.site.fabrics:
        message = f"expected a fabric of site '{intent.site.site}', got '{fabric}'"
        report.fail("FAB500", Place(intent.source.file), message, nearest(fabric, intent.site.fabrics))


# --- sizes --------------------------------------------------------------------------------------------------


def _aim(spec: FabricSpec, sizing: Sizing, spines: int, leaves: int, exact: bool, report: Report) -> Aim | None:
    """What a fabric becomes; None where it stays, or cannot be had, which is reported."""
    if sizing.leaves <= leaves and sizing.spines_built <= spines:
        return None
    units: tuple[int, ...] | None = tuple(group.units for group in sizing.groups)
    if sizing.leaves > leaves:
        fits = (leaves,) if exact else range(leaves, 0, -1)
        units = next(filter(None, (_units(sizing, target) for target in fits)), None)
    if units is None:
        _refuse(spec, sizing, spines, leaves, report)
        return None
    leaves = sum(n * group.unit_leaves for n, group in zip(units, sizing.groups, strict=True))
    spines = min(spines, sizing.spines_built)
    if sizing.tiers == 3:
        return _three_tiers(spec, sizing, Aim(leaves=leaves, units=units, uplinks=(), spines=spines))
    weights = [n * each for n, each in zip(units, _per_unit(sizing), strict=True)]
    ports = capacity(spec.spine.model, sizing.uplink_gbps)
    return Aim(leaves=leaves, units=units, uplinks=_uplinks(sizing, weights, ports, spines, sum), spines=spines)


def _units(sizing: Sizing, leaves: int) -> tuple[int, ...] | None:
    """Units of each group that make so many leaves, in about the proportion that there is; None where none do."""
    units = _shares(sizing.groups, leaves)
    least = KEPT if sizing.tiers == 3 and sizing.pods >= KEPT else 1
    return units if units is not None and sum(units) >= least else None


def _shares(groups: Sequence[GroupSize], leaves: int) -> tuple[int, ...] | None:
    first, rest = groups[0], groups[1:]
    most = min(first.units, leaves // first.unit_leaves)
    if not any(group.unit_leaves for group in rest):  # groups on the leaves of the first one keep their units
        shared = (group.units for group in rest)
        return (most, *shared) if most and most * first.unit_leaves == leaves else None
    ideal = Fraction(leaves * first.units, sum(group.leaves for group in groups))
    for units in sorted(range(1, most + 1), key=lambda n: (abs(n - ideal), n)):
        others = _shares(rest, leaves - units * first.unit_leaves)
        if others is not None:
            return (units, *others)
    return None


def _refuse(spec: FabricSpec, sizing: Sizing, spines: int, leaves: int, report: Report) -> None:
    """Which numbers of leaves can be had instead."""
    below = next((n for n in range(leaves - 1, 0, -1) if _units(sizing, n)), 0)
    above = next((n for n in range(leaves + 1, sizing.leaves + 1) if _units(sizing, n)), 0)
    each = " or ".join(str(n) for n in sorted({group.unit_leaves for group in sizing.leaf_groups}))
    if sizing.kind == "collapsed":
        reason = f"a collapsed-spine pair has two{' in each plane' if sizing.planes > 1 else ''}"
    elif below:
        reason = f"a unit of servers has {each}"
    elif sizing.tiers == 3 and sizing.pods >= KEPT:
        reason = f"two pods of a unit each have {above}"
    else:
        reason = (
            f"a unit of servers has {above}" if len(sizing.groups) == 1 else f"a unit of each kind of servers makes {above}"
        )
    report.error(
        TOO_SMALL,
        spec.at("topology"),
        f"fabric '{spec.name}' cannot have {plural(leaves, 'leaf', 'leaves')}: {reason}",
        f"nearest: {' or '.join(f'{spines}x{n}' for n in (below, above) if n)}",
    )


def _servers(spec: FabricSpec, sizing: Sizing, aim: Aim, room: int) -> list[int]:
    """Servers of each group: units are full, except for places that attachments need and had."""
    found = []
    links = sum(attachment.links for attachment in spec.attachments) if room >= PLACES else 0
    for group, size, units in zip(spec.groups, sizing.groups, aim.units, strict=True):
        free = size.units * size.unit_servers - group.count
        per_place = size.unit_leaves // (size.unit_servers // size.servers_per_leaf) * size.leaf_ports_per_server
        full = units * size.unit_servers - min(free, ceil(links / per_place))
        found.append(full if units < size.units else group.count)
    return found


def _per_unit(sizing: Sizing) -> tuple[int, ...]:
    """Leaves of a unit of each group in one isolated network and pod."""
    return tuple(group.leaves_of_pod(1, sizing.networks) for group in sizing.groups)


def _built(sizing: Sizing) -> tuple[int, ...]:
    """Uplinks that a leaf of each group has now."""
    return tuple(sizing.links_per_spine(group) * sizing.spines_built for group in sizing.groups)


def _uplinks(
    sizing: Sizing, weights: Sequence[int], ports: int, spines: int, used: Callable[[Iterable[int]], int]
) -> tuple[int, ...]:
    """Uplinks of a leaf of each group: as many as now, or the most below that the spines share evenly and have ports for.

    Args:
        weights: leaves of each group that meet at one spine.
        ports: of that spine.
        used: what the groups take together: `sum` where they share spines, `max` where each has pods of its own.
    """
    now = _built(sizing)
    uniform = len(set(now)) == 1 or sizing.spines_built == sizing.spines  # otherwise no key of the intent expresses it
    links = used(n // spines * weight for n, weight in zip(now, weights, strict=True))
    if uniform and links <= ports and not any(n % spines for n in now):
        return now
    return (spines * min(min(now) // spines, ports // used(weights)),) * len(now)


def _three_tiers(spec: FabricSpec, sizing: Sizing, aim: Aim) -> Aim:
    """With its pods, no more than there are and no larger: first as many uplinks as can be, then as few switches."""
    up, shared = sizing.links_per_core * sizing.cores_built, gcd(sizing.spines_per_core, aim.spines)
    groups = aim.spines // shared
    down, ports = most_down(spec, up, sizing.uplink_gbps, sizing.core_gbps), capacity(spec.core.model, sizing.core_gbps)
    aims = []
    for size in range(1, min(sizing.units_per_pod, max(aim.units)) + 1):
        pods = sum(ceil_div(n, size) * group.pods_per_unit for n, group in zip(aim.units, sizing.groups, strict=True))
        if min(KEPT, sizing.pods) <= pods <= sizing.pods:
            uplinks = _uplinks(sizing, [size * each for each in _per_unit(sizing)], down, aim.spines, max)
            enough = (n for n in divisors_of(up) if n >= min(KEPT, sizing.cores_built) and pods * shared * up <= n * ports)
            small = replace(aim, uplinks=uplinks, spine_uplinks=up, units_per_pod=size, pods=pods, core_groups=groups)
            aims.append(replace(small, cores=groups * next(enough)))
    return min(aims, key=lambda each: (-sum(each.uplinks), each.spines * each.pods + each.cores, -each.units_per_pod))


# --- the document -------------------------------------------------------------------------------------------


def _made(intent: Intent, plan: Planning, sized: Sized, aims: Mapping[str, Aim], shown: str, room: int) -> Changed:
    """The intent with the sizes put in, as the planner takes it."""
    text, folder = Rewrite(intent.source), intent.folder / f"scaled-{shown}"
    notes: list[str] = []
    for name, aim in aims.items():
        notes += _resize(text, *sized[name], aim, room)
        if room == FEWER:
            notes += _fewer_links(text, *sized[name], aim)
    try:
        small = text.made(intent, folder)
        notes += deal(text, intent.site.site, sized, size_site(resolve(small.site, small.source), Lock()))
        small, plan_ = _planned(text, intent, plan, folder, aims, notes)
    except InputError as error:
        raise InputError(replace(d, message=f"scaled down to {shown}: {d.message}") for d in error.diagnostics) from None
    return Changed(_without_idle(text, small, plan_, notes), tuple(notes))


def _resize(text: Rewrite, spec: FabricSpec, sizing: Sizing, aim: Aim, room: int) -> Iterator[str]:
    """States the sizes, and what the rule would else choose again for so few servers."""
    base: Path_ = ("fabrics", spec.name)
    servers = _servers(spec, sizing, aim, room)
    for number, (group, count) in enumerate(zip(spec.groups, servers, strict=True)):
        if group.bare:
            continue  # leaves without servers, which come last and are stated elsewhere
        text.put((*base, "servers", number, "count"), count)
        text.drop((*base, "servers", number, "planned"))
    text.drop((*base, "planned"))
    base = (*base, "topology")
    text.put((*base, "tiers"), sizing.tiers)
    text.put((*base, "spine", "count"), sizing.networks * aim.pods * aim.spines)
    text.drop((*base, "spine", "min_count"))
    text.put((*base, "leaf", "uplinks", "speed_gbps"), sizing.uplink_gbps)
    now = _built(sizing)
    if aim.uplinks != now or sizing.spines_built < sizing.spines:
        text.put((*base, "leaf", "uplinks", "count"), aim.uplinks[0])
        ratios = [_ratio(group, sizing, n) for group, n in zip(sizing.groups, aim.uplinks, strict=True)]
        if spec.stated("topology", "leaf", "oversubscription") and max(ratios) > spec.leaf_ratio:
            text.put((*base, "leaf", "oversubscription"), ceil(max(ratios) * 1000) / 1000)
    if sizing.tiers == 3:
        rails = {"rails": spec.constraints.pods.rails} if spec.constraints.pods and spec.constraints.pods.rails else {}
        text.put((*base, "pods"), {"units": aim.units_per_pod, **rails})
        text.put((*base, "spine", "uplinks"), {"count": aim.spine_uplinks, "speed_gbps": sizing.core_gbps})
        text.put((*base, "core", "count"), sizing.networks * aim.cores)
        if sizing.spines_per_core > 1:
            text.put((*base, "core", "groups"), aim.core_groups)
        if aim.spine_uplinks < sizing.spine_uplinks:  # cores for planned growth are left out
            text.drop((*base, "spine", "oversubscription"))
    return _sizes_in_words(spec, sizing, aim, sum(servers))


def _ratio(group: GroupSize, sizing: Sizing, uplinks: int) -> Fraction:
    return Fraction(group.down * group.down_gbps, uplinks * sizing.uplink_gbps)


def _sizes_in_words(spec: FabricSpec, sizing: Sizing, aim: Aim, servers: int) -> Iterator[str]:
    counts = [(servers, sizing.servers, "servers"), (aim.leaves, sizing.leaves, "leaves")]
    counts += [(sizing.networks * aim.pods * aim.spines, sizing.spine_count, "spines")]
    if sizing.tiers == 3:
        counts += [
            (sizing.networks * aim.cores, sizing.core_count, "cores"),
            (aim.pods, sizing.pods, "pods"),
        ]
    yield f"{spec.name}: " + ", ".join(f"{now} of {before} {noun}" for now, before, noun in counts if now != before)
    for group, now, before in zip(sizing.groups, aim.uplinks, _built(sizing), strict=True):
        if now != before:
            of_group = f" of {group.name}" if len(sizing.groups) > 1 else ""
            yield f"{spec.name}: a leaf{of_group} has {now} of {before} uplinks, to fit {plural(aim.spines, 'spine')}"
    if spec.reserve:
        yield f"{spec.name}: no ports are reserved for planned growth"


def _fewer_links(text: Rewrite, spec: FabricSpec, sizing: Sizing, aim: Aim) -> Iterator[str]:
    """Links of attachments in proportion to the leaves, at least two where there were two."""
    for at, attachment in enumerate(spec.attachments):
        links = max(min(attachment.links, KEPT), ceil(Fraction(attachment.links * aim.leaves, sizing.leaves)))
        if links < attachment.links:
            text.put(("fabrics", spec.name, "topology", "attachments", at, "links"), links)
            yield f"{spec.name}: {attachment.name} has {links} of {attachment.links} links"


def _planned(
    text: Rewrite, intent: Intent, plan: Planning, folder: Path, aims: Collection[str], notes: list[str]
) -> tuple[Intent, Plan]:
    """The intent and its plan, without the pins of scaled fabrics that the planner refuses now."""
    dropped: dict[str, list[str]] = defaultdict(list)
    while True:
        small = text.made(intent, folder)
        try:
            plan_ = plan(small, Lock())
        except InputError as error:
            places = {diagnostic.place for diagnostic in error.diagnostics}
            pins = [pin for name in aims for pin in _pins(small, name)]
            idle = dict.fromkeys(
                path for path, place in pins if small.source.has(place) and small.source.place(place) in places
            )
            if not idle:
                raise
            for path in idle:
                text.drop(path)
                dropped[str(path[1])].append(".".join(str(step) for step in path[3:]))
            continue
        notes += [f"{name}: pins omitted: {listed(words, 40)}" for name, words in dropped.items()]
        return small, plan_


def _pins(intent: Intent, fabric: str) -> Iterator[tuple[Path_, Path_]]:
    """(what can be left out, where the planner says that it cannot be) of everything that is pinned in a fabric."""
    for name, pin in intent.site.fabrics[fabric].pins.items():
        path: Path_ = ("fabrics", fabric, "pins", name)
        yield path, path
        yield from (((*path, what),) * 2 for what in ("name", "asn", "loopback", "management"))
        for peer, ports in pin.ports.items():
            own: Path_ = (*path, "ports", peer)
            yield from ((own, place) for place in (own, *((*own, at) for at in range(len(ports)))))


def _without_idle(text: Rewrite, small: Intent, plan: Plan, notes: list[str]) -> Intent:
    """Without overrides that no switch is left for; other mistakes of theirs are the renderer's to tell."""
    try:
        overrides.read(plan, small.path.absolute().parent)
    except InputError as error:
        places = {diagnostic.place for diagnostic in error.diagnostics}
        idle = [at for at in range(len(small.site.overrides)) if small.source.place(("overrides", at)) in places]
        for at in reversed(idle):
            override = small.site.overrides[at]
            text.drop(("overrides", at))
            notes.append(f"override skipped, no switch matches it: {override.template or override.file}")
    return text.made(small, small.folder)
