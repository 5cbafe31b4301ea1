"""Numbers of the NICs and ports of servers and other devices, in the order in which a plan has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from fabric.base.grouping import grouped, grouped_sets
from fabric.deliver.brownfield.survey.records import Cable, Host, Survey
from fabric.model.plan import PortRef

MANAGEMENT_PORTS = "switch-management"  # name of the device that stands for management ports of switches
_LABEL = re.compile(r"([a-z][a-z0-9_-]*?)1(p1)?", re.ASCII)
_KERNEL = re.compile(r"(en|eth|ib|n[0-9a-f]{6}-|mlx)", re.ASCII)


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Sorts `leaf10` behind `leaf9`."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", text) if part)


def port_key(cable: Cable, upper: bool) -> tuple[object, ...]:
    """Order of the ports of a switch: by the front panel, else by their names."""
    ref, name = (cable.b_ref, cable.b_port) if upper else (cable.a_ref, cable.a_port)
    return (0, ref.cage, ref.sub) if ref else (1, *natural(name))


# --- numbers --------------------------------------------------------------------------------------------------


def with_numbers(survey: Survey) -> Survey:
    """The survey with a number for every port of servers and other devices, also where the sources have none."""
    survey = _with_managed(survey)
    switches = survey.switches
    of_host: dict[tuple[str, str], list[Cable]] = defaultdict(list)
    result: list[Cable] = []
    for cable in survey.cables:
        if cable.a in switches:
            result.append(cable)
        else:
            of_host[cable.a, switches[cable.b].fabric if cable.b in switches else ""].append(cable)
    nics = grouped((name, (fabric, its.a_ref.cage)) for (name, fabric), own in of_host.items() for its in own if its.a_ref)
    for (name, fabric), its in of_host.items():
        attached = name not in survey.hosts or survey.hosts[name].attached
        others = {nic for home, nic in nics.get(name, ()) if home != fabric}
        result += _counted(numbered(its), others, attached=attached)
    result = _in_order(survey, result)
    return replace(survey, cables=sorted(result, key=lambda its: (its.a, its.a_port, its.b, its.b_port)))


def _with_managed(survey: Survey) -> Survey:
    """Management ports of switches are another device, where they share a VLAN with servers: no plan has both in one."""
    switches = survey.switches

    def vlan(cable: Cable) -> tuple[str, int]:
        switch = switches.get(cable.b)
        port = switch.facts.interfaces.get(cable.b_port) if switch and switch.facts else None
        return (switch.fabric, port.access.value) if switch and port and port.access else ("", 0)

    bridges = {its.name for its in switches.values() if not its.loopback and not its.loopback6}
    served = {vlan(its) for its in survey.cables if its.a in survey.hosts and not survey.hosts[its.a].attached} - {("", 0)}
    moved = [
        its for its in survey.cables if its.a in switches and its.a_ref is None and its.b in bridges and vlan(its) in served
    ]
    if not moved:
        return survey
    host = Host(name=MANAGEMENT_PORTS, group="", number=1 + len(survey.hosts), attached=True, fabric=vlan(moved[0])[0])
    ports = [
        replace(its, a=host.name, a_port=its.a, a_ref=PortRef(at, 0, 1, its.speed_gbps)) for at, its in enumerate(moved, 1)
    ]
    return replace(
        survey,
        hosts={**survey.hosts, host.name: host},
        cables=[*(its for its in survey.cables if its not in moved), *ports],
    )


def _in_order(survey: Survey, cables: Sequence[Cable]) -> list[Cable]:
    """Cables of servers with their NICs in the order of a plan: in front those that have one leaf at all servers of their
    group; those of a pair in turns.
    """
    of_group: dict[tuple[str, str], list[Cable]] = defaultdict(list)
    result: list[Cable] = []
    for its in cables:
        host, switch = survey.hosts.get(its.a), survey.switches.get(its.b)
        served = host is not None and not host.attached and switch is not None and its.a_ref is not None
        (of_group[host.group, switch.fabric] if served and host and switch else result).append(its)
    for own in of_group.values():
        ends = [(its.a, its.a_ref.cage, its.b) for its in own if its.a_ref]
        labeled = any(label_of(its.a_port.rstrip("0123456789") + "1") for its in own)
        first = railed(ends)
        nics = sorted({nic for _, nic, _ in ends}, key=lambda nic: (nic not in first, nic))
        at = {nic: place for place, nic in enumerate(nics, 1)} if first else {} if labeled else _turns(ends)
        at = {nic: at.get(nic, nic) for nic in nics} if at else {}
        result += [
            replace(its, a_ref=replace(its.a_ref, cage=at[its.a_ref.cage])) if at and its.a_ref else its for its in own
        ]
    return result


def _turns(ends: Sequence[tuple[str, int, str]]) -> dict[int, int]:
    """NIC → its place, where NICs of one port are on the two leaves of a pair in an order that is neither half nor turns."""
    of = grouped_sets((nic, leaf) for _, nic, leaf in ends)
    leaf_of_nic = {nic: next(iter(leaves)) for nic, leaves in sorted(of.items()) if len(leaves) == 1}
    order, leaves = list(leaf_of_nic.values()), list(dict.fromkeys(leaf_of_nic.values()))
    half = len(order) // 2
    if len(leaves) != 2 or order.count(leaves[0]) != half or 2 * half != len(order):
        return {}
    if order in ([*leaves] * half, [*leaves[:1] * half, *leaves[1:] * half]):
        return {}
    by_leaf = [[nic for nic, leaf in leaf_of_nic.items() if leaf == its] for its in leaves]
    turns = [nic for row in zip(*by_leaf, strict=True) for nic in row]
    return dict(zip(turns, leaf_of_nic, strict=True))


def railed(ends: Iterable[tuple[str, int, str]]) -> frozenset[int]:
    """The NICs that have one leaf at all servers, where there are more NICs than leaves and others take turns; else none.

    Args:
        ends: server, NIC and leaf of every port.
    """
    of_server = grouped_sets(((server, nic), leaf) for server, nic, leaf in ends)
    if any(len(leaves) > 1 for leaves in of_server.values()):
        return frozenset()
    of = grouped_sets((nic, leaf) for (_, nic), leaves in of_server.items() for leaf in leaves)
    one = {nic: its[0] for nic, leaves in of.items() if len(its := sorted(leaves)) == 1}
    every = {leaf for leaves in of.values() for leaf in leaves}
    apart = 1 < len(one) == len(set(one.values())) and len(one) < len(of) and len(of) > len(every)
    return frozenset(one) if apart else frozenset()


def _counted(cables: Sequence[Cable], others: set[int], *, attached: bool) -> Iterator[Cable]:
    """Cables of a device with a fabric, whose NICs count from 1 there.

    Args:
        others: numbers of its NICs in other fabrics, where these count on.
        attached: it is no server: its ports count, in turns over leaves as a plan deals them out.
    """
    own = {its.a_ref.cage for its in cables if its.a_ref}
    of_leaf = grouped((its.b, its) for its in sorted(cables, key=lambda its: (natural(its.b), port_key(its, upper=True))))
    turns = [its for row in zip_longest(*of_leaf.values()) for its in row if its]
    recount = attached and own != set(range(1, len(cables) + 1))
    for at, its in enumerate(turns if recount else cables, 1):
        if recount or its.a_ref is None:
            yield replace(its, a_ref=PortRef(at, 0, 1, its.speed_gbps)) if recount else its
        else:
            before = 0 if attached else sum(nic < its.a_ref.cage for nic in others) * (not others & own)
            yield replace(its, a_ref=replace(its.a_ref, cage=its.a_ref.cage - before)) if before else its


def numbered(cables: Iterable[Cable]) -> list[Cable]:
    """The cables of a server in order of its NICs; these are counted where the source does not number them."""
    cables = sorted(cables, key=lambda its: port_key(its, upper=False))
    spots = [(its.a_ref.cage, its.a_ref.sub) for its in cables if its.a_ref]
    if len(set(spots)) == len(cables):
        return cables
    cables.sort(key=lambda its: (natural(its.a_port), natural(its.b), port_key(its, upper=True)))
    return [replace(its, a_ref=PortRef(at, 0, 1, its.speed_gbps)) for at, its in enumerate(cables, 1)]


def label_of(name: str) -> str:
    """The purpose in the name of a first port, `compute` of `compute1p1`; "" where it is a name of an interface."""
    match = _LABEL.fullmatch(name)
    return match[1] if match and not _KERNEL.match(name) else ""
