"""docs/effects.md: effect of design choices on collectives: oversubscription, rails, queue pairs, routing, a failure.

Run as `python -m tools.docs.effects > docs/effects.md`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

from fabric import pipeline
from fabric.model.plan import FabricPlan
from fabric.solver.estimate.estimate import Estimate
from fabric.solver.estimate.request import EstimateRequest
from tools.docs.ending import ending

BYTES = 1 << 30
SERVERS = (64, 128)  # of 8 GPUs
PLACEMENTS = ("packed", "spread")
UNIT = {"rail-optimized": 32, "rack": 4}  # servers that fill 32 ports: of every leaf of a unit, of the leaf of a rack
INTENT = """\
version: 1
site: effects
fabrics:
  backend:
    servers: {{model: dgx-h100, count: {servers}, per_rack: 4}}
    topology: {{kind: {kind}, switch: sn5400, unit: {{servers: {unit}}}, leaf: {{oversubscription: {ratio}}}}}
"""


@dataclass(frozen=True)
class Case:
    """A design, its routing and its failures."""

    name: str
    kind: str = "rail-optimized"
    ratio: int = 1  # oversubscription of the leaves
    routing: str = "ecmp"
    queue_pairs: int = 1
    fail: tuple[str, ...] = ()


BASE = Case("base")
CASES = (
    BASE,
    Case("2:1 oversubscription", ratio=2),
    Case("4:1 oversubscription", ratio=4),
    Case("rack instead of rails", kind="rack"),
    Case("4 queue pairs", queue_pairs=4),
    Case("adaptive routing", routing="adaptive"),
    Case("adaptive, 2:1", routing="adaptive", ratio=2),
    Case("adaptive, 4:1", routing="adaptive", ratio=4),
    Case("one spine failed", fail=("backend-spine001",)),
    Case("adaptive, one spine failed", routing="adaptive", fail=("backend-spine001",)),
)


@dataclass(frozen=True)
class Effect:
    """A row of the table."""

    servers: int
    placement: str
    case: Case
    reduce: Estimate  # all_reduce
    to_all: Estimate  # alltoall

    def share(self, pattern: str) -> float:
        """Share of the NIC bandwidth that the fabric carries for a traffic pattern."""
        estimate = self.to_all if pattern == "peers" else self.reduce
        return estimate.shares[pattern].share


HEAD = """\
# Effect of design choices on collectives

Each row changes one property of the base: DGX H100 servers on 64-port 400G switches (`sn5400`), rail-optimized, units of 32
servers, leaves 1:1, ECMP hashing, one queue pair per connection, no failure. 1 GiB, one job on all GPUs. `rack` has the same
number of leaves, each with the 32 ports of 4 servers. *packed* fills one unit after another; *spread* takes one server of
each unit in turn, so that every step of a ring leaves the unit. `fabric estimate` computes the same figures for any intent.

*ring*, *tree* and *peers* are the shares of the NIC bandwidth that the fabric carries for a traffic pattern, from the mean
time over several random queue pair numbers: ring and tree are the patterns of an all_reduce, peers is that of an alltoall.
The algorithm of the all_reduce is NCCL's choice, here {runs}: its time depends on the share of the {pattern}. all_gather and
reduce_scatter get the share of the ring. The algorithm does not depend on the fabric, because NCCL has no knowledge of it.
`x base` is the time relative to the base, the first row with the same GPUs and placement.

"""
END = ending(
    "python -m tools.docs.effects > docs/effects.md",
    "[How do I set oversubscription?](howto/oversubscription.md): the keys for these choices.",
    "[explore.md](explore.md): the same comparison for your own number of GPUs, with cost.",
    "[collectives.md](collectives.md): the model behind the figures.",
)


def page() -> str:
    """The whole page as Markdown."""
    effects = [measure(servers, where, case) for servers in SERVERS for where in PLACEMENTS for case in CASES]
    runs = sorted({f"{row.algorithm}/{row.protocol}" for effect in effects for row in effect.reduce.rows})
    pattern = " or the ".join(sorted({"ring" if name.startswith("ring") else "tree" for name in runs}))
    return "\n".join(
        [HEAD.format(runs=" or ".join(runs), pattern=pattern) + "\n".join(table(effects)), "", *learnt(effects), "", END]
    )


def measure(servers: int, placement: str, case: Case) -> Effect:
    """Both collectives of a case."""
    fabric, estimates = planned(case.kind, case.ratio, servers), []
    for collective in ("all_reduce", "alltoall"):
        asked = EstimateRequest(
            collective=collective, sizes=(BYTES,), routing=case.routing, queue_pairs=case.queue_pairs, fail=case.fail
        )
        estimates.append(pipeline.estimate(fabric, asked, placement)[0])
    return Effect(servers, placement, case, *estimates)


@cache
def planned(kind: str, ratio: int, servers: int) -> FabricPlan:
    """The plan of a design."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "effects.yaml"
        path.write_text(INTENT.format(kind=kind, unit=UNIT[kind], ratio=ratio, servers=servers), encoding="utf-8")
        return pipeline.plan(pipeline.load(path)).fabrics["backend"]


def table(effects: list[Effect]) -> Iterator[str]:
    """Rows in the order of the effects; the first of each fabric and placement is the base of the others."""
    yield "| GPUs | placement | case | ring | tree | peers | all_reduce ms | busbw | x base | alltoall ms | busbw | x base |"
    yield "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    base = effects[0]
    for effect in effects:
        base = effect if effect.case is BASE else base
        shares = (f"{effect.share(pattern):.0%}" for pattern in ("ring", "tree", "peers"))
        times = (_time(now, then) for now, then in ((effect.reduce, base.reduce), (effect.to_all, base.to_all)))
        cells = (
            f"{effect.servers * 8:,}",
            effect.placement,
            effect.case.name,
            *shares,
            *(cell for row in times for cell in row),
        )
        yield f"| {' | '.join(cells)} |"


def _time(now: Estimate, then: Estimate) -> tuple[str, str, str]:
    row = now.rows[0]
    return f"{row.time_us / 1e3:.1f}", f"{row.busbw_GBps:.1f}", f"{row.time_us / then.rows[0].time_us:.2f}"


def learnt(effects: list[Effect]) -> Iterator[str]:
    """Conclusions with figures of the table; tests/solver/estimate/test_effects.py verifies them."""
    by_case = {(effect.servers, effect.placement, effect.case.name): effect for effect in effects}
    few, many = SERVERS
    rails = planned(BASE.kind, BASE.ratio, many)
    spines = sum(device.role == "spine" for device in rails.devices)

    def part(servers: int, placement: str, case: str, pattern: str) -> str:
        return f"{by_case[servers, placement, case].share(pattern):.0%}"

    def slower(servers: int) -> str:
        spread, packed = (by_case[servers, where, BASE.name].reduce.rows[0].time_us for where in ("spread", "packed"))
        return f"{spread / packed:.1f}"

    def row(placement: str, pattern: str, *cases: str) -> str:
        return ", ".join(part(many, placement, case, pattern) for case in cases)

    over = (BASE.name, "2:1 oversubscription", "4:1 oversubscription")
    adaptive = ("adaptive routing", "adaptive, 2:1", "adaptive, 4:1")
    hash_, qps, lost = BASE.name, "4 queue pairs", "one spine failed"
    yield "## Conclusions"
    yield f"\nShares for {many * 8:,} GPUs unless stated otherwise.\n"
    for text in (
        f"**Oversubscription does not affect a packed all_reduce on rails.** Ring: {row('packed', 'ring', *over)} at 1:1, "
        "2:1, 4:1. All servers of a unit share the leaf of a rail, so a ring leaves that leaf once.",
        f"**Oversubscription affects an alltoall.** Peers: {row('packed', 'peers', *over)}. Most peers are in other units, "
        "whatever the placement.",
        f"**Placement can cost more than oversubscription.** On the 1:1 base, the all_reduce takes {slower(few)} times as "
        f"long spread as packed on {few * 8} GPUs, {slower(many)} times on {many * 8:,}; packed at 4:1 it takes no longer.",
        "**At 1:1 the ECMP hash limits, not the number of links.** Spread, a ring gets "
        f"{row('spread', 'ring', hash_)} with one queue pair, {row('spread', 'ring', qps)} with four, "
        f"{row('spread', 'ring', adaptive[0])} with adaptive routing; peers "
        f"{row('spread', 'peers', hash_, qps, adaptive[0])}. The links are the same.",
        "**With adaptive routing the cut limits.** A spread ring always leaves its unit: "
        f"{row('spread', 'ring', *adaptive)} at 1:1, 2:1, 4:1. Some peers of an alltoall are in the same unit. With "
        f"{few * 8} GPUs in two units about half: 2:1 leaves {part(few, 'spread', adaptive[1], 'peers')}, 4:1 "
        f"{part(few, 'spread', adaptive[2], 'peers')}. With {many * 8:,} in four units about a quarter: "
        f"{row('spread', 'peers', *adaptive[1:])}.",
        f"**A packed ring gets less with racks than with rails**, {row('packed', 'ring', 'rack instead of rails')} against "
        f"{row('packed', 'ring', hash_)}: every fourth server sends over the spines, on eight NICs at once, and some of "
        "these flows share an uplink.",
        f"**One failed spine of {spines} reduces the traffic across the spines.** Peers, packed: from "
        f"{row('packed', 'peers', hash_)} to {row('packed', 'peers', lost)} with ECMP, from "
        f"{row('packed', 'peers', adaptive[0])} to "
        f"{row('packed', 'peers', f'adaptive, {lost}')} with adaptive routing. A packed ring on rails keeps "
        f"{row('packed', 'ring', lost)}.",
    ):
        yield fill(f"- {text}", 125, subsequent_indent="  ", break_on_hyphens=False)


if __name__ == "__main__":
    print(page(), end="")
