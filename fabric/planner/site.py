"""Plans every fabric of a site on shared number space."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.diagnostics import InputError, Report
from fabric.intent.site import Site
from fabric.intent.source import Source
from fabric.plan.devices import Device
from fabric.plan.plan import FabricPlan, Plan
from fabric.planner import extent, names, overlay, pins, tenant_numbers, warnings
from fabric.planner.addresses import address_spaces
from fabric.planner.assemble import Context, plan_fabric
from fabric.planner.ledger import Ledger, Space
from fabric.planner.lock import FabricLock, Lock
from fabric.planner.lossless import lossless
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
    return sized


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
    extent.check(sized, report)
    report.raise_errors()
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
    report.raise_errors()
    ordered = {name: plans[name] for name in site.fabrics}
    warned = warnings.collect(site, source, ordered, report.warnings)
    heard = warnings.unsilenced(site, source, warned)
    silenced = tuple(warning for warning in warned if warning not in heard)
    return Plan(site.site, site, source, ordered, Lock(locks), heard, silenced)


def _belongs(key: str, prefix: str) -> bool:
    return key == prefix or key.startswith(prefix + "/")


def _check_names(plans: Mapping[str, FabricPlan], report: Report) -> None:
    places = {key: place for plan in plans.values() for key, place in names.places(plan.spec).items()}
    boxes: list[tuple[str, Device]] = [(name, device) for name, plan in plans.items() for device in plan.devices]
    names.check_unique(boxes, places, report)
