"""The shape of a fabric that is there: groups of servers with their NICs, networks and pods of switches, other devices."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from fabric.deliver.brownfield.survey.nic_numbers import label_of, natural, numbered, port_key, railed
from fabric.deliver.brownfield.survey.records import Cable, Host, Survey, Switch
from fabric.model.plan import CORE, SPINE, PortRef
from fabric.model.settings.base import NAME
from fabric.model.settings.site import PURPOSES
from fabric.nos.target import installed

End = tuple[str, int, int]  # server, NIC from 1, port of the NIC from 0
LeafPort = tuple[str, PortRef | None]
_USES = {  # purpose → words of the tables and groups of servers whose NICs no name tells
    "compute": re.compile(r"gpu|compute|backend|east[-_]?west|rdma|roce", re.I),
    "storage": re.compile(r"stor(?:age)?(?![a-z])|nas(?![a-z])", re.I),
    "frontend": re.compile(r"front|in[-_]?band|north[-_]?south", re.I),
    "oob": re.compile(r"oob|out[-_]?of[-_]?band|ipmi|bmc", re.I),
}


class PortUse(NamedTuple):
    """How leaf ports are configured for NICs: "single", "bond" or "fallback" in layer-2 networks, their VLANs and table."""

    homing: str
    vlans: frozenset[int]
    table: str

    def with_vlans(self, more: frozenset[int]) -> PortUse:
        return self._replace(vlans=self.vlans | more)


NO_USE = PortUse("", frozenset(), "")


@dataclass(frozen=True, kw_only=True)
class Nics:
    """NICs of one purpose that a fabric connects of every server of a group."""

    purpose: str
    first: int  # number of the first NIC in the fabric
    count: int
    ports: int
    speed_gbps: int
    names: tuple[str, ...]  # of the ports, NIC by NIC
    at: PortUse = NO_USE

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
    bare: bool = False  # leaves without servers

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


# --- from a survey --------------------------------------------------------------------------------------------


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
    groups = _groups(purpose, {host: hosts[host] for host in of_host}, of_host, switches)
    stated = [use.purpose for group in groups[:1] for use in group.uses if use.purpose in PURPOSES]
    purpose = min(stated, key=lambda its: its != "compute") if stated else purpose
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


def _groups(
    purpose: str, hosts: Mapping[str, Host], of_host: Mapping[str, Sequence[Cable]], switches: Mapping[str, Switch]
) -> list[Group]:
    by_group: dict[str, list[str]] = defaultdict(list)
    for name, host in hosts.items():
        by_group[host.group or re.sub(r"[-_.]?\d+$", "", name) or "server"].append(name)
    groups = [
        _group(purpose, name, sorted(members, key=lambda its: (hosts[its].number, natural(its))), hosts, of_host, switches)
        for name, members in by_group.items()
    ]
    groups.sort(key=lambda group: (_first_port(group), natural(group.name)))
    first_leaves: set[str] = set()
    vlans: dict[str, frozenset[int]] = {}
    for at, group in enumerate(groups):
        for n, use in enumerate(group.uses):  # NICs of one purpose in other networks have one of their own
            if vlans.setdefault(use.purpose, use.at.vlans) != use.at.vlans and NAME.fullmatch(group.name):
                group.uses[n] = replace(use, purpose=group.name if not use.labeled else use.purpose)
        group.shared = at > 0 and bool(group.uses) and bool(first_leaves & set(group.leaves(group.uses[0])))
        first_leaves |= {leaf for use in group.uses for leaf in group.leaves(use)} if not group.shared else set()
    return groups


def _first_port(group: Group) -> tuple[object, ...]:
    """Where the first NICs of a group are: those with leaves of their own have the first ports."""
    spots = [(ref.cage if ref else 0, natural(leaf)) for use in group.uses[:1] for _, (leaf, ref) in group.of(use)]
    leaf = min((leaf for _, leaf in spots), default=())
    return min((cage for cage, _ in spots), default=0) > 1, leaf, min((cage for cage, its in spots if its == leaf), default=0)


def _group(
    purpose: str,
    name: str,
    members: list[str],
    hosts: Mapping[str, Host],
    of_host: Mapping[str, Sequence[Cable]],
    switches: Mapping[str, Switch],
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
        uses=_uses(
            purpose, name, cabled[fullest], switches, railed((its, nic, leaf) for (its, nic, _), (leaf, _) in ends.items())
        ),
        ends=ends,
    )


def _uses(
    purpose: str, group: str, cables: Sequence[Cable], switches: Mapping[str, Switch], railed: frozenset[int]
) -> list[Nics]:
    """The NICs of a server by purpose: what their names say, else runs of equal NICs.

    NICs in other tables are of another purpose, unless tables take turns: those are tenants of rails.
    """
    nics: dict[int, list[Cable]] = defaultdict(list)
    for cable in cables:
        assert cable.a_ref is not None
        nics[cable.a_ref.cage].append(cable)
    runs: list[Nics] = []
    tables = [_use_of(switches, its[0]).table for _, its in sorted(nics.items())]
    changes = [table for at, table in enumerate(tables) if at == 0 or tables[at - 1] != table]
    by_rail = len(set(changes)) < len(changes)
    for nic, its in sorted(nics.items()):
        ports = 1 + max(cable.a_ref.sub for cable in its if cable.a_ref)
        names, speed, at = tuple(cable.a_port for cable in its), its[0].speed_gbps, _use_of(switches, its[0])
        at = at._replace(table="") if by_rail else at
        last = runs[-1] if runs else None
        like = last and (last.ports, last.speed_gbps, last.first + last.count, last.at.homing, last.at.table)
        like = like if (nic - 1 in railed) == (nic in railed) else None
        if last and like == (ports, speed, nic, at.homing, at.table):
            longer = replace(last, count=last.count + 1, names=(*last.names, *names), at=at.with_vlans(last.at.vlans))
            starts = last.labeled and not longer.labeled and label_of(names[0])
            if not starts and (longer.labeled or not last.labeled):
                runs[-1] = longer
                continue
        label = label_of(names[0])
        fits = label and names == Nics(purpose=label, first=1, count=1, ports=ports, speed_gbps=speed, names=()).labels
        runs.append(
            Nics(purpose=label if fits else "", first=nic, count=1, ports=ports, speed_gbps=speed, names=names, at=at)
        )
    return list(_named(purpose, group, runs))


def _use_of(switches: Mapping[str, Switch], cable: Cable) -> PortUse:
    """How the leaf port of a cable is configured."""
    switch = switches.get(cable.b)
    port = switch.facts.interfaces.get(cable.b_port) if switch and switch.facts else None
    record = installed(switch.nos) if switch else None
    if switch is None or switch.facts is None or port is None or record is None:
        return NO_USE
    bond = switch.facts.interfaces.get(port.bond.value) if port.bond else None
    own = bond or port
    vlans = [its.value for its in (own.access, *own.trunk) if its is not None]
    svis = [record.idiom.svi.format(vlan) for vlan in vlans] if record.idiom and record.idiom.svi else []
    tables = [its.vrf.value for its in (own, *map(switch.facts.interfaces.get, svis)) if its and its.vrf]
    bonded = "fallback" if bond and bond.fallback and bond.fallback.value else "bond"
    return PortUse((bonded if bond else "single") if vlans else "", frozenset(vlans), tables[0] if tables else "")


def _named(purpose: str, group: str, runs: Sequence[Nics]) -> Iterator[Nics]:
    """The runs, each with a purpose of its own: of their names, else of their group or table, else any."""
    taken = {run.purpose for run in runs}
    for run in runs:
        if run.purpose:
            yield run
            continue
        texts = [group, run.at.table] if run.at.table and len(runs) == 1 else [run.at.table]
        stated = [name for text in texts for name, words in _USES.items() if words.search(text)]
        name = next(
            its
            for its in (*stated, purpose, *(["bmc"] if purpose == "oob" else PURPOSES), *(f"nics{n}" for n in range(1, 99)))
            if its not in taken
        )
        taken.add(name)
        yield replace(run, purpose=name)


def leaf_of(group: Group, use: Nics) -> dict[tuple[int, int], dict[str, str]]:
    """(NIC from 0, port) → server → leaf, of NICs of one purpose."""
    found: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for (server, nic, port), (leaf, _) in group.of(use):
        found[nic - use.first, port][server] = leaf
    return found
