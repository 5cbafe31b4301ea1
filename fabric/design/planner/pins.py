"""Pins of single switches: names, AS numbers, addresses, ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from netaddr import IPAddress, IPNetwork

from fabric.base.diagnostics import Place, Report, nearest
from fabric.base.text import plural
from fabric.design.planner.pools import PoolSet
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import CORE, LEAF, SPINE, SWITCH_ROLES, Device, FabricPlan, FabricSpec, Ints, Links, asn_rows
from fabric.model.settings.addressing import RESERVED_ASNS

_FREE_ASN = "choose a number of no other switch; `underlay.asn.ranges` sets those that are handed out"


def values(spec: FabricSpec, switches: Sequence[Device], key: str) -> dict[int, Any]:
    """Position of a switch → what is pinned for it."""
    if not key or not spec.pins:
        return {}
    pins = dict(spec.pins)
    if key not in ("name", "asn"):  # read after pinned names are applied
        pins = {pin.name or name: pin for name, pin in pins.items()}
    return {
        at: value
        for at, device in enumerate(switches)
        if (pin := pins.get(device.name)) is not None and (value := getattr(pin, key)) is not None
    }


def rename(spec: FabricSpec, devices: list[Device], report: Report) -> list[Device]:
    """Devices with pinned names; a pin for a switch that does not exist is a mistake."""
    switches = {device.name for device in devices if device.role in SWITCH_ROLES}
    for name in spec.pins:
        if name not in switches:
            report.error(
                "FAB139",
                spec.at("pins", name),
                f"pins: unknown switch '{name}'",
                nearest(name, switches) if len(switches) < 20_000 else "",
            )
    pinned_names = values(spec, devices, "name")
    _check_names(spec, devices, pinned_names, report)
    return [replace(d, name=pinned_names[at]) if at in pinned_names else d for at, d in enumerate(devices)]


def _check_names(spec: FabricSpec, devices: Sequence[Device], pinned_names: Mapping[int, str], report: Report) -> None:
    """A pinned name that another device of the fabric has."""
    taken = (
        {device.name.lower(): device.name for index, device in enumerate(devices) if index not in pinned_names}
        if pinned_names
        else {}
    )
    for name, pin in spec.pins.items():
        if pin.name is None:
            continue
        other = taken.setdefault(pin.name.lower(), f"the switch pinned as {name}")
        if other != f"the switch pinned as {name}":
            report.error(
                "FAB138",
                spec.at("pins", name, "name"),
                f"pins.{name}.name: expected a unique name, got '{pin.name}', the name of {other}",
                "use a name that no device of the site has",
            )


def check_asns(spec: FabricSpec, switches: Sequence[Device], asns: Ints, report: Report) -> None:
    """Reports pinned AS numbers that another tier, leaf or pod has, as their routes would be rejected; `asns`: [switches]."""
    owners: dict[int, set[tuple[str, int]]] = {}
    rows = asn_rows(spec.underlay.asn.scheme, switches)
    for device, asn in zip(switches, asns.tolist(), strict=True):
        apart = rows[device.index] if device.role == LEAF else device.pod
        owners.setdefault(asn, set()).add((device.role, apart))
    for name, pin in spec.pins.items():
        if pin.asn is None:
            continue
        place, others = spec.at("pins", name, "asn"), owners.get(pin.asn, set())
        if pin.asn in RESERVED_ASNS:
            message = f"pins.{name}.asn: expected an AS number that is not reserved, got {pin.asn}"
            report.error("FAB139", place, message, _FREE_ASN)
        elif len(others) > 1:
            roles = {role for role, _ in others}
            where = "another tier" if len(roles) > 1 else "another leaf" if LEAF in roles else "another pod"
            message = f"pins.{name}.asn: {pin.asn} is in use on {where}: its routes would be rejected (AS path loop)"
            report.error("FAB139", place, message, _FREE_ASN)


def check_addresses(plans: Iterable[FabricPlan], pools: Mapping[str, PoolSet], report: Report) -> None:
    """Pinned addresses must be free in the whole site, be in no other pool, and not be a reserved address of a subnet."""
    plans = tuple(plans)
    for kind in ("loopback", "management"):
        count = Counter(value for plan in plans for value in getattr(plan, kind).tolist() if value >= 0)
        for plan in plans:
            for name, pin in plan.spec.pins.items():
                text = getattr(pin, kind)
                if text is None:
                    continue
                place, address = plan.spec.at("pins", name, kind), IPAddress(text)
                if count[int(address)] > 1:
                    message = f"pins.{name}.{kind}: {text} is in use on another switch"
                    report.error("FAB139", place, message, "use a unique value for each switch")
                for problem, hint in _problems(plan, pools[plan.name], kind, address):
                    report.error("FAB139", place, f"pins.{name}.{kind}: {text} {problem}", hint)


def _problems(plan: FabricPlan, pools: PoolSet, pool: str, address: IPAddress) -> Iterator[tuple[str, str]]:
    """What is wrong with a pinned address, and the hint."""
    others = [(other, prefix) for other, prefixes in plan.prefixes.items() if other != pool for prefix in prefixes]
    taken = [(other, prefix) for other, prefix in others if address in IPNetwork(prefix)]
    for other, prefix in taken:
        yield f"lies in the pool '{other}' ({prefix})", f"expected an address of the pool '{pool}', or of none"
    subnets = [IPNetwork(prefix) for prefix in plan.prefixes[pool]] if pool == "management" else []
    if subnets and not taken and not any(address in net for net in subnets):
        yield "lies in no management subnet, so its gateway cannot be reached", "add the subnet to `pools.management`"
    for net in subnets:
        if address not in net or net.size <= 4:
            continue
        reserved = {net.first: "first address", pools.gateway_of(net): "gateway", net.last: "last address"}
        if int(address) in reserved:
            yield (
                f"is the {reserved[int(address)]} of the management subnet {net}",
                "expected an address other than the first, the last and the gateway",
            )


def move_ports(spec: FabricSpec, devices: Sequence[Device], links: Links, report: Report) -> Links:
    """Moves links to pinned ports; a link on such a port moves to the released port.

    The pinned links of a switch leave their ports before the first of them takes its new one.
    """
    pinned = {name: pin.ports for name, pin in spec.pins.items() if pin.ports}
    if not pinned:
        return links
    columns = {item.name: getattr(links, item.name).copy() for item in fields(Links)}
    pins = spec.pins
    by_name = {d.name: d for d in devices}
    for original, ports_by_peer in pinned.items():
        device = by_name.get(pins[original].name or original)
        if device is None:
            continue  # already reported
        wanted: list[tuple[Place, _Move]] = []
        for peer_name, ports in ports_by_peer.items():
            peer = by_name.get(peer_name)
            place = spec.at("pins", original, "ports", peer_name)
            rows = _rows_between(columns, device, peer) if peer is not None else []
            if len(ports) != len(rows):
                wrong = _wrong_ports(original, device, peer_name, len(rows), len(ports), columns, devices=devices)
                report.error("FAB139", place, *wrong)
                continue
            for link, (row, port) in enumerate(zip(rows, ports, strict=True)):
                wanted.append((spec.at("pins", original, "ports", peer_name, link), _Move.of(columns, row, device, port)))
        waiting = {move.row for _, move in wanted if not move.is_there(columns)}
        for place, move in wanted:
            if message := _moved(columns, device, _model(spec, device), move, waiting):
                hint = "ports count from 1, as on the front panel"
                report.error("FAB139", place, f"pins.{original}.ports: {message}", hint)
            waiting.discard(move.row)
    return Links(**columns)


@dataclass(frozen=True)
class _Move:
    """An end of a link, and the cage that it is pinned to; `sub` from 0, -1 for any port of the cage."""

    row: int
    end: str  # "a" or "b"
    cage: int
    sub: int

    @classmethod
    def of(cls, columns: Mapping[str, Any], row: int, device: Device, port: int | str) -> _Move:
        cage, _, sub = str(port).partition("/")
        return cls(row, "a" if columns["a"][row] == device.index else "b", int(cage), int(sub or 0) - 1)

    def old(self, columns: Mapping[str, Any]) -> tuple[int, int, int]:
        """Cage, port of the cage and split that it has."""
        cage, sub, split = (int(columns[f"{self.end}_{name}"][self.row]) for name in ("cage", "sub", "split"))
        return cage, sub, split

    def is_there(self, columns: Mapping[str, Any]) -> bool:
        cage, sub, _ = self.old(columns)
        return cage == self.cage and self.sub in (-1, sub)


def _wrong_ports(
    original: str, device: Device, peer: str, links: int, got: int, columns: Mapping[str, Any], *, devices: Sequence[Device]
) -> tuple[str, str]:
    """Message and hint for ports that are not as many as the links."""
    if links:
        return (
            f"pins.{original}.ports: expected {plural(links, 'port')} for {plural(links, 'link')} to '{peer}', got {got}",
            "every link takes a port, in link order; a number may stand once per port that its cage is split into",
        )
    a, b = columns["a"], columns["b"]
    ends = {*b[a == device.index].tolist(), *a[b == device.index].tolist()}
    return (
        f"pins.{original}.ports: expected a neighbor of '{device.name}', got '{peer}'",
        nearest(peer, (devices[at].name for at in ends)),
    )


def _model(spec: FabricSpec, device: Device) -> SwitchModel:
    return {CORE: spec.core, SPINE: spec.spine, LEAF: spec.leaf}[device.role].model


def _rows_between(columns: Mapping[str, Any], device: Device, peer: Device) -> list[int]:
    a, b = columns["a"], columns["b"]
    both = ((a == device.index) & (b == peer.index)) | ((a == peer.index) & (b == device.index))
    return [int(row) for row in np.flatnonzero(both)]


def _moved(columns: dict[str, Any], device: Device, model: SwitchModel, move: _Move, waiting: Collection[int]) -> str:
    """Moves one end of a link to a cage of its device; returns what is wrong, "" if it is moved.

    Args:
        waiting: rows that move later, whose ports are free.
    """
    row, cage = move.row, move.cage
    if cage > model.cages:
        return f"expected a port within 1 to {model.cages} of {device.model}, got {cage}"
    speed = int(columns["speed_gbps"][row])
    split = model.group_of(cage).splits.get(speed)
    if split is None or move.sub >= split:
        return f"expected a port of {device.model} that does {speed}G, got {cage}" + f"/{move.sub + 1}" * (move.sub >= 0)
    if model.is_wide(split) and cage % 2 == 0:
        return f"expected an odd port, as {split} ports of {device.model} disable the next, got {cage}"
    link_at = {
        (int(columns[f"{e}_cage"][r]), int(columns[f"{e}_sub"][r])): (int(r), e)
        for e in ("a", "b")
        for r in np.flatnonzero(columns[e] == device.index)
        if r == row or r not in waiting
    }
    splits = {spot[0]: int(columns[f"{e}_split"][r]) for spot, (r, e) in link_at.items() if spot[0] != cage}
    if model.is_wide(splits.get(cage - 1, 1)) or (model.is_wide(split) and cage + 1 in splits):
        return f"expected a port that no breakout disables and that disables none in use, got {cage}"
    if move.is_there(columns):
        return ""
    others = [spot for spot, (r, _) in link_at.items() if spot[0] == cage and r != row]
    if any(int(columns["speed_gbps"][link_at[spot][0]]) != speed for spot in others):
        return f"expected a port without links of another speed than {speed}G, got {cage}"
    taken = {sub for _, sub in others}
    free = next((sub for sub in range(split) if sub not in taken and move.sub in (-1, sub)), None)
    sub = free if free is not None else max(move.sub, 0)
    if free is None:  # the link there moves to the port that becomes free
        other, other_end = link_at[cage, sub]
        if link_at.get(move.old(columns)[:2], (row, ""))[0] != row:
            return f"expected a port that no other pinned link leaves to it, got {cage}"
        for name, value in zip(("cage", "sub", "split"), move.old(columns), strict=True):
            columns[f"{other_end}_{name}"][other] = value
    for name, value in zip(("cage", "sub", "split"), (cage, sub, split), strict=True):
        columns[f"{move.end}_{name}"][row] = value
    return ""
