"""Rules of how statements are compared, as `statements.yaml` beside the record of a network OS has them: which spellings are
equal, which statements have no effect, where order matters.

A pattern is matched against the whole path of a statement, its parts joined by the separator of the syntax:
`interface Ethernet1 / mtu 9214`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabric.base.formats import yaml
from fabric.base.reading import expand
from fabric.nos.statements.conditions import FEATURE, Condition, condition, load_conditions

DEFAULT = "default"  # the default: without effect, present or not
ADDED = "added"  # added by the network OS: without effect where the plan lacks it
HIDDEN = "hidden"  # never printed: without effect where a running config lacks it
LABEL = "label"  # text for people: a difference is a warning
SECRET = "secret"  # compared by presence: the value is hashed or encrypted, and `rewrite` replaces it
BELOW = "\v"  # in the result of a rewrite, ` > ` in the data
ELEMENT = "\0"  # takes the place of an element in an expanded template
KEYS = {
    "rewrite",
    "single",
    "ordered",
    "without_effect",
    "varies",
    "numbered",
    "tolerated",
    "switched_off",
    "switched_on",
    "port_vrf",
    "needs",
    "igp",
}  # of a `statements.yaml`
KINDS = (DEFAULT, ADDED, HIDDEN, LABEL, SECRET)


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutEffect:
    """One entry of the list of statements without effect.

    Attributes:
        pattern: of the whole path of a statement, or of the section that it is in.
        kind: one of KINDS.
        reason: why it has no effect.
        source: title of the vendor's page, or the public running config that shows it.
        empty: the pattern is of the head of a section; statements in it have an effect.
        beside: a planned statement of the same section, without which the entry does not apply.
        given: path of a statement of the running config, without which it does not apply; `{name}` is a group of the pattern.
        unless: pattern of statements of the running config, any of which it does not apply beside; likewise.
        up_to: pattern of statements of the running config: the group `number` is at most as many as there are of them.
    """

    pattern: str
    kind: str
    reason: str
    source: str
    empty: bool = False
    beside: str = ""
    given: str = ""
    unless: str = ""
    up_to: str = ""

    @property
    def has_condition(self) -> bool:
        """Whether it applies beside other statements only."""
        return bool(self.beside or self.given or self.unless or self.up_to)

    def holds(self, match: re.Match[str], running: Callable[[], Collection[str]]) -> bool:
        """Whether a running config, its paths joined, has what the entry needs."""
        if not (self.given or self.unless or self.up_to):
            return True
        words = match.groupdict()
        escaped = {name: re.escape(word) for name, word in words.items()}
        paths = running()
        if self.given and self.given.format(**words) not in paths:
            return False
        if self.unless and any(re.fullmatch(self.unless.format(**escaped), path) for path in paths):
            return False
        return not self.up_to or int(words["number"]) <= sum(bool(re.fullmatch(self.up_to, path)) for path in paths)


@dataclass(frozen=True)
class Rewrite:
    """Another spelling of a statement.

    Attributes:
        pattern: of a line.
        to: the statements that it makes, as templates of the match; BELOW between a section and a statement in it.
        within: pattern of the line of its section.
    """

    pattern: re.Pattern[str]
    to: tuple[str, ...]
    within: re.Pattern[str]

    @cached_property
    def each(self) -> bool:
        """Whether the group `each` is a list: the line makes one statement per element."""
        return "each" in self.pattern.groupindex

    def expanded(self, match: re.Match[str]) -> Iterator[str]:
        """One statement per element of the list in the group `each`."""
        templates = [match.expand(text.replace(r"\g<each>", ELEMENT)) for text in self.to]
        for element in elements(match["each"]):
            yield from (text.replace(ELEMENT, element) for text in templates)

    @property
    def word(self) -> str:
        """First word of the lines that it matches, "" where the pattern does not begin with one."""
        literal = re.match(r"([a-z][\w-]*)(?: |$)", self.pattern.pattern)
        return literal[1] if literal else ""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The file `statements.yaml` of a network OS."""

    rewrites: tuple[Rewrite, ...] = ()
    single: tuple[re.Pattern[str], ...] = ()  # lines whose groups name what they set: a second one changes it
    ordered: tuple[re.Pattern[str], ...] = ()  # sections whose statements take effect in their order
    without_effect: tuple[WithoutEffect, ...] = ()
    varies: tuple[str, ...] = ()  # patterns whose groups name what a device has by design: a VRF, a list, an AS number
    numbered: tuple[str, ...] = ()  # patterns whose groups are numbers of entries
    tolerated: tuple[str, ...] = ()  # statements that a device may lack by design
    switched_off: tuple[str, ...] = ()  # statements that switch a port or a session off
    switched_on: tuple[str, ...] = ()  # statements that switch it on
    port_vrf: tuple[str, ...] = ()  # statements of a port about its VRF
    conditions: tuple[Condition, ...] = ()  # `needs`: statements that need another one; and those of `refused.yaml`
    igp: tuple[re.Pattern[str], ...] = ()  # OSPF and IS-IS of an interface: groups `port` and what is stated, or `router`

    @cached_property
    def rewrites_by_word(self) -> Mapping[str, tuple[Rewrite, ...]]:
        """First word of a line → the rewrites that may match it."""
        words = {rewrite.word for rewrite in self.rewrites}
        return {word: tuple(rewrite for rewrite in self.rewrites if rewrite.word == word) for word in words}

    @cached_property
    def silent(self) -> Mapping[tuple[str, bool], re.Pattern[str]]:
        """(kind, empty) → one pattern of all its entries that apply everywhere."""
        patterns: dict[tuple[str, bool], list[str]] = {}
        for entry in self.without_effect:
            if not entry.has_condition:
                patterns.setdefault((entry.kind, entry.empty), []).append(f"(?:{entry.pattern})")
        return {key: re.compile("|".join(of_kind)) for key, of_kind in patterns.items()}

    @cached_property
    def conditional(self) -> tuple[tuple[re.Pattern[str], WithoutEffect], ...]:
        """The entries that apply beside another statement."""
        return tuple((re.compile(entry.pattern), entry) for entry in self.without_effect if entry.has_condition)


def load_rules(path: Path) -> Rules:
    """Rules from a `statements.yaml`. Raises ValueError for an unknown key or kind, so that no entry is lost."""
    document = yaml.read(path)
    if unknown := set(document) - KEYS:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    rules = Rules(
        rewrites=tuple(_rewrite(row) for row in document.get("rewrite") or ()),
        single=tuple(re.compile(row) for row in document.get("single") or ()),
        ordered=tuple(re.compile(row) for row in document.get("ordered") or ()),
        without_effect=tuple(_without_effect(row) for row in document["without_effect"]),
        varies=tuple(document.get("varies") or ()),
        numbered=tuple(document.get("numbered") or ()),
        tolerated=tuple(document.get("tolerated") or ()),
        switched_off=tuple(document.get("switched_off") or ()),
        switched_on=tuple(document.get("switched_on") or ()),
        port_vrf=tuple(document.get("port_vrf") or ()),
        conditions=(
            *(condition(row, FEATURE) for row in document.get("needs") or ()),
            *load_conditions(path.with_name("refused.yaml")),
        ),
        igp=tuple(re.compile(row) for row in document.get("igp") or ()),
    )
    if wrong := [entry for entry in rules.without_effect if entry.kind not in KINDS]:
        raise ValueError(f"{path}: unknown kind in {wrong[0]}")
    return rules


def _without_effect(row: Mapping[str, Any]) -> WithoutEffect:
    return WithoutEffect(**{"pattern" if key == "line" else key: value for key, value in row.items()})


def _rewrite(row: Mapping[str, Any]) -> Rewrite:
    to = row["to"] if isinstance(row["to"], list) else [row["to"]]
    return Rewrite(re.compile(row["line"]), tuple(text.replace(" > ", BELOW) for text in to), re.compile(row.get("in", "")))


def elements(text: str) -> Iterable[str]:
    """Elements of a list with ranges: `1,10-12` or `1 2 3`. What is no number stays as it is."""
    for part in re.split(r"[,\s]+", text.strip(", ")):
        first, dash, last = part.partition("-")
        if dash and first.isdecimal() and last.isdecimal() and 0 <= (span := int(last) - int(first)) < 5000:
            expand(span)
            yield from map(str, range(int(first), int(last) + 1))
        else:
            yield part
