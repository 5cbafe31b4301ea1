"""The order of commands in which a device accepts every one of them.

First the prerequisites below: an address is removed before another port takes it. Then removals, then new and
changed lines in the order of the new config, definitions before their use. Last removals of definitions: a policy, a list,
a VRF, in the reverse order of their creation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_interface
from itertools import pairwise

from fabric.nos.dialect import Rules
from fabric.nos.reading.sections import ANY, Layout, paths

# --- config text as a tree ------------------------------------------------------------------------------------

Tree = dict[str, "Tree"]


def indented(text: str, layout: Layout = ANY) -> Tree:
    """The tree of a config that shows its sections by indentation: EOS, NX-OS, FRR. A section written twice is one."""
    open_sections: list[Tree] = [{}]
    for path, _ in paths(text, layout):
        del open_sections[len(path) :]
        open_sections.append(open_sections[-1].setdefault(path[-1], {}))
    return open_sections[0]


def pruned(old: Tree, new: Tree) -> tuple[Tree, Tree]:
    """Both trees without what they have in common: lines that are alike with all that is under them."""
    left: Tree = {}
    right: Tree = {}
    for line, below in old.items():
        if line not in new:
            left[line] = below
        elif below != new[line]:
            left[line], right[line] = pruned(below, new[line])
    return left, {line: right.get(line, below) for line, below in new.items() if line in right or line not in old}


def config_lines(tree: Tree, step: str = "  ", margin: str = "") -> Iterator[str]:
    """The tree as indented text."""
    for line, below in tree.items():
        yield from (margin + part if at == 0 else part for at, part in enumerate(line.split("\n")))
        yield from config_lines(below, step, margin + step)


# --- prerequisites --------------------------------------------------------------------------------------------
# What is typed before the rest of a change, because a switch refuses the rest without it.
#
# A switch refuses what is in use elsewhere and what cannot be overwritten. So these come first: sections that are reset as a
# whole, lines that another section waits for, a section that has to rest, and the users of a section that cannot be edited
# while it is used.

StatementPath = tuple[str, ...]


def inherited(before: Tree, after: Tree, rules: Rules) -> Tree:
    """The old config with what sections take over from another one that changes: the VLANs of a bond reach its ports."""
    out = dict(before)
    for member, source, lines in rules.inherits:
        for head, below in before.items():
            match = next(
                (matched for line in below if line in after.get(head, {}) and (matched := re.fullmatch(member, line))), None
            )
            if match and (above := match.expand(source)) in before and above in after:
                out[head] = _taken_over(below, after[head], before[above], after[above], lines)
    return out


def _taken_over(below: Tree, new: Tree, source_below: Tree, source_new: Tree, lines: str) -> Tree:
    """The lines of a section after a change of its source, where all that differs in them differs there too."""
    gone = [line for line in below if line not in new and re.match(lines, line)]
    come = [line for line in new if line not in below and re.match(lines, line)]
    follows = all(line in source_below and line not in source_new for line in gone)
    follows = follows and all(line in source_new and line not in source_below for line in come)
    return (
        {line: tree for line, tree in below.items() if line not in gone} | {line: {} for line in come} if follows else below
    )


def reset(before: Tree, after: Tree, rules: Rules) -> tuple[list[str], Tree]:
    """(commands that set sections back to their defaults, what is left of the config).

    A section goes back to its defaults where a line of it changes that takes others along, and without a command where
    another line takes it along: the ports of a breakout.
    """
    gone = [head for head in before if head in after and any(_resets(head, before, after, *rule) for rule in rules.defaulted)]
    parts = [line for line in before if any(line.startswith(f"{head}.") for head in gone)]  # subinterfaces go along
    taken = list(_dropped(before, after, rules))
    left = {line: {} if line in gone or line in taken else below for line, below in before.items() if line not in parts}
    return [*(f"no {line}" for line in parts), *(f"default {head}" for head in gone if head not in taken)], left


def _resets(head: str, before: Tree, after: Tree, pattern: str, cause: str, given: str) -> bool:
    if not re.fullmatch(pattern, head) or before[head] == after[head]:
        return False
    differ = before[head].keys() ^ after[head].keys()
    return any(re.match(cause, line) for line in differ) and any(re.match(given, line) for line in before[head])


def _dropped(before: Tree, after: Tree, rules: Rules) -> Iterator[str]:
    """Sections that are in both configs, and go with a line that is not."""
    for pattern, head in rules.cascades:
        matches = (re.fullmatch(pattern, line) for line in before if line not in after)
        for expected in [match.expand(head) for match in matches if match]:
            yield from (line for line in before if line in after and re.fullmatch(expected, line))


def prerequisites(before: Tree, after: Tree, rules: Rules) -> tuple[Tree, Tree, Tree]:
    """(what is typed first, what is typed again at its place though it does not change, what ends its section)."""
    out: Tree = {}
    again: Tree = {}
    last: Tree = {}
    for path, line in _interim(before, after, rules):
        _put(out, (*path, line))
        _put(last, (*path, f"no {line}"))
    for path in _dependents(before, after, rules):
        _put(out, (*path[:-1], f"no {path[-1]}"))
        if _in(after, path):
            _put(again, path)
    for path in _released(before, after, rules):
        _put(out, (*path[:-1], f"no {path[-1]}"))
    return out, again, last


def _put(tree: Tree, path: StatementPath) -> None:
    for line in path:
        tree = tree.setdefault(line, {})


def _paths(tree: Tree, above: StatementPath = ()) -> Iterator[StatementPath]:
    for line, below in tree.items():
        yield (*above, line)
        yield from _paths(below, (*above, line))


def _at(tree: Tree, path: StatementPath) -> Tree | None:
    """What is under a line, None where it is not there."""
    for line in path:
        if line not in tree:
            return None
        tree = tree[line]
    return tree


def _in(tree: Tree, path: StatementPath) -> bool:
    return _at(tree, path) is not None


# --- values that move to another section ----------------------------------------------------------------------


def _released(before: Tree, after: Tree, rules: Rules) -> Iterator[StatementPath]:
    """What one section gives and another takes, an address, a VNI, an entry of a list."""
    if not rules.exclusive:
        return
    takers = _Takers((path for path in _paths(after) if not _in(before, path)), rules.exclusive)
    for path in _paths(before):
        if _in(after, path) or not _stays(path[:-1], after, rules) or not takers.want(path, rules.exclusive):
            continue
        if not _gives_way(path, after, rules):
            yield path


def _gives_way(path: StatementPath, after: Tree, rules: Rules) -> bool:
    """Whether another value is written over an entry of a list before a later entry takes its value: none goes meanwhile."""
    key, value = rules.key((), path[-1]), re.fullmatch(rules.exclusive, path[-1])
    if len(path) > 1 or not key or not value or not (rules.definitions and re.match(rules.definitions, path[-1])):
        return False
    for line in after:
        if rules.key((), line) == key:
            return True
        taken = re.fullmatch(rules.exclusive, line)
        if taken and taken.groups() == value.groups():
            return False
    return False


def _stays(sections: StatementPath, after: Tree, rules: Rules) -> bool:
    """Whether a section is there until the new lines are: it goes late, or not at all."""
    return not sections or _in(after, sections[:1]) or removes_definition(f"no {sections[0]}", after, rules)


def removes_definition(line: str, after: Tree, rules: Rules) -> bool:
    """Whether a line takes back all of something that others refer to by its name."""
    match = re.match(rules.definitions, line.removeprefix("no ")) if rules.definitions else None
    return match is not None and not any(f"{other} ".startswith(f"{match[1]} ") for other in after)


def _empties(line: str, before: Tree, after: Tree, rules: Rules) -> bool:
    """Whether a list would have no entry until the new ones are there, which may stand beside the old ones till then."""
    gone = line.removeprefix("no ")
    match = re.match(rules.definitions, gone) if rules.definitions else None
    if match is None:
        return False
    entries = [other for other in after if f"{other} ".startswith(f"{match[1]} ")]
    number = _number(gone, match[1])
    if not number or any(other in before or _number(other, match[1]) == number for other in entries):
        return False
    value = re.fullmatch(rules.exclusive, gone) if rules.exclusive else None
    taken = (re.fullmatch(rules.exclusive, other) for other in entries) if value else ()
    return bool(entries) and not any(other and value and other.groups() == value.groups() for other in taken)


def _number(line: str, name: str) -> str:
    """The number of an entry of a list, behind a word: `seq 10`, `permit 10`; "" of what is no list."""
    _, *words = line[len(name) :].split() or [""]
    return next((word for word in words if word.isdigit()), "")


class _Takers:
    """What new lines own: values that must be free, and subnets that must not overlap."""

    def __init__(self, paths: Iterable[StatementPath], pattern: str) -> None:
        self.values: dict[StatementPath, StatementPath] = {}
        self.subnets: dict[tuple[int, int, int], StatementPath] = {}  # of every size around the new ones
        self.exact: dict[tuple[int, int, int], StatementPath] = {}
        for path in paths:
            if match := re.fullmatch(pattern, path[-1]):
                self.values[match.groups()] = path
                for subnet in _around(match.groups()):
                    self.exact.setdefault(subnet, path)
                    self.subnets |= dict.fromkeys(_around(match.groups(), all_sizes=True), path)

    def want(self, path: StatementPath, pattern: str) -> bool:
        """Whether another line takes what a line owns."""
        match = re.fullmatch(pattern, path[-1])
        if match is None:
            return False
        found = [self.values.get(match.groups())]
        found += [self.subnets.get(subnet) for subnet in _around(match.groups())]
        found += [self.exact.get(subnet) for subnet in _around(match.groups(), all_sizes=True)]
        return any(taker is not None and taker != path for taker in found)


def _around(values: Iterable[str | None], *, all_sizes: bool = False) -> Iterator[tuple[int, int, int]]:
    """(version, length, bits) of the subnets of addresses; `all_sizes`: of those around them too."""
    for value in values:
        if value is None or not re.fullmatch(r"[0-9a-f:.]+/\d+", value):
            continue
        try:
            network = ip_interface(value).network
        except ValueError:  # no address that a switch could have
            continue
        bits = int(network.network_address)
        for length in range(0 if all_sizes else network.prefixlen, network.prefixlen + 1):
            yield network.version, length, bits >> (network.max_prefixlen - length)


# --- interim lines and dependents ------------------------------------------------------------------------------


def _interim(before: Tree, after: Tree, rules: Rules) -> Iterator[tuple[StatementPath, str]]:
    """(section, line) of sections that must have a line while another line of theirs changes or goes."""
    for pattern, cause, line in rules.interim:
        for head, below in before.items():
            new = after.get(head, {})
            changes = any(re.match(cause, other) for other in below if other not in new)
            if changes and re.fullmatch(pattern, head) and f"no {line}" in below and f"no {line}" in new:
                yield (head,), line


def _dependents(before: Tree, after: Tree, rules: Rules) -> Iterator[StatementPath]:
    """Lines that stay or go late, and use a line that goes, or a section that changes, and cannot do so meanwhile."""
    for pattern, user, inside in rules.dependents:
        of_pattern = [path for path in _paths(before) if re.fullmatch(pattern, path[-1])]
        changed = [path for path in of_pattern if not _in(after, path) or (inside and _at(before, path) != _at(after, path))]
        for expected in {re.fullmatch(pattern, path[-1]).expand(user): None for path in changed}:  # type: ignore[union-attr]
            users = (path for path in _paths(before) if re.fullmatch(expected, path[-1]))
            yield from (path for path in users if _in(after, path) or removes_definition(f"no {path[0]}", after, rules))


# --- removals, changes, definitions ---------------------------------------------------------------------------


def in_order(change: Tree, before: Tree, after: Tree, rules: Rules, freed: Tree) -> list[str]:
    """The commands of a change from the tree `before` to the tree `after`; a section may be entered twice.

    `freed`: commands that let go, in their sections, what the new config may have again.
    """
    first, change = _split(change, rules.removed_first)
    let_go, again, ends = prerequisites(before, after, rules)
    for head, lines in freed.items():
        let_go[head] = lines | let_go.get(head, {})
    emptied, rest = _emptied(_with(_without(change, let_go), again, after), before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after]
    last = [line for line in gone if removes_definition(line, after, rules)]
    names = {line.split()[-1] for line in last}  # no `ip routing vrf MGMT` for the default of a VRF that goes
    after_new = [line for line in gone if line not in last and _empties(line, before, after, rules)]
    soon = {_taken_back(line, rules): dict[str, Tree]() for line in reversed(gone) if line not in (*last, *after_new)}
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
    late = {_taken_back(line, rules): dict[str, Tree]() for line in (*after_new, *reversed(_used_first(last, rules)))}
    for head, lines in ends.items():
        moves[head] = {line: below for line, below in moves[head].items() if line not in lines} | lines
    news = [line for line in moves if line not in before and removes_definition(f"no {line}", {}, rules)]
    moves = {line: moves[line] for line in (*_used_first(news, rules), *moves)}
    first, let_go = _all_taken_back(first, rules), _all_taken_back(let_go, rules)
    parts = [list(config_lines(part, rules.indent)) for part in (first, let_go | emptied, soon, moves, late) if part]
    result: list[str] = []
    for part, following in pairwise([*parts, []]):
        for line in part:
            if rules.top_only and re.fullmatch(rules.top_only, line):
                result += _exits(result, rules)
            result.append(line)
        result += _exits(part if following else [], rules)
    return result


def _used_first(lines: Sequence[str], rules: Rules) -> list[str]:
    """Definitions in their order, but each behind those whose name it has: a server in a VRF behind the VRF."""
    names = {line: re.match(rules.definitions, line.removeprefix("no "))[1].split()[-1] for line in lines}  # type: ignore[index]
    found: dict[str, None] = {}

    def add(line: str, above: tuple[str, ...]) -> None:
        words = line.split()[1:]
        for other in lines:
            if other not in (line, *above, *found) and names[other] != names[line] and names[other] in words:
                add(other, (*above, line))
        found[line] = None

    for line in lines:
        add(line, ())
    return list(found)


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
    depth = (len(last) - len(last.lstrip())) // len(rules.indent) - (last.strip() == "exit")
    return [f"{level * rules.indent}exit" for level in range(depth, 0, -1)]


def _section(change: Tree, before: Tree, after: Tree, rules: Rules) -> Tree:
    """The lines of a section: what goes first, in the reverse of its order."""
    emptied, rest = _emptied(change, before, rules)
    gone = [line for line in rest if line.startswith("no ") and line not in after and not rest[line]]
    ordered = {
        line: _section(below, before.get(line, {}), after.get(line, {}), rules)
        for line, below in rest.items()
        if line not in gone
    }
    if last := [line for line in gone if removes_definition(line, after, rules)]:
        gone = [line for line in gone if line not in last]
        ordered = _closed(ordered) | {_taken_back(line, rules): {} for line in reversed(last)}
    left = {head: below | {"exit": {}} for head, below in emptied.items()}
    causes = {line for line in gone if rules.drop_causes and re.match(rules.drop_causes, line.removeprefix("no "))}
    gone.sort(key=lambda line: line not in causes)  # they remove other lines
    return left | {_taken_back(line, rules): {} for line in reversed(gone)} | ordered


def _closed(section: Tree) -> Tree:
    """The lines of a section with an `exit` from each section that the last line is in."""
    *others, last = section or [""]
    below = section.get(last)
    return {line: section[line] for line in others} | {last: _closed(below) | {"exit": {}}} if below else section


def _taken_back(line: str, rules: Rules) -> str:
    for pattern, instead in rules.inverses:
        line = re.sub(f"^{pattern}", instead, line)
    return line


def _emptied(change: Tree, before: Tree, rules: Rules) -> tuple[Tree, Tree]:
    """(sections that there is no `no` for, with a `no` for all that is in them; the rest of the change)."""
    heads = {line: line.removeprefix("no ") for line in change if line.startswith("no ") and rules.permanent}
    found = {line: head for line, head in heads.items() if head in before and re.fullmatch(rules.permanent, head)}
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
