"""Changes of configs that are data: JSON Patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabric.base.formats import json_line
from fabric.nos.dialect import same

Operation = dict[str, Any]


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


def keys_of(operation: Operation) -> list[str]:
    """The keys of the path of an operation, from the table on."""
    return [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]


def json_lines(operations: Sequence[Operation]) -> list[str]:
    """The patch as a file of `config apply-patch`, an operation a line."""
    rows = [json_line(operation, ensure_ascii=False) for operation in operations]
    return ["[", *(f"  {row}{',' if at < len(rows) else ''}" for at, row in enumerate(rows, 1)), "]"]
