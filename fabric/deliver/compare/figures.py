"""The figures of a design: one record for `compare`, `explore`, `report` and `diff`, so that one word is one number."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from fabric.deliver.bom.power import Power
from fabric.model.plan import FabricPlan
from fabric.model.plan.summary import built_ratio, summary
from fabric.solver.estimate.calls import Calls

BETWEEN_SWITCHES = ("leaf-leaf", "leaf-spine", "spine-core")


@dataclass(frozen=True, kw_only=True)
class DesignFigures:
    """Counts of one fabric over all planes and pods, its power, and the times of its collectives."""

    fabric: str
    kind: str
    servers: int
    gpus: int
    tiers: int
    planes: int
    leaves: int
    spines: int
    cores: int
    links: int  # all logical links: of servers, attachments and between switches
    switch_links: int  # those between switches
    cables: int
    oversubscription: float  # as built, over all tiers; below 1 there is spare bandwidth
    power: Power | None  # of the switches, and of optics at both ends of all links; None where it is not known
    calls: Calls

    @property
    def switches(self) -> int:
        return self.leaves + self.spines + self.cores

    def values(self) -> dict[str, Any]:
        """The fields by name, for a record that has more."""
        return {item.name: getattr(self, item.name) for item in fields(DesignFigures)}

    def counts(self) -> dict[str, Any]:
        """The counts as every JSON document has them."""
        names = ("tiers", "planes", "oversubscription", "switches", "links", "switch_links", "cables")
        return {name: getattr(self, name) for name in names}


def figures(fabric: FabricPlan, power: Power | None = None, calls: Calls | None = None) -> DesignFigures:
    """The figures of a planned fabric.

    Args:
        power: of its share of the bill of materials.
        calls: times of its collectives; none for a fabric without GPUs.
    """
    row = summary(fabric.spec, fabric.sizing)
    switches, links = row["switches"], row["links"]
    return DesignFigures(
        fabric=fabric.name,
        kind=row["kind"],
        servers=row["servers"],
        gpus=row["gpus"],
        tiers=row["tiers"],
        planes=row["planes"],
        leaves=switches["leaf"],
        spines=switches["spine"],
        cores=switches["core"],
        links=sum(links.values()),
        switch_links=sum(links[kind] for kind in BETWEEN_SWITCHES),
        cables=sum(row["cables"].values()),
        oversubscription=built_ratio(row),
        power=power,
        calls=calls or Calls(),
    )
