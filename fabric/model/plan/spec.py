"""What an intent settles for a site and its fabrics, every default chosen: the input of sizing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.source import Source
from fabric.hardware.catalog.models import NicSet, ServerModel, SwitchModel
from fabric.model.plan.patching import PanelRule
from fabric.model.plan.topology import KINDS, NONE, Lengths
from fabric.model.settings.addressing import Names, NicNames, Pin, Pools, StatedLinks, Underlay
from fabric.model.settings.cluster import NetworkOperator
from fabric.model.settings.infiniband import Infiniband
from fabric.model.settings.services import Management, Output, Overlay, Override, Qos, Tenant
from fabric.model.settings.site import PURPOSES, Attachment, Below, Floor, Home, PodRule, Uplinks

BACK_TO_BACK, RING = SWITCHLESS = ("back-to-back", "ring")  # kinds of topology without switches
VXLAN_FRAME_BYTES = 56  # outer Ethernet with a tag, IPv4, UDP, VXLAN, up to a multiple of eight

# --- Positions of keys: what a finding of a plan points at ----------------------------------------------------


@dataclass(frozen=True)
class Positions:
    """The place of every key, and whether it is stated. The values are the plan's own records."""

    _source: Source

    @property
    def file(self) -> str:
        return self._source.file

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Where the value of a key stands, or its nearest ancestor that is written down; `key`: the key itself."""
        return self._source.place(path, key=key)

    def stated(self, *path: str | int) -> bool:
        """Whether the intent writes this key."""
        return self._source.has(path)


# --- Origin of an intent: its file, and the commit that changed it last ---------------------------------------


@dataclass(frozen=True, slots=True)
class Origin:
    """A file, and what git knows of it; without git its path alone."""

    path: str  # below the root of its repository; outside of one as it was given
    commit: str = ""  # the last that changed the file, 12 digits
    day: str = ""  # of that commit, `2026-11-24` in the committer's time zone
    changed: bool = False  # since that commit

    @property
    def words(self) -> str:
        """`commit 3be502d0a1b2 of 2026-11-24, changed since`."""
        if not self.commit:
            return "never committed" if self.changed else ""
        return f"commit {self.commit} of {self.day}{', changed since' if self.changed else ''}"


# --- Settings -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Release:
    """The release of a network OS, and where it is stated."""

    nos: str
    release: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Choices that the intent overrides; open ones (`auto`, None) are made by the sizing rule."""

    tiers: Literal["auto", 1, 2, 3]
    spineless: bool  # whether leaves that need no spines may have none
    pods: PodRule | None
    rails: int | None
    leaf_uplinks: Uplinks
    spine_uplinks: Uplinks
    spines: int | None  # in all
    min_spines: int | None  # of a plane or pod
    cores: int | None  # in all
    core_groups: int | None  # of one isolated network
    spare_server_ports: int  # of every leaf
    room: tuple[Attachment, ...] = ()  # that the default unit leaves cages for


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """What all fabrics of a site share."""

    home: Home
    positions: Positions
    sections: tuple[str, ...]  # keys that an intent may have at its top
    pools: Pools
    management: Management
    silence: Mapping[str, str]  # code → why it does not apply
    overrides: tuple[Override, ...]
    output: Output
    floor: Floor


# --- Site and fabrics -----------------------------------------------------------------------------------------


STORAGE = "storage"  # purpose of NICs that may have a class of their own


@dataclass(frozen=True, slots=True)
class NicUse:
    """NICs of one purpose that a fabric connects."""

    nics: str  # their purpose
    nic: NicSet
    bond: bool = True  # two ports on two leaves are one bond in layer-2 networks
    fallback: bool = False  # … whose ports carry traffic before the server speaks LACP

    @property
    def ports(self) -> int:
        """Ports of a server."""
        return self.nic.count * self.nic.ports

    @property
    def lossless(self) -> bool:
        """Whether RoCE runs on them, where they are on free ports of a lossless fabric."""
        return self.nics in PURPOSES and PURPOSES[self.nics].lossless


@dataclass(frozen=True, kw_only=True)
class GroupSpec:
    """Servers of one kind. Their NICs are numbered through `uses`: those of the first purpose have units and leaves, the
    ports of others are on free ports of the same leaves.
    """

    name: str
    model: str
    server: ServerModel
    nics: str  # purpose of the NICs that this fabric connects, the first of several
    nic: NicSet
    bond: bool = True  # as in NicUse
    fallback: bool = False
    plane_mode: str = ""  # "none", "swplb" or "hwplb"; "" of several planes: not stated
    nic_pci: tuple[str, ...] = ()  # PCI address of each NIC, where the intent states them
    nic_names: NicNames = field(default_factory=NicNames)  # patterns that its ports have their names from
    node_selector: Mapping[str, str] = field(default_factory=dict)  # labels of its Kubernetes nodes
    further: tuple[NicUse, ...] = ()  # NICs of other purposes
    shared: bool = False  # on free ports of the leaves of other groups
    on_set: int = 0  # its servers on one leaf or pair of these, as the lock has them
    count: int
    planned: int  # at least `count`
    per_rack: int | None
    unit_servers: int | None  # None: as many as half the leaf's bandwidth carries
    full: bool
    held: tuple[int, ...] = ()  # places over all units that attachments hold, sorted
    bare: int = 0  # leaves, where they are without servers

    @cached_property
    def uses(self) -> tuple[NicUse, ...]:
        """All NICs that the fabric connects, by purpose."""
        return (NicUse(self.nics, self.nic, self.bond, self.fallback), *self.further)

    @property
    def joins_planes(self) -> bool:
        """Whether a NIC has one address and one RDMA device for all its planes."""
        return self.plane_mode == "hwplb"

    @property
    def on_free_ports(self) -> tuple[NicUse, ...]:
        """NICs without leaves of their own."""
        return self.uses if self.shared else self.further

    def use_of(self, nic: int) -> tuple[NicUse, int]:
        """The NICs that a number of the group belongs to, and its number among them; both from 1."""
        for use in self.uses:
            if nic <= use.nic.count:
                return use, nic
            nic -= use.nic.count
        return NicUse(self.nics, self.nic, self.bond, self.fallback), nic  # a NIC that the model has not

    def first_nic(self, nics: str) -> int:
        """Number of the first NIC of a purpose, from 1."""
        before = 1
        for use in self.uses:
            if use.nics == nics:
                return before
            before += use.nic.count
        raise KeyError(nics)

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
    left_out: tuple[str, ...] = ()  # splits of the catalog that are not used, as the lock keeps others


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
    planes_active: int  # in service, the first ones; plan and configs are of all
    dual_tor: bool
    reserve: bool  # cables run where the finished fabric has them
    constraints: Constraints
    attachments: tuple[Attachment, ...]
    names: Names
    pins: Mapping[str, Pin]
    links: StatedLinks
    pools: Pools
    underlay: Underlay
    overlay: Overlay
    tenants: tuple[Tenant, ...]
    qos: Qos
    infiniband: Infiniband
    roce: bool  # it carries a lossless class
    management: Management
    own_management: bool  # not the site's
    releases: tuple[Release, ...]  # of the site, then of the fabric
    silence: Mapping[str, str]  # code → why it does not apply to this fabric
    transport: str  # of the collectives: roce, infiniband, efa, tcpx, tcpxo, slingshot or ethernet (plain TCP)
    nic_turns: bool = False  # NIC after NIC is on the next leaf, where neighboring ones would share it
    lengths: Lengths = NONE  # of cables by kind of link; until the fabric is sized those that are stated
    panels: Mapping[str, PanelRule] = field(default_factory=dict)  # patch panels by kind of link
    below: Below | None = None
    network_operator: NetworkOperator | None = None
    added: frozenset[str] = frozenset()  # attachments that follow from `below`, of this fabric or of another

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
        """ "evpn", "vrf-lite", "acl", "bridged" (below another fabric), "partitions" (InfiniBand), or "none": one table."""
        if not self.ethernet:
            return "partitions" if self.tenants else "none"
        if self.below is not None:
            return "bridged"
        return "evpn" if self.overlay.kind == "evpn-vxlan" else self.overlay.isolation or "none"

    @property
    def stand_ins(self) -> frozenset[str]:
        """Attachments that stand for leaves of fabrics below."""
        return frozenset() if self.below else self.added

    @property
    def bridged_tenants(self) -> frozenset[str]:
        """Tenants that leaves below bridge, of this fabric or of the one above: their networks may hold management pools."""
        names = {its.tenant for its in self.attachments if its.name in self.added and its.tenant}
        return frozenset(names | ({self.below.tenant} if self.below and self.below.tenant else set()))

    @property
    def bonds(self) -> bool:
        """Whether servers in layer-2 networks are cabled to two leaves each."""
        return any(tenant.networks for tenant in self.tenants) and (self.dual_tor or self.kind == "collapsed")

    @property
    def lossless_frame_bytes(self) -> int:
        """The largest frame of the lossless class, in VXLAN where tenants ride on it."""
        from fabric.hardware.headroom_formulas import ROCE_HEADERS_BYTES  # late: counts alone need none of it

        return self.qos.rdma_mtu + ROCE_HEADERS_BYTES + (VXLAN_FRAME_BYTES if self.isolation == "evpn" else 0)

    @property
    def lossless_classes(self) -> int:
        """Priorities with PFC on links between switches and to attachments; a server port has one."""
        return 2 if self.qos.storage is not None and self.qos.storage.lossless else 1

    def lossy(self, group: GroupSpec, use: NicUse) -> bool:
        """Whether NICs of a group have no PFC, although the fabric has it."""
        storage = self.qos.storage
        without = storage is not None and not storage.lossless and use.nics == STORAGE
        return without or (use in group.on_free_ports and not use.lossless)

    @property
    def switchless(self) -> bool:
        """Whether servers are cabled to each other; `leaf`, `spine` and `core` then stand for no switch."""
        return self.kind in SWITCHLESS

    @property
    def ethernet(self) -> bool:
        return self.leaf.model.technology == "ethernet"

    @property
    def length_m(self) -> dict[str, int]:
        """Metres of cable by kind of link; 0 for a kind that the fabric does not have."""
        return {kind: length.metres for kind, length in zip(KINDS, self.lengths, strict=True)}

    @property
    def converged(self) -> bool:
        """Whether NICs of several purposes, or several groups of servers, are on the same leaves."""
        return any(group.on_free_ports for group in self.groups)

    def leaves_per_nic(self, group: GroupSpec) -> int:
        """Leaves that the ports of one NIC are spread over, where a pair has all rails those of all NICs."""
        if self.kind == "collapsed":
            return 2 * self.planes
        return group.nic.ports if self.dual_tor else self.planes

    def rails(self, group: GroupSpec) -> int:
        """Rails of a unit: one per NIC unless stated; racks and collapsed-spine pairs know none."""
        if self.kind in ("rack", "collapsed") or group.bare:
            return 1
        return self.constraints.rails or group.nic.count

    def pods_per_unit(self, group: GroupSpec) -> int:
        """Pods that the leaves of a unit are spread over: with `pods.rails` several, each of so many rails."""
        rule = self.constraints.pods
        return self.rails(group) // rule.rails if rule and rule.rails else 1

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


# --- Warnings that an intent suppresses, each with its reason -------------------------------------------------


def unsilenced(site: SiteSpec, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The warnings that the intent does not silence, in file order."""
    kept = [warning for warning in set(found) if warning.code not in site.settings.silence]
    for name, spec in site.fabrics.items():
        kept = [w for w in kept if w.code not in spec.silence or not _inside(w, name, site)]
    return tuple(sorted(kept, key=in_file))


def in_file(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    """Order of warnings: as their places follow one another."""
    return diagnostic.place.line, diagnostic.place.column, diagnostic.code, diagnostic.message


def _inside(diagnostic: Diagnostic, fabric: str, site: SiteSpec) -> bool:
    """Whether a place lies in a fabric's part of the file: behind its key and before the next fabric's."""
    at = site.settings.positions.at
    starts = sorted(at("fabrics", name, key=True).line for name in site.fabrics)
    own = at("fabrics", fabric, key=True).line
    behind = [line for line in starts if line > own]
    return own <= diagnostic.place.line < (behind[0] if behind else 2**31)
