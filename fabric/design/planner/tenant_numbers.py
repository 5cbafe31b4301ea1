"""Numbers of tenants and their networks: VNIs, VLANs and subnets, kept by the lock; they never overlap."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from netaddr import IPNetwork

from fabric.base.diagnostics import Report
from fabric.base.grouping import grouped
from fabric.design.planner import infiniband, lock_repair
from fabric.design.planner.overlay import accepted
from fabric.model.plan import MAX_TENANTS, VLAN_BASE, FabricSpec, Leak, NetworkPlan, TenantNumber, TenantPlan
from fabric.model.settings.services import Network, Tenant
from fabric.model.settings.site import External
from fabric.nos.target import target

_FIRST_VLAN = 100

Known = Mapping[str, Sequence[TenantNumber]]


def number(spec: FabricSpec, earlier: Known, report: Report) -> tuple[TenantPlan, ...]:
    """Tenants and networks with their numbers: known ones are kept, new ones have the lowest free number.

    Args:
        earlier: numbers by "tenant" and "tenant/network", as the lock keeps them.
    """
    overlay, tenants = spec.overlay, spec.tenants
    of_tenant = _lowest_free([tenant.name for tenant in tenants], earlier)
    keys = [f"{tenant.name}/{network.name}" for tenant in tenants for network in tenant.networks]
    of_network = _lowest_free(keys, earlier)
    _warn_of_changes(spec, {**of_tenant, **of_network}, earlier, report)
    if max(of_tenant.values(), default=0) > MAX_TENANTS:
        report.error(
            "FAB144",
            spec.at("tenants"),
            f"fabric '{spec.name}': expected at most {MAX_TENANTS} tenants, got {len(tenants)}",
            "on most switches each VRF needs one VLAN",
        )
    if not spec.ethernet:
        infiniband.check_keys(spec, of_tenant, report)
    vlan_of = _vlans(tenants, of_network, earlier)
    vlans: dict[int, str] = {}
    vnis: dict[int, str] = {}
    result = []
    for index, tenant in enumerate(tenants):
        networks = []
        for n, network in enumerate(tenant.networks):
            key = f"{tenant.name}/{network.name}"
            network_plan = _network(network, of_network[key], overlay.l2vni_base, vlan_of[key])
            _check_vlan(spec, (index, n), network_plan.vlan, key, vlans, report)
            _check_vni(spec, (index, "networks", n), network_plan.vni, f"network '{key}'", vnis, report)
            networks.append(network_plan)
        vni = tenant.vni or overlay.l3vni_base + of_tenant[tenant.name]
        _check_vni(spec, (index,), vni, f"tenant '{tenant.name}'", vnis, report)
        outside = [text for attachment in spec.attachments for text in _outside(spec, attachment.external, tenant.name)]
        result.append(
            TenantPlan(
                name=tenant.name,
                number=of_tenant[tenant.name],
                vni=vni,
                networks=tuple(networks),
                imports=tuple(dict.fromkeys(item.source for item in tenant.imports if item.prefixes is None)),
                leaks=_leaks(tenant),
                outside=tuple(dict.fromkeys(outside)),
            )
        )
    _check_subnets(spec, report)
    return tuple(result)


def _warn_of_changes(spec: FabricSpec, numbers: Mapping[str, int], known: Known, report: Report) -> None:
    """Tenants and networks that two branches gave the same number, or two numbers."""
    texts = [
        f"{'network' if '/' in name else 'tenant'} {name}"
        for name, number in sorted(numbers.items())
        if known.get(name) and {entry.number for entry in known[name]} != {number}
    ]
    if texts:
        report.warn("FAB193", spec.at("tenants"), lock_repair.message(spec.name, texts), lock_repair.HINT)


def numbers_of(spec: FabricSpec, tenants: Iterable[TenantPlan]) -> dict[str, tuple[TenantNumber, ...]]:
    """The entries of the lock: numbers, and VLANs that do not follow from them."""
    stated = {
        f"{tenant.name}/{network.name}" for tenant in spec.tenants for network in tenant.networks if network.vlan is not None
    }
    entries = {}
    for tenant in tenants:
        entries[tenant.name] = (TenantNumber(tenant.number),)
        for network in tenant.networks:
            key = f"{tenant.name}/{network.name}"
            chosen = key not in stated and network.vlan != _natural_vlan(network.number)
            entries[key] = (TenantNumber(network.number, network.vlan if chosen else 0),)
    return dict(sorted(entries.items()))


def _leaks(tenant: Tenant) -> tuple[Leak, ...]:
    """The imports that state prefixes; of one tenant all of them together."""
    stated = grouped((item.source, item.prefixes) for item in tenant.imports if item.prefixes is not None)
    return tuple(Leak(source, tuple(dict.fromkeys(chain.from_iterable(texts)))) for source, texts in stated.items())


def _outside(spec: FabricSpec, external: External | None, tenant: str) -> tuple[str, ...]:
    if external is None or (external.tenants and tenant not in external.tenants):
        return ()
    return accepted(spec, external)


def _lowest_free(names: list[str], earlier: Known) -> dict[str, int]:
    """A number per name. Of several known numbers the lowest is kept; of two names with one number the first keeps it."""
    numbers: dict[str, int] = {}
    used: set[int] = set()
    candidates = {(entry.number, name) for name in names for entry in earlier.get(name, ())}
    for n, name in sorted(candidates):
        if name not in numbers and n not in used:
            numbers[name] = n
            used.add(n)
    free = 1
    for name in names:
        if name in numbers:
            continue
        while free in used:
            free += 1
        numbers[name] = free
        used.add(free)
    return numbers


def _natural_vlan(number: int) -> int:
    return _FIRST_VLAN + number - 1


def _vlans(tenants: Sequence[Tenant], numbers: Mapping[str, int], earlier: Known) -> dict[str, int]:
    """VLAN of every network: the stated one, else the one in use, else a free one."""
    networks = [(f"{tenant.name}/{network.name}", network.vlan) for tenant in tenants for network in tenant.networks]
    vlans = {key: vlan for key, vlan in networks if vlan is not None}
    taken: set[int] = set()  # by networks without a stated number
    for key in sorted(key for key, vlan in networks if vlan is None):
        chosen = {entry.vlan for entry in earlier.get(key, ()) if entry.number == numbers[key]}
        in_use = [vlan or _natural_vlan(numbers[key]) for vlan in sorted(chosen, reverse=True)]
        vlan = next((vlan for vlan in in_use if vlan not in taken), None)
        if vlan is not None:
            vlans[key] = vlan
            taken.add(vlan)
    fresh = [key for key, _ in networks if key not in vlans]
    taken = set(vlans.values())
    for key in fresh:
        natural = _natural_vlan(numbers[key])
        free = chain((natural, natural + 1000), range(_FIRST_VLAN, VLAN_BASE + 1))
        vlans[key] = next((vlan for vlan in free if vlan <= VLAN_BASE and vlan not in taken), natural)
        taken.add(vlans[key])
    return vlans


def _network(network: Network, number: int, base: int, vlan: int) -> NetworkPlan:
    net = IPNetwork(network.gateway) if network.gateway else None
    gateway = net.first + 1 if net is not None else None
    vni = network.vni or base + number
    length = net.prefixlen if net else 0
    relay = network.dhcp_relay
    return NetworkPlan(
        name=network.name,
        number=number,
        vlan=vlan,
        vni=vni,
        gateway=gateway,
        length=length,
        untagged=network.untagged,
        relay=relay.servers if relay else (),
        relay_tenant=(relay.tenant if relay else None) or "",
    )


def _check_vlan(
    spec: FabricSpec, indices: tuple[int, int], vlan: int, key: str, used: dict[int, str], report: Report
) -> None:
    other = used.setdefault(vlan, key)
    where = spec.at("tenants", indices[0], "networks", indices[1], "vlan")
    if other != key:
        report.error(
            "FAB138",
            where,
            f"networks '{other}' and '{key}': expected unique VLANs, both have {vlan}",
            "a leaf can carry both networks: use a different VLAN for each",
        )
    if vlan > VLAN_BASE:
        report.error(
            "FAB144",
            where,
            f"network '{key}': expected a VLAN of 2 to {VLAN_BASE}, got {vlan}",
            "higher numbers are reserved for VRFs and for internal use of some network OSes",
        )


def _check_vni(
    spec: FabricSpec, at: tuple[int | str, ...], vni: int, subject: str, used: dict[int, str], report: Report
) -> None:
    other, place = used.setdefault(vni, subject), spec.at("tenants", *at, "vni")
    if other != subject or vni > 16_777_215:
        expected = f"a unique VNI, got {vni}, that of {other}" if other != subject else f"at most 16777215, got {vni}"
        report.error(
            "FAB138",
            place,
            f"{subject}: VNI: expected {expected}",
            "`overlay.l2vni_base` and `overlay.l3vni_base` must differ by more than the number of networks of the fabric",
        )
    elif spec.stated("tenants", *at, "vni") and (refused := _refused(spec, "vni", vni)):
        nos, expected = refused
        report.error(
            "FAB138", place, f"{subject}: {nos} expects {expected}, got {vni}", "state another VNI, or remove the line"
        )


def _refused(spec: FabricSpec, kind: str, value: int) -> tuple[str, str] | None:
    """(network OS of the fabric, what it accepts) of a value that one of them does not accept."""
    for nos in dict.fromkeys(tier.nos for tier in (spec.leaf, spec.spine, spec.core) if tier.nos):
        system = target(nos)
        accepted_kind = system.syntax.get().accepted.kinds.get(kind) if system.syntax is not None else None
        if accepted_kind is not None and not accepted_kind.accepts(str(value)):
            return system.title, accepted_kind.expected
    return None


def check_pools(spec: FabricSpec, prefixes: Mapping[str, Sequence[str]], with_ports: Collection[str], report: Report) -> None:
    """Subnets of networks and the pools in the same table: external connections, and routed ports of other tenants.

    Args:
        with_ports: tenants with routed ports.
    """
    routers = [attachment.external for attachment in spec.attachments if attachment.external is not None]
    plain = [tenant for tenant in spec.tenants if tenant.name in with_ports]
    for index, tenant in enumerate(spec.tenants):
        outside = any(not router.tenants or tenant.name in router.tenants for router in routers)
        leaked = any(tenant.name in other.sources or other.name in tenant.sources for other in plain)
        kinds = [kind for kind, networks in (("p2p", outside), ("servers", leaked)) if networks]
        pools = [(kind, IPNetwork(prefix)) for kind in kinds for prefix in prefixes[kind]]
        for n, network in enumerate(tenant.networks):
            net = IPNetwork(network.gateway or "0.0.0.0/32")
            for kind, pool in pools:
                if net.version == pool.version and net.first <= pool.last and pool.first <= net.last:
                    report.error(
                        "FAB136",
                        spec.at("tenants", index, "networks", n, "gateway"),
                        f"network '{network.name}' {net} overlaps pool '{kind}' {pool}, which is in the same VRF",
                        f"use a separate prefix, or set another `pools: {{{kind}: …}}`",
                    )


def _check_subnets(spec: FabricSpec, report: Report) -> None:
    """Subnets of one tenant, and of tenants that import each other's routes, must not overlap."""
    checked: list[tuple[IPNetwork, Tenant, str]] = []
    for index, tenant in enumerate(spec.tenants):
        for n, network in enumerate(tenant.networks):
            if network.gateway is None:
                continue
            net = IPNetwork(network.gateway)
            for other, owner, name in checked:
                related = owner is tenant or tenant.name in owner.sources or owner.name in tenant.sources
                if related and net.version == other.version and net.first <= other.last and other.first <= net.last:
                    report.error(
                        "FAB136",
                        spec.at("tenants", index, "networks", n, "gateway"),
                        f"network '{network.name}' {net} overlaps {other} of '{owner.name}/{name}'",
                        "use a separate prefix for each network",
                    )
            checked.append((net, tenant, network.name))
