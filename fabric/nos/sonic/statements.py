"""Statements of SONiC, the tables of config_db.json and frr.conf beside it, and how they are changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabric.base.formats.documents import json_line
from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError
from fabric.nos.dialect import COMMANDS, Dialect, Patch, json_lines, json_patch
from fabric.nos.frr import statements as frr
from fabric.nos.frr.read.words import LAYOUT
from fabric.nos.frr.statements import RULES
from fabric.nos.reading.sections import StatementPath
from fabric.nos.sonic.read import dump
from fabric.nos.sonic.read.dump import Object, Value, config_db
from fabric.nos.sonic.steps import script, steps
from fabric.nos.statements.syntax import Syntax

# --- Statements -----------------------------------------------------------------------------------------------


def config_db_statements(text: str) -> Iterator[tuple[StatementPath, int]]:
    """`TABLE / key / field = value`; a list is a value with its elements sorted, an object without fields ends the path."""
    tables, _, _ = dump.read_tables(text, [])
    return _below(tables, ())


def _below(values: Object, path: StatementPath) -> Iterator[tuple[StatementPath, int]]:
    for key, value in values.values.items():
        line = values.lines[key]
        if len(path) > MAX_DEPTH:
            raise UnreadableError(TOO_DEEP, line)
        if not isinstance(value, Object):
            yield (*path, f"{key} = {_text(value)}"), line
        elif value.values:
            yield from _below(value, (*path, key))
        else:
            yield (*path, key), line


def _text(value: Value) -> str:
    if isinstance(value, list):
        return ",".join(sorted(map(_text, value)))
    if isinstance(value, Object):
        return f"{{{','.join(f'{key} = {_text(inner)}' for key, inner in value.values.items())}}}"
    return value if isinstance(value, str) else json_line(value)


def part_of(path: str, text: str) -> str:
    """The planned file that a file of a switch is, "" for none."""
    if text.lstrip()[:1] == "{":
        return "config_db.json"
    return "frr.conf" if frr.part_of(path, text) == "frr.conf" else ""


SYNTAX = Syntax(
    parts={"config_db.json": config_db_statements, "frr.conf": frr.frr_conf},
    part_of=part_of,
    sectioned={"frr.conf": LAYOUT},
    values={"config_db.json": dump.config_db},
    rules_file=Path(__file__).with_name("statements.yaml"),
    more_rules=(frr.SYNTAX.rules_file,),
)


# --- Changes: steps of the database, commands of FRR ----------------------------------------------------------

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


def _lines(old: str, new: str) -> list[str]:
    return _changes(tables(old), tables(new))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    return json_lines(json_patch(old, new))


CONFIG_DB = Patch(
    name="json-patch",
    title="for `config apply-patch`",
    language="json",
    tree=tables,
    lines=_lines,
    changes=_changes,
    steps=steps,
    script=script,
)
DIALECT = Dialect({"config_db.json": CONFIG_DB, "frr.conf": COMMANDS}, RULES, layout=LAYOUT)
