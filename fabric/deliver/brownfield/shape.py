"""The shape of a fabric that is there: groups of servers with their NICs, networks and pods of switches, other devices."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabric.deliver.brownfield.survey import Cable, Host, Survey, Switch
from fabric.model.plan import CORE, SPINE, PortRef
from fabric.model.settings.site import PURPOSES

End = tuple[str, int, int]  # server, NIC from 1, port of the NIC from 0
LeafPort = tuple[str, PortRef | None]
_LABEL = re.compile(r"([a-z][a-z0-9_-]*?)1(p1)?", re.ASCII)
_KERNEL = re.compile(r"(en|eth|ib|n[0-9a-f]{6}-|mlx)", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Nics:
    """NICs of one purpose that a fabric connects of every server of a group."""

    purpose: str
    first: int  # number of the first NIC in the fabric
    count: int
    ports: int
    speed_gbps: int
    names: tuple[str, ...]  # of the ports, NIC by NIC

    @property
    def labeled(self) -> bool:
        """Whether the ports are named as a plan does it: `compute1`, `compute1p2`."""
        return self.names == self.labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that a plan gives to the ports."""
        several = self.ports > 1
        numbers = ((nic, port) for nic in range(1, self.count + 1) for port in range(1, self.ports + 1))
        return tuple(f"{self.purpose}{nic}" + (f"p{port}" if several else "") for nic, port in numbers)


@dataclass(kw_only=True)
class Group:
    """Servers of one kind in one fabric."""

    name: str
    model: str  # "" where no source names it
    servers: list[str]
    uses: list[Nics]
    ends: dict[End, LeafPort]
    shared: bool = False  # on leaves of the first group

    def of(self, use: Nics) -> Iterator[tuple[End, LeafPort]]:
        """Ends of NICs of one purpose, server by server."""
        for server in self.servers:
            for nic in range(use.first, use.first + use.count):
                for port in range(use.ports):
                    if at := self.ends.get((server, nic, port)):
                        yield (server, nic, port), at

    def leaves(self, use: Nics) -> list[str]:
        """Leaves of NICs of one purpose."""
        return list(dict.fromkeys(leaf for _, (leaf, _) in self.of(use)))


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One fabric. Cables have their lower end in `a`; `below` are those of leaves of other fabrics on leaf ports here."""

    name: str
    purpose: str
    switches: Mapping[str, Switch]
    groups: Sequence[Group]
    served: Sequence[Cable]  # of servers
    up: Sequence[Cable]  # between switches of neighboring tiers
    pairs: Sequence[Cable]  # between leaves
    attached: Mapping[str, Sequence[Cable]]  # other devices
    managed: Sequence[Cable]  # management ports of switches of the site
    below: Sequence[Cable]
    network: Mapping[str, int] = field(default_factory=dict)  # switch → isolated network, in order of their names
    pod: Mapping[str, int] = field(default_factory=dict)  # leaf or spine → set of leaves that the same spines join

    def of(self, role: str) -> list[Switch]:
        """Switches of a role, by name."""
        return sorted((its for its in self.switches.values() if its.role == role), key=lambda its: natural(its.name))

    @property
    def at_leaves(self) -> Iterator[Cable]:
        """Cables of leaf ports but uplinks."""
        yield from self.served
        yield from (cable for its in self.attached.values() for cable in its)
        yield from (*self.managed, *self.below, *self.pairs)

    @cached_property
    def up_of(self) -> Mapping[str, Sequence[Cable]]:
        """Lower switch → its links up."""
        found: dict[str, list[Cable]] = defaultdict(list)
        for cable in self.up:
            found[cable.a].append(cable)
        return found

    @property
    def tiers(self) -> int:
        return 3 if self.of(CORE) else 2 if self.of(SPINE) else 1


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Sorts `leaf10` behind `leaf9`."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", text) if part)


def port_key(cable: Cable, upper: bool) -> tuple[object, ...]:
    """Order of the ports of a switch: by the front panel, else by their names."""
    ref, name = (cable.b_ref, cable.b_port) if upper else (cable.a_ref, cable.a_port)
    return (0, ref.cage, ref.sub) if ref else (1, *natural(name))


# --- from a survey --------------------------------------------------------------------------------------------


def with_numbers(survey: Survey) -> Survey:
    """The survey with a number for every port of servers and other devices, also where the sources have none.

    NICs of servers are counted from 1 in every fabric.
    """
    switches = survey.switches
    of_host: dict[tuple[str, str], list[Cable]] = defaultdict(list)
    result = []
    for cable in survey.cables:
        if cable.a in switches:
            result.append(cable)
        else:
            of_host[cable.a, switches[cable.b].fabric if cable.b in switches else ""].append(cable)
    first: dict[tuple[str, str], int] = {}
    for (name, fabric), its in of_host.items():
        key = (survey.hosts[name].group if name in survey.hosts else "", fabric)
        first[key] = min(first.get(key, 10**6), *(cable.a_ref.cage if cable.a_ref else 1 for cable in its))
    for (name, fabric), its in of_host.items():
        host = survey.hosts.get(name)
        below = first[host.group, fabric] - 1 if host is not None and not host.attached else 0
        result += [_moved(cable, below) if below else cable for cable in numbered(its)]
    return replace(survey, cables=sorted(result, key=lambda its: (its.a, its.a_port, its.b, its.b_port)))


def _moved(cable: Cable, below: int) -> Cable:
    """A cable at a NIC that is counted without those below it."""
    ref = cable.a_ref
    return replace(cable, a_ref=replace(ref, cage=ref.cage - below)) if ref is not None else cable


def shapes(survey: Survey) -> dict[str, Shape]:
    """The shape of every fabric that has switches."""
    fabric_of = {name: fabric for fabric, its in survey.fabrics.items() for name in (switch.name for switch in its)}
    cables: dict[str, list[Cable]] = defaultdict(list)
    for cable in survey.cables:
        if cable.b in fabric_of:
            cables[fabric_of[cable.b]].append(cable)
    return {
        name: _shape(name, {its.name: its for its in switches}, survey.hosts, cables[name], fabric_of)
        for name, switches in survey.fabrics.items()
        if switches
    }


def _shape(
    name: str,
    switches: Mapping[str, Switch],
    hosts: Mapping[str, Host],
    cables: Sequence[Cable],
    fabric_of: Mapping[str, str],
) -> Shape:
    up: list[Cable] = []
    pairs: list[Cable] = []
    managed: list[Cable] = []
    below: list[Cable] = []
    attached: dict[str, list[Cable]] = defaultdict(list)
    of_host: dict[str, list[Cable]] = defaultdict(list)
    for cable in cables:
        if cable.a in fabric_of:
            inside = cable.a in switches and cable.a_ref is not None
            roles = (switches[cable.a].role, switches[cable.b].role) if inside else ("", "")
            kind = up if roles[0] != roles[1] else pairs if inside else managed if cable.a_ref is None else below
            kind.append(cable)
        elif cable.a in hosts and not hosts[cable.a].attached:
            of_host[cable.a].append(cable)
        else:
            attached[cable.a].append(cable)
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word in PURPOSES]
    purpose = words[0] if words else "compute"
    groups = _groups(purpose, {host: hosts[host] for host in of_host}, of_host)
    stated = [use.purpose for group in groups[:1] for use in group.uses[:1] if use.purpose in PURPOSES]
    purpose = stated[0] if stated else purpose
    order = sorted(attached, key=lambda its: (hosts[its].number if its in hosts else 0, natural(its)))
    spine_links = [cable for cable in up if switches[cable.b].role == SPINE]
    return Shape(
        name=name,
        purpose=purpose,
        switches=switches,
        groups=groups,
        served=[cable for its in of_host.values() for cable in its],
        up=up,
        pairs=pairs,
        attached={its: sorted(attached[its], key=lambda cable: port_key(cable, upper=False)) for its in order},
        managed=managed,
        below=below,
        network=_components(switches, [*up, *pairs]),
        pod=_components({its: of for its, of in switches.items() if of.role != CORE}, spine_links),
    )


def _components(switches: Iterable[str], cables: Iterable[Cable]) -> dict[str, int]:
    """Switch → number of its connected component, in the natural order of names."""
    parent = {name: name for name in switches}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for cable in cables:
        if cable.a in parent and cable.b in parent:
            parent[root(cable.a)] = root(cable.b)
    numbers: dict[str, int] = {}
    return {name: numbers.setdefault(root(name), len(numbers)) for name in sorted(parent, key=natural)}


# --- groups of servers ----------------------------------------------------------------------------------------


def _groups(purpose: str, hosts: Mapping[str, Host], of_host: Mapping[str, Sequence[Cable]]) -> list[Group]:
    by_group: dict[str, list[str]] = defaultdict(list)
    for name, host in hosts.items():
        by_group[host.group or re.sub(r"[-_.]?\d+$", "", name) or "server"].append(name)
    groups = [
        _group(purpose, name, sorted(members, key=lambda its: (hosts[its].number, natural(its))), hosts, of_host)
        for name, members in by_group.items()
    ]
    groups.sort(key=lambda group: (_first_port(group), natural(group.name)))
    first_leaves: set[str] = set()
    for at, group in enumerate(groups):
        group.shared = at > 0 and bool(group.uses) and bool(first_leaves & set(group.leaves(group.uses[0])))
        first_leaves |= {leaf for use in group.uses for leaf in group.leaves(use)} if not group.shared else set()
    return groups


def _first_port(group: Group) -> tuple[object, ...]:
    """Where the first NICs of a group are: those with leaves of their own have the first ports."""
    spots = [(ref.cage if ref else 0, natural(leaf)) for use in group.uses[:1] for _, (leaf, ref) in group.of(use)]
    leaf = min((leaf for _, leaf in spots), default=())
    return min((cage for cage, _ in spots), default=0) > 1, leaf, min((cage for cage, its in spots if its == leaf), default=0)


def _group(
    purpose: str, name: str, members: list[str], hosts: Mapping[str, Host], of_host: Mapping[str, Sequence[Cable]]
) -> Group:
    ends: dict[End, LeafPort] = {}
    cabled: dict[str, list[Cable]] = {}
    for host in members:
        cabled[host] = numbered(of_host[host])
        for cable in cabled[host]:
            assert cable.a_ref is not None
            ends[host, cable.a_ref.cage, cable.a_ref.sub] = (cable.b, cable.b_ref)
    fullest = max(members, key=lambda host: len(cabled[host]))
    models = Counter(hosts[host].model for host in members if hosts[host].model)
    return Group(
        name=name,
        model=models.most_common(1)[0][0] if models else "",
        servers=members,
        uses=_uses(purpose, cabled[fullest]),
        ends=ends,
    )


def numbered(cables: Iterable[Cable]) -> list[Cable]:
    """The cables of a server in order of its NICs; these are counted where the source does not number them."""
    cables = sorted(cables, key=lambda its: port_key(its, upper=False))
    spots = [(its.a_ref.cage, its.a_ref.sub) for its in cables if its.a_ref]
    if len(set(spots)) == len(cables):
        return cables
    cables.sort(key=lambda its: (natural(its.a_port), natural(its.b), port_key(its, upper=True)))
    return [replace(its, a_ref=PortRef(at, 0, 1, its.speed_gbps)) for at, its in enumerate(cables, 1)]


def _uses(purpose: str, cables: Sequence[Cable]) -> list[Nics]:
    """The NICs of a server by purpose: what their names say, else runs of equal NICs."""
    nics: dict[int, list[Cable]] = defaultdict(list)
    for cable in cables:
        assert cable.a_ref is not None
        nics[cable.a_ref.cage].append(cable)
    runs: list[Nics] = []
    for nic, its in sorted(nics.items()):
        ports = 1 + max(cable.a_ref.sub for cable in its if cable.a_ref)
        names, speed = tuple(cable.a_port for cable in its), its[0].speed_gbps
        last = runs[-1] if runs else None
        if last and (last.ports, last.speed_gbps, last.first + last.count) == (ports, speed, nic):
            longer = replace(last, count=last.count + 1, names=(*last.names, *names))
            starts = last.labeled and not longer.labeled and _label(names[0])
            if not starts and (longer.labeled or not last.labeled):
                runs[-1] = longer
                continue
        label = _label(names[0])
        fits = label and names == Nics(purpose=label, first=1, count=1, ports=ports, speed_gbps=speed, names=()).labels
        runs.append(Nics(purpose=label if fits else "", first=nic, count=1, ports=ports, speed_gbps=speed, names=names))
    return list(_named(purpose, runs))


def _label(name: str) -> str:
    """The purpose in the name of a first port, `compute` of `compute1p1`; "" where it is a name of an interface."""
    match = _LABEL.fullmatch(name)
    return match[1] if match and not _KERNEL.match(name) else ""


def _named(purpose: str, runs: Sequence[Nics]) -> Iterator[Nics]:
    """The runs, each with a purpose of its own."""
    taken = {run.purpose for run in runs}
    for run in runs:
        if run.purpose:
            yield run
            continue
        name = next(word for word in (purpose, *PURPOSES, *(f"nics{n}" for n in range(1, 99))) if word not in taken)
        taken.add(name)
        yield replace(run, purpose=name)


def leaf_of(group: Group, use: Nics) -> dict[tuple[int, int], dict[str, str]]:
    """(NIC from 0, port) → server → leaf, of NICs of one purpose."""
    found: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for (server, nic, port), (leaf, _) in group.of(use):
        found[nic - use.first, port][server] = leaf
    return found
