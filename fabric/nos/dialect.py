"""How a change of config is written in the words of a network OS.

`Rules` say what the commands mean to one another, as far as a change needs to know. A pattern has groups: two lines of a
section whose groups read alike set one thing, so the later takes the place of the earlier and no `no` is wanted before it.
What no rule names is taken back with `no` and set again, which is right too, only longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from fabric.base.formats import json_line
from fabric.nos.reading.sections import ANY, Layout, StatementPath

# --- Configs in braces as a tree: a container, an element of a list, a value, a list of values ----------------

VALUE = "value"  # a single value, which a second one replaces
VALUES = "values"  # an ordered list of values
FLAG = "flag"  # without a value
NODE = "node"  # a container or an element of a list
UNKNOWN = "unknown"  # a statement that the data does not define, with all its words
KINDS = frozenset({VALUE, VALUES, FLAG})
ANY_ELEMENT = "*"


@dataclass(slots=True)
class AllowedChildren:
    """What may stand below a node: first word → (its words, a kind or the place below it), the longest first."""

    below: dict[str, list[tuple[StatementPath, str | AllowedChildren]]] = field(default_factory=dict)

    def match(self, words: StatementPath) -> tuple[StatementPath, str | AllowedChildren] | None:
        """The words of the next node, and what it is."""
        for pattern, what in (*self.below.get(words[0], ()), *self.below.get(ANY_ELEMENT, ())):
            if len(pattern) <= len(words) and all(
                one in (ANY_ELEMENT, two) for one, two in zip(pattern, words, strict=False)
            ):
                return words[: len(pattern)], what
        return None


NOWHERE = AllowedChildren()


@dataclass(slots=True)
class Node:
    """A node of a config: its values, or the nodes below it by their words."""

    kind: str = NODE
    values: list[str] = field(default_factory=list)
    below: dict[StatementPath, Node] = field(default_factory=dict)
    known: bool = True  # the data defines what is allowed below it

    def child(self, name: StatementPath, kind: str, *, known: bool = True) -> Node:
        """The node with that name; one that is there in another form becomes a container."""
        found = self.below.setdefault(name, Node(kind, known=known))
        if found.kind != kind:
            found.below |= {(value,): Node(UNKNOWN) for value in found.values}
            found.kind, found.values, found.known = NODE, [], False
        return found

    def statements(self, path: StatementPath = ()) -> Iterator[StatementPath]:
        """The words of every statement, several values of a list in brackets."""
        if self.kind == VALUES and len(self.values) > 1:
            yield (*path, "[", *self.values, "]")
        elif self.values:
            yield (*path, self.values[-1])
        elif not self.below:
            yield path
        for name, node in self.below.items():
            yield from node.statements((*path, *name))


@dataclass(frozen=True, slots=True)
class Config:
    """Statements of a text, those without effect among them, and the paths that are marked as such."""

    statements: tuple[StatementPath, ...]
    inactive: tuple[StatementPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """What the statements of a network OS are.

    Attributes:
        root: the place of the hierarchies.
        ordered: first words of elements whose order has an effect.
    """

    root: AllowedChildren
    ordered: frozenset[str]

    @classmethod
    def load(cls, path: Path) -> Hierarchy:
        """From a `candidate.yaml`. Raises ValueError for an unknown kind."""
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        root = AllowedChildren()
        _fill(root, document["statements"], document["everywhere"], root, {})
        return cls(root, frozenset(document["ordered"]))

    def tree(self, statements: Iterable[StatementPath]) -> Node:
        """The nodes of a config."""
        root = Node()
        for words in statements:
            self._add(root, words)
        return root

    def name(self, words: StatementPath) -> StatementPath:
        """The words of the node of a statement: without its value."""
        node, name = self.tree([words]), StatementPath()
        while node.below and node.known:
            part, node = next(iter(node.below.items()))
            name += part
        return name

    def _add(self, root: Node, words: StatementPath) -> None:
        node, place = root, self.root
        while words:
            match = place.match(words)
            if match is None and node is not root:
                node.child(words, UNKNOWN)
                return
            name, kind = match or (words[:1], NOWHERE)
            words = words[len(name) :]
            if isinstance(kind, AllowedChildren):
                node, place = node.child(name, NODE, known=kind is not NOWHERE), kind
                continue
            size = 0 if kind == FLAG else 1
            more = words[size:]
            alone = len(words) >= size and (not more or place.match(more) is not None)
            child = node.child(name, kind if alone else NODE, known=alone)
            if child.kind == NODE:  # more words than the data defines
                if words:
                    child.child(words, UNKNOWN)
                return
            child.values += (value for value in words[:size] if value not in child.values)
            words = more


def _fill(
    place: AllowedChildren,
    rows: Mapping[str, Any],
    everywhere: Mapping[str, str],
    root: AllowedChildren,
    made: dict[int, AllowedChildren],
) -> None:
    """Fills the place of a mapping; a mapping that is there several times is one place."""
    made[id(rows)] = place
    for key, value in {**everywhere, **rows}.items():
        pattern = tuple(key.split())
        if value == "root":
            allowed: str | AllowedChildren = root
        elif isinstance(value, Mapping):
            allowed = made.get(id(value)) or AllowedChildren()
            if id(value) not in made:
                _fill(allowed, value, everywhere, root, made)
        elif value in KINDS:
            allowed = value
        else:
            raise ValueError(f"{key}: expected a kind of statement, got {value}")
        place.below.setdefault(pattern[0], []).append((pattern, allowed))
        place.below[pattern[0]].sort(key=lambda entry: -len(entry[0]))


Single = tuple[tuple[str, ...], str]  # (beginnings of its sections, pattern of the line)
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
    """How one network OS takes changes. Patterns are matched against lines without their `no`.

    Attributes:
        single: lines of which a section has one for each value of the groups.
        inverses: (pattern of a line, what replaces it).
        definitions: lines whose group is a name that others refer to; they are removed last.
        exclusive: lines whose groups a switch accepts once; the old one is removed before the new one is set.
        defaulted: (section, line that changes, line that it has): the section is set to its default and written again.
        inherits: (line, section that it joins, its lines): these changes reach the section of the line.
        cascades: (line, sections that the switch removes with it).
        interim: (section, line that changes, line that the section must have meanwhile).
        dependents: (line, lines that are absent while it is removed, whether also while it changes).
        typed_as: (pattern of a command, the command that is typed for it).
        permanent: sections that can be emptied, not removed.
        dropped: lines of an interface that the switch drops when one of `drop_causes` changes; they are set again.
        indent: of a level.
        top_only: lines of the top that mean something else in a section, which is left before them.
        effects: commands that remove other lines, which are set again.
        implied: sections and line, joined by ` / `, that hold without the line: it is not removed.
        removed_first: lines that are removed before all others.
        sequences: (section, its lines that count in their order): the switch adds a line behind the others.
        derived: lines that follow from others, unless the neighbor in the group is a member of a peer group.
        released_first: (command, section or the top, line of it that is removed before the command).
        warnings: (pattern of a command, its effect that no command reverses).
    """

    single: tuple[Single, ...]
    inverses: tuple[tuple[str, str], ...] = ()
    definitions: str = ""
    exclusive: str = ""
    defaulted: tuple[tuple[str, str, str], ...] = ()
    inherits: tuple[tuple[str, str, str], ...] = ()
    cascades: tuple[tuple[str, str], ...] = ()
    interim: tuple[tuple[str, str, str], ...] = ()
    dependents: tuple[tuple[str, str, bool], ...] = ()
    typed_as: tuple[tuple[str, str], ...] = ()
    permanent: str = ""
    dropped: str = ""
    drop_causes: str = ""
    indent: str = "   "
    top_only: str = ""
    effects: tuple[Effect, ...] = ()
    implied: str = ""
    removed_first: str = ""
    sequences: tuple[tuple[str, str], ...] = ()
    derived: str = ""
    released_first: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()

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


# Patterns of network OSes with the syntax of Cisco's IOS.
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

    name: str  # name in the JSON of a diff
    title: str  # text for reports
    language: str = ""  # language of the block in Markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch(Form):
    """A form of one network OS alone, for a file that is data; with `steps` where one patch is not always enough."""

    tree: Callable[[str], Mapping[str, Any]] = field(kw_only=True)  # reads a file; raises ValueError
    lines: Callable[[str, str], list[str]] = field(kw_only=True)  # (old text, new text) → change
    changes: Callable[[Mapping[str, Any], Mapping[str, Any]], list[str]] = field(kw_only=True)  # the same for two trees
    steps: Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Step, ...]] | None = field(default=None, kw_only=True)
    script: Callable[[Sequence[Step]], list[str]] | None = field(default=None, kw_only=True)  # the change is several steps


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
    layout: Layout = ANY  # of files in `COMMANDS`


def same(old: object, new: object) -> bool:
    """Equal for JSON, where `true` is not 1."""
    return json_line(old, sort_keys=True) == json_line(new, sort_keys=True)


# --- Configs that are data: JSON Patch (RFC 6902) -------------------------------------------------------------

Operation = dict[str, Any]


def json_patch(old: Any, new: Any, at: str = "") -> list[Operation]:
    """What makes `new` of `old`: removals, replacements, additions. A list is replaced whole.

    A table that is empty afterwards is not in `new` at all, so it is removed itself: ConfigDB holds no empty table.
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return [] if same(old, new) else [{"op": "replace", "path": at, "value": new}]
    removed = [{"op": "remove", "path": _step(at, key)} for key in old if key not in new]
    kept = [operation for key in old if key in new for operation in json_patch(old[key], new[key], _step(at, key))]
    added = [{"op": "add", "path": _step(at, key), "value": new[key]} for key in new if key not in old]
    return [*removed, *kept, *added]


def _step(at: str, key: object) -> str:
    """A JSON Pointer one deeper: `~` and `/` of a key are escaped, the `|` of SONiC's keys is not."""
    return f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"


def keys_of(operation: Operation) -> list[str]:
    """The keys of the path of an operation, from the table on."""
    return [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]


def json_lines(operations: Sequence[Operation]) -> list[str]:
    """The patch as a file of `config apply-patch`, an operation a line."""
    rows = [json_line(operation, ensure_ascii=False) for operation in operations]
    return ["[", *(f"  {row}{',' if at < len(rows) else ''}" for at, row in enumerate(rows, 1)), "]"]
