"""Fabrics whose leaves hang below the leaves of another fabric, as out-of-band switches hang below a pair.

Before sizing, the fabric above gets an attachment for each of these leaves, and the fabric below the tenant whose networks
it bridges, and ports for the management ports of the site's switches. After wiring, the two ends of every link are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network

import numpy as np

from fabric.base.diagnostics import Report, nearest
from fabric.base.text import listed
from fabric.design.planner import inventory, pins, tenant_numbers
from fabric.design.planner.free_ports import UPLINKS
from fabric.design.planner.lock_repair import belongs, id_spaces, settled
from fabric.design.planner.numbers import AreaAllocator, number
from fabric.model.plan import LEAF, FabricPlan, FabricSpec, FarPort, SiteSpec, Sizing
from fabric.model.plan.lock_file import FabricLock, Lock
from fabric.model.settings.services import Network, Tenant
from fabric.model.settings.site import Attachment, Below

SWITCH_MANAGEMENT = "switch-management"

Size = Callable[[FabricSpec, FabricLock], tuple[FabricSpec, Sizing]]


def expanded(site: SiteSpec, lock: Lock, size: Size) -> SiteSpec:
    """The site with what follows from every `below`: attachments above, tenants and management ports below.

    Raises InputError with contradictions, or where a fabric cannot be sized.
    """
    hanging = {name: spec for name, spec in site.fabrics.items() if spec.below is not None}
    if not hanging:
        return site
    lock, _ = settled(lock, {})
    specs = {name: _bare(spec) for name, spec in site.fabrics.items()}
    report = Report()
    for spec in hanging.values():
        _check(specs, spec, report)
    report.raise_errors()
    known = {name: lock.fabrics.get(name, FabricLock()) for name in specs}
    switches = {name: _switches(size(spec, known[name])[1]) for name, spec in specs.items() if name not in hanging}
    served: set[str] = set()  # management networks whose ports are planned
    for name in hanging:
        spec = _with_tenant(specs, specs[name], known, report)
        report.raise_errors()
        sized = size(spec, known[name])
        switches[name] = _switches(sized[1])
        managed = _management_network(site, specs, spec)
        if managed is not None and managed.gateway not in served and not _manages(spec, managed):
            served.add(managed.gateway or "")
            count = sum(n for fabric, n in switches.items() if _managed_by(site, specs[fabric], managed))
            spec = replace(
                spec,
                attachments=(*spec.attachments, _management_ports(spec, managed, count)),
                added=spec.added | {SWITCH_MANAGEMENT},
            )
            sized = size(spec, known[name])
        leaves = _leaves(site, *sized, known[name])
        specs[name] = replace(spec, added=spec.added | {f"{UPLINKS}{n}" for n in leaves})
        above = specs[_of(spec).fabric]
        stand_ins = tuple(_stand_in(spec, leaf) for leaf in leaves.values())
        specs[above.name] = replace(
            above,
            attachments=(*above.attachments, *stand_ins),
            added=above.added | {its.name for its in stand_ins},
        )
    return replace(site, fabrics=specs)


def _of(spec: FabricSpec) -> Below:
    assert spec.below is not None
    return spec.below


def _bare(spec: FabricSpec) -> FabricSpec:
    """A fabric as its intent states it."""
    kept = tuple(attachment for attachment in spec.attachments if attachment.name not in spec.added)
    return replace(spec, attachments=kept, added=frozenset(), tenants=() if spec.below else spec.tenants)


def _check(specs: Mapping[str, FabricSpec], spec: FabricSpec, report: Report) -> None:
    """Refuses what cannot hang below another fabric."""
    below = _of(spec)
    above = specs.get(below.fabric)
    others = [name for name, its in specs.items() if its.below is None and its.ethernet and not its.switchless]
    if above is None or above.name not in others:
        report.error(
            "FAB109",
            spec.at("below", "fabric"),
            f"below.fabric: expected another fabric of Ethernet switches, not itself `below` one, got '{below.fabric}'",
            nearest(below.fabric, others) if others else "remove `below`: the site has no such fabric",
        )
        return
    tenant = next((its for its in above.tenants if its.name == below.tenant), None)
    if below.tenant and (tenant is None or not tenant.networks or any(network.parted for network in tenant.networks)):
        names = [its.name for its in above.tenants if its.networks and not any(network.parted for network in its.networks)]
        report.error(
            "FAB144",
            spec.at("below", "tenant"),
            f"below.tenant: expected a tenant of fabric '{above.name}' with layer-2 networks, none of them of a rail, "
            f"got '{below.tenant}'",
            nearest(below.tenant, names)
            if names
            else f"add `- {{name: {below.tenant}, networks: [{{name: …, gateway: …}}]}}` to its `tenants`",
        )
    if above.bonds and below.tenant and below.links % 2:
        report.error(
            "FAB109",
            spec.at("below", "links"),
            f"below.links: expected an even number, half on each leaf of the pair, got {below.links}",
            f"set `links: {below.links + 1}`",
        )
    _check_shape(spec, report)


SHAPES = (  # keys of a fabric that a bridge of a rack has no use for
    *(("topology", key) for key in ("spine", "core", "pods", "tiers", "rails", "planes", "dual_tor")),
    *(("topology", "leaf", key) for key in ("uplinks", "oversubscription")),
    ("overlay",),
    ("tenants",),
)


def _check_shape(spec: FabricSpec, report: Report) -> None:
    """Refuses the keys of a fabric with a network of its own."""
    for path in (path for path in SHAPES if spec.stated(*path)):
        report.error(
            "FAB109",
            spec.at(*path),
            f"{'.'.join(path)}: expected none in a fabric `below` another, whose leaves are bridges",
            "remove it, or remove `below`",
        )
    if spec.kind not in ("rack", "rail-only"):
        report.error(
            "FAB109",
            spec.at("topology", "kind"),
            f"kind: expected `rack` (a server on one leaf) or `rail-only` (on all) in a fabric `below`, got `{spec.kind}`",
            "set `kind: rack`, or remove `below`",
        )


# --- the fabric below -----------------------------------------------------------------------------------------


def _with_tenant(
    specs: Mapping[str, FabricSpec], spec: FabricSpec, known: Mapping[str, FabricLock], report: Report
) -> FabricSpec:
    """The fabric with the networks of the tenant above, of the same VLANs, and the speed of its links."""
    below, above = _of(spec), specs[_of(spec).fabric]
    plans = tenant_numbers.number(above, known[above.name].tenants, report)
    networks = tuple(
        Network(name=stated.name, vlan=plan.vlan, gateway=stated.gateway, untagged=stated.untagged)
        for tenant, its in zip(above.tenants, plans, strict=True)
        if tenant.name == below.tenant
        for stated, plan in zip(tenant.networks, its.networks, strict=True)
    )
    common = sorted(set(spec.leaf.model.speeds) & set(above.leaf.model.speeds))
    speed = below.speed_gbps
    if (speed or common[-1:]) not in (*common, common[-1:]) or not common:
        report.error(
            "FAB132",
            spec.at("below", "speed_gbps"),
            f"below.speed_gbps: expected a speed of {spec.leaf.switch} and of {above.leaf.switch}, got {speed or 'none'}",
            f"both support {listed([*map(str, common)])} Gb/s" if common else "choose a switch with ports of a common speed",
        )
        return spec
    of = f"tenant '{below.tenant}'" if below.tenant else "`tenant`, which is not stated"
    names = [network.name for network in networks]
    if spec.groups and below.network is not None and below.network not in names:
        report.error(
            "FAB144",
            spec.at("below", "network"),
            f"below.network: expected a network of {of}, got '{below.network}'",
            nearest(below.network, names) or "state `tenant`, or remove `network`",
        )
    tenants = (Tenant(name=below.tenant, networks=networks),) if below.tenant else ()
    return replace(spec, tenants=tenants, below=below.model_copy(update={"speed_gbps": speed or common[-1]}))


def _management_network(site: SiteSpec, specs: Mapping[str, FabricSpec], spec: FabricSpec) -> Network | None:
    """The network of the tenant that a stated management pool lies in; None where no pool does."""
    pools = [prefix for its in specs.values() for prefix in _pool(site, its)]
    networks = [network for tenant in spec.tenants for network in tenant.networks]
    return next((network for network in networks if any(_inside(prefix, network) for prefix in pools)), None)


def _pool(site: SiteSpec, spec: FabricSpec) -> Sequence[str]:
    return spec.pools.management or site.settings.pools.management or ()


def _managed_by(site: SiteSpec, spec: FabricSpec, network: Network) -> bool:
    return any(_inside(prefix, network) for prefix in _pool(site, spec))


def _inside(prefix: str, network: Network) -> bool:
    if network.gateway is None:
        return False
    pool, subnet = ip_network(prefix, strict=False), ip_network(network.gateway, strict=False)
    return pool.version == subnet.version and pool.subnet_of(subnet)  # type: ignore[arg-type]


def _manages(spec: FabricSpec, network: Network) -> bool:
    """Whether the intent states the management ports."""
    return any(its.name == SWITCH_MANAGEMENT or its.network == network.name for its in spec.attachments)


def _management_ports(spec: FabricSpec, network: Network, count: int) -> Attachment:
    slow = 1 if 1 in spec.leaf.model.speeds else None
    return Attachment(name=SWITCH_MANAGEMENT, links=count, speed_gbps=slow, tenant=_of(spec).tenant, network=network.name)


def _switches(sizing: Sizing) -> int:
    return sizing.leaves + sizing.spine_count + sizing.core_count


def _leaves(site: SiteSpec, spec: FabricSpec, sizing: Sizing, known: FabricLock) -> dict[int, str]:
    """Number → name of every leaf, as wiring will number and name them."""
    allocator = AreaAllocator({f"{spec.name}:{key}": blocks for key, blocks in known.blocks.items()})
    spaces = dict(id_spaces(spec.name))
    known_keys = sorted(allocator.known)
    allocator.keep((key, space) for prefix, space in spaces.items() for key in known_keys if belongs(key, prefix))
    report = Report()  # wrong names are reported when the fabric is planned
    devices, _ = inventory.devices(spec, sizing, number(spec, sizing, allocator, spaces), site.site, {}, report)
    return {device.number: device.name for device in pins.rename(spec, devices, report) if device.role == LEAF}


# --- the fabric above -----------------------------------------------------------------------------------------


def _stand_in(spec: FabricSpec, leaf: str) -> Attachment:
    """A leaf of the fabric below as an attachment: one bond in all networks of the tenant."""
    below = _of(spec)
    return Attachment.model_construct(  # its name is a host name
        **{name: field.default for name, field in Attachment.model_fields.items()}
        | {
            "name": leaf,
            "links": below.links,
            "speed_gbps": below.speed_gbps,
            "tenant": below.tenant,
            "bond": below.tenant is not None,
            "lossless": False,
        }
    )


# --- after wiring: both ends of every link --------------------------------------------------------------------


def joined(plans: Mapping[str, FabricPlan]) -> dict[str, FabricPlan]:
    """The plans with the far end of every link between a fabric and one below it."""
    result = dict(plans)
    for name, lower in plans.items():
        if lower.spec.below is None:
            continue
        upper = result[lower.spec.below.fabric]
        stand_ins = {device.name: device.index for device in upper.devices if device.name in upper.spec.added}
        below, uplinks = dict(upper.below), list(lower.uplinks)
        columns = {part: getattr(upper.links, f"a_{part}").copy() for part in ("cage", "sub", "split")}
        for leaf in (device for device in lower.switches if device.name in stand_ins):
            links = np.flatnonzero(upper.links.a == stand_ins[leaf.name]).tolist()
            ours = [at for at, uplink in enumerate(uplinks) if uplink.device == leaf.index]
            for link, at in zip(links, ours, strict=True):
                far = upper.devices[int(upper.links.b[link])]
                below[link] = FarPort(leaf, uplinks[at].ref, lower.spec.leaf.model)
                for part, column in columns.items():
                    column[link] = getattr(uplinks[at].ref, part)
                uplinks[at] = replace(
                    uplinks[at],
                    far=FarPort(far, upper.ref(link, "b"), upper.spec.leaf.model),
                    length_m=upper.spec.length_m["attachments"],
                )
        links_above = replace(upper.links, **{f"a_{part}": column for part, column in columns.items()})
        result[upper.name] = replace(upper, links=links_above, below=below)
        result[name] = replace(lower, uplinks=tuple(uplinks))
    return result
