"""Statements of SONiC: the tables of config_db.json, and frr.conf beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from fabric.base.formats.documents import json_line
from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError
from fabric.nos.frr import statements as frr
from fabric.nos.frr.read.line import LAYOUT
from fabric.nos.sonic.read import dump
from fabric.nos.sonic.read.json_lines import Object, Value
from fabric.nos.statements.forms import Path
from fabric.nos.statements.syntax import Syntax


def config_db(text: str) -> Iterator[tuple[Path, int]]:
    """`TABLE / key / field = value`; a list is a value with its elements sorted, an object without fields ends the path."""
    tables, _, _ = dump.read_tables(text, [])
    return _below(tables, ())


def _below(values: Object, path: Path) -> Iterator[tuple[Path, int]]:
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
    parts={"config_db.json": config_db, "frr.conf": frr.frr_conf},
    part_of=part_of,
    sectioned={"frr.conf": LAYOUT},
    values={"config_db.json": dump.config_db},
    rules_file=FilePath(__file__).with_name("statements.yaml"),
    more_rules=(frr.SYNTAX.rules_file,),
)
