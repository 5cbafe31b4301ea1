"""Changes of SONiC: steps of its database, commands of FRR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabric.nos.dialect import COMMANDS, Dialect, Patch
from fabric.nos.frr.diff import RULES
from fabric.nos.json_patch import json_lines, json_patch
from fabric.nos.sonic.read.dump import config_db
from fabric.nos.sonic.steps import script, steps

FRR_TEXT = "bgpraw"  # beside the tables in a running config; the updater ignores it too


def tables(text: str) -> Mapping[str, Any]:
    """Tables, rows and fields of a config_db.json. Raises ValueError."""
    document = config_db(text)
    if not isinstance(document, Mapping):
        raise ValueError("expected tables")
    tree = {table: rows for table, rows in document.items() if table != FRR_TEXT}
    if not all(
        isinstance(rows, Mapping) and all(isinstance(row, Mapping) for row in rows.values()) for rows in tree.values()
    ):
        raise ValueError("expected tables of rows")
    return tree


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return json_lines(json_patch(old, new))


CONFIG_DB = Patch(
    name="json-patch",
    title="for `config apply-patch`",
    language="json",
    tree=tables,
    lines=lambda old, new: _changes(tables(old), tables(new)),
    changes=_changes,
    steps=steps,
    script=script,
)
DIALECT = Dialect({"config_db.json": CONFIG_DB, "frr.conf": COMMANDS}, RULES)
