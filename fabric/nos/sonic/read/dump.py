"""A dump of SONiC's CONFIG_DB as tables: `TABLE|key` on top instead of a table with its keys.

`sonic-db-dump -n CONFIG_DB`, `redis-dump -d 4` and the file of `show techsupport` print a row as
`"PORT|Ethernet0": {"type": "hash", "value": {…}, "ttl": …, "expireat": …}`, other tools the fields alone. In the database
a list is a text below a name with `@`, and a row without fields has `"NULL": "NULL"` (sonic-py-swsssdk,
swsssdk/configdb.py, raw_to_typed). Keys of the database itself, such as CONFIG_DB_INITIALIZED, are no rows.
"""

from __future__ import annotations

import json
from typing import Any

from fabric.nos.sonic.read.json_lines import Object, Repeated, Value, read_json

SEPARATOR = "|"
HASH = frozenset({"type", "value"})  # keys of a row in a dump that names the type of each key


def read_tables(text: str, repeated: Repeated) -> tuple[Object, str, int]:
    """(tables, what is wrong with the text or "", the line of the mistake)."""
    root, mistake, line = read_json(text, repeated)
    return _tables(root) if any(map(_is_row, root.values.items())) else root, mistake, line


def config_db(text: str) -> Any:
    """The tables as data. Raises ValueError."""
    document = json.loads(text)
    flat = isinstance(document, dict) and any(SEPARATOR in key for key in document)
    return _plain(read_tables(text, [])[0]) if flat else document


def _is_row(item: tuple[str, Value]) -> bool:
    return SEPARATOR in item[0] and isinstance(item[1], Object)


def _tables(root: Object) -> Object:
    tables = Object(root.line)
    for name, value in root.values.items():
        line = root.lines[name]
        if not _is_row((name, value)):
            if not (isinstance(value, Object) and value.values.keys() >= HASH):
                tables.values[name], tables.lines[name] = value, line
            continue
        table, _, key = name.partition(SEPARATOR)
        rows = tables.values.get(table)
        if not isinstance(rows, Object):
            tables.lines[table] = line
            rows = tables.values[table] = Object(line)
        rows.values[key], rows.lines[key] = _fields(value), line
    return tables


def _fields(row: Value) -> Object:
    assert isinstance(row, Object)
    within = row.values.get("value") if row.values.keys() >= HASH else row
    fields = Object(row.line)
    for name, value in within.values.items() if isinstance(within, Object) else ():
        line = within.lines[name]
        if name == "NULL":
            continue
        if name.endswith("@") and isinstance(value, str):
            name, value = name[:-1], value.split(",") if value else []
        fields.values[name], fields.lines[name] = value, line
    return fields


def _plain(value: Value) -> Any:
    if isinstance(value, Object):
        return {key: _plain(part) for key, part in value.values.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
