"""The statements of a config with its values apart: what two devices of one role have in common, and what is their own.

`interface Ethernet1/1 / ip address 10.0.0.1/31` has the form `interface * / ip address */31` and the values `Ethernet1/1`
and `10.0.0.1`. Which values are a device's own is learnt from the devices of a role (`lesson`), or stated by the network OS
(`varies` of its `statements.yaml`): descriptions, VLANs and VRFs of tenants, AS numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from fabric.checks.statements import syntax_of
from fabric.nos.statements.forms import Path
from fabric.nos.statements.syntax import ADDED, DEFAULT, HIDDEN, LABEL, Known, Place, Syntax

WORD = re.compile(r"[^\s|=]+")
# Interfaces of which a device has many. A device has one loopback, tunnel or management interface of a name.
PORT = re.compile(
    r"(?:(?:[Ee]th(?:ernet)?|[Pp]ort-?[Cc]hannel|[Vv]lan|swp|bond|vni|eth|ae|irb\.)|(?:[xegm][te]-))\d[\w/.:]*,?"
)
ADDRESS = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)(/\d{1,3})?[,;]?")
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
    """

    text: str
    values: tuple[str, ...]


class Row(NamedTuple):
    """A statement of a device."""

    form: Form
    path: Path
    place: Place


IGP = -1  # in place of a rule: OSPF or IS-IS of an interface
GIVEN = ("given",)  # shared by a statement without which a rule does not apply


class Clue(NamedTuple):
    """A statement that needs another one (`used`), or is needed: which rule, and the values that both share."""

    rule: int
    used: bool
    shared: tuple[str, ...]
    words: tuple[tuple[str, str], ...] = ()  # groups of the statement


Clues = list[tuple[Clue, Place]]


@dataclass(frozen=True, eq=False)
class Outline:
    """The statements of a device that have an effect, in the order of its files."""

    name: str
    nos: str
    rows: tuple[Row, ...]
    clues: tuple[tuple[Clue, Place], ...] = ()


Forms = dict[Path, Form | None]  # path → its form, None for a statement without effect


@dataclass
class Cache:
    """What was read of statements before: devices of a network OS have many in common."""

    known: Known = field(default_factory=dict)
    forms: Forms = field(default_factory=dict)
    clues: dict[Path, tuple[Clue, ...]] = field(default_factory=dict)


def outline(name: str, nos: str, files: Mapping[str, str], cache: Cache) -> Outline:
    """The outline of a device.

    Args:
        name: of the device.
        nos: its network OS.
        files: path → text.
        cache: of the network OS.
    """
    syntax, forms = syntax_of(nos), cache.forms
    rows, found = [], []
    for path, place in syntax.read(files, cache.known).items():
        if path in forms:
            form = forms[path]
        else:
            form = _form(syntax, path)
            if clues := tuple(_clues(syntax, path)):
                cache.clues[path] = clues
            forms[path] = form
        if form is not None:
            rows.append(Row(form, path, place))
        if path in cache.clues:
            found += [(clue, place) for clue in cache.clues[path]]
    return Outline(name, nos, tuple(rows), tuple(found))


def _clues(syntax: Syntax, path: Path) -> Iterator[Clue]:
    text = syntax.joined(path)
    for pattern in syntax.rules.igp:
        if match := pattern.fullmatch(text):
            yield Clue(IGP, False, (), tuple((name, value) for name, value in match.groupdict().items() if value is not None))
    for at, need in enumerate(syntax.rules.needs):
        if match := need.line.fullmatch(text):
            words = {name: value or "" for name, value in match.groupdict().items()}
            yield Clue(at, True, tuple(words.get(name, "") for name in need.names), tuple(words.items()))
        if need.given is not None and need.given.fullmatch(text):
            yield Clue(at, False, GIVEN)
        if need.needs is not None and (match := need.needs.fullmatch(text)):
            yield Clue(at, False, tuple(match[name] or "" for name in need.names))


def _form(syntax: Syntax, path: Path) -> Form | None:
    text = syntax.joined(path)
    if syntax.is_silent(path, (), LABEL, DEFAULT, HIDDEN, ADDED):
        return None
    if syntax.tolerated and syntax.tolerated.match(text):
        return None
    own = [(*span, STATED) for span in _spans(syntax.varies, text)] + [
        (*span, NUMBER) for span in _spans(syntax.numbered, text)
    ]
    parts, values, at = [path[0], " "], list[str](), 0
    for match in WORD.finditer(text):
        start, end = match.span()
        word = match[0]
        stated = next((mark for first, last, mark in own if first < end and start < last), "")
        mask, value = (stated, word) if stated else _masked(word)
        parts += [text[at:start], mask]
        at = end
        if value:
            values.append(value)
    return Form("".join(parts) + text[at:], tuple(values))


def _spans(pattern: re.Pattern[str] | None, text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text) if pattern is not None else ():
        for group in range(1, match.re.groups + 1):
            if match[group]:
                yield match.span(group)


@lru_cache(maxsize=100_000)
def _masked(word: str) -> tuple[str, str]:
    """(form of a word, its value): the length of a prefix is part of the form, so is the rest of a name with numbers."""
    if not any(map(str.isdigit, word)) and "::" not in word:
        return word, ""
    if match := ADDRESS.fullmatch(word):
        return VALUE + (match[2] or ""), match[1]
    return (AT_PORT if PORT.fullmatch(word) else VALUE) + DIGITS.sub("#", word), word
