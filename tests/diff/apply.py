"""Devices as far as a change of config needs them: they take commands and end with another config."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fabric.diff.trees import Tree, indented
from fabric.nos.dialect import Rules
from fabric.nos.junos.diff import SINGLE

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
            assert not (rules.stays and re.fullmatch(rules.stays, line.removeprefix("no "))), f"no such command: {line}"
            _take(tree, gone)
            assert not _named(whole, gone, rules), f"in use: {line}"
        else:
            tree.pop(f"no {line}", None)
        key = rules.key(sections, line)
        for other in [other for other in tree if other != line and key and rules.key(sections, other) == key]:
            del tree[other]
        if sections and sections[0].startswith("interface ") and rules.causes and re.match(rules.causes, gone):
            for other in [other for other in tree if re.match(rules.forgets, other.removeprefix("no "))]:
                del tree[other]
        _type(tree.setdefault(line, {}), below, (*sections, line), rules, whole)
        assert not _twice(whole, line, rules), f"twice: {line}"


NAMED = re.compile(
    r".*?((?:vrf instance|vrf context|prefix-list|access-list|route-map|profile|-map type \S+(?: match-any)?) (\S+)).*"
)


def _named(tree: Tree, gone: str, rules: Rules) -> str:
    """A line that still refers to a VRF, a list or a policy that is gone."""
    match = NAMED.fullmatch(gone) if rules.used and re.match(rules.used, gone) else None
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
    match = re.fullmatch(rules.owned, line) if rules.owned else None
    every = [other for head, below in tree.items() for other in (head, *below)] if match else []
    found = [other for line in every if (other := re.fullmatch(rules.owned, line))]
    return sum(other.groups() == match.groups() for other in found if match) > 1


def _take(tree: Tree, gone: str) -> None:
    """What `no` takes: a line or all that begin so; with a neighbor or a group of them what its families hold of it."""
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
        if rules and rules.stays and line not in wanted and not kept[line] and re.fullmatch(rules.stays, line):
            del kept[line]  # a section that is empty
    return kept


def flat(tree: Tree, path: str = "") -> list[str]:
    """A Junos tree as `show | display set` has it, without the `set`."""
    out: list[str] = []
    for line, below in tree.items():
        out += flat(below, f"{path}{line} ") if below else [path + line]
    return out


def committed(running: Tree, commands: Iterable[str]) -> list[str]:
    """The lines of a Junos switch after `set`, `delete` and `insert`."""
    lines = flat(running)
    for command in commands:
        word, _, rest = command.partition(" ")
        if word == "delete":
            kept = [line for line in lines if line != rest and not line.startswith(f"{rest} ")]
            assert len(kept) < len(lines), f"nothing to delete: {command}"
            lines = kept
        elif word == "set":
            lines = [line for line in lines if line != rest and not _replaced(line, rest)]
            lines.append(rest)
        else:
            what, _, before = rest.partition(" before ")
            follower = f"{what.rpartition(' term ')[0]} {before}"
            moved = [line for line in lines if line.startswith(f"{what} ")]
            lines = [line for line in lines if line not in moved]
            at = next(at for at, line in enumerate(lines) if line.startswith(f"{follower} "))
            lines[at:at] = moved
    return lines


VALUE = re.compile(r'([^"]* ([\w-]+)) (?:"[^"]*"|[^"\s]+)')


def _replaced(line: str, by: str) -> bool:
    """Whether a statement of one value takes the place of another."""
    one, two = VALUE.fullmatch(line), VALUE.fullmatch(by)
    return bool(one and two and one[1] == two[1] and SINGLE.fullmatch(one[2]))


def terms(lines: Iterable[str]) -> dict[str, list[str]]:
    """Where terms stand → their order."""
    found: dict[str, list[str]] = {}
    for line in lines:
        path, word, rest = line.partition(" term ")
        name = rest.split(" ")[0]
        if word and name not in found.setdefault(path, []):
            found[path].append(name)
    return found


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


def nvue_set(tree: Mapping[str, Any], gone: Mapping[str, Any], fresh: Mapping[str, Any]) -> dict[str, Any]:
    """What NVUE holds after a patch: unset first, then set, which merges."""
    out = copy.deepcopy(dict(tree))
    _unset(out, gone)
    _merge(out, fresh)
    return out


def _unset(tree: dict[str, Any], gone: Mapping[str, Any]) -> None:
    for key, below in gone.items():
        if below:
            _unset(tree[key], below)
        else:
            del tree[key]


def _merge(tree: dict[str, Any], fresh: Mapping[str, Any]) -> None:
    for key, value in fresh.items():
        if isinstance(value, Mapping) and value and isinstance(tree.get(key), dict):
            _merge(tree[key], value)
        elif isinstance(value, list) and isinstance(tree.get(key), list):
            tree[key] = [*tree[key], *(item for item in value if item not in tree[key])]
        else:
            tree[key] = copy.deepcopy(value)
