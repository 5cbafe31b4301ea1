"""A site, the whole of an intent file: its fabrics, and the shape of each: servers, units, tiers, pods, planes, switches."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fabric.base.diagnostics import show
from fabric.hardware.catalog.models import Breakout, PlaneMode
from fabric.model.settings.addressing import Names, NicNames, Pin, Pools, StatedLinks, Underlay
from fabric.model.settings.base import Count, Host, Key, Line, ListOf, Metres, Name, Ratio
from fabric.model.settings.cluster import Labels, NetworkOperator, PciAddress
from fabric.model.settings.infiniband import Infiniband
from fabric.model.settings.services import Checks, Management, Output, Overlay, Override, Qos, Tenant
from fabric.model.settings.site import Attachment, BareLeaves, Below, Floor, OwnCatalog, PodRule, Uplinks

# --- topology -------------------------------------------------------------------------------------------------
# The shape of a fabric: servers, units, tiers, pods, planes, and the switches of each tier.


class Unit(Key):
    """Servers that share one set of leaves (a scalable unit, stripe or segment)."""

    servers: Count | None = Field(
        None, description="servers of a unit; default: as many as half of the leaf's bandwidth and its ports carry"
    )
    full: bool = Field(True, description="cable all uplinks of a unit, even if it is not full")


class ServerGroup(Key):
    """Servers of one kind. A fabric of several generations lists several groups; each has units of its own, or shares the
    leaves of the others.
    """

    model: Line = Field(description="server of the catalog, e.g. `dgx-h100`, or one declared under `catalog.servers`")
    count: Count = Field(description="servers that are installed now")
    name: Name | None = Field(None, description="name of the group, part of the names of its servers; default: the model")
    nics: Annotated[tuple[Line, ...], ListOf] = Field(
        (), description="NICs of the server that this fabric connects, of one purpose or of several; default: its own purpose"
    )
    homing: dict[Line, Literal["single", "bond", "fallback"]] = Field(
        default_factory=dict,
        description=(
            "purpose of NICs → `bond`: two ports on two leaves are one bond in layer-2 networks; `fallback`: a bond whose "
            "ports carry traffic before the server speaks LACP, to boot over the network; `single`: every port by itself; "
            "default: `bond` on pairs of leaves of one plane"
        ),
    )
    leaves: Literal["own", "shared"] | None = Field(
        None,
        description=(
            "`own`: units and leaves of its own; `shared`: free ports on the leaves of the first group; default: `shared` on "
            "one switch or one pair, else `own`"
        ),
    )
    per_rack: Count | None = Field(
        None, description="servers in one rack; of a group that shares leaves: on each leaf or pair; default there: in turn"
    )
    nic_breakout: Breakout | None = Field(
        None,
        description="ports that each NIC is split into: `2x400` of a ConnectX-8; default: as `planes` or `dual_tor` need",
    )
    plane_mode: PlaneMode | None = Field(
        None,
        description=(
            "how the ports of a NIC serve planes: `none`: one plane; `swplb`: software chooses, each plane has an RDMA "
            "device and an address; `hwplb`: the NIC chooses, and has one of both for all planes; default: "
            "`none` with one plane, else not stated"
        ),
    )
    nic_names: NicNames = Field(NicNames(), description="names of NIC ports in the operating system, by rail and plane")
    nic_pci: Annotated[tuple[PciAddress, ...], ListOf] = Field(
        (), description="PCI address of the first function of each NIC, by which the cluster knows its rail"
    )
    node_selector: Labels = Field(default_factory=dict, description="labels of the Kubernetes nodes of this group")
    unit: Unit | None = Field(None, description="units of this group, if different from `topology.unit`")
    planned: Count | None = Field(None, description="planned number of servers of this group, with several groups")

    @property
    def states_ports(self) -> bool:
        """Whether it says more of the ports of its NICs than the catalog does."""
        return bool(self.plane_mode or self.nic_names != NicNames() or self.nic_pci)


class Tier(Key):
    """What the tiers have in common."""

    switch: Line | None = Field(None, description="catalog switch, e.g. `sn5600`, or a generic model such as `64x400g`")
    nos: Name | None = Field(None, description="network OS of this tier, if different from the fabric's")


class Leaf(Tier):
    """The tier that servers connect to."""

    oversubscription: Ratio | None = Field(
        None, description="maximum of bandwidth down / bandwidth up; default: 1 (oob: 4); below 1: spare uplinks"
    )
    uplinks: Uplinks = Field(Uplinks(), description="uplinks of one leaf; overrides the computed number")
    spare_server_ports: int = Field(
        0, ge=0, le=1024, description="server ports of every leaf that stay free; uplinks are not sized for them"
    )


class Spine(Tier):
    """The tier above the leaves."""

    oversubscription: Ratio | None = Field(
        None, description="three tiers: maximum of bandwidth down / bandwidth up; default: 1"
    )
    uplinks: Uplinks = Field(Uplinks(), description="three tiers: uplinks of one spine; overrides the computed number")
    count: Annotated[int, Field(ge=0, le=10_000_000)] | None = Field(
        None, description="total number of spines, over all planes, rails and pods; 0: leaves without spines"
    )
    min_count: Count | None = Field(
        None, description="minimum number of spines of a plane or pod; default: 2 if the wiring allows it"
    )


class Core(Tier):
    """The tier above the spines of a three-tier fabric."""

    count: Count | None = Field(None, description="total number of cores, over all planes and groups")
    groups: Count | None = Field(
        None,
        description=(
            "groups of cores of one plane: the spines of a pod are divided among them, and a spine has a link to every core "
            "of its group; 1: to every core. Default: the groups that need the fewest cores"
        ),
    )


class CableLength(Key):
    """The longest cable of each kind of link, in metres: what PFC headroom is computed for.

    A length that is not stated is the smallest of 5, 10, 20, 50, 100 and 300 m that covers the floor plan of the finished
    fabric (`planned`). The lock file keeps it, so growth up to `planned` changes no buffer or ECN value.
    """

    server_leaf: Metres | None = Field(None, alias="server-leaf", description="from a server to its leaf")
    leaf_leaf: Metres | None = Field(None, alias="leaf-leaf", description="between the two leaves of a collapsed-spine pair")
    leaf_spine: Metres | None = Field(None, alias="leaf-spine", description="from a leaf to a spine")
    spine_core: Metres | None = Field(None, alias="spine-core", description="from a spine to a core")
    attachments: Metres | None = Field(None, description="from a leaf to an attachment")
    server_server: Metres | None = Field(None, alias="server-server", description="between two servers, without switches")


class PatchPanel(Key):
    """Patch panels between two tiers."""

    ports: int = Field(ge=2, le=10_000, description="ports of one panel; a link takes two")
    links: Count | None = Field(
        None,
        description=(
            "links of new switches on one panel, the other ports are for links that move later; default: a third of the "
            "ports, half where two switches share one link"
        ),
    )


class PatchPanels(Key):
    """Kinds of link that pass patch panels. Every port is cabled to a panel once, a jumper joins two ports of one panel."""

    leaf_spine: PatchPanel | None = Field(None, alias="leaf-spine", description="between leaves and spines")
    spine_core: PatchPanel | None = Field(None, alias="spine-core", description="between spines and cores")


def _pods(value: Any) -> Any:
    if value == "auto":
        return None
    if value is not None and not isinstance(value, dict | PodRule):
        raise ValueError("expected auto, {count: 8}, {units: 4} or {racks: 192}")
    return value


class Topology(Key):
    """The shape of the fabric."""

    kind: Literal["rail-optimized", "rack", "rail-only", "collapsed", "back-to-back", "ring"] | None = Field(
        None,
        description=(
            "`rail-optimized`: one leaf per rail serves a whole unit; `rack`: a leaf per rack; `rail-only`: every rail "
            "is a Clos of its own; `collapsed`: a leaf pair without spines, in each plane; `back-to-back`: no switches, "
            "every server cabled to every other; `ring`: no switches, every server cabled to two others. Unless stated, "
            "`rail-optimized` for `purpose: compute` and `rack` for the others"
        ),
    )
    switch: Line | None = Field(None, description="switch model of every tier without its own")
    rails: Count | None = Field(
        None, description="rails of a unit; default: one per NIC. With fewer rails, neighboring NICs share a leaf"
    )
    nic_order: Literal["blocks", "turns"] = Field(
        "blocks",
        description=(
            "NICs of a server that share leaves: `blocks`: neighboring ones are on one leaf; `turns`: NIC after NIC is on "
            "the next one, 1 and 3 of four on the first of two leaves"
        ),
    )
    unit: Unit = Field(Unit(), description="servers that share one set of leaves")
    tiers: Literal["auto", 1, 2, 3] = Field(
        "auto", description="switch tiers; 1: leaves without spines. Unless stated, the fewest that carry the servers"
    )
    pods: Annotated[PodRule | None, BeforeValidator(_pods)] = Field(None, description="`auto`, or the size or number of pods")
    planes: Count = Field(1, description="isolated planes, each with one part of the ports of every NIC")
    planes_active: Count | None = Field(
        None,
        description=(
            "planes in service, the first of `planes`; the others are not bought yet, or down for long: capacity, estimates, "
            "steps and goodput are without their switches. Plan, configs, cabling and bill are of all planes. Default: all"
        ),
    )
    dual_tor: bool = Field(False, description="connect the ports of a NIC to different leaves")
    leaf: Leaf = Field(Leaf(), description="the leaves")
    spine: Spine = Field(Spine(), description="the spines")
    core: Core = Field(Core(), description="the cores")
    leaves_without_servers: Annotated[tuple[BareLeaves, ...], ListOf] = Field(
        (), description="border leaves and service leaves: with the uplinks of other leaves, and attachments alone"
    )
    attachments: Annotated[tuple[Attachment, ...], ListOf] = Field((), description="other devices on leaf ports")
    cable_length_m: CableLength = Field(CableLength(), description="longest cables in metres; default: from the floor plan")
    patch_panels: PatchPanels = Field(PatchPanels(), description="patch panels between tiers; default: none")


class Planned(Key):
    """The planned size: wiring and numbers are reserved for it."""

    servers: Count | None = Field(
        None, description="servers of the finished fabric; several groups state `planned` in each group instead"
    )
    uplinks: Literal["reserve", "recable"] = Field(
        "reserve",
        description=(
            "`reserve`: every cable runs where the finished fabric has it, so growth moves nothing; spines that are not "
            "built yet (`spine.count`) leave their ports reserved. `recable`: wired for today's size and re-cabled later"
        ),
    )


Servers = Annotated[tuple[ServerGroup, ...], ListOf]


VERSION = 1


Release = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.()_-]{0,30}$")]


class TierNos(Key):
    """Network OS per tier."""

    leaf: Name | None = Field(None, description="of the leaves")
    spine: Name | None = Field(None, description="of the spines")
    core: Name | None = Field(None, description="of the cores")


def _every_tier(value: Any) -> Any:
    if not isinstance(value, str | dict | TierNos):
        raise ValueError(f"expected a network OS such as sonic, or {{leaf: …, spine: …, core: …}}, got {show(value)}")
    return {"leaf": value, "spine": value, "core": value} if isinstance(value, str) else value


class Fabric(Key):
    """One network of a site."""

    purpose: Literal["compute", "storage", "frontend", "oob"] = Field("compute", description="purpose of the network")
    nos: Annotated[TierNos, BeforeValidator(_every_tier)] = Field(
        TierNos(),
        description=(
            "network OS of the switches, one for all or `{leaf: …, spine: …, core: …}`; default: the first of each model"
        ),
    )
    servers: Servers = Field(
        (), description="the servers: one group, or a list of groups; none where `topology.leaves_without_servers` are all"
    )
    topology: Topology = Field(description="the shape of the network")
    below: Below | None = Field(None, description="the leaves hang below those of another fabric, and bridge a tenant of it")
    planned: Planned | None = Field(None, description="the planned size: wiring and numbers are reserved for it")
    names: Names = Field(Names(), description="name patterns")
    pins: dict[Host, Pin] = Field(default_factory=dict, description="name of a switch without the pin → fixed values")
    links: StatedLinks = Field(StatedLinks(), description="links between switches that differ from the rule of the wiring")
    underlay: Underlay = Field(Underlay(), description="routing between the switches")
    pools: Pools = Field(Pools(), description="address pools of this fabric only")
    overlay: Overlay = Field(Overlay(), description="EVPN/VXLAN")
    transport: Literal["roce", "infiniband", "efa", "tcpx", "tcpxo", "slingshot", "ethernet"] | None = Field(
        None,
        description=(
            "transport of collectives, for estimated times; `ethernet`: plain TCP, without a lossless class unless `qos:` is "
            "stated; default: `roce` or `infiniband`, as the switches"
        ),
    )
    tenants: Annotated[tuple[Tenant, ...], ListOf] = Field((), description="tenants and their servers")
    qos: Qos = Field(Qos(), description="lossless Ethernet for RoCE")
    infiniband: Infiniband = Field(Infiniband(), description="subnet manager of an InfiniBand fabric")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description="network OS → its release in this fabric, if different from the site's"
    )
    management: Management | None = Field(
        None, description="management of the switches of this fabric, if different from the site's"
    )
    network_operator: NetworkOperator | None = Field(
        None, description="NVIDIA's Network Operator on the servers, for `fabric export network-operator`"
    )
    checks: Checks = Field(Checks(), description="suppressed checks of this fabric")


class Site(Key):
    """An intent file."""

    version: Literal[1] = Field(description="version of the language")
    site: Name = Field(description="name of the site, and of its folder in `generated/`")
    catalog: OwnCatalog = Field(OwnCatalog(), description="own hardware, in addition to the shipped catalog")
    fabrics: Annotated[dict[Name, Fabric], Field(min_length=1)] = Field(description="the networks of the site")
    pools: Pools = Field(Pools(), description="address pools that all fabrics share")
    management: Management = Field(Management(), description="management of every switch")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description='network OS → release, `cumulus: "5.14"`; default: the one on its page'
    )
    checks: Checks = Field(Checks(), description="suppressed checks of the site")
    overrides: Annotated[tuple[Override, ...], ListOf] = Field((), description="a site's own config lines")
    output: Output = Field(Output(), description="what is written and compared")
    floor: Floor = Field(Floor(), description="positions of the racks, and cable media")
