"""What links are made of: cables with ends of their own, optics, the fibres between them, and the cages they go into."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, NamedTuple, TypeVar

from pydantic import Field

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import Breakout, Gbps, NicSet, PlaneMode, Record, entry_of

FOLDER = Path(__file__).parent / "data" / "media"

CLASSES = ("twisted-pair", "dac", "aec", "aoc", "multimode", "single-mode")  # the cheapest first

Metre = float


class Bought(Record):
    """What is bought by the length."""

    lengths_m: tuple[Metre, ...] = Field(min_length=1, description="lengths that are sold, ascending")
    step_m: Metre = Field(0, description="longer ones come in such steps, 0: there are none")
    description: str = ""
    source: str = Field(min_length=1)

    @property
    def longest_m(self) -> float:
        return math.inf if self.step_m else self.lengths_m[-1]

    def order_m(self, length_m: float) -> float:
        """The next length that is sold; infinite if none is long enough."""
        for length in self.lengths_m:
            if length >= length_m:
                return length
        last = self.lengths_m[-1]
        return last + math.ceil(round((length_m - last) / self.step_m, 6)) * self.step_m if self.step_m else math.inf


class Cable(Bought):
    """A cable whose ends are part of it: twisted pair, DAC, AEC, AOC; with several ends a breakout of the one."""

    class_: Literal["twisted-pair", "dac", "aec", "aoc"] = Field(alias="class")
    speed_gbps: Gbps = Field(description="of the one end")
    ends: int = Field(1, ge=1, le=8, description="ends at the other side, each of a like part of the speed")
    lane_gbps: tuple[Gbps, ...] = Field(min_length=1, description="lane speeds it carries")
    far_lane_gbps: tuple[Gbps, ...] = Field((), description="lane speeds of the other side, where it converts")
    power_w: float = Field(ge=0, description="of the one end, at worst")
    far_power_w: float | None = Field(None, ge=0, description="of each other end, where it differs")


class Optic(Record):
    """A transceiver, by what its cage runs at."""

    class_: Literal["multimode", "single-mode"] = Field(alias="class")
    speed_gbps: Gbps = Field(description="of the whole module")
    ports: int = Field(1, ge=1, le=2, description="optical connectors; two on a twin-port module")
    light: str = Field(description="what its light is, as sr, dr, fr4: optics of one light understand each other")
    lanes: int = Field(ge=1, le=16, description="optical lanes of one connector")
    lane_gbps: Gbps
    wdm: bool = Field(False, description="lanes share a fibre pair, so that they cannot be parted")
    connector: Literal["LC", "MPO-12/APC", "MPO-12/UPC", "MPO-16/APC"]
    fibre: Literal["OM4", "OS2"]
    reach_m: Metre = Field(gt=0)
    power_w: float = Field(gt=0, description="at worst")
    forms: tuple[str, ...] = Field(min_length=1, description="form factors it is made in")
    usual: bool = Field(True, description="false: taken only where an intent names it")
    description: str = ""
    source: str = Field(min_length=1)

    @property
    def port_gbps(self) -> int:
        """Speed of one connector."""
        return self.speed_gbps // self.ports

    @property
    def family(self) -> tuple[str, int, bool]:
        """Optics of one family understand each other."""
        return self.light, self.lane_gbps, self.wdm


class Fibre(Bought):
    """A fibre cable between two optics, or from one to several."""

    connector: str = Field(description="of the one end")
    far_connector: str
    ends: int = Field(1, ge=1, le=16, description="far connectors")
    panel: bool = Field(False, description="a harness on each side and a patch panel between them")
    fibre: Literal["OM4", "OS2"]
    fibres: int = Field(ge=1, description="fibres in use at the one end")


class Cage(Record):
    """A cage of a switch: its form, the electrical lanes of one port, and whether two ports share it."""

    form: str = ""
    lanes: int = Field(0, ge=0, le=16)
    twin: bool = False


class Usual(Record):
    """The cage that a speed usually has."""

    form: str
    lanes: int
    nic_form: str = ""
    nic_lane_gbps: tuple[Gbps, ...]


class Nic(Record):
    """What a maker's NIC takes."""

    form: str
    lane_gbps: tuple[Gbps, ...]
    breakouts: tuple[Breakout, ...] = Field((), description="ports that its one cage may run as; none: a cage for each port")
    device: str = Field("", description="PCI device id, four hexadecimal digits")
    plane_modes: tuple[PlaneMode, ...] = Field((), description="how its ports may serve planes")
    source: str = ""


class NicPort(NamedTuple):
    """Where a port of a NIC is plugged in."""

    cage: int  # of all NICs of the set, from 1
    place: int  # in the cage, from 0
    ports: int  # that share the cage
    form: str  # "" unknown
    label: str  # `OSFP4P2` of a shared cage, else ""


class Cages(Record):
    """Every cage of the shipped models."""

    by_speed: dict[Gbps, Usual]
    switches: dict[str, dict[Gbps, Cage]]
    nics: dict[str, Nic] = Field(description="by the beginning of the model's name")
    takes: dict[str, tuple[str, ...]] = Field(description="form of a cage → other forms that go into it")

    def nic(self, model: str) -> Nic | None:
        """The NIC of a model, None where the catalog has none."""
        return self.nics.get(entry_of(model, self.nics))

    @property
    def forms(self) -> tuple[str, ...]:
        """Form factors that the tables name."""
        usual = [form for its in self.by_speed.values() for form in (its.form, its.nic_form) if form]
        return tuple(sorted({*usual, *self.takes, *(form for others in self.takes.values() for form in others)}))

    def accepts(self, form: str, forms: tuple[str, ...]) -> bool:
        """Whether one of these forms goes into a cage; of an unknown cage it is taken for granted."""
        return not form or form in forms or bool(set(self.takes.get(form, ())) & set(forms))


def nic_breakouts(nic: NicSet) -> dict[int, int]:
    """Ports that a NIC of one port can be split into → their speed."""
    known = cages().nic(nic.model)
    splits = [tuple(map(int, text.split("x"))) for text in known.breakouts] if known and nic.ports == 1 else []
    return {ports: gbps for ports, gbps in splits if ports * gbps == nic.speed_gbps}


@cache
def nic_ports(nic: NicSet) -> tuple[NicPort, ...]:
    """Every port of a set of NICs, NIC by NIC."""
    known, total = cages().nic(nic.model), nic.count * nic.ports
    labels = nic.cages if isinstance(nic.cages, tuple) else ()
    own_cage = known is not None and bool(known.breakouts)
    stated = nic.cages if isinstance(nic.cages, int) else len({label.rpartition("P")[0] for label in labels})
    share = total // (stated or (nic.count if own_cage else total))
    usual = cages().by_speed.get(share * nic.speed_gbps)
    form = nic.form or (known.form if known and (share == 1 or own_cage) else "")
    form = form or ((usual.nic_form or usual.form) if usual else "")
    places = [tuple(map(int, label.lstrip(ascii_uppercase + "-").split("P"))) for label in labels]
    places = places or [(at // share + 1, at % share + 1) for at in range(total)]
    dash = "-" if form[-1:].isdigit() else ""
    shown = labels or [f"{form}{dash}{cage}P{place}" if share > 1 else "" for cage, place in places]
    return tuple(NicPort(cage, place - 1, share, form, label) for (cage, place), label in zip(places, shown, strict=True))


@cache
def all_ports(sets: tuple[NicSet, ...]) -> dict[tuple[int, int], NicPort]:
    """Every port of a server by the number of its NIC, from 1, and its place on it, from 0.

    NICs and cages are counted through all sets.
    """
    found, nics, cages_before = dict[tuple[int, int], NicPort](), 0, 0
    for nic in sets:
        ports = nic_ports(nic)
        for at, port in enumerate(ports):
            found[nics + at // nic.ports + 1, at % nic.ports] = port._replace(cage=cages_before + port.cage)
        nics += nic.count
        cages_before += max(port.cage for port in ports)
    return found


Kind = TypeVar("Kind", bound=Record)


@cache
def cables() -> dict[str, Cable]:
    """Cables with ends of their own, the cheapest class first."""
    found = _load("cables", Cable)
    return dict(sorted(found.items(), key=lambda item: CLASSES.index(item[1].class_)))


@cache
def optics() -> dict[str, Optic]:
    """Transceivers."""
    return _load("optics", Optic)


@cache
def fibres() -> dict[str, Fibre]:
    """Fibre cables."""
    return _load("fibres", Fibre)


@cache
def cages() -> Cages:
    """The cages of the shipped models."""
    return model_of(Cages, yaml.read(FOLDER / "cages.yaml"))


WORDS = (*CLASSES, "optics")  # of a request for a class of media


@cache
def requests() -> tuple[str, ...]:
    """What an intent may request for a kind of link: a class, a cable or an optic."""
    return tuple(sorted({*WORDS, *cables(), *optics()}))


def bought(name: str) -> Cable | Fibre:
    """What a run list calls the medium: a cable with ends, or a fibre."""
    return cables()[name] if name in cables() else fibres()[name]


def fibre_between(connector: str, far: str, fibre: str, ends: int, panel: bool = False) -> str:
    """Name of the fibre cable that joins two kinds of connectors, "" where there is none."""
    for name, its in fibres().items():
        if (its.connector, its.far_connector, its.fibre, its.ends, its.panel) == (connector, far, fibre, ends, panel):
            return name
    return ""


def _load(stem: str, kind: type[Kind]) -> dict[str, Kind]:
    return {name: model_of(kind, entry) for name, entry in yaml.read(FOLDER / f"{stem}.yaml").items()}
