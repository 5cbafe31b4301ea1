"""The commands that turn one config into another, by hier_config: what goes is taken back, what is new is set.

hier_config compares the trees with its rules of the network OS and ours (its dialect). What it leaves to a person is
done here and in `order.py`: an interface that changes its VRF loses its addresses, a neighbor goes with one line, and
nothing goes while other lines use it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from fabric.audit.diff import order
from fabric.audit.diff.order import Tree
from fabric.nos.dialect import MEMBER, Dialect, Effect, Rules
from fabric.nos.target import target

if TYPE_CHECKING:
    from hier_config import HConfig
    from hier_config.platforms.driver_base import HConfigDriverBase


# --- effects --------------------------------------------------------------------------------------------------
# What a command takes along on the device: `no neighbor FABRIC remote-as` of FRR deletes the neighbors of the group.
#
# A change that has such a command sets again what goes with it. Data of each network OS says what goes (`Effect`).


def completed(change: Tree, before: Tree, after: Tree, rules: Rules, heads: Sequence[str] = ()) -> Tree:
    """The change with all that its commands take along, in the order of `after` where a section lost lines."""
    section_effects = [effect for effect in rules.effects if effect.applies(heads)]
    commands, taken = _commands(change, before, section_effects)
    out = {line: below for line, below in commands.items() if line.startswith("no ") and line not in after}
    lost = _matching(after, taken)
    for line in [*after, *commands] if lost else commands:
        if line in out or not (line in commands or line in lost):
            continue
        below = _merged(after.get(line, {}), _without(commands.get(line, {}), taken), lost.get(line, {}))
        if commands.get(line) and not below and line in before:
            continue  # all that changes in it goes along
        out[line] = completed(below, before.get(line, {}), after.get(line, {}), rules, (*heads, line))
    return out


def _commands(change: Tree, before: Tree, effects: Sequence[Effect]) -> tuple[Tree, list[re.Pattern[str]]]:
    """The commands of a section, and patterns of the lines that go with them."""
    first: Tree = {}
    causes: list[tuple[str, re.Pattern[str]]] = []
    for line in change:
        for effect in effects:
            if effect.happens(line, before):
                command, takes = effect.of(line, before)
                causes.append((line, re.compile(takes)))
                first |= {command: {}} if command else {}
    gone: set[str] = set()
    for line in change:
        if _is_gone(line, [pattern for cause, pattern in causes if cause != line and cause not in gone]):
            gone.add(line)
    remaining = {line: below for line, below in change.items() if line not in gone}
    return first | remaining, [pattern for _, pattern in causes]


def _is_gone(line: str, taken: Sequence[re.Pattern[str]]) -> bool:
    """Whether a command takes back a line that is gone already."""
    return line.startswith("no ") and any(pattern.fullmatch(line.removeprefix("no ")) for pattern in taken)


def _without(commands: Tree, taken: Sequence[re.Pattern[str]]) -> Tree:
    """Without what takes back lines that are gone already."""
    return {line: below for line, below in commands.items() if not _is_gone(line, taken)}


def _matching(after: Tree, taken: Sequence[re.Pattern[str]]) -> Tree:
    """The lines of a section, and of those in it, that match a pattern."""
    if not taken:
        return {}
    found: Tree = {}
    for line, below in after.items():
        inner = _matching(below, taken)
        if inner or any(pattern.fullmatch(line) for pattern in taken):
            found[line] = inner
    return found


def _merged(after: Tree, change: Tree, lost: Tree) -> Tree:
    """The commands of a section with the lines that it lost, in the order of the new config."""
    if not lost:
        return change
    gone = {line: below for line, below in change.items() if line not in after}
    return gone | {
        line: _merged(after[line], change.get(line, {}), lost.get(line, {}))
        for line in after
        if line in change or line in lost
    }


def freed(change: Tree, before: Tree, rules: Rules) -> Tree:
    """Commands that let go what stands against others, in their sections; what the new config has of it is set again."""
    sections: Tree = {}
    for command, section, pattern in rules.released_first:
        for match in filter(None, (re.fullmatch(command, line) for line in change)):
            head = match.expand(section)
            lines = before.get(head, {}) if head else before
            commands: Tree = {f"no {line}": {} for line in lines if re.fullmatch(pattern, line)}
            if commands:
                sections |= {head: commands} if head else commands
    return sections


def warned(lines: Sequence[str], rules: Rules) -> list[str]:
    """Commands, with a comment before the first one whose effect no command undoes."""
    text = "\n".join(lines)
    comments: dict[int, list[str]] = {}
    for pattern, warning in rules.warnings:
        if match := re.search(pattern, text, re.MULTILINE):
            at = match.start("at") if "at" in match.groupdict() else match.start()
            comments.setdefault(text.count("\n", 0, at), []).append(warning)
    return [out for at, line in enumerate(lines) for out in (*(_comment(line, text) for text in comments.get(at, ())), line)]


def _comment(line: str, text: str) -> str:
    return f"{line[: len(line) - len(line.lstrip())]}! {text}"


# --- commands -------------------------------------------------------------------------------------------------

NEIGHBOR = re.compile(r"no (neighbor (?!interface )\S+) .*")  # EOS has all of `neighbor interface` in one line


def commands(nos: str, old: str, new: str) -> list[str]:
    """What a person types at a switch with `old` so that it has `new`, sections and all."""
    form = dialect(nos)
    rules = form.rules
    assert rules is not None
    before, after = (_without_version(order.indented(text, form.layout)) for text in (old, new))
    before = _in_force(_without_derived(before, after, rules), (), rules)
    before = _without_defaults(before, after, (), rules)
    resets, before = order.reset(order.inherited(before, after, rules), after, rules)
    change = _in_sequence(remedy(nos, *order.pruned(before, after)), before, after, rules)
    change = {line: _neighbors(below, after.get(line, {})) for line, below in change.items()}
    change = {line: _set_again(line, below, after.get(line, {}), rules) for line, below in change.items()}
    change = completed(change, before, after, rules)
    lines = [*resets, *order.in_order(change, before, after, rules, freed(change, before, rules))]
    return warned([_spelled(line, rules) for line in lines], rules)


def _in_sequence(change: Tree, before: Tree, after: Tree, rules: Rules) -> Tree:
    """The change, with lines of a sequence that stand at another place taken back and set again."""
    out = dict(change)
    for section, pattern in rules.sequences:
        for head in (head for head in after if head in before and re.fullmatch(section, head)):
            wanted = [line for line in after[head] if re.match(pattern, line)]
            kept = [line for line in before[head] if line in wanted]
            same = next((at for at, line in enumerate(kept) if wanted[at] != line), len(kept))
            if same == len(kept):
                continue  # new lines follow them
            lines: Tree = {line: below for line, below in out.get(head, {}).items() if line not in wanted}
            out[head] = lines | {f"no {line}": {} for line in kept[same:]} | {line: {} for line in wanted[same:]}
    return out


def _without_version(tree: Tree) -> Tree:
    """A config without the release that printed it, which is never typed."""
    return {line: below for line, below in tree.items() if not line.startswith("version ")}


def _in_force(tree: Tree, sections: tuple[str, ...], rules: Rules) -> Tree:
    """A config without lines that a later one of the section changes: a VLAN list before `… allowed vlan add 300`."""
    last = {key: line for line in tree if (key := rules.key(sections, line))}
    return {
        line: _in_force(below, (*sections, line), rules)
        for line, below in tree.items()
        if (key := rules.key(sections, line)) is None or last[key] == line
    }


def _without_defaults(before: Tree, after: Tree, sections: tuple[str, ...], rules: Rules) -> Tree:
    """A config without lines that say what is so anyway: taking back `no shutdown` of a loopback would shut it."""
    if not rules.implied:
        return before
    return {
        line: _without_defaults(below, after.get(line, {}), (*sections, line), rules)
        for line, below in before.items()
        if line in after or not re.fullmatch(rules.implied, " / ".join((*sections, line)))
    }


def _spelled(line: str, rules: Rules) -> str:
    words = line.lstrip()
    for pattern, typed in rules.typed_as:
        words = re.sub(f"^{pattern}$", typed, words)
    return line[: len(line) - len(line.lstrip())] + words


def _without_derived(before: Tree, after: Tree, rules: Rules, around: Tree | None = None) -> Tree:
    """The old config without lines that follow from others, which no command takes back."""
    if not rules.derived:
        return before
    members = {match[1] for line in around or {} if (match := MEMBER.fullmatch(line))}
    return {
        line: _without_derived(below, after.get(line, {}), rules, before)
        for line, below in before.items()
        if line in after or not (match := re.fullmatch(rules.derived, line)) or match[1] in members
    }


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

    words = dialect(nos)
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


# --- commands -----------------------------------------------------------------------------------------------


def _neighbors(change: Tree, after: Tree, section: str = "") -> Tree:
    """`no neighbor 10.0.0.1` for a neighbor that has no line left, in place of a `no` for each of its lines.

    Not in an address family: the neighbor is one of the section around it.
    """
    is_family = section.startswith("address-family ")
    addresses = set[str]() if is_family else {match[1] for line in change if (match := NEIGHBOR.fullmatch(line))}
    gone = {name for name in addresses if not any(line.startswith(f"{name} ") for line in after)}
    out: Tree = {}
    for line, below in change.items():
        match = NEIGHBOR.fullmatch(line)
        if match and match[1] in gone:
            group = next((line for line in change if line in (f"no {match[1]} peer group", f"no {match[1]} peer-group")), "")
            out[group or f"no {match[1]}"] = {}
            continue
        remaining = _neighbors(below, after.get(line, {}), line)
        if line.startswith("address-family "):  # went with the neighbor
            remaining = {inner: more for inner, more in remaining.items() if not _is_of(inner, gone)}
        if remaining or not below:
            out[line] = remaining
    return out


def _is_of(line: str, neighbors: set[str]) -> bool:
    """Whether a line of a family takes back something of neighbors that are no more."""
    match = NEIGHBOR.fullmatch(line)
    return match is not None and match[1] in neighbors


def _set_again(section: str, change: Tree, after: Tree, rules: Rules) -> Tree:
    """The lines of an interface that the device deletes when its VRF changes, in the order of the new config."""
    if not section.startswith("interface ") or not rules.drop_causes:
        return change
    if not any(re.match(rules.drop_causes, line.removeprefix("no ")) for line in change):
        return change
    gone = {line: below for line, below in change.items() if line not in after}
    again = {
        line: change.get(line, below)
        for line, below in after.items()
        if line in change or re.match(rules.dropped, line.removeprefix("no "))
    }
    return gone | again
