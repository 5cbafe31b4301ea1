"""Arithmetic of the numbers of a device, a port or an address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np

from fabric.configs.port_names import PortNames
from fabric.design.explain import lossless, tenants
from fabric.design.explain.counts import of_kind
from fabric.model.plan import (
    ATTACHMENT,
    CORE,
    KINDS,
    LEAF,
    SERVER,
    SERVER_LEAF,
    SPINE,
    SWITCH_ROLES,
    Device,
    FabricPlan,
    PortRef,
)
from fabric.model.settings.addressing import Pin


def device(fabric: FabricPlan, subject: str) -> list[str]:
    """A device, or one of its ports (`name:33`, `name:33/2`)."""
    name, _, port = subject.partition(":")
    found = fabric.by_name.get(name)
    if found is None:
        return []
    return _port(fabric, found, port) if port else _device(fabric, found)


def _device(fabric: FabricPlan, device: Device) -> list[str]:
    place = [
        f"{key} {getattr(device, key) + 1}" for key in ("pod", "unit", "rack", "plane", "rail") if getattr(device, key) >= 0
    ]
    group = f" of group {device.group}" if device.group and device.role == SERVER else ""
    head = f"{device.name}: {device.role} {device.number}{group} of fabric {fabric.name}"
    out = [", ".join([head, *([device.model] if device.model else []), *place])]
    if device.role in SWITCH_ROLES:
        pin = _pin(fabric, device)
        pattern = getattr(fabric.spec.names, device.role)
        out.append("  name: pinned" if pin is not None and pin.name else f"  name: by the pattern {pattern}")
        if device.asn:
            out.append(f"  AS number {device.asn}: {_asn_reason(fabric, device)}")
        for label, column, kind in (
            ("loopback", fabric.loopback, "loopback"),
            ("management", fabric.management, "management"),
        ):
            number = int(column[device.index])
            if number >= 0:
                out.append(f"  {label} {ip_address(number)}: {_row(fabric, kind, device.role, device.number - 1, number)}")
        if device.index in fabric.aggregate:
            first, length = fabric.aggregate[device.index]
            out.append(f"  servers {ip_address(first)}/{length}: the block of this leaf; {_takers(fabric, device)}")
    ends = [(link, end) for link, end in fabric.links.of(device.index)]
    count: dict[str, int] = {}
    columns = fabric.links.lists()
    for link, _ in ends:
        kind = KINDS[columns["kind"][link]]
        count[kind] = count.get(kind, 0) + 1
    out.append("  links: " + (", ".join(of_kind(kind, number) for kind, number in count.items()) or "none"))
    return out


def _takers(fabric: FabricPlan, leaf: Device) -> str:
    """The ports of a leaf with addresses of its block."""
    served = [link for link, _ in fabric.links.of(leaf.index) if fabric.links.kind[link] in (SERVER_LEAF, ATTACHMENT)]
    count = sum(tenants.routed(fabric, link) for link in served)
    if count == len(served):
        return "each port takes two addresses from it"
    return "each routed port takes two addresses from it" if count else "unused: no port is routed"


def _pin(fabric: FabricPlan, found: Device) -> Pin | None:
    """The pin of a switch, by its pinned name too."""
    pins = fabric.spec.pins
    return next((pin for name, pin in pins.items() if (pin.name or name) == found.name), None)


def _asn_reason(fabric: FabricPlan, device: Device) -> str:
    scheme = fabric.spec.underlay.asn.scheme
    pin = _pin(fabric, device)
    if pin is not None and pin.asn is not None:
        return "pinned"
    if scheme == "per-device":
        return "every switch has its own"
    return {
        "leaf": "RFC 7938: every leaf has its own",
        "spine": "RFC 7938: the spines of a pod share one",
        "core": "RFC 7938: all cores share one",
    }[device.role]


def _row(fabric: FabricPlan, kind: str, role: str, row: int, number: int) -> str:
    """The block of the lock that an address comes from."""
    natural = fabric.blocks.get(f"address/{kind}/{role}", ())
    for block in natural:
        if block.row <= row < block.row_end and block.number(row, 0) == number:
            return f"{ip_address(block.base)} + {row - block.row}, the block of {role} {block.row + 1} to {block.row_end}"
    return "pinned, or released by a pinned switch"


def _port(fabric: FabricPlan, device: Device, port: str) -> list[str]:
    """A port by its label or by its name on the device; a label of a cage alone means all its ports."""
    columns, names, out = fabric.links.lists(), PortNames(fabric), list[str]()
    for link, end in fabric.links.of(device.index):
        near, far = ("a", "b") if end == 0 else ("b", "a")
        ref = names.ref(link, near)
        if port not in (f"{ref.cage}", f"{ref.cage}/{ref.sub + 1}", names.label(device, ref), names.port_name(device, ref)):
            continue
        peer, row = fabric.devices[columns[far][link]], columns["row"][link] + 1
        low = int(fabric.subnet[link])
        subnet = f"{ip_address(low)}/{fabric.subnet_length}" if low >= 0 else "unnumbered"
        slot = f"slot {columns['column'][link] + 1} of the lower switch, number {row}"
        out += [
            f"{device.name} {_called(names, device, ref)}: {KINDS[columns['kind'][link]].removesuffix('s')} link of "
            f"{ref.speed_gbps}G",
            f"  far end: {peer.name} {_called(names, peer, names.ref(link, far), far=True)}",
            *(f"  {line}" for line in tenants.port(fabric, link, end)),
            *([f"  subnet {subnet}: {slot}"] if tenants.routed(fabric, link) else []),
            *(f"  {line}" for line in _lossless(fabric, device, columns["speed_gbps"][link], columns["kind"][link])),
        ]
    return out or _uncabled(names, device, port)


def _called(names: PortNames, device: Device, ref: PortRef, *, far: bool = False) -> str:
    """`compute1`, `cage 33, port 2 of 2 (Ethernet260)`; a far end more briefly: `cage 33/2 (Ethernet260)`."""
    label, own = names.label(device, ref), names.port_name(device, ref)
    if device.role not in SWITCH_ROLES:
        text = label if device.role == SERVER else f"port {label}"
    elif far or ref.split == 1:
        text = f"cage {label}"
    else:
        text = f"cage {ref.cage}, port {ref.sub + 1} of {ref.split}"
    return text + (f" ({own})" if own and own != label else "")


def _uncabled(names: PortNames, device: Device, port: str) -> list[str]:
    model = {LEAF: names.fabric.spec.leaf, SPINE: names.fabric.spec.spine, CORE: names.fabric.spec.core}.get(device.role)
    cage = port.partition("/")[0]
    if model is not None and cage.isdigit() and not 1 <= int(cage) <= model.model.cages:
        return [f"{device.name}: {model.switch} has cages 1 to {model.model.cages}"]
    if cage.isdigit():
        return [f"{device.name} port {port}: no link is planned"]
    if model is None:
        return []
    there = next((ref for ref in names.possible(device) if names.port_name(device, ref) == port), None)
    return [f"{device.name} {_called(names, device, there)}: no link is planned"] if there is not None else []


def _lossless(fabric: FabricPlan, found: Device, speed_gbps: int, kind: int) -> list[str]:
    """Lossless settings of a switch port."""
    if fabric.lossless is None or found.role not in SWITCH_ROLES:
        return []
    return lossless.port(fabric.lossless.of(found.role, found.group), speed_gbps, fabric.spec.lengths[kind])


def address(fabric: FabricPlan, searched: IPv4Address | IPv6Address) -> list[str]:
    """The owner of an address."""
    number = int(searched)
    v6 = isinstance(searched, IPv6Address)
    columns = (fabric.loopback6, fabric.management) if v6 else (fabric.loopback, fabric.management)
    for column in columns:
        for link, value in enumerate(column.tolist()):
            if value == number:
                return _device(fabric, fabric.devices[link])
    of_tenants = tenants.address(fabric, searched)
    if of_tenants:
        return of_tenants
    if v6 != (fabric.subnet_length == 127):
        return []
    links, names = fabric.links.lists(), PortNames(fabric)
    for link in np.flatnonzero((fabric.subnet == number) | (fabric.subnet == number - 1)).tolist():
        if tenants.routed(fabric, link):
            served = KINDS[links["kind"][link]] in ("server-leaf", "attachments")
            first, second = ("b", "a") if served else ("a", "b")
            side = first if number == int(fabric.subnet[link]) else second
            near = fabric.devices[links[side][link]]
            return [f"{searched} is one end of a link:", *_port(fabric, near, names.label(near, names.ref(link, side)))]
    return [
        f"{searched}: in the block {ip_address(first)}/{length} of the servers of {fabric.devices[leaf].name}; "
        "not assigned to a port"
        for leaf, (first, length) in fabric.aggregate.items()
        if ip_address(first).version == searched.version and searched in ip_network(f"{ip_address(first)}/{length}")
    ]


def asn(fabric: FabricPlan, wanted: int) -> list[str]:
    """Switches and external routers with an AS number."""
    return [
        *(
            f"{found.name}: AS number {wanted}: {_asn_reason(fabric, found)}"
            for found in fabric.switches
            if found.asn == wanted
        ),
        *tenants.router(fabric, wanted),
    ]
