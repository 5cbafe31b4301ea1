"""Choices of a fabric's shape that the intent may override, and the attachments."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from fabric.model.settings.addressing import Asn, Routes
from fabric.model.settings.base import Count, Gbps, Key, ListOf, Name


class Uplinks(Key):
    """Uplinks of one switch; overrides the computed ones."""

    count: Count | None = Field(None, description="uplinks of one switch, to all upper switches together")
    speed_gbps: Gbps | None = Field(None, description="speed of one link; default: the fastest that both ends support")


class PodRule(Key):
    """Number or size of pods; one of the three."""

    count: Count | None = Field(None, description="total number of pods")
    units: Count | None = Field(None, description="units of one pod")
    racks: Count | None = Field(None, description="racks of one pod")

    @model_validator(mode="after")
    def _one(self) -> PodRule:
        stated = [key for key in ("count", "units", "racks") if getattr(self, key) is not None]
        if len(stated) != 1:
            raise ValueError(f"expected one of count, units and racks, got {' and '.join(stated) or 'none'}")
        return self


class External(Key):
    """An external router: the border leaves, to which it is cabled, have eBGP sessions with it."""

    asn: Asn = Field(description="AS number of the router at the other end, such as 65010")
    tenants: Annotated[tuple[Name, ...], ListOf] = Field(
        (), description="tenants that reach it, each on a tagged subinterface; default: the whole fabric"
    )
    accept: Routes | None = Field(
        None,
        min_length=1,
        description=(
            "routes taken from it, the default route unless stated: `0.0.0.0/0` (`::/0`) is the default route alone, any "
            "other prefix with all inside it; never the site's own pools and the networks of its tenants"
        ),
    )


class Attachment(Key):
    """Other devices on leaf ports: a fabric manager, a border router, a storage gateway."""

    name: Name = Field(description="name of the device")
    links: Count = Field(description="total number of links, spread over the leaves with free ports")
    speed_gbps: Gbps | None = Field(None, description="speed of a link; default: that of the server ports")
    external: External | None = Field(None, description="its BGP session and routes, if it is an external router")
    tenant: Name | None = Field(None, description="tenant of the device, if the fabric has several")
    network: Name | None = Field(
        None, description="layer-2 network of the tenant that its ports are in, untagged; default: all, as on server ports"
    )
    lossless: bool | None = Field(None, description="PFC on its ports; default: as in the fabric; never on ports to a router")
