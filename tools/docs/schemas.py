"""docs/schemas.md: the JSON documents of the commands, key by key, from their schemas.

Run as `python -m tools.docs.schemas`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fabric import pipeline
from fabric.base.schemas import INPUTS
from tools.docs.ending import ending

HEAD = """\
# JSON documents

`fabric schema NAME` prints the JSON Schema (2020-12) of a document, `fabric schema` that of intents. `$id` ends in the
version: a new optional key keeps it, any other change increases it. The
[glossary](glossary.md#names-in-json-and-on-the-command-line) has the commands, the terms and the units of the names.

A path names a key inside others; `[]` is an entry of a list, `*` any name of a mapping. Keys are always present unless
*optional*.
"""
END = ending(
    "make docs",
    "[cli.md](cli.md): the commands that print these documents.",
    "[api.md](api.md): the same as typed values in Python.",
)


def page() -> str:
    """The whole page."""
    names = [*pipeline.schema_names(), *INPUTS]
    index = "\n".join(f"* [`{name}`](#{name}): {_schema(name)['title']}" for name in names)
    return "\n".join([HEAD, f"{index}\n", *(_document(name) for name in names), END])


def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pipeline.schema(name))
    return found


def _document(name: str) -> str:
    whole = _schema(name)
    rows = list(_rows("", whole, whole, frozenset()))
    table = ["| key | value | meaning |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"## `{name}`", "", f"{whole['title']}. {_text(whole)}".rstrip(), "", *table])


def _rows(path: str, node: dict[str, Any], whole: dict[str, Any], seen: frozenset[str]) -> Iterator[str]:
    """Rows of the keys below a node; a definition that contains itself is listed once."""
    for key, field in node.get("properties", {}).items():
        here = f"{path}.{key}" if path else key
        optional = "" if key in node.get("required", ()) else "*optional* "
        yield f"| `{here}` | {optional}{_type(field, whole)} | {_text(_resolved(field, whole)[1] | field)} |"
        yield from _below(here, field, whole, seen)
    yield from _inside(path, node, whole, seen)


def _below(path: str, field: dict[str, Any], whole: dict[str, Any], seen: frozenset[str]) -> Iterator[str]:
    """Rows below a field, through references, alternatives, lists and mappings."""
    name, node = _resolved(field, whole)
    if name in seen:
        return
    seen |= {name} if name else set()
    if "properties" in node:
        yield from _rows(path, node, whole, seen)
    else:
        yield from _inside(path, node, whole, seen)


def _inside(path: str, node: dict[str, Any], whole: dict[str, Any], seen: frozenset[str]) -> Iterator[str]:
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _below(path, branch, whole, seen)
    if isinstance(node.get("items"), dict):
        yield from _below(f"{path}[]", node["items"], whole, seen)
    for branch in (node.get("additionalProperties"), *node.get("patternProperties", {}).values()):
        if isinstance(branch, dict):
            yield from _below(f"{path}.*" if path else "*", branch, whole, seen)


def _resolved(field: dict[str, Any], whole: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and content of what a field refers to."""
    if "$ref" not in field or not field["$ref"].startswith("#/$defs/"):
        return "", field
    name = field["$ref"].rsplit("/", 1)[1]
    found: dict[str, Any] = whole["$defs"][name]
    return name, found


def _type(field: dict[str, Any], whole: dict[str, Any]) -> str:
    _, node = _resolved(field, whole)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{'null' if value is None else value}`" for value in node["enum"])
    if branches := (*node.get("anyOf", ()), *node.get("oneOf", ())):
        return " or ".join(dict.fromkeys(_type(branch, whole) for branch in branches))
    kinds = node.get("type", "any")
    words = [_word(kind, node, whole) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    return " or ".join(words)


def _word(kind: str, node: dict[str, Any], whole: dict[str, Any]) -> str:
    if kind == "array":
        return f"list of {_type(node['items'], whole)}" if isinstance(node.get("items"), dict) else "list"
    return {"object": "mapping", "string": "text", "integer": "whole number", "boolean": "`true` or `false`"}.get(kind, kind)


def _text(node: dict[str, Any]) -> str:
    """Description, without signs that Markdown reads in a table."""
    words = " ".join(str(node.get("description", "")).split()).replace("|", "&#124;")
    return f"deprecated; {words}" if node.get("deprecated") else words


if __name__ == "__main__":
    print(page(), end="")
