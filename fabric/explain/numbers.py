"""How the numbers of a device, a port or an address come about."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from fabric.explain import lossless, tenants
from fabric.intent.addressing import Pin
from fabric.plan.devices import CORE, LEAF, SERVER, SPINE, SWITCH_ROLES, Device
from fabric.plan.links import KINDS
from fabric.plan.plan import FabricPlan
from fabric.planner.lossless import length_of


def device(fabric: FabricPlan, subject: str) -> list[str]:
    """A device, or one of its ports (`name:33`, `name:33/2`)."""
    name, _, port = subject.partition(":")
    found = fabric.by_name.get(name)
    if found is None:
        return []
    return _port(fabric, found, port) if port else _device(fabric, found)


def _device(fabric: FabricPlan, found: Device) -> list[str]:
    place = [
        f"{key} {getattr(found, key) + 1}" for key in ("pod", "unit", "rack", "plane", "rail") if getattr(found, key) >= 0
    ]
    group = f" of group {found.group}" if found.group and found.role == SERVER else ""
    head = f"{found.name}: {found.role} {found.number}{group} of fabric {fabric.name}"
    out = [", ".join([head, *([found.model] if found.model else []), *place])]
    if found.role in SWITCH_ROLES:
        pin = _pin(fabric, found)
        pattern = getattr(fabric.spec.intent.names, found.role)
        out.append("  name: pinned" if pin is not None and pin.name else f"  name: by the pattern {pattern}")
        if found.asn:
            out.append(f"  AS number {found.asn}: {_asn_reason(fabric, found)}")
        for what, column, kind in (
            ("loopback", fabric.loopback, "loopback"),
            ("management", fabric.management, "management"),
        ):
            number = int(column[found.index])
            if number >= 0:
                out.append(f"  {what} {ip_address(number)}: {_row(fabric, kind, found.role, found.number - 1, number)}")
        if found.index in fabric.aggregate:
            first, length = fabric.aggregate[found.index]
            out.append(f"  servers {ip_address(first)}/{length}: the block of this leaf; each port takes two addresses of it")
    ends = [(link, end) for link, end in fabric.links.of(found.index)]
    count: dict[str, int] = {}
    columns = fabric.links.lists()
    for link, _ in ends:
        kind = KINDS[columns["kind"][link]]
        count[kind] = count.get(kind, 0) + 1
    out.append("  links: " + (", ".join(f"{number} {kind}" for kind, number in count.items()) or "none"))
    return out


def _pin(fabric: FabricPlan, found: Device) -> Pin | None:
    """What is pinned for a switch, whose name may be pinned too."""
    pins = fabric.spec.intent.pins
    return next((pin for name, pin in pins.items() if (pin.name or name) == found.name), None)


def _asn_reason(fabric: FabricPlan, found: Device) -> str:
    scheme = fabric.spec.intent.underlay.asn.scheme
    pin = _pin(fabric, found)
    if pin is not None and pin.asn is not None:
        return "pinned"
    if scheme == "per-device":
        return "every switch has its own"
    return {
        "leaf": "RFC 7938: every leaf has its own",
        "spine": "RFC 7938: the spines of a pod share one",
        "core": "RFC 7938: all cores share one",
    }[found.role]


def _row(fabric: FabricPlan, kind: str, role: str, row: int, number: int) -> str:
    """The block of the lock that an address comes from."""
    natural = fabric.blocks.get(f"address/{kind}/{role}", ())
    for block in natural:
        if block.row <= row < block.row_end and block.number(row, 0) == number:
            return f"{ip_address(block.base)} + {row - block.row}, the block of {role} {block.row + 1} to {block.row_end}"
    return "pinned, or given up by a pinned switch"


def _port(fabric: FabricPlan, found: Device, port: str) -> list[str]:
    named = re.fullmatch(r"[a-z]+(\d+)(?:p(\d+))?", port) if found.role == SERVER else None  # `compute8`, `compute1p2`
    cage, sub = (named[1], named[2] or "") if named else (port.partition("/")[0], port.partition("/")[2])
    columns, out = fabric.links.lists(), list[str]()
    for link, end in fabric.links.of(found.index):
        own, far = ("a", "b") if end == 0 else ("b", "a")
        if str(columns[f"{own}_cage"][link]) != cage or (sub and str(columns[f"{own}_sub"][link] + 1) != sub):
            continue
        peer = fabric.devices[columns[far][link]]
        split = columns[f"{own}_split"][link]
        far_sub = f"/{columns[f'{far}_sub'][link] + 1}" if columns[f"{far}_split"][link] > 1 else ""
        low = int(fabric.subnet[link])
        subnet = f"{ip_address(low)}/{fabric.subnet_length}" if low >= 0 else "unnumbered"
        whole = f"cage {cage}" + (f", port {columns[f'{own}_sub'][link] + 1} of {split}" if split > 1 else "")
        row = f"slot {columns['column'][link] + 1} of the lower switch, number {columns['row'][link] + 1}"
        out += [
            f"{found.name} {whole}: {KINDS[columns['kind'][link]]} link of {columns['speed_gbps'][link]}G",
            f"  far end: {peer.name} {'NIC' if peer.role == SERVER else 'cage'} {columns[f'{far}_cage'][link]}{far_sub}",
            *(f"  {line}" for line in tenants.port(fabric, link)),
            *([f"  subnet {subnet}: {row}"] if tenants.routed(fabric, link) else []),
            *(f"  {line}" for line in _lossless(fabric, found, columns["speed_gbps"][link], columns["kind"][link])),
        ]
    if out or not cage.isdigit():
        return out
    model = {LEAF: fabric.spec.leaf, SPINE: fabric.spec.spine, CORE: fabric.spec.core}.get(found.role)
    if model is not None and not 1 <= int(cage) <= model.model.cages:
        return [f"{found.name}: {model.switch} has cages 1 to {model.model.cages}"]
    return [f"{found.name} port {port}: no link is planned"]


def _lossless(fabric: FabricPlan, found: Device, speed_gbps: int, kind: int) -> list[str]:
    """What a switch's port needs so that RoCE is not dropped."""
    if fabric.lossless is None or found.role not in SWITCH_ROLES:
        return []
    return lossless.port(fabric.lossless.of(found.role, found.group), (speed_gbps, length_of(fabric.spec, kind)))


def address(fabric: FabricPlan, wanted: IPv4Address | IPv6Address) -> list[str]:
    """Who has an address."""
    number = int(wanted)
    v6 = isinstance(wanted, IPv6Address)
    columns = (fabric.loopback6, fabric.management) if v6 else (fabric.loopback, fabric.management)
    for column in columns:
        for at, value in enumerate(column.tolist()):
            if value == number:
                return _device(fabric, fabric.devices[at])
    of_tenants = tenants.address(fabric, wanted)
    if of_tenants:
        return of_tenants
    links = fabric.links.lists()
    if v6 != (fabric.subnet_length == 127):
        return []
    for at, low in enumerate(fabric.subnet.tolist()):
        if low >= 0 and low <= number <= low + 1 and tenants.routed(fabric, at):
            served = KINDS[links["kind"][at]] in ("server-leaf", "attachments")
            first, second = ("b", "a") if served else ("a", "b")
            side = first if number == low else second
            cage = links[f"{side}_cage"][at]
            own = fabric.devices[links[side][at]]
            split = links[f"{side}_split"][at]
            port = f"{cage}/{links[f'{side}_sub'][at] + 1}" if split > 1 else str(cage)
            return [f"{wanted} is one end of a link:", *_port(fabric, own, port)]
    return []


def asn(fabric: FabricPlan, wanted: int) -> list[str]:
    """Who has an AS number."""
    return [
        f"{found.name}: AS number {wanted}: {_asn_reason(fabric, found)}" for found in fabric.switches if found.asn == wanted
    ]
