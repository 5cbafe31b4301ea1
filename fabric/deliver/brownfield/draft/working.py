"""A draft while it is made: what is there, what is stated of it so far, and the numbers that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from typing import Any

from fabric.deliver.brownfield.draft.cells import Cells
from fabric.deliver.brownfield.draft.judge import merged, planned, spec_of
from fabric.deliver.brownfield.draft.name_patterns import Pattern
from fabric.deliver.brownfield.draft.shape import Shape
from fabric.deliver.brownfield.draft.statement import Document
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.design.planner.below import SWITCH_MANAGEMENT
from fabric.model.plan import FabricSpec, Plan
from fabric.model.plan.lock import FabricLock, Lock
from fabric.model.settings.base import as_list


@dataclass(kw_only=True)
class Working:
    """The document and the lock, which steps change.

    Attributes:
        sections: of the intent that the caller has.
        full: fabric → its statement with every key.
        tried: (switch, neighbor) of a pin of ports → pins beside it, when it was tried.
    """

    survey: Survey
    sections: Mapping[str, Any]
    shapes: dict[str, Shape]
    document: Document
    lock: Lock = field(default_factory=Lock)
    inferences: list[Inference] = field(default_factory=list)
    cells: dict[str, Cells] = field(default_factory=dict)
    patterns: dict[str, dict[str, Pattern]] = field(default_factory=dict)
    full: dict[str, Document] = field(default_factory=dict)
    tried: dict[tuple[str, str], int] = field(default_factory=dict)

    def fabric(self, name: str) -> Document:
        """What is stated of a fabric."""
        fabric: Document = self.document["fabrics"][name]
        return fabric

    def kept(self, name: str) -> FabricLock:
        """What the lock has of a fabric."""
        return self.lock.fabrics.get(name, FabricLock())

    def keep(self, name: str, **changes: Any) -> None:
        """Changes what the lock has of a fabric."""
        self.lock = Lock({**self.lock.fabrics, name: replace(self.kept(name), **changes)})

    def infer(self, subject: str, what: str, value: object, source: str) -> None:
        """Notes a value that no line states."""
        self.inferences.append(Inference(subject=subject, what=what, value=str(value), source=source))

    @property
    def whole(self) -> Document:
        """The document with the sections of the caller."""
        result: Document = merged(self.document, self.sections)
        return result

    def alone(self, name: str, fabric: Document) -> Document:
        """One fabric by itself, or with the one that it hangs below."""
        above = fabric.get("below", {}).get("fabric", "")
        sections = {
            **self.sections,
            "fabrics": {key: its for key, its in self._sections_of_fabrics() if key in (name, above)},
        }
        fabrics = {**({above: self.fabric(above)} if above else {}), name: fabric}
        result: Document = merged({**self.document, "fabrics": fabrics}, sections)
        return result

    def _sections_of_fabrics(self) -> list[tuple[str, Any]]:
        return list(self.sections.get("fabrics", {}).items())

    def spec(self, name: str, fabric: Document) -> FabricSpec:
        """A fabric with its defaults. Raises InputError."""
        return spec_of(self.alone(name, fabric)).fabrics[name]

    def plan(self) -> Plan:
        """The plan of the whole document with the lock. Raises InputError."""
        return planned(self.whole, self.lock)

    def pin(self, fabric: str, switch: str) -> Document:
        """The pin of a switch by its name, which another pin may give it."""
        stated: dict[str, Document] = self.fabric(fabric).setdefault("pins", {})
        key = next((key for key, pin in stated.items() if pin.get("name") == switch), switch)
        return stated.setdefault(key, {})

    def below(self, shape: Shape) -> Document:
        """The fabric whose leaves those of another one hang below; {} where they do not."""
        for name, above in self.shapes.items():
            links = Counter(cable.a for cable in above.below if cable.a in shape.switches)
            if links:
                speed = next(cable.speed_gbps for cable in above.below if cable.a in shape.switches)
                tenant = self._bridged(name, shape)
                stated = {"tenant": tenant, **self._network(name, tenant, shape)} if tenant else {}
                return {"fabric": name, **stated, "links": max(links.values()), "speed_gbps": speed}
        return {}

    def _network(self, above: str, tenant: str, shape: Shape) -> Document:
        """The network of the server ports of a fabric below, where its tenant has several."""
        networks: Sequence[Document] = next((its["networks"] for its in self.tenants(above) if its["name"] == tenant), [])
        ports = [(shape.switches[its.b].facts, its.b_port) for its in shape.served]
        found = (facts.interfaces.get(port) for facts, port in ports if facts)
        served = [its for its in found if its]
        vlans = Counter(its.access.value for its in served if its.access)
        if not vlans:  # trunks: one of them
            every = [its for switch in shape.switches.values() if switch.facts for its in switch.facts.interfaces.values()]
            known = {net.get("vlan") for net in networks if not self._managed(net.get("gateway", ""))}
            vlans = Counter(vlan.value for its in every for vlan in its.trunk if vlan.value in known)
        names = [net["name"] for vlan, _ in vlans.most_common(1) for net in networks if net.get("vlan") == vlan]
        return {"network": names[0]} if names and len(networks) > 1 else {}

    def _bridged(self, above: str, shape: Shape) -> str:
        """The tenant above of which the switches of a fabric have most VLANs; "" for none."""
        ports = [port for its in shape.switches.values() if its.facts for port in its.facts.interfaces.values()]
        vlans = {vlan.value for port in ports for vlan in (*port.trunk, port.access) if vlan is not None}
        networks = {its["name"]: its["networks"] for its in self.tenants(above)}
        shared = {name: len(vlans & {net.get("vlan") for net in of}) for name, of in networks.items()}
        best = max(shared, key=lambda name: shared[name], default="")
        return best if best and shared[best] else ""

    def _managed(self, gateway: str) -> bool:
        """Whether management ports of switches are in the subnet of a gateway."""
        addresses = (its.management.partition("/")[0] for its in self.survey.switches.values() if its.management)
        return bool(gateway) and any(ip_address(its) in ip_network(gateway, strict=False) for its in addresses)

    def tenants(self, name: str) -> Sequence[Document]:
        """Those that the sections have of a fabric."""
        stated = dict(self._sections_of_fabrics()).get(name, {}).get("tenants", ())
        return [{**its, "networks": as_list(its.get("networks", ()))} for its in as_list(stated)]

    def managing(self, name: str) -> str:
        """Name of what the management ports of switches are in a fabric: as the sections have it."""
        stated = dict(self._sections_of_fabrics()).get(name, {}).get("topology", {}).get("attachments", [])
        attached = self.shapes[name].attached
        others = [its["name"] for its in stated if its["name"] not in attached]
        return others[0] if others and SWITCH_MANAGEMENT not in attached else SWITCH_MANAGEMENT
