"""What is legal and still worth a word; any of it can be silenced with a reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.text import plural
from fabric.configs.targets import fabric_links, unbalanced
from fabric.design.planner import hardware, unused_ports
from fabric.model.plan import FabricPlan, in_file
from fabric.model.plan.sizing import Sizing


def collect(plans: Mapping[str, FabricPlan], warnings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Every warning, those that the intent silences included, in file order."""
    report = Report()
    report.warnings += warnings
    for plan in plans.values():
        _few_spines(plan, report)
        _without_effect(plan, report)
        _not_by_load(plan, report)
        _two_default_routes(plan, report)
        report.warnings += unused_ports.notes(plan.spec, plan.sizing)
    _same_nics(plans, report)
    hardware.warn(plans, report)
    return tuple(sorted(set(report.warnings), key=in_file))


def _same_nics(plans: Mapping[str, FabricPlan], report: Report) -> None:
    """Servers of one name are the same machines, and a NIC has one cable."""
    users: dict[tuple[str, str], str] = {}
    for name, plan in plans.items():
        for at, group in enumerate(plan.spec.groups):
            other = users.setdefault((group.name, group.nics), name)
            if other != name:
                report.warn(
                    "FAB186",
                    plan.spec.at("servers", at),
                    f"the {group.nics} NICs of '{group.name}' are already cabled in fabric '{other}'",
                    "groups of the same name are the same servers: set a different `name:` for other servers",
                )


def _few_spines(plan: FabricPlan, report: Report) -> None:
    sizing = plan.sizing
    if sizing.spines and sizing.spines_built < 2:
        report.warn(
            "FAB182",
            plan.spec.at("topology"),
            f"fabric '{plan.name}': {plural(sizing.spines_built, 'spine')} per plane and pod, a failure partitions it",
            _more_spines(sizing),
        )


def _more_spines(sizing: Sizing) -> str:
    """Every leaf has equally many links to each spine, so the uplinks of all of them share the number of spines."""
    uplinks = [group.uplinks for group in sizing.groups]
    if math.gcd(*uplinks) == 1:
        even = max(uplinks) + max(uplinks) % 2
        return f"increase the uplinks of the leaves (`leaf: {{uplinks: {{count: {even}}}}}`) so that two spines divide them"
    fewest = next(count for count in range(2, min(uplinks) + 1) if math.gcd(*uplinks) % count == 0)
    return f"set `spine: {{count: {fewest * sizing.networks * sizing.spine_pods}}}`, which divides the uplinks of the leaves"


def _two_default_routes(plan: FabricPlan, report: Report) -> None:
    """Without a VRF of its own the management gateway is a static default route, which is preferred to the external one."""
    manage = plan.spec.management
    taken = {text for connection in plan.tenancy.external_connections if connection.tenant < 0 for text in connection.accepts}
    if not manage.vrf and taken & {"0.0.0.0/0", "::/0"}:
        report.warn(
            "FAB190",
            plan.spec.at("topology", "attachments"),
            f"fabric '{plan.name}': border leaves have the management default route and an external one in the same VRF",
            "set `management: {vrf: true}`; otherwise these leaves use the management route",
        )


def _without_effect(plan: FabricPlan, report: Report) -> None:
    """Keys of tiers that a fabric does not have."""
    dead = [("core", "count"), ("core", "switch"), ("spine", "oversubscription"), ("spine", "uplinks")]
    if plan.sizing.tiers == 1:
        dead += [("spine", "count"), ("spine", "min_count"), ("spine", "switch")]
    for path in dead if plan.sizing.tiers < 3 else ():
        if plan.spec.stated("topology", *path):
            report.warn(
                "FAB184",
                plan.spec.at("topology", *path),
                f"fabric '{plan.name}': {'.'.join(path)} has no effect, the fabric has {plural(plan.sizing.tiers, 'tier')}",
                "remove it, or increase `tiers`",
            )


def _not_by_load(plan: FabricPlan, report: Report) -> None:
    """Links that keep a static hash although the intent requests `dynamic`."""
    if plan.spec.underlay.load_balancing.mode != "dynamic":
        return
    reasons: dict[str, list[str]] = {}
    for role, nos in {device.role: device.nos for device in reversed(plan.switches) if device.nos}.items():
        for kind, gbps in fabric_links(plan, role).items():
            reasons.setdefault(kind, []).append(unbalanced(plan, nos, gbps))
    for kind, kind_reasons in reasons.items():
        if reason := next(filter(None, kind_reasons), ""):
            tier = kind.split("-")[0]
            report.warn(
                "FAB184",
                plan.spec.at("underlay", "load_balancing", "mode"),
                f"fabric '{plan.name}': mode: dynamic has no effect on {kind} links: {reason}",
                f"they keep a static hash: change the speed (`{tier}: {{uplinks: {{speed_gbps: …}}}}`) or the isolation",
            )
