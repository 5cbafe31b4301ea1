"""Every device of a fabric as a record, with its coordinates and its name: patterns filled, pins, and no name twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

import numpy as np

from fabric.base.diagnostics import Place, Report
from fabric.design.planner.numbers import Numbers
from fabric.model.plan import (
    ATTACHED,
    CORE,
    LEAF,
    SERVER,
    SPINE,
    Device,
    FabricSpec,
    GroupSize,
    GroupSpec,
    Ints,
    Sizing,
    UnitPlan,
    servers_per_rack,
    unit_plan,
)
from fabric.model.plan.sizing import positions
from fabric.model.settings.base import HOST

# --- names ----------------------------------------------------------------------------------------------------
# Names of devices: patterns filled with coordinates, pins, and no name twice.

_NUMBERS = ("n", "unit", "rack", "pod", "plane", "rail")


def fields(pattern: str) -> frozenset[str]:
    """The numbers that a checked pattern uses."""
    return frozenset(name for _, name, _, _ in Formatter().parse(pattern) if name in _NUMBERS)


def fill(pattern: str, site: str, fabric: str, role: str, group: str, numbers: Mapping[str, int]) -> str:
    """The name that a pattern gives; checked patterns use only coordinates that the device has.

    Numbers count from 1. Patterns were checked when the intent was read, so nothing here evaluates anything.
    """
    return pattern.format(site=site, fabric=fabric, role=role, group=group, **numbers)


def missing_fields(pattern: str, has: Iterable[str]) -> list[str]:
    """Coordinates of a pattern that a device of this kind does not have."""
    known = set(has)
    return [name for name in _NUMBERS if name in fields(pattern) and name not in known]


def places(spec: FabricSpec) -> dict[tuple[str, str], Place]:
    """(fabric, role) → where the pattern of its names stands."""
    patterns = {(spec.name, role): spec.at("names", role) for role in (LEAF, SPINE, CORE, SERVER)}
    return {**patterns, (spec.name, ATTACHED): spec.at("topology", "attachments")}


def check_unique(devices: Iterable[tuple[str, Device]], places: Mapping[tuple[str, str], Place], report: Report) -> None:
    """No switch has the name of another device of the site; names are host names and safe as folder names.

    Args:
        devices: (fabric, device) of the whole site.
        places: where the pattern of (fabric, role) stands.
    """
    seen: dict[str, tuple[str, Device]] = {}
    reported: set[tuple[str, str]] = set()

    def say(fabric: str, role: str, code: str, message: str, hint: str) -> None:
        """Reported once per pattern, not once per device."""
        if (fabric, role) not in reported:
            reported.add((fabric, role))
            report.error(code, places[fabric, role], message, hint)

    for fabric, device in devices:
        if not HOST.fullmatch(device.name) or ".." in device.name:
            expected = f"names.{device.role}: expected a pattern that gives host names of at most 63 characters"
            hint = "a host name has letters and digits, with hyphens and dots between them"
            say(fabric, device.role, "FAB110", f"{expected}, got '{device.name[:80]}'", hint)
            continue
        key = device.name.lower()  # some file systems ignore case in names of folders
        other_fabric, other = seen.setdefault(key, (fabric, device))
        same_device = other_fabric != fabric and device.role == other.role and device.role in (SERVER, ATTACHED)
        if other is device or same_device:
            continue
        owners = f"{_what(other)} of '{other_fabric}' and {_what(device)} of '{fabric}'"
        hint = "the pattern must contain {n}; add {fabric} for several fabrics, {plane} for several planes"
        if device.role == ATTACHED:
            hint = "rename the attachment"
        say(fabric, device.role, "FAB138", f"two devices are named '{device.name}': {owners}", hint)


def _what(device: Device) -> str:
    return "an attachment" if device.role == ATTACHED else f"a {device.role}"


# --- devices --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Index:
    """Device indices: cores, spines, leaves, servers, attachments, in this order and each by number."""

    core: Ints  # [network, group, core]
    spine: Ints  # [pod, network, spine]
    leaf: Mapping[str, Ints]  # by group, [unit, leaf of the unit]
    server: Mapping[str, int]  # first of each group
    attached: int  # first attachment


@dataclass(frozen=True, slots=True)
class DeviceDraft:
    """A device before it has an index."""

    number: int  # from 0, in its role; servers: in their group
    where: Mapping[str, Any]  # fields of Device
    shown: int  # {n} of the name, from 1


def devices(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, site: str, nos: Mapping[str, str], report: Report
) -> tuple[list[Device], Index]:
    """All devices of a fabric, named, and where each lies in the list."""
    naming = _Naming(spec, sizing, site, report)
    models = {CORE: spec.core.switch, SPINE: spec.spine.switch, LEAF: spec.leaf.switch}
    drafts = {
        CORE: list(_cores(spec, sizing, numbers, naming.key(CORE))),
        SPINE: list(_spines(spec, sizing, numbers, naming.key(SPINE))),
        LEAF: [
            draft
            for size, group in zip(sizing.groups, spec.groups, strict=True)
            for draft in _leaves(spec, sizing, numbers, size, group, naming.key(LEAF))
        ],
    }
    result: list[Device] = []
    places: dict[str, Ints] = {}
    for role, of_role in drafts.items():
        order = sorted(range(len(of_role)), key=lambda position: of_role[position].number)
        place = np.empty(len(of_role), dtype=np.int64)
        place[order] = len(result) + np.arange(len(of_role))
        places[role] = place
        for position in order:
            draft = of_role[position]
            name = naming.name(role, draft)
            result.append(
                Device(
                    index=len(result),
                    name=name,
                    role=role,
                    number=draft.number + 1,
                    model=models[role],
                    nos=nos.get(role, ""),
                    **draft.where,
                )
            )
    leaf, begin = {}, 0
    for size in sizing.groups:
        leaf[size.name] = places[LEAF][begin : begin + size.leaves].reshape(size.units, size.unit_leaves)
        begin += size.leaves
    first: dict[str, int] = {}
    for size, group in zip(sizing.groups, spec.groups, strict=True):
        first[size.name] = len(result)
        for draft in _servers(spec, sizing, numbers, size, group, naming.key(SERVER)):
            name = naming.name(SERVER, draft)
            result.append(
                Device(
                    index=len(result),
                    name=name,
                    role=SERVER,
                    number=draft.number + 1,
                    model=group.model,
                    nos="",
                    **draft.where,
                )
            )
    attached = len(result)
    for position, attachment in enumerate(spec.attachments):
        result.append(Device(index=len(result), name=attachment.name, role=ATTACHED, number=position + 1, model="", nos=""))
    core = places[CORE].reshape(numbers.core.shape)
    spine = places[SPINE].reshape(numbers.spine.shape if sizing.spines else (0, 0, 0))
    return result, Index(core, spine, leaf, first, attached)


class _Naming:
    """Fills the patterns; {n} counts the devices with equal values of the other coordinates of the pattern."""

    def __init__(self, spec: FabricSpec, sizing: Sizing, site: str, report: Report) -> None:
        self.site, self.fabric, self.patterns = site, spec.name, spec.names
        for role in (CORE, SPINE, LEAF, SERVER):
            _check_pattern(spec, sizing, role, report)

    def key(self, role: str) -> frozenset[str]:
        """The coordinates that a role's pattern uses."""
        return fields(getattr(self.patterns, role)) & {"unit", "rack", "pod", "plane", "rail"}

    def name(self, role: str, draft: DeviceDraft) -> str:
        counted = {key: draft.where.get(key, -1) + 1 for key in ("unit", "rack", "pod", "plane", "rail")}
        pattern = getattr(self.patterns, role)
        return fill(pattern, self.site, self.fabric, role, draft.where.get("group", ""), {"n": draft.shown, **counted})


def _network(spec: FabricSpec, sizing: Sizing, network: int) -> dict[str, int]:
    """Coordinates of an isolated network."""
    return {"plane": network % sizing.planes, "rail": network // sizing.planes if spec.kind == "rail-only" else -1}


def _alike(spec: FabricSpec, sizing: Sizing, network: int, key: frozenset[str]) -> list[int]:
    """Networks with the same values in a pattern as this one."""
    own = _network(spec, sizing, network)
    return [
        other
        for other in range(sizing.networks)
        if all(_network(spec, sizing, other)[name] == own[name] for name in key & {"plane", "rail"})
    ]


def _cores(spec: FabricSpec, sizing: Sizing, numbers: Numbers, key: frozenset[str]) -> Iterator[DeviceDraft]:
    for network in range(sizing.networks if sizing.cores else 0):
        alike = _alike(spec, sizing, network, key)
        for group, core in np.ndindex(numbers.core.shape[1:]):
            number = int(numbers.core[network, group, core])
            local = (core * sizing.core_groups + group) * len(alike) + alike.index(network)
            yield DeviceDraft(number, _network(spec, sizing, network), (local if key else number) + 1)


def _spines(spec: FabricSpec, sizing: Sizing, numbers: Numbers, key: frozenset[str]) -> Iterator[DeviceDraft]:
    for pod, network, spine in np.ndindex(numbers.spine.shape if sizing.spines else (0, 0, 0)):
        alike = _alike(spec, sizing, network, key)
        number, there = int(numbers.spine[pod, network, spine]), int(numbers.pods[pod])
        local = alike.index(network) * sizing.spines + spine
        if "pod" not in key:
            local += there * sizing.spines * len(alike)
        yield DeviceDraft(number, {**_network(spec, sizing, network), "pod": there}, (local if key else number) + 1)


def _leaves(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, size: GroupSize, group: GroupSpec, key: frozenset[str]
) -> Iterator[DeviceDraft]:
    unit = unit_plan(spec, size.unit_leaves, spec.leaves_per_nic(group))
    columns = {"plane": unit.plane.tolist(), "rail": unit.rail.tolist(), "rack": unit.rack.tolist()}
    pods = unit.pod.tolist()
    inner, before = _shown_coordinates(unit, key), _alike_before(spec, sizing, numbers, key)
    racks, rack = size.unit_servers // size.servers_per_leaf, numbers.rack[size.name].tolist()
    for position, leaf in np.ndindex(numbers.leaf[size.name].shape):
        number = int(numbers.leaf[size.name][position, leaf])
        local = inner[:leaf].count(inner[leaf])
        if "pod" in key and sizing.units_per_pod and not key & {"unit", "rack"}:  # 0: no pods, which is refused below
            local += position % sizing.units_per_pod * inner.count(inner[leaf])
        elif not key & {"unit", "rack"}:
            local += before[size.name, position][inner[leaf]]
        where = {
            "group": size.name,
            "unit": int(numbers.unit[size.name][position]),
            "pod": _pod(sizing, numbers, size, position, pods[leaf]),
            "plane": columns["plane"][leaf],
            "rail": columns["rail"][leaf],
            "rack": -1 if columns["rack"][leaf] < 0 else rack[position * racks + columns["rack"][leaf]],
        }
        yield DeviceDraft(number, where, (local if key else number) + 1)


def _shown_coordinates(unit: UnitPlan, key: frozenset[str]) -> list[tuple[int, ...]]:
    """Of each leaf of a unit, the coordinates that the pattern shows."""
    columns = [getattr(unit, name).tolist() for name in ("plane", "rack", "rail", "pod") if name in key]
    return [tuple(column[leaf] for column in columns) for leaf in range(len(unit.plane))]


def _alike_before(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, key: frozenset[str]
) -> dict[tuple[str, int], Counter[tuple[int, ...]]]:
    """(group, unit) → how many leaves of each coordinates arrived before, those of reserved and retired units included."""
    per_nic = {size.name: spec.leaves_per_nic(group) for size, group in zip(sizing.groups, spec.groups, strict=True)}
    usual = spec.leaves_per_nic(spec.groups[0])  # for a removed group, whose number is not known
    count: Counter[tuple[int, ...]] = Counter()
    counts = {}
    for name, unit, leaves in numbers.arrivals:
        counts[name, unit] = Counter(count)
        count.update(_shown_coordinates(unit_plan(spec, leaves, per_nic.get(name, usual)), key))
    return counts


def _servers(
    spec: FabricSpec, sizing: Sizing, numbers: Numbers, size: GroupSize, group: GroupSpec, key: frozenset[str]
) -> Iterator[DeviceDraft]:
    units, rack = numbers.unit[size.name].tolist(), numbers.rack[size.name].tolist()
    per_rack = servers_per_rack(spec, size, group)
    run = size.servers  # servers with equal coordinates of the pattern
    if "rack" in key and per_rack:
        run = per_rack
    elif "unit" in key:
        run = size.unit_servers
    elif "pod" in key and sizing.units_per_pod:
        run = size.unit_servers * sizing.units_per_pod
    for position, place in enumerate(positions(size.servers, size.held).tolist()):
        unit = place // size.unit_servers
        where = {
            "group": size.name,
            "unit": -1 if group.shared else units[unit],
            "pod": _pod(sizing, numbers, size, unit, 0) if size.pods_per_unit == 1 and not group.shared else -1,
            "rack": rack[place // per_rack] if per_rack else -1,
        }
        yield DeviceDraft(position, where, (place % run if key else position) + 1)


def _pod(sizing: Sizing, numbers: Numbers, size: GroupSize, unit: int, of_unit: int) -> int:
    """Number of a pod, of those of a unit."""
    row = unit // sizing.units_per_pod * size.pods_per_unit + of_unit if sizing.tiers == 3 else 0
    return int(numbers.pod[size.name][row]) if sizing.tiers == 3 else -1


def _check_pattern(spec: FabricSpec, sizing: Sizing, role: str, report: Report) -> None:
    """A pattern may only use coordinates that the devices of its role have."""
    has = {"n", "plane"} if role != SERVER else {"n", "unit"}
    if role == LEAF:
        has |= {"unit"} | ({"rack"} if spec.kind == "rack" else {"rail"} if spec.kind != "collapsed" else set())
    if role == SERVER and (spec.kind == "rack" or all(group.per_rack for group in spec.groups)):
        has.add("rack")
    one_pod = all(size.pods_per_unit == 1 for size in sizing.groups)  # of a server
    if sizing.tiers == 3 and (role in (LEAF, SPINE) or (role == SERVER and one_pod)):
        has.add("pod")
    if spec.kind == "rail-only" and role in (SPINE, CORE):
        has.add("rail")
    missing = missing_fields(getattr(spec.names, role), has)
    if missing:
        fields = ", ".join("{" + name + "}" for name in sorted(has))
        report.error(
            "FAB110",
            spec.at("names", role),
            f"names.{role}: a {role} of this fabric has no {{{missing[0]}}}: expected fields among {fields}",
        )
