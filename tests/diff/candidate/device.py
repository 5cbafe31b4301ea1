"""A switch that takes lines as its command line does, and refuses what it refuses.

A line is tried in the mode that the session is in, then in the modes around it, as a command line does: where it is known,
the session leaves the modes below. Indentation means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.diff.candidate.model import Model, Statement

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
        strict: refuse; a config that is loaded at the start may refer to what follows.
        forgets: whether lines that a change may take along are gone; commands must be right in either case.
    """

    model: Model
    strict: bool = True
    forgets: bool = True
    config: Tree = field(default_factory=dict)
    stack: list[Level] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stack = [Level(TOP, self.config)]

    def type(self, lines: Iterable[str]) -> None:
        """Takes lines one by one. Raises RefusedError."""
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

    def _shortened(self, level: Level, bare: str) -> tuple[Statement, str] | None:
        """The statement that `no` with the beginning of its line is about."""
        for line in level.tree:
            if line.startswith(f"{bare} ") and (row := self.model.parse(level.mode, line)) and row.key_end(line) <= len(bare):
                return row, line
        return None

    # --- set ------------------------------------------------------------------------------------------------

    def _set(self, level: Level, row: Statement, bare: str, *, gone: bool = False) -> None:
        line = f"no {bare}" if gone else bare
        if self.strict:
            self._allowed(level, row, bare, line)
        key = row.key(bare)
        others = [other for other in level.tree if other != line and self._key(level.mode, other) == (row, key)]
        changes = line not in level.tree and (bool(others) or not self._is_default(row, line, level.tree))
        for other in others:
            if self.strict and (row.change == "refused" or _has(level.tree, row.resting)):
                raise RefusedError(f"{line}: there is {other}")
            del level.tree[other]
        if row.hides:
            for other in [other for other in self.config if re.fullmatch(row.about(bare, row.hides), other)]:
                del self.config[other]
        if changes and row.forgets and self.forgets:
            for other in [other for other in level.tree if other != line and re.fullmatch(row.forgets, other)]:
                del level.tree[other]
        section = level.tree.setdefault(line, {})
        if row.enters:
            self.stack.append(Level(row.enters, section, line))

    def _allowed(self, level: Level, row: Statement, bare: str, line: str) -> None:
        tree = level.tree
        for pattern in row.needs:
            if not _has(self.config, row.about(bare, pattern)):
                raise RefusedError(f"{bare}: needs {row.about(bare, pattern)}")
        if row.bars and _has(self.config, row.about(bare, row.bars)):
            raise RefusedError(f"{bare}: not with {row.about(bare, row.bars)}")
        if row.within and not _has(tree, row.within):
            raise RefusedError(f"{bare}: only with {row.within}")
        if row.without and line not in tree and _has(tree, row.without):
            raise RefusedError(f"{bare}: not with {row.without}")
        if row.share:
            self._shared(level, row, line)
        if row.conflicts and any(re.fullmatch(row.about(bare, row.conflicts), other) for _, _, other in self._lines()):
            raise RefusedError(f"{bare}: against another line")
        for kind, name in row.named(bare, "use_"):
            if not any((kind, name) == other for other in self._named("def_")):
                raise RefusedError(f"{bare}: no {kind} {name}")
        owned = set(row.named(bare, "own_"))
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
        if _has(level.tree, row.resting):
            raise RefusedError(f"no {line}: not with {row.resting}")
        below = level.tree.pop(line, {})
        for tree in (level.tree, *level.tree.values()) if row.sweeps else ():
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

    def _not_used(self, level: Level, row: Statement, line: str, below: Tree) -> None:
        gone = {*row.named(line, "def_"), *row.named(line, "is_")}
        for inner_line, inner_row in self._rows(below, row.enters) if row.enters else ():
            gone |= {*inner_row.named(inner_line, "def_"), *inner_row.named(inner_line, "is_")}
        gone -= set(self._named("def_"))
        taken = row.about(line, row.takes)
        for tree, mode, other in self._lines():
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

    def _lines(self, tree: Tree | None = None, mode: str = TOP) -> Iterator[tuple[Tree, str, str]]:
        """(section, its mode, line) of every line."""
        tree = self.config if tree is None else tree
        for line, below in tree.items():
            yield tree, mode, line
            row = self.model.parse(mode, line)
            if below and row:
                yield from self._lines(below, row.enters)

    def _rows(self, tree: Tree, mode: str) -> Iterator[tuple[str, Statement]]:
        for _, inner, line in self._lines(tree, mode):
            if row := self.model.parse(inner, line):
                yield line, row

    def _named(self, part: str) -> Iterator[tuple[str, str]]:
        for line, row in self._rows(self.config, TOP):
            yield from row.named(line, part)
            if part == "def_":
                yield from row.named(line, "is_")

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


def _until(lines: Iterator[str], delimiter: str | None) -> Iterator[str]:
    """The lines of a banner, with the one that ends it."""
    for line in lines:
        yield line
        if line == "EOF" if delimiter is None else delimiter in line:
            return


def loaded(model: Model, text: str, **options: bool) -> Device:
    """A switch that has a config."""
    device = Device(model, strict=False)
    device.type(text.splitlines())
    device = Device(model, config=device.config, **options)
    return device
