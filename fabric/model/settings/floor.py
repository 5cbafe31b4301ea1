"""Where the racks stand and how cables run: what lengths, run lists and elevations are made from."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from fabric.model.settings.base import Host, Key, Line

RACK = re.compile(r"[A-Z]{1,3}[0-9]{2,3}")


def _rack(text: str) -> str:
    if not RACK.fullmatch(text):
        raise ValueError("expected a rack such as A07, its row in capital letters and its place in two digits or three")
    return text


RackName = Annotated[str, AfterValidator(_rack), Field(json_schema_extra={"pattern": f"^{RACK.pattern}$"})]
RackUnits = Annotated[int, Field(ge=1, le=100)]
Length = Annotated[float, Field(ge=0, le=1000)]


class Fixed(Key):
    """Position of one device, in place of the computed one."""

    rack: RackName = Field(description="row and position, `A07`")
    ru: RackUnits = Field(description="lowest rack unit of the device, from 1 at the bottom")


class Media(Key):
    """Cable media per kind of link: a class, or the name of one cable or optic of the catalog.

    Classes: `dac`, `aec`, `aoc`, `optics` (any), `multimode`, `single-mode`. Unless stated, the first of them that reaches.
    """

    server_leaf: Line | None = Field(None, alias="server-leaf", description="from a server to its leaf")
    leaf_leaf: Line | None = Field(None, alias="leaf-leaf", description="between the two leaves of a collapsed-spine pair")
    leaf_spine: Line | None = Field(None, alias="leaf-spine", description="from a leaf to a spine")
    spine_core: Line | None = Field(None, alias="spine-core", description="from a spine to a core")
    attachments: Line | None = Field(None, description="from a leaf to an attachment")


class Floor(Key):
    """The racks of a site in rows, with trays above them."""

    rack_units: RackUnits = Field(48, description="height of a rack")
    rack_pitch_m: Annotated[float, Field(ge=0.3, le=5)] = Field(0.6, description="from one rack of a row to the next")
    racks_per_row: Annotated[int, Field(ge=1, le=999)] = Field(20, description="racks of a row")
    row_pitch_m: Annotated[float, Field(ge=0.3, le=100)] = Field(
        2.4, description="from one row to the next: a rack's depth and half of the aisles before and behind it"
    )
    tray_above_m: Length = Field(0.3, description="from the top of the racks to the tray that cables run in")
    cross_tray_racks: Annotated[int, Field(ge=1, le=999)] = Field(
        10, description="racks between two trays that cross the rows; the first is at the beginning of a row"
    )
    slack_m: Length = Field(0.5, description="added to every cable, for both ends together")
    slack_percent: Annotated[float, Field(ge=0, le=100)] = Field(5, description="added to every route")
    leaves: Literal["auto", "network-rack"] = Field(
        "auto",
        description=(
            "`auto`: a leaf whose servers are in one rack is at the top of that rack, if there is room; all others, and "
            "with `network-rack` all leaves, are in a network rack of their unit"
        ),
    )
    network_racks: Literal["middle", "end"] = Field(
        "middle", description="position of a unit's network racks among its racks"
    )
    rack_power_max_w: Annotated[int, Field(ge=100, le=10_000_000)] = Field(
        45_000, description="maximum power of a rack: limits its switches, and its servers without `per_rack`"
    )
    places: dict[Host, Fixed] = Field(default_factory=dict, description="device → position, in place of the computed one")
    media: Media = Field(Media.model_construct(), description="cable media per kind of link")
