"""The statements of a config with its values apart: what two devices of one role have in common, and what is their own.

`interface Ethernet1/1 / ip address 10.0.0.1/31` has the form `interface * / ip address */31` and the values `Ethernet1/1`
and `10.0.0.1`. Which values are a device's own is learnt from the devices of a role (`lesson`), or stated by the network OS
(`varies` of its `statements.yaml`): descriptions, VLANs and VRFs of tenants, AS numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from fabric.audit.checks.statements import syntax_of
from fabric.model.facts import Facts
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.conditions import FEATURE, LINE, Clue, clue, violations
from fabric.nos.statements.names import Name, NamePattern
from fabric.nos.statements.rules import ADDED, DEFAULT, HIDDEN, LABEL
from fabric.nos.statements.syntax import Known, Place, Syntax
from fabric.nos.statements.values import CODE as VALUE_CODE, ValuePattern, WrongValue
from fabric.nos.target import port_pattern

# --- thresholds -----------------------------------------------------------------------------------------------
# The thresholds of the comparison of role peers (FAB289) and of misspelled words (FAB2510).

MIN_PEERS = 2  # devices that agree: one alone is as likely to be wrong as the device that differs
MIN_ROLE_DEVICES = MIN_PEERS + 1  # two that agree, and one that differs
MIN_SIMILAR_OBJECTS = 4  # objects with one body that are a rule: two or three may be a pair, or those of one tenant
MAX_DIFFERENCES = 3  # of a device: an edit by hand makes one, and shows in few objects; another task makes many
MAX_OTHER_TASKS = 1  # kinds of objects that a device alone has, or lacks, where three or more devices agree
MAX_SECTION = 3  # statements: a larger section that is missing, and that nothing refers to, is a feature without a use here
MIN_SIMILARITY = 0.7  # share of equal forms of two devices of one role whose names have no numbers
MAX_SAMPLES = 32  # devices that the forms of a role are learnt from: more take longer and teach the same
MIN_USUAL = 5  # statements that make a word usual
MIN_LETTERS = 3  # of a usual word: names of two letters differ in one by chance
MAX_QUOTED = 90  # characters of a statement in a message


# --- outline --------------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\s|=]+")
ADDRESS = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(/\d{1,3})?[,;]?")
DOTTED = re.compile(r"(?:[0-9A-Fa-f]{4}\.){2,4}[0-9A-Fa-f]{4}")  # a MAC address or an Ethernet segment identifier
DIGITS = re.compile(r"\d+")
VALUE = "\0"  # stands for a value in a form
STATED = "\1"  # … that the network OS says is a device's own
AT_PORT = "\2"  # … that is a port
NUMBER = "\3"  # … that is the number of an entry


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


class Row(NamedTuple):
    """A statement of a device."""

    form: Form
    path: StatementPath
    place: Place


VALUE_HINT = "configure a value that the network OS accepts: {}"
IGP = -1  # in place of a rule: OSPF or IS-IS of an interface


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A statement that the network OS refuses, drops or overrides, with a message and a hint."""

    code: str  # of the check
    message: str
    hint: str
    severity: str
    place: Place
    several: str = ""  # message of several such statements, with `{names}`
    name: str = ""  # what this one adds to them


@dataclass(frozen=True, eq=False, kw_only=True)
class Outline:
    """The statements of a device, in the order of its files; `rows` are those that have an effect."""

    name: str
    nos: str
    rows: tuple[Row, ...]
    all_rows: tuple[Row, ...]
    clues: tuple[tuple[Clue, Place], ...] = ()
    names: tuple[tuple[Name, Place], ...] = ()
    names_at: Mapping[StatementPath, tuple[Name, ...]] = field(default_factory=dict)  # may have those of other devices
    wrong: tuple[tuple[WrongValue, Place], ...] = ()


# Addresses and AS numbers, which make most statements of a device unlike those of another: no pattern asks for their digits.
OWN = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|^(?:6[45]\d{3}|\d{7,10})$"
    r"|(?<![\w:.])(?!fe80)[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,9}(?![\w:])"
)
TEXT = re.compile(r"(?<=\bdescription ).+")  # for people, however many words
SAME = "0.0.0.0"  # in their place


@dataclass(frozen=True, slots=True)
class Shape:
    """What all statements have in common that differ in addresses and AS numbers alone.

    Attributes:
        form: text of their form.
        matters: whether they have an effect, and may not be lacking by design.
        values: positions of the values among the words, and whether the length of a prefix is cut off.
        sense: patterns of conditions, names and values that match them.
    """

    form: str
    matters: bool
    values: tuple[tuple[int, bool], ...]
    sense: Sense


class Rule(NamedTuple):
    """A pattern of a rule about several statements of a device: of a condition, or of an IGP."""

    at: int
    part: int  # of the condition
    pattern: re.Pattern[str]


@dataclass(kw_only=True)
class Cache:
    """What was read of statements before: devices of a network OS have many in common."""

    nos: str = ""
    known: Known = field(default_factory=dict)
    forms: dict[StatementPath, Form] = field(default_factory=dict)
    clues: dict[StatementPath, tuple[Clue, ...]] = field(default_factory=dict)
    names: dict[StatementPath, tuple[Name, ...]] = field(default_factory=dict)
    wrong: dict[StatementPath, tuple[WrongValue, ...]] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)


def outline(name: str, nos: str, files: Mapping[str, str], cache: Cache) -> Outline:
    """The outline of a device.

    Args:
        name: of the device.
        nos: its network OS.
        files: path → text.
        cache: of the network OS.
    """
    syntax, forms, clues, names, wrong = syntax_of(nos), cache.forms, cache.clues, cache.names, cache.wrong
    rows, clue_places, named, wrong_places, make = [], [], [], [], tuple.__new__
    for path, place in syntax.read(files, cache.known).items():
        form = forms.get(path)
        if form is None:
            form = forms[path] = _read(syntax, path, cache)
        rows.append(make(Row, (form, path, place)))  # as often as there are statements
        if path in clues:
            clue_places += [(clue, place) for clue in clues[path]]
        if path in names:
            named += [(known_name, place) for known_name in names[path]]
        if path in wrong:
            wrong_places += [(value, place) for value in wrong[path]]
    return Outline(
        name=name,
        nos=nos,
        rows=tuple([row for row in rows if row.form.matters]),
        all_rows=tuple(rows),
        clues=tuple(clue_places),
        names=tuple(named),
        names_at=names,
        wrong=tuple(wrong_places),
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules of a network OS say of the statements of one device: names in them, and what it refuses of them."""

    names: Sequence[tuple[Name, Place]]
    refused: Sequence[Refused]


def judged(facts: Facts) -> Judged:
    """The same of one device alone, without the rest of its outline."""
    rows = [(_meaning(facts.nos, path), place) for path, place in syntax_of(facts.nos).read(facts.texts).items()]
    names = [(name, place) for meaning, place in rows for name in meaning.names]
    clues = [(one, place) for meaning, place in rows for one in meaning.clues]
    wrong = [(value, place) for meaning, place in rows for value in meaning.wrong]
    return Judged(names, refused(facts.nos, clues, wrong))


def names_of(facts: Facts) -> Sequence[tuple[Name, Place]]:
    """The names that the statements of one device define or use."""
    return judged(facts).names


def refused(nos: str, clues: Sequence[tuple[Clue, Place]], wrong: Sequence[tuple[WrongValue, Place]]) -> list[Refused]:
    """The statements that a network OS refuses for their values, drops or overrides by their order, or in combination."""
    found = [_wrong(value, place) for value, place in wrong]
    invalid = {place for _, place in wrong}
    for one in violations(syntax_of(nos).rules.conditions, clues):
        if one.condition.code != FEATURE and one.by not in invalid:
            row, name = one.condition, one.words.get("name") or one.words.get("key", "")
            message, hint, several = (text.format(**one.words, names="{names}") for text in (row.say, row.fix, row.several))
            found.append(
                Refused(
                    code=row.code,
                    message=message,
                    hint=hint,
                    severity=row.severity,
                    place=one.place,
                    several=several,
                    name=name,
                )
            )
    heads = {(one.place.file, one.place.raw) for one in found}
    return [one for one in found if not any((one.place.file, raw) in heads for raw in _sections(one.place.raw))]


def _wrong(value: WrongValue, place: Place) -> Refused:
    """With the field of a row of JSON, which the line in a message does not show."""
    field, _, stated = place.raw[-1].partition(" = ")
    text = f"{f'{field} ' if value.text in stated else ''}{{names}}: expected {value.expected}"
    name = f"`{value.text}`"
    return Refused(
        code=VALUE_CODE,
        message=text.replace("{names}", name),
        hint=VALUE_HINT.format(value.source),
        severity="",
        place=place,
        several=text,
        name=name,
    )


def _sections(raw: StatementPath) -> Iterator[StatementPath]:
    """The lines that a statement is below."""
    return (raw[:end] for end in range(1, len(raw)))


@dataclass(frozen=True, slots=True)
class Sense:
    """The patterns of a network OS that match a statement: of conditions, names and values."""

    rules: tuple[Rule, ...]
    names: tuple[NamePattern, ...]
    settings: tuple[ValuePattern, ...]

    def read(self, syntax: Syntax, text: str) -> Meaning:
        """What they say of a statement."""
        return Meaning(
            tuple(name for pattern in self.names for name in pattern.read(text)),
            tuple(_clues(syntax, self.rules, text)),
            tuple(value for pattern in self.settings for value in pattern.read(text)),
        )


class Meaning(NamedTuple):
    """Names in a statement, its parts in conditions, and values that the network OS does not accept."""

    names: tuple[Name, ...] = ()
    clues: tuple[Clue, ...] = ()
    wrong: tuple[WrongValue, ...] = ()


@lru_cache(maxsize=1 << 15)  # statements: some dozens of devices, of which many have the same ones
def _meaning(nos: str, path: StatementPath) -> Meaning:
    syntax, senses = syntax_of(nos), _senses(nos)
    text = syntax.joined(path)
    key = TEXT.sub("", masked_statement(path[0], text))
    sense = senses.get(key)
    if sense is None:
        sense = senses[key] = _sense(nos, text)
    return sense.read(syntax, text) if sense is not NOTHING else NO_MEANING


@cache
def _senses(nos: str) -> dict[str, Sense]:
    """What was found out before of statements that differ in addresses and AS numbers alone."""
    return {}


def _sense(nos: str, text: str) -> Sense:
    syntax = syntax_of(nos)
    sense = Sense(
        tuple(rule for rule in _rules(nos) if rule.pattern.fullmatch(text)),
        tuple(pattern for pattern in syntax.names.patterns if pattern.line.fullmatch(text)),
        syntax.accepted.of(text),
    )
    return sense if sense != NOTHING else NOTHING


NOTHING, NO_MEANING = Sense((), (), ()), Meaning()


def _read(syntax: Syntax, path: StatementPath, cache: Cache) -> Form:
    """The form of a statement that was not read before; its clues and names go to the cache."""
    text = syntax.joined(path)
    key = masked_statement(path[0], text)
    if "description " in key:
        key = TEXT.sub("", key)
    shape = cache.shapes.get(key)
    if shape is None:
        shape = cache.shapes[key] = _shape(syntax, path, cache)
    if shape.sense is not NOTHING:
        meaning = shape.sense.read(syntax, text)
        if meaning.names:
            cache.names[path] = meaning.names
        if meaning.clues:
            cache.clues[path] = meaning.clues
        if meaning.wrong:
            cache.wrong[path] = meaning.wrong
    if not shape.values:
        return Form(shape.form, (), shape.matters)
    words = WORD.findall(text)
    values = tuple([words[at].rstrip(",;").partition("/")[0] if cut else words[at] for at, cut in shape.values])
    return Form(shape.form, values, shape.matters)


def masked_statement(part: str, text: str) -> str:
    """What statements of one part of the config have in common that differ in addresses and AS numbers alone."""
    return f"{part} {' '.join(map(_own, text.split(' ')))}"


@lru_cache(maxsize=100_000)
def _own(word: str) -> str:
    """A word without what is a device's own."""
    return OWN.sub(SAME, word) if len(word) > 2 and any(map(str.isdigit, word)) else word


def _shape(syntax: Syntax, path: StatementPath, cache: Cache) -> Shape:
    text = syntax.joined(path)
    sense = _sense(cache.nos, text)
    silent = syntax.is_silent(path, (), LABEL, DEFAULT, HIDDEN, ADDED) or (
        syntax.tolerated is not None and syntax.tolerated.match(text) is not None
    )
    text = TEXT.sub("", text)
    marks = [(*span, STATED) for span in _spans(syntax.varies, text)] + [
        (*span, NUMBER) for span in _spans(syntax.numbered, text)
    ]
    parts, values, at = [path[0], " "], list[tuple[int, bool]](), 0
    for index, match in enumerate(WORD.finditer(text)):
        start, end = match.span()
        word = match[0]
        stated = next((mark for first, last, mark in marks if first < end and start < last), "")
        mask, value = (stated, word) if stated else _masked(word, cache.nos)
        parts += [text[at:start], mask]
        at = end
        if value:
            values.append((index, value != word))
    return Shape("".join(parts) + text[at:], not silent, tuple(values), sense)


@cache
def _rules(nos: str) -> tuple[Rule, ...]:
    """The patterns of all conditions and of the IGPs of a network OS."""
    syntax = syntax_of(nos)
    rules = [Rule(IGP, 0, pattern) for pattern in syntax.rules.igp]
    for at, condition in enumerate(syntax.rules.conditions):
        rules += [Rule(at, part, pattern) for part, pattern in enumerate((condition.line, *condition.patterns), LINE)]
    return tuple(rules)


def _clues(syntax: Syntax, rules: tuple[Rule, ...], text: str) -> Iterator[Clue]:
    for rule in rules:
        if rule.at == IGP:
            match = rule.pattern.fullmatch(text)
            if match is not None:
                words = {name: value for name, value in match.groupdict().items() if value is not None}
                yield Clue(IGP, rule.part, (), tuple(words.items()))
        elif one := clue(rule.at, syntax.rules.conditions[rule.at], rule.part, text):
            yield one


def _spans(pattern: re.Pattern[str] | None, text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text) if pattern is not None else ():
        for group in range(1, match.re.groups + 1):
            if match[group]:
                yield match.span(group)


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


def names_in_place(name: Name, like: Row, own: Outline) -> set[str]:
    """What the ports of a device, or the device as the default of its ports, refer to in one place."""
    place = _place(like, name, own.nos)
    return {other.text for there, other in names_of_kind(name, like, own) if is_of_device(there) or there == place}


def names_of_kind(name: Name, like: Row, own: Outline) -> Iterator[tuple[list[str], Name]]:
    """(place, name) of the objects of one kind that statements with the same last part refer to."""
    last = _place(like, name, own.nos)[-1]
    for row in own.all_rows:
        if len(row.path) == len(like.path) and row.path[0] == like.path[0]:
            for other in own.names_at.get(row.path, ()):
                place = _place(row, other, own.nos)
                if other.used and other.kind == name.kind and place[-1] == last:
                    yield place, other


def _place(row: Row, name: Name, nos: str) -> list[str]:
    """The parts of a statement without a name and the ports; the number of a queue stays."""
    return [port_pattern(nos).sub("#", part.replace(name.text, "")) for part in row.path]


def is_of_device(place: list[str]) -> bool:
    """Whether a statement is about the whole device."""
    return not any("#" in part for part in place[1:-1])


def section_of(row: Row) -> str:
    """The part and the section of a statement, without the AS number and the addresses of the device."""
    return masked_statement(*row.path[:2]) if len(row.path) > 1 else row.path[0]
