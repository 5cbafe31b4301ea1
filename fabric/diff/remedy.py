"""The commands that turn one config into another, by hier_config: what goes is taken back, what is new is set.

hier_config compares the trees with its rules of the network OS and ours (its dialect). What it leaves to a person is
done here and in `order.py`: an interface that changes its VRF loses its addresses, a neighbor goes with one line, and
nothing goes while other lines use it.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fabric.diff import ahead, order, trees
from fabric.diff.trees import Tree
from fabric.nos.dialect import Dialect, Rules, Statements
from fabric.nos.target import target

if TYPE_CHECKING:
    from hier_config import HConfig
    from hier_config.platforms.driver_base import HConfigDriverBase

Path = tuple[str, ...]

NEIGHBOR = re.compile(r"no (neighbor (?!interface )\S+) .*")  # EOS has all of `neighbor interface` in one line


def commands(nos: str, old: str, new: str) -> list[str]:
    """What a person types at a switch with `old` so that it has `new`, sections and all."""
    rules = dialect(nos).rules
    assert rules is not None
    before, after = trees.indented(old), trees.indented(new)
    before = _in_force(before, (), rules)
    resets, before = ahead.reset(before, after, rules)
    change = remedy(nos, *trees.pruned(before, after))
    change = {line: _neighbors(below, after.get(line, {})) for line, below in change.items()}
    change = {line: _set_again(line, below, after.get(line, {}), rules) for line, below in change.items()}
    return [_spelled(line, rules) for line in (*resets, *order.in_order(change, before, after, rules))]


def _in_force(tree: Tree, sections: Path, rules: Rules) -> Tree:
    """A config without lines that a later one of the section changes: a VLAN list before `… allowed vlan add 300`."""
    last = {key: line for line in tree if (key := rules.key(sections, line))}
    return {
        line: _in_force(below, (*sections, line), rules)
        for line, below in tree.items()
        if (key := rules.key(sections, line)) is None or last[key] == line
    }


def _spelled(line: str, rules: Rules) -> str:
    words = line.lstrip()
    for pattern, typed in rules.spelled:
        words = re.sub(f"^{pattern}$", typed, words)
    return line[: len(line) - len(line.lstrip())] + words


def statements(nos: str, old: str, new: str) -> list[str]:
    """`delete` and `set` lines between two configs in braces, and `insert` where the order of terms matters."""
    before, after = trees.curly(old), trees.curly(new)
    change, known = remedy(nos, *trees.pruned(before, after)), dialect(nos).statements
    assert known is not None
    return [*_deletes(change, before, (), known), *_sets(change, ()), *_inserts(before, after, ())]


def dialect(nos: str) -> Dialect:
    """How changes of a network OS are written; of one that does not say, everything is shown as a patch."""
    found = target(nos).dialect
    return Dialect({}) if found is None else found.get()


def remedy(nos: str, before: Tree, after: Tree) -> Tree:
    """The change as a tree; what goes begins with the network OS's word for it."""
    driver = _driver(nos)
    return _tree(_load(driver, before).config_to_get_to(_load(driver, after)))


def _load(driver: HConfigDriverBase, tree: Tree) -> HConfig:
    from hier_config import get_hconfig

    config = get_hconfig(driver)
    _add(config, tree)
    return config


def _add(section: Any, tree: Tree) -> None:
    for line, below in tree.items():
        _add(section.add_child(line), below)


def _tree(section: Any) -> Tree:
    return {child.text: _tree(child) for child in sorted(section.children)}


@cache
def _driver(nos: str) -> HConfigDriverBase:
    """hier_config's own driver with our rules before its own."""
    from hier_config import Platform, get_hconfig_driver
    from hier_config.platforms.generic.driver import HConfigDriverGeneric

    words = dialect(nos)
    if words.statements is not None:
        return _braces(HConfigDriverGeneric, words.statements)
    assert words.rules is not None
    return _ruled(type(get_hconfig_driver(Platform[words.platform])), words.rules)


def _ruled(base: type[HConfigDriverBase], rules: Rules) -> HConfigDriverBase:
    """A driver that asks our rules first."""

    class Ruled(base):  # type: ignore[misc, valid-type]
        def idempotent_for(self, config: Any, other_children: Any) -> Any:
            key = _key(rules, config)
            if key is None:
                return super().idempotent_for(config, other_children)
            return next((other for other in other_children if _key(rules, other) == key), None)

    return Ruled()


def _key(rules: Rules, child: Any) -> Any:
    *sections, line = child.path()
    return rules.key(sections, line)


def _braces(base: type[HConfigDriverBase], known: Statements) -> HConfigDriverBase:
    """A config in braces: hier_config's own driver knows set lines only, and those leave empty containers behind."""

    class Braces(base):  # type: ignore[misc, valid-type]
        negation_prefix = "delete "

        def idempotent_for(self, config: Any, other_children: Any) -> Any:
            key = known.single_of(config.text)
            return next((other for other in other_children if key and known.single_of(other.text) == key), None)

    return Braces()


# --- commands -----------------------------------------------------------------------------------------------


def _neighbors(change: Tree, after: Tree) -> Tree:
    """`no neighbor 10.0.0.1` for a neighbor that has no line left, in place of a `no` for each of its lines."""
    addresses = {match[1] for line in change if (match := NEIGHBOR.fullmatch(line))}  # `neighbor` and an address
    gone = {name for name in addresses if not any(line.startswith(f"{name} ") for line in after)}
    out: Tree = {}
    for line, below in change.items():
        match = NEIGHBOR.fullmatch(line)
        if match and match[1] in gone:
            group = next((line for line in change if line in (f"no {match[1]} peer group", f"no {match[1]} peer-group")), "")
            out[group or f"no {match[1]}"] = {}
            continue
        if line.startswith("address-family "):  # its lines went with the neighbor; `no neighbor` there would take all of it
            kept = {inner: more for inner, more in below.items() if not ((of := NEIGHBOR.fullmatch(inner)) and of[1] in gone)}
        else:
            kept = _neighbors(below, after.get(line, {}))
        if kept or not below:
            out[line] = kept
    return out


def _set_again(section: str, change: Tree, after: Tree, rules: Rules) -> Tree:
    """The lines of an interface that the device deletes when its VRF changes, in the order of the new config."""
    if not section.startswith("interface ") or not rules.causes:
        return change
    if not any(re.match(rules.causes, line.removeprefix("no ")) for line in change):
        return change
    gone = {line: below for line, below in change.items() if line not in after}
    again = {
        line: change.get(line, below)
        for line, below in after.items()
        if line in change or re.match(rules.forgets, line.removeprefix("no "))
    }
    return gone | again


# --- `set` and `delete` --------------------------------------------------------------------------------------------------


def _deletes(change: Tree, before: Tree, path: Path, known: Statements) -> list[str]:
    out = []
    for line, below in change.items():
        gone = line.removeprefix("delete ")
        if gone != line and before.get(gone) and not path:  # never `delete protocols` whole
            out += [f"delete {gone} {_named(inner, before[gone], known)}" for inner in before[gone]]
        elif gone != line:
            out.append(" ".join(("delete", *path, _named(gone, before, known))))
        elif below:
            out += _deletes(below, before.get(line, {}), (*path, line), known)
    return out


def _named(statement: str, siblings: Tree, known: Statements) -> str:
    """What is written behind `delete`: the whole statement where less would take others along."""
    key = known.key(statement)
    alike = sum(other == key or other.startswith(f"{key} ") for other in siblings)
    return key if not siblings.get(statement) and alike == 1 else statement


def _sets(change: Tree, path: Path) -> list[str]:
    out = []
    for line, below in change.items():
        if line.startswith("delete "):
            continue
        out += _sets(below, (*path, line)) if below else [" ".join(("set", *path, line))]
    return out


def _inserts(before: Tree, after: Tree, path: Path) -> list[str]:
    """A new term goes to the end; where others follow it in the new config it is moved before them."""
    out = []
    for line, below in after.items():
        if below and before.get(line) != below:
            out += _inserts(before.get(line, {}), below, (*path, line))
    terms = [line for line in after if line.startswith("term ")]
    kept = [line for line in before if line in terms]
    if kept and [*kept, *(line for line in terms if line not in before)] != terms:
        for line, follower in reversed(list(pairwise(terms))):
            out.append(" ".join(("insert", *path, line, "before", follower)))
    return out
