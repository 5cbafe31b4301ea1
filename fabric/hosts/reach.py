"""Which prefixes a port of a server reaches, from the blocks that a fabric's addresses come from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address, summarize_address_range

from fabric.plan.devices import LEAF
from fabric.plan.plan import FabricPlan

_KEY = "address/servers/"
Local = tuple[tuple[str, int], ...]  # (prefix, metric) of the main table; metric 0: none stated


@dataclass(frozen=True)
class Reach:
    """The reachable prefixes of one fabric. A rail has address blocks of its own where the design has rails."""

    fabric: FabricPlan

    @cached_property
    def areas(self) -> dict[str, tuple[str, ...]]:
        """Area of server addresses (a rail, or all racks) → its prefixes."""
        found = {}
        for key, blocks in self.fabric.blocks.items():
            if key.startswith(_KEY):
                runs = [(ip_address(block.base), ip_address(block.end - 1)) for block in blocks]
                found[key.removeprefix(_KEY)] = tuple(str(net) for run in runs for net in summarize_address_range(*run))
        return found

    @cached_property
    def area_of(self) -> dict[int, str]:
        """Leaf → the area that its servers' addresses lie in."""
        spans = [
            (block.base, block.end, key.removeprefix(_KEY))
            for key, blocks in self.fabric.blocks.items()
            if key.startswith(_KEY)
            for block in blocks
        ]
        return {
            leaf: next(name for low, end, name in spans if low <= first < end)
            for leaf, (first, _) in self.fabric.aggregate.items()
        }

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

    def everything(self, leaf: int) -> tuple[str, ...]:
        """What the port's own table sends to the leaf: whole pools where it reaches every area, since growth adds blocks."""
        areas = self.areas_from(leaf)
        if len(areas) == len(self.areas):
            return tuple(self.fabric.prefixes["servers"])
        return tuple(prefix for area in areas for prefix in self.areas[area])

    def local(self, leaves: tuple[int, ...], outside: tuple[str, ...], base: int) -> tuple[Local, ...]:
        """Per port (at these leaves) of one server, what the main table sends over it.

        A rail's own prefix goes over the rail's port. Where several ports serve a prefix the metric orders them, from
        `base` on, so that the next one takes over when the first is down. Areas that no own port is in, and the outside
        world, go over the ports that reach them, in the same order.
        """
        own = [self.area_of.get(leaf, "") for leaf in leaves]
        routes: list[list[tuple[str, int]]] = []
        for at, leaf in enumerate(leaves):
            here: list[tuple[str, int]] = []
            if own[at]:
                alone = own.count(own[at]) == 1
                metric = 0 if alone else base + own[:at].count(own[at])
                here += [(prefix, metric) for prefix in self.areas[own[at]]]
            others = [area for area in self.areas_from(leaf) if area not in own]
            here += [(prefix, base + at) for area in others for prefix in self.areas[area]]
            here += [(prefix, base + at) for prefix in outside]
            routes.append(here)
        return tuple(tuple(here) for here in routes)
