"""Designs that stand side by side, and which of their fabrics are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any

from fabric.audit.checks import Finding
from fabric.deliver.bom.bill import Bill
from fabric.deliver.report import bill, summary
from fabric.deliver.report.request import ReportRequest
from fabric.deliver.report.sites import Sites, sites
from fabric.deliver.report.study import Study, studies
from fabric.model.plan import Plan
from fabric.model.plan.spec import Origin


@dataclass(frozen=True)
class GivenDesign:
    """One design as it is given."""

    name: str  # of the file
    plan: Plan
    keys: Mapping[str, Any]  # of its intent, defaults put in
    origin: Origin | None = None


@dataclass(frozen=True)
class Design:
    """One design with what is computed of it."""

    side: GivenDesign
    name: str  # as short as it tells the designs apart
    request: ReportRequest
    studies: Mapping[str, Study] = field(repr=False)  # by fabric

    @cached_property
    def where(self) -> Sites:
        return sites(self.side.plan)

    @cached_property
    def findings(self) -> list[Finding]:
        return summary.findings(self.side.plan, self.where.diagnostics)

    @cached_property
    def bill(self) -> Bill:
        return bill.bill(self.side.plan)

    @cached_property
    def racks(self) -> int:
        return len(self.where.floor.racks)


@dataclass(frozen=True)
class Group:
    """One fabric of the designs: None where a design has none of this name."""

    name: str
    members: tuple[tuple[Design, Study | None], ...]

    @property
    def there(self) -> list[tuple[Design, Study]]:
        return [(design, study) for design, study in self.members if study is not None]

    def timed(self, collective: str) -> list[tuple[Design, Study]]:
        """Those on which a collective runs, with the request for this one."""
        return [
            (design, study if study.request.collective == collective else _for(study, collective))
            for design, study in self.there
            if study.trains
        ]


def designs(sides: Sequence[GivenDesign], request: ReportRequest) -> list[Design]:
    """Raises InputError as `studies` does."""
    names = short_names([side.name for side in sides])
    return [
        Design(side, name, request, {study.fabric.name: study for study in studies(side.plan, request)})
        for side, name in zip(sides, names, strict=True)
    ]


def groups(found: Sequence[Design]) -> list[Group]:
    """The fabrics by name; where every design has a single one, these, whatever they are called."""
    if all(len(design.studies) == 1 for design in found):
        names = dict.fromkeys(name for design in found for name in design.studies)
        return [Group(" / ".join(names), tuple((design, next(iter(design.studies.values()))) for design in found))]
    every = dict.fromkeys(name for design in found for name in design.studies)
    return [Group(name, tuple((design, design.studies.get(name)) for design in found)) for name in every]


def short_names(names: Sequence[str]) -> list[str]:
    """File names without their ends, with as many folders as tell them apart; the same file again gets a number."""
    paths = [PurePath(name).with_suffix("") for name in names]
    longest = max(len(path.parts) for path in paths)
    for parts in range(1, longest + 1):
        short = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(short)) == len(set(paths)):
            break
    seen: dict[str, int] = {}
    out = []
    for name in short:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _for(study: Study, collective: str) -> Study:
    return replace(study, request=replace(study.request, collective=collective, measured=()))
