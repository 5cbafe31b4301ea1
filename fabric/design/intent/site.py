"""A site: the whole of an intent file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fabric.base.diagnostics import show
from fabric.design.intent.topology import Planned, Servers, Topology
from fabric.model.settings.addressing import Names, Pin, Pools, Underlay
from fabric.model.settings.base import Host, Key, ListOf, Name
from fabric.model.settings.services import Checks, Management, Output, Overlay, Override, Qos, Tenant
from fabric.model.settings.site import Floor, OwnCatalog

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
        TierNos.model_construct(),
        description=(
            "network OS of the switches, one for all or `{leaf: …, spine: …, core: …}`; default: the first of each model"
        ),
    )
    servers: Servers = Field(description="the servers: one group, or a list of groups")
    topology: Topology = Field(description="the shape of the network")
    planned: Planned | None = Field(None, description="the planned size: wiring and numbers are reserved for it")
    names: Names = Field(Names.model_construct(), description="name patterns")
    pins: dict[Host, Pin] = Field(default_factory=dict, description="name of a switch without the pin → fixed values")
    underlay: Underlay = Field(Underlay.model_construct(), description="routing between the switches")
    pools: Pools = Field(Pools.model_construct(), description="address pools of this fabric only")
    overlay: Overlay = Field(Overlay.model_construct(), description="EVPN/VXLAN")
    transport: Literal["roce", "infiniband", "efa", "tcpx", "tcpxo", "slingshot"] | None = Field(
        None,
        description="transport of collectives, for estimated times; default: `roce` or `infiniband`, as the switches",
    )
    tenants: Annotated[tuple[Tenant, ...], ListOf] = Field((), description="tenants and their servers")
    qos: Qos = Field(Qos.model_construct(), description="lossless Ethernet for RoCE")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description="network OS → its release in this fabric, if different from the site's"
    )
    management: Management | None = Field(
        None, description="management of the switches of this fabric, if different from the site's"
    )
    checks: Checks = Field(Checks.model_construct(), description="suppressed checks of this fabric")


class Site(Key):
    """An intent file."""

    version: Literal[1] = Field(description="version of the language")
    site: Name = Field(description="name of the site, and of its folder in `generated/`")
    catalog: OwnCatalog = Field(OwnCatalog.model_construct(), description="own hardware, in addition to the shipped catalog")
    fabrics: Annotated[dict[Name, Fabric], Field(min_length=1)] = Field(description="the networks of the site")
    pools: Pools = Field(Pools.model_construct(), description="address pools that all fabrics share")
    management: Management = Field(Management.model_construct(), description="management of every switch")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description='network OS → release, `cumulus: "5.14"`; default: the one on its page'
    )
    checks: Checks = Field(Checks.model_construct(), description="suppressed checks of the site")
    overrides: Annotated[tuple[Override, ...], ListOf] = Field((), description="a site's own config lines")
    output: Output = Field(Output.model_construct(), description="what is written and compared")
    floor: Floor = Field(Floor.model_construct(), description="positions of the racks, and cable media")
