"""States a fabric: in full from its cables, then without the keys whose absence changes nothing that cables show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_address

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.draft import statement
from fabric.deliver.brownfield.draft.cells import Cells, cages_there, cells as cells_of, reserved
from fabric.deliver.brownfield.draft.free_spots import used
from fabric.deliver.brownfield.draft.judge import UNSTATED, Split, Spot, columns, merged, sized, splits, visible
from fabric.deliver.brownfield.draft.naming import patterns
from fabric.deliver.brownfield.draft.pools import asn_schemes
from fabric.deliver.brownfield.draft.servers import own_servers
from fabric.deliver.brownfield.draft.shape import Shape
from fabric.deliver.brownfield.draft.shortest import shortest
from fabric.deliver.brownfield.draft.statement import Document, Form
from fabric.deliver.brownfield.draft.uplinks import as_there, variants
from fabric.deliver.brownfield.draft.working import Working
from fabric.design.planner.addresses import with_free_ports
from fabric.design.planner.below import SWITCH_MANAGEMENT
from fabric.design.planner.splits import server_block
from fabric.hardware import catalog
from fabric.model.plan import LEAF, SERVER, FabricSpec, Sizing, leaf_layout, leaf_set

SPARE_MAX = 8
WHOLE = "as a whole switch carries"


def state_fabric(work: Working, name: str, shape: Shape, models: Mapping[str, str]) -> None:
    """The fabric in full, then without the keys that change nothing."""
    forms = list(statement.forms(shape, below=bool(work.below(shape))))
    known = [(form, its) for form in forms if (its := _stated(work, name, shape, models, form))]
    for exact in (True, False):
        for form, (full, cells) in known:
            spare = _spare(shape, cells, work.spec(name, full))
            fulls = [merged(full, {"topology": {"leaf": {"spare_server_ports": spare}}}), full] if spare else [full]
            tried = [its for one in fulls for its in variants(shape, cells, one, work.spec(name, one))]
            fitting = (its for its in (tried if exact else tried[::-1]) if _sizes(work, name, shape, cells, its, exact=exact))
            if fabric := next(fitting, None):
                work.cells[name] = cells
                _shorten(work, name, shape, fabric)
                source = "NICs of its servers, and the leaves they are cabled to"
                work.infer(
                    f"fabric {name}", "topology", form.kind, source if exact else f"{source}; some cables are otherwise"
                )
                return
    form = forms[0]
    work.document["fabrics"][name] = _bare(work, name, shape, models, form)
    work.cells[name] = Cells(units=[])
    work.infer(f"fabric {name}", "topology", form.kind, "no rule of wiring fits its cables")


def _spare(shape: Shape, cells: Cells, spec: FabricSpec) -> int:
    """Server ports that every leaf of several is split for, beyond those of the servers of a full one; 0 for none."""
    units = cells.units[0]
    if units.group.bare:
        return 0
    leaves = [leaf for unit in units.leaves for leaf in unit if leaf]
    cabled = Counter(leaf for _, (leaf, _) in units.group.of(units.group.uses[0]))
    ports = reserved(shape, spec, units.group, leaves) if len(units.leaves) > 1 else 0
    return max(0, ports - max(cabled[leaf] for leaf in leaves)) if ports else 0


def _shorten(work: Working, name: str, shape: Shape, fabric: Document) -> None:
    """Puts the shortest statement into the document that is cabled as the one in full."""
    ports = used(shape, work.cells[name], work.shapes)
    unused = _unused(shape, work.cells[name])
    fabric = _with_spare(work, name, fabric, ports, unused)
    spots = {group: [spot for spot, _ in its] for group, its in ports.items()}
    work.full[name] = fabric
    work.document["fabrics"][name] = shortest(fabric, _alike(work, name, fabric, spots, unused))


def _unused(shape: Shape, cells: Cells) -> dict[str, dict[int, Split]]:
    """Group → cages of a leaf that nothing is cabled to, with the ports that its config splits each into.

    Their speed counts where ports with a cable state that they are slower than their cage.
    """
    found = {}
    for units in cells.units:
        leaf = next((leaf for unit in units.leaves for leaf in unit if leaf), "")
        model = catalog.switch(shape.switches[leaf].model) if leaf else None
        ports = [cable.b_ref for cable in shape.at_leaves if cable.b == leaf and cable.b_ref]
        cabled = {ref.cage for ref in ports} | {cable.a_ref.cage for cable in shape.up_of.get(leaf, ()) if cable.a_ref}
        if model is None or not (there := cages_there(shape.switches[leaf])):
            continue
        slow = {ref.cage for ref in ports if ref.split == 1 and ref.speed_gbps < model.group_of(ref.cage).speed_gbps}
        stated = bool(slow) and all(there.get(cage, (1, 0))[1] for cage in slow)
        found[units.group.name] = {
            cage: (split, UNSTATED if not stated else speed if split == 1 else 0)
            for cage, (split, speed) in sorted(there.items())
            if cage not in cabled
        }
    return found


def _stated(work: Working, name: str, shape: Shape, models: Mapping[str, str], form: Form) -> tuple[Document, Cells] | None:
    """Every key of a fabric, and its tables; None where its cables do not follow the form."""
    fabric = _bare(work, name, shape, models, form)
    leaves = [its.name for its in shape.of(LEAF)]
    try:
        spec = work.spec(name, fabric)
        cells = cells_of(shape, spec)
        if cells and form.kind == "rack" and (more := statement.racks_without_servers(shape, cells, spec)):
            cells = cells_of(shape, spec, more)
        if cells and (left := [leaf for leaf in leaves if leaf not in cells.order[LEAF]]):
            fabric["topology"]["leaves_without_servers"] = statement.without_servers(shape, left, form)
            spec = work.spec(name, fabric)
            cells = cells_of(shape, spec)
    except InputError:
        return None
    if cells is None or not cells.units:
        return None
    below = "below" in fabric
    topology = fabric["topology"] = (
        fabric["topology"] if below else merged(fabric["topology"], statement.counts(shape, cells, spec))
    )
    for units in (its for its in cells.units if not its.group.bare):
        entry = next(its for its in fabric["servers"] if its.get("name", its["model"]) == units.group.name)
        entry["unit"] = {"servers": units.per_leaf * units.racks}
        if units.racks > 1 or (below and len(units.leaves) > 1):
            entry["per_rack"] = units.per_leaf
    for group in (its for its in shape.groups if its.shared):
        entry = next(its for its in fabric["servers"] if its.get("name", its["model"]) == group.name)
        if count := statement.servers_on_set(group, cells, leaf_set(spec)):
            entry["per_rack"] = count
    if len(fabric.get("servers", ())) == 1:
        topology["unit"] = fabric["servers"][0].pop("unit")
    return fabric, cells


def _bare(work: Working, name: str, shape: Shape, models: Mapping[str, str], form: Form) -> Document:
    """What is known of a fabric before its units."""
    own = own_servers(work.whole)
    groups = [
        statement.server_group(group, models[group.name], group.uses, shape.purpose, catalog.server(models[group.name], own))
        for group in shape.groups
    ]
    hardware = statement.hardware(shape)
    below = work.below(shape)
    topology = {**form.keys, **hardware["topology"]}
    if below:
        topology.pop("rails", None)
    gbps = shape.groups[0].uses[0].speed_gbps if shape.groups and shape.groups[0].uses else 0
    attached = statement.attachments(shape, gbps)
    if shape.managed and not below and SWITCH_MANAGEMENT not in shape.attached:
        cables = shape.managed
        speed = {"speed_gbps": cables[0].speed_gbps} if cables[0].speed_gbps != gbps else {}
        attached.append({"name": work.managing(name), "links": len(cables), **speed})
    if attached:
        topology["attachments"] = attached
    if not groups:
        leaves = [its.name for its in shape.of(LEAF)]
        topology["leaves_without_servers"] = statement.without_servers(shape, leaves, form)
    fabric: Document = {"purpose": shape.purpose}
    if "nos" in hardware:
        fabric["nos"] = hardware["nos"]
    underlay = statement.addressing(shape)
    fabric |= {"servers": groups} if groups else {}
    fabric["topology"] = topology
    stated: Document = {"addressing": underlay} if underlay != "ipv4" else {}
    if subnets := statement.link_subnets(shape):
        stated["link_subnets"] = subnets
    fabric |= {"underlay": stated} if stated else {}
    if any(its.vtep for its in shape.switches.values()):
        fabric["overlay"] = {"kind": "evpn-vxlan"}
    return fabric | ({"below": below} if below else {})


def _sizes(work: Working, name: str, shape: Shape, cells: Cells, fabric: Document, *, exact: bool) -> bool:
    """Whether a statement of a fabric can be built; `exact`: with the switches and uplinks that are there."""
    try:
        sizing = sized(work.alone(name, fabric))[name][1]
    except InputError:
        return False
    return not exact or as_there(shape, cells, sizing)


def _with_spare(
    work: Working,
    name: str,
    fabric: Document,
    ports: Mapping[str, Sequence[tuple[Spot, str]]],
    unused: Mapping[str, Mapping[int, Split]],
) -> Document:
    """The fabric with spare server ports or other units, where addresses of other ports count from behind them.

    Of those with these addresses it is the first that splits the cages that nothing is cabled to as they are there.
    """
    spec, sizing = sized(work.alone(name, fabric))[name]
    if not _off(spec, sizing, ports) and _splits_alike(spec, sizing, unused):
        return fabric
    found: list[tuple[str, object, Document]] = [] if _off(spec, sizing, ports) else [("", "", fabric)]
    for what, count, change in _changes(fabric):
        other = {**fabric, **change} if "servers" in change else merged(fabric, change)
        for key in ("unit", *(("rails", "kind", "tiers") if count == WHOLE else ())) if not change else ():
            other["topology"] = {name: its for name, its in other["topology"].items() if name != key}
            groups = [{name: its for name, its in group.items() if name != key} for group in other.get("servers", ())]
            other |= {"servers": groups} if groups else {}
        try:
            its = sized(work.alone(name, other))[name]
        except InputError:
            continue
        if as_there(work.shapes[name], work.cells[name], its[1]) and not _off(*its, ports):
            found.append((what, count, other))
            if _splits_alike(*its, unused):
                break
    else:
        del found[1:]
    if not found:
        return fabric
    what, count, other = found[-1]
    if what:
        work.infer(f"fabric {name}", what, count, "addresses and splits of other leaf ports")
    return other


def _splits_alike(spec: FabricSpec, sizing: Sizing, unused: Mapping[str, Mapping[int, Split]]) -> bool:
    """Whether cages that nothing is cabled to are split as they are there."""
    layouts = {size.name: leaf_layout(spec, sizing, size) for size in sizing.groups if size.name in unused}
    return all(splits(spec.leaf.model, its, unused[name]) == [*unused[name].values()] for name, its in layouts.items())


def _alike(
    work: Working, name: str, full: Document, ports: Mapping[str, Sequence[Spot]], unused: Mapping[str, Mapping[int, Split]]
) -> Callable[[Document], bool]:
    """Whether another statement of a fabric is cabled as the one in full."""
    wanted = visible(*sized(work.alone(name, full))[name], ports, unused)

    def alike(fabric: Document) -> bool:
        try:
            return visible(*sized(work.alone(name, fabric))[name], ports, unused) == wanted
        except InputError:
            return False

    return alike


def _changes(fabric: Document) -> Iterator[tuple[str, object, Document]]:
    """Changes of a unit that move the first free port of its leaves: what they are, how many, and the keys."""
    yield "servers of a unit", "default", {}
    if fabric["topology"].get("tiers") == 1:
        yield "servers of a unit", WHOLE, {}
    unit = fabric["topology"].get("unit")
    for count in range(1, unit["servers"]) if unit else ():
        yield "servers of a unit", count, {"topology": {"unit": {"servers": count}}}
    for count in range("spare_server_ports" not in fabric["topology"].get("leaf", {}), SPARE_MAX):
        yield "spare server ports", count, {"topology": {"leaf": {"spare_server_ports": count}}}
    for count in range(unit["servers"] + 1, 4 * unit["servers"] + 1) if unit else ():
        yield "servers of a unit", count, {"topology": {"unit": {"servers": count}}}
    for at, group in enumerate(fabric.get("servers", ())):
        servers = group.get("unit", {}).get("servers", 0)
        for count in (*range(1, servers), *range(servers + 1, 4 * servers + 1)):
            groups = list(fabric["servers"])
            groups[at] = merged(group, {"unit": {"servers": count}})
            yield f"servers of a unit of {group['model']}", count, {"servers": groups}


def _off(spec: FabricSpec, sizing: Sizing, ports: Mapping[str, Sequence[tuple[Spot, str]]]) -> bool:
    """Whether ports have other addresses than their columns give them: blocks of leaves begin at multiples of their size."""
    blocks = [server_block(spec.leaf.model, size.down_gbps) for size in sizing.leaf_groups]
    block = max(*blocks, with_free_ports(spec, sizing.groups[0])) if ports else 0
    for group, its in ports.items():
        column_of = columns(spec, sizing, group)
        for spot, address in its:
            at = int(ip_address(address.partition("/")[0])) % block // 2 if address else -1
            column = column_of.get(spot, block)
            if address and at != column and (spot not in column_of or column < block // 2):
                return True
    return False


# --- names and AS numbers -------------------------------------------------------------------------------------


def state_names(work: Working) -> None:
    """The patterns of names that are not the usual ones; one that another fabric has would give switches its names."""
    taken: set[tuple[str, str]] = set()
    for name, shape in work.shapes.items():
        found = patterns(work.survey.site, shape, work.cells[name])
        apart = {role for role, its in found.items() if "{fabric}" in its.text or (role, its.text) not in taken}
        found = {role: its for role, its in found.items() if role in apart or role == SERVER}
        taken |= {(role, its.text) for role, its in found.items()}
        work.patterns[name] = found
        texts = {role: its.text for role, its in found.items() if its.text != _usual_name(role)}
        if texts:
            work.fabric(name)["names"] = texts


def state_asns(work: Working) -> None:
    """The scheme of AS numbers, where it is not the usual one."""
    for name in work.shapes:
        if scheme := asn_schemes(work.survey, name)[0]:
            work.fabric(name).setdefault("underlay", {})["asn"] = scheme


def _usual_name(role: str) -> str:
    return "{group}-{n:04}" if role == "server" else f"{{fabric}}-{role}{{n:03}}"
