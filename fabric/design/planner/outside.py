"""Prefixes accepted from routers outside, compared with the site's own: these are denied, and something must be left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_network

from fabric.base.diagnostics import Report
from fabric.base.text import listed
from fabric.model.plan import FabricSpec, OwnPrefix, denied, left_of, own_pools, tenants_behind


def check(spec: FabricSpec, prefixes: Mapping[str, Sequence[str]], report: Report) -> None:
    """Reports accepted prefixes that have only addresses of the site.

    Args:
        prefixes: pools by kind.
    """
    for at, attachment in enumerate(spec.attachments):
        external = attachment.external
        if external is None or not external.accept:
            continue
        behind = tenants_behind(spec, external)
        own_prefixes = [*own_pools(spec, prefixes), *_networks(spec, behind)]
        for n, text in enumerate(external.accept):
            if left_of(text, own_prefixes):
                continue
            met = listed([f"{prefix.what} {prefix.prefix}" for prefix in denied(own_prefixes, [text])], 3)
            report.error(
                "FAB136",
                spec.at("topology", "attachments", at, "external", "accept", n),
                f"attachment '{attachment.name}': accept: expected a prefix of other networks, got {text}, which is in {met}",
                "own prefixes are never accepted from outside: remove it, accept the default route, or use other `pools`",
            )


def _networks(spec: FabricSpec, names: Sequence[str]) -> list[OwnPrefix]:
    return [
        OwnPrefix(0, f"network '{network.name}' of tenant '{tenant.name}'", str(ip_network(network.gateway, strict=False)))
        for tenant in spec.tenants
        if tenant.name in names
        for network in tenant.networks
        if network.gateway is not None
    ]
