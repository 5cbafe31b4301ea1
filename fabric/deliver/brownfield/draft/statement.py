"""A full statement of the shape of a fabric: every key of its topology and servers, before those that defaults give go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_interface
from typing import Any

from fabric.deliver.brownfield.draft.cells import Cells
from fabric.deliver.brownfield.draft.shape import Group, Nics, Shape, leaf_of
from fabric.design.planner.below import SWITCH_MANAGEMENT
from fabric.hardware import catalog
from fabric.hardware.catalog import media
from fabric.hardware.catalog.models import NicSet, ServerModel, SwitchModel
from fabric.model.plan import CORE, LEAF, SPINE, FabricSpec, PortRef
from fabric.model.plan.cages import NoFit, lay_out

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Form:
    """How servers are spread over leaves."""

    kind: str
    planes: int = 1
    dual_tor: bool = False
    rails: int = 0  # 0: none
    turns: bool = False

    @property
    def keys(self) -> Document:
        """As keys of a topology."""
        return {
            "kind": self.kind,
            **({"rails": self.rails} if self.rails else {}),
            **({"nic_order": "turns"} if self.turns else {}),
            **({"planes": self.planes} if self.planes > 1 else {}),
            **({"dual_tor": True} if self.dual_tor else {}),
        }


def forms(shape: Shape, *, below: bool = False) -> Iterator[Form]:
    """The forms that the cables of the first group of servers may follow, the likeliest first.

    Args:
        below: its leaves hang below those of another fabric.
    """
    if not shape.groups or not shape.groups[0].uses:
        if shape.pairs and shape.tiers == 1 and not below:
            yield Form(kind="collapsed")
        elif not below:
            yield from (Form(kind="rack", dual_tor=True) for _ in range(any(its.pair for its in shape.of(LEAF))))
        yield Form(kind="rack")
        return
    group = shape.groups[0]
    use = group.uses[0]
    at = leaf_of(group, use)
    server = max(group.servers, key=lambda its: sum(its in of for of in at.values()))
    table = [[at[nic, port].get(server, "") for port in range(use.ports)] for nic in range(use.count)]
    per_nic = max(len(set(row)) for row in table)
    rails = len({row[0] for row in table})
    apart = len({shape.network.get(leaf, -1) for leaf in filter(None, table[0])})
    if shape.pairs and shape.tiers == 1 and not below:
        networks = {shape.network[leaf.name] for leaf in shape.of(LEAF)}
        for turns in sorted((False, True), reverse=_in_turns(shape)):
            yield Form(kind="collapsed", planes=len(networks), turns=turns)
            yield Form(kind="collapsed", planes=len(networks), turns=turns, dual_tor=True)
        return
    spreads = [(apart, apart < per_nic)] if shape.tiers > 1 else [_of_one_tier(shape, table)]
    if per_nic > 1:  # few links may join networks that the rule keeps apart, and nothing joins those of one tier
        spreads = list(dict.fromkeys((*spreads, (per_nic, False), (1, True))))
    isolated = len({shape.network.get(row[0], -1) for row in table}) > 1
    railed = any(its.rail >= 0 for its in shape.of(LEAF))
    kinds = ("rail-optimized", "rack") if railed else ("rack", "rail-optimized")
    if rails > 1:
        kinds = ("rail-only", "rail-optimized") if isolated else ("rail-optimized", "rail-only")
    for planes, dual in spreads:
        for turns in (False, True) if 1 < rails < use.count else (False,):
            for kind in kinds:
                count = 0 if kind == "rack" else rails
                yield Form(kind=kind, planes=planes, dual_tor=dual, rails=count, turns=turns)


def _in_turns(shape: Shape) -> bool:
    """Whether NICs of one port on a pair are on its leaves in turns, not the first half of them on the first leaf."""
    votes = Counter[bool]()
    for group in shape.groups:
        for use in (its for its in group.uses if its.count > 2 and its.ports == 1):
            for (nic, _), leaf in leaf_of(group, use).items():
                votes.update(leaf[server] == leaf_of(group, use)[0, 0].get(server) for server in leaf if nic == 1)
    return votes[False] > votes[True]


def _of_one_tier(shape: Shape, table: Sequence[Sequence[str]]) -> tuple[int, bool]:
    """Planes, and whether a NIC is on several leaves of one, where no spine tells."""
    leaves = set(filter(None, table[0]))
    if len(leaves) < 2:
        return 1, False
    planes = len({shape.switches[leaf].plane for leaf in leaves})
    return planes, planes < len(leaves)


# --- servers --------------------------------------------------------------------------------------------------


def own_server(parts: Mapping[str, Sequence[Nics]]) -> Document:
    """A catalog entry for servers that the catalog does not have, from their NICs in each fabric."""
    nics: Document = {}
    for uses in parts.values():
        for use in uses:
            entry: Document = {"count": use.count, "speed_gbps": use.speed_gbps}
            entry |= {"ports": use.ports} if use.ports > 1 else {}
            entry |= {"interfaces": list(use.names)} if _nameable(use) else {}
            nics[use.purpose] = entry
    gpus = sum(use.count for uses in parts.values() for use in uses if use.purpose == "compute")
    return {"gpus": gpus, "nics": nics}


def _nameable(use: Nics) -> bool:
    """Whether the ports have kernel names that a catalog entry can state."""
    if use.labeled or len(use.names) != use.count * use.ports:
        return False
    try:
        NicSet(count=use.count, ports=use.ports, speed_gbps=use.speed_gbps, interfaces=use.names)
    except ValueError:
        return False
    return True


def fits(server: ServerModel, use: Nics) -> bool:
    """Whether a model has these NICs, whole or split."""
    nic = server.nics.get(use.purpose)
    if nic is None or nic.count != use.count:
        return False
    named = use.labeled or nic.interfaces == use.names
    if (nic.ports, nic.speed_gbps) == (use.ports, use.speed_gbps):
        return named or not use.names[0]
    return media.nic_breakouts(nic).get(use.ports) == use.speed_gbps


def server_group(group: Group, model: str, uses: Sequence[Nics], purpose: str, server: ServerModel | None) -> Document:
    """A group of servers, without the size of its units."""
    purposes = [use.purpose for use in uses]
    entry: Document = {"model": model, "count": len(group.servers)}
    entry |= {"name": group.name} if group.name != model else {}
    entry |= {"nics": purposes[0] if len(purposes) == 1 else purposes} if purposes != [purpose] else {}
    entry |= {"leaves": "shared"} if group.shared else {}
    homing = {use.purpose: use.at.homing for use in uses if use.at.homing != "bond" and _on_pair(group, use)}
    entry |= {"homing": homing} if any(homing.values()) else {}
    nic = server.nics.get(purposes[0]) if server and purposes else None
    if nic is not None and (nic.ports, nic.speed_gbps) != (uses[0].ports, uses[0].speed_gbps):
        entry["nic_breakout"] = f"{uses[0].ports}x{uses[0].speed_gbps}"
    return entry


def _on_pair(group: Group, use: Nics) -> bool:
    """Whether NICs of one purpose have two leaves, on which their ports may be bonds, and the configs tell."""
    return bool(use.at.homing) and len(group.leaves(use)) == 2


# --- counts ---------------------------------------------------------------------------------------------------


def without_servers(shape: Shape, leaves: Sequence[str], form: Form) -> list[Document]:
    """Entries of leaves without servers: of pairs where the form has them, and of single leaves."""
    its = [shape.switches[name] for name in leaves]
    pairs = [switch for switch in its if switch.pair in leaves] if form.dual_tor else []
    single = [switch for switch in its if switch not in pairs]
    name = "border" if all(switch.border for switch in its) else "others"
    entries: list[Document] = [{"name": name, "count": len(pairs)}] if pairs else []
    if single:
        entry: Document = {"name": f"{name}-single" if pairs else name, "count": len(single)}
        entries.append(entry | ({"paired": False} if form.dual_tor else {}))
    return entries


def on_first_ports(shape: Shape, spec: FabricSpec, role: str) -> bool:
    """Whether the uplinks of most switches of a role are on the first of the fastest cages, and not on the last ones."""
    model = (spec.leaf if role == LEAF else spec.spine).model
    votes = Counter[bool]()
    for switch in shape.of(role):
        refs = [cable.a_ref for cable in shape.up_of.get(switch.name, ()) if cable.a_ref]
        cages = sorted({ref.cage for ref in refs})
        if refs:
            votes[cages == _cages(model, refs, first=True) != _cages(model, refs, first=False)] += 1
    return votes[True] > votes[False]


def _cages(model: SwitchModel, refs: Sequence[PortRef], *, first: bool) -> list[int]:
    try:
        up = lay_out(model, 0, refs[0].speed_gbps, len(refs), refs[0].speed_gbps, first=first).up
    except NoFit:
        return []
    return sorted({slot.cage for slot in up})


def counts(shape: Shape, cells: Cells, spec: FabricSpec) -> Document:
    """Numbers of switches and links as keys of a topology."""
    tiers = shape.tiers
    stated: Document = {}
    if not shape.pairs or tiers > 1:
        stated["tiers"] = tiers
    links = _links(shape)
    if uplinks := links.get(LEAF):
        per_leaf = usual_count(Counter(uplinks))
        first = {"ports": "first"} if on_first_ports(shape, spec, LEAF) else {}
        stated["leaf"] = {"uplinks": {"count": per_leaf, "speed_gbps": _speed(shape, LEAF), **first}}
    elif shape.pairs:
        per_leaf = usual_count(Counter(cable.a for cable in shape.pairs))
        stated["leaf"] = {"uplinks": {"count": per_leaf, "speed_gbps": shape.pairs[0].speed_gbps}}
    if tiers > 1:
        stated["spine"] = {"count": len(shape.of(SPINE))}
    if tiers > 2:
        per_spine = usual_count(Counter(links[SPINE]))
        first = {"ports": "first"} if on_first_ports(shape, spec, SPINE) else {}
        stated["spine"]["uplinks"] = {"count": per_spine, "speed_gbps": _speed(shape, SPINE), **first}
        groups = max(Counter(network for network, _ in cells.cores).values())
        stated["core"] = {"count": len(shape.of(CORE)), "groups": groups}
        stated["pods"] = {"units": max(1, cells.units_per_pod)}
        rails = stated_rails(cells) if spec.kind == "rail-optimized" else 0
        stated["pods"] |= {"rails": rails} if rails else {}
    return stated


def usual_count(links: Mapping[str, int]) -> int:
    """Links of most switches; of equally many the larger number."""
    counts = Counter(links.values())
    return max(counts, key=lambda count: (counts[count], count))


def addressing(shape: Shape) -> str:
    """How links between switches are addressed."""
    stated = [cable.a_address for cable in (*shape.up, *shape.pairs) if cable.a_address]
    if not shape.up and not shape.pairs:
        return "ipv6" if any(its.loopback6 for its in shape.switches.values()) else "ipv4"
    if not stated:
        return "unnumbered"
    return "ipv6" if ":" in stated[0] else "ipv4"


def link_subnets(shape: Shape) -> Document:
    """What an intent states of the subnets of links between switches."""
    pairs = [(cable.a_address, cable.b_address) for cable in (*shape.up, *shape.pairs) if cable.a_address and cable.b_address]
    if not pairs:
        return {}
    lengths = Counter(int(one.partition("/")[2] or 31) for one, _ in pairs)
    upper = sum(int(ip_interface(one)) > int(ip_interface(other)) for one, other in pairs)
    length = lengths.most_common(1)[0][0]
    return {**({"length": 30} if length == 30 else {}), **({"first": "upper"} if 2 * upper > len(pairs) else {})}


def servers_on_set(group: Group, cells: Cells, width: int) -> int:
    """Servers of a group without own leaves on each leaf or pair, where they fill one after the other; 0: they take turns.

    Args:
        width: leaves of a set.
    """
    leaves = [leaf for unit in cells.units[0].leaves for leaf in unit]
    set_of = {leaf: at // width for at, leaf in enumerate(leaves)}
    homes = {server: set_of.get(leaf, 0) for (server, _, _), (leaf, _) in group.of(group.uses[0])}
    order = [homes.get(server, 0) for server in group.servers]
    sets = max(1, len(leaves) // width)
    if sets == 1 or order == [at % sets for at in range(len(order))]:
        return 0
    most = max(Counter(order).values())
    return most if order == [min(at // most, sets - 1) for at in range(len(order))] else 0


def racks_without_servers(shape: Shape, cells: Cells, spec: FabricSpec) -> int:
    """Racks of the only unit whose leaves have no server."""
    leaves = {leaf for units in cells.units for unit in units.leaves for leaf in unit}
    left = sum(its.name not in leaves for its in shape.of(LEAF))
    single = len(cells.units) == 1 and not cells.units[0].group.bare and len(cells.units[0].leaves) == 1
    return -(-left // spec.leaves_per_nic(spec.groups[0])) if single else 0


def stated_rails(cells: Cells) -> int:
    """Rails of a pod, where the rails of a unit are in several; else 0."""
    if cells.pods_per_unit == 1:
        return 0
    return max(1, len(cells.units[0].leaves[0]) // cells.networks // cells.pods_per_unit)


def _links(shape: Shape) -> dict[str, list[str]]:
    """Role → lower end of every link up."""
    found: dict[str, list[str]] = {}
    for cable in shape.up:
        found.setdefault(shape.switches[cable.a].role, []).append(cable.a)
    return found


def _speed(shape: Shape, role: str) -> int:
    speeds = Counter(cable.speed_gbps for cable in shape.up if shape.switches[cable.a].role == role)
    return speeds.most_common(1)[0][0]


def hardware(shape: Shape) -> Document:
    """Switch models and network OSes: `switch` and `nos`, and what tiers have of their own."""
    models = {role: _usual([its.model for its in shape.of(role)]) for role in (LEAF, SPINE, CORE)}
    systems = {role: _usual([its.nos for its in shape.of(role)]) for role in (LEAF, SPINE, CORE)}
    built = [role for role in (LEAF, SPINE, CORE) if models[role]]
    topology: Document = {}
    if len({models[role] for role in built}) == 1:
        topology["switch"] = models[LEAF]
    else:
        below = ""
        for role in built:
            if models[role] != below:
                topology[role] = {"switch": models[role]}
            below = models[role]
    of_roles = {role: systems[role] for role in built if systems[role]}
    nos: Any = systems[LEAF] if len(set(of_roles.values())) == 1 else of_roles
    if built == [LEAF, SPINE] and len(of_roles) == len(built) and of_roles[LEAF] != of_roles[SPINE]:
        nos = {**of_roles, CORE: of_roles[SPINE]}  # of the third tier, which takes the model of the second
    known = [catalog.switch(models[role]) for role in built]
    usual = all(model and model.nos and model.nos[0] == systems[role] for role, model in zip(built, known, strict=True))
    return {"topology": topology, **({"nos": nos} if nos and not usual else {})}


def _usual(words: Sequence[str]) -> str:
    return Counter(words).most_common(1)[0][0] if words else ""


def attachments(shape: Shape, server_gbps: int) -> list[Document]:
    """Other devices on leaf ports."""
    found = []
    for name, cables in shape.attached.items():
        speed = cables[0].speed_gbps
        managed = len(shape.managed) if name == SWITCH_MANAGEMENT else 0
        found.append(
            {"name": name, "links": len(cables) + managed, **({"speed_gbps": speed} if speed != server_gbps else {})}
        )
    return found
