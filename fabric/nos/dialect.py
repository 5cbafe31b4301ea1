"""How a change of config is written in the words of a network OS.

`Rules` say what the commands mean to one another, as far as a change needs to know. A pattern has groups: two lines of a
section whose groups read alike set one thing, so the later takes the place of the earlier and no `no` is wanted before it.
What no rule names is taken back with `no` and set again, which is right too, only longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fabric.formats import json_line

Single = tuple[tuple[str, ...], str]  # beginnings of the sections that a line lies in, pattern of the line
Key = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """One network OS. Patterns are matched against lines without their `no`."""

    single: tuple[Single, ...]
    removal: tuple[tuple[str, str], ...] = ()  # pattern of a line that is taken back, the line that replaces it
    used: str = ""  # what other lines refer to, with its name as the group: taken back after all else
    owned: str = ""  # what a switch accepts once only, as groups: let go before another section may have it
    first: str = ""  # lines that are taken back before all else when they go or change
    resets: tuple[tuple[str, str, str], ...] = ()  # section, line that changes, line that it has: `default` and set again
    takes: tuple[tuple[str, str], ...] = ()  # line that goes, sections that the switch takes along with it
    rests: tuple[tuple[str, str, str], ...] = ()  # section, line that changes, line that it must have meanwhile
    users: tuple[tuple[str, str, bool], ...] = ()  # line that goes, lines that are taken back meanwhile; also if it changes
    spelled: tuple[tuple[str, str], ...] = ()  # pattern of a command, the command that is typed for it
    stays: str = ""  # sections that cannot be taken back, only emptied
    forgets: str = ""  # lines of an interface that the switch drops when one of `causes` changes: they are set again
    causes: str = ""
    step: str = "   "  # of the indentation

    def key(self, sections: Sequence[str], line: str) -> Key | None:
        """What a line sets: two lines of one section with the same key take each other's place."""
        line = line.removeprefix("no ")
        for at, (heads, pattern) in enumerate(self.single):
            if len(heads) == len(sections) and all(map(str.startswith, sections, heads)):
                match = _compiled(pattern).match(line)
                if match:
                    return (at, *match.groups())
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# Of several that have the words of Cisco's IOS.
BGP_NEIGHBOR = (
    r"(neighbor \S+ (?:remote-as|description|timers|update-source|ebgp-multihop|maximum-routes|peer[ -]group|bfd profile)) "
)
BGP_FILTER = r"(neighbor \S+ (?:route-map|prefix-list)) \S+ (in|out)$"


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a config in braces that is changed by `set` and `delete`."""

    single: re.Pattern[str]  # words of statements of one value, where `set` takes the place of what was there
    named_by: Mapping[str, int]  # word → how many words, itself among them, name what is deleted

    def single_of(self, statement: str) -> str:
        """What a statement of one value sets, \"\" for any other."""
        word, _, value = statement.partition(" ")
        one = bool(value) and (" " not in value or value.startswith('"')) and not value.startswith("[")
        return word if one and self.single.fullmatch(word) else ""

    def key(self, statement: str) -> str:
        """What is written behind `delete` for a statement: its name without its value."""
        words = statement.split(" ")
        if words[0] in self.named_by:
            return " ".join(words[: self.named_by[words[0]]])
        if "[" in words:
            return " ".join(words[: words.index("[")])
        if len(words) > 2 and not words[0][:1].isdigit():
            return " ".join(words[:2])
        return self.single_of(statement) or statement


@dataclass(frozen=True, slots=True)
class Form:
    """A form that the change of a file is written in."""

    name: str  # as the JSON of a diff has it
    title: str  # what a report says of it
    language: str = ""  # of the block in Markdown


@dataclass(frozen=True, slots=True)
class Patch(Form):
    """A form of one network OS alone, for a file that is data."""

    tree: Callable[[str], Mapping[str, Any]] = field(kw_only=True)  # all that a file sets; raises ValueError
    lines: Callable[[str, str], list[str]] = field(kw_only=True)  # what makes the new text of the old
    changes: Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]] = field(kw_only=True)  # the same of two trees


COMMANDS = Form("commands", "commands")
SET = Form("set", "set and delete lines")
JSON_PATCH = Form("json-patch", "for `config apply-patch`", "json")
UNIFIED = Form("unified", "patch of the file", "diff")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How changes of the files of a network OS are written; a file that is not named is shown as a patch."""

    forms: Mapping[str, Form]  # file → its form
    rules: Rules | None = None  # of files in `COMMANDS`
    statements: Statements | None = None  # of files in `SET`
    platform: str = "GENERIC"  # hier_config's name


def same(old: object, new: object) -> bool:
    """Equal for JSON, where `true` is not 1."""
    return json_line(old, sort_keys=True) == json_line(new, sort_keys=True)
