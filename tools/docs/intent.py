"""docs/intent.md: reference of the intent language, generated from its models.

Run as `python -m tools.docs.intent`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabric.intent.schema import schema

HEAD = """\
# The intent language

*Generated from the models by `make docs`; do not edit.*

An intent is one YAML file per site. All keys except `version`, `site`, `fabrics`, `servers` and a switch have defaults.
The first line of an example names its JSON Schema, so that editors complete keys and mark errors.

"""


def page() -> str:
    """The whole page as Markdown."""
    whole = schema()
    out = [HEAD]
    queue: list[tuple[str, str, dict[str, Any]]] = [("", "A site", whole)]
    seen: set[str] = set()
    while queue:
        path, title, node = queue.pop(0)
        out.append(f"## {f'`{path}`' if path else title}\n\n")
        if node.get("description"):
            out.append(f"{' '.join(node['description'].split())}\n\n")
        out.append("| key | value | default | meaning |\n|---|---|---|---|\n")
        for key, field in node.get("properties", {}).items():
            required = key in node.get("required", ())
            out.append(_row(key, field, whole, required))
            for name, below in _models(field, whole):
                if name not in seen:
                    seen.add(name)
                    inner = f"{path}.{key}" if path else key
                    queue.append((inner + _suffix(field, whole), name, below))
        out.append("\n")
    return "".join(out)


def _row(key: str, field: dict[str, Any], whole: dict[str, Any], required: bool) -> str:
    default = "**required**" if required else _default(field.get("default"))
    meaning = field.get("description", "").replace("|", "\\|")
    return f"| `{key}` | {_type(field, whole)} | {default} | {meaning} |\n"


def _default(value: Any) -> str:
    if value is None or value in ("", (), [], {}) or isinstance(value, dict):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(field: dict[str, Any], whole: dict[str, Any]) -> str:
    """Type of a key's value, in a few words."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        target = whole["$defs"][name]
        return "mapping" if target.get("type") == "object" else _type(target, whole)
    if "anyOf" in field:
        parts = [_type(branch, whole) for branch in field["anyOf"] if branch.get("type") != "null"]
        return " or ".join(dict.fromkeys(parts))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    kind = field.get("type", "")
    if kind == "array":
        return f"list of {_type(field.get('items', {}), whole)}"
    if kind in ("integer", "number"):
        return ("number" if kind == "number" else "whole number") + _bounds(field)
    if kind == "object":
        inner: Any = field.get("additionalProperties") or next(iter(field.get("patternProperties", {}).values()), {})
        return f"name → {_type(inner, whole)}" if isinstance(inner, dict) and inner else "mapping"
    return {"string": "text", "boolean": "`true` or `false`"}.get(kind, "anything")


def _bounds(field: dict[str, Any]) -> str:
    low, high, above = (field.get(key) for key in ("minimum", "maximum", "exclusiveMinimum"))
    if low is not None and high is not None:
        return f", {low:,} to {high:,}"
    if above is not None:
        return f" above {above:g}" + (f", at most {high:,}" if high is not None else "")
    return f", at least {low:,}" if low is not None else ""


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


def _suffix(field: dict[str, Any], whole: dict[str, Any]) -> str:
    """`.NAME` below a mapping of names."""
    named = field.get("type") == "object" and ("additionalProperties" in field or "patternProperties" in field)
    return ".NAME" if named else ""


if __name__ == "__main__":
    print(page(), end="")
