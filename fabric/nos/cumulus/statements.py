"""Statements of NVUE, of startup.yaml, `nv config show` or `nv set` commands, and changes by `nv config patch`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import yaml

from fabric.nos.cumulus.read.tree import ROOTS, is_commands, names_of, read_tree
from fabric.nos.cumulus.write.tree import dump, merged
from fabric.nos.dialect import Dialect, Patch, same
from fabric.nos.reading import Branch
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.syntax import Syntax, without_equal_blocks

# --- Statements: keys and the value are the parts of a path ---------------------------------------------------

PAIR = re.compile(r"""( *)('(?:[^']|'')*'|"[^"\\]*"|[^\s'"#&*!|>%@`{}\[\]?:-][^#{}\[\]]*?):(?: +(\S.*))?""")
PLAIN = re.compile(r"""'(?:[^']|'')*'|"[^"\\]*"|[^\s'"#&*!|>%@`{}\[\]?-][^#]*""")
MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")
EMPTY = frozenset({"{}", "''", '""', "null", "~"})


def statements(text: str) -> Iterator[tuple[StatementPath, int]]:
    """Every statement without others below it. A text in an unusual layout is read as any YAML, which takes longer."""
    found = _block(text.splitlines())
    yield from found if found is not None else _below(read_tree(text)[0], ())


def without_equal(planned: str, running: str) -> tuple[str, str]:
    """Two texts without the interfaces and other objects that both have, in quotes or not."""
    return without_equal_blocks(planned, running, 6, lambda block: block.replace("'", ""))


def _block(rows: list[str]) -> list[tuple[StatementPath, int]] | None:
    """Statements of a startup.yaml in block style with one key per line, None for another layout."""
    begin = next((number for number, row in enumerate(rows) if row.rstrip() == "- set:"), None)
    if begin is None:
        return None
    statements: list[tuple[StatementPath, int]] = []
    sections: list[list[StatementPath]] = [[()]]  # of each level; a key with a range names several
    margins = [-1]
    begun = begin + 1  # line of the innermost section
    for number, row in enumerate(rows[begin + 1 :], begin + 2):
        pair = _pair(row.rstrip())
        if pair is None:
            return None
        margin, key, value = pair
        if not key:
            continue
        if margins[-1] >= margin and begun:
            statements += [(path, begun) for path in sections[-1]]
        while margins[-1] >= margin:
            margins.pop()
            sections.pop()
        above = sections[-1]
        names = names_of(key, above[0][-1]) if ("-" in key or "," in key) and above[0] else (key,)
        paths = [(*path, name) for path in above for name in names]
        begun = 0 if value else number
        if value:
            statements += [((*path, value), number) for path in paths]
        margins.append(margin)
        sections.append(paths)
    return statements + [(path, begun) for path in sections[-1] if begun and path]


@lru_cache(maxsize=200_000)
def _pair(row: str) -> tuple[int, str, str] | None:
    """(margin, key, value) of a line, the value "" for none, the key "" for a comment; None for another layout."""
    if not row or row.lstrip()[0] == "#":
        return 0, "", ""
    match = PAIR.fullmatch(row)
    if match is None or not match[1]:
        return None
    value = match[3] or ""
    if value in EMPTY:
        value = ""
    elif value and not PLAIN.fullmatch(value):
        return None
    return len(match[1]), _word(_unquoted(match[2])), _word(_unquoted(value))


def _unquoted(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if text[:1] == '"' else text


def _word(text: str) -> str:
    """A MAC address in small letters, anything else as it is."""
    return text.lower() if len(text) == 17 and MAC.fullmatch(text) else text


def _below(branch: Branch, path: StatementPath) -> Iterator[tuple[StatementPath, int]]:
    for key, part in branch.parts.items():
        here = (*path, _word(key))
        if part.parts:
            yield from _below(part, here)
        else:
            yield here, part.line


SYNTAX = Syntax(
    parts={"startup.yaml": statements},
    rules_file=Path(__file__).with_name("statements.yaml"),
    separator=" ",
    verb="nv set",
    reduced={"startup.yaml": without_equal},
)


# --- Changes: what is unset, and then what is set -------------------------------------------------------------

PATCH, APPLY = "nv config patch", "nv config apply"
OBJECT_DEPTH = 2  # keys down to the name of an object: `interface swp1`

ALIAS = re.compile(r"\*\w")
TYPES = ("timestamp", "binary", "set", "omap", "pairs")  # YAML syntax that no value of NVUE uses


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
