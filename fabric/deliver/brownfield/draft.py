"""From a survey to the shortest intent that plans what is there, and the lock with its numbers.

A fabric is stated in full: kind, units, uplinks, spines. The planner judges: a statement is right when its plan has the
cables that are there, and a key goes when the plan stays the same without it. What is numbered otherwise than a new plan
would number it goes into the lock, what a lock cannot hold into pins. What then still differs is left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any
import os

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield import numbers, statement
from fabric.deliver.brownfield.cells import Cells, cells as cells_of
from fabric.deliver.brownfield.free_spots import spots, used
from fabric.deliver.brownfield.judge import Difference, Spot, columns, differences, merged, moved_ports, planned, sized, spec_of, visible
from fabric.deliver.brownfield.names import Pattern
from fabric.deliver.brownfield.naming import ids, patterns, renamed
from fabric.deliver.brownfield.pools import asn_schemes, pools
from fabric.deliver.brownfield.shape import Group, Nics, Shape, shapes, with_numbers
from fabric.deliver.brownfield.shortest import shortest
from fabric.deliver.brownfield.statement import Document, Form
from fabric.deliver.brownfield.uplinks import as_there, variants
from fabric.deliver.brownfield.survey import Inference, Survey
from fabric.hardware import catalog
from fabric.hardware.catalog.models import ServerModel
from fabric.design.planner.addresses import with_free_ports
from fabric.design.planner.below import SWITCH_MANAGEMENT
from fabric.design.planner.splits import server_block
from fabric.model.plan import FabricPlan, FabricSpec, Plan, Sizing, leaf_set
from fabric.model.plan.lock import FabricLock, Lock

SPARE_MAX = 8
NOTHING: Mapping[str, Any] = {}
ROUNDS = 6  # plans that correct numbers
PINNED_PORTS = 12  # plans that move ports, each by a pin
_OF_LINKS = ("address/p2p/", "address/servers/")
FEW = 3  # switches with another number than the others of their role, which are pinned


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An intent and its lock.

    Attributes:
        document: of the whole intent, without what `sections` of the caller state.
        lock: numbers in use.
        inferences: what no line states.
        left_over: what the plan of the document has otherwise than the network.
    """

    document: Document
    lock: Lock
    inferences: Sequence[Inference]
    left_over: Sequence[Difference]


def draft(survey: Survey, sections: Mapping[str, Any] = NOTHING) -> Draft:
    """The shortest intent of what is there, and its lock.

    Args:
        sections: of the intent that are known from elsewhere: tenants, underlay, management, own hardware.
    """
    return _Drafting(with_numbers(survey), sections).draft()


@dataclass
class _Drafting:
    survey: Survey
    sections: Mapping[str, Any]
    document: Document = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    inferences: list[Inference] = field(default_factory=list)
    cells: dict[str, Cells] = field(default_factory=dict)
    patterns: dict[str, dict[str, Pattern]] = field(default_factory=dict)
    full: dict[str, Document] = field(default_factory=dict)  # statements with every key

    def draft(self) -> Draft:
        self.shapes = shapes(self.survey)
        self.document = {"version": 1, "site": self.survey.site, "fabrics": {}}
        models = self._servers()
        for name, shape in sorted(self.shapes.items(), key=lambda its: bool(self._below(its[1]))):
            self._fabric(name, shape, models[name])
        self.document["fabrics"] = {name: self.document["fabrics"][name] for name in self.shapes}
        self._names()
        self._asns()
        try:
            plan = self._plan()
        except InputError as error:
            left = [_refused(its.message) for its in error.diagnostics]
            return Draft(document=self.document, lock=Lock(), inferences=self.inferences, left_over=left)
        plan, left = self._numbered(plan)
        return Draft(document=self.document, lock=plan.lock, inferences=self.inferences, left_over=left)

    # --- documents ---

    def whole(self, document: Document | None = None) -> Document:
        """A document with the sections of the caller."""
        result: Document = merged(document or self.document, self.sections)
        return result

    def _alone(self, name: str, fabric: Document) -> Document:
        """One fabric by itself, or with the one that it hangs below."""
        others = {other for other in [fabric.get("below", {}).get("fabric", "")] if other}
        names = {name, *others}
        sections = dict(self.sections)
        sections["fabrics"] = {key: its for key, its in self.sections.get("fabrics", {}).items() if key in names}
        fabrics = {key: its for key, its in self.document["fabrics"].items() if key in others} | {name: fabric}
        result: Document = merged({**self.document, "fabrics": fabrics}, sections)
        return result

    def _infer(self, subject: str, what: str, value: object, source: str) -> None:
        self.inferences.append(Inference(subject=subject, what=what, value=str(value), source=source))

    # --- servers ---

    def _servers(self) -> dict[str, dict[str, str]]:
        """Fabric → group → model; models that the catalog does not have go into the document."""
        parts: dict[str, dict[str, Group]] = {}
        for name, shape in self.shapes.items():
            for group in shape.groups:
                parts.setdefault(group.name, {})[name] = group
        chosen: dict[str, dict[str, str]] = {name: {} for name in self.shapes}
        own: Document = {}
        for group_name, of in parts.items():
            _apart(of)
            model = self._model(group_name, of)
            if not model:
                stated = next((its.model for its in of.values() if its.model), "")
                model = stated if stated and catalog.server(stated) is None and stated not in own else group_name
                model = model if catalog.server(model) is None else f"{model}-own"
                own[model] = statement.own_server({name: group.uses for name, group in of.items()})
                self._infer(group_name, "server model", model, "NICs that are cabled: no server of the catalog has them")
                self._infer(model, "GPUs", own[model]["gpus"], "one for each NIC of purpose compute")
            for name in of:
                chosen[name][group_name] = model
        if own:
            self.document = {**self.document, "catalog": {"servers": own}}
        return chosen

    def _model(self, group_name: str, of: Mapping[str, Group]) -> str:
        """A model of the catalog, or of the caller, with all the NICs of a group; "" where there is none."""
        stated = next((group.model for group in of.values() if group.model), "")
        own = {
            name: ServerModel.model_validate_json(_json(its))
            for name, its in self.sections.get("catalog", {}).get("servers", {}).items()
        }
        for name in filter(None, (stated, group_name)):
            server = catalog.server(name, own)
            form = Form(kind="")
            if server and all(statement.fits(server, use, form) for group in of.values() for use in group.uses):
                return name
        return ""

    # --- topology ---

    def _fabric(self, name: str, shape: Shape, models: Mapping[str, str]) -> None:
        """The fabric in full, then without the keys that change nothing."""
        for form in statement.forms(shape):
            full = self._stated(name, shape, models, form)
            if full is None:
                continue
            fabric, cells = full
            fabric = next(filter(self._sizes(name, shape, cells), variants(shape, cells, fabric, self._spec(name, fabric))), None)
            if fabric is None:
                continue
            self.cells[name] = cells
            spec, sizing = sized(self._alone(name, fabric))[name]
            ports = used(shape, cells, self.shapes)
            fabric = self._with_spare(name, fabric, spec, sizing, ports)
            spots_used = {group: [spot for spot, _ in its] for group, its in ports.items()}
            wanted = visible(*sized(self._alone(name, fabric))[name], spots_used)
            self.full[name] = fabric
            self.document["fabrics"][name] = shortest(fabric, self._alike(name, wanted, spots_used))
            self._infer(f"fabric {name}", "topology", form.kind, "NICs of its servers, and the leaves that they are cabled to")
            return
        form = next(iter(statement.forms(shape)))
        self.document["fabrics"][name] = self._bare(name, shape, models, form)
        self.cells[name] = Cells(units=[])
        self._infer(f"fabric {name}", "topology", form.kind, "no rule of wiring fits its cables")

    def _spec(self, name: str, fabric: Document) -> FabricSpec:
        return spec_of(self._alone(name, fabric)).fabrics[name]

    def _managing(self, name: str) -> str:
        """Name of what the management ports of switches are in a fabric: as the sections have it."""
        stated = self.sections.get("fabrics", {}).get(name, {}).get("topology", {}).get("attachments", [])
        attached = self.shapes[name].attached
        if SWITCH_MANAGEMENT in attached:
            return SWITCH_MANAGEMENT
        return next((its["name"] for its in stated if its["name"] not in attached), SWITCH_MANAGEMENT)

    def _sizes(self, name: str, shape: Shape, cells: Cells) -> Callable[[Document], bool]:
        """Whether a statement of a fabric can be built, with the switches and uplinks that are there."""

        def sizes(fabric: Document) -> bool:
            try:
                return as_there(shape, cells, sized(self._alone(name, fabric))[name][1])
            except InputError as error:
                if os.environ.get("DBG"):
                    print(name, error.diagnostics[0].message, fabric["topology"])
                return False

        return sizes

    def _with_spare(
        self,
        name: str,
        fabric: Document,
        spec: FabricSpec,
        sizing: Sizing,
        ports: Mapping[str, Sequence[tuple[Spot, str]]],
    ) -> Document:
        """The fabric with spare server ports, where the addresses of other ports count from behind them."""
        if not _off(spec, sizing, ports):
            return fabric
        for what, count, change in _sizes(fabric):
            other = merged(fabric, change) if "servers" not in change else {**fabric, **change}
            if not change:
                other = deepcopy(fabric)
                other["topology"].pop("unit", None)
                other["servers"][0].pop("unit", None)
            try:
                its = sized(self._alone(name, other))[name]
                if as_there(self.shapes[name], self.cells[name], its[1]) and not _off(*its, ports):
                    self._infer(f"fabric {name}", what, count, "addresses of other devices on leaf ports")
                    return other
            except InputError:
                continue
        return fabric

    def _alike(
        self, name: str, wanted: tuple[Any, ...], ports: Mapping[str, Sequence[Spot]]
    ) -> Callable[[Document], bool]:
        """Whether another statement of a fabric is cabled alike."""

        def alike(fabric: Document) -> bool:
            try:
                return visible(*sized(self._alone(name, fabric))[name], ports) == wanted
            except InputError:
                return False

        return alike

    def _bare(self, name: str, shape: Shape, models: Mapping[str, str], form: Form) -> Document:
        """What is known of a fabric before its units."""
        own = {
            key: ServerModel.model_validate_json(_json(its))
            for key, its in self.whole().get("catalog", {}).get("servers", {}).items()
        }
        groups = [
            statement.server_group(
                group, models[group.name], group.uses, shape.purpose, catalog.server(models[group.name], own)
            )
            for group in shape.groups
        ]
        hardware = statement.hardware(shape)
        below = self._below(shape)
        topology = {**form.keys, **hardware["topology"]}
        if below:
            topology.pop("rails", None)
        gbps = shape.groups[0].uses[0].speed_gbps if shape.groups and shape.groups[0].uses else 0
        attached = statement.attachments(shape, gbps)
        if shape.managed and not below and SWITCH_MANAGEMENT not in shape.attached:
            cables = shape.managed
            speed = {"speed_gbps": cables[0].speed_gbps} if cables[0].speed_gbps != gbps else {}
            attached.append({"name": self._managing(name), "links": len(cables), **speed})
        if attached:
            topology["attachments"] = attached
        fabric: Document = {"purpose": shape.purpose}
        if "nos" in hardware:
            fabric["nos"] = hardware["nos"]
        underlay = statement.addressing(shape)
        fabric |= {"servers": groups, "topology": topology}
        fabric |= {"underlay": {"addressing": underlay}} if underlay != "ipv4" else {}
        if any(its.vtep for its in shape.switches.values()):
            fabric["overlay"] = {"kind": "evpn-vxlan"}
        return fabric | ({"below": below} if below else {})

    def _stated(self, name: str, shape: Shape, models: Mapping[str, str], form: Form) -> tuple[Document, Cells] | None:
        """Every key of a fabric, and its tables; None where its cables do not follow the form."""
        fabric = self._bare(name, shape, models, form)
        try:
            spec = self._spec(name, fabric)
        except InputError:
            return None
        racks = statement.racks_of_unit(shape, form, spec)
        cells = cells_of(shape, spec, racks)
        if cells and form.kind == "rack" and (more := statement.racks_without_servers(shape, cells, spec)):
            cells = cells_of(shape, spec, racks + more)
        if cells is None or not cells.units:
            return None
        below = "below" in fabric
        topology = fabric["topology"] = fabric["topology"] if below else merged(
            fabric["topology"], statement.counts(shape, cells)
        )
        for units in cells.units:
            entry = next(its for its in fabric["servers"] if its.get("name", its["model"]) == units.group.name)
            entry["unit"] = {"servers": units.per_leaf * units.racks}
            if units.racks > 1 or (below and len(units.leaves) > 1):
                entry["per_rack"] = units.per_leaf
        for group in (its for its in shape.groups if its.shared):
            entry = next(its for its in fabric["servers"] if its.get("name", its["model"]) == group.name)
            if count := statement.servers_on_set(group, cells, leaf_set(spec)):
                entry["per_rack"] = count
        if len(fabric["servers"]) == 1:
            topology["unit"] = fabric["servers"][0].pop("unit")
        return fabric, cells

    def _below(self, shape: Shape) -> Document:
        """The fabric whose leaves those of another one hang below; {} where they do not."""
        for name, above in self.shapes.items():
            links = Counter(cable.a for cable in above.below if cable.a in shape.switches)
            if links:
                speed = next(cable.speed_gbps for cable in above.below if cable.a in shape.switches)
                return {"fabric": name, "links": max(links.values()), "speed_gbps": speed}
        return {}

    # --- names ---

    def _names(self) -> None:
        for name, shape in self.shapes.items():
            found = self.patterns[name] = patterns(self.survey.site, shape, self.cells[name])
            texts = {role: its.text for role, its in found.items() if its.text != _usual_name(role)}
            if texts:
                self.document["fabrics"][name]["names"] = texts

    def _asns(self) -> None:
        for name in self.shapes:
            scheme = asn_schemes(self.survey, name)[0]
            if scheme:
                self._underlay(name)["asn"] = scheme

    def _underlay(self, name: str) -> Document:
        underlay: Document = self.document["fabrics"][name].setdefault("underlay", {})
        return underlay

    # --- numbers ---

    def _plan(self) -> Plan:
        """The plan of the document with the lock; with ports of the lock on free leaf ports."""
        return planned(self.whole(), self.lock)

    def _numbered(self, plan: Plan) -> tuple[Plan, list[Difference]]:
        """Corrects names, pools, numbers and ports until nothing changes; the best plan, and what it has otherwise."""
        steps: tuple[Callable[[Plan], bool], ...] = (
            *(self._ids, self._pools, self._spots),
            *(self._asn_blocks, self._switch_blocks, self._link_blocks, self._pin),
            *(self._ports,) * PINNED_PORTS,
        )
        left = differences(self.survey, plan)
        for round_ in range(ROUNDS):
            changed = False
            for step in steps:
                if not left:
                    return plan, left
                before = deepcopy(self.document), self.lock
                if not step(plan):
                    continue
                try:
                    other = self._plan()
                except InputError as error:
                    if os.environ.get("DBG"):
                        print(step.__name__, error.diagnostics[0].message)
                    self.document, self.lock = before
                    continue
                found = differences(self.survey, other)
                if os.environ.get("DBG"):
                    print(step.__name__, len(left), len(found))
                if len(found) > len(left):
                    self.document, self.lock = before
                    continue
                changed |= len(found) < len(left)
                plan, left = other, found
            if not changed and (round_ == ROUNDS - 1 or not self._stated_in_full({its.fabric for its in left if its.what == "link"})):
                break
        return plan, left

    def _stated_in_full(self, names: Collection[str]) -> bool:
        """States every key of fabrics whose cables are otherwise: numbers of the lock may change what a default gives."""
        changed = False
        for name in names:
            if name in self.full:
                fabric = self.document["fabrics"][name]
                full = self.full.pop(name)
                fabric |= {key: full[key] for key in ("servers", "topology")}
                changed = True
        return changed

    def _with(self, name: str, **changes: Any) -> None:
        """The lock with other entries of a fabric."""
        fabrics = dict(self.lock.fabrics)
        fabrics[name] = replace(fabrics.get(name, FabricLock()), **changes)
        self.lock = Lock(fabrics)

    def _ids(self, plan: Plan) -> bool:
        """Numbers of units and switches by their names; names of no pattern are pinned."""
        changed = False
        for name, fabric in plan.fabrics.items():
            if name not in self.cells:
                continue
            blocks = ids(self.cells[name], self.patterns[name], fabric)
            known = self.lock.fabrics.get(name, FabricLock()).blocks
            new = {key: its for key, its in blocks.items() if known.get(key) != its}
            if new:
                self._with(name, blocks={**known, **new})
                changed = True
                continue
            pins = renamed(self.cells[name], fabric)
            stated = self.document["fabrics"][name].get("pins", {})
            pins = {key: {"name": text} for key, text in pins.items() if key not in stated}
            if pins:
                self.document["fabrics"][name]["pins"] = merged(stated, pins)
                changed = True
        return changed

    def _pools(self, plan: Plan) -> bool:
        usual = {name: fabric.prefixes for name, fabric in plan.fabrics.items()}
        stated = pools(self.survey, usual, FEW)
        changed = False
        for name, its in stated.items():
            home = self.document["fabrics"][name] if name else self.document
            if its and home.get("pools") != its:
                home["pools"] = merged(home.get("pools", {}), its)
                changed = True
        return changed

    def _spots(self, plan: Plan) -> bool:
        """Leaf ports of NICs and other devices on free ports."""
        changed = False
        wrong = {its.fabric for its in differences(self.survey, plan) if its.what in ("link", "subnet")}
        for name, shape in self.shapes.items():
            if name not in wrong:
                continue
            found = spots(shape, plan.fabrics[name], self.shapes, self._managing(name))
            if found and found != self.lock.fabrics.get(name, FabricLock()).attachments:
                self._with(name, attachments=found)
                changed = True
        return changed

    def _asn_blocks(self, plan: Plan) -> bool:
        return self._blocks(plan, lambda key: key.startswith("asn/"))

    def _switch_blocks(self, plan: Plan) -> bool:
        return self._blocks(plan, lambda key: key.startswith("address/") and not key.startswith(_OF_LINKS))

    def _link_blocks(self, plan: Plan) -> bool:
        return self._blocks(plan, lambda key: key.startswith(_OF_LINKS))

    def _blocks(self, plan: Plan, which: Callable[[str], bool]) -> bool:
        """Numbers that a new plan gives otherwise."""
        changed = False
        for name, fabric in plan.fabrics.items():
            if name not in self.shapes:
                continue
            wanted = numbers.of_switches(fabric, self.shapes[name].switches) | numbers.of_links(fabric, self.survey)
            wrong = numbers.wrong(fabric, {key: cells for key, cells in wanted.items() if which(key)})
            if not wrong:
                continue
            known = {**fabric.blocks, **{key: numbers.locked(fabric, key, cells) for key, cells in wrong.items()}}
            for space in ("asn", "address"):
                of_space = {key: its for key, its in known.items() if key.startswith(space)}
                known |= numbers.apart(of_space, lambda key, fabric=fabric: numbers.row_width(fabric, key))  # type: ignore[misc]
            if known != self.lock.fabrics.get(name, FabricLock()).blocks:
                self._with(name, blocks=known)
                changed = True
        return changed

    def _ports(self, plan: Plan) -> bool:
        """Pins the ports of the first link that is on others: the links on these move, so that one pin often does for two."""
        moved = moved_ports(self.survey, plan)
        for name, switch, peer, cages in moved:
            stated = self.document["fabrics"][name].setdefault("pins", {})
            key = next((key for key, pin in stated.items() if pin.get("name") == switch), switch)
            pin = stated.setdefault(key, {}).setdefault("ports", {})
            if peer not in pin:
                pin[peer] = cages[0] if len(cages) == 1 else cages
                return True
        return False

    def _pin(self, plan: Plan) -> bool:
        """Pins what a lock cannot hold."""
        changed = False
        kinds = {"AS number": "asn", "loopback": "loopback", "management": "management"}
        for its in differences(self.survey, plan):
            if its.what not in kinds or not its.there:
                continue
            fabric = self.document["fabrics"][its.fabric]
            stated = fabric.setdefault("pins", {})
            key = next((key for key, pin in stated.items() if pin.get("name") == its.subject), its.subject)
            value: Any = int(its.there) if its.what == "AS number" else its.there
            pin = stated.setdefault(key, {})
            if pin.get(kinds[its.what]) != value:
                pin[kinds[its.what]] = value
                changed = True
        return changed


def _sizes(fabric: Document) -> Iterator[tuple[str, object, Document]]:
    """Changes of a unit that move the first free port of its leaves: what they are, how many, and the keys."""
    yield "servers of a unit", "default", {}
    for count in range(1, SPARE_MAX):
        yield "spare server ports", count, {"topology": {"leaf": {"spare_server_ports": count}}}
    unit = fabric["topology"].get("unit")
    for count in range(unit["servers"] + 1, 4 * unit["servers"] + 1) if unit else ():
        yield "servers of a unit", count, {"topology": {"unit": {"servers": count}}}
    for at, group in enumerate(fabric["servers"]):
        servers = group.get("unit", {}).get("servers", 0)
        for count in range(servers + 1, 4 * servers + 1):
            changed = [its if n != at else merged(its, {"unit": {"servers": count}}) for n, its in enumerate(fabric["servers"])]
            yield f"servers of a unit of {group['model']}", count, {"servers": changed}


def _off(spec: FabricSpec, sizing: Sizing, ports: Mapping[str, Sequence[tuple[Spot, str]]]) -> bool:
    """Whether ports have other addresses than their columns give them: blocks of leaves begin at multiples of their size."""
    blocks = [server_block(spec.leaf.model, size.down_gbps) for size in sizing.leaf_groups]
    block = max(*blocks, with_free_ports(spec, sizing.groups[0])) if ports else 0
    for group, its in ports.items():
        column_of = columns(spec, sizing, group)
        for spot, address in its:
            if address and spot in column_of:
                at = int(ip_address(address.partition("/")[0])) % block // 2
                if at != column_of[spot] and column_of[spot] < block // 2:
                    return True
    return False


def _usual_name(role: str) -> str:
    return "{group}-{n:04}" if role == "server" else f"{{fabric}}-{role}{{n:03}}"


def _refused(message: str) -> Difference:
    return Difference(fabric="", subject="intent", what="plan", there="", planned=message)


def _json(entry: Any) -> str:
    import json

    return json.dumps(entry)


def _apart(of: Mapping[str, Group]) -> None:
    """NICs of one group in several fabrics have purposes of their own."""
    taken: Counter[str] = Counter()
    for group in of.values():
        for at, use in enumerate(group.uses):
            if taken[use.purpose]:
                group.uses[at] = replace(use, purpose=f"{use.purpose}{taken[use.purpose] + 1}")
            taken[use.purpose] += 1


def _unused(_: Nics) -> Iterator[str]:
    yield ""
