"""JSON documents: models of what commands print, made of their results. `derived.py` has their JSON Schema.

A result whose fields are the keys of its document is a dataclass with annotated fields. A document with other keys, order or
rounding is a `Document`, which says of each key where its value comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache, reduce
from operator import attrgetter, itemgetter
from typing import Annotated, Any, NamedTuple, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, SkipValidation, create_model, model_validator

ABSENT = object()  # value of an optional key that may be null as well, where it is left out

# --- types of keys: values stay as they were computed, the schema has the limits -------------------------------

Count = Annotated[int, Field(ge=0), SkipValidation]
Positive = Annotated[int, Field(ge=1), SkipValidation]
Text = Annotated[str, Field(min_length=1), SkipValidation]  # not empty
Number = Annotated[float, SkipValidation]
Amount = Annotated[float, Field(ge=0), SkipValidation]
Factor = Annotated[float, Field(ge=1), SkipValidation]
Share = Annotated[float, Field(ge=0, le=1), SkipValidation]
Ratio = Annotated[float, Field(gt=0), SkipValidation]
CheckId = Annotated[str, Field(pattern=r"^FAB[0-9]{3,4}$"), SkipValidation]


OR_NULL = Field(json_schema_extra={"type": ["number", "null"]})  # metadata of a number that may be infinite


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


Unlimited = Annotated[Amount, OR_NULL, PlainSerializer(_finite)]  # null where it is infinite


def enum_of(names: Iterable[str]) -> Any:
    """Metadata of a text that is one of some names."""
    return Field(json_schema_extra={"enum": [*names]})


def each_of(names: Iterable[str], required: Iterable[str] | None = None) -> Any:
    """Metadata of a mapping that has these keys and no other, all of them but where `required` names fewer."""
    keys = [*names]
    always = keys if required is None else [*required]

    def closed(schema: dict[str, Any]) -> None:
        schema["properties"] = dict.fromkeys(keys, schema.pop("additionalProperties"))
        schema |= {"required": always, "additionalProperties": False}

    return Field(json_schema_extra=closed)


def rounded(digits: int) -> PlainSerializer:
    """Rounds a number as it is printed; None, infinities and what is no number become null."""
    return PlainSerializer(lambda value: None if value is None or not math.isfinite(value) else round(value, digits))


# --- documents ------------------------------------------------------------------------------------------------


class _Source(NamedTuple):
    """Metadata of a key: how its value is read from the result."""

    read: Callable[[Any], Any]


def json_key(description: str = "", of: str | int | Callable[[Any], Any] | None = None, **more: Any) -> Any:
    """A key of a Document.

    Args:
        description: as the schema has it.
        of: attribute of the result (`site.plan.site`, None where a part of the path is), place in a tuple, or a function of
            the result; by default the attribute that is called as the key.
        more: further arguments of `pydantic.Field`. A key with a `default` is optional, and left out if it has that value.
    """
    if "default" in more and not more.get("deprecated"):
        more["exclude_if"] = lambda value: value is more["default"] or value == more["default"]
    field = Field(description=description or None, **more)
    if of is not None:
        field.metadata.append(_Source(of if callable(of) else itemgetter(of) if isinstance(of, int) else _attribute(of)))
    return field


def _attribute(path: str) -> Callable[[Any], Any]:
    names = path.split(".")
    return lambda result: reduce(lambda value, name: None if value is None else getattr(value, name), names, result)


def old_name(new: str, of: str | int | Callable[[Any], Any] | None = None, **more: Any) -> Any:
    """A key that is printed once more under its name of an earlier release."""
    return json_key(f"old name of {new}", new if of is None else of, default=None, deprecated=True, **more)


def described(description: str, **more: Any) -> Any:
    """Metadata of a field of a dataclass: its description, and limits as `pydantic.Field` has them."""
    return Field(description=description, **more)


def itself(result: Any) -> Any:
    """Source of a key whose value is another view of the same result."""
    return result


class Document(BaseModel):
    """A JSON object: its fields are the keys, in the order in which they are printed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, result: Any) -> dict[str, Any]:
        """A mapping has the keys already; of any other result they are read."""
        sources, optional = _keys(cls)
        if not isinstance(result, Mapping):
            result = {name: read(result) for name, read in sources}
        left_out = {name for name, default in optional if name in result and result[name] is default}
        return {name: value for name, value in result.items() if name not in left_out} if left_out else dict(result)


def extended(kind: type, /, **keys: Any) -> Any:
    """A `Document` with the fields of a dataclass or of another one.

    Args:
        kind: the dataclass or `Document`.
        keys: as (type, key); each takes the place of a field, or comes behind them.
    """
    types = get_type_hints(kind, include_extras=True) if is_dataclass(kind) else {}
    taken = {name: (types[name], ...) for name in getattr(kind, "__dataclass_fields__", ())}
    base = Document if is_dataclass(kind) else kind
    return create_model(kind.__name__, __base__=base, __doc__=kind.__doc__, **taken | keys)


@cache
def _keys(kind: type[Document]) -> tuple[list[tuple[str, Callable[[Any], Any]]], list[tuple[str, Any]]]:
    """Keys with their sources, and optional keys with their defaults."""
    named = {field.alias or name: (name, field) for name, field in kind.model_fields.items()}
    sources = [
        (alias, next((item.read for item in field.metadata if isinstance(item, _Source)), attrgetter(name)))
        for alias, (name, field) in named.items()
    ]
    return sources, [(alias, field.default) for alias, (_, field) in named.items() if not field.is_required()]


def document(result: object, kind: Any = None) -> dict[str, Any]:
    """The JSON value of a result: of its own dataclass, or of a `Document` that reads it."""
    from pydantic import TypeAdapter

    kind = kind or type(result)
    if isinstance(kind, type) and issubclass(kind, Document):
        kind.model_rebuild()  # pydantic 2.12 serializes alternatives by the serializers of their classes
    adapter = TypeAdapter(kind)
    value: dict[str, Any] = adapter.dump_python(adapter.validate_python(result), by_alias=True, warnings=False)
    return value
