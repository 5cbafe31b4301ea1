"""Designs side by side as one page: topologies at one scale, curves in one chart; it opens offline and needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np
from markupsafe import Markup

from fabric.base.formats import chart, element, fit, number
from fabric.base.rounding import ceil_div
from fabric.base.text import counted, listed
from fabric.deliver.export.legend import totals
from fabric.deliver.report import comparison
from fabric.deliver.report.assets import Assets, Grid, template
from fabric.deliver.report.bandwidth import CAPTION, loss_words
from fabric.deliver.report.charts import WIDE, Panel, panels, without_sheet
from fabric.deliver.report.comparison import Design, GivenDesign, Group, designs, groups
from fabric.deliver.report.study import ReportRequest, Study, mean_loss, slowest_loss
from fabric.deliver.report.summary import Overview, overview
from fabric.model.plan import CORE, LEAF, LEAF_LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE, SPINE_CORE, FabricPlan
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


# --- tiers at one scale ---------------------------------------------------------------------------------------

TIERS = (CORE, SPINE, LEAF, SERVER)
BELOW = {CORE: SPINE_CORE, SPINE: LEAF_SPINE, LEAF: SERVER_LEAF}  # links from a tier downwards
_NOUNS = {CORE: ("core", ""), SPINE: ("spine", ""), LEAF: ("leaf", "leaves"), SERVER: ("server", "")}
_STEP, _SQUARE, _HEAD, _BAND, _MAX_ROWS, _EDGE = 11.0, 9.0, 20.0, 50.0, 10, 8.0
_ROUND = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Scale:
    """What all pictures of a page share."""

    width: float
    each: int  # switches or servers of one square
    rows: dict[str, int]  # of squares, by tier: the most of any design; 0 where none has this tier
    most_gbps: int  # of the widest ribbon

    @staticmethod
    def of(fabrics: Sequence[FabricPlan], width: float) -> Scale:
        across = int((width - 2 * _EDGE) // _STEP)
        most = max(count for fabric in fabrics for count in _counts(fabric).values())
        each = next((n for n in _ROUND if ceil_div(most, n) <= across * _MAX_ROWS), _ROUND[-1])
        rows = {tier: max(ceil_div(ceil_div(_counts(fabric)[tier], each), across) for fabric in fabrics) for tier in TIERS}
        gbps = max(_gbps(fabric, kind) for fabric in fabrics for kind in BELOW.values())
        return Scale(width, each, rows, max(gbps, 1))

    @property
    def words(self) -> str:
        square = "One square is one switch or server" if self.each == 1 else f"One square is {self.each} switches or servers"
        return f"{square}; a ribbon is as wide as its bandwidth, at the same scale in every design."

    @property
    def across(self) -> int:
        return int((self.width - 2 * _EDGE) // _STEP)


def picture(fabric: FabricPlan, scale: Scale) -> str:
    """One design, its tiers at the same heights as those of the others."""
    counts, y, parts = _counts(fabric), 4.0, list[str]()
    for tier in TIERS:
        if not scale.rows[tier]:
            continue
        if counts[tier]:
            parts += _tier(fabric, scale, tier, counts[tier], y)
        y += _HEAD + scale.rows[tier] * _STEP
        kind = BELOW.get(tier)
        if kind is not None:
            if counts[tier]:
                parts += _ribbon(fabric, scale, kind, y)
            y += _BAND
    words = ", ".join(counted(counts[tier], *_NOUNS[tier]) for tier in TIERS if counts[tier])
    return chart("".join(parts), scale.width, y + 4, f"{fabric.name}: {words}", "chart scaled")


def _tier(fabric: FabricPlan, scale: Scale, tier: str, count: int, y: float) -> list[str]:
    models = listed(list(dict.fromkeys(device.model for device in fabric.devices if device.role == tier)), 2)
    name = f"{counted(count, *_NOUNS[tier])} · {models}"
    shown = fit(name, scale.width - 2 * _EDGE, 12.5, bold=True)
    parts = [
        element("text", escape(shown), class_="label", x=scale.width / 2, y=y + 13, font_size=12.5, text_anchor="middle")
    ]
    squares = ceil_div(count, scale.each)
    rows = ceil_div(squares, scale.across)
    across = ceil_div(squares, rows)
    left = (scale.width - across * _STEP + _STEP - _SQUARE) / 2
    path = []
    for at in range(squares):
        row, column = divmod(at, across)
        x, top = left + column * _STEP, y + _HEAD + row * _STEP
        path.append(f"M{number(round(x, 1))} {number(round(top, 1))}h{number(_SQUARE)}v{number(_SQUARE)}h-{number(_SQUARE)}z")
    parts.append(element("path", class_=f"role-{tier}", d="".join(path)))
    return parts


def _ribbon(fabric: FabricPlan, scale: Scale, kind: int, y: float) -> list[str]:
    """A bundle of links, as wide as its bandwidth."""
    gbps = _gbps(fabric, kind)
    if not gbps:
        return []
    width = max(2.0, (scale.width - 2 * _EDGE) * gbps / scale.most_gbps)
    left = (scale.width - width) / 2
    text = totals(fabric, kind)
    area = {"x": round(left, 1), "y": y + 4, "width": round(width, 1), "height": _BAND - 8}
    return [
        element("rect", "", text, class_="ribbon", **area),
        element("text", escape(text), class_="backed", x=scale.width / 2, y=y + 29, font_size=12, text_anchor="middle"),
    ]


def _counts(fabric: FabricPlan) -> dict[str, int]:
    return {tier: sum(device.role == tier for device in fabric.devices) for tier in TIERS}


def _gbps(fabric: FabricPlan, kind: int) -> int:
    kinds = (kind, LEAF_LEAF) if kind == LEAF_SPINE else (kind,)
    return int(fabric.links.speed_gbps[np.isin(fabric.links.kind, kinds)].sum(dtype=np.int64))


# --- page -----------------------------------------------------------------------------------------------------

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
        return comparison.figures(self.group, self.request.size_bytes, self.request.collective)

    @cached_property
    def scale(self) -> Scale:
        across = min(len(self.group.members), int((WIDE + _GAP) // (_MIN_WIDTH_PX + _GAP)))
        return Scale.of([study.fabric for _, study in self.group.there], (WIDE + _GAP) / across - _GAP)

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
        style=Markup(assets.style),
        designs=[(design.name, _top(design)) for design in compared],
        parts=parts,
        site_grids=comparison.site_figures(compared),
        keys=comparison.keys_grid(compared, single),
        request=request,
        failures_caption=CAPTION,
    )


def _top(design: Design) -> Overview:
    return overview([], design.findings, design.side.origin)
