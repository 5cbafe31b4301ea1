"""What changes in the design: counts, switches, links, addresses, tenants, thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from ipaddress import ip_address
from typing import Any

import numpy as np

from fabric.audit.diff.recabling import Recabling, recabling
from fabric.base.grouping import grouped
from fabric.design import moves
from fabric.design.cable_moves import End
from fabric.design.explain.counts import sessions
from fabric.model.plan import ATTACHMENT, CLOSED, SERVER_LEAF, SWITCH_ROLES, Device, FabricPlan, Plan
from fabric.model.plan.summary import summary

# --- leaves of a document -------------------------------------------------------------------------------------


def flat(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values of the leaves; entries of a list go by their names where they have one."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from flat(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree):
        for at, item in enumerate(tree):
            yield from flat(item, f"{path}[{item.get('name') or at}]" if isinstance(item, Mapping) else f"{path}[{at}]")
    else:
        yield path, tree


# --- design ---------------------------------------------------------------------------------------------------

Keys = Mapping[str, Any]  # of an intent, as a tree
Names = Mapping[str, str]  # old name → new name of what keeps its place but not its name


@dataclass(frozen=True, slots=True)
class Change:
    """A value that is another now; None: there is none."""

    what: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """One property of one switch, under its new name."""

    switch: str
    what: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class TenantMove:
    """Servers and attachments in service whose ports another tenant has; of several tenants `red, blue`."""

    old: str  # "" for none
    new: str
    devices: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FabricChange:
    """One fabric of the site."""

    name: str
    state: str  # "same" | "changed" | "added" | "removed"
    counts: tuple[Change, ...] = ()
    added: tuple[str, ...] = ()  # switches
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    switches: tuple[SwitchChange, ...] = ()
    subnets: tuple[Change, ...] = ()  # links that keep their lower end
    tenants: tuple[Change, ...] = ()
    moved: tuple[TenantMove, ...] = ()
    lossless: tuple[Change, ...] = ()
    retuned: tuple[str, ...] = ()  # switches in service that get other buffers or ECN thresholds
    peers: tuple[str, ...] = ()  # switches in service that get BGP sessions they did not have, or lose some


@dataclass(frozen=True)
class Design:
    """The whole site."""

    settings: tuple[Change, ...]  # keys of the intent, defaults put in
    fabrics: tuple[FabricChange, ...]
    recabling: Recabling  # links that are laid, moved and pulled

    def sets(self, fabric: str) -> bool:
        """Whether the intent sets other values for a fabric or for the whole site."""
        return any(not row.what.startswith("fabrics.") or row.what.split(".")[1] == fabric for row in self.settings)

    @property
    def same(self) -> bool:
        return not self.settings and not self.recabling.jobs and all(fabric.state == "same" for fabric in self.fabrics)


def compare(old: Plan, new: Plan, keys: tuple[Keys, Keys], only: str = "") -> Design:
    """The difference of two plans, or of one fabric of them; `keys` are those of their intents, defaults put in."""
    wanted = [name for name in sorted({*old.fabrics, *new.fabrics}) if only in ("", name)]
    before = _with(old, {name: plan for name, plan in old.fabrics.items() if name in wanted})
    after = _with(new, {name: plan for name, plan in new.fabrics.items() if name in wanted})
    named = renamed_plan(before, renames(before, after))
    fabrics = [_fabric(name, before.fabrics.get(name), named.fabrics.get(name), after.fabrics.get(name)) for name in wanted]
    return Design(_settings(old, new, keys, only), tuple(fabrics), recabling(named, after))


def _with(plan: Plan, fabrics: Mapping[str, FabricPlan]) -> Plan:
    return replace(plan, fabrics=fabrics)


def renames(old: Plan, new: Plan) -> Names:
    """Devices that keep their place (role, group and number) under another name."""
    found: dict[str, str] = {}
    for name in sorted({*old.fabrics} & {*new.fabrics}):
        before, after = old.fabrics[name].by_name, new.fabrics[name].by_name
        places = {_place(device): device.name for device in after.values() if device.name not in before}
        for device in before.values():
            if device.name not in after and _place(device) in places:
                found[device.name] = places[_place(device)]
    return found


def _place(device: Device) -> tuple[str, str, int]:
    return device.role, device.group, device.number


def renamed_plan(plan: Plan, names: Names) -> Plan:
    """The old plan with the new device names."""
    return _with(plan, {key: _renamed(fabric, names) for key, fabric in plan.fabrics.items()}) if names else plan


def _renamed(fabric: FabricPlan, names: Names) -> FabricPlan:
    devices = tuple(replace(device, name=names.get(device.name, device.name)) for device in fabric.devices)
    return replace(fabric, devices=devices)


def _settings(old: Plan, new: Plan, keys: tuple[Keys, Keys], only: str) -> tuple[Change, ...]:
    """Keys of the intent that have other values; only of fabrics that both sides have."""
    before, after = (dict(flat(side)) for side in keys)
    both = {*old.fabrics} & {*new.fabrics} if not only else {only} & {*old.fabrics} & {*new.fabrics}
    wanted = [key for key in sorted({**before, **after}) if not key.startswith("fabrics.") or key.split(".")[1] in both]
    return tuple(_changes((key, before.get(key), after.get(key)) for key in wanted))


def _changes(rows: Iterator[tuple[str, Any, Any]]) -> Iterator[Change]:
    return (Change(what, old, new) for what, old, new in rows if old != new and (old or new or None not in (old, new)))


# --- one fabric ---------------------------------------------------------------------------------------------


def _fabric(name: str, before: FabricPlan | None, old: FabricPlan | None, new: FabricPlan | None) -> FabricChange:
    """`before` has the old names, `old` the new names of the same devices."""
    earlier, later = (_counts(plan) if plan is not None else {} for plan in (old, new))
    counts = tuple(_changes((count, earlier.get(count), later.get(count)) for count in {**earlier, **later}))
    whole = tuple(row for row in counts if row.old or row.new)
    if new is None:
        return FabricChange(name=name, state="removed", counts=whole, removed=_switch_names(before))
    if before is None or old is None:
        return FabricChange(name=name, state="added", counts=whole, added=_switch_names(new))
    change = FabricChange(
        name=name,
        state="changed",
        counts=counts,
        added=tuple(device.name for device in new.switches if device.name not in old.by_name),
        removed=tuple(device.name for device in old.switches if device.name not in new.by_name),
        renamed=tuple((a.name, b.name) for a, b in zip(before.switches, old.switches, strict=True) if a.name != b.name),
        switches=tuple(_switches(old, new)),
        subnets=tuple(_subnets(old, new)),
        tenants=tuple(_of(_tenants(old), _tenants(new))),
        moved=tuple(_moved(old, new)),
        lossless=tuple(_of(_lossless(old), _lossless(new))),
        retuned=tuple(_retuned(old, new)),
        peers=tuple(_peers(old, new)),
    )
    return change if change != FabricChange(name=name, state="changed") else FabricChange(name=name, state="same")


def _switch_names(plan: FabricPlan | None) -> tuple[str, ...]:
    return tuple(device.name for device in plan.switches) if plan is not None else ()


def _of(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    return _changes((key, old.get(key), new.get(key)) for key in {**old, **new})


LABELS = {
    "servers": "servers",
    "gpus": "GPUs",
    "kind": "topology",
    "tiers": "tiers",
    "planes": "planes",
    "units": "units",
    "unit.servers": "servers a unit",
    "pods.count": "pods",
    "switches.leaf": "leaves",
    "switches.spine": "spines",
    "switches.core": "cores",
    "models.leaf": "model of a leaf",
    "models.spine": "model of a spine",
    "models.core": "model of a core",
    "links.server-leaf": "links server-leaf",
    "links.leaf-leaf": "links leaf-leaf",
    "links.leaf-spine": "links leaf-spine",
    "links.spine-core": "links spine-core",
    "links.attachments": "links of attachments",
    "cables.leaf-spine": "cables leaf-spine",
    "cables.spine-core": "cables spine-core",
    "ports.leaf.down_speed_gbps": "speed of a server port, Gb/s",
    "ports.leaf.up_speed_gbps": "speed of an uplink, Gb/s",
    "ports.leaf.up": "uplinks of a leaf",
    "ports.leaf.spare": "spare ports of a leaf",
    "ports.spine.spare": "spare ports of a spine",
    "oversubscription.leaf": "oversubscription of a leaf",
    "oversubscription.spine": "oversubscription of a spine",
    "bgp.sessions": "BGP sessions, underlay",
    "bgp.asns": "AS numbers",
    "limits.max_servers": "most servers at these tiers",
}


def _counts(plan: FabricPlan) -> dict[str, Any]:
    """What is counted of a fabric, by its label."""
    rows = dict(flat(summary(plan.spec, plan.sizing)))
    more = sessions(plan)
    nos = {device.role: device.nos for device in plan.switches if device.nos}
    return {
        **{label: rows.get(key) for key, label in LABELS.items()},
        **{f"network OS of a {role}": name for role, name in nos.items()},
        "BGP sessions, EVPN": more.evpn,
        "BGP sessions, tenants": more.of_tenants,
        "BGP sessions, outside": more.to_outside,
        "tenants": len(plan.tenancy.tenants),
    }


def _switches(old: FabricPlan, new: FabricPlan) -> Iterator[SwitchChange]:
    for device in new.switches:
        was = old.by_name.get(device.name)
        if was is not None and was.role in SWITCH_ROLES:
            one, two = _facts(old, was), _facts(new, device)
            yield from (SwitchChange(device.name, what, one[what], two[what]) for what in one if one[what] != two[what])


def _facts(plan: FabricPlan, device: Device) -> dict[str, Any]:
    """What a switch is and is called by."""
    at = device.index
    return {
        "model": device.model,
        "network OS": device.nos,
        "AS number": device.asn or None,
        "loopback": _address(int(plan.loopback[at])),
        "IPv6 loopback": _address(int(plan.loopback6[at])),
        "management address": _address(int(plan.management[at])),
        "VTEP": _address(int(plan.tenancy.vtep.get(at, -1))),
    }


def _address(number: int) -> str | None:
    return str(ip_address(number)) if number >= 0 else None


def _subnets(old: FabricPlan, new: FabricPlan) -> Iterator[Change]:
    """Links with the same lower end on other addresses."""
    before, after = _links(old), _links(new)
    for end, subnet in after.items():
        if end in before and before[end] != subnet:
            yield Change(f"{end[0]} {end[1]}", before[end], subnet)


def _links(plan: FabricPlan) -> dict[End, str | None]:
    subnets = enumerate(moves.subnets(plan).items())
    return {end: f"{_address(first)}/{plan.link_length(link)}" if _address(first) else None for link, (end, first) in subnets}


def _tenants(plan: FabricPlan) -> dict[str, Any]:
    """What is known of every tenant, by its name."""
    tenancy, tenants = plan.tenancy, dict[str, Any]()
    if tenancy.kind != "none":
        tenants["kept apart by"] = tenancy.kind
    ports = Counter(tenancy.owner.tolist())
    for number, tenant in enumerate(tenancy.tenants):
        name = tenant.name
        tenants |= {f"{name} VNI": tenant.vni or None, f"{name} ports": ports[number]}
        tenants |= {
            f"{name} imports": ", ".join(tenant.imports) or None,
            **{f"{name} imports from {leak.source}": ", ".join(leak.prefixes) for leak in tenant.leaks},
            f"{name} outside": ", ".join(tenant.outside) or None,
        }
        for network in tenant.networks:
            gateway = f"{_address(network.gateway)}/{network.length}" if network.gateway is not None else None
            tenants[f"{name} network {network.name}"] = f"VLAN {network.vlan}, VNI {network.vni}, gateway {gateway or 'none'}"
    if tenancy.tenants and tenancy.isolated:
        tenants["shut ports"] = ports[CLOSED]
    return tenants


def _moved(old: FabricPlan, new: FabricPlan) -> Iterator[TenantMove]:
    """Devices at the lower end of leaf ports that both sides have, by the tenants of their ports before and after."""
    before, after = _owners(old), _owners(new)
    pairs = ((before[name], owner, name) for name, owner in after.items() if name in before and before[name] != owner)
    for (was, now), names in grouped(((was, now), name) for was, now, name in pairs).items():
        yield TenantMove(was, now, tuple(names))


def _owners(plan: FabricPlan) -> dict[str, str]:
    """Server or attachment → the tenants of its ports."""
    tenancy, links = plan.tenancy, plan.links
    if not tenancy.tenants:
        return {}
    rows = np.flatnonzero(np.isin(links.kind, (SERVER_LEAF, ATTACHMENT)))
    pairs = np.unique(np.stack([links.a[rows], tenancy.owner[rows]], axis=1), axis=0).tolist()
    owners = grouped((plan.devices[device].name, tenancy.tenants[at].name) for device, at in pairs if at >= 0)
    return dict.fromkeys((plan.devices[device].name for device, _ in pairs), "") | {
        k: ", ".join(v) for k, v in owners.items()
    }


def _lossless(plan: FabricPlan) -> dict[str, Any]:
    """Every figure of the lossless class: by role, and by speed and cable length of a port."""
    found: dict[str, Any] = {}
    for (role, group), part in (plan.lossless.roles if plan.lossless else {}).items():
        who = f"{role} of {group}" if group and len(plan.spec.groups) > 1 else role
        found |= {f"{who} {key}": value for key, value in flat(asdict(part.qos))}
        for (speed, length), port in part.ports.items():
            found |= {f"{who} {speed}G {length} m {key}": value for key, value in flat(asdict(port))}
    return found


def _retuned(old: FabricPlan, new: FabricPlan) -> Iterator[str]:
    """Switches on both sides whose buffers or thresholds differ, of a port that both sides have."""
    if old.lossless is None or new.lossless is None:
        return
    for device in new.switches:
        was = old.by_name.get(device.name)
        if was is None or was.role != device.role:
            continue
        before, after = old.lossless.of(was.role, was.group), new.lossless.of(device.role, device.group)
        common = before.ports.keys() & after.ports.keys()
        if before.qos != after.qos or any(before.ports[key] != after.ports[key] for key in common):
            yield device.name


def _peers(old: FabricPlan, new: FabricPlan) -> Iterator[str]:
    """Switches on both sides that speak BGP over links to other switches than before."""
    before, after = _neighbors(old), _neighbors(new)
    yield from (name for name in after if name in before and before[name] != after[name])


def _neighbors(plan: FabricPlan) -> dict[str, Counter[str]]:
    """Switch → how many links it has to which neighbor; only links that a BGP session of the underlay runs over."""
    found: dict[str, Counter[str]] = {device.name: Counter() for device in plan.switches}
    for a, b in zip(plan.links.a.tolist(), plan.links.b.tolist(), strict=True):
        low, high = plan.devices[a], plan.devices[b]
        if low.asn and high.asn:
            found[low.name][high.name] += 1
            found[high.name][low.name] += 1
    return found
