"""The moves fix everything, and there are no fewer that would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from hypothesis import given, settings, strategies as st

from fabric.audit.cabling.finding import PortLocation
from fabric.audit.cabling.moves import Shift, apply, figures
from tests import samples
from tests.audit.cabling.helpers import ALL, fresh, reported, verdict
from tests.audit.cabling.lldp_writers import Floor

Cable = frozenset[int]


def both(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


def any_cost(shifts: Sequence[Shift]) -> tuple[int, ...]:
    return tuple(shift.target for shift in shifts)


@st.composite
def floors(draw: st.DrawFn, most: int = 24, free: int = 4) -> tuple[dict[int, int], dict[int, int]]:
    """Planned links 0–1, 2–3, …, a few free ports, and any cables between all of these ports."""
    links = draw(st.integers(1, most // 2))
    ports = draw(st.permutations(range(2 * links + draw(st.integers(0, free)))))
    count = draw(st.integers(0, len(ports) // 2))
    laid = [(ports[2 * at], ports[2 * at + 1]) for at in range(count)]
    return both([(2 * at, 2 * at + 1) for at in range(links)]), both(laid)


@given(floors())
@settings(max_examples=samples.examples(180), deadline=None)
def test_after_the_moves_the_cables_are_as_planned(floor: tuple[dict[int, int], dict[int, int]]) -> None:
    planned, laid = floor
    made = figures(planned, laid, any_cost)
    shifts = [shift for figure in made for shift in figure.shifts]
    after = apply(laid, shifts, [figure.lacking for figure in made if figure.lacking])
    wrong = {a for a, b in laid.items() if planned.get(a) != b}
    assert all(planned.get(a) == b for a, b in after.items())
    assert {planned[a] for a in wrong if a in planned} <= after.keys()  # every port that a wrong cable had to do with
    assert len(shifts) == len(wrong) // 2  # one touch for each wrong cable
    assert all(laid[shift.kept] == shift.source for shift in shifts)


@given(floors())
@settings(max_examples=samples.examples(120), deadline=None)
def test_a_chain_is_fixed_in_its_order(floor: tuple[dict[int, int], dict[int, int]]) -> None:
    """Every target is free when its turn comes; a ring needs one cable pulled first."""
    planned, laid = floor
    for figure in figures(planned, laid, any_cost):
        now = dict(laid)
        for at, shift in enumerate(figure.shifts):
            if figure.ring and at == 0:
                now.pop(now.pop(shift.target))
            now.pop(shift.source, None)
            now.pop(shift.kept, None)
            if shift.target >= 0:
                assert shift.target not in now
                now |= {shift.target: shift.kept, shift.kept: shift.target}


@given(floors(most=6, free=1))
@settings(max_examples=samples.examples(36), deadline=None)
def test_no_fewer_moves_would_do(floor: tuple[dict[int, int], dict[int, int]]) -> None:
    """Against a search through everything that hands can do: take out, lay, or move one end of a cable."""
    planned, laid = floor
    made = figures(planned, laid, any_cost)
    ours = sum(len(figure.shifts) + (figure.lacking is not None) for figure in made)
    touched = {node for figure in made for node in figure.nodes}
    wanted = {frozenset(pair) for pair in planned.items() if touched & set(pair)}
    start = {frozenset(pair) for pair in laid.items() if touched & set(pair)}
    assert ours == search(start, wanted, sorted({*planned, *laid}))


def search(start: set[Cable], wanted: set[Cable], ports: Sequence[int]) -> int:
    """Fewest steps from one set of cables to another, breadth first; two cables may share a port on the way."""
    seen, frontier, steps = {frozenset(start)}, {frozenset(start)}, 0
    while frozenset(wanted) not in frontier:
        frontier = {after for cables in frontier for after in neighbors(cables, ports)} - seen
        seen |= frontier
        steps += 1
    return steps


def neighbors(cables: frozenset[Cable], ports: Sequence[int]) -> set[frozenset[Cable]]:
    found = {cables - {cable} for cable in cables}
    found |= {cables | {frozenset(pair)} for pair in combinations(ports, 2)}
    for cable in cables:
        for kept in cable:
            found |= {cables - {cable} | {frozenset((kept, port))} for port in ports if port != kept}
    return found


@given(st.data())
@settings(max_examples=samples.examples(15), deadline=None)
def test_a_permutation_of_cables_on_a_real_plan(data: st.DataObject) -> None:
    """Any upper ends exchanged at will: the reported moves, done by hand, give the plan back, one move a wrong cable."""
    floor = fresh("ai-cumulus")
    plan = floor.plan
    upper = [end for end in range(1, len(plan.device), 2) if plan.is_switch(plan.device[end ^ 1])]
    chosen = data.draw(st.lists(st.sampled_from(upper), min_size=2, max_size=10, unique=True))
    for end, there in zip(chosen, data.draw(st.permutations([end ^ 1 for end in chosen])), strict=True):
        floor.lay(end, there)
    wrong = sum(floor.mate[end] != end ^ 1 for end in chosen)
    found = verdict(floor, reported(floor, ALL))
    moves = [move for finding in found.findings for move in finding.moves]
    assert len(moves) == wrong
    assert found.as_planned == len(plan) - wrong
    by_hand(floor, [(move.kept, move.to) for move in moves if move.kept and move.to])
    assert floor.mate == fresh("ai-cumulus").mate


def by_hand(floor: Floor, moves: Sequence[tuple[PortLocation, PortLocation]]) -> None:
    ends: Mapping[tuple[str, str], int] = {
        (floor.plan.hosts.names[device], floor.plan.label[end]): end for end, device in enumerate(floor.plan.device)
    }
    for kept, to in moves:
        floor.lay(ends[kept.device, kept.port], ends[to.device, to.port])
