"""How the change of one config file is written: in the words that its network OS takes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabric.audit.diff import remedy
from fabric.audit.diff.set_lines import set_lines
from fabric.base.reading import UnreadableError
from fabric.nos.dialect import COMMANDS, PATCH, STEPS, UNIFIED, Form, Patch, SetLines, Step, json_lines, json_patch


@dataclass(frozen=True)
class FileChange:
    """One file: `lines` can be applied to what is there."""

    path: str
    form: Form
    lines: tuple[str, ...]
    json_patch: tuple[dict[str, Any], ...] = ()  # RFC 6902, of files that are data; of all steps, in their order
    steps: tuple[Step, ...] = ()  # where the network OS takes the change step by step


def changes(nos: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
    """Every file of a switch that is another."""
    texts = ((path, before.get(path, ""), after.get(path, "")) for path in sorted({*before, *after}))
    return tuple(change(nos, path, old, new) for path, old, new in texts if old != new)


def change(nos: str, path: str, old: str, new: str) -> FileChange:
    """A file that appears or goes is shown as a patch, as is one that no network OS is known for or that cannot be read."""
    form = remedy.dialect(nos).forms.get(path, UNIFIED)
    try:
        found = _native(nos, path, form, old, new) if old and new else None
    except (ValueError, UnreadableError):  # a site's own template broke the document
        found = None
    return found if found is not None and found.lines else FileChange(path, UNIFIED, tuple(_unified(old, new)))


def _native(nos: str, path: str, form: Form, old: str, new: str) -> FileChange | None:
    """The change in the form of its network OS; None where a patch states it."""
    if form is COMMANDS:
        return FileChange(path, form, tuple(remedy.commands(nos, old, new)))
    if isinstance(form, SetLines):
        return FileChange(path, form, tuple(set_lines(form.config(old), form.config(new), form.hierarchy())))
    if isinstance(form, Patch):
        return of_trees(path, form, form.tree(old), form.tree(new))
    return None


def of_trees(path: str, form: Patch, old: Mapping[str, Any], new: Mapping[str, Any]) -> FileChange:
    """The change between what two files set."""
    if form.steps is None or form.script is None:
        return FileChange(path, form, tuple(form.changes(old, new)), tuple(json_patch(old, new)))
    steps = form.steps(old, new)
    operations = tuple(operation for step in steps for operation in step.json_patch)
    if [step.kind for step in steps] == [PATCH]:
        return FileChange(path, form, tuple(json_lines(operations)), operations, steps)
    return FileChange(path, STEPS, tuple(form.script(steps)), operations, steps)


def _unified(old: str, new: str) -> list[str]:
    """A patch, for files that are read whole; also where nothing but a comment differs."""
    found = difflib.unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm="")
    return [line for line in found if not line.startswith(("---", "+++"))]
