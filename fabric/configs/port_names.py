"""Names of a port: the label of the plan (`33/2`, `compute1`), and the name in the network OS (`Ethernet256`, `et-0/0/32:1`).

A fabric has hundreds of thousands of ends and a few hundred names, so every name is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabric.configs.hosts.view import BMC, interface_name
from fabric.model.plan import SERVER, Device, FarPort, PortLabels, PortRef
from fabric.nos.target import management_port, target

Names = NDArray[Any]  # elements are str


def far_port_name(far: FarPort) -> str:
    """The name of a port of another fabric in its network OS, "" where it is unknown."""
    try:
        return target(far.device.nos).port_name(far.model, far.ref, far.device.model) if far.device.nos else ""
    except (KeyError, ValueError, IndexError):
        return ""  # the target is not installed, or refuses the model or the breakout


class PortNames(PortLabels):
    """The names of one fabric's ports: those of the plan, and those of the network OS."""

    def port_name(self, device: Device, ref: PortRef) -> str:
        """The name in the network OS, "" where it is unknown: of attachments, and of switches without a network OS."""
        if device.role == SERVER:
            group, label = self._groups[device.group], self.label(device, ref)
            kernel = self.fabric.spec.ethernet and group.nics != BMC  # others have no Ethernet interface in the host
            return interface_name(label, group.nic, ref.cage, ref.sub) if kernel else label
        model = self.models.get(device.role)
        return "" if model is None else far_port_name(FarPort(device, ref, model))

    def columns(self, end: str) -> tuple[Names, Names]:
        """Labels and own names of the ends `a` or `b` of all links."""
        links, devices = self.fabric.links, self.fabric.devices
        if not len(links):
            return np.empty(0, object), np.empty(0, object)
        index, cage, sub, split = (getattr(links, end + part) for part in ("", "_cage", "_sub", "_split"))
        kinds: dict[tuple[str, ...], int] = {}
        kind_of = np.array([kinds.setdefault((d.role, d.nos, d.model, d.group), len(kinds)) for d in devices])
        code = np.zeros(len(links), dtype=np.int64)
        for column in (kind_of[index], cage, sub, split):
            code = code * (int(column.max()) + 1) + column
        _, first, every = np.unique(code, return_index=True, return_inverse=True)
        labels, names = np.empty(len(first), object), np.empty(len(first), object)
        for row, link in enumerate(first.tolist()):
            device, ref = devices[int(index[link])], self.ref(link, end)
            labels[row], names[row] = self.label(device, ref), self.port_name(device, ref)
        label, name = labels[every.ravel()], names[every.ravel()]
        for link, switch in self.fabric.management_ports.items() if end == "a" else ():
            label[link] = name[link] = management_port(switch)
        for link, far in self.fabric.below.items() if end == "a" else ():
            name[link] = far_port_name(far)
        return label, name

    def possible(self, device: Device) -> Iterator[PortRef]:
        """Every port that a switch could have, however its cages are split."""
        model = self.models[device.role]
        for cage in range(1, model.cages + 1):
            for speed, split in model.group_of(cage).splits.items():
                yield from (PortRef(cage, sub, split, speed) for sub in range(split))
