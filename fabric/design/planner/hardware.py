"""Names in the own hardware of a site that select an entry of a table: ASIC, GPU, network OS, features, SKUs, NICs.

An unknown name is a mistake where an entry without the name says the same honestly. What a maker may call as it likes stays
allowed, with a warning that says what stands for it.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache

from fabric.base.diagnostics import Place, Report, nearest, one_of, show
from fabric.base.source import Source
from fabric.base.text import listed
from fabric.design.intent.site import ServerGroup, Site, Topology
from fabric.hardware import catalog
from fabric.hardware.catalog import asics, media, power_class
from fabric.hardware.catalog.models import NicSet, ServerModel, SwitchModel, entry_of, folded
from fabric.model.plan import FabricPlan, FabricSpec, Positions, TierSpec
from fabric.model.settings.site import PURPOSES
from fabric.nos.target import Capabilities, target_names

UNKNOWN = "FAB180"


def check(site: Site, source: Source, report: Report) -> None:
    """Reports unknown names in `catalog:` of an intent, and unknown media of `floor:`."""
    for kind, models in (("switches", site.catalog.switches), ("servers", site.catalog.servers)):
        for name, model in models.items():
            wrong = _of_switch(model) if isinstance(model, SwitchModel) else _of_server(model)
            for path, word, noun, valid_names, otherwise in wrong:
                hint = nearest(word, valid_names)
                hint = f"{hint}{'' if hint.endswith('?') else ';'} {otherwise}" if otherwise else hint
                place = source.place(("catalog", kind, name, *path))
                dotted = ".".join(map(str, ("catalog", kind, name, path[0])))
                report.error("FAB106", place, f"{dotted}: unknown {noun} {show(word)}", hint)
    _check_network_oses(site, source, report)
    for kind, medium in site.floor.media.model_dump(by_alias=True).items():
        if medium and medium not in media.requests():
            place = source.place(("floor", "media", kind))
            report.error(
                "FAB153", place, f"floor.media.{kind}: unknown medium {show(medium)}", nearest(medium, media.requests())
            )


def _check_network_oses(site: Site, source: Source, report: Report) -> None:
    """Reports unknown network OSes of fabrics and tiers, also of a tier that has another one of its own or is not built."""
    stated = dict[tuple[str, ...], str]()
    for name, fabric in site.fabrics.items():
        for role in ("leaf", "spine", "core"):
            tier_nos, tier = getattr(fabric.nos, role), getattr(fabric.topology, role).nos
            by_role = Positions(source).stated("fabrics", name, "nos", role)
            stated |= {("fabrics", name, "nos", *([role] if by_role else [])): tier_nos} if tier_nos else {}
            stated |= {("fabrics", name, "topology", role, "nos"): tier} if tier else {}
    valid_names = target_names()
    for path, nos in stated.items():
        if nos not in valid_names:
            close = nearest(nos, valid_names)
            hint = close if close.startswith("did") else "`fabric catalog --os` lists them; plug-in packages can add more"
            report.error("FAB107", source.place(path), f"nos: expected {one_of(valid_names)}, got '{nos}'", hint)


Wrong = tuple[tuple[str | int, ...], str, str, Iterable[str], str]  # (path, word, kind of word, known words, further hint)


def _of_switch(model: SwitchModel) -> Iterator[Wrong]:
    if model.asic and asics.asic(model.asic) is None and model.asic not in _chips():
        otherwise = "without `asic` the entry is planned with conservative headroom and no known buffer size"
        yield ("asic",), model.asic, "ASIC", _chips(), otherwise
    for at, nos in enumerate(model.nos):
        if nos not in target_names():
            yield ("nos", at), nos, "network OS", target_names(), ""
    features = [item.name for item in fields(Capabilities)]
    for at, text in enumerate(model.lacks):
        nos, colon, feature = text.rpartition(":")
        if feature not in features:
            yield ("lacks", at), text, "feature", features, ""
        elif colon and nos not in target_names():
            yield ("lacks", at), text, "network OS", [f"{name}:{feature}" for name in target_names()], ""
    splits = ["default", *(f"1x{group.speed_gbps}" for group in model.ports), *(b for g in model.ports for b in g.breakouts)]
    for table in ("hwsku", "modes", "used_lanes") if model.sonic else ():
        for key in getattr(model.sonic, table):
            if key not in splits:
                yield ("sonic", table, key), key, "split of the cages", splits, ""


def _of_server(model: ServerModel) -> Iterator[Wrong]:
    if model.gpu and not _is_gpu(model.gpu):
        from fabric.solver.collectives.physics import gpu_names  # imported here: shipped servers do not need it

        otherwise = "without `gpu` estimates assume one by the name of the server, and say so"
        yield ("gpu",), model.gpu, "GPU", gpu_names(), otherwise
    for name, nics in model.nics.items():
        if nics.form and nics.form not in (forms := media.cages().forms):
            yield ("nics", name, "form"), nics.form, "form factor", forms, ""


@cache
def _chips() -> frozenset[str]:
    """Switch ASICs with buffer figures or in a shipped switch."""
    shipped = (catalog.switch(name) for name in catalog.switch_names())
    return frozenset([*asics.asic_names(), *(model.asic for model in shipped if model and model.asic)])


def _is_gpu(name: str) -> bool:
    if folded(name) in {folded(known) for known in power_class.classes().servers.gpus}:
        return True
    from fabric.solver.collectives import physics

    return physics.gpu(name).known


def warn(plans: Mapping[str, FabricPlan], report: Report) -> None:
    """Warns of names that no table has, with what is assumed: of the own hardware that the fabrics use, and time zones."""
    used = {(group.model, use.nics) for plan in plans.values() for group in plan.spec.groups for use in group.uses}
    for plan in plans.values():
        for path, word, message, known in _odd(plan, used):
            if plan.spec.positions.stated(*path):
                close = nearest(word, known)
                hint = close if close.startswith("did") else ""
                report.warn(UNKNOWN, plan.spec.positions.at(*path), message, hint)


Odd = tuple[tuple[str, ...], str, str, Iterable[str]]  # (path, word, message, known words)


def _odd(plan: FabricPlan, used: Collection[tuple[str, str]]) -> Iterator[Odd]:
    spec, stated = plan.spec, plan.spec.positions.stated
    for group in spec.groups:
        path = ("catalog", "servers", group.model)
        if not stated(*path):
            continue
        yield from _odd_maker(path, group.server.maker)
        for use in group.uses:
            if message := _assumed(use.nic):
                yield (*path, "nics", use.nics, "model"), use.nic.model, message, media.cages().nics
        for name in group.server.nics:
            if name not in PURPOSES and (group.model, name) not in used:
                message = f"no fabric connects the NICs {show(name)} of {group.model}, and they are of no purpose"
                yield (*path, "nics", name), name, message, PURPOSES
    for tier in (spec.leaf, spec.spine, spec.core):
        path, board = ("catalog", "switches", tier.switch), tier.model.sonic
        if not stated(*path):
            continue
        yield from _odd_maker(path, tier.model.maker)
        if board and board.platform not in _platforms():
            message = f"no board of the catalog is named {show(board.platform)}: names, SKUs and lanes are used as stated"
            yield (*path, "sonic", "platform"), board.platform, message, _platforms()
    if not _is_time_zone(zone := spec.management.timezone):
        home = ("fabrics", spec.name) if spec.own_management else ()
        message = f"time zone {show(zone)} is not in the tz database: a switch may refuse it"
        yield (*home, "management", "timezone"), zone, message, zoneinfo.available_timezones()


def _odd_maker(path: tuple[str, ...], maker: str) -> Iterator[Odd]:
    """A maker that is nearly one of the catalog: inventories would have two manufacturers."""
    if maker and maker not in _makers() and nearest(maker, _makers()).startswith("did"):
        message = f"no maker of the catalog is named {show(maker)}: inventories get a manufacturer of this name"
        yield (*path, "maker"), maker, message, _makers()


def _is_time_zone(name: str) -> bool:
    """Whether the tz database has it; true where this machine has no database."""
    for zone in (name, "UTC"):
        try:
            zoneinfo.ZoneInfo(zone)
        except (OSError, ValueError, zoneinfo.ZoneInfoNotFoundError):
            continue
        return zone == name
    return True


def _assumed(nic: NicSet) -> str:
    """What stands for a NIC that no table has."""
    cage, card = media.cages().nic(nic.model), entry_of(nic.model, power_class.classes().nics)
    if cage and card:
        return ""
    usual, other = media.cages().by_speed.get(nic.speed_gbps), power_class.classes().nics["other"]
    form = (usual.nic_form or usual.form) if usual else "an unknown cage"
    taken = [*([] if cage else [f"{form} as usual at {nic.speed_gbps}G"])]
    taken += [] if card else [f"{other.low:g} to {other.max:g} W of power"]
    return f"NIC model {show(nic.model)} is not known: {listed(taken)} are assumed"


@cache
def _makers() -> frozenset[str]:
    names = (*catalog.switch_names(), *catalog.server_names())
    models = (catalog.switch(name) or catalog.server(name) for name in names)
    return frozenset(model.maker for model in models if model and model.maker)


@cache
def _platforms() -> frozenset[str]:
    boards = (catalog.sonic_platform(name) for name in catalog.switch_names())
    return frozenset(board.platform for board in boards if board)


# --- NICs whose cage runs as one port or as several ----------------------------------------------------------


def split_nic(nic: NicSet, group: ServerGroup, topology: Topology, place: Place, report: Report) -> NicSet:
    """The NICs, split where they can be and the intent says so, or spreads their ports over planes or leaves."""
    splits = media.nic_breakouts(nic)
    ports, asked = max(topology.planes, 2 if topology.dual_tor else 1), group.nic_breakout
    if asked is not None:
        ports, gbps = map(int, asked.split("x"))
        if asked != f"{nic.ports}x{nic.speed_gbps}" and splits.get(ports) != gbps:
            known = [f"{ports}x{gbps}" for ports, gbps in {nic.ports: nic.speed_gbps, **splits}.items()]
            hint = "a NIC that the catalog does not know is declared under `catalog.servers`, with its `ports` and `cages`"
            report.error("FAB109", place, f"servers.nic_breakout: expected {' or '.join(known)}, got {asked}", hint)
    chosen = ports if asked is not None else next((ways for ways in sorted(splits) if ways % ports == 0), 0)
    if chosen not in splits or (asked is None and nic.ports % ports == 0):
        return nic
    cages = nic.cages if nic.cages is None or isinstance(nic.cages, int) else nic.count
    return nic.replaced(ports=chosen, speed_gbps=splits[chosen], cages=cages, interfaces=(), rdma_devices=())


# --- port speeds that a switch lacks: how to state more, and the switches that have them ----------------------

SHOWN = 4  # switches in a hint


def gbps(speeds: tuple[int, ...]) -> str:
    return ", ".join(f"{speed}G" for speed in speeds)


def does(tier: TierSpec, speed: int) -> str:
    """What follows `needs ports of 200G`: the speeds that a switch has, and whether those may not be all."""
    its = gbps(tier.model.speeds)
    return f"a speed that is not known to the catalog, which lists {its}" if tier.model.may_have(speed) else f"it has {its}"


def how_to_state(spec: FabricSpec, tier: TierSpec, speed: int, *, server_ports: bool = False) -> str:
    """How an intent says that a switch has a port speed; "" where the catalog lists all of them.

    Args:
        server_ports: the speed is one of the slowest cages that are fast enough, else of the fastest.
    """
    if not tier.model.may_have(speed):
        return ""
    cages = [group.speed_gbps for group in tier.model.ports if group.speed_gbps >= speed]
    split = f"{_parts(min(cages) if server_ports else max(cages), speed)}x{speed}"
    if spec.positions.stated("catalog", "switches", tier.switch):
        return f"if the switch does {speed}G, add `{split}` to the `breakouts` of its ports under `catalog.switches`"
    return f"if the switch does {speed}G, state it: `catalog: {{breakouts: {{{tier.switch}: [{split}]}}}}`"


def _parts(cage_gbps: int, speed: int) -> int:
    """The most ports of a speed that a cage can give, one for each of its lanes: SFP has one, QSFP four, OSFP eight."""
    lanes = 8 if cage_gbps >= 400 else 4 if cage_gbps >= 100 or cage_gbps == 40 else 1
    return next(parts for parts in (8, 4, 2, 1) if parts <= lanes and parts * speed <= cage_gbps)


def finer_uplinks(spec: FabricSpec) -> str:
    """How to state halves, quarters and eighths of uplinks that the catalog does not know; more uplinks reach more spines."""
    lowest = max(group.nic.speed_gbps for group in spec.groups)
    for tier in (spec.leaf, spec.spine):
        halves = [tier.model.native_gbps // parts for parts in (2, 4, 8)]
        for speed in halves:
            if speed >= lowest and (text := how_to_state(spec, tier, speed)):
                return text
    return ""


def others(tier: TierSpec, fits: Callable[[SwitchModel], bool]) -> str:
    """Shipped switches of a tier's technology and network OS that qualify, those of the most similar bandwidth first."""
    found = []
    for name in catalog.switch_names():
        model = catalog.switch(name)
        assert model is not None
        runs = tier.nos is None or tier.nos in model.nos
        if name != tier.switch and model.technology == tier.model.technology and runs and fits(model):
            found.append((abs(model.bandwidth_gbps - tier.model.bandwidth_gbps), name))
    return listed([name for _, name in sorted(found)], SHOWN)


def advice(
    spec: FabricSpec, tier: TierSpec, speed: int, fits: Callable[[SwitchModel], bool], *, server_ports: bool = False
) -> str:
    """Hint for a speed that a switch lacks: how to state it where it may have it, and the switches of the catalog that do."""
    stating = how_to_state(spec, tier, speed, server_ports=server_ports)
    named = others(tier, fits)
    choose = f"{named} of the catalog would do" if named else ""
    return "; ".join(part for part in (stating, choose) if part) or "`fabric catalog NAME` lists the port speeds of a switch"
