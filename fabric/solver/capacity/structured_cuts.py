"""The structured cuts of a fabric: its units, pods, planes, rails, leaves and servers against each other.

A cut puts server ports on two sides. Ports of isolated networks never meet, so a cut between planes, or between the
rails of a rail-only fabric, is there by design and says nothing about the fabric's strength.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fabric.solver import Bools, Floats, Ints, Network
from fabric.solver.capacity.cuts import SIDE_A, SIDE_B, graph, in_gbps, numbered, refine
from fabric.solver.capacity.throughput import HealthyNetwork, live_ports

MAX_SINGLE_PARTS = 6  # parts of a kind that are cut off singly: the weakest of each class
NOUNS = {
    "units": ("unit", "units"),
    "pods": ("pod", "pods"),
    "planes": ("plane", "planes"),
    "rails": ("rail", "rails"),
    "leaves": ("leaf", "leaves"),
    "servers": ("server", "servers"),
}
SPARE_PAIR = "servers have ports on either leaf"
BY_DESIGN = "isolated by design"


@dataclass(frozen=True)
class StructuredCut:
    """Two sets of server ports."""

    kind: str  # key of NOUNS
    where: str
    side: Ints  # of every row of ServerPorts: SIDE_A, SIDE_B, or 0 for neither
    balanced: bool  # False: one part against all others
    apart: str  # why the two are not meant to talk over the network; "" where they are


def structured(base: HealthyNetwork, broken: Network) -> list[StructuredCut]:
    """Every structured cut worth measuring; the weak parts are those of the broken network."""
    strength, kind_of_port = _strength(base, broken)
    cuts: list[StructuredCut] = []
    for kind, part in _parts(base).items():
        names, index = np.unique(part, return_inverse=True)
        if len(names) < 2:
            continue
        labels = _labels(base, kind, names)
        sides = list(_halves(base, kind, index.ravel(), strength, labels))
        sides += list(_singles(base, kind, index.ravel(), strength, kind_of_port, labels))
        seen: set[bytes] = set()
        for where, side, balanced in sides:
            key = (side if side[0] == SIDE_A else SIDE_A + SIDE_B - side).tobytes()
            if key not in seen and side.min() != side.max():
                seen.add(key)
                cuts.append(StructuredCut(kind, where, side, balanced, _apart(base, kind, side)))
    return cuts


def _parts(base: HealthyNetwork) -> dict[str, Ints]:
    """By kind, the part that every server port is in."""
    devices, ports = base.net.fabric.devices, base.net.ports
    columns = {name: np.array([getattr(device, name) for device in devices]) for name in ("pod", "plane", "rail")}
    return {
        "units": base.unit,
        "pods": columns["pod"][ports.leaf],
        "rails": columns["rail"][ports.leaf],
        "planes": columns["plane"][ports.leaf],
        **({} if base.net.fabric.spec.switchless else {"leaves": ports.leaf}),
        "servers": ports.server,
    }


def _labels(base: HealthyNetwork, kind: str, names: Ints) -> list[str]:
    if kind in ("leaves", "servers"):
        return [base.net.fabric.devices[at].name for at in names.tolist()]
    return [str(number + 1) for number in names.tolist()]


def _strength(base: HealthyNetwork, broken: Network) -> tuple[Floats, Ints]:
    """(Gb/s that each server port can count on beyond its leaf, class of its leaf and speed in the broken network)."""
    switches, devices = graph(broken), len(broken.level)
    speed = np.where(live_ports(broken), in_gbps(broken)[broken.ports.link], 0)
    below = np.bincount(broken.ports.leaf, speed, devices)
    up = np.bincount(switches.tail, switches.gbps, devices)
    ratio = np.divide(up, below, out=np.zeros(devices), where=below > 0)
    colour = refine(numbered(switches.level, below), switches.tail, switches.head, switches.gbps)
    leaf = base.net.ports.leaf
    return speed * np.minimum(ratio, 1.0)[leaf], numbered(colour[leaf], speed)


def _halves(
    base: HealthyNetwork, kind: str, part: Ints, strength: Floats, labels: Sequence[str]
) -> Iterator[tuple[str, Ints, bool]]:
    """Halves of equal bandwidth: the first parts against the last, every second one, and the weak against the strong."""
    if kind == "planes":
        return
    count = len(labels)
    if kind == "servers":
        yield "every second server against the others", np.where(_place_in_unit(base) % 2, SIDE_B, SIDE_A), True
        if not base.net.fabric.spec.switchless:  # servers below one leaf are alike, in a ring neighbors are not
            return
    order = np.arange(count)
    weak = np.argsort(np.round(np.bincount(part, strength) / np.bincount(part, base.port_gbps), 9), kind="stable")
    power = np.bincount(part, base.port_gbps)
    for sequence in (order, np.concatenate([order[::2], order[1::2]]), weak):
        reached = np.cumsum(power[sequence])
        middle = int(np.argmin(np.abs(2 * reached[:-1] - reached[-1]))) + 1
        first = np.zeros(count, dtype=bool)
        first[sequence[:middle]] = True
        side = np.where(first[part], SIDE_A, SIDE_B)
        yield f"{_several(kind, labels, first)} against {_several(kind, labels, ~first)}", side, True


def _place_in_unit(base: HealthyNetwork) -> Ints:
    """Of every server port, the place of its server among those of its unit."""
    servers, first, every = np.unique(base.net.ports.server, return_index=True, return_inverse=True)
    unit = base.unit[first]
    order = np.argsort(unit, kind="stable")
    begin = np.searchsorted(unit[order], unit[order], "left")
    place = np.empty(len(servers), dtype=np.int64)
    place[order] = np.arange(len(servers)) - begin
    return place[every.ravel()]


def _singles(
    base: HealthyNetwork, kind: str, part: Ints, strength: Floats, kind_of_port: Ints, labels: Sequence[str]
) -> Iterator[tuple[str, Ints, bool]]:
    """One part against all others of its kind: the first of each class of parts, the weakest classes first."""
    count = len(labels)
    order = np.lexsort((kind_of_port, part))
    ends = np.searchsorted(part[order], np.arange(count + 1))
    classes: dict[bytes, int] = {}
    for number in range(count):
        classes.setdefault(kind_of_port[order[ends[number] : ends[number + 1]]].tobytes(), number)
    share = np.round(np.bincount(part, strength) / np.bincount(part, base.port_gbps), 9).tolist()
    weakest = sorted(classes.values(), key=lambda number: (share[number], number))
    noun, others = NOUNS[kind]
    for number in weakest[:MAX_SINGLE_PARTS]:
        named = labels[number] if kind in ("leaves", "servers") else f"{noun} {labels[number]}"
        rest = f"the other {count - 1:,} {others}" if count > 2 else f"the other {noun}"
        yield f"{named} against {rest}", np.where(part == number, SIDE_A, SIDE_B), False


def _apart(base: HealthyNetwork, kind: str, side: Ints) -> str:
    """Why the two sides of a cut are not meant to talk over the network."""
    network = base.part[base.net.ports.leaf]
    if not np.isin(network[side == SIDE_A], network[side == SIDE_B]).any():
        return BY_DESIGN
    return SPARE_PAIR if kind == "leaves" and base.net.fabric.spec.kind == "collapsed" else ""


def _several(kind: str, labels: Sequence[str], chosen: Bools) -> str:
    """`units 1-2 and 5`, `4 leaves from backend-leaf001`."""
    noun, many = NOUNS[kind]
    members = np.flatnonzero(chosen)
    if kind in ("leaves", "servers"):
        first = labels[int(members[0])]
        return first if len(members) == 1 else f"{len(members):,} {many} from {first}"
    numbers = [int(labels[index]) for index in members.tolist()]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    if len(runs) > 4:
        return f"{len(numbers)} {many} from {numbers[0]}"
    text = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
    return f"{noun if len(numbers) == 1 else many} {text}"
