"""The statements of a config with its values apart: what two devices of one role have in common, and what is their own.

`interface Ethernet1/1 / ip address 10.0.0.1/31` has the form `interface * / ip address */31` and the values `Ethernet1/1`
and `10.0.0.1`. Which values are a device's own is learnt from the devices of a role (`lesson`), or stated by the network OS
(`varies` of its `statements.yaml`): descriptions, VLANs and VRFs of tenants, AS numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from typing import NamedTuple

from fabric.audit.checks.role_peers.shapes import (
    NO_MEANING,
    NOTHING,
    TEXT,
    Form,
    Meaning,
    Sense,
    Shape,
    key_of,
    masked_statement,
    sense_of,
    shape_of,
)
from fabric.audit.checks.statements import syntax_of
from fabric.model.facts import Facts
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.conditions import FEATURE, Clue, Violation, violations
from fabric.nos.statements.names import Name
from fabric.nos.statements.syntax import Known, Place
from fabric.nos.statements.values import CODE as VALUE_CODE, WrongValue
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


class Statement:
    """A statement of one or more devices, of which there is one object: equal statements are the same."""

    __slots__ = ("form", "meaning", "path", "shape")

    def __init__(self, path: StatementPath, shape: Shape, form: Form, meaning: Meaning) -> None:
        self.path, self.shape, self.form, self.meaning = path, shape, form, meaning


class Row(NamedTuple):
    """A statement of a device."""

    statement: Statement
    place: Place

    @property
    def form(self) -> Form:
        return self.statement.form

    @property
    def path(self) -> StatementPath:
        return self.statement.path


VALUE_HINT = "configure a value that the network OS accepts: {}"


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
    statements: Mapping[Statement, Place]
    clues: Sequence[tuple[Clue, Place]] = ()
    names: Sequence[tuple[Name, Place]] = ()
    wrong: Sequence[tuple[WrongValue, Place]] = ()

    @property
    def all_rows(self) -> list[Row]:
        return list(map(Row._make, self.statements.items()))

    @property
    def rows(self) -> list[Row]:
        return [Row(statement, place) for statement, place in self.statements.items() if statement.form.matters]


@dataclass(kw_only=True)
class Cache:
    """What was read of statements before: devices of a network OS have many in common.

    Attributes:
        nos: the network OS.
        known: part → raw statement → what it makes.
        statements: by their paths.
        shapes: by their keys.
        lines: key of a line in its section → the shape of its statement; None where another spelling is the usual one.
    """

    nos: str = ""
    known: Known[Statement] = field(default_factory=dict)
    statements: dict[StatementPath, Statement] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    lines: dict[str, Shape | None] = field(default_factory=dict)

    def made(self, part: str, above: Statement | None, line: str) -> tuple[Statement, ...]:
        """The statements that a line below another one makes."""
        key = key_of(above.shape.key if above is not None else part, line)
        path = above.path if above is not None else (part,)
        if key not in self.lines:
            paths = tuple(syntax_of(self.nos).paths(path, line))
            self.lines[key] = self._shape(paths[0], key) if paths == ((*path, line),) else None
        shape = self.lines[key]
        if shape is not None:
            return (self._statement((*path, line), shape),)
        paths = tuple(syntax_of(self.nos).paths(path, line))
        return tuple([self._statement(path, self._shape(path, _key(path))) for path in paths])

    def _statement(self, path: StatementPath, shape: Shape) -> Statement:
        found = self.statements.get(path)
        if found is None:
            found = self.statements[path] = Statement(path, shape, *shape.read(syntax_of(self.nos).joined(path)))
        return found

    def _shape(self, path: StatementPath, key: str) -> Shape:
        found = self.shapes.get(key)
        if found is None:
            found = self.shapes[key] = shape_of(self.nos, path, key)
        return found


def _key(path: StatementPath) -> str:
    return reduce(key_of, path)


def outline(name: str, nos: str, files: Mapping[str, str], cache: Cache) -> Outline:
    """The outline of a device.

    Args:
        name: of the device.
        nos: its network OS.
        files: path → text.
        cache: of the network OS.
    """
    syntax = syntax_of(nos)
    statements = syntax.read_as(syntax.texts(files), cache.known, cache.made)
    clues, names, wrong = list[tuple[Clue, Place]](), list[tuple[Name, Place]](), list[tuple[WrongValue, Place]]()
    for statement, place in statements.items():
        meaning = statement.meaning
        if meaning is not NO_MEANING:
            clues += [(clue, place) for clue in meaning.clues]
            if meaning.names:
                names += [(known_name, place) for known_name in meaning.names]
            if meaning.wrong:
                wrong += [(value, place) for value in meaning.wrong]
    return Outline(name=name, nos=nos, statements=statements, clues=clues, names=names, wrong=wrong)


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
    found = violations(syntax_of(facts.nos).rules.conditions, clues, {at for _, at in wrong})
    return Judged(names, refused(found, wrong))


def names_of(facts: Facts) -> Sequence[tuple[Name, Place]]:
    """The names that the statements of one device define or use."""
    return judged(facts).names


def refused(violated: Iterable[Violation], wrong: Sequence[tuple[WrongValue, Place]]) -> list[Refused]:
    """The statements that a network OS refuses for their values, drops or overrides by their order, or in combination."""
    found = [_wrong(value, place) for value, place in wrong]
    invalid = {place for _, place in wrong}
    for one in violated:
        if one.condition.code != FEATURE and not {one.by, one.place} & invalid:
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


@lru_cache(maxsize=1 << 15)  # statements: some dozens of devices, of which many have the same ones
def _meaning(nos: str, path: StatementPath) -> Meaning:
    syntax, senses = syntax_of(nos), _senses(nos)
    text = syntax.joined(path)
    key = TEXT.sub("", masked_statement(path[0], text))
    sense = senses.get(key)
    if sense is None:
        sense = senses[key] = sense_of(nos, text)
    return sense.read(text) if sense is not NOTHING else NO_MEANING


@cache
def _senses(nos: str) -> dict[str, Sense]:
    """What was found out before of statements that differ in addresses and AS numbers alone."""
    return {}


def names_in_place(name: Name, like: Row, own: Outline) -> set[str]:
    """What the ports of a device, or the device as the default of its ports, refer to in one place."""
    place = _place(like, name, own.nos)
    return {other.text for there, other in names_of_kind(name, like, own) if is_of_device(there) or there == place}


def names_of_kind(name: Name, like: Row, own: Outline) -> Iterator[tuple[list[str], Name]]:
    """(place, name) of the objects of one kind that statements with the same last part refer to."""
    last = _place(like, name, own.nos)[-1]
    for row in own.all_rows:
        if len(row.path) == len(like.path) and row.path[0] == like.path[0]:
            for other in row.statement.meaning.names:
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
