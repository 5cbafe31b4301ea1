"""Growth of random fabrics with patch panels, compared with what any plan must change.

`python -m tests.deliver.change.expansion --fabrics 2000 --seed 1` draws fabrics of two and three tiers without a planned
size, lets each grow by some units, and prints the share of links between switches that change, the fewest that any wiring of
the same sizes changes, trunks that are laid again, and stages at two floors.

Fewest: a pair of switches that has fewer links than before gives up the difference, whatever the ports. `within one` is the
same for wirings that spread the uplinks of a leaf over its spines within one link, which the plan does not use: spines would
have unequal shares of the traffic.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np

from fabric.audit.diff.recabling import recabling
from fabric.base.diagnostics import InputError
from fabric.deliver.change.redesign import Draft, Sides, draft_of
from fabric.design.cable_moves import End, end_at
from fabric.model.plan import BETWEEN_SWITCHES, LEAF_SPINE, FabricPlan, Plan
from tests.design.planner.helpers import make

FLOORS = (0.75, 0.9)
LIMIT = 0.25  # share of links that change, of the published measure
GROWTH = 0.25  # of the units, one at least
NAME = "backend"

Trunks = dict[End, tuple[str, int]]


@dataclass(frozen=True, kw_only=True)
class Growth:
    """One expansion.

    Attributes:
        tiers: before and after.
        links: between switches before, `moved` of them change, `fewest` must, `within_one` with links spread within one.
        relaid: trunks that end at another port of a panel than before.
        stages: waves of moves by floor; None where the floor does not allow all of them.
        least: share of the capacity that is left in the worst stage, by floor.
    """

    tiers: tuple[int, int]
    links: int
    moved: int
    fewest: int
    within_one: int
    relaid: int
    stages: dict[float, int | None]
    least: dict[float, float]

    @property
    def share(self) -> float:
        return self.moved / max(1, self.links)


# --- fabrics ----------------------------------------------------------------------------------------------------


def draw(its: random.Random) -> tuple[dict[str, Any], int]:
    """An intent with panels between all tiers, and the servers that it grows to."""
    ports = its.choice((16, 32, 32, 64, 64, 128))
    rails, unit = its.choice((1, 1, 2, 4)), its.choice((2, 4, ports // 4))
    units = its.randint(1, max(2, min(24, 48 // rails)))
    more = its.randint(1, max(1, int(units * GROWTH)))
    panel = {"ports": its.choice((48, 96, 144, 288))}
    kinds = {"count": units * unit, "model": "s", "nics": "compute"}
    topology: dict[str, Any] = {
        "switch": f"{ports}x400g",
        "unit": {"servers": unit, "full": True},
        "leaf": {"oversubscription": its.choice((1, 1, 1, 2, 3))},
        "patch_panels": {"leaf-spine": panel, "spine-core": panel},
    }
    intent = {
        "version": 1,
        "site": "s",
        "catalog": {"servers": {"s": {"gpus": rails, "nics": {"compute": {"count": rails, "speed_gbps": 400}}}}},
        "fabrics": {NAME: {"nos": "frr", "qos": {"enabled": False}, "servers": kinds, "topology": topology}},
    }
    return intent, (units + more) * unit


def grown(intent: dict[str, Any], servers: int) -> tuple[Plan, Plan]:
    """The plan, and the one of more servers on its numbers. Raises InputError."""
    old = make(intent)
    intent["fabrics"][NAME]["servers"]["count"] = servers
    return old, make(intent, old.lock)


def drawn(seed: int, count: int) -> Iterator[tuple[Plan, Plan]]:
    """So many pairs of plans; what has no plan, or no spines, is drawn again."""
    its, found = random.Random(seed), 0
    while found < count:
        try:
            old, new = grown(*draw(its))
        except InputError:
            continue
        if old.fabrics[NAME].sizing.spines:
            found += 1
            yield old, new


# --- measures ---------------------------------------------------------------------------------------------------


def trunks(fabric: FabricPlan) -> Trunks:
    """Port of a switch → panel and port of its trunk. No port of a panel has two."""
    found: Trunks = {}
    assert fabric.patching is not None
    for at, ends in enumerate(fabric.patching.ends):
        if ends is not None:
            panel, low, high = ends
            found |= {end_at(fabric, "a", at): (panel, low), end_at(fabric, "b", at): (panel, high)}
    assert len(set(found.values())) == len(found)
    assert len(found) == 2 * int((fabric.patching.panel >= 0).sum())
    return found


def pairs(fabric: FabricPlan) -> Counter[tuple[str, str]]:
    """Links of every two switches, by their names."""
    rows = np.flatnonzero(np.isin(fabric.links.kind, BETWEEN_SWITCHES)).tolist()
    name = [device.name for device in fabric.devices]
    return Counter((name[fabric.links.a[row]], name[fabric.links.b[row]]) for row in rows)


def fewest(old: FabricPlan, new: FabricPlan) -> int:
    """Links that any wiring changes which gives the pairs of switches as many as the new plan does."""
    before, after = pairs(old), pairs(new)
    return sum(max(0, count - after[pair]) for pair, count in before.items())


def within_one(old: FabricPlan, new: FabricPlan) -> int:
    """Likewise where the links of a leaf may differ by one from spine to spine; of leaf-spine links of two tiers alone."""
    after = new.sizing.spines
    uplinks = Counter(old.links.a[old.links.kind == LEAF_SPINE].tolist())
    each = {leaf: count // old.sizing.spines for leaf, count in uplinks.items()}
    kept = {
        leaf: min(each[leaf] * old.sizing.spines, _most(count, old.sizing.spines, after)) for leaf, count in uplinks.items()
    }
    return sum(count - kept[leaf] for leaf, count in uplinks.items())


def _most(uplinks: int, before: int, after: int) -> int:
    """Most uplinks that stay on the old spines: each has as many as it may, so that every new one has its least."""
    low, rest = divmod(uplinks, after)
    return uplinks - (after - before) * low - max(0, rest - before)


def measured(old: Plan, new: Plan) -> Growth:
    """What an expansion takes."""
    before, after = old.fabrics[NAME], new.fabrics[NAME]
    steps = recabling(old, new).steps
    moved = sum(cable.old is not None for step in steps for cable in step.cables)
    first, then = trunks(before), trunks(after)
    sides = Sides(old=old, new=new, render=lambda plan, is_old: None, times=lambda *_: (None, None))  # type: ignore[arg-type,return-value]
    drafts = {floor: draft_of(before, sides, steps, floor) for floor in FLOORS} if moved else {}
    two = before.sizing.tiers == after.sizing.tiers == 2
    return Growth(
        tiers=(before.sizing.tiers, after.sizing.tiers),
        links=int(np.isin(before.links.kind, BETWEEN_SWITCHES).sum()),
        moved=moved,
        fewest=fewest(before, after),
        within_one=within_one(before, after) if two else -1,
        relaid=sum(then[end] != place for end, place in first.items() if end in then),
        stages={floor: None if its.refused else len(its.cuts) for floor, its in drafts.items()} or dict.fromkeys(FLOORS, 0),
        least={floor: least(its) for floor, its in drafts.items()} or dict.fromkeys(FLOORS, 1.0),
    )


def least(draft: Draft) -> float:
    """Share of the capacity that the worst stage leaves."""
    from fabric.deliver.change.redesign import _stage
    from fabric.solver.capacity.outages import NO_DEVICE

    return min(
        (_stage(draft, *cut).capacity(NO_DEVICE) for cut in draft.cuts if draft.way.steps[cut[0]].jumpers), default=1.0
    )


# --- report -----------------------------------------------------------------------------------------------------


def lines(found: Sequence[Growth]) -> Iterator[str]:
    moving = [its for its in found if its.moved]
    same = [its for its in found if its.tiers[0] == its.tiers[1]]
    yield f"{len(found):,} expansions: {len(moving):,} move links, {len(found) - len(same):,} change their tiers"
    for word, group in (("all", found), ("same tiers", same)):
        shares = sorted(its.share for its in group)
        within = sum(share <= LIMIT for share in shares) / len(shares)
        links, least = sum(its.links for its in group), sum(its.fewest for its in group)
        relaid = sum(its.relaid for its in group)
        yield (
            f"  {word}: at most {LIMIT:.0%} of the links change in {within:.1%}; {mean(shares):.1%} on average, "
            f"99th percentile {shares[int(0.99 * (len(shares) - 1))]:.1%}; fewest {least / links:.1%}, "
            f"moved {sum(its.moved for its in group) / links:.1%} of all links; {relaid:,} trunks laid again"
        )
    some_share = sorted(its.share for its in same if its.moved) or [0.0]
    some_within = sum(share <= LIMIT for share in some_share) / len(some_share)
    yield (
        f"  same tiers, where links move: at most {LIMIT:.0%} in {some_within:.1%}; {mean(some_share):.1%} on average, "
        f"{some_share[0]:.1%} to {some_share[-1]:.1%}"
    )
    two = [its for its in same if its.within_one >= 0]
    spread = sum(its.within_one / max(1, its.links) <= LIMIT for its in two) / len(two)
    equal = sum(its.share <= LIMIT for its in two) / len(two)
    yield f"  two tiers: at most {LIMIT:.0%} in {equal:.1%}; {spread:.1%} if links were spread within one"
    for floor in FLOORS:
        counts = [its.stages[floor] for its in same]
        stages = [max(1, count) for count in counts if count is not None]
        some = [count for count in counts if count]
        yield (
            f"  floor {floor:.0%}: {mean(stages):.2f} stages, {mean(some or [0]):.2f} where links move, most {max(stages)}; "
            f"{counts.count(None):,} refused; at least {min(its.least[floor] for its in same):.1%} of the capacity"
        )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabrics", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    for line in lines([measured(*pair) for pair in drawn(options.seed, options.fabrics)]):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
