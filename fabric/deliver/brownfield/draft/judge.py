"""Plans a document, and finds what its plan has otherwise than the network that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import Any

from fabric.configs import targets
from fabric.deliver.brownfield.survey.ports import tenant_of, with_subinterfaces
from fabric.deliver.brownfield.survey.records import Cable, Survey
from fabric.design.intent.rewrite import of_data
from fabric.design.planner.free_ports import cage_columns
from fabric.design.planner.resolve import resolve_intent
from fabric.design.planner.site import plan_site, size_site
from fabric.hardware.catalog.models import SwitchModel
from fabric.model.plan import (
    ATTACHED,
    KINDS,
    SERVER,
    FabricPlan,
    FabricSpec,
    Layout,
    Plan,
    PortRef,
    SiteSpec,
    Sizing,
    core_downlinks,
    leaf_layout,
    server_ports,
    spine_downlinks,
    unit_plan,
)
from fabric.model.plan.lock import Lock

NAME = "import"
NO_NUMBERS = Lock()
Spot = tuple[int, int, int]  # cage, port of the cage, Gb/s
Split = tuple[int, int]  # ports of a cage, and their Gb/s or 0
UNSTATED = -1
End = tuple[str, int, int, int]  # device, cage, port of the cage, ports of it


def merged(document: Any, more: Any) -> Any:
    """A document with the keys of another; entries of lists are joined by name, in the order of the list that has all."""
    if isinstance(document, dict) and isinstance(more, Mapping):
        result = dict(document)
        for key, value in more.items():
            result[key] = merged(document[key], value) if key in document else deepcopy(value)
        return result
    named = isinstance(more, list) and all(isinstance(its, Mapping) and "name" in its for its in more)
    if named and isinstance(document, list):
        by_name = {its.get("name", its.get("model")): its for its in document}
        if by_name.keys() <= {its["name"] for its in more}:
            return [merged(by_name.get(its["name"], {}), its) for its in more]
        known = [merged(its, next((m for m in more if m["name"] == name), {})) for name, its in by_name.items()]
        return [*known, *(deepcopy(its) for its in more if its["name"] not in by_name)]
    return deepcopy(more)


def spec_of(document: Mapping[str, Any]) -> SiteSpec:
    """A document with every default chosen. Raises InputError."""
    return resolve_intent(of_data(document, NAME))


def sized(document: Mapping[str, Any], lock: Lock = NO_NUMBERS) -> dict[str, tuple[FabricSpec, Sizing]]:
    """The counts of every fabric. Raises InputError."""
    return size_site(spec_of(document), lock)


def planned(document: Mapping[str, Any], lock: Lock = NO_NUMBERS) -> Plan:
    """The plan of a document. Raises InputError."""
    site = spec_of(document)
    return plan_site(site, lock, targets.choose(site.fabrics, ()))


# --- what the sizing alone decides of cables ------------------------------------------------------------------


def columns(spec: FabricSpec, sizing: Sizing, group: str) -> dict[Spot, int]:
    """Column of the leaf's server block of every port that a leaf of a group can have for servers and other devices."""
    size = next(its for its in sizing.groups if its.name == group)
    layout = leaf_layout(spec, sizing, size)
    found = {(slot.cage, slot.sub, slot.speed_gbps): at for at, slot in enumerate(layout.down)}
    for column, by_speed in cage_columns(spec.leaf.model, layout, size.down_gbps).items():
        for speed, slot in by_speed.items():
            found[slot.cage, slot.sub, speed] = column
    return found


def splits(model: SwitchModel, layout: Layout, cages: Mapping[int, Split]) -> list[Split]:
    """Splits of some cages: ports, and their speed where it is one that a config states and another than the cage's own.

    Args:
        cages: with what is there; the speed is UNSTATED where configs have none.
    """
    of_cage = {slot.cage: (slot.split, slot.speed_gbps) for slot in (*layout.down, *layout.up)}
    found: list[Split] = []
    for cage, (_, stated) in cages.items():
        split, speed = of_cage.get(cage, (1, 0))
        beyond = cage > model.cages  # of another leaf of the group, which has more
        whole = split > 1 or beyond or speed == model.group_of(cage).speed_gbps
        found.append((split, UNSTATED if stated == UNSTATED else 0 if whole else speed))
    return found


def _columns_of(spec: FabricSpec, sizing: Sizing, group: str, spots: Sequence[Spot]) -> list[int | None]:
    known = columns(spec, sizing, group) if spots else {}
    return [known.get(spot) for spot in spots]


def visible(
    spec: FabricSpec, sizing: Sizing, used: Mapping[str, Sequence[Spot]], unused: Mapping[str, Mapping[int, Split]]
) -> tuple[Any, ...]:
    """What cables show of a sized fabric: equal values wire alike.

    Args:
        used: group → ports of its leaves that are cabled to something else than the first NICs of its servers.
        unused: group → cages of its leaves without a cable, with their splits where these are known.
    """
    groups: list[tuple[Any, ...]] = []
    for group, size in zip(spec.groups, sizing.groups, strict=True):
        if group.shared:
            groups.append((size.name, size.servers, group.per_rack))
            continue
        ports = server_ports(spec, group)
        unit = unit_plan(spec, size.unit_leaves, spec.leaves_per_nic(group))
        layout = leaf_layout(spec, sizing, size)
        several = size.units > 1 or size.unit_servers != size.servers_per_leaf
        seats = min(size.servers, size.servers_per_leaf) * size.leaf_ports_per_server
        groups.append(
            (
                *(size.name, size.servers, size.units, size.unit_leaves, size.leaf_ports_per_server, size.last_unit),
                (size.servers_per_leaf, size.unit_servers) if several else (),
                *(tuple(its.tolist()) for its in (ports.leaf, ports.local, unit.network, unit.pod, unit.rank)),
                splits(spec.leaf.model, layout, unused.get(size.name, {})),
                _columns_of(spec, sizing, size.name, used.get(size.name, ())),
                (layout.down[:seats], layout.up[: size.uplinks // max(1, sizing.spines or 1) * (sizing.spines_built or 1)]),
            )
        )
    return (
        tuple(groups),
        *(
            sizing.tiers,
            sizing.networks,
            sizing.planes,
            sizing.kind == "collapsed",
            sizing.uplink_gbps if sizing.leaves else 0,
        ),
        *(sizing.spines_built, sizing.core_gbps, sizing.cores_built, sizing.spines_per_core, sizing.links_per_core),
        (sizing.units_per_pod, sizing.pods) if sizing.tiers == 3 else (),
        spine_downlinks(spec, sizing) if sizing.spines else (),
        core_downlinks(spec, sizing) if sizing.cores else (),
        (spec.below.links, spec.below.speed_gbps) if spec.below else (),
    )


# --- what is there, and what is planned -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Something that is otherwise in the plan.

    Attributes:
        what: "device", "link", "AS number", "loopback", …
        there, planned: as a person reads them, "" for what is missing.
    """

    fabric: str
    subject: str
    what: str
    there: str
    planned: str


def links_there(survey: Survey) -> dict[tuple[End, End], Cable]:
    """The cables of a survey by their ends; a port without a number on the panel is that of management."""
    return {(_end(cable.a, cable.a_ref), _end(cable.b, cable.b_ref)): cable for cable in survey.cables}


def slices_there(survey: Survey, fabric: FabricPlan, cable: Cable) -> dict[str, int]:
    """Tenant → first address of its own subnet on a link between switches, where a VRF of each end has a subinterface."""
    if not fabric.tenancy.slices:
        return {}
    ends: list[dict[str, int]] = []
    for name, port in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
        switch = survey.switches.get(name)
        ports = with_subinterfaces(switch.facts, port) if switch and switch.facts else []
        own = {its.vrf.value: its.addresses[0].value for its in ports if its.tag and its.vrf and its.addresses}
        ends.append({tenant_of(switch.nos, vrf): _address(text) for vrf, text in own.items()} if switch else {})
    return {tenant: min(number, ends[1][tenant]) for tenant, number in ends[0].items() if tenant in ends[1]}


def _address(text: str) -> int:
    return int(ip_interface(text).ip)


def _end(name: str, ref: PortRef | None) -> End:
    return (name, ref.cage, ref.sub, ref.split) if ref else (name, 0, 0, 1)


@dataclass(frozen=True)
class PlannedLink:
    """A link of a plan: its row, and the address of either end as a number, -1 for none."""

    fabric: FabricPlan
    row: int
    speed_gbps: int
    a_address: int
    b_address: int


def links_planned(fabric: FabricPlan) -> dict[tuple[End, End], PlannedLink]:
    """The links of a fabric by their ends."""
    columns, stood_for, upper_first = fabric.links.lists(), fabric.stood_for, fabric.first_end.tolist()
    names = [device.name for device in fabric.devices]
    hosts = {device.index for device in fabric.devices if device.role in (SERVER, ATTACHED)}
    found = {}
    for row, low in enumerate(fabric.subnet.tolist()):
        a, b = columns["a"][row], columns["b"][row]
        if row in fabric.management_ports:
            lower: End = (stood_for[row].name, 0, 0, 1)
        else:
            split = 1 if a in hosts and row not in fabric.below else columns["a_split"][row]
            name = stood_for[row].name if row in stood_for else names[a]
            lower = (name, columns["a_cage"][row], columns["a_sub"][row], split)
        upper = (names[b], columns["b_cage"][row], columns["b_sub"][row], columns["b_split"][row])
        first, second = (low, low + 1) if low >= 0 else (-1, -1)
        ends = (second, first) if upper_first[row] else (first, second)
        found[lower, upper] = PlannedLink(fabric, row, columns["speed_gbps"][row], *ends)
    return found


def differences(survey: Survey, plan: Plan) -> list[Difference]:
    """What a plan has otherwise, in the order of fabrics and names."""
    found: list[Difference] = []
    for name, switches in survey.fabrics.items():
        fabric = plan.fabrics[name]
        ours = {device.name: device for device in fabric.switches}
        for switch in switches:
            device = ours.pop(switch.name, None)
            if device is None:
                found.append(_difference(name, switch.name, "device", switch.role, ""))
                continue
            pairs = [
                ("role", switch.role, device.role),
                ("model", switch.model or device.model, device.model),
                ("network OS", switch.nos, device.nos),
                ("AS number", str(switch.asn or device.asn), str(device.asn)),
                *number_pairs(fabric, device.index, switch),
            ]
            found += [_difference(name, switch.name, what, one, other) for what, one, other in pairs if one != other]
        found += [_difference(name, device.name, "device", "", device.role) for device in ours.values()]
    there = links_there(survey)
    fabric_of = {switch.name: name for name, its in survey.fabrics.items() for switch in its}
    mine: dict[tuple[End, End], PlannedLink] = {}
    for fabric in plan.fabrics.values():
        mine |= links_planned(fabric)
    for ends, cable in there.items():
        fabric_name, link = fabric_of.get(cable.b, ""), mine.pop(ends, None)
        if link is None:
            found.append(_difference(fabric_name, in_words(ends), "link", f"{cable.speed_gbps}G", ""))
            continue
        if link.speed_gbps != cable.speed_gbps:
            found.append(_difference(fabric_name, in_words(ends), "speed", f"{cable.speed_gbps}G", f"{link.speed_gbps}G"))
        for stated, number in ((cable.a_address, link.a_address), (cable.b_address, link.b_address)):
            address = f"{ip_address(number)}/{link.fabric.link_length(link.row)}" if number >= 0 else ""
            if stated and stated != address:
                found.append(_difference(fabric_name, in_words(ends), "subnet", stated, address))
        planned = {link.fabric.tenancy.tenants[n].name: its[link.row] for n, its in link.fabric.tenancy.slices.items()}
        for tenant, first in slices_there(survey, link.fabric, cable).items():
            if planned.get(tenant, -1) != first:
                what = f"subnet of tenant {tenant}"
                found.append(_difference(fabric_name, in_words(ends), what, str(ip_address(first)), ""))
    found += [
        _difference(link.fabric.name, in_words(ends), "link", "", f"{link.speed_gbps}G")
        for ends, link in mine.items()
        if KINDS[int(link.fabric.links.kind[link.row])] != "server-server"
    ]
    return found


def moved_ports(survey: Survey, plan: Plan) -> list[tuple[str, str, str, list[int | str]]]:
    """(Fabric, switch, neighbor, ports) of links between two devices that are there on other ports of the switch."""
    there: dict[tuple[str, str], list[tuple[End, End]]] = {}
    for ends in links_there(survey):
        there.setdefault((ends[0][0], ends[1][0]), []).append(ends)
    found = []
    for name, fabric in plan.fabrics.items():
        mine: dict[tuple[str, str], list[tuple[End, End]]] = {}
        for ends, link in links_planned(fabric).items():
            if link.row not in fabric.stood_for or link.row in fabric.below:
                mine.setdefault((ends[0][0], ends[1][0]), []).append(ends)
        switches = {device.name for device in fabric.switches}
        for pair, its in mine.items():
            other = there.get(pair, [])
            if len(other) != len(its) or set(other) == set(its):
                continue
            for end in (0, 1):
                # Links in their order: by the other end, which stays.
                by_far = {ends[1 - end]: ends[end] for ends in other}
                if pair[0] in survey.switches and by_far.keys() != {ends[1 - end] for ends in its}:  # which moves as well
                    by_far = {ends[1 - end]: far[end] for ends, far in zip(its, sorted(other), strict=True)}
                there_now = [by_far.get(ends[1 - end], ends[end]) for ends in its]
                if pair[end] in switches and [its[1:3] for its in there_now] != [ends[end][1:3] for ends in its]:
                    found.append((name, pair[end], pair[1 - end], _pinned(there_now)))
    return found


def _pinned(ends: Sequence[End]) -> list[int | str]:
    """Ports as a pin states them: by their cages, where links take their ports in turn."""
    cages = [cage for _, cage, _, _ in ends]
    if all(sub == cages[:at].count(cage) for at, (_, cage, sub, _) in enumerate(ends)):
        return [*cages]
    return [f"{cage}/{sub + 1}" if split > 1 else cage for _, cage, sub, split in ends]


def stated_links(survey: Survey, plan: Plan) -> dict[str, dict[str, list[Any]]]:
    """Fabric → what an intent states of links between its switches that the rule does not give: `remove` and `add`."""
    fabric_of = {switch.name: name for name, its in survey.fabrics.items() for switch in its}
    role_of = {name: its.role for name, its in survey.switches.items()}
    there = links_there(survey)
    found: dict[str, dict[str, list[Any]]] = {}
    mine: set[tuple[End, End]] = set()
    for name, fabric in plan.fabrics.items():
        switches = {device.name for device in fabric.switches}
        for ends, link in links_planned(fabric).items():
            inside = ends[0][0] in switches and ends[1][0] in switches and link.row not in fabric.stood_for
            known = there.get(ends)
            if inside and (known is None or known.speed_gbps != link.speed_gbps):
                found.setdefault(name, {}).setdefault("remove", []).append(_port(ends[0]))
            elif inside:
                mine.add(ends)
    for ends, cable in there.items():
        name = fabric_of.get(cable.a, "")
        if ends in mine or not name or fabric_of.get(cable.b) != name or cable.a_ref is None or cable.b_ref is None:
            continue
        entry: dict[str, Any] = {"ends": [_port(end) for end in ends], "speed_gbps": cable.speed_gbps}
        peers = role_of[cable.a] == role_of[cable.b] and plan.fabrics[name].spec.kind != "collapsed"
        if cable.a_address and not peers:
            entry["subnet"] = str(ip_interface(cable.a_address).network)
        found.setdefault(name, {}).setdefault("add", []).append(entry)
    return found


def _port(end: End) -> str:
    """`leaf1 33/2`."""
    name, cage, sub, split = end
    return f"{name} {cage}" + (f"/{sub + 1}" if split > 1 else "")


def number_pairs(fabric: FabricPlan, index: int, switch: Any) -> list[tuple[str, str, str]]:
    """(What, there, planned) of the addresses of a switch; what is not there is as planned."""
    pairs = []
    for key, stated in (("loopback", switch.loopback), ("loopback6", switch.loopback6), ("management", switch.management)):
        number = int(getattr(fabric, key)[index])
        stated = stated.partition("/")[0]
        text = str(ip_address(number)) if number >= 0 else ""
        pairs.append((key, str(ip_address(stated)) if stated else text, text))
    vtep = fabric.tenancy.vtep.get(index)
    text = "" if vtep is None else str(ip_address(vtep))
    pairs.append(("vtep", switch.vtep or text, text))
    return pairs


def _difference(fabric: str, subject: str, what: str, there: str, planned: str) -> Difference:
    return Difference(fabric=fabric, subject=subject, what=what, there=there, planned=planned)


def in_words(ends: Sequence[End]) -> str:
    """`leaf1 33/2 to spine1 4`."""
    return " to ".join(map(_port, ends))
