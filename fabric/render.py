"""From a switch's view to the files of its network OS.

Text files are printed by templates, documents are serialised; a site's overrides change either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from fabric.nos.target import Document, Target, Text
from fabric.plan import SwitchView
from fabric.templating import site
from fabric.templating.shipped import environment as environment, templates_root as templates_root

# Control characters, line ends that only Unicode knows, marks that turn the direction of what is shown, halves of a pair
# that no file can hold: none of them belongs in a line of config.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RenderedFile:
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class TextOverride:
    """A site's own template: `{% extends "eos/device.j2" %}` and the blocks it wants otherwise."""

    template_path: Path
    index: int = 0  # which entry of the intent's `overrides` it is


@dataclass(frozen=True, slots=True)
class DocumentPatch:
    """A JSON merge patch (RFC 7396) on one document."""

    file: str
    patch: Mapping[str, Any]


Override: TypeAlias = TextOverride | DocumentPatch


def render(view: SwitchView, target: Target, overrides: Sequence[Override] = ()) -> list[RenderedFile]:
    """Every file of one switch. An override of what this target does not write is left alone."""
    rendered = []
    for file in target.files(view):
        if isinstance(file, Text):
            refuse_control(file.context, file.path)
            text = _printed(file, overrides)
        else:
            data = _patched(file, overrides)
            refuse_control(data, file.path)
            text = (file.serialise or to_json)(data)
        rendered.append(RenderedFile(file.path, text))
    return rendered


# --- safety -------------------------------------------------------------------------------------------------


def refuse_control(value: object, field: str) -> None:
    """Names are checked where they are read; this is the second wall: no value starts a line of its own."""
    if not "".join(_texts(value)).isprintable():  # false for every character of CONTROL, and far faster than the search
        _search(value, field)


def _texts(value: object) -> list[str]:
    """Every text in a value, keys of mappings included."""
    found: list[str] = []
    level: list[Any] = [value]
    while level:
        inner: list[Any] = []
        for item in filter(None, level):
            kind: Any = type(item)
            if kind is str:
                found.append(item)
            elif kind not in _PLAIN:
                inner += _parts_of(kind)(item)
        level = inner
    return found


_PLAIN = frozenset([int, bool, float])


@cache
def _parts_of(kind: Any) -> Callable[[Any], Iterable[Any]]:
    """What gives the values in one of this class: the fields of a record, nothing where there is none."""
    if issubclass(kind, str):
        return lambda text: (str.__str__(text),)  # of a class of its own, whose `str()` may say something else
    if issubclass(kind, Mapping):
        return lambda mapping: chain(mapping, mapping.values())
    if issubclass(kind, (list, tuple)):
        return lambda items: items
    names = [part.name for part in fields(kind)] if is_dataclass(kind) else []
    return attrgetter(names[0], *names) if names else lambda value: ()  # of two names or more: a tuple


def _search(value: object, field: str) -> None:
    """Raises ValueError for the first control character, with the field that has it."""
    if isinstance(value, str):
        if CONTROL.search(value):
            raise ValueError(f"{field}: control character in {value!r}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _search(key, field)
            _search(item, f"{field}.{key}")
    elif isinstance(value, (list, tuple)):
        for n, item in enumerate(value):
            _search(item, f"{field}[{n}]")
    elif is_dataclass(value):
        for part in fields(value):
            _search(getattr(value, part.name), f"{field}.{part.name}")


# --- templates ----------------------------------------------------------------------------------------------


def _printed(file: Text, overrides: Sequence[Override]) -> str:
    """A text file by its template, or by what a site's own templates make of that."""
    paths = [item.template_path.resolve() for item in overrides if isinstance(item, TextOverride)]
    own = [path for path in paths if site.extended(path) == file.template]
    if own:
        return site.render(file.template, own, file.context)
    return environment().get_template(file.template).render(file.context)


# --- documents ----------------------------------------------------------------------------------------------


def json_merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396: objects merge, null deletes, anything else replaces. Leaves its arguments as they are."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = json_merge_patch(merged.get(key), value)
    return merged


def _patched(file: Document, overrides: Iterable[Override]) -> Mapping[str, Any]:
    patches = [item.patch for item in overrides if isinstance(item, DocumentPatch) and item.file == file.path]
    if not patches:
        return file.data
    data: Any = file.data
    for patch in patches:
        data = json_merge_patch(data, patch)
    # A target writes its rows in front-panel order; a patch appends.
    return {name: _in_order(rows) for name, rows in data.items()}


def _in_order(rows: Any) -> Any:
    return {key: rows[key] for key in sorted(rows, key=_natural)} if isinstance(rows, dict) else rows


def _natural(key: str) -> list[tuple[int, str]]:
    """Ethernet8 before Ethernet16."""
    parts = re.split("([0-9]+)", key)
    return [(len(digits := part.lstrip("0")), digits) if part.isdecimal() else (-1, part) for part in parts]


_dumps = json.JSONEncoder(ensure_ascii=False).encode
WIDE = 16  # a row of more fields than this is printed a field a line


def to_json(data: Mapping[str, Any]) -> str:
    """A table a block, a row a line: what a person wants in a diff, and far faster than `indent`."""
    tables = (f"    {_dumps(name)}: {_table(data[name])}" for name in sorted(data))
    return "{\n" + ",\n".join(tables) + "\n}\n"


def _table(rows: Any) -> str:
    if not isinstance(rows, Mapping) or not rows:
        return _dumps(rows)
    lines = (f"        {_dumps(key)}: {_row(row)}" for key, row in rows.items())
    return "{\n" + ",\n".join(lines) + "\n    }"


def _row(row: Any) -> str:
    if not isinstance(row, Mapping) or len(row) <= WIDE:
        return _dumps(row)
    lines = (f"            {_dumps(key)}: {_dumps(value)}" for key, value in row.items())
    return "{\n" + ",\n".join(lines) + "\n        }"
