"""The parameters that a collective's time is made of, the GPUs they are known for, and the platforms they were fitted to.

The data lies in `data/`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fabric.base.formats import yaml
from fabric.base.rounding import ceil_div
from fabric.solver import Floats, Ints

if TYPE_CHECKING:
    from fabric.solver.measured.tables import Table


# --- platforms that the parameters were fitted to: sources and largest runs -----------------------------------


class Kind(NamedTuple):
    """Kind of a measured run; the transport of one NVLink domain is `none`."""

    generation: str
    transport: str
    family: str


class MeasuredRange(NamedTuple):
    """What was measured of a kind."""

    sources: int
    ranks: int  # of the largest measured run
    domains: tuple[int, ...] = ()  # measured sizes of NVLink domains, in ranks; (): not recorded
    most_domains: int = 0  # of a measured run; 0: not recorded


@dataclass(frozen=True)
class Coverage:
    """Measured kinds."""

    kinds: Mapping[Kind, MeasuredRange]

    def sources(self, kind: Kind) -> int:
        """Sources of exactly this kind."""
        seen = self.kinds.get(kind)
        return seen.sources if seen else 0

    def has_domain(self, kind: Kind, domain: int) -> bool:
        """Whether an NVLink domain of about so many ranks was measured of a kind: less than half or twice another one."""
        return self.doublings_to_domain(kind, domain) == 0

    def doublings_to_domain(self, kind: Kind, domain: int) -> float:
        """Doublings of the ranks of an NVLink domain to the nearest that was measured of a kind; 0 below one."""
        seen = self.kinds.get(kind)
        sizes = seen.domains if seen else ()
        return _from_one(min((abs(math.log2(domain / size)) for size in sizes), default=0.0))

    def doublings_of_domains(self, kind: Kind, domains: float) -> float:
        """Doublings from the most NVLink domains of a measured run of a kind to so many; 0 below one, and in one server."""
        most = self.kinds[kind].most_domains if kind in self.kinds else 0
        return _from_one(math.log2(domains / most)) if most > 1 else 0.0

    def has(self, **part: str) -> bool:
        """Whether any kind has these parts, such as transport="roce"."""
        return any(all(getattr(kind, name) == word for name, word in part.items()) for kind in self.kinds)

    def ranks(self, family: str) -> int:
        """Ranks of the largest measured run of a family, 0 for none."""
        return max((seen.ranks for kind, seen in self.kinds.items() if kind.family == family), default=0)

    def document(self) -> list[dict[str, Any]]:
        """Entries of a platform file."""
        return [
            {**kind._asdict(), **seen._asdict(), "domains": list(seen.domains)} for kind, seen in sorted(self.kinds.items())
        ]


def _from_one(doublings: float) -> float:
    return doublings if doublings >= 1 else 0.0


def coverage_from_document(entries: Iterable[Mapping[str, Any]]) -> Coverage:
    """The entries of `Coverage.document`."""
    return Coverage(
        {
            Kind(entry["generation"], entry["transport"], entry["family"]): MeasuredRange(
                entry["sources"], entry["ranks"], tuple(entry.get("domains", ())), entry.get("most_domains", 0)
            )
            for entry in entries
        }
    )


def joined(one: Coverage, other: Coverage) -> Coverage:
    """Both; sources that are in both count twice."""
    found = dict(one.kinds)
    for kind, seen in other.kinds.items():
        mine = found.get(kind, MeasuredRange(0, 0))
        domains = tuple(sorted({*mine.domains, *seen.domains}))
        most_domains = max(mine.most_domains, seen.most_domains)
        found[kind] = MeasuredRange(mine.sources + seen.sources, max(mine.ranks, seen.ranks), domains, most_domains)
    return Coverage(dict(sorted(found.items())))


def origin(source: str) -> str:
    """The repository or report of a source, its issue or path left off."""
    return source if source.startswith("http") else re.split(r"[#:,(\s]", source, maxsplit=1)[0]


def coverage(tables: Iterable[tuple[Kind, Table]]) -> Coverage:
    """The kinds of tables."""
    members: dict[Kind, list[Table]] = {}
    for kind, table in tables:
        members.setdefault(kind, []).append(table)
    return Coverage({kind: _range(members[kind]) for kind in sorted(members)})


def _range(tables: Sequence[Table]) -> MeasuredRange:
    platforms = [table.platform for table in tables]
    return MeasuredRange(
        sources=len({origin(table.source) for table in tables}),
        ranks=max(platform.ranks for platform in platforms),
        domains=tuple(sorted({platform.domain_ranks for platform in platforms})),
        most_domains=max(ceil_div(platform.ranks, platform.domain_ranks) for platform in platforms),
    )


# --- parameters -----------------------------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"
SCOPES: tuple[str, ...] = ("generation", "transport", "shared")
NOTHING_MEASURED = Coverage({})
RDMA = "rdma"  # remote direct memory access of a kind that is not stated
SAME_TRANSPORT = {  # other names of a transport
    "fastrak": "tcpxo",
    "gpudirecttcpxo": "tcpxo",
    "gpudirecttcpx": "tcpx",
    "tcp": "ethernet",
    "socket": "ethernet",
    "spectrum": "roce",
    "rocev2": "roce",
    "cxi": "slingshot",
    "ib": "infiniband",
}
OLD_EFA = ("volta", "ampere")  # generations of AWS instances with the first EFA


@dataclass(frozen=True)
class Parameter:
    """One parameter for one kind; of all kinds where `kind` is empty."""

    name: str
    kind: str
    first: float  # value before the fit
    spread: float  # standard deviation of its logarithm
    scope: str  # of SCOPES

    @property
    def key(self) -> str:
        return f"{self.name}.{self.kind}" if self.kind else self.name


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """What a GPU's name says."""

    name: str
    generation: str
    nvlink_GBps: float  # one direction; 0: it reaches the other GPUs of its server over PCIe
    pcie_GBps: float  # one direction, line rate of the slot
    nic_GBps: float  # the same between it and its NICs
    memory_GBps: float  # of the GPU's memory
    memory_GB: float
    nvls: bool  # the NVLink switch can reduce
    switch_from: int  # smallest domain that has an NVLink switch
    bridge_gpus: int  # GPUs of an NVLink bridge, where the server states no domain; 0: no bridge
    known: bool  # False: the name is not in the data, its nearest relative stands for it


@cache
def parameters() -> tuple[Parameter, ...]:
    """Every parameter, in the order of the data."""
    found = []
    for scope, entries in _read("physics.yaml").items():
        for name, entry in entries.items():
            kinds = entry["first"] if scope != "shared" else {"": entry["first"]}
            found += [Parameter(name, kind, float(value), entry["spread"], scope) for kind, value in kinds.items()]
    return tuple(found)


def meanings() -> dict[str, tuple[str, str]]:
    """Parameter → (what it is, where its first value comes from)."""
    return {
        name: (entry["meaning"], entry["source"])
        for entries in _read("physics.yaml").values()
        for name, entry in entries.items()
    }


@cache
def generations() -> tuple[str, ...]:
    """GPU generations that have parameters of their own."""
    return tuple(dict.fromkeys(item.kind for item in parameters() if item.scope == "generation"))


@cache
def transports() -> tuple[str, ...]:
    """Transports that have parameters of their own."""
    return tuple(dict.fromkeys(item.kind for item in parameters() if item.scope == "transport"))


def gpu(name: str, nvlink_GBps: float | None = None, domain_gpus: int | None = None) -> Gpu:
    """The GPU of that name; of a name that is not known the nearest relative: the latest of its maker's letters.

    Args:
        nvlink_GBps: of the server, in one direction; None for the data sheet's.
        domain_gpus: GPUs of an NVLink domain as the server states it. Above 1 a card without NVLink has a bridge.
    """
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    word = re.sub(r"^(?:(?:nvidia|amd|tesla|instinct|geforce)-?)+", "", word)
    table = _read("gpus.yaml")
    relative, known = _relative(word, table)
    entry = table[relative]
    bridge = int(entry.get("bridge_gpus", 0))
    of_bridge = float(entry.get("bridge_GBps", 0)) if bridge or (domain_gpus or 0) > 1 else 0.0
    of_sheet = float(entry.get("nvlink_GBps", 0)) if known or "pcie" not in word else 0.0
    return Gpu(
        name=relative,
        generation=entry["generation"],
        nvlink_GBps=nvlink_GBps or of_sheet or of_bridge,
        pcie_GBps=float(entry["pcie_GBps"]),
        nic_GBps=float(entry.get("nic_GBps", entry["pcie_GBps"])),
        memory_GBps=float(entry["memory_GBps"]),
        memory_GB=float(entry["memory_GB"]),
        nvls=bool(entry.get("nvls", False)),
        switch_from=int(entry.get("switch_from", 2)),
        bridge_gpus=bridge,
        known=known,
    )


def gpu_names() -> tuple[str, ...]:
    """Models of GPUs with a data sheet."""
    return tuple(_read("gpus.yaml"))


def gpu_in(text: str) -> str:
    """The longest GPU name that a server's model name contains; an H100 where there is none."""
    found = [name for name in _read("gpus.yaml") if name in text.lower()]
    return max(found, key=lambda name: (len(name), name), default="h100")


SAME_PART = re.compile(r"sxm\d?|oam|hgx|dgx|\d+gb?|hbm\d?e?|nvl\d+|gpu|tensor|core|blackwell|server|workstation|edition")
"""Words of a GPU's full name that do not make it another part: its module, memory and rack."""


def _relative(word: str, table: Mapping[str, Any]) -> tuple[str, bool]:
    """(the entry that stands for a name, whether it is that very part): the entry with the most words of the name, then the
    longest beginning that is shared, the later name of two; an H100 for a name that says nothing."""
    if word in table:
        return word, True
    matches = [name for name in table if all(_holds(word, part) for part in name.split("-"))]
    if matches:
        best = max(matches, key=lambda name: (name.count("-"), len(name), name))
        rest = re.sub("|".join(best.split("-")), "-", word)
        return best, all(SAME_PART.fullmatch(part) for part in rest.split("-") if part)

    def shared(name: str) -> int:
        return next((at for at in range(min(len(name), len(word))) if name[at] != word[at]), min(len(name), len(word)))

    best = max(table, key=lambda name: (shared(name), "-" not in name, name))
    return (best if shared(best) else "h100"), False


def _holds(word: str, part: str) -> bool:
    """Whether a GPU's name has a word of an entry: h200-nvl has h200 and nvl, gh200-nvl32 neither."""
    before = "(?<![a-z])" if part.isalpha() else "(?<![a-z0-9])"
    return re.search(rf"{before}{part}(?!\d)", word) is not None


def transport(word: str, generation: str = "hopper") -> str:
    """A transport of the data for a word of a table: `roce`, `rdma (kind not stated)`, `efa` of either kind."""
    found = transport_known(word)
    return "efa1" if found == "efa" and generation in OLD_EFA else found or RDMA


def transport_known(word: str) -> str:
    """The transport of the data that a word names, "" for none."""
    bare = re.sub(r"[\s_-]", "", word.lower())
    names = {**{name: name for name in transports()}, **SAME_TRANSPORT}
    return next((names[name] for name in sorted(names, key=len, reverse=True) if bare.startswith(name)), "")


@dataclass(frozen=True)
class Physics:
    """A value for every parameter, by key: `launch_us.hopper`, `nic_share`."""

    values: Mapping[str, float]
    measured: Mapping[str, int]  # generation or transport → number of tables in its fit
    about: str = ""
    coverage: Coverage = NOTHING_MEASURED
    own: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """GPU generation and transport of platforms that a user measured → ranks of the largest run."""

    def columns(self, generation: Ints, transport: Ints) -> dict[str, Any]:
        """Parameter → its value for every row; plain numbers for those that all kinds share."""
        found: dict[str, Any] = {}
        for name, (scope, values) in self._by_name.items():
            if scope == "shared":
                found[name] = values[0]
            else:
                found[name] = values[generation if scope == "generation" else transport]
        return found

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, Floats]]:
        found: dict[str, tuple[str, list[float]]] = {}
        for item in parameters():
            found.setdefault(item.name, (item.scope, []))[1].append(self.values[item.key])
        return {name: (scope, np.array(values)) for name, (scope, values) in found.items()}


def first() -> Physics:
    """The parameters before any table was seen."""
    return Physics({item.key: item.first for item in parameters()}, {})


@cache
def shipped() -> Physics:
    """The parameters that come with the program: `data/platform.yaml`, fitted to the tables it names."""
    return from_document(_read("platform.yaml"), first())


def from_document(document: Mapping[str, Any], base: Physics) -> Physics:
    """The parameters of a platform file over those of `base`."""
    values = dict(base.values)
    for scope in SCOPES:
        for name, entry in (document.get(scope) or {}).items():
            if scope == "shared":
                values[name] = float(entry)
            else:
                values.update({f"{name}.{kind}": float(value) for kind, value in entry.items()})
    rows = document.get("coverage")
    return Physics(
        values,
        {**base.measured, **(document.get("measured") or {})},
        str(document.get("about", "")),
        coverage_from_document(rows) if rows else base.coverage,
        {**base.own, **{(entry["generation"], entry["transport"]): entry["ranks"] for entry in document.get("own") or ()}},
    )


@cache
def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.read(DATA / name)
    return data
