"""One fabric with its hardware looked up and its defaults set: the input of sizing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fabric.base.diagnostics import Place
from fabric.hardware.catalog.models import NicSet, ServerModel, SwitchModel
from fabric.model.plan.lengths import NONE, Lengths
from fabric.model.plan.links import KINDS
from fabric.model.plan.positions import Positions
from fabric.model.plan.settings import Constraints, Release, SiteSettings
from fabric.model.settings.addressing import Names, Pin, Pools, Underlay
from fabric.model.settings.services import Management, Overlay, Qos, Tenant
from fabric.model.settings.topology import Attachment


@dataclass(frozen=True, kw_only=True)
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
    held: tuple[int, ...] = ()  # places over all units that attachments hold, sorted

    def places(self, servers: int) -> int:
        """Places that so many servers span, with those of attachments between them."""
        for place in self.held:
            servers += place < servers
        return servers


@dataclass(frozen=True)
class TierSpec:
    """The switches of one tier."""

    switch: str
    model: SwitchModel
    nos: str | None  # network OS, where one is stated


@dataclass(frozen=True, kw_only=True)
class FabricSpec:
    """One fabric, ready to be sized."""

    name: str
    purpose: str
    positions: Positions
    kind: str
    groups: tuple[GroupSpec, ...]
    leaf: TierSpec
    spine: TierSpec
    core: TierSpec
    leaf_ratio: Fraction  # ceiling of the leaf's oversubscription
    spine_ratio: Fraction
    planes: int
    dual_tor: bool
    reserve: bool  # cables run where the finished fabric has them
    constraints: Constraints
    attachments: tuple[Attachment, ...]
    names: Names
    pins: Mapping[str, Pin]
    pools: Pools
    underlay: Underlay
    overlay: Overlay
    tenants: tuple[Tenant, ...]
    qos: Qos
    roce: bool  # it carries a lossless class
    management: Management
    own_management: bool  # not the site's
    releases: tuple[Release, ...]  # of the site, then of the fabric
    silence: Mapping[str, str]  # code → why it does not apply to this fabric
    transport: str  # of the collectives: roce, infiniband, efa, tcpx, tcpxo or slingshot
    lengths: Lengths = NONE  # of cables by kind of link; until the fabric is sized those that are stated

    def at(self, *path: str | int) -> Place:
        """The place of a key of this fabric in the intent."""
        return self.positions.at("fabrics", self.name, *path)

    def stated(self, *path: str | int) -> bool:
        """Whether the intent writes this key."""
        return self.positions.stated("fabrics", self.name, *path)

    def release(self, nos: str) -> str:
        """The release of a network OS; "" for the one that the target's page names."""
        return next((its.release for its in reversed(self.releases) if its.nos == nos), "")

    @property
    def isolation(self) -> str:
        """ "evpn", "vrf-lite", "acl", or "none": one routing table, which at most one tenant can have."""
        return "evpn" if self.overlay.kind == "evpn-vxlan" else self.overlay.isolation or "none"

    @property
    def bonds(self) -> bool:
        """Whether servers in layer-2 networks are cabled to two leaves each."""
        return any(tenant.networks for tenant in self.tenants) and (self.dual_tor or self.kind == "collapsed")

    @property
    def ethernet(self) -> bool:
        return self.leaf.model.technology == "ethernet"

    @property
    def length_m(self) -> dict[str, int]:
        """Metres of cable by kind of link; 0 for a kind that the fabric does not have."""
        return {kind: length.metres for kind, length in zip(KINDS, self.lengths, strict=True)}

    def leaves_per_nic(self, group: GroupSpec) -> int:
        """Leaves that the ports of one NIC are spread over."""
        return group.nic.ports if self.dual_tor else self.planes

    def rails(self, group: GroupSpec) -> int:
        """Rails of a unit: one per NIC unless stated; racks and collapsed-spine pairs know none."""
        if self.kind in ("rack", "collapsed"):
            return 1
        return self.constraints.rails or group.nic.count

    @property
    def networks(self) -> int:
        """Isolated networks: planes, times the rails when every rail is a Clos of its own."""
        return self.planes * (self.rails(self.groups[0]) if self.kind == "rail-only" else 1)


@dataclass(frozen=True)
class SiteSpec:
    """A site, ready to be sized: its intent with everything looked up, once for all stages."""

    site: str
    settings: SiteSettings
    fabrics: Mapping[str, FabricSpec]
