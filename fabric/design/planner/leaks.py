"""Routes that tenants import of each other: by prefix only what one side has, with a return route; and to DHCP servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from fabric.base.diagnostics import Place, Report
from fabric.base.text import listed
from fabric.design.planner.overlay import accepted, family
from fabric.model.plan import DEFAULT_ROUTES, FabricSpec
from fabric.model.settings.services import Import, Tenant


@dataclass(frozen=True, slots=True)
class _Routes:
    """What a tenant has without its imports."""

    subnets: tuple[str, ...]  # of its networks: one route each
    pool: tuple[str, ...]  # of routed ports: the server pool, with a route for each leaf or port in it
    outside: tuple[str, ...]  # from routers

    @property
    def connected(self) -> tuple[str, ...]:
        return (*self.subnets, *self.pool)

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.connected, *self.outside)

    def meeting(self, prefix: str) -> list[str]:
        """Those that an import of the prefix is about: the default route is itself alone."""
        if prefix in DEFAULT_ROUTES:
            return [text for text in self.every if text == prefix]
        net = ip_network(prefix)
        others = (text for text in self.every if text not in DEFAULT_ROUTES)
        return [text for text in others if ip_network(text).version == net.version and ip_network(text).overlaps(net)]


def check_imports(spec: FabricSpec, prefixes: Mapping[str, Sequence[str]], report: Report) -> None:
    """Reports imports by prefix that let in nothing, or what the tenant or another one has too, and missing routes.

    Args:
        prefixes: pools by kind.
    """
    routes = {tenant.name: _routes(spec, tenant, prefixes) for tenant in spec.tenants}
    for index, tenant in enumerate(spec.tenants):
        for n, item in enumerate(tenant.imports):
            where = spec.at("tenants", index, "imports", n)
            if item.source not in routes or item.source == tenant.name:
                continue  # reported before
            if item.prefixes is not None and any(other.prefixes is None for other in _of(tenant, item.source)):
                report.error(
                    "FAB144",
                    where,
                    f"tenant '{tenant.name}': expected all routes of '{item.source}' or those of prefixes, got both",
                    f"remove `{item.source}` from `imports`, or the entry with `prefixes`",
                )
            for at, prefix in enumerate(item.prefixes or ()):
                place = spec.at("tenants", index, "imports", n, "prefixes", at)
                _check_prefix(spec, tenant, (item, prefix), routes, (place, report))
    _check_return(spec, routes, report)
    if spec.isolation == "evpn":
        for index, tenant in enumerate(spec.tenants):
            for n, network in enumerate(tenant.networks):
                if network.gateway is not None and network.dhcp_relay is not None:
                    _check_relay(spec, (index, n), routes, report)


def _routes(spec: FabricSpec, tenant: Tenant, prefixes: Mapping[str, Sequence[str]]) -> _Routes:
    subnets = [str(ip_network(network.gateway, strict=False)) for network in tenant.networks if network.gateway is not None]
    routers = [attachment.external for attachment in spec.attachments if attachment.external is not None]
    served = [router for router in routers if not router.tenants or tenant.name in router.tenants]
    named = tenant.servers or tenant.racks or tenant.rails or tenant.nics
    routed = not tenant.networks and (named or len(spec.tenants) == 1 or not served)  # not one with a router alone
    outside = dict.fromkeys(text for router in served for text in accepted(spec, router))
    return _Routes(tuple(subnets), tuple(prefixes["servers"]) if routed else (), tuple(outside))


def _of(tenant: Tenant, source: str) -> Iterator[Import]:
    return (item for item in tenant.imports if item.source == source)


def _check_prefix(
    spec: FabricSpec,
    tenant: Tenant,
    wanted: tuple[Import, str],
    routes: Mapping[str, _Routes],
    at: tuple[Place, Report],
) -> None:
    (item, prefix), (place, report) = wanted, at
    subject, version = f"tenant '{tenant.name}': imports: expected", family(spec)
    if ip_network(prefix).version != version:
        report.error("FAB104", place, f"{subject} IPv{version} prefixes, got {prefix}")
        return
    if spec.isolation == "acl":
        if prefix in DEFAULT_ROUTES:
            text = f"{subject} prefixes of '{item.source}', got {prefix}: a filter on a port would permit every tenant"
            report.error("FAB144", place, text, "state prefixes, or use `overlay: {kind: evpn-vxlan}`")
        return  # the filter has the subnets of the other tenant alone, whatever the prefix
    if own := routes[tenant.name].meeting(prefix):
        report.error(
            "FAB136",
            place,
            f"{subject} prefixes that the tenant does not have itself, got {prefix}: it has {listed(own, 3)}",
            "one of two equal routes would win on each switch: import narrower prefixes, or use other subnets",
        )
    elif not routes[item.source].meeting(prefix):
        _report_absent(tenant, wanted, routes, at)
    elif whole := _around(prefix, routes[item.source].subnets):
        text = f"{subject} whole subnets, got {prefix}: '{item.source}' has one route, {whole}"
        report.error("FAB136", place, text, f"import {whole}, or give '{item.source}' a network of its own for {prefix}")
    for other in tenant.sources:
        if other not in (item.source, tenant.name) and other in routes and (both := routes[other].meeting(prefix)):
            report.error(
                "FAB136",
                place,
                f"{subject} prefixes of one tenant, got {prefix}: '{other}', also imported from, has {listed(both, 2)}",
                "import it from one of them, and from the other by other prefixes",
            )


def _around(prefix: str, subnets: Sequence[str]) -> str:
    """The subnet that a prefix is a part of; "" where it has whole subnets."""
    net = ip_network(prefix)
    return next(
        (text for text in subnets if net.prefixlen > ip_network(text).prefixlen and net.overlaps(ip_network(text))), ""
    )


def _report_absent(
    tenant: Tenant, wanted: tuple[Import, str], routes: Mapping[str, _Routes], at: tuple[Place, Report]
) -> None:
    """A prefix that the other tenant does not have; what it imports itself is not passed on."""
    (item, prefix), (place, report) = wanted, at
    holders = [name for name, of in routes.items() if name not in (tenant.name, item.source) and of.meeting(prefix)]
    has = listed(list(routes[item.source].every), 3) or "no prefix"
    hint = "networks need a `gateway`, and routes from outside an attachment with `external` that serves the tenant"
    if holders:
        hint = f"'{holders[0]}' has it, and imported routes are not passed on: `{{from: {holders[0]}, prefixes: [{prefix}]}}`"
    text = f"tenant '{tenant.name}': imports: expected prefixes that '{item.source}' has ({has}), got {prefix}"
    report.error("FAB144", place, text, hint)


def _check_return(spec: FabricSpec, routes: Mapping[str, _Routes], report: Report) -> None:
    """Warns of imports without the other direction: packets would arrive, and answers would be dropped."""
    for index, tenant in enumerate(spec.tenants):
        for n, item in enumerate(tenant.imports):
            source = next((other for other in spec.tenants if other.name == item.source), None)
            if source is None or source is tenant or tenant.name in source.sources:
                continue
            own = () if item.prefixes is None or spec.isolation == "acl" else routes[tenant.name].connected
            line = f"{{from: {tenant.name}, prefixes: [{', '.join(own)}]}}" if own else tenant.name
            report.warn(
                "FAB407",
                spec.at("tenants", index, "imports", n),
                f"tenant '{tenant.name}' has routes to '{source.name}', which has none back: answers are dropped",
                f"add `imports: [{line}]` to tenant '{source.name}'",
            )


def _check_relay(spec: FabricSpec, at: tuple[int, int], routes: Mapping[str, _Routes], report: Report) -> None:
    """Reports DHCP servers in the relay's own subnet, and warns of those of other tenants that no route leads to."""
    tenant, where = spec.tenants[at[0]], spec.at("tenants", at[0], "networks", at[1], "dhcp_relay")
    network = tenant.networks[at[1]]
    relay, own = network.dhcp_relay, str(ip_network(str(network.gateway), strict=False))
    assert relay is not None
    for server in relay.servers:
        subnets = tenant.subnets_with(server)
        if own in subnets:
            report.error(
                "FAB144",
                where,
                f"network '{network.name}': dhcp_relay: expected servers outside its subnet {own}, got {server}",
                f"remove {server}: clients reach a server of their own network without a relay",
            )
        owners = [other for other in spec.tenants if other is not tenant and other.subnets_with(server)]
        across = relay.tenant == "default"
        if subnets or not owners or (not across and any(_leads(tenant, other, server, own, routes) for other in owners)):
            continue
        source = owners[0]
        line = f"imports: [{{from: {source.name}, prefixes: [{source.subnets_with(server)[0]}]}}]"
        hint = f"add `{line}` to tenant '{tenant.name}'"
        if tenant.name not in source.sources:
            hint += f", and `imports: [{{from: {tenant.name}, prefixes: [{own}]}}]` to tenant '{source.name}'"
        if across:
            hint += "; then state the addresses alone"
        table = "the default table" if across else f"tenant '{tenant.name}'"
        text = f"dhcp_relay: {table} has no routes to and from {server}, in a network of tenant '{source.name}'"
        report.warn("FAB407", where, f"network '{network.name}': {text}", hint)


def _leads(tenant: Tenant, source: Tenant, server: str, own: str, routes: Mapping[str, _Routes]) -> bool:
    """Whether a server of another tenant is reached: over an import, or in both directions over routers outside."""
    to, back = (
        any(ip_address(address) in ip_network(text) for text in _table(one, routes))
        for one, address in ((tenant, server), (source, own.partition("/")[0]))
    )
    return to and (back or source.name in tenant.sources)  # an import without its return route has a warning of its own


def _table(tenant: Tenant, routes: Mapping[str, _Routes]) -> Iterator[str]:
    """The routes of a tenant, with those that it imports."""
    yield from routes[tenant.name].every
    for item in tenant.imports:
        if item.source in routes:
            its = routes[item.source]
            yield from its.every if item.prefixes is None else (t for prefix in item.prefixes for t in its.meeting(prefix))
