"""The JSON Schema of the language, for editors."""

from __future__ import annotations

from functools import cache
from typing import Any

from fabric.base.formats import json_text
from fabric.design.intent.site import Site
from fabric.hardware.catalog import models

TITLE = "fabricwright intent, version 1"


@cache
def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an intent file, generated from the models."""
    whole = Site.model_json_schema(by_alias=True)
    # Short forms that the loader unfolds before the models see them.
    for model, key, short in (("Topology", "pods", {"const": "auto"}), ("Fabric", "nos", {"type": "string"})):
        field = whole["$defs"][model]["properties"][key]
        field["anyOf"] = [short, *field.pop("anyOf", [{"$ref": field.pop("$ref", "#/$defs/TierNos")}])]
    hardware = {name for name, kind in vars(models).items() if isinstance(kind, type) and issubclass(kind, models.Record)}
    for name, definition in (("", whole["properties"]), *whole["$defs"].items()):
        if name not in hardware:  # records of the catalog are as strict as its files
            _let_single_entries_stand_for_lists(definition)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "title": TITLE}


def text() -> str:
    """The schema as the file that is committed beside the examples."""
    return json_text(schema(), ensure_ascii=False, sort_keys=True) + "\n"


def _let_single_entries_stand_for_lists(node: Any) -> None:
    """The loader takes one entry for a list of one; the schema must not call that a mistake."""
    if isinstance(node, dict):
        for value in node.values():
            _let_single_entries_stand_for_lists(value)
        if node.get("type") == "array" and "items" in node and isinstance(node["items"], dict):
            array = {key: node.pop(key) for key in list(node) if key not in ("description", "default", "title")}
            if "minLength" in array:  # pydantic counts a converted list as text
                array["minItems"] = array.pop("minLength")
            node["anyOf"] = [array["items"], array]
    elif isinstance(node, list):
        for value in node:
            _let_single_entries_stand_for_lists(value)
