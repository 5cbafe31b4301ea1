"""Management ports of the site's switches: which leaf port of an out-of-band network each is cabled to.

A network whose subnet is a management pool is a management network. Ports of attachments in it are those of switches: the
k-th port of an attachment keeps its switch in the lock, so that switches which come later move no cable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network

import numpy as np
from netaddr import IPNetwork

from fabric.base.diagnostics import Diagnostic, Report
from fabric.base.text import listed, plural
from fabric.model.plan import ATTACHMENT, LEAF, Device, FabricPlan, NetworkPlan
from fabric.model.plan.lock import FabricLock

SHOWN = 3
RECIPE = (
    "hang the fabric below another one (`below`), a tenant of which has a network of `pools.management`; or add "
    "`attachments: [{name: switch-management, links: …, tenant: …}]` with a link per switch, in a tenant network whose "
    "`gateway` is that prefix"
)


@dataclass(frozen=True)
class _ManagedPort:
    """A leaf port in a management network."""

    fabric: str
    link: int
    attachment: str
    port: int  # of the attachment, from 1
    leaf: str


def assign(
    plans: Mapping[str, FabricPlan], locks: Mapping[str, FabricLock], earlier: Mapping[str, FabricLock], report: Report
) -> tuple[dict[str, FabricPlan], dict[str, FabricLock]]:
    """Plans and locks with a switch for every port of a management network.

    Args:
        plans: every fabric, in the order of the intent.
        locks: what the lock will hold of them.
        earlier: what it held, with the switch of each port.
    """
    managed = {prefix for plan in plans.values() for prefix in plan.prefixes["management"]}
    manage: dict[str, tuple[int, int]] = {}
    spots: dict[str, list[_ManagedPort]] = {}
    for name, plan in plans.items():
        for link, network in _ports(plan, managed):
            device = plan.devices[int(plan.links.a[link])]
            leaf = plan.devices[int(plan.links.b[link])].name
            spots.setdefault(network.prefix, []).append(
                _ManagedPort(name, link, device.name, int(plan.links.a_cage[link]), leaf)
            )
            inside = _inside(plan, network, managed)
            manage |= {prefix: (network.gateway or 0, network.length) for prefix in inside if prefix != network.prefix}
            _check_gateway(plan, network, inside, plans, report)
    chosen = {
        (known_fabric, name, spot.port): spot.switch
        for known_fabric, entry in earlier.items()
        for name, leaf_spots in entry.attachments.items()
        for spot in leaf_spots
        if spot.switch
    }
    served: dict[str, dict[int, Device]] = {}
    for prefix, ports in spots.items():
        out_of_band = {spot.fabric for spot in ports}
        for spot, device in _dealt(ports, _switches(plans, prefix, out_of_band), chosen).items():
            served.setdefault(spot.fabric, {})[spot.link] = device
    _report_own(plans, served, report)
    _report_rest(plans, spots, served, report)
    return (
        {
            name: replace(plan, management_ports=served.get(name, {}), manage=manage if manage else plan.manage)
            for name, plan in plans.items()
        },
        {name: _kept(lock, plans[name], served.get(name, {})) for name, lock in locks.items()},
    )


def _ports(plan: FabricPlan, managed: Collection[str]) -> Iterator[tuple[int, NetworkPlan]]:
    """The links of attachments that are untagged in a management network, by port of the attachment."""
    links = plan.links
    found = np.flatnonzero(links.kind == ATTACHMENT)
    for link in found[np.lexsort((links.a_cage[found], links.a[found]))].tolist():
        networks = plan.tenancy.networks(link) if link not in plan.below else ()
        if len(networks) != 1 or not _inside(plan, networks[0], managed):
            continue
        if networks[0].prefix in managed or plan.devices[int(links.a[link])].name in plan.spec.added:
            yield link, networks[0]


def _inside(plan: FabricPlan, network: NetworkPlan, managed: Collection[str]) -> list[str]:
    """The management pools that a network is the subnet of, or in a fabric below another those that lie in it."""
    if plan.spec.below is None or not network.prefix:
        return [network.prefix] if network.prefix in managed else []
    return [prefix for prefix in sorted(managed) if IPNetwork(prefix) in IPNetwork(network.prefix)]


def _switches(plans: Mapping[str, FabricPlan], prefix: str, own: Collection[str]) -> list[Device]:
    """Switches with an address of the prefix; those of the out-of-band fabric itself, which has them elsewhere, last."""
    net = ip_network(prefix)
    first, last = int(net.network_address), int(net.broadcast_address)
    ordered = sorted(plans.values(), key=lambda plan: plan.name in own)
    return [device for plan in ordered for device in plan.switches if first <= int(plan.management[device.index]) <= last]


def _dealt(
    ports: list[_ManagedPort], switches: list[Device], chosen: Mapping[tuple[str, str, int], str]
) -> dict[_ManagedPort, Device]:
    """A switch for every port: the one of the lock, else the first that has none."""
    by_name = {device.name: device for device in switches}
    switch_of: dict[_ManagedPort, Device] = {}
    for spot in ports:
        name = chosen.get((spot.fabric, spot.attachment, spot.port), "")
        if name in by_name:
            switch_of[spot] = by_name.pop(name)
    left = list(by_name.values())
    for spot in (spot for spot in ports if spot not in switch_of):
        another = next((at for at, device in enumerate(left) if device.name != spot.leaf), 0)  # not a port of the same switch
        if left:
            switch_of[spot] = left.pop(another)
    return switch_of


def _kept(lock: FabricLock, plan: FabricPlan, served: Mapping[int, Device]) -> FabricLock:
    """The lock with the switch of every port."""
    names = {(plan.devices[int(plan.links.a[k])].name, int(plan.links.a_cage[k])): d.name for k, d in served.items()}
    attachments = {
        name: tuple(spot._replace(switch=names.get((name, spot.port), "")) for spot in spots)
        for name, spots in lock.attachments.items()
    }
    return replace(lock, attachments=attachments)


def _check_gateway(
    plan: FabricPlan, network: NetworkPlan, managed: Collection[str], plans: Mapping[str, FabricPlan], report: Report
) -> None:
    """Switches send to `management.gateway`, which the network must have; and no address is both a switch's and a leaf's."""
    tenant, place = next(
        (t, n) for t, tenant in enumerate(plan.tenancy.tenants) for n, other in enumerate(tenant.networks) if other is network
    )
    where = plan.spec.at("tenants", tenant, "networks", place, "gateway")
    shown = f"network '{network.name}' of the management ports"
    for other in plans.values():
        stated = other.spec.management.gateway
        if stated and set(managed) & set(other.prefixes["management"]) and int(ip_address(stated)) != network.gateway:
            report.error(
                "FAB136",
                where,
                f"{shown}: its gateway is {ip_address(network.gateway or 0)}, and the switches of fabric '{other.name}' have "
                f"`management.gateway` {stated}",
                "remove `management.gateway`: the first address of the pool is the default",
            )
    with_gateway = plans[plan.spec.below.fabric] if plan.spec.below else plan
    leaves = {network.own_address(device.number): device.name for device in with_gateway.switches if device.role == LEAF}
    for other in plans.values():
        for device in other.switches:
            number = int(other.management[device.index])
            if number in leaves or number == network.gateway:
                report.error(
                    "FAB136",
                    where,
                    f"{shown}: {ip_address(number)} of {device.name} is also the address of "
                    f"{leaves.get(number, 'the gateway')} in it",
                    "set a larger `pools: {management: …}`, and `gateway` to the same prefix",
                )


def _report_own(plans: Mapping[str, FabricPlan], served: Mapping[str, Mapping[int, Device]], report: Report) -> None:
    """Switches whose management port is cabled to one of their own ports, as no other switch has one for it."""
    for name, devices in served.items():
        plan = plans[name]
        own = sorted(device.name for link, device in devices.items() if plan.devices[int(plan.links.b[link])] is device)
        if own:
            message = f"fabric '{name}': the management port of {listed(own, SHOWN)} is cabled to the switch itself"
            hint = "a second out-of-band switch (`per_rack`) gives each one a port of the other"
            report.warnings.append(Diagnostic("FAB194", plan.spec.at(), message, hint, "note"))


def _report_rest(
    plans: Mapping[str, FabricPlan],
    spots: Mapping[str, list[_ManagedPort]],
    served: Mapping[str, Mapping[int, Device]],
    report: Report,
) -> None:
    """Switches whose management port has no leaf port, in a site with an out-of-band fabric."""
    oob = {name for name, plan in plans.items() if plan.spec.purpose == "oob" and plan.spec.ethernet}
    out_of_band = {spot.fabric for ports in spots.values() for spot in ports} or oob
    if not out_of_band:
        return
    done = {device.name for devices in served.values() for device in devices.values()}
    switches = [device.name for name, plan in plans.items() if name not in out_of_band for device in plan.switches]
    bare = [name for name in switches if name not in done]
    if not bare:
        return
    name = min(out_of_band)
    message = (
        f"fabric '{name}': no leaf port is planned for the management port of {plural(len(bare), 'switch', 'switches')}: "
        f"{listed(bare, SHOWN)}"
    )
    place = plans[name].spec.at("topology", "attachments") if spots else plans[name].spec.at()
    missing = f"add {len(bare)} to `links` of the attachment" if spots else RECIPE
    report.warnings.append(Diagnostic("FAB194", place, message, missing, "warning" if spots else "note"))
