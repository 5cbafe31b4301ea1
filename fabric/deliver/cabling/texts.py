"""What is written about a leg: ports, lanes, places, and the name of its cable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabric.configs.port_names import PortNames
from fabric.deliver.cabling.cable_segments import Legs
from fabric.deliver.cabling.ends import MAX_DEVICE_CAGES, Ends, Ints
from fabric.design.floor.floor import Floor
from fabric.hardware.catalog import media
from fabric.model.plan import SERVER, FabricPlan


class Texts:
    """Texts of the legs of one fabric, a list a column."""

    def __init__(self, fabric: FabricPlan, floor: Floor, both: tuple[Ends, Ends], found: Legs) -> None:
        self.fabric, self.floor, self.found = fabric, floor, found
        self.ends = dict(zip("ab", both, strict=True))
        self.names = PortNames(fabric)
        self.labels = {end: self.names.columns(end) for end in "ab"}
        self.where = [_where(floor, device.name) for device in fabric.devices]
        self.sockets = {end: self._sockets(end) for end in "ab"}
        self.last = np.zeros(len(found.first), dtype=np.int64)  # last link of each leg
        np.maximum.at(self.last, found.leg, np.arange(len(found.leg)))

    def ports(self, end: str) -> tuple[list[str], list[str]]:
        """Labels and own names of the ports that a leg takes: `5/1`, `5/1-4` of several."""
        labels, own = self.labels[end]
        first, last = self.found.first, self.last
        shown, names = labels[first].tolist(), own[first].tolist()
        for at in np.flatnonzero(first != last).tolist():
            shown[at] = span(shown[at], labels[last[at]])
            names[at] = span(names[at], own[last[at]])
        return shown, names

    def lanes(self, end: str, count: Ints) -> list[str]:
        """Electrical lanes of the cage, from 1, as far as they are known."""
        its, first = self.ends[end], self.found.first
        lane = np.array([module.usual_lane_gbps for module in its.modules], dtype=np.int64)[its.module[first]]
        offset, speed = its.offset_gbps[first], self.fabric.links.speed_gbps[first] * count
        low = offset // lane + 1
        high = np.maximum(low, (offset + speed - 1) // lane + 1)
        code, every = np.unique(low * 1024 + high, return_inverse=True)
        texts = [f"{one}-{other}" if other > one else f"{one}" for one, other in (divmod(c, 1024) for c in code.tolist())]
        texts_of_legs: list[str] = np.array([*texts, ""], dtype=object)[every.ravel()].tolist()
        return texts_of_legs

    def plugs(self, end: str) -> list[str]:
        """What a cable is plugged into: the connector of an optic, else the form of the cage; `OSFP4P2` of a server first."""
        its, legs = self.ends[end], self.found
        at = "ab".index(end)
        columns = (its.module[legs.first].tolist(), legs.optics[at], legs.connector[at].tolist(), legs.pieces.tolist())
        plug_of: dict[tuple[int, str, int, bool, str], str] = {}
        texts = []
        for module, optic, connector, pieces, socket in zip(*columns, self.sockets[end], strict=True):
            key = (module, optic, connector, pieces > 1, socket)
            if key not in plug_of:
                plug = _plug(its.modules[module].form, optic, "1+2" if pieces > 1 else str(connector + 1))
                plug_of[key] = f"{socket} {plug}".strip()
            texts.append(plug_of[key])
        return texts

    def _sockets(self, end: str) -> list[str]:
        """Per leg the place of its first port in a shared cage of a server; "" where the port has a cage of its own."""
        groups = {group.name: media.all_ports(tuple(use.nic for use in group.uses)) for group in self.fabric.spec.groups}
        labels = {name: {key: port.label for key, port in ports.items() if port.label} for name, ports in groups.items()}
        if not any(labels.values()):
            return [""] * len(self.found.first)
        own = [labels.get(device.group, {}) if device.role == SERVER else {} for device in self.fabric.devices]
        columns = (getattr(self.fabric.links, end + part)[self.found.first].tolist() for part in ("", "_cage", "_sub"))
        return [own[index].get((nic, port), "") for index, nic, port in zip(*columns, strict=True)]

    def places(self, end: str, ports: Sequence[str]) -> list[str]:
        """Rack, unit, device, port and place in a shared cage, as a label shows them: `B03-U12 gpu-0001:compute1 OSFP4P2`."""
        first = self.found.first
        where = [self.where[device] for device in getattr(self.fabric.links, end)[first].tolist()]
        if end == "a" and self.fabric.management_ports:
            switches = (self.fabric.management_ports.get(link) for link in first.tolist())
            where = [_where(self.floor, device.name) if device else own for own, device in zip(where, switches, strict=True)]
        spots = zip(where, ports, self.sockets[end], strict=True)
        return [f"{place}:{port} {socket}".rstrip() for place, port, socket in spots]

    def cables(self) -> list[str]:
        """The name of the cable of every leg."""
        legs, links = self.found, self.fabric.links
        named = {end: self._named(end) for end in "ab"}
        first_of = np.zeros(int(legs.assembly.max(initial=0)) + 1, dtype=np.int64)
        first_of[legs.assembly[::-1]] = np.arange(len(legs.first))[::-1]
        names = []
        lower, upper = links.a[legs.first].tolist(), links.b[legs.first].tolist()
        for leg in first_of[legs.assembly].tolist():
            end = "b" if legs.named_by[leg] else "a"
            device = self.fabric.devices[upper[leg] if end == "b" else lower[leg]].name
            names.append(f"{device}:{named[end][leg]}")
        return names

    def _named(self, end: str) -> list[str]:
        """What a cable would be called at one end of each leg: its cage, a connector of it, or a port."""
        columns, its = self.found, self.ends[end]
        first = columns.first
        labels: list[str] = self.labels[end][0][first].tolist()
        cages = getattr(self.fabric.links, end + "_cage")[first].tolist()
        index = getattr(self.fabric.links, end)[first].tolist()
        optics, connectors = columns.optics["ab".index(end)], columns.connector["ab".index(end)].tolist()
        number = (its.node[first] % MAX_DEVICE_CAGES).tolist()
        whole, shared = columns.whole_cage.tolist(), columns.shared.tolist()
        for leg in np.flatnonzero(columns.whole_cage | columns.shared).tolist():
            device = self.fabric.devices[index[leg]]
            if device.role == SERVER:
                continue
            module = its.modules[int(its.module[first[leg]])]
            twin = _is_twin(device.model, number[leg], cages[leg])
            cage = cages[leg] if not twin else 2 * number[leg] - 1
            model = self.names.models.get(device.role)
            name = model.panel.label if model is not None and model.panel is not None else str
            labels[leg] = name(cage)
            if shared[leg] and not whole[leg] and optics[leg]:
                ports = media.optics()[optics[leg]].ports
                if twin:
                    labels[leg] = name(cage + connectors[leg])
                elif ports > 1 and module.speed_gbps:
                    labels[leg] = f"{cage}.{connectors[leg] + 1}"
        return labels


def _plug(form: str, optic: str, which: str) -> str:
    lit = media.optics().get(optic)
    if lit is None:
        return form
    return f"{lit.connector} {which}" if lit.ports > 1 else lit.connector


def _is_twin(model: str, number: int, cage: int) -> bool:
    return any(its.twin for its in media.cages().switches.get(model, {}).values()) and number == (cage + 1) // 2


def _where(floor: Floor, name: str) -> str:
    spot = floor.spots[name]
    return f"{floor.racks[spot.rack].name}-U{spot.ru:02} {name}"


def span(first: str, last: str) -> str:
    """`5/1` to `5/4` as `5/1-4`; what has no common beginning in full."""
    head, slash, tail = last.rpartition("/")
    return f"{first}-{tail}" if slash and first.startswith(head + "/") else f"{first}-{last}"
