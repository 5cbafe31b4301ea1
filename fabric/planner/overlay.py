"""How tenants are kept apart: the kind of isolation, what it needs, and the numbers of tenants and their networks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netaddr import IPNetwork

from fabric.diagnostics import Report, nearest, plural
from fabric.intent.services import Network, Tenant
from fabric.plan.tenants import MOST_TENANTS, VLAN_BASE, NetworkPlan, TenantPlan
from fabric.planner.spec import FabricSpec

_FIRST_VLAN = 100
RESERVED = frozenset({"all", "default", "global", "inet", "lo", "management", "master", "mgmt", "mgmt-junos"})


def kind(spec: FabricSpec) -> str:
    """ "evpn", "vrf-lite", "acl", or "none": one routing table, which at most one tenant can have."""
    overlay = spec.intent.overlay
    return "evpn" if overlay.kind == "evpn-vxlan" else overlay.isolation or "none"


def check(spec: FabricSpec, report: Report) -> None:
    """What an intent asks of its tenants that cannot be, whatever the sizes."""
    tenants, how = spec.intent.tenants, kind(spec)
    overlay = spec.intent.overlay
    if not spec.ethernet and (tenants or how != "none"):
        report.error(
            "FAB144",
            spec.at("tenants" if tenants else "overlay"),
            "tenants: expected none on an InfiniBand fabric",
            "its subnet manager keeps tenants apart, by partition keys",
        )
        return
    if how == "none" and len(tenants) > 1:
        report.error(
            "FAB144",
            spec.at("tenants"),
            f"fabric '{spec.name}': expected one tenant in one routing table, got {len(tenants)}",
            "`overlay: {kind: evpn-vxlan}`, or without an overlay `overlay: {isolation: vrf-lite}` or `isolation: acl`",
        )
    if overlay.kind == "evpn-vxlan" and overlay.isolation is not None:
        report.error(
            "FAB144",
            spec.at("overlay", "isolation"),
            "overlay.isolation: expected none beside evpn-vxlan, which keeps tenants apart itself",
            "leave one of the two out",
        )
    addressing = spec.intent.underlay.addressing
    if how == "evpn" and addressing == "ipv6":
        report.error(
            "FAB144",
            spec.at("overlay", "kind"),
            "overlay: VTEP addresses are IPv4, expected `addressing: ipv4` or `unnumbered`, got ipv6",
            "unnumbered links need no IPv4 addresses either",
        )
    if how == "vrf-lite" and addressing == "unnumbered":
        report.error(
            "FAB144",
            spec.at("overlay", "isolation"),
            "vrf-lite: expected numbered links, got `addressing: unnumbered`",
            "subinterfaces have addresses of their own: `addressing: ipv4` or `ipv6`",
        )
    for at, tenant in enumerate(tenants):
        _check_tenant(spec, at, tenant, how, report)
    _check_boxes(spec, how, report)
    _check_bonds(spec, report)


def bonds(spec: FabricSpec) -> bool:
    """Whether servers in layer-2 networks are cabled to two leaves each."""
    networks = any(tenant.networks for tenant in spec.intent.tenants)
    return networks and (spec.intent.topology.dual_tor or spec.kind == "collapsed")


def _check_tenant(spec: FabricSpec, at: int, tenant: Tenant, how: str, report: Report) -> None:
    names = [other.name for other in spec.intent.tenants]
    if tenant.name.lower() in RESERVED:
        report.error(
            "FAB144",
            spec.at("tenants", at, "name"),
            f"tenants: expected a name that no network OS keeps for itself, got '{tenant.name}'",
            f"kept are {', '.join(sorted(RESERVED))}",
        )
    for n, name in enumerate(tenant.imports):
        where = spec.at("tenants", at, "imports", n)
        if name not in names or name == tenant.name:
            others = [other for other in names if other != tenant.name]
            report.error("FAB144", where, f"imports: expected another tenant, got '{name}'", nearest(name, others))
        elif how == "vrf-lite":
            report.error(
                "FAB144",
                where,
                "imports: expected none with vrf-lite, whose tables have no route targets to share",
                "`overlay: {kind: evpn-vxlan}` leaks by route target, `isolation: acl` by filter",
            )
    if tenant.networks and how != "evpn":
        report.error(
            "FAB144",
            spec.at("tenants", at, "networks"),
            f"tenant '{tenant.name}': networks: expected none in a routed fabric, layer 2 needs an overlay",
            "`overlay: {kind: evpn-vxlan}`, or leave `networks` out: servers then have routed ports",
        )
    seen: list[str] = []
    for n, network in enumerate(tenant.networks):
        if network.name in seen:
            where = spec.at("tenants", at, "networks", n, "name")
            report.error(
                "FAB138", where, f"two networks of '{tenant.name}' are named '{network.name}'", "give each a name of its own"
            )
        seen.append(network.name)
        if network.gateway is not None and IPNetwork(network.gateway).size < 8:
            report.error(
                "FAB149",
                spec.at("tenants", at, "networks", n, "gateway"),
                f"network '{network.name}': expected a subnet of at least 8 addresses, got {network.gateway}",
                "the gateway takes the first, every leaf one from the end, servers what lies between",
            )


def _check_boxes(spec: FabricSpec, how: str, report: Report) -> None:
    names = [tenant.name for tenant in spec.intent.tenants]
    for at, box in enumerate(spec.intent.topology.attachments):
        path = ("topology", "attachments", at)
        if box.tenant is not None and (box.tenant not in names or box.external):
            message = "a router serves the tenants of `external.tenants`" if box.external else f"got '{box.tenant}'"
            report.error(
                "FAB144",
                spec.at(*path, "tenant"),
                f"attachment '{box.name}': expected {'no tenant' if box.external else 'a tenant of this fabric'}, {message}",
                "" if box.external else nearest(box.tenant, names),
            )
        if box.external is None:
            continue
        if how == "acl":
            report.error(
                "FAB144",
                spec.at(*path, "external"),
                f"attachment '{box.name}': expected no router beside `isolation: acl`: filters cannot tell the outside world "
                "from other tenants",
                "`isolation: vrf-lite` or `kind: evpn-vxlan` give every tenant a way out of its own",
            )
        for n, name in enumerate(box.external.tenants):
            where = spec.at(*path, "external", "tenants", n)
            if how == "none":
                report.error("FAB144", where, "external.tenants: expected none, this fabric has one routing table")
            elif name not in names:
                report.error("FAB144", where, f"external.tenants: expected a tenant, got '{name}'", nearest(name, names))


def _check_bonds(spec: FabricSpec, report: Report) -> None:
    """A bond spans two leaves of one network."""
    if not bonds(spec):
        return
    spread = {spec.leaves_per_nic(group) for group in spec.groups} if spec.kind != "collapsed" else {2}
    if spread != {2} or spec.planes > 1:
        report.error(
            "FAB144",
            spec.at("topology", "dual_tor"),
            f"bonds of layer-2 networks: expected the ports of a NIC on two leaves of one plane, got {max(spread)} leaves "
            f"and {plural(spec.planes, 'plane')}",
            "planes are isolated from each other; use NICs of two ports",
        )


# --- numbers ------------------------------------------------------------------------------------------------


def number(spec: FabricSpec, known: Mapping[str, int], report: Report) -> tuple[TenantPlan, ...]:
    """Tenants and networks with their numbers: known ones keep theirs, new ones take the lowest that is free.

    Args:
        known: numbers by "tenant" and "tenant/network", as the lock keeps them.
    """
    overlay, tenants = spec.intent.overlay, spec.intent.tenants
    of_tenant = _lowest_free([tenant.name for tenant in tenants], known, {})
    keys = [f"{tenant.name}/{network.name}" for tenant in tenants for network in tenant.networks]
    of_network = _lowest_free(keys, known, {})
    if max(of_tenant.values(), default=0) > MOST_TENANTS:
        report.error(
            "FAB144",
            spec.at("tenants"),
            f"fabric '{spec.name}': expected at most {MOST_TENANTS} tenants, got {len(tenants)}",
            "every VRF takes a VLAN of its own on most boxes",
        )
    stated = {network.vlan for tenant in tenants for network in tenant.networks if network.vlan is not None}
    vlans: dict[int, str] = {}
    vnis: dict[int, str] = {}
    result = []
    for at, tenant in enumerate(tenants):
        networks = []
        for n, network in enumerate(tenant.networks):
            key = f"{tenant.name}/{network.name}"
            made = _network(network, of_network[key], overlay.l2vni_base, stated)
            _check_vlan(spec, (at, n), made.vlan, key, vlans, report)
            _check_vni(spec, (at, "networks", n), made.vni, f"network '{key}'", vnis, report)
            networks.append(made)
        vni = tenant.vni or overlay.l3vni_base + of_tenant[tenant.name]
        _check_vni(spec, (at,), vni, f"tenant '{tenant.name}'", vnis, report)
        outside = [text for box in spec.intent.topology.attachments for text in _accepted(box.external, tenant.name)]
        result.append(
            TenantPlan(
                tenant.name, of_tenant[tenant.name], vni, tuple(networks), tenant.imports, tuple(dict.fromkeys(outside))
            )
        )
    _check_subnets(spec, report)
    return tuple(result)


def numbers_of(tenants: Iterable[TenantPlan]) -> dict[str, int]:
    """What the lock keeps."""
    found = {}
    for tenant in tenants:
        found[tenant.name] = tenant.number
        found |= {f"{tenant.name}/{network.name}": network.number for network in tenant.networks}
    return found


def _accepted(external: object, tenant: str) -> tuple[str, ...]:
    from fabric.intent.topology import External

    if not isinstance(external, External) or (external.tenants and tenant not in external.tenants):
        return ()
    return external.accept


def _lowest_free(names: list[str], known: Mapping[str, int], used: dict[int, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        n = known.get(name, 0)
        if n > 0 and n not in used:
            used[n], found[name] = name, n
    free = 1
    for name in names:
        if name in found:
            continue
        while free in used:
            free += 1
        used[free], found[name] = name, free
    return found


def _network(network: Network, number: int, base: int, stated: set[int]) -> NetworkPlan:
    vlan = network.vlan
    if vlan is None:
        vlan = _FIRST_VLAN + number - 1
        while vlan in stated:  # a stated VLAN keeps its number, a chosen one goes elsewhere
            vlan += 1000
    net = IPNetwork(network.gateway) if network.gateway else None
    gateway = net.first + 1 if net is not None else None
    return NetworkPlan(network.name, number, vlan, network.vni or base + number, gateway, net.prefixlen if net else 0)


def _check_vlan(spec: FabricSpec, at: tuple[int, int], vlan: int, key: str, seen: dict[int, str], report: Report) -> None:
    other = seen.setdefault(vlan, key)
    where = spec.at("tenants", at[0], "networks", at[1], "vlan")
    if other != key:
        report.error(
            "FAB138",
            where,
            f"networks '{other}' and '{key}' both have VLAN {vlan}",
            "a leaf may carry both: give each its own",
        )
    if vlan > VLAN_BASE:
        report.error(
            "FAB144",
            where,
            f"network '{key}': expected a VLAN of 2 to {VLAN_BASE}, got {vlan}",
            "the numbers above are set aside for VRFs, and by some network OSes for themselves",
        )


def _check_vni(
    spec: FabricSpec, at: tuple[int | str, ...], vni: int, what: str, seen: dict[int, str], report: Report
) -> None:
    other = seen.setdefault(vni, what)
    if other != what or vni > 16_777_215:
        taken = f"{other} has it already" if other != what else "a VNI has 24 bits"
        report.error(
            "FAB138",
            spec.at("tenants", *at, "vni"),
            f"{what}: VNI {vni}: {taken}",
            "`overlay.l2vni_base` and `overlay.l3vni_base` must lie apart by more than the networks of the fabric",
        )


def _check_subnets(spec: FabricSpec, report: Report) -> None:
    """Subnets of one tenant, and of tenants that see each other's routes, never overlap."""
    found: list[tuple[IPNetwork, Tenant, str]] = []
    for at, tenant in enumerate(spec.intent.tenants):
        for n, network in enumerate(tenant.networks):
            if network.gateway is None:
                continue
            net = IPNetwork(network.gateway)
            for other, owner, name in found:
                related = owner is tenant or tenant.name in owner.imports or owner.name in tenant.imports
                if related and net.version == other.version and net.first <= other.last and other.first <= net.last:
                    report.error(
                        "FAB136",
                        spec.at("tenants", at, "networks", n, "gateway"),
                        f"network '{network.name}' {net} overlaps {other} of '{owner.name}/{name}'",
                        "give every network address space of its own",
                    )
            found.append((net, tenant, network.name))
