"""Where devices stand and what their cables are: racks from the floor, media and lengths from the cabling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabric.base.diagnostics import Diagnostic
from fabric.deliver.cabling.runs import Runs, runs
from fabric.design.floor.floor import Floor, floor
from fabric.model.plan import KINDS, Device, FabricPlan, Plan


@dataclass(frozen=True)
class Sites:
    """The floor and the cables of a site."""

    floor: Floor
    runs: Runs

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings of both."""
        return (*self.floor.warnings, *self.runs.errors, *self.runs.warnings)

    def spot(self, device: Device) -> tuple[str, int]:
        """(rack, lowest rack unit); ("", 0) where it is not known."""
        spot = self.floor.spots.get(device.name)
        return (self.floor.racks[spot.rack].name, spot.ru) if spot else ("", 0)

    def lengths(self, fabric: FabricPlan) -> list[Any]:
        """Metres of every link's cable as one buys it; whole ones as integers."""
        metres = self.runs.order_length_m[self.runs.leg[fabric.name]].tolist()
        return [int(length) if length == int(length) else length for length in metres]

    def media(self, fabric: FabricPlan) -> list[str]:
        """What each link's cable is, "" where nothing joins the ends."""
        medium = self.runs.medium
        return [medium[leg] for leg in self.runs.leg[fabric.name].tolist()]

    def laid(self, fabric: FabricPlan) -> Mapping[str, tuple[float, float]]:
        """Shortest and longest route of the cables of each kind of link, in metres, slack included."""
        metres, kinds = self.runs.length_m[self.runs.leg[fabric.name]], fabric.links.kind
        return {
            KINDS[kind]: (float(metres[kinds == kind].min()), float(metres[kinds == kind].max()))
            for kind in np.unique(kinds).tolist()
        }


def sites(plan: Plan) -> Sites:
    """Raises InputError if the floor of the intent is impossible or the intent requests unknown media."""
    stands = floor(plan)
    return Sites(stands, runs(plan, stands))
