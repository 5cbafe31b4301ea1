"""What Batfish did not look at, and which check did: no silence in a report looks like a pass."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks.base import checks
from fabric.audit.checks.batfish.checks import Analysis, BatfishCheck, isolated
from fabric.audit.checks.batfish.client import is_modeled, is_modeled_on, limits_of, view_of
from fabric.audit.checks.batfish.expect import EXTERNAL, OVERLAY, TENANT, UNDERLAY
from fabric.audit.checks.batfish.reach import MOST_SPINES, sample
from fabric.audit.checks.batfish.routing import DEFAULT
from fabric.model.plan import LEAF, SPINE, SwitchView
from fabric.nos.batfish import ACL, EVPN, MULTIPATH, NATIVE, TYPE5, UNNUMBERED, VRF
from fabric.nos.target import target

Pair = tuple[str, str]  # what was not looked at; why, and what covers it

FILES = "covered by the checks of files (FAB250 to FAB299)"
ROCE = "covered by the checks of the plan (FAB218 to FAB228) and of files (FAB250 to FAB299)"
SESSIONS = "covered by FAB203 and by the checks of files (FAB250 to FAB299)"
SESSION_NEEDS = {  # kind of session → what it is called, and what Batfish must model at both ends
    UNDERLAY: ("underlay sessions", (UNNUMBERED, NATIVE)),
    TENANT: ("tenants' sessions", (VRF,)),
    OVERLAY: ("EVPN sessions", (EVPN,)),
    EXTERNAL: ("sessions with external routers", (VRF, NATIVE)),
}
OTHER_CHECKS = "covered by the checks of the plan (FAB201 to FAB217, FAB235) and of files (FAB250 to FAB299)"


def uncovered(analysis: Analysis) -> list[Pair]:
    """(what, why not and what covers it instead), in a fixed order."""
    rows = [*_part(analysis), *_texts(analysis), *_features(analysis), *_spines(analysis)]
    return [(f"Batfish: {what}", why) for what, why in rows]


def applied(analysis: Analysis) -> tuple[set[str], list[Pair]]:
    """(ids of the checks that judged something, the others and why they could not)."""
    ran, idle = set[str](), list[Pair]()
    for check in (check for check in checks(BatfishCheck) if check.of_plans):
        judged = check.judged(analysis)
        if judged.count:
            ran.add(check.id)
        elif judged.planned:
            idle.append((f"{check.id}: {check.title}", f"Batfish models none of {judged}"))
        else:
            idle.append((f"{check.id}: {check.title}", f"the design has no {judged.noun}"))
    return ran, idle


def _part(analysis: Analysis) -> Iterator[Pair]:
    part = analysis.snapshot.subset
    if part.named:
        yield "all other switches", f"the snapshot is limited to {part.named}; {FILES}"
    for nos in sorted({d.nos for devices in part.taken.values() for d in devices if d.nos and view_of(d.nos) is None}):
        yield f"switches with {nos}", "not supported by Batfish"


def _texts(analysis: Analysis) -> Iterator[Pair]:
    used = {copies.nos for copies in analysis.snapshot.copies.values()}
    for known in filter(None, map(view_of, sorted(used))):
        what, why = known.unread
        if what:
            yield what, f"{why}; {FILES}"


def _features(analysis: Analysis) -> Iterator[Pair]:
    if any(view.qos for views in analysis.snapshot.views.values() for view in views.values()):
        yield "PFC, ECN, buffers and the PFC watchdog", f"not modeled by Batfish; {ROCE}"
    yield "hash seeds, control-plane filters, services and secrets", f"not modeled by Batfish; {FILES}"
    for name, views in analysis.snapshot.views.items():
        if analysis.expected.routed(name):
            yield from _fabric(analysis, name, list(views.values()))
        else:
            why = "Batfish does not model IPv6 routes, or sessions on interfaces of this network OS"
            yield f"sessions, routes and reachability of fabric '{name}'", f"{why}; {SESSIONS}"


def _fabric(analysis: Analysis, name: str, views: list[SwitchView]) -> Iterator[Pair]:
    if not analysis.expected.forwards(name):
        subject = f"isolation, spine failures and forwarding loops in fabric '{name}'"
        yield subject, f"Batfish forwards no packets through the fabric: {_limits(views)}; {OTHER_CHECKS}"
    yield from _sessions(analysis, name, views)
    yield from _routes(analysis, name, views)
    yield from _isolation(analysis, name, views)


def _sessions(analysis: Analysis, name: str, views: list[SwitchView]) -> Iterator[Pair]:
    planned = [one for one in analysis.expected.planned_sessions if one.fabric == name and one.inside]
    for kind, (words, needs) in SESSION_NEEDS.items():
        found = [one.judged for one in planned if one.kind == kind]
        if lost := found.count(False):
            yield f"{_share(lost, len(found))}{words} of fabric '{name}'", f"{_why(views, needs)}; {SESSIONS}"
    if any(
        external.vrf and view.overlay and is_modeled(view.device.nos, VRF) for view in views for external in view.externals
    ):
        yield f"external routes in fabric '{name}'", f"Batfish loses external routes that EVPN advertises; {FILES}"


def _routes(analysis: Analysis, name: str, views: list[SwitchView]) -> Iterator[Pair]:
    routes = list(analysis.expected.planned_routes(name))
    overlay = any(view.overlay for view in views)
    for tenants, needs in ((False, (UNNUMBERED, NATIVE)), (True, (VRF, TYPE5) if overlay else (VRF,))):
        judged = [route.judged for route in routes if (route.vrf != DEFAULT) == tenants]
        if lost := judged.count(False):
            words = "routes of the default table" if not tenants else "tenants' routes" + (" over EVPN" if overlay else "")
            some = sorted({vrf.name for view in views for vrf in view.vrfs if not is_modeled_on(view, TYPE5, vrf)})
            if tenants and overlay and all(is_modeled(view.device.nos, TYPE5) for view in views) and some:
                words += f", of {', '.join(some)},"
            yield f"{_share(lost, len(judged))}{words} in fabric '{name}'", f"{_why(views, needs)}; {FILES}"
    leaves = [view for view in views if view.device.role == LEAF]
    blind = _without(leaves, (MULTIPATH,))
    if blind and any(route.hops > 1 and route.judged for route in routes):
        why = "Batfish uses all equal paths there, whatever the line says"
        yield f"`maximum-paths` of {blind} in fabric '{name}'", f"{why}; {FILES}"


def _isolation(analysis: Analysis, name: str, views: list[SwitchView]) -> Iterator[Pair]:
    tenancy = analysis.snapshot.plan.fabrics[name].tenancy
    if not tenancy.isolated or len(tenancy.tenants) < 2:
        return
    needs = (ACL,) if tenancy.kind == "acl" else (VRF,)
    leaves = [view for view in views if view.vrfs or view.acls]
    pairs = [judged for _, _, judged in isolated(analysis, name)]
    if not any(pairs):
        yield f"isolation of tenants in fabric '{name}'", f"{_why(leaves, needs)}; {FILES}"
    elif lost := pairs.count(False):
        some = f"isolation of tenants between {lost:,} of {len(pairs):,} pairs of leaves in fabric '{name}'"
        yield some, f"{_why(views, (*needs, TYPE5))}; {FILES}"


def _share(lost: int, count: int) -> str:
    return "" if lost == count else f"{lost:,} of {count:,} "


def _why(views: list[SwitchView], needs: tuple[str, ...]) -> str:
    """The limits that the design runs into, and the network OSes of which something is not modeled."""
    lacking = _without(views, needs)
    unseen = f"not modeled by Batfish on {lacking}, or behind it" if lacking else ""
    return "; ".join(filter(None, (_limits(views), unseen))) or "not modeled by Batfish on this path"


def _limits(views: list[SwitchView]) -> str:
    return "; ".join(dict.fromkeys(limit.why for view in views for limit in limits_of(view)))


def _without(views: list[SwitchView], needs: tuple[str, ...]) -> str:
    """`SONiC and Junos`: the network OSes that lack one of some features."""
    lacking = {view.device.nos for view in views if any(not is_modeled(view.device.nos, what) for what in needs)}
    return " and ".join(sorted(target(nos).title for nos in lacking))


def _spines(analysis: Analysis) -> Iterator[Pair]:
    for name, views in analysis.snapshot.views.items():
        count = sum(1 for view in views.values() if view.device.role == SPINE)
        if count > MOST_SPINES and analysis.expected.forwards(name):
            taken = ", ".join(sample(analysis, name))
            what = f"failure of {count - MOST_SPINES} of the {count} spines of fabric '{name}'"
            yield what, f"the number of simulated failures is limited to {MOST_SPINES}; simulated: {taken}"
