"""Writes out what a Junos config says once for many: `apply-groups` and `interface-range`.

What is inherited is put before a node's own statements, since the last one is in force; of several groups the first wins.
Every inherited node keeps the line of the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from fabric.model.facts import Located
from fabric.nos.junos.read.tree import Node

MOST_MEMBERS = 1024  # of a range: a number that is mistyped shall not fill the memory
NUMBERED = re.compile(r"(.*?)(?<!\d)(\d+)$")
Cursor = tuple[str, Node]  # a group, and its part that belongs to the node at hand


@lru_cache(maxsize=4096)
def pattern(word: str) -> re.Pattern[str]:
    """`<et-*>`, `et-0/0/[0-3]` as a regular expression; a comma in a set of numbers only parts them."""
    found = ""
    for part in re.findall(r"\[[^\]]{0,200}\]|\*|\?|[^*?\[]+|\[", word.removeprefix("<").removesuffix(">")):
        if part == "*":
            found += ".*"
        elif part == "?":
            found += "."
        elif len(part) > 2 and part[0] == "[":
            found += _choice(part[1:-1])
        else:
            found += re.escape(part)
    return re.compile(found)


def _choice(text: str) -> str:
    """`0-15` and `0,2` are numbers, `!a` and `abc` are letters."""
    parts = [part.split("-") for part in text.split(",")]
    if not all(len(part) <= 2 and all(word.isdecimal() and len(word) < 6 for word in part) for part in parts):
        letters = re.sub(r"([\\\]\[&~|^])", r"\\\1", text.removeprefix("!"))
        try:
            return re.compile(f"[{'^' * text.startswith('!')}{letters}]").pattern
        except re.error:
            return re.escape(text)
    every = {number for part in parts for number in range(int(part[0]), min(int(part[-1]), int(part[0]) + MOST_MEMBERS) + 1)}
    return f"(?:{'|'.join(str(number) for number in sorted(every, reverse=True))})" if every else "(?!)"


def is_wild(word: str) -> bool:
    return word[:1] == "<" and word[-1:] == ">"


def matching(node: Node, word: str) -> Iterator[tuple[str, Node]]:
    """The nodes that a word of a path means: one, or all that a wildcard matches."""
    if is_wild(word):
        match = pattern(word).fullmatch
        yield from ((name, child) for name, child in node.items() if match(name))
    elif word in node:
        yield word, node[word]


def write_out(root: Node) -> list[Located[str]]:
    """Puts ranges and groups where they apply: the `apply-groups` that are left unread."""
    _ranges(root.at("interfaces"))
    work = _Groups(root.pop("groups", Node()))
    work.inherit(root, (), ())
    return work.unread


class _Groups:
    def __init__(self, groups: Node) -> None:
        self.groups = groups
        self.unread: list[Located[str]] = []

    def inherit(self, node: Node, path: tuple[str, ...], above: tuple[Cursor, ...]) -> None:
        """Everything in groups that belongs to this node and below; `above` are those applied further up."""
        cursors = self._in_force(node, path, above)
        if cursors:
            new = Node()
            for _, part in reversed(cursors):
                for word, child in part.items():
                    if word not in node and not word.startswith("apply-groups") and not is_wild(word):
                        new.pop(word, None)
                        new[word] = Node(child.line, child.file)
            if new:
                new.update(node)
                node.clear()
                node.update(new)
        for word, child in list(node.items()):
            self.inherit(child, (*path, word), tuple(_step(cursors, word)))

    def _in_force(self, node: Node, path: tuple[str, ...], above: tuple[Cursor, ...]) -> list[Cursor]:
        """The nearest groups come first; a group may itself name groups."""
        found: list[Cursor] = []
        waiting = [cursor for parsed in _taken(node, "apply-groups") for cursor in self._parts(parsed, path)] + list(above)
        refused = {parsed.value for parsed in _taken(node, "apply-groups-except")}
        while waiting:
            group, part = waiting.pop(0)
            if group not in refused and not any(part is other for _, other in found):
                found.append((group, part))
                waiting[:0] = [inner for parsed in part.every("apply-groups") for inner in self._parts(parsed, path)]
        return found

    def _parts(self, parsed: Located[str], path: tuple[str, ...]) -> list[Cursor]:
        """What a group says of a path; several parts where wildcards overlap."""
        group = self.groups.get(parsed.value)
        if group is None or "when" in group:
            if group is not None or "$" in parsed.value:
                self.unread.append(Located(f"apply-groups {parsed.value}", parsed.line, parsed.file))
            return []
        cursors: list[Cursor] = [(parsed.value, group)]
        for word in path:
            cursors = list(_step(cursors, word))
        return cursors


def _taken(node: Node, word: str) -> list[Located[str]]:
    """The names below a word, which leaves the tree."""
    found = node.every(word)
    node.pop(word, None)
    return found


def _step(cursors: list[Cursor] | tuple[Cursor, ...], word: str) -> Iterator[Cursor]:
    """A name that is written out goes before one that a wildcard matches."""
    for group, part in cursors:
        if word in part:
            yield group, part[word]
        yield from ((group, child) for name, child in part.items() if is_wild(name) and pattern(name).fullmatch(word))


def _ranges(interfaces: Node) -> None:
    """Gives every member of a range what the range says; the member's own words win."""
    for part in interfaces.pop("interface-range", Node()).values():
        members = part.pop("member", Node()), part.pop("member-range", Node())
        for member, node in _members(interfaces, *members):
            own = interfaces.get(member)
            interfaces[member] = merged(part, Node(node.line, node.file) if own is None else own)


def _members(interfaces: Node, named: Node, ranges: Node) -> Iterator[tuple[str, Node]]:
    for word, node in named.items():
        if re.search(r"[*?\[]", word):
            written = [name for name in interfaces if pattern(word).fullmatch(name)]
            yield from ((name, node) for name in written or _spelled(word))
        else:
            yield word, node
    for first, node in ranges.items():
        last = node.value("to")
        begin, end = NUMBERED.match(first), NUMBERED.match(last.value if last else "")
        if begin and end and begin[1] == end[1]:
            for number in range(int(begin[2]), min(int(end[2]), int(begin[2]) + MOST_MEMBERS) + 1):
                yield f"{begin[1]}{number}", node


def _spelled(word: str) -> list[str]:
    """`et-0/0/[0-3]` names four ports even where nothing else does; with `*` their number is unknown."""
    found = re.fullmatch(r"([^*?\[]*)\[(\d{1,4})-(\d{1,4})\]", word)
    return [f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1)] if found else []


def merged(inherited: Node, own: Node) -> Node:
    """A copy of both: what is inherited first."""
    both = Node(own.line, own.file)
    for word, node in inherited.items():
        both[word] = merged(node, own.get(word, Node(node.line, node.file)))
    for word, node in own.items():
        if word in inherited:  # its own value counts as the last one
            both[word] = both.pop(word)
        else:
            both[word] = node
    return both
