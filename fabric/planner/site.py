"""Plans every fabric of a site on shared number space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabric.diagnostics import InputError, Report
from fabric.floor import outline
from fabric.floor.longest import longest_m
from fabric.intent.site import Site
from fabric.intent.source import Source
from fabric.plan.devices import ATTACHED, CORE, LEAF, SERVER, SPINE, Device
from fabric.plan.plan import FabricPlan, Plan
from fabric.planner import lengths, names, overlay, pins, standing, tenant_numbers, warnings
from fabric.planner.addresses import address_spaces
from fabric.planner.assemble import Context, plan_fabric
from fabric.planner.ledger import Ledger, Space
from fabric.planner.lock import FabricLock, Lock
from fabric.planner.lossless import cabled, lossless
from fabric.planner.numbers import id_spaces
from fabric.planner.places import hold
from fabric.planner.pools import asn_intervals, pools
from fabric.planner.sizing import Sizing, size
from fabric.planner.spec import FabricSpec, resolve


def size_site(site: Site, source: Source, lock: Lock) -> dict[str, tuple[FabricSpec, Sizing]]:
    """Sizes every fabric; what is known of a fabric's pods is kept. Raises InputError with the mistakes of all."""
    specs = resolve(site, source)
    report, sized = Report(), {}
    for name, spec in specs.items():
        overlay.check(spec, report)
        known = lock.fabrics.get(name, FabricLock())
        try:
            held = hold(spec, known)
            sized[name] = (held, size(held, known.shape.get("units_per_pod", 0)))
        except InputError as error:
            report.errors += error.diagnostics
    report.raise_errors()
    outlines = {name: outline.sized(*its) for name, its in sized.items()}
    longest = longest_m(outline.SiteOutline(site, source, outlines))
    return {
        name: (lengths.assumed(spec, longest[name], lock.fabrics.get(name, FabricLock())), sizing)
        for name, (spec, sizing) in sized.items()
    }


def check_services(sized: Mapping[str, tuple[FabricSpec, Sizing]], lock: Lock) -> None:
    """What can be said of tenants and the lossless class without wiring. Raises InputError."""
    report = Report()
    for name, (spec, sizing) in sized.items():
        tenant_numbers.number(spec, lock.fabrics.get(name, FabricLock()).tenants, report)
        lossless(spec, sizing, report)
    report.raise_errors()


def plan_site(site: Site, source: Source, lock: Lock, nos: Mapping[str, Mapping[str, str]]) -> Plan:
    """Plans a site.

    Args:
        lock: numbers that are in use.
        nos: network OS by fabric and role.

    Raises:
        InputError: with every mistake that planning finds.
    """
    sized = size_site(site, source, lock)
    report = Report()
    pool_sets = pools(site, source, report)
    for name, (spec, _) in sized.items():
        tenant_numbers.check_pools(spec, pool_sets[name].prefixes, report)
    ranges = {name: asn_intervals(name, site, source, report) for name in sized}
    report.raise_errors()
    used: list[tuple[int, int]] = []  # IPv4 and IPv6 numbers never meet: the language refuses ::/8
    used_asns: list[tuple[int, int]] = []
    known = {f"{name}:{key}": blocks for name, entry in lock.fabrics.items() for key, blocks in entry.blocks.items()}
    ledger = Ledger(known)
    spaces: dict[str, Space] = {}
    for name in sorted(sized):
        spaces |= address_spaces(name, pool_sets[name], used)
        spaces |= dict(id_spaces(name))
        spaces[f"{name}:asn"] = Space(ranges[name], used_asns)
    kept = ((key, spaces[prefix]) for prefix in sorted(spaces) for key in sorted(known) if _belongs(key, prefix))
    for key, reason in dict.fromkeys(ledger.keep(kept)):
        fabric, _, what = key.partition(":")
        report.warn(
            "FAB183",
            source.place(("fabrics", fabric)),
            f"fabric '{fabric}': numbers in use change ({what} of the lock file): {reason}",
            "`fabric plan FILE --against OLD` lists the devices that are renumbered",
        )
    plans: dict[str, FabricPlan] = {}
    locks: dict[str, FabricLock] = {}
    for name in sorted(sized):
        context = Context(
            site.site,
            ledger,
            spaces,
            pool_sets[name],
            lock.fabrics.get(name, FabricLock()),
            report,
            nos.get(name, {}),
        )
        planned = plan_fabric(*sized[name], context)
        if planned is not None:
            plans[name], locks[name] = planned
    if not report.errors:  # a pinned name that is taken has been said already
        _check_names(plans, report)
    pins.check_addresses(plans.values(), pool_sets, report)
    if len(plans) == len(sized) and not report.errors:
        plans = standing.with_lengths(Plan(site.site, site, source, plans, Lock(locks)), lock, report)
    for name, its in plans.items():
        plans[name], locks[name] = _finished(its, locks[name], lock.fabrics.get(name, FabricLock()), report)
    report.raise_errors()
    ordered = {name: plans[name] for name in site.fabrics}
    ordered = standing.with_longer(Plan(site.site, site, source, ordered, Lock(locks)), report)
    warned = warnings.collect(site, source, ordered, report.warnings)
    heard = warnings.unsilenced(site, source, warned)
    silenced = tuple(warning for warning in warned if warning not in heard)
    return Plan(site.site, site, source, ordered, Lock(locks), heard, silenced)


def _finished(plan: FabricPlan, kept: FabricLock, known: FabricLock, report: Report) -> tuple[FabricPlan, FabricLock]:
    """A fabric with its lossless class, which needs cable lengths, and its lock with the lengths in use."""
    spec = plan.spec
    found = lossless(spec, plan.sizing, report, cabled(spec, plan.devices, plan.links))
    lengths.report_changes(spec, known, report, lossless=found is not None)
    return replace(plan, lossless=found), replace(kept, lengths=lengths.kept(spec.lengths))


def _belongs(key: str, prefix: str) -> bool:
    return key == prefix or key.startswith(prefix + "/")


def _check_names(plans: Mapping[str, FabricPlan], report: Report) -> None:
    places = {}
    for name, plan in plans.items():
        for role in (LEAF, SPINE, CORE, SERVER):
            places[name, role] = plan.spec.at("names", role)
        places[name, ATTACHED] = plan.spec.at("topology", "attachments")
    boxes: list[tuple[str, Device]] = [(name, device) for name, plan in plans.items() for device in plan.devices]
    names.check_unique(boxes, places, report)
