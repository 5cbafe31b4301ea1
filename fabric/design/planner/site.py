"""Plans every fabric of a site on shared number space; of a site too large to be wired in memory its counts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Report
from fabric.configs import targets
from fabric.design.floor import rack_space
from fabric.design.floor.rack_space import machines
from fabric.design.intent.intent import Intent
from fabric.design.planner import (
    below,
    cable_lengths,
    inventory,
    leaks,
    lock_repair,
    management_ports,
    one_tier,
    overlay,
    pins,
    pools as address_pools,
    splits,
    switchless,
    tenant_numbers,
    warnings,
)
from fabric.design.planner.addresses import address_spaces
from fabric.design.planner.assemble import Context, plan_fabric
from fabric.design.planner.attachments import hold
from fabric.design.planner.cable_lengths import longest_m
from fabric.design.planner.free_ports import claims
from fabric.design.planner.lock_repair import MOVED_POOL, id_spaces
from fabric.design.planner.lossless import cabled, lossless
from fabric.design.planner.numbers import AreaAllocator, LostRows, NumberSpace
from fabric.design.planner.pools import PoolSet, asn_intervals, check_accepted, pools
from fabric.design.planner.resolve import resolve
from fabric.design.planner.sizing import size
from fabric.model.plan import (
    ATTACHED,
    Device,
    FabricPlan,
    FabricSpec,
    Plan,
    SiteSpec,
    Sizing,
    blocks_of,
    lock_file as lock,
    unsilenced,
)
from fabric.model.plan.lock_file import FabricLock, Lock
from fabric.model.plan.summary import links, summary

# --- size bounds ----------------------------------------------------------------------------------------------
# Limits of a site that is wired in memory; a larger one has counts only.

MAX_DEVICES, MAX_LINKS = 500_000, 4_000_000  # takes some 10 s and 1 GB


def check(sized: Mapping[str, tuple[FabricSpec, Sizing]], report: Report) -> None:
    """Refuses a site that is too large, at the fabric with the most of what there is too much of."""
    devices = {name: _devices(sizing) for name, (_, sizing) in sized.items()}
    cabled = {name: sum(links(spec, sizing).values()) for name, (spec, sizing) in sized.items()}
    for noun, count, most in (("devices", devices, MAX_DEVICES), ("links", cabled, MAX_LINKS)):
        total = sum(count.values())
        if total > most:
            spec = sized[max(count, key=lambda name: count[name])][0]
            report.error(
                "FAB141",
                spec.at("servers"),
                f"the site is too large for a wired plan: expected at most {most:,} {noun}, got {total:,}",
                "`fabric plan FILE --json` sizes a site of any size; split the site for a wired plan",
            )


def _devices(sizing: Sizing) -> int:
    return sizing.servers + sizing.leaves + sizing.spine_count + sizing.core_count


# --- the fabrics of a site ------------------------------------------------------------------------------------


def size_site(site: SiteSpec, lock: Lock) -> dict[str, tuple[FabricSpec, Sizing]]:
    """Sizes every fabric; splits and pods of the lock are kept. Raises InputError with the mistakes of all."""
    return _size_site(below.expanded(site, lock, _sized), lock)


def _size_site(site: SiteSpec, lock: Lock) -> dict[str, tuple[FabricSpec, Sizing]]:
    """As `size_site`, of a site whose fabrics below others are expanded."""
    lock, _ = _settled(site, lock)
    report, sized = Report(), {}
    for name, spec in site.fabrics.items():
        overlay.check(spec, report)
        try:
            sized[name] = _sized(spec, lock.fabrics.get(name, FabricLock()))
        except InputError as error:
            report.errors += error.diagnostics
    report.raise_errors()
    longest = longest_m(rack_space.SiteOutline.of(site.settings, (rack_space.sized(*pair) for pair in sized.values())))
    return {
        name: (cable_lengths.assumed(spec, longest[name], lock.fabrics.get(name, FabricLock())), sizing)
        for name, (spec, sizing) in sized.items()
    }


def _sized(spec: FabricSpec, lock: FabricLock) -> tuple[FabricSpec, Sizing]:
    """The first of the candidates of a fabric that can be built. Raises InputError of the last."""
    if spec.switchless:
        return spec, switchless.size(spec)
    *first, last = (hold(one_tier.fewest(candidate, lock), lock) for candidate in splits.candidates(spec, lock))
    for held in first:
        try:
            return held, size(held, lock.pods)
        except InputError:
            continue
    return last, size(last, lock.pods)


def check_services(sized: Mapping[str, tuple[FabricSpec, Sizing]], lock: Lock) -> None:
    """Checks of tenants and of the lossless class that need no wiring. Raises InputError."""
    report = Report()
    for name, (spec, sizing) in sized.items():
        tenant_numbers.number(spec, lock.fabrics.get(name, FabricLock()).tenants, report)
        lossless(spec, sizing, report)
    report.raise_errors()


def plan_site(site: SiteSpec, lock: Lock, nos: Mapping[str, Mapping[str, str]]) -> Plan:
    """Plans a site.

    Args:
        lock: numbers that are in use.
        nos: network OS by fabric and role.

    Raises:
        InputError: with every mistake that planning finds.
    """
    site = below.expanded(site, lock, _sized)
    sized = _size_site(site, lock)
    lock, changes = _settled(site, lock)
    report = Report()
    check(sized, report)
    report.raise_errors()
    pool_sets = pools(site, report)
    for name, (spec, _) in sized.items():
        check_accepted(spec, pool_sets[name].prefixes, report)
        leaks.check_imports(spec, pool_sets[name].prefixes, report)
    ranges = {name: asn_intervals(spec, report) for name, spec in site.fabrics.items()}
    report.raise_errors()
    spaces = _spaces(pool_sets, ranges)
    area_allocator, lost = _area_allocator(lock, spaces)
    _warn_of_changes(site, changes, lost, report)
    managed = {prefix for pool_set in pool_sets.values() for prefix in pool_set.prefixes["management"]}
    plans: dict[str, FabricPlan] = {}
    locks: dict[str, FabricLock] = {}
    for name in sorted(sized, key=lambda name: (site.fabrics[name].below is not None, name)):
        context = Context(
            site=site.site,
            area_allocator=area_allocator,
            spaces=spaces,
            pools=pool_sets[name],
            lock=lock.fabrics.get(name, FabricLock()),
            report=report,
            nos=nos.get(name, {}),
            management=managed,
        )
        planned = plan_fabric(*sized[name], context)
        if planned is not None:
            plan, locks[name] = planned
            plans[name] = replace(plan, spec=hold(plan.spec, locks[name]))  # as the next run finds it
    if not report.errors:  # a pinned name that is taken is already reported
        _check_names(plans, report)
    pins.check_addresses(plans.values(), pool_sets, report)
    if len(plans) == len(sized) and not report.errors:
        plans = cable_lengths.with_lengths(
            Plan(site=site.site, settings=site.settings, fabrics=plans, lock=Lock(locks)), lock, report
        )
    for name, fabric in plans.items():
        plans[name], locks[name] = _finished(fabric, locks[name], lock.fabrics.get(name, FabricLock()), report)
    report.raise_errors()
    plans = below.joined(plans)
    for fabric in tuple(plans.values()):  # addresses in networks of the fabric above are among its numbers
        if fabric.spec.below is not None:
            over = fabric.spec.below.fabric
            blocks = blocks_of(area_allocator.areas, f"{over}:")
            plans[over], locks[over] = replace(plans[over], blocks=blocks), replace(locks[over], blocks=blocks)
    ordered, locks = management_ports.assign({name: plans[name] for name in site.fabrics}, locks, lock.fabrics, report)
    report.raise_errors()
    ordered = cable_lengths.with_longer(
        Plan(site=site.site, settings=site.settings, fabrics=ordered, lock=Lock(locks)), report
    )
    report.warnings += _full_racks(site, sized)
    warned = warnings.collect(ordered, report.warnings)
    active = unsilenced(site, warned)
    silenced = tuple(warning for warning in warned if warning not in active)
    return Plan(site=site.site, settings=site.settings, fabrics=ordered, lock=Lock(locks), warnings=active, silenced=silenced)


def _full_racks(site: SiteSpec, sized: Mapping[str, tuple[FabricSpec, Sizing]]) -> list[Diagnostic]:
    """Warnings of stated racks (`per_rack`) that are too low for their servers."""
    report = Report()
    if any(group.per_rack for spec, _ in sized.values() for group in spec.groups):
        machines(rack_space.SiteOutline.of(site.settings, (rack_space.sized(*its) for its in sized.values())), report)
    return report.warnings


def _spaces(pool_sets: Mapping[str, PoolSet], ranges: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, NumberSpace]:
    """The number spaces of all fabrics by the prefix of their keys; fabrics with the same pool share its used numbers."""
    used: list[tuple[int, int]] = []  # IPv4 and IPv6 numbers do not overlap: the language refuses ::/8
    used_asns: list[tuple[int, int]] = []
    spaces: dict[str, NumberSpace] = {}
    for name in sorted(pool_sets):
        spaces |= address_spaces(name, pool_sets[name], used)
        spaces |= dict(id_spaces(name))
        spaces[f"{name}:asn"] = NumberSpace(ranges[name], used_asns)
    return spaces


def _area_allocator(lock: Lock, spaces: Mapping[str, NumberSpace]) -> tuple[AreaAllocator, list[LostRows]]:
    """An area allocator with the numbers in use marked as taken, and those that must change."""
    known = {f"{name}:{key}": blocks for name, entry in lock.fabrics.items() for key, blocks in entry.blocks.items()}
    area_allocator = AreaAllocator(known)
    kept = [(key, spaces[prefix]) for prefix in sorted(spaces) for key in sorted(known) if lock_repair.belongs(key, prefix)]
    return area_allocator, area_allocator.keep(kept)


def _settled(site: SiteSpec, lock: Lock) -> tuple[Lock, list[lock_repair.Change]]:
    return lock_repair.settled(lock, {name: claims(spec) for name, spec in site.fabrics.items()})


def _warn_of_changes(site: SiteSpec, changes: list[lock_repair.Change], lost: list[LostRows], report: Report) -> None:
    """Warns of numbers in use that change, as a pool has moved or two branches assigned the same."""
    for fabric, area in dict.fromkeys(item.key.partition(":")[::2] for item in lost if item.reason == MOVED_POOL):
        report.warn(
            "FAB183",
            site.fabrics[fabric].at(),
            f"fabric '{fabric}': numbers in use change ({area} of the lock file): {MOVED_POOL}",
            "`fabric plan FILE --against OLD` lists the devices that are renumbered",
        )
    for item in lost:
        if item.reason != MOVED_POOL:
            fabric = item.key.partition(":")[0]
            changes.append(lock_repair.Change(fabric, lock_repair.in_words(item).partition(":")[2]))
    for fabric in sorted({change.fabric for change in changes if change.fabric in site.fabrics}):
        texts = sorted({change.text for change in changes if change.fabric == fabric})
        report.warn("FAB193", site.fabrics[fabric].at(), lock_repair.message(fabric, texts), lock_repair.HINT)


def _finished(plan: FabricPlan, kept: FabricLock, known: FabricLock, report: Report) -> tuple[FabricPlan, FabricLock]:
    """A fabric with its lossless class, which needs cable lengths, and its lock with lengths and splits in use."""
    spec = plan.spec
    lossless_class = lossless(spec, plan.sizing, report, cabled(spec, plan.devices, plan.links))
    cable_lengths.report_changes(spec, known, report, lossless=lossless_class is not None)
    switches = splits.kept(spec, plan.sizing)
    splits.report_changes(plan, known, switches, report)
    return replace(plan, lossless=lossless_class), replace(kept, lengths=cable_lengths.kept(spec.lengths), switches=switches)


def _check_names(plans: Mapping[str, FabricPlan], report: Report) -> None:
    places = {key: place for plan in plans.values() for key, place in inventory.places(plan.spec).items()}
    devices: list[tuple[str, Device]] = [
        (name, device)
        for name, plan in plans.items()
        for device in plan.devices
        if not (device.role == ATTACHED and device.name in plan.spec.added)  # a switch below has that name
    ]
    inventory.check_unique(devices, places, report)


# --- The counts of a site, from its sizing alone --------------------------------------------------------------


def summarize(intent: Intent) -> dict[str, Any]:
    """What `fabric plan --json` prints. Raises InputError."""
    site_lock = lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)
    site = resolve(intent.site, intent.source)
    sized = size_site(site, site_lock)
    targets.choose({name: spec for name, (spec, _) in sized.items()})
    check_services(sized, site_lock)
    address_pools.check(site)
    return {
        "site": intent.site.site,
        "fabrics": {name: summary(spec, sizing) for name, (spec, sizing) in sized.items()},
    }
