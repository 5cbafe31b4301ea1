"""What changes in the config of every switch: each file in the words of its network OS."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from fabric.audit.diff import remedy
from fabric.base.processes import Progress, in_chunks
from fabric.base.reading import UnreadableError
from fabric.base.schemas.models import Document, Text, enum_of, json_key
from fabric.configs import Job, Renderer
from fabric.nos.dialect import (
    COMMANDS,
    NODE,
    PATCH,
    RELOAD,
    STEPS,
    TYPED,
    UNIFIED,
    UNKNOWN,
    VALUES,
    Config,
    Form,
    Hierarchy,
    Node,
    Patch,
    SetLines,
    Step,
    json_lines,
    json_patch,
)
from fabric.nos.reading.sections import StatementPath

# --- set lines ------------------------------------------------------------------------------------------------
# `delete`, `set` and `insert` lines between two configs in braces.
#
# All lines are one commit: what counts is that each is accepted and what the configuration is after the last one. So what
# goes is deleted first, then what is new or has another value is set, then what has an order is moved. A statement that the
# data of the network OS does not have is deleted with the node that it is in, and that node is set again.

EMPTY = Node()
SPECIAL = re.compile(r"[^\w./:,*+@%=-]")


@dataclass(slots=True)
class Lines:
    """The lines of a change, by what they do."""

    deleted: list[StatementPath] = field(default_factory=list)
    set: list[StatementPath] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)


def set_lines(before: Config, after: Config, hierarchy: Hierarchy) -> list[str]:
    """What makes a switch with the config `before` one with the config `after`."""
    old, new = hierarchy.tree(before.statements), hierarchy.tree(after.statements)
    lines = Lines()
    for name in _names(old, new):
        _change_node(old.below.get(name), new.below.get(name), (name,), lines, hierarchy)
    had, has = ({hierarchy.name(path): None for path in side.inactive} for side in (before, after))
    remaining = {path for path in had if not _within(path, lines.deleted)}
    active = (path for path in remaining.difference(has) if _holds(new, path))
    return [
        *(_line("delete", path) for path in lines.deleted),
        *(_line("activate", path) for path in sorted(active)),
        *(_line("set", path) for path in lines.set),
        *lines.moved,
        *(_line("deactivate", path) for path in has if path not in remaining),
    ]


def _line(verb: str, path: StatementPath) -> str:
    return " ".join((verb, *map(_word, path)))


def _word(word: str) -> str:
    """A value with characters that the command line takes for its own, in quotation marks."""
    return f'"{word}"' if len(word) > 1 and word[0] != '"' and SPECIAL.search(word) else word


def _words(names: Iterable[StatementPath]) -> StatementPath:
    return tuple(word for name in names for word in name)


def _within(path: StatementPath, roots: Iterable[StatementPath]) -> bool:
    return any(path[: len(root)] == root for root in roots)


def _holds(node: Node, path: StatementPath) -> bool:
    """Whether a config has a node, by its words."""
    below = (_holds(child, path[len(name) :]) for name, child in node.below.items() if path[: len(name)] == name)
    return not path or any(below)


def _names(old: Node, new: Node) -> list[StatementPath]:
    """The nodes below both, in the order of the new config."""
    return [*(name for name in old.below if name not in new.below), *new.below]


def _change_node(
    old: Node | None, new: Node | None, names: tuple[StatementPath, ...], lines: Lines, hierarchy: Hierarchy
) -> None:
    """Adds the lines of one node, which is in one of the configs or in both."""
    path = _words(names)
    if old is None:
        assert new is not None
        lines.set += new.statements(path)
    elif new is None and (len(names) > 1 or not old.known or old.kind != NODE):
        lines.deleted.append(path)
    elif new is None:  # a hierarchy goes by its parts, never whole
        _below(old, EMPTY, names, lines, hierarchy)
    elif old.kind != new.kind or (old.values and new.values and (old.kind == VALUES or len(old.values) > 1)):
        _values(old, new, path, lines)
    elif old.values != new.values:
        lines.set += new.statements(path)
    else:
        _below(old, new, names, lines, hierarchy)


def _values(old: Node, new: Node, path: StatementPath, lines: Lines) -> None:
    """A list: single values where that gives the order of the new one, else the whole list."""
    gone, fresh = ([one for one in a.values if one not in b.values] for a, b in ((old, new), (new, old)))
    kept = [one for one in old.values if one not in gone]
    if kept and [*kept, *fresh] == new.values and old.kind == new.kind == VALUES:
        lines.deleted += ((*path, one) for one in gone)
        lines.set += ((*path, one) for one in fresh)
    else:
        lines.deleted.append(path)
        lines.set += new.statements(path)


def _below(old: Node, new: Node, names: tuple[StatementPath, ...], lines: Lines, hierarchy: Hierarchy) -> None:
    """The nodes below a node that is in both configs."""
    unknown = [name for name, node in old.below.items() if node.kind == UNKNOWN and name not in new.below]
    if unknown and (len(names) > 1 or not old.known):
        lines.deleted.append(_words(names))
        lines.set += new.statements(_words(names))
        return
    words = dict.fromkeys(name[:1] for name in unknown)  # of a hierarchy: lists in it are known
    lines.deleted += (_words((*names, word)) for word in words)
    for name in _names(old, new):
        again = name[:1] in words and (name not in old.below or old.below[name].kind == UNKNOWN)
        before, after = None if again else old.below.get(name), new.below.get(name)
        if before or after:
            _change_node(before, after, (*names, name), lines, hierarchy)
    for word in dict.fromkeys(name[0] for name in new.below if name[0] in hierarchy.ordered):
        stay, wanted = ([name for name in side.below if name[0] == word] for side in (old, new))
        stay = [name for name in stay if _words((*names, name)) not in lines.deleted]
        lines.moved += _moves(stay, wanted, _words(names))


def _moves(old: list[StatementPath], wanted: list[StatementPath], path: StatementPath) -> Iterator[str]:
    """A new element goes to the end; where others follow it in the new config it is moved before them."""
    order = [name for name in old if name in wanted]
    order += [name for name in wanted if name not in order]
    for at, name in enumerate(wanted):
        if order[at] != name:
            yield _line("insert", (*path, *name, "before", *order[at]))
            order.remove(name)
            order.insert(at, name)


# --- changes of one file --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FileChange:
    """One file: `lines` can be applied to what is there."""

    path: str
    form: Form
    lines: tuple[str, ...]
    json_patch: tuple[dict[str, Any], ...] = ()  # RFC 6902, of files that are data; of all steps, in their order
    steps: tuple[Step, ...] = ()  # where the network OS takes the change step by step


Operation = Annotated[dict[str, Any], Field(json_schema_extra={"required": ["op", "path"]})]


class StepDocument(Document):
    kind: Annotated[str, enum_of((PATCH, TYPED, RELOAD))]
    title: str = json_key("what it does")
    reason: str = json_key("why it is a step of its own")
    commands: list[str] = json_key("what is typed; none of a patch")
    json_patch: list[Operation] = json_key("RFC 6902, its part of the change")


class FileChangeDocument(Document):
    path: Text
    form: Text = json_key(of="form.name")
    lines: list[str]
    json_patch: list[Operation] = json_key("RFC 6902")
    steps: list[StepDocument] = json_key("SONiC: in this order, each by itself; `json_patch` has the operations of all")


def changes_of_files(nos: str, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[FileChange, ...]:
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


# --- changes of all switches ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DeviceChange:
    """One switch whose config is another."""

    device: str
    was: str  # its old name
    fabric: str
    role: str
    nos: str
    state: str  # "changed" | "added" | "removed" | "replaced": by another model or network OS, so the whole config is new
    files: tuple[FileChange, ...] = ()


Pair = tuple[Job | None, Job | None]


def changes(
    old: Renderer | None,
    new: Renderer | None,
    names: Mapping[str, str],
    selected: Callable[[str], bool],
    jobs: int,
    progress: Progress,
) -> list[DeviceChange]:
    """Every wanted switch that changes, in the order of the new plan. `names` are new ones by old.

    A side without a renderer has no switches.
    """
    was = old.jobs(lambda name: selected(names.get(name, name))) if old else []
    before = {names.get(job.device.name, job.device.name): job for job in was}
    after = {job.device.name: job for job in new.jobs(selected)} if new else {}
    pairs: list[Pair] = [(before.get(name), job) for name, job in after.items()]
    pairs += [(job, None) for name, job in before.items() if name not in after]
    device_changes: list[DeviceChange] = []
    with progress("configs", len(pairs)) as advance:
        for chunk in in_chunks(lambda pair: _change(old, new, *pair), pairs, jobs):
            device_changes += (change for change in chunk if change)
            advance(len(chunk))
    return device_changes


def _change(before: Renderer | None, after: Renderer | None, old: Job | None, new: Job | None) -> DeviceChange | None:
    job = new or old
    assert job is not None
    device, was = job.device, old.device if old else job.device
    state = "added" if old is None else "removed" if new is None else ""
    if not state and (was.nos, was.model) != (device.nos, device.model):
        state = "replaced"
    if state:
        return DeviceChange(
            device=device.name, was=was.name, fabric=job.fabric, role=device.role, nos=device.nos, state=state
        )
    assert old is not None
    assert before is not None
    assert after is not None
    was_there, now = _files(before, old), _files(after, job)
    if was_there == now:
        return None
    file_changes = changes_of_files(device.nos, was_there, now)
    role = device.role
    return DeviceChange(
        device=device.name, was=was.name, fabric=job.fabric, role=role, nos=device.nos, state="changed", files=file_changes
    )


def _files(renderer: Renderer, job: Job) -> dict[str, str]:
    """Text by the file's own name."""
    return {path.split("/", 2)[2]: data.decode() for path, data in renderer.files(job)}
