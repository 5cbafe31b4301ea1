"""Assigns the servers that are left in a smaller fabric to its tenants, so that tenants remain distinguishable."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.base.text import listed, plural
from fabric.design.intent.rewrite import Rewrite
from fabric.design.planner import inventory
from fabric.design.planner.lock_repair import id_spaces
from fabric.design.planner.numbers import AreaAllocator, number
from fabric.model.plan import SERVER, SERVER_LEAF, Device, FabricSpec, Links, Sizing
from fabric.model.plan.tenant_ports import names_ports, owners
from fabric.model.settings.services import Tenant

KEPT = 2  # servers that each tenant keeps, if it has as many
Sized = Mapping[str, tuple[FabricSpec, Sizing]]
Owners = frozenset[str]  # tenants of a server, by name or as the rest; {""}: none
Kind = tuple[Owners, ...]  # owners of one server in every fabric that shares its group
UNASSIGNED = Owners(("",))


def deal(text: Rewrite, site: str, before: Sized, after: Sized) -> Iterator[str]:
    """Gives the servers that are left to the tenants, and says so in their `servers`.

    Fabrics that share servers share the deal, so that a server has the same tenants in all of them as before.
    Raises InputError where there are too few.
    """
    named = {name: _named(site, *each) for name, each in before.items() if each[0].tenants}
    sizes = {(name, size.name): size for name in named for size in after[name][1].groups}
    shared = grouped(((size.name, size.servers), name) for name in named for size in before[name][1].groups)
    dealt: dict[str, dict[str, list[Owners]]] = defaultdict(dict)
    for (group, _), fabrics in shared.items():
        fabrics.sort(key=lambda name: sizes[name, group].servers)
        old = list(zip(*(named[name][group] for name in fabrics), strict=True))
        new: list[Kind] = []
        for position, name in enumerate(fabrics):
            size = sizes[name, group]
            quota = _quotas(Counter(old), Counter(new), size.servers)
            new = _spread(old, new, quota, size.servers_per_leaf, position)
            dealt[name][group] = [kind[position] for kind in new]
    for name, kinds in named.items():
        if dealt[name] != kinds:
            yield from _say(text, site, after[name], kinds, dealt[name])


def _named(site: str, spec: FabricSpec, sizing: Sizing) -> dict[str, list[Owners]]:
    """By group, the tenants that each server has ports of."""
    servers, tenants = _server_devices(site, spec, sizing), spec.tenants
    rest = frozenset(tenant.name for tenant in tenants if not names_ports(tenant)) or UNASSIGNED
    chosen = [(tenant, _chosen(spec, tenant, servers)) for tenant in tenants if tenant.name not in rest]
    rails = {group.name: set(range(1, spec.rails(group) + 1)) for group in spec.groups}
    nics = {group.name: {use.nics for use in group.uses} for group in spec.groups}
    owners_of: dict[str, list[Owners]] = {group.name: [] for group in spec.groups}
    for at, server in enumerate(servers):
        mine = [
            owner
            for owner, its in chosen
            if its[at]
            and (not owner.rails or rails[server.group] & set(owner.rails))
            and (not owner.nics or nics[server.group] & set(owner.nics))
        ]
        whole = any(not tenant.rails and not tenant.nics for tenant in mine)
        owners_of[server.group].append(frozenset(tenant.name for tenant in mine) | (frozenset() if whole else rest))
    return owners_of


def _server_devices(site: str, spec: FabricSpec, sizing: Sizing) -> list[Device]:
    """The servers of a fabric with their names, without wiring it. Raises InputError for a pattern that cannot be filled."""
    report = Report()
    numbers = number(spec, sizing, AreaAllocator({}), dict(id_spaces(spec.name)))
    devices, _ = inventory.devices(spec, sizing, numbers, site, {}, report)
    report.raise_errors()
    return [device for device in devices if device.role == SERVER]


def _chosen(spec: FabricSpec, tenant: Tenant, servers: Sequence[Device]) -> list[bool]:
    """Whether a tenant names each server: who would own a port of it if there were no other tenant, no rails and no NICs."""
    alone = tenant.model_copy(update={"rails": (), "nics": ()})
    only = replace(spec, tenants=(alone,))
    a = np.array([server.index for server in servers], dtype=np.int32)
    none = np.zeros_like(a)
    links = Links(
        kind=none + SERVER_LEAF,
        speed_gbps=none,
        a=a,
        a_cage=none,
        a_sub=none,
        a_split=none,
        b=none,
        b_cage=none,
        b_sub=none,
        b_split=none,
        row=none,
        column=none,
    )
    return [bool(owner == 0) for owner in owners(only, servers, links, Report()).tolist()]


def _quotas(sizes: Counter[Kind], given: Counter[Kind], count: int) -> dict[Kind, int]:
    """Servers of each kind: in proportion, none fewer than are given already, and two of each where there is room."""
    quota: dict[Kind, int] = {}
    for minimum in range(KEPT, -1, -1):
        least = {kind: min(minimum, size) if set(kind) != {UNASSIGNED} else 0 for kind, size in sizes.items()}
        quota = {kind: max(given[kind], least[kind]) for kind in sizes}
        if sum(quota.values()) <= count:
            break
    total = sizes.total()
    for _ in range(count - sum(quota.values())):
        most = max(sizes, key=lambda kind: (quota[kind] < sizes[kind], sizes[kind] * count - quota[kind] * total))
        quota[most] += 1
    return quota


def _spread(old: list[Kind], given: list[Kind], quota: Mapping[Kind, int], per_leaf: int, start: int) -> list[Kind]:
    """The kind of every server: in the order there was, and tenants on several leaves where they were on several.

    Args:
        given: the first servers, which are dealt already.
        per_leaf: servers at one set of leaves.
        at: the fabric whose leaves these are, as a place in each Kind.
    """
    if sum(quota.values()) == len(old) and given == old[: len(given)]:
        return old
    already = Counter(given)
    new = [*given, *(kind for kind, count in quota.items() for _ in range(count - already[kind]))]
    wide = [tenant for tenant, leaves in _leaves(old, per_leaf, start).items() if len(leaves) > 1]
    for tenant in wide:
        now = _leaves(new, per_leaf, start)
        if len(now[tenant]) != 1:
            continue
        (leaf,) = now[tenant]
        mine = max(place for place, kind in enumerate(new) if tenant in kind[start])
        along = new[mine][start] - {tenant}
        ranked = [
            (max(_harm(new[place][start], target, leaf, now, wide), _harm(along, leaf, target, now, wide)), place)
            for place in range(len(given), len(new))
            for target in (place // per_leaf,)
            if target != leaf and tenant not in new[place][start]
        ]
        if mine >= len(given) and ranked and min(ranked)[0] < 3:
            other = min(ranked)[1]
            new[mine], new[other] = new[other], new[mine]
    return new


def _leaves(kinds: Sequence[Kind], per_leaf: int, at: int) -> dict[str, Counter[int]]:
    """Tenant → set of leaves → its servers there."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for place, kind in enumerate(kinds):
        for tenant in sorted(kind[at]):
            found[tenant][place // per_leaf] += 1
    return found


def _harm(tenants: Owners, there: int, here: int, now: Mapping[str, Counter[int]], wide: Collection[str]) -> int:
    """Effect on the tenants of moving a server to other leaves: 0 repairs one, 1 none, 2 spreads one, 3 undoes one."""
    worst = 0
    for tenant in tenants:
        moved = now[tenant] - Counter({there: 1}) + Counter({here: 1})
        harm = 2 if tenant not in wide else 3 if len(moved) < 2 else 0 if len(now[tenant]) < 2 else 1
        worst = max(worst, harm)
    return worst


def _say(
    text: Rewrite,
    site: str,
    small: tuple[FabricSpec, Sizing],
    old: Mapping[str, list[Owners]],
    new: Mapping[str, list[Owners]],
) -> Iterator[str]:
    """Writes each tenant's servers by name. Raises InputError where a tenant has too few to be tested."""
    (spec, _), notes, report = small, [], Report()
    names = grouped((device.group, device.name) for device in _server_devices(site, *small))
    for position, tenant in enumerate(spec.tenants):
        before = sum(tenant.name in owners for group in old.values() for owners in group)
        dealt = (
            (name, owners)
            for group, leaf_owners in new.items()
            for name, owners in zip(names.get(group, []), leaf_owners, strict=True)
        )
        mine = [name for name, owners in dealt if tenant.name in owners]
        if len(mine) < min(KEPT, before):
            message = (
                f"tenant '{tenant.name}': expected {min(KEPT, before)} of its {plural(before, 'server')}, got {len(mine)}"
            )
            report.error("FAB502", spec.at("tenants", position), message, "use more leaves for more servers")
        if mine and (tenant.servers or tenant.racks):
            text.put(("fabrics", spec.name, "tenants", position, "servers"), _ranges(mine))
            text.drop(("fabrics", spec.name, "tenants", position, "racks"))
        if len(mine) != before:
            notes.append(f"{tenant.name} has {len(mine)} of {plural(before, 'server')}")
    report.raise_errors()
    yield f"{spec.name}: {listed(notes, 40) or 'tenants have the servers that they have in the other fabrics'}"


_NUMBERED = re.compile(r"(.*?)(\d+)")


def _ranges(names: Sequence[str]) -> list[str]:
    """`gpu-0001..0003` for neighbors, other names as they are."""
    ranges: list[str] = []
    last = ""
    for name in names:
        match = _NUMBERED.fullmatch(last)
        if match and name == f"{match[1]}{int(match[2]) + 1:0{len(match[2])}}":
            first = ranges.pop().partition("..")[0]
            ranges.append(f"{first}..{name.removeprefix(match[1])}")
        else:
            ranges.append(name)
        last = name
    return ranges
