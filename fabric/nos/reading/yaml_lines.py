"""Reads YAML into a tree whose every key and value knows its line.

A value is the only branch of its key, so `mtu: 9216`, `mtu: {9216: {}}` and a command `mtu 9216` give one tree. Lists are
merged into their key: a list of names is a set of branches. What cannot be read is reported, and the rest is read on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

DEEPEST = 64  # levels of a tree; what is deeper is no config
ATTEMPTS = 10  # a line that breaks the file is left out, this many times
UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Branch:
    """A key or a value, and what is below it."""

    line: int = 0  # 0: not in the file
    parts: dict[str, Branch] = field(default_factory=dict)

    def at(self, *path: str) -> Branch:
        """What is below a path; an empty branch where there is nothing."""
        found = self
        for key in path:
            below = found.parts.get(key)
            if below is None:
                return NOTHING
            found = below
        return found

    @property
    def word(self) -> str | None:
        """Its value: the last one that was set."""
        return next(reversed(self.parts), None)

    @property
    def value(self) -> Branch:
        return self.parts[next(reversed(self.parts))] if self.parts else NOTHING

    def add(self, key: str, line: int) -> Branch:
        """A branch below this one; one that is there already is now the last."""
        found = self.parts.pop(key, None) or Branch(line)
        self.parts[key] = found
        return found

    def merge(self, other: Branch) -> None:
        for key, part in other.parts.items():
            self.add(key, part.line).merge(part)

    def leaves(self) -> int:
        """How many branches have nothing below them."""
        return sum([part.leaves() if part.parts else 1 for part in self.parts.values()])


NOTHING = Branch()


def read_yaml(text: str) -> tuple[Branch, list[tuple[str, int]]]:
    """The tree, and (why, line) of what could not be read."""
    broken: list[tuple[str, int]] = []
    if control := UNPRINTABLE.search(text):
        broken.append(("not text: control characters", text.count("\n", 0, control.start()) + 1))
        text = UNPRINTABLE.sub("?", text)
    lines = text.splitlines()
    while True:
        root = Branch(1)
        builder = _Builder(root)
        try:
            builder.build(text)
        except yaml.YAMLError as error:
            line = _line(error)
            broken.append((f"not YAML: {getattr(error, 'problem', None) or 'cannot be read'}", line))
            if len(broken) >= ATTEMPTS or not 0 < line <= len(lines) or not lines[line - 1]:
                return root, broken
            lines[line - 1] = ""
            text = "\n".join(lines)
            continue
        return root, broken + builder.refused


def _line(error: yaml.YAMLError) -> int:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return mark.line + 1 if mark else 1


@dataclass(slots=True)
class _Level:
    branch: Branch
    mapping: bool
    key: Branch | None = None  # of a mapping: what the next node belongs to
    lines: dict[str, int] = field(default_factory=dict)  # of a mapping: key → its line


class _Builder:
    """Puts the tree together from the parser's events: several times faster than its nodes, and no alias is followed."""

    def __init__(self, root: Branch) -> None:
        self.root = root
        self.levels: list[_Level] = []
        self.refused: list[tuple[str, int]] = []

    def build(self, text: str) -> None:
        loader = yaml.CSafeLoader(text)
        while (event := loader.get_event()) is not None:
            kind = type(event)
            line = event.start_mark.line + 1 if event.start_mark else 0
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event.value, line)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(kind is yaml.MappingStartEvent, line)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.levels.pop()
            elif kind is yaml.AliasEvent:
                self.refused.append(("an alias of YAML, which no network OS writes", line))
                self._scalar("", line)

    def _scalar(self, value: str, line: int) -> None:
        level = self.levels[-1] if self.levels else None
        if level is None or not level.mapping:
            if value:
                (level.branch if level else self.root).add(value, line)
        elif level.key is None:
            first = level.lines.setdefault(value, line)
            if first != line:
                self.refused.append((f"the key '{value[:40]}' is in this block twice, first in line {first}", line))
            level.key = level.branch.add(value, line)
        else:
            if value:  # `key:` alone, and `key: ''`, say that it is there
                level.key.add(value, line)
            level.key = None

    def _open(self, mapping: bool, line: int) -> None:
        level = self.levels[-1] if self.levels else None
        branch = self.root if level is None else level.branch
        if level is not None and level.mapping:
            if level.key is None:
                self.refused.append(("a key of YAML that is no name", line))
                level.key = branch = Branch(line)  # hangs nowhere
            else:
                branch, level.key = level.key, None
        if len(self.levels) == DEEPEST:
            self.refused.append(("nested too deeply", line))
        if len(self.levels) >= DEEPEST:
            branch = Branch(line)
        self.levels.append(_Level(branch, mapping))
