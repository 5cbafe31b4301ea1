"""One fabric of an intent by itself: what designs that vary it start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.design.intent.intent import Intent
from fabric.design.planner.resolve import resolve
from fabric.model.plan import FabricSpec


@dataclass(frozen=True)
class OneFabric:
    """A fabric of an intent, by its name."""

    intent: Intent
    name: str

    @staticmethod
    def of(intent: Intent, name: str, report: Report) -> OneFabric:
        """The fabric that is meant: the one named, the only one, or the first for compute. Reports an unknown name."""
        fabrics = intent.site.fabrics
        if name and name not in fabrics:
            report.error("FAB106", Place("--fabric"), f"unknown fabric {show(name)}", nearest(name, fabrics))
        if name in fabrics:
            return OneFabric(intent, name)
        compute = (key for key, fabric in fabrics.items() if fabric.purpose == "compute")
        return OneFabric(intent, next(compute, next(iter(fabrics))))

    @property
    def data(self) -> dict[str, Any]:
        """The data of the file with this fabric alone."""
        data = self.intent.source.data
        return {**data, "fabrics": {self.name: data["fabrics"][self.name]}}

    @property
    def file(self) -> str:
        """As messages name it."""
        return self.intent.source.file

    @property
    def others(self) -> int:
        """Fabrics of the site beside it."""
        return len(self.intent.site.fabrics) - 1

    @property
    def spec(self) -> FabricSpec:
        """With every default chosen. Raises InputError."""
        return resolve(self.intent.site, self.intent.source).fabrics[self.name]
