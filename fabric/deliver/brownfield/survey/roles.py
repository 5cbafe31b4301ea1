"""Fabrics and tiers: what hosts, cables, tunnels, addresses and AS numbers say of a switch, and names where they do not."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabric.audit.checks.ends import without_prefix_length
from fabric.audit.checks.network import role as shape
from fabric.deliver.brownfield.survey.cabling import Wiring
from fabric.deliver.brownfield.survey.devices import Found
from fabric.deliver.brownfield.survey.hosts import SUBNET, HostPort
from fabric.deliver.brownfield.survey.ports import natural
from fabric.model.plan import CORE, LEAF, SPINE

WORDS = {  # in names, where nothing else decides
    LEAF: re.compile(
        r"(?:^|[^a-z])(?:(?:b|border|edge|svc|service)?-?(?:leaf|lf|tor|csl|bl|l)|access|oob)(?:$|[^a-z])", re.I
    ),
    SPINE: re.compile(r"(?:^|[^a-z])(?:spine|sp|gsl|agg|s)(?:$|[^a-z])", re.I),
    CORE: re.compile(r"(?:^|[^a-z])(?:s(?:uper)?-?spines?|ss|core|csp|t3)(?:$|[^a-z])", re.I),
}
CONVENTION = 0.9  # share of links between tiers whose lower address is at one side, before it tells which is which


@dataclass(frozen=True)
class Seen:
    """What was read: devices, the cables between them, the hosts on each, and who has sessions with whom."""

    devices: Mapping[str, Found]
    wiring: Wiring
    on: Mapping[str, Sequence[HostPort]]
    sessions: Sequence[tuple[str, str]] = ()

    def graph(self, among: Collection[str]) -> dict[str, Counter[str]]:
        """Cables between each two of some switches; sessions count for a switch of which no cable was found."""
        joined: dict[str, Counter[str]] = {name: Counter() for name in among}
        for (a, _), (b, _), _ in self.wiring.cables():
            if a in joined and b in joined:
                joined[a][b] += 1
                joined[b][a] += 1
        bare = {name for name, near in joined.items() if not near}
        for a, b in self.sessions:
            if a in joined and b in joined and (a in bare or b in bare):
                joined[a][b], joined[b][a] = 1, 1
        return joined


Graph = Mapping[str, Mapping[str, int]]  # switch → neighbor → cables


@dataclass(kw_only=True)
class Tiers:
    """The switches of a fabric by tier.

    Attributes:
        level: 0 of leaves, 1 of spines, 2 of cores.
        source: why.
    """

    level: dict[str, int] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)

    def of(self, level: int) -> list[str]:
        """The switches of a tier, in order."""
        return sorted((name for name, own in self.level.items() if own == level), key=natural)


ROLES = (LEAF, SPINE, CORE)


def parts(joined: Graph) -> list[list[str]]:
    """The connected components, each in order, by their first names."""
    seen, result = set[str](), list[list[str]]()
    for first in sorted(joined, key=natural):
        if first not in seen:
            part, queue = [first], deque([first])
            seen.add(first)
            while queue:
                for other in joined[queue.popleft()]:
                    if other not in seen:
                        seen.add(other)
                        part.append(other)
                        queue.append(other)
            result.append(sorted(part, key=natural))
    return result


# --- Tiers ----------------------------------------------------------------------------------------------------


def tiers(seen: Seen, joined: Graph) -> Tiers:
    """The tier of every switch of a fabric: leaves have hosts or tunnels, spines are next to them, cores next to spines.

    A switch with attached devices alone is a leaf as well, unless it is where spines are. One without any of these that is as
    far from hosts as a core is a leaf where addresses, AS numbers or names say so.
    """
    result = Tiers()
    sure, maybe = leaves(seen, joined)
    seeds = sure or maybe
    if sure and maybe:
        far = distances(joined, sure)
        seeds = sure | {
            name: why for name, why in maybe.items() if far.get(name, 0) % 2 == 0 or len(joined[name]) == far[name] == 1
        }
    result.source |= seeds
    if len(joined) == 2 and any(joined.values()) and len({shape(name) for name in joined}) == 1:
        result.source = dict.fromkeys(joined, "two switches back to back") | seeds
    if not seeds:
        result.source |= _without_hosts(seen, joined)
    result.level = distances(joined, result.source)
    for name, level in result.level.items():
        result.source.setdefault(name, "next to leaves" if level == 1 else "next to spines")
    for name in joined.keys() - result.level.keys():
        result.level[name], result.source[name] = 0, "joined to no other switch"
    _bare_leaves(seen, joined, result)
    return result


def distances(joined: Graph, seeds: Iterable[str]) -> dict[str, int]:
    """Cables from each switch to the nearest of some; without those that none leads to."""
    level = dict.fromkeys(sorted(seeds, key=natural), 0)
    queue = deque(level)
    while queue:
        name = queue.popleft()
        for other in sorted(joined[name], key=natural):
            if other not in level:
                level[other] = level[name] + 1
                queue.append(other)
    return level


def leaves(seen: Seen, joined: Graph) -> tuple[dict[str, str], dict[str, str]]:
    """Switches with servers, tunnels or ports that manage others, and those with attached devices alone; with the reason."""
    sure, maybe = dict[str, str](), dict[str, str]()
    managing = Counter(name for (name, _), _ in seen.wiring.management.values())
    for name in joined:
        ports = seen.on.get(name, ())
        servers = sum(not row.attached and row.source != SUBNET for row in ports)
        if servers:
            sure[name] = f"{servers} ports with servers"
        elif seen.devices[name].vtep or managing[name]:
            sure[name] = "its tunnels" if seen.devices[name].vtep else f"{managing[name]} management ports of switches"
        elif ports:
            maybe[name] = f"{len(ports)} ports with attached devices"
    tunnels = {name for name in sure if seen.devices[name].vtep}
    for name in sorted(sure.keys() - tunnels) if tunnels else ():
        # Beside leaves with tunnels a switch without them is a spine, whatever is attached to it.
        near = [other for other in joined[name] if other in tunnels]
        if len(near) > 1 and len(near) * 2 > len(joined[name]) and len(near) > len(seen.on.get(name, ())):
            del sure[name]
    return sure, maybe


def _without_hosts(seen: Seen, joined: Graph) -> dict[str, str]:
    """Leaves of a fabric without hosts: by names, else the side whose AS numbers differ, else the larger side."""
    named = [name for name in joined if word_of(name) == LEAF]
    sides = _sides(joined)
    if named or sides is None:
        return dict.fromkeys(named, "its name")
    if len(joined) == 2 and any(joined.values()):
        return dict.fromkeys(joined, "two switches back to back")
    numbers = [len({seen.devices[name].asn for name in side} - {0}) for side in sides]
    by_numbers = numbers[0] != numbers[1]
    sizes = numbers if by_numbers else [len(side) for side in sides]
    leaves = sides[sizes.index(max(sizes))]
    return dict.fromkeys(leaves, "AS numbers of their own" if by_numbers else "the larger side of the cables")


def _sides(joined: Graph) -> tuple[list[str], list[str]] | None:
    """The two sides of a bipartite graph."""
    color: dict[str, int] = {}
    for part in parts(joined):
        color[part[0]], queue = 0, deque(part[:1])
        while queue:
            name = queue.popleft()
            for other in joined[name]:
                if other not in color:
                    color[other] = 1 - color[name]
                    queue.append(other)
                elif color[other] == color[name]:
                    return None
    return [name for name, side in color.items() if side == 0], [name for name, side in color.items() if side == 1]


def _bare_leaves(seen: Seen, joined: Graph, result: Tiers) -> None:
    """Leaves without hosts among what is next to spines."""
    far = [name for name, level in result.level.items() if level == 2]
    if not far:
        return
    lower = _lower_side(seen, result)
    near = {name: {other for other in joined[name] if result.level[other] == 1} for name in far}
    pods = {name: at for at, part in enumerate(parts(_without(joined, far))) for name in part}
    shapes = {shape(name) for name, level in result.level.items() if level == 0}
    cores = {shape(name) for name in far} - shapes
    for name in far:
        word = word_of(name)
        if len({pods[other] for other in near[name]}) > 1:
            leaf, source = False, "joins spines that nothing else joins"
        elif lower is not None and (side := _side(seen, result, name)) is not None:
            leaf, source = side == lower, "addresses of its links"
        elif shape(name) in shapes:
            leaf, source = True, "a name like that of leaves"
        elif word:
            leaf, source = word == LEAF, "its name"
        else:
            alike = [other for other in far if set(joined[other]) == set(joined[name])]
            one = len({seen.devices[other].asn for other in alike}) == 1
            leaf, source = not (one and len(alike) > 1) and shape(name) not in cores, "AS numbers"
        result.source[name] = source
        if leaf:
            result.level[name] = 0


def _without(joined: Graph, names: Collection[str]) -> Graph:
    return {a: {b: n for b, n in near.items() if b not in names} for a, near in joined.items() if a not in names}


def _lower_side(seen: Seen, result: Tiers) -> bool | None:
    """Whether leaves have the first address of a link to a spine; None where neither is usual."""
    firsts = [first for name, level in result.level.items() if level == 0 for first in _firsts(seen, result, name)]
    share = sum(firsts) / len(firsts) if firsts else 0.5
    return None if 1 - CONVENTION < share < CONVENTION else share >= CONVENTION


def _side(seen: Seen, result: Tiers, name: str) -> bool | None:
    firsts = _firsts(seen, result, name)
    return sum(firsts) * 2 > len(firsts) if firsts else None


def _firsts(seen: Seen, result: Tiers, name: str) -> list[bool]:
    """Of each link to a spine, whether the device has its first address."""
    found: list[bool] = []
    own = seen.devices[name]
    for port in own.ports:
        end = seen.wiring.far.get((name, port))
        if end is None or result.level.get(end[0][0]) != 1:
            continue
        mine, theirs = _address(own, port), _address(seen.devices[end[0][0]], end[0][1])
        if mine and theirs:
            found.append((len(mine), mine) < (len(theirs), theirs))
    return found


def _address(own: Found, port: str) -> str:
    interface = own.facts.interfaces.get(port)
    return without_prefix_length(interface.addresses[0].value) if interface and interface.addresses else ""


def word_of(name: str) -> str:
    """The role that a name has a word for; "" where it has none or several."""
    found = [role for role, words in WORDS.items() if words.search(name)]
    return found[0] if len(found) == 1 else ""


def aside(joined: Graph, its: Tiers) -> list[str]:
    """What is in no tier: above cores, or joined to one switch below, to its own tier and to fewer above than others."""
    found: list[str] = []
    most = Counter[int]()
    for name, level in its.level.items():
        most[level] = max(most[level], sum(its.level[other] > level for other in joined[name]))
    for name, level in its.level.items():
        steps = Counter(its.level[other] - level for other in joined[name])
        if level >= len(ROLES) or (level and steps[-1] == 1 and steps[0] and 0 < steps[1] < most[level]):
            found.append(name)
    return sorted(found, key=natural)
