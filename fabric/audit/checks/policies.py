"""Which routes a switch of a plan takes in, sends out and lets into BGP, by the names of prefix lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from fabric.model.facts import PrefixRule
from fabric.model.plan import LEAF, External, SwitchView
from fabric.nos.policy import PERMIT, Policy, PrefixList, external_policy, underlay_policy, vrf_policy
from fabric.nos.reading import denial, effective
from fabric.nos.target import Idiom


@dataclass(frozen=True)
class Policies:
    """The route policy of a switch, as its network OS spells it."""

    whole: SwitchView
    idiom: Idiom

    @cached_property
    def view(self) -> SwitchView:
        """Without the address of tunnels where they begin at the router id."""
        overlay, pair = self.whole.overlay, self.whole.pair
        if self.idiom.own_vtep or overlay is None:
            return self.whole
        return replace(self.whole, overlay=replace(overlay, vtep=None), pair=replace(pair, shared_vtep="") if pair else None)

    @cached_property
    def underlay(self) -> Policy:
        return underlay_policy(self.view)

    @cached_property
    def tenants(self) -> dict[str, Policy]:
        """By the tenant's name."""
        return {vrf.name: vrf_policy(self.view, vrf) for vrf in self.view.vrfs}

    def of(self, tenant: str) -> Policy:
        """Of a routing table; "" is the default one."""
        return self.tenants[tenant] if tenant else self.underlay

    def external(self, external: External) -> Policy:
        return external_policy(self.view, external)

    def sends(self, policy: Policy) -> frozenset[str]:
        """Route policies of routes sent to the fabric.

        Without redistribution, the session policy permits connected routes; those of a leaf are among its own.
        """
        straight_out = not self.idiom.redistributes and policy is self.underlay and self.view.device.role != LEAF
        return self.passed(policy, *((policy.exports, policy.connected) if straight_out else (policy.exports,)))

    def passed(self, policy: Policy, *names: str) -> frozenset[str]:
        """The prefix lists that a policy asks for in place of these, as facts state them."""
        found: list[str] = []
        for part in (part for name in names for part in self._parts(policy.list_of(name))):
            found.append(denial(part.name, found) if part.denies else part.name)
        return frozenset(found)

    def _parts(self, one: PrefixList) -> tuple[PrefixList, ...]:
        return (one,) if self.idiom.ordered_lists else one.parts

    def lists(self) -> Iterator[PrefixList]:
        """Every list that the policies name."""
        for policy in (self.underlay, *self.tenants.values(), *map(self.external, self.view.externals)):
            used = {policy.imports, *self.sends(policy), *([policy.connected] if self.idiom.redistributes else [])}
            yield from (part for one in policy.lists if one.name in used for part in self._parts(one))

    def entries(self, one: PrefixList) -> frozenset[str]:
        """Entries of a list as facts state them."""
        rules = [PrefixRule(entry.action == PERMIT or not self.idiom.ordered_lists, entry.words) for entry in one.entries]
        return frozenset(effective(rules).values())
