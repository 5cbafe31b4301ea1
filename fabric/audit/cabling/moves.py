"""The fewest moves that turn the cables as they are into the cables as planned.

Planned and laid cables each join a port to one other at most, so together they form chains and rings in which the two kinds
take turns. Every laid cable of a chain or ring is wrong and must be touched at least once; moving one end of each along the
figure, all in the same direction, touches each exactly once. So the number of moves is the least there can be: one for each
wrong cable, and a new cable where the plan has one more than there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shift:
    """One cable touched: held at `kept`, its other end goes from `source` to `target`; -1: it is taken out."""

    kept: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A chain or ring of ports, joined by planned and laid cables in turn, and the moves that fix it."""

    nodes: tuple[int, ...]
    ring: bool
    shifts: tuple[Shift, ...]  # in an order in which every target is free, but for the last of a ring
    lacking: tuple[int, int] | None = None  # a planned cable for which there is none


Cost = Callable[[Sequence[Shift]], tuple[int, ...]]


def figures(planned: Mapping[int, int], laid: Mapping[int, int], cost: Cost) -> list[Figure]:
    """Every chain and ring with a laid cable in it that is not as planned.

    Args:
        planned: port → port, in both directions. laid: likewise.
        cost: what decides between the two directions, the smaller the better.
    """
    wrong = {a: b for a, b in laid.items() if planned.get(a) != b}
    seen: set[int] = set()
    result = []
    for start in sorted(wrong):
        if start not in seen:
            nodes, ring = _figure(start, planned, wrong)
            seen.update(nodes)
            result.append(_fixed(nodes, ring, wrong, cost))
    return result


def _figure(start: int, planned: Mapping[int, int], laid: Mapping[int, int]) -> tuple[list[int], bool]:
    """The ports on both sides of one, in order; a ring begins with a laid cable."""
    ahead = _walk(start, (laid, planned))
    if len(ahead) > 1 and ahead[-1] == start:
        return ahead[:-1], True
    behind = _walk(start, (planned, laid))
    return [*reversed(behind[1:]), *ahead], False


def _walk(start: int, steps: tuple[Mapping[int, int], Mapping[int, int]]) -> list[int]:
    found, at = [start], start
    while True:
        following = steps[(len(found) - 1) % 2].get(at)
        if following is None:
            return found
        found.append(following)
        if following == start:
            return found
        at = following


def _fixed(nodes: list[int], ring: bool, laid: Mapping[int, int], cost: Cost) -> Figure:
    """The cheaper of the two directions."""
    if ring:
        back = [nodes[0], *reversed(nodes[1:])]
        rings = [_round(nodes), _round([back[-1], *back[:-1]])]
        return min((Figure(tuple(nodes), True, shifts) for shifts in rings), key=lambda figure: cost(figure.shifts))
    directions = [_along(nodes, laid), _along(nodes[::-1], laid)]
    chosen, lacking = min(directions, key=lambda found: (found[1] is not None, cost(found[0])))
    return Figure(tuple(nodes), False, chosen, lacking)


def _round(nodes: Sequence[int]) -> tuple[Shift, ...]:
    """A ring n0 laid n1 planned n2 laid …: each cable is held at its first port, which belongs to the port before it."""
    return tuple(Shift(nodes[at], nodes[at + 1], nodes[at - 1]) for at in range(0, len(nodes), 2))


def _along(nodes: Sequence[int], laid: Mapping[int, int]) -> tuple[tuple[Shift, ...], tuple[int, int] | None]:
    """A chain: each cable goes to the port before it; the first is taken out where there is none."""
    begin = 0 if laid.get(nodes[0]) == nodes[1] else 1
    shifts = [Shift(nodes[at], nodes[at + 1], nodes[at - 1] if at else -1) for at in range(begin, len(nodes) - 1, 2)]
    ends_planned = (len(nodes) - 1 - begin) % 2 == 0
    return tuple(shifts), (nodes[-2], nodes[-1]) if ends_planned else None


def apply(laid: Mapping[int, int], shifts: Iterable[Shift], new: Iterable[tuple[int, int]] = ()) -> dict[int, int]:
    """The cables after all moves: those touched are pulled first, so that rings have room."""
    shifts = list(shifts)
    after = dict(laid)
    for shift in shifts:
        after.pop(shift.kept, None)
        after.pop(shift.source, None)
    for a, b in [*((shift.kept, shift.target) for shift in shifts if shift.target >= 0), *new]:
        after[a], after[b] = b, a
    return after
