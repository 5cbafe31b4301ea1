"""Hardware as data: what the catalog's YAML files may say, and what an intent may declare of its own."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

Breakout = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]?x[1-9][0-9]*$")]
Gbps = Annotated[int, Field(ge=1, le=12_800)]
ETHERNET_GBPS = (1, 10, 25, 40, 50, 100, 200, 400, 800, 1600)  # rates of IEEE 802.3 that ports of these switches can have
Metres = Annotated[int, Field(ge=0, le=100_000)]


class Record(BaseModel):
    """Frozen, and refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    def replaced(self, **changes: Any) -> Self:
        """A record with other fields; `model_copy` would keep what was computed of the old ones."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | changes)


class PortGroup(Record):
    """A group of equal cages of a switch."""

    count: int = Field(ge=1, le=1024, description="number of cages; numbering continues from the previous group")
    speed_gbps: Gbps = Field(description="speed of one cage that is not broken out")
    breakouts: tuple[Breakout, ...] = Field((), description="supported breakouts, as ports x Gb/s: `2x400`")
    undivided: bool = Field(True, description="false: the cage is always broken out, never one port of its full speed")

    @model_validator(mode="after")
    def _fits(self) -> PortGroup:
        for text in self.breakouts:
            ports, speed = (int(part) for part in text.split("x"))
            if ports * speed > self.speed_gbps:
                raise ValueError(
                    f"expected breakouts within the cage's {self.speed_gbps}G, got {text} which is {ports * speed}G"
                )
        if not self.undivided and not self.breakouts:
            raise ValueError("expected breakouts of a cage that is never one port, got none")
        return self

    def fitting(self, breakouts: tuple[str, ...]) -> tuple[str, ...]:
        """Those of some breakouts that one cage has the bandwidth for."""
        return tuple(text for text in breakouts if math.prod(map(int, text.split("x"))) <= self.speed_gbps)

    @cached_property
    def splits(self) -> dict[int, int]:
        """Port speed in Gb/s → ports of that speed that one cage gives, the most where several splits give it."""
        table = {self.speed_gbps: 1} if self.undivided else {}
        for text in self.breakouts:
            ports, speed = (int(part) for part in text.split("x"))
            table[speed] = max(table.get(speed, 0), ports)
        return table


class Pipelines(Record):
    """Cages that share a pipeline of the chip, each of which drives a limited number of ports."""

    cages: tuple[Annotated[int, Field(ge=1, le=64)], ...] = Field(
        min_length=1,
        description="pipeline of each cage, repeated over the switch: `[1, 2, 2, 1]` for cages 1 to 4, 5 to 8, …",
    )
    max_ports: int = Field(ge=1, description="ports that the cages of one pipeline give together; an unused cage is one port")

    @cached_property
    def share(self) -> int:
        """Ports that every cage of a pipeline can give at the same time."""
        return self.max_ports // max(Counter(self.cages).values())

    def of(self, cage: int) -> int:
        """The pipeline of a cage; both count from 1."""
        turn, place = divmod(cage - 1, len(self.cages))
        return turn * max(self.cages) + self.cages[place]


class Panel(Record):
    """Ports as the panel reads, where a cage holds several and `ports` counts these."""

    ports: int = Field(ge=2, le=8, description="ports of one cage: 2 behind a twin-port OSFP")
    name: str = Field("{cage}/{port}", description="pattern of a port's name: {cage} and {port} of the cage, from 1")
    planes: int = Field(1, ge=1, le=8, description="chips that each port is spread over: 4 on XDR switches, a node each")

    @field_validator("name")
    @classmethod
    def _fields(cls, text: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_./-]*\{cage\}[A-Za-z0-9_./-]*\{port\}[A-Za-z0-9_./-]*", text):
            raise ValueError(f"expected a pattern with {{cage}} and {{port}}, got {text!r}")
        return text

    def label(self, number: int) -> str:
        """The name of a port, by its number over all cages from 1."""
        cage, port = divmod(number - 1, self.ports)
        return self.name.format(cage=cage + 1, port=port + 1)


class SonicPlatform(Record):
    """SONiC's data of a board, copied from its SKU files."""

    platform: str = Field(description="`x86_64-nvidia_sn5600-r0`")
    hwsku: dict[str, str] = Field(
        description="split of the cages → SKU name; keys as `1x800`, `2x400`, and `default` for any other mix"
    )
    lanes: tuple[str, ...] = Field(description="per cage the SerDes lanes, `0-7` or `17,18,19,20`")
    alias: str = Field("etp{cage}", description="pattern of a whole cage's alias")
    split_alias: str = Field(
        "{alias}{letter}",
        description="pattern of a split port's: {cage}, {alias}, {letter} a, b, …, {sub} 1, 2, …, {lane} of the cage, from 1",
    )
    modes: dict[str, str] = Field(default_factory=dict, description="split → the exact key of platform.json's breakout_modes")
    used_lanes: dict[Breakout, Annotated[int, Field(ge=1, le=16)]] = Field(
        default_factory=dict, description="split → lanes of the cage that it takes, from the first on; the others take all"
    )
    source: str = Field("", description="source of the data")


def lane_list(text: str) -> tuple[int, ...]:
    """`0-7` or `17,18,19,20` as numbers."""
    first, dash, last = text.partition("-")
    return tuple(range(int(first), int(last) + 1)) if dash else tuple(int(lane) for lane in text.split(","))


class SwitchModel(Record):
    """A switch model."""

    ports: tuple[PortGroup, ...] = Field(min_length=1, description="groups of cages in front-panel order")
    asic: str = Field("", description="switch ASIC, by its name in the buffer tables: `tomahawk5`, `spectrum-4`")
    maker: str = Field("", description="vendor")
    description: str = Field("", description="one line: ports and form factor")
    technology: Literal["ethernet", "infiniband"] = Field("ethernet", description="link technology")
    max_logical_ports: int | None = Field(None, ge=1, description="maximum number of ports with breakouts")
    pipelines: Pipelines | None = Field(None, description="cages that share the ports of a pipeline")
    disables_next: int | None = Field(
        None,
        ge=2,
        le=8,
        description="breakouts into so many ports or more are possible in odd cages only, and disable the next cage",
    )
    breakouts_complete: bool = Field(
        False, description="true: the source lists every port speed, so a speed that is missing here is not supported"
    )
    nos: tuple[str, ...] = Field((), description="network OSes of the model, the default first")
    lacks: tuple[str, ...] = Field(
        (),
        description="features the model lacks although its network OS has them: `l2vni`, …; `eos:l2vni`: under one OS only",
    )
    panel: Panel | None = Field(None, description="names of ports on the panel, where a cage holds several of them")
    sonic: SonicPlatform | None = Field(None, description="platform data of SONiC")
    rack_units: int | None = Field(None, ge=1, description="height in rack units")
    power_typical_w: int | None = Field(None, ge=1, description="typical power in watts")
    power_max_w: int | None = Field(None, ge=1, description="maximum power in watts")
    power_includes_optics: tuple[Literal["typical", "max"], ...] = Field(
        (), description="figures that include a full set of optics; the others are with passive cables"
    )
    power_source: str = Field("", description="source of the power figures: document, revision, page or table")
    power_second_hand: bool = Field(False, description="true: the source names no document of the maker")
    buffer_bytes: int | None = Field(None, ge=1, description="packet buffer in bytes")
    cell_bytes: int | None = Field(None, ge=1, description="buffer cell in bytes")
    latency_ns: int | None = Field(None, ge=1, description="forwarding latency in ns")
    source: str = Field("", description="source of the entry")

    @cached_property
    def cages(self) -> int:
        return sum(group.count for group in self.ports)

    @cached_property
    def bandwidth_gbps(self) -> int:
        return sum(group.count * group.speed_gbps for group in self.ports)

    @cached_property
    def native_gbps(self) -> int:
        """Speed of the fastest cages: what uplinks run at unless they are broken out."""
        return self.speeds[0]

    @cached_property
    def speeds(self) -> tuple[int, ...]:
        """Every port speed of the switch, fastest first."""
        return tuple(sorted({speed for group in self.ports for speed in group.splits}, reverse=True))

    @cached_property
    def uplink_speeds(self) -> tuple[int, ...]:
        """What the cages that do the highest speed can do, fastest first."""
        fastest = [group for group in self.ports if self.native_gbps in group.splits]
        return tuple(sorted({speed for group in fastest for speed in group.splits}, reverse=True))

    def may_have(self, speed_gbps: int) -> bool:
        """Whether the switch may have a port speed that its entry does not list, as the list need not be complete."""
        listed = speed_gbps in self.speeds or self.breakouts_complete
        return not listed and speed_gbps in ETHERNET_GBPS and speed_gbps <= self.native_gbps

    def with_breakouts(self, more: tuple[str, ...]) -> SwitchModel:
        """The model with further breakouts, in every cage that has the bandwidth for them."""
        ports = tuple(
            group.replaced(breakouts=tuple(dict.fromkeys((*group.breakouts, *group.fitting(more))))) for group in self.ports
        )
        return self.replaced(ports=ports)

    def is_wide(self, split: int) -> bool:
        """Whether a cage that is split into so many ports disables the next."""
        return self.disables_next is not None and split >= self.disables_next

    def group_of(self, cage: int) -> PortGroup:
        """The port group that front-panel cage `cage` (from 1) belongs to."""
        return self._group_of[cage - 1]

    @cached_property
    def _group_of(self) -> tuple[PortGroup, ...]:
        return tuple(group for group in self.ports for _ in range(group.count))


Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,14}$")]
RdmaDevice = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,62}$")]
CagePort = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z-]{0,15}[1-9][0-9]?P[1-8]$")]


PlaneMode = Literal["none", "swplb", "hwplb"]  # one plane; software, or the NIC itself, chooses among several


class NicSet(Record):
    """NICs of one purpose in a server."""

    count: int = Field(ge=1, le=64, description="NICs; on a rail-optimized fabric each is a rail")
    ports: int = Field(1, ge=1, le=8, description="ports of one NIC")
    speed_gbps: Gbps = Field(description="speed of one port")
    model: str = Field("", description="NIC model")
    functions: int = Field(1, ge=1, le=2, description="interfaces of a port, each on PCIe lanes of its own (2 on DGX Spark)")
    cages: Annotated[int, Field(ge=1, le=512)] | tuple[CagePort, ...] | None = Field(
        None,
        description="cages of all NICs, which their ports share in order: 8 for sixteen ports in twin-port cages; or cage "
        "and place of every port, NIC by NIC: `OSFP4P2`; default: one for each port, unless the NIC model has another number",
    )
    form: str = Field("", description="form factor of the cages, `OSFP`; default: that of the NIC model, else of the speed")
    interfaces: tuple[Interface, ...] = Field(
        (), description="kernel names of the ports, NIC by NIC; default: the names in the plan (`compute1`)"
    )
    rdma_devices: tuple[RdmaDevice, ...] = Field(
        (), description="RDMA devices of the ports, NIC by NIC: `mlx5_0`; or one of each NIC that joins its ports"
    )

    @model_validator(mode="after")
    def _every_port(self) -> NicSet:
        for key in ("interfaces", "rdma_devices"):
            names, ports = getattr(self, key), self.count * self.ports * self.functions
            joined = key == "rdma_devices" and len(names) == self.count
            if names and len(names) != ports and not joined:
                raise ValueError(f"expected one name in {key} for each of the {ports} ports, got {len(names)}")
            if len(set(names)) != len(names):
                raise ValueError(f"expected every name in {key} once")
        return self

    def rdma_device(self, at: int) -> str:
        """The RDMA device of a port, counted from 0 NIC by NIC; "" where none is known."""
        if len(self.rdma_devices) == self.count:
            return self.rdma_devices[at // (self.ports * self.functions)]
        return self.rdma_devices[at] if self.rdma_devices else ""

    @model_validator(mode="after")
    def _whole_cages(self) -> NicSet:
        ports = self.count * self.ports
        if isinstance(self.cages, int) and (self.cages > ports or ports % self.cages):
            most = max(count for count in range(1, min(self.cages, ports) + 1) if ports % count == 0)
            raise ValueError(f"cages: expected a divisor of the {ports} ports, such as {most}, got {self.cages}")
        if isinstance(self.cages, tuple):
            if len(self.cages) != ports or len(set(self.cages)) != ports:
                expected = f"a cage and a place for each of the {ports} ports"
                raise ValueError(f"cages: expected {expected}, got {len(set(self.cages))}")
            by_cage = Counter(label.rpartition("P")[0] for label in self.cages)
            wrong = next((label for label in self.cages if int(label[-1]) > by_cage[label.rpartition("P")[0]]), "")
            if wrong or len(set(by_cage.values())) > 1:
                raise ValueError(
                    f"cages: expected equally many ports in every cage, numbered from P1, got {wrong or self.cages[0]}"
                )
        return self


class ServerModel(Record):
    """A server model: GPUs and NICs."""

    gpus: int = Field(ge=0, le=1024, description="GPUs of the server")
    nvlink_domain_gpus: int | None = Field(
        None,
        ge=1,
        description="GPUs of one NVLink domain: whole servers of a rack, or 2 or 4 of a server that a bridge joins",
    )
    nics: dict[str, NicSet] = Field(description="by purpose: compute, storage, frontend, oob")
    maker: str = Field("", description="vendor")
    description: str = Field("", description="one line: GPUs and form factor")
    gpu: str = Field("", description="GPU model: `h100`, `b200`; selects parameters of estimates")
    rack_units: int | None = Field(None, ge=1, description="height in rack units")
    power_typical_w: int | None = Field(None, ge=1, description="typical power in watts")
    power_max_w: int | None = Field(None, ge=1, description="maximum power in watts")
    power_source: str = Field("", description="source of the power figures: document, revision, page or table")
    power_second_hand: bool = Field(False, description="true: the source names no document of the maker")
    nvlink_gbytes_s: int | None = Field(None, ge=1, description="NVLink or xGMI bandwidth of one GPU, sum of both directions")
    source: str = Field("", description="source of the entry")

    @model_validator(mode="after")
    def _whole_domains(self) -> ServerModel:
        domain, gpus = self.nvlink_domain_gpus, self.gpus
        if domain is None:
            return self
        if not gpus:
            raise ValueError(f"expected no nvlink_domain_gpus of a server without GPUs, got {domain}")
        if max(domain, gpus) % min(domain, gpus):
            below, above = domain - domain % gpus, domain - domain % gpus + gpus
            near = next(size for size in range(domain, 0, -1) if gpus % size == 0)
            expected = (
                f"{below} or {above}, whole servers" if domain > gpus else f"{near}, an equal part of the server's GPUs"
            )
            raise ValueError(f"nvlink_domain_gpus: expected {expected} of {gpus}, got {domain}")
        return self

    @property
    def fills_rack(self) -> bool:
        """Whether NVLink joins it with others of a rack, as the trays of an NVL72."""
        return bool(self.gpus) and (self.nvlink_domain_gpus or 0) > self.gpus


GENERIC = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]{0,4})g")


def generic_switch(name: str) -> SwitchModel | None:
    """The generic model of a name such as `64x400g`, or None.

    It splits a cage into 2, 4 and 8 as long as a port keeps whole Gb/s and at least 25 of them.
    """
    match = GENERIC.fullmatch(name)
    if match is None or not 1 <= int(match[1]) <= 1024 or not 1 <= int(match[2]) <= 12_800:
        return None
    count, speed = int(match[1]), int(match[2])
    breakouts = tuple(f"{n}x{speed // n}" for n in (2, 4, 8) if speed % n == 0 and speed // n >= 25)
    return SwitchModel(
        ports=(PortGroup(count=count, speed_gbps=speed, breakouts=breakouts),),
        breakouts_complete=True,
        maker="generic",
        description=f"any switch with {count} ports of {speed}G",
        nos=("frr",),
        source="the name itself",
    )


# --- Names of NICs and GPUs as people write them --------------------------------------------------------------

MAKER = re.compile(r"^(?:amd|broadcom|intel|mellanox|nvidia)\b[\s_-]*", re.IGNORECASE)


@cache
def folded(name: str) -> str:
    """`NVIDIA ConnectX 7` → `connectx7`: letters and digits, without the maker."""
    return re.sub(r"[^a-z0-9]+", "", MAKER.sub("", name.strip()).lower())


def entry_of(name: str, table: Iterable[str]) -> str:
    """The entry that a full name begins with, as `ConnectX-7` of "ConnectX-7, one port of each card"; "" for none."""
    return _entry_of(name, tuple(table))


@cache
def _entry_of(name: str, table: tuple[str, ...]) -> str:
    word = folded(name)
    found = [entry for entry in table if re.match(rf"{folded(entry)}(?![0-9])", word)]
    return max(found, key=len, default="")


CatalogDocument = Annotated[
    dict[str, SwitchModel | ServerModel] | SwitchModel | ServerModel,
    Field(
        description="Switches and servers by model; of `fabric catalog NAME` the one entry. "
        "Keys that have their default are left out."
    ),
]
