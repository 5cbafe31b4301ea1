"""What Batfish did not look at, and which check did: no silence in a report looks like a pass."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.checks.batfish.checks import Asked
from fabric.checks.batfish.places import isolates
from fabric.checks.batfish.reach import MOST_SPINES, sample
from fabric.checks.batfish.sees import limits_of, sees, sees_of, view_of
from fabric.nos.batfish.view import EVPN, TYPE5, VRF
from fabric.plan import SPINE, SwitchView

Pair = tuple[str, str]  # what was not looked at; why, and what covers it

FILES = "covered by the checks of files (FAB250 to FAB299)"
ROCE = "covered by the checks of the plan (FAB218 to FAB228) and of files (FAB250 to FAB299)"
SESSIONS = "covered by FAB203 and by the checks of files (FAB250 to FAB299)"
OTHER_CHECKS = "covered by the checks of the plan (FAB201 to FAB217, FAB235) and of files (FAB250 to FAB299)"


def covered(asked: Asked) -> list[Pair]:
    """(what, why not and what covers it instead), in a fixed order."""
    found = [*_part(asked), *_texts(asked), *_features(asked), *_spines(asked)]
    return [(f"Batfish: {what}", why) for what, why in found]


def _part(asked: Asked) -> Iterator[Pair]:
    cut = asked.snapshot.cut
    if cut.named:
        yield "all other switches", f"the snapshot is limited to {cut.named}; {FILES}"
    for nos in sorted({d.nos for devices in cut.taken.values() for d in devices if d.nos and view_of(d.nos) is None}):
        yield f"switches with {nos}", "not supported by Batfish"


def _texts(asked: Asked) -> Iterator[Pair]:
    used = {copies.nos for copies in asked.snapshot.copies.values()}
    for known in filter(None, map(view_of, sorted(used))):
        what, why = known.unread
        if what:
            yield what, f"{why}; {FILES}"


def _features(asked: Asked) -> Iterator[Pair]:
    if any(view.qos for views in asked.snapshot.views.values() for view in views.values()):
        yield "PFC, ECN, buffers and the PFC watchdog", f"not modeled by Batfish; {ROCE}"
    yield "hash seeds, control-plane filters, services and secrets", f"not modeled by Batfish; {FILES}"
    for name, views in asked.snapshot.views.items():
        if asked.expected.routed(name):
            yield from _tenants(asked, name, list(views.values()))
        else:
            why = "Batfish does not model IPv6 routes, or sessions on interfaces of this network OS"
            yield f"sessions, routes and reachability of fabric '{name}'", f"{why}; {SESSIONS}"


def _tenants(asked: Asked, name: str, views: list[SwitchView]) -> Iterator[Pair]:
    forwards = asked.expected.forwards(name)
    reasons = "; ".join(dict.fromkeys(limit.why for view in views for limit in limits_of(view)))
    if not forwards:
        subject = f"isolation, spine failures and forwarding loops in fabric '{name}'"
        yield subject, f"Batfish forwards no packets through the fabric: {reasons}; {OTHER_CHECKS}"
    if any(view.overlay for view in views):
        missing = reasons or "not modeled by Batfish for this network OS"
        if not forwards or not all(sees_of(view, EVPN) for view in views):
            yield f"EVPN sessions of fabric '{name}'", f"{missing}; {SESSIONS}"
        if not forwards or not all(sees_of(view, TYPE5) for view in views):
            tenants = sorted({vrf.name for view in views for vrf in view.vrfs if not sees_of(view, TYPE5, vrf)})
            some = "" if not forwards or not all(sees(view.device.nos, TYPE5) for view in views) else f" {', '.join(tenants)}"
            yield f"tenants' routes over EVPN{some and f', of{some},'} in fabric '{name}'", f"{missing}; {FILES}"
        if any(external.vrf and sees(view.device.nos, VRF) for view in views for external in view.externals):
            yield f"external routes in fabric '{name}'", f"Batfish loses external routes that EVPN advertises; {FILES}"
    tenancy = asked.snapshot.plan.fabrics[name].tenancy
    if tenancy.isolated and len(tenancy.tenants) > 1 and not isolates(asked, name):
        why = "Batfish does not model the isolation of tenants on this network OS"
        yield f"isolation of tenants in fabric '{name}'", f"{why}; {FILES}"


def _spines(asked: Asked) -> Iterator[Pair]:
    for name, views in asked.snapshot.views.items():
        count = sum(1 for view in views.values() if view.device.role == SPINE)
        if count > MOST_SPINES and asked.expected.forwards(name):
            taken = ", ".join(sample(asked, name))
            what = f"failure of {count - MOST_SPINES} of the {count} spines of fabric '{name}'"
            yield what, f"the number of simulated failures is limited to {MOST_SPINES}; simulated: {taken}"
