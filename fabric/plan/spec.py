"""One fabric with its hardware looked up and its defaults chosen: what it is sized from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fabric.catalog.models import NicSet, ServerModel, SwitchModel
from fabric.diagnostics import Place
from fabric.plan.lengths import NONE, Lengths
from fabric.plan.links import KINDS

if TYPE_CHECKING:
    from fabric.intent.site import Fabric
    from fabric.source import Source


@dataclass(frozen=True)
class GroupSpec:
    """Servers of one kind."""

    name: str
    model: str
    server: ServerModel
    nics: str  # purpose of the NICs that this fabric connects
    nic: NicSet
    count: int
    planned: int  # at least `count`
    per_rack: int | None
    unit_servers: int | None  # None: as many as half the leaf's bandwidth carries
    full: bool
    held: tuple[int, ...] = ()  # places over all units that attached boxes have, sorted

    def places(self, servers: int) -> int:
        """Places that so many servers reach over, those of attached boxes among them included."""
        for place in self.held:
            servers += place < servers
        return servers


@dataclass(frozen=True)
class TierSpec:
    """The switches of one tier."""

    switch: str
    model: SwitchModel


@dataclass(frozen=True)
class FabricSpec:
    """One fabric, ready to be sized."""

    name: str
    intent: Fabric
    source: Source
    kind: str
    groups: tuple[GroupSpec, ...]
    leaf: TierSpec
    spine: TierSpec
    core: TierSpec
    leaf_ratio: Fraction  # ceiling of the leaf's oversubscription
    spine_ratio: Fraction
    lengths: Lengths = NONE  # of cables by kind of link; until the fabric is sized those that are stated

    def at(self, *path: str | int) -> Place:
        """Where a key of this fabric stands in the intent."""
        return self.source.place(("fabrics", self.name, *path))

    def stated(self, *path: str | int) -> bool:
        """Whether the intent writes this key."""
        return self.source.has(("fabrics", self.name, *path))

    @property
    def planes(self) -> int:
        return self.intent.topology.planes

    @property
    def reserve(self) -> bool:
        """Whether cables run where the finished fabric has them."""
        wish = self.intent.planned
        if wish is not None and wish.uplinks == "recable":
            return False
        return wish is not None or any(group.planned is not None for group in self.intent.servers)

    @property
    def ethernet(self) -> bool:
        return self.leaf.model.technology == "ethernet"

    @property
    def length_m(self) -> dict[str, int]:
        """Metres of cable by kind of link; 0 for a kind that the fabric has not."""
        return {kind: length.metres for kind, length in zip(KINDS, self.lengths, strict=True)}

    def leaves_per_nic(self, group: GroupSpec) -> int:
        """Leaves that the ports of one NIC are spread over."""
        return group.nic.ports if self.intent.topology.dual_tor else self.planes

    def rails(self, group: GroupSpec) -> int:
        """Rails of a unit: one per NIC unless stated; racks and collapsed pairs know none."""
        if self.kind in ("rack", "collapsed"):
            return 1
        return self.intent.topology.rails or group.nic.count

    @property
    def networks(self) -> int:
        """Isolated networks: planes, times the rails when every rail is a Clos of its own."""
        return self.planes * (self.rails(self.groups[0]) if self.kind == "rail-only" else 1)
