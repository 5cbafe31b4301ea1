"""The order of commands in which a device accepts every one of them.

First what `ahead.py` says: an address is removed before another port takes it. Then removals, then new and
changed lines in the order of the new config, definitions before their use. Last removals of definitions: a policy, a list,
a VRF, in the reverse order of their creation.
"""

from __future__ import annotations

import re
from itertools import pairwise

from fabric.audit.diff import prerequisites, trees
from fabric.audit.diff.trees import Tree
from fabric.nos.dialect import Rules


def in_order(change: Tree, before: Tree, after: Tree, rules: Rules, freed: Tree) -> list[str]:
    """The commands of a change from the tree `before` to the tree `after`; a section may be entered twice.

    `freed`: commands that let go, in their sections, what the new config may have again.
    """
    first, change = _split(change, rules.first)
    let_go, again, ends = prerequisites.first(before, after, rules)
    for head, lines in freed.items():
        let_go[head] = lines | let_go.get(head, {})
    emptied, rest = _emptied(_with(_without(change, let_go), again, after), before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after]
    last = [line for line in gone if prerequisites.is_used(line, after, rules)]
    names = {line.split()[-1] for line in last}  # no `ip routing vrf MGMT` for the default of a VRF that goes
    soon = {_taken_back(line, rules): dict[str, Tree]() for line in reversed(gone) if line not in last}
    moves = {
        line: _section(below, before.get(line, {}), after.get(line, {}), rules)
        for line, below in rest.items()
        if line not in gone and not (f"no {line}" in before and line.split()[-1] in names)
    }
    for head, lines in freed.items():
        still_there: Tree = {
            line.removeprefix("no "): {} for line in lines if line.removeprefix("no ") in after.get(head, {})
        }
        if still_there:
            moves[head] = moves.pop(head, {}) | still_there
    late = {_taken_back(line, rules): dict[str, Tree]() for line in reversed(last)}
    for head, lines in ends.items():
        moves[head] = {line: below for line, below in moves[head].items() if line not in lines} | lines
    news = [line for line in moves if line not in before and prerequisites.is_used(f"no {line}", {}, rules)]
    moves = {line: moves[line] for line in (*news, *moves)}
    first, let_go = _all_taken_back(first, rules), _all_taken_back(let_go, rules)
    parts = [list(trees.lines(part, rules.step)) for part in (first, let_go | emptied, soon, moves, late) if part]
    result: list[str] = []
    for part, following in pairwise([*parts, []]):
        for line in part:
            if rules.left and re.fullmatch(rules.left, line):
                result += _exits(result, rules)
            result.append(line)
        result += _exits(part if following else [], rules)
    return result


def _split(change: Tree, pattern: str) -> tuple[Tree, Tree]:
    """(what is taken back before all else, with its sections; the rest of the change)."""
    first: Tree = {}
    rest: Tree = {}
    for line, below in change.items():
        if pattern and re.fullmatch(f"no (?:{pattern})", line):
            first[line] = below
            continue
        inner, inner_rest = _split(below, pattern)
        if inner:
            first[line] = inner
        if inner_rest or not below:
            rest[line] = inner_rest
    return first, rest


def _all_taken_back(tree: Tree, rules: Rules) -> Tree:
    return {_taken_back(line, rules): _all_taken_back(below, rules) for line, below in tree.items()}


def _with(change: Tree, again: Tree, after: Tree) -> Tree:
    """The change with lines that are typed again, in the order of the new config, what goes first."""
    out = {line: _with(below, again.get(line, {}), after.get(line, {})) for line, below in change.items()}
    out |= {line: _with({}, below, after.get(line, {})) for line, below in again.items() if line not in out}
    if not again:
        return out
    places = {line: at for at, line in enumerate(after)}
    return dict(sorted(out.items(), key=lambda item: places.get(item[0], -1)))


def _exits(lines: list[str], rules: Rules) -> list[str]:
    """What leaves the section that lines end in, where the next line might mean something else: `no vrf instance red`."""
    last = lines[-1] if lines else ""
    depth = (len(last) - len(last.lstrip())) // len(rules.step) - (last.strip() == "exit")
    return [f"{level * rules.step}exit" for level in range(depth, 0, -1)]


def _section(change: Tree, before: Tree, after: Tree, rules: Rules) -> Tree:
    """The lines of a section: what goes first, in the reverse of its order."""
    emptied, rest = _emptied(change, before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after and not rest[line]]
    ordered = {
        line: _section(below, before.get(line, {}), after.get(line, {}), rules)
        for line, below in rest.items()
        if line not in gone
    }
    if last := [line for line in gone if prerequisites.is_used(line, after, rules)]:
        gone = [line for line in gone if line not in last]
        ordered = _closed(ordered) | {_taken_back(line, rules): {} for line in reversed(last)}
    left = {head: below | {"exit": {}} for head, below in emptied.items()}
    gone.sort(key=lambda line: not (rules.causes and re.match(rules.causes, line.removeprefix("no "))))  # takes others along
    return left | {_taken_back(line, rules): {} for line in reversed(gone)} | ordered


def _closed(section: Tree) -> Tree:
    """The lines of a section with an `exit` from each section that the last line is in."""
    *others, last = section or [""]
    below = section.get(last)
    return {line: section[line] for line in others} | {last: _closed(below) | {"exit": {}}} if below else section


def _taken_back(line: str, rules: Rules) -> str:
    for pattern, instead in rules.removal:
        line = re.sub(f"^{pattern}", instead, line)
    return line


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


def _without(change: Tree, first: Tree) -> Tree:
    """The change without the commands that come first."""
    out: Tree = {}
    for line, below in change.items():
        kept = _without(below, first.get(line, {}))
        if line not in first or kept:
            out[line] = kept
    return out
