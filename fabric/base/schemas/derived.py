"""The JSON Schema of a document, derived of its model."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from fabric.base.schemas.models import Document


class _Derived(GenerateJsonSchema):
    """Without titles and defaults of what is always printed; objects are closed."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # ABSENT

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        """A field of a dataclass is always printed."""
        return field["type"] == "dataclass-field" or super().field_is_required(field, total)

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        found = super().model_schema(schema)
        return _closed(found) if issubclass(schema["cls"], Document) else found

    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        """The first paragraph of its docstring is the description, whatever pydantic takes."""
        lead = (schema["cls"].__doc__ or "").partition("\n\n")[0]
        return _closed(super().dataclass_schema(schema) | {"description": " ".join(lead.split())})

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        """In the order of the fields."""
        return value


def _closed(schema: JsonSchemaValue) -> JsonSchemaValue:
    for item in schema["properties"].values():
        item.pop("default", None)
    return {name: value for name, value in schema.items() if name != "title"} | {"additionalProperties": False}


def schema_of(kind: Any) -> JsonSchemaValue:
    """JSON Schema (2020-12) of a dataclass or `Document`."""
    return TypeAdapter(kind).json_schema(schema_generator=_Derived)
