"""The network OS of each switch, checked against its model: from the intent, else the default of the model."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.base.diagnostics import Report, one_of
from fabric.configs import capabilities
from fabric.model.plan import CORE, LEAF, SPINE, FabricPlan, FabricSpec, Plan, TierSpec
from fabric.nos.target import Target, target, target_names

ROLES = (LEAF, SPINE, CORE)


def choose(specs: Mapping[str, FabricSpec]) -> dict[str, dict[str, str]]:
    """Network OS by fabric and role; "" for a switch without a known one.

    Raises InputError for features of the intent that a switch lacks.
    """
    report = Report()
    chosen = {name: {role: _of(spec, role) for role in ROLES} for name, spec in specs.items()}
    capabilities.check(specs, chosen, report)
    report.raise_errors()
    return chosen


def _of(spec: FabricSpec, role: str) -> str:
    tier: TierSpec = getattr(spec, role)
    if tier.model.technology != "ethernet":
        return ""
    return tier.nos or next((nos for nos in tier.model.nos if nos in target_names()), "")


def check(fabrics: Mapping[str, FabricPlan], report: Report, *, only_stated: bool = False) -> None:
    """Checks that every Ethernet switch of a plan has a target that can configure it.

    `only_stated` checks only what the intent requests: a plan may have switches without a config target.
    """
    for plan in fabrics.values():
        if not plan.spec.ethernet:
            continue
        for role in ROLES:
            device = next((d for d in plan.devices if d.role == role), None)
            if device is None:
                continue
            tier: TierSpec = getattr(plan.spec, role)
            path = ("topology", role, "switch")
            place = plan.spec.at(*(path if plan.spec.stated(*path) else ("topology", "switch")))
            if only_stated and tier.nos is None:
                continue
            if not device.nos:
                report.error(
                    "FAB161",
                    place,
                    f"fabric '{plan.name}': no supported network OS for {tier.switch}",
                    f"set `nos:` to {one_of(target_names())}",
                )
                continue
            refusal = target(device.nos).refusal(tier.model, tier.switch)
            if refusal:
                report.error(
                    "FAB161", place, f"fabric '{plan.name}', {tier.switch}: {refusal}", "choose another `nos:` or switch"
                )


def refuse_stated(plan: Plan) -> None:
    """Raises InputError when the intent asks for a network OS that a switch cannot run."""
    report = Report()
    check(plan.fabrics, report, only_stated=True)
    report.raise_errors()


def mtu_limit(plan: FabricPlan) -> int:
    """The largest IP MTU that all network OSes of a fabric support."""
    return min((chosen.max_mtu for chosen in used(plan)), default=9216)


def used(plan: FabricPlan) -> list[Target]:
    """The targets of a fabric, by name."""
    return [target(nos) for nos in sorted({d.nos for d in plan.switches if d.nos})]
