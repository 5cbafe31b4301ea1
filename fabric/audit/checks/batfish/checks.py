"""What a check of Batfish's answers is, and what all of them ask of a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fabric.audit.checks import ERROR, Check, Finding
from fabric.audit.checks.batfish.client import Answers, Rows, Unanswered
from fabric.audit.checks.batfish.expect import Expected, TenantLeaf, merged
from fabric.audit.checks.batfish.snapshot import Snapshot, Texts
from fabric.base.text import plural

TABLES = (  # blocks of a tenant's table, those in BGP first
    r"router bgp \d+ / vrf {}",
    r"router bgp \d+ vrf {}",
    r"routing-instances \{{ / {} \{{",
    r".*\bvrf: / {}: / router: / bgp:",
    r"vrf( instance| context)? {}",
)
UNANSWERED = "check the log of the Batfish server, increase its memory, or upgrade it"


@dataclass(frozen=True)
class FileAnalysis:
    """Files that a server has, and what it answers about them."""

    snapshot: Texts
    answers: Answers

    def asn(self, node: str) -> int:
        """AS number of a switch, 0 where it is not known."""
        return 0

    def process(self, node: str) -> tuple[str, ...]:
        """The head of a switch's BGP as files write it."""
        asn = self.asn(node)
        return (f"router bgp {asn}", f"autonomous-system {asn}", f"autonomous-system: {asn}") if asn else ()

    def block(self, node: str, vrf: str = "default") -> tuple[str, int]:
        """(file, line) of the head of a switch's BGP, or of what it has of a tenant's table; line 0 where there is none."""
        copies = self.snapshot.copies.get(node)
        if copies is None:
            return "", 0
        if vrf != "default":
            found = copies.find_path(*(pattern.format(re.escape(vrf)) for pattern in TABLES))
            if found[1]:
                return found
        return copies.find(*self.process(node))


@dataclass(frozen=True)
class Analysis(FileAnalysis):
    """The snapshot of a plan as well, and what the plan expects."""

    snapshot: Snapshot
    expected: Expected
    _routes: dict[tuple[str, ...], Rows] = field(default_factory=dict, repr=False, compare=False)

    def routes(self, nodes: Sequence[str]) -> Rows:
        """What `Answers.routes` says; asked once."""
        key = tuple(nodes)
        if key not in self._routes:
            self._routes[key] = self.answers.routes(nodes)
        return self._routes[key]

    def asn(self, node: str) -> int:
        found = next((views[node] for views in self.snapshot.views.values() if node in views), None)
        return found.device.asn if found else 0


@dataclass(frozen=True, slots=True)
class Judged:
    """How much of what the plan expects a check could judge."""

    count: int
    planned: int
    noun: str  # "session"
    nouns: str = ""  # plural, where it is not the noun with an s

    def __str__(self) -> str:
        return plural(self.planned, self.noun, self.nouns or f"{self.noun}s")


class BatfishCheck(Check[Analysis]):
    """Judges what Batfish makes of the rendered files."""

    subject, needs = "batfish", "files, intent, Batfish"
    of_plans: ClassVar[bool] = True  # False: asked about configs without a plan alone

    def judged(self, analysis: Analysis) -> Judged:
        """What is judged of a snapshot; files, unless a check says otherwise."""
        return Judged(len(analysis.snapshot.copies), len(analysis.snapshot.copies), "switch", "switches")

    def run(self, analysis: Analysis) -> list[Finding]:
        return self.answered(self.check(analysis))

    def answered(self, findings: Iterator[Finding]) -> list[Finding]:
        """The findings; a question without an answer is one."""
        try:
            return sorted(findings, key=lambda finding: finding.order)
        except Unanswered as error:
            message = f"no answer from Batfish: {error}"
        except KeyError as error:  # the column is missing in other versions of the server
            message = f"unsupported Batfish version: no column {error} in its answer"
        return [Finding(id=self.id, severity=ERROR, device="", file="", line=0, message=message, hint=UNANSWERED)]

    def in_copy(self, analysis: FileAnalysis, path: str, line: int, message: str) -> Iterator[Finding]:
        """A finding on a line of the snapshot, in the file that the line is from; nothing on what is no copy."""
        found = analysis.snapshot.origin(path, line)
        if found:
            device, file, at = found
            yield Finding(
                id=self.id, severity=self.severity, device=device, file=file, line=at, message=message, hint=self.remediation
            )

    def at_switch(self, analysis: FileAnalysis, node: str, message: str, *words: str) -> Iterator[Finding]:
        """A finding on a switch, on the first line of its files that has one of the words; nothing on others."""
        copies = analysis.snapshot.copies.get(node)
        if copies:
            yield from self.at_line(analysis, node, *copies.find(*words), message)

    def at_line(self, analysis: FileAnalysis, node: str, file: str, line: int, message: str) -> Iterator[Finding]:
        """A finding on a line of a switch's rendered files; nothing on what is no switch of the plan."""
        copies = analysis.snapshot.copies.get(node)
        if copies:
            device = copies.device
            hint = self.remediation
            yield Finding(id=self.id, severity=self.severity, device=device, file=file, line=line, message=message, hint=hint)


def name_of(cell: Any) -> str:
    """The name in a cell that holds a node, or the cell itself."""
    return str(cell["name"] if isinstance(cell, dict) else cell)


def file_lines(cell: Any) -> Iterator[tuple[str, int]]:
    """(file, line) of a cell that holds lines of one file or of many."""
    for entry in cell if isinstance(cell, list) else [cell] if cell else []:
        for line in entry.get("lines") or [0]:
            yield entry["filename"], line


# --- places of a tenant's servers -----------------------------------------------------------------------------


def tenants_of(analysis: Analysis, fabric: str) -> list[str]:
    """The tenants that Batfish sees servers of; "" for servers without one."""
    return sorted({place.tenant for place in analysis.expected.places if place.fabric == fabric})


def places_of(analysis: Analysis, fabric: str, tenant: str) -> list[TenantLeaf]:
    """Where the servers of one tenant are."""
    return [place for place in analysis.expected.places if place.fabric == fabric and place.tenant == tenant]


def isolated(analysis: Analysis, fabric: str) -> Iterator[tuple[TenantLeaf, TenantLeaf, bool]]:
    """(place, place of another tenant that it must not reach, whether Batfish would show that it does)."""
    views, paths = analysis.snapshot.views[fabric], analysis.expected.paths(fabric)
    kind = analysis.snapshot.plan.fabrics[fabric].tenancy.kind
    places = [place for place in analysis.expected.planned_places if place.fabric == fabric and place.tenant]
    shown = set(analysis.expected.places)
    for place in places:
        open_to = let_in(analysis, fabric, place.tenant)
        for other in places:
            a, b = views[place.device], views[other.device]
            if other.tenant not in open_to and (place.device == other.device or paths.plans(a, b)):
                yield place, other, {place, other} <= shown and paths.isolates(a, b, kind)


def let_in(analysis: Analysis, fabric: str, tenant: str) -> set[str]:
    """Tenants that the intent joins with this one, in either direction, and itself."""
    tenants = analysis.snapshot.plan.fabrics[fabric].tenancy.tenants
    imports = {one.name: set(one.sources) for one in tenants}
    return {tenant, *imports.get(tenant, ())} | {name for name, wanted in imports.items() if tenant in wanted}


def servers(places: Iterable[TenantLeaf]) -> str:
    """Where packets of servers come in: every interface that has an address of their subnets."""
    found = list(places)
    nodes = "|".join(sorted({place.device for place in found}))
    return f"@enter(/^({nodes})$/[@connectedTo({merged(net for place in found for net in place.subnets)})])"
