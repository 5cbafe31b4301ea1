"""Designs side by side as one page: topologies at one scale, curves in one chart; it opens offline and needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from fabric.deliver.report import comparison
from fabric.deliver.report.assets import Assets, Grid, template
from fabric.deliver.report.bandwidth import CAPTION, loss_words
from fabric.deliver.report.charts import WIDE, Panel, panels, without_sheet
from fabric.deliver.report.comparison import Design, GivenDesign, Group, designs, groups
from fabric.deliver.report.study import ReportRequest, Study, mean_loss, slowest_loss
from fabric.deliver.report.summary import Overview, overview
from fabric.deliver.report.tiers import Scale, picture
from fabric.solver import Series, busbw_svg
from fabric.solver.collective import ALLTOALL, COLLECTIVES
from fabric.solver.estimate.estimate import Estimate

# --- charts ---------------------------------------------------------------------------------------------------

_KINDS = ("core", "spine", "leaf", "spine-core link", "leaf-spine link", "server-leaf link")


def curves(group: Group, collective: str) -> str:
    """Bus bandwidth by size, one line per design, and dashed what line rate would allow; "" where no collective runs."""
    timed = group.timed(collective)
    if not timed:
        return ""
    lines = dict[tuple[int, tuple[tuple[float, float], ...]], tuple[int, list[str]]]()
    ideals = dict[tuple[float, ...], list[str]]()
    for at, (design, _) in enumerate(group.members):
        study = next((study for other, study in timed if other is design), None)
        if study is None:
            continue
        now = study.curve[0]
        points = tuple((float(row.bytes), round(row.busbw_GBps, 2)) for row in now.rows)
        lines.setdefault((now.placement.gpus, points), (at, []))[1].append(design.name)
        ideals.setdefault(tuple(round(rate, 1) for _, rate in _ideal(now)), []).append(design.name)
    series = [
        Series(f"{' = '.join(names)} ({gpus:,} GPUs)", points, colour=at) for (gpus, points), (at, names) in lines.items()
    ]
    for rates, names in ideals.items():
        sizes = [float(row.bytes) for row in timed[0][1].curve[0].rows]
        name = "ideal: line rate" if len(ideals) == 1 else f"line rate: {', '.join(names)}"
        series.append(Series(name, tuple(zip(sizes, rates, strict=True)), style="dashed", colour=7))
    for index, table in enumerate(group.there[0][1].request.measured):
        dots = tuple((float(row.bytes), row.busbw_GBps) for row in table.rows)
        series.append(Series(f"measured: {table.id}", dots, style="dots", colour=4 + index))
    return without_sheet(busbw_svg(f"{collective}, by design", series, width=WIDE)).strip()


def _ideal(now: Estimate) -> list[tuple[float, float]]:
    factor = COLLECTIVES[now.job.collective].busbw(now.placement.gpus)
    return [(float(row.bytes), row.bytes / row.ideal_time_us / 1e3 * factor) for row in now.rows]


def failures(group: Group, slowest: bool) -> str:
    """A panel a design, one scale: what the worst failure of every kind of element costs."""
    kinds = [kind for kind in _KINDS if any(_share(study, kind, slowest) is not None for _, study in group.there)]
    shown = []
    for at, (design, study) in enumerate(group.members):
        if study is None:
            continue
        shares = [_share(study, kind, slowest) for kind in kinds]
        texts = ["–" if share is None else loss_words(share) for share in shares]
        shown.append(Panel(design.name, "", f"fill-{1 + at % 8}", [share or 0.0 for share in shares], texts))
    measure = "Loss of the slowest pair" if slowest else "Mean loss of all traffic"
    label = f"{measure} by failed element: " + "; ".join(f"{panel.title}: {', '.join(panel.texts)}" for panel in shown)
    return panels(kinds, shown, label, most=max((share for panel in shown for share in panel.shares), default=0.0))


def _share(study: Study, kind: str, slowest: bool) -> float | None:
    losses = [loss for loss in study.ranked if loss.what == kind]
    return max((slowest_loss(study, loss) if slowest else mean_loss(loss) for loss in losses), default=None)


# --- page -----------------------------------------------------------------------------------------------------

SECTIONS = (
    *(("summary", "Summary"), ("figures", "What differs"), ("topology", "Topology"), ("performance", "Performance")),
    *(("failures", "Failures"), ("keys", "Intents"), ("terms", "Terms")),
)


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
        return comparison.figures(self.group, self.request.size_bytes, self.request.collective)

    @cached_property
    def scale(self) -> Scale:
        return Scale.beside([study.fabric for _, study in self.group.there])

    @property
    def pictures(self) -> list[tuple[str, Markup]]:
        """(design, its tiers); of designs without this fabric nothing."""
        return [
            (design.name, Markup(picture(study.fabric, self.scale)) if study else Markup("<p>no such fabric</p>"))
            for design, study in self.group.members
        ]

    @property
    def curves(self) -> list[Markup]:
        wanted = dict.fromkeys((ALLTOALL, self.request.collective))
        return [Markup(found) for name in wanted if (found := curves(self.group, name))]

    @property
    def failures(self) -> list[tuple[str, Markup]]:
        return [
            ("Mean loss: share of all traffic that no longer fits", Markup(failures(self.group, slowest=False))),
            ("Slowest pair: rate that the worst pair of servers loses", Markup(failures(self.group, slowest=True))),
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
        designs=[(design.name, _top(design)) for design in compared],
        parts=parts,
        site_grids=comparison.site_figures(compared),
        keys=comparison.keys_grid(compared, single),
        request=request,
        sections=SECTIONS,
        failures_caption=CAPTION,
    )


def _top(design: Design) -> Overview:
    return overview(design.findings, design.side.origin)
