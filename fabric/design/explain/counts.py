"""Arithmetic of the counts of a fabric, BGP sessions included. Each topic calls the functions of the sizing rule again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabric.base.rounding import ceil_div
from fabric.base.text import counted, listed, plural
from fabric.design.planner.sizing import decide
from fabric.design.planner.sizing_inputs import leaf_uplinks
from fabric.design.planner.three_tiers import core_speed, spine_split
from fabric.model.plan import (
    FabricPlan,
    FabricSpec,
    FreePortCounts,
    GroupSize,
    GroupSpec,
    Sizing,
    capacity,
    leaf_layout,
    leaf_spine_ports_used,
    oversubscription,
    spare,
)
from fabric.model.plan.lock import WiredPods
from fabric.model.plan.spec import RING
from fabric.model.plan.summary import leaf_asns, summary

# --- BGP sessions of a fabric by purpose, each counted once ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions beside those of the underlay."""

    evpn: int  # loopback to loopback
    sliced: tuple[tuple[str, int], ...]  # VRF-lite: (tenant, fabric links that carry it)
    outside: tuple[tuple[str, int, int], ...]  # (router, links to it, sessions)

    @property
    def of_tenants(self) -> int:
        return sum(count for _, count in self.sliced)

    @property
    def to_outside(self) -> int:
        return sum(count for _, _, count in self.outside)

    def __bool__(self) -> bool:
        return bool(self.evpn or self.of_tenants or self.to_outside)


def asked_for(spec: FabricSpec) -> bool:
    """Whether an intent has such sessions: the fabric must be wired before they are counted."""
    return spec.overlay.kind != "none" or bool(spec.tenants) or any(attachment.external for attachment in spec.attachments)


def sessions(fabric: FabricPlan) -> Sessions:
    tenancy, outside = fabric.tenancy, dict[str, list[int]]()
    for connection in tenancy.external_connections:
        outside.setdefault(connection.name, []).append(connection.link)
    return Sessions(
        evpn=sum(len(peers) for peers in tenancy.peers.values()) // 2,
        sliced=tuple((tenancy.tenants[at].name, int((first >= 0).sum())) for at, first in tenancy.slices.items()),
        outside=tuple((name, len(set(links)), len(links)) for name, links in outside.items()),
    )


def phrase(underlay: int, more: Sessions) -> str:
    """`32 sessions`; `32 underlay sessions, 16 of EVPN, 2 to outside` where there are others."""
    if not more:
        return counted(underlay, "session")
    parts = [counted(underlay, "underlay session")]
    parts += [f"{more.evpn:,} of EVPN"] if more.evpn else []
    parts += [f"{more.of_tenants:,} of tenants"] if more.of_tenants else []
    parts += [f"{more.to_outside:,} to outside"] if more.to_outside else []
    return ", ".join(parts)


def terms(more: Sessions, route_servers: int) -> list[str]:
    """Each kind with the product that gives its number."""
    out = []
    if more.evpn:
        out.append(
            "EVPN: one between the loopbacks of neighbors, with the first "
            f"{plural(route_servers, 'spine')} of a pod and plane (overlay.route_servers), same for cores: {more.evpn}"
        )
    if more.of_tenants:
        parts = [f"{count} with {name}" for name, count in more.sliced]
        out.append(f"tenants: one per tenant on each fabric link that carries it: {' + '.join(parts)} = {more.of_tenants}")
    for name, links, count in more.outside:
        each = count // links
        out.append(f"outside: {plural(links, 'link')} to {name} x {plural(each, 'table')} = {count}")
    return out


# --- counts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A sized fabric, and its pods in service."""

    spec: FabricSpec
    sizing: Sizing
    wired: WiredPods  # in the lock
    attached: FreePortCounts | None = None  # ports of attachments, if the fabric is wired
    sessions: Sessions | None = None  # besides the underlay, if the fabric is wired

    def groups(self) -> list[tuple[GroupSize, GroupSpec]]:
        """Groups with leaves of their own."""
        pairs = zip(self.sizing.groups, self.spec.groups, strict=True)
        return [(size, group) for size, group in pairs if not group.shared]

    def shared(self) -> list[str]:
        """Groups that have no leaves of their own."""
        first = self.spec.groups[0].name
        return [f"{group.name}: on the leaves of {first}" for group in self.spec.groups if group.shared]


def unused_splits(spec: FabricSpec) -> list[str]:
    """Splits of the catalog that the sizes do not count on, as the lock keeps others."""
    tiers = {tier.switch: tier.left_out for tier in (spec.leaf, spec.spine, spec.core)}
    return [
        f"cages of {switch} stay split as in the lock; the catalog also has {listed(splits)}"
        for switch, splits in tiers.items()
        if splits
    ]


def _units(case: Case) -> list[str]:
    out = []
    for size, group in case.groups():
        leaf = case.spec.leaf
        if group.unit_servers:
            out.append(f"{size.name}: a unit of {plural(size.unit_servers, 'server')} is stated")
        elif case.spec.kind == "rack" and group.per_rack:
            out.append(f"{size.name}: a unit is a rack of {plural(group.per_rack, 'server')}")
        else:
            per_server = size.leaf_ports_per_server * size.down_gbps
            spare, half = case.spec.constraints.spare_server_ports, leaf.model.bandwidth_gbps // 2
            carried = max(1, (half // size.down_gbps - spare) // size.leaf_ports_per_server)
            out.append(
                f"{size.name}: half of a leaf's bandwidth, {leaf.model.bandwidth_gbps}G / 2 = "
                f"{half}G ({leaf.switch})"
                + (f" less {plural(spare, 'spare port')}" if spare else "")
                + f", carries {carried} servers of {size.leaf_ports_per_server} x {size.down_gbps}G = "
                f"{per_server}G"
            )
            if size.beside:
                out.append(f"  beside {_further(size)} a leaf carries {plural(size.servers_per_leaf, 'server')}")
            elif size.servers_per_leaf < carried:
                out.append(f"  a leaf has ports for {plural(size.servers_per_leaf, 'server')} and their uplinks")
        out.append(f"  units = ceil({size.servers} servers / {size.unit_servers}) = {size.units}")
    return [*out, *case.shared()]


def _further(size: GroupSize) -> str:
    """`26 x 200G` of NICs on free ports."""
    return " and ".join(f"{ports} x {speed}G" for speed, ports in size.beside)


def _leaves(case: Case) -> list[str]:
    out = []
    for size, group in case.groups():
        per_nic = case.spec.leaves_per_nic(group)
        if case.spec.kind == "collapsed":
            planes = f", {case.spec.planes} planes {size.unit_leaves}" if case.spec.planes > 1 else ""
            out.append(f"{size.name}: a collapsed-spine pair has 2 leaves{planes}")
            continue
        if case.spec.kind == "rack":
            racks = size.unit_servers // size.servers_per_leaf
            out.append(
                f"{size.name}: {plural(racks, 'rack')} per unit x {plural(per_nic, 'leaf', 'leaves')} per rack = "
                f"{size.unit_leaves} leaves per unit"
            )
        else:
            out.append(
                f"{size.name}: {plural(case.spec.rails(group), 'rail')} x {plural(per_nic, 'leaf', 'leaves')} per NIC = "
                f"{size.unit_leaves} leaves per unit"
            )
        out.append(f"  leaves = {plural(size.units, 'unit')} x {size.unit_leaves} = {size.leaves}")
    return [*out, *case.shared()]


WITHOUT_SPINES = "every leaf of a network has a port of all servers, so it needs no spines"


def _uplinks(case: Case) -> list[str]:
    if case.sizing.spineless:
        return [f"none: {WITHOUT_SPINES}"]
    options, _ = decide(case.spec, case.wired)
    out = []
    for size, demand in zip(case.sizing.groups, options.demands, strict=True):
        if not size.unit_leaves:
            continue
        speed, ratio = case.sizing.uplink_gbps, float(case.spec.leaf_ratio)
        if case.spec.constraints.leaf_uplinks.count is not None:
            out.append(f"{size.name}: {size.uplinks} uplinks of {speed}G are stated")
        else:
            down = f"{demand.down} ports x {demand.down_gbps}G"
            down = f"({down} + {_further(size).replace(' and ', ' + ')})" if size.beside else down
            out.append(
                f"{size.name}: uplinks = ceil({down} / ({ratio:g} x {speed}G)) = {leaf_uplinks(case.spec, demand, speed)}"
            )
        layout = leaf_layout(case.spec, case.sizing, size)
        cages = sorted({slot.cage for slot in layout.up})
        out.append(f"  they take {_cages(cages)} of {case.spec.leaf.switch}")
        free = spare(case.spec.leaf.model, layout, size.down_gbps, size.beside)
        out.append(f"  servers take {_cages(sorted({s.cage for s in layout.down}))}; {plural(free, 'port')} left")
    return out


def _spines(case: Case) -> list[str]:
    sizing, spec = case.sizing, case.spec
    if not sizing.spines:
        return [f"none: {WITHOUT_SPINES}" if sizing.spineless else "a collapsed-spine pair has no spines"]
    options, _ = decide(spec, case.wired)
    out = [f"rejected: {misfit.option}: {misfit.reason}" for misfit in _tried(case)]
    where = "each isolated network" if sizing.networks > 1 else "the fabric"
    uplinks, split = sorted({size.uplinks for size in sizing.leaf_groups}), None
    if sizing.tiers == 2:
        ports = capacity(spec.spine.model, sizing.uplink_gbps)
        links = sum(d.units * d.leaves * s.uplinks for d, s in zip(options.demands, sizing.groups, strict=True))
        out.extend(
            (
                f"uplinks in {where}: {links}; a spine ({spec.spine.switch}) has {ports} ports of {sizing.uplink_gbps}G",
                f"  at least ceil({links} / {ports}) = {plural(ceil_div(links, ports), 'spine')}",
            )
        )
    else:
        split = spine_split(spec, sizing.uplink_gbps, core_speed(spec))
        assert split is not None
        heaviest = max(d.leaves_of_pod * s.uplinks for d, s in zip(options.demands, sizing.groups, strict=True))
        links = sizing.units_per_pod * heaviest
        out.extend(
            (
                f"a spine ({spec.spine.switch}) is split into {split[0]} ports down and {split[1]} up at "
                f"{float(spec.spine_ratio):g}:1",
                f"  a pod of {plural(sizing.units_per_pod, 'unit')} has {links} uplinks in {where}",
                f"  at least ceil({links} / {split[0]}) = {plural(ceil_div(links, split[0]), 'spine')} per pod",
            )
        )
    out.append(
        f"  rounded up to a number that divides a leaf's {' and '.join(map(str, uplinks))} uplinks{_floor(case)}: "
        f"{sizing.spines}"
    )
    if sizing.tiers == 3 and split is not None and sizing.spine_uplinks != split[1]:
        down = leaf_spine_ports_used(sizing)
        out.append(f"  each has {down} x {sizing.uplink_gbps}G down, so it needs {sizing.spine_uplinks} uplinks")
    if sizing.spines_built != sizing.spines:
        out.append(f"  {sizing.spines_built} of them are built now, the ports of the others are reserved")
    factors = [f"{sizing.spine_pods} pods"] if sizing.spine_pods > 1 else []
    factors += [f"{sizing.networks} networks"] if sizing.networks > 1 else []
    if factors:
        out.append(f"spines = {' x '.join([*factors, str(sizing.spines_built)])} = {sizing.spine_count}")
    return out


def _floor(case: Case) -> str:
    stated = case.spec.constraints
    if stated.spines is not None and not case.spec.reserve:
        return f", {stated.spines} in all as stated"
    if stated.min_spines is not None:
        return f", at least the stated {stated.min_spines}"
    return ", if possible at least 2"


def _tried(case: Case) -> list[_Tried]:
    """Options before the chosen one, the first reason of each."""
    options, shape = decide(case.spec, case.wired)
    assert shape is not None
    chosen = f"{'two' if shape.tiers == 2 else 'three'} tiers with {shape.uplink_gbps}G uplinks"
    first: dict[str, _Tried] = {}
    for misfit in options.misfits:
        if misfit.option != chosen:
            first.setdefault(misfit.option, _Tried(misfit.option, misfit.reason))
    return list(first.values())


@dataclass(frozen=True)
class _Tried:
    option: str
    reason: str


def _pods(case: Case) -> list[str]:
    sizing = case.sizing
    if sizing.tiers < 3:
        all_units = "the unit is" if sizing.units == 1 else f"all {sizing.units} units are"
        return [f"{plural(sizing.tiers, 'tier')}: {all_units} 1 pod"]
    if case.wired.units:
        why = "as cabled already"
    elif case.spec.constraints.pods is not None:
        why = "as stated"
    else:
        why = "the size that needs the fewest switches; ties go to the largest"
    rule = case.spec.constraints.pods
    rails = f"{plural(rule.rails, 'rail')} of " if rule and rule.rails else ""
    out = [f"a pod is {rails}{plural(sizing.units_per_pod, 'unit')}: {why}"]
    for size, _ in case.groups():
        each = f" x {size.pods_per_unit} pods, by rails" if size.pods_per_unit > 1 else ""
        out.append(f"  {size.name}: pods = ceil({size.units} units / {sizing.units_per_pod}){each} = {size.pods}")
    return out


def _cores(case: Case) -> list[str]:
    sizing, spec = case.sizing, case.spec
    if not sizing.cores:
        return [f"{plural(sizing.tiers, 'tier')}: no cores"]
    pods, shared = sizing.pods_planned, sizing.spines_per_core
    ports = capacity(spec.core.model, sizing.core_gbps)
    links = pods * shared * sizing.spine_uplinks
    if sizing.core_groups == 1:
        which, of_pods = "every spine of every pod connects to every core", f"{pods} pods x {shared} spines"
    elif shared > 1:
        which = f"spines 1 to {shared} of every pod connect to core group 1, the next {shared} to the next group"
        of_pods = f"{pods} pods x {shared} spines"
    else:
        which, of_pods = "spine i of every pod connects to core group i", f"{pods} pods"
    out = [
        f"{which}: {plural(sizing.core_groups, 'group')}"
        + (f" in each of {sizing.networks} networks" if sizing.networks > 1 else ""),
        f"  a group takes {of_pods} x {sizing.spine_uplinks} uplinks = {links} links of {sizing.core_gbps}G",
        f"  at least ceil({links} / {ports} ports of {spec.core.switch}) = {ceil_div(links, ports)} cores",
        f"  rounded up to a number that divides {sizing.spine_uplinks}: {sizing.cores}",
    ]
    if sizing.cores_built != sizing.cores:
        out.append(f"  {sizing.cores_built} of them are built now")
    networks = f"{sizing.networks} networks x " if sizing.networks > 1 else ""
    return [*out, f"cores = {networks}{sizing.core_groups_built} groups x {sizing.cores_built} = {sizing.core_count}"]


def _tiers(case: Case) -> list[str]:
    if case.sizing.kind == "collapsed":
        return ["a collapsed-spine pair has 1 tier"]
    if case.sizing.spineless:
        return [f"1 tier: {WITHOUT_SPINES}"]
    tried = [f"{misfit.option} do not fit: {misfit.reason}" for misfit in _tried(case)]
    stated = case.spec.constraints.tiers
    if stated != "auto":
        return [f"{stated} tiers are stated", *tried]
    return [
        *tried,
        f"{plural(case.sizing.tiers, 'tier')} with {case.sizing.uplink_gbps}G uplinks is the first option that fits",
    ]


def _ratio(case: Case) -> list[str]:
    if case.sizing.spineless:
        return ["leaf: 1:1, its servers share no uplinks"]
    ports = summary(case.spec, case.sizing)["ports"]
    built = oversubscription(case.sizing, ports)
    out = []
    for tier, value in built.items():
        if value is not None:
            row = ports[tier]
            down = [f"{row['down']} x {row['down_speed_gbps']}G"]
            down += [f"{count} x {speed}G" for speed, count in row.get("further", {}).items()]
            out.append(f"{tier}: {' + '.join(down)} down / {row['up']} x {row['up_speed_gbps']}G up = {value:g}:1")
    return out


def _limits(case: Case) -> list[str]:
    sizing = case.sizing
    first = sizing.groups[0]
    others = sum(size.servers for size in sizing.groups[1:])
    units = ceil_div(sizing.limit_servers - others, first.unit_servers)
    out = [
        f"the same intent, with more servers of {first.name}, at {plural(sizing.tiers, 'tier')}:",
        f"  {sizing.limit_servers:,} servers, {sizing.limit_gpus:,} GPUs in "
        f"{plural(units, 'unit')} of {first.unit_servers}"
        + (f", including {others:,} servers of the other groups" if others else ""),
    ]
    if not sizing.spineless and sizing.limit_servers > sum(group.planned for group in case.spec.groups):
        out.append(
            f"  beyond the planned size uplinks are re-cabled: `planned: {{servers: {sizing.limit_servers}}}` reserves them"
        )
    return out


def _cages(cages: list[int]) -> str:
    return f"cage {cages[0]}" if len(cages) == 1 else f"cages {cages[0]} to {cages[-1]}"


def _links(case: Case) -> list[str]:
    row = summary(case.spec, case.sizing)
    count, sizing, out = row["links"], case.sizing, []
    for group in case.spec.groups:
        for use in group.uses:
            nics = f" of {use.nics}" if len(group.uses) > 1 else ""
            out.append(f"server-leaf: {group.count} {group.name} x {use.ports} ports{nics} = {group.count * use.ports}")
    if sizing.kind == "collapsed":
        planes = f" x {sizing.planes} planes" if sizing.planes > 1 else ""
        out.append(f"leaf-leaf: the {sizing.groups[0].uplinks} uplinks of a leaf{planes}")
    for size, _ in case.groups():
        if sizing.spines:
            each = sizing.links_per_spine(size)
            spines = sizing.spines_built
            less = " minus the links that the last unit does not need" if size.last_unit else ""
            out.append(f"leaf-spine: {size.leaves} leaves x {spines} spines x {each} = {size.leaves * spines * each}{less}")
    if sizing.cores:
        out.append(
            f"spine-core: {sizing.spine_count} spines x {sizing.cores_built} cores x {sizing.links_per_core} = "
            f"{count['spine-core']}"
        )
    if count["attachments"]:
        out.append(f"attachments: {count['attachments']} as stated")
    return [*out, f"cables: {', '.join(of_kind(kind, number) for kind, number in row['cables'].items() if number)}"]


def of_kind(kind: str, number: int) -> str:
    """`1,024 server-leaf`, `1 attachment`."""
    return f"{number:,} {kind.removesuffix('s') if number == 1 else kind}"


def _bgp(case: Case) -> list[str]:
    row, spec, sizing = summary(case.spec, case.sizing), case.spec, case.sizing
    if not sizing.bgp:
        return ["InfiniBand: no BGP"]
    links = row["links"]
    parts = [f"{links[kind]} {kind}" for kind in ("leaf-leaf", "leaf-spine", "spine-core") if links[kind]]
    which = "sessions of the underlay" if case.sessions else "sessions"
    out = [f"{which} = one per link: {' + '.join(parts)} = {row['bgp']['sessions']}"]
    out += terms(case.sessions, spec.overlay.route_servers) if case.sessions else []
    if spec.underlay.asn.scheme == "per-device":
        return [*out, f"AS numbers = one per switch = {row['bgp']['asns']}"]
    paired = spec.underlay.asn.scheme == "per-pair"
    parts = [f"{leaf_asns(spec, sizing)} leaves and pairs of them" if paired else f"{sizing.leaves} leaves"]
    parts += [f"{sizing.spine_pods} for the spines of each pod"] if sizing.spines else []
    parts += ["1 for the cores"] if sizing.tiers == 3 else []
    return [*out, f"AS numbers (RFC 7938) = {' + '.join(parts)} = {row['bgp']['asns']}"]


def without_switches(case: Case) -> list[str]:
    """The cables of servers that are cabled to each other, whatever was asked."""
    (size, group), spec = case.groups()[0], case.spec
    ports = group.nic.count * group.nic.ports
    if spec.kind == RING:
        neighbors, share, pairs = 2, ports // 2, size.servers
        joined = f"{size.servers} pairs of neighbors"
    else:
        neighbors, share, pairs = size.servers - 1, ports // (size.servers - 1), size.servers * (size.servers - 1) // 2
        joined = f"{size.servers} x {neighbors} / 2 pairs of servers" if pairs > 1 else "1 pair of servers"
    return [
        f"`kind: {spec.kind}` has no switches: {plural(size.servers, 'server')}, each with {plural(neighbors, 'neighbor')}",
        f"links = floor({plural(ports, 'NIC port')} / {neighbors}) x {joined} = "
        f"{share} x {pairs} = {case.sizing.direct_links}",
    ]


TOPICS: dict[str, tuple[str, Callable[[Case], list[str]]]] = {
    "units": ("servers that share a set of leaves", _units),
    "leaves": ("leaf switches", _leaves),
    "uplinks": ("uplinks of a leaf", _uplinks),
    "spines": ("spine switches", _spines),
    "pods": ("units that share their spines", _pods),
    "cores": ("core switches", _cores),
    "tiers": ("number of tiers", _tiers),
    "oversubscription": ("bandwidth down divided by bandwidth up", _ratio),
    "links": ("links by kind, and the cables that carry them", _links),
    "bgp": ("sessions and AS numbers", _bgp),
    "limits": ("largest number of servers of this design", _limits),
}
