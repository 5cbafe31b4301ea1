"""The shape of a fabric: servers, units, tiers, pods, planes, and the switches of each tier."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fabric.model.settings.base import Count, Key, Line, ListOf, Metres, Name, Ratio
from fabric.model.settings.site import Attachment, PodRule, Uplinks


class Unit(Key):
    """Servers that share one set of leaves (a scalable unit, stripe or segment)."""

    servers: Count | None = Field(
        None, description="servers of a unit; default: as many as half of the leaf's bandwidth and its ports carry"
    )
    full: bool = Field(True, description="cable all uplinks of a unit, even if it is not full")


class ServerGroup(Key):
    """Servers of one kind. A fabric of several generations lists several groups; each has units of its own."""

    model: Line = Field(description="server of the catalog, e.g. `dgx-h100`, or one declared under `catalog.servers`")
    count: Count = Field(description="servers that are installed now")
    name: Name | None = Field(None, description="name of the group, part of the names of its servers; default: the model")
    nics: Line | None = Field(
        None, description="NICs of the server that this fabric connects; default: those for its purpose"
    )
    per_rack: Count | None = Field(None, description="servers in one rack")
    unit: Unit | None = Field(None, description="units of this group, if different from `topology.unit`")
    planned: Count | None = Field(None, description="planned number of servers of this group, with several groups")


class Tier(Key):
    """What the tiers have in common."""

    switch: Line | None = Field(None, description="catalog switch, e.g. `sn5600`, or a generic model such as `64x400g`")
    nos: Name | None = Field(None, description="network OS of this tier, if different from the fabric's")


class Leaf(Tier):
    """The tier that servers connect to."""

    oversubscription: Ratio | None = Field(
        None, description="maximum of bandwidth down / bandwidth up; default: 1 (oob: 4); below 1: spare uplinks"
    )
    uplinks: Uplinks = Field(Uplinks.model_construct(), description="uplinks of one leaf; overrides the computed number")
    spare_server_ports: int = Field(
        0, ge=0, le=1024, description="server ports of every leaf that stay free; uplinks are not sized for them"
    )


class Spine(Tier):
    """The tier above the leaves."""

    oversubscription: Ratio | None = Field(
        None, description="three tiers: maximum of bandwidth down / bandwidth up; default: 1"
    )
    uplinks: Uplinks = Field(
        Uplinks.model_construct(), description="three tiers: uplinks of one spine; overrides the computed number"
    )
    count: Count | None = Field(None, description="total number of spines, over all planes, rails and pods")
    min_count: Count | None = Field(
        None, description="minimum number of spines of a plane or pod; default: 2 if the wiring allows it"
    )


class Core(Tier):
    """The tier above the spines of a three-tier fabric."""

    count: Count | None = Field(None, description="total number of cores, over all planes and groups")


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


def _pods(value: Any) -> Any:
    if value == "auto":
        return None
    if value is not None and not isinstance(value, dict | PodRule):
        raise ValueError("expected auto, {count: 8}, {units: 4} or {racks: 192}")
    return value


class Topology(Key):
    """The shape of the fabric."""

    kind: Literal["rail-optimized", "rack", "rail-only", "collapsed"] | None = Field(
        None,
        description=(
            "`rail-optimized`: one leaf per rail serves a whole unit; `rack`: a leaf per rack; `rail-only`: every rail is "
            "a Clos of its own; `collapsed`: a leaf pair without spines. Unless stated, `rail-optimized` for "
            "`purpose: compute` and `rack` for the others"
        ),
    )
    switch: Line | None = Field(None, description="switch model of every tier without its own")
    rails: Count | None = Field(
        None, description="rails of a unit; default: one per NIC. With fewer rails, neighboring NICs share a leaf"
    )
    unit: Unit = Field(Unit.model_construct(), description="servers that share one set of leaves")
    tiers: Literal["auto", 2, 3] = Field("auto", description="switch tiers")
    pods: Annotated[PodRule | None, BeforeValidator(_pods)] = Field(None, description="`auto`, or the size or number of pods")
    planes: Count = Field(1, description="isolated planes, each with one part of the ports of every NIC")
    dual_tor: bool = Field(False, description="connect the ports of a NIC to different leaves")
    leaf: Leaf = Field(Leaf.model_construct(), description="the leaves")
    spine: Spine = Field(Spine.model_construct(), description="the spines")
    core: Core = Field(Core.model_construct(), description="the cores")
    attachments: Annotated[tuple[Attachment, ...], ListOf] = Field((), description="other devices on leaf ports")
    cable_length_m: CableLength = Field(
        CableLength.model_construct(), description="longest cables in metres; default: from the floor plan"
    )


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


Servers = Annotated[tuple[ServerGroup, ...], ListOf, Field(min_length=1)]
