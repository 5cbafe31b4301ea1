"""What an intent settles for a site and for the shape of a fabric, with every default chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fabric.base.diagnostics import Place
from fabric.model.plan.positions import Positions
from fabric.model.settings.addressing import Pools
from fabric.model.settings.floor import Floor
from fabric.model.settings.home import Home
from fabric.model.settings.services import Management, Output, Override
from fabric.model.settings.topology import PodRule, Uplinks


@dataclass(frozen=True, slots=True)
class Release:
    """The release of a network OS, and where it is stated."""

    nos: str
    release: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Choices that the intent overrides; open ones (`auto`, None) are made by the sizing rule."""

    tiers: Literal["auto", 2, 3]
    pods: PodRule | None
    rails: int | None
    leaf_uplinks: Uplinks
    spine_uplinks: Uplinks
    spines: int | None  # in all
    min_spines: int | None  # of a plane or pod
    cores: int | None  # in all
    spare_server_ports: int  # of every leaf


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
