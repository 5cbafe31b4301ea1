"""An intent with some of its values changed, and the same design on another network OS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import TemplateError

from fabric.configs import targets
from fabric.diagnostics import Diagnostic, InputError, Place, nearest, one_of, show
from fabric.intent.intent import Intent
from fabric.intent.load import validate
from fabric.nos.target import target, target_names
from fabric.plan import Plan
from fabric.plan.lock_file import Lock
from fabric.planner.resolve import resolve
from fabric.settings.services import Override
from fabric.source import Node, Path_, Source
from fabric.templating.site import extended


class Changed(NamedTuple):
    """An intent made of another one, and what is not as it was there, in words."""

    intent: Intent
    notes: tuple[str, ...]


Planning = Callable[[Intent, Lock | None], Plan]  # the plan of an intent, on the numbers given or on those of its lock file


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
                found = Node(node.line, node.column, items={})
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
            if isinstance(last, int):  # a single entry that stands for a list of one
                self.drop(path[:-1])
            else:
                node.items.pop(last, None)
        elif isinstance(node.items, list):
            assert isinstance(last, int)
            del node.items[last]

    def made(self, intent: Intent, folder: Path) -> Intent:
        """The changed intent. Raises InputError where it is none."""
        source = Source(self.file, self.root)
        return replace(intent, site=validate(source), source=source, folder=folder)


def as_network_os(intent: Intent, nos: str) -> Changed:
    """The same design with one network OS on every switch; overrides and releases of others are left out.

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
    notes += _without_releases(text, (), intent.site.releases, nos)
    for number, request in reversed(list(enumerate(intent.site.overrides))):
        if _of_another(intent, request, nos):
            text.drop(("overrides", number))
            notes.append(f"override skipped: {request.template or request.file} is for another network OS")
    rendered = text.made(intent, intent.folder)
    return Changed(intent if rendered.site == intent.site else rendered, tuple(notes))


def _without_releases(text: Rewrite, path: Path_, releases: Mapping[str, str], nos: str) -> list[str]:
    others = [name for name in releases if name != nos]
    for name in others:
        text.drop((*path, "releases", name))
    where = f"{path[-1]}: " if path else ""
    return [f"{where}release of {name} omitted" for name in others]


def _of_another(intent: Intent, request: Override, nos: str) -> bool:
    """Whether an override changes files that this network OS has not. What cannot be read is left to the renderer."""
    if request.template is None:
        return request.file not in target(nos).documents
    try:
        return extended(intent.path.absolute().parent / request.template).split("/")[0] != nos
    except (OSError, ValueError, TemplateError):
        return False


# --- the document -----------------------------------------------------------------------------------------------


def _copy(node: Node) -> Node:
    """A tree of its own: an alias is written out, so that a change in one place is none in another."""
    items: dict[str, Node] | list[Node] | None = None
    if isinstance(node.items, dict):
        items = {key: _copy(child) for key, child in node.items.items()}
    elif isinstance(node.items, list):
        items = [_copy(child) for child in node.items]
    return Node(node.line, node.column, node.value, items, dict(node.keys), node.size)


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
    node = Node(place.line, place.column)
    if isinstance(value, Mapping):
        node.items = {key: _tree(child, place) for key, child in value.items()}
        node.keys = dict.fromkeys(value, (place.line, place.column))
    elif isinstance(value, list | tuple):
        node.items = [_tree(child, place) for child in value]
    else:
        node.value = value
    return node
