"""How a network OS takes a change: `change.yaml` in its package. Lines are templates, `$name` is a label of the change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any, Literal

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import Record
from fabric.nos.target import installed

Lines = tuple[str, ...]
PATCHED, STEPPED, NATIVE = "patch", "steps", "native"
BLOCKS = ("$lines", "$change", "$inverse", "$tried")  # lines that stand for several
SHELL, CLI, NETCONF = "shell", "cli", "netconf"


class File(Record):
    """How the change of one file is typed.

    Attributes:
        lines: with `$lines`, the change as `fabric diff` prints it.
        tried: the same without any effect: what the network OS would take. () where it cannot say.
        patch: the change is one of the text (`patch`), else the lines of the network OS.
        stepped: the same for a change of several steps, which has its commands.
        part: pattern of a line that begins a further document of a change; `then` is typed after one whose group `then`
            matches, and before one whose group `after` does.
    """

    lines: Lines
    patch: bool = False
    stepped: Lines = ()
    tried: Lines = ()
    part: str = ""
    then: Lines = ()


class Drain(Record):
    """How traffic is led away, and back.

    Attributes:
        file: whose lines decide, "" for none.
        each: pattern of these lines; what is typed is repeated for each as `$match`.
        shows: pattern of what it adds to a running config, `^` and `$` at each line.
    """

    apply: Lines
    undo: Lines
    file: str = ""
    each: str = ""
    shows: str = ""


class Session(Record):
    """How a session at a switch is held. Patterns are searched in what the switch says.

    Attributes:
        kind: `shell`: commands of a Linux shell, each with an exit code; `cli`: its own prompt; `netconf`.
        running: path of a file → command that shows it as it is in force.
        platforms: names that inventories have for it.
        prompt: of `cli`, the end of an answer.
        setup: of `cli`, typed first, so that answers come whole.
        errors: of `cli`, a line that is refused.
        questions: of `cli`, pattern of a question → what is typed.
        harmless: lines whose refusal has no consequence.
        client: of `netconf`, how ncclient calls the network OS; "": RFC 6241 alone, and configs are XML.
        operations: of `netconf`, pattern of a line → the operation that it stands for; other lines are of the config.
    """

    kind: Literal["shell", "cli", "netconf"]
    running: Mapping[str, str]
    platforms: Lines = ()
    prompt: str = ""
    setup: Lines = ()
    errors: Lines = ()
    questions: Mapping[str, str] = {}
    harmless: str = ""
    client: str = ""
    operations: Mapping[str, str] = {}


class Procedure(Record):
    """How a network OS takes a change.

    Attributes:
        shell: lines are those of a Linux shell, else of its own prompt.
        apply: the change with all that makes it safe; `$change` and `$inverse` are the lines of all files.
        tried: what the network OS would take of the change, without any effect; `$tried` are the lines of all files.
        confirm: ends the time in which it is taken back.
        abort: takes back what is not confirmed, where the network OS can, and leaves nothing of it behind.
        undo: takes a confirmed change back.
        lost: takes it back where the inverse is lost; a checkpoint.
    """

    shell: bool
    files: Mapping[str, File]
    apply: Lines
    confirm: Lines
    undo: Lines
    drain: Drain
    session: Session
    tried: Lines = ()
    abort: Lines = ()
    reboot: Lines
    upgrade: Lines
    downgrade: Lines = ()
    lost: Lines = ()


@cache
def procedure(nos: str) -> Procedure | None:
    """None for a network OS that states none."""
    known = installed(nos)
    path = known.change if known is not None else None
    return model_of(Procedure, yaml.read(path)) if path is not None else None


def filled(templates: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """Lines of templates; a value that is several lines takes the place of the line that names it alone."""
    out: list[str] = []
    for line in templates:
        if line in BLOCKS:
            out += values[line[1:]]
        else:
            out.append(Template(line).substitute(values))
    return out


def typed(how: Procedure, path: str, lines: Sequence[str], kind: str, values: Mapping[str, Any]) -> list[str]:
    """What is typed for the change of one file; a comment where its network OS does not load such a change.

    Args:
        kind: of the lines: `patch` of the text, `steps` with their commands, or `native`.
    """
    file = how.files.get(path)
    if file is None or file.patch != (kind == PATCHED):
        mark = "#" if how.shell else "!"
        return [f"{mark} {path}, not loaded by these lines: {line}" for line in lines]
    if kind == STEPPED and file.stepped:
        return filled(file.stepped, {**values, "lines": lines})
    out: list[str] = []
    for part, then in _parts(file, lines):
        out += filled(file.lines, {**values, "lines": part})
        out += filled(file.then, values) if then else []
    return out


def rehearsed(how: Procedure, path: str, lines: Sequence[str], kind: str, values: Mapping[str, Any]) -> list[str]:
    """What is typed to see what the network OS takes of the change of one file, without any effect."""
    file = how.files.get(path)
    if file is None or file.patch != (kind == PATCHED) or (kind == STEPPED and file.stepped):
        return []
    out: list[str] = []
    for part, _ in _parts(file, lines):
        out += filled(file.tried, {**values, "lines": part})
    return out


def _parts(file: File, lines: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Documents of a change; whether each but the last is loaded before the next."""
    if not file.part:
        yield list(lines), False
        return
    pattern = re.compile(file.part)
    starts = sorted({0, *(at for at, line in enumerate(lines) if pattern.match(line))})
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        then = _has(pattern, lines[start], "then") or (end < len(lines) and _has(pattern, lines[end], "after"))
        yield list(lines[start:end]), then and end < len(lines)


def _has(pattern: re.Pattern[str], line: str, group: str) -> bool:
    match = pattern.match(line)
    return match is not None and bool(match.groupdict().get(group))


@dataclass(frozen=True, slots=True)
class Drained:
    """What is typed to lead traffic away from a switch, and back."""

    apply: tuple[str, ...]
    undo: tuple[str, ...]


def drained(how: Procedure, files: Mapping[str, str]) -> Drained:
    """The drain of a switch with these files."""
    drain = how.drain
    if not drain.each:
        return Drained(drain.apply, drain.undo)
    pattern = re.compile(drain.each)
    found = [line.rstrip() for line in files.get(drain.file, "").splitlines() if pattern.fullmatch(line.rstrip())]
    sides = ([line for match in found for line in filled(side, {"match": match})] for side in (drain.apply, drain.undo))
    return Drained(*map(tuple, sides))
