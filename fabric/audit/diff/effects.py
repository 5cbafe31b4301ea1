"""What a command takes along on the device: `no neighbor FABRIC remote-as` of FRR deletes the neighbors of the group.

A change that has such a command sets again what goes with it. Data of each network OS says what goes (`Effect`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabric.audit.diff.trees import Tree
from fabric.nos.dialect import Effect, Rules


def completed(change: Tree, before: Tree, after: Tree, rules: Rules, heads: Sequence[str] = ()) -> Tree:
    """The change with all that its commands take along, in the order of `after` where a section lost lines."""
    section_effects = [effect for effect in rules.effects if effect.applies(heads)]
    commands, taken = _commands(change, before, section_effects)
    out = {line: below for line, below in commands.items() if line.startswith("no ") and line not in after}
    lost = _matching(after, taken)
    for line in [*after, *commands] if lost else commands:
        if line in out or not (line in commands or line in lost):
            continue
        below = _merged(after.get(line, {}), _without(commands.get(line, {}), taken), lost.get(line, {}))
        out[line] = completed(below, before.get(line, {}), after.get(line, {}), rules, (*heads, line))
    return out


def _commands(change: Tree, before: Tree, effects: Sequence[Effect]) -> tuple[Tree, list[re.Pattern[str]]]:
    """The commands of a section, and patterns of the lines that go with them."""
    first: Tree = {}
    causes: list[tuple[str, re.Pattern[str]]] = []
    for line in change:
        for effect in effects:
            if effect.happens(line, before):
                command, takes = effect.of(line, before)
                causes.append((line, re.compile(takes)))
                first |= {command: {}} if command else {}
    gone: set[str] = set()
    for line in change:
        if _is_gone(line, [pattern for cause, pattern in causes if cause != line and cause not in gone]):
            gone.add(line)
    remaining = {line: below for line, below in change.items() if line not in gone}
    return first | remaining, [pattern for _, pattern in causes]


def _is_gone(line: str, taken: Sequence[re.Pattern[str]]) -> bool:
    """Whether a command takes back a line that is gone already."""
    return line.startswith("no ") and any(pattern.fullmatch(line.removeprefix("no ")) for pattern in taken)


def _without(commands: Tree, taken: Sequence[re.Pattern[str]]) -> Tree:
    """Without what takes back lines that are gone already."""
    return {line: below for line, below in commands.items() if not _is_gone(line, taken)}


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
    return gone | {
        line: _merged(after[line], change.get(line, {}), lost.get(line, {}))
        for line in after
        if line in change or line in lost
    }


def freed(change: Tree, before: Tree, rules: Rules) -> Tree:
    """Commands that let go what stands against others, in their sections; what the new config has of it is set again."""
    sections: Tree = {}
    for command, section, pattern in rules.frees:
        for match in filter(None, (re.fullmatch(command, line) for line in change)):
            head = match.expand(section)
            lines = before.get(head, {}) if head else before
            commands: Tree = {f"no {line}": {} for line in lines if re.fullmatch(pattern, line)}
            if commands:
                sections |= {head: commands} if head else commands
    return sections


def warned(lines: Sequence[str], rules: Rules) -> list[str]:
    """Commands, with a comment before the first one whose effect no command undoes."""
    text = "\n".join(lines)
    comments: dict[int, list[str]] = {}
    for pattern, warning in rules.warnings:
        if match := re.search(pattern, text, re.MULTILINE):
            at = match.start("at") if "at" in match.groupdict() else match.start()
            comments.setdefault(text.count("\n", 0, at), []).append(warning)
    return [out for at, line in enumerate(lines) for out in (*(_comment(line, text) for text in comments.get(at, ())), line)]


def _comment(line: str, text: str) -> str:
    return f"{line[: len(line) - len(line.lstrip())]}! {text}"
