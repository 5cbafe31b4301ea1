"""The order of commands in which a device accepts every one of them.

First unique values and values that move: an address is removed before another port takes it. Then removals, then new and
changed lines in the order of the new config, definitions before their use. Last removals of definitions: a policy, a list,
a VRF, in the reverse order of their creation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from fabric.diff import trees
from fabric.diff.trees import Tree
from fabric.nos.dialect import Rules


def in_order(change: Tree, before: Tree, after: Tree, rules: Rules, freed: Tree) -> list[str]:
    """The commands of a change from the tree `before` to the tree `after`; a section may be entered twice.

    `freed`: commands that let go, in their sections, what the new config may have again.
    """
    first, change = _split(change, rules.first)
    let_go = _let_go(before, after, rules)
    for head, lines in freed.items():
        let_go[head] = lines | let_go.get(head, {})
    emptied, rest = _emptied(_without(change, let_go), before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after]
    last = [line for line in gone if _is_used(line, after, rules)]
    names = {line.split()[-1] for line in last}  # no `ip routing vrf MGMT` for the default of a VRF that goes
    soon = {_taken_back(line, rules): dict[str, Tree]() for line in reversed(gone) if line not in last}
    moves = {
        line: _section(below, before.get(line, {}), after.get(line, {}), rules)
        for line, below in rest.items()
        if line not in gone and not (f"no {line}" in before and line.split()[-1] in names)
    }
    for head, lines in freed.items():
        again: Tree = {line.removeprefix("no "): {} for line in lines if line.removeprefix("no ") in after.get(head, {})}
        if again:
            moves[head] = moves.pop(head, {}) | again
    late = {_taken_back(line, rules): dict[str, Tree]() for line in reversed(last)}
    parts = [list(trees.lines(part, rules.step)) for part in (first, let_go | emptied, soon, moves, late) if part]
    found: list[str] = []
    for part, following in pairwise([*parts, []]):
        for line in part:
            if rules.left and re.fullmatch(rules.left, line):
                found += _exits(found, rules)
            found.append(line)
        found += _exits(part if following else [], rules)
    return found


def _split(change: Tree, pattern: str) -> tuple[Tree, Tree]:
    """(what is taken back before all else, with its sections; the rest of the change)."""
    first: Tree = {}
    rest: Tree = {}
    for line, below in change.items():
        if pattern and re.fullmatch(f"no (?:{pattern})", line):
            first[line] = below
            continue
        inner, kept = _split(below, pattern)
        if inner:
            first[line] = inner
        if kept or not below:
            rest[line] = kept
    return first, rest


def _exits(lines: list[str], rules: Rules) -> list[str]:
    """What leaves the section that lines end in, where the next line might mean something else: `no vrf instance red`."""
    last = lines[-1] if lines else ""
    depth = (len(last) - len(last.lstrip())) // len(rules.step) - (last.strip() == "exit")
    return [f"{level * rules.step}exit" for level in range(depth, 0, -1)]


def _section(change: Tree, before: Tree, after: Tree, rules: Rules) -> Tree:
    """The lines of a section: what goes first, in the reverse of its order."""
    emptied, rest = _emptied(change, before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after and not rest[line]]
    kept = {
        line: _section(below, before.get(line, {}), after.get(line, {}), rules)
        for line, below in rest.items()
        if line not in gone
    }
    left = {head: below | {"exit": {}} for head, below in emptied.items()}
    return left | {_taken_back(line, rules): {} for line in reversed(gone)} | kept


def _taken_back(line: str, rules: Rules) -> str:
    for pattern, instead in rules.removal:
        line = re.sub(f"^{pattern}", instead, line)
    return line


def _is_used(line: str, after: Tree, rules: Rules) -> bool:
    """Whether a line takes back all of something that others refer to by its name."""
    match = re.match(rules.used, line.removeprefix("no ")) if rules.used else None
    return match is not None and not any(f"{other} ".startswith(f"{match[1]} ") for other in after)


def _emptied(change: Tree, before: Tree, rules: Rules) -> tuple[Tree, Tree]:
    """(sections that there is no `no` for, with a `no` for all that is in them; the rest of the change)."""
    heads = {line: line.removeprefix("no ") for line in change if line.startswith("no ") and rules.stays}
    found = {line: head for line, head in heads.items() if head in before and re.fullmatch(rules.stays, head)}
    emptied = {head: _section({_inverse(line): {} for line in before[head]}, {}, {}, rules) for head in found.values()}
    rest = {line: below for line, below in change.items() if line not in found}
    return emptied, rest


def _inverse(line: str) -> str:
    """What takes a line back."""
    return line.removeprefix("no ") if line.startswith("no ") else f"no {line}"


def _let_go(before: Tree, after: Tree, rules: Rules) -> Tree:
    """What one section gives and another takes: an address, a VNI, an entry of a list."""
    if not rules.owned:
        return {}
    takers = {what: path for path, what in _owned(after, rules)}
    first: Tree = {}
    for path, what in _owned(before, rules):
        section, line = path
        still = line in (after.get(section, {}) if section else after)
        goes_soon = section and section not in after and not _is_used(section, after, rules)
        if what in takers and takers[what] != path and not still and not goes_soon:
            (first.setdefault(section, {}) if section else first)[f"no {line}"] = {}
    return first


def _owned(tree: Tree, rules: Rules) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """((section, line), what it owns) of lines at the top and in sections of a config."""
    for head, below in tree.items():
        for section, line in (("", head), *((head, line) for line in below)):
            match = re.fullmatch(rules.owned, line)
            if match:
                yield (section, line), match.groups()


def _without(change: Tree, first: Tree) -> Tree:
    """The change without the commands that come first."""
    out: Tree = {}
    for line, below in change.items():
        kept = {inner: more for inner, more in below.items() if inner not in first.get(line, {})}
        if line not in first or kept:
            out[line] = kept
    return out
