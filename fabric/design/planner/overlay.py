"""Isolation of tenants: its kind, and the checks of an intent against it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netaddr import IPNetwork

from fabric.base.diagnostics import Report, nearest
from fabric.base.text import plural
from fabric.design.planner import infiniband
from fabric.model.plan import FabricSpec
from fabric.model.settings.services import Tenant
from fabric.model.settings.site import Attachment, External

RESERVED = frozenset({"all", "bridge", "default", "global", "inet", "lo", "management", "master", "mgmt", "mgmt-junos"})
# A VRF is a device of the kernel on Linux switches, beside ports, bonds, VLANs and tunnels.
_DEVICE = re.compile(r"(bond|br|dummy|en[ops]|eth|lo|pimreg|po|swp|vlan|vni|vxlan)\d+(s\d+)?", re.IGNORECASE)
DEFAULT_ROUTE = {4: "0.0.0.0/0", 6: "::/0"}


def check(spec: FabricSpec, report: Report) -> None:
    """Reports settings of tenants that are impossible at any size."""
    tenants, how = spec.tenants, spec.isolation
    overlay = spec.overlay
    if not spec.ethernet:
        infiniband.check(spec, report)
        return
    infiniband.check_ethernet(spec, report)
    if how == "none" and len(tenants) > 1:
        report.error(
            "FAB144",
            spec.at("tenants"),
            f"fabric '{spec.name}': expected one tenant in one routing table, got {len(tenants)}",
            "set `overlay: {kind: evpn-vxlan}`, or without an overlay `overlay: {isolation: vrf-lite}` or `isolation: acl`",
        )
    if overlay.kind == "evpn-vxlan" and overlay.isolation is not None:
        report.error(
            "FAB144",
            spec.at("overlay", "isolation"),
            "overlay.isolation: expected no value with evpn-vxlan, which already isolates tenants, got {overlay.isolation}",
            "remove one of the two",
        )
    addressing = spec.underlay.addressing
    if how == "evpn" and addressing == "ipv6":
        report.error(
            "FAB144",
            spec.at("overlay", "kind"),
            "overlay: VTEP addresses are IPv4, expected `addressing: ipv4` or `unnumbered`, got ipv6",
            "set `addressing: unnumbered` to save IPv4 addresses on links",
        )
    if how == "vrf-lite" and addressing == "unnumbered":
        report.error(
            "FAB144",
            spec.at("overlay", "isolation"),
            "vrf-lite: expected numbered links, got `addressing: unnumbered`",
            "subinterfaces need addresses: set `addressing: ipv4` or `ipv6`",
        )
    for index, tenant in enumerate(tenants):
        _check_tenant(spec, index, tenant, how, report)
    _check_attachments(spec, how, report)
    _check_bonds(spec, report)


def _check_tenant(spec: FabricSpec, index: int, tenant: Tenant, how: str, report: Report) -> None:
    names = [other.name for other in spec.tenants]
    if tenant.name.lower() in RESERVED or _DEVICE.fullmatch(tenant.name):
        report.error(
            "FAB144",
            spec.at("tenants", index, "name"),
            f"tenants: expected a name that no network OS reserves, got '{tenant.name}'",
            f"reserved names: {', '.join(sorted(RESERVED))}, and interface names such as eth0, swp1, bond1, vlan100",
        )
    for n, item in enumerate(tenant.imports):
        where, name = spec.at("tenants", index, "imports", n), item.source
        if name not in names or name == tenant.name:
            others = [other for other in names if other != tenant.name]
            report.error("FAB144", where, f"imports: expected another tenant, got '{name}'", _among(name, others))
        elif how == "vrf-lite":
            report.error(
                "FAB144",
                where,
                "imports: expected none with vrf-lite, whose VRFs have no route targets",
                "use `overlay: {kind: evpn-vxlan}` (route targets) or `isolation: acl` (packet filters)",
            )
    if tenant.networks and how not in ("evpn", "bridged"):
        report.error(
            "FAB144",
            spec.at("tenants", index, "networks"),
            f"tenant '{tenant.name}': networks: expected none in a routed fabric: layer 2 needs an overlay",
            "set `overlay: {kind: evpn-vxlan}`, or remove `networks`: servers then have routed ports",
        )
    _check_rails(spec, index, tenant, report)
    _check_selected(spec, index, tenant, report)
    seen: list[str] = []
    for n, network in enumerate(tenant.networks):
        if network.name in seen:
            where = spec.at("tenants", index, "networks", n, "name")
            report.error(
                "FAB138", where, f"two networks of '{tenant.name}' are named '{network.name}'", "use a unique name for each"
            )
        seen.append(network.name)
        if network.dhcp_relay is not None:
            _check_relay(spec, (index, n), tenant, report)
        if network.gateway is not None and IPNetwork(network.gateway).version == 6:
            report.error(
                "FAB144",
                spec.at("tenants", index, "networks", n, "gateway"),
                f"network '{network.name}': gateway: expected an IPv4 subnet, got {network.gateway}",
                "remove `gateway` for a layer-2 network, which carries IPv6 between its servers",
            )
        elif network.gateway is not None and IPNetwork(network.gateway).size < 8:
            report.error(
                "FAB149",
                spec.at("tenants", index, "networks", n, "gateway"),
                f"network '{network.name}': expected a subnet of at least 8 addresses, got {network.gateway}",
                "the gateway has the first address, each leaf one of the last, servers the others",
            )


def _check_relay(spec: FabricSpec, place: tuple[int, int], tenant: Tenant, report: Report) -> None:
    """Requests are passed on by the gateway, over IPv4, in the table of the tenant or the default one.

    In the table of another tenant the gateway has no address that answers could come back to.
    """
    network = tenant.networks[place[1]]
    relay = network.dhcp_relay
    assert relay is not None
    path = ("tenants", place[0], "networks", place[1], "dhcp_relay")
    if network.gateway is None:
        report.error(
            "FAB144",
            spec.at(*path),
            f"network '{network.name}': dhcp_relay: expected a `gateway`, which passes the requests on, got none",
            "add `gateway`, or remove `dhcp_relay`: clients reach a server of their own network without it",
        )
    for n, server in enumerate(relay.servers):
        if ":" in server:
            where = spec.at(*path, "servers", n) if spec.stated(*path, "servers") else spec.at(*path)
            report.error("FAB144", where, f"dhcp_relay: expected IPv4 addresses, got {server}", "DHCPv6 is not relayed")
    if relay.tenant not in (None, "default", tenant.name):
        source = next((other for other in spec.tenants if other.name == relay.tenant), None)
        subnets = [text for server in relay.servers if source is not None for text in source.subnets_with(server)]
        prefixes = ", ".join(dict.fromkeys(subnets)) or "…"
        report.error(
            "FAB144",
            spec.at(*path, "tenant"),
            f"dhcp_relay.tenant: expected `default`, got '{relay.tenant}'",
            nearest(relay.tenant, ["default"])
            if source is None
            else f"the servers need a route back: add `imports: [{{from: {source.name}, prefixes: [{prefixes}]}}]` to tenant "
            f"'{tenant.name}', and state the addresses alone: `dhcp_relay: [{', '.join(relay.servers)}]`",
        )


def _among(name: str, names: Sequence[str]) -> str:
    """Which tenant may be meant."""
    return nearest(name, names) if names else "`tenants` of the fabric lists them, and has no other"


def _check_rails(spec: FabricSpec, index: int, tenant: Tenant, report: Report) -> None:
    """Networks by rail or plane: every one of the tenant, and a rail of a plane in one of them."""
    parted = [n for n, network in enumerate(tenant.networks) if network.parted]
    if parted and len(parted) < len(tenant.networks):
        other = next(n for n in range(len(tenant.networks)) if n not in parted)
        key = "rails" if any(network.rails for network in tenant.networks) else "planes"
        report.error(
            "FAB144",
            spec.at("tenants", index, "networks", other),
            f"network '{tenant.name}/{tenant.networks[other].name}': expected `{key}`, as other networks of the tenant have",
            f"a port is in the network of its {key.removesuffix('s')}, untagged, or tagged in all networks",
        )
    planes = range(1, spec.planes + 1)
    seen: dict[tuple[int, int], str] = {}  # (rail, plane), rail 0: every rail
    for n in parted:
        network = tenant.networks[n]
        for at, plane in enumerate(network.planes):
            if plane not in planes:
                where = spec.at("tenants", index, "networks", n, "planes", at)
                message = f"network '{tenant.name}/{network.name}': expected a plane from 1 to {spec.planes}, got {plane}"
                report.error("FAB147", where, message, "`planes` of the topology")
        for at, rail in enumerate(network.rails or (0,)):
            taken = [
                name
                for (other, plane), name in seen.items()
                if (other == rail or 0 in (other, rail)) and plane in (network.planes or planes) and name != network.name
            ]
            if taken:
                key = "rails" if network.rails else "planes"
                what = f"rail {rail}" if rail else f"plane {network.planes[0]}"
                where = spec.at("tenants", index, "networks", n, key, at)
                report.error("FAB144", where, f"{what} is in network '{taken[0]}' too", "state it in one of them")
            seen |= {(rail, plane): network.name for plane in network.planes or planes}


def _check_selected(spec: FabricSpec, index: int, tenant: Tenant, report: Report) -> None:
    """Networks by NICs: a port without tags is in one of several, and rails divide the ports already."""
    untagged = [n for n, network in enumerate(tenant.networks) if network.untagged]
    for n in untagged[1:]:
        first, other = tenant.networks[untagged[0]], tenant.networks[n]
        if not (set(first.nics) and set(other.nics) and set(first.nics).isdisjoint(other.nics)):
            report.error(
                "FAB144",
                spec.at("tenants", index, "networks", n, "untagged"),
                f"network '{tenant.name}/{other.name}': a port is untagged in network '{first.name}' already",
                "remove one of the two, or state `nics` that differ in both",
            )
    for n, network in enumerate(tenant.networks):
        if network.nics and network.parted:
            key = "rails" if network.rails else "planes"
            report.error(
                "FAB144",
                spec.at("tenants", index, "networks", n, "nics"),
                f"network '{tenant.name}/{network.name}': expected `{key}` or `nics`, got both",
                "`rails` and `planes` put a port in one network alone",
            )


def _check_attachments(spec: FabricSpec, how: str, report: Report) -> None:
    names = [tenant.name for tenant in spec.tenants]
    for index, attachment in enumerate(spec.attachments):
        path = ("topology", "attachments", index)
        if attachment.tenant is not None and (attachment.tenant not in names or attachment.external):
            message = (
                "a router serves the tenants of `external.tenants`" if attachment.external else f"got '{attachment.tenant}'"
            )
            report.error(
                "FAB144",
                spec.at(*path, "tenant"),
                f"attachment '{attachment.name}': expected "
                f"{'no tenant' if attachment.external else 'a tenant of this fabric'}, {message}",
                "leave `tenant` out" if attachment.external else _among(attachment.tenant, names),
            )
        if attachment.network is not None:
            _check_network(spec, index, attachment, report)
        if attachment.bond:
            _check_bond(spec, index, attachment, report)
        if attachment.external is None:
            continue
        if how == "acl":
            report.error(
                "FAB144",
                spec.at(*path, "external"),
                f"attachment '{attachment.name}': expected no router with `isolation: acl`, because "
                "packet filters cannot distinguish external hosts from other tenants",
                "use `isolation: vrf-lite` or `kind: evpn-vxlan`: each tenant then has its own external connection",
            )
        _check_accept(spec, index, attachment.external, report)
        for n, name in enumerate(attachment.external.tenants):
            where = spec.at(*path, "external", "tenants", n)
            if how == "none":
                report.error(
                    "FAB144",
                    where,
                    "external.tenants: expected none, this fabric has one routing table",
                    "remove it: the session is then in the default VRF",
                )
            elif name not in names:
                report.error("FAB144", where, f"external.tenants: expected a tenant, got '{name}'", _among(name, names))


def _check_network(spec: FabricSpec, index: int, attachment: Attachment, report: Report) -> None:
    """An attachment is in a network of its tenant."""
    tenant = next((tenant for tenant in spec.tenants if tenant.name == attachment.tenant), None)
    networks = [network.name for network in tenant.networks] if tenant else []
    if attachment.network in networks:
        return
    subject = f"tenant '{tenant.name}'" if tenant else "`tenant` of the attachment"
    report.error(
        "FAB144",
        spec.at("topology", "attachments", index, "network"),
        f"attachment '{attachment.name}': expected a network of {subject}, got '{attachment.network}'",
        nearest(attachment.network or "", networks)
        if networks
        else f"state `tenant` and, there, `networks: [{{name: {attachment.network}}}]`",
    )


def family(spec: FabricSpec) -> int:
    """IP version of servers and external connections."""
    return 6 if spec.underlay.addressing == "ipv6" else 4


def accepted(spec: FabricSpec, external: External) -> tuple[str, ...]:
    """Prefixes accepted from a router: those of the intent, else the default route."""
    return external.accept or (DEFAULT_ROUTE[family(spec)],)


def _check_accept(spec: FabricSpec, at: int, external: External, report: Report) -> None:
    """Sessions with routers carry the family of the fabric's servers."""
    version = family(spec)
    for n, text in enumerate(external.accept or ()):
        if IPNetwork(text).version != version:
            report.error(
                "FAB104",
                spec.at("topology", "attachments", at, "external", "accept", n),
                f"external.accept: expected IPv{version} prefixes, got {text}",
                "set `underlay.addressing` to change between IPv4 and IPv6",
            )


def _check_bond(spec: FabricSpec, at: int, attachment: Attachment, report: Report) -> None:
    """A bond is in layer-2 networks, with equally many links on both leaves of a pair."""
    networks = next((tenant.networks for tenant in spec.tenants if tenant.name == attachment.tenant), ())
    expected = ""
    if not networks:
        expected = "a tenant with layer-2 networks"
    elif not spec.bonds and attachment.name not in spec.added:
        expected = "pairs of leaves, `kind: collapsed` or `dual_tor: true`"
    elif attachment.links % 2 and spec.bonds:
        expected = f"an even number of links, got {attachment.links}"
    if expected:
        report.error(
            "FAB144",
            spec.at("topology", "attachments", at, "bond"),
            f"attachment '{attachment.name}': its bond needs {expected}",
            "a bond has half of its links on each of two leaves, in the networks of its `tenant`",
        )


def _check_bonds(spec: FabricSpec, report: Report) -> None:
    """A bond spans two leaves of one network."""
    if not spec.bonds or (spec.kind == "collapsed" and not any(use.bond for group in spec.groups for use in group.uses)):
        return
    own = (group for group in spec.groups if not group.shared)
    spread = {spec.leaves_per_nic(group) for group in own}
    if (spread - {1} or spread) != {2} or spec.planes > 1:
        report.error(
            "FAB144",
            spec.at("topology", "planes" if spec.kind == "collapsed" else "dual_tor"),
            f"bonds: expected two ports of a NIC on two leaves of one plane, got {plural(max(spread), 'leaf', 'leaves')} "
            f"and {plural(spec.planes, 'plane')}",
            "planes are isolated from each other; use NICs with two ports",
        )
