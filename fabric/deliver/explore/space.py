"""The designs of a sweep: every combination of the chosen values, on the intent that they start from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from fabric.base.diagnostics import Place, Report
from fabric.base.formats import json_line
from fabric.base.rounding import ceil_div
from fabric.deliver.explore.dimensions import DIMENSIONS, Value, the_group
from fabric.design.intent.rewrite import OneFabric
from fabric.hardware import catalog
from fabric.model.plan import FabricSpec
from fabric.model.settings.site import OwnCatalog

Choice = tuple[tuple[str, Value], ...]  # (dimension, value) in the order of DIMENSIONS
MAX_DESIGNS = 100_000  # designs of one sweep


@dataclass(frozen=True)
class Base:
    """The intent that designs start from: its data with one fabric alone, as JSON, and the file's name in messages."""

    text: str
    shown: str
    fabric: str
    others: int = 0  # fabrics of the site that are left out

    @staticmethod
    def of(fabric: OneFabric) -> Base:
        return Base(json_line(fabric.data, sort_keys=True), fabric.file, fabric.name, fabric.others)

    def design(self, choice: Choice, gpus: int | None) -> dict[str, Any]:
        """The intent of one design, with enough servers for so many GPUs. Raises ValueError where it cannot be written."""
        data: dict[str, Any] = json.loads(self.text)
        fabric = data["fabrics"][self.fabric]
        for name, value in choice:
            DIMENSIONS[name].put(fabric, value)
        if gpus is not None:
            group = the_group(fabric)
            group["count"] = ceil_div(gpus, _gpus_of(group["model"], data))
        return data


def _gpus_of(model: str, data: Mapping[str, Any]) -> int:
    """GPUs of a server. Raises ValueError for one that has none."""
    own = data.get("catalog", {}).get("servers", {}).get(model)
    server = catalog.server(model)
    gpus = int(own.get("gpus", 0)) if own else server.gpus if server else 0
    if gpus < 1:
        raise ValueError(f"server {model} has no GPUs")
    return gpus


def choices(dimensions: Mapping[str, Sequence[Value]]) -> list[Choice]:
    """Every combination, in the order of the values. Raises InputError where there are more than MAX_DESIGNS."""
    count = 1
    for values in dimensions.values():
        count *= len(values)
    if count > MAX_DESIGNS:
        report = Report()
        report.fail(
            "FAB104",
            Place("--vary"),
            f"expected at most {MAX_DESIGNS:,} designs, got {count:,}",
            "reduce the values or the dimensions",
        )
    names = [name for name in DIMENSIONS if name in dimensions]
    return [tuple(zip(names, values, strict=True)) for values in product(*(dimensions[name] for name in names))]


def usual(spec: FabricSpec, own_catalog: OwnCatalog) -> dict[str, tuple[Value, ...]]:
    """Default dimensions: switches that suit the NICs, shapes, planes, tiers and oversubscription."""
    ports = spec.groups[0].nic.ports
    planes = [count for count in range(1, ports + 1) if ports % count == 0]
    return {
        "switch": tuple(_suited(spec, own_catalog)),
        "kind": ("rail-optimized", "rack", "rail-only"),
        "oversubscription": (1.0, 2.0, 4.0),
        "tiers": (2, 3),
        "planes": tuple(planes),
    }


def _suited(spec: FabricSpec, own: OwnCatalog) -> list[str]:
    """The intent's own leaf, and switches of its technology as fast as a NIC port and no more than four times as fast."""
    speed, found = spec.groups[0].nic.speed_gbps, {spec.leaf.switch}
    for name in (*catalog.switch_names(), *own.switches):
        model = own.switch(name)
        assert model is not None
        fits = speed in model.speeds and model.native_gbps <= 4 * speed and model.cages >= 16
        if fits and model.technology == spec.leaf.model.technology:
            found.add(name)
    return sorted(found)
