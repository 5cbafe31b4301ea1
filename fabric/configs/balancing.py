"""Which fabric links a network OS balances by their load: by the intent, the switch model and the links."""

from __future__ import annotations

from fabric.model.plan import CORE, LEAF, SPINE, FabricPlan, TierSpec
from fabric.model.plan.links import KINDS, LEAF_LEAF, LEAF_SPINE, SPINE_CORE
from fabric.nos.target import target

ENDS = {KINDS[LEAF_LEAF]: (LEAF,), KINDS[LEAF_SPINE]: (LEAF, SPINE), KINDS[SPINE_CORE]: (SPINE, CORE)}
BY_TIERS = {1: (KINDS[LEAF_LEAF],), 2: (KINDS[LEAF_SPINE],), 3: (KINDS[LEAF_SPINE], KINDS[SPINE_CORE])}


def balances_by_load(fabric: FabricPlan, nos: str, role: str, kind: str = "") -> bool:
    """Whether a role balances links of a kind by load, without one any: requested, or enabled as it has no side effect."""
    mode, balancing = fabric.spec.underlay.load_balancing.mode, can_balance(fabric, nos, role, kind)
    return bool(balancing) and (mode == "dynamic" or (mode == "auto" and balancing == "auto"))


def can_balance(fabric: FabricPlan, nos: str, role: str, kind: str = "") -> str:
    """What `Capabilities.dynamic_balancing` states; "" if the switch, or each of its links of the kind, lacks it."""
    tier: TierSpec = getattr(fabric.spec, role)
    if not nos or not target(nos).can(tier.model, "dynamic_balancing"):
        return ""
    links = fabric_links(fabric, role)
    able = any(not unbalanced(fabric, nos, gbps) for its, gbps in links.items() if kind in ("", its))
    return target(nos).capabilities.dynamic_balancing if able else ""


def unbalanced(fabric: FabricPlan, nos: str, gbps: int) -> str:
    """Why a network OS does not balance links of a speed by load, "expected …, got …"; "" if it does."""
    chosen = target(nos)
    if chosen.balanced_gbps and gbps not in chosen.balanced_gbps:
        return f"expected {' or '.join(f'{speed}G' for speed in chosen.balanced_gbps)} on {chosen.title}, got {gbps}G"
    if fabric.spec.isolation == "vrf-lite" and not chosen.balanced_subinterfaces:
        return f"expected ports without subinterfaces on {chosen.title}, got `isolation: vrf-lite`"
    return ""


def fabric_links(fabric: FabricPlan, role: str) -> dict[str, int]:
    """Kind → speed of the links between a role and other switches."""
    sizing = fabric.sizing
    return {
        kind: sizing.core_gbps if kind == KINDS[SPINE_CORE] else sizing.uplink_gbps
        for kind in BY_TIERS[sizing.tiers]
        if role in ENDS[kind]
    }
