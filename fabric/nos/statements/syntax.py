"""Files of a network OS as statements: how they are read, and how two sets of them are compared by its rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from fabric.base.reading import MAX_LINE, guarded, refuse_long_numbers
from fabric.nos.reading.sections import ANY, Banners, Layout, StatementPath, paths
from fabric.nos.statements.names import Names, load_names
from fabric.nos.statements.rules import BELOW, Rules, load_rules
from fabric.nos.statements.values import Values, load_values

# --- forms ----------------------------------------------------------------------------------------------------
# Reads a config file into raw statements: the path of sections and the words of each line, with its line number.
#
# `interface Ethernet1` is `("interface Ethernet1",)`, a line in it `("interface Ethernet1", "mtu 9214")`. Formats that are
# data give a path of keys that ends with the value.

# Raises UnreadableError alone for what the text contains.
Form: TypeAlias = Callable[[str], Iterator[tuple[StatementPath, int]]]

indented = partial(paths, one_blank=True)  # of any network OS, or with the layout of one
SECTION = re.compile(r"\n(?=\S)")


def without_equal(planned: str, running: str, layout: Layout = ANY) -> tuple[str, str]:
    """Two texts in sections by indentation without the top-level sections that both have. Line numbers stay.

    For formats whose top-level sections have an effect in any order. Most sections of a running config are equal to the
    planned ones, and need no reading.
    """
    sections = [_sections(text, layout) for text in (planned, running)]
    equal = set(sections[0]).intersection(sections[1])
    first, second = (
        "\n".join("\n" * section.count("\n") if section in equal else section for section in text) for text in sections
    )
    return first, second


def _sections(text: str, layout: Layout) -> list[str]:
    """Top-level sections, a banner as one of them although its lines have no margin."""
    sections = SECTION.split(text.rstrip("\n"))
    if "\nbanner " not in text:
        return sections
    banners, at, joined = Banners(sections, layout), 0, []
    while at < len(sections):
        end = banners.end(at)
        joined.append("\n".join(sections[at:end]))
        at = end
    return joined


def without_equal_blocks(
    planned: str, running: str, margin: int, spelled: Callable[[str], str] = str, is_whole: Callable[[str], bool] = bool
) -> tuple[str, str]:
    """Two texts without the blocks at an indentation that both have in the same section. Line numbers stay.

    For formats with braces or keys, where a section is one block per object and the order of the blocks has no effect.

    Args:
        planned: one text.
        running: the other text.
        margin: indentation of the blocks.
        spelled: what is compared of a block.
        is_whole: whether a block is complete; with one that is not, the texts stay as they are.
    """
    sides = [list(_blocks(text, margin)) for text in (planned, running)]
    if not all(is_whole(block) for section, block in sides[1] if section):
        return planned, running
    keys = [{(section, spelled(block)) for section, block in side if section} for side in sides]
    equal = keys[0] & keys[1]
    first, second = (
        "\n".join("\n" * block.count("\n") if (section, spelled(block)) in equal else block for section, block in side)
        for side in sides
    )
    return first, second


def _blocks(text: str, margin: int) -> Iterator[tuple[str, str]]:
    """(heads of the sections, block) of each block at an indentation, ("", line) of the lines between them."""
    heads: dict[int, str] = {}
    for block in block_pattern(margin).split(text):
        depth = len(block) - len(block.lstrip(" "))
        if depth == margin:
            yield "\n".join(heads.values()), block
        else:
            heads = {other: head for other, head in heads.items() if other < depth} | {depth: block}
            yield "", block


@cache
def block_pattern(margin: int) -> re.Pattern[str]:
    """The line end before a line at an indentation or less, unless it closes a block."""
    return re.compile(rf"\n(?=\S| {{1,{margin}}}[^\s}}])")


def plain(text: str, comments: str = "#") -> Iterator[tuple[StatementPath, int]]:
    """A statement a line, without sections: `sysctl.conf`, `daemons`."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(raw.split())
        if line and line[0] not in comments:
            yield (line,), number


class Place(NamedTuple):
    """Where a file has a statement, and how it spells it."""

    file: str
    line: int
    raw: StatementPath


class PartText(NamedTuple):
    """The text of a file, and which file of a planned switch it is."""

    part: str
    file: str
    text: str


K = TypeVar("K", bound=Hashable)
Known: TypeAlias = dict[str, dict[StatementPath, tuple[K, ...]]]  # part → raw statement → what it makes
Made: TypeAlias = Callable[[str, K | None, str], tuple[K, ...]]  # (part, what the section makes last, line) → what it makes
Statements: TypeAlias = dict[StatementPath, Place]  # path of a statement, its file's part first; in the order of the files


def any_part(path: str, text: str) -> str:
    """Of a network OS with one file."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """The statements of one network OS.

    Attributes:
        parts: file of a planned switch → how it is read.
        rules: loads its `statements.yaml`.
        part_of: (path, text) of a running file → its name in `parts`, "" for the only one.
        separator: between the parts of a path, in patterns and for people.
        closing: lines that end a section.
        verb: before a statement that is shown whole, `set` of Junos.
        optional: parts that a folder of running configs may lack.
        sectioned: part in sections by indentation, which have an effect in any order → its layout.
        reduced: part in another format → (planned, running) to the texts without what both have, as `without_equal`.
        values: parts that are data → text to its value, which finds equal ones faster than their statements; may raise
            ValueError.
        more_rules: further files of rules, for parts that another network OS has too.
    """

    parts: Mapping[str, Form]
    rules_file: Path
    part_of: Callable[[str, str], str] = any_part
    separator: str = " / "
    verb: str = ""
    optional: frozenset[str] = frozenset()
    sectioned: Mapping[str, Layout] = field(default_factory=dict)
    reduced: Mapping[str, Callable[[str, str], tuple[str, str]]] = field(default_factory=dict)
    values: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    more_rules: tuple[Path, ...] = ()

    @cached_property
    def rules(self) -> Rules:
        if not self.rules_file.suffix:
            return Rules()
        files = [load_rules(path) for path in (self.rules_file, *self.more_rules)]
        lists = [item.name for item in fields(Rules)]
        return Rules(**{name: tuple(chain.from_iterable(getattr(rules, name) for rules in files)) for name in lists})

    @cached_property
    def names(self) -> Names:
        """What is defined and referred to by name: `names.yaml` beside each file of rules."""
        found = Names()
        for path in (self.rules_file, *self.more_rules) if self.rules_file.suffix else ():
            found += load_names(path.with_name("names.yaml"))
        return found

    @cached_property
    def accepted(self) -> Values:
        """Which values the network OS accepts: `values.yaml` beside each file of rules."""
        found = Values()
        for path in (self.rules_file, *self.more_rules) if self.rules_file.suffix else ():
            found += load_values(path.with_name("values.yaml"))
        return found

    @cached_property
    def varies(self) -> re.Pattern[str] | None:
        """One pattern of what names something that a device has by design."""
        return _any(self.rules.varies)

    @cached_property
    def numbered(self) -> re.Pattern[str] | None:
        """One pattern of the numbers of entries."""
        return _any(self.rules.numbered)

    @cached_property
    def tolerated(self) -> re.Pattern[str] | None:
        """One pattern of the statements that a device may lack by design."""
        return _any(self.rules.tolerated)

    @cached_property
    def off(self) -> re.Pattern[str] | None:
        """One pattern of the statements that switch a port or a session off, found anywhere in a statement or its form."""
        return _any(self.rules.switched_off)

    @cached_property
    def state(self) -> re.Pattern[str] | None:
        """… that switch it on or off."""
        return _any((*self.rules.switched_off, *self.rules.switched_on))

    @cached_property
    def port_vrf(self) -> re.Pattern[str] | None:
        """… of a port that are about its VRF."""
        return _any(self.rules.port_vrf)

    def read(self, files: Mapping[str, str], known: Known[StatementPath] | None = None) -> Statements:
        """Every statement of the files of a switch, in the order of the files. Raises UnreadableError."""
        return self.read_texts(self.texts(files), known)

    def read_texts(self, texts: Iterable[PartText], known: Known[StatementPath] | None = None) -> Statements:
        """Every statement of texts whose parts are known, as `read`."""
        return self.read_as(texts, {} if known is None else known, self._paths)

    def read_as(self, texts: Iterable[PartText], known: Known[K], made: Made[K]) -> dict[K, Place]:
        """The statements of texts as anything that is equal for equal paths. Raises UnreadableError.

        Args:
            texts: of files.
            known: what raw statements make; filled in, so that a second config is read faster.
            made: of a raw statement that is not known.
        """
        statements: dict[K, Place] = {}
        make = tuple.__new__
        for text in texts:
            with guarded(text.file):
                refuse_long_numbers(text.text)
                file, of_part = text.file, known.setdefault(text.part, {})
                for raw, line in self.parts.get(text.part, indented)(text.text):
                    found = of_part.get(raw)
                    if found is None:
                        found = self._made(raw, text.part, of_part, made)
                    place = make(Place, (file, line, raw))
                    for statement in found:
                        if statement not in statements:
                            statements[statement] = place
        return statements

    def texts(self, files: Mapping[str, str]) -> list[PartText]:
        """The files of a switch that are compared."""
        return [PartText(part, file, text) for file, text in files.items() if (part := self.part(file, text))]

    def without_equal(
        self, planned: Sequence[PartText], running: Sequence[PartText]
    ) -> tuple[Sequence[PartText], Sequence[PartText]]:
        """The texts of both sides without what both have in the same words, which needs no reading."""
        pairs = {text.part: (text, other) for text in planned for other in running if text.part == other.part}
        if not len(pairs) == len(planned) == len(running):
            return planned, running  # several files of one part
        reduced: dict[str, tuple[str, str]] = {}
        for part, (first, second) in pairs.items():
            with guarded(second.file):
                reduced[part] = self._reduced(part, first.text, second.text)
        return (
            [text._replace(text=reduced[text.part][0]) for text in planned],
            [text._replace(text=reduced[text.part][1]) for text in running],
        )

    def _reduced(self, part: str, planned: str, running: str) -> tuple[str, str]:
        if planned == running:
            return "", ""
        if part in self.sectioned:
            return without_equal(planned, running, self.sectioned[part])
        if part in self.reduced:
            return self.reduced[part](planned, running)
        try:
            same = part in self.values and self.values[part](planned) == self.values[part](running)
        except ValueError:
            same = False
        return ("", "") if same else (planned, running)

    def part(self, file: str, text: str) -> str:
        """Which file of a planned switch it is, "" for none."""
        if len(self.parts) == 1:
            return next(iter(self.parts))
        name = file.rpartition("/")[2]
        return name if name in self.parts or not self.parts else self.part_of(file, text)

    def _made(self, raw: StatementPath, part: str, known: dict[StatementPath, tuple[K, ...]], made: Made[K]) -> tuple[K, ...]:
        """What a raw statement makes, below the last that its section makes."""
        section, above = raw[:-1], None
        if section:
            found = known.get(section)
            if found is None:
                found = self._made(section, part, known, made)
            above = found[-1] if found else None
        known[raw] = made(part, above, raw[-1])
        return known[raw]

    def _paths(self, part: str, above: StatementPath | None, line: str) -> tuple[StatementPath, ...]:
        return tuple(self.paths(above or (part,), line))

    def paths(self, above: StatementPath, line: str) -> Iterator[StatementPath]:
        """The paths that a line below a statement makes, usually one."""
        for own in self.canonical(above[-1] if len(above) > 1 else "", line):
            yield (*above, *own.split(BELOW)) if BELOW in own else (*above, own)

    @cached_property
    def canonical(self) -> Callable[[str, str], tuple[str, ...]]:
        """(line of the section, line) → the statements that it makes, usually itself. Results are kept: lines repeat."""
        by_word = self.rules.rewrites_by_word

        @lru_cache(maxsize=200_000)
        def canonical(section: str, line: str) -> tuple[str, ...]:
            for rewrite in (*by_word.get(line.partition(" ")[0], ()), *by_word.get("", ())):
                match = rewrite.pattern.fullmatch(line)
                if match is None or not rewrite.within.match(section):
                    continue
                if rewrite.each:
                    return tuple(rewrite.expanded(match))
                if len(rewrite.to) > 1:
                    return tuple(map(match.expand, rewrite.to))
                line = match.expand(rewrite.to[0])
                if not line:
                    return ()
            return (line,)

        return canonical

    # --- what a difference means ---------------------------------------------------------------------------------

    def joined(self, path: StatementPath) -> str:
        """A path as patterns see it, without the part; the begin of a long one, as some patterns look anywhere in it."""
        return self.separator.join(path[1:])[:MAX_LINE]

    def is_silent(
        self,
        path: StatementPath,
        planned: Container[StatementPath],
        *kinds: str,
        running: Callable[[], Collection[str]] = frozenset,
    ) -> bool:
        """Whether the list without effect names a statement, or a section that it is in.

        Args:
            path: of the statement.
            planned: the statements that the plan renders, for entries that apply beside one of them.
            kinds: of the list.
            running: gives all paths of the running config, joined, for entries that depend on it.
        """
        rules = self.rules
        for kind in kinds:
            if (pattern := rules.silent.get((kind, True))) and pattern.fullmatch(self.joined(path)):
                return True
            if (pattern := rules.silent.get((kind, False))) and any(
                pattern.fullmatch(self.joined(path[:end])) for end in range(2, len(path) + 1)
            ):
                return True
        return any(
            entry.kind in kinds
            and (not entry.beside or (*path[:-1], entry.beside) in planned)
            and (match := pattern.fullmatch(self.joined(path))) is not None
            and entry.holds(match, running)
            for pattern, entry in rules.conditional
        )

    def key(self, path: StatementPath) -> tuple[object, ...] | None:
        """What a statement sets; two statements with one key change each other."""
        text = self.joined(path)
        for at, pattern in enumerate(self.rules.single):
            if match := pattern.match(text):
                return (path[0], at, *match.groups())
        return None

    @cached_property
    def ordered_ends(self) -> Callable[[StatementPath], tuple[int, ...]]:
        """Section → the lengths of its ordered sections, itself among them. Results are kept: sections repeat."""

        @lru_cache(maxsize=100_000)
        def ends(section: StatementPath) -> tuple[int, ...]:
            above = ends(section[:-1]) if len(section) > 1 else ()
            return (*above, len(section)) if self.is_ordered(section) else above

        return ends

    def is_ordered(self, section: StatementPath) -> bool:
        """Whether the order of the statements in a section has an effect."""
        text = self.joined(section)
        return any(pattern.fullmatch(text) for pattern in self.rules.ordered)


def _any(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None
