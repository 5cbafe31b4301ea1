"""Conditions over the statements of one device: what a statement needs, must not stand beside, and must stand behind.

Rows stand in `needs` of `statements.yaml` (a feature that is not enabled), and in `order`, `refused` and `unreached` of
`refused.yaml` beside it (lines that the network OS drops or overrides by their order, combinations that it refuses, rules
of packet filters behind one that matches every packet). Patterns are matched
against whole paths of statements. Groups of one name have one value in all patterns of a row.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fabric.base.formats import yaml
from fabric.nos.reading.values import asn

FEATURE, ORDER, COMBINATION, UNREACHED = "FAB2506", "FAB2533", "FAB2534", "FAB2577"  # the checks that report a row
ROWS = {"order": ORDER, "refused": COMBINATION, "unreached": UNREACHED}  # of a `refused.yaml`
PARTS = {"line", "when", "unless", "needs", "given", "below", "above", "over", "where"}
KEYS = PARTS | {"once", "say", "several", "fix", "source", "severity"}
COMPARED = re.compile(r"(\w+) (<|<=|>|>=|==|!=) (?:(\d+) \* )?(\w+)")
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Words: TypeAlias = Mapping[str, str]  # group of a pattern → what it matched


class Comparison(NamedTuple):
    """`hold < 3 * keepalive`: two groups or numbers; `==` and `!=` compare texts, AS numbers of both notations alike."""

    left: str
    sign: str
    factor: int
    right: str

    def holds(self, words: Words) -> bool:
        """Whether it is true; false where a text is no number."""
        left, right = words.get(self.left, self.left), words.get(self.right, self.right)
        if self.sign in ("==", "!="):
            return ((asn(left) or left) == (asn(right) or right)) is (self.sign == "==")
        if not (left.isdecimal() and right.isdecimal() and max(len(left), len(right)) <= 20):
            return False
        return bool(OPERATORS[self.sign](int(left), self.factor * int(right)))


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A statement that has no effect, or is refused, beside others of the same device or without them.

    Attributes:
        code: of the check that reports it.
        line: pattern of the whole path of the statement.
        when: patterns of statements without any of which the row does not apply.
        unless: patterns of statements, beside any of which it does not apply.
        below: patterns of statements, any of which must stand above the line, in the same file.
        above: patterns of statements; the first one of each stands above the line, in the same file, where it must not.
        over: patterns of statements that take its place, each of which stands below it, in the same file.
        where: comparisons of groups without any of which it does not apply.
        say: what is wrong, completed with the groups.
        several: the same of several statements at once, with `{names}` for their groups `name` or `key`; "" to say each.
        fix: what to configure.
        source: title of the vendor's page.
        severity: of the finding, "" for that of the check.
        once: reports the first of the statements with equal shared groups (of a row that is simple), or with one message.
    """

    code: str
    line: re.Pattern[str]
    when: tuple[re.Pattern[str], ...] = ()
    unless: tuple[re.Pattern[str], ...] = ()
    below: tuple[re.Pattern[str], ...] = ()
    above: tuple[re.Pattern[str], ...] = ()
    over: tuple[re.Pattern[str], ...] = ()
    where: tuple[Comparison, ...] = ()
    say: str
    several: str = ""
    fix: str
    source: str
    severity: str = ""
    once: bool = False

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """All patterns but `line`; the position of one is its part in the row."""
        return (*self.when, *self.below, *self.above, *self.over, *self.unless)

    @property
    def drops(self) -> bool:
        """Whether the network OS has read the statement without effect when it comes to the lines below."""
        return self.code == ORDER and not self.severity

    def is_cause(self, part: int) -> bool:
        """Whether the row applies because of a statement with this part, and not for want of it."""
        first, last = len(self.when), len(self.patterns) - len(self.unless)
        return LINE < part < last and not first <= part < first + len(self.below)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """Names of the groups that `line` and the only other pattern with groups share, of a row that is simple."""
        return tuple(self.unless[0].groupindex) if self.unless else ()

    @cached_property
    def is_simple(self) -> bool:
        """Whether it is enough to look up which statements there are: no order, no comparison, one statement to miss."""
        is_ordered = bool(self.below or self.above or self.over)
        is_free = not any(pattern.groupindex for pattern in self.when)
        names = set(self.shared) <= set(self.line.groupindex)
        return is_free and names and len(self.unless) < 2 and not (is_ordered or self.where)


class Violation(NamedTuple):
    """A statement for which a condition holds, with the groups of its patterns, and what takes its place (`over`)."""

    condition: Condition
    words: Words
    clue: Clue
    place: Any
    by: Any = None


class Clue(NamedTuple):
    """A statement with a part in a condition: the row, its part (LINE, or a position in `patterns`), and the groups.

    `shared` are the values of the groups that the patterns of a simple row share.
    """

    rule: int
    part: int
    shared: tuple[str, ...]
    words: tuple[tuple[str, str], ...] = ()

    @property
    def used(self) -> bool:
        """Whether it is the statement that the row is about."""
        return self.part == LINE


LINE = -1
GIVEN = ("given",)  # shared by a statement without groups, without which a row does not apply


def clue(rule: int, condition: Condition, part: int, groups: Mapping[str, str | None]) -> Clue:
    """The part that a statement has in a condition, by the groups of its pattern."""
    words = {name: value or "" for name, value in groups.items()}
    is_other = LINE < part < len(condition.patterns) - len(condition.unless)
    shared = GIVEN if is_other else tuple([words.get(name, "") for name in condition.shared])
    return Clue(rule, part, shared, tuple(words.items()))


def violations(
    conditions: Sequence[Condition], clues: Sequence[tuple[Clue, Any]], refused: Iterable[Any] = ()
) -> Iterator[Violation]:
    """What the clues of a device come to, in the order of its statements. Places have a `file` and a `line`.

    A statement that the network OS refuses makes no other one wrong: neither one of `refused`, the places of statements with
    a value that it does not accept, nor one that a row about the order is about.
    """
    if not any(one.part == LINE for one, _ in clues):
        return
    gone, found = set(refused), list(_violations(conditions, clues))
    gone |= {one.place for one in found if one.condition.drops}
    if gone:
        left = [(one, place) for one, place in clues if place not in gone or not conditions[one.rule].is_cause(one.part)]
        found = list(_violations(conditions, left))
    yield from found


def _violations(conditions: Sequence[Condition], clues: Sequence[tuple[Clue, Any]]) -> Iterator[Violation]:
    present = {(one.rule, one.part, one.shared) for one, _ in clues if one.part != LINE}
    joins = {}
    reported = set[tuple[int, tuple[str, ...]]]()  # of rows that name one statement
    for one, place in clues:
        if one.part != LINE:
            continue
        condition = conditions[one.rule]
        if condition.is_simple:
            whens, key = range(len(condition.when)), (one.rule, one.shared)
            missing = not condition.unless or (one.rule, len(condition.when), one.shared) not in present
            if key not in reported and missing and all((one.rule, part, GIVEN) in present for part in whens):
                reported |= {key} if condition.once else set()
                yield Violation(condition, dict(one.words), one, place)
            continue
        if one.rule not in joins:
            joins[one.rule] = _Join(condition, [row for row in clues if row[0].rule == one.rule])
        if (held := joins[one.rule].holds(dict(one.words), place)) is not None:
            key = (one.rule, (condition.say.format(**held[0]),))
            if not (condition.once and key in reported):
                reported.add(key)
                yield Violation(condition, held[0], one, place, held[1])


class _Join:
    """The statements with a part in one condition, found by the values of their groups."""

    def __init__(self, condition: Condition, clues: Iterable[tuple[Clue, Any]]) -> None:
        self.condition = condition
        self.by_part: dict[int, list[tuple[Words, Any]]] = {}
        for one, place in clues:
            self.by_part.setdefault(one.part, []).append((dict(one.words), place))
        self.indexes: dict[tuple[int, tuple[str, ...]], dict[tuple[str, ...], list[tuple[Words, Any]]]] = {}
        whens, belows, overs = len(condition.when), len(condition.below), len(condition.above) + len(condition.over)
        self.below, self.unless = range(whens, whens + belows), range(whens + belows + overs, len(condition.patterns))
        of_line = condition.line.groupindex.keys()
        self.alone = [part for part in self.unless if condition.patterns[part].groupindex.keys() <= of_line]
        self.sides: list[tuple[int, bool | None]] = [  # those with the neighbor of the line first: the others are then
            *((part, at < len(condition.above)) for at, part in enumerate(range(whens + belows, whens + belows + overs))),
            *((part, None) for part in range(whens)),  # looked up by what they add
        ]

    def holds(self, words: Words, place: Any) -> tuple[Words, Any] | None:
        """(the groups of all patterns, the place of what takes the place of the line) if the condition holds."""
        if any(self._found(part, words) for part in self.alone):
            return None  # whatever the other statements are
        where = self.condition.where
        for known, by in self._joined(words, place, self.sides, None):
            if any(self._beside(part, known, place, True) for part in self.below):
                continue
            if not any(self._found(part, known) for part in self.unless) and all(one.holds(known) for one in where):
                return known, by
        return None

    def _joined(
        self, words: Words, place: Any, sides: Sequence[tuple[int, bool | None]], by: Any
    ) -> Iterator[tuple[Words, Any]]:
        """The groups of the line and of every choice of statements for `when`, `above` and `over`."""
        if not sides:
            yield words, by
            return
        (part, above), *rest = sides
        rows = self._found(part, words) if above is None else self._beside(part, words, place, above)
        adds_nothing = self.condition.patterns[part].groupindex.keys() <= words.keys()
        if (above and not self.condition.when) or (above is None and adds_nothing):
            rows = rows[:1]
        for more, there in rows:
            yield from self._joined({**more, **words}, place, rest, there if above is False else by)

    def _found(self, part: int, words: Words) -> list[tuple[Words, Any]]:
        names = tuple(name for name in self.condition.patterns[part].groupindex if name in words)
        index = self.indexes.get((part, names))
        if index is None:
            index = self.indexes[part, names] = {}
            for row in self.by_part.get(part, ()):
                index.setdefault(tuple(row[0][name] for name in names), []).append(row)
        return index.get(tuple(words[name] for name in names), [])

    def _beside(self, part: int, words: Words, place: Any, above: bool) -> list[tuple[Words, Any]]:
        """The statements that stand above a line, or below it, in its file."""
        same = [row for row in self._found(part, words) if row[1].file == place.file]
        return [row for row in same if (row[1].line < place.line if above else row[1].line > place.line)]


# --- Files ----------------------------------------------------------------------------------------------------


def condition(row: Mapping[str, Any], code: str) -> Condition:
    """A row. Raises ValueError for an unknown key, comparison or group in a text."""
    if unknown := set(row) - KEYS:
        raise ValueError(f"unknown keys {sorted(unknown)} in a row about {row.get('line')}")
    given, needs = (_patterns(row.get(key)) for key in ("given", "needs"))
    return Condition(
        code=code,
        line=re.compile(row["line"]),
        when=(*_patterns(row.get("when")), *given),
        unless=(*needs, *_patterns(row.get("unless"))),
        below=_patterns(row.get("below")),
        above=_patterns(row.get("above")),
        over=_patterns(row.get("over")),
        where=tuple(_comparison(text) for text in _listed(row.get("where"))),
        say=row["say"],
        several=row.get("several", ""),
        fix=row["fix"],
        source=row["source"],
        severity=row.get("severity", ""),
        once=row.get("once", False),
    )


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _patterns(value: Any) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text) for text in _listed(value))


def _comparison(text: str) -> Comparison:
    match = COMPARED.fullmatch(text)
    if match is None:
        raise ValueError(f"{text}: expected a comparison as `min > max` or `hold < 3 * keepalive`")
    return Comparison(match[1], match[2], int(match[3] or 1), match[4])


def load_conditions(path: Path) -> tuple[Condition, ...]:
    """The rows of a `refused.yaml`, none where there is no file. Raises ValueError for an unknown key."""
    if not path.exists():
        return ()
    document = yaml.read(path)
    if unknown := set(document) - set(ROWS):
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    return tuple(condition(row, ROWS[kind]) for kind, rows in document.items() for text in rows or () for row in _each(text))


def _each(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A row with `each` stands for several: `{PORT: lanes speed}` for two, with `PORT` as %1 and one of the others as %2."""
    rest = {key: value for key, value in row.items() if key != "each"}
    for first, seconds in row.get("each", {"": ""}).items():
        for second in seconds.split(" "):
            yield {key: _filled(value, first, second) for key, value in rest.items()}


def _filled(value: Any, first: str, second: str) -> Any:
    if isinstance(value, list):
        return [_filled(part, first, second) for part in value]
    return value.replace("%1", first).replace("%2", second) if isinstance(value, str) else value
