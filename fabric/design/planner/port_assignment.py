"""Which port of a switch each link takes, so that growth moves as few cables as possible.

Between two tiers every lower switch has `links` links to each of `uppers` upper switches. When these numbers change,
the links that exist keep their ports and new ones take the freed ports in order; replaying the history of the numbers
gives every port, so none is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fabric.model.plan import Epoch, Ints


def now(history: Sequence[Epoch], current: Epoch) -> tuple[Epoch, ...]:
    """The history followed by the present numbers; equal numbers only move the count of lowers on."""
    if history and same(history[-1], current):
        return (*history[:-1], current)
    return (*history, current)


def continued(
    earlier: Sequence[Epoch], current: Epoch, groups: Sequence[str], uplinks: Mapping[str, int], downlinks: int
) -> tuple[Epoch, ...]:
    """The history followed by the present numbers, or these alone when a link would keep a port that no longer exists.

    Args:
        groups: group of every lower switch.
        uplinks: ports up of a lower switch of each group.
        downlinks: ports down of an upper switch.
    """
    history = now(earlier, current)
    if len(history) == 1:
        return history
    if _work(history, groups) > MAX_REPLAYED_PORTS:
        return (current,)
    fits = all(lower_slots(history, group).max(initial=-1) < count for group, count in uplinks.items())
    fits = fits and all(slots.max(initial=-1) < downlinks for slots in upper_slots(history, groups))
    return history if fits else (current,)


MAX_REPLAYED_PORTS = 20_000_000


def _work(history: Sequence[Epoch], groups: Sequence[str]) -> int:
    """Ports that a replay assigns: a real history is far below the limit, a damaged one must not slow down the planner."""
    widest = (max((links for _, links in epoch.links), default=0) for epoch in history)
    return sum(links * (epoch.uppers + min(epoch.lowers, len(groups))) for links, epoch in zip(widest, history, strict=True))


def same(old: Epoch, new: Epoch) -> bool:
    """Whether the numbers of an epoch still hold in another, which may have more groups."""
    return old.uppers == new.uppers and set(old.links) <= set(new.links)


def lower_slots(history: Sequence[Epoch], group: str) -> Ints:
    """slot[upper, link]: the uplink of a lower switch of the group, from 0."""
    slot: dict[tuple[int, int], int] = {}
    for epoch in history:
        links = epoch.of(group)
        links_in_order = [(upper, link) for upper in range(epoch.uppers) for link in range(links)]
        slot = _refill({key: port for key, port in slot.items() if key[0] < epoch.uppers and key[1] < links}, links_in_order)
    last = history[-1]
    links = last.of(group)
    table = np.empty((last.uppers, links), dtype=np.int64)
    for (upper, link), port in slot.items():
        table[upper, link] = port
    return table


def upper_slots(history: Sequence[Epoch], groups: Sequence[str]) -> list[Ints]:
    """Downlink slots on the upper switches, from 0, of the links of each lower switch: [links] per switch.

    In order of arrival. `groups` has the group of every lower switch of the finished fabric.
    """
    if len(history) == 1:  # the usual case, without the replay
        slots, first = [], 0
        for group in groups:
            slots.append(np.arange(first, first + history[0].of(group), dtype=np.int64))
            first += history[0].of(group)
        return slots
    taken: dict[tuple[int, int], int] = {}
    for index, epoch in enumerate(history):
        lowers = min(epoch.lowers, len(groups)) if index < len(history) - 1 else len(groups)
        links = [epoch.of(group) for group in groups]
        links_in_order = [(lower, link) for lower in range(lowers) for link in range(links[lower])]
        remaining = {key: port for key, port in taken.items() if key[0] < lowers and key[1] < links[key[0]]}
        taken = _refill(remaining, links_in_order)
    last = history[-1]
    return [
        np.array([taken[lower, link] for link in range(last.of(group))], dtype=np.int64) for lower, group in enumerate(groups)
    ]


def _refill(known: dict[tuple[int, int], int], links: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Keeps known ports, assigns the free ports to the others in order."""
    used = set(known.values())
    free = (port for port in range(len(used) + len(links)) if port not in used)
    return {key: known[key] if key in known else next(free) for key in links}
