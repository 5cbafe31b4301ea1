"""A site: the whole of an intent file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from fabric.catalog.models import ServerModel, SwitchModel
from fabric.diagnostics import show
from fabric.intent.topology import Planned, Servers, Topology
from fabric.settings.addressing import Names, Pin, Pools, Underlay
from fabric.settings.base import FILLED_IN, NOT_FILLED_IN, Host, Key, ListOf, Model, Name
from fabric.settings.floor import Floor
from fabric.settings.services import Checks, Management, Output, Overlay, Override, Qos, Tenant

VERSION = 1


_SONIC_FORMS = {
    "sonic.alias": (r"([^{}]|\{cage\})*", "a name with {cage}, such as etp{cage},"),
    "sonic.split_alias": (
        r"([^{}]|\{(alias|cage|letter|sub|lane)\})*",
        "fields among {alias}, {cage}, {letter}, {sub} and {lane}",
    ),
    "sonic.lanes": (r"[0-9]{1,4}(-[0-9]{1,4}|(,[0-9]{1,4})*)", "lanes such as 0-7 or 17,18,19,20"),
}


_WITH_FIELDS = ("sonic.alias", "sonic.split_alias")  # `${alias}` would become $etp1


def _printable(model: Any) -> Any:
    """Texts of own hardware go into configs: one line each, and no pattern that Python's format would evaluate."""
    for path, text in _texts(model.model_dump(), ""):
        if not text.isprintable():
            raise ValueError(f"expected one line of text without control characters in {path}, got {show(text)}")
        if "$" in text if path in _WITH_FIELDS else FILLED_IN.search(text):
            raise ValueError(f"{NOT_FILLED_IN}; got {show(text)} in {path}")
        if text.startswith(("=", "+", "-", "@")):
            raise ValueError(f"expected no text that a spreadsheet takes for a formula in {path}, got {show(text)}")
        form, expected = _SONIC_FORMS.get(path.partition("[")[0], ("(?s).*", ""))
        if not re.fullmatch(form, text):
            raise ValueError(f"expected {expected} in {path}, got {show(text)}")
    return model


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}" if path else str(key)
            yield show(inner), key
            yield from _texts(item, inner)
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _texts(item, f"{path}[{at}]")


class OwnCatalog(Key):
    """Hardware of this site, beside the shipped catalog."""

    switches: dict[Model, Annotated[SwitchModel, AfterValidator(_printable)]] = Field(
        default_factory=dict, description="switches by name"
    )
    servers: dict[Model, Annotated[ServerModel, AfterValidator(_printable)]] = Field(
        default_factory=dict, description="servers by name"
    )


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

    purpose: Literal["compute", "storage", "frontend", "oob"] = Field("compute", description="what the network is for")
    nos: Annotated[TierNos, BeforeValidator(_every_tier)] = Field(
        TierNos(),
        description="network OS of the switches, one for all or `{leaf: …, spine: …, core: …}`; each model's usual one",
    )
    servers: Servers = Field(description="the servers: one group, or a list of groups")
    topology: Topology = Field(description="the shape of the network")
    planned: Planned | None = Field(None, description="the size that wiring and numbering leave room for")
    names: Names = Field(Names(), description="name patterns")
    pins: dict[Host, Pin] = Field(
        default_factory=dict, description="switch, by the name it would have → what is fixed for it"
    )
    underlay: Underlay = Field(Underlay(), description="routing between the switches")
    pools: Pools = Field(Pools(), description="address space of this fabric alone")
    overlay: Overlay = Field(Overlay(), description="EVPN/VXLAN")
    tenants: Annotated[tuple[Tenant, ...], ListOf] = Field((), description="who owns which servers")
    qos: Qos = Field(Qos(), description="lossless Ethernet for RoCE")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description="network OS → its release in this fabric, where it differs from the site's"
    )
    management: Management | None = Field(None, description="management of this fabric's switches, where it differs")
    checks: Checks = Field(Checks(), description="silenced checks of this fabric")


class Site(Key):
    """An intent file."""

    version: Literal[1] = Field(description="version of the language")
    site: Name = Field(description="name of the site, and of its folder in `generated/`")
    catalog: OwnCatalog = Field(OwnCatalog(), description="own hardware beside the shipped catalog")
    fabrics: Annotated[dict[Name, Fabric], Field(min_length=1)] = Field(description="the networks of the site")
    pools: Pools = Field(Pools(), description="address space shared by all fabrics")
    management: Management = Field(Management(), description="management of every switch")
    releases: dict[Name, Release] = Field(
        default_factory=dict, description='network OS → release, `cumulus: "5.14"`; the one its page names unless stated'
    )
    checks: Checks = Field(Checks(), description="silenced checks of the whole site")
    overrides: Annotated[tuple[Override, ...], ListOf] = Field((), description="a site's own config lines")
    output: Output = Field(Output(), description="what becomes of the generated files")
    floor: Floor = Field(Floor(), description="where the racks stand, and what cables are made of")
