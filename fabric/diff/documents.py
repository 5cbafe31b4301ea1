"""Changes of configs that are data: JSON Patch (RFC 6902)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fabric.formats.json import json_line
from fabric.nos.dialect import same

Operation = dict[str, Any]


def json_tree(text: str) -> Mapping[str, Any]:
    """All that a config_db.json sets. Raises ValueError."""
    document = json.loads(text)
    if not isinstance(document, Mapping):
        raise ValueError("expected tables")
    return document


def json_patch(old: Any, new: Any, at: str = "") -> list[Operation]:
    """What makes `new` of `old`: removals, replacements, additions. A list is replaced whole.

    A table that is empty afterwards is not in `new` at all, so it is removed itself: ConfigDB holds no empty table.
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return [] if same(old, new) else [{"op": "replace", "path": at, "value": new}]
    removed = [{"op": "remove", "path": _step(at, key)} for key in old if key not in new]
    kept = [operation for key in old if key in new for operation in json_patch(old[key], new[key], _step(at, key))]
    added = [{"op": "add", "path": _step(at, key), "value": new[key]} for key in new if key not in old]
    return [*removed, *kept, *added]


def _step(at: str, key: object) -> str:
    """A JSON Pointer one deeper: `~` and `/` of a key are escaped, the `|` of SONiC's keys is not."""
    return f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _same(old: Any, new: Any) -> bool:
    """Equal for JSON, where `true` is not 1."""
    return json_line(old, sort_keys=True) == json_line(new, sort_keys=True)


def json_lines(operations: list[Operation]) -> list[str]:
    """The patch as a file of `config apply-patch`, an operation a line."""
    rows = [json_line(operation, ensure_ascii=False) for operation in operations]
    return ["[", *(f"  {row}{',' if at < len(rows) else ''}" for at, row in enumerate(rows, 1)), "]"]


def nvue_lines(old: str, new: str) -> list[str]:
    """The file of `nv config patch` between two startup.yaml: what is unset, then what is set."""
    from fabric.nos.cumulus.write.yaml import dump

    gone, fresh = nvue_patch(nvue_tree(old), nvue_tree(new))
    out = []
    for word, tree in (("unset", gone), ("set", fresh)):
        if tree:
            out += [f"- {word}:", *dump(tree, 2).splitlines()]
    return out


def nvue_tree(text: str) -> Mapping[str, Any]:
    """All that a startup.yaml sets. Raises ValueError."""
    import yaml

    from fabric.formats.yaml import load

    try:
        document = load(text)
    except yaml.YAMLError as error:
        raise ValueError("not YAML") from error
    found: dict[str, Any] = {}
    for part in document if isinstance(document, list) else []:
        if not isinstance(part, Mapping):
            raise ValueError("expected `set` and what is set")
        found |= part.get("set") or {}
    return found


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
        elif not _same(before, value):
            gone |= {key: {}} if isinstance(before, (Mapping, list)) and before else {}
    return gone, fresh


def flat(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and values of the leaves; entries of a list go by their names where they have one."""
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from flat(value, f"{path}.{key}" if path else str(key))
    elif isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree):
        for at, item in enumerate(tree):
            yield from flat(item, f"{path}[{item.get('name') or at}]" if isinstance(item, Mapping) else f"{path}[{at}]")
    else:
        yield path, tree
