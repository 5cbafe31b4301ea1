"""A site: its folder, its floor, its own hardware, the purposes of its networks and the shape of its fabrics."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from fabric.base.diagnostics import show
from fabric.hardware import catalog
from fabric.hardware.catalog.models import Breakout, ServerModel, SwitchModel, lane_list
from fabric.model.settings.addressing import Asn, Routes
from fabric.model.settings.base import FILLED_IN, NOT_FILLED_IN, Count, Gbps, Host, Key, Line, ListOf, Model, Name, TenantName

# --- Folder ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Home:
    """The file of an intent, and the folder that its site's files lie in."""

    path: Path = Path()
    folder: Path = Path()

    @property
    def shown(self) -> Path:
        """The folder as a person at this prompt would name it."""
        path = os.path.relpath(self.folder)
        return self.folder if path.startswith("..") else Path(path)


# --- Day zero: what a new switch is given by DHCP and HTTP ----------------------------------------------------

_HOST_PART = "[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?"
HTTP = rf"^http://{_HOST_PART}(?::[0-9]{{1,5}})?(?:/[A-Za-z0-9][A-Za-z0-9._-]{{0,60}}){{0,8}}$"
FILE_NAME = "^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$"
IMAGE_VERSION = "^[0-9A-Za-z][0-9A-Za-z.()_+-]{0,60}$"
SHA256 = "^[0-9a-f]{64}$"
CIRCUIT_ID = "^[A-Za-z0-9 {}:/._-]{2,60}$"


class Extension(Key):
    """A package that a switch loads in addition to its image: a file in the folder `images` of the HTTP server."""

    file: Annotated[str, Field(pattern=FILE_NAME)] = Field(description="name of the file")
    sha256: Annotated[str, Field(pattern=SHA256)] = Field(description="checksum of the file, in small letters")


class Image(Key):
    """The software that a switch runs: a file in the folder `images` of the HTTP server."""

    file: Annotated[str, Field(pattern=FILE_NAME)] = Field(description="name of the file")
    version: Annotated[str, Field(pattern=IMAGE_VERSION)] = Field(
        description="version as the switch prints it; a switch that runs it already installs nothing"
    )
    sha256: Annotated[str, Field(pattern=SHA256)] = Field(description="checksum of the file, in small letters")
    extensions: Annotated[tuple[Extension, ...], ListOf] = Field((), description="packages that EOS loads at every start")


class DayZero(Key):
    """Servers and images for the first start of the switches: `fabric export day-zero`."""

    server: Annotated[str, Field(pattern=HTTP, max_length=150)] = Field(
        description="URL of the HTTP server that serves the exported folder, `http://192.0.2.5`"
    )
    images: dict[Line, Image] = Field(
        default_factory=dict, description="network OS, or switch model where it differs → image; default: none is installed"
    )
    circuit_id: Annotated[str, Field(pattern=CIRCUIT_ID)] | None = Field(
        None,
        description=(
            "circuit id (DHCP option 82) that relay agents of the out-of-band leaves insert, with `{switch}`, `{port}` and "
            "`{alias}`; default: that of their network OS"
        ),
    )

    @field_validator("circuit_id")
    @classmethod
    def _fields(cls, text: str | None) -> str | None:
        rest = text or "{port}"
        if "{port}" not in rest and "{alias}" not in rest:
            raise ValueError("expected {port} or {alias} in it")
        if re.search("[{}]", re.sub(r"\{(?:switch|port|alias)\}", "", rest)):
            raise ValueError("expected no other braces than {switch}, {port} and {alias}")
        return text


# --- Floor: racks, and how cables run -------------------------------------------------------------------------

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
    server_server: Line | None = Field(None, alias="server-server", description="between two servers, without switches")


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
    media: Media = Field(Media(), description="cable media per kind of link")


# --- Own hardware, in the form of the shipped catalog ---------------------------------------------------------

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


def _in_lanes(model: SwitchModel) -> SwitchModel:
    """Every port of a breakout has a lane of its own: ports of one lane would have one name."""
    for at, text in enumerate(model.sonic.lanes[: model.cages] if model.sonic else ()):
        for breakout in model.group_of(at + 1).breakouts:
            if int(breakout.partition("x")[0]) > len(lane_list(text)):
                raise ValueError(f"expected a lane for each port of {breakout} in sonic.lanes[{at}], got {show(text)}")
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

    switches: dict[Model, Annotated[SwitchModel, AfterValidator(_printable), AfterValidator(_in_lanes)]] = Field(
        default_factory=dict, description="switches by name"
    )
    servers: dict[Model, Annotated[ServerModel, AfterValidator(_printable)]] = Field(
        default_factory=dict, description="servers by name"
    )
    breakouts: dict[Model, Annotated[tuple[Breakout, ...], ListOf]] = Field(
        default_factory=dict,
        description="switch → breakouts that it has beside those of the catalog: `{qfx5130-32cd: [2x200]}`",
    )

    def switch(self, name: str) -> SwitchModel | None:
        """The switch of that name: of the site, shipped, or generic, with the site's further breakouts; else None."""
        model = catalog.switch(name, self.switches)
        return model.with_breakouts(self.breakouts[name]) if model is not None and name in self.breakouts else model


# --- Networks by purpose --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Purpose:
    """Defaults of one purpose. A tenant, an overlay or bonds are never a default: the intent states them."""

    kind: str  # of `topology.kind`
    oversubscription: Fraction  # of the leaves; spines are 1:1
    lossless: bool  # RoCE runs here


PURPOSES = {
    # A GPU waits for the slowest link: every bit in has a bit out, and rails keep collectives one hop apart.
    "compute": Purpose("rail-optimized", Fraction(1), lossless=True),
    # Checkpoints come from all racks at once, over NVMe-oF or NFS on RDMA.
    "storage": Purpose("rack", Fraction(1), lossless=True),
    # TCP: it slows down by itself where a link is full.
    "frontend": Purpose("rack", Fraction(1), lossless=False),
    # Consoles and BMCs of 1G: an uplink carries a rack many times over.
    "oob": Purpose("rack", Fraction(4), lossless=False),
}


# --- Shape of a fabric, and attachments -----------------------------------------------------------------------


class Uplinks(Key):
    """Uplinks of one switch; overrides the computed ones."""

    count: Count | None = Field(None, description="uplinks of one switch, to all upper switches together")
    speed_gbps: Gbps | None = Field(None, description="speed of one link; default: the fastest that both ends support")
    ports: Literal["first", "last"] = Field(
        "last", description="of the fastest cages: uplinks take the `first`, as in many labs, or the `last`"
    )


class BareLeaves(Key):
    """Leaves without servers: border leaves, service leaves."""

    name: Name = Field(description="what they are for, `border`: key of their numbers in the lock")
    count: Count = Field(description="how many; pairs with `dual_tor`, unless `paired: false`")
    paired: bool = Field(True, description="with `dual_tor`: whether each two of them are a pair, as those of servers are")


class PodRule(Key):
    """Number or size of pods; one of count, units and racks."""

    count: Count | None = Field(None, description="total number of pods")
    units: Count | None = Field(None, description="units of one pod")
    racks: Count | None = Field(None, description="racks of one pod")
    rails: Count | None = Field(
        None,
        description=(
            "rails of one pod, each rail or few of them with spines of their own: `{units: 8, rails: 1}` is a pod for each "
            "rail of 8 units, joined by shared cores. Default: all rails"
        ),
    )

    @model_validator(mode="after")
    def _one(self) -> PodRule:
        stated = [key for key in ("count", "units", "racks") if getattr(self, key) is not None]
        if len(stated) != 1:
            raise ValueError(f"expected one of count, units and racks, got {' and '.join(stated) or 'none'}")
        return self


class External(Key):
    """An external router: the border leaves, to which it is cabled, have eBGP sessions with it."""

    asn: Asn = Field(description="AS number of the router at the other end, such as 65010")
    tenants: Annotated[tuple[TenantName, ...], ListOf] = Field(
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
    leaves: Annotated[tuple[Count, ...], ListOf] = Field(
        (), description="leaves that the links are spread over, by their number from 1; default: all with free ports"
    )
    external: External | None = Field(None, description="its BGP session and routes, if it is an external router")
    tenant: TenantName | None = Field(None, description="tenant of the device, if the fabric has several")
    network: TenantName | None = Field(
        None, description="layer-2 network of the tenant that its ports are in, untagged; default: all, as on server ports"
    )
    bond: bool = Field(
        False, description="all its links are one bond over a pair of leaves, as to a switch below: half of them on each leaf"
    )
    lossless: bool | None = Field(None, description="PFC on its ports; default: as in the fabric; never on ports to a router")


class Below(Key):
    """Leaves that hang below the leaves of another fabric, as out-of-band switches do: they bridge one of its tenants.

    Without a tenant they are cabled alone.
    """

    fabric: Name = Field(description="fabric whose leaves they are cabled to")
    tenant: TenantName | None = Field(
        None, description="its tenant, whose networks they carry; the gateways are there; default: none, cabled alone"
    )
    network: TenantName | None = Field(
        None,
        description="network that their server ports are in; default: the one that is not of the switches' management ports",
    )
    links: Count = Field(
        2, description="links of one switch, all in one bond: half of them on each leaf where these are pairs"
    )
    speed_gbps: Gbps | None = Field(None, description="speed of a link; default: the fastest that both ends support")
