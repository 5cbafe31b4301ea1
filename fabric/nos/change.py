"""How a network OS takes a change: `change.yaml` in its package. Lines are templates, `$name` is a label of the change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any

from fabric.base.formats import model_of, yaml
from fabric.hardware.catalog.models import Record
from fabric.nos.target import installed

Lines = tuple[str, ...]
PATCHED, STEPPED, NATIVE = "patch", "steps", "native"
BLOCKS = ("$lines", "$change", "$inverse")  # lines that stand for several


class File(Record):
    """How the change of one file is typed.

    Attributes:
        lines: with `$lines`, the change as `fabric diff` prints it.
        patch: the change is one of the text (`patch`), else the lines of the network OS.
        stepped: the same for a change of several steps, which has its commands.
        part: pattern of a line that begins a further document of a change; `then` is typed after one whose group matches.
    """

    lines: Lines
    patch: bool = False
    stepped: Lines = ()
    part: str = ""
    then: Lines = ()


class Drain(Record):
    """How traffic is led away, and back.

    Attributes:
        file: whose lines decide, "" for none.
        each: pattern of these lines; what is typed is repeated for each as `$match`.
    """

    apply: Lines
    undo: Lines
    file: str = ""
    each: str = ""


class Procedure(Record):
    """How a network OS takes a change.

    Attributes:
        shell: lines are those of a Linux shell, else of its own prompt.
        apply: the change with all that makes it safe; `$change` and `$inverse` are the lines of all files.
        confirm: ends the time in which it is taken back.
        undo: takes a confirmed change back.
        lost: takes it back where the inverse is lost; a checkpoint.
    """

    shell: bool
    files: Mapping[str, File]
    apply: Lines
    confirm: Lines
    undo: Lines
    drain: Drain
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


def _parts(file: File, lines: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Documents of a change; whether each but the last is loaded before the next."""
    if not file.part:
        yield list(lines), False
        return
    pattern = re.compile(file.part)
    starts = [at for at, line in enumerate(lines) if pattern.match(line)] or [0]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        match = pattern.match(lines[start])
        yield list(lines[start:end]), bool(match and match["then"] and end < len(lines))


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
