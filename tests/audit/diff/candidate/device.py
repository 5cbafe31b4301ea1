"""A switch that takes lines as its command line does, and refuses what it refuses.

A line is tried in the mode that the session is in, then in the modes around it, as a command line does: where it is known,
the session leaves the modes below. Indentation means nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tests.audit.diff.candidate.model import Model, Statement

Tree = dict[str, "Tree"]
TOP = "global"
BANNER = re.compile(r"banner (?:login|motd)(?: (\S).*)?")
DEFAULT = re.compile(r"default (interface \S+)")


class RefusedError(Exception):
    """The switch does not take a line."""


@dataclass
class Level:
    """A mode that the session is in, and the section of the config that it changes."""

    mode: str
    tree: Tree
    line: str = ""


@dataclass
class Device:
    """Its config, and where the session is.

    Attributes:
        model: of its network OS.
        forgets: whether lines that a change may take along are gone; commands must be right in either case.
    """

    model: Model
    forgets: bool = True
    config: Tree = field(default_factory=dict)
    stack: list[Level] = field(default_factory=list)
    defined: set[tuple[str, str]] = field(default_factory=set)  # what `problems` looks names up in
    follows: set[tuple[str, str]] = field(default_factory=set)  # what lines of the session set again

    def __post_init__(self) -> None:
        self.stack = [Level(TOP, self.config)]

    def type(self, lines: Iterable[str]) -> None:
        """Takes lines one by one. Raises RefusedError."""
        lines = list(lines)
        self.follows = {name for line in lines if (row := self.model.parse(TOP, line)) for name in row.named(line, "part_")}
        source = iter(lines)
        for line in source:
            words = line.strip()
            if not words or words.startswith("!"):
                continue
            if (match := BANNER.fullmatch(words)) and not (match[1] and words.count(match[1]) > 1):
                words = "\n".join([words, *_until(source, match[1])])
            self._one(words)

    def _one(self, words: str) -> None:
        if words in ("exit", "end"):
            del self.stack[1 if words == "end" else max(1, len(self.stack) - 1) :]
            return None
        if match := DEFAULT.fullmatch(words):
            del self.stack[1:]
            return self._reset(match[1])
        for pattern, meant in self.model.aliases.items():
            words = re.sub(f"^{pattern}$", meant, words)
        gone = words.startswith("no ")
        bare = words.removeprefix("no ")
        if (lines := self._each(bare)) != [bare]:
            for line in lines:
                self._one(f"no {line}" if gone else line)
            return None
        for depth in range(len(self.stack) - 1, -1, -1):
            level = self.stack[depth]
            row = self.model.parse(level.mode, bare)
            if gone and row is None and (short := self._shortened(level, bare)):
                row, bare = short
                if row.removal == "full":
                    raise RefusedError(f"incomplete: {words}")
            elif gone and row is not None and row.removal == "short" and row.line.groups and row.key_end(bare) < len(bare):
                raise RefusedError(f"invalid with its value: {words}")
            if row is not None:
                del self.stack[depth + 1 :]
                return self._take(level, row, bare) if gone and not row.toggle else self._set(level, row, bare, gone=gone)
        raise RefusedError(f"invalid: {words}")

    def _each(self, bare: str) -> list[str]:
        """A line of a range of numbers, `vlan 10-12`, as one line for each."""
        head, _, numbers = bare.rpartition(" ")
        row = self.model.parse(TOP, f"{head} 1") if re.fullmatch(r"\d[\d,-]*", numbers) else None
        return [f"{head} {number}" for number in elements(numbers)] if row and row.each else [bare]

    def _shortened(self, level: Level, bare: str) -> tuple[Statement, str] | None:
        """The statement that `no` with the beginning of its line is about."""
        for line in level.tree:
            if line.startswith(f"{bare} ") and (row := self.model.parse(level.mode, line)) and row.key_end(line) <= len(bare):
                return row, line
        return None

    # --- set ------------------------------------------------------------------------------------------------

    def _set(self, level: Level, row: Statement, bare: str, *, gone: bool = False) -> None:
        line = f"no {bare}" if gone else bare
        if row.list:
            bare = line = listed(
                bare, next((other for other in level.tree if self._key(level.mode, other) == (row, row.key(bare))), "")
            )
        self._allowed(level, row, bare, line)
        if line not in level.tree:
            self._not_held(line)
        key = row.key(bare)
        others = [other for other in level.tree if other != line and self._key(level.mode, other) == (row, key)]
        changes = line not in level.tree and (bool(others) or not self._is_default(row, line, level.tree))
        for other in others:
            if row.change == "refused" or _has(level.tree, row.resting):
                raise RefusedError(f"{line}: there is {other}")
            del level.tree[other]
        if row.hides:
            for other in [other for other in self.config if re.fullmatch(row.about(bare, row.hides), other)]:
                del self.config[other]
        if changes and row.forgets and self.forgets:
            for other in [other for other in level.tree if other != line and re.fullmatch(row.forgets, other)]:
                del level.tree[other]
        for tree in self._members(level, bare):
            for other in [other for other in tree if self._key(level.mode, other) == (row, key)]:
                del tree[other]
            tree[line] = {}
        section = level.tree.setdefault(line, {})
        if row.enters:
            self.stack.append(Level(row.enters, section, line))

    def problems(self, *above: Level) -> Iterator[str]:
        """Why a switch could not have this config."""
        level = above[-1] if above else Level(TOP, self.config)
        if not above:
            self.defined = set(self._named("def_"))
            owned = Counter(self._named("own_"))
            yield from (f"twice: {kind} {value}" for (kind, value), times in owned.items() if times > 1)
        keys: set[tuple[Statement, tuple[str, ...]]] = set()
        for line, below in level.tree.items():
            bare = line.removeprefix("no ") if self.model.parse(level.mode, line) is None else line
            row = self.model.parse(level.mode, bare)
            if row is None or (row, row.key(bare)) in keys or (bare != line and not row.toggle):
                yield f"invalid: {line}"
                continue
            keys.add((row, row.key(bare)))
            self.stack = [*above] or [level]
            try:
                self._allowed(level, row, bare, line, placed=True)
            except RefusedError as refused:
                yield str(refused)
            if row.enters:
                yield from self.problems(*(above or (level,)), Level(row.enters, below, line))

    def _allowed(self, level: Level, row: Statement, bare: str, line: str, *, placed: bool = False) -> None:
        tree = level.tree
        for pattern in row.needs:
            if not _has(self.config, row.about(bare, pattern)):
                raise RefusedError(f"{bare}: needs {row.about(bare, pattern)}")
        if row.bars and _has(self.config, row.about(bare, row.bars)):
            raise RefusedError(f"{bare}: not with {row.about(bare, row.bars)}")
        if row.within and not _has(tree, row.within):
            raise RefusedError(f"{bare}: only with {row.within}")
        if row.without and (placed or line not in tree) and _has(tree, row.without):
            raise RefusedError(f"{bare}: not with {row.without}")
        if row.frozen and not placed and line not in tree and _has(tree, row.frozen):
            raise RefusedError(f"{bare}: not with {row.frozen}")
        if row.share:
            self._shared(level, row, line)
        if row.conflicts and any(re.fullmatch(row.about(bare, row.conflicts), other) for _, _, other in self._lines()):
            raise RefusedError(f"{bare}: against another line")
        for kind, name in row.named(bare, "use_"):
            if (kind, name) not in self.defined if placed else not any((kind, name) == one for one in self._named("def_")):
                raise RefusedError(f"{bare}: no {kind} {name}")
        owned = set() if placed else set(row.named(bare, "own_"))
        for section, mode, other in self._lines() if owned else ():
            other_row = self.model.parse(mode, other)
            if other_row is None or not owned & set(other_row.named(other, "own_")):
                continue
            if section is not tree or (other_row, other_row.key(other)) != (row, row.key(bare)):
                raise RefusedError(f"{bare}: {other} has it")

    def _shared(self, level: Level, row: Statement, line: str) -> None:
        """Refuses a share that makes more than 100 with those of the sections beside."""
        beside = self.stack[self.stack.index(level) - 1].tree
        others = [other for below in beside.values() if below is not level.tree for other in below]
        shares = [int(match[1]) for other in (line, *others) if (match := re.fullmatch(rf"{row.share} (\d+)", other))]
        if sum(shares) > 100:
            raise RefusedError(f"{line}: {sum(shares)} in all")

    # --- remove ---------------------------------------------------------------------------------------------

    def _take(self, level: Level, row: Statement, line: str) -> None:
        if row.removal == "never":
            raise RefusedError(f"cannot be removed: {line}")
        if line not in level.tree and not (row.sweeps and _has(level.tree, row.about(line, row.sweeps))):
            raise RefusedError(f"not there: no {line}")
        self._not_held(f"no {line}")
        if _has(level.tree, row.resting) or _has(level.tree, row.frozen):
            raise RefusedError(f"no {line}: not with {row.resting}")
        below = level.tree.pop(line, {})
        for tree in self._members(level, line):
            tree.pop(line, None)
        families = [tree for other, tree in level.tree.items() if other.startswith("address-family ")]
        for tree in (level.tree, *families) if row.sweeps else ():
            for other in [other for other in tree if re.fullmatch(row.about(line, row.sweeps), other)]:
                del tree[other]
        try:
            self._not_used(level, row, line, below)
        except RefusedError:
            level.tree[line] = below
            raise
        if row.forgets and self.forgets:
            for other in [other for other in level.tree if re.fullmatch(row.forgets, other)]:
                del level.tree[other]
        for tree in (self.config, level.tree, *level.tree.values()) if row.takes else ():
            for other in [other for other in tree if re.fullmatch(row.about(line, row.takes), other)]:
                del tree[other]

    def _members(self, level: Level, bare: str) -> list[Tree]:
        """The sections that a line of this one reaches."""
        section, line, reaching = self.model.members
        match = re.fullmatch(section, level.line) if re.fullmatch(reaching, bare) else None
        return [tree for tree in self.config.values() if _has(tree, match.expand(line))] if match else []

    def _not_used(self, level: Level, row: Statement, line: str, below: Tree) -> None:
        gone = {*row.named(line, "def_"), *row.named(line, "is_"), *row.named(line, "part_")} - self.follows
        for inner_line, inner_row in self._rows(below, row.enters) if row.enters else ():
            gone |= {*inner_row.named(inner_line, "def_"), *inner_row.named(inner_line, "is_")}
        gone -= set(self._named("def_")) if gone else set()
        taken = row.about(line, row.takes)
        whole = bool(gone) or level.tree is self.config
        for tree, mode, other in self._lines() if whole else [(level.tree, level.mode, other) for other in level.tree]:
            other_row = self.model.parse(mode, other)
            if other_row is None or (taken and re.fullmatch(taken, other)):
                continue
            if gone and gone & {*other_row.named(other, "use_"), *other_row.named(other, "hold_")}:
                raise RefusedError(f"no {line}: {other} uses it")
            patterns = [other_row.about(other, pattern) for pattern in other_row.needs] if level.tree is self.config else []
            if any(re.fullmatch(pattern, line) and not _has(self.config, pattern) for pattern in patterns):
                raise RefusedError(f"no {line}: {other} needs it")
            within = other_row.within if tree is level.tree else ""
            if within and re.fullmatch(within, line) and not _has(tree, within):
                raise RefusedError(f"no {line}: {other} needs it")

    def _not_held(self, line: str) -> None:
        """Refuses a change in a section that is used and cannot be edited meanwhile."""
        for above, level in pairwise(self.stack):
            row = self.model.parse(above.mode, level.line)
            user = row.about(level.line, row.held) if row and row.held else ""
            if user and any(re.fullmatch(user, other) for _, _, other in self._lines()):
                raise RefusedError(f"{line}: {level.line} is in use")

    def _reset(self, line: str) -> None:
        if line not in self.config:
            raise RefusedError(f"not there: default {line}")
        self.config[line].clear()
        row = self.model.parse(TOP, line)
        for other in [
            other for other in self.config if row and row.takes and re.fullmatch(row.about(line, row.takes), other)
        ]:
            if self.forgets:
                del self.config[other]

    # --- the config -----------------------------------------------------------------------------------------

    def _key(self, mode: str, line: str) -> tuple[Statement, tuple[str, ...]] | None:
        bare = line.removeprefix("no ")
        row = self.model.parse(mode, bare)
        return (row, row.key(bare)) if row else None

    def _lines(self, tree: Tree | None = None, mode: str = TOP) -> list[tuple[Tree, str, str]]:
        """(section, its mode, line) of every line."""
        found: list[tuple[Tree, str, str]] = []
        sections = [(self.config if tree is None else tree, mode)]
        for section, inner in sections:  # which grow
            for line, below in section.items():
                found.append((section, inner, line))
                if below and (row := self.model.parse(inner, line)):
                    sections.append((below, row.enters))
        return found

    def _rows(self, tree: Tree, mode: str) -> Iterator[tuple[str, Statement]]:
        for _, inner, line in self._lines(tree, mode):
            if row := self.model.parse(inner, line):
                yield line, row

    def _named(self, part: str) -> Iterator[tuple[str, str]]:
        names = self.model.names
        for _, mode, line in self._lines():
            yield from names(mode, line, part)

    @staticmethod
    def _is_default(row: Statement, line: str, tree: Tree) -> bool:
        if row.toggle:
            return ((row.toggle == "on") != _has(tree, row.flips)) != line.startswith("no ")
        return bool(row.default and re.fullmatch(row.default, line))

    def shown(self, tree: Tree | None = None, mode: str = TOP) -> Tree:
        """The config without what is at its default: what two switches are compared by."""
        out: Tree = {}
        tree = self.config if tree is None else tree
        for line, below in tree.items():
            row = self.model.parse(mode, line) or self.model.parse(mode, line.removeprefix("no "))
            assert row is not None, line
            kept = self.shown(below, row.enters) if row.enters else {}
            if not (self._is_default(row, line, tree) or (row.always and not kept)):
                out[line] = kept
        return out


def _has(tree: Tree, pattern: str) -> bool:
    return bool(pattern) and any(re.fullmatch(pattern, line) for line in tree)


def listed(line: str, before: str) -> str:
    """A line with a list of numbers as it is shown after `before`: `… vlan add 300` after `… vlan 100-101`."""
    match = re.fullmatch(r"(.*?) (?:(add|remove) )?(\d[\d,-]*)", line)
    if match is None:
        return line
    head, word, numbers = match.groups()
    new, old = set(elements(numbers)), set(elements(before.rpartition(" ")[2])) if before else set()
    every = sorted(old | new if word == "add" else old - new if word == "remove" else new, key=int)
    return f"{head} {','.join(every)}"


def elements(numbers: str) -> list[str]:
    """`1,10-12` as its numbers."""
    ranges = (part.partition("-") for part in numbers.split(","))
    return [str(number) for first, _, last in ranges for number in range(int(first), int(last or first) + 1)]


def _until(lines: Iterator[str], delimiter: str | None) -> Iterator[str]:
    """The lines of a banner, with the one that ends it."""
    for line in lines:
        yield line
        if line == "EOF" if delimiter is None else delimiter in line:
            return


def loaded(model: Model, text: str, **options: bool) -> Device:
    """A switch that shows a config: its sections are those of the indentation. Raises RefusedError for an unknown line."""
    root: Tree = {}
    open_sections: list[tuple[int, str, Tree]] = [(-1, TOP, root)]
    lines = iter(text.splitlines())
    for line in lines:
        words = line.strip()
        if not words or words.startswith("!") or words in ("exit", "end"):
            continue
        margin = len(line) - len(line.lstrip())
        while open_sections[-1][0] >= margin:
            open_sections.pop()
        if (match := BANNER.fullmatch(words)) and not (match[1] and words.count(match[1]) > 1):
            words = "\n".join([words, *_until(lines, match[1])])
        _, mode, tree = open_sections[-1]
        part = Device(model)._each(words)[0] if mode == TOP else words
        row = model.parse(mode, part) or model.parse(mode, part.removeprefix("no "))
        if row is None:
            raise RefusedError(f"invalid in {mode}: {words}")
        if row.list:
            before = next((other for other in tree if model.parse(mode, other) is row), "")
            tree.pop(before, None)
            words = listed(words, before)
        parts = Device(model)._each(words) if mode == TOP else [words]
        for part in parts:
            section = tree.setdefault(part, {})
        open_sections.append((margin, row.enters, section))
    return Device(model, config=root, **options)
