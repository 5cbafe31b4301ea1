"""The hardware catalog: YAML files beside this one, read when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import ServerModel, SonicPlatform, SwitchModel, generic_switch

DATA = Path(__file__).parent / "data"


def switch(name: str, own: Mapping[str, SwitchModel] = {}) -> SwitchModel | None:
    """The switch model of that name: of the site, shipped, or generic such as `64x400g`; else None."""
    if name in own:
        return own[name]
    entry = _entries("switches").get(name)
    return model_of(SwitchModel, entry) if entry is not None else generic_switch(name)


def server(name: str, own: Mapping[str, ServerModel] = {}) -> ServerModel | None:
    """The server of that name, the site's own before the shipped; else None."""
    if name in own:
        return own[name]
    entry = _entries("servers").get(name)
    return model_of(ServerModel, entry) if entry is not None else None


def switch_names() -> list[str]:
    """Shipped switches."""
    return sorted(_entries("switches"))


@cache
def network_oses() -> frozenset[str]:
    """Network OSes that a shipped switch names as its own."""
    return frozenset(nos for entry in _entries("switches").values() for nos in entry.get("nos", ()))


def server_names() -> list[str]:
    """Shipped servers."""
    return sorted(_entries("servers"))


@cache
def sonic_platform(name: str) -> SonicPlatform | None:
    """SONiC platform data of a shipped switch, None where no SKU is known."""
    path = DATA / "boards" / f"{name}.yaml"
    if "/" in name or not path.is_file():
        return None
    return model_of(SonicPlatform, yaml.read(path))


@cache
def _entries(kind: str) -> dict[str, Any]:
    return {name: entry for path in sorted((DATA / kind).glob("*.yaml")) for name, entry in yaml.read(path).items()}
