"""Owners of ports: assigns every server link to a tenant of the intent.

A tenant has servers by name or range, racks, rails, NICs. Servers and racks add up, rails and NICs narrow them down (these
alone: those of every server). A tenant that names nothing takes the ports that no other tenant has; of several such tenants
those that an attachment or a router has take none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from fabric.base.diagnostics import Diagnostic, Report, nearest
from fabric.base.text import listed, plural
from fabric.model.plan.lock import Ints
from fabric.model.plan.sizing import nic_uses
from fabric.model.plan.spec import FabricSpec
from fabric.model.plan.tenants import CLOSED, NO_TENANT
from fabric.model.plan.topology import ATTACHED, ATTACHMENT, SERVER, SERVER_LEAF, Device, Links
from fabric.model.settings.services import Tenant

_RANGE = re.compile(r"(.*?)(?<!\d)(\d+)\.\.(\d+)")


def owners(spec: FabricSpec, devices: Sequence[Device], links: Links, report: Report) -> Ints:
    """The tenant of every link: its place in the intent's list, NO_TENANT or CLOSED."""
    owner = np.full(len(links), NO_TENANT, dtype=np.int64)
    tenants = spec.tenants
    if not tenants:
        return owner
    served = np.flatnonzero(links.kind == SERVER_LEAF)
    servers = [device for device in devices if device.role == SERVER]
    first = servers[0].index if servers else 0
    names = {device.name: device.index - first for device in servers}
    rack = np.array([device.rack for device in servers], dtype=np.int64)
    uses, use_of = nic_uses(spec, devices, links)
    own_leaves = np.array([*(use not in group.on_free_ports for group, use in uses), False])  # what has rails
    rail = np.where(own_leaves[use_of[served]], _rails(spec, devices, links, served), -1)
    purpose = np.array([use.nics for _, use in uses] + [""])[use_of[served]]
    owner[served] = CLOSED
    rest: list[int] = []
    for index, tenant in enumerate(tenants):
        if not names_ports(tenant):
            rest.append(index)
            continue
        chosen = _servers(spec, index, tenant, names, rack, report)
        selected = chosen[links.a[served] - first]
        if tenant.rails:
            _check_numbers(spec, index, "rails", tenant.rails, rail, report)
            selected = selected & np.isin(rail, np.array(tenant.rails) - 1)
        if tenant.nics:
            _check_nics(spec, index, tenant, purpose, report)
            selected = selected & np.isin(purpose, tenant.nics)
        _claim(spec, owner, served[selected], index, devices, links, report=report)
    if len(rest) > 1:  # those of an attachment or a router alone take no port of a server
        served_outside = {
            name for its in spec.attachments for name in (its.tenant, *(its.external.tenants if its.external else ()))
        }
        rest = [at for at in rest if tenants[at].name not in served_outside]
    if len(rest) > 1:
        report.error(
            "FAB147",
            spec.at("tenants", rest[1]),
            f"tenants '{tenants[rest[0]].name}' and '{tenants[rest[1]].name}': expected servers, racks, rails or NICs",
            "one tenant may leave them out: it takes all other ports",
        )
    elif rest:
        left = served[owner[served] == CLOSED]
        owner[left] = rest[0]
        if len(spec.groups) > 1:
            _note_groups(spec, rest[0], left, owner, servers, links, report=report)
    _attachments(spec, devices, links, owner)
    _warn_empty(spec, owner, served, links, report)
    return owner


def names_ports(tenant: Tenant) -> bool:
    """Whether a tenant says which ports are its own; one that does not has all others."""
    return bool(tenant.servers or tenant.racks or tenant.rails or tenant.nics)


def _check_nics(spec: FabricSpec, index: int, tenant: Tenant, purpose: NDArray[np.str_], report: Report) -> None:
    """Reports purposes that no NIC of the fabric has."""
    known = sorted(set(purpose.tolist()))
    for n, nics in enumerate(tenant.nics):
        if nics not in known:
            report.error(
                "FAB147",
                spec.at("tenants", index, "nics", n),
                f"tenant '{tenant.name}': expected NICs that this fabric connects ({listed(known)}), got '{nics}'",
                "`nics` of a group of servers lists those that are connected",
            )


def _note_groups(
    spec: FabricSpec, rest: int, left: Ints, owner: Ints, servers: Sequence[Device], links: Links, *, report: Report
) -> None:
    """Groups of servers all of which are in the tenant that takes the others: one that was added may belong elsewhere."""
    by_index = {server.index: server for server in servers}
    named = np.flatnonzero((links.kind == SERVER_LEAF) & (owner != rest))
    selected = {by_index[index].group for index in np.unique(links.a[named]).tolist()}
    taken = Counter(by_index[index].group for index in np.unique(links.a[left]).tolist())
    for group, count in taken.items():
        if selected and group not in selected:
            tenant = spec.tenants[rest].name
            message = f"tenant '{tenant}' takes all servers that no tenant names, {plural(count, 'server')} of '{group}' too"
            hint = f"state `servers: {group}-*` in the tenant that they belong to"
            report.warnings.append(Diagnostic("FAB199", spec.at("tenants", rest), message, hint, "note"))


def _rails(spec: FabricSpec, devices: Sequence[Device], links: Links, served: Ints) -> Ints:
    """Rail of every server link, from 0; -1 where a fabric has none."""
    if spec.kind not in ("rail-optimized", "rail-only"):
        return np.full(len(served), -1, dtype=np.int64)
    of_leaf = np.array([device.rail for device in devices], dtype=np.int64)
    return of_leaf[links.b[served]]


def rails_of(spec: FabricSpec, devices: Sequence[Device], links: Links) -> Ints:
    """Rail of every server link, from 1: that of its leaf, or the number of its NIC where leaves serve no single rail."""
    uses, use_of = nic_uses(spec, devices, links)
    rail = np.zeros(len(links), dtype=np.int64)
    of_leaf = np.array([device.rail for device in devices], dtype=np.int64) + 1
    for at, (group, use) in enumerate(uses):
        mine = use_of == at
        nic = links.a_cage[mine] - group.first_nic(use.nics) + 1
        leaf = of_leaf[links.b[mine]]
        rail[mine] = np.where((leaf > 0) & (use not in group.on_free_ports), leaf, nic)
    return rail


def networks_by_nics(
    spec: FabricSpec, devices: Sequence[Device], links: Links, owner: Ints, report: Report
) -> dict[int, tuple[int, ...]]:
    """The networks of every server link whose tenant has networks for some purposes of NICs alone."""
    found: dict[int, tuple[int, ...]] = {}
    if not any(network.nics for tenant in spec.tenants for network in tenant.networks):
        return found
    uses, use_of = nic_uses(spec, devices, links)
    purpose = np.array([use.nics for _, use in uses] + [""])[use_of]
    for n, tenant in enumerate(spec.tenants):
        if not any(network.nics for network in tenant.networks):
            continue
        mine = np.flatnonzero((owner == n) & (links.kind == SERVER_LEAF)).tolist()
        held = sorted({str(purpose[link]) for link in mine})
        places = {
            nics: tuple(at for at, network in enumerate(tenant.networks) if not network.nics or nics in network.nics)
            for nics in held
        }
        for at, network in enumerate(tenant.networks):
            for k, nics in enumerate(network.nics):
                if nics not in held:
                    report.error(
                        "FAB147",
                        spec.at("tenants", n, "networks", at, "nics", k),
                        f"network '{tenant.name}/{network.name}': expected NICs of the tenant ({listed(held)}), got '{nics}'",
                        "`nics` of the tenant chooses its ports, `nics` of a network those in it",
                    )
        if bare := [nics for nics in held if not places[nics]]:
            report.error(
                "FAB147",
                spec.at("tenants", n, "networks"),
                f"tenant '{tenant.name}': expected a network for each of its NICs, got none for {listed(bare)}",
                f"add {bare[0]} to `nics` of a network",
            )
            continue
        found |= {link: places[str(purpose[link])] for link in mine}
    return found


def _servers(
    spec: FabricSpec, index: int, tenant: Tenant, names: dict[str, int], rack: Ints, report: Report
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The servers that a tenant selects, by position."""
    chosen = np.zeros(len(rack), dtype=bool)  # servers of one name are refused later, and counted here
    if not tenant.servers and not tenant.racks:
        chosen[:] = True
    for n, text in enumerate(tenant.servers):
        servers = [names[name] for name in _expand(text, names) if name in names]
        if not servers:
            report.error(
                "FAB147",
                spec.at("tenants", index, "servers", n),
                f"tenant '{tenant.name}': expected servers of this fabric, got '{text}'",
                _hint(text, names),
            )
        elif (match := _RANGE.fullmatch(text)) and (named := int(match[3]) - int(match[2]) + 1) > len(servers):
            report.warn(
                "FAB187",
                spec.at("tenants", index, "servers", n),
                f"tenant '{tenant.name}': {text} names {plural(named, 'server')}, the fabric has {len(servers)}",
                "servers added later belong to the tenant as well",
            )
        chosen[servers] = True
    if tenant.racks:
        _check_numbers(spec, index, "racks", tenant.racks, rack, report)
        chosen |= np.isin(rack, np.array(tenant.racks) - 1)
    return chosen


def _hint(text: str, names: dict[str, int]) -> str:
    """What was probably meant by a text that selects no server."""
    match = _RANGE.fullmatch(text)
    if match and int(match[2]) > int(match[3]):
        return f"a range begins with the lower number: {match[1]}{match[3]}..{match[2]}"
    hint = nearest(text, names) if not match and len(names) < 20_000 else ""
    return hint if hint.startswith("did") else f"names such as {next(iter(names), '')}, ranges a-0001..0032, globs a-*"


def _expand(text: str, names: dict[str, int]) -> Iterator[str]:
    """`a-0001..0032` as the names it stands for; a glob as those it matches."""
    match = _RANGE.fullmatch(text)
    if match:
        stem, low, high = match.groups()
        numbers = range(int(low), int(high) + 1)
        if int(high) - int(low) < len(names):
            yield from (f"{stem}{n:0{len(low)}}" for n in numbers)
        else:  # only the named ones: the range may have millions
            parts = ((name, name.removeprefix(stem)) for name in names if name.startswith(stem))
            yield from (name for name, n in parts if n.isdecimal() and int(n) in numbers and n == f"{int(n):0{len(low)}}")
    elif "*" in text or "?" in text:
        yield from (name for name in names if fnmatchcase(name, text))
    else:
        yield text


def _check_numbers(spec: FabricSpec, tenant: int, key: str, numbers: Sequence[int], there: Ints, report: Report) -> None:
    """Reports racks and rails that the fabric does not have."""
    most = int(there.max(initial=-1)) + 1
    for n, number in enumerate(numbers):
        if number - 1 not in there:
            has = f"1 to {most}" if most else f"none, as this fabric knows no {key}"
            report.error(
                "FAB147",
                spec.at("tenants", tenant, key, n),
                f"tenant '{spec.tenants[tenant].name}': expected {key} {has}, got {number}",
                "`per_rack` of the servers says how racks are filled"
                if key == "racks"
                else "`rails` of the topology, from 1",
            )


def _claim(
    spec: FabricSpec, owner: Ints, selected: Ints, tenant: int, devices: Sequence[Device], links: Links, *, report: Report
) -> None:
    """Gives links to a tenant; two tenants never share a port."""
    taken = selected[owner[selected] >= 0]
    if len(taken):
        link, other = int(taken[0]), spec.tenants[int(owner[taken[0]])]
        report.error(
            "FAB148",
            spec.at("tenants", tenant),
            f"tenants '{other.name}' and '{spec.tenants[tenant].name}': expected different ports, both select "
            f"{devices[int(links.a[link])].name} ({plural(len(taken), 'port')} in all)",
            "a port has one tenant; `rails` and `nics` divide a server's ports",
        )
    owner[selected] = tenant


def _attachments(spec: FabricSpec, devices: Sequence[Device], links: Links, owner: Ints) -> None:
    """Attachments: their tenant, or none. A router serves tenants on subinterfaces, its port has no tenant."""
    place = {tenant.name: at for at, tenant in enumerate(spec.tenants)}
    attachments = {attachment.name: attachment for attachment in spec.attachments}
    for link in np.flatnonzero(links.kind == ATTACHMENT):
        device = devices[int(links.a[link])]
        if device.role == ATTACHED and (attachment := attachments.get(device.name)) is not None:
            owner[link] = NO_TENANT if attachment.external else place.get(attachment.tenant or "", CLOSED)


def _warn_empty(spec: FabricSpec, owner: Ints, served: Ints, links: Links, report: Report) -> None:
    closed = np.flatnonzero(owner == CLOSED)
    server = np.isin(closed, served)
    if not spec.ethernet:  # an attachment without a tenant is the place of a subnet manager
        closed, server = closed[server], server[server]
    if len(closed):
        counts = {"server": closed[server], "attachment": closed[~server]}
        fate = "shut" if spec.ethernet else "in the default partition alone"
        ends = [plural(len(np.unique(links.a[rows])), noun) for noun, rows in counts.items() if len(rows)]
        report.warn(
            "FAB187",
            spec.at("tenants"),
            f"fabric '{spec.name}': {plural(len(closed), 'port')} of {' and '.join(ends)} belong to no tenant and are {fate}",
            "a tenant without servers, racks, rails and NICs takes all other ports; `tenant:` assigns an attachment",
        )
    for at, tenant in enumerate(spec.tenants):
        if not (owner == at).any() and names_ports(tenant):
            report.warn("FAB187", spec.at("tenants", at), f"tenant '{tenant.name}' has no port", "")
        _warn_bare(spec, at, owner, report)


def _warn_bare(spec: FabricSpec, at: int, owner: Ints, report: Report) -> None:
    """Networks that no port carries: their gateway and VLAN are configured on no leaf."""
    tenant = spec.tenants[at]
    stated = {attachment.network for attachment in spec.attachments if attachment.tenant == tenant.name}
    ports = int((owner == at).sum()) - sum(a.links for a in spec.attachments if a.tenant == tenant.name and a.network)
    for n, network in enumerate(tenant.networks):
        if ports <= 0 and network.name not in stated:
            report.warn(
                "FAB187",
                spec.at("tenants", at, "networks", n),
                f"network '{tenant.name}/{network.name}' has no port: no leaf has its VLAN and its gateway",
                f"add servers or racks to the tenant, or an attachment with `tenant: {tenant.name}`",
            )
