"""Another intent made of one: values of its document changed, or a document of other data. Nothing else makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import TemplateError

from fabric.base import source as sources
from fabric.base.diagnostics import Diagnostic, InputError, Place, Report, nearest, one_of, show
from fabric.base.formats import json_line
from fabric.base.source import Node, Path_, Source
from fabric.configs import targets
from fabric.configs.templating.site import extended
from fabric.design.intent.intent import Intent
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.model.plan import FabricSpec, Plan
from fabric.model.plan.lock_file import Lock
from fabric.model.settings.services import Override
from fabric.nos.target import target, target_names


class Changed(NamedTuple):
    """An intent made of another one, and what is not as it was there, in words."""

    intent: Intent
    notes: tuple[str, ...]


Planning = Callable[[Intent, Lock | None], Plan]  # plans an intent, with the given numbers or those of its lock file


class Rewrite:
    """A copy of an intent's document that values are changed in; each keeps the place that it has in the file.

    The planner asks the document what is stated, so a change of the models alone would not be enough.
    """

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.root = _copy(source.root)

    def put(self, path: Path_, value: Any) -> None:
        """States a value, and creates the missing mappings above it."""
        node, last = self.root, path[-1]
        for step in path[:-1]:
            found = _child(node, step)
            if found is None:
                found = Node(line=node.line, column=node.column, items={})
                _set(node, step, found)
            node = found
        _set(node, last, _tree(value, _child(node, last) or node))

    def drop(self, path: Path_) -> None:
        """Takes a key or an entry away, if it is there."""
        node, last = self.root, path[-1]
        for step in path[:-1]:
            child = _child(node, step)
            if child is None:
                return
            node = child
        if isinstance(node.items, dict):
            if isinstance(last, int):  # a single entry in place of a list
                self.drop(path[:-1])
            else:
                node.items.pop(last, None)
        elif isinstance(node.items, list):
            assert isinstance(last, int)
            del node.items[last]

    def made(self, intent: Intent, folder: Path) -> Intent:
        """The changed intent. Raises InputError where it is none."""
        return _made(Source(self.file, self.root), intent.path, folder)


def of_data(data: Mapping[str, Any], shown: str) -> Intent:
    """The intent of a file with these data, in the folder of that file. Raises InputError where it is none."""
    path = Path(shown)
    return _made(sources.parse(json_line(data), shown), path, path.parent)


def _made(source: Source, path: Path, folder: Path) -> Intent:
    return Intent(path, validate(source), source, folder)


def _copy(node: Node) -> Node:
    """A tree of its own: an alias is written out, so that a change in one place is none in another."""
    items: dict[str, Node] | list[Node] | None = None
    if isinstance(node.items, dict):
        items = {key: _copy(child) for key, child in node.items.items()}
    elif isinstance(node.items, list):
        items = [_copy(child) for child in node.items]
    return Node(line=node.line, column=node.column, value=node.value, items=items, keys=dict(node.keys), size=node.size)


def _child(node: Node, step: str | int) -> Node | None:
    """The value behind a step. A single entry stands for a list of one: its step 0 is itself."""
    if isinstance(node.items, dict):
        return node.items.get(step) if isinstance(step, str) else node if step == 0 else None
    if isinstance(node.items, list) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


def _set(node: Node, step: str | int, value: Node) -> None:
    if isinstance(node.items, list):
        assert isinstance(step, int)
        node.items[step] = value
        return
    assert isinstance(step, str)
    if node.items is None:  # a scalar, `pods: auto`, is replaced by a mapping
        node.items, node.value = {}, None
    node.items[step] = value
    node.keys.setdefault(step, (value.line, value.column))


def _tree(value: Any, place: Node) -> Node:
    """A value as nodes that all stand in one place."""
    node = Node(line=place.line, column=place.column)
    if isinstance(value, Mapping):
        node.items = {key: _tree(child, place) for key, child in value.items()}
        node.keys = dict.fromkeys(value, (place.line, place.column))
    elif isinstance(value, list | tuple):
        node.items = [_tree(child, place) for child in value]
    else:
        node.value = value
    return node


# --- one fabric -----------------------------------------------------------------------------------------------
# One fabric of an intent, as the base of its variants.


@dataclass(frozen=True)
class OneFabric:
    """A fabric of an intent, by its name."""

    intent: Intent
    name: str

    @staticmethod
    def of(intent: Intent, name: str, report: Report) -> OneFabric:
        """The fabric that is meant: the one named, the only one, or the first for compute. Reports an unknown name."""
        fabrics = intent.site.fabrics
        if name and name not in fabrics:
            report.error("FAB106", Place("--fabric"), f"unknown fabric {show(name)}", nearest(name, fabrics))
        if name in fabrics:
            return OneFabric(intent, name)
        compute = (key for key, fabric in fabrics.items() if fabric.purpose == "compute")
        return OneFabric(intent, next(compute, next(iter(fabrics))))

    @property
    def data(self) -> dict[str, Any]:
        """The data of the file with this fabric alone."""
        data = self.intent.source.data
        return {**data, "fabrics": {self.name: data["fabrics"][self.name]}}

    @property
    def file(self) -> str:
        """As messages name it."""
        return self.intent.source.file

    @property
    def others(self) -> int:
        """Fabrics of the site beside it."""
        return len(self.intent.site.fabrics) - 1

    @property
    def spec(self) -> FabricSpec:
        """With every default chosen. Raises InputError."""
        return resolve(self.intent.site, self.intent.source).fabrics[self.name]


# --- The same design on another network OS --------------------------------------------------------------------


def as_network_os(intent: Intent, nos: str) -> Changed:
    """The same design with one network OS on every switch; overrides, releases and logins of others are left out.

    What that network OS cannot do is refused by the planner, as for any intent. Raises InputError for an unknown name.
    """
    if nos not in target_names():
        message = f"expected a network OS, {one_of(target_names())}, got {show(nos)}"
        raise InputError([Diagnostic("FAB107", Place("--as"), message, nearest(nos, target_names()))])
    text, notes = Rewrite(intent.source), []
    for name, spec in resolve(intent.site, intent.source).fabrics.items():
        fabric = intent.site.fabrics[name]
        if not spec.ethernet:
            notes.append(f"{name}: InfiniBand, not configured by a network OS")
            continue
        before = dict.fromkeys(tier.nos or "the default of each model" for tier in (spec.leaf, spec.spine, spec.core))
        if list(before) != [nos]:
            notes.append(f"{name}: {nos} in place of {' and '.join(before)}")
        text.put(("fabrics", name, "nos"), nos)
        for role in targets.ROLES:
            text.drop(("fabrics", name, "topology", role, "nos"))
        notes += _without_releases(text, ("fabrics", name), fabric.releases, nos)
        notes += _without_logins(text, ("fabrics", name)) if list(before) != [nos] else []
    notes += _without_logins(text, ()) if notes else []
    notes += _without_releases(text, (), intent.site.releases, nos)
    for number, override in reversed(list(enumerate(intent.site.overrides))):
        if _of_another(intent, override, nos):
            text.drop(("overrides", number))
            notes.append(f"override skipped: {override.template or override.file} is for another network OS")
    rendered = text.made(intent, intent.folder)
    return Changed(intent if rendered.site == intent.site else rendered, tuple(notes))


def _without_releases(text: Rewrite, path: Path_, releases: Mapping[str, str], nos: str) -> list[str]:
    others = [name for name in releases if name != nos]
    for name in others:
        text.drop((*path, "releases", name))
    where = f"{path[-1]}: " if path else ""
    return [f"{where}release of {name} omitted" for name in others]


def _without_logins(text: Rewrite, path: Path_) -> list[str]:
    """Methods and their order are those of a network OS, and a lab has no logins."""
    node: Node | None = text.root
    for step in (*path, "management", "aaa"):
        node = _child(node, step) if node else None
    text.drop((*path, "management", "aaa"))
    return [f"{': '.join([*map(str, path[-1:]), 'management.aaa'])} omitted"] if node else []


def _of_another(intent: Intent, override: Override, nos: str) -> bool:
    """Whether an override changes files that this network OS has not. What cannot be read is left to the renderer."""
    if override.template is None:
        return override.file not in target(nos).documents
    try:
        return extended(intent.path.absolute().parent / override.template).split("/")[0] != nos
    except (OSError, ValueError, TemplateError):
        return False
