"""Switch chips as the headroom arithmetic sees them: buffers, cells, and the headroom tables that SONiC ships."""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import Gbps, Record

Metres = Annotated[int, Field(ge=0)]  # tables of routers reach further than a cable of an intent may
FOLDER = Path(__file__).parent / "data" / "asics"
MAKER = re.compile(r"^(barefoot|broadcom|centec|cisco|innovium|intel|marvell|mellanox|nephos|nvidia)\b[\s_-]*")


class Figures(Record):
    """What one speed of a table has of its own."""

    threshold: int | None = None
    threshold_bytes: int | None = Field(None, ge=1)
    xon_bytes: int | None = Field(None, ge=0)
    xon_offset_bytes: int | None = Field(None, ge=0)


class HeadroomTable(Record):
    """One `pg_profile_lookup.ini`: what a SKU grants a lossless group, by port speed and cable length."""

    sku: str
    switches: tuple[str, ...] = Field((), description="catalog switches the SKU belongs to")
    default: bool = Field(False, description="the table of a switch that has this chip and no table under its name")
    threshold: int | None = Field(
        None, description="n of alpha = 2^n: a group may fill alpha times the free pool before it sends PAUSE"
    )
    threshold_bytes: int | None = Field(None, ge=1, description="fill level that sends PAUSE, where it is a number")
    xon_bytes: int = Field(ge=0, description="fill level below which the peer may send again")
    xon_offset_bytes: int | None = Field(None, ge=0, description="how far below its threshold a group must fall to resume")
    size_bytes: int | None = Field(None, ge=0, description="what a group reserves, where that is one number")
    sizes: dict[Gbps, dict[Metres, int]] = Field(default_factory=dict, description="rows that reserve another size")
    size_above_xoff_bytes: int | None = Field(None, ge=0, description="what a group reserves beyond its headroom")
    by_speed: dict[Gbps, Figures] = Field(default_factory=dict, description="speeds with figures of their own")
    rows: dict[Gbps, dict[Metres, int]] = Field(description="speed → cable length → xoff in bytes")
    source: str

    @model_validator(mode="after")
    def _complete(self) -> HeadroomTable:
        if (self.size_bytes is None) == (self.size_above_xoff_bytes is None):
            raise ValueError("expected one of size_bytes and size_above_xoff_bytes, got both or neither")
        if (self.threshold is None) == (self.threshold_bytes is None):
            raise ValueError("expected one of threshold and threshold_bytes, got both or neither")
        for speed, row in self.rows.items():
            if list(row.values()) != sorted(row[length] for length in sorted(row)):
                raise ValueError(f"expected rows of {speed}G that grow with the length, got {row}")
        return self

    @cached_property
    def fastest_gbps(self) -> int:
        return max(self.rows)

    @cached_property
    def shared(self) -> bool:
        """A group reserves less than its headroom; the rest comes from a pool that all ports share."""
        return self.size_bytes is not None

    def at(self, speed_gbps: int) -> HeadroomTable:
        """The table as ports of this speed have it."""
        own = self.by_speed.get(speed_gbps)
        return self.model_copy(update=own.model_dump(exclude_none=True)) if own else self

    def size(self, speed_gbps: int, length_m: int, xoff_bytes: int) -> int:
        """Bytes that a group of this row reserves."""
        if self.size_bytes is None:
            return xoff_bytes + (self.size_above_xoff_bytes or 0)
        return self.sizes.get(speed_gbps, {}).get(length_m, self.size_bytes)


class Spectrum(Record):
    """Figures of the formula by which NVIDIA's chips compute their headroom."""

    pipeline_latency_bytes: int = Field(ge=0, description="xon of a port of up to four lanes")
    static_latency_bytes: int | None = Field(None, ge=0, description="the same in the static tables, where they differ")
    mac_phy_bytes: float = Field(ge=0, description="bytes held in MAC and PHY while PAUSE is sent")
    fixed_response_bytes: float | None = Field(
        None, ge=0, description="the static tables' time for the peer, if not by speed"
    )
    tile_ns: int = Field(0, ge=0, description="time a packet waits on the die")
    compensation_bytes: int = Field(0, ge=0, description="added to xoff for the chip's own accounting")
    slow_response_gbps: int | None = Field(
        None, description="from this speed on the static tables grant the peer twice the time"
    )
    eight_lanes_gbps: tuple[Gbps, ...] = Field((), description="speeds that take eight lanes of a port")


class Asic(Record):
    """A switch chip."""

    family: str
    also: tuple[str, ...] = Field((), description="short forms and part numbers that mean the chip")
    cell_bytes: int | None = Field(None, ge=1, description="unit of buffer memory; a packet takes whole cells")
    buffer_bytes: int | None = Field(None, ge=1, description="packet buffer by the data sheet")
    pool_bytes: int | None = Field(None, ge=1, description="largest pool that SONiC makes of it")
    threshold: int | None = Field(None, description="n of alpha = 2^n of lossless groups")
    spectrum: Spectrum | None = None
    tables: tuple[HeadroomTable, ...] = ()
    source: str

    def table_of(self, switch: str) -> HeadroomTable | None:
        """The published table of a switch, else the default table of the chip."""
        own = next((table for table in self.tables if switch in table.switches), None)
        return own or next((table for table in self.tables if table.default), None)


def asic(name: str) -> Asic | None:
    """The chip of that name in any spelling (`Spectrum3`, `Broadcom Tomahawk 4`, `TH4`), None if nothing is known of it."""
    return _asics().get(asic_name(name))


def asic_names() -> list[str]:
    """Chips as the catalog spells them."""
    return sorted(_asics())


@cache
def asic_name(text: str) -> str:
    """The catalog's spelling of a chip; the text in lower case where none fits."""
    plain = text.strip().lower()
    return _spellings().get(_fold(plain)) or _spellings().get(_fold(MAKER.sub("", plain))) or plain


def _fold(text: str) -> str:
    """Spaces, hyphens, dots and the sign of a plus do not tell chips apart; Jericho and Jericho+ are two."""
    return re.sub(r"[\s._-]+", "", text.lower()).replace("+", "plus")


@cache
def _spellings() -> dict[str, str]:
    """Folded spelling → name; a chip's own name comes before another's short form."""
    short = {_fold(also): name for name, chip in _asics().items() for also in chip.also}
    return short | {_fold(name): name for name in _asics()}


@cache
def _asics() -> dict[str, Asic]:
    entries: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        entries |= yaml.read(path)
    return {name: model_of(Asic, fields) for name, fields in entries.items()}


# --- Buffer pools and profiles that SONiC ships for a switch --------------------------------------------------

BUFFER_FOLDER = Path(__file__).parent / "data" / "buffers"


class BufferPool(Record):
    """A row of BUFFER_POOL."""

    size_bytes: int = Field(ge=0)
    type: Literal["ingress", "egress"]
    mode: Literal["static", "dynamic"]
    xoff_bytes: int | None = Field(None, ge=0, description="headroom that the groups share, none where each has its own")


class BufferProfile(Record):
    """A row of BUFFER_PROFILE; its limit is a number of bytes or an exponent of alpha, one of the two."""

    pool: str
    size_bytes: int = Field(ge=0, description="reserved before the pool is asked")
    static_th: int | None = Field(None, description="bytes")
    dynamic_th: int | None = Field(None, description="n of alpha = 2^n")
    packet_discard_action: Literal["", "drop", "trim"] = ""

    @model_validator(mode="after")
    def _one_limit(self) -> BufferProfile:
        if (self.static_th is None) == (self.dynamic_th is None):
            raise ValueError("expected one of static_th and dynamic_th, got both or neither")
        return self


class TierBuffers(Record):
    """What one `buffers_defaults_*.j2` holds."""

    pools: dict[str, BufferPool]
    profiles: dict[str, BufferProfile]
    source: str

    @model_validator(mode="after")
    def _pools_exist(self) -> TierBuffers:
        for name, profile in self.profiles.items():
            if profile.pool not in self.pools:
                raise ValueError(f"expected a pool of {sorted(self.pools)} in {name}, got {profile.pool}")
        return self


class SkuBuffers(Record):
    """Buffers of a SKU by tier: SONiC's t0 is a leaf, its t1 a spine; `both` where the two files agree."""

    both: TierBuffers | None = None
    leaf: TierBuffers | None = None
    spine: TierBuffers | None = None

    def tier(self, name: str) -> TierBuffers | None:
        """Buffers of a leaf; of a spine under any other name, because whatever stands above the leaves is built like one."""
        return self.both or (self.leaf if name == "leaf" else self.spine)


class SonicBuffers(Record):
    """A switch: SKU name → buffers, the usual SKU first."""

    skus: dict[str, SkuBuffers] = Field(min_length=1)

    def find(self, sku: str, tier: str) -> TierBuffers | None:
        """Pools and profiles of a SKU in a tier, None where it ships none."""
        found = self.skus.get(sku)
        return found.tier(tier) if found else None


@cache
def buffers(switch_name: str) -> SonicBuffers | None:
    """The buffers of a shipped switch, None where SONiC has none for its platform."""
    path = BUFFER_FOLDER / f"{switch_name}.yaml"
    if "/" in switch_name or not path.is_file():
        return None
    return model_of(SonicBuffers, yaml.read(path))
