"""The files of a change: per wave and switch what is typed, what confirms it, and the exact inverse; drains apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabric.audit.diff.configs import FileChange
from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.configs import Renderer
from fabric.deliver.change.edits import Edit, files_of
from fabric.deliver.change.records import DRAIN, REBOOT, UNDRAIN, UPGRADE, Change, Task, Wave
from fabric.deliver.change.report import FORMATS
from fabric.nos.change import NATIVE, PATCHED, STEPPED, Procedure, drained, filled, procedure, typed
from fabric.nos.dialect import STEPS, UNIFIED
from fabric.nos.target import UNSUPPORTED, target

MINUTES = 10  # until a change that is not confirmed is taken back
LABEL = re.compile(r"[^A-Za-z0-9-]+")
IMAGE = {"image": "IMAGE", "earlier": "EARLIER"}  # names that an engineer puts in


def folder(change: Change, edits: Sequence[Edit], renderer: Renderer | None) -> dict[str, str]:
    """Path → text: the checklist, the JSON document, and the files of every switch of every wave.

    Args:
        edits: changes of files, by wave.
        renderer: of the files before the change, which drains are typed for; None without drains.
    """
    files = {"README.md": FORMATS["markdown"](change), "change.json": json_text(document(change)) + "\n"}
    by_place = {(edit.wave, edit.device): edit for edit in edits}
    for wave in change.waves:
        for task in wave.tasks:
            how = procedure(task.nos) if task.nos else None
            if how is not None:
                edit = by_place.get((wave.number, task.device))
                for name, lines in _of_task(change.site, wave, task, how, edit, renderer):
                    ending = "sh" if how.shell else "txt"
                    files[f"wave-{wave.number:03}/{task.device}/{name}.{ending}"] = "\n".join(lines) + "\n"
    return files


def unsupported(change: Change) -> list[Diagnostic]:
    """A warning for each network OS that does not say how it takes a change."""
    names = {task.nos: None for wave in change.waves for task in wave.tasks if task.nos and procedure(task.nos) is None}
    hint = "add `change` to the target of this network OS (CONTRIBUTING.md)"
    message = "not supported on {}: no files of its switches are written"
    return [
        Diagnostic(UNSUPPORTED, Place("change"), message.format(target(name).title), hint, severity="warning")
        for name in sorted(names)
    ]


def _of_task(
    site: str, wave: Wave, task: Task, how: Procedure, edit: Edit | None, renderer: Renderer | None
) -> Iterator[tuple[str, list[str]]]:
    """(name, lines) of the files of a switch in a wave, in the order in which they are typed."""
    if (task.drained or task.action in (DRAIN, UNDRAIN)) and renderer is not None:
        lead = drained(how, files_of(renderer, edit.was if edit else task.device))
        if task.action != UNDRAIN:
            yield "1-drain", list(lead.apply)
        if task.action != DRAIN:
            yield "4-undrain", list(lead.undo)
    values = {"name": label(site, wave.number), "minutes": MINUTES, **IMAGE}
    if edit is not None and edit.drain is not None:
        yield from _of_links(edit.drain, how, {**values, "name": f"{values['name']}-drain"})
    if task.action == REBOOT:
        yield "2-reboot", filled(how.reboot, values)
    elif task.action == UPGRADE:
        yield "2-upgrade", filled(how.upgrade, values)
        if how.downgrade:
            yield "undo", filled(how.downgrade, values)
    elif edit is not None and edit.changes:
        inverse = all_lines(how, edit.inverse, values)
        values |= {"change": all_lines(how, edit.changes, values), "inverse": inverse}
        yield "2-apply", filled(how.apply, values)
        yield "3-confirm", filled(how.confirm, values)
        yield "undo", filled(how.undo, values)
        if how.lost:
            yield "undo-without-inverse", filled(how.lost, values)


def _of_links(edit: Edit, how: Procedure, values: Mapping[str, object]) -> Iterator[tuple[str, list[str]]]:
    """The files that take links out of service."""
    if edit.changes:
        inverse = all_lines(how, edit.inverse, values)
        values = {**values, "change": all_lines(how, edit.changes, values), "inverse": inverse}
        yield "1-drain", filled(how.apply, values)
        yield "1-drain-confirm", filled(how.confirm, values)
        yield "1-drain-undo", filled(how.undo, values)


def all_lines(how: Procedure, changes: Iterable[FileChange], values: Mapping[str, object]) -> list[str]:
    """What is typed for the changes of all files."""
    return [line for change in changes for line in typed(how, change.path, change.lines, _kind(change), values)]


def _kind(change: FileChange) -> str:
    if change.form is UNIFIED:
        return PATCHED
    return STEPPED if change.form is STEPS else NATIVE


def label(site: str, wave: int) -> str:
    """Name of checkpoints, sessions and files of a wave: short, without signs that a shell takes for its own."""
    return f"{LABEL.sub('-', site)[:20]}-wave{wave}"
