"""What a command takes along on the device: `no neighbor FABRIC remote-as` of FRR deletes the neighbors of the group.

A change that has such a command sets again what goes with it. Data of each network OS says what goes (`Effect`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fabric.diff.trees import Tree
from fabric.nos.dialect import Effect, Rules


def completed(change: Tree, before: Tree, after: Tree, rules: Rules, heads: Sequence[str] = ()) -> Tree:
    """The change with all that its commands take along; a section that lost lines has its new ones in the order of `after`."""
    own = [effect for effect in rules.effects if effect.applies(heads)]
    commands, taken = _commands(change, before, after, own)
    out = {line: below for line, below in commands.items() if line.startswith("no ") and line not in after}
    lost = _matching(after, taken)
    for line in [*after, *commands] if lost else commands:
        if line in out or not (line in commands or line in lost):
            continue
        below = _merged(after.get(line, {}), _without(commands.get(line, {}), taken), lost.get(line, {}))
        out[line] = completed(below, before.get(line, {}), after.get(line, {}), rules, (*heads, line))
    return out


def _commands(change: Tree, before: Tree, after: Tree, effects: Sequence[Effect]) -> tuple[Tree, list[re.Pattern[str]]]:
    """The commands of a section, and patterns of the lines that go with them."""
    commands: Tree = {}
    before_it: Tree = {}
    taken: list[re.Pattern[str]] = []
    for line, below in change.items():
        commands[line] = below
        for effect in effects:
            if effect.happens(line, before):
                first, takes = effect.of(line, before)
                taken.append(re.compile(takes))
                before_it |= {first: {}} if first else {}
    return before_it | (_without(commands, taken) if taken else commands), taken


def _without(commands: Tree, taken: Sequence[re.Pattern[str]]) -> Tree:
    """Without what takes back a line that is gone already."""
    return {
        line: below
        for line, below in commands.items()
        if not (line.startswith("no ") and any(pattern.fullmatch(line.removeprefix("no ")) for pattern in taken))
    }


def _matching(after: Tree, taken: Sequence[re.Pattern[str]]) -> Tree:
    """The lines of a section, and of those in it, that match a pattern."""
    if not taken:
        return {}
    found: Tree = {}
    for line, below in after.items():
        inner = _matching(below, taken)
        if inner or any(pattern.fullmatch(line) for pattern in taken):
            found[line] = inner
    return found


def _merged(after: Tree, change: Tree, lost: Tree) -> Tree:
    """The commands of a section with the lines that it lost, in the order of the new config."""
    if not lost:
        return change
    gone = {line: below for line, below in change.items() if line not in after}
    return gone | {line: _merged(after[line], change.get(line, {}), lost.get(line, {})) for line in after if line in change or line in lost}


def warned(lines: Sequence[str], rules: Rules) -> Iterator[str]:
    """Commands, each with a comment before it where its effect cannot be undone by commands."""
    said: set[str] = set()
    for line in lines:
        for pattern, text in rules.warnings:
            if text not in said and re.fullmatch(pattern, line.strip()):
                said.add(text)
                yield f"{line[: len(line) - len(line.lstrip())]}! {text}"
        yield line
