"""The bill of a plan: parts counted off its run list, power rack by rack off its floor, money off a price file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.grouping import grouped
from fabric.deliver.bom.bill import Bandwidth, Bill, Cost, Line, RackDevice, RackPower, Share, Use, cost, rack_power
from fabric.deliver.bom.parts import CABLE, OPTIC, PANEL, SERVER, SWITCH, Draw, Part, Power, Spares, total, total_of
from fabric.deliver.bom.prices import PUE, YEARS, Prices, power_range, unpriced
from fabric.deliver.cabling.ends import Flags, Floats, Ints
from fabric.deliver.cabling.runs import Runs
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import ServerModel, SwitchModel
from fabric.hardware.catalog.power import PowerRange, attachment_range
from fabric.model.plan import CORE, KINDS, LEAF, SERVER as SERVER_ROLE, SPINE, FabricPlan, Plan
from fabric.model.plan.patching import PatchPanel
from fabric.model.plan.spec import GroupSpec
from fabric.model.plan.summary import built_ratio, summary

if TYPE_CHECKING:
    from fabric.design.floor.floor import Floor


# --- cables and optics of a fabric ----------------------------------------------------------------------------


@dataclass(frozen=True)
class CableCounts:
    """One fabric."""

    counts: Mapping[tuple[str, Part], int]  # (kind of link, part) → how many
    watts: Floats  # per device, of the optics and active ends in it
    unjoined: int  # links that no medium joins


def wired(run: Runs, number: int) -> CableCounts:
    """Counts the rows of one fabric of a run list; `number` is its index."""
    rows = np.flatnonzero(run.fabric == number)
    names = np.array(["", *media.optics(), *media.cables(), *media.fibres()], dtype=object)
    code = {name: position for position, name in enumerate(names)}
    medium, a_optic, b_optic = (_codes(column, rows, code) for column in (run.medium, run.a_optic, run.b_optic))
    kind, pieces = run.kind[rows], run.pieces[rows]
    metres, length = np.unique(run.order_length_m[rows], return_inverse=True)
    counts: dict[tuple[str, Part], int] = defaultdict(int)
    for (position, name, long), count in _sums((kind, medium, length), pieces, medium > 0):
        counts[KINDS[position], Part(CABLE, names[name], float(metres[long]))] += count
    for optic, once in ((a_optic, run.a_optics[rows]), (b_optic, run.b_optics[rows])):
        for (position, name), count in _sums((kind, optic), once, optic > 0):
            counts[KINDS[position], Part(OPTIC, names[name])] += count
    for word, panels in _panels(run.plan.fabrics[run.names[number]]):
        counts[word, Part(CABLE, f"{PANEL}{panels[0].ports}")] += len(panels)
    watts = _watts(run, number, rows, medium, (a_optic, b_optic), names)
    return CableCounts(dict(counts), watts, int(run.links[rows][medium == 0].sum()))


def _panels(fabric: FabricPlan) -> Iterator[tuple[str, list[PatchPanel]]]:
    """Patch panels by kind of link."""
    patched = fabric.patching
    if patched is not None:
        kind_of = {int(at): KINDS[int(kind)] for at, kind in zip(patched.panel, fabric.links.kind, strict=True)}
        yield from grouped((kind_of[at], panel) for at, panel in enumerate(patched.panels)).items()


def _codes(column: list[str], rows: Ints, code: Mapping[str, int]) -> Ints:
    return np.array([code[column[row]] for row in rows.tolist()], dtype=np.int64)


def _sums(columns: tuple[Ints, ...], weight: Ints, wanted: Flags) -> Iterator[tuple[tuple[int, ...], int]]:
    """The sum of weights for every different row of some columns of numbers from 0; sums of 0 are left out."""
    shape = tuple(int(column.max(initial=0)) + 1 for column in columns)
    code = np.ravel_multi_index(tuple(column[wanted] for column in columns), shape)
    keys, every = np.unique(code, return_inverse=True)
    sums = np.bincount(every, weights=weight[wanted], minlength=len(keys)).astype(np.int64)
    for key, count in zip(zip(*np.unravel_index(keys, shape), strict=True), sums.tolist(), strict=True):
        if count:
            yield tuple(map(int, key)), count


def _watts(run: Runs, number: int, rows: Ints, medium: Ints, optics: tuple[Ints, Ints], names: NDArray[Any]) -> Floats:
    """Watts per device: of its optics, and of the ends of cables that have power of their own."""
    devices = len(run.plan.fabrics[run.names[number]].devices)
    total = np.zeros(devices)
    of_optic = np.array([media.optics()[name].power_w if name in media.optics() else 0.0 for name in names])
    one, far = _cable_watts(names)
    breakout = np.array([name in media.cables() and media.cables()[name].ends > 1 for name in names])
    parted_at_b = _parted_at_b(run, number, rows, breakout[medium])
    for index, optic, once, parted in (
        (run.a[rows], optics[0], run.a_optics[rows], ~parted_at_b),
        (run.b[rows], optics[1], run.b_optics[rows], parted_at_b),
    ):
        watts = of_optic[optic] * once + np.where(parted, one[medium] * run.pieces[rows], far[medium])
        total += np.bincount(index, weights=watts, minlength=devices)[:devices]  # patch panels draw none
    return total


def _cable_watts(names: NDArray[Any]) -> tuple[Floats, Floats]:
    """Power of the one end and of the others, by name."""
    known = media.cables()
    cables = [known.get(name) for name in names]
    one = np.array([cable.power_w if cable else 0.0 for cable in cables])
    far = [0.0 if cable is None else cable.power_w if cable.far_power_w is None else cable.far_power_w for cable in cables]
    return one, np.array(far)


def _parted_at_b(run: Runs, number: int, rows: Ints, breakout: Flags) -> Flags:
    """Per row whether a breakout parts the upper end: its name is that of the port it parts."""
    devices = run.plan.fabrics[run.names[number]].devices
    found = np.zeros(len(rows), dtype=bool)
    for at in np.flatnonzero(breakout).tolist():
        row = int(rows[at])
        found[at] = run.cable[row].startswith(f"{devices[int(run.b[row])].name}:")
    return found


# --- bill of a plan -------------------------------------------------------------------------------------------

ALL_REDUCE_BYTES = 8 << 30  # of the bandwidth that a bill counts money by
Bandwidths = Mapping[str, Bandwidth]  # by fabric
NONE: Bandwidths = MappingProxyType({})
_PLACES = (LEAF, SPINE, CORE, "server", *KINDS)


@dataclass(frozen=True, kw_only=True)
class BomRequest:
    """What is asked of a bill."""

    prices: Prices | None = None
    servers: bool = True
    spares: Spares = field(default_factory=Spares)
    pue: float = PUE
    years: int = YEARS
    rack_limit_w: float | None = None  # None: that of the floor


def gather(plan: Plan, request: BomRequest, bandwidths: Bandwidths = NONE) -> tuple[Bill, tuple[Diagnostic, ...]]:
    """The bill of materials of a plan, and its diagnostics. Raises InputError where the floor cannot be laid out.

    `bandwidths` are the all-reduces over every GPU of the compute fabrics, for what a GB/s costs.
    """
    from fabric.deliver.cabling.runs import runs
    from fabric.design.floor.floor import floor

    ground = floor(plan)
    run = runs(plan, ground)
    report = Report()
    wired_by_fabric = {name: wired(run, number) for number, name in enumerate(run.names)}
    lines = _lines(plan, wired_by_fabric, request.spares)
    draws = _draws(plan, wired_by_fabric, request.prices)
    shares = tuple(
        _share(fabric, wired_by_fabric[name], lines, request, bandwidths.get(name)) for name, fabric in plan.fabrics.items()
    )
    if request.prices is not None:
        unpriced(request.prices, [line.part for line in lines if request.servers or line.part.kind != SERVER], report)
    stated = request.rack_limit_w is not None or plan.stated("floor", "rack_power_max_w")
    bill = Bill(
        site=plan.site,
        servers=request.servers,
        lines=lines,
        spares=request.spares,
        network=total_of(*(share.power for share in shares)),
        server_power=_servers(plan, request.prices),
        shares=shares,
        racks=_racks(plan, ground, draws, stated),
        rack_limit_w=request.rack_limit_w or float(plan.settings.floor.rack_power_max_w),
        rack_limit_stated=stated,
        pue=request.pue,
        years=request.years,
        prices=request.prices,
        unjoined=sum(its.unjoined for its in wired_by_fabric.values()),
    )
    return _priced(bill), (*ground.warnings, *run.errors, *report.warnings)


def _lines(plan: Plan, wired_by_fabric: Mapping[str, CableCounts], spares: Spares) -> tuple[Line, ...]:
    """What to order: every part once, with all its uses."""
    uses: dict[Part, list[Use]] = defaultdict(list)
    unit_of: dict[Part, str] = {}
    for name, fabric in plan.fabrics.items():
        for part, place, count, words in _devices(fabric):
            uses[part].append(Use(name, place, count))
            unit_of[part] = words
        for (kind, part), count in wired_by_fabric[name].counts.items():
            uses[part].append(Use(name, kind, count))
            unit_of[part] = _words(part)
    machines = dict(_machines(plan))
    order = {name: number for number, name in enumerate(plan.fabrics)}
    lines = []
    for part in sorted(uses, key=lambda part: part.order):
        its = tuple(sorted(uses[part], key=lambda use: (order[use.fabric], _PLACES.index(use.place))))
        in_use = machines.get(part, sum(use.count for use in its))
        lines.append(Line(part, unit_of[part], its, in_use, spares.of(part, in_use)))
    return tuple(lines)


def _devices(fabric: FabricPlan) -> Iterator[tuple[Part, str, int, str]]:
    """Switches tier by tier, and servers group by group, of one fabric."""
    spec = fabric.spec
    for role, tier in ((LEAF, spec.leaf), (SPINE, spec.spine), (CORE, spec.core)):
        count = sum(device.role == role for device in fabric.switches)
        if count:
            yield Part(SWITCH, tier.switch), role, count, _described(tier.model)
    for group in filter(_installed, spec.groups):
        yield Part(SERVER, group.model), "server", group.count, _described(group.server)


def _installed(group: GroupSpec) -> bool:
    """Leaves without servers are a group without a machine."""
    return group.count > 0


def _described(model: SwitchModel | ServerModel) -> str:
    return " ".join(word for word in (model.maker, model.description) if word)


def _words(part: Part) -> str:
    """A cable or an optic in words."""
    if part.kind == OPTIC:
        optic = media.optics()[part.item]
        return optic.description or f"{optic.connector}, {optic.fibre}, to {optic.reach_m:g} m"
    if part.item.startswith(PANEL):
        return f"patch panel of {part.item.removeprefix(PANEL)} ports"
    its = media.bought(part.item)
    if isinstance(its, media.Cable):
        return its.description
    far = f"{its.ends} x {its.far_connector}" if its.ends > 1 else its.far_connector
    return f"{its.fibre}, {its.connector} to {far}" + (", two harnesses and a panel" if its.panel else "")


def _machines(plan: Plan) -> Iterator[tuple[Part, int]]:
    """Servers of the site by model: a group of one name is the same machines in every fabric."""
    groups: dict[str, tuple[str, int]] = {}
    for fabric in plan.fabrics.values():
        for group in filter(_installed, fabric.spec.groups):
            groups[group.name] = group.model, max(group.count, groups.get(group.name, ("", 0))[1])
    for model in {model for model, _ in groups.values()}:
        yield Part(SERVER, model), sum(count for its, count in groups.values() if its == model)


def _servers(plan: Plan, prices: Prices | None) -> Power:
    """Servers without the optics in their NICs, which the network counts."""
    models = {group.model: group.server for fabric in plan.fabrics.values() for group in fabric.spec.groups}
    counts = sorted((part.item, count) for part, count in _machines(plan))
    return total((model, Draw(power_range(prices, model, models[model])), count) for model, count in counts)


def _draws(plan: Plan, wired_by_fabric: Mapping[str, CableCounts], prices: Prices | None) -> dict[str, tuple[str, str, Draw]]:
    """Role, model and power of every device of the site by name; a server draws the optics of all its fabrics."""
    optics: dict[str, float] = defaultdict(float)
    for name, fabric in plan.fabrics.items():
        for device, watts in zip(fabric.devices, wired_by_fabric[name].watts.tolist(), strict=True):
            optics[device.name] += watts
    draws: dict[str, tuple[str, str, Draw]] = {}
    for fabric in plan.fabrics.values():
        switches = _switches(fabric, prices)
        servers = {group.name: power_range(prices, group.model, group.server) for group in fabric.spec.groups}
        switch_ports = {int(fabric.links.a[link]) for link in fabric.management_ports}  # attachments that are no devices
        for device in fabric.devices:
            if device.name in fabric.leaves_below:
                continue  # a switch of another fabric
            watts = optics[device.name]
            if device.role in switches:
                draw = Draw(switches[device.role], watts)
            elif device.role == SERVER_ROLE:
                draw = Draw(servers[device.group], watts)
            else:  # its model is not known
                draw = Draw(None if device.index in switch_ports else attachment_range(), watts)
            draws[device.name] = device.role, device.model, draw
    return draws


def _switches(fabric: FabricPlan, prices: Prices | None) -> dict[str, PowerRange]:
    """Power of a switch of every tier, without optics."""
    spec = fabric.spec
    tiers = {LEAF: spec.leaf, SPINE: spec.spine, CORE: spec.core}
    return {role: power_range(prices, tier.switch, tier.model) for role, tier in tiers.items()}


def _share(
    fabric: FabricPlan, connected: CableCounts, lines: tuple[Line, ...], request: BomRequest, bandwidth: Bandwidth | None
) -> Share:
    """What one fabric draws, costs and gives."""
    switches = _switches(fabric, request.prices)
    watts = connected.watts.tolist()
    ours = [(device.model, Draw(switches[device.role], watts[device.index]), 1) for device in fabric.switches]
    far = sum(watts) - sum(watts[device.index] for device in fabric.switches)
    power = total([*ours, ("", Draw(None, far), 1)])
    over = built_ratio(summary(fabric.spec, fabric.sizing))
    if request.prices is None:
        return Share(name=fabric.name, gpus=fabric.sizing.gpus, oversubscription=over, power=power)
    parts = [
        (line.part, float(count), line.order * count / sum(use.count for use in line.uses))
        for line in lines
        if line.part.kind != SERVER
        for count in [sum(use.count for use in line.uses if use.fabric == fabric.name)]
        if count
    ]
    money = cost(parts, request.prices, power, request.pue, request.years)
    return Share(
        name=fabric.name, gpus=fabric.sizing.gpus, oversubscription=over, power=power, cost=money, bandwidth=bandwidth
    )


def _racks(plan: Plan, ground: Floor, draws: Mapping[str, tuple[str, str, Draw]], stated: bool) -> tuple[RackPower, ...]:
    """Every rack of the floor, in its order. The usual limit is none for the rack of an NVLink domain."""
    groups = (group for fabric in plan.fabrics.values() for group in fabric.spec.groups)
    trays = set() if stated else {group.model for group in groups if group.server.fills_rack}
    held: dict[int, list[RackDevice]] = defaultdict(list)
    for name, spot in ground.spots.items():
        role, model, draw = draws[name]
        held[spot.rack].append(RackDevice(name=name, role=role, model=model, ru=spot.ru, height=spot.height, draw=draw))
    by_rack = ((rack.name, tuple(held[at])) for at, rack in enumerate(ground.racks))
    return tuple(rack_power(name, its, not any(device.model in trays for device in its)) for name, its in by_rack)


def _priced(bill: Bill) -> Bill:
    """The bill with the cost of the whole site."""
    if bill.prices is None:
        return bill
    site_cost: Cost = cost(
        ((line.part, line.in_use, line.order) for line in bill.shown()), bill.prices, bill.power, bill.pue, bill.years
    )
    return replace(bill, cost=site_cost)
