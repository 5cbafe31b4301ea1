"""The files of the plan itself: counts and devices as JSON, every link and every BGP session beyond the underlay as CSV."""

from __future__ import annotations

import csv
import io
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address, ip_address
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.base.formats import csv_text, json_line
from fabric.base.text import ipv4
from fabric.configs.port_names import PortNames
from fabric.configs.view_of import Views
from fabric.model.plan import KINDS, Device, FabricPlan, Plan, Port, SwitchView, lock_file as lock
from fabric.model.plan.summary import summary
from fabric.nos.policy import Policy, external_policy, vrf_policy

# --- Columns beside the links: addresses that ports really have, and what tenants make of the ports -----------


def routed(fabric: FabricPlan) -> NDArray[np.bool_]:
    """Per link whether the ports have the link's own subnet: not where layer 2 or subinterfaces take its place."""
    if not fabric.spec.ethernet:
        return np.zeros(len(fabric.links), dtype=bool)
    there = np.asarray(fabric.subnet >= 0, dtype=bool) & ~fabric.tenancy.bridged
    there[[connection.link for connection in fabric.tenancy.external_connections if connection.address is not None]] = False
    return there


def addresses(fabric: FabricPlan) -> tuple[list[str], list[str]]:
    """Of the ends `a` and `b`. A server in networks has one in each that has a gateway; several are divided by blanks."""
    text = _speller(fabric)
    first_end = fabric.first_end.tolist()
    a, b = [""] * len(first_end), [""] * len(first_end)
    subnet = fabric.subnet.tolist()
    for link in np.flatnonzero(routed(fabric)).tolist():
        low, upper = subnet[link], first_end[link]
        a[link], b[link] = text(low + upper), text(low + (1 - upper))
    for link, numbers in _in_networks(fabric).items():
        a[link] = " ".join(str(ip_address(number)) for _, number in sorted(numbers))
    return a, b


def tenants(fabric: FabricPlan) -> tuple[list[str], list[str], list[object]]:
    """Tenant, VLANs and bond of every link, "" where it has none. VLANs of several networks come tagged."""
    tenancy = fabric.tenancy
    owner = np.array([*(tenant.name for tenant in tenancy.tenants), "", ""], dtype=object)[tenancy.owner].tolist()
    tags = [" ".join(str(vlan) for vlan in sorted(n.vlan for n in tenant.networks)) for tenant in tenancy.tenants]
    vlans = np.array([*tags, "", ""], dtype=object)[tenancy.owner].tolist()
    for link in tenancy.chosen:
        vlans[link] = " ".join(str(vlan) for vlan in sorted(n.vlan for n in tenancy.networks(link)))
    slices: dict[int, list[int]] = {}
    for connection in tenancy.external_connections:
        if connection.tenant >= 0:
            slices.setdefault(connection.link, []).append(connection.tenant)
    for link, served in slices.items():
        owner[link] = " ".join(tenancy.tenants[at].name for at in served)
        vlans[link] = " ".join(str(tenancy.tenants[at].tag) for at in served)
    return owner, vlans, [lag or "" for lag in tenancy.lag.tolist()]


def _in_networks(fabric: FabricPlan) -> dict[int, list[tuple[int, int]]]:
    """Link → VLAN and address of its server in every network."""
    found: dict[int, list[tuple[int, int]]] = {}
    for (at, n), given in fabric.tenancy.hosts.items():
        vlan = fabric.tenancy.tenants[at].networks[n].vlan
        for link, number in given.items():
            found.setdefault(link, []).append((vlan, number))
    return found


def _speller(fabric: FabricPlan) -> Callable[[int], str]:
    return _ipv6 if fabric.subnet_length == 127 else ipv4


def _ipv6(number: int) -> str:
    """Several times as fast as the ipaddress module; that one spells what may look like IPv4."""
    if number >> 48 == 0 or number >> 32 == 0xFFFF:
        return str(IPv6Address(number))
    return socket.inet_ntop(socket.AF_INET6, number.to_bytes(16, "big"))


# --- Counts, devices and links --------------------------------------------------------------------------------

# New columns come last; readers take columns by name.
LINK_COLUMNS: tuple[str, ...] = (
    *("fabric", "kind", "speed_gbps", "length_m", "a", "a_port", "b", "b_port", "a_address", "b_address"),
    *("a_port_name", "b_port_name", "tenant", "vlan", "bond"),
)
PANEL_COLUMNS = ("panel", "a_panel_port", "b_panel_port")  # of a site with patch panels


def plan_json(plan: Plan) -> str:
    """Counts of every fabric, then its switches, a line each."""
    out = ["{", f' "site": {json_line(plan.site)},', ' "fabrics": {']
    for at, (name, fabric) in enumerate(plan.fabrics.items()):
        out.append(f"  {json_line(name)}: {{")
        counts = summary(fabric.spec, fabric.sizing)
        out += [f"   {json_line(key)}: {json_line(value)}," for key, value in counts.items()]
        rows = [f"    {json_line(device.name)}: {json_line(_switch(fabric, device))}" for device in fabric.switches]
        out += ['   "devices": {', ",\n".join(rows), "   }"]
        out.append("  }" + ("," if at < len(plan.fabrics) - 1 else ""))
    return "\n".join([*out, " }", "}"]) + "\n"


def _switch(fabric: FabricPlan, device: Device) -> dict[str, Any]:
    """One switch; coordinates count from 1, and what it has not is left out."""
    row: dict[str, Any] = {"role": device.role, "model": device.model, "nos": device.nos, "asn": device.asn}
    row["loopback"] = str(ip_address(int(fabric.loopback[device.index])))
    row["management"] = str(ip_address(int(fabric.management[device.index])))
    for key in ("unit", "rack", "pod", "plane", "rail"):
        value = getattr(device, key)
        if value >= 0:
            row[key] = value + 1
    return row


def links_csv(plan: Plan) -> str:
    """Every link of the site. Ports: `33`, `33/2` for the second port of a broken-out cage, `compute1`, `compute1p2`."""
    panels = any(fabric.patching for fabric in plan.fabrics.values())
    rows = (row for name, fabric in plan.fabrics.items() for row in _links(name, fabric, panels))
    return csv_text((*LINK_COLUMNS, *(PANEL_COLUMNS if panels else ())), rows)


def _links(name: str, fabric: FabricPlan, panels: bool) -> Iterator[tuple[object, ...]]:
    """The rows of one fabric: whole columns are made, then read across. `panels`: with those of patch panels."""
    links, names = fabric.links.lists(), PortNames(fabric)
    lengths = fabric.spec.length_m
    devices, metres = [device.name for device in fabric.devices], [lengths[kind] for kind in KINDS]
    lower = [devices[index] for index in links["a"]]
    if fabric.spec.below is not None:
        for link, device in fabric.management_ports.items():
            lower[link] = device.name
    (a_port, a_name), (b_port, b_name) = names.columns("a"), names.columns("b")
    yield from zip(
        repeat(name, len(fabric.links)),
        [KINDS[kind] for kind in links["kind"]],
        links["speed_gbps"],
        [metres[kind] for kind in links["kind"]],
        lower,
        a_port.tolist(),
        [devices[index] for index in links["b"]],
        b_port.tolist(),
        *addresses(fabric),
        a_name.tolist(),
        b_name.tolist(),
        *tenants(fabric),
        *(_panels(fabric) if panels else ()),
        strict=True,
    )


def _panels(fabric: FabricPlan) -> list[tuple[object, ...]]:
    """Panel of every link, and its two ports there."""
    ends = fabric.patching.ends if fabric.patching else [None] * len(fabric.links)
    return list(zip(*(its or ("", "", "") for its in ends), strict=True)) or [(), (), ()]


def upper_ends(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Lower end → upper end and speed of the links of a table, older ones too; what is no such table gives none.

    Management ports share the name of their attachment: what several links have says nothing of one of them.
    """
    try:
        rows = csv.reader(io.StringIO(text))
        header = next(rows, [])
        lower = itemgetter(*(header.index(column) for column in ("fabric", "a", "a_port")))
        upper = itemgetter(*(header.index(column) for column in ("b", "b_port", "speed_gbps")))
        pairs = [(lower(row), upper(row)) for row in rows if row]
    except (csv.Error, ValueError, IndexError):
        return {}
    times = Counter(end for end, _ in pairs)
    return {end: far for end, far in pairs if times[end] == 1}


# --- BGP sessions beyond the underlay: external connections, and VRF-lite on every fabric link ----------------

SESSION_COLUMNS: tuple[str, ...] = (
    *("fabric", "kind", "device", "interface", "vlan", "vrf", "address", "asn"),
    *("peer", "peer_interface", "peer_address", "peer_asn", "prefixes_in", "prefixes_out"),
)
EXTERNAL, VRF_LITE = "external", "vrf-lite"

Row = tuple[object, ...]


def sessions_csv(plan: Plan) -> str:
    """Every session; "" where a site has none."""
    rows = list(sessions(plan))
    return csv_text(SESSION_COLUMNS, rows) if rows else ""


def sessions(plan: Plan) -> Iterator[Row]:
    """By fabric and switch; external connections first."""
    for fabric in plan.fabrics.values():
        everywhere = fabric.tenancy.kind == VRF_LITE
        borders = {int(fabric.links.b[connection.link]) for connection in fabric.tenancy.external_connections}
        if not (everywhere or borders) or not fabric.spec.ethernet:
            continue
        views, names = Views(plan, fabric), PortNames(fabric)
        for device in fabric.switches:
            if everywhere or device.index in borders:
                view = views.of(device)
                yield from _external_rows(fabric, view, names)
                yield from _vrf_rows(fabric, view, names)


def _external_rows(fabric: FabricPlan, view: SwitchView, names: PortNames) -> Iterator[Row]:
    for external in view.externals:
        policy, port_name = external_policy(view, external), names.port_name(view.device, external.port.ref)
        yield (
            *(
                fabric.name,
                EXTERNAL,
                view.device.name,
                _interface(port_name, external.tag),
                external.tag or "",
                external.vrf,
                external.address,
            ),
            *(view.device.asn, external.peer, "", external.peer_address, external.peer_asn),
            *(_prefixes(policy, policy.imports), _prefixes(policy, policy.exports)),
        )


def _vrf_rows(fabric: FabricPlan, view: SwitchView, names: PortNames) -> Iterator[Row]:
    for vrf in view.vrfs:
        if not vrf.sessions:
            continue
        policy = vrf_policy(view, vrf)
        both = _prefixes(policy, policy.imports), _prefixes(policy, policy.exports)
        for session in vrf.sessions:
            part = next(part for part in session.port.subinterfaces if part.tag == session.tag)
            port_name = names.port_name(view.device, session.port.ref)
            yield (
                *(fabric.name, VRF_LITE, view.device.name, _interface(port_name, part.tag), part.tag, vrf.name, part.address),
                *(view.device.asn, session.peer.name, _interface(_far(names, session.peer, session.port), part.tag)),
                *(part.peer_address, session.peer_asn, *both),
            )


def _far(names: PortNames, peer: Device, port: Port) -> str:
    return names.port_name(peer, port.peer.port) if port.peer is not None and port.peer.port is not None else ""


def _interface(name: str, tag: int) -> str:
    return f"{name}.{tag}" if name and tag else name


def _prefixes(policy: Policy, name: str) -> str:
    """The entries of a list: a prefix alone, or with those inside it up to the length `le`; `deny` before one refused."""
    return "; ".join(entry.rule for found in policy.lists if found.name == name for entry in found.entries)


# --- The files ------------------------------------------------------------------------------------------------

ATTRIBUTES = ".gitattributes"
GIT_ATTRIBUTES = """\
# Written by `fabric generate`. After `git merge` run it again: it settles the numbers of both branches and writes every file.
* text eol=lf -merge
lock.yaml merge=union
manifest.txt merge=union
"""


def site_files(made: Plan) -> Iterator[tuple[str, bytes]]:
    """How git merges the folder, the lock, the counts, every link; sessions beyond the underlay where there are any."""
    yield ATTRIBUTES, GIT_ATTRIBUTES.encode()
    yield lock.FILE, lock.text(made.lock).encode()
    yield "plan.json", plan_json(made).encode()
    yield "links.csv", links_csv(made).encode()
    if text := sessions_csv(made):
        yield "sessions.csv", text.encode()
