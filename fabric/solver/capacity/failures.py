"""Failed links and devices by name, and whether the fabric is still connected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.text import listed
from fabric.model.plan import Device, FabricPlan, PortLabels
from fabric.solver import Ints, Network
from fabric.solver.capacity.throughput import all_paths, ground, live_ports, traffic
from fabric.solver.routes import routes

OPTION = Place("--fail")
MAX_TRIED_NAMES = 32  # names that `check` leaves out in turn, looking for the one that matters
MAX_COMPARED_NAMES = 2000  # from here on only names that begin alike are compared


@dataclass(frozen=True)
class Failures:
    """Links (undirected rows of the plan's links) and devices that are down, each sorted; `names` as they were given."""

    links: Ints
    devices: Ints
    names: tuple[str, ...]


NOTHING = Failures(np.empty(0, np.int64), np.empty(0, np.int64), ())


def parse(net: Network, names: Sequence[str]) -> Failures:
    """Failures by name: `DEVICE`, `DEVICE:DEVICE` (all links between the two) or `DEVICE:PORT` (one link, by either end).

    Raises InputError with every name that does not exist and the nearest one that does.
    """
    report = Report()
    links: list[int] = []
    devices: list[int] = []
    for name in names:
        first, colon, rest = name.strip().partition(":")
        device = net.fabric.by_name.get(first)
        if device is None:
            report.error("FAB170", OPTION, f"unknown switch or server {show(first)}", _nearest(first, net.fabric.by_name))
        elif not colon:
            devices.append(device.index)
        else:
            links += _links(net, device, rest, report)
    report.raise_errors()
    return Failures(_sorted(links), _sorted(devices), tuple(name.strip() for name in names))


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
    asked = traffic(base, live, "uniform").demand
    cut = (asked > 1e-9) & (all_paths(base, routes(broken)) == 0)
    if not cut.any():
        return ""
    one, other = (base.leaves[at] for at in np.unravel_index(int(np.argmax(cut)), cut.shape))
    devices = net.fabric.devices
    return f"{devices[one].name} and {devices[other].name} have no path to each other"


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
    if len(choices) > MAX_COMPARED_NAMES:  # comparing every letter of ten thousand names takes seconds
        head = max(range(len(word) + 1), key=lambda n: n if any(c.startswith(word[:n]) for c in choices) else -1)
        choices = [choice for choice in choices if choice.startswith(word[:head])]
        choices = choices[:MAX_COMPARED_NAMES] if head else choices
    return nearest(word, choices)


def _sorted(values: Iterable[int]) -> Ints:
    return np.array(sorted(set(values)), dtype=np.int64)
