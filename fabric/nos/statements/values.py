"""Values in statements: which numbers, identifiers and names a network OS accepts, as data of each.

`values.yaml` beside `statements.yaml` has one row per setting. Its `line` is matched against the whole path of a statement;
in it `<68-9216>` is a number of that range, `<0|3-65535>` one of several ranges, and `<rd>` a value of a kind, which
`kinds.yaml` in this folder has for all network OSes and `kinds` of the file for one alone. `<on|off>` is one of some words,
`<vlan+>` a word with commas and ranges, `<rt*>` a list of words, `<command!>` the rest of the statement. A kind is a list of
forms, patterns with such values in them: `<ipv4>:<0-65535>`; in one that is `short` words may be abbreviated. A value behind
`= ` is the rest of the line, blanks included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from fabric.base.formats import yaml
from fabric.base.text import either
from fabric.nos.reading.values import is_address, is_ipv4

CODE = "FAB2532"  # the check that reports values
KEYS = {"kinds", "values", "open", "states"}  # of a `values.yaml`
TOKEN = re.compile(r"(?<!\(\?)(?<!\(\?P)<([A-Za-z\d][\w|.@-]*)([+*!]?)>")
RANGES = re.compile(r"\d+(?:-\d+)?(?:\|\d+(?:-\d+)?)*")
HEAD = re.compile(r"(?:([\w-]+)|\(\?:([\w|-]+)\)) ")  # words that a statement begins with: `vlan `, `(?:PORT|VLAN) `
UNFILLED = re.compile(r"[{}$<>]|^\*$")  # a placeholder of a template, or what replaces a secret
BETWEEN = re.compile(r"[\s,]+")
ELEMENTS = re.compile(r"(\d+)-(\d+)")
KEYWORD = re.compile(r"(?<!\\)[A-Za-z][\w-]+")
MAX_DIGITS = 20  # of a number


class WrongValue(NamedTuple):
    """A value that the network OS does not accept: its text, what it accepts instead, and the vendor's page."""

    text: str
    expected: str
    source: str


@dataclass(frozen=True)
class ValueKind:
    """What a value must be: a phrase for people, and the test of a text."""

    expected: str
    accepts: Callable[[str], bool]


@dataclass(frozen=True)
class ValuePattern:
    """A statement with values: the groups `v0`, `v1` … of `line` are of `kinds`, and lists where `lists` says so."""

    line: re.Pattern[str]
    kinds: tuple[ValueKind, ...]
    lists: tuple[bool, ...]
    source: str
    stated: str  # the row's `line`

    def say(self, groups: Mapping[str, str | None]) -> Iterator[WrongValue]:
        """The values of a statement that the network OS does not accept, by the groups of its line."""
        for name, kind, several in self._groups:
            value = groups[name]
            if value is None or (several and not value):
                continue
            for one in _elements(value) if several else (value.strip("\"'"),):
                if not (kind.accepts(one) or UNFILLED.search(value)):
                    yield WrongValue(one, kind.expected, self.source)

    @cached_property
    def _groups(self) -> tuple[tuple[str, ValueKind, bool], ...]:
        """(name, kind, whether it is a list) of every value."""
        return tuple((f"v{at}", kind, several) for at, (kind, several) in enumerate(zip(self.kinds, self.lists, strict=True)))


def _elements(text: str) -> Iterator[str]:
    """The elements of a list, and the ends of its ranges."""
    for part in BETWEEN.split(text.strip("[], ")):
        ends = ELEMENTS.fullmatch(part)
        yield from ends.groups() if ends else (part,)


@dataclass(frozen=True)
class Values:
    """The file `values.yaml` of a network OS: rows, patterns of statements whose values are open with the reason, kinds.

    `states` has a statement for keys of an intent, with `{}` for the value: what its rows refuse, the intent may not state.
    """

    rows: tuple[ValuePattern, ...] = ()
    open: tuple[tuple[re.Pattern[str], str], ...] = ()
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: Values) -> Values:
        states = {**other.states, **self.states}
        return Values(self.rows + other.rows, self.open + other.open, {**other.kinds, **self.kinds}, states)

    def refused(self, key: str, value: object) -> str:
        """What it accepts in place of a value of the intent; "" for one that it accepts, or that no row is about."""
        text = self.states[key].format(value) if key in self.states else ""
        found = ((row, match) for row in self.of(text) if (match := row.line.fullmatch(text)))
        return next((wrong.expected for row, match in found for wrong in row.say(match.groupdict())), "")

    def of(self, text: str) -> tuple[ValuePattern, ...]:
        """The rows about a statement."""
        heads = self._by_head
        return tuple(row for row in (*heads.get(text.partition(" ")[0], ()), *heads.get("", ())) if row.line.fullmatch(text))

    @cached_property
    def _by_head(self) -> dict[str, list[ValuePattern]]:
        """First word of a statement → rows; "" for those that any word may begin."""
        found: dict[str, list[ValuePattern]] = {}
        for row in self.rows:
            head = HEAD.match(row.line.pattern)
            for word in (head[1] or head[2]).split("|") if head else ("",):
                found.setdefault(word, []).append(row)
        return found


# --- Kinds ----------------------------------------------------------------------------------------------------


def _is_ipv6(text: str) -> bool:
    return is_address(text) and not is_ipv4(text)


BUILT_IN = {
    "ipv4": ValueKind("an IPv4 address", is_ipv4),
    "ipv6": ValueKind("an IPv6 address", _is_ipv6),
}


def number_kind(ranges: str) -> ValueKind:
    """`0|3-65535`: a number of one of the ranges."""
    bounds = []
    for part in ranges.split("|"):
        low, _, high = part.partition("-")
        bounds.append((int(low), int(high or low)))
    words = " or ".join(f"from {low} to {high}" if low < high else str(low) for low, high in bounds)

    def accepts(text: str) -> bool:
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
            return False
        number = int(text)
        return any(low <= number <= high for low, high in bounds)

    return ValueKind(f"a number {words}", accepts)


def _words(name: str) -> ValueKind | None:
    """`on|off`: one of the words."""
    words = name.split("|")
    return ValueKind(either(words), frozenset(words).__contains__) if words[1:] else None


def make_kinds(rows: Mapping[str, Mapping[str, Any]], known: Mapping[str, ValueKind]) -> dict[str, ValueKind]:
    """Name → kind, of the rows in a file, each of which may use those before it. Raises ValueError for an unknown kind."""
    kinds = dict(known)
    for name, row in rows.items():
        accepts = _one_of([_form(text, kinds) for text in row["forms"]])
        kinds[name] = ValueKind(row["expected"], _or_short(accepts, row["forms"]) if row.get("short") else accepts)
    return kinds


def _or_short(accepts: Callable[[str], bool], forms: Iterable[str]) -> Callable[[str], bool]:
    """Accepts a text too that has the first letters of a word in the forms: the network OS completes them."""
    words = frozenset(word for form in forms for word in KEYWORD.findall(form))

    def is_short(word: str) -> bool:
        return word not in words and any(whole.startswith(word) for whole in words)

    return lambda text: accepts(text) or any(map(is_short, text.split()))


def _one_of(forms: list[Callable[[str], bool]]) -> Callable[[str], bool]:
    @lru_cache(maxsize=1 << 14)  # values repeat
    def accepts(text: str) -> bool:
        return any(form(text) for form in forms)

    return accepts


def _form(text: str, known: Mapping[str, ValueKind]) -> Callable[[str], bool]:
    pattern, kinds, _ = _compiled(text, known)
    if len(kinds) == 1 and TOKEN.fullmatch(text):
        return kinds[0].accepts

    def accepts(value: str) -> bool:
        match = pattern.fullmatch(value)
        return match is not None and all(kind.accepts(match[f"v{at}"]) for at, kind in enumerate(kinds))

    return accepts


def _compiled(text: str, known: Mapping[str, ValueKind]) -> tuple[re.Pattern[str], list[ValueKind], list[bool]]:
    """A pattern with a group for each value in it, their kinds, and which of them are lists."""
    kinds, lists = list[ValueKind](), list[bool]()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        kind = number_kind(name) if RANGES.fullmatch(name) else known.get(name) or _words(name)
        if kind is None:
            raise ValueError(f"{text}: unknown kind {name}")
        kinds.append(kind)
        lists.append(match[2] in ("+", "*"))
        whole = match.end() == len(text) and text[: match.start()].endswith("= ")
        words = ".*" if whole else "(?:(?! / ).)+" if match[2] in ("*", "!") else "[^ ]+"
        return rf"(?P<v{len(kinds) - 1}>{words})"

    return re.compile(TOKEN.sub(group, text)), kinds, lists


@cache
def shared_kinds() -> Mapping[str, ValueKind]:
    """Kinds of values that are the same on every network OS."""
    return make_kinds(yaml.read(Path(__file__).with_name("kinds.yaml")), BUILT_IN)


def load_values(path: Path) -> Values:
    """The rows of a `values.yaml`, none where there is no file. Raises ValueError for an unknown key or kind."""
    if not path.exists():
        return Values()
    document = yaml.read(path)
    if unknown := set(document) - KEYS:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    kinds = make_kinds(document.get("kinds") or {}, shared_kinds())
    rows = []
    for row in document["values"]:
        for line in row["line"] if isinstance(row["line"], list) else [row["line"]]:
            pattern, of_line, lists = _compiled(line, kinds)
            rows.append(ValuePattern(pattern, tuple(of_line), tuple(lists), row["source"], line))
    stated = tuple((re.compile(row["line"]), row["reason"]) for row in document.get("open") or ())
    return Values(tuple(rows), stated, kinds, document.get("states") or {})
