"""Which kinds of platform the parameters were fitted to: sources and largest runs by GPU generation, transport and family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from fabric.solver.measured.tables import Table


class Kind(NamedTuple):
    """Kind of a measured run; the transport of one NVLink domain is `none`."""

    generation: str
    transport: str
    family: str


class MeasuredRange(NamedTuple):
    """What was measured of a kind."""

    sources: int
    ranks: int  # of the largest run
    domains: tuple[int, ...] = ()  # sizes of NVLink domains, in ranks; () where they are not noted


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
        seen = self.kinds.get(kind)
        return seen is None or not seen.domains or any(max(size, domain) < 2 * min(size, domain) for size in seen.domains)

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


def from_document(entries: Iterable[Mapping[str, Any]]) -> Coverage:
    """The entries of `Coverage.document`."""
    return Coverage(
        {
            Kind(entry["generation"], entry["transport"], entry["family"]): MeasuredRange(
                entry["sources"], entry["ranks"], tuple(entry.get("domains", ()))
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
        found[kind] = MeasuredRange(mine.sources + seen.sources, max(mine.ranks, seen.ranks), domains)
    return Coverage(dict(sorted(found.items())))


def origin(source: str) -> str:
    """The repository or report of a source, its issue or path left off."""
    return source if source.startswith("http") else re.split(r"[#:,(\s]", source, maxsplit=1)[0]


def coverage(tables: Iterable[tuple[Kind, Table]]) -> Coverage:
    """The kinds of tables."""
    sources: dict[Kind, set[str]] = {}
    ranks: dict[Kind, int] = {}
    domains: dict[Kind, set[int]] = {}
    for kind, table in tables:
        sources.setdefault(kind, set()).add(origin(table.source))
        ranks[kind] = max(ranks.get(kind, 0), table.platform.ranks)
        domains.setdefault(kind, set()).add(table.platform.domain_ranks)
    return Coverage(
        {kind: MeasuredRange(len(sources[kind]), ranks[kind], tuple(sorted(domains[kind]))) for kind in sorted(sources)}
    )
