"""The arithmetic behind one number, recomputed by the stages that computed it: of a device, a port, an address, a buffer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest
from fabric.base.text import plural
from fabric.configs.port_names import PortNames
from fabric.design.explain import counts, tenants
from fabric.design.explain.counts import Case, asked_for, of_kind, sessions
from fabric.design.planner import lossless
from fabric.design.planner.lossless import cabled
from fabric.hardware.headroom import explain as terms
from fabric.model.plan import (
    ATTACHMENT,
    CORE,
    KINDS,
    LEAF,
    SERVER,
    SERVER_LEAF,
    SPINE,
    SWITCH_ROLES,
    Buffer,
    Device,
    FabricPlan,
    FabricSpec,
    Length,
    Lossless,
    Plan,
    PortRef,
    RoleLossless,
    Sizing,
    lock_file as lock,
    source,
    words,
)
from fabric.model.settings.addressing import Pin
from fabric.model.settings.services import ECN_RULES

_NONE = "no lossless class: `qos: {enabled: true}` enables one; compute and storage fabrics have one by default"


def headroom(case: Case) -> list[str]:
    """The headroom of every kind of port of every kind of switch, and the sum of each switch."""
    lossless_class = lossless.lossless(case.spec, case.sizing, Report(), case.attached)
    if lossless_class is None:
        return [_NONE]
    out = [f"cable lengths: {words(case.spec.lengths)}"]
    for (role, group), entry in lossless_class.roles.items():
        tier = getattr(case.spec, role)
        out.append(f"{role}{' of ' + group if group else ''} ({tier.switch}, {tier.model.asic or 'chip unknown'})")
        for place, count in sorted(entry.counts.items()):
            out.append(f"  {plural(count, 'port')} of {place[0]}G, cables of {place[1]} m:")
            out += [f"    {line}" for line in terms(entry.headroom[place])]
        out += [f"  {line}" for line in _buffer(entry.qos.buffer, entry)]
    return out


def ecn(case: Case) -> list[str]:
    """ECN thresholds of every kind of port, and the XOFF threshold."""
    lossless_class = lossless.lossless(case.spec, case.sizing, Report(), case.attached)
    if lossless_class is None:
        return [_NONE]
    ecn_settings = case.spec.qos.ecn
    out = [f"rule '{ecn_settings.rule}': {_rule(ecn_settings.rule)}", f"  source: {ECN_RULES[ecn_settings.rule].source}"]
    for (role, group), entry in lossless_class.roles.items():
        out.append(f"{role}{' of ' + group if group else ''} ({getattr(case.spec, role).switch})")
        out += [f"  {line}" for line in _trigger(entry.qos.buffer, sum(entry.counts.values()))]
        out += [f"  {place[0]}G at {place[1]} m: {marking(port)}" for place, port in sorted(entry.ports.items())]
    return out


def port(entry: RoleLossless, speed_gbps: int, length: Length) -> list[str]:
    """Headroom and ECN thresholds of one port."""
    place = (speed_gbps, length.metres)
    port_lossless = entry.ports.get(place)
    if port_lossless is None:
        return []
    return [
        f"lossless class: PFC priority {entry.qos.priority}, DSCP {entry.qos.dscp}; "
        f"a cable of {place[1]} m ({source(length)})",
        *(f"  {line}" for line in terms(entry.headroom[place])),
        f"  ECN: {marking(port_lossless)}",
    ]


def marking(port: Lossless) -> str:
    found = port.marking
    by = "stated in the intent" if found.rule == "stated" else f"rule '{found.rule}'"
    return f"Kmin {found.kmin_bytes:,}, Kmax {found.kmax_bytes:,} bytes, Pmax {found.pmax_percent} %, {by}"


def _rule(name: str) -> str:
    rule = ECN_RULES[name]
    unit = "bytes per Gb/s" if rule.per_gbps else "bytes"
    kept = "; Kmin at most half of the worst-case XOFF threshold, Kmax at most all of it" if rule.per_gbps else ""
    return f"Kmin {rule.kmin_bytes:,}, Kmax {rule.kmax_bytes:,} {unit}, Pmax {rule.pmax_percent} %{kept}"


def _buffer(buffer: Buffer, entry: RoleLossless) -> list[str]:
    parts = " + ".join(f"{count} x {entry.headroom[place].size_bytes:,}" for place, count in sorted(entry.counts.items()))
    pool = f" + {buffer.headroom_pool_bytes:,} of shared headroom, every port at once" if buffer.headroom_pool_bytes else ""
    out = [f"reserved = {parts}{pool} = {buffer.reserved_bytes:,} bytes"]
    if buffer.total_bytes is None or buffer.shared_bytes is None:
        return [*out, "buffer size of the model unknown: fit not checked"]
    return [*out, f"shared = {buffer.total_bytes:,} of buffer - {buffer.reserved_bytes:,} = {buffer.shared_bytes:,} bytes"]


def _trigger(buffer: Buffer, count: int) -> list[str]:
    if buffer.trigger_bytes is None or buffer.shared_bytes is None:
        return ["XOFF threshold: unknown, because the buffer size is unknown"]
    alpha = 2.0**buffer.alpha_exponent
    return [
        f"PFC: with all n = {count} lossless ports congested a priority group sends PAUSE from "
        f"alpha x shared / (1 + n x alpha)",
        f"  = {alpha:g} x {buffer.shared_bytes:,} / (1 + {count} x {alpha:g}) = {buffer.trigger_bytes:,} bytes; "
        "alpha of SONiC; other network OSes may use another",
    ]


LOSSLESS_TOPICS = {
    "headroom": ("PFC headroom of every kind of port, term by term, and its part of the buffer", headroom),
    "ecn": ("ECN thresholds, and the buffer fill at which PFC sends PAUSE", ecn),
}


# --- Arithmetic of the numbers of a device, a port or an address ----------------------------------------------


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
        "leaf": "the leaves of a pair share one" if scheme == "per-pair" else "RFC 7938: every leaf has its own",
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
        subnet = f"{ip_network((low, fabric.link_length(link)), strict=False)}" if low >= 0 else "unnumbered"
        lower = "server" if fabric.spec.switchless else "switch"
        slot = f"slot {columns['column'][link] + 1} of the lower {lower}, number {row}"
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
    ref = next((ref for ref in names.possible(device) if names.port_name(device, ref) == port), None)
    return [f"{device.name} {_called(names, device, ref)}: no link is planned"] if ref is not None else []


def _lossless(fabric: FabricPlan, found: Device, speed_gbps: int, kind: int) -> list[str]:
    """Lossless settings of a switch port."""
    if fabric.lossless is None or found.role not in SWITCH_ROLES:
        return []
    return port(fabric.lossless.of(found.role, found.group), speed_gbps, fabric.spec.lengths[kind])


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
            first, second = ("b", "a") if fabric.first_end[link] else ("a", "b")
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


# --- one number -----------------------------------------------------------------------------------------------

TOPICS = {**counts.TOPICS, **LOSSLESS_TOPICS}
OF_PORTS = ("units", "uplinks", "spines", "cores", "limits")  # follow from the ports that a switch can have


Planned = Callable[[], Plan]  # makes the whole plan, for subjects that need wiring or numbers


def explain(
    subject: str, sized: Mapping[str, tuple[FabricSpec, Sizing]], site_lock: lock.Lock, planned: Planned, file: str
) -> list[str]:
    """Lines that explain a subject: `backend.spines`, a device, `device:port`, an address, an AS number.

    Without a subject: the list of subjects. Raises InputError for a subject that does not exist.
    """
    if not subject:
        return [
            "Subjects:",
            *(f"  {name}.{topic:18} {text}" for name in sized for topic, (text, _) in TOPICS.items()),
            "  a device, such as " + f"{next(iter(sized))}-leaf001",
            "  a port of a device, such as " + f"{next(iter(sized))}-leaf001:33 or :33/2, or by its name on the device",
            "  an address, an AS number or a VNI of the plan, or a tenant",
        ]
    name, _, topic = subject.rpartition(".")
    if topic in TOPICS and (name in sized or (not name and len(sized) == 1)):
        spec, sizing = sized[name or next(iter(sized))]
        wired = site_lock.fabrics.get(spec.name, lock.FabricLock()).pods
        explain = counts.without_switches if spec.switchless else TOPICS[topic][1]
        lines = explain(_case(planned, Case(spec, sizing, wired), topic))
        return lines + counts.unused_splits(spec) * (topic in OF_PORTS)
    plan = planned()
    try:
        as_address = ip_address(subject)
    except ValueError:
        as_address = None
    lines = []
    for fabric in plan.fabrics.values():
        if as_address is not None:
            lines += address(fabric, as_address)
        elif subject.isdigit():
            lines += [*asn(fabric, int(subject)), *tenants.number(fabric, int(subject))]
        else:
            lines += device(fabric, subject) or tenants.tenant(fabric, subject)
    if not lines:
        topics = [f"{name}.{topic}" for name in sized for topic in TOPICS]
        devices = [device.name for fabric in plan.fabrics.values() for device in fabric.devices][:5000]
        names = [tenant.name for fabric in plan.fabrics.values() for tenant in fabric.tenancy.tenants]
        place = Place(file)
        raise InputError(
            [
                Diagnostic(
                    "FAB171", place, f"nothing to explain under '{subject}'", nearest(subject, [*topics, *names, *devices])
                )
            ]
        )
    return lines


def _case(planned: Planned, case: Case, topic: str) -> Case:
    """The case with attachments and sessions of the wired fabric; without them if the design is rejected."""
    spec = case.spec
    of_attachments = topic in LOSSLESS_TOPICS and bool(spec.attachments)
    of_sessions = topic == "bgp" and asked_for(spec)
    if not (of_attachments or of_sessions):
        return case
    try:
        fabric = planned().fabrics[spec.name]
    except InputError:
        return case
    if of_attachments:
        return replace(case, attached=cabled(fabric.spec, fabric.devices, fabric.links))
    return replace(case, sessions=sessions(fabric))
