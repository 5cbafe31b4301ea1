"""Where a switch is in its fabric: plane, pod, unit and rail, and the leaf that it shares bonds with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabric.audit.checks.ends import tunnel_addresses
from fabric.audit.checks.network import role as shape
from fabric.base.grouping import grouped, grouped_sets
from fabric.deliver.brownfield.survey.devices import Found
from fabric.deliver.brownfield.survey.hosts import LABEL, HostPort
from fabric.deliver.brownfield.survey.ports import natural
from fabric.deliver.brownfield.survey.roles import Graph, Tiers, parts

KERNEL = re.compile(
    r"e(?:th|n[ospx]\w*|t|m)?|pci|nic|port|lan|p", re.I
)  # two ports with such names are those of a dual-homed host


@dataclass(slots=True, kw_only=True)
class Coordinates:
    """-1 where a switch has none."""

    pod: int = -1
    plane: int = 0
    unit: int = -1
    rail: int = -1
    pair: str = ""


def coordinates(
    devices: Mapping[str, Found], joined: Graph, tiers: Tiers, on: Mapping[str, Sequence[HostPort]]
) -> dict[str, Coordinates]:
    """The coordinates of every switch of a fabric."""
    result = {name: Coordinates() for name in joined}
    servers = {name: sorted({row.host for row in on.get(name, ()) if not row.attached}) for name in tiers.of(0)}
    _units(_ordered(devices, tiers.of(0)), servers, result)
    _pairs(devices, tiers, on, result)
    _rails(tiers, on, result)
    _planes(joined, on, result)
    _pods(joined, tiers, result)
    return result


def _planes(joined: Graph, on: Mapping[str, Sequence[HostPort]], result: dict[str, Coordinates]) -> None:
    """Parts without a cable between them: rails where they have other NICs of the same servers, planes other ports.

    Pairs without any cable are no planes: servers have bonds to both leaves.
    """
    pieces = parts(joined)
    ends = {at: [end for name in piece for end in _nics(on.get(name, ()))] for at, piece in enumerate(pieces)}
    owners = grouped_sets((end.host, at) for at, own in ends.items() for end in own)
    if not any(len(same) > 1 for same in owners.values()):
        return
    kinds = [_apart(ends, kind) for kind in _kinds(ends)]
    rails, planes = next(((rails, planes) for rails, planes in kinds if rails), next(iter(kinds), ({}, {})))
    if all(len(piece) == 1 for piece in pieces) and any(result[piece[0]].pair for piece in pieces):
        planes = {}
    for at, piece in enumerate(pieces):
        for name in piece:
            result[name].plane = planes.get(at, 0)
            if rails:
                result[name].rail = rails.get(at, -1)


def _apart(ends: Mapping[int, Sequence[Nic]], kind: tuple[str, str]) -> tuple[dict[int, int], dict[int, int]]:
    """Rails and planes of parts, by the NICs of one kind."""
    own = {at: [end for end in found if end.kind == kind] for at, found in ends.items()}
    nics = {at: frozenset(end.number for end in found) for at, found in own.items() if found}
    ports = {at: frozenset(end.port for end in found) for at, found in own.items() if found}
    return _ranks(nics), _ranks(ports)


def _ranks(sets: Mapping[int, frozenset[int]]) -> dict[int, int]:
    """Rank of each set among sets without a common member; {} where some have one, or all are alike."""
    kinds = sorted(set(sets.values()), key=sorted)
    apart = sum(map(len, kinds)) == len(frozenset().union(*kinds))
    return {at: kinds.index(own) for at, own in sets.items()} if apart and len(kinds) > 1 else {}


@dataclass(frozen=True, slots=True)
class Nic:
    """A port of a server."""

    host: str
    kind: tuple[str, str]  # of the server, by its name, and of the NIC
    number: int
    port: int  # 0 where the NIC has one


def _nics(rows: Sequence[HostPort]) -> list[Nic]:
    """NIC ports of servers at a leaf, where their names have numbers."""
    found: list[Nic] = []
    for row in rows:
        if not row.attached and (match := LABEL.fullmatch(row.label)):
            kind = shape(row.host), match["purpose"]
            found.append(Nic(row.host, kind, int(match["nic"]), int(match["port"] or 0)))
    return found


def _kinds(ends: Mapping[int, Sequence[Nic]] | Mapping[str, Sequence[Nic]]) -> list[tuple[str, str]]:
    """Kinds of NICs, that at the most places and with the most ports first."""
    places = Counter(kind for own in ends.values() for kind in {end.kind for end in own})
    counts = Counter(end.kind for own in ends.values() for end in own)
    return sorted(counts, key=lambda kind: (-places[kind], -counts[kind], kind))


def _ordered(devices: Mapping[str, Found], leaves: Sequence[str]) -> list[str]:
    """Leaves by their names; by their loopbacks where one has another name than the rest."""
    loopbacks = {name: devices[name].loopback for name in leaves if "." in devices[name].loopback}
    if len(set(map(shape, leaves))) == 1 or len(set(loopbacks.values())) < len(leaves):
        return list(leaves)
    return sorted(leaves, key=lambda name: natural(loopbacks[name]))


def _units(leaves: Sequence[str], servers: Mapping[str, Sequence[str]], result: dict[str, Coordinates]) -> None:
    """Leaves with servers in common are a unit; units count as their leaves do."""
    place = {name: at for at, name in enumerate(leaves)}
    shared: dict[str, Counter[str]] = {name: Counter() for name in leaves}
    for same in grouped((host, name) for name in leaves for host in servers[name]).values():
        for name in same[1:]:
            shared[same[0]][name] += 1
            shared[name][same[0]] += 1
    number = 0
    for part in sorted(parts(shared), key=lambda part: min(place[name] for name in part)):
        if any(servers[name] for name in part):
            for name in part:
                result[name].unit = number
            number += 1
    for name in leaves:
        if result[name].unit < 0:
            result[name].unit, number = number, number + 1
    _count_gaps(leaves, result)


def _count_gaps(leaves: Sequence[str], result: dict[str, Coordinates]) -> None:
    """Units whose leaves count on over units that are not built: of four leaves a unit, leaf025 is in the seventh."""
    units = grouped((result[name].unit, _last_number(name)) for name in leaves)
    size = len(units[0]) if units else 0
    whole = size > 1 and all(
        min(numbers) % size == 1 and sorted(numbers) == list(range(min(numbers), min(numbers) + size))
        for numbers in units.values()
    )
    for name in leaves if whole else ():
        result[name].unit = (_last_number(name) - 1) // size


def _last_number(name: str) -> int:
    return next((number for text, number in reversed(natural(name)) if number or text.isdigit()), 0)


def _rails(tiers: Tiers, on: Mapping[str, Sequence[HostPort]], result: dict[str, Coordinates]) -> None:
    """Leaves of a unit that have other NICs of its servers are rails, in the order of the NICs.

    Only NICs count that are on the same leaves at all servers; others are on free ports.
    """
    rails: dict[str, int] = {}
    for leaves in grouped((result[name].unit, name) for name in tiers.of(0)).values():
        ends = {name: _nics(on.get(name, ())) for name in leaves}
        pairs = {name: {name, result[name].pair} - {""} for name in leaves}
        found = [own for kind in _kinds(ends) for own in (_rails_of(ends, pairs, kind),) if own]
        for name, rail in max(found, key=lambda own: (len(own), len(set(own.values())))).items() if found else ():
            rails[name] = rail
    if len(set(rails.values())) > 1:
        for name, rail in rails.items():
            result[name].rail = rail


def _rails_of(ends: Mapping[str, Sequence[Nic]], pairs: Mapping[str, set[str]], kind: tuple[str, str]) -> dict[str, int]:
    """Leaf → rail by the NICs of a kind; {} where these have not all the same leaves at every server."""
    on = grouped_sets(
        ((end.host, end.number), leaf)
        for name, own in ends.items()
        for end in own
        if end.kind == kind
        for leaf in pairs[name]
    )
    by_nic = grouped_sets((number, frozenset(leaves)) for (_, number), leaves in on.items())
    if any(len(sets) > 1 for sets in by_nic.values()):
        return {}
    kinds: list[frozenset[str]] = []
    for number in sorted(by_nic):
        (leaves,) = by_nic[number]
        if leaves not in kinds:
            kinds.append(leaves)
    apart = sum(map(len, kinds)) == len(frozenset().union(*kinds))
    dual = len(by_nic) == len(kinds) == 2 and KERNEL.fullmatch(kind[1]) is not None
    return {name: rail for rail, leaves in enumerate(kinds) for name in leaves} if apart and not dual else {}


def _pods(joined: Graph, tiers: Tiers, result: dict[str, Coordinates]) -> None:
    """Without cores, what cables still join is a pod; of two tiers a spine has pod 0 and a leaf none."""
    cores = {name for name, level in tiers.level.items() if level > 1}
    if not cores:
        for name in tiers.of(1):
            result[name].pod = 0
        return
    rest = {a: {b: n for b, n in near.items() if b not in cores} for a, near in joined.items() if a not in cores}
    networks = {name: at for at, part in enumerate(parts(joined)) for name in part}
    for pods in grouped((networks[part[0]], part) for part in parts(rest)).values():
        for number, part in enumerate(sorted(pods, key=lambda part: _order(tiers, part))):
            for name in part:
                result[name].pod = number


def _order(tiers: Tiers, part: Sequence[str]) -> tuple[tuple[str, int], ...]:
    leaves = [name for name in part if tiers.level[name] == 0]
    return min(map(natural, leaves or part))


def _pairs(
    devices: Mapping[str, Found], tiers: Tiers, on: Mapping[str, Sequence[HostPort]], result: dict[str, Coordinates]
) -> None:
    """Two leaves with an Ethernet segment or a tunnel address in common; else with bonds of one number to the same hosts;
    else with an AS number that no third leaf has, and the same hosts or none."""
    leaves = tiers.of(0)
    segments = grouped_sets(
        (interface.esi.value, name)
        for name in leaves
        for interface in devices[name].facts.interfaces.values()
        if interface.esi
    )
    tunnels = grouped_sets((address, name) for name in leaves for address in tunnel_addresses(devices[name].facts))
    bonds = grouped_sets(
        ((row.host, _nic(row.label), interface.bond.value), name)
        for name in leaves
        for row in on.get(name, ())
        if (interface := devices[name].facts.interfaces.get(row.port[1])) and interface.bond
    )
    hosts = {name: frozenset(row.host for row in on.get(name, ())) for name in leaves}
    numbers = grouped_sets((devices[name].asn, name) for name in leaves if devices[name].asn)
    numbered = [same for same in numbers.values() if len({hosts[name] for name in same}) == 1]
    for same in (*segments.values(), *tunnels.values(), *bonds.values(), *numbered):
        if len(same) == 2:
            a, b = sorted(same, key=natural)
            if not result[a].pair and not result[b].pair:
                result[a].pair, result[b].pair = b, a


def _nic(label: str) -> str:
    """The NIC of a port, where several have numbers: `frontend1` of `frontend1p2`."""
    match = LABEL.fullmatch(label)
    return f"{match['purpose']}{match['nic']}" if match and match["port"] else ""
