"""The intent of one fabric with its hardware looked up and its defaults set: the input of the other stages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fabric.base.diagnostics import Report, nearest
from fabric.base.source import Source
from fabric.design.intent.intent import Intent
from fabric.design.intent.site import Fabric, ServerGroup, Site, Topology
from fabric.design.planner import contradictions, hardware, switchless
from fabric.hardware import catalog
from fabric.hardware.catalog.models import NicSet, ServerModel
from fabric.model.plan import (
    KINDS,
    STATED,
    Constraints,
    FabricSpec,
    GroupSpec,
    Length,
    Lengths,
    NicUse,
    Positions,
    Release,
    SiteSettings,
    SiteSpec,
    TierSpec,
)
from fabric.model.plan.patching import PanelRule
from fabric.model.plan.spec import SWITCHLESS
from fabric.model.settings.site import PURPOSES, BareLeaves, Home

NO_SERVERS = "state `servers`, or `topology: {leaves_without_servers: [{name: border, count: 2}]}`"
NOWHERE = Home()  # of an intent without a file


def resolve_intent(intent: Intent) -> SiteSpec:
    """The intent with every default chosen. Raises InputError."""
    return resolve(intent.site, intent.source, intent.home)


def resolve(site: Site, source: Source, home: Home = NOWHERE) -> SiteSpec:
    """Looks up the hardware of every fabric. Raises InputError with all unknown names and contradictions."""
    report = Report()
    _further_breakouts(site, source, report)
    hardware.check(site, source, report)
    specs = {name: _fabric(name, site, source, report) for name in site.fabrics}
    _same_servers(specs, report)
    report.raise_errors()
    settings = SiteSettings(
        home=home,
        positions=Positions(source),
        sections=tuple(type(site).model_fields),
        pools=site.pools,
        management=site.management,
        silence=site.checks.silence,
        overrides=site.overrides,
        output=site.output,
        floor=site.floor,
    )
    return SiteSpec(site.site, settings, {name: spec for name, spec in specs.items() if spec is not None})


def _further_breakouts(site: Site, source: Source, report: Report) -> None:
    """Breakouts that a site states of a switch need the switch, and a cage with the bandwidth."""
    for name, breakouts in site.catalog.breakouts.items():
        model, place = site.catalog.switch(name), source.place(("catalog", "breakouts", name))
        if model is None:
            models = [*catalog.switch_names(), *site.catalog.switches]
            report.error("FAB106", place, f"unknown switch model '{name}'", _switch_hint(name, models))
            continue
        for text in breakouts:
            if not any(group.fitting((text,)) for group in model.ports):
                expected = f"expected a breakout within {model.native_gbps}G, the fastest cage, got {text}"
                report.error(
                    "FAB108",
                    place,
                    f"catalog.breakouts.{name}: {expected}",
                    "faster cages need an entry in `catalog.switches`",
                )


def _fabric(name: str, site: Site, source: Source, report: Report) -> FabricSpec | None:
    intent = site.fabrics[name]
    topology = intent.topology
    errors = len(report.errors)
    groups = [_group(name, index, site, source, report) for index in range(len(intent.servers))]
    if not intent.servers and not topology.leaves_without_servers:
        report.error("FAB103", source.place(("fabrics", name)), f"fabrics.{name}: expected servers, got none", NO_SERVERS)
    leaf = _tier(name, "leaf", None, site, source, report)
    spine = _tier(name, "spine", leaf, site, source, report)
    core = _tier(name, "core", spine, site, source, report)
    if len(report.errors) > errors or leaf is None or spine is None or core is None:
        return None
    usual = PURPOSES[intent.purpose]
    valid_groups = [group for group in groups if group is not None]
    native = leaf.model.native_gbps
    valid_groups += [_bare_group(name, intent, its, native, valid_groups) for its in topology.leaves_without_servers]
    spec = FabricSpec(
        name=name,
        purpose=intent.purpose,
        positions=Positions(source),
        kind=topology.kind or usual.kind,
        groups=tuple(valid_groups),
        leaf=leaf,
        spine=spine,
        core=core,
        leaf_ratio=_ratio(topology.leaf.oversubscription, usual.oversubscription),
        spine_ratio=_ratio(topology.spine.oversubscription, Fraction(1)),
        planes=topology.planes,
        planes_active=topology.planes_active or topology.planes,
        dual_tor=topology.dual_tor,
        reserve=_reserve(intent),
        constraints=_constraints(topology),
        attachments=topology.attachments,
        names=intent.names,
        pins=intent.pins,
        links=intent.links,
        pools=intent.pools,
        underlay=intent.underlay,
        overlay=intent.overlay,
        tenants=intent.tenants,
        qos=intent.qos,
        infiniband=intent.infiniband,
        roce=topology.kind not in SWITCHLESS and leaf.model.technology == "ethernet" and _lossless(intent),
        management=intent.management or site.management,
        own_management=intent.management is not None,
        releases=(*_releases(site.releases, source), *_releases(intent.releases, source, "fabrics", name)),
        silence=intent.checks.silence,
        transport=intent.transport or ("roce" if leaf.model.technology == "ethernet" else "infiniband"),
        nic_turns=topology.nic_order == "turns",
        lengths=_lengths(topology),
        panels=_panels(topology),
        below=intent.below,
        network_operator=intent.network_operator,
    )
    if spec.switchless:
        switchless.check(spec, report)
    else:
        contradictions.check(spec, intent, report)
    if len(report.errors) == errors and any(group.states_ports for group in intent.servers):
        from fabric.design.planner import planes  # few fabrics state any of this

        return planes.with_names(spec, intent, report)
    return spec


def _lossless(intent: Fabric) -> bool:
    """Whether the fabric has a lossless class: as stated, else by its purpose, but for plain TCP without any `qos:`."""
    if intent.qos.enabled is not None:
        return intent.qos.enabled
    return PURPOSES[intent.purpose].lossless and (intent.transport != "ethernet" or bool(intent.qos.model_fields_set))


def _reserve(intent: Fabric) -> bool:
    """Whether cables run where the finished fabric has them."""
    planned = intent.planned
    if planned is not None and planned.uplinks == "recable":
        return False
    return planned is not None or any(group.planned is not None for group in intent.servers)


def _constraints(topology: Topology) -> Constraints:
    return Constraints(
        tiers=1 if topology.spine.count == 0 else topology.tiers,
        spineless=True,
        pods=topology.pods,
        rails=topology.rails,
        leaf_uplinks=topology.leaf.uplinks,
        spine_uplinks=topology.spine.uplinks,
        spines=topology.spine.count or None,
        min_spines=topology.spine.min_count,
        cores=topology.core.count,
        core_groups=topology.core.groups,
        spare_server_ports=topology.leaf.spare_server_ports,
    )


def _releases(stated: Mapping[str, str], source: Source, *path: str) -> Iterator[Release]:
    for nos, text in sorted(stated.items()):
        yield Release(nos, text, source.place((*path, "releases", nos)))


def _lengths(topology: Topology) -> Lengths:
    """Cable lengths that an intent states, by kind of link."""
    stated = topology.cable_length_m.model_dump(by_alias=True)
    return tuple(Length(0) if (metres := stated.get(kind)) is None else Length(metres, STATED) for kind in KINDS)


def _panels(topology: Topology) -> dict[str, PanelRule]:
    """Patch panels by kind of link."""
    stated = {"leaf-spine": topology.patch_panels.leaf_spine, "spine-core": topology.patch_panels.spine_core}
    return {kind: PanelRule(its.ports, its.links or 0) for kind, its in stated.items() if its is not None}


def _ratio(value: float | None, usual: Fraction) -> Fraction:
    """The decimal number as written, exactly: 1.067 is 1067/1000."""
    return usual if value is None else Fraction(repr(value))


def _group(fabric: str, index: int, site: Site, source: Source, report: Report) -> GroupSpec | None:
    intent = site.fabrics[fabric]
    group = intent.servers[index]
    path: tuple[str | int, ...] = ("fabrics", fabric, "servers", index)
    server = catalog.server(group.model, site.catalog.servers)
    if server is None:
        models = [*catalog.server_names(), *site.catalog.servers]
        report.error(
            "FAB106", source.place((*path, "model")), f"unknown server model '{group.model}'", nearest(group.model, models)
        )
        return None
    uses = _nics(group, server, intent, source, path, report)
    if not uses:
        return None
    unit = group.unit or intent.topology.unit
    return GroupSpec(
        name=group.name or group.model,
        model=group.model,
        server=server,
        nics=uses[0].nics,
        nic=hardware.split_nic(uses[0].nic, group, intent.topology, source.place((*path, "nic_breakout")), report),
        bond=uses[0].bond,
        fallback=uses[0].fallback,
        plane_mode=group.plane_mode or ("none" if intent.topology.planes == 1 else ""),
        nic_pci=group.nic_pci,
        nic_names=group.nic_names,
        node_selector=group.node_selector,
        further=uses[1:],
        shared=_shares(intent, index),
        count=group.count,
        planned=_planned(fabric, index, site, source, report),
        per_rack=group.per_rack,
        unit_servers=unit.servers,
        full=unit.full,
    )


def _bare_group(name: str, fabric: Fabric, bare: BareLeaves, native_gbps: int, groups: Sequence[GroupSpec]) -> GroupSpec:
    """Leaves without servers, sized as those of the first group: units of one leaf, or one pair, of every plane."""
    topology = fabric.topology
    width = math.lcm(2, topology.planes) if topology.dual_tor and bare.paired else topology.planes
    width *= 2 if topology.kind == "collapsed" else 1
    speed_gbps = groups[0].nic.speed_gbps if groups else native_gbps
    nic = NicSet.model_construct(count=1, ports=width, speed_gbps=speed_gbps)  # of no server: any number of ports
    return GroupSpec(
        name=f"{name}-{bare.name}",
        model="",
        server=ServerModel(gpus=0, nics={fabric.purpose: nic}),
        nics=fabric.purpose,
        nic=nic,
        count=0,
        planned=0,
        per_rack=None,
        unit_servers=None,
        full=True,
        bare=bare.count,
    )


def _nics(
    group: ServerGroup, server: ServerModel, fabric: Fabric, source: Source, path: tuple[str | int, ...], report: Report
) -> tuple[NicUse, ...]:
    """The NICs of a group that a fabric connects; none when the server has no such."""
    names, planes = group.nics or (fabric.purpose,), fabric.topology.planes
    errors = len(report.errors)
    for at, name in enumerate(names):
        where = (*path, "nics", at) if group.nics else (*path, "model")
        if name not in server.nics:
            report.error(
                "FAB106",
                source.place(where),
                f"server model '{group.model}' has no NICs for '{name}': expected one of {', '.join(sorted(server.nics))}",
                "set `nics:` to one of them, or define the server under `catalog.servers`",
            )
        elif name in names[:at]:
            report.error("FAB109", source.place(where), f"nics: '{name}' is stated twice", "remove one of them")
    for name in group.homing:
        if name not in names:
            report.error(
                "FAB109",
                source.place((*path, "homing", name), key=True),
                f"homing: expected NICs of the group ({', '.join(names)}), got '{name}'",
                f"add `{name}` to `nics`, or remove it",
            )
    if len(report.errors) > errors:
        return ()
    usual = "bond" if planes == 1 else "single"  # the leaves of two planes have no path to each other
    homing = {name: group.homing.get(name, usual) for name in names}
    return tuple(NicUse(name, server.nics[name], homing[name] != "single", homing[name] == "fallback") for name in names)


def _shares(intent: Fabric, index: int) -> bool:
    """Whether a group is on the leaves of others: as stated, or as a pair and a single switch have no others."""
    stated = intent.servers[index].leaves
    if stated is not None or not index:
        return stated == "shared" and index > 0
    topology = intent.topology
    return topology.kind == "collapsed" or topology.tiers == 1 or topology.spine.count == 0


def _planned(fabric: str, index: int, site: Site, source: Source, report: Report) -> int:
    """Servers of a group that room is left for: the group's own number, or the fabric's when there is one group."""
    intent = site.fabrics[fabric]
    group: ServerGroup = intent.servers[index]
    planned, key = group.planned, "servers.planned"
    path: tuple[str | int, ...] = ("fabrics", fabric, "servers", index, "planned")
    if intent.planned is not None and intent.planned.servers is not None and planned is None:
        planned, key, path = intent.planned.servers, "planned.servers", ("fabrics", fabric, "planned", "servers")
    if planned is not None and planned < group.count:
        report.error(
            "FAB143",
            source.place(path),
            f"{key}: expected at least {group.count}, the current number of servers, got {planned}",
            "`planned` is the size of the finished fabric, with the current servers",
        )
    return max(planned or 0, group.count)


def _tier(fabric: str, role: str, below: TierSpec | None, site: Site, source: Source, report: Report) -> TierSpec | None:
    """The switch of a tier: its own, the topology's, or that of the tier below."""
    topology = site.fabrics[fabric].topology
    tier = getattr(topology, role)
    path: tuple[str, ...] = ("fabrics", fabric, "topology", role, "switch")
    name, nos = tier.switch, tier.nos or getattr(site.fabrics[fabric].nos, role)
    if name is None and topology.switch is not None:
        name, path = topology.switch, ("fabrics", fabric, "topology", "switch")
    if name is None:
        if topology.kind in SWITCHLESS:
            return switchless.NO_SWITCH
        if role == "leaf":
            report.error(
                "FAB103",
                source.place(path[:3]),
                f"fabrics.{fabric}.topology: expected a switch, got none",
                "set `switch: sn5600` for every tier, or `leaf: {switch: …}` for one",
            )
        return below and replace(below, nos=nos)
    model = site.catalog.switch(name)
    if model is None:
        if role == "leaf" or getattr(topology, role).switch is not None:
            models = [*catalog.switch_names(), *site.catalog.switches]
            report.error("FAB106", source.place(path), f"unknown switch model '{name}'", _switch_hint(name, models))
        return None
    return TierSpec(name, model, nos)


def _switch_hint(name: str, known: list[str]) -> str:
    hint = nearest(name, known)
    if re.fullmatch("[0-9]+x[0-9]+g", name.lower()):
        return "a generic switch has 1 to 1024 ports of 1 to 12800 Gb/s, such as 64x400g"
    return hint if hint.startswith("did") else f"{hint}; a generic switch is written 64x400g"


def _same_servers(specs: dict[str, FabricSpec | None], report: Report) -> None:
    """Groups of one name in two fabrics are the same servers, so they must be of one model."""
    models: dict[str, tuple[str, str]] = {}
    for fabric, spec in specs.items():
        names: set[str] = set()
        for index, group in enumerate(spec.groups if spec else ()):
            assert spec is not None
            where = spec.at("servers", index)
            if group.name in names:
                report.error("FAB138", where, f"duplicate server group '{group.name}'", "set a `name:` for one of them")
            names.add(group.name)
            other, model = models.setdefault(group.name, (fabric, group.model))
            if model != group.model:
                report.error(
                    "FAB138",
                    where,
                    f"server group '{group.name}' is {group.model} here and {model} in fabric '{other}'",
                    "groups of the same name in two fabrics are the same servers: rename one of them",
                )
