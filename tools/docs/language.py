"""The intent language, section by section, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.design.intent.load import schema


def sections() -> Iterator[tuple[str, dict[str, Any]]]:
    """Path of every mapping with keys of its own, and its schema; a mapping that stands in several places at its first."""
    whole = schema()
    queue: list[tuple[str, dict[str, Any]]] = [("", whole)]
    seen: set[str] = set()
    while queue:
        path, node = queue.pop(0)
        yield path, node
        for key, field in node.get("properties", {}).items():
            for name, below in _models(field, whole):
                if name not in seen:
                    seen.add(name)
                    queue.append(((f"{path}.{key}" if path else key) + _suffix(field), below))


def _models(field: dict[str, Any], whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Models that a field refers to."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        if whole["$defs"][name].get("properties"):
            yield name, whole["$defs"][name]
    for branch in field.get("anyOf", ()):
        yield from _models(branch, whole)
    for key in ("items", "additionalProperties"):
        if isinstance(field.get(key), dict):
            yield from _models(field[key], whole)
    for branch in field.get("patternProperties", {}).values():
        yield from _models(branch, whole)


def _suffix(field: dict[str, Any]) -> str:
    """`.NAME` below a mapping of names."""
    named = field.get("type") == "object" and ("additionalProperties" in field or "patternProperties" in field)
    return ".NAME" if named else ""
