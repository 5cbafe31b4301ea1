"""Several designs side by side: the fabrics that are compared, one row per figure, and the keys that differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any

from fabric.audit.checks import Finding
from fabric.audit.checks.design.base import NOUNS
from fabric.audit.diff.design import flat
from fabric.base.text import counted, percent, size
from fabric.deliver.bom.bill import Bill
from fabric.deliver.bom.text import kilowatts
from fabric.deliver.report import hardware, summary
from fabric.deliver.report.assets import Grid, grid
from fabric.deliver.report.bandwidth import loss_words
from fabric.deliver.report.hardware import Sites, sites
from fabric.deliver.report.study import ReportRequest, Study, mean_loss, studies
from fabric.deliver.report.summary import unit_servers
from fabric.model.plan import CORE, LEAF, SPINE, Plan
from fabric.model.plan.spec import Origin
from fabric.model.plan.summary import leaf_ratios
from fabric.solver.collective import ALLTOALL, COLLECTIVES
from fabric.solver.estimate.calls import SPREAD, Call
from fabric.solver.estimate.nic_bandwidth import routing_words

# --- designs --------------------------------------------------------------------------------------------------


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
        return hardware.bill(self.side.plan, self.request.prices)

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


# --- figures --------------------------------------------------------------------------------------------------

MAX_KEYS = 80
NOT_SET = "not set"


@dataclass(frozen=True)
class Value:
    """A figure as it is written; `number` to compare it with the first design's, None where a comparison has no meaning."""

    text: str
    number: float | None = None


Row = tuple[str, list[Value]]
NONE = Value("–")


def figures(group: Group, request_bytes: int, collective: str) -> tuple[Grid, Grid]:
    """(rows that differ, rows that are the same) of one fabric."""
    columns = [dict(_figures(design, study, request_bytes, collective)) if study else {} for design, study in group.members]
    names = dict.fromkeys(name for column in columns for name in column)
    return _grids(group.name, [design.name for design, _ in group.members], names, columns)


def site_figures(designs: Sequence[Design]) -> tuple[Grid, Grid]:
    """The same for whole sites: racks, cables, power."""
    columns = [dict(_site(design)) for design in designs]
    return _grids("the site", [design.name for design in designs], dict.fromkeys(columns[0]), columns)


def _grids(
    of: str, titles: Sequence[str], names: Mapping[str, None], columns: Sequence[Mapping[str, Value]]
) -> tuple[Grid, Grid]:
    rows = [(name, [column.get(name, NONE) for column in columns]) for name in names]
    differ = [row for row in rows if len({value.text for value in row[1]}) > 1]
    same = [row for row in rows if row not in differ]
    heads = ("figure", *(f"#{title}" for title in titles))
    changes = "Percentages in parentheses are against the first design." if differ else ""
    return (
        grid(f"What differs: {of}", heads, [(name, *_beside(values)) for name, values in differ], changes, by_row=True),
        grid(
            f"Equal in all designs: {of}",
            ("figure", "#all designs"),
            [(name, values[0].text) for name, values in same],
            by_row=True,
        ),
    )


def _beside(values: Sequence[Value]) -> Iterator[str]:
    """Each value, with its distance from the first one."""
    first = values[0].number
    for at, value in enumerate(values):
        if at and first and value.number is not None and value.number != first:
            change = 100 * (value.number / first - 1)
            yield f"{value.text} ({change:+.0f} %)" if abs(change) >= 0.5 else value.text
        else:
            yield value.text


def _count(value: float) -> Value:
    return Value(f"{value:,}", value)


def _figures(design: Design, study: Study, request_bytes: int, collective: str) -> Iterator[tuple[str, Value]]:
    row, capacity = study.row, study.capacity
    yield "kind", Value(f"{row['kind']}, {row['tiers']} tiers" if row["tiers"] > 1 else row["kind"])
    yield "planes", Value(f"{row['planes']}")
    yield "servers", _count(row["servers"])
    yield "GPUs", _count(row["gpus"])
    yield "units", Value(f"{row['units']:,} of {unit_servers(row)}")
    yield "switches", _count(study.figures.switches)
    for tier, count in row["switches"].items():
        yield f"{NOUNS[tier]}", Value(f"{count:,} × {row['models'][tier]}", count) if count else NONE
    yield "links", _count(study.figures.links)
    yield "links between switches", _count(study.figures.switch_links)
    yield "cables", _count(study.figures.cables)
    for tier, ratios in ((LEAF, leaf_ratios(row)), (SPINE, [row["oversubscription"]["spine"]])):
        text = " and ".join(f"{ratio:g}:1" for ratio in ratios if ratio is not None)
        yield f"oversubscription of {NOUNS[tier]}", Value(text) if text else NONE
    if capacity.bisection:
        yield "bisection, of NIC speed", Value(percent(capacity.bisection.share))
    least, most = capacity.paths_least, capacity.paths_most
    yield "equal-cost paths between leaves", Value(f"{least:,}" if least == most else f"{least:,} to {most:,}")
    yield "maximum servers with these tiers", _count(row["limits"]["max_servers"])
    for name in dict.fromkeys((collective, ALLTOALL)):
        yield f"busbw of {name}, {size(request_bytes)}, packed, GB/s", _busbw(design, study, name, request_bytes)
        spread = None if study.fail else study.figures.calls.of(name, SPREAD)
        yield f"busbw of {name}, {size(request_bytes)}, spread, GB/s", _rate(spread)
    if study.trains:
        yield "routing, as planned", Value(routing_words(*study.spreading))
    for role in (SPINE, CORE, LEAF):
        loss = next((loss for loss in study.ranked if loss.what == role), None)
        yield f"mean loss when a {role} fails", Value(loss_words(mean_loss(loss))) if loss else NONE


def _busbw(design: Design, study: Study, collective: str, request_bytes: int) -> Value:
    found = next((one for _, one in Group("", ((design, study),)).timed(collective)), None)
    if found is None:
        return NONE
    now = found.curve[0]
    row = next(row for row in now.rows if row.bytes == request_bytes)
    ideal = row.bytes / row.ideal_time_us / 1e3 * COLLECTIVES[collective].busbw(now.placement.gpus)
    return Value(f"{row.busbw_GBps:,.1f} of {ideal:,.1f}", row.busbw_GBps)


def _rate(call: Call | None) -> Value:
    return Value(f"{call.busbw_GBps:,.1f}", call.busbw_GBps) if call else NONE


def _site(design: Design) -> Iterator[tuple[str, Value]]:
    found, runs = design.bill, design.where.runs
    yield "racks", _count(design.racks)
    yield "cable, km", Value(f"{runs.order_length_m.sum() / 1000:,.1f}", float(runs.order_length_m.sum()))
    typical, worst = kilowatts(found.network)
    yield "network power, typical, kW", Value(typical, found.network.typical_w)
    yield "network power, worst case, kW", Value(worst, found.network.max_w)
    if cost := found.cost:
        least = "≥ " if cost.unpriced else ""
        yield f"price, {cost.currency}", Value(f"{least}{cost.capex:,.0f}", cost.capex)
        yield f"total cost, {cost.currency}, {counted(cost.years, 'year')}", Value(f"{least}{cost.tco:,.0f}", cost.tco)


def keys_grid(designs: Sequence[Design], group: Group | None) -> Grid:
    """Keys of the intents with other values, of fabrics that all have; `group` where every design has a single fabric,
    whatever it is called."""
    columns = []
    for at, design in enumerate(designs):
        study = group.members[at][1] if group else None
        prefix = f"fabrics.{study.fabric.name}." if study else ""
        key_values = {
            key.replace(prefix, "fabrics.*.", 1) if prefix and key.startswith(prefix) else key: value
            for key, value in flat(design.side.keys)
        }
        shared = {name for name in design.studies if all(name in other.studies for other in designs)}
        columns.append(
            {
                key: value
                for key, value in key_values.items()
                if not key.startswith("fabrics.") or key.split(".")[1] in ("*", *shared)
            }
        )
    names = [name for name in dict.fromkeys(name for column in columns for name in column) if name != "site"]
    rows = []
    for name in names:
        cells = [_text(column.get(name)) for column in columns]
        if len(set(cells)) > 1:
            rows.append((name, *cells))
    more = f"{len(rows) - MAX_KEYS} more keys differ; `fabric diff` lists all." if len(rows) > MAX_KEYS else ""
    titles = ("key", *(design.name for design in designs))
    return grid("Keys of the intents with other values", titles, rows[:MAX_KEYS], more)


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return NOT_SET
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
