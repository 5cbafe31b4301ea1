"""Designs side by side as one page that opens offline and needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from fabric.deliver.report.assets import Assets, template
from fabric.deliver.report.charts import WIDE
from fabric.deliver.report.comparison import charts, figures, scale
from fabric.deliver.report.comparison.designs import Design, GivenDesign, Group, designs, groups
from fabric.deliver.report.failures import CAPTION
from fabric.deliver.report.grid import Grid
from fabric.deliver.report.overview import Overview, overview
from fabric.deliver.report.request import ReportRequest
from fabric.solver.collective import ALLTOALL

_GAP, _MIN_WIDTH_PX = 16.0, 280.0  # between pictures, and the width below which they wrap


@dataclass(frozen=True)
class Part:
    """What the template prints of one fabric of the designs."""

    group: Group
    request: ReportRequest

    @property
    def name(self) -> str:
        return self.group.name

    @cached_property
    def grids(self) -> tuple[Grid, Grid]:
        return figures.figures(self.group, self.request.size_bytes, self.request.collective)

    @cached_property
    def scale(self) -> scale.Scale:
        across = min(len(self.group.members), int((WIDE + _GAP) // (_MIN_WIDTH_PX + _GAP)))
        return scale.Scale.of([study.fabric for _, study in self.group.there], (WIDE + _GAP) / across - _GAP)

    @property
    def pictures(self) -> list[tuple[str, Markup]]:
        """(design, its tiers); of designs without this fabric nothing."""
        return [
            (design.name, Markup(scale.picture(study.fabric, self.scale)) if study else Markup("<p>no such fabric</p>"))
            for design, study in self.group.members
        ]

    @property
    def curves(self) -> list[Markup]:
        wanted = dict.fromkeys((ALLTOALL, self.request.collective))
        return [Markup(found) for name in wanted if (found := charts.curves(self.group, name))]

    @property
    def failures(self) -> list[tuple[str, Markup]]:
        return [
            ("Mean loss: share of all traffic that no longer fits", Markup(charts.failures(self.group, slowest=False))),
            ("Slowest pair: rate that the worst pair of servers loses", Markup(charts.failures(self.group, slowest=True))),
        ]


def page(sides: Sequence[GivenDesign], request: ReportRequest) -> str:
    """Designs as one HTML document. Raises InputError where a failure that is asked for cuts a fabric in two."""
    compared = designs(sides, request)
    alike = groups(compared)
    parts = [Part(group, request) for group in alike]
    single = alike[0] if all(len(design.studies) == 1 for design in compared) else None
    assets = Assets.read(script=False)
    return template("beside.html.j2").render(
        title=f"{', '.join(design.name for design in compared)}: designs side by side",
        assets=assets,
        style=Markup(assets.style),
        designs=[(design.name, _top(design)) for design in compared],
        parts=parts,
        site_grids=figures.site_figures(compared),
        keys=figures.keys_grid(compared, single),
        request=request,
        failures_caption=CAPTION,
    )


def _top(design: Design) -> Overview:
    return overview([], design.findings, design.side.origin)
