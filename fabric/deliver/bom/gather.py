"""The bill of a plan: parts counted off its run list, power rack by rack off its floor, money off a price file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fabric.base.diagnostics import Diagnostic, Report
from fabric.deliver.bom.bill import Bandwidth, Bill, Line, RackDevice, RackPower, Share, Use, rack_power
from fabric.deliver.bom.cost import Cost, cost
from fabric.deliver.bom.parts import OPTIC, SERVER, SWITCH, Part, Spares
from fabric.deliver.bom.power import Draw, Power, total, total_of
from fabric.deliver.bom.prices import PUE, YEARS, Prices, power_range, unpriced
from fabric.deliver.bom.wired import CableCounts, wired
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import ServerModel, SwitchModel
from fabric.hardware.catalog.power import PowerRange, attachment_range
from fabric.model.plan import CORE, KINDS, LEAF, SERVER as SERVER_ROLE, SPINE, FabricPlan, Plan
from fabric.model.plan.summary import built_ratio, summary

if TYPE_CHECKING:
    from fabric.design.floor.floor import Floor

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
    bill = Bill(
        site=plan.site,
        servers=request.servers,
        lines=lines,
        spares=request.spares,
        network=total_of(*(share.power for share in shares)),
        server_power=_servers(plan, request.prices),
        shares=shares,
        racks=_racks(plan, ground, draws, request.rack_limit_w is not None),
        rack_limit_w=request.rack_limit_w or float(plan.settings.floor.rack_power_max_w),
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
    for group in spec.groups:
        yield Part(SERVER, group.model), "server", group.count, _described(group.server)


def _described(model: SwitchModel | ServerModel) -> str:
    return " ".join(word for word in (model.maker, model.description) if word)


def _words(part: Part) -> str:
    """A cable or an optic in words."""
    if part.kind == OPTIC:
        optic = media.optics()[part.item]
        return optic.description or f"{optic.connector}, {optic.fibre}, to {optic.reach_m:g} m"
    its = media.bought(part.item)
    if isinstance(its, media.Cable):
        return its.description
    far = f"{its.ends} x {its.far_connector}" if its.ends > 1 else its.far_connector
    return f"{its.fibre}, {its.connector} to {far}" + (", two harnesses and a panel" if its.panel else "")


def _machines(plan: Plan) -> Iterator[tuple[Part, int]]:
    """Servers of the site by model: a group of one name is the same machines in every fabric."""
    groups: dict[str, tuple[str, int]] = {}
    for fabric in plan.fabrics.values():
        for group in fabric.spec.groups:
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


def _racks(plan: Plan, ground: Floor, draws: Mapping[str, tuple[str, str, Draw]], asked: bool) -> tuple[RackPower, ...]:
    """Every rack of the floor, in its order. The usual limit is none for the rack of an NVLink domain."""
    stated = asked or plan.stated("floor", "rack_power_max_w")
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
        ((line.part, line.in_use, line.order) for line in bill.shown()),
        bill.prices,
        bill.power,
        bill.pue,
        bill.years,
    )
    return replace(bill, cost=site_cost)
