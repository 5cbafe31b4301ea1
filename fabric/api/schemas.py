"""JSON Schemas (2020-12) of what `--json` prints, by the name of the command, and of JOB files.

The last part of `$id` is the version. A new key that is optional keeps it, anything else that a reader may notice does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from fabric.base.formats import json_text
from fabric.base.schemas import INPUTS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Shape(NamedTuple):
    """Where the model of a document is, and what prints it."""

    model: str  # "module:name"
    command: str = ""  # with a blank name: `fabric NAME --json`
    version: int = 1


SHAPES = {
    "acceptance-judge": Shape("fabric.deliver.acceptance.report:AcceptanceDocument", "`fabric acceptance judge --json`"),
    "bom": Shape("fabric.deliver.bom.bill:BillDocument"),
    "cabling-list": Shape("fabric.deliver.cabling.tables:CablesDocument", "`fabric cabling list --json`"),
    "cabling-verify": Shape("fabric.audit.cabling.report:CablingDocument", "`fabric cabling verify --json`"),
    "capacity": Shape("fabric.solver.capacity.measure:Capacity"),
    "catalog": Shape("fabric.hardware.catalog.models:CatalogDocument"),
    "catalog-power": Shape("fabric.hardware.catalog.power:PowerDocument", "`fabric catalog --power --json`"),
    "catalog-power-check": Shape(
        "fabric.hardware.catalog.power_class:PowerCheckDocument", "`fabric catalog --power-check --json`"
    ),
    "change": Shape("fabric.deliver.change.records:Change"),
    "change-apply": Shape("fabric.deliver.change.apply.records:Outcome", "`fabric change apply --json`"),
    "check": Shape("fabric.audit.checks.reports.formats:CheckDocument"),
    "compare": Shape("fabric.deliver.compare.designs:CompareDocument", version=2),
    "diff": Shape("fabric.audit.diff.formats:DiffDocument", "`fabric diff --format json`"),
    "doctor": Shape("fabric.solver.doctor.diagnosis:DiagnosisDocument"),
    "drift": Shape("fabric.audit.drift.reports:DriftDocument"),
    "estimate": Shape("fabric.solver.estimate.lines:AnswerDocument"),
    "explain": Shape("fabric.audit.codes:ExplainDocument"),
    "explore": Shape("fabric.deliver.explore.report:SweepDocument", version=2),
    "goodput": Shape("fabric.deliver.compare.money:GoodputCostDocument"),
    "goodput-vary": Shape("fabric.solver.goodput.sweep:GoodputSweepDocument", "`fabric goodput --vary … --json`"),
    "headroom": Shape("fabric.hardware.headroom:Headroom"),
    "import": Shape("fabric.deliver.brownfield.reports:ImportDocument"),
    "lab-test": Shape("fabric.lab.reports:OutcomeDocument", "`fabric lab test --json`"),
    "plan": Shape("fabric.model.plan.summary:PlanDocument"),
    "plan-against": Shape("fabric.design.moves:ChangesDocument", "`fabric plan --against OLD --json`"),
    "push": Shape(
        "fabric.deliver.inventory.engine:PushDocument", "`fabric push netbox --json` and `fabric push nautobot --json`"
    ),
    "reach": Shape(
        "fabric.solver.reach:ReachedDocument", "`fabric step` and `fabric goodput` with `--vary … --reach … --json`"
    ),
    "score": Shape("fabric.solver.collectives.score:ScoreDocument", "`fabric model score --json`"),
    "score-step": Shape("fabric.solver.training.ladder:StepScoreDocument", "`fabric model score --step LADDER --json`"),
    "step": Shape("fabric.solver.training.step:StepDocument"),
    "step-vary": Shape("fabric.solver.training.sweep:SweepDocument", "`fabric step --vary … --json`"),
    "utilisation": Shape("fabric.solver.utilisation.utilisation:UtilisationDocument"),
    "vendors": Shape("fabric.configs.targets:VendorsDocument", "`fabric catalog --os --json`"),
    "verify": Shape("fabric.audit.verify.reports:StateDocument"),
}


def names() -> list[str]:
    """Names of the documents that commands print."""
    return sorted(SHAPES)


def text(name: str) -> str:
    """The schema of a document or an input file."""
    return f"{json_text(_schema(name), ensure_ascii=False)}\n"


def _schema(name: str) -> dict[str, Any]:
    from fabric.base.schemas.derived import schema_of

    if name in INPUTS:
        from fabric.solver.goodput import sections

        return sections.schema()
    shape = SHAPES[name]
    module, _, kind = shape.model.partition(":")
    title = f"{shape.command or f'`fabric {name} --json`'}, version {shape.version}"
    head = {"$schema": DIALECT, "$id": f"urn:fabricwright:{name}:{shape.version}", "title": title}
    return head | schema_of(getattr(import_module(module), kind))
