"""A fabric as the parts that a picture shows: pods of spines and units, units of leaves and servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from fabric.base.formats import text_width
from fabric.base.grouping import grouped
from fabric.base.text import counted
from fabric.model.plan import LEAF, SERVER, SPINE, Device, FabricPlan

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class UnitPart:
    """Servers that share leaves."""

    label: str
    model: str
    leaves: tuple[Device, ...]
    servers: int
    room: int  # servers of a full unit
    gpus: int

    @property
    def planes(self) -> list[list[Device]]:
        """The leaves by plane, rails in order."""
        planes = sorted({leaf.plane for leaf in self.leaves})
        return [[leaf for leaf in self.leaves if leaf.plane == plane] for plane in planes]

    def servers_text(self, room: float) -> str:
        """How many servers there are; of how many, where some are missing."""
        if self.servers == self.room:
            return counted(self.servers, "server")
        text = f"{self.servers} of {self.room} servers"
        return text if text_width(text, 12, bold=True) <= room else text.removesuffix(" servers")


@dataclass(frozen=True)
class PodPart:
    """Spines and the units below them; without a third tier the whole fabric."""

    label: str
    group: str
    spines: tuple[Device, ...]
    units: tuple[tuple[UnitPart, ...], ...]  # of each server group

    @property
    def all_units(self) -> tuple[UnitPart, ...]:
        return tuple(unit for group in self.units for unit in group)


@dataclass(frozen=True)
class Gap:
    """Things that are left out of the picture."""

    count: int


def condense(items: Sequence[T], most: int) -> list[T | Gap]:
    """All of them, or the first two and the last with what is missing between them."""
    if len(items) <= max(most, 3):
        return list(items)
    return [*items[:2], Gap(len(items) - 3), items[-1]]


def pods(fabric: FabricPlan, switches: Sequence[Device]) -> list[tuple[PodPart, ...]]:
    """The pods of each server group, of these switches; in two tiers one pod of them all."""
    spines = [device for device in switches if device.role == SPINE]
    units = _units(fabric, switches)
    if fabric.sizing.tiers < 3:
        whole = tuple(tuple(part for _, part in named) for named in units.values())
        return [(PodPart("", "", tuple(spines), whole),)]
    result = []
    for group, named in units.items():
        numbers = sorted({pod for pod, _ in named})
        result.append(tuple(_pod(group, spines, tuple(part for pod, part in named if pod == n)) for n in numbers))
    return result


def _pod(group: str, spines: Sequence[Device], units: tuple[UnitPart, ...]) -> PodPart:
    """The pod of some units; the pods of their rails, where each has its own."""
    numbers = sorted({leaf.pod for unit in units for leaf in unit.leaves})
    label = f"pod {numbers[0] + 1}" if len(numbers) == 1 else f"pods {numbers[0] + 1} to {numbers[-1] + 1}"
    return PodPart(label, group, tuple(spine for spine in spines if spine.pod in numbers), (units,))


def _units(fabric: FabricPlan, switches: Sequence[Device]) -> dict[str, list[tuple[int, UnitPart]]]:
    """(pod, unit) of every server group, by number."""
    leaves = grouped(((device.group, device.unit), device) for device in switches if device.role == LEAF)
    servers = Counter((d.group, d.unit) for d in fabric.devices if d.role == SERVER)
    result: dict[str, list[tuple[int, UnitPart]]] = {}
    for spec, size in zip(fabric.spec.groups, fabric.sizing.groups, strict=True):
        keys = sorted(key for key in leaves if key[0] == size.name)
        result[size.name] = [
            (
                leaves[key][0].pod,
                UnitPart(
                    label=f"unit {key[1] + 1}",
                    model=spec.model,
                    leaves=tuple(leaves[key]),
                    servers=servers[key],
                    room=size.unit_servers,
                    gpus=servers[key] * spec.server.gpus,
                ),
            )
            for key in keys
        ]
    return result
