"""The buffer pools and profiles that SONiC ships for a switch: data of its SKUs, never computed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import Record

FOLDER = Path(__file__).parent / "data" / "buffers"


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
    path = FOLDER / f"{switch_name}.yaml"
    if "/" in switch_name or not path.is_file():
        return None
    return model_of(SonicBuffers, yaml.read(path))
