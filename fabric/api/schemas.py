"""JSON Schemas (2020-12) of what `--json` prints, by the name of the command, and of JOB files.

The last part of `$id` is the version. A new key that is optional keeps it, anything else that a reader may notice does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from fabric.base import schemas
from fabric.base.formats import json_text
from fabric.base.schemas.models import Count, Document, Text, enum_of, extended, json_key, schema_of
from fabric.hardware.catalog.models import ServerModel, SwitchModel
from fabric.nos.target import Capabilities

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Shape(NamedTuple):
    """Where the model of a document is, and what prints it."""

    model: str  # "module:name"
    command: str = ""  # with a blank name: `fabric NAME --json`
    version: int = 1


SHAPES = {
    "lab-test": Shape("fabric.lab.reports:OutcomeDocument", "`fabric lab test --json`"),
    "cabling-verify": Shape("fabric.audit.cabling.finding:VerdictDocument", "`fabric cabling verify --json`"),
    "catalog": Shape("fabric.api.schemas:CatalogDocument"),
    "catalog-power": Shape("fabric.hardware.catalog.power:PowerDocument", "`fabric catalog --power --json`"),
    "catalog-power-check": Shape(
        "fabric.hardware.catalog.power_class:PowerCheckDocument", "`fabric catalog --power-check --json`"
    ),
    "doctor": Shape("fabric.solver.doctor.diagnosis:DiagnosisDocument"),
    "explain": Shape("fabric.audit.codes:ExplainDocument"),
    "headroom": Shape("fabric.hardware.headroom:Headroom"),
    "push": Shape(
        "fabric.deliver.inventory.engine:PushDocument", "`fabric netbox push --json` and `fabric nautobot push --json`"
    ),
    "vendors": Shape("fabric.api.schemas:VendorsDocument"),
    "score": Shape("fabric.solver.collectives.score:ScoreDocument"),
    "score-step": Shape("fabric.solver.training.ladder:StepScoreDocument", "`fabric score --step LADDER --json`"),
    "step": Shape("fabric.solver.training.step:StepDocument"),
    "step-vary": Shape("fabric.solver.training.sweep:SweepDocument", "`fabric step --vary … --json`"),
    "estimate": Shape("fabric.solver.estimate.lines:AnswerDocument"),
    "capacity": Shape("fabric.solver.capacity.measure:Capacity"),
    "check": Shape("fabric.audit.checks.reports.formats:CheckDocument"),
    "drift": Shape("fabric.audit.drift.reports:DriftDocument"),
    "verify": Shape("fabric.audit.verify.reports:StateDocument"),
}


# --- documents of things that commands only list -------------------------------------------------------------------

CapabilitiesDocument = extended(
    Capabilities,
    multihoming=(Annotated[str, enum_of(("", "esi", "vpc"))], ...),
    dynamic_balancing=(Annotated[str, enum_of(("", "auto", "asked"))], ...),
)


class VendorDocument(Document):
    """One network OS."""

    title: Text
    max_mtu: Count = json_key("of IP, bytes")
    releases: list[Text]
    capabilities: CapabilitiesDocument  # type: ignore[valid-type]  # made at run time
    switches: list[Text] = json_key("models of the catalog")
    lacking: dict[str, list[str]] = json_key("model → features that it lacks although its network OS has them")


VendorsDocument = Annotated[dict[str, VendorDocument], Field(description="By network OS.")]
CatalogDocument = Annotated[
    dict[str, SwitchModel | ServerModel] | SwitchModel | ServerModel,
    Field(
        description="Switches and servers by model; of `fabric catalog NAME` the one entry. "
        "Keys that have their default are left out."
    ),
]


# --- schemas --------------------------------------------------------------------------------------------------


def inputs() -> list[str]:
    """Names of the input files beside intents that have a schema."""
    return schemas.inputs()


def names() -> list[str]:
    """Names of the documents that commands print."""
    return sorted([*SHAPES, *schemas.names()])


def text(name: str) -> str:
    """The schema of a document or an input file."""
    return f"{json_text(_schema(name), ensure_ascii=False)}\n" if name in SHAPES else schemas.text(name)


def _schema(name: str) -> dict[str, Any]:
    shape = SHAPES[name]
    module, _, kind = shape.model.partition(":")
    title = f"{shape.command or f'`fabric {name} --json`'}, version {shape.version}"
    head = {"$schema": DIALECT, "$id": f"urn:fabricwright:{name}:{shape.version}", "title": title}
    return head | schema_of(getattr(import_module(module), kind))
