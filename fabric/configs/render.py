"""Renders the view of a switch into the files of its network OS.

Templates print text files, documents are serialized; the overrides of a site apply to both.
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

from fabric.configs.templating import site
from fabric.configs.templating.shipped import environment as environment, templates_root as templates_root
from fabric.model.plan import SwitchView
from fabric.nos.target import Document, Target, Text

# Control characters, Unicode line separators, bidirectional controls and lone surrogates: not allowed in a config line.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RenderedFile:
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class TextOverride:
    """Template of a site: `{% extends "eos/device.j2" %}` and the blocks that it replaces."""

    template_path: Path
    index: int = 0  # index in `overrides` of the intent


@dataclass(frozen=True, slots=True)
class DocumentPatch:
    """A JSON merge patch (RFC 7396) of one document."""

    file: str
    patch: Mapping[str, Any]


Override: TypeAlias = TextOverride | DocumentPatch


def render(view: SwitchView, target: Target, overrides: Sequence[Override] = ()) -> list[RenderedFile]:
    """Renders every file of one switch. Overrides of files that this target does not write are ignored."""
    rendered = []
    for file in target.files(view):
        if isinstance(file, Text):
            refuse_control(file.context, file.path)
            text = _printed(file, overrides)
        else:
            data = _patched(file, overrides)
            refuse_control(data, file.path)
            text = (file.serialize or to_json)(data)
        rendered.append(RenderedFile(file.path, text))
    return rendered


# --- safety -------------------------------------------------------------------------------------------------


def refuse_control(value: object, field: str) -> None:
    """Rejects control characters, so that no value starts a new config line; names were checked on input already."""
    if not "".join(_texts(value)).isprintable():  # false for every character of CONTROL, and faster than a search
        _search(value, field)


def _texts(value: object) -> list[str]:
    """Every string in a value, keys of mappings included."""
    texts: list[str] = []
    level: list[Any] = [value]
    while level:
        inner: list[Any] = []
        for item in filter(None, level):
            kind: Any = type(item)
            if kind is str:
                texts.append(item)
            elif kind not in _PLAIN:
                inner += _parts_of(kind)(item)
        level = inner
    return texts


_PLAIN = frozenset([int, bool, float])


@cache
def _parts_of(kind: Any) -> Callable[[Any], Iterable[Any]]:
    """Function that returns the values inside an object of this class, for example the fields of a record."""
    if issubclass(kind, str):
        return lambda text: (str.__str__(text),)  # a subclass may override `str()`
    if issubclass(kind, Mapping):
        return lambda mapping: chain(mapping, mapping.values())
    if issubclass(kind, (list, tuple)):
        return lambda items: items
    names = [part.name for part in fields(kind)] if is_dataclass(kind) else []
    return attrgetter(names[0], *names) if names else lambda value: ()  # with two or more names attrgetter returns a tuple


def _search(value: object, field: str) -> None:
    """Raises ValueError for the first control character and names its field."""
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
    """A text file, printed by its template or by templates of the site that extend it."""
    paths = [item.template_path.resolve() for item in overrides if isinstance(item, TextOverride)]
    overriding = [path for path in paths if site.extended(path) == file.template]
    if overriding:
        return site.render(file.template, overriding, file.context)
    return environment().get_template(file.template).render(file.context)


# --- documents ----------------------------------------------------------------------------------------------


def json_merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396: objects merge, null deletes, anything else replaces. Does not modify its arguments."""
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
    # A target writes rows in front-panel order; rows of a patch come after them.
    return {name: _in_order(rows) for name, rows in data.items()}


def _in_order(rows: Any) -> Any:
    return {key: rows[key] for key in sorted(rows, key=_natural)} if isinstance(rows, dict) else rows


def _natural(key: str) -> list[tuple[int, str]]:
    """Ethernet8 before Ethernet16."""
    parts = re.split("([0-9]+)", key)
    return [(len(digits := part.lstrip("0")), digits) if part.isdecimal() else (-1, part) for part in parts]


_dumps = json.JSONEncoder(ensure_ascii=False).encode
WIDE = 16  # rows with more fields have one field per line


def to_json(data: Mapping[str, Any]) -> str:
    """JSON with one block per table and one line per row: readable diffs, and much faster than `indent`."""
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
