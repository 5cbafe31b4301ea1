"""Which prefixes a port of a server reaches, from the blocks that a fabric's addresses come from.

Growth adds blocks behind those that are there. So that the files of servers in service stay as they are, a server's
main table names no block that was added after its own, and sends the rest of the pool over any port.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address, summarize_address_range

from fabric.model.plan import LEAF, Block, FabricPlan

_KEY = "address/servers/"
Local = tuple[tuple[str, int], ...]  # (prefix, metric) of the main table; metric 0: none stated


@dataclass(frozen=True)
class Reach:
    """The reachable prefixes of one fabric. A rail has address blocks of its own where the design has rails."""

    fabric: FabricPlan

    @cached_property
    def _blocks(self) -> dict[str, tuple[tuple[int, int, tuple[str, ...]], ...]]:
        """Area of server addresses (a rail, or all racks) → its blocks: first address, end and prefixes, oldest first."""
        return {
            key.removeprefix(_KEY): tuple((block.base, block.end, _prefixes(block)) for block in blocks)
            for key, blocks in self.fabric.blocks.items()
            if key.startswith(_KEY)
        }

    @cached_property
    def areas(self) -> dict[str, tuple[str, ...]]:
        """Area → its prefixes."""
        return {name: tuple(prefix for *_, own in rows for prefix in own) for name, rows in self._blocks.items()}

    @cached_property
    def _place(self) -> dict[int, tuple[str, int]]:
        """Leaf → the area that its servers' addresses lie in, and in which of the area's blocks."""
        spans = [(low, end, (name, at)) for name, rows in self._blocks.items() for at, (low, end, _) in enumerate(rows)]
        return {
            leaf: next(place for low, end, place in spans if low <= first < end)
            for leaf, (first, _) in self.fabric.aggregate.items()
        }

    @cached_property
    def area_of(self) -> dict[int, str]:
        """Leaf → the area that its servers' addresses lie in."""
        return {leaf: name for leaf, (name, _) in self._place.items()}

    def up_to(self, leaf: int) -> tuple[str, ...]:
        """The prefixes of a leaf's area up to the leaf's own block: those that were there when its servers came."""
        name, last = self._place[leaf]
        return tuple(prefix for *_, own in self._blocks[name][: last + 1] for prefix in own)

    @cached_property
    def _by_network(self) -> dict[tuple[int, int], tuple[str, ...]]:
        """Isolated network → areas in it, in order."""
        found: dict[tuple[int, int], dict[str, None]] = {}
        for device in self.fabric.devices:
            if device.role == LEAF and device.index in self.area_of:
                found.setdefault(self._network(device.index), {})[self.area_of[device.index]] = None
        return {network: tuple(areas) for network, areas in found.items()}

    def _network(self, leaf: int) -> tuple[int, int]:
        device = self.fabric.devices[leaf]
        return device.plane, device.rail if self.fabric.spec.kind == "rail-only" else -1

    def areas_from(self, leaf: int) -> tuple[str, ...]:
        """Areas that a port at this leaf reaches: not those of other planes, nor of other rails of a rail-only fabric."""
        return self._by_network.get(self._network(leaf), ())

    @cached_property
    def whole(self) -> bool:
        """Whether every port reaches every address of the fabric."""
        return len(self._by_network) <= 1

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(self.fabric.prefixes["servers"])

    def everything(self, leaf: int) -> tuple[str, ...]:
        """What the port's own table sends to the leaf: whole pools where it reaches all of the fabric."""
        if self.whole:
            return self.pools
        return tuple(prefix for area in self.areas_from(leaf) for prefix in self.areas[area])

    def local(self, leaves: tuple[int, ...], base: int, alone: bool) -> tuple[Local, ...]:
        """Per port (at these leaves) of one server, what the main table sends over it.

        A rail's own prefix goes over the rail's port. Where several ports serve a prefix the metric orders them, from
        `base` on, so that the next one takes over when the first is down. What no own port is in goes over the ports
        that reach it, in the same order: the whole pools where no other fabric has addresses of them (`alone`), else
        the areas one by one.
        """
        areas = [self.area_of.get(leaf, "") for leaf in leaves]
        pooled = alone and self.whole
        routes: list[Local] = []
        for position, leaf in enumerate(leaves):
            here: dict[str, int] = {}
            if areas[position]:
                metric = 0 if areas.count(areas[position]) == 1 else base + areas[:position].count(areas[position])
                here |= dict.fromkeys(self.up_to(leaf) if pooled else self.areas[areas[position]], metric)
            others = [area for area in self.areas_from(leaf) if area not in areas]
            rest = self.pools if pooled else [prefix for area in others for prefix in self.areas[area]]
            routes.append((*here.items(), *[(prefix, base + position) for prefix in rest if prefix not in here]))
        return tuple(routes)


def _prefixes(block: Block) -> tuple[str, ...]:
    ends = ip_address(block.base), ip_address(block.end - 1)
    return tuple(str(net) for net in summarize_address_range(*ends))
