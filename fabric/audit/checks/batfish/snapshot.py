"""The folder that is given to Batfish: a copy of every taken switch's files, the routers outside, and the cables.

Nothing is written beside the rendered files. A copy differs from them where Batfish would read them wrong; the module of a
target says in what, and every line of a copy is known by where it is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fabric.audit.checks.batfish.outside import PORT, outside_copies
from fabric.audit.checks.batfish.subset import Cut
from fabric.audit.checks.batfish.visibility import view_of
from fabric.base.formats import json_text
from fabric.configs.port_names import PortNames
from fabric.model.plan import Device, FabricPlan, Plan, SwitchView
from fabric.nos.batfish import Copies, Copy

Files = Callable[[Device], Mapping[str, str]]  # the rendered files of a switch: path → text


@dataclass(frozen=True)
class Texts:
    """The files that Batfish is asked about. Batfish writes every name in small letters, and so does this."""

    copies: Mapping[str, Copies]  # by name of the switch
    outside: tuple[Copy, ...] = ()

    def origin(self, path: str, line: int) -> tuple[str, str, int] | None:
        """(switch, rendered file, line) of a line of the snapshot; None when it is no copy of anything."""
        device, copy = self._by_path.get(path, ("", None))
        return (device, *copy.origin(line)) if copy else None

    def copy_at(self, path: str) -> Copies | None:
        """What was copied of the switch that a file of the snapshot is of; None when it is no copy of anything."""
        device, copy = self._by_path.get(path, ("", None))
        return self.copies[device.lower()] if copy else None

    def edges(self) -> Iterable[dict[str, Any]]:
        """The cables, as `layer1_topology.json` has them; none are known of files alone."""
        return ()

    @cached_property
    def _by_path(self) -> Mapping[str, tuple[str, Copy]]:
        return {copy.path: (found.device, copy) for found in self.copies.values() for copy in found.copies}


@dataclass(frozen=True)
class Snapshot(Texts):
    """The files of the switches of a plan."""

    plan: Plan = field(kw_only=True)
    cut: Cut = field(kw_only=True)
    views: Mapping[str, Mapping[str, SwitchView]] = field(kw_only=True)  # fabric → switch → its view

    def edges(self) -> Iterable[dict[str, Any]]:
        return cables(self)


def build(plan: Plan, cut: Cut, files: Files, views: Callable[[FabricPlan, Device], SwitchView]) -> Snapshot:
    """Copies the files of the switches of a cut; a switch of a target that Batfish has no reader for has no copy."""
    seen: dict[str, dict[str, SwitchView]] = {}
    copies: dict[str, Copies] = {}
    for name, devices in cut.taken.items():
        seen[name] = {device.name.lower(): views(plan.fabrics[name], device) for device in devices if view_of(device.nos)}
        for device in devices:
            if known := view_of(device.nos):
                own = dict(files(device))
                made = tuple(known.reads(device.name.lower(), own))
                copies[device.name.lower()] = Copies(device=device.name, nos=device.nos, files=own, copies=made)
    outside = tuple(outside_copies(view for found in seen.values() for view in found.values()))
    return Snapshot(copies, outside, plan=plan, cut=cut, views=seen)


def write(snapshot: Texts, folder: Path) -> None:
    """Writes the folder; it must be empty or new."""
    for copy in (*(copy for found in snapshot.copies.values() for copy in found.copies), *snapshot.outside):
        path = folder / copy.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(copy.text, encoding="utf-8")
    path = folder / "batfish" / "layer1_topology.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text({"edges": list(snapshot.edges())}, indent=1) + "\n", encoding="utf-8")


def cables(snapshot: Snapshot) -> Iterable[dict[str, Any]]:
    """The links between the selected switches and to the external routers; each once, with port names of the network OS."""
    for name, views in snapshot.views.items():
        names = PortNames(snapshot.plan.fabrics[name])
        numbers: dict[str, int] = {}
        for view in views.values():
            for port in view.ports:
                peer = port.peer
                if peer is None or port.kind not in ("fabric", "attachment"):
                    continue
                end = _end(view.device.name, names.port_name(view.device, port.ref))
                if peer.port is not None and peer.device.name.lower() in views:
                    if view.device.index < peer.device.index:
                        yield {"node1": end, "node2": _end(peer.device.name, names.port_name(peer.device, peer.port))}
                elif any(external.port.ref == port.ref for external in view.externals):
                    numbers[peer.device.name] = numbers.get(peer.device.name, 0) + 1
                    yield {"node1": end, "node2": _end(peer.device.name, f"{PORT}{numbers[peer.device.name]}")}


def _end(device: str, port: str) -> dict[str, str]:
    return {"hostname": device.lower(), "interfaceName": port}
