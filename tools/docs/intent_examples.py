"""Examples of docs/intent.md: their data (`intent.yaml` beside this file) as text of the page, and as whole intents."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.docs import language

DATA = Path(__file__).with_name("intent.yaml")


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return data


def sections() -> dict[str, list[str]]:
    """Keys with an example, by section."""
    return {path: list(section["keys"]) for path, section in _data()["sections"].items()}


def example(path: str, key: str) -> str:
    """`key: value` on one line."""
    return f"{key}: {_flow(_value(path, key))}"


def section_page(path: str) -> str:
    """Page that explains a section, as its path below docs/."""
    return str(_section(path)["page"])


def key_page(path: str, key: str) -> str:
    """Page that explains a key, if not that of its section."""
    return str(_section(path).get("pages", {}).get(key, ""))


def intent(path: str, key: str) -> dict[str, Any]:
    """A whole intent with this example in it."""
    section = _section(path)
    whole: dict[str, Any] = deepcopy(_data()["base"])
    more = section.get("with", {})
    for name in ("all", key):
        whole = merged(whole, more.get(name, {}))
    node, walked = whole, ""
    for part, step in zip(filter(None, path.split(".")), steps(path), strict=True):
        node, walked = _entered(node, step), f"{walked}.{part}".lstrip(".")
        for needed in _required().get(walked, ()):
            node.setdefault(needed, deepcopy(_value(walked, needed)))
    before = node.get(key)
    value = deepcopy(_value(path, key))
    node[key] = merged(before, value) if isinstance(before, dict) and key == path.rpartition(".")[2] else value
    return whole


def steps(path: str) -> list[str]:
    """Keys down to a section, with the names of the examples for NAME."""
    parts = [part for part in path.split(".") if part]
    names = _data()["names"]
    return [names[".".join(parts[:place])] if part == "NAME" else part for place, part in enumerate(parts)]


def _entered(node: dict[str, Any], step: str) -> dict[str, Any]:
    """The mapping below a key; of a list its first entry, and an empty mapping where there is none."""
    below: Any = node.setdefault(step, {})
    first: dict[str, Any] = below[0] if isinstance(below, list) else below
    return first


@cache
def _required() -> dict[str, list[str]]:
    """Keys without a default, by section: what an example of another key of the section needs beside it."""
    return {path: node.get("required", []) for path, node in language.sections()}


def _section(path: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = _data()["sections"][path]
    except KeyError:
        raise SystemExit(f"{DATA.name}: section {path!r} has no examples") from None
    return found


def _value(path: str, key: str) -> Any:
    try:
        return _section(path)["keys"][key]
    except KeyError:
        raise SystemExit(f"{DATA.name}: {path}: no example of {key!r}") from None


def merged(old: Any, new: Any) -> Any:
    """A mapping with the keys of another one merged in, those of null left out; of two lists the first entries are merged."""
    if isinstance(old, dict) and isinstance(new, dict):
        both = {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
        return {key: value for key, value in both.items() if new.get(key, value) is not None}
    if isinstance(old, dict) and isinstance(new, list):
        return [merged(old, new[0]), *new[1:]]
    return deepcopy(new)


def _flow(value: Any) -> str:
    """YAML of a value on one line, in the style of the pages."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
