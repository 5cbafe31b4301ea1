"""From a file to a Site: version first, then the models; every mistake with its place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabric.diagnostics import Report, nearest, one_of, plural, show
from fabric.intent import source
from fabric.intent.site import VERSION, Site
from fabric.intent.source import Source

_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
    "tuple_type": "a list",
    "list_type": "a list",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def load(path: Path, shown: str | None = None) -> tuple[Site, Source]:
    """Reads an intent. `shown` is the file's name in messages.

    Raises:
        InputError: with every mistake of the file.
    """
    text = source.read(path, shown)
    return validate(text), text


def validate(text: Source) -> Site:
    """Holds the data of a source against the language."""
    report, data = Report(), text.data
    _check_version(text, data, report)
    try:
        return Site.model_validate_json(json.dumps(data))
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _translate(item, text, data, report)
    report.raise_errors()
    raise AssertionError("a validation error without an error")


def _check_version(text: Source, data: dict[str, Any], report: Report) -> None:
    version = data.get("version", VERSION)
    if version == VERSION:
        return
    hint = f"write `version: {VERSION}`; what changed between versions stands in CHANGELOG.md"
    if isinstance(version, int) and version > VERSION:
        hint = "the file is newer than this program: upgrade it with `pipx upgrade fabricwright`"
    report.fail("FAB105", text.place(("version",)), f"version: expected {VERSION}, got {show(version)}", hint)


def _translate(item: Any, text: Source, data: Any, report: Report) -> None:
    """One pydantic error as a diagnostic in the words of the language."""
    kind, context = item["type"], item.get("ctx", {})
    path = tuple(step for step in item["loc"] if step != "[key]")
    name, place, got = _dotted(path), text.place(path), show(item["input"])
    if kind == "extra_forbidden":
        known = _keys_at(path[:-1])
        parent = _dotted(path[:-1])
        report.error(
            "FAB101",
            text.place(path, key=True),
            f"unknown key {show(path[-1])}" + (f" under {parent}" if parent else ""),
            nearest(path[-1], known) if known else "",
        )
    elif kind == "missing":
        parent = path[:-1]
        report.error("FAB103", text.place(parent, key=bool(parent)), f"{name}: expected this key, it is missing")
    elif kind in _TYPES:
        report.error("FAB102", place, f"{name}: expected {_TYPES[kind]}, got {got}", _type_hint(kind, item["input"]))
    elif kind == "literal_error":
        choices = re.findall(r"'([^']*)'|(\d+)", str(context.get("expected", "")))
        words = [word or number for word, number in choices]
        report.error("FAB107", place, f"{name}: expected {one_of(words)}, got {got}", _close(item["input"], words))
    elif kind in _BOUNDS:
        bound, words_ = _BOUNDS[kind]
        report.error("FAB104", place, f"{name}: expected {words_} {context[bound]:g}, got {got}")
    elif kind == "string_pattern_mismatch":
        report.error("FAB104", place, f"{name}: expected text of the form {context['pattern']}, got {got}")
    elif kind == "string_too_long":
        report.error("FAB104", place, f"{name}: expected at most {context['max_length']} characters, got {got}")
    elif kind == "too_short":
        report.error(
            "FAB104", place, f"{name}: expected at least {plural(context['min_length'], 'entry', 'entries')}, got none"
        )
    elif kind == "value_error":
        message = str(context.get("error", item["msg"]))
        scalar = not isinstance(item["input"], dict | list | tuple) and ", got " not in message
        is_key = "[key]" in item["loc"]
        where = text.place(path, key=True) if is_key else place
        report.error("FAB108", where, f"{name}: {message}" + (f", got {got}" if scalar else ""))
    else:
        report.error("FAB102", place, f"{name}: {item['msg'][:1].lower()}{item['msg'][1:]}, got {got}")


def _type_hint(kind: str, value: Any) -> str:
    if kind in ("int_type", "float_type") and isinstance(value, str) and re.fullmatch(r"[0-9.]+", value):
        return "numbers stand without quotes"
    if kind == "bool_type" and str(value).lower() in ("yes", "no", "on", "off"):
        return f"write {'true' if str(value).lower() in ('yes', 'on') else 'false'}"
    if kind == "string_type" and isinstance(value, int | float):
        return "put it in quotes"
    return ""


def _close(word: Any, words: list[str]) -> str:
    hint = nearest(word, words)
    return hint if hint.startswith("did") else ""


def _dotted(path: tuple[str | int, ...]) -> str:
    """`fabrics.backend.servers[1].count`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text.replace("servers[0].", "servers.")


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    """The keys that the language knows at a place, found by walking the JSON Schema."""
    from fabric.intent.schema import schema

    whole = schema()
    node: Any = whole
    for step in path:
        node = _resolve(node, whole)
        properties = node.get("properties", {})
        if isinstance(step, str) and step in properties:
            node = properties[step]
        elif isinstance(step, int):
            node = node.get("items", node)
        else:
            patterns = node.get("patternProperties", {})
            node = next(iter(patterns.values()), None) or node.get("additionalProperties", {})
        if not isinstance(node, dict):
            return []
    return sorted(_resolve(node, whole).get("properties", {}))


def _resolve(node: Any, whole: Any) -> Any:
    """Follows references, and takes the mapping among alternatives."""
    for _ in range(8):
        if "$ref" in node:
            node = whole["$defs"][node["$ref"].rsplit("/", 1)[1]]
        elif "items" in node and "properties" not in node:
            node = node["items"]
        elif "anyOf" in node:
            branches = [_resolve(branch, whole) for branch in node["anyOf"]]
            node = next((b for b in branches if "properties" in b), branches[0])
        elif len(node.get("allOf", ())) == 1:
            node = node["allOf"][0]
        else:
            break
    return node


