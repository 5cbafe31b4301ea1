"""Every cable of a site: what it joins, what it is made of, how long it is, and what its labels say.

A row is a leg: one link, or the links that one cable carries between the same two cages. Rows of one `cable` are the legs of
one breakout. Text columns are lists, numbers are arrays; a site of 100,000 GPUs has some 300,000 rows.

A cable is named by the port of its lower switch (`backend-leaf001:33/2`), a breakout by the cage that it parts. Growth up to
`planned` moves no link to another port and no device to another rack, so the name stays as long as the cable does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.text import plural
from fabric.deliver.cabling.cable_segments import Failure, Legs, legs
from fabric.deliver.cabling.ends import Ends, Flags, Floats, Ints, ends
from fabric.deliver.cabling.patched import Columns, check_patched, patched
from fabric.deliver.cabling.texts import Texts
from fabric.deliver.export.legend import NEUTRAL, PLANES, RAILS
from fabric.design.floor.floor import Floor, floor
from fabric.hardware.catalog import media
from fabric.model.plan import (
    ATTACHMENT,
    ENDS,
    KINDS,
    LEAF_LEAF,
    LEAF_SPINE,
    PEER_LINK,
    SERVER_LEAF,
    SERVER_SERVER,
    SPINE_CORE,
    STATED,
    Device,
    FabricPlan,
    Plan,
)

# --- colours --------------------------------------------------------------------------------------------------

RAIL_NAMES = ("blue", "orange", "green", "violet", "red", "teal", "olive", "indigo")
PLANE_NAMES = ("blue", "orange", "green", "violet")
KIND_NAMES = {
    SERVER_LEAF: "grey",
    LEAF_LEAF: "green",
    LEAF_SPINE: "blue",
    SPINE_CORE: "violet",
    ATTACHMENT: "orange",
    SERVER_SERVER: "blue",
    PEER_LINK: "green",
}

TONES = {"grey": NEUTRAL.line, **dict(zip(PLANE_NAMES, (tone.line for tone in PLANES), strict=True))}
TONES |= dict(zip(RAIL_NAMES, RAILS, strict=True))


def cable_colour(kind: int, lower: Device, upper: Device, planes: int) -> str:
    """The colour name of a cable between two devices: by the rail of its leaf, else by its plane, else by its kind."""
    leaf = upper if kind in (SERVER_LEAF, ATTACHMENT) else lower
    if leaf.rail >= 0:
        return RAIL_NAMES[leaf.rail % len(RAIL_NAMES)]
    if planes > 1 and leaf.plane >= 0:
        return PLANE_NAMES[leaf.plane % len(PLANE_NAMES)]
    return KIND_NAMES[kind]


# --- lengths --------------------------------------------------------------------------------------------------


def lengths(fabric: FabricPlan, floor: Floor) -> Floats:
    """Metres of every link of a fabric, slack included."""
    found = floor.lengths_m(fabric)
    if not floor.stated:
        for kind, length in enumerate(fabric.spec.lengths):
            if length.source == STATED:
                found[fabric.links.kind == kind] = length.metres
    return found


def bought_longer(plan: Plan, needed: dict[str, Floats], bought: dict[str, Floats]) -> tuple[Diagnostic, ...]:
    """Warnings where cables fit the length that PFC headroom is computed for, but are sold longer only.

    A class that the planner chose is a length that every medium is sold in, so this is about lengths that are stated.
    Cables that are longer on the floor already are the planner's warning.

    Args:
        needed: by fabric, metres of every link.
        bought: by fabric, metres of the cable of every link as it is bought.
    """
    report = Report()
    for name, metres in bought.items():
        fabric = plan.fabrics[name]
        for kind, length in enumerate(fabric.spec.lengths) if fabric.lossless is not None else ():
            mine = (fabric.links.kind == kind) & np.isfinite(metres) & (needed[name] <= length.metres)
            of_kind = metres[mine]
            longest = float(of_kind.max(initial=0))
            if longest > length.metres:
                report.warn(
                    "FAB196",
                    fabric.spec.at("topology", "cable_length_m", KINDS[kind]),
                    f"fabric '{name}': expected cables of at most {length.metres} m {ENDS[kind]}, as PFC headroom assumes, "
                    f"got {int((of_kind > length.metres).sum()):,} that are sold only in longer lengths, up to {longest:g} m",
                    f"set `cable_length_m: {{{KINDS[kind]}: {int(np.ceil(longest))}}}`: too little headroom drops packets",
                )
    return tuple(report.warnings)


@dataclass(frozen=True, kw_only=True)
class Runs(Columns):
    """The cables of a site."""

    plan: Plan
    floor: Floor
    names: tuple[str, ...]  # of the fabrics
    leg: Mapping[str, Ints]  # fabric → row of each of its links; over a patch panel that of its lower trunk
    errors: tuple[Diagnostic, ...]  # links that no medium joins
    warnings: tuple[Diagnostic, ...]  # cables that are sold only longer than the headroom is computed for


def runs(plan: Plan, floor: Floor) -> Runs:
    """The cables of a site. Raises InputError where the intent requests an unknown medium.

    Links that no medium can join are in `errors`, with an empty `medium`.
    """
    requests, report = _requests(plan), Report()
    parts, needed, bought, leg, begin = [], {}, {}, {}, 0
    for number, (name, fabric) in enumerate(plan.fabrics.items()):
        needed[name] = length_m = lengths(fabric, floor)
        both = (ends(fabric, "a"), ends(fabric, "b"))
        cable_legs = _legs(plan, fabric, both, length_m, requests, report)
        columns, first = patched(_columns(fabric, floor, number, both, cable_legs, length_m), fabric, floor, cable_legs.first)
        parts.append(columns)
        leg[name], bought[name] = begin + first[cable_legs.leg], cable_legs.order_m[cable_legs.leg]
        begin += len(columns)
    joined = {item.name: _joined([getattr(part, item.name) for part in parts]) for item in fields(Columns)}
    warned = bought_longer(plan, needed, bought)
    return Runs(
        **joined, plan=plan, floor=floor, names=tuple(plan.fabrics), leg=leg, errors=tuple(report.errors), warnings=warned
    )


def without_cable(plan: Plan) -> tuple[Diagnostic, ...]:
    """The links that no medium joins, without the cables of all others. Raises InputError as `runs` does."""
    requests, report, ground = _requests(plan), Report(), floor(plan)
    for fabric in plan.fabrics.values():
        _legs(plan, fabric, (ends(fabric, "a"), ends(fabric, "b")), lengths(fabric, ground), requests, report)
    return tuple(report.errors)


def _legs(
    plan: Plan, fabric: FabricPlan, both: tuple[Ends, Ends], length_m: Floats, requests: dict[str, str], report: Report
) -> Legs:
    """The legs of a fabric; what no medium joins is reported."""
    over_panels = {kind: requests.get(kind, "optics") for kind in fabric.spec.panels}
    found = legs(fabric, both, length_m, {**requests, **over_panels})
    for failure in found.failures:
        _report(plan, fabric, failure, report)
    check_patched(fabric, found, report)
    return found


def _joined(parts: list[Any]) -> Any:
    if not parts or isinstance(parts[0], list):
        return [value for part in parts for value in part]
    return np.concatenate(parts)


def _requests(plan: Plan) -> dict[str, str]:
    """Medium by kind of link, as the intent states it."""
    return {kind: medium for kind, medium in plan.settings.floor.media.model_dump(by_alias=True).items() if medium}


def _columns(
    fabric: FabricPlan, floor: Floor, number: int, both: tuple[Ends, Ends], cable_legs: Legs, length_m: Floats
) -> Columns:
    links, first = fabric.links, cable_legs.first
    count = np.bincount(cable_legs.leg, minlength=len(first))
    texts = Texts(fabric, floor, both, cable_legs)
    a_optics, b_optics = _optics_once(both, cable_legs)
    (a_port, a_name), (b_port, b_name) = texts.ports("a"), texts.ports("b")
    a_places, b_places = texts.places("a", a_port), texts.places("b", b_port)
    return Columns(
        fabric=np.full(len(first), number),
        kind=links.kind[first].astype(np.int64),
        a=links.a[first].astype(np.int64),
        b=links.b[first].astype(np.int64),
        a_cage=links.a_cage[first].astype(np.int64),
        b_cage=links.b_cage[first].astype(np.int64),
        links=count,
        speed_gbps=links.speed_gbps[first] * count,
        pieces=cable_legs.pieces,
        a_optics=a_optics,
        b_optics=b_optics,
        length_m=length_m[first],
        order_length_m=cable_legs.order_m,
        cable=texts.cables(),
        medium=cable_legs.medium,
        a_optic=cable_legs.optics[0],
        b_optic=cable_legs.optics[1],
        a_port=a_port,
        b_port=b_port,
        a_port_name=a_name,
        b_port_name=b_name,
        a_plug=texts.plugs("a"),
        b_plug=texts.plugs("b"),
        a_lanes=texts.lanes("a", count),
        b_lanes=texts.lanes("b", count),
        colour=_colours(fabric, first),
        a_place=a_places,
        b_place=b_places,
        a_label=[f"{near} > {other}" for near, other in zip(a_places, b_places, strict=True)],
        b_label=[f"{other} > {near}" for near, other in zip(a_places, b_places, strict=True)],
        managed=[its.name if (its := fabric.stood_for.get(link)) else "" for link in first.tolist()],
    )


def _colours(fabric: FabricPlan, first: Ints) -> list[str]:
    links, devices = fabric.links, fabric.devices
    pairs = zip(*(column[first].tolist() for column in (links.kind, links.a, links.b)), strict=True)
    return [cable_colour(kind, devices[a], devices[b], fabric.spec.planes) for kind, a, b in pairs]


def _optics_once(both: tuple[Ends, Ends], found: Legs) -> tuple[Ints, Ints]:
    """Per leg and end 1 where its optic is met for the first time: a module serves every leg of its cage."""
    nodes = np.concatenate([end.node[found.first] for end in both])
    lit = np.flatnonzero(np.array([*(map(bool, found.optics[0])), *(map(bool, found.optics[1]))], dtype=bool))
    once = np.zeros(len(nodes), dtype=np.int64)
    if len(lit):
        once[lit[np.unique(nodes[lit], return_index=True)[1]]] = 1
    return once[: len(found.first)], once[len(found.first) :]


def _report(plan: Plan, fabric: FabricPlan, failure: Failure, report: Report) -> None:
    """What nothing joins, with the numbers that do not meet."""
    links, devices = fabric.links, fabric.devices
    kind = KINDS[int(links.kind[failure.link])]
    near, far = devices[int(links.a[failure.link])].name, devices[int(links.b[failure.link])].name
    speed = int(links.speed_gbps[failure.link])
    request = f" of '{failure.request}'" if failure.request else ""
    problem = f"fabric '{fabric.name}': no medium{request} joins {near} and {far} at {speed}G over {failure.length_m:.1f} m"
    more = f" ({plural(failure.links, kind + ' link')} like it)" if failure.links > 1 else ""
    stated = plan.stated("floor", "media", kind)
    where = plan.at("floor", "media", kind) if stated else fabric.spec.at("topology")
    if failure.reach is None and failure.cages:
        more += (
            ": expected two cages that lead to each other alone, lane by lane, or one split over cages of one port each, "
            f"got {failure.cages} cages that lead to one another"
        )
        hint = f"use optics, whose connectors are cabled apart: `floor: {{media: {{{kind}: optics}}}}`"
    elif failure.reach is None:
        hint = "no medium fits both cages: lane speeds, breakouts or form factors differ"
    else:
        name = failure.reach.cable or " and ".join(dict(failure.reach.optics).values())
        hint = (
            f"the longest reach is {failure.reach.longest_m:g} m, of {name}: move the racks closer, or allow another medium"
        )
    report.error("FAB153", where, problem + more, hint)


# --- links with optics ----------------------------------------------------------------------------------------


def optical(plan: Plan, name: str) -> Flags:
    """Of every link of a fabric; true as well where the catalog has no cable that joins it. Raises InputError."""
    laid = runs(plan, floor(plan))
    medium = np.array(laid.medium)[laid.leg[name]]
    copper = [cable for cable, its in media.cables().items() if its.class_ != "aoc"]
    return ~np.isin(medium, copper)
