"""The page: what was computed, printed by one template into one file that loads nothing.

Its content policy allows the one style sheet and the one script that stand in it, by their hashes, and nothing else.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from fabric.deliver.export.formats import FORMATS
from fabric.deliver.report import bandwidth, hardware, loads, numbers, summary, waves
from fabric.deliver.report.answers import Part, answers, limits
from fabric.deliver.report.assets import Assets, Grid, grid, template
from fabric.deliver.report.charts import histogram, without_sheet
from fabric.deliver.report.data import document, encoded
from fabric.deliver.report.goodput import GoodputSection
from fabric.deliver.report.hardware import Sites, sites
from fabric.deliver.report.loads import loads_grid, scenarios
from fabric.deliver.report.numbers import arithmetic
from fabric.deliver.report.study import ReportRequest, Study, studies
from fabric.deliver.report.tables import cells, tables
from fabric.deliver.report.tiers import Scale, picture as tiers_picture
from fabric.model.plan import Plan

SECTIONS = (
    *(("summary", "Summary"), ("glance", "Design"), ("topology", "Topology")),
    *(("performance", "Performance"), ("failures", "Failures")),
    ("change", "Change in waves"),
    *(("worth", "Training job"), ("acceptance", "Acceptance")),
    *(("racks", "Racks"), ("parts", "Parts and power"), ("qos", "Lossless Ethernet"), ("addresses", "Addresses")),
    *(("tables", "Tables"), ("terms", "Terms")),
)
PRINTED = ("summary", "glance", "failures", "parts")  # without the choice to print everything
CHANGE_GRIDS = (waves.waves_grid, waves.refused_grid)
STATIC_ROWS = 200  # of each kind of table, for a reader without script; a quarter of it where there are MAX_TABLE_ROWS
MAX_TABLE_ROWS = 100_000


def fabric_part(study: Study, where: Sites, scale: Scale, site: str) -> dict[str, Any]:
    """What the template prints of one fabric."""
    fabric = study.fabric
    spread = loads.spread(study) if study.request.load else None
    fabric_scenarios = scenarios(study)
    # No rows: a fabric without AS numbers and addresses, as InfiniBand.
    grids = (numbers.pools_grid, numbers.asn_grid, numbers.tenants_grid, numbers.external_connections_grid)
    return {
        "study": study,
        "name": fabric.name,
        "tiers": Markup(tiers_picture(fabric, scale)),
        "design_grids": [summary.tiers_grid(study), summary.links_grid(study, where.laid(fabric))],
        "curve": Markup(bandwidth.curve_svg(study)) if study.trains else None,
        "curve_grid": bandwidth.curve_grid(study) if study.trains else None,
        "spread": spread,
        "histograms": [(tier.name, Markup(histogram(tier))) for tier in spread.tiers] if spread else [],
        "spread_grids": [loads.spread_grid(spread), loads.rates_grid(spread)] if spread else [],
        "scenarios": fabric_scenarios,
        "loads_grid": loads_grid(fabric_scenarios),
        "failures": Markup(bandwidth.failures_svg(study)),
        "failures_grid": bandwidth.failures_grid(study),
        "gates_grid": bandwidth.gates_grid(study, site) if study.trains else None,
        "qos": arithmetic(fabric),
        "number_grids": [found for make in grids if (found := make(fabric)).rows],
    }


def page(plan: Plan, request: ReportRequest) -> str:
    """The report of a plan as one HTML document. Raises InputError where a failure that is asked for cuts a fabric in two."""
    fabric_studies, where, bill = studies(plan, request), sites(plan), hardware.bill(plan, request.prices)
    scale = Scale.beside(list(plan.fabrics.values()), least=3)
    parts = [fabric_part(study, where, scale, plan.site) for study in fabric_studies]
    data = document(
        plan,
        {part["name"]: part["scenarios"] for part in parts},
        {name: tables(fabric) for name, fabric in plan.fabrics.items()},
        where,
    )
    picture = _picture(plan)
    assets = Assets.read(picture)
    top = summary.overview(summary.findings(plan, [*where.diagnostics, *hardware.over(bill, request.origin)]), request.origin)
    several = len(parts) > 1
    loaded = [Part(part["study"], part["scenarios"]) for part in parts]
    figures = {part.study.fabric.name: [*summary.figures(part.study), *(limits(part) if several else ())] for part in loaded}
    sections = _sections(parts, request)
    return template("page.html.j2").render(
        site=plan.site,
        assets=assets,
        script=Markup(assets.script),
        data=Markup(encoded(data)),
        parts=parts,
        request=request,
        picture=Markup(picture),
        top=top,
        answers=answers(loaded, bill, top, request),
        figures_grid=summary.figures_grid(figures),
        scale=scale,
        failures_caption=bandwidth.CAPTION,
        tables=_static_tables(data),
        sections=sections,
        left_out=[name for id_, name in sections if id_ not in PRINTED],
        draws=loads.DRAWS,
        racks=hardware.racks(plan, where.floor),
        bill_grids=[hardware.order_grid(bill), hardware.power_grid(bill)],
        fills=hardware.FILLS,
        change=request.change,
        change_sentence=waves.sentence(request.change) if request.change else "",
        change_grids=[made for make in CHANGE_GRIDS if request.change and (made := make(request.change)).rows],
        worth=GoodputSection(request.goodput, request.cost) if request.goodput else None,
    )


def _sections(parts: list[dict[str, Any]], request: ReportRequest) -> list[tuple[str, str]]:
    """(id, name) of the sections that the page has."""
    there = {"worth": request.goodput is not None, "change": request.change is not None} | {
        "acceptance": any(part["gates_grid"] for part in parts),
        "qos": any(part["qos"] for part in parts),
        "addresses": any(part["number_grids"] for part in parts),
    }
    return [(id_, name) for id_, name in SECTIONS if there.get(id_, True)]


def _picture(plan: Plan) -> str:
    """The tiers as `fabric export svg` draws them; their style sheet is the page's."""
    text = FORMATS["svg"](plan)
    assert isinstance(text, str)
    return without_sheet(text)


def _static_tables(data: dict[str, Any]) -> list[tuple[str, Grid]]:
    """(fabric, first rows of each table), fewer of each where there are many fabrics."""
    all_rows = sum(end - first for table in data["tables"] for first, end in table["rows"])
    most = max(20, (STATIC_ROWS if all_rows < MAX_TABLE_ROWS else STATIC_ROWS // 4) // len(data["fabrics"]))
    grids = []
    for table in data["tables"]:
        count = sum(end - first for first, end in table["rows"])
        note = f"The first {most} of {count:,}." if count > most else ""
        titles = [("#" if column.get("number") else "") + column["title"] for column in table["columns"]]
        fabric = data["fabrics"][table["fabric"]]["name"]
        grids.append((fabric, grid(table["title"], titles, cells(data, table, most), note)))
    return grids
