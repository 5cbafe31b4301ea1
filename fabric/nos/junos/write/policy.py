"""Route policy of the default table, of the overlay and of external connections, from the neutral prefix lists."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabric.model.plan import LEAF, External, SwitchView
from fabric.nos.junos.write.words import REJECT, Filters, Named, Terms, all_filters, begins_with, routes, term
from fabric.nos.policy import CONNECTED, external_policy, underlay_policy

# RFC 8326: a neighbor in graceful shutdown is the last choice. No action that ends the policy: the terms below decide.
DRAINED = term("drained", ("community GSHUT",), "local-preference 0")
TRANSIT = term("transit", ("as-path FROM-ABOVE",), "reject")


@dataclass(slots=True)
class Policies:
    """All of `policy-options`; built up by the parts of a config, then printed."""

    lists: list[Filters] = field(default_factory=list)
    statements: list[Terms] = field(default_factory=list)
    communities: list[Named] = field(default_factory=lambda: [Named("GSHUT", ("65535:0",))])
    as_paths: list[Named] = field(default_factory=list)

    def add_lists(self, *found: Filters) -> None:
        self.lists += [item for item in found if item not in self.lists]

    def add_statement(self, item: Terms) -> None:
        if item not in self.statements:
            self.statements.append(item)

    def add_community(self, item: Named) -> None:
        if item not in self.communities:
            self.communities.append(item)


def underlay(view: SwitchView, policies: Policies) -> None:
    policy = underlay_policy(view)
    leaf = view.device.role == LEAF
    used = (policy.imports, policy.exports) if leaf else (policy.imports, CONNECTED)
    policies.add_lists(*all_filters(item for item in policy.lists if item.name in used))
    policies.add_statement(Terms("FABRIC-IN", (DRAINED, *routes("fabric", (), policy.list_of(policy.imports)), REJECT)))
    if leaf:
        exported = routes("own", ("direct", "aggregate", "bgp"), policy.list_of(policy.exports))
    else:
        exported = routes("own", ("direct",), policy.list_of(CONNECTED))
        exported += routes("passed-on", ("bgp",), policy.list_of(policy.exports))
    # A default route that another border leaf sent stays where it is: only what this leaf took in itself goes up.
    border = leaf and any(not external.vrf for external in view.externals)
    policies.add_statement(Terms("FABRIC-OUT", (*((TRANSIT,) if border else ()), *exported, REJECT)))
    if leaf and (border or view.overlay):
        above = [session.peer_asn for session in view.sessions]
        above += [session.peer_asn for session in view.overlay.sessions] if view.overlay else []
        policies.as_paths.append(Named("FROM-ABOVE", (begins_with(above),)))


def overlay(view: SwitchView, policies: Policies) -> None:
    """A leaf never advertises routes of one spine to another; a route server advertises all."""
    if view.overlay is None:
        return
    accept = term("rest", (), "accept")
    policies.add_statement(Terms("EVPN-IN", (DRAINED, accept)))
    policies.add_statement(Terms("EVPN-OUT", (accept,) if view.overlay.passes_on else (TRANSIT, accept)))


def outside(view: SwitchView, external: External, policies: Policies) -> tuple[str, str]:
    """Import and export policy of one external connection. In a tenant's table routes of other leaves are EVPN's."""
    policy = external_policy(view, external)
    policies.add_lists(*all_filters(policy.lists))
    stem = f"OUTSIDE-{external.peer}" + (f"-{external.vrf}" if external.vrf else "")
    if not external.vrf:
        inside = ("aggregate", "bgp")
    elif view.overlay:
        inside = ("direct", "evpn")
    else:
        inside = ("direct", "bgp")
    incoming, outgoing = policy.list_of(policy.imports), policy.list_of(policy.exports)
    policies.add_statement(Terms(f"{stem}-IN", (DRAINED, *routes("wanted", (), incoming), REJECT)))
    policies.add_statement(Terms(f"{stem}-OUT", (*routes("inside", inside, outgoing), REJECT)))
    return f"{stem}-IN", f"{stem}-OUT"
