"""Polarization: a tier whose hash repeats the choice of the tier below uses a part of its next hops only.

A spine meets from one leaf only flows that the leaf's hash sent to it. If the spine's hash says the same again, they all
take the same few of its next hops. Found by measuring: flows with different keys, from one switch to one switch, towards
one set of n next hops. Were the second choice independent of the first, Pearson's chi-square of the counts would be n - 1
in the mean; the excess says over how many next hops the flows really spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabric.base.text import listed
from fabric.solver import Bools, Floats, Ints, Network, Routes
from fabric.solver.ecmp.flows import Flows, five_tuples
from fabric.solver.ecmp.hashing import Hash, Hashing, configured, digest
from fabric.solver.ecmp.paths import route
from fabric.solver.ecmp.study import TIERS

SURE = 6.0  # standard deviations above chance, so that 10,000 switches give no false finding
MUCH = 0.8  # share of the next hops in use above which nothing is reported


@dataclass(frozen=True, kw_only=True)
class Polarization:
    """One tier that does not use its next hops."""

    tier: str  # "spine -> core"
    after: str  # tier whose choice it repeats: "leaf -> spine"
    switches: tuple[str, ...]  # that repeat it, the worst first
    used: float  # mean effective number of next hops of the flows from one switch below
    together: float  # the same of the flows from all switches below
    available: float  # mean number of next hops
    excess: float  # standard deviations above chance
    reason: str
    remediation: str

    def __str__(self) -> str:
        some = listed(self.switches, 3)
        whole = f", those of all together over {self.together:.1f}" if self.together > self.used / MUCH else ""
        return (
            f"{self.tier} repeats the choice of {self.after}: {some} spread the flows of a switch below over "
            f"{self.used:.1f} of {self.available:.0f} next hops{whole} ({self.reason}); {self.remediation}"
        )


@dataclass(frozen=True, kw_only=True)
class _Choices:
    """Choices of a next hop that follow the choice of another switch, a row each."""

    below: Ints  # switch that sent
    at: Ints  # switch that chooses
    above: Ints  # tier of its next hops
    start: Ints  # position of its next hops in the pool
    count: Ints
    link: Ints  # chosen link
    key: Ints  # equal for flows whose hashed fields are


@dataclass(frozen=True)
class _Groups:
    """Flows with different keys for which a switch had the same next hops."""

    at: Ints
    flows: Ints
    hops: Ints
    chi2: Floats


def find(net: Network, route_table: Routes, flows: Flows, hashing: Hashing | None = None) -> tuple[Polarization, ...]:
    """Tiers that repeat the choice of a tier below, as these flows show; the plan's own hashing where not given.

    Needs some flows from every switch to every next one: a few hundred a leaf show it well.
    """
    hashing = configured(net.fabric) if hashing is None else hashing
    choices = _choices(net, route_table, flows, hashing)
    tiers = np.stack([net.level[choices.below], net.level[choices.at], choices.above])
    result = []
    for low, middle, high in np.unique(tiers, axis=1).T.tolist():
        mine = np.flatnonzero((tiers == np.array([[low], [middle], [high]])).all(axis=0))
        groups = _groups(choices, mine, choices.below)
        if not len(groups.at):
            continue
        used, hops, excess = _spread(groups)
        if excess < SURE or used > MUCH * hops:
            continue
        whole = _groups(choices, mine, np.zeros_like(choices.below))
        repeated = _repeated(hashing, low, middle)
        reason, remediation = _why(hashing[repeated], hashing[middle], TIERS[middle], itself=repeated == middle)
        result.append(
            Polarization(
                tier=f"{TIERS[middle]} -> {TIERS[high]}",
                after=f"{TIERS[repeated]} -> {TIERS[repeated + 1 if repeated < 3 else 2]}",
                switches=_worst(net, groups),
                used=used,
                together=max(used, _spread(whole)[0]),
                available=hops,
                excess=excess,
                reason=reason,
                remediation=remediation,
            )
        )
    return tuple(result)


def _choices(net: Network, route_table: Routes, flows: Flows, hashing: Hashing) -> _Choices:
    paths = route(net, route_table, flows, "ecmp", hashing)
    hops = np.flatnonzero(paths.flow[1:] == paths.flow[:-1]) + 1
    link, before, flow = paths.link[hops], paths.link[hops - 1], paths.flow[hops]
    inside = (net.level[net.tail[before]] > 0) & (net.level[net.head[link]] > 0)
    link, before, flow = link[inside], before[inside], flow[inside]
    below, at = net.tail[before], net.tail[link]
    start, count = route_table.next_hops(at, net.ports.leaf[flows.target_port[flow]])
    columns = five_tuples(net, flows)
    key = np.zeros(len(flows), dtype=np.int64)
    for fields in sorted({hash_.fields for hash_ in hashing.values()}):
        key = key << 32 | digest(Hash(fields=fields), columns)  # a CRC-32C each; the key holds the last two sets
    some = np.flatnonzero(count > 1)
    above = net.level[net.head[link]]
    chosen = {"below": below, "at": at, "above": above, "start": start, "count": count, "link": link, "key": key[flow]}
    return _Choices(**{name: column[some] for name, column in chosen.items()})


def _groups(choices: _Choices, rows: Ints, below: Ints) -> _Groups:
    """Groups of at least two flows by `below`, switch and next hops, with Pearson's chi-square over the next hops.

    A flow whose key is another's takes its path whatever the hash: it counts once.
    """
    columns = (below, choices.at, choices.start, choices.link, choices.key)
    order = rows[np.lexsort([column[rows] for column in reversed(columns)])]
    from_, node, start, link, key = (column[order] for column in columns)
    group = _changes(from_, node, start)
    choice = group | _changes(link)
    flow = choice | _changes(key)
    number = np.cumsum(group) - 1
    different = np.bincount(number, flow)
    on_link = np.bincount(np.cumsum(choice) - 1, flow)
    squares = np.bincount(number[choice], on_link**2)
    hops = choices.count[order][group]
    counts = different > 1
    chi2 = hops[counts] * squares[counts] / different[counts] - different[counts]
    return _Groups(node[group][counts], different[counts], hops[counts], chi2)


def _changes(*columns: Ints) -> Bools:
    """Rows that differ from the row before, the first one among them."""
    changed = np.zeros(len(columns[0]), dtype=bool)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def _spread(groups: _Groups) -> tuple[float, float, float]:
    """(next hops used in effect, next hops there are, standard deviations above chance).

    Flows that spread at random over u of n next hops have a chi-square of about (m - 1) (n / u - 1) + n - 1 for m flows.
    """
    flows, hops = groups.flows, groups.hops
    free = hops - 1
    excess = float((groups.chi2 - free).sum())
    chance = float(np.sqrt((2 * free * (1 - 1 / flows)).sum()))
    strength = max(0.0, excess / float(((flows - 1) * free).sum()))
    mean = float((hops * flows).sum() / flows.sum())
    return mean / (1 + strength * (mean - 1)), mean, excess / chance


def _worst(net: Network, groups: _Groups) -> tuple[str, ...]:
    """Names of the switches that show it by themselves, the clearest first; all of the tier where none does alone."""
    free = groups.hops - 1
    excess = np.bincount(groups.at, groups.chi2 - free, minlength=len(net.level))
    chance = np.bincount(groups.at, 2 * free * (1 - 1 / groups.flows), minlength=len(net.level))
    seen = np.flatnonzero(chance)
    score = excess[seen] / np.sqrt(chance[seen])
    clear = score > SURE / 2
    seen, score = (seen[clear], score[clear]) if clear.any() else (seen, score)
    return tuple(net.fabric.devices[at].name for at in seen[np.lexsort((seen, -score))].tolist())


def _repeated(hashing: Hashing, low: int, middle: int) -> int:
    """The tier whose choice is repeated: that below, unless another one on the path hashes alike and that does not."""
    tiers = [low, *(level for level in (1, 2) if level not in (low, middle)), *([middle] if low > middle else [])]
    return next((level for level in tiers if hashing[level].repeats(hashing[middle])), low)


def _why(below: Hash, at: Hash, switch: str, itself: bool) -> tuple[str, str]:
    """(what two hashes have in common, what would part them). `itself`: they are of one tier, on the path up and down."""
    whom = f"every {switch}" if itself else f"the {switch}s"
    seeds = "a seed of its own" if itself else "a seed of their own"
    apart = f"give {whom} another family, hash offset or key rotation"
    if not below.repeats(at):
        return f"{below.family} and {at.family} agree on these flows", f"{apart}, or hash more fields"
    if below.seed == at.seed and not (below.per_switch or at.per_switch):
        return "the same hash with the same seed", apart if at.linear else f"give {whom} {seeds}"
    return f"seeds differ, but {at.family} is linear: the seed only renames the next hops", apart
