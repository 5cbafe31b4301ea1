"""Failures by name, whether the fabric is still connected, and what single failures and pairs leave of its bandwidth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.schemas.models import OR_NULL, Amount, Count, Share, Text, described, rounded
from fabric.base.text import listed
from fabric.model.plan import ATTACHMENT, KINDS, SERVER_LEAF, SWITCH_ROLES, Device, FabricPlan, PortLabels
from fabric.solver import Bools, Floats, Ints, Network
from fabric.solver.capacity.cuts import SIDE_A, SIDE_B, graph, in_gbps, max_flow, numbered, refine
from fabric.solver.capacity.lp import optimal
from fabric.solver.capacity.structured_cuts import StructuredCut
from fabric.solver.capacity.throughput import HealthyNetwork, Shares, all_paths, ecmp, ground, live_ports, traffic
from fabric.solver.network import routes

OPTION = Place("--fail")
MAX_TRIED_NAMES = 32  # names that `check` leaves out in turn, looking for the one that matters
MAX_COMPARED_NAMES = 2000  # from here on only names that begin alike are compared
DIGITS = 9  # of a share in a document; the last ones are noise
Rate = Annotated[Amount, OR_NULL, rounded(DIGITS)]  # of NIC speed
Asked = Annotated[Share, OR_NULL, rounded(DIGITS)]


@dataclass(frozen=True)
class Failures:
    """Links (undirected rows of the plan's links) and devices that are down, each sorted; `names` as they were given."""

    links: Ints
    devices: Ints
    names: tuple[str, ...]


NOTHING = Failures(np.empty(0, np.int64), np.empty(0, np.int64), ())


def parse(net: Network, names: Sequence[str]) -> Failures:
    """Failures by name: `DEVICE`, `DEVICE:DEVICE` (all links between the two), `DEVICE:PORT` (one link, by either end), or
    `plane:N` (all switches of a plane, from 1).

    Raises InputError with every name that does not exist and the nearest one that does.
    """
    report = Report()
    links: list[int] = []
    devices: list[int] = []
    for name in names:
        first, colon, rest = name.strip().partition(":")
        device = net.fabric.by_name.get(first)
        if device is None and first == "plane" and colon:
            devices += _plane(net.fabric, rest, report)
        elif device is None:
            report.error("FAB170", OPTION, f"unknown switch or server {show(first)}", _nearest(first, net.fabric.by_name))
        elif not colon:
            devices.append(device.index)
        else:
            links += _links(net, device, rest, report)
    report.raise_errors()
    return Failures(_sorted(links), _sorted(devices), tuple(name.strip() for name in names))


def _plane(fabric: FabricPlan, number: str, report: Report) -> list[int]:
    """The switches of a plane."""
    found = [its.index for its in fabric.switches if number == str(its.plane + 1)]
    if not found or fabric.spec.planes == 1:
        expected = f"plane:1 to plane:{fabric.spec.planes}" if fabric.spec.planes > 1 else "a fabric with planes"
        report.error("FAB170", OPTION, f"expected {expected}, got {show(f'plane:{number}')}")
    return found


def apply(net: Network, failures: Failures) -> Network:
    """The network with the failures down."""
    return net.without(failures.links, failures.devices) if failures.names else net


def check(net: Network, failures: Failures) -> Network:
    """The network with the failures down. Raises InputError if server ports that are up have no path to each other.

    Ports of isolated networks (planes, the rails of a rail-only fabric) are not meant to meet, and ports that are down
    themselves are a loss, not a partition; but some port must be left.
    """
    broken = apply(net, failures)
    apart = separated(net, broken) if not broken.alive.all() else ""
    if apart:
        named = {name: _without(net, failures, name) for name in dict.fromkeys(failures.names)}
        _report(net, failures, apart, named)
    return broken


def separated(net: Network, broken: Network) -> str:
    """Two leaves whose servers should talk and cannot, in words; "" where there are none."""
    live = live_ports(broken)
    if len(live) and not live.any():
        return "no server port is left"
    base = ground(net)
    offered = traffic(base, live, "uniform").demand
    cut = (offered > 1e-9) & (all_paths(base, routes(broken)) == 0)
    if not cut.any():
        return ""
    first, second = (base.leaves[at] for at in np.unravel_index(int(np.argmax(cut)), cut.shape))
    devices = net.fabric.devices
    return f"{devices[first].name} and {devices[second].name} have no path to each other"


def _report(net: Network, failures: Failures, apart: str, named: dict[str, Failures]) -> None:
    heals = next((name for name in list(named)[:MAX_TRIED_NAMES] if not separated(net, apply(net, named[name]))), "")
    if len(named) == 1:
        hint = "one failure partitions this fabric: remove it from --fail, or add a second spine"
    elif heals:
        hint = f"without `--fail {heals}` the fabric stays connected"
    else:
        hint = "use fewer failures: all but one of these would have to be removed"
    shown = listed(failures.names, 4)
    Report().fail("FAB171", OPTION, f"the fabric is partitioned with {shown} down: {apart}", hint)


def _without(net: Network, failures: Failures, name: str) -> Failures:
    return parse(net, [other for other in failures.names if other != name])


def _links(net: Network, device: Device, rest: str, report: Report) -> list[int]:
    """Links of a device that `rest`, a neighbor or a port, means."""
    fabric = net.fabric
    peers = _ends(fabric, device)
    other = fabric.by_name.get(rest)
    if other is not None:
        links = [link for link, _, peer in peers if peer == other.index]
        if not links:
            message = f"no link between {device.name} and {other.name}"
            report.error("FAB170", OPTION, message, _nearest(f"{device.name}:{rest}", _pairs(fabric, device, peers)))
        return links
    names = PortLabels(fabric)
    ports: dict[str, int] = {}
    for link, end, _ in peers:
        ref = names.ref(link, end)
        ports.setdefault(names.label(device, ref), link)
        ports.setdefault(net.port_name(device, ref), link)
    ports.pop("", None)
    if rest in ports:
        return [ports[rest]]
    neighbor_names = [*(f"{device.name}:{port}" for port in ports), *_pairs(fabric, device, peers)]
    message = f"{device.name} has no link at port {show(rest)}"
    report.error(
        "FAB170", OPTION, message, _nearest(f"{device.name}:{rest}", neighbor_names) if neighbor_names else "it has no links"
    )
    return []


def _pairs(fabric: FabricPlan, device: Device, peers: Sequence[tuple[int, str, int]]) -> list[str]:
    """Every neighbor of a device, as `parse` takes a pair."""
    return [f"{device.name}:{fabric.devices[peer].name}" for peer in dict.fromkeys(peer for *_, peer in peers)]


def _ends(fabric: FabricPlan, device: Device) -> list[tuple[int, str, int]]:
    """(link, own end, device at the other end) of every link of a device."""
    return [
        (link, "ab"[end], int((fabric.links.a if end else fabric.links.b)[link]))
        for link, end in fabric.links.of(device.index)
    ]


def _nearest(word: str, known: Iterable[str]) -> str:
    choices = list(known)
    if len(choices) > MAX_COMPARED_NAMES:  # comparing ten thousand names takes seconds
        head = max(range(len(word) + 1), key=lambda n: n if any(c.startswith(word[:n]) for c in choices) else -1)
        choices = [choice for choice in choices if choice.startswith(word[:head])]
        choices = choices[:MAX_COMPARED_NAMES] if head else choices
    return nearest(word, choices)


def _sorted(values: Iterable[int]) -> Ints:
    return np.array(sorted(set(values)), dtype=np.int64)


# --- single failures ------------------------------------------------------------------------------------------
# What single failures leave of a fabric: one element of every symmetry class, and pairs drawn at random.

MAX_CLASSES = 48  # rows of the table of single failures
NO_LINKS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Element:
    """One link or switch that can fail, standing for all that are like it."""

    what: str  # "leaf-spine link", "spine", …
    name: str  # as `--fail` takes it
    alike: int  # how many there are, this one included
    members: Ints  # rows of links, or devices
    link: bool


@dataclass(frozen=True, kw_only=True)
class RemainingCapacity:
    """What a failure leaves; shares are of healthy NIC speed."""

    bisection: Annotated[Share | None, rounded(DIGITS)]
    optimal: Annotated[Rate, described("of uniform traffic")]
    optimal_exact: bool
    ecmp: Rate
    asked: Annotated[
        Asked, described("share of the demand before whose ends are still up; `optimal` and `ecmp` are of this demand")
    ]
    carried: Annotated[
        Rate, described("least share of what equal-cost paths carried before, in equal parts, that still fits")
    ]
    paths_before: Annotated[Count, described("between the two leaves of `pair`")]
    paths_after: Count
    pair: Annotated[tuple[str, ...], described("the two leaves that lose the largest share of their paths", max_length=2)]
    servers_cut_off: Count
    partitioned: bool


@dataclass(frozen=True)
class Loss:
    """A row of the table of failures."""

    what: Annotated[Text, described("the kind of link or switch")]
    names: Annotated[tuple[Text, ...], described("as --fail takes them")]
    alike: Annotated[Count, described("how many there are")]
    left: RemainingCapacity


@dataclass(frozen=True, kw_only=True)
class Before:
    """The state that failures are measured against: the fabric as it is, with its given failures."""

    base: HealthyNetwork
    broken: Network
    halves: Sequence[StructuredCut]
    paths: Floats
    optimal: float
    ecmp: float
    asked: float  # Gb/s of uniform traffic


def elements(net: Network) -> list[Element]:
    """Links and switches that are up and matter to servers, one of every class of the refinement."""
    size, devices = net.links, net.fabric.devices
    columns = net.fabric.links
    of_relays = net.fabric.spec.switchless & (columns.kind == SERVER_LEAF)  # a port fails with its cable
    links = np.flatnonzero(net.alive[:size] & (columns.kind != ATTACHMENT) & ~of_relays)
    both = np.concatenate([links, links + size])
    colour = refine(numbered(net.level), net.tail[both], net.head[both], in_gbps(net)[both])
    result = []
    like = numbered(columns.kind[links], colour[net.tail[links]], colour[net.head[links]], in_gbps(net)[links])
    names = PortLabels(net.fabric)
    for number in range(int(like.max(initial=-1)) + 1):
        members = links[like == number]
        link = int(members[0])
        end = devices[int(columns.a[link])]
        name = f"{end.name}:{names.at(link, 'a')}"
        result.append(Element(f"{KINDS[columns.kind[link]]} link", name, len(members), members, True))
    used = np.zeros(len(devices), dtype=bool)
    used[net.tail[both]] = True
    switches = np.flatnonzero(used & (net.level > 0) & (not net.fabric.spec.switchless))
    for number in np.unique(colour[switches]).tolist():
        members = switches[colour[switches] == number]
        result.append(Element(devices[int(members[0])].role, devices[int(members[0])].name, len(members), members, False))
    order = [f"{kind} link" for kind in KINDS] + list(reversed(SWITCH_ROLES))
    return sorted(result, key=lambda item: (order.index(item.what), -item.alike, item.name))


def single_failures(before: Before) -> tuple[list[Loss], int]:
    """(a row for every class of elements, number of classes left out because there are too many)."""
    every_element = elements(before.broken)
    count_of: Counter[str] = Counter()
    place = []
    for item in every_element:  # every kind in turn, its most frequent classes first
        place.append(count_of[item.what])
        count_of[item.what] += 1
    measured = sorted(range(len(every_element)), key=lambda at: (place[at], at))[:MAX_CLASSES]
    rows = []
    for at in sorted(measured):
        item, first = every_element[at], every_element[at].members[:1]
        links, devices = (first, NO_LINKS) if item.link else (NO_LINKS, first)
        rows.append(Loss(item.what, (item.name,), item.alike, left(before, links, devices)))
    return rows, len(every_element) - len(measured)


def sampled_pairs(before: Before, number: int, seed: int) -> list[Loss]:
    """So many pairs of elements that fail together; each element is of a random class, so that spines are drawn too."""
    every_element = elements(before.broken)
    if not every_element:
        return []
    draw = np.random.Generator(np.random.PCG64(seed))
    rows = []
    for _ in range(number):
        chosen = [every_element[int(at)] for at in draw.integers(len(every_element), size=2)]
        members = [int(item.members[int(draw.integers(item.alike))]) for item in chosen]
        links = np.unique([at for at, item in zip(members, chosen, strict=True) if item.link]).astype(np.int64)
        devices = np.unique([at for at, item in zip(members, chosen, strict=True) if not item.link]).astype(np.int64)
        names = tuple(_name(before.broken, at, item) for at, item in zip(members, chosen, strict=True))
        rows.append(Loss(" + ".join(item.what for item in chosen), names, 1, left(before, links, devices)))
    return rows


def _name(net: Network, member: int, item: Element) -> str:
    if not item.link:
        return net.fabric.devices[member].name
    end = net.fabric.devices[int(net.fabric.links.a[member])]
    return f"{end.name}:{PortLabels(net.fabric).at(member, 'a')}"


def left(before: Before, links: Ints, devices: Ints) -> RemainingCapacity:
    """Bandwidth that remains after further failures.

    Args:
        links: [failed links], rows of the plan's links (undirected).
        devices: [failed devices], rows of the plan's devices. Both in addition to the failures of `before`.
    """
    base, net = before.base, before.broken.without(links, devices)
    live = live_ports(net)
    uniform = traffic(base, live, "uniform")
    route_table = routes(net)
    paths = all_paths(base, route_table)
    split = ecmp(base, route_table, uniform)
    best = optimal(base, net, uniform, split.share)
    carried = _carried(before, net, uniform.asked, split)
    source, target = _worst_pair(base, live, before.paths, paths)
    names = base.net.fabric.devices
    pair = (names[int(base.leaves[source])].name, names[int(base.leaves[target])].name) if source >= 0 else ()
    return RemainingCapacity(
        bisection=bisection(base, net, before.halves),
        optimal=min(before.optimal, best.share),
        optimal_exact=best.exact,
        ecmp=min(before.ecmp, split.share),
        asked=uniform.asked / before.asked if before.asked else 1.0,
        carried=carried,
        paths_before=int(before.paths[source, target]) if source >= 0 else 0,
        paths_after=int(paths[source, target]) if source >= 0 else 0,
        pair=pair,
        servers_cut_off=lost_servers(before.broken, net),
        partitioned=partitioned(uniform.demand, paths) or not live.any(),
    )


def _carried(before: Before, net: Network, asked_gbps: float, split: Shares) -> float:
    """Least share of the traffic that still fits, at the rate that just fitted before, when no flow waits for the slowest.

    Two lower bounds: what meets no overloaded link, and all flows at the rate of the slowest.
    """
    scale = before.ecmp
    fitted = before.asked * scale
    if not fitted:
        return 1.0
    excess = split.excess_gbps(in_gbps(net).astype(np.float64), scale)
    return max(asked_gbps * scale - excess, asked_gbps * min(split.share, scale)) / fitted


def partitioned(demand: Floats, paths: Floats) -> bool:
    """Whether leaves whose servers communicate have no path to each other.

    `demand` (Gb/s) and `paths` (count): [leaves, leaves].
    """
    return bool(((demand > 1e-9) & (paths == 0)).any())


def lost_servers(net: Network, broken: Network) -> int:
    """Servers that have no port left, of those that had one."""
    had, has = (np.unique(net.ports.server[live_ports(state)]) for state in (net, broken))
    return len(had) - len(has)


def bisection(base: HealthyNetwork, net: Network, halves: Sequence[StructuredCut]) -> float | None:
    """The least share of NIC speed between balanced halves that are meant to talk; None where there are none."""
    shares = [share_of(base, net, cut)[0] for cut in halves if cut.balanced and not cut.apart]
    return min(shares, default=None)


def share_of(base: HealthyNetwork, net: Network, cut: StructuredCut) -> tuple[float, int, tuple[str, ...]]:
    """(share of what healthy NICs could send from side to side, Gb/s, kinds of links that limit it).

    In every isolated network the NICs of the smaller side are the limit.
    """
    flow = max_flow(net, graph(net), cut.side)
    part = base.part[base.net.ports.leaf]
    nic = [np.bincount(part, np.where(cut.side == side, base.port_gbps, 0)) for side in (SIDE_A, SIDE_B)]
    most = float(np.minimum(*nic).sum())
    return flow.gbps / most if most else 0.0, flow.gbps, flow.limits


def _worst_pair(base: HealthyNetwork, live: Bools, before: Floats, after: Floats) -> tuple[int, int]:
    """The two leaves with servers that keep the smallest share of their paths, (-1, -1) where no two have any."""
    serves = np.zeros(len(base.leaves), dtype=bool)
    serves[base.port_leaf[live]] = True
    meant = (before > 0) & serves[:, None] & serves[None, :]
    np.fill_diagonal(meant, False)
    if not meant.any():
        return -1, -1
    remaining = np.divide(after, before, out=np.full(before.shape, np.inf), where=meant)
    least = np.flatnonzero(np.isclose(remaining, remaining.min(), rtol=1e-12, atol=0) & meant)
    at = int(least[np.argmin(before.ravel()[least])])
    return divmod(at, len(base.leaves))
