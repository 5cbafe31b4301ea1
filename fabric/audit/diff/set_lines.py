"""`delete`, `set` and `insert` lines between two configs in braces.

All lines are one commit: what counts is that each is accepted and what the configuration is after the last one. So what goes
is deleted first, then what is new or has another value is set, then what has an order is moved. A statement that the data of
the network OS does not have is deleted with the node that it is in, and that node is set again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fabric.nos.dialect import NODE, UNKNOWN, VALUES, Config, Hierarchy, Node, StatementPath

EMPTY = Node()
SPECIAL = re.compile(r"[^\w./:,*+@%=-]")


@dataclass(slots=True)
class Lines:
    """The lines of a change, by what they do."""

    deleted: list[StatementPath] = field(default_factory=list)
    set: list[StatementPath] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)


def set_lines(before: Config, after: Config, hierarchy: Hierarchy) -> list[str]:
    """What makes a switch with the config `before` one with the config `after`."""
    old, new = hierarchy.tree(before.statements), hierarchy.tree(after.statements)
    lines = Lines()
    for name in _names(old, new):
        _change(old.below.get(name), new.below.get(name), (name,), lines, hierarchy)
    had, has = ({hierarchy.name(path): None for path in side.inactive} for side in (before, after))
    remaining = {path for path in had if not _within(path, lines.deleted)}
    active = (path for path in remaining.difference(has) if _holds(new, path))
    return [
        *(_line("delete", path) for path in lines.deleted),
        *(_line("activate", path) for path in sorted(active)),
        *(_line("set", path) for path in lines.set),
        *lines.moved,
        *(_line("deactivate", path) for path in has if path not in remaining),
    ]


def _line(verb: str, path: StatementPath) -> str:
    return " ".join((verb, *map(_word, path)))


def _word(word: str) -> str:
    """A value with characters that the command line takes for its own, in quotation marks."""
    return f'"{word}"' if len(word) > 1 and word[0] != '"' and SPECIAL.search(word) else word


def _words(names: Iterable[StatementPath]) -> StatementPath:
    return tuple(word for name in names for word in name)


def _within(path: StatementPath, roots: Iterable[StatementPath]) -> bool:
    return any(path[: len(root)] == root for root in roots)


def _holds(node: Node, path: StatementPath) -> bool:
    """Whether a config has a node, by its words."""
    below = (_holds(child, path[len(name) :]) for name, child in node.below.items() if path[: len(name)] == name)
    return not path or any(below)


def _names(old: Node, new: Node) -> list[StatementPath]:
    """The nodes below both, in the order of the new config."""
    return [*(name for name in old.below if name not in new.below), *new.below]


def _change(old: Node | None, new: Node | None, names: tuple[StatementPath, ...], lines: Lines, hierarchy: Hierarchy) -> None:
    """Adds the lines of one node, which is in one of the configs or in both."""
    path = _words(names)
    if old is None:
        assert new is not None
        lines.set += new.statements(path)
    elif new is None and (len(names) > 1 or not old.known or old.kind != NODE):
        lines.deleted.append(path)
    elif new is None:  # a hierarchy goes by its parts, never whole
        _below(old, EMPTY, names, lines, hierarchy)
    elif old.kind != new.kind or (old.values and new.values and (old.kind == VALUES or len(old.values) > 1)):
        _values(old, new, path, lines)
    elif old.values != new.values:
        lines.set += new.statements(path)
    else:
        _below(old, new, names, lines, hierarchy)


def _values(old: Node, new: Node, path: StatementPath, lines: Lines) -> None:
    """A list: single values where that gives the order of the new one, else the whole list."""
    gone, fresh = ([one for one in a.values if one not in b.values] for a, b in ((old, new), (new, old)))
    kept = [one for one in old.values if one not in gone]
    if kept and [*kept, *fresh] == new.values and old.kind == new.kind == VALUES:
        lines.deleted += ((*path, one) for one in gone)
        lines.set += ((*path, one) for one in fresh)
    else:
        lines.deleted.append(path)
        lines.set += new.statements(path)


def _below(old: Node, new: Node, names: tuple[StatementPath, ...], lines: Lines, hierarchy: Hierarchy) -> None:
    """The nodes below a node that is in both configs."""
    unknown = [name for name, node in old.below.items() if node.kind == UNKNOWN and name not in new.below]
    if unknown and (len(names) > 1 or not old.known):
        lines.deleted.append(_words(names))
        lines.set += new.statements(_words(names))
        return
    words = dict.fromkeys(name[:1] for name in unknown)  # of a hierarchy: lists in it are known
    lines.deleted += (_words((*names, word)) for word in words)
    for name in _names(old, new):
        again = name[:1] in words and (name not in old.below or old.below[name].kind == UNKNOWN)
        before, after = None if again else old.below.get(name), new.below.get(name)
        if before or after:
            _change(before, after, (*names, name), lines, hierarchy)
    ordered = [[name for name in side.below if name[0] in hierarchy.ordered] for side in (old, new)]
    if ordered[1]:
        stay = [name for name in ordered[0] if _words((*names, name)) not in lines.deleted]
        lines.moved += _moves(stay, ordered[1], _words(names))


def _moves(old: list[StatementPath], wanted: list[StatementPath], path: StatementPath) -> Iterator[str]:
    """A new element goes to the end; where others follow it in the new config it is moved before them."""
    order = [name for name in old if name in wanted]
    order += [name for name in wanted if name not in order]
    for at, name in enumerate(wanted):
        if order[at] != name:
            yield _line("insert", (*path, *name, "before", *order[at]))
            order.remove(name)
            order.insert(at, name)
