"""Devices as far as a change of config needs them: they take commands and end with another config."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fabric.audit.diff.order import Tree, indented
from fabric.nos.dialect import MEMBER, Rules

REMOVED = re.compile(r"default (interface .*)")


def typed(running: str, commands: Iterable[str], rules: Rules) -> Tree:
    """The config of a switch after commands were typed at it, one after the other."""
    tree = copy.deepcopy(indented(running))
    for change in _blocks(commands):
        _type(tree, indented(change), (), rules, tree)
    return tree


def _blocks(commands: Iterable[str]) -> list[str]:
    """Commands with what is typed under them; all lines of a banner."""
    blocks: list[list[str]] = []
    banner = False
    for line in commands:
        if line.startswith(" ") or banner:
            blocks[-1].append(line)
        else:
            blocks.append([line])
        banner = line.startswith(("banner login", "banner motd")) if not banner else line != "EOF"
    return ["\n".join(block) for block in blocks]


def _type(tree: Tree, change: Tree, sections: tuple[str, ...], rules: Rules, whole: Tree) -> None:
    for line, below in change.items():
        gone = REMOVED.sub(r"no \1", line).removeprefix("no ")
        if gone != line:
            assert not (rules.permanent and re.fullmatch(rules.permanent, line.removeprefix("no "))), (
                f"no such command: {line}"
            )
            _take(tree, gone)
            assert not _named(whole, gone, rules), f"in use: {line}"
        else:
            tree.pop(f"no {line}", None)
        key = rules.key(sections, line)
        for other in [other for other in tree if other != line and key and rules.key(sections, other) == key]:
            del tree[other]
        if sections and sections[0].startswith("interface ") and rules.drop_causes and re.match(rules.drop_causes, gone):
            for other in [other for other in tree if re.match(rules.dropped, other.removeprefix("no "))]:
                del tree[other]
        _type(tree.setdefault(line, {}), below, (*sections, line), rules, whole)
        assert not _twice(whole, line, rules), f"twice: {line}"


NAMED = re.compile(
    r".*?((?:vrf instance|vrf context|prefix-list|access-list|route-map|profile|-map type \S+(?: match-any)?) (\S+)).*"
)


def _named(tree: Tree, gone: str, rules: Rules) -> str:
    """A line that still refers to a VRF, a list or a policy that is gone."""
    match = NAMED.fullmatch(gone) if rules.definitions and re.match(rules.definitions, gone) else None
    if not match or any(f"{match[1]} " in f"{line} " for line in tree):  # for IPv4, for IPv6
        return ""
    lines = (line for line in _lines(tree) if not line.startswith(("description ", "no ")))
    return next((line for line in lines if match[2] in line.split()), "")


def _lines(tree: Tree) -> Iterator[str]:
    for line, below in tree.items():
        yield line
        yield from _lines(below)


def _twice(tree: Tree, line: str, rules: Rules) -> bool:
    """Whether what a switch has once only is in two places."""
    match = re.fullmatch(rules.exclusive, line) if rules.exclusive else None
    every = [other for head, below in tree.items() for other in (head, *below)] if match else []
    found = [other for line in every if (other := re.fullmatch(rules.exclusive, line))]
    return sum(other.groups() == match.groups() for other in found if match) > 1


def _take(tree: Tree, gone: str) -> None:
    """What `no` takes: a line or all that begin so; with a neighbor or a group of them what its families hold of it.

    The members of a group go with it: bgpd/bgpd.c of FRR, peer_group_delete.
    """
    if group := re.fullmatch(r"neighbor (\S+) peer-group", gone):
        members = [match[1] for line in tree if (match := MEMBER.fullmatch(line)) and match[2] == group[1]]
        for member in members:
            _take(tree, f"neighbor {member}")
    gone = re.sub(r"(neighbor (?!interface )\S+) peer[ -]group", r"\1", gone)
    for other in [other for other in tree if other == gone or other.startswith(f"{gone} ")]:
        del tree[other]
    if re.fullmatch(r"neighbor \S+", gone):
        for line, below in tree.items():
            if line.startswith("address-family "):
                _take(below, gone)


def left(tree: Tree, wanted: Tree, running: Tree, rules: Rules | None = None) -> Tree:
    """The tree without lines that a switch need not show: what is not set, and defaults that a `no` was taken off."""
    kept: Tree = {}
    for line, below in tree.items():
        if line not in wanted and (re.match("no |default ", line) or f"no {line}" in running):
            continue
        kept[line] = left(below, wanted.get(line, {}), running.get(line, {}), rules)
        if rules and rules.permanent and line not in wanted and not kept[line] and re.fullmatch(rules.permanent, line):
            del kept[line]  # a section that is empty
    return kept


def patched(document: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """RFC 6902: `add`, `remove` and `replace`, each on something that is, or is not, there."""
    whole = {"": copy.deepcopy(document)}
    for operation in operations:
        node: Any = whole
        *path, last = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")]
        for step in path:
            node = node[step]
        assert (last in node) == (operation["op"] != "add"), operation
        if operation["op"] == "remove":
            del node[last]
        else:
            node[last] = operation["value"]
    return whole[""]
