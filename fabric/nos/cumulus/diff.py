"""Changes of an NVUE file: files of `nv config patch`, what is unset and then what is set.

A patch is one request to NVUE: "Ordering of parameters within a patch is not guaranteed; NVUE does not support both unset and
set commands for the same object in a single patch" (Cumulus Linux 5.16 User Guide, NVUE CLI, "Replace and Patch a Pending
Configuration"). So what is unset and what is set are files of their own. What is unset ends in a key without a value, as
`nv config diff` prints it. A cage whose breakout changes has its ports unset, and that applied, before anything else (the
same guide, Switch Port Attributes, "Remove a Breakout Port").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import yaml

from fabric.nos.cumulus.read.commands import is_commands
from fabric.nos.cumulus.read.tree import ROOTS, names_of, read_tree
from fabric.nos.cumulus.write.tree import merged
from fabric.nos.cumulus.write.yaml import dump
from fabric.nos.dialect import Dialect, Patch, same
from fabric.nos.reading import Branch

PATCH, APPLY = "nv config patch", "nv config apply"
OBJECT_DEPTH = 2  # keys down to the name of an object: `interface swp1`

ALIAS = re.compile(r"\*\w")
TYPES = ("timestamp", "binary", "set", "omap", "pairs")  # of YAML, that no value of NVUE has


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without the words, dates and numbers of YAML 1.1: `on` and `44:38:39:00:00:01` are text, as NVUE means them, and
    so is what other tags name.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


def _plain(loader: Any, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node)
    return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else node.value


for _type in TYPES:
    _Loader.add_constructor(f"tag:yaml.org,2002:{_type}", _plain)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"(?:0|[1-9][0-9]*)\Z"), list("0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|)\Z"), ["~", "n", ""])


def nvue_lines(old: str, new: str) -> list[str]:
    """The files of `nv config patch` between two startup.yaml."""
    return nvue_changes(nvue_tree(old), nvue_tree(new))


def nvue_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The same between what two files set: a comment before each file says what to run, where there are several."""
    ports = frozenset(_split_ports(old, new))
    between = _without(old, ports) if ports else old
    (first, _), (gone, fresh) = nvue_patch(old, between), nvue_patch(between, new)
    files = [("unset", first, f"{PATCH}, {APPLY}"), ("unset", gone, PATCH), ("set", fresh, PATCH)]
    files = [file for file in files if file[1]]
    out = []
    for number, (word, tree, command) in enumerate(files, 1):
        if len(files) > 1:
            last = f", {APPLY}" if number == len(files) else ""
            out.append(f"# file {number} of {len(files)}: {command}{last}")
        out += [f"- {word}:", *dump(tree, 2).splitlines()]
    return out


def _split_ports(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    """Ports of cages whose breakout is another, and their subinterfaces."""
    ports = old.get("interface") or {}
    for cage in ports:
        breakout, after = (_breakout(side, cage) for side in (old, new))
        if breakout and not same(breakout, after):
            yield from (name for name in ports if re.fullmatch(rf"{re.escape(cage)}s\d+(\..*)?", name))


def _breakout(tree: Mapping[str, Any], cage: str) -> Any:
    settings = (tree.get("interface") or {}).get(cage) or {}
    return (settings.get("link") or {}).get("breakout")


def _without(tree: Mapping[str, Any], names: frozenset[str], depth: int = 0) -> dict[str, Any]:
    """The tree without the keys that have one of these names, or have it as their value, and the branches that this empties.
    An object, `bond1` below `interface`, stays.
    """
    kept = {}
    for key, value in tree.items():
        if key in names or (isinstance(value, str) and value in names):
            continue
        left = _without(value, names, depth + 1) if isinstance(value, Mapping) else value
        if left or not value or depth < OBJECT_DEPTH:
            kept[key] = left
    return kept


def nvue_tree(text: str) -> Mapping[str, Any]:
    """All that a startup.yaml, `nv config show` or commands set, a key with a range as its names. Raises ValueError."""
    if is_commands(text):
        return _of_commands(read_tree(text)[0])
    try:
        if ALIAS.search(text) and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader)):
            raise ValueError("an alias of YAML, which no network OS writes")
        document = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    tree: dict[str, Any] = {}
    for part in document if isinstance(document, list) else [document]:
        if not isinstance(part, Mapping):
            raise ValueError("expected `set` and what is set")
        below = part.get("set") or {key: value for key, value in part.items() if key in ROOTS}
        if not isinstance(below, Mapping):
            raise ValueError("expected what is set below `set`")
        tree |= below
    return _written_out(tree)


def _of_commands(branch: Branch) -> dict[str, Any]:
    """What `nv set` commands set: a value is a key, as they do not say which it is. Raises ValueError."""
    if not branch.parts:
        raise ValueError("neither YAML nor commands")
    return {key: _of_commands(part) if part.parts else {} for key, part in branch.parts.items()}


def _written_out(tree: Mapping[Any, Any], above: str = "") -> dict[str, Any]:
    """`swp1-2` below `interface` as two keys; a key that is there twice has both values; a number is text."""
    names = (({name: value}, name) for key, value in tree.items() for name in names_of(str(key), above))
    parts = ({name: _written_out(value, name)} if isinstance(value := one[name], Mapping) else one for one, name in names)
    return merged(*parts)


def nvue_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what is unset, what is set). A list that changes is unset: `set` would add to it."""
    gone: dict[str, Any] = {key: None for key in old if key not in new}
    fresh: dict[str, Any] = {}
    for key, value in new.items():
        if key not in old:
            fresh[key] = value
            continue
        before = old[key]
        if isinstance(before, Mapping) and before and isinstance(value, Mapping) and value:
            below, above = nvue_patch(before, value)
            gone |= {key: below} if below else {}
            fresh |= {key: above} if above else {}
        elif not same(before, value):
            gone |= {key: None} if isinstance(before, (Mapping, list)) and before else {}
            fresh[key] = value
    return gone, fresh


NVUE = Patch(
    name="nvue", title="for `nv config patch`", language="yaml", tree=nvue_tree, lines=nvue_lines, changes=nvue_changes
)
DIALECT = Dialect({"startup.yaml": NVUE})
