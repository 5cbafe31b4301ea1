"""What is typed before the rest of a change, because a switch refuses the rest without it.

A switch refuses what is in use elsewhere and what cannot be overwritten. So these come first: sections that are reset as
a whole, lines that another section waits for, a section that has to rest, and the users of a section that cannot be
edited while it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import ip_interface

from fabric.audit.diff.trees import Tree
from fabric.nos.dialect import Rules

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
    gone = [head for head in before if head in after and any(_resets(head, before, after, *rule) for rule in rules.resets)]
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
    for pattern, head in rules.takes:
        matches = (re.fullmatch(pattern, line) for line in before if line not in after)
        for expected in [match.expand(head) for match in matches if match]:
            yield from (line for line in before if line in after and re.fullmatch(expected, line))


def first(before: Tree, after: Tree, rules: Rules) -> tuple[Tree, Tree, Tree]:
    """(what is typed first, what is typed again at its place though it does not change, what ends its section)."""
    out: Tree = {}
    again: Tree = {}
    last: Tree = {}
    for path, line in _resting(before, after, rules):
        _put(out, (*path, line))
        _put(last, (*path, f"no {line}"))
    for path in _users(before, after, rules):
        _put(out, (*path[:-1], f"no {path[-1]}"))
        if _in(after, path):
            _put(again, path)
    for path in _let_go(before, after, rules):
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


# --- let go -------------------------------------------------------------------------------------------------


def _let_go(before: Tree, after: Tree, rules: Rules) -> Iterator[StatementPath]:
    """What one section gives and another takes, an address, a VNI, an entry of a list."""
    if not rules.owned:
        return
    takers = _Takers((path for path in _paths(after) if not _in(before, path)), rules.owned)
    for path in _paths(before):
        if not _in(after, path) and _stays(path[:-1], after, rules) and takers.want(path, rules.owned):
            yield path


def _stays(sections: StatementPath, after: Tree, rules: Rules) -> bool:
    """Whether a section is there until the new lines are: it goes late, or not at all."""
    return not sections or _in(after, sections[:1]) or is_used(f"no {sections[0]}", after, rules)


def is_used(line: str, after: Tree, rules: Rules) -> bool:
    """Whether a line takes back all of something that others refer to by its name."""
    match = re.match(rules.used, line.removeprefix("no ")) if rules.used else None
    return match is not None and not any(f"{other} ".startswith(f"{match[1]} ") for other in after)


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


# --- rests and users -----------------------------------------------------------------------------------------


def _resting(before: Tree, after: Tree, rules: Rules) -> Iterator[tuple[StatementPath, str]]:
    """(section, line) of sections that must have a line while another line of theirs changes or goes."""
    for pattern, cause, line in rules.rests:
        for head, below in before.items():
            new = after.get(head, {})
            changes = any(re.match(cause, other) for other in below if other not in new)
            if changes and re.fullmatch(pattern, head) and f"no {line}" in below and f"no {line}" in new:
                yield (head,), line


def _users(before: Tree, after: Tree, rules: Rules) -> Iterator[StatementPath]:
    """Lines that stay or go late, and use a line that goes, or a section that changes, and cannot do so meanwhile."""
    for pattern, user, inside in rules.users:
        of_pattern = [path for path in _paths(before) if re.fullmatch(pattern, path[-1])]
        changed = [path for path in of_pattern if not _in(after, path) or (inside and _at(before, path) != _at(after, path))]
        for expected in {re.fullmatch(pattern, path[-1]).expand(user): None for path in changed}:  # type: ignore[union-attr]
            users = (path for path in _paths(before) if re.fullmatch(expected, path[-1]))
            yield from (path for path in users if _in(after, path) or is_used(f"no {path[0]}", after, rules))
