"""The keys of the intent language, from its JSON Schema: which there are, which an intent uses, and a random value of each.

A path reads as in docs/intent.md, `fabrics.NAME.underlay.bfd.enabled`; NAME stands for a name that the user gives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from fabric.design.intent.load import schema

Node = dict[str, Any]
Values = Mapping[str, Callable[[random.Random], Any]]  # path → a value that its type alone does not give

FREE = frozenset({"overrides.patch"})  # mappings that hold anything


def resolved(node: Node) -> Node:
    """The node itself, without its reference, its short forms and `null`."""
    while True:
        if "$ref" in node:
            node = schema()["$defs"][node["$ref"].rpartition("/")[2]]
        elif "anyOf" in node:
            options = [option for option in node["anyOf"] if option != {"type": "null"}]
            rich = [option for option in options if "$ref" in option or option.get("type") in ("object", "array")]
            node = (rich or options)[-1]
        else:
            return node


def children(node: Node) -> dict[str, Node]:
    """Keys of a mapping, of the entries of a list, or of a mapping by names."""
    node = resolved(node)
    if node.get("type") == "array":
        return children(node["items"])
    for key in ("patternProperties", "additionalProperties"):
        if isinstance(node.get(key), dict):
            named = next(iter(node[key].values())) if key == "patternProperties" else node[key]
            return {"NAME": named}
    found: dict[str, Node] = node.get("properties", {})
    return found


def paths(node: Node | None = None, at: str = "") -> Iterator[str]:
    """Every key of the language."""
    for key, inner in children(schema() if node is None else node).items():
        path = f"{at}.{key}".lstrip(".")
        if key != "NAME":
            yield path
        if path not in FREE:
            yield from paths(inner, path)


def used(value: Any, node: Node | None = None, at: str = "") -> Iterator[str]:
    """The keys that an intent states."""
    known = children(schema() if node is None else node)
    if isinstance(value, list):
        for item in value:
            yield from used(item, node, at)
    elif isinstance(value, dict) and at not in FREE:
        for key, item in value.items():
            name = key if key in known else "NAME"
            path = f"{at}.{name}".lstrip(".")
            if name != "NAME":
                yield path
            if name in known:
                yield from used(item, known[name], path)


def node_at(path: str) -> Node:
    """The node of a key."""
    node = schema()
    for part in path.split("."):
        node = children(node)[part]
    return node


def drawn(rng: random.Random, path: str, odds: float, values: Values, skip: frozenset[str] = frozenset()) -> Node:
    """A mapping with some of the keys below `path`. Keys in `skip` are for others to draw.

    A key whose type gives no value and that `values` does not know either is left out, so that it is listed as never used.
    """
    found = {}
    for key, node in children(node_at(path)).items():
        inner = f"{path}.{key}"
        if inner in skip or key == "NAME":
            continue
        if children(node) and inner not in values:
            if part := drawn(rng, inner, odds, values, skip):
                found[key] = part
        elif rng.random() < odds:
            with suppress(LookupError):
                found[key] = values[inner](rng) if inner in values else value(rng, resolved(node), inner)
    return found


def value(rng: random.Random, node: Node, path: str) -> Any:
    """A value of a type with bounds: often one of its ends. KeyError for a type of free text."""
    if "enum" in node:
        return rng.choice(node["enum"])
    if "const" in node:
        return node["const"]
    if node.get("type") == "boolean":
        return rng.random() < 0.5
    low = node.get("minimum", node.get("exclusiveMinimum"))
    high = node.get("maximum", node.get("exclusiveMaximum"))
    if node.get("type") == "integer" and low is not None and high is not None:
        return rng.choice((low, high, rng.randint(low, high), rng.randint(low, min(high, 4 * low + 8))))
    if node.get("type") == "number" and low is not None and high is not None:
        return round(rng.uniform(low, high), 2)
    raise KeyError(f"{path}: no value can be drawn from its type alone")
