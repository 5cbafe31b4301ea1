"""Changes of an NVUE file: `unset` and `set` as NVUE takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from fabric.nos.cumulus.read.tree import names_of
from fabric.nos.cumulus.write.tree import merged
from fabric.nos.cumulus.write.yaml import dump
from fabric.nos.dialect import Dialect, Patch, same

ALIAS = re.compile(r"\*\w")
TYPES = ("timestamp", "binary", "set", "omap", "pairs")  # of YAML, that no value of NVUE has


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A date is a text, as any other word, and so is what other tags name."""

    yaml_implicit_resolvers: ClassVar = {
        first: [rule for rule in rules if rule[0] != "tag:yaml.org,2002:timestamp"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _plain(loader: Any, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node)
    return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else node.value


for _type in TYPES:
    _Loader.add_constructor(f"tag:yaml.org,2002:{_type}", _plain)


def nvue_lines(old: str, new: str) -> list[str]:
    """The file of `nv config patch` between two startup.yaml: what is unset, then what is set."""
    return nvue_changes(nvue_tree(old), nvue_tree(new))


def nvue_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The same between what two files set."""
    gone, fresh = nvue_patch(old, new)
    out = []
    for word, tree in (("unset", gone), ("set", fresh)):
        if tree:
            out += [f"- {word}:", *dump(tree, 2).splitlines()]
    return out


def nvue_tree(text: str) -> Mapping[str, Any]:
    """All that a startup.yaml or `nv config show` sets, a key with a range as its names. Raises ValueError."""
    try:
        if ALIAS.search(text) and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _Loader)):
            raise ValueError("an alias of YAML, which no network OS writes")
        document = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    if isinstance(document, str):
        raise ValueError("commands, not YAML")
    tree: dict[str, Any] = {}
    for part in document if isinstance(document, list) else []:
        if not isinstance(part, Mapping):
            raise ValueError("expected `set` and what is set")
        below = part.get("set") or {}
        if not isinstance(below, Mapping):
            raise ValueError("expected what is set below `set`")
        tree |= below
    return _written_out(tree)


def _written_out(tree: Mapping[Any, Any], above: str = "") -> dict[str, Any]:
    """`swp1-2` below `interface` as two keys; a key that is there twice has both values; a number is text."""
    names = (({name: value}, name) for key, value in tree.items() for name in names_of(str(key), above))
    parts = ({name: _written_out(value, name)} if isinstance(value := one[name], Mapping) else one for one, name in names)
    return merged(*parts)


def nvue_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what is unset, what is set). A list that changes is unset first: `set` would add to it."""
    gone: dict[str, Any] = {key: {} for key in old if key not in new}
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
            gone |= {key: {}} if isinstance(before, (Mapping, list)) and before else {}
            fresh[key] = value
    return gone, fresh


NVUE = Patch("nvue", "for `nv config patch`", "yaml", tree=nvue_tree, lines=nvue_lines, changes=nvue_changes)
DIALECT = Dialect({"startup.yaml": NVUE})
