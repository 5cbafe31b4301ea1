"""What a picture is of: a whole fabric, or a slice of it, one rail or one plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from fabric.base.text import counted
from fabric.deliver.export.legend import RAIL_GROUND, TIERS, Tone, plane_tone, rail_colour
from fabric.deliver.export.parts import PodPart, pods
from fabric.model.plan import ATTACHMENT, BETWEEN_SWITCHES, CORE, KINDS, LEAF, SERVER_LEAF, SPINE, Device, FabricPlan, Links
from fabric.model.plan.summary import summary


@dataclass(frozen=True)
class Network:
    """One isolated network of a fabric: a plane, a rail of its own, both, or the whole fabric."""

    plane: int
    rail: int
    name: str
    tone: Tone


@dataclass(frozen=True)
class View:
    """A fabric, or the part of it that is shown, with its counts. A slice has the links of its own switches alone."""

    fabric: FabricPlan
    row: dict[str, Any]  # as `plan --json` has it; of a slice, its own counts of switches and links
    switches: tuple[Device, ...]
    slice: str = ""  # "rail 1", "plane 2"
    rail: int = -1  # the one rail that is shown

    @staticmethod
    def of(fabric: FabricPlan) -> View:
        return View(fabric, summary(fabric.spec, fabric.sizing), fabric.switches)

    @property
    def planes(self) -> int:
        """Planes of the fabric, shown or not."""
        return self.fabric.sizing.planes

    @property
    def tiers(self) -> int:
        return self.fabric.sizing.tiers

    @cached_property
    def pods(self) -> list[tuple[PodPart, ...]]:
        """The pods of each server group; in two tiers one pod of them all."""
        return pods(self.fabric, self.switches)

    @cached_property
    def networks(self) -> tuple[Network, ...]:
        """Every isolated network with a switch in the picture, by plane and rail."""
        own_rails = self.row["kind"] == "rail-only"
        found = sorted({(device.rail if own_rails else -1, device.plane) for device in self.switches})
        return tuple(self._network(rail, plane) for rail, plane in found)

    def _network(self, rail: int, plane: int) -> Network:
        names = [f"rail {rail + 1}"] if rail >= 0 else []
        names += [f"plane {plane + 1}"] if self.planes > 1 else []
        coloured = rail if rail >= 0 else self.rail if self.planes == 1 else -1
        tone = Tone(rail_colour(coloured), RAIL_GROUND) if coloured >= 0 else plane_tone(plane, self.planes)
        return Network(plane, rail, ", ".join(names), tone)

    @property
    def sentence(self) -> str:
        """What is shown in one line."""
        if self.slice:
            return self._slice_sentence
        row = self.row
        shape = [row["purpose"], row["kind"], TIERS[row["tiers"]]]
        shape += [counted(row["planes"], "plane")] if row["planes"] > 1 else []
        counts = [counted(row["servers"], "server")]
        counts += [counted(row["gpus"], "GPU")] if row["gpus"] else []
        counts += [counted(sum(row["switches"].values()), "switch", "switches")]
        counts += [counted(sum(row["links"].values()), "link")]
        planned = f"; room for {counted(row['planned']['servers'], 'server')}" if "planned" in row else ""
        return f"{', '.join(shape)}: {', '.join(counts)}{planned}"

    @property
    def _slice_sentence(self) -> str:
        """What it has of its own, and what it shares with the other rails."""
        switches, links = self.row["switches"], self.row["links"]
        above = " and ".join(counted(switches[role], role) for role in (SPINE, CORE) if switches[role])
        leaves, servers = counted(switches[LEAF], "leaf", "leaves"), counted(self.row["servers"], "server")
        if self.rail >= 0 and self.row["kind"] != "rail-only":
            own = counted(links["server-leaf"] + links["leaf-spine"], "link")
            return f"{servers}, {leaves} and {own} of its own; {above} shared with the other rails"
        what = "rail" if self.rail >= 0 else "plane"
        return f"{servers}, {leaves}, {above}, {counted(sum(links.values()), 'link')}, isolated from the other {what}s"


def rails(fabric: FabricPlan) -> list[int]:
    """Rails of a fabric, from 0; none where leaves serve racks or whole units."""
    return sorted({device.rail for device in fabric.switches if device.role == LEAF and device.rail >= 0})


def planes(fabric: FabricPlan) -> list[int]:
    """Planes of a fabric, from 0; none where it is a single one."""
    return list(range(fabric.sizing.planes)) if fabric.sizing.planes > 1 else []


def rail(fabric: FabricPlan, at: int) -> View:
    """One rail: its leaf in every unit, and all that is above it."""
    leaves = [device.index for device in fabric.switches if device.role == LEAF and device.rail == at]
    return _slice(fabric, leaves, f"rail {at + 1}", at)


def plane(fabric: FabricPlan, at: int) -> View:
    """One plane: its own switches, and the NIC ports that are on it."""
    leaves = [device.index for device in fabric.switches if device.role == LEAF and device.plane == at]
    return _slice(fabric, leaves, f"plane {at + 1}", -1)


def _slice(fabric: FabricPlan, leaves: Iterable[int], name: str, number: int) -> View:
    """Some leaves and what they reach, upwards and downwards."""
    links = fabric.links
    shown = np.zeros(len(fabric.devices), dtype=bool)
    shown[list(leaves)] = True
    keep = np.isin(links.kind, (SERVER_LEAF, ATTACHMENT)) & shown[links.b]
    for kind in BETWEEN_SWITCHES:
        selected = (links.kind == kind) & shown[links.a]
        shown[links.b[selected]] = True
        keep |= selected
    cut = replace(fabric, links=Links(**{column.name: getattr(links, column.name)[keep] for column in fields(Links)}))
    switches = tuple(device for device in fabric.switches if shown[device.index])
    row = summary(fabric.spec, fabric.sizing)
    count = np.bincount(cut.links.kind, minlength=len(KINDS)).tolist()
    row |= {
        "links": dict(zip(KINDS, count, strict=True)),
        "switches": {role: sum(device.role == role for device in switches) for role in (LEAF, SPINE, CORE)},
    }
    return View(cut, row, switches, name, number)
