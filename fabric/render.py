"""From a switch's view to the files of its network OS.

Text files are printed by templates, documents are serialised; a site's overrides change either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound, meta
from jinja2.sandbox import SandboxedEnvironment

import fabric
from fabric.plan.views import SwitchView
from fabric.vendors.base import Document, Target, Text

# Control characters, and the line ends that only Unicode knows: none of them belongs in a line of config.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
CHAIN = "site:"  # name of a template that a site's files override: this, then the files, newest last


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
            text = environment().get_template(_chain(file.template, overrides)).render(file.context)
        else:
            data = _patched(file, overrides)
            refuse_control(data, file.path)
            text = (file.serialise or to_json)(data)
        rendered.append(RenderedFile(file.path, text))
    return rendered


# --- safety -------------------------------------------------------------------------------------------------


def refuse_control(value: object, field: str) -> None:
    """Names are checked where they are read; this is the second wall: no value starts a line of its own."""
    if isinstance(value, str):
        if CONTROL.search(value):
            raise ValueError(f"{field}: control character in {value!r}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            refuse_control(key, field)
            refuse_control(item, f"{field}.{key}")
    elif isinstance(value, (list, tuple)):
        for n, item in enumerate(value):
            refuse_control(item, f"{field}[{n}]")
    elif is_dataclass(value):
        for part in fields(value):
            refuse_control(getattr(value, part.name), f"{field}.{part.name}")


# --- templates ----------------------------------------------------------------------------------------------


class _Loader(BaseLoader):
    """Shipped templates by name; a chain of site templates by the path of its newest."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        if template.startswith(CHAIN):
            path = Path(template.rpartition("\n")[2])
        elif ".." in template or template.startswith("/"):
            raise TemplateNotFound(template)
        else:
            path = self.root / template
        if not path.is_file():
            raise TemplateNotFound(str(path))
        return path.read_text(encoding="utf-8"), str(path), None


class _Environment(SandboxedEnvironment):
    def join_path(self, template: str, parent: str) -> str:
        """Where a site's file extends the base, it extends what the files before it made of the base."""
        if not parent.startswith(CHAIN):
            return template
        before, _, _ = parent.rpartition("\n")
        base = before.split("\n")[0].removeprefix(CHAIN)
        return before if template == base and before.count("\n") else template


def templates_root() -> Path:
    """In a wheel the templates lie inside the package, in a checkout beside it."""
    package = Path(fabric.__file__).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


@cache
def environment() -> Environment:
    """One per process: a template is compiled once, not once a switch."""
    return _Environment(
        loader=_Loader(templates_root()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        cache_size=-1,
        auto_reload=False,
    )


@cache
def extended(path: Path) -> str:
    """The shipped template that a site's file extends."""
    found = list(meta.find_referenced_templates(environment().parse(path.read_text(encoding="utf-8"))))
    if not found or found[0] is None:
        raise ValueError(f'{path}: begin with {{% extends "…" %}} of a shipped template')
    if not (templates_root() / found[0]).is_file():
        raise ValueError(f"{path}: extends {found[0]}, which is no shipped template")
    return found[0]


def _chain(template: str, overrides: Sequence[Override]) -> str:
    paths = [item.template_path.resolve() for item in overrides if isinstance(item, TextOverride)]
    own = [str(path) for path in paths if extended(path) == template]
    return CHAIN + "\n".join([template, *own]) if own else template


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
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", key)]


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
