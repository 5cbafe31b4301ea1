"""From a file to a Site: version first, then the models; every mistake with its place."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabric.base import source
from fabric.base.diagnostics import Report, nearest, one_of, show
from fabric.base.formats import json_text, model_of
from fabric.base.source import Source
from fabric.base.text import listed, plural
from fabric.design.intent.site import VERSION, Fabric, Site
from fabric.hardware.catalog import models

# --- The JSON Schema of the language, for editors -------------------------------------------------------------

TITLE = "fabricwright intent, version 1"


@cache
def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an intent file, generated from the models."""
    whole = Site.model_json_schema(by_alias=True)
    # Short forms that the loader expands before validation.
    for model, key, short in (("Topology", "pods", {"const": "auto"}), ("Fabric", "nos", {"type": "string"})):
        field = whole["$defs"][model]["properties"][key]
        field["anyOf"] = [short, *field.pop("anyOf", [{"$ref": field.pop("$ref", "#/$defs/TierNos")}])]
    hardware = {name for name, kind in vars(models).items() if isinstance(kind, type) and issubclass(kind, models.Record)}
    for name, definition in (("", whole["properties"]), *whole["$defs"].items()):
        if name not in hardware:  # records of the catalog are validated like its files
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
            if "minLength" in array:  # pydantic describes a converted list as text
                array["minItems"] = array.pop("minLength")
            node["anyOf"] = [array["items"], array]
    elif isinstance(node, list):
        for value in node:
            _let_single_entries_stand_for_lists(value)


# --- loading --------------------------------------------------------------------------------------------------

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
_FORMS = {
    "^[1-9][0-9]?x[1-9][0-9]*$": "a breakout such as 2x400",
    "^FAB[0-9]{3,4}$": "a code such as FAB182",
    "^[A-Za-z0-9_+/-]{1,40}$": "a time zone such as UTC or Europe/Berlin",
    "^[A-Za-z_][A-Za-z0-9_]{0,62}$": "the name of a secret, such as ADMIN_PASSWORD_HASH",
    "^[0-9A-Za-z][0-9A-Za-z.()_-]{0,30}$": "a release such as 5.15",
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
        return model_of(Site, data)
    except ValidationError as error:
        errors: list[Any] = _outdented(error.errors(include_url=False), text, report)
        for item in errors:
            if not _spurious(item, errors):
                _translate(item, text, report)
    report.raise_errors()
    raise AssertionError("a validation error without an error")


def _check_version(text: Source, data: dict[str, Any], report: Report) -> None:
    version = data.get("version", VERSION)
    if type(version) is int and version == VERSION:
        return
    hint = f"set `version: {VERSION}`; CHANGELOG.md lists the changes between versions"
    if type(version) is int and version > VERSION:
        hint = "the file needs a newer version of fabric: `pipx upgrade fabricwright`"
    report.fail("FAB105", text.place(("version",)), f"version: expected {VERSION}, got {show(version)}", hint)


def _translate(item: Any, text: Source, report: Report) -> None:
    """One pydantic error as a diagnostic in the words of the language."""
    kind, context = item["type"], item.get("ctx", {})
    is_key = "[key]" in item["loc"] or kind == "extra_forbidden"
    path = tuple(step for step in item["loc"] if step != "[key]")
    name, place, got = _dotted(path, text), text.place(path, key=is_key), show(item["input"])
    described = _description(path)
    if kind == "extra_forbidden":
        parent, key = _dotted(path[:-1], text), path[-1]
        report.error("FAB101", place, f"unknown key {show(key)}" + (f" under {parent}" if parent else ""), _key_hint(path))
    elif kind == "missing":
        parent_place = text.place(path[:-1], key=len(path) > 1)
        report.error("FAB103", parent_place, f"{name}: missing key", described)
    elif kind in _TYPES:
        hint = _type_hint(kind, item["input"], path) or described
        report.error("FAB102", place, f"{name}: expected {_TYPES[kind]}, got {got}", hint)
    elif kind == "literal_error":
        choices = re.findall(r"'([^']*)'|(\d+)", str(context.get("expected", "")))
        words = [word or number for word, number in choices]
        message = f"{name}: expected {one_of(words)}, got {got}"
        report.error("FAB107", place, message, _close(item["input"], words) or described)
    elif kind in _BOUNDS:
        bound, words_ = _BOUNDS[kind]
        report.error("FAB104", place, f"{name}: expected {words_} {_number(context[bound])}, got {got}", described)
    elif kind == "string_pattern_mismatch":
        form = _FORMS.get(context["pattern"], f"text of the form {context['pattern']}")
        report.error("FAB104", place, f"{name}: expected {form}, got {got}", described)
    elif kind == "string_too_long":
        report.error("FAB104", place, f"{name}: expected at most {context['max_length']} characters, got {got}", described)
    elif kind == "too_short" and isinstance(item["input"], str):
        report.error("FAB104", place, f"{name}: expected at least {context['min_length']} characters, got {got}", described)
    elif kind == "too_short":
        least = plural(context["min_length"], "entry", "entries")
        report.error("FAB104", place, f"{name}: expected at least {least}, got none", described)
    elif kind == "value_error":
        message = str(context.get("error", item["msg"]))
        scalar = not isinstance(item["input"], dict | list | tuple) and ", got " not in message
        report.error("FAB108", place, f"{name}: {message}" + (f", got {got}" if scalar else ""), described)
    else:
        report.error("FAB102", place, f"{name}: {item['msg'][:1].lower()}{item['msg'][1:]}, got {got}", described)


def _outdented(errors: list[Any], text: Source, report: Report) -> list[Any]:
    """The errors without those of keys that stand beside their fabric in place of under it, which are one mistake."""
    fabrics = text.data.get("fabrics")
    if not isinstance(fabrics, dict):
        return errors
    empty = [name for name, value in fabrics.items() if value is None]
    strays = [name for name in fabrics if name in Fabric.model_fields and not _is_fabric(fabrics[name])]
    if not empty or not strays:
        return errors
    report.error(
        "FAB101",
        text.place(("fabrics", strays[0]), key=True),
        f"{listed(strays)}: expected under a fabric, got beside '{empty[0]}', which has no keys",
        f"indent these lines further than `{empty[0]}:`",
    )
    return [item for item in errors if item["loc"][:1] != ("fabrics",) or item["loc"][1] not in (*empty, *strays)]


def _is_fabric(value: Any) -> bool:
    return isinstance(value, dict) and not {"servers", "topology"}.isdisjoint(value)


def _spurious(item: Any, errors: list[Any]) -> bool:
    """Whether a list only counts as too short because its entries are wrong, which is reported already."""
    below = (other["loc"] for other in errors if len(other["loc"]) > len(item["loc"]))
    return item["type"] == "too_short" and any(loc[: len(item["loc"])] == item["loc"] for loc in below)


def _type_hint(kind: str, value: Any, path: tuple[str | int, ...]) -> str:
    """How to fix a value of the wrong type, where that is plain to see."""
    text = value if isinstance(value, str) else ""
    if kind in ("int_type", "float_type") and re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return "numbers stand without quotes"
    if kind == "float_type" and (ratio := re.fullmatch(r"([0-9.]+):1", text)):
        return f"write the ratio as one number: {ratio[1]} means {ratio[1]}:1"
    if kind in ("int_type", "int_from_float") and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}" if abs(value) < 1e15 else ""
    if kind == "bool_type" and text.lower() in ("yes", "no", "on", "off"):
        return f"write {'true' if text.lower() in ('yes', 'on') else 'false'}"
    if kind == "string_type" and isinstance(value, int | float):
        return "quote the value"
    if kind in ("tuple_type", "list_type"):
        return "write a list: an entry a line behind `- `, or all of them in brackets `[ ]`"
    if kind.startswith("model") and (keys := _keys_at(path)):
        return f"its keys are {listed(keys, 12)}"
    return ""


def _close(word: Any, words: list[str]) -> str:
    hint = nearest(word, words)
    return hint if hint.startswith("did") else ""


def _number(value: float) -> str:
    """A bound in full: 10000000, 0.5."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def _dotted(path: tuple[str | int, ...], text: Source) -> str:
    """`fabrics.backend.servers[1].count`, without the index of a list that the file does not write."""
    name, node = "", text.root
    for step in path:
        if isinstance(step, int):
            if not isinstance(node.items, list):
                continue
            name += f"[{step}]"
            node = node.items[step] if step < len(node.items) else node
        else:
            shown = step if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", step) else show(step)
            name += f".{shown}" if name else shown
            node = node.items.get(step, node) if isinstance(node.items, dict) else node
    return name


def _key_hint(path: tuple[str | int, ...]) -> str:
    """For an unknown key: the nearest one, where the key belongs, or what there is."""
    key, known = str(path[-1]), _keys_at(path[:-1])
    close = _close(key, known)
    if close:
        return close
    homes = _places().get(key, [])
    if 0 < len(homes) <= 3:
        return f"`{key}` belongs under {' or '.join(homes)}"
    return nearest(key, known) if known else ""


@cache
def _places() -> dict[str, list[str]]:
    """Key → where in a fabric a key of that name stands."""

    whole = schema()
    places: dict[str, list[str]] = {}

    def walk(node: Any, path: str, depth: int) -> None:
        for name, child in _resolve(node, whole).get("properties", {}).items():
            if path and f"`{path}`" not in places.setdefault(name, []):
                places[name].append(f"`{path}`")
            if depth < 4:
                walk(child, f"{path}.{name}" if path else name, depth + 1)

    walk(whole["$defs"]["Fabric"], "", 0)
    return places


def _description(path: tuple[str | int, ...]) -> str:
    """What the language says of a key, for a hint: `mtu`: IP MTU in bytes."""
    words = [step for step in path if isinstance(step, str)]
    for length in range(len(path), 0, -1):
        node = _schema_at(path[: length - 1])
        key = path[length - 1]
        if isinstance(key, str) and "description" in (schema := node.get("properties", {}).get(key, {})):
            text = str(schema["description"])
            return f"`{key}`: {text}" if " " in text else ""
        if isinstance(key, str) and key != words[-1]:
            break
    return ""


def _keys_at(path: tuple[str | int, ...]) -> list[str]:
    """The keys that the language knows at a place."""
    return sorted(_schema_at(path).get("properties", {}))


def _schema_at(path: tuple[str | int, ...]) -> dict[str, Any]:
    """The part of the JSON Schema that describes a place."""

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
            return {}
    subschema: dict[str, Any] = _resolve(node, whole)
    return subschema


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
