"""How a change of config is written in the words of a network OS.

`Rules` say what the commands mean to one another, as far as a change needs to know. A pattern has groups: two lines of a
section whose groups read alike set one thing, so the later takes the place of the earlier and no `no` is wanted before it.
What no rule names is taken back with `no` and set again, which is right too, only longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fabric.base.formats import json_line
from fabric.nos.hierarchy import Config, Hierarchy

Single = tuple[tuple[str, ...], str]  # beginnings of the sections that a line lies in, pattern of the line
Key = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A command that takes other lines of its section along, and of the sections in it. Patterns are of whole lines.

    In `over`, `first` and `takes`, `{0}` is the first group of the command, `{members}` the neighbors whose group it is.

    Attributes:
        heads: beginnings of the sections that the command stands in.
        command: pattern of it, with its `no`.
        takes: pattern of the lines that go with it.
        over: it takes them along only where the old config has another such line.
        first: a command that must stand before it, "" for none.
        source: where this is seen or documented.
    """

    heads: tuple[str, ...]
    command: str
    takes: str
    source: str
    over: str = ""
    first: str = ""

    def applies(self, heads: Sequence[str]) -> bool:
        """Whether it is of a section."""
        return len(heads) == len(self.heads) and all(map(str.startswith, heads, self.heads))

    def happens(self, line: str, section: Iterable[str]) -> bool:
        """Whether a command takes something along, typed in a section that has these lines."""
        if not _compiled(self.command).fullmatch(line):
            return False
        pattern = _compiled(self._filled(self.over, line, section)) if self.over else None
        return pattern is None or any(other != line and pattern.fullmatch(other) for other in section)

    def of(self, line: str, section: Iterable[str]) -> tuple[str, str]:
        """(the command before it, pattern of the lines that go)."""
        return self._filled(self.first, line, section, escaped=False), self._filled(self.takes, line, section)

    def _filled(self, template: str, line: str, section: Iterable[str], escaped: bool = True) -> str:
        match = _compiled(self.command).fullmatch(line)
        words = match.groups() if match else ()
        name = words[0] if words else ""
        members = [found[1] for other in section if (found := MEMBER.fullmatch(other)) and found[2] == name]
        spelled = [re.escape(word) if escaped else word for word in words]
        any_member = "|".join(map(re.escape, members)) or "(?!)"
        return template.format(*spelled, members=f"(?:{any_member})")


MEMBER = re.compile(r"neighbor (\S+) (?:interface )?peer-group (\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """One network OS. Patterns are matched against lines without their `no`."""

    single: tuple[Single, ...]
    removal: tuple[tuple[str, str], ...] = ()  # pattern of a line that is taken back, the line that replaces it
    used: str = ""  # what other lines refer to, with its name as the group: taken back after all else
    owned: str = ""  # what a switch accepts once only, as groups: let go before another section may have it
    resets: tuple[tuple[str, str, str], ...] = ()  # section, line that changes, line that it has: `default` and set again
    inherits: tuple[
        tuple[str, str, str], ...
    ] = ()  # line, section whose changes reach the section of this line, which of them
    takes: tuple[tuple[str, str], ...] = ()  # line that goes, sections that the switch takes along with it
    rests: tuple[tuple[str, str, str], ...] = ()  # section, line that changes, line that it must have meanwhile
    users: tuple[tuple[str, str, bool], ...] = ()  # line that goes, lines that are taken back meanwhile; also if it changes
    spelled: tuple[tuple[str, str], ...] = ()  # pattern of a command, the command that is typed for it
    stays: str = ""  # sections that cannot be taken back, only emptied
    forgets: str = ""  # lines of an interface that the switch drops when one of `causes` changes: they are set again
    causes: str = ""
    step: str = "   "  # of the indentation
    left: str = ""  # lines of the top that mean something else in a section: it is left before them
    effects: tuple[Effect, ...] = ()  # commands that take other lines along: those are set again
    default: str = ""  # sections and line, ` / ` between them, that are so without the line: it is not taken back
    first: str = ""  # what is taken back before all else: it makes what another line takes back
    derived: str = ""  # lines that follow from others, of neighbors that are in no group (its name is the group)
    frees: tuple[tuple[str, str, str], ...] = ()  # (command, section or the top, its line that is let go first)
    warnings: tuple[tuple[str, str], ...] = ()  # pattern of a command, what it does that no command undoes

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


PATCH, TYPED, RELOAD = "patch", "commands", "reload"  # kinds of steps


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a change that a single patch does not bring about.

    Attributes:
        kind: PATCH, TYPED, or RELOAD where every service starts again.
        title: what it does.
        reason: why it is a step of its own, "" where that is plain.
        commands: what is typed where the document is not given to a command of the network OS.
        json_patch: the operations on the document (RFC 6902), none where it does not change.
    """

    kind: str
    title: str
    reason: str = ""
    commands: tuple[str, ...] = ()
    json_patch: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form that the change of a file is written in."""

    name: str  # as the JSON of a diff has it
    title: str  # what a report says of it
    language: str = ""  # of the block in Markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch(Form):
    """A form of one network OS alone, for a file that is data; with `steps` where one patch is not always enough."""

    tree: Callable[[str], Mapping[str, Any]] = field(kw_only=True)  # all that a file sets; raises ValueError
    lines: Callable[[str, str], list[str]] = field(kw_only=True)  # what makes the new text of the old
    changes: Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]] = field(kw_only=True)  # the same of two trees
    steps: Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Step, ...]] | None = field(default=None, kw_only=True)
    script: Callable[[Sequence[Step]], list[str]] | None = field(default=None, kw_only=True)  # several steps, to be typed


@dataclass(frozen=True, slots=True)
class SetLines(Form):
    """`delete` and `set` lines, for a config in braces whose statements are known."""

    config: Callable[[str], Config] = field(kw_only=True)  # raises ValueError
    hierarchy: Callable[[], Hierarchy] = field(kw_only=True)


COMMANDS = Form(name="commands", title="commands")
STEPS = Form(name="steps", title="steps, one after the other", language="sh")
UNIFIED = Form(name="unified", title="patch of the file", language="diff")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How changes of the files of a network OS are written; a file that is not named is shown as a patch."""

    forms: Mapping[str, Form]  # file → its form
    rules: Rules | None = None  # of files in `COMMANDS`
    platform: str = "GENERIC"  # hier_config's name


def same(old: object, new: object) -> bool:
    """Equal for JSON, where `true` is not 1."""
    return json_line(old, sort_keys=True) == json_line(new, sort_keys=True)
