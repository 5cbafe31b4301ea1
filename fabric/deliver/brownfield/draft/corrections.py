"""Corrects a draft by its plan: names, pools, numbers and ports that a new plan gives otherwise than they are there.

What can be in the lock goes there; what a lock cannot hold is pinned; links that no rule gives are stated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.draft import numbers
from fabric.deliver.brownfield.draft.free_spots import spots
from fabric.deliver.brownfield.draft.judge import Difference, differences, merged, moved_ports, stated_links
from fabric.deliver.brownfield.draft.naming import ids, renamed
from fabric.deliver.brownfield.draft.pools import KINDS, pools
from fabric.deliver.brownfield.draft.working import Working
from fabric.model.plan import FabricPlan, Plan

ROUNDS = 6  # of all steps
PINNED_PORTS = 24  # pins of ports, one after the other
PLACED_ALONE = 8  # devices and NICs whose ports are kept, one after the other
STATED_LINKS = 2000  # of a fabric: more are no exceptions of a rule
FEW = 3  # switches with another number than the others of their role, which are pinned
_OF_LINKS = ("address/p2p/", "address/servers/")

Step = Callable[[Working, Plan], bool]


def corrected(work: Working, plan: Plan) -> tuple[Plan, list[Difference]]:
    """Takes every step that brings the plan closer to what is there; the last plan, and what it has otherwise."""
    left = differences(work.survey, plan)
    for _ in range(ROUNDS):
        changed = False
        for step in STEPS:
            if not left:
                return plan, left
            before = deepcopy(work.document), work.lock
            if not step(work, plan):
                continue
            try:
                other = work.plan()
                found = differences(work.survey, other)
            except InputError:
                found = None
            if found is None or _score(found) > _score(left):
                work.document, work.lock = before
                continue
            changed |= _score(found) < _score(left)
            plan, left = other, found
        if not changed and not in_full(work, {its.fabric for its in left if its.what == "link"}):
            break
    return plan, left


def _score(left: Sequence[Difference]) -> tuple[int, int]:
    """Devices that are otherwise, whose own numbers are not compared, then everything."""
    return sum(its.what == "device" for its in left), len(left)


def in_full(work: Working, names: Collection[str]) -> bool:
    """States every key of fabrics whose cables are otherwise: numbers of the lock may change what a default gives."""
    changed = False
    for name in names:
        if name in work.full:
            fabric = work.fabric(name)
            full = work.full.pop(name)
            fabric |= {key: full[key] for key in ("servers", "topology") if key in full}
            changed = True
    return changed


def _ids(work: Working, plan: Plan) -> bool:
    """Numbers of units and switches by their names."""
    changed = False
    for name, fabric in _stated(work, plan):
        known = work.kept(name).blocks
        blocks = ids(work.cells[name], work.patterns[name], fabric)
        if new := {key: its for key, its in blocks.items() if known.get(key) != its}:
            work.keep(name, blocks={**known, **new})
            changed = True
    return changed


def _names(work: Working, plan: Plan) -> bool:
    """Pins the names of no pattern, of all fabrics at once: one may have the names that the pattern of another gives."""
    changed = False
    for name, fabric in _stated(work, plan):
        stated = work.fabric(name).get("pins", {})
        names = {key: {"name": text} for key, text in renamed(work.cells[name], fabric).items() if key not in stated}
        if names:
            work.fabric(name)["pins"] = merged(stated, names)
            changed = True
    return changed


def _stated(work: Working, plan: Plan) -> Iterator[tuple[str, FabricPlan]]:
    """The fabrics whose tables are known."""
    yield from ((name, fabric) for name, fabric in plan.fabrics.items() if name in work.cells)


def _pools(work: Working, plan: Plan, kinds: Collection[str] = KINDS) -> bool:
    """Pools that hold the addresses that are there."""
    unused = {name: () if fabric.spec.overlay.kind == "evpn-vxlan" else ("vtep",) for name, fabric in plan.fabrics.items()}
    usual = {
        name: {kind: its for kind, its in fabric.prefixes.items() if kind not in unused[name]}
        for name, fabric in plan.fabrics.items()
    }
    room = {name: numbers.room(fabric) for name, fabric in plan.fabrics.items()}
    changed = False
    for name, stated in pools(work.survey, usual, room, pinned=FEW).items():
        home = work.fabric(name) if name else work.document
        its = {kind: prefixes for kind, prefixes in stated.items() if kind in kinds}
        known = home.get("pools", {})
        if any(known.get(kind) != prefixes for kind, prefixes in its.items()):
            home["pools"] = merged(home.get("pools", {}), its)
            changed = True
    return changed


def _spots(work: Working, plan: Plan, *, single: bool = False) -> bool:
    """Leaf ports of NICs and other devices on free ports; `single`: of the next of them alone."""
    changed = False
    wrong = {its.fabric for its in differences(work.survey, plan) if its.what in ("link", "subnet")}
    for name, shape in work.shapes.items():
        if name not in wrong and not work.below(shape):
            continue
        found = spots(shape, plan.fabrics[name], work.shapes, work.managing(name))
        if single:
            kept = work.kept(name).attachments
            new = next((key for key in found if kept.get(key) != found[key] and work.tried.get((name, key)) != len(kept)), "")
            work.tried[name, new] = len(kept)
            found = {**kept, new: found[new]} if new else {}
        if found and found != work.kept(name).attachments:
            work.keep(name, attachments=found)
            changed = True
            if single:
                break
    return changed


def _asn_blocks(work: Working, plan: Plan) -> bool:
    return _blocks(work, plan, lambda key: key.startswith("asn/"))


def _switch_blocks(work: Working, plan: Plan) -> bool:
    return _blocks(work, plan, lambda key: key.startswith("address/") and not key.startswith(_OF_LINKS))


def _link_blocks(work: Working, plan: Plan) -> bool:
    return _blocks(work, plan, lambda key: key.startswith(_OF_LINKS))


def _blocks(work: Working, plan: Plan, which: Callable[[str], bool]) -> bool:
    """Numbers that a new plan gives otherwise."""
    changed = False
    for name, fabric in plan.fabrics.items():
        if name not in work.shapes:
            continue
        wanted = numbers.of_switches(fabric, work.shapes[name].switches) | numbers.of_links(fabric, work.survey)
        wrong = numbers.wrong(fabric, {key: cells for key, cells in wanted.items() if which(key)})
        if not wrong:
            continue
        known = {**fabric.blocks, **{key: numbers.locked(fabric, key, cells) for key, cells in wrong.items()}}
        for space in ("asn", "address"):
            of_space = {key: its for key, its in known.items() if key.startswith(space)}
            known |= numbers.apart(of_space, lambda key, fabric=fabric: numbers.row_width(fabric, key))  # type: ignore[misc]
        if known != work.kept(name).blocks:
            work.keep(name, blocks=known)
            changed = True
    return changed


def _ports(work: Working, plan: Plan, *, single: bool = True) -> bool:
    """Pins the ports of the first link that is on others: the links on these move, so that one pin often does for two.

    With `single` False all links of the first switch: they may be on the ports of each other.
    """
    moved = moved_ports(work.survey, plan)
    if not single:
        pinned = {switch for name, switch, *_ in moved if work.fabric(name).get("pins", {}).get(switch, {}).get("ports")}
        first = next((switch for _, switch, *_ in moved if switch not in pinned and (switch, "") not in work.tried), "")
        work.tried[first, ""] = 0
        for name, switch, peer, cages in moved:
            if switch == first:
                work.pin(name, switch).setdefault("ports", {})[peer] = cages[0] if len(cages) == 1 else cages
        return bool(first)
    pins = [pin for fabric in work.document["fabrics"].values() for pin in fabric.get("pins", {}).values()]
    stated = sum(len(pin.get("ports", ())) for pin in pins)
    for name, switch, peer, cages in moved:
        if work.tried.get((switch, peer)) == stated:
            continue
        pin = work.pin(name, switch).setdefault("ports", {})
        if peer not in pin:
            work.tried[switch, peer] = stated
            pin[peer] = cages[0] if len(cages) == 1 else cages
            return True
    return False


def _few_links(work: Working, plan: Plan) -> bool:
    """States a few links between switches that the rule does not have, before ports are pinned."""
    return _links(work, plan, FEW)


def _links(work: Working, plan: Plan, most: int = STATED_LINKS) -> bool:
    """States links between switches that the rule does not have, and those of the rule that are not there."""
    changed = False
    for name, links in stated_links(work.survey, plan).items():
        fabric = work.fabric(name)
        if len(links.get("add", ())) + len(links.get("remove", ())) <= most and "links" not in fabric:
            fabric["links"] = links
            changed = True
    return changed


PINS = {"AS number": "asn", "loopback": "loopback", "management": "management"}


def _pin(work: Working, plan: Plan, what: str) -> bool:
    """Pins what a lock cannot hold, but for a management address that several switches have."""
    changed = False
    found = [its for its in differences(work.survey, plan) if its.what == what and its.there]
    of = Counter(its.management for its in work.survey.switches.values()) if what == "management" else Counter[str]()
    for its in found:
        if of[work.survey.switches[its.subject].management] > 1:
            continue
        value: Any = int(its.there) if what == "AS number" else its.there
        pin = work.pin(its.fabric, its.subject)
        if pin.get(PINS[what]) != value:
            pin[PINS[what]] = value
            changed = True
    return changed


_ONE_POOL: tuple[Step, ...] = tuple(partial(_pools, kinds=(kind,)) for kind in KINDS)
_NUMBERS: tuple[Step, ...] = (_asn_blocks, _switch_blocks, _link_blocks, *(partial(_pin, what=what) for what in PINS))
_NEXT_SPOTS = partial(_spots, single=True)
_PORTS: tuple[Step, ...] = (*((_ports,) * FEW), *((partial(_ports, single=False),) * FEW), *((_ports,) * PINNED_PORTS))
_CABLES: tuple[Step, ...] = (_few_links, _link_blocks, *_PORTS, _links, _link_blocks)
STEPS: tuple[Step, ...] = (_ids, _names, _pools, *_ONE_POOL, _spots, *((_NEXT_SPOTS,) * PLACED_ALONE), *_NUMBERS, *_CABLES)
