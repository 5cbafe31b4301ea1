"""Settings of the subnet manager of an InfiniBand fabric: routing, GUIDs, and the partition of a tenant."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabric.model.settings.base import Key, Line, ListOf, TenantName

ENGINES = ("ftree", "updn", "minhop", "dnup", "dfsssp", "nue", "lash", "dor")  # of the open subnet manager 3.3.23
Engine = Literal["ftree", "updn", "minhop", "dnup", "dfsssp", "nue", "lash", "dor"]


class Partition(Key):
    """The partition of a tenant on InfiniBand."""

    pkey: Annotated[int, Field(ge=1, le=0x7FFE)] | None = Field(
        None, description="P_Key without the bit of membership, unique in the fabric; default: the number of the tenant"
    )
    service_level: Annotated[int, Field(ge=0, le=14)] = Field(0, description="service level (SL) of the tenant's traffic")
    members: Literal["full", "limited"] | None = Field(
        None, description="default: `full`; `limited`: its servers reach full members alone, such as the ports of `served_by`"
    )
    served_by: Annotated[tuple[TenantName, ...], ListOf] = Field(
        (), description="tenants whose ports are full members as well, such as shared storage"
    )


class Infiniband(Key):
    """The subnet manager of an InfiniBand fabric."""

    routing: Annotated[tuple[Engine, ...], ListOf] = Field(
        (),
        description=(
            "routing engines, the first that can route the fabric is used; default: `ftree`, then `updn`; `minhop` with one "
            "tier"
        ),
    )
    guids: Line | None = Field(
        None,
        description=(
            "file beside the intent with the GUIDs: CSV (`device`, `port`, `node_guid`), output of `ibnetdiscover`, or the "
            "ports of UFM as JSON; default: placeholders"
        ),
    )
    virtual_lanes: Literal[1, 2, 4, 8] | None = Field(
        None, description="data lanes that service levels are spread over; default: 1, with several service levels 4"
    )
    adaptive_routing: bool = Field(True, description="of NVIDIA's subnet manager, in a file of its own")
    sharp: bool = Field(False, description="aggregation in the switches by NVIDIA's manager, in the same file")
