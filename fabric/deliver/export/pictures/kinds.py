"""Racks of a floor that hold the same, put together: what a rack elevation shows once instead of five hundred times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fabric.base.grouping import grouped
from fabric.base.text import counted
from fabric.deliver.export.spans import runs
from fabric.design.floor.floor import Floor, Rack
from fabric.design.floor.layout import row_letters
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device, Plan

UNFOLDED = 6  # racks of a site that is drawn rack by rack
_NOUNS = {
    CORE: ("core", ""),
    SPINE: ("spine", ""),
    LEAF: ("leaf", "leaves"),
    SERVER: ("server", ""),
    ATTACHED: ("attachment", ""),
}


@dataclass(frozen=True)
class Mounted:
    """A device in its rack."""

    ru: int  # the lowest rack unit it takes, from 1
    height: int  # rack units
    device: Device
    gpus: int

    @property
    def look(self) -> tuple[int, int, str, str, int]:
        """What makes it equal to one of another rack; rails tell leaves apart."""
        device = self.device
        return self.ru, self.height, device.role, device.model, device.rail if device.role == LEAF else -1


@dataclass(frozen=True)
class Kind:
    """Racks that hold the same at the same height."""

    racks: tuple[Rack, ...]
    mounted: tuple[Mounted, ...]  # of the first of them, from the bottom

    @property
    def holds(self) -> list[str]:
        """`8 leaves`, `4 servers`, `32 GPUs` in each rack."""
        roles = Counter(item.device.role for item in self.mounted)
        gpus = sum(item.gpus for item in self.mounted)
        found = [counted(roles[role], *_NOUNS[role]) for role in _NOUNS if roles[role]]
        return found + ([counted(gpus, "GPU")] if gpus else [])

    @property
    def role(self) -> str:
        """Of what takes the most of it."""
        space: Counter[str] = Counter()
        for item in self.mounted:
            space[item.device.role] += item.height
        return max(_NOUNS, key=lambda role: space[role])

    @property
    def where(self) -> str:
        """`A03–14, B01–18`."""
        rows = grouped((rack.row, rack.place) for rack in self.racks)
        return ", ".join(_run(row, places) for row, places in sorted(rows.items()))


def _run(row: int, places: Sequence[int]) -> str:
    """`A03–14, 16`."""
    return row_letters(row) + runs([place + 1 for place in places], digits=2)


def kinds(plan: Plan, floor: Floor) -> list[Kind]:
    """The kinds of racks by their first rack; of a small site every rack is one of its own."""
    held = _held(plan, floor)
    found: dict[object, list[int]] = {}
    for at, mounted in enumerate(held):
        key = tuple(item.look for item in mounted) if len(floor.racks) > UNFOLDED else at
        found.setdefault(key, []).append(at)
    return [Kind(tuple(floor.racks[at] for at in racks), held[racks[0]]) for racks in found.values()]


def _held(plan: Plan, floor: Floor) -> list[tuple[Mounted, ...]]:
    """Of every rack what is in it; a server of several fabrics is there once."""
    held: list[list[Mounted]] = [[] for _ in floor.racks]
    seen: set[str] = set()
    for fabric in plan.fabrics.values():
        gpus = {group.name: group.server.gpus for group in fabric.spec.groups}
        for device in fabric.devices:
            if device.name in floor.spots and device.name not in seen:
                seen.add(device.name)
                spot = floor.spots[device.name]
                server_gpus = gpus.get(device.group, 0) if device.role == SERVER else 0
                held[spot.rack].append(Mounted(spot.ru, spot.height, device, server_gpus))
    return [tuple(sorted(mounted, key=lambda item: (item.ru, item.device.name))) for mounted in held]


@dataclass(frozen=True)
class RowsAlike:
    """Rows of a floor with the same kinds at the same places."""

    rows: tuple[int, ...]
    kinds: tuple[tuple[int, int], ...]  # place and kind of each rack, from 0

    @property
    def label(self) -> str:
        """`row C`, `32 rows C–AH`."""
        if len(self.rows) == 1:
            return f"row {row_letters(self.rows[0])}"
        whole = self.rows[-1] - self.rows[0] == len(self.rows) - 1
        return f"{len(self.rows)} rows {row_letters(self.rows[0])}{'–' if whole else ' … '}{row_letters(self.rows[-1])}"


def rows(found: Sequence[Kind]) -> list[RowsAlike]:
    """The rows of a floor, those that are alike put together."""
    racks: dict[int, list[tuple[int, int]]] = {}
    for at, kind in enumerate(found):
        for rack in kind.racks:
            racks.setdefault(rack.row, []).append((rack.place, at))
    alike = grouped((tuple(sorted(racks[row])), row) for row in sorted(racks))
    return [RowsAlike(tuple(numbers), pattern) for pattern, numbers in alike.items()]
