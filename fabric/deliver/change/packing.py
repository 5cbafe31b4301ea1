"""Waves: the fewest groups of switches that a fabric can lose one group after the other, and never more at once.

What a set of switches costs is not a sum. A plane that has lost its spines loses nothing with its leaves, a second spine of
the same number in another pod is free. So waves are filled along runs, orders in which what is cheap together stands
together, each as far as the floor allows; of several orders the one with the fewest waves counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from fabric.base.grouping import grouped
from fabric.model.plan import CORE, LEAF, SPINE
from fabric.solver.capacity.outages import Out, Outages

TINY = 1e-9  # of a share
MAX_MEASURED_LINKS = 1_500_000  # in all measurements together, before no further order is tried

Run = tuple[Out, ...]


@dataclass(frozen=True)
class Refused:
    """Switches that the floor does not allow to go at all, not even alone."""

    devices: Out
    left: float


@dataclass
class Packer:
    """Fills waves.

    Attributes:
        outages: what the network keeps.
        floor: share of its capacity that is always left.
    """

    outages: Outages
    floor: float

    def fits(self, out: Out) -> bool:
        """Whether a set of switches may be out of service at once."""
        return self.outages.keeps_redundancy((), out) and self.outages.left(out) >= self.floor - TINY

    def pack(self, items: Sequence[Out]) -> tuple[list[list[Out]], list[Refused]]:
        """(waves of items, items that fit into none); the switches of an item go together."""
        best: tuple[list[list[Out]], list[Refused]] = ([], [])
        for number, runs in enumerate(self._orders(items)):
            waves, refused = self._filled(runs)
            waves = self._dissolved(waves)
            if not number or (len(refused), len(waves)) < (len(best[1]), len(best[0])):
                best = waves, refused
            if self._is_enough():
                break
        return best

    def in_sequence(self, items: Sequence[Out], taken: Sequence[Out]) -> int:
        """How many of the items fit one after the other with what is taken already."""
        return self._longest(frozenset().union(*taken), items)

    def _is_enough(self) -> bool:
        """Whether further orders would take too long."""
        return self.outages.measured * self.outages.net.links > MAX_MEASURED_LINKS

    # --- one order --------------------------------------------------------------------------------------------

    def _filled(self, runs: Sequence[Run]) -> tuple[list[list[Out]], list[Refused]]:
        """(waves, items that fit into none): every wave takes of each run what fits."""
        waves: list[list[Out]] = []
        refused: list[Refused] = []
        remaining, lengths = [list(run) for run in runs], [1] * len(runs)
        while any(remaining):
            wave: list[Out] = []
            out: Out = frozenset()
            for at, run in enumerate(remaining):
                chosen = self._apart(out, run)
                taken = chosen[: self._longest(out, chosen, lengths[at])]
                if taken:
                    lengths[at] = len(taken)
                    wave, out, gone = wave + taken, out.union(*taken), set(taken)
                    remaining[at] = [item for item in run if item not in gone]
            if wave:
                waves.append(wave)
                continue
            first = next(run.pop(0) for run in remaining if run)
            left = self.outages.left(first)
            if left < self.floor - TINY:
                refused.append(Refused(first, left))
            else:  # switches that go together anyway, all of a pair
                waves.append([first])
        return waves, refused

    def _apart(self, out: Out, run: Sequence[Out]) -> list[Out]:
        """The items of a run that leave what is redundant a leaf, beside those before them."""
        chosen: list[Out] = []
        gone = set(out)
        for item in run:
            if self.outages.keeps_redundancy(gone, item):
                chosen.append(item)
                gone |= item
        return chosen

    def _longest(self, out: Out, run: Sequence[Out], guess: int = 1) -> int:
        """The most items from the beginning of a run that fit beside a set: by doubled steps from a guess, then by halves."""
        low, high, step = 0, len(run) + 1, 1
        at = min(guess, len(run))
        while high - low > 1:
            low, high = (at, high) if self.fits(out.union(*run[:at])) else (low, at)
            halved, further = (low + high) // 2, min(low + step, high - 1) if low else max(high - step, 1)
            at = halved if low and high <= len(run) else further
            step *= 2
        for end in self._ends(run, low):  # all cores of a group cost less than some of them
            if not self.fits(out.union(*run[:end])):
                break
            low = end
        return low

    def _ends(self, run: Sequence[Out], start: int) -> Iterator[int]:
        """Lengths of a run, above one, at which the last of those that share their cores is taken."""
        levels, group = self.outages.net.level, self.outages.group
        for end in range(start + 1, len(run) + 1):
            last = min(run[end - 1])
            if levels[last] > 1 and (end == len(run) or group(min(run[end])) != group(last)):
                yield end

    def _dissolved(self, waves: list[list[Out]]) -> list[list[Out]]:
        """Without waves whose items fit into others, the smallest first."""
        for wave in sorted(waves, key=len):
            others = [list(other) for other in waves if other is not wave]
            if self._is_enough() or not others:
                break
            if all(self._placed(item, others) for item in wave):
                return self._dissolved(others)
        return waves

    def _placed(self, item: Out, waves: Sequence[list[Out]]) -> bool:
        for wave in waves:
            if self.fits(item.union(*wave)):
                wave.append(item)
                return True
        return False

    # --- orders -----------------------------------------------------------------------------------------------

    def _orders(self, items: Sequence[Out]) -> Iterator[list[Run]]:
        """Runs by failure domain first: plane by plane, in it spines that share their cores, leaves of a rail or side."""
        spots = self._spots(items)
        above, down, up = map(_by_role, ((SPINE, CORE, LEAF), (CORE, SPINE, LEAF), (LEAF, SPINE, CORE)))
        for order in (above, up):
            yield _runs(spots, _joined(_part, order), _by_side)
        yield _runs(spots, above, _joined(_by_side, _part))
        for key in (_by_side, _by_unit):
            yield _runs(spots, up, _joined(_part, key))
            yield _runs(spots, down, _joined(key, _part))
            for part in (_part, _anywhere):
                yield _runs(_in_proportion(spots, part, key), part, _by_share)

    def _spots(self, items: Sequence[Out]) -> list[Spot]:
        devices = self.outages.net.fabric.devices
        position, seen = dict[int, int](), Counter[tuple[int, int, int]]()
        for device in devices:
            place = int(self.outages.base.part[device.index]), device.pod, device.unit
            position[device.index] = seen[place]
            seen[place] += device.role == LEAF
        spots = []
        for item in sorted(items, key=min):
            first = devices[min(item)]
            role = first.role if first.role in (SPINE, CORE) else LEAF
            spot = Spot(
                item=item,
                part=int(self.outages.base.part[first.index]),
                role=role,
                pod=first.pod,
                group=first.unit if role == LEAF else self.outages.group(first.index),
                position=position[first.index],
                number=first.number,
            )
            spots.append(spot)
        return spots


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where an item stands in the fabric."""

    item: Out
    part: int  # isolated network
    role: str
    pod: int
    group: int  # unit of leaves; spines and cores: those that share their cores
    position: int  # in the unit
    number: int
    share: float = 0.0  # of its tier that is before it


Key = Callable[[Spot], tuple[float, ...]]


def _by_side(spot: Spot) -> tuple[float, ...]:
    """Leaves at the same place of their units: a rail, a side of pairs."""
    return (spot.position, spot.pod, spot.number) if spot.role == LEAF else (spot.group, spot.pod, spot.number)


def _by_unit(spot: Spot) -> tuple[float, ...]:
    return (spot.pod, spot.group, spot.number) if spot.role == LEAF else (spot.group, spot.pod, spot.number)


def _by_share(spot: Spot) -> tuple[float, ...]:
    return spot.share, spot.number


def _part(spot: Spot) -> tuple[float, ...]:
    return (spot.part,)


def _anywhere(spot: Spot) -> tuple[float, ...]:
    return ()


def _by_role(roles: Sequence[str]) -> Key:
    return lambda spot: (roles.index(spot.role),)


def _joined(first: Key, second: Key) -> Key:
    return lambda spot: (*first(spot), *second(spot))


def _runs(spots: Iterable[Spot], run: Key, key: Key) -> list[Run]:
    """Runs in the order of their number, the items of each in the order of a key."""
    ordered = sorted(spots, key=lambda spot: (run(spot), key(spot), sorted(spot.item)))
    return [tuple(spot.item for spot in group) for _, group in groupby(ordered, key=run)]


def _in_proportion(spots: Sequence[Spot], part: Key, key: Key) -> list[Spot]:
    """Each with the share of its tier that is before it, so that tiers go at the same time."""
    tiers = grouped(((spot.role, part(spot)), spot) for spot in sorted(spots, key=key))
    return [replace(spot, share=(at + 0.5) / len(tier)) for tier in tiers.values() for at, spot in enumerate(tier)]
