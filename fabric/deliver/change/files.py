"""The files of a change: per wave and switch what is typed, what confirms it, and the exact inverse; drains apart.

`request.json` says what the change was planned from: `fabric change apply` plans it again and compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

from fabric.audit.diff.configs import FileChange
from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.formats import json_line, json_text
from fabric.base.schemas.models import document
from fabric.configs import Renderer
from fabric.deliver.change.edits import Edit, files_of
from fabric.deliver.change.records import (
    DRAIN,
    INSTALL,
    REBOOT,
    RECABLE,
    REPLACE,
    UNDRAIN,
    UPGRADE,
    Asked,
    Change,
    Task,
    Wave,
)
from fabric.deliver.change.report import FORMATS
from fabric.nos.change import NATIVE, PATCHED, STEPPED, Procedure, drained, filled, procedure, rehearsed, typed
from fabric.nos.dialect import STEPS, UNIFIED
from fabric.nos.target import UNSUPPORTED, target

MINUTES = 10  # until a change that is not confirmed is taken back
LABEL = re.compile(r"[^A-Za-z0-9-]+")
IMAGE = {"image": "IMAGE", "earlier": "EARLIER"}  # names that an engineer puts in


TRIED, DRAINED, APPLY, CONFIRM, ABORT, UNDRAINED, UNDO = (
    *("0-dry-run", "1-drain", "2-apply", "3-confirm", "3-abort", "4-undrain", "undo"),
)
REBOOTED, UPGRADED = "2-reboot", "2-upgrade"
REQUEST = "request.json"
WHOLE = "configs"  # folder of the complete files of a switch that comes


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The files of one change of configs that is typed under a timer.

    Attributes:
        mark: what the labels of its checkpoints, sessions and timers end with.
    """

    tried: str
    apply: str
    confirm: str
    abort: str
    undo: str
    mark: str = ""


CHANGED = Names(tried=TRIED, apply=APPLY, confirm=CONFIRM, abort=ABORT, undo=UNDO)
LINKS_OUT = Names(  # links leave service without their switches
    tried="1-drain-dry-run",
    apply=DRAINED,
    confirm="1-drain-confirm",
    abort="1-drain-abort",
    undo="1-drain-undo",
    mark="-drain",
)


def folder(
    change: Change,
    edits: Sequence[Edit],
    renderer: Renderer | None,
    asked: Asked | None = None,
    new: Renderer | None = None,
) -> dict[str, str]:
    """Path → text: the checklist, the JSON document, and the files of every switch of every wave.

    Args:
        edits: changes of files, by wave.
        renderer: of the files before the change, which drains are typed for; None without drains.
        asked: what the change is planned from; None where it is not carried out by `fabric change apply`.
        new: of the files after the change, for drains of switches that have come with it.
    """
    renderers = [one for one in (renderer, new) if one is not None]
    files = {"README.md": FORMATS["markdown"](change), "change.json": json_text(document(change)) + "\n"}
    if asked is not None:
        files[REQUEST] = json_text(asdict(replace(asked, waves=digest(change)))) + "\n"
    by_place = {(edit.wave, edit.device): edit for edit in edits}
    for wave in change.waves:
        for task in wave.tasks:
            how = procedure(task.nos) if task.nos else None
            if how is not None:
                edit = by_place.get((wave.number, task.device))
                for name, lines in _of_task(change.site, wave, task, how, edit, renderers):
                    files[place(wave.number, task.device, name, how)] = "\n".join(lines) + "\n"
            for path, text in _whole(task, renderers):
                files[f"wave-{wave.number:03}/{task.device}/{WHOLE}/{path}"] = text
    return files


def _whole(task: Task, renderers: Sequence[Renderer]) -> Iterable[tuple[str, str]]:
    """The complete files of a switch that comes, as `fabric generate` writes them: (path, text)."""
    if renderers and (task.action in (INSTALL, REPLACE) or (task.action == RECABLE and _is_replaced(task, renderers))):
        return files_of(renderers[-1], task.device).items()
    return ()


def _is_replaced(task: Task, renderers: Sequence[Renderer]) -> bool:
    """Whether a switch that is drained for its cables makes room for one of another model or network OS."""
    found = [its.by_name.get(task.device) for one in renderers for its in one.plan.fabrics.values()]
    return len({(device.model, device.nos) for device in found if device is not None}) > 1


def is_typed(path: str) -> bool:
    """Whether a file of a wave is typed at its switch; the complete files of new switches are loaded."""
    return path.count("/") == 2


def place(wave: int, device: str, name: str, how: Procedure) -> str:
    """Path of a file of a switch in a wave."""
    return f"wave-{wave:03}/{device}/{name}.{'sh' if how.shell else 'txt'}"


def digest(change: Change) -> str:
    """SHA-256 of what is done in the waves."""
    waves = [[wave.fabric, [*map(asdict, wave.tasks)], [*map(asdict, wave.moves)]] for wave in change.waves]
    return sha256(json_line(waves).encode()).hexdigest()


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
    site: str, wave: Wave, task: Task, how: Procedure, edit: Edit | None, renderers: Sequence[Renderer]
) -> Iterator[tuple[str, list[str]]]:
    """(name, lines) of the files of a switch in a wave, in the order in which they are typed."""
    if (task.drained or task.action in (DRAIN, UNDRAIN)) and renderers:
        known = (files_of(renderer, edit.was if edit else task.device) for renderer in renderers)
        lead = drained(how, next(filter(None, known), {}))
        if task.action != UNDRAIN:
            yield DRAINED, list(lead.apply)
        if task.action != DRAIN:
            yield UNDRAINED, list(lead.undo)
    if edit is not None and edit.drain is not None:
        yield from _of_edit(site, wave.number, edit.drain, how, LINKS_OUT)
    values = {"name": label(site, wave.number), "minutes": MINUTES, **IMAGE}
    if task.action == REBOOT:
        yield REBOOTED, filled(how.reboot, values)
    elif task.action == UPGRADE:
        yield UPGRADED, filled(how.upgrade, values)
        if how.downgrade:
            yield UNDO, filled(how.downgrade, values)
    elif edit is not None and edit.changes:
        yield from _of_edit(site, wave.number, edit, how, CHANGED)
        if how.lost:
            yield "undo-without-inverse", filled(how.lost, values)


def _of_edit(site: str, wave: int, edit: Edit, how: Procedure, names: Names) -> Iterator[tuple[str, list[str]]]:
    """The files of one change of configs."""
    values: dict[str, object] = {"name": label(site, wave) + names.mark, "minutes": MINUTES}
    inverse = all_lines(how, edit.inverse, values)
    tried = [line for its in edit.changes for line in rehearsed(how, its.path, its.lines, _kind(its), values)]
    values |= {"change": all_lines(how, edit.changes, values), "inverse": inverse, "tried": tried}
    if tried:
        yield names.tried, filled(how.tried, values)
    yield names.apply, filled(how.apply, values)
    yield names.confirm, filled(how.confirm, values)
    if how.abort:
        yield names.abort, filled(how.abort, values)
    yield names.undo, filled(how.undo, values)


def inverse_lines(how: Procedure, site: str, wave: int, changes: Iterable[FileChange], mark: str = "") -> list[str]:
    """What is typed to take other changes back than those of the files of a wave."""
    values: dict[str, object] = {"name": label(site, wave) + mark, "minutes": MINUTES}
    return filled(how.undo, values | {"inverse": all_lines(how, changes, values)})


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
