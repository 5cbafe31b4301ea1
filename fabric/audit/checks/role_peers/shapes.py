"""The shape of a statement: what it has in common with those that differ from it in addresses and AS numbers alone.

Most statements of a config that no other config has, such as those of neighbors, are of a few dozen shapes. Patterns are
asked once for a shape: which of them match, and which words they take. Another statement of the shape is its own words, at
the same positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from fabric.audit.checks.statements import syntax_of
from fabric.base.reading import MAX_LINE
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.conditions import LINE, Clue, Condition, clue
from fabric.nos.statements.names import Name, NamePattern
from fabric.nos.statements.rules import ADDED, DEFAULT, HIDDEN, LABEL
from fabric.nos.statements.values import ValuePattern, WrongValue
from fabric.nos.target import port_pattern

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# --- forms ----------------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\s|=]+")
ADDRESS = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(/\d{1,3})?[,;]?")
DOTTED = re.compile(r"(?:[0-9A-Fa-f]{4}\.){2,4}[0-9A-Fa-f]{4}")  # a MAC address or an Ethernet segment identifier
DIGITS = re.compile(r"\d+")
VALUE = "\0"  # stands for a value in a form
STATED = "\1"  # … that the network OS says is a device's own
AT_PORT = "\2"  # … that is a port
NUMBER = "\3"  # … that is the number of an entry


VERDICT = re.compile(r"(?<![\w-])(permit|deny|accept|reject)(?![\w-])")


class Form(NamedTuple):
    """A statement with its values apart.

    Attributes:
        text: its words, with VALUE, STATED, AT_PORT or NUMBER for each value.
        values: in their order.
        matters: whether it has an effect, and may not be lacking by design.
    """

    text: str
    values: tuple[str, ...]
    matters: bool = True


@lru_cache(maxsize=100_000)
def _masked(word: str, nos: str) -> tuple[str, str]:
    """(form of a word, its value): the length of a prefix is part of the form, so is the rest of a name with numbers."""
    if not any(map(str.isdigit, word)) and "::" not in word:
        return word, ""
    if match := ADDRESS.fullmatch(word):
        return VALUE + (match[2] or ""), match[1]
    if DOTTED.fullmatch(word):
        return VALUE, word
    return (AT_PORT if port_pattern(nos).fullmatch(word.removesuffix(",")) else VALUE) + DIGITS.sub("#", word), word


def _spans(pattern: re.Pattern[str] | None, text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text) if pattern is not None else ():
        for group in range(1, match.re.groups + 1):
            if match[group]:
                yield match.span(group)


# --- what is a device's own -----------------------------------------------------------------------------------

# Addresses and AS numbers, which make most statements of a device unlike those of another: no pattern asks for their digits.
OWN = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|^(?:6[45]\d{3}|\d{7,10})$"
    r"|(?<![\w:.])(?!fe80)[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,9}(?![\w:])"
)
TEXT = re.compile(r"(?<=\bdescription ).+")  # for people, however many words
SAME = "0.0.0.0"  # in their place
HAS_DIGIT = re.compile(r"\d")


def masked_statement(part: str, text: str) -> str:
    """What statements of one part of the config have in common that differ in addresses and AS numbers alone."""
    return f"{part} {' '.join(map(_own, text.split(' ')))}"


@lru_cache(maxsize=100_000)
def _own(word: str) -> str:
    """A word without what is a device's own."""
    return OWN.sub(SAME, word) if len(word) > 2 and any(map(str.isdigit, word)) else word


@lru_cache(maxsize=100_000)
def _alike(word: str) -> str:
    """The same, with addresses of IPv6 unlike those of IPv4."""
    if word.isalpha() or len(word) < 3 or not HAS_DIGIT.search(word):
        return word
    own = OWN.sub(SAME, word)
    return f"{own}:" if ":" in word and own != word else own


def key_of(head: str, line: str) -> str:
    """What statements in alike sections have in common."""
    key = f"{head} / {' '.join(map(_alike, line.split(' ')))}"
    return TEXT.sub("", key) if "description " in key else key


# --- patterns that match a statement --------------------------------------------------------------------------

IGP = -1  # in place of a rule: OSPF or IS-IS of an interface


class Pattern(Protocol[T_co]):
    """A pattern of statements, and what its groups say."""

    @property
    def line(self) -> re.Pattern[str]: ...

    def say(self, groups: Mapping[str, str | None]) -> Iterable[T_co]:
        """What a statement says, by the named groups of its match."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of a rule about several statements of a device: of a condition, or of an IGP."""

    at: int
    part: int  # of the condition
    line: re.Pattern[str]
    condition: Condition | None = None

    def say(self, groups: Mapping[str, str | None]) -> Iterator[Clue]:
        """The part that a statement has in the rule."""
        if self.condition is not None:
            yield clue(self.at, self.condition, self.part, groups)
        else:
            yield Clue(IGP, self.part, (), tuple([(name, value) for name, value in groups.items() if value is not None]))


@cache
def _rules(nos: str) -> tuple[Rule, ...]:
    """The patterns of all conditions and of the IGPs of a network OS."""
    syntax = syntax_of(nos)
    rules = [Rule(IGP, 0, pattern) for pattern in syntax.rules.igp]
    for at, condition in enumerate(syntax.rules.conditions):
        patterns = enumerate((condition.line, *condition.patterns), LINE)
        rules += [Rule(at, part, pattern, condition) for part, pattern in patterns]
    return tuple(rules)


class Meaning(NamedTuple):
    """Names in a statement, its parts in conditions, and values that the network OS does not accept."""

    names: tuple[Name, ...] = ()
    clues: tuple[Clue, ...] = ()
    wrong: tuple[WrongValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Sense:
    """The patterns of a network OS that match a statement: of conditions, names and values."""

    rules: tuple[Rule, ...]
    names: tuple[NamePattern, ...]
    settings: tuple[ValuePattern, ...]

    def read(self, text: str) -> Meaning:
        """What they say of a statement."""
        return Meaning(_matched(self.names, text), _matched(self.rules, text), _matched(self.settings, text))

    def by_words(self, text: str) -> Callable[[str, Sequence[str]], Meaning]:
        """What they say of a statement like this one, with its words."""
        sample = _Sample(text)
        names, rules, settings = sample.reader(self.names), sample.reader(self.rules), sample.reader(self.settings)
        if isinstance(names, tuple) and isinstance(rules, tuple) and isinstance(settings, tuple):
            same = Meaning(names, rules, settings) if self != NOTHING else NO_MEANING
            return lambda text, words: same

        def read(text: str, words: Sequence[str]) -> Meaning:
            return Meaning(_given(names, text, words), _given(rules, text, words), _given(settings, text, words))

        return read


def _matched(patterns: Sequence[Pattern[T]], text: str) -> tuple[T, ...]:
    matches = ((pattern, pattern.line.fullmatch(text)) for pattern in patterns)
    return tuple([one for pattern, match in matches if match is not None for one in pattern.say(match.groupdict())])


NOTHING, NO_MEANING = Sense((), (), ()), Meaning()


def sense_of(nos: str, text: str) -> Sense:
    """The patterns that match a statement."""
    syntax = syntax_of(nos)
    sense = Sense(
        tuple(rule for rule in _rules(nos) if rule.line.fullmatch(text)),
        tuple(pattern for pattern in syntax.names.patterns if pattern.line.fullmatch(text)),
        syntax.accepted.of(text),
    )
    return sense if sense != NOTHING else NOTHING


# --- the same of another statement of the shape, by its words -------------------------------------------------

Template: TypeAlias = tuple[str | int, ...]  # of a text: what is the same in all statements, and positions of own words
# What patterns say of all statements of a shape, or of one with its words.
Reader: TypeAlias = "tuple[T, ...] | Callable[[str, Sequence[str]], tuple[T, ...]]"


def _filled(template: Template, words: Sequence[str]) -> str:
    return "".join([part if isinstance(part, str) else words[part] for part in template])


def _given(reader: Reader[T], text: str, words: Sequence[str]) -> tuple[T, ...]:
    return reader if isinstance(reader, tuple) else reader(text, words)


class _Sample:
    """A statement of a shape, and where its own words are."""

    def __init__(self, text: str) -> None:
        self.text, self.other, at = text, text, 0
        self.spans = list[tuple[int, int, int]]()  # begin, end, position among the words; -1 for a text
        for index, word in enumerate(text.split(" ")):
            if HAS_DIGIT.search(word) and OWN.search(word):  # also SAME itself, as area 0.0.0.0
                self.spans.append((at, at + len(word), index))
            at += len(word) + 1
        if match := TEXT.search(text):
            self.spans = [span for span in self.spans if span[1] < match.start()] + [(*match.span(), -1)]
            self.other = text[: match.start()] + 'x  "/ 1' + text[match.end() :]  # a pattern may ask for what is in a text

    def reader(self, patterns: Sequence[Pattern[T]]) -> Reader[T]:
        """How patterns read the statements of the shape."""
        readers = [self._reader(pattern) for pattern in patterns]
        if all(isinstance(one, tuple) for one in readers):
            return _matched(patterns, self.text)

        def read(text: str, words: Sequence[str]) -> tuple[T, ...]:
            found: list[T] = []
            for one in readers:
                found += one if isinstance(one, tuple) else one(text, words)
            return tuple(found)

        return read

    def _reader(self, pattern: Pattern[T]) -> tuple[T, ...] | Callable[[str, Sequence[str]], Iterable[T]]:
        match, other = pattern.line.fullmatch(self.text), pattern.line.fullmatch(self.other)
        groups = pattern.line.groupindex
        if match is None or other is None or any(match.span(name) != other.span(name) for name in groups):
            return lambda text, words: _matched((pattern,), text)
        same: dict[str, str | None] = match.groupdict()
        own = dict[str, Template]()
        for name in groups:
            template = self._template(*match.span(name))
            if template is None:
                return lambda text, words: _matched((pattern,), text)
            if len(template) > 1:
                own[name] = template
        if not own:
            return tuple(pattern.say(same))
        return lambda text, words: pattern.say(same | {name: _filled(parts, words) for name, parts in own.items()})

    def _template(self, begin: int, end: int) -> Template | None:
        """A part of the text; None where it has a text for people, or ends within a word that is a device's own."""
        parts, at = list[str | int](), begin
        for first, last, index in self.spans:
            if begin < last and first < end:
                if index < 0 or first < begin or end < last:
                    return None
                parts += [self.text[at:first], index]
                at = last
        return (*parts, self.text[at:end])


# --- shapes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What all statements have in common that differ in addresses and AS numbers alone.

    Attributes:
        key: of the shape.
        form: text of their form.
        matters: whether they have an effect, and may not be lacking by design.
        values: positions of the values among the words, and whether the length of a prefix is cut off.
        has_blanks: whether nothing but blanks is between the words.
        decides: whether a word of it may permit or deny.
        meaning: (a statement, its words) → what patterns say of it.
    """

    key: str
    form: str
    matters: bool
    values: tuple[tuple[int, bool], ...]
    has_blanks: bool
    decides: bool
    meaning: Callable[[str, Sequence[str]], Meaning]

    def read(self, text: str) -> tuple[Form, Meaning]:
        """What a statement of the shape is."""
        words = text.split(" ")
        meaning = self.meaning(text, words)
        if not self.values:
            return Form(self.form, (), self.matters), meaning
        if not self.has_blanks:
            words = WORD.findall(text)
        values = tuple([words[at].rstrip(",;").partition("/")[0] if cut else words[at] for at, cut in self.values])
        return Form(self.form, values, self.matters), meaning


def shape_of(nos: str, path: StatementPath, key: str) -> Shape:
    """The shape of a statement that is not known."""
    syntax = syntax_of(nos)
    text = syntax.joined(path)
    sense = sense_of(nos, text)
    meaning = sense.by_words(text) if len(text) < MAX_LINE else lambda text, words: sense.read(text)
    silent = syntax.is_silent(path, (), LABEL, DEFAULT, HIDDEN, ADDED) or (
        syntax.tolerated is not None and syntax.tolerated.match(text) is not None
    )
    text = TEXT.sub("", text)
    marks = [(*span, STATED) for span in _spans(syntax.varies, text)] + [
        (*span, NUMBER) for span in _spans(syntax.numbered, text)
    ]
    parts, values, at = [path[0], " "], list[tuple[int, bool]](), 0
    words = list(WORD.finditer(text))
    for index, match in enumerate(words):
        start, end = match.span()
        word = match[0]
        stated = next((mark for first, last, mark in marks if first < end and start < last), "")
        mask, value = (stated, word) if stated else _masked(word, nos)
        parts += [text[at:start], mask]
        at = end
        if value:
            values.append((index, value != word))
    return Shape(
        key=key,
        form="".join(parts) + text[at:],
        matters=not silent,
        values=tuple(values),
        decides=VERDICT.search(path[-1]) is not None or "description " in path[-1],
        has_blanks=" ".join(match[0] for match in words) == text.rstrip(" "),
        meaning=meaning,
    )
